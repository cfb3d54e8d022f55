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
        """Prepare to write into the recording's folder, before anything is recorded."""

    def patch(self, patches: Patches) -> Hooks:
        """Replace what would take the interpreter's hook away, before :meth:`start`."""

    def start(self) -> None:
        """Record the calls of this thread and of those that begin from now on."""

    def stop(self) -> None:
        """Record no more calls; those that still run end now."""

    def dump(self, path: str) -> bool:
        """Write the calls that ended since the last time to ``path``, if the engine keeps them itself."""

    def waiting(self) -> int:
        """Return how many bytes that the engine keeps wait for the writer."""

    def drop(self, on: bool) -> int:
        """Drop what the engine itself keeps, or no more; return how much it has dropped since last asked."""

    def close(self) -> None:
        """Write no more; after the last flush."""

    def abandon(self) -> None:
        """Record nothing in a process that was forked."""


class PythonEngine:
    """An engine whose calls lie in buffers of Python's, which the flusher empties."""

    microseconds = False
    follows_greenlets = True
    flushes = 0.001, 0.05
    clock: Callable[[], float] = staticmethod(time.perf_counter_ns)

    def open(self, folder: str) -> None:
        pass

    def patch(self, patches: Patches) -> Hooks:
        return {}

    def dump(self, path: str) -> bool:
        return False

    def waiting(self) -> int:
        return 0

    def drop(self, on: bool) -> int:
        return 0

    def close(self) -> None:
        pass


def in_each_thread(patches: Patches, begin: Callable[[], None]) -> None:
    """Have each thread that starts from now on call ``begin`` first.

    ``threading.setprofile`` would do so too, but it is the program's: ``threading.getprofile`` shows it.
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
