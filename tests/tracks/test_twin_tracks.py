"""The tracks of a trace and its loads, against plain twins that look at every nanosecond."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tests.waits.sync_traces import trace_of
from tracevis3d.errors import UsageError
from tracevis3d.features.tracks.activity import innermost_calls, waiting, waiting_calls
from tracevis3d.features.tracks.loads import Load, describe_balance, loads_of, shares
from tracevis3d.features.tracks.series import Rate, held
from tracevis3d.features.tracks.tracks import Band, Track, chosen, extent, tracks_of
from tracevis3d.trace.model import ALLOC, IO, RELEASE, WAIT, Counters, Sync, Trace
from tracevis3d.trace.problems import Problems
from tracevis3d.trace.strings import Strings

SEEDS = st.integers(0, 60)


def synced(trace, seed, names=9):
    """Return the trace with waits, releases and transfers that begin with random calls."""
    rng = np.random.default_rng(seed)
    call = np.sort(rng.choice(len(trace.calls), min(15, len(trace.calls)), replace=False))
    thread = trace.calls.thread[call]
    order = np.lexsort((trace.calls.start[call], thread))
    call, thread, n = call[order], thread[order], len(call)
    sync = Sync(
        call=np.where(rng.random(n) < 0.1, -1, call).astype(np.int64), thread=thread,
        # Some last longer than what the trace has of their calls.
        start=trace.calls.start[call], end=trace.calls.end[call] + 3 * rng.integers(0, 2, n),
        kind=rng.choice([WAIT, WAIT, IO, RELEASE], n).astype(np.uint8),
        contended=rng.choice([-1, 0, 1, 2], n).astype(np.int8),
        name=rng.integers(0, names, n).astype(np.int32), first=np.zeros(n + 1, np.int64),
        names=Strings.of([f"operation {i}" for i in range(names)]),
    )  # fmt: skip
    return replace(trace, sync=sync)


def made(seed, threads=2, **settings):
    trace = walked_trace(seed, steps=30, threads=threads, longest=6, **settings)
    return synced(trace, seed)


def keyed(trace):
    return {track.key: track for track in tracks_of(trace)}


def each(series, trace):
    """Return the value of steps in each nanosecond of a trace."""
    at = np.searchsorted(series.time, np.arange(trace.span_ns + 1), "right") - 1
    return np.append(series.value, 0.0)[at].tolist()


def inside(trace, start, end):
    """Return how many stretches there are in each nanosecond."""
    found = np.zeros(trace.span_ns + 1)
    for low, high in zip(start, end):
        found[int(low) : int(high)] += 1
    return found.tolist()


@given(SEEDS, st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_how_many_run_wait_and_transfer(seed, threads):
    trace = made(seed, threads)
    known, calls, sync = keyed(trace), trace.calls, trace.sync
    used = len({*calls.thread.tolist()})
    running, waits = known["running"], waiting(trace)
    kind = "that run" if len(waits.start) else "within a call"
    assert (running.title, running.ceiling) == (f"Threads {kind}, of {used}", used)
    assert (running.write(1.0), running.write(2.0)) == ("1 thread", "2 threads")
    band = running.bands[0].occurrences
    roots = np.flatnonzero(calls.depth == 1)
    assert (band.call.tolist(), band.start.tolist()) == (roots.tolist(), calls.start[roots].tolist())
    within = np.flatnonzero(sync.call[waits.row] >= 0)
    runs = np.array(inside(trace, calls.start[roots], calls.end[roots]))
    runs -= inside(trace, waits.start[within], waits.end[within])
    assert each(running.bands[0].series, trace) == np.maximum(runs, 0).tolist()
    if len(waits.start):
        track = known["waits"]
        assert track.title == f"Threads that wait, of {len(trace.threads)}"
        assert track.ceiling == len({*waits.thread.tolist()})
        rows, time = waits.row.tolist(), Counter()
        for row, low, high in zip(rows, waits.start.tolist(), waits.end.tolist()):
            time[int(sync.name[row])] += high - low
        order = sorted(time, key=lambda name: (-time[name], name))
        groups = [([name], f"operation {name}", place) for place, name in enumerate(order[:6])]
        if len(order) > 6:
            more = len(order) - 6
            groups.append((order[6:], f"{more} other{'s' if more > 1 else ''}", -1))
        assert [(one.name, one.color) for one in track.bands] == [group[1:] for group in groups]
        for one, (names, *_) in zip(track.bands, groups, strict=True):
            mine = [k for k, row in enumerate(rows) if sync.name[row] in names]
            assert each(one.series, trace) == inside(trace, waits.start[mine], waits.end[mine])
            assert one.occurrences.call.tolist() == sync.call[waits.row[mine]].tolist()
    else:
        assert "waits" not in known
    transfers = waiting(trace, IO)
    if len(transfers.start):
        assert known["io"].title == "Threads that read or write"
        assert known["io"].ceiling == len({*transfers.thread.tolist()})
        found = each(known["io"].bands[0].series, trace)
        assert found == inside(trace, transfers.start, transfers.end)
    else:
        assert known["io"].title == "Transfers a second" if IO in sync.kind else "io" not in known


def test_of_many_causes_six_have_bands_of_their_own():
    text = [f"a {20 * i} {20 * i + 9 - i} wait{i} wait L 1" for i in range(8)]
    track = keyed(trace_of("\n".join(text)))["waits"]
    assert [(band.name, band.color) for band in track.bands] == [
        *((f"wait{i}", i) for i in range(6)), ("2 others", -1)
    ]  # fmt: skip
    assert track.bands[-1].occurrences.start.tolist() == [120, 140]


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_what_runs_is_told_by_module_and_the_depth_of_one_thread(seed):
    trace = made(seed, 1 + seed % 2, functions=14, modules=11)
    known, calls = keyed(trace), trace.calls
    segments = innermost_calls(trace)
    if seed % 2:
        assert "depth" not in known
    else:
        depth = np.zeros(trace.span_ns + 1)
        for low, high, call in zip(segments.start, segments.end, segments.call):
            depth[low:high] = calls.depth[call]
        assert each(known["depth"].bands[0].series, trace) == depth.tolist()
        assert known["depth"].write(3.0) == "depth 3"
        assert known["depth"].bands[0].occurrences.call.tolist() == segments.call.tolist()
    segments = segments.only(~waiting_calls(trace)[segments.call])
    own, runs = Counter(), {}
    module = [trace.containers.name[c] for c in trace.functions.container[calls.function].tolist()]
    every = innermost_calls(trace)
    for low, high, call in zip(every.start.tolist(), every.end.tolist(), every.call.tolist()):
        own[module[call]] += high - low
    for i, call in enumerate(segments.call.tolist()):
        runs.setdefault(module[call], []).append(i)
    if not runs:
        assert "modules" not in known
        return
    track = known["modules"]
    coloured = [name for name, _ in own.most_common(8)]
    least = min(own[name] for name in coloured)
    for band in track.bands:
        if band.color < 0:
            mine = [i for name, rows in runs.items() for i in rows if name not in names_of(track)]
        else:
            mine = runs[band.name]
            assert own[band.name] >= least
        assert sorted(band.occurrences.call.tolist()) == sorted(segments.call[mine].tolist())
        assert each(band.series, trace) == inside(trace, segments.start[mine], segments.end[mine])
    areas = [sum(each(band.series, trace)) for band in track.bands if band.color >= 0]
    assert areas == sorted(areas, reverse=True)
    if len(own) < 9 or own.most_common(9)[7][1] > own.most_common(9)[8][1]:
        assert names_of(track) == {name for name in coloured if name in runs and own[name]}
    assert [band.color for band in track.bands].count(-1) <= 1
    assert all(band.color >= 0 for band in track.bands[:-1])
    many = len({*calls.thread.tolist()})
    assert (track.title, track.ceiling) == ("Modules that run", many)
    assert track.write(0.5) == ("50 %" if many == 1 else "0.5 threads")
    assert track.tick(0.5) == ("50 %" if many == 1 else "0.5")


def names_of(track):
    return {band.name for band in track.bands if band.color >= 0}


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_rates_are_of_calls_and_allocations(seed):
    trace = made(seed, allocations=12)
    known, edges = keyed(trace), np.array([0, 7, 20, 60, trace.span_ns + 1])
    rows = trace.memory.kind == ALLOC
    time, size = trace.memory.time[rows].tolist(), trace.memory.size[rows].tolist()
    starts = trace.calls.start.tolist()
    for key, events in (("calls", [(t, 1) for t in starts]), ("allocations", list(zip(time, size)))):
        found = known[key].bands[0].series.cells(edges).mean
        for a, b, rate in zip(edges[:-1].tolist(), edges[1:].tolist(), found.tolist()):
            assert rate == pytest.approx(1e9 * sum(w for t, w in events if a <= t < b) / (b - a))
    assert known["memory"].write(3e6) == "2.86 MiB"
    assert known["allocations"].write(3e6) == "2.86 MiB/s"
    assert [known["calls"].write(v) for v in (0.04, 999_999.0, 1e6, 1.005e6, 2.5e6)] == [
        "0/s", "999,999/s", "1 million/s", "1 million/s", "2.5 million/s"
    ]  # fmt: skip
    problems = Problems()
    problems.add("no times", "")
    untimed = keyed(replace(trace, problems=problems))
    assert {"calls", "allocations"} & untimed.keys() == set()
    assert "memory" in untimed


def counted(*series):
    """Return counters: (name, process, [(time, value), …])."""
    name, process, rows = zip(*series, strict=True)
    first = np.cumsum([0, *map(len, rows)])
    time, value = np.array([row for of in rows for row in of], np.float64).reshape(-1, 2).T
    return Counters(Strings.of(name), process, first, time.astype(np.int64), value)


def test_each_kind_has_a_colour_of_its_own():
    trace = replace(made(3, 1, allocations=12), counters=counted(("a", 1, [(0, 1)])))
    known = keyed(trace)
    colors = [track.bands[0].color for key, track in known.items() if key not in ("waits", "modules")]
    assert sorted(colors) == list(range(7))
    # Transfers are the same whether they last or not.
    trace.sync.end[:] = trace.sync.start
    again = keyed(replace(trace))["io"]
    assert again.title == "Transfers a second"
    assert again.bands[0].color == known["io"].bands[0].color


def test_counters_are_told_apart_and_written_as_their_names_say():
    nan = float("nan")
    counters = counted(
        ("load %", 1, [(0, 5), (10, nan), (20, 8)]), ("used BYTES", 1, [(3, 2e6)]),
        ("load %", "b", [(4, 1)]), ("lost", 1, [(0, nan)]), ("percent idle", 2, [(1, 1)]),
        ("queue", 3, [(1, 1200)]),
    )  # fmt: skip
    tracks = tracks_of(Trace(counters=counters, span_ns=30))
    assert [track.title for track in tracks] == [
        "load % (1)", "used BYTES", "load % (b)", "percent idle", "queue"
    ]  # fmt: skip
    assert [track.name for track in tracks] == [track.title for track in tracks]
    said = [track.write(track.bands[0].series.value[-1]) for track in tracks]
    assert said == ["8 %", "1.91 MiB", "1 %", "1 %", "1,200"]
    assert tracks[0].bands[0].series.time.tolist() == [0, 20]
    assert tracks[0].bands[0].series.value.tolist() == [5.0, 8.0]
    assert all(track.key == "counters" for track in tracks)


def ramp(least, most, many=2):
    return [(i, least if i % 2 else most) for i in range(many)]


def test_by_itself_are_shown_the_six_counters_that_vary_most_and_what_changes():
    by_name = {
        "constant": ramp(5, 5), "tenth": ramp(9, 10), "third": ramp(6, 9), "half": ramp(5, 10),
        "all": ramp(0, 9), "more often": ramp(5, 10, 40), "below": ramp(-9, -3), "around": ramp(-5, 5),
        "least": ramp(99, 100, 100),
    }  # fmt: skip
    counters = counted(*((name, 1, rows) for name, rows in by_name.items()))
    trace = replace(made(1), counters=counters)
    found = [track.name for track in chosen(trace, "auto", "muted")]
    assert found[:6] == ["third", "half", "all", "more often", "below", "around"]
    assert "running" in found
    assert "depth" not in found
    assert [track.name for track in chosen(trace, " ", "muted")] == found
    assert len(chosen(trace, "all", "muted")) == len(tracks_of(trace))
    one = [track.name for track in chosen(made(1, 1), "auto", "muted")]
    assert "depth" in one
    assert "running" not in one
    constant = counted(("first", 1, ramp(5, 5)), ("second", 1, ramp(3, 3)))
    assert [t.name for t in chosen(Trace(counters=constant, span_ns=9), "auto", "muted")] == ["first"]
    # Of two that vary as far the one with more values says more, up to ten thousand.
    many = {f"n{n}": ramp(5, 10, n) for n in (2, 4, 6, 8, 10, 12, 14)}
    trace = Trace(counters=counted(*((name, 1, rows) for name, rows in many.items())), span_ns=50)
    assert [track.name for track in chosen(trace, "auto", "muted")] == ["n4", "n6", "n8", "n10", "n12", "n14"]


def test_tracks_are_asked_for_by_name_kind_and_pattern():
    counters = counted(("CPU a", 1, ramp(1, 2)), ("cpu b", 1, ramp(1, 2)), ("waits", 1, ramp(1, 2)))
    trace = replace(made(1), counters=counters)

    def names(text):
        return [track.name for track in chosen(trace, text, "muted")]

    assert names("running,, CPU*") == ["running", "CPU a", "cpu b"]
    assert names("cpu b, cpu*") == ["cpu b", "CPU a"]
    # A counter may be called as a kind is.
    assert names("waits") == ["waits", "waits"]
    assert names("counters") == ["CPU a", "cpu b", "waits"]
    with pytest.raises(UsageError, match="tracks=,: names of tracks are expected"):
        names(",")
    with pytest.raises(UsageError, match="no track 'cpu'; it has counters, running, waits"):
        names("cpu")


def test_tracks_reach_to_the_last_value_and_are_a_nanosecond_long_at_least():
    assert extent(Trace(), ()) == (0, 1)
    late = tracks_of(Trace(counters=counted(("a", 1, [(0, 1), (70, 2)])), span_ns=30))
    assert extent(Trace(span_ns=30), late) == (0, 70)
    assert extent(Trace(span_ns=90), late) == (0, 90)


def busy_of(trace, low, high):
    """Return how long each thread is within calls in a window; at least 1 where one is called in it."""
    found = Counter()
    calls = trace.calls
    for call in np.flatnonzero(calls.depth == 1).tolist():
        start, end = int(calls.start[call]), int(calls.end[call])
        found[int(calls.thread[call])] += max(min(end, high) - max(start, low), 0)
    return found


@given(SEEDS, st.integers(1, 30))
@example(3, 30)
@settings(max_examples=12, deadline=None)
def test_the_busiest_threads_are_loads_in_their_order(seed, threads):
    trace = synced(walked_trace(seed, steps=6, threads=threads, longest=9), seed)
    low, high = 0, trace.span_ns
    busy = busy_of(trace, low, high)
    if not any(busy.values()):
        return
    what, loads = loads_of(trace, (), "threads", (low, high), "muted")
    assert what == "Share of time in which each thread runs"
    order = sorted((t for t in range(threads) if busy[t]), key=lambda t: (-busy[t], t))
    waits, calls = waiting(trace), trace.calls
    assert [load.color for load in loads] == list(range(len(loads)))
    assert len(loads) >= min(24, len(order))
    for load, thread in zip(loads, sorted(order[:24]) if len(loads) == len(order[:24]) else []):
        roots = np.flatnonzero((calls.depth == 1) & (calls.thread == thread))
        runs = np.array(inside(trace, calls.start[roots], calls.end[roots]))
        mine = np.flatnonzero((waits.thread == thread) & (trace.sync.call[waits.row] >= 0))
        runs -= inside(trace, waits.start[mine], waits.end[mine])
        assert each(load.series, trace) == np.clip(runs, 0, 1).tolist()
        assert load.occurrences.call.tolist() == roots.tolist()
        assert f"worker-{thread}" in load.name
        assert load.full == 1.0


def test_what_the_loads_are_of_by_itself():
    three, two = (walked_trace(4, steps=40, threads=n) for n in (3, 2))

    def of(trace, what="auto", tracks=()):
        return loads_of(trace, tracks, what, (0, trace.span_ns), "muted")

    assert of(three)[0] == of(three, "threads")[0]
    said, loads = of(two)
    assert said == "Modules that run, as a share of 2 threads"
    assert [load.full for load in loads] == [2.0] * len(loads)
    assert {load.full for load in of(walked_trace(4, steps=40, threads=1), "modules")[1]} == {1.0}
    bands = keyed(two)["modules"].bands
    assert [(load.name, load.color) for load in loads] == [(band.name, band.color) for band in bands]
    with pytest.raises(UsageError, match="spokes=io: the trace records no io"):
        of(two, "io")
    counters = counted(("a", 1, [(0, 3), (4, 9)]), ("b", 1, [(2, -4)]))
    trace = Trace(counters=counters, span_ns=9)
    said, loads = of(trace, tracks=tracks_of(trace))
    assert said == "Each track, as a share of its highest value"
    assert [(load.name, load.full, load.color) for load in loads] == [("a", 9.0, 0), ("b", 0.0, 1)]
    with pytest.raises(UsageError, match="no thread runs in this window"):
        of(trace, "threads")
    said, loads = of(made(2), "waits")
    assert said.startswith("Threads that wait, of 2, as a share of ")
    bands = keyed(made(2))["waits"].bands
    assert [load.name for load in loads] == [band.name for band in bands]


def test_a_polygon_has_at_most_24_corners():
    band = Band("x", held(np.array([1]), np.array([2.0])), 0)
    track = Track("counters", "t", (band,) * 30, str)
    trace = Trace(span_ns=9)
    names = [load.name for load in loads_of(trace, (track,), "tracks", (0, 9), "muted")[1]]
    assert names == ["t x"] * 24
    rate = Track("calls", "c", (Band("", Rate(np.array([1, 2])), 0),), str)
    (load,) = loads_of(trace, (rate,), "tracks", (0, 9), "muted")[1]
    assert (load.name, load.full) == ("c", 0.0)


def test_shares_are_of_a_full_load_or_of_the_highest_value():
    edges = np.array([0, 10, 20])
    steps, below = (held(np.array([0, 10]), np.array(value)) for value in ([1.0, 3.0], [-1.0, -3.0]))
    rate = Rate(np.array([1, 2, 11]))
    loads = tuple(
        Load("", series, full, 0, None)
        for series, full in ((steps, 4.0), (steps, 2.0), (rate, 0.0), (below, 0.0))
    )
    np.testing.assert_allclose(shares(loads, edges), [[0.25, 0.75], [0.5, 1.0], [1.0, 0.5], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        ([0.0, 0.0], "Nothing runs"),
        ([0.5], "The load is even: each of 1 runs 50 % to 50 % of the time"),
        ([0.8, 0.2], "The load is even: each of 2"),
        ([0.81, 0.19], "a carries 81 % of the load; an even share of 2 would be 50 %"),
        ([0.6, 0.4], "The load is even: each of 2 runs 40 % to 60 % of the time"),
        ([0.75, 0.5], "The load is even: each of 2 runs 50 % to 75 % of the time"),
        ([0.61, 0.4], "a runs most, 61 % of the time, b least, 40 %"),
        ([0.4, 0.05], "a carries 89 % of the load; an even share of 2 would be 50 %"),
        ([0.1, 0.4, 0.4], "b runs most, 40 % of the time, a least, 10 %"),
    ],
)
def test_the_balance_is_told(share, expected):
    said = describe_balance(np.array(share)[:, None] * np.array([0.5, 1.5]), list("abc"))
    if share == [0.8, 0.2]:
        # Just at the bound: it is not carried by one, but one runs much more.
        expected = "a runs most, 80 % of the time, b least, 20 %"
    assert said == expected
