"""The part of a call tree that is listed under a filter stack, and how much of it the filters hide.

A filter that marks functions or distinct subtrees in the whole trace marks nodes of the graph. One that marks
single calls (a duration, a thread, a part of the trace) can't: two calls of one subtree may differ. Then the
distinct subtrees are found again, with the marks as a part of what distinguishes calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..analysis.compact import CompactTrace, compact
from ..analysis.subtrees import distinct_subtrees
from ..kernels.tree.filters import find_shown_below, keep_calls
from ..trace.model import Trace
from . import registry
from .facts import Facts
from .stack import HIDDEN, WHOLE, Applied, FilterResult


@dataclass(frozen=True, eq=False)
class Listed:
    """A call tree as a list shows it.

    Attributes
    ----------
    graph : CompactTrace
        Of the calls that are listed.
    marked : bool (m,) or None
        The nodes that filters hide, with all below them; None: none.
    hidden_before : int64 (n + 1,) or None
        How many calls before each call of the trace are hidden; None: none are.
    calls, places : int64 (graph's calls,), int64 (n,), or None
        As the call tree's ``PartialTree`` takes them; None where all calls are listed.
    """

    graph: CompactTrace
    marked: NDArray[np.bool_] | None = None
    hidden_before: NDArray[np.int64] | None = None
    calls: NDArray[np.int64] | None = None
    places: NDArray[np.int64] | None = None

    def hidden(self, low: int, high: int) -> int:
        """Return how many of the trace's calls from ``low`` to ``high`` are hidden.

        Parameters
        ----------
        low, high : int
            The slice ``[low, high)`` of the calls.

        Returns
        -------
        int
        """
        before = self.hidden_before
        return 0 if before is None else int(before[high] - before[low])


def listed(stack: Sequence[Applied], facts: Facts, filtered: FilterResult, whole: bool = False) -> Listed:
    """Return the list under a stack, in time linear in the calls.

    Parameters
    ----------
    stack : sequence of Applied
    facts : Facts
    filtered : FilterResult
        What the stack makes of the trace.
    whole : bool
        List hidden calls too, marked. Otherwise calls are left out that are hidden while some below them
        are not: these move up to the nearest caller that is left.

    Returns
    -------
    Listed
    """
    hidden = filtered.state == HIDDEN
    if not hidden.any():
        return Listed(facts.graph)
    before = np.zeros(len(hidden) + 1, np.int64)
    np.cumsum(hidden, out=before[1:])
    if (nodes := _of_nodes(stack, facts)) is not None:
        return Listed(facts.graph, nodes, before)
    return _of_calls(facts.trace, filtered, hidden, before, whole)


def _of_nodes(stack: Sequence[Applied], facts: Facts) -> NDArray[np.bool_] | None:
    """Return the nodes that the stack hides wherever they occur; None if single calls matter."""
    flags = np.zeros(len(facts.graph), np.bool_)
    hides = False
    for applied in (one for one in stack if one.on):
        if applied.effect != "hide":
            if hides:
                return None  # It may show calls again that were hidden.
            continue
        hides = True
        if applied.within != WHOLE or applied.what != "subtree":
            return None
        marks = registry.find(applied.name).mark(facts, applied.parameters())
        if marks.of == "call":
            return None
        flags |= marks.flags if marks.of == "node" else marks.flags[facts.graph.subtrees.function]
    return flags


def _of_calls(
    trace: Trace, filtered: FilterResult, hidden: NDArray[np.bool_], before: NDArray[np.int64], whole: bool
) -> Listed:
    calls, threads = trace.calls, trace.threads
    parent, extent = np.ascontiguousarray(calls.parent), calls.extent
    own, chosen, places = filtered.own, None, None
    if not whole:
        shown_below = np.zeros(len(hidden), np.uint8)
        find_shown_below(parent, hidden, shown_below)
        keep = ~(hidden & shown_below.view(np.bool_))
        if not keep.all():
            n = int(np.count_nonzero(keep))
            places = np.empty(len(keep), np.int64)
            kept_parent, kept_extent = np.empty(n, np.int64), np.zeros(n, np.int64)
            keep_calls(parent, keep.view(np.uint8), places, kept_parent, np.empty(n, np.int32), kept_extent)
            chosen = np.flatnonzero(keep).astype(np.int64)
            count = np.bincount(np.asarray(calls.thread)[keep], minlength=len(threads)).astype(np.int64)
            threads = replace(threads, first=np.cumsum(count) - count, count=count)
            parent, extent, own, hidden = kept_parent, kept_extent, own[keep], hidden[keep]
    # The calls that filters mark themselves are marked, and the outermost hidden ones.
    highest = (parent < 0) | ~hidden[parent] if len(hidden) else hidden
    marked = hidden & (own.view(np.bool_) | highest)
    function = np.asarray(calls.function if chosen is None else calls.function[chosen])
    marked_calls = replace(calls, function=2 * function + marked, parent=parent, extent=extent)
    subtrees = distinct_subtrees(marked_calls)
    of_node = (subtrees.function & 1).astype(np.bool_)
    graph = compact(marked_calls, threads, replace(subtrees, function=subtrees.function >> 1))
    return Listed(graph, of_node, before, chosen, places)
