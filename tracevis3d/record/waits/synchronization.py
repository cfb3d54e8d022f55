"""Waits and releases of what ``threading``, ``queue`` and ``concurrent.futures`` offer beside plain locks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .. import state
from ..operations import RELEASE, WAIT, operation
from ..output.spool import CONTENDED, FAILED, LINE, TIMED_OUT
from ..patches import Patches
from ..shims.locks import is_part
from ..state import local

#: The attribute that carries an object's number; 0 for what is a part of something else.
_NUMBER = "_tracevis3d_number"
#: Modules whose events and semaphores are parts of what they offer.
_PARTS = frozenset(("threading", "queue", "concurrent.futures.thread", "multiprocessing.queues"))


def number_of(thing: Any, kind: str) -> int:
    """Return the number of an object, a new one if it has none.

    Parameters
    ----------
    thing : object
        Such as a queue.
    kind : str
        Its name in the recording, such as "Queue".

    Returns
    -------
    int
        0: it is not recorded.
    """
    number: int | None = getattr(thing, _NUMBER, None)
    if number is None:
        number = state.new_object(kind, sys._getframe(1))
        _keep(thing, number)
    return number


def _keep(thing: Any, number: int) -> None:
    try:  # noqa: SIM105
        setattr(thing, _NUMBER, number)
    except AttributeError:
        pass  # a subclass with slots: it gets a new number each time


def register(kind: str, parts: bool = True) -> Callable[[Any], Any]:
    """Return a wrapper for an ``__init__`` that numbers the object, and notes who made it.

    Parameters
    ----------
    kind : str
        The object's name in the recording, such as "Event".
    parts : bool
        Whether objects made by ``threading``, ``queue`` and the like are parts of others, which are not
        recorded: they get the number 0.

    Returns
    -------
    callable
        For :meth:`.Patches.wrap`.
    """

    def make(original: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(self, *args, **kwargs)
            if state.recording and getattr(self, _NUMBER, None) is None:
                frame = sys._getframe(1)
                while frame.f_back is not None and frame.f_locals.get("self") is self:
                    frame = frame.f_back
                part = parts and frame.f_globals.get("__name__") in _PARTS
                _keep(self, 0 if part else state.new_object(kind, frame))

        return __init__

    return make


def timed(number: int, what: int, flags: int, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that waits, and add its row.

    The wait is pending until it returns. It has failed if the function raises an exception, and timed out if
    that says so, or if the function returns False.

    Parameters
    ----------
    number, what : int
        Operation and object.
    flags : int
        Of the row, apart from the outcome.
    original : callable
    *args, **kwargs
        Its arguments.

    Returns
    -------
    object
        What the function returns.
    """
    start, pending = state.clock(), local.pending
    pending.append((number, what, start, 0))
    try:
        result = original(*args, **kwargs)
        if result is False:
            flags |= TIMED_OUT
        return result
    except BaseException as error:
        flags |= ending(error)
        raise
    finally:
        pending.pop()
        local.add((number, what, start, state.clock(), flags, 0))


def ending(error: BaseException) -> int:
    """Return the flag for a wait that an error has ended: timed out, or failed."""
    return TIMED_OUT if type(error).__name__ in _GIVEN_UP else FAILED


#: Errors that are raised where nothing has come in time, of several modules.
_GIVEN_UP = frozenset(("TimeoutError", "Empty", "Full"))


def _wait(
    kind: str,
    name: str,
    blocks: Callable[[Any], bool],
    part: Callable[[Any], bool] | None = None,
) -> Callable[[Any], Any]:
    """Wrap a method that waits; ``blocks`` says beforehand whether it will."""
    number = operation(f"{kind}.{name}", WAIT)

    def make(original: Any) -> Any:
        def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not state.recording or (part is not None and part(self)):
                return original(self, *args, **kwargs)
            what = number_of(self, kind)
            if not what:
                return original(self, *args, **kwargs)
            flags = (CONTENDED if blocks(self) else 0) | sys._getframe(1).f_lineno << LINE
            return timed(number, what, flags, original, self, *args, **kwargs)

        return wait

    return make


def _release(
    kind: str, name: str, part: Callable[[Any], bool] | None = None, many: bool = False
) -> Callable[[Any], Any]:
    """Wrap a method that releases waiting threads; ``many``: as many as its argument says, a row for each."""
    number = operation(f"{kind}.{name}", RELEASE)

    def make(original: Any) -> Any:
        def release(self: Any, *args: Any, **kwargs: Any) -> Any:
            what = 0
            if state.recording and not (part is not None and part(self)):
                what = number_of(self, kind)
            # Taken first, because a waiting thread may run before this one does again.
            at = state.clock()
            result = original(self, *args, **kwargs)
            if what:
                times = kwargs.get("n", args[0] if args else 1) if many else 1
                for _ in range(times):
                    local.add((number, what, at, at, 0, 0))
            return result

        return release

    return make


# -- threading ---------------------------------------------------------------------------------

_START, _END = operation("Thread.start", RELEASE), operation("Thread.end", RELEASE)
_JOIN = operation("Thread.join", WAIT)
_ARRIVE, _MEET = operation("Barrier.arrive", RELEASE), operation("Barrier.wait", WAIT)


def _of_part(condition: Any) -> bool:
    return is_part(getattr(condition, "_lock", None))


def _thread(thread: Any) -> int:
    number: int | None = getattr(thread, _NUMBER, None)
    if number is None:
        label = f"Thread:{thread.name}"
        count = _thread_names[label] = _thread_names.get(label, 0) + 1
        number = state.named_object(label if count == 1 else f"{label} ({count})")
        _keep(thread, number)
    return number


_thread_names: dict[str, int] = {}


def _start(original: Any) -> Any:
    def start(self: Any) -> None:
        what = _thread(self) if state.recording else 0
        at = state.clock()
        original(self)
        if what:
            local.add((_START, what, at, at, 0, 0))

    return start


def _join(original: Any) -> Any:
    def join(self: Any, timeout: Any = None) -> None:
        if not state.recording:
            original(self, timeout)
            return
        what, start = _thread(self), state.clock()
        flags = CONTENDED if self.is_alive() else 0
        pending = local.pending
        pending.append((_JOIN, what, start, 0))
        try:
            original(self, timeout)
        except BaseException:
            flags |= FAILED
            raise
        finally:
            pending.pop()
            if flags == CONTENDED and timeout is not None and self.is_alive():
                flags |= TIMED_OUT
            local.add((_JOIN, what, start, state.clock(), flags, 0))

    return join


def _run(original: Any) -> Any:
    def _bootstrap_inner(self: Any) -> None:
        try:
            original(self)
        finally:
            if state.recording:
                at = state.clock()
                local.add((_END, _thread(self), at, at, 0, 0))
                local.log.name = self.name

    return _bootstrap_inner


def _arrive(original: Any) -> Any:
    """Wrap what threads enter a round of a barrier by, one after another, once the round before is over."""

    def _enter(self: Any) -> None:
        original(self)
        what = number_of(self, "Barrier") if state.recording else 0
        if what:
            at = state.clock()
            local.add((_ARRIVE, what, at, at, 0, 0))

    return _enter


def _meet(original: Any) -> Any:
    def wait(self: Any, *args: Any, **kwargs: Any) -> int:
        what = number_of(self, "Barrier") if state.recording else 0
        if not what:
            return original(self, *args, **kwargs)  # type: ignore[no-any-return]
        flags = CONTENDED | sys._getframe(1).f_lineno << LINE
        start, pending = state.clock(), local.pending
        pending.append((_MEET, what, start, 0))
        try:
            index: int = original(self, *args, **kwargs)
            if index == self._parties - 1:  # the last one does not wait
                flags &= ~CONTENDED
            return index
        except BaseException as error:
            flags |= ending(error)
            raise
        finally:
            pending.pop()
            local.add((_MEET, what, start, state.clock(), flags, 0))

    return wait


def patch_threading(patches: Patches, threading: ModuleType) -> None:
    """Record conditions, semaphores, events, barriers and threads.

    Parameters
    ----------
    patches : Patches
    threading : module
    """
    for kind in ("Condition", "Semaphore", "Event", "Barrier"):
        patches.wrap(getattr(threading, kind), "__init__", register(kind))
    patches.wrap(threading.Condition, "wait", _wait("Condition", "wait", lambda _: True, _of_part))
    patches.wrap(threading.Condition, "notify", _release("Condition", "notify", _of_part))
    acquire = _wait("Semaphore", "acquire", lambda self: self._value == 0)
    patches.wrap(threading.Semaphore, "acquire", acquire)
    patches.wrap(threading.Semaphore, "__enter__", acquire)
    for cls in (threading.Semaphore, threading.BoundedSemaphore):
        patches.wrap(cls, "release", _release("Semaphore", "release", many=True))
    patches.wrap(threading.Event, "wait", _wait("Event", "wait", lambda self: not self._flag))
    patches.wrap(threading.Event, "set", _release("Event", "set"))
    patches.wrap(threading.Barrier, "wait", _meet)
    patches.wrap(threading.Barrier, "_enter", _arrive)
    patches.wrap(threading.Thread, "start", _start)
    patches.wrap(threading.Thread, "join", _join)
    patches.wrap(threading.Thread, "_bootstrap_inner", _run)


# -- queue -------------------------------------------------------------------------------------

_GET, _PUT = operation("Queue.get", WAIT), operation("Queue.put", RELEASE)
_FULL = operation("Queue.put-full", WAIT)
_QUEUE_JOIN, _DONE = operation("Queue.join", WAIT), operation("Queue.task_done", RELEASE)


def _put(original: Any) -> Any:
    def put(self: Any, item: Any, block: Any = True, timeout: Any = None) -> None:
        if not state.recording:
            original(self, item, block, timeout)
            return
        what, start = number_of(self, "Queue"), state.clock()
        if self.maxsize <= 0 or self._qsize() < self.maxsize:
            original(self, item, block, timeout)
            local.add((_PUT, what, start, start, 0, 0))
            return
        timed(_FULL, what, CONTENDED, original, self, item, block, timeout)
        end = state.clock()
        local.add((_PUT, what, end, end, 0, 0))

    return put


def _get(original: Any) -> Any:
    def get(self: Any, block: Any = True, timeout: Any = None) -> Any:
        if not state.recording:
            return original(self, block, timeout)
        flags = (0 if self._qsize() else CONTENDED) | sys._getframe(1).f_lineno << LINE
        # The item may be False, which is not a timeout.
        return timed(_GET, number_of(self, "Queue"), flags, lambda: [original(self, block, timeout)])[0]

    return get


def _queue_join(original: Any) -> Any:
    def join(self: Any) -> None:
        if not state.recording:
            original(self)
            return
        flags = CONTENDED if self.unfinished_tasks else 0
        timed(_QUEUE_JOIN, number_of(self, "Queue"), flags, original, self)

    return join


def _task_done(original: Any) -> Any:
    def task_done(self: Any) -> None:
        at = state.clock()
        original(self)
        if state.recording:
            local.add((_DONE, number_of(self, "Queue"), at, at, 0, 0))

    return task_done


def patch_queue(patches: Patches, queue: ModuleType) -> None:
    """Record queues: waits for items and for room, and tasks that are done.

    Parameters
    ----------
    patches : Patches
    queue : module
    """
    from ..shims.simple_queue import SimpleQueue

    patches.wrap(queue.Queue, "__init__", register("Queue"))
    patches.wrap(queue.Queue, "put", _put)
    patches.wrap(queue.Queue, "get", _get)
    patches.wrap(queue.Queue, "join", _queue_join)
    patches.wrap(queue.Queue, "task_done", _task_done)
    if SimpleQueue is not None and getattr(queue, "SimpleQueue", None) is SimpleQueue.__base__:
        patches.set(queue, "SimpleQueue", SimpleQueue)


# -- concurrent.futures ------------------------------------------------------------------------

_WAIT_ALL, _WAIT_ANY = operation("futures.wait-all", WAIT), operation("futures.wait-any", WAIT)


def _wait_for_many(base: ModuleType) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def wait(fs: Any, timeout: Any = None, return_when: Any = base.ALL_COMPLETED) -> Any:
            if not state.recording:
                return original(fs, timeout, return_when)
            futures = list(fs)
            what = state.group(tuple(sorted({number_of(future, "Future") for future in futures})))
            number = _WAIT_ALL if return_when == base.ALL_COMPLETED else _WAIT_ANY
            flags = CONTENDED if any(not future.done() for future in futures) else 0
            return timed(number, what, flags, original, futures, timeout, return_when)

        return wait

    return make


def _result(name: str) -> Callable[[Any], Any]:
    """Wrap what waits for a future's result, which may be False: that is no timeout."""
    number = operation(f"Future.{name}", WAIT)

    def make(original: Any) -> Any:
        def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not state.recording:
                return original(self, *args, **kwargs)
            flags = (0 if self.done() else CONTENDED) | sys._getframe(1).f_lineno << LINE
            raised: list[BaseException] = []

            def result() -> Any:
                try:
                    return original(self, *args, **kwargs)
                except BaseException as error:
                    if not self.done():
                        raise
                    raised.append(error)  # it is the result

            found = timed(number, number_of(self, "Future"), flags, lambda: [result()])[0]
            if raised:
                raise raised[0]
            return found

        return wait

    return make


def patch_futures(patches: Patches, base: ModuleType) -> None:
    """Record futures: who waits for a result and who sets it.

    Parameters
    ----------
    patches : Patches
    base : module
        ``concurrent.futures._base``.
    """
    patches.wrap(base.Future, "__init__", register("Future", parts=False))
    for name in ("result", "exception"):
        patches.wrap(base.Future, name, _result(name))
    for name in ("set_result", "set_exception", "cancel"):
        patches.wrap(base.Future, name, _release("Future", name))
    patches.wrap(base, "wait", _wait_for_many(base))


def patch_futures_package(patches: Patches, package: ModuleType) -> None:
    """Let a package that was imported before use the patched functions.

    Parameters
    ----------
    patches : Patches
    package : module
        ``concurrent.futures``.
    """
    if package.wait is not package._base.wait:
        patches.set(package, "wait", package._base.wait)
