"""The level-of-detail index: calls level by level, and the cut through them that a view can show.

Words used here: a *position* is a call's place when the calls of a thread are sorted by depth, then by
start; a *level* is the run of positions of one thread and depth. Siblings lie side by side, and so do
their children, one level on: the children of the call at ``p`` are ``[child[p], child[p + 1])``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inline, kernel


@kernel
def sort_levels(
    depth: Any,
    start: Any,
    end: Any,
    thread_first: Any,
    thread_count: Any,
    thread_level: Any,
    cursor: Any,
    reach: Any,
    level_first: Any,
    order: Any,
    begin: Any,
    length: Any,
    child: Any,
    bottom: Any,
) -> None:
    """Sort the calls of each thread by depth, keeping their order: the levels of the index.

    Parameters
    ----------
    depth : int32 (n,)
    start, end : int64 (n,)
    thread_first, thread_count : int64 (t,)
        The calls of each thread.
    thread_level : int64 (t + 1,)
        Where each thread's entries in ``level_first`` start: one more than it has levels.
    cursor, reach : int64 (deepest + 2,)
        Working space.
    level_first : int64
        Zero; filled: first position of each level of each thread, then the thread's end.
    order : int32 (n,)
        Filled: call at each position.
    begin : int64 (n,)
        Filled: start of the call at each position.
    length : float32 (n,)
        Filled: its duration, rounded.
    child : int32 (n + 1,)
        Filled: position of its first child, or where it would be.
    bottom : int32 (n,)
        Filled: depth of the deepest call in its subtree.
    """
    position: Any = 0
    for t in range(len(thread_first)):
        low = thread_first[t]
        high = low + thread_count[t]
        base = thread_level[t]
        levels = thread_level[t + 1] - base - 1
        for i in range(low, high):
            level_first[base + depth[i]] += 1
        level_first[base] = position
        for level in range(1, levels + 1):
            cursor[level] = level_first[base + level - 1]
            level_first[base + level] += cursor[level]
        position = level_first[base + levels]
        cursor[levels + 1] = position
        height: Any = 0
        for i in range(low, high):
            d = np.int64(depth[i])
            while height >= d:
                bottom[cursor[height] - 1] = reach[height]
                reach[height - 1] = max(reach[height - 1], reach[height])
                height -= 1
            height = d
            reach[d] = d
            p = cursor[d]
            cursor[d] = p + 1
            order[p] = i
            begin[p] = start[i]
            length[p] = np.float32(end[i] - start[i])
            child[p] = cursor[d + 1]
        while height >= 1:
            bottom[cursor[height] - 1] = reach[height]
            reach[height - 1] = max(reach[height - 1], reach[height])
            height -= 1
    child[len(order)] = position


@kernel
def sum_up(
    runs: Any,
    length: Any,
    bottom: Any,
    peak_first: Any,
    peak_longest: Any,
    peak_bottom: Any,
    peak_total: Any,
    longest: Any,
    deepest: Any,
    total: Any,
) -> None:
    """Find what a cluster says of the positions in its run, in time that follows their number's logarithm.

    Parameters
    ----------
    runs : int64 (c, 3)
        As :func:`cut_levels` fills them.
    length, bottom, peak_first, peak_longest, peak_bottom, peak_total
        The index.
    longest : int64 (c,)
    deepest : int32 (c,)
    total : float64 (c,)
        Filled: the first of the longest positions, the greatest bottom, the sum of the lengths.
    """
    for i in range(len(runs)):
        x = runs[i, 0]
        high = runs[i, 1]
        best: Any = x
        reach: Any = np.int64(0)
        covered = 0.0
        while x < high:
            # The largest block of 16, 256, ... positions that starts here and lies within.
            size = 1
            storey = 0
            while x & (16 * size - 1) == 0 and x + 16 * size <= high:
                size *= 16
                storey += 1
            candidate: Any = x
            if storey > 0:
                block = peak_first[storey - 1] + x // size
                candidate = np.int64(peak_longest[block])
                reach = max(reach, np.int64(peak_bottom[block]))
                covered += peak_total[block]
            else:
                reach = max(reach, np.int64(bottom[x]))
                covered += length[x]
            if length[candidate] > length[best]:
                best = candidate
            x += size
        longest[i] = best
        deepest[i] = reach
        total[i] = covered


@inline
def first_from(begin: Any, low: Any, high: Any, time: Any) -> Any:
    """Return the first position in ``[low, high)`` that begins at ``time`` or later.

    Parameters
    ----------
    begin : int64 (n,)
        Of the positions; it ascends in ``[low, high)``.
    low, high, time : int

    Returns
    -------
    int
        ``high`` if there is none.
    """
    while low < high:
        middle = (low + high) >> 1
        if begin[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def clip(low: Any, high: Any, t0: Any, t1: Any, begin: Any, order: Any, end: Any) -> Any:
    """Return the part of the positions ``[low, high)`` of one level that the window meets.

    Parameters
    ----------
    low, high : int
    t0, t1 : int
        The window, in nanoseconds.
    begin, order : int64 (n,), int32 (n,)
        The index.
    end : int64 (n,)
        Of the calls.

    Returns
    -------
    low, high : int
    """
    if low < high and begin[low] < t0:
        q = first_from(begin, low, high, t0)
        # Of the calls that began before the window, only the last can reach into it.
        low = q - 1 if end[order[q - 1]] >= t0 else q
    if low < high and begin[high - 1] >= t1:
        high = first_from(begin, low, high, t1)
    return low, high


@inline
def is_wide(p: Any, resolution: Any, rounded: Any, begin: Any, length: Any, order: Any, end: Any) -> Any:
    """Return whether the call at a position is at least ``resolution`` long; exact.

    Parameters
    ----------
    p : int
    resolution : int
        Nanoseconds.
    rounded : float32
        The same.
    begin, length, order : int64 (n,), float32 (n,), int32 (n,)
        The index.
    end : int64 (n,)
        Of the calls.

    Returns
    -------
    bool
    """
    if length[p] != rounded:
        return length[p] > rounded
    return end[order[p]] - begin[p] >= resolution


@inline
def count_below(
    low: Any,
    high: Any,
    levels: Any,
    t0: Any,
    t1: Any,
    begin: Any,
    order: Any,
    child: Any,
    end: Any,
) -> Any:
    """Return how many calls of the subtrees at ``[low, high)``, down to ``levels`` below, the window meets.

    Parameters
    ----------
    low, high, levels : int
    t0, t1 : int
        The window, in nanoseconds.
    begin, order, child : int64 (n,), int32 (n,), int32 (n + 1,)
        The index.
    end : int64 (n,)
        Of the calls.

    Returns
    -------
    int
    """
    total = high - low
    for _ in range(levels):
        low, high = clip(np.int64(child[low]), np.int64(child[high]), t0, t1, begin, order, end)
        if low >= high:
            break
        total += high - low
    return total


@kernel
def cut_levels(
    threads: Any,
    t0: Any,
    t1: Any,
    depth0: Any,
    depth1: Any,
    resolution: Any,
    row: Any,
    end: Any,
    extent: Any,
    thread_level: Any,
    level_first: Any,
    order: Any,
    begin: Any,
    length: Any,
    child: Any,
    shown: Any,
    runs: Any,
) -> tuple[int, int]:
    """Find the calls and the clusters that a window shows; see :meth:`.layout.cut.CutIndex.cut`.

    Each level, or the first of each ``row`` levels, is traversed once, under the calls shown one row
    below. Calls that are too short are passed in leaps of one ``resolution``: what both begins
    and ends within a leap is short, and so are the gaps there.

    Parameters
    ----------
    threads : int64 (k,)
    t0, t1, depth0, depth1, resolution, row : int
    end, extent : int64 (n,)
        Of the calls.
    thread_level, level_first, order, begin, length, child
        The index.
    shown : int64 (v,)
        Filled: positions of the calls that are shown.
    runs : int64 (c, 3)
        Filled: a cluster's first position, the one after its last, and its number of calls.

    Returns
    -------
    visible, clusters : int
        How many there are; if a buffer is too small, one of them is more than the buffer holds.
    """
    rounded = np.float32(resolution)
    visible = 0
    clusters = 0
    for t in threads:
        base = thread_level[t]
        levels = thread_level[t + 1] - base - 1
        last_depth = min(depth1, levels)
        above = visible  # the calls shown one level up: shown[above:here]
        for depth in range(depth0, last_depth + 1, row):
            here = visible
            ranges = 1 if depth == depth0 else here - above
            run: Any = np.int64(-1)  # first position of the open run of short calls
            run_stop: Any = np.int64(-1)
            run_calls: Any = 0
            walk = False  # whether they are to be counted level by level
            # Otherwise they are whole subtrees of siblings, which are contiguous in pre-order.
            limited = row > 1 or depth1 < levels or (depth == depth0 and depth > 1)
            for r in range(ranges + 1):
                p: Any = 0
                stop: Any = 0
                if r == ranges:
                    pass  # an empty range at the end closes the last run
                elif depth == depth0:
                    p = level_first[base + depth - 1]
                    stop = level_first[base + depth]
                else:
                    parent = shown[above + r]
                    p = np.int64(child[parent])
                    stop = np.int64(child[parent + 1])
                    more = row - 1
                    while more > 0 and p < stop:
                        p = np.int64(child[p])
                        stop = np.int64(child[stop])
                        more -= 1
                if r == 0 or r == ranges - 1:
                    p, stop = clip(p, stop, t0, t1, begin, order, end)
                while p < stop or (r == ranges and run >= 0):
                    wide = r < ranges and is_wide(p, resolution, rounded, begin, length, order, end)
                    if run >= 0 and (
                        wide
                        or p != run_stop
                        or (
                            begin[p] - begin[run_stop - 1] >= resolution
                            and begin[p] - end[order[run_stop - 1]] >= resolution
                        )
                    ):
                        if clusters == len(runs):
                            return visible, clusters + 1
                        if walk:
                            run_calls = count_below(
                                run, run_stop, last_depth - depth, t0, t1, begin, order, child, end
                            )
                        runs[clusters, 0] = run
                        runs[clusters, 1] = run_stop
                        runs[clusters, 2] = run_calls
                        clusters += 1
                        run = np.int64(-1)
                    if r == ranges:
                        break
                    if wide:
                        if visible == len(shown):
                            return visible + 1, clusters
                        shown[visible] = p
                        visible += 1
                        p += 1
                        continue
                    # Galloping, then binary search for the first one that begins a resolution later.
                    low = p
                    step = 1
                    while low + step < stop and begin[low + step] - begin[p] < resolution:
                        low += step
                        step *= 2
                    q = first_from(begin, low + 1, min(low + step, stop), begin[p] + resolution)
                    if q - 1 > p and is_wide(q - 1, resolution, rounded, begin, length, order, end):
                        q -= 1
                    if run < 0:
                        run = p
                        run_calls = 0
                        walk = False
                    run_stop = q
                    last = order[q - 1]
                    if limited or begin[p] < t0 or (q == stop and end[last] >= t1):
                        walk = True
                    else:
                        run_calls += last + extent[last] - order[p]
                    p = q
            above = here
            if above == visible:
                break
    return visible, clusters


@kernel
def count_rows(
    shown: Any,
    levels: Any,
    t0: Any,
    t1: Any,
    begin: Any,
    order: Any,
    child: Any,
    end: Any,
    merged: Any,
) -> None:
    """Count the calls of the window that the call at each position of ``shown`` has in the levels above it.

    Parameters
    ----------
    shown : int64 (v,)
    levels : int64 (v,)
        How many levels above each count.
    t0, t1 : int
    begin, order, child
        The index.
    end : int64 (n,)
        Of the calls.
    merged : int64 (v,)
        Filled.
    """
    for i in range(len(shown)):
        p = shown[i]
        merged[i] = count_below(p, p + 1, levels[i], t0, t1, begin, order, child, end) - 1
