"""What calls of two traces are paired, and what comes before them: each step by its definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.comparison.test_findings import found, leaf, run, threaded, traced, usual
from tests.comparison.test_twin_findings import all_same, evidence_of, two_callers
from tests.support.plain_findings import Plain
from tests.support.plain_match import traces
from tests.support.run_pairs import any_pairs, reordered_pair
from tracevis3d.features.comparison.findings.order import (
    Pairs,
    _below,
    _in_turn,
    _last_before,
    _of_one_caller,
    find_pairs,
    offsets,
    out_of_order,
)


def callers(calls, call):
    """Return the calls above a call, the nearest first."""
    up = int(calls.parent[call])
    return [up, *callers(calls, up)] if up >= 0 else []


def any_calls(trace):
    """Draw some calls of a trace, in any order."""
    return st.permutations(range(len(trace))).flatmap(
        lambda ids: st.integers(0, len(ids)).map(lambda k: np.array(ids[:k], np.int64))
    )


@given(traces(), st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_below_calls(trace, data):
    roots = data.draw(any_calls(trace))
    below = [bool(set(roots.tolist()) & set(callers(trace.calls, i))) for i in range(len(trace))]
    assert _below(trace.calls, roots).tolist() == below


@given(traces(), traces(), st.data())
@settings(max_examples=100, deadline=None)
def test_calls_are_paired_if_their_nearest_paired_callers_are_a_pair(one, other, data):
    a, b = data.draw(any_calls(one)), data.draw(any_calls(other))
    a, b = a[: len(b)], b[: len(a)]
    partner = dict(zip(a.tolist(), b.tolist(), strict=True))

    def apart(i, j):
        above = next((up for up in callers(one.calls, i) if up in partner), None)
        return above is not None and partner[above] != next(
            (up for up in callers(other.calls, j) if up in partner.values()), None
        )

    wrong = {i for i, j in partner.items() if apart(i, j)}
    kept = [not wrong & {i, *callers(one.calls, i)} for i in partner]
    assert _of_one_caller(one.calls, other.calls, a, b).tolist() == kept


@given(traces(), st.data())
@settings(max_examples=100, deadline=None)
def test_what_keeps_its_place_before_a_call(trace, data):
    calls, ids = trace.calls, data.draw(any_calls(trace))
    in_order = np.array(data.draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids))), np.bool_)
    none = np.zeros(len(ids), np.int64)
    for s, pairs in enumerate([Pairs(ids, none, none, in_order), Pairs(none, ids, none, in_order)]):
        found = _last_before(calls, pairs, s)
        for k in np.flatnonzero(~in_order).tolist():
            before = [
                (int(ids[j]), j) for j in np.flatnonzero(in_order).tolist()
                if ids[j] < ids[k] and calls.parent[ids[j]] == calls.parent[ids[k]]
                and calls.thread[ids[j]] == calls.thread[ids[k]]
            ]  # fmt: skip
            assert found[k] == (max(before)[1] if before else -1)


@given(st.lists(st.lists(st.integers(0, 4), max_size=8), min_size=2, max_size=2), st.randoms())
@settings(max_examples=60, deadline=None)
def test_calls_of_equal_keys_are_paired_in_turn(keys, chance):
    calls = [chance.sample(range(20), len(of)) for of in keys]
    many = [Counter(of) for of in keys]
    expected = []
    for key in sorted({*keys[0], *keys[1]}):
        if many[0][key] == many[1][key]:
            expected += zip(*(
                sorted(call for call, of in zip(ids, row, strict=True) if of == key)
                for ids, row in zip(calls, keys, strict=True)
            ), strict=True)  # fmt: skip
    a, b = _in_turn([np.array(ids, np.int64) for ids in calls], [np.array(of, np.int64) for of in keys])
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == expected


def waiting(between, whole=3000):
    """A run that takes so long, of which it waits between two calls."""
    return traced(("main", whole - 2000 - between, [leaf("a"), between, leaf("b")]))


def brief(step, own=10):
    """A run that does much else, and at last two short calls in one order or in the other."""
    return traced(("main", 30 * own, [*[leaf("tick", own)] * 600, *[leaf("a", own), leaf("b", own)][::step]]))


def in_itself(step):
    """A root call calls its own function, which calls two others in one order or in the other."""
    return traced(("main", 300, [("main", 300, [leaf("a"), leaf("b", 900)][::step])]))


def in_a_row(names):
    """A function calls others, by the letters of ``names``."""
    return traced(("main", 300, [("main", 300, [leaf(name, 900) for name in names])]))


def part(name):
    """A function calls three others, which nothing else calls."""
    return (name, 200, [leaf("x"), leaf("y"), leaf("z")])


def rounds(*parts):
    """A function is called again and again, for a part of the work each time."""
    return traced(("main", 300, [("round", 10, list(part)) for part in parts]))


@given(any_pairs())
@example((two_callers(1), two_callers(-1)))
@example((waiting(100), waiting(150)))  # half as long again
@example((waiting(100), waiting(149)))
@example((waiting(100, 10_000), waiting(200, 10_000)))  # a hundredth of the time more
@example((waiting(100, 10_000), waiting(199, 10_000)))
@example((in_itself(1), in_itself(-1)))
@example((brief(1), brief(-1)))  # too short to be looked at
@example((brief(1, 0), brief(-1, 0)))
@example((two_callers(1, 5000), two_callers(-1)))
@example((two_callers(1), two_callers(-1, 5000)))
# Two move together, or around one that keeps its place.
@example((in_a_row("abcdexy"), in_a_row("yxabcde")))
@example((in_a_row("abcdxey"), in_a_row("yxabcde")))
# What comes before a call in one trace comes in the round before in the other.
@example((rounds([leaf("a")], [leaf("b"), leaf("c")]), rounds([leaf("a"), leaf("b")], [500, leaf("c")], [])))
@example((rounds([leaf("a"), leaf("b")], [leaf("c")], []), rounds([leaf("a")], [leaf("b"), 500, leaf("c")])))
@settings(max_examples=120, deadline=None)
def test_what_is_done_in_another_order_or_later(pair):
    is_as_the_twin_says(pair)


# What comes before a call in one trace is in another thread in the other.
@pytest.mark.parametrize("first", [[], [[leaf("q")]]])
def test_a_call_of_another_thread_is_not_before_it(first):
    one = threaded(*first, [leaf("p"), leaf("x")], [9000, leaf("p")])
    other = threaded(*first, [leaf("p")], [5000, leaf("x")], [9000, leaf("p")])
    is_as_the_twin_says((one, other))
    is_as_the_twin_says((other, one))


def test_what_moves_under_another_name_has_both():
    a, b = run([part("old"), *usual()]), run([*usual(), part("new")])
    assert [f.functions for f in found(a, b) if f.kind == "order"] == [("old", "new")]


# Most of them are met once in some hundred.
@given(st.integers(0, 9999).map(reordered_pair))
@example(reordered_pair(206))
@example(reordered_pair(309))
@example(reordered_pair(320))
@example(reordered_pair(376))
@example(reordered_pair(377))
@settings(max_examples=100, deadline=None)
def test_what_threads_do_in_another_order_or_later(pair):
    is_as_the_twin_says(pair)


def is_as_the_twin_says(pair):
    """Compare what two runs do in another order, or at another time, with the plain twin."""
    evidence = evidence_of(pair)
    plain = Plain(evidence)
    pairs = find_pairs(evidence)
    result = list(zip(pairs.a.tolist(), pairs.b.tolist(), pairs.node.tolist(), strict=True))
    assert result == plain.pairs()
    in_order = pairs.in_order.tolist()
    kept = [(plain.traces[1].start[b], b) for (_, b, _), flag in zip(result, in_order, strict=True) if flag]
    assert kept == sorted(kept)
    assert len(kept) == plain.most_in_order(result)
    all_same(out_of_order(evidence, pairs), plain.out_of_order(result, in_order))
    all_same(offsets(evidence, pairs), plain.offsets(result, in_order))
