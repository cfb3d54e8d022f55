"""Go's execution traces: recordings by two versions held against Go's tool, and their bytes read plainly."""

import gzip
import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.errors import TraceVisError
from tracevis3d.formats import registry
from tracevis3d.formats.go import handover, tables
from tracevis3d.kernels.formats.lay.goroutines import find_last_changes
from tracevis3d.kernels.formats.scan import go as kernels
from tracevis3d.trace.model import RELEASE, WAIT

DATA = ROOT / "tests" / "data" / "go"
NEW, OLD = DATA / "shop_1_26.go.trace.gz", DATA / "shop_1_19.go.trace.gz"
TOTALS = json.loads((DATA / "totals.json").read_text())
BYTES = {False: gzip.decompress(NEW.read_bytes()), True: gzip.decompress(OLD.read_bytes())}
#: What Go's tool counts as waiting for other goroutines.
SYNC = ("chan send", "chan receive", "select", "sync", "sync.(*Cond).Wait", "GC mark assist wait for work")


class Cut(Exception):
    """The bytes end."""


def number(data, at, stop):
    """Return a variable-length number and what follows it."""
    value = shift = 0
    while at < stop and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            value &= (1 << 64) - 1
            return value - (1 << 64) * (value >> 63), at
    raise Cut


def numbers(data, at, stop, many):
    found = []
    for _ in range(many):
        value, at = number(data, at, stop)
        found.append(value)
    return found, at


def stack_of(data, at, stop):
    """Return the number and frames of a stack, and what follows it."""
    (key, many), at = numbers(data, at, stop, 2)
    if not 0 <= many <= 4096:
        raise Cut
    frames = []
    for _ in range(many):
        words, at = numbers(data, at, stop, 4)
        frames.append(tuple(words[1:]))
    return key, frames, at


def text_of(data, at, stop):
    (key, many), at = numbers(data, at, stop, 2)
    if not 0 <= many <= stop - at:
        raise Cut
    return key, (at, many), at + many


def plainly_new(data):
    """Read a trace of Go 1.22 or later entry by entry."""
    events, texts, stacks = [], [], []
    at = 16
    try:
        while at < len(data):
            what, at = data[at], at + 1
            if what == 52:
                continue
            if what not in (1, 49):
                break
            (generation, stream, now, size), at = numbers(data, at + (what == 49), len(data), 4)
            stop = at + size if 0 <= size <= len(data) - at else len(data)
            begun = now
            try:
                while what == 1 and at < stop:
                    place, kind, at = at, data[at], at + 1
                    if kind in (2, 4, 6, 50):
                        continue
                    if kind == 5:
                        key, said, at = text_of(data, at, stop)
                        texts.append((generation, key, *said))
                    elif kind == 3:
                        key, frames, at = stack_of(data, at, stop)
                        stacks.append((generation, key, frames))
                    else:
                        many = {7: 5, 8: 1, 51: 4}.get(kind) or (
                            kernels.ARGUMENTS[kind] + 1 if kind < len(kernels.ARGUMENTS) else 0
                        )
                        if not many:
                            break
                        words, at = numbers(data, at, stop, many)
                        if kind not in (8, 51):
                            delta, *words = words
                            now = delta if kind == 7 else now + delta
                        events.append((place, generation, stream, begun, now, kind, *words))
            except Cut:
                pass
            at = stop
    except Cut:
        pass
    return events, texts, stacks


def plainly_old(data):
    """Read a trace of Go 1.21 or before entry by entry."""
    events, texts, stacks = [], [], []
    stream, begun, now, at = -1, 0, 0, 16
    try:
        while at < len(data):
            place, kind, many, at = at, data[at] & 0x3F, (data[at] >> 6) + 1, at + 1
            if kind == 37:
                key, said, at = text_of(data, at, len(data))
                texts.append((0, key, *said))
                continue
            stop = len(data)
            if many == 4:
                size, at = number(data, at, len(data))
                if not 0 <= size <= len(data) - at:
                    break
                stop = at + size
            if not 0 < kind < 50:
                break
            if kind == 3:
                key, frames, _ = stack_of(data, at, stop)
                stacks.append((0, key, frames))
                at = stop
                continue
            words = []
            while at < stop if many == 4 else len(words) < many:
                word, at = number(data, at, stop)
                words.append(word)
            if kind == 1:
                if words:
                    stream = words[0]
                if len(words) > 1:
                    now = words[-1]
                begun = now
                continue
            if kind not in (2, 35) and words:
                delta, *words = words
                now += delta
            if kind == 48:
                size, at = number(data, at, len(data))
                if not 0 <= size <= len(data) - at:
                    break
                texts.append((0, -at, at, size))
                words = [*[*words, 0, 0, 0, 0][:4], -at]
                at += size
            events.append((place, 0, stream, begun, now, kind, *words))
    except Cut:
        pass
    return events, texts, stacks


def wide(rows):
    """Return events with all columns, as int64 has them."""
    limit = 1 << 64
    full = [(*row, 0, 0, 0, 0, 0)[: kernels.EVENT_COLUMNS] for row in rows]
    return [tuple((value + limit // 2) % limit - limit // 2 for value in row) for row in full]


def same_both_ways(data, is_old):
    state = np.zeros(kernels.STATE_SIZE, np.int64)
    column = np.frombuffer(data, np.uint8)
    out = tables._room([0] * 4)
    tables._scan(column, 16, True, state, out, is_old=is_old)
    counts = state[:4].tolist()
    out = tables._room(counts)
    for table in out:
        table.fill(-9)
    state[:] = 0
    tables._scan(column, 16, False, state, out, is_old=is_old)
    assert state[:4].tolist() == counts
    events, texts, stacks = (plainly_old if is_old else plainly_new)(data)
    assert [tuple(row) for row in out[0].T.tolist()] == wide(events)
    assert [tuple(row) for row in out[1].tolist()] == texts
    rows, frames = out[2].tolist(), [tuple(row) for row in out[3].tolist()]
    assert [(gen, key, frames[low : low + many]) for gen, key, low, many in rows] == stacks


@pytest.mark.parametrize("is_old", [False, True])
def test_recordings_are_what_their_bytes_say(is_old):
    same_both_ways(BYTES[is_old], is_old)


@settings(max_examples=60, deadline=None)
@given(st.booleans(), st.data())
def test_damaged_bytes_are_read_as_far_as_a_plain_reading_gets(is_old, data):
    whole = BYTES[is_old]
    low = data.draw(st.integers(16, len(whole) - 1))
    changed = bytearray(whole[:16] + whole[16 : min(low + 2000, len(whole))])
    for at in data.draw(st.lists(st.integers(16, len(changed) - 1), max_size=4)):
        changed[at] = data.draw(st.integers(0, 255))
    same_both_ways(bytes(changed), is_old)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 5), max_size=4).map(sorted), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 6)), max_size=6),
)
def test_the_last_change_before_a_moment_is_found(times, moments):
    moments = [(of % len(times), at) for of, at in moments]
    first = np.cumsum([0, *map(len, times)])
    of, at = np.array(moments, np.int64).reshape(-1, 2).T.copy()
    found = np.empty(len(moments), np.int64)
    find_last_changes(first, np.array([at for some in times for at in some], np.int64), of, at, found)
    for (one, moment), row in zip(moments, found.tolist()):
        before = [first[one] + k for k, time in enumerate(times[one]) if time <= moment]
        assert row == max(before, default=-1)


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
