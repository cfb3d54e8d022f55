"""Goroutines' states become calls, waits and releases; with collections, tasks, regions and the heap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.lay import goroutines as kernels
from ...trace.events import BEGIN, COMPLETE, END
from ...trace.model import RELEASE, WAIT
from ...trace.recording import Recording
from ..distinct import distinct
from ..profiles.documents import add_function
from .goroutines import GONE, RUNNABLE, SYSCALL, WAITING, Moves, moves_of
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
#: Kinds that create a goroutine.
_CREATIONS = {False: (14, 47), True: (13,)}
#: Why all goroutines are stopped, as Go 1.21 and before number it.
_OLD_REASONS = ("mark termination", "sweep termination")


def hand_over(tables: Tables, recording: Recording) -> list[Ints]:
    """Give a recording all that a trace says.

    Parameters
    ----------
    tables : Tables
    recording : Recording
        It is filled.

    Returns
    -------
    list of int64 (events,)
        The byte that each event of a call is from, in parts; none where no goroutine does anything.
    """
    moves = moves_of(tables)
    if not len(moves.goroutine):
        return []
    return _HandOver(tables, moves, recording).run()


class _HandOver:
    def __init__(self, tables: Tables, moves: Moves, recording: Recording) -> None:
        self._tables, self._moves, self._recording = tables, moves, recording
        self._end = int(max(tables.time.max(), moves.time.max()))
        self._numbers, self._of = distinct(moves.goroutine)
        self._frames = self._frame_functions()
        self._first = np.append(True, moves.goroutine[1:] != moves.goroutine[:-1])
        self._last = np.append(self._first[1:], True)
        self._roots, self._names = self._entries()
        self._threads = self._name_threads(self._names)

    def run(self) -> list[Ints]:
        """Hand over everything."""
        parts = [
            self._states(),
            self._machine(_COLLECTIONS, _COLLECTOR, self._collections),
            self._machine(_STOPS, _STOPPED, self._why_stopped),
        ]
        self._flows()
        self._tasks()
        self._logs()
        self._counters()
        return parts

    # -- names -------------------------------------------------------------------------------------

    def _frame_functions(self) -> Ints:
        """Return the function of each frame of a stack."""
        tables = self._tables
        # Each part of a trace has the same texts again.
        known: dict[str, int] = {}
        same = np.array([known.setdefault(text, len(known)) for text in (*tables.texts, "")], np.int64)
        kinds, of = distinct(same[tables.functions] * len(known) + same[tables.files])
        texts = [*known]
        pairs = [divmod(kind, len(known)) for kind in kinds.tolist()] if len(of) else []
        functions = [add_function(self._recording, texts[name], texts[file]) for name, file in pairs]
        return np.array(functions, np.int64)[of]

    def _named(self, name: str) -> int:
        """Return the function of what the runtime does."""
        return self._recording.function(name, label=name, containers=(("module", "scheduler"),))

    def _entries(self) -> tuple[Ints, list[str]]:
        """Return the function that each goroutine begins with, outermost in its first stack, and its name."""
        tables, moves = self._tables, self._moves
        deep = np.append(tables.many, 0)[moves.stack] > 0
        some = np.flatnonzero((moves.stack >= 0) & deep)
        stack = moves.stack[some]
        outermost = np.full(len(self._numbers), -1, np.int64)
        outermost[self._of[some][::-1]] = (tables.first[stack] + tables.many[stack] - 1)[::-1]
        texts = [*tables.texts, ""]
        names = [texts[tables.functions[frame]] if frame >= 0 else "" for frame in outermost.tolist()]
        entries = np.append(self._frames, -1)[outermost]
        for row in np.flatnonzero(entries < 0).tolist():
            names[row] = f"goroutine {int(self._numbers[row])}"
            entries[row] = self._recording.function(names[row])
        return entries, names

    def _name_threads(self, names: list[str]) -> Ints:
        """Return the thread of each goroutine."""
        recording, threads = self._recording, []
        for number, name in zip(self._numbers.tolist(), names, strict=True):
            recording.name_thread(_PROCESS, number, name)
            threads.append(recording.thread(_PROCESS, number))
        return np.array(threads, np.int64)

    # -- goroutines --------------------------------------------------------------------------------

    def _states(self) -> Ints:
        """Add calls of goroutines, of what they do not run in, and regions; return the byte of each event."""
        tables, moves = self._tables, self._moves
        until = np.append(moves.time[1:], 0)
        until[self._last] = np.where(moves.state[self._last] == GONE, moves.time[self._last], self._end)
        is_away = (moves.state == WAITING) | (moves.state == SYSCALL) | (moves.state == RUNNABLE)
        # Who is ready after it waited or was in a system call is still where it was.
        goes_on = (moves.state == RUNNABLE) & (moves.stack < 0) & ~self._first
        goes_on[1:] &= (moves.state[:-1] == WAITING) | (moves.state[:-1] == SYSCALL)
        many, outermost = self._frames_of(is_away)
        regions = np.concatenate(self._regions())
        regions = regions[np.lexsort((regions[:, 4], regions[:, 0]))]
        regions[:, 4] = tables.at[regions[:, 4]]
        total = int(self._first.sum() + self._last.sum() + 2 * (is_away.sum() + many.sum()) + len(regions))
        thread, function = np.empty((2, total), np.int32)
        kind, at = np.empty(total, np.uint8), np.empty(total, np.int64)
        byte: Ints = np.empty(total, np.int64)
        begun = np.empty(len(moves.time), np.int64)
        of = self._threads.astype(np.int32)[self._of]
        given: tuple[Any, ...] = (
            *(self._first, self._last, is_away, goes_on, moves.time, until, of, tables.at[moves.event]),
            *(self._roots[self._of], self._reasons(), many, outermost, self._frames),
            *regions.T,
        )
        out: tuple[Any, ...] = (thread, kind, function, at, byte, begun)
        kernels.lay_changes(*map(np.ascontiguousarray, given), *out)
        self._recording.add_events(thread=thread, kind=kind, function=function, time=at)
        away = np.flatnonzero(is_away)
        self._sync(away, until, begun[away])
        return byte

    def _frames_of(self, is_away: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """Return how many functions are around each state, but the goroutine's, and where the outermost is.

        Returns
        -------
        many, outermost : int64 (changes,)
            0 for those who run.
        """
        tables, moves = self._tables, self._moves
        none = np.zeros(len(is_away), np.int64)
        if not len(tables.many):
            return none, none
        stack = moves.stack
        there = is_away & (stack >= 0)
        there[there] = ~self._created(np.flatnonzero(there))
        many = np.where(there, tables.many[stack], 0)
        outermost = np.where(many > 0, tables.first[stack] + many - 1, 0)
        known = (
            (many > 0) & (self._frames[outermost] == self._roots[self._of]) if len(self._frames) else many > 0
        )
        return many - known, outermost - known

    def _created(self, rows: Ints) -> NDArray[np.bool_]:
        """Return which changes are a goroutine's creation: their stack is where it will begin."""
        kind = self._tables.kind[self._moves.event[rows]]
        created: NDArray[np.bool_] = np.isin(kind, _CREATIONS[self._tables.is_old])
        return created

    def _reasons(self) -> Ints:
        """Return the function that stands for each state."""
        moves = self._moves
        waits = np.array([self._named(text or ENDED) for text in moves.reasons] or [0], np.int64)
        ready, inside = self._named(READY), self._named(INSIDE)
        of_wait = waits[np.maximum(moves.reason, 0)]
        found: Ints = np.where(
            moves.state == RUNNABLE, ready, np.where(moves.state == SYSCALL, inside, of_wait)
        )
        return found

    def _regions(self) -> list[Ints]:
        """Return the events of regions, and of work that goroutines do for the collector.

        Each has the change before it, kind, function, time, and event.
        """
        tables, moves = self._tables, self._moves
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
        texts = [*tables.texts, "(unnamed)"]
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
            time = np.maximum(tables.time[mine], moves.time[last])
            parts.append(np.stack([last, kinds[keep], function[keep], time, mine], axis=1))
        return parts

    def _last_change(self, events: Ints) -> Ints:
        """Return the last change before each event, of the goroutine that runs there; -1 if there is none."""
        moves, tables = self._moves, self._tables
        if not len(events):
            return events
        who = moves.running[events]
        number = np.minimum(np.searchsorted(self._numbers, who), len(self._numbers) - 1)
        known = self._numbers[number] == who
        first = np.append(np.flatnonzero(self._first), len(moves.time))
        found = np.empty(len(events), np.int64)
        kernels.find_last_changes(first, moves.time, number, tables.time[events], found)
        return np.where(known, found, -1)

    def _sync(self, away: Ints, until: Ints, event: Ints) -> None:
        """Add waits, and what ends them."""
        moves, recording, tables = self._moves, self._recording, self._tables
        waiting = moves.state[away] == WAITING
        rows, event = away[waiting], event[waiting]
        objects = np.array(
            [recording.text("objects", f"goroutine {n} ({name})")
             for n, name in zip(self._numbers.tolist(), self._names, strict=True)], np.int64,
        )  # fmt: skip
        if len(rows):
            # The second half is for Go's own goroutines, which wait for work all the time.
            prefixes = ["runtime: " if text == "network" else "" for text in moves.reasons]
            said = [text or ENDED for text in moves.reasons]
            texts = [recording.text("sync", before + text) for before, text in zip(prefixes, said)]
            texts += [recording.text("sync", f"runtime: {text}") for text in said]
            is_own = np.array([_is_own(name) for name in self._names], np.int64)[self._of[rows]]
            lasts = self._last[rows]
            whose = objects[self._of[rows]].tolist()
            stack = moves.stack[rows]
            deep = (stack >= 0) & (np.append(tables.many, 0)[stack] > 0)
            line = np.append(tables.lines, 0)[np.where(deep, np.append(tables.first, 0)[stack], -1)]
            recording.add_sync(
                thread=self._threads[self._of[rows]],
                kind=np.full(len(rows), WAIT),
                name=np.array(texts, np.int64)[moves.reason[rows] + len(said) * is_own],
                start=moves.time[rows],
                end=until[rows],
                contended=np.where(lasts, 2, 1),
                event=event,
                line=line,
                # The program goes on when the recording ends: nobody knows whether such a wait is in vain.
                objects=[[] if open_ended else [of] for open_ended, of in zip(lasts.tolist(), whose)],
            )
        ready = np.flatnonzero((moves.state == RUNNABLE) & ~self._first)
        ready = ready[moves.state[ready - 1] == WAITING]
        if not len(ready):
            return
        by = moves.by[ready]
        number = np.minimum(np.searchsorted(self._numbers, by), len(self._numbers) - 1)
        known = self._numbers[number] == by
        who = self._threads[number]
        if not known.all():
            recording.name_thread(_PROCESS, _RUNTIME, "runtime: timers, network, collector")
            who = np.where(known, who, recording.thread(_PROCESS, _RUNTIME))
        recording.add_sync(
            thread=who,
            kind=np.full(len(ready), RELEASE),
            name=np.full(len(ready), recording.text("sync", "unblock")),
            start=moves.time[ready],
            objects=objects[self._of[ready]][:, None].tolist(),
        )

    def _flows(self) -> None:
        """Add an arrow from who creates a goroutine to where it begins."""
        moves, recording = self._moves, self._recording
        made = np.flatnonzero((moves.by > 0) & self._created(np.arange(len(moves.by))))
        number = np.minimum(np.searchsorted(self._numbers, moves.by[made]), len(self._numbers) - 1)
        known = self._numbers[number] == moves.by[made]
        made, number = made[known], number[known]
        if len(made):
            recording.add_flows(
                name=np.full(len(made), recording.text("flows", "go")),
                source_thread=self._threads[number],
                start=moves.time[made],
                target_thread=self._threads[self._of[made]],
                end=moves.time[made],
            )

    # -- the program -------------------------------------------------------------------------------

    def _machine(
        self, kinds: dict[bool, tuple[int, int]], thread: str, functions: Callable[[Ints], Ints]
    ) -> Ints:
        """Add calls, from a begin to the next end, on a thread of their own; return the byte of each."""
        tables, recording = self._tables, self._recording
        begin, end = kinds[tables.is_old]
        mine = np.flatnonzero((tables.kind == begin) | (tables.kind == end))
        mine = mine[np.argsort(tables.time[mine], kind="stable")]
        begins = tables.kind[mine] == begin
        pairs = np.flatnonzero(begins[:-1] & ~begins[1:])
        start, stop = mine[pairs], mine[pairs + 1]
        left = len(mine) - 2 * len(pairs)
        recording.problems.add("unmatched span", f"byte {tables.at[mine[0]]:,}" if left else "", left)
        if len(start):
            recording.add_events(
                thread=np.full(len(start), recording.thread(_PROCESS, thread)),
                kind=np.full(len(start), COMPLETE),
                function=functions(start),
                time=tables.time[start],
                end=tables.time[stop],
            )
        at: Ints = tables.at[start]
        return at

    def _collections(self, events: Ints) -> Ints:
        return np.full(len(events), self._named("garbage collection"), np.int64)

    def _why_stopped(self, events: Ints) -> Ints:
        """Return the function for the reason why all goroutines are stopped."""
        tables = self._tables
        reason = tables.said[0, events] if tables.is_old else tables.text(events, 0)
        texts = _OLD_REASONS if tables.is_old else tables.texts
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
        stop = np.full(len(begun), self._end, np.int64)
        stop[at[fits]] = tables.time[ended[fits]]
        recording.problems.add("unmatched span", "a task's end", int((~fits).sum()))
        parent = np.searchsorted(numbers, tables.said[1, begun])
        has = (parent < len(numbers)) & (
            numbers[np.minimum(parent, len(numbers) - 1)] == tables.said[1, begun]
        )
        has &= (tables.said[1, begun] > 0) & (parent < np.arange(len(begun)))
        texts = [*tables.texts, "task"]
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
        texts = [*tables.texts, ""]
        said = [": ".join(filter(None, (texts[key], texts[value]))) for key, value in kinds.tolist()]
        numbers = np.array([recording.text("instants", text or "log") for text in said], np.int64)
        recording.add_instants(
            name=numbers[of.reshape(-1)], thread=self._thread_at(mine), time=tables.time[mine]
        )

    def _thread_at(self, events: Ints) -> Ints:
        """Return the thread of the goroutine that runs where events are; that of the runtime if none does."""
        who = self._moves.running[events]
        number = np.minimum(np.searchsorted(self._numbers, who), len(self._numbers) - 1)
        known = self._numbers[number] == who
        thread = self._threads[number]
        if not known.all():
            thread = np.where(known, thread, self._recording.thread(_PROCESS, _RUNTIME))
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


def _is_own(entry: str) -> bool:
    """Return whether a goroutine that begins with a function is one of Go's own, not the program's."""
    return entry != "runtime.main" and entry.startswith(("runtime.", "runtime/trace."))
