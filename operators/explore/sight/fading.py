"""Detail fades in: for a moment what stood there before is drawn over it, fainter and fainter.

Nothing waits for it: what is fading is drawn with the scene, and is left out when its time is over.
"""

import time
from dataclasses import dataclass
from typing import Any

import bpy
from mathutils import Matrix

from ....tracevis3d.scene.window import element_metadata
from ....tracevis3d.scene.window.cut_out import CutOut, Surface, surface
from .. import overlay
from ..motion import detail

#: Seconds that it takes, between two redraws meanwhile, and how many elements of an object fade.
_LASTS, _AGAIN, _MOST = 0.3, 1 / 30, 800


@dataclass
class _State:
    """What is fading: surfaces and where their objects stood, and since when they have been drawn."""

    surfaces: list[tuple[Surface, Matrix]]
    begun: float | None = None


_state = _State([])


def opacity(elapsed: float) -> float:
    """Return how opaque what fades is after some seconds: slowly at first and at last."""
    left = min(max(1.0 - elapsed / _LASTS, 0.0), 1.0)
    return left * left * (3.0 - 2.0 * left)


def is_fading() -> bool:
    """Whether anything is fading."""
    return bool(_state.surfaces)


def _keep(objects: list[Any]) -> None:
    """Take the surfaces of objects that are about to be replaced, unless Blender's views move at once."""
    if bpy.app.background or bpy.context.preferences.view.smooth_view == 0:
        return
    _state.surfaces, _state.begun = [], None
    for shown in objects:
        pickable = element_metadata.pickable_mesh(shown) if shown.visible_get() else None
        if pickable is not None and len(pickable):
            found = surface(shown, pickable, pickable.widest(_MOST))
            if len(found.triangle):
                _state.surfaces.append((found, shown.matrix_world.copy()))


def _draw(view: Any, _scale: float) -> None:
    if not _state.surfaces:
        return
    now = time.perf_counter()
    if _state.begun is None:
        _state.begun = now
    share = opacity(now - _state.begun)
    if share <= 0.0:
        forget()
        return
    for found, matrix in _state.surfaces:
        CutOut(found, share).draw(matrix, view)
    if not bpy.app.timers.is_registered(_again):
        bpy.app.timers.register(_again, first_interval=_AGAIN)


def _again() -> None:
    overlay.redraw()


def forget() -> None:
    """Let nothing fade any more."""
    _state.surfaces, _state.begun = [], None


def register() -> None:
    """Let what detail takes the place of fade."""
    detail.on_replace.connect(_keep)
    overlay.on_lit.connect(_draw)


def unregister() -> None:
    """Undo :func:`register`."""
    detail.on_replace.disconnect(_keep)
    overlay.on_lit.disconnect(_draw)
    forget()
