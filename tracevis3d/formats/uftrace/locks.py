"""What functions of POSIX threads do to the objects that are their first arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...trace.model import RELEASE, WAIT

if TYPE_CHECKING:
    from ...trace.recording import Recording

#: Function, kind, what its first argument is, whether the second is a mutex that is free while it waits.
OPERATIONS = (
    ("pthread_mutex_lock", WAIT, "mutex", False),
    ("pthread_mutex_timedlock", WAIT, "mutex", False),
    ("pthread_mutex_unlock", RELEASE, "mutex", False),
    ("pthread_cond_wait", WAIT, "condition", True),
    ("pthread_cond_timedwait", WAIT, "condition", True),
    ("pthread_cond_signal", RELEASE, "condition", False),
    ("pthread_cond_broadcast", RELEASE, "condition", False),
    ("pthread_rwlock_rdlock", WAIT, "rwlock", False),
    ("pthread_rwlock_wrlock", WAIT, "rwlock", False),
    ("pthread_rwlock_unlock", RELEASE, "rwlock", False),
    ("pthread_spin_lock", WAIT, "spinlock", False),
    ("pthread_spin_unlock", RELEASE, "spinlock", False),
    ("pthread_barrier_wait", WAIT, "barrier", False),
    ("sem_wait", WAIT, "semaphore", False),
    ("sem_timedwait", WAIT, "semaphore", False),
    ("sem_post", RELEASE, "semaphore", False),
)
_NUMBERS = {name: number for number, (name, *_) in enumerate(OPERATIONS)}


def operation_of(function: str) -> int:
    """Return the number of what a function does; -1 if it does nothing to a lock."""
    return _NUMBERS.get(function.partition("@")[0], -1)


def add_operations(
    recording: Recording,
    thread: int,
    first: int,
    operation: NDArray[np.int64],
    kind: NDArray[np.uint8],
    key: NDArray[np.int32],
    time: NDArray[np.int64],
    argument: NDArray[np.uint64],
    second: NDArray[np.uint64],
) -> None:
    """Add the waits and releases of one thread whose arguments were recorded.

    Parameters
    ----------
    recording : Recording
    thread : int
    first : int
        The event of the first row.
    operation : int64 (keys,)
        Index into :data:`OPERATIONS` of each key, -1 for none.
    kind, key, time : (n,)
        0 for an entry and 1 for an exit, number of the function's address, nanoseconds.
    argument, second : uint64 (n,)
        The first two arguments of an entry, 0 where there are none.
    """
    if not len(operation):
        return
    rows = np.flatnonzero((kind == 0) & (operation[key] >= 0) & (argument != 0))
    if not len(rows):
        return
    what = operation[key[rows]]
    kinds = np.array([entry[1] for entry in OPERATIONS])[what]
    _add(recording, thread, kinds, [OPERATIONS[w][0] for w in what.tolist()], time[rows], first + rows,
         [f"{OPERATIONS[w][2]} 0x{a:x}" for w, a in zip(what.tolist(), argument[rows].tolist())])  # fmt: skip
    # While a thread waits for a condition, its mutex is free.
    frees = rows[np.array([entry[3] for entry in OPERATIONS])[what] & (second[rows] != 0)]
    if not len(frees):
        return
    mutexes = [f"mutex 0x{a:x}" for a in second[frees].tolist()]
    none = np.full(len(frees), -1)
    unlock, lock = np.full(len(frees), RELEASE), np.full(len(frees), WAIT)
    _add(recording, thread, unlock, ["pthread_mutex_unlock"] * len(frees), time[frees], none, mutexes)
    back = _exits(kind, key, frees)
    known = back >= 0
    again = [mutex for mutex, is_known in zip(mutexes, known.tolist()) if is_known]
    names = ["pthread_mutex_lock"] * len(again)
    _add(recording, thread, lock[known], names, time[back[known]], none[known], again)


def _exits(kind: NDArray[np.uint8], key: NDArray[np.int32], entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row in which each entry's function exits next; -1 if it does not. It calls itself never."""
    found = np.full(len(entries), -1, np.int64)
    for one in np.unique(key[entries]).tolist():
        exits = np.flatnonzero((kind == 1) & (key == one))
        mine = key[entries] == one
        at = np.searchsorted(exits, entries[mine])
        found[mine] = np.where(at < len(exits), np.append(exits, -1)[at], -1)
    return found


def _add(
    recording: Recording,
    thread: int,
    kinds: NDArray[Any],
    names: list[str],
    time: NDArray[np.int64],
    event: NDArray[np.int64],
    objects: list[str],
) -> None:
    recording.add_sync(
        thread=np.full(len(names), thread),
        kind=kinds,
        name=[recording.text("sync", name) for name in names],
        start=time,
        event=event,
        objects=[(recording.text("objects", one),) for one in objects],
    )
