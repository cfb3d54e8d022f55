"""Method traces of Android's runtime: a recording by Android Studio, and files of each form, read plainly."""

import contextlib
import gzip
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.formats import registry

STREAMED = "firefox-devtools/profiler/src/test/fixtures/upgrades/art-trace-streaming.trace.gz"
THREADS = {1: "main", 9: "Binder:9_1"}
METHODS = {
    0x10: ("android.os.Looper", "loop", "()V", "Looper.java"),
    0x14: ("android.os.Handler", "post", "(I)Z", "Handler.java"),
    0x18: ("android.os.Handler", "post", "()Z", "Handler.java"),
}
START = 5_000_000


def plainly(data):
    """Read a streamed file entry by entry; return thread, method, action and time of each record."""
    _, _, at, start, size = struct.unpack_from("<4sHHQH", data)
    found, methods, threads = [], {}, {}
    while True:
        (tid,) = struct.unpack_from("<H", data, at)
        if tid:
            _, method, _, wall = struct.unpack_from("<HIII", data, at)
            found.append((tid, method & ~3, method & 3, 1000 * (start + wall)))
            at += size
            continue
        if data[at + 2] == 1:
            (length,) = struct.unpack_from("<H", data, at + 3)
            said = data[at + 5 : at + 5 + length].decode().rstrip("\n").split("\t")
            methods[int(said[0], 16)] = said[1:]
            at += 5 + length
        elif data[at + 2] == 2:
            tid, length = struct.unpack_from("<HH", data, at + 3)
            threads[tid] = data[at + 7 : at + 7 + length].decode()
            at += 7 + length
        else:
            return found, methods, threads


def calls_of(records):
    """Return (thread, start, end) of each call, sorted; what never ends, ends with its thread."""
    last = {tid: time for tid, _, _, time in records}
    opened, calls = {}, []
    for tid, method, action, time in records:
        stack = opened.setdefault(tid, [])
        if action == 0:
            stack.append((method, time))
        elif any(method == inside for inside, _ in stack):
            while True:
                inside, begun = stack.pop()
                calls.append((tid, inside, begun, time))
                if inside == method:
                    break
    calls += [(tid, method, begun, last[tid]) for tid, stack in opened.items() for method, begun in stack]
    return sorted(calls)


def read_calls(trace, method_of):
    calls = trace.calls
    return sorted(
        (trace.threads.tid[t], method_of[trace.functions.name[f]], s + trace.origin_ns, e + trace.origin_ns)
        for t, f, s, e in zip(
            calls.thread.tolist(),
            calls.function.tolist(),
            calls.start.tolist(),
            calls.end.tolist(),
            strict=True,
        )
    )


def name_of(said):
    inside, name, signature, file = said
    return f"{inside}.{name}{signature}" + (f" ({file})" if file not in ("", "(null)") else "")


def test_a_recording_of_android_studio_is_what_its_entries_say(public):
    trace = registry.open_trace(public / STREAMED)
    assert trace.source.format == "art"
    records, methods, threads = plainly(gzip.decompress((public / STREAMED).read_bytes()))
    # Nine methods of two classes are made while the program runs, and never named.
    unnamed = {method for _, method, _, _ in records} - set(methods)
    assert len(unnamed) == 9
    assert set(trace.problems) == {"unknown", "unmatched begin"}
    assert trace.problems["unknown"].count == sum(method in unnamed for _, method, _, _ in records)
    names = {name_of(said): key for key, said in methods.items()} | {f"method 0x{m:x}": m for m in unnamed}
    assert read_calls(trace, names) == calls_of(records)
    assert dict(zip(trace.threads.tid, trace.threads.name, strict=True)).items() <= threads.items()
    assert set(trace.threads.process) == {15983}


def record(size, tid, method, cpu, wall):
    if size == 9:
        return struct.pack("<BII", tid, method, wall)
    return (
        struct.pack("<HII", tid, method, wall) if size == 10 else struct.pack("<HIII", tid, method, cpu, wall)
    )


def header(version, size):
    return struct.pack("<4sHHQ", b"SLOW", version, 32, START) + (
        struct.pack("<H", size) if version & 0xF == 3 else b""
    ).ljust(16, b"\0")


def line_of(method):
    return f"0x{method:x}\t" + "\t".join(METHODS[method]) + "\n"


def regular(version, size, records):
    text = f"*version\n{version}\ndata-file-overflow=false\nclock=dual\npid=42\nvm=art\n*threads\n"
    text += "".join(f"{tid}\t{name}\n" for tid, name in THREADS.items()) + "*methods\n"
    text += "".join(map(line_of, METHODS)) + "*end\n"
    return text.encode() + header(version, size) + b"".join(record(size, *one) for one in records)


def streamed(size, records):
    data, known = header(0xF3, size), set()
    for one in records:
        tid, method = one[0], one[1] & ~3
        if tid not in known:
            data += struct.pack("<HBHH", 0, 2, tid, len(THREADS[tid])) + THREADS[tid].encode()
        if method not in known:
            data += struct.pack("<HBH", 0, 1, len(line_of(method))) + line_of(method).encode()
        known |= {tid, method}
        data += record(size, *one)
    text = b"*version\n3\npid=42\n*threads\n*methods\n*end\n"
    return data + struct.pack("<HBI", 0, 3, len(text)) + text


@st.composite
def _records(draw):
    now, found, inside = 0, [], {tid: [] for tid in THREADS}
    for _ in range(draw(st.integers(1, 30))):
        now += draw(st.integers(0, 3))
        tid = draw(st.sampled_from(sorted(THREADS)))
        action = draw(st.sampled_from([0, 0, 1, 2])) if inside[tid] else 0
        method = inside[tid].pop() if action else draw(st.sampled_from(sorted(METHODS)))
        if not action:
            inside[tid].append(method)
        found.append((tid, method | action, draw(st.integers(0, 9)), now))
    return found


@given(_records(), st.sampled_from([(1, 9), (2, 10), (3, 10), (3, 14), (0xF3, 14), (0xF3, 10)]))
@settings(max_examples=60, deadline=None)
def test_each_form_says_the_same(tmp_path_factory, records, form):
    version, size = form
    path = tmp_path_factory.mktemp("art") / "a.trace"
    path.write_bytes(streamed(size, records) if version == 0xF3 else regular(version, size, records))
    trace = registry.open_trace(path)
    assert trace.source.format == "art"
    plain = [(tid, method & ~3, method & 3, 1000 * (START + wall)) for tid, method, _, wall in records]
    assert read_calls(trace, {name_of(said): key for key, said in METHODS.items()}) == calls_of(plain)
    assert set(trace.problems) <= {"unmatched begin"}
    assert set(trace.threads.process) == {42}
    assert dict(zip(trace.threads.tid, trace.threads.name, strict=True)).items() <= THREADS.items()


def test_the_file_that_fuzzing_begins_with_is_read():
    trace = registry.open_trace(ROOT / "tests" / "data" / "profiles" / "small.trace")
    assert len(trace.calls) == 4
    assert not trace.problems


def test_overloaded_methods_are_two_and_lie_in_their_class(tmp_path):
    path = tmp_path / "a.trace"
    path.write_bytes(regular(3, 14, [(1, 0x14, 0, 1), (1, 0x18, 0, 2), (1, 0x19, 0, 3), (1, 0x15, 0, 4)]))
    trace = registry.open_trace(path)
    assert len(trace.functions) == 2
    assert not trace.problems


def test_damage_is_counted_and_other_versions_are_refused(tmp_path):
    path = tmp_path / "a.trace"
    whole = streamed(14, [(1, 0x10, 0, 1), (1, 0x14, 0, 2), (1, 0x15, 0, 3), (1, 0x11, 0, 4)])
    read = 0
    for cut in range(60, len(whole), 7):
        path.write_bytes(whole[:cut])
        with contextlib.suppress(InputError):
            trace = registry.open_trace(path)
            assert len(trace.calls) <= 2
            assert trace.problems
            read += 1
    assert read > 5
    path.write_bytes(header(0xF5, 0) + bytes(40))
    with pytest.raises(InputError, match="version 5"):
        registry.open_trace(path)
    path.write_bytes(regular(3, 14, [])[:120])
    with pytest.raises(InputError, match="the records are missing"):
        registry.open_trace(path)
