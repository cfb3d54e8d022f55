"""Callouts in print: short statements on panels where the picture is free, with lines to their points."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes, Callout, Drawing, Image, Labels, Lines, Tubes, Wedges
from ...layout.dashes import dashes
from ...layout.lettering import Typeface, clean, shorten
from ..camera import Rectangle, View
from ..color import mixed
from ..styles import Style
from .labels import Free, choose, unit
from .legend import Line

#: Size of a cell of the occupancy grid, in pixels.
_CELL = 8
#: Cost of a leader as long as the region is high, what is added if all of it lies on data, which stands out
#: at most so much; what is added if it runs past another callout's point, closer than this, in line heights.
_FAR, _OVER, _MOST_OVER, _PAST, _CLOSE = 2.0, 1.2, 3.0, 0.6, 1.5
#: Cost of a panel that lies on data everywhere.
_HIDES = 3.0
#: Cost of hiding a name, and a ruler, relative to data of the same size; maximum number of names examined.
_NAME, _RULER, _NAMES = 8.0, 16.0, 500
#: Cost of hiding boxes that are to stay uncovered, relative to data of the same size.
_KEPT = 2.0
#: Cost of hiding what else is to stay uncovered, or of striking a name beside the data: all other places
#: come first.
_NEVER = 100.0
#: Cost of a leader that crosses a name, what is added if it crosses names alone, and points examined on it.
_STRIKES, _STRUCK, _ALONG = 0.3, 3.0, 48
#: Colours are hues from this difference of their channels on; what it costs to hide them, in data of the same
#: size, where they are less than this share of it, and what has none; and what has a hue if much has.
_HUE, _STANDS_OUT, _LITTLE, _QUIET, _COMMON = 0.12, 6.0, 0.25, 0.7, 2.0
#: Points of images are examined if they cover more than this, of 255: what is pale hides little data.
_SEEN = 24
#: Points of tubes and boxes that are examined, at most.
_MOST = 200_000
#: Half the width of the sign at the end of a leader line, in line heights.
_SIGN = 0.26
#: The widest panel, in line heights.
_WIDEST = 26.0


@dataclass
class Panels:
    """Callouts as they are printed, in pixels.

    Attributes
    ----------
    lines : list of Line
    corner : list of float64 (4, 2)
        Of patches, later ones on earlier ones.
    srgb : list of float (3)
    left_out : int
        Callouts without room, or out of the picture.
    """

    lines: list[Line] = field(default_factory=list)
    corner: list[NDArray[np.float64]] = field(default_factory=list)
    srgb: list[tuple[float, float, float]] = field(default_factory=list)
    left_out: int = 0


def covered(drawing: Drawing, view: View, typeface: Typeface) -> NDArray[np.float64]:
    """Return what a panel hides in each cell of the picture.

    Parameters
    ----------
    drawing : Drawing
    view : View
    typeface : Typeface

    Returns
    -------
    float64 (rows, columns)
        The lowest row first. 0: nothing, 1: data, less: pale data, and grey data where some stands out by its
        hue; more: names, rulers, and data with a hue.
    """
    rows, columns = (max(-(-n // _CELL), 1) for n in (view.frame.height, view.frame.width))
    out = np.zeros((rows, columns))
    points, hued = [], []
    rgb = drawing.palette[:, :3]
    has_hue = (rgb.max(axis=1) - rgb.min(axis=1)) * drawing.palette[:, 3] > _HUE
    for element in drawing.elements:
        if isinstance(element, Boxes) and len(element):
            # The picture of a box is about that of its two long edges, with points between them.
            share = np.linspace(0.0, 1.0, max(2, min(64, _MOST // max(4 * len(element), 1))))
            at = element.low[:, None].astype(np.float64) + share[None, :, None] * element.size[
                :, None
            ] * np.array([1.0, 0.0, 0.0])
            for y in (0.0, 0.5, 1.0):
                points.append((at + element.size[:, None] * np.array([0.0, y, y])).reshape(-1, 3))
                hued.append(np.repeat(has_hue[element.color], len(share)))
        elif isinstance(element, Tubes) and len(element):
            step = max(len(element.point) // (_MOST // 8), 1)
            centre, half = element.point[::step].astype(np.float64), element.radius[::step, :1]
            side = np.array(element.side)
            stands_out = np.repeat(has_hue[element.color], np.diff(element.first))[::step]
            for t in np.linspace(-1, 1, 9):
                points.append(centre + t * half * side)
                hued.append(stands_out)
        elif isinstance(element, Lines):
            _mark(out, view.pixels(element.point.astype(np.float64)), 1.0)
        elif isinstance(element, Wedges):
            _mark(out, _spread(element, view), 1.0)
        elif isinstance(element, Image):
            step = max(int((element.pixel[..., 3].size / _MOST) ** 0.5), 1)
            cover = element.pixel[::step, ::step, 3]
            for least in (_SEEN, 64, 128):
                shown = cover > least
                at = view.pixels(element.point[::step, ::step][shown].astype(np.float64))
                _mark(out, at, min(2 * least, 255) / 255)
    if points:
        pixel, stand_out = view.pixels(np.concatenate(points)), np.zeros_like(out)
        _mark(out, pixel, 1.0)
        _mark(stand_out, pixel[np.concatenate(hued)], _STANDS_OUT)
        # Where little has a hue, that is what the picture is about.
        if (stand_out > 0).sum() < _LITTLE * (out > 0).sum():
            out = np.maximum(_QUIET * out, stand_out)
        else:
            out = np.maximum(out, _COMMON * (stand_out > 0))
    for element in drawing.elements:
        if isinstance(element, Boxes) and element.kind in drawing.uncovered:
            _mark(out, _filled(_outer(element, view)), _KEPT)
    names = [_rows_of_names(group, typeface) for group in drawing.labels if len(group)]
    if names:
        _mark(out, view.pixels(np.concatenate(names)), _NAME)
    for axis in drawing.axes:
        along = np.linspace(0.0, axis.length, _MOST // 1000)[:, None]
        _mark(out, view.pixels(np.array(axis.origin) + along * unit(axis.direction)), _RULER)
    return out


def _mark(out: NDArray[np.float64], pixel: NDArray[np.float64], worth: float) -> None:
    at = pixel / _CELL
    inside = (at >= 0).all(axis=1) & (at[:, 0] < out.shape[1]) & (at[:, 1] < out.shape[0])
    place = at[inside].astype(np.int64)
    out[place[:, 1], place[:, 0]] = np.maximum(out[place[:, 1], place[:, 0]], worth)


def kept_off(drawing: Drawing, view: View, free: Free, typeface: Typeface) -> NDArray[np.int8]:
    """Return which cells of the picture no panel is to hide as long as there is another place.

    Parameters
    ----------
    drawing : Drawing
    view : View
    free : Free
        What other texts have left; it stays as it is.
    typeface : Typeface

    Returns
    -------
    int8 (rows, columns)
        The lowest row first. 0: others, 1: elements that are to stay uncovered, 2: names that are not bound
        to a room, where they would stand.
    """
    rows, columns = (max(-(-n // _CELL), 1) for n in (view.frame.height, view.frame.width))
    worth = np.zeros((rows, columns))
    for element in drawing.elements:
        if isinstance(element, Wedges) and element.kind in drawing.uncovered:
            _mark(worth, _spread(element, view), 1.0)
    names = [_beside(group) for group in drawing.labels]
    ink = [np.zeros((len(group), 3)) for group in names]
    for outline in choose(names, view, deepcopy(free), typeface, ink)[0].outline:
        _mark(worth, _filled(outline[None]), 2.0)
    return worth.astype(np.int8)


def _beside(group: Labels) -> Labels:
    """Return the names of a group that are not bound to a room, the most important ones."""
    free = np.flatnonzero(np.isinf(group.room) & (len(group.background) == 0))
    return group.only(free[np.argsort(-group.rank[free], kind="stable")[:_NAMES]])


def _spread(wedges: Wedges, view: View) -> NDArray[np.float64]:
    """Return points (n, 2) of the picture that lie on bent blocks, one to each cell or so."""
    at = view.pixels(wedges.corner.reshape(-1, 3)).reshape(-1, 4, 2)
    goes_on = np.ones(len(at), np.bool_)
    goes_on[wedges.first[1:] - 1] = False
    here = np.flatnonzero(goes_on)
    sides = [(at[here, k], at[here, k - 1], at[here + 1, k - 1], at[here + 1, k]) for k in range(4)]
    return _filled(np.concatenate([np.stack(side, axis=1) for side in sides]))


def _outer(boxes: Boxes, view: View) -> NDArray[np.float64]:
    """Return the rectangles (n, 4, 2) of the picture around boxes."""
    share = np.array(list(np.ndindex(2, 2, 2)), np.float64)
    corner = boxes.low[:, None] + share * boxes.size[:, None]
    at = view.pixels(corner.reshape(-1, 3)).reshape(-1, 8, 2)
    (left, low), (right, high) = at.min(axis=1).T, at.max(axis=1).T
    return np.asarray(np.stack([left, low, right, low, right, high, left, high], axis=1).reshape(-1, 4, 2))


def _filled(quad: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points (n, 2) on quadrilaterals (m, 4, 2), one to each cell or so; the largest ones first."""
    edge = np.abs(np.roll(quad, -1, axis=1) - quad).max(axis=2)
    # What reaches far out of the picture has no more points than the widest picture.
    many = np.ceil(np.minimum(edge, _MOST // 10) / _CELL).astype(np.int64) + 1
    across, along = np.maximum(many[:, 0], many[:, 2]), np.maximum(many[:, 1], many[:, 3])
    order = np.argsort(-(across * along), kind="stable")
    order = order[: np.searchsorted(np.cumsum((across * along)[order]), 4 * _MOST, "right")]
    quad, across, along = quad[order], across[order], along[order]
    owner = np.repeat(np.arange(len(quad)), across * along)
    k = np.arange(len(owner)) - np.repeat(np.cumsum(across * along) - across * along, across * along)
    s = ((k % across[owner]) / np.maximum(across - 1, 1)[owner])[:, None]
    t = ((k // across[owner]) / np.maximum(along - 1, 1)[owner])[:, None]
    a, b, c, d = (quad[owner, i] for i in range(4))
    return np.asarray((1 - t) * ((1 - s) * a + s * b) + t * ((1 - s) * d + s * c))


def _rows_of_names(group: Labels, typeface: Typeface) -> NDArray[np.float64]:
    """Return points (n, 3) along names, one to each half line height or so; the largest rooms first."""
    right, up = unit(group.right), unit(group.up)
    points = [np.empty((0, 3))]
    for i in np.argsort(-group.room, kind="stable")[:_NAMES].tolist():
        height, room = float(group.height[i]), float(group.room[i])
        if room < 3 * height:
            break
        width = min(height * typeface.width(clean(group.text[i])) * typeface.size_per_line, room)
        along = np.linspace(0.0, width, max(int(2 * width / max(height, 1e-9)), 2))
        left = group.anchor[i] - right * (width * (group.align + 1) / 2)
        points += [left + np.outer(along, right) + up * (t * height) for t in (-0.3, 0.3)]
    return np.concatenate(points)


def lay_out(
    drawing: Drawing, view: View, region: Rectangle, free: Free, text: float, style: Style, typeface: Typeface
) -> Panels:
    """Place the callouts of ``drawing``, the most important first; each takes its place from ``free``.

    Parameters
    ----------
    drawing : Drawing
    view : View
    region : Rectangle
        Of the picture, beside title and notes.
    free : Free
    text : float
        Line height, pixels.
    style : Style
    typeface : Typeface

    Returns
    -------
    Panels
    """
    out = Panels()
    if not drawing.callouts or region[2] - region[0] < 12 * text or region[3] - region[1] < 8 * text:
        out.left_out = len(drawing.callouts)
        return out
    cells, never = covered(drawing, view, typeface), kept_off(drawing, view, free, typeface)
    data, protected = _summed(cells), _summed((never > 0).astype(np.float64))
    at = view.pixels([callout.point for callout in drawing.callouts])
    points = [(float(x), float(y)) for x, y in at]
    placed: list[tuple[Callout, tuple[float, float], Rectangle, list[tuple[str, float]]]] = []
    for callout, (x, y) in zip(drawing.callouts, points):
        if not (region[0] <= x <= region[2] and region[1] <= y <= region[3]):
            out.left_out += 1
            continue
        rows = _rows(callout, text, typeface)
        wide = max(typeface.width(row) * size for row, size in rows) + 1.3 * text
        high = 1.25 * text * len(rows) + 0.5 * text
        before = [(point, box) for _, point, box, _ in placed]
        place = _place((x, y), wide, high, region, free, cells, data, never, protected, points, before, text)
        if place is None:
            out.left_out += 1
            continue
        placed.append((callout, (x, y), place, rows))
    # Leader lines are below all panels.
    for callout, point, box, _ in placed:
        whole = _bar(point, _nearest(point, box), max(0.09 * text, 1.2))
        pieces = dashes(point, _nearest(point, box), text) if callout.inferred else []
        out.corner += [_bar(start, end, max(0.09 * text, 1.2)) for start, end in pieces] or [whole]
        out.srgb += [style.ink] * max(len(pieces), 1)
        free.strike(whole)
        free.strike(_diamond(point, _SIGN * text))
    for callout, point, box, rows in placed:
        _print(out, callout, point, box, rows, text, drawing, style, typeface)
    return out


def _summed(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what would be hidden below and left of each corner of a cell."""
    return np.pad(np.cumsum(np.cumsum(cells, axis=0), axis=1), ((1, 0), (1, 0)))


def _rows(callout: Callout, text: float, typeface: Typeface) -> list[tuple[str, float]]:
    """Return the words of a callout, each with the size of its type."""
    size = text * typeface.size_per_line
    rows = [(clean(callout.text), size), (clean(callout.detail), 0.85 * size)]
    return [(shorten(row, _WIDEST * text / of, typeface), of) for row, of in rows if row]


def _place(
    point: tuple[float, float], wide: float, high: float, region: Rectangle, free: Free,
    cells: NDArray[np.float64], data: NDArray[np.float64], never: NDArray[np.int8],
    protected: NDArray[np.float64], points: list[tuple[float, float]],
    before: list[tuple[tuple[float, float], Rectangle]], text: float,
) -> Rectangle | None:  # fmt: skip
    """Return the place for a panel that hides least data, nearest to its point; None if there is none."""
    x, y = point
    step, pad = text, 0.35 * text
    left = np.arange(region[0], region[2] - wide, step)
    low = np.arange(region[1], region[3] - high, step)
    if not len(left) or not len(low):
        return None
    # Just below title and legends there is often room for one panel.
    low = np.append(low, region[3] - high - 1.01 * pad)
    xs, ys = (grid.reshape(-1) for grid in np.meshgrid(left, low))
    columns, rows = data.shape[1] - 1, data.shape[0] - 1
    i0, j0 = ((np.clip((v - pad) / _CELL, 0, n)).astype(np.int64) for v, n in ((xs, columns), (ys, rows)))
    i1, j1 = (
        np.ceil(np.clip((v + of + pad) / _CELL, 0, n)).astype(np.int64)
        for v, of, n in ((xs, wide, columns), (ys, high, rows))
    )
    hidden, taboo = (each[j1, i1] - each[j0, i1] - each[j1, i0] + each[j0, i0] for each in (data, protected))
    hidden = hidden / max(wide * high / _CELL**2, 1.0)
    away = np.hypot(
        np.maximum(np.maximum(xs - x, x - xs - wide), 0), np.maximum(np.maximum(ys - y, y - ys - high), 0)
    )
    # The leader should not cross names.
    share = np.linspace(0.0, 1.0, _ALONG)[:, None]
    ends = np.clip(x, xs, xs + wide), np.clip(y, ys, ys + high)
    at = [
        np.clip((v + share * (end - v)) / _CELL, 0, n - 1)
        for v, end, n in zip((x, y), ends, cells.shape[::-1])
    ]
    along = at[1].astype(np.int64), at[0].astype(np.int64)
    under, never_under = cells[along], (never[along] == 2).any(axis=0)
    names = under >= _NAME
    struck = _STRIKES * names.any(axis=0) + _STRUCK * names.mean(axis=0)
    length = away / max(region[3] - region[1], 1.0)
    over = np.minimum(under, _MOST_OVER).mean(axis=0)
    past = sum(_distance(other, point, ends) < _CLOSE * text for other in points if other != point)
    cost = _HIDES * hidden + struck + (_FAR + _OVER * over) * length + _PAST * past
    cost = cost + _NEVER * ((taboo > 0) + 1.0 * never_under)
    # A panel at its point would hide its subject.
    open_ = away >= 1.2 * text
    for px, py in points:
        near = (xs - text < px) & (px < xs + wide + text) & (ys - text < py) & (py < ys + high + text)
        open_ &= ~near
    crossing: list[Rectangle] = []
    for k in np.argsort(np.where(open_, cost, np.inf), kind="stable")[:600].tolist():
        if not open_[k]:
            break
        box = (float(xs[k]), float(ys[k]), float(xs[k] + wide), float(ys[k] + high))
        # No line runs under another callout's text.
        if any(
            _crosses(point, _nearest(point, box), other) or _crosses(start, _nearest(start, other), box)
            for start, other in before
        ):
            continue
        if any(_meet(point, _nearest(point, box), start, _nearest(start, other)) for start, other in before):
            crossing.append(box)
            continue
        if free.take(_padded(box, pad)):
            return box
    # If every place has a crossing, take the best of those.
    return next((box for box in crossing if free.take(_padded(box, pad))), None)


def _distance(
    point: tuple[float, float], start: tuple[float, float], ends: tuple[NDArray[np.float64], ...]
) -> NDArray[np.float64]:
    """Return how far ``point`` is from the lines from ``start`` to ``ends``, each float64 (n,)."""
    along = [end - v for end, v in zip(ends, start)]
    to = [p - v for p, v in zip(point, start)]
    share = (to[0] * along[0] + to[1] * along[1]) / np.maximum(along[0] ** 2 + along[1] ** 2, 1e-9)
    share = np.clip(share, 0.0, 1.0)
    return np.asarray(np.hypot(to[0] - share * along[0], to[1] - share * along[1]))


def _padded(box: Rectangle, pad: float) -> Rectangle:
    return box[0] - pad, box[1] - pad, box[2] + pad, box[3] + pad


def _meet(
    a: tuple[float, float], b: tuple[float, float], c: tuple[float, float], d: tuple[float, float]
) -> bool:
    """Return whether the lines from ``a`` to ``b`` and from ``c`` to ``d`` cross."""

    def side(p: tuple[float, float], q: tuple[float, float], r: tuple[float, float]) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def _print(
    out: Panels, callout: Callout, point: tuple[float, float], box: Rectangle, rows: list[tuple[str, float]],
    text: float, drawing: Drawing, style: Style, typeface: Typeface,
) -> None:  # fmt: skip
    hue = _rgb(drawing.palette[callout.color, :3]) if callout.color >= 0 else style.ink
    ground = mixed(np.array([[*style.background, 1.0]], np.float32), style.ink, 0.035)[0]
    edge = mixed(np.array([[*style.background, 1.0]], np.float32), style.ink, 0.25)[0]
    x, y = point
    for side, color in ((_SIGN * text, style.background), (0.2 * text, hue)):
        out.corner.append(_diamond((x, y), side))
        out.srgb.append(color)
    hair = max(0.05 * text, 1.0)
    out.corner.append(_rectangle((box[0] - hair, box[1] - hair, box[2] + hair, box[3] + hair)))
    out.srgb.append(_rgb(edge))
    out.corner.append(_rectangle(box))
    out.srgb.append(_rgb(ground))
    out.corner.append(_rectangle((box[0], box[1], box[0] + 0.25 * text, box[3])))
    out.srgb.append(hue)
    middle = box[3] - 0.25 * text - 0.625 * text
    for k, (row, size) in enumerate(rows):
        color = style.ink if k == 0 else style.muted
        out.lines.append(
            Line(row, box[0] + 0.75 * text, middle - 0.5 * typeface.cap_height * size, size, color)
        )
        middle -= 1.25 * text


def _diamond(point: tuple[float, float], side: float) -> NDArray[np.float64]:
    """Return the corners of the sign at which a leader line ends."""
    x, y = point
    return np.array([(x - side, y), (x, y - side), (x + side, y), (x, y + side)])


def _nearest(point: tuple[float, float], box: Rectangle) -> tuple[float, float]:
    return min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])


def _crosses(a: tuple[float, float], b: tuple[float, float], box: Rectangle) -> bool:
    """Return whether the line from ``a`` to ``b`` runs through a rectangle (Liang and Barsky)."""
    low, high = 0.0, 1.0
    for start, end, least, most in ((a[0], b[0], box[0], box[2]), (a[1], b[1], box[1], box[3])):
        run = end - start
        if abs(run) < 1e-9:
            if not least < start < most:
                return False
            continue
        ends = sorted(((least - start) / run, (most - start) / run))
        low, high = max(low, ends[0]), min(high, ends[1])
    return low < high


def _rgb(color: NDArray[np.floating]) -> tuple[float, float, float]:  # type: ignore[type-arg]
    r, g, b = (float(v) for v in color[:3])
    return r, g, b


def _rectangle(box: Rectangle) -> NDArray[np.float64]:
    left, low, right, high = box
    return np.array([(left, low), (right, low), (right, high), (left, high)])


def _bar(a: tuple[float, float], b: tuple[float, float], width: float) -> NDArray[np.float64]:
    """Return the corners of a straight line."""
    start, end = np.array(a), np.array(b)
    along = end - start
    length = max(float(np.hypot(*along)), 1e-9)
    across = np.array([-along[1], along[0]]) / length * width / 2
    return np.array([start - across, end - across, end + across, start + across])
