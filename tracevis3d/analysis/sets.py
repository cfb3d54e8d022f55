"""The distinct sets of functions Γ of a trace (TraceDiff, Eq. 2)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..kernels.tree.sets import number_sets
from ..kernels.tree.subtrees import fill_table
from .subtrees import HASH_MASK, Subtrees, empty_table, grown

#: Maximum number of members of sets examined: two seconds of work. A program of 14 million calls
#: needs 20 million; only a trace made for it, deep and with as many functions as calls, needs this many.
BUDGET = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Sets:
    """The distinct sets Γ: the functions called in a subtree, its root's included.

    A set is kept as what it adds to its base, which is the largest set among the children of the first
    class that has it: a few functions instead of hundreds, and no more than there are distinct child
    lists, however many functions a trace has. A base comes before the sets that build on it.

    Attributes
    ----------
    of_class : int32 (m,)
        Set of each class of :class:`~.subtrees.Subtrees`.
    base : int32 (s,)
        The set that it includes; -1 for none.
    size : int32 (s,)
        Number of functions in the set.
    first : int64 (s + 1,)
        Set ``i`` is the set ``base[i]`` and the functions ``added[first[i]:first[i + 1]]``.
    added : int32 (a,)
        Functions that aren't in the base, in no particular order.
    """

    of_class: NDArray[np.int32]
    base: NDArray[np.int32]
    size: NDArray[np.int32]
    first: NDArray[np.int64]
    added: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.base)

    def members(self, index: int) -> NDArray[np.int32]:
        """Return the functions of set ``index`` in ascending order, as int32 of shape ``(size[index],)``."""
        parts = []
        walked = range(len(self))[index]
        while walked >= 0:
            parts.append(self.added[self.first[walked] : self.first[walked + 1]])
            walked = int(self.base[walked])
        return np.sort(np.concatenate(parts))


def distinct_sets(subtrees: Subtrees, *, budget: int = BUDGET, hash_mask: int = HASH_MASK) -> Sets:
    """Find the distinct sets of functions of the classes.

    Time follows the edges between distinct subtrees times what their sets add; memory follows what they
    add.

    Parameters
    ----------
    subtrees : Subtrees
    budget : int
        Members of sets that are examined before giving up.
    hash_mask : int
        Bits of the 64-bit hash that are used. The result doesn't depend on it, only the time does: tests
        provoke collisions with it.

    Returns
    -------
    Sets

    Raises
    ------
    InputError
        If ``budget`` doesn't suffice.
    """
    m = len(subtrees)
    functions = int(subtrees.function.max()) + 1 if m else 0
    seed, mask = np.uint64(secrets.randbits(64)), np.uint64(hash_mask)
    of_class = np.empty(m, np.int32)
    mark = np.zeros(functions, np.int32)
    capacity = min(max(m, 1), 1 << 13)
    base = np.empty(capacity, np.int32)
    size = np.empty(capacity, np.int32)
    first = np.zeros(capacity + 1, np.int64)
    added = np.empty(8 * capacity, np.int32)
    hashes = np.empty(capacity, np.uint64)
    seen = np.empty(capacity, np.int32)
    table = empty_table(capacity)
    start, turn, sets, used = 0, 0, 0, 0
    while True:
        start, turn, sets, used, budget = number_sets(
            subtrees.function, subtrees.first, subtrees.child, start, turn, seed, mask, budget, of_class,
            mark, table, sets, used, base, size, first, added, hashes, seen,
        )  # fmt: skip
        if start == m:
            break
        if budget < 0:
            raise InputError(
                f"The {m:,} distinct subtrees of this trace reach too many different functions "
                f"({functions:,}) to compare the sets of functions below them: leave out part of the trace."
            )
        if sets == capacity:
            capacity = min(m, 2 * capacity)
            base, size, first = grown(base, capacity), grown(size, capacity), grown(first, capacity + 1)
            hashes, seen = grown(hashes, capacity), grown(seen, capacity)
            table = empty_table(capacity)
            fill_table(table, hashes, sets)
        else:
            added = grown(added, 2 * len(added))
    return Sets(
        of_class, base[:sets].copy(), size[:sets].copy(), first[: sets + 1].copy(), added[:used].copy()
    )
