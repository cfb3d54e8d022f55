"""A sector of a drum that is pointed at shows its columns on the mantle: what it does through all of time."""

from typing import Any

import bpy

from ....tracevis3d.layout.sight.affine import Floats, inverse_transformed, transformed
from ....tracevis3d.scene.window.highlight import Highlight, quads_outline
from .. import overlay
from ..motion import drum

_FILL, _EDGE, _WIDTH = (0.90, 0.62, 0.0, 0.18), (0.75, 0.45, 0.0, 0.9), 1.2


class _Drawn:
    """The columns that were drawn last, made again when something else is pointed at."""

    def __init__(self) -> None:
        self.key: Any = None
        self.highlight: Highlight | None = None


_drawn = _Drawn()


def columns_of(hit: Any) -> tuple[Any, Floats] | None:
    """Return the drum that a hit sector lies around, and the pieces of its columns there; None: it has none.

    The pieces are in the coordinates of the object that shows the drum's rims, float64 (n, 4, 3).
    """
    shown, pickable = bpy.data.objects.get(hit.shown), hit.pickable
    if shown is None or pickable.word != "Wedges":
        return None
    found = next(
        (one for one in drum.of_view(bpy.data.collections[hit.view]) if one.source == pickable.source), None
    )
    if found is None:
        return None
    ring = pickable.ring[pickable.first[hit.element] : pickable.first[hit.element + 1]].reshape(-1, 3)
    around = found.surface.around(inverse_transformed(found.matrix, transformed(shown.matrix_world, ring)))
    return found, found.surface.column(float(around.min()), float(around.max()))


def _draw(view: Any, scale: float) -> None:
    hit, pointed = overlay.state.hit, overlay.state.pointed
    if hit is None or pointed is None or hit.pickable.word != "Wedges":
        return
    found = columns_of(hit)
    if found is None:
        return
    key = pointed.revision
    if key != _drawn.key:
        _drawn.key = key
        _drawn.highlight = Highlight(quads_outline(found[1]), _FILL, _EDGE, _WIDTH)
    if _drawn.highlight is not None:
        _drawn.highlight.draw(found[0].matrix, view, scale)


def forget() -> None:
    """Release what was drawn."""
    _drawn.key = _drawn.highlight = None


def register() -> None:
    """Draw columns in all 3D views."""
    overlay.on_lit.connect(_draw)


def unregister() -> None:
    """Draw none any more."""
    overlay.on_lit.disconnect(_draw)
    forget()
