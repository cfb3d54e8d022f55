"""Functions that got slower or faster, against a plain twin that judges one group after the other."""

import math
from types import SimpleNamespace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tracevis3d.features.comparison.findings.counterparts import Groups
from tracevis3d.features.comparison.findings.durations import changed

FUNCTIONS, PATHS, CALLS = 3, 9, 6


def plain_changed(case, share):
    """Return the functions that are slower or faster, and the groups of calls that show it."""
    least = max(3 * case["noise"], math.log(1.15))
    groups = case["groups"]
    passing = [
        g for g, (_, change, ratio, _) in enumerate(groups) if abs(ratio) > least and ratio * change > 0
    ]
    found = []
    for function in range(FUNCTIONS):
        of = [g for g in passing if groups[g][0] == function]
        total = sum(groups[g][1] for g in of)
        if abs(total) < share * case["most_time"]:
            continue
        same = sorted((g for g in of if groups[g][1] * total > 0), key=lambda g: -abs(groups[g][1]))
        ratio = groups[same[0]][2]
        beyond = ratio - plain_pace_around(case, function, same)
        if (beyond if ratio > 0 else -beyond) > least:
            found.append((function, same))
    return found


def plain_pace_around(case, function, groups):
    """Return the logarithm of how much longer at least five other paths take while some groups' calls run."""
    if case["exact"]:
        return 0.0
    spans = [case["spans"][call] for g in groups for call in case["groups"][g][3]]
    low, high = min(start for start, _ in spans), max(end for _, end in spans)
    others = [
        (ratio, weight)
        for (before, _, start, end), ratio, weight in case["paths"]
        if before != function and start >= low and end <= high
    ]
    if len(others) < 5:
        return 0.0
    others.sort(key=lambda pair: pair[0])
    half, so_far = sum(weight for _, weight in others) / 2, 0
    for ratio, weight in others:
        so_far += weight
        if so_far >= half:
            return ratio - math.log(case["pace"])
    raise AssertionError


_function = st.integers(0, FUNCTIONS - 1)
_span = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda span: (min(span), max(span)))
#: Twice and half as long, and whatever lies about three times the noise, a seventh, and nothing.
_ratio = st.sampled_from([-1.0, -0.7, -0.5, -0.3, -0.15, -0.1, 0.0, 0.1, 0.15, 0.3, 0.5, 0.7, 1.0])
_path = st.tuples(_function, _function, st.integers(0, 4), st.integers(5, 9))


@st.composite
def cases(draw):
    """Return groups of calls, what other paths take, and the spans of all calls."""
    group = st.tuples(
        _function,
        st.integers(-6, 6),
        _ratio,
        st.lists(st.integers(0, CALLS - 1), min_size=1, max_size=2),
    )
    return {
        "noise": draw(st.sampled_from([0.0, 0.1, 0.2])),
        "exact": draw(st.sampled_from([False, False, True])),
        "pace": draw(st.sampled_from([1.0, 1.25, 0.8])),
        "most_time": draw(st.sampled_from([4, 8, 16])),
        "groups": draw(st.lists(group, min_size=1, max_size=8)),
        "spans": draw(st.lists(_span, min_size=CALLS, max_size=CALLS)),
        "paths": draw(st.lists(st.tuples(_path, _ratio, st.integers(1, 3)), min_size=PATHS, max_size=PATHS)),
    }


def case(groups, spans, paths, **words):
    return {
        "noise": 0.0, "exact": False, "pace": 1.0, "most_time": 8, "groups": groups, "spans": spans,
        "paths": paths, **words,
    }  # fmt: skip


_ALL = [(0, 9)] * CALLS


@given(cases())
@example(case([(0, 2, 1.0, [0])], _ALL, [((1, 1, 0, 9), 0.7, 1)] * 4))
@example(case([(0, 2, 1.0, [0])], _ALL, [((1, 1, 0, 9), 1.0, 1)] * 5))
@example(case([(0, 2, 1.0, [0])], [(1, 8)] * CALLS, [((1, 1, 0, 8), 1.0, 1)] * 5))
@example(case([(0, 2, 1.0, [0])], [(1, 8)] * CALLS, [((1, 1, 1, 9), 1.0, 1)] * 5))
@example(case([(0, 2, 1.0, [0])], [(1, 8)] * CALLS, [((1, 1, 1, 8), 1.0, 1)] * 5))
@example(case([(0, 2, 1.0, [0])], _ALL, [((0, 1, 0, 9), 1.0, 1)] * 5))
@example(case([(0, 2, 1.0, [0])], _ALL, [((1, 0, 0, 9), 1.0, 1)] * 5))
@example(case([(0, 2, 1.0, [0])], _ALL, [((1, 1, 0, 9), 1.0, 1)] * 5, pace=2.0))
@example(case([(0, 2, 0.5, [0])], _ALL, [((1, 1, 0, 9), 0.4, 1)] * 5))
@example(case([(0, -2, -0.5, [0])], _ALL, [((1, 1, 0, 9), -0.4, 1)] * 5))
@example(case([(0, 5, 0.2, [0]), (0, 1, 1.0, [1])], _ALL, [((1, 1, 0, 9), 0.1, 1)] * 5))
@example(case([(0, 1, 0.1, [0]), (0, 1, 1.0, [1])], _ALL, []))
@example(case([(0, 3, 1.0, [0]), (0, -1, -1.0, [1])], _ALL, []))
@example(case([(0, 3, -1.0, [0]), (0, -3, 1.0, [1])], _ALL, []))
def test_functions_are_slower_or_faster_as_by_the_plain_twin(one):
    function, change, ratio, calls = zip(*one["groups"], strict=True)
    first = np.concatenate(([0], np.cumsum([len(b) for b in calls])))
    b = np.concatenate(calls).astype(np.int64)
    nothing = np.zeros(len(change))
    judged = Groups(
        b, b, np.zeros(len(b)), first, np.array(function), nothing, nothing,
        np.array(change, np.float64), np.array(ratio),
    )  # fmt: skip
    start, end = np.array(one["spans"]).T
    paths = [path for path, _, _ in one["paths"]]
    before, after, low, high = np.array(paths, np.int64).reshape(-1, 4).T
    evidence = SimpleNamespace(
        noise=one["noise"],
        exact=one["exact"],
        pace=one["pace"],
        most_time=one["most_time"],
        comparison=SimpleNamespace(
            identity=range(FUNCTIONS),
            traces=(None, SimpleNamespace(calls=SimpleNamespace(start=start, end=end))),
        ),
        paths=SimpleNamespace(function=np.stack([before, after])),
        # In A they ran at other times.
        hulls=np.array([[high, low], [low, high]]),
        spread=(
            np.arange(len(paths)),
            np.array([ratio for _, ratio, _ in one["paths"]], np.float64),
            np.array([weight for _, _, weight in one["paths"]], np.float64),
        ),
    )
    found = changed(evidence, judged, 0.25)
    assert [(function, groups.tolist()) for function, groups in found] == plain_changed(one, 0.25)
