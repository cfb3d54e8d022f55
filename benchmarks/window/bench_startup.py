"""Starting up, and compiling for the first time, in CPU time of processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT

CHROME = "examples/chromium_docs_page.json.gz"
ENTER_EXIT = "examples/weka_parallel_9t.tsv.gz"

# The first run: facts and a drawing. What compiling takes is what it takes less once all is kept.
FIRST_RUN = """
import sys, tracevis3d as tv
trace = tv.load(sys.argv[1], cache=False)
tv.info(trace)
tv.icicle(trace).drawing()
"""

# The same kernels through the pipeline, and into the cache, that Numba has for everyone.
NUMBAS_WAY = """
import numba.core.caching, tracevis3d.kernels.dispatchers as dispatchers

for option in ("pipeline_class", "_nrt"):
    dispatchers._OPTIONS.pop(option, None)
dispatchers.kept = numba.core.caching.FunctionCache
"""


def rows() -> list[dict[str, Any]]:
    """Measure; milliseconds of CPU time, user and system, of a whole process."""
    result = []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        bare = cpu(["-c", "import numpy, numba"], cache, times=5)
        python = cpu(["-c", "import argparse"], cache, times=5)
        command = ["-m", "tracevis3d"]
        help_ = cpu([*command, "--help"], cache, times=5)
        result.append(row("start: tracevis3d --help", help_, python, "python -c 'import argparse'"))
        info = [*command, "info", ENTER_EXIT, "--json"]
        cpu(info, cache)
        second = cpu(info, cache, times=5)
        result.append(row("start: info, the second time", second, bare, "python -c 'import numpy, numba'"))
        for what, path in (("Chrome JSON", CHROME), ("enter/exit", ENTER_EXIT)):
            ours, theirs = (
                compiling(["-c", before + FIRST_RUN, path], cache / f"{what}-{name}")
                for name, before in (("ours", ""), ("numba", NUMBAS_WAY))
            )
            name = f"compile: all that info and icicle of {what} need"
            result.append(row(name, ours, theirs, "Numba's own pipeline"))
    return result


def compiling(words: list[str], cache: Path) -> float:
    """Return how much more CPU time, in ms, Python takes for ``words`` the first time."""
    return cpu(words, cache) - cpu(words, cache)


def row(name: str, ours: float, peer: float, peer_name: str) -> dict[str, Any]:
    """Return a row from CPU times in milliseconds."""
    return {
        "name": name,
        "ours": ours,
        "peer": peer,
        "peer_name": peer_name,
        "unit": "ms CPU",
        "ratio": peer / ours,
    }


def cpu(words: list[str], cache: Path, times: int = 1) -> float:
    """Return the least CPU time, in ms, that Python took for ``words`` with caches in ``cache``."""
    surroundings = {**os.environ, "TRACEVIS3D_CACHE": str(cache), "NUMBA_CACHE_DIR": str(cache / "numba")}
    least = float("inf")
    for _ in range(times):
        before = os.times()
        subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=surroundings, check=True, stdout=subprocess.DEVNULL
        )
        after = os.times()
        took = after.children_user + after.children_system - before.children_user - before.children_system
        least = min(least, took * 1e3)
    return least
