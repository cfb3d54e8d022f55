"""How events become calls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import trace_twin
from tracevis3d.kernels.trace.pack import FINE, check_calls
from tracevis3d.trace import build as builder
from tracevis3d.trace.build import build_calls, innermost
from tracevis3d.trace.events import BEGIN, COMPLETE, END, Events
from tracevis3d.trace.problems import Problems

COLUMNS = ("function", "parent", "depth", "start", "end", "extent", "thread")


def to_events(rows, record=()):
    """Events of rows (thread, kind, function, time, end)."""
    table = np.array(rows, np.int64).reshape(-1, 5)
    return Events(
        thread=table[:, 0].astype(np.int32),
        kind=table[:, 1].astype(np.uint8),
        function=table[:, 2].astype(np.int32),
        time=table[:, 3].copy(),
        end=table[:, 4].copy(),
        record=np.array(record, np.int64),
    )


def build(rows, threads=1, origin=0, record=()):
    problems = Problems()
    built = build_calls(to_events(rows, record), threads, problems, lambda event: f"event {event}", origin)
    return built, {kind: p.count for kind, p in problems.items()}, problems


def begin(function, time, thread=0):
    return (thread, BEGIN, function, time, 0)


def end(function, time, thread=0):
    return (thread, END, function, time, 0)


def complete(function, start, stop, thread=0):
    return (thread, COMPLETE, function, start, stop)


def outline(rows):
    """(depth, function, start, end) of the calls of one thread, and what was mended."""
    built, problems, _ = build(rows)
    c = built.calls
    return list(zip(c.depth.tolist(), c.function.tolist(), c.start.tolist(), c.end.tolist())), problems


def assert_valid(built, functions):
    """The rules of the model, said without a stack: by every pair of parent and child, and of siblings."""
    c = built.calls
    n = len(c)
    assert built.count.sum() == n
    for t in range(len(built.first)):
        lo, hi = built.first[t], built.first[t] + built.count[t]
        assert (c.thread[lo:hi] == t).all()
        assert (np.diff(c.start[lo:hi]) >= 0).all()
        last_child: dict[int, int] = {}
        for i in range(lo, hi):
            p = int(c.parent[i])
            assert c.start[i] <= c.end[i]
            assert -1 <= p < i
            if p < 0:
                assert c.depth[i] == 1
            else:
                assert p >= lo
                assert c.depth[i] == c.depth[p] + 1
                assert c.start[p] <= c.start[i] <= c.end[i] <= c.end[p]
                assert i + c.extent[i] <= p + c.extent[p]
            if p in last_child:
                q = last_child[p]
                assert c.end[q] <= c.start[i]
                assert q + c.extent[q] == i
            else:
                assert i == (lo if p < 0 else p + 1)
            last_child[p] = i
            inside = c.depth[i + 1 : hi] > c.depth[i]
            assert c.extent[i] == 1 + (int(np.argmin(inside)) if not inside.all() else len(inside))
    columns = [getattr(c, name) for name in COLUMNS]
    assert check_calls(*columns, built.first, built.count, functions) == FINE


# -- the rules, one by one -----------------------------------------------------------------------


def test_pairs_nest_and_times_count_from_the_origin():
    built, problems, _ = build([begin(3, 100), begin(1, 105), end(1, 107), end(3, 110)], origin=100)
    assert built.calls.function.tolist() == [3, 1]
    assert built.calls.start.tolist() == [0, 5]
    assert built.calls.end.tolist() == [10, 7]
    assert built.call_of_event.tolist() == [0, 1, 1, 0]
    assert not problems


def test_end_of_an_outer_call_closes_the_inner_ones():
    found, problems = outline([begin(0, 0), begin(1, 1), begin(2, 2), end(0, 5), begin(3, 6), end(3, 7)])
    assert found == [(1, 0, 0, 5), (2, 1, 1, 5), (3, 2, 2, 5), (1, 3, 6, 7)]
    assert problems == {"mismatched end": 1}


def test_ends_of_one_time_in_the_wrong_order_are_no_problem():
    found, problems = outline([begin(0, 0), begin(1, 1), begin(2, 1), end(1, 2), end(2, 2), end(0, 9)])
    assert found == [(1, 0, 0, 9), (2, 1, 1, 2), (3, 2, 1, 2)]
    assert not problems


def test_ends_of_one_time_around_a_recursion():
    found, problems = outline([begin(0, 0), begin(1, 1), begin(0, 2), end(1, 3), end(0, 3), end(0, 9)])
    assert found == [(1, 0, 0, 9), (2, 1, 1, 3), (3, 0, 2, 3)]
    assert not problems


def test_end_before_its_begin_at_one_time_is_a_call_of_no_duration():
    found, problems = outline([begin(0, 0), end(2, 2), begin(2, 2), begin(1, 3), end(1, 4), end(0, 10)])
    assert found == [(1, 0, 0, 10), (2, 2, 2, 2), (2, 1, 3, 4)]
    assert not problems


def test_end_before_a_begin_that_has_its_own_end_is_left_out():
    found, problems = outline([begin(0, 0), end(2, 2), begin(2, 2), end(2, 4), end(0, 10)])
    assert found == [(1, 0, 0, 10), (2, 2, 2, 4)]
    assert problems == {"unmatched end": 1}


def test_unmatched_end_is_left_out_and_reported_with_its_place():
    built, counts, problems = build([begin(0, 0), end(1, 1), end(0, 2), end(0, 3)])
    assert built.call_of_event.tolist() == [0, -1, 0, -1]
    assert counts == {"unmatched end": 2}
    assert problems["unmatched end"].first == "event 1"


def test_end_without_a_name_closes_the_innermost():
    found, problems = outline([begin(0, 0), begin(1, 1), end(-1, 2), end(-1, 3)])
    assert found == [(1, 0, 0, 3), (2, 1, 1, 2)]
    assert not problems


def test_begin_without_an_end_lasts_as_long_as_its_thread():
    found, problems = outline([begin(0, 0), begin(1, 1), complete(2, 3, 8)])
    assert found == [(1, 0, 0, 8), (2, 1, 1, 8), (3, 2, 3, 8)]
    assert problems == {"unmatched begin": 2}
    found, problems = outline([begin(0, 0), begin(1, 1), end(1, 4)])
    assert found == [(1, 0, 0, 4), (2, 1, 1, 4)]
    assert problems == {"unmatched begin": 1}


def test_end_does_not_close_a_complete_call():
    found, problems = outline([complete(0, 0, 10), end(0, 4), complete(1, 5, 6)])
    assert found == [(1, 0, 0, 10), (2, 1, 5, 6)]
    assert problems == {"unmatched end": 1}


def test_longer_of_two_that_start_together_is_the_outer_one():
    assert outline([complete(0, 0, 2), complete(1, 0, 5)]) == ([(1, 1, 0, 5), (2, 0, 0, 2)], {})


def test_equal_calls_nest_in_the_order_of_the_file_or_against_it():
    # By begins the outer one is written first; by ends, last.
    assert outline([complete(0, 0, 9), complete(1, 2, 4), complete(2, 2, 4)])[0] == [
        (1, 0, 0, 9), (2, 1, 2, 4), (3, 2, 2, 4),
    ]  # fmt: skip
    assert outline([complete(1, 2, 4), complete(2, 2, 4), complete(0, 0, 9)])[0] == [
        (1, 0, 0, 9), (2, 2, 2, 4), (3, 1, 2, 4),
    ]  # fmt: skip


def test_call_that_outlasts_the_outer_one_is_cut():
    built, counts, problems = build([complete(0, 0, 5), complete(1, 3, 8), complete(2, 6, 7)])
    assert built.calls.end.tolist() == [5, 5, 7]
    assert built.calls.parent.tolist() == [-1, 0, -1]
    assert counts == {"overlap": 1}
    assert problems["overlap"].first == "event 1"


def test_overlap_in_a_thread_written_by_ends():
    rows = [complete(1, 1, 2), complete(0, 0, 5), complete(2, 3, 8)]
    assert outline(rows) == ([(1, 0, 0, 5), (2, 1, 1, 2), (2, 2, 3, 5)], {"overlap": 1})


def test_negative_duration_counts_as_none():
    assert outline([complete(0, 5, 3), complete(1, 6, 7)]) == (
        [(1, 0, 5, 5), (1, 1, 6, 7)],
        {"negative duration": 1},
    )


def test_calls_of_no_duration_keep_their_place():
    # Before, inside at the start, inside at the end or behind: as written.
    assert outline([complete(1, 2, 2), complete(0, 2, 5)])[0] == [(1, 1, 2, 2), (1, 0, 2, 5)]
    assert outline([complete(0, 2, 5), complete(1, 2, 2)])[0] == [(1, 0, 2, 5), (2, 1, 2, 2)]
    assert outline([complete(0, 2, 5), complete(1, 5, 5)])[0] == [(1, 0, 2, 5), (1, 1, 5, 5)]
    by_ends = [complete(3, 3, 4), complete(1, 5, 5), complete(0, 2, 5)]
    assert outline(by_ends)[0] == [(1, 0, 2, 5), (2, 3, 3, 4), (2, 1, 5, 5)]
    assert outline([complete(0, 2, 2), complete(1, 2, 2)])[0] == [(1, 0, 2, 2), (1, 1, 2, 2)]
    assert outline([begin(0, 2), begin(1, 2), end(1, 2), end(0, 2)])[0] == [(1, 0, 2, 2), (2, 1, 2, 2)]


def test_complete_and_begin_of_one_time():
    rows = [complete(0, 20, 21), begin(1, 20), end(1, 22)]
    assert outline(rows) == ([(1, 1, 20, 22), (2, 0, 20, 21)], {})
    rows = [begin(0, 0), complete(1, 5, 9), end(0, 5)]
    assert outline(rows)[0] == [(1, 0, 0, 5), (1, 1, 5, 9)]


def test_events_out_of_order_are_sorted_and_counted():
    rows = [begin(0, 0), begin(1, 5), end(2, 3), begin(2, 2), end(1, 6), end(0, 9)]
    built, counts, problems = build(rows)
    assert built.calls.function.tolist() == [0, 2, 1]
    assert built.call_of_event.tolist() == [0, 2, 1, 1, 2, 0]
    assert counts == {"out of order": 2}
    assert problems["out of order"].first == "event 2"


def test_one_time_far_off_does_not_make_the_rest_late():
    rows = [begin(0, 10**15), end(0, 10**15 + 1)]
    rows += [row for i in range(50) for row in (begin(1, 2 * i), end(1, 2 * i + 1))]
    built, _, _ = build(rows)
    assert built.calls.function.tolist() == [1] * 50 + [0]


def test_records_follow_their_calls():
    rows = [complete(1, 1, 2), complete(0, 0, 5), complete(2, 7, 8)]
    built, _, _ = build(rows, record=[10, -1, 30])
    assert built.calls.record.tolist() == [-1, 10, 30]
    built, _, _ = build([begin(0, 0), begin(1, 1), end(1, 2), end(0, 3)], record=[5, 6, -1, -1])
    assert built.calls.record.tolist() == [5, 6]


def test_events_of_no_thread_are_left_out():
    built, _, _ = build([begin(0, 0), (-1, BEGIN, 0, 1, 0), (7, END, 0, 1, 0), end(0, 2)])
    assert len(built.calls) == 1
    assert built.call_of_event.tolist() == [0, -1, -1, 0]


def test_nothing():
    built, problems, _ = build([], threads=0)
    assert len(built.calls) == 0
    assert not problems
    built, _, _ = build([end(0, 1)], threads=3)
    assert built.count.tolist() == [0, 0, 0]


def test_wrong_columns_are_refused():
    with pytest.raises(ValueError, match="function"):
        build([begin(-1, 0)])
    with pytest.raises(ValueError, match="kind"):
        build([(0, 3, 0, 0, 0)])
    good = to_events([begin(0, 0)])
    with pytest.raises(ValueError, match="length"):
        build_calls(
            Events(good.thread, good.kind, good.function, good.time[:0], good.end), 1, Problems(), str, 0
        )


def test_read_only_columns_will_do():
    events = to_events([complete(0, 0, 5)])
    for name in vars(events):
        getattr(events, name).flags.writeable = False
    assert len(build_calls(events, 1, Problems(), str, 0).calls) == 1


# -- depth ---------------------------------------------------------------------------------------

DEEP = 1_000_000


def deep_events(shape):
    up = np.arange(DEEP, dtype=np.int64)
    zeros = np.zeros(DEEP, np.int32)
    if shape == "pairs":
        time = np.arange(2 * DEEP, dtype=np.int64)
        kind = np.repeat(np.array([BEGIN, END], np.uint8), DEEP)
        return Events(np.zeros(2 * DEEP, np.int32), kind, np.zeros(2 * DEEP, np.int32), time, time)
    if shape == "never closed":
        return Events(zeros, np.full(DEEP, BEGIN, np.uint8), zeros, up, up)
    start, stop = up, 2 * DEEP - up
    if shape == "by ends":
        start, stop = start[::-1], stop[::-1]
    if shape == "in no order":
        turn = np.random.default_rng(5).permutation(DEEP)
        start, stop = start[turn], stop[turn]
    if shape == "mixed":
        kind = np.where(up % 2 == 0, COMPLETE, BEGIN).astype(np.uint8)
        return Events(zeros, kind, zeros, up, stop)
    return Events(zeros, np.full(DEEP, COMPLETE, np.uint8), zeros, start.copy(), stop.copy())


@pytest.mark.parametrize("shape", ["pairs", "never closed", "by begins", "by ends", "in no order", "mixed"])
def test_recursion_a_million_deep(shape):
    built = build_calls(deep_events(shape), 1, Problems(), str, 0)
    assert np.array_equal(built.calls.depth, np.arange(1, DEEP + 1))
    assert np.array_equal(built.calls.parent, np.arange(-1, DEEP - 1))
    assert np.array_equal(built.calls.extent, np.arange(DEEP, 0, -1))


# -- against the twin ----------------------------------------------------------------------------

times = st.integers(0, 8)
some_thread = st.integers(0, 2)
some_function = st.integers(0, 2)


def rows_of(kinds, functions=some_function):
    return st.lists(
        st.tuples(some_thread, kinds, functions, times, st.integers(-1, 9)).map(
            lambda row: (*row[:4], row[4]) if row[1] == COMPLETE else (*row[:4], 0)
        ),
        max_size=14,
    )


def by_time(rows):
    return sorted(rows, key=lambda row: row[3])


def by_end(rows):
    return sorted(rows, key=lambda row: max(row[3], row[4]) if row[1] == COMPLETE else row[3])


pairs = rows_of(st.sampled_from([BEGIN, END]))
completes = rows_of(st.just(COMPLETE))
mixed = rows_of(st.sampled_from([BEGIN, END, COMPLETE]))
anything = st.one_of(
    pairs, pairs.map(by_time), completes, completes.map(by_time), completes.map(by_end),
    mixed, mixed.map(by_time), mixed.map(by_end),
)  # fmt: skip


def nameless(rows):
    return [(t, k, -1 if k == END and f == 2 else f, time, stop) for t, k, f, time, stop in rows]


#: How many events threads may have that are sorted together: all, or those of one thread.
TOGETHER = st.sampled_from([1 << 22, 1])


def compare_with_twin(rows, together=1 << 22):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "_SORTED", together)
        built, problems, _ = build(rows, threads=3)
    assert_valid(built, 3)
    roots, wanted_problems = trace_twin.build(rows, 3)
    wanted = []
    call_of = {}
    for thread, thread_roots in enumerate(roots):
        for row, depth in trace_twin.pre_order(thread_roots):
            call_of[row.index] = len(wanted)
            wanted.append((thread, depth, row.function, row.time, row.end))
    c = built.calls
    found = list(zip(*(getattr(c, n).tolist() for n in ("thread", "depth", "function", "start", "end"))))
    assert found == wanted
    assert problems == wanted_problems
    for i, row in enumerate(rows):
        if row[1] != END:
            assert built.call_of_event[i] == call_of[i]


@settings(max_examples=500, deadline=None)
@given(anything, TOGETHER)
def test_like_the_twin(rows, together):
    compare_with_twin(rows, together)


@settings(max_examples=200, deadline=None)
@given(mixed.map(nameless), TOGETHER)
def test_like_the_twin_with_ends_that_name_nothing(rows, together):
    compare_with_twin(rows, together)


def test_threads_are_sorted_in_a_few_parts(monkeypatch):
    """No more than an eighth of all events is sorted at once, and the thread that is begun."""
    parts = []

    class Watched(builder._Builder):
        def _gather(self, wanted):
            parts.append(np.flatnonzero(wanted).tolist())
            return super()._gather(wanted)

    monkeypatch.setattr(builder, "_SORTED", 1)
    monkeypatch.setattr(builder, "_Builder", Watched)
    # Of one thread there are forty events, of each of ten others four, none in order.
    rows = [complete(0, 10 * k, 10 * k + 1, thread=0) for k in reversed(range(40))]
    rows += [complete(0, 10 * k, 10 * k + 1, thread=t) for t in range(1, 11) for k in (3, 1, 2, 0)]
    built, _, _ = build(rows, threads=11)
    assert parts == [[0], [1, 2, 3], [4, 5], [6, 7, 8], [9, 10]]
    assert len(built.calls) == 80


@st.composite
def trees(draw):
    """A tree of calls in one thread as (parent, start, end) in pre-order, with strictly growing times."""
    parents = [-1]
    for i in range(1, draw(st.integers(1, 25))):
        parents.append(draw(st.integers(-1, i - 1)))
    children: dict[int, list[int]] = {}
    for i, p in enumerate(parents):
        children.setdefault(p, []).append(i)
    rows: list[list[int]] = []
    clock = 0

    def visit(node):
        nonlocal clock
        clock += draw(st.integers(1, 3))
        row = [clock, 0]
        rows.append(row)
        for child in children.get(node, ()):
            visit(child)
        clock += draw(st.integers(1, 3))
        row[1] = clock

    for root in children[-1]:
        visit(root)
    return [(i % 3, *row) for i, row in enumerate(rows)]


@settings(max_examples=200, deadline=None)
@given(trees(), st.randoms(use_true_random=False))
def test_every_way_to_write_a_tree_gives_the_tree(tree, random):
    pairs = sorted(
        [begin(f, a) for f, a, b in tree] + [end(f, b) for f, a, b in tree], key=lambda row: row[3]
    )
    by_begins = [complete(f, a, b) for f, a, b in tree]
    by_ends = sorted(by_begins, key=lambda row: row[4])
    shuffled = random.sample(by_begins, len(by_begins))
    mixed = [row for row in pairs if row[2] == 0] + [row for row in shuffled if row[2] != 0]
    wanted, problems, _ = build(by_begins)
    assert not problems
    for rows in (pairs, by_ends, shuffled, mixed):
        built, problems, _ = build(rows)
        assert_valid(built, 3)
        for name in COLUMNS:
            assert np.array_equal(getattr(built.calls, name), getattr(wanted.calls, name))
        assert set(problems) <= {"out of order"}
    assert not build(pairs)[1]
    assert not build(by_ends)[1]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(anything.map(lambda rows: [(0, *row[1:]) for row in rows]), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_threads_do_not_mix(streams, random):
    """However threads are interleaved, each is built as if it were alone."""
    waiting = [[(t, *row[1:]) for row in rows] for t, rows in enumerate(streams)]
    merged = []
    while any(waiting):
        chosen = random.choice([rows for rows in waiting if rows])
        merged.append(chosen.pop(0))
    together, counts, _ = build(merged, threads=len(streams))
    total: dict[str, int] = {}
    for t, rows in enumerate(streams):
        alone, problems, _ = build(rows)
        for kind, n in problems.items():
            total[kind] = total.get(kind, 0) + n
        slice_ = slice(together.first[t], together.first[t] + together.count[t])
        for name in ("function", "depth", "start", "end", "extent"):
            assert np.array_equal(getattr(together.calls, name)[slice_], getattr(alone.calls, name))
    assert counts == total


# -- innermost -----------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(anything, st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 10)), max_size=12))
def test_innermost_like_looking_at_all(rows, queries):
    built, _, _ = build(rows, threads=3)
    c = built.calls
    found = innermost(
        c, built.first, built.count,
        np.array([t for t, _ in queries], np.int32), np.array([time for _, time in queries], np.int64),
    )  # fmt: skip
    for (thread, time), call in zip(queries, found.tolist()):
        started = [i for i in range(len(c)) if c.thread[i] == thread and c.start[i] <= time]
        current = started[-1] if started else -1
        while current >= 0 and c.end[current] < time:
            current = int(c.parent[current])
        assert call == current


def test_first_place_is_the_first_in_the_file():
    """Threads are built one after another, but the first problem of all is reported."""
    rows = [
        begin(0, 0, 0), begin(0, 0, 1), complete(0, 9, 7, 3), end(1, 1, 1), end(1, 1, 0), end(0, 2, 0),
        end(0, 2, 1), begin(0, 4, 1), begin(0, 4, 0), begin(0, 5, 2), complete(0, 9, 7, 0), end(0, 4, 2),
    ]  # fmt: skip
    _, _, problems = build(rows, threads=4)
    assert {kind: (p.count, p.first) for kind, p in problems.items()} == {
        "unmatched end": (3, "event 3"),
        "unmatched begin": (3, "event 7"),
        "negative duration": (2, "event 2"),
        "out of order": (1, "event 11"),
    }
