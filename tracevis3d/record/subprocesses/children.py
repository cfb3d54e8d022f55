"""The writer's side of processes that a recorded one has started: what they have written, and their ends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from ..output.process import Process
from ..output.reader import Reader
from ..output.spool import BEGIN
from .child import ALIVE, PREFIX, lock

Section = tuple[bytes, int, bytes]


class Children:
    """All processes but the first of one recording.

    Parameters
    ----------
    folder : str
        The recording's.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._known: dict[str, _Child] = {}
        self._new: list[str] = []

    def take(self) -> Iterator[tuple[str, list[Section] | None]]:
        """Yield what has come, in pieces: a process's folder and its sections, None when it has ended."""
        # What was there when the first process was read last; it has written by now what these refer to.
        for name in self._new:
            self._known[name] = _Child(os.path.join(self._folder, name))
        for child in self._known.values():
            if not child.ended:
                yield from child.take()
        try:
            entries = os.listdir(self._folder)
        except OSError:
            entries = []
        self._new = [name for name in entries if name.startswith(PREFIX) and name not in self._known]

    def running(self) -> int:
        """Return how many have not ended, or not been read to their end."""
        return len(self._new) + sum(not child.ended for child in self._known.values())


class _Child:
    """One process."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._reader = Reader(folder)
        self._process: Process | None = None
        self.ended = False

    def take(self) -> Iterator[tuple[str, list[Section] | None]]:
        # Checked before reading, so that its last data is there.
        locked, alive = self._is_locked(), self._process is None or self._process.lives()
        known = self._process is not None
        for came in self._reader.read():
            if self._process is None and came and came[0][0] == BEGIN:
                self._process = Process(json.loads(came[0][2])["pid"])
            yield self._folder, came
        # A daemon closes all its descriptors, which releases the lock.
        if locked or (not self._reader.closed and (alive if known else self._process is not None)):
            return
        self.ended = True
        yield self._folder, self._reader.rest()
        self._reader.close()
        if self._process is not None:
            self._process.close()
        yield self._folder, None

    def _is_locked(self) -> bool:
        fd = os.open(os.path.join(self._folder, ALIVE), os.O_RDWR)
        try:
            lock(fd, False)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False
