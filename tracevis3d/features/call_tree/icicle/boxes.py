"""The boxes of an icicle: of calls, and of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Boxes
from ....layout.cut import Cut
from ....layout.icicle import place_boxes
from ....layout.scales import Scale
from ....views.calls.colors import Coloring
from ....views.calls.measures import Measure
from ....views.time_window import WIDTH
from .layout import Layout

if TYPE_CHECKING:
    from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def measured(shown: Measure | None, p: Parameters, cut: Cut) -> tuple[Scale, Floats, Floats]:
    """Return the scale of the measure, and its values for calls and clusters.

    Parameters
    ----------
    shown : Measure or None
        The measure; None: all boxes are equally thick.
    p : Parameters
        ``scale`` says how it maps to thickness.
    cut : Cut
        The calls and clusters that are drawn.

    Returns
    -------
    (Scale, float64 (calls,), float64 (clusters,))
    """
    if shown is None:
        return Scale("linear", 0.0, 0.0), np.zeros(len(cut.calls)), np.zeros(len(cut.clusters))
    calls, clusters = shown.calls(cut.calls), shown.clusters(cut.clusters)
    kind: Any = shown.scale if p.scale == "auto" else p.scale
    return Scale.over(kind, np.concatenate([calls, clusters])), calls, clusters


def call_boxes(picture: Layout, cut: Cut, colors: Coloring, share: Floats) -> Boxes:
    """Return the boxes of the calls of ``cut``; ``share`` (n,) is how thick each is, 0 to 1.

    Parameters
    ----------
    picture : Layout
    cut : Cut
        The calls that are drawn.
    colors : Coloring
        Of calls.
    share : float64 (n,)
        How thick each is, 0 to 1.

    Returns
    -------
    Boxes
    """
    calls, ids = picture.trace.calls, cut.calls
    level = calls.depth[ids].astype(np.int64) - picture.first_depth
    top = cut.deepest(calls) - picture.first_depth
    return _boxes(
        picture,
        "call",
        calls.start[ids],
        calls.end[ids],
        level,
        top,
        calls.thread[ids],
        share,
        colors.of(ids),
        len(colors.palette),
        ids,
        cut.merged + 1 if cut.step > 1 else None,
    )


def cluster_boxes(picture: Layout, cut: Cut, colors: Coloring, share: Floats) -> Boxes:
    """Return the boxes of the clusters of ``cut``; ``share`` (c,) is how thick each is, 0 to 1.

    Parameters
    ----------
    picture : Layout
    cut : Cut
        The clusters that are drawn.
    colors : Coloring
        Of calls; a cluster has that of its longest one.
    share : float64 (c,)
        How thick each is, 0 to 1.

    Returns
    -------
    Boxes
    """
    c = cut.clusters
    low = c.depth.astype(np.int64) - picture.first_depth
    high = c.bottom.astype(np.int64) - picture.first_depth
    return _boxes(
        picture,
        "cluster",
        c.start,
        c.end,
        low,
        high,
        c.thread,
        share,
        colors.of(c.longest),
        len(colors.palette),
        c.longest,
        c.calls,
    )


def _boxes(
    picture: Layout, kind: str, start: Ints, end: Ints, low_level: Ints, high_level: Ints,
    thread: NDArray[np.int32], share: Floats, color: NDArray[np.int32], colors: int,
    ids: Ints, count: Ints | None = None,
) -> Boxes:  # fmt: skip
    low, size = place_boxes(
        start, end, low_level, high_level, picture.lane_of[thread], picture.plate + picture.reach * share,
        picture.lanes, window=picture.window, width=WIDTH, gap=picture.parameters.gap,
    )  # fmt: skip
    if picture.apart:
        low[:, 1] -= picture.apart * color / max(colors - 1, 1)
    span = float(max(picture.window[1] - picture.window[0], 1))
    time = np.empty((len(start), 2), np.float32)
    time[:, 0] = np.clip((start - picture.window[0]) / span, 0.0, 1.0)
    time[:, 1] = np.clip((end - picture.window[0]) / span, 0.0, 1.0)
    look: Any = "solid" if kind == "call" else "cluster"
    many = np.empty(0, np.int64) if count is None else count
    return Boxes(kind, low, size, color, ids, time, look, count=many, window=picture.window)
