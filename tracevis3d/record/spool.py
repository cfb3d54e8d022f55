"""The way from the recorded program to the writer beside it: sections appended to one file.

The program appends raw columns, which costs it next to nothing; another process makes JSON of them. A
section is a header and its bytes. Whatever kills the program, the sections that it has written stay.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

#: Kind, number of the thread (or of a file, see VIZTRACER), bytes that follow.
HEADER = struct.Struct("<cxxxIQ")

#: JSON: what the recording is.
BEGIN = b"B"
#: JSON: a thread's native id and name.
THREAD = b"T"
#: JSON: functions by the address of their code: ``[name, file, line]``.
FUNCTIONS = b"F"
#: JSON: objects by number: ``[label, file, line]``, or a list of the numbers of which it is a group.
OBJECTS = b"O"
#: Addresses (uint64) of begun calls, 0 for an end; then as many times (int64 nanoseconds).
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

#: Numbers of a row: operation, object, start, end, flags, other (a thread's number + 1 or bytes).
STRIDE = 6
#: Flags of a row.
CONTENDED, FAILED, TIMED_OUT = 1, 2, 4


class Spool:
    """The program's end of the file.

    Raises
    ------
    OSError
        By :meth:`add`, if the file can't be written, or is no longer what the descriptor stands for: a
        program may close descriptors that it does not know.
    """

    def __init__(self, path: str) -> None:
        # Kept, so that recording I/O does not record this.
        self._write, self._stat, self._close = os.write, os.fstat, os.close
        fd = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600
        )
        self._fd = out_of_the_way(fd)
        self._file = self._stat(self._fd)

    def add(self, kind: bytes, number: int, data: bytes) -> None:
        """Append a section."""
        now = self._stat(self._fd)
        if (now.st_ino, now.st_dev) != (self._file.st_ino, self._file.st_dev):
            raise OSError("the program has closed the recording's file")
        view = memoryview(HEADER.pack(kind, number, len(data)) + data)
        while view:
            view = view[self._write(self._fd, view) :]

    def close(self) -> None:
        """Let go of the file; it stays."""
        try:
            now = self._stat(self._fd)
            if (now.st_ino, now.st_dev) == (self._file.st_ino, self._file.st_dev):
                self._close(self._fd)
        except OSError:
            pass


def out_of_the_way(fd: int) -> int:
    """Move a descriptor to a high number, where programs that number their own don't meet it."""
    try:
        import fcntl
    except ImportError:
        return fd
    try:
        moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 700)
    except OSError:
        return fd
    os.close(fd)
    return moved


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
