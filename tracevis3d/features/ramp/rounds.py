"""Rounds with their stages: from the calls of a function, or from asynchronous operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError, not_recorded
from ...trace.model import Trace
from ...views.calls.rounds import repeated_function, rounds_of
from ...views.registry import phases

#: With so many names, none of them with this share of the time, a name is an operation's own, not a kind's.
_MANY_NAMES, _KIND, _ANY = 20, 0.2, "all operations"
#: What phases are called as rounds.
PHASES = "the run's phases"

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rounds:
    """The rounds of one run, in the order of their begins, and their stages.

    Attributes
    ----------
    name : str
        What is repeated.
    start, end : int64 (n,)
        Nanoseconds.
    thread : int64 (n,)
    call : int64 (n,)
        -1: the rounds are not calls.
    of : int64 (m,)
        The round of each stage; stages are in the order of rounds, then of time.
    stage_start, stage_end : int64 (m,)
    stage : int64 (m,)
        Index into ``names``.
    stage_call : int64 (m,)
    names : tuple of str
        Of the stages.
    """

    name: str
    start: Ints
    end: Ints
    thread: Ints
    call: Ints
    of: Ints
    stage_start: Ints
    stage_end: Ints
    stage: Ints
    stage_call: Ints
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def duration(self) -> Floats:
        """Nanoseconds of each round."""
        return (self.end - self.start).astype(np.float64)

    def between(self, low: int, high: int) -> Rounds:
        """Return those that are in a window, whole.

        Parameters
        ----------
        low, high : int
            Nanoseconds.

        Returns
        -------
        Rounds
        """
        kept = (self.start < high) & (self.end >= low)
        place = np.cumsum(kept) - 1
        inner = kept[self.of]
        return Rounds(
            self.name, self.start[kept], self.end[kept], self.thread[kept], self.call[kept],
            place[self.of[inner]].astype(np.int64), self.stage_start[inner], self.stage_end[inner],
            self.stage[inner], self.stage_call[inner], self.names,
        )  # fmt: skip


def find_rounds(trace: Trace, by: str, repeated: str) -> Rounds:
    """Return the rounds of a trace.

    Parameters
    ----------
    trace : Trace
    by : str
        ``calls``, ``phases``, ``spans``, or ``auto``: calls where there are any.
    repeated : str
        The name of the function, of the operations, or of what phases do; empty: the program chooses.

    Returns
    -------
    Rounds

    Raises
    ------
    InputError
        If the trace has neither calls nor operations.
    UsageError
        If nothing is called so, or nothing is repeated.
    """
    if by == "auto":
        by = "calls" if len(trace.calls) else "spans"
    if by == "phases" and len(trace.calls):
        return _of_phases(trace, repeated)
    if by == "spans":
        return _of_spans(trace, repeated)
    if not len(trace.calls):
        raise not_recorded(trace.source.path, "calls")
    return _of_calls(trace, repeated_function(trace, repeated))


def _of_calls(trace: Trace, function: int) -> Rounds:
    calls = trace.calls
    which = rounds_of(trace, function)
    number = np.full(len(calls), -1, np.int64)
    number[which] = np.arange(len(which))
    inner = np.flatnonzero(calls.parent >= 0)
    inner = inner[number[calls.parent[inner]] >= 0]
    of = number[calls.parent[inner]]
    order = np.lexsort((calls.start[inner], of))
    inner, of = inner[order], of[order]
    used, stage = np.unique(calls.function[inner], return_inverse=True)
    return Rounds(
        trace.functions.label[function], calls.start[which], calls.end[which],
        calls.thread[which].astype(np.int64), which, of, calls.start[inner], calls.end[inner],
        stage.astype(np.int64), inner, tuple(trace.functions.label[f] for f in used.tolist()),
    )  # fmt: skip


def _of_phases(trace: Trace, repeated: str) -> Rounds:
    """Return the phases of a run; their stages are the outermost calls that lie within them."""
    calls, found = trace.calls, phases(trace)
    which = np.arange(len(found.start))
    if repeated.strip() and repeated != PHASES:
        which = np.flatnonzero(np.array(found.does, object) == repeated)
        if not len(which):
            known = ", ".join(dict.fromkeys(filter(None, found.does))) or "none has a typical function"
            raise UsageError(f"repeated={repeated}: no phase does this: {known}")
    if not len(which):
        raise UsageError("by=phases: the run has no phases: take by=calls")
    start, end = found.start[which], np.maximum(found.end, found.start)[which]
    time = np.bincount(calls.thread, ((calls.end - calls.start) * (calls.depth == 1)).astype(np.float64))
    busiest = int(np.argmax(time))
    phase = np.searchsorted(start, calls.start, "right") - 1
    last = end[np.maximum(phase, 0)]
    inside = (phase >= 0) & (calls.end <= last) & (calls.thread == busiest)
    above = np.maximum(calls.parent, 0)
    outer = inside & ~((calls.parent >= 0) & inside[above] & (phase[above] == phase))
    inner = np.flatnonzero(outer)
    inner = inner[np.lexsort((calls.start[inner], phase[inner]))]
    used, stage = np.unique(calls.function[inner], return_inverse=True)
    return Rounds(
        repeated.strip() or PHASES, start, end, np.full(len(which), busiest, np.int64),
        np.full(len(which), -1, np.int64), phase[inner].astype(np.int64),
        calls.start[inner], calls.end[inner], stage.astype(np.int64), inner.astype(np.int64),
        tuple(trace.functions.label[f] for f in used.tolist()),
    )  # fmt: skip


def _of_spans(trace: Trace, repeated: str) -> Rounds:
    spans = trace.spans
    if not len(spans):
        raise not_recorded(trace.source.path, "asynchronous operations")
    outer = np.flatnonzero(spans.parent < 0)
    if repeated.strip():
        hits = [i for i in range(len(spans.names)) if spans.names[i] == repeated]
        if not hits:
            raise UsageError(f"repeated={repeated}: no operation has this name")
        which, said = np.flatnonzero(np.isin(spans.name, hits)), repeated
    else:
        many = np.bincount(spans.name[outer], minlength=len(spans.names))
        time = np.bincount(
            spans.name[outer], (spans.end - spans.start)[outer].astype(np.float64), len(spans.names)
        )
        top = int(np.argmax(np.where(many >= 2, time + 1.0, 0.0)))
        # Where each has a name of its own, as instructions have, all of them are rounds.
        is_one_kind = np.count_nonzero(many) < _MANY_NAMES or time[top] >= _KIND * time.sum()
        which = outer[spans.name[outer] == top] if is_one_kind else outer
        said = spans.names[top] if is_one_kind else _ANY
    which = which[np.argsort(spans.start[which], kind="stable")]
    number = np.full(len(spans), -1, np.int64)
    number[which] = np.arange(len(which))
    inner = np.flatnonzero(spans.parent >= 0)
    inner = inner[number[spans.parent[inner]] >= 0]
    of = number[spans.parent[inner]]
    order = np.lexsort((spans.start[inner], of))
    inner, of = inner[order], of[order]
    used, stage = np.unique(spans.name[inner], return_inverse=True)
    none = np.full(len(which), -1, np.int64)
    return Rounds(
        said, spans.start[which], spans.end[which],
        spans.thread[which].astype(np.int64), none, of, spans.start[inner], spans.end[inner],
        stage.astype(np.int64), np.full(len(inner), -1, np.int64),
        tuple(spans.names[int(n)] for n in used.tolist()),
    )  # fmt: skip


def joined(rounds: Rounds, stage: Ints, least: Floats) -> tuple[Ints, Ints]:
    """Join stages of one kind that follow each other closely.

    Parameters
    ----------
    rounds : Rounds
    stage : int64 (m,)
        The kind of each.
    least : float64 (m,)
        Nanoseconds: gaps below this are joined.

    Returns
    -------
    (int64 (k,), int64 (k,))
        The first stage of each run, and the one behind its last.
    """
    m = len(stage)
    new = np.ones(m, np.bool_)
    gap = rounds.stage_start[1:] - rounds.stage_end[:-1]
    new[1:] = (rounds.of[1:] != rounds.of[:-1]) | (stage[1:] != stage[:-1]) | (gap >= least[1:])
    first = np.flatnonzero(new)
    return first, np.append(first[1:], m).astype(np.int64)
