"""Compiling kernels: once each, kept on disk, and no harm from what is found there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tracevis3d.kernels import dispatchers

pytestmark = pytest.mark.skipif(
    not dispatchers._short, reason="this Numba compiles and keeps kernels its own way"
)

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

WHOLE_WAY = """
for path in sys.argv[1:]:
    trace = tv.load(path, cache=False)
    facts = tv.info(trace)
    tv.icicle(trace).drawing()
from tracevis3d.features.comparison.matching.summary import summary
again = [tv.load(path) for path in sys.argv[1:] if "repeat" in path]
summary(tv.api.match(*again))
import numpy as np
from tracevis3d.layout.buffers import Buffers
from tracevis3d.layout.tube import shape, sweep
if len(again) > 1:
    drawing = tv.compare(again[0], again[1], focus="run").drawing()
    for tubes in (e for e in drawing.elements if e.kind == "tube"):
        color, light = np.ones((len(tubes), 3), np.float32), np.ones(6, np.float32)
        for make in (sweep, shape):
            make(tubes.point, tubes.radius, tubes.first, tubes.side, color, light, 8, Buffers())
"""

# What the kernels of every module have been compiled for, and whether that was in this process.
TELL = """
import sys, json, tracevis3d as tv
{work}
kernels = {{}}
for name, module in list(sys.modules.items()):
    if name.startswith("tracevis3d.kernels."):
        for item in vars(module).values():
            if hasattr(item, "signatures") and item.__module__ == name and item.signatures:
                compiled = sum(item.stats.cache_misses.values())
                kernels[f"{{name}}.{{item.__name__}}"] = [list(map(str, item.signatures)), compiled]
print(json.dumps([facts, kernels, "scipy.linalg" in sys.modules]))
"""


def run(
    work: str, cache: Path, *paths: Path, library: Path = ROOT
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """Run ``work`` in a process of its own with the given cache, and with the library of a folder."""
    surroundings = {**os.environ, "TRACEVIS3D_CACHE": str(cache), "NUMBA_CACHE_DIR": str(cache / "numba")}
    command = [sys.executable, "-c", TELL.format(work=work), *map(str, paths)]
    done = subprocess.run(command, cwd=library, env=surroundings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    facts, kernels, heavy = json.loads(done.stdout)
    return facts, kernels, heavy


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """Return a cache that was empty, and what the examples then made of it."""
    cache = tmp_path_factory.mktemp("cache")
    facts, kernels, _ = run(WHOLE_WAY, cache, *sorted(EXAMPLES.glob("*.gz")))
    return cache, facts, kernels


def test_each_kernel_and_helper_is_compiled_for_one_signature(cold: Any) -> None:
    _, _, kernels = cold
    assert len(kernels) > 30
    rooms = {name.split(".")[-2] for name in kernels}
    assert {"cut", "join", "groups", "repetitions", "bundle", "sweep", "vectors"} <= rooms
    several = {name: signatures for name, (signatures, _) in kernels.items() if len(signatures) > 1}
    assert not several
    assert all(compiled == 1 for _, compiled in kernels.values())


def test_a_second_process_compiles_nothing(cold: Any) -> None:
    cache, facts, _ = cold
    again, kernels, heavy = run(WHOLE_WAY, cache, *sorted(EXAMPLES.glob("*.gz")))
    assert again == facts
    assert kernels
    assert not [name for name, (_, compiled) in kernels.items() if compiled]
    assert not heavy, "loading kernels must not import what only compiling needs"


def test_kernels_need_nothing_of_numbas_memory_manager(cold: Any) -> None:
    """It is not there when kernels are loaded from the cache: they would crash."""
    cache, _, _ = cold
    kept = list(cache.rglob("*.nbc"))
    assert len(kept) > 30
    assert not [path.name for path in kept if b"NRT_" in path.read_bytes()]


def test_kernels_of_numbas_own_cache_are_left_alone(tmp_path: Path) -> None:
    numbas = """
import numba.core.caching, tracevis3d.kernels.dispatchers as dispatchers
del dispatchers._OPTIONS["pipeline_class"], dispatchers._OPTIONS["_nrt"]
dispatchers.kept = numba.core.caching.FunctionCache
"""
    run(numbas + SMALL, tmp_path)
    assert any(b"NRT_" in path.read_bytes() for path in tmp_path.rglob("*.nbc"))
    for compiled in (1, 0):
        facts, kernels, _ = run(SMALL, tmp_path)
        assert facts == {"sums": [3.0, 6.0]}
        assert kernels["tracevis3d.kernels.run_sums.sum_runs"][1] == compiled


SMALL = """
import numpy as np
from tracevis3d.kernels.run_sums import sum_runs
out = np.zeros(2)
sum_runs(np.array([0, 1]), np.array([2, 3]), np.array([1, 2, 4], np.float32), out)
facts = {"sums": out.tolist()}
"""


@pytest.fixture(scope="module")
def kept_small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache in which one kernel is kept."""
    cache = tmp_path_factory.mktemp("small")
    facts, _, _ = run(SMALL, cache)
    assert facts == {"sums": [3.0, 6.0]}
    return cache


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_cache_is_compiled_anew(tmp_path: Path, kept_small: Path, suffix: str) -> None:
    shutil.copytree(kept_small, tmp_path, dirs_exist_ok=True)
    kept = list(tmp_path.rglob("*" + suffix))
    assert kept
    for path in kept:
        path.write_bytes(b"\x80\x05nonsense" + path.read_bytes()[:40])
    for compiled in (1, 0):
        facts, kernels, _ = run(SMALL, tmp_path)
        assert facts == {"sums": [3.0, 6.0]}
        assert kernels["tracevis3d.kernels.run_sums.sum_runs"][1] == compiled


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with a copy of the library."""
    place = tmp_path / "elsewhere"
    shutil.copytree(ROOT / "tracevis3d", place / "tracevis3d", ignore=shutil.ignore_patterns("__pycache__"))
    return place


def test_a_copy_of_the_library_finds_what_another_one_has_compiled(kept_small: Path, copy: Path) -> None:
    facts, kernels, _ = run(SMALL, kept_small, library=copy)
    assert facts == {"sums": [3.0, 6.0]}
    assert kernels["tracevis3d.kernels.run_sums.sum_runs"][1] == 0


def test_where_the_folder_can_not_be_made_kernels_are_kept_beside_their_sources(
    tmp_path: Path, copy: Path
) -> None:
    (tmp_path / "numba").touch()
    for compiled in (1, 0):
        _, kernels, _ = run(SMALL, tmp_path, library=copy)
        assert kernels["tracevis3d.kernels.run_sums.sum_runs"][1] == compiled
    assert list(copy.rglob("run_sums.*.nbc"))


def test_what_versions_used_long_ago_have_compiled_is_removed(tmp_path: Path) -> None:
    kept = tmp_path / "numba"
    for age in range(1, 10):
        old = kept / f"kernels-{age}"
        old.mkdir(parents=True)
        (old / "kernel.nbc").touch()
        os.utime(old, (time.time() - 1000 * age,) * 2)
    run(SMALL, tmp_path)
    left = {path.name for path in kept.iterdir()}
    assert {f"kernels-{age}" for age in range(1, 8)} < left
    assert len(left) == 8


def test_a_kernel_that_is_not_there_is_compiled_beside_those_that_are(cold: Any, tmp_path: Path) -> None:
    cache, facts, _ = cold
    gone = list(cache.rglob("sets.number_sets*"))
    assert gone
    for path in gone:
        path.unlink()
    again, kernels, _ = run(WHOLE_WAY, cache, *sorted(EXAMPLES.glob("*.gz")))
    assert again == facts
    assert [name for name, (_, compiled) in kernels.items() if compiled] == [
        "tracevis3d.kernels.tree.sets.number_sets"
    ]


def test_kernels_work_where_nothing_can_be_kept(tmp_path: Path) -> None:
    work = "import tracevis3d.kernels.disk_cache as c; c._Kept._locator_classes = []\n" + SMALL
    work += "facts['kept'] = type(sum_runs._cache).__name__\n"
    facts, kernels, _ = run(work, tmp_path)
    assert facts == {"sums": [3.0, 6.0], "kept": "NullCache"}
    assert kernels["tracevis3d.kernels.run_sums.sum_runs"][1] == 1
