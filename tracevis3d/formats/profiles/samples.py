"""Profiles: frames and samples as a reader finds them, and the calls that are laid out from them.

Where the times of samples are known, calls lie in time: functions that two samples in a row have in common,
from the root on, are one call. Where only weights are known, each call path is one call that is as long as
its samples weigh, the heaviest first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...kernels.formats.lay import samples as kernels
from ...trace.events import COMPLETE, too_long
from ...trace.model import Calls
from ...trace.recording import Recording

#: A sample represents the time to the next one, but at most this multiple of the usual interval.
_LONGEST = 2.5
#: Room for the frames of a tree at first; a power of two.
_FEW_FRAMES = 1 << 12
#: Kind of weight if samples are only counted.
COUNTED = "samples"
#: Nanoseconds per sample if its duration is unknown.
SAMPLE_NS = 1000


class FrameTree:
    """The frames of a profile's stacks, each kept once below its caller.

    Parameters
    ----------
    recording : Recording
        Has the functions; gets the frames.

    Examples
    --------
    >>> recording = Recording()
    >>> tree = FrameTree(recording)
    >>> main = tree.frame(recording.function("main"), -1)
    >>> tree.frame(recording.function("main"), -1) == main
    True
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._numbers: dict[tuple[int, int, int], int] = {}

    def frame(self, function: int, caller: int, line: int = 0) -> int:
        """Return the number of a frame.

        Parameters
        ----------
        function : int
            Index of :meth:`~tracevis3d.trace.recording.Recording.function`.
        caller : int
            The frame that called it; -1 for the outermost.
        line : int
            Being executed, from 1; 0 if unknown.

        Returns
        -------
        int
        """
        if not 0 <= line < 1 << 31:
            line = 0
        return self._numbers.setdefault((caller, function, line), len(self._numbers))

    def stack(self, functions: Sequence[int], lines: Sequence[int] = ()) -> int:
        """Return the innermost frame of a stack; -1 if it is empty.

        Parameters
        ----------
        functions : sequence of int
            From the root on.
        lines : sequence of int, optional
            One for each.

        Returns
        -------
        int
        """
        frame = -1
        for position, function in enumerate(functions):
            frame = self.frame(function, frame, lines[position] if lines else 0)
        return frame

    def columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Return function, parent and line of each frame."""
        rows = np.array(list(self._numbers), np.int64).reshape(-1, 3).astype(np.int32)
        parent, function, line = (np.ascontiguousarray(rows[:, column]) for column in range(3))
        return function, parent, line


def tree_of_stacks(
    first: NDArray[np.int64], function: NDArray[np.int32], line: NDArray[np.int32]
) -> tuple[NDArray[np.int32], tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]]:
    """Make a tree of stacks that are given as columns.

    Parameters
    ----------
    first : int64 (n + 1,)
        Stack ``i`` is ``first[i]`` to ``first[i + 1]`` of the other columns, the root first.
    function, line : int32 (m,)

    Returns
    -------
    stack : int32 (n,)
        The innermost frame of each; -1 if it is empty.
    frames : three columns
        Function, parent and line of each frame.
    """
    itself = np.arange(len(function) + 1)
    return tree_of_places(first, itself[:-1], itself, function, line, is_root_first=True)


def tree_of_places(
    first: NDArray[np.int64],
    place: NDArray[np.int64],
    first_of: NDArray[np.int64],
    function: NDArray[np.int32],
    line: NDArray[np.int32],
    *,
    is_root_first: bool = False,
) -> tuple[NDArray[np.int32], tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]]:
    """Make a tree of stacks of places, each of which has a frame, or several where functions are inlined.

    Parameters
    ----------
    first : int64 (n + 1,)
        Stack ``i`` is ``first[i]`` to ``first[i + 1]`` of ``place``.
    place : int64 (m,)
        -1: one without frames.
    first_of : int64 (places + 1,)
        Place ``p`` has ``first_of[p]`` to ``first_of[p + 1]`` of ``function`` and ``line``.
    function, line : int32 (k,)
    is_root_first : bool
        Whether stacks, and the frames of places, begin with the outermost; else with the innermost.

    Returns
    -------
    stack : int32 (n,)
        The innermost frame of each; -1 if it is empty.
    frames : three columns
        Function, parent and line of each frame.
    """
    stack, state = np.empty(len(first) - 1, np.int32), np.zeros(2, np.int64)
    given: tuple[Any, ...] = (
        *(np.ascontiguousarray(column, np.int64) for column in (first, place, first_of)),
        *(np.ascontiguousarray(column, np.int32) for column in (function, line)),
    )
    out, slots = np.empty((3, _FEW_FRAMES), np.int32), np.full(4 * _FEW_FRAMES, -1, np.int32)
    while True:
        # The table stays small where stacks are many, but alike.
        columns: tuple[Any, ...] = (*given, is_root_first, state, slots, stack, *out)
        kernels.intern_stacks(*columns)
        if state[0] == len(stack):
            break
        out = np.append(out, np.empty((3, 3 * out.shape[1]), np.int32), axis=1)
        slots = np.full(4 * out.shape[1], -1, np.int32)
        kernels.fill_slots(slots, state[1], *out)
    parent, named, lines = (column[: state[1]].copy() for column in out)
    return stack, (named, parent, lines)


def add_timed(
    recording: Recording,
    frames: tuple[ArrayLike, ArrayLike, ArrayLike],
    threads: ArrayLike,
    stacks: ArrayLike,
    times: ArrayLike,
    *,
    end: ArrayLike | None = None,
    interval: float = 0,
    kinds: Sequence[str] = (COUNTED,),
    kind: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    laid: ArrayLike | None = None,
    as_events: bool = False,
) -> tuple[int, list[NDArray[Any]]]:
    """Add samples whose times are known, and the calls that they make.

    A sample represents the time to the next one of its thread, but for no more than 2.5 times the interval:
    what is longer is a gap, in which the thread was not sampled.

    Parameters
    ----------
    recording : Recording
    frames : three columns
        Function, parent and line of each frame, as :meth:`FrameTree.columns` returns them.
    threads : int32 (n,)
        Indices of :meth:`~tracevis3d.trace.recording.Recording.thread`.
    stacks : int32 (n,)
        The innermost frame of each sample; -1 if its stack is empty.
    times : int64 (n,)
        Nanoseconds.
    end : int64 (n,), optional
        Until when a sample lasts at most, where that is known; -1 where it is not.
    interval : float
        Nanoseconds between samples; 0: what is usual in the thread (the median).
    kinds : sequence of str
        What is weighed; the first is what shares are reported in.
    kind : int (n,), optional
        Index into ``kinds``; 0 if left out.
    weight : int64 (n,), optional
        In the unit of its kind; 1 if left out.
    laid : bool (n,), optional
        Which samples make calls; all if left out.
    as_events : bool
        Whether the calls are added as events, which other rows can refer to.

    Returns
    -------
    first : int
        The number of the first event that was added for the calls; -1 where calls were.
    events : list of arrays
        Thread, kind, function and time of each; empty where calls were added.
    """
    thread, stack = np.asarray(threads, np.int32), np.asarray(stacks, np.int32)
    time = np.asarray(times, np.int64)
    first = _add_frames(recording, frames)
    numbers = np.array([recording.text("samples", name) for name in kinds], np.int32)
    recording.add_samples(
        thread=thread,
        kind=np.full(len(thread), numbers[0]) if kind is None else numbers[np.asarray(kind)],
        weight=np.ones(len(thread), np.int64) if weight is None else weight,
        time=time,
        stack=np.where(stack >= 0, stack + first, -1) if first else np.maximum(stack, -1),
    )
    given = None if end is None else np.asarray(end, np.int64)
    follows = (thread[1:] > thread[:-1]) | ((thread[1:] == thread[:-1]) & (time[1:] >= time[:-1]))
    if laid is not None or not follows.all():
        keep = np.arange(len(thread)) if laid is None else np.flatnonzero(laid)
        order = keep[np.lexsort((time[keep], thread[keep]))]
        thread, stack, time = thread[order], stack[order], time[order]
        given = None if given is None else given[order]
    if given is None or (given < 0).any():
        stops = ends_of_samples(thread, time, interval)
    else:
        stops = given
    if given is not None:
        # A sample can't last longer than to the next one.
        next_one = np.append(time[1:], np.iinfo(np.int64).max)
        next_one[np.append(thread[1:] != thread[:-1], True)[: len(next_one)]] = np.iinfo(np.int64).max
        stops = np.where(given >= 0, np.maximum(np.minimum(given, next_one), time), stops)
    if as_events:
        out = _events_of(thread, stack, time, stops, frames)
        return recording.add_events(thread=out[0], kind=out[1], function=out[2], time=out[3]), out
    recording.add_calls(
        _calls_of(thread, stack, time, stops, frames),
        lambda: dict(
            zip(("thread", "kind", "function", "time"), _events_of(thread, stack, time, stops, frames))
        ),
    )
    return -1, []


def _calls_of(
    thread: NDArray[np.int32],
    stack: NDArray[np.int32],
    time: NDArray[np.int64],
    stops: NDArray[np.int64],
    frames: tuple[ArrayLike, ArrayLike, ArrayLike],
) -> Calls:
    """Return the calls of samples that are in the order of their threads and times."""
    merged, parent, function = merge_frames(
        *(np.ascontiguousarray(column, np.int32) for column in frames[:2])
    )
    stack = np.where(stack >= 0, np.append(merged, -1)[stack], -1).astype(np.int32)
    depth = np.empty(len(parent), np.int32)
    opened = np.empty(int(kernels.measure_depths(parent, depth)) + 1, np.int64)
    given = thread, stack, time, stops, parent, function, depth, opened
    types = np.int32, np.int32, np.int64, np.int32, np.int64, np.int64, np.int64
    count = kernels.lay_calls(*given, True, *(np.empty(0, one) for one in types))
    out: list[NDArray[Any]] = [np.empty(count, one) for one in types]
    kernels.lay_calls(*given, False, *out)
    names = "thread", "function", "parent", "depth", "start", "end", "extent"
    return Calls(**dict(zip(names, out)), record=np.empty(0, np.int64))


def _events_of(
    thread: NDArray[np.int32],
    stack: NDArray[np.int32],
    time: NDArray[np.int64],
    stops: NDArray[np.int64],
    frames: tuple[ArrayLike, ArrayLike, ArrayLike],
) -> list[NDArray[Any]]:
    """Return the same as begins and ends: thread, kind, function and time of each."""
    function, parent, _ = (np.ascontiguousarray(column, np.int32) for column in frames)
    depth = np.empty(len(parent), np.int32)
    room = int(kernels.measure_depths(parent, depth)) + 1
    opened, path = np.empty(room, np.int32), np.empty(room, np.int32)
    columns = thread, stack, time, stops, parent, function, depth, opened, path
    types = np.int32, np.uint8, np.int32, np.int64
    count = kernels.lay_samples(*columns, True, *(np.empty(0, one) for one in types))
    out: list[NDArray[Any]] = [np.empty(count, one) for one in types]
    kernels.lay_samples(*columns, False, *out)
    return out


def merge_frames(
    function: NDArray[np.int32], parent: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Give frames of the same functions from the root on one number, whatever line they execute.

    Parameters
    ----------
    function, parent : int32 (n,)
        Parents stand before their children; -1: none.

    Returns
    -------
    merged : int32 (n,)
        The number of each frame.
    parent, function : int32 (k,)
        Of each number.
    """
    size = 1 << max(2 * len(parent) + 2, 2).bit_length()
    merged = np.empty(len(parent), np.int32)
    above, what = np.empty(len(parent), np.int32), np.empty(len(parent), np.int32)
    count = kernels.merge_frames(parent, function, np.full(size, -1, np.int32), merged, above, what)
    return merged, above[:count], what[:count]


def ends_of_samples(
    thread: NDArray[np.int32], time: NDArray[np.int64], interval: float = 0
) -> NDArray[np.int64]:
    """Return until when each sample represents what its thread does.

    Parameters
    ----------
    thread : int32 (n,)
        Ascending.
    time : int64 (n,)
        Ascending within a thread.
    interval : float
        Nanoseconds between samples; 0: the median of each thread.

    Returns
    -------
    int64 (n,)
    """
    if not len(thread):
        return time.copy()
    step = np.diff(time, append=time[-1])
    last = np.append(thread[1:] != thread[:-1], True)
    usual = np.full(len(thread), float(interval))
    if interval <= 0:
        bounds = np.append(np.flatnonzero(np.append(True, last[:-1])), len(thread))
        between = [step[low:high][step[low:high] > 0] for low, high in zip(bounds, bounds[1:] - 1)]
        known = [float(np.median(steps)) if len(steps) else 0.0 for steps in between]
        common = float(np.median([one for one in known if one] or [1.0]))
        usual = np.repeat([one or common for one in known], np.diff(bounds))
    step[last] = np.rint(usual[last]).astype(np.int64)
    longest = np.rint(np.minimum(_LONGEST * usual, 2.0**62)).astype(np.int64)
    ends: NDArray[np.int64] = time + np.minimum(step, longest)
    return ends


def add_weighed(
    recording: Recording,
    frames: tuple[ArrayLike, ArrayLike, ArrayLike],
    threads: ArrayLike,
    stacks: ArrayLike,
    weights: Mapping[str, ArrayLike],
    *,
    scale: float = 1,
    laid: ArrayLike | None = None,
    start: int = 0,
) -> None:
    """Add samples of which only weights are known: a call path is one call, as long as its samples weigh.

    Callees of a call stand side by side, the heaviest first; its own weight is behind them.

    Parameters
    ----------
    recording : Recording
    frames : three columns
        Function, parent and line of each frame, as :meth:`FrameTree.columns` returns them.
    threads : int32 (n,)
        Indices of :meth:`~tracevis3d.trace.recording.Recording.thread`.
    stacks : int32 (n,)
        The innermost frame of each sample; -1 if its stack is empty.
    weights : dict of str to int64 (n,)
        What is weighed, by its name: the first makes the calls. Negative weights count as 0.
    scale : float
        Nanoseconds that one of its unit is laid out as.
    laid : float64 (n,), optional
        Nanoseconds that each is laid out as; the first of ``weights`` times ``scale`` if left out.
    start : int
        Nanoseconds at which the calls begin.
    """
    thread, stack = np.asarray(threads, np.int32), np.asarray(stacks, np.int32)
    function, parent, line = (np.ascontiguousarray(column, np.int32) for column in frames)
    first = _add_frames(recording, (function, parent, line))
    for kind, weight in weights.items():
        recording.add_samples(
            thread=thread,
            kind=np.full(len(thread), recording.text("samples", kind), np.int32),
            weight=weight,
            stack=np.where(stack >= 0, stack + first, -1),
        )
    main = np.asarray(next(iter(weights.values())) if laid is None else laid, np.float64)
    if laid is None:
        main = main * scale
    lay_weights(recording, (function, parent, line), thread, stack, main, start)


def lay_weights(
    recording: Recording,
    frames: tuple[ArrayLike, ArrayLike, ArrayLike],
    threads: ArrayLike,
    stacks: ArrayLike,
    weights: ArrayLike,
    start: int = 0,
) -> None:
    """Add the calls of stacks that weigh something, without samples: see :func:`add_weighed`.

    Parameters
    ----------
    recording : Recording
    frames : three columns
        Function, parent and line of each frame.
    threads : int32 (n,)
        Indices of :meth:`~tracevis3d.trace.recording.Recording.thread`.
    stacks : int32 (n,)
        The innermost frame of each; -1 if it is empty.
    weights : float64 (n,)
        Nanoseconds that they are laid out as. Negative ones count as 0.
    start : int
        Nanoseconds at which the calls begin.
    """
    thread, stack = np.asarray(threads, np.int32), np.asarray(stacks, np.int32)
    function, parent, _ = (np.ascontiguousarray(column, np.int32) for column in frames)
    main = np.maximum(np.asarray(weights, np.float64), 0)
    if too_long(main):
        recording.problems.add("bad time", "the weights add up to more than a time axis can hold", len(main))
        return
    laid = np.rint(main).astype(np.int64)
    merged, above, what = merge_frames(function, parent)
    count = len(above)
    for number in np.unique(thread).tolist():
        mine = (thread == number) & (stack >= 0)
        total = np.zeros(count, np.int64)
        np.add.at(total, merged[stack[mine]], laid[mine])
        kernels.add_to_parents(above, total)
        begin = _side_by_side(above, total)
        kernels.place_below_parents(above, begin)
        begin += start
        shown = np.flatnonzero(total > 0)
        shown = shown[
            np.argsort(begin[shown], kind="stable")
        ]  # callers have smaller numbers: they stay first
        recording.add_events(
            thread=np.full(len(shown), number, np.int32),
            kind=np.full(len(shown), COMPLETE, np.uint8),
            function=what[shown],
            time=begin[shown],
            end=begin[shown] + total[shown],
        )


def _side_by_side(parent: NDArray[np.int32], total: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each frame begins within its parent, the heaviest first."""
    if not len(parent):
        return total.copy()
    order = np.lexsort((-total, parent))
    before = np.cumsum(total[order]) - total[order]
    new = np.append(True, parent[order][1:] != parent[order][:-1])
    base = before[new]
    start = np.empty(len(parent), np.int64)
    start[order] = before - np.repeat(base, np.diff(np.append(np.flatnonzero(new), len(order))))
    return start


def _add_frames(recording: Recording, frames: tuple[ArrayLike, ArrayLike, ArrayLike]) -> int:
    """Add frames; return the number that the first one got."""
    function, parent, line = (np.asarray(column, np.int64) for column in frames)
    first = recording.n_frames
    recording.add_stacks(function=function, parent=np.where(parent >= 0, parent + first, -1), line=line)
    return first
