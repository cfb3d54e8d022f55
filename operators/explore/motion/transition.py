"""A view on its way to other parameters, by the way that the action which leads there declares.

On the way nothing is stored: the parameters change at the end, in one step that can be undone.
"""

import time
from collections.abc import Callable
from typing import Any

import bpy

from ....tracevis3d.errors import TraceVisError
from ....tracevis3d.layout.sight.flight import eased
from ....tracevis3d.progress import silent
from ....tracevis3d.scene.build import build
from ....tracevis3d.scene.window import detail_objects, element_metadata
from ....tracevis3d.views.actions import Change
from ...state import filter_stacks, settings, sources
from ...views import arrange, make_view, viewport
from .. import overlay
from . import window_time
from .motion import Motion

_STEP = 1 / 30  # seconds between two pictures
_LEAP = 0.2  # of the way, at most, between two pictures


class _Way:
    """The way of one view."""

    def __init__(self, view: str, goal: dict[str, Any], change: Change, done: Callable[[], None]):
        self.view, self.goal, self.change, self.done = view, goal, change, done
        self.share = 0.0
        self.last = time.perf_counter()

    def arrive(self) -> None:
        self.share = 1.0

    def now(self) -> dict[str, Any]:
        """Return the parameters that differ from those that are stored, as they are shown now."""
        between = self.change.between
        return {**self.goal, **(between(eased(self.share)) if between is not None else {})}

    def step(self) -> float | None:
        """Show the view as it is now; returns the seconds until the next step, None at the end."""
        view = bpy.data.collections.get(self.view)
        if view is None or not settings.is_view(view):
            return None
        now = time.perf_counter()
        # Some pictures are drawn even if they are slow, because a jump could not be followed.
        self.share += min((now - self.last) / max(self.change.seconds, 1e-3), _LEAP)
        self.last = now
        if self.share < 1.0 and self._show(view):
            return _STEP
        settings.assign(view, self.goal)
        window_time.redraw(view)
        self.done()
        # Values read in transition belong to no undo step.
        _forget()
        return None

    def _show(self, view: bpy.types.Collection) -> bool:
        traces = sources.in_memory(view)
        if traces is None:
            return False
        values = {**settings.values(view), **self.now()}
        scene = window_time.scene_of(view)
        frame = settings.frame_of(scene)
        try:
            figure = make_view.figure_with(
                settings.of(view).view, traces, values, filter_stacks.stack_of(view)
            )
            drawing = figure.drawing(frame, silent)
        except TraceVisError:
            return False
        # What lists and panels say stays as it is on the way: that is renewed at the end.
        percentage, style = scene.render.resolution_percentage, settings.of(view).style
        with viewport.through_camera(scene):
            arrange.lift(view)
            build(drawing, style=style, frame=frame, scene=scene, collection=view, name=view.name)
            scene.render.resolution_percentage = percentage
            arrange.settle(scene)
        _forget()
        return True


def _forget() -> None:
    """Highlight the selection at its present place."""
    element_metadata.forget()
    overlay.redraw()


motion: Motion[_Way] = Motion()


def finish() -> bool:
    """Jump to the end of a way; returns whether a view was on one."""
    return motion.finish()


def is_running() -> bool:
    """Return whether a view is on its way."""
    return motion.current is not None


def shown(view: bpy.types.Collection) -> dict[str, Any]:
    """Return the parameters that a view on its way shows in place of those that are stored."""
    way = motion.current
    return way.now() if way is not None and way.view == view.name else {}


def goal(view: bpy.types.Collection) -> dict[str, Any]:
    """Return the parameters that a view is on its way to."""
    way = motion.current
    return way.goal if way is not None and way.view == view.name else {}


def start(view: bpy.types.Collection, change: Change, done: Callable[[], None]) -> bool:
    """Let a view go to other parameters, then call ``done()``.

    A view in transition continues from where it is.

    Parameters
    ----------
    view : bpy.types.Collection
    change : Change
        Its parameters, and the way to them.
    done : callable
        The place for a step of undo.

    Returns
    -------
    bool
        Whether its traces are in memory.
    """
    if sources.in_memory(view) is None:
        return False
    wanted = dict(change.parameters)
    under_way = goal(view)
    if not wanted or (under_way and all(under_way.get(name) == value for name, value in wanted.items())):
        return True
    if not under_way:
        finish()
    # Opened detail would move with the rest: it is made again at the end.
    detail_objects.leave(view)
    # The element under the mouse moves away from it.
    overlay.state.hit, overlay.state.descriptions, overlay.state.pointed = None, [], None
    seconds = make_view.seconds_of(view)
    slow = change.between is None or (seconds is not None and seconds > change.patience)
    at_once = slow or bpy.app.background or bpy.context.preferences.view.smooth_view == 0
    motion.start(_Way(view.name, {**under_way, **wanted}, change, done), at_once)
    return True
