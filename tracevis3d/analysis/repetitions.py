"""Repetitions inside one trace, found by the methods of the comparison (TraceDiff, sections III and IV-B).

Exactly: subtrees that are the same, next to each other or anywhere. Alike: neighbours whose sets of functions
are similar, as two calls of two traces are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.comparison.groups import sum_outermost
from ..kernels.tree.repetitions import common_of_pairs, locate_runs
from ..kernels.tree.repetitions import find_runs as find
from ..trace.model import Calls
from .join import plain
from .sets import Sets
from .subtrees import Subtrees, grown

#: Maximum number of children repeated as one pattern.
LONGEST_PERIOD = 16
#: Neighbours are alike if their similarity is above this. Repetitions are closer than matches between
#: traces.
ALIKE = Fraction(4, 5)

Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Runs:
    """Repetitions among the children of classes, ordered by class, then from left to right.

    Attributes
    ----------
    of_class : int32 (r,)
        The parent's class: each of its calls has this run.
    first : int32 (r,)
        Place of the first child of the run, from 0.
    period : int32 (r,)
        How many children are repeated.
    times : int32 (r,)
        How often; at least 2.
    """

    of_class: Int32s
    first: Int32s
    period: Int32s
    times: Int32s

    def __len__(self) -> int:
        return len(self.of_class)

    def calls(self, subtrees: Subtrees) -> int:
        """Return how often these runs happen in the whole trace."""
        return int(subtrees.occurrences[self.of_class].sum())

    def at(self, which: Ints, calls: Calls, subtrees: Subtrees) -> RunsAt:
        """Return the runs among the children of the calls ``which``, such as those that are visible.

        Parameters
        ----------
        which : int64 (k,)
            Indices of calls.
        calls : Calls
            Those of the trace; ``extent`` is read.
        subtrees : Subtrees
            Those that the runs were found in.

        Returns
        -------
        RunsAt
        """
        bounds = np.searchsorted(self.of_class, np.arange(len(subtrees) + 1)).astype(np.int64)
        which = np.ascontiguousarray(which, np.int64)
        of = subtrees.of_call[which]
        found = RunsAt(*(np.empty(int((bounds[of + 1] - bounds[of]).sum()), np.int64) for _ in range(4)))
        locate_runs(
            which, subtrees.of_call, plain(calls.extent), bounds, self.first,
            self.period * self.times, 0, *found,
        )  # fmt: skip
        return found


class RunsAt(NamedTuple):
    """Runs among the children of some calls: the call, the run, its first and its last child, int64 (k,)."""

    parent: Ints
    run: Ints
    first: Ints
    last: Ints


class Repeated(NamedTuple):
    """Subtrees of several calls that happen more than once, but for those inside others, by class.

    Attributes
    ----------
    of_class : int32 (k,)
        The longest time first.
    calls, time, longest : int64 (k,)
        Number of these calls, their duration together in nanoseconds, the longest one.
    """

    of_class: Int32s
    calls: Ints
    time: Ints
    longest: Ints


def find_runs(subtrees: Subtrees, longest_period: int = LONGEST_PERIOD) -> Runs:
    """Find where the same subtrees follow each other in the same order, several times in a row.

    Of all runs that begin at a child, the one that takes in most children counts, of equal ones that of the
    shortest period; the next run begins behind it.

    Parameters
    ----------
    subtrees : Subtrees
    longest_period : int
        Maximum number of children repeated as one pattern. Time grows with it.

    Returns
    -------
    Runs
    """
    room = 1024
    columns = [np.empty(room, np.int32) for _ in range(4)]
    start, at, runs = 0, 0, 0
    while True:
        start, at, runs = find(subtrees.first, subtrees.child, longest_period, start, at, runs, *columns)
        if start == len(subtrees):
            return Runs(*(column[:runs].copy() for column in columns))
        columns = [grown(column, 2 * len(column)) for column in columns]


def find_alike(subtrees: Subtrees, sets: Sets, least: Fraction = ALIKE) -> Runs:
    """Find similar neighbours: those whose sets have a Jaccard similarity strictly above ``least``.

    A run is as long as each child is like the next one; its period is 1. Runs of equal subtrees are among
    them.

    Parameters
    ----------
    subtrees : Subtrees
    sets : Sets
        Of the functions called in each.
    least : Fraction
        The threshold, 0 to 1.

    Returns
    -------
    Runs
    """
    first, child = subtrees.first, subtrees.child
    owner = np.repeat(np.arange(len(subtrees), dtype=np.int32), np.diff(first))
    of = sets.of_class[child]
    joined = np.zeros(len(child), np.bool_)  # whether the child is like the one before
    siblings = owner[1:] == owner[:-1]
    joined[1:] = siblings & (of[1:] == of[:-1])
    unlike = np.flatnonzero(siblings & (of[1:] != of[:-1]))
    joined[unlike + 1] = _above(sets, of[unlike], of[unlike + 1], least)
    begins = np.flatnonzero(joined[1:] & ~joined[:-1])  # the child before the first that is joined
    ends = np.flatnonzero(joined & ~np.append(joined[1:], False))
    of_class = owner[begins]
    return Runs(
        of_class,
        (begins - first[of_class]).astype(np.int32),
        np.ones(len(begins), np.int32),
        (ends - begins + 1).astype(np.int32),
    )


def _above(sets: Sets, left: Int32s, right: Int32s, least: Fraction) -> NDArray[np.bool_]:
    """Return whether the similarity of each pair of sets is above ``least``; each pair is computed once."""
    code = left.astype(np.int64) * len(sets) + right
    _, at, index = np.unique(code, return_index=True, return_inverse=True)
    a, b = left[at], right[at]
    common = np.empty(len(at), np.int64)
    functions = int(sets.added.max(initial=-1)) + 1
    common_of_pairs(a, b, sets.base, sets.first, sets.added, np.zeros(functions, np.int32), common)
    whole = sets.size[a].astype(np.int64) + sets.size[b] - common
    return np.asarray((common * least.denominator > whole * least.numerator)[index])


def find_repeated(calls: Calls, subtrees: Subtrees) -> Repeated:
    """Find the subtrees of at least two calls that happen more than once, wherever they are.

    Those within another one that is repeated are not counted again.

    Parameters
    ----------
    calls : Calls
    subtrees : Subtrees
        Of these calls.

    Returns
    -------
    Repeated
        Those that take most time first.
    """
    m = len(subtrees)
    chosen = ((subtrees.occurrences > 1) & (subtrees.extent > 1)).astype(np.uint8)
    start, end, extent = (plain(c) for c in (calls.start, calls.end, calls.extent))
    count, time = np.zeros(m, np.int64), np.zeros(m, np.int64)
    longest = np.full(m, -1, np.int64)
    sum_outermost(chosen, subtrees.of_call, start, end, extent, count, time, longest)
    found = np.flatnonzero(count)
    found = found[np.lexsort((found, -time[found]))]
    return Repeated(found.astype(np.int32), count[found], time[found], longest[found])
