"""From the lines that babeltrace2 prints of LTTng's events to calls, waits, releases, memory and instants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from ...trace.events import BEGIN, END
from ...trace.model import ALLOC, FREE, RELEASE, WAIT
from ...trace.recording import Recording
from .kernel import KernelEvents, number_of

Ints = NDArray[np.int64]

_LINE = re.compile(rb"^\[(\d{1,10})\.(\d{9})\] (?:\S+ )?([^\s{}]+): (\{.*)$", re.MULTILINE)
_TID = re.compile(rb"\bv?tid = (\d{1,18})\b")
_PID = re.compile(rb"\bv?pid = (\d{1,18})\b")
_CPU = re.compile(rb"\bcpu_id = (\d{1,9})\b")
_PROGRAM = re.compile(rb'\bprocname = "([^"]*)"')
_MODULE = re.compile(rb'baddr = 0x([0-9A-Fa-f]{1,15}), memsz = (\d{1,18}), path = "([^"]*)"')

#: Effects of the wrappers' events on a lock.
_REQUEST, _ACQUIRE, _RELEASE, _TRY = range(4)
_LOCKS = {
    "pthread_mutex_lock_req": _REQUEST,
    "pthread_mutex_lock_acq": _ACQUIRE,
    "pthread_mutex_unlock": _RELEASE,
    "pthread_mutex_trylock": _TRY,
}
_ALLOCATIONS = {
    **dict.fromkeys(("malloc", "calloc", "realloc", "memalign", "free"), "ptr"),
    "posix_memalign": "out_ptr",
}
#: Events that only describe the start of the recording.
_PREFACE = ("start", "end", "procname", "bin_info", "build_id", "debug_link")
LOCK, UNLOCK, TRY = "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_mutex_trylock"


@dataclass(frozen=True)
class _Rows:
    """Events of one name, in order: their lines, times, threads and fields."""

    line: Ints
    time: Ints
    thread: Ints
    text: list[bytes]

    def __len__(self) -> int:
        return len(self.line)

    def numbers(self, field: str) -> Ints:
        """Return a field of each event, -1 where it has none."""
        pattern = re.compile(rb"\b" + field.encode() + rb" = (0x[0-9A-Fa-f]{1,15}|\d{1,18})\b")
        found = [match[1] if (match := pattern.search(text)) else b"-1" for text in self.text]
        distinct, back = np.unique(np.array(found), return_inverse=True)
        return _each([int(value, 0) for value in distinct.tolist()], back)


def _each(values: list[int], back: NDArray[np.intp]) -> Ints:
    """Return the value of each event from those of distinct texts."""
    return np.array(values, np.int64).take(back.reshape(-1))


class CtfEvents:
    """Takes babeltrace2's lines and fills a recording.

    Parameters
    ----------
    recording : Recording
        It is filled.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.lines = 0
        self._threads: dict[bytes, int] = {}
        self._modules: list[tuple[int, int, str]] = []
        # Columns: line, thread, kind, function, time; and line, thread, what, mutex, whether it failed, time.
        self._calls: list[Ints] = []
        self._locks: list[Ints] = []
        self._line_of: Ints = np.empty(0, np.int64)
        self._kernel = KernelEvents()

    def add(self, text: bytes) -> None:
        """Read whole lines."""
        found = _LINE.findall(text)
        if text.count(b"\n") > len(found):
            self._recording.problems.add(
                "malformed", f"after event {self.lines:,}", text.count(b"\n") - len(found)
            )
        if not found:
            return
        seconds, parts, kinds, fields = zip(*found)
        time = np.array(seconds).astype(np.int64) * 1_000_000_000 + np.array(parts).astype(np.int64)
        line = np.arange(self.lines, self.lines + len(found))
        self.lines += len(found)
        thread = self._thread_of(fields)
        distinct, which = np.unique(np.array(kinds), return_inverse=True)
        # The addresses of modules come before the functions.
        order = sorted(range(len(distinct)), key=lambda number: b"bin_info" not in distinct[number])
        for number in order:
            at = np.flatnonzero(which.reshape(-1) == number)
            rows = _Rows(line[at], time[at], thread[at], [fields[i] for i in at.tolist()])
            self._take(distinct[number].decode("utf-8", "replace"), rows)

    def finish(self) -> None:
        """Hand over what had to wait for all lines: calls in order, requests with acquisitions."""
        calls = self._calls
        if len(self._kernel):
            self._line_of, thread, kind, function, time = self._kernel.finish(self._recording)
            self._recording.add_events(thread=thread, kind=kind, function=function, time=time)
        waits = self._pair_locks() if self._locks else np.empty((0, 5), np.int64)
        joined = np.concatenate(calls) if calls else np.empty((0, 5), np.int64)
        joined = joined[np.argsort(joined[:, 0], kind="stable")]
        before = len(self._line_of)
        self._line_of = np.concatenate([self._line_of, joined[:, 0]])
        if len(joined):
            self._recording.add_events(
                thread=joined[:, 1], kind=joined[:, 2], function=joined[:, 3], time=joined[:, 4]
            )
        if not len(waits):
            return
        line, thread, kind, mutex, time = waits.T
        event = np.searchsorted(joined[:, 0], line)
        event = np.where(np.isin(line, joined[:, 0]), event + before, -1)
        number = {text: self._recording.text("sync", text) for text in (LOCK, UNLOCK, TRY)}
        name = np.array([number[text] for text in (LOCK, LOCK, UNLOCK, TRY)])[kind]
        distinct, back = np.unique(mutex, return_inverse=True)
        objects = [self._recording.text("objects", f"mutex 0x{m:x}") for m in distinct.tolist()]
        self._recording.add_sync(
            thread=thread,
            kind=np.where(kind == _RELEASE, RELEASE, WAIT),
            name=name,
            start=time,
            event=event,
            objects=[(objects[b],) for b in back.reshape(-1).tolist()],
        )

    def place(self, event: int) -> str:
        """Name the place of an event of the recording."""
        return f"event {int(self._line_of[event]) + 1:,}"

    # -- threads -------------------------------------------------------------------------------

    def _thread_of(self, fields: tuple[bytes, ...]) -> Ints:
        """Return the thread of each event; where its id was not recorded, the processor."""
        # Contexts come before the event's own fields, the last of the braces.
        contexts = [text.rpartition(b"{")[0] for text in fields]
        distinct, back = np.unique(np.array(contexts), return_inverse=True)
        return _each([self._thread(context) for context in distinct.tolist()], back)

    def _thread(self, context: bytes) -> int:
        known = self._threads.get(context)
        if known is None:
            tid, pid, program = _TID.search(context), _PID.search(context), _PROGRAM.search(context)
            if tid is None:
                cpu = _CPU.search(context)
                known = self._recording.thread("processors", int(cpu[1]) if cpu else 0)
            else:
                process = int(pid[1]) if pid else int(tid[1])
                if program:
                    self._recording.name_process(process, program[1].decode("utf-8", "replace"))
                known = self._recording.thread(process, int(tid[1]))
            self._threads[context] = known
        return known

    # -- events --------------------------------------------------------------------------------

    def _take(self, name: str, rows: _Rows) -> None:
        provider, _, short = name.rpartition(":")
        if not provider and (number := number_of(name)) >= 0:
            understood = self._kernel.take(number, name, rows.line, rows.time, rows.text)
            self._add_instants(name, rows.thread[~understood], rows.time[~understood])
        elif short == "func_entry":
            address = rows.numbers("addr")
            distinct, back = np.unique(address, return_inverse=True)
            self._add_calls(rows, BEGIN, _each([self._function(a) for a in distinct.tolist()], back))
        elif short == "func_exit":
            self._add_calls(rows, END, np.full(len(rows), -1, np.int64))
        elif short in _LOCKS and provider.endswith("pthread"):
            status = rows.numbers("status")
            what = np.full(len(rows), _LOCKS[short])
            self._locks.append(
                np.stack((rows.line, rows.thread, what, rows.numbers("mutex"), status > 0, rows.time), axis=1)
            )
        elif short in _ALLOCATIONS and provider.endswith("libc"):
            self._add_memory(short, rows)
        elif short == "bin_info":
            for text in rows.text:
                if match := _MODULE.search(text):
                    low, module = int(match[1], 16), PurePosixPath(match[3].decode("utf-8", "replace")).name
                    self._modules.append((low, low + int(match[2]), module))
        elif not (provider.endswith("statedump") and short in _PREFACE):
            self._add_instants(name, rows.thread, rows.time)

    def _add_instants(self, name: str, thread: Ints, time: Ints) -> None:
        if len(time):
            number = self._recording.text("instants", name)
            self._recording.add_instants(name=np.full(len(time), number), thread=thread, time=time)

    def _add_calls(self, rows: _Rows, kind: int, function: Ints) -> None:
        self._calls.append(
            np.stack((rows.line, rows.thread, np.full(len(rows), kind), function, rows.time), axis=1)
        )

    def _function(self, address: int) -> int:
        """Return the function at an address: the trace has no names, but where modules lie."""
        for low, high, module in self._modules:
            if low <= address < high:
                return self._recording.function(
                    f"{module}+0x{address - low:x}", containers=(("module", module),)
                )
        return self._recording.function(f"<{address:x}>")

    def _add_memory(self, name: str, rows: _Rows) -> None:
        address, size = rows.numbers(_ALLOCATIONS[name]), np.maximum(rows.numbers("size"), 0)
        if name == "calloc":
            size *= np.maximum(rows.numbers("nmemb"), 1)
        if name == "realloc":
            self._add_cells(rows, FREE, rows.numbers("in_ptr"), np.zeros_like(size))
        self._add_cells(
            rows, FREE if name == "free" else ALLOC, address, size if name != "free" else 0 * size
        )

    def _add_cells(self, rows: _Rows, kind: int, address: Ints, size: Ints) -> None:
        real = address > 0
        if real.any():
            self._recording.add_memory(
                thread=rows.thread[real],
                kind=np.full(int(real.sum()), kind),
                time=rows.time[real],
                address=address[real].astype(np.uint64),
                size=size[real],
            )

    # -- locks ---------------------------------------------------------------------------------

    def _pair_locks(self) -> Ints:
        """Make a call of each request and what answers it; return waits and releases.

        Returns
        -------
        int64 (n, 5)
            Line, thread, what, mutex, time. A line that begins a call is that call's.
        """
        rows = np.concatenate(self._locks)
        rows = rows[np.lexsort((rows[:, 0], rows[:, 1]))]
        line, thread, what, mutex, failed, time = rows.T
        # A waiting thread does nothing else, so the answer is its next event.
        answered = np.zeros(len(rows), np.bool_)
        answered[:-1] = (
            (what[:-1] == _REQUEST)
            & (what[1:] == _ACQUIRE)
            & (thread[:-1] == thread[1:])
            & (mutex[:-1] == mutex[1:])
        )
        answers = np.concatenate(([False], answered[:-1]))
        requests = what == _REQUEST
        function = self._recording.function(LOCK, containers=(("module", "pthread"),))
        for mask, kind, which in ((requests, BEGIN, function), (answers, END, -1)):
            n = int(mask.sum())
            self._calls.append(
                np.stack((line[mask], thread[mask], np.full(n, kind), np.full(n, which), time[mask]), axis=1)
            )
        kept = requests | ((what == _ACQUIRE) & ~answers) | (what == _RELEASE) | (what == _TRY)
        kept &= failed == 0
        pairs: Ints = rows[kept][:, [0, 1, 2, 3, 5]]
        return pairs
