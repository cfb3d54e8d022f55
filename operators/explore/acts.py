"""Operations of Explore mode on the element under the mouse: select, frame, mark, find the zoom target."""

from collections.abc import Callable
from typing import Any

import bpy

from ...tracevis3d import units
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.layout.sight.affine import box_around
from ...tracevis3d.views.actions import Change, State
from ...tracevis3d.views.linking.lit import best_matches
from ...tracevis3d.views.time_window import span_of
from ..state import selection, settings, sources, trace_state
from . import actions, marks, pointer, related
from .motion import drum, transition, undoing, window_time, zoom
from .overlay import redraw, state


def view_of(scene: bpy.types.Scene, shown: bpy.types.Object) -> bpy.types.Collection:
    """Return the view that an object belongs to."""
    return next(view for view in settings.all_in(scene) if shown.name in view.objects)


def state_at(view: bpy.types.Collection, hit: Any, **about: Any) -> State:
    """Return the state that actions on an element that was hit start from.

    Raises
    ------
    UsageError
        If the view's traces are not in memory.
    """
    source, call = next(iter(hit.calls.items()), (hit.pickable.source, -1))
    matched = _matched(view, hit) if hit.pickable.is_boxes and len(trace_state.keys_of(view)) > 1 else {}
    share = drum.share_under(view, hit)
    return actions.state_of(
        view,
        source=source,
        call=call,
        element=hit.picked,
        matched=matched,
        share=share,
        **about,
    )


def trigger(
    view: bpy.types.Collection,
    what: str,
    hit: Any = None,
    say: Callable[[str], None] | None = None,
    **about: Any,
) -> bool:
    """Run the first of a view's actions with a trigger that applies; return whether there is one.

    ``say`` is given what came of it, or why it can't be done, which counts as done then.
    """
    try:
        state = state_at(view, hit, **about) if hit is not None else actions.state_of(view, **about)
        change = next(
            action.run(state)
            for action in actions.declared_of(view)
            if what in action.triggers and action.applies(state)
        )
    except StopIteration:
        return False
    except TraceVisError as error:
        if say is not None:
            say(str(error))
        return say is not None
    done = apply(view, state, change)
    if done and say is not None and change.message:
        say(change.message)
    return done


def apply(view: bpy.types.Collection, state: State, change: Change) -> bool:
    """Let a view show what a change says; return whether it can."""

    def done() -> None:
        push(bpy.context, change.message)

    if change.windows:
        return window_time.go(view, dict(change.windows), done)
    if change.span is not None:
        key = trace_state.keys_of(view)[state.source]
        selection.select(key, [], time_range=change.span, extend=state.extend)
        done()
        return True
    return transition.start(view, change, done)


def _matched(view: bpy.types.Collection, hit: Any) -> dict[int, int]:
    """Return the best drawn match of the element that was hit: trace of the view -> call."""
    present = pointer.shown_in(bpy.context.scene)
    return best_matches([pickable for _, shown, pickable in present if shown.name in view.objects], hit.calls)


def select(context: bpy.types.Context, hit: Any, extend: bool) -> None:
    """Select the clicked element in its traces; the selection in other traces stays only with ``extend``."""
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
    """Select nothing in the traces of the scene's views; returns whether anything was.

    The sentence at the top goes too: what it was about may represent no call that could be selected.
    """
    if state.banner is not None:
        state.banner = None
        redraw()
    keys = [key for key in keys_in(context.scene) if selection.selected(key)]
    for key in keys:
        selection.deselect(key)
    return bool(keys)


def keys_in(scene: bpy.types.Scene) -> set[str]:
    """Return the keys of all traces that the scene's views show."""
    return {key for view in settings.all_in(scene) for key in trace_state.keys_of(view)}


def frame_selection(context: bpy.types.Context, area: bpy.types.Area, at_once: bool = False) -> bool:
    """Move the 3D view to the selection, else to the element under the mouse, else to the active view.

    Returns
    -------
    bool
        Whether there is anything to go to.
    """
    present = [
        entry for entry in pointer.shown_in(context.scene, area.spaces.active) if entry[2].has_description
    ]
    lit: dict[str, Any] = dict(related.of_selection(present))
    if not lit and state.hit is not None:
        lit = {state.hit.shown: [state.hit.element]}
    boxes = [
        pointer.box_of(shown, pickable, lit[shown.name])
        for _, shown, pickable in present
        if len(lit.get(shown.name, ()))
    ]
    boxes += [(quad.min(axis=0), quad.max(axis=0)) for quad, _ in marks.selected_bands(context.scene)]
    if not boxes:
        view = settings.active(context)
        boxes = [pointer.box_of(shown, pickable) for holder, shown, pickable in present if holder == view]
    box = box_around(boxes)
    if box is None:
        return False
    zoom.fly_to_box(area, box, at_once)
    return True


def mark_selection(context: bpy.types.Context) -> str:
    """Mark the selected range of time, or the selected or hovered call's; returns what was done, in words."""
    for key in sorted(keys_in(context.scene)):
        chosen, trace = selection.selected(key), sources.loaded(key)
        hovered = selection.hovered(key)
        span = chosen.time_range
        if span is None and trace is not None and (len(chosen) or len(hovered)):
            span = span_of(trace, chosen.calls if len(chosen) else hovered)
        if span is None:
            continue
        added = marks.toggle(key, *span)
        push(context, "Mark" if added else "Unmark")
        return f"{units.duration(span[1] - span[0], 4)} {'marked' if added else 'no longer marked'}"
    return ""


push = undoing.push
