"""What is fuzzed of the readers: real files of each format, damaged."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz import forked
from tests.fuzz.damage import damaged
from tracevis3d.errors import TraceVisError
from tracevis3d.formats import registry, unpack
from tracevis3d.formats.memray import format as memray
from tracevis3d.formats.profiles.perf import data as perf_data
from tracevis3d.machine import apart
from tracevis3d.progress import silent

ROOT = Path(__file__).resolve().parents[2]
FINDS = ROOT / "tests" / "data" / "fuzz"
SHARED = Path(os.environ.get("TRACEVIS3D_SHARED", ROOT.parent / "shared"))
#: A seed is cut to this many bytes: what is small is damaged often.
SEED_BYTES = 60_000
#: Of tools whose files differ with each version: what makes one, where the tool is installed.
_ALLOCATES = "held = [bytearray(9000 * i) for i in range(9)]; del held[::2]"
_MADE = {
    "memray": (
        (sys.executable, "-m", "memray", "run", "-qfo", "OUT", "-c", _ALLOCATES),
        # Not packed: damage is in the records, and not found by LZ4's checksums.
        *(
            (
                sys.executable,
                "-m",
                "memray",
                "run",
                "-qf",
                "--no-compress",
                *more,
                "-o",
                "OUT",
                "-c",
                _ALLOCATES,
            )
            for more in ((), ("--native",), ("--aggregate",), ("--trace-python-allocators",))
        ),
    ),
    "perf_data": (
        ("perf", "record", "-qo", "OUT", "--", "ls", "/"),
        ("perf", "record", "-qg", "-F", "9999", "-o", "OUT", "--", "ls", "/"),
    ),
}


class Readers:
    """The reader of a format.

    Parameters
    ----------
    form : Format
    """

    def __init__(self, form: registry.Format) -> None:
        self.name, self.form = form.name, form
        self._tried = 0

    def seeds(self) -> list[tuple[str, bytes]]:
        """Return small files, real ones and made ones, unpacked and as they are, by their suffixes."""
        form, found = self.form, []
        shared = (SHARED / "traces" / "recorded", SHARED / "traces" / "public")
        folders = [ROOT / "examples", ROOT / "tests" / "data", *shared]
        for path in sorted(path for folder in folders if folder.is_dir() for path in folder.rglob("*")):
            if not path.is_file() or path.stat().st_size > 3_000_000 or len(found) > 150:
                continue
            try:
                if registry.recognise(path).name != form.name:
                    continue
                found.append((form.suffixes[0], unpack.head(path, SEED_BYTES)))
                if path.suffix == ".gz" and path.stat().st_size < SEED_BYTES:
                    found.append((form.suffixes[0] + ".gz", path.read_bytes()))
            except TraceVisError:
                continue
        return found + [(form.suffixes[0], data) for data in _made(form.name)]

    def changed(self, data: bytes, others: list[tuple[str, bytes]], pick: random.Random) -> bytes:
        """Return a seed with damage."""
        return damaged(data, others, pick)

    def try_one(self, path: Path) -> None:
        """Read ``path``; let out what a user would see as a traceback."""
        # perf never ends on some damaged files; a user waits longer than a hang may take here.
        perf_data.SILENT_S = 5.0
        # Now and then as users have it.
        self._tried += 1
        often = self.name == "memray" and hasattr(os, "fork") and self._tried % 100
        memray.read_apart = forked.read_apart if often else apart.read_apart
        try:
            trace = registry.open_trace(path, silent, self.form)
        except TraceVisError as error:
            one_sentence(error)
            return
        check(trace)
        if self.name == "chrome":
            same_both_ways(trace, path)


def _made(name: str) -> list[bytes]:
    """Return what a tool records here and now; nothing where it isn't installed, or may not."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        for words in _MADE.get(name, ()):
            try:
                subprocess.run(
                    [str(out) if word == "OUT" else word for word in words],
                    cwd=folder,
                    capture_output=True,
                    check=True,
                    timeout=300,
                )
                made.append(out.read_bytes())
            except (OSError, subprocess.SubprocessError):
                continue
    return made


def one_sentence(error: TraceVisError) -> None:
    """Check what a user would see."""
    if "\n" in str(error):
        raise AssertionError(f"more than one sentence: {error}") from error


def check(trace) -> None:
    """Check that calls lie in each other, and that threads are those that there are."""
    calls = trace.calls
    if len(calls):
        assert (calls.start <= calls.end).all(), "a call ends before it starts"
        inner = calls.parent >= 0
        outer = calls.parent[inner]
        assert (calls.start[inner] >= calls.start[outer]).all(), "a call starts before its parent"
        assert (calls.end[inner] <= calls.end[outer]).all(), "a call outlasts its parent"
    for name in ("sync", "flows", "spans", "instants"):
        table = getattr(trace, name)
        for column in ("thread", "source_thread", "target_thread"):
            if hasattr(table, column) and len(table):
                assert int(getattr(table, column).max()) < len(trace.threads), f"{name}.{column}"


def same_both_ways(trace, path: Path) -> None:
    """Hold the scanner against the checked way, wherever the file is JSON."""
    from tracevis3d.formats.chrome import read

    unpacked = unpack.unpack_file(path)
    try:
        json.loads(bytes(unpacked.data).decode("utf-8"))
    except (ValueError, RecursionError):
        return
    other = read.read(path, silent, scanner=False)
    for name in ("function", "start", "end", "depth", "thread"):
        left, right = (getattr(which.calls, name).tolist() for which in (trace, other))
        assert left == right, f"scanner and checked way differ in {name}"
    assert trace.problems.as_dict() == other.problems.as_dict(), "... in problems"
