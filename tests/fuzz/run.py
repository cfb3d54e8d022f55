"""Fuzzes what reads from outside: ``python tests/fuzz/run.py --minutes 10 [--subject chrome]``.

Real files are damaged in small and large ways and read, stories, rules and the like among them; stored traces
get hostile numbers; publisher and viewer get damaged messages, the recorder's writer damaged sections and
blocks. All may be refused with one of
the library's own errors; a traceback, a crash, a hang or too much memory is a find: the input is kept in
``tests/data/fuzz``, where the tests read it from then on. Reading happens in a child process, so that even a
crash is seen.

Subjects take turns, so that a find is seen early and each has its share of busy and quiet minutes. Behind the
first turn those whose inputs take long have longer turns, by the square root of what an input takes.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.fuzz.documents import Documents  # noqa: E402
from tests.fuzz.feed import Feed  # noqa: E402
from tests.fuzz.readers import FINDS, Readers  # noqa: E402
from tests.fuzz.recorder import Recorder  # noqa: E402
from tests.fuzz.stores import Stores  # noqa: E402
from tracevis3d.formats import registry  # noqa: E402
from tracevis3d.places import cache_root  # noqa: E402

SECONDS, MEMORY = 20, 1_500_000_000
#: A turn takes about this many seconds, where there is time for more than one; and one turn at most so many
#: times as long as another.
TURN, MOST_LONGER = 30, 10


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
    return {subject.name: subject for subject in (*readers, Documents(), Stores(), Feed(), Recorder())}


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


@dataclass
class Tried:
    """What was tried of a subject.

    Attributes
    ----------
    inputs, finds : int
    seconds : float
        By the clock, without the first input of each turn, for which kernels may be compiled.
    seen : set of str
        Places and reasons of finds.
    """

    inputs: int = 0
    finds: int = 0
    seconds: float = 0.0
    seen: set[str] = field(default_factory=set)

    def per_input(self) -> float:
        """Return the seconds that an input takes."""
        return self.seconds / max(self.inputs, 1)


def fuzz(
    subject: Subject, start: list[tuple[str, bytes]], seconds: float, pick: random.Random, so_far: Tried
) -> None:
    """Fuzz one subject for some seconds, from the inputs of ``start``; adds to what was tried ``so_far``."""
    child = Child(subject.name)
    begun = 0.0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        while not begun or time.monotonic() < begun + seconds:
            suffix, data = pick.choice(start)
            changed = subject.changed(data, start, pick)
            path = Path(folder) / f"input{suffix}"
            path.write_bytes(changed)
            answer = child.read(path)
            begun = begun or time.monotonic()
            so_far.inputs += 1
            last = answer.strip().splitlines()[-1:]
            place = [line for line in answer.splitlines() if "tracevis3d" in line][-1:]
            if answer and str(place + last) not in so_far.seen:
                so_far.seen.add(str(place + last))
                so_far.finds += 1
                FINDS.mkdir(parents=True, exist_ok=True)
                kept = FINDS / f"{subject.name}_{hashlib.sha256(changed).hexdigest()[:8]}{suffix}"
                kept.write_bytes(changed)
                print(
                    f"{subject.name}: FOUND {kept.relative_to(ROOT)} ({len(changed):,} bytes)\n{answer}",
                    flush=True,
                )
    child.end()
    so_far.seconds += time.monotonic() - begun


def turns(seconds: float, tried: list[Tried]) -> list[float]:
    """Return how long the next turn of each subject takes, in seconds; all together take ``seconds``."""
    roots = [math.sqrt(one.per_input()) for one in tried]
    least = max(roots) / MOST_LONGER
    weights = [max(root, least) or 1.0 for root in roots]
    return [seconds * weight / sum(weights) for weight in weights]


def main() -> int:
    """Share the minutes among the subjects."""
    parser = argparse.ArgumentParser(description="Fuzz all that reads from outside.")
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
    starts = {subject.name: subject.seeds() for subject in chosen}
    for subject in [one for one in chosen if not starts[one.name]]:
        print(f"{subject.name}: no files to start from")
        chosen.remove(subject)
    # Only the cache of traces is our own.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_root() / "numba"))
    tried = [Tried() for _ in chosen]
    pick, total = random.Random(seed), words.minutes * 60
    rounds = max(round(total / (TURN * max(len(chosen), 1))), 1)
    with tempfile.TemporaryDirectory(prefix="tracevis3d-fuzz-", ignore_cleanup_errors=True) as cache:
        os.environ["TRACEVIS3D_CACHE"] = cache
        for number in range(rounds):
            seconds = turns(total / rounds, tried)
            for subject, share, so_far in zip(chosen, seconds, tried, strict=True):
                fuzz(subject, starts[subject.name], share, pick, so_far)
                said = f"{so_far.inputs:,} inputs in {so_far.seconds:.0f} s, {so_far.finds} finds"
                print(f"{number + 1}/{rounds} {subject.name}: {said}", flush=True)
    finds = sum(one.finds for one in tried)
    inputs, minutes = sum(one.inputs for one in tried), sum(one.seconds for one in tried) / 60
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{inputs:,} inputs of {len(chosen)} subjects in {minutes:.1f} minutes "
        f"({(used.ru_utime + used.ru_stime) / 60:.1f} of the processor), {finds} finds"
    )
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
