"""Callouts: short statements with leader lines to what they are about."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from ..drawing.primitives import Callout
from ..layout.dashes import dashes
from ..layout.sight.view_projection import ViewProjection
from .items import Color, Measure, Overlay, Rectangle, Target, Theme, wrapped

#: Maximum number of callouts.
MOST = 3
#: Sizes of the type: the widest, and distances from the point at which room is sought.
_WIDEST, _DISTANCES = 30.0, (3.5, 7.0, 12.0, 18.0, 26.0, 36.0)
#: Cost of a place: per size of the type away from the point, for its share over data, and for each leader
#: line or statement crossed; a callout stays where it was unless another place is so much better.
_FAR, _OVER, _CROSSED, _STAYS = 0.025, 2.0, 0.7, 0.5
#: A callout is fainter where its point is nearer to the edge than the first of these sizes of the type, and
#: its leader line where it stands farther away than the second; how opaque they are at least.
_EDGE, _AWAY, _FAINTEST = 1.5, 12.0, (0.35, 0.6)
_DIRECTIONS = (
    (1.0, 0.6),
    (-1.0, 0.6),
    (1.0, -0.6),
    (-1.0, -0.6),
    (0.6, 1.0),
    (-0.6, 1.0),
    (0.6, -1.0),
    (-0.6, -1.0),
    (0.2, 1.0),
    (0.2, -1.0),
    (1.0, 0.0),
    (-1.0, 0.0),
)
_PLACES = tuple(product(_DISTANCES, _DIRECTIONS))


def lay_callouts(
    callouts: tuple[Callout, ...],
    eye: ViewProjection,
    free: Rectangle,
    theme: Theme,
    measure: Measure,
    out: Overlay,
    before: dict[int, int] | None = None,
    covered: Callable[[Rectangle], float] | None = None,
) -> None:
    """Add callouts to ``out``, the most important first; one without room, or out of sight, is left out.

    Parameters
    ----------
    callouts : tuple of Callout
        Most important first.
    eye : ViewProjection
    free : Rectangle
    theme : Theme
    measure : Measure
    out : Overlay
    before : dict, optional
        ``Overlay.places`` of the picture before.
    covered : callable, optional
        Returns which share of a rectangle data is seen in: callouts keep off it.
    """
    if not callouts:
        return
    size = theme.type
    pad, line = 0.6 * size, 1.4 * size
    at, _ = eye.project([callout.point for callout in callouts])
    # No callout may hide the point of another one.
    points = [(x - size, y - size, x + size, y + size) for x, y in at.tolist() if np.isfinite(x)]
    leaders: list[Rectangle] = []
    statements: list[Rectangle] = []
    shown = 0
    for k, (callout, (x, y)) in enumerate(zip(callouts, at.tolist())):
        if shown >= MOST:
            break
        if not (np.isfinite(x) and free[0] <= x <= free[2] and free[1] <= y <= free[3]):
            continue
        rows = [(callout.text, theme.panel_ink)]
        if callout.detail:
            rows.append((callout.detail, theme.panel_muted))
        rows = [(part, ink) for text, ink in rows for part in wrapped(text, _WIDEST * size, size, measure)]
        wide = max(measure(text) * size for text, _ in rows) + 2.4 * pad
        high = line * len(rows) + 1.2 * pad
        taken = [*out.taken, *points]
        known = (before or {}).get(k, -1)
        found = _room(x, y, wide, high, size, free, taken, leaders, statements, known, covered)
        if found is None:
            continue
        place, box = found
        # A place that was chosen before the data were seen is no reason to stay there.
        if covered is not None or known >= 0:
            out.places[k] = place
        statements.append(box)
        shown += 1
        near = _nearest(x, y, box)
        strength, leading = _strengths(x, y, near, free, size)

        def faded(color: Color, strength: float = strength) -> Color:
            return (*color[:3], color[3] * strength)

        own, line_of = faded(theme.accent), faded(theme.accent, strength * leading)
        leaders.append((x, y, *near))
        for start, end in dashes((x, y), near, size) if callout.inferred else (((x, y), near),):
            out.lines.append((start, end, 1.2 * theme.scale, line_of))
        out.dots.append((x, y, 0.33 * size, own))
        out.fills.append((box, faded(theme.panel)))
        out.fills.append(((box[0], box[1], box[0] + 0.3 * pad, box[3]), own))
        base = box[3] - 0.6 * pad
        for text, color in rows:
            base -= line
            out.write(
                text,
                box[0] + 1.2 * pad,
                base + 0.4 * size,
                size,
                faded(color),
                "callout",
                measure(text) * size,
            )
        out.taken.append(box)
        out.targets.append(Target(box, "callout", (k,)))


def _strengths(
    x: float, y: float, near: tuple[float, float], free: Rectangle, size: float
) -> tuple[float, float]:
    """Return how opaque a callout is, less where its point leaves the region, and its line compared to it."""
    edge = min(x - free[0], y - free[1], free[2] - x, free[3] - y) / (_EDGE * size)
    away = (np.hypot(near[0] - x, near[1] - y) / size - _AWAY) / (_DISTANCES[-1] - _AWAY)
    shares = min(max(edge, 0.0), 1.0), 1.0 - min(max(float(away), 0.0), 1.0)
    whole, line = (least + (1 - least) * share for least, share in zip(_FAINTEST, shares))
    return whole, line


def _room(
    x: float, y: float, wide: float, high: float, size: float, free: Rectangle, taken: list[Rectangle],
    leaders: list[Rectangle], statements: list[Rectangle], before: int,
    covered: Callable[[Rectangle], float] | None,
) -> tuple[int, Rectangle] | None:  # fmt: skip
    """Return the best free place for a box about a point, and which of those that are tried; None without."""
    best, least = None, np.inf
    # The place before comes first: few others can be better, so few are looked at.
    for place in sorted(range(len(_PLACES)), key=before.__ne__):
        distance, (dx, dy) = _PLACES[place]
        # The rest costs more, if anything.
        cost = _FAR * distance - (_STAYS if place == before else 0.0)
        if cost >= least:
            continue
        mx, my = x + dx * distance * size, y + dy * distance * size
        left = mx if dx > 0.5 else mx - wide if dx < -0.5 else mx - wide / 2
        low = my if dy > 0.5 else my - high if dy < -0.5 else my - high / 2
        # One that would reach beyond an edge stands there.
        left, low = max(min(left, free[2] - wide), free[0]), max(min(low, free[3] - high), free[1])
        box = (left, low, left + wide, low + high)
        if box[2] > free[2] or box[3] > free[3]:
            continue
        if any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
            continue
        own = (x, y, *_nearest(x, y, box))
        cost += _CROSSED * sum(_cross(own, other) for other in leaders)
        cost += _CROSSED * sum(_passes(own, other) for other in statements)
        cost += _CROSSED * sum(_passes(other, box) for other in leaders)
        if cost < least and covered is not None:
            cost += _OVER * covered(box)
        if cost < least:
            best, least = (place, box), cost
    return best


def _nearest(x: float, y: float, box: Rectangle) -> tuple[float, float]:
    """Return the point of a box that is nearest to a point."""
    return min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])


def _passes(line: Rectangle, box: Rectangle) -> bool:
    """Return whether a line, from (x, y) to (x, y), passes through a box."""
    x0, y0, x1, y1 = box
    ends_inside = any(x0 < line[k] < x1 and y0 < line[k + 1] < y1 for k in (0, 2))
    return ends_inside or _cross(line, (x0, y0, x1, y1)) or _cross(line, (x0, y1, x1, y0))


def _cross(a: Rectangle, b: Rectangle) -> bool:
    """Return whether two lines, each from (x, y) to (x, y), cross."""

    def side(line: Rectangle, x: float, y: float) -> float:
        return (line[2] - line[0]) * (y - line[1]) - (line[3] - line[1]) * (x - line[0])

    return side(a, b[0], b[1]) * side(a, b[2], b[3]) < 0 and side(b, a[0], a[1]) * side(b, a[2], a[3]) < 0
