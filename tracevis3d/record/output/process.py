"""Whether another process lives."""

from __future__ import annotations

import contextlib
import os
import select


class Process:
    """A process, which need not be a child.

    Parameters
    ----------
    pid : int
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._fd = -1
        # On other systems than Linux, and if the process no longer exists, it is asked by its number.
        with contextlib.suppress(AttributeError, OSError):
            self._fd = os.pidfd_open(pid)

    def lives(self) -> bool:
        """Return whether it has not ended yet."""
        if self._fd >= 0:
            return not select.select([self._fd], [], [], 0)[0]
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass  # another user's
        try:
            with open(f"/proc/{self._pid}/stat", "rb") as file:
                # One that has ended and was not waited for yet; the name before may hold anything.
                return file.read().rpartition(b") ")[2][:1] not in b"ZX"
        except OSError:
            return not os.path.isdir("/proc/self")

    def close(self) -> None:
        """Let go of what it was asked by."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
