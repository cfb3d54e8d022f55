"""Writes Chrome Trace Event JSON, as Perfetto's viewer, chrome://tracing and VizTracer's open it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.format_chrome import NEXT, STATE_SIZE, WRITTEN, format_chrome, is_ambiguous
from ...progress import Progress
from ...trace.model import CONTAINER_KINDS, SYNC_KINDS, RecordedId, Trace
from ..writing import output

_ROOM = 1 << 22
_BATCH = 1 << 14
_Json = dict[str, Any]


def write(trace: Trace, path: Path, progress: Progress) -> None:
    """Write ``trace`` to ``path``, packed if the name ends in ``.gz`` or ``.zst``.

    Calls become complete events; those of a thread whose order does not follow from their intervals (calls
    of no
    duration) become begin and end events. All times are kept to the nanosecond.

    Parameters
    ----------
    trace : Trace
    path : Path
        The file.
    progress : Progress
    """
    with output(path) as file:
        file.write(b'{"displayTimeUnit":"ns","traceEvents":[\n')
        _write_rows(_metadata(trace), file, first=True)
        argument_of_call, arguments = _arguments(trace)
        for thread in range(len(trace.threads)):
            progress(thread / len(trace.threads), "writing calls")
            _write_calls(trace, thread, argument_of_call, arguments, file)
        progress(0.9, "writing the rest")
        for rows in (_sync(trace), _instants(trace), _counters(trace), _flows(trace), _spans(trace)):
            _write_rows(rows, file)
        file.write(b"\n]}\n")


def _write_rows(rows: Iterable[_Json], file: IO[bytes], first: bool = False) -> None:
    iterator = iter(rows)
    while batch := [json.dumps(row, separators=(",", ":")) for row in islice(iterator, _BATCH)]:
        file.write((("" if first else ",\n") + ",\n".join(batch)).encode())
        first = False


def _metadata(trace: Trace) -> Iterator[_Json]:
    # A record at the front means that all that follow begin with a comma.
    yield {"ph": "M", "pid": 0, "tid": 0, "name": "trace_writer", "args": {"name": "TraceVis3D"}}
    threads = trace.threads
    seen: set[RecordedId] = set()
    for t in range(len(threads)):
        ids: _Json = {"ph": "M", "pid": threads.process[t], "tid": threads.tid[t]}
        if threads.process[t] not in seen:
            seen.add(threads.process[t])
            yield {**ids, "name": "process_sort_index", "args": {"sort_index": t}}
            if threads.process_name[t]:
                yield {**ids, "name": "process_name", "args": {"name": threads.process_name[t]}}
        yield {**ids, "name": "thread_sort_index", "args": {"sort_index": t}}
        if threads.name[t]:
            yield {**ids, "name": "thread_name", "args": {"name": threads.name[t]}}


def _arguments(trace: Trace) -> tuple[NDArray[np.int32], list[bytes]]:
    """Return for each call the row of its arguments' text (-1: none), and the texts."""
    argument_of_call = np.full(len(trace.calls), -1, np.int32)
    known: dict[bytes, int] = {}
    sync = trace.sync
    for i in np.flatnonzero(sync.call >= 0).tolist():
        text = b',"args":' + json.dumps(_sync_arguments(trace, i), separators=(",", ":")).encode()
        argument_of_call[sync.call[i]] = known.setdefault(text, len(known))
    return argument_of_call, list(known)


def _sync_arguments(trace: Trace, row: int) -> _Json:
    sync = trace.sync
    objects = sync.object[sync.first[row] : sync.first[row + 1]].tolist()
    said: _Json = {"kind": SYNC_KINDS[sync.kind[row]], "objects": [sync.objects[o] for o in objects]}
    if sync.contended[row] >= 0:
        said["contended"] = bool(sync.contended[row])
    if sync.contended[row] == 2:
        said["unfinished"] = True
    if len(sync.holder) and sync.holder[row] >= 0:
        said["holder"] = trace.threads.tid[int(sync.holder[row])]
    if len(sync.line) and sync.line[row] > 0:
        said["line"] = int(sync.line[row])
    return said


def _names(trace: Trace) -> list[bytes]:
    """Return for each function what is written of it: the name, and its category if it has one."""
    containers = trace.containers
    roots: list[int] = []
    for k, parent in enumerate(containers.parent.tolist()):
        roots.append(k if parent < 0 else roots[parent])
    category = CONTAINER_KINDS.index("category")
    texts = []
    for name, container in zip(trace.functions.name, trace.functions.container.tolist(), strict=True):
        text = f'"name":{json.dumps(name)}'
        if container >= 0 and containers.kind[roots[container]] == category:
            text += f',"cat":{json.dumps(containers.name[roots[container]])}'
        texts.append(text.encode())
    return texts


def _write_calls(
    trace: Trace, thread: int, argument_of_call: NDArray[np.int32], arguments: list[bytes], file: IO[bytes]
) -> None:
    low = int(trace.threads.first[thread])
    high = low + int(trace.threads.count[thread])
    if low == high:
        return
    calls = trace.calls
    start, end, extent, parent = (
        np.require(column, np.int64, ["C", "A", "W"])
        for column in (calls.start, calls.end, calls.extent, calls.parent)
    )
    function = np.require(calls.function, np.int32, ["C", "A", "W"])
    ids = f'"pid":{json.dumps(trace.threads.process[thread])},"tid":{json.dumps(trace.threads.tid[thread])}'
    text, text_first = _joined(
        [
            f",\n{{{ids},".encode(),
            b',"ph":"X","ts":',
            b',"ph":"B","ts":',
            b',"ph":"E","ts":',
            b',"dur":',
            b"}",
            *arguments,
        ]
    )
    names = _names(trace)
    name, name_first = _joined(names)
    longest = max(map(len, names)) + max(map(len, arguments), default=0)
    out = np.empty(max(_ROOM, 2 * (longest + int(text_first[6]) + 64)), np.uint8)
    stack = np.empty(int(calls.depth[low:high].max()), np.int64)
    state = np.zeros(STATE_SIZE, np.int64)
    state[NEXT] = low
    pairs = bool(is_ambiguous(start, end, extent, parent, low, high))
    done = False
    while not done:
        state[WRITTEN] = 0
        done = bool(
            format_chrome(
                *(function, start, end, extent, argument_of_call, low, high, pairs, trace.origin_ns),
                *(text, text_first, name, name_first, stack, state, out),
            )
        )
        file.write(out.data[: int(state[WRITTEN])])


def _joined(parts: list[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    first = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=first[1:])
    return np.frombuffer(bytearray(b"".join(parts) or b"\0"), np.uint8), first


def _base(trace: Trace, thread: int, phase: str, name: str, ns: int) -> _Json:
    """Return what every record has; without a thread it is one of process 0."""
    threads = trace.threads
    process, tid = (threads.process[thread], threads.tid[thread]) if thread >= 0 else (0, 0)
    return {"ph": phase, "pid": process, "tid": tid, "name": name, "ts": _micros(trace.origin_ns + ns)}


def _micros(ns: int) -> float | str:
    """Return microseconds as a number, or as text where a double can't hold them to the nanosecond."""
    value = ns / 1000
    return value if round(value * 1000) == ns and abs(ns) < 1 << 52 else _text(ns)


def _text(ns: int) -> str:
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03}"


def _sync(trace: Trace) -> Iterator[_Json]:
    sync = trace.sync
    for i in np.flatnonzero(sync.call < 0).tolist():
        base = _base(trace, int(sync.thread[i]), "i", sync.names[int(sync.name[i])], int(sync.start[i]))
        yield {**base, "s": "t", "args": _sync_arguments(trace, i)}


def _instants(trace: Trace) -> Iterator[_Json]:
    instants = trace.instants
    names = list(instants.names)
    for name, thread, time in zip(
        instants.name.tolist(), instants.thread.tolist(), instants.time.tolist(), strict=True
    ):
        yield {**_base(trace, thread, "i", names[name], time), "s": "t"}


def _counters(trace: Trace) -> Iterator[_Json]:
    counters = trace.counters
    for k, name in enumerate(counters.name):
        part = slice(int(counters.first[k]), int(counters.first[k + 1]))
        for time, value in zip(counters.time[part].tolist(), counters.value[part].tolist(), strict=True):
            base = _base(trace, -1, "C", name, time)
            yield {**base, "pid": counters.process[k], "args": {"value": value}}


def _flows(trace: Trace) -> Iterator[_Json]:
    flows = trace.flows
    names = list(flows.names)
    for i in range(len(flows)):
        name = names[int(flows.name[i])]
        begin = _base(trace, int(flows.source_thread[i]), "s", name, int(flows.start[i]))
        finish = _base(trace, int(flows.target_thread[i]), "f", name, int(flows.end[i]))
        yield {**begin, "cat": "flow", "id": i}
        yield {**finish, "cat": "flow", "id": i, "bp": "e"}


def _spans(trace: Trace) -> Iterator[_Json]:
    spans = trace.spans
    names = list(spans.names)
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(spans.parent.tolist()):
        children.setdefault(parent, []).append(i)
    for root in children.get(-1, ()):
        todo = [(root, False)]
        while todo:
            i, ends = todo.pop()
            time = int(spans.end[i] if ends else spans.start[i])
            base = _base(trace, int(spans.thread[i]), "e" if ends else "b", names[int(spans.name[i])], time)
            yield {**base, "cat": "span", "id": root}
            if not ends:
                todo.append((i, True))
                inner = sorted(children.get(i, ()), key=lambda k: int(spans.start[k]), reverse=True)
                todo.extend((k, False) for k in inner)
