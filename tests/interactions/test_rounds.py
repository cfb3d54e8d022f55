"""Rounds are found where a run does nearly the same again and again, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.interactions.test_phases import A, B, C, made, program
from tracevis3d.features.interactions.patterns import phase_facts
from tracevis3d.features.interactions.rounds import find_rounds


@pytest.mark.parametrize("uneven", [0.0, 0.05])
@pytest.mark.parametrize("times", [4, 10, 25])
def test_rounds_of_uneven_length_are_counted(times, uneven):
    rng = np.random.default_rng(times)
    parts, edge = [(C, 4000)], [4000]
    for _ in range(times):
        lengths = (rng.uniform(1 - uneven, 1 + uneven, 3) * [1500, 700, 400]).astype(int)
        parts += list(zip((A, B, C), lengths.tolist(), strict=True))
        edge.append(edge[-1] + int(lengths.sum()))
    pair = program(rng, *parts, (B, 5000))
    (rounds,) = find_rounds(made(pair))
    assert rounds.times == times
    assert rounds.likeness > 0.8
    period = np.diff(edge).mean()
    # They may begin at any border of the round, but all of them at the same one.
    away = rounds.edge - np.array(edge)
    assert np.ptp(away[:-1]) < 0.15 * period
    assert np.ptp(away) < 0.35 * period  # what comes after the last one does not say where it ends
    assert abs(away.mean()) < period


def test_what_does_not_go_round_has_no_rounds():
    rng = np.random.default_rng(1)
    assert find_rounds(made(program(rng, (A, 30_000)))) == []
    assert find_rounds(made(program(rng, (A, 9000), (B, 12_000), (C, 4000)))) == []
    assert find_rounds(made(np.zeros(5000, int))) == []
    assert find_rounds(made([0, 1, 1])) == []
    assert find_rounds(made([])) == []
    # Twice is no round.
    assert find_rounds(made(program(rng, (A, 9000), (B, 9000), (A, 9000), (B, 9000)))) == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 900)), max_size=40))
@settings(max_examples=60, deadline=None)
def test_rounds_lie_in_the_run_and_apart(parts):
    pair = [p for p, n in parts for _ in range(n)]
    rounds = find_rounds(made(pair))
    edges = np.concatenate([r.edge for r in rounds]) if rounds else np.zeros(0, int)
    assert (np.diff(edges) >= 0).all()
    assert all((np.diff(r.edge) > 0).all() and r.times >= 3 for r in rounds)
    assert not len(edges) or (edges[0] >= 0 and edges[-1] <= len(pair))


def test_rounds_of_a_part_are_those_of_the_part():
    pair = program(np.random.default_rng(3), (A, 2000), *[(B, 800), (C, 900)] * 6, (A, 2000))
    whole, part = find_rounds(made(pair)), find_rounds(made(pair), 2000, 12_200)
    assert [r.times for r in whole] == [r.times for r in part] == [6]
    assert (part[0].edge >= 2000).all()
    assert (part[0].edge <= 12_200).all()


def test_the_ten_folds_of_a_cross_validation_are_found(recorded):
    """Weka evaluates J48 in ten folds, which its own trace says, too."""
    trace = tv.load(recorded / "extravis_J48_weather.rsf.gz")
    rounds = max(phase_facts(trace)["rounds"], key=lambda each: each["times"])
    assert rounds["times"] == 10
    assert len(rounds["start_ns"]) == len(rounds["calls"]) == 10
    assert rounds["start_ns"] == sorted(rounds["start_ns"])
    assert rounds["start_ns"][-1] < rounds["end_ns"]
    assert sum(rounds["calls"]) > 80_000
    # Each fold asks for its own test data, once.
    label = np.array(trace.functions.label)
    folds = trace.calls.start[label[trace.calls.function] == "Instances.testCV"]
    assert np.searchsorted(rounds["start_ns"], folds, "right").tolist() == list(range(1, 11))
