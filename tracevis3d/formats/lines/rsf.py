"""Rigi Standard Format: who contains whom, and who called whom when (ExtraVis, section 3.1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Unreadable
from ...kernels import intern
from ...kernels.formats.scan import rsf
from ...kernels.formats.scan.rsf import nest_calls
from ...progress import Progress, part
from ...trace.events import BEGIN, END
from ...trace.model import Source
from ...trace.recording import Recording
from .. import names, registry
from ..text import count, lines, read_text

if TYPE_CHECKING:
    from ...trace.model import RecordedId, Trace
    from ...trace.problems import Problems

_LINE = re.compile(rb"(contains?|calls?)\s+(\"[^\"]*\"|\S+)\s+(\"[^\"]*\"|\S+)(\s.*)?", re.IGNORECASE)
#: Any other line of three or more fields may be an unknown relation.
_RELATION = re.compile(rb"\w+\s+(\"[^\"]*\"|\S+)\s+(\"[^\"]*\"|\S+)(\s.*)?")
#: The object of a class that an element may name: ``Class@1f``, ``Class#12``.
_OBJECT = re.compile(r"(?<=.)[@#][0-9A-Za-z]+$")
#: A place in the source, such as ``src/B.java:7``, and its maximum length.
_PLACE, _LONGEST_PLACE = re.compile(rb"\s*\"?([^\s\":]+\.\w+):(\d{1,9})\"?(?=\s|$)"), 400
#: Nanoseconds between calls where no time is recorded.
_UNTIMED_STEP = 1_000

Int32s = NDArray[np.int32]
Ints = NDArray[np.int64]
#: Names the place of a call in the file, from its index.
Place = Callable[[int], str]


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is RSF.

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
    found = [line for line in lines(head, len(head) >= registry.HEAD) if not line.startswith(b"#")][:200]
    ours = sum(_LINE.fullmatch(line) is not None for line in found)
    if not ours:
        return registry.NO
    fit = sum(_RELATION.fullmatch(line) is not None for line in found)
    if fit < 0.5 * len(found):
        return registry.MAYBE
    return registry.SURE if ours > 0.5 * len(found) else registry.LIKELY


def read(path: Path, progress: Progress) -> Trace:
    """Read an RSF file.

    ``contain PARENT CHILD`` lines make the hierarchy; ``call FROM TO TIME THREAD METHOD ...`` lines are calls
    of METHOD of the element TO, in nanoseconds. Fields are parted by white space; time, thread and method may
    be missing from the end on. An element may name an object, as ``Class@12``. What follows the method
    (call site, parameters, results) is kept as the call's arguments. A place in the source that comes first,
    such as ``B.java:7``, is the method's own, unless the file has the caller's name: a call site.

    RSF records when calls begin, not when they end: a call is taken to be made by the innermost open call of
    its caller, and calls further in end there. What an element calls on itself repeatedly is read as a
    loop, not as a recursion. Callers without a caller are opened when they first call.

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
    Unreadable
        If no line is a call.
    """
    recording = Recording()
    problems = recording.problems
    text, offset = read_text(path, problems, part(progress, 0, 0.3), whole_lines=True)
    progress(0.3, "reading lines")
    rows = _Rows(text)
    rows.report(problems)
    texts = rows.texts()
    calls = rows.calls()
    if not len(calls):
        raise Unreadable(
            f"{path}: no line is a call: lines look like 'contain package package.Class' and "
            "'call package.Class package.Other 12345 1 method' (caller, callee, nanoseconds, thread, method)"
        )
    progress(0.6, "building calls")
    name = rows.name[calls]

    def place(i: int) -> str:
        return f"line {rows.line_of(int(calls[i])):,}"

    time = _times(rows.time[calls], problems, place)
    elements = _Elements(texts, rows.name[rows.contains(), :2])

    threads, thread = np.unique(name[:, 2], return_inverse=True)
    thread = thread.reshape(-1)
    order = np.argsort(thread, kind="stable")
    order = _in_time(order, thread, time, problems, place)
    function, outside, pairs = _functions(name, len(texts))
    sources = _sources(text, rows.rest[calls], function, name, elements)
    index = np.array(
        [
            recording.function(
                elements.method_name(element, method),
                label=elements.method_label(element, method),
                containers=elements.path(element),
                **sources.get(i, {}),
            )
            for i, (element, method) in enumerate(pairs)
        ],
        np.int32,
    )
    events = _nest(order, thread, len(threads), elements.merged(name), function, outside, time)
    thread_index = np.array([recording.thread(0, _tid(texts, t)) for t in threads.tolist()], np.int32)
    row = events.row
    rest = np.where(row >= 0, rows.rest[calls][np.maximum(row, 0)], -1)
    recording.add_events(
        thread=thread_index[events.thread],
        kind=np.where(events.kind == 0, BEGIN, END),
        function=index[events.function],
        time=events.time,
        record=np.where(rest >= 0, rest + offset, -1) if offset >= 0 and (rest >= 0).any() else None,
    )
    lines_of = np.maximum(row, 0)
    trace = recording.finish(Source(), names.split, lambda event: place(int(lines_of[event])))
    progress(1, "building calls")
    return trace


def _sources(
    text: memoryview | bytes, rest: Ints, function: Int32s, name: Int32s, elements: _Elements
) -> dict[int, dict[str, Any]]:
    """Return file and line of methods by number, of the first call that says more than its method.

    A file that has the name of caller and callee is the callee's.
    """
    with_place = np.flatnonzero(rest >= 0)
    numbers, first = np.unique(function[with_place], return_index=True)
    found: dict[int, dict[str, Any]] = {}
    for number, row in zip(numbers.tolist(), with_place[first].tolist()):
        begin = int(rest[row])
        match = _PLACE.match(bytes(text[begin : begin + _LONGEST_PLACE]))
        if match is None:
            continue
        file, line = match[1].decode("utf-8", "replace"), int(match[2])
        caller, callee = (elements.is_named(int(name[row, k]), file) for k in (0, 1))
        if callee or not caller:
            found[number] = {"file": file, "line": line}
    return found


class _Rows:
    """The columns of a file, as :func:`...kernels.formats.scan.rsf.scan_rsf` writes them."""

    def __init__(self, text: memoryview | bytes) -> None:
        self._scan = rsf
        self._data: NDArray[np.uint8] = np.frombuffer(text, np.uint8)
        room = count(self._data, b"\n") + 1
        self.kind = np.empty(room, np.uint8)
        self.name = np.empty((room, rsf.FIELDS), np.int32)
        self.time = np.empty(room, np.int64)
        self.rest = np.empty(room, np.int64)
        self._names = intern.InternedNames()
        self._state = np.zeros(rsf.STATE_SIZE, np.int64)
        self._state = self._run(room)
        self.count = int(self._state[rsf.ROWS])

    def _run(self, limit: int) -> Ints:
        s = self._scan
        state = np.zeros(s.STATE_SIZE, np.int64)
        state[s.NAMES], state[s.LIMIT] = self._state[s.NAMES], limit
        columns = (self.kind, self.name, self.time, self.rest)
        while s.scan_rsf(self._data, state, *columns, *self._names.arrays) == s.NAMES_FULL:
            self._names.grow(int(state[s.NAMES]))
        return state

    def line_of(self, row: int) -> int:
        """Return the number of the line that ``row`` was read from; scans again up to it."""
        return int(self._run(row + 1)[self._scan.LINE])

    def texts(self) -> list[str]:
        """Return the names by number."""
        return self._names.texts(self._data, int(self._state[self._scan.NAMES]))

    def calls(self) -> Ints:
        """Return the rows that are calls."""
        return np.flatnonzero(self.kind[: self.count] == self._scan.CALL)

    def contains(self) -> Ints:
        """Return the rows that say what contains what."""
        return np.flatnonzero(self.kind[: self.count] == self._scan.CONTAIN)

    def report(self, problems: Problems) -> None:
        """Return what was wrong."""
        s, state = self._scan, self._state.tolist()
        for kind, times, line in (
            ("malformed", state[s.MALFORMED], state[s.MALFORMED_LINE]),
            ("bad time", state[s.BAD_TIME], state[s.BAD_TIME_LINE]),
            ("unsupported", state[s.OTHER], state[s.OTHER_LINE]),
        ):
            problems.add(kind, f"line {line:,}", times)


class _Elements:
    """The elements by number of name, and the hierarchy that the contain relations make of them."""

    def __init__(self, texts: list[str], contains: Int32s) -> None:
        self._texts = texts
        self._parent: dict[str, str] = {}
        self._paths: dict[str, tuple[tuple[str, str], ...]] = {}
        for parent, child in np.unique(contains, axis=0).tolist():
            # The first container counts; a container of itself is none.
            if parent != child:
                self._parent.setdefault(texts[child], texts[parent])
        self._class = [_OBJECT.sub("", text) if text not in self._parent else text for text in texts]

    def merged(self, name: Int32s) -> Int32s:
        """Return the numbers of callers and callees (n, 2), objects of one class under one number."""
        first: dict[str, int] = {}
        same = np.array([first.setdefault(text, i) for i, text in enumerate(self._class)], np.int32)
        return np.asarray(same[name[:, :2]])

    def is_named(self, element: int, file: str) -> bool:
        """Return whether a file is named as an element is: ``src/Model.java`` as ``app.core.Model``."""
        stem = re.split(r"[/\\]", file)[-1].partition(".")[0]
        return re.split(r"[.:/$]", self._class[element])[-1] == stem

    def path(self, element: int) -> tuple[tuple[str, str], ...]:
        """Return the containers of what the element's methods are in: the element itself is the innermost."""
        text = self._class[element]
        if text not in self._paths:
            found = [text]
            while (parent := self._parent.get(found[-1])) is not None and parent not in found:
                found.append(parent)
            self._paths[text] = (*(("package", outer) for outer in reversed(found[1:])), ("class", text))
        return self._paths[text]

    def method_name(self, element: int, method: int) -> str:
        """Return the full name of a method; without one, the element's."""
        return self._class[element] + (f".{self._texts[method]}" if method >= 0 else "")

    def method_label(self, element: int, method: int) -> str:
        """Return the short name of a method, after that of its class."""
        text = self._class[element]
        outer = self._parent.get(text, "")
        if outer and text.startswith(outer) and text[len(outer) : len(outer) + 1] in set(".:/$"):
            text = text[len(outer) :].lstrip(".:/$")
        return text + (f".{self._texts[method]}" if method >= 0 else "")


class _Nested(NamedTuple):
    """Events in the order of their threads."""

    thread: Ints
    kind: NDArray[np.uint8]
    function: Int32s
    time: Ints
    row: Ints


def _functions(name: Int32s, texts: int) -> tuple[Int32s, Int32s, list[tuple[int, int]]]:
    """Number the methods: return that of each call, that of its caller from outside, and what they are."""
    called = name[:, 1].astype(np.int64) * (texts + 1) + name[:, 3] + 1
    calling = name[:, 0].astype(np.int64) * (texts + 1)
    known, index = np.unique(np.concatenate([called, calling]), return_inverse=True)
    index = index.reshape(-1).astype(np.int32)
    pairs = [(code // (texts + 1), code % (texts + 1) - 1) for code in known.tolist()]
    return index[: len(name)], index[len(name) :], pairs


def _nest(
    order: Ints, thread: Ints, threads: int, ends: Int32s, function: Int32s, outside: Int32s, time: Ints
) -> _Nested:
    n = len(order)
    first = np.searchsorted(thread[order], np.arange(threads + 1)).astype(np.int64)
    columns = [np.ascontiguousarray(c[order], np.int32) for c in (ends[:, 0], ends[:, 1], function, outside)]
    caller, callee, called, calling = columns
    frame = np.empty((4, 2 * n + 1), np.int32)
    latest = np.full(int(max(function.max(), outside.max())) + 1, -1, np.int32)
    kind, out_function = np.empty(4 * n, np.uint8), np.empty(4 * n, np.int32)
    out_time, out_row, counts = (
        np.empty(4 * n, np.int64),
        np.empty(4 * n, np.int64),
        np.empty(threads + 1, np.int64),
    )
    nest_calls(
        first, caller, callee, called, calling, np.ascontiguousarray(time[order]), order,
        frame[0], frame[1], frame[2], frame[3], latest,
        kind, out_function, out_time, out_row, counts,
    )  # fmt: skip
    m = int(counts[-1])
    return _Nested(
        np.repeat(np.arange(threads), np.diff(counts)), kind[:m], out_function[:m], out_time[:m], out_row[:m]
    )


def _times(time: Ints, problems: Problems, place: Place) -> Ints:
    """Return times in which calls without one keep the order of the lines."""
    missing = time == np.iinfo(np.int64).min
    if not missing.any():
        return time
    problems.add("no time unit", place(int(np.argmax(missing))), int(missing.sum()))
    if missing.all():
        return np.arange(len(time), dtype=np.int64) * _UNTIMED_STEP
    # The time of the call before; of those at the start, the first recorded one.
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(len(time))))
    return np.asarray(np.where(last >= 0, time[np.maximum(last, 0)], time[int(np.argmin(missing))]))


def _in_time(order: Ints, thread: Ints, time: Ints, problems: Problems, place: Place) -> Ints:
    """Return the rows by thread, then time, counting what was not in order."""
    back = (thread[order][1:] == thread[order][:-1]) & (np.diff(time[order]) < 0)
    if not back.any():
        return order.astype(np.int64)
    problems.add("out of order", place(int(order[int(np.argmax(back)) + 1])), int(back.sum()))
    return np.asarray(order[np.lexsort((time[order], thread[order]))], np.int64)


def _tid(texts: list[str], number: int) -> RecordedId:
    if number < 0:
        return 0
    text = texts[number]
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else text


FORMAT = registry.Format(
    name="rsf",
    title="Rigi Standard Format",
    suffixes=(".rsf",),
    sniff=sniff,
    read=read,
    programs="ExtraVis' tracers: containment and calls between elements",
)
