"""Level of detail: the calls and clusters of a time window at a resolution, in output-sensitive time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..kernels.layout.cut import count_rows, cut_levels, sort_levels, sum_up
from ..trace.cached_results import cached_with_trace
from ..trace.model import Calls, Trace

#: Longer than any trace, but small enough to be added to a time without overflow.
_FOREVER = 1 << 62
#: Levels lower than this are drawn as rows of a pixel.
_LEAST_ROW_PX = 0.5


@dataclass(frozen=True, eq=False)
class Clusters:
    """Calls shorter than the resolution, merged along one level of one thread.

    A cluster's *members* are neighbours at depth ``depth``; it represents them and all calls below them.
    Ordered by thread, then depth, then start.

    Attributes
    ----------
    thread, depth : int32 (c,)
        Of the members.
    bottom : int32 (c,)
        Depth of the deepest call below the members (in the window or not), at most the cut's last depth.
    start, end : int64 (c,)
        Nanoseconds: start of the first member, end of the last (in the window or not).
    calls : int64 (c,)
        How many calls of the window and the depth range it represents.
    longest : int64 (c,)
        The member that lasts longest (compared as float32; the first of equals): what to name it by.
    covered : float64 (c,)
        Nanoseconds: sum of the members' durations, to six digits.
    first, stop : int64 (c,)
        Positions of the members, for :meth:`CutIndex.members`.
    """

    thread: NDArray[np.int32]
    depth: NDArray[np.int32]
    bottom: NDArray[np.int32]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    calls: NDArray[np.int64]
    longest: NDArray[np.int64]
    covered: NDArray[np.float64]
    first: NDArray[np.int64]
    stop: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.thread)


@dataclass(frozen=True, eq=False)
class Cut:
    """The calls and clusters of a window.

    Attributes
    ----------
    calls : int64 (v,)
        The calls shown by themselves, ordered by thread, then depth, then start.
    clusters : Clusters
        The others, merged.
    t0, t1, depth0, depth1, resolution : int
        The window, as it was requested; the resolution in whole nanoseconds.
    step : int
        How many levels are shown as one.
    top : int32 (v,)
        Depth of the deepest call that each of ``calls`` represents; empty where ``step`` is 1: its own.
    merged : int64 (v,)
        How many calls each represents beside itself; empty where ``step`` is 1: none.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> cut = cut_index(tv.load("run.tsv")).cut(0, 1001, resolution_ns=250)
    >>> cut.calls.tolist(), cut.clusters.calls.tolist(), cut.total
    ([0], [3], 4)
    """

    calls: NDArray[np.int64]
    clusters: Clusters
    t0: int
    t1: int
    depth0: int
    depth1: int
    resolution: int
    step: int = 1
    top: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    merged: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def total(self) -> int:
        """The number of calls that the cut represents: all that meet the window."""
        return len(self.calls) + int(self.merged.sum()) + int(self.clusters.calls.sum())

    def deepest(self, calls: Calls) -> NDArray[np.int64]:
        """Return the depth of the deepest call that each of ``calls`` represents: int64 (v,)."""
        return (self.top if self.step > 1 else calls.depth[self.calls]).astype(np.int64)

    def of(self, wanted: NDArray[np.bool_]) -> Cut:
        """Return the cut with some of the calls that are shown by themselves, and no clusters changed."""
        columns = {name: getattr(self, name) for name in ("calls", "top", "merged")}
        return replace(self, **{name: column[wanted] for name, column in columns.items() if len(column)})

    def _in_rows(self, calls: Calls) -> Cut:
        """Return the same where each call has a row, if it is one of a single level."""
        if self.step > 1:
            return self
        return replace(self, top=calls.depth[self.calls], merged=np.zeros(len(self.calls), np.int64))


def levels_of_row(level: float, pixels_per_unit: float) -> int:
    """Return how many levels are drawn as one, so that every drawn level is high enough to be seen.

    Parameters
    ----------
    level : float
        Height of a level in scene units.
    pixels_per_unit : float

    Returns
    -------
    int

    Examples
    --------
    >>> levels_of_row(0.01, 100.0), levels_of_row(0.01, 0.5)
    (1, 200)
    """
    pixels = level * pixels_per_unit
    return 1 if pixels >= _LEAST_ROW_PX else math.ceil(1.0 / pixels)


def joined(cuts: Sequence[Cut], calls: Calls) -> Cut:
    """Return what several cuts show together: of other threads, or of other parts of the time.

    Parameters
    ----------
    cuts : sequence of Cut
        At least one; none shows what another shows.
    calls : Calls
        Of the trace.

    Returns
    -------
    Cut
        With the window and the resolution of the first, and the most levels of a row.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> trace = tv.load("run.tsv")
    >>> roots, others = (cut_index(trace).cut(0, 1001, *depths) for depths in ((1, 1), (2, None)))
    >>> joined([roots, others], trace.calls).total
    4
    """
    first, *rest = cuts
    if not rest:
        return first
    step = max(cut.step for cut in cuts)
    parts = [cut._in_rows(calls) for cut in cuts] if step > 1 else cuts
    columns = {f.name: np.concatenate([getattr(p.clusters, f.name) for p in parts]) for f in fields(Clusters)}
    shown = {name: np.concatenate([getattr(p, name) for p in parts]) for name in ("calls", "top", "merged")}
    return replace(first, **shown, step=step, clusters=Clusters(**columns))


class CutBuffers:
    """Working space of a cut, to be used again for the next; it grows as needed."""

    def __init__(self) -> None:
        self.shown = np.empty(1 << 14, np.int64)
        self.runs = np.empty((1 << 13, 3), np.int64)


@dataclass(frozen=True, eq=False)
class CutIndex:
    """The calls of each thread sorted by depth, then start, with tables that let a cut skip many of them.

    24.8 bytes a call. A call's place in that order is its *position*; the calls of one thread and depth
    are a *level*. :meth:`arrays` gives the columns to store, :meth:`from_arrays` takes them back.

    Attributes
    ----------
    calls : Calls
    thread_level : int64 (threads + 1,)
        Where each thread's entries in ``level_first`` start.
    level_first : int64 (levels + threads,)
        First position of each level of each thread, then the thread's end.
    order : int32 (n,)
        Call at each position.
    begin : int64 (n,)
        Its start.
    length : float32 (n,)
        Its duration, rounded.
    child : int32 (n + 1,)
        Position of its first child, or where it would be: the children of the call at ``p`` are at
        ``[child[p], child[p + 1])``, up to the thread's end.
    bottom : int32 (n,)
        Depth of the deepest call in its subtree.
    peak_first : int64 (k + 1,)
    peak_longest, peak_bottom : int32 (about n / 15,)
    peak_total : float32 (about n / 15,)
        The longest position, the greatest bottom and the sum of the lengths of each 16, each 256, ...
        positions.
    """

    calls: Calls
    thread_level: NDArray[np.int64]
    level_first: NDArray[np.int64]
    order: NDArray[np.int32]
    begin: NDArray[np.int64]
    length: NDArray[np.float32]
    child: NDArray[np.int32]
    bottom: NDArray[np.int32]
    peak_first: NDArray[np.int64]
    peak_longest: NDArray[np.int32]
    peak_bottom: NDArray[np.int32]
    peak_total: NDArray[np.float32]

    @classmethod
    def of(cls, calls: Calls, thread_first: ArrayLike, thread_count: ArrayLike) -> CutIndex:
        """Build the index in linear time.

        Parameters
        ----------
        calls : Calls
        thread_first, thread_count : int64 (threads,)
            The calls of each thread, as :class:`~..trace.model.Threads` holds them; together all calls.

        Returns
        -------
        CutIndex

        Raises
        ------
        InputError
            From 2,147,483,647 calls on.
        """
        n = len(calls)
        if n >= np.iinfo(np.int32).max:
            raise InputError(
                f"This trace has {n:,} calls, and a view can hold 2,147,483,646: leave out part of the trace."
            )
        first = np.ascontiguousarray(thread_first, np.int64)
        count = np.ascontiguousarray(thread_count, np.int64)
        depth = np.ascontiguousarray(calls.depth, np.int32)
        levels = np.array(
            [depth[f : f + c].max() if c else 0 for f, c in zip(first.tolist(), count.tolist(), strict=True)],
            np.int64,
        )
        thread_level = np.zeros(len(first) + 1, np.int64)
        np.cumsum(levels + 1, out=thread_level[1:])
        deepest = int(levels.max(initial=0))
        level_first = np.zeros(int(thread_level[-1]), np.int64)
        order, begin, length = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.float32)
        child, bottom = np.empty(n + 1, np.int32), np.empty(n, np.int32)
        sort_levels(
            depth, np.ascontiguousarray(calls.start, np.int64), np.ascontiguousarray(calls.end, np.int64),
            first, count, thread_level, np.empty(deepest + 2, np.int64), np.empty(deepest + 2, np.int64),
            level_first, order, begin, length, child, bottom,
        )  # fmt: skip
        return cls(
            calls, thread_level, level_first, order, begin, length, child, bottom, *_peaks(length, bottom)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the index's own columns by name, without the calls."""
        return {name: getattr(self, name) for name in _INDEX_COLUMNS}

    @classmethod
    def from_arrays(cls, calls: Calls, arrays: Mapping[str, NDArray[Any]]) -> CutIndex:
        """Return the index of ``calls`` whose columns were stored.

        Parameters
        ----------
        calls : Calls
            Those that the index was made of.
        arrays : mapping of str to array
            Its columns by name, as they were stored.

        Returns
        -------
        CutIndex
        """
        return cls(calls, *(arrays[name] for name in _INDEX_COLUMNS))

    @property
    def nbytes(self) -> int:
        """Bytes of the index's own columns."""
        return sum(array.nbytes for array in self.arrays().values())

    def cut(
        self,
        t0: int,
        t1: int,
        depth0: int = 1,
        depth1: int | None = None,
        resolution_ns: float = 0,
        threads: Sequence[int] | NDArray[np.int64] | None = None,
        buffers: CutBuffers | None = None,
        step: int = 1,
    ) -> Cut:
        """Return what a window shows.

        A call meets the window if it starts before ``t1`` and doesn't end before ``t0``: one without
        duration at ``t0`` does, one at ``t1`` doesn't. A call at least as long as the resolution is shown
        by itself. The longest runs of shorter ones that are neighbours at their depth, less than the
        resolution apart, and not already below a cluster, become one cluster each. Each call that meets
        the window and the depth range is thus shown or in exactly one cluster.

        Where levels are lower than a pixel, ``step`` of them become a row: only calls at its first level are
        shown, each for those above it in the row, and all of this holds for the first levels.

        Parameters
        ----------
        t0, t1 : int
            Nanoseconds, ``t0 < t1``. To see the whole trace let ``t1`` be its last nanosecond + 1.
        depth0, depth1 : int
            First and last depth, both included; None for the deepest.
        resolution_ns : float
            Calls below this duration are merged; 0 shows each. Usually the time that a pixel covers.
        threads : sequence of int
            Threads to show; None for all.
        buffers : CutBuffers
            Working space to use again; None for a new one.
        step : int
            Levels of a row, from 1 on.

        Returns
        -------
        Cut

        Raises
        ------
        ValueError
            If the window is empty, or a thread, the resolution or the step doesn't exist.

        Examples
        --------
        A call of 100 ns with two callees of 2 ns each: at a resolution of 10 ns these are one cluster.

        >>> import numpy as np
        >>> from tracevis3d.trace.events import BEGIN, END
        >>> from tracevis3d.trace.model import Source
        >>> from tracevis3d.trace.recording import Recording
        >>> from tracevis3d.formats.names import split
        >>> recording = Recording()
        >>> thread, main = recording.thread(1, 1), recording.function("main")
        >>> first = recording.add_events(
        ...     thread=[thread] * 6, kind=[BEGIN, BEGIN, END, BEGIN, END, END], function=[main] * 6,
        ...     time=[0, 10, 12, 13, 15, 100],
        ... )
        >>> trace = recording.finish(Source(), split)
        >>> cut = cut_index(trace).cut(0, 101, resolution_ns=10)
        >>> cut.calls.tolist(), cut.clusters.calls.tolist(), cut.total
        ([0], [2], 3)
        """
        if not t0 < t1:
            raise ValueError(f"the window [{t0}, {t1}) is empty")
        if math.isnan(resolution_ns) or resolution_ns < 0:
            raise ValueError(f"the resolution {resolution_ns} is not a duration")
        if step < 1:
            raise ValueError(f"a row has at least one level, not {step}")
        resolution = _FOREVER if resolution_ns >= _FOREVER else math.ceil(resolution_ns)
        deepest = int(np.diff(self.thread_level).max(initial=1)) - 1
        last_depth = deepest if depth1 is None else min(int(depth1), deepest)
        chosen = np.arange(len(self.thread_level) - 1) if threads is None else np.unique(threads)
        chosen = chosen.astype(np.int64)
        if len(chosen) and not 0 <= chosen[0] <= chosen[-1] < len(self.thread_level) - 1:
            raise ValueError(f"threads are numbered from 0 to {len(self.thread_level) - 2}")
        if buffers is None:
            buffers = CutBuffers()
        first_depth = max(int(depth0), 1)
        while True:
            shown, runs = buffers.shown, buffers.runs
            visible, clusters = cut_levels(
                chosen, max(int(t0), -_FOREVER), min(int(t1), _FOREVER), first_depth, last_depth, resolution,
                int(step), self.calls.end, self.calls.extent, self.thread_level, self.level_first, self.order,
                self.begin, self.length, self.child, shown, runs,
            )  # fmt: skip
            if visible > len(shown):
                buffers.shown = np.empty(2 * len(shown), np.int64)
            elif clusters > len(runs):
                buffers.runs = np.empty((2 * len(runs), 3), np.int64)
            else:
                break
        calls = self.order[shown[:visible]].astype(np.int64)
        found = self._clusters(runs[:clusters], last_depth)
        cut = Cut(calls, found, int(t0), int(t1), first_depth, last_depth, resolution)
        return cut if step == 1 else self._with_rows(cut, shown[:visible], int(step))

    def _with_rows(self, cut: Cut, shown: NDArray[np.int64], step: int) -> Cut:
        """Return the cut with what the calls at the positions ``shown`` represent."""
        depth = self.calls.depth[cut.calls]
        top = np.minimum(np.minimum(self.bottom[shown], depth + (step - 1)), cut.depth1).astype(np.int32)
        merged = np.empty(len(shown), np.int64)
        count_rows(
            shown.copy(), (top - depth).astype(np.int64), max(cut.t0, -_FOREVER), min(cut.t1, _FOREVER),
            self.begin, self.order, self.child, self.calls.end, merged,
        )  # fmt: skip
        return replace(cut, step=step, top=top, merged=merged)

    def _clusters(self, runs: NDArray[np.int64], last_depth: int) -> Clusters:
        """Return the clusters of the ``runs`` that :func:`..kernels.layout.cut.cut_levels` found."""
        longest = np.empty(len(runs), np.int64)
        deepest = np.empty(len(runs), np.int32)
        covered = np.empty(len(runs), np.float64)
        sum_up(
            runs, self.length, self.bottom, self.peak_first, self.peak_longest, self.peak_bottom,
            self.peak_total, longest, deepest, covered,
        )  # fmt: skip
        first, stop = runs[:, 0].copy(), runs[:, 1].copy()
        first_call = self.order[first]
        return Clusters(
            thread=self.calls.thread[first_call],
            depth=self.calls.depth[first_call],
            bottom=np.minimum(deepest, last_depth).astype(np.int32),
            start=self.begin[first],
            end=self.calls.end[self.order[stop - 1]],
            calls=runs[:, 2].copy(),
            longest=self.order[longest].astype(np.int64),
            covered=covered,
            first=first,
            stop=stop,
        )

    def at(self, thread: int, time: int, depth: int) -> int:
        """Return the call of ``thread`` that is open at ``depth`` at ``time``; -1 if none is.

        A call is open from its start until before its end; one without duration at its start alone.
        O(log n).

        Parameters
        ----------
        thread : int
            Its number.
        time : int
            Nanoseconds.
        depth : int
            1 for a root call.

        Returns
        -------
        int
        """
        low, high = self.level(thread, depth)
        p = low + int(np.searchsorted(self.begin[low:high], time, side="right")) - 1
        if p < low:
            return -1
        call = int(self.order[p])
        return call if time < self.calls.end[call] or time == self.begin[p] else -1

    def position(self, call: int) -> int:
        """Return the position of ``call``. O(log n)."""
        low, high = self.level(int(self.calls.thread[call]), int(self.calls.depth[call]))
        return low + int(np.searchsorted(self.order[low:high], call))

    def members(self, clusters: Clusters, cluster: int) -> NDArray[np.int32]:
        """Return the calls that a cluster merged at its own depth, in order (int32, part of the index).

        Parameters
        ----------
        clusters : Clusters
            Of a cut with this index.
        cluster : int
            Its number among them.

        Returns
        -------
        int32 (k,)
        """
        return self.order[clusters.first[cluster] : clusters.stop[cluster]]

    def locate(self, cut: Cut, call: int) -> tuple[str, int] | None:
        """Return the element that shows a call in a cut. O(visible calls + depth * log n).

        Parameters
        ----------
        cut : Cut
        call : int

        Returns
        -------
        (str, int) or None
            ``("call", i)`` or ``("cluster", k)``; None if the cut doesn't show the call.
        """
        calls, clusters = self.calls, cut.clusters
        if not (calls.start[call] < cut.t1 and calls.end[call] >= cut.t0):
            return None
        if not cut.depth0 <= calls.depth[call] <= cut.depth1:
            return None
        if cut.step == 1 and calls.end[call] - calls.start[call] >= cut.resolution:
            found = np.flatnonzero(cut.calls == call)
            return ("call", int(found[0])) if len(found) else None
        ancestor = call
        while ancestor >= 0 and calls.depth[ancestor] >= cut.depth0:
            place = self.position(ancestor)
            k = int(np.searchsorted(clusters.first, place, side="right")) - 1
            if k >= 0 and place < clusters.stop[k]:
                return "cluster", k
            ancestor = int(calls.parent[ancestor])
        if cut.step == 1:
            return None
        while call >= 0 and (calls.depth[call] - cut.depth0) % cut.step:
            call = int(calls.parent[call])
        found = np.flatnonzero(cut.calls == call)
        return ("call", int(found[0])) if len(found) else None

    def level(self, thread: int, depth: int) -> tuple[int, int]:
        """Return the positions ``[low, high)`` of the calls of ``thread`` at ``depth``.

        Parameters
        ----------
        thread : int
            Its number.
        depth : int
            1 for a root call.

        Returns
        -------
        (int, int)
            Equal where the thread has no call that deep.
        """
        base, stop = (int(x) for x in self.thread_level[thread : thread + 2])
        if not 1 <= depth < stop - base:
            return 0, 0
        low, high = (int(x) for x in self.level_first[base + depth - 1 : base + depth + 1])
        return low, high


_INDEX_COLUMNS = tuple(f.name for f in fields(CutIndex) if f.name != "calls")


def _peaks(length: NDArray[np.float32], bottom: NDArray[np.int32]) -> tuple[NDArray[Any], ...]:
    """Return ``peak_first``, ``peak_longest``, ``peak_bottom`` and ``peak_total``."""
    longest, value, total = np.arange(0, dtype=np.int32), length, length
    storeys: list[tuple[NDArray[Any], ...]] = []
    sizes = [0]
    while len(value) and (len(value) > 1 or not storeys):
        blocks = np.arange(0, len(value), 16)
        best = blocks + _argmax16(value)
        longest = (longest[best] if storeys else best).astype(np.int32)
        value = value[best]
        bottom = np.maximum.reduceat(bottom, blocks)
        total = np.add.reduceat(total, blocks)
        storeys.append((longest, bottom, total))
        sizes.append(len(blocks))
    empty = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))
    columns = (np.concatenate(parts) for parts in zip(empty, *storeys, strict=True))
    return np.cumsum(sizes, dtype=np.int64), *columns


def _argmax16(value: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return where the first of the greatest of each 16 values is, 0 to 15; the last may be fewer."""
    whole = len(value) // 16 * 16
    found = value[:whole].reshape(-1, 16).argmax(axis=1)
    return found if whole == len(value) else np.append(found, value[whole:].argmax())


@cached_with_trace()
def cut_index(trace: Trace) -> CutIndex:
    """Return the level-of-detail index of a trace; it is cached with the trace.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    CutIndex

    Examples
    --------
    >>> import tracevis3d as tv
    >>> cut_index(tv.load("run.tsv")).at(thread=0, time=450, depth=2)
    2
    """
    return CutIndex.of(trace.calls, trace.threads.first, trace.threads.count)


@cached_with_trace()
def call_span(trace: Trace) -> tuple[int, int]:
    """Return the start of the first call and the end of the last.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    (int, int)
        Nanoseconds; (0, 0) without calls.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> call_span(tv.load("run.tsv"))
    (0, 1000)
    """
    index = cut_index(trace)
    starts, ends = [], []
    for t in range(len(trace.threads)):
        base = int(index.thread_level[t])
        if base + 1 < int(index.thread_level[t + 1]):
            low, high = (int(p) for p in index.level_first[base : base + 2])
            starts.append(int(index.begin[low]))
            ends.append(int(trace.calls.end[index.order[high - 1]]))
    return (min(starts), max(ends)) if starts else (0, 0)


def busy_time(trace: Trace, window: tuple[int, int]) -> NDArray[np.int64]:
    """Return how long each thread is within calls in a window.

    Parameters
    ----------
    trace : Trace
    window : (int, int)
        Start and end, nanoseconds.

    Returns
    -------
    int64 (threads,)
        Nanoseconds. A thread whose calls there all have no duration gets 1, so that it counts as busy.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> busy_time(tv.load("run.tsv"), (200, 700)).tolist()
    [500]
    """
    index, calls = cut_index(trace), trace.calls
    busy = np.zeros(len(trace.threads), np.int64)
    for t in range(len(busy)):
        base = int(index.thread_level[t])
        if base + 1 == int(index.thread_level[t + 1]):
            continue
        low, high = (int(p) for p in index.level_first[base : base + 2])
        # Root calls don't overlap, so only those at the window's two ends reach out of it.
        first = low + max(int(np.searchsorted(index.begin[low:high], window[0], "right")) - 1, 0)
        # What begins at the end of the whole trace takes no time, and is there.
        until = window[1] + (window[1] >= trace.span_ns)
        stop = low + int(np.searchsorted(index.begin[low:high], until, "left"))
        if first < stop and calls.end[index.order[first]] < window[0]:
            first += 1
        if first >= stop:
            continue
        inside = float(np.sum(index.length[first:stop], dtype=np.float64))
        inside -= max(window[0] - int(index.begin[first]), 0)
        inside -= max(int(calls.end[index.order[stop - 1]]) - window[1], 0)
        busy[t] = max(round(inside), 1)
    return busy
