"""A lens: a circle about the mouse in which a 3D view is magnified, and shows all detail that it has."""

from dataclasses import dataclass
from typing import Any

import bpy
from mathutils import Matrix

from ....tracevis3d.layout.sight.magnification import magnification
from .. import overlay
from ..motion import detail
from ..place import Place

#: How much larger everything is in it; its diameter in pixels at scale 1, and at most, as a share of the
#: region's shorter side.
TIMES, _SIDE, _MOST = 6.0, 340.0, 0.6


@dataclass(frozen=True)
class Look:
    """How a lens looks at a scene: as a region of a 3D view and its eye.

    Attributes
    ----------
    x, y : float
        Its middle, in pixels of the region that it lies over.
    width, height : int
        Its diameter, in pixels.
    perspective_matrix, window_matrix, view_matrix : Matrix
    is_perspective : bool
    """

    x: float
    y: float
    width: int
    height: int
    perspective_matrix: Matrix
    window_matrix: Matrix
    view_matrix: Matrix
    is_perspective: bool


class _State:
    """The 3D views that have a lens, and region and pixel of the mouse: pointers as numbers."""

    def __init__(self) -> None:
        self.areas: set[int] = set()
        self.mouse = (0, 0, 0, 0)


_state = _State()


def is_on(area: bpy.types.Area) -> bool:
    """Return whether a 3D view has a lens."""
    return area.as_pointer() in _state.areas


def toggle(area: bpy.types.Area) -> bool:
    """Give a 3D view a lens, or take it away; return whether it has one now."""
    _state.areas ^= {area.as_pointer()}
    area.tag_redraw()
    return is_on(area)


def close(area: bpy.types.Area) -> bool:
    """Take the lens of a 3D view away; return whether it had one."""
    return is_on(area) and not toggle(area)


def move(place: Place | None) -> None:
    """Take note of where the mouse is."""
    before = _state.mouse
    if place is None:
        _state.mouse = (0, 0, 0, 0)
    else:
        _state.mouse = (place.area.as_pointer(), place.region.as_pointer(), place.x, place.y)
    if _state.mouse != before and _state.areas & {before[0], _state.mouse[0]}:
        overlay.redraw()


def look(area: bpy.types.Area, region: bpy.types.Region, view: bpy.types.RegionView3D) -> Look | None:
    """Return how the lens over a region looks; None where there is none."""
    where, which, x, y = _state.mouse
    if where not in _state.areas or (where, which) != (area.as_pointer(), region.as_pointer()):
        return None
    scale = bpy.context.preferences.system.ui_scale
    side = round(min(_SIDE * scale, _MOST * min(region.width, region.height)))
    if side < 16:
        return None
    larger = Matrix(magnification(x, y, side, TIMES, region.width, region.height).tolist())
    return Look(
        x, y, side, side, larger @ view.perspective_matrix, larger @ view.window_matrix,
        view.view_matrix.copy(), view.is_perspective,
    )  # fmt: skip


def _of_area(area: bpy.types.Area) -> Any:
    region = next((r for r in area.regions if r.as_pointer() == _state.mouse[1]), None)
    return look(area, region, area.spaces.active.region_3d) if region is not None else None


def forget() -> None:
    """Take all lenses away."""
    _state.areas.clear()
    overlay.redraw()


def register() -> None:
    """Let views show their detail where a lens is."""
    detail.lenses.append(_of_area)


def unregister() -> None:
    """Undo :func:`register`."""
    detail.lenses.remove(_of_area)
    forget()
