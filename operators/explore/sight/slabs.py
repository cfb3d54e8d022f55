"""Slabs: only a stretch of time, of depth, or of both is shown, between two planes that are dragged."""

import math
from collections.abc import Iterator
from typing import Any

import bpy
from bpy.props import FloatVectorProperty, PointerProperty, StringProperty

from ....tracevis3d.layout.sight.affine import Box, Floats, box_around, diagonal, transformed
from ....tracevis3d.layout.sight.picking import Ray
from ....tracevis3d.layout.sight.slab import Slab
from ....tracevis3d.scene.window import element_metadata
from ... import handlers, signals
from ...state import selection, settings, trace_state
from .. import marks, overlay, pointer, shapes
from ..motion import drum

#: The stretch that a slab begins with, as shares of the view's box.
_TIME, _DEPTH = (0.35, 0.65), (0.0, 0.5)
#: Colours of the planes, their edges and their grips, and half the side of a grip in pixels.
_FILL, _EDGE, _GRIP, _HELD = (
    (0.93, 0.62, 0.10, 0.07), (0.85, 0.52, 0.02, 0.9), (0.93, 0.62, 0.10, 1.0), (1.0, 0.85, 0.45, 1.0),
)  # fmt: skip
_HALF = 7.0
#: Stacks grow along it where nothing says otherwise.
UP = 2


class TRACEVIS3D_PG_slab(bpy.types.PropertyGroup):
    """The slabs of a scene, stored in the .blend."""

    view: StringProperty(name="View", description="The view whose box they are shares of")
    axes: StringProperty(name="Axes", description="Which of x, y and z have a slab")
    low: FloatVectorProperty(name="From", description="Shares of the view's box", size=3)
    high: FloatVectorProperty(name="To", description="Shares of the view's box", size=3)


def box_of(view: bpy.types.Collection) -> Box | None:
    """Return the box around all elements of a view, in the scene."""
    found = []
    for shown in view.objects:
        holds = element_metadata.held(shown) if "tracevis3d_kind" in shown else None
        if holds is not None and len(holds) and (holds.is_boxes or holds.tells):
            found.append(pointer.box_of(shown, holds))
    return box_around(found)


def of(scene: bpy.types.Scene) -> Slab | None:
    """Return the slab of a scene; None if all is shown."""
    kept = scene.tracevis3d_slab
    view = bpy.data.collections.get(kept.view) if kept.axes else None
    box = box_of(view) if settings.is_view(view) else None
    if box is None:
        return None
    pad = 1e-3 * diagonal(box)
    a, b, c = (float(v) - pad for v in box[0])
    d, e, f = (float(v) + pad for v in box[1])
    axes = ("xyz".index(letter) for letter in kept.axes)
    return Slab((a, b, c), (d, e, f), tuple((axis, kept.low[axis], kept.high[axis]) for axis in axes))


def axis_of_time(view: bpy.types.Collection) -> int:
    """Return along which axis of the scene the time of a view runs."""
    for turned in drum.of_view(view):
        along = [abs(float(v)) for v in turned.surface.axis]
        return along.index(max(along))
    return 0


def axis_of_depth(view: bpy.types.Collection) -> int:
    """Return along which axis of the scene the stacks of a view grow."""
    for shown in view.objects:
        holds = element_metadata.held(shown) if "tracevis3d_kind" in shown else None
        axis = holds.axis_of_depth if holds is not None else None
        if axis is not None:
            direction = [abs(float(v)) for v in shown.matrix_world.col[axis][:3]]
            return direction.index(max(direction))
    return UP


def toggle(scene: bpy.types.Scene, view: bpy.types.Collection, of_depth: bool) -> bool:
    """Add the slab of time or of depth, or take it away; return whether it is there now."""
    axis = axis_of_depth(view) if of_depth else axis_of_time(view)
    kept = scene.tracevis3d_slab
    if kept.view != view.name:
        kept.view, kept.axes = view.name, ""
    letter = "xyz"[axis]
    there = letter not in kept.axes
    if there:
        kept.low[axis], kept.high[axis] = _DEPTH if of_depth else _selected(view, axis) or _TIME
    kept.axes = "".join(sorted(kept.axes + letter)) if there else kept.axes.replace(letter, "")
    apply(scene)
    return there


def _selected(view: bpy.types.Collection, axis: int) -> tuple[float, float] | None:
    """Return the shares of a view's box where its selected range of time begins and ends, if there is one."""
    keys, box = trace_state.keys_of(view), box_of(view)
    for source, key in enumerate(keys):
        chosen = selection.selected(key).time_range
        if chosen is None or box is None:
            continue
        for shown in view.objects:
            holds = marks.holding_of(shown)
            if holds is None or holds.source != source or drum.of_object(shown) is not None:
                continue
            at = [(marks.place_of(shown, time) or 0.0, 0.0, 0.0) for time in chosen]
            ends = transformed(shown.matrix_world, at)[:, axis]
            first, last = ((float(x) - box[0][axis]) / max(box[1][axis] - box[0][axis], 1e-9) for x in ends)
            if 0 <= first < last <= 1:
                return first, last
    return None


def apply(scene: bpy.types.Scene | None = None) -> None:
    """Let all 3D views of a scene, or of all, show its slab alone."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        if scene is not None and window.scene != scene:
            continue
        slab = of(window.scene)
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                _cut(window, area, slab)
                area.tag_redraw()


#: 3D views that were cut by a slab: their spaces' pointers as numbers. What a person clips by hand stays.
_ours: set[int] = set()


def _cut(window: Any, area: Any, slab: Slab | None) -> None:
    space = area.spaces.active
    region = next(one for one in area.regions if one.type == "WINDOW")
    view, here = space.region_3d, space.as_pointer()
    if slab is None:
        if here in _ours:
            view.use_clip_planes = False
            _ours.discard(here)
        return
    if here not in _ours or not view.use_clip_planes:
        # Blender heeds the planes only where its own operator has begun to clip.
        view.use_clip_planes = False
        wide, high = region.width, region.height
        with bpy.context.temp_override(window=window, area=area, region=region):
            bpy.ops.view3d.clip_border(xmin=0, xmax=wide, ymin=0, ymax=high)
    # What is shown is where a plane's value is not negative.
    view.clip_planes = slab.planes().tolist()
    view.use_clip_planes = True
    _ours.add(here)


def grips(scene: bpy.types.Scene, region: Any, view: Any) -> Iterator[tuple[int, int, Floats, Floats]]:
    """Yield axis, end, the pixels of the corners, and those of the grip, of each plane in sight."""
    slab = of(scene)
    if slab is None:
        return
    projection = pointer.projection_of(region, view)
    for axis, _, _ in slab.shares:
        for end in (0, 1):
            at = projection.pixels_in_front(slab.section(axis, end))
            if at is not None:
                # At the corner that lies highest in the picture, so that it hides the least.
                top = at[at[:, 1].argsort()[-2:]].mean(axis=0)
                yield axis, end, at, top


#: The plane that is being dragged: axis and end.
_held: list[tuple[int, int]] = []


def grab(place: Any) -> bool:
    """Hold the plane whose grip is under the mouse; return whether there is one."""
    reach = (_HALF + 4) * bpy.context.preferences.system.ui_scale
    for axis, end, _, top in grips(bpy.context.scene, place.region, place.space.region_3d):
        if max(abs(top[0] - place.x), abs(top[1] - place.y)) <= reach:
            _held[:] = [(axis, end)]
            overlay.redraw()
            return True
    return False


def is_held() -> bool:
    """Return whether a plane is being dragged."""
    return bool(_held)


def drag(place: Any, x: float, y: float, both: bool) -> None:
    """Move the plane that is held to the pixel ``(x, y)`` of the region; ``both``: the other one too."""
    scene = bpy.context.scene
    slab = of(scene)
    if slab is None or not _held:
        return
    axis, end = _held[0]
    corners = slab.section(axis, end)
    at = pointer.projection_of(place.region, place.space.region_3d).pixels(corners)
    through = corners[at[:, 1].argsort()[-2:]].mean(axis=0)
    ray = pointer.ray_through(place.region, place.space.region_3d, x, y)
    share = slab.share_along(axis, through, ray.origin, ray.direction)
    if share is None:
        return
    kept = scene.tracevis3d_slab
    for own, first, last in slab.dragged(axis, end, share, both).shares:
        kept.low[own], kept.high[own] = first, last
    apply(scene)


def _between(scene: bpy.types.Scene, ray: Ray) -> tuple[float, float] | None:
    """Return between which distances a ray runs through what is shown; None if nowhere."""
    slab = of(scene)
    return (0.0, math.inf) if slab is None else slab.along(ray.origin, ray.direction)


def release() -> bool:
    """Let go of the plane that is held; return whether there was one."""
    there_was = bool(_held)
    _held.clear()
    overlay.redraw()
    return there_was


def _draw() -> None:
    context = bpy.context
    region, view = context.region, context.region_data
    if view is None or not context.space_data.overlay.show_overlays:
        return
    here = context.space_data.as_pointer()
    if bool(context.scene.tracevis3d_slab.axes) != (here in _ours):
        # Another 3D view was opened, or the file.
        bpy.app.timers.register(apply, first_interval=0.0)
    scale = context.preferences.system.ui_scale
    holder = bpy.data.collections.get(context.scene.tracevis3d_slab.view)
    along = axis_of_time(holder) if settings.is_view(holder) else 0
    for axis, end, at, top in grips(context.scene, region, view):
        shapes.polygon(at, _FILL)
        shapes.stroke(at[[0, 1, 2, 3, 0]], _EDGE, 1.2 * scale)
        half = _HALF * scale
        color = _HELD if (axis, end) in _held else _GRIP
        shapes.rectangle(top[0] - half, top[1] - half, top[0] + half, top[1] + half, color)
        words = "time" if axis == along else "depth"
        shapes.write(words, top[0] + 1.6 * half, top[1] - 0.6 * half, 11 * scale, _EDGE)


_handles: list[Any] = []


def _anew(*_about: Any) -> None:
    _ours.clear()
    apply()


_CONNECTIONS: signals.Connections = (
    (handlers.after_undo, _anew), (handlers.after_loading, _anew), (signals.on_show, _anew),
)  # fmt: skip


def register() -> None:
    """Draw the planes in all 3D views, and keep them where they are."""
    bpy.utils.register_class(TRACEVIS3D_PG_slab)
    bpy.types.Scene.tracevis3d_slab = PointerProperty(type=TRACEVIS3D_PG_slab)
    signals.connect(_CONNECTIONS)
    pointer.cuts.append(_between)
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Undo :func:`register`; all is shown again."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    signals.disconnect(_CONNECTIONS)
    pointer.cuts.remove(_between)
    for window in bpy.context.window_manager.windows if bpy.context.window_manager is not None else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                _cut(window, area, None)
    del bpy.types.Scene.tracevis3d_slab
    bpy.utils.unregister_class(TRACEVIS3D_PG_slab)
