"""The differences between the two traces of a comparison, as viewpoints of the scene."""

import time
from types import SimpleNamespace
from typing import Any

import bpy

from ...tracevis3d.progress import Progress, part
from ...tracevis3d.scene import styles
from ...tracevis3d.scene.window.viewpoints import place
from ...tracevis3d.views import filtering
from .. import preconditions
from ..lists import differences
from ..state import filter_stacks, settings, sources
from ..task import LongOperator
from . import make_view


class TRACEVIS3D_OT_explain(LongOperator, bpy.types.Operator):
    """Find what differs between the two traces, and make a viewpoint for each finding"""

    bl_idname = "tracevis3d.explain"
    bl_label = "Explain Differences"
    bl_options = {"REGISTER", "UNDO"}

    preparations = make_view.PREPARATIONS

    top: bpy.props.IntProperty(
        name="Findings", description="The maximum number of findings", default=10, min=1, max=100
    )
    walk: bpy.props.StringProperty(
        name="Tour",
        description="Instead, make a tour from this match to the matches that explain it. Give the number "
        "of its group in the legend, or names of functions with > between them",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        needs = preconditions.REBUILD
        if not preconditions.poll(cls, context, *needs):
            return False
        if differences.findings_of(settings.active(context)) is None:
            cls.poll_message_set("Two traces are explained: add a view Compare of two traces first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        name, values, frame = collection.name, settings.values(collection), settings.frame_of(context.scene)
        find, stack = sources.finder(collection), filter_stacks.stack_of(collection)
        top, walk = self.top, self.walk.strip()
        view, findings = settings.of(collection).view, differences.findings_of(collection)
        assert findings is not None
        started = time.perf_counter()

        def work(progress: Progress) -> Any:
            traces = find(part(progress, 0.0, 0.4))
            made = findings.tour(traces, values, frame, top, walk, part(progress, 0.4, 1.0))
            figure = make_view.figure_with(view, traces, values, stack)
            return traces, figure, filtering.applied(stack, traces, made.drawing), made.viewpoints

        def finish(context: bpy.types.Context, result: Any) -> set[str]:
            # Looked up again: undo may have replaced it since the work began.
            target = bpy.data.collections.get(name)
            if not settings.is_view(target):
                self.report({"ERROR"}, "The view was removed meanwhile")
                return {"CANCELLED"}
            traces, figure, drawing, made = result
            make_view.show(context.scene, target, traces, figure, drawing)
            _place(context.scene, target, made)
            make_view.took(target, time.perf_counter() - started)
            self.report({"INFO"}, f"{len(made)} viewpoints: go from marker to marker in the timeline")
            return {"FINISHED"}

        return self.carry_out(context, work, finish)


def _place(scene: bpy.types.Scene, collection: bpy.types.Collection, viewpoints: list[Any]) -> None:
    eye = next(shown for shown in collection.objects if shown.type == "CAMERA")
    shown: Any = SimpleNamespace(
        scene=scene,
        collection=collection,
        camera=eye,
        style=styles.named(settings.of(collection).style),
        frame=settings.frame_of(scene),
    )
    place(shown, viewpoints, scene.render.fps)


register, unregister = bpy.utils.register_classes_factory((TRACEVIS3D_OT_explain,))
