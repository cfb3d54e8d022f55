"""How many rows the subtrees of a call tree have, counted once per class (SEAT, section 5.3.3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.tree.compact import sum_rows
from ...kernels.tree.grammar import count_rows
from .call_paths import CallPaths

#: For ``levels``: everything below is expanded.
ALL = -1


@dataclass(frozen=True, eq=False)
class RowSums:
    """Row counts of classes that are expanded to some level.

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
        """Return the rows of the edges from ``low`` to ``high``.

        Parameters
        ----------
        low, high : int
            The edges ``[low, high)``.
        hide : bool
            Marked ones have none.

        Returns
        -------
        int
        """
        rows = high - low if self.every is None else int(self.every[high] - self.every[low])
        return rows - int(self.marked[high] - self.marked[low]) if hide else rows


class RowCounts:
    """The rows of classes by how many of their levels are expanded.

    Parameters
    ----------
    paths : CallPaths
    filtered : bool (m,) or None
        The nodes of the graph that the filters mark; a sequence is marked if all that it takes in is.
    show : bool
        Whether marked rows are shown.

    Attributes
    ----------
    filtered : bool (root + 1,)
        The marked nodes.
    show : bool
    """

    def __init__(self, paths: CallPaths, filtered: NDArray[np.bool_] | None, show: bool) -> None:
        self._paths = paths
        marked = np.zeros(paths.root + 1, np.bool_)
        if filtered is not None:
            marked[: len(filtered)] = filtered
            if paths.folded:
                left = np.zeros(paths.rules, np.int64)
                left[: len(filtered)] = ~marked[: len(filtered)]
                marked[paths.rules : paths.root] = paths.graph.grammar.total(left)[paths.rules :] == 0
        self.filtered, self.show = marked, show
        #: How many edges before each lead to marked nodes.
        self._marks: NDArray[np.int64] = np.zeros(len(paths.edge_child) + 1, np.int64)
        np.cumsum(marked[paths.edge_child], out=self._marks[1:])
        self._sums: dict[int, RowSums] = {}
        # Counts that may be needed later are computed now, so that no key press has to wait.
        self.sums(ALL)

    def has_marked(self, node: int) -> bool:
        """Whether a callee of a node is marked."""
        first = self._paths.edge_first
        return bool(self._marks[first[node + 1]] > self._marks[first[node]])

    def sums(self, levels: int) -> RowSums:
        """Return the sums for classes of which ``levels`` levels are expanded, 1 at least."""
        if levels not in self._sums:
            if levels == 1:
                self._sums[1] = RowSums(None, self._marks)
                return self._sums[1]
            if levels != ALL:
                # Deeper ones depend on shallower ones; a loop, since the depth may exceed Python's recursion
                # limit.
                for shallower in range(1, levels):
                    self.sums(shallower)
                everything, above = self.sums(ALL), self.sums(levels - 1)
                # Row counts only grow with the levels: if the sums are equal, nothing is deeper.
                if above.total == everything.total:
                    self._sums[levels] = everything
                    return everything
            paths, hide = self._paths, not self.show
            first, child = paths.edge_first, paths.edge_child
            rows: NDArray[np.int64] = np.empty(len(first) - 1, np.int64)
            every, marked = np.empty(len(child) + 1, np.int64), np.empty(len(child) + 1, np.int64)
            below = rows if levels == ALL else self._rows(levels - 1)
            if levels == ALL and paths.folded:
                order, below = np.append(paths.graph.grammar.order, np.int32(paths.root)), np.empty_like(rows)
                count_rows(order, first, child, self.filtered, hide, below)
            sum_rows(first, child, self.filtered, hide, below, rows, every, marked)
            self._sums[levels] = RowSums(every, marked)
        return self._sums[levels]

    def _rows(self, levels: int) -> NDArray[np.int64]:
        """Return the rows of each class as a child that is expanded by ``levels`` levels, int64 (m + 1,)."""
        sums, first = self.sums(levels), self._paths.edge_first
        rows = 1 + np.diff(first if sums.every is None else sums.every[first])
        return rows if self.show else rows - np.diff(sums.marked[first])
