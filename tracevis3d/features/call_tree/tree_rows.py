"""The settings of a call tree's list, and the rows of one window of it as texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...analysis.compact import graph_of
from ...analysis.sequences import words
from ...errors import TraceVisError
from ...filters.facts import facts_of
from ...filters.listed import Listed
from ...filters.roles import roles_of
from ...trace.model import Trace
from ...units import count
from ...views import filtering
from .navigation import TreeNavigation, carried, text_of
from .partial_tree import ALL, PartialTree, Row, UniquePath

#: The number of levels that represents all.
ALL_LEVELS = 1000
#: Number of callers named in front of the first row.
_CALLERS = 3


@dataclass(frozen=True)
class TreeQuery:
    """The settings of a tree's list.

    Attributes
    ----------
    filters : str
        The view's filter stack.
    show_filtered : bool
        What filters hide is listed too.
    folded : bool
        Callees that follow each other repeatedly are one row.
    levels : int
        Levels that are open to begin with; :data:`ALL_LEVELS` for all.
    """

    filters: str = ""
    show_filtered: bool = False
    folded: bool = False
    levels: int = 2

    @property
    def key(self) -> str:
        """The key under which paths of the tree are stored: paths under another key refer to other rows."""
        shown = "all" if self.show_filtered else "left"
        return f"{shown}{'-folded' if self.folded else ''} {self.filters}"

    @classmethod
    def of_key(cls, key: str) -> TreeQuery:
        """Return what :attr:`key` was written for; its levels are not known."""
        shown, _, filters = key.partition(" ")
        shown, _, folded = shown.partition("-")
        return cls(filters, shown == "all", bool(folded), 0)

    def listed(self, trace: Trace) -> Listed:
        """Return the graph of the rows, and the nodes that filters mark."""
        return filtering.listing(trace, self.filters, self.show_filtered)


def prepare(trace: Trace, query: TreeQuery) -> None:
    """Compute what a tree needs, to be kept with the trace.

    Parameters
    ----------
    trace : Trace
    query : TreeQuery
        The list that will be requested.
    """
    _ = graph_of(trace).edges
    found = query.listed(trace)
    if query.folded:
        _ = found.graph.grammar
    _ = roles_of(trace)


def tree_of(trace: Trace, query: TreeQuery) -> PartialTree:
    """Return the tree of a trace, open to some level.

    Parameters
    ----------
    trace : Trace
    query : TreeQuery
        The settings of the list.

    Returns
    -------
    PartialTree

    Raises
    ------
    UsageError
        If the filters can't be read, or name what the trace hasn't.
    """
    found = query.listed(trace)
    return PartialTree(
        found.graph,
        levels=ALL if query.levels == ALL_LEVELS else query.levels,
        filtered=found.marked,
        show_filtered=query.show_filtered,
        folded=query.folded,
        calls=found.calls,
        places=found.places,
    )


def carried_over(trace: Trace, texts: dict[str, str], key: str, tree: PartialTree) -> dict[str, str]:
    """Return texts of a navigation that were stored under another key as those of ``tree``.

    Parameters
    ----------
    trace : Trace
    texts : dict of str to str
        As :meth:`.navigation.TreeNavigation.written` returned them.
    key : str
        That of the query they were stored for.
    tree : PartialTree
        The one that they are wanted for.

    Returns
    -------
    dict of str to str
        Empty if the other tree can't be made any longer.
    """
    try:
        before = tree_of(trace, TreeQuery.of_key(key))
    except TraceVisError:
        return {}
    same = before.graph is tree.graph and before.folded == tree.folded
    return texts if same else carried(texts, before, tree)


@dataclass(frozen=True)
class RowTexts:
    """A row in words.

    Attributes
    ----------
    path, sign, depth, filtered
        As in :class:`.partial_tree.Row`, the path as text.
    name, about : str
        Its name as short as there is room for, and in full where that is longer.
    below : str
        Calls below it that filters don't hide, and of how many.
    role : str
        What kind of function it is, or ``sequence``.
    chosen, current : bool
    """

    path: str
    name: str
    about: str
    sign: str
    below: str
    role: str
    depth: int
    filtered: bool
    chosen: bool
    current: bool


class TreeTexts:
    """The words of a tree's rows.

    Parameters
    ----------
    trace : Trace
    query : TreeQuery
        The settings of the list.
    tree : PartialTree
        Made by :func:`tree_of` with that query.
    """

    def __init__(self, trace: Trace, query: TreeQuery, tree: PartialTree) -> None:
        self._tree, self._listed = tree, query.listed(trace)
        self._roles, self._short_names = roles_of(trace), facts_of(trace).short_names
        self._labels, self._extent = trace.functions.label, trace.calls.extent
        self._function = tree.graph.subtrees.function

    def label(self, node: int) -> str:
        """Return the name of a row."""
        if self._tree.is_sequence(node):
            return f"({words(self._tree.graph, node, self._labels)})"
        return str(self._labels[int(self._function[node])])

    def below(self, row: Row) -> str:
        """Return how many calls a row has below it that aren't hidden, and of how many."""
        low, last = self._tree.call(row.path), self._tree.last_callee(row.path)
        low += not self._tree.is_sequence(row.node)
        inside = last + int(self._extent[last]) - low
        hidden = self._listed.hidden(low, low + inside)
        left = count(inside - hidden)
        return f"{left} of {count(inside)}" if hidden else left if inside else ""

    def callers(self, first: UniquePath | None) -> str:
        """Return the way from the root to the row at ``first``, its last few steps."""
        way = (first or ())[:-1]
        near = range(max(len(way) - _CALLERS, 0), len(way))
        names = [self.label(self._tree.node(way[: k + 1])) for k in near]
        return " \u203a ".join(["\u2026"] * (len(way) > _CALLERS) + names)

    def row(self, row: Row, chosen: bool, current: bool) -> RowTexts:
        """Return a row in words.

        Parameters
        ----------
        row : Row
            Of a page of the tree.
        chosen : bool
            Whether it is selected.
        current : bool
            Whether it is the current one.

        Returns
        -------
        RowTexts
        """
        tree, name, about = self._tree, self.label(row.node), ""
        sequence = tree.is_sequence(row.node)
        if row.iterations > 1:
            name += f" \u00d7{row.iterations:,}"
        if sequence:
            # In a narrow panel the end of a name is cut off.
            again = f"{row.iterations:,} \u00d7 " if row.iterations > 1 else ""
            about, name = name, f"{again}({words(tree.graph, row.node, self._short_names)})"
        role = "sequence" if sequence else self._roles[int(self._function[row.node])]
        return RowTexts(
            text_of(row.path), name, about, row.state, self.below(row), role, row.depth, row.filtered,
            chosen, current,
        )  # fmt: skip

    def rows(self, navigation: TreeNavigation) -> list[RowTexts]:
        """Return the rows of the window in words."""
        chosen = set(navigation.selected)
        return [
            self.row(row, row.path in chosen, row.path == navigation.current) for row in navigation.rows()
        ]

    def part(self, rows: Sequence[Row]) -> tuple[int, int]:
        """Return the calls that the rows of a window represent: the first, and the one after the last."""
        if not rows:
            return 0, 0
        last = rows[-1]
        if last.state in ("-", "~"):
            return self._tree.call(rows[0].path), self._tree.call(last.path) + 1
        end = self._tree.last(last.path)
        return self._tree.call(rows[0].path), end + int(self._extent[end])


def selected_calls(navigation: TreeNavigation, most: int) -> tuple[list[int], int]:
    """Return the calls that the selected rows represent, and that of the current one; -1 if none is.

    All repetitions of a row's last step are taken, ``most`` calls in all.

    Parameters
    ----------
    navigation : TreeNavigation
    most : int
        How many calls.

    Returns
    -------
    (list of int, int)
    """
    calls: list[int] = []
    tree = navigation.tree
    for path in navigation.selected:
        if tree.nearest_shown(path) == path:
            calls += tree.calls(path, most - len(calls)).tolist()
    return calls, tree.call(navigation.current) if navigation.current else -1
