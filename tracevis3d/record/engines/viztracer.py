"""Calls by the C part of VizTracer."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import Any

from .. import state
from ..patches import Patches
from .engine import Hooks, PythonEngine

#: Maximum number of calls in VizTracer's buffer between two flushes.
_ENTRIES = 2_000_000
#: Suffix of its files.
_LAST = b"}}"


class VizTracer(PythonEngine):
    """The C part of VizTracer: its ring buffer is emptied before it is full."""

    name = "viztracer"
    microseconds = True
    follows_greenlets = False

    def __init__(self, c_functions: bool) -> None:
        from viztracer.snaptrace import Tracer

        self._tracer: Any = Tracer(_ENTRIES)
        self._tracer.ignore_c_function = not c_functions
        # Code in this folder, and its callees, are not recorded.
        self._tracer.lib_file_path = os.path.join(state.FOLDER, "shims")
        self._tracer.process_name = "MainProcess"
        self.clock = self._tracer.getts
        # The first use calibrates its clock.
        self.clock()

    def patch(self, patches: Patches) -> Hooks:
        if sys.version_info >= (3, 12):
            return {}

        def losing(what: str) -> Callable[[Any], Any]:
            def make(original: Any) -> Any:
                def call(*args: Any, **kwargs: Any) -> Any:
                    # Threads that begin set its own.
                    if args[:1] != (self._tracer.threadtracefunc,):
                        state.report("not recorded", f"{what}: VizTracer loses its hook")
                    return original(*args, **kwargs)

                return call

            return make

        patches.wrap(sys, "setprofile", losing("sys.setprofile"))
        return {"cProfile": lambda module: patches.wrap(module.Profile, "enable", losing("cProfile"))}

    def start(self) -> None:
        self._tracer.start()

    def stop(self) -> None:
        self._tracer.stop("flush_as_finish")

    def dump(self, path: str) -> bool:
        self._tracer.dump(path)
        # It does not say that the disk is full.
        try:
            whole = _is_whole(path)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            whole = _is_whole(path)  # the program closes all descriptors just now
        if not whole:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return True

    def abandon(self) -> None:
        self._tracer.stop(None)
        self._tracer.clear()


def _is_whole(path: str) -> bool:
    with open(path, "rb") as file:
        file.seek(-min(len(_LAST), os.fstat(file.fileno()).st_size), os.SEEK_END)
        return file.read() == _LAST
