"""Austin's recordings, as text and as MOJO, held against each other and against a plain reading."""

import gzip
from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.support.profile_facts import spans
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.trace import profile

DATA = ROOT / "tests" / "data" / "profiles"


def lines_of(name):
    text = gzip.decompress((DATA / name).read_bytes()).decode()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def stacks_of(trace):
    """Nanoseconds by thread and stack of ``function:line``."""
    found = Counter()
    samples, stacks = trace.samples, trace.stacks
    for thread, frame, weight in zip(
        samples.thread.tolist(), samples.stack.tolist(), samples.weight.tolist(), strict=True
    ):
        path = []
        while frame >= 0:
            name = trace.functions.name[stacks.function[frame]].partition(" (")[0]
            path.append(f"{name}:{stacks.line[frame]}")
            frame = int(stacks.parent[frame])
        found[trace.threads.tid[thread], ";".join(path[::-1])] += weight
    return +found


def plain(name):
    found = Counter()
    for line in lines_of(name):
        stack, _, metric = line.rpartition(" ")
        _, thread, *frames = stack.split(";")
        path = ";".join(":".join(frame.rsplit(":", 2)[1:]) for frame in frames)
        found[int(thread.rpartition(":")[2]), path] += 1000 * int(metric.partition(",")[0])
    return +found


@pytest.mark.parametrize("name", ["words.austin.gz", "words.mojo.austin.gz"])
def test_text_is_what_it_says(name):
    trace = registry.open_trace(DATA / name)
    assert trace.source.format == "austin"
    assert stacks_of(trace) == plain(name)
    assert len(trace.samples) == len(lines_of(name))
    assert len(trace.threads) == 3
    assert not trace.problems


def test_mojo_says_the_same_as_the_text_that_its_tool_makes_of_it():
    trace = registry.open_trace(DATA / "words.mojo")
    text = registry.open_trace(DATA / "words.mojo.austin.gz")
    assert stacks_of(trace) == stacks_of(text)
    assert profile.totals(trace) == profile.totals(text)
    assert trace.span_ns == text.span_ns
    assert len(trace.calls) == len(text.calls)


def test_threads_of_a_round_lie_side_by_side(tmp_path):
    path = tmp_path / "a.austin"
    path.write_text(
        "# austin: 3.7.0\n# mode: wall\n\nP1;T0:1;a.py:f:3 10\nP1;T0:2;a.py:g:4 12\nP1;T0:1;a.py:f:5 10\n"
        "P1;T0:2 11\nP1;T0:1;a.py:f:5;a.py:h:9 10\n"
    )
    trace = registry.open_trace(path)
    assert spans(trace) == [("f", 0, 10_000, 1), ("f", 12_000, 22_000, 1), ("f", 23_000, 33_000, 1),
                            ("h", 23_000, 33_000, 2), ("g", 0, 12_000, 1)]  # fmt: skip


def test_idle_threads_memory_and_old_names(tmp_path):
    path = tmp_path / "a.austin"
    path.write_text("# mode: full\nP1;T0x7f;a.py:f:3 10,0,5\nP1;T0x7f;a.py:g:3 10,1,5\n")
    assert [name for name, *_ in spans(registry.open_trace(path))] == ["f"]
    path.write_text("# austin: 3\n# mode: memory\nP1;T1;a.py:f:3 10\nP1;T1;a.py:g:3 -4\n")
    trace = registry.open_trace(path)
    assert profile.totals(trace) == {"allocated (bytes)": 10 * 1024}
    assert "no time unit" in trace.problems


def test_what_is_damaged_is_counted(tmp_path):
    path = tmp_path / "a.austin"
    path.write_text("# austin: 3\nP1;T1;a.py:f:3 10\nnothing\nP1;T1;a.py:f:3 -4\nP1;T1;odd frame 10\n")
    trace = registry.open_trace(path)
    assert {kind: p.count for kind, p in trace.problems.items()} == {"malformed": 1, "bad time": 1}
    assert set(trace.functions.name) == {"f (a.py)", "odd frame"}
    data = (DATA / "words.mojo").read_bytes()
    path.write_bytes(data[:9000])
    trace = registry.open_trace(path)
    assert "truncated" in trace.problems
    assert len(trace.calls)
    path.write_bytes(data[:4] + b"\x0f" + data[4:])
    with pytest.raises(InputError, match="no sample"):
        registry.open_trace(path)
    path.write_text("# austin: 3\n")
    with pytest.raises(InputError, match="no sample"):
        registry.open_trace(path)


def test_a_frame_that_gets_another_meaning_changes_the_stacks_after_it(tmp_path):
    def frame(number, name):
        return b"\x0b" + bytes([number, *name, 0]) + b"\x03\x09" + bytes([0, number, 1])

    begin, rest = b"\x02\x017\0", b"\x05\x09\x09\x04"
    path = tmp_path / "a.mojo"
    path.write_bytes(
        b"MOJ\x01" + begin + frame(2, b"f") + rest + begin + rest + begin + frame(3, b"g") + rest
    )
    trace = registry.open_trace(path)
    labels = [trace.functions.label[trace.stacks.function[stack]] for stack in trace.samples.stack.tolist()]
    assert labels == ["f", "f", "g"]
