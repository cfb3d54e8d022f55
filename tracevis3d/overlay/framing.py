"""From where a drawing and what explains it just fill the window."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

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
#: How often the room that names take beside the data is measured.
_LOOKS = 3
#: Parts between those beside and below the legends, along each side; points of each edge of the data that are
#: compared with the legends; a part is chosen that brings the eye so much nearer.
_STEPS, _ALONG, _NEARER = 6, 33, 0.98
#: Heights of the region: room for anything.
_TALL = 100


def frame(
    explained: Explanations,
    names: Prepared,
    axes: ArrayLike,
    tangents: tuple[float, float],
    free: Rectangle,
    size: tuple[int, int],
    theme: Theme,
    measure: Measure,
    corner: float = 0.0,
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
    corner : float
        Pixels at the upper right of ``free`` that something else lies on.

    Returns
    -------
    location : float64 (3,)
        What the view turns about, in the drawing's coordinates.
    distance : float
        From there to the eye.
    """
    own = np.asarray(axes, np.float64)
    ends = [(axis, share) for axis in explained.axes for share in (0.0, axis.length)]
    rulers = [np.asarray(axis.origin) + share * np.asarray(axis.direction) for axis, share in ends]
    beside = np.flatnonzero(~names.bound)
    beside = beside[np.argsort(-names.rank[beside], kind="stable")][:_NAMES]
    wide = names.width[beside] * theme.type

    def eye_at(part: Rectangle) -> tuple[float, Floats]:
        """Return how far away the eye is from which the data fill a part of the region, and the eye."""
        if explained.reading is None:
            corners = _corners(explained.low, explained.high)
            points = np.concatenate([corners, np.array(rulers, np.float64).reshape(-1, 3)])
        else:
            points = corners = _as_wide_as_possible(explained, own, tangents, part, size)
        eye = fill(points, own, tangents, part, size)
        return max(float((corners.mean(axis=0) - eye) @ own[2]), 1e-6), eye

    def placed(part: Rectangle) -> tuple[float, Floats, Floats]:
        """Return the same with room for names in that part, and left, low, right and top of these."""
        distance, eye = eye_at(part)
        most, room = _SHARE * (part[2] - part[0]), (0.0, 0.0)
        for _ in range(_LOOKS if len(beside) else 0):
            left = _pixels(names.anchor[beside], eye, own, tangents, size)[:, 0] - before
            over = part[0] - float(left.min()), float((left + wide).max()) - part[2]
            # What names take grows a little as the data shrink.
            room = min(max(room[0] + over[0], 0.0), most), min(max(room[1] + over[1], 0.0), most)
            distance, eye = eye_at((part[0] + room[0], part[1], part[2] - room[1], part[3]))
        at = _pixels(names.anchor[beside], eye, own, tangents, size)
        left, low = at[:, 0] - before, at[:, 1] - theme.type / 2
        return distance, eye, np.column_stack([left, low, left + wide, low + theme.type])

    def reaches(panel: Rectangle, eye: Floats, boxes: Floats) -> bool:
        """Return whether the data, their rulers or names reach into a rectangle."""
        edges = np.array([[low, high] for low, high in combinations(corners, 2) if (low != high).sum() == 1])
        lines = np.concatenate([edges, np.array(rulers).reshape(-1, 2, 3)])
        share = np.linspace(0.0, 1.0, _ALONG)[:, None, None]
        along = (lines[None, :, 0] + share * (lines[:, 1] - lines[:, 0])).reshape(-1, 3)
        points = np.tile(_pixels(along, eye, own, tangents, size), 2)
        rows = np.concatenate([points, boxes])
        apart = (rows[:, 0] > panel[2]) | (rows[:, 2] < panel[0]) | (rows[:, 1] > panel[3])
        return bool((~apart & (rows[:, 3] > panel[1])).any())

    corners = _corners(explained.low, explained.high)
    before = wide * (names.align[beside] + 1) / 2
    parts, panel = _without_heading(explained, free, theme, measure, corner)
    # Beside the legends or below them: where the data are larger.
    distance, eye, _ = min(map(placed, parts), key=lambda one: one[0])
    for part in _between(parts) if panel is not None else ():
        nearer, there, boxes = placed(part)
        # As wide as both where the data leave the legends' corner free.
        if panel is not None and nearer < _NEARER * distance and not reaches(panel, there, boxes):
            distance, eye = nearer, there
    return np.asarray(eye + own[2] * distance), distance


def _between(parts: list[Rectangle]) -> Iterator[Rectangle]:
    """Yield parts that reach from the one below the legends towards the one beside them, and hold both."""
    below, beside = parts[0], parts[-1]
    for across, up in product(np.linspace(0.0, 1.0, _STEPS).tolist(), repeat=2):
        if len(parts) > 1 and 0.0 < across + (1 - up) < 2.0:
            left = below[0] + across * (beside[0] - below[0])
            yield left, below[1], below[2], below[3] + up * (beside[3] - below[3])


def _pixels(
    points: ArrayLike, eye: Floats, axes: Floats, tangents: tuple[float, float], size: tuple[int, int]
) -> Floats:
    """Return where points are seen, in pixels from the lower left corner."""
    way = (np.asarray(points, np.float64).reshape(-1, 3) - eye) @ axes.T
    share = way[:, :2] / np.maximum(way[:, 2:], 1e-9) / np.array(tangents)
    return np.asarray((share + 1) / 2 * np.array(size))


def _corners(low: ArrayLike, high: ArrayLike) -> Floats:
    return np.array(list(product(*zip(np.asarray(low).tolist(), np.asarray(high).tolist()))), np.float64)


def _as_wide_as_possible(
    explained: Explanations,
    axes: Floats,
    tangents: tuple[float, float],
    part: Rectangle,
    size: tuple[int, int],
) -> Floats:
    """Return the corners of as much of the data, from below, as fits where they fill the part's width."""
    low, high = np.array(explained.low, np.float64), np.array(explained.high, np.float64)

    # A part of any height: what is left is how far the eye must be for the width.
    tall = (part[0], part[1] - _TALL * size[1], part[2], part[3] + _TALL * size[1])

    def fits(top: float) -> bool:
        """Return whether the height of what lies below ``top`` doesn't move the eye farther away."""
        corners = _corners(low, [*high[:2], top])
        real, wide = (fill(corners, axes, tangents, one, size) @ axes[2] for one in (part, tall))
        return bool(real >= wide - 1e-6 * (high[0] - low[0]))

    shortest, tallest = float(low[2]) + 1e-3, float(high[2])
    if fits(tallest):
        shortest = tallest
    while tallest - shortest > 1e-3 * (high[2] - low[2]):
        middle = (shortest + tallest) / 2
        shortest, tallest = (middle, tallest) if fits(middle) else (shortest, middle)
    return _corners(low, [*high[:2], shortest])


def _without_heading(
    explained: Explanations, free: Rectangle, theme: Theme, measure: Measure, corner: float
) -> tuple[list[Rectangle], Rectangle | None]:
    """Return the parts of ``free`` that title and legends leave, and the legends between them.

    The part below the legends comes first, then the one beside them; None where there is one part alone.
    """
    margin = theme.type
    inner = (free[0] + margin, free[1] + 0.5 * margin, free[2] - margin, free[3] - margin)
    title, legends = Overlay(), Overlay()
    top = lay_title(explained.title, explained.facts, inner, theme, measure, title)
    reads = explained.reading is not None
    across = inner[2] - inner[0] - corner if reads else 0.0
    lay_legends(explained.legends, explained.palette, inner, top, Choices(), theme, measure, legends, across)
    low, right = inner[1] + _BELOW * margin, inner[2] - margin
    if reads:
        # Data that are scrolled don't lie below Blender's navigation and the map.
        below = legends.taken[0][1] if legends.taken else top
        return [(inner[0] + margin, low, right - corner, below - margin)], None
    if not legends.taken:
        return [(inner[0] + margin, low, right, top - margin)], None
    panel = legends.taken[0]
    parts = [
        (inner[0] + margin, low, right, panel[1] - margin),
        (panel[2] + 2 * margin, low, right, top - margin),
    ]
    kept = [part for part in parts if min(part[2] - part[0], part[3] - part[1]) >= _LEAST * margin]
    around = (panel[0], panel[1] - margin, panel[2] + margin, panel[3])
    return kept or [(inner[0] + margin, low, right, top - margin)], around if len(kept) > 1 else None
