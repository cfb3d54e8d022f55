"""Rebuild the active view with its parameters, or with their defaults."""

import time
from collections.abc import Callable
from typing import Any

import bpy

from ...tracevis3d.parameters import declared
from ...tracevis3d.progress import Progress, part
from ...tracevis3d.views import registry as views
from .. import preconditions
from ..state import filter_stacks, settings, sources
from ..task import LongOperator
from . import make_view


class Rebuilding(LongOperator):
    """Base of the operators that rebuild a view."""

    preparations: tuple[Callable[[], None], ...] = make_view.PREPARATIONS

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return preconditions.poll(cls, context, *preconditions.REBUILD)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        if any(source.state == "MISSING" for source in settings.of(settings.active(context)).sources):
            return bpy.ops.tracevis3d.find_source("INVOKE_DEFAULT")
        return self.execute(context)

    def rebuild(
        self,
        context: bpy.types.Context,
        collection: bpy.types.Collection,
        values: dict[str, Any],
        assign: bool = False,
        then: Callable[[bpy.types.Context], None] | None = None,
    ) -> set[str]:
        """Draw the view of ``collection`` with the parameters ``values``, and ``assign`` them if asked to.

        ``then`` is called when it is drawn.
        """
        name, view, frame = collection.name, settings.of(collection).view, settings.frame_of(context.scene)
        find, stack = sources.finder(collection), filter_stacks.stack_of(collection)
        started = time.perf_counter()

        def work(progress: Progress) -> Any:
            traces = find(part(progress, 0.0, 0.7))
            figure = make_view.figure_with(view, traces, values, stack)
            return traces, figure, make_view.drawing_of(figure, frame, part(progress, 0.7, 1.0))

        def finish(context: bpy.types.Context, result: Any) -> set[str]:
            # Looked up again: undo may have replaced it since the work began.
            target = bpy.data.collections.get(name)
            if not settings.is_view(target):
                self.report({"ERROR"}, "The view was removed meanwhile")
                return {"CANCELLED"}
            traces = result[0]
            if assign:
                settings.assign(target, values)
            for source, trace in zip(settings.of(target).sources, traces, strict=True):
                if source.hash != trace.source.hash:
                    self.report({"WARNING"}, f"{sources.name_of(source)} has changed since it was imported")
            make_view.show(context.scene, target, *result)
            make_view.took(target, time.perf_counter() - started)
            if then is not None:
                then(context)
            return {"FINISHED"}

        return self.carry_out(context, work, finish)


class TRACEVIS3D_OT_rebuild(Rebuilding, bpy.types.Operator):
    """Draw the view again from its trace, with the current parameters"""

    bl_idname = "tracevis3d.rebuild"
    bl_label = "Rebuild View"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        return self.rebuild(context, collection, settings.values(collection))


class TRACEVIS3D_OT_reset_parameters(Rebuilding, bpy.types.Operator):
    """Give all parameters of the view their default values, and draw it again"""

    bl_idname = "tracevis3d.reset_parameters"
    bl_label = "Reset Parameters"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        view = views.find(settings.of(collection).view)
        return self.rebuild(
            context, collection, {p.name: p.default for p in declared(view.parameters)}, assign=True
        )


_CLASSES = (TRACEVIS3D_OT_rebuild, TRACEVIS3D_OT_reset_parameters)

register, unregister = bpy.utils.register_classes_factory(_CLASSES)
