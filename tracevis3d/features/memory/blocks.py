"""Blocks of memory: the lifetime of each, from the rows of a recording.

A block begins with its allocation and ends with the free of its address (Seyster, *Techniques for
Visualizing Software Execution*, section 2.4.2: a range). Everything else about memory follows from these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.memory import allocations as k
from ...trace.model import ACCESS, ALLOC, Memory

Ints = NDArray[np.int64]

#: The end of a block that is never freed.
NEVER = np.int64(1 << 62)
#: Blocks that are taken at once where columns of all would need much memory.
AT_ONCE = 1 << 19


@dataclass(frozen=True)
class Oddity:
    """The number of events that occur in no correct program, or in no complete recording.

    Attributes
    ----------
    count : int
    row : int
        Of the memory table, of the first; -1 if there is none.
    """

    count: int
    row: int


@dataclass(frozen=True, eq=False)
class Blocks:
    """All blocks, in order of creation.

    Attributes
    ----------
    row : int64 (n,)
        The row of the memory table that allocates it.
    free_row : int64 (n,)
        The row that ends it; -1: it is never freed.
    born, died : int64 (n,)
        Nanoseconds; ``died`` is :data:`NEVER` where it is never freed.
    size : int64 (n,)
    first_access : int64 (n + 1,)
        Accesses to block ``i`` are ``access[first_access[i]:first_access[i + 1]]``.
    access : int64 (m,)
        Nanoseconds, ascending for each block.
    end : int
        The end of the recording, at 1 ns or later.
    time : int64 (rows,)
        When each row of the recording was written, in nanoseconds.
    row_address : uint64 (rows,)
        What each row of the recording is about.
    double_frees, unknown_frees, overwritten, unknown_accesses : Oddity
        Frees of what was freed before; frees of what was never allocated; addresses given out again before
        they were freed (the older block ends there); accesses to what does not live.
    """

    row: Ints
    free_row: Ints
    born: Ints
    died: Ints
    size: Ints
    first_access: Ints
    access: Ints
    end: int
    time: Ints
    row_address: NDArray[np.uint64]
    double_frees: Oddity
    unknown_frees: Oddity
    overwritten: Oddity
    unknown_accesses: Oddity

    def __len__(self) -> int:
        return len(self.row)

    def parts(self) -> Iterator[slice]:
        """Take the blocks in turns: a column of ten million is 80 MB, and so is each step of computing it."""
        for first in range(0, len(self), AT_ONCE):
            yield slice(first, min(first + AT_ONCE, len(self)))

    # Not kept, nor are those below: such a column is made in 20 ms.
    @property
    def address(self) -> NDArray[np.uint64]:
        """Where each block lies: uint64 (n,)."""
        return self.row_address[self.row]

    @property
    def until(self) -> Ints:
        """When each block ends, or the recording: int64 (n,)."""
        return np.minimum(self.died, self.end)

    @property
    def ended(self) -> NDArray[np.int32]:
        """The block that each row of the recording ends; -1: none. Int32 (rows,)."""
        blocks = np.full(len(self.time), -1, np.int32)
        for part in self.parts():
            freed = np.flatnonzero(self.free_row[part] >= 0) + part.start
            blocks[self.free_row[freed]] = freed
        return blocks

    @property
    def last_touch(self) -> Ints:
        """When each block was last accessed, or else allocated: int64 (n,)."""
        touched = self.born.copy()
        if not len(self.access):
            return touched
        has = self.first_access[1:] > self.first_access[:-1]
        touched[has] = np.maximum(touched[has], self.access[self.first_access[1:][has] - 1])
        return touched

    def sums(
        self, of: NDArray[np.int32], groups: int, weight: Callable[[slice], NDArray[Any] | None]
    ) -> NDArray[np.float64]:
        """Return a sum over the blocks of each group, taken in turns: columns of all blocks are large.

        Parameters
        ----------
        of : int32 (n,)
            The group of each block.
        groups : int
            How many there are.
        weight : callable
            ``weight(part)``: what is summed, of a part of the blocks; None: the blocks are counted.

        Returns
        -------
        float64 (groups,)
        """
        total = np.zeros(groups)
        for part in self.parts():
            total += np.bincount(of[part], weight(part), groups)
        return total


def find_blocks(memory: Memory, end: int) -> Blocks:
    """Pair allocations with frees by hashing addresses, in linear time.

    A reallocation is a free and an allocation. What is odd is counted and does no harm.

    Parameters
    ----------
    memory : Memory
    end : int
        Nanoseconds: when the recording ends.

    Returns
    -------
    Blocks
    """
    kind = np.ascontiguousarray(memory.kind)
    address = np.ascontiguousarray(memory.address)
    n = int(np.count_nonzero(kind == ALLOC))
    born, died = np.empty(n, np.int64), np.full(n, -1, np.int64)
    block_of, counts = np.empty(len(kind), np.int32), np.zeros(k.COUNTS, np.int64)
    state, slots = np.zeros(k.STATE_SIZE, np.int64), 1 << 12
    keys, last = np.empty(slots, np.uint64), np.full(slots, -1, np.int32)
    while k.pair_blocks(kind, address, state, keys, last, born, died, block_of, counts) == k.TABLE_FULL:
        slots *= 4
        old = keys, last
        keys, last = np.empty(slots, np.uint64), np.full(slots, -1, np.int32)
        k.move_table(*old, keys, last)
    time = np.ascontiguousarray(memory.time, np.int64)
    accesses = np.flatnonzero(kind == ACCESS)
    accesses = accesses[block_of[accesses] >= 0]
    owner = block_of[accesses]
    accesses = accesses[np.argsort(owner, kind="stable")]
    first_access = np.zeros(n + 1, np.int64)
    if len(accesses):
        np.cumsum(np.bincount(owner, minlength=n), out=first_access[1:])
    del block_of
    ends, size = np.empty((2, n), np.int64)
    for first in range(0, n, AT_ONCE):
        part = slice(first, first + AT_ONCE)
        ends[part] = np.where(died[part] >= 0, time[died[part]], NEVER)
        np.maximum(memory.size[born[part]], 0, out=size[part])
    odd = {name: Oddity(int(counts[i]), int(counts[i + 1]) if counts[i] else -1) for name, i in _ODDITIES}
    return Blocks(
        row=born,
        free_row=died,
        born=time[born],
        died=ends,
        size=size,
        first_access=first_access,
        access=time[accesses],
        end=max(end, 1),
        time=time,
        row_address=address,
        **odd,
    )


_ODDITIES = (("double_frees", 0), ("unknown_frees", 2), ("overwritten", 4), ("unknown_accesses", 6))
