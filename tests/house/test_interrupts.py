"""Ctrl-C and SIGTERM: where nothing breaks, or at once."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tracevis3d import interrupts
from tracevis3d.cli import main
from tracevis3d.command_line.terminal import Bar

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
ROOT = Path(__file__).resolve().parents[2]

#: Runs a program under test; what it prints first says that the signal may come.
PROGRAM = """
import hashlib, os, pathlib, sys, time
sys.path.insert(0, {root!r})
from tracevis3d import interrupts
from tracevis3d.atomic import replacing
interrupts.PATIENCE_S = 0.3
folder = pathlib.Path({folder!r})

def program():
    with replacing(folder / "a.json") as partial:
        partial.write_text("half")
        {code}
    return 0

interrupts.run(program)
"""
#: C code that gives Python no turn for minutes.
_LONG = 'hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)'


@pytest.fixture
def start(tmp_path):
    """Begin programs that heed Ctrl-C, also where the tests run in the background; none outlives its test."""
    begun = []

    def start(code):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(root=str(ROOT), folder=str(tmp_path), code=code)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        begun.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def end(process):
    _, complaint = process.communicate(timeout=60)
    assert "Traceback" not in complaint
    assert complaint.count("interrupted") == 1
    return process.returncode


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize(
    "work",
    [
        "print('go', flush=True); time.sleep(60)",
        "with interrupts.held(): print('go', flush=True); any(interrupts.check() for _ in iter(int, 1))",
        f"with interrupts.held(): print('go', flush=True); {_LONG}",
    ],
    ids=["not held", "held and checked", "held in C code"],
)
def test_one_signal_ends_it_and_leaves_nothing(start, tmp_path, number, code, work):
    process = start(work)
    process.send_signal(number)
    assert end(process) == code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("work", ["pass", "time.sleep(60)"])
def test_what_blender_leaves_is_removed(start, tmp_path, work):
    """Its own clean-up does not run: it may hang."""
    left = "(folder / 'blender_1').mkdir(); interrupts.at_end((folder / 'blender_1').rmdir)"
    process = start(f"{left}; sys.modules['bpy'] = sys; print('go', flush=True); {work}")
    if work != "pass":
        process.send_signal(signal.SIGINT)
        assert end(process) == 130
    assert process.wait(60) == (0 if work == "pass" else 130)
    assert [path.name for path in tmp_path.iterdir()] == (["a.json"] if work == "pass" else [])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_second_signal_ends_it_at_once(start, tmp_path):
    process = start(f"print('go', flush=True); {_LONG}")
    begun = used(process)
    while used(process) < begun + 20:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1.0)  # nothing is held: who knows what it is worth
    process.send_signal(signal.SIGINT)
    assert end(process) == 130
    assert list(tmp_path.iterdir()) == []


def used(process):
    """Return the processor's time that a process has used, in hundredths of a second."""
    return int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11])


def test_loading_is_not_cut_short(start, tmp_path):
    done = tmp_path / "loaded"
    load = f"hashlib.pbkdf2_hmac('sha256', b'', b'', 1_000_000); pathlib.Path({str(done)!r}).write_text('')"
    process = start(f"with interrupts.held(loading=True): print('go', flush=True); {load}")
    process.send_signal(signal.SIGINT)
    assert end(process) == 130
    assert done.exists()


@pytest.fixture
def usual():
    """Let Python answer Ctrl-C, which is ignored where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(10):
        time.sleep(0.001)


def test_held_raises_at_its_end(usual):
    reached = []

    def work():
        with interrupts.held():
            interrupt()
            reached.append(True)

    with interrupts.handled():
        with pytest.raises(KeyboardInterrupt):
            work()
        interrupts.forget()
        interrupts.check()
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_bar_raises_what_was_swallowed(usual):
    with interrupts.handled():
        with contextlib.suppress(KeyboardInterrupt):
            interrupt()
        with pytest.raises(KeyboardInterrupt):
            Bar(quiet=True)(0.5, "reading")


def test_an_interrupt_that_became_another_error_is_one(usual, tmp_path, monkeypatch, capsys):
    """NumPy, Numba and dataclasses raise errors of their own where it comes at a bad moment."""
    # What is loaded for the first time below would keep the other function for all tests that follow.
    from tracevis3d import api
    from tracevis3d.formats import files

    assert api.load is files.load

    def load(*_, **__):
        try:
            interrupt()
        except KeyboardInterrupt:
            raise RuntimeError("no compiled object yet") from None

    monkeypatch.setattr(files, "load", load)
    assert main(["info", "a.json"]) == 130
    assert capsys.readouterr().err.count("\n") == 1


def test_handlers_of_others_stay():
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with interrupts.handled():
            interrupt()
            interrupts.check()
    finally:
        signal.signal(signal.SIGINT, before)
