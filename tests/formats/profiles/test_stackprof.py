"""stackprof's profiles of a Ruby program, marshalled and as JSON, held against what it counted itself."""

import gzip
import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.formats.large_files import _marshalled
from tests.conftest import ROOT
from tests.support.profile_facts import spans, weights_of
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.profiles.marshal import load_ruby
from tracevis3d.kernels.formats.lay import samples as kernels
from tracevis3d.trace import profile

DATA = ROOT / "tests" / "data" / "profiles"


def recorded(name):
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("ruby.stackprof.json.gz", "ruby.stackprof.json.gz"),
        ("ruby.stackprof.dump", "ruby.stackprof.json.gz"),
        # stackprof 0.2.28 of Ruby 3.3
        ("ruby_0_2_28.stackprof.dump", "ruby_0_2_28.stackprof.json.gz"),
    ],
)
def test_samples_are_those_that_were_counted(name, other):
    trace, said = registry.open_trace(DATA / name), recorded(other)
    assert trace.source.format == "stackprof"
    frames = {f["name"]: (f["samples"], f["total_samples"]) for f in said["frames"].values()}
    assert weights_of(trace) == frames
    # A last round without a stack is among its samples, but has no time.
    counted = len(said["raw_timestamp_deltas"])
    assert (
        profile.totals(trace) == {"samples": counted} == {"samples": sum(own for own, _ in frames.values())}
    )
    assert counted in (said["samples"], said["samples"] - 1)
    assert trace.span_ns == 1000 * sum(said["raw_timestamp_deltas"])
    assert len(spans(trace)) == len(trace.calls)
    assert not trace.problems


def test_sums_by_function_and_line_are_read():
    trace, said = (
        registry.open_trace(DATA / "ruby.object.stackprof.json.gz"),
        recorded("ruby.object.stackprof.json.gz"),
    )
    own = {f["name"]: f["samples"] for f in said["frames"].values() if f["samples"]}
    assert {name: weight for name, (weight, _) in weights_of(trace).items()} == own
    assert {"no paths", "no time unit"} == set(trace.problems)
    lines = {line for f in said["frames"].values() for line, (_, mine) in f.get("lines", {}).items() if mine}
    assert {str(line) for line in trace.stacks.line.tolist() if line} == lines


def test_objects_with_their_stacks_are_counted():
    name = "ruby_0_2_28.object.stackprof.json.gz"
    trace, said = registry.open_trace(DATA / name), recorded(name)
    assert profile.totals(trace) == {"samples": said["samples"]}
    frames = {f["name"]: (f["samples"], f["total_samples"]) for f in said["frames"].values()}
    assert weights_of(trace) == frames
    assert set(trace.problems) == {"no time unit"}


def test_what_is_damaged_is_counted(tmp_path):
    path = tmp_path / "a.json"
    frames = {"1": {"name": "f", "file": "a.rb", "line": 3}, "x": {"name": "g"}}
    head = {"version": 1.2, "mode": "wall", "gc_samples": 0, "missed_samples": 0, "frames": frames}
    path.write_text(json.dumps(head | {"raw": [1, 1, 2, 2, 1, 7, 1, 9], "raw_timestamp_deltas": [5, 5, "a"]}))
    trace = registry.open_trace(path)
    assert spans(trace) == [("f", 0, 10_000, 1)]
    assert {kind: p.count for kind, p in trace.problems.items()} == {"unknown": 1, "truncated": 1}
    path.write_text(json.dumps(head))
    with pytest.raises(InputError, match="no samples"):
        registry.open_trace(path)
    path.write_bytes((DATA / "ruby.stackprof.dump").read_bytes()[:3000])
    with pytest.raises(InputError, match="damaged"):
        registry.open_trace(path)
    assert np.all(trace.samples.weight == 1)


def test_numbers_of_each_width_are_read_from_lists():
    rows = [
        (0, b"i\x00"), (1, b"i\x06"), (-1, b"i\xfa"), (122, b"i\x7f"), (123, b"i\x01\x7b"),
        (-123, b"i\x80"), (-124, b"i\xff\x84"), (256, b"i\x02\x00\x01"), (-256, b"i\xff\x00"),
        (-257, b"i\xfe\xff\xfe"), (1 << 30, b"l+\x07\x00\x00\x00\x40"), (None, b"0"),
        (-(1 << 30) - 1, b"l-\x07\x01\x00\x00\x40"), (1 << 30, b"@\x06"), (None, b"0"),
    ]  # fmt: skip
    data = b"\x04\x08[" + bytes([len(rows) + 5]) + b"".join(packed for _, packed in rows)
    assert load_ruby(data) == [number for number, _ in rows]
    for size in range(3, len(data)):
        with pytest.raises(ValueError, match="damaged"):
            load_ruby(data[:size])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-3, 4), max_size=30))
def test_stacks_are_cut_as_a_plain_loop_cuts_them(raw):
    """A size, so many frames, and how often they were seen."""
    expected, at = [], 0
    while at < len(raw) and raw[at] >= 0 and at + raw[at] + 1 < len(raw):
        expected.append((raw[at + 1 : at + 1 + raw[at]], raw[at + 1 + raw[at]]))
        at += raw[at] + 2
    column = np.array(raw, np.int64)
    first, count, frame, line = (np.empty(len(raw) + 2, np.int64) for _ in range(4))
    size, end = kernels.cut_stacks(column, 10 + column, first, count, frame, line)
    assert end == at
    bounds = first[: size + 1].tolist()
    found = [frame[low:high].tolist() for low, high in pairwise(bounds)]
    assert list(zip(found, count[:size].tolist(), strict=True)) == expected
    assert (line[: bounds[-1]] == frame[: bounds[-1]] + 10).all()


@pytest.mark.parametrize("odd", [None, 1 << 70])
def test_a_long_list_of_numbers_is_a_column(odd):
    rows = [*range(-300, 300), *(7**k for k in range(20)), *(-(5**k) for k in range(25))] * 2
    said = [*rows, odd, *rows] if odd is not None else rows
    found = load_ruby(b"\x04\x08" + _marshalled(said))
    assert isinstance(found, list if odd is not None else np.ndarray)
    assert list(found) == said
