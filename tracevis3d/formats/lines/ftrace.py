"""Linux' ftrace as text: the file ``trace`` of tracefs, ``trace-cmd report``, and Android's systrace.

Source: Documentation/trace/ftrace.rst of Linux, "Output format". The scheduler's events say who is off its
core and who wakes whom; system calls and marks (``trace_marker``) are calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...kernels.formats.lay.threads import ENTRY, EXIT, SWITCH, WAKING
from ...kernels.formats.scan import ftrace as s
from ...kernels.intern import InternedNames
from ...progress import Progress, part
from ...trace.model import Source
from ...trace.recording import Recording
from .. import names, registry
from ..ctf.kernel import KernelEvents
from ..text import is_binary, read_text

if TYPE_CHECKING:
    from ...trace.model import Trace

Ints = NDArray[np.int64]

#: Program and thread, its process where that is recorded, processor, flags, time, and what happened. The
#: latency format (``-l``) has processor and flags in one; the clock may count whole nanoseconds; the time
#: since the last line may stand before the event (``--ts-diff``).
# Nothing is tried twice: a line of many blanks took seconds.
_LINE = re.compile(
    rb"\s*+(?P<comm>\S(?:.*?\S)??)\s*+-(?P<tid>\d{1,9})\s+(?:\(\s*(?P<process>\d{1,9}|-+)\)\s+)?"
    rb"(?:\[(?P<cpu>\d{1,9})\]\s+|(?P<latency>\d{1,9})(?=[^\s:\d]))"
    rb"(?:(?:(?P<flags>[^\s:]{4,6})\s+)?(?P<seconds>\d{1,9})\.(?P<parts>\d{6,9})"
    rb"|(?P<other_flags>[^\s:]{4}[^\s:\d])\s*(?P<ns>\d{10,18})):\s+(?:\(\+\d+\)\s+)?(?P<event>\S.*)"
)
_SWITCH = re.compile(
    rb"prev_comm=(.*) prev_pid=(\d{1,9}) .*prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d{1,9})"
    rb"|(.*):(\d{1,9}) \[-?\d+\] (\S+) ==> (.*):(\d{1,9}) \["
)
_WAKING = re.compile(rb"comm=(.*) pid=(\d{1,9})|(.*):(\d{1,9}) \[-?\d+\]")
_ENTRY = re.compile(rb"(?:sys_enter_(\w+):|sys_(\w+)\().*")
_EXIT = re.compile(rb"(?:sys_exit_(\w+):|sys_(\w+) ->)\s*(?:0x)?([0-9a-f]{1,16})\b.*")
#: A mark: begin or end, the process, and what begins.
_MARK = re.compile(rb"(?:\w+: )?(?:B\|\d+\|(?P<begins>.+)|E(?:\|.*)?)")
_MARKS = (b"tracing_mark_write", b"print", b"bprint")
_LOST = re.compile(rb"CPU:\d+ \[LOST (\d{1,9}) EVENTS\]")
#: Of a wake-up one event is read: the first of these that is there.
_WAKES = (b"sched_waking", b"sched_wakeup")
#: Flags of an interrupt: what it does is not done by the thread that it interrupts.
_INTERRUPTS = (b"h", b"H", b"s", b"z", b"Z")
#: Systrace puts the text into a page, with a mark at the end of each line.
_PAGE_END = b"\\n\\"
_COMMENTS = (b"#", b"cpus=")
#: Lines between two progress reports.
_STEP = 1 << 14


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is ftrace's.

    Parameters
    ----------
    head : bytes
        The first bytes, unpacked.
    name : str
        The file's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    if is_binary(head):
        return registry.NO
    rows = [row for row in head.splitlines()[:200] if row.strip() and not row.startswith(_COMMENTS)]
    if len(rows) > 1 and len(head) >= registry.HEAD:
        rows.pop()
    fit = sum(_LINE.fullmatch(row) is not None for row in rows)
    if not rows or fit < 0.5 * len(rows):
        return registry.NO
    return registry.SURE


def read(path: Path, progress: Progress) -> Trace:
    """Read what ftrace wrote.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If no event is a switch of the scheduler, a system call or a mark.
    """
    recording = Recording()
    text = read_text(path, recording.problems, part(progress, 0, 0.2), whole_lines=True)
    reader = _Reader(recording)
    reader.read(bytes(text.data), part(progress, 0.2, 0.8))
    progress(0.8, "building calls")
    line_of = reader.hand_over()
    if not len(line_of):
        raise InputError(
            f"{path}: no switch of the scheduler, system call or mark is in this trace of ftrace: record "
            "with 'trace-cmd record -e sched_switch -e sched_waking -e syscalls'"
        )
    return recording.finish(Source(), names.split, lambda row: f"line {int(line_of[row]) + 1:,}")


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._kernel = KernelEvents({SWITCH: _SWITCH, WAKING: _WAKING})
        #: Who a line says that did it: line, thread, program, process.
        self._named: list[tuple[int, int, bytes, int | None]] = []
        self._data = b""
        self._texts = InternedNames()
        #: Moments that the scanner found: line, thread, number of the name, time.
        self._scanned: list[Ints] = []
        #: Kind and name -> line, time, processor, thread, text.
        self._found: dict[tuple[int, bytes], list[tuple[int, int, int, int, bytes]]] = {}
        #: What is neither a call nor a switch: line, thread, name, time.
        self._moments: list[tuple[int, int, bytes, int]] = []

    def read(self, data: bytes, progress: Progress, *, scanner: bool = True) -> None:
        """Read all lines; without ``scanner`` one by one, which says the same and takes longer."""
        wakes = next((event for event in _WAKES if event in data), b"")
        if scanner and b"\r" not in data:
            self._scan(data, wakes, progress)
        else:
            lines = data.splitlines()
            for number, line in enumerate(lines):
                if not number % _STEP:
                    progress(number / len(lines), "reading events")
                if line and not line.isspace() and not line.startswith(_COMMENTS):
                    self._take(number, line, wakes)
        for _, tid, comm, process in sorted(self._named, key=lambda named: named[0]):
            self._kernel.name_thread(tid, comm, process)
        for (kind, name), rows in self._found.items():
            at, time, cpu, running, text = zip(*rows, strict=True)
            understood = self._kernel.take(
                kind,
                name.decode(),
                _ints(at),
                _ints(time),
                list(text),
                cpu=_ints(cpu),
                running=_ints(running),
            )
            wrong = np.flatnonzero(~understood)
            place = f"line {at[wrong[0]] + 1:,}" if len(wrong) else ""
            self._recording.problems.add("malformed", place, len(wrong))

    def _scan(self, data: bytes, wakes: bytes, progress: Progress) -> None:
        """Read all lines by the scanner, and one by one those that it leaves."""
        self._data = data
        text = np.frombuffer(data, np.uint8)
        state = np.zeros(s.STATE_SIZE, np.int64)
        state[s.LIMIT] = _STEP
        rows = np.empty((_STEP, s.COLUMNS), np.int64)
        wake = _WAKES.index(wakes) + 1 if wakes else 0
        result = s.ROWS_FULL
        while result != s.DONE:
            result = s.scan_ftrace(
                text, state, wake, np.zeros(s.HEAD_SIZE, np.int64), rows, *self._texts.arrays
            )
            if result == s.NAMES_FULL:
                self._texts.grow(int(state[s.NAMES]))
                continue
            progress(int(state[s.POSITION]) / max(len(data), 1), "reading events")
            found = rows[: state[s.ROWS]]
            state[s.ROWS] = 0
            kind = found[:, s.KIND]
            for number, low, high in found[kind == s.UNUSUAL][:, [s.NUMBER, s.FIRST, s.SECOND]].tolist():
                self._take(number, data[low:high], wakes)
            self._hold(found[kind != s.UNUSUAL], data)

    def _hold(self, rows: Ints, data: bytes) -> None:
        """Keep what the scanner read."""
        starts, lengths = self._texts.starts, self._texts.lengths

        def name(number: int) -> bytes:
            low = int(starts[number])
            return data[low : low + int(lengths[number])]

        # Of each thread the first name, and the last process that is written.
        _, first = np.unique(rows[:, s.TID], return_index=True)
        known = rows[rows[:, s.PROCESS] >= 0][::-1]
        _, last = np.unique(known[:, s.TID], return_index=True)
        for chosen in (rows[first], known[last]):
            columns = chosen[:, [s.NUMBER, s.TID, s.COMM, s.PROCESS]].tolist()
            self._named += [(at, tid, name(comm), None if of < 0 else of) for at, tid, comm, of in columns]
        kind = rows[:, s.KIND]
        self._scanned.append(rows[kind == s.MOMENT][:, [s.NUMBER, s.TID, s.NAME, s.TIME]])
        self._kernel.take_rows(rows[kind != s.MOMENT], name)

    def _take(self, number: int, line: bytes, wakes: bytes) -> None:
        said = _LINE.fullmatch(line.removesuffix(_PAGE_END))
        if said is None:
            lost = _LOST.match(line)
            kind, count = ("lost", int(lost[1])) if lost else ("malformed", 1)
            self._recording.problems.add(kind, f"line {number + 1:,}", count)
            return
        comm, number_of_thread, process, event = said.group("comm", "tid", "process", "event")
        cpu, flags = said["cpu"] or said["latency"], said["flags"] or said["other_flags"] or b""
        tid, text = int(number_of_thread), b""
        self._named.append((number, tid, comm, int(process) if process and process.isdigit() else None))
        time = int(said["ns"] or said["seconds"] + said["parts"].ljust(9, b"0"))
        is_call = event.startswith(b"sys_")
        if is_call and (call := _ENTRY.fullmatch(event)):
            what = ENTRY, call[1] or call[2]
        elif is_call and (call := _EXIT.fullmatch(event)):
            # An error is a small negative number, printed as a large one.
            value = (int(call[3], 16) ^ 1 << 63) - (1 << 63)
            what, text = (EXIT, call[1] or call[2]), b"ret = %d" % value
        else:
            name, _, text = event.partition(b":")
            if name in _MARKS and (mark := _MARK.fullmatch(text.strip())):
                self._kernel.mark(number, time, tid, mark["begins"] or b"")
                return
            if name != b"sched_switch" and name != wakes:
                self._moments.append((number, tid, name, time))
                return
            what = (SWITCH if name == b"sched_switch" else WAKING), name
        if what[0] == WAKING and flags[2:3] in _INTERRUPTS:
            tid = 0
        self._found.setdefault(what, []).append((number, time, int(cpu), tid, text.strip()))

    def hand_over(self) -> Ints:
        """Give the recording all calls, waits and wake-ups; return the line of each event of a call."""
        recording = self._recording
        line, thread, kind, function, time = self._kernel.finish(recording)
        recording.add_events(thread=thread, kind=kind, function=function, time=time)
        _, tid, name, time = self._all_moments().T
        tids, of = np.unique(tid, return_inverse=True)
        threads = [self._kernel.thread(recording, one) for one in tids.tolist()]
        recording.add_instants(name=name, thread=np.array(threads, np.int64)[of.reshape(-1)], time=time)
        return line

    def _all_moments(self) -> Ints:
        """Return line, thread, number of the name and time of each moment, as they are written."""
        recording, texts = self._recording, self._texts
        scanned = np.concatenate([np.empty((0, 4), np.int64), *self._scanned])
        for number in np.unique(scanned[:, 2]).tolist():
            low = int(texts.starts[number])
            said = self._data[low : low + int(texts.lengths[number])]
            scanned[scanned[:, 2] == number, 2] = -1 - recording.text(
                "instants", said.decode("utf-8", "replace")
            )
        scanned[:, 2] = -1 - scanned[:, 2]
        others = [
            (line, tid, recording.text("instants", name.decode("utf-8", "replace")), time)
            for line, tid, name, time in self._moments
        ]
        every = np.concatenate([scanned, np.array(others, np.int64).reshape(-1, 4)])
        ordered: Ints = every[np.argsort(every[:, 0], kind="stable")]
        return ordered


def _ints(column: Sequence[int]) -> Ints:
    return np.array(column, np.int64)


FORMAT = registry.Format(
    name="ftrace",
    title="ftrace",
    suffixes=(".ftrace", ".ftrace.txt", ".systrace", ".txt"),
    sniff=sniff,
    read=read,
    programs="Linux' ftrace: `trace-cmd report`, the file `trace` of tracefs; Android's systrace",
    recipe=(
        "trace-cmd record -e sched_switch -e sched_waking -e syscalls ./program; "
        "trace-cmd report > run.ftrace",
    ),
    left_out="the function tracers' lines, and the fields of events other than switches and wake-ups",
)
