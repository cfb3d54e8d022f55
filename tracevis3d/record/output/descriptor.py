"""Descriptors of the recorder's own in a program that may close any number, and use it for itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


class Descriptor:
    """A descriptor that is used and closed as long as it is ours.

    Parameters
    ----------
    fd : int
        It is moved to a high number, where programs that number their own don't meet it.

    Attributes
    ----------
    number : int
        The descriptor's.
    """

    def __init__(self, fd: int) -> None:
        # The originals, so that the recorder's own I/O is not recorded.
        self._stat, self._close = os.fstat, os.close
        self.number = _out_of_the_way(fd)
        self._file = self._stat(self.number)
        ours.append(self)

    def is_ours(self) -> bool:
        """Return whether the program has left it alone."""
        try:
            now = self._stat(self.number)
        except OSError:
            return False
        return (now.st_ino, now.st_dev) == (self._file.st_ino, self._file.st_dev)

    def close(self) -> None:
        """Let go of it."""
        if self in ours:
            ours.remove(self)
            if self.is_ours():
                self._close(self.number)


#: Those that are open.
ours: list[Descriptor] = []


def _out_of_the_way(fd: int) -> int:
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


def around_ours(
    closerange: Any, idle: Callable[[], AbstractContextManager[Any]]
) -> Callable[[int, int], None]:
    """Return an ``os.closerange`` that leaves the recorder's open: daemons close all that they have.

    Parameters
    ----------
    closerange : callable
        The original.
    idle : callable
        Returns a context in which the recorder has no other descriptors open: a flush has some for a moment.

    Returns
    -------
    callable
    """

    def leave_ours(fd_low: int, fd_high: int, /) -> None:
        try:
            kept = sorted(one.number for one in ours if fd_low <= one.number < fd_high)
        except TypeError:
            kept = []  # the original function raises the error
        with idle():
            for number in kept:
                closerange(fd_low, number)
                fd_low = number + 1
            closerange(fd_low, fd_high)

    return leave_ours
