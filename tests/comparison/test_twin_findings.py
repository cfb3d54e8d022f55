"""What is reported of two traces, against a plain twin of each kind of finding and of how they are ranked."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.comparison.test_findings import found, leaf, trace_of, traced
from tests.support.plain_findings import Plain
from tests.support.plain_match import traces
from tests.support.run_pairs import any_pairs
from tests.support.synthetic import from_depths
from tracevis3d.features.comparison.findings.counterparts import groups, in_place
from tracevis3d.features.comparison.findings.counts import (
    alone,
    detours,
    new_functions,
    recursions,
    repetitions,
)
from tracevis3d.features.comparison.findings.disturbances import drifts, importing, stalls
from tracevis3d.features.comparison.findings.durations import changed, extra_times, pace, times
from tracevis3d.features.comparison.findings.evidence import Evidence, Finding, outermost, rounded
from tracevis3d.features.comparison.findings.find import (
    KINDS,
    _as_stalls,
    _expected_in_both,
    _explains,
    _from_cold_disk,
    _goes_with,
    _grouped,
    find,
)
from tracevis3d.features.comparison.findings.likeness import groups_of, most_alike
from tracevis3d.features.comparison.findings.moves import (
    _as_many,
    _total,
    add_most_similar,
    joined,
    merge_alone_into_only,
    together,
)
from tracevis3d.features.comparison.findings.order import find_pairs, offsets, out_of_order
from tracevis3d.features.comparison.findings.ranking import rank as code_rank
from tracevis3d.features.comparison.findings.stretches import stretches
from tracevis3d.features.comparison.matching.identity import Renamed
from tracevis3d.features.comparison.matching.match import compare

TAUS = st.sampled_from(["0.3", "0.5", "0.8"])


def same(one, other, where=""):
    """Assert that two findings, or parts of them, say the same; numbers as far as they are exact."""
    if isinstance(other, dict):
        assert sorted(one) == sorted(other), where
        for key in other:
            same(one[key], other[key], f"{where}.{key}")
    elif isinstance(other, list | tuple):
        assert len(one) == len(other), where
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            same(a, b, f"{where}[{i}]")
    elif where.endswith((".change_ns", ".longest_ns")):  # rounded: sums may lie on either side of a half
        assert abs(one - other) <= 1, where
    elif isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9), where
    else:
        assert one == other, where


def row(finding):
    result = {field.name: getattr(finding, field.name) for field in fields(Finding)}
    return {**result, "nodes": finding.nodes.tolist()}


def all_same(found, expected):
    same([row(finding) for finding in found], expected)


def evidence_of(pair, tau="0.3", **words):
    return Evidence(compare(*pair, tau=tau, identity="exact", cache=False, **words))


@given(any_pairs(), TAUS, st.data())
@settings(max_examples=50, deadline=None)
def test_evidence_is_that_of_the_plain_twin(pair, tau, data):
    evidence = evidence_of(pair, tau)
    plain = Plain(evidence)
    assert evidence.time == tuple(t.time for t in plain.traces)
    assert evidence.calls == tuple(t.n for t in plain.traces)
    assert (evidence.most_time, evidence.most_calls) == (plain.most_time, plain.most_calls)
    assert evidence.state.tolist() == plain.state
    assert evidence.before.tolist() == pytest.approx(plain.before)
    assert evidence.factor.tolist() == pytest.approx(plain.factor)
    assert (evidence.pace, evidence.noise) == (pytest.approx(plain.pace), pytest.approx(plain.noise))
    assert evidence.labels == plain.labels
    assert [own.tolist() for own in evidence.self_times] == [t.own for t in plain.traces]
    of_function = [[of[f] for f in range(len(plain.labels))] for of in plain.of_function]
    assert evidence.calls_of_function.tolist() == of_function
    if not plain.n:
        return
    for factor in (0.5, 2.0):  # of all
        assert evidence.share(-factor * plain.most_time, 0) == min(factor, 1)
        assert evidence.share(0, -factor * plain.most_calls) == min(factor, 1)
    nodes = sorted(data.draw(st.sets(st.integers(0, plain.n - 1))))
    same(
        {**evidence.about(np.array(nodes, np.int64)), "nodes": nodes},
        plain.about(nodes),
    )
    assert set(np.flatnonzero(evidence.within(np.array(nodes, np.int64))).tolist()) == plain.under(nodes)
    for node in nodes:
        assert evidence.way(node) == plain.way(node)
    for s, t in enumerate(plain.traces):
        heads = t.heads(nodes)
        low, high = sorted(data.draw(st.tuples(*[st.sampled_from([-1, *t.start, *t.end])] * 2)))
        for window, inside in (
            (None, heads),
            ((low, high), [i for i in heads if t.end[i] > low and t.start[i] < high]),
        ):
            longest = sorted(inside, key=lambda i: (-t.lasted[i], i))
            assert evidence.longest_calls(np.array(nodes, np.int64), s, 3, window) == longest[:3]


@given(traces(functions=2), st.data())
def test_calls_that_their_own_path_does_not_call(trace, data):
    n, paths = len(trace.calls), st.integers(0, 2)
    of = np.array(data.draw(st.lists(paths, min_size=n, max_size=n)), np.int32)
    chosen = data.draw(st.sets(paths))
    plain = [
        i for i, up in enumerate(trace.calls.parent.tolist())
        if of[i] in chosen and not (up >= 0 and of[up] == of[i])
    ]  # fmt: skip
    flags = np.array([path in chosen for path in range(3)])
    assert outermost(trace.calls, of, flags).tolist() == plain


@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_of_two_sums_of_times_the_larger_one_is_the_first(one, other):
    sizes = rounded(np.array([one, other, one + 1e-5]))
    assert (sizes[0] > sizes[1], sizes[0] == sizes[1]) == (abs(one) > abs(other), abs(one) == abs(other))
    assert sizes[0] == sizes[2]
    # Half a nanosecond is no digit that differs by chance.
    assert rounded(np.array([0.5, 0])).tolist() != [0, 0]


def renamed(name, many):
    """A function that is called so often, by any name, does the same work."""
    work = (name, 200, [leaf("x"), leaf("y"), leaf("z")])
    return traced(("main", 300, [*[work] * many, leaf("rest")]))


def with_users(*below):
    """Several functions that call something."""
    return traced(("main", 300, [(f"user{i}", 100, [leaf("own"), *below]) for i in range(5)]))


def with_some_users(many):
    """Functions that call something more or less often, some of them in two places."""
    users = [(f"user{i}", 100, [leaf("own"), *[leaf("new")] * (many * i)]) for i in range(1, 6)]
    return traced(("main", 300, [("one", 100, users), ("two", 100, users[2:4])]))


def renamed_in_one_place(name):
    """A function does the same work as another that both runs call elsewhere."""
    large = ("sum", 10, [(name, 4000, [leaf("x"), leaf("y"), leaf("z")])] * 5)
    return traced(("main", 300, [large, ("other", 900, [leaf("old"), leaf("new")]), *[leaf("rest")] * 30]))


def renamed_in_two_places(name, first, second):
    """A function is called in two places, and takes longer in one of them."""
    below = [leaf("x"), leaf("y"), leaf("z")]
    places = [("one", 10, [(name, first, below)] * 3), ("two", 10, [(name, second, below)] * 3)]
    return traced(("main", 300, places))


def among(many, others):
    """A short function is called among many others."""
    return traced(("main", 300, [*[leaf("f", 1)] * many, *[leaf("tick")] * others]))


def timeless(*held):
    """A function is called again and again, and calls so many others each time, all in no time."""
    return traced(("main", 0, [("f", 0, [leaf("x", 0)] * many) for many in held]))


def apart(many):
    """Functions are called of which none follows another."""
    return traced(
        ("main", 300, [call for i in range(22) for call in (leaf("rest"), leaf(f"n{i}"))[: 1 + (i < many)]])
    )


def resumed(many):
    """Code without a name makes nine tenths of its calls of one function."""
    values = [("row.<genexpr>", 10, [*[leaf("value")] * many, leaf("last")])] if many else []
    return traced(("main", 300, [("row", 50, [leaf("rest"), *values])]))


def in_two_places(times, first, second):
    """A function is called in two places, and takes longer in one of them."""
    places = [(name, 10, [leaf("f", own)] * times) for name, own in (("one", first), ("two", second))]
    return traced(("main", 300, places))


def through(wrappers, own=10):
    """What a function does is called through others."""
    work = ("go", own, [leaf(name, 100 * own) for name in "abcdef"])
    for name in reversed(wrappers):
        work = (name, own, [work])
    return traced(("main", 30 * own, [work, leaf("rest", 100 * own)]))


def recursing(name, times, depth, own=50):
    """A function that calls itself."""
    call = (name, own, [leaf("x", own), leaf("y", own)])
    for _ in range(depth):
        call = (name, own, [call, leaf("x", own), leaf("y", own), leaf("z", own)])
    return traced(("main", own, [("part", own, [call])] * times))


def test_what_takes_hardly_any_time_has_little_weight():
    def run(factor):
        return traced(("main", 1_000_000, [leaf(f"f{i}", 50 * factor * (i + 1) ** 2) for i in range(9)]))

    evidence = evidence_of((run(1), run(2)))
    spread = [column.tolist() for column in evidence.spread]
    nodes, ratio, weight = zip(*Plain(evidence).spread())
    assert spread[0] == list(nodes)
    assert spread[1] == pytest.approx(list(ratio))
    assert spread[2] == pytest.approx(list(weight))
    assert 0 < min(weight) < 0.0005 == max(weight)


def listed(rounds, *, once, more=0):
    """Return a run with values of a generator, by one function or by two, and code without a name twice."""
    other = [("list.<genexpr>", 10, [leaf("other") for _ in range(more)])]
    values = [("row.<genexpr>", 10, [leaf("value") for _ in range(once)])] * rounds
    return traced(
        ("main", 300, [("row", 50, [*values, leaf("row.<genexpr>")]), ("list", 9, other * (more or 1))])
    )


def calm(run, work=(), new=None, rare=(0, 0), whole=100_000, times=20):
    """A run that takes so long in all, of which some calls take so much longer than their like."""
    below = [*[leaf("work", 100)] * (times - len(work)), *[leaf("work", 100 + more) for more in work]]
    below += [leaf(f"f{i}", 1000 + 40 * i * run % 170) for i in range(12)]
    below += [*[leaf("new", 100)] * 9, leaf("new", 100 + new)] if new is not None else []
    below += [leaf("rare", 100 + (rare[1] if i == 0 else 0)) for i in range(rare[0])]
    return traced(("main", whole - sum(own for _, own, _ in below), below))


@given(any_pairs())
@example((calm(1), calm(2, [1000])))  # just a hundredth of the time
@example((calm(1, [1500]), calm(2, [1400, 1300])))  # one in twenty, and one more
@example((calm(1, [1500, 1600]), calm(2, [1400, 1300])))
@example((calm(1, [1500], times=19), calm(2, [1400, 1300], times=19)))  # one in nineteen
@example((calm(1), calm(2, [1000], new=4000)))  # four times as long as what both call
@example((calm(1), calm(2, [1000], new=4001)))
@example((calm(1, rare=(1, 0)), calm(2, rare=(10, 2000))))
@example((calm(1, rare=(1, 0)), calm(2, rare=(9, 2000))))
@example((calm(1, rare=(1, 0)), calm(2, rare=(8, 2000))))
@settings(max_examples=50, deadline=None)
def test_own_times_without_stalls(pair):
    evidence = evidence_of(pair)
    plain = Plain(evidence)
    assert [own.tolist() for own in evidence.calm_own] == [t.calm for t in plain.traces]
    assert evidence.calm_self.tolist() == plain.calm_self
    assert evidence.calm_time.tolist() == plain.calm_time


@given(any_pairs(), TAUS)
@example((listed(4, once=1), listed(12, once=1)), "0.3")
@example((listed(4, once=2, more=9), listed(12, once=2, more=0)), "0.3")
@example((renamed("old", 4), renamed("new", 9)), "0.3")
@example((with_users(), with_users(leaf("new"))), "0.3")
@example((with_some_users(0), with_some_users(1)), "0.3")
@example((among(5, 89), among(10, 89)), "0.3")
@example((apart(0), apart(22)), "0.3")
@example((resumed(0), resumed(9)), "0.3")
@example((in_two_places(4, 1000, 100), in_two_places(8, 100, 1000)), "0.3")
@example((renamed_in_one_place("old"), renamed_in_one_place("new")), "0.3")
@example((renamed_in_two_places("old", 2000, 100), renamed_in_two_places("new", 100, 2000)), "0.3")
@example((recursing("old", 1, 2), recursing("new", 2, 6)), "0.3")
@example((recursing("old", 1, 2, own=0), recursing("old", 1, 3, own=0)), "0.3")
@example((timeless(1, 1), timeless(1, 1, 1, 1, 1)), "0.3")
@example((timeless(9, 9), timeless(0, 0, 0, 0, 0)), "0.3")
@example((timeless(4, 4), timeless(1, 1, 1, 1, 1)), "0.3")  # as many calls in all
@example((timeless(3), timeless(1, 0)), "0.3")  # one more, with one fewer in all
# What has another name in one run calls its old one in the other.
@example((traced([leaf("one"), leaf("one")]), traced(("other", 9, [leaf("one"), leaf("other")]))), "0.3")
@example((through([], 0), through(["start", "safely"], 0)), "0.3")
@settings(max_examples=120, deadline=None)
def test_what_is_called_in_one_trace_alone_or_more_often(pair, tau):
    evidence = evidence_of(pair, tau)
    plain = Plain(evidence)
    all_same(repetitions(evidence), plain.repetitions())
    all_same(recursions(evidence), plain.recursions())
    all_same(alone(evidence), plain.alone())
    all_same(new_functions(evidence), plain.new_functions())
    all_same(detours(evidence), plain.detours())
    all_same(stretches(evidence), plain.stretches())


def another_name(name, more, extra=0):
    """A function is called in one place, and so many times in another."""
    large = ("sum", 10, [(name, 400, [leaf("value", 50)])] * 5)
    other = ("other", 900, [*map(leaf, "pqrst"), *[leaf(name)] * more, *[leaf("extra")] * extra])
    return traced(("main", 300, [large, other, *[leaf("rest")] * 30]))


@pytest.mark.parametrize("s", [0, 1])
def test_a_path_of_one_trace_has_the_name_that_it_has_there(s):
    evidence = evidence_of((another_name("old", 2 - 2 * s), another_name("new", 2 * s)), "0.5")
    alone = np.flatnonzero(evidence.paths.calls[1 - s] == 0)
    assert {evidence.label(int(node)) for node in alone} == {("old", "new")[s]}


def test_what_has_another_name_elsewhere_and_is_called_here_in_one_trace_alone_has_no_match():
    run = another_name
    # What is beside it without a match still has none.
    for pair in ((run("old", 2), run("new", 0)), (run("old", 1), run("new", 1, extra=1))):
        evidence = evidence_of(pair, "0.5")
        expected = Plain(evidence).stretches()
        assert len(expected) == 1
        all_same(stretches(evidence), expected)
        all_same(detours(evidence), Plain(evidence).detours())


def test_what_is_renamed_is_one_finding_with_all_its_paths():
    def run(name, *times):
        places = [(f"place{i}", 50, [leaf(name, own)] * (2 + i)) for i, own in enumerate(times)]
        return traced(("main", 300, [*places, leaf("rest")]))

    renamed = [Renamed("lock", "guard", 91.0)]
    evidence = evidence_of((run("lock", 10, 900), run("guard", 2000, 900)), renamed=renamed)
    expected = Plain(evidence).detours()
    assert [one["functions"] for one in expected] == [("lock", "guard")]
    all_same(detours(evidence), expected)


def paced(small, large=100_000, other=None):
    """Short calls, and one that takes most of the time; another function may be a root call, too."""
    main = ("main", large, [leaf(f"f{i}", small + i) for i in range(9)])
    return traced([main, leaf(other, 50)] if other else main)


def parts(run, slow=1, between=1):
    """Two parts of a run, the second of which may be slower, and one that itself runs between its calls."""

    def part(name, factor):
        # The first function is there from the beginning to the end of the part.
        every = [(k, i) for k in range(4) for i in range(7)] + [(4, 0)]
        return [leaf(f"{name}{i}", (100 + 3 * i + (i + k) * run % 5) * factor) for k, i in every]

    def within():
        # Called from here, the first function is slower still.
        return ("within", 10, [leaf("s0", round((20 + k * run % 3) * slow**1.6)) for k in range(4)])

    def gaps(k, calls=6):
        return [
            x for i in range(calls) for x in ((200 + (i + k) * run % 7) * between, leaf(f"g{i % 2}", 101 + i))
        ]

    callers = [
        ("first", 50, part("f", 1) * 3),
        ("second", 50 * slow, [*part("s", slow)[:9], within(), *part("s", slow)[9:]]),
    ]
    once = [(f"{calls} calls", 20, gaps(0, calls)) for calls in (6, 7, 8)]
    return traced(("main", 309, [*callers, ("gaps", 20, gaps(0)), ("gaps", 20, gaps(1)), *once]))


def sections(run, factors, last=8):
    """Parts of a run, each of several short functions, that take so many times as long."""
    many = [*[8] * (len(factors) - 1), last]
    callers = [
        (f"section{s}", 20, [leaf(f"{s}.{i}", round((200 + i * run % 7) * factor)) for i in range(many[s])])
        for s, factor in enumerate(factors)
    ]
    return traced(("main", 300, callers))


def around(run, slow):
    """A function and the five that it calls, the first of them at once, may all be as slow."""
    call = ("f", 2000 * slow, [leaf(f"g{i}", (1000 + i) * slow) for i in range(5)])
    return traced(
        ("main", 300, [*[call] * 4, *[leaf(f"r{i}", 1000 + 20 * (i * run % 5)) for i in range(14)]])
    )


def tiny(own):
    """Few nanoseconds."""
    return traced(("main", 40, [leaf("f", own), *[leaf(f"g{i}", 5) for i in range(6)]]))


@given(any_pairs())
@example((tiny(1), tiny(2)))
@example((traced(("main", 1, [leaf("f", 1)])), traced(("main", 2, [leaf("f", 2)]))))
@example((around(1, 1), around(2, 2)))
@example((traced(("main", 1000, [leaf("f", 500)])), traced(("main", 1200, [leaf("f", 600)]))))
@example((paced(10), paced(30)))
@example((paced(30), paced(10)))
@example((paced(10, other="gone"), paced(30, other="new")))
@example((sections(1, (1,) * 9), sections(2, (1, 1, 1, 1, 1, 1, 2, 2.3, 2.6))))
@example((sections(1, (1,) * 9, last=4), sections(2, (*[1] * 8, 2.3), last=4)))  # just enough functions
@example((sections(1, (1,) * 9, last=3), sections(2, (*[1] * 8, 2.3), last=3)))
@example((parts(1), parts(2, slow=2)))
@example((parts(1, slow=2), parts(2)))
@example((parts(1), parts(2, between=4)))
@example((parts(1, between=4), parts(2)))
@settings(max_examples=120, deadline=None)
def test_what_takes_longer(pair):
    evidence = evidence_of(pair)
    plain, judged = Plain(evidence), groups(evidence)
    extra = [plain.extra(n) for n in range(plain.n)]
    assert extra_times(evidence).tolist() == pytest.approx(extra, abs=1e-6)  # nanoseconds
    a, b = (side.tolist() for side in in_place(evidence))
    assert sorted(zip(a, b, strict=True)) == sorted(plain.in_place())
    expected = plain.groups()
    for i, group in enumerate(expected):
        of = slice(int(judged.first[i]), int(judged.first[i + 1]))
        assert list(zip(judged.a[of].tolist(), judged.b[of].tolist(), strict=True)) == group["pairs"]
        assert judged.extra[of].tolist() == pytest.approx(group["extra"], abs=1e-6)
        for name in ("function", "low", "high", "change", "ratio"):
            assert float(getattr(judged, name)[i]) == pytest.approx(group[name], abs=1e-6), name
    assert len(judged) == len(expected)
    known = np.array([g for _, of in changed(evidence, judged) for g in of.tolist()], np.int64)
    assert evidence.exact == plain.exact
    all_same(times(evidence, judged), plain.times(expected))
    stalled = plain.stalls(expected)
    all_same(stalls(evidence, judged, []), stalled)
    for one in stalled:  # what is reported of the start is not reported again
        of = np.array(one["nodes"][:1], np.int64)
        start = [Finding("drift", 0.1, ("", ""), nodes=of)]
        all_same(stalls(evidence, judged, start), plain.stalls(expected, of.tolist()))
    all_same(drifts(evidence, judged, known, importing(evidence)), plain.drifts(expected))
    all_same(pace(evidence), plain.same_pace())


def two_callers(step, own=900, more=0):
    """Two functions each call two others, in one order or in the other."""
    one, two = [leaf("a", own + 100), leaf("b", own)], [leaf("c", own - 200), leaf("d", own)]
    return traced(
        (
            "main",
            300,
            [("one", 100, one[::step]), leaf("stay"), ("two", 100, two[::step]), *[leaf("more")] * more],
        )
    )


def found_first(evidence, small=False):
    """Return what is found before it is likened, ranked; ``small``: all that is counted."""
    judged, pairs = groups(evidence), find_pairs(evidence)
    known = np.array([g for _, of in changed(evidence, judged) for g in of.tolist()], np.int64)
    stalled = stalls(evidence, judged, [])
    every = [
        *stretches(evidence), *new_functions(evidence), *alone(evidence), *repetitions(evidence),
        *recursions(evidence), *offsets(evidence, pairs),
        *(f for f in times(evidence, judged) if not _as_stalls(f, stalled)),
        *out_of_order(evidence, pairs),
        *detours(evidence), *pace(evidence), *drifts(evidence, judged, known, importing(evidence)),
        *stalled,
    ]  # fmt: skip
    assert not len(importing(evidence))  # nothing is imported here
    least = {"only": 0.0005, "renamed": 0.0005, "wrapped": 0.0005, "order": 0.001}
    least |= {"alone": 0.002, "repetitions": 0.002}
    if small:
        return sorted((f for f in every if f.kind in least and f.score > 0), key=rank)
    return sorted((f for f in every if f.score >= least.get(f.kind, 0.01)), key=rank)


def rank(f):
    first = tuple(float(n) for n in f.nodes[:1])
    if f.kind in ("pace", "drift", "stall", "alike"):
        return (1, f.kind == "alike", -f.score, *first)
    weight = {"repetitions": 5, "order": 3, "offset": 1, "renamed": 1, "wrapped": 1}.get(f.kind, 10)
    if f.kind in ("slower", "faster"):
        weight = 1 if len(f.path) > 1 else 0.1
    return (0, 0, -(50 if f.details.get("unit") else weight) * f.score, *first)


@given(
    st.sampled_from(list(KINDS)), st.floats(0, 1), st.sampled_from([(), ("main",), ("main", "work")]),
    st.sampled_from([{}, {"unit": True}, {"unit": False}]), st.lists(st.integers(0, 9), max_size=2),
)  # fmt: skip
def test_the_rank_of_a_finding_follows_from_what_it_says(kind, score, path, details, nodes):
    finding = Finding(kind, score, ("", ""), path, details=details, nodes=np.array(nodes, np.int64))
    assert code_rank(finding) == rank(finding)


def test_what_has_nothing_in_common_is_never_the_most_alike():
    """However little the best has in common, and however long other calls are."""

    def run(*roots):
        names = ["long", "small", "both", "large", *[f"f{i}" for i in range(20)]]
        function = np.array([names.index(name) for name in roots], np.int32)
        depth = np.where(np.isin(function, [0, 1, 3]), 1, 2).astype(np.int32)
        own = np.where(function == 0, 9000, 10)
        return trace_of(from_depths(depth, function, np.zeros(len(roots), np.int64), own), names)

    few, many = ["long", "small", "both"], ["small", "both", "large", "both", *[f"f{i}" for i in range(20)]]
    for pair, trace in (((run(*few), run(*many)), 1), ((run(*many), run(*few)), 0)):
        (best,) = most_alike(evidence_of(pair, "0.01"), trace, [2])
        assert (best["function"], best["call"]) == ("small", 1)
        assert best["similarity"] == pytest.approx(1 / 23)


def test_a_finding_is_about_nothing_but_what_it_says():
    one = Finding("pace", 0.5, ("", ""))
    assert one.calls == one.time_ns == one.below == (0, 0)
    assert (one.examples, one.ranges, one.group, one.path) == ((-1, -1), (None, None), None, ())
    assert (one.certainty, one.details, one.nodes.tolist()) == ("certain", {}, [])


def test_the_group_of_a_pair_of_calls():
    same = two_callers(1), two_callers(1)
    assert groups_of(evidence_of(same), [(0, 0), (2, 2)]) == [(0, 0), (0, 0)]
    # Nothing is more alike than all of it.
    assert groups_of(evidence_of(same, "1"), [(0, 0)]) == [None]
    assert groups_of(evidence_of(same), []) == []


def test_a_finding_is_in_the_group_of_its_calls_or_of_the_most_similar_one():
    run = traced([("f", 9, [leaf("x"), leaf("y")]), ("g", 9, [leaf("p"), leaf("q")])])
    evidence = evidence_of((run, run))
    for examples, best, group in (
        ((0, 0), None, (0, 0)), ((3, 3), 0, (3, 3)), ((3, -1), 3, (3, 3)), ((-1, 3), 3, (3, 3)),
        ((0, -1), 3, None), ((-1, 0), 3, None), ((0, -1), 0, (0, 0)), ((0, -1), None, None),
    ):  # fmt: skip
        details = {} if best is None else {"most_alike": {"call": best}}
        finding = Finding("only", 0.1, ("", ""), examples=examples, details=details)
        assert [f.group for f in _grouped(evidence, [finding])] == [group]


def worked(old, new):
    """Two functions call a third one, which nothing else calls."""
    work = [("work", 100, [leaf("part", 10)])]
    callers = [("old", 200, work * old), ("new", 200, work * new)]
    return traced(("main", 300, [*callers, *[leaf(f"rest{i}") for i in range(3)]]))


def elsewhere(here, there, more=0, own=1000):
    """A function is called in one place, in another, and in a third, where it may take longer."""
    calls = [("here", 50, [leaf("part")] * here), ("third", 50, [leaf("part", own)] * (4 + more))]
    return traced(("main", 300, [*calls, ("there", 50, [leaf("other"), *[leaf("part")] * there])]))


def taken_over(there):
    """What two functions call is called by a third instead."""
    work, more = ("work", 200, [leaf("x", 10), leaf("y", 10)]), ("more", 200, [leaf("z", 10), leaf("w", 10)])
    callers = [("one", 50, [work, work, more]), ("two", 50, [work]), ("third", 50, [])]
    if there:
        callers = [("one", 50, []), ("two", 50, []), ("third", 50, [work, work, work, more])]
    return traced(("main", 300, [*callers, *[leaf(f"rest{i}") for i in range(3)]]))


def moved_beside(there, place):
    """What one function calls another calls instead; a third is called here and there as often."""
    ticks = {
        "here": [leaf("tick")] * (4 if there else 10),
        "third": [leaf("tick", 3000)] * (10 if there else 4),
    }
    work = ("work", 200, [leaf("x", 10), leaf("y", 10)])
    callers = [
        ("one", 50, [*([] if there else [work] * 3), *(ticks["here"] if place == "one" else [])]),
        ("two", 50, [work] * 3 if there else []),
        ("far", 50, [] if place == "one" else ticks["here"]),
        ("third", 50, ticks["third"]),
    ]
    return traced(("main", 300, callers))


def rooted(other):
    """A run, or a part of it by itself, in a function of another name."""
    if other:
        return traced(("other", 300, [leaf("x"), leaf("y")]))
    return traced(("one", 300, [("f", 10, [leaf("x"), leaf("y")]), *[leaf(f"g{i}") for i in range(8)]]))


def beside(*more):
    """A function may call some others, which take longer and longer but for the last."""
    times = {"a": 100, "b": 2000, "c": 500, "new": 900, "newer": 1500}
    known = [leaf(name, times[name]) for name in "abc"]
    here = [leaf("x"), *[leaf(name, times[name]) for name in more]]
    return traced(("main", 300, [("here", 50, here), ("there", 50, known)]))


@given(any_pairs(), TAUS)
@example((moved_beside(False, "one"), moved_beside(True, "one")), "0.3")
@example((moved_beside(False, "far"), moved_beside(True, "far")), "0.3")
@example((rooted(False), rooted(True)), "0.3")
@example((rooted(True), rooted(False)), "0.3")
@example((taken_over(False), taken_over(True)), "0.3")
@example((taken_over(True), taken_over(False)), "0.3")
@example((elsewhere(10, 0), elsewhere(4, 6)), "0.3")
@example((elsewhere(6, 0), elsewhere(2, 3)), "0.3")  # a tenth fewer in all
@example((elsewhere(10, 0), elsewhere(4, 2, 4)), "0.3")
@example((elsewhere(10, 0), elsewhere(4, 3, 3)), "0.3")
@example((elsewhere(10, 0, 36), elsewhere(4, 3, 39)), "0.3")
@example((elsewhere(10, 0, own=3000), elsewhere(4, 1, 6, own=3000)), "0.3")
@example((beside(), beside("a", "b", "c")), "0.3")
@example((beside(), beside("a", "new", "b", "newer", "c")), "0.3")
@example((elsewhere(4, 6), elsewhere(10, 0)), "0.3")
@example((elsewhere(10, 0), elsewhere(2, 6)), "0.3")
@example((worked(13, 0), worked(0, 4)), "0.3")
@example((worked(13, 0), worked(0, 5)), "0.3")
@example((worked(12, 0), worked(0, 4)), "0.3")
@settings(max_examples=120, deadline=None)
def test_what_was_moved(pair, tau):
    evidence = evidence_of(pair, tau)
    plain, found = Plain(evidence), found_first(evidence)
    alike = add_most_similar(evidence, found)
    expected = plain.add_most_similar([row(f) for f in found])
    all_same(alike, expected)
    moved, expected = joined(evidence, alike), plain.joined(expected)
    all_same(moved, expected)
    beside, expected = together(evidence, moved), plain.together(expected)
    all_same(beside, expected)
    all_same(merge_alone_into_only(beside), plain.merge_alone_into_only(expected))


@given(st.lists(
    st.tuples(
        st.sampled_from(["only", "alone"]), st.sampled_from("AB"), st.sampled_from(["f", "g"]),
        st.integers(0, 1), st.booleans(), st.integers(1, 2), st.floats(0, 1),
    ), unique_by=lambda said: said[:3], max_size=6,
))  # fmt: skip
@example([("only", "A", "f", 0, False, 2, 0.1), ("alone", "A", "f", 0, False, 1, 0.2)])
@example([("only", "A", "f", 0, False, 1, 0.1), ("alone", "A", "f", 0, False, 2, 0.2)])
@example([("only", "A", "f", 0, False, 1, 0.1), ("alone", "A", "f", 0, False, 1, 0.2)])
def test_what_is_called_by_one_alone_is_reported_once(drawn):
    found = [
        Finding(
            kind, score, (name, ""), nodes=np.arange(nodes),
            details={"trace": trace, "elsewhere": elsewhere, "with": ["h"] * has_more},
        )
        for kind, trace, name, elsewhere, has_more, nodes, score in drawn
    ]  # fmt: skip
    expected = Plain.merge_alone_into_only(None, [row(f) for f in found])
    all_same(merge_alone_into_only(found), expected)


@given(any_pairs())
@example((renamed("old", 4), renamed("new", 4)))
@settings(max_examples=50, deadline=None)
def test_a_path_with_two_names_counts_for_both(pair):
    evidence = evidence_of(pair)
    a, b = evidence.paths.function.tolist()
    ends = [{f, g} for f, g in zip(a, b, strict=True)]
    expected = [sum(f in end for end in ends) for f in range(len(evidence.labels))]
    assert _total(evidence).tolist() == expected


def test_calls_that_are_made_elsewhere_are_one_finding():
    """And not also that they are made less often in the old place."""

    def told(a, b):
        return [(f.kind, f.calls, f.path[-2]) for f in found(a, b) if "part" in f.functions]

    assert told(elsewhere(10, 0), elsewhere(4, 6)) == [("alone", (0, 6), "there")]
    assert told(elsewhere(4, 6), elsewhere(10, 0)) == [("alone", (6, 0), "there")]
    # Another number of calls in all: two facts.
    assert ("repetitions", (10, 2), "here") in told(elsewhere(10, 0), elsewhere(2, 6))


def test_calls_that_are_made_below_others_elsewhere_are_no_finding():
    def run(early, late):
        part = ("part", 100, [leaf("piece")] * 3)
        rest = [("rest", 100, [part] * 4), ("early", 50, [part] * early), leaf("more")]
        return traced(("main", 300, [*rest, ("late", 50, [("load", 50, [part, leaf("own")])] * late)]))

    told = found(run(1, 0), run(0, 1))
    assert [f.functions for f in told if f.kind != "alike"] == [("", "load")]
    # Without it, they are.
    told = found(run(1, 0), run(0, 0))
    assert ("alone", ("part", "")) in [(f.kind, f.functions) for f in told]


@given(any_pairs(), TAUS)
@settings(max_examples=120, deadline=None)
def test_what_explains_what_and_goes_with_what(pair, tau):
    evidence = evidence_of(pair, tau)
    plain, every = Plain(evidence), found_first(evidence)
    every = joined(evidence, add_most_similar(evidence, every))[:8]
    for other in every:
        for finding in every:
            assert _explains(evidence, other, finding) == plain.explains(row(other), row(finding))
            if finding.kind == other.kind == "repetitions":
                unit = replace(other, details={**other.details, "unit": True})
                for one in (unit, other):
                    assert _goes_with(one, finding) == plain.goes_with(row(one), row(finding))


@given(any_pairs(), st.data())
@settings(max_examples=60, deadline=None)
def test_what_explains_what_of_any_paths(pair, data):
    evidence = evidence_of(pair)
    plain = Plain(evidence)

    def drawn(kind):
        trace = data.draw(st.sampled_from("AB")) if kind in ("unmatched", "only", "alone") else ""
        called = np.flatnonzero(evidence.paths.calls["AB".index(trace)]) if trace else np.arange(plain.n)
        nodes = data.draw(st.sets(st.sampled_from(called.tolist()), min_size=1, max_size=4))
        about = evidence.about(np.array(sorted(nodes), np.int64))
        if trace:
            about["calls"] = tuple(n if s == trace else 0 for n, s in zip(about["calls"], "AB", strict=True))
        details = {"trace": trace} if trace else {"unit": data.draw(st.booleans())}
        if trace and data.draw(st.booleans()):
            details["elsewhere"] = data.draw(st.integers(0, 1))
        return Finding(kind, 0.1, ("", ""), details=details, **about)

    if all(evidence.paths.calls.any(axis=1)):
        kinds = ["unmatched", "moved", "moved", "only", "alone", "repetitions", "repetitions"]
        for other, finding in product([drawn(kind) for kind in kinds], repeat=2):
            assert _explains(evidence, other, finding) == plain.explains(row(other), row(finding))


def test_calls_without_a_duration_are_counted_where_they_are_made():
    """A move is explained by repetitions only if both ends lie within them, however short they are."""

    def run(*counts):
        callers = [(f"f{i}", 0, [leaf("part", 0)] * n) for i, n in enumerate(counts)]
        return traced(("main", 0, [*callers, leaf("rest", 0)]))

    evidence = evidence_of((run(1, 0), run(0, 1)))
    assert (evidence.pace, evidence.noise, evidence.most_time) == (1, 0, 1)
    labels = [evidence.way(node) for node in range(len(evidence.paths))]
    ends = np.array([labels.index(("main", name, "part")) for name in ("f0", "f1")])
    move = Finding("moved", 0.1, ("", ""), **evidence.about(ends))
    for callers in (["f0"], ["f1"], ["rest"], ["f0", "f1"]):
        nodes = np.array([labels.index(("main", name)) for name in callers])
        more = Finding("repetitions", 0.1, ("", ""), details={"unit": False}, **evidence.about(nodes))
        assert _explains(evidence, more, move) == (len(callers) == 2)
    rest = Finding("unmatched", 0.1, ("", ""), **evidence.about(np.array([labels.index(("main", "rest"))])))
    assert not _explains(evidence, rest, replace(move, kind="only", details={"trace": "A"}))


@pytest.mark.parametrize(
    ("calls", "goes"), [((8, 20), True), ((8, 21), False), ((50, 80), True), ((50, 79), False)]
)
def test_what_is_repeated_by_nearly_the_factor_of_a_unit_goes_with_it(calls, goes):
    def told(calls, unit=False):
        return Finding("repetitions", 0.1, ("", ""), calls=calls, details={"unit": unit})

    assert _goes_with(told((4, 8), unit=True), told(calls)) == goes
    assert not _goes_with(told((4, 8)), told(calls))
    assert not _goes_with(told((10, 11), unit=True), told((10, 9)))
    assert not _goes_with(told((10, 11), unit=True), told((10, 10)))
    assert not _goes_with(told((4, 8), unit=True), replace(told(calls), kind="alone"))


@pytest.mark.parametrize(("trace", "calls"), [(0, (30, 10)), (1, (10, 30))])
def test_three_expected_calls_that_are_not_made_are_no_chance(trace, calls):
    fewer = Finding("repetitions", 0.1, ("", ""), calls=calls, details={"unit": False})
    for many, expected in ((9, True), (8, False)):
        made = (many, 0) if trace == 0 else (0, many)
        for details in ({}, {"elsewhere": 0}):
            alone = Finding("alone", 0.1, ("", ""), calls=made, details=details)
            assert _expected_in_both(fewer, alone, trace) == expected
        assert not _expected_in_both(replace(fewer, details={"unit": True}), alone, trace)
        assert not _expected_in_both(fewer, replace(alone, details={"elsewhere": 1}), trace)


@pytest.mark.parametrize(
    ("one", "other", "many"),
    [(5, 5, True), (4, 4, False), (9, 10, True), (10, 9, True), (8, 9, False), (9, 8, False)],
)
def test_as_many_calls_with_as_many_below_are_the_same(one, other, many):
    def told(trace, calls, below):
        sides = [(n, 0) if trace == "A" else (0, n) for n in (calls, below)]
        return Finding("alone", 0.1, ("f", "f"), calls=sides[0], below=sides[1], details={"trace": trace})

    assert _as_many(told("A", one, 20), told("B", other, 20)) == many
    assert _as_many(told("A", 20, one), told("B", 20, other)) == many
    assert not _as_many(told("A", 20, 20), replace(told("B", 20, 20), functions=("g", "g")))


@pytest.mark.parametrize(
    ("calls", "change", "count", "longest", "total", "is_stalls"),
    [
        (2, 200, 2, 100, 300, True), (2, 201, 2, 100, 300, False), (2, 150, 2, 100, 150, True),
        (2, 151, 2, 100, 150, False), (2, 150, 1, 100, 300, False), (9, 900, 9, 100, 900, True),
        (10, 900, 10, 100, 900, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("kind", "trace"), [("slower", "B"), ("faster", "A")])
def test_few_calls_that_are_slow_as_others_stalled_are_no_finding(
    calls, change, count, longest, total, is_stalls, kind, trace
):
    sign = 1 if trace == "B" else -1
    finding = Finding(kind, 0.1, ("f", "f"), calls=(calls, calls + 1), details={"change_ns": sign * change})
    for stalled in "AB":
        details = {"trace": stalled, "count": count, "longest_ns": longest, "change_ns": sign * total}
        stall = Finding("stall", 0.1, ("", ""), details=details)
        assert _as_stalls(finding, [stall]) == (is_stalls and stalled == trace)
    assert not _as_stalls(finding, [])


@pytest.mark.parametrize(
    ("calls", "median", "factor", "is_disk"),
    [
        (9, (100, 200), 2.0, True), (10, (100, 200), 2.0, False), (9, (100, 201), 2.0, False),
        (9, (200, 100), 2.0, False), (9, (200, 100), 0.5, True), (9, (201, 100), 0.5, False),
        (9, (100, 100), 2.0, False), (9, (0, 2), 2.0, True), (9, (0.5, 2), 2.0, True), (9, (2, 0), 0.5, True),
    ],
)  # fmt: skip
def test_few_calls_that_differ_as_the_imports_do_are_the_disk(calls, median, factor, is_disk):
    finding = Finding("slower", 0.1, ("f", "f"), calls=(calls, calls + 1), details={"median_ns": median})
    start = Finding("drift", 0.1, ("", ""), details={"factor": factor})
    assert _from_cold_disk(finding, [start]) == is_disk
    assert not _from_cold_disk(finding, [])


@pytest.mark.parametrize(("change", "explained"), [(49, False), (50, True), (150, True), (151, False)])
@pytest.mark.parametrize("kind", ["slower", "faster"])
def test_a_wait_explains_its_callers_change_up_to_half_of_it(change, explained, kind):
    wait = Finding("offset", 0.1, ("", ""), details={"change_ns": change, "within": "f"})
    for cause, wanted in (("f", explained), ("g", False)):
        finding = Finding(kind, 0.1, ("", ""), details={"change_ns": 100, "cause": cause})
        assert _explains(None, wait, finding) == wanted


def somewhere(many):
    """Functions are called in a run that does much else; each may be called in one place more."""
    here = [(f"user{i}", 100, [leaf("own"), *[leaf(f"f{i}", 10)] * (many and 1)]) for i in range(5)]
    there = ("there", 100, [leaf(f"f{i}", 10) for i in range(5)])
    return traced(("main", 300, [*here, there, *[leaf("tick")] * 700]))


def busy(more):
    """A run that does much else: a function is new, one is called once more, and one far more often."""
    large = ("large", 10, [leaf("part", 10), *[leaf("other", 10)] * (300 * more)])
    few = [*[leaf("new", 10)] * more, leaf("again", 10), ("once", 10, [leaf("again", 10)] * (1 + more))]
    return traced(("main", 300, [large, *few, *[leaf("tick", 10)] * 2500]))


def worked_off(name, times):
    """A unit of work is done so often, and as often a function of this name is called."""
    work = (name, 10, [leaf("x"), leaf("y"), leaf("z")])
    test = ("test", 10, [leaf(f"part{i}", 5000) for i in range(6)])
    return traced(("main", 300, [*[test] * times, *[work] * times]))


def slight(more):
    """A run that does much else: a little comes in another order, by another name, and through another."""
    renamed = ("new" if more else "old", 0, [leaf(name, 10) for name in "xyz" for _ in range(6)])
    work = ("go", 0, [leaf(name, 10) for name in "abc" for _ in range(6)])
    below = [renamed, ("wrapper", 0, [work]) if more else work]
    steps = [leaf("p", 10), leaf("q", 10)]
    swapped = ("swap", 10, [*steps * 8, *steps[:: -1 if more else 1]])
    return traced(("main", 300, [*below, swapped, *[leaf("tick", 10)] * 2500]))


def test_ten_findings_are_reported_unless_more_are_asked_for():
    def run(many):
        callers = [(f"user{i}", 10, [leaf("own"), *[leaf(f"f{i}")] * (many * (i + 1))]) for i in range(14)]
        return traced(("main", 300, callers))

    comparison = compare(run(0), run(1), identity="exact", cache=False)
    assert [len(find(comparison, *top).found) for top in ((), (12,))] == [10, 12]


@given(any_pairs(), TAUS, st.integers(0, 12))
@example((somewhere(0), somewhere(1)), "0.3", 2)
@example((busy(0), busy(1)), "0.3", 9)
@example((slight(0), slight(1)), "0.3", 9)
@example((renamed("old", 4), renamed("new", 9)), "0.3", 9)
@example((two_callers(1), two_callers(-1, more=5)), "0.3", 9)
@example((two_callers(1), two_callers(1)), "0.3", 9)
@example((through([]), through(["start", "safely"])), "0.3", 9)
@example((rooted(False), rooted(True)), "0.3", 9)
@example((rooted(True), rooted(False)), "0.3", 9)
@example((timeless(*[3] * 10), timeless(*[3] * 4, *[2] * 8)), "0.3", 9)  # the score of a finding is 0
@example((worked_off("old", 10), worked_off("new", 20)), "0.3", 9)
@settings(max_examples=120, deadline=None)
def test_what_is_reported_and_in_which_order(pair, tau, top):
    comparison = compare(*pair, tau=tau, identity="exact", cache=False)
    result = find(comparison, top)
    evidence = result.evidence
    plain = Plain(evidence)

    def reported(worth):
        found = []
        first = joined(evidence, add_most_similar(evidence, worth))
        for f in sorted(merge_alone_into_only(together(evidence, first)), key=rank):
            if any(plain.explains(row(other), row(f)) for other in found):
                continue
            unit = next((other for other in found if plain.goes_with(row(other), row(f))), None)
            if unit:
                unit.details["with"].append(f.functions[0])
            else:
                found.append(f)
        return found

    def noise(found):
        return {f.kind for f in found} <= {"pace", "drift", "stall"}

    found = reported(found_first(evidence))
    if noise(found):
        found = [*reported(found_first(evidence, small=True))[:3], *found]
    expected = [row(f) for f in found]
    if noise(found):
        expected.append(plain.alike())
    for one in expected[:top]:
        best = one["details"].get("most_alike") or {"call": -1}
        a, b = (example if example >= 0 else best["call"] for example in one["examples"])
        one["group"] = groups_of(evidence, [(a, b)])[0] if a >= 0 and b >= 0 else None
    all_same(result.found, expected[:top])
    assert result.left_out == max(len(expected) - top, 0)
