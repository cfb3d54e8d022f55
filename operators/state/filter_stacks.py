"""The filter stack of each view, as text, and the effect of each filter on the traces."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.filters.editing import effects
from ...tracevis3d.filters.stack import parse
from ...tracevis3d.views import filtering
from . import settings


class TRACEVIS3D_PG_filtered(bpy.types.PropertyGroup):
    """The effect of a filter of a view's stack when it was last applied."""

    text: StringProperty(description="The filter, as written in the stack")
    place: IntProperty(description="Its position among the enabled filters")
    did: StringProperty(description="Its effect, in words")


def stack_of(collection: bpy.types.Collection) -> str:
    """Return the filters of a view as text."""
    return str(settings.of(collection).filters).strip()


def store_effects(collection: bpy.types.Collection, traces: Sequence[Any]) -> None:
    """Store what each filter of the view's stack does to its traces, for the panel."""
    rows, text = collection.tracevis3d_filtered, stack_of(collection)
    rows.clear()
    if not text:
        return
    results: list[Any] = []
    with suppress(TraceVisError):
        stack = parse(text)
        for trace in traces:
            # One of two traces may lack what a filter names.
            with suppress(TraceVisError):
                results.append(filtering.outcome(trace, text))
        used = [applied for applied in stack if applied.on]
        for place, (applied, words) in enumerate(zip(used, effects(stack, results), strict=True)):
            row = rows.add()
            row.text, row.place, row.did = applied.as_text(), place, words


def effect_of(collection: bpy.types.Collection, text: str, place: int) -> str:
    """Return what a filter did: the one that stands at ``place`` of those that are on; empty if unknown."""
    rows = collection.tracevis3d_filtered
    return str(rows[place].did) if place < len(rows) and rows[place].text == text else ""


def register() -> None:
    """Register the rows and hang them on collections."""
    bpy.utils.register_class(TRACEVIS3D_PG_filtered)
    bpy.types.Collection.tracevis3d_filtered = CollectionProperty(type=TRACEVIS3D_PG_filtered)


def unregister() -> None:
    """Undo :func:`register`."""
    del bpy.types.Collection.tracevis3d_filtered
    bpy.utils.unregister_class(TRACEVIS3D_PG_filtered)
