"""Programs that use the profile hook, cProfile or greenlets go on as before, and their calls are recorded."""

import cProfile
import os
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

import tracevis3d as tv
from tests.support.recorder import engines, recording, wait_for_end
from tracevis3d.cli import main

#: VizTracer has its own ways with hooks.
OURS = [pair for pair in engines() if pair[1] != "viztracer"]
PROGRAM = """
import cProfile, io, pstats, sys, threading
def leaf(i): return i
def before(): return leaf(1)
def inside():
    for i in range(50): leaf(i)
def afterwards(): return leaf(2)
def hook(frame, event, arg): heard.append((frame.f_code.co_name, event, getattr(arg, '__name__', '')))
heard = []
before()
sys.setprofile(hook); print(sys.getprofile() is hook); inside(); len(heard); sys.setprofile(None)
afterwards()
print(sys.getprofile(), threading.getprofile(), sys.orig_argv[1:])
print([one for one in heard])
threading.setprofile(hook)
thread = threading.Thread(target=inside); thread.start(); thread.join()
threading.setprofile(None)
afterwards()
"""
RAISING = """
import sys
def leaf(i): return i
def bad(frame, event, arg): raise KeyError(event)
try:
    sys.setprofile(bad); leaf(3)
except KeyError as error: print(repr(error), sys.getprofile())
leaf(4)
"""
PROFILED = """
import cProfile, pstats
def leaf(i): return i
def inside():
    for i in range(50): leaf(i)
def outer():
    profiler = cProfile.Profile()
    leaf(0)
    profiler.enable(); inside(); profiler.disable()
    leaf(1)
    return profiler
def end(): leaf(2)
profiler = outer()
counts = {name: calls[0] for (_, _, name), calls in pstats.Stats(profiler).stats.items()}
print(counts['leaf'], counts['inside'])
end()
"""


def called(trace):
    """Return the names of all calls' functions, without files."""
    short = [name.rpartition("(")[0].strip() or name for name in trace.functions.name]
    return [short[function] for function in trace.calls.function.tolist()]


def counted(trace, *names):
    """Return how often functions of these names were called."""
    found = Counter(called(trace))
    return [found[name] for name in names]


def parents(trace, name):
    """Return the names of the callers of all calls of a function."""
    names = called(trace)
    above = trace.calls.parent.tolist()
    return {names[above[call]] if above[call] >= 0 else "" for call, own in enumerate(names) if own == name}


@pytest.mark.parametrize(("python", "engine"), OURS)
def test_the_programs_own_profile_hook_works_beside_the_recorders(plainly, tmp_path, python, engine):
    program, plain = plainly(python, PROGRAM)
    recorded = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert (recorded.returncode, recorded.stderr, plain.stderr) == (0, "", "")
    trace = tv.load(str(output), cache=False)
    assert recorded.stdout == plain.stdout
    assert not trace.problems
    assert counted(trace, "before", "inside", "afterwards", "leaf") == [1, 2, 2, 103]


@pytest.mark.parametrize(("python", "engine"), OURS)
def test_a_hook_of_the_programs_that_raises(plainly, tmp_path, python, engine):
    program, plain = plainly(python, RAISING)
    recorded = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert (recorded.returncode, recorded.stderr) == (0, "")
    trace = tv.load(str(output), cache=False)
    assert recorded.stdout == plain.stdout
    # Where a hook raises before the recorder hears of a call, that is not one; at the latest the next one is.
    assert counted(trace, "leaf")[0] in (1, 2) or "not recorded" in trace.problems


@pytest.mark.parametrize(("python", "engine"), OURS)
def test_a_program_that_profiles_itself(plainly, tmp_path, python, engine):
    program, plain = plainly(python, PROFILED)
    recorded = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert (recorded.returncode, recorded.stderr, recorded.stdout) == (0, "", plain.stdout)
    trace = tv.load(str(output), cache=False)
    missing = trace.problems.get("not recorded")
    if missing is None:
        assert counted(trace, "leaf", "inside", "outer", "end") == [53, 1, 1, 1]
    else:
        # It has the hook of Python 3.11 for itself; calls around that are in two parts.
        assert engine == "profile"
        assert (missing.count, missing.first[:8]) == (1, "cProfile")
        assert counted(trace, "leaf", "inside", "outer", "end") == [3, 0, 2, 1]
    # What came before and after stands where it belongs.
    assert parents(trace, "leaf") <= {"inside", "outer", "end"}
    assert parents(trace, "outer") == parents(trace, "end") == {"<module>"}


SWITCHES = """
import greenlet, sys, threading
def inner(n):
    got = main.switch(n)
    return after(got)
def after(n): return n * 2
def body(n):
    return inner(n)
def rounds(n):
    global main
    main = greenlet.getcurrent()
    made = [greenlet.greenlet(body) for _ in range(n)]
    print([one.switch(i) for i, one in enumerate(made)], [one.switch(7) for one in reversed(made)])
def end(): pass
heard = []
before = greenlet.settrace(lambda event, args: heard.append(event))
rounds(3)
print(before, greenlet.gettrace() is not None, heard); greenlet.settrace(None)
thread = threading.Thread(target=rounds, args=(2,)); thread.start(); thread.join()
end()
"""
GEVENT = """
from gevent import monkey; monkey.patch_all()
import gevent, threading, time
lock, rlock = threading.Lock(), threading.RLock()
def leaf(i): time.sleep(0.002); return i
def step(i): return leaf(i)
def locked(i):
    with lock, rlock: return step(i)
jobs = [gevent.spawn(step, i) for i in range(5)] + [gevent.spawn(locked, i) for i in range(3)]
gevent.joinall(jobs); print([job.value for job in jobs])
thread = threading.Thread(target=locked, args=(7,)); thread.start(); thread.join(); print(type(rlock))
"""


@cache
def has(python, module):
    return not subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode


def having(python, module):
    if not has(python, module):
        pytest.skip(f"{module} is not installed")


@pytest.mark.parametrize(("python", "engine"), engines())
def test_each_greenlet_is_a_track_of_its_own(plainly, tmp_path, python, engine):
    having(python, "greenlet")
    program, plain = plainly(python, SWITCHES)
    recorded = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert (recorded.returncode, recorded.stdout) == (0, plain.stdout)
    wait_for_end(output)
    trace = tv.load(str(output), cache=False)
    if engine == "viztracer":
        assert "greenlets" in trace.problems["not recorded"].first
        return
    assert not trace.problems
    assert counted(trace, "body", "inner", "after", "rounds", "end") == [5, 5, 5, 2, 1]
    assert parents(trace, "after") == {"inner"}
    assert parents(trace, "inner") == {"body"}
    assert parents(trace, "body") == {""}
    assert parents(trace, "end") == {"<module>"}
    assert sum(name.startswith("greenlet-") for name in trace.threads.name) == 5


@pytest.mark.parametrize(("python", "engine"), engines())
def test_gevent_makes_of_a_recorded_program_what_it_makes_of_any(plainly, tmp_path, python, engine):
    having(python, "gevent")
    program, plain = plainly(python, GEVENT)
    assert plain.returncode == 0
    recorded = recording(python, engine, program, output := tmp_path / "out.json.gz")
    assert (recorded.returncode, recorded.stdout) == (0, plain.stdout)
    if engine == "viztracer":
        return
    assert recorded.stderr == plain.stderr
    trace = tv.load(str(output), cache=False)
    assert not trace.problems
    assert counted(trace, "step", "leaf", "locked") == [9, 9, 4]
    assert parents(trace, "leaf") == {"step"}


def test_what_viztracer_loses_is_said(tmp_path):
    pytest.importorskip("viztracer")
    (program := tmp_path / "program.py").write_text(PROFILED)
    done = recording(sys.executable, "viztracer", program, output := tmp_path / "out.json.gz")
    if sys.version_info < (3, 12):
        assert done.returncode == 0
        problem = tv.load(str(output), cache=False).problems["not recorded"]
        assert (problem.count, problem.first[:8]) == (1, "cProfile")


def test_hooks_are_as_before_when_a_recording_within_a_program_is_over(tmp_path):
    def hook(frame, event, arg):
        pass

    before = sys.setprofile, sys.getprofile, os.closerange
    outer = sys.getprofile()
    sys.setprofile(hook)
    try:
        with tv.record(str(tmp_path / "out.json"), engine="profile"):
            pass
        assert (sys.setprofile, sys.getprofile, os.closerange) == before
        assert sys.getprofile() is hook
    finally:
        sys.setprofile(outer)


def inner():
    pass


def outer():
    inner()


def test_what_a_with_block_records_is_what_is_in_it(tmp_path):
    with tv.record(str(path := tmp_path / "out.json"), engine="profile"):
        outer()
    assert called(tv.load(str(path), cache=False)) == ["outer", "inner"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cProfile takes no hook")
def test_a_profiler_in_c_that_runs_already_keeps_its_hook(tmp_path):
    """Python code can't call it: what happens meanwhile is not recorded, and the program goes on."""
    profiler, paths = cProfile.Profile(), [tmp_path / f"{i}.json" for i in range(3)]
    profiler.enable()
    with tv.record(str(paths[0]), engine="profile"):
        outer()
        profiler.disable()
        outer()
        inner()
    assert sys.getprofile() is None
    profiler.enable()
    with tv.record(str(paths[1]), engine="profile"):
        outer()
    assert sys.getprofile() is profiler
    outer()
    profiler.disable()
    with tv.record(str(paths[2]), engine="profile"):
        outer()
    assert sys.getprofile() is None
    # What the profiler should have seen it has seen.
    ours = {inner.__code__, outer.__code__}
    assert [stat.callcount for stat in profiler.getstats() if stat.code in ours] == [3, 3]
    traces = [tv.load(str(path), cache=False) for path in paths]
    assert [counted(trace, "inner", "outer") for trace in traces] == [[2, 1], [0, 0], [1, 1]]
    assert parents(traces[0], "inner") == {"outer", ""}
    lost = [trace.problems["not recorded"].first for trace in traces[:2]]
    assert lost == ["cProfile used the hook for some time"] * 2
    assert not traces[2].problems


def test_looking_at_what_there_is_takes_no_hook(capsys):
    before = sys.getprofile()
    assert main(["doctor"]) in (0, 1)
    assert "recording" in capsys.readouterr().out
    assert sys.getprofile() is before
