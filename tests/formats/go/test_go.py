"""Go's execution traces: recordings by two versions held against Go's tool."""

import json
import re
from collections import Counter

import numpy as np
import pytest

from tests.conftest import ROOT
from tracevis3d.errors import TraceVisError
from tracevis3d.formats import registry
from tracevis3d.formats.go import handover
from tracevis3d.trace.model import RELEASE, WAIT

DATA = ROOT / "tests" / "data" / "go"
NEW, OLD = DATA / "shop_1_26.go.trace.gz", DATA / "shop_1_19.go.trace.gz"
TOTALS = json.loads((DATA / "totals.json").read_text())
#: What Go's tool counts as waiting for other goroutines.
SYNC = ("chan send", "chan receive", "select", "sync", "sync.(*Cond).Wait", "GC mark assist wait for work")


def totals(trace):
    """Return how often and how long each state of goroutines is."""
    calls, found = trace.calls, {}
    for function, name in enumerate(trace.functions.name):
        mine = calls.function == function
        found[name] = [int(mine.sum()), int((calls.end[mine] - calls.start[mine]).sum())]
    return found


def test_states_of_goroutines_last_as_go_says():
    trace = registry.open_trace(NEW)
    assert trace.source.format == "go"
    assert not trace.problems
    ours = totals(trace)
    for name, (count, lasts) in TOTALS["shop_1_26"]["states"].items():
        assert ours[name][0] == count, name
        # What goes on when the trace ends, ends with it: half a tick more or less for each.
        assert abs(ours[name][1] - lasts) < 10, name


def test_who_unblocks_whom_is_what_go_says():
    trace = registry.open_trace(NEW)
    sync, threads = trace.sync, trace.threads
    own = {tid for tid, name in zip(threads.tid, threads.name) if handover._is_own(name)}
    assert own
    ours = Counter()
    for row in np.flatnonzero(sync.kind == RELEASE).tolist():
        by = threads.tid[sync.thread[row]]
        said = re.fullmatch(r"goroutine (\d+) \(.*\)", sync.objects[sync.object[sync.first[row]]])
        ours["-1" if by == "runtime" else str(by), int(said[1])] += 1
    pairs = {tuple(pair.split()): count for pair, count in TOTALS["shop_1_26"]["unblocks"].items()}
    assert ours == {(by, int(of)): count for (by, of), count in pairs.items()}
    for row in np.flatnonzero(sync.kind == WAIT).tolist():
        name, tid = sync.names[sync.name[row]], threads.tid[sync.thread[row]]
        assert name.startswith("runtime: ") == (tid in own or name == "runtime: network")


def test_old_traces_block_as_long_as_go_says():
    trace = registry.open_trace(OLD)
    assert not trace.problems
    calls, said = trace.calls, TOTALS["shop_1_19"]
    named = np.array(trace.functions.name, object)[calls.function]
    ended = calls.end < calls.end.max()
    for kind, reasons in (("sync", SYNC), ("net", ("network",))):
        mine = ended & np.isin(named, reasons)
        lasts = int((calls.end[mine] - calls.start[mine]).sum())
        assert mine.sum() == said[kind]["contentions"]
        assert abs(lasts - said[kind]["delay"]) < 200
    count, inside = totals(trace)["system call"]
    assert count == said["syscall"]["contentions"]
    assert abs(inside - said["syscall"]["delay"]) < 100


@pytest.mark.parametrize("path", [NEW, OLD], ids=["1.26", "1.19"])
def test_what_the_program_says_itself_is_there(path):
    trace = registry.open_trace(path)
    names = [trace.functions.label[f] for f in trace.calls.function.tolist()]
    assert names.count("pack") == 30
    assert [trace.spans.names[k] for k in trace.spans.name.tolist()] == ["day"]
    said = Counter(trace.instants.names[k] for k in trace.instants.name.tolist())
    assert sum(said[f"packed by: {name}"] for name in ("Ada", "Ben", "Cem")) == 30
    assert {"heap (bytes)", "heap goal (bytes)", "GOMAXPROCS"} <= set(trace.counters.name)
    assert {trace.threads.name[t] for t in trace.flows.target_thread.tolist()} >= {"main.report"}
    # Each wait is a call of its own, below the functions in which the goroutine waits.
    waits = np.flatnonzero(trace.sync.kind == WAIT)
    calls = trace.sync.call[waits]
    assert (calls >= 0).all()
    assert np.array_equal(trace.calls.start[calls], trace.sync.start[waits])
    assert np.array_equal(trace.calls.end[calls], trace.sync.end[waits])


def test_other_versions(tmp_path):
    path = tmp_path / "old.trace"
    path.write_bytes(b"go 1.5 trace\0\0\0\0")
    with pytest.raises(TraceVisError, match=r"trace of Go 1\.5"):
        registry.open_trace(path)
    path.write_bytes(b"go 1.26 trace\0\0\0")
    with pytest.raises(TraceVisError, match="no goroutine does anything"):
        registry.open_trace(path)


def test_regions_that_do_not_fit_are_repaired_and_reported(tmp_path):
    # A text; goroutine 1 runs, begins a region, another runs there, and it runs again and ends two regions.
    body = [b"\4\5\1\1x", b"\x10\1\1\1", b"\x2a\1\0\1\0", b"\x13\1\0\0", b"\x10\1\2\1", b"\x13\1\0\0"]
    body += [b"\x10\1\1\2", b"\x2b\1\0\1\0", b"\x2b\1\0\1\0", b"\x1d\1\1\0", b"\x1e\1\1"]
    whole = b"".join([b"\x08\x80\x94\xeb\xdc\3", *body])
    path = tmp_path / "crossed.go.trace"
    path.write_bytes(b"go 1.26 trace\0\0\0" + bytes([1, 1, 1, 0, len(whole)]) + whole)
    trace = registry.open_trace(path)
    calls, names = trace.calls, trace.functions.label
    said = [
        (names[f], *map(int, row)) for f, *row in zip(calls.function, calls.depth, calls.start, calls.end)
    ]
    assert said == [
        ("goroutine 1", 1, 0, 9),
        ("x", 2, 1, 6),
        ("ready to run", 3, 2, 5),
        ("goroutine 2", 1, 3, 9),
        ("ready to run", 2, 4, 9),
        ("garbage collection", 1, 8, 9),
    ]
    (unmatched,) = trace.problems.values()
    assert [*trace.problems] == ["unmatched end"]
    assert (unmatched.count, unmatched.first) == (1, "byte 62")
