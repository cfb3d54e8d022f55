"""What is found in programs whose memory is known: precision and recall of each kind of finding.

``python -m benchmarks.memory.bench_truth_memory [PROGRAMS [FIRST SEED]]`` records generated programs
(``tests/memory/known_memory.py``) and written ones (``unseen_memory.py``), each with both engines in a
process of its own, and prints the tables of ``docs/memory.md``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from tests.memory.known_memory import program, wanted
from tests.memory.unseen_memory import PROGRAMS as UNSEEN
from tests.memory.unseen_memory import KnownMemory
from tracevis3d import api
from tracevis3d.features.memory.view.arrangement import MemoryUse, memory_use
from tracevis3d.record.memory.choice import MEMORY_ENGINES

#: Kinds that a program has or has not; the others are true of most programs.
JUDGED = ("leak", "forgotten", "saw-tooth", "churn")
#: Of written programs these, too.
_MORE = ("growth", "fragmentation")
_RUN = """
import json, sys
import tracevis3d as tv
from tests.memory.known_memory import program, run
parts = program(int(sys.argv[1]))
with tv.record(sys.argv[2], memory=sys.argv[3], threads=False):
    kept = run(parts)
with open(sys.argv[2] + ".kept", "w") as file:
    json.dump(kept, file)
"""


def record(seed: int, engine: str, folder: Path) -> tuple[MemoryUse, dict[str, int]]:
    """Record a program; return its memory, and the bytes that each part keeps as it says itself."""
    path = folder / f"{seed}-{engine}.json"
    subprocess.run(
        [sys.executable, "-c", _RUN, str(seed), str(path), engine], cwd=ROOT, check=True, timeout=120
    )
    return memory_use(api.load(str(path), cache=False)), json.loads(Path(f"{path}.kept").read_text())


_RUN_WRITTEN = """
import sys
import tracevis3d as tv
from tests.memory.unseen_memory import PROGRAMS
with tv.record(sys.argv[2], memory=sys.argv[3], threads=False):
    kept = PROGRAMS[int(sys.argv[1])].work()
"""


def record_written(number: int, engine: str, folder: Path) -> MemoryUse:
    """Record a written program; return its memory."""
    path = folder / f"written-{number}-{engine}.json"
    words = [sys.executable, "-c", _RUN_WRITTEN, str(number), str(path), engine]
    subprocess.run(words, cwd=ROOT, check=True, timeout=120)
    return memory_use(api.load(str(path), cache=False))


def judge_written(program: KnownMemory, engine: str, use: MemoryUse) -> tuple[set[Any], set[Any]]:
    """Return the findings that are true of a written program, and those that are reported."""
    true = set(program.expected) if program.seen_by in ("", engine) else set()
    found = {(f.kind, function(use, f.site)) for f in use.findings if f.kind in (*JUDGED, *_MORE)}
    return true, found - program.also - (program.by_size if engine != "memray" else set())


def function(use: MemoryUse, site: int) -> str:
    """Return the function of a call site; empty: all together."""
    return use.sites.name[site].partition(" (")[0].rpartition(".")[2] if site >= 0 else ""


def judge(seed: int, engine: str, use: MemoryUse) -> tuple[set[Any], set[Any]]:
    """Return the findings that are true, and those that are reported: kind and function of each."""
    parts = program(seed)
    true = set(wanted(parts, engine == "memray"))
    found = {(f.kind, function(use, f.site)) for f in use.findings if f.kind in JUDGED}
    if any(kind == "saw-tooth" for kind, _ in true):
        # The whole has the teeth of its part.
        found.discard(("saw-tooth", ""))
    if engine != "memray":
        # True as the finding says it: the same blocks, or equal ones.
        found -= {(part.by_size, part.name) for part in parts}
    return true, found


def off_by(use: MemoryUse, kept: dict[str, int]) -> float:
    """Return the largest error of the bytes that live at the end, as a share, without Python's own share."""
    names = [function(use, site) for site in range(len(use.sites))]
    worst = 0.0
    for name, told in kept.items():
        mine = [site for site in range(len(names)) if names[site] == name]
        blocks = sum(int(use.table.kept_blocks[site]) for site in mine)
        found = sum(int(use.table.kept[site]) for site in mine)
        # A bytearray is an object of 56 bytes and a buffer with one byte more.
        worst = max(worst, max(abs(found - told) - 64 * blocks, 0) / max(told, 1 << 16))
    return worst


def main() -> None:
    """Run all programs and print the table."""
    words = [int(word) for word in sys.argv[1:]]
    count, first = (words[0] if words else 40), (words[1] if len(words) > 1 else 1)
    print("| engine | finding | programs that have it | recall | precision |\n|---|---|---|---|---|")
    worst: dict[str, float] = {}
    for engine in MEMORY_ENGINES:
        hit: Counter[str] = Counter()
        missed: Counter[str] = Counter()
        wrong: Counter[str] = Counter()
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(first, first + count):
                use, kept = record(seed, engine, Path(folder))
                true, found = judge(seed, engine, use)
                worst[engine] = max(worst.get(engine, 0.0), off_by(use, kept))
                hit.update(kind for kind, _ in true & found)
                missed.update(kind for kind, _ in true - found)
                wrong.update(kind for kind, _ in found - true)
                if true != found:
                    print(f"  {engine} {seed}: not {true - found}, but {found - true}", file=sys.stderr)
        for kind in JUDGED:
            n, told = hit[kind] + missed[kind], hit[kind] + wrong[kind]
            recall, precision = (f"{hit[kind] / of:.0%}" if of else "–" for of in (n, told))
            print(f"| {engine} | {kind} | {n} | {recall} | {precision} |")
    print("\n| engine | written programs told right | recall | precision |\n|---|---|---|---|")
    for engine in MEMORY_ENGINES:
        right, hits, told_, true_ = 0, 0, 0, 0
        with tempfile.TemporaryDirectory() as folder:
            for number, one in enumerate(UNSEEN):
                true, found = judge_written(one, engine, record_written(number, engine, Path(folder)))
                right += true == found
                hits, told_, true_ = hits + len(true & found), told_ + len(found), true_ + len(true)
                if true != found:
                    print(f"  {engine} {one.name}: not {true - found}, but {found - true}", file=sys.stderr)
        print(f"| {engine} | {right} of {len(UNSEEN)} | {hits / true_:.0%} | {hits / max(told_, 1):.0%} |")
    for engine, share in worst.items():
        print(f"\n{engine}: bytes that live at the end are off by at most {share:.2%}")


if __name__ == "__main__":
    main()
