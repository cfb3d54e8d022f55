"""Change the analysis in one small place after another, and report which changes no test notices.

    python tools/mutate.py [--module features/interactions/phases.py] [--share 0.2] [--most 40] [--seed 0]
    python tools/mutate.py --stale

The changes are Cosmic Ray's. They are made in a copy of the project, and each is tried with those tests of
its subject that run the changed line. What survives is printed with its difference; ``mutation/``
says which modules are tried with which tests, and of which changes it is known that they change nothing that
matters: these are not tried. With ``--stale`` nothing is: those of them are printed that match no change any
more.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from fnmatch import fnmatch
from pathlib import Path

# Imported once: what each change is tried in is a fork of this process.
import hypothesis  # noqa: F401
import numba  # noqa: F401
import numpy  # noqa: F401
import orjson  # noqa: F401
import pytest
from mutation.accepted import accepted_of, print_stale
from mutation.changes import mutants_at, places_of
from mutation.coverage import Coverage, selected
from mutation.subjects import modules

ROOT = Path(__file__).resolve().parents[1]
# A kernel that leaves its buffers is noticed; kernels with such checks are kept apart from those without.
# Numba reads its variables anew when it compiles: what is set in its ``config`` would not last.
os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(ROOT / "build" / "mutate")}
#: Fewer than this share of the changes may survive.
MOST = 0.05
_MEMORY = 12 << 30
#: Where the tests write which lines each of them runs, and what they say then.
COVERAGE, OUTPUT = "coverage.json", "pytest.txt"


def copied(to: Path) -> None:
    """Copy what git knows, or could, of the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def passes(tree: Path, tests: list[str], limit: float, cover: list[Path] | None = None) -> bool:
    """Return whether the tests pass in a copy of the project within so many seconds of CPU time.

    With ``cover`` all are run, and write what they run of those modules beside the copy. What waits for ever
    uses no CPU time: ten times as long by the clock is the end too, which a busy machine doesn't reach.
    """
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
        _try(tree, tests, cover)
    until = time.monotonic() + 10 * limit
    try:
        while time.monotonic() < until:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                child = 0
                return os.waitstatus_to_exitcode(status) == 0
            time.sleep(0.02)
        return False
    finally:
        if child:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _try(tree: Path, tests: list[str], cover: list[Path] | None) -> None:
    """Run the tests and end the process with their result."""
    code = 3
    try:
        os.setsid()
        os.environ.setdefault("TRACEVIS3D_SHARED", str(ROOT.parent / "shared"))
        os.chdir(tree)
        sys.path[0] = str(tree)
        # What is compiled of a change must not be taken for the module.
        sys.dont_write_bytecode = cover is None
        said = os.open(tree / OUTPUT if cover else os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        words = ["-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--hypothesis-profile=mutate"]
        words += [] if cover else ["-x"]
        plugin = Coverage(cover, tree / COVERAGE) if cover else None
        code = int(pytest.main([*words, *tests], plugins=[plugin] if plugin else []))
    finally:
        os._exit(code)


def groups_of(word: str) -> dict[tuple[str, ...], list[Path]]:
    """Return the modules that a pattern stands for, all where it is empty, by their test files."""
    found: dict[tuple[str, ...], list[Path]] = {}
    for name, tests in modules().items():
        if fnmatch(name, word or "*"):
            found.setdefault(tests, []).append(ROOT / "tracevis3d" / name)
    if not found:
        sys.exit(f"{word}: tools/mutate.py knows no such module; it knows {', '.join(modules())}")
    return found


def covered(
    tree: Path, tests: tuple[str, ...], of: list[Path]
) -> dict[Path, dict[str, tuple[float, list[int]]]]:
    """Run tests as they are; return for each module their time, and its lines that they run."""
    copies = {str(tree / module.relative_to(ROOT)): module for module in of}
    passes(tree, list(tests), 3600, [Path(copy) for copy in copies])
    if not (tree / COVERAGE).exists():
        sys.exit(f"the tests ended early: {' '.join(tests)}\n{(tree / OUTPUT).read_text()[-2000:]}")
    of_test, failed = json.loads((tree / COVERAGE).read_text())
    (tree / COVERAGE).unlink()
    all_of_them = sum(seconds for seconds, _ in of_test.values())
    print(f"{len(of_test)} tests, {all_of_them:.0f} s; left out as they fail or are skipped: {len(failed)}")
    return {
        module: {test: (seconds, lines.get(copy, [])) for test, (seconds, lines) in of_test.items()}
        for copy, module in copies.items()
    }


def tried(
    module: Path,
    coverage: dict[str, tuple[float, list[int]]],
    tree: Path,
    share: float,
    most: int | None,
    seed: int,
) -> tuple[int, int]:
    """Try changes of one module, print what survives; return how many were tried and survived.

    A share of its places is drawn by chance, and at most so many changes are made there.
    """
    name = module.relative_to(ROOT)
    copy = tree / name
    source = copy.read_text()
    began = time.monotonic()
    known = accepted_of(module.relative_to(ROOT / "tracevis3d").as_posix())
    places = places_of(source)
    places = random.Random(seed).sample(places, max(round(share * len(places)), 1))
    every, accepted = [], 0
    for mutant in mutants_at(source, places):
        if known & {(mutant.old, mutant.new), (mutant.old, "")}:
            accepted += 1
        else:
            every.append(mutant)
        if len(every) == most:
            break
    every.sort(key=lambda mutant: mutant.line)
    survived = 0
    for number, mutant in enumerate(every):
        if sys.stderr.isatty():
            print(f"\r{name}: {number} of {len(every)}", end="", file=sys.stderr, flush=True)
        copy.write_text(mutant.source)
        running = selected(name.name, source, mutant.line, coverage)
        limit = 10 + 2 * sum(coverage[test][0] for test in running)
        if passes(tree, running, limit):
            survived += 1
            lines = difflib.unified_diff(
                source.splitlines(), mutant.source.splitlines(), f"a/{name}", f"b/{name}", lineterm="", n=1
            )
            print("\r" + "\n".join(lines), flush=True)
    copy.write_text(source)
    counts = f"\r{name}: {survived} of {len(every)} changes survive"
    print(f"{counts} ({accepted} accepted, {time.monotonic() - began:.0f} s)", flush=True)
    return len(every), survived


def main() -> None:
    """Try what the command line says; the exit status is 1 where too many changes survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--module", default="", help="of tracevis3d, such as filters/stack.py, or a pattern")
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the places that are changed, drawn by chance"
    )
    parser.add_argument("--most", type=int, help="changes of each module that are tried, drawn by chance")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stale", action="store_true", help="print accepted changes that match none instead")
    words = parser.parse_args()
    if words.stale:
        sys.exit(print_stale(words.module))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by a signal"))
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copied(tree)
        counts = []
        for tests, of in groups_of(words.module).items():
            for module, coverage in covered(tree, tests, of).items():
                counts.append(tried(module, coverage, tree, words.share, words.most, words.seed))
    tried_, survived = (sum(column) for column in zip(*counts))
    share = survived / max(tried_, 1)
    print(f"{survived} of {tried_} changes survive: {100 * share:.1f} %")
    sys.exit(share >= MOST)


if __name__ == "__main__":
    main()
