"""The level-of-detail cut against its definition, written out over all calls."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import synthetic
from tracevis3d.layout.cut import Cut, CutBuffers, CutIndex
from tracevis3d.trace.model import Calls


def index_of(calls: Calls) -> CutIndex:
    return CutIndex.of(calls, *synthetic.thread_slices(calls))


def plain_cut(calls, t0, t1, depth0, depth1, resolution, threads, step=1):
    """Return the calls and the clusters of a cut, as the definition says."""
    n = len(calls)
    resolution = math.ceil(resolution)
    start, end, depth, parent, thread = (
        getattr(calls, name).tolist() for name in ("start", "end", "depth", "parent", "thread")
    )
    wide = [end[i] - start[i] >= resolution for i in range(n)]
    inside = [
        start[i] < t1 and end[i] >= t0 and depth0 <= depth[i] <= depth1 and thread[i] in threads
        for i in range(n)
    ]
    levels: dict[tuple[int, int], list[int]] = {}
    for i in range(n):
        levels.setdefault((thread[i], depth[i]), []).append(i)

    def under(i):
        """Return the call at the first level of the row below; -1 if there is none."""
        for _ in range(step):
            i = parent[i] if i >= 0 else -1
        return i

    shown, clusters = [], []
    for (t, d), level in sorted(levels.items()):
        if (d - depth0) % step:
            continue
        run: list[int] = []
        runs = []
        previous = -1
        for place, i in enumerate(level):
            if not inside[i]:
                continue
            if wide[i]:
                shown.append(i)
                continue
            if d != depth0 and under(i) >= 0 and not wide[under(i)]:
                continue
            if run and (place != previous + 1 or start[i] - end[run[-1]] >= resolution):
                runs.append(run)
                run = []
            run.append(i)
            previous = place
        runs += [run] if run else []
        for members in runs:
            below = [j for i in members for j in range(i, i + int(calls.extent[i]))]
            longest = max(members, key=lambda i: (np.float32(end[i] - start[i]), -i))
            clusters.append(
                (t, d, min(depth1, max(depth[j] for j in below)), start[members[0]], end[members[-1]],
                 sum(inside[j] for j in below), longest, sum(end[i] - start[i] for i in members), members)
            )  # fmt: skip
    return shown, clusters, sum(inside)


def assert_rows_are(cut, calls, t0, t1, step):
    """Hold what shown calls represent to the definition: what meets the window in their row."""
    for i, call in enumerate(cut.calls.tolist()):
        low = calls.depth[call]
        below = range(call, call + int(calls.extent[call]))
        row = [j for j in below if calls.depth[j] < low + step and calls.depth[j] <= cut.depth1]
        assert cut.top[i] == max(calls.depth[j] for j in row)
        assert cut.merged[i] == sum(calls.start[j] < t1 and calls.end[j] >= t0 for j in row) - 1


def rows(index: CutIndex, cut: Cut):
    """Return the clusters of ``cut`` as tuples like the twin's."""
    c = cut.clusters
    columns = (c.thread, c.depth, c.bottom, c.start, c.end, c.calls, c.longest, c.covered)
    return [(*(int(column[k]) for column in columns), index.members(c, k).tolist()) for k in range(len(c))]


@given(data=st.data())
@settings(deadline=None, max_examples=400)
def test_same_as_twin(data: st.DataObject) -> None:
    seed, n = data.draw(st.integers(0, 2**32)), data.draw(st.integers(1, 120))
    calls = synthetic.random_calls(seed, n, threads=data.draw(st.integers(1, 3)))
    index = index_of(calls)
    last = int(calls.end.max())
    t0 = data.draw(st.integers(-1, last))
    t1 = data.draw(st.integers(t0 + 1, last + 2))
    deepest = int(calls.depth.max())
    depth0 = data.draw(st.just(1) | st.integers(1, deepest + 1))
    depth1 = data.draw(st.just(deepest + 1) | st.integers(depth0, deepest + 1))
    resolution = data.draw(st.one_of(st.integers(0, 12), st.floats(0, 60), st.just(1e30)))
    threads = data.draw(st.none() | st.lists(st.integers(0, int(calls.thread.max()))))
    chosen = range(3) if threads is None else set(threads)
    step = data.draw(st.integers(1, 5))
    shown, clusters, total = plain_cut(calls, t0, t1, depth0, min(depth1, deepest), resolution, chosen, step)
    cut = index.cut(t0, t1, depth0, depth1, resolution, threads, step=step)
    assert cut.calls.tolist() == shown
    if step > 1:
        assert_rows_are(cut, calls, t0, t1, step)
    assert rows(index, cut) == clusters
    assert cut.total == total
    for call in range(n):
        place = index.locate(cut, call)
        if place is None:
            assert call not in shown
            assert step == 1 or not (
                calls.start[call] < t1 and calls.end[call] >= t0
                and cut.depth0 <= calls.depth[call] <= cut.depth1
                and (threads is None or calls.thread[call] in threads)
            )  # fmt: skip
            assert not any(m <= call < m + calls.extent[m] for c in clusters for m in c[8]) or not (
                calls.start[call] < t1 and calls.end[call] >= t0 and calls.depth[call] <= cut.depth1
            )
        elif place[0] == "call":
            row = call
            while (calls.depth[row] - cut.depth0) % step:
                row = calls.parent[row]
            assert shown[place[1]] == row
        else:
            assert any(m <= call < m + calls.extent[m] for m in clusters[place[1]][8])


@given(st.integers(0, 2**32), st.integers(1, 25))
@settings(deadline=None, max_examples=50)
def test_at_and_position_same_as_twin(seed: int, n: int) -> None:
    calls = synthetic.random_calls(seed, n, threads=2)
    index = index_of(calls)
    assert index.order[[index.position(i) for i in range(n)]].tolist() == list(range(n))
    for thread in range(int(calls.thread.max()) + 1):
        for depth in range(int(calls.depth.max()) + 2):
            for time in range(-1, int(calls.end.max()) + 2):
                under = [
                    i
                    for i in range(n)
                    if calls.thread[i] == thread
                    and calls.depth[i] == depth
                    and (calls.start[i] <= time < calls.end[i] or calls.start[i] == time == calls.end[i])
                ]
                assert index.at(thread, time, depth) == (under[-1] if under else -1)


@pytest.mark.parametrize("window", [(0.0, 1.0), (0.3, 0.31), (0.5, 0.5001)])
@pytest.mark.parametrize("last_depth", [None, 7])
def test_program_like_trace_is_counted_to_the_last_call(window, last_depth) -> None:
    calls, first, count = synthetic.program(400_000, threads=3)
    index = CutIndex.of(calls, first, count)
    span = int(calls.end.max()) + 1
    t0, t1 = (int(share * span) for share in window)
    cut = index.cut(t0, t1, 1, last_depth, (t1 - t0) / 1920)
    inside = (calls.start < t1) & (calls.end >= t0) & (calls.depth <= (last_depth or 1000))
    assert cut.total == np.count_nonzero(inside)
    wide = calls.end - calls.start >= cut.resolution
    assert cut.calls.tolist() == sorted(
        np.flatnonzero(inside & wide).tolist(), key=lambda i: (calls.thread[i], calls.depth[i], i)
    )


def test_one_parent_of_a_million_leaves() -> None:
    calls = synthetic.flat(1_000_001, duration=10, gap=2)
    index = index_of(calls)
    cut = index.cut(0, int(calls.end.max()) + 1, resolution_ns=100)
    assert cut.calls.tolist() == [0]
    assert cut.clusters.calls.tolist() == [1_000_000]
    near = index.cut(12_000, 24_000, resolution_ns=11)
    assert near.total == 1001
    assert near.clusters.first.tolist() == [1001]


def test_gaps_as_wide_as_the_resolution_part_clusters() -> None:
    calls = synthetic.flat(11, duration=3, gap=10)
    index = index_of(calls)
    apart = index.cut(0, 1000, resolution_ns=10)
    assert len(apart.clusters) == 10
    assert len(index.cut(0, 1000, resolution_ns=11).clusters) == 1


def test_chain_a_million_deep() -> None:
    n = 1_000_000
    calls = synthetic.chain(n)
    index = index_of(calls)
    cut = index.cut(0, 2 * n + 1, resolution_ns=n)
    assert len(cut.calls) == n // 2 + 1
    assert cut.clusters.calls.tolist() == [n - len(cut.calls)]
    assert cut.clusters.bottom.tolist() == [n]
    assert index.cut(0, 2 * n + 1, 999_999, resolution_ns=5).total == 2
    assert index.at(0, n, n) == n - 1


def test_resolution_zero_shows_each_call_beyond_the_first_buffers() -> None:
    calls, first, count = synthetic.program(100_000, threads=2)
    cut = CutIndex.of(calls, first, count).cut(0, int(calls.end.max()) + 1)
    assert len(cut.clusters) == 0
    assert np.array_equal(np.sort(cut.calls), np.arange(100_000))


def test_many_clusters_go_beyond_the_first_buffers() -> None:
    calls = synthetic.flat(50_001, duration=1, gap=20)
    cut = index_of(calls).cut(0, int(calls.end.max()) + 1, resolution_ns=10)
    assert len(cut.clusters) == 50_000


def test_working_space_is_used_again() -> None:
    calls, first, count = synthetic.program(100_000)
    index = CutIndex.of(calls, first, count)
    buffers = CutBuffers()
    span = int(calls.end.max()) + 1
    one = index.cut(0, span, resolution_ns=span / 100, buffers=buffers)
    kept = one.calls.copy()
    index.cut(0, span, buffers=buffers)
    assert len(buffers.shown) >= 100_000
    assert np.array_equal(one.calls, kept)
    assert np.array_equal(index.cut(0, span, resolution_ns=span / 100, buffers=buffers).calls, kept)


def test_stored_columns_give_the_same_cut(tmp_path) -> None:
    calls, first, count = synthetic.program(20_000, threads=2)
    index = CutIndex.of(calls, first, count)
    np.savez(tmp_path / "index.npz", **index.arrays())
    with np.load(tmp_path / "index.npz") as stored:
        again = CutIndex.from_arrays(calls, dict(stored))
    span = int(calls.end.max()) + 1
    one, two = (i.cut(span // 3, span // 2, 2, 20, span / 5000) for i in (index, again))
    assert np.array_equal(one.calls, two.calls)
    assert rows(index, one) == rows(again, two)
    assert index.nbytes < 25 * len(calls)


def test_empty_traces_and_threads() -> None:
    assert CutIndex.of(Calls(), [], []).cut(0, 10).total == 0
    calls = synthetic.program(10)[0]
    index = CutIndex.of(calls, [0, 0, 10], [0, 10, 0])
    assert index.cut(0, int(calls.end.max()) + 1).total == 10
    assert index.at(0, 5, 1) == -1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"t0": 5, "t1": 5}, "empty"),
        ({"t0": 0, "t1": 5, "resolution_ns": -1}, "not a duration"),
        ({"t0": 0, "t1": 5, "resolution_ns": math.nan}, "not a duration"),
        ({"t0": 0, "t1": 5, "threads": [1]}, "numbered from 0 to 0"),
    ],
)
def test_what_makes_no_sense_is_reported(arguments, message) -> None:
    index = index_of(synthetic.program(10)[0])
    with pytest.raises(ValueError, match=message):
        index.cut(**arguments)
