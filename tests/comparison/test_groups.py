"""Groups of matches against both rules, taken word for word."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support import plain_match as plain
from tracevis3d.features.comparison.matching import groups as module
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.matching.similarity import MEASURES, duration_weights

taus = st.sampled_from(["0", "0.1", "0.3", "0.5", "0.7", "0.75", "1"])
names = ["f0", "f1", "f2", "f3", "f4"]


def matches_of(comparison):
    a, b = comparison.traces
    measure = comparison.settings.measure
    weight = duration_weights(*comparison.sides) if measure == "duration" else None
    s = plain.similarities(a, b, comparison.identity, measure, weight)
    return {pair for pair, value in s.items() if value > comparison.settings.tau}


def chain(functions, leaves=()):
    """Return calls one within the other, and ``leaves`` in the innermost."""
    n = len(functions)
    return plain.small_trace(
        [*range(1, n + 1), *[n + 1] * len(leaves)], [*functions, *leaves], [3] * (n + len(leaves)), names
    )


#: For the calls 0, 1 and 2, each within the one before: a copy, and behind it the calls 1 and 2 alone.
LOOKS_BEHIND = plain.small_trace([1, 2, 3, 1, 2], [0, 1, 2, 1, 2], [1] * 5, names)

#: The same, but one of the calls behind it calls itself.
CALLS_ITSELF = plain.small_trace([1, 2, 3, 1, 2, 3, 4], [0, 1, 2, 1, 1, 1, 2], [1] * 7, names)


@settings(max_examples=120, deadline=None)
@given(a=plain.traces(), b=plain.traces(), tau=taus, measure=st.sampled_from(MEASURES))
# The current group of the printed rule holds, but only for some of the next call's matches.
@example(a=chain([0, 1], [2]), b=LOOKS_BEHIND, tau="0.7", measure="jaccard")
@example(a=chain([0, 1], [2]), b=CALLS_ITSELF, tau="0.7", measure="jaccard")
def test_both_rules(a, b, tau, measure):
    comparison = compare(a, b, tau=tau, measure=measure, identity="exact", cache=False)
    matches = matches_of(comparison)
    groups, joined = plain.nearest_groups(a, b, matches)
    literal = plain.literal_groups(a, b, matches)
    assert comparison.groups.count == len(groups)
    assert comparison.groups_literal == (len(literal), "")
    pairs = np.array(sorted(matches), np.int64).reshape(-1, 2)
    roots = comparison.groups.roots_of(a.calls, b.calls, pairs[:, 0], pairs[:, 1])
    assert {tuple(p): r for p, r in zip(pairs.tolist(), zip(roots.a.tolist(), roots.b.tolist()))} == joined
    # The pairs of paths that are kept stand for just these groups.
    kept = comparison.groups
    heads = kept.a.heads[kept.root_a] * kept.b.heads[kept.root_b]
    assert heads.sum() == len(groups)


@st.composite
def rows_of_chains(draw):
    """Draw root calls that are chains of a few functions: many hold what others hold only a part of."""
    depths, functions = [], []
    for chain in draw(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=5)):
        inside = draw(st.booleans()) and bool(depths)
        depths += range(1 + inside, len(chain) + 1 + inside)
        functions += chain
    return plain.small_trace(depths, functions, [1] * len(depths), names)


@settings(max_examples=150, deadline=None)
@given(a=rows_of_chains(), b=rows_of_chains(), tau=taus)
def test_the_printed_rule_where_the_group_holds_for_some_matches_only(a, b, tau):
    comparison = compare(a, b, tau=tau, identity="exact", cache=False)
    literal = plain.literal_groups(a, b, matches_of(comparison))
    assert comparison.groups_literal == (len(literal), "")


@settings(max_examples=80, deadline=None)
@given(a=plain.traces(), b=plain.traces(), tau=taus, measure=st.sampled_from(MEASURES), data=st.data())
def test_groups_of_some_matches(a, b, tau, measure, data):
    comparison = compare(a, b, tau=tau, measure=measure, identity="exact", cache=False)
    matches = matches_of(comparison)
    _, joined = plain.nearest_groups(a, b, matches)
    some = data.draw(st.lists(st.sampled_from(sorted(matches)), max_size=3)) if matches else []
    pairs = np.array(some, np.int64).reshape(-1, 2)
    roots = comparison.roots_of(pairs[:, 0], pairs[:, 1])
    assert "groups" not in comparison.__dict__, "all groups were found"
    assert list(zip(roots.a.tolist(), roots.b.tolist())) == [joined[pair] for pair in some]
    # The same where all are known.
    assert comparison.groups.count is not None
    again = comparison.roots_of(pairs[:, 0], pairs[:, 1])
    assert again.a.tolist() == roots.a.tolist()
    assert again.b.tolist() == roots.b.tolist()


@settings(max_examples=60, deadline=None)
@given(a=plain.traces(), b=plain.traces(), tau=taus, data=st.data())
def test_groups_within_two_calls(a, b, tau, data):
    if not len(a) or not len(b):
        return
    comparison = compare(a, b, tau=tau, identity="exact", cache=False)
    u = data.draw(st.integers(0, len(a) - 1))
    v = data.draw(st.integers(0, len(b) - 1))
    below = {
        (x, y)
        for x, y in matches_of(comparison)
        if x != u and y != v and x in plain.stack(a, u) and y in plain.stack(b, v)
    }
    groups, joined = plain.nearest_groups(a, b, below)
    found = comparison.groups_within(u, v)
    assert found.count == len(groups)
    pairs = np.array(sorted(below), np.int64).reshape(-1, 2)
    roots = found.roots_of(a.calls, b.calls, pairs[:, 0], pairs[:, 1])
    assert {tuple(p): r for p, r in zip(pairs.tolist(), zip(roots.a.tolist(), roots.b.tolist()))} == joined


@settings(max_examples=40, deadline=None)
@given(a=plain.traces(), b=plain.traces(), tau=taus)
def test_paths_and_the_largest_groups(a, b, tau):
    comparison = compare(a, b, tau=tau, identity="exact", cache=False)
    for trace, paths in zip((a, b), comparison.paths):
        lasted = trace.calls.end - trace.calls.start
        unit = paths.unit[paths.place]
        for place in range(len(paths)):
            heads = [
                c for c in range(len(trace))
                if paths.place[c] == place
                and (trace.calls.parent[c] < 0 or paths.place[trace.calls.parent[c]] != place)
            ]  # fmt: skip
            assert paths.heads[place] == len(heads)
            assert (paths.first[place], paths.last[place]) == (heads[0], heads[-1])
            assert paths.time[place] == lasted[heads].sum()
            assert lasted[paths.longest[place]] == paths.length[place] == lasted[heads].max()
            assert (unit[heads] == paths.unit[place]).all()
    groups = comparison.groups
    length = np.minimum(groups.a.length[groups.root_a], groups.b.length[groups.root_b])
    for count in (1, 3, len(length) + 1):
        assert length[groups.largest(count)].tolist() == sorted(length.tolist(), reverse=True)[:count]


def test_siblings_that_take_turns_split_the_printed_groups():
    """The trap: two calls with like children; breadth-first order alternates between them."""
    a = plain.small_trace([1, 2, 2, 1, 2, 2], [0, 1, 2, 3, 4, 1], [1] * 6, names)
    b = plain.small_trace([1, 2, 2, 1, 2, 2], [0, 1, 2, 3, 4, 1], [1] * 6, names)
    comparison = compare(a, b, tau="0.3", identity="exact", cache=False)
    assert comparison.groups.count < comparison.groups_literal[0]


def test_limits_are_reported(monkeypatch):
    a, b = chain([0, 1], [2]), LOOKS_BEHIND
    free = compare(a, b, tau="0", identity="exact", cache=False)
    assert free.groups.count is not None
    monkeypatch.setattr(module, "MOST_PATHS", 0)
    bound = compare(a, b, tau="0", identity="exact", cache=False)
    assert bound.groups.count is None
    assert "more than 0 paths" in bound.groups.reason
    monkeypatch.setattr(module, "MOST_PATHS", 1)
    bound = compare(a, b, tau="1", identity="exact", cache=False).groups
    assert (bound.count, bound.complete) == (None, False)
    assert "more than 1 paths" in bound.reason
    monkeypatch.setattr(module, "MOST_LOOKS", 0)
    count, reason = compare(a, b, tau="0.7", identity="exact", cache=False).groups_literal
    assert count is None
    assert "the place of each match" in reason


@pytest.mark.parametrize("kept", [0, 1])
def test_groups_beyond_those_kept_are_counted(monkeypatch, kept):
    a = plain.small_trace([1, 1, 1], [0, 1, 2], [1] * 3, names)
    whole = compare(a, a, tau="0.3", identity="exact", cache=False).groups
    monkeypatch.setattr(module, "MOST_KEPT", kept)
    cut = compare(a, a, tau="0.3", identity="exact", cache=False).groups
    assert (whole.count, whole.complete) == (3, True)
    assert (cut.count, cut.complete, len(cut.root_a)) == (3, False, kept)
    roots = cut.roots_of(a.calls, a.calls, np.arange(3), np.arange(3))
    assert np.count_nonzero(roots.pair >= 0) == kept


def test_there_may_be_more_paths_than_there_is_room_for_at_first():
    n = 9000
    calls = plain.small_trace([1] * n, range(n), [1] * n, [f"f{k}" for k in range(n)]).calls
    paths = module.find_paths(calls, np.asarray(calls.function, np.int32))
    assert (len(paths), len(np.unique(paths.place))) == (n, n)
    assert paths.first[paths.place].tolist() == list(range(n))
