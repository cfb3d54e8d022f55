"""Where the boxes of an icicle plot go: time along x, stack depth along z, a measure towards the reader.

The plot is that of TraceDiff (section IV-C) and SyncTrace (section IV-A): a call's box is as wide as the
call is long, and stands on its caller's. Here each box also has a thickness, and threads stand on terraces.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..kernels.run_sums import sum_runs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Free height above a folded lane, as a share of that above others.
_FOLDED_GAP = 0.2


@dataclass(frozen=True, eq=False)
class Lanes:
    """Where the lanes of threads lie; lane 0 is the lowest, and nearest to the reader.

    Attributes
    ----------
    floor : float64 (n,)
        z of the lower side of the lane's first level.
    height : float64 (n,)
        Room of the lane: its levels, or more where a lane with few levels needs it for its name.
    back : float64 (n,)
        y of the plane that the lane's boxes stand against.
    edge : float64 (levels + 1,)
        Height above the floor at which each level begins; the last is the top of the last level.
    share : float64 (n,) or (0,)
        What all heights of a lane are multiplied by: less than 1 where it is folded; empty: 1 everywhere.

    Examples
    --------
    >>> Lanes(np.array([0.0, 3.0]), np.array([2.0, 2.5]), np.zeros(2), np.array([0.0, 1.0, 2.0])).top
    5.5
    """

    floor: Floats
    height: Floats
    back: Floats
    edge: Floats
    share: Floats = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.floor)

    @property
    def top(self) -> float:
        """Return the upper end of the topmost lane."""
        return float(self.floor[-1] + self.height[-1]) if len(self) else 0.0


def level_heights(cover: Floats, taper: float) -> Floats:
    """Return relative heights of levels, 1 for the highest.

    Parameters
    ----------
    cover : float64 (levels,)
        How much time is spent in each level, in any unit.
    taper : float
        0 makes all levels equally high, 1 makes heights proportional to ``cover``, but never less than a
        twentieth of the highest.

    Returns
    -------
    float64 (levels,)

    Examples
    --------
    >>> import numpy as np
    >>> level_heights(np.array([100.0, 25.0, 0.0]), 1.0).tolist()
    [1.0, 0.25, 0.05]
    """
    if not len(cover) or cover.max() <= 0:
        return np.ones(len(cover))
    return np.asarray(np.maximum(cover / cover.max(), 0.05) ** taper)


def stack_lanes(
    levels: Ints,
    heights: Floats,
    *,
    total: float,
    highest: float,
    least: float,
    spacing: float,
    level: float = 0.0,
    folded: NDArray[np.bool_] | None = None,
    low: float = 0.0,
) -> Lanes:
    """Put lanes above each other.

    Parameters
    ----------
    levels : int64 (n,)
        Number of levels in each lane.
    heights : float64 (most levels,)
        Relative heights of the levels, as :func:`level_heights` returns them.
    total : float
        Height that all lanes together should have.
    highest : float
        A relative height of 1 is never more than this in scene units.
    least : float
        Least height of a lane.
    spacing : float
        Free height between two lanes, in levels of relative height 1.
    level : float
        Height of a level of relative height 1; 0: as ``total`` allows.
    folded : bool (n,), optional
        Lanes whose levels are squeezed together; none if left out.
    low : float
        Height of a folded lane, unless its levels take less as they are.

    Returns
    -------
    Lanes
        All against the plane y = 0.

    Examples
    --------
    Two lanes of two levels and one level, with half a level between them:

    >>> import numpy as np
    >>> lanes = stack_lanes(
    ...     np.array([2, 1]), np.ones(2), total=7.0, highest=9.0, least=0.0, spacing=0.5
    ... )
    >>> lanes.floor.round(6).tolist(), lanes.height.round(6).tolist()
    ([0.0, 5.0], [4.0, 2.0])
    """
    edge = np.concatenate([[0.0], np.cumsum(heights)])
    own = edge[np.minimum(levels, len(heights))]
    closed = np.zeros(len(levels), np.bool_) if folded is None else folded
    gaps = spacing * np.where(closed, _FOLDED_GAP, 1.0)

    def heights_of(unit: float) -> Floats:
        most = np.where(closed, np.minimum(own * unit, low), own * unit)
        return np.asarray(np.maximum(most, least))

    unit = level
    if not unit:
        short, unit = 0.0, highest
        if heights_of(unit).sum() + gaps[:-1].sum() * unit > total:
            high = highest
            for _ in range(50):
                unit = (short + high) / 2
                if heights_of(unit).sum() + gaps[:-1].sum() * unit > total:
                    high = unit
                else:
                    short = unit
    height = heights_of(unit)
    floor = np.concatenate([[0.0], np.cumsum(height + gaps * unit)])[:-1]
    share = np.minimum(height / np.maximum(own * unit, 1e-12), 1.0) if closed.any() else np.empty(0)
    return Lanes(floor, height, np.zeros(len(levels)), edge * unit, share)


def time_to_x(time: Ints, start: int, end: int, width: float) -> NDArray[np.float32]:
    """Return the x of times in a window.

    Parameters
    ----------
    time : int64 (n,)
        Nanoseconds.
    start, end : int
        The window, nanoseconds.
    width : float
        Width of the window in scene units.

    Returns
    -------
    float32 (n,)
        0 to ``width``; times outside the window are clipped to it.

    Examples
    --------
    >>> import numpy as np
    >>> time_to_x(np.array([0, 50, 500]), 0, 100, 16.0).tolist()
    [0.0, 8.0, 16.0]
    """
    share = (np.clip(time, start, end) - start) / float(max(end - start, 1))
    return np.asarray(share * width, np.float32)


def place_boxes(
    start: Ints,
    end: Ints,
    low_level: Ints,
    high_level: Ints,
    lane: Ints,
    thickness: Floats,
    lanes: Lanes,
    *,
    window: tuple[int, int],
    width: float,
    gap: float,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return ``low`` and ``size`` of boxes.

    Parameters
    ----------
    start, end : int64 (n,)
        Nanoseconds; clipped to the window.
    low_level, high_level : int64 (n,)
        First and last level that the box fills, from 0; equal for a call.
    lane : int64 (n,)
    thickness : float64 (n,)
        Extent towards the reader from the lane's back plane.
    lanes : Lanes
    window : (int, int)
        Nanoseconds.
    width : float
        Width of the window in scene units.
    gap : float
        Share of a level's height that stays free above a box, 0 to 1. There is never a gap along x: width
        is duration.

    Returns
    -------
    low, size : float32 (n, 3)

    Examples
    --------
    A call from 25 to 75 ns, on the second level of a lane:

    >>> import numpy as np
    >>> lanes = Lanes(np.zeros(1), np.full(1, 2.0), np.zeros(1), np.array([0.0, 1.0, 2.0]))
    >>> start, end, level, lane = np.array([[25], [75], [1], [0]])
    >>> low, size = place_boxes(
    ...     start, end, level, level, lane, np.array([3.0]), lanes, window=(0, 100), width=16.0, gap=0.0
    ... )
    >>> low.tolist(), size.tolist()
    ([[4.0, -3.0, 1.0]], [[8.0, 3.0, 1.0]])
    """
    left = time_to_x(start, *window, width)
    low = np.empty((len(start), 3), np.float32)
    extent = np.empty((len(start), 3), np.float32)
    low[:, 0] = left
    # From the duration itself, not from two rounded ends: width is duration, exactly.
    inside = np.minimum(end, window[1]) - np.maximum(start, window[0])
    extent[:, 0] = np.maximum(inside, 0) * (width / float(max(window[1] - window[0], 1)))
    last = len(lanes.edge) - 1
    bottom = lanes.edge[np.minimum(low_level, last)]
    top = lanes.edge[np.minimum(high_level + 1, last)]
    below = lanes.edge[np.minimum(high_level, last)]
    share = lanes.share[lane] if len(lanes.share) else 1.0
    low[:, 2] = lanes.floor[lane] + share * bottom
    extent[:, 2] = share * (top - bottom - gap * (top - below))
    extent[:, 1] = thickness
    low[:, 1] = lanes.back[lane] - thickness
    return low, extent


def widest_gaps(
    start: Floats, end: Floats, owner: Ints, child_start: Floats, child_end: Floats
) -> tuple[Floats, Floats]:
    """Return for each owner the widest part of ``start``..``end`` that none of its children covers.

    Parameters
    ----------
    start, end : float64 (n,)
    owner : int64 (m,)
        Owner of each child, 0 to n - 1.
    child_start, child_end : float64 (m,)
        Children of one owner don't overlap.

    Returns
    -------
    gap_start, gap_end : float64 (n,)

    Examples
    --------
    >>> import numpy as np
    >>> begin, end = widest_gaps(
    ...     np.array([0.0]), np.array([10.0]), np.array([0, 0]), np.array([1.0, 7.0]), np.array([2.0, 9.0])
    ... )
    >>> begin.tolist(), end.tolist()
    ([2.0], [7.0])
    """
    n = len(start)
    # A child without width at each owner's end closes the last gap.
    whose = np.concatenate([owner, np.arange(n)])
    begins = np.concatenate([child_start, end])
    ends = np.concatenate([child_end, end])
    # Of children that begin together those without width come first.
    order = np.lexsort((ends, begins, whose))
    whose, begins, ends = whose[order], begins[order], ends[order]
    free_from = np.empty(len(whose))
    free_from[1:] = ends[:-1]
    first = np.ones(len(whose), np.bool_)
    first[1:] = whose[1:] != whose[:-1]
    free_from[first] = start[whose[first]]
    gap = np.maximum(begins - free_from, 0.0)
    widest = np.lexsort((gap, whose))
    last = np.ones(len(whose), np.bool_)
    last[:-1] = whose[1:] != whose[:-1]  # the order of owners is the same as before
    best = widest[last]
    return free_from[best], free_from[best] + gap[best]


def run_sums(first: Ints, stop: Ints, value: NDArray[np.float32]) -> Floats:
    """Return the sums of runs of values, such as those of the members of clusters.

    Parameters
    ----------
    first, stop : int64 (n,)
        The runs: positions in ``value``, as in :class:`.cut.Clusters`.
    value : float32 (m,)

    Returns
    -------
    float64 (n,)
        ``value[first[i]:stop[i]].sum()``, added in double precision. The cost is one step per member.

    Examples
    --------
    >>> import numpy as np
    >>> run_sums(np.array([0, 2]), np.array([2, 4]), np.array([1, 2, 3, 4], np.float32)).tolist()
    [3.0, 7.0]
    """
    out = np.empty(len(first), np.float64)
    sum_runs(np.ascontiguousarray(first), np.ascontiguousarray(stop), np.ascontiguousarray(value), out)
    return out
