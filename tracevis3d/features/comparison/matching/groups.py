"""Groups of matches: a match between two calls, and the matches between their call stacks that explain it.

TraceDiff (section III) partitions all matches into "a minimal set of groups" by going through one trace
breadth-first with one current group. As printed, siblings take turns in replacing the current group, so that
there are many more groups than needed. Both are here:

nearest
    Every group stays open. A match joins the nearest group that encloses it: the one whose root in A is the
    deepest of the groups whose roots have both calls in their call stacks. Only a match that none encloses
    opens a group: one without another match above it, which is any match (u', v') with u' = u or above u
    and v' = v or above v. There is no smaller partition in which a group's root encloses its matches, and it
    doesn't depend on the order of the traversal.
literal
    The printed rule, breadth-first over A; the matches of one call are taken in the order of B's calls. Only
    the number of groups is found.

Neither lists the matches, of which there may be billions. Whether a match has another above it depends on
the two paths of units from the roots down to the calls, so paths are compared, with all their calls at once.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....analysis.join import Forest, lay_forest, plain
from ....analysis.subtrees import grown
from ....kernels.comparison.groups import (
    assign_groups,
    fill_path_table,
    find_outermost,
    find_roots,
    number_paths,
    scan_literal,
)
from ....progress import Progress, part, silent
from ....trace.model import Calls
from .similarity import Similarity

#: Maximum number of paths of A compared with B's: about a minute of work.
MOST_PATHS = 300_000
#: Maximum number of units of B compared with these paths' units in total: about half a minute of work.
MOST_UNITS = 5_000_000_000
#: Maximum number of pairs of paths whose groups are stored; the others are only counted.
MOST_KEPT = 1_000_000
#: Calls at which the printed rule has to look at the place of each match, at most.
MOST_LOOKS = 20_000
#: Pairs of units that are distinguished for the printed rule, at most: about a minute of work.
MOST_PAIRS = 20_000_000_000
#: Maximum size of cached rows of units, in bytes.
_ROWS_BYTES = 1 << 28

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Paths:
    """The sequences of units from the root calls down to each call, equal neighbours taken as one.

    The calls at which a path begins are its heads. Columns are in pre-order ("by place").

    Attributes
    ----------
    forest : Forest
    offset : int
        The first call.
    place : int32 (calls,)
        Place of the path of each call, from ``offset`` on.
    unit : int32 (n,)
    heads, time : int64 (n,)
        Number of heads, their duration together in nanoseconds.
    first, last, longest : int64 (n,)
        The first, the last and the longest head, as calls of the trace.
    length : int64 (n,)
        Duration of the longest head.
    """

    forest: Forest
    offset: int
    place: NDArray[np.int32]
    unit: NDArray[np.int32]
    heads: Ints
    time: Ints
    first: Ints
    last: Ints
    longest: Ints
    length: Ints

    def __len__(self) -> int:
        return len(self.unit)


def find_paths(calls: Calls, unit: NDArray[np.int32], low: int = 0, high: int | None = None) -> Paths:
    """Find the paths of the calls ``[low, high)``; a caller before ``low`` counts as none.

    Parameters
    ----------
    calls : Calls
    unit : int32 (calls,)
        Of all calls.
    low, high : int
        All calls by default.

    Returns
    -------
    Paths
    """
    stop = len(calls) if high is None else high
    part_of = slice(low, stop)
    n = stop - low
    seed = np.uint64(secrets.randbits(64))
    parents, begin, end = (plain(c[part_of]) for c in (calls.parent, calls.start, calls.end))
    unit = plain(unit[part_of])
    place = np.empty(n, np.int32)
    capacity = min(max(n, 1), 1 << 12)
    keys = np.empty(capacity, np.uint64)
    parent, units = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    sums = [np.empty(capacity, np.int64) for _ in range(5)]
    table = _table(capacity)
    start, found = 0, 0
    while True:
        start, found = number_paths(
            parents, begin, end, unit, low, start, seed, table, keys, found, place, parent, units,
            sums[0], sums[1], sums[2], sums[3], sums[4],
        )  # fmt: skip
        if start == n:
            break
        capacity = min(n, 2 * capacity)
        keys, parent, units = grown(keys, capacity), grown(parent, capacity), grown(units, capacity)
        sums = [grown(column, capacity) for column in sums]
        table = _table(capacity)
        fill_path_table(table, keys, found, seed)
    forest = lay_forest(parent[:found])
    heads, first, last, longest, time = (column[forest.order] for column in sums)
    length = calls.end[longest] - calls.start[longest]
    return Paths(
        forest, low, forest.position[place], units[forest.order], heads, time, first, last, longest, length
    )


def _table(capacity: int) -> NDArray[np.int32]:
    return np.zeros(1 << (2 * capacity - 1).bit_length(), np.int32)


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of all matches, each kept as a pair of paths for all their heads.

    Attributes
    ----------
    count : int or None
        Groups by the rule ``nearest``; None if there were too many paths to compare.
    reason : str
        Why there is no count; else empty.
    a, b : Paths
    root_a, root_b : int32 (r,)
        Places of the two paths; each head of the one and each of the other are the root of a group. Sorted
        by ``root_a``, then ``root_b``.
    complete : bool
        Whether all are kept: else the first that were found.
    """

    count: int | None
    reason: str
    a: Paths
    b: Paths
    root_a: NDArray[np.int32]
    root_b: NDArray[np.int32]
    complete: bool

    def largest(self, count: int) -> Ints:
        """Return the pairs of paths whose longest heads are longest, the shorter of the two taken.

        Indices, int64 (k,).

        Parameters
        ----------
        count : int
            How many are wanted.

        Returns
        -------
        int64 (k,)
        """
        length = np.minimum(self.a.length[self.root_a], self.b.length[self.root_b])
        most = min(count, len(length))
        chosen = np.argpartition(-length, most - 1)[:most] if most else np.empty(0, np.int64)
        return np.asarray(chosen[np.lexsort((chosen, -length[chosen]))], np.int64)

    def roots_of(self, calls_a: Calls, calls_b: Calls, a: Ints, b: Ints) -> GroupRoots:
        """Return the group of each of the matches ``(a[i], b[i])``: calls within the paths' calls.

        Parameters
        ----------
        calls_a, calls_b : Calls
            Those of the two traces.
        a : int64 (m,)
            Calls of A.
        b : int64 (m,)
            Calls of B.

        Returns
        -------
        GroupRoots
        """
        first = np.searchsorted(self.root_a, np.arange(len(self.a) + 1)).astype(np.int64)
        roots = GroupRoots(*(np.empty(len(a), np.int64) for _ in range(3)))
        assign_groups(
            plain(calls_a.parent), plain(calls_b.parent),
            self.a.place, self.b.place, self.a.offset, self.b.offset,
            self.a.forest.parent, self.b.forest.length, first, self.root_b,
            np.ascontiguousarray(a, np.int64), np.ascontiguousarray(b, np.int64),
            roots.pair, roots.a, roots.b,
        )  # fmt: skip
        return roots


class GroupRoots(NamedTuple):
    """The groups of some matches.

    Attributes
    ----------
    pair : int64 (n,)
        Index of the group's pair of paths; -1 if the match is in no group that was kept.
    a, b : int64 (n,)
        The group's root R(G) = (G_A, G_B), as calls; -1 if none.
    """

    pair: Ints
    a: Ints
    b: Ints


def find_groups(
    similarity: Similarity,
    threshold: Fraction,
    a: Paths,
    b: Paths,
    progress: Progress = silent,
    above: tuple[Ints, Ints] | None = None,
) -> Groups:
    """Find the groups by the rule ``nearest``.

    A's paths are traversed from the roots down, with the paths of B that are still open: those without
    a match at or above the two. A path of B is closed where it matches, and where the two sets have nothing
    in common, as then nothing below has.

    Parameters
    ----------
    similarity : Similarity
        Of the units of the two traces.
    threshold : Fraction
        τ: two units match if their similarity is above it.
    a, b : Paths
        The paths of either trace.
    progress : Progress
    above : (int64 (m,), int64 (k,)), optional
        Calls of A and of B: only groups that may hold matches of these are found. Whether a match is a
        root depends on what is above it alone.

    Returns
    -------
    Groups
        Without a count where only some are found.
    """
    states = _States(similarity, threshold)
    places, every = (
        np.arange(len(paths), dtype=np.int32) if above is None else _at_or_above(paths, above[k])
        for k, paths in enumerate((a, b))
    )
    alive_room, root_room = np.empty(len(every), np.int32), np.empty(len(every), np.int32)
    around: list[tuple[int, NDArray[np.int32]]] = []
    length_b, unit_b = b.forest.length, b.unit
    pairs_a: list[NDArray[np.int32]] = []
    pairs_b: list[NDArray[np.int32]] = []
    kept, count, visited, i = 0, 0, 0, 0
    while i < len(places):
        place = int(places[i])
        if visited == MOST_PATHS or states.looked > MOST_UNITS:
            reason = f"more than {visited:,} paths of the first trace have no match above them"
            return Groups(None, reason, a, b, *_sorted(pairs_a, pairs_b), complete=False)
        visited += 1
        while around and place >= around[-1][0]:
            around.pop()
        state = states.of(int(a.unit[place]))
        open_paths, roots = find_roots(
            around[-1][1] if around else every, length_b, unit_b, state, alive_room, root_room
        )
        if roots:
            found = root_room[:roots]
            count += int(a.heads[place]) * int(b.heads[found].sum())
            if kept < MOST_KEPT:
                pairs_a.append(np.full(roots, place, np.int32))
                pairs_b.append(found.copy())
                kept += roots
        below = place + int(a.forest.length[place])
        if open_paths and below > place + 1:
            around.append((below, alive_room[:open_paths].copy()))
            i += 1
        else:
            i = int(np.searchsorted(places, below))
        if visited % 256 == 0:
            progress(place / len(a), "grouping matches")
    counted = count if above is None else None
    return Groups(counted, "", a, b, *_sorted(pairs_a, pairs_b), complete=kept < MOST_KEPT)


def _at_or_above(paths: Paths, calls: Ints) -> NDArray[np.int32]:
    """Return the places of some calls' paths, and of all above these, in order."""
    wanted = np.zeros(len(paths) + 1, np.int64)
    wanted[paths.place[calls - paths.offset] + 1] = 1
    before = np.cumsum(wanted)
    place = np.arange(len(paths))
    holds = before[place + paths.forest.length] > before[place]
    return np.flatnonzero(holds).astype(np.int32)


def _sorted(
    pairs_a: list[NDArray[np.int32]], pairs_b: list[NDArray[np.int32]]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    a = np.concatenate([np.empty(0, np.int32), *pairs_a])
    b = np.concatenate([np.empty(0, np.int32), *pairs_b])
    order = np.lexsort((b, a))
    return a[order], b[order]


class _States:
    """How the units of B stand to a unit of A; the last ones requested are remembered."""

    def __init__(self, similarity: Similarity, threshold: Fraction) -> None:
        self._similarity = similarity
        self._threshold = threshold
        self._known: dict[int, NDArray[np.uint8]] = {}
        #: Units of B that were compared so far.
        self.looked = 0
        self._most = max(1, _ROWS_BYTES // max(1, len(similarity.calls_b)))

    def of(self, unit: int) -> NDArray[np.uint8]:
        """Return uint8 (units of B,): APART, TOUCHING or MATCHING of :mod:`....kernels.comparison.groups`."""
        known = self._known.get(unit)
        if known is None:
            if len(self._known) >= self._most:
                self._known.pop(next(iter(self._known)))
            row = self._similarity.row(unit)
            self.looked += len(row.common)
            known = (row.common > 0).astype(np.uint8) + row.above(self._threshold)
            self._known[unit] = known
        return known


def count_literal(
    similarity: Similarity,
    threshold: Fraction,
    calls_a: Calls,
    calls_b: Calls,
    a: Paths,
    b: Paths,
    progress: Progress = silent,
) -> tuple[int | None, str]:
    """Count the groups that the printed rule makes.

    Parameters
    ----------
    similarity : Similarity
        Of the units of the two traces.
    threshold : Fraction
        τ: two units match if their similarity is above it.
    calls_a, calls_b : Calls
        Those of the two traces.
    a, b : Paths
        Of all calls.
    progress : Progress

    Returns
    -------
    count : int or None
    reason : str
        Why there is no count; else empty.
    """
    if len(calls_b) > np.iinfo(np.int32).max:
        return None, "the second trace has more calls than 32 bits can count"
    if len(similarity.calls_a) * len(similarity.calls_b) > MOST_PAIRS:
        return None, f"more than {MOST_PAIRS:,} pairs of sets would have to be looked at one by one"
    tops = _Tops(similarity, threshold, b, part(progress, 0.0, 0.8))
    depth = calls_a.depth
    if len(depth) and int(depth.max()) < 1 << 16:
        depth = depth.astype(np.uint16)  # NumPy sorts these in linear time
    order = np.argsort(depth, kind="stable")
    unit = a.unit[a.place]
    extent_a, extent_b = (plain(c.extent) for c in (calls_a, calls_b))
    state = np.array([0, -1, -1], np.int64)
    start, looks = 0, 0
    heads: _Heads | None = None
    while True:
        start = scan_literal(order, start, unit, extent_a, tops.count, tops.first, tops.last, extent_b, state)
        if start == len(order):
            return int(state[0]), ""
        if looks == MOST_LOOKS:
            return None, f"the printed rule looks at the place of each match at more than {looks:,} calls"
        looks += 1
        heads = heads or _Heads(calls_b, b, _States(similarity, threshold))
        call = order[start]
        group = int(state[2])
        state[0] += heads.behind(int(unit[call]), group + int(extent_b[group]))
        state[1], state[2] = call, tops.last[unit[call]]
        start += 1
        if looks % 256 == 0:
            progress(0.8 + 0.2 * start / len(order), "grouping matches as printed")


class _Tops:
    """For each unit of A: the outermost calls of B that match it.

    Attributes
    ----------
    count, first, last : int64 (units of A,)
        How many; the first and the last, if any.
    """

    def __init__(self, similarity: Similarity, threshold: Fraction, b: Paths, progress: Progress) -> None:
        units = len(similarity.calls_a)
        self.count, self.first, self.last = (np.zeros(units, np.int64) for _ in range(3))
        forest = b.forest
        parent_level = np.where(forest.parent < 0, 0, forest.level[forest.parent]).astype(np.int32)
        levels = int(forest.level.max(initial=0))
        for hits in similarity.hits(threshold, progress):
            words = hits.hit.view(np.uint64)
            open_lanes = np.empty((levels + 1, words.shape[1]), np.uint64)
            open_lanes[0] = 0x0101010101010101
            rest, top = np.empty((2, words.shape[1]), np.uint64)
            count = np.zeros(hits.hit.shape[1], np.int32)
            first = np.full(len(count), np.iinfo(np.int32).max, np.int32)
            last = np.full(len(count), -1, np.int32)
            find_outermost(
                forest.level, parent_level, forest.length, hits.place[b.unit], b.heads, b.first, b.last,
                words, open_lanes, rest, top, top.view(np.uint8), count, first, last,
            )  # fmt: skip
            used = len(hits.units)
            self.count[hits.units], self.first[hits.units] = count[:used], first[:used]
            self.last[hits.units] = last[:used]


class _Heads:
    """Where the heads of B's paths are."""

    def __init__(self, calls: Calls, b: Paths, states: _States) -> None:
        self._b = b
        self._states = states
        self._calls = len(calls)
        # No call is above a root: its parent, -1, is the place that was added last.
        above = np.append(b.place, -1)[calls.parent]
        heads = np.flatnonzero(b.place != above)
        self._keys = np.sort(b.place[heads].astype(np.int64) * self._calls + heads)
        self._every = np.arange(len(b), dtype=np.int32)
        self._room = np.empty((2, len(b)), np.int32)

    def behind(self, unit: int, call: int) -> int:
        """Count the outermost calls that match ``unit`` of A from ``call`` on."""
        _, roots = find_roots(
            self._every, self._b.forest.length, self._b.unit, self._states.of(unit), *self._room
        )
        base = self._room[1, :roots].astype(np.int64) * self._calls
        until = np.searchsorted(self._keys, base + self._calls)
        return int((until - np.searchsorted(self._keys, base + call)).sum())
