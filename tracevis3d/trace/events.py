"""The events that a reader passes on: in the order of the file, as columns; and those of sampled stacks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.formats.lay.stacks import count_stack_events, lay_stacks

#: Kinds of an event.
BEGIN, END, COMPLETE = 0, 1, 2
#: Times must stay below this.
_LIMIT = float(1 << 62)


@dataclass(frozen=True, eq=False)
class Events:
    """Begin, end and complete events of all threads, in the order of the file.

    Attributes
    ----------
    thread : int32 (n,)
    kind : uint8 (n,)
        BEGIN, END or COMPLETE.
    function : int32 (n,)
        Index of the function's name; -1 for an END that names none.
    time : int64 (n,)
        Recorded nanoseconds (not yet from the trace's start).
    end : int64 (n,)
        When a COMPLETE event ends; not read for the others.
    record : int64 (n,) or (0,)
        Byte offset of the record in the unpacked source if it has arguments, else -1; empty if none has.
    """

    thread: NDArray[np.int32]
    kind: NDArray[np.uint8]
    function: NDArray[np.int32]
    time: NDArray[np.int64]
    end: NDArray[np.int64]
    record: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def __len__(self) -> int:
        return len(self.thread)


class StackEvents(NamedTuple):
    """Begin and end events, as :meth:`.recording.Recording.add_events` takes them; one row per event."""

    thread: NDArray[np.int32]
    kind: NDArray[np.uint8]
    function: NDArray[np.int32]
    time: NDArray[np.int64]


def events_of_stacks(
    thread: NDArray[np.int32],
    first: NDArray[np.int64],
    frame: NDArray[np.int32],
    weight: NDArray[np.int64],
    begin: NDArray[np.int64],
) -> StackEvents:
    """Turn stacks into events: a call lasts as long as its place in the stack stays the same.

    Parameters
    ----------
    thread : int32 (n,)
    first : int64 (n + 1,)
        Stack ``i`` is ``frame[first[i]:first[i + 1]]``, root first.
    frame : int32 (m,)
        Functions.
    weight : int64 (n,)
        Nanoseconds that a stack lasts; not negative.
    begin : int64 (threads,)
        When the first stack of a thread starts.

    Returns
    -------
    StackEvents
    """
    order = np.argsort(thread, kind="stable")
    count = count_stack_events(order, thread, first, frame)
    events = StackEvents(
        np.empty(count, np.int32),
        np.empty(count, np.uint8),
        np.empty(count, np.int32),
        np.empty(count, np.int64),
    )
    lay_stacks(order, thread, first, frame, weight, begin, *events)
    return events


def too_long(weight: NDArray[np.int64], begin: float = 0.0) -> bool:
    """Whether the sum of the weights leaves the range of times (146 years).

    Parameters
    ----------
    weight : int64 (n,)
        Nanoseconds.
    begin : float
        Nanoseconds at which the first begins.

    Returns
    -------
    bool
    """
    return bool(abs(begin) + np.sum(weight, dtype=np.float64) >= _LIMIT)
