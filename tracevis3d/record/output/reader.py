"""The writer's end of what one process writes: the spool's files, and those of the part in C."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import BinaryIO

from .arena import Arenas
from .spool import CLOSED, FLUSHED, NEXT, THREAD, file_name, sections

#: Bytes that are read at once.
_PIECE = 1 << 24


class Reader:
    """The writer's end of the files of one process; they need not be there yet.

    Parameters
    ----------
    folder : str

    Attributes
    ----------
    closed : bool
        Whether what was read last says that nothing follows.
    """

    def __init__(self, folder: str) -> None:
        self._folder, self._number, self._rest = folder, 1, b""
        self._arenas, self._threads = Arenas(folder), set[int]()
        self.closed = False
        self._file: BinaryIO | None = None

    def read(self) -> Iterator[list[tuple[bytes, int, bytes]]]:
        """Yield the sections that have come since the last time, piece by piece."""
        if self._file is None:
            try:
                self._file = open(file_name(self._folder, self._number), "rb")  # noqa: SIM115
            except FileNotFoundError:
                return
        while piece := self._file.read(_PIECE):
            self._rest += piece
            came: list[tuple[bytes, int, bytes]] = []
            end, full = 0, False
            for kind, thread, data, end in sections(self._rest):  # noqa: B007
                full = full or kind == NEXT
                self.closed = kind == CLOSED
                if kind == THREAD:
                    self._threads.add(thread)
                elif kind == FLUSHED:
                    # What ended before has been written there, and what it refers to here.
                    came += self._arenas.read(self._threads, _began(data))
                came.append((kind, thread, data))
            self._rest = self._rest[end:]
            yield came
            if full:
                self._file.close()
                os.unlink(file_name(self._folder, self._number))
                self._number += 1
                self._file = open(file_name(self._folder, self._number), "rb")  # noqa: SIM115

    def rest(self) -> list[tuple[bytes, int, bytes]]:
        """Return the sections of what a program that has ended did after its last flush."""
        return list(self._arenas.read(self._threads, None))

    def close(self) -> None:
        """Let go of the files."""
        self._arenas.close()
        if self._file is not None:
            self._file.close()


def _began(data: bytes) -> int:
    """Return when a flush began; 0 where that can't be read."""
    try:
        return int(json.loads(data)["began"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return 0
