"""Runs a native program under the interposer, and writes or publishes what it allocates."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, UsageError
from ..live.endpoint import Keys
from ..live.publisher import Publisher
from ..live.recorded import announce_frames
from ..record.memory.blocks import frames_line, lost_line, memory_line
from ..record.output.helper import Feed
from ..record.output.json_file import JsonFile
from .build import library
from .ring import ALLOC, EVENT, EXEC, FREE, Ring
from .symbols import Symbols

Events = NDArray[np.void]

#: Seconds between two looks at the ring, and between two samples of the resident memory.
_EVERY, _SAMPLE = 0.01, 0.05
#: Number of events after which more are expected.
_MANY = 1 << 16
#: Seconds after which an incomplete event is left out.
_PATIENCE = 1.0
#: Rows beyond twice the last number of live blocks after which live blocks are computed again.
_LATELY = 1 << 16


@dataclass(frozen=True)
class Options:
    """The settings of a recording, and its destination.

    Attributes
    ----------
    path : str
        Chrome JSON; empty: none.
    feed : Feed or None
    accesses : bool
        Accesses, sampled by page protection.
    quiet : bool
    """

    path: str = ""
    feed: Feed | None = None
    accesses: bool = False
    quiet: bool = False


def run(program: Sequence[str], options: Options) -> int:
    """Run a program; return its exit status, negative for the signal that ended it.

    Parameters
    ----------
    program : sequence of str
        The program and its arguments.
    options : Options

    Returns
    -------
    int

    Raises
    ------
    UsageError
        If there is no such program, or the feed can't be published.
    InputError
        If the file can't be written, or the program can't be recorded.
    """
    sinks: list[_File | _Live] = []
    if options.path:
        try:
            sinks.append(_File(options.path, os.path.basename(program[0])))
        except OSError as error:
            raise InputError(f"{options.path}: can't be written: {error.strerror or error}") from error
    interposer = library()
    ring = Ring(access_us=20_000 if options.accesses else 0)
    try:
        if options.feed is not None:
            live = _Live(options.feed, os.path.basename(program[0]))
            sinks.append(live)
            _say(options, f"live at {live.publisher.endpoint}")
        before = os.environ.get("LD_PRELOAD", "")
        environment = {
            **os.environ,
            "LD_PRELOAD": f"{interposer}:{before}" if before else str(interposer),
            "TRACEVIS3D_RING": ring.path,
        }
        try:
            process = subprocess.Popen(program, env=environment)
        except OSError as error:
            raise UsageError(f"{program[0]}: can't be started: {error.strerror or error}") from error
        recorder = _Recorder(ring, process.pid, sinks)
        with _signals_for(process):
            while process.poll() is None:
                if recorder.step() < _MANY:
                    time.sleep(_EVERY)
        recorder.step(last=True)
    finally:
        ring.close()
        said = [sink.close() for sink in sinks]
    if not ring.process:
        raise InputError(
            f"{program[0]}: nothing was recorded, as programs that are linked statically, or that run with "
            "the rights of another user, don't load the interposer: link it dynamically, and run it as "
            "its own user"
        )
    lost = f", {ring.dropped:,} events dropped because they came too fast" if ring.dropped else ""
    for sink, sentence in zip(sinks, said, strict=True):
        if sink.failed:
            sys.stderr.write(f"tracevis3d: {sentence}\n")
        else:
            _say(
                options, f"{sentence}: {recorder.allocations:,} allocations, {recorder.events:,} events{lost}"
            )
    return int(process.returncode)


def end_like(status: int) -> None:
    """End this process as the recorded one has ended."""
    if status >= 0:
        sys.exit(status)
    with contextlib.suppress(OSError, ValueError):
        # One core is enough.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):  # there is none to set for SIGKILL
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)


def _say(options: Options, text: str) -> None:
    if not options.quiet:
        sys.stderr.write(f"tracevis3d: {text}\n")


@contextlib.contextmanager
def _signals_for(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave the terminal's signals to the program, and pass on those that are sent to us."""

    def pass_on(number: int, frame: FrameType | None) -> None:
        process.send_signal(number)

    ours = {signal.SIGINT: signal.SIG_IGN, signal.SIGQUIT: signal.SIG_IGN}
    before: dict[Any, Any] = {number: signal.signal(number, what) for number, what in ours.items()}
    for number in (signal.SIGTERM, signal.SIGHUP):
        before[number] = signal.signal(number, pass_on)
    try:
        yield
    finally:
        for number, what in before.items():
            signal.signal(number, what)


class _Recorder:
    """Empties the ring into the sinks, and names call sites before they are used.

    Attributes
    ----------
    events, allocations : int
        How many there were.
    """

    def __init__(self, ring: Ring, process: int, sinks: list[_File | _Live]) -> None:
        self._ring, self._process, self._sinks = ring, process, sinks
        self._symbols = Symbols(self._maps)
        self._image = 0
        self._frames: dict[tuple[str, int, int], int] = {}
        self._frame_of_stack: NDArray[np.int32] = np.full(1 << 10, -2, np.int32)
        self._threads: dict[int, str] = {}
        self._living = _Living()
        self._stuck = self._sampled = 0.0
        self._dropped = 0
        self.events = self.allocations = 0
        for sink in sinks:
            sink.begin(process, self._living)

    def step(self, last: bool = False) -> int:
        """Take what has come; return how many events."""
        for sink in self._sinks:
            sink.tick()
        events = self._ring.take()
        now = time.monotonic()
        if len(events):
            self._stuck = 0.0
        elif (self._stuck or now) + _PATIENCE < now:
            self._ring.skip()
            self._stuck = 0.0
        else:
            self._stuck = self._stuck or now
        if now - self._sampled > _SAMPLE or last:
            self._sampled = now
            self._sample()
        if not len(events):
            return 0
        kind = events["what"] & 255
        gone = np.flatnonzero(kind == EXEC)
        low = 0
        for at in gone.tolist():
            self._hand_over(events[low:at])
            self._replaced(int(events["time"][at]), int(events["thread"][at]))
            low = at + 1
        self._hand_over(events[low:])
        return len(events)

    def _hand_over(self, events: Events) -> None:
        if not len(events):
            return
        kind, stack = (events["what"] & 255).astype(np.uint8), (events["what"] >> 8).astype(np.int64)
        self.events += len(events)
        self.allocations += int(np.count_nonzero(kind == ALLOC))
        self._name_stacks(stack)
        for thread in np.unique(events["thread"]).tolist():
            if thread not in self._threads:
                self._threads[thread] = _line_of(f"/proc/{self._process}/task/{thread}/comm")
                for sink in self._sinks:
                    sink.thread(thread, self._threads[thread])
        before, self._dropped = self._dropped, self._ring.dropped
        columns = {
            "kind": kind, "thread": events["thread"], "time": events["time"].astype(np.int64),
            "address": events["address"], "size": np.minimum(events["size"], 1 << 62).astype(np.int64),
            "stack": np.where(stack > 0, self._frame_of_stack[stack], -1).astype(np.int32),
        }  # fmt: skip
        for sink in self._sinks:
            sink.rows(columns, self._dropped - before)
        # After the sinks: a feed sends new viewers what lived before these rows.
        self._living.add(columns)

    def _name_stacks(self, stack: NDArray[np.int64]) -> None:
        if int(stack.max()) >= len(self._frame_of_stack):
            longer = np.full(2 * int(stack.max()) + 2, -2, np.int32)
            longer[: len(self._frame_of_stack)] = self._frame_of_stack
            self._frame_of_stack = longer
        new = np.unique(stack[(self._frame_of_stack[stack] == -2) & (stack > 0)])
        if not len(new):
            return
        first = len(self._frames)
        for number in new.tolist():
            parent = -1
            for name, line in reversed(self._symbols.stack(self._ring.stack(number - 1))):
                parent = self._frames.setdefault((name, parent, line), len(self._frames))
            self._frame_of_stack[number] = parent
        frames = list(self._frames)[first:]
        for sink in self._sinks:
            sink.frames(first, frames)

    def _replaced(self, time_ns: int, thread: int) -> None:
        """The program has replaced itself: all its blocks are freed."""
        self._symbols.forget()
        self._image += 1
        # Equal addresses mean something else now.
        self._frame_of_stack[:] = -2
        alive = self._living.rows()["address"]
        events = np.zeros(len(alive), EVENT)
        events["address"], events["what"], events["time"], events["thread"] = alive, FREE, time_ns, thread
        self._hand_over(events)

    def _maps(self) -> str:
        """Return what is mapped: what the program itself has reported, and what the system reports of it now.

        The system reports another program if the recorded one is just replacing itself.
        """
        text = ""
        with contextlib.suppress(OSError), open(f"/proc/{self._process}/maps", encoding="utf-8") as file:
            text = file.read()
        is_other = self._ring.images > self._image + 1
        maps = self._ring.maps(self._image)
        return maps if is_other else f"{maps}\n{text}"

    def _sample(self) -> None:
        words = _line_of(f"/proc/{self._process}/statm").split()
        if len(words) > 1:
            for sink in self._sinks:
                sink.resident(time.monotonic_ns(), int(words[1]) * os.sysconf("SC_PAGE_SIZE"))


class _Living:
    """What lives: the rows since it was found out the last time, and what lived then."""

    def __init__(self) -> None:
        self._parts: list[dict[str, NDArray[Any]]] = []
        self._rows = self._lived = 0

    def add(self, columns: dict[str, NDArray[Any]]) -> None:
        """Take rows of memory; each costs the same however much lives."""
        self._parts.append(columns)
        self._rows += len(columns["kind"])
        if self._rows > 2 * self._lived + _LATELY:
            self._lived = self._rows = len(self.rows()["kind"])

    def rows(self) -> dict[str, NDArray[Any]]:
        """Return the allocations of what lives, in the order of their times."""
        if not self._parts:
            return {name: np.empty(0, dtype) for name, dtype in _COLUMNS}
        joined = {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}
        touched = np.flatnonzero(joined["kind"] <= FREE)
        _, latest = np.unique(joined["address"][touched][::-1], return_index=True)
        last = touched[len(touched) - 1 - latest]
        alive = np.sort(last[joined["kind"][last] == ALLOC])
        self._parts = [{name: column[alive] for name, column in joined.items()}]
        return self._parts[0]


def _line_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""


#: Columns of rows of memory, as files have them (:data:`..record.memory.blocks.COLUMNS`).
_COLUMNS = (
    ("kind", "u1"), ("thread", "u4"), ("time", "i8"), ("address", "u8"), ("size", "i8"), ("stack", "i4"),
)  # fmt: skip
_RESIDENT = "resident memory (bytes)"


class _File:
    """Writes Chrome JSON, as the recorder of Python programs does."""

    def __init__(self, path: str, program: str) -> None:
        self._path, self._program = path, program
        self._output = JsonFile(path)
        self._process = 0

    @property
    def failed(self) -> str:
        return self._output.failed

    def begin(self, process: int, living: _Living) -> None:
        self._process = process
        self._name("process_name", process, self._program)

    def thread(self, thread: int, name: str) -> None:
        self._name("thread_name", thread, name)

    def _name(self, what: str, thread: int, name: str) -> None:
        said = json.dumps(name).encode()
        line = b'{"ph":"M","pid":%d,"tid":%d,"name":"%s","args":{"name":%s}}'
        self._output.add([line % (self._process, thread, what.encode(), said)])

    def frames(self, first: int, frames: list[tuple[str, int, int]]) -> None:
        self._output.add([frames_line(self._process, first, frames)])

    def rows(self, columns: dict[str, NDArray[Any]], dropped: int) -> None:
        if dropped:
            self._output.add([lost_line(self._process, dropped)])
        self._output.add([memory_line(self._process, {name: c.tobytes() for name, c in columns.items()})])
        self._output.flush()

    def resident(self, time_ns: int, value: int) -> None:
        line = b'{"ph":"C","pid":%d,"tid":%d,"ts":%d.%03d,"name":"%s","args":{"value":%d}}'
        words = self._process, self._process, *divmod(time_ns, 1000), _RESIDENT.encode(), value
        self._output.add([line % words])

    def tick(self) -> None:
        pass

    def close(self) -> str:
        self._output.close()
        if self._output.failed:
            return f"{self._path}: the recording ends early: {self._output.failed}"
        return f"{self._path}: {self._output.size / 1e6:.1f} MB"


def _print_suggestion(suggestion: Any) -> None:
    sys.stderr.write(f"tracevis3d: {suggestion.sentence}\n")
    sys.stderr.flush()


class _Live:
    """Publishes."""

    failed = ""

    def __init__(self, feed: Feed, program: str) -> None:
        start = time.time_ns()
        # From the interposer's clock to the feed's.
        self._shift = -time.monotonic_ns()
        self.publisher = Publisher(
            feed.endpoint, program, start=start, keys=Keys(feed.key, feed.peers), retells=True,
            suggestions=_print_suggestion if feed.suggestions else None,
        )  # fmt: skip
        self._joined = 0
        self._process = 0
        self._numbers: list[int] = []
        self._threads: dict[int, int] = {}
        self._rows = 0

    def begin(self, process: int, living: _Living) -> None:
        self._process, self._living = process, living

    def tick(self) -> None:
        if self.publisher.joined != self._joined:
            self._joined = self.publisher.joined
            self.publisher.retell([("memory", self._feed_rows(self._living.rows()))])

    def thread(self, thread: int, name: str) -> None:
        self._threads[thread] = self.publisher.number("threads", (self._process, thread, name))

    def frames(self, first: int, frames: list[tuple[str, int, int]]) -> None:
        self._numbers += announce_frames(self.publisher, frames, self._numbers)

    def rows(self, columns: dict[str, NDArray[Any]], dropped: int) -> None:
        if dropped:
            self.publisher.lose(dropped)
        self._rows += len(columns["kind"])
        self.publisher.put("memory", **self._feed_rows(columns))

    def _feed_rows(self, columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        distinct, which = np.unique(columns["thread"], return_inverse=True)
        thread = np.array([self._threads[tid] for tid in distinct.tolist()], np.uint32)[which.reshape(-1)]
        stack = np.array([*self._numbers, -1])[columns["stack"]]
        return {**columns, "thread": thread, "stack": stack, "time": columns["time"] + self._shift}

    def resident(self, time_ns: int, value: int) -> None:
        series = self.publisher.number("counters", _RESIDENT)
        self.publisher.put("counters", series=[series], time=[time_ns + self._shift], value=[value])

    def close(self) -> str:
        self.publisher.close()
        lost = self.publisher.dropped + self.publisher.skipped
        loss = f", {lost:,} dropped" if lost else ""
        return f"{self.publisher.endpoint}: {self._rows:,} rows published{loss}"
