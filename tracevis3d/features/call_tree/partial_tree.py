"""The partial tree: of a call tree of any size, just the rows that a window shows (SEAT, chapter 5).

The complete tree is never made. How many rows a subtree has depends on its class and on how far it is
expanded, so it is counted once per class; what a person expanded, collapsed or hid by hand are exceptions
along a few paths. Size, offset and row are then answered from sums along one path.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...analysis.compact import CompactTrace
from ...analysis.grammar import callees_of
from ...errors import UsageError
from ...kernels.tree.compact import sum_rows
from ...kernels.tree.grammar import count_rows

#: The ordinals of the edges from the forest's root to a call: which root, which of its edges, and so on.
#: It tells a place in the tree, where a node of the graph tells only what happens there (section 5.3.2).
UniquePath = tuple[int, ...]

#: For ``levels``: everything below is expanded.
ALL = -1
#: How filtered children of one path are shown, whatever the setting of the tree is.
Override = Literal["show", "hide"]


@dataclass(frozen=True)
class Row:
    """A row of the list.

    Attributes
    ----------
    path : UniquePath
    number : int
        0 for the first row of the complete tree.
    node : int
        The class in the graph; in a folded tree it may be a rule of the graph's grammar.
    depth : int
        1 for a root; a sequence takes a level, too.
    iterations : int
        How often the call repeats in a row (the edge's label).
    state : str
        ``+`` collapsed, ``-`` expanded, ``~`` expanded but for filtered children, empty for a leaf.
    filtered : bool
        Whether a filter or a person marked it as hidden; such a row is only there because of a setting.
    """

    path: UniquePath
    number: int
    node: int
    depth: int
    iterations: int
    state: str
    filtered: bool


@dataclass(frozen=True)
class Page:
    """What :meth:`PartialTree.construct` returns: the rows, and the parents that link them to the root."""

    rows: list[Row]
    linking: list[UniquePath]


class _Exception:
    """What is special about one path, or about paths below it."""

    __slots__ = ("children", "hidden", "levels", "marks", "more", "order", "override", "shifts", "size")

    def __init__(self) -> None:
        self.levels: int | None = None
        self.override: Override | None = None
        self.hidden = False
        self.children: dict[int, _Exception] = {}
        self.order: list[int] = []
        #: How many of the children are hidden.
        self.marks = 0
        self.size = 0
        #: Rows that it has beyond what the table counts for it; and the sums of these of its children.
        self.more = 0
        self.shifts: list[int] | None = None

    @property
    def plain(self) -> bool:
        return not (self.children or self.hidden or self.override) and self.levels is None


@dataclass(frozen=True, eq=False)
class _Table:
    """What there is to count rows with if classes are expanded to some level.

    Attributes
    ----------
    every : int64 (e + 1,) or None
        Sums over the edges of the rows that they lead to, below by the tree's setting. None: one row each.
    marked : int64 (e + 1,)
        The same of those edges that lead to marked classes.
    """

    every: NDArray[np.int64] | None
    marked: NDArray[np.int64]

    @property
    def total(self) -> int:
        """Rows of all edges together."""
        return len(self.marked) - 1 if self.every is None else int(self.every[-1])

    def rows(self, low: int, high: int, hide: bool) -> int:
        """Return the rows of the edges from ``low`` to ``high``."""
        rows = high - low if self.every is None else int(self.every[high] - self.every[low])
        return rows - int(self.marked[high] - self.marked[low]) if hide else rows


class _Step:
    """A node on the way down a path, with what rules there."""

    __slots__ = ("exception", "hide", "levels", "node")

    def __init__(self, node: int, levels: int, hide: bool, exception: _Exception | None) -> None:
        self.node, self.levels, self.hide, self.exception = node, levels, hide, exception


class PartialTree:
    """The rows of a call tree: which there are, where each stands, and those of one window.

    A path is shown if its parent is expanded and shown, and it isn't hidden. It is hidden (section 5.3.3.1)
    if it is marked, by a person (its own state) or by the filters (its node), and marked paths aren't shown:
    the tree's setting says so, unless the parent overrides it. So of the four conditions,
    ``hidden = (own or filtered) and (override if there is one else not shown)``.

    Parameters
    ----------
    graph : CompactTrace
    levels : int
        How many levels are expanded to begin with: 0 shows the roots alone, :data:`ALL` everything.
    filtered : bool (m,), optional
        The nodes that the filters mark.
    show_filtered : bool
        The tree's setting: whether what is marked is shown.
    folded : bool
        Whether sequences of callees that occur again are one row each, which opens to what they take in: the
        rules of the graph's grammar. A path then has an ordinal for each sequence on its way.
    calls, places : int64 (graph's calls,), int64 (n,), optional
        Where the graph is of a part of the trace: the trace's number of each of its calls, and of each call
        of the trace the number here, or that of its nearest caller that is here; -1 if there is none.
    """

    def __init__(
        self,
        graph: CompactTrace,
        *,
        levels: int = 0,
        filtered: NDArray[np.bool_] | None = None,
        show_filtered: bool = False,
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
        self._special = _Exception()
        self._offsets = self._call_offsets()
        self._levels = levels
        self._set_filters(filtered, show_filtered)

    def _lay(self) -> None:
        """Lay out nodes and edges: the graph's, and behind them the forest's root with the root calls."""
        graph = self.graph
        edges, roots = graph.edges, _runs(graph)
        self._root = self._rules = len(graph)
        self._first: NDArray[np.int64] = np.append(edges.first, edges.first[-1] + len(roots.child))
        self._child: NDArray[np.int32] = np.concatenate([edges.child, roots.child])
        self._count: NDArray[np.int64] = np.concatenate([edges.count, roots.count])
        self._extent = np.append(graph.subtrees.extent, 1 + int(graph.subtrees.extent[graph.roots].sum()))

    def _lay_folded(self) -> None:
        """Lay out nodes and edges: the owners of the grammar, and the forest's root.

        No path leads to the lists of the threads' roots, nor to rules that are written out.
        """
        graph, grammar = self.graph, self.graph.grammar
        edges = grammar.listed
        roots = slice(int(edges.first[len(graph)]), int(edges.first[grammar.lists]))
        self._rules, self._root = grammar.lists, len(grammar.order)
        self._first = np.append(edges.first, edges.first[-1] + roots.stop - roots.start)
        self._child = np.concatenate([edges.child, edges.child[roots]])
        self._count = np.concatenate([edges.count, edges.count[roots]])
        calls = grammar.calls.copy()
        calls[: len(graph)] = graph.subtrees.extent
        self._extent = np.append(calls, 1 + int(graph.subtrees.extent[graph.roots].sum()))

    # -- settings ---------------------------------------------------------------------------------------

    @property
    def show_filtered(self) -> bool:
        """The tree's setting: whether what is marked as hidden is shown."""
        return self._show

    @show_filtered.setter
    def show_filtered(self, show: bool) -> None:
        self._set_filters(self._filtered[: len(self.graph)], show)

    def filter(self, filtered: NDArray[np.bool_] | None) -> None:
        """Mark other nodes: bool (m,); None for none."""
        self._set_filters(filtered, self._show)

    def is_sequence(self, node: int) -> bool:
        """Whether a node is a sequence of callees: a rule of the graph's grammar."""
        return self._rules <= node < self._root

    def expand_levels(self, levels: int) -> None:
        """Expand ``levels`` levels of the whole tree, and forget what was expanded by hand."""
        self._levels = levels
        for _, exception in self._walk(self._special, ()):
            exception.levels = None
        self._recount()

    def _set_filters(self, filtered: NDArray[np.bool_] | None, show: bool) -> None:
        marked = np.zeros(self._root + 1, np.bool_)
        if filtered is not None:
            marked[: len(filtered)] = filtered
            if self.folded:
                # A sequence is hidden if all that it takes in is.
                left = np.zeros(self._rules, np.int64)
                left[: len(filtered)] = ~marked[: len(filtered)]
                marked[self._rules : self._root] = self.graph.grammar.total(left)[self._rules :] == 0
        self._filtered, self._show = marked, show
        #: How many edges before each lead to marked nodes.
        self._marks: NDArray[np.int64] = np.zeros(len(self._child) + 1, np.int64)
        np.cumsum(marked[self._child], out=self._marks[1:])
        self._tables: dict[int, _Table] = {}
        self._recount()

    def _recount(self) -> None:
        # What may be asked for later is counted now, so that no key has to wait for it.
        self._table(ALL)
        self._table(self._inner(self._levels))
        self._sum(self._special, self._root, self._inner(self._levels))

    @staticmethod
    def _inner(levels: int) -> int:
        """Return the levels that the forest's root is expanded to, for that of the trees."""
        return ALL if levels == ALL else levels + 1

    # -- one path ---------------------------------------------------------------------------------------

    def node(self, path: UniquePath) -> int:
        """Return the class that the path leads to.

        Raises
        ------
        UsageError
            If there is no such path.
        """
        node = self._root
        for ordinal in path:
            degree = int(self._first[node + 1] - self._first[node])
            if not 0 <= ordinal < degree:
                raise UsageError(f"there is no path {path}: a call on it has {degree:,} different callees")
            node = int(self._child[self._first[node] + ordinal])
        return node

    def parent(self, path: UniquePath) -> UniquePath | None:
        """Return the caller's path; None for a root."""
        return path[:-1] if len(path) > 1 else None

    def child(self, path: UniquePath, ordinal: int = 0) -> UniquePath | None:
        """Return the path of a callee; None if there are fewer. Shown or not doesn't matter."""
        node = self.node(path)
        return (*path, ordinal) if 0 <= ordinal < self._first[node + 1] - self._first[node] else None

    def next_sibling(self, path: UniquePath) -> UniquePath | None:
        """Return the path behind this one under the same caller; None for the last."""
        return self.child(path[:-1], path[-1] + 1)

    def previous_sibling(self, path: UniquePath) -> UniquePath | None:
        """Return the path before this one under the same caller; None for the first."""
        return self.child(path[:-1], path[-1] - 1)

    def state(self, path: UniquePath) -> str:
        """Return ``+``, ``-``, ``~`` or nothing; see :class:`Row`."""
        return self._state(self._steps(path)[-1])

    def is_filtered(self, path: UniquePath) -> bool:
        """Whether the path itself is marked, by hand or by the filters."""
        step = self._steps(path)[-1]
        return self._marked(step)

    def is_shown(self, path: UniquePath) -> bool:
        """Whether the path has a row: all its ancestors are expanded and shown, and it isn't hidden."""
        steps = self._steps(path)
        return all(
            above.levels != 0 and not (above.hide and self._marked(step)) for above, step in pairwise(steps)
        )

    def nearest_shown(self, path: UniquePath) -> UniquePath | None:
        """Return the longest beginning of the path that has a row; None if none has.

        Ordinals that don't exist end it, too: so a path that was stored can be looked for in another tree.
        """
        step, end = self._root_step(), 0
        for ordinal in path:
            degree = int(self._first[step.node + 1] - self._first[step.node])
            if step.levels == 0 or not 0 <= ordinal < degree:
                break
            below = self._below(step, ordinal)
            if step.hide and self._marked(below):
                break
            step, end = below, end + 1
        return path[:end] or None

    def has_filtered(self, path: UniquePath) -> bool:
        """Whether a callee on the path is marked, shown or not."""
        return self._has_marked(self._steps(path)[-1])

    # -- what a person does -----------------------------------------------------------------------------

    def expand(self, path: UniquePath, levels: int = 1) -> None:
        """Expand a path by ``levels`` levels; :data:`ALL` also forgets what was collapsed below by hand."""
        if levels == ALL:
            special = self._find(path)
            if special is not None:
                for _, below in self._walk(special, path):
                    below.levels = None
        self._change(path, levels=levels)

    def collapse(self, path: UniquePath) -> None:
        """Collapse a path."""
        self._change(path, levels=0)

    def toggle_filtered(self, path: UniquePath) -> None:
        """Switch the filtered children of one path on or off, whatever the tree does (section 6.5.2)."""
        hide = self._steps(path)[-1].hide
        self._change(path, override="show" if hide else "hide")

    def inherit_filtered(self, path: UniquePath) -> None:
        """Let the tree's setting decide again about a path's filtered children."""
        self._change(path, override=None)

    def hide(self, path: UniquePath) -> None:
        """Mark one path as hidden: it and what is below."""
        self._change(path, hidden=True)

    def unhide(self, path: UniquePath) -> None:
        """Take the mark of :meth:`hide` away."""
        self._change(path, hidden=False)

    def exceptions(self) -> list[tuple[UniquePath, int | None, Override | None, bool]]:
        """Return what was done by hand as rows of path, levels, override and own mark, to be stored.

        The empty path stands for the roots' parent, which has an override alone.
        """
        top: list[tuple[UniquePath, int | None, Override | None, bool]] = []
        if self._special.override:
            top.append(((), None, self._special.override, False))
        return top + [
            (path, e.levels, e.override, e.hidden)
            for path, e in self._walk(self._special, ())
            if e.hidden or e.override or e.levels is not None
        ]

    def restore(self, rows: list[tuple[UniquePath, int | None, Override | None, bool]]) -> int:
        """Do again what :meth:`exceptions` returned; return how many paths no longer exist."""
        lost = 0
        for path, levels, override, hidden in rows:
            try:
                if path:
                    self._change(tuple(path), levels=levels, override=override, hidden=hidden)
                else:
                    self._change((), override=override)
            except UsageError:
                lost += 1
        return lost

    # -- size, offset and rows --------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Rows of the complete tree as it is expanded and filtered (section 5.3.3.3)."""
        return self._special.size - 1

    def offset(self, path: UniquePath) -> int:
        """Return the number of the path's row: how many rows stand before it (section 5.3.3.4).

        Raises
        ------
        UsageError
            If there is no such path, or it isn't shown.
        """
        if not path or not self.is_shown(path):
            raise UsageError(f"the path {path} has no row: a caller is collapsed, or it is hidden")
        row = -1
        steps = self._steps(path)
        for ordinal, step in zip(path, steps, strict=False):
            row += 1 + self._position(step, ordinal)
        return row

    def path_at(self, row: int) -> UniquePath:
        """Return the path of a row.

        Raises
        ------
        UsageError
            If there is no such row.
        """
        return tuple(ordinal for ordinal, _ in self._descend(row))

    def forward(self, path: UniquePath, count: int) -> tuple[UniquePath, int]:
        """Skip ``count`` rows forward; return the new path, and how many could be skipped (5.3.4.1)."""
        return self._skip(path, count)

    def backward(self, path: UniquePath, count: int) -> tuple[UniquePath, int]:
        """Skip ``count`` rows backward; return the new path, and how many could be skipped (5.3.4.2)."""
        found, skipped = self._skip(path, -count)
        return found, -skipped

    def construct(self, path: UniquePath | None, offset: int, count: int) -> Page:
        """Return ``count`` rows from ``offset`` rows after ``path`` on, with their linking parents (5.3.4.3).

        Parameters
        ----------
        path : UniquePath or None
            A shown path; None for the first row.
        offset : int
            May be negative. Beyond the ends it stops at them.
        count : int
            At most so many rows.
        """
        if self.size == 0 or count <= 0:
            return Page([], [])
        row = offset + (self.offset(path) if path else 0)
        row = min(max(row, 0), self.size - 1)
        rows: list[Row] = []
        way = self._descend(row)
        linking = [tuple(ordinal for ordinal, _ in way[:k]) for k in range(1, len(way))]
        steps = [self._root_step(), *(step for _, step in way)]
        ordinals = [ordinal for ordinal, _ in way]
        while True:
            rows.append(self._row(tuple(ordinals), row, steps[-2], steps[-1]))
            row += 1
            if len(rows) == count or row >= self.size:
                return Page(rows, linking)
            ordinal = self._next_shown(steps[-1], -1) if steps[-1].levels != 0 else None
            while ordinal is None:
                steps.pop()
                ordinal = self._next_shown(steps[-1], ordinals.pop())
            ordinals.append(ordinal)
            steps.append(self._below(steps[-1], ordinal))

    # -- calls ------------------------------------------------------------------------------------------

    def call(self, path: UniquePath, iterations: UniquePath = ()) -> int:
        """Return a call that the path stands for: int, index into the trace's calls.

        Parameters
        ----------
        path : UniquePath
        iterations : tuple of int
            For each edge of the path, which of its repetitions; the first where it is not given.
        """
        at = self._call(path, iterations)
        return at if self._calls is None else int(self._calls[at])

    def calls(self, path: UniquePath, most: int) -> NDArray[np.int64]:
        """Return the calls of the last step's repetitions, int64 (k,), ascending; at most ``most``.

        For a sequence these are all that it takes in.
        """
        edge = int(self._first[self.node(path[:-1])]) + path[-1]
        here = self._repeated(self._call(path, ()), edge, most)
        return here if self._calls is None else self._calls[here]

    def last(self, path: UniquePath) -> int:
        """Return the last call of the last step's repetitions: int, index into the trace's calls."""
        edge = int(self._first[self.node(path[:-1])]) + path[-1]
        return self.last_callee(path, int(self._count[edge]) - 1)

    def last_callee(self, path: UniquePath, which: int = 0) -> int:
        """Return the last call that a sequence takes in in one of its repetitions; for a call that itself.

        int, index into the trace's calls.
        """
        node, iterations = self.node(path), [0] * (len(path) - 1) + [which]
        while self.is_sequence(node):
            edge = int(self._first[node + 1]) - 1
            iterations.append(int(self._count[edge]) - 1)
            path, node = (*path, edge - int(self._first[node])), int(self._child[edge])
        return self.call(path, tuple(iterations))

    def _repeated(self, first: int, edge: int, most: int) -> NDArray[np.int64]:
        """Return the calls of an edge that begins with the call ``first``; a sequence's are all in it."""
        node = int(self._child[edge])
        step, times = int(self._extent[node]), min(int(self._count[edge]), most)
        if not self.is_sequence(node):
            return first + step * np.arange(times, dtype=np.int64)

        inside = callees_of(self.graph, node, max(most, 1))
        rounds = min(times, -(-most // len(inside)))
        return (first + step * np.arange(rounds, dtype=np.int64)[:, None] + inside).ravel()[:most]

    def _call(self, path: UniquePath, iterations: UniquePath) -> int:
        self.node(path)
        offsets = self._offsets
        at, node = -1, self._root
        for k, ordinal in enumerate(path):
            # A sequence is no call.
            at += not self.is_sequence(node)
            edge = int(self._first[node]) + ordinal
            node = int(self._child[edge])
            which = iterations[k] if k < len(iterations) else 0
            if not 0 <= which < self._count[edge]:
                raise UsageError(f"the call repeats {self._count[edge]:,} times there: no {which:,}")
            at += int(offsets[edge]) + which * int(self._extent[node])
        return at

    def path_of(self, call: int) -> tuple[UniquePath, UniquePath]:
        """Return the path of a call, and for each of its edges which repetition it is.

        A call that isn't in this tree is looked for at its nearest caller that is.

        Raises
        ------
        UsageError
            If there is no such call, or neither it nor a caller of it is in the tree.
        """
        n = int(self._extent[self._root]) - 1 if self._places is None else len(self._places)
        if not 0 <= call < n:
            raise UsageError(f"there is no call {call:,}: there are {n:,}")
        if self._places is not None and (call := int(self._places[call])) < 0:
            raise UsageError("the call and all its callers are hidden by filters")
        offsets = self._offsets
        path, iterations = [], []
        node, left = self._root, call + 1
        while left or self.is_sequence(node):
            left -= not self.is_sequence(node)
            low, high = int(self._first[node]), int(self._first[node + 1])
            ordinal = int(np.searchsorted(offsets[low:high], left, "right")) - 1
            node = int(self._child[low + ordinal])
            iteration, left = divmod(left - int(offsets[low + ordinal]), int(self._extent[node]))
            path.append(ordinal)
            iterations.append(iteration)
        return tuple(path), tuple(iterations)

    def reveal(self, path: UniquePath) -> int:
        """Expand the callers of a path, show what hides it, and return the number of its row."""
        self.node(path)
        for k in range(1, len(path) + 1):
            steps = self._steps(path[:k])
            above, step = steps[-2], steps[-1]
            if above.levels == 0:
                self._change(path[: k - 1], levels=1)
            if above.hide and self._marked(step):
                if step.exception is not None and step.exception.hidden:
                    self.unhide(path[:k])
                if self._filtered[step.node]:
                    self._change(path[: k - 1], override="show")
        return self.offset(path)

    # -- inside -----------------------------------------------------------------------------------------

    def _call_offsets(self) -> NDArray[np.int64]:
        """For each edge the calls below its source that come before it, int64 (e,)."""
        calls = np.zeros(len(self._child) + 1, np.int64)
        np.cumsum(self._count * self._extent[self._child], out=calls[1:])
        degree = np.diff(self._first)
        return np.asarray(calls[:-1] - np.repeat(calls[self._first[:-1]], degree), np.int64)

    def _table(self, levels: int) -> _Table:
        """Return the sums for classes of which ``levels`` levels are expanded, 1 at least."""
        if levels not in self._tables:
            if levels == 1:
                self._tables[1] = _Table(None, self._marks)
                return self._tables[1]
            if levels != ALL:
                # Deeper ones stand on shallower ones; a loop, since there may be more than Python nests.
                for shallower in range(1, levels):
                    self._table(shallower)
                everything, above = self._table(ALL), self._table(levels - 1)
                # Rows only grow with the levels: where the sums are equal, nothing is deeper.
                if above.total == everything.total:
                    self._tables[levels] = everything
                    return everything
            m, e = len(self._first) - 1, len(self._child)
            rows: NDArray[np.int64] = np.empty(m, np.int64)
            every, marked = np.empty(e + 1, np.int64), np.empty(e + 1, np.int64)
            below = rows if levels == ALL else self._rows(levels - 1)
            if levels == ALL and self.folded:
                order, below = np.append(self.graph.grammar.order, np.int32(self._root)), np.empty_like(rows)
                count_rows(order, self._first, self._child, self._filtered, not self._show, below)
            sum_rows(self._first, self._child, self._filtered, not self._show, below, rows, every, marked)
            self._tables[levels] = _Table(every, marked)
        return self._tables[levels]

    def _rows(self, levels: int) -> NDArray[np.int64]:
        """Return the rows of each class as a child that is expanded by ``levels`` levels, int64 (m + 1,)."""
        table = self._table(levels)
        every = self._first if table.every is None else table.every[self._first]
        rows = 1 + np.diff(every)
        return rows if self._show else rows - np.diff(table.marked[self._first])

    def _hides(self, exception: _Exception | None) -> bool:
        override = exception.override if exception is not None else None
        return override == "hide" if override else not self._show

    def _root_step(self) -> _Step:
        special = self._special
        return _Step(self._root, self._inner(self._levels), self._hides(special), special)

    def _below(self, step: _Step, ordinal: int) -> _Step:
        exception = step.exception.children.get(ordinal) if step.exception is not None else None
        levels = ALL if step.levels == ALL else max(step.levels - 1, 0)
        if exception is not None and exception.levels is not None:
            levels = exception.levels
        node = int(self._child[self._first[step.node] + ordinal])
        return _Step(node, levels, self._hides(exception), exception)

    def _steps(self, path: UniquePath) -> list[_Step]:
        self.node(path)
        steps = [self._root_step()]
        for ordinal in path:
            steps.append(self._below(steps[-1], ordinal))
        return steps

    def _marked(self, step: _Step) -> bool:
        own = step.exception is not None and step.exception.hidden
        return own or bool(self._filtered[step.node])

    def _has_marked(self, step: _Step) -> bool:
        own = step.exception is not None and step.exception.marks > 0
        return own or bool(self._marks[self._first[step.node + 1]] > self._marks[self._first[step.node]])

    def _state(self, step: _Step) -> str:
        if self._first[step.node] == self._first[step.node + 1]:
            return ""
        if step.levels == 0:
            return "+"
        return "~" if step.hide and self._has_marked(step) else "-"

    def _size(self, step: _Step) -> int:
        """Rows of a step as a child, whether it is hidden or not."""
        if step.levels == 0:
            return 1
        if step.exception is not None:
            return step.exception.size
        return self._plain_size(step)

    def _plain_size(self, step: _Step) -> int:
        low, high = int(self._first[step.node]), int(self._first[step.node + 1])
        return 1 + self._table(step.levels).rows(low, high, step.hide)

    def _more(self, step: _Step, ordinal: int) -> int:
        """Return the rows that an exceptional child has beyond those that the table counts for it."""
        below = self._below(step, ordinal)
        edge = int(self._first[step.node]) + ordinal
        general = self._table(step.levels).rows(edge, edge + 1, step.hide)
        return (0 if step.hide and self._marked(below) else self._size(below)) - general

    def _sum(self, exception: _Exception, node: int, levels: int) -> None:
        """Count the rows of an exception and of all below it, deepest first."""
        order = [(exception, _Step(node, levels, self._hides(exception), exception))]
        for _, step in order:
            assert step.exception is not None
            order += [
                (below, self._below(step, ordinal)) for ordinal, below in step.exception.children.items()
            ]
        for found, step in reversed(order):
            self._count_rows(found, step)

    def _count_rows(self, exception: _Exception, step: _Step) -> None:
        exception.size, exception.shifts = 1, None
        if step.levels == 0:
            return
        exception.size = self._plain_size(step)
        for ordinal, child in exception.children.items():
            child.more = self._more(step, ordinal)
            exception.size += child.more

    def _recount_child(self, exception: _Exception, step: _Step, ordinal: int) -> None:
        """Count the rows of an exception anew of which one child has changed; drop that if it is plain."""
        child = exception.children[ordinal]
        exception.shifts = None
        before = child.more
        if child.plain:
            child.more = 0
            del exception.children[ordinal]
            del exception.order[bisect_left(exception.order, ordinal)]
        elif step.levels != 0:
            child.more = self._more(step, ordinal)
        if step.levels != 0:
            exception.size += child.more - before

    def _change(self, path: UniquePath, **values: Any) -> None:
        """Set attributes of the exception at ``path`` and count the rows of it and its callers anew."""
        self.node(path)
        if not path and set(values) != {"override"}:
            raise UsageError("the whole tree is expanded by expand_levels, and no one hides it")
        if not path:
            self._special.override = values["override"]
            self._recount()
            return
        way = [self._special]
        for ordinal in path:
            special = way[-1]
            if ordinal not in special.children:
                special.children[ordinal] = _Exception()
                insort(special.order, ordinal)
                special.shifts = None
            way.append(special.children[ordinal])
        was_hidden = way[-1].hidden
        for name, value in values.items():
            setattr(way[-1], name, value)
        way[-2].marks += way[-1].hidden - was_hidden
        steps = self._steps(path)
        for fresh, step in zip(way[:-1], steps, strict=False):
            if fresh.size == 0:
                self._count_rows(fresh, step)
        # What hangs below changes with the levels and the setting that it inherits.
        self._sum(way[-1], steps[-1].node, steps[-1].levels)
        for k in range(len(path) - 1, -1, -1):
            self._recount_child(way[k], steps[k], path[k])

    def _find(self, path: UniquePath) -> _Exception | None:
        found: _Exception | None = self._special
        for ordinal in path:
            found = found.children.get(ordinal) if found is not None else None
        return found

    @staticmethod
    def _walk(exception: _Exception, path: UniquePath) -> Iterator[tuple[UniquePath, _Exception]]:
        """Yield all exceptions below one, callers first."""
        todo = [(path, exception)]
        while todo:
            at, found = todo.pop()
            if found is not exception:
                yield at, found
            todo += [((*at, ordinal), found.children[ordinal]) for ordinal in reversed(found.order)]

    def _position(self, step: _Step, ordinal: int) -> int:
        """Return the rows of a step's children before the one with this ordinal."""
        low, exception = int(self._first[step.node]), step.exception
        position = self._table(step.levels).rows(low, low + ordinal, step.hide)
        if exception is None or not exception.order:
            return position
        if exception.shifts is None:
            more = (exception.children[other].more for other in exception.order)
            exception.shifts = [0, *accumulate(more)]
        return position + exception.shifts[bisect_left(exception.order, ordinal)]

    def _child_at(self, step: _Step, row: int) -> tuple[int, int]:
        """Return the child of a step that holds a row, counted from the first child's, and its position."""
        degree = int(self._first[step.node + 1] - self._first[step.node])
        # Of children at the same position all but the last have no rows.
        ordinal = bisect_right(range(degree), row, key=lambda k: self._position(step, k)) - 1
        return ordinal, self._position(step, ordinal)

    def _descend(self, row: int) -> list[tuple[int, _Step]]:
        """Return the way to a row: each ordinal with the step that it leads to."""
        if not 0 <= row < self.size:
            raise UsageError(f"there is no row {row:,}: the tree has {self.size:,} rows")
        step, left = self._root_step(), row + 1
        way = []
        while left:
            left -= 1
            ordinal, position = self._child_at(step, left)
            left -= position
            step = self._below(step, ordinal)
            way.append((ordinal, step))
        return way

    def _next_shown(self, step: _Step, ordinal: int) -> int | None:
        """Return the next child of a step after ``ordinal`` that has rows; None if there is none."""
        if ordinal + 1 >= self._first[step.node + 1] - self._first[step.node]:
            return None
        if not (step.hide and self._marked(self._below(step, ordinal + 1))):
            return ordinal + 1
        end, row = self._size(step) - 1, self._position(step, ordinal + 1)
        return self._child_at(step, row)[0] if row < end else None

    def _skip(self, path: UniquePath, count: int) -> tuple[UniquePath, int]:
        here = self.offset(path)
        there = min(max(here + count, 0), self.size - 1)
        return self.path_at(there), there - here

    def _row(self, path: UniquePath, number: int, above: _Step, step: _Step) -> Row:
        edge = int(self._first[above.node]) + path[-1]
        return Row(
            path, number, step.node, len(path), int(self._count[edge]), self._state(step), self._marked(step)
        )


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
