"""The trace of a program that still runs: it grows by batches, and is an ordinary trace at any moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.names import split
from ..kernels.live import growing_calls as g
from ..trace.events import BEGIN, END
from ..trace.model import STILL, WAIT, Calls, Source, Trace
from ..trace.names import JOINED_LATE, RUNS_ON
from ..trace.recording import Recording
from ..units import duration
from .living_blocks import Living, LivingBefore, Reported
from .losses import Losses, place
from .protocol import SAMPLED, Batch, Names, Welcome
from .thread_calls import LARGEST, CallsOfThread, Segment

#: Maximum number of calls kept; the oldest are dropped.
MOST_CALLS = 50_000_000
#: Maximum number of rows kept of the other tables.
MOST_ROWS = 20_000_000
#: Maximum number of open waits kept.
_MOST_WAITING = 1 << 16
#: Maximum number of unannounced functions and threads of a session that rows may name.
_MOST_UNKNOWN, _MOST_UNKNOWN_THREADS = 10_000, 256


class _Numbers:
    """A publisher's numbers and what they are here; some may never be announced.

    The table is as long as the largest number, which the protocol bounds (:data:`.protocol.MOST_IDS`).
    """

    def __init__(self, unknown: Callable[[int], int], most_unknown: int) -> None:
        self._unknown, self._left = unknown, most_unknown
        self._known: dict[int, int] = {}
        self._table: NDArray[np.int64] | None = None

    def set(self, number: int, value: int) -> None:
        """Let ``number`` be ``value`` from now on."""
        if self._known.get(number) != value:
            self._known[number] = value
            self._table = None

    def of(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        """Return what each number is here, int64; what was never announced gets a name of its own."""
        if self._table is None:
            self._table = np.full(max(self._known, default=0) + 1, -1)
            self._table[list(self._known)] = list(self._known.values())
        if len(numbers) and int(numbers.max()) >= len(self._table):
            self._learn(np.unique(numbers[numbers >= len(self._table)]))
            return self.of(numbers)
        here = self._table[numbers]
        if len(here) and int(here.min()) < 0:
            self._learn(np.unique(numbers[here < 0]))
            return self.of(numbers)
        return np.asarray(here)

    def _learn(self, numbers: NDArray[Any]) -> None:
        for number in numbers.tolist():
            # A publisher with too many unannounced numbers gets one name for the rest.
            self._left -= 1
            self.set(number, self._unknown(number if self._left > 0 else -1))


@dataclass
class Session:
    """One run of the publisher: its numbers, and what they are in the trace.

    Attributes
    ----------
    welcome : Welcome
        The message that began it.
    shift : int
        Nanoseconds from the first session's start to this one's.
    functions, threads : _Numbers
        The trace's numbers by the publisher's.
    objects, operations, counters : dict of int to str
        Names by the publisher's numbers.
    frames : dict of int to tuple
        Function (the trace's number), caller's frame (the publisher's number, -1: none) and line.
    """

    welcome: Welcome
    shift: int
    functions: _Numbers
    threads: _Numbers
    objects: dict[int, str] = field(default_factory=dict)
    operations: dict[int, str] = field(default_factory=dict)
    counters: dict[int, str] = field(default_factory=dict)
    #: Functions are the trace's already.
    frames: dict[int, tuple[int, int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenWait:
    """A wait that has not ended.

    Attributes
    ----------
    thread : int
        The trace's number.
    start : int
        Nanoseconds.
    operation : str
    object : str
        Empty: none.
    holder : int
        The thread that held the object when the wait began; -1: unknown.
    """

    thread: int
    start: int
    operation: str
    object: str
    holder: int


class GrowingTrace:
    """Collects what a subscriber receives.

    Parameters
    ----------
    most_calls : int
        Maximum number of calls kept; the oldest are dropped.

    Attributes
    ----------
    events : int
        Begins and ends so far.
    calls : int
        Calls that are kept.
    now : int
        Latest time, in nanoseconds from the first session's start.
    begins : int or None
        Earliest time of what has come; None: nothing has.
    cuts : int
        Calls that were ended where rows were lost: see :meth:`cut`.
    unended : int
        Calls that were open when their session was followed by another.
    losses : Losses
        What never came.
    broken_off : int
        Sessions that were followed by another without a message that they had ended.
    is_over : bool
        Whether the latest session has ended.
    waiting : dict
        The waits that have not ended, by thread and start: :class:`OpenWait`.
    forgotten : int
        Calls and rows that were dropped because more than ``most_calls`` or :data:`MOST_ROWS` came.
    """

    def __init__(self, most_calls: int = MOST_CALLS) -> None:
        self.most_calls = most_calls
        self.events = self.calls = 0
        self.now = 0
        self.begins: int | None = None
        self.forgotten = self.unended = 0
        self.cuts = 0
        self.losses = Losses()
        self.broken_off, self.is_over = 0, False
        #: When the viewer joined a program that was running, if it was late.
        self.joined_late: int | None = None
        self._cut_at = 0
        self.sessions = 0
        self._first_start: int | None = None
        self._session: Session | None = None
        self._function_numbers: dict[str, int] = {}
        self._thread_numbers: dict[tuple[int, Any, Any], int] = {}
        self._thread_names: list[tuple[Any, Any, str]] = []
        self._threads: list[CallsOfThread] = []
        self._rows: dict[str, list[dict[str, Any]]] = {"sync": [], "memory": [], "counters": []}
        self._row_count = dict.fromkeys(self._rows, 0)
        self._batches_gone = dict.fromkeys(self._rows, 0)
        self._living, self._living_now = LivingBefore(), LivingBefore()
        # While what is open and lives is reported again, and whether all of it has come so far.
        self._reported_again: Reported | None = None
        self._is_all_reported = False
        self.waiting: dict[tuple[int, int], OpenWait] = {}

    # -- what comes in ------------------------------------------------------------------------------------

    def begin(self, welcome: Welcome) -> None:
        """Start a session; times and numbers of the next batches are its own."""
        if self._first_start is None:
            self._first_start = welcome.start
        if self._session is not None and not self.is_over:
            self.broken_off += 1
        self.is_over = False
        # Calls that the program left open ended with it.
        self.unended += sum(t.close_all() for t in self._threads)
        self.waiting.clear()
        self._reported_again, self._is_all_reported = None, False
        shift = max(min(welcome.start - self._first_start, 1 << 61), -(1 << 61))
        self.sessions += 1
        self._session = Session(
            welcome,
            shift,
            _Numbers(
                lambda n: self._function(f"(function {n})" if n >= 0 else "(unannounced)"), _MOST_UNKNOWN
            ),
            _Numbers(lambda n: self._thread((0, max(n, -1), "")), _MOST_UNKNOWN_THREADS),
        )

    def name(self, names: Names) -> None:
        """Take names; those that came before may be sent again."""
        session = self._session
        if session is None:
            return
        if names.table == "frames":
            function = session.functions.of(np.array([entry[0] for entry in names.names], np.int64))
            for number, (_, *rest) in enumerate(names.names, names.first):
                session.frames[number] = int(function[number - names.first]), *rest
            return
        for number, entry in enumerate(names.names, names.first):
            if names.table == "functions":
                session.functions.set(number, self._function(entry))
            elif names.table == "threads":
                session.threads.set(number, self._thread(entry))
            else:
                getattr(session, names.table)[number] = entry

    def add(self, batch: Batch) -> None:
        """Take the rows of a batch."""
        session = self._session
        if session is None:
            return
        if batch.table == "waiting":
            self._add_waiting(session, batch)
            return
        if batch.table != "calls":
            self._add_rows(session, batch)
            return
        thread, kind = batch.columns["thread"], batch.columns["kind"]
        function, time = batch.columns["function"], batch.columns["time"]
        self.events += len(batch)
        function = session.functions.of(function).astype(np.uint32)
        time = (time + session.shift).astype(np.int64)
        self._passes(time)
        if int(thread.min()) == int(thread.max()):
            kind = np.require(kind, np.uint8, ["C", "W"])
            self._grow(session, thread[0], kind, function, time, batch.again)
        else:
            # Of 16 bits, as the protocol has it, NumPy sorts in linear time.
            order = np.argsort(thread.astype(np.uint16), kind="stable")
            bounds = np.flatnonzero(np.diff(thread[order])) + 1
            for part in np.split(order, bounds):
                self._grow(session, thread[part[0]], kind[part], function[part], time[part], batch.again)
        while self.calls > self.most_calls and (oldest := self._oldest()) is not None:
            went = oldest.forget()
            self.forgotten += went
            self.calls -= went
        if self.calls > self.most_calls:
            # Each thread is in its first segment: the largest goes once another has begun.
            most = max(self._threads, key=lambda t: t.kept - t.open)
            if most.kept > most.open:
                most.begin_segment()

    def _passes(self, time: NDArray[Any]) -> None:
        """Note that something has happened at these times."""
        self.now = max(self.now, int(time.max()))
        self.begins = min(int(time.min()), self.now if self.begins is None else self.begins)

    def _grow(
        self, session: Session, thread: np.uint32, kind: Any, function: Any, time: Any, again: bool
    ) -> None:
        calls = self._threads[session.threads.of(np.array([thread]))[0]]
        before = calls.kept
        calls.add(kind, function, time, again)
        self.calls += calls.kept - before

    def _oldest(self) -> CallsOfThread | None:
        """Return the thread with the oldest segment that is full; None if there is none."""
        several = [t for t in self._threads if len(t.segments) > 1]
        return min(several, key=lambda t: t.segments[1].began, default=None)

    def _add_rows(self, session: Session, batch: Batch) -> None:
        rows: dict[str, Any] = {name: np.array(column) for name, column in batch.columns.items()}
        for name in ("time", "start", "end"):
            if name in rows:
                rows[name] = rows[name] + session.shift
                self._passes(rows[name])
        if "thread" in rows:
            # A thread has to be known even if it never calls.
            rows["thread"] = session.threads.of(rows["thread"])
        tables = {"sync": ("operation", "object"), "counters": ("series",)}.get(batch.table, ())
        for name in tables:
            known = {"operation": session.operations, "object": session.objects, "series": session.counters}
            rows[name + " names"] = known[name]
        if batch.table in ("memory", "counters"):
            rows["session"] = session
        if batch.table == "memory" and batch.again:
            if self._reported_again is None:
                self._reported_again = Reported(self._living_of(session))
            new = self._reported_again.new(rows)
            rows = {n: c[new] if isinstance(c, np.ndarray) else c for n, c in rows.items()}
        if batch.table == "sync" and self.waiting:
            for key in zip(rows["thread"].tolist(), rows["start"].tolist(), strict=True):
                self.waiting.pop(key, None)
        self._keep(batch.table, rows)

    def _keep(self, table: str, rows: dict[str, Any]) -> None:
        n = len(next(iter(rows.values())))
        if not n:
            return
        self._rows[table].append(rows)
        self._row_count[table] += n
        while self._row_count[table] > MOST_ROWS and len(self._rows[table]) > 1:
            gone = self._rows[table].pop(0)
            self._batches_gone[table] += 1
            count = len(next(iter(gone.values())))
            self._row_count[table] -= count
            self.forgotten += count

    def _living_of(self, session: Session) -> Living:
        """Return the blocks of a session that live, as far as is known."""
        living = self._living_now.at(self._rows["memory"], self._batches_gone["memory"], 1 << 62)
        return next((one for one in living if one.session is session), Living(session))

    def begin_snapshot(self) -> None:
        """Note that open calls and live blocks follow: other blocks were freed meanwhile."""
        self._reported_again, self._is_all_reported = None, True

    def end_snapshot(self) -> None:
        """Note that all open calls and live blocks have come: free the other blocks."""
        reported, is_all = self._reported_again, self._is_all_reported
        self._reported_again, self._is_all_reported = None, False
        if reported is not None and is_all and (gone := reported.gone(self.now)) is not None:
            self._keep("memory", {**gone, "session": self._session})

    def _add_waiting(self, session: Session, batch: Batch) -> None:
        columns = batch.columns
        start = columns["start"] + session.shift
        self.now = max(self.now, int(columns["until"].max()) + session.shift)
        holder = np.array(columns["holder"], np.int64)
        holder[holder >= 0] = session.threads.of(holder[holder >= 0])
        rows = (session.threads.of(columns["thread"]), start, columns["operation"], columns["object"], holder)
        for thread, when, operation, thing, by in zip(*(row.tolist() for row in rows), strict=True):
            name = session.operations.get(operation, f"(operation {operation})")
            object = session.objects.get(thing, f"(object {thing})") if thing >= 0 else ""
            if len(self.waiting) < _MOST_WAITING:
                self.waiting[thread, when] = OpenWait(thread, when, name, object, by)

    def cut(self) -> None:
        """End all open calls and waits: rows were lost, perhaps with their ends."""
        self.waiting.clear()
        # What is being reported again is no longer complete: what is missing in it may live.
        self._is_all_reported = False
        n = sum(t.close_all() for t in self._threads)
        if n and not self.cuts:
            self._cut_at = self.now
        self.cuts += n

    def time_of(self, batch: Batch) -> int:
        """Return the time of a batch's first row, in the trace's nanoseconds."""
        name = {"sync": "end", "waiting": "until"}.get(batch.table, "time")
        return int(batch.columns[name][0]) + self.shift

    # -- what it holds ------------------------------------------------------------------------------------

    @property
    def unmatched(self) -> int:
        """Ends without a begin: what began before this viewer joined, or was lost."""
        return sum(t.unmatched for t in self._threads)

    @property
    def went_back(self) -> tuple[int, int]:
        """How often a thread's clock went back, and by how many nanoseconds at most."""
        counts, farthest = zip((0, 0), *(t.back for t in self._threads), strict=True)
        return sum(counts), max(farthest)

    def clock_words(self) -> str:
        """Return what to report of clocks that went back; empty if none did."""
        count, farthest = self.went_back
        times = "once" if count == 1 else f"{count:,} times"
        return f"the clock went back {times}, by {duration(farthest)} at most" if count else ""

    def trace(self, source: str = "", lost: int = 0, since: int | None = None, bad: int = 0) -> Trace:
        """Return what has come as an ordinary trace; open calls end at :attr:`now`.

        Parameters
        ----------
        source : str
            Where it came from: the program, or the endpoint.
        lost : int
            Rows that were lost on the way, for ``problems``.
        since : int, optional
            Only what reaches beyond this time, in nanoseconds from the first session's start: the work is
            proportional to the calls in the window.
        bad : int
            Messages that were left out, for ``problems``.

        Returns
        -------
        Trace
            With what was lost, cut or repaired in ``problems``.
        """
        recording = Recording()
        names = list(self._function_numbers)
        recording.functions(names)
        for process, tid, name in self._thread_names:
            recording.thread(process, tid)
            if name:
                recording.name_thread(process, tid, name)
        calls, _ = self.window(np.iinfo(np.int64).min // 2 if since is None else since)
        thread, kind, function, time = _events(calls)
        recording.add_events(thread=thread, kind=kind, function=function, time=time)
        self._fill_rows(recording, since, calls)
        if self.joined_late is not None and self._thread_names:
            recording.add_instants(
                name=[recording.text("instants", JOINED_LATE)], thread=[0], time=[self.joined_late]
            )
        if not self.is_over and self._thread_names:
            recording.add_instants(name=[recording.text("instants", RUNS_ON)], thread=[0], time=[self.now])
        problems = recording.problems
        problems.add("malformed", "a message of the publisher", bad)
        problems.add("unmatched end", "what began before this viewer joined, or was lost", self.unmatched)
        problems.add("mismatched end", "a call of the feed", sum(t.mismatched for t in self._threads))
        for (_, tid, name), calls in zip(self._thread_names, self._threads, strict=True):
            count, farthest = calls.back
            where = f"thread {name or tid} of the feed, by {duration(farthest)} at most"
            problems.add("clock went back", where, count)
        late = self.joined_late is not None
        problems.add("joined late", f"{duration(self.joined_late or 0)} after the feed began", int(late))
        problems.add("broken off", "a run of the program", self.broken_off)
        problems.add("unmatched begin", "what was open when the program was over", self.unended)
        problems.add("cut", duration(self._cut_at), self.cuts)
        trace = recording.finish(Source(path=source, format="live"), split)
        gaps = self.losses.gaps
        where = f": {place(gaps, trace.origin_ns)}" if gaps else ""
        problems.add("lost", f"rows on the way from {source or 'the publisher'}{where}", lost)
        return trace

    def window(self, since: int) -> tuple[Any, Any]:
        """Return the calls that reach beyond ``since``, and how many of them each thread has.

        Parameters
        ----------
        since : int
            Nanoseconds from the first session's start.

        Returns
        -------
        calls : Calls
            Functions and threads have this object's numbers; open calls end at :attr:`now`.
        count : int64 (threads,)
            Calls of each thread: see :meth:`threads`.
        """
        take: Any = g.take_calls
        sum_extents: Any = g.sum_extents
        reaching = [t.reaching(since) for t in self._threads]
        parts: list[tuple[int, int, Segment]] = []
        n = largest = deepest = 0
        for number, segments in enumerate(reaching):
            for segment in segments:
                at = int(np.searchsorted(segment.start[: segment.count], since))
                first = at if segment is segments[0] else segment.carried
                above = int(segment.depth[first - 1]) if first else 0
                parts.append((number, first, segment))
                n += segment.count - first + above
                largest = max(largest, segment.count)
                deepest = max(deepest, above, int(segment.depth[: segment.count].max(initial=0)))
        out: dict[str, NDArray[Any]] = {
            "function": np.empty(n, np.int32), "parent": np.empty(n, np.int64),
            "depth": np.empty(n, np.int32), "start": np.empty(n, np.int64), "end": np.empty(n, np.int64),
            "extent": np.empty(n, np.int64), "thread": np.empty(n, np.int32),
        }  # fmt: skip
        new, chain = np.empty(largest + 1, np.int64), np.empty(deepest + 1, np.int64)
        low, now = np.int64(since), np.int64(max(self.now, since))
        base, count = 0, np.zeros(len(self._threads), np.int64)
        for number, first, segment in parts:
            follows = segment is not reaching[number][0]
            taken = take(
                first, segment.count, segment.carried if follows else -1, low, now, *segment.columns,
                base, number, new, chain, *out.values(),
            )  # fmt: skip
            count[number] += taken
            base += taken
            if segment is reaching[number][-1]:
                sum_extents(base - int(count[number]), base, out["parent"], out["extent"])
        return Calls(**{name: column[:base] for name, column in out.items()}), count

    @property
    def shift(self) -> int:
        """Nanoseconds from the first session's start to this one's."""
        return self._session.shift if self._session else 0

    def functions(self, first: int = 0) -> Sequence[str]:
        """Return the names of the functions by number, from ``first`` on."""
        return list(islice(self._function_numbers, first, None))

    def calls_of_threads(self) -> Sequence[CallsOfThread]:
        """Return the calls of each thread by number: the growing objects themselves, not copies."""
        return self._threads

    def batches(self, table: str, first: int) -> tuple[Sequence[Mapping[str, Any]], int]:
        """Return the batches of a table from a number on.

        Beside the columns of the protocol (threads have this object's numbers, times its time) each has
        those names that its numbers represent: ``operation names``, ``object names``, ``series names``.

        Parameters
        ----------
        table : {"sync", "memory", "counters"}
        first : int
            The number of the first batch, counted from the beginning of the feed.

        Returns
        -------
        batches : sequence of dict
            Without those that were dropped meanwhile.
        next : int
            The number that the next batch will have.
        """
        gone, rows = self._batches_gone[table], self._rows[table]
        return rows[max(first - gone, 0) :], gone + len(rows)

    def threads(self) -> Sequence[tuple[Any, Any, str]]:
        """Return process, thread id and name of each thread by number."""
        return list(self._thread_names)

    # -- inside -------------------------------------------------------------------------------------------

    def _event_of(
        self, calls: Calls, thread: Any, operation: Sequence[str], start: Any, end: Any
    ) -> NDArray[np.int64]:
        """Return the event in which the call of each wait or transfer begins; -1: it is no call."""
        numbers = self._function_numbers
        wanted = np.array([numbers.get(name, -2) for name in operation], np.int64)
        # While it lasted, it was not known that it would be given up.
        before = np.array([numbers.get(name.partition(" (")[0], -2) for name in operation], np.int64)
        found = np.full(len(wanted), -1)
        bounds = np.searchsorted(calls.thread, np.arange(len(self._threads) + 1))
        for t in np.unique(thread).tolist():
            mine, low = np.flatnonzero(thread == t), int(bounds[t])
            begins = calls.start[low : bounds[t + 1]]
            at = low + np.searchsorted(begins, start[mine], "left")
            stop = low + np.searchsorted(begins, start[mine], "right")
            # Several calls may begin at once: it is the innermost of its name.
            while len(mine):
                left = at < stop
                mine, at, stop = mine[left], at[left], stop[left]
                function = calls.function[at]
                same = (function == wanted[mine]) | (function == before[mine])
                same &= calls.end[at] == end[mine]
                found[mine[same]] = at[same]
                at = at + 1
        known = found >= 0
        found[known] = _begins(calls)[found[known]]
        return found

    def _fill_rows(self, recording: Any, since: int | None, calls: Calls) -> None:
        low = np.iinfo(np.int64).min if since is None else since
        for rows in self._rows["sync"]:
            keep = rows["end"] >= low
            put = partial(recording.text, "sync")
            name = _numbers(put, rows["operation names"], rows["operation"][keep], "operation")
            things = rows["object"][keep]
            put = partial(recording.text, "objects")
            objects = _numbers(put, rows["object names"], things[things >= 0], "object")
            which = np.full(len(things), -1)
            which[things >= 0] = objects
            names = rows["operation names"]
            said = [names.get(n, "") for n in rows["operation"][keep].tolist()]
            recording.add_sync(
                thread=rows["thread"][keep], start=rows["start"][keep], end=rows["end"][keep],
                kind=rows["kind"][keep], name=name,
                event=self._event_of(
                    calls, rows["thread"][keep], said, rows["start"][keep], rows["end"][keep]
                ),
                objects=[[o] if o >= 0 else [] for o in which.tolist()],
            )  # fmt: skip
        if self.waiting:
            lasting = list(self.waiting.values())
            begun = np.array([w.start for w in lasting])
            of, until = np.array([w.thread for w in lasting]), np.maximum(begun, self.now)
            recording.add_sync(
                event=self._event_of(calls, of, [w.operation for w in lasting], begun, until),
                thread=of, start=begun,
                end=until, kind=np.full(len(lasting), WAIT),
                name=[recording.text("sync", w.operation) for w in lasting],
                contended=np.full(len(lasting), STILL), holder=[w.holder for w in lasting],
                objects=[[recording.text("objects", w.object)] if w.object else [] for w in lasting],
            )  # fmt: skip
        frames: dict[int, NDArray[np.int64]] = {}

        def add_memory(session: Session, rows: Mapping[str, Any], kind: Any, keep: Any = ...) -> None:
            if id(session) not in frames:
                frames[id(session)] = _add_frames(recording, session)
            of_stack = frames[id(session)]
            stack = np.minimum(rows["stack"][keep], len(of_stack) - 1)
            recording.add_memory(
                time=rows["time"][keep], address=rows["address"][keep], size=rows["size"][keep],
                kind=kind[keep], thread=rows["thread"][keep], stack=of_stack[stack],
            )  # fmt: skip

        memory = self._rows["memory"]
        if since is not None:
            # Live blocks that were allocated before.
            for living in self._living.at(memory, self._batches_gone["memory"], since):
                add_memory(living.session, living.columns, np.zeros(len(living), np.uint8))
        for rows in memory:
            add_memory(rows["session"], rows, rows["kind"], rows["time"] >= low)
        for rows in self._rows["counters"]:
            # What alarms are made of is no counter of the program.
            other = [n for n, name in rows["series names"].items() if name.startswith(SAMPLED)]
            keep = (rows["time"] >= low) & ~np.isin(rows["series"], other)
            put = partial(recording.series, 0)
            series = _numbers(put, rows["series names"], rows["series"][keep], "counter")
            recording.add_counters(series=series, time=rows["time"][keep], value=rows["value"][keep])

    def _function(self, name: str) -> int:
        return self._function_numbers.setdefault(name, len(self._function_numbers))

    def _thread(self, entry: tuple[Any, Any, str]) -> int:
        process, tid, name = entry
        # A thread of another session is another thread, even if the system gives the same id again.
        key = (self.sessions, process, tid)
        found = self._thread_numbers.setdefault(key, len(self._thread_names))
        if found == len(self._thread_names):
            said = process if self.sessions == 1 else f"{process} (run {self.sessions})"
            self._thread_names.append((said, tid, name))
            self._threads.append(CallsOfThread(min(LARGEST, max(self.most_calls // 8, 16))))
        elif name:
            self._thread_names[found] = (*self._thread_names[found][:2], name)
        return found


def load_kernels() -> None:
    """Load the kernels that the first calls of a feed need: meanwhile a viewer could not receive anything."""
    growing = GrowingTrace(16)
    growing.begin(Welcome("", "", 0, 0))
    columns: dict[str, NDArray[Any]] = {
        "kind": np.array([BEGIN, END], np.uint8), "thread": np.zeros(2, np.uint32),
        "function": np.zeros(2, np.uint32), "time": np.arange(2),
    }  # fmt: skip
    growing.add(Batch("calls", 0, 0, 0, columns))


def _begins(calls: Calls) -> NDArray[np.int64]:
    """Return where each call's begin stands among the events."""
    # Before it all earlier calls began, and of those all but its callers ended.
    return np.asarray(2 * np.arange(len(calls)) - (calls.depth - 1), np.int64)


def _events(calls: Calls) -> tuple[NDArray[Any], ...]:
    """Return begins and ends of all calls, each thread's in order."""
    n, begin = len(calls), _begins(calls)
    end = begin + 2 * calls.extent - 1
    thread, function = np.empty(2 * n, np.int32), np.empty(2 * n, np.int32)
    kind, time = np.empty(2 * n, np.uint8), np.empty(2 * n, np.int64)
    for at, what, when in ((begin, BEGIN, calls.start), (end, END, calls.end)):
        thread[at], function[at], kind[at], time[at] = calls.thread, calls.function, what, when
    return thread, kind, function, time


def _add_frames(recording: Any, session: Session) -> NDArray[np.int64]:
    """Hand a session's frames to the recording; return their numbers there, with -1 as the last one."""
    of = np.full(max(session.frames, default=-1) + 2, -1)
    known = sorted(session.frames)
    columns = np.array([session.frames[n] for n in known], np.int64).reshape(-1, 3)
    # A parent that was never announced is ignored.
    place = np.full(len(of), -1)
    place[known] = np.arange(len(known))
    base = recording.add_stacks(function=[], parent=[])
    parent = np.where(place[columns[:, 1]] >= 0, base + place[columns[:, 1]], -1)
    recording.add_stacks(function=columns[:, 0], parent=parent, line=columns[:, 2])
    of[known] = base + np.arange(len(known))
    return of


def _numbers(
    put: Callable[[str], int], names: Mapping[int, str], wanted: NDArray[Any], what: str
) -> NDArray[np.int64]:
    """Return the recording's numbers of names; what was never announced gets a name of its own."""
    used, place = np.unique(wanted, return_inverse=True)
    texts = [
        names.get(n, f"({what} {n})" if i < _MOST_UNKNOWN else f"({what})")
        for i, n in enumerate(used.tolist())
    ]
    return np.asarray(np.array([put(text) for text in texts], np.int64)[place.ravel()])


__all__ = ["CallsOfThread", "GrowingTrace", "OpenWait", "load_kernels"]
