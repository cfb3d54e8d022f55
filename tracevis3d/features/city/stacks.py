"""The stacks at a moment, and how they came about: where the calls of a thread were just before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...trace.model import Trace
from .metrics import Ints

#: Threads whose stacks are looked up, those with the most calls first.
THREADS = 8


@dataclass(frozen=True, eq=False)
class Stack:
    """What a thread does at a moment, by parts of the program.

    Attributes
    ----------
    thread : int
    call : int64 (k,)
        The outermost call of each part that the stack enters, the root first; calls of one part in a row are
        one.
    part : int64 (k,)
        No two in a row are the same.
    trail : int64 (t,)
        The parts that the innermost call was in before, the last one first; no two in a row are the same.
    """

    thread: int
    call: Ints
    part: Ints
    trail: Ints


def stacks_at(trace: Trace, of_function: Ints, moment: int, trail: int) -> list[Stack]:
    """Return the stacks of the threads that are in a call at a moment.

    Parameters
    ----------
    trace : Trace
    of_function : int64 (functions,)
        The part of each.
    moment : int
        Nanoseconds.
    trail : int
        How many parts the innermost calls are followed back.

    Returns
    -------
    list of Stack
        Of the :data:`THREADS` threads with the most calls, those that run.
    """
    threads, found = trace.threads, []
    for thread in np.argsort(-threads.count, kind="stable")[:THREADS].tolist():
        stack = _stack_of(trace, of_function, thread, moment, trail)
        if stack is not None:
            found.append(stack)
    return found


def _stack_of(trace: Trace, of_function: Ints, thread: int, moment: int, trail: int) -> Stack | None:
    calls = trace.calls
    low = int(trace.threads.first[thread])
    starts = calls.start[low : low + int(trace.threads.count[thread])]
    last = low + int(np.searchsorted(starts, moment, "right")) - 1
    inner = last
    while inner >= low and calls.end[inner] <= moment:
        inner = int(calls.parent[inner])
    if inner < low:
        return None
    chain = []
    while inner >= 0:
        chain.append(inner)
        inner = int(calls.parent[inner])
    call = np.array(chain[::-1], np.int64)
    part = of_function[calls.function[call]]
    enters = np.append(True, part[1:] != part[:-1])
    return Stack(thread, call[enters], part[enters], _trail(trace, of_function, low, last, trail))


def _trail(trace: Trace, of_function: Ints, low: int, last: int, most: int) -> Ints:
    """Return the parts of the calls that began up to ``last``, backwards, without repetitions in a row."""
    step = 16 * most
    while True:
        begin = max(last - step + 1, low)
        part = of_function[trace.calls.function[begin : last + 1]][::-1]
        other = np.append(True, part[1:] != part[:-1])
        kept = part[other]
        if len(kept) > most or begin == low or step >= 4096 * most:
            return np.asarray(kept[: most + 1], np.int64)
        step *= 4
