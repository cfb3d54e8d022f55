"""A folder that ``uftrace record`` still fills, as a feed: the calls of its threads as their files grow.

uftrace writes the functions' names when the run has ended; until then they are read from the program itself.
Arguments, and so locks, can be read only when the run has ended: a feed has calls alone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.uftrace.format import Folder, Modules, Scanner, Tasks
from ..formats.uftrace.symbols import ArgumentSpecs
from ..trace.recording import Recording
from .follow_recording import Follower
from .publisher import Publisher

_DATA = re.compile(r"(\d+)\.dat")
#: Bytes of a thread read together.
_PIECE = 1 << 22
#: Seconds without anything new after which a run that has ended is complete.
_QUIET = 0.5


class Piece(Recording):
    """New events of all threads since the last time; no trace is made of them."""

    def columns(self) -> tuple[list[str], list[tuple[Any, Any]], dict[str, Any]]:
        """Return functions' names, threads and events as :func:`..formats.chrome.trace.raw_events` does."""
        names = ("kind", "thread", "function", "time", "end")
        joined = {name: np.concatenate([getattr(part, name) for part in self._events]) for name in names}
        return list(self._functions), self.threads, joined


class FolderTail:
    """The records of a growing folder.

    Parameters
    ----------
    path : Path
    symbols : callable
        Returns what a ``.sym`` of a program or library would hold.

    Attributes
    ----------
    ended : bool
        Whether the run has ended, and all was taken.
    """

    def __init__(self, path: Path, symbols: Callable[[str], bytes]) -> None:
        self._path, self._symbols = path, symbols
        self._read: dict[str, int] = {}
        self._known: tuple[Any, ...] = ()
        self._modules: Modules | None = None
        self._tasks: Tasks | None = None
        self._over_since = 0.0
        self.ended = False

    def take(self) -> Piece | None:
        """Return what the threads' files have got since the last time; None: nothing."""
        files = Folder(self._path)
        # Checked before the others are read: while uftrace runs, there is a channel and no info.
        over = "info" in files.names and not (self._path / ".channel").exists()
        text = files.text("task.txt")
        if not text and not over:
            return None
        known = text, tuple(name for name in files.names if name.endswith((".map", ".sym")))
        if known != self._known or self._modules is None or self._tasks is None:
            self._known = known
            self._tasks = Tasks(text, files)
            self._modules = Modules(files, self._tasks, self._symbols)
        scanner, piece = Scanner(self._modules, ArgumentSpecs(""), self._tasks), Piece()
        for name in files.names:
            if match := _DATA.fullmatch(name):
                self._take_thread(int(match[1]), name, scanner, piece)
        if piece.n_events or not over:
            self._over_since = 0.0
            return piece if piece.n_events else None
        # What threads had left is written about the same time.
        self._over_since = self._over_since or time.monotonic()
        self.ended = time.monotonic() - self._over_since > _QUIET
        return None

    def _take_thread(self, tid: int, name: str, scanner: Scanner, piece: Piece) -> None:
        low = self._read.get(name, 0)
        with (self._path / name).open("rb") as file:
            file.seek(low)
            data = file.read(_PIECE)
        # A record has at least 16 bytes; an incomplete one is read again.
        if len(data) >= 16:
            self._read[name] = low + scanner.add(tid, memoryview(data), piece)

    def process_of(self, tid: int) -> tuple[int, str]:
        """Return the process of a thread, and what program it runs."""
        process = self._tasks.process.get(tid, tid) if self._tasks else tid
        return process, self._tasks.programs.get(process, "") if self._tasks else ""

    def close(self) -> None:
        """Nothing is open."""


class UftraceFollower(Follower):
    """Publishes a growing folder.

    Parameters
    ----------
    path : Path
    publisher : Publisher
    symbols : callable
        As :class:`FolderTail` has it.
    """

    def __init__(self, path: Path, publisher: Publisher, symbols: Callable[[str], bytes]) -> None:
        self._symbols = symbols
        super().__init__(path, publisher, 0)

    def _open(self, path: Path) -> Any:
        return FolderTail(path, self._symbols)

    def take(self, text: Any) -> None:
        """Publish a piece."""
        names, ids, columns = text.columns()
        if self._shift is None:
            # The last existing record happened now.
            self._shift = self._publisher.now() - int(columns["time"].max())
        for process, tid in ids:
            if (process, tid) not in self._threads:
                program = self._tail.process_of(tid)[1]
                self._thread(process, tid, program if process == tid else f"{program} {tid}".strip())
        self._hold(names, ids, columns)
        self._send(1 << 62)
