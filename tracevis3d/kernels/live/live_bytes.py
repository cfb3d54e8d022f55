"""The bytes that live, block by block, as rows of memory come."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inline, kernel

#: Places in the state of :func:`follow_bytes`: slots that are taken, bytes that live, the most since that was
#: set, and blocks that live.
TAKEN, LIVE, MOST, BLOCKS = 0, 1, 2, 3
STATE_SIZE = 4
#: Sizes that are none: of a slot without an address, and of an address at which nothing lives.
FREE, GONE = -2, -1
_ALLOCATED, _FREED = 0, 1


@inline
def slot_of(address: Any, keys: Any, sizes: Any) -> Any:
    """Return the slot of an address, or the free one where it would be.

    Parameters
    ----------
    address : uint64
    keys, sizes : uint64 (slots,), int64 (slots,)
        A power of two of slots, some of them free.

    Returns
    -------
    int64
    """
    mask = len(keys) - 1
    slot = np.int64((address * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
    while sizes[slot] != FREE and keys[slot] != address:
        slot = (slot + 1) & mask
    return slot


@kernel
def follow_bytes(first: int, kind: Any, address: Any, size: Any, keys: Any, sizes: Any, state: Any) -> int:
    """Add up the bytes that live, row by row, until the table is half full.

    Parameters
    ----------
    first : int
        The row to begin with.
    kind : uint8 (n,)
        0: allocated, 1: freed; others do nothing.
    address : uint64 (n,)
    size : int64 (n,)
    keys, sizes : uint64 (slots,), int64 (slots,)
        A power of two of slots: an address, and the bytes of the block there, or FREE or GONE.
    state : int64 (STATE_SIZE,)

    Returns
    -------
    int
        The row that did not fit; n: all did.
    """
    for row in range(first, len(kind)):
        if kind[row] != _ALLOCATED and kind[row] != _FREED:
            continue
        if 2 * state[TAKEN] >= len(keys):
            return row
        slot = slot_of(address[row], keys, sizes)
        if sizes[slot] >= 0:
            # An address that is given out again was freed, though that was not received.
            state[LIVE] -= sizes[slot]
            state[BLOCKS] -= 1
            sizes[slot] = GONE
        if kind[row] == _ALLOCATED:
            if sizes[slot] == FREE:
                keys[slot] = address[row]
                state[TAKEN] += 1
            sizes[slot] = max(size[row], 0)
            state[LIVE] += sizes[slot]
            state[BLOCKS] += 1
            state[MOST] = max(state[MOST], state[LIVE])
    return len(kind)


@kernel
def keep_living(keys: Any, sizes: Any, new_keys: Any, new_sizes: Any) -> int:
    """Enter what lives in one table into another one; return how many blocks that are.

    Parameters
    ----------
    keys, sizes : uint64 (slots,), int64 (slots,)
    new_keys, new_sizes : uint64 (2**k,), int64 (2**k,)
        Filled; ``new_sizes`` is FREE before.

    Returns
    -------
    int
    """
    kept = 0
    for slot in range(len(keys)):
        if sizes[slot] >= 0:
            where = slot_of(keys[slot], new_keys, new_sizes)
            new_keys[where], new_sizes[where] = keys[slot], sizes[slot]
            kept += 1
    return kept
