"""The facts of a comparison and their sentences, against a plain twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.analysis.test_repetitions import children, plain_runs, shape
from tests.support import plain_match as plain
from tests.support.walked_traces import walked_trace
from tracevis3d.features.comparison.matching import summary as code
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.matching.summary import (
    group_facts,
    histogram_rows,
    sentences,
    summary,
)
from tracevis3d.trace.model import Trace


def lasted(trace, call):
    return int(trace.calls.end[call] - trace.calls.start[call])


def label(trace, call):
    return trace.functions.label[trace.calls.function[call]]


def callers(trace, call):
    """Return a call and those around it, the outermost first."""
    up = int(trace.calls.parent[call])
    return [*(callers(trace, up) if up >= 0 else []), call]


def path(trace, call, ids):
    """Return the sets of functions of the callers down to a call; equal ones in a row are one."""
    sets = [frozenset(plain.gamma(trace, c, ids)) for c in callers(trace, call)]
    return tuple(s for i, s in enumerate(sets) if not i or s != sets[i - 1])


def plain_groups(a, b, ids, s, roots):
    """Return the rows that groups with these roots make: those of the same callers are one."""
    rows = {}
    for u, v in roots:
        rows.setdefault((path(a, u, ids[0]), path(b, v, ids[1])), []).append((u, v))
    out = []
    for pairs in rows.values():
        heads = [sorted({u for u, _ in pairs}), sorted({v for _, v in pairs})]
        out.append({
            "similarity": float(s[pairs[0]]),
            "groups": len(pairs),
            "calls": [len(heads[0]), len(heads[1])],
            "time_ns": [sum(lasted(t, c) for c in h) for t, h in zip((a, b), heads)],
            "longest": [max(lasted(t, c) for c in h) for t, h in zip((a, b), heads)],
        })  # fmt: skip
    return sorted(out, key=str)


def check_groups(found, a, b, wanted):
    for group in found:
        for trace, function, fact in zip((a, b), group["functions"], group["longest"]):
            call = fact["call"]
            assert function == label(trace, call)
            assert fact["start_ns"] == trace.calls.start[call]
            assert fact["thread"] == trace.threads.title(int(trace.calls.thread[call]))
            assert fact["duration_ns"] == lasted(trace, call)
    result = [
        {k: v for k, v in group.items() if k != "functions"}
        | {"longest": [fact["duration_ns"] for fact in group["longest"]]}
        for group in found
    ]
    shorter = [min(group["longest"]) for group in result]
    assert shorter == sorted(shorter, reverse=True)
    assert sorted(result, key=str) == wanted


def two_roots(inside, beside):
    """Return two root calls: one takes so long in a call that it makes, the other so long itself."""
    return plain.small_trace([1, 2, 1], [0, 1, 2], [10, inside, beside], ["f0", "f1", "f2"])


@settings(max_examples=50, deadline=None)
@given(a=plain.traces(), b=plain.traces(), tau=st.sampled_from(["0", "0.3", "0.5"]))
@example(a=two_roots(30, 5), b=two_roots(50, 300), tau="0.3")
@example(a=two_roots(50, 300), b=two_roots(30, 5), tau="0.3")
def test_the_facts_are_those_of_the_definitions(a, b, tau):
    comparison = compare(a, b, tau=tau, identity="exact", cache=False)
    facts = summary(comparison, 1000)
    ids = comparison.identity.a, comparison.identity.b
    s = plain.similarities(a, b, comparison.identity)
    matches = {pair for pair, value in s.items() if value > comparison.settings.tau}
    roots = plain.nearest_groups(a, b, matches)[0]
    assert (facts["call_pairs"], facts["groups"]) == (len(matches), len(roots))
    assert facts["groups_literal"] == len(plain.literal_groups(a, b, matches))
    check_groups(facts["largest_groups"], a, b, plain_groups(a, b, ids, s, roots))
    few = summary(comparison, 1)
    assert few["largest_groups"] == facts["largest_groups"][:1]
    assert [len(side) for side in few["unmatched"]] == [min(len(side), 1) for side in facts["unmatched"]]
    assert [(bar["above"], bar["to"]) for bar in facts["histogram"]] == [
        (k / 20, (k + 1) / 20) for k in range(20)
    ]
    assert [bar["pairs"] for bar in facts["histogram"]] == comparison.histogram.tolist()
    for i, trace in enumerate((a, b)):
        assert facts["distinct_sets"][i] == len(
            {frozenset(plain.gamma(trace, c, ids[i])) for c in range(len(trace))}
        )
        found = comparison.unmatched(i)
        assert [
            (one["calls"], one["time_ns"], one["longest"]["call"]) for one in facts["unmatched"][i]
        ] == list(zip(found.calls.tolist(), found.time.tolist(), found.longest.tolist()))
        for one in facts["unmatched"][i]:
            assert one["function"] == label(trace, one["longest"]["call"])
        check_repetitions(facts["repetitions"][i], trace)
    check_within(facts["within"], comparison)


def check_repetitions(facts, trace):
    every = range(len(trace))
    shapes = [shape(trace, c) for c in every]
    below = [children(trace, c) for c in every]
    assert facts["runs"] == sum(len(plain_runs([shapes[c] for c in some], 16)) for some in below)
    alike = 0
    ids = np.arange(len(trace.functions))
    for some in below:
        sets = [plain.gamma(trace, c, ids) for c in some]
        near = [plain.jaccard(x, y) > 0.8 for x, y in pairwise(sets)]
        alike += sum(now and not before for before, now in zip([False, *near], near))
    assert facts["alike"] == alike
    many = {c for c in every if below[c] and shapes.count(shapes[c]) > 1}
    outermost = [c for c in many if not many & (set(callers(trace, c)[:-1]))]
    whole = sum(lasted(trace, c) for c in every if trace.calls.parent[c] < 0)
    share = sum(lasted(trace, c) for c in outermost) / whole if whole else 0
    assert facts["repeated_time"] == pytest.approx(share)


def check_within(facts, comparison):
    """The largest group is opened while it takes half of both traces, and something lies in it."""
    a, b = comparison.traces
    half = [sum(lasted(t, c) for c in range(len(t)) if t.calls.parent[c] < 0) / 2 for t in (a, b)]
    opened, groups = [], comparison.groups
    while largest := group_facts(comparison, groups, 1):
        calls = [fact["call"] for fact in largest[0]["longest"]]
        if any(lasted(t, c) < least for t, c, least in zip((a, b), calls, half)):
            break
        inner = comparison.groups_within(*calls)
        if not group_facts(comparison, inner, 1):
            break
        groups = inner
        opened.append([label(t, c) for t, c in zip((a, b), calls)])
    if not opened:
        assert facts is None
        return
    assert facts["opened"] == opened
    assert facts["groups"] == groups.count
    assert facts["largest_groups"] == group_facts(comparison, groups, 1000)


@pytest.mark.parametrize("more", [0, 1])
def test_ten_groups_and_ten_functions_without_a_match_are_listed(more):
    depths, names = [1] * (20 + more), [f"f{i}" for i in range(20 + more)]
    a = plain.small_trace(depths, range(20 + more), [9] * (20 + more), names)
    b = plain.small_trace(depths[10:], range(10 + more), [9] * (10 + more), names[10:])
    facts = summary(compare(a, b, tau="0.3", identity="exact", cache=False))
    assert (facts["groups"], len(facts["largest_groups"])) == (10 + more, 10)
    assert [len(side) for side in facts["unmatched"]] == [10, 0]
    assert len(summary(compare(a, Trace(), identity="exact", cache=False))["unmatched"][0]) == 10


def test_a_histogram_is_made_of_so_many_pairs(monkeypatch):
    trace = plain.small_trace([1, 2, 2], [0, 1, 2], [9, 9, 9], ["a", "b", "c"])
    comparison = compare(trace, trace, tau="0.3", cache=False)
    pairs = len(comparison.similarity.calls_a) * len(comparison.similarity.calls_b)
    for most, known in ((pairs, True), (pairs - 1, False)):
        monkeypatch.setattr(code, "MOST_PAIRS", most)
        assert (summary(comparison)["histogram"] is not None) == known


def group(a, b, **more):
    longest = [{"duration_ns": 1000}, {"duration_ns": 2_000_000}]
    return {"functions": [a, b], "similarity": 0.5, "groups": 1, "longest": longest} | more


def test_sentences():
    facts = {
        "identity_reason": "for a reason", "measure": "jaccard", "tau": 0.3, "distinct_sets": [1200, 3],
        "set_pairs": 4000, "histogram": [{"pairs": n} for n in (0, 1, 2, 0)], "call_pairs": 5000,
        "groups": None, "groups_reason": "too many", "groups_literal": 1234, "groups_literal_reason": "",
        "matched_time": [0.5, 0.123456],
        "repetitions": [{"runs": 1000, "repeated_time": 0.1}, {"runs": 2, "repeated_time": 0.2}],
        "renamed": [{"a": "f", "b": "g", "score": 90.5}],
        "largest_groups": [group("f", "f"), group("f", "g", groups=1001)],
        "within": {"opened": [["m", "m"], ["f", "g"]], "groups": 7, "largest_groups": [group("h", "h")]},
        "unmatched": [[{"function": "p", "calls": 1, "time_ns": 1000}],
                      [{"function": "q", "calls": 2000, "time_ns": 0}]],
    }  # fmt: skip
    trace = walked_trace(1)
    assert sentences(facts, (trace, trace)) == [
        ("identity", "for a reason"),
        ("measure", "jaccard, tau 0.3"),
        ("distinct sets", "1,200 and 3"),
        ("set pairs", "4,000"),
        ("s to 0.5", "████████████ 1"),
        ("s to 1.0", "████████████████████████ 2"),
        ("call pairs", "5,000"),
        ("groups", "too many"),
        ("groups as printed", "1,234"),
        ("time that matches", "50 % and 12.35 %"),
        ("repeated runs", "1,000 and 2"),
        ("repeated time", "10 % and 20 %"),
        ("renamed", "f = g (90.5)"),
        ("largest group", "f: similarity 0.500, 1 µs and 2 ms"),
        ("largest group", "1,001 of f = g: similarity 0.500, 1 µs and 2 ms"),
        ("within", "m > f = g: 7 groups"),
        ("largest within", "h: similarity 0.500, 1 µs and 2 ms"),
        ("only in A", "p: 1 call, 1 µs"),
        ("only in B", "q: 2,000 calls, 0 ns"),
    ]
    # Two bars make a row, at whose end a bar is light that holds nothing above the threshold.
    assert histogram_rows([0, 0, 1, 0, 999, 0], 2 / 3) == [
        ("s to 0.3", " 0"), ("s to 0.7", "░ 1"), ("s to 1.0", "█" * 24 + " 999")
    ]  # fmt: skip
    assert histogram_rows([0, 0], 0.5) == [("s to 1.0", " 0")]
    assert histogram_rows([], 0.5) == []


def test_several_groups_of_two_functions_are_told_in_one_sentence() -> None:
    trace = walked_trace(1, threads=1, steps=5)
    group = {"functions": ["f", "g"], "groups": 2, "similarity": 0.5}
    group["longest"] = [{"duration_ns": 5}, {"duration_ns": 7}]
    assert code._group_sentence(group, (trace, trace)) == "2 of f = g: similarity 0.500, 5 ns and 7 ns"
    group |= {"functions": ["f", "f"], "groups": 1}
    assert code._group_sentence(group, (trace, trace)) == "f: similarity 0.500, 5 ns and 7 ns"
