"""Recording Python programs: calls, and who waits for whom.

The room is called as a function too: ``with tracevis3d.record("out.json.gz", threads=True): ...``. Nothing
here needs more than Python itself; VizTracer is used where it is installed.
"""

from __future__ import annotations

import sys
from types import ModuleType, TracebackType
from typing import Any


class Recording:
    """A recording of the running program, as a context: see :func:`record`.

    Parameters
    ----------
    options : Options
    """

    def __init__(self, options: Any) -> None:
        self._options = options
        self._session: Any = None
        #: One sentence about what was written; empty before.
        self.summary = ""

    def __enter__(self) -> Recording:
        from ..errors import InputError, UsageError
        from .session import Session

        try:
            self._session = Session(self._options)
            self._session.start()
        except ValueError as error:
            raise UsageError(str(error)) from error
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            raise InputError(f"{self._options.path}: can't be recorded: {place}{error.strerror}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.summary = self._session.stop()
        if self._session.failed and error is None:
            # What this calls would be recorded before.
            from ..errors import InputError

            raise InputError(self.summary)


def record(
    path: str,
    *,
    threads: bool = True,
    io: bool = True,
    memory: bool | str = False,
    engine: str = "auto",
    c_functions: bool = False,
    native: bool = False,
    memory_frames: int = 0,
) -> Recording:
    """Return a context in which everything that the program does is recorded to ``path``.

    Locks, queues and the like are recorded if they are made within it, or after it was entered first.

    Parameters
    ----------
    path : str
        Chrome Trace Event JSON; a name that ends in ``.gz`` is packed.
    threads, io : bool
        What is recorded beside calls: waits and releases, transfers.
    memory : bool or str
        Blocks of memory and counters: by "tracemalloc" (True), "memray", or "auto" (memray if it is there).
    engine : str
        "fast", "viztracer", "monitoring", "profile", "trace" or "auto".
    c_functions : bool
        Calls of functions written in C too; with VizTracer alone.
    native : bool
        Functions of compiled code in the call sites of blocks; with memray alone.
    memory_frames : int
        Frames of a call site, with tracemalloc alone; 0: three.

    Returns
    -------
    Recording

    Raises
    ------
    UsageError
        If the settings contradict each other; on entering, if the engine can't be used here.
    InputError
        On entering, if the file can't be written; on leaving, if it could not be written completely.
    """
    import os

    from ..errors import UsageError
    from .memory.choice import MEMORY_ENGINES, choose_memory
    from .options import Options

    by = MEMORY_ENGINES[0] if memory is True else memory or ""
    if by == "auto":
        by = "memray" if native else choose_memory(engine, c_functions, False, memory_frames)
    if by and by not in MEMORY_ENGINES:
        raise UsageError(f"memory={memory!r}: one of {', '.join(MEMORY_ENGINES)}, auto is expected")
    if memory_frames < 0 or (memory_frames and by != "tracemalloc"):
        raise UsageError("memory_frames is a number of frames, and needs memory='tracemalloc'")
    if native and by != "memray":
        raise UsageError("native=True needs memory='memray'")
    return Recording(
        Options(os.fspath(path), threads, io, by, native, engine, c_functions, frames=memory_frames)
    )


class _Room(ModuleType):
    """A module that can be called: ``tracevis3d.record`` is both the room and the function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Recording:
        return record(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
