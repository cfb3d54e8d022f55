"""Spans of services, which may overlap, on lanes."""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel


@kernel
def count_ancestors(parent, path, depth):  # type: ignore[no-untyped-def]
    """Count the ancestors of each span; those in a circle end there.

    Parameters
    ----------
    parent : int64 (n,)
        -1: none.
    path : int64 (n,)
        Working space.
    depth : int64 (n,)
        -1 before; filled.
    """
    for row in range(len(parent)):
        many = np.int64(0)
        at = np.int64(row)
        while at >= 0 and depth[at] < 0:
            depth[at] = 0
            path[many] = at
            many += 1
            at = parent[at]
        above = np.int64(-1)
        if many > 0 and at >= 0 and path[many - 1] != at:
            above = depth[at]
        while many > 0:
            many -= 1
            above += 1
            depth[path[many]] = above


@inline
def _ended(lane, now, start, end, top, below, events, written):  # type: ignore[no-untyped-def]
    """End what is open on a lane and does not go on; return how many events there are."""
    while top[lane] >= 0:
        row = top[lane]
        if end[row] > now or (start[row] == now and end[row] == now):
            break
        events[written] = -1 - row
        written += 1
        top[lane] = below[row]
    return written


@inline
def _sink(heap, count, value, keys, more):  # type: ignore[no-untyped-def]
    """Put a value at the root of a heap and let it sink; ``keys`` and ``more`` order its items."""
    at = np.int64(0)
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count:
            one, two = heap[child], heap[child + 1]
            if keys[two] < keys[one] or (keys[two] == keys[one] and more[two] < more[one]):
                child += 1
        low = heap[child]
        if not (keys[low] < keys[value] or (keys[low] == keys[value] and more[low] < more[value])):
            break
        heap[at] = low
        at = child
    heap[at] = value


@inline
def _rise(heap, count, value, keys, more):  # type: ignore[no-untyped-def]
    """Put a value behind the items of a heap and let it rise."""
    at = np.int64(count)
    while at > 0:
        above = (at - 1) // 2
        high = heap[above]
        if not (keys[value] < keys[high] or (keys[value] == keys[high] and more[value] < more[high])):
            break
        heap[at] = high
        at = above
    heap[at] = value


@kernel
def lay_spans(  # type: ignore[no-untyped-def]
    order, bounds, start, end, parent, service, lane, is_free, is_short, numbers,
    top, below, busy, free, waiting, events,
):  # fmt: skip
    """Put each span inside its parent, or on the first lane of its service on which nothing continues.

    Parameters
    ----------
    order : int64 (n,)
        The spans of the first service, of the second and so on: those of each in the order of their begins.
    bounds : int64 (services + 1,)
        Where those of each begin.
    start, end, parent, service : int64 (n,)
        By span; -1: it has no parent.
    lane : int64 (n,)
        -1 before; filled: the number of each span's lane in its service.
    is_free : bool (n,)
        False before; filled: whether the span is not inside another one.
    is_short : int64 (n,)
        Whether a span takes no time.
    numbers : int64 (n,)
        Those from 0 on.
    top, below, busy, free, waiting : int64 (n,)
        Working space: the innermost open span of each lane, the one that each lies in, heaps of open spans
        and of free lanes, and lanes on which a span that takes no time is at the present moment.
    events : int64 (2 * n,)
        Filled: spans that begin, and ``-1 - span`` of those that end.
    """
    written = np.int64(0)
    for number in range(len(bounds) - 1):
        lanes, n_busy, n_free = np.int64(0), np.int64(0), np.int64(0)
        n_waiting, moment = np.int64(0), np.int64(-1)
        for position in range(bounds[number], bounds[number + 1]):
            row = order[position]
            now = start[row]
            outer = parent[row]
            chosen = np.int64(-1)
            if outer >= 0 and lane[outer] >= 0 and service[outer] == service[row] and end[row] <= end[outer]:
                there = lane[outer]
                written = _ended(there, now, start, end, top, below, events, written)
                if top[there] == outer:
                    chosen = there
            if chosen < 0:
                is_free[row] = True
                if now > moment:
                    for one in range(n_waiting):
                        _rise(free, n_free, waiting[one], numbers, numbers)
                        n_free += 1
                    n_waiting, moment = np.int64(0), now
                # Those that have ended before, but not at once, with when they began.
                while n_busy > 0 and (end[busy[0]] < now or (end[busy[0]] == now and is_short[busy[0]] == 0)):
                    _rise(free, n_free, lane[busy[0]], numbers, numbers)
                    n_free += 1
                    n_busy -= 1
                    _sink(busy, n_busy, busy[n_busy], end, is_short)
                while n_free > 0 and chosen < 0:
                    one = free[0]
                    n_free -= 1
                    _sink(free, n_free, free[n_free], numbers, numbers)
                    written = _ended(one, now, start, end, top, below, events, written)
                    if top[one] < 0:
                        chosen = one
                    else:
                        waiting[n_waiting] = one
                        n_waiting += 1
                if chosen < 0:
                    chosen = lanes
                    top[chosen] = -1
                    lanes += 1
                _rise(busy, n_busy, row, end, is_short)
                n_busy += 1
            lane[row] = chosen
            below[row] = top[chosen]
            top[chosen] = row
            events[written] = row
            written += 1
        for one in range(lanes):
            while top[one] >= 0:
                events[written] = -1 - top[one]
                written += 1
                top[one] = below[top[one]]
