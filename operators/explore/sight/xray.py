"""X-ray: what is not selected fades, its edges stay, and what is selected shows through everything else."""

from typing import Any

import bpy

from ....tracevis3d.scene.window.highlight import Highlight, Outline
from .. import overlay, pointer

#: Opacity of what is not selected.
_FADED = 0.18
_LINE = (0.35, 0.37, 0.40, 0.35)
_NONE = (0.0, 0.0, 0.0, 0.0)
#: Maximum number of boxes with edges, the widest first: more can't be distinguished.
_MOST = 12_000

#: How 3D views looked before, by their spaces' pointers as numbers: X-ray on, and how transparent.
_before: dict[int, tuple[bool, float]] = {}


def is_on(space: Any) -> bool:
    """Return whether a 3D view shows an X-ray picture that was asked for here."""
    return space.as_pointer() in _before and bool(space.shading.show_xray)


def toggle(space: Any) -> bool:
    """Turn the X-ray of a 3D view on or off; return whether it is on now."""
    shading, here = space.shading, space.as_pointer()
    if is_on(space):
        shading.show_xray, shading.xray_alpha = _before.pop(here)
        return False
    _before[here] = bool(shading.show_xray), float(shading.xray_alpha)
    shading.show_xray, shading.xray_alpha = True, _FADED
    return True


class _Edges:
    """The edges that were drawn last, made again when what they show has changed."""

    def __init__(self) -> None:
        self.key: Any = None
        self.drawn: list[tuple[str, Highlight]] = []


_edges = _Edges()


def _draw(view: Any, scale: float) -> None:
    space = bpy.context.space_data
    if not is_on(space):
        return
    present = [entry for entry in pointer.shown_in(bpy.context.scene, space) if entry[2].is_boxes]
    key = (tuple((shown.name, pickable.stamp) for _, shown, pickable in present), overlay.state.cut)
    if key != _edges.key:
        _edges.key = key
        _edges.drawn = [
            (shown.name, Highlight(_lines(shown.name, pickable), _NONE, _LINE, 1.0))
            for _, shown, pickable in present
        ]
    for name, edges in _edges.drawn:
        shown = bpy.data.objects.get(name)
        if shown is not None:
            edges.draw(shown.matrix_world, view, scale, through=True)


def _lines(name: str, pickable: Any) -> Outline:
    found = overlay.outlined(name, pickable, pickable.widest(_MOST))
    return Outline(found.point, found.triangle[:0], found.edge)


def forget() -> None:
    """Let go of how 3D views looked: another file is opened."""
    _before.clear()
    _edges.key, _edges.drawn = None, []


def register() -> None:
    """Draw edges in 3D views with an X-ray picture."""
    overlay.on_lit.connect(_draw)


def unregister() -> None:
    """Draw none any more, and let 3D views look as they did."""
    overlay.on_lit.disconnect(_draw)
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D" and is_on(area.spaces.active):
                toggle(area.spaces.active)
    forget()
