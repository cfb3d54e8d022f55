"""Programs that tests run under ``tracevis3d record``, by each interpreter and engine that there is."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from functools import cache

import pytest

from tests.conftest import ROOT

#: Interpreters to try beside our own: paths separated like those of PATH.
PYTHONS = [sys.executable, *filter(None, os.environ.get("TRACEVIS3D_PYTHONS", "").split(os.pathsep))]


@cache
def engines():
    """Return each interpreter with each engine that it has."""
    code = "import sys\ntry: import viztracer; print('viztracer')\nexcept ImportError: pass\n"
    code += "from tracevis3d.record.fast import MODULE\nif MODULE: print('fast')\n"
    code += "print('monitoring') if hasattr(sys, 'monitoring') else print('profile')"
    pairs = []
    for python in PYTHONS:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        found = subprocess.run([python, "-c", code], capture_output=True, text=True, env=environment)
        pairs += [(python, engine) for engine in found.stdout.split()]
    return pairs


def run(python, program, *options, **more):
    words = [python, *options, str(program), "some", "words"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # A shell's background jobs, and all that they start, ignore interrupts otherwise.
    heed = {} if os.name != "posix" else {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60, **heed, **more)


def recording(python, engine, program, output, **more):
    options = (
        "-m",
        "tracevis3d",
        "record",
        "-q",
        "--threads",
        "--io",
        "--engine",
        engine,
        "-o",
        str(output),
        "--",
    )
    return run(python, program, *options, **more)


def wait_for_end(path):
    """Wait until the writer, which may outlive the program for a moment, has ended the file."""
    for _ in range(600):
        try:
            data = path.read_bytes()
            json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
            return
        except (OSError, EOFError, ValueError):
            time.sleep(0.05)
    raise AssertionError("the file was never ended")


def watched_until(text, program, what, folder):
    """Publish a program and watch it until a line has a text; return the line, and what ``--json`` says.

    The trace that was received is ``received.tv3`` in the folder.
    """
    pytest.importorskip("zmq")
    script = folder / "program.py"
    script.write_text(program)
    endpoint = f"ipc://{folder}/feed"
    ours = [sys.executable, "-m", "tracevis3d"]
    shell = {"env": {**os.environ, "PYTHONPATH": str(ROOT)}, "text": True}
    publisher = subprocess.Popen(
        [*ours, "record", "--live", endpoint, "--wait", what, "--", str(script)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **shell,
    )  # fmt: skip
    viewer = subprocess.Popen(
        [*ours, "watch", endpoint, "-o", str(folder / "received.tv3"), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **shell,
    )  # fmt: skip
    line = next((line for line in viewer.stderr if text in line), "")
    publisher.kill()
    facts = json.loads(viewer.communicate()[0])
    publisher.wait()
    return line, facts
