"""What is found in recordings of programs whose memory is known; the full table is made by the benchmarks."""

import json
import subprocess
import sys

import pytest

import tracevis3d as tv
from benchmarks.memory.bench_truth_memory import judge, off_by
from tests.conftest import ROOT
from tests.memory.known_memory import program
from tracevis3d.features.memory.summary import memory_facts
from tracevis3d.features.memory.view.arrangement import memory_use

#: Programs in which each sort of part is; they take a second each, because memory is looked at in intervals.
SEEDS = (10, 33)
_RUN = """
import json, sys, time
import tracevis3d as tv
from tests.memory.known_memory import STEP_S, program, run
from tracevis3d.record.memory import sampled
from tracevis3d.record.session import Session
every = int(sys.argv[3])
if every:
    # The program says when memory is looked at, not the clock.
    Session._pace, sampled._REST = lambda self: (1e3, 1e3), 0
def between(step):
    time.sleep(STEP_S)
    if every and step % every == 0:
        recording._session.flush()
for seed in map(int, sys.argv[4:]):
    parts = program(seed)
    with tv.record(f"{sys.argv[1]}/{seed}.json", memory=sys.argv[2], threads=False) as recording:
        kept = run(parts, between)
    with open(f"{sys.argv[1]}/{seed}.kept", "w") as file:
        json.dump(kept, file)
"""


@pytest.fixture(scope="module", params=["tracemalloc", "memray"])
def recorded(request, tmp_path_factory):
    """Run the programs one after the other in one process."""
    if request.param == "memray":
        pytest.importorskip("memray")
    folder = tmp_path_factory.mktemp(request.param)
    run(folder, request.param, 0 if request.param == "memray" else 2, *SEEDS)
    return request.param, folder


def run(folder, engine, every, *seeds):
    """Record programs into a folder; look at their memory after every so many steps, not by the clock."""
    words = [sys.executable, "-c", _RUN, str(folder), engine, str(every), *map(str, seeds)]
    subprocess.run(words, cwd=ROOT, check=True, timeout=120)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_known_is_found_and_nothing_else(recorded, seed) -> None:
    engine, folder = recorded
    use = memory_use(tv.load(str(folder / f"{seed}.json"), cache=False))
    true, found = judge(seed, engine, use)
    assert found == true
    assert {f.how for f in use.findings} == {"recorded" if engine == "memray" else "inferred"}
    assert off_by(use, json.loads((folder / f"{seed}.kept").read_text())) <= 0.01


def test_where_snapshots_are_rare_nothing_is_called_a_leak(tmp_path) -> None:
    run(tmp_path, "tracemalloc", 21, 10)
    use = memory_use(tv.load(str(tmp_path / "10.json"), cache=False))
    assert judge(10, "tracemalloc", use)[1] == set()
    facts = memory_facts(use)["findings"]
    grows = [f for f in facts if f["kind"] == "growth"]
    assert {f["how"] for f in facts} == {"inferred"}
    # One leaks, the other fills up and is emptied: five snapshots can't tell.
    assert {f["site"].partition(" ")[0] for f in grows} == {"leaks.leak", "teeth.fill"}
    assert all("between 5 snapshots; what lives between them is not recorded" in f["sentence"] for f in grows)


def test_each_sort_of_part_is_in_one_of_the_programs() -> None:
    names = {part.name for seed in SEEDS for part in program(seed)}
    assert names == {"leak", "grow", "cache", "fill", "prepare", "load", "gather", "format_row"}
