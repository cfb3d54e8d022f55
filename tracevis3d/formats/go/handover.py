"""Goroutines' states become calls, waits and releases; with collections, tasks, regions and the heap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.go import lay as kernels
from ...trace.events import BEGIN, COMPLETE, END
from ...trace.model import RELEASE, WAIT, Calls
from ...trace.recording import Recording
from ..distinct import distinct
from ..profiles.documents import add_function, place
from .changes import Changes
from .tables import Tables

Ints = NDArray[np.int64]

#: What calls are called in which a goroutine does not run.
READY, INSIDE, ENDED = "ready to run", "system call", "unnamed wait"
ASSIST = "GC mark assist"
#: The process of all goroutines, and the threads of what belongs to none.
_PROCESS, _RUNTIME, _COLLECTOR, _STOPPED = 0, "runtime", "garbage collector", "stop the world"
#: Kinds of events by whether Go 1.21 or before wrote them: begin and end of what lies on goroutines ...
_ASSISTS = {False: (35, 36), True: (43, 44)}
#: ... of collections and of stops of all ...
_COLLECTIONS, _STOPS = {False: (29, 30), True: (7, 8)}, {False: (26, 27), True: (9, 10)}
#: ... of tasks with the column of their names, regions, logs, and numbers that change.
_TASKS = {False: (40, 41, 2), True: (45, 46, 2)}
_LOGS = {False: 44, True: 48}
_NUMBERS = {
    False: {37: "heap (bytes)", 38: "heap goal (bytes)", 9: "GOMAXPROCS"},
    True: {33: "heap (bytes)", 34: "heap goal (bytes)", 4: "GOMAXPROCS"},
}
#: Why all goroutines are stopped, as Go 1.21 and before number it.
_OLD_REASONS = ("mark termination", "sweep termination")


def hand_over(tables: Tables, changes: Changes, recording: Recording) -> Callable[[int], int] | None:
    """Give a recording all that a trace says.

    Parameters
    ----------
    tables : Tables
    changes : Changes
        They are put in order.
    recording : Recording
        It is filled.

    Returns
    -------
    callable or None
        Returns the byte of an event; None where no goroutine does anything.
    """
    if not len(changes.numbers):
        return None
    return _HandOver(tables, changes, recording).run()


@dataclass(frozen=True, eq=False)
class _Machine:
    """Calls on a thread of the program's own: when each begins and ends, the byte of it, and its function."""

    thread: str
    start: Ints
    end: Ints
    byte: Ints
    functions: Callable[[], Ints]


class _HandOver:
    def __init__(self, tables: Tables, changes: Changes, recording: Recording) -> None:
        self._tables, self._changes, self._recording = tables, changes, recording
        self._entry = np.empty(len(changes.numbers), np.int64)
        self._counts = np.zeros(kernels.COUNTS, np.int64)
        names = tables.names
        self._outermost = names.first + names.many - 1
        places, of = self._places_of_frames()
        opened, self._waited = np.zeros(len(names.many), np.bool_), np.zeros(len(changes.reason_of), np.bool_)
        kernels.settle_changes(
            changes.first, changes.time, changes.byte, changes.becomes,
            changes.reason, changes.stack, changes.by,
            self._outermost, names.many, of, opened, self._waited, self._entry, self._counts,
        )  # fmt: skip
        self._frames = self._add_frames(places, of, opened)
        # The earliest time, as a rule.
        begins = changes.time[changes.first[:-1][np.diff(changes.first) > 0]]
        self._origin = min(int(begins.min(initial=changes.last)), int(tables.time.min(initial=changes.last)))
        self._roots, self._names = self._entries()
        self._threads = self._name_threads(self._names)

    def run(self) -> Callable[[int], int]:
        """Hand over everything."""
        machines = [
            self._machine(_COLLECTIONS, _COLLECTOR, self._collections),
            self._machine(_STOPS, _STOPPED, self._why_stopped),
        ]
        place = self._states(machines)
        self._tasks()
        self._logs()
        self._counters()
        return place

    # -- names -------------------------------------------------------------------------------------

    def _places_of_frames(self) -> tuple[list[tuple[str, str]], NDArray[np.int32]]:
        """Return functions and files that frames name, and which of them each frame does."""
        names = self._tables.names
        count = int(names.same.max(initial=-1)) + 2
        # The last one is that of no text.
        same = np.append(names.same, count - 1)
        texts = dict(zip((*names.same.tolist(), count - 1), (*names.texts, "")))
        kinds, of = distinct(same[names.functions] * count + same[names.files])
        pairs = [divmod(kind, count) for kind in kinds.tolist()] if len(of) else []
        # Of functions that are called the same, the first file counts.
        known: dict[str, tuple[int, str, str]] = {}
        named = [(texts[name], texts[file]) for name, file in pairs]
        number = [known.setdefault(place(*said), (len(known), *said))[0] for said in named]
        return [said[1:] for said in known.values()], np.array(number, np.int32)[of]

    def _add_frames(
        self, places: list[tuple[str, str]], of: NDArray[np.int32], opened: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """Return the function of each frame; -1 where no call is one."""
        is_called = np.repeat(opened, self._tables.names.many)
        is_called[self._entry[self._entry >= 0]] = True
        functions = np.full(len(places), -1, np.int32)
        for row in np.unique(of[is_called]).tolist():
            functions[row] = add_function(self._recording, *places[row])
        return functions[of]

    def _named(self, name: str) -> int:
        """Return the function of what the runtime does."""
        return self._recording.function(name, label=name, containers=(("module", "scheduler"),))

    def _entries(self) -> tuple[NDArray[np.int32], list[str]]:
        """Return the function that each goroutine begins with, outermost in its first stack, and its name."""
        known, numbers = self._tables.names, self._changes.numbers.tolist()
        texts = [*known.texts, ""]
        names = [texts[known.functions[frame]] if frame >= 0 else "" for frame in self._entry.tolist()]
        entries = np.append(self._frames, np.int32(-1))[self._entry]
        for row in np.flatnonzero(entries < 0).tolist():
            names[row] = f"goroutine {numbers[row]}"
            entries[row] = self._recording.function(names[row])
        return entries, names

    def _name_threads(self, names: list[str]) -> NDArray[np.int32]:
        """Return the thread of each goroutine."""
        recording, threads = self._recording, []
        for number, name in zip(self._changes.numbers.tolist(), names, strict=True):
            recording.name_thread(_PROCESS, number, name)
            threads.append(recording.thread(_PROCESS, number))
        return np.array(threads, np.int32)

    # -- goroutines --------------------------------------------------------------------------------

    def _states(self, machines: list[_Machine]) -> Callable[[int], int]:
        """Add calls of goroutines, of what they do not run in, regions, and those of ``machines``.

        Return what returns the byte of an event.
        """
        changes, recording, counts = self._changes, self._recording, self._counts.tolist()
        regions = np.concatenate(self._regions())
        regions = regions[np.lexsort((regions[:, 4], regions[:, 0]))]
        regions[:, 4] = self._tables.at[regions[:, 4]]
        n = counts[kernels.CALLS] + int((regions[:, 1] == BEGIN).sum())
        room = n + sum(len(machine.start) for machine in machines)
        given: tuple[Any, ...] = (
            *(changes.first, changes.time, changes.byte, changes.becomes, changes.reason, changes.stack),
            *(changes.last, self._origin, self._threads, self._roots, *self._reasons()),
            *(self._outermost, self._tables.names.many, self._frames),
            *(np.ascontiguousarray(column) for column in regions.T),
        )
        waits, until, call = np.empty((3, counts[kernels.WAITS]), np.int64)
        releases = np.empty(counts[kernels.RELEASES], np.int64)
        creations = np.empty(counts[kernels.CREATIONS], np.int64)
        given += waits, until, call, releases, creations
        calls = self._laid(n, room, *given)
        byte = np.empty(0, np.int64)
        if calls is None:
            byte = self._add_events(2 * counts[kernels.CALLS] + len(regions), *given)
        self._sync(waits, until, call, releases)
        for machine in machines:
            if not len(machine.start):
                continue
            thread, function = recording.thread(_PROCESS, machine.thread), machine.functions()
            if calls is None:
                recording.add_events(
                    thread=np.full(len(function), thread),
                    kind=np.full(len(function), COMPLETE),
                    function=function,
                    time=machine.start,
                    end=machine.end,
                )
                continue
            rows = slice(n, n + len(function))
            calls.thread[rows], calls.function[rows] = thread, function
            calls.start[rows], calls.end[rows] = machine.start - self._origin, machine.end - self._origin
            calls.parent[rows], calls.depth[rows], calls.extent[rows] = -1, 1, 1
            n = rows.stop
        self._flows(creations)
        if calls is not None:
            recording.add_calls(calls, lambda: _as_events(calls, self._origin), origin=self._origin)
        byte = np.concatenate([byte, *(machine.byte for machine in machines)])
        return lambda event: int(byte[event])

    def _laid(self, n: int, room: int, *given: Any) -> Calls | None:
        """Return the calls of goroutines, ``n`` of ``room``; None if begins and ends don't fit together."""
        thread, function, depth = (np.empty(room, np.int32) for _ in range(3))
        start, end, parent, extent = (np.empty(room, np.int64) for _ in range(4))
        no, opened = np.empty(0, np.int64), np.empty(n, np.int64)
        given += thread, np.empty(0, np.uint8), function, start, no, parent, depth, end, extent, opened
        if not kernels.lay_changes(False, *given):
            return None
        return Calls(
            function=function, parent=parent, depth=depth, start=start, end=end, extent=extent, thread=thread,
            record=no,
        )  # fmt: skip

    def _add_events(self, n: int, *given: Any) -> Ints:
        """Add the begins and ends of goroutines' calls, which are repaired then; return the byte of each."""
        thread, function = (np.empty(n, np.int32) for _ in range(2))
        kind, start, byte = np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, np.int64)
        no = np.empty(0, np.int64)
        given += thread, kind, function, start, byte, no, np.empty(0, np.int32), no, no, no
        kernels.lay_changes(True, *given)
        self._recording.add_events(thread=thread, kind=kind, function=function, time=start)
        return byte

    def _reasons(self) -> tuple[int, int, NDArray[np.int32]]:
        """Return the functions that stand for being ready, system calls, and each reason of a wait.

        Those that no call is are -1.
        """
        counts, reason_of = self._counts, self._changes.reason_of
        functions = np.full(len(self._changes.reasons) + 1, -1, np.int32)
        for row in np.unique(reason_of[self._waited]).tolist():
            functions[row] = self._named(self._changes.reasons[row] or ENDED)
        ready = self._named(READY) if counts[kernels.READY] else -1
        inside = self._named(INSIDE) if counts[kernels.INSIDE] else -1
        return ready, inside, functions[reason_of]

    def _regions(self) -> list[Ints]:
        """Return the events of regions, and of work that goroutines do for the collector.

        Each has the change before it, kind, function, time, and event.
        """
        tables, changes = self._tables, self._changes
        begin, end = _ASSISTS[tables.is_old]
        assist = self._named(ASSIST) if (tables.kind == begin).any() else -1
        found = []
        for which, kind in ((begin, BEGIN), (end, END)):
            mine = np.flatnonzero(tables.kind == which)
            found.append((mine, np.full(len(mine), kind), np.full(len(mine), assist)))
        if tables.is_old:
            mine = np.flatnonzero((tables.kind == 47) & (tables.said[1] >= 0) & (tables.said[1] < 2))
            kinds, text = np.where(tables.said[1, mine] == 0, BEGIN, END), tables.text(mine, 2)
        else:
            mine = np.flatnonzero((tables.kind == 42) | (tables.kind == 43))
            kinds, text = np.where(tables.kind[mine] == 42, BEGIN, END), tables.text(mine, 1)
        regions, of = np.unique(text, return_inverse=True)
        texts = [*tables.names.texts, "(unnamed)"]
        functions = [
            self._recording.function(
                f"region {texts[k]}", label=texts[k], containers=(("module", "regions"),)
            )
            for k in regions.tolist()
        ]
        found.append((mine, kinds, np.array(functions, np.int64)[of.reshape(-1)]))
        parts = []
        for mine, kinds, function in found:
            last = self._last_change(mine)
            keep = last >= 0
            mine, last = mine[keep], last[keep]
            time = np.maximum(tables.time[mine], changes.time[last])
            parts.append(np.stack([last, kinds[keep], function[keep], time, mine], axis=1))
        return parts

    def _last_change(self, events: Ints) -> Ints:
        """Return the last change of the goroutine that runs where each event is, before it; -1: none."""
        changes, tables = self._changes, self._tables
        who, found = tables.running[events], np.empty(len(events), np.int64)
        goroutine, at = np.maximum(who, 0), tables.time[events]
        kernels.find_last_changes(changes.first, changes.time, goroutine, at, found)
        return np.where(who >= 0, found, -1)

    def _goroutines(self, changes: Ints) -> Ints:
        """Return whose changes are."""
        return np.searchsorted(self._changes.first, changes, side="right") - 1

    def _sync(self, waits: Ints, until: Ints, call: Ints, releases: Ints) -> None:
        """Add waits, and what ends them."""
        changes, recording, names = self._changes, self._recording, self._tables.names
        objects = np.array(
            [recording.text("objects", f"goroutine {n} ({name})")
             for n, name in zip(changes.numbers.tolist(), self._names, strict=True)], np.int32,
        )  # fmt: skip
        if len(waits):
            # The second half is for Go's own goroutines, which wait for work all the time.
            prefixes = ["runtime: " if text == "network" else "" for text in changes.reasons]
            said = [text or ENDED for text in changes.reasons]
            texts = [recording.text("sync", before + text) for before, text in zip(prefixes, said)]
            texts += [recording.text("sync", f"runtime: {text}") for text in said]
            of = self._goroutines(waits)
            is_own = np.array([_is_own(name) for name in self._names], np.int64)[of]
            lasts = waits + 1 == changes.first[of + 1]
            stack = changes.stack[waits]
            deep = (stack >= 0) & (np.append(names.many, 0)[stack] > 0)
            line = np.append(names.lines, 0)[np.where(deep, np.append(names.first, 0)[stack], -1)]
            recording.add_sync(
                thread=self._threads[of],
                kind=np.full(len(waits), WAIT),
                name=np.array(texts, np.int64)[changes.reason_of[changes.reason[waits]] + len(said) * is_own],
                start=changes.time[waits],
                end=until,
                contended=np.where(lasts, 2, 1),
                event=call,
                line=line,
                # The program goes on when the recording ends: nobody knows whether such a wait is in vain.
                object=np.where(lasts, -1, objects[of]),
            )
        if not len(releases):
            return
        by = np.append(changes.place, -1)[changes.by[releases]]
        who = self._threads[by]
        if (by < 0).any():
            recording.name_thread(_PROCESS, _RUNTIME, "runtime: timers, network, collector")
            who = np.where(by >= 0, who, recording.thread(_PROCESS, _RUNTIME))
        recording.add_sync(
            thread=who,
            kind=np.full(len(releases), RELEASE),
            name=np.full(len(releases), recording.text("sync", "unblock")),
            start=changes.time[releases],
            object=objects[self._goroutines(releases)],
        )

    def _flows(self, creations: Ints) -> None:
        """Add an arrow from who creates a goroutine to where it begins."""
        changes, recording = self._changes, self._recording
        creations = creations[changes.by[creations] >= 0]
        if len(creations):
            recording.add_flows(
                name=np.full(len(creations), recording.text("flows", "go")),
                source_thread=self._threads[changes.place[changes.by[creations]]],
                start=changes.time[creations],
                target_thread=self._threads[self._goroutines(creations)],
                end=changes.time[creations],
            )

    # -- the program -------------------------------------------------------------------------------

    def _machine(
        self, kinds: dict[bool, tuple[int, int]], thread: str, functions: Callable[[Ints], Ints]
    ) -> _Machine:
        """Return calls, from a begin to the next end, on a thread of their own."""
        tables, recording = self._tables, self._recording
        begin, end = kinds[tables.is_old]
        mine = np.flatnonzero((tables.kind == begin) | (tables.kind == end))
        mine = mine[np.argsort(tables.time[mine], kind="stable")]
        begins = tables.kind[mine] == begin
        pairs = np.flatnonzero(begins[:-1] & ~begins[1:])
        start, stop = mine[pairs], mine[pairs + 1]
        left = len(mine) - 2 * len(pairs)
        recording.problems.add("unmatched span", f"byte {tables.at[mine[0]]:,}" if left else "", left)
        return _Machine(
            thread, tables.time[start], tables.time[stop], tables.at[start], lambda: functions(start)
        )

    def _collections(self, events: Ints) -> Ints:
        return np.full(len(events), self._named("garbage collection"), np.int64)

    def _why_stopped(self, events: Ints) -> Ints:
        """Return the function for the reason why all goroutines are stopped."""
        tables = self._tables
        reason = tables.said[0, events] if tables.is_old else tables.text(events, 0)
        texts = _OLD_REASONS if tables.is_old else tables.names.texts
        kinds, of = np.unique(reason, return_inverse=True)
        named = [texts[k] if 0 <= k < len(texts) else "unknown" for k in kinds.tolist()]
        functions = np.array([self._named(f"stopped: {name}") for name in named], np.int64)
        return np.asarray(functions[of.reshape(-1)])

    def _tasks(self) -> None:
        """Add tasks as asynchronous operations."""
        tables, recording = self._tables, self._recording
        begin, end, column = _TASKS[tables.is_old]
        begun, ended = np.flatnonzero(tables.kind == begin), np.flatnonzero(tables.kind == end)
        if not len(begun):
            return
        begun = begun[np.argsort(tables.said[0, begun], kind="stable")]
        numbers = tables.said[0, begun]
        at = np.searchsorted(numbers, tables.said[0, ended])
        fits = (at < len(numbers)) & (numbers[np.minimum(at, len(numbers) - 1)] == tables.said[0, ended])
        stop = np.full(len(begun), self._changes.last, np.int64)
        stop[at[fits]] = tables.time[ended[fits]]
        recording.problems.add("unmatched span", "a task's end", int((~fits).sum()))
        parent = np.searchsorted(numbers, tables.said[1, begun])
        has = (parent < len(numbers)) & (
            numbers[np.minimum(parent, len(numbers) - 1)] == tables.said[1, begun]
        )
        has &= (tables.said[1, begun] > 0) & (parent < np.arange(len(begun)))
        texts = [*tables.names.texts, "task"]
        kinds, of = np.unique(tables.text(begun, column), return_inverse=True)
        named = np.array([recording.text("spans", texts[k] or "task") for k in kinds.tolist()], np.int64)
        recording.add_spans(
            name=named[of.reshape(-1)],
            thread=self._thread_at(begun),
            start=tables.time[begun],
            end=stop,
            parent=np.where(has, parent, -1),
        )

    def _logs(self) -> None:
        """Add what the program logs as moments."""
        tables, recording = self._tables, self._recording
        mine = np.flatnonzero(tables.kind == _LOGS[tables.is_old])
        if not len(mine):
            return
        pairs = np.stack([tables.text(mine, 1), tables.text(mine, 4 if tables.is_old else 2)], axis=1)
        kinds, of = np.unique(pairs, axis=0, return_inverse=True)
        texts = [*tables.names.texts, ""]
        said = [": ".join(filter(None, (texts[key], texts[value]))) for key, value in kinds.tolist()]
        numbers = np.array([recording.text("instants", text or "log") for text in said], np.int64)
        recording.add_instants(
            name=numbers[of.reshape(-1)], thread=self._thread_at(mine), time=tables.time[mine]
        )

    def _thread_at(self, events: Ints) -> NDArray[np.int32]:
        """Return the thread of the goroutine that runs where events are; that of the runtime if none does."""
        who = self._tables.running[events]
        thread = self._threads[who]
        if (who < 0).any():
            thread = np.where(who >= 0, thread, self._recording.thread(_PROCESS, _RUNTIME))
        return np.asarray(thread)

    def _counters(self) -> None:
        tables, recording = self._tables, self._recording
        for kind, name in _NUMBERS[tables.is_old].items():
            mine = np.flatnonzero(tables.kind == kind)
            if len(mine):
                recording.add_counters(
                    series=np.full(len(mine), recording.series(_PROCESS, name)),
                    time=tables.time[mine],
                    value=tables.said[0, mine].astype(np.float64),
                )


def _as_events(calls: Calls, origin: int) -> dict[str, NDArray[Any]]:
    """Return calls as complete events."""
    columns: dict[str, NDArray[Any]] = {"thread": calls.thread, "function": calls.function}
    return {
        **columns,
        "time": calls.start + origin,
        "end": calls.end + origin,
        "kind": np.full(len(calls), COMPLETE),
    }


def _is_own(entry: str) -> bool:
    """Return whether a goroutine that begins with a function is one of Go's own, not the program's."""
    return entry != "runtime.main" and entry.startswith(("runtime.", "runtime/trace."))
