"""The writer's side of processes that a recorded one has started: their rows go into the same file."""

from __future__ import annotations

import os

from .child import ALIVE, PREFIX, lock
from .encode import Encoder
from .spool import Reader


class Children:
    """All processes but the first of one recording.

    Parameters
    ----------
    folder : str
        The recording's.
    first : Encoder
        Of the first process: those forked from it know what it has said before.
    """

    def __init__(self, folder: str, first: Encoder) -> None:
        self._folder, self._first = folder, first
        self._known: dict[str, _Child] = {}
        self._new: list[str] = []

    def __len__(self) -> int:
        return len(self._known)

    @property
    def encoders(self) -> list[Encoder]:
        """Those of all processes."""
        return [child.encoder for child in self._known.values()]

    def take(self) -> list[bytes]:
        """Return the lines of what has come."""
        # What was there when the first process was read last; it has told by now what these refer to.
        for name in self._new:
            self._known[name] = _Child(os.path.join(self._folder, name), self._first)
        lines = [line for child in self._known.values() for line in child.take()]
        try:
            entries = os.listdir(self._folder)
        except OSError:
            entries = []
        self._new = [name for name in entries if name.startswith(PREFIX) and name not in self._known]
        return lines

    def running(self) -> int:
        """Return how many have not ended, or not been read to their end."""
        return len(self._new) + sum(not child.ended for child in self._known.values())


class _Child:
    """One process."""

    def __init__(self, folder: str, first: Encoder) -> None:
        self._folder = folder
        self._reader = Reader(folder)
        self.encoder = Encoder(folder, first)
        self.ended = False

    def take(self) -> list[bytes]:
        if self.ended:
            return []
        # Asked before reading: what it wrote last is there then.
        gone = not self._lives()
        lines: list[bytes] = []
        for came in self._reader.read():
            for section in came:
                lines += self.encoder.lines(*section)
        if gone:
            self.ended = True
            self._reader.close()
            lines += self.encoder.finish()
        return lines

    def _lives(self) -> bool:
        fd = os.open(os.path.join(self._folder, ALIVE), os.O_RDWR)
        try:
            lock(fd, False)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False
