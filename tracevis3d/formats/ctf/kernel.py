"""What Linux' own events contain (of LTTng and ftrace): system calls, who is off its core, who wakes whom.

Each event says on which processor it happened; which thread runs there the scheduler's last switch says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.lay import threads as k
from ...kernels.formats.lay.threads import ENTRY, EXIT, FORK, STATE, SWITCH, WAKING
from ...kernels.formats.scan import ftrace as s
from ...trace.events import BEGIN, END
from ...trace.model import RELEASE, WAIT
from ...trace.recording import Recording
from ..distinct import chosen, distinct

Ints = NDArray[np.int64]

_Events = tuple[Ints, NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32], Ints]

#: Name of an event -> its number here; events of system calls are recognised by their prefix.
_NAMES = {
    "sched_switch": SWITCH,
    "sched_waking": WAKING,
    "sched_process_fork": FORK,
    "lttng_statedump_process_state": STATE,
}
_ENTRY, _EXIT = ("syscall_entry_", "sys_"), "syscall_exit_"
_FIELDS = {
    SWITCH: re.compile(
        rb'prev_comm = "([^"]*)".*?prev_tid = (\d{1,9}).*?prev_state = (?:\( .*?container = )?(\d{1,9})'
        rb'.*?next_comm = "([^"]*)".*?next_tid = (\d{1,9})'
    ),
    WAKING: re.compile(rb'comm = "([^"]*)".*?\btid = (\d{1,9})'),
    FORK: re.compile(rb'child_comm = "([^"]*)".*?child_tid = (\d{1,9}).*?child_pid = (\d{1,9})'),
    STATE: re.compile(rb'\btid = (\d{1,9}).*?\bpid = (\d{1,9}).*?name = "([^"]*)"'),
    EXIT: re.compile(rb"\bret = (-?\d{1,18})"),
}
_CPU = re.compile(rb"\bcpu_id = (\d{1,9})\b")
OFF, PREEMPTED = "linux:schedule", "linux:schedule (preempted)"


def number_of(name: str) -> int:
    """Return which of the kernel's events this is; -1: none that is read."""
    if name in _NAMES:
        return _NAMES[name]
    return EXIT if name.startswith(_EXIT) else ENTRY if name.startswith(_ENTRY) else -1


#: By the scanner's kind of a row; of moments and unusual lines there is none.
_OF_SCANNER = np.array([SWITCH, WAKING, ENTRY, EXIT, -1, -1])
#: States of a thread that could go on running, as numbers and as letters.
_RUNNABLE = (b"0", b"R", b"R+")


class KernelEvents:
    """Collects the kernel's events, and makes calls, waits and releases of them at the end.

    Parameters
    ----------
    patterns : mapping of int to Pattern, optional
        How the fields of switches and wake-ups are printed, if not as by LTTng; groups that take no part are
        left out.
    """

    def __init__(self, patterns: Mapping[int, re.Pattern[bytes]] | None = None) -> None:
        self._patterns = {**_FIELDS, **(patterns or {})}
        # Line, thread, kind, function, time.
        self._marks: list[tuple[int, int, int, bytes, int]] = []
        # Line, time, processor, kind, thread, another thread or value, text, who runs (-1: unknown); columns
        # lie together.
        self._rows: list[Ints] = []
        self._texts: dict[bytes, int] = {}
        self._process: dict[int, int] = {}
        self._title: dict[int, bytes] = {}
        # The last name that a switch gives a thread, the first that a wake-up does; and where.
        self._switched: dict[int, tuple[int, bytes]] = {}
        self._woken: dict[int, tuple[int, bytes]] = {}

    def __len__(self) -> int:
        return sum(rows.shape[1] for rows in self._rows)

    def name_thread(self, tid: int, title: bytes, process: int | None = None) -> None:
        """Name a thread, and its process if that is known.

        Parameters
        ----------
        tid : int
        title : bytes
        process : int, optional
        """
        self._title.setdefault(tid, title)
        if process is not None:
            self._process[tid] = process

    def mark(self, line: int, time: int, tid: int, begins: bytes) -> None:
        """Take a mark of a program: what begins, or the end of what began last if that is empty.

        Parameters
        ----------
        line : int
        time : int
            Nanoseconds.
        tid : int
        begins : bytes
        """
        self._marks.append((line, tid, BEGIN if begins else END, begins, time))

    def take(
        self, kind: int, name: str, line: Ints, time: Ints, fields: list[bytes],
        cpu: Ints | None = None, running: Ints | None = None,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Take the events of one name; return which could be understood.

        Parameters
        ----------
        kind : int
            What such events mean, as a number.
        name : str
            That of the events.
        line : int64 (n,)
            Where they are printed, from 0.
        time : int64 (n,)
            Nanoseconds.
        fields : list of bytes
            What is printed behind the name, of each.
        cpu : int64 (n,), optional
            Its processor, if it is not among the fields.
        running : int64 (n,), optional
            The thread that does it, 0 for interrupts; if left out, the switches say who runs.

        Returns
        -------
        bool (n,)
        """
        understood = np.ones(len(line), np.bool_)
        made = np.full((len(line), 8), -1, np.int64)
        made[:, 0], made[:, 1], made[:, 3] = line, time, kind
        pattern = self._patterns.get(kind)
        short = name.removeprefix(_EXIT)
        for prefix in _ENTRY:
            short = short.removeprefix(prefix)
        call = self._text(short.encode()) if kind in (ENTRY, EXIT) else -1
        for i, (at, text) in enumerate(zip(line.tolist(), fields)):
            if cpu is None:
                said = _CPU.search(text)
                made[i, 2] = int(said[1]) if said else 0
            found = pattern.search(text) if pattern is not None else None
            if kind in (ENTRY, EXIT):
                made[i, 5:7] = int(found[1]) if found else 0, call
            elif found is None:
                made[i, 3], understood[i] = -1, False
            elif kind == SWITCH:
                before, prev, state, after, following = (one for one in found.groups() if one is not None)
                self._name_switched(int(prev), at, before)
                self._name_switched(int(following), at, after)
                made[i, 4:7] = int(prev), int(following), state not in _RUNNABLE
            elif kind == WAKING:
                title, woken = (one for one in found.groups() if one is not None)
                self._name_woken(int(woken), at, title)
                made[i, 4] = int(woken)
            elif kind == FORK:
                self._process[int(found[2])] = int(found[3])
                made[i, 3] = -1
            else:
                self._process.setdefault(int(found[1]), int(found[2]))
                self._title.setdefault(int(found[1]), found[3])
                made[i, 3] = -1
        if cpu is not None:
            made[:, 2] = cpu
        if running is not None:
            made[:, 7] = running
        self._rows.append(made[made[:, 3] >= 0].T)
        return understood

    def take_rows(self, rows: Ints, name: Callable[[int], bytes]) -> None:
        """Take events that a scanner has read.

        Parameters
        ----------
        rows : int64 (n, columns)
            As :mod:`...kernels.formats.scan.ftrace` writes them, without moments and unusual lines.
        name : callable
            Returns the name with a number.
        """
        of_row = rows.T
        # What a column holds in rows of another kind is not asked for.
        columns = [s.NUMBER, s.TIME, s.CPU, s.KIND, s.FIRST, s.SECOND, s.VALUE, s.TID]
        made = of_row.take(columns, axis=0)
        made[3] = _OF_SCANNER[made[3]]
        here = np.flatnonzero(made[3] == WAKING)
        made[7][here] = made[6].take(here)
        for kind in (ENTRY, EXIT):
            here = np.flatnonzero(made[3] == kind)
            if len(here):
                made[5, here] = rows[here, s.VALUE] if kind == EXIT else 0
                numbers, of_call = distinct(rows[here, s.NAME])
                calls = np.array([self._text(name(number)) for number in numbers.tolist()], np.int64)
                made[6, here] = calls[of_call]
        self.take_columns(made, of_row[s.NAME], of_row[s.OTHER], name)

    def take_columns(self, made: Ints, first: Ints, second: Ints, name: Callable[[int], bytes]) -> None:
        """Take events as columns.

        Parameters
        ----------
        made : int64 (8, n)
            Line, time, processor and kind; who leaves or is woken, who comes, whether the first sleeps; who
            runs, or wakes. Of a system call what it returns, and its name. Kept.
        first, second : int64 (n,)
            The names of who leaves or is woken, and of who comes.
        name : callable
            Returns the name with a number.
        """
        here = np.flatnonzero(made[3] == SWITCH)
        tids, which = distinct(np.stack([made[4].take(here), made[5].take(here)], axis=1).reshape(-1))
        last = np.empty(len(tids) if len(here) else 0, np.int64)
        # Of several rows the last one stays.
        last[which] = np.arange(len(which))
        row = here[last // 2]
        numbers = np.where(last % 2 == 0, first[row], second[row])
        for tid, number, at in zip(tids.tolist(), numbers.tolist(), made[0, row].tolist()):
            self._name_switched(tid, at, name(number))
        here = np.flatnonzero(made[3] == WAKING)
        tids, which = distinct(made[4].take(here))
        row = np.empty(len(tids) if len(here) else 0, np.int64)
        row[which[::-1]] = here[::-1]
        for tid, number, at in zip(tids.tolist(), first[row].tolist(), made[0, row].tolist()):
            self._name_woken(tid, at, name(number))
        self._rows.append(made)

    def _text(self, name: bytes) -> int:
        return self._texts.setdefault(name, len(self._texts))

    def _name_switched(self, tid: int, line: int, title: bytes) -> None:
        if line >= self._switched.get(tid, (-1, b""))[0]:
            self._switched[tid] = line, title

    def _name_woken(self, tid: int, line: int, title: bytes) -> None:
        if tid not in self._woken or line < self._woken[tid][0]:
            self._woken[tid] = line, title

    def finish(self, recording: Recording, busy: Collection[int] = ()) -> _Events:
        """Hand over waits and releases, and return the events of calls.

        Parameters
        ----------
        recording : Recording
            It is filled; the events are to be added to it next.
        busy : collection of int
            Threads that have calls of other events: no call represents their whole life.

        Returns
        -------
        line, thread, kind, function, time : int64, int32, uint8, int32, int64 (n,)
            In the order of each thread; nanoseconds.
        """
        self._title.update((tid, title) for tid, (_, title) in self._switched.items())
        for tid, (_, title) in self._woken.items():
            self._title.setdefault(tid, title)
        rows = self._in_order()
        unknown = np.flatnonzero(rows[k.RUNS] < 0)
        if len(unknown):
            switches = chosen(rows, np.flatnonzero(rows[k.KIND] == SWITCH))
            rows = rows.copy()
            rows[k.RUNS, unknown] = _running(switches, rows[k.LINE, unknown], rows[k.CPU, unknown])
        module = (("module", "scheduler"),)
        off = [recording.function(name, containers=module) for name in (OFF, PREEMPTED)]
        calls = np.array(
            [recording.function(name.decode("utf-8", "replace"), containers=(("module", "system calls"),))
             for name in self._texts], np.int32,
        )  # fmt: skip
        marks = np.array(
            [(li, at_ns, who, what, recording.function(title.decode("utf-8", "replace")) if title else -1)
             for li, who, what, title, at_ns in self._marks], np.int64,
        ).reshape(-1, k.MARK_COLUMNS)  # fmt: skip
        marks = np.ascontiguousarray(marks[np.argsort(marks[:, k.MARK_LINE], kind="stable")].T)
        ids, threads, who, of_mark, ends = self._surveyed(rows, marks)

        by_id = np.argsort(ids)
        lives = (threads[:, k.FIRST] >= 0) & ~np.isin(ids, list(busy))
        life, number = np.full((2, len(ids)), -1, np.int32)
        for one in by_id[lives[by_id]].tolist():
            life[one] = recording.function(self._name(int(ids[one])))
        many = threads[:, k.EVENTS] + 2 * lives
        for one in by_id[many[by_id] > 0].tolist():
            number[one] = self.thread(recording, int(ids[one]))
        place = np.empty(len(ids), np.int64)
        place[by_id] = np.cumsum(many[by_id]) - many[by_id]
        events = int(many.sum())
        thread, function = np.empty((2, events), np.int32)
        line, time, until = np.empty((3, events), np.int64)
        kind, is_asleep = np.empty(events, np.uint8), np.zeros(events, np.bool_)
        asleep, preempted = off
        k.lay_threads(
            rows, marks, who, of_mark, ends, threads, life, asleep, preempted, calls, place,
            np.zeros(len(ids), np.bool_), thread, line, kind, function, time, is_asleep, until,
        )  # fmt: skip
        waking = np.flatnonzero((rows[k.KIND] == WAKING) & (rows[k.RUNS] >= 0))
        # Who is no thread, -1, has no number either.
        waking = waking[np.append(number, np.int32(-1))[who[1].take(waking)] >= 0]
        sleeps = np.flatnonzero(is_asleep)
        self._add_sync(
            recording, (ids, by_id, number),
            (rows[k.TIME].take(waking), rows[k.CPU].take(waking), who[1].take(waking), who[0].take(waking)),
            (thread.take(sleeps), time.take(sleeps), until.take(sleeps), sleeps + recording.n_events),
        )  # fmt: skip
        return line, number[thread], kind, function, time

    def _surveyed(
        self, rows: Ints, marks: Ints
    ) -> tuple[Ints, Ints, NDArray[np.int32], NDArray[np.int32], Ints]:
        """Return the numbers of threads, and what :func:`.threads.survey_threads` fills beside them."""
        n, clones = rows.shape[1], np.zeros(len(self._texts) + 1, np.bool_)
        clones[self._clones()] = True
        who, of_mark = np.empty((3, n), np.int32), np.empty(marks.shape[1], np.int32)
        room, count = 1 << 10, -1
        while count < 0:
            room *= 4
            table, ends = np.full(2 * room, -1, np.int32), np.full(n, -1, np.int64)
            ids, threads = np.empty(room, np.int64), np.full((room, k.THREAD_COLUMNS), -1, np.int64)
            threads[:, k.EVENTS] = 0
            count = int(k.survey_threads(rows, marks, clones, table, ids, threads, who, of_mark, ends))
        return ids[:count], threads[:count], who, of_mark, ends

    def _in_order(self) -> Ints:
        """Return all rows as columns, by their lines."""
        if len(self._rows) == 1:
            rows = self._rows[0]
        else:
            rows = np.concatenate([np.empty((k.ROW_COLUMNS, 0), np.int64), *self._rows], axis=1)
        line = rows[k.LINE]
        if not (line[1:] >= line[:-1]).all():
            rows = rows[:, np.argsort(line, kind="stable")]
        return np.ascontiguousarray(rows)

    def _clones(self) -> list[int]:
        return [i for name, i in self._texts.items() if name in (b"clone", b"clone3", b"fork", b"vfork")]

    def _name(self, tid: int) -> str:
        return self._title.get(tid, b"").decode("utf-8", "replace") or f"thread {tid}"

    def thread(self, recording: Recording, tid: int) -> int:
        """Return a thread's index in a recording, which is given its name.

        Parameters
        ----------
        recording : Recording
        tid : int

        Returns
        -------
        int
        """
        process = self._process.get(tid, tid)
        recording.name_thread(process, tid, self._name(tid))
        recording.name_process(process, self._name(process))
        return recording.thread(process, tid)

    def _add_sync(
        self,
        recording: Recording,
        known: tuple[Ints, Ints, NDArray[np.int32]],
        wakes: tuple[Ints, ...],
        sleeps: tuple[Ints, ...],
    ) -> None:
        """Add sleeps, and who ends them; interrupts are threads of their processor.

        Known are threads, their order, and their numbers in the recording. Wake-ups are time, processor, who
        is woken and by whom (-1: by an interrupt); sleeps are who, from, to and the event.
        """
        ids, order, number = known
        sleeper, start, end, event = sleeps
        time, cpu, woken, by = wakes
        who = np.append(number, np.int32(-1))[by]
        others = np.flatnonzero(who < 0)
        cpus, which = distinct(cpu[others])
        interrupts = []
        for one in cpus.tolist():
            recording.name_thread("interrupts", f"cpu{one}", f"interrupts of processor {one}")
            interrupts.append(recording.thread("interrupts", f"cpu{one}"))
        who[others] = np.array(interrupts, np.int32)[which] if interrupts else 0
        is_named, objects = np.zeros(len(ids), np.bool_), np.full(len(ids), -1, np.int32)
        is_named[woken] = is_named[sleeper] = True
        for one in order[is_named[order]].tolist():
            tid = int(ids[one])
            objects[one] = recording.text("objects", f"wake-up of {self._name(tid)} ({tid})")
        for kind, name, thread, begun, ended, about, call in (
            (RELEASE, "sched_waking", who, time, time, woken, None),
            (WAIT, OFF, number[sleeper], start, end, sleeper, event),
        ):
            if len(begun):
                recording.add_sync(
                    thread=thread, kind=np.full(len(begun), kind),
                    name=np.full(len(begun), recording.text("sync", name)), start=begun, end=ended,
                    contended=np.full(len(begun), 1 if kind == WAIT else -1),
                    object=objects[about], event=call,
                )  # fmt: skip


def _running(switches: Ints, line: Ints, cpu: Ints) -> Ints:
    """Return which thread runs on an event's processor just before it, int64 (n,); -1: unknown."""
    found = np.full(len(line), -1, np.int64)
    for one in np.unique(cpu).tolist():
        mine = switches[:, switches[2] == one]
        here = np.flatnonzero(cpu == one)
        if mine.shape[1]:
            at = np.searchsorted(mine[0], line[here]) - 1
            found[here] = np.where(at >= 0, mine[5, np.maximum(at, 0)], mine[4, 0])
    return found
