"""Ranges of time that are selected or marked, as bands in the views."""

from typing import Any

import bpy
from bpy.props import StringProperty
from mathutils import Vector

from ...tracevis3d import units
from ...tracevis3d.layout.sight.affine import Floats, transformed
from ...tracevis3d.layout.sight.time_surfaces import front_band
from ...tracevis3d.scene.window import element_metadata
from .. import signals
from ..state import selection, settings, trace_state
from .motion import drum

trace_state.PROPERTIES["marks"] = StringProperty(
    name="Marks", description="Marked ranges of time in nanoseconds: start and end of each, by commas"
)


def marked(trace: str) -> list[tuple[int, int]]:
    """Return the marked ranges of a trace, in nanoseconds."""
    record = trace_state.find(trace)
    parts = record.marks.split(",") if record is not None else []
    return [found for part in parts if (found := selection.read_range(part)) is not None]


def toggle(trace: str, low: int, high: int) -> bool:
    """Mark a range, or take the mark away if it is there; returns whether it is marked now."""
    kept = marked(trace)
    added = (low, high) not in kept
    kept = [*kept, (low, high)] if added else [mark for mark in kept if mark != (low, high)]
    trace_state.ensure(trace).marks = ",".join(f"{a} {b}" for a, b in kept)
    signals.on_select.send(trace)
    return added


def with_times(shown: Any) -> Any:
    """Return what an object with times along x holds; None if it is none."""
    pickable = element_metadata.pickable_mesh(shown) if shown is not None else None
    return pickable if pickable is not None and pickable.time_scale is not None else None


def window_of(shown: Any) -> tuple[int, int] | None:
    """Return the window of time that an object with times shows, in nanoseconds; None if it has none."""
    if (turned := drum.of_object(shown)) is not None:
        knows = drum.where(turned)
        return knows.window(turned.source) if knows is not None else None
    pickable = with_times(shown)
    return tuple(pickable.window) if pickable is not None else None


def time_at(shown: Any, x: float) -> int | None:
    """Return the nanosecond at an x of the object's coordinates, or at a share of a drum's axis."""
    if (turned := drum.of_object(shown)) is not None:
        knows = drum.where(turned)
        return int(knows.time_at(turned.source, x)) if knows is not None else None
    pickable = with_times(shown)
    return int(pickable.time_scale.time_at(x)) if pickable is not None else None


def time_in(view: bpy.types.Collection, box: Any, axis: int, at: float) -> int | None:
    """Return the nanosecond of a view at a place of the scene; None where its times are not known.

    Parameters
    ----------
    view : bpy.types.Collection
    box : (float (3,), float (3,))
        Around all of the view.
    axis : int
        Along which of the scene's axes its time runs.
    at : float
        The place along it.
    """
    drums = drum.of_view(view)
    for shown in view.objects:
        if drum.of_object(shown) is not None:
            place = (at - box[0][axis]) / max(box[1][axis] - box[0][axis], 1e-9)
        elif with_times(shown) is not None and not drums:
            point = Vector((0.0, 0.0, 0.0))
            point[axis] = at
            place = (shown.matrix_world.inverted() @ point)[0]
        else:
            continue
        return time_at(shown, place)
    return None


def place_of(shown: Any, time: int) -> float | None:
    """Return the x of a time in the object's coordinates, or its share of a drum's axis."""
    if (turned := drum.of_object(shown)) is not None:
        knows = drum.where(turned)
        return float(knows.share_at(turned.source, time)) if knows is not None else None
    pickable = with_times(shown)
    return float(pickable.time_scale.place(time)) if pickable is not None else None


def bands(shown: Any, left: float, right: float, words: str) -> list[tuple[Floats, str]]:
    """Return corners (4, 3), in the scene, and words of a range along x, as high as the view's part.

    Around a drum it is of several pieces, the uppermost of which has the words.
    """
    if (turned := drum.of_object(shown)) is not None:
        pieces = drum.quads(turned, left, right)
        return [(quad, words if quad is pieces[-1] else "") for quad in pieces]
    pickable = with_times(shown)
    if pickable is None:
        return []
    return [(transformed(shown.matrix_world, front_band(pickable.extent, left, right)), words)]


def _words(low: int, high: int) -> str:
    return f"{units.duration(high - low, 4)} from {units.duration(low, 6)}"


def _walls(scene: bpy.types.Scene) -> list[tuple[str, Any]]:
    """Return key of a trace and an object that shows it along time, one for each trace of each view."""
    found: dict[tuple[str, str], Any] = {}
    for view in settings.all_in(scene):
        keys = trace_state.keys_of(view)
        for shown in view.objects:
            if not shown.visible_get():
                continue
            pickable = drum.of_object(shown)
            if pickable is None and shown.get("tracevis3d_kind") == "call":
                pickable = with_times(shown)
            if pickable is not None and pickable.source < len(keys):
                found.setdefault((view.name, keys[pickable.source]), shown)
    return [(key, shown) for (_, key), shown in found.items()]


def _bands(scene: bpy.types.Scene, ranges: Any) -> list[tuple[Floats, str]]:
    found = []
    for key, shown in _walls(scene):
        window = window_of(shown)
        if window is None:
            continue
        low, high = window
        for begin, end in ranges(key):
            left, right = (place_of(shown, min(max(t, low), high)) for t in (begin, end))
            if end >= low and begin <= high and left is not None and right is not None:
                found += bands(shown, left, right, _words(begin, end))
    return found


def brushed(scene: bpy.types.Scene, brush: tuple[str, float, float] | None) -> dict[str, tuple[int, int]]:
    """Return key of a trace -> the range of its time that is being brushed, or else is selected.

    ``brush`` is an object's name and the range along its x, or along the axis of a drum.
    """
    keys = {key for view in settings.all_in(scene) for key in trace_state.keys_of(view)}
    chosen = {key: selection.selected(key).time_range for key in keys}
    found = {key: span for key, span in chosen.items() if span is not None}
    shown = bpy.data.objects.get(brush[0]) if brush is not None else None
    if brush is None or shown is None:
        return found
    times = sorted(time for x in brush[1:] if (time := time_at(shown, x)) is not None)
    view = next((view for view in settings.all_in(scene) if shown.name in view.objects), None)
    turned = drum.of_object(shown)
    pickable = turned if turned is not None else with_times(shown)
    if view is not None and pickable is not None and len(times) == 2:
        here = trace_state.keys_of(view)
        if pickable.source < len(here):
            found[here[pickable.source]] = times[0], times[1]
    return found


def brushed_bands(scene: bpy.types.Scene, brush: tuple[str, float, float] | None) -> list[tuple[Floats, str]]:
    """Return corners and words of the ranges of time that are being brushed, or selected."""
    found = brushed(scene, brush)
    return _bands(scene, lambda key: [found[key]] if key in found else [])


def selected_bands(scene: bpy.types.Scene) -> list[tuple[Floats, str]]:
    """Return corners and words of the selected ranges of time."""

    def ranges(key: str) -> list[tuple[int, int]]:
        chosen = selection.selected(key).time_range
        return [chosen] if chosen is not None else []

    return _bands(scene, ranges)


def marked_bands(scene: bpy.types.Scene) -> list[tuple[Floats, str]]:
    """Return corners and words of the marked ranges of time."""
    return _bands(scene, marked)
