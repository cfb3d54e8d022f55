"""Calls between elements against a plain twin: windows, counts, what takes part, and what is rare."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d.features.interactions.interactions as module
from tests.interactions.test_phases import made
from tests.support.walked_traces import walked_trace
from tracevis3d.features.interactions.hierarchy import element_hierarchy
from tracevis3d.features.interactions.interactions import interactions, rarest
from tracevis3d.trace.model import Flows


@st.composite
def traces(draw):
    """Draw a trace in which elements often call themselves, with arrows of which some hit no call."""
    trace = walked_trace(
        draw(st.integers(0, 2**32)), steps=draw(st.integers(1, 80)), threads=draw(st.integers(1, 3)),
        functions=draw(st.integers(1, 8)), modules=draw(st.integers(1, 4)), longest=draw(st.integers(1, 20)),
    )  # fmt: skip
    arrows = draw(st.integers(0, 12))
    ends = st.lists(st.integers(-1, len(trace) - 1), min_size=arrows, max_size=arrows)
    source, target = np.array(draw(ends), np.int64), np.array(draw(ends), np.int64)
    start = np.array(
        draw(st.lists(st.integers(0, trace.span_ns), min_size=arrows, max_size=arrows)), np.int64
    )
    thread = np.zeros(arrows, np.int32)
    return replace(trace, flows=Flows(source, target, thread, thread, start, start, thread))


def plain(trace, elements, relation):
    """Return (time, call, caller's element, callee's element), and how many have no caller."""
    rows, without = [], 0
    if relation == "flows":
        flows = trace.flows
        ends = list(zip(flows.start.tolist(), flows.target.tolist(), flows.source.tolist(), strict=True))
    else:
        calls = trace.calls
        ends = list(zip(calls.start.tolist(), range(len(calls)), calls.parent.tolist(), strict=True))
    for time, called, caller in ends:
        if caller < 0 or called < 0:
            without += 1
        else:
            a, b = elements.of_call(np.array([caller, called])).tolist()
            rows.append((time, called, a, b))
    rows.sort(key=lambda row: row[0])
    return rows, without


@given(
    traces(),
    st.sampled_from(["calls", "flows"]),
    st.sampled_from(["function", "module"]),
    st.integers(1, 40),
    st.sampled_from([1 << 23, 10, 100]),
    st.data(),
)
@settings(max_examples=150, deadline=None)
def test_all_is_as_counted_one_by_one(trace, relation, level, block, sums, data):
    elements = element_hierarchy(trace, level)
    with patch.multiple(module, _BLOCK=block, _SUMS=sums):
        found = interactions(trace, elements, relation)
    rows, without = plain(trace, elements, relation)
    assert found.time.tolist() == [row[0] for row in rows]
    assert found.call.tolist() == [row[1] for row in rows]
    ends = list(zip(found.caller.tolist(), found.callee.tolist(), strict=True))
    assert [ends[p] for p in found.pair.tolist()] == [row[2:] for row in rows]
    assert len(set(ends)) == len(ends) == found.pairs
    assert set(ends) == {row[2:] for row in rows}
    assert (found.roots, found.elements) == (without, elements.hierarchy.elements)
    # The sums take a bounded room, however many pairs there are.
    assert found._sums.size <= sums + found.pairs

    start = data.draw(st.integers(-1, trace.span_ns + 1))
    end = data.draw(st.integers(start, trace.span_ns + 1))
    low, high = found.range(start, end)
    assert rows[low:high] == [row for row in rows if start <= row[0] <= end]
    low = data.draw(st.integers(0, len(rows)))
    high = data.draw(st.integers(low, len(rows)))
    window = Counter(row[2:] for row in rows[low:high])
    counts = found.counts(low, high)
    assert counts.tolist() == [window[pair] for pair in ends]
    activity = [sum(e in row[2:] for row in rows[low:high]) for e in range(found.elements)]
    assert found.activity(counts).tolist() == activity

    most, at_most = data.draw(st.integers(0, 8)), data.draw(st.integers(0, 5))
    rare = [
        (count, -(activity[pair[0]] + activity[pair[1]]), ends.index(pair))
        for pair, count in window.items()
        if count <= at_most and pair[0] != pair[1]
    ]
    assert [(r.pair, r.count, r.first) for r in rarest(found, low, high, most, at_most)] == [
        (p, count, next(i for i in range(low, high) if rows[i][2:] == ends[p]))
        for count, _, p in sorted(rare)[:most]
    ]

    names = np.array(data.draw(st.permutations(range(found.elements))), np.int32)
    again = found.renumbered(names)
    assert list(zip(again.caller.tolist(), again.callee.tolist(), strict=True)) == [
        (names[a], names[b]) for a, b in ends
    ]


def test_rare_are_pairs_that_occur_three_times_at_most():
    found = made([0] * 1 + [1] * 2 + [2] * 3 + [3] * 4 + [4] * 5)
    assert [(r.pair, r.count) for r in rarest(found, 0, len(found), 9)] == [(0, 1), (1, 2), (2, 3)]
