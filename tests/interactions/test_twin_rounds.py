"""Rounds against a plain twin: where windows resemble those a period later, and where each round begins."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tracevis3d.features.interactions.rounds as module
from tests.interactions.test_phases import made
from tracevis3d.features.interactions.phases import window_features
from tracevis3d.features.interactions.rounds import find_rounds


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


@st.composite
def likenesses(draw):
    """Draw how like windows of a run are that goes round and round, more or less, without exact ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, period = draw(st.integers(2, 44)), draw(st.integers(3, 10))
    body = rng.random((period + 2, 4))
    at, rows = 0, []
    for _ in range(n):
        rows.append(body[at % len(body)] + draw(st.sampled_from([0.01, 0.1])) * rng.random(4))
        # Now and then a round is a window longer or shorter.
        at += int(rng.choice([1, 1, 1, 1, 1, 1, 2, 0]) if draw(st.booleans()) else 1)
    feature = np.array(rows)
    feature /= np.linalg.norm(feature, axis=1, keepdims=True)
    return feature @ feature.T


def plain_candidates(like):
    """Return (begin, end, period) of what may be rounds, the best first."""
    n = len(like)
    longest = n // 3

    def share(period, i):
        """How much of the likeness that windows from i on lack those a period apart have nevertheless."""
        if i + 2 * period > n:
            return 0.0
        apart = mean(like[j, j + period] for j in range(i, i + period))
        inside = like[i : i + 2 * period, i : i + 2 * period].mean()
        return (apart - inside) / (1 - inside) if 1 - inside > 0.03 else 0.0

    table = {period: [share(period, i) for i in range(n)] for period in range(4, longest + 1)}
    found = []
    for period in range(4, longest + 1):
        slack = int(0.12 * period)
        near = [p for p in range(period - slack, period + slack + 1) if 4 <= p <= longest]
        best = [max(table[p][i] for p in near) for i in range(n)]
        first = 0
        while first < n:
            last = first
            while last < n and best[last] >= 0.4:
                last += 1
            if last > first:
                stop = min(last - 1 + 2 * period, n)
                if stop - first >= 2.88 * period:
                    found.append((mean(best[first:last]) * (stop - first - period), first, stop, period))
            first = max(last, first + 1)
    return sorted(found, key=lambda each: -each[0])


@given(likenesses())
@settings(max_examples=60, deadline=None)
def test_what_may_be_rounds_is_as_in_the_plain_twin(like):
    result = module._candidates(like)
    assert [each[1:] for each in plain_candidates(like)] == result


def plain_aligned(like, begin, end, period):
    """Return the windows where rounds begin and end."""
    n = len(like)
    change = [0.0, *(1 - like[i, i + 1] for i in range(n - 1)), 0.0]
    slack = max(int(0.12 * period), 1)
    reach = min(end + 2, n)

    def worth(here, stop):
        step = stop - here
        off = abs(step - period) / period
        if stop + period - slack > end:  # the last round is like none after it
            return 1 - 0.5 * off + 0.5 * change[stop]
        length = min(step, n - stop)
        same = mean(like[here + k, stop + k] for k in range(length))
        return same - 0.02 * off + 0.5 * change[stop]

    def laid(first):
        at = [first]
        while at[-1] + period <= reach:
            stops = [at[-1] + step for step in range(period - slack, period + slack + 1)]
            at.append(max((stop for stop in stops if stop <= reach), key=lambda stop: worth(at[-1], stop)))
        return at

    tried = [laid(first) for first in range(max(begin - 2, 0), min(begin + period, n))]
    most = max(map(len, tried))
    return max((at for at in tried if len(at) == most), key=lambda at: mean(change[i] for i in at))


@given(likenesses(), st.data())
@settings(max_examples=60, deadline=None)
def test_rounds_are_aligned_as_in_the_plain_twin(like, data):
    n = len(like)
    begin = data.draw(st.integers(0, n - 1))
    end = data.draw(st.integers(begin, n))
    period = data.draw(st.integers(2, 24))
    result = module._aligned(like, begin, end, period)
    expected = plain_aligned(like, begin, end, period)

    def clear(at):
        return mean(1 - like[i - 1, i] if 0 < i < n else 0.0 for i in at)

    assert len(result) == len(expected)
    assert result == expected or clear(result) == pytest.approx(clear(expected))


@pytest.mark.parametrize("end", range(20, 27))
def test_a_round_is_compared_with_what_may_be_one_after_it(end):
    rng = np.random.default_rng(8)
    body = rng.random((9, 4))
    feature = np.array([body[i] for length in (8, 7, 9, 8) for i in range(length)][:26]) + 0.3 * rng.random(
        (26, 4)
    )
    feature /= np.linalg.norm(feature, axis=1, keepdims=True)
    like = feature @ feature.T
    assert module._aligned(like, 0, end, 8) == plain_aligned(like, 0, end, 8)


def plain_rounds(found, low, high):
    """Return (edges, likeness) of the rounds, in order."""
    features = window_features(found, low, high)
    if features is None:
        return []
    edge, feature = features
    n = len(feature)
    wide = []
    for i in range(n):
        row = [
            feature[i][p]
            + 0.5 * (feature[i - 1][p] if i else 0.0)
            + 0.5 * (feature[i + 1][p] if i + 1 < n else 0.0)
            for p in range(feature.shape[1])
        ]
        length = math.sqrt(sum(value * value for value in row))
        wide.append([value / length for value in row])
    like = np.array([[np.dot(x, y) for y in wide] for x in wide])
    taken, rounds = set(), []
    for _, begin, stop, period in plain_candidates(like):
        if taken & set(range(begin, stop)):
            continue
        at = plain_aligned(like, begin, stop, period)
        if len(at) < 4:
            continue
        taken |= set(range(at[0], at[-1]))
        same = [
            mean(like[a + k, b + k] for k in range(min(b - a, c - b)))
            for a, b, c in zip(at, at[1:], at[2:], strict=False)
        ]
        rounds.append(([int(edge[i]) + low for i in at], mean(same)))
    return sorted(rounds)


BODY = st.tuples(st.lists(st.tuples(st.integers(0, 4), st.integers(24, 240)), max_size=4), st.integers(1, 6))


@given(st.integers(0, 2**32), st.lists(BODY, min_size=1, max_size=2))
# Others may end within the first of some rounds: these hide them.
@example(719830, [([(3, 209), (0, 159)], 3), ([(3, 165), (1, 112), (1, 197)], 3)])
@settings(max_examples=25, deadline=None)
def test_rounds_are_those_of_the_plain_twin(seed, bodies):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(7), 5)
    pair = [3, 4, 5, 6]
    for parts, times in bodies:
        body = [0, 1, 2]
        for part, n in parts:
            body += rng.choice(7, size=n, p=shares[part]).tolist()
        pair += body * times
    low = int(rng.integers(0, 3))
    found = made(pair)
    result = find_rounds(found, low, len(pair) - 1)
    expected = plain_rounds(found, low, len(pair) - 1)
    assert [rounds.edge.tolist() for rounds in result] == [edges for edges, _ in expected]
    assert [rounds.likeness for rounds in result] == pytest.approx([likeness for _, likeness in expected])
    assert [rounds.times for rounds in result] == [len(edges) - 1 for edges, _ in expected]
    for one, other in pairwise(result):
        assert one.edge[-1] <= other.edge[0]
