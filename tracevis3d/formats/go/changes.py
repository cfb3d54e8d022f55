"""What goroutines do from one moment to the next: run, wait, or are ready to run; and who lets them go on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: Reasons that no text of a trace says.
SWITCHED, CREATED_WAITING, UNKNOWN = "coroutine switch", "not started", "waiting since before the recording"


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes of goroutines' states, by goroutine, then as they happened.

    Attributes
    ----------
    numbers : int64 (goroutines,)
        The goroutines' own numbers, ascending.
    first : int64 (goroutines + 1,)
        Each one's first change; the last item is the number of changes.
    time : int64 (n,)
        Nanoseconds.
    byte : int64 (n,)
        Where the event is that says so.
    becomes : uint8 (n,)
        The state from then on (:mod:`.kernels.formats.go.follow`), with flags.
    reason : int32 (n,)
        Of a wait: index of ``reason_of``.
    stack : int32 (n,)
        Where its code was; -1: not recorded.
    by : int32 (n,)
        The goroutine that did it to this one: index of ``place``; -1: itself, or none.
    place : int64 (goroutines,)
        Which of ``numbers`` a goroutine is.
    reasons : list of str
    reason_of : int64 (k,)
        Indices of ``reasons``; -1: it is none.
    last : int
        The latest time of any event.
    """

    numbers: Ints
    first: Ints
    time: Ints
    byte: Ints
    becomes: NDArray[np.uint8]
    reason: NDArray[np.int32]
    stack: NDArray[np.int32]
    by: NDArray[np.int32]
    place: Ints
    reasons: list[str]
    reason_of: Ints
    last: int
