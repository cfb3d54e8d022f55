"""A cone tree on its way to show another call in front, or in the middle of its ball.

On the way nothing is stored: the parameters change at the end, in one step that can be undone.
"""

import time
from collections.abc import Callable
from typing import Any

import bpy

from ....tracevis3d.errors import TraceVisError
from ....tracevis3d.layout.flight import eased
from ....tracevis3d.progress import silent
from ...state import filter_stacks, settings, sources
from ...views import arrange, make_view, viewport
from .. import overlay
from . import window_time
from .motion import Motion

_STEP = 1 / 30  # seconds between two pictures
_LASTS = 0.9  # seconds: Robertson and others found one second to be long enough to follow, and not boring
_LEAP = 0.2  # of the way, at most, between two pictures
_QUICK = 2.0  # seconds that rebuilding the view, lists and all, may take for its cones to turn in steps


def can(view: bpy.types.Collection | None) -> bool:
    """Return whether a view has something to turn, and its traces are in memory."""
    if not settings.is_view(view) or sources.in_memory(view) is None:
        return False
    group = settings.parameters(view)
    return group is not None and "facing" in group.bl_rna.properties and group.layout != "bubble"


class _Turn:
    """One view on its way."""

    def __init__(
        self, view: str, values: dict[str, Any], start: str, wanted: dict[str, str], done: Callable[[], None]
    ):
        self.view, self.values, self.start, self.wanted, self.done = view, values, start, wanted, done
        self.share = 0.0
        self.last = time.perf_counter()

    def now(self) -> str:
        """Return what faces the viewer now."""
        return f"{self.start}~{self.wanted['facing']}~{eased(self.share):.4f}"

    def arrive(self) -> None:
        self.share = 1.0

    def step(self) -> float | None:
        """Show the cones as they stand now; returns the seconds until the next step, None at the end."""
        view = bpy.data.collections.get(self.view)
        if not settings.is_view(view):
            return None
        now = time.perf_counter()
        # Where pictures are slow there are some nevertheless: one could not follow a jump.
        self.share += min((now - self.last) / _LASTS, _LEAP)
        self.last = now
        if self.share < 1.0 and self._show(view):
            return _STEP
        settings.assign(view, self.wanted)
        window_time.redraw(view)
        self.done()
        # What was read on the way is of no state that undo knows.
        _forget()
        return None

    def _show(self, view: bpy.types.Collection) -> bool:
        traces = sources.in_memory(view)
        if traces is None:
            return False
        # Names would jump from side to side; they come back at the end.
        values = {**self.values, **self.wanted, "facing": self.now(), "labels": 0}
        scene = window_time.scene_of(view)
        frame = settings.frame_of(scene)
        try:
            figure = make_view.figure_with(
                settings.of(view).view, traces, values, filter_stacks.stack_of(view)
            )
            drawing = figure.drawing(frame, silent)
        except TraceVisError:
            return False
        from ....tracevis3d.scene.build import build

        # What lists and panels tell stays as it is on the way: that is renewed at the end.
        percentage, style = scene.render.resolution_percentage, settings.of(view).style
        with viewport.through_camera(scene):
            arrange.lift(view)
            build(drawing, style=style, frame=frame, scene=scene, collection=view, name=view.name)
            scene.render.resolution_percentage = percentage
            arrange.settle(scene)
        _forget()
        return True


def _forget() -> None:
    """Let what is selected light up where it stands now."""
    from ....tracevis3d.scene.window import element_metadata

    element_metadata.forget()
    overlay.redraw()


motion: Motion[_Turn] = Motion()


def finish() -> bool:
    """Jump to the end of a turn that is under way; returns whether there was one."""
    return motion.finish()


def is_turning() -> bool:
    """Return whether a view is on its way."""
    return motion.current is not None


def go(view: bpy.types.Collection, call: int, done: Callable[[], None], around: bool = False) -> bool:
    """Turn a view's cones until a call is in front, then call ``done()``.

    A turn that is under way goes on from where it is.

    Parameters
    ----------
    view : bpy.types.Collection
    call : int
    done : callable
        The place for a step of undo.
    around : bool
        Show what is around the call, too: the budget of nodes goes there.

    Returns
    -------
    bool
        Whether the view can do that.
    """
    if not can(view):
        return False
    values = settings.values(view)
    wanted = {"facing": str(call)}
    if around:
        wanted["focus"] = str(call)
    turn = motion.current
    if turn is not None and turn.view == view.name:
        if all(turn.wanted.get(name) == text for name, text in wanted.items()):
            return True
        # What it was on its way to is given up, but for the call that it was to show more of.
        start = turn.now()
        wanted = {**{name: text for name, text in turn.wanted.items() if name != "facing"}, **wanted}
    else:
        finish()
        start = values["facing"] or values["focus"]
        if all(values[name] == text for name, text in wanted.items()):
            return True
    from ....tracevis3d.scene.window import detail_objects

    # What has opened from near turns with the rest: it comes again when that stands.
    detail_objects.leave(view)
    # What is under the mouse moves away from it.
    overlay.state.hit, overlay.state.told = None, []
    seconds = make_view.seconds_of(view)
    slow = seconds is not None and seconds > _QUICK
    at_once = slow or bpy.app.background or bpy.context.preferences.view.smooth_view == 0
    motion.start(_Turn(view.name, values, start, wanted, done), at_once)
    return True


def turn_to(view: bpy.types.Collection | None, hit: Any, done: Callable[[], None], around: bool) -> bool:
    """Turn a view until what was hit is in front, if it can and that is a call."""
    if view is None or not can(view) or not hit.calls:
        return False
    group = settings.require_parameters(view)
    if group.layout == "hyperbolic" and not around:
        return False
    call = next(iter(hit.calls.values()))
    return call >= 0 and go(view, int(call), done, around)
