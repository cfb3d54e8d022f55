"""simpleperf's protobuf: a recording of its, as it prints it itself, and files made by its definition."""

import gzip
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.trace import profile

FILES = {3: ("/apex/libart.so", ["art::Run", "art::Call"]), 7: ("/data/app/base.odex", ["com.app.Main.draw"])}
THREADS = {100: (100, "main"), 105: (100, "RenderThread"), 9: (9, "init")}


def varint(value):
    value &= (1 << 64) - 1
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def entry(address, file, symbol):
    return field(1, address) + field(2, file) + field(3, symbol)


def sample(time, tid, stack, count=1, event=0):
    """``stack`` is innermost first, as simpleperf writes it."""
    return field(
        1,
        field(1, time)
        + field(2, tid)
        + b"".join(field(3, entry(*one)) for one in stack)
        + field(4, count)
        + field(5, event),
    )


def written(records, version=1):
    meta = field(5, field(1, "cpu-cycles") + field(1, "task-clock") + field(2, "com.app"))
    files = [
        field(3, field(1, number) + field(2, path) + b"".join(field(3, name) for name in names))
        for number, (path, names) in FILES.items()
    ]
    threads = [
        field(4, field(1, tid) + field(2, pid) + field(3, name)) for tid, (pid, name) in THREADS.items()
    ]
    # Files and threads come behind the samples.
    parts = [meta, *records, *files, *threads]
    head = b"SIMPLEPERF" + version.to_bytes(2, "little")
    return head + b"".join(len(one).to_bytes(4, "little") + one for one in parts) + bytes(4)


def label(address, file, symbol):
    names = FILES.get(file, ("", []))[1]
    return names[symbol] if 0 <= symbol < len(names) else f"0x{address:x}"


_STACK = st.lists(
    st.tuples(st.integers(0, 1 << 63), st.sampled_from([3, 7, 8]), st.integers(-1, 2)), max_size=4
)
_SAMPLE = st.tuples(
    st.integers(1, 10**15), st.sampled_from([*THREADS, 55]), _STACK, st.integers(1, 10**6), st.integers(0, 1)
)


@given(st.lists(_SAMPLE, min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_samples_are_those_of_the_file(tmp_path_factory, samples):
    path = tmp_path_factory.mktemp("android") / "a.simpleperf"
    path.write_bytes(written([sample(*one) for one in samples]))
    trace = registry.open_trace(path)
    assert trace.source.format == "simpleperf"
    expected = Counter()
    for time, tid, stack, count, event in samples:
        names = tuple(label(*one) for one in reversed(stack))
        kind = "cpu-cycles" if event == 0 else "task-clock (ns)"
        expected[tid, time, kind, count, names] += 1
    found, rows = Counter(), trace.samples
    for thread, kind, weight, time, stack in zip(
        rows.thread.tolist(), rows.kind.tolist(), rows.weight.tolist(), rows.time.tolist(),
        rows.stack.tolist(), strict=True,
    ):  # fmt: skip
        names = []
        while stack >= 0:
            names.append(trace.functions.label[trace.stacks.function[stack]])
            stack = int(trace.stacks.parent[stack])
        key = (
            trace.threads.tid[thread],
            time + trace.origin_ns,
            rows.kinds[kind],
            weight,
            tuple(names[::-1]),
        )
        found[key] += 1
    assert found == expected
    for process, tid, name in zip(trace.threads.process, trace.threads.tid, trace.threads.name, strict=True):
        assert (process, name) == THREADS.get(tid, (0, ""))


def test_a_recording_is_what_simpleperf_prints_of_it():
    folder = ROOT / "tests" / "data" / "profiles"
    trace = registry.open_trace(folder / "words.simpleperf")
    printed = gzip.decompress((folder / "words.simpleperf.txt.gz").read_bytes()).decode()
    expected = Counter()
    for said in printed.split("sample:\n")[1:]:
        head = dict(re.findall(r"^  (\w+): (.*)", said, re.MULTILINE))
        frames = re.findall(r"vaddr_in_file: (\w+)\n +file: (.*)\n +symbol: (.*)", said)
        # What has no symbol is called after its place in the file.
        names = tuple(f"0x{at}" if symbol.endswith("]") else symbol for at, _, symbol in reversed(frames))
        key = int(head["thread_id"]), int(head["time"]), head["event_type"] + " (ns)"
        expected[*key, int(head["event_count"]), names] += 1
    found, rows = Counter(), trace.samples
    columns = (getattr(rows, name).tolist() for name in ("thread", "kind", "weight", "time", "stack"))
    for thread, kind, weight, time, stack in zip(*columns, strict=True):
        names = []
        while stack >= 0:
            names.append(trace.functions.label[trace.stacks.function[stack]])
            stack = int(trace.stacks.parent[stack])
        key = trace.threads.tid[thread], time + trace.origin_ns, rows.kinds[kind]
        found[*key, weight, tuple(names[::-1])] += 1
    assert found == expected
    assert set(trace.threads.name) == {"words"}
    assert not trace.problems


def test_the_file_that_fuzzing_begins_with_is_read():
    trace = registry.open_trace(ROOT / "tests" / "data" / "profiles" / "small.simpleperf")
    assert set(trace.problems) == {"lost"}
    assert set(trace.samples.kinds) == {"cpu-cycles", "task-clock (ns)"}


def test_what_is_lost_or_damaged_is_counted(tmp_path):
    path = tmp_path / "a.simpleperf"
    samples = [sample(1000 * i, 100, [(16, 3, 0), (32, 7, 0)], 250) for i in range(1, 9)]
    whole = written([*samples, field(2, field(1, 8) + field(2, 5))])
    path.write_bytes(whole)
    trace = registry.open_trace(path)
    assert trace.problems["lost"].count == 5
    assert profile.totals(trace) == {"cpu-cycles": 2000}
    assert [trace.functions.label[f] for f in trace.calls.function] == ["com.app.Main.draw", "art::Run"]
    for cut in range(whole.index(samples[1]), len(whole) - 4, 11):
        path.write_bytes(whole[:cut])
        assert "truncated" in registry.open_trace(path).problems
    refused = {written(samples, 2): "version", written([]): "no samples", b"SIMPLEPERF": "no samples"}
    for data, why in refused.items():
        path.write_bytes(data)
        with pytest.raises(InputError, match=why):
            registry.open_trace(path)
