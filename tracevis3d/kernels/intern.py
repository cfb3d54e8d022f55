"""Interning of names as they lie in a buffer: the same bytes get the same number, in order of appearance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .jit import inline, kernel
from .raw_bytes import address, load64


@inline
def intern_bytes(data, low, high, table, hashes, starts, lengths, count):  # type: ignore[no-untyped-def]
    """Return the number of ``data[low:high]``; new bytes get the next one, and are stored.

    Open addressing; the hash multiplies and folds 8 bytes at a time, and equal bytes are searched as well.

    Parameters
    ----------
    data : uint8 (bytes,)
    low, high : int
    table : int32 (2**k,)
        Numbers by hash; -1: free. Not full.
    hashes : uint64 (capacity,)
    starts, lengths : int64 (capacity,)
        The names by number: hash, and where their bytes lie in ``data``.
    count : int
        How many names there are: the number of a new one.

    Returns
    -------
    int64
    """
    factor = np.uint64(0x9E3779B97F4A7C15)
    base = address(data)
    value = np.uint64(high - low) * factor
    at = low
    while at + 8 <= high:
        value = (value ^ load64(base + at)) * factor
        value ^= value >> np.uint64(32)
        at += 8
    while at < high:
        value = (value ^ np.uint64(data[at])) * factor
        at += 1
    value ^= value >> np.uint64(32)
    mask = np.uint64(len(table) - 1)
    length = high - low
    slot = np.int64(value & mask)
    while True:
        known = table[slot]
        if known < 0:
            break
        if hashes[known] == value and lengths[known] == length:
            other = starts[known]
            at = low
            while at + 8 <= high and load64(base + at) == load64(base + other):
                at += 8
                other += 8
            while at < high and data[at] == data[other]:
                at += 1
                other += 1
            if at == high:
                return np.int64(known)
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    table[slot] = count
    hashes[count] = value
    starts[count] = low
    lengths[count] = length
    return np.int64(count)


@kernel
def fill_table(table, hashes, count):  # type: ignore[no-untyped-def]
    """Enter the numbers ``0..count-1`` into an empty table.

    Parameters
    ----------
    table : int32 (2**k,)
        -1 before; filled.
    hashes : uint64 (capacity,)
    count : int
    """
    mask = np.uint64(len(table) - 1)
    for known in range(count):
        slot = np.int64(hashes[known] & mask)
        while table[slot] >= 0:
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
        table[slot] = known


@kernel
def intern_all(data, low, high, table, hashes, starts, lengths, state, number):  # type: ignore[no-untyped-def]
    """Number the names that lie between places of a buffer, until there is no room for a new one.

    Parameters
    ----------
    data : uint8 (bytes,)
    low, high : int64 (n,)
        Name ``i`` is ``data[low[i]:high[i]]``.
    table, hashes, starts, lengths : arrays
        As :func:`intern_bytes` takes them.
    state : int64 (2,)
        The name to go on with, and how many different ones there are; changed.
    number : int64 (n,)
        Filled.
    """
    for i in range(state[0], len(low)):
        state[0] = i
        if state[1] >= len(hashes):
            return
        found = intern_bytes(data, low[i], high[i], table, hashes, starts, lengths, state[1])
        number[i] = found
        if found == state[1]:
            state[1] += 1
    state[0] = len(low)


@inline
def slot_of(value, mask):  # type: ignore[no-untyped-def]
    """Return where a value is looked for first; values that differ in high bits alone lie apart, too.

    Parameters
    ----------
    value : int64
    mask : uint64
        Slots less one; their number is a power of two.

    Returns
    -------
    int64
    """
    mixed = np.uint64(value) ^ (np.uint64(value) >> np.uint64(32))
    return np.int64((mixed * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) & mask)


@kernel
def number_values(values, table, keys, state, number):  # type: ignore[no-untyped-def]
    """Number equal values alike, in the order of their appearance, until there is no room for a new one.

    Parameters
    ----------
    values : int64 (n,)
    table : int32 (2**k,)
        Numbers by hash, -1: free; longer than twice the room.
    keys : int64 (room,)
        Filled: the value of each number. Those before ``state[1]`` are entered first.
    state : int64 (2,)
        The row to go on with, and how many different values there are; changed.
    number : int32 (n,)
        Filled.
    """
    mask = np.uint64(len(table) - 1)
    for known in range(state[1]):
        slot = slot_of(keys[known], mask)
        while table[slot] >= 0:
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
        table[slot] = known
    for i in range(state[0], len(values)):
        slot = slot_of(values[i], mask)
        while table[slot] >= 0 and keys[table[slot]] != values[i]:
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
        if table[slot] < 0:
            if state[1] == len(keys):
                state[0] = i
                return
            keys[state[1]] = values[i]
            table[slot] = state[1]
            state[1] += 1
        number[i] = table[slot]
    state[0] = len(values)


@kernel
def number_near_values(values, low, table, keys, number):  # type: ignore[no-untyped-def]
    """Number equal values alike, in the order of their appearance, where they lie close together.

    Parameters
    ----------
    values : int64 (n,)
    low : int64
        The smallest.
    table : int32 (largest - low + 1,)
        -1; changed.
    keys : int64 (room,)
        Filled: the value of each number.
    number : int32 (n,)
        Filled.

    Returns
    -------
    int64
        How many different values there are.
    """
    count = np.int64(0)
    for i in range(len(values)):
        at = values[i] - low
        if table[at] < 0:
            table[at] = count
            keys[count] = values[i]
            count += 1
        number[i] = table[at]
    return count


class InternedNames:
    """The tables that :func:`intern_bytes` works on; :meth:`grow` makes room between two calls of a kernel.

    Parameters
    ----------
    capacity : int
        Names that there is room for.

    Attributes
    ----------
    table : int32 (slots,)
        A power of two of slots, at most half of them taken; -1: free.
    hashes : uint64 (capacity,)
    starts, lengths : int64 (capacity,)
        Where the bytes of a name lie in the buffer.
    """

    def __init__(self, capacity: int = 4096) -> None:
        self.table: NDArray[np.int32] = np.full(2 * capacity, -1, np.int32)
        self.hashes: NDArray[np.uint64] = np.zeros(capacity, np.uint64)
        self.starts: NDArray[np.int64] = np.zeros(capacity, np.int64)
        self.lengths: NDArray[np.int64] = np.zeros(capacity, np.int64)

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        """Return what the kernels take, in their order."""
        return self.table, self.hashes, self.starts, self.lengths

    def grow(self, count: int) -> None:
        """Quadruple the room; ``count`` names are in use."""
        room = 4 * len(self.hashes)
        self.hashes = np.resize(self.hashes, room)
        self.starts = np.resize(self.starts, room)
        self.lengths = np.resize(self.lengths, room)
        self.table = np.full(2 * room, -1, np.int32)
        fill_table(self.table, self.hashes, count)

    def all_of(
        self, data: NDArray[np.uint8], low: NDArray[np.int64], high: NDArray[np.int64], known: int = 0
    ) -> tuple[NDArray[np.int64], int]:
        """Return the number of each name, by the order of their appearance, and how many there are.

        Parameters
        ----------
        data : uint8 (bytes,)
        low, high : int64 (n,)
            Where they lie in it.
        known : int
            How many names there are before.

        Returns
        -------
        number : int64 (n,)
        count : int
        """
        number, state = np.empty(len(low), np.int64), np.array([0, known])
        while True:
            intern_all(data, low, high, *self.arrays, state, number)
            if state[0] == len(low):
                return number, int(state[1])
            self.grow(int(state[1]))

    def texts(self, data: NDArray[np.uint8], count: int, first: int = 0) -> list[str]:
        """Return names, decoded; bytes that are no UTF-8 become U+FFFD.

        Parameters
        ----------
        data : uint8 (bytes,)
            The buffer in which they were interned.
        count : int
            How many names there are.
        first : int
            The first that is wanted.

        Returns
        -------
        list of str
        """
        blob = data.data
        bounds = zip(self.starts[first:count].tolist(), self.lengths[first:count].tolist(), strict=True)
        return [str(blob[low : low + length], "utf-8", "replace") for low, length in bounds]
