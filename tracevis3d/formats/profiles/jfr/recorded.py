"""Flight recordings as the JDK and async-profiler write them: chunks, taken as columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ....progress import Progress
from ....trace.model import RecordedId
from ....trace.recording import Recording
from ...distinct import places_among
from ..samples import tree_of_stacks
from . import taken as t
from .chunks import ITSELF, Chunk, Rows, chunks

Ints = NDArray[np.int64]

_STACK, _THREAD, _CLASS, _METHOD = (
    "jdk.types.StackTrace",
    "java.lang.Thread",
    "java.lang.Class",
    "jdk.types.Method",
)
_SYMBOL, _CAUSE = "jdk.types.Symbol", "jdk.types.GCCause"
_COMMON = ("startTime", "duration", "stackTrace")
_WANTED = {
    **{
        name: (*_COMMON, kind.thread, kind.about or ITSELF, kind.weight or ITSELF, "address", "previousOwner")
        for name, kind in t.TYPES.items()
    },
    _STACK: ("frames.method", "frames.lineNumber"),
    _THREAD: ("osName", "osThreadId", "javaName", "javaThreadId"),
    _METHOD: ("type", "name"),
    _CLASS: ("name",),
    _SYMBOL: ("string",),
    _CAUSE: ("cause",),
    "java.lang.String": (ITSELF,),
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
    reader = _Reader(recording)
    for chunk in chunks(data, _WANTED, recording.problems):
        progress(chunk.header.stop / len(data), "reading chunks")
        reader.add(chunk)
    reader.lay()


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._taken = t.Taken(recording)
        self._frames: list[tuple[Ints, NDArray[np.int32], NDArray[np.int32]]] = []
        self._n_stacks = 0

    def add(self, chunk: Chunk) -> None:
        """Add a chunk."""
        rows = chunk.rows
        symbols = _Texts(chunk, rows.get(_SYMBOL), "string")
        classes = _Texts(chunk, rows.get(_CLASS), "name", symbols.of)
        self._add_stacks(rows.get(_STACK), rows.get(_METHOD), symbols, classes)
        threads = _Threads(chunk, rows.get(_THREAD), self._recording)
        causes = _Texts(chunk, rows.get(_CAUSE), "cause")
        for name, kind in t.TYPES.items():
            if name in rows and len(rows[name].key):
                self._add_events(chunk, name, kind, rows[name], threads, classes, causes)

    def _add_events(
        self,
        chunk: Chunk,
        name: str,
        kind: t.Kind,
        rows: Rows,
        threads: _Threads,
        classes: _Texts,
        causes: _Texts,
    ) -> None:
        header = chunk.header
        since = header.moments(rows.column("startTime"))
        good = (since >= -float(header.start)) & (since < t.LATEST - header.start)
        self._recording.problems.add("bad time", name, int((~good).sum()))
        time = header.start + since[good].astype(np.int64)
        lasts = np.clip(header.spans(rows.column("duration")[good]), 0, t.LATEST).astype(np.int64)
        stack = rows.column("stackTrace")[good]
        at = places_among(stack, self._stack_keys)
        missing = (at < 0) & (stack != 0)
        self._recording.problems.add("unknown", f"the stack of a {name}", int(missing.sum()))
        about, which = self._about(chunk, kind, rows, good, classes, causes)
        owner = rows.column("previousOwner")[good]
        holder = np.full(len(time), -1)
        holder[owner != 0] = threads.all_of(owner[owner != 0])
        self._taken.add(
            name,
            threads.all_of(rows.column(kind.thread)[good]),
            np.where(at >= 0, at + self._n_stacks - len(self._stack_keys), -1),
            time,
            lasts=lasts,
            weight=rows.column(kind.weight)[good] if kind.weight else np.ones(len(time), np.int64),
            about=about,
            which=which,
            holder=holder,
        )

    def _about(
        self,
        chunk: Chunk,
        kind: t.Kind,
        rows: Rows,
        good: NDArray[np.bool_],
        classes: _Texts,
        causes: _Texts,
    ) -> tuple[list[str], Ints]:
        """Return what events are about, and which of that each is about; -1: nothing."""
        if not kind.about or kind.about not in rows.columns:
            return [], np.full(int(good.sum()), -1, np.int64)
        said = rows.columns[kind.about][good]
        if kind.about in ("host", "path", "name"):
            texts, which = chunk.texts(said)
        else:
            both = np.stack([said, rows.column("address")[good]], axis=1)
            pairs, which = np.unique(both, axis=0, return_inverse=True)
            named = causes.of if kind.about == "cause" else classes.of
            texts = [t.named(named(key), address) for key, address in pairs.tolist()]
        is_there = np.array([bool(text) for text in texts], np.bool_)
        which = which.reshape(-1)
        return texts, np.where(np.append(is_there, False)[which], which, -1)

    def _add_stacks(
        self, stacks: Rows | None, methods: Rows | None, symbols: _Texts, classes: _Texts
    ) -> None:
        self._stack_keys = stacks.key if stacks else np.empty(0, np.int64)
        self._n_stacks += len(self._stack_keys)
        if stacks is None:
            return
        method, line = stacks.column("frames.method"), stacks.column("frames.lineNumber")
        owner = stacks.owner.get("frames.method", np.empty(0, np.int64))
        if len(method) != len(owner) or len(line) != len(owner):
            method, line, owner = method[:0], line[:0], owner[:0]
        known = methods.key if methods else np.empty(0, np.int64)
        at = places_among(method, known)
        # Only methods that are in a stack are named.
        used = np.unique(at[at >= 0])
        function = np.full(len(known) + 1, -1, np.int32)
        if methods is not None:
            inside, name = methods.column("type")[used].tolist(), methods.column("name")[used].tolist()
            function[used] = [
                self._recording.function(t.method(classes.of(one), symbols.of(two)))
                for one, two in zip(inside, name, strict=True)
            ]
        if (at < 0).any():
            self._recording.problems.add("unknown", "the method of a frame", int((at < 0).sum()))
            function[-1] = self._recording.function(t.method("", ""))
        # Frames are written innermost first.
        order = np.argsort(owner[::-1], kind="stable")
        size = np.bincount(owner, minlength=len(stacks.key))
        self._frames.append((size, function[at][::-1][order], _lines(line)[::-1][order]))

    def lay(self) -> None:
        """Add samples and the calls that they make."""
        none: list[NDArray[np.int32]] = [np.empty(0, np.int32)]
        size = np.concatenate([np.empty(0, np.int64), *(of[0] for of in self._frames)])
        function, line = (np.concatenate(none + [of[k] for of in self._frames]) for k in (1, 2))
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(size)))
        self._taken.lay(*tree_of_stacks(first, function, line))


class _Threads:
    """The threads of a chunk, each made when it is asked for: one that is renamed is there twice."""

    def __init__(self, chunk: Chunk, rows: Rows | None, recording: Recording) -> None:
        fields = ("osThreadId", "javaThreadId", "javaName", "osName")
        columns = [rows.column(name).tolist() for name in fields] if rows else []
        self._said = dict(zip(rows.key.tolist() if rows else (), zip(*columns, strict=True), strict=True))
        self._text, self._recording = chunk.text, recording
        self._known: dict[int, int] = {}

    def all_of(self, keys: Ints) -> Ints:
        """Return the index of each thread."""
        distinct, which = np.unique(keys, return_inverse=True)
        found: Ints = np.array([self._of(key) for key in distinct.tolist()], np.int64)[which.reshape(-1)]
        return found

    def _of(self, key: int) -> int:
        if key not in self._known:
            native, java, name, native_name = self._said.get(key, (0, 0, 0, 0))
            tid: RecordedId = native or java or t.NO_THREAD
            if text := self._text(name) or self._text(native_name):
                self._recording.name_thread(0, tid, text)
            self._known[key] = self._recording.thread(0, tid)
        return self._known[key]


class _Texts:
    """Constants that name something, each read when it is asked for."""

    def __init__(
        self, chunk: Chunk, rows: Rows | None, field: str, of: Callable[[int], str] | None = None
    ) -> None:
        keys = rows.key.tolist() if rows else []
        self._places = dict(zip(keys, rows.column(field).tolist() if rows else (), strict=True))
        self._known: dict[int, str] = {}
        self._of = of or chunk.text

    def of(self, key: int) -> str:
        """Return the text of a constant; empty if there is none."""
        if key not in self._known:
            self._known[key] = self._of(self._places.get(key, 0))
        return self._known[key]


def _lines(line: Ints) -> NDArray[np.int32]:
    return np.where((line > 0) & (line < 1 << 31), line, 0).astype(np.int32)
