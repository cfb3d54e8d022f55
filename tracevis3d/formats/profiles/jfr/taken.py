"""What is taken of a flight recording, and the samples, waits and calls that are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....trace.model import IO, WAIT
from ....trace.recording import Recording
from ..samples import COUNTED, add_timed

#: What events become.
SAMPLE, ALLOCATION, WAITS, TRANSFER, COLLECTION = range(5)
#: The thread of what happens on none.
NO_THREAD = "virtual machine"
#: Nanoseconds: the maximum of times and durations.
LATEST = 1 << 61
_KINDS = (COUNTED, "waiting (ns)", "allocated (bytes)", "samples of CPU time", "samples of wall-clock time")
_WAITING, _ALLOCATED = 1, 2


class Kind(NamedTuple):
    """A type of events that is taken.

    Attributes
    ----------
    what : int
        What it becomes.
    name : str
        Of the wait or the transfer.
    weight : str
        The field with what it weighs; empty: 1.
    about : str
        The field with what is waited for, read, written, or why is collected.
    thread : str
        The field with its thread.
    sample : int
        Of samples: their kind.
    """

    what: int
    name: str = ""
    weight: str = ""
    about: str = ""
    thread: str = "eventThread"
    sample: int = 0


#: By the name of the type; the last of the samples are async-profiler's.
TYPES = {
    "jdk.ExecutionSample": Kind(SAMPLE, thread="sampledThread"),
    "jdk.NativeMethodSample": Kind(SAMPLE, thread="sampledThread"),
    "jdk.CPUTimeSample": Kind(SAMPLE, sample=3),
    "profiler.WallClockSample": Kind(SAMPLE, weight="samples", thread="sampledThread", sample=4),
    "jdk.ObjectAllocationSample": Kind(ALLOCATION, weight="weight"),
    "jdk.ObjectAllocationInNewTLAB": Kind(ALLOCATION, weight="tlabSize"),
    "jdk.ObjectAllocationOutsideTLAB": Kind(ALLOCATION, weight="allocationSize"),
    "jdk.JavaMonitorEnter": Kind(WAITS, "monitor enter", about="monitorClass"),
    "jdk.JavaMonitorWait": Kind(WAITS, "monitor wait", about="monitorClass"),
    "jdk.ThreadPark": Kind(WAITS, "park", about="parkedClass"),
    "jdk.ThreadSleep": Kind(WAITS, "sleep"),
    "jdk.FileRead": Kind(TRANSFER, "file read", about="path"),
    "jdk.FileWrite": Kind(TRANSFER, "file write", about="path"),
    "jdk.SocketRead": Kind(TRANSFER, "socket read", about="host"),
    "jdk.SocketWrite": Kind(TRANSFER, "socket write", about="host"),
    "jdk.GarbageCollection": Kind(COLLECTION, about="cause"),
    "jdk.GCPhasePause": Kind(COLLECTION, about="name"),
}


class Taken:
    """Gathers events, and gives them to a recording.

    Parameters
    ----------
    recording : Recording
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._rows: list[tuple[NDArray[np.int64], ...]] = []
        self._found = 0

    def add(
        self,
        type: str,
        thread: ArrayLike,
        stack: ArrayLike,
        time: ArrayLike,
        *,
        lasts: ArrayLike,
        weight: ArrayLike,
        about: Sequence[str],
        which: ArrayLike,
        holder: ArrayLike,
    ) -> None:
        """Add events of a type.

        Parameters
        ----------
        type : str
            Of :data:`TYPES`.
        thread : int (n,)
            Indices of :meth:`~tracevis3d.trace.recording.Recording.thread`.
        stack : int (n,)
            The stack of each, as :meth:`lay` is told about them; -1: none.
        time, lasts : int (n,)
            Nanoseconds.
        weight : int (n,)
        about : sequence of str
            What is waited for, or why.
        which : int (n,)
            What of it each is about; -1: nothing.
        holder : int (n,)
            The thread that held the monitor; -1 if unknown.
        """
        recording, kind = self._recording, TYPES[type]
        thread, stack, time, lasts, weight = (
            np.asarray(one, np.int64) for one in (thread, stack, time, lasts, weight)
        )
        n = len(time)
        self._found += n
        if kind.what == COLLECTION:
            names = [recording.text("instants", f"garbage collection: {text}") for text in (*about, "pause")]
            recording.add_instants(name=np.array(names)[np.asarray(which)], thread=thread, time=time)
            return
        sort, end, laid = np.full(n, kind.sample), np.full(n, -1), np.ones(n, np.int64)
        if kind.what == ALLOCATION:
            sort[:], laid[:] = _ALLOCATED, 0
        elif kind.what != SAMPLE:
            sort[:], weight, end = _WAITING, lasts, time + lasts
            self._add_waits(type, thread, time, end, about, np.asarray(which, np.int64), holder)
        self._rows.append((thread, stack, time, end, sort, np.maximum(weight, 0), laid))

    def _add_waits(
        self,
        type: str,
        thread: NDArray[np.int64],
        time: NDArray[np.int64],
        end: NDArray[np.int64],
        about: Sequence[str],
        which: NDArray[np.int64],
        holder: ArrayLike,
    ) -> None:
        kind, text, n = TYPES[type], self._recording.text, len(time)
        self._recording.add_sync(
            thread=thread,
            kind=np.full(n, WAIT if kind.what == WAITS else IO),
            name=np.full(n, text("sync", kind.name)),
            start=time,
            end=end,
            contended=np.full(n, 1 if type == "jdk.JavaMonitorEnter" else -1),
            holder=holder,
            object=np.array([*(text("objects", what) if what else -1 for what in about), -1])[which],
        )

    def lay(self, stacks: NDArray[np.int32], frames: tuple[ArrayLike, ArrayLike, ArrayLike]) -> None:
        """Add samples and the calls that they make.

        Parameters
        ----------
        stacks : int32 (stacks,)
            The innermost frame of each stack; -1 if it is empty.
        frames : three columns
            Function, parent and line of each frame.

        Raises
        ------
        ValueError
            If there is nothing.
        """
        if not self._found:
            raise ValueError("it has no samples, waits, I/O, allocations or collections")
        if not self._rows:
            return
        thread, stack, time, end, kind, weight, laid = map(np.concatenate, zip(*self._rows, strict=True))
        # Where several clocks drive samples, one of them makes the calls.
        samples = [number for number in (0, 3, 4) if (kind == number).any()]
        for number in samples[1:]:
            laid[kind == number] = 0
        add_timed(
            self._recording, frames, thread,
            np.where(stack >= 0, np.append(stacks, -1)[stack], -1), time, end=end,
            kinds=_KINDS[: max(3, int(kind.max()) + 1)], kind=kind, weight=weight, laid=laid,
        )  # fmt: skip


def named(what: str, address: int) -> str:
    """Return the name of what is waited for: of a class, and the address that tells its objects apart.

    Parameters
    ----------
    what : str
        The class, with dots or strokes.
    address : int
        0: unknown.

    Returns
    -------
    str
    """
    what = what.replace("/", ".")
    return f"{what} @{address:x}" if what and address else what


def method(inside: str, name: str) -> str:
    """Return the name of a function: that of its class, and its own.

    Parameters
    ----------
    inside : str
        The class, with dots or strokes; may be empty.
    name : str

    Returns
    -------
    str
    """
    name = name or "(unnamed)"
    return f"{inside.replace('/', '.')}.{name}" if inside else name
