"""What perf prints: recordings held against ``perf report``, all its columns, switches and wake-ups."""

import re
import shutil
import sys

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.support.profile_facts import spans, weights_of
from tracevis3d.errors import InputError, MissingDependency
from tracevis3d.formats import registry
from tracevis3d.formats.profiles.perf import data
from tracevis3d.trace import profile
from tracevis3d.trace.model import SYNC_KINDS

DATA = ROOT / "tests" / "data" / "profiles"
_ROW = re.compile(r"\s+[\d.]+%\s+(\d+)\s+\[.\] (.*?)\s*")


def bare(name):
    return name.rpartition(" (")[0] if name.endswith(")") else name


@pytest.mark.parametrize(("name", "program"), [("go", "words"), ("ping", "python3")])
def test_samples_are_those_of_perf_report(name, program):
    trace = registry.open_trace(DATA / f"{name}.perf.txt.gz")
    assert trace.source.format == "perf_script"
    said = {}
    for line in (DATA / f"{name}.perf.report.txt").read_text().splitlines():
        row = _ROW.fullmatch(line)
        if not row[2].startswith("0x"):
            said[row[2]] = said.get(row[2], 0) + int(row[1])
    period = trace.samples.weight[trace.samples.kind == 0][0]
    found = {n: own // period for n, (own, _) in weights_of(trace, named=bare).items() if own}
    found.pop("[unknown]", None)
    assert found == said
    assert program in trace.threads.name


def test_a_recording_of_the_project_is_read():
    path = ROOT.parent / "shared" / "traces" / "recorded" / "perf_lua.script.txt.gz"
    if not path.exists():
        pytest.skip("the shared recordings are not here")
    trace = registry.open_trace(path)
    assert profile.totals(trace) == {"cpu-clock (ns)": 44 * 500250}


def test_off_the_processor_and_wake_ups():
    trace = registry.open_trace(DATA / "ping.perf.txt.gz")
    assert list(trace.samples.kinds) == ["cpu-clock (ns)", "off the processor (ns)"]
    assert {trace.sync.names[n] for n in trace.sync.name} >= {"sleeping", "preempted"}
    wakes = [trace.flows.names[n] for n in trace.flows.name]
    assert set(wakes) == {"wakes"}
    assert (trace.flows.end >= trace.flows.start).all()
    # While a thread is off the processor, the calls that it left are still open.
    # Stacks of other programs are left out of the file.
    samples = trace.samples
    off = samples.kind == 1
    stacks = zip(samples.thread[off].tolist(), samples.time[off].tolist(), strict=True)
    stack_of = dict(zip(stacks, samples.stack[off].tolist(), strict=True))
    for thread, start, end in zip(trace.sync.thread, trace.sync.start, trace.sync.end, strict=True):
        if end > start and stack_of[thread, start] >= 0:
            low, count = trace.threads.first[thread], trace.threads.count[thread]
            calls = slice(low, low + count)
            inside = (trace.calls.start[calls] <= start) & (trace.calls.end[calls] >= end)
            assert inside.any()


def operations(trace):
    sync = trace.sync
    columns = (sync.thread, sync.kind, sync.name, sync.start, sync.end)
    return [
        (
            trace.threads.name[thread], SYNC_KINDS[kind], sync.names[name], start, end,
            *(sync.objects[one] for one in sync.object[sync.first[row] : sync.first[row + 1]]),
        )
        for row, (thread, kind, name, start, end) in enumerate(zip(*map(list, columns), strict=True))
    ]  # fmt: skip


def switch(state, thread=7, at="1.000000"):
    return (
        f"a 5/{thread} [000] {at}:  1 sched:sched_switch: prev_comm=a prev_pid={thread} prev_prio=120 "
        f"prev_state={state} ==> next_comm=other next_pid=99 next_prio=120\n\tff schedule+0x1 ([kernel])\n\n"
    )


def wake(*frames, thread=8, name="b", at="1.000300"):
    stack = "".join(f"\tff {frame}+0x1 ([kernel.kallsyms])\n" for frame in frames)
    head = f"{name} 5/{thread} [002] {at}:  1 sched:sched_waking: comm=a pid=7 prio=120 target_cpu=000"
    return f"{head}\n{stack}\n"


def sample(thread=7, at="1.000900"):
    return f"a 5/{thread} [000] {at}:  1 cycles: \n\tff work+0x1 (/bin/a)\n\n"


ASLEEP = "wake-up of a (7)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # It could run from when it was woken; without that, it ran when something of it was seen.
        (switch("S") + wake("try_to_wake_up", "futex_wake") + sample(), [
            ("a", "wait", "sleeping", 0, 300_000, ASLEEP),
            ("b", "release", "wake-up", 300_000, 300_000, ASLEEP)]),
        (switch("S") + sample(), [("a", "wait", "sleeping", 0, 900_000, ASLEEP)]),
        (switch("S") + switch("D", at="1.000500") + sample(), [
            ("a", "wait", "sleeping", 0, 500_000, ASLEEP),
            ("a", "wait", "in uninterruptible sleep", 500_000, 900_000, ASLEEP)]),
        # Who is preempted waits for nobody, and nobody wakes it.
        (switch("R+") + wake("futex_wake") + sample(), [
            ("a", "wait", "preempted", 0, 900_000), ("b", "release", "wake-up", 300_000, 300_000, ASLEEP)]),
        # What an interrupt does is not done by the thread that it interrupts.
        (switch("S") + wake("hrtimer_wakeup", "asm_sysvec_apic_timer_interrupt") + sample(), [
            ("a", "wait", "sleeping", 0, 300_000, ASLEEP),
            ("interrupts of processor 2", "release", "wake-up", 300_000, 300_000, ASLEEP)]),
        (switch("S") + wake(thread=0, name="swapper") + sample(), [
            ("a", "wait", "sleeping", 0, 300_000, ASLEEP),
            ("interrupts of processor 2", "release", "wake-up", 300_000, 300_000, ASLEEP)]),
        # It has not come back, as all processors show; for a moment, perhaps; or has ended.
        (switch("S") + sample(thread=0), [("a", "wait", "sleeping", 0, 900_000, ASLEEP)]),
        (switch("S") + sample(thread=8), []),
        (switch("X") + sample(thread=0), []),
    ],
)  # fmt: skip
def test_one_program_alone_has_no_switches_to_its_threads(tmp_path, text, said):
    path = tmp_path / "a.txt"
    path.write_text(sample(at="0.999999") + text)
    trace = registry.open_trace(path)
    assert [(*one[:3], one[3] - 1000, one[4] - 1000, *one[5:]) for one in operations(trace)] == said
    assert "no stacks" not in trace.problems
    has_ended = trace.sync.contended[trace.sync.kind == 0] == 1
    assert has_ended.all() == ("5/0 [000] 1.000900" not in text or not said)
    # Arrows end where the thread is back.
    back = 900_000 if "=R+" in text else 300_000
    assert (trace.flows.end - 1000).tolist() == [back for one in said if one[1] == "release"]


def test_switches_make_waits(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(
        "a 5/7 [000] 1.000000:  1 sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> "
        "next_comm=b x next_pid=8 next_prio=120\n\tff sleep+0x1 (/lib/libc.so)\n\n"
        "b x 5/8 [000] 1.000100:  1 sched:sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n\n"
        "b x 5/8 [000] 1.000300:  1 sched:sched_switch: prev_comm=b x prev_pid=8 prev_prio=120 "
        "prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n\n"
    )
    trace = registry.open_trace(path)
    assert list(zip(trace.threads.process, trace.threads.tid, trace.threads.name, strict=True)) == [
        (5, 7, "a"), (5, 8, "b x")
    ]  # fmt: skip
    assert operations(trace) == [
        ("a", "wait", "sleeping", 0, 300_000, "wake-up of a (7)"),
        ("b x", "release", "wake-up", 100_000, 100_000, "wake-up of a (7)"),
    ]
    assert trace.problems["no stacks"].count == 1
    assert trace.flows.source_thread.tolist() == [1]
    assert (trace.flows.start.tolist(), trace.flows.end.tolist()) == ([100_000], [300_000])
    assert spans(trace) == [("sleep", 10**9, 10**9 + 300_000, 1)]


HEADS = [
    "my prog 12 3.5: cycles:",
    "my prog 12/13 [002] 3.5:    100 cycles:u:",
    "my prog    12 [002]   3.5: cycles: ",
    "  my prog 12 [002] d..1. 3.5: 7 cycles:",
    "my prog 12 3.500000001: 100 cpu/event=0x3c/:",
    "my prog 12/13 U     3.500000:    100 cycles: ",
    "my prog 12 [002] Sp 2026-11-27 12:00:00.500000 3.5: 100 cycles:",
]


@pytest.mark.parametrize("head", HEADS)
def test_columns(tmp_path, head):
    path = tmp_path / "a.txt"
    path.write_text(
        f"{head}\n\t  ab1 f(int, char const*)+0x12 (/usr/lib/libx.so.6)\n\t  0 [unknown] ([unknown])\n\n"
    )
    trace = registry.open_trace(path)
    assert trace.source.format == "perf_script"
    assert list(trace.threads.name) == ["my prog"]
    assert sorted(trace.functions.name) == ["[unknown]", "f(int, char const*) (/usr/lib/libx.so.6)"]
    assert abs(trace.origin_ns - 3_500_000_000) <= 1
    assert not trace.problems


def test_without_chains_times_or_with_lines(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(
        "a 1 0.5:  3 cycles:  ffff f+0x1 ([kernel.kallsyms])\na 1 0.6:  4 cycles:  ee g (/bin/a)\n"
    )
    trace = registry.open_trace(path)
    assert [(name, depth) for name, _, _, depth in spans(trace)] == [("f", 1), ("g", 1)]
    assert profile.totals(trace) == {"cycles": 7}
    path.write_text(
        "a 1 cycles: \n\t aa f (/bin/a)\n  a.c:12\n\t bb g (inlined)\n\na 1 cycles: \n\t aa f (/bin/a)\n\n"
    )
    trace = registry.open_trace(path)
    assert "no time unit" in trace.problems
    assert {int(line) for line in trace.stacks.line} == {0, 12}
    assert not trace.samples.are_timed
    assert profile.totals(trace) == {"samples": 2}


def test_lines_that_perf_does_not_know_are_no_frames(tmp_path):
    """``-F +srcline``: what has no lines has an address, or nothing before the colon."""
    path = tmp_path / "a.txt"
    path.write_text(
        "a 1 0.5: 3 cycles: \n\tffff81 f+0x1 ([kernel.kallsyms])\n  [kernel.kallsyms][ffff81]\n"
        "\t aa g (/lib/b.so.1)\n  b.so.1[7f12ab]\n\t bb h (/bin/a)\n  :0\n\t cc k (/bin/a)\n"
        "  /src/a b.c:12 (discriminator 3)\n\n"
    )
    trace = registry.open_trace(path)
    assert [(name, depth) for name, _, _, depth in spans(trace)] == [("k", 1), ("h", 2), ("g", 3), ("f", 4)]
    assert sorted(trace.stacks.line.tolist()) == [0, 0, 0, 12]
    k = trace.functions.file[[*trace.functions.label].index("k")]
    assert trace.files[k] == "/src/a b.c"
    assert not trace.problems


def test_records_that_are_no_samples_are_counted(tmp_path):
    """``--show-mmap-events`` and the like print them between samples, hundreds at first."""
    path = tmp_path / "a.txt"
    row = "swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xff(0x1) @ 0xff]: x [kernel.kallsyms]_text\n"
    path.write_text(
        row * 500
        + "a 1 0.1: PERF_RECORD_COMM exec: a:1/1\n"
        + "a 1 0.5: 3 cycles: \n\t aa f (/bin/a)\n\t bb g (/bin/a)\n\n"
        + "a 1 0.6: PERF_RECORD_FORK(12:12):(1:1)\na 1 0.7: 3 cycles: \n\t aa f (/bin/a)\n\n?? nothing\n"
    )
    trace = registry.open_trace(path)
    assert trace.source.format == "perf_script"
    assert profile.totals(trace) == {"cycles": 6}
    assert [(name, depth) for name, _, _, depth in spans(trace)] == [("g", 1), ("f", 2), ("f", 1)]
    assert trace.problems["unsupported"].count == 502
    assert trace.problems["malformed"].first == "line 510"


def test_times_since_the_sample_before_are_added_up(tmp_path):
    path = tmp_path / "a.txt"

    def times(*said):
        path.write_text(
            "".join(f"a {k % 2 + 1} {at}: 3 cycles: \n\t aa f{k} (/a)\n\n" for k, at in enumerate(said))
        )
        trace = registry.open_trace(path)
        return (trace.origin_ns + np.sort(trace.samples.time)).tolist()

    assert times("0.000000", "0.300000", "0.100000", "0.200000") == [0, 300_000_000, 400_000_000, 600_000_000]
    # Those of --reltime ascend, but for a few.
    assert times("0.0", "0.1", "0.2") == [0, 100_000_000, 200_000_000]
    assert times("0.0", *("0.5", "0.6", "0.4", "0.7"), *("0.8",) * 9)[-1] == 800_000_000
    # Others begin with the time since the machine was started.
    assert times("7.0", "5.0", "6.0") == [5 * 10**9, 6 * 10**9, 7 * 10**9]


def test_tracepoints_are_moments_and_damage_is_counted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(
        "a 1 0.5: 1 cycles:\n\t aa f (/bin/a)\n\n"
        "a 1 0.6: 1 syscalls:sys_enter_read: fd: 0x3\n\t aa f (/bin/a)\n\n"
        "?? nothing\n\na 1 0.7: 1 cycles:\n\t aa f (/bin/a)\n"
    )
    trace = registry.open_trace(path)
    assert [trace.instants.names[n] for n in trace.instants.name] == ["syscalls:sys_enter_read"]
    assert trace.problems["malformed"].first == "line 7"
    path.write_text("\t aa f (/bin/a)\n" * 3)
    with pytest.raises(InputError):
        registry.open_trace(path)


def test_its_own_file_needs_perf(tmp_path, monkeypatch):
    path = tmp_path / "perf.data"
    path.write_bytes(b"PERFILE2" + bytes(100))
    monkeypatch.setattr(data.shutil, "which", lambda name: None)
    with pytest.raises(MissingDependency, match="perf script"):
        registry.open_trace(path)


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_a_damaged_file_of_perfs_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(b"PERFILE2" + bytes(100))
    with pytest.raises(InputError, match="perf can't read it") as refused:
        registry.open_trace(path)
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for perf with a shell script")
def test_recordings_whose_samples_have_no_processor_keep_their_switches(tmp_path, monkeypatch):
    """perf refuses the column for all events where one has none."""
    path, program, text = tmp_path / "perf.data", tmp_path / "perf", tmp_path / "printed"
    path.write_bytes(b"PERFILE2" + bytes(100))
    text.write_text(switch("S") + sample())
    monkeypatch.setattr(data.shutil, "which", lambda name: str(program))
    program.write_text(f'#!/bin/sh\ncase "$*" in *,cpu,*) exit 1;; *,trace*) exec cat {text};; esac\n')
    program.chmod(0o755)
    trace = registry.open_trace(path)
    assert operations(trace) == [("a", "wait", "sleeping", 0, 900_000, ASLEEP)]


@pytest.mark.skipif(sys.platform == "win32", reason="stands in for perf with a shell script")
def test_perf_is_stopped_where_it_prints_nothing_and_waited_for_where_it_does(tmp_path, monkeypatch):
    path, program = tmp_path / "perf.data", tmp_path / "perf"
    path.write_bytes(b"PERFILE2" + bytes(100))
    monkeypatch.setattr(data.shutil, "which", lambda name: str(program))
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(data, "SILENT_S", 0.2)
    with pytest.raises(InputError, match="printed nothing for 0 s, and was stopped"):
        registry.open_trace(path)
    sample = "a 1 1.000: cycles:\\n\\t aa f (/bin/a)\\n\\n"
    program.write_text(f"#!/bin/sh\nfor i in 1 2 3 4; do sleep 0.1; printf '{sample}'; done\n")
    monkeypatch.setattr(data, "SILENT_S", 30.0)
    assert list(registry.open_trace(path).functions.name) == ["f (/bin/a)"]


def test_stacks_are_read_whose_indentation_is_lost_or_made_of_blanks(tmp_path):
    rows = ["ffffffff8103d0ca write_msr ([kernel.kallsyms])", "7f1 main (/bin/a b)"]
    for before in ("", "            ", "\t"):
        path = tmp_path / "a.txt"
        blocks = ["\n".join(["node v8 31912 cycles: ", *(before + row for row in rows)])] * 3
        path.write_text("\n\n".join(blocks) + "\n")
        trace = registry.open_trace(path)
        assert trace.source.format == "perf_script"
        assert sorted(trace.functions.label) == ["main", "write_msr"]
        assert len(trace.samples) == 3
        assert trace.calls.depth.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("head", "threads", "kind"),
    [
        (" 4422.37{}: cpu-clock:pppH: \n", ["thread all"], "samples"),
        ("29921  4422.37{}: cpu-clock:pppH: \n", ["python 29921"], "samples"),
        ("bash \n", ["thread bash"], "samples"),
        ("\n", ["thread all"], "samples"),
        ("bash 7/29921 [001] 4422.37{}: 2004 cycles: \n", ["bash (29921)"], "cycles"),
    ],
)
def test_any_columns_of_f_will_do(tmp_path, head, threads, kind):
    stacks = ["\t 32f72 find_locale\n\t 3238c main\n", "\tffffffff821cd8a3 mas_next\n\t 3238c main\n"]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(head.format(i) + stacks[i % 2] for i in range(6)))
    trace = registry.open_trace(path)
    assert trace.source.format == "perf_script"
    assert len(trace.samples) == 6
    assert sorted(trace.functions.label) == ["find_locale", "main", "mas_next"]
    assert list(trace.samples.kinds) == [kind]
    assert len(trace.threads) == len(threads) == 1
    assert not [problem for problem in trace.problems if problem != "no time unit"]


def test_a_line_of_many_blanks_is_no_trouble(tmp_path):
    path = tmp_path / "a.perf.txt"
    some = b"5 1.5: cycles: \n\t 3238c main\n\n" * 4_000
    path.write_bytes(some + b"5" + b" " * 2_000_000 + b"x\n\n7 1.6: cycles: \n\t 3238c main\n")
    assert len(registry.open_trace(path).samples) == 4_001
