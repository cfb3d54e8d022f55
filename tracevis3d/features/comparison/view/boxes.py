"""The boxes of a comparison: calls and clusters on both walls, and frames around what repeats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....analysis.measures import self_time_of
from ....analysis.repetitions import find_alike, find_runs
from ....drawing.palettes import Paint
from ....drawing.primitives import Boxes, Labels, Lines
from ..matching.match import Comparison
from .annotations.frames import FrameBuilder, frames, plates
from .layout import Layout, Wall

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Share of a level that stays free before the next.
_GAP = 0.06
#: Shades of clusters by how much of their time is filled, and the palest.
_DENSITIES, _PALEST = 4, 0.45
#: Thickness of boxes by how much of their time is explained, in plates.
_THIN, _THICK = 0.3, 1.9
#: Thickness of those without a match, in plates: no box is thicker.
MOST_PLATES = 2.0
#: How far the middle of a frame's number lies from its inner edge, in heights of the number.
_BESIDE = 0.6
#: Width in pixels of frames around repetitions; and the least width of what is framed.
_FRAME_PX, _FRAMED_PX = 2.4, 18.0


def boxes_of(
    wall: Wall,
    color: NDArray[np.int32],
    similarity: Floats,
    coverage: Floats | None = None,
    paint: Paint | None = None,
) -> list[Boxes]:
    """Return the boxes of calls, then of clusters; calls without a match stand out of the wall.

    Parameters
    ----------
    wall : Wall
    color : int32 (drawn,)
    similarity : float64 (drawn,)
        Of the best match; 0 without one.
    coverage : float64 (drawn,), optional
        Share of each one's time that matches explain: boxes are the thicker, the more.
    paint : Paint, optional
        Clusters get paler colours in it, the less of their time is filled.

    Returns
    -------
    list of Boxes
    """
    calls, cut = wall.trace.calls, wall.cut
    n, c = len(cut.calls), cut.clusters
    if coverage is None:
        thick = np.where(similarity > 0, wall.plate, MOST_PLATES * wall.plate)
    else:
        thick = wall.plate * (_THIN + (_THICK - _THIN) * coverage)
    if len(wall.steps):
        thick = thick + wall.steps[calls.function[wall.drawn]]
    if paint is not None and len(c):
        color = np.concatenate([color[:n], _by_density(color[n:], c.covered, c.end - c.start, paint)])
    level = calls.depth[cut.calls].astype(np.int64) - wall.first_depth
    last = cut.deepest(calls) - wall.first_depth
    # In the flat figure nothing shows between two levels.
    gap = _GAP * min(1.0, wall.fold.rise / math.radians(15.0))
    owner, at = _steps(wall)
    made = []
    for kind, start, end, low, high, thread, which, ids, count, free in (
        ("call", calls.start[cut.calls], calls.end[cut.calls], level, last, calls.thread[cut.calls],
         np.arange(n), cut.calls, cut.merged + 1 if cut.step > 1 else np.empty(0, np.int64), gap),
        ("cluster", c.start[owner], c.end[owner], at[0], at[1], c.thread[owner], n + owner,
         c.longest[owner], c.calls[owner], gap if wall.fold.rise == 0 else 0.0),
    ):  # fmt: skip
        corner, size = wall.place(start, end, low, high, thread, thick[which], free)
        span = float(max(wall.window[1] - wall.window[0], 1))
        time = np.stack([start - wall.window[0], end - wall.window[0]], axis=1) / span
        look: Any = "solid" if kind == "call" else "cluster"
        made.append(
            Boxes(
                kind,
                corner,
                size,
                color[which],
                ids,
                np.clip(time, 0, 1).astype(np.float32),
                look,
                wall.source,
                count,
                wall.window,
            )
        )
    return made


def _steps(wall: Wall) -> tuple[Ints, tuple[Ints, Ints]]:
    """Return the boxes of the clusters: which cluster each is of, and its first and last level.

    Where the wall leans a box for each level, or row of them, as a flight of steps: one box over all of them
    would stand out of the wall's slope.
    """
    c, step = wall.cut.clusters, wall.cut.step
    top, bottom = (depth.astype(np.int64) - wall.first_depth for depth in (c.depth, c.bottom))
    if wall.fold.rise == 0:
        return np.arange(len(c)), (top, bottom)
    rows = np.maximum((bottom - top + step) // step, 1)
    owner = np.repeat(np.arange(len(c)), rows)
    level = step * (np.arange(len(owner)) - np.repeat(np.cumsum(rows) - rows, rows)) + top[owner]
    return owner, (level, np.maximum(np.minimum(level + step - 1, bottom[owner]), level))


def _by_density(color: NDArray[np.int32], covered: Floats, length: Ints, paint: Paint) -> NDArray[np.int32]:
    """Return paler colours for clusters whose members fill little of their time."""
    share = covered / np.maximum(length, 1)
    step = np.clip((share * _DENSITIES).astype(np.int64), 0, _DENSITIES - 1)
    out, known = color.copy(), paint.palette
    for s in range(_DENSITIES - 1):
        which = step == s
        used, inverse = np.unique(color[which], return_inverse=True)
        if len(used):
            paler = known[used].copy()
            paler[:, 3] *= _PALEST + (1.0 - _PALEST) * s / (_DENSITIES - 1)
            out[which] = paint.add(paler) + inverse.reshape(-1).astype(np.int32)
    return out


def explained(comparison: Comparison, wall: Wall) -> Floats:
    """Return the share of the time of what is drawn on a wall that matches below explain: float64 (drawn,).

    A call's time is explained where a call below it, or itself if it calls none, has a match.

    Parameters
    ----------
    comparison : Comparison
    wall : Wall

    Returns
    -------
    float64 (drawn,)
    """
    calls = wall.trace.calls
    matched = comparison.matched(wall.source)
    own = self_time_of(wall.trace).astype(np.float64)
    # The self time of a call counts if it has a match; the share is that of all calls in the stack.
    total = np.concatenate([[0.0], np.cumsum(own)])
    known = np.concatenate([[0.0], np.cumsum(np.where(matched, own, 0.0))])
    ids = wall.drawn
    stop = ids + calls.extent[ids]
    whole = total[stop] - total[ids]
    return np.asarray((known[stop] - known[ids]) / np.where(whole > 0, whole, 1.0))


@dataclass(frozen=True, eq=False)
class Runs:
    """Repeating neighbours among the elements of a wall.

    Attributes
    ----------
    first, last, parent : int64 (n,)
        The first and the last call, and their caller.
    times : int64 (n,)
    left, right : int64 (n,)
        Nanoseconds, within the wall's window.
    width : float64 (n,)
        Scene units.
    key : list of (int, int)
        The first call's function, as both traces number it, and how often: the same in two runs of a program.
    """

    first: Ints
    last: Ints
    parent: Ints
    times: Ints
    left: Ints
    right: Ints
    width: Floats
    key: list[tuple[int, int]]

    @classmethod
    def of(cls, comparison: Comparison, wall: Wall) -> Runs:
        """Find exact and similar repetitions on a wall.

        Parameters
        ----------
        comparison : Comparison
        wall : Wall
            What is drawn on it.

        Returns
        -------
        Runs
        """
        side, calls = comparison.sides[wall.source], wall.trace.calls
        found = []
        for runs in (find_runs(side.subtrees), find_alike(side.subtrees, side.sets)):
            at = runs.at(wall.cut.calls, side.calls, side.subtrees)
            found.append(np.stack([at.first, at.last, runs.times[at.run].astype(np.int64), at.parent]))
        first, last, times, parent = np.concatenate(found, axis=1)
        left = np.maximum(calls.start[first], wall.window[0])
        right = np.minimum(calls.end[last], wall.window[1])
        identity = (comparison.identity.a, comparison.identity.b)[wall.source]
        key = list(zip(identity[calls.function[first]].tolist(), times.tolist()))
        return cls(first, last, parent, times, left, right, (right - left) * wall.per_ns, key)


def repetitions(
    picture: Layout, runs: tuple[Runs, Runs], source: int, most: int, color: int
) -> tuple[list[Lines | Boxes], Labels | None]:
    """Return red frames around neighbours that repeat, and how often, those first that are wide on any wall.

    So two runs of a program have the same frames, whichever takes longer where.

    Parameters
    ----------
    picture : Layout
    runs : (Runs, Runs)
        On both walls.
    source : int
        The wall whose frames are returned.
    most : int
    color : int
        Palette index.

    Returns
    -------
    list of Lines or Boxes, Labels or None
    """
    wall, own = picture.walls[source], runs[source]
    widest: dict[tuple[int, int], float] = {}
    for side in runs:
        for key, size in zip(side.key, side.width.tolist()):
            widest[key] = max(widest.get(key, 0.0), size)
    first, last, times, parent = own.first, own.last, own.times, own.parent
    left, right, width = own.left, own.right, own.width
    shared = np.array([widest[key] for key in own.key], np.float64)
    least = _FRAMED_PX / picture.pixels_per_unit
    order = np.lexsort((first, -width, -shared))
    order = order[width[order] >= least]
    # Exact runs come within those that are similar, and runs within runs: frames whose numbers would lie on
    # each other are one.
    middle = wall.spots(first)[2]
    at = (left + right) / 2 * wall.per_ns
    kept: list[int] = []
    for i in order.tolist():
        if len(kept) == most:
            break
        same = [j for j in kept if parent[i] == parent[j] and first[i] <= last[j] and first[j] <= last[i]]
        close = [
            j for j in kept
            if abs(at[i] - at[j]) < 3 * picture.text and abs(middle[i] - middle[j]) < 3 * picture.text
        ]  # fmt: skip
        if not same and not close:
            kept.append(i)
    if not kept:
        return [], None
    which = np.array(kept, np.int64)
    pen = FrameBuilder("repetition", color, _FRAME_PX, 0.01, 1e3)

    def framed(which: Ints) -> tuple[Lines, Floats]:
        x0 = wall.offset + (left[which] - wall.window[0]) * wall.per_ns
        x1 = wall.offset + (right[which] - wall.window[0]) * wall.per_ns
        return frames(picture, wall, first[which], x0, x1, wall.plate, pen)

    # The numbers are across the frames' inner edges; a frame whose number would lie on another's is left out.
    height = 0.75 * picture.text
    _, edge = framed(which)
    wide = np.array([(0.5 * len(f"×{int(t):,}") + 0.5) * height for t in times[which]])
    which = which[_apart(edge, wide, height)]
    lines, edge = framed(which)
    ids, text = first[which], tuple(f"×{int(t):,}" for t in times[which])
    wide = np.array([(0.5 * len(t) + 0.5) * height for t in text])
    # Beside the frame: across it, they would lie on the names of the level that ends there.
    y, z = wall.fold.inside(np.array([0.0, 1.0]))
    edge += _BESIDE * height * np.array([0.0, y[1] - y[0], z[1] - z[0]])
    edge += wall.fold.clear(height / 2, 0.02)
    tags, words = plates(wall, text, edge, wide, height, ids, width[which], pen)
    return [lines, tags], words


def _apart(middle: Floats, wide: Floats, height: float) -> Ints:
    """Return which plates lie on none of those before them."""
    kept: list[int] = []
    for i in range(len(middle)):
        beside = np.abs(middle[kept, 0] - middle[i, 0]) >= (wide[kept] + wide[i]) / 2
        above = np.abs(middle[kept, 1:] - middle[i, 1:]).max(axis=1, initial=0.0) >= height
        if (beside | above).all():
            kept.append(i)
    return np.array(kept, np.int64)
