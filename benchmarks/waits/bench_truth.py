"""What is found in programs whose waits are known: precision and recall of each kind of finding.

``python -m benchmarks.waits.bench_truth [FIRST]`` records each program, from a number on, in a process of its
own and prints the tables of ``docs/threads.md``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from tests.waits.programs.fresh_waits import PROGRAMS as FRESH
from tests.waits.programs.known_waits import PROGRAMS as KNOWN
from tests.waits.programs.known_waits import Known
from tests.waits.programs.later_waits import PROGRAMS as LATER
from tests.waits.programs.signal_waits import PROGRAMS as SIGNALS
from tests.waits.programs.unseen_waits import PROGRAMS as UNSEEN
from tracevis3d import api
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.findings.finding import KINDS
from tracevis3d.features.waits.waits import Waits, find_waits

PROGRAMS = (*KNOWN, *LATER, *UNSEEN, *FRESH, *SIGNALS)
#: Share of all waiting that those who hold something may cause where nobody is to blame.
_HARDLY = 0.05
_RUN = """
import json, sys
import tracevis3d as tv
from benchmarks.waits.bench_truth import PROGRAMS
with tv.record(sys.argv[2], io=True):
    woke = PROGRAMS[int(sys.argv[1])].work()
with open(sys.argv[2] + ".woke", "w") as file:
    json.dump(woke, file)
"""


def record(number: int, folder: Path) -> tuple[Waits, Any]:
    """Record a program; return its waits, and who woke whom as it says itself."""
    import json

    path = folder / f"{number}.json"
    subprocess.run([sys.executable, "-c", _RUN, str(number), str(path)], cwd=ROOT, check=True, timeout=120)
    waits = find_waits(api.load(str(path), cache=False))
    return waits, json.loads(Path(f"{path}.woke").read_text())


def judge(program: Known, waits: Waits) -> tuple[set[str], bool | None]:
    """Return the kinds that are found, and whether the right one is to blame (None: not judged)."""
    kinds, names, blame = {f.kind for f in findings(waits)}, waits.trace.threads, waits.blame
    right = None
    if program.nobody:
        # Moments in which threads happen to meet at a lock are true, and nobody's fault.
        right = int(blame.ns.sum()) < _HARDLY * int(waits.waited.sum())
    elif program.blame:
        thread = int(blame.thread[0]) if len(blame) else -1
        right = thread >= 0 and program.blame in (names.name[thread], _process_name(waits, thread))
    return kinds, right


def _process_name(waits: Waits, thread: int) -> str:
    return waits.trace.threads.title(thread).partition(" ")[0]


def main() -> None:
    """Run all programs and print the tables."""
    hit: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    blamed = [0, 0]
    wakers = [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for number, program in list(enumerate(PROGRAMS))[int(sys.argv[1]) if len(sys.argv) > 1 else 0 :]:
            waits, woke = record(number, Path(folder))
            kinds, right = judge(program, waits)
            hit.update(kinds & program.expected)
            missed.update(program.expected - kinds)
            wrong.update(kinds - program.expected - program.also)
            if right is not None:
                blamed[not right] += 1
            if woke and woke[0][0] == "taker":
                ops, name = waits.ops, waits.trace.threads.name
                gets = [i for i in range(len(ops)) if ops.names[ops.name[i]] == "Queue.get"]
                own = set(waits.own.tolist())
                for i, (_, by) in zip(gets, woke, strict=True):
                    if i in own:
                        known = waits.woken_by[i] >= 0 and name[waits.woken_by[i]] == by
                        wakers[not known] += 1
            off = ", ".join([f"not {k}" for k in sorted(program.expected - kinds)]
                            + sorted(kinds - program.expected - program.also))  # fmt: skip
            if off or right is False:
                print(
                    f"  {program.name}: {off}{'' if right is not False else ' wrong to blame'}",
                    file=sys.stderr,
                )
    print(f"{len(PROGRAMS)} programs\n\n| finding | programs that have it | recall | precision |")
    print("|---|---|---|---|")
    for kind in KINDS:
        n = hit[kind] + missed[kind]
        if n or wrong[kind]:
            recall = f"{hit[kind] / n:.0%}" if n else "–"
            found = hit[kind] + wrong[kind]
            print(f"| {kind} | {n} | {recall} | {f'{hit[kind] / found:.0%}' if found else '–'} |")
    print(f"\nthread to blame: {blamed[0]} of {sum(blamed)}; wakers of items: {wakers[0]} of {sum(wakers)}")


if __name__ == "__main__":
    main()
