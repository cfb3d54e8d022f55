"""Blocks of memory as a feed reports them: followed one by one, merged where they are too narrow."""

from __future__ import annotations

import math
from typing import Any

from ..jit import inline, kernel

#: Columns of a block: when it was allocated, freed (:data:`ALIVE`: it lives) and touched last, its bytes,
#: address, call site, item (-1: none) and thread.
BORN, DIED, TOUCHED, SIZE, ADDRESS, SITE, ITEM, THREAD = 0, 1, 2, 3, 4, 5, 6, 7
BLOCK_SIZE = 8
ALIVE = (1 << 63) - 1
#: Columns of an item: its first block, that block's call site (-1: of several), whether it is one block,
#: since when it is touched without pause and when it was touched last, live blocks and bytes, blocks in all,
#: and when it ended.
FIRST, OWNER, ALONE, BUSY, LAST, LIVING, LIVE, COUNT, ENDED = 0, 1, 2, 3, 4, 5, 6, 7, 8
ITEM_SIZE = 9
#: Places in the totals: live bytes, live blocks, frees and accesses of what is not known, allocations so far,
#: rows and items for which there was no room, slots of the table of addresses that are taken, blocks, items
#: and idle spells, blocks that lived too short to be seen.
BYTES_NOW, BLOCKS_NOW, UNKNOWN, ALLOCATED, ROWS_LOST, ITEMS_LOST, TAKEN, BLOCKS, ITEMS, SPELLS, BRIEF = range(
    11
)
TOTALS_SIZE = 11
#: Columns of a call site: live bytes, live blocks, allocations so far, the item that takes its next narrow
#: block (:data:`NEW`: none yet, :data:`NOWHERE`: its blocks are out of sight).
SITE_LIVE, SITE_LIVING, SITE_ALLOCATED, OPEN_ITEM = 0, 1, 2, 3
SITE_SIZE = 4
NEW, NOWHERE = -1, -2
#: Columns of a row: item, how long it was idle at its begin and at its end (both 0: in use), live bytes.
ROW_ITEM, AGE_FROM, AGE_TO, ROW_LIVE = 0, 1, 2, 3
ROW_SIZE = 4
_ALLOCATED, _FREED = 0, 1
_FREE, _GONE = -1, -2


@inline
def _wide(size: Any, scale: Any) -> Any:
    """Return how wide a block is drawn: bytes, or their logarithm."""
    if scale == 1:
        return math.log2(1.0 + size)
    return float(size)


@inline
def _find(known: Any, at: Any) -> Any:
    """Return where an address is, or could go; the table is never full."""
    mask = len(known) - 1
    slot = ((at >> 4) * 0x9E3779B1) & mask
    free = slot * 0 - 1
    while known[slot, 0] != at:
        if known[slot, 0] == _FREE:
            return free if free >= 0 else slot
        if known[slot, 0] == _GONE and free < 0:
            free = slot
        slot = (slot + 1) & mask
    return slot


@inline
def _put(rows: Any, times: Any, n: Any, totals: Any, begin: Any, end: Any, item: Any, a: Any, b: Any,
         live: Any) -> Any:  # fmt: skip
    """Write a row; return the number of rows then."""
    if end <= begin:
        return n
    if n >= len(times):
        totals[ROWS_LOST] += 1
        return n
    times[n, 0] = begin
    times[n, 1] = end
    rows[n, ROW_ITEM] = item
    rows[n, AGE_FROM] = a
    rows[n, AGE_TO] = b
    rows[n, ROW_LIVE] = live
    return n + 1


@kernel
def follow_blocks(
    kind: Any, time: Any, address: Any, size: Any, site: Any, thread: Any, first: int, pause: int, brief: int,
    least: float, scale: int, by_site: int, known: Any, blocks: Any, spells: Any, items: Any, wide: Any,
    sites: Any, totals: Any, times: Any, rows: Any, counts: Any,
) -> Any:  # fmt: skip
    """Follow blocks of memory from row ``first`` on, until all rows are taken or a table is full.

    Parameters
    ----------
    kind : uint8 (n,)
        0 allocated, 1 freed, 2 accessed.
    time, address, size : int64 (n,)
    site, thread : int32 or int64 (n,)
    first : int
    pause : int
        Nanoseconds without a touch from which on a block counts as idle.
    brief : int
        Blocks that live shorter than so many nanoseconds lose their room along x.
    least : float
        Width from which on a block stands alone; narrower ones share an item until that is so wide.
    scale : int
        0: width is bytes, 1: their logarithm.
    by_site : int
        1: items hold blocks of one call site; 0: in the order of creation.
    known : int64 (k, 2)
        Open addressing, k a power of two: address and block; -1: free, -2: was freed.
    blocks : int64 (b, BLOCK_SIZE)
    spells : int64 (s, 3)
        Times without a touch that are over: block, from, to.
    items : int64 (m, ITEM_SIZE)
    wide : float64 (m,)
        Width of each item.
    sites : int64 (sites, SITE_SIZE)
    totals : int64 (TOTALS_SIZE,)
    times : int64 (r, 2)
    rows : int64 (r, ROW_SIZE)
        The ended parts of items that are one block.
    counts : int64 (1,)
        Rows written.

    Returns
    -------
    int
        The first row that was not taken.
    """
    n = counts[0]
    for i in range(first, len(kind)):
        at, when = address[i], time[i]
        if kind[i] == _ALLOCATED:
            if totals[BLOCKS] >= len(blocks) or totals[TAKEN] * 4 >= len(known) * 3:
                counts[0] = n
                return i
            slot = _find(known, at)
            if known[slot, 0] == at:
                # Its end was lost on the way.
                n = _end(
                    known[slot, 1], when, pause, 0, scale, blocks, items, wide, sites, totals, times, rows, n
                )
            elif known[slot, 0] == _FREE:
                totals[TAKEN] += 1
            b = totals[BLOCKS]
            totals[BLOCKS] += 1
            known[slot, 0] = at
            known[slot, 1] = b
            s = site[i]
            blocks[b, BORN] = when
            blocks[b, DIED] = ALIVE
            blocks[b, TOUCHED] = when
            blocks[b, SIZE] = size[i]
            blocks[b, ADDRESS] = at
            blocks[b, SITE] = s
            blocks[b, THREAD] = thread[i]
            sites[s, SITE_LIVE] += size[i]
            sites[s, SITE_LIVING] += 1
            sites[s, SITE_ALLOCATED] += 1
            totals[BYTES_NOW] += size[i]
            totals[BLOCKS_NOW] += 1
            totals[ALLOCATED] += 1
            group = s if by_site == 1 else s * 0
            w = _wide(size[i], scale)
            blocks[b, ITEM] = _home(b, group, w, least, blocks, items, wide, sites, totals)
            continue
        slot = _find(known, at)
        if known[slot, 0] != at:
            totals[UNKNOWN] += 1
            continue
        b = known[slot, 1]
        if kind[i] == _FREED:
            known[slot, 0] = _GONE
            n = _end(b, when, pause, brief, scale, blocks, items, wide, sites, totals, times, rows, n)
            continue
        item, before = blocks[b, ITEM], blocks[b, TOUCHED]
        if when - before > pause:
            if totals[SPELLS] >= len(spells):
                counts[0] = n
                return i
            s = totals[SPELLS]
            totals[SPELLS] += 1
            spells[s, 0] = b
            spells[s, 1] = before
            spells[s, 2] = when
            if item >= 0 and items[item, ALONE] == 1:
                bytes_ = blocks[b, SIZE]
                n = _put(rows, times, n, totals, items[item, BUSY], before, item, 0, 0, bytes_)
                n = _put(rows, times, n, totals, before, when, item, 0, when - before, bytes_)
                items[item, BUSY] = when
        blocks[b, TOUCHED] = max(before, when)
        if item >= 0:
            items[item, LAST] = max(items[item, LAST], when)
    counts[0] = n
    return len(kind)


@inline
def _home(b: Any, group: Any, w: Any, least: Any, blocks: Any, items: Any, wide: Any, sites: Any,
          totals: Any) -> Any:  # fmt: skip
    """Return the item of a new block, a new one if need be; -1: it is out of sight, or there is no room."""
    item = sites[group, OPEN_ITEM]
    if item == NOWHERE:
        return item * 0 - 1
    alone = w >= least
    if alone or item == NEW:
        if totals[ITEMS] >= len(items):
            totals[ITEMS_LOST] += 1
            return item * 0 - 1
        item = totals[ITEMS]
        totals[ITEMS] += 1
        _begin_item(item, b, blocks, items, wide)
        items[item, ALONE] = 1 if alone else 0
        if not alone:
            sites[group, OPEN_ITEM] = item
    _add_to_item(item, b, w, blocks, items, wide)
    if not alone and wide[item] >= least:
        sites[group, OPEN_ITEM] = NEW
    return item


@inline
def _begin_item(item: Any, b: Any, blocks: Any, items: Any, wide: Any) -> Any:
    items[item, FIRST] = b
    items[item, OWNER] = blocks[b, SITE]
    items[item, ALONE] = 0
    items[item, BUSY] = blocks[b, BORN]
    items[item, LAST] = blocks[b, TOUCHED]
    items[item, LIVING] = 0
    items[item, LIVE] = 0
    items[item, COUNT] = 0
    items[item, ENDED] = 0
    wide[item] = 0.0
    return 0


@inline
def _add_to_item(item: Any, b: Any, w: Any, blocks: Any, items: Any, wide: Any) -> Any:
    wide[item] += w
    items[item, COUNT] += 1
    if items[item, OWNER] != blocks[b, SITE]:
        items[item, OWNER] = -1
    if blocks[b, DIED] == ALIVE:
        items[item, LIVING] += 1
        items[item, LIVE] += blocks[b, SIZE]
    else:
        items[item, ENDED] = max(items[item, ENDED], blocks[b, DIED])
    items[item, LAST] = max(items[item, LAST], blocks[b, TOUCHED])
    return 0


@inline
def _end(b: Any, when: Any, pause: Any, brief: Any, scale: Any, blocks: Any, items: Any, wide: Any,
    sites: Any,
         totals: Any, times: Any, rows: Any, n: Any) -> Any:  # fmt: skip
    """Let a block end; return the number of rows then."""
    item, site, bytes_ = blocks[b, ITEM], blocks[b, SITE], blocks[b, SIZE]
    blocks[b, DIED] = max(when, blocks[b, BORN])
    totals[BYTES_NOW] -= bytes_
    totals[BLOCKS_NOW] -= 1
    sites[site, SITE_LIVE] -= bytes_
    sites[site, SITE_LIVING] -= 1
    short = when - blocks[b, BORN] < brief
    if short:
        totals[BRIEF] += 1
    if item < 0:
        return n
    items[item, LIVING] -= 1
    items[item, LIVE] -= bytes_
    items[item, ENDED] = max(items[item, ENDED], when)
    if items[item, ALONE] == 1:
        touched = blocks[b, TOUCHED]
        if when - touched > pause:
            n = _put(rows, times, n, totals, items[item, BUSY], touched, item, 0, 0, bytes_)
            n = _put(rows, times, n, totals, touched, when, item, 0, when - touched, bytes_)
        else:
            n = _put(rows, times, n, totals, items[item, BUSY], when, item, 0, 0, bytes_)
    if short:
        wide[item] = max(wide[item] - _wide(bytes_, scale), 0.0)
        items[item, COUNT] -= 1
        blocks[b, ITEM] = -1
    return n


@kernel
def keep_blocks(blocks: Any, count: int, edge: int, brief: int, new: Any) -> Any:
    """Drop blocks that ended before ``edge`` or lived too short; the others move together.

    Parameters
    ----------
    blocks : int64 (b, BLOCK_SIZE)
        Changed in place.
    count : int
        How many blocks there are.
    edge : int
        Nanoseconds.
    brief : int
        Freed blocks that lived for fewer nanoseconds are dropped.
    new : int64 (count,)
        Filled: the new number of each block; -1: it no longer exists.

    Returns
    -------
    int
        How many stay.
    """
    n = 0
    for b in range(count):
        died = blocks[b, DIED]
        if died != ALIVE and (died < edge or died - blocks[b, BORN] < brief):
            new[b] = -1
            continue
        new[b] = n
        if n != b:
            for c in range(BLOCK_SIZE):
                blocks[n, c] = blocks[b, c]
        n += 1
    return n


@kernel
def keep_spells(spells: Any, count: int, edge: int, new: Any) -> Any:
    """Drop idle spells that were over before ``edge``, and those of dropped blocks; the others move together.

    Parameters
    ----------
    spells : int64 (s, 3)
        Block, from, to; changed in place.
    count : int
        How many spells there are.
    edge : int
        Nanoseconds.
    new : int64 (blocks,)
        As :func:`keep_blocks` fills it.

    Returns
    -------
    int
        How many stay.
    """
    n = 0
    for s in range(count):
        b = new[spells[s, 0]]
        if b >= 0 and spells[s, 2] >= edge:
            spells[n, 0] = b
            spells[n, 1] = spells[s, 1]
            spells[n, 2] = spells[s, 2]
            n += 1
    return n


@kernel
def find_addresses(blocks: Any, count: int, known: Any) -> Any:
    """Fill an empty table of addresses with the blocks that live.

    Parameters
    ----------
    blocks : int64 (b, BLOCK_SIZE)
    count : int
        How many blocks there are.
    known : int64 (2**k, 2)
        As for :func:`follow_blocks`; -1 before.

    Returns
    -------
    int
        How many live.
    """
    n = 0
    for b in range(count):
        if blocks[b, DIED] == ALIVE:
            slot = _find(known, blocks[b, ADDRESS])
            known[slot, 0] = blocks[b, ADDRESS]
            known[slot, 1] = b
            n += 1
    return n


@kernel
def cut_live(
    order: Any, blocks: Any, edge: int, least: float, scale: int, left: float, right: float, site_wide: Any,
    by_site: int, items: Any, wide: Any, sites: Any, out: Any,
) -> Any:  # fmt: skip
    """Make the items anew: blocks along x, narrow neighbours merged until they are wide enough.

    Parameters
    ----------
    order : int64 (n,)
        Blocks from left to right.
    blocks, items, wide, sites
        As for :func:`follow_blocks`; items, and which of them are open, are filled.
    edge : int
        Blocks that ended before are left out.
    least : float
    scale : int
    left, right : float
        What lies beyond gets no item.
    site_wide : float64 (sites,)
        Width of each call site: with ``by_site`` nothing is merged over the bounds of wide ones.
    by_site : int
    out : float64 (2,)
        Where the first item begins, and the width of all blocks.

    Returns
    -------
    int
        Items.
    """
    n, at, current, before = 0, 0.0, -1, -1
    begun = False
    for s in range(len(sites)):
        sites[s, OPEN_ITEM] = NOWHERE
    for k in range(len(order)):
        b = order[k]
        blocks[b, ITEM] = -1
        if blocks[b, DIED] != ALIVE and blocks[b, DIED] < edge:
            continue
        site = blocks[b, SITE]
        w = _wide(blocks[b, SIZE], scale)
        low = at
        at += w
        group = site if by_site == 1 else site * 0
        if at <= left or low >= right:
            current = -1
            # What comes next of a site lies behind its last block.
            sites[group, OPEN_ITEM] = NOWHERE
            continue
        if by_site == 1 and site != before:
            if before < 0 or site_wide[site] >= least or site_wide[before] >= least:
                current = -1
            before = site
        alone = w >= least
        if alone or current < 0:
            if n >= len(items):
                # Too many: the rest shares the last one.
                n = len(items) - 1
                alone = False
                current = n
                n += 1
            else:
                _begin_item(n, b, blocks, items, wide)
                items[n, ALONE] = 1 if alone else 0
                current = n
                n += 1
        if not begun:
            begun = True
            out[0] = low
        _add_to_item(current, b, w, blocks, items, wide)
        blocks[b, ITEM] = current
        sites[group, OPEN_ITEM] = NEW
        if alone or wide[current] >= least:
            current = -1
        else:
            sites[group, OPEN_ITEM] = current
    out[1] = at
    if by_site == 1:
        for s in range(len(sites)):
            o = sites[s, OPEN_ITEM]
            # A site's next block must not go among those of others.
            if o >= 0 and items[o, OWNER] != s:
                sites[s, OPEN_ITEM] = NEW
    return n


@kernel
def past_of_blocks(
    blocks: Any, count: int, spells: Any, spell_count: int, pause: int, start: int, step: int, busy: Any,
    items: Any, live: Any, used: Any, last: Any, totals: Any, times: Any, rows: Any,
) -> Any:  # fmt: skip
    """Write what the items of :func:`cut_live` did before: rows of single blocks, cells of merged
    ones.

    Parameters
    ----------
    blocks, spells, items, totals, times, rows
        As for :func:`follow_blocks`; items learn since when they are busy.
    count, spell_count : int
    pause : int
    start, step : int
        Nanoseconds of the first cell, and of each.
    busy : int64 (count,)
        Room.
    live : int64 (items, cells + 1)
        Change of live bytes from cell to cell.
    used : int32 (items, cells + 1)
        Change of the number of blocks in use.
    last : int64 (items,)
        When each item was touched last before ``start``, as far as is known; grows.

    Returns
    -------
    int
        Rows written.
    """
    n = 0
    cells = live.shape[1] - 1
    for b in range(count):
        busy[b] = blocks[b, BORN]
    for s in range(spell_count):
        b = spells[s, 0]
        item = blocks[b, ITEM]
        if item < 0:
            continue
        if items[item, ALONE] == 1:
            bytes_ = blocks[b, SIZE]
            n = _put(rows, times, n, totals, busy[b], spells[s, 1], item, 0, 0, bytes_)
            n = _put(
                rows,
                times,
                n,
                totals,
                spells[s, 1],
                spells[s, 2],
                item,
                0,
                spells[s, 2] - spells[s, 1],
                bytes_,
            )
        else:
            _between(used, item, busy[b], spells[s, 1], 1, start, step, cells)
            if spells[s, 1] < start:
                last[item] = max(last[item], spells[s, 1])
        busy[b] = spells[s, 2]
    for b in range(count):
        item = blocks[b, ITEM]
        if item < 0:
            continue
        touched, died = blocks[b, TOUCHED], blocks[b, DIED]
        if items[item, ALONE] == 1:
            items[item, BUSY] = busy[b]
            if died != ALIVE:
                bytes_ = blocks[b, SIZE]
                until = touched if died - touched > pause else died
                n = _put(rows, times, n, totals, busy[b], until, item, 0, 0, bytes_)
                n = _put(rows, times, n, totals, until, died, item, 0, died - until, bytes_)
        else:
            _between(live, item, blocks[b, BORN], died, blocks[b, SIZE], start, step, cells)
            _between(used, item, busy[b], touched, 1, start, step, cells)
            if blocks[b, BORN] < start:
                last[item] = max(last[item], touched if touched < start else blocks[b, BORN])
    return n


@inline
def _between(change: Any, item: Any, begin: Any, end: Any, by: Any, start: Any, step: Any, cells: Any) -> Any:
    """Add ``by`` to the cells that ``begin`` to ``end`` touches."""
    if end >= start:
        a = min(max((begin - start) // step, 0), cells)
        z = cells if end == ALIVE else min((end - start) // step + 1, cells)
        if z > a:
            change[item, a] += by
            change[item, z] -= by
    return 0


@kernel
def write_cells(live: Any, used: Any, items: Any, last: Any, start: int, step: int, totals: Any,
               times: Any, rows: Any, n: int) -> Any:  # fmt: skip
    """Write a row for each cell in which an item of several blocks lives.

    Parameters
    ----------
    live, used
        As :func:`past_of_blocks` fills them.
    items, totals, times, rows
        As for :func:`follow_blocks`.
    last : int64 (items,)
        When each item was touched last before ``start``.
    start, step : int
        Nanoseconds of the first cell, and of each.
    n : int
        Rows that there are.

    Returns
    -------
    int
        Rows that there are then.
    """
    cells = live.shape[1] - 1
    for item in range(len(live)):
        if items[item, ALONE] == 1:
            continue
        bytes_, busy, since = live[item, 0] * 0, used[item, 0] * 0, last[item]
        for c in range(cells):
            bytes_ += live[item, c]
            busy += used[item, c]
            begin = start + c * step
            end = begin + step
            if busy > 0:
                since = end
            if bytes_ > 0:
                if busy > 0:
                    n = _put(rows, times, n, totals, begin, end, item, 0, 0, bytes_)
                else:
                    n = _put(rows, times, n, totals, begin, end, item, begin - since, end - since, bytes_)
    return n


@kernel
def idle_bytes(blocks: Any, count: int, since: int) -> Any:
    """Return the bytes of live blocks that were last touched before a moment.

    Parameters
    ----------
    blocks : int64 (b, BLOCK_SIZE)
    count : int
        How many blocks there are.
    since : int
        Nanoseconds.

    Returns
    -------
    int64
    """
    idle = blocks[0, SIZE] * 0
    for b in range(count):
        if blocks[b, DIED] == ALIVE and blocks[b, TOUCHED] < since:
            idle += blocks[b, SIZE]
    return idle


@kernel
def present_width(blocks: Any, count: int, edge: int, scale: int, site_wide: Any) -> Any:
    """Return the width of all blocks that live or ended at ``edge`` or later.

    Parameters
    ----------
    blocks : int64 (b, BLOCK_SIZE)
    count : int
        How many blocks there are.
    edge : int
        Nanoseconds.
    scale : int
        0: width is bytes, 1: their logarithm.
    site_wide : float64 (sites,)
        Filled: the width of each call site's.

    Returns
    -------
    float64
    """
    total = 0.0
    for s in range(len(site_wide)):
        site_wide[s] = 0.0
    for b in range(count):
        if blocks[b, DIED] == ALIVE or blocks[b, DIED] >= edge:
            w = _wide(blocks[b, SIZE], scale)
            total += w
            site_wide[blocks[b, SITE]] += w
    return total
