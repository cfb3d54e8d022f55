"""Explore mode, and what belongs to it: pointing, zooming, the menu of an element, walking and flying."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ...tracevis3d.scene.window import element_metadata
from .. import handlers
from . import actions, background, keys, menu, modal, overlay, script, sight, source
from .motion import (
    detail,
    drop,
    flying,
    live_bars,
    navigate,
    ride,
    trails,
    transition,
    undoing,
    window_time,
    zoom,
)

_MODULES: tuple[Any, ...] = (
    overlay, sight, live_bars, actions, script, source, menu, trails, flying, navigate, detail, drop,
    undoing, keys,
)  # fmt: skip

#: Modules with motions.
_MOVES = (zoom, window_time, transition, ride)

#: Choices of elements to highlight with an element.
RELATED = (
    ("FUNCTION", "Function", "Calls of the same function", 1),
    (
        "CLASS",
        "Class",
        "Calls of functions of the same class (without a class: module)",
        2,
    ),
    ("ALIKE", "Alike", "Calls with identical subtrees", 4),
    ("MATCH", "Matches", "Its matched calls, and the tubes between them", 8),
)


def _before_loading() -> None:
    """Nothing of the file that goes may be kept."""
    for moves in _MOVES:
        moves.motion.stop()
    overlay.forget()
    overlay.state.exploring = False
    background.background.forget()
    drop.cancel()
    detail.forget()
    trails.forget()
    sight.forget()
    element_metadata.forget()


def register() -> None:
    """Register everything, in order."""
    bpy.types.WindowManager.tracevis3d_related = EnumProperty(
        items=RELATED,
        name="Highlight",
        description="What is highlighted with the element under the mouse",
        options={"ENUM_FLAG"},
        default={"FUNCTION", "MATCH"},
        update=lambda _self, _context: overlay.redraw(),
    )
    bpy.utils.register_class(modal.TRACEVIS3D_OT_explore)
    for module in _MODULES:
        module.register()
    handlers.before_loading.connect(_before_loading)


def unregister() -> None:
    """Remove everything, in reverse order."""
    handlers.before_loading.disconnect(_before_loading)
    modal.end()
    for moves in _MOVES:
        moves.motion.end()
    if bpy.app.timers.is_registered(detail.wait):
        bpy.app.timers.unregister(detail.wait)
    for module in reversed(_MODULES):
        module.unregister()
    bpy.utils.unregister_class(modal.TRACEVIS3D_OT_explore)
    del bpy.types.WindowManager.tracevis3d_related
