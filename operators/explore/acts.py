"""What Explore mode does with what is pointed at: select, frame, mark, find out where to zoom."""

from typing import Any

import bpy
import numpy as np

from ...tracevis3d import units
from ...tracevis3d.views import time_window
from ..state import selection, settings, sources, trace_state
from . import marks, pointer, related
from .motion import drum, window_time, zoom
from .overlay import state


def view_of(scene: bpy.types.Scene, shown: bpy.types.Object) -> bpy.types.Collection:
    """Return the view that an object belongs to."""
    return next(view for view in settings.all_in(scene) if shown.name in view.objects)


def windows_of(view: bpy.types.Collection, hit: Any) -> dict[int, Any]:
    """Return the windows that show what was hit, and what it is matched with, by trace of the view."""
    traces = sources.in_memory(view)
    if traces is None:
        return {}
    windows: dict[int, Any] = {}
    if (around := drum.nearer(view, hit)) is not None:
        windows = {s: time_window.bounded(traces[s], *window) for s, window in around.items()}
    elif hit.kind == "cluster":
        span = hit.picked.span
        if span is not None:
            room = 0.04 * (span[1] - span[0])
            windows[hit.held.source] = time_window.bounded(
                traces[hit.held.source], span[0] - room, span[1] + room
            )
    else:
        calls = dict(hit.calls)
        if hit.held.is_boxes and len(traces) > 1:
            calls |= {s: c for s, c in _matched(view, hit).items() if s not in calls}
        windows = {source: time_window.around(traces[source], call) for source, call in calls.items()}
    return {s: w for s, w in windows.items() if window_time.names_of(view, s) is not None}


def _matched(view: bpy.types.Collection, hit: Any) -> dict[int, int]:
    """Return the best drawn match of what was hit: trace of the view -> call."""
    from ...tracevis3d.scene.window.related import best_matches

    present = pointer.shown_in(bpy.context.scene)
    return best_matches([holds for _, shown, holds in present if shown.name in view.objects], hit.calls)


def select(context: bpy.types.Context, hit: Any, extend: bool) -> None:
    """Select what was clicked, in its traces; what was selected in others stays only with ``extend``."""
    if not extend:
        for key in keys_in(context.scene) - set(hit.traces):
            selection.deselect(key)
    for key, call in hit.traces.items():
        if extend and call in selection.selected(key).calls:
            selection.deselect(key, [call])
        else:
            selection.select(key, [call], extend=extend)
    push(context, "Select Calls")


def deselect_all(context: bpy.types.Context) -> bool:
    """Select nothing in the traces of the scene's views; returns whether anything was."""
    keys = [key for key in keys_in(context.scene) if selection.selected(key)]
    for key in keys:
        selection.deselect(key)
    return bool(keys)


def keys_in(scene: bpy.types.Scene) -> set[str]:
    """Return the keys of all traces that the scene's views show."""
    return {key for view in settings.all_in(scene) for key in trace_state.keys_of(view)}


def frame_selection(context: bpy.types.Context, area: bpy.types.Area, at_once: bool = False) -> bool:
    """Send the 3D view to what is selected, or pointed at, or else to the active view.

    Returns
    -------
    bool
        Whether there is anything to go to.
    """
    present = [entry for entry in pointer.shown_in(context.scene, area.spaces.active) if entry[2].tells]
    lit = related.of_selection(present)
    if not lit and state.hit is not None:
        lit = {state.hit.shown: np.array([state.hit.element])}
    boxes = [
        zoom.world_box(shown, *holds.bounds(lit[shown.name]))
        for _, shown, holds in present
        if len(lit.get(shown.name, ()))
    ]
    boxes += [(quad.min(axis=0), quad.max(axis=0)) for quad, _ in marks.selected_bands(context.scene)]
    if not boxes:
        view = settings.active(context)
        boxes = [
            zoom.world_box(shown, *holds.bounds(np.arange(len(holds))))
            for holder, shown, holds in present
            if holder == view
        ]
    if not boxes:
        return False
    low = np.min([low for low, _ in boxes], axis=0)
    high = np.max([high for _, high in boxes], axis=0)
    zoom.fly_to_box(area, low, high, at_once)
    return True


def mark_selection(context: bpy.types.Context) -> str:
    """Mark the selected range of time, or the selected or hovered call's; returns what was done, in words."""
    for key in sorted(keys_in(context.scene)):
        chosen, trace = selection.selected(key), sources.loaded(key)
        hovered = selection.hovered(key)
        span = chosen.time_range
        if span is None and trace is not None and (len(chosen) or len(hovered)):
            span = window_time.span_of(trace.calls, chosen.calls if len(chosen) else hovered)
        if span is None:
            continue
        added = marks.toggle(key, *span)
        push(context, "Mark" if added else "Unmark")
        return f"{units.duration(span[1] - span[0], 4)} {'marked' if added else 'no longer marked'}"
    return ""


def push(context: bpy.types.Context, message: str) -> None:
    """Make a step of undo."""
    if bpy.ops.ed.undo_push.poll():
        bpy.ops.ed.undo_push(message=message)
