"""Dragging an element of a view to any place, where the view declares what dropping it does."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy
from mathutils import Vector

from ....tracevis3d.errors import TraceVisError
from ... import signals
from .. import actions, acts, overlay, pointer, shapes
from ..place import Place

_COLOR = (0.90, 0.62, 0.0, 0.95)
_WIDE = 1.5  # pixels to either side of the line


@dataclass
class _Held:
    """What is being dragged: the element, where it was pressed, and where the mouse is now, in pixels."""

    hit: Any
    place: Place
    now: tuple[float, float]


_held: list[_Held] = []


def grab(hit: Any, place: Place) -> bool:
    """Take hold of an element if its view does something when it is dropped; returns whether it does."""
    cancel()
    view = bpy.data.collections.get(hit.view) if hit is not None else None
    if view is None:
        return False
    try:
        state = acts.state_at(view, hit)
    except TraceVisError:
        return False
    if any("drop" in one.triggers and one.applies(state) for one in actions.declared_of(view)):
        _held.append(_Held(hit, place, (place.x, place.y)))
    return bool(_held)


def is_held() -> bool:
    """Return whether an element is being dragged."""
    return bool(_held)


def drag(x: float, y: float) -> None:
    """Take note of where the mouse is, in pixels of the region in which it was pressed."""
    _held[0].now = (x, y)
    overlay.redraw()


def release(say: Callable[[str], None]) -> None:
    """Drop the element where the mouse is, on what is pointed at there."""
    held = _held.pop()
    view, target = bpy.data.collections.get(held.hit.view), overlay.state.hit
    shown = bpy.data.objects.get(held.hit.shown)
    if view is not None and shown is not None:
        place = held.place
        ray = pointer.ray_through(place.region, place.space.region_3d, *held.now)
        point = pointer.plane_point(ray, shown.matrix_world, held.hit.local)
        if point is not None:
            onto = target.picked if target is not None and target.view == held.hit.view else None
            acts.trigger(view, "drop", held.hit, say, target=onto, point=tuple(map(float, point)))
    overlay.redraw()


def cancel() -> None:
    """Drop nothing."""
    if _held:
        _held.clear()
        overlay.redraw()


def _draw(context: bpy.types.Context) -> None:
    """Draw a line from where it was pressed to the mouse."""
    if not _held or context.region != _held[0].place.region:
        return
    begin, end = Vector((_held[0].place.x, _held[0].place.y)), Vector(_held[0].now)
    if (end - begin).length < 1.0:
        return
    across = (end - begin).orthogonal().normalized() * _WIDE * context.preferences.system.ui_scale
    shapes.polygon([begin - across, begin + across, end + across, end - across], _COLOR)


_CONNECTIONS: signals.Connections = ((overlay.on_flat, _draw),)


def register() -> None:
    """Draw what is being dragged."""
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """No longer."""
    _held.clear()
    signals.disconnect(_CONNECTIONS)
