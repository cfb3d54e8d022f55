"""A view that is wholly in sight stays so when an action makes it larger."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...tracevis3d.layout.sight.affine import corners
from ..explore import actions, pointer
from ..state import settings
from ..views import viewport
from .framing import Framed, view_named
from .room import free_of


@contextmanager
def _kept_whole(view: bpy.types.Collection) -> Iterator[None]:
    """Let 3D views that show all of a view show all of it afterwards too, though it may be larger then."""
    name = view.name
    areas = [
        (window.scene, area)
        for window in bpy.context.window_manager.windows
        for area in window.screen.areas
        if area.type == "VIEW_3D" and _shows_all(window.scene, area, view)
    ]
    yield
    changed = bpy.data.collections.get(name)
    for scene, area in areas:
        if changed is not None and viewport.is_open(area) and not _shows_all(scene, area, changed):
            Framed(scene.name, view_named(name))(area)


def _shows_all(scene: bpy.types.Scene, area: bpy.types.Area, view: bpy.types.Collection) -> bool:
    space, stored = area.spaces.active, settings.of(view)
    if space.region_quadviews or space.region_3d.view_perspective == "CAMERA":
        return False
    region = next(region for region in area.regions if region.type == "WINDOW")
    low, high = ([a + b for a, b in zip(end, stored.place)] for end in (stored.low, stored.high))
    at = pointer.projection_of(region, space.region_3d).pixels_in_front(corners(low, high))
    if at is None:
        return False
    left, bottom, right, top = free_of(area, region, scene)
    (x0, y0), (x1, y1) = at.min(axis=0), at.max(axis=0)
    return bool(left <= x0 and x1 <= right and bottom <= y0 and y1 <= top)


def register() -> None:
    """Keep in sight what actions change."""
    if not bpy.app.background:
        actions.around.append(_kept_whole)


def unregister() -> None:
    """Undo :func:`register`."""
    if _kept_whole in actions.around:
        actions.around.remove(_kept_whole)
