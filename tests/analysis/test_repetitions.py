"""Repetitions inside one trace, against plain searches."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import plain_match as plain
from tracevis3d.analysis.repetitions import ALIKE, LONGEST_PERIOD, find_alike, find_repeated, find_runs
from tracevis3d.analysis.sets import distinct_sets
from tracevis3d.analysis.subtrees import distinct_subtrees

names = [f"f{i}" for i in range(4)]


def children(trace, call):
    return [c for c in range(len(trace)) if trace.calls.parent[c] == call]


def shape(trace, call):
    """The subtree as nested tuples: equal for equal subtrees."""
    return int(trace.calls.function[call]), tuple(shape(trace, c) for c in children(trace, call))


def plain_runs(items, longest_period):
    """(first, period, times) by trying every period and every number of times."""
    runs, i = [], 0
    while i < len(items):
        best = (0, 0, 0)
        for period in range(1, longest_period + 1):
            times = 1
            while items[i + period * times : i + period * (times + 1)] == items[i : i + period]:
                times += 1
                if i + period * times >= len(items):
                    break
            if times > 1 and period * times > best[0]:
                best = (period * times, period, times)
        if best[0]:
            runs.append((i, best[1], best[2]))
        i += max(best[0], 1)
    return runs


@st.composite
def repetitive(draw):
    """A call whose children come from few shapes, in patterns."""
    shapes = [[2], [2, 3], [2, 3, 3], [2, 3, 4]]
    pattern = draw(st.lists(st.tuples(st.lists(st.integers(0, 3), min_size=1, max_size=4),
                                      st.integers(1, 4)), max_size=5))  # fmt: skip
    depths, functions = [1], [0]
    for choice, times in pattern:
        for _ in range(times):
            for s in choice:
                depths += shapes[s]
                functions += [s, 1, 2][: len(shapes[s])]
    return plain.small_trace(depths, functions, np.arange(len(depths)) % 7, names)


@settings(max_examples=80, deadline=None)
@given(trace=st.one_of(repetitive(), plain.traces(most=20, functions=2)), period=st.integers(1, 5))
def test_runs(trace, period):
    tree = distinct_subtrees(trace.calls)
    runs = find_runs(tree, period)
    assert (np.diff(runs.of_class) >= 0).all()
    by_class = {}
    for run, (c, *found) in enumerate(zip(*(vars(runs)[k].tolist() for k in vars(runs)))):
        by_class.setdefault(c, []).append((run, tuple(found)))
    calls = np.arange(len(trace))
    located = runs.at(calls, trace.calls, tree)
    at = list(zip(*(column.tolist() for column in located)))
    for call in range(len(trace)):
        below = children(trace, call)
        mine = by_class.get(int(tree.of_call[call]), [])
        assert [found for _, found in mine] == plain_runs([shape(trace, c) for c in below], period)
        ends = [(r, below[f], below[f + p * t - 1]) for r, (f, p, t) in mine]
        assert [(r, a, b) for parent, r, a, b in at if parent == call] == ends
    assert runs.calls(tree) == len(at)


@settings(max_examples=80, deadline=None)
@given(trace=st.one_of(repetitive(), plain.traces(most=20)), least=st.sampled_from([0, 1, 3, 4]))
def test_alike_neighbours(trace, least):
    least = Fraction(least, 5)
    tree = distinct_subtrees(trace.calls)
    runs = find_alike(tree, distinct_sets(tree), *([] if least == ALIKE else [least]))
    found = {}
    for c, first, period, times in zip(*(vars(runs)[k].tolist() for k in vars(runs))):
        assert period == 1
        found.setdefault(c, []).append((first, times))
    ids = np.arange(len(names) + 1)
    for call in range(len(trace)):
        sets = [plain.gamma(trace, c, ids) for c in children(trace, call)]
        expected, i = [], 0
        while i < len(sets):
            j = i
            while j + 1 < len(sets) and plain.jaccard(sets[j], sets[j + 1]) > least:
                j += 1
            if j > i:
                expected.append((i, j - i + 1))
            i = j + 1
        assert found.get(int(tree.of_call[call]), []) == expected


@settings(max_examples=60, deadline=None)
@given(trace=st.one_of(repetitive(), plain.traces(most=20, functions=2)))
def test_repeated_subtrees(trace):
    tree = distinct_subtrees(trace.calls)
    shapes = [shape(trace, c) for c in range(len(trace))]
    many = {c for c in range(len(trace)) if shapes[c][1] and shapes.count(shapes[c]) > 1}

    def inside(call):
        parent = int(trace.calls.parent[call])
        return parent >= 0 and (parent in many or inside(parent))

    outermost = [c for c in many if not inside(c)]
    found = find_repeated(trace.calls, tree)
    lasted = trace.calls.end - trace.calls.start
    assert sorted(found.of_class.tolist()) == sorted({int(tree.of_call[c]) for c in outermost})
    for c, calls, time, longest in zip(*(column.tolist() for column in found)):
        of = [x for x in outermost if tree.of_call[x] == c]
        assert (calls, time) == (len(of), lasted[of].sum())
        assert longest in of
        assert lasted[longest] == lasted[of].max()
    assert (np.diff(found.time) <= 0).all()


def test_the_longest_of_repeated_subtrees_is_one_of_them_though_others_take_longer():
    trace = plain.small_trace([1, 2, 2, 3, 2, 3], [0, 1, 2, 3, 2, 3], [1, 100, 1, 1, 2, 1], names)
    assert find_repeated(trace.calls, distinct_subtrees(trace.calls)).longest.tolist() == [4]


def test_limits_are_those_of_the_sentences():
    """Up to 16 children repeat as one pattern, and four of five functions in common are not yet alike."""
    rows = [*range(1, 17)] * 2
    trace = plain.small_trace([1] + [2] * len(rows), [0, *rows], [1] * 33, [f"f{i}" for i in range(17)])
    tree = distinct_subtrees(trace.calls)
    assert (find_runs(tree).period.tolist(), len(find_runs(tree, 15))) == ([16], 0)
    rows = [*range(1, 18)] * 2
    trace = plain.small_trace([1] + [2] * len(rows), [0, *rows], [1] * 35, [f"f{i}" for i in range(18)])
    assert not len(find_runs(distinct_subtrees(trace.calls)))
    assert Fraction(4, 5) == ALIKE


def test_many_runs_need_more_room():
    """More runs than the first buffers hold."""
    depths, functions = [1], [0]
    for i in range(3000):
        depths += [2, 2]
        functions += [i % 3 + 1] * 2
    trace = plain.small_trace(depths, functions, [1] * len(depths), names)
    assert len(find_runs(distinct_subtrees(trace.calls), 1)) == 3000
    # The pattern of six children repeats as a whole.
    whole = find_runs(distinct_subtrees(trace.calls), LONGEST_PERIOD)
    assert (whole.period.tolist(), whole.times.tolist()) == ([6], [1000])
