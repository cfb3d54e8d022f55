"""Without pyzmq every command that needs it says so in one sentence, and nothing else happens."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

LOCAL = "tcp://127.0.0.1:*"


@pytest.mark.parametrize(
    "words",
    [
        ["record", "--live", LOCAL, "--", "program.py"],
        ["record", "--live", LOCAL, "-o", "out.json", "--", "program.py"],
        ["watch", "tcp://127.0.0.1:5570", "-o", "run.tv3"],
        ["replay", "run.json", "--live", LOCAL],
        ["replay", "run.json", "--live", LOCAL, "--follow"],
        ["live", "keygen", "keys", "friend"],
    ],
    ids=" ".join,
)
def test_a_command(tmp_path, words):
    done = run(tmp_path, "-m", "tracevis3d", *words)
    assert done.returncode != 0
    assert (done.stderr.count("\n"), done.stdout) == (1, ""), done.stderr
    assert "ZeroMQ can't be imported" in done.stderr
    assert "pip install pyzmq" in done.stderr
    assert not [
        path for path in tmp_path.iterdir() if path.name.startswith(("run.tv3", "keys", "tracevis3d-"))
    ]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="LD_PRELOAD is Linux's")
def test_native_programs(tmp_path):
    done = run(tmp_path, "-m", "tracevis3d", "record", "--native", "--live", LOCAL, "--", "/bin/echo", "ran")
    assert done.returncode != 0
    assert "pip install pyzmq" in done.stderr or "C compiler" in done.stderr
    assert (done.stderr.count("\n"), done.stdout) == (1, "")


def test_from_within_a_program(tmp_path):
    code = (
        "import tracevis3d\ntry: tracevis3d.live.start()\nexcept Exception as e: print(type(e).__name__, e)"
    )
    done = run(tmp_path, "-c", code)
    assert done.stdout.startswith("UsageError ZeroMQ can't be imported")
    assert done.returncode == 0


def run(folder, *words):
    """Run Python where ZeroMQ is hidden."""
    (folder / "hidden").mkdir()
    (folder / "hidden" / "zmq.py").write_text("raise ImportError('hidden')")
    (folder / "program.py").write_text("print('ran')")
    (folder / "run.json").write_text('[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"name":"f"}]')
    path = os.pathsep.join([str(folder / "hidden"), str(ROOT)])
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(folder)},
    )  # fmt: skip
