"""One grammar of many lists: Sequitur (Nevill-Manning and Witten 1997) with how often each symbol repeats.

A symbol is a value and its times in a row: ``B ×3`` is one symbol. Values below the number of lists are what
the lists are made of, those from there on are rules, so that lists and rules are owners of symbols under one
numbering. Three properties hold after each symbol that is read:

- digram uniqueness: no two neighbouring symbols occur a second time, anywhere;
- rule utility: a rule is used twice, or once several times in a row;
- no twins: neighbours have different values; equal ones become one symbol. So a loop of any number of rounds
  takes one symbol, and a digram never overlaps its like (Dorier and others, Omnisc'IO, SC 2014).

Symbols are linked in arrays: ``before`` and ``after`` hold another symbol, or ``~owner`` at the ends of the
owner's list. ``head`` and ``tail`` hold the owner's first and last symbol.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inline, kernel
from .subtrees import mix

#: Symbols that one step needs at most beyond those that were there before it.
ROOM = 4


@inline
def _hash(s: Any, value: Any, times: Any, after: Any, seed: Any) -> Any:
    """Return the hash of the digram that begins at ``s``."""
    n = after[s]
    hashed = mix(seed, np.uint64(value[s]))
    hashed = mix(hashed, np.uint64(times[s]))
    hashed = mix(hashed, np.uint64(value[n]))
    return mix(hashed, np.uint64(times[n]))


@inline
def _find(s: Any, value: Any, times: Any, after: Any, table: Any, seed: Any) -> Any:
    """Return the slot where the digram of ``s`` is, or the free one where it belongs."""
    slots = np.uint64(len(table) - 1)
    slot = _hash(s, value, times, after, seed) & slots
    n = after[s]
    while table[slot] != 0:
        m = table[slot] - 1
        k = after[m]
        if value[m] == value[s] and times[m] == times[s] and value[k] == value[n] and times[k] == times[n]:
            break
        slot = (slot + np.uint64(1)) & slots
    return slot


@inline
def _forget(s: Any, value: Any, times: Any, after: Any, table: Any, seed: Any) -> None:
    """Take the digram of ``s`` out of the table, if it is there by this symbol."""
    if s < 0 or after[s] < 0:
        return
    slots = np.uint64(len(table) - 1)
    slot = _find(s, value, times, after, table, seed)
    if table[slot] != s + 1:
        return
    # Later entries move up, so that no tombstones are needed.
    hole = slot
    while True:
        slot = (slot + np.uint64(1)) & slots
        if table[slot] == 0:
            break
        home = _hash(table[slot] - 1, value, times, after, seed) & slots
        if ((slot - home) & slots) >= ((slot - hole) & slots):
            table[hole] = table[slot]
            hole = slot
    table[hole] = 0


@inline
def _link(a: Any, b: Any, before: Any, after: Any, head: Any, tail: Any) -> None:
    """Let ``b`` follow ``a``; either may be the end of a list, ``~owner``."""
    if a < 0:
        head[~a] = b
    else:
        after[a] = b
    if b < 0:
        tail[~b] = a
    else:
        before[b] = a


@inline
def _fresh(v: Any, t: Any, value: Any, times: Any, after: Any, counts: Any) -> Any:
    """Return a symbol that nothing is linked to."""
    s = np.int64(counts[1])
    if s >= 0:
        counts[1] = after[s]
    else:
        s = np.int64(counts[0])
        counts[0] += 1
    counts[5] += 1
    value[s] = v
    times[s] = t
    return s


@inline
def _drop(s: Any, value: Any, after: Any, counts: Any) -> None:
    """Give a symbol back that nothing is linked to any longer."""
    value[s] = -1
    after[s] = counts[1]
    counts[1] = s
    counts[5] -= 1


@inline
def _wait(s: Any, waits: Any, waiting: Any, counts: Any) -> None:
    """Let the digram of ``s`` be checked, if it is a symbol that doesn't wait yet."""
    if s >= 0 and waits[s] == 0:
        waits[s] = 1
        waiting[counts[4]] = s
        counts[4] += 1


@inline
def _replace(
    s: Any, rule: Any, lists: Any, value: Any, times: Any, before: Any, after: Any, head: Any, tail: Any,
    uses: Any, table: Any, seed: Any, waits: Any, waiting: Any, counts: Any,
) -> None:  # fmt: skip
    """Put one symbol of a rule in the place of ``s`` and the one after it."""
    n = np.int64(after[s])
    p = np.int64(before[s])
    for k in range(3):
        _forget(p if k == 0 else s if k == 1 else n, value, times, after, table, seed)
    if value[s] >= lists:
        uses[value[s]] -= 1
    if value[n] >= lists:
        uses[value[n]] -= 1
    value[s] = rule
    times[s] = 1
    uses[rule] += 1
    _link(s, np.int64(after[n]), before, after, head, tail)
    _drop(n, value, after, counts)
    _wait(s, waits, waiting, counts)
    _wait(p, waits, waiting, counts)


@inline
def _dissolve(
    s: Any, lists: Any, value: Any, times: Any, before: Any, after: Any, head: Any, tail: Any, uses: Any,
    table: Any, seed: Any, waits: Any, waiting: Any, counts: Any,
) -> None:  # fmt: skip
    """Put the symbols of a rule in the place of ``s``, if it is the rule's last use."""
    rule = np.int64(value[s])
    if rule < lists or uses[rule] != 1 or times[s] != 1:
        return
    p = np.int64(before[s])
    for k in range(2):
        _forget(p if k == 0 else s, value, times, after, table, seed)
    first = np.int64(head[rule])
    last = np.int64(tail[rule])
    n = np.int64(after[s])
    _link(p, first, before, after, head, tail)
    _link(last, n, before, after, head, tail)
    _drop(s, value, after, counts)
    uses[rule] = 0
    head[rule] = counts[3]
    counts[3] = rule
    _wait(last, waits, waiting, counts)
    _wait(p, waits, waiting, counts)


@inline
def _whole(s: Any, lists: Any, before: Any, after: Any) -> Any:
    """Return the rule that consists of ``s`` and the symbol after it; -1 if none does."""
    p = np.int64(before[s])
    if p < 0 and ~p >= lists and after[after[s]] < 0:
        return ~p
    return np.int64(-1)


@kernel
def read_lists(
    first: Any,
    child: Any,
    count: Any,
    lists: int,
    stop: int,
    owner: int,
    at: int,
    most: int,
    value: Any,
    times: Any,
    before: Any,
    after: Any,
    head: Any,
    tail: Any,
    uses: Any,
    table: Any,
    seed: Any,
    waits: Any,
    waiting: Any,
    counts: Any,
) -> tuple[int, int]:
    """Read symbols into the grammar, in amortised constant time each.

    Parameters
    ----------
    first : int64 (m + 1,)
    child : int32 (e,)
    count : int64 (e,)
        The symbols of list ``i`` are ``first[i]`` to ``first[i + 1]``; neighbours are no twins.
    lists : int
        How many lists there are in all, ``m``.
    stop : int
        The list before which to stop.
    owner, at : int
        The list and the symbol (an index into ``child``) from which on to read.
    most : int
        Symbols to be read at most.
    value : int32 (s,)
    times : int64 (s,)
    before, after : int32 (s,)
        The grammar's symbols.
    head, tail, uses : int32 (m + s,)
        Of lists and rules; head and tail of list ``i`` are ``~i`` to begin with, and uses 0.
    table : int32 (2**k,)
        Open addressing: 1 + the symbol that a digram begins with; 0 is free. At least ``2 * s`` long.
    seed : uint64
        Start of each hash.
    waits : uint8 (s,)
        Whether a symbol waits; 0 to begin with.
    waiting : int32 (s,)
        Symbols whose digrams are to be checked.
    counts : int64 (6,)
        Symbols there ever were, the first free one, owners there ever were, the first free rule, symbols that
        wait, symbols that live: ``0, -1, m, -1, 0, 0`` to begin with.

    Returns
    -------
    owner, at : int
        ``owner`` is ``stop`` when all is read. Else there may be no room for more symbols: if less than
        ``ROOM`` are left.
    """
    while owner < stop:
        if at >= first[owner + 1]:
            owner += 1
            continue
        if most == 0 or counts[5] + 4 > len(value):
            return owner, at
        most -= 1
        s = _fresh(child[at], count[at], value, times, after, counts)
        at += 1
        end = np.int64(tail[owner])
        # The tail of an empty list is its own end.
        _link(end, s, before, after, head, tail)
        _link(s, ~np.int64(owner), before, after, head, tail)
        if value[s] >= lists:
            uses[value[s]] += 1
        _wait(end, waits, waiting, counts)
        while counts[4] > 0:
            counts[4] -= 1
            s = np.int64(waiting[counts[4]])
            waits[s] = 0
            if value[s] < 0 or after[s] < 0:
                continue
            n = np.int64(after[s])
            if value[n] == value[s]:  # twins
                p = np.int64(before[s])
                for k in range(2):
                    _forget(p if k == 0 else n, value, times, after, table, seed)
                times[s] += times[n]
                if value[s] >= lists:
                    uses[value[s]] -= 1
                _link(s, np.int64(after[n]), before, after, head, tail)
                _drop(n, value, after, counts)
                _wait(s, waits, waiting, counts)
                _wait(p, waits, waiting, counts)
                continue
            slot = _find(s, value, times, after, table, seed)
            m = np.int64(table[slot]) - 1
            if m < 0:
                table[slot] = s + 1
                continue
            if m == s:
                continue
            # Which of the two becomes a symbol of the rule: the one that was there before, and the one now.
            rule = _whole(m, lists, before, after)
            then = rule < 0
            now = True
            if then:
                rule = _whole(s, lists, before, after)
                if rule >= 0:
                    # The digram is this rule's now.
                    table[slot] = s + 1
                    now = False
                else:
                    rule = np.int64(counts[3])
                    if rule >= 0:
                        counts[3] = head[rule]
                    else:
                        rule = np.int64(counts[2])
                        counts[2] += 1
                    uses[rule] = 0
                    end = ~rule
                    for k in range(2):
                        t = s if k == 0 else n
                        copy = _fresh(value[t], times[t], value, times, after, counts)
                        if value[t] >= lists:
                            uses[value[t]] += 1
                        _link(end, copy, before, after, head, tail)
                        end = copy
                    _link(end, ~rule, before, after, head, tail)
                    table[slot] = head[rule] + 1
            for k in range(2):
                if then if k == 0 else now:
                    _replace(
                        m if k == 0 else s, rule, lists, value, times, before, after, head, tail, uses, table,
                        seed, waits, waiting, counts,
                    )  # fmt: skip
            # What the digram held was used there, too: of a last use nothing but the rule's own is left.
            for k in range(2):
                _dissolve(
                    np.int64(head[rule] if k == 0 else tail[rule]), lists, value, times, before, after, head,
                    tail, uses, table, seed, waits, waiting, counts,
                )  # fmt: skip
    return owner, at


@kernel
def rebuild(value: Any, times: Any, after: Any, table: Any, seed: Any, old: Any) -> None:
    """Enter the digrams of a smaller table into a larger one.

    Parameters
    ----------
    value, times, after, seed
        As for :func:`read_lists`.
    table : int32 (2**k,)
        0 before; filled.
    old : int32 (2**j,)
        The smaller table of :func:`read_lists`.
    """
    for k in range(len(old)):
        if old[k] != 0:
            slot = _find(np.int64(old[k]) - 1, value, times, after, table, seed)
            table[slot] = old[k]


@kernel
def write_grammar(
    lists: int, owners: int, value: Any, times: Any, after: Any, head: Any, uses: Any, number: Any,
    first: Any, out_value: Any, out_times: Any,
) -> int:  # fmt: skip
    """Write the symbols of lists and rules one after another; rules are numbered without gaps.

    Parameters
    ----------
    lists, owners : int
        How many lists there are, and how many owners there ever were.
    value, times, after, head, uses : int32 or int64 (s,), int32 (owners,)
        As :func:`read_lists` leaves them.
    number : int32 (owners,)
        Filled: the new number of each owner that is left.
    first : int64 (owners + 1,)
    out_value : int32 (k,)
    out_times : int64 (k,)
        Filled.

    Returns
    -------
    int
        How many owners are left.
    """
    left = 0
    for o in range(owners):
        if o < lists or uses[o] > 0:
            number[o] = left
            left += 1
    left = 0
    at = 0
    first[0] = 0
    for o in range(owners):
        if o < lists or uses[o] > 0:
            s = np.int64(head[o])
            while s >= 0:
                out_value[at] = number[value[s]]
                out_times[at] = times[s]
                at += 1
                s = np.int64(after[s])
            left += 1
            first[left] = at
    return left


@kernel
def measure(
    order: Any, first: Any, value: Any, times: Any, lists: int, extent: Any, length: Any, callees: Any,
    calls: Any, names: Any, offset: Any,
) -> None:  # fmt: skip
    """Sum up what each owner represents.

    Parameters
    ----------
    order : int32 (owners,)
        Owners, children first.
    first, value, times : int64 (owners + 1,), int32 (k,), int64 (k,)
        The grammar.
    lists : int
    extent : int64 (lists,)
        Calls that a value represents.
    length, callees, calls, names : int64 (owners,)
        Filled: the symbols that an owner unfolds to, of these all times in a row, their calls, and the
        symbols that it unfolds to if each is unfolded once.
    offset : int64 (k,)
        Filled: how many symbols an owner unfolds to before each of its own.
    """
    for i in range(len(order)):
        o = order[i]
        symbols, each, inside, written = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        for k in range(first[o], first[o + 1]):
            offset[k] = symbols
            v = value[k]
            if v < lists:
                symbols += 1
                written += 1
                each += times[k]
                inside += times[k] * extent[v]
            else:
                symbols += times[k] * length[v]
                written += names[v]
                each += times[k] * callees[v]
                inside += times[k] * calls[v]
        length[o] = symbols
        callees[o] = each
        calls[o] = inside
        names[o] = written


@kernel
def unfold(
    first: Any, value: Any, times: Any, lists: int, at: Any, left: Any, out_first: Any, out_value: Any,
    out_times: Any,
) -> None:  # fmt: skip
    """Write the lists as they were before there were rules.

    Parameters
    ----------
    first, value, times, lists : as for :func:`measure`
    at, left : int64 (rules + 1,)
        Working space: on each level the symbol, and how often it is still to be written.
    out_first : int64 (lists + 1,)
    out_value : int32 (e,)
    out_times : int64 (e,)
        Filled.
    """
    done = 0
    out_first[0] = 0
    for o in range(lists):
        for k in range(first[o], first[o + 1]):
            depth = 0
            at[0] = k
            left[0] = times[k]
            while depth >= 0:
                s = at[depth]
                v = value[s]
                if v < lists:
                    out_value[done] = v
                    out_times[done] = times[s]
                    done += 1
                    left[depth] = 0
                if left[depth] > 0:
                    left[depth] -= 1
                    depth += 1
                    at[depth] = first[v]
                    left[depth] = times[first[v]]
                    continue
                # Done with this symbol: the next one of its rule, or back to who uses that.
                depth -= 1
                if depth >= 0:
                    s += 1
                    if s < first[value[at[depth]] + 1]:
                        depth += 1
                        at[depth] = s
                        left[depth] = times[s]
        out_first[o + 1] = done


@kernel
def write_out(
    order: Any, first: Any, value: Any, times: Any, lists: int, names: Any, least: int, start: Any,
    out_first: Any, out_value: Any, out_times: Any,
) -> None:  # fmt: skip
    """Write the grammar with rules written out that don't repeat in a row and are short, or a whole list.

    Parameters
    ----------
    order, first, value, times, lists, names : as for :func:`measure`
    least : int
        Rules of fewer names are short.
    start : int64 (owners,)
        Working space.
    out_first : int64 (owners + 1,)
    out_value : int32 (room,)
    out_times : int64 (room,)
        Filled; room is needed for ``least - 1`` times the symbols, and for the lists that are a whole rule.
    """
    # How many symbols each owner has then, and where they begin.
    for i in range(len(order)):
        o = order[i]
        size = np.int64(0)
        for k in range(first[o], first[o + 1]):
            v = value[k]
            if v >= lists and times[k] == 1 and (names[v] < least or first[o + 1] - first[o] == 1):
                size += start[v]
            else:
                size += 1
        start[o] = size
    out_first[0] = 0
    for o in range(len(order)):
        out_first[o + 1] = out_first[o] + start[o]
    for i in range(len(order)):
        o = order[i]
        at = out_first[o]
        for k in range(first[o], first[o + 1]):
            v = value[k]
            if v >= lists and times[k] == 1 and (names[v] < least or first[o + 1] - first[o] == 1):
                for j in range(out_first[v], out_first[v + 1]):
                    out_value[at] = out_value[j]
                    out_times[at] = out_times[j]
                    at += 1
            else:
                out_value[at] = v
                out_times[at] = times[k]
                at += 1


@kernel
def count_rows(order: Any, edge_first: Any, edge_child: Any, marked: Any, hide: bool, rows: Any) -> None:
    """Count the rows of each node with all below it open, itself included.

    Parameters
    ----------
    order : int32 (m,)
        Nodes, children first.
    edge_first, edge_child, marked, hide
        As in :func:`.compact.sum_rows`.
    rows : int64 (m,)
        Filled.
    """
    for i in range(len(order)):
        node = order[i]
        total = np.int64(1)
        for k in range(edge_first[node], edge_first[node + 1]):
            if not (hide and marked[edge_child[k]]):
                total += rows[edge_child[k]]
        rows[node] = total


@kernel
def sort_by_class(of_call: Any, at: Any, calls: Any) -> None:
    """Sort calls by their class; within a class they ascend.

    Parameters
    ----------
    of_call : int32 (n,)
    at : int64 (m,)
        Each class's first place; moved to its end.
    calls : int64 (n,)
        Filled.
    """
    for i in range(len(of_call)):
        c = of_call[i]
        calls[at[c]] = i
        at[c] += 1
