"""How much longer calls take than their counterparts, against plain twins on made-up calls."""

import math
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracevis3d.features.comparison.findings.counterparts import groups


class Paths(SimpleNamespace):
    """Call paths of a function each."""

    def __len__(self):
        return self.function.shape[1]


def evidence_of(own, path, pace, least_time=math.inf, calls=(None, None)):
    """Return what is asked of two traces: the own time and the path of each call."""
    n = 1 + max(max(of) for of in path)
    return SimpleNamespace(
        exact=False, pace=pace, least_time=least_time, state=np.zeros(n, np.int8),
        self_times=[np.array(times, np.int64) for times in own],
        paths=Paths(function=np.arange(2 * n).reshape(2, n), of_call=[np.array(of, np.int32) for of in path]),
        comparison=SimpleNamespace(
            identity=range(2 * n), traces=[SimpleNamespace(calls=table) for table in calls]
        ),
    )  # fmt: skip


def plain_group(a, b, pace):
    """Return low, high, change and ratio of one path's calls: own times of each, in the order they ran."""
    ranked = [[*range(len(side))] for side in (a, b)]
    if len(a) != len(b):
        ranked = [sorted(of, key=lambda i: side[i]) for of, side in zip(ranked, (a, b), strict=True)]
    n = len(b)
    counterpart = [ranked[0][(2 * rank + 1) * len(a) // (2 * n)] for rank in range(n)]
    extra = [b[j] - pace * a[i] for i, j in zip(counterpart, ranked[1], strict=True)]
    times = {i: counterpart.count(i) for i in counterpart}
    out = 1 + n // 20
    out_a = min((1 + len(times) // 20) * max(times.values()), (n - 1) // 2)
    low, high = sorted(extra)[out_a], sorted(extra)[n - 1 - out]
    usual = [min(max(one, low), high) for one in extra]
    change = sum(usual)
    if change < 0:
        change = min(sum(one / times[i] for one, i in zip(usual, counterpart, strict=True)), 0)
    ratios = sorted(
        math.log(max(b[j], 1) / max(a[i], 1)) - math.log(pace)
        for i, j in zip(counterpart, ranked[1], strict=True)
    )
    ratio = median(ratios)
    if n < 10:
        ratio = max(ratios[out_a], 0) if ratio > 0 else min(ratios[n - 1 - out], 0)
    return low, high, change, ratio


_times = st.lists(st.integers(0, 30), min_size=3, max_size=24)


@given(_times, _times, st.sampled_from([1.0, 0.5, 1.25]))
@example([10, 20, 30], [5] * 8, 1.0)
@example([10, 20, 30], [40, 50, 60, 70, 80, 90, 10, 20], 1.0)
@example([10, 20, 30], [1, 2, 3, 9, 14, 28, 27, 40], 1.0)
@example([9] * 3, [9, 9, 8], 1.0)
@example([9] * 4, [9, 9, 8, 8], 1.0)
@example([30] * 5, [30, 20, 10, 40, 90], 1.0)
@example([20] * 5, [60, 20, 10, 10, 10], 1.0)
@example([2, 2, 2, 20], [*range(3, 24)], 1.0)
@example([10, 20, 30], [5, 25, 37, 60], 1.0)
@example([1] * 3, [0] * 4, 0.25)
def test_calls_of_a_path_are_judged_as_by_the_plain_twin(a, b, pace):
    judged = groups(evidence_of((a, b), ([0] * len(a), [0] * len(b)), pace))
    (low,), (high,), (change,), (ratio,) = judged.low, judged.high, judged.change, judged.ratio
    assert (low, high, change, ratio) == pytest.approx(plain_group(a, b, pace))
    assert judged.few.tolist() == [False]


def test_nothing_in_common_is_no_group():
    evidence = evidence_of(([4], [5]), ([0], [0]), 1.0)
    evidence.state[:] = 2
    judged = groups(evidence)
    assert (len(judged), judged.first.tolist()) == (0, [0])


def calls_of(stretches):
    """Return the columns of calls, each with these stretches of its own between what it calls."""
    parent, extent, start, end, at = [], [], [], [], 0
    for own in stretches:
        call, begin = len(parent), at
        bounds = [at + i + sum(own[: i + 1]) for i in range(len(own))]
        at = bounds[-1]
        parent += [-1] + [call] * (len(own) - 1)
        extent += [len(own)] + [1] * (len(own) - 1)
        start += [begin, *bounds[:-1]]
        end += [at, *(bound + 1 for bound in bounds[:-1])]
    columns = {"parent": parent, "extent": extent, "start": start, "end": end}
    return SimpleNamespace(**{name: np.array(values, np.int64) for name, values in columns.items()})


def plain_gaps(x, y, calls, pace):
    """Return low, high, change and ratio of one or two calls by their stretches; None: too few."""
    if len(x) < 8:
        return 0, 0, None, 0
    extra = sorted(b - pace * a for a, b in zip(x, y, strict=True))
    out = 1 + len(x) // 20
    usual = sum(min(max(one, extra[out]), extra[-1 - out]) for one in extra)
    ratio = median(math.log(max(b, 1) / max(a, 1)) for a, b in zip(x, y, strict=True)) - math.log(pace)
    return min(usual, 0) / calls, max(usual, 0) / calls, usual, ratio


_stretches = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=22)


@given(_stretches, st.booleans(), st.sampled_from([1.0, 0.5]))
@example([(3, 4)] * 7, False, 1.0)
@example([(3, 4)] * 8, False, 1.0)
@example([(4, 3)] * 9, True, 1.0)
@example([(4, 4)] * 7 + [(4, 5)] * 3, False, 1.0)
@example([(4, 4)] * 7 + [(5, 4)] * 3, False, 1.0)
@example([(4, 4)] * 8 + [(4, 5)] * 2, False, 1.0)
@example([(0, 0)] * 7 + [(1, 1)] * 2, False, 0.5)
@example([(0, 0)] * 7 + [(1, 0)] * 2, False, 0.25)
def test_one_or_two_calls_are_judged_by_their_stretches(stretches, twice, pace):
    x, y = zip(*stretches, strict=True)
    number = 2 if twice else 1
    tables = [calls_of([side] * number) for side in (x, y)]
    path = [np.where(table.parent < 0, 0, 1).tolist() for table in tables]
    # Each call's own time; what is called takes a nanosecond.
    own = [
        [sum(side) if up < 0 else 1 for up in table.parent]
        for side, table in zip((x, y), tables, strict=True)
    ]
    evidence = evidence_of(own, path, pace, least_time=0.0, calls=tables)
    judged = groups(evidence)
    at = judged.function.tolist().index(0)
    low, high, change, ratio = plain_gaps(x * number, y * number, number, pace)
    if change is None:
        # Nothing is usual where stretches are too few.
        assert (judged.low[at], judged.high[at], judged.ratio[at]) == (0, 0, 0)
        return
    found = judged.low[at], judged.high[at], judged.change[at], judged.ratio[at]
    assert found == pytest.approx((low, high, change, ratio))


@pytest.mark.parametrize(("other", "least_time"), [([4] * 4, 0), ([3] * 9, 1)])
def test_a_group_that_is_not_judged_hides_no_other(other, least_time):
    """It has too few stretches, or has not changed."""
    first = [3] * len(other)
    tables = [calls_of([first, [3] * 9]), calls_of([other, [5] * 9])]
    path = [[0] + [2] * (len(other) - 1) + [1] + [2] * 8] * 2
    own = [
        [sum(one), *[1] * (len(other) - 1), sum(two), *[1] * 8]
        for one, two in ((first, [3] * 9), (other, [5] * 9))
    ]
    judged = groups(evidence_of(own, path, 1.0, least_time=least_time, calls=tables))
    assert dict(zip(judged.function.tolist(), judged.change.tolist(), strict=True))[1] == 18
