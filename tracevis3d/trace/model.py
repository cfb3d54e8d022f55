"""The model of a trace: plain columns, in memory or memory-mapped.

All times are int64 nanoseconds from the trace's start (``Trace.origin_ns``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import units
from ..tables.column import Column
from ..tables.table import Table
from ..tables.tabular import Named, Tabular, bound
from .arguments import read_arguments
from .problems import Problems
from .strings import Strings

#: Kinds of a row of :class:`Sync`.
WAIT, RELEASE, IO = 0, 1, 2
SYNC_KINDS = ("wait", "release", "io")
#: In ``Sync.contended``: the wait blocked, and still did when the recording ended.
STILL = 2
#: Kinds of a row of :class:`Memory`.
ALLOC, FREE, ACCESS = 0, 1, 2
MEMORY_KINDS = ("alloc", "free", "access")
#: Kinds of a container, from the outside in.
CONTAINER_KINDS = ("package", "module", "class", "file", "category")

#: The name of a thread or process in the recording.
RecordedId = int | str


def _column(dtype: Any, **meaning: Any) -> Any:
    """Declare a column; ``meaning`` is what :class:`..tables.tabular.Tabular` wants to know of it."""
    return field(default_factory=lambda: np.empty(0, dtype), metadata={"dtype": np.dtype(dtype), **meaning})


def _slices() -> Any:
    """Declare the column of where slices begin, one entry more than there are slices."""
    return field(
        default_factory=lambda: np.zeros(1, np.int64),
        metadata={"dtype": np.dtype(np.int64), "as_table": False},
    )


def _strings(**meaning: Any) -> Any:
    return field(default_factory=Strings.empty, metadata=meaning)


@dataclass(frozen=True, eq=False, repr=False)
class Calls(Tabular):
    """All calls, in pre-order within each thread, the threads one after another.

    The subtree of call ``i`` (its call stack S(f) in TraceDiff, section IV-A) is the slice
    ``[i, i + extent[i])``. Within a thread ``start`` never decreases.

    Attributes
    ----------
    function : int32 (n,)
        Index into ``Trace.functions``.
    parent : int64 (n,)
        Index of the caller; -1 for a root call.
    depth : int32 (n,)
        1 for a root call.
    start, end : int64 (n,)
        Nanoseconds; ``start <= end``; a call lies within its parent and siblings don't overlap.
    extent : int64 (n,)
        Number of calls in the subtree, the call itself included.
    thread : int32 (n,)
        Index into ``Trace.threads``.
    record : int64 (n,) or (0,)
        Byte offset, in the unpacked source, of the record that opened the call where that record has
        arguments, else -1; empty if none has. :meth:`Trace.arguments` decodes them.
    """

    function: NDArray[np.int32] = _column(np.int32, names="functions")
    parent: NDArray[np.int64] = _column(np.int64, has_gaps=True, called="parent_id")
    depth: NDArray[np.int32] = _column(np.int32)
    start: NDArray[np.int64] = _column(np.int64, unit="ns")
    end: NDArray[np.int64] = _column(np.int64, unit="ns")
    extent: NDArray[np.int64] = _column(np.int64)
    thread: NDArray[np.int32] = _column(np.int32, names="threads")
    record: NDArray[np.int64] = _column(np.int64, as_table=False)

    def __len__(self) -> int:
        return len(self.function)


@dataclass(frozen=True, eq=False, repr=False)
class Containers(Tabular):
    """The tree that functions live in: packages, modules, classes. A parent comes before its children.

    Attributes
    ----------
    name : Strings (n,)
    parent : int32 (n,)
        -1 for a root.
    kind : uint8 (n,)
        Index into :data:`CONTAINER_KINDS`.
    """

    name: Strings = _strings()
    parent: NDArray[np.int32] = _column(np.int32, has_gaps=True, called="parent_id")
    kind: NDArray[np.uint8] = _column(np.uint8, names=CONTAINER_KINDS)

    def __len__(self) -> int:
        return len(self.name)

    def titles(self) -> Strings:
        """Return what people call its rows."""
        return self.name


@dataclass(frozen=True, eq=False, repr=False)
class Functions(Tabular):
    """The functions that are called.

    Attributes
    ----------
    name : Strings (n,)
        As recorded, in full.
    label : Strings (n,)
        The short name for people: without path, line and containers other than the class.
    container : int32 (n,)
        Index into ``Trace.containers``; -1 if nothing is known.
    file : int32 (n,)
        Index into ``Trace.files``; -1 if unknown.
    line : int32 (n,)
        1 for the first; 0 if unknown.
    """

    name: Strings = _strings(called="recorded_name")
    label: Strings = _strings(called="name")
    container: NDArray[np.int32] = _column(np.int32, names="containers", has_gaps=True)
    file: NDArray[np.int32] = _column(np.int32, names="files", has_gaps=True)
    line: NDArray[np.int32] = _column(np.int32)

    def __len__(self) -> int:
        return len(self.name)

    def titles(self) -> list[str]:
        """Return what people call its rows: the label; where several have it, with file and line."""
        labels = [*self.label]
        often = Counter(labels)
        files = self._points_into.get("files", Strings.empty())
        names = [file.replace("\\", "/").rpartition("/")[2] for file in files.titles()]
        found = []
        for label, recorded, file, line in zip(labels, self.name, self.file.tolist(), self.line.tolist()):
            if often[label] > 1:
                label = f"{label} ({names[file]}:{line})" if 0 <= file < len(names) else recorded
            found.append(label)
        return found


def thread_name(name: str, tid: RecordedId) -> str:
    """Return what a thread is called without its id, where it has a name: ``worker``, else ``thread 7``.

    Parameters
    ----------
    name : str
        As recorded; may be empty.
    tid : RecordedId
        The thread's id as recorded.

    Returns
    -------
    str
    """
    return name or f"thread {tid}"


@dataclass(frozen=True, eq=False, repr=False)
class Threads(Tabular):
    """The threads that have at least one event, in the order of the trace.

    The calls of thread ``t`` are the slice ``[first[t], first[t] + count[t])``.

    Attributes
    ----------
    process, tid : tuples of int or str
        As recorded.
    name, process_name : tuples of str
        Empty if not recorded.
    first, count : int64 (n,)
    """

    process: tuple[RecordedId, ...] = ()
    tid: tuple[RecordedId, ...] = ()
    name: tuple[str, ...] = ()
    process_name: tuple[str, ...] = ()
    first: NDArray[np.int64] = _column(np.int64, as_table=False)
    count: NDArray[np.int64] = _column(np.int64, called="calls")

    def __len__(self) -> int:
        return len(self.tid)

    def title(self, thread: int) -> str:
        """Return what people call the thread: its name with its id, or its id alone."""
        if self.name[thread].endswith(" (asyncio)") and self.name.count(self.name[thread]) == 1:
            # The recorder's own number of a task.
            return self.name[thread]
        name, tid = thread_name(self.name[thread], self.tid[thread]), str(self.tid[thread])
        return name if tid in name else f"{name} ({tid})"

    def titles(self) -> list[str]:
        """Return what people call its rows."""
        return [self.title(thread) for thread in range(len(self))]

    def table(self) -> Table:
        """Return it as a table, with what people call each thread."""
        table = super().table()
        number, *others = table.columns.items()
        return Table(table.name, dict([number, ("title", Column(self.titles())), *others]))


@dataclass(frozen=True, eq=False, repr=False)
class Sync(Tabular):
    """Waits, releases and I/O on named objects, ordered by thread, then start.

    Attributes
    ----------
    call : int64 (n,)
        The call that waits, releases or transfers; -1 where the record is not a call (an instant).
    thread : int32 (n,)
    start, end : int64 (n,)
        Equal for an instant.
    kind : uint8 (n,)
        WAIT, RELEASE or IO.
    contended : int8 (n,)
        2: the wait blocked and had not ended when the recording did, 1: it blocked, 0: it did not, -1: not
        recorded.
    name : int32 (n,)
        What was done, as an index into ``names`` (such as ``Lock.acquire``).
    holder : int32 (n,) or (0,)
        The thread that held the object when the wait began; -1: none, or unknown; empty: all unknown.
    line : int32 (n,) or (0,)
        The line of code that did it, in the file of the function around; 0: unknown; empty: all unknown.
    first : int64 (n + 1,)
        The objects of row ``i`` are ``object[first[i]:first[i + 1]]``.
    object : int32 (m,)
        Index into ``objects``.
    names : Strings
        What rows do.
    objects : Strings
        The names of what they act on.
    """

    call: NDArray[np.int64] = _column(np.int64, has_gaps=True, called="call_id")
    thread: NDArray[np.int32] = _column(np.int32, names="threads")
    start: NDArray[np.int64] = _column(np.int64, unit="ns")
    end: NDArray[np.int64] = _column(np.int64, unit="ns")
    kind: NDArray[np.uint8] = _column(np.uint8, names=SYNC_KINDS)
    contended: NDArray[np.int8] = _column(np.int8, has_gaps=True)
    name: NDArray[np.int32] = _column(np.int32, names="names", called="operation")
    holder: NDArray[np.int32] = _column(np.int32, names="threads", has_gaps=True, optional=True)
    line: NDArray[np.int32] = _column(np.int32, optional=True)
    first: NDArray[np.int64] = _slices()
    object: NDArray[np.int32] = _column(np.int32, names="objects", slices="first", called="objects")
    names: Strings = _strings(as_table=False)
    objects: Strings = _strings(as_table=False)

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, eq=False, repr=False)
class Memory(Tabular):
    """Allocations, frees and accesses, ordered by time.

    Attributes
    ----------
    time : int64 (n,)
    address : uint64 (n,)
    size : int64 (n,)
        Bytes; 0 for a free.
    kind : uint8 (n,)
        ALLOC, FREE or ACCESS.
    thread : int32 (n,)
    call : int64 (n,)
        The innermost call at that time; -1 if unknown.
    stack : int32 (n,) or (0,)
        The innermost frame of the stack recorded with the row, an index into ``Trace.stacks``; -1: none;
        empty if no row has one.
    """

    time: NDArray[np.int64] = _column(np.int64, unit="ns")
    address: NDArray[np.uint64] = _column(np.uint64)
    size: NDArray[np.int64] = _column(np.int64)
    kind: NDArray[np.uint8] = _column(np.uint8, names=MEMORY_KINDS)
    thread: NDArray[np.int32] = _column(np.int32, names="threads", has_gaps=True)
    call: NDArray[np.int64] = _column(np.int64, has_gaps=True, called="call_id")
    stack: NDArray[np.int32] = _column(np.int32, has_gaps=True, called="stack_id", optional=True)

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, eq=False, repr=False)
class Stacks(Tabular):
    """Stacks recorded with single events, without calls around them: a tree of frames.

    A row is a frame inside the frame that is its parent; stacks that begin alike share rows. A parent comes
    before its children.

    Attributes
    ----------
    function : int32 (n,)
        Index into ``Trace.functions``.
    parent : int32 (n,)
        The frame of the caller; -1 for the outermost.
    line : int32 (n,)
        The line that was being executed, from 1; 0 if unknown.
    """

    function: NDArray[np.int32] = _column(np.int32, names="functions")
    parent: NDArray[np.int32] = _column(np.int32, has_gaps=True, called="parent_id")
    line: NDArray[np.int32] = _column(np.int32)

    def __len__(self) -> int:
        return len(self.function)


@dataclass(frozen=True, eq=False, repr=False)
class Samples(Tabular):
    """Samples of stacks: a trace with some is a profile, its calls are what neighbours have in common.

    Rows are ordered by thread, then time where times are known.

    Attributes
    ----------
    thread : int32 (n,)
    kind : int32 (n,)
        What is weighed, as an index into ``kinds``; the calls are laid out by kind 0.
    weight : int64 (n,)
        How much the sample represents, in the unit of its kind.
    time : int64 (n,) or (0,)
        When it was taken; empty if that was not recorded: calls then last as long as they weigh.
    stack : int32 (n,) or (0,)
        Its innermost frame, an index into ``Trace.stacks``; -1: the stack is empty; empty if none is kept.
    kinds : Strings
        What is weighed, with its unit in brackets if it is not a number of samples: ``cpu (ns)``.
    """

    thread: NDArray[np.int32] = _column(np.int32, names="threads", has_gaps=True)
    kind: NDArray[np.int32] = _column(np.int32, names="kinds")
    weight: NDArray[np.int64] = _column(np.int64)
    time: NDArray[np.int64] = _column(np.int64, unit="ns", optional=True)
    stack: NDArray[np.int32] = _column(np.int32, has_gaps=True, called="stack_id", optional=True)
    kinds: Strings = _strings(as_table=False)

    def __len__(self) -> int:
        return len(self.thread)

    @property
    def are_timed(self) -> bool:
        """Whether it is known when each sample was taken."""
        return len(self.time) > 0


@dataclass(frozen=True, eq=False, repr=False)
class Counters(Tabular):
    """Named series of values; the samples of series ``i`` are the slice ``[first[i], first[i + 1])``.

    Attributes
    ----------
    name : Strings (n,)
    process : tuple of int or str
        As recorded, one per series.
    first : int64 (n + 1,)
    time : int64 (m,)
        Never decreases within a series.
    value : float64 (m,)
    """

    name: Strings = _strings()
    process: tuple[RecordedId, ...] = ()
    first: NDArray[np.int64] = _slices()
    time: NDArray[np.int64] = _column(np.int64)
    value: NDArray[np.float64] = _column(np.float64)

    def __len__(self) -> int:
        return len(self.name)

    def table(self) -> Table:
        """Return the samples as a table, with the name of their series."""
        series = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.first))
        return Table(
            "counters",
            {
                "id": Column(np.arange(len(series))),
                "name": Column(series, self.name),
                "process": Column(series, [*map(str, self.process)]),
                "time_ns": Column(self.time),
                "value": Column(self.value),
            },
        )


@dataclass(frozen=True, eq=False, repr=False)
class Flows(Tabular):
    """Arrows from one call to another (Chrome's flow events), ordered by start.

    Attributes
    ----------
    source, target : int64 (n,)
        Calls; -1 where an end hit none.
    source_thread, target_thread : int32 (n,)
    start, end : int64 (n,)
    name : int32 (n,)
        Index into ``names``.
    names : Strings
        Those of the arrows.
    """

    source: NDArray[np.int64] = _column(np.int64, has_gaps=True, called="source_id")
    target: NDArray[np.int64] = _column(np.int64, has_gaps=True, called="target_id")
    source_thread: NDArray[np.int32] = _column(np.int32, names="threads", has_gaps=True)
    target_thread: NDArray[np.int32] = _column(np.int32, names="threads", has_gaps=True)
    start: NDArray[np.int64] = _column(np.int64, unit="ns")
    end: NDArray[np.int64] = _column(np.int64, unit="ns")
    name: NDArray[np.int32] = _column(np.int32, names="names", has_gaps=True)
    names: Strings = _strings(as_table=False)

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, eq=False, repr=False)
class Spans(Tabular):
    """Asynchronous operations: they have a start and an end, but lie on no thread's stack.

    Attributes
    ----------
    name : int32 (n,)
        Index into ``names``.
    thread : int32 (n,)
        The thread that began it.
    start, end : int64 (n,)
    parent : int64 (n,)
        The enclosing span of the same operation; -1 if none.
    names : Strings
        Those of the operations.
    """

    name: NDArray[np.int32] = _column(np.int32, names="names", has_gaps=True)
    thread: NDArray[np.int32] = _column(np.int32, names="threads", has_gaps=True)
    start: NDArray[np.int64] = _column(np.int64, unit="ns")
    end: NDArray[np.int64] = _column(np.int64, unit="ns")
    parent: NDArray[np.int64] = _column(np.int64, has_gaps=True, called="parent_id")
    names: Strings = _strings(as_table=False)

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, eq=False, repr=False)
class Instants(Tabular):
    """Moments without duration, ordered by time.

    Attributes
    ----------
    name : int32 (n,)
        Index into ``names``.
    thread : int32 (n,)
    time : int64 (n,)
    names : Strings
        Those of the moments.
    """

    name: NDArray[np.int32] = _column(np.int32, names="names", has_gaps=True)
    thread: NDArray[np.int32] = _column(np.int32, names="threads", has_gaps=True)
    time: NDArray[np.int64] = _column(np.int64, unit="ns")
    names: Strings = _strings(as_table=False)

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True)
class Source:
    """Where a trace came from.

    Attributes
    ----------
    path : str
        As given by the user; empty for a trace that was never a file.
    format : str
        Name of the format in the registry.
    hash : str
        SHA-256 of the file's bytes in hexadecimal (of the names and bytes of its files, for a folder).
    size : int
        Bytes on disk.
    recording : str
        Path of the recorded file where that is not ``path``: a .tv3 file keeps where it came from, and the
        hash of that. Arguments of calls are read from there.
    """

    path: str = ""
    format: str = ""
    hash: str = ""
    size: int = 0
    recording: str = ""

    @property
    def name(self) -> str:
        """The file's name without its folder, for titles; ``trace`` for one that was never a file."""
        return self.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "trace"

    @property
    def title(self) -> str:
        """The file's name without its suffixes, for pictures."""
        name = self.name
        for suffix in (".gz", ".zst", ".json", ".tv3", ".tsv", ".txt", ".rsf"):
            name = name.removesuffix(suffix)
        return name or self.name


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """One recording of a program.

    ``origin_ns`` is the recorded time, in nanoseconds, of time 0.

    Attributes
    ----------
    calls : Calls
        In pre-order within each thread.
    functions : Functions
        What is called.
    containers : Containers
        Packages, modules and classes that functions lie in.
    files : Strings
        The names of source files.
    threads : Threads
        The slices of the calls, names and ids.
    sync : Sync
        Waits, releases and I/O.
    memory : Memory
        Allocations, frees and accesses.
    stacks : Stacks
        Those that memory or samples were recorded with.
    samples : Samples
        Those of a profile; empty for a trace of calls.
    counters : Counters
        Samples of numbers over time.
    flows : Flows
        Arrows between calls.
    spans : Spans
        Asynchronous operations.
    instants : Instants
        Moments.
    problems : Problems
        What was repaired or left out.
    source : Source
        Where it comes from.
    origin_ns : int
        The recorded time of time 0, in nanoseconds.
    span_ns : int
        From time 0 to the end of all that was recorded, in nanoseconds.
    """

    calls: Calls = field(default_factory=Calls)
    functions: Functions = field(default_factory=Functions)
    containers: Containers = field(default_factory=Containers)
    files: Strings = field(default_factory=Strings.empty)
    threads: Threads = field(default_factory=Threads)
    sync: Sync = field(default_factory=Sync)
    memory: Memory = field(default_factory=Memory)
    stacks: Stacks = field(default_factory=Stacks)
    samples: Samples = field(default_factory=Samples)
    counters: Counters = field(default_factory=Counters)
    flows: Flows = field(default_factory=Flows)
    spans: Spans = field(default_factory=Spans)
    instants: Instants = field(default_factory=Instants)
    problems: Problems = field(default_factory=Problems)
    source: Source = field(default_factory=Source)
    origin_ns: int = 0
    span_ns: int = 0

    def __post_init__(self) -> None:
        """Let the tables know what their numbers represent."""
        into: dict[str, Named] = {
            "functions": self.functions,
            "threads": self.threads,
            "containers": self.containers,
            "files": self.files,
        }
        for name in TABLES:
            table = getattr(self, name)
            used = {
                names: into[names]
                for f in fields(table)
                if (names := f.metadata.get("names")) in into and into[names] is not table
            }
            object.__setattr__(self, name, bound(table, used))

    @property
    def has_times(self) -> bool:
        """Whether it has times; else they count its records, a nanosecond each."""
        return "no times" not in self.problems

    def __len__(self) -> int:
        return len(self.calls)

    def __repr__(self) -> str:
        return f"<Trace {self.source.name}: {', '.join(' '.join(fact) for fact in self._facts())}>"

    def _repr_html_(self) -> str:
        """Return a short table of facts, which a notebook shows."""
        from html import escape

        rows = "".join(
            f"<tr><td style='text-align:right'>{number}</td><td style='text-align:left'>{what}</td></tr>"
            for number, what in self._facts()
        )
        return f"<b>{escape(self.source.name)}</b><table>{rows}</table>"

    def _facts(self) -> list[tuple[str, str]]:
        """Return what it has, as numbers and what they are of."""
        many = [
            (len(self.calls), "calls"),
            (len(self.functions), "functions"),
            (len(self.threads), "threads"),
            (len(self.sync), "waits, releases and transfers"),
            (len(self.memory), "events of memory"),
            (len(self.counters), "counters"),
            (len(self.flows), "flows"),
            (len(self.spans), "spans"),
            (len(self.instants), "instants"),
            (sum(problem.count for problem in self.problems.values()), "problems"),
        ]
        lasts = (
            (units.duration(self.span_ns), "long")
            if self.has_times
            else (f"{self.span_ns:,}", "records long")
        )
        is_timed = self.samples.are_timed or not len(self.samples)
        return [
            *([lasts] if is_timed else []),
            *(
                (f"{number:,}", what.removesuffix("s") if number == 1 else what)
                for number, what in many
                if number
            ),
        ]

    def arguments(self, call: int) -> dict[str, Any]:
        """Return the arguments recorded with a call, decoded from the source; empty if there are none.

        A packed source is unpacked up to the record, which takes a moment far into a large file.

        Parameters
        ----------
        call : int
            Its index.

        Returns
        -------
        dict

        Raises
        ------
        InputError
            If the source is missing, or has changed since the trace was read, or the record can't be
            decoded.
        """
        record = self.calls.record
        if not len(record) or record[call] < 0:
            return {}
        source = self.source
        return read_arguments(source.path, source.recording, source.hash, int(record[call]))


#: The tables of a trace that the store writes column by column.
TABLES = tuple(
    f.name for f in fields(Trace) if f.name not in ("files", "problems", "source", "origin_ns", "span_ns")
)
