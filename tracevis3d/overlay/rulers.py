"""Rulers in the window: ticks along an axis where it is in sight, else along the region's edge."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..drawing.primitives import Axis
from ..layout import ticks
from ..layout.sight.affine import Floats
from ..layout.sight.view_projection import ViewProjection
from .items import Color, Measure, Overlay, Rectangle, Theme

#: What is nearer to the eye's plane than this, in clip space, counts as behind it.
_LEAST_W = 1e-9
#: Pixels at scale 1: between two ticks, of a tick's line, from it to its text, the strip at an edge.
_APART, _TICK, _GAP, _STRIP = 84.0, 6.0, 4.0, 26.0
#: If fewer pixels of an axis are visible, its ticks are along the edge.
_LEAST = 140.0
#: Maximum number of rulers; the first axes are the most important.
_MOST = 4


class _Line(NamedTuple):
    """The part of an axis that is in sight, on the screen.

    Attributes
    ----------
    low, high : float
        Its ends: distances along the axis.
    half : (float, float)
        Half the region's width and height, in pixels.
    start, step : (float, float, float)
        x, y and w in clip space where the axis begins, and what each unit along it adds.
    x, y : float or None
        Instead of the axis's own, for a ruler along an edge of the region.
    """

    low: float
    high: float
    half: tuple[float, float]
    start: tuple[float, float, float]
    step: tuple[float, float, float]
    x: float | None = None
    y: float | None = None

    def at(self, along: float) -> tuple[float, float]:
        """Return the pixel of a distance along the axis."""
        w = self.start[2] + along * self.step[2]
        x, y = (
            half * (1 + (start + along * step) / w)
            for half, start, step in zip(self.half, self.start, self.step)
        )
        return x if self.x is None else self.x, y if self.y is None else self.y

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The pixels of both ends."""
        return self.at(self.low), self.at(self.high)

    @property
    def length(self) -> float:
        """Pixels from end to end."""
        return math.dist(*self.ends)


def lay_rulers(
    axes: tuple[Axis, ...],
    eye: ViewProjection,
    free: Rectangle,
    focus: Floats,
    theme: Theme,
    measure: Measure,
    out: Overlay,
) -> None:
    """Add the rulers of ``axes`` to ``out``.

    Parameters
    ----------
    axes : tuple of Axis
    eye : ViewProjection
    free : Rectangle
        The part of the region that nothing covers.
    focus : float64 (3,)
        The point of the scene that the view is about: rulers at the edge measure at its depth.
    theme : Theme
    measure : Measure
    out : Overlay
    """
    shown: list[tuple[Axis, _Line, str | None]] = []
    # A line in ``free`` may have its texts just outside.
    size = theme.type
    bounds = (
        max(free[0] - size, 0.0),
        max(free[1] - 0.5 * size, 0.0),
        min(free[2] + size, eye.width),
        min(free[3] + size, eye.height),
    )
    for axis in axes:
        if len(shown) >= _MOST or not (np.isfinite(axis.length) and axis.length > 0):
            continue
        on_it = _in_sight(axis, eye, free, np.zeros(3))
        if on_it is not None and on_it.length >= _LEAST * theme.scale:
            shown.append((axis, on_it, None))
            continue
        direction = np.asarray(axis.direction, np.float64)
        origin = np.asarray(axis.origin, np.float64)
        away = (focus - origin) - direction * float(direction @ (focus - origin))
        seen = _in_sight(axis, eye, free, away)
        if seen is None or seen.length < _LEAST * theme.scale:
            continue
        (x0, y0), (x1, y1) = seen.ends
        edge = "bottom" if abs(x1 - x0) >= abs(y1 - y0) else "left"
        if any(edge == other for _, _, other in shown):
            continue
        left, bottom, _, _ = free
        strip = _STRIP * theme.scale
        if edge == "bottom":
            moved = seen._replace(y=bottom + strip)
        else:
            moved = seen._replace(x=left + 2 * strip)
        shown.append((axis, moved, edge))
    # Two rulers of time are compared: both are in one unit.
    largest = max((abs(t) for axis, line, _ in shown for t in _times(axis, line.low, line.high)), default=0)
    for axis, line, along in shown:
        _draw(axis, line, eye, bounds, theme, measure, out, along, largest)


def _in_sight(axis: Axis, eye: ViewProjection, free: Rectangle, away: Floats) -> _Line | None:
    """Return the part of an axis, moved by ``away``, that lies in ``free``."""
    origin, length = np.asarray(axis.origin, np.float64) + away, axis.length
    x0, y0, _, w0 = (eye.matrix[:, :3] @ origin + eye.matrix[:, 3]).tolist()
    dx, dy, _, dw = (eye.matrix[:, :3] @ np.asarray(axis.direction, np.float64)).tolist()
    half_wide, half_high = eye.width / 2, eye.height / 2
    left, right = free[0] / half_wide - 1, free[2] / half_wide - 1
    bottom, top = free[1] / half_high - 1, free[3] / half_high - 1
    low, high = 0.0, length
    # What must not be negative at ``t`` along the axis: a + b t.
    for a, b in (
        (w0 - _LEAST_W, dw),
        (x0 - left * w0, dx - left * dw),
        (right * w0 - x0, right * dw - dx),
        (y0 - bottom * w0, dy - bottom * dw),
        (top * w0 - y0, top * dw - dy),
    ):
        if b > 0:
            low = max(low, -a / b)
        elif b < 0:
            high = min(high, -a / b)
        elif a < 0:
            return None
    if not low < high:
        return None
    return _Line(low, high, (half_wide, half_high), (x0, y0, w0), (dx, dy, dw))


#: Where a whole axis is in sight its ticks are the same in each frame.
_time_ticks = lru_cache(maxsize=256)(ticks.time_ticks)


def _times(axis: Axis, low: float, high: float) -> tuple[int, ...]:
    """Return the nanoseconds at two distances along an axis, earlier first; none without time."""
    if axis.window is None:
        return ()
    first, last = axis.window
    per_unit = (last - first) / axis.length
    return tuple(sorted(round(first + along * per_unit) for along in (low, high)))


def ticks_of(
    axis: Axis, low: float, high: float, most: int, largest_ns: int = 0
) -> tuple[NDArray[np.float64], list[str], str]:
    """Return the ticks of a part of an axis.

    Parameters
    ----------
    axis : Axis
    low, high : float
        Distances along it.
    most : int
        How many ticks there may be.
    largest_ns : int, optional
        The largest time of rulers beside it: all are in one unit.

    Returns
    -------
    along : float64 (n,)
        Distances of the ticks.
    text : list of str
        One per tick, with its unit.
    title : str
        What they count from, or the axis's own title; may be empty.

    Examples
    --------
    >>> axis = Axis((0, 0, 0), (1, 0, 0), 10.0, (), (), window=(0, 1_000_000))
    >>> along, text, title = ticks_of(axis, 0.0, 5.0, 6)
    >>> text
    ['0 µs', '100 µs', '200 µs', '300 µs', '400 µs', '500 µs']
    """
    if axis.window is None:
        kept = [i for i, at in enumerate(axis.tick) if low <= at <= high and axis.text[i]]
        kept = kept[:: max(1, -(-len(kept) // max(most, 1)))]
        return np.array([axis.tick[i] for i in kept]), [axis.text[i] for i in kept], axis.title
    first, last = axis.window
    per_unit = (last - first) / axis.length
    found = _time_ticks(*_times(axis, low, high), max(most, 2), largest_ns)
    along = (np.array(found.at, np.float64) - first) / per_unit if per_unit else np.empty(0)
    text = [f"{words} {found.unit}".strip() for words in found.text]
    order = np.argsort(along, kind="stable")
    return along[order], [text[i] for i in order.tolist()], f"from {found.offset}" if found.offset else ""


def _draw(
    axis: Axis,
    line: _Line,
    eye: ViewProjection,
    bounds: Rectangle,
    theme: Theme,
    measure: Measure,
    out: Overlay,
    edge: str | None,
    largest: int,
) -> None:
    scale, size = theme.scale, theme.type
    ends = (x0, y0), (x1, y1) = line.ends
    level = abs(x1 - x0) >= abs(y1 - y0)
    apart = _APART * scale if level else 3.0 * size
    along, texts, title = ticks_of(axis, line.low, line.high, max(2, int(line.length / apart)), largest)
    if not len(along):
        return
    ink: Color = (*theme.ink, 0.9)
    faint: Color = (*theme.muted, 0.7)
    off = -1.0 if edge is not None else _outwards(axis, eye, line, level)
    out.lines.append((*ends, scale, faint))
    boxes: list[Rectangle] = []
    for (x, y), text in zip(map(line.at, along.tolist()), texts):
        wide = measure(text) * size
        if level:
            left = x - wide / 2
            base = y + off * (_TICK + _GAP) * scale - (0.75 * size if off < 0 else 0.0)
        else:
            left = x + off * (_TICK + _GAP) * scale - (wide if off < 0 else 0.0)
            base = y - 0.35 * size
        box = (left, base - 0.25 * size, left + wide, base + 0.85 * size)
        taken = any(_overlap(box, other, 0.6 * size) for other in (*boxes, *out.taken))
        if taken or not _inside(box, bounds):
            continue
        end = (x, y + off * _TICK * scale) if level else (x + off * _TICK * scale, y)
        out.lines.append(((x, y), end, scale, faint))
        out.put_plate(left, base, size, wide, theme)
        out.write(text, left, base, size, ink, "tick", wide)
        boxes.append(box)
    if title and boxes:
        wide = measure(title) * size
        last = boxes[-1] if level else max(boxes, key=lambda box: box[3])
        left = last[2] + size if level else min(last[0], bounds[2] - wide)
        base = last[1] + 0.25 * size if level else last[3] + 0.5 * size
        box = (left, base - 0.25 * size, left + wide, base + 0.85 * size)
        if not _inside(box, bounds) and level:
            left = boxes[0][0] - size - wide
            box = (left, box[1], left + wide, box[3])
        if _inside(box, bounds) and not any(_overlap(box, other, 0.0) for other in (*boxes, *out.taken)):
            out.put_plate(left, base, size, wide, theme)
            out.write(title, left, base, size, (*theme.muted, 1.0), "tick", wide)
            boxes.append(box)
    out.taken += boxes


def _outwards(axis: Axis, eye: ViewProjection, line: _Line, level: bool) -> float:
    """Return on which side of the line its texts stand: -1 below or left of it, 1 above or right of it."""
    at = (line.low + line.high) / 2
    point = np.asarray(axis.origin) + at * np.asarray(axis.direction, np.float64)
    ends, _ = eye.project([point, point + 0.05 * axis.length * np.asarray(axis.outward, np.float64)])
    way = (ends[1] - ends[0])[1 if level else 0]
    return 1.0 if np.isfinite(way) and way > 0.5 else -1.0


def _overlap(a: Rectangle, b: Rectangle, margin: float) -> bool:
    return a[0] < b[2] + margin and b[0] < a[2] + margin and a[1] < b[3] and b[1] < a[3]


def _inside(box: Rectangle, bounds: Rectangle) -> bool:
    return box[0] >= bounds[0] and box[1] >= bounds[1] and box[2] <= bounds[2] and box[3] <= bounds[3]
