"""Pins in a view for calls that were found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...drawing.primitives import Marks
from .. import parts, placement
from ..geometry import marks
from ..styles import Light, Style
from .call_places import CallReference, places

#: Name of the part, and colour of pins, which is in no palette.
PART = "pins"
_COLOR = (0.93, 0.0, 0.45, 1.0)
#: Width of a pin as a share of the view's, and of the pin of the current call.
_SIZE, _CURRENT = 0.007, 0.013


def remove(collection: Any) -> None:
    """Remove a view's pins."""
    for shown in [o for o in collection.objects if o.get(parts.PART) == PART]:
        placement.remove(shown)


def show(
    collection: Any, sought: Sequence[CallReference], current: int, above: bool, width: float, style: Style
) -> Any:
    """Put a pin on each call that is drawn, replacing the previous pins.

    Parameters
    ----------
    collection : bpy.types.Collection
        The view's.
    sought : sequence of SoughtCall
    current : int
        The call whose pin is bigger; -1 for none.
    above : bool
        The view is seen from above, not from the front.
    width : float
        Of the view, in scene units.
    style : Style

    Returns
    -------
    bpy.types.Object or None
        The pins; None if none of the calls is drawn.
    """
    remove(collection)
    at = places(collection.objects, sought, above)
    drawn = np.isfinite(at).all(axis=1)
    if not drawn.any():
        return None
    calls = np.array([call.call for call in sought], np.int64)[drawn]
    element = Marks(
        "result",
        "pin",
        at[drawn].astype(np.float32),
        (np.where(calls == current, _CURRENT, _SIZE) * max(width, 1e-3)).astype(np.float32),
        np.zeros(len(calls), np.int32),
        calls,
        look="glow",
    )
    light = Light(np.array([0.0, -1.0, 0.0]), np.array([-0.4, -0.7, 0.6]))
    shown = marks.show(element, np.array([_COLOR], np.float32), style, light, f"{collection.name} {PART}")
    shown[parts.PART] = PART
    collection.objects.link(shown)
    return shown
