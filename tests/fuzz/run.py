"""Fuzzes the readers: ``python tests/fuzz/run.py --minutes 10 [--format chrome]``.

Real files are damaged in small and large ways and read. A reader may refuse what it gets with one of the
library's own errors; a traceback, a crash, a hang or too much memory is a find: the input is kept in
``tests/data/fuzz``, where the tests read it from then on. Reading happens in a child process, so that even
a crash is seen.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tracevis3d.errors import TraceVisError  # noqa: E402
from tracevis3d.formats import registry, unpack  # noqa: E402
from tracevis3d.progress import silent  # noqa: E402

FINDS = ROOT / "tests" / "data" / "fuzz"
SHARED = Path(os.environ.get("TRACEVIS3D_SHARED", ROOT.parent / "shared"))
#: A seed is cut to this many bytes: what is small is mutated often.
SEED_BYTES = 60_000
SECONDS, MEMORY = 20, 1_500_000_000

TOKENS = [
    *(
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\\",
        b"\n",
        b" ",
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
    ),
    *(
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"-1",
        b"0",
        b"-0",
        b"1e-400",
        b"0.00049999999999999999",
        b"9" * 19,
        b"9" * 40,
    ),
    *(
        b"18446744073709551616",
        b"4611686018427387.904",
        b"1.",
        b".5",
        b"01",
        b"+1",
        b"null",
        b"true",
        b'""',
        b"{}",
        b"[]",
    ),
    *(
        b'"\\ud800"',
        b'"\\u0000"',
        b'"ph":"X",',
        b'"ph":"E",',
        b'"ts":"',
        b'"dur":-5,',
        b'"args":{"kind":"wait","objects":["a"]},',
    ),
    *(
        b'"id2":{"local":1},',
        b'"bind_id":1,"flow_in":true,',
        b'"name":null,',
        b"{" * 300,
        b"[" * 5000,
        b";" * 50,
        b"\t",
    ),
    *(bytes(8), b"\xff" * 8, b"\x7f" * 4, b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
]


def seeds(form: registry.Format) -> list[tuple[str, bytes]]:
    """Return small real files of a format, unpacked and as they are, by the suffix to write them with."""
    found: list[tuple[str, bytes]] = []
    folders = [
        ROOT / "examples",
        ROOT / "tests" / "data",
        SHARED / "traces" / "recorded",
        SHARED / "traces" / "public",
    ]
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
    return found


def mutate(data: bytes, others: list[tuple[str, bytes]], pick: random.Random) -> bytes:
    """Return ``data`` with one to eight changes."""
    out = bytearray(data)
    if pick.random() < 0.6 and len(out) > 3000:
        # A part from the middle, behind the start of the file.
        cut = pick.randrange(len(out))
        out = out[: pick.randrange(40, 400)] + out[cut : cut + pick.randrange(200, 2500)]
    for _ in range(pick.choice((1, 1, 2, 3, 8))):
        if not out:
            break
        at = pick.randrange(len(out))
        what = pick.randrange(9)
        if what == 0:
            out[at] = pick.randrange(256)
        elif what == 1:
            out[at] ^= 1 << pick.randrange(8)
        elif what == 2:
            del out[at : at + pick.choice((1, 2, 8, 60, 600))]
        elif what in (3, 4):
            token = pick.choice(TOKENS)
            out[at : at + (len(token) if pick.random() < 0.5 else 0)] = token
        elif what == 5:
            del out[at:]
        elif what == 6:
            length = pick.choice((1, 8, 100, 1000))
            out[at:at] = out[pick.randrange(len(out)) :][:length] * pick.choice((1, 1, 3))
        elif what == 7:
            other = pick.choice(others)[1]
            start = pick.randrange(len(other) + 1)
            out[at:at] = other[start : start + pick.choice((20, 400))]
        else:
            digits = [k for k in range(at, min(at + 300, len(out))) if 48 <= out[k] <= 57]
            if digits:
                out[digits[0]] = pick.choice(b"0123456789-.eE")
    return bytes(out)


def try_one(form: registry.Format, path: Path) -> None:
    """Read ``path``; let out what a user would see as a traceback."""
    try:
        trace = registry.open_trace(path, silent, form)
    except TraceVisError as error:
        if "\n" in str(error):
            raise AssertionError(f"more than one sentence: {error}") from error
        return
    calls = trace.calls
    if len(calls):
        assert (calls.start <= calls.end).all(), "a call ends before it starts"
        inner = calls.parent >= 0
        assert (calls.start[inner] >= calls.start[calls.parent[inner]]).all(), (
            "a call starts before its parent"
        )
        assert (calls.end[inner] <= calls.end[calls.parent[inner]]).all(), "a call outlasts its parent"
    for name in ("sync", "flows", "spans", "instants"):
        table = getattr(trace, name)
        for column in ("thread", "source_thread", "target_thread"):
            if hasattr(table, column) and len(table):
                assert int(getattr(table, column).max()) < len(trace.threads), f"{name}.{column}"
    if form.name == "chrome":
        same_both_ways(trace, path)


def same_both_ways(trace: object, path: Path) -> None:
    """Hold the scanner against the checked way, wherever the file is JSON."""
    from tracevis3d.formats.chrome import read

    unpacked = unpack.unpack_file(path)
    try:
        json.loads(bytes(unpacked.data).decode("utf-8"))
    except (ValueError, RecursionError):
        return
    other = read.read(path, silent, scanner=False)
    for name in ("function", "start", "end", "depth", "thread"):
        left, right = (getattr(which.calls, name).tolist() for which in (trace, other))  # type: ignore[attr-defined]
        assert left == right, f"scanner and checked way differ in {name}"
    assert trace.problems.as_dict() == other.problems.as_dict(), "... in problems"  # type: ignore[attr-defined]


def work(name: str, inbox: Connection) -> None:
    """Read what is sent, until nothing is; answer with an empty text or a traceback."""
    form = registry.find(name)

    def too_long(number: int, frame: object) -> None:
        raise AssertionError(f"took longer than {SECONDS} s")

    signal.signal(signal.SIGALRM, too_long)
    while path := inbox.recv():
        signal.alarm(SECONDS if inbox.recv() else 300)
        try:
            try_one(form, Path(path))
            answer = ""
        except Exception:
            answer = traceback.format_exc()
        signal.alarm(0)
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MEMORY and not answer:
            answer = f"took more than {MEMORY / 1e6:,.0f} MB of memory"
        inbox.send(answer)


class Child:
    """A process that reads, and is started anew when it is gone."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._start()

    def _start(self) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=work, args=(self._name, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._warm = False

    def read(self, path: Path) -> str:
        """Return an empty text or what went wrong."""
        self._ours.send(str(path))
        self._ours.send(self._warm)
        if not self._ours.poll(SECONDS * 2 if self._warm else 400):
            answer = "hangs"
        else:
            try:
                answer = str(self._ours.recv())
            except EOFError:
                self._process.join(5)
                answer = f"the process died: {self._process.exitcode}"
        self._warm = True
        if answer:
            self._process.kill()
            self._process.join()
            self._start()
        return answer


def fuzz(form: registry.Format, until: float, pick: random.Random) -> int:
    """Fuzz one format until a time; return the number of finds."""
    start = seeds(form)
    if not start:
        print(f"{form.name}: no files to start from")
        return 0
    child = Child(form.name)
    tried = finds = 0
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until:
            suffix, data = pick.choice(start)
            changed = mutate(data, start, pick)
            path = Path(folder) / f"input{suffix}"
            path.write_bytes(changed)
            answer = child.read(path)
            tried += 1
            last = answer.strip().splitlines()[-1:]
            place = [line for line in answer.splitlines() if "tracevis3d" in line][-1:]
            if answer and str(place + last) not in seen:
                seen.add(str(place + last))
                finds += 1
                FINDS.mkdir(parents=True, exist_ok=True)
                kept = FINDS / f"{form.name}_{hashlib.sha256(changed).hexdigest()[:8]}{suffix}"
                kept.write_bytes(changed)
                print(
                    f"{form.name}: FOUND {kept.relative_to(ROOT)} ({len(changed):,} bytes)\n{answer}",
                    flush=True,
                )
    print(f"{form.name}: {tried:,} inputs from {len(start)} files, {finds} finds", flush=True)
    return finds


def main() -> int:
    """Share the minutes among the formats."""
    parser = argparse.ArgumentParser(description="Fuzz the readers.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--format", action="append", help="only this format (may be repeated)")
    parser.add_argument("--seed", type=int, default=None)
    words = parser.parse_args()
    formats = [registry.find(name) for name in words.format or registry.names()]
    formats = [
        form for form in formats if form.read is not None and not (form.is_folder and form.name != "uftrace")
    ]
    seed = words.seed if words.seed is not None else random.randrange(10**6)
    print(f"seed {seed}")
    share = words.minutes * 60 / len(formats)
    finds = 0
    for form in formats:
        finds += fuzz(form, time.monotonic() + share, random.Random(seed))
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
