"""Sequences of callees that occur again: where the rules of a compact trace's grammar are among the calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernels.tree.grammar import sort_by_class
from ..trace.model import Calls
from .compact import CompactTrace
from .grammar import each

Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]


def callees_of(graph: CompactTrace, rule: int, most: int | None = None) -> Ints:
    """Return what a rule of a graph's grammar unfolds to: for each callee the calls from the first one to it.

    int64 (k,), ascending from 0; with ``most`` no more than this many.

    Parameters
    ----------
    graph : CompactTrace
        With its grammar.
    rule : int
        Of the grammar.
    most : int, optional
        Of a repetition as well.

    Returns
    -------
    int64 (k,)
        Calls before each callee, its own subtree not included.
    """
    owner, where = graph.grammar.place(rule)
    low, length = int(graph.forest.first[owner]) + where, int(graph.grammar.length[rule])
    part = slice(low, low + (length if most is None else min(length, most)))
    count = graph.forest.count[part]
    extent = np.repeat(
        graph.subtrees.extent[graph.forest.child[part]], count if most is None else np.minimum(count, most)
    )[:most]
    return np.asarray(np.cumsum(extent) - extent, np.int64)


class Occurrences:
    """Where the rules of a graph's grammar are among the calls.

    Parameters
    ----------
    graph : CompactTrace
    """

    def __init__(self, graph: CompactTrace) -> None:
        self.graph, self.grammar = graph, graph.grammar
        subtrees = graph.subtrees
        inside = np.append(0, np.cumsum(subtrees.extent[graph.roots]))
        #: The call before each thread's root calls, int64 (threads,).
        self._before = inside[graph.root_first[:-1]] - 1
        #: Occurrences of each rule in the whole trace, int64 (rules,), and in the lists.
        one = np.ones(self.grammar.lists, np.int64)
        each = one.copy()
        each[: len(graph)] = subtrees.occurrences
        self.count, self.places = self.grammar.weighed(each), self.grammar.weighed(one)

    @cached_property
    def _by_list(self) -> tuple[Ints, Ints]:
        """The calls whose callees each list holds: first (lists + 1,), call (n + threads,).

        Those of a class are its calls; a thread has one, the call before its root calls.
        """
        subtrees, n = self.graph.subtrees, len(self.graph.subtrees.of_call)
        first = np.concatenate([[0], np.cumsum(subtrees.occurrences), n + 1 + np.arange(len(self._before))])
        calls = np.empty(n + len(self._before), np.int64)
        calls[n:] = self._before
        sort_by_class(subtrees.of_call, first[: len(subtrees)].copy(), calls)
        return first, calls

    @cached_property
    def _first_of_list(self) -> Ints:
        """The first of these calls of each list, int64 (lists,)."""
        return np.append(self.graph.subtrees.call, self._before)

    def _callers(self, rule: int) -> tuple[Ints, Ints]:
        """Return the lists where a rule is unfolded, and the calls of the caller before each."""
        owner, where = self.grammar.places(rule)
        return owner, self.graph.calls_before[self.graph.forest.first[owner] + where]

    def callers(self, rule: int) -> Int32s:
        """Return the functions that call what a rule unfolds to, int32 (k,); root calls have none."""
        owner = self.grammar.places(rule)[0]
        return np.asarray(np.unique(self.graph.subtrees.function[owner[owner < len(self.graph)]]), np.int32)

    def first(self, rule: int) -> int:
        """Return the first call of the first occurrence of a rule."""
        owner, inside = self._callers(rule)
        return int((self._first_of_list[owner] + 1 + inside).min())

    def starts(self, rule: int) -> Ints:
        """Return the first call of each occurrence of a rule, int64 (k,), ascending."""
        owner, inside = self._callers(rule)
        first, calls = self._by_list
        low = first[owner]
        count = first[owner + 1] - low
        caller = calls[np.repeat(low, count) + each(count)]
        return np.sort(caller + 1 + np.repeat(inside, count))

    def calls(self, rule: int) -> Ints:
        """Return all calls that a rule unfolds to, without what they call, int64 (k,), ascending."""
        return np.asarray((self.starts(rule)[:, None] + callees_of(self.graph, rule)).ravel())

    def rules_of(self, call: int, calls: Calls) -> list[tuple[int, bool]]:
        """Return the rules that a call is a part of, from the outside in, and whether each begins with it.

        Parameters
        ----------
        call : int
            Its index.
        calls : Calls
            Those of the trace that the graph was made of.

        Returns
        -------
        list of (int, bool)
        """
        parent = int(calls.parent[call])
        if parent >= 0:
            owner = int(self.graph.subtrees.of_call[parent])
        else:
            owner = len(self.graph) + int(np.searchsorted(self._before, call)) - 1
            parent = int(self._before[owner - len(self.graph)])
        low, high = (int(edge) for edge in self.graph.forest.first[owner : owner + 2])
        before = self.graph.calls_before[low:high]
        edge = int(np.searchsorted(before, call - parent - 1, "right")) - 1
        return [(rule, start == edge) for rule, start in self.grammar.rules_at(owner, edge)]


def words(graph: CompactTrace, rule: int, labels: Sequence[str], most: int = 3) -> str:
    """Return what a rule unfolds to in words: ``read ×3, (parse, check) ×12, … 4 more``.

    Parameters
    ----------
    graph : CompactTrace
    rule : int
        Of its grammar.
    labels : sequence of str
        The functions' names.
    most : int
        Names that are written out; what lies in rules that repeat counts one by one.

    Returns
    -------
    str
    """
    # Rules may be nested as deep as there are rules, so recursion can't be used.
    grammar, text, opening, written = graph.grammar, "", "", 0
    todo: list[tuple[int, int] | str] = list(reversed(grammar.symbols(rule)))
    while todo:
        symbol = todo.pop()
        if isinstance(symbol, str):
            text += symbol
            continue
        if written == most:
            text += "" if text.endswith("…") else ", …"
            continue
        value, times = symbol
        again = f" ×{times:,}" if times > 1 else ""
        if value < grammar.lists:
            name = labels[int(graph.subtrees.function[value])]
            text += (", " if text else "") + opening + name + again
            opening, written = "", written + 1
            continue
        if again:
            opening += "("
            todo.append(")" + again)
        todo += reversed(grammar.symbols(value))
    missing = int(grammar.names[rule]) - written
    return text + (f" {missing:,} more" if text.endswith("…") else f", … {missing:,} more" if missing else "")
