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
#: Where the first block lies in a profile in which nothing lives.
NOWHERE = 1 << 62


@inline
def slot_of(address, keys, last):  # type: ignore[no-untyped-def]
    """Return the slot of an address in the table of addresses, or the free slot where it belongs.

    Parameters
    ----------
    address : uint64
    keys, last : uint64 (2**k,), int32 (2**k,)
        As :func:`pair_blocks` fills them.

    Returns
    -------
    int64
    """
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
    """Enter what one table holds into a larger one.

    Parameters
    ----------
    keys, last : uint64 (slots,), int32 (slots,)
        As :func:`pair_blocks` has filled them.
    new_keys, new_last : uint64 (2**k,), int32 (2**k,)
        Filled; ``new_last`` is -1 before.
    """
    for slot in range(len(keys)):
        if last[slot] >= 0:
            where = slot_of(keys[slot], new_keys, new_last)
            new_keys[where] = keys[slot]
            new_last[where] = last[slot]


@kernel
def follow_live(born, size, ended, time, start, step, stop, most, moment, after):  # type: ignore[no-untyped-def]
    """Follow the live bytes row by row: the most within each cell of time, and the row after which they live.

    Parameters
    ----------
    born, size : int64 (n,)
        The row that begins each block, ascending, and its bytes.
    ended : int32 (rows,)
        The block that each row ends; -1: none.
    time : int64 (rows,)
        Ascending.
    start, step, stop : int
        Cell ``c`` begins at ``start + c * step``; rows from ``stop`` on belong to none.
    most, moment, after : int64 (cells,)
        Filled: the most bytes that live within a cell, the first row after which they do (-1: before all),
        and the bytes that live at its end.
    """
    live = np.int64(0)
    cells = len(most)
    cell = np.int64(-1)
    row = 0
    block = 0
    while row < len(time) and time[row] < stop:
        now = np.int64(-1)
        if time[row] >= start:
            now = min((time[row] - start) // step, np.int64(cells - 1))
        while cell < now:
            cell += 1
            most[cell] = live
            moment[cell] = row - 1
            after[cell] = live
        if ended[row] >= 0:
            live -= size[ended[row]]
        if block < len(born) and born[block] == row:
            live += size[block]
            block += 1
        if cell >= 0:
            after[cell] = live
            if live > most[cell]:
                most[cell] = live
                moment[cell] = row
        row += 1
    while cell < cells - 1:
        cell += 1
        most[cell] = live
        moment[cell] = row - 1
        after[cell] = live


@inline
def cell_of(time, start, step, cells):  # type: ignore[no-untyped-def]
    """Return the cell that a time lies in; the first or last one beyond them.

    Parameters
    ----------
    time, start, step : int
        Nanoseconds; cell ``c`` begins at ``start + c * step``.
    cells : int
        How many there are.

    Returns
    -------
    int64
    """
    if time <= start:
        return np.int64(0)
    return min((time - start) // step, np.int64(cells - 1))


@inline
def add_block(  # type: ignore[no-untyped-def]
    block, at, low, taken, begin, stop, born, died, first_access, access, start, step, jump, change, lowest,
    oldest, touched, row
):  # fmt: skip
    """Add one block, with each of its idle intervals, to a row of profiles; it lies right of those before.

    Parameters
    ----------
    block, at : int
        The block, and its position.
    low, taken, begin, stop, born, died, first_access, access, start, step, jump
        As :func:`fill_leaves` takes them.
    change, lowest, oldest, touched
        The profiles, as :func:`fill_leaves` describes them; changed.
    row : int
        The row of the profiles.
    """
    cells = touched.shape[1]
    if stop[block] > begin[block]:
        change[row, begin[block]] += taken[block]
        change[row, stop[block]] -= taken[block]
        cell = np.int64(jump[begin[block]])
        while jump[cell] != cell:
            cell = np.int64(jump[cell])
        while cell < stop[block]:
            lowest[row, cell] = low[at]
            jump[cell] = cell + 1
            cell += 1
            while jump[cell] != cell:
                cell = np.int64(jump[cell])
        jump[begin[block]] = cell
    high = cell_of(max(died[block] - 1, born[block]), start, step, cells)
    since = born[block]
    if born[block] >= start:
        touched[row, cell_of(born[block], start, step, cells)] += 1
    for i in range(first_access[block], first_access[block + 1]):
        at_ = access[i]
        if at_ < since:
            continue
        if at_ >= start + step * cells:
            break
        if at_ > start:
            # A block that ends at the edge of a cell is not in it, even if it is touched twice then.
            until = min(cell_of(max(at_ - 1, since), start, step, cells), high)
            oldest[row, until] = min(oldest[row, until], since)
        since = at_
        if at_ >= start:
            touched[row, cell_of(at_, start, step, cells)] += 1
    oldest[row, high] = min(oldest[row, high], since)


@inline
def reset(jump):  # type: ignore[no-untyped-def]
    """Let each cell lead to itself."""
    for c in range(len(jump)):
        jump[c] = c


@kernel
def fill_leaves(  # type: ignore[no-untyped-def]
    order, leaf, low, taken, begin, stop, born, died, first_access, access, start, step, jump, change, lowest,
    oldest, touched, lone, widest
):  # fmt: skip
    """Fill the profiles of the leaves of a pyramid: ``leaf`` blocks each, in the given order.

    Parameters
    ----------
    order : int32 (n,)
        The block at each position.
    leaf : int
    low : int64 (n,)
        Where the block at each position lies along the axis.
    taken : int64 (blocks,)
        How wide each block is.
    begin, stop : int32 (blocks,)
        Block ``b`` lives at the moments ``begin[b]:stop[b]``.
    born, died : int64 (blocks,)
        Nanoseconds.
    first_access, access : int64 (blocks + 1,), int64 (accesses,)
        Block ``b`` was accessed at the times ``access[first_access[b]:first_access[b + 1]]``.
    start, step : int
        Cell ``c`` begins at ``start + c * step`` nanoseconds.
    jump : int32 (cells + 1,)
        Working space: leads from each cell to the next one in which nothing lives yet.
    change : int64 (nodes, cells + 1)
        Filled: the change of what lives from each moment to the next. 0 before.
    lowest : int64 (nodes, cells)
        Filled: where the first block lies that lives then. :data:`NOWHERE` before.
    oldest : int64 (nodes, cells)
        Filled: the earliest beginning of an idle interval that ends in a cell. A large number before.
    touched : int32 (nodes, cells)
        Filled: how many allocations and accesses lie in a cell. 0 before.
    lone : bool (n,)
        Whether the block at each position may stand alone.
    widest : int64 (nodes,)
        Filled: the widest of those that may. 0 before.
    """
    for position in range(len(order)):
        row = position // leaf
        if position % leaf == 0:
            reset(jump)
        block = order[position]
        add_block(
            block, position, low, taken, begin, stop, born, died, first_access, access, start, step, jump,
            change, lowest, oldest, touched, row
        )  # fmt: skip
        if lone[position]:
            widest[row] = max(widest[row], taken[block])


@kernel
def fill_inner(first, count, change, lowest, oldest, touched, widest):  # type: ignore[no-untyped-def]
    """Fill the inner levels of a pyramid: node ``i`` joins ``2 i`` and ``2 i + 1`` of the level below.

    Parameters
    ----------
    first, count : int64 (levels,)
        Each level's first row in the profiles, and its number of nodes; the leaves' first.
    change, lowest, oldest, touched, widest
        As :func:`fill_leaves` has filled them.
    """
    for level in range(1, len(first)):
        for i in range(count[level]):
            to = first[level] + i
            for child in range(2 * i, min(2 * i + 2, count[level - 1])):
                add_profile(
                    first[level - 1] + child,
                    change,
                    lowest,
                    oldest,
                    touched,
                    change,
                    lowest,
                    oldest,
                    touched,
                    to,
                )
                widest[to] = max(widest[to], widest[first[level - 1] + child])


@inline
def add_profile(  # type: ignore[no-untyped-def]
    source, change, lowest, oldest, touched, to_change, to_lowest, to_oldest, to_touched, to
):
    """Add one row of profiles to another, none of whose blocks lies further right.

    Parameters
    ----------
    source : int
        The row that is added.
    change, lowest, oldest, touched
        Its profiles, as :func:`fill_leaves` describes them.
    to_change, to_lowest, to_oldest, to_touched
        Those that it is added to; ``to_change`` and so on may be the same arrays.
    to : int
        Their row.
    """
    cells = touched.shape[1]
    for c in range(cells):
        to_change[to, c] += change[source, c]
        if to_lowest[to, c] == NOWHERE:
            to_lowest[to, c] = lowest[source, c]
        to_oldest[to, c] = min(to_oldest[to, c], oldest[source, c])
        to_touched[to, c] += touched[source, c]
    to_change[to, cells] += change[source, cells]


@inline
def next_wide(position, stop, least, order, taken, lone, leaf, first, count, widest):  # type: ignore[no-untyped-def]
    """Return the first position of a block that stands alone.

    Parameters
    ----------
    position, stop : int
        Where the search begins and ends.
    least : int
        The block is at least as wide.
    order, taken, lone, leaf, widest
        As :func:`fill_leaves` takes and fills them.
    first, count : int64 (levels,)
        As for :func:`fill_inner`.

    Returns
    -------
    int
        ``stop`` if there is none.
    """
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
            if lone[position] and taken[order[position]] >= least:
                return position
            position += 1
    return stop


@inline
def first_from(low, begin, stop, value):  # type: ignore[no-untyped-def]
    """Return the first position from ``begin`` on at which ``low`` is ``value`` or more.

    Parameters
    ----------
    low : int64 (n,)
        It never decreases from ``begin`` to ``stop``.
    begin, stop, value : int

    Returns
    -------
    int
        ``stop`` if there is none.
    """
    while begin < stop:
        middle = (begin + stop) // 2
        if low[middle] < value:
            begin = middle + 1
        else:
            stop = middle
    return begin


@kernel
def find_ranges(low, bounds, left, right, begin, stop):  # type: ignore[no-untyped-def]
    """Find the positions of each group whose ``low`` lies from ``left`` on and before ``right``.

    Parameters
    ----------
    low : int64 (n,)
        It never decreases within a group.
    bounds : int64 (groups + 1,)
        Group ``g`` is ``bounds[g]:bounds[g + 1]``.
    left, right : int
    begin, stop : int64 (groups,)
        Filled.
    """
    for g in range(len(bounds) - 1):
        begin[g] = first_from(low, bounds[g], bounds[g + 1], left)
        stop[g] = first_from(low, begin[g], bounds[g + 1], right)


@kernel
def cut_blocks(  # type: ignore[no-untyped-def]
    begin, stop, low, order, taken, lone, least, breaks, leaf, first, count, widest, item_first, item_stop
):
    """Merge blocks from ``begin`` on until they are ``least`` wide; return how many items there are.

    Parameters
    ----------
    begin, stop : int
        Positions.
    low : int64 (n,)
        Along the axis, in the order of the positions; it never decreases from ``begin`` to ``stop``.
    order : int32 (n,)
        The block at each position.
    taken : int64 (blocks,)
        How wide each is.
    lone : bool (n,)
        A block of ``least`` width that may stand alone is an item of its own.
    least : int
    breaks : int64 (k,)
        Positions, ascending, over which nothing is joined; the last is ``stop`` or beyond.
    leaf, first, count, widest
        The pyramid, as :func:`fill_leaves` and :func:`fill_inner` take and fill it.
    item_first, item_stop : int64 (room,)
        Filled: each item's first position, and the one after its last.

    Returns
    -------
    int
        At most as many as there is room for.
    """
    items = 0
    at = begin
    next_break = 0
    while at < stop and items < len(item_first):
        while breaks[next_break] <= at:
            next_break += 1
        item_first[items] = at
        if lone[at] and taken[order[at]] >= least:
            at += 1
        else:
            limit = min(stop, breaks[next_break])
            left = first_from(low, at + 1, limit, low[at] + least)
            at = next_wide(at, left, least, order, taken, lone, leaf, first, count, widest)
        item_stop[items] = at
        items += 1
    return items


@kernel
def profile_items(  # type: ignore[no-untyped-def]
    item_first, item_stop, order, leaf, level_first, low, taken, begin, stop, born, died, first_access,
    access, start, step, jump, change, lowest, oldest, touched, live, at_low, since, touches,
):  # fmt: skip
    """Give each item's profile: what it is like at each moment, and in each cell of time.

    Parameters
    ----------
    item_first, item_stop : int64 (items,)
        Positions, as :func:`cut_blocks` fills them.
    order, leaf, low, taken, begin, stop, born, died, first_access, access, start, step, jump
        As :func:`fill_leaves` takes them.
    level_first : int64 (levels,)
        Each level's first row in the profiles of the pyramid.
    change, lowest, oldest, touched
        The profiles of the pyramid.
    live : int64 (items, cells + 1)
        Filled: how wide all is that lives at each moment. 0 before.
    at_low : int64 (items, cells)
        Filled: where the first of it lies. :data:`NOWHERE` before.
    since : int64 (items, cells)
        Filled: when the block that is idle longest was last touched; a large number where nothing lives, and
        before.
    touches : int32 (items, cells)
        Filled: allocations and accesses. 0 before.
    """
    cells = touches.shape[1]
    for item in range(len(item_first)):
        at = item_first[item]
        last = item_stop[item]
        reset(jump)
        while at < last:
            if at % leaf or at + leaf > last:
                add_block(
                    order[at], at, low, taken, begin, stop, born, died, first_access, access, start, step,
                    jump, live, at_low, since, touches, item
                )  # fmt: skip
                at += 1
                continue
            level = 0
            node = at // leaf
            while level + 1 < len(level_first) and node % 2 == 0 and at + (leaf << (level + 1)) <= last:
                node //= 2
                level += 1
            add_profile(
                level_first[level] + node, change, lowest, oldest, touched, live, at_low, since, touches, item
            )
            # What lives in it lies left of all that comes.
            for c in range(cells):
                if at_low[item, c] != NOWHERE and jump[c] == c:
                    jump[c] = c + 1
            at += leaf << level
        for c in range(1, cells):
            live[item, c] += live[item, c - 1]
        for c in range(cells - 2, -1, -1):
            since[item, c] = min(since[item, c], since[item, c + 1])


@kernel
def follow_sites(born, size, site_of, ended, live, peak, peak_row):  # type: ignore[no-untyped-def]
    """Follow the live bytes of each site and of all (the last one), row by row, and keep their peaks.

    Parameters
    ----------
    born, size : int64 (n,)
        The row that begins each block, ascending, and its bytes.
    site_of : int32 (n,)
    ended : int32 (rows,)
        The block that each row ends; -1: none.
    live : int64 (sites + 1,)
        Filled: the bytes that live at the end. 0 before.
    peak, peak_row : int64 (sites + 1,)
        Filled: the most bytes that live, and the row after which they first do. ``peak`` is 0 before.
    """
    every = len(live) - 1
    block = 0
    for row in range(len(ended)):
        gone = ended[row]
        if gone >= 0:
            live[site_of[gone]] -= size[gone]
            live[every] -= size[gone]
        if block == len(born) or born[block] != row:
            continue
        site = site_of[block]
        live[site] += size[block]
        live[every] += size[block]
        block += 1
        if live[site] > peak[site]:
            peak[site] = live[site]
            peak_row[site] = row
        if live[every] > peak[every]:
            peak[every] = live[every]
            peak_row[every] = row


@kernel
def fill_waves(value, least, first, place, kind):  # type: ignore[no-untyped-def]
    """Find the turning points of each series: extremes between which it moves by ``least`` or more.

    Parameters
    ----------
    value : int64 (values,)
    least : int64 (series,)
    first : int64 (series + 1,)
        Series ``s`` is ``value[first[s]:first[s + 1]]``.
    place : int64 (series,)
        Filled: how many there are in each.
    kind : uint8 (values,)
        Filled: 1 at a high, 2 at a low. 0 before.
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
