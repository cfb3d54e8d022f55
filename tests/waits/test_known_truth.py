"""What is found in recordings of programs whose waits are known; the full table is made by the benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tests.waits.programs.known_waits import PROGRAMS as KNOWN
from tests.waits.programs.later_waits import PROGRAMS as LATER
from tracevis3d.features.waits.findings.find import findings
from tracevis3d.features.waits.findings.finding import KINDS
from tracevis3d.features.waits.waits import find_waits

PROGRAMS = (*KNOWN, *LATER)
#: Those that leave threads behind come last.
NAMES = (
    *("a lock, one long hold, 3 wait", "4 threads take turns, 6 times", "2 locks in different orders"),
    *("a ring of 3, broken by a timeout", "polling every 10 ms by timeouts", "a farmer and 3 workers"),
    *("2 producers, one consumer with timeouts", "a greedy thread, 2 starve", "3 threads lead in turn"),
    *("a lock held while a pipe is read, 1 wait", "a healthy monitor", "2 threads apart"),
    *("a lock held while a program runs", "a lock held while its holder computes, 1 wait"),
    *("2 places, 5 guests", "a pipeline with a slow stage", "a barrier that one never reaches"),
    *("a signal before its wait, with a timeout", "trying a lock"),
    *("an event that nobody sets", "a lock that its holder wants again", "a ring of 3, for ever"),
)
_RUN = """
import json, sys
import tracevis3d as tv
from tests.waits.test_known_truth import PROGRAMS
work = {program.name: program.work for program in PROGRAMS}
for i, name in enumerate(sys.argv[2:]):
    with tv.record(f"{sys.argv[1]}/{i}.json", io=True):
        woke = work[name]()
    with open(f"{sys.argv[1]}/{i}.woke", "w") as file:
        json.dump(woke, file)
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Run the programs one after the other in one process: they take seconds because they wait."""
    folder = tmp_path_factory.mktemp("known")
    subprocess.run([sys.executable, "-c", _RUN, str(folder), *NAMES], cwd=ROOT, check=True, timeout=120)

    def read(name):
        i = NAMES.index(name)
        waits = find_waits(tv.load(str(folder / f"{i}.json"), cache=False))
        return waits, json.loads((folder / f"{i}.woke").read_text())

    return read


def test_there_are_fifty_programs_with_each_kind_of_finding() -> None:
    assert len(PROGRAMS) >= 50
    found = {kind for program in PROGRAMS for kind in program.expected}
    assert found == set(KINDS) - {"mostly idle", "does nothing", "outlier"}
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_known_is_found_and_the_right_one_is_blamed(recorded, name) -> None:
    (program,) = (one for one in PROGRAMS if one.name == name)
    waits, _ = recorded(name)
    # What the recorder writes itself is in no need of repair.
    assert [*waits.trace.problems] == []
    found = findings(waits)
    kinds, sentences = {f.kind for f in found}, [f.sentence for f in found]
    assert program.expected <= kinds, sentences
    assert kinds <= program.expected | program.also, sentences
    if program.blame:
        assert waits.trace.threads.name[waits.blame.thread[0]] == program.blame


def test_each_item_was_put_by_who_woke_its_taker(recorded) -> None:
    waits, woke = recorded("2 producers, one consumer with timeouts")
    ops, name = waits.ops, waits.trace.threads.name
    takes = [i for i in waits.own.tolist() if ops.names[ops.name[i]].startswith("Queue.get")]
    given_up = [i for i in takes if ops.names[ops.name[i]].endswith("(timed out)")]
    assert given_up
    assert all(waits.waker[i] < 0 for i in given_up)
    # Whether the others had to wait for an item only the recording knows; from whom each came the taker does.
    gets = [i for i in range(len(ops)) if ops.names[ops.name[i]] == "Queue.get"]
    assert len(gets) == len(woke)
    served = {i: by for i, (_, by) in zip(gets, woke) if i in takes}
    assert len(served) >= len(woke) / 2
    assert {i: name[waits.woken_by[i]] for i in served} == served
    assert len({int(waits.waker[i]) for i in served}) == len(served)
