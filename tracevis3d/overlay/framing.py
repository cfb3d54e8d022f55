"""From where a drawing and what explains it just fill the window."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from ..drawing.explanations import Explanations
from ..layout.sight.affine import Floats
from ..layout.sight.framing import fill
from .heading import lay_legends, lay_title
from .items import Choices, Measure, Overlay, Rectangle, Theme
from .names import Prepared

#: Maximum number of names beside the data, of the highest ranks.
_NAMES = 80
#: Maximum share of the width or height for them.
_SHARE = 0.2
#: Sizes of the type: if less is left beside or below the legends, these lie over the data.
_LEAST = 12.0
#: Sizes of the type, below the data: for rulers.
_BELOW = 3.2


def frame(
    explained: Explanations,
    names: Prepared,
    axes: ArrayLike,
    tangents: tuple[float, float],
    free: Rectangle,
    size: tuple[int, int],
    theme: Theme,
    measure: Measure,
) -> tuple[Floats, float]:
    """Return where a 3D view has to look for a drawing to fill it, with room for title, legends and names.

    Parameters
    ----------
    explained : Explanations
    names : Prepared
    axes : float (3, 3)
        Rows: unit vectors to the right, up and forward of the view.
    tangents : (float, float)
        Half of what the region shows across and along at distance 1.
    free : Rectangle
        The part of the region that nothing covers.
    size : (int, int)
        Of the region, in pixels.
    theme : Theme
    measure : Measure

    Returns
    -------
    location : float64 (3,)
        What the view turns about, in the drawing's coordinates.
    distance : float
        From there to the eye.
    """
    own = np.asarray(axes, np.float64)
    corners = np.array(list(product(*zip(explained.low, explained.high))), np.float64)
    ends = [(axis, share) for axis in explained.axes for share in (0.0, axis.length)]
    rulers = [np.asarray(axis.origin) + share * np.asarray(axis.direction) for axis, share in ends]
    points = np.concatenate([corners, np.array(rulers, np.float64).reshape(-1, 3)])
    beside = np.flatnonzero(~names.bound)
    beside = beside[np.argsort(-names.rank[beside], kind="stable")][:_NAMES]
    wide = names.width[beside] * theme.type
    middle = corners.mean(axis=0)
    found: list[tuple[float, Floats]] = []
    for part in _without_heading(explained, free, theme, measure):
        eye = fill(points, own, tangents, part, size)
        most = _SHARE * (part[2] - part[0])
        for _ in range(2 if len(beside) else 0):
            way = (names.anchor[beside] - eye) @ own.T
            x = (way[:, 0] / np.maximum(way[:, 2], 1e-9) / tangents[0] + 1) / 2 * size[0]
            left = x - wide * (names.align[beside] + 1) / 2
            over = part[0] - float(left.min()), float((left + wide).max()) - part[2]
            left_free, right_free = (min(max(way_over, 0.0), most) for way_over in over)
            eye = fill(
                points, own, tangents, (part[0] + left_free, part[1], part[2] - right_free, part[3]), size
            )
        found.append((max(float((middle - eye) @ own[2]), 1e-6), eye))
    # Beside the legends or below them: where the data are larger.
    distance, eye = min(found, key=lambda one: one[0])
    return np.asarray(eye + own[2] * distance), distance


def _without_heading(
    explained: Explanations, free: Rectangle, theme: Theme, measure: Measure
) -> list[Rectangle]:
    """Return the parts of ``free`` that title and legends leave: beside the legends, and below them."""
    margin = theme.type
    inner = (free[0] + margin, free[1] + 0.5 * margin, free[2] - margin, free[3] - margin)
    title, legends = Overlay(), Overlay()
    top = lay_title(explained.title, explained.facts, inner, theme, measure, title)
    lay_legends(explained.legends, explained.palette, inner, top, Choices(), theme, measure, legends)
    low, right = inner[1] + _BELOW * margin, inner[2] - margin
    if not legends.taken:
        return [(inner[0] + margin, low, right, top - margin)]
    panel = legends.taken[0]
    parts = [
        (inner[0] + margin, low, right, panel[1] - margin),
        (panel[2] + 2 * margin, low, right, top - margin),
    ]
    kept = [part for part in parts if min(part[2] - part[0], part[3] - part[1]) >= _LEAST * margin]
    return kept or [(inner[0] + margin, low, right, top - margin)]
