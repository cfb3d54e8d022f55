"""A brushed range of time mutes what is not in it, in all views: a veil in the colour of the ground."""

from collections.abc import Iterator
from typing import Any

import bpy

from ....tracevis3d.layout.sight.affine import Box, box_around, diagonal
from ....tracevis3d.layout.sight.slab import beside
from ....tracevis3d.scene import styles
from ....tracevis3d.scene.window import element_metadata
from ....tracevis3d.scene.window.cut_away import EXPLAINS
from ....tracevis3d.scene.window.highlight import Highlight, Outline, blocks_outline, outline
from ....tracevis3d.views.linking.brush import left_out
from ...state import settings, sources, trace_state
from .. import marks, overlay
from ..motion import drum

#: Opacity of the veil over what is outside the range.
_COVERED = 0.78
#: By how much of the elements' extent the veil stands before them.
_BEFORE = 0.004

Range = tuple[int, int]


class _Veils:
    """What was drawn last, made again when it has changed."""

    def __init__(self) -> None:
        self.key: Any = None
        self.drawn: list[tuple[str, Highlight, bool]] = []


_veils = _Veils()


def drawn() -> list[str]:
    """Return the objects that veils were drawn beside, the last time."""
    return [name for name, _, _ in _veils.drawn]


def _draw(view: Any, scale: float) -> None:
    scene = bpy.context.scene
    ranges = marks.brushed(scene, overlay.state.brush)
    if not ranges:
        _veils.key, _veils.drawn = None, []
        return
    stamps = tuple(_stamps(scene, bpy.context.space_data))
    key = tuple(sorted(ranges.items())), stamps, overlay.state.brush is None
    if key != _veils.key:
        _veils.key = key
        _veils.drawn = [
            (name, Highlight(shape, (*_ground(name), _COVERED), (0, 0, 0, 0), 0), whole)
            for name, shape, whole in _shapes(scene, ranges, overlay.state.brush is None)
        ]
    for name, veil, whole in _veils.drawn:
        shown = bpy.data.objects.get(name)
        if shown is not None:
            # Only the sides of a block that face the eye are drawn, otherwise it would cover twice.
            veil.draw(shown.matrix_world, view, scale, from_outside=whole)


def _stamps(scene: bpy.types.Scene, space: Any) -> Iterator[Any]:
    for view in settings.all_in(scene):
        for shown in view.objects:
            if "tracevis3d_kind" in shown and shown.visible_get(viewport=space):
                pickable = element_metadata.pickable_mesh(shown)
                yield shown.name, pickable.stamp if pickable is not None else None


def _ground(name: str) -> tuple[float, float, float]:
    """Return the colour of the ground that an object of a view stands on."""
    shown = bpy.data.objects[name]
    view = next((v for v in shown.users_collection if settings.is_view(v)), None)
    return styles.named(settings.of(view).style if view is not None else "paper").background


def _shapes(
    scene: bpy.types.Scene, ranges: dict[str, Range], joins_too: bool
) -> Iterator[tuple[str, Outline, bool]]:
    """Yield the object that a veil belongs to, its shape, and whether it is a block."""
    for view in settings.all_in(scene):
        keys = trace_state.keys_of(view)
        for source, key in enumerate(keys):
            if key not in ranges:
                continue
            found = _extent(view, source)
            if found is None:
                continue
            name, box, axis = found
            shown = bpy.data.objects[name]
            low, high = (marks.place_of(shown, time) for time in ranges[key])
            if low is None or high is None:
                continue
            if drum.of_object(shown) is not None:
                first, last = float(box[0][axis]), float(box[1][axis])
                low, high = (first + share * (last - first) for share in (low, high))
            parts = beside(box, low, high, axis, _BEFORE * diagonal(box))
            if parts:
                yield name, blocks_outline(parts), True
        if joins_too and len(keys) > 1:
            yield from _joins(view, keys, ranges)


def _extent(view: bpy.types.Collection, source: int) -> tuple[str, Box, int] | None:
    """Return an object that shows times of a trace, the box around all such, and the axis of time."""
    boxes, name = [], ""
    for shown in view.objects:
        if not shown.visible_get():
            continue
        turned = drum.of_object(shown)
        if turned is not None and turned.source == source:
            # Of a drum that lies askew no block is a stretch.
            axis = turned.surface.straight
            return (shown.name, turned.surface.box, axis) if axis is not None else None
        pickable = marks.with_times(shown)
        if pickable is None or pickable.kind in EXPLAINS:
            continue
        if pickable.source == source and len(pickable.low):
            boxes.append(pickable.extent)
            name = name or shown.name
    box = box_around(boxes)
    return (name, box, 0) if box is not None else None


def _joins(
    view: bpy.types.Collection, keys: list[str], ranges: dict[str, Range]
) -> Iterator[tuple[str, Outline, bool]]:
    """Yield the tubes between traces of which an end is not in the range of its trace."""
    for shown in view.objects:
        pickable = element_metadata.pickable_mesh(shown) if shown.visible_get() else None
        if pickable is not None and pickable.word in ("Tubes", "Lines"):
            out = left_out(pickable, keys, ranges, sources.loaded)
            if len(out):
                yield shown.name, outline(pickable, out), False


def register() -> None:
    """Draw veils in all 3D views."""
    overlay.on_lit.connect(_draw)


def unregister() -> None:
    """Draw none any more."""
    overlay.on_lit.disconnect(_draw)
    _veils.key, _veils.drawn = None, []
