"""Operators on the trace of the active view: found in memory, or read again beside the window."""

from collections.abc import Callable
from typing import Any

import bpy

from ...tracevis3d.analysis.compact import graph_of
from ...tracevis3d.progress import Progress, part
from .. import preconditions
from ..state import settings, sources, trace_state
from ..task import LongOperator


def source_of(collection: bpy.types.Collection) -> Any:
    """Return the stored source of the trace that a view's call tree and lists are about."""
    stored = settings.of(collection).sources
    return stored[min(collection.tracevis3d_tree.source, len(stored)) - 1]


def in_memory(collection: bpy.types.Collection) -> tuple[str, Any] | None:
    """Return key and trace that the view's tree and lists are of, if it is in memory."""
    if collection.library is not None or not settings.of(collection).sources:
        return None
    key = trace_state.key_of(source_of(collection))
    trace = sources.loaded(key)
    return None if trace is None else (key, trace)


def poll(operator: Any, context: bpy.types.Context) -> bool:
    """Return whether there is a view whose trace can be found, and let ``operator`` say why not."""
    return preconditions.poll(operator, context, *preconditions.TRACE)


class OnTrace(LongOperator):
    """An operator that needs the trace of the active view."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return poll(cls, context)

    def with_trace(
        self,
        context: bpy.types.Context,
        prepare: Callable[[Any], None],
        then: Callable[[bpy.types.Context, bpy.types.Collection, str, Any], set[str]],
    ) -> set[str]:
        """Do ``prepare(trace)`` without bpy, then ``then(context, collection, key, trace)`` with it.

        A trace that is in memory, with its distinct subtrees, is taken at once.
        """
        collection = settings.require_active(context)
        found, name = in_memory(collection), collection.name

        def finish(context: bpy.types.Context, trace: Any) -> set[str]:
            target = bpy.data.collections.get(name)
            if not settings.is_view(target):
                self.report({"ERROR"}, "The view was removed meanwhile")
                return {"CANCELLED"}
            sources.remember(trace)
            return then(context, target, trace_state.key_of(source_of(target)), trace)

        if found is not None and graph_of.is_known(found[1]):
            self._finish = finish
            return self._end(context, found[1])
        look = sources.finder_of(source_of(collection))

        def work(progress: Progress) -> Any:
            trace = look(part(progress, 0.0, 0.8))
            progress(0.8, "finding distinct subtrees")
            prepare(trace)
            return trace

        return self.carry_out(context, work, finish)
