"""What is taken of a flight recording, and the samples, waits and calls that are made of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....trace.events import BEGIN
from ....trace.model import IO, WAIT
from ....trace.recording import Recording
from ...distinct import places_among
from ..samples import COUNTED, add_timed

#: What a hidden class's name ends with: a number, its address, and a number by the JDK.
_HIDDEN = re.compile(r"(?:\$\d+)?[+/.]0x[0-9a-f]+(?:[/.]\d+)?$")

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
        #: Thread, stack, time, end, kind, weight, whether it makes calls, and a wait's function; -1: none.
        self._rows: list[tuple[NDArray[np.int64], ...]] = []
        #: Of waits and transfers: thread, kind, name, start, end, whether it blocked, holder and object.
        self._waits: list[tuple[NDArray[np.int64], ...]] = []
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
            The stack of each, as :meth:`lay` is given them; -1: none.
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
        sort, end, laid, leaf = np.full(n, kind.sample), np.full(n, -1), np.ones(n, np.int64), np.full(n, -1)
        if kind.what == ALLOCATION:
            sort[:], laid[:] = _ALLOCATED, 0
        elif kind.what != SAMPLE:
            sort[:], weight, end = _WAITING, lasts, time + lasts
            leaf[:] = recording.function(kind.name)
            objects = [*(recording.text("objects", what) if what else -1 for what in about), -1]
            self._waits.append(
                (
                    thread,
                    np.full(n, WAIT if kind.what == WAITS else IO),
                    np.full(n, recording.text("sync", kind.name)),
                    time,
                    end,
                    np.full(n, 1 if type == "jdk.JavaMonitorEnter" else -1),
                    np.asarray(holder, np.int64),
                    np.array(objects)[np.asarray(which, np.int64)],
                )
            )
        self._rows.append((thread, stack, time, end, sort, np.maximum(weight, 0), laid, leaf))

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
        thread, stack, time, end, kind, weight, laid, leaf = map(
            np.concatenate, zip(*self._rows, strict=True)
        )
        # Where several clocks drive samples, one of them makes the calls.
        samples = [number for number in (0, 3, 4) if (kind == number).any()]
        for number in samples[1:]:
            laid[kind == number] = 0
        function, parent, line = (np.asarray(column, np.int64) for column in frames)
        inner = np.where(stack >= 0, np.append(stacks, -1)[stack], -1).astype(np.int64)
        # A wait is a call of its own, within the function that waits.
        rows = np.flatnonzero(leaf >= 0)
        pairs, which = np.unique(np.stack([inner[rows], leaf[rows]], axis=1), axis=0, return_inverse=True)
        inner[rows] = len(function) + which.reshape(-1)
        frames = (
            np.append(function, pairs[:, 1]),
            np.append(parent, pairs[:, 0]),
            np.append(line, np.zeros(len(pairs), np.int64)),
        )
        first, events = add_timed(
            self._recording, frames, thread, inner, time, end=end,
            kinds=_KINDS[: max(3, int(kind.max()) + 1)], kind=kind, weight=weight, laid=laid, as_events=True,
        )  # fmt: skip
        if len(rows):
            event = _begins(events, np.unique(leaf[rows]), thread[rows], time[rows])
            event[_is_cut(thread, time, end, laid)[rows]] = -1
            who, sort, name, start, stop, contended, holder, object = map(
                np.concatenate, zip(*self._waits, strict=True)
            )
            self._recording.add_sync(
                thread=who, kind=sort, name=name, start=start, end=stop, contended=contended, holder=holder,
                object=object, event=np.where(event >= 0, first + event, -1),
            )  # fmt: skip


def _begins(
    events: Sequence[NDArray[Any]],
    functions: NDArray[np.int64],
    thread: NDArray[np.int64],
    time: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return which event begins a call of one of the functions on each thread and time; -1: none does."""
    of_thread, kind, function, when = events
    begins = np.flatnonzero((kind == BEGIN) & np.isin(function, functions))
    times = np.unique(time)
    place = np.searchsorted(times, when[begins])
    is_one = times[np.minimum(place, len(times) - 1)] == when[begins]
    begins, place = begins[is_one], place[is_one]
    keys = of_thread[begins].astype(np.int64) * len(times) + place
    found = places_among(thread * len(times) + np.searchsorted(times, time), keys)
    return np.where(found >= 0, np.append(begins, -1)[found], -1)


def _is_cut(
    thread: NDArray[np.int64], time: NDArray[np.int64], end: NDArray[np.int64], laid: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which rows last longer than to the next one of their thread that makes calls."""
    keep = np.flatnonzero(laid)
    order = keep[np.lexsort((time[keep], thread[keep]))]
    is_cut = np.zeros(len(thread), np.bool_)
    same = thread[order][1:] == thread[order][:-1]
    is_cut[order[:-1]] = same & (time[order][1:] < end[order][:-1])
    return is_cut


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

    Where a hidden class lies, such as that of a lambda, and how many there were before, each run says anew.

    Parameters
    ----------
    inside : str
        The class, with dots or strokes; may be empty.
    name : str

    Returns
    -------
    str
    """
    name, inside = name or "(unnamed)", _HIDDEN.sub("", inside)
    return f"{inside.replace('/', '.')}.{name}" if inside else name
