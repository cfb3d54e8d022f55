"""Kernels before and at their first call, which is what imports Numba."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from tracevis3d.kernels.jit import _LazyKernel, inline, kernel

ROOT = Path(__file__).parents[2]


def python(code: str) -> str:
    """Return what ``code`` prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_no_kernel_imports_numba_or_llvmlite_before_it_is_called():
    loaded = python(
        "import sys, importlib, pkgutil, tracevis3d.kernels as room\n"
        "own = {room.__name__ + name for name in ('.dispatchers', '.compiler', '.disk_cache')}\n"
        "for found in pkgutil.walk_packages(room.__path__, room.__name__ + '.'):\n"
        "    if found.name not in own: importlib.import_module(found.name)\n"
        "heavy = lambda: sorted({'numba', 'llvmlite'} & set(sys.modules))\n"
        "import numpy as np; from tracevis3d.kernels.run_sums import sum_runs\n"
        "before, out = heavy(), np.zeros(1)\n"
        "sum_runs(np.array([0]), np.array([2]), np.array([1, 2], np.float32), out)\n"
        "print(before, heavy(), out.tolist(), len(sum_runs.signatures))"
    )
    assert loaded == "[] ['llvmlite', 'numba'] [3.0] 1"


def test_where_numba_is_missing_the_first_call_says_so():
    sentence = python(
        "import sys; sys.modules['numba'] = None\n"
        "from tracevis3d.errors import MissingDependency\n"
        "from tracevis3d.kernels.run_sums import sum_runs\n"
        "for _ in range(2):\n"
        "    try: sum_runs()\n"
        "    except MissingDependency as error: print(error)\n"
    )
    first, second = sentence.splitlines()
    assert first == second
    assert first.startswith("Numba can't be imported")
    assert "pip install numba" in first


OWN = """
from tracevis3d.kernels.jit import inline, kernel

@inline
def twice(x):
    return x + x

@kernel
def fill(out):
    for i in range(len(out)):
        out[i] = twice(fourfold(out[i]))

@inline
def fourfold(x):
    return twice(twice(x))
"""


def test_helpers_are_made_with_the_kernel_that_names_them(tmp_path, monkeypatch):
    (tmp_path / "kernels_of_a_test.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    own = import_module("kernels_of_a_test")
    assert isinstance(own.twice, _LazyKernel)
    out = np.arange(4.0)
    own.fill(out)
    assert out.tolist() == [0.0, 8.0, 16.0, 24.0]
    assert not isinstance(own.twice, _LazyKernel)
    assert len(own.twice.signatures) == len(own.fill.signatures) == 1
    assert own.fill.__name__ == "fill"
    with pytest.raises(AttributeError):
        _ = own.fill.no_such_thing


def test_helpers_in_a_closure_are_made_too():
    @inline
    def thrice(x):
        return 3 * x

    @kernel
    def fill(out):
        for i in range(len(out)):
            out[i] = thrice(out[i])

    out = np.ones(2)
    fill(out)
    assert out.tolist() == [3.0, 3.0]


def test_threads_that_call_first_at_once_share_one_dispatcher():
    @kernel
    def add(out):
        for i in range(len(out)):
            out[i] += 1

    together = Barrier(8)

    def work(_):
        own = np.zeros(10)
        together.wait()
        add(own)
        return own.sum()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [10.0] * 8
    assert len(add.signatures) == 1
    assert sum(add.stats.cache_misses.values()) + sum(add.stats.cache_hits.values()) == 1
