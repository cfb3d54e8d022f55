"""pprof's profiles: Go's and Datadog's, held against what ``go tool pprof -top`` says; damaged ones."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.formats.profiles.test_wire import written
from tests.support.profile_facts import weights_of
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.distinct import places_among
from tracevis3d.formats.profiles import pprof
from tracevis3d.formats.wire import Messages
from tracevis3d.trace import profile
from tracevis3d.trace.recording import Recording

DATA = ROOT / "tests" / "data" / "profiles"
_ROW = re.compile(
    r"\s*(-?\d+)\w*\s+[\d.]+%\s+[\d.]+%\s+(-?\d+)\w*\s+[\d.]+%\s+(.*?)(?: \((?:partial-)?inline\))?"
)


def said_by_tool(name):
    """Own and whole weight of each function."""
    rows = [_ROW.fullmatch(line) for line in (DATA / name).read_text().splitlines()]
    return {row[3]: (int(row[1]), int(row[2])) for row in rows if row}


@pytest.mark.parametrize("name", ["go_cpu", "go_heap", "datadog_wall"])
def test_weights_are_those_that_the_tool_says(name):
    trace = registry.open_trace(DATA / f"{name}.pprof")
    assert trace.source.format == "pprof"
    said = said_by_tool(f"{name}.top.txt")
    found = {function: weights for function, weights in weights_of(trace).items() if any(weights)}
    assert len(said) > 10
    assert {f: w for f, w in found.items() if f in said} == said
    # The tool leaves out what Datadog's root frame and Go's unused ones weigh.
    assert set(found) - set(said) <= {"(root)"}


@pytest.mark.parametrize("name", ["go_cpu", "go_heap", "datadog_wall"])
def test_calls_weigh_what_their_samples_do(name):
    trace = registry.open_trace(DATA / f"{name}.pprof")
    total = next(iter(profile.totals(trace).values()))
    roots = trace.calls.parent < 0
    assert (trace.calls.end - trace.calls.start)[roots].sum() == total
    assert not trace.samples.are_timed


def test_all_types_of_samples_and_lines_are_kept():
    trace = registry.open_trace(DATA / "go_heap.pprof")
    kinds = ["inuse_space (bytes)", "alloc_objects", "alloc_space (bytes)", "inuse_objects"]
    assert list(trace.samples.kinds) == kinds
    assert "no time unit" in trace.problems
    is_own = [trace.functions.name[f].startswith("main.") for f in trace.stacks.function.tolist()]
    lines = trace.stacks.line[is_own]
    assert (lines > 0).all()


TEXTS = ["", "cpu", "nanoseconds", "f", "a.c", "thread name", "worker", "samples", "count"]


def made(*more, samples=((1, 5),)):
    rows = [(6, text.encode()) for text in TEXTS]
    rows += [(1, written([(1, 1), (2, 2)])), (5, written([(1, 1), (2, 3), (4, 4), (5, 7)]))]
    rows += [(4, written([(1, 1), (3, 0x10), (4, written([(1, 1), (2, 9)]))]))]
    rows += [(2, written([(1, [place]), (2, [weight])])) for place, weight in samples]
    return written([*rows, *more])


def test_threads_are_named_by_labels(tmp_path):
    label = written([(1, 5), (2, 6)])
    path = tmp_path / "a.pprof"
    path.write_bytes(made((2, written([(1, 1), (2, 7), (3, label)]))))
    trace = registry.open_trace(path)
    assert [trace.threads.title(t) for t in range(2)] == ["thread all", "worker"]
    assert list(trace.functions.name) == ["f (a.c:7)"]
    assert (trace.calls.end - trace.calls.start).tolist() == [5, 7]


def test_addresses_stand_for_missing_names(tmp_path):
    path = tmp_path / "a.pprof"
    more = (3, written([(1, 1), (5, 4)])), (4, written([(1, 2), (2, 1), (3, 0xABC)]))
    path.write_bytes(made(*more, samples=((2, 5), (1, 1))))
    assert set(registry.open_trace(path).functions.name) == {"0xabc (a.c)", "f (a.c:7)"}


def test_what_is_damaged_is_counted(tmp_path):
    path = tmp_path / "a.pprof"
    path.write_bytes(made((4, written([(1, 3), (4, written([(1, 99)]))])), samples=((8, 5), (1, 3), (3, 4))))
    trace = registry.open_trace(path)
    assert {kind: p.count for kind, p in trace.problems.items()} == {"unknown": 1, "no name": 1}
    assert sorted((trace.calls.end - trace.calls.start).tolist()) == [3, 4]
    data = gzip.decompress((DATA / "go_cpu.pprof").read_bytes())
    path.write_bytes(data[: len(data) - 700])
    assert "truncated" in registry.open_trace(path).problems
    path.write_bytes(written([(1, written([(1, 1), (2, 2)])), (6, b"x")]))
    with pytest.raises(InputError, match="no samples"):
        registry.open_trace(path)


NUMBERS = st.one_of(st.integers(0, 6), st.integers(-(1 << 63), (1 << 63) - 1))
SAMPLES = st.lists(
    st.lists(
        st.one_of(
            st.tuples(st.integers(1, 4), NUMBERS),
            st.tuples(st.integers(1, 2), st.lists(NUMBERS, max_size=4)),
            st.tuples(st.integers(1, 4), st.binary(max_size=4)),
        ),
        max_size=6,
    ),
    max_size=4,
)


@settings(max_examples=200, deadline=None)
@given(
    SAMPLES, st.lists(st.one_of(st.integers(0, 6), st.integers(0, 1 << 40)), max_size=6), st.integers(0, 3)
)
def test_samples_are_read_as_field_by_field(samples, ids, types):
    data = b"".join(written([(2, written(fields))]) for fields in samples)
    fast, slow = Recording(), Recording()
    known = np.array(ids, np.int64)
    found = pprof._Samples(Messages.of(data, fast.problems), types, known, fast)
    inner, _ = Messages.of(data, slow.problems).inner(2)
    location, owner = inner.whole_numbers(1)
    for i in range(len(samples)):
        mine = found.place[found.first[i] : found.first[i + 1]].tolist()
        assert mine == places_among(location[owner == i], known).tolist()
    value, of = inner.whole_numbers(2)
    for i in range(len(samples)):
        mine = [*value[of == i].tolist(), *[0] * types][:types]
        assert found.values[:, i].tolist() == mine
    labels, whose = inner.inner(3)
    again, owners = found.labels()
    assert (again.first.tolist(), again.stop.tolist()) == (labels.first.tolist(), labels.stop.tolist())
    assert owners.tolist() == whose.tolist()
    damaged = {"truncated", "malformed"}
    assert bool(damaged & {*fast.problems}) == bool(damaged & {*slow.problems})
