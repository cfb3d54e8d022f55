"""Names on the boxes of an icicle: on their fronts, and on their tops where fronts are too low."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Boxes, Labels
from ....layout.icicle import widest_gaps
from ....trace.model import Trace
from .layout import CHARACTER, Layout

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def names_on_fronts(picture: Layout, boxes: Boxes, clusters: Boxes, most: int) -> Labels:
    """Return the functions' names for the widest boxes, on their front faces.

    Parameters
    ----------
    picture : Layout
    boxes : Boxes
        Of calls and clusters.
    clusters : Boxes
        Those of clusters.
    most : int
        How many names.

    Returns
    -------
    Labels
    """
    trace = picture.trace
    height = np.minimum(0.74 * boxes.size[:, 2], max(picture.text, picture.line))
    fits = (height * picture.pixels_per_unit >= picture.least_text) & (boxes.size[:, 0] >= 2.2 * height)
    which = np.flatnonzero(fits)
    if len(which) > most:
        which = which[np.argpartition(-boxes.size[which, 0], most - 1)[:most]] if most else which[:0]
    which = which[np.argsort(-boxes.size[which, 0], kind="stable")]
    hidden = _hidden_by_neighbours(picture, boxes, clusters, which)
    seen = boxes.size[which, 0] - hidden.sum(axis=1) >= 2.2 * height[which]
    which, hidden = which[seen], hidden[seen]
    height = height[which]
    anchor = boxes.low[which].copy()
    inset = np.minimum(0.35 * height, 0.06)
    anchor[:, 0] += inset + hidden[:, 0]
    anchor[:, 1] -= 0.004
    anchor[:, 2] += boxes.size[which, 2] / 2
    function = trace.calls.function[boxes.id[which]]
    label = {f: trace.functions.label[f] for f in np.unique(function).tolist()}
    return Labels(
        "function",
        tuple(label[f] for f in function.tolist()),
        anchor,
        height,
        boxes.size[which, 0] - 2 * inset - hidden.sum(axis=1),
        boxes.size[which, 0].copy(),
        align=-1,
        background=boxes.color[which],
    )


def _hidden_by_neighbours(
    picture: Layout, boxes: Boxes, clusters: Boxes, which: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return how much thicker neighbours hide of the left and right ends of the fronts ``which``, (n, 2).

    The camera sees past what is on its side at a slant. Only boxes on the same level count.
    """
    hidden = np.zeros((len(which), 2), np.float32)
    x, y, _ = picture.camera.direction
    if abs(x) < 1e-3 or abs(y) < 1e-3 or not len(which):
        return hidden
    low = np.concatenate([boxes.low, clusters.low]).astype(np.float64)
    size = np.concatenate([boxes.size, clusters.size])
    near, far = low[:, 0], low[:, 0] + size[:, 0]
    if x > 0:
        near, far = -far, -near
    # Rounded, so that a box without width at another's end comes before it.
    order = np.lexsort((far, np.round(near, 4), low[:, 2]))
    # The shadow of each box on the back plane; the shadow of all boxes before it is the farthest of theirs.
    depth = size[order, 1] * abs(x / y)
    apart = 1e3 * np.cumsum(np.diff(low[order, 2], prepend=low[order[0], 2]) != 0)  # keeps levels apart
    furthest = np.maximum.accumulate(far[order] + depth + apart)
    covered = np.empty(len(order))
    covered[order] = np.append(-np.inf, furthest[:-1]) - apart - depth - near[order]
    hidden[:, 0 if x < 0 else 1] = np.maximum(covered[which], 0)
    return hidden


def names_on_tops(picture: Layout, boxes: Boxes, clusters: Boxes, most: int) -> Labels:
    """Return names for boxes too low for a text on their front, where their tops are free.

    That is on the step before the thickest box that stands on it, or between two of them. Only for a
    measure that never grows towards the leaves: then nothing reaches out over a top.

    Parameters
    ----------
    picture : Layout
    boxes : Boxes
        Of calls and clusters.
    clusters : Boxes
        Those of clusters.
    most : int
        How many names.

    Returns
    -------
    Labels
    """
    trace = picture.trace
    slant = max(picture.camera.direction[2], 0.0)
    # The far end of the wall is a little smaller than the near one, for which pixels are known.
    least = 1.15 * picture.least_text / (picture.pixels_per_unit * max(slant, 1e-6))
    low_front = 0.74 * boxes.size[:, 2] * picture.pixels_per_unit < picture.least_text
    which = np.flatnonzero(low_front & (boxes.size[:, 0] > 4 * picture.text))
    which = which[np.argsort(-boxes.size[which, 0], kind="stable")][: max(most, 0)]
    which = which[np.argsort(boxes.id[which])]
    left = boxes.low[which, 0].astype(np.float64)
    width, thick = boxes.size[which, 0].astype(np.float64), boxes.size[which, 1].astype(np.float64)
    owners, standing = _standing_on(trace, boxes.id[which], (boxes, clusters))
    front = np.zeros(len(which))
    np.maximum.at(front, owners, standing[:, 2])
    gap_left, gap_right = widest_gaps(left, left + width, owners, standing[:, 0], standing[:, 1])
    # A box left (or right) of a gap hides a little of it from a camera on that side.
    sine = picture.camera.direction[0]
    hidden = 0.5 * thick * abs(sine)
    gap_left, gap_right = gap_left + hidden * (sine < 0), gap_right - hidden * (sine > 0)
    text = [trace.functions.label[f] for f in trace.calls.function[boxes.id[which]].tolist()]
    length = np.array([len(t) for t in text], np.float64) * CHARACTER
    places = []
    for at, room, depth, y in (
        (left, width, thick - front, -(front + thick) / 2),
        (gap_left, gap_right - gap_left, thick, -thick / 2),
    ):
        height = np.minimum(0.8 * depth, 1.7 * picture.text)
        # Names are made smaller rather than shortened, but stay readable.
        small = np.maximum((room - height) / np.maximum(length, 1.0), least)
        height = np.where((height >= least) & (room > 4 * least), np.minimum(height, small), 0.0)
        places.append(np.stack([at + 0.5 * height, room - height, height, y], axis=1))
    best = np.where((places[1][:, 2] > places[0][:, 2])[:, None], places[1], places[0])
    kept = np.flatnonzero(best[:, 2] > 0)
    best, which = best[kept], which[kept]
    anchor = np.empty((len(which), 3), np.float32)
    anchor[:, 0] = best[:, 0]
    anchor[:, 1] = boxes.low[which, 1] + boxes.size[which, 1] + best[:, 3]
    anchor[:, 2] = boxes.low[which, 2] + boxes.size[which, 2]
    return Labels(
        "function",
        tuple(text[i] for i in kept.tolist()),
        anchor,
        best[:, 2].astype(np.float32),
        (best[:, 1] * 1.1).astype(np.float32),
        boxes.size[which, 0].copy(),
        align=-1,
        up=(0.0, 1.0, 0.0),
        background=boxes.color[which],
    )


def _standing_on(trace: Trace, owner: Ints, groups: Sequence[Boxes]) -> tuple[Ints, Floats]:
    """Return which boxes stand on those of the calls ``owner`` (sorted).

    Returns
    -------
    place : int64 (m,)
        Index into ``owner``.
    extent : float64 (m, 3)
        Left, right and thickness of the box that stands there.
    """
    places, extents = [], []
    for boxes in groups:
        parent = trace.calls.parent[boxes.id]
        place = np.minimum(np.searchsorted(owner, parent), max(len(owner) - 1, 0))
        hit = np.flatnonzero(owner[place] == parent) if len(owner) else np.empty(0, np.int64)
        places.append(place[hit])
        low, size = boxes.low[hit].astype(np.float64), boxes.size[hit].astype(np.float64)
        extents.append(np.stack([low[:, 0], low[:, 0] + size[:, 0], size[:, 1]], axis=1))
    return np.concatenate(places), np.concatenate(extents)
