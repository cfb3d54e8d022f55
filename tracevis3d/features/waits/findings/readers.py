"""Findings about readers and writers: writers that wait while readers get in again and again.

Who reads and who writes is recognized by words of the functions that they pass, such as ``acquire_read``,
``WriteLock`` or ``pthread_rwlock_rdlock``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....trace.build import innermost
from ....trace.model import RELEASE, WAIT
from ....units import counted, duration
from ..outcomes import HOW, INFERRED
from .finding import Finding, several, titles

if TYPE_CHECKING:
    from ..waits import Waits

Ints = NDArray[np.int64]

#: Words of functions that read and that write what they share.
_READ = frozenset(("read", "reads", "reader", "readers", "reading", "rd", "rdlock", "shared"))
_WRITE = frozenset(("write", "writes", "writer", "writers", "writing", "wr", "wrlock", "exclusive"))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Minimum share of the trace that a writer waits, and how often readers get in meanwhile, in all and each.
_DELAYED, _PASSED, _PASSED_EACH = 0.02, 8, 4
_READS, _NEITHER, _WRITES = 1, 0, -1


def role(name: str) -> int:
    """Return whether a function reads (1) or writes (-1) what it shares with others, by its name; 0: neither.

    Parameters
    ----------
    name : str
        With the class or module that it is in, if any.

    Returns
    -------
    int

    Examples
    --------
    >>> role("ReadWriteLock.acquire_write"), role("WriteLock.acquire"), role("Queue.get")
    (-1, -1, 0)
    """
    # The innermost part that says one of both: a class may be named after both.
    for part in reversed(re.split(r"[.:/ ]+", name.partition(" (")[0])):
        words = {word.lower() for word in _WORD.findall(part)}
        reads, writes = bool(words & _READ), bool(words & _WRITE)
        if reads != writes:
            return _READS if reads else _WRITES
    return _NEITHER


def findings(waits: Waits) -> list[Finding]:
    """Return one finding for each object for which writers wait while readers go first.

    Parameters
    ----------
    waits : Waits

    Returns
    -------
    list of Finding
    """
    roles = np.array([role(label) for label in waits.trace.functions.label], np.int8)
    if not len(waits.trace) or not (roles == _WRITES).any():
        return []
    ops = waits.ops
    rows, object = ops.per_object(np.flatnonzero(ops.kind == WAIT))
    entry = _entries(waits, rows, roles)
    function = waits.trace.calls.function[entry]
    does = np.where(entry >= 0, roles[function], _NEITHER)
    late = (does == _WRITES) & ops.blocked[rows] & ~ops.nested[rows]
    late &= ops.lasted[rows] >= _DELAYED * waits.trace.span_ns
    found = []
    for o in np.unique(object[late]).tolist():
        mine = object == o
        shared = np.isin(object, [o, *_released_within(waits, rows[late & mine])])
        entered = np.unique(function[shared & (does == _READS)])
        if len(entered):
            found += _of_object(waits, o, rows[late & mine], entered)
    return found


def _released_within(waits: Waits, late: Ints) -> list[int]:
    """Return the objects that waits give back as they begin: a condition's lock, which readers acquire."""
    ops = waits.ops
    found: set[int] = set()
    for row in late.tolist():
        inside = row + 1
        if inside < len(ops) and ops.kind[inside] == RELEASE and ops.thread[inside] == ops.thread[row]:
            within = ops.start[inside] < ops.end[row]
            found.update(ops.object[ops.first[inside] : ops.first[inside + 1]].tolist() if within else ())
    return sorted(found)


def _entries(waits: Waits, rows: Ints, roles: NDArray[np.int8]) -> Ints:
    """Return the innermost call around each operation of ``rows`` that reads or writes; -1: none does."""
    ops, calls, threads = waits.ops, waits.trace.calls, waits.trace.threads
    around = innermost(calls, threads.first, threads.count, ops.thread[rows], ops.start[rows])
    call = np.where(ops.call[rows] >= 0, ops.call[rows], around).astype(np.int64)
    while True:
        up = (call >= 0) & (roles[calls.function[call]] == _NEITHER)
        if not up.any():
            return call
        call[up] = calls.parent[call[up]]


def _of_object(waits: Waits, object: int, late: Ints, functions: Ints) -> list[Finding]:
    """Return the finding about an object for which the waits ``late`` are of writers."""
    ops, calls, trace = waits.ops, waits.trace.calls, waits.trace
    reads = np.flatnonzero(np.isin(calls.function, functions))
    # Of what begins and what ends reading, the first is how readers get in.
    begun = {int(f): int(calls.start[reads[calls.function[reads] == f]].min()) for f in functions}
    through = min(begun, key=lambda f: begun[f])
    reads = reads[calls.function[reads] == through]
    thread, start, end = calls.thread[reads], calls.start[reads], calls.end[reads]
    passed: list[Ints] = []
    kept: list[int] = []
    for row in late.tolist():
        # Readers that got in, and did not wait for the writer themselves.
        inside = (start >= ops.start[row]) & (end <= ops.end[row]) & (thread != ops.thread[row])
        readers = np.unique(thread[inside])
        if inside.sum() >= max(_PASSED, _PASSED_EACH * len(readers)):
            passed.append(np.flatnonzero(inside))
            kept.append(row)
    if not kept:
        return []
    every, counts = np.unique(thread[np.concatenate(passed)], return_counts=True)
    readers = every[np.argsort(-counts, kind="stable")].tolist()
    lasted = ops.lasted[kept]
    writers = list(dict.fromkeys(ops.thread[kept][np.argsort(-lasted, kind="stable")].tolist()))
    most, longest = max(len(one) for one in passed), duration(int(lasted.max()))
    who, late_ones = several(titles(waits, readers)), several(titles(waits, writers))
    name, times, entry = ops.objects[object], counted(most, "time"), trace.functions.label[through]
    wait = "waits" if len(writers) == 1 else "wait"
    read = f"{who} {'reads' if len(readers) == 1 else 'read'} {times}"
    return [
        Finding(
            "readers first",
            f"{read} ({entry}) while {late_ones} {wait} up to {longest} for {name} to write: "
            "readers go first",
            int(lasted.sum()), tuple(dict.fromkeys((*readers, *writers))), (name,),
            int(ops.start[kept].min()), int(ops.end[kept].max()), len(kept), int(ops.call[kept[0]]),
            how=HOW[INFERRED], causes=_causes(waits, np.array(kept)),
            headline=f"{_many(writers, late_ones)} {wait} up to {longest} to write while "
            f"{_many(readers, who)} {'reads' if len(readers) == 1 else 'read'} {times}",
        )
    ]  # fmt: skip


def _many(threads: list[int], names: str) -> str:
    """Return the name of one thread, or how many there are, for a title."""
    return names if len(threads) == 1 else counted(len(threads), "thread")


def _causes(waits: Waits, rows: Ints) -> tuple[tuple[int, int, int, int], ...]:
    """Return the sites that delayed waits, with the delays, the largest first."""
    causes = waits.causes
    mine = np.isin(causes.wait, rows)
    site = np.stack([causes.thread[mine], causes.function[mine], causes.line[mine]], axis=1).astype(np.int64)
    sites, back = np.unique(site, axis=0, return_inverse=True)
    ns = np.bincount(back.reshape(-1), causes.ns[mine], len(sites)).astype(np.int64)
    order = np.argsort(-ns, kind="stable")
    found = [(*sites[i].tolist(), int(ns[i])) for i in order.tolist()]
    return tuple((thread, function, line, delay) for thread, function, line, delay in found)
