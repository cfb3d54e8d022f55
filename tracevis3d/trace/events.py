"""The events that a reader passes on: in the order of the file, as columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

#: Kinds of an event.
BEGIN, END, COMPLETE = 0, 1, 2


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
