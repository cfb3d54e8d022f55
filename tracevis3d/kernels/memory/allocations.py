"""Blocks of memory: which free ends which allocation, and what many blocks together look like over time."""

from __future__ import annotations

import numpy as np

from ..jit import inline, kernel

_ALLOC, _FREE = 0, 1
#: What :func:`pair_blocks` counts, and (one further) the row of the first.
DOUBLE_FREES, UNKNOWN_FREES, OVERWRITTEN, UNKNOWN_ACCESSES, COUNTS = 0, 2, 4, 6, 8
#: Slots of its state: the next row, blocks so far, slots taken.
ROW, BLOCKS, TAKEN, STATE_SIZE = 0, 1, 2, 3
DONE, TABLE_FULL = 0, 1


@inline
def slot_of(address, keys, last):  # type: ignore[no-untyped-def]
    """Return the slot of an address in the table of addresses, or the free slot where it belongs."""
    mask = len(keys) - 1
    value = address * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(value >> np.uint64(24)) & mask
    while last[slot] >= 0 and keys[slot] != address:
        slot = (slot + 1) & mask
    return slot


@kernel
def pair_blocks(kind, address, state, keys, last, born, died, block_of, counts):  # type: ignore[no-untyped-def]
    """Find the block that each row is about.

    Parameters
    ----------
    kind : uint8 (n,)
    address : uint64 (n,)
    state : int64 (STATE_SIZE,)
        0 before; resumable: it stops where the table is half full.
    keys, last : uint64 (slots,), int32 (slots,)
        A power of two of slots: an address and the last block there; -1: free.
    born, died : int64 (blocks,)
        Rows; ``died`` is -1 before, and stays so for what is never freed.
    block_of : int32 (n,)
        Filled: the block of each row; -1: none.
    counts : int64 (COUNTS,)
        How often a free came twice, a free or access met no block, an address was given out again before
        it was freed; each with the row of the first.
    """
    row = state[ROW]
    blocks = state[BLOCKS]
    taken = state[TAKEN]
    result = DONE
    while row < len(kind):
        if 2 * taken >= len(keys):
            result = TABLE_FULL
            break
        slot = slot_of(address[row], keys, last)
        block = last[slot]
        wrong = -1
        if kind[row] == _ALLOC:
            if block < 0:
                keys[slot] = address[row]
                taken += 1
            elif died[block] < 0:
                died[block] = row
                wrong = OVERWRITTEN
            block = blocks
            born[block] = row
            last[slot] = block
            blocks += 1
        elif block < 0:
            wrong = UNKNOWN_FREES if kind[row] == _FREE else UNKNOWN_ACCESSES
        elif died[block] >= 0:
            wrong = DOUBLE_FREES if kind[row] == _FREE else UNKNOWN_ACCESSES
            block = -1
        elif kind[row] == _FREE:
            died[block] = row
        block_of[row] = block
        if wrong >= 0:
            if counts[wrong] == 0:
                counts[wrong + 1] = row
            counts[wrong] += 1
        row += 1
    state[ROW] = row
    state[BLOCKS] = blocks
    state[TAKEN] = taken
    return result


@kernel
def move_table(keys, last, new_keys, new_last):  # type: ignore[no-untyped-def]
    """Enter what one table holds into a larger, empty one."""
    for slot in range(len(keys)):
        if last[slot] >= 0:
            where = slot_of(keys[slot], new_keys, new_last)
            new_keys[where] = keys[slot]
            new_last[where] = last[slot]


@inline
def cell_of(time, start, step, cells):  # type: ignore[no-untyped-def]
    """Return the cell of ``step`` nanoseconds that a time lies in; the first or last one beyond them."""
    if time <= start:
        return np.int64(0)
    return min((time - start) // step, np.int64(cells - 1))


@inline
def add_block(  # type: ignore[no-untyped-def]
    block, born, died, size, first_access, access, start, step, change, oldest, touched, row
):
    """Add one block, with each of its idle intervals, to a row of profiles."""
    cells = touched.shape[1]
    low = cell_of(born[block], start, step, cells)
    high = cell_of(max(died[block] - 1, born[block]), start, step, cells)
    change[row, low] += size[block]
    change[row, high + 1] -= size[block]
    since = born[block]
    cell = low
    if born[block] >= start:
        touched[row, low] += 1
    for i in range(first_access[block], first_access[block + 1]):
        at = access[i]
        if at < since:
            continue
        if at >= start + step * cells:
            break
        if at > start:
            until = cell_of(max(at - 1, since), start, step, cells)
            oldest[row, until] = min(oldest[row, until], since)
        since = at
        cell = cell_of(at, start, step, cells)
        if at >= start:
            touched[row, cell] += 1
    oldest[row, high] = min(oldest[row, high], since)


@kernel
def fill_leaves(  # type: ignore[no-untyped-def]
    order, leaf, born, died, size, first_access, access, start, step, change, oldest, touched, width, widest
):
    """Fill the profiles of the leaves of a pyramid: ``leaf`` blocks each, in the given order.

    ``change`` int64 (nodes, cells + 1) is the change of live bytes at the beginning of each cell, ``oldest``
    int64 (nodes, cells) the earliest beginning of an idle interval that ends in a cell, ``touched`` int32
    (nodes, cells) how many allocations and accesses lie in it; ``widest`` float64 the widest block.
    """
    for position in range(len(order)):
        row = position // leaf
        add_block(
            order[position], born, died, size, first_access, access, start, step, change, oldest, touched, row
        )
        widest[row] = max(widest[row], width[position])


@kernel
def fill_inner(first, count, change, oldest, touched, widest):  # type: ignore[no-untyped-def]
    """Fill the inner levels of a pyramid: node ``i`` joins ``2 i`` and ``2 i + 1`` of the level below."""
    for level in range(1, len(first)):
        for i in range(count[level]):
            to = first[level] + i
            for child in range(2 * i, min(2 * i + 2, count[level - 1])):
                add_profile(first[level - 1] + child, change, oldest, touched, change, oldest, touched, to)
                widest[to] = max(widest[to], widest[first[level - 1] + child])


@inline
def add_profile(source, change, oldest, touched, to_change, to_oldest, to_touched, to):  # type: ignore[no-untyped-def]
    """Add one row of profiles to another."""
    cells = touched.shape[1]
    for c in range(cells):
        to_change[to, c] += change[source, c]
        to_oldest[to, c] = min(to_oldest[to, c], oldest[source, c])
        to_touched[to, c] += touched[source, c]
    to_change[to, cells] += change[source, cells]


@inline
def next_wide(position, stop, least, width, leaf, first, count, widest):  # type: ignore[no-untyped-def]
    """Return the first position from ``position`` on, before ``stop``, of a block that is wide enough."""
    while position < stop:
        if position % leaf == 0:
            # Climb over what is narrow, then go down to where it is wide.
            level = 0
            node = position // leaf
            while level + 1 < len(first) and node % 2 == 0 and widest[first[level + 1] + node // 2] < least:
                node //= 2
                level += 1
            if widest[first[level] + node] < least:
                position = ((node + 1) << level) * leaf
                continue
        last = min(stop, (position // leaf + 1) * leaf)
        while position < last:
            if width[position] >= least:
                return position
            position += 1
    return stop


@kernel
def cut_blocks(  # type: ignore[no-untyped-def]
    begin, stop, low, width, least, breaks, leaf, first, count, widest, item_first, item_stop
):
    """Take blocks from ``begin`` on together until they are ``least`` wide; return how many items there are.

    Parameters
    ----------
    begin, stop : int
        Positions.
    low, width : float64 (n,)
        Along the axis, in the order of the positions; ``low`` never decreases.
    breaks : int64 (k,)
        Positions, ascending, over which nothing is joined; the last is ``stop`` or beyond.
    item_first, item_stop : int64 (room,)
        Filled. A block of ``least`` width is an item of its own.
    """
    items = 0
    at = begin
    next_break = 0
    while at < stop and items < len(item_first):
        while breaks[next_break] <= at:
            next_break += 1
        item_first[items] = at
        if width[at] >= least:
            at += 1
        else:
            limit = min(stop, breaks[next_break])
            wanted = low[at] + least
            left = at + 1
            right = limit
            while left < right:
                middle = (left + right) // 2
                if low[middle] < wanted:
                    left = middle + 1
                else:
                    right = middle
            at = next_wide(at, left, least, width, leaf, first, count, widest)
        item_stop[items] = at
        items += 1
    return items


@kernel
def profile_items(  # type: ignore[no-untyped-def]
    item_first, item_stop, order, leaf, level_first, born, died, size, first_access, access, start, step,
    change, oldest, touched, live, since, touches,
):  # fmt: skip
    """Give each item's profile: what it is like in each cell of time.

    ``live`` int64 (items, cells + 1) holds live bytes, ``since`` int64 (items, cells) when the block that is
    idle longest was last touched (a large number: nothing lives), ``touches`` int32 allocations and accesses.
    All of ``live`` and ``touches`` is 0 before, ``since`` the large number.
    """
    cells = touches.shape[1]
    for item in range(len(item_first)):
        at = item_first[item]
        stop = item_stop[item]
        while at < stop:
            if at % leaf or at + leaf > stop:
                add_block(
                    order[at], born, died, size, first_access, access, start, step, live, since, touches, item
                )
                at += 1
                continue
            level = 0
            node = at // leaf
            while level + 1 < len(level_first) and node % 2 == 0 and at + (leaf << (level + 1)) <= stop:
                node //= 2
                level += 1
            add_profile(level_first[level] + node, change, oldest, touched, live, since, touches, item)
            at += leaf << level
        for c in range(1, cells):
            live[item, c] += live[item, c - 1]
        for c in range(cells - 2, -1, -1):
            since[item, c] = min(since[item, c], since[item, c + 1])


@kernel
def follow_sites(born_site, ended_site, born_size, ended_size, live, peak, peak_row):  # type: ignore[no-untyped-def]
    """Follow the live bytes of each site and of all (the last one), row by row, and keep their peaks.

    ``born_site`` and ``ended_site`` int32 (n,) are -1 where no block begins or ends. ``peak_row`` is the row
    after which the peak was reached.
    """
    every = len(live) - 1
    for row in range(len(born_site)):
        site = ended_site[row]
        if site >= 0:
            live[site] -= ended_size[row]
            live[every] -= ended_size[row]
        site = born_site[row]
        if site < 0:
            continue
        live[site] += born_size[row]
        live[every] += born_size[row]
        if live[site] > peak[site]:
            peak[site] = live[site]
            peak_row[site] = row
        if live[every] > peak[every]:
            peak[every] = live[every]
            peak_row[every] = row


@kernel
def fill_waves(value, least, first, place, kind):  # type: ignore[no-untyped-def]
    """Find the turning points of each series: extremes between which it moves by ``least`` or more.

    Series ``s`` is ``value[first[s]:first[s + 1]]`` with ``least[s]``; ``kind`` (values,) is set to 1 at a
    high, 2 at a low, ``place`` (series,) to how many there are.
    """
    for s in range(len(first) - 1):
        begin = first[s]
        stop = first[s + 1]
        way = 0
        high = begin
        low = begin
        turns = 0
        for i in range(begin, stop):
            if value[i] > value[high]:
                high = i
            if value[i] < value[low]:
                low = i
            if way >= 0 and value[high] - value[i] >= least[s]:
                kind[high] = 1
                turns += 1
                way = -1
                low = i
                high = i
            elif way <= 0 and value[i] - value[low] >= least[s]:
                if low > begin:
                    kind[low] = 2
                    turns += 1
                way = 1
                high = i
                low = i
        place[s] = turns
