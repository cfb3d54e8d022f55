"""The evidence for findings about two traces, and the type of a finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ....analysis.measures import self_times
from ....kernels.comparison.findings import add_up, find_outermost_nodes, judge
from ....trace.model import Calls
from ..matching.match import Comparison
from .paths import CommonPaths, common_paths
from .sampling import Weights, pace_of, weights_of

#: Relative deviation of the number of calls of a path that counts as expected.
TOLERANCE = 0.1
#: Findings take at least this share of the longer trace's time, or of the larger one's calls.
LEAST = 0.01
#: Times that vary by no more than this between paths are counted or simulated: no machine disturbs them.
_EXACT = 1e-3
#: Maximum weight of one path in the pace, as a share of the time: no single path determines it.
_MOST_WEIGHT = 0.0005
#: With fewer calls than these, it isn't known what is usual.
FEW_CALLS = 10
#: For each this many calls that are alike, one more outlier counts no more than the next value.
PER_STALL = 20
#: A stall is at most this many times as long as the longest of calls that both traces make.
_LONGEST_STALL = 4

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Nanoseconds from the start of a trace.
Range = tuple[int, int]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Finding:
    """A finding about two traces.

    Attributes
    ----------
    kind : str
        A key of :data:`..findings.KINDS`.
    score : float
        The share, 0 to 1, of the longer trace's time or of the larger one's calls that it is about; the
        larger of the two. Findings are ranked by it.
    functions : (str, str)
        Short names in A and in B; empty where there is none.
    path : tuple of str
        The call path, from the root call down to the function.
    calls : (int, int)
        Calls of the function that it is about, in A and in B.
    time_ns : (int, int)
        Their duration together.
    below : (int, int)
        Calls with all that are below them.
    ranges : (Range or None, Range or None)
        From the start of the first of these calls to the end of the last.
    examples : (int, int)
        The longest of these calls; -1 if there is none.
    certainty : str
        ``certain``: counted, or seen in most of many calls. ``likely``: seen in few calls, or explained by
        likeness. ``unsure``: seen once, so it may as well be the machine.
    group : (int, int) or None
        The root calls of the match group (TraceDiff, section III) that the examples are in.
    details : dict
        Figures of this kind of finding alone.
    nodes : int64 (k,)
        Its paths, in :class:`.paths.CommonPaths`.
    """

    kind: str
    score: float
    functions: tuple[str, str]
    path: tuple[str, ...] = ()
    calls: tuple[int, int] = (0, 0)
    time_ns: tuple[int, int] = (0, 0)
    below: tuple[int, int] = (0, 0)
    ranges: tuple[Range | None, Range | None] = (None, None)
    examples: tuple[int, int] = (-1, -1)
    certainty: str = "certain"
    group: tuple[int, int] | None = None
    details: dict[str, Any] = field(default_factory=dict)
    nodes: Ints = field(default_factory=lambda: np.empty(0, np.int64), compare=False)


class Evidence:
    """Two traces' common call paths, judged: computed once for all kinds of findings.

    Attributes
    ----------
    comparison : Comparison
    paths : CommonPaths
    state : uint8 (n,)
        Of each path: ALIKE, RECOUNTED, ALONE or BELOW of :mod:`....kernels.comparison.findings`.
    before, factor : float64 (n,)
        Calls of B that one of A lets expect, by the callers alone and with the path's own.
    time : (int, int)
        Nanoseconds of the root calls of either trace.
    calls : (int, int)
    weights : Weights or None
        Of two profiles of samples: their calls are no calls, so each path counts as called once.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.paths: CommonPaths = common_paths(comparison)
        self.time = tuple(int(own.sum()) for own in self.paths.self_time)
        self.weights: Weights | None = weights_of(comparison.traces, self.paths)
        if self.weights is not None:
            self.paths = replace(self.paths, calls=np.minimum(self.paths.calls, 1))
        n = len(self.paths)
        self.state = np.empty(n, np.uint8)
        self.before, self.factor = np.empty(n), np.empty(n)
        judge(
            self.paths.parent, self.paths.calls[0], self.paths.calls[1], TOLERANCE, self.state, self.before,
            self.factor,
        )  # fmt: skip
        self.calls = tuple(len(trace) for trace in comparison.traces)
        self._found: dict[Callable[[Evidence], Any], Any] = {}

    def once(self, find: Callable[[Evidence], Found]) -> Found:
        """Return what ``find`` finds in this evidence; it is called the first time only.

        Parameters
        ----------
        find : callable
            What it returns is shared, and must not be changed.

        Returns
        -------
        object
        """
        if find not in self._found:
            self._found[find] = find(self)
        found: Found = self._found[find]
        return found

    @property
    def most_time(self) -> float:
        """Nanoseconds of the longer trace, at least 1."""
        return float(max(*self.time, 1))

    @property
    def most_calls(self) -> float:
        """Calls of the larger trace."""
        return float(max(self.calls))

    @cached_property
    def pace(self) -> float:
        """How many times as long B takes for the same work: the median of the paths that both have.

        A path counts with its share of the self time, but with a two-thousandth at most: pauses of the
        machine, which lie in few paths, don't set it. Of two profiles, the median of functions: most paths
        have too few samples.
        """
        if self.weights is not None:
            return self._pace_of_samples
        return self._spread[0]

    @cached_property
    def _pace_of_samples(self) -> float:
        assert self.weights is not None
        # Of two rates the lower one: what was sampled more often is no less sure.
        a, b = (
            np.bincount(of, row, len(self.comparison.identity)) * min(self.weights.rate)
            for of, row in zip(self.paths.function, self.weights.own)
        )
        return pace_of(a, b)

    @cached_property
    def noise(self) -> float:
        """How far such paths are from the pace, half of them farther: the natural logarithm of a factor."""
        return self._spread[1]

    @property
    def exact(self) -> bool:
        """Whether times are counted or simulated, so that each change is one of the program."""
        return self.noise < _EXACT

    @property
    def least_time(self) -> float:
        """Nanoseconds that a finding about time takes at least."""
        return LEAST * self.most_time

    @cached_property
    def spread(self) -> tuple[Ints, Floats, Floats]:
        """Paths that both traces have, how many times as long B takes (logarithm), and their weight."""
        own = self.paths.self_time
        common = np.flatnonzero((self.state < 2) & (own > 0).all(axis=0))
        ratio = np.log(own[1, common] / (self.factor[common] * own[0, common]))
        share = own[0, common] / self.time[0] + own[1, common] / self.time[1]
        return common, ratio, np.minimum(share / 2, _MOST_WEIGHT)

    @cached_property
    def _spread(self) -> tuple[float, float]:
        common, ratio, weight = self.spread
        if not len(common):
            return 1.0, 0.0
        middle = weighted_median(ratio, weight)
        return float(np.exp(middle)), weighted_median(np.abs(ratio - middle), weight)

    @cached_property
    def labels(self) -> list[str]:
        """The short name of each common function: A's, where both have it."""
        return [a or b for a, b in zip(*self.labels_of)]

    @cached_property
    def labels_of(self) -> tuple[list[str], list[str]]:
        """The short name of each common function in A and in B; empty where that has none."""
        n = len(self.comparison.identity)
        found = ([""] * n, [""] * n)
        ids = (self.comparison.identity.a, self.comparison.identity.b)
        for names, trace, of in zip(found, self.comparison.traces, ids):
            for label, common in zip(trace.functions.label, of.tolist()):
                names[common] = label
        return found

    def label(self, node: int, trace: int | None = None) -> str:
        """Return the short name of a path's last function, in one trace or in the one that has it.

        Parameters
        ----------
        node : int
            The path.
        trace : int, optional
            0 for A, 1 for B; None: the first that has it.

        Returns
        -------
        str
        """
        if trace is None:
            trace = 0 if self.paths.calls[0, node] else 1
        function = int(self.paths.function[trace, node])
        return self.labels_of[trace][function] or self.labels[function]

    def way(self, node: int) -> tuple[str, ...]:
        """Return the short names of the functions of a call path."""
        return tuple(self.label(step) for step in self.paths.way(node))

    @cached_property
    def hulls(self) -> Ints:
        """Start of the first and end of the last call of each path, int64 (2, 2, n): trace, end, path."""
        hulls = []
        for trace, of in zip(self.comparison.traces, self.paths.of_call):
            first = np.full(len(self.paths), np.iinfo(np.int64).max)
            last = np.zeros(len(self.paths), np.int64)
            np.minimum.at(first, of, trace.calls.start)
            np.maximum.at(last, of, trace.calls.end)
            hulls.append((first, last))
        return np.array(hulls)

    def about(self, nodes: Ints) -> dict[str, Any]:
        """Return what a finding says of some paths: calls, times, ranges and examples."""
        paths = self.paths
        ranges: list[Range | None] = []
        examples = []
        for s in range(2):
            here = nodes[paths.calls[s, nodes] > 0]
            calls = paths.longest[s, here]
            if not len(here):
                ranges.append(None)
                examples.append(-1)
                continue
            ranges.append((int(self.hulls[s, 0, here].min()), int(self.hulls[s, 1, here].max())))
            own = self.comparison.traces[s].calls
            examples.append(int(calls[np.argmax(own.end[calls] - own.start[calls])]))

        def both(table: Ints) -> tuple[int, int]:
            return int(table[0, nodes].sum()), int(table[1, nodes].sum())

        return {
            "calls": both(paths.calls),
            "time_ns": both(paths.time),
            "below": both(paths.below),
            "ranges": (ranges[0], ranges[1]),
            "examples": (examples[0], examples[1]),
            "nodes": nodes,
        }

    def longest_calls(self, nodes: Ints, trace: int, most: int, window: Range | None = None) -> list[int]:
        """Return the longest calls of some paths in a trace that reach into ``window``, at most ``most``.

        Parameters
        ----------
        nodes : int64 (k,)
            Paths.
        trace : int
            0 for A, 1 for B.
        most : int
            How many calls.
        window : Range, optional
            Nanoseconds; None: the whole trace.

        Returns
        -------
        list of int
            The longest first.
        """
        calls, of_call = self.comparison.traces[trace].calls, self.paths.of_call[trace]
        chosen = np.zeros(len(self.paths), np.bool_)
        chosen[nodes] = True
        held = outermost(calls, of_call, chosen)
        if window is not None:
            held = held[(calls.end[held] > window[0]) & (calls.start[held] < window[1])]
        order = np.argsort(calls.start[held] - calls.end[held], kind="stable")[:most]
        return [int(call) for call in held[order]]

    def share(self, time: float, calls: float) -> float:
        """Return the score of what takes so much time, or this many calls.

        Parameters
        ----------
        time : float
            Nanoseconds.
        calls : float
            How many.

        Returns
        -------
        float
            0 to 1, of the traces' time or calls, whichever is more.
        """
        return min(1.0, max(abs(time) / self.most_time, abs(calls) / self.most_calls))

    @cached_property
    def self_times(self) -> tuple[Ints, Ints]:
        """Self time of each call of A and of B, nanoseconds."""
        a, b = (self_times(trace.calls) for trace in self.comparison.traces)
        return a, b

    @cached_property
    def calm_own(self) -> tuple[Ints, Ints]:
        """Self time of each call of A and of B, nanoseconds, stalls left out.

        Of a function's calls in both traces the longest one in twenty, and one more, may be stalls: one that
        takes a hundredth of the longer trace's time more than the others is taken as long as the longest of
        these. A machine that stalls stalls everywhere: this is only done if a call of a function that both
        traces call was beyond its like for a quarter as long.
        """
        own = np.concatenate(self.self_times)
        if self.exact:
            return self.self_times
        ids = (self.comparison.identity.a, self.comparison.identity.b)
        function = np.concatenate(
            [common[trace.calls.function] for trace, common in zip(self.comparison.traces, ids)]
        )
        n = np.bincount(function, minlength=len(self.comparison.identity))
        ordered = own[np.lexsort((own, function))]
        usual = np.cumsum(n) - 1 - (1 + n // PER_STALL)
        # Of functions with few calls it may be any, even one from the end: it isn't used.
        most = np.where(n >= FEW_CALLS, ordered[usual], np.iinfo(np.int64).max)
        beyond = own - np.minimum(own, most[function])
        both = (self.calls_of_function > 0).all(axis=0)[function]
        largest = int(beyond[both].max(initial=0))
        stalled = (beyond >= self.least_time) & (beyond <= largest * _LONGEST_STALL)
        calm = np.where(stalled, own - beyond, own)
        return calm[: self.calls[0]], calm[self.calls[0] :]

    @cached_property
    def calm_self(self) -> Ints:
        """Self time of each path in A and in B, nanoseconds, stalls left out: int64 (2, n)."""
        rows = [np.bincount(of, own, len(self.paths)) for of, own in zip(self.paths.of_call, self.calm_own)]
        return np.stack(rows).astype(np.int64)

    @cached_property
    def calm_time(self) -> Ints:
        """Time of each path with all that is below, nanoseconds, stalls left out: int64 (2, n)."""
        total = self.calm_self.astype(np.float64)
        for row in total:
            add_up(self.paths.parent, row)
        return total.astype(np.int64)

    def within(self, nodes: Ints) -> NDArray[np.bool_]:
        """Return which paths are ``nodes`` or lie below them: bool (n,)."""
        chosen = np.zeros(len(self.paths), np.uint8)
        chosen[nodes] = 1
        below = np.empty(len(self.paths), np.uint8)
        find_outermost_nodes(self.paths.parent, chosen, below)
        return (chosen | below).astype(np.bool_)

    @cached_property
    def calls_of_function(self) -> Ints:
        """Calls of each common function in A and in B, int64 (2, functions)."""
        ids = (self.comparison.identity.a, self.comparison.identity.b)
        size = len(self.comparison.identity)
        of = [
            np.bincount(common[trace.calls.function], minlength=size)
            for trace, common in zip(self.comparison.traces, ids)
        ]
        return np.stack(of).astype(np.int64)


def outermost(calls: Calls, of_call: NDArray[np.int32], chosen: NDArray[np.bool_]) -> Ints:
    """Return the calls of some paths that their own path's calls don't call.

    Parameters
    ----------
    calls : Calls
    of_call : int32 (calls,)
        Path of each.
    chosen : bool (n,)
        Which paths.

    Returns
    -------
    int64 (k,)
        In order.
    """
    held = np.flatnonzero(chosen[of_call])
    above = calls.parent[held]
    return np.asarray(held[(above < 0) | (of_call[above] != of_call[held])])


def rounded(value: Floats | Ints) -> Floats:
    """Return the sizes of sums of times to a thousandth of a nanosecond, to sort by.

    Sums of the same numbers in another order may differ in their last digits; which comes first must not.

    Parameters
    ----------
    value : float64 or int64 (n,)
        Nanoseconds.

    Returns
    -------
    float64 (n,)
        Not negative.
    """
    return np.asarray(np.rint(1024.0 * np.abs(value)))


def weighted_median(value: Floats, weight: Floats) -> float:
    """Return the value below which half of the weight lies.

    Parameters
    ----------
    value : float64 (n,)
        At least one.
    weight : float64 (n,)
        Not negative.

    Returns
    -------
    float
    """
    order = np.argsort(value, kind="stable")
    total = np.cumsum(weight[order])
    # Sums of the same weights in another order may differ in their last digit.
    return float(value[order][np.searchsorted(total, (1 - 1e-12) * total[-1] / 2)])
