"""Paths of a call tree: from a place in the tree to its calls, and back (SEAT, section 5.3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...analysis.compact import CompactTrace
from ...analysis.sequences import callees_of
from ...errors import UsageError

#: The ordinals of the edges from the forest's root to a call: which root, which of its edges, and so on.
#: It is a place in the tree; a node of the graph is the subtree at that place (section 5.3.2).
UniquePath = tuple[int, ...]


class CallPaths:
    """The call tree of a trace as paths over the graph of its distinct subtrees.

    Parameters
    ----------
    graph : CompactTrace
    folded : bool
        Whether sequences of callees that occur again are nodes: the rules of the graph's grammar. A path then
        has an ordinal for each sequence on its way.
    calls, places : int64 (graph's calls,), int64 (n,), optional
        Where the graph is of a part of the trace: the trace's number of each of its calls, and of each call
        of the trace the number here, or that of its nearest caller that is here; -1 if there is none.

    Attributes
    ----------
    root : int
        The node of the forest's root, the last one.
    rules : int
        The first node that is a sequence; ``root`` if there are none.
    edge_first : int64 (root + 2,)
        The edges of a node are ``[edge_first[node], edge_first[node + 1])``.
    edge_child : int32 (e,)
    edge_count : int64 (e,)
        How often the callee is called in a row.
    extent : int64 (root + 1,)
        Calls below each node, itself included; the forest's root counts as one.
    """

    def __init__(
        self,
        graph: CompactTrace,
        *,
        folded: bool = False,
        calls: NDArray[np.int64] | None = None,
        places: NDArray[np.int64] | None = None,
    ) -> None:
        self.graph = graph
        self._calls, self._places = calls, places
        self.folded = folded
        if folded:
            self._lay_folded()
        else:
            self._lay()
        self._offsets = self._call_offsets()

    def _lay(self) -> None:
        """Lay out nodes and edges: the graph's, and behind them the forest's root with the root calls."""
        graph = self.graph
        edges, roots = graph.edges, _runs(graph)
        self.root = self.rules = len(graph)
        self.edge_first: NDArray[np.int64] = np.append(edges.first, edges.first[-1] + len(roots.child))
        self.edge_child: NDArray[np.int32] = np.concatenate([edges.child, roots.child])
        self.edge_count: NDArray[np.int64] = np.concatenate([edges.count, roots.count])
        self.extent = np.append(graph.subtrees.extent, 1 + int(graph.subtrees.extent[graph.roots].sum()))

    def _lay_folded(self) -> None:
        """Lay out nodes and edges: the owners of the grammar, and the forest's root.

        No path leads to the lists of the threads' roots, nor to rules that are written out.
        """
        graph, grammar = self.graph, self.graph.grammar
        edges = grammar.listed
        roots = slice(int(edges.first[len(graph)]), int(edges.first[grammar.lists]))
        self.rules, self.root = grammar.lists, len(grammar.order)
        self.edge_first = np.append(edges.first, edges.first[-1] + roots.stop - roots.start)
        self.edge_child = np.concatenate([edges.child, edges.child[roots]])
        self.edge_count = np.concatenate([edges.count, edges.count[roots]])
        calls = grammar.calls.copy()
        calls[: len(graph)] = graph.subtrees.extent
        self.extent = np.append(calls, 1 + int(graph.subtrees.extent[graph.roots].sum()))

    def _call_offsets(self) -> NDArray[np.int64]:
        """For each edge the calls below its source that come before it, int64 (e,)."""
        calls = np.zeros(len(self.edge_child) + 1, np.int64)
        np.cumsum(self.edge_count * self.extent[self.edge_child], out=calls[1:])
        degree = np.diff(self.edge_first)
        return np.asarray(calls[:-1] - np.repeat(calls[self.edge_first[:-1]], degree), np.int64)

    def is_sequence(self, node: int) -> bool:
        """Whether a node is a sequence of callees: a rule of the graph's grammar."""
        return self.rules <= node < self.root

    def degree(self, node: int) -> int:
        """Return how many edges leave a node."""
        return int(self.edge_first[node + 1] - self.edge_first[node])

    def below(self, node: int, ordinal: int) -> int:
        """Return the node that an edge of a node leads to.

        Parameters
        ----------
        node : int
            A class, or a sequence.
        ordinal : int
            Which of its edges, from 0.

        Returns
        -------
        int
        """
        return int(self.edge_child[self.edge_first[node] + ordinal])

    def node(self, path: UniquePath) -> int:
        """Return the class that the path leads to.

        Parameters
        ----------
        path : UniquePath
            Ordinals of the edges from the root on.

        Returns
        -------
        int

        Raises
        ------
        UsageError
            If there is no such path.
        """
        node = self.root
        for ordinal in path:
            degree = int(self.edge_first[node + 1] - self.edge_first[node])
            if not 0 <= ordinal < degree:
                raise UsageError(f"there is no path {path}: a call on it has {degree:,} different callees")
            node = int(self.edge_child[self.edge_first[node] + ordinal])
        return node

    def parent(self, path: UniquePath) -> UniquePath | None:
        """Return the caller's path; None for a root."""
        return path[:-1] if len(path) > 1 else None

    def child(self, path: UniquePath, ordinal: int = 0) -> UniquePath | None:
        """Return the path of a callee, shown or not; None if there are fewer.

        Parameters
        ----------
        path : UniquePath
            Ordinals of the edges from the root on.
        ordinal : int
            Which callee, from 0.

        Returns
        -------
        UniquePath or None
        """
        node = self.node(path)
        return (*path, ordinal) if 0 <= ordinal < self.edge_first[node + 1] - self.edge_first[node] else None

    def next_sibling(self, path: UniquePath) -> UniquePath | None:
        """Return the path behind this one under the same caller; None for the last."""
        return self.child(path[:-1], path[-1] + 1)

    def previous_sibling(self, path: UniquePath) -> UniquePath | None:
        """Return the path before this one under the same caller; None for the first."""
        return self.child(path[:-1], path[-1] - 1)

    def call(self, path: UniquePath, iterations: UniquePath = ()) -> int:
        """Return a call that the path represents: int, index into the trace's calls.

        Parameters
        ----------
        path : UniquePath
        iterations : tuple of int
            For each edge of the path, which of its repetitions; the first where it is not given.

        Returns
        -------
        int
        """
        at = self._call(path, iterations)
        return at if self._calls is None else int(self._calls[at])

    def calls(self, path: UniquePath, most: int) -> NDArray[np.int64]:
        """Return the calls of the last step's repetitions, int64 (k,), ascending; at most ``most``.

        For a sequence these are all that it takes in.

        Parameters
        ----------
        path : UniquePath
            Ordinals of the edges from the root on; not empty.
        most : int
            How many at most.

        Returns
        -------
        int64 (k,)
        """
        edge = int(self.edge_first[self.node(path[:-1])]) + path[-1]
        here = self._repeated(self._call(path, ()), edge, most)
        return here if self._calls is None else self._calls[here]

    def last(self, path: UniquePath) -> int:
        """Return the last call of the last step's repetitions: int, index into the trace's calls."""
        edge = int(self.edge_first[self.node(path[:-1])]) + path[-1]
        return self.last_callee(path, int(self.edge_count[edge]) - 1)

    def last_callee(self, path: UniquePath, which: int = 0) -> int:
        """Return the last call that a sequence takes in in one of its repetitions; for a call that itself.

        int, index into the trace's calls.

        Parameters
        ----------
        path : UniquePath
            Ordinals of the edges from the root on.
        which : int
            Which repetition of the last step, from 0.

        Returns
        -------
        int
        """
        node, iterations = self.node(path), [0] * (len(path) - 1) + [which]
        while self.is_sequence(node):
            edge = int(self.edge_first[node + 1]) - 1
            iterations.append(int(self.edge_count[edge]) - 1)
            path, node = (*path, edge - int(self.edge_first[node])), int(self.edge_child[edge])
        return self.call(path, tuple(iterations))

    def _repeated(self, first: int, edge: int, most: int) -> NDArray[np.int64]:
        """Return the calls of an edge that begins with the call ``first``; a sequence's are all in it."""
        node = int(self.edge_child[edge])
        step, times = int(self.extent[node]), min(int(self.edge_count[edge]), most)
        if not self.is_sequence(node):
            return first + step * np.arange(times, dtype=np.int64)

        inside = callees_of(self.graph, node, max(most, 1))
        rounds = min(times, -(-most // len(inside)))
        return (first + step * np.arange(rounds, dtype=np.int64)[:, None] + inside).ravel()[:most]

    def _call(self, path: UniquePath, iterations: UniquePath) -> int:
        self.node(path)
        offsets = self._offsets
        at, node = -1, self.root
        for k, ordinal in enumerate(path):
            # A sequence is not a call.
            at += not self.is_sequence(node)
            edge = int(self.edge_first[node]) + ordinal
            node = int(self.edge_child[edge])
            which = iterations[k] if k < len(iterations) else 0
            if not 0 <= which < self.edge_count[edge]:
                raise UsageError(f"the call repeats {self.edge_count[edge]:,} times there: no {which:,}")
            at += int(offsets[edge]) + which * int(self.extent[node])
        return at

    def path_of(self, call: int) -> tuple[UniquePath, UniquePath]:
        """Return the path of a call, and for each of its edges which repetition it is.

        A call that isn't in this tree is searched for at its nearest caller that is.

        Parameters
        ----------
        call : int
            Index into the trace's calls.

        Returns
        -------
        (UniquePath, tuple of int)
            As :meth:`call` takes them.

        Raises
        ------
        UsageError
            If there is no such call, or neither it nor a caller of it is in the tree.
        """
        n = int(self.extent[self.root]) - 1 if self._places is None else len(self._places)
        if not 0 <= call < n:
            raise UsageError(f"there is no call {call:,}: the trace has {n:,} calls")
        if self._places is not None and (call := int(self._places[call])) < 0:
            raise UsageError("the call and all its callers are hidden by filters")
        offsets = self._offsets
        path, iterations = [], []
        node, left = self.root, call + 1
        while left or self.is_sequence(node):
            left -= not self.is_sequence(node)
            low, high = int(self.edge_first[node]), int(self.edge_first[node + 1])
            ordinal = int(np.searchsorted(offsets[low:high], left, "right")) - 1
            node = int(self.edge_child[low + ordinal])
            iteration, left = divmod(left - int(offsets[low + ordinal]), int(self.extent[node]))
            path.append(ordinal)
            iterations.append(iteration)
        return tuple(path), tuple(iterations)


@dataclass(frozen=True, eq=False)
class _Runs:
    child: NDArray[np.int32]
    count: NDArray[np.int64]


def _runs(graph: CompactTrace) -> _Runs:
    """Join equal root calls in a row, thread by thread."""
    roots = graph.roots
    new = np.ones(len(roots), np.bool_)
    new[1:] = roots[1:] != roots[:-1]
    starts = graph.root_first[:-1]
    new[starts[starts < len(roots)]] = True
    at = np.flatnonzero(new)
    return _Runs(roots[at], np.diff(np.append(at, len(roots))))
