"""The compact trace: each distinct subtree once, iterations as labels of its edges (SEAT, section 2.9)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernels.tree.compact import count_iterations, expand_graph
from ..progress import Progress, silent
from ..trace.cached_results import cached_with_trace
from ..trace.model import Calls, Threads, Trace
from .grammar import Grammar, grammar_of
from .subtrees import Edges, Subtrees, distinct_subtrees, subtrees_of


@dataclass(frozen=True, eq=False)
class CompactTrace:
    """The ordered directed acyclic graph that a trace unfolds from.

    All threads share it. Times lie beside the graph, in the calls' columns: with them it is lossless.

    Attributes
    ----------
    subtrees : Subtrees
        The nodes.
    roots : int32 (r,)
        Classes of the root calls, thread by thread.
    root_first : int64 (threads + 1,)
        The roots of thread ``t`` are ``roots[root_first[t]:root_first[t + 1]]``.
    """

    subtrees: Subtrees
    roots: NDArray[np.int32]
    root_first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.subtrees)

    @cached_property
    def edges(self) -> Edges:
        """The edges with their iterations."""
        s = self.subtrees
        first = np.empty(len(s) + 1, np.int64)
        child = np.empty(len(s.child), np.int32)
        count = np.empty(len(s.child), np.int64)
        edges = count_iterations(s.first, s.child, first, child, count)
        return Edges(first, child[:edges].copy(), count[:edges].copy())

    @cached_property
    def parents(self) -> Edges:
        """The reversed graph: the edges that lead to each class; ``child`` is where they come from.

        The ancestors of a node form an inverted tree (section 2.9); with it all occurrences are found.
        """
        edges = self.edges
        order = np.argsort(edges.child, kind="stable")
        first = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.bincount(edges.child, minlength=len(self)), out=first[1:])
        return Edges(first, edges.source[order], edges.count[order])

    @cached_property
    def forest(self) -> Edges:
        """The edges, with one more node for each thread, from m on, whose children are its root calls."""
        edges = self.edges
        child, count, first = [edges.child], [edges.count], [edges.first]
        for t in range(len(self.root_first) - 1):
            roots = self.roots[self.root_first[t] : self.root_first[t + 1]]
            at = np.flatnonzero(np.append(True, roots[1:] != roots[:-1])) if len(roots) else np.empty(0, int)
            child.append(roots[at])
            count.append(np.diff(np.append(at, len(roots))))
            first.append(np.array([int(first[-1][-1]) + len(at)]))
        return Edges(
            np.concatenate(first).astype(np.int64),
            np.concatenate(child).astype(np.int32),
            np.concatenate(count).astype(np.int64),
        )

    @cached_property
    def calls_before(self) -> NDArray[np.int64]:
        """For each edge of :attr:`forest` the calls below its source that come before it, int64 (e,)."""
        forest = self.forest
        extent = np.append(self.subtrees.extent, np.zeros(len(self.root_first) - 1, np.int64))
        calls = np.zeros(len(forest) + 1, np.int64)
        np.cumsum(forest.count * extent[forest.child], out=calls[1:])
        return np.asarray(calls[:-1] - np.repeat(calls[forest.first[:-1]], np.diff(forest.first)), np.int64)

    @cached_property
    def grammar(self) -> Grammar:
        """Repetitions in lists of callees and root calls, written once: Sequitur's grammar of them."""
        return self.find_grammar()

    def find_grammar(self, progress: Progress = silent) -> Grammar:
        """Return :attr:`grammar`, reporting progress; ``progress`` may stop the work."""
        known = vars(self)
        if "grammar" not in known:
            forest = self.forest
            known["grammar"] = grammar_of(
                forest.first, forest.child, forest.count, self.subtrees.extent, progress
            )
        found: Grammar = known["grammar"]
        return found

    def expand(self, thread: int) -> Calls:
        """Return the calls of a thread without times: function, parent, depth, extent, in pre-order.

        ``start`` and ``end`` count enter and exit events, one nanosecond each.

        Parameters
        ----------
        thread : int
            Its number.

        Returns
        -------
        Calls
            Its ``parent`` counts from the thread's first call.
        """
        roots = self.roots[self.root_first[thread] : self.root_first[thread + 1]]
        return expand(self.subtrees, np.ascontiguousarray(roots))


def compact(calls: Calls, threads: Threads, subtrees: Subtrees | None = None) -> CompactTrace:
    """Make the compact trace in linear time.

    Parameters
    ----------
    calls : Calls
    threads : Threads
    subtrees : Subtrees, optional
        Of these calls, if they are known already.

    Returns
    -------
    CompactTrace
    """
    subtrees = subtrees or distinct_subtrees(calls)
    root = np.flatnonzero(np.asarray(calls.parent) < 0)
    first = np.searchsorted(root, np.append(threads.first, len(calls)))
    return CompactTrace(subtrees, subtrees.of_call[root], first.astype(np.int64))


@cached_with_trace()
def graph_of(trace: Trace) -> CompactTrace:
    """Return the compact trace of a trace; kept with it."""
    return compact(trace.calls, trace.threads, subtrees_of(trace))


def expand(subtrees: Subtrees, roots: NDArray[np.int32]) -> Calls:
    """Return the calls that ``roots`` (int32 classes) unfold to; see :meth:`CompactTrace.expand`.

    Parameters
    ----------
    subtrees : Subtrees
        The nodes of the graph.
    roots : int32 (r,)
        Classes of the root calls, in order; one may occur several times.

    Returns
    -------
    Calls
    """
    n = int(subtrees.extent[roots].sum())
    of_call, function, depth = (np.empty(n, np.int32) for _ in range(3))
    parent, extent = np.empty(n, np.int64), np.empty(n, np.int64)
    expand_graph(
        roots, subtrees.function, subtrees.first, subtrees.child, subtrees.extent,
        of_call, function, parent, depth, extent,
    )  # fmt: skip
    # Before a call enters, each call before it has entered, and all but its ancestors have left.
    order = np.arange(n)
    start = 2 * order - (depth - 1)
    return replace(
        Calls(),
        function=function,
        parent=parent,
        depth=depth,
        extent=extent,
        start=start,
        end=start + 2 * extent - 1,
        thread=np.zeros(n, np.int32),
    )
