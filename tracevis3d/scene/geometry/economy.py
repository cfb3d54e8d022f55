"""How coarse the economical form of a drawing is: as fine as the budget of triangles allows.

The time of a redraw depends on the number of triangles, with or without a graphics card, so the budget is the
same on every machine.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from ...drawing.primitives import Boxes, Drawing, Element, Image, Marks, Wedges
from ..styles import Light, Style
from . import boxes, images, marks, tubes

#: Maximum number of triangles of a drawing's elements in a 3D view; rulers take a few more.
BUDGET = 390_000
#: Those of a draft: each sample of a pixel draws all of them again.
BUDGET_OF_DRAFTS = 260_000
#: Initial tolerance of a tube's course, as a share of the drawing's extent: under half a pixel of a screen.
_FINEST = 1 / 4000
_GROWTH = 1.4
_MOST = 20


def tolerance(drawing: Drawing, coarse: int) -> float:
    """Return how far tubes and lines may be from their course at a coarseness.

    Parameters
    ----------
    drawing : Drawing
    coarse : int

    Returns
    -------
    float
        Scene units.
    """
    low, high = np.array(drawing.camera.low, np.float64), np.array(drawing.camera.high, np.float64)
    return float(np.linalg.norm(high - low)) * _FINEST * _GROWTH**coarse


def triangles(element: Element, style: Style, light: Light, coarse: int, within: float) -> int:
    """Return how many triangles the economical form of an element has.

    Parameters
    ----------
    element : Element
    style : Style
    light : Light
    coarse : int
        Its coarseness.
    within : float
        How far tubes and lines may be from their course, in scene units.

    Returns
    -------
    int
    """
    if isinstance(element, Boxes):
        return boxes.triangles(element, style, light, coarse)
    if isinstance(element, Marks):
        return marks.triangles(element, coarse)
    if isinstance(element, Wedges):
        return 8 * int(element.first[-1] if len(element.first) else 0)
    if isinstance(element, Image):
        return images.triangles(element, coarse)
    return tubes.triangles(element, coarse, within)


def coarseness(drawing: Drawing, style: Style, light: Light, budget: int = BUDGET) -> int:
    """Return the least coarseness, from 0, at which a drawing keeps to the budget.

    Parameters
    ----------
    drawing : Drawing
    style : Style
    light : Light
    budget : int
        Triangles.

    Returns
    -------
    int
        Where nothing is coarse enough: the greatest.
    """

    def fits(coarse: int) -> bool:
        within = tolerance(drawing, coarse)
        return sum(triangles(e, style, light, coarse, within) for e in drawing.elements) <= budget

    # Most drawings fit at once; coarser ones never have more triangles.
    return 0 if fits(0) else bisect_left(range(_MOST), True, lo=1, key=fits)
