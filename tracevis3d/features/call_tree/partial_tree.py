"""The partial tree: only those rows of a call tree of any size that a window shows (SEAT, chapter 5).

The complete tree is never made. How many rows a subtree has depends on its class and on how far it is
expanded, so it is counted once per class (:mod:`.row_counts`); what a person expanded, collapsed or hid by
hand are exceptions along a few paths (:mod:`.expansion`). Size, offset and row are then answered from sums
along one path.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...analysis.compact import CompactTrace
from ...errors import UsageError
from .call_paths import CallPaths, UniquePath
from .expansion import Expansion, Override, Step
from .row_counts import ALL, RowCounts

__all__ = ["ALL", "Override", "Page", "PartialTree", "Row", "UniquePath"]


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
    """The result of :meth:`PartialTree.construct`: the rows, and the parents that link them to the root.

    Attributes
    ----------
    rows : list of Row
        In order.
    linking : list of UniquePath
        The callers of the first row, the root first.
    """

    rows: list[Row]
    linking: list[UniquePath]


class PartialTree(CallPaths):
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
        The tree's setting: whether marked rows are shown.
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
        super().__init__(graph, folded=folded, calls=calls, places=places)
        self._counts = RowCounts(self, filtered, show_filtered)
        self._expansion = Expansion(self, self._counts, levels)

    # -- settings ---------------------------------------------------------------------------------------

    @property
    def show_filtered(self) -> bool:
        """Show what filters hide, or hide it again."""
        return self._counts.show

    @show_filtered.setter
    def show_filtered(self, show: bool) -> None:
        self._count_with(self._counts.filtered[: len(self.graph)], show)

    def filter(self, filtered: NDArray[np.bool_] | None) -> None:
        """Mark other nodes: bool (m,); None for none."""
        self._count_with(filtered, self._counts.show)

    def expand_levels(self, levels: int) -> None:
        """Expand ``levels`` levels of the whole tree, and discard expansions made manually."""
        self._expansion.levels = levels
        for _, exception in self._expansion.walk(self._expansion.top, ()):
            exception.levels = None
        self._expansion.recount()

    def _count_with(self, filtered: NDArray[np.bool_] | None, show: bool) -> None:
        self._counts = self._expansion.counts = RowCounts(self, filtered, show)
        self._expansion.recount()

    # -- one path ---------------------------------------------------------------------------------------

    def state(self, path: UniquePath) -> str:
        """Return ``+``, ``-``, ``~`` or nothing; see :class:`Row`."""
        return self._expansion.state(self._expansion.steps(path)[-1])

    def is_filtered(self, path: UniquePath) -> bool:
        """Whether the path itself is marked, manually or by the filters."""
        step = self._expansion.steps(path)[-1]
        return self._expansion.is_marked(step)

    def is_shown(self, path: UniquePath) -> bool:
        """Whether the path has a row: all its ancestors are expanded and shown, and it isn't hidden."""
        steps = self._expansion.steps(path)
        return all(
            above.levels != 0 and not (above.hide and self._expansion.is_marked(step))
            for above, step in pairwise(steps)
        )

    def nearest_shown(self, path: UniquePath) -> UniquePath | None:
        """Return the longest beginning of the path that has a row; None if none has.

        Ordinals that don't exist end it, too: so a path that was stored can be looked for in another tree.

        Parameters
        ----------
        path : UniquePath
            Ordinals of the edges from the root on.

        Returns
        -------
        UniquePath or None
        """
        step, end = self._expansion.root_step(), 0
        for ordinal in path:
            degree = self.degree(step.node)
            if step.levels == 0 or not 0 <= ordinal < degree:
                break
            below = self._expansion.below(step, ordinal)
            if step.hide and self._expansion.is_marked(below):
                break
            step, end = below, end + 1
        return path[:end] or None

    def has_filtered(self, path: UniquePath) -> bool:
        """Whether a callee on the path is marked, shown or not."""
        return self._expansion.has_marked(self._expansion.steps(path)[-1])

    # -- what a person does -----------------------------------------------------------------------------

    def expand(self, path: UniquePath, levels: int = 1) -> None:
        """Expand a path by ``levels`` levels; :data:`ALL` also forgets what was collapsed below manually.

        Parameters
        ----------
        path : UniquePath
            Ordinals of the edges from the root on.
        levels : int
            How many; 0 collapses it.
        """
        if levels == ALL:
            special = self._expansion.find(path)
            if special is not None:
                for _, below in self._expansion.walk(special, path):
                    below.levels = None
        self._expansion.change(path, levels=levels)

    def collapse(self, path: UniquePath) -> None:
        """Collapse a path."""
        self._expansion.change(path, levels=0)

    def toggle_filtered(self, path: UniquePath) -> None:
        """Switch the filtered children of one path on or off, whatever the tree does (section 6.5.2)."""
        hide = self._expansion.steps(path)[-1].hide
        self._expansion.change(path, override="show" if hide else "hide")

    def inherit_filtered(self, path: UniquePath) -> None:
        """Let the tree's setting decide again about a path's filtered children."""
        self._expansion.change(path, override=None)

    def hide(self, path: UniquePath) -> None:
        """Mark one path as hidden, with all rows below it."""
        self._expansion.change(path, hidden=True)

    def unhide(self, path: UniquePath) -> None:
        """Remove the mark of :meth:`hide`."""
        self._expansion.change(path, hidden=False)

    def exceptions(self) -> list[tuple[UniquePath, int | None, Override | None, bool]]:
        """Return the changes made manually, to be stored; see :meth:`.expansion.Expansion.exceptions`."""
        return self._expansion.exceptions()

    def restore(self, rows: list[tuple[UniquePath, int | None, Override | None, bool]]) -> int:
        """Do again what :meth:`exceptions` returned; return how many paths no longer exist."""
        return self._expansion.restore(rows)

    # -- size, offset and rows --------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Rows of the complete tree as it is expanded and filtered (section 5.3.3.3)."""
        return self._expansion.top.size - 1

    def offset(self, path: UniquePath) -> int:
        """Return the number of the path's row: how many rows stand before it (section 5.3.3.4).

        Parameters
        ----------
        path : UniquePath
            Ordinals of the edges from the root on.

        Returns
        -------
        int
            From 0.

        Raises
        ------
        UsageError
            If there is no such path, or it isn't shown.
        """
        if not path or not self.is_shown(path):
            raise UsageError(f"the path {path} has no row: a caller is collapsed, or it is hidden")
        row = -1
        steps = self._expansion.steps(path)
        for ordinal, step in zip(path, steps, strict=False):
            row += 1 + self._expansion.position(step, ordinal)
        return row

    def path_at(self, row: int) -> UniquePath:
        """Return the path of a row.

        Parameters
        ----------
        row : int
            From 0.

        Returns
        -------
        UniquePath

        Raises
        ------
        UsageError
            If there is no such row.
        """
        return tuple(ordinal for ordinal, _ in self._descend(row))

    def forward(self, path: UniquePath, count: int) -> tuple[UniquePath, int]:
        """Skip ``count`` rows forward; return the new path, and how many could be skipped (5.3.4.1).

        Parameters
        ----------
        path : UniquePath
            That of a row.
        count : int
            How many rows.

        Returns
        -------
        (UniquePath, int)
        """
        return self._skip(path, count)

    def backward(self, path: UniquePath, count: int) -> tuple[UniquePath, int]:
        """Skip ``count`` rows backward; return the new path, and how many could be skipped (5.3.4.2).

        Parameters
        ----------
        path : UniquePath
            That of a row.
        count : int
            How many rows.

        Returns
        -------
        (UniquePath, int)
        """
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
            At most this many rows.

        Returns
        -------
        Page
        """
        if self.size == 0 or count <= 0:
            return Page([], [])
        row = offset + (self.offset(path) if path else 0)
        row = min(max(row, 0), self.size - 1)
        rows: list[Row] = []
        way = self._descend(row)
        linking = [tuple(ordinal for ordinal, _ in way[:k]) for k in range(1, len(way))]
        steps = [self._expansion.root_step(), *(step for _, step in way)]
        ordinals = [ordinal for ordinal, _ in way]
        while True:
            rows.append(self._row(tuple(ordinals), row, steps[-2], steps[-1]))
            row += 1
            if len(rows) == count or row >= self.size:
                return Page(rows, linking)
            ordinal = self._expansion.next_shown(steps[-1], -1) if steps[-1].levels != 0 else None
            while ordinal is None:
                steps.pop()
                ordinal = self._expansion.next_shown(steps[-1], ordinals.pop())
            ordinals.append(ordinal)
            steps.append(self._expansion.below(steps[-1], ordinal))

    def expand_to(self, path: UniquePath) -> int:
        """Expand the callers of a path, show what hides it, and return the number of its row."""
        self.node(path)
        for k in range(1, len(path) + 1):
            steps = self._expansion.steps(path[:k])
            above, step = steps[-2], steps[-1]
            if above.levels == 0:
                self._expansion.change(path[: k - 1], levels=1)
            if above.hide and self._expansion.is_marked(step):
                if step.exception is not None and step.exception.hidden:
                    self.unhide(path[:k])
                if self._counts.filtered[step.node]:
                    self._expansion.change(path[: k - 1], override="show")
        return self.offset(path)

    def _descend(self, row: int) -> list[tuple[int, Step]]:
        """Return the way to a row: each ordinal with the step that it leads to."""
        if not 0 <= row < self.size:
            raise UsageError(f"there is no row {row:,}: the tree has {self.size:,} rows")
        step, left = self._expansion.root_step(), row + 1
        way = []
        while left:
            left -= 1
            ordinal, position = self._expansion.child_at(step, left)
            left -= position
            step = self._expansion.below(step, ordinal)
            way.append((ordinal, step))
        return way

    def _skip(self, path: UniquePath, count: int) -> tuple[UniquePath, int]:
        here = self.offset(path)
        there = min(max(here + count, 0), self.size - 1)
        return self.path_at(there), there - here

    def _row(self, path: UniquePath, number: int, above: Step, step: Step) -> Row:
        edge = int(self.edge_first[above.node]) + path[-1]
        return Row(
            path,
            number,
            step.node,
            len(path),
            int(self.edge_count[edge]),
            self._expansion.state(step),
            self._expansion.is_marked(step),
        )
