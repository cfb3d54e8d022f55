"""Fuzzes what reads from outside: ``python tests/fuzz/run.py --minutes 10 [--subject chrome]``.

Real files are damaged in small and large ways and read; stored traces get hostile numbers; publisher and
viewer get damaged messages, the recorder's writer damaged sections and blocks. All may be refused with one of
the library's own errors; a traceback, a crash, a hang or too much memory is a find: the input is kept in
``tests/data/fuzz``, where the tests read it from then on. Reading happens in a child process, so that even a
crash is seen.
"""

from __future__ import annotations

import argparse
import hashlib
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
from typing import Protocol

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.fuzz.feed import Feed  # noqa: E402
from tests.fuzz.readers import FINDS, Readers  # noqa: E402
from tests.fuzz.recorder import Recorder  # noqa: E402
from tests.fuzz.stores import Stores  # noqa: E402
from tracevis3d.formats import registry  # noqa: E402

SECONDS, MEMORY = 20, 1_500_000_000


class Subject(Protocol):
    """What is fuzzed."""

    name: str

    def seeds(self) -> list[tuple[str, bytes]]:
        """Return inputs to begin with, each with the suffix to write it with."""

    def changed(self, data: bytes, others: list[tuple[str, bytes]], pick: random.Random) -> bytes:
        """Return a damaged input; ``others`` are inputs that pieces may come from."""

    def try_one(self, path: Path) -> None:
        """Read an input; let out what is a find."""


def subjects() -> dict[str, Subject]:
    """Return what there is to fuzz, by name."""
    forms = [registry.find(name) for name in registry.names()]
    readers = [
        Readers(form)
        for form in forms
        if form.read is not None and form.name != "tv3" and not (form.is_folder and form.name != "uftrace")
    ]
    return {subject.name: subject for subject in (*readers, Stores(), Feed(), Recorder())}


def work(name: str, inbox: Connection) -> None:
    """Read what is sent, until nothing is; answer with an empty text or a traceback."""
    subject = subjects()[name]

    def too_long(number: int, frame: object) -> None:
        raise AssertionError(f"took longer than {SECONDS} s")

    # Processor time: kernels are compiled on the way, and other programs want the machine too.
    signal.signal(signal.SIGPROF, too_long)
    while path := inbox.recv():
        signal.setitimer(signal.ITIMER_PROF, SECONDS if inbox.recv() else 300)
        try:
            subject.try_one(Path(path))
            answer = ""
        except Exception:
            answer = traceback.format_exc()
        signal.setitimer(signal.ITIMER_PROF, 0)
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

    def _processor_time(self) -> float:
        """Return the seconds that the process has had, 0 where that is unknown; waiting adds none."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def read(self, path: Path) -> str:
        """Return an empty text or what went wrong."""
        self._ours.send(str(path))
        self._ours.send(self._warm)
        begun = last = self._processor_time()
        wait = SECONDS * 15 if self._warm else 1_000
        while not (answered := self._ours.poll(wait)):
            # On a busy machine it may get next to no processor time: that is no fault of its own.
            now = self._processor_time()
            if not last < now < begun + wait:
                break
            last = now
        if not answered:
            answer = "hangs"
        else:
            try:
                answer = str(self._ours.recv())
            except EOFError:
                self._process.join(5)
                answer = f"the process died: {self._process.exitcode}"
        self._warm = True
        if answer:
            self.end()
            self._start()
        return answer

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._ours.close()


def fuzz(subject: Subject, seconds: float, pick: random.Random) -> int:
    """Fuzz one subject for some seconds; return the number of finds."""
    start = subject.seeds()
    if not start:
        print(f"{subject.name}: no files to start from")
        return 0
    child = Child(subject.name)
    until = 0.0
    tried = finds = 0
    seen: set[str] = set()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        while not tried or time.monotonic() < until:
            suffix, data = pick.choice(start)
            changed = subject.changed(data, start, pick)
            path = Path(folder) / f"input{suffix}"
            path.write_bytes(changed)
            answer = child.read(path)
            # The first one has its kernels compiled, which may take longer than all the others.
            until = until or time.monotonic() + seconds
            tried += 1
            last = answer.strip().splitlines()[-1:]
            place = [line for line in answer.splitlines() if "tracevis3d" in line][-1:]
            if answer and str(place + last) not in seen:
                seen.add(str(place + last))
                finds += 1
                FINDS.mkdir(parents=True, exist_ok=True)
                kept = FINDS / f"{subject.name}_{hashlib.sha256(changed).hexdigest()[:8]}{suffix}"
                kept.write_bytes(changed)
                print(
                    f"{subject.name}: FOUND {kept.relative_to(ROOT)} ({len(changed):,} bytes)\n{answer}",
                    flush=True,
                )
    child.end()
    print(f"{subject.name}: {tried:,} inputs from {len(start)} files, {finds} finds", flush=True)
    return finds


def main() -> int:
    """Share the minutes among the subjects."""
    parser = argparse.ArgumentParser(description="Fuzz readers, the store, the live feed and the recorder.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--subject", action="append", help="only this one (may be repeated)")
    parser.add_argument("--seed", type=int, default=None)
    words = parser.parse_args()
    known = subjects()
    if unknown := set(words.subject or ()) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}: choose from {', '.join(known)}")
    chosen = [known[name] for name in words.subject or known]
    seed = words.seed if words.seed is not None else random.randrange(10**6)
    print(f"seed {seed}")
    os.environ["TRACEVIS3D_CACHE"] = tempfile.mkdtemp(prefix="tracevis3d-fuzz-")
    share, finds = words.minutes * 60 / len(chosen), 0
    for subject in chosen:
        finds += fuzz(subject, share, random.Random(seed))
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
