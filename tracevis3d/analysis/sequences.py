"""Sequences of callees that occur again: where the rules of a compact trace's grammar are among the calls.

A sequence occurs wherever its callees follow each other: the same subtrees, as often in a row. Occurrences
are counted as a search would find them, from left to right and without overlaps, also where the grammar has
used another rule.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kernels.tree.grammar import sort_by_class
from ..kernels.tree.sequences import find_sequences, hash_edges
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

    @cached_property
    def _found(self) -> tuple[Ints, Ints, Ints]:
        """Where each rule's edges stand: first (rules + 1,), list (p,), edges before it in the list (p,)."""
        grammar, forest = self.grammar, self.graph.forest
        rules = np.arange(grammar.lists, grammar.lists + grammar.rules)
        place = np.array([grammar.place(rule) for rule in rules.tolist()], np.int64).reshape(-1, 2)
        length = grammar.length[rules]
        at = forest.first[place[:, 0]] + place[:, 1]
        by_length = np.argsort(length, kind="stable")
        # A secret seed, so nobody can make a trace whose sequences collide.
        base, seed = (np.uint64(secrets.randbits(64) | 1) for _ in range(2))
        hashes = np.empty(len(forest.child) + 1, np.uint64)
        hash_edges(forest.child, forest.count, base, seed, hashes)
        alike = int(np.unique(length, return_counts=True)[1].max(initial=1))
        table = np.empty(1 << (2 * alike).bit_length(), np.int64)
        first, nothing = np.zeros(grammar.rules + 1, np.int64), np.empty(0, np.int64)
        find_sequences(
            forest.first, forest.child, forest.count, hashes, base, length, at, by_length, first,
            np.zeros(grammar.rules, np.int64), table, nothing, nothing,
        )  # fmt: skip
        np.cumsum(first, out=first)
        lists, where = np.empty(int(first[-1]), np.int64), np.empty(int(first[-1]), np.int64)
        if len(where):
            find_sequences(
                forest.first, forest.child, forest.count, hashes, base, length, at, by_length,
                first[:-1].copy(), np.zeros(grammar.rules, np.int64), table, lists, where,
            )  # fmt: skip
        return first, lists, where - forest.first[lists]

    @cached_property
    def places(self) -> Ints:
        """The number of places of each rule in the lists, int64 (rules,)."""
        return np.diff(self._found[0])

    @cached_property
    def count(self) -> Ints:
        """The number of occurrences of each rule in the whole trace, int64 (rules,)."""
        first, lists, _ = self._found
        each = np.append(self.graph.subtrees.occurrences, np.ones(len(self._before), np.int64))
        total = np.append(0, np.cumsum(each[lists]))
        return np.asarray(total[first[1:]] - total[first[:-1]], np.int64)

    def _places(self, rule: int) -> tuple[Ints, Ints]:
        """Return where a rule's edges stand: the list, and its edges before them, int64 (p,) each."""
        first, lists, where = self._found
        part = slice(int(first[rule - self.grammar.lists]), int(first[rule - self.grammar.lists + 1]))
        return lists[part], where[part]

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
        """Return the lists where a rule stands, and the calls of the caller before each."""
        owner, where = self._places(rule)
        return owner, self.graph.calls_before[self.graph.forest.first[owner] + where]

    def callers(self, rule: int) -> Int32s:
        """Return the functions that call what a rule unfolds to, int32 (k,); root calls have none."""
        owner = self._places(rule)[0]
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

    def beginning(self, call: int, calls: Calls) -> list[int]:
        """Return the rules that occur from a call on, the longest first.

        Parameters
        ----------
        call : int
            Its index.
        calls : Calls
            Those of the trace that the graph was made of.

        Returns
        -------
        list of int
        """
        owner, edge = self._edge_of(call, calls)
        first, lists, where = self._found
        here = np.flatnonzero((lists == owner) & (where == edge))
        rules = np.searchsorted(first, here, "right") - 1 + self.grammar.lists
        return sorted(rules.tolist(), key=lambda rule: -int(self.grammar.length[rule]))

    def rules_of(self, call: int, calls: Calls) -> list[tuple[int, bool]]:
        """Return the grammar's rules that a call is a part of, from the outside in.

        Each with whether it begins with the call.

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
        owner, edge = self._edge_of(call, calls)
        return [(rule, start == edge) for rule, start in self.grammar.rules_at(owner, edge)]

    def _edge_of(self, call: int, calls: Calls) -> tuple[int, int]:
        """Return the list that a call is in, and its edges before it."""
        parent = int(calls.parent[call])
        if parent >= 0:
            owner = int(self.graph.subtrees.of_call[parent])
        else:
            owner = len(self.graph) + int(np.searchsorted(self._before, call)) - 1
            parent = int(self._before[owner - len(self.graph)])
        low, high = (int(edge) for edge in self.graph.forest.first[owner : owner + 2])
        before = self.graph.calls_before[low:high]
        return owner, int(np.searchsorted(before, call - parent - 1, "right")) - 1


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
