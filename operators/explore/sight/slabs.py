"""Slabs: only a stretch of time, of depth, or of both is shown, between two planes that are dragged."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import FloatVectorProperty, PointerProperty, StringProperty

from ....tracevis3d import units
from ....tracevis3d.layout.sight.affine import Box, Floats, box_around, diagonal, transformed
from ....tracevis3d.layout.sight.picking import Ray
from ....tracevis3d.layout.sight.slab import Slab
from ....tracevis3d.scene.window import cut_away, element_metadata
from ... import handlers, signals
from ...state import selection, settings, trace_state
from .. import marks, overlay, pointer, shapes
from ..motion import detail, drum

#: The stretch that a slab begins with, as shares of the view's box.
_TIME, _DEPTH = (0.35, 0.65), (0.0, 0.5)
#: Colours of planes, edges, grips and the words beside them, and half the side of a grip in pixels.
_FILL, _EDGE, _GRIP, _HELD = (
    (0.93, 0.62, 0.10, 0.07), (0.85, 0.52, 0.02, 0.9), (0.93, 0.62, 0.10, 1.0), (1.0, 0.85, 0.45, 1.0),
)  # fmt: skip
_WORDS = (0.60, 0.33, 0.0, 1.0)
_HALF = 7.0
#: Stacks grow along it where nothing says otherwise.
UP = 2


class TRACEVIS3D_PG_slab(bpy.types.PropertyGroup):
    """The slabs of a scene, stored in the .blend."""

    view: PointerProperty(
        type=bpy.types.Collection, name="View", description="The view whose box they are shares of"
    )
    axes: StringProperty(name="Axes", description="Which of x, y and z have a slab")
    low: FloatVectorProperty(name="From", description="Shares of the view's box", size=3)
    high: FloatVectorProperty(name="To", description="Shares of the view's box", size=3)


def box_of(view: bpy.types.Collection) -> Box | None:
    """Return the box around all elements of a view, in the scene."""
    found = []
    for shown in view.objects:
        pickable = element_metadata.pickable_mesh(shown) if "tracevis3d_kind" in shown else None
        if pickable is not None and len(pickable) and (pickable.is_boxes or pickable.has_description):
            found.append(pointer.box_of(shown, pickable))
    return box_around(found)


def of(scene: bpy.types.Scene) -> Slab | None:
    """Return the slab of a scene; None if all is shown."""
    kept = scene.tracevis3d_slab
    view = kept.view if kept.axes else None
    box = box_of(view) if view is not None and settings.is_view(view) else None
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
        pickable = element_metadata.pickable_mesh(shown) if "tracevis3d_kind" in shown else None
        axis = pickable.axis_of_depth if pickable is not None else None
        if axis is not None:
            direction = [abs(float(v)) for v in shown.matrix_world.col[axis][:3]]
            return direction.index(max(direction))
    return UP


def toggle(scene: bpy.types.Scene, view: bpy.types.Collection, of_depth: bool) -> bool:
    """Add the slab of time or of depth, or take it away; return whether it is there now."""
    axis = axis_of_depth(view) if of_depth else axis_of_time(view)
    kept = scene.tracevis3d_slab
    if kept.view != view:
        kept.view, kept.axes = view, ""
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
            pickable = marks.with_times(shown)
            if pickable is None or pickable.source != source or drum.of_object(shown) is not None:
                continue
            at = [(marks.place_of(shown, time) or 0.0, 0.0, 0.0) for time in chosen]
            ends = transformed(shown.matrix_world, at)[:, axis]
            first, last = ((float(x) - box[0][axis]) / max(box[1][axis] - box[0][axis], 1e-9) for x in ends)
            if 0 <= first < last <= 1:
                return first, last
    return None


def apply(scene: bpy.types.Scene) -> None:
    """Let the views of a scene show its slab alone, and all of those that it is not about."""
    slab, about = of(scene), scene.tracevis3d_slab.view
    for view in settings.all_in(scene):
        for shown in view.objects:
            explains = shown.get("tracevis3d_kind", "") in ("", *cut_away.EXPLAINS)
            if slab is not None and view == about and not explains:
                cut_away.cut(shown, *slab.bounds())
            elif cut_away.is_cut(shown):
                cut_away.restore(shown)
    overlay.state.cut += 1
    overlay.redraw()


def _within(shown: bpy.types.Object) -> Box | None:
    """Return between which corners, in its own coordinates, an object shows anything; None: all of it."""
    slab = of(bpy.context.scene) if cut_away.is_cut(shown) else None
    return cut_away.within(shown, *slab.bounds()) if slab is not None else None


def bounds_in(scene: bpy.types.Scene, view: bpy.types.Collection) -> Box | None:
    """Return between which corners of the scene a view shows anything; None: all of it."""
    slab = of(scene) if scene.tracevis3d_slab.view == view else None
    return slab.bounds() if slab is not None else None


def words_at(scene: bpy.types.Scene, axis: int, end: int) -> str:
    """Return what a plane is at: the time, where it is one of time."""
    slab, view = of(scene), scene.tracevis3d_slab.view
    if slab is None or axis != axis_of_time(view):
        return "depth"
    time = marks.time_in(view, (slab.low, slab.high), axis, slab.ends(axis)[end])
    return units.duration(max(time, 0), 4) if time is not None else "time"


def grips(
    scene: bpy.types.Scene, region: Any, view: Any
) -> Iterator[tuple[int, int, Floats, tuple[float, float]]]:
    """Yield axis, end, the pixels of the corners, and those of the grip, of each plane in sight."""
    slab = of(scene)
    if slab is None:
        return
    projection = pointer.projection_of(region, view)
    margin = 3 * _HALF * bpy.context.preferences.system.ui_scale
    for axis, _, _ in slab.shares:
        for end in (0, 1):
            at = projection.pixels_in_front(slab.section(axis, end))
            if at is not None:
                # At the corner that lies highest in the picture, so that it hides the least.
                top = at[at[:, 1].argsort()[-2:]].mean(axis=0)
                x, y = float(top[0]), float(top[1])
                high = region.height - margin
                yield axis, end, at, (min(max(x, margin), region.width - margin), min(max(y, margin), high))


@dataclass(frozen=True)
class _Held:
    """The plane that is being dragged: axis and end, a point that it is dragged by, and how it was before."""

    axis: int
    end: int
    through: Floats
    aside: float
    before: Slab


_held: list[_Held] = []


def grab(place: Any) -> bool:
    """Hold the plane whose grip is under the mouse; return whether there is one."""
    scene = bpy.context.scene
    slab = of(scene)
    reach = (_HALF + 4) * bpy.context.preferences.system.ui_scale
    for axis, end, _, top in grips(scene, place.region, place.space.region_3d) if slab is not None else ():
        if slab is None or max(abs(top[0] - place.x), abs(top[1] - place.y)) > reach:
            continue
        ray = pointer.ray_through(place.region, place.space.region_3d, place.x, place.y)
        far = ray.crossing(axis, slab.ends(axis)[end])
        through = ray.at(far) if far is not None else slab.section(axis, end).mean(axis=0)
        share = next(part[1 + end] for part in slab.shares if part[0] == axis)
        met = slab.share_along(axis, through, ray.origin, ray.direction)
        _held[:] = [_Held(axis, end, through, share - met if met is not None else 0.0, slab)]
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
    held = _held[0]
    ray = pointer.ray_through(place.region, place.space.region_3d, x, y)
    share = slab.share_along(held.axis, held.through, ray.origin, ray.direction)
    if share is not None:
        _set(scene, slab.dragged(held.axis, held.end, share + held.aside, both))


def _set(scene: bpy.types.Scene, slab: Slab) -> None:
    for own, first, last in slab.shares:
        scene.tracevis3d_slab.low[own], scene.tracevis3d_slab.high[own] = first, last
    apply(scene)


def _between(scene: bpy.types.Scene, ray: Ray) -> tuple[float, float] | None:
    """Return between which distances a ray runs through what is shown; None if nowhere."""
    slab = of(scene)
    return (0.0, math.inf) if slab is None else slab.along(ray.origin, ray.direction)


def release(as_before: bool = False) -> bool:
    """Let go of the plane that is held, or put it back where it was; return whether there was one."""
    held = _held.pop() if _held else None
    if held is not None and as_before:
        _set(bpy.context.scene, held.before)
    overlay.redraw()
    return held is not None


def _draw(context: bpy.types.Context) -> None:
    region, view = context.region, context.region_data
    scale = context.preferences.system.ui_scale
    held = {(one.axis, one.end) for one in _held}
    for axis, end, at, top in grips(context.scene, region, view):
        shapes.polygon(at, _FILL)
        shapes.stroke(at[[0, 1, 2, 3, 0]], _EDGE, 1.2 * scale)
        half = _HALF * scale
        color = _HELD if (axis, end) in held else _GRIP
        shapes.rectangle(top[0] - half, top[1] - half, top[0] + half, top[1] + half, color)
        shapes.write(
            words_at(context.scene, axis, end), top[0] + 1.6 * half, top[1] - 0.6 * half, 11 * scale, _WORDS
        )


def _drawn_anew(scene: bpy.types.Scene, *_about: Any) -> None:
    if scene.tracevis3d_slab.axes:
        apply(scene)


def _detailed(view: bpy.types.Collection) -> None:
    scene = bpy.context.scene
    if scene.tracevis3d_slab.axes and scene.tracevis3d_slab.view == view:
        apply(scene)


def _undone(*_about: Any) -> None:
    _held.clear()
    overlay.state.cut += 1


_CONNECTIONS: signals.Connections = (
    (overlay.on_flat, _draw), (signals.on_show, _drawn_anew), (detail.on_enter, _detailed),
    (handlers.after_undo, _undone),
)  # fmt: skip


def register() -> None:
    """Draw the planes in all 3D views, and let what is drawn anew be cut too."""
    bpy.utils.register_class(TRACEVIS3D_PG_slab)
    bpy.types.Scene.tracevis3d_slab = PointerProperty(type=TRACEVIS3D_PG_slab)
    signals.connect(_CONNECTIONS)
    pointer.cuts.append(_between)
    overlay.withins.append(_within)


def unregister() -> None:
    """Undo :func:`register`; what was cut stays so, as in a Blender without the extension."""
    signals.disconnect(_CONNECTIONS)
    pointer.cuts.remove(_between)
    overlay.withins.remove(_within)
    del bpy.types.Scene.tracevis3d_slab
    bpy.utils.unregister_class(TRACEVIS3D_PG_slab)
