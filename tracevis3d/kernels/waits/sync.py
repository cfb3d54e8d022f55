"""Waits and releases: which release ends which wait, who holds what when, and what calls spent waiting.

Rows are operations (waits, releases, I/O); a *key* is an object together with what is given and wanted of it.
"""

from __future__ import annotations

from typing import Any

from ..jit import inline, kernel

#: Open acquisitions of one object that are looked through for the one that a release ends.
MOST_OPEN = 64
#: Locks held at once by one thread that count for the order of locks.
MOST_HELD = 16


@kernel
def add_up(member: Any, parent: Any, start: Any, end: Any, total: Any) -> None:
    """Fill ``total`` with dur^x of each call (SyncTrace, Eq. 4).

    Parameters
    ----------
    member : uint8 (n,)
        1 for calls of S_x.
    parent, start, end : int64 (n,)
        Calls in an order in which parents come before their children.
    total : int64 (n,)
        Filled: the call's own duration where it is a member, else the sum of its children's totals.
    """
    for i in range(len(parent)):
        total[i] = 0
    for i in range(len(parent) - 1, -1, -1):
        if member[i] == 1:
            total[i] = end[i] - start[i]
        if parent[i] >= 0:
            total[parent[i]] += total[i]


@inline
def _first_at_least(time: Any, low: int, high: int, least: int) -> int:
    """Return the first index in ``[low, high)`` whose time is at least ``least``, or ``high``."""
    while low < high:
        middle = (low + high) // 2
        if time[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def link_others(first: Any, thread: Any, other: Any) -> None:
    """Find the last release before each one, of its key, by another thread.

    Parameters
    ----------
    first : int64 (keys + 1,)
        The releases of each key, by time.
    thread : int32 (m,)
        Who releases.
    other : int64 (m,)
        Filled; -1: none.
    """
    for key in range(len(first) - 1):
        for i in range(first[key], first[key + 1]):
            before = i - 1
            if before < first[key]:
                other[i] = -1
            elif thread[before] != thread[i]:
                other[i] = before
            else:
                other[i] = other[before]


@kernel
def find_releases(
    key: Any, start: Any, end: Any, thread: Any, first: Any, time: Any, release_thread: Any, other: Any,
    low: Any, high: Any, last: Any,
) -> int:  # fmt: skip
    """Find the releases within each wait (SyncTrace, Eq. 7), and the last of another thread.

    Parameters
    ----------
    key, start, end : int64 (n,)
        Of waits, one row for each object that a wait is for.
    thread : int32 (n,)
    first : int64 (keys + 1,)
        The releases of each key, by time.
    time : int64 (m,)
    release_thread : int32 (m,)
    other : int64 (m,)
        As :func:`link_others` fills it.
    low, high : int64 (n,)
        Filled: the releases in the wait are ``[low, high)``.
    last : int64 (n,)
        Filled: the last of these by another thread than the waiting one; -1: none.

    Returns
    -------
    int
        The number of pairs of a wait and a release.
    """
    pairs = 0
    for i in range(len(key)):
        a, b = first[key[i]], first[key[i] + 1]
        low[i] = _first_at_least(time, a, b, start[i])
        high[i] = _first_at_least(time, low[i], b, end[i] + 1)
        pairs += high[i] - low[i]
        j = high[i] - 1
        if j >= low[i] and release_thread[j] == thread[i]:
            j = other[j]
        last[i] = j if j >= low[i] else -1
    return pairs


@kernel
def list_pairs(low: Any, high: Any, wait: Any, release: Any) -> None:
    """List every i with every j in ``[low[i], high[i])``.

    Parameters
    ----------
    low, high : int64 (n,)
    wait, release : int64 (pairs,)
        Filled: i and j.
    """
    n = 0
    for i in range(len(low)):
        for j in range(low[i], high[i]):
            wait[n], release[n] = i, j
            n += 1


@kernel
def pair_holds(first: Any, thread: Any, release: Any, stack: Any, ends: Any) -> None:
    """Find where each acquisition of an object is released.

    Parameters
    ----------
    first : int64 (objects + 1,)
        The events of each object, by time; of events at one time releases come first.
    thread : int32 (n,)
    release : uint8 (n,)
        1: a release, 0: an acquisition (at the time at which it is done).
    stack : int64 (:data:`MOST_OPEN`,)
        Working space.
    ends : int64 (n,)
        Filled: for an acquisition the event that releases it, -1: none; for a release -1.
        A release ends the same thread's latest acquisition that is open, else the oldest one that is.
        Beyond :data:`MOST_OPEN` open ones the oldest are given up.
    """
    for k in range(len(first) - 1):
        n = 0
        for i in range(first[k], first[k + 1]):
            ends[i] = -1
            if release[i] == 0:
                if n == MOST_OPEN:
                    for j in range(1, n):
                        stack[j - 1] = stack[j]
                    n -= 1
                stack[n] = i
                n += 1
            elif n > 0:
                at = n - 1
                while at >= 0 and thread[stack[at]] != thread[i]:
                    at -= 1
                if at < 0:
                    at = 0
                ends[stack[at]] = i
                for j in range(at + 1, n):
                    stack[j - 1] = stack[j]
                n -= 1


@kernel
def lock_order(thread: Any, object_: Any, start: Any, end: Any, held: Any, outer: Any, inner: Any) -> int:
    """List the pairs of holds of one thread of which one begins within the other.

    Parameters
    ----------
    thread : int32 (n,)
        Holds, ordered by thread, then start.
    object_ : int32 (n,)
    start, end : int64 (n,)
    held : int64 (:data:`MOST_HELD`,)
        Working space.
    outer, inner : int64 (capacity,)
        Filled as far as they reach: holds of different objects. At most :data:`MOST_HELD` are held at once.

    Returns
    -------
    int
        How many pairs there are.
    """
    n = 0
    pairs = 0
    for i in range(len(thread)):
        if i > 0 and thread[i] != thread[i - 1]:
            n = 0
        kept = 0
        for j in range(n):
            if end[held[j]] > start[i]:
                held[kept] = held[j]
                kept += 1
        n = kept
        for j in range(n):
            if object_[held[j]] != object_[i]:
                if pairs < len(outer):
                    outer[pairs], inner[pairs] = held[j], i
                pairs += 1
        if n == MOST_HELD:
            for j in range(1, n):
                held[j - 1] = held[j]
            n -= 1
        held[n] = i
        n += 1
    return pairs


@kernel
def walk_back(
    thread: int, time: int, first: Any, start: Any, end: Any, waker: Any, woken_at: Any, begin: Any,
    parent: Any, born_at: Any, seen: Any, out: Any,
) -> int:  # fmt: skip
    """Follow what an end waited for, backwards in time.

    Parameters
    ----------
    thread, time : int
        The end.
    first : int64 (threads + 1,)
        The blocked waits of each thread that no other contains, by time.
    start, end : int64 (n,)
    waker : int32 (n,)
        The thread that woke it, -1: unknown.
    woken_at : int64 (n,)
        When it was released.
    begin : int64 (threads,)
        The first call of each thread.
    parent : int32 (threads,)
        Who started the thread, -1: unknown.
    born_at : int64 (threads,)
        When.
    seen : uint8 (n,)
        Zeros; working space.
    out : int64 (capacity, 4)
        Filled, from the end: thread, start, end, and the wait that the step is (-1: it ran; -2: it was
        being started).

    Returns
    -------
    int
        The number of steps; more than ``capacity`` never.
    """
    n = 0
    while n < len(out):
        low = _first_at_least(start, first[thread], first[thread + 1], time)
        i = low - 1
        # The last wait that began before; one that is still on at this time can't have delayed it.
        while i >= first[thread] and end[i] > time:
            i -= 1
        if i < first[thread]:
            began = min(begin[thread], time)
            out[n, 0], out[n, 1], out[n, 2], out[n, 3] = thread, began, time, -1
            n += 1
            if parent[thread] < 0 or born_at[thread] > began or n == len(out):
                break
            out[n, 0], out[n, 1], out[n, 2], out[n, 3] = thread, born_at[thread], began, -2
            n += 1
            time = born_at[thread]
            thread = parent[thread]
            continue
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = thread, end[i], time, -1
        n += 1
        if n == len(out):
            break
        # Waits that woke each other at one instant would go round forever.
        if waker[i] < 0 or seen[i] == 1:
            out[n, 0], out[n, 1], out[n, 2], out[n, 3] = thread, start[i], end[i], i
            n += 1
            time = start[i]
        else:
            out[n, 0], out[n, 1], out[n, 2], out[n, 3] = thread, woken_at[i], end[i], i
            n += 1
            seen[i] = 1
            time = woken_at[i]
            thread = waker[i]
    return n


@kernel
def count_durations(function: Any, start: Any, end: Any, counts: Any) -> None:
    """Count calls by function and by the power of two of their duration.

    Parameters
    ----------
    function : int32 (n,)
    start, end : int64 (n,)
    counts : int64 (functions, 64)
        Added to: the place of a duration d is that of its highest bit, 0 for less than 2 ns.
    """
    for i in range(len(function)):
        left = (end[i] - start[i]) >> 1
        place = 0
        while left > 0:
            left >>= 1
            place += 1
        counts[function[i], place] += 1


@inline
def _free(link: Any, i: int) -> int:
    """Return where ``link`` leads from ``i``; the way is halved as it is walked."""
    while link[i] != i:
        link[i] = link[link[i]]
        i = link[i]
    return i


@kernel
def serve(
    first_wait: Any, start: Any, end: Any, blocked: Any, first: Any, time: Any, slack: int, later: Any,
    earlier: Any, served: Any,
) -> None:  # fmt: skip
    """Give each wait one release that no other wait has: an item of a queue serves one taker.

    Parameters
    ----------
    first_wait : int64 (keys + 1,)
        The waits of each key, by their ends.
    start, end : int64 (n,)
    blocked : uint8 (n,)
        1: it had to wait, so there was nothing when it began; 0: it took what had been given before.
    first : int64 (keys + 1,)
        The releases of each key, by time.
    time : int64 (m,)
    slack : int
        How long before a wait a release may have been noted that ended it.
    later, earlier : int64 (m + 1,)
        Working space.
    served : int64 (n,)
        Filled: for a blocked wait the first release within it that is left, else the last one of the slack
        before it; -1: none is left. A wait that did not block takes the first that is left, and gets -1.
    """
    m = len(time)
    # From a release that is taken ``later`` leads to the next that is left, ``earlier`` (from the one after
    # it) to the one before.
    for i in range(m + 1):
        later[i], earlier[i] = i, i
    for key in range(len(first_wait) - 1):
        a, b = first[key], first[key + 1]
        for i in range(first_wait[key], first_wait[key + 1]):
            served[i] = -1
            low = _first_at_least(time, a, b, start[i]) if blocked[i] == 1 else a
            j = _free(later, low)
            if j >= b or time[j] > end[i]:
                j = -1
                if blocked[i] == 1:
                    # It was on its way when the wait began.
                    j = _free(earlier, low) - 1
                    if j < a or time[j] < start[i] - slack:
                        j = -1
            if j < 0:
                continue
            later[j] = j + 1
            earlier[j + 1] = j
            if blocked[i] == 1:
                served[i] = j


@kernel
def states_of_threads(
    first: Any, row: Any, time: Any, kind: Any, step: Any, edges: Any, count: Any, out: Any
) -> None:
    """Add up how long the threads of each row are in each state between each two edges.

    A thread is in the first state, by number, of those that it is in at once.

    Parameters
    ----------
    first : int64 (threads + 1,)
        The events of each thread, by time.
    row : int64 (threads,)
        Row of each thread; -1: of none.
    time : int64 (n,)
    kind : uint8 (n,)
        A state, from 0.
    step : int8 (n,)
        1 where the thread enters it, -1 where it leaves it.
    edges : int64 (m + 1,)
        Ascending.
    count : int64 (states,)
        Filled: how often the last thread is in each state.
    out : float64 (rows, m, states)
        Added to: nanoseconds.
    """
    states, steps = len(count), len(edges) - 1
    for t in range(len(row)):
        if row[t] < 0:
            continue
        for s in range(states):
            count[s] = 0
        place = 0
        for i in range(first[t], first[t + 1]):
            state = 0
            while state < states and count[state] <= 0:
                state += 1
            if state < states:
                begin, end = max(time[i - 1], edges[0]), time[i]
                while place < steps and edges[place + 1] <= begin:
                    place += 1
                while place < steps and edges[place] < end:
                    out[row[t], place, state] += min(edges[place + 1], end) - max(edges[place], begin)
                    if edges[place + 1] > end:
                        break
                    place += 1
            count[kind[i]] += step[i]
