"""Rulers and names in the requested size of type, however far away they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...drawing.primitives import Axis, Drawing, Labels
from ...layout.lettering import Typeface
from ..camera import View
from .labels import unit


def in_type(drawing: Drawing, view: View, typeface: Typeface) -> Drawing:
    """Return the drawing with rulers and names as high as the type of the picture's frame.

    Names on elements are never enlarged: they have no more room.

    Parameters
    ----------
    drawing : Drawing
    view : View
        Where points fall in the picture; in perspective, what is nearer is larger.
    typeface : Typeface

    Returns
    -------
    Drawing
    """
    line = typeface.line_of(view.frame.type_size)
    return replace(
        drawing,
        axes=tuple(_axis(axis, view, line) for axis in drawing.axes),
        labels=tuple(_labels(group, view, line) if len(group) else group for group in drawing.labels),
    )


def _axis(axis: Axis, view: View, line: float) -> Axis:
    middle = np.asarray(axis.origin, np.float64) + unit(axis.direction) * (axis.length / 2)
    scale = float(view.pixels_per_unit(middle[None])[0])
    return replace(axis, height=line / scale) if scale > 0 else axis


def _labels(group: Labels, view: View, line: float) -> Labels:
    scale = view.pixels_per_unit(group.anchor)
    height = np.asarray(group.height, np.float64)
    wanted = np.where(scale > 0, line / np.where(scale > 0, scale, 1.0), height)
    free = np.isinf(group.room) & (len(group.background) == 0)
    return replace(group, height=np.where(free, wanted, np.minimum(height, wanted)).astype(np.float32))
