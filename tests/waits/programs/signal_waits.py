"""Programs in which locks are signals, and threads meet: findings about them were false on busy machines.

Truth is given as in :mod:`known_waits`. They were written together with the rules that mend this.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

from .known_waits import USUAL, Known, together
from .unseen_waits import straggler


def signals_both_ways(times: int) -> None:
    """Two locks that one thread acquires and the other one releases, in turn; the last is never released."""
    ping, pong = threading.Lock(), threading.Lock()
    ping.acquire()
    pong.acquire()

    def serve() -> None:
        for _ in range(times):
            time.sleep(0.01)
            ping.release()
            pong.acquire()

    def answer() -> None:
        for _ in range(times):
            ping.acquire()
            time.sleep(0.01)
            pong.release()
        time.sleep(0.05)

    together(("server", serve), ("answerer", answer))


def signal_beside_kept() -> None:
    """A lock as a signal, and another one that a thread really keeps."""
    gate, kept = threading.Lock(), threading.Lock()
    gate.acquire()
    with kept:
        pass

    def wait() -> None:
        gate.acquire()
        kept.acquire()
        time.sleep(0.05)

    def open_() -> None:
        time.sleep(0.05)
        gate.release()

    together(("waiter", wait), ("opener", open_))


def baton(runners: int) -> None:
    """Each acquires the baton, and the next one releases it; the last one keeps it."""
    carried, passed = threading.Lock(), [threading.Event() for _ in range(runners + 1)]
    passed[0].set()

    def run(i: int) -> None:
        passed[i].wait()
        if i:
            carried.release()
        carried.acquire()
        time.sleep(0.02)
        passed[i + 1].set()

    together(*((f"runner-{i}", partial(run, i)) for i in range(runners)))


def meet_by_condition(threads: int, rounds: int) -> None:
    """A barrier made of a condition; the same one is always late."""
    meet, here, phase = threading.Condition(), [0], [0]

    def arrive() -> None:
        with meet:
            here[0] += 1
            mine = phase[0]
            if here[0] == threads:
                here[0], phase[0] = 0, mine + 1
                meet.notify_all()
            else:
                meet.wait_for(lambda: phase[0] > mine)

    def work(i: int) -> None:
        for _ in range(rounds):
            time.sleep(0.03 if i == 0 else 0.002 + 0.001 * i)
            arrive()

    together(*((f"phase-{i}", partial(work, i)) for i in range(threads)))


def _known() -> list[Known]:
    found: list[Known] = []

    def add(name: str, about: str, work: Any, *expected: str, also: Any = (), nobody: bool = False) -> None:
        found.append(Known(name, about, work, frozenset(expected), frozenset(also) | USUAL, nobody=nobody))

    add("two that take turns by locks", "Lock", partial(signals_both_ways, 6), nobody=True)
    add("a lock as a signal, and one that is kept", "Lock", signal_beside_kept, "held to the end")
    add("a baton", "Lock", partial(baton, 4), nobody=True)
    add("a barrier of 16 at which the same one is late", "Barrier", partial(straggler, 16, 12), "comes last")
    add("threads that meet by a condition", "Condition", partial(meet_by_condition, 8, 6),
        also=["farmer and workers"])  # fmt: skip
    return found


#: All programs.
PROGRAMS = _known()
