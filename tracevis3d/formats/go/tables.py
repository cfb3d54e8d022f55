"""The events, texts and stacks of an execution trace of Go, whichever version wrote it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.scan import go as kernels
from ...trace.problems import Problems
from ..distinct import chosen, distinct, numbered

Ints = NDArray[np.int64]

#: Numbers of texts and stacks are below this.
_MOST = 1 << 44
#: Times are below this, nanoseconds.
_LATEST = 1 << 61
#: Kinds of events that say how long a tick is, by whether the trace is of Go 1.21 or before.
_FREQUENCY = {False: 8, True: 2}
_SNAPSHOT = 51
#: Kinds with a time of their own, until Go 1.21, and the column that has it.
_OLD_LATE = {29: kernels.C, 40: kernels.B}


@dataclass(frozen=True, eq=False)
class Tables:
    """What a trace contains.

    Attributes
    ----------
    is_old : bool
        Whether Go 1.21 or before wrote it.
    at : int64 (n,)
        The byte of each event; they are ordered by what wrote them, then as they were written.
    generation, stream : int64 (n,)
        Of each event: the part of the trace, and what wrote it (a thread, or a processor of Go's).
    time : int64 (n,)
        Nanoseconds.
    kind : int64 (n,)
    said : int64 (5, n)
        What each event says.
    texts : list of str
    functions, files, lines : int64 (frames,)
        Frames of stacks, the innermost of each first: indices of texts (-1: none), and lines.
    first, many : int64 (stacks,)
        The frames of each stack.
    """

    is_old: bool
    at: Ints
    generation: Ints
    stream: Ints
    time: Ints
    kind: Ints
    said: Ints
    texts: list[str]
    functions: Ints
    files: Ints
    lines: Ints
    first: Ints
    many: Ints
    _text_of: _Numbers
    _stack_of: _Numbers

    def text(self, events: Ints, column: int) -> Ints:
        """Return the texts that events name.

        Parameters
        ----------
        events : int64 (k,)
        column : int
            Of what they say.

        Returns
        -------
        int64 (k,)
            Indices; -1 if there is no such text.
        """
        return self._text_of.find(self.generation[events], self.said[column, events])

    def stack(self, events: Ints, column: int) -> Ints:
        """Return the stacks that events name.

        Parameters
        ----------
        events : int64 (k,)
        column : int
            Of what they say.

        Returns
        -------
        int64 (k,)
            Indices; -1 if there is none.
        """
        return self._stack_of.find(self.generation[events], self.said[column, events])


class _Numbers:
    """Finds rows by generation and number; of equal ones the last counts."""

    def __init__(self, generation: Ints, number: Ints) -> None:
        self._generations = np.unique(generation)
        fits = (number > -_MOST) & (number < _MOST)
        key = self._key(generation, number)
        order = np.flatnonzero(fits)[np.argsort(key[fits], kind="stable")]
        self._keys, self._rows = key[order], order

    def _key(self, generation: Ints, number: Ints) -> Ints:
        return np.asarray(np.searchsorted(self._generations, generation) * (2 * _MOST) + number)

    def find(self, generation: Ints, number: Ints) -> Ints:
        """Return the row of each; -1 if there is none."""
        if not len(self._rows) or not len(number):
            return np.full(len(number), -1, np.int64)
        parts, part = distinct(generation)
        place = np.searchsorted(self._generations, parts)
        is_known = self._generations[np.minimum(place, len(self._generations) - 1)] == parts
        # Above all keys, so that it is none of them.
        begin = np.where(is_known, place, len(self._generations)) * (2 * _MOST)
        fits = (number > -_MOST) & (number < _MOST)
        # Few different ones are named again and again.
        keys, of = numbered(begin[part] + np.where(fits, number, _MOST))
        at = np.searchsorted(self._keys, keys, side="right") - 1
        found = np.maximum(at, 0)
        return np.where((at >= 0) & (self._keys[found] == keys), self._rows[found], -1)[of]


def tables_of(data: memoryview, begin: int, problems: Problems, *, is_old: bool) -> Tables:
    """Return what a trace contains.

    Parameters
    ----------
    data : memoryview
        All of it.
    begin : int
        Behind its header.
    problems : Problems
        Gets what is damaged.
    is_old : bool
        Whether Go 1.21 or before wrote it.

    Returns
    -------
    Tables
    """
    # Always read-only, like a mapped file: kernels are compiled for one type.
    column = np.frombuffer(data.toreadonly(), np.uint8)
    state = np.zeros(kernels.STATE_SIZE, np.int64)
    out = _room([0] * 4)
    _scan(column, begin, True, state, out, is_old=is_old)
    counts = state[[kernels.EVENTS, kernels.STRINGS, kernels.STACKS, kernels.FRAMES]].tolist()
    out = _room(counts)
    state[:] = 0
    _scan(column, begin, False, state, out, is_old=is_old)
    problems.add("malformed", f"byte {state[kernels.BYTE]:,}", int(state[kernels.DAMAGED]))
    problems.add("unsupported", f"byte {state[kernels.STRANGE_BYTE]:,}", int(state[kernels.STRANGE]))
    if state[kernels.CUT]:
        problems.add("truncated", f"byte {int(state[kernels.CUT]) - 1:,}")
    events, strings, stacks, frames = out
    is_timed = _in_nanoseconds(events, problems, is_old=is_old)
    order = _by_batches(events)
    events = chosen(events, order if is_timed.all() else order[is_timed[order]])
    texts = [
        str(data[low : low + length], "utf-8", "replace")
        for low, length in strings[:, 2:].tolist()
    ]  # fmt: skip
    text_of = _Numbers(strings[:, 0], strings[:, 1])
    generation = np.repeat(stacks[:, 0], stacks[:, 3])
    return Tables(
        is_old=is_old,
        at=events[kernels.AT],
        generation=events[kernels.GENERATION],
        stream=events[kernels.STREAM],
        time=events[kernels.TIME],
        kind=events[kernels.KIND],
        said=events[kernels.A :],
        texts=texts,
        functions=text_of.find(generation, frames[:, 0]),
        files=text_of.find(generation, frames[:, 1]),
        lines=np.where((frames[:, 2] > 0) & (frames[:, 2] < 1 << 31), frames[:, 2], 0),
        first=stacks[:, 2],
        many=stacks[:, 3],
        _text_of=text_of,
        _stack_of=_Numbers(stacks[:, 0], stacks[:, 1]),
    )


def _room(counts: list[int]) -> list[Ints]:
    """Return tables to be filled: columns of events lie together, as do rows of all others."""
    events, *others = counts
    tables = [np.empty((kernels.EVENT_COLUMNS, events), np.int64)]
    return tables + [
        np.empty((count, columns), np.int64) for count, columns in zip(others, _COLUMNS, strict=True)
    ]


_COLUMNS = kernels.TEXT_COLUMNS, kernels.STACK_COLUMNS, kernels.FRAME_COLUMNS


def _scan(
    data: NDArray[np.uint8], begin: int, is_dry: bool, state: Ints, out: list[Ints], *, is_old: bool
) -> None:
    if is_old:
        kernels.scan_old_go(data, begin, is_dry, state, *out)
    else:
        kernels.scan_go(data, begin, kernels.ARGUMENTS, is_dry, state, *out)


def _in_nanoseconds(events: Ints, problems: Problems, *, is_old: bool) -> NDArray[np.bool_]:
    """Make ticks nanoseconds, and return which events have a time.

    A generation without a frequency uses another's.
    """
    kind, generation = events[kernels.KIND], events[kernels.GENERATION]
    is_frequency = kind == _FREQUENCY[is_old]
    says = np.flatnonzero(is_frequency)
    says = says[events[kernels.A, says] > 0]
    timed = ~is_frequency if is_old else ~(is_frequency | (kind == _SNAPSHOT))
    if not len(says):
        if timed.any():
            problems.add("malformed", "no event says how long a tick is: one is read as 1 ns", 1)
        numbers, factor = np.zeros(1, np.int64), np.ones(1)
    else:
        numbers, first = np.unique(generation[says], return_index=True)
        factor = 1e9 / events[kernels.A, says][first].astype(np.float64)
    if is_old:
        # The end of a system call is written when a processor is there again, with the time when it was over.
        for which, column in _OLD_LATE.items():
            late = (kind == which) & (events[column] != 0)
            events[kernels.TIME, late] = events[column, late]
    mine = np.minimum(np.searchsorted(numbers, events[kernels.GENERATION]), len(numbers) - 1)
    # In two parts: a product of 2**53 and more would lose nanoseconds.
    time = events[kernels.TIME]
    base = int(time.min(initial=_LATEST, where=timed & (time >= 0)))
    span = (time - base).astype(np.float64) * factor[mine]
    start = float(base) * factor[mine]
    good = (time >= 0) & (span + start < _LATEST)
    bad = timed & ~good
    time[:] = np.rint(np.where(good, span, 0)) + np.rint(np.where(good, start, 0))
    problems.add(
        "bad time",
        f"byte {events[kernels.AT, int(np.argmax(bad))]:,}" if len(bad) else "",
        int(bad.sum()),
    )
    kept: NDArray[np.bool_] = good & timed
    return kept


def _by_batches(events: Ints) -> Ints:
    """Return the order of events by stream, generation and time of their batches."""
    batch = [events[column] for column in (kernels.BATCH_TIME, kernels.GENERATION, kernels.STREAM)]
    new = np.zeros(events.shape[1], np.bool_)
    new[:1] = True
    for column in batch:
        new[1:] |= column[1:] != column[:-1]
    first = np.flatnonzero(new)
    # There are few batches: events stay together.
    runs = np.lexsort([column[first] for column in batch])
    many = np.diff(np.append(first, len(new)))[runs]
    order: Ints = np.repeat(first[runs] - np.cumsum(many) + many, many) + np.arange(len(new))
    return order
