"""Traces on disk: ``.tv3`` files, one file per trace; those of the cache are mapped when loaded.

One file rather than a folder, because people move, mail and rename files. The packed form holds the calls
in at most 12 bytes each where times between calls and durations are below 4.29 s (numbers take the bytes
they need, see :mod:`tracevis3d.kernels.trace.pack`), and a function index of 2 bytes. It is
rebuilt when loaded. Both forms give back every column exactly.

A file that was not written or checked on this machine before is checked in full when it is first loaded:
checksums, the tree of the calls, every index; that takes one pass. After that, opening touches the header
only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.trace import pack
from ..model import CONTAINER_KINDS, MEMORY_KINDS, SYNC_KINDS, TABLES, Calls, Source, Trace
from ..problems import KINDS, Problems
from ..strings import Strings
from . import container
from .container import Container, damaged

_KIND = "trace"
_CALLS = tuple(f.name for f in fields(Calls))
_EMPTY = Trace()
#: Columns that files of earlier versions lack; they are empty then.
_LATER = (
    *("sync.holder", "sync.line", "memory.stack", "stacks.function", "stacks.parent", "stacks.line"),
    *("samples.thread", "samples.kind", "samples.weight", "samples.time", "samples.stack", "samples.kinds"),
)


#: Columns that are empty where nothing of the kind was recorded.
_MAY_BE_EMPTY = frozenset(
    (
        ("calls", "record"),
        ("sync", "holder"),
        ("sync", "line"),
        ("memory", "stack"),
        ("samples", "time"),
        ("samples", "stack"),
    )
)


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether the file at ``path`` begins like a .tv3 file."""
    return container.is_container(Path(path))


def save(trace: Trace, path: str | os.PathLike[str], packed: bool = False, *, check: bool = True) -> None:
    """Write ``trace`` to ``path``; an interrupted write leaves what was there before.

    Parameters
    ----------
    trace : Trace
    path : path
    packed : bool
        Write the packed form: a few times smaller, rebuilt when loaded.
    check : bool
        Make sure first that the trace keeps the model's rules; what was just built does.

    Raises
    ------
    InputError
        If the file can't be written.
    ValueError
        If the trace breaks the model's rules (an error of the program).
    """
    path = Path(path)
    if check and (wrong := find_wrong(trace)):
        raise ValueError(f"this is not a valid trace: {wrong}")
    columns = dict(_columns(trace))
    facts: dict[str, Any] = {
        "packed": packed,
        "origin_ns": trace.origin_ns,
        "span_ns": trace.span_ns,
        "source": vars(trace.source),
        "problems": [[kind, p.count, p.first] for kind, p in trace.problems.items()],
        "threads": {
            name: list(getattr(trace.threads, name)) for name in ("process", "tid", "name", "process_name")
        },
        "counters": {"process": list(trace.counters.process)},
    }
    if packed:
        facts["record"] = len(trace.calls.record) > 0
        for name in _CALLS:
            del columns[f"calls.{name}"]
        columns.update(_pack(trace))
    container.write(path, _KIND, facts, columns)


def load(path: str | os.PathLike[str]) -> Trace:
    """Load a trace that :func:`save` wrote.

    ``Trace.source`` keeps the hash of the recording; its path is that of the .tv3 file, and ``recording``
    that of the recording, where its arguments are.

    Parameters
    ----------
    path : path
        The .tv3 file.

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If the file is no .tv3 file, is damaged, or was written by a newer version.
    """
    path = Path(path)
    stored = container.read(path, _KIND)
    try:
        trace = _assemble(stored)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        raise damaged(path, "its header does not describe a trace") from error
    if not stored.trusted:
        stored.check_sums()
        if wrong := find_wrong(trace):
            raise damaged(path, wrong)
        stored.trust()
    return trace


def _columns(trace: Trace) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield every column of a trace with its name."""
    for table in TABLES:
        rows = getattr(trace, table)
        for f in fields(rows):
            column = getattr(rows, f.name)
            if isinstance(column, Strings):
                yield f"{table}.{f.name}.data", column.data
                yield f"{table}.{f.name}.offsets", column.offsets
            elif not isinstance(column, tuple):
                yield f"{table}.{f.name}", np.asarray(column, f.metadata["dtype"])
    yield "files.data", trace.files.data
    yield "files.offsets", trace.files.offsets


def _assemble(stored: Container) -> Trace:
    """Make the trace of a container's columns; raises KeyError and similar where they don't fit."""
    facts = stored.facts
    packed = _a(bool, facts["packed"])
    tables: dict[str, Any] = {}
    for table in TABLES:
        if packed and table == "calls":
            continue
        columns: dict[str, Any] = {}
        for f in fields(getattr(_EMPTY, table)):
            name = f"{table}.{f.name}"
            if name in _LATER and not {name, f"{name}.data"} & stored.columns.keys():
                continue
            if "dtype" in f.metadata:
                columns[f.name] = _column(stored, name, f.metadata["dtype"])
            elif isinstance(getattr(getattr(_EMPTY, table), f.name), Strings):
                columns[f.name] = _strings(stored, name)
            else:
                given = _a(list, facts[table][f.name])
                named = f.name in ("name", "process_name")
                if any(type(item) is not str and (named or type(item) is not int) for item in given):
                    raise TypeError
                columns[f.name] = tuple(given)
        tables[table] = type(getattr(_EMPTY, table))(**columns)
    problems = Problems()
    for kind, count, first in facts["problems"]:
        if kind not in KINDS:
            raise ValueError(kind)
        problems.add(kind, _a(str, first), _a(int, count))
    source = Source(**facts["source"])
    for f in fields(Source):
        _a(type(f.default), getattr(source, f.name))
    source = replace(source, path=str(stored.path), recording=source.recording or source.path)
    if packed:
        tables["calls"] = _unpack(stored, tables["threads"], len(tables["functions"]))
    trace = Trace(
        **tables,
        files=_strings(stored, "files"),
        problems=problems,
        source=source,
        origin_ns=_a(int, facts["origin_ns"]),
        span_ns=_a(int, facts["span_ns"]),
    )
    if wrong := _find_wrong_lengths(trace):
        raise ValueError(wrong)
    return trace


def _a(wanted: type, value: Any) -> Any:
    if type(value) is not wanted:
        raise TypeError(value)
    return value


def _column(stored: Container, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    column = stored.columns[name]
    if column.dtype != dtype:
        raise TypeError(name)
    return column


def _strings(stored: Container, name: str) -> Strings:
    strings = Strings(
        _column(stored, f"{name}.data", np.dtype(np.uint8)),
        _column(stored, f"{name}.offsets", np.dtype(np.int64)),
    )
    if not len(strings.offsets):
        raise ValueError(name)
    return strings


def _pack(trace: Trace) -> dict[str, NDArray[Any]]:
    """Return the columns of the packed form of the calls."""
    calls = trace.calls
    first, count = _plain(trace.threads.first), _plain(trace.threads.count)
    depth, start, end, record = (_plain(c) for c in (calls.depth, calls.start, calls.end, calls.record))
    control = np.empty(len(calls), np.uint8)
    size = pack.measure_calls(first, count, depth, start, end, record, control)
    data = np.zeros(size + pack.LONGEST, np.uint8)
    pack.pack_calls(first, count, depth, start, end, record, control, pack.FORMS, data.ctypes.data)
    # The last store may have left bytes of a number beyond its own.
    data[size:] = 0
    function = calls.function.astype(np.uint16 if len(trace.functions) <= 1 << 16 else np.uint32)
    return {"packed.function": function, "packed.control": control, "packed.data": data}


def _unpack(stored: Container, threads: Any, functions: int) -> Calls:
    """Rebuild the calls from the packed form; checks everything on the way."""
    control = _column(stored, "packed.control", np.dtype(np.uint8))
    data = _column(stored, "packed.data", np.dtype(np.uint8))
    function = stored.columns["packed.function"]
    n = len(control)
    if function.dtype not in (np.uint16, np.uint32) or len(function) != n or len(data) < pack.LONGEST:
        raise ValueError("packed")
    if wrong := _find_wrong_slices(threads.first, threads.count, n):
        raise damaged(stored.path, wrong)
    has_record = _a(bool, stored.facts["record"])
    calls = Calls(
        function=np.empty(n, np.int32),
        parent=np.empty(n, np.int64),
        depth=np.empty(n, np.int32),
        start=np.empty(n, np.int64),
        end=np.empty(n, np.int64),
        extent=np.empty(n, np.int64),
        thread=np.empty(n, np.int32),
        record=np.empty(n if has_record else 0, np.int64),
    )
    bad = pack.unpack_calls(
        threads.first, threads.count, function, functions, control, pack.FORMS, pack.MASKS,
        data.ctypes.data, len(data) - pack.LONGEST, np.empty(n + 1, np.int64),
        calls.function, calls.parent, calls.depth, calls.start, calls.end, calls.extent,
        calls.thread, calls.record,
    )  # fmt: skip
    if bad != pack.FINE:
        raise damaged(stored.path, f"the packed call {bad + 1:,} is invalid")
    return calls


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    return np.require(column, None, ["C", "A", "W"])


# -- what makes a valid trace --------------------------------------------------------------------


def _find_wrong_slices(first: NDArray[np.int64], count: NDArray[np.int64], calls: int) -> str:
    """Say what is wrong with the slices of the threads; empty if nothing is."""
    if len(first) != len(count) or (count < 0).any() or (count > calls).any():
        return "the calls of a thread are not contiguous"
    ends = np.cumsum(count)
    if (ends < 0).any() or not np.array_equal(first, ends - count) or (ends[-1] if len(ends) else 0) != calls:
        return "the calls of the threads do not follow each other"
    return ""


def _find_wrong_lengths(trace: Trace) -> str:
    """Say which columns of a table differ in length; empty if none does."""
    for table in TABLES:
        rows = getattr(trace, table)
        n = len(rows)
        for f in fields(rows):
            column = getattr(rows, f.name)
            wanted = {n}
            if (table, f.name) in _MAY_BE_EMPTY:
                wanted = {0, n}
            elif f.name in ("names", "objects", "kinds") or (table, f.name) == ("sync", "object"):
                continue
            elif table in ("sync", "counters") and f.name == "first":
                wanted = {n + 1}
            elif table == "counters" and f.name in ("time", "value"):
                wanted = {len(rows.time)}
            if len(column) not in wanted:
                return f"{table}.{f.name} has {len(column):,} entries"
    return ""


def find_wrong(trace: Trace) -> str:
    """Say in a few words what breaks the model's rules; empty if nothing does."""
    calls, threads = trace.calls, trace.threads
    n, n_threads = len(calls), len(threads)
    if wrong := _find_wrong_lengths(trace) or _find_wrong_slices(threads.first, threads.count, n):
        return wrong
    for name, strings in _all_strings(trace):
        offsets = strings.offsets
        if offsets[0] != 0 or offsets[-1] != len(strings.data) or (offsets[1:] < offsets[:-1]).any():
            return f"the texts of {name} overlap"
    bad = pack.check_calls(
        _plain(calls.function), _plain(calls.parent), _plain(calls.depth), _plain(calls.start),
        _plain(calls.end), _plain(calls.extent), _plain(calls.thread), _plain(threads.first),
        _plain(threads.count), len(trace.functions),
    )  # fmt: skip
    if bad != pack.FINE:
        return f"call {bad + 1:,} does not fit into the tree of calls"
    sync, flows, spans = trace.sync, trace.flows, trace.spans
    # Each index column with its first value and the one after its last.
    column: NDArray[Any]
    for name, column, low, high in (
        ("calls.record", calls.record, -1, 1 << 62),
        ("containers.kind", trace.containers.kind, 0, len(CONTAINER_KINDS)),
        ("functions.container", trace.functions.container, -1, len(trace.containers)),
        ("functions.file", trace.functions.file, -1, len(trace.files)),
        ("functions.line", trace.functions.line, 0, 1 << 31),
        ("sync.call", sync.call, -1, n),
        ("sync.thread", sync.thread, -1, n_threads),
        ("sync.holder", sync.holder, -1, n_threads),
        ("sync.line", sync.line, 0, 1 << 31),
        ("sync.kind", sync.kind, 0, len(SYNC_KINDS)),
        ("sync.contended", sync.contended, -1, 3),
        ("sync.name", sync.name, -1, len(sync.names)),
        ("sync.object", sync.object, 0, len(sync.objects)),
        ("memory.call", trace.memory.call, -1, n),
        ("memory.thread", trace.memory.thread, -1, n_threads),
        ("memory.kind", trace.memory.kind, 0, len(MEMORY_KINDS)),
        ("memory.stack", trace.memory.stack, -1, len(trace.stacks)),
        ("samples.thread", trace.samples.thread, -1, n_threads),
        ("samples.kind", trace.samples.kind, 0, len(trace.samples.kinds)),
        ("samples.stack", trace.samples.stack, -1, len(trace.stacks)),
        ("stacks.function", trace.stacks.function, 0, len(trace.functions)),
        ("stacks.parent", trace.stacks.parent, -1, len(trace.stacks)),
        ("stacks.line", trace.stacks.line, 0, 1 << 31),
        ("flows.source", flows.source, -1, n),
        ("flows.target", flows.target, -1, n),
        ("flows.source_thread", flows.source_thread, -1, n_threads),
        ("flows.target_thread", flows.target_thread, -1, n_threads),
        ("flows.name", flows.name, -1, len(flows.names)),
        ("spans.name", spans.name, -1, len(spans.names)),
        ("spans.thread", spans.thread, -1, n_threads),
        ("spans.parent", spans.parent, -1, len(spans)),
        ("instants.name", trace.instants.name, -1, len(trace.instants.names)),
        ("instants.thread", trace.instants.thread, -1, n_threads),
    ):
        if len(column) and (column.min() < low or column.max() >= high):
            return f"{name} refers to an entry that does not exist"
    if (trace.containers.parent >= np.arange(len(trace.containers))).any() or (
        trace.containers.parent < -1
    ).any():
        return "a container comes before its parent"
    if (trace.stacks.parent >= np.arange(len(trace.stacks))).any():
        return "a frame comes before its caller"
    for name, first, total in (
        ("sync.first", sync.first, len(sync.object)),
        ("counters.first", trace.counters.first, len(trace.counters.time)),
    ):
        if first[0] != 0 or first[-1] != total or (first[1:] < first[:-1]).any():
            return f"the slices of {name} overlap"
    for name, starts, ends in (
        ("sync", sync.start, sync.end),
        ("spans", spans.start, spans.end),
    ):
        if (ends < starts).any():
            return f"a row of {name} ends before it starts"
    return "spans are within each other" if _has_cycle(spans.parent) else ""


def _has_cycle(parent: NDArray[np.int64]) -> bool:
    """Return whether the parents form a cycle."""
    reached = parent
    for _ in range(len(parent).bit_length() + 1):
        if not (reached >= 0).any():
            return False
        reached = np.where(reached >= 0, reached[np.maximum(reached, 0)], -1)
    return bool((reached >= 0).any())


def _all_strings(trace: Trace) -> Iterator[tuple[str, Strings]]:
    yield "files", trace.files
    for table in TABLES:
        rows = getattr(trace, table)
        for f in fields(rows):
            if isinstance(column := getattr(rows, f.name), Strings):
                yield f"{table}.{f.name}", column
