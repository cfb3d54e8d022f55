"""What the part in C writes: files in memory of blocks, read while the program fills them.

A file and each block in it begin with the same header. What a block holds only grows; a file is closed when
another one has taken its place. Layout: ``_fast.c``.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterator

from . import spool

#: Kind, size with this, thread, its id in the system, bytes that are written, whether a file is closed.
_HEADER = struct.Struct("<IIqqqq24x")
_NAME = struct.Struct("<qqII")
#: Kinds of blocks.
_CALLS, _ROWS, _NAMES = b"CRF"
#: Of a row: its end, and how many numbers it has.
_END = 3
#: What is written to a block at a time, in bytes.
_STEPS = {_CALLS: 16, _ROWS: 8 * spool.STRIDE, _NAMES: 8}

Section = tuple[bytes, int, bytes]


def file_name(folder: str, number: int) -> str:
    """Return the path of a process's file of blocks.

    Parameters
    ----------
    folder : str
        The process's.
    number : int
        From 1.

    Returns
    -------
    str
    """
    return os.path.join(folder, f"arena-{number}")


class _Arena:
    """One file."""

    def __init__(self, path: str) -> None:
        self._path = path
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        #: Where the next block will begin, and of each that was found: where it is, and bytes that were read.
        self._next = _HEADER.size
        self.blocks: dict[int, int] = {}
        #: Whether the program has written over it: what follows can't be found then.
        self.is_damaged = False

    def closed(self) -> bool:
        return bool(_HEADER.unpack_from(self.data, 0)[5])

    def find(self) -> None:
        """Find blocks that are new."""
        while not self.is_damaged and self._next + _HEADER.size <= len(self.data):
            kind, size, *_ = _HEADER.unpack_from(self.data, self._next)
            if not kind:
                break
            if kind not in _STEPS or not _HEADER.size <= size <= len(self.data) - self._next:
                self.is_damaged = True
                break
            self.blocks[self._next] = 0
            self._next += size

    def used(self, at: int) -> int:
        """Return how many bytes of a block are written."""
        kind, size, _, _, used, _ = _HEADER.unpack_from(self.data, at)
        most = size - _HEADER.size
        if not 0 <= used <= most or used % _STEPS.get(kind, 1):
            self.is_damaged = True
            used = min(max(used, 0), most)
            used -= used % _STEPS.get(kind, 1)
        return int(used)

    def delete(self) -> None:
        self.data.close()
        os.unlink(self._path)


class Arenas:
    """The files of one process, as sections of a spool; there need not be any.

    Parameters
    ----------
    folder : str
    """

    def __init__(self, folder: str) -> None:
        self._folder, self._number = folder, 1
        self._open: list[_Arena] = []

    def read(self, known: set[int], until: int | None) -> Iterator[Section]:
        """Yield what was written since the last time.

        Parameters
        ----------
        known : set of int
            The threads that the spool has described; others are not read yet.
        until : int or None
            What rows refer to is known up to this time, in nanoseconds; None: the program has ended, and all
            threads are read.

        Yields
        ------
        tuple of (bytes, int, bytes)
            Kind, number and data of a section, as :func:`.spool.sections` has them.
        """
        self._open_files()
        closed = [arena for arena in self._open if arena.closed()]
        names: list[tuple[_Arena, int]] = []
        found: list[tuple[_Arena, int, int, int, int, int]] = []
        for arena in self._open:
            known_damage = arena.is_damaged
            arena.find()
            for at in arena.blocks:
                kind, _, thread, tid, _, _ = _HEADER.unpack_from(arena.data, at)
                used = arena.used(at)
                if kind == _NAMES:
                    names.append((arena, at))
                elif kind in _STEPS and used > arena.blocks[at]:
                    found.append((arena, at, kind, thread, tid, used))
            if arena.is_damaged and not known_damage:
                yield spool.PROBLEM, 0, b'["malformed", "what the program handed on in memory", 1]'
        # After what refers to them.
        functions: dict[int, tuple[str, str, int]] = {}
        for arena, at in names:
            used = arena.used(at)
            functions.update(_names(arena.data, at + _HEADER.size, arena.blocks[at], used))
            arena.blocks[at] = used
        if functions:
            yield spool.FUNCTIONS, 0, json.dumps(functions).encode()
        behind: set[_Arena] = set()
        for arena, at, kind, thread, tid, used in found:
            if thread not in known:
                if until is not None:
                    behind.add(arena)
                    continue
                known.add(thread)
                yield spool.THREAD, thread, json.dumps({"tid": tid, "name": ""}).encode()
            seen, first = arena.blocks[at], at + _HEADER.size
            numbers = array("q", arena.data[first + seen : first + used])
            if kind == _CALLS:
                yield spool.CALLS, thread, (numbers[::2] + numbers[1::2]).tobytes()
            else:
                if until is not None:
                    ready = bisect_right(numbers[_END :: spool.STRIDE], until) * spool.STRIDE
                    if ready < len(numbers):
                        used = seen + ready * numbers.itemsize
                        behind.add(arena)
                        numbers = numbers[:ready]
                if numbers:
                    yield spool.ROWS, thread, numbers.tobytes()
            arena.blocks[at] = used
        for arena in closed:
            if arena not in behind:
                arena.delete()
                self._open.remove(arena)

    def _open_files(self) -> None:
        while True:
            try:
                self._open.append(_Arena(file_name(self._folder, self._number)))
            except (FileNotFoundError, ValueError):
                return  # it is not there yet, or has no size yet
            self._number += 1

    def close(self) -> None:
        """Close the files."""
        for arena in self._open:
            arena.data.close()
        self._open.clear()


def _names(data: mmap.mmap, first: int, seen: int, used: int) -> Iterator[tuple[int, tuple[str, str, int]]]:
    """Yield numbers of functions, with name, file and line."""
    while seen < used:
        at = first + seen
        number, line, n, m = _NAME.unpack_from(data, at)
        text = data[at + _NAME.size : at + _NAME.size + n + m]
        yield number, (text[:n].decode("utf-8", "replace"), text[n:].decode("utf-8", "replace"), line)
        seen += (_NAME.size + n + m + 7) & ~7
