"""ftrace's text: a recording held against a plain reading of its lines, and each form of a line."""

import gzip
import re

import pytest

from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.formats import registry
from tracevis3d.trace.model import RELEASE, WAIT

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
