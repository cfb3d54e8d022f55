"""ftrace's text: a recording held against a plain reading of its lines, and each form of a line."""

import gzip
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.formats import names, registry
from tracevis3d.formats.lines import ftrace
from tracevis3d.progress import silent
from tracevis3d.trace.model import RELEASE, WAIT, Source
from tracevis3d.trace.recording import Recording

#: Three threads of Python that queue for a lock, with the system call ``futex``.
LOCKS = ROOT / "tests" / "data" / "profiles" / "locks.ftrace.gz"
LINE = re.compile(r"\s*(.*)-(\d+) +\[(\d+)\] (\S+) +([\d.]+): (\w+)(.*)")


def plainly(text):
    """Return sleeps, wake-ups and system calls, line by line."""
    away, inside, sleeps, wakes, calls = {}, {}, set(), set(), set()
    for line in text.splitlines():
        if not (said := LINE.fullmatch(line)):
            continue
        tid, cpu, flags, event, rest = int(said[2]), int(said[3]), said[4], said[6], said[7]
        time = round(float(said[5].replace(".", "")) * 1000)
        if event == "sched_switch":
            prev, following = (
                int(re.search(r"prev_pid=(\d+)", rest)[1]),
                int(re.search(r"next_pid=(\d+)", rest)[1]),
            )
            away[prev] = (time, "prev_state=R" not in rest)
            begun, sleeping = away.pop(following, (0, False))
            if sleeping and following:
                sleeps.add((following, begun, time))
        elif event == "sched_waking":
            by = f"cpu{cpu}" if flags[2] in "hHsZz" or not tid else tid
            wakes.add((by, time, int(re.search(r" pid=(\d+)", rest)[1])))
        elif event.startswith("sys_") and rest.startswith("("):
            inside[tid] = time
        elif event.startswith("sys_") and tid in inside:
            calls.add((tid, inside.pop(tid), time))
    return sleeps, wakes, calls


def test_a_recording_is_what_its_lines_say():
    trace = registry.open_trace(LOCKS)
    assert trace.source.format == "ftrace"
    assert not trace.problems
    sleeps, wakes, calls = plainly(gzip.decompress(LOCKS.read_bytes()).decode())
    sync, threads, origin = trace.sync, trace.threads, trace.origin_ns
    rows = [
        (kind, threads.tid[thread], start + origin, end + origin, sync.objects[sync.object[first]])
        for kind, thread, start, end, first in zip(
            sync.kind.tolist(), sync.thread.tolist(), sync.start.tolist(), sync.end.tolist(),
            sync.first[:-1].tolist(), strict=True,
        )
    ]  # fmt: skip
    woken = {one[4]: int(re.search(r"\((\d+)\)$", one[4])[1]) for one in rows}
    assert {one[1:4] for one in rows if one[0] == WAIT} == sleeps
    known = set(threads.tid)
    assert {(one[1], one[2], woken[one[4]]) for one in rows if one[0] == RELEASE} == {
        one for one in wakes if one[2] in known
    }
    futex = [i for i, f in enumerate(trace.calls.function.tolist()) if trace.functions.label[f] == "futex"]
    found = trace.calls
    assert {
        (threads.tid[found.thread[i]], int(found.start[i]) + origin, int(found.end[i]) + origin)
        for i in futex
    } == calls
    assert len(sleeps) > 30
    assert len(calls) > 10


def test_each_form_of_a_line(tmp_path):
    path = tmp_path / "a.ftrace"
    path.write_text(
        "cpus=2\n"
        # trace-cmd report, with processes; a program whose name has a blank, a dash and a colon.
        " a-b c:0-10 (    9) [000] d..2. 1.000000: sched_switch:  a-b c:0:10 [120] S ==> swapper/0:0 [120]\n"
        " <idle>-0     (-----) [000] d.h1. 1.000500: sched_waking:  comm=a-b c:0 pid=10 prio=120\n"
        " <idle>-0     (-----) [000] d..2. 1.001: sched_switch: nothing\n"
        " <idle>-0     (-----) [000] d..2. 1.000900: sched_switch: nothing\n"
        " <idle>-0     (-----) [000] d..2. 1.001000: sched_switch: swapper/0:0 [120] R ==> a-b c:0:10 [120]\n"
        "CPU:1 [LOST 7 EVENTS]\n"
        # Marks of a program, as Android's tools put them into a page.
        "    a-b c:0-10    (    9) [000] ....1 1.001100: tracing_mark_write: B|9|frame\\n\\\n"
        "    a-b c:0-10    (    9) [000] ..... 1.001200: sys_enter_read: fd: 3\n"
        "    a-b c:0-10    (    9) [000] ..... 1.001300: sys_exit_read: 0x10\n"
        "    a-b c:0-10    (    9) [000] ....1 1.001400: print: 0xffff: E|9\n"
        "    a-b c:0-10    (    9) [000] ..... 1.001500: irq_handler_entry: irq=24 name=net\n"
        "    other-11    (    9) [001] d..3. 1.001600: sched_waking: a-b c:0:10 [120] CPU:000\n"
    )
    trace = registry.open_trace(path)
    threads = trace.threads
    assert [
        (p, t, n) for p, t, n in zip(threads.process, threads.tid, threads.name, strict=True) if p == 9
    ] == [
        (9, 10, "a-b c:0"),
        (9, 11, "other"),
    ]
    names = [trace.functions.label[f] for f in trace.calls.function]
    at = [
        (n, d, int(s) + trace.origin_ns)
        for n, d, s in zip(names, trace.calls.depth, trace.calls.start, strict=True)
    ]
    assert {("frame", 2, 1_001_100_000), ("read", 3, 1_001_200_000)} <= set(at)
    waits = find_waits(trace)
    (only,) = waits.own.tolist()
    assert threads.name[waits.woken_by[only]] == "interrupts of processor 0"
    assert trace.problems["lost"].count == 7
    assert trace.problems["malformed"].count == 2
    assert trace.problems["malformed"].first == "line 4"
    assert [trace.instants.names[n] for n in trace.instants.name] == ["irq_handler_entry"]


def test_forms_of_trace_cmd_report_say_the_same():
    """One recording of trace-cmd 3.4: as usual, in the latency format, and with differences of times."""
    folder = LOCKS.parent
    plain = gzip.decompress((folder / "words_3_4.ftrace.gz").read_bytes()).decode()
    traces = [
        registry.open_trace(folder / f"words_3_4.{form}ftrace.gz") for form in ("", "latency.", "diff.")
    ]
    enters = len(re.findall(r": sys_enter_pwrite64: ", plain))
    assert enters > 5
    for trace in traces:
        functions = trace.calls.function
        names = [trace.functions.label[f] for f in functions]
        assert names.count("pwrite64") == enters
        assert functions.tolist() == traces[0].calls.function.tolist()
        assert trace.sync.kind.tolist() == traces[0].sync.kind.tolist()
        # Times of the last one are not cut to microseconds.
        assert abs(trace.calls.start - traces[0].calls.start).max() <= 1000
        assert trace.threads.tid == traces[0].threads.tid
        assert not trace.problems


def test_clocks_that_count_nanoseconds_are_read():
    """trace-cmd prints the clock boot as whole nanoseconds, right behind the flags."""
    path = LOCKS.with_name("words_3_4.boot.ftrace.gz")
    trace, text = registry.open_trace(path), gzip.decompress(path.read_bytes()).decode()
    said = re.findall(r"-(\d+) \[\d+\] \S{5}(\d+): sys_enter_pwrite64: ", text)
    found = trace.calls
    starts = [
        (str(trace.threads.tid[t]), str(int(s) + trace.origin_ns))
        for t, s, f in zip(found.thread, found.start, found.function, strict=True)
        if trace.functions.label[f] == "pwrite64"
    ]
    assert sorted(starts) == sorted(said)
    assert len(said) > 5
    assert len(trace.sync)
    assert not trace.problems


def test_system_calls_and_marks_without_the_scheduler(tmp_path):
    path = tmp_path / "a.ftrace"
    path.write_text(
        "# tracer: nop\n"
        "   bash-1 [000] ..... 1.000000: tracing_mark_write: B|1|frame\n"
        "   bash-1 [000] ..... 1.000100: sys_enter_read: fd: 3\n"
        "   other-2 [001] ..... 1.000150: sys_enter_write: fd: 1\n"
        "   bash-1 [000] ..... 1.000200: sys_exit_read: 0x10\n"
        "   bash-1 [000] ..... 1.000300: tracing_mark_write: E|1\n"
        "   other-2 [001] ..... 1.000350: sys_exit_write: 0x10\n"
    )
    trace = registry.open_trace(path)
    found = trace.calls
    assert [
        (trace.threads.tid[t], trace.functions.label[f], d, s, e)
        for t, f, d, s, e in zip(
            found.thread.tolist(), found.function.tolist(), found.depth.tolist(), found.start.tolist(),
            found.end.tolist(), strict=True,
        )
    ] == [
        (1, "bash", 1, 0, 300_000), (1, "frame", 2, 0, 300_000), (1, "read", 3, 100_000, 200_000),
        (2, "other", 1, 150_000, 350_000), (2, "write", 2, 150_000, 350_000),
    ]  # fmt: skip
    assert not trace.problems


def test_without_any_of_them_one_sentence_says_what_to_record(tmp_path):
    path = tmp_path / "a.ftrace"
    path.write_text("# tracer: nop\n   bash-1 [000] ..... 1.000000: irq_handler_entry: irq=1\n")
    with pytest.raises(InputError, match="trace-cmd record -e sched_switch"):
        registry.open_trace(path)


# -- the scanner against reading line by line ----------------------------------------------------------


def read_by(data, scanner):
    """Return all that is read of ftrace's text, with names in place of numbers."""
    recording = Recording()
    reader = ftrace._Reader(recording)
    reader.read(data, silent, scanner=scanner)
    lines = reader.hand_over().tolist()
    trace = recording.finish(Source(), names.split)
    calls, threads, sync, instants = trace.calls, trace.threads, trace.sync, trace.instants
    return {
        "calls": [
            (threads.process[t], threads.tid[t], trace.functions.name[f], d, s, e)
            for t, f, d, s, e in zip(
                calls.thread.tolist(), calls.function.tolist(), calls.depth.tolist(), calls.start.tolist(),
                calls.end.tolist(), strict=True,
            )
        ],
        "threads": list(zip(threads.process, threads.tid, threads.name, threads.process_name, strict=True)),
        "sync": [
            (k, t, s, e, sync.objects[sync.object[first]])
            for k, t, s, e, first in zip(
                sync.kind.tolist(), [threads.tid[t] for t in sync.thread.tolist()], sync.start.tolist(),
                sync.end.tolist(), sync.first[:-1].tolist(), strict=True,
            )
        ],
        "instants": [
            (threads.tid[t], instants.names[n], at)
            for t, n, at in zip(
                instants.thread.tolist(), instants.name.tolist(), instants.time.tolist(), strict=True
            )
        ],
        "problems": trace.problems.as_dict(),
        "lines": lines,
    }  # fmt: skip


@pytest.mark.parametrize("size", [None, 5])
def test_the_scanner_reads_recordings_as_line_by_line(public, monkeypatch, size):
    if size:
        monkeypatch.setattr(ftrace, "_STEP", size)
    android = public / "catapult-project/catapult/tracing/test_data/android_systrace.txt"
    for data in (gzip.decompress(LOCKS.read_bytes()), android.read_bytes()[: 200_000 if size else None]):
        assert read_by(data, True) == read_by(data, False)


_COMM = st.sampled_from(["a", "b-1", "a b", "<idle>", "kworker/0:1", "x=y", "-", " c ", "a-1 [000] d..2. 1"])
_PID = st.sampled_from(["0", "1", "2", "33", "999999999", "1234567890", "x", ""])
_EVENTS = st.one_of(
    st.builds(
        "sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={} ==> next_comm={} next_pid={} "
        "next_prio=120".format,
        _COMM, _PID, st.sampled_from(["S", "R", "R+", "D", "0", "1", "R|K", "", "S S"]), _COMM, _PID,
    ),
    st.builds(
        "{}: comm={} pid={} prio=120 {}".format,
        st.sampled_from(["sched_waking", "sched_wakeup"]), _COMM, _PID,
        st.sampled_from(["target_cpu=001", "success=1 target_cpu=000", ""]),
    ),
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["sys_", "sys_enter_", "sys_exit_"]),
        st.sampled_from(["read", "clone", "enter_x", ""]),
        st.sampled_from(
            [
                "(fd: 3)", " -> 0x0", " -> 0xfffffffffffffff2", " -> 1g", ": 0x10", ": fd", ":", "", ": 0x",
                "->3",
            ]
        ),
    ),
    st.sampled_from(
        [
            "irq_handler_entry: irq=1 name=x", "tracing_mark_write: B|1|frame", "tracing_mark_write: E",
            "print: 0xf: E|9", "printk: x", "do_fork <-sys", "a:b:c", "sched_switch:",
            "sched_switch: a:1 [120] S ==> b:2 [120]", "sched_waking: b:2 [120] CPU:000",
        ]
    ),
)  # fmt: skip
_LINES = st.builds(
    "{}{}-{} {}[{}] {}{}: {}{}".format,
    st.sampled_from(["", "   ", "\t", "# "]), _COMM, _PID,
    st.sampled_from(["", "", "(    1) ", "(-----) ", "( 2)", "(x) "]), st.sampled_from(["000", "1", "", "x"]),
    st.sampled_from(["d..2. ", "d.h1. ", "dNs3 ", "", "abc ", "d:.2. "]),
    st.sampled_from(
        ["1.000001", "1.000002", "2.5", "3.1234567", "4.000000001", "5.1234567890", "x", "1234567890123"]
    ),
    st.one_of(_EVENTS, _EVENTS, st.builds("(+12) {}".format, _EVENTS)),
    st.sampled_from(["", "", " ", "\\n\\", "\f"]),
)  # fmt: skip
_ANY = st.one_of(
    _LINES, _LINES, _LINES, st.sampled_from(["", "  ", "# c", "cpus=2", "CPU:1 [LOST 7 EVENTS]", "x-1", "\v"])
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_ANY, max_size=20), st.booleans())
def test_the_scanner_reads_what_is_read_line_by_line(lines, has_end):
    data = ("\n".join(lines) + "\n" * has_end).encode()
    assert read_by(data, True) == read_by(data, False)


def test_usual_lines_are_all_scanned(monkeypatch):
    left = []
    monkeypatch.setattr(ftrace._Reader, "_take", lambda reader, number, line, wakes: left.append(line))
    read_by(gzip.decompress(LOCKS.read_bytes()), True)
    assert left == []
