"""Phases are found where a run changes, and marked stretches where they happen again."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tracevis3d.cli import main
from tracevis3d.features.interactions.hierarchy import element_hierarchy
from tracevis3d.features.interactions.interactions import Interactions, interactions
from tracevis3d.features.interactions.phases import (
    enclosing_call,
    find_phases,
    find_repeats,
    letter,
    phase_runs,
)


def made(pair):
    """Return interactions with the given pairs, one a nanosecond."""
    pair = np.asarray(pair, np.int32)
    pairs = int(pair.max(initial=-1)) + 1
    n = len(pair)
    block = 64
    sums = np.zeros((n // block + 1, pairs), np.int32)
    for b in range(n // block):
        sums[b + 1] = sums[b] + np.bincount(pair[b * block : (b + 1) * block], minlength=pairs)
    ends = np.arange(pairs, dtype=np.int32)
    return Interactions(np.arange(n), np.arange(n), pair, ends, ends + 1, pairs + 1, 0, block, sums)


def program(rng, *parts):
    """Return calls of phases: each part is (distribution of pairs, calls)."""
    return np.concatenate([rng.choice(len(p), size=n, p=p) for p, n in parts])


A, B, C = [0.5, 0.4, 0.1, 0, 0], [0, 0.1, 0.2, 0.7, 0], [0.1, 0, 0, 0.2, 0.7]


def test_cuts_lie_where_the_distribution_changes():
    pair = program(np.random.default_rng(1), (A, 5000), (B, 3000), (C, 7000), (A, 4000))
    phases = find_phases(made(pair))
    assert len(phases) == 4
    assert np.abs(phases.edge - [0, 5000, 8000, 15000, 19000]).max() <= 20
    assert phases.kind.tolist() == [0, 1, 2, 0]
    assert phases.explained > 0.9


def test_a_steady_run_is_one_phase():
    assert len(find_phases(made(program(np.random.default_rng(2), (A, 20000))))) == 1
    assert len(find_phases(made([]))) == 0
    assert len(find_phases(made([0, 1, 1]))) == 1
    assert len(find_phases(made(np.zeros(1000, int)))) == 1


def test_phases_of_a_part_stay_in_it():
    pair = program(np.random.default_rng(3), (A, 5000), (B, 5000))
    phases = find_phases(made(pair), 4000, 6000)
    assert phases.edge[0] == 4000
    assert phases.edge[-1] == 6000
    assert len(phases) == 2
    assert abs(int(phases.edge[1]) - 5000) < 20


def test_recurring_phases_are_reported_as_runs():
    kinds = np.array([0, 1, 2, 1, 2, 1, 2, 3, 4, 4, 4], np.int32)
    assert [(r.first, r.period, r.times) for r in phase_runs(kinds)] == [(1, 2, 3), (8, 1, 3)]
    assert phase_runs(np.array([0, 1, 2], np.int32)) == []


def test_letters():
    assert [letter(k) for k in (0, 25, 26, 27, 702)] == ["A", "Z", "AA", "AB", "AAA"]


def plain_similarity(pair, low, high):
    """Compare each stretch with the marked one by their histograms."""
    n, pairs = high - low, int(pair.max()) + 1
    wanted = np.bincount(pair[low:high], minlength=pairs)
    return [
        np.minimum(wanted, np.bincount(pair[i : i + n], minlength=pairs)).sum() / n
        for i in range(len(pair) - n + 1)
    ]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.data())
def test_repeats_are_similar_apart_and_none_is_missed(pair, data):
    pair = np.array(pair, np.int32)
    low = data.draw(st.integers(0, len(pair) - 1))
    high = data.draw(st.integers(low + 1, len(pair)))
    least = data.draw(st.sampled_from([0.5, 0.8, 1.0]))
    similar = plain_similarity(pair, low, high)
    found = find_repeats(made(pair), low, high, least)
    n = high - low
    taken = np.zeros(len(pair) + n, bool)
    taken[low:high] = True
    for first, s, exact in zip(
        found.first.tolist(), found.similar.tolist(), found.exact.tolist(), strict=True
    ):
        assert s == pytest.approx(similar[first], abs=1e-6)
        assert s >= least - 1e-6
        assert not taken[first : first + n].any()
        taken[first : first + n] = True
        assert exact == np.array_equal(pair[first : first + n], pair[low:high])
    for i, s in enumerate(similar):
        # What is similar enough and overlaps none of those found would be another repeat.
        if s >= least + 1e-6:
            assert taken[i : i + n].any() or taken[max(i - n // 2, 0) : i + n].any()


def test_a_loop_of_ten_rounds_is_found_from_one_of_them():
    rng = np.random.default_rng(5)
    body = rng.integers(0, 6, 300)
    rounds = [body.copy() for _ in range(10)]
    rounds[4][::40] = 6  # a near repeat
    pair = np.concatenate([np.full(500, 7), *rounds, np.full(500, 7)])
    found = find_repeats(made(pair), 500, 800, 0.8)
    assert found.first.tolist() == [800 + 300 * i for i in range(9)]
    assert found.exact.tolist() == [i != 3 for i in range(9)]
    assert 0.9 < found.similar[3] < 1


def test_the_enclosing_call_holds_the_stretch():
    trace = tv.load("examples/vt_markdown_repeat1.json.gz")
    found = interactions(trace, element_hierarchy(trace, "function"))
    phases = find_phases(found)
    assert len(phases) > 2
    calls = trace.calls
    for low, high in zip(phases.edge[:-1].tolist(), phases.edge[1:].tolist(), strict=True):
        inside = enclosing_call(trace, found, low, high)
        members = found.call[low:high]
        holders = [
            c for c in range(len(trace))
            if c < members.min() and c + calls.extent[c] > members.max()
        ]  # fmt: skip
        assert inside == (max(holders) if holders else -1)


def test_the_commands_print_what_the_functions_return(capsys):
    path = "examples/vt_markdown_repeat1.json.gz"
    assert main(["phases", path, "--json", "--level", "function"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts == json.loads(json.dumps(tv.phases(tv.load(path), level="function")))
    assert facts["phases"][0]["start_ns"] <= facts["phases"][-1]["start_ns"]
    assert sum(p["calls"] for p in facts["phases"]) == facts["calls"]
    start, end = facts["phases"][1]["start_ns"], facts["phases"][1]["end_ns"]
    words = ["patterns", path, "--json", "--start", f"{start}ns", "--end", f"{end}ns", "--similarity", "0.5"]
    assert main(words) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["repeated"][0]["occurrences"] > 1
    assert printed["stretch"]["calls"] > 0
    assert printed["sequences"][0]["occurrences"] > 1
    assert printed["sequences"][0]["callees"] > 1
    assert main(["patterns", path]) == 0
    said = capsys.readouterr().out
    assert " x " in said
    assert f"sequence in {printed['sequences'][0]['called_by'][0]}" in said


def test_words_that_are_off(capsys):
    path = "examples/vt_markdown_repeat1.json.gz"
    for words in (
        ["phases", path, "--least", "2"],
        ["patterns", path, "--start", "1ms"],
        ["patterns", path, "--start", "2ms", "--end", "1ms"],
        ["patterns", path, "--similarity", "0"],
        ["phases", path, "--level", "line"],
    ):
        assert main(words) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_more_pairs_than_are_told_apart():
    rng = np.random.default_rng(8)
    pair = np.concatenate([rng.zipf(1.4, 20000) % 3000, 3000 + rng.zipf(1.4, 20000) % 6000])
    found = made(pair)
    assert found.pairs > 4096
    phases = find_phases(replace(found, pair=pair.astype(np.int32)))
    assert len(phases) == 2
    assert abs(int(phases.edge[1]) - 20000) < 300
