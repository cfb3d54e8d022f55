"""Matches, their counts and their time against the definitions taken word for word."""

import inspect
import threading
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support import plain_match as plain
from tracevis3d.analysis import join
from tracevis3d.analysis.sets import distinct_sets
from tracevis3d.analysis.subtrees import distinct_subtrees
from tracevis3d.cli import _parser
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.comparison.matching import defaults, similarity
from tracevis3d.features.comparison.matching import match as module
from tracevis3d.features.comparison.matching.many_traces import similarities
from tracevis3d.features.comparison.matching.match import (
    BARS,
    Comparison,
    Settings,
    compare,
    threshold,
)
from tracevis3d.features.comparison.matching.similarity import MEASURES, duration_weights
from tracevis3d.features.comparison.view.parameters import Parameters

taus = st.sampled_from(["0", "0.1", "0.25", "0.3", "0.5", "0.75", "1"])


def expected(comparison):
    a, b = comparison.traces
    measure = comparison.settings.measure
    weight = duration_weights(*comparison.sides) if measure == "duration" else None
    s = plain.similarities(a, b, comparison.identity, measure, weight)
    return s, {pair for pair, value in s.items() if value > comparison.settings.tau}


@settings(max_examples=60, deadline=None)
@given(a=plain.traces(), b=plain.traces(), tau=taus, measure=st.sampled_from(MEASURES))
def test_counts_are_those_of_the_definitions(a, b, tau, measure):
    comparison = compare(a, b, tau=tau, measure=measure, identity="exact", cache=False)
    s, matches = expected(comparison)
    assert comparison.call_pairs == len(matches)
    units_a = comparison.unit_of_a(np.arange(len(a)))
    units_b = comparison.unit_of_b(np.arange(len(b)))
    assert comparison.set_pairs == len({(units_a[u], units_b[v]) for u, v in matches})
    for u in range(len(a)):
        row = comparison.row(u)
        for v in range(len(b)):
            unit = units_b[v]
            assert Fraction(int(row.common[unit]), int(row.whole[unit])) == s[u, v]
    bars = Counter()
    for value in {(units_a[u], units_b[v]): value for (u, v), value in s.items() if value > 0}.values():
        bars[-int(-value * BARS // 1) - 1] += 1
    assert comparison.histogram.tolist() == [bars[k] for k in range(BARS)]


@settings(max_examples=60, deadline=None)
@given(a=plain.traces(), b=plain.traces(), tau=taus, measure=st.sampled_from(MEASURES))
def test_time_and_leftovers(a, b, tau, measure):
    comparison = compare(a, b, tau=tau, measure=measure, identity="exact", cache=False)
    _, matches = expected(comparison)
    for trace, side, matched in ((a, 0, {u for u, _ in matches}), (b, 1, {v for _, v in matches})):
        assert set(np.flatnonzero(comparison.matched(side))) == matched
        assert comparison.matched_time[side] == pytest.approx(plain.union_share(trace, matched), abs=1e-12)
        bare = plain.unmatched_subtrees(trace, matched)
        found = comparison.unmatched(side)
        calls = trace.calls
        assert dict(zip(found.function.tolist(), found.calls.tolist())) == Counter(
            int(calls.function[c]) for c in bare
        )
        lasted = calls.end - calls.start
        for function, took, longest in zip(found.function, found.time, found.longest):
            of = [c for c in bare if calls.function[c] == function]
            assert took == sum(lasted[c] for c in of)
            assert longest in of
            assert lasted[longest] == max(lasted[c] for c in of)
        assert sorted(-found.time) == list(-found.time)


@settings(max_examples=150, deadline=None)
@given(
    a=plain.traces(), b=plain.traces(), tau=taus, most=st.one_of(st.integers(0, 3), st.integers(0, 40)),
    chunk=st.sampled_from([1, 2, module._CHUNK]), data=st.data(),
)  # fmt: skip
def test_the_matches_between_visible_calls(a, b, tau, most, chunk, data):
    comparison = compare(a, b, tau=tau, identity="exact", cache=False)
    s, matches = expected(comparison)
    visible = [data.draw(st.lists(st.integers(0, len(t) - 1), unique=True)) if len(t) else [] for t in (a, b)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CHUNK", chunk)
        found = comparison.between(np.array(visible[0], np.int64), np.array(visible[1], np.int64), most)
    lasted = [t.calls.end - t.calls.start for t in (a, b)]

    def rank(pair):
        u, v = pair
        return -float(s[pair]) * min(lasted[0][u], lasted[1][v]), u, v

    shown = sorted((p for p in matches if p[0] in visible[0] and p[1] in visible[1]), key=rank)[:most]
    assert list(zip(found.a.tolist(), found.b.tolist())) == shown
    assert found.similarity.tolist() == [float(s[pair]) for pair in shown]


# Γ = {f0, f1, f2} and {f0, f1, f2, ..., f9}: s = 3/10 exactly, which 0.3 in binary is not.
# What 255 functions have in common fits a byte, how many they had to have does not.
@pytest.mark.parametrize(("some", "more", "tau"), [(3, 10, 0.3), (255, 510, 0.5)])
def test_a_match_needs_more_than_tau(some, more, tau):
    names = [f"f{i}" for i in range(more)]
    a, b = (plain.small_trace([1, *[2] * (n - 1)], list(range(n)), [1] * n, names) for n in (some, more))
    at = compare(a, b, tau=tau, identity="exact", cache=False)
    below = compare(a, b, tau=f"{tau - 1e-9:.9f}", identity="exact", cache=False)
    assert below.call_pairs == at.call_pairs + 1


@pytest.mark.parametrize(("weight", "pairs"), [(255, [[1, 1]]), (256, [[1, 1]])])
def test_a_function_may_weigh_more_than_a_byte(weight, pairs):
    calls = plain.small_trace([1, 2], [0, 1], [1, 1], ["f", "g"]).calls
    sets = distinct_sets(distinct_subtrees(calls))
    joined = join.SetJoin(sets, sets, 2, np.ones(2, np.int64), np.array([weight, 1]))
    (block,) = joined.blocks()
    assert joined.count_block(block, [Fraction(1, 2)]).pairs.tolist() == pairs


@pytest.mark.parametrize("kept", [join.KEPT_BYTES, 0])
def test_large_sets_and_many_blocks(kept, monkeypatch):
    """More sets than lanes, and a weight that needs more than 16 bits; lanes are kept or used again."""
    monkeypatch.setattr(join, "KEPT_BYTES", kept)
    rng = np.random.default_rng(3)
    names = [f"f{i}" for i in range(40)]

    def random_trace():
        n = 3000
        depths = np.ones(n, np.int64)
        for i in range(1, n):
            depths[i] = rng.integers(1, min(depths[i - 1] + 2, 9))
        return plain.small_trace(depths, rng.integers(0, 40, n), rng.integers(0, 99, n), names)

    a, b = random_trace(), random_trace()
    for measure in ("jaccard", "duration"):
        comparison = compare(a, b, tau="0.2", measure=measure, identity="exact", cache=False)
        found = comparison.similarity
        assert len(found.calls_a) > 600
        pairs, calls = 0, 0
        for unit in range(len(found.calls_a)):
            above = found.row(unit).above(comparison.settings.tau)
            assert comparison.counts.pairs[0, unit] == np.count_nonzero(above)
            pairs += int(np.count_nonzero(above))
            calls += int(found.calls_a[unit]) * int(found.calls_b[above].sum())
        assert (comparison.set_pairs, comparison.call_pairs) == (pairs, calls)
        whole = np.concatenate([found.row(u).share() for u in range(len(found.calls_a))])
        assert comparison.histogram.sum() == np.count_nonzero(whole)


@pytest.mark.parametrize("tau", ["-0.1", "1.1", "x", "nan", "0.1234567891", "1/0"])
def test_tau_is_checked(tau):
    with pytest.raises(UsageError, match="tau"):
        threshold(tau)


def test_there_is_no_such_measure(recorded):
    trace = plain.small_trace([1], [0], [1], ["f"])
    with pytest.raises(UsageError, match="cosine"):
        compare(trace, trace, measure="cosine")


def test_results_are_kept_and_used(monkeypatch, recorded):
    import tracevis3d as tv

    a, b = (tv.load(recorded / f"vt_markdown_repeat{i}.json.gz") for i in (1, 2))
    first = compare(a, b, tau="0.31")
    facts = (first.set_pairs, first.call_pairs, first.histogram.tolist(), first.groups_literal)

    def never(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(similarity.SetSimilarity, "count", never)
    monkeypatch.setattr(similarity.SetSimilarity, "hits", never)
    again = compare(a, b, tau="0.31")
    assert (again.set_pairs, again.call_pairs, again.histogram.tolist(), again.groups_literal) == facts
    with pytest.raises(AssertionError, match="computed again"):
        _ = compare(a, b, tau="0.32").set_pairs


def test_nothing_is_kept_of_a_trace_that_was_never_a_file(recorded, monkeypatch):
    import tracevis3d as tv

    trace = tv.load(recorded / "vt_markdown_repeat1.json.gz")
    other = replace(trace, source=replace(trace.source, hash=""))
    kept = []
    monkeypatch.setattr(module, "cached", lambda what, key, make: kept.append(what) or make())
    for a, b in ((trace, other), (other, trace), (other, other)):
        assert compare(a, b).set_pairs
    assert not kept
    assert compare(trace, trace).set_pairs
    assert kept


COUNTS = st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)), max_size=9)


@given(COUNTS.filter(lambda pairs: sum(a for a, _ in pairs) < 2**32))
@example([(2**32 - 1, 2**32 - 1)])
@example([(2**31, 2**31), (2**31 - 1, 2**31 - 1)])
def test_a_sum_of_products_does_not_overflow(pairs):
    left, right = (np.array([pair[i] for pair in pairs], np.int64) for i in (0, 1))
    assert module._exact_dot(left, right) == sum(a * b for a, b in pairs)


@settings(max_examples=60, deadline=None)
@given(a=plain.traces(), b=plain.traces())
def test_a_function_weighs_what_it_takes_of_the_time_of_both(a, b):
    sides = compare(a, b, identity="exact", cache=False).sides
    wanted = [Fraction(0)] * sides[0].functions
    for trace, side in zip((a, b), sides):
        own = [int(x) for x in trace.calls.end - trace.calls.start]
        for call, parent in enumerate(trace.calls.parent.tolist()):
            if parent >= 0:
                own[parent] -= int(trace.calls.end[call] - trace.calls.start[call])
        for call, function in enumerate(trace.calls.function.tolist()):
            wanted[side.of_function[function]] += Fraction(own[call], 2 * max(sum(own), 1))
    found = duration_weights(*sides).tolist()
    for weight, share in zip(found, wanted, strict=True):
        assert weight >= 1
        assert abs(weight - max(share * similarity.STEPS, 1)) <= Fraction(1, 2) + Fraction(1, 10**6)


def test_bounds_of_measures_that_look_at_classes(monkeypatch):
    names = [f"f{i}" for i in range(80)]
    chain = plain.small_trace(range(1, 81), range(80), [1] * 80, names)
    # The lists of so long a chain don't fit into the room that they begin with.
    assert compare(chain, chain, measure="multiset", cache=False).matched_time == (1.0, 1.0)
    monkeypatch.setattr(similarity, "ROOM", 1000)
    with pytest.raises(InputError, match="reach too many different functions"):
        compare(chain, chain, measure="order", cache=False)
    monkeypatch.undo()
    members = sum(range(1, 81))
    for budget, fits in ((80 * (80 + members), True), (80 * (80 + members) - 1, False)):
        monkeypatch.setattr(similarity, "BUDGET", budget)
        comparison = compare(chain, chain, measure="multiset", cache=False)
        if fits:
            assert comparison.set_pairs
        else:
            with pytest.raises(InputError, match="80 and 80 distinct subtrees"):
                _ = comparison.set_pairs


@pytest.mark.parametrize("tasks", [0, 1, 2, 3, 50])
def test_threads_give_each_result_once_in_order(tasks):
    heard = []
    found = similarity._in_threads(lambda i: i * i, list(range(tasks)), lambda done, what: heard.append(done))
    assert list(found) == [i * i for i in range(tasks)]
    assert heard == ([i / tasks for i in range(1, tasks + 1)] if tasks > 1 else [])


def test_threads_stop_where_no_result_is_wanted_any_more():
    began, stopped = [], threading.Event()

    def task(i):
        began.append(i)
        assert not i or stopped.wait(60)

    found = similarity._in_threads(task, list(range(50)), lambda done, what: None)
    next(found)
    found.close()
    stopped.set()
    similarity._pool().submit(int).result()
    # What each thread was at, and nothing that waited for its turn.
    assert set(began) <= set(range(1 + similarity.THREADS))


def test_threads_work_ahead_but_not_far():
    began = []
    found = similarity._in_threads(began.append, list(range(50)), lambda done, what: None)
    for wanted in range(1, 20):
        next(found)
        similarity._pool().submit(int).result()
        assert len(began) <= wanted + 2 * similarity.THREADS


def test_repeat_runs_match_fully(recorded):
    import tracevis3d as tv

    a, b = (tv.load(recorded / f"vt_markdown_repeat{i}.json.gz") for i in (1, 2))
    for measure in MEASURES:
        comparison = compare(a, b, measure=measure)
        assert comparison.identity.kind == "exact"
        assert comparison.matched_time == (1.0, 1.0)
        assert comparison.matched(0).all()
        assert comparison.matched(1).all()
        for call in range(0, len(a), 997):  # every call has its like
            row = comparison.row(call)
            unit = comparison.unit_of_b(np.array([call]))[0]
            assert row.common[unit] == row.whole[unit]


def test_settings_are_plain():
    trace = plain.small_trace([1], [0], [1], ["f"])
    from tracevis3d.features.comparison.matching.identity import identify

    comparison = Comparison(trace, trace, identify(trace, trace), Settings(Fraction(1, 2), "order"))
    assert comparison.call_pairs == 1


def test_python_command_line_and_view_compare_alike_where_nothing_is_said():
    for function in (compare, similarities):
        words = inspect.signature(function).parameters
        assert words["tau"].default == defaults.TAU
        assert words["measure"].default == defaults.MEASURE
        assert words["identity"].default == defaults.IDENTITY
    for line in (["match", "a", "b"], ["explain", "a", "b"], ["similarity", "a", "b"]):
        said = _parser("tracevis3d", line).parse_args(line)
        assert threshold(said.tau) == Settings().tau == threshold(defaults.TAU)
        assert (said.measure, said.identity) == (defaults.MEASURE, defaults.IDENTITY)
    view = Parameters()
    assert (view.tau, view.measure, view.identity) == (defaults.TAU, defaults.MEASURE, defaults.IDENTITY)
    assert Settings().measure == defaults.MEASURE


def test_sets_are_counted_by_several_threads_and_it_is_said_how_far_they_are(monkeypatch):
    names = [f"f{i}" for i in range(5)]
    a = plain.small_trace([1, 2, 1, 2, 1, 2, 3], [0, 1, 1, 2, 2, 3, 4], [1] * 7, names)
    thresholds = [Fraction(1, 3), Fraction(1, 2)]
    whole = compare(a, a, identity="exact", cache=False).similarity.count(thresholds)
    together = join.SetJoin.blocks

    def alone(self, *most):
        return [block[k : k + 1] for block in together(self, *most) for k in range(len(block))]

    monkeypatch.setattr(join.SetJoin, "blocks", alone)
    said = []
    found = compare(a, a, identity="exact", cache=False).similarity.count(
        thresholds, lambda share, _words: said.append(share)
    )
    for one, other in zip(whole, found, strict=True):
        np.testing.assert_array_equal(one, other)
    # The caller's thread takes every second of seven blocks.
    assert said == [0.25, 0.5, 0.75, 1.0]
