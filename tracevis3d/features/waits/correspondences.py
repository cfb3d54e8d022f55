"""The releases of each wait (SyncTrace, section IV-B1, Eq. 6 and 7).

The paper's correspondences are all pairs of a wait and a release that share an object and of which the
release begins within the wait. Most of these releases woke another thread: by default the one that ended the
wait is taken, the last that another thread made before the wait was over. What is given to one alone (an item
of a queue) goes to one wait alone, and a wait that was given up was ended by nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...kernels.waits.sync import find_releases, link_others, list_pairs, serve
from ...trace.model import IO, WAIT
from .operations import ARRIVAL, DONE, Operations

Ints = NDArray[np.int64]
#: Maximum number of listed pairs: a long wait for a busy object has as many as there are releases.
MOST_PAIRS = 50_000_000
#: A release is recorded before it happens: nanoseconds by which it may be before the wait that it ended.
_SLACK = 1_000_000


@dataclass(frozen=True, eq=False)
class Correspondences:
    """Pairs of a wait and a release, as rows of :class:`.operations.Operations`, ordered by wait.

    Attributes
    ----------
    wait, release : int64 (k,)
    time : int64 (k,)
        When the release happens: at its start, or at the end of a wait that gives something by ending.
    inferred : bool (k,)
        Whether it does not follow from the object and the time: it is that of a wait within this one, or
        noted just before it.
    """

    wait: Ints
    release: Ints
    time: Ints
    inferred: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.wait)


class _Matching:
    """Waits and releases by object and gift."""

    def __init__(self, ops: Operations, waits: Ints) -> None:
        giving = np.flatnonzero((ops.gives >= 0) & (ops.kind != IO))
        gifts = len(ops.gifts)
        release, object = ops.per_object(giving)
        time = np.where(ops.kind[release] == WAIT, ops.end[release], ops.start[release])
        key = object.astype(np.int64) * gifts + ops.gives[release]
        order = np.lexsort((time, key))
        key, self.release, self.time = key[order], release[order], time[order]
        self.release_thread = np.ascontiguousarray(ops.thread[self.release], np.int32)
        self._known, first = np.unique(key, return_index=True)
        self.first = np.append(first, len(key)).astype(np.int64)
        self.row, self.key = self._wanting(ops, waits)

    def _wanting(self, ops: Operations, waits: Ints) -> tuple[Ints, Ints]:
        """Return a row and a key for each object of waits, without those for what is never released."""
        row, object = ops.per_object(waits)
        wanted = object.astype(np.int64) * len(ops.gifts) + ops.wants[row]
        at = np.searchsorted(self._known, wanted)
        found = at < len(self._known)
        found[found] = self._known[at[found]] == wanted[found]
        return row[found], np.ascontiguousarray(at[found], np.int64)

    def find(self, ops: Operations) -> tuple[int, Ints, Ints, Ints]:
        """Return the number of pairs, and for each wait and object its releases' begin, end, and the last."""
        other = np.empty(len(self.time), np.int64)
        link_others(self.first, self.release_thread, other)
        n = len(self.row)
        low, high, last = (np.empty(n, np.int64) for _ in range(3))
        pairs = find_releases(
            self.key, np.ascontiguousarray(ops.start[self.row]), np.ascontiguousarray(ops.end[self.row]),
            np.ascontiguousarray(ops.thread[self.row]), self.first, self.time, self.release_thread, other,
            low, high, last,
        )  # fmt: skip
        return int(pairs), low, high, last

    def serve(self, ops: Operations, which: Ints) -> Ints:
        """Return for the waits and objects of ``which`` the releases that no other of them has; -1: none."""
        order = which[np.lexsort((ops.end[self.row[which]], self.key[which]))]
        rows, keys = self.row[order], len(self.first) - 1
        first = np.searchsorted(self.key[order], np.arange(keys + 1)).astype(np.int64)
        later, earlier = np.empty((2, len(self.time) + 1), np.int64)
        served = np.empty(len(order), np.int64)
        serve(
            first, np.ascontiguousarray(ops.start[rows]), np.ascontiguousarray(ops.end[rows]),
            ops.blocked[rows].astype(np.uint8), self.first, self.time, _SLACK, later, earlier, served,
        )  # fmt: skip
        found = np.empty(len(self.row), np.int64)
        found[order] = served
        return found[which]

    def end_rounds(self, ops: Operations, low: Ints, high: Ints, last: Ints) -> None:
        """Set ``last`` of waits at a barrier to the last arrival of their round.

        Others may come to the next round before a thread that waits runs again. The last one of a round is
        the thread that did not wait, so a round has the arrivals up to the next such one.
        """
        if ARRIVAL not in ops.gifts:
            return
        meets = (ops.kind == WAIT) & (ops.wants == ops.gifts.index(ARRIVAL))
        passing, key = self._wanting(ops, np.flatnonzero(meets & ~ops.blocked & (ops.ending == DONE)))
        waits = np.flatnonzero(meets[self.row])
        came = self._arrivals(key, ops.thread[passing], ops.end[passing])
        ends = np.unique(came[came >= 0])
        if not len(ends):
            return
        own = self._arrivals(self.key[waits], ops.thread[self.row[waits]], ops.end[self.row[waits]])
        at = np.searchsorted(ends, own)
        found = ends[np.minimum(at, len(ends) - 1)]
        known = (own >= 0) & (at < len(ends)) & (found < self.first[self.key[waits] + 1])
        known &= (found >= low[waits]) & (found < high[waits])
        last[waits[known]] = found[known]

    def _arrivals(self, key: Ints, thread: NDArray[np.int32], until: Ints) -> Ints:
        """Return the last release of a key by a thread until a moment, of each of many; -1: none."""
        n = len(self.time)
        keys = np.concatenate([np.repeat(np.arange(len(self.first) - 1), np.diff(self.first)), key])
        threads = np.concatenate([self.release_thread, thread])
        order = np.lexsort((np.arange(len(keys)) >= n, np.concatenate([self.time, until]), threads, keys))
        before = np.maximum.accumulate(np.where(order < n, np.arange(len(order)), 0))
        found = order[before]
        same = (found < n) & (keys[found] == keys[order]) & (threads[found] == threads[order])
        result = np.empty(len(order), np.int64)
        result[order] = np.where(same, found, -1)
        return result[n:]


def every_release(ops: Operations) -> Correspondences:
    """Return the paper's correspondences: each release of a shared object within the wait (Eq. 6 and 7).

    O(n log n + k) for n operations with their objects and k pairs. A wait and a release that share several
    objects are one pair.

    Parameters
    ----------
    ops : Operations
        All operations of the trace.

    Returns
    -------
    Correspondences

    Raises
    ------
    InputError
        If there are more than :data:`MOST_PAIRS`.
    """
    matching = _Matching(ops, np.flatnonzero(ops.kind == WAIT))
    pairs, low, high, _ = matching.find(ops)
    if pairs > MOST_PAIRS:
        raise InputError(
            f"the waits of this trace have {pairs:,} releases within them, of which {MOST_PAIRS:,} can be "
            "listed: take the release that woke each"
        )
    wait, release = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    list_pairs(low, high, wait, release)
    time = matching.time[release]
    wait, release = matching.row[wait], matching.release[release]
    order = np.lexsort((release, time, wait))
    wait, release, time = wait[order], release[order], time[order]
    new = np.ones(len(wait), np.bool_)
    new[1:] = (wait[1:] != wait[:-1]) | (release[1:] != release[:-1])
    return Correspondences(wait[new], release[new], time[new], np.zeros(int(new.sum()), np.bool_))


def waking_releases(ops: Operations) -> Correspondences:
    """Return the release that ended each blocked wait: the last of another thread within it.

    A wait for all of its objects has one for each that was released within it, the last of which woke it. Of
    releases that go to one wait alone each wait has its own, in the order of their times. A wait in which
    none is found takes that of the last wait within it: a queue waits by a condition. What was given up, or
    had not ended when the recording did, has none.

    Parameters
    ----------
    ops : Operations
        All operations of the trace.

    Returns
    -------
    Correspondences
    """
    ended = (ops.kind == WAIT) & (ops.ending == DONE)
    matching = _Matching(ops, np.flatnonzero(ended & (ops.blocked | ops.one)))
    _, low, high, last = matching.find(ops)
    one = np.flatnonzero(ops.one[matching.row])
    served = matching.serve(ops, one)
    # A semaphore may be released by several at the same time.
    last[one] = np.where((served < 0) & ops.asks[matching.row[one]], last[one], served)
    matching.end_rounds(ops, low, high, last)
    waits = np.flatnonzero(ended & ops.blocked)
    some = (last >= 0) & ops.blocked[matching.row]
    some[some] = matching.release_thread[last[some]] != ops.thread[matching.row[some]]
    wait, at = matching.row[some], last[some]
    time, release = matching.time[at], matching.release[at]
    order = np.lexsort((release, time, wait))
    wait, release, time = wait[order], release[order], time[order]
    keep = np.ones(len(wait), np.bool_)
    # Of a wait for any of its objects the last release alone.
    keep[:-1] = (wait[1:] != wait[:-1]) | ops.all[wait[:-1]]
    wait, release, time = wait[keep], release[keep], time[keep]
    inherited = _inherited(ops, waits, wait, release, time)
    inferred = np.concatenate([time < ops.start[wait], np.ones(len(inherited[0]), np.bool_)])
    wait = np.concatenate([wait, inherited[0]])
    release, time = np.concatenate([release, inherited[1]]), np.concatenate([time, inherited[2]])
    order = np.lexsort((time, wait))
    return Correspondences(wait[order], release[order], time[order], inferred[order])


def _inherited(
    ops: Operations, waits: Ints, wait: Ints, release: Ints, time: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return pairs for outer waits without any, from the last wait within each."""
    outer = waits[~ops.nested[waits]]
    has = np.zeros(len(ops), np.bool_)
    has[wait] = True
    inner = np.flatnonzero(ops.nested[wait])
    if not len(outer) or not len(inner):
        none = np.empty(0, np.int64)
        return none, none, none
    # Rows are ordered by thread and start: the outer wait of an inner one is the last before it.
    above = outer[np.maximum(np.searchsorted(outer, wait[inner]) - 1, 0)]
    fits = (above < wait[inner]) & (ops.thread[above] == ops.thread[wait[inner]])
    fits &= (ops.end[above] >= ops.end[wait[inner]]) & ~has[above]
    above, inner = above[fits], inner[fits]
    order = np.lexsort((time[inner], above))
    above, inner = above[order], inner[order]
    last = np.ones(len(above), np.bool_)
    last[:-1] = above[1:] != above[:-1]
    return above[last], release[inner[last]], time[inner[last]]
