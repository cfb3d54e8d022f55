"""A trace that is being read: a reader adds events, one by one or in columns, and then finishes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels.trace import measures
from .build import Built, build_calls, innermost
from .events import BEGIN, COMPLETE, END, Events, events_of_stacks
from .functions import ContainerPath, FunctionTable, SplitName
from .model import (
    Calls,
    Counters,
    Flows,
    Instants,
    Memory,
    RecordedId,
    Samples,
    Source,
    Spans,
    Stacks,
    Sync,
    Threads,
    Trace,
)
from .problems import Problems
from .strings import Strings

#: Recorded times beyond this (146 years on either side of 0) are not times; it keeps differences in int64.
TIME_LIMIT = 1 << 62

#: What Python and the recorder call threads and greenlets until they have a name of their own.
_FIRST_NAMES = re.compile(r"MainThread|greenlet-\d+")


class Recording:
    """Collects what a file records, in the order of the file, and makes the :class:`Trace` of it.

    Threads, functions and other texts are handed in by name and get an index (interned); columns are
    appended in chunks. All times are recorded nanoseconds; :meth:`finish` takes the origin off.

    Attributes
    ----------
    problems : Problems
        What was repaired or left out so far; readers add to it.

    Examples
    --------
    >>> from tracevis3d.formats.names import split
    >>> recording = Recording()
    >>> thread = recording.thread(process=1, tid="main")
    >>> function = recording.function("main (a.py:1)")
    >>> first = recording.add_events(
    ...     thread=[thread] * 2, kind=[BEGIN, END], function=[function] * 2, time=[0, 5]
    ... )
    >>> trace = recording.finish(Source(), split, lambda event: f"line {event + 1}")
    >>> len(trace.calls), trace.functions.label[0]
    (1, 'main')
    """

    def __init__(self) -> None:
        self.problems = Problems()
        self.n_events = 0
        self._threads: dict[tuple[RecordedId, RecordedId], int] = {}
        self._thread_names: dict[tuple[RecordedId, RecordedId], str] = {}
        self._process_names: dict[RecordedId, str] = {}
        self._functions = FunctionTable()
        self._texts: dict[str, dict[str, int]] = {}
        self._events: list[Events] = []
        #: Calls that are nested already, what their times count from, and what says the same as events.
        self._calls: list[tuple[Calls, int, Callable[[], Mapping[str, ArrayLike]]]] = []
        self._rows: dict[str, list[dict[str, NDArray[Any]]]] = {}
        self._series: dict[tuple[RecordedId, str], int] = {}
        self._n_frames = 0
        self._samples_are_timed = self._samples_have_stacks = True
        #: Thread, function, start and end of calls, and thread, frames and weight of samples, added singly.
        self._single_calls: list[tuple[int, int, int, int]] = []
        self._samples: list[tuple[int, list[int], int]] = []

    @property
    def n_frames(self) -> int:
        """How many frames of stacks were added so far."""
        return self._n_frames

    # -- names ---------------------------------------------------------------------------------

    def thread(self, process: RecordedId, tid: RecordedId) -> int:
        """Return the index of a thread; 7 and "7" are two threads.

        Parameters
        ----------
        process, tid : int or str
            As recorded.

        Returns
        -------
        int
        """
        # 1 == True and 1 == 1.0 in a dict: readers only pass int or str.
        return self._threads.setdefault((process, tid), len(self._threads))

    @property
    def threads(self) -> list[tuple[RecordedId, RecordedId]]:
        """Process and id of the threads so far, in the order of their indices."""
        return list(self._threads)

    def name_thread(self, process: RecordedId, tid: RecordedId, name: str) -> None:
        """Set the name of a thread; the last one counts, and a different earlier one is noted.

        Parameters
        ----------
        process, tid : int or str
            As recorded.
        name : str
            May be empty.
        """
        before = self._thread_names.get((process, tid))
        if before and name and before != name and not _FIRST_NAMES.fullmatch(before):
            self.problems.add("renamed", f"thread {tid}: {before!r}, then {name!r}")
        self._thread_names[process, tid] = name

    def name_process(self, process: RecordedId, name: str) -> None:
        """Set the name of a process; the last one counts.

        Parameters
        ----------
        process : int or str
            As recorded.
        name : str
            May be empty.
        """
        self._process_names[process] = name

    def function(
        self,
        name: str,
        *,
        label: str | None = None,
        containers: ContainerPath | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> int:
        """Return the index of the function ``name``.

        What the format itself knows about it (``label``, ``containers`` from the outside in, ``file``,
        ``line``) goes before what :meth:`finish` splits off the name; the first call that names one applies.

        Parameters
        ----------
        name : str
            As recorded; it identifies the function.
        label : str, optional
            What people call it.
        containers : ContainerPath, optional
            Package, module and class, as far as they are known.
        file : str, optional
            Of its source.
        line : int, optional
            In the file, from 1.

        Returns
        -------
        int
        """
        return self._functions.add(name, label, containers or (), file or "", line or 0)

    def functions(self, names: Iterable[str]) -> NDArray[np.int32]:
        """Return the indices of many function names, as a column that maps a reader's own numbering."""
        return self._functions.numbers(names)

    def add_functions(
        self,
        names: Sequence[str],
        *,
        labels: Sequence[str],
        paths: Sequence[ContainerPath],
        path: NDArray[np.integer[Any]],
        files: Sequence[str],
        file: NDArray[np.integer[Any]],
        line: NDArray[np.integer[Any]],
    ) -> NDArray[np.int32]:
        """Return the indices of many functions, as :meth:`function` does of each in turn.

        Where a file is empty, nothing but the name is known.

        Parameters
        ----------
        names, labels : sequence of n str
            As recorded, and what people call them.
        paths : sequence of ContainerPath
            What functions lie in.
        path : int (n,)
            Rows of ``paths``.
        files : sequence of str
            Files of their sources.
        file : int (n,)
            Rows of ``files``.
        line : int (n,)
            In the file, from 1; 0: unknown.

        Returns
        -------
        int32 (n,)
        """
        return self._functions.add_columns(names, labels, paths, path, files, file, line)

    def known_function(self, name: str) -> int:
        """Return the index of the function ``name``; -1 if there is none so far."""
        return self._functions.known(name)

    def calls_so_far(self, thread: int, problems: Problems) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return begin and end of the calls that a thread's events make so far, in pre-order.

        Parameters
        ----------
        thread : int
            Its index.
        problems : Problems
            Gets what is repaired on the way, which :meth:`finish` will find again.

        Returns
        -------
        start, end : int64 (n,)
            Nanoseconds as recorded.
        """
        columns: dict[str, Any] = {}
        for name in ("thread", "kind", "function", "time", "end"):
            parts = [getattr(chunk, name)[chunk.thread == thread] for chunk in self._events]
            columns[name] = np.concatenate(parts) if parts else np.empty(0, np.int64)
        columns["thread"] = np.zeros(len(columns["time"]), np.int32)
        alone = Events(**columns)
        calls = build_calls(alone, 1, problems, str, 0).calls
        return calls.start, calls.end

    def text(self, table: str, text: str) -> int:
        """Return the index of ``text`` among the names of ``table``.

        ``table`` is "sync", "objects" (of sync), "samples" (kinds), "flows", "spans" or "instants".

        Parameters
        ----------
        table : {"sync", "objects", "samples", "flows", "spans", "instants"}
            Whose names they are.
        text : str
            The name.

        Returns
        -------
        int
        """
        texts = self._texts.setdefault(table, {})
        return texts.setdefault(text, len(texts))

    def series(self, process: RecordedId, name: str) -> int:
        """Return the index of the counter ``name`` of ``process``.

        Parameters
        ----------
        process : int or str
            As recorded.
        name : str
            That of the counter.

        Returns
        -------
        int
        """
        return self._series.setdefault((process, name), len(self._series))

    # -- columns -------------------------------------------------------------------------------

    def add_events(
        self,
        *,
        thread: ArrayLike,
        kind: ArrayLike,
        function: ArrayLike,
        time: ArrayLike,
        end: ArrayLike | None = None,
        record: ArrayLike | None = None,
    ) -> int:
        """Append begin, end and complete events in the order of the file; return the index of the first.

        Columns as in :class:`.events.Events`; ``end`` may be left out if none is COMPLETE, ``record``
        if none has arguments.

        Parameters
        ----------
        thread : int32 (n,)
            Indices of :meth:`thread`.
        kind : uint8 (n,)
            BEGIN, END or COMPLETE.
        function : int32 (n,)
            Indices of :meth:`function`.
        time : int64 (n,)
            Nanoseconds: when it begins, or ends.
        end : int64 (n,), optional
            Nanoseconds: when a complete event ends.
        record : int64 (n,), optional
            Byte at which each one's record begins in the unpacked recording; -1: it has no arguments.

        Returns
        -------
        int
        """
        time = np.ascontiguousarray(time, np.int64)
        events = Events(
            thread=np.ascontiguousarray(thread, np.int32),
            kind=np.ascontiguousarray(kind, np.uint8),
            function=np.ascontiguousarray(function, np.int32),
            time=time,
            end=time if end is None else np.ascontiguousarray(end, np.int64),
            record=np.empty(0, np.int64) if record is None else np.ascontiguousarray(record, np.int64),
        )
        first = self.n_events
        self._events.append(events)
        self.n_events += len(events)
        return first

    def add_calls(
        self, calls: Calls, as_events: Callable[[], Mapping[str, ArrayLike]], *, origin: int = 0
    ) -> None:
        """Append calls that are nested already: nothing is searched or repaired in them.

        Parameters
        ----------
        calls : Calls
            Threads ascending, the calls of each in pre-order; indices of :meth:`thread` and
            :meth:`function`, nanoseconds from ``origin``. The columns become the recording's.
        as_events : callable
            Returns what says the same, as :meth:`add_events` takes it. Asked for where events are added too.
            Where :meth:`add_sync` names calls as its events, its first rows begin them, in their order.
        origin : int
            Recorded nanoseconds: what the times of ``calls``, but not those of ``as_events``, count from.
            Where it is the earliest time of all, the columns stay as they are.
        """
        if len(calls):
            self._calls.append((calls, origin, as_events))

    def add_sync(
        self,
        *,
        thread: ArrayLike,
        kind: ArrayLike,
        name: ArrayLike,
        start: ArrayLike,
        end: ArrayLike | None = None,
        contended: ArrayLike | None = None,
        event: ArrayLike | None = None,
        holder: ArrayLike | None = None,
        line: ArrayLike | None = None,
        objects: Sequence[Sequence[int]] = (),
        object: ArrayLike | None = None,
    ) -> None:
        """Append waits, releases and I/O.

        ``name`` holds indices of ``text("sync", ...)``, ``objects`` for each row those of
        ``text("objects", ...)``. ``event`` is the event (an index as :meth:`add_events` counts them)
        whose call this is, -1 where the record is not a call: then the row's call is -1. ``end`` is
        ``start`` if left out, ``contended`` -1, ``holder`` (the thread that held the object) -1,
        ``line`` 0. Where no row has more than one object, ``object`` takes them as a column.

        Parameters
        ----------
        thread : int32 (n,)
            Indices of :meth:`thread`.
        kind : uint8 (n,)
            WAIT, RELEASE or IO.
        name : int32 (n,)
            Indices of :meth:`text`.
        start, end : int64 (n,)
            Nanoseconds.
        contended : int8 (n,), optional
            2: it blocked until the recording ended, 1: it blocked, 0: it did not, -1: not recorded.
        event : int64 (n,), optional
            The event whose call it is; with :meth:`add_calls` the call itself.
        holder : int32 (n,), optional
            The thread that held the object.
        line : int32 (n,), optional
            The line of code; 0: unknown.
        objects : sequence of n sequences of int, optional
            Indices of :meth:`text`.
        object : int32 (n,), optional
            The same for one object each; -1: none.
        """
        start = np.asarray(start, np.int64)
        n = len(start)
        single = np.full(n, -1, np.int32) if object is None else np.asarray(object, np.int32)
        flat = [item for row in objects for item in row] if objects else single[single >= 0]
        sizes = [len(row) for row in objects] if objects else single >= 0
        self._append(
            "sync",
            thread=np.asarray(thread, np.int32),
            kind=np.asarray(kind, np.uint8),
            name=np.asarray(name, np.int32),
            start=start,
            end=start if end is None else np.asarray(end, np.int64),
            contended=np.full(n, -1, np.int8) if contended is None else np.asarray(contended, np.int8),
            event=np.full(n, -1, np.int64) if event is None else np.asarray(event, np.int64),
            holder=np.full(n, -1, np.int32) if holder is None else np.asarray(holder, np.int32),
            line=np.zeros(n, np.int32) if line is None else np.asarray(line, np.int32),
            n_objects=np.asarray(sizes, np.int64),
        )
        self._append("objects", object=np.array(flat, np.int32))

    def add_memory(
        self,
        *,
        thread: ArrayLike,
        kind: ArrayLike,
        time: ArrayLike,
        address: ArrayLike,
        size: ArrayLike,
        stack: ArrayLike | None = None,
    ) -> None:
        """Append allocations, frees and accesses; the call is found by thread and time.

        ``stack`` holds frames as :meth:`add_stacks` counts them, -1 where no stack was recorded.

        Parameters
        ----------
        thread : int32 (n,)
            Indices of :meth:`thread`.
        kind : uint8 (n,)
            ALLOC, FREE or ACCESS.
        time : int64 (n,)
            Nanoseconds.
        address : uint64 (n,)
            Or a number that identifies the block.
        size : int64 (n,)
            Bytes; 0 for a free.
        stack : int32 (n,), optional
            The innermost frame of each.
        """
        self._append(
            "memory",
            thread=np.asarray(thread, np.int32),
            kind=np.asarray(kind, np.uint8),
            time=np.asarray(time, np.int64),
            address=np.asarray(address, np.uint64),
            size=np.asarray(size, np.int64),
            stack=np.full(np.shape(time), -1, np.int32) if stack is None else np.asarray(stack, np.int32),
        )

    def add_stacks(self, *, function: ArrayLike, parent: ArrayLike, line: ArrayLike | None = None) -> int:
        """Append frames of stacks; return the index of the first.

        ``parent`` holds indices of frames as they were added (over all calls of this method), -1 for none;
        a parent comes before its children.

        Parameters
        ----------
        function : int32 (n,)
            Indices of :meth:`function`.
        parent : int64 (n,)
            The callers' frames.
        line : int32 (n,), optional
            In the function's file; 0: not recorded.

        Returns
        -------
        int
        """
        first = self._n_frames
        function = np.asarray(function, np.int32)
        self._append(
            "stacks",
            function=function,
            parent=np.asarray(parent, np.int32),
            line=np.zeros(len(function), np.int32) if line is None else np.asarray(line, np.int32),
        )
        self._n_frames += len(function)
        return first

    def add_samples(
        self,
        *,
        thread: ArrayLike,
        kind: ArrayLike,
        weight: ArrayLike,
        time: ArrayLike | None = None,
        stack: ArrayLike | None = None,
    ) -> None:
        """Append samples of stacks; the calls that they make are added as events.

        ``kind`` holds indices of ``text("samples", ...)``, ``stack`` frames as :meth:`add_stacks` counts
        them. A recording whose samples partly lack times or stacks keeps none of these.

        Parameters
        ----------
        thread : int32 (n,)
            Indices of :meth:`thread`.
        kind : int32 (n,)
            Indices of :meth:`text`.
        weight : int64 (n,)
            In the unit of the kind.
        time : int64 (n,), optional
            Nanoseconds: when it was taken.
        stack : int32 (n,), optional
            The innermost frame of each; -1 if the stack is empty.
        """
        thread = np.asarray(thread, np.int32)
        self._samples_are_timed &= time is not None
        self._samples_have_stacks &= stack is not None
        self._append(
            "samples",
            thread=thread,
            kind=np.asarray(kind, np.int32),
            weight=np.asarray(weight, np.int64),
            time=np.zeros(len(thread), np.int64) if time is None else np.asarray(time, np.int64),
            stack=np.full(len(thread), -1, np.int32) if stack is None else np.asarray(stack, np.int32),
        )

    def add_counters(self, *, series: ArrayLike, time: ArrayLike, value: ArrayLike) -> None:
        """Append samples of the counters that :meth:`series` numbered.

        Parameters
        ----------
        series : int32 (n,)
            Indices of :meth:`series`.
        time : int64 (n,)
            Nanoseconds.
        value : float64 (n,)
            In the counter's unit.
        """
        self._append(
            "counters",
            series=np.asarray(series, np.int32),
            time=np.asarray(time, np.int64),
            value=np.asarray(value, np.float64),
        )

    def add_flows(
        self,
        *,
        name: ArrayLike,
        source_thread: ArrayLike,
        start: ArrayLike,
        target_thread: ArrayLike,
        end: ArrayLike,
    ) -> None:
        """Append arrows from one thread and time to another; the calls are found by these.

        ``name`` holds indices of ``text("flows", ...)``.

        Parameters
        ----------
        name : int32 (n,)
            Indices of :meth:`text`.
        source_thread, target_thread : int32 (n,)
            Indices of :meth:`thread`.
        start, end : int64 (n,)
            Nanoseconds.
        """
        self._append(
            "flows",
            name=np.asarray(name, np.int32),
            source_thread=np.asarray(source_thread, np.int32),
            start=np.asarray(start, np.int64),
            target_thread=np.asarray(target_thread, np.int32),
            end=np.asarray(end, np.int64),
        )

    def add_spans(
        self, *, name: ArrayLike, thread: ArrayLike, start: ArrayLike, end: ArrayLike, parent: ArrayLike
    ) -> None:
        """Append asynchronous operations.

        ``name`` holds indices of ``text("spans", ...)``, ``parent`` indices of spans as they were added
        (over all calls of this method), -1 for none.

        Parameters
        ----------
        name : int32 (n,)
            Indices of :meth:`text`.
        thread : int32 (n,)
            Indices of :meth:`thread`.
        start, end : int64 (n,)
            Nanoseconds.
        parent : int64 (n,)
            The enclosing spans.
        """
        self._append(
            "spans",
            name=np.asarray(name, np.int32),
            thread=np.asarray(thread, np.int32),
            start=np.asarray(start, np.int64),
            end=np.asarray(end, np.int64),
            parent=np.asarray(parent, np.int64),
        )

    def add_instants(self, *, name: ArrayLike, thread: ArrayLike, time: ArrayLike) -> None:
        """Append moments; ``name`` holds indices of ``text("instants", ...)``.

        Parameters
        ----------
        name : int32 (n,)
            Indices of :meth:`text`.
        thread : int32 (n,)
            Indices of :meth:`thread`.
        time : int64 (n,)
            Nanoseconds.
        """
        self._append(
            "instants",
            name=np.asarray(name, np.int32),
            thread=np.asarray(thread, np.int32),
            time=np.asarray(time, np.int64),
        )

    # -- one at a time -------------------------------------------------------------------------

    def call(
        self, start: float, end: float, thread: RecordedId, name: str, *, process: RecordedId = 0
    ) -> None:
        """Add one call, in any order: for readers of small files, and for plug-ins.

        Parameters
        ----------
        start, end : float
            Nanoseconds, rounded.
        thread : int or str
            Its recorded id.
        name : str
            Of the function.
        process : int or str

        Examples
        --------
        >>> recording = Recording()
        >>> recording.call(0, 100, "main", "run")
        >>> recording.call(20, 50, "main", "parse")
        >>> from tracevis3d.formats.names import split
        >>> trace = recording.finish(Source(), split)
        >>> trace.calls.depth.tolist(), trace.calls.end.tolist()
        ([1, 2], [100, 50])
        """
        self._single_calls.append(
            (self.thread(process, thread), self.function(name), round(start), round(end))
        )

    def sample(
        self, stack: Sequence[str], weight: float, thread: RecordedId = 0, *, process: RecordedId = 0
    ) -> None:
        """Add one sample of a stack; those of a thread lie one after the other (as speedscope shows them).

        Parameters
        ----------
        stack : sequence of str
            Names of functions, the root first. Where two samples in a row begin alike they share calls.
        weight : float
            Nanoseconds that it lasts; not negative.
        thread, process : int or str
            Recorded ids.

        Raises
        ------
        ValueError
            If the weight is negative.
        """
        if weight < 0:
            raise ValueError(f"a sample lasts {weight} ns")
        frames = [self.function(name) for name in stack]
        self._samples.append((self.thread(process, thread), frames, round(weight)))

    def _add_singles(self) -> None:
        """Add the calls and samples that were added one by one as events."""
        if self._single_calls:
            thread, function, start, end = (np.array(column, np.int64) for column in zip(*self._single_calls))
            # Complete events are expected in the order of their ends, inner ones first.
            order = np.lexsort((-start, end))
            kind = np.full(len(order), COMPLETE, np.uint8)
            columns = {"thread": thread[order], "function": function[order], "time": start[order]}
            self.add_events(kind=kind, end=end[order], **columns)
            self._single_calls.clear()
        if self._samples:
            first = np.cumsum([0, *(len(frames) for _, frames, _ in self._samples)])
            events = events_of_stacks(
                np.array([thread for thread, _, _ in self._samples], np.int32),
                first.astype(np.int64),
                np.array([frame for _, frames, _ in self._samples for frame in frames], np.int32),
                np.array([weight for _, _, weight in self._samples], np.int64),
                np.zeros(len(self._threads), np.int64),
            )
            self.add_events(**events._asdict())
            self.add_samples(
                thread=[thread for thread, _, _ in self._samples],
                kind=np.full(len(self._samples), self.text("samples", "time (ns)")),
                weight=[weight for _, _, weight in self._samples],
            )
            self._samples.clear()

    # -- the trace -----------------------------------------------------------------------------

    def finish(
        self,
        source: Source,
        split: Callable[[str], SplitName],
        place: Callable[[int], str] = lambda event: f"event {event + 1:,}",
    ) -> Trace:
        """Build the calls and return the trace.

        Only functions that are called, and only threads with at least one event, sample, span or the
        like, are kept; threads stay in the order of their first mention.

        Parameters
        ----------
        source : Source
        split : callable
            Splits a function's recorded name (:func:`tracevis3d.formats.names.split`).
        place : callable
            Names the place of an event in the file, such as ``line 12``, from its index.

        Returns
        -------
        Trace
        """
        self._add_singles()
        ready = self._join_calls()
        events = self._join_events(place)
        tables = {name: self._join(name) for name in self._rows}
        if "samples" in tables and not self._samples_are_timed:
            del tables["samples"]["time"]
        if "samples" in tables and not self._samples_have_stacks:
            del tables["samples"]["stack"]
        for table, columns in tables.items():
            if table != "objects":
                tables[table] = self._drop_bad_times(table, columns, tables)
        origin, last = _time_range(events, tables, ready)
        if ready:
            built = _as_built(*ready, len(self._threads), origin)
        else:
            built = build_calls(events, len(self._threads), self.problems, place, origin)

        thread_map, threads = self._make_threads(events, built, tables)
        del events  # of large traces they take as much as the calls
        framed = tables["stacks"]["function"] if "stacks" in tables else np.empty(0, np.int32)
        calls, function_map = _only_called(built.calls, framed, len(self._functions))
        if len(threads) < len(thread_map):
            calls = replace(calls, thread=thread_map[calls.thread])
        functions, containers, files = self._functions.tables(function_map, split)
        make = _Tables(tables, self._texts, built, origin, thread_map, function_map)
        return Trace(
            calls=calls,
            functions=functions,
            containers=containers,
            files=files,
            threads=threads,
            sync=make.sync(),
            memory=make.memory(),
            stacks=make.stacks(),
            samples=make.samples(),
            counters=make.counters(self._series),
            flows=make.flows(),
            spans=make.spans(),
            instants=make.instants(),
            problems=self.problems,
            source=source,
            origin_ns=origin,
            span_ns=last - origin,
        )

    def _append(self, table: str, **columns: NDArray[Any]) -> None:
        if len({len(column) for column in columns.values()}) > 1:
            raise ValueError(f"the columns of {table} differ in length")
        self._rows.setdefault(table, []).append(columns)

    def _join(self, table: str) -> dict[str, NDArray[Any]]:
        chunks = self._rows[table]
        return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}

    def _join_calls(self) -> tuple[Calls, int] | None:
        """Return calls that are nested already, and what their times count from.

        None, and they become events, beside those of others.
        """
        parts = [calls for calls, _, _ in self._calls]
        ascend = all(one.thread[-1] < other.thread[0] for one, other in pairwise(parts))
        ranges = [_range(calls, origin) for calls, origin, _ in self._calls]
        in_range = all(low > -TIME_LIMIT and high < TIME_LIMIT for low, high in ranges)
        if not parts or self._events or not ascend or not in_range:
            for _, _, as_events in self._calls:
                self.add_events(**as_events())
            self._calls = []
            return None
        added, self._calls = self._calls, []
        return added[0][:2] if len(added) == 1 else (_joined([one[:2] for one in added]), 0)

    def _join_events(self, place: Callable[[int], str]) -> Events:
        chunks = self._events
        self._events = []
        if not chunks:
            empty = np.empty(0, np.int64)
            return Events(
                empty.astype(np.int32), empty.astype(np.uint8), empty.astype(np.int32), empty, empty
            )
        if len(chunks) == 1:
            events = chunks[0]
        else:
            if any(len(chunk.record) for chunk in chunks):
                missing = [
                    replace(c, record=np.full(len(c), -1, np.int64)) if not len(c.record) else c
                    for c in chunks
                ]
                chunks = missing
            columns = {}
            for name in ("thread", "kind", "function", "time", "end", "record"):
                columns[name] = np.concatenate([getattr(chunk, name) for chunk in chunks])
            events = Events(**columns)
        if not len(events):
            return events
        low = min(int(events.time.min()), int(events.end.min()))
        high = max(int(events.time.max()), int(events.end.max()))
        if low > -TIME_LIMIT and high < TIME_LIMIT:
            return events
        complete = events.kind == COMPLETE
        bad = np.abs(events.time.astype(np.float64)) >= TIME_LIMIT
        bad |= complete & (np.abs(events.end.astype(np.float64)) >= TIME_LIMIT)
        if bad.any():
            self.problems.add("bad time", place(int(np.argmax(bad))), int(bad.sum()))
        # Left-out events keep their index for ``place`` and ``event``: they become ends without a thread.
        return replace(
            events,
            thread=np.where(bad, -1, events.thread).astype(np.int32),
            kind=np.where(bad, END, events.kind).astype(np.uint8),
            time=np.where(bad, 0, events.time),
            end=np.where(bad | ~complete, 0, events.end),
        )

    def _drop_bad_times(
        self, table: str, columns: dict[str, NDArray[Any]], tables: dict[str, dict[str, NDArray[Any]]]
    ) -> dict[str, NDArray[Any]]:
        keep: NDArray[np.bool_] | None = None
        for name in ("time", "start", "end"):
            if name in columns:
                good = np.abs(columns[name].astype(np.float64)) < TIME_LIMIT
                keep = good if keep is None else keep & good
        if keep is None or keep.all():
            return columns
        self.problems.add("bad time", f"{table} record {int(np.argmin(keep)) + 1:,}", int((~keep).sum()))
        if table == "sync":
            rows = np.repeat(keep, columns["n_objects"])
            tables["objects"] = {"object": tables["objects"]["object"][rows]}
        if table == "spans":
            new = np.where(keep, np.cumsum(keep) - 1, -1)
            parent = columns["parent"]
            columns["parent"] = np.where(parent >= 0, new[np.maximum(parent, 0)], -1)
        return {name: column[keep] for name, column in columns.items()}

    def _make_threads(
        self, events: Events, built: Built, tables: dict[str, dict[str, NDArray[Any]]]
    ) -> tuple[NDArray[np.int32], Threads]:
        n = len(self._threads)
        used = np.zeros(n, np.bool_)
        used[built.count > 0] = True
        if not used.all():
            # An end without a begin is an event too: its thread stays.
            present = np.bincount(events.thread[events.thread >= 0], minlength=n)[:n] > 0
            used |= present
        for columns in tables.values():
            for name in ("thread", "source_thread", "target_thread"):
                if name in columns:
                    used[columns[name][columns[name] >= 0]] = True
        ids = [key for key, keep in zip(self._threads, used.tolist()) if keep]
        new = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        threads = Threads(
            process=tuple(process for process, _ in ids),
            tid=tuple(tid for _, tid in ids),
            name=tuple(self._thread_names.get(key, "") for key in ids),
            process_name=tuple(self._process_names.get(process, "") for process, _ in ids),
            first=built.first[used],
            count=built.count[used],
        )
        return new, threads


def _range(calls: Calls, origin: int) -> tuple[int, int]:
    """Return the earliest and the latest time of nested calls, as recorded."""
    low, high = measures.find_range(calls.start, calls.end, calls.extent)
    return int(low) + origin, int(high) + origin


def _joined(parts: list[tuple[Calls, int]]) -> Calls:
    """Return calls of several parts, and what the times of each count from, as one."""
    names = ("function", "depth", "extent", "thread")
    columns = {name: np.concatenate([getattr(part, name) for part, _ in parts]) for name in names}
    for name in ("start", "end"):
        columns[name] = np.concatenate([getattr(part, name) + origin for part, origin in parts])
    first = np.cumsum([0, *(len(part) for part, _ in parts)])
    parent = [
        np.where(part.parent >= 0, part.parent + at, -1) for (part, _), at in zip(parts, first.tolist())
    ]
    return Calls(**columns, parent=np.concatenate(parent), record=np.empty(0, np.int64))


def _as_built(calls: Calls, counts_from: int, threads: int, origin: int) -> Built:
    """Return calls that are nested already as if they had been built."""
    # Threads ascend.
    count = np.diff(np.searchsorted(calls.thread, np.arange(threads + 1, dtype=calls.thread.dtype)))
    if origin != counts_from:
        # The columns are the recording's own.
        np.subtract(calls.start, origin - counts_from, out=calls.start)
        np.subtract(calls.end, origin - counts_from, out=calls.end)
    return Built(calls, np.cumsum(count) - count, count, None)


def _time_range(
    events: Events, tables: dict[str, dict[str, NDArray[Any]]], ready: tuple[Calls, int] | None
) -> tuple[int, int]:
    """Return the earliest and the latest recorded time; (0, 0) if there is none."""
    low: list[int] = []
    high: list[int] = []
    if ready:
        first, last = _range(*ready)
        low.append(first)
        high.append(last)
    if len(events):
        used = events.thread >= 0
        everything = bool(used.all())
        time = events.time if everything else events.time[used]
        if len(time):
            low.append(int(time.min()))
            high.append(int(time.max()))
        complete = (events.kind == COMPLETE) & used
        if complete.any():
            high.append(int(events.end.max() if complete.all() else events.end[complete].max()))
    for columns in tables.values():
        for name in ("time", "start", "end"):
            if name in columns and len(columns[name]):
                low.append(int(columns[name].min()))
                high.append(int(columns[name].max()))
    return (min(low), max(high)) if low else (0, 0)


def _only_called(
    calls: Calls, framed: NDArray[np.int32], n_functions: int
) -> tuple[Calls, NDArray[np.int32]]:
    """Number the functions of calls and frames only; return the calls and the map from old to new.

    The map is -1 for what is dropped.
    """
    used = np.zeros(n_functions, np.bool_)
    used[framed] = True
    measures.mark_used(calls.function, used)
    new = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    if not used.all():
        calls = replace(calls, function=new[calls.function])
    return calls, new


class _Tables:
    """Makes the smaller tables: origin taken off, ordered, calls found."""

    def __init__(
        self,
        tables: dict[str, dict[str, NDArray[Any]]],
        texts: dict[str, dict[str, int]],
        built: Built,
        origin: int,
        thread_map: NDArray[np.int32],
        function_map: NDArray[np.int32],
    ) -> None:
        self._tables = tables
        self._texts = texts
        self._built = built
        self._origin = origin
        # Of no thread, -1, it is -1.
        self._map = np.append(thread_map, np.int32(-1))
        self._functions = function_map

    def _names(self, table: str) -> Strings:
        return Strings.of(self._texts.get(table, ()))

    def _times(self, columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {
            name: column - self._origin if name in ("time", "start", "end") else column
            for name, column in columns.items()
        }

    def _innermost(self, thread: NDArray[np.int32], time: NDArray[np.int64]) -> NDArray[np.int64]:
        built = self._built
        return innermost(built.calls, built.first, built.count, thread, time)

    def _new(self, thread: NDArray[np.int32]) -> NDArray[np.int32]:
        return self._map[thread]

    def sync(self) -> Sync:
        if "sync" not in self._tables:
            return Sync(names=self._names("sync"), objects=self._names("objects"))
        rows = self._times(self._tables["sync"])
        flat = self._tables["objects"]["object"]
        # Threads are few, as a rule: short keys are sorted by radix.
        thread = rows["thread"] + 1
        if len(self._map) < np.iinfo(np.uint16).max:
            thread = thread.astype(np.uint16)
        order = np.lexsort((rows["start"], thread))
        sizes = rows["n_objects"]
        first = np.concatenate(([0], np.cumsum(sizes.take(order))))
        if (sizes == 1).all():
            taken = order
        else:
            begins = np.cumsum(sizes) - sizes
            taken = np.arange(first[-1]) + np.repeat(begins[order] - first[:-1], sizes[order])
        # ``take`` is faster than an index.
        rows = {name: column.take(order) for name, column in rows.items()}
        known = np.flatnonzero(rows["event"] >= 0)
        event, of = rows["event"].take(known), self._built.call_of_event
        call = np.full(len(order), -1, np.int64)
        call[known] = own = event if of is None else of.take(event)
        # Only now it is known which end belongs to a call with begin and end.
        rows["end"][known] = self._built.calls.end.take(own)
        return Sync(
            call=call,
            thread=self._new(rows["thread"]),
            start=rows["start"],
            end=np.maximum(rows["end"], rows["start"]),
            kind=rows["kind"],
            contended=rows["contended"],
            name=rows["name"],
            holder=self._new(rows["holder"]),
            line=rows["line"],
            first=first,
            object=flat.take(taken),
            names=self._names("sync"),
            objects=self._names("objects"),
        )

    def memory(self) -> Memory:
        if "memory" not in self._tables:
            return Memory()
        rows = self._times(self._tables["memory"])
        order = np.argsort(rows["time"], kind="stable")
        rows = {name: column[order] for name, column in rows.items()}
        return Memory(
            time=rows["time"],
            address=rows["address"],
            size=rows["size"],
            kind=rows["kind"],
            thread=self._new(rows["thread"]),
            call=self._innermost(rows["thread"], rows["time"]),
            stack=rows["stack"] if (rows["stack"] >= 0).any() else np.empty(0, np.int32),
        )

    def stacks(self) -> Stacks:
        if "stacks" not in self._tables:
            return Stacks()
        rows = self._tables["stacks"]
        return Stacks(function=self._functions[rows["function"]], parent=rows["parent"], line=rows["line"])

    def samples(self) -> Samples:
        if "samples" not in self._tables:
            return Samples()
        rows = self._times(self._tables["samples"])
        rows["thread"] = self._new(rows["thread"])
        keys = [rows[name] for name in ("time", "thread") if name in rows]
        goes_on = keys[-1][1:] >= keys[-1][:-1]
        if len(keys) == 2:
            goes_on &= (keys[1][1:] > keys[1][:-1]) | (keys[0][1:] >= keys[0][:-1])
        if not goes_on.all():
            order = np.lexsort(keys)
            rows = {name: column[order] for name, column in rows.items()}
        return Samples(**rows, kinds=self._names("samples"))

    def counters(self, series: dict[tuple[RecordedId, str], int]) -> Counters:
        if "counters" not in self._tables:
            return Counters()
        rows = self._times(self._tables["counters"])
        order = np.lexsort((rows["time"], rows["series"]))
        counts = np.bincount(rows["series"], minlength=len(series))
        return Counters(
            name=Strings.of([name for _, name in series]),
            process=tuple(process for process, _ in series),
            first=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            time=rows["time"][order],
            value=rows["value"][order],
        )

    def flows(self) -> Flows:
        if "flows" not in self._tables:
            return Flows()
        rows = self._times(self._tables["flows"])
        order = np.argsort(rows["start"], kind="stable")
        rows = {name: column[order] for name, column in rows.items()}
        return Flows(
            source=self._innermost(rows["source_thread"], rows["start"]),
            target=self._innermost(rows["target_thread"], rows["end"]),
            source_thread=self._new(rows["source_thread"]),
            target_thread=self._new(rows["target_thread"]),
            start=rows["start"],
            end=rows["end"],
            name=rows["name"],
            names=self._names("flows"),
        )

    def spans(self) -> Spans:
        if "spans" not in self._tables:
            return Spans()
        rows = self._times(self._tables["spans"])
        return Spans(
            name=rows["name"],
            thread=self._new(rows["thread"]),
            start=rows["start"],
            end=np.maximum(rows["end"], rows["start"]),
            parent=rows["parent"],
            names=self._names("spans"),
        )

    def instants(self) -> Instants:
        if "instants" not in self._tables:
            return Instants()
        rows = self._times(self._tables["instants"])
        order = np.argsort(rows["time"], kind="stable")
        return Instants(
            name=rows["name"][order],
            thread=self._new(rows["thread"][order]),
            time=rows["time"][order],
            names=self._names("instants"),
        )


__all__ = ["BEGIN", "COMPLETE", "END", "ContainerPath", "Recording", "SplitName"]
