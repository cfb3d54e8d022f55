"""What is found in recordings of programs whose memory is known; the full table is made by the benchmarks."""

import json
import subprocess
import sys

import pytest

import tracevis3d as tv
from benchmarks.bench_truth_memory import judge, off_by
from tests.conftest import ROOT
from tests.memory.known_memory import program
from tracevis3d.features.memory.view.arrangement import memory_use

#: Programs in which each sort of part is; they take a second each, because memory is looked at in intervals.
SEEDS = (10, 33)
_RUN = """
import json, sys
import tracevis3d as tv
from tests.memory.known_memory import program, run
for seed in map(int, sys.argv[3:]):
    parts = program(seed)
    with tv.record(f"{sys.argv[1]}/{seed}.json", memory=sys.argv[2], threads=False):
        kept = run(parts)
    with open(f"{sys.argv[1]}/{seed}.kept", "w") as file:
        json.dump(kept, file)
"""


@pytest.fixture(scope="module", params=["tracemalloc", "memray"])
def recorded(request, tmp_path_factory):
    """Run the programs one after the other in one process."""
    if request.param == "memray":
        pytest.importorskip("memray")
    folder = tmp_path_factory.mktemp(request.param)
    run(folder, request.param, *SEEDS)
    return request.param, folder


def run(folder, engine, *seeds):
    """Record programs into a folder."""
    words = [sys.executable, "-c", _RUN, str(folder), engine, *map(str, seeds)]
    subprocess.run(words, cwd=ROOT, check=True, timeout=120)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_known_is_found_and_nothing_else(recorded, seed) -> None:
    engine, folder = recorded
    # Snapshots are taken by the clock: on a busy machine whole teeth of a saw may lie between two.
    for again in range(4 if engine == "tracemalloc" else 1):
        if again:
            run(folder, engine, seed)
        use = memory_use(tv.load(str(folder / f"{seed}.json"), cache=False))
        true, found = judge(seed, engine, use)
        if found == true:
            break
    assert found == true
    assert off_by(use, json.loads((folder / f"{seed}.kept").read_text())) <= 0.01


def test_each_sort_of_part_is_in_one_of_the_programs() -> None:
    names = {part.name for seed in SEEDS for part in program(seed)}
    assert names == {"leak", "grow", "cache", "fill", "prepare", "load", "gather", "format_row"}
