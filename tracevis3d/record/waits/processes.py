"""What ``multiprocessing`` offers to wait with: processes, locks and queues that all processes share."""

from __future__ import annotations

import sys
from types import FrameType, ModuleType
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
_LOCKS = ("Lock", "RLock", "Semaphore", "BoundedSemaphore")
_ACQUIRE = {kind: operation(f"multiprocessing.{kind}.acquire", WAIT) for kind in _LOCKS}
_RELEASE = {kind: operation(f"multiprocessing.{kind}.release", RELEASE) for kind in _LOCKS}
_WAIT_SIGNAL = operation("multiprocessing.Condition.wait", WAIT)
_NOTIFY = operation("multiprocessing.Condition.notify", RELEASE)
_WAIT_EVENT, _SET = (
    operation("multiprocessing.Event.wait", WAIT),
    operation("multiprocessing.Event.set", RELEASE),
)
_GET, _PUT = operation("multiprocessing.Queue.get", WAIT), operation("multiprocessing.Queue.put", RELEASE)
_FULL = operation("multiprocessing.Queue.put-full", WAIT)
_QUEUE_JOIN = operation("multiprocessing.Queue.join", WAIT)
_DONE = operation("multiprocessing.Queue.task_done", RELEASE)
_WAIT_ANY = operation("multiprocessing.wait-any", WAIT)
#: Modules that make locks and conditions for themselves, and those that only pass on what is asked for.
_PARTS = frozenset(("multiprocessing.queues", "multiprocessing.synchronize", "threading"))
_PASSING = frozenset(("multiprocessing.context",))


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


def _caller(thing: Any, depth: int) -> FrameType:
    """Return the innermost frame that is no method of a thing, nor passes on what is asked for."""
    frame = sys._getframe(depth + 1)
    while frame.f_back is not None and (
        frame.f_locals.get("self") is thing or frame.f_globals.get("__name__") in _PASSING
    ):
        frame = frame.f_back
    return frame


def _is_part(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__") in _PARTS


def number_of(thing: Any, kind: str, lock: Any = None) -> int:
    """Return the number of something that processes share.

    Parameters
    ----------
    thing : object
        A lock, or what is made of locks.
    kind : str
        The name of its class.
    lock : multiprocessing.synchronize.SemLock, optional
        By whose name in the system it is known, if that has one; default: itself.

    Returns
    -------
    int
    """
    name = getattr((thing if lock is None else lock)._semlock, "name", None)
    if name:
        # Not kept: the attribute would come along to processes in which numbers are others.
        return state.named_object(f"multiprocessing.{kind} {name.lstrip('/')}")
    number: int | None = getattr(thing, _NUMBER, None)
    if number is None:
        number = state.new_object(f"multiprocessing.{kind}", sys._getframe(2))
        setattr(thing, _NUMBER, number)
    return number


def _make_methods(original: Any) -> Any:
    """Wrap what gives a lock its methods, which are the system's own."""

    def make_methods(self: Any) -> None:
        original(self)
        if not state.recording:
            return
        acquire, release, kind = self.acquire, self.release, type(self).__name__
        acquired, released = _ACQUIRE.get(kind, _ACQUIRE["Lock"]), _RELEASE.get(kind, _RELEASE["Lock"])

        def recorded_acquire(block: Any = True, timeout: Any = None) -> Any:
            if not state.recording:
                return acquire(block, timeout)
            if acquire(False):
                now = state.clock()
                local.add((acquired, number_of(self, kind), now, now, 0, 0))
                return True
            if not block:
                return False
            return timed(acquired, number_of(self, kind), CONTENDED, acquire, block, timeout)

        def recorded_release() -> None:
            at = state.clock()
            release()
            if state.recording:
                local.add((released, number_of(self, kind), at, at, 0, 0))

        self.acquire, self.release = recorded_acquire, recorded_release
        if not _is_part(_caller(self, 1)):
            number_of(self, kind)

    return make_methods


def _hide(*locks: Any) -> None:
    """Give locks that are parts of what is recorded as a whole the system's own methods back."""
    for lock in locks:
        if lock is not None:
            lock.acquire, lock.release = lock._semlock.acquire, lock._semlock.release


def _enter(original: Any) -> Any:
    def __enter__(self: Any) -> Any:  # noqa: N807
        return self.acquire()

    return __enter__


def _exit(original: Any) -> Any:
    def __exit__(self: Any, *args: Any) -> None:  # noqa: N807
        self.release()

    return __exit__


def _condition_made(original: Any) -> Any:
    """Wrap what makes a condition, or what it becomes in another process."""

    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _hide(self._sleeping_count, self._woken_count, self._wait_semaphore)
        if state.recording and not _is_part(_caller(self, 1)):
            number_of(self, "Condition", self._wait_semaphore)
            number_of(self._lock, type(self._lock).__name__)

    return made


def _condition_wait(original: Any) -> Any:
    def wait(self: Any, timeout: Any = None) -> Any:
        if not state.recording or _is_part(_caller(self, 1)):
            return original(self, timeout)
        number = number_of(self, "Condition", self._wait_semaphore)
        return timed(_WAIT_SIGNAL, number, CONTENDED, original, self, timeout)

    return wait


def _condition_notify(original: Any) -> Any:
    def notify(self: Any, *args: Any, **kwargs: Any) -> None:
        at = state.clock()
        original(self, *args, **kwargs)
        if state.recording and not _is_part(_caller(self, 1)):
            number = number_of(self, "Condition", self._wait_semaphore)
            local.add((_NOTIFY, number, at, at, 0, 0))

    return notify


def _event(event: Any) -> int:
    # What comes from another process has not been made here.
    _hide(event._flag, event._cond._lock)
    return number_of(event, "Event", event._flag)


def _event_made(original: Any) -> Any:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(self, *args, **kwargs)
        if state.recording:
            _event(self)

    return __init__


def _event_wait(original: Any) -> Any:
    def wait(self: Any, timeout: Any = None) -> Any:
        if not state.recording:
            return original(self, timeout)
        number = _event(self)
        flags = 0 if self.is_set() else CONTENDED
        return timed(_WAIT_EVENT, number, flags, original, self, timeout)

    return wait


def _event_set(original: Any) -> Any:
    def set(self: Any) -> None:
        number = _event(self) if state.recording else 0
        at = state.clock()
        original(self)
        if number:
            local.add((_SET, number, at, at, 0, 0))

    return set


def _barrier_made(original: Any) -> Any:
    """Wrap what a barrier gets its state by, when it is made and in other processes."""

    def made(self: Any, *args: Any) -> None:
        original(self, *args)
        _hide(self._cond._lock)
        if state.recording:
            # Waits for it are recorded as those of threads' barriers are, by the number that it carries.
            setattr(self, _NUMBER, number_of(self, "Barrier", self._cond._wait_semaphore))

    return made


def patch_locks(patches: Patches, module: ModuleType) -> None:
    """Record locks, semaphores, conditions, events and barriers that processes share.

    Parameters
    ----------
    patches : Patches
    module : module
        ``multiprocessing.synchronize``.
    """
    patches.wrap(module.SemLock, "_make_methods", _make_methods)
    patches.wrap(module.SemLock, "__enter__", _enter)
    patches.wrap(module.SemLock, "__exit__", _exit)
    patches.wrap(module.Condition, "__init__", _condition_made)
    patches.wrap(module.Condition, "__setstate__", _condition_made)
    patches.wrap(module.Condition, "wait", _condition_wait)
    patches.wrap(module.Condition, "notify", _condition_notify)
    patches.wrap(module.Event, "__init__", _event_made)
    patches.wrap(module.Event, "wait", _event_wait)
    patches.wrap(module.Event, "set", _event_set)
    patches.wrap(module.Barrier, "__setstate__", _barrier_made)


# -- queues ------------------------------------------------------------------------------------


def _queue(queue: Any) -> int:
    number = number_of(queue, "Queue", queue._rlock)
    # Pools wait for this end of it.
    queue._reader.__dict__[_NUMBER] = number
    return number


def _made(original: Any) -> Any:
    """Wrap what makes a queue, or what it becomes in another process."""

    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _hide(self._rlock, self._wlock, getattr(self, "_sem", None), getattr(self, "_unfinished_tasks", None))
        if state.recording:
            _queue(self)

    return made


def _get(original: Any) -> Any:
    def get(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not state.recording:
            return original(self, *args, **kwargs)
        flags = 0 if self._poll(0) else CONTENDED
        return timed(_GET, _queue(self), flags, lambda: [original(self, *args, **kwargs)])[0]

    return get


def _put(original: Any) -> Any:
    def put(self: Any, *args: Any, **kwargs: Any) -> None:
        if not state.recording:
            original(self, *args, **kwargs)
            return
        number, at = _queue(self), state.clock()
        places = getattr(self, "_sem", None)
        if places is not None and places._semlock._is_zero():
            timed(_FULL, number, CONTENDED, original, self, *args, **kwargs)
            at = state.clock()
        else:
            original(self, *args, **kwargs)
        local.add((_PUT, number, at, at, 0, 0))

    return put


def _queue_join(original: Any) -> Any:
    def join(self: Any) -> None:
        if not state.recording:
            original(self)
            return
        flags = 0 if self._unfinished_tasks._semlock._is_zero() else CONTENDED
        timed(_QUEUE_JOIN, _queue(self), flags, original, self)

    return join


def _task_done(original: Any) -> Any:
    def task_done(self: Any) -> None:
        at = state.clock()
        original(self)
        if state.recording:
            local.add((_DONE, _queue(self), at, at, 0, 0))

    return task_done


def patch_queues(patches: Patches, module: ModuleType) -> None:
    """Record queues between processes.

    Parameters
    ----------
    patches : Patches
    module : module
        ``multiprocessing.queues``.
    """
    for cls in (module.Queue, module.SimpleQueue, module.JoinableQueue):
        patches.wrap(cls, "__init__", _made)
        patches.wrap(cls, "__setstate__", _made)
        patches.wrap(cls, "put", _put)
    for cls in (module.Queue, module.SimpleQueue):
        patches.wrap(cls, "get", _get)
    patches.wrap(module.JoinableQueue, "join", _queue_join)
    patches.wrap(module.JoinableQueue, "task_done", _task_done)


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
