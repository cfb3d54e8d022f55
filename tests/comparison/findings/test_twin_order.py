"""What calls of two traces are paired, and what comes before them: each step by its definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.plain_match import traces
from tracevis3d.features.comparison.findings.order import (
    Pairs,
    _below,
    _in_turn,
    _last_before,
    _of_one_caller,
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
