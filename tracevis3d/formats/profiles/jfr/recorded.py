"""Flight recordings as the JDK and async-profiler write them: chunks, taken as columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ....progress import Progress
from ....trace.model import RecordedId
from ....trace.recording import Recording
from ...distinct import numbered, places_among
from ..samples import tree_of_places
from . import taken as t
from .chunks import ITSELF, Header, Rows, Texts, chunks, nanoseconds

Ints = NDArray[np.int64]

_STACK, _THREAD, _CLASS, _METHOD = (
    "jdk.types.StackTrace",
    "java.lang.Thread",
    "java.lang.Class",
    "jdk.types.Method",
)
_SYMBOL, _CAUSE, _STRING = "jdk.types.Symbol", "jdk.types.GCCause", "java.lang.String"
_OWNER = "previousOwner"
_NAMED = ("host", "path", "name")
_LOW = (1 << 32) - 1
_COMMON = ("startTime", "duration", "stackTrace")
_WANTED = {
    **{
        name: (*_COMMON, kind.thread, kind.about or ITSELF, kind.weight or ITSELF, "address", _OWNER)
        for name, kind in t.TYPES.items()
    },
    _STACK: ("frames.method", "frames.lineNumber"),
    _THREAD: ("osName", "osThreadId", "javaName", "javaThreadId"),
    _METHOD: ("type", "name"),
    _CLASS: ("name",),
    _SYMBOL: ("string",),
    _CAUSE: ("cause",),
    _STRING: (ITSELF,),
}


#: Where a field is a text, its column is made the text's number.
_TEXTS = {
    _SYMBOL: ("string",),
    _CAUSE: ("cause",),
    _THREAD: ("javaName", "osName"),
    **{name: (kind.about,) for name, kind in t.TYPES.items() if kind.about in _NAMED},
}


def take(data: NDArray[np.uint8], recording: Recording, progress: Progress) -> None:
    """Add what a recording holds.

    Parameters
    ----------
    data : uint8 (n,)
        Read-only.
    recording : Recording
    progress : Progress

    Raises
    ------
    ValueError
        If nothing can be read.
    """
    texts = Texts(data)
    tables: dict[str, list[tuple[int, Rows]]] = {name: [] for name in _WANTED}
    headers: list[Header] = []
    for chunk in chunks(data, _WANTED, texts, recording.problems):
        progress(chunk.header.stop / len(data), "reading chunks")
        for name, rows in chunk.rows.items():
            if len(rows.key) and name != _STRING:
                for path in _TEXTS.get(name, ()):
                    if path in rows.columns:
                        rows.columns[path] = chunk.numbers(rows.columns[path])
                tables[name].append((len(headers), rows))
        headers.append(chunk.header)
    _Reader({name: _Table(parts, len(headers)) for name, parts in tables.items()}, texts, recording).add(
        headers
    )


class _Table:
    """The events or constants of a class, of all chunks."""

    def __init__(self, parts: list[tuple[int, Rows]], chunks: int) -> None:
        self._parts, self._chunks = [rows for _, rows in parts], chunks
        sizes = [len(rows.key) for rows in self._parts]
        self.chunk: Ints = np.repeat(np.array([chunk for chunk, _ in parts], np.int64), sizes)
        self.key = self._joined(rows.key for rows in self._parts)
        self._first = np.cumsum([0, *sizes])

    def __len__(self) -> int:
        return len(self.chunk)

    def _joined(self, columns: Iterable[Ints]) -> Ints:
        return np.concatenate([np.empty(0, np.int64), *columns])

    def has(self, path: str) -> bool:
        """Return whether any chunk has a column."""
        return any(path in rows.columns for rows in self._parts)

    def column(self, path: str) -> Ints:
        """Return a column; zeros where a chunk does not have it."""
        return self._joined(rows.column(path) for rows in self._parts)

    def lists(self, *paths: str) -> tuple[Ints, ...]:
        """Return columns of lists with as many items, and the row that each item belongs to."""
        found: list[tuple[Ints, ...]] = [tuple(np.empty(0, np.int64) for _ in range(len(paths) + 1))]
        for first, rows in zip(self._first.tolist(), self._parts):
            owner = rows.owner.get(paths[0])
            columns = [rows.columns.get(path) for path in paths]
            if owner is not None and all(one is not None and len(one) == len(owner) for one in columns):
                found.append((*(one for one in columns if one is not None), owner + first))
        return tuple(np.concatenate(column) for column in zip(*found, strict=True))

    def rows(self, chunk: Ints, key: Ints) -> Ints:
        """Return the row of each constant that is named in a chunk; -1: there is none."""
        if self._chunks == 1:
            return places_among(key, self.key)
        _, number = numbered(np.concatenate((self.key, key)))
        place = number * np.int64(self._chunks) + np.concatenate((self.chunk, chunk))
        return places_among(place[len(self.key) :], place[: len(self.key)])

    def get(self, path: str, chunk: Ints, key: Ints) -> Ints:
        """Return a column of the constants that are named in chunks; 0 where there is none."""
        return np.append(self.column(path), 0)[self.rows(chunk, key)]


class _Reader:
    def __init__(self, tables: dict[str, _Table], texts: Texts, recording: Recording) -> None:
        self._tables, self._texts, self._recording = tables, texts, recording

    def add(self, headers: list[Header]) -> None:
        """Add samples, waits and the calls that they make."""
        stacks, frames = self._stacks()
        taken = t.Taken(self._recording)
        events = [(name, kind, self._tables[name]) for name, kind in t.TYPES.items() if self._tables[name]]
        threads = self._threads([(rows, path) for _, kind, rows in events for path in (kind.thread, _OWNER)])
        for (name, kind, rows), thread, holder in zip(events, threads[::2], threads[1::2], strict=True):
            self._add_events(taken, headers, name, kind, rows, thread, holder)
        taken.lay(stacks, frames)

    def _add_events(
        self, taken: t.Taken, headers: list[Header], name: str, kind: t.Kind, rows: _Table, thread: Ints,
        holder: Ints,
    ) -> None:  # fmt: skip
        start, ticks, per_second = (
            np.array([getattr(header, of) for header in headers], np.int64)[rows.chunk]
            for of in ("start", "ticks", "per_second")
        )
        since = nanoseconds(rows.column("startTime") - ticks, per_second)
        good = (since >= -start.astype(np.float64)) & (since < t.LATEST - start)
        self._recording.problems.add("bad time", name, int((~good).sum()))
        time = start[good] + since[good].astype(np.int64)
        lasts = nanoseconds(rows.column("duration")[good], per_second[good])
        chunk, stack = rows.chunk[good], rows.column("stackTrace")[good]
        at = self._tables[_STACK].rows(chunk, stack)
        missing = (at < 0) & (stack != 0)
        self._recording.problems.add("unknown", f"the stack of a {name}", int(missing.sum()))
        about, which = self._about(kind, rows, good)
        taken.add(
            name,
            thread[good],
            at,
            time,
            lasts=np.clip(lasts, 0, t.LATEST).astype(np.int64),
            weight=rows.column(kind.weight)[good] if kind.weight else np.ones(len(time), np.int64),
            about=about,
            which=which,
            holder=holder[good],
        )

    def _about(self, kind: t.Kind, rows: _Table, good: NDArray[np.bool_]) -> tuple[list[str], Ints]:
        """Return what events are about, and which of that each is about; -1: nothing."""
        if not kind.about or not rows.has(kind.about):
            return [], np.full(int(good.sum()), -1, np.int64)
        chunk, text = rows.chunk[good], rows.column(kind.about)[good]
        if kind.about in _NAMED:
            numbers, which = numbered(text)
            texts = [self._texts.text(number) for number in numbers.tolist()]
        else:
            is_cause = kind.about == "cause"
            text = self._tables[_CAUSE].get("cause", chunk, text) if is_cause else self._classes(chunk, text)
            addresses, address = numbered(rows.column("address")[good])
            pairs, which = numbered(text << 32 | address)
            texts = [
                t.named(self._texts.text(pair >> 32), int(addresses[pair & _LOW])) for pair in pairs.tolist()
            ]
        is_there = np.array([bool(one) for one in texts], np.bool_)
        return texts, np.where(np.append(is_there, False)[which], which, -1)

    def _classes(self, chunk: Ints, key: Ints) -> Ints:
        """Return the number of the name of each class."""
        return self._tables[_SYMBOL].get("string", chunk, self._tables[_CLASS].get("name", chunk, key))

    def _stacks(
        self,
    ) -> tuple[NDArray[np.int32], tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]]:
        """Return the innermost frame of each stack, and function, parent and line of each frame."""
        stacks, methods = self._tables[_STACK], self._tables[_METHOD]
        method, line, owner = stacks.lists("frames.method", "frames.lineNumber")
        at = methods.rows(stacks.chunk[owner], method)
        # Only methods that are in a stack are named.
        used = np.flatnonzero(np.bincount(at + 1, minlength=len(methods) + 1)[1:])
        chunk = methods.chunk[used]
        inside = self._classes(chunk, methods.column("type")[used])
        name = self._tables[_SYMBOL].get("string", chunk, methods.column("name")[used])
        pairs, which = numbered(inside << 32 | name)
        made = [
            self._recording.function(t.method(self._texts.text(pair >> 32), self._texts.text(pair & _LOW)))
            for pair in pairs.tolist()
        ]
        function = np.full(len(methods) + 1, -1, np.int32)
        function[used] = np.array(made, np.int32)[which]
        if (at < 0).any():
            self._recording.problems.add("unknown", "the method of a frame", int((at < 0).sum()))
            function[-1] = self._recording.function(t.method("", ""))
        first = np.append(0, np.cumsum(np.bincount(owner, minlength=len(stacks))))
        itself = np.arange(len(owner) + 1)
        # Frames are written innermost first.
        return tree_of_places(first, itself[:-1], itself, function[at], _lines(line))

    def _threads(self, named: list[tuple[_Table, str]]) -> list[Ints]:
        """Return the thread that each column of events names; -1 where it names no owner."""
        table = self._tables[_THREAD]
        keys = [events.column(path) for events, path in named]
        rows = [table.rows(events.chunk, key) for (events, _), key in zip(named, keys, strict=True)]
        is_none = [(key == 0) & (path == _OWNER) for (_, path), key in zip(named, keys, strict=True)]
        # A thread that is renamed is there in several chunks: the last name counts.
        asked = [of[~none] for of, none in zip(rows, is_none, strict=True)]
        used = np.unique(np.concatenate([np.empty(0, np.int64), *asked]))
        number = np.full(len(table) + 1, -1, np.int64)
        fields = ("osThreadId", "javaThreadId", "javaName", "osName")
        columns = [np.append(table.column(name), 0)[used].tolist() for name in fields]
        for row, native, java, name, native_name in zip(used.tolist(), *columns, strict=True):
            tid: RecordedId = native or java or t.NO_THREAD
            if text := self._texts.text(name) or self._texts.text(native_name):
                self._recording.name_thread(0, tid, text)
            number[row] = self._recording.thread(0, tid)
        return [np.where(none, -1, number[of]) for of, none in zip(rows, is_none, strict=True)]


def _lines(line: Ints) -> NDArray[np.int32]:
    return np.where((line > 0) & (line < 1 << 31), line, 0).astype(np.int32)
