"""Collapsed stacks: recordings, encodings, threads, and the kernels against plain twins."""

import gzip
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.lines import collapsed
from tracevis3d.kernels.formats.scan import lines as s
from tracevis3d.kernels.intern import InternedNames
from tracevis3d.progress import silent
from tracevis3d.trace.events import BEGIN, END, events_of_stacks


def read(path):
    return registry.open_trace(path)


def rows(trace):
    names = list(trace.functions.name)
    return [
        (names[f], start, end, depth)
        for f, start, end, depth in zip(
            trace.calls.function.tolist(),
            trace.calls.start.tolist(),
            trace.calls.end.tolist(),
            trace.calls.depth.tolist(),
        )
    ]


def plain_stacks(text):
    """Return (frames, thousandths of a sample) of each line that holds a stack."""
    stacks = []
    for line in text.split("\n"):
        line = line.strip("\r \t")
        stack, _, count = line.rpartition(" ")
        if not re.fullmatch(r"\d+", count):
            stack, count = line, "1"
        frames = [frame.strip() for frame in stack.split(";") if frame.strip()]
        if frames and not (line.isdecimal()):
            stacks.append((frames, int(count) * 1000))
    return stacks


def plain_tree(stacks):
    """Add up stacks by call path; return (name, start, end, depth) in pre-order, the heaviest first."""
    tree = {}
    for frames, weight in stacks:
        below = tree
        for frame in frames:
            node = below.setdefault(frame, [0, {}])
            node[0] += weight
            below = node[1]
    calls = []

    def lay(below, now, depth):
        for name, (weight, callees) in sorted(below.items(), key=lambda item: -item[1][0]):
            if weight:
                calls.append((name, now, now + weight, depth))
                lay(callees, now, depth + 1)
            now += weight

    lay(tree, 0, 1)
    return calls


def plain_calls(stacks):
    """Lay stacks side by side; return (name, start, end, depth) in pre-order."""
    calls, open_calls, now = [], [], 0
    for frames, weight in stacks:
        shared = 0
        while shared < min(len(frames), len(open_calls)) and frames[shared] == open_calls[shared][0]:
            shared += 1
        del open_calls[shared:]
        for frame in frames[shared:]:
            open_calls.append([frame, now, now, len(open_calls) + 1])
            calls.append(open_calls[-1])
        now += weight
        for call in open_calls:
            call[2] = now
    return [tuple(call) for call in calls]


PUBLIC = [
    # file, calls, functions, depth, samples
    ("jlfwong/speedscope/sample/profiles/stackcollapse/simple-utf16-be.txt", 4, 4, 3, 14),
    ("jlfwong/speedscope/sample/profiles/stackcollapse/simple-utf16-le.txt", 4, 4, 3, 14),
    ("jlfwong/speedscope/sample/profiles/stackcollapse/tall.txt", 26, 26, 26, 1),
    ("async-profiler/async-profiler/test/test/jfrconverter/sample2.collapsed", 28, 28, 12, 188),
    ("brendangregg/FlameGraph/test/results/perf-java-faults-01-collapsed-all.txt", 63, 58, 23, 200),
    ("brendangregg/FlameGraph/test/results/perf-java-stacks-01-collapsed-all.txt", 273, 164, 70, 45),
    ("brendangregg/FlameGraph/test/results/perf-rust-Yamakaky-dcpu-collapsed-all.txt", 193, 154, 37, 6850637),
    ("brendangregg/FlameGraph/test/results/perf-vertx-stacks-01-collapsed-all.txt", 359, 228, 69, 285),
]


@pytest.mark.parametrize(("name", "calls", "functions", "depth", "samples"), PUBLIC)
def test_public_files_are_read_whole(public, name, calls, functions, depth, samples):
    trace = read(public / name)
    data = (public / name).read_bytes()
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    assert trace.source.format == "collapsed"
    assert (len(trace.calls), len(trace.functions), trace.calls.depth.max()) == (calls, functions, depth)
    assert trace.span_ns == samples * collapsed.SAMPLE_NS
    assert rows(trace) == plain_tree(plain_stacks(text))
    assert set(trace.problems) == {"no time unit"}


def test_a_recording_of_py_spy_is_read_whole(recorded):
    path = recorded / "pyspy_pylint.collapsed.txt.gz"
    trace = read(path)
    text = gzip.decompress(path.read_bytes()).decode()
    assert rows(trace) == plain_tree(plain_stacks(text))
    assert trace.calls.depth.max() == 204
    assert len(trace.functions) == 703
    # Line 188 of the recording is a count without a stack.
    assert (trace.problems["malformed"].count, trace.problems["malformed"].first) == (1, "line 188")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "a.txt"
    path.write_bytes("main;größe lesen;c 3\r\nmain;größe lesen 2\r\n".encode(encoding))
    trace = read(path)
    assert rows(trace) == [("main", 0, 5000, 1), ("größe lesen", 0, 5000, 2), ("c", 0, 3000, 3)]


def test_missing_and_fractional_counts(tmp_path):
    path = tmp_path / "a.folded"
    path.write_text("# made by hand\na;b 1.5\na;c\n a ; d  2\n12\n;; 3\na;b -4\n")
    trace = read(path)
    assert rows(trace) == [
        ("a", 0, 4500, 1),
        ("d", 0, 2000, 2),
        ("b", 2000, 3500, 2),
        ("c", 3500, 4500, 2),
    ]
    assert trace.problems.as_dict() == {
        "malformed": {"count": 3, "first": "line 5"},
        "no count": {"count": 1, "first": "line 3"},
        "no time unit": {"count": 3, "first": "the whole file"},
    }


@pytest.mark.parametrize(
    ("text", "threads", "processes"),
    [
        ("java-12/13;a 1\njava-12/14;a 2\njava-12/13;b 1\n", [(12, 13), (12, 14)], "java"),
        ("sh-12;a 1\nsh-13;a 2\n", [(12, 12), (13, 13)], "sh"),
        ("thread (7): main;a 1\nthread (8): w;a 2\n", [(0, 7), (0, 8)], ""),
        ("[main tid=7];a 1\n[w tid=8];a 2\n", [(0, 7), (0, 8)], ""),
        ("tid:7;a 1\ntid:8;a.py:f:3 2\n", [(0, 7), (0, 8)], ""),
        ("a-1;b 1\nmain;b 1\n", [(0, 0)], ""),
    ],
)
def test_root_frames_that_name_threads(tmp_path, text, threads, processes):
    path = tmp_path / "a.txt"
    path.write_text(text)
    trace = read(path)
    assert list(zip(trace.threads.process, trace.threads.tid, strict=True)) == threads
    assert set(trace.threads.process_name) == {processes}
    assert all(trace.calls.start[first] == 0 for first in trace.threads.first)


def test_stacks_of_python_3_15_have_threads_and_lines():
    path = ROOT / "tests" / "data" / "profiles" / "words_315.collapsed"
    trace = read(path)
    own, threads = Counter(), Counter()
    for line in path.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        thread, *_, frame = stack.split(";")
        file, name, at = frame.rsplit(":", 2) if ":" in frame else ("", frame, 0)
        own[f"{name} ({file})" if file else name, int(at)] += int(count)
        threads[int(thread.removeprefix("tid:"))] += int(count)
    found, ran = Counter(), Counter()
    for stack, weight, thread in zip(
        trace.samples.stack, trace.samples.weight, trace.samples.thread, strict=True
    ):
        found[trace.functions.name[trace.stacks.function[stack]], int(trace.stacks.line[stack])] += int(
            weight
        )
        ran[trace.threads.tid[thread]] += int(weight)
    assert found == own
    assert ran == threads


def test_counts_beyond_time_are_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a;b 4000000000000000\na;c 4000000000000000\n")
    with pytest.raises(InputError, match="divide them by a constant"):
        read(path)


def test_text_without_stacks_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("12\n13\n")
    with pytest.raises(InputError, match="no line is a stack"):
        collapsed.read(path, silent)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a;b": 1}',
        b"In 2020 there was 1 file\nand it was read\n",
        b"\x00\x01;\x02 3\n",
        b"a b c\n",
        b"1\t+\tf\t12\n",
    ],
)
def test_other_text_is_not_taken_for_stacks(text):
    assert collapsed.sniff(text, "a.dat") == registry.NO


def test_many_frames_grow_the_table(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"main;f{i};g{i} 1\n" for i in range(9000)))
    trace = read(path)
    assert len(trace.functions) == 18_001
    assert len(trace.calls) == 18_001


# -- the kernels against plain ones ----------------------------------------------------------------

_frame = st.sampled_from(["a", "b", "main (x.py:3)", " c ", "", "ä", "1"])
_line = st.tuples(
    st.lists(_frame, max_size=5).map(";".join),
    st.sampled_from(["", " 1", " 20", "\t3", " x", " 7 8", "  9 "]),
).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.lists(_line, min_size=1, max_size=10), st.sampled_from(["\n", "\r\n"]))
def test_the_scanner_reads_what_a_plain_one_reads(lines, end):
    text = end.join(lines)
    data = np.frombuffer(text.encode() or b"\n", np.uint8)
    room = len(data) + 2
    first, weight, frame = np.zeros(room + 1, np.int64), np.empty(room, np.int64), np.empty(room, np.int32)
    names, state = InternedNames(2), np.zeros(s.STATE_SIZE, np.int64)
    state[s.LIMIT] = room
    while s.scan_collapsed(data, state, first, weight, frame, *names.arrays) == s.NAMES_FULL:
        names.grow(int(state[s.NAMES]))
    texts = names.texts(data, int(state[s.NAMES]))
    found = [
        ([texts[f] for f in frame[first[i] : first[i + 1]]], int(weight[i]))
        for i in range(int(state[s.ROWS]))
    ]
    expected = []
    for line in text.split("\n"):
        line = line.strip(" \t\r")
        match = re.fullmatch(r"(?:(.*)[ \t])?(\d+)", line)
        stack, count = (match[1] or "", int(match[2])) if match else (line, 1)
        frames = [f for f in (f.strip(" \t") for f in stack.split(";")) if f]
        if frames:
            expected.append((frames, 1000 * count))
    assert found == expected


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.lists(st.integers(0, 3), max_size=6), st.integers(0, 5)), max_size=30
    )
)
def test_stacks_are_laid_as_a_plain_layout_does(stacks):
    first = np.cumsum([0] + [len(frames) for _, frames, _ in stacks])
    events = events_of_stacks(
        np.array([thread for thread, _, _ in stacks], np.int32),
        first.astype(np.int64),
        np.array([f for _, frames, _ in stacks for f in frames], np.int32),
        np.array([weight for _, _, weight in stacks], np.int64),
        np.array([0, 100, 200], np.int64),
    )
    for thread in range(3):
        own = [(frames, weight) for t, frames, weight in stacks if t == thread]
        mine = events.thread == thread
        calls, open_calls = [], []
        for kind, function, time in zip(
            events.kind[mine].tolist(),
            events.function[mine].tolist(),
            events.time[mine].tolist(),
            strict=True,
        ):
            if kind == BEGIN:
                open_calls.append([function, time, None, len(open_calls) + 1])
                calls.append(open_calls[-1])
            else:
                assert kind == END
                call = open_calls.pop()
                assert call[0] == function
                call[2] = time
        assert not open_calls
        offset = 100 * thread
        assert [tuple(call) for call in calls] == [
            (name, start + offset, end + offset, depth) for name, start, end, depth in plain_calls(own)
        ]


def test_comments_are_passed_over(tmp_path):
    path = tmp_path / "a.folded"
    path.write_text("# made by a tool\n#and more\na;b 1\n# in between\n#<Class>;c 2\n# the end\n")
    trace = registry.open_trace(path)
    assert trace.source.format == "collapsed"
    assert sorted(trace.functions.name) == ["#<Class>", "a", "b", "c"]
    assert list(trace.problems) == ["no time unit"]
    path.write_text("# nothing\n" * 50)
    assert collapsed.sniff(path.read_bytes(), "a.folded") == registry.NO
