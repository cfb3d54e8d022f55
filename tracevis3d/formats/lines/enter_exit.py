"""Enter/exit logs: one line per entry or exit of a function, ``tid +/- name ns``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import Unreadable
from ...kernels import intern
from ...kernels.formats.scan import lines as scan_lines
from ...progress import Progress, part
from ...trace.model import Source
from ...trace.recording import Recording
from .. import names, registry, writing
from ..text import count, lines, places, read_text

if TYPE_CHECKING:
    from ...trace.model import RecordedId, Trace

_LINE = re.compile(
    rb"[^\t,; ]+[\t,; ]+(?:[-+<>]|enter|entry|exit)[\t,; ]+(?:.*[\t,; ])?[-+]?\d+(?:\.\d*)?", re.IGNORECASE
)
_THREAD_COMMENT = re.compile(r"#\s*thread[\s:]+(\S+)[ \t]+(.+)", re.IGNORECASE)
_UNNAMED = "(unnamed)"


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is an enter/exit log.

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
    found = [line for line in lines(head, len(head) >= registry.HEAD) if not line.startswith(b"#")][:100]
    fit = sum(_LINE.fullmatch(line) is not None for line in found)
    if not fit:
        return registry.NO
    return (
        registry.SURE
        if fit > 0.9 * len(found)
        else registry.LIKELY
        if fit > 0.5 * len(found)
        else registry.MAYBE
    )


def read(path: Path, progress: Progress) -> Trace:
    """Read an enter/exit log.

    Fields are parted by tabs, commas, semicolons or blanks; the name may hold them too. The direction is
    ``+`` or ``-``, ``>`` or ``<``, ``enter`` or ``exit``; the time is in nanoseconds. ``# thread ID NAME``
    names a thread; other lines that begin with ``#`` are comments.

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
        If no line is an entry or exit.
    """
    recording = Recording()
    problems = recording.problems
    text = read_text(path, problems, part(progress, 0, 0.4), whole_lines=True).data
    progress(0.4, "reading lines")
    log = _Log(text)
    log.scan()
    for kind, times, line in log.problems():
        problems.add(kind, f"line {line:,}", times)
    rows = log.rows
    if log.ends_early():
        rows -= 1
        problems.add("truncated", f"line {log.line_of(rows):,}, which is the last, has no end")
    if rows == 0:
        raise Unreadable(
            f"{path}: no line is an entry or exit of a function: lines look like "
            "'1<tab>+<tab>name<tab>12345' (thread, + or -, name, nanoseconds)"
        )
    texts = log.texts()
    function = log.function[:rows]
    unnamed = (function >= 0) & (np.array([not text for text in texts])[np.maximum(function, 0)])
    if unnamed.any():
        first = log.line_of(int(np.argmax(unnamed)))
        problems.add("no name", f"line {first:,}", int(unnamed.sum()))
    progress(0.7, "building calls")
    thread_map = np.full(len(texts), -1, np.int32)
    for number in _present(log.thread[:rows], len(texts)):
        thread_map[number] = recording.thread(0, _tid(texts[number]))
    for tid, name in _thread_names(text):
        recording.name_thread(0, _tid(tid), name)
    function_map = np.full(len(texts) + 1, -1, np.int32)
    called = _present(function[function >= 0] if (function < 0).any() else function, len(texts))
    function_map[called] = recording.functions(_unquoted(texts[number]) or _UNNAMED for number in called)
    recording.add_events(
        thread=thread_map[log.thread[:rows]],
        kind=log.kind[:rows],
        function=function_map[function],
        time=log.time[:rows],
    )
    trace = recording.finish(Source(), names.split, lambda event: f"line {log.line_of(event):,}")
    progress(1, "building calls")
    return trace


class _Log:
    """The columns of a log.

    Attributes
    ----------
    rows : int
    thread, function : int32 (rows or more,)
        Numbers of names; -1 for an exit that names no function.
    kind : uint8 (rows or more,)
    time : int64 (rows or more,)
    """

    def __init__(self, text: memoryview | bytes) -> None:
        self._scan_lines = scan_lines
        self._data: NDArray[np.uint8] = np.frombuffer(text, np.uint8)
        room = count(self._data, b"\n") + 1
        self.thread = np.empty(room, np.int32)
        self.kind = np.empty(room, np.uint8)
        self.function = np.empty(room, np.int32)
        self.time = np.empty(room, np.int64)
        self._names = intern.InternedNames()
        self._state = np.zeros(scan_lines.STATE_SIZE, np.int64)
        self.rows = 0

    def scan(self) -> None:
        """Fill the columns."""
        self._state = self._run(len(self.thread))
        self.rows = int(self._state[self._scan_lines.ROWS])

    def _run(self, limit: int) -> NDArray[np.int64]:
        s = self._scan_lines
        state = np.zeros(s.STATE_SIZE, np.int64)
        state[s.NAMES] = self._state[s.NAMES]
        state[s.LIMIT] = limit
        columns = (self.thread, self.kind, self.function, self.time)
        while s.scan_enter_exit(self._data, state, *columns, *self._names.arrays) == s.NAMES_FULL:
            self._names.grow(int(state[s.NAMES]))
        return state

    def line_of(self, row: int) -> int:
        """Return the number of the line that ``row`` was read from; scans again up to it."""
        return int(self._run(row + 1)[self._scan_lines.LINE])

    def texts(self) -> list[str]:
        """Return the names and thread ids by number."""
        return self._names.texts(self._data, int(self._state[self._scan_lines.NAMES]))

    def problems(self) -> Iterator[tuple[str, int, int]]:
        """Yield kind, count and first line of what was wrong."""
        s, state = self._scan_lines, self._state.tolist()
        yield "malformed", state[s.MALFORMED], state[s.MALFORMED_LINE]
        yield "bad time", state[s.BAD_TIME], state[s.BAD_TIME_LINE]

    def ends_early(self) -> bool:
        """Whether the last line has no end and a time that goes back: its last digits are missing."""
        if self.rows < 2 or self._data[-1] == ord("\n"):
            return False
        last = self.rows - 1
        if self._state[self._scan_lines.LINE] != self.line_of(last):
            return False
        before = np.flatnonzero(self.thread[:last] == self.thread[last])
        return len(before) > 0 and bool(self.time[last] < self.time[before[-1]])


def _present(column: NDArray[np.int32], size: int) -> list[int]:
    """Return the numbers that occur in ``column``, ascending."""
    found: list[int] = np.flatnonzero(np.bincount(column, minlength=size)).tolist()
    return found


def _tid(text: str) -> RecordedId:
    return int(text) if text.isdecimal() and text.isascii() and str(int(text[:19])) == text else text


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def _thread_names(text: memoryview | bytes) -> Iterator[tuple[str, str]]:
    """Yield id and name from the lines ``# thread ID NAME``."""
    data = np.frombuffer(text, np.uint8)
    hashes = places(data, b"#")
    starts = hashes[(hashes == 0) | (data[hashes - 1] == ord("\n"))]
    for start in starts.tolist():
        line = bytes(text[start : start + 4096]).split(b"\n", 1)[0].decode("utf-8", "replace")
        if match := _THREAD_COMMENT.match(line):
            yield match[1], match[2].strip()


def write(trace: Trace, path: Path, progress: Progress) -> None:
    """Write the calls of ``trace`` as an enter/exit log, one thread after the other, times as recorded.

    Only calls are kept, and of thread ids and names what fits on a line; processes are left out.

    Parameters
    ----------
    trace : Trace
    path : Path
        The file.
    progress : Progress
    """
    function_names = [writing.one_line(name).encode() for name in trace.functions.name]
    with writing.output(path) as file:
        file.write(b"# tid\tdir\tfunction\tns\n")
        tids = _written_tids(trace)
        for tid, name in zip(tids, trace.threads.name, strict=True):
            if name:
                file.write(f"# thread {tid} {writing.one_line(name)}\n".encode())
        for thread, tid in enumerate(tids):
            progress(thread / len(tids), "writing")
            texts = (f"{tid}\t+\t".encode(), f"{tid}\t-\t".encode(), b"\t", b"\n")
            writing.write_calls(trace, thread, texts, function_names, file)
    progress(1, "writing")


def _written_tids(trace: Trace) -> list[str]:
    """Return thread ids without separators; where two processes share one, with the process before it."""
    tids = [str(tid) for tid in trace.threads.tid]
    if len(set(tids)) < len(tids):
        tids = [f"{process}/{tid}" for process, tid in zip(trace.threads.process, tids, strict=True)]
    return [re.sub(r"[\s,;]+", "_", tid) or "_" for tid in tids]


FORMAT = registry.Format(
    name="enter_exit",
    title="enter/exit log",
    suffixes=(".tsv", ".csv", ".log"),
    sniff=sniff,
    read=read,
    write=write,
    programs="anything that can print `thread, +/-, name, nanoseconds`",
    recipe=(('# print "thread, + or -, function, nanoseconds" in each line, with tabs or commas between'),),
)
