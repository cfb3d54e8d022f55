"""A map of the scene in a corner of a 3D view: what is seen is framed on it, and a click goes there."""

from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import BoolProperty
from mathutils import Vector

from ...tracevis3d.drawing.picked import Description
from ...tracevis3d.layout.sight.affine import Box, Floats, box_around, corners
from ...tracevis3d.layout.sight.minimap import Minimap, footprint
from ...tracevis3d.overlay.items import Rectangle
from ...tracevis3d.scene import styles
from ...tracevis3d.scene.window.plan import plan_of
from .. import handlers
from ..explore import overlay as explore
from ..explore import pointer, shapes
from ..explore.motion import zoom
from ..explore.place import Place
from ..state import settings
from .content import contents
from .page import is_page
from .room import free_of

#: Pixels at scale 1: as wide and as high is the map at most, and so far from the corner.
_MOST, _MARGIN = (230.0, 130.0), 12.0
#: Its ground reaches so far beyond it, in pixels at scale 1.
_PAD = 4.0
#: It is shown in regions that are at least so many times as wide and as high.
_ROOM = 3.0
#: Nor is it shown where more than this share of the whole is in sight.
_NEARLY_ALL = 0.8
#: Of the boxes of an object the widest are on the map.
_WIDEST = 3000
_EDGE, _SEEN, _SEEN_EDGE, _EYE = (
    (0.45, 0.48, 0.52, 0.9), (0.90, 0.62, 0.0, 0.16), (0.80, 0.42, 0.0, 1.0), (0.80, 0.42, 0.0, 0.55),
)  # fmt: skip


@dataclass
class _Drawn:
    """The elements on the map of a region, made again when they are others."""

    key: Any = None
    batch: Any = None


_drawn: dict[int, _Drawn] = {}


def of(area: Any, region: Any, space: Any, scene: bpy.types.Scene) -> Minimap | None:
    """Return the map of a region of a 3D view; None where there is none, as where all is in sight."""
    view = space.region_3d
    if not scene.tracevis3d_minimap or is_page(scene) or view.view_perspective == "CAMERA":
        return None
    if not space.overlay.show_overlays or space.region_quadviews:
        return None
    whole = _whole(mapped(scene, space))
    if whole is None:
        return None
    scale = bpy.context.preferences.system.ui_scale
    left, bottom, right, top = free_of(area, region, scene)
    most = (_MOST[0] * scale, _MOST[1] * scale)
    if right - left < _ROOM * most[0] or top - bottom < _ROOM * most[1]:
        return None
    at = pointer.projection_of(region, view).pixels_in_front(corners(*whole))
    if at is not None:
        (x0, y0), (x1, y1) = at.min(axis=0), at.max(axis=0)
        wide, high = min(x1, right) - max(x0, left), min(y1, top) - max(y0, bottom)
        if min(wide, high) > 0 and wide * high > _NEARLY_ALL * (x1 - x0) * (y1 - y0):
            return None
    margin = _MARGIN * scale
    return Minimap.of(whole, (right - margin, bottom + margin), most)


def covered(
    area: bpy.types.Area, region: bpy.types.Region, space: bpy.types.SpaceView3D, scene: bpy.types.Scene
) -> tuple[Rectangle, ...]:
    """Return where the map of a region lies; nowhere where there is none."""
    found = of(area, region, space, scene)
    if found is None:
        return ()
    pad, (left, bottom, right, top) = _PAD * bpy.context.preferences.system.ui_scale, found.box
    return ((left - pad, bottom - pad, right + pad, top + pad),)


def mapped(scene: bpy.types.Scene, space: Any) -> list[tuple[Any, Any, Any]]:
    """Return view, object and what it holds, of all that is on the map."""
    return [
        entry
        for entry in pointer.shown_in(scene, space)
        if entry[2].has_description and entry[2].word in ("Boxes", "Wedges", "Marks")
    ]


def _stamp(present: list[tuple[Any, Any, Any]]) -> Any:
    return tuple(
        (shown.name, pickable.stamp, tuple(map(tuple, shown.matrix_world))) for _, shown, pickable in present
    )


_last: list[tuple[Any, Box | None]] = []


def _whole(present: list[tuple[Any, Any, Any]]) -> Box | None:
    """Return the box around all that is on the map; kept, since each redraw asks."""
    key = _stamp(present)
    if not _last or _last[0][0] != key:
        _last[:] = [(key, box_around([pointer.box_of(shown, pickable) for _, shown, pickable in present]))]
    return _last[0][1]


def seen_on(found: Minimap, region: Any, view: Any) -> tuple[Floats, Floats]:
    """Return the outline of what a region shows at the depth that it is about, and of its frustum there.

    Both are in pixels, cut off at the edge of the map.
    """
    projection = pointer.projection_of(region, view)
    corners = footprint(projection, view.view_location, zoom.axes_of(view.view_rotation)[2])
    eye = view.view_matrix.inverted().translation if view.is_perspective else view.view_location
    return found.outline(corners), found.outline([eye, *corners[[0, 1]]])


def _draw() -> None:
    context = bpy.context
    region, space, scene = context.region, context.space_data, context.scene
    if context.region_data is None or not settings.all_in(scene):
        return
    found = of(context.area, region, space, scene)
    if found is None:
        return
    scale = context.preferences.system.ui_scale
    active = settings.active_in(scene)
    ground = styles.named(settings.of(active).style if active is not None else "paper").background
    left, bottom, right, top = found.box
    pad = _PAD * scale
    shapes.rectangle(left - pad, bottom - pad, right + pad, top + pad, (*ground, 0.94))
    drawn, present = _drawn.setdefault(region.as_pointer(), _Drawn()), mapped(scene, space)
    key = found, _stamp(present)
    if key != drawn.key:
        drawn.key, drawn.batch = key, shapes.quads(_elements(found, present))
    shapes.show(drawn.batch)
    shapes.stroke([(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)], _EDGE, scale)
    seen, cone = seen_on(found, region, space.region_3d)
    if len(cone) > 1:
        shapes.stroke([*cone, cone[0]], _EYE, 1.2 * scale)
    if len(seen) > 2:
        shapes.polygon(seen, _SEEN)
    if len(seen) > 1:
        shapes.stroke([*seen, seen[0]], _SEEN_EDGE, 1.8 * scale)


def _elements(found: Minimap, present: list[tuple[Any, Any, Any]]) -> list[tuple[Floats, Any]]:
    """Return the corners of elements on the map, and their colours."""
    parts = []
    for view, shown, pickable in present:
        content = contents.of(view)
        if content is not None:
            low, high, color = plan_of(pickable, shown.matrix_world, content.explained.palette, _WIDEST)
            parts.append((found.rectangles(low, high), color))
    return parts


class _Cover(explore.Cover):
    def point(self, place: Place | None) -> list[Description] | None:
        found = _at(place) if place is not None else None
        return [Description("A click goes there")] if found is not None else None

    def click(self, context: bpy.types.Context, place: Place, double: bool, extend: bool) -> None:
        found = _at(place)
        if found is None:
            return
        pose = zoom.pose_of(place.space.region_3d)
        goal = found.point(place.x, place.y, list(pose.location))
        explore.state.descriptions = []  # another element will be under the mouse
        zoom.fly(place.area, zoom.Pose(Vector(goal.tolist()), pose.rotation, pose.distance))

    def restore(self, context: bpy.types.Context) -> bool:
        return False


def _at(place: Place) -> Minimap | None:
    found = of(place.area, place.region, place.space, bpy.context.scene)
    return found if found is not None and found.has(place.x, place.y) else None


_cover = _Cover()
_handles: list[Any] = []


def forget() -> None:
    """Release what was drawn."""
    _drawn.clear()
    _last.clear()


def register() -> None:
    """Draw the map in all 3D views, and answer the mouse there."""
    handlers.before_loading.connect(forget)
    bpy.types.Scene.tracevis3d_minimap = BoolProperty(
        name="Map",
        description="Show a map in a corner where a 3D view shows a part of the scene; a click goes there",
        default=True,
        update=lambda _self, _context: explore.redraw(),
    )
    explore.covers.append(_cover)
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Undo :func:`register`."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    explore.covers.remove(_cover)
    handlers.before_loading.disconnect(forget)
    forget()
    del bpy.types.Scene.tracevis3d_minimap
