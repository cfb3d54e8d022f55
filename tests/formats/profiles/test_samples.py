"""Calls laid out from samples, held against plain twins; how they are stored and told."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.errors import UsageError
from tracevis3d.formats import registry
from tracevis3d.formats.names import split
from tracevis3d.formats.profiles import samples as module
from tracevis3d.formats.profiles.samples import (
    FrameTree,
    add_timed,
    add_weighed,
    ends_of_samples,
    tree_of_places,
)
from tracevis3d.kernels.formats.lay import samples as kernels
from tracevis3d.trace import profile
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording
from tracevis3d.trace.storage import store

stacks = st.lists(st.sampled_from("abc"), max_size=5)


def plain_timed(rows):
    """Calls of (start, end, stack) of one thread, in order: (name, start, end, depth)."""
    calls, opened, last = [], [], None
    for start, end, stack in [*rows, (None, None, [])]:
        shared = 0
        if start == last:
            while shared < min(len(stack), len(opened)) and opened[shared][0] == stack[shared]:
                shared += 1
        for depth in range(len(opened), shared, -1):
            name, begun = opened.pop()
            calls.append((name, begun, last, depth))
        opened += [(name, start) for name in stack[shared:]]
        last = end
    return sorted(calls)


def calls_of(trace):
    names = list(trace.functions.name)
    calls = trace.calls
    columns = calls.function, calls.start + trace.origin_ns, calls.end + trace.origin_ns, calls.depth
    return sorted((names[f], s, e, d) for f, s, e, d in zip(*(c.tolist() for c in columns), strict=True))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), stacks), min_size=1, max_size=20))
def test_timed_samples_make_the_calls_of_the_plain_twin(steps):
    recording = Recording()
    tree = FrameTree(recording)
    rows, now = [], 100
    for gap, length, stack in steps:
        now += gap
        rows.append((now, now + length, stack))
        now += length
    frames = [tree.stack([recording.function(name) for name in stack]) for _, _, stack in rows]
    start, end = [row[0] for row in rows], [row[1] for row in rows]
    thread = recording.thread(0, "main")
    add_timed(recording, tree.columns(), np.full(len(rows), thread), frames, start, end=end)
    trace = recording.finish(Source(), split)
    assert calls_of(trace) == plain_timed(rows)
    assert profile.totals(trace) == {"samples": len(rows)}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3), stacks), min_size=1, max_size=20
    ),
    st.booleans(),
)
def test_calls_are_the_same_alone_and_beside_events(steps, in_parts):
    """Calls come nested where a file has nothing else, and are built of events where it has."""
    made = []
    for others in (False, True):
        recording = Recording()
        tree = FrameTree(recording)
        threads = [recording.thread(0, tid) for tid in range(4)]
        rows, now = [], 100
        for thread, gap, length, stack in steps:
            now += gap
            frame = tree.stack([recording.function(name) for name in stack], [len(rows) % 2] * len(stack))
            rows.append((threads[thread], frame, now, now + length))
            now += length
        parts = [[row for row in rows if row[0] == thread] for thread in threads] if in_parts else [rows]
        for part in filter(None, parts):
            thread, frame, start, end = map(list, zip(*part, strict=True))
            add_timed(recording, tree.columns(), thread, frame, start, end=end)
        if others:
            columns = {"thread": [3, 3], "function": [recording.function("f")] * 2, "time": [100, 101]}
            recording.add_events(kind=[0, 1], **columns)
        trace = recording.finish(Source(), split)
        assert trace.origin_ns <= 100 + steps[0][1]
        names, calls = list(trace.functions.name), trace.calls
        made.append(
            [
                (names[f], trace.threads.tid[t], s + trace.origin_ns, e + trace.origin_ns, p, d, x)
                for f, t, s, e, p, d, x in zip(
                    *(
                        getattr(calls, name).tolist()
                        for name in ("function", "thread", "start", "end", "parent", "depth", "extent")
                    ),
                    strict=True,
                )
                if names[f] != "f"
            ]
        )
    assert made[0] == made[1]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=20))
def test_rows_take_the_items_of_their_list_in_turn(rows):
    lists = [[1, 2, 3], [7], [5, 5, 8, 9]]
    first = np.cumsum([0, *map(len, lists)])
    which, out = np.array([row for row, _ in rows], np.int64), np.empty(len(rows), np.int64)
    kernels.take_in_turn(which, first, np.zeros(3, np.int64), np.concatenate(lists), out)
    seen, expected = [0, 0, 0], []
    for row in which.tolist():
        expected.append(lists[row][min(seen[row], len(lists[row]) - 1)])
        seen[row] += 1
    assert out.tolist() == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1), stacks), min_size=1, max_size=20))
def test_weighed_samples_make_one_call_of_each_path(rows):
    recording = Recording()
    tree = FrameTree(recording)
    # Different lines of a function are one call.
    frames = [
        tree.stack([recording.function(name) for name in stack], [k % 2] * len(stack))
        for k, (_, _, stack) in enumerate(rows)
    ]
    threads = [recording.thread(0, tid) for tid in ("one", "two")]
    weights = {"held (bytes)": [w for w, _, _ in rows], "blocks": [1] * len(rows)}
    add_weighed(recording, tree.columns(), [threads[t] for _, t, _ in rows], frames, weights, scale=2)
    trace = recording.finish(Source(), split)
    expected = {}
    for weight, thread, stack in rows:
        for depth in range(1, len(stack) + 1):
            key = ("one", "two")[thread], tuple(stack[:depth])
            expected[key] = expected.get(key, 0) + 2 * weight
    names, calls = list(trace.functions.name), trace.calls
    found = {}
    for call in range(len(calls)):
        path, at = [], call
        while at >= 0:
            path.append(names[calls.function[at]])
            at = calls.parent[at]
        key = trace.threads.tid[calls.thread[call]], tuple(path[::-1])
        assert key not in found
        found[key] = int(calls.end[call] - calls.start[call])
    assert found == {key: weight for key, weight in expected.items() if weight}
    for one, other in zip(range(len(calls)), range(1, len(calls)), strict=False):
        if calls.parent[one] == calls.parent[other] and calls.thread[one] == calls.thread[other]:
            assert calls.end[one] - calls.start[one] >= calls.end[other] - calls.start[other]


def test_a_sample_lasts_to_the_next_one_but_not_across_a_gap():
    thread, time = np.zeros(5, np.int32), np.array([0, 10, 20, 90, 100])
    assert ends_of_samples(thread, time).tolist() == [10, 20, 45, 100, 110]
    assert ends_of_samples(thread, time, interval=30).tolist() == [10, 20, 90, 100, 130]
    one_each = ends_of_samples(np.arange(2, dtype=np.int32), np.array([5, 7]), 4)
    assert one_each.tolist() == [9, 11]
    century = ends_of_samples(np.zeros(2, np.int32), np.array([0, 1 << 61]), interval=1 << 62)
    assert century.tolist() == [1 << 61, 3 << 61]
    assert len(ends_of_samples(np.empty(0, np.int32), np.empty(0, np.int64))) == 0


def recorded(timed=True):
    recording = Recording()
    tree = FrameTree(recording)
    names = {name: recording.function(name) for name in "abc"}
    frames = [tree.stack([names[n] for n in stack], [3] * len(stack)) for stack in ("a", "ab", "ab", "ac")]
    thread = np.full(4, recording.thread(0, "main"))
    if timed:
        add_timed(recording, tree.columns(), thread, frames, [0, 10, 20, 30], interval=10)
    else:
        add_weighed(recording, tree.columns(), thread, frames, {"held (bytes)": [8, 8, 16, 32]})
    return recording.finish(Source(), split)


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("packed", [True, False])
def test_samples_are_stored(tmp_path, timed, packed):
    trace = recorded(timed)
    store.save(trace, tmp_path / "t.tv3", packed)
    again = store.load(tmp_path / "t.tv3")
    for field in dataclasses.fields(trace.samples):
        one, other = getattr(trace.samples, field.name), getattr(again.samples, field.name)
        assert list(one) == list(other), field.name
    assert again.samples.are_timed is timed
    assert again.stacks.line.tolist() == [3, 3, 3]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), stacks, st.integers(0, 9), st.integers(0, 40)), max_size=25),
    st.booleans(),
)
def test_calls_themselves_weigh_what_their_samples_do(rows, is_timed):
    recording, plain = Recording(), {}
    tree = FrameTree(recording)
    number = {name: recording.function(name) for name in "abc"}
    threads = [recording.thread(0, tid) for tid in range(3)]
    frames = [tree.stack([number[name] for name in stack]) for _, stack, _, _ in rows]
    thread, weight = [threads[t] for t, *_ in rows], [w for *_, w, _ in rows]
    if is_timed:
        # Two samples are never taken at once; some lie far apart.
        time = np.cumsum([1 + gap * (1 + 99 * (gap > 35)) for *_, gap in rows], dtype=np.int64)
        add_timed(recording, tree.columns(), thread, frames, time, kinds=("cycles",), weight=weight)
    else:
        add_weighed(recording, tree.columns(), thread, frames, {"held (bytes)": weight}, scale=3)
    trace = recording.finish(Source(), split)
    names, calls, found = list(trace.functions.name), trace.calls, {}
    for call, own in enumerate(profile.own_weights(trace).tolist() if len(calls) else []):
        path, at = [], call
        while at >= 0:
            path.append(names[calls.function[at]])
            at = calls.parent[at]
        key = trace.threads.tid[calls.thread[call]], tuple(path[::-1])
        found[key] = found.get(key, 0) + own
    for t, stack, one, _ in rows:
        if stack:
            plain[t, tuple(stack)] = plain.get((t, tuple(stack)), 0) + one
    assert {key: own for key, own in found.items() if own} == pytest.approx(
        {key: one for key, one in plain.items() if one}
    )


def test_a_call_has_its_share_of_the_samples():
    trace = recorded()
    shares = {trace.functions.name[trace.calls.function[c]]: profile.share_of(trace, c) for c in range(3)}
    assert {name: share.weight for name, share in shares.items()} == {"a": 4, "b": 2, "c": 1}
    assert str(shares["b"]) == "2  (50 %)"
    assert profile.amount(trace) == "4 samples"
    trace = recorded(timed=False)
    shares = {trace.functions.name[trace.calls.function[c]]: profile.share_of(trace, c) for c in range(3)}
    assert {name: share.weight for name, share in shares.items()} == {"a": 64, "b": 24, "c": 32}
    assert "without times" in profile.note(trace)
    assert "64 B held" in profile.note(trace)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(-1, 3), max_size=5), max_size=8),
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=3), min_size=4, max_size=4),
    st.booleans(),
)
def test_a_tree_of_places_is_that_of_its_stacks_one_by_one(stacks, places, is_root_first):
    tree = FrameTree(Recording())
    expected = []
    for stack in stacks:
        frames = [frame for place in stack if place >= 0 for frame in places[place]]
        frames = frames if is_root_first else frames[::-1]
        expected.append(tree.stack([one for one, _ in frames], [line for _, line in frames]))
    first, first_of = (np.cumsum([0, *map(len, rows)]) for rows in (stacks, places))
    function, line = np.array([one for place in places for one in place], np.int32).reshape(-1, 2).T
    whole = np.array([place for stack in stacks for place in stack], np.int64)
    few, module._FEW_FRAMES = module._FEW_FRAMES, 4
    try:
        stack, columns = tree_of_places(first, whole, first_of, function, line, is_root_first=is_root_first)
    finally:
        module._FEW_FRAMES = few
    # Frames get their numbers in the order in which they appear, here as there.
    assert stack.tolist() == expected
    assert [column.tolist() for column in columns] == [column.tolist() for column in tree.columns()]


@pytest.mark.parametrize("view", ["ramp", "interactions"])
def test_views_of_the_order_of_calls_refuse_weights_of_paths(view):
    trace = registry.open_trace(ROOT / "tests" / "data" / "profiles" / "go_cpu.pprof")
    with pytest.raises(UsageError, match=f"the view '{view}' shows calls in the order .* draw 'icicle'"):
        profile.check_order([trace], view)
    timed = registry.open_trace(ROOT / "tests" / "data" / "profiles" / "node20.cpuprofile.gz")
    profile.check_order([timed], view)
