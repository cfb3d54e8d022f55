"""What Linux' own events contain (of LTTng and ftrace): system calls, who is off its core, who wakes whom.

Each event says on which processor it happened; which thread runs there the scheduler's last switch says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.scan import ftrace as s
from ...trace.events import BEGIN, END
from ...trace.model import RELEASE, WAIT
from ...trace.recording import Recording
from ..distinct import distinct, packed, places_among

Ints = NDArray[np.int64]

#: Name of an event -> its number here; events of system calls are recognised by their prefix.
SWITCH, WAKING, FORK, STATE, ENTRY, EXIT = range(6)
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
        # Line, time, processor, kind, thread, another thread or value, text, who runs (-1: unknown).
        self._rows: list[Ints] = []
        self._texts: dict[bytes, int] = {}
        self._process: dict[int, int] = {}
        self._title: dict[int, bytes] = {}
        # The last name that a switch gives a thread, the first that a wake-up does; and where.
        self._switched: dict[int, tuple[int, bytes]] = {}
        self._woken: dict[int, tuple[int, bytes]] = {}

    def __len__(self) -> int:
        return sum(len(rows) for rows in self._rows)

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
        self._rows.append(made[made[:, 3] >= 0])
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
        made = np.full((len(rows), 8), -1, np.int64)
        for place, column in enumerate((s.NUMBER, s.TIME, s.CPU)):
            made[:, place] = rows[:, column]
        made[:, 7] = rows[:, s.TID]
        for kind, of in ((SWITCH, s.SWITCH), (WAKING, s.WAKING), (ENTRY, s.ENTRY), (EXIT, s.EXIT)):
            here = np.flatnonzero(rows[:, s.KIND] == of)
            mine = rows[here]
            made[here, 3] = kind
            if kind == SWITCH:
                made[here, 4:7] = mine[:, [s.FIRST, s.SECOND, s.VALUE]]
                both = mine[:, [s.FIRST, s.SECOND]].reshape(-1)[::-1]
                numbers = mine[:, [s.NAME, s.OTHER]].reshape(-1)[::-1]
                lines = np.repeat(mine[:, s.NUMBER], 2)[::-1]
                tids, last = np.unique(both, return_index=True)
                for tid, number, at in zip(tids.tolist(), numbers[last].tolist(), lines[last].tolist()):
                    self._name_switched(tid, at, name(number))
            elif kind == WAKING:
                made[here, 4], made[here, 7] = mine[:, s.FIRST], mine[:, s.VALUE]
                tids, first = np.unique(mine[:, s.FIRST], return_index=True)
                for tid, number, at in zip(
                    tids.tolist(), mine[first, s.NAME].tolist(), mine[first, s.NUMBER].tolist()
                ):
                    self._name_woken(tid, at, name(number))
            elif len(here):
                numbers, of_call = np.unique(mine[:, s.NAME], return_inverse=True)
                calls = np.array([self._text(name(number)) for number in numbers.tolist()], np.int64)
                made[here, 6] = calls[of_call.reshape(-1)]
                made[here, 5] = mine[:, s.VALUE] if kind == EXIT else 0
        self._rows.append(made)

    def _text(self, name: bytes) -> int:
        return self._texts.setdefault(name, len(self._texts))

    def _name_switched(self, tid: int, line: int, title: bytes) -> None:
        if line >= self._switched.get(tid, (-1, b""))[0]:
            self._switched[tid] = line, title

    def _name_woken(self, tid: int, line: int, title: bytes) -> None:
        if tid not in self._woken or line < self._woken[tid][0]:
            self._woken[tid] = line, title

    def finish(self, recording: Recording, busy: Collection[int] = ()) -> Ints:
        """Hand over waits and releases, and return the events of calls.

        Parameters
        ----------
        recording : Recording
            It is filled; the events are to be added to it next.
        busy : collection of int
            Threads that have calls of other events: no call represents their whole life.

        Returns
        -------
        int64 (n, 5)
            Line, thread, kind, function, time; in the order of each thread.
        """
        self._title.update((tid, title) for tid, (_, title) in self._switched.items())
        for tid, (_, title) in self._woken.items():
            self._title.setdefault(tid, title)
        rows = np.concatenate([np.empty((0, 8), np.int64), *self._rows])
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        is_switch = rows[:, 3] == SWITCH
        switches = rows[is_switch]
        line, time, cpu, kind, _, value, text, said = rows.T
        running = np.where(said >= 0, said, _running(switches, line, cpu))
        # A new thread leaves the call of its creator, which it never entered.
        newborn = (kind == EXIT) & (value == 0) & np.isin(text, self._clones())
        called = ((kind == ENTRY) | (kind == EXIT)) & ~newborn & (running > 0)
        entered, left = _next_of_another_kind(running[called], kind[called] == ENTRY)
        at = np.flatnonzero(called)
        entered, left = at[entered], at[left]
        # The thread that leaves a core, and when it returns.
        n = len(switches)
        tid = np.concatenate([switches[:, 4], switches[:, 5]])
        when = np.concatenate([2 * switches[:, 0], 2 * switches[:, 0] + 1])
        order = np.lexsort(packed(when, tid))
        off, back = _next_of_another_kind(tid[order], order < n)
        off, back = order[off], order[back] - n
        some = switches[off, 4] > 0
        off, back = switches[off[some]], switches[back[some]]
        asleep = off[:, 6] != 0
        module = (("module", "scheduler"),)
        away = np.where(asleep, recording.function(OFF, containers=module),
                        recording.function(PREEMPTED, containers=module))  # fmt: skip
        names = [recording.function(name.decode("utf-8", "replace"), containers=(("module", "system calls"),))
                 for name in self._texts] or [-1]  # fmt: skip
        call = np.array(names)[text[entered]]
        marks = [(li, who, what, recording.function(title.decode("utf-8", "replace")) if title else -1, at_ns)
                 for li, who, what, title, at_ns in self._marks]  # fmt: skip
        at_line, who, what, function, at_ns = np.array(marks, np.int64).reshape(-1, 5).T
        events = np.concatenate(
            [
                _events(running[entered], line[entered], 0, BEGIN, call, time[entered]),
                _events(running[left], line[left], 0, END, -1, time[left]),
                _events(off[:, 4], off[:, 0], 0, BEGIN, away, off[:, 1], asleep * np.cumsum(asleep)),
                _events(off[:, 4], back[:, 0], 0, END, -1, back[:, 1]),
                _events(who, at_line, 0, what, function, at_ns),
                self._lives(recording, np.concatenate([running, switches[:, 5], who]),
                            np.concatenate([line, switches[:, 0], at_line]),
                            np.concatenate([time, switches[:, 1], at_ns]), busy),
            ]
        )  # fmt: skip
        thread, at_line, rank = events.T[:3]
        events = events[np.lexsort(packed(rank, at_line, thread))]
        sleeps = np.flatnonzero(events[:, 6])
        sleeps = sleeps[np.argsort(events[sleeps, 6])] + recording.n_events
        waking = np.flatnonzero((kind == WAKING) & (running >= 0))
        tids, which = distinct(events[:, 0])
        numbers = np.array([self.thread(recording, tid) for tid in tids.tolist()], np.int64)
        known = tids, numbers
        self._add_sync(recording, known, rows[waking], running[waking], off[asleep], back[asleep], sleeps)
        columns = events[:, 1], numbers[which], events[:, 3], events[:, 4], events[:, 5]
        return np.stack(columns, axis=1)

    def _clones(self) -> list[int]:
        return [i for name, i in self._texts.items() if name in (b"clone", b"clone3", b"fork", b"vfork")]

    def _lives(
        self, recording: Recording, thread: Ints, line: Ints, time: Ints, busy: Collection[int]
    ) -> Ints:
        """Return a call for each thread, from the first to the last that is known of it."""
        known = (thread > 0) & ~np.isin(thread, list(busy))
        thread, line, time = thread[known], line[known], time[known]
        order = np.lexsort(packed(line, thread))
        thread, line, time = thread[order], line[order], time[order]
        ids, first = np.unique(thread, return_index=True)
        last = np.append(first, len(thread))[1:] - 1
        names = np.array([recording.function(self._name(t)) for t in ids.tolist()], np.int64)
        return np.concatenate(
            [
                _events(ids, line[first], -1, BEGIN, names, time[first]),
                _events(ids, line[last], 1, END, -1, time[last]),
            ]
        )

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
        known: tuple[Ints, Ints],
        waking: Ints,
        by: Ints,
        off: Ints,
        back: Ints,
        event: Ints,
    ) -> None:
        """Add sleeps, and who ends them; interrupts are threads of their processor."""
        tids, number = known
        woken = places_among(waking[:, 4], tids) >= 0
        waking, by = waking[woken], by[woken]
        place = places_among(by, tids)
        who = np.append(number, -1)[place]
        others = np.flatnonzero(place < 0)
        cpus, which = distinct(waking[others, 2])
        interrupts = []
        for cpu in cpus.tolist():
            recording.name_thread("interrupts", f"cpu{cpu}", f"interrupts of processor {cpu}")
            interrupts.append(recording.thread("interrupts", f"cpu{cpu}"))
        who[others] = np.array(interrupts, np.int64)[which] if interrupts else 0
        about, which = distinct(np.concatenate([waking[:, 4], off[:, 4]]))
        texts = [recording.text("objects", f"wake-up of {self._name(t)} ({t})") for t in about.tolist()]
        objects = np.array(texts, np.int64)[which] if texts else which
        sleeping = number[places_among(off[:, 4], tids)] if len(off) else off[:, 4]
        for kind, name, thread, start, end, whose, call in (
            (RELEASE, "sched_waking", who, waking[:, 1], waking[:, 1], objects[: len(waking)], None),
            (WAIT, OFF, sleeping, off[:, 1], back[:, 1], objects[len(waking) :], event),
        ):
            if len(start):
                recording.add_sync(
                    thread=thread, kind=np.full(len(start), kind),
                    name=np.full(len(start), recording.text("sync", name)), start=start, end=end,
                    contended=np.full(len(start), 1 if kind == WAIT else -1),
                    object=whose, event=call,
                )  # fmt: skip


def _events(
    thread: Ints,
    line: Ints,
    rank: int,
    kind: Ints | int,
    function: Ints | int,
    time: Ints,
    mark: Ints | int = 0,
) -> Ints:
    """Return rows of thread, line, rank among those of one line, kind, function, time and a mark."""
    n = len(thread)
    rows: Ints = np.stack(
        [thread, line, np.full(n, rank), np.broadcast_to(kind, n), np.broadcast_to(function, n), time,
         np.broadcast_to(mark, n)], axis=1,
    ).astype(np.int64)  # fmt: skip
    return rows


def _running(switches: Ints, line: Ints, cpu: Ints) -> Ints:
    """Return which thread runs on an event's processor just before it, int64 (n,); -1: unknown."""
    found = np.full(len(line), -1, np.int64)
    for one in np.unique(cpu).tolist():
        mine = switches[switches[:, 2] == one]
        here = np.flatnonzero(cpu == one)
        if len(mine):
            at = np.searchsorted(mine[:, 0], line[here]) - 1
            found[here] = np.where(at >= 0, mine[np.maximum(at, 0), 5], mine[0, 4])
    return found


def _next_of_another_kind(group: Ints, begins: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return begins that are followed, in their group, directly by an end; and these ends."""
    order = np.argsort(group, kind="stable")
    group, begins = group[order], begins[order]
    pair = np.flatnonzero(begins[:-1] & ~begins[1:] & (group[:-1] == group[1:]))
    begun: Ints = order[pair]
    return begun, order[pair + 1]
