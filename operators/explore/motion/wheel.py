"""The wheel with Ctrl: zooms what a view of memory shows along its bytes, about what the mouse is over."""

import math
import time
from typing import Any

import bpy
import numpy as np

from ....tracevis3d.layout.flight import eased
from ...state import settings, sources
from ...views import make_view
from .. import acts, pointer
from . import live_bars, window_time
from .motion import Motion

#: The wheel's events: nearer, and farther.
NOTCHES = ("WHEELUPMOUSE", "WHEELDOWNMOUSE")
_FACTOR = 1.5  # that a notch is nearer
_LASTS = 0.22  # seconds that a step takes
_STEP = 1 / 30  # between two pictures
_LEAST = 1e-6  # of the bytes: no view shows less

Sight = tuple[float, float]


class _Glide:
    """What a view shows of its bytes, on its way."""

    def __init__(self, view: str, begin: Sight, goal: Sight) -> None:
        self.view, self.begin, self.goal = view, begin, goal
        self.begun = time.perf_counter()

    def arrive(self) -> None:
        self.begun = -math.inf

    def step(self) -> float | None:
        """Show a little more of the way; returns the seconds until the next step, None at the end."""
        view = bpy.data.collections.get(self.view)
        if not settings.is_view(view):
            return None
        share = min((time.perf_counter() - self.begun) / _LASTS, 1.0)
        way = eased(share)
        # What is looked at grows evenly: widths are multiplied, not added.
        (a, b), (c, d) = self.begin, self.goal
        wide = (b - a) * ((d - c) / (b - a)) ** way
        whole = (b - a) - (d - c)
        left = a + (c - a) * (((b - a) - wide) / whole if abs(whole) > 1e-12 else way)
        shown = (left, left + wide) if share < 1.0 else self.goal
        settings.assign(view, {"left": shown[0], "right": shown[1]})
        if not window_time.redraw(view) or share >= 1.0:
            acts.push(bpy.context, "Zoom in Bytes")
            return None
        return _STEP


motion: Motion[_Glide] = Motion()


def turned(context: bpy.types.Context, event: bpy.types.Event, place: Any) -> bool:
    """Zoom by a notch of the wheel; return whether there is anything to zoom."""
    factor = _FACTOR if event.type == NOTCHES[0] else 1 / _FACTOR
    ray = pointer.ray_through(place.region, place.space.region_3d, place.x, place.y)
    if live_bars.zoom(context.scene, ray, factor):
        return True
    view = _memory_in(context.scene)
    return view is not None and zoom(view, _share_under(view, ray), factor)


def back(scene: bpy.types.Scene) -> bool:
    """Let a view of memory that the wheel has zoomed show all bytes again; return whether there is one."""
    if live_bars.zoom_back(scene):
        return True
    view = _memory_in(scene)
    group = settings.parameters(view) if view is not None else None
    if group is None or group.right - group.left >= 1.0:
        return False
    return zoom(view, 0.5, group.right - group.left)


def zoom(view: bpy.types.Collection, share: float, factor: float, at_once: bool = False) -> bool:
    """Let a view of memory show ``factor`` times less of its bytes; what lies at ``share`` stays there.

    Returns
    -------
    bool
        Whether its trace is in memory.
    """
    if sources.in_memory(view) is None:
        return False
    group = settings.require_parameters(view)
    now = (float(group.left), float(group.right))
    gliding = motion.current
    before = gliding.goal if gliding is not None and gliding.view == view.name else now
    wide = min(max((before[1] - before[0]) / factor, _LEAST), 1.0)
    left = before[0] + share * (before[1] - before[0] - wide)
    left = min(max(left, 0.0), 1.0 - wide)
    seconds = make_view.seconds_of(view)
    slow = seconds is not None and seconds > 0.15
    at_once |= slow or bpy.app.background or bpy.context.preferences.view.smooth_view == 0
    motion.start(_Glide(view.name, now, (left, left + wide)), at_once)
    return True


def _memory_in(scene: bpy.types.Scene) -> Any:
    """Return the scene's active view if it shows memory, or else the first that does; None: none."""
    views = [view for view in settings.all_in(scene) if settings.of(view).view == "memory"]
    active = settings.active(bpy.context)
    return active if active in views else next(iter(views), None)


def _share_under(view: bpy.types.Collection, ray: Any) -> float:
    """Return where on the ground of a view a ray falls, as a share of its width."""
    from ....tracevis3d.features.memory.view.layout import WIDTH

    ground = next((o for o in view.objects if o.get("tracevis3d_kind") == "ground"), None)
    if ground is None:
        return 0.5
    back = np.array(ground.matrix_world.inverted(), np.float64)
    origin = back[:3, :3] @ ray.origin + back[:3, 3]
    toward = back[:3, :3] @ ray.direction
    if abs(toward[2]) < 1e-9:
        return 0.5
    across = origin[0] - origin[2] / toward[2] * toward[0]
    return float(min(max(across / WIDTH, 0.0), 1.0))
