"""The names of call sites: beside the terrain, or as flags above the flat picture."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.primitives import Labels, Lines
from .layout import HEIGHT, PLATE, Layout
from .story import story
from .terrain import Pieces

Floats = NDArray[np.float64]

#: Names have so many letters, of this share of the texts' height; so many rows of flags stand above the flat
#: picture.
_LETTERS, _SITE, _FLAG_ROWS = 32, 0.85, 3
_CHARACTER = 0.52
#: Minimum width of a named district, as a share of the width.
_LEAST_DISTRICT = 0.04
#: What ends in this last share of the time is seen to reach its end.
_LAST = 0.02


def site_names(picture: Layout, cut: Pieces | None, hair: int) -> tuple[Lines, Labels] | None:
    """Return the names of call sites where their districts end, and lines to them; the widest win.

    Parameters
    ----------
    picture : Layout
    cut : Pieces or None
        The pieces that are drawn, whose tops the lines lead to; None: the lines lead to the ground.
    hair : int
        The lines' colour, as index into the palette.

    Returns
    -------
    (Lines, Labels) or None
        None: there are no districts, or no names are wanted.
    """
    places, p = picture.arrangement.districts, picture.parameters
    if not len(places) or not p.labels:
        return None
    left, right = np.maximum(places.low, picture.span[0]), np.minimum(places.high, picture.span[1])
    wide = right - left
    about = story(picture.use, p)
    if about is not None and about.site >= 0:
        seen = np.flatnonzero((places.site == about.site) & (wide > 0))
    else:
        seen = np.flatnonzero(wide >= _LEAST_DISTRICT * (picture.span[1] - picture.span[0]))
    if not len(seen):
        return None
    seen = seen[np.argsort(-wide[seen], kind="stable")][: p.labels]
    texts = [_site(picture, int(site)) for site in places.site[seen]]
    lay = _beside if picture.across else _above
    chosen, begin, end = lay(picture, cut, left[seen], right[seen], texts)
    n = len(chosen)
    leaders = Lines(
        "call site", np.stack([begin, end], axis=1).reshape(-1, 3).astype(np.float32), 2 * np.arange(n + 1),
        np.full(n, 0.015, np.float32), np.full(n, hair, np.int32), np.arange(n),
    )  # fmt: skip
    anchor = end + (np.array([0.0, -0.1, 0.0]) if picture.across else np.array([0.1, 0.0, 0.0]))
    return leaders, Labels(
        "call site", tuple(texts[i] for i in chosen), anchor.astype(np.float32),
        np.full(n, _SITE * picture.text, np.float32), np.full(n, np.inf, np.float32),
        np.full(n, 3.0, np.float32), align=-1, right=picture.level, up=picture.upward,
    )  # fmt: skip


def _beside(
    picture: Layout, cut: Pieces | None, left: Floats, right: Floats, texts: list[str]
) -> tuple[list[int], Floats, Floats]:
    """Return which names stand one behind the other beside the terrain, and the ends of their lines."""
    tilt = math.radians(picture.parameters.tilt)
    # Each stands a bit higher in the picture.
    apart = 1.25 * _SITE * picture.text / math.sin(tilt)
    most = max(int(1.25 * picture.wide / apart), 1)
    chosen = np.argsort(left[:most], kind="stable")
    foot, top = _edges(picture, cut, left[chosen], right[chosen])
    # What is higher is further up in the picture, like what lies further behind.
    place = foot + top / math.tan(tilt)
    order = np.argsort(place, kind="stable")
    chosen, foot, top, place = chosen[order], foot[order], top[order], _spread(place[order], apart)
    high = np.clip((place - foot) * math.tan(tilt), 0.0, HEIGHT)
    n = len(chosen)
    begin = np.stack([foot, np.full(n, -0.12), top], axis=1)
    end = np.stack([place - high / math.tan(tilt), np.full(n, -0.62), high], axis=1)
    return chosen.tolist(), begin, end


def _above(
    picture: Layout, _cut: Pieces | None, left: Floats, right: Floats, texts: list[str]
) -> tuple[list[int], Floats, Floats]:
    """Return which names stand as flags above the flat picture, and the ends of their lines."""
    height = _SITE * picture.text
    foot = np.asarray(picture.x((left + right) / 2))
    until = foot + height * (0.8 + _CHARACTER * np.array([len(text) for text in texts]))
    chosen: list[int] = []
    rows: list[int] = []
    for i in range(len(foot)):
        more = sorted([*chosen, i], key=lambda k: foot[k])
        if max(found := flag_rows(foot[more], until[more])) < _FLAG_ROWS:
            chosen, rows = more, found
    n, deep = len(chosen), picture.deep
    x = foot[chosen]
    begin = np.stack([x, np.full(n, deep + 0.05), np.zeros(n)], axis=1)
    up = deep + 2.2 * picture.text + 1.3 * height * np.array(rows)
    return chosen, begin, np.stack([x, up, np.zeros(n)], axis=1)


def flag_rows(foot: Floats, until: Floats) -> list[int]:
    """Return the row of each flag, from below: no text meets another's pole or text.

    Parameters
    ----------
    foot : float64 (n,)
        Where poles stand, ascending; texts begin there.
    until : float64 (n,)
        Where texts end.

    Returns
    -------
    list of int
    """
    rows = [0] * len(foot)
    for i in range(len(foot) - 1, -1, -1):
        over = [rows[j] for j in range(i + 1, len(foot)) if foot[j] <= until[i]]
        rows[i] = max(over, default=-1) + 1
    return rows


def beyond(picture: Layout, names: Labels | None) -> float:
    """Return how much room names need beside the terrain, or above the flat picture.

    Parameters
    ----------
    picture : Layout
    names : Labels or None
        Those of districts.

    Returns
    -------
    float
        In scene units.
    """
    if names is None:
        return 0.0
    if picture.across:
        return longest(names) + 0.6
    return float(names.anchor[:, 1].max()) - picture.deep + picture.text


def _edges(
    picture: Layout, cut: Pieces | None, left: Floats, right: Floats
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where the widest ridge of each district ends: its middle and its height, or on the ground."""
    x, top = np.array(picture.x((left + right) / 2)), np.zeros(len(left))
    if cut is None or not picture.across:
        return x, top
    items = picture.items
    start, end = picture.window
    last = np.flatnonzero(cut.end >= end - _LAST * (end - start))
    one = items.alone[cut.item[last]]
    low = np.where(one, items.low[cut.item[last]], cut.left[last])
    high = np.where(one, items.high[cut.item[last]], cut.right[last])
    district = np.searchsorted(left, (low + high) / 2, side="right") - 1
    inside = (district >= 0) & ((low + high) / 2 <= right[np.maximum(district, 0)])
    last, low, high, district = last[inside], low[inside], high[inside], district[inside]
    narrow_first = np.lexsort((high - low, district))
    best = narrow_first[np.diff(district[narrow_first], append=len(left)) > 0]
    x[district[best]] = picture.x((low + high)[best] / 2)
    top[district[best]] = PLATE + picture.reach * cut.high[last[best]]
    return x, top


def _spread(at: Floats, apart: float) -> Floats:
    """Return ascending places with a minimum distance, each as close as possible to its own."""
    # Runs that are too close are centred on the mean of what they stand for.
    runs: list[tuple[float, int]] = []
    for value in at.tolist():
        runs.append((value, 1))
        while len(runs) > 1:
            (a, m), (b, n) = runs[-2:]
            if b - a >= apart * (m + n) / 2:
                break
            runs[-2:] = [((a * m + b * n) / (m + n), m + n)]
    return np.array([middle + apart * (i - (n - 1) / 2) for middle, n in runs for i in range(n)])


def _site(picture: Layout, site: int) -> str:
    if site < 0:
        return "smaller call sites"
    name, size = picture.use.sites.name[site], units.byte_size(int(picture.use.table.peak[site]))
    return f"{name if len(name) <= _LETTERS else name[: _LETTERS - 1] + '…'}  {size}"


def longest(labels: Labels) -> float:
    """Return the width of the longest text in scene units, about."""
    return max(
        (_CHARACTER * len(text) * float(h) for text, h in zip(labels.text, labels.height, strict=True)),
        default=0.0,
    )
