"""A program that is being recorded, as a feed: the process beside it publishes what it appends to the spool.

The program itself does not import ZeroMQ and never waits.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TraceVisError
from ..record.output import spool
from ..record.output.encode import Encoder
from ..record.output.helper import SUGGESTION
from ..record.output.writer import File, Sink, reporter, run_in_background, serve
from . import protocol as p
from .endpoint import Keys
from .publisher import Publisher

Ints = NDArray[np.int64]

#: Columns of events that wait for what happened before them: time, rank among those of one time, function
#: (-1: left out), kind.
_TIME, _RANK, _FUNCTION, _KIND = range(4)
#: Of events of one time: ends of waits, calls, begins of waits and ends of those that took no time.
_ENDS, _CALLS, _BEGINS, _AT_ONCE = range(4)
#: Seconds between two looks whether a viewer has come.
_LOOK_S = 0.01
#: Nanoseconds between two reports that nothing has changed for threads that wait.
_REPORT_NS = 100_000_000
_KINDS = {"wait": 0, "release": 1, "io": 2}


@dataclass
class _Thread:
    """What is known of a thread: its open calls, events that wait, waits that viewers know of."""

    number: int = 0
    stack: list[int] = field(default_factory=list)
    held: list[Ints] = field(default_factory=list)
    #: Waits that have not ended: operation, object and start -> function and the holder's number.
    open: dict[tuple[int, int, int], tuple[int, int]] = field(default_factory=dict)
    #: Calls that viewers know to be open: function and start.
    announced: list[tuple[int, int]] = field(default_factory=list)


class SpoolFeed(Encoder):
    """Publishes the sections of a recording in the order in which they were written.

    Parameters
    ----------
    publisher : Publisher
    start : int
        The feed's time 0, in nanoseconds since 1970.
    first : SpoolFeed, optional
        That of the process from which this one was started: what it has learned goes for this one too, and
        viewers that come late get both at once.
    """

    def __init__(self, publisher: Publisher, start: int, first: SpoolFeed | None = None) -> None:
        super().__init__("", first)
        self._publisher = publisher
        self._start = start
        self._shift: int = first._shift if first is not None else 0
        # All running ones; the first one counts the viewers that have received the open calls.
        self._all: list[SpoolFeed] = first._all if first is not None else []
        self._all.append(self)
        self._latest, self._is_over = 0, False
        self._threads: dict[int, _Thread] = {}
        self._numbers: dict[int, int] = {}
        self._frame_numbers: list[int] = []
        #: Frames of which something was in the sample when it was looked at last.
        self._sampled: list[int] = []
        self._waiting_sync: list[dict[str, Any]] = []
        #: Open waits that viewers don't know of yet: thread, and key in its ``open``.
        self._new_waits: list[tuple[_Thread, tuple[int, int, int]]] = []
        self._reported_waits = 0
        #: Rows that the program itself has dropped, and that this process has passed on.
        self.dropped = self.rows = 0
        self._joined = 0

    def take(self, kind: bytes, number: int, data: bytes) -> None:
        """Take a section of the spool.

        Damaged data may raise any exception: :class:`Published` counts its rows as lost and goes on.

        Parameters
        ----------
        kind : bytes
            One of the kinds in :mod:`..record.output.spool`.
        number : int
            The thread's number; of other sections as described there.
        data : bytes
        """
        if kind == spool.CALLS:
            self._take_calls(self._thread(number), data)
        elif kind == spool.ROWS:
            self._take_rows(self._thread(number), data)
        elif kind == spool.WAITING:
            self._take_waiting(self._thread(number), json.loads(data))
        elif kind == spool.FLUSHED:
            self.send(int(json.loads(data)["began"]))
        elif kind == spool.COUNTERS:
            self._take_counters(json.loads(data))
        elif kind == spool.LIVING:
            self._take_living(data)
        elif kind == spool.SAMPLED:
            self._take_sampled(data)
        elif kind == spool.DROPPED:
            self.dropped += int(json.loads(data)["rows"])
            self._publisher.lose(int(json.loads(data)["rows"]))
        else:
            # Tables of names.
            for _ in self.lines(kind, number, data):
                pass
            if kind == spool.BEGIN and not self._is_child:
                self._shift = int(self._begin["epoch"]) - self._start - int(self._begin["start"])
            elif kind == spool.THREAD:
                thread = self._threads.setdefault(number, _Thread())
                said = json.loads(data)
                entry = self._begin["pid"], said["tid"], said["name"]
                thread.number = self._publisher.number("threads", entry)

    def send(self, until: int | None = None) -> None:
        """Publish what ended up to a time of the program's clock, in nanoseconds; None: everything."""
        lead = self._all[0]
        if self._publisher.joined != lead._joined:
            lead._joined = self._publisher.joined
            self._publisher.retell([rows for feed in self._all for rows in feed._there()])
        parts: list[tuple[int, Ints]] = []
        for thread in self._threads.values():
            if not thread.held:
                continue
            events = np.concatenate(thread.held)
            # Most are in order, and are only compared once.
            if np.any(np.diff(events[:, _TIME]) < 0) or len(thread.held) > 1:
                events = events[np.lexsort((events[:, _RANK], events[:, _TIME]))]
            stop = len(events)
            if until is not None:
                stop = int(np.searchsorted(events[:, _TIME], until, "right"))
            thread.held = [events[stop:]] if stop < len(events) else []
            if stop:
                parts.append((thread.number, events[:stop]))
                _follow(thread.announced, events[:stop])
        if parts:
            events = np.concatenate([part for _, part in parts])
            number = np.repeat([n for n, _ in parts], [len(part) for _, part in parts])
            self._put(
                "calls", kind=events[:, _KIND], thread=number, function=events[:, _FUNCTION],
                time=events[:, _TIME] + self._shift,
            )  # fmt: skip
        if self._waiting_sync:
            # Few large batches cost a viewer less than many small ones.
            sync, self._waiting_sync = self._waiting_sync, []
            self._put("sync", **{name: np.concatenate([part[name] for part in sync]) for name in sync[0]})
        new, self._new_waits = self._new_waits, []
        if until is not None and until - self._reported_waits >= _REPORT_NS:
            # One is reported again: this says that all others last, too.
            self._reported_waits = until
            new += [(t, key) for t in self._threads.values() for key in t.open][:1]
        if new := [(t, key) for t, key in new if key in t.open]:
            self._put("waiting", **self._open_waits(new, until))

    def end(self) -> None:
        """Publish what is left of a process that has ended: its calls end, and its memory is freed."""
        self.send()
        for thread in self._threads.values():
            n = len(thread.announced)
            self._put(
                "calls", kind=[p.END] * n, thread=[thread.number] * n,
                function=[function for function, _ in reversed(thread.announced)],
                time=[max(self._latest, *(at for _, at in thread.announced)) + self._shift] * n if n else [],
            )  # fmt: skip
            thread.announced.clear()
        self._is_over = True
        if self._is_child and self._begin["pid"]:
            when = max(self._latest, self._end)
            name = f"process:{self._begin['pid']}"
            self._put(
                "sync", kind=[_KINDS["release"]], thread=[self._main()],
                operation=[self._publisher.number("operations", "Process.end")],
                object=[self._publisher.number("objects", name)],
                start=[when + self._shift], end=[when + self._shift],
            )  # fmt: skip
            freed = self._memory(self.freed_rows())
            if len(freed["time"]):
                self._put("memory", **freed)
        if self is not self._all[0]:
            self._all.remove(self)

    def _main(self) -> int:
        return next((thread.number for thread in self._threads.values()), 0)

    def _there(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield what is open and lives, as rows."""
        if self._is_over:
            return
        announced = [(t.number, *call) for t in self._threads.values() for call in t.announced]
        open_calls = np.array(announced, np.int64).reshape(-1, 3)
        yield "calls", {
            "kind": np.full(len(announced), p.BEGIN), "thread": open_calls[:, 0],
            "function": open_calls[:, 1], "time": open_calls[:, 2] + self._shift,
        }  # fmt: skip
        there = [(t, key) for t in self._threads.values() for key in t.open]
        yield "waiting", self._open_waits(there, None)
        yield "memory", self._memory(self._living_rows())

    def _put(self, table: str, **columns: Any) -> None:
        self.rows += len(next(iter(columns.values())))
        self._publisher.put(table, **columns)

    def _thread(self, number: int) -> _Thread:
        thread = self._threads.get(number)
        if thread is None:
            thread = self._threads[number] = _Thread()
            thread.number = self._publisher.number("threads", (self._begin["pid"], number, ""))
        return thread

    # -- calls -----------------------------------------------------------------------------------------

    def _take_calls(self, thread: _Thread, data: bytes) -> None:
        half = len(data) // 2
        codes, times = np.frombuffer(data[:half], np.int64), np.frombuffer(data[half:], np.int64)
        begins = codes != self._begin["none"]
        distinct, which = np.unique(codes[begins], return_inverse=True)
        known = np.array([self._number_of(code) for code in distinct.tolist()] or [-1], np.int64)
        function = np.full(len(codes), -1, np.int64)
        function[begins] = known[which.reshape(-1)]
        name_ends(begins, function, thread.stack)
        shown = function >= 0
        self._hold(thread, times[shown], _CALLS, function[shown], np.where(begins, p.BEGIN, p.END)[shown])

    def _number_of(self, code: int) -> int:
        """Return the feed's number of a function by its code's; -1: it is not shown."""
        known = self._numbers.get(code)
        if known is None:
            shown = self._functions.get(code)
            known = self._numbers[code] = self._function(shown) if shown is not None else -1
        return known

    def _function(self, name: str) -> int:
        return self._publisher.number("functions", name)

    def _hold(self, thread: _Thread, time: Any, rank: Any, function: Any, kind: Any) -> None:
        events = np.empty((len(time), 4), np.int64)
        events[:, _TIME], events[:, _RANK] = time, rank
        events[:, _FUNCTION], events[:, _KIND] = function, kind
        if len(events):
            thread.held.append(events)
            self._latest = max(self._latest, int(events[:, _TIME].max()))

    # -- waits, releases, transfers --------------------------------------------------------------------

    def _take_rows(self, thread: _Thread, data: bytes) -> None:
        rows = np.frombuffer(data, np.int64).reshape(-1, spool.STRIDE)
        ends = np.maximum(rows[:, 3], rows[:, 2])
        failed = rows[:, 4] & (spool.TIMED_OUT | spool.FAILED)
        distinct, which = np.unique(rows[:, 0] << 8 | failed, return_inverse=True)
        which = which.reshape(-1)
        names = [self._operation(key >> 8, key & 255) for key in distinct.tolist()]
        kinds = [self._operations[key >> 8][1] for key in distinct.tolist()]
        is_call = np.array([kind != "release" for kind in kinds])[which]
        function = np.array([self._function(name) for name in names])[which]
        done = np.zeros(len(rows), np.bool_)
        for key, known in list(thread.open.items()):
            same = (rows[:, 0] == key[0]) & (rows[:, 1] == key[1]) & (rows[:, 2] == key[2])
            if same.any():
                done |= same
                function[same] = known[0]
                del thread.open[key]
        begins = is_call & ~done
        at_once = np.where(ends == rows[:, 2], _AT_ONCE, _ENDS)
        self._hold(thread, rows[begins, 2], _BEGINS, function[begins], p.BEGIN)
        self._hold(thread, ends[is_call], at_once[is_call], function[is_call], p.END)
        sync = np.array([_KINDS.get(kind, -1) for kind in kinds])[which]
        known_sync = sync >= 0
        if not known_sync.any():
            return
        operation = np.array([self._publisher.number("operations", name) for name in names])[which]
        things, place = np.unique(rows[:, 1], return_inverse=True)
        objects = np.array([self._object(thing) for thing in things.tolist()])[place.reshape(-1)]
        columns = {
            "kind": sync, "thread": np.full(len(rows), thread.number), "operation": operation,
            "object": objects, "start": rows[:, 2] + self._shift, "end": ends + self._shift,
        }  # fmt: skip
        self._waiting_sync.append({name: column[known_sync] for name, column in columns.items()})

    def _operation(self, number: int, failed: int = 0) -> str:
        name = str(json.loads(self._operations[number][0]))
        if not failed:
            return name
        return f"{name} (timed out)" if failed & spool.TIMED_OUT else f"{name} (failed)"

    def _object(self, number: int) -> int:
        """Return the feed's number of an object: of a group the first one, of nothing -1."""
        if not number:
            return -1
        said = self._objects.get(number)
        if isinstance(said, list) and said and all(isinstance(one, int) for one in said):
            number = said[0]
        return self._publisher.number("objects", self._label_of(number))

    def _take_waiting(self, thread: _Thread, pending: list[list[Any]]) -> None:
        """Report waits and sleeps that have begun and not ended, so that stuck threads are seen."""
        for operation, thing, start, holder in pending:
            key = operation, thing, int(start)
            if key not in thread.open:
                function = self._function(self._operation(operation))
                by = self._threads.get(int(holder))
                thread.open[key] = function, by.number if by is not None else -1
                self._hold(thread, [key[2]], _BEGINS, [function], p.BEGIN)
                self._new_waits.append((thread, key))

    def _open_waits(
        self, waits: list[tuple[_Thread, tuple[int, int, int]]], until: int | None
    ) -> dict[str, Any]:
        """Return the rows of waits that have not ended at a moment; other kinds are left out."""
        waits = [(t, key) for t, key in waits if self._operations[key[0]][1] == "wait"]
        number = self._publisher.number
        return {
            "thread": [t.number for t, _ in waits],
            "operation": [number("operations", self._operation(key[0])) for _, key in waits],
            "object": [self._object(key[1]) for _, key in waits],
            "start": [key[2] + self._shift for _, key in waits],
            "holder": [t.open[key][1] for t, key in waits],
            "until": [max(until or 0, key[2]) + self._shift for _, key in waits],
        }

    # -- memory ----------------------------------------------------------------------------------------

    def _take_counters(self, said: dict[str, Any]) -> None:
        series = [self._publisher.number("counters", self._of_process(name)) for name in said["values"]]
        time = np.full(len(series), int(said["time"]) + self._shift)
        self._put("counters", series=series, time=time, value=list(said["values"].values()))

    def _take_living(self, data: bytes) -> None:
        rows = self._memory(self._memory_rows(data))
        if len(rows["time"]):
            self._put("memory", **rows)

    def _take_sampled(self, data: bytes) -> None:
        """Publish how much lives by a sample: of each call site, and of all, so that each look is told."""
        when = np.frombuffer(data[:8], np.float64 if self._begin["microseconds"] else np.int64)[0]
        n = (len(data) - 8) // 12
        sites = np.frombuffer(data[8 : 8 + 4 * n], np.uint32)
        sizes = np.frombuffer(data[8 + 4 * n :], np.int64)
        known = np.array([self._sites.get(site, -1) for site in sites.tolist()], np.int64)
        # Of stacks that differ only in frames of the recorder's the innermost one is the same.
        frames = self._published_frames()[known]
        frame, place = np.unique(frames[frames >= 0], return_inverse=True)
        size = np.bincount(place.reshape(-1), sizes[frames >= 0], len(frame))
        # What is not there any more is told once.
        values = {
            **dict.fromkeys(self._sampled, 0.0),
            **dict(zip(frame.tolist(), size.tolist(), strict=True)),
        }
        self._sampled = frame.tolist()
        names = [p.SAMPLED, *map(p.sampled_name, values)]
        self._put(
            "counters", series=[self._publisher.number("counters", self._of_process(name)) for name in names],
            time=np.full(len(names), self._nanoseconds(when.item()) + self._shift),
            value=[float(sizes.sum()), *values.values()],
        )  # fmt: skip

    def _published_frames(self) -> Ints:
        """Announce new frames; return the feed's number of each, and -1 as the last one."""
        self._frame_numbers += announce_frames(
            self._publisher, list(self._frames)[len(self._frame_numbers) :], self._frame_numbers
        )
        return np.array([*self._frame_numbers, -1])

    def _memory(self, columns: dict[str, bytes]) -> dict[str, NDArray[Any]]:
        """Return rows of memory with the feed's numbers and times."""
        rows = memory_columns(columns)
        rows["stack"] = self._published_frames()[rows["stack"]]
        rows["time"] = rows["time"] + self._shift
        rows["thread"] = np.full(len(rows["time"]), self._main())
        return rows


def _follow(announced: list[tuple[int, int]], events: Ints) -> None:
    """Bring the open calls of a thread up to date with events that were published."""
    before = list(announced)
    which = len(before) + np.arange(len(events))
    still = list(range(len(before)))
    name_ends(events[:, _KIND] == p.BEGIN, which, still)
    first = len(before)
    announced[:] = [
        before[at] if at < first else (int(events[at - first, _FUNCTION]), int(events[at - first, _TIME]))
        for at in still
    ]


def announce_frames(publisher: Publisher, frames: list[tuple[str, int, int]], known: list[int]) -> list[int]:
    """Announce frames to a publisher.

    Parameters
    ----------
    publisher : Publisher
    frames : list of (str, int, int)
        Function, caller's frame (-1: none) and line. Callers are numbered through ``known``, then
        ``frames``; a caller comes before its callees.
    known : list of int
        The publisher's numbers of the frames that were announced before.

    Returns
    -------
    list of int
        The publisher's numbers of ``frames``.
    """
    numbers: list[int] = []
    for name, parent, line in frames:
        if parent >= len(known):
            parent = numbers[parent - len(known)]
        elif parent >= 0:
            parent = known[parent]
        entry = publisher.number("functions", name), parent, line
        numbers.append(publisher.number("frames", entry))
    return numbers


def memory_columns(columns: dict[str, bytes]) -> dict[str, NDArray[Any]]:
    """Return columns of memory as arrays, from their bytes (:data:`..record.memory.blocks.COLUMNS`)."""
    kinds = {name: dtype for name, dtype, _, _ in p.TABLES["memory"]}
    return {name: np.frombuffer(column, kinds[name]) for name, column in columns.items()}


def name_ends(begins: NDArray[np.bool_], function: Ints, stack: list[int]) -> None:
    """Fill in which function each end of a call ends.

    An end without a begin gets -1: its call began before the recording did.

    Parameters
    ----------
    begins : bool (n,)
        Whether an event of the thread begins a call; others end one.
    function : int64 (n,)
        The function of each begin; filled in for the ends.
    stack : list of int
        The functions that are open before the events, the innermost last; then those open after them.
    """
    if not len(begins):
        return
    # How deep it is behind each event; an end at depth 0 leaves it there.
    depth = len(stack) + np.cumsum(np.where(begins, 1, -1))
    below = np.minimum(np.minimum.accumulate(depth), 0)
    lost = ~begins & (below < np.append(0, below[:-1]))
    depth -= below
    level = np.where(begins, depth, depth + 1)
    level[lost] = 0
    # At one level begins and ends alternate: an end follows its begin.
    order = np.argsort(level, kind="stable")
    sorted_level, sorted_begins = level[order], begins[order]
    first = np.append(True, sorted_level[1:] != sorted_level[:-1])
    before = np.array([-1, *stack])
    ends = np.flatnonzero(~sorted_begins & (sorted_level > 0))
    inherited = first[ends]
    outer = before[np.minimum(sorted_level[ends], len(stack))]
    function[order[ends]] = np.where(inherited, outer, function[order[ends - 1]])
    function[lost] = -1
    left = int(depth[-1])
    still = np.array([-1, *stack, *[-1] * left])
    last = np.flatnonzero(np.append(first[1:], True) & sorted_begins)
    last = last[sorted_level[last] <= left]
    still[sorted_level[last]] = function[order[last]]
    stack[:] = still[1 : left + 1].tolist()


class _Handed:
    """Hands suggestions on to the program, by the pipe that carries the last sentence."""

    def __init__(self, answer: int) -> None:
        self._answer, self._open, self._lock = answer, True, threading.Lock()

    def take(self, suggestion: p.Suggest) -> None:
        """Hand one on."""
        said = {name: getattr(suggestion, name) for name in ("what", "address", "size", "site", "sentence")}
        with self._lock:
            if not self._open:
                raise BrokenPipeError("the program is over")
            os.write(self._answer, SUGGESTION + json.dumps(said).encode() + b"\n")

    def reporter(self) -> Callable[[str], None]:
        """Return what sends the last sentence."""
        send = reporter(self._answer)

        def say(said: str) -> None:
            with self._lock:
                self._open = False
                send(said)

        return say


def main(words: list[str]) -> None:
    """Run as a process of its own.

    Parameters
    ----------
    words : list of str
        Folder, file (empty: none), descriptors of two pipes, the program's id, the feed's settings as JSON.
    """
    folder, path, alive, answer, pid = words[0], words[1], int(words[2]), int(words[3]), int(words[4])
    said = json.loads(words[5])
    run_in_background()
    try:
        start = time.time_ns()
        handed = _Handed(answer)
        publisher = Publisher(
            said["endpoint"],
            said["program"],
            start=start,
            keys=Keys(said["key"], said["peers"]),
            retells=True,
            keeps_opening=True,
            suggestions=handed.take if said.get("suggestions") else None,
        )
    except TraceVisError as error:
        shutil.rmtree(folder, ignore_errors=True)
        os.write(answer, str(error).encode())
        sys.exit(1)
    os.write(answer, publisher.endpoint.encode() + b"\n")
    if said.get("wait"):
        _wait(publisher, alive)
        with contextlib.suppress(OSError):  # the program may have ended meanwhile
            os.write(answer, b"\n")
    say = handed.reporter()
    try:
        sinks: list[Sink] = [File(folder, path)] if path else []
        serve(folder, alive, pid, [*sinks, Published(publisher, start, folder)], say)
    except OSError as error:
        say(f"{path or publisher.endpoint}: the recording ends early: {error.strerror or error}")
    except Exception as error:
        say(f"{path or publisher.endpoint}: the recording is incomplete: {type(error).__name__}: {error}")
    finally:
        publisher.close()
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0)


def _wait(publisher: Publisher, alive: int) -> None:
    """Wait until there is a viewer, or the program has ended; the viewer gets all from the beginning."""
    while not publisher.viewers and not select.select([alive], [], [], _LOOK_S)[0]:
        pass


class Published:
    """All processes of a recording, in one feed; each thread carries its process.

    Parameters
    ----------
    publisher : Publisher
    start : int
        The feed's time 0, in nanoseconds since 1970.
    folder : str
        The recording's.
    """

    def __init__(self, publisher: Publisher, start: int, folder: str) -> None:
        self._publisher, self._start = publisher, start
        self._first = SpoolFeed(publisher, start)
        self._feeds = {folder: self._first}
        self._damaged = 0

    def take(self, folder: str, sections: list[tuple[bytes, int, bytes]] | None) -> None:
        """Publish sections of a process; those that are damaged are counted, and left out.

        Parameters
        ----------
        folder : str
            The process's.
        sections : list of (bytes, int, bytes), or None
            Kind, number and data of each; None: the process has ended.

        Raises
        ------
        OSError
            If a file can't be read.
        """
        feed = self._feeds.get(folder)
        if feed is None:
            feed = self._feeds[folder] = SpoolFeed(self._publisher, self._start, self._first)
        if sections is None:
            with self._guarded():
                feed.end()
        for kind, number, data in sections or ():
            with self._guarded(len(data) // spool.BYTES_A_ROW.get(kind, len(data) + 1)):
                feed.take(kind, number, data)

    @contextlib.contextmanager
    def _guarded(self, rows: int = 0) -> Iterator[None]:
        """Go on behind what can't be read, and count its rows: a program may write over what it hands on."""
        try:
            yield
        except OSError:
            raise
        except Exception:
            self._damaged += 1
            self._publisher.lose(max(rows, 1))

    def flush(self) -> None:
        """Do nothing: the publisher's thread sends what it has."""

    def close(self) -> None:
        """End the feed."""
        self._publisher.close()

    def sentence(self) -> str:
        """Return what was published of all processes, as a sentence."""
        publisher, feeds = self._publisher, self._feeds.values()
        lost = f", {publisher.dropped:,} dropped" if publisher.dropped else ""
        if self._damaged:
            lost += f", {self._damaged:,} parts of what the program handed on were damaged"
        lost += f", {publisher.skipped:,} dropped for viewers that were behind" if publisher.skipped else ""
        if publisher.sent_away:
            lost += f", {publisher.sent_away:,} viewers sent away ({publisher.why_sent_away})"
        processes = f" of {len(feeds):,} processes" if len(feeds) > 1 else ""
        return f"{publisher.endpoint}: {sum(feed.rows for feed in feeds):,} rows{processes} published{lost}"
