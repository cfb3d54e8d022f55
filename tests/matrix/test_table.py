"""Tables against slow twins that go from item to item."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.features.matrix.subjects import SubjectRequest, table
from tracevis3d.features.matrix.table import Category, Items, slices, table_of
from tracevis3d.trace.model import Samples
from tracevis3d.trace.profile import weight_per_ns
from tracevis3d.trace.strings import Strings
from tracevis3d.units import count
from tracevis3d.views.calls.parts import parts_of
from tracevis3d.views.calls.rounds import repeated_function

ITEM = st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 2), st.integers(1, 9))


def items_of(rows):
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    return Items(columns[0], columns[1], columns[2], columns[3].astype(float), np.arange(len(rows)))


@given(st.lists(ITEM, min_size=1, max_size=30), st.integers(1, 6))
def test_a_table_adds_up_and_keeps_the_largest(rows, most):
    levels = Category("time", ("1", "2", "3"), True)
    categories = Category("row", tuple("abcdef")), Category("column", tuple("vwxyz")), levels
    found = table_of(items_of(rows), categories, most, "calls", "calls", count)
    sums = Counter()
    for row, _, _, weight in rows:
        sums["abcdef"[row]] += weight
    kept = [name for name in found.rows.names if not name.endswith(" more")]
    assert found.rows.names[len(kept) :] == ((f"{len(sums) - len(kept)} more",) if len(sums) > most else ())
    assert found.within == 0
    assert (found.call[found.count == 0] == -1).all()
    left = [weight for name, weight in sums.items() if name not in kept]
    assert len(kept) == min(most, len(sums))
    assert not left or max(left) <= min(sums[name] for name in kept)
    twin, heaviest = defaultdict(float), {}
    for i, (row, column, level, weight) in enumerate(rows):
        at = tuple(
            names.index(name) if name in names else len(names) - 1
            for names, name in ((found.rows.names, "abcdef"[row]), (found.columns.names, "vwxyz"[column]))
        )
        twin[(*at, level)] += weight
        heaviest.setdefault((*at, level), []).append((weight, i))
    assert {tuple(map(int, at)): found.value[tuple(at)] for at in np.argwhere(found.value)} == twin
    for at, among in heaviest.items():
        assert (max(among)[0], int(found.call[at])) in among
        assert found.count[at] == len(among)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100), st.booleans())
def test_callers_and_callees_are_those_of_the_calls(seed, within):
    trace = walked_trace(seed, steps=40, longest=20)
    window = (0, trace.span_ns + 1)
    wanted = SubjectRequest("calls", "module", "calls", "none", "", 4, 50, within, window)
    _, part, names = parts_of(trace, "module")
    twin = Counter()
    for call in range(len(trace.calls)):
        parent = int(trace.calls.parent[call])
        if parent >= 0:
            pair = names[part[trace.calls.function[parent]]], names[part[trace.calls.function[call]]]
            if within or pair[0] != pair[1]:
                twin[pair] += 1
    if not twin:
        return
    found = table(trace, wanted)
    flat = found.flat
    made = {
        (a, b): flat[i, j]
        for i, a in enumerate(found.rows.names)
        for j, b in enumerate(found.columns.names)
        if flat[i, j]
    }
    assert made == twin


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100), st.integers(1, 9))
def test_slices_hold_what_begins_in_them(seed, many):
    trace = walked_trace(seed, steps=40, longest=20)
    window = (0, trace.span_ns + 1)
    whole = table(trace, SubjectRequest("calls", "function", "self", "none", "", many, 50, True, window))
    cut = table(trace, SubjectRequest("calls", "function", "self", "time", "", many, 50, True, window))
    np.testing.assert_allclose(cut.value.sum(axis=2), whole.flat)
    _, edges = slices(window, many, lambda a, b: "")
    first = table(
        trace, SubjectRequest("threads", "function", "self", "none", "", many, 50, True, (0, int(edges[1])))
    )
    every = table(trace, SubjectRequest("threads", "function", "self", "time", "", many, 50, True, window))
    assert every.value[:, :, 0].sum() == pytest.approx(first.flat.sum())


def test_rounds_of_a_loop_are_its_calls_in_order():
    trace = walked_trace(3, steps=400, threads=1, functions=3, longest=20)
    function = repeated_function(trace, trace.functions.label[1])
    assert function == 1
    window = (0, trace.span_ns + 1)
    label = trace.functions.label[1]
    found = table(trace, SubjectRequest("rounds", "auto", "calls", "none", label, 1, 50, True, window))
    calls = trace.calls
    rounds = np.flatnonzero(calls.function == 1)
    rounds = rounds[np.argsort(calls.start[rounds], kind="stable")]
    assert found.rows.names[:2] == ("1", "2") if len(rounds) <= 120 else True
    # Each round adds up to its duration: itself and what it calls.
    step = -(-len(rounds) // 120)
    lasted = (calls.end - calls.start)[rounds]
    sums = [lasted[k : k + step].sum() for k in range(0, len(rounds), step)]
    np.testing.assert_allclose(found.flat.sum(axis=1), sums)


def test_blocks_lie_on_the_diagonal():
    names = Category("row", tuple("abcd")), Category("column", tuple("wxyz")), Category("", ("",), True)
    pairs = [(0, 0), (0, 2), (2, 0), (2, 2), (1, 1), (1, 3), (3, 1), (3, 3)]
    rows = [(r, c, 0, 5) for r, c in pairs]
    found = table_of(items_of(rows), names, 9, "calls", "calls", count).ordered()
    filled = found.flat > 0
    assert filled[:2, :2].all()
    assert filled[2:, 2:].all()
    kept = replace(names[0], is_ordered=True), names[1], names[2]
    assert table_of(items_of(rows), kept, 9, "calls", "calls", count).ordered().rows.names == tuple("abcd")


@pytest.mark.parametrize("timed", [False, True])
def test_calls_of_a_profile_count_what_its_samples_weigh_or_their_time(timed):
    trace = walked_trace(1, steps=40, longest=20)
    samples = Samples(
        thread=np.zeros(2, np.int32), kind=np.zeros(2, np.int32), weight=np.array([3000, 4000]),
        time=np.array([1, 2] if timed else [], np.int64), stack=np.full(2, -1, np.int32),
        kinds=Strings.of(["misses"]),
    )  # fmt: skip
    profiled, window = replace(trace, samples=samples), (0, trace.span_ns + 1)
    request = SubjectRequest("calls", "module", "auto", "none", "", 4, 50, True, window)
    plain = table(trace, replace(request, value="time"))
    assert plain.of == "time"
    found = table(profiled, request)
    if timed:
        assert found.of == "time"
        assert found.flat.tolist() == plain.flat.tolist()
    else:
        assert found.of == "misses"
        np.testing.assert_allclose(found.flat, plain.flat * weight_per_ns(profiled))


@given(st.lists(ITEM, min_size=1, max_size=30), st.integers(1, 6))
def test_what_is_left_over_stays_last_and_cells_keep_their_values(rows, most):
    levels = Category("time", ("1", "2", "3"), True)
    categories = Category("row", tuple("abcdef")), Category("column", tuple("vwxyz")), levels
    made = table_of(items_of(rows), categories, most, "calls", "calls", count)
    found = made.ordered()
    for one, other in ((found.rows, made.rows), (found.columns, made.columns)):
        assert sorted(one.names) == sorted(other.names)
        assert not any(name.endswith(" more") for name in one.names[:-1])
    grid = np.ix_(*([was.names.index(name) for name in now.names]
                    for was, now in ((made.rows, found.rows), (made.columns, found.columns))))  # fmt: skip
    for name in ("value", "count", "call"):
        assert getattr(found, name).tolist() == getattr(made, name)[grid].tolist()


def test_a_table_says_what_it_leaves_out_and_a_nanosecond_is_one_slice():
    trace = walked_trace(1, steps=40, longest=20)
    window = (0, trace.span_ns + 1)
    found = table(trace, SubjectRequest("auto", "module", "calls", "none", "", 4, 50, False, window))
    every = table(trace, SubjectRequest("calls", "module", "calls", "none", "", 4, 50, True, window))
    assert found.within == every.count.sum() - found.count.sum() > 0
    assert every.within == 0
    category, edges = slices((5, 6), 9, lambda low, high: f"{low} to {high}")
    assert (category.names, edges.tolist()) == (("5 to 6",), [5, 6])
    category, edges = slices((5, 8), 2, lambda low, high: f"{low} to {high}")
    assert (category.names, edges.tolist()) == (("5 to 6", "6 to 8"), [5, 6, 8])
