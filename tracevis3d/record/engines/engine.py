"""What all engines offer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from ..patches import Patches

#: Name of a module -> function called after the program has imported it.
Hooks = dict[str, Callable[[Any], None]]


class Engine(Protocol):
    """Records calls from :meth:`start` to :meth:`stop`."""

    #: Its name on the command line.
    name: str
    #: Whether times are float64 microseconds, and not int64 nanoseconds.
    microseconds: bool
    #: Whether it records where a thread switches between greenlets.
    follows_greenlets: bool
    #: Seconds between two flushes: at first, because a program may be killed soon, and at most.
    flushes: tuple[float, float]
    clock: Callable[[], float]

    def open(self, folder: str) -> None:
        """Prepare to write into the recording's folder; called before anything is recorded."""

    def patch(self, patches: Patches) -> Hooks:
        """Replace the functions by which a program would remove the hook; called before :meth:`start`."""

    def start(self) -> None:
        """Record the calls of this thread and of those that begin from now on."""

    def stop(self) -> None:
        """Record no more calls; those that still run end now."""

    def dump(self, path: str) -> bool:
        """Write the calls that ended since the last time to ``path``, if the engine keeps them itself.

        Parameters
        ----------
        path : str

        Returns
        -------
        bool
            Whether the file was written.

        Raises
        ------
        OSError
            If there is no room on the disk.
        """

    def waiting(self) -> int:
        """Return the number of bytes in the engine's own files that wait for the writer."""

    def drop(self, on: bool) -> int:
        """Start or stop dropping events that need more room; return how many, since the last call."""

    def close(self) -> None:
        """Release the engine's files; called after the last flush."""

    def abandon(self) -> None:
        """Record nothing in a process that was forked."""


class PythonEngine:
    """An engine whose calls are kept in Python's buffers, which the flusher empties."""

    microseconds = False
    follows_greenlets = True
    flushes = 0.001, 0.05
    clock: Callable[[], float] = staticmethod(time.perf_counter_ns)

    def open(self, folder: str) -> None:
        """Do nothing: there are no files."""

    def patch(self, patches: Patches) -> Hooks:
        """Replace nothing, and return no hooks."""
        return {}

    def dump(self, path: str) -> bool:
        """Write nothing, and return False: the flusher writes the calls."""
        return False

    def waiting(self) -> int:
        """Return 0: there are no files."""
        return 0

    def drop(self, on: bool) -> int:
        """Drop nothing, and return 0: the flusher drops what buffers hold."""
        return 0

    def close(self) -> None:
        """Do nothing: there are no files."""


def in_each_thread(patches: Patches, begin: Callable[[], None]) -> None:
    """Make each thread that starts from now on call a function first.

    ``threading.setprofile`` would do so too, but the program itself may use it, and could see ours with
    ``threading.getprofile``.

    Parameters
    ----------
    patches : Patches
        Undoes it.
    begin : callable
        Called without arguments, in the new thread.
    """
    import threading

    def make(original: Any) -> Any:
        def start_thread(function: Any, *args: Any, **kwargs: Any) -> Any:
            def run(*inner: Any, **named: Any) -> Any:
                begin()
                return function(*inner, **named)

            return original(run, *args, **kwargs)

        return start_thread

    # The former up to Python 3.12, the latter since.
    for name in ("_start_new_thread", "_start_joinable_thread"):
        patches.wrap(threading, name, make)
