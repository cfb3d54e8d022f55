"""Texts about the selection for the panel: made when it changes, from the trace or from the drawing."""

from typing import Any

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from ...tracevis3d.analysis.measures import sums_of
from ...tracevis3d.drawing.picked import Description
from ...tracevis3d.scene.window import element_metadata
from ...tracevis3d.trace import profile
from ...tracevis3d.trace.names import FunctionWords, words_of
from ...tracevis3d.units import counted, duration
from ...tracevis3d.views.describe import describe, describe_call
from .. import areas, signals
from . import selection, settings, sources, stored_metadata, trace_state

_DASH = "—"


class TRACEVIS3D_PG_details(bpy.types.PropertyGroup):
    """Facts of the selection in the traces of the active view."""

    title: StringProperty()
    summary: StringProperty()
    file: StringProperty()
    line: IntProperty()


def _update(_trace: str) -> None:
    """The selection, or which view is active, has changed."""
    manager = bpy.context.window_manager
    if manager is None or not hasattr(manager, "tracevis3d_details"):
        return
    details = manager.tracevis3d_details
    details.title = details.summary = details.file = ""
    rows: list[tuple[str, str]] = []
    scene = bpy.context.scene
    collection = settings.active_in(scene) if scene is not None else None
    for source in settings.of(collection).sources if collection is not None else ():
        chosen = selection.selected(trace_state.key_of(source))
        if chosen:
            rows = _rows(details, collection, source, chosen)
            break
    settings.fill(details.rows, rows)
    areas.redraw()


def _rows(details: Any, collection: Any, source: Any, chosen: Any) -> list[tuple[str, str]]:
    key = trace_state.key_of(source)
    n = len(chosen)
    parts = [counted(n, "call")] if n else []
    if chosen.time_range is not None:
        low, high = chosen.time_range
        parts.append(f"{duration(high - low)} from {duration(low)} on")
    details.summary = " and ".join(parts)
    if len(settings.of(collection).sources) > 1:
        details.summary += f" of {sources.name_of(source)}"
    trace = sources.loaded(key)
    if trace is None:
        return _held_rows(details, collection, key, chosen.active)
    if not 0 <= chosen.active < len(trace.calls):
        return []
    return _trace_rows(details, trace, chosen)


def _trace_rows(details: Any, trace: Any, chosen: Any) -> list[tuple[str, str]]:
    """Return the facts of the active call, and sums over all."""
    call, calls = chosen.active, trace.calls
    rows = _fill(details, words_of(trace, int(calls.function[call])), describe_call(trace, call), call)
    if len(chosen) > 1:
        total, own = sums_of(trace, chosen.calls)
        what = profile.length_word(trace)
        labels = ("Duration", "Self Time") if what == "time" else (what.title(), f"Self {what.title()}")
        rows += [
            (f"All, {label}", profile.length_text(trace, ns))
            for label, ns in zip(labels, (total, own), strict=True)
        ]
    return rows


def _held_rows(details: Any, collection: Any, key: str, call: int) -> list[tuple[str, str]]:
    """Return the facts of the active call as far as the scene holds them."""
    keys = trace_state.keys_of(collection)
    names = stored_metadata.Names(key)
    for shown in collection.objects:
        pickable = element_metadata.pickable_mesh(shown)
        if pickable is None or not len(pickable.fact("function")):
            continue
        which = pickable.element_of(keys.index(key), call)
        if which is None:
            continue
        words = names.function(int(pickable.fact("function")[which]))
        if words is None:
            continue
        element = pickable.picked(which, (0.0, 0.0, 0.0))
        return _fill(details, words, describe(element, [names] * len(keys))[0], call)
    return []


def _fill(details: Any, words: FunctionWords, said: Description, call: int) -> list[tuple[str, str]]:
    """Store the description of the active call; return its rows."""
    details.title, details.file, details.line = words.label, words.file, words.line
    # The folder of the file is too long for the panel.
    name = words.file.replace("\\", "/").rpartition("/")[2]
    place = f"{name}:{words.line}" if name and words.line else name
    rows = [("Module", words.module or _DASH), ("File", place or _DASH)]
    return [*rows, *((label.title(), text) for label, text in said.rows), ("Number", f"{call:,}")]


def renew() -> None:
    """Word the details again."""
    _update("")


def register() -> None:
    """Register the group, and follow the selection."""
    TRACEVIS3D_PG_details.__annotations__["rows"] = CollectionProperty(type=settings.TRACEVIS3D_PG_fact)
    bpy.utils.register_class(TRACEVIS3D_PG_details)
    bpy.types.WindowManager.tracevis3d_details = bpy.props.PointerProperty(type=TRACEVIS3D_PG_details)
    signals.on_select.connect(_update)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.on_select.disconnect(_update)
    del bpy.types.WindowManager.tracevis3d_details
    bpy.utils.unregister_class(TRACEVIS3D_PG_details)
