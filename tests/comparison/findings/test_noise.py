"""What the machine does to times is told as such: stalls, parts that drag, a slow start. No false causes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.comparison.test_findings import found, leaf, traced
from tests.comparison.test_twin_findings import all_same, evidence_of
from tests.support.plain_findings import Plain
from tracevis3d.features.comparison.findings.counterparts import groups
from tracevis3d.features.comparison.findings.disturbances import drifts, importing, slow_start
from tracevis3d.features.comparison.findings.durations import changed, times
from tracevis3d.features.comparison.findings.ranking import NOISE, rank


def varied(seed, tree, stalls=None, slow=None, by=0.1):
    """Return a run whose times vary by a tenth, or by as much as is said.

    ``stalls`` maps a function to (which call, how long); ``slow`` maps functions to how many times as long
    they take.
    """
    chance, seen = np.random.default_rng(seed), {}

    def again(call):
        name, own, below = call
        seen[name] = seen.get(name, -1) + 1
        own = own * (slow or {}).get(name, 1) * chance.uniform(1.0, 1.0 + by)
        which, long = (stalls or {}).get(name, (-1, 0))
        return name, round(own + (long if seen[name] == which else 0)), [again(child) for child in below]

    return traced(again(tree))


def steps(n=30, extra=()):
    """Return a program that does 30 steps, and three stages after them."""
    work = [("step", 400, [leaf("read"), leaf("work"), leaf("write"), *extra]) for _ in range(n)]
    stages = [(stage, 500, [leaf(f"{stage}.{i}") for i in range(12)]) for stage in ("sort", "check", "store")]
    return ("main", 300, [*work, *stages])


def kinds(findings):
    return [(f.kind, f.functions[1]) for f in findings]


def test_a_call_that_stalled_is_no_trend():
    a, b = varied(1, steps()), varied(2, steps(), {"work": (7, 20_000)})
    stall, alike = found(a, b)
    assert (stall.kind, stall.functions[1], stall.details["trace"]) == ("stall", "work", "B")
    assert stall.details["count"] == 1
    assert stall.details["longest_ns"] == pytest.approx(20_000, rel=0.05)
    assert stall.certainty == "likely"
    assert alike.kind == "alike"
    # The same in A is no less.
    back = found(b, a)[0]
    assert (back.kind, back.details["trace"]) == ("stall", "A")
    assert back.details["change_ns"] < 0


def test_a_call_that_there_is_only_once_may_have_had_more_to_do():
    stall = found(varied(1, steps()), varied(2, steps(), {"sort": (0, 30_000)}))[0]
    assert (stall.kind, stall.functions[1], stall.certainty) == ("stall", "sort", "unsure")


def test_the_change_of_a_function_does_not_count_its_stalls():
    a = varied(1, steps())
    b = varied(2, steps(), {"work": (7, 50_000)}, {"work": 3})
    slower, stall, *_ = found(a, b)
    assert (slower.kind, slower.functions[1]) == ("slower", "work")
    assert slower.details["change_ns"] == pytest.approx(30 * 2000, rel=0.15)
    assert slower.details["median_ns"][1] == pytest.approx(3 * slower.details["median_ns"][0], rel=0.1)
    assert slower.certainty == "certain"
    assert (stall.kind, stall.functions[1]) == ("stall", "work")


def test_a_change_is_one_beyond_three_times_what_paths_usually_differ_by():
    a, told = varied(1, steps(), by=0.5), []
    for factor in np.linspace(1.3, 2.2, 19):
        evidence = evidence_of((a, varied(2, steps(), slow={"work": factor}, by=0.5)))
        plain, judged = Plain(evidence), groups(evidence)
        assert 3 * evidence.noise > np.log(1.15)
        found = times(evidence, judged)
        all_same(found, plain.times(plain.groups()))
        told.append(bool(found))
    assert told == sorted(told)
    assert {*told} == {False, True}


def test_a_stage_in_which_all_drags_is_one_finding_of_no_function():
    slow = {"sort": 2, **{f"sort.{i}": 2 for i in range(12)}}
    drift, *others = found(varied(1, steps()), varied(2, steps(), slow=slow))
    assert (drift.kind, drift.functions[1]) == ("drift", "sort")
    assert drift.details["factor"] == pytest.approx(2, rel=0.1)
    assert {f.kind for f in others} <= {"alike"}


def test_a_stall_is_no_part_of_how_a_stage_drags():
    slow = {"sort": 2, **{f"sort.{i}": 2 for i in range(12)}}
    evidence = evidence_of((varied(1, steps()), varied(2, steps(), {"sort": (0, 30_000)}, slow)))
    plain, judged = Plain(evidence), groups(evidence)
    known = np.array([g for _, of in changed(evidence, judged) for g in of.tolist()], np.int64)
    (drift,) = drifts(evidence, judged, known, importing(evidence))
    assert drift.functions[1] == "sort"
    assert 10_000 < drift.details["change_ns"] < 20_000
    all_same([drift], plain.drifts(plain.groups()))


def test_a_function_called_once_is_slower_if_all_its_stretches_are():
    a, b = varied(1, steps()), steps()
    c = traced(("main", 300, [part for call in b[2] for part in (call, 3000)]))
    told = found(a, c)[0]
    assert (told.kind, told.functions[1]) == ("slower", "main")


@pytest.mark.parametrize("calls", [15, 16, 36, 37])
def test_of_the_stretches_between_calls_one_in_twenty_may_have_stalled(calls):
    tree = steps(calls)
    slow = [part for i, call in enumerate(tree[2]) for part in (call, 90_000 if i in (3, 9) else 3000 + i)]
    evidence = evidence_of((varied(1, tree), traced(("main", 300, slow))))
    judged, expected = groups(evidence), Plain(evidence).groups()
    assert len(judged) == len(expected)
    for name in ("low", "high", "change", "ratio"):
        assert getattr(judged, name) == pytest.approx([group[name] for group in expected], abs=1e-6), name


@pytest.mark.parametrize("calls", [9, 10])
def test_of_few_calls_all_but_outliers_must_agree_on_the_ratio(calls):
    same, slow = (
        ("more", 10, [leaf("job", 1000 + 7 * i + (i >= 4) * by) for i in range(calls)]) for by in (0, 1500)
    )
    tree = steps()
    evidence = evidence_of([varied(i, (*tree[:2], [*tree[2], more])) for i, more in enumerate((same, slow))])
    judged, expected = groups(evidence), Plain(evidence).groups()
    assert judged.ratio == pytest.approx([group["ratio"] for group in expected], abs=1e-6)
    job = evidence.labels.index("job")
    (ratio,) = judged.ratio[judged.function == job]
    assert (ratio > 0.5) == (calls == 10)


@pytest.mark.parametrize("long", [1, 40])
def test_a_function_takes_longer_if_that_is_a_hundredth_of_the_run(long):
    tree = steps()
    a, b = ((*tree[:2], [*tree[2], *[leaf("job", long * 10 + i) for i in range(12)]]) for _ in range(2))
    evidence = evidence_of((varied(1, a), varied(2, b, slow={"job": 3})))
    judged = groups(evidence)
    assert [f.functions[1] for f in times(evidence, judged)] == ["job"] * (long > 1)
    all_same(times(evidence, judged), Plain(evidence).times(Plain(evidence).groups()))


@pytest.mark.parametrize("seed", range(6))
def test_runs_that_vary_and_stall_differ_by_nothing(seed):
    chance = np.random.default_rng(seed)
    names = ["step", "read", "work", "write", "main", "sort", "check.3", "store"]
    pauses = [
        {str(name): (int(chance.integers(0, 9)) if name in names[:4] else 0, int(chance.integers(2e3, 5e4)))
         for name in chance.choice(names, 4, replace=False)}
        for _ in range(2)
    ]  # fmt: skip
    slow = {"write": 1.1, "check": 1.1}
    told = found(varied(seed, steps(), pauses[0]), varied(seed + 100, steps(), pauses[1], slow))
    assert {f.kind for f in told} <= set(NOISE)


def test_what_many_functions_call_moves_nothing():
    """Both parse_endtag and add compile patterns, as others do; neither does the other's work."""
    compiled = ("compile", 900, [leaf("scan"), leaf("build")])
    users = [(f"user{i}", 100, [leaf(f"own{i}"), compiled]) for i in range(6)]
    a = ("main", 300, [*users, ("parse_endtag", 200, [compiled, leaf("tag")]), ("add", 200, [leaf("rest")])])
    b = ("main", 300, [*users, ("parse_endtag", 200, [leaf("tag")]), ("add", 200, [leaf("rest"), compiled])])
    told = found(traced(a), traced(b))
    assert "moved" not in {f.kind for f in told}
    assert {f.functions for f in told if f.kind == "alone"} == {("compile", ""), ("", "compile")}
    # What hardly anybody else calls has moved.
    told = found(
        traced(("main", 300, [("parse_endtag", 200, [compiled]), ("add", 200, [leaf("rest")])])),
        traced(("main", 300, [("parse_endtag", 200, []), ("add", 200, [leaf("rest"), compiled])])),
    )
    assert told[0].kind == "moved"
    assert told[0].certainty == "likely"


def test_as_many_calls_of_a_function_have_moved_though_others_call_it():
    users = [(f"user{i}", 100, [leaf("get"), leaf(f"own{i}")]) for i in range(6)]
    many = [leaf("get")] * 9
    a = ("main", 300, [*users, ("old", 200, many), ("new", 200, [leaf("rest")])])
    b = ("main", 300, [*users, ("old", 200, []), ("new", 200, [leaf("rest"), *many])])
    assert [f.kind for f in found(traced(a), traced(b)) if "get" in f.functions] == ["moved"]
    b[2][-1][2][-3:] = []  # six are not nine
    assert "moved" not in {f.kind for f in found(traced(a), traced(b))}


def test_what_is_called_through_another_function_of_the_same_caller_has_moved():
    users = [(f"user{i}", 200, [leaf("get"), leaf(f"own{i}")]) for i in range(6)]
    a = traced(("main", 300, [*users, ("apply", 200, [*[leaf("get", 120)] * 9, leaf("rest")])]))
    b = traced(("main", 300, [*users, ("apply", 200, [("list", 50, [leaf("get", 120)] * 7), leaf("rest")])]))
    (moved,) = [f for f in found(a, b) if f.kind not in NOISE]
    assert (moved.kind, moved.functions, moved.path[-2]) == ("moved", ("get", "list"), "apply")


def test_units_of_work_come_first_then_what_is_new():
    a = steps(10)
    b = ("main", 300, [*steps(33, extra=[leaf("new", 3000)])[2], leaf("other", 2000)])
    first, second, *_ = found(traced(a), traced(b))
    assert (first.kind, first.functions[1], first.calls) == ("repetitions", "step", (10, 33))
    assert first.details["unit"]
    assert second.details["trace"] == "B"


def test_a_root_calls_own_time_comes_last_and_noise_after_it():
    rest = [leaf(f"rest{i}") for i in range(20)]
    a = traced(("main", 20_000, [*rest, *[leaf("work", 1000)] * 20]))
    b = traced(("main", 90_000, [*rest, *[leaf("work", 2000)] * 20]))
    assert kinds(found(a, b)) == [("slower", "work"), ("slower", "main")]
    pair = varied(1, steps()), varied(2, steps(extra=[leaf("new", 50)]), {"work": (7, 200_000)})
    assert [f.kind for f in found(*pair)][-1] == "stall"
    ranks = [rank(f) for f in found(*pair)]
    assert ranks == sorted(ranks)


def imports(own, compiled=False, modules=12):
    """Return what importing modules calls, as Python's own functions are named."""

    def named(name):
        return f"{name} (<frozen importlib._bootstrap_external>:1)"

    body = [leaf(named("FileLoader.get_data"), own)]
    if compiled:
        body.append(leaf(named("SourceLoader.source_to_code"), 9000))
    return [(named("SourceFileLoader.exec_module"), 50, [*body, leaf("<module>", 700)])] * modules


def test_a_slow_start_is_one_finding_and_no_cause():
    program = [leaf(f"work{i % 7}", 900) for i in range(60)]
    a = traced(("main", 300, [*imports(800), *program]))
    b = traced(("main", 300, [*imports(5000, compiled=True), *program, leaf("rate", 900)]))
    rate, start = found(a, b)
    assert rate.functions == ("", "rate")
    assert (start.kind, start.details["start"]) == ("drift", True)
    assert (start.details["modules"], start.details["compiled"]) == (12, [0, 12])
    # Who imports more modules does something else.
    more = traced(("main", 300, [*imports(800, modules=20), *program]))
    evidence = evidence_of((a, more))
    assert slow_start(evidence, importing(evidence)) == []
    assert found(a, more)[0].kind == "repetitions"
    # What one of these functions takes is no finding, though the start as a whole is not slow.
    long = [leaf(f"work{i % 7}", 30_000) for i in range(60)]
    pair = [traced(("main", 300, [*imports(own), *long])) for own in (800, 6000)]
    assert [f.kind for f in found(*pair)] == ["alike"]


def test_what_has_no_match_because_of_what_it_calls_is_no_finding_of_its_own():
    """A cache is removed: the function is called as often, and calls what is below it each time."""

    def program(misses, stall):
        finds = [
            (
                "find",
                400 + (stall if i == 5 else 0),
                [("work", 300, [leaf("read"), leaf("sum")])] * (i in misses),
            )
            for i in range(30)
        ]
        stages = [(stage, 500, [leaf(f"{stage}.{i}") for i in range(12)]) for stage in ("sort", "check")]
        return ("main", 300, [*finds, *stages])

    a, b = varied(1, program({0}, 30_000)), varied(2, program(set(range(30)), 0))
    first, *others = found(a, b)
    assert (first.kind, first.functions[0]) == ("repetitions", "work")
    assert all(f.kind in NOISE for f in others)


def test_few_calls_have_to_agree():
    """Six openings of a file, each of a time of its own: the median says nothing, unless nearly all agree."""

    def run(*opened):
        # What else runs varies, too.
        rest = [leaf(f"own{i}", 5_000 + (opened[0] * (i + 1)) % 300) for i in range(12)]
        return traced(("main", 300, [*rest, *[leaf("open", time) for time in opened]]))

    def told(a, b):
        return [
            f.kind
            for f in found(run(*a), run(*b))
            if "open" in f.functions and f.kind in ("slower", "faster")
        ]

    assert told((40_000, 500, 30_000, 400, 28_000, 600), (500, 450, 700, 20_000, 600, 480)) == []
    assert told((40_000, 41_000, 39_000, 40_500, 38_000, 42_000), (900, 800, 950, 700, 600, 880)) == [
        "faster"
    ]


def test_counts_are_told_where_nothing_else_differs():
    """Three calls more among thousands are no noise, and runs that differ in them are not alike."""

    def run(times):
        return traced(("main", 300, [("batch", 10, [leaf("step", 10)] * 2000), *[leaf("send", 10)] * times]))

    (send,) = [f for f in found(run(2), run(5)) if f.kind not in ("stall", "drift", "pace")]
    assert (send.kind, send.functions, send.calls) == ("repetitions", ("send", "send"), (2, 5))
    assert [f.kind for f in found(run(2), run(2))] == ["alike"]


def test_what_a_caller_makes_alone_equally_often_is_one_finding():
    """It is told by the function that the other run never calls, though a helper takes longer."""

    def run(times):
        made = [("keep", 50, [leaf("write", 20)]), leaf("join", 500)] * times
        return traced(("main", 300, [*[leaf("join", 500)] * 3, ("deliver", 50, [leaf("count"), *made])]))

    told = [f for f in found(run(0), run(6)) if f.kind in ("alone", "only", "repetitions")]
    assert [(f.kind, f.functions[1], f.details["with"]) for f in told] == [("alone", "keep", ["join"])]


def test_what_other_callers_do_alike_is_no_other_order():
    """Five pages of other data: what one calls in A is by chance what another one calls in B."""

    def run(*sizes):
        pages = [
            ("page", 50, [("sum", 50, [leaf("add", 40)] * n), *[leaf("write", 60)] * (i + 1)])
            for i, n in enumerate(sizes)
        ]
        return traced(("main", 300, [*pages, leaf("rest", 500)]))

    assert {f.kind for f in found(run(9, 8, 7, 6), run(6, 9, 8, 7))} <= {*NOISE, "repetitions"}


def test_what_is_resumed_is_told_by_what_it_calls():
    """A generator is resumed once more than it has values, and its name says nothing."""

    def run(days, others=0):
        values = [("rows.<genexpr>", 10, [leaf("describe", 50)])] * days
        rest = [leaf("rows.<genexpr>"), *[("rows.<genexpr>", 10, [leaf("other", 50)])] * others]
        return traced(("main", 300, [*[leaf("step", 50)] * 50, ("rows", 50, [*values, *rest])]))

    first = found(run(20), run(60))[0]
    assert (first.kind, first.functions[0], first.calls) == ("repetitions", "describe", (20, 60))
    first = found(run(20, others=10), run(60, others=30))[0]  # neither makes nearly all of its calls
    assert (first.functions[0], first.calls) == ("rows.<genexpr>", (31, 91))


def test_where_more_calls_are_less_work_their_number_is_no_unit_of_it():
    """Work went elsewhere, and two short lists are made in place of a long one."""

    def run(*lists):
        made = [("list", 10, [leaf("page", 900)] * pages) for pages in lists]
        return traced(("main", 300, [*[leaf("step", 50)] * 50, ("pages", 50, made)]))

    (twice,) = [f for f in found(run(40), run(1, 1)) if f.functions[0] == "list"]
    assert not twice.details["unit"]
    assert twice.score == pytest.approx(1 / 93)  # one call more
    (units,) = [f for f in found(run(*[9] * 4), run(*[9] * 8)) if f.functions[0] == "list"]
    assert units.details["unit"]


def test_how_long_an_import_takes_is_no_stretch_of_its_own():
    """Python's functions for it drag on many paths below one: of these, a slow start alone is told."""
    loading = [f"part{i} (<frozen importlib._bootstrap_external>:1)" for i in range(12)]
    code = "SourceLoader.get_code (<frozen importlib._bootstrap_external>:1)"
    work = [leaf(f"work{i}", 900) for i in range(60)]
    for names, told in ((loading, False), ([name[:6] for name in loading], True)):
        tree = ("main", 300, [(code if not told else "code", 50, [leaf(name, 300) for name in names]), *work])
        a, b = varied(1, tree), varied(2, tree, slow=dict.fromkeys(names, 2.5))
        evidence = evidence_of((a, b))
        drift = drifts(evidence, groups(evidence), np.empty(0, np.int64), importing(evidence))
        assert [f.functions[0] for f in drift] == ["code"] * told
