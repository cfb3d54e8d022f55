"""Kernels of waits and releases against plain twins written from the definitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.kernels.waits import sync

TIMES = st.integers(0, 12)


def calls_of(seed: int):
    return walked_trace(seed, threads=2, steps=80).calls


def total_by_definition(calls, member, i: int) -> int:
    """Eq. 4: a member's own duration, else the sum over its children."""
    if member[i]:
        return int(calls.end[i] - calls.start[i])
    return sum(total_by_definition(calls, member, c) for c in np.flatnonzero(calls.parent == i).tolist())


@given(st.integers(0, 40), st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_durations_of_a_kind_add_up_as_the_equation_says(seed, chance):
    calls = calls_of(seed)
    member = (np.random.default_rng(chance).random(len(calls)) < 0.3).astype(np.uint8)
    total = np.empty(len(calls), np.int64)
    sync.add_up(member, calls.parent, calls.start, calls.end, total)
    assert total.tolist() == [total_by_definition(calls, member, i) for i in range(len(calls))]


@st.composite
def releases_and_waits(draw):
    keys = draw(st.integers(1, 3))
    releases = draw(st.lists(st.tuples(st.integers(0, keys - 1), TIMES, st.integers(0, 2)), max_size=14))
    releases.sort(key=lambda r: (r[0], r[1]))
    waits = draw(st.lists(st.tuples(st.integers(0, keys - 1), TIMES, TIMES, st.integers(0, 2)), max_size=10))
    return keys, releases, [(k, min(a, b), max(a, b), t) for k, a, b, t in waits]


@given(releases_and_waits())
@settings(max_examples=200, deadline=None)
def test_releases_within_waits(case):
    keys, releases, waits = case
    first = np.array([sum(r[0] < k for r in releases) for k in range(keys + 1)], np.int64)
    time = np.array([r[1] for r in releases], np.int64)
    by = np.array([r[2] for r in releases], np.int32)
    other = np.empty(len(releases), np.int64)
    sync.link_others(first, by, other)
    for i, (key, _, thread) in enumerate(releases):
        before = [j for j in range(i) if releases[j][0] == key and releases[j][2] != thread]
        assert other[i] == (before[-1] if before else -1)
    n = len(waits)
    low, high, last = (np.empty(n, np.int64) for _ in range(3))
    columns = np.array(waits, np.int64).reshape(n, 4).T
    pairs = sync.find_releases(
        *(np.ascontiguousarray(c) for c in columns[:3]), columns[3].astype(np.int32), first, time, by, other,
        low, high, last,
    )  # fmt: skip
    expected = [
        [j for j, r in enumerate(releases) if r[0] == key and start <= r[1] <= end]
        for key, start, end, _ in waits
    ]
    assert pairs == sum(map(len, expected))
    wait, release = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    sync.list_pairs(low, high, wait, release)
    assert list(zip(wait.tolist(), release.tolist())) == [
        (i, j) for i, found in enumerate(expected) for j in found
    ]
    for i, found in enumerate(expected):
        others = [j for j in found if releases[j][2] != waits[i][3]]
        assert last[i] == (others[-1] if others else -1)


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(0, 2)), max_size=30))
@settings(max_examples=200, deadline=None)
def test_acquisitions_find_their_releases(events):
    events = sorted(events, key=lambda e: e[0])
    thread = np.array([e[2] for e in events], np.int32)
    release = np.array([e[1] for e in events], np.uint8)
    first = np.array([sum(e[0] < k for e in events) for k in range(4)], np.int64)
    ends = np.empty(len(events), np.int64)
    sync.pair_holds(first, thread, release, np.empty(sync.MOST_OPEN, np.int64), ends)
    expected = [-1] * len(events)
    held: dict[int, list[int]] = {}
    for i, (key, is_release, who) in enumerate(events):
        open_ = held.setdefault(key, [])
        if not is_release:
            open_.append(i)
        elif open_:
            mine = [j for j in open_ if events[j][2] == who]
            chosen = mine[-1] if mine else open_[0]
            expected[chosen] = i
            open_.remove(chosen)
    assert ends.tolist() == expected


def test_too_many_open_acquisitions_give_up_the_oldest():
    n = sync.MOST_OPEN + 5
    release = np.zeros(n + 1, np.uint8)
    release[-1] = 1
    thread = np.arange(n + 1, dtype=np.int32)  # the release is by a thread that holds nothing
    ends = np.empty(n + 1, np.int64)
    first = np.array([0, n + 1], np.int64)
    sync.pair_holds(first, thread, release, np.empty(sync.MOST_OPEN, np.int64), ends)
    assert np.flatnonzero(ends >= 0).tolist() == [5]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), TIMES, TIMES), max_size=14))
@settings(max_examples=200, deadline=None)
def test_order_of_locks(holds):
    holds = sorted(((t, o, min(a, b), max(a, b) + 1) for t, o, a, b in holds), key=lambda h: (h[0], h[2]))
    expected = [
        (j, i)
        for i, (t, o, start, _) in enumerate(holds)
        for j, (u, other, _, end) in enumerate(holds[:i])
        if u == t and other != o and end > start
    ]
    columns = [np.array(c, np.int64) for c in zip(*holds)] if holds else [np.empty(0, np.int64)] * 4
    outer, inner = np.empty(len(expected), np.int64), np.empty(len(expected), np.int64)
    pairs = sync.lock_order(
        columns[0].astype(np.int32), columns[1].astype(np.int32), columns[2], columns[3],
        np.empty(sync.MOST_HELD, np.int64), outer, inner,
    )  # fmt: skip
    assert pairs == len(expected)
    assert sorted(zip(outer.tolist(), inner.tolist())) == sorted(expected)


@given(st.integers(0, 40))
@settings(max_examples=20, deadline=None)
def test_durations_are_counted_by_powers_of_two(seed):
    calls = calls_of(seed)
    functions = int(calls.function.max()) + 1
    counts = np.zeros((functions, 64), np.int64)
    sync.count_durations(calls.function, calls.start, calls.end, counts)
    expected = np.zeros_like(counts)
    for f, start, end in zip(calls.function, calls.start.tolist(), calls.end.tolist()):
        expected[f, max((end - start).bit_length() - 1, 0)] += 1
    assert (counts == expected).all()


@given(st.integers(0, 2**31))
@settings(max_examples=100, deadline=None)
def test_the_way_back_is_unbroken(seed):
    """Whatever wakes whom: steps join in time, go back, and each is a run, a wait or a start."""
    rng = np.random.default_rng(seed)
    threads = 3
    rows = []
    for t in range(threads):
        cuts = np.sort(rng.integers(0, 60, 2 * rng.integers(0, 4)))
        rows += [(t, int(a), int(b)) for a, b in zip(cuts[::2], cuts[1::2])]
    n = len(rows)
    start = np.array([r[1] for r in rows], np.int64)
    end = np.array([r[2] for r in rows], np.int64)
    first = np.searchsorted([r[0] for r in rows], np.arange(threads + 1)).astype(np.int64)
    waker = rng.integers(-1, threads, n).astype(np.int32)
    woken = rng.integers(start, end + 1) if n else np.empty(0, np.int64)
    out = np.empty((2 * n + 2 * threads + 2, 4), np.int64)
    begin = np.zeros(threads, np.int64)
    parent, born = np.full(threads, -1, np.int32), np.zeros(threads, np.int64)
    steps = sync.walk_back(
        0, 60, first, start, end, waker, np.asarray(woken, np.int64), begin, parent, born,
        np.zeros(n, np.uint8), out,
    )  # fmt: skip
    path = out[:steps]
    assert path[0, 0] == 0
    assert path[0, 2] == 60
    assert (path[:, 1] <= path[:, 2]).all()
    assert (path[1:, 2] == path[:-1, 1]).all()
    assert path[-1, 1] == 0
    for thread, low, high, wait in path.tolist():
        if wait >= 0:
            assert high == end[wait]
            assert rows[wait][0] == thread
            assert low in (start[wait], woken[wait])
        else:
            assert not any(t == thread and a < high and b > low and b <= high for t, a, b in rows)
