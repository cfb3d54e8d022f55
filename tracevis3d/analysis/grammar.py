"""The compact trace's last step: one grammar over the callees of all distinct subtrees (SEAT, section 2.9).

A run of the same callees that stands in several places is written once, as a rule, by Sequitur
(Nevill-Manning and Witten, 1997). What repeats in a row is labelled with how often, as the edges' iterations
are, also where it is a rule (Dorier and others, Omnisc'IO, 2014): a loop of any number of rounds takes one
symbol, ``(A, B) ×12``, and not a tower of rules that double each other.

There is one grammar for the whole graph, not one for each caller: what several callers have in common is what
matters, and it is the smaller one. No rule spans two callers, because each list of callees is read
as a text of its own.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..kernels.tree.compact import order_nodes
from ..kernels.tree.grammar import (
    ROOM,
    measure,
    read_lists,
    rebuild,
    unfold,
    write_grammar,
    write_out,
)
from ..progress import Progress, silent
from .subtrees import Edges, grown

Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]

#: A rule that doesn't repeat in a row gets a row if it has this many names: one more than a row shows.
LEAST = 4
#: Symbols read between two progress reports.
_STEP = 1 << 19
#: Numbers of lists, rules and symbols are int32.
_MOST = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class Grammar:
    """Lists of callees in which repeated parts are written once.

    Owners of symbols are the lists, first, and behind them the rules. A symbol is a value, below ``lists``
    a class, from there on the rule that is the owner of this number, and how often it repeats in a row.

    Attributes
    ----------
    lists : int
        How many lists there are: a list for each class, then one for each thread's root calls.
    first : int64 (owners + 1,)
        The symbols of owner ``o`` are ``first[o]`` to ``first[o + 1]``; those of a rule are two at least.
    value : int32 (k,)
    times : int64 (k,)
    order : int32 (owners,)
        The owners, each behind all that it is made of.
    length, callees, calls : int64 (owners,)
        Edges that an owner unfolds to, calls that these are, and these with all calls below them.
    offset : int64 (k,)
        How many edges an owner unfolds to before each of its symbols.
    names : int64 (owners,)
        Names that it takes to write an owner in full, with what repeats in a row in brackets.
    of_callees : int
        How many symbols it takes without the lists of root calls.
    """

    lists: int
    first: Ints
    value: Int32s
    times: Ints
    order: Int32s
    length: Ints
    callees: Ints
    calls: Ints
    offset: Ints
    names: Ints
    of_callees: int

    @property
    def rules(self) -> int:
        """How many rules there are: owners from ``lists`` on."""
        return len(self.order) - self.lists

    def __len__(self) -> int:
        return len(self.value)

    def symbols(self, owner: int) -> list[tuple[int, int]]:
        """Return value and times of each symbol of an owner."""
        part = slice(int(self.first[owner]), int(self.first[owner + 1]))
        return list(zip(self.value[part].tolist(), self.times[part].tolist(), strict=True))

    def expand(self) -> Edges:
        """Return the lists exactly as they were read."""
        edges = int(self.length[: self.lists].sum())
        first = np.zeros(self.lists + 1, np.int64)
        child, count = np.empty(edges, np.int32), np.empty(edges, np.int64)
        at, left = (np.empty(self.rules + 1, np.int64) for _ in range(2))
        unfold(self.first, self.value, self.times, self.lists, at, left, first, child, count)
        return Edges(first, child, count)

    @cached_property
    def listed(self) -> Edges:
        """The symbols of each owner as a list of rows shows them, with the owners' numbers.

        A rule that doesn't repeat in a row is written out if it is short, for its row would name all of it,
        or if it is a whole list: nothing would be gained.
        """
        only = self.value[self.first[: self.lists][np.diff(self.first[: self.lists + 1]) == 1]]
        first = np.empty(len(self.order) + 1, np.int64)
        room = (LEAST - 1) * len(self) + int(self.length[only[only >= self.lists]].sum())
        value, times = np.empty(room, np.int32), np.empty(room, np.int64)
        write_out(
            self.order, self.first, self.value, self.times, self.lists, self.names, LEAST,
            np.empty(len(self.order), np.int64), first, value, times,
        )  # fmt: skip
        return Edges(first, value[: first[-1]].copy(), times[: first[-1]].copy())

    def total(self, of_list: Ints) -> Ints:
        """Return the sum of ``of_list`` (int64, a number for each list) in each owner, int64 (owners,)."""
        found, other, offset = np.empty(len(self.order), np.int64), self.length.copy(), self.offset.copy()
        measure(
            self.order, self.first, self.value, self.times, self.lists, of_list, other, other.copy(), found,
            other.copy(), offset,
        )  # fmt: skip
        return found

    @cached_property
    def _uses(self) -> tuple[Ints, Ints, Int32s]:
        """The symbols that represent rules by rule: first (rules + 1,), symbol (u,), its owner (u,)."""
        symbol = np.flatnonzero(self.value >= self.lists)
        rule = self.value[symbol] - self.lists
        by = symbol[np.argsort(rule, kind="stable")]
        first = np.zeros(self.rules + 1, np.int64)
        np.cumsum(np.bincount(rule, minlength=self.rules), out=first[1:])
        owner = np.repeat(np.arange(len(self.order), dtype=np.int32), np.diff(self.first))
        return first, by, owner[by]

    def uses(self, rule: int) -> int:
        """Return the number of places in lists and other rules in which a rule occurs."""
        first = self._uses[0]
        return int(first[rule + 1 - self.lists] - first[rule - self.lists])

    def places(self, rule: int) -> tuple[Ints, Ints]:
        """Return where a rule is unfolded: the list, and its edges before it, int64 (p,) each, ascending."""
        first, symbol, of = self._uses
        owner, before = np.array([rule], np.int64), np.zeros(1, np.int64)
        lists: list[Ints] = []
        places: list[Ints] = []
        while len(owner):
            low = first[owner - self.lists]
            count = first[owner - self.lists + 1] - low
            use = np.repeat(low, count) + each(count)
            inside, step = np.repeat(before, count), np.repeat(self.length[owner], count)
            at, times = symbol[use], self.times[symbol[use]]
            owner = np.repeat(of[use].astype(np.int64), times)
            before = np.repeat(inside + self.offset[at], times) + np.repeat(step, times) * each(times)
            in_list = owner < self.lists
            lists.append(owner[in_list])
            places.append(before[in_list])
            owner, before = owner[~in_list], before[~in_list]
        found, where = np.concatenate(lists), np.concatenate(places)
        order = np.lexsort((where, found))
        return found[order], where[order]

    def place(self, rule: int) -> tuple[int, int]:
        """Return one of the places where a rule is unfolded: the list, and its edges before it."""
        first, symbol, of = self._uses
        before = 0
        while rule >= self.lists:
            use = int(first[rule - self.lists])
            before += int(self.offset[symbol[use]])
            rule = int(of[use])
        return rule, before

    def rules_at(self, owner: int, edge: int) -> list[tuple[int, int]]:
        """Return the rules that an edge of a list lies in, from the outside in.

        Each as the rule, and the edges of the list before its repetition that holds the edge.

        Parameters
        ----------
        owner : int
            The list, or the rule, whose symbols are meant.
        edge : int
            Number of the edge within the list, from 0.

        Returns
        -------
        list of (int, int)
        """
        found: list[tuple[int, int]] = []
        base = 0
        while True:
            low, high = int(self.first[owner]), int(self.first[owner + 1])
            k = low + int(np.searchsorted(self.offset[low:high], edge - base, "right")) - 1
            if k < low or (value := int(self.value[k])) < self.lists:
                return found
            base += int(self.offset[k])
            base += (edge - base) // int(self.length[value]) * int(self.length[value])
            found.append((value, base))
            owner = value


def each(count: Ints) -> Ints:
    """Return 0 to ``count[i]`` for each i, one after another."""
    return np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)


def grammar_of(first: Ints, child: Int32s, count: Ints, extent: Ints, progress: Progress = silent) -> Grammar:
    """Make the grammar of a compact trace, in time linear in its edges.

    Parameters
    ----------
    first, child, count : int64 (lists + 1,), int32 (e,), int64 (e,)
        The edges, list by list, as :class:`.subtrees.Edges` has them: those of each distinct subtree, and
        behind them the root calls of each thread. Neighbours have different children.
    extent : int64 (m,)
        The calls of each distinct subtree, itself included.
    progress : Progress
        It is called every half a million edges, and may stop the work.

    Returns
    -------
    Grammar

    Raises
    ------
    UsageError
        If there are this many distinct subtrees and edges that their numbers don't fit.
    """
    lists, symbols = len(first) - 1, min(len(child), 1 << 16) + ROOM
    if lists + len(child) + 2 * ROOM > _MOST:
        raise UsageError(
            f"{lists + len(child):,} distinct subtrees and callees are more than the {_MOST:,} that a "
            "grammar can take: filter the trace or choose a part of it"
        )
    value, times = np.full(symbols, -1, np.int32), np.empty(symbols, np.int64)
    before, after = np.empty(symbols, np.int32), np.empty(symbols, np.int32)
    head = ~np.arange(lists + symbols, dtype=np.int32)
    tail, uses = head.copy(), np.zeros(lists + symbols, np.int32)
    waits, waiting = np.zeros(symbols, np.uint8), np.empty(symbols, np.int32)
    table = np.zeros(1 << (2 * symbols - 1).bit_length(), np.int32)
    counts = np.array([0, -1, lists, -1, 0, 0], np.int64)
    # A secret seed, so nobody can make a trace whose digrams collide.
    seed = np.uint64(secrets.randbits(64))
    owner, at, of_callees = 0, 0, 0
    while True:
        stop = len(extent) if owner < len(extent) else lists
        owner, at = read_lists(
            first, child, count, lists, stop, owner, at, _STEP, value, times, before, after,
            head, tail, uses, table, seed, waits, waiting, counts,
        )  # fmt: skip
        if stop == len(extent):
            of_callees = int(counts[5])
        if owner == lists:
            break
        if owner == stop:
            continue
        progress(at / len(child), "finding rules among callees")
        if counts[5] + ROOM > symbols:
            symbols = min(2 * symbols, len(child) + 2 * ROOM)
            value, times = grown(value, symbols), grown(times, symbols)
            before, after = grown(before, symbols), grown(after, symbols)
            waiting, waits = np.empty(symbols, np.int32), np.zeros(symbols, np.uint8)
            head, tail, uses = (grown(column, lists + symbols) for column in (head, tail, uses))
            old, table = table, np.zeros(1 << (2 * symbols - 1).bit_length(), np.int32)
            rebuild(value, times, after, table, seed, old)
    owners, living = int(counts[2]), int(counts[5])
    firsts = np.zeros(owners + 1, np.int64)
    out_value, out_times = np.empty(living, np.int32), np.empty(living, np.int64)
    left = write_grammar(
        lists,
        owners,
        value,
        times,
        after,
        head,
        uses,
        np.empty(owners, np.int32),
        firsts,
        out_value,
        out_times,
    )
    firsts = firsts[: left + 1].copy()
    order, offset = np.empty(left, np.int32), np.empty(living, np.int64)
    length, callees, calls, names = (np.empty(left, np.int64) for _ in range(4))
    order_nodes(
        firsts,
        out_value,
        np.zeros(left, np.uint8),
        np.empty(left, np.int32),
        np.empty(left, np.int64),
        order,
    )
    of_list = np.zeros(lists, np.int64)
    of_list[: len(extent)] = extent
    measure(order, firsts, out_value, out_times, lists, of_list, length, callees, calls, names, offset)
    return Grammar(
        lists, firsts, out_value, out_times, order, length, callees, calls, offset, names, of_callees
    )
