"""Austin's recordings, as text and as MOJO, held against each other and against a plain reading."""

import gzip
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


# Austin 3.7 writes the third version of MOJO, 3.5 the second.
@pytest.mark.parametrize("name", ["words.mojo", "small35.mojo.gz"])
def test_mojo_says_the_same_as_the_text_that_its_tool_makes_of_it(name):
    trace = registry.open_trace(DATA / name)
    text = registry.open_trace(DATA / f"{name.removesuffix('.gz')}.austin.gz")
    assert len(trace.samples) > 10
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


def packed(value):
    """A number of MOJO's: six bits and a sign, then seven bits a byte."""
    size = abs(value)
    found, size = [size & 0x3F | (0x40 if value < 0 else 0)], size >> 6
    while size:
        found[-1] |= 0x80
        found.append(size & 0x7F)
        size >>= 7
    return bytes(found)


key, process = st.integers(-2, 4) | st.just(1 << 60), st.integers(1, 2)
event = st.one_of(
    st.tuples(st.just("stack"), process, st.sampled_from(["7", "0x7f", "ab3"])),
    st.tuples(st.just("frame"), key, st.integers(0, 3), st.integers(0, 5)),
    st.tuples(st.just("text"), st.integers(2, 3), st.sampled_from(["f", "g", "é"])),
    st.tuples(st.just("reference"), key),
    st.tuples(st.sampled_from(["invalid", "collector", "idle", "odd"])),
    st.tuples(st.just("kernel"), st.sampled_from(["sys_read", "sys_open"])),
    st.tuples(st.just("time"), st.integers(-1, 99)),
    st.tuples(st.just("mode"), st.sampled_from(["wall", "cpu"])),
)


def encoded(said):
    kind, *rest = said
    plain = {"invalid": b"\x04", "collector": b"\x07", "idle": b"\x08", "odd": b"\x7f"}
    if kind in plain:
        return plain[kind]
    if kind == "stack":
        return b"\x02" + packed(rest[0]) + rest[1].encode() + b"\0"
    if kind == "frame":
        return b"\x03" + packed(rest[0]) + packed(0) + packed(rest[1]) + packed(rest[2])
    if kind == "text":
        return b"\x0b" + packed(rest[0]) + rest[1].encode() + b"\0"
    if kind == "kernel":
        return b"\x06" + rest[0].encode() + b"\0"
    if kind == "mode":
        return b"\x01mode\0" + rest[0].encode() + b"\0"
    return (b"\x05" if kind == "reference" else b"\x09") + packed(rest[0])


def one_by_one(events):
    """What a plain reader makes of events: thread, stack, nanoseconds and begin of each sample; problems."""
    texts, frames, found, problems = {0: "", 1: "(unknown)"}, {}, [], Counter()
    sample, process = None, 0
    for kind, *rest in events:
        if kind == "stack":
            process = rest[0]
            sample = {"who": (process, int(rest[1], 16)), "path": [], "lasts": 0, "idle": False}
            found.append(sample)
        elif kind == "mode":
            sample = None
        elif kind == "frame":
            frames[process, rest[0]] = f"{texts.get(rest[1], '') or '(unnamed)'}:{rest[2]}"
        elif kind == "text":
            texts[rest[0]] = rest[1]
        elif kind == "odd":
            problems["malformed"] += 1
            break
        else:
            step = {"invalid": "(invalid):0", "collector": "(garbage collector):0"}.get(kind)
            if kind == "kernel":
                step = f"{rest[0]}:0"
            if kind == "reference":
                step = frames.get((process, rest[0]))
                problems["unknown"] += step is None
            if sample is not None:
                sample["path"] += [step] if step else []
                sample["idle"] |= kind == "idle"
                if kind == "time":
                    sample["lasts"] = rest[0]
    rows, now, longest, seen = [], Counter(), Counter(), {}
    for sample in found:
        if sample["lasts"] < 0:
            problems["bad time"] += 1
            continue
        process, thread = sample["who"]
        if thread in seen.setdefault(process, set()):
            now[process] += longest[process]
            longest[process], seen[process] = 0, set()
        seen[process].add(thread)
        longest[process] = max(longest[process], 1000 * sample["lasts"])
        path = "" if sample["idle"] else ";".join(sample["path"])
        rows.append((process, thread, now[process], path, 1000 * sample["lasts"]))
    return sorted(rows), +problems


@settings(max_examples=200, deadline=None)
@given(st.lists(event, max_size=25))
def test_any_events_say_what_a_plain_reader_makes_of_them(tmp_path_factory, events):
    path = tmp_path_factory.mktemp("austin") / "a.mojo"
    path.write_bytes(b"MOJ\x01" + b"".join(map(encoded, events)))
    expected, problems = one_by_one(events)
    if not expected:
        with pytest.raises(InputError, match="no sample"):
            registry.open_trace(path)
        return
    trace = registry.open_trace(path)
    assert {kind: p.count for kind, p in trace.problems.items()} == problems
    found, samples, stacks = [], trace.samples, trace.stacks
    for row in range(len(samples)):
        frame, steps = int(samples.stack[row]), []
        while frame >= 0:
            label = trace.functions.label[stacks.function[frame]]
            steps.append(f"{label}:{stacks.line[frame]}")
            frame = int(stacks.parent[frame])
        thread = samples.thread[row]
        who = trace.threads.process[thread], trace.threads.tid[thread]
        time = int(samples.time[row]) + trace.origin_ns
        found.append((*who, time, ";".join(steps[::-1]), int(samples.weight[row])))
    assert sorted(found) == expected


def test_whatever_is_cut_off_no_half_sample_stays(tmp_path):
    data, path = (DATA / "words.mojo").read_bytes(), tmp_path / "a.mojo"
    whole = len(registry.open_trace(DATA / "words.mojo").samples)
    for size in range(len(data) - 40, len(data)):
        path.write_bytes(data[:size])
        assert whole - 4 <= len(registry.open_trace(path).samples) <= whole
