"""Phases and repeats against plain twins: windows, the best cuts and their price, kinds, runs, repeats."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from unittest.mock import Mock, patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d.features.interactions.phases as module
from tests.interactions.test_phases import made
from tests.support.walked_traces import walked_trace
from tracevis3d.features.interactions.hierarchy import element_hierarchy
from tracevis3d.features.interactions.interactions import Interactions, interactions
from tracevis3d.features.interactions.phases import (
    Phases,
    characteristic,
    describe,
    enclosing_call,
    find_phases,
    find_repeats,
    joined,
    letter,
    phase_runs,
    shared_kinds,
    window_features,
)

PAIRS = st.lists(st.integers(0, 4), min_size=0, max_size=60)


def shares(pair, pairs):
    """Return the share of each pair among some calls."""
    return [list(pair).count(p) / max(len(pair), 1) for p in range(pairs)]


def roots(row):
    return [math.sqrt(value) for value in row]


def product(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


# -- windows ---------------------------------------------------------------------------------------------


@given(PAIRS, st.integers(1, 9), st.integers(1, 8), st.data())
@settings(max_examples=100, deadline=None)
def test_windows_are_of_equal_length_and_hold_the_roots_of_shares(pair, most, least, data):
    low = data.draw(st.integers(0, len(pair)))
    high = data.draw(st.integers(low, len(pair)))
    found = made(pair)
    with patch.multiple(module, _WINDOWS=most, _CALLS=least):
        features = window_features(found, low, high)
    windows = min(most, (high - low) // least)
    if windows < 2:
        assert features is None
        return
    edge, feature = features
    assert edge.tolist() == [int(i * (high - low) / windows) for i in range(windows + 1)]
    for i, row in enumerate(feature):
        inside = pair[low + edge[i] : low + edge[i + 1]]
        assert row.tolist() == pytest.approx(roots(shares(inside, found.pairs)))
        assert product(row, row) == pytest.approx(1)


def test_of_very_many_pairs_some_share_a_number():
    pair = np.arange(40, dtype=np.int32)
    with patch.multiple(module, _PAIRS=16):
        result, pairs = module._distinguished(made(pair), 3, 40)
        assert pairs == 16
        assert result.tolist() == [p * 2654435761 % 16 for p in range(3, 40)]
        few, pairs = module._distinguished(made(pair[:16]), 0, 16)
        assert (few.tolist(), pairs) == (list(range(16)), 16)


# -- cuts ------------------------------------------------------------------------------------------------


def plain_cost(rows):
    """Return the variation among rows: the sum of squared distances from their mean."""
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return sum((value - m) ** 2 for row in rows for value, m in zip(row, mean, strict=True))


def plain_best(feature, price):
    """Return the least cost of any partition, each cut for its price."""
    best = [0.0]
    for end in range(1, len(feature) + 1):
        best.append(
            min(
                best[begin] + plain_cost(feature[begin:end]) + (price if begin else 0.0)
                for begin in range(end)
            )
        )
    return best[-1]


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.01, 0.1, 0.5]),
    st.sampled_from([0.0, 0.3, 2.0]),
)
@settings(max_examples=150, deadline=None)
def test_no_partition_costs_less_than_that_of_the_cuts(rows, least, chance):
    feature = np.array(rows, float)
    cuts, explained = module._optimal_cuts(feature, least, chance)
    cuts = cuts.tolist()
    assert (cuts[0], cuts[-1]) == (0, len(rows))
    assert cuts == sorted(set(cuts))
    whole = plain_cost(rows)
    price = max(least * whole, chance)
    inside = sum(plain_cost(rows[a:b]) for a, b in pairwise(cuts))
    assert inside + price * (len(cuts) - 2) == pytest.approx(plain_best(rows, price), abs=1e-9)
    assert explained == (pytest.approx(1 - inside / whole) if whole > 1e-12 else 0.0)


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=20),
    st.integers(1, 200),
    st.integers(2, 600),
)
@settings(max_examples=100, deadline=None)
def test_what_chance_explains_is_the_tail_of_laurent_and_massart(counts, calls, windows):
    share = [count / max(sum(counts), 1) for count in counts]
    # Each share's root varies by 1 / 4n, or by the share where that is less; a chi-squared with D degrees of
    # freedom is above D + 2 sqrt(D x) + 2 x with a chance of exp(-x): once in the square of the windows.
    freedom = sum(min(1.0, 4 * calls * value) for value in share)
    x = math.log(windows**2)
    bound = freedom + 2 * math.sqrt(freedom * x) + 2 * x
    assert module._chance(np.array(share), calls, windows) == pytest.approx(bound / (4 * calls))


def test_a_cut_is_dearer_than_what_chance_explains():
    """Without the term of chance this steady run falls apart."""
    pair = np.random.default_rng(7).choice(30, size=600 * 24)
    assert len(find_phases(made(pair), least=0.0)) == 1
    with patch.object(module, "_chance", lambda *_: 0.0):
        assert len(find_phases(made(pair), least=0.0)) > 50


# -- from windows to calls -------------------------------------------------------------------------------


def plain_refined(pair, edge, cuts, pairs):
    """Move each cut to the call from which on the later phase's distribution fits better."""
    parts = [pair[edge[a] : edge[b]] for a, b in pairwise(cuts)]
    fits = [[math.log((s + 1e-4) / (1 + 1e-4 * pairs)) for s in shares(part, pairs)] for part in parts]
    out = [0]
    for i in range(1, len(cuts) - 1):
        # A window on either side, within the two phases.
        low, high = edge[max(cuts[i] - 1, cuts[i - 1])], edge[min(cuts[i] + 1, cuts[i + 1])]

        def fit(at, i=i, low=low, high=high):
            return sum(fits[i - 1][p] for p in pair[low:at]) + sum(fits[i][p] for p in pair[at:high])

        best = max(fit(at) for at in range(low, high + 1))
        at = next(at for at in range(low, high + 1) if fit(at) >= best - 1e-9)
        out.append(max(at, out[-1] + 1))
    least = (len(pair) // (len(edge) - 1)) // 2
    kept = [0]
    for at in out[1:]:
        if at - kept[-1] >= least and len(pair) - at >= least:
            kept.append(at)
    return [*kept, len(pair)]


@given(st.lists(st.integers(0, 3), min_size=8, max_size=60), st.integers(2, 8), st.data())
@settings(max_examples=150, deadline=None)
def test_cuts_are_moved_to_where_the_distributions_change(pair, windows, data):
    windows = min(windows, len(pair) // 2)
    edge = np.linspace(0, len(pair), windows + 1).astype(np.int64)
    inner = data.draw(st.sets(st.integers(1, windows - 1), min_size=0, max_size=4))
    cuts = np.array([0, *sorted(inner), windows])
    result = module._refined(np.array(pair, np.int32), edge, cuts, 4)
    assert result.tolist() == plain_refined(pair, edge.tolist(), cuts.tolist(), 4)


# -- kinds -----------------------------------------------------------------------------------------------


def check_kinds(rows, kinds):
    """Each is of the kind whose first it overlaps most, if it does enough, else the first of a new one."""
    leaders = []
    for row, kind in zip(rows, kinds, strict=True):
        overlap = [product(row, leader) for leader in leaders]
        if overlap and max(overlap) >= 0.85:
            assert overlap[kind] >= max(overlap) - 1e-12
        else:
            assert kind == len(leaders)
            leaders.append(row)


@given(st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any), max_size=9))
@settings(max_examples=200, deadline=None)
def test_kinds_are_those_of_the_plain_twin(counts):
    rows = [roots([value / sum(row) for value in row]) for row in counts]
    check_kinds(rows, module._kinds(np.array(rows).reshape(len(rows), 4)).tolist())


def test_an_overlap_that_is_just_enough_makes_one_kind():
    for overlap, kinds in ((0.85, [0, 0]), (0.8499, [0, 1])):
        feature = np.array([[1.0, 0.0], [overlap, math.sqrt(1 - overlap**2)]])
        assert module._kinds(feature).tolist() == kinds


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), max_size=12))
def test_neighbours_of_one_kind_are_joined(parts):
    kind = np.array([k for k, _ in parts], np.int32)
    edge = np.cumsum([5, *(n for _, n in parts)])
    result = joined(Phases(edge, kind, 0.25))
    calls = [k for k, n in parts for _ in range(n)]
    runs = [[calls[0], 0]] if calls else []
    for k in calls:
        if k != runs[-1][0]:
            runs.append([k, 0])
        runs[-1][1] += 1
    order = sorted({k for k, _ in runs})
    assert result.kind.tolist() == [order.index(k) for k, _ in runs]
    assert np.diff(result.edge).tolist() == [n for _, n in runs]
    assert (result.edge[0], result.explained) == (5, 0.25)
    assert result.kinds == len(order)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 30)), max_size=9), st.integers(0, 20), st.data())
@settings(max_examples=100, deadline=None)
def test_phases_are_put_together_from_their_parts(parts, before, data):
    pair = [3] * before + [p for p, n in parts for _ in range(n)]
    found, high = made(pair), data.draw(st.integers(before, len(pair)))
    chance = Mock(side_effect=module._chance)
    with patch.multiple(module, _WINDOWS=8, _CALLS=4, _chance=chance):
        result = find_phases(found, before, high, 0.05)
        features = window_features(found, before, high)
    n = high - before
    if features is None:
        assert result.edge.tolist() == ([before, high] if n else [before])
        assert (result.kind.tolist(), result.explained) == ([0] * bool(n), 0.0)
        return
    edge, feature = features
    part, pairs = pair[before:high], found.pairs
    mean = [sum(row[p] ** 2 for row in feature.tolist()) / len(feature) for p in range(pairs)]
    cuts, explained = module._optimal_cuts(
        feature, 0.05, module._chance(np.array(mean), n // len(feature), len(feature))
    )
    # Where chance explains little it moves no cut: what it is computed from is compared, too.
    assert chance.call_args.args == (pytest.approx(mean), n // len(feature), len(feature))
    exact = plain_refined(part, edge.tolist(), cuts.tolist(), pairs)
    kind = module._kinds(np.array([roots(shares(part[a:b], pairs)) for a, b in pairwise(exact)])).tolist()
    kept = [i for i in range(len(kind)) if not i or kind[i] != kind[i - 1]]
    assert result.edge.tolist() == [before + exact[i] for i in kept] + [high]
    assert [sorted(set(kind)).index(kind[i]) for i in kept] == result.kind.tolist()
    assert result.explained == explained


@st.composite
def several(draw):
    """Draw interactions of several traces among the same elements, with their phases."""
    parts = []
    for _ in range(draw(st.integers(0, 3))):
        calls = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20))
        ends = sorted(set(calls))
        pair = np.array([ends.index(c) for c in calls], np.int32)
        columns = np.array(ends, np.int32).reshape(-1, 2)
        n = len(calls)
        found = Interactions(
            np.arange(n), np.arange(n), pair, columns[:, 0], columns[:, 1], 3, 0, 64,
            np.zeros((1, len(ends)), np.int32),
        )  # fmt: skip
        cuts = sorted(draw(st.sets(st.integers(0, n), max_size=4)) | {0, n})
        parts.append((calls, found, Phases(np.array(cuts), np.zeros(len(cuts) - 1, np.int32), 0.0)))
    return parts


@given(several())
@settings(max_examples=150, deadline=None)
def test_phases_of_several_traces_are_numbered_together(parts):
    names = [(a, b) for a in range(3) for b in range(3)]
    rows = [
        roots([calls[a:b].count(pair) / max(b - a, 1) for pair in names])
        for calls, _, phases in parts
        for a, b in pairwise(phases.edge.tolist())
    ]
    result = shared_kinds([(found, phases) for _, found, phases in parts])
    assert [len(kind) for kind in result] == [len(phases) for _, _, phases in parts]
    check_kinds(rows, [k for kind in result for k in kind.tolist()])


# -- runs, letters, the call around, what describes a phase ----------------------------------------------


@given(st.lists(st.integers(0, 2), max_size=24))
@settings(max_examples=300, deadline=None)
def test_runs_are_those_of_the_plain_twin(kinds):
    expected, at = [], 0
    while at < len(kinds):
        fits = [
            (times * period, -period, times)
            for period in range(1, len(kinds))
            for times in range(2, len(kinds) // period + 1)
            if kinds[at : at + times * period] == kinds[at : at + period] * times
        ]
        if fits:
            length, period, times = max(fits)
            expected.append((at, -period, times))
            at += length
        else:
            at += 1
    found = phase_runs(np.array(kinds, np.int32))
    assert [(run.first, run.period, run.times) for run in found] == expected


def test_letters_count_on_as_columns_of_a_sheet_do():
    alphabet = [chr(c) for c in range(ord("A"), ord("Z") + 1)]
    names = alphabet + [a + b for a in alphabet for b in alphabet]
    assert [letter(i) for i in range(len(names))] == names
    assert letter(len(names)) == "AAA"


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 2), st.data())
@settings(max_examples=80, deadline=None)
def test_the_call_around_is_the_innermost_that_holds_all(seed, steps, threads, data):
    trace = walked_trace(seed, steps=steps, threads=threads)
    found = interactions(trace, element_hierarchy(trace, "function"))
    low = data.draw(st.integers(0, len(found)))
    high = data.draw(st.integers(low, len(found)))
    calls = found.call[low:high].tolist()
    around = [
        c
        for c in range(len(trace))
        if calls and c < min(calls) and max(calls) < c + int(trace.calls.extent[c])
    ]
    assert enclosing_call(trace, found, low, high) == max(around, default=-1)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(0, 4), st.data())
@settings(max_examples=150, deadline=None)
def test_a_stretch_is_described_by_what_sets_it_apart(pair, most, data):
    low = data.draw(st.integers(0, len(pair)))
    high = data.draw(st.integers(low, len(pair)))
    found = made(pair)
    here, whole = Counter(pair[low:high]), Counter(pair)
    score = {}
    for p, count in here.items():
        share, usual = count / (high - low), whole[p] / len(pair)
        score[p] = share * math.log(share / usual) + 0.1 * share
    main = characteristic(found, found.counts(low, high), found.counts(0, len(pair)), most)
    assert len(main) == len(set(main))
    # Pairs whose scores are below nothing's rank after those that do not happen here, which are not reported.
    absent = sum(1 for p in range(found.pairs) if p not in here)
    negative = [p for p in score if score[p] < 0]
    places = most if not negative else max(min(most, len(score) - len(negative)), most - absent)
    best = sorted(score, key=lambda p: (-score[p], p))[:places]
    assert [score[p] for p in main] == pytest.approx([score[p] for p in best])
    assert set(main) <= set(here)


# -- repeats ---------------------------------------------------------------------------------------------


def plain_repeats(pair, low, high, least):
    """Return (place, similarity, exact) of the repeats of a stretch, from the front."""
    n = high - low
    wanted = Counter(pair[low:high])
    similar = [
        np.float32(sum((wanted & Counter(pair[i : i + n])).values()) / n) for i in range(len(pair) - n + 1)
    ]
    fits = [similar[i] >= np.float32(least) and (i + n <= low or i >= high) for i in range(len(similar))]
    tried = range(0, n, max(n // 64, 1))
    found, i = [], 0
    while i < len(fits):
        if not fits[i]:
            i += 1
            continue
        # Of those nearby that which has most of the calls, and most of them at their place.
        nearby = [j for j in range(i, min(i + max(n // 2, 1), len(fits))) if fits[j]]
        i = max(
            nearby,
            key=lambda j: (
                float(similar[j]) + sum(pair[low + k] == pair[j + k] for k in tried) / len(tried),
                -j,
            ),
        )
        found.append((i, similar[i], pair[i : i + n] == pair[low:high]))
        i += n
    return found


@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.sampled_from([0.3, 0.5, 0.8, 1.0]), st.data())
@settings(max_examples=250, deadline=None)
def test_repeats_are_those_of_the_plain_twin(pair, least, data):
    low = data.draw(st.integers(0, len(pair)))
    high = data.draw(st.integers(low, len(pair)))
    found = find_repeats(made(pair), low, high, least)
    assert (found.low, found.high) == (low, high)
    rows = list(zip(found.first.tolist(), found.similar, found.exact.tolist(), strict=True))
    assert rows == (plain_repeats(pair, low, high, least) if high > low else [])


def test_a_pair_is_written_with_its_thread_once():
    trace = walked_trace(3, steps=60, threads=2, functions=3, modules=0)
    for by, within in (("packages", " → "), ("threads", " → ")):
        elements = element_hierarchy(trace, "function", by)
        h, found = elements.hierarchy, interactions(trace, elements)
        for p in range(found.pairs):
            a, b = (int(h.node[e]) for e in (found.caller[p], found.callee[p]))
            first = h.name[a] if by == "threads" else h.distinct[a]
            expected = h.distinct[a] if a == b else f"{first}{within}{h.distinct[b]}"
            assert describe(h, found, p) == expected
