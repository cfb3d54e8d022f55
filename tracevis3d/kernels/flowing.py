"""What a live view shows of calls and memory that have just come: each looked at once, when it has ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from .growing import OPEN
from .jit import inline, kernel

#: Places in the state of :func:`flow_calls`: the first call that was not looked at, how many calls are
#: watched until they end, calls deeper than is shown, and rows that the output had no room for.
SEEN, WATCHED, DEEPER, FULL = 0, 1, 2, 3
STATE_SIZE = 4


@kernel
def flow_calls(
    watch: Any,
    state: Any,
    count: int,
    top: int,
    cell: int,
    levels: int,
    function: Any,
    parent: Any,
    depth: Any,
    start: Any,
    end: Any,
    kind_of: Any,
    run: Any,
    out_time: Any,
    out_what: Any,
) -> Any:
    """Write down the calls of a thread that have ended since the last time; short neighbours become one row.

    Parameters
    ----------
    watch : int64 (w,)
        Calls that were open the last time, outermost first; then those that are open now.
    state : int64 (STATE_SIZE,)
    count, top : int
        Calls of the thread, and the innermost open one (-1: none).
    cell : int
        Nanoseconds: shorter calls are taken together with what is so close, up to four cells.
    levels : int
        Calls of a greater depth are counted alone.
    function, parent, depth, start, end
        As :func:`.growing.grow_calls` fills them.
    kind_of : int32 (functions,)
        Colour kind of each function.
    run : int64 (levels, 5)
        The row under construction at each level: start, end, calls (0: none), function of its longest call,
        duration of that.
    out_time : int64 (m, 2)
        Start and end of each row.
    out_what : int32 (m, 4)
        Level, kind, number of calls (0: one that is no shorter than a cell), function.

    Returns
    -------
    int
        Rows written.
    """
    n = np.int64(0)
    watched = state[WATCHED]
    for k in range(watched):
        i = watch[k]
        if i >= 0 and end[i] != OPEN:
            n = _ended(
                i, cell, levels, function, depth, start, end, kind_of, run, out_time, out_what, state, n
            )
    for i in range(state[SEEN], count):
        if end[i] != OPEN:
            n = _ended(
                i, cell, levels, function, depth, start, end, kind_of, run, out_time, out_what, state, n
            )
    state[SEEN] = count
    # What is open now, from the inside out; the innermost ones are left out if there are too many.
    inner = np.int64(top)
    while inner >= 0 and end[inner] != OPEN:
        inner = parent[inner]
    height = np.int64(0)
    at = inner
    while at >= 0:
        height += 1
        at = parent[at]
    at = inner
    for k in range(height - 1, -1, -1):
        if k < len(watch):
            watch[k] = at
        at = parent[at]
    state[WATCHED] = min(height, len(watch))
    return n


@inline
def _ended(
    i: Any,
    cell: Any,
    levels: Any,
    function: Any,
    depth: Any,
    start: Any,
    end: Any,
    kind_of: Any,
    run: Any,
    out_time: Any,
    out_what: Any,
    state: Any,
    n: Any,
) -> Any:
    """Take one ended call; return the number of rows then."""
    level = depth[i] - 1
    if level >= levels:
        state[DEEPER] += 1
        return n
    lasted = end[i] - start[i]
    near = start[i] - run[level, 1] < cell and end[i] - run[level, 0] < 4 * cell
    if run[level, 2] > 0 and not (lasted < cell and near):
        if n < len(out_time):
            # What is too short to be seen is as long as can be seen.
            out_time[n, 0] = run[level, 0]
            out_time[n, 1] = max(run[level, 1], run[level, 0] + cell)
            out_what[n, 0] = level
            out_what[n, 1] = kind_of[run[level, 3]]
            out_what[n, 2] = run[level, 2]
            out_what[n, 3] = run[level, 3]
            n += 1
        else:
            state[FULL] += 1
        run[level, 2] = 0
    if lasted >= cell:
        if n < len(out_time):
            out_time[n, 0] = start[i]
            out_time[n, 1] = end[i]
            out_what[n, 0] = level
            out_what[n, 1] = kind_of[function[i]]
            out_what[n, 2] = 0
            out_what[n, 3] = function[i]
            n += 1
        else:
            state[FULL] += 1
        return n
    if run[level, 2] == 0:
        run[level, 0] = start[i]
        run[level, 4] = -1
    run[level, 1] = end[i]
    run[level, 2] += 1
    if lasted > run[level, 4]:
        run[level, 3] = function[i]
        run[level, 4] = lasted
    return n


#: Columns of an item of :func:`flow_memory`: where it begins and its bytes along x, since when it is touched
#: without pause, when it was touched last, live blocks in it (0: it is not there), live bytes, call site of
#: its last allocation that was large in it.
PLACE, BYTES, BUSY, TOUCHED, BLOCKS, LIVE, SITE = 0, 1, 2, 3, 4, 5, 6
ITEM_SIZE = 7
#: Places in the totals: live bytes, live blocks, blocks that found no room, rows that found none, frees of
#: what is not known, places that are taken, allocations so far.
BYTES_NOW, BLOCKS_NOW, HOMELESS, ROWS_LOST, UNKNOWN, PLACES, ALLOCATED = 0, 1, 2, 3, 4, 5, 6
TOTALS_SIZE = 7
#: Bytes of address that keep together along x.
PAGE = 1 << 16
_ALLOCATED, _FREED = 0, 1
_NONE, _GONE = -1, -2


@kernel
def flow_memory(
    kind: Any,
    time: Any,
    address: Any,
    size: Any,
    stack: Any,
    pause: int,
    pages: Any,
    known: Any,
    items: Any,
    totals: Any,
    out_time: Any,
    out_item: Any,
) -> Any:
    """Follow blocks of memory; write down each stretch in which a place was in use or idle, once it is over.

    Addresses are put side by side in pages of :data:`PAGE` bytes in the order of their first use. An item is
    such a page; it holds the blocks that begin in it, and is in use from the first to the last of them.

    Parameters
    ----------
    kind : uint8 (n,)
        0 allocated, 1 freed, 2 accessed.
    time, address, size, stack : int64 (n,)
    pause : int
        Nanoseconds without a touch from which on a place counts as idle.
    pages : int64 (p, 2)
        Open addressing, p a power of two: page number and item; -1: free.
    known : int64 (b, 3)
        The same for live blocks: address, size and item; -1: free, -2: was freed.
    items : int64 (m, ITEM_SIZE)
    totals : int64 (TOTALS_SIZE,)
    out_time : int64 (r, 2)
    out_item : int64 (r, 3)
        Item, 0 (in use) or 1 (idle), and its live bytes then.

    Returns
    -------
    int
        Rows written.
    """
    n = np.int64(0)
    for i in range(len(kind)):
        at = address[i]
        slot = _find(known, at)
        if kind[i] == _ALLOCATED:
            if slot < 0 or totals[BLOCKS_NOW] * 4 > len(known) * 3:
                totals[HOMELESS] += 1
                continue
            item = _item(pages, items, totals, at, size[i])
            if item < 0:
                totals[HOMELESS] += 1
                continue
            if known[slot, 0] != at:
                known[slot, 0] = at
                totals[BLOCKS_NOW] += 1
            else:
                # Its end was lost on the way.
                before = known[slot, 2]
                items[before, BLOCKS] -= 1
                items[before, LIVE] -= known[slot, 1]
                totals[BYTES_NOW] -= known[slot, 1]
            known[slot, 1] = size[i]
            known[slot, 2] = item
            totals[BYTES_NOW] += size[i]
            totals[ALLOCATED] += 1
            n = _touch(items, item, time[i], pause, totals, out_time, out_item, n)
            items[item, BLOCKS] += 1
            items[item, LIVE] += size[i]
            if 2 * size[i] >= items[item, LIVE] or items[item, BLOCKS] == 1:
                items[item, SITE] = stack[i]
        elif slot < 0 or known[slot, 0] != at:
            if kind[i] == _FREED:
                totals[UNKNOWN] += 1
        elif kind[i] == _FREED:
            item = known[slot, 2]
            n = _touch(items, item, time[i], pause, totals, out_time, out_item, n)
            items[item, BLOCKS] -= 1
            items[item, LIVE] -= known[slot, 1]
            totals[BYTES_NOW] -= known[slot, 1]
            totals[BLOCKS_NOW] -= 1
            known[slot, 0] = _GONE
            if items[item, BLOCKS] == 0:
                n = _put(items, item, 0, items[item, BUSY], time[i], totals, out_time, out_item, n)
        else:
            n = _touch(items, known[slot, 2], time[i], pause, totals, out_time, out_item, n)
    return n


@inline
def _find(known: Any, at: Any) -> Any:
    """Return where the block is, or could go; -1 if there is no room."""
    mask = len(known) - 1
    slot = ((at >> 4) * 0x9E3779B1) & mask
    free = np.int64(-1)
    for _ in range(len(known)):
        if known[slot, 0] == at:
            return slot
        if known[slot, 0] == _GONE and free < 0:
            free = slot
        if known[slot, 0] == _NONE:
            return free if free >= 0 else slot
        slot = (slot + 1) & mask
    return free


@inline
def _item(pages: Any, items: Any, totals: Any, at: Any, size: Any) -> Any:
    """Return the item of an address, made if there is none; -1 if there are too many.

    A block that is larger than a page moves what comes after it further.
    """
    mask = len(pages) - 1
    page = at // PAGE
    slot = (page * 0x9E3779B1) & mask
    for _ in range(len(pages)):
        if pages[slot, 0] == page:
            item = pages[slot, 1]
            return item
        if pages[slot, 0] == _NONE:
            item = totals[PLACES]
            if item >= len(items):
                return np.int64(-1)
            pages[slot, 0] = page
            pages[slot, 1] = item
            totals[PLACES] += 1
            items[item, PLACE] = 0
            if item > 0:
                items[item, PLACE] = items[item - 1, PLACE] + items[item - 1, BYTES]
            items[item, BYTES] = max(size, np.int64(PAGE))
            return item
        slot = (slot + 1) & mask
    return np.int64(-1)


@inline
def _touch(
    items: Any, item: Any, when: Any, pause: Any, totals: Any, out_time: Any, out_item: Any, n: Any
) -> Any:
    """Let a place be touched: if it was idle before, that stretch and the use before it are over."""
    if items[item, BLOCKS] == 0:
        items[item, BUSY] = when
    elif when - items[item, TOUCHED] > pause:
        n = _put(items, item, 0, items[item, BUSY], items[item, TOUCHED], totals, out_time, out_item, n)
        n = _put(items, item, 1, items[item, TOUCHED], when, totals, out_time, out_item, n)
        items[item, BUSY] = when
    items[item, TOUCHED] = when
    return n


@inline
def _put(
    items: Any,
    item: Any,
    idle: Any,
    begin: Any,
    end: Any,
    totals: Any,
    out_time: Any,
    out_item: Any,
    n: Any,
) -> Any:
    if end <= begin:
        return n
    if n >= len(out_time):
        totals[ROWS_LOST] += 1
        return n
    out_time[n, 0] = begin
    out_time[n, 1] = end
    out_item[n, 0] = item
    out_item[n, 1] = idle
    out_item[n, 2] = items[item, LIVE]
    return n + 1
