"""Alarms about memory: a call site that only allocates, beside one that frees what it allocates."""

import numpy as np
import pytest

from tracevis3d import units
from tracevis3d.features.memory.live.alarms import MemoryAlarms
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import Batch, Names, Welcome

ALLOC, FREE = 0, 1
MS = 1_000_000


def sites(keeps: bool, size: int, seconds: int = 12) -> list[tuple[str, str]]:
    """Return the kinds and call sites of the alarms at the end of some seconds of two call sites."""
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, ("base (/a.py:1)", "remember (/a.py:7)", "compute (/a.py:9)")))
    growing.name(Names("threads", 0, ((1, 1, "main"),)))
    growing.name(Names("frames", 0, ((0, -1, 1), (1, -1, 8), (2, -1, 10))))
    alarms, last, found = MemoryAlarms(growing), -1, []
    assert alarms.look(0) == []
    rows = [(ALLOC, 0, 1 << 40, 1 << 20, 0)]
    for step in range(20 * seconds):
        at = (50 * step + 1) * MS
        if step % 2 == 0:
            rows += [(ALLOC, at, (1 << 41) + 4096 * step, size, 1)]
            rows += [(FREE, at, (1 << 41) + 4096 * (step - 20), 0, 1)] if not keeps and step >= 20 else []
        rows += [(ALLOC, at, (1 << 42) + 4096 * step, 5000, 2)]
        rows += [(FREE, at, (1 << 42) + 4096 * last, 0, 2)] if last >= 0 else []
        last = step
        kind, time, address, length, stack = zip(*rows, strict=True)
        growing.add(Batch("memory", 0, 0, 0, {
            "kind": np.array(kind, np.uint8), "thread": np.zeros(len(rows), np.uint32),
            "time": np.array(time), "address": np.array(address, np.uint64),
            "size": np.array(length), "stack": np.array(stack, np.int32),
        }))  # fmt: skip
        rows = []
        found = alarms.look(at)
    return [(alarm.kind, alarm.about) for alarm in found]


@pytest.mark.parametrize(
    ("keeps", "size", "wanted"),
    [(True, 20_000, [("leak", "remember:8")]), (False, 20_000, []), (True, 200, [])],
)
def test_a_call_site_that_only_allocates_is_reported(keeps, size, wanted) -> None:
    assert sites(keeps, size) == wanted


def grows(
    steps, size: int = 60_000, every: int = 100, looks: int = 1, busy: bool = True
) -> list[tuple[int, str, str]]:
    """Return the alarms about a call site of which so many blocks live after each so many milliseconds.

    Another call site allocates a little each time, if the program is ``busy``.
    """
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, ("gather (/a.py:7)",)))
    growing.name(Names("threads", 0, ((1, 1, "main"),)))
    growing.name(Names("frames", 0, ((0, -1, 8), (0, -1, 9))))
    alarms, lives, found, next_ = MemoryAlarms(growing), [], [], 1
    for step, wanted in enumerate(steps):
        at = (every * step + 1) * MS
        rows = [(ALLOC, at, (step + 1) << 50, 10, 1)] if busy else []
        while len(lives) > wanted:
            rows.append((FREE, at, lives.pop(0) << 20, 0, 0))
        while len(lives) < wanted:
            lives.append(next_)
            rows.append((ALLOC, at, next_ << 20, size, 0))
            next_ += 1
        if rows:
            kind, time, address, length, stack = zip(*rows, strict=True)
            growing.add(Batch("memory", 0, 0, 0, {
                "kind": np.array(kind, np.uint8), "thread": np.zeros(len(rows), np.uint32),
                "time": np.array(time), "address": np.array(address, np.uint64),
                "size": np.array(length), "stack": np.array(stack, np.int32),
            }))  # fmt: skip
        found += [(step, alarm.kind, alarm.sentence) for _ in range(looks) for alarm in alarms.look(at)]
    return found


def test_that_memory_grows_is_said_within_a_second_and_not_that_it_leaks() -> None:
    found = grows([*range(1, 9), 0, 0])
    assert [(step, kind) for step, kind, _ in found] == [(6, "growing memory"), (7, "growing memory")]
    assert found[0][2] == (
        "gather:8 has grown at each of 6 looks in 600 ms, by 352 KiB: "
        "a leak, or something that is being gathered"
    )


@pytest.mark.parametrize(("every", "before"), [(200, 0), (100, 12), (92, 3), (91, 3)])
def test_that_memory_grows_takes_six_looks_and_half_a_second(every, before) -> None:
    found = grows([*[0] * before, *range(1, 9)], every=every)
    # Seven looks are remembered: at shorter intervals they are no half second.
    if every < 92:
        assert found == []
        return
    assert [step for step, *_ in found] == [before + 6, before + 7]
    assert f"at each of 6 looks in {units.duration(6 * every * MS, 2)}, by " in found[0][2]


def test_between_two_snapshots_nothing_is_known_of_memory() -> None:
    """A program on a busy machine lists its blocks every so often: looks between are none."""
    slowly = [n for n in range(1, 9) for _ in range(3)]
    found = grows(slowly, busy=False)
    assert [kind for _, kind, _ in found] == ["growing memory"] * len(found)
    # From the seventh snapshot on, as long as the last look is not old.
    assert [step for step, *_ in found] == [18, 19, 20, 21, 22, 23]
    assert [step for step, *_ in grows([*range(1, 9), *[8] * 15], busy=False)] == [*range(6, 18)]


def test_looks_at_one_moment_are_one() -> None:
    assert [step for step, *_ in grows(range(1, 9), looks=2)] == [6, 6, 7, 7]


def test_each_half_of_the_looks_has_a_quarter_of_the_growth() -> None:
    assert [step for step, *_ in grows([1, 2, 3, 10, 11, 12, 13])] == [6]
    assert grows([1, 2, 3, 11, 12, 13, 14]) == []


@pytest.mark.parametrize(
    "steps",
    [
        [1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11],  # not at each look
        [1, 3, 5, 7, 9, 2, 4, 6, 8, 10, 2, 4],  # teeth
        [1, 40, 41, 42, 43, 44, 45, 45, 45, 45],  # a step, and hardly anything after it
    ],
)
def test_what_does_not_grow_all_the_time_is_not_reported(steps) -> None:
    assert grows(steps) == []


def test_what_grows_by_little_is_not_reported() -> None:
    assert grows(range(1, 12), size=40_000) == []
