"""Alarms about memory: a call site that only allocates, beside one that frees what it allocates."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.features.memory.live.alarms import MemoryAlarms
from tracevis3d.features.memory.live.findings import Found
from tracevis3d.features.memory.live.growth import Growth, SampledBytes, Samples
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import SAMPLED, Batch, Names, Welcome, sampled_name
from tracevis3d.live.stream.alarms import Alarm

ALLOC, FREE = 0, 1
MS = 1_000_000


def sites(keeps: bool, size: int, seconds: int = 12, frees: bool = True) -> list[tuple[str, str]]:
    """Return the kinds and call sites of the alarms at the end of some seconds of two call sites.

    One of them keeps what it allocates or not; the other, of 5,000 bytes twice as often, frees it or not.
    """
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
        rows += [(FREE, at, (1 << 42) + 4096 * last, 0, 2)] if last >= 0 and frees else []
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


def test_of_several_leaks_that_of_most_bytes_comes_first() -> None:
    for size, wanted in ((20_000, ["remember:8", "compute:10"]), (8_000, ["compute:10", "remember:8"])):
        assert sites(True, size, frees=False) == [("leak", about) for about in wanted]


def known(names, **parts) -> MemoryAlarms:
    """Return alarms that have found so far what is given."""
    alarms, name = MemoryAlarms(GrowingTrace()), names.__getitem__
    sites = SimpleNamespace(names=names, name=name, imports={len(names) - 1})
    alarms._blocks = SimpleNamespace(
        k=SimpleNamespace(BYTES_NOW=0), totals=[parts.pop("lives", 0)], sites=sites
    )
    for part, has in parts.items():
        setattr(alarms, part, SimpleNamespace(**has))
    return alarms


@pytest.mark.parametrize(("lives", "told"), [(0, "bac"), (6_000_000, "ba"), (6_000_020, "b")])
def test_leaks_of_blocks_and_of_samples_are_told_the_largest_first(lives, told) -> None:
    s = 1_000_000_000
    alarms = known(
        ["a", "b", "c", "d", "e", "import"], lives=lives,
        _watch={"found": [Found("leak", 0, 300_000), Found("saw-tooth", 4, 900_000)]},
        _snapshots={"since": lambda _: {1: (400_000, 161 * s // 25), 0: (999_999, 7 * s)}},
        _sampled={"since": lambda _: {2: (1 << 18, 9 * s), 3: ((1 << 18) - 1, 8 * s), 5: (10**6, 8 * s)}},
    )  # fmt: skip
    found = {"a": "5 s, 293 KiB", "b": "6.4 s, 391 KiB", "c": "9 s, 256 KiB"}
    assert [(alarm.about, alarm.sentence) for alarm in alarms._leaks()] == [
        (about, f"{about} may leak: it has only gained blocks in the last {found[about]}") for about in told
    ]


def test_why_growth_is_over_is_what_the_sample_says_or_the_blocks() -> None:
    alarms = known(
        ["a", "b", "c", "d"], _sampled={"why_over": {0: "sampled", 1: "also"}},
        _snapshots={"why_over": {0: "not asked", 2: "blocks"}},
    )  # fmt: skip
    said = [alarms.why_over(Alarm("growing memory", about, "")) for about in ("a", "b", "c", "d", "e")]
    assert said == ["sampled", "also", "blocks", "", ""]
    assert MemoryAlarms(GrowingTrace()).why_over(Alarm("leak", "a", "")) == ""


def grows(
    steps,
    size: int = 60_000,
    every: int = 100,
    looks: int = 1,
    busy: bool = True,
    ran: int = 1_000,
    function: str = "gather (/a.py:7)",
) -> list[tuple[int, str, str]]:
    """Return the alarms about a call site of which so many blocks live after each so many milliseconds.

    Another call site allocates a little each time, if the program is ``busy``. Before all that it has run for
    ``ran`` milliseconds.
    """
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.begins = (1 - ran) * MS
    growing.name(Names("functions", 0, (function,)))
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
        "gather:8 grows and has not shrunk: +352 KiB in 600 ms, > 99.9 % of all growth: "
        "a leak, or something that is being gathered"
    )
    assert "+352 KiB in 550 ms, " in grows(range(1, 9), every=92)[0][2]  # of 552
    found = grows([*range(1, 9), 0, 0], size=30_000_000, busy=False)
    assert ", 100 % of all growth: " in found[0][2]


@pytest.mark.parametrize(("ran", "first"), [(0, 10), (350, 7), (400, 6), (900, 6)])
def test_what_a_program_gathers_in_its_first_second_is_told_after_it(ran, first) -> None:
    assert next(step for step, *_ in grows(range(1, 14), ran=ran)) == first
    assert grows([*range(1, 9), *[8] * 40], ran=0) == []


def test_what_imports_keep_is_the_program_and_does_not_grow() -> None:
    for name in ("get_data (<frozen importlib._bootstrap_external>:1070)", "__new__ (<frozen abc>:105)"):
        assert grows(range(1, 80), function=name) == []
    assert grows(range(1, 80), function="get_data (/importlib/own.py:1070)")


@pytest.mark.parametrize(("every", "least"), [(300, 5), (200, 5), (100, 6), (92, 6), (91, 7), (50, 12)])
def test_that_memory_grows_takes_half_a_second_and_a_quarter_of_a_mebibyte(every, least) -> None:
    """Five blocks of 60,000 bytes more are that much; samples lie 80 ms apart at least."""
    for before in (0, 3, 12):
        found = grows([*[0] * before, *range(1, 30)], every=every)
        last = max(before - 1, 0) // (2 if every < 80 else 1) * (2 if every < 80 else 1)
        assert found[0][0] == last + least


def test_between_two_snapshots_nothing_is_known_of_memory() -> None:
    """A program on a busy machine lists its blocks every so often: looks between are none."""
    slowly = [n for n in range(1, 9) for _ in range(3)]
    found = grows(slowly, busy=False)
    assert [kind for _, kind, _ in found] == ["growing memory"] * len(found)
    # From the snapshot on in which it has grown enough.
    assert [step for step, *_ in found] == [*range(15, 24)]


def test_an_alarm_is_over_when_half_is_freed_or_after_two_seconds() -> None:
    assert [step for step, *_ in grows([*range(1, 9), *[8] * 30])] == [*range(6, 27)]
    assert [step for step, *_ in grows([*range(1, 9), 5, 4, 4])] == [6, 7, 8]
    assert [step for step, *_ in grows([*range(1, 9), 5, 5, 5])] == [6, 7, 8, 9, 10]


def test_an_alarm_is_over_after_two_seconds_without_news_too() -> None:
    """The program still runs, and lists no blocks any more."""
    assert [step for step, *_ in grows([*range(1, 9), *[8] * 60], busy=False)] == [*range(6, 27)]


def test_looks_at_one_moment_are_one() -> None:
    assert [step for step, *_ in grows(range(1, 9), looks=2)] == [6, 6, 7, 7]


def test_half_of_the_time_has_a_quarter_of_the_growth_and_what_fills_slows_down() -> None:
    assert [step for step, *_ in grows([1, 2, 3, 4, 11, 12, 13])] == [6]
    assert grows([1, 2, 3, 4, 14, 15, 16]) == []  # a step
    assert [step for step, *_ in grows([1, 5, 9, 13, 16, 19, 21])] == [6]
    assert [step for step, *_ in grows([1, 4, 7, 11, 13, 15, 17])] == [6]
    assert grows([1, 5, 9, 13, 16, 18, 19]) == []  # a cache


def test_samples_may_say_that_it_leaks_where_snapshots_are_seconds_apart() -> None:
    found = grows([n for n in range(1, 20) for _ in range(9)], busy=False)
    assert {kind for _, kind, _ in found} == {"growing memory", "leak"}
    first = next((step, words) for step, kind, words in found if kind == "leak")
    assert first[0] >= 50
    assert first[1].startswith("gather:8 may leak: it has only gained blocks in the last ")


def plain(history: list[tuple[int, list[int]]], least: float) -> list[int]:
    """Return which call sites grow, by their bytes at all samples."""
    window = len(history) - 1
    while window > 0 and (len(history) - window < 4 or history[-1][0] - history[window][0] < 550 * MS):
        window -= 1
    kept = history[window:]
    if len(kept) < 4 or kept[-1][0] - kept[0][0] < 550 * MS:
        return []
    found = []
    for site in range(len(kept[0][1])):
        byte = [row[site] for _, row in kept]
        begin = len(history) - 1
        while begin and history[begin - 1][1][site] < history[begin][1][site]:
            begin -= 1
        before = max(row[site] for _, row in history[: begin + 1])
        time = [at for at, _ in kept]
        middle, all_ = len(kept) // 2, byte[-1] - byte[0]
        early = (byte[middle] - byte[0]) / (time[middle] - time[0])
        late = (byte[-1] - byte[middle]) / (time[-1] - time[middle])
        if (
            all(a < b for a, b in pairwise(byte))
            and byte[-1] - before >= least
            and early * (time[-1] - time[0]) >= 0.5 * all_
            and late >= 0.6 * early
        ):
            found.append((all_, site))
    return [site for _, site in sorted(found, key=lambda each: (-each[0], each[1]))]


@given(
    st.lists(
        st.tuples(st.integers(80, 400), st.lists(st.integers(-3, 12), min_size=3, max_size=3)), max_size=14
    )
)
def test_what_grows_and_the_plain_twin(steps) -> None:
    samples, history, at, lives = Samples(), [], 0, [0, 0, 0]
    for apart, more in steps:
        at += apart * MS
        lives = [max(n + m * 1024, 0) for n, m in zip(lives, more)]
        samples.add(at, np.array(lives))
        history.append((at, lives))
        assert samples.growing(10 * 1024).tolist() == plain(history, 10 * 1024)


@pytest.mark.parametrize(
    ("times", "window", "grown"),
    [([0, 2, 4, 5], 5, {0: (3, 5)}), ([0, 2, 4, 5], 6, {}), ([0, 3, 6], 5, {}), ([], 5, {})],
)
def test_growth_for_so_long_takes_four_samples_and_all_of_the_time(times, window, grown) -> None:
    growth = Growth(known(["a"])._blocks.sites, "")
    for number, at in enumerate(times):
        growth.samples.add(at, np.array([7 + number, 9]))
    assert growth.since(window) == grown


def test_the_share_of_a_call_site_is_of_what_all_have_grown_by_since_the_first_sample() -> None:
    growth = Growth(known(["a"])._blocks.sites, "")
    for at, live in enumerate(([0, 0, 5], [10, 0, 5], [10, 30, 0])):
        growth.samples.add(at, np.array(live))
    assert [growth.samples.share(site) for site in range(4)] == [0.25, 0.75, 0.0, 0.0]


def test_a_sample_is_of_the_call_sites_that_are_counted_then() -> None:
    counted = SampledBytes(SimpleNamespace(of_frame=lambda session, frame: frame + 3))
    rows = [(8, 10, 7.0), (5, 20, 99.6), (8, 20, 3.0), (9, 20, 1.0), (7, 30, 40.0), (6, 30, 999.0)]
    series, time, value = (np.array(column) for column in zip(*rows, strict=True))
    names = {8: "blocks", 5: sampled_name(2), 6: SAMPLED, 7: sampled_name(0)}
    (first, early), (second, late) = counted.take(
        {"session": object(), "series": series, "series names": names, "time": time, "value": value}
    )
    assert (first, early[5], early.sum()) == (20, 100, 100)
    assert (second, late[5], late[3], late.sum()) == (30, 100, 40, 140)


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
    assert grows(range(1, 12), size=26_000) == []
    assert [step for step, *_ in grows(range(1, 13), size=26_000)] == [11]
