"""What ``multiprocessing`` offers to wait with: processes, locks and queues that all processes share."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .. import state
from ..operations import RELEASE, WAIT, operation
from ..output.spool import CONTENDED
from ..patches import Patches
from ..state import local
from .synchronization import timed

#: The attribute that carries an object's number.
_NUMBER = "_tracevis3d_number"
_START, _JOIN = operation("Process.start", RELEASE), operation("Process.join", WAIT)
_ACQUIRE = operation("multiprocessing.Lock.acquire", WAIT)
_RELEASE = operation("multiprocessing.Lock.release", RELEASE)
_GET, _PUT = operation("multiprocessing.Queue.get", WAIT), operation("multiprocessing.Queue.put", RELEASE)
_WAIT_ANY = operation("multiprocessing.wait-any", WAIT)
#: Modules whose locks are parts of what is recorded as a whole.
_PARTS = frozenset(("multiprocessing.queues", "multiprocessing.synchronize"))


# -- processes ---------------------------------------------------------------------------------


def _process(process: Any) -> int:
    return state.named_object(f"process:{process.pid}")


def _start(original: Any) -> Any:
    def start(self: Any) -> None:
        at = state.clock()
        original(self)
        if state.recording and self.pid is not None:
            local.add((_START, _process(self), at, at, 0, 0))

    return start


def _join(original: Any) -> Any:
    def join(self: Any, timeout: Any = None) -> None:
        running = getattr(self, "_popen", None)
        if not state.recording or running is None:
            original(self, timeout)
            return
        flags = CONTENDED if running.returncode is None else 0

        def wait() -> bool:
            original(self, timeout)
            return running.returncode is not None

        timed(_JOIN, _process(self), flags, wait)

    return join


def patch_process(patches: Patches, module: ModuleType) -> None:
    """Record who starts processes, and who waits for their end.

    Parameters
    ----------
    patches : Patches
    module : module
        ``multiprocessing.process``.
    """
    patches.wrap(module.BaseProcess, "start", _start)
    patches.wrap(module.BaseProcess, "join", _join)


# -- locks -------------------------------------------------------------------------------------


def number_of(lock: Any, kind: str) -> int:
    """Return the number of a lock that processes share.

    Parameters
    ----------
    lock : multiprocessing.synchronize.SemLock
        Known by its name in the system, if it has one.
    kind : str
        The name of its class.

    Returns
    -------
    int
    """
    number: int | None = getattr(lock, _NUMBER, None)
    if number is None:
        name = getattr(lock._semlock, "name", None)
        if name:
            number = state.named_object(f"multiprocessing.{kind} {name.lstrip('/')}")
        else:
            number = state.new_object(f"multiprocessing.{kind}", sys._getframe(2))
        setattr(lock, _NUMBER, number)
    return number


def _make_methods(original: Any) -> Any:
    """Wrap what gives a lock its methods, which are the system's own."""

    def make_methods(self: Any) -> None:
        original(self)
        if not state.recording:
            return
        acquire, release = self.acquire, self.release
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_locals.get("self") is self:
            frame = frame.f_back
        # A part is recorded where a thread has to wait for it.
        part = frame.f_globals.get("__name__") in _PARTS
        kind = type(self).__name__

        def recorded_acquire(block: Any = True, timeout: Any = None) -> Any:
            if not state.recording:
                return acquire(block, timeout)
            if acquire(False):
                if not part:
                    now = state.clock()
                    local.add((_ACQUIRE, number_of(self, kind), now, now, 0, 0))
                return True
            if not block:
                return False
            return timed(_ACQUIRE, number_of(self, kind), CONTENDED, acquire, block, timeout)

        def recorded_release() -> None:
            at = state.clock()
            release()
            if state.recording:
                local.add((_RELEASE, number_of(self, kind), at, at, 0, 0))

        self.acquire, self.release = recorded_acquire, recorded_release
        if not part:
            number_of(self, kind)

    return make_methods


def _enter(original: Any) -> Any:
    def __enter__(self: Any) -> Any:  # noqa: N807
        return self.acquire()

    return __enter__


def _exit(original: Any) -> Any:
    def __exit__(self: Any, *args: Any) -> None:  # noqa: N807
        self.release()

    return __exit__


def patch_locks(patches: Patches, module: ModuleType) -> None:
    """Record locks and semaphores, of which conditions, events and barriers are made.

    Parameters
    ----------
    patches : Patches
    module : module
        ``multiprocessing.synchronize``.
    """
    patches.wrap(module.SemLock, "_make_methods", _make_methods)
    patches.wrap(module.SemLock, "__enter__", _enter)
    patches.wrap(module.SemLock, "__exit__", _exit)


# -- queues ------------------------------------------------------------------------------------


def _queue(queue: Any) -> int:
    number: int | None = getattr(queue, _NUMBER, None)
    if number is None:
        name = getattr(queue._rlock._semlock, "name", None)
        if name:
            number = state.named_object(f"multiprocessing.Queue {name.lstrip('/')}")
        else:
            number = state.new_object("multiprocessing.Queue", sys._getframe(2))
        setattr(queue, _NUMBER, number)
        # Pools wait for this end of it.
        queue._reader.__dict__[_NUMBER] = number
    return number


def _made(original: Any) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(self, *args, **kwargs)
        if state.recording:
            _queue(self)

    return __init__


def _get(original: Any) -> Any:
    def get(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not state.recording:
            return original(self, *args, **kwargs)
        flags = 0 if self._poll(0) else CONTENDED
        return timed(_GET, _queue(self), flags, lambda: [original(self, *args, **kwargs)])[0]

    return get


def _put(original: Any) -> Any:
    def put(self: Any, *args: Any, **kwargs: Any) -> None:
        at = state.clock()
        original(self, *args, **kwargs)
        if state.recording:
            local.add((_PUT, _queue(self), at, at, 0, 0))

    return put


def patch_queues(patches: Patches, module: ModuleType) -> None:
    """Record queues between processes.

    Parameters
    ----------
    patches : Patches
    module : module
        ``multiprocessing.queues``.
    """
    for cls in (module.Queue, module.SimpleQueue):
        patches.wrap(cls, "__init__", _made)
        patches.wrap(cls, "get", _get)
        patches.wrap(cls, "put", _put)


def _wait(original: Any) -> Any:
    def wait(object_list: Any, timeout: Any = None) -> Any:
        things = list(object_list)
        numbers = {getattr(thing, "__dict__", {}).get(_NUMBER, 0) for thing in things} - {0}
        if not state.recording or not numbers:
            return original(things, timeout)
        what = state.group(tuple(sorted(numbers)))
        return timed(_WAIT_ANY, what, CONTENDED, original, things, timeout)

    return wait


def patch_connection(patches: Patches, module: ModuleType) -> None:
    """Record waits for any of several queues: pools wait for results in this way.

    Parameters
    ----------
    patches : Patches
    module : module
        ``multiprocessing.connection``.
    """
    patches.wrap(module, "wait", _wait)
