"""Calls by the part in C: its callbacks write into files in memory that the writer reads."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from .. import state
from ..fast import MODULE
from ..output.spool import STRIDE
from ..patches import Patches
from ..shims import locks
from .engine import Hooks
from .monitoring import listen


class Fast:
    """``sys.monitoring`` from Python 3.12 on, before it the profile hook, both with callbacks in C.

    Parameters
    ----------
    c_functions : bool
        Always False: :func:`.choice.choose` gives functions written in C to VizTracer alone.
    """

    name = "fast"
    microseconds = False
    follows_greenlets = True
    #: Events are in the files at once; a flush adds the names of objects and lets the writer continue.
    flushes = 0.01, 0.2
    clock: Callable[[], float] = staticmethod(time.perf_counter_ns)

    def __init__(self, c_functions: bool) -> None:
        self._tool = -1
        self._following = False
        self._folder = ""

    def open(self, folder: str) -> None:
        """Begin the first file in a folder, and let threads have buffers of C's."""
        MODULE.open(folder, state.FOLDER, _attach, locks.LOCK_ACQUIRE, locks.LOCK_RELEASE)
        self._folder = folder
        state.use_fast(MODULE)

    def patch(self, patches: Patches) -> Hooks:
        """Before Python 3.12: share the profile hook with the program, and follow threads that it starts."""
        if MODULE.BY_MONITORING:
            return {}
        import _thread
        import threading

        patches.set(sys, "setprofile", MODULE.adopting(sys.setprofile))
        patches.set(sys, "getprofile", MODULE.getprofile)
        owners: tuple[tuple[Any, str], ...] = (
            (_thread, "start_new_thread"),
            (_thread, "start_new"),
            (threading, "_start_new_thread"),
        )
        for owner, name in owners:
            patches.set(owner, name, MODULE.starting(getattr(owner, name)))

        def adopt(module: Any) -> None:
            methods = MODULE.adopting_profiler(module.Profile.__base__)
            for name, method in zip(("enable", "disable"), methods, strict=True):
                patches.set(module.Profile, name, method)

        return {"cProfile": adopt}

    def start(self) -> None:
        """Record the calls of this thread and of those that begin from now on."""
        if MODULE.BY_MONITORING:
            self._tool = listen(MODULE.begin_call, MODULE.begin_call, MODULE.end_call)
        else:
            self._following = True
            MODULE.follow()

    def stop(self) -> None:
        """Record no more calls."""
        if not MODULE.BY_MONITORING:
            self._following = False
            MODULE.unfollow()
        elif self._tool >= 0:
            sys.monitoring.set_events(self._tool, 0)  # type: ignore[attr-defined,unused-ignore]
            sys.monitoring.free_tool_id(self._tool)  # type: ignore[attr-defined,unused-ignore]
            self._tool = -1

    def dump(self, path: str) -> bool:
        """Let the writer read what was recorded, and return False: the calls are in the engine's own files.

        Parameters
        ----------
        path : str
            Unused.

        Returns
        -------
        bool

        Raises
        ------
        OSError
            If there is no room for another file.
        """
        if self._following:
            for _ in range(MODULE.follow()):
                state.report("not recorded", "the program used the profile hook for some time")
        failed = MODULE.prepare()
        if failed:
            raise OSError(failed, os.strerror(failed))
        return False

    def waiting(self) -> int:
        """Return the number of bytes of the files that the writer has not deleted yet."""
        total = 0
        for name in os.listdir(self._folder):
            if name.startswith("arena-"):
                with contextlib.suppress(OSError):  # the writer has just read it
                    total += os.stat(os.path.join(self._folder, name)).st_size
        return total

    def drop(self, on: bool) -> int:
        """Start or stop dropping events; return the number dropped since the last call."""
        return int(MODULE.drop(on))

    def close(self) -> None:
        """Close the files; threads get buffers of Python's again."""
        MODULE.close()
        state.use_fast(None)

    def abandon(self) -> None:
        """Record nothing in a process that was forked."""
        self.stop()
        self.close()


def _attach() -> None:
    """Give the running thread buffers of C's."""
    log = state.local.log
    if type(log.rows) is list:
        rows = log.rows
        log.rows, log.calls = state.new_buffers(log.number, log.tid)
        for at in range(0, len(rows), STRIDE):
            log.rows.extend(tuple(rows[at : at + STRIDE]))
    state.local.enter(log)
