"""Programs recorded before and after a known change: some of the pairs of ``benchmarks/explain``."""

from __future__ import annotations

import pytest

from benchmarks.explain.judge import judge
from benchmarks.explain.pairs import pairs
from benchmarks.explain.rivals import RIVALS, count, own_time, place, stacks, total_time
from tests.comparison.test_findings import leaf, traced

PAIRS = {pair.name: pair for name in ("pairs", "unseen", "later", "latest", "fresh") for pair in pairs(name)}


def test_each_pair_has_a_name_of_its_own_and_each_edit_has_its_place():
    assert len(PAIRS) == 49
    for pair in PAIRS.values():
        a, b = pair.texts
        assert (a == b) == (not pair.edits)
        compile(b, pair.program, "exec")


@pytest.mark.parametrize("name", ["moved call", "import on demand", "noise alone, short run"])
def test_the_change_is_told_first_and_nothing_else(name, tmp_path):
    """Each of them records two programs, which takes a second or two."""
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        verdict = judge(PAIRS[name], folder)
        if verdict.place == 1 and not verdict.false:
            return  # a busy machine may halt one of the programs for longer than all of it takes
    assert (verdict.place, verdict.false) == (1, [])


def test_tables_of_rivals():
    a = traced(("main", 5, [leaf("f", 10), ("g", 1, [leaf("f", 20), ("g", 2, [])])]))
    b = traced(("main", 5, [leaf("f", 40), ("g", 1, [leaf("f", 20)])]))
    assert own_time(a) == {("main",): 5, ("f",): 30, ("g",): 3}
    assert total_time(a) == {("main",): 38, ("f",): 30, ("g",): 23}
    assert count(a) == {("main",): 1, ("f",): 2, ("g",): 2}
    assert stacks(a) == {
        ("main",): 5, ("main", "f"): 10, ("main", "g"): 1, ("main", "g", "f"): 20, ("main", "g", "g"): 2,
    }  # fmt: skip
    places = {name: place(table(a), table(b), ["g"]) for name, table in RIVALS.items()}
    assert list(places.values()) == [2, 3, 1, 2]
    assert place(own_time(a), own_time(b), ["main"]) == 0
