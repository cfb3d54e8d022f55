"""Calls of sampled stacks whose frames form a tree: in the order of time, or merged by their weights."""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel


@kernel
def measure_depths(parent, depth):  # type: ignore[no-untyped-def]
    """Write the depth of each frame, 1 for the outermost.

    Parameters
    ----------
    parent : int32 (frames,)
        The next outer frame, which stands before it; -1: none.
    depth : int32 (frames,)
        Filled.

    Returns
    -------
    int
        The largest.
    """
    deepest = 0
    for i in range(len(parent)):
        depth[i] = 1 if parent[i] < 0 else depth[parent[i]] + 1
        deepest = max(deepest, depth[i])
    return deepest


@kernel
def lay_samples(  # type: ignore[no-untyped-def]
    thread, stack, start, end, parent, function, depth, opened, path, is_dry,
    out_thread, out_kind, out_function, out_time,
):  # fmt: skip
    """Write begin (0) and end (1) events of samples in the order of their threads and times.

    Functions that are the same from the root on in a sample and the next are one call if the one ends where
    the next starts.

    Parameters
    ----------
    thread, stack : int32 (n,)
        Of each sample; ``stack`` is its innermost frame, -1: none.
    start, end : int64 (n,)
        The time that it represents, in nanoseconds.
    parent, function, depth : int32 (frames,)
        As :func:`measure_depths` takes and fills them.
    opened, path : int32 (deepest stack,)
        Working space.
    is_dry : bool
        Only count the events.
    out_thread, out_kind, out_function, out_time : int32, uint8, int32, int64 (events,)
        Filled.

    Returns
    -------
    int
        How many events there are.
    """
    written = 0
    n_open = 0
    for i in range(len(thread) + 1):
        is_last = i == len(thread)
        if not is_last:
            frame = stack[i]
            size = depth[frame] if frame >= 0 else 0
            for k in range(size - 1, -1, -1):
                path[k] = function[frame]
                frame = parent[frame]
        else:
            size = 0
        shared = 0
        if not is_last and i > 0 and thread[i - 1] == thread[i] and end[i - 1] == start[i]:
            while shared < size and shared < n_open and opened[shared] == path[shared]:
                shared += 1
        for k in range(n_open - 1, shared - 1, -1):
            if not is_dry:
                out_thread[written] = thread[i - 1]
                out_kind[written] = 1
                out_function[written] = opened[k]
                out_time[written] = end[i - 1]
            written += 1
        for k in range(shared, size):
            opened[k] = path[k]
            if not is_dry:
                out_thread[written] = thread[i]
                out_kind[written] = 0
                out_function[written] = path[k]
                out_time[written] = start[i]
            written += 1
        n_open = size
    return written


@kernel
def lay_calls(  # type: ignore[no-untyped-def]
    thread, stack, start, end, parent, function, depth, opened, is_dry,
    out_thread, out_function, out_parent, out_depth, out_start, out_end, out_extent,
):  # fmt: skip
    """Write the calls of samples, by the rule of :func:`lay_samples`, in pre-order.

    Parameters
    ----------
    thread, stack : int32 (n,)
        As for :func:`lay_samples`.
    start, end : int64 (n,)
    parent, function, depth : int32 (frames,)
        Of frames that :func:`merge_frames` merged: the same functions from the root on are the same frame.
    opened : int64 (deepest stack,)
        Working space: the open calls.
    is_dry : bool
        Only count the calls.
    out_thread, out_function, out_depth : int32 (calls,)
        Filled.
    out_parent, out_start, out_end, out_extent : int64 (calls,)
        Filled: the call around it (-1: none), its times, and how many calls it holds, itself included.

    Returns
    -------
    int64
        How many calls there are.
    """
    count = np.int64(0)
    before = np.int64(-1)
    n_open = np.int64(0)
    for i in range(len(thread) + 1):
        is_last = i == len(thread)
        frame = np.int64(stack[i]) if not is_last else np.int64(-1)
        size = np.int64(depth[frame]) if frame >= 0 else np.int64(0)
        shared = np.int64(0)
        if not is_last and i > 0 and thread[i - 1] == thread[i] and end[i - 1] == start[i]:
            one, other, shared = before, frame, min(n_open, size)
            for _ in range(n_open - shared):
                one = np.int64(parent[one])
            for _ in range(size - shared):
                other = np.int64(parent[other])
            while one != other:
                one, other = np.int64(parent[one]), np.int64(parent[other])
                shared -= 1
        if not is_dry:
            for k in range(shared, n_open):
                out_end[opened[k]] = end[i - 1]
                out_extent[opened[k]] = count - opened[k]
            inner = frame
            for k in range(size - 1, shared - 1, -1):
                at = count + k - shared
                opened[k] = at
                out_thread[at] = thread[i]
                out_function[at] = function[inner]
                out_parent[at] = at - 1
                out_depth[at] = k + 1
                out_start[at] = start[i]
                inner = np.int64(parent[inner])
            if size > shared:
                out_parent[count] = opened[shared - 1] if shared > 0 else -1
        count += size - shared
        before, n_open = frame, size
    return count


@kernel
def take_in_turn(which, first, seen, items, out):  # type: ignore[no-untyped-def]
    """Write for each row the next item of its list; the last item stays when a list is at its end.

    Parameters
    ----------
    which : int64 (n,)
        The list of each row.
    first : int64 (lists + 1,)
        List ``k`` is ``first[k]`` to ``first[k + 1]`` of ``items``; none is empty.
    seen : int64 (lists,)
        0; changed.
    items : int64 (m,)
    out : int64 (n,)
        Filled.
    """
    for row in range(len(which)):
        k = which[row]
        out[row] = items[first[k] + seen[k]]
        if first[k] + seen[k] + 1 < first[k + 1]:
            seen[k] += 1


@kernel
def cut_stacks(raw, lines, first, count, frame, line):  # type: ignore[no-untyped-def]
    """Cut a column into stacks: of each its size, its frames from the root on, and how often it was seen.

    Parameters
    ----------
    raw, lines : int64 (n,)
        ``lines`` has the line of the frame at the same place.
    first : int64 (stacks + 1,)
        Filled: stack ``i`` is ``first[i]`` to ``first[i + 1]`` of ``frame`` and ``line``. There are n / 2 at
        most.
    count : int64 (stacks,)
        Filled.
    frame, line : int64 (n,)
        Filled.

    Returns
    -------
    stacks : int64
    at : int64
        Where no whole stack begins; n if all is read.
    """
    at, stacks, frames = np.int64(0), np.int64(0), np.int64(0)
    first[0] = 0
    while at < len(raw):
        size = raw[at]
        if size < 0 or size >= len(raw) - at - 1:
            break
        for k in range(size):
            frame[frames] = raw[at + 1 + k]
            line[frames] = lines[at + 1 + k]
            frames += 1
        count[stacks] = raw[at + 1 + size]
        stacks += 1
        first[stacks] = frames
        at += size + 2
    return stacks, at


@kernel
def add_to_parents(parent, total):  # type: ignore[no-untyped-def]
    """Add the total of each frame to its parent's, the innermost first: own weights become whole ones.

    Parameters
    ----------
    parent : int32 (frames,)
        The next outer frame, which stands before it; -1: none.
    total : int64 (frames,)
        Changed in place.
    """
    for i in range(len(parent) - 1, -1, -1):
        if parent[i] >= 0:
            total[parent[i]] += total[i]


@kernel
def place_below_parents(parent, start):  # type: ignore[no-untyped-def]
    """Add the start of each frame's parent to its own.

    Parameters
    ----------
    parent : int32 (frames,)
        The next outer frame, which stands before it; -1: none.
    start : int64 (frames,)
        Changed in place.
    """
    for i in range(len(parent)):
        if parent[i] >= 0:
            start[i] += start[parent[i]]


@kernel
def merge_frames(parent, function, slots, merged, out_parent, out_function):  # type: ignore[no-untyped-def]
    """Give frames of the same function below the same merged frame one number.

    Parameters
    ----------
    parent, function : int32 (frames,)
        Of the frames; a parent stands before its children, -1: none.
    slots : int32 (2**k,)
        A hash table, -1 before; longer than twice the number of frames.
    merged : int32 (frames,)
        Filled: each frame's number.
    out_parent, out_function : int32 (frames,)
        Filled for the merged frames.

    Returns
    -------
    int
        How many merged frames there are.
    """
    mask = len(slots) - 1
    count = 0
    for i in range(len(parent)):
        above = merged[parent[i]] if parent[i] >= 0 else -1
        at = ((above + 1) * 0x9E3779B1 + function[i] * 0x85EBCA77) & mask
        while slots[at] >= 0 and (out_parent[slots[at]] != above or out_function[slots[at]] != function[i]):
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = count
            out_parent[count] = above
            out_function[count] = function[i]
            count += 1
        merged[i] = slots[at]
    return count


@inline
def _intern(above, function, line, slots, out_parent, out_function, out_line, count):  # type: ignore[no-untyped-def]
    """Return the number of a frame: that of the same one, or ``count`` for a new one, which is written."""
    mask = len(slots) - 1
    at = ((above + 1) * 0x9E3779B1 + function * 0x85EBCA77 + line * 0xC2B2AE3D) & mask
    while slots[at] >= 0 and (
        out_parent[slots[at]] != above or out_function[slots[at]] != function or out_line[slots[at]] != line
    ):
        at = (at + 1) & mask
    if slots[at] < 0:
        slots[at] = count
        out_parent[count] = above
        out_function[count] = function
        out_line[count] = line
    return np.int64(slots[at])


@kernel
def intern_stacks(  # type: ignore[no-untyped-def]
    first,
    place,
    first_of,
    function,
    line,
    is_root_first,
    state,
    slots,
    stack,
    out_parent,
    out_function,
    out_line,
):
    """Make a tree of stacks, until there is no room for the next one.

    Parameters
    ----------
    first : int64 (n + 1,)
        Stack ``i`` is ``first[i]`` to ``first[i + 1]`` of ``place``.
    place : int64 (m,)
        Where the frames of each of its places are; one below 0 has none.
    first_of : int64 (places + 1,)
        Place ``p`` has ``first_of[p]`` to ``first_of[p + 1]`` of ``function`` and ``line``.
    function, line : int32 (k,)
    is_root_first : bool
        Whether stacks, and the frames of places, begin with the outermost.
    state : int64 (2,)
        The next stack, and how many frames the tree has; changed.
    slots : int32 (2**k,)
        A hash table of the tree's frames, -1: free; longer than twice the room of the tree.
    stack : int32 (n,)
        Filled: the innermost frame of each, -1 if it is empty.
    out_parent, out_function, out_line : int32 (room,)
        Filled for the frames of the tree.
    """
    for i in range(state[0], len(stack)):
        state[0] = i
        above = np.int64(-1)
        many = first[i + 1] - first[i]
        for k in range(many):
            one = place[first[i] + k] if is_root_first else place[first[i + 1] - 1 - k]
            size = first_of[one + 1] - first_of[one] if one >= 0 else 0
            for j in range(size):
                if state[1] >= len(out_parent):
                    return
                at = first_of[one] + j if is_root_first else first_of[one + 1] - 1 - j
                what, where = np.int64(function[at]), np.int64(line[at])
                above = _intern(above, what, where, slots, out_parent, out_function, out_line, state[1])
                state[1] = max(state[1], above + 1)
        stack[i] = above
    state[0] = len(stack)


@kernel
def fill_slots(slots, count, parent, function, line):  # type: ignore[no-untyped-def]
    """Enter the frames of a tree into an empty table.

    Parameters
    ----------
    slots : int32 (2**k,)
        -1 before; filled.
    count : int
        How many frames there are.
    parent, function, line : int32 (room,)
    """
    mask = len(slots) - 1
    for number in range(count):
        above = np.int64(parent[number])
        at = (
            (above + 1) * 0x9E3779B1 + np.int64(function[number]) * 0x85EBCA77
            + np.int64(line[number]) * 0xC2B2AE3D
        ) & mask  # fmt: skip
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = number
