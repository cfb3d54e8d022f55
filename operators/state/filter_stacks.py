"""What views leave out: a stack of filters per view, as text; and what each of them does to the traces."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from ...tracevis3d.errors import TraceVisError
from . import settings


class TRACEVIS3D_PG_filtered(bpy.types.PropertyGroup):
    """What a filter of a view's stack did when the stack was applied last."""

    text: StringProperty(description="The filter, as it stands in the stack")
    place: IntProperty(description="Its place among those that are on")
    did: StringProperty(description="What it did, in words")


def stack_of(collection: bpy.types.Collection) -> str:
    """Return the filters of a view as text."""
    return str(settings.of(collection).filters).strip()


def added(text: str, name: str, **values: str) -> str:
    """Return the stack ``text`` with a filter more; one that is there already is not added twice."""
    from ...tracevis3d.filters.stack import Applied, as_text, parse

    stack = parse(text) if text else []
    effect, what = values.pop("effect", "hide"), values.pop("what", "subtree")
    wanted = Applied(name, values, effect, what)
    if any(one.as_text() == wanted.as_text() for one in stack):
        return text
    return as_text([*stack, wanted])


def without(text: str, name: str, **values: str) -> str:
    """Return the stack ``text`` without the filters of this name and these values, whatever their effect."""
    from ...tracevis3d.filters.stack import as_text, parse

    stack = parse(text) if text else []
    return as_text([one for one in stack if one.name != name or dict(one.values) != values])


def tell(collection: bpy.types.Collection, traces: Sequence[Any]) -> None:
    """Store what each filter of the view's stack does to its traces, for the panel."""
    from ...tracevis3d.filters.stack import parse
    from ...tracevis3d.views import filtering

    rows, text = collection.tracevis3d_filtered, stack_of(collection)
    rows.clear()
    if not text:
        return
    outcomes, used = [], []
    with suppress(TraceVisError):
        used = [applied for applied in parse(text) if applied.on]
        for trace in traces:
            # One of two traces may lack what a filter names.
            with suppress(TraceVisError):
                outcomes.append(filtering.outcome(trace, text))
    for place, applied in enumerate(used):
        told = [outcome.told[place] for outcome in outcomes]
        row = rows.add()
        row.text, row.place = applied.as_text(), place
        words = {"hide": "hides", "fade": "fades", "sink": "sinks"}[applied.effect]
        settled, nodes = sum(one.settled for one in told), sum(one.nodes for one in told)
        row.did = f"{words} {settled:,} calls: {nodes:,} distinct subtrees" if told else "not in these traces"


def told(collection: bpy.types.Collection, text: str, place: int) -> str:
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
