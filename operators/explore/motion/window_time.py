"""The time window of a view: set from the element under the mouse, smoothly where drawing is quick."""

import time
from collections.abc import Callable, Mapping

import bpy

from ....tracevis3d.errors import TraceVisError
from ....tracevis3d.layout.sight.flight import Flight, Pace, eased
from ....tracevis3d.progress import silent
from ....tracevis3d.views import registry as views
from ....tracevis3d.views.time_window import (
    Window,
    flight_between,
    time_window,
    whole,
    window_on,
    window_parameters,
    window_values,
)
from ...state import settings, sources
from ...views import make_view
from .. import marks
from .motion import Motion, Timed

_STEP = 1 / 30  # seconds between two pictures
_PACE = Pace(0.35, 0.2, 1.6)
_QUICK = 0.15  # seconds that drawing the view may take for its windows to glide


def names_of(view: bpy.types.Collection, source: int) -> tuple[str, str] | None:
    """Return the names of the parameters that hold the window of one of a view's traces, if it has any."""
    if settings.parameters(view) is None:
        return None
    return window_parameters(views.find(settings.of(view).view).parameters, source)


def of(view: bpy.types.Collection, source: int) -> Window | None:
    """Return the window of time that a view shows of one of its traces, in nanoseconds."""
    for shown in view.objects:
        pickable = marks.with_times(shown) if shown.get("tracevis3d_kind") in ("call", "cluster") else None
        if pickable is not None and pickable.source == source:
            return tuple(pickable.window)
    return _set(view, source)


def _set(view: bpy.types.Collection, source: int) -> Window | None:
    """Return the window that a view's parameters say: for views whose elements are no calls along time."""
    names, traces = names_of(view, source), sources.in_memory(view)
    if names is None or traces is None:
        return None
    group = settings.parameters(view)
    try:
        return time_window(traces[source], *(getattr(group, name) for name in names))
    except TraceVisError:
        return None


def values_for(view: bpy.types.Collection, windows: Mapping[int, Window | None]) -> dict[str, str]:
    """Return the parameters' values for windows by trace; None means the whole."""
    if settings.parameters(view) is None:
        return {}
    return window_values(views.find(settings.of(view).view).parameters, windows)


def redraw(view: bpy.types.Collection) -> bool:
    """Draw a view anew with its parameters, if its traces are in memory; returns whether it could be done."""
    traces = sources.in_memory(view)
    if traces is None:
        return False
    scene = scene_of(view)
    started = time.perf_counter()
    try:
        figure = make_view.figure_of(view, traces)
        make_view.show(scene, view, traces, figure, figure.drawing(settings.frame_of(scene), silent))
    except TraceVisError as error:
        print(f"TraceVis3D: {error}")
        return False
    make_view.took(view, time.perf_counter() - started)
    return True


def scene_of(view: bpy.types.Collection) -> bpy.types.Scene:
    """Return the scene that a view is in: the current one, if it is in several."""
    current = bpy.context.scene
    if current is not None and view in settings.all_in(current):
        return current
    return next(scene for scene in bpy.data.scenes if view in settings.all_in(scene))


class _Glide(Timed):
    """The windows of one view on their way to others."""

    def __init__(
        self, view: str, paths: dict[int, Flight], goal: dict[int, Window | None], done: Callable[[], None]
    ):
        super().__init__(_PACE.seconds(*(path.length for path in paths.values())))
        self.view, self.paths, self.goal, self.done = view, paths, goal, done

    def step(self) -> float | None:
        """Show the windows of now; returns the seconds until the next step, None at the end."""
        view = bpy.data.collections.get(self.view)
        if not settings.is_view(view):
            return None
        share = self.share()
        windows: dict[int, Window | None] = dict(self.goal)
        if share < 1.0:
            for source, path in self.paths.items():
                windows[source] = window_on(path, eased(share))
        settings.assign(view, values_for(view, windows))
        if not redraw(view) or share >= 1.0:
            self.done()
            return None
        return _STEP


motion: Motion[_Glide] = Motion()


def finish() -> bool:
    """Jump to the end of a glide that is under way; returns whether there was one."""
    return motion.finish()


def is_gliding() -> bool:
    """Return whether a view's window is on its way."""
    return motion.current is not None


def goal_of(view: bpy.types.Collection, source: int) -> Window | None:
    """Return the window that a view shows, or is on its way to."""
    glide = motion.current
    if glide is not None and glide.view == view.name and glide.goal.get(source) is not None:
        return glide.goal[source]
    return of(view, source)


def go(
    view: bpy.types.Collection,
    windows: dict[int, Window | None],
    done: Callable[[], None],
    at_once: bool = False,
) -> bool:
    """Let a view show other windows of time, then call ``done()``.

    Parameters
    ----------
    view : bpy.types.Collection
    windows : dict
        Window by trace of the view; None for the whole trace.
    done : callable
        Called when they are shown: the place for a step of undo.
    at_once : bool
        Without gliding.

    Returns
    -------
    bool
        Whether the view can do that now: it has windows, and its traces are in memory.
    """
    traces = sources.in_memory(view)
    if traces is None or not values_for(view, windows):
        return False
    paths = {}
    for source, window in windows.items():
        begin = of(view, source)
        end = window or whole(traces[source])
        if begin is not None and begin != end:
            paths[source] = flight_between(begin, end)
    if not paths:
        # It is shown already, perhaps by other words.
        settings.assign(view, values_for(view, windows))
        return True
    seconds = make_view.seconds_of(view)
    slow = seconds is not None and seconds > _QUICK
    at_once |= slow or bpy.app.background or bpy.context.preferences.view.smooth_view == 0
    motion.start(_Glide(view.name, paths, windows, done), at_once)
    return True
