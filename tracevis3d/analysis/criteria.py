"""The matching criteria of pattern detection: when two subtrees count as alike (SEAT, section 2.9.1.1)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..kernels.tree import compact as kernels
from .compact import CompactTrace
from .sets import distinct_sets
from .subtrees import HASH_MASK, empty_table

#: Name of each criterion -> its meaning.
CRITERIA = {
    "exact": "same calls in the same order",
    "collapsed": "same calls in the same order, however often each repeats in a row",
    "unordered": "same calls in the same numbers, in any order",
    "set-of-children": "same calls on each level, in any order and number",
    "depth": "same calls in the same order down to a depth",
    "functions": "same set of functions in the subtree, whatever calls which",
}


@dataclass(frozen=True, eq=False)
class Likeness:
    """The distinct subtrees sorted into kinds that are similar.

    Attributes
    ----------
    of_class : int32 (m,)
        The kind of each class.
    representative : int32 (kinds,)
        The first class of each kind.
    """

    of_class: NDArray[np.int32]
    representative: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.representative)


def alike(
    graph: CompactTrace,
    criterion: str = "exact",
    depth: int = 3,
    *,
    distinct: bool = True,
    hash_mask: int = HASH_MASK,
) -> Likeness:
    """Sort the distinct subtrees into kinds by a criterion, in time linear in the graph.

    Parameters
    ----------
    graph : CompactTrace
    criterion : str
        One of :data:`CRITERIA`.
    depth : int
        For ``depth``: how many levels are compared; 1 is the called function alone. The time grows with it,
        until nothing more can be distinguished.
    distinct : bool
        Whether the graph's nodes are known to differ, as those of one trace do.
    hash_mask : int
        Bits of the hash; for tests of collisions.

    Returns
    -------
    Likeness

    Raises
    ------
    UsageError
        For another criterion, or a depth below 1.
    """
    if criterion not in CRITERIA:
        raise UsageError(f"there is no criterion {criterion!r}: choose one of {', '.join(CRITERIA)}")
    subtrees, edges, m = graph.subtrees, graph.edges, len(graph)
    if criterion == "exact" and distinct:
        every = np.arange(m, dtype=np.int32)
        return Likeness(every, every)
    if criterion == "functions":
        # The set and the root together: a pattern is named after its root.
        sets = distinct_sets(subtrees).of_class.astype(np.int64)
        key = sets * (int(subtrees.function.max(initial=0)) + 1) + subtrees.function
        _, representative, of_class = np.unique(key, return_index=True, return_inverse=True)
        return Likeness(of_class.astype(np.int32).ravel(), representative.astype(np.int32))

    tally = np.zeros(m, np.int64)
    seed, mask = np.uint64(secrets.randbits(64)), np.uint64(hash_mask)

    def numbered(mode: int, inner: NDArray[np.int32], of_class: NDArray[np.int32]) -> Likeness:
        representative = np.empty(m, np.int32)
        count = kernels.number_alike(
            mode, subtrees.function, edges.first, edges.child, edges.count, inner,
            seed, mask, empty_table(max(m, 1)), tally, of_class, representative,
        )  # fmt: skip
        return Likeness(of_class, representative[:count].copy())

    if criterion != "depth":
        mode = {
            "exact": kernels.ORDERED,
            "collapsed": kernels.COLLAPSED,
            "unordered": kernels.MULTISET,
            "set-of-children": kernels.SET,
        }[criterion]
        of_class = np.empty(m, np.int32)
        return numbered(mode, of_class, of_class)
    if depth < 1:
        raise UsageError(f"a depth of {depth} compares nothing: 1 or more is expected")
    # Function numbers can exceed the classes; the first class of each function represents it.
    _, representative, of_class = np.unique(subtrees.function, return_index=True, return_inverse=True)
    found = Likeness(of_class.astype(np.int32).ravel(), representative.astype(np.int32))
    for _ in range(depth - 1):
        finer = numbered(kernels.ORDERED, found.of_class, np.empty(m, np.int32))
        if len(finer) == len(found):
            break
        found = finer
    return found
