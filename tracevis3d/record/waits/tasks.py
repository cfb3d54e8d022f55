"""asyncio: what its tasks wait for, each task on a track of its own.

Tasks take turns on one thread, so their waits overlap there; a task by itself waits for one thing at a time.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .. import state
from ..operations import CALL, RELEASE, WAIT, operation
from ..output.spool import CONTENDED, FAILED, TIMED_OUT
from ..patches import Patches
from .synchronization import ending, number_of, register

_logs: dict[int, tuple[weakref.ref[Any], state.ThreadLog]] = {}
#: When each task's last wait ended, by the number of its buffer.
_ended: dict[int, float] = {}
#: When tasks give up what they wait for, in their loop's seconds: they are cancelled then.
_due: dict[int, float] = {}
_SLEEP, _RESULT = operation("asyncio.sleep", CALL), operation("Future.result", WAIT)


def _log(current_task: Callable[[], Any]) -> state.ThreadLog:
    """Return the buffer of the running task; the thread's where no task runs."""
    try:
        task = current_task()
    except RuntimeError:
        task = None
    if task is None:
        return state.local.log
    known = _logs.get(id(task))
    if known is not None and known[0]() is task:
        return known[1]
    log = state.new_track(f"{task.get_name()} (asyncio)")
    _own(task, log, True)
    return log


def _own(task: Any, log: state.ThreadLog, ends: bool) -> None:
    """Let what a task does be recorded in a buffer, which may end with it."""
    key = id(task)

    def gone(_: object) -> None:
        log.ended |= ends
        _logs.pop(key, None)
        _ended.pop(log.number, None)

    _logs[key] = weakref.ref(task, gone), log


def _has_given_up(error: BaseException, current_task: Callable[[], Any]) -> bool:
    """Return whether the running task is cancelled because its time is over."""
    if type(error).__name__ != "CancelledError":
        return False
    task = current_task()
    due = _due.get(id(task))
    return due is not None and bool(task.get_loop().time() >= due)


def _wait(kind: str, name: str, blocks: Callable[[Any], bool], find: Any) -> Callable[[Any], Any]:
    number = operation(f"asyncio.{kind}.{name}", WAIT)

    def make(original: Any) -> Any:
        async def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not state.recording:
                return await original(self, *args, **kwargs)
            what, log = number_of(self, f"asyncio.{kind}"), _log(find)
            flags = CONTENDED if blocks(self) else 0
            start = state.clock()
            mine = (number, what, start, 0)
            log.pending.append(mine)
            try:
                return await original(self, *args, **kwargs)
            except BaseException as error:
                flags |= TIMED_OUT if _has_given_up(error, find) else ending(error)
                raise
            finally:
                log.pending.remove(mine)
                _ended[log.number] = end = state.clock()
                log.rows.extend((number, what, start, end, flags, 0))

        return wait

    return make


def _release(kind: str, name: str, find: Any) -> Callable[[Any], Any]:
    number = operation(f"asyncio.{kind}.{name}", RELEASE)

    def make(original: Any) -> Any:
        def release(self: Any, *args: Any, **kwargs: Any) -> Any:
            at = state.clock()
            result = original(self, *args, **kwargs)
            if state.recording:
                _log(find).rows.extend((number, number_of(self, f"asyncio.{kind}"), at, at, 0, 0))
            return result

        return release

    return make


def _sleep(find: Any) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        async def sleep(delay: Any, result: Any = None) -> Any:
            log, start = _log(find), state.clock()
            mine = (_SLEEP, 0, start, 0)
            log.pending.append(mine)
            try:
                return await original(delay, result)
            finally:
                log.pending.remove(mine)
                if state.recording:
                    _ended[log.number] = end = state.clock()
                    log.rows.extend((_SLEEP, 0, start, end, 0, 0))

        return sleep

    return make


def _wrap_future(find: Any) -> Callable[[Any], Any]:
    """Wrap what makes a task's future of a thread's: ``run_in_executor`` and ``to_thread`` use it.

    A task waits for it if it is what the task waits for when the result comes.
    """

    def make(original: Any) -> Any:
        def wrap_future(future: Any, *args: Any, **kwargs: Any) -> Any:
            made = original(future, *args, **kwargs)
            try:
                task = find()
            except RuntimeError:
                task = None
            if not state.recording or task is None or made is future:
                return made
            log, what, since = _log(find), number_of(future, "Future"), state.clock()

            def done(_: object) -> None:
                flags = CONTENDED | (FAILED if made.cancelled() else 0)
                if state.recording and getattr(task, "_fut_waiter", None) is made:
                    # It may have waited for something else first.
                    start, end = max(since, _ended.get(log.number, since)), state.clock()
                    _ended[log.number] = end
                    log.rows.extend((_RESULT, what, start, end, flags, 0))

            made.add_done_callback(done)
            return made

        return wrap_future

    return make


def _wait_for(asyncio: ModuleType) -> Callable[[Any], Any]:
    """Wrap ``wait_for``, which before Python 3.12 waits in a task of its own, for its caller."""

    def make(original: Any) -> Any:
        async def wait_for(fut: Any, timeout: Any, *args: Any, **kwargs: Any) -> Any:
            own = timeout is not None and timeout > 0 and asyncio.iscoroutine(fut)
            if state.recording and own and asyncio.current_task() is not None:
                fut, log = asyncio.ensure_future(fut), _log(asyncio.current_task)
                _own(fut, log, False)
                key = id(fut)
                _due[key] = fut.get_loop().time() + timeout
                fut.add_done_callback(lambda _: _due.pop(key, None))
            return await original(fut, timeout, *args, **kwargs)

        return wait_for

    return make


def _on_timeout(original: Any) -> Any:
    def on_timeout(self: Any) -> None:
        _due[id(self._task)] = 0.0
        original(self)

    return on_timeout


def _after_timeout(original: Any) -> Any:
    async def __aexit__(self: Any, *args: Any) -> Any:  # noqa: N807
        _due.pop(id(self._task), None)
        return await original(self, *args)

    return __aexit__


def patch_asyncio(patches: Patches, asyncio: ModuleType) -> None:
    """Record asyncio's locks, events, semaphores, conditions and queues.

    Parameters
    ----------
    patches : Patches
    asyncio : module
    """
    find = asyncio.current_task
    for kind in ("Lock", "Event", "Semaphore", "Condition", "Queue"):
        patches.wrap(getattr(asyncio, kind), "__init__", register(f"asyncio.{kind}", parts=False))
    for kind, names, blocks in (
        ("Lock", ("acquire",), lambda self: self.locked()),
        ("Event", ("wait",), lambda self: not self.is_set()),
        ("Semaphore", ("acquire",), lambda self: self.locked()),
        ("Condition", ("wait",), lambda _: True),
    ):
        for name in names:
            patches.wrap(getattr(asyncio, kind), name, _wait(kind, name, blocks, find))
    for kind, names in (("Lock", ("release",)), ("Event", ("set",)), ("Semaphore", ("release",))):
        for name in names:
            patches.wrap(getattr(asyncio, kind), name, _release(kind, name, find))
    patches.wrap(asyncio.Condition, "notify", _release("Condition", "notify", find))
    patches.wrap(asyncio.Queue, "get", _wait("Queue", "get", lambda self: self.empty(), find))
    patches.wrap(asyncio.Queue, "put_nowait", _release("Queue", "put", find))
    patches.wrap(asyncio.Queue, "join", _wait("Queue", "join", lambda self: self._unfinished_tasks > 0, find))
    patches.wrap(asyncio.Queue, "task_done", _release("Queue", "task_done", find))
    patches.wrap(asyncio, "sleep", _sleep(find))
    for module in (asyncio.futures, asyncio):
        patches.wrap(module, "wrap_future", _wrap_future(find))
    timeout = getattr(asyncio, "Timeout", None)
    if hasattr(timeout, "_on_timeout"):
        patches.wrap(timeout, "_on_timeout", _on_timeout)
        patches.wrap(timeout, "__aexit__", _after_timeout)
    if sys.version_info < (3, 12):
        patches.wrap(asyncio, "wait_for", _wait_for(asyncio))
