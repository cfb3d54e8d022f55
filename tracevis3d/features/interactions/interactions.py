"""Calls between elements: who calls whom, how often in any window of time (ExtraVis, section 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...trace.model import Trace
from .hierarchy import Elements

Int32s = NDArray[np.int32]
Ints = NDArray[np.int64]

#: Calls of a block whose counts are summed up beforehand, at least, and entries of all sums, at most.
_BLOCK, _SUMS = 2048, 1 << 23


@dataclass(frozen=True, eq=False)
class Interactions:
    """The calls that have a caller, in order of time, and the distinct pairs of elements they join.

    Attributes
    ----------
    call : int64 (m,)
        Index into ``Trace.calls`` of each.
    time : int64 (m,)
        Its start, nanoseconds; never decreases.
    pair : int32 (m,)
    caller, callee : int32 (pairs,)
        Elements. A pair may be one element twice.
    elements : int
    roots : int
        Calls without a caller, or flows of which an end hit no call, which are none of these.
    """

    call: Ints
    time: Ints
    pair: Int32s
    caller: Int32s
    callee: Int32s
    elements: int
    roots: int
    _block: int
    _sums: Int32s

    def __len__(self) -> int:
        return len(self.call)

    @property
    def pairs(self) -> int:
        """The number of distinct pairs."""
        return len(self.caller)

    def range(self, start: int, end: int) -> tuple[int, int]:
        """Return the slice of calls that start from ``start`` up to ``end``, both included.

        Parameters
        ----------
        start, end : int
            Nanoseconds.

        Returns
        -------
        (int, int)
        """
        low, high = np.searchsorted(self.time, [start, end + 1], "left")
        return int(low), int(high)

    def counts(self, low: int, high: int) -> Ints:
        """Return how often each pair is among the calls ``low`` up to ``high``, int64 (pairs,).

        Takes time for the pairs and two blocks of calls, however long the stretch is.

        Parameters
        ----------
        low, high : int
            The slice ``[low, high)``.

        Returns
        -------
        int64 (pairs,)
        """
        first, last = -(-low // self._block), high // self._block
        if first >= last:
            return np.bincount(self.pair[low:high], minlength=self.pairs)
        whole: Ints = self._sums[last].astype(np.int64) - self._sums[first]
        whole += np.bincount(self.pair[low : first * self._block], minlength=self.pairs)
        whole += np.bincount(self.pair[last * self._block : high], minlength=self.pairs)
        return whole

    def activity(self, counts: Ints) -> NDArray[np.float64]:
        """Return in how many calls each element takes part, as caller or callee, float64 (elements,)."""
        own = self.caller == self.callee
        made = np.bincount(self.caller, counts, self.elements)
        return np.asarray(
            made + np.bincount(self.callee, np.where(own, 0, counts), self.elements), np.float64
        )

    def renumbered(self, new_of_old: Int32s) -> Interactions:
        """Return the same with other numbers of the elements."""
        return replace(self, caller=new_of_old[self.caller], callee=new_of_old[self.callee])


def interactions(trace: Trace, elements: Elements, relation: str = "calls") -> Interactions:
    """Find the calls between elements, or the flows; linear in the calls.

    A flow is what one call sets off in another, often in another thread: there ``call`` is the call that is
    set off, and its element is the callee.

    Parameters
    ----------
    trace : Trace
    elements : Elements
    relation : {"calls", "flows"}

    Returns
    -------
    Interactions
    """
    calls = trace.calls
    if relation == "flows":
        flows = trace.flows
        known = np.flatnonzero((flows.source >= 0) & (flows.target >= 0))
        known = known[np.argsort(flows.start[known], kind="stable")]
        called, caller, time = flows.target[known], flows.source[known], flows.start[known]
        missing = len(flows) - len(known)
    else:
        called = np.flatnonzero(calls.parent >= 0)
        # Threads lie one after another: they are merged by time (runs that are in order already).
        if int(np.count_nonzero(trace.threads.count)) > 1:
            called = called[np.argsort(calls.start[called], kind="stable")]
        caller, time = calls.parent[called], calls.start[called]
        missing = len(calls) - len(called)
    count = elements.hierarchy.elements
    of_callee, of_caller = elements.of_call(called), elements.of_call(caller)
    code = of_caller.astype(np.int64) * count + of_callee
    times = np.bincount(code)
    used = np.flatnonzero(times)
    pair = (np.cumsum(times > 0, dtype=np.int32) - 1)[code]
    pair_caller, pair_callee = (column.astype(np.int32) for column in np.divmod(used, count))
    block = max(_BLOCK, -(-len(called) * len(used) // _SUMS))
    blocks = len(called) // block
    sums = np.zeros((blocks + 1, len(used)), np.int32)
    for b in range(blocks):
        sums[b + 1] = sums[b] + np.bincount(pair[b * block : (b + 1) * block], minlength=len(used))
    return Interactions(
        called,
        time,
        pair,
        pair_caller,
        pair_callee,
        count,
        missing,
        block,
        sums,
    )


@dataclass(frozen=True)
class Rare:
    """A pair of elements that interacts in few of the calls of a window.

    Attributes
    ----------
    pair, count : int
    first : int
        Place of the first such call among the interactions.
    """

    pair: int
    count: int
    first: int


def rarest(found: Interactions, low: int, high: int, most: int, at_most: int = 3) -> list[Rare]:
    """Return the pairs that occur at most ``at_most`` times in ``low`` to ``high``, the rarest first.

    These are the calls that a picture of many calls hides (ExtraVis, section 5). Of equally rare ones those
    between elements that do most otherwise come first. An element's calls of itself are none of them.

    Parameters
    ----------
    found : Interactions
    low, high : int
        The slice ``[low, high)`` of the calls.
    most : int
        How many pairs.
    at_most : int
        How often a pair may occur.

    Returns
    -------
    list of Rare
    """
    counts = found.counts(low, high)
    busy = found.activity(counts)
    usual = busy[found.caller] + busy[found.callee]
    which = np.flatnonzero((counts > 0) & (counts <= at_most) & (found.caller != found.callee))
    which = which[np.lexsort((which, -usual[which], counts[which]))][:most]
    wanted = low + np.flatnonzero(np.isin(found.pair[low:high], which.astype(np.int32)))
    pairs, at = np.unique(found.pair[wanted], return_index=True)
    first = dict(zip(pairs.tolist(), wanted[at].tolist()))
    return [Rare(p, int(counts[p]), first[p]) for p in which.tolist()]
