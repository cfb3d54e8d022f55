"""The call paths of two traces merged into one tree, with the calls and times of each trace.

A call path is the sequence of functions from a root call down to a call, a function that calls itself
directly taken once. Paths are laid upon each other from the roots down, by their functions. Where one trace
goes another way to the same work (a function that wraps it, or one of another name), the way is stepped over
and what follows is compared.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....analysis.measures import self_times
from ....kernels.comparison.findings import add_up, inherit
from ..matching.groups import Paths, find_paths
from ..matching.match import Comparison

#: Detours are searched for if a path that only one trace has takes at least this share of its time or calls.
_WORTH = 0.005
#: A function wraps another if at least this share of its weight (time or calls) is below that.
_WRAPS = 0.5
#: Maximum number of paths of one caller compared with each other, the longest first.
_MOST_TRIED = 8
#: Maximum number of functions, each the wrapper of the next, among which the same work is looked for.
_MOST_WRAPPED = 100
#: A function with at most this many call paths elsewhere, in either trace, is evidence for the same work:
#: what many : functions call, such as a compiler of patterns, is not evidence.
FEW_ELSEWHERE = 1
#: Maximum number of merged levels; deeper paths count as their ancestors there.
_DEEPEST = 2000

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]


class Detour(NamedTuple):
    """Places where the traces reach the same work on different call paths.

    Attributes
    ----------
    node : int
        The work: a node of both traces.
    a, b : tuple of int
        Common ids of the functions that are stepped over in either trace, from the caller down; none of
        them if both functions at ``node`` do the same work under different names.
    wrappers : tuple of int
        The first nodes that are stepped over, of A and of B, if any.
    """

    node: int
    a: tuple[int, ...]
    b: tuple[int, ...]
    wrappers: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class CommonPaths:
    """The tree of call paths of both traces; a node comes after its caller.

    Attributes
    ----------
    parent : int32 (n,)
        -1 for a root.
    function : int32 (2, n)
        Common id of the path's last function in A and in B: the same but for a function that stands in
        for another.
    calls, self_time : int64 (2, n)
        In A and in B: calls (one that its own function calls is no further one), and nanoseconds.
    time, below : int64 (2, n)
        With all that is below: nanoseconds, and calls of any kind.
    of_call : two of int32 (calls,)
        Node of each call of either trace.
    longest : int64 (2, n)
        The longest call; -1 if there is none.
    detours : list of Detour
    renamed : tuple of (int, int)
        Common ids of functions of A and of B that are taken as the same: they do the same work in one place,
        and the other trace never calls them.
    """

    parent: Int32s
    function: Int32s
    calls: Ints
    self_time: Ints
    time: Ints
    below: Ints
    of_call: tuple[Int32s, Int32s]
    longest: Ints
    detours: list[Detour] = field(default_factory=list)
    renamed: tuple[tuple[int, int], ...] = ()

    def __len__(self) -> int:
        return len(self.parent)

    def way(self, node: int) -> list[int]:
        """Return the nodes from the root to ``node``."""
        found: list[int] = []
        while node >= 0:
            found.append(node)
            node = int(self.parent[node])
        return found[::-1]


class _Side:
    """The call paths of one trace, with their children and their times."""

    def __init__(self, comparison: Comparison, trace: int) -> None:
        calls = comparison.traces[trace].calls
        ids = (comparison.identity.a, comparison.identity.b)[trace]
        self.paths: Paths = find_paths(calls, np.asarray(ids[calls.function], np.int32))
        n = len(self.paths)
        self.function = self.paths.unit
        self.paths_of = np.bincount(self.function, minlength=len(comparison.identity)).astype(np.int64)
        self.parent = self.paths.forest.parent
        self.length = self.paths.forest.length
        own = np.zeros(n, np.int64)
        np.add.at(own, self.paths.place, self_times(calls))
        self.self_time = own
        self.all_calls = np.bincount(self.paths.place, minlength=n).astype(np.int64)
        time, below = own.astype(np.float64), self.all_calls.astype(np.float64)
        add_up(self.parent, time)
        add_up(self.parent, below)
        #: The share of the run's time or calls, whichever is more: times alone are the machine's, too.
        self.weight: Floats = np.maximum(time / max(own.sum(), 1), below / len(calls))
        order = np.argsort(self.parent, kind="stable")
        self._children = order
        self._first = np.searchsorted(self.parent[order], np.arange(-1, n + 1))
        by_weight = np.lexsort((-self.weight, self.parent))
        self._heaviest = np.full(n + 1, -1, np.int64)  # child of each path; the last: of the roots
        self._heaviest[self.parent[by_weight[::-1]]] = by_weight[::-1]
        self.worth = _WORTH
        self.node = np.full(n, -1, np.int32)

    def children(self, which: Ints) -> Ints:
        """Return the children of the paths ``which`` (-1: the roots) that have no node yet."""
        low, high = self._first[which + 1], self._first[which + 2]
        count = high - low
        start = np.cumsum(count) - count
        place = np.arange(int(count.sum())) + np.repeat(low - start, count)
        found = self._children[place]
        return np.asarray(found[self.node[found] < 0])

    def chain(self, path: int) -> list[int]:
        """Return ``path`` and the paths it wraps: each time the child with most of the weight."""
        found = [path]
        while len(found) < _MOST_WRAPPED:
            heaviest = int(self._heaviest[path])
            if heaviest < 0 or self.weight[heaviest] < max(_WRAPS * float(self.weight[path]), self.worth):
                break
            found.append(heaviest)
            path = heaviest
        return found

    def functions(self, path: int) -> NDArray[np.int64]:
        """Return how many paths at and below ``path`` end in each function."""
        below = self.function[path : path + int(self.length[path])]
        return np.bincount(below, minlength=len(self.paths_of)).astype(np.int64)


def common_paths(comparison: Comparison) -> CommonPaths:
    """Merge the call paths of the two traces.

    Takes time in proportion to the number of paths, of which there are no more than calls; the calls are
    looked at once, to find their paths.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    CommonPaths
    """
    sides = (_Side(comparison, 0), _Side(comparison, 1))
    if all(len(trace.samples) for trace in comparison.traces):
        # A path without a sample in one profile was not seen there: that is no other way.
        for side in sides:
            side.worth = math.inf
    made = _Laying(sides, len(comparison.identity), comparison.settings.tau)
    made.run()
    if renamed := made.renames():
        # What has another name in one place has it in all.
        for side in sides:
            side.node[:] = -1
        made = _Laying(sides, len(comparison.identity), comparison.settings.tau, renamed)
        made.run()
    for side in sides:
        inherit(side.parent, side.node)
    return made.result()


class _Laying:
    """One run of :func:`common_paths`: level by level, both traces at once."""

    def __init__(
        self,
        sides: tuple[_Side, _Side],
        functions: int,
        tau: Fraction,
        renamed: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self.sides, self.functions, self.tau, self.renamed = sides, functions, tau, renamed
        # A's name of each of B's functions, and the other way around.
        self.names = (np.arange(functions, dtype=np.int32), np.arange(functions, dtype=np.int32))
        for one, other in renamed:
            self.names[0][other], self.names[1][one] = one, other
        self.parent: list[Int32s] = []
        self.function: list[Int32s] = []
        self.count = 0
        self.detours: list[Detour] = []

    def run(self) -> None:
        """Give every path a node, down to a certain depth."""
        fronts = [side.children(np.array([-1])) for side in self.sides]
        above = [np.full(len(front), -1, np.int64) for front in fronts]
        for _ in range(_DEEPEST):
            if not len(fronts[0]) and not len(fronts[1]):
                return
            reached = self._level(fronts, above)
            for s, side in enumerate(self.sides):
                fronts[s] = side.children(reached[s])
                callers = side.parent[fronts[s]]
                above[s] = side.node[callers].astype(np.int64)

    def _level(self, fronts: list[Ints], above: list[Ints]) -> list[Ints]:
        """Make the nodes of one level; return the paths of either trace that have got one."""
        named = [self.sides[0].function[fronts[0]], self.names[0][self.sides[1].function[fronts[1]]]]
        key = [(up + 1) * self.functions + function for up, function in zip(above, named)]
        keys, place = np.unique(np.concatenate(key), return_inverse=True)
        place = place.reshape(-1)
        of = [place[: len(key[0])], place[len(key[0]) :]]
        present = [np.zeros(len(keys), np.bool_) for _ in range(2)]
        for s in range(2):
            present[s][of[s]] = True
        reached = []
        for s, (side, front) in enumerate(zip(self.sides, fronts)):
            side.node[front] = self.count + of[s]
            reached.append(front)
        parent = (keys // self.functions - 1).astype(np.int32)
        function = (keys % self.functions).astype(np.int32)
        self._add(parent, np.stack([function, self.names[1][function]]))
        alone = []
        for s, (side, front) in enumerate(zip(self.sides, fronts)):
            here = ~present[1 - s][of[s]] & (side.weight[front] >= side.worth)
            alone.append(front[here])
        if len(alone[0]) and len(alone[1]):
            for s, more in enumerate(self._go_round(alone)):
                reached[s] = np.concatenate([reached[s], np.array(more, np.int64)])
        return reached

    def _add(self, parent: Int32s, function: Int32s) -> None:
        self.parent.append(parent)
        self.function.append(function)
        self.count += len(parent)

    def _go_round(self, alone: list[Ints]) -> tuple[list[int], list[int]]:
        """Find the same work behind paths that only one trace has; return the paths that got a node."""
        parents = np.concatenate(self.parent)
        made: tuple[list[int], list[int]] = ([], [])
        callers = [parents[side.node[paths]] for side, paths in zip(self.sides, alone)]
        for caller in np.intersect1d(*callers).tolist():
            tried = []
            for s, side in enumerate(self.sides):
                here = alone[s][callers[s] == caller]
                tried.append(here[np.argsort(-side.weight[here], kind="stable")][:_MOST_TRIED].tolist())
            taken: set[int] = set()
            for a in tried[0]:
                for b in tried[1]:
                    if b not in taken and self._join(a, b, caller, made):
                        taken.add(b)
                        break
        return made

    def _join(self, a: int, b: int, caller: int, made: tuple[list[int], list[int]]) -> bool:
        """Lay path ``a`` of A upon path ``b`` of B, or what they wrap, if that is the same work."""
        left, right = self.sides
        chains = (left.chain(a), right.chain(b))
        named = {int(right.function[path]): j for j, path in reversed(list(enumerate(chains[1])))}
        inside = (left.functions(a), right.functions(b))
        rare = self._rare(inside)
        steps = [
            (i + named[f], i, named[f])
            for i, path in enumerate(chains[0])
            if (f := int(left.function[path])) in named
            and (rare[f] or left.paths.heads[path] == right.paths.heads[chains[1][named[f]]])
        ]
        if steps:
            _, i, j = min(steps)
            if i and j and self._stands_in(a, b):
                i = j = 0
        elif self._similar(inside, rare):
            i = j = 0
        else:
            return False
        x, y = chains[0][i], chains[1][j]
        functions = np.array([[left.function[x]], [right.function[y]]], np.int32)
        over = tuple(
            tuple(int(side.function[path]) for path in chain[:k])
            for side, chain, k in zip(self.sides, chains, (i, j))
        )
        wrappers = tuple(int(side.node[path]) for side, path, k in ((left, a, i), (right, b, j)) if k)
        self.detours.append(Detour(self.count, over[0], over[1], wrappers))
        left.node[x] = right.node[y] = self.count
        self._add(np.array([caller], np.int32), functions)
        for path, k, mine in ((x, i, made[0]), (y, j, made[1])):
            if k:  # paths of this level were already reached
                mine.append(path)
        return True

    def _stands_in(self, a: int, b: int) -> bool:
        """Return whether two functions around the same work are one by two names: as often called."""
        left, right = self.sides
        new = left.paths_of[right.function[b]] == 0 and right.paths_of[left.function[a]] == 0
        return bool(new and left.paths.heads[a] == right.paths.heads[b])

    def _rare(self, inside: tuple[Ints, Ints]) -> NDArray[np.bool_]:
        """Return which functions are hardly called elsewhere, by how many paths inside end in each."""
        elsewhere = [side.paths_of - mine for side, mine in zip(self.sides, inside)]
        return np.asarray(np.maximum(*elsewhere) <= FEW_ELSEWHERE)

    def _similar(self, inside: tuple[Ints, Ints], rare: NDArray[np.bool_]) -> bool:
        """Return whether the functions of two paths are alike, also in one that is rare elsewhere."""
        both = (inside[0] > 0) & (inside[1] > 0)
        whole = int(np.count_nonzero((inside[0] > 0) | (inside[1] > 0)))
        common = int(np.count_nonzero(both))
        return bool((both & rare).any() and common * self.tau.denominator > whole * self.tau.numerator)

    def renames(self) -> tuple[tuple[int, int], ...]:
        """Return the functions of A and of B that do the same work, and that the other trace never calls."""
        function = np.concatenate([np.empty((2, 0), np.int32), *self.function], axis=1)
        pairs = {
            (int(function[0, detour.node]), int(function[1, detour.node]))
            for detour in self.detours
            if not detour.a and not detour.b
        }
        once = [Counter(names) for names in zip(*pairs)]
        left, right = self.sides
        return tuple(
            sorted(
                (one, other)
                for one, other in pairs
                if once[0][one] == once[1][other] == 1
                and left.paths_of[other] == 0
                and right.paths_of[one] == 0
            )
        )

    def result(self) -> CommonPaths:
        """Sum up by node."""
        n = self.count
        parent = np.concatenate([np.empty(0, np.int32), *self.parent])
        function = np.concatenate([np.empty((2, 0), np.int32), *self.function], axis=1)
        calls, own, all_calls = (np.zeros((2, n), np.int64) for _ in range(3))
        longest = np.full((2, n), -1, np.int64)
        of_call = []
        for s, side in enumerate(self.sides):
            # Paths beyond the deepest level are within their caller's calls.
            first = (side.parent < 0) | (side.node != side.node[side.parent])
            np.add.at(calls[s], side.node[first], side.paths.heads[first])
            np.add.at(own[s], side.node, side.self_time)
            np.add.at(all_calls[s], side.node, side.all_calls)
            order = np.argsort(np.where(first, side.paths.length, -1), kind="stable")
            longest[s, side.node[order]] = side.paths.longest[order]
            of_call.append(side.node[side.paths.place])
        time, below = own.astype(np.float64), all_calls.astype(np.float64)
        for s in range(2):
            add_up(parent, time[s])
            add_up(parent, below[s])
        return CommonPaths(
            parent, function, calls, own, time.astype(np.int64), below.astype(np.int64),
            (of_call[0], of_call[1]), longest, self.detours, self.renamed,
        )  # fmt: skip
