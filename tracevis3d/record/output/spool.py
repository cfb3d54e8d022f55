"""The way from the recorded program to the writer beside it: sections appended to a file.

The program appends raw columns, which costs it next to nothing; another process makes JSON of them. A
section is a header and its bytes. Whatever kills the program, the sections that it has written stay. A file
that is long enough is followed by another; the writer deletes what it has read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
from collections.abc import Iterator

from ..fast import MODULE
from .descriptor import Descriptor

#: Kind, number of the thread (or of a file, see VIZTRACER), bytes that follow.
HEADER = struct.Struct("<cxxxIQ")

#: JSON: what the recording is.
BEGIN = b"B"
#: JSON: a thread's native id and name.
THREAD = b"T"
#: JSON: functions by the number of their code (see CALLS): ``[name, file, line]``.
FUNCTIONS = b"F"
#: JSON: objects by number: ``[label, file, line]``, or a list of the numbers of which it is a group.
OBJECTS = b"O"
#: Numbers (int64) of begun calls' functions, that of None for an end; then as many times (int64 nanoseconds).
CALLS = b"C"
#: Rows of :data:`STRIDE` numbers, int64 nanoseconds or float64 microseconds as BEGIN says.
ROWS = b"R"
#: JSON: the waits that have not ended yet, as rows without an end; replaces the thread's section before.
WAITING = b"W"
#: A file (by its number) in which VizTracer has put its events.
VIZTRACER = b"V"
#: JSON: values of counters at a time.
COUNTERS = b"M"
#: JSON: a flush is through that began at this time: what ended before has been written.
FLUSHED = b"L"
#: JSON: the recording was ended in order, and when; the last flush follows.
END = b"E"
#: JSON: call sites of allocations by number: stacks of ``[file, line]``, the innermost first.
SITES = b"S"
#: The time (8 bytes, as in ROWS) and which blocks live then: the call sites of all kinds of them (uint32),
#: then their sizes, then how many there are (int64).
LIVING = b"A"
#: The time (8 bytes, as in ROWS) and about how much lives of what was allocated since the begin, by a sample:
#: call sites (uint32), then their bytes (int64). Only for viewers.
SAMPLED = b"G"
#: JSON: a moment that a mark in memray's file represents (:mod:`..memory.with_memray`).
MARK = b"K"
#: JSON: how many rows the program has dropped because the writer is too far behind.
DROPPED = b"D"
#: JSON: what the process is called, where that is known only after BEGIN.
PROCESS = b"P"
#: JSON: a problem of the recording: a kind of :data:`tracevis3d.trace.problems.KINDS`, the place, how many.
PROBLEM = b"Q"
#: Nothing: the last section, of a recording that has ended or of a program about to be replaced.
CLOSED = b"X"
#: Nothing: the next file continues.
NEXT = b"N"

#: Bytes of a file after which another follows.
FULL = 1 << 25

#: Bytes that are written without giving Python's lock away.
_SHORT = 1 << 16

#: Numbers of a row: operation, object, start, end, flags, other (a thread's number + 1 or bytes).
STRIDE = 6
#: Bytes of a row of the sections that have rows.
BYTES_A_ROW = {CALLS: 16, ROWS: 8 * STRIDE}
#: Flags of a row.
CONTENDED, FAILED, TIMED_OUT = 1, 2, 4
#: Flags from this bit on are the line of code; 0: unknown.
LINE = 8


def file_name(folder: str, number: int) -> str:
    """Return the path of a process's spool file.

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
    return os.path.join(folder, f"spool-{number}")


class Spool:
    """The program's end of the files.

    Parameters
    ----------
    folder : str
        Where they lie.

    Raises
    ------
    OSError
        By :meth:`add`, if the file can't be written.
    """

    def __init__(self, folder: str) -> None:
        # The originals, so that the recorder's own I/O is not recorded.
        self._write, self._open, self._path_stat = os.write, os.open, os.stat
        self._folder = folder
        self._number = self._size = 0
        self._past: list[tuple[str, int]] = []
        self._held: list[bytes] | None = None
        self._broken = False
        self._begin_file()

    def _begin_file(self) -> None:
        self._number += 1
        self._size = 0
        self._open_file(os.O_CREAT | os.O_EXCL)

    def _open_file(self, more: int = 0) -> None:
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0) | more
        self._fd = Descriptor(self._open(file_name(self._folder, self._number), flags, 0o600))

    def add(self, kind: bytes, number: int, data: bytes) -> None:
        """Append a section.

        Parameters
        ----------
        kind : bytes
            One of the kinds in this module.
        number : int
            The thread's number; 0 or as described there for other sections.
        data : bytes

        Raises
        ------
        OSError
            If the file can't be written.
        """
        header = HEADER.pack(kind, number, len(data))
        if self._held is None:
            self._append(header + data)
        else:
            self._held += header, data

    def hold(self) -> None:
        """Keep what is appended from here on until :meth:`release`.

        Each call of the system lets another thread run, and waits until that thread gives way. Where many
        threads compute on few cores, writing section by section would take seconds.
        """
        self._held = []

    def release(self) -> None:
        """Write what was held, in one piece."""
        held, self._held = self._held, None
        if held:
            self._append(b"".join(held))

    def _append(self, data: bytes) -> None:
        # What followed half a section would be taken for its other half.
        if self._broken:
            return
        self._broken = True
        write = self._write if MODULE is None or len(data) > _SHORT else MODULE.append
        view = memoryview(data)
        self._size += len(view)
        while view:
            if not self._fd.is_ours():
                # Programs close descriptors that they don't know: daemons close all.
                self._fd.close()
                self._open_file()
            try:
                view = view[write(self._fd.number, view) :]
            except OSError as error:
                if error.errno != errno.EBADF:
                    raise
                # It was closed since it was looked at.
        self._broken = False

    def roll(self) -> None:
        """Continue in another file if this one is long enough, so that what was read can be deleted."""
        if self._size < FULL:
            return
        before, size, number = self._fd, self._size, self._number
        # The next one is created before it is looked for.
        self._begin_file()
        self._write(before.number, HEADER.pack(NEXT, 0, 0))
        before.close()
        self._past.append((file_name(self._folder, number), size))

    def waiting(self) -> int:
        """Return how many bytes of full files wait for the writer."""
        while self._past:
            try:
                self._path_stat(self._past[0][0])
                break
            except OSError:
                self._past.pop(0)
        return sum(size for _, size in self._past)

    def end(self) -> None:
        """Write that nothing follows, and close the file."""
        with contextlib.suppress(OSError):
            self.add(CLOSED, 0, b"")
        self.close()

    def close(self) -> None:
        """Close the file; it stays."""
        self._fd.close()


def sections(data: bytes) -> Iterator[tuple[bytes, int, bytes, int]]:
    """Yield kind, number, bytes and where the next one begins, of all whole sections in ``data``."""
    at = 0
    while at + HEADER.size <= len(data):
        kind, number, size = HEADER.unpack_from(data, at)
        start = at + HEADER.size
        if start + size > len(data):
            return
        at = start + size
        yield kind, number, data[start:at], at
