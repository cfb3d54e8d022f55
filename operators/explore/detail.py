"""Detail follows the eye: when a 3D view comes to rest nearer or farther, views show what can be seen there.

No step of undo is made, and the picture's own objects stay as they are: what is shown nearer lies beside
them, see :mod:`tracevis3d.scene.nearer`.
"""

import time
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty

from ...tracevis3d.drawing.thin import thinned
from ...tracevis3d.drawing.words import Drawing
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.views import registry
from ...tracevis3d.views.standing import standing
from .. import hiding, making, settings, sources
from ..task import idle
from . import marks, pointer, window_time, zoom

_REST = 0.25  # seconds without a move after which a 3D view is at rest
#: So many times nearer than the picture, or than the detail that is there, is worth more detail.
_WORTH = 1.5
_MARGIN = 0.5  # of what is seen, on either side
_MOST_CLOSERS = 8


class _Rest:
    """Which 3D view has moved last, and when."""

    def __init__(self) -> None:
        self.area = 0
        self.look: Any = None
        self.moved = 0.0


_rest = _Rest()


def saw(context: bpy.types.Context) -> None:
    """Take note that a 3D view is being drawn; from its handler, so it costs next to nothing."""
    view, area = context.region_data, context.area
    if view is None or area is None or not context.scene.tracevis3d_detail:
        return
    look = (area.as_pointer(), tuple(tuple(row) for row in view.perspective_matrix), context.scene.name)
    if look == _rest.look:
        return
    _rest.look, _rest.area, _rest.moved = look, area.as_pointer(), time.perf_counter()
    if not bpy.app.timers.is_registered(_wait):
        bpy.app.timers.register(_wait, first_interval=_REST)


def _wait() -> float | None:
    left = _REST - (time.perf_counter() - _rest.moved)
    if left > 0.01 or zoom.is_on_the_way() or window_time.is_gliding():
        return max(left, 0.05)
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.as_pointer() == _rest.area and area.type == "VIEW_3D":
                follow(window.scene, area)
    return None


def follow(scene: bpy.types.Scene, area: bpy.types.Area) -> int:
    """Let the views of ``scene`` show what can be seen in ``area``; returns how many have changed."""
    if not idle() or bpy.context.mode != "OBJECT" or _is_rendering():
        return 0
    region = next(region for region in area.regions if region.type == "WINDOW")
    eye = area.spaces.active.region_3d
    changed = 0
    for view in settings.all_in(scene):
        try:
            changed += _follow(scene, view, region, eye)
        except TraceVisError as error:
            print(f"TraceVis3D: {error}")
    return changed


def _is_rendering() -> bool:
    return bool(bpy.app.is_job_running("RENDER"))


def _follow(scene: bpy.types.Scene, view: bpy.types.Collection, region: Any, eye: Any) -> bool:
    from ...tracevis3d.scene import nearer

    traces = sources.in_memory(view)
    if traces is None or settings.of(view).stale or view.library is not None:
        return False
    declared = registry.find(settings.of(view).view)
    shown = next((o for o in view.objects if o.get("tracevis3d_kind") == "call"), None)
    if declared.closer is None or marks.holding_of(shown) is None:
        return False
    found = seen(shown, region, eye)
    if found is None:
        return False
    low, high, pixels = found
    closer = _closer_of(view, declared, traces, making.frame_of(scene))
    if pixels < _WORTH * closer.pixels_per_unit:
        return nearer.leave(view)
    now = nearer.shown_detail(view)
    if now is not None and now[0] <= low and high <= now[1] and 1 / _WORTH < pixels / now[2] < _WORTH:
        return False
    room = _MARGIN * (high - low)
    begin, end = max(round(low - room), closer.window[0]), min(round(high + room), closer.window[1])
    show(view, closer, traces, (begin, end), pixels, nearer.view_of(region, eye, shown.matrix_world))
    return True


def show(
    view: bpy.types.Collection,
    closer: Any,
    traces: list[Any],
    window: tuple[int, int],
    pixels_per_unit: float,
    eye: Any,
) -> None:
    """Show the detail of a view within ``window`` nanoseconds, with names as ``eye`` can read them."""
    from ...tracevis3d.scene import nearer

    parts, names = closer.look(window, pixels_per_unit)
    drawing = Drawing(closer.palette, tuple(parts), closer.camera, (names,))
    if stack := hiding.stack_of(view):
        drawing = thinned(drawing, {i: hiding.states(trace, stack) for i, trace in enumerate(traces)})
    parts = drawing.elements
    nearer.enter(
        view,
        parts,
        drawing.labels[0] if drawing.labels else names,
        [standing(part, drawing, traces) for part in parts],
        closer.palette,
        settings.of(view).style,
        closer.camera,
        eye,
        window,
        pixels_per_unit,
        bool(window_time.scene_of(view).tracevis3d_detail_rendered),
    )


def seen(shown: bpy.types.Object, region: Any, eye: Any) -> tuple[int, int, float] | None:
    """Return the nanoseconds that can be seen of an object, and the most pixels that a unit takes there.

    None if nothing of it can be seen.
    """
    holds = marks.holding_of(shown)
    low, high = holds.extent
    a, b = holds.along
    steps = np.linspace(a, a + b, 257)
    height = np.array([low[2], (low[2] + high[2]) / 2, high[2]])
    grid = np.array([(x, low[1], z) for x in steps for z in height])
    matrix = np.array(shown.matrix_world, np.float64)
    world = grid @ matrix[:3, :3].T + matrix[:3, 3]
    at = pointer.project(region, eye, world).reshape(len(steps), len(height), 2)
    # Between two steps, of which either may be out of sight, there may be something in it.
    left, right = np.minimum(at[:-1], at[1:]), np.maximum(at[:-1], at[1:])
    meets = (right[..., 0] >= 0) & (left[..., 0] <= region.width)
    # From the lowest to the highest of it, something is between the region's lower and upper edge.
    lowest, highest = left[..., 1].min(axis=1), right[..., 1].max(axis=1)
    meets = meets.any(axis=1) & (highest >= 0) & (lowest <= region.height)
    if not meets.any():
        return None
    first, last = int(np.argmax(meets)), len(meets) - 1 - int(np.argmax(meets[::-1]))
    wide = np.linalg.norm(at[1:] - at[:-1], axis=2)[first : last + 1]
    pixels = float(np.nanmax(wide)) / abs(steps[1] - steps[0])
    begin, end = holds.window
    length = end - begin
    return (
        round(begin + length * first / (len(steps) - 1)),
        round(begin + length * (last + 1) / (len(steps) - 1)),
        pixels,
    )


_closers: dict[Any, Any] = {}


def _closer_of(view: bpy.types.Collection, declared: Any, traces: list[Any], frame: Any) -> Any:
    from ...tracevis3d import api

    values = settings.values(view)
    key = (view.name, tuple(map(id, traces)), tuple(values.items()), frame)
    if key not in _closers:
        while len(_closers) >= _MOST_CLOSERS:
            del _closers[next(iter(_closers))]
        figure = api.view(declared.name, *traces, **values)
        _closers[key] = declared.closer(traces, figure.parameters, frame)
    return _closers[key]


def _switched(scene: bpy.types.Scene, _context: bpy.types.Context) -> None:
    """The setting was changed: what is there goes, or comes at the next rest."""
    from ...tracevis3d.scene import nearer

    _rest.look = None
    for view in settings.all_in(scene):
        if not scene.tracevis3d_detail:
            nearer.leave(view)
            continue
        inside = nearer.objects_of(view)
        for shown in inside:
            shown.hide_render = not scene.tracevis3d_detail_rendered
        for shown in nearer.picture_of(view) if inside else ():
            shown.hide_render = scene.tracevis3d_detail_rendered


def forget() -> None:
    """Let go of traces."""
    _closers.clear()
    _rest.look = None


def register() -> None:
    """Add the settings."""
    bpy.types.Scene.tracevis3d_detail = BoolProperty(
        name="Detail Follows the Eye",
        description="Show more calls where one looks from near, when the 3D view comes to rest",
        default=True,
        update=_switched,
    )
    bpy.types.Scene.tracevis3d_detail_rendered = BoolProperty(
        name="Render the Detail",
        description="Pictures, too, show the detail that the 3D view shows",
        default=False,
        update=_switched,
    )


def unregister() -> None:
    """Take the settings away."""
    forget()
    del bpy.types.Scene.tracevis3d_detail_rendered
    del bpy.types.Scene.tracevis3d_detail
