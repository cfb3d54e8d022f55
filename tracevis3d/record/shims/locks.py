"""Locks that record who asked for them, who got them and who let them go.

A raw lock's ``__enter__`` reaches no tracer, so what ``threading.Lock()`` and ``threading.RLock()`` return is
replaced. Acquiring a lock that is free takes no time on record: the clock is read once. Rows are appended by
an operator, because profile hooks are called for methods.
"""

from __future__ import annotations

import _thread
import sys
import threading
from types import FrameType
from typing import Any

from .. import state
from ..fast import MODULE
from ..operations import RELEASE, WAIT, operation
from ..output.spool import CONTENDED, FAILED, LINE, TIMED_OUT
from ..state import local

LOCK_ACQUIRE, LOCK_RELEASE = operation("Lock.acquire", WAIT), operation("Lock.release", RELEASE)
RLOCK_ACQUIRE, RLOCK_RELEASE = operation("RLock.acquire", WAIT), operation("RLock.release", RELEASE)

_allocate = _thread.allocate_lock
_RawLock = type(_allocate())
_RawRLock: Any = _thread.RLock
_threadings_rlock = threading.RLock
_try_rlock, _release_rlock = _RawRLock.acquire, _RawRLock.release

#: Modules whose locks are a part of something that is recorded as a whole; they count where they block.
_PARTS = frozenset(
    ("threading", "queue", "concurrent.futures._base", "concurrent.futures.thread", "multiprocessing.queues")
)
#: What a part counts: each thread that waits for it, and whether its holder had to; then its release is
#: recorded, too.
_WAITS, _HAD_TO_WAIT = 2, 1
#: Modules whose locks are left as they are.
_LEFT = frozenset(("importlib._bootstrap", "_frozen_importlib", "importlib._bootstrap_external"))


def _maker(frame: FrameType | None) -> tuple[str, FrameType | None]:
    """Return the module that makes a lock, and its frame; a condition's lock is its maker's."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not (
            (module == "threading" and frame.f_code.co_qualname == "Condition.__init__")
            or frame.f_code.co_filename.startswith(state.FOLDER)
        ):
            return module, frame
        frame = frame.f_back
    return "", None


def _line() -> int:
    """Return the line of the program's that asks for a lock, as flags have it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(state.FOLDER):
        frame = frame.f_back
    return frame.f_lineno << LINE if frame is not None else 0


def _append(asked: list[list[int]] | None, one: list[int]) -> list[list[int]]:
    if asked is None:
        return [one]
    asked.append(one)
    return asked


def _answer(lock: Lock | RLock, holder: int) -> None:
    """Set the holder for threads that asked while the lock was taken and its new holder had not run yet.

    The thread that releases it next is the one that had it then.
    """
    asked, lock._asked = lock._asked, None
    for one in asked or ():
        one[0] = holder


class _LockMeta(type):
    """Makes a lock, depending on the caller: recorded, recorded where it blocks, or raw."""

    def __call__(cls) -> Any:
        if not state.recording:
            return _allocate()
        module, frame = _maker(sys._getframe(1))
        if module in _LEFT:
            return _allocate()
        made = type.__call__(cls)
        made._inner = module in _PARTS
        made._raw = _allocate()
        made._number = state.new_object("Lock", frame)
        made._holder = made._waiting = 0
        made._asked = None
        return made

    def __instancecheck__(cls, other: object) -> bool:
        return type.__instancecheck__(cls, other) or isinstance(other, _RawLock)


class _Fields:
    """Those of a lock; in C where that was built (``fast/_fast.c``), with ``acquire`` and ``release``."""

    __slots__ = ("__weakref__", "_asked", "_holder", "_inner", "_number", "_raw", "_waiting")


_NO_MORE_SLOTS: tuple[str, ...] = ()
_Base: Any = _Fields if MODULE is None else MODULE.Lock


class Lock(_Base, metaclass=_LockMeta):  # type: ignore[misc]
    """A lock as ``threading.Lock()`` returns it, recorded; or one within an event, a queue or the like.

    An inner one is recorded where a thread has to wait for it.
    """

    __slots__ = _NO_MORE_SLOTS
    _raw: Any
    _number: int
    _inner: bool
    _holder: int
    _asked: list[list[int]] | None

    def _acquire(self, blocking: Any = True, timeout: Any = -1) -> bool:
        start = state.clock()
        usual = blocking is True and timeout == -1
        if usual and self._raw.acquire(False):
            log = local.log
            self._holder = log.number
            if state.recording and not self._inner:
                rows = log.rows
                line = sys._getframe(1).f_lineno << LINE
                rows += (LOCK_ACQUIRE, self._number, start, start, line, 0)
            return True
        if self._inner:
            return self._ask_inside(start, blocking, timeout)
        return self._ask(start, blocking, timeout, usual)

    def _ask(self, start: float, blocking: Any, timeout: Any, tried: bool) -> bool:
        """Acquire in a way that may block, fail or raise; ``tried`` says that it was not free."""
        asked = [self._holder]
        flags = CONTENDED if tried or self._raw.locked() else 0
        pending = local.pending
        if blocking:
            if flags and not asked[0]:
                self._asked = _append(self._asked, asked)
            pending.append((LOCK_ACQUIRE, self._number, start, asked[0]))
        try:
            got: bool = self._raw.acquire(blocking, timeout)
        finally:
            if blocking:
                pending.pop()
        if got:
            self._holder = local.number
        else:
            flags |= TIMED_OUT if blocking else FAILED
        if state.recording:
            end = state.clock()
            local.add((LOCK_ACQUIRE, self._number, start, end, flags | _line(), asked[0]))
        return got

    def _ask_inside(self, start: float, blocking: Any, timeout: Any) -> bool:
        if not blocking or timeout != -1:
            got: bool = self._raw.acquire(blocking, timeout)
            if got:
                self._holder = local.number
            return got
        self._waiting += _WAITS
        got = False
        try:
            got = self._ask(start, blocking, timeout, True)
        finally:
            self._waiting -= _WAITS
        if got:
            self._waiting |= _HAD_TO_WAIT
        return got

    def _release(self) -> None:
        if self._inner and not self._waiting:
            self._holder = 0
            self._asked = None
            self._raw.release()
            return
        # The time is taken first, because a waiting thread may run before this one does again.
        at = state.clock()
        holder, self._holder = self._holder, 0
        self._waiting &= ~_HAD_TO_WAIT
        if self._asked:
            _answer(self, holder)
        try:
            self._raw.release()
        except BaseException:
            self._holder = holder
            raise
        if state.recording:
            rows = local.log.rows
            rows += (LOCK_RELEASE, self._number, at, at, 0, 0)

    def locked(self) -> bool:
        return bool(self._raw.locked())

    locked_lock = locked

    def _is_owned(self) -> bool:
        # Avoids that a condition finds it out by trying.
        return bool(self._raw.locked())

    def _at_fork_reinit(self) -> None:
        self._raw._at_fork_reinit()
        self._holder = 0

    def __repr__(self) -> str:
        return repr(self._raw)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot pickle '_thread.lock' object")


def _exit(self: Lock, *error: object) -> None:
    self._release()


if MODULE is None:
    for _name in ("acquire", "acquire_lock", "__enter__"):
        setattr(Lock, _name, Lock._acquire)
    for _name in ("release", "release_lock"):
        setattr(Lock, _name, Lock._release)
    Lock.__exit__ = _exit


class _RLockMeta(type):
    """Makes a lock, and takes raw ones for its own, as their type's ``isinstance`` does."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _make_rlock(sys._getframe(1), cls, *args, **kwargs)

    def __instancecheck__(cls, other: object) -> bool:
        return type.__instancecheck__(cls, other) or isinstance(other, _RawRLock)


class RLock(_RawRLock, metaclass=_RLockMeta):  # type: ignore[misc]
    """A lock as ``threading.RLock()`` returns it; the outermost acquisition and release are recorded."""

    __slots__ = ("_asked", "_depth", "_holder", "_number", "_part", "_waiting")
    _asked: list[list[int]] | None
    _depth: int
    _holder: int
    _number: int
    _part: bool
    _waiting: int

    def acquire(self, blocking: Any = True, timeout: Any = -1) -> bool:
        start = state.clock()
        usual = blocking is True and timeout == -1
        if usual and _try_rlock(self, False):
            self._depth += 1
            if self._depth == 1:
                log = local.log
                self._holder = log.number
                if state.recording and not self._part:
                    rows = log.rows
                    line = sys._getframe(1).f_lineno << LINE
                    rows += (RLOCK_ACQUIRE, self._number, start, start, line, 0)
            return True
        return self._ask(start, blocking, timeout, usual)

    __enter__ = acquire

    def _ask(self, start: float, blocking: Any, timeout: Any, tried: bool) -> bool:
        asked = [self._holder]
        inner = self._is_owned()
        flags = CONTENDED if tried or (asked[0] and not inner) else 0
        pending = local.pending
        if blocking:
            if flags and not asked[0]:
                self._asked = _append(self._asked, asked)
            pending.append((RLOCK_ACQUIRE, self._number, start, asked[0]))
        self._waiting += _WAITS
        try:
            got: bool = _try_rlock(self, blocking, timeout)
        finally:
            self._waiting -= _WAITS
            if blocking:
                pending.pop()
        if got:
            self._depth += 1
            self._holder = local.number
            if flags and not inner:
                self._waiting |= _HAD_TO_WAIT
        else:
            flags |= TIMED_OUT if blocking else FAILED
        if state.recording and not inner and (flags & CONTENDED or not self._part):
            end = state.clock()
            local.add((RLOCK_ACQUIRE, self._number, start, end, flags | _line(), asked[0]))
        return got

    def release(self) -> None:
        if self._depth != 1 or not self._is_owned():
            _release_rlock(self)  # raises if this thread is not the owner
            self._depth -= 1
            return
        at = state.clock()
        if self._asked:
            _answer(self, self._holder)
        known = self._waiting or not self._part
        self._waiting &= ~_HAD_TO_WAIT
        self._depth = self._holder = 0
        _release_rlock(self)
        if state.recording and (known or self._waiting):
            local.add((RLOCK_RELEASE, self._number, at, at, 0, 0))

    def __exit__(self, *error: object) -> None:
        self.release()

    # A condition releases all levels together, and acquires them again.

    def _release_save(self) -> Any:
        depth, at = self._depth, state.clock()
        if self._is_owned():
            if self._asked:
                _answer(self, self._holder)
            self._depth = self._holder = 0
        known = self._waiting or not self._part
        self._waiting &= ~_HAD_TO_WAIT
        saved = _RawRLock._release_save(self)
        if state.recording and (known or self._waiting):
            local.add((RLOCK_RELEASE, self._number, at, at, 0, 0))
        return saved, depth

    def _acquire_restore(self, saved: Any) -> None:
        start, holder = state.clock(), self._holder
        inner, depth = saved
        pending = local.pending
        pending.append((RLOCK_ACQUIRE, self._number, start, holder))
        self._waiting += _WAITS
        try:
            _RawRLock._acquire_restore(self, inner)
        finally:
            self._waiting -= _WAITS
            pending.pop()
        self._depth, self._holder = depth, local.number
        if holder:
            self._waiting |= _HAD_TO_WAIT
        if state.recording and (holder or not self._part):
            flags = CONTENDED if holder else 0
            end = state.clock()
            local.add((RLOCK_ACQUIRE, self._number, start, end, flags | _line(), holder))

    def _at_fork_reinit(self) -> None:
        _RawRLock._at_fork_reinit(self)
        self._depth = self._holder = 0

    def __repr__(self) -> str:
        return str(_RawRLock.__repr__(self)).replace(" RLock object", " _thread.RLock object", 1)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot pickle '_thread.RLock' object")


def _make_rlock(frame: FrameType, cls: Any, *args: Any, **kwargs: Any) -> Any:
    module, maker = _maker(frame)
    if not state.recording or module in _LEFT or args or kwargs:
        # It takes no arguments: the original raises the error.
        return _RawRLock(*args, **kwargs)
    made = type.__call__(cls)
    made._part = module in _PARTS
    made._number = state.new_object("RLock", maker)
    made._depth = made._holder = made._waiting = 0
    made._asked = None
    return made


def make_rlock(*args: Any, **kwargs: Any) -> Any:
    """Return a lock in place of ``threading.RLock``, which is a function.

    Parameters
    ----------
    *args, **kwargs
        As for the original, which accepts none from Python 3.15 on.

    Returns
    -------
    RLock or _thread.RLock
        Recorded, unless nothing is recorded now or the caller is the import system.
    """
    if threading._CRLock is not RLock:  # type: ignore[attr-defined]
        # gevent has said that locks are to be Python's own, which it adapts.
        return _threadings_rlock(*args, **kwargs)
    if (args or kwargs) and (3, 13) <= sys.version_info < (3, 15):
        import warnings

        text = "Passing arguments to RLock is deprecated and will be removed in 3.15"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
    return _make_rlock(sys._getframe(1), RLock, *args, **kwargs)


for _cls, _like in ((Lock, _RawLock), (RLock, _RawRLock)):
    # Their printed form stays the same.
    _cls.__name__ = _cls.__qualname__ = _like.__name__
    _cls.__module__ = "_thread"


def is_part(lock: Any) -> bool:
    """Return whether a lock (a condition's) is a part of something that is recorded as a whole, or raw."""
    kind = type(lock)
    if kind is _RawLock or kind is _RawRLock:
        return True
    return bool((kind is Lock and lock._inner) or (kind is RLock and lock._part))
