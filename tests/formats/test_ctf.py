"""LTTng's CTF through babeltrace2, and what uftrace recorded of locks."""

import shutil
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tracevis3d.errors import InputError, MissingDependency
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.formats import names
from tracevis3d.formats.ctf.events import CtfEvents
from tracevis3d.trace.model import RELEASE, WAIT, Source
from tracevis3d.trace.recording import Recording

needs_babeltrace = pytest.mark.skipif(shutil.which("babeltrace2") is None, reason="no babeltrace2")


@needs_babeltrace
def test_a_recorded_program_with_mutexes(recorded):
    trace = tv.load(str(recorded / "lttng_mt" / "ctf"), cache=False)
    assert trace.source.format == "ctf"
    assert not trace.problems
    kinds = Counter(trace.sync.kind.tolist())
    # 61,805 entries and a call for each of the 891 requests; two acquisitions were not asked for.
    assert (len(trace), kinds[WAIT], kinds[RELEASE]) == (61_805 + 891, 893, 897)
    waits = trace.sync.kind == WAIT
    assert int((trace.sync.call[waits] >= 0).sum()) == 891
    lasted = (trace.sync.end - trace.sync.start)[waits]
    assert lasted.min() >= 0
    assert lasted.max() > 100_000
    # Nine of the 64 frees are of nothing.
    assert len(trace.memory) == 61 + 55
    assert set(trace.threads.process_name) == {"mtcyg"}


@needs_babeltrace
def test_what_is_no_trace_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "metadata").write_text("/* CTF 1.8 */ nonsense")
    with pytest.raises(InputError, match="babeltrace2 can't read it"):
        tv.load(str(tmp_path), cache=False)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    (tmp_path / "ust").mkdir()
    with pytest.raises(InputError) as error:
        tv.load(str(tmp_path), cache=False)
    assert len(str(error.value).splitlines()) == 1


def test_without_the_program_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "metadata").write_text("/* CTF 1.8 */")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency, match="apt-get install babeltrace2"):
        tv.load(str(tmp_path), cache=False)


def line(time, name, tid, fields):
    context = f'{{ cpu_id = 1 }}, {{ vtid = {tid}, vpid = 7, procname = "p" }}'
    return f"[{time // 10**9}.{time % 10**9:09}] vm {name}: {context}, {{ {fields} }}\n".encode()


def read(text, pieces=1):
    recording = Recording()
    events = CtfEvents(recording)
    lines = text.splitlines(keepends=True)
    for i in range(pieces):
        events.add(b"".join(lines[len(lines) * i // pieces : len(lines) * (i + 1) // pieces]))
    events.finish()
    return recording.finish(Source(), names.split, events.place)


@st.composite
def programs(draw):
    """Threads that enter and leave functions and ask for mutexes, one step at a time."""
    depth, steps = {}, []
    for time in range(1, draw(st.integers(0, 60))):
        tid = draw(st.integers(1, 3))
        what = draw(st.sampled_from(["enter", "leave", "lock", "try", "unlock"]))
        if what == "leave" and not depth.get(tid):
            continue
        depth[tid] = depth.get(tid, 0) + {"enter": 1, "leave": -1}.get(what, 0)
        steps.append((time, tid, what, draw(st.integers(1, 2)), draw(st.booleans())))
    return steps


@given(programs(), st.integers(1, 4))
@settings(deadline=None)
def test_random_programs_against_a_plain_twin(steps, pieces):
    text, waits, releases, calls = b"", [], [], Counter()
    for time, tid, what, mutex, flag in steps:
        ns, m = time * 100, f"mutex = 0x{mutex:X}0"
        if what == "enter":
            text += line(ns, "lttng_ust_cyg_profile:func_entry", tid, f"addr = 0x{mutex:X}, call_site = 0x1")
            calls[f"<{mutex:x}>"] += 1
        elif what == "leave":
            text += line(ns, "lttng_ust_cyg_profile:func_exit", tid, "addr = 0x1, call_site = 0x1")
        elif what == "lock":
            text += line(ns, "lttng_ust_pthread:pthread_mutex_lock_req", tid, m)
            text += line(ns + 50, "lttng_ust_pthread:pthread_mutex_lock_acq", tid, m + ", status = 0")
            waits.append((tid, ns, ns + 50, f"mutex 0x{mutex:x}0"))
            calls["pthread_mutex_lock"] += 1
        elif what == "try":
            text += line(ns, "lttng_ust_pthread:pthread_mutex_trylock", tid, f"{m}, status = {16 * flag}")
            if not flag:
                waits.append((tid, ns, ns, f"mutex 0x{mutex:x}0"))
        else:
            text += line(ns, "lttng_ust_pthread:pthread_mutex_unlock", tid, m + ", status = 0")
            releases.append((tid, ns, ns, f"mutex 0x{mutex:x}0"))
    trace = read(text, pieces)
    assert Counter(trace.functions.name[f] for f in trace.calls.function.tolist()) == calls
    sync = trace.sync
    result = {WAIT: [], RELEASE: []}
    for i in range(len(sync)):
        result[int(sync.kind[i])].append(
            (
                trace.threads.tid[int(sync.thread[i])],
                int(sync.start[i]) + trace.origin_ns,
                int(sync.end[i]) + trace.origin_ns,
                sync.objects[int(sync.object[sync.first[i]])],
            )
        )
    assert sorted(result[WAIT]) == sorted(waits)
    assert sorted(result[RELEASE]) == sorted(releases)
    # A call that is a wait lasts as long as the wait.
    known = sync.call >= 0
    assert np.array_equal(trace.calls.end[sync.call[known]], sync.end[known])


def test_a_request_that_is_never_answered_lasts_until_the_end():
    text = line(100, "lttng_ust_cyg_profile:func_entry", 1, "addr = 0x5")
    text += line(200, "lttng_ust_pthread:pthread_mutex_lock_req", 1, "mutex = 0x10")
    text += line(900, "lttng_ust_cyg_profile:func_entry", 2, "addr = 0x5")
    trace = read(text)
    (wait,) = range(len(trace.sync))
    assert trace.sync.call[wait] >= 0
    assert trace.functions.name[int(trace.calls.function[trace.sync.call[wait]])] == "pthread_mutex_lock"


def test_other_events_are_instants_and_nonsense_is_counted():
    text = line(5, "my_app:request", 3, 'url = "x"') + b"nonsense\n"
    text += b'[1.000000001] sched_switch: { cpu_id = 3 }, { prev_comm = "a" }\n'
    trace = read(text)
    assert sorted(trace.instants.names) == ["my_app:request", "sched_switch"]
    assert trace.problems["malformed"].count == 1
    assert ("processors", 3) in zip(trace.threads.process, trace.threads.tid)


@pytest.mark.parametrize("name", ["lttng_mt/uftrace"])
def test_uftrace_tells_who_locks_what(recorded, name):
    trace = tv.load(str(recorded / name), cache=False)
    sync = trace.sync
    result = Counter((sync.names[int(n)], int(k)) for n, k in zip(sync.name, sync.kind))
    calls = Counter(trace.functions.name[f] for f in trace.calls.function.tolist())
    waited = calls["pthread_cond_wait"]
    # A wait for a condition lets the mutex go and takes it again.
    assert result["pthread_mutex_lock", WAIT] == calls["pthread_mutex_lock"] + waited
    assert result["pthread_mutex_unlock", RELEASE] == calls["pthread_mutex_unlock"] + waited
    assert result["pthread_cond_wait", WAIT] == waited > 0
    objects = {sync.objects[int(o)] for o in sync.object}
    assert len([o for o in objects if o.startswith("condition")]) == 1
    known = sync.call >= 0
    assert np.array_equal(trace.calls.end[sync.call[known]], sync.end[known])
    # At each moment one thread at most has the mutex.
    (mutex,) = {o for o in objects if o.startswith("mutex") and sum(
        sync.objects[int(x)] == o for x in sync.object.tolist()) > 100}  # fmt: skip
    mine = [i for i in range(len(sync)) if sync.objects[int(sync.object[sync.first[i]])] == mutex]
    order = sorted(
        (
            int((sync.end if sync.kind[i] == WAIT else sync.start)[i]),
            int(sync.kind[i]) == WAIT,
            int(sync.thread[i]),
        )
        for i in mine
    )
    held, wrong = None, 0
    for _, is_wait, thread in order:
        wrong += (held is not None) if is_wait else (held != thread)
        held = thread if is_wait else None
    # uftrace's own cost lies between the acquisition and its record, so that a few change places.
    assert wrong < len(order) / 20


def kernel(time, name, cpu, fields):
    return f"[{time // 10**9}.{time % 10**9:09}] vm {name}: {{ cpu_id = {cpu} }}, {{ {fields} }}\n".encode()


def switch(time, cpu, prev, state, following):
    names = f'prev_comm = "p{prev}", prev_tid = {prev}, prev_prio = 20, prev_state = {state}'
    return kernel(time, "sched_switch", cpu, f'{names}, next_comm = "p{following}", next_tid = {following}')


def test_the_kernel_tells_system_calls_sleeps_and_who_ends_them():
    text = b"".join(
        (
            switch(0, 0, 0, 0, 10),
            switch(5, 1, 0, 0, 20),
            kernel(10, "sched_process_fork", 0, 'child_comm = "p20", child_tid = 20, child_pid = 10'),
            kernel(20, "syscall_entry_futex", 0, "uaddr = 1"),
            switch(30, 0, 10, 1, 0),  # 10 sleeps in its call
            kernel(40, "syscall_exit_clone", 1, "ret = 0"),  # 20 never entered it
            kernel(50, "syscall_entry_write", 1, "fd = 1"),
            kernel(60, "sched_waking", 1, 'comm = "p10", tid = 10, prio = 20, target_cpu = 0'),
            switch(70, 1, 20, 0, 30),  # 20 is preempted
            switch(80, 0, 0, 0, 10),
            kernel(90, "syscall_exit_futex", 0, "ret = 0"),
            switch(95, 1, 30, 64, 20),
            kernel(99, "syscall_exit_write", 1, "ret = 5"),
            switch(100, 0, 10, 2, 0),  # never seen again
            kernel(110, "something_else", 0, "x = 1"),
        )
    )
    trace = read(text)
    assert not trace.problems
    calls, labels = trace.calls, trace.functions.label
    tid = {trace.threads.tid[t]: t for t in range(len(trace.threads))}
    found = {
        (trace.threads.tid[t], labels[f]): (int(s), int(e))
        for t, f, s, e in zip(calls.thread.tolist(), calls.function.tolist(), calls.start, calls.end)
    }
    assert found[10, "futex"] == (20, 90)
    assert found[10, "schedule"] == (30, 80)
    assert found[20, "write"] == (50, 99)
    assert found[20, labels[trace.functions.name.index("linux:schedule (preempted)")]] == (70, 95)
    assert (20, "clone") not in found
    assert found[10, "p10"] == (0, 100)
    assert trace.threads.process[tid[20]] == 10
    waits = find_waits(trace)
    (row,) = waits.own.tolist()
    assert labels[calls.function[waits.ops.call[row]]] == "schedule"
    assert (int(waits.ops.start[row]), int(waits.ops.end[row])) == (30, 80)
    assert waits.ops.thread[row] == tid[10]
    assert waits.woken_by[row] == tid[20]
    assert len(trace.instants) == 1


@needs_babeltrace
def test_hundreds_of_threads_of_a_whole_machine(public):
    path = public / "tracecompass/tracecompass-test-traces/ctf/src/main/resources/many-threads"
    if not path.exists():
        pytest.skip("this trace is not there")
    trace = tv.load(str(path), cache=False)
    assert len(trace.threads) > 581
    waits = find_waits(trace)
    names = [*trace.threads.name, None]
    pairs = {(names[waits.ops.thread[i]], names[waits.woken_by[i]]) for i in waits.own.tolist()}
    assert ("genKernelTraces", "multithread") in pairs
    assert ("Xorg", "vlc") in pairs
