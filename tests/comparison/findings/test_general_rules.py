"""Rules that came of pairs which nobody had seen: each is told by a small program of another kind."""

from __future__ import annotations

import numpy as np
import pytest

from tests.comparison.findings.test_noise import steps, varied
from tests.comparison.test_findings import found, leaf, traced
from tests.comparison.test_twin_findings import evidence_of
from tracevis3d.features.comparison.findings.counterparts import groups
from tracevis3d.features.comparison.findings.counts import new_functions
from tracevis3d.features.comparison.findings.disturbances import stalls
from tracevis3d.features.comparison.findings.order import Pairs, find_pairs, out_of_order
from tracevis3d.features.comparison.findings.ranking import NOISE
from tracevis3d.features.comparison.report.sentences import sentence
from tracevis3d.features.comparison.view.difference.headlines import headline


def causes(findings):
    return [(f.kind, f.functions) for f in findings if f.kind not in NOISE]


@pytest.mark.parametrize(("places", "told"), [((2, 5), "after 2 calls"), ((2, 2), None)])
def test_what_follows_the_same_call_in_both_is_told_by_how_many_or_not_at_all(places, told):
    """`smooth` is called again and again: "after smooth in A and after smooth in B" says nothing."""

    def run(place):
        parts = [("smooth", 100, [leaf(f"pass{i}", 500)]) for i in range(6)]
        return traced(("main", 50, [*parts[:place], leaf("summary", 900), *parts[place:]]))

    orders = [f for f in found(*map(run, places)) if f.kind == "order"]
    if told is None:
        assert not orders
        return
    (one,) = orders
    assert told in sentence(one)
    assert f"{told} of smooth in A" in headline(one)
    a, b = (sentence(one).split(f" in {side}")[0].split("after ")[-1] for side in "AB")
    assert a != b


def test_a_call_that_is_only_moved_against_moved_ones_is_in_no_other_order():
    """Its place among those that keep theirs is the same: what is said of it has to be true of them."""
    evidence = evidence_of([traced(("main", 0, [leaf("a"), leaf("b"), leaf("c")]))] * 2)
    pairs = find_pairs(evidence)
    assert len(pairs) == 4
    claimed = Pairs(pairs.a, pairs.b, pairs.node, pairs.in_order & (pairs.a != 2))
    assert not out_of_order(evidence, claimed)


def test_the_share_of_what_is_called_more_often_has_no_stalls():
    """A call stalls within what is called less often: it doesn't come before what has less to do for it."""

    def tree(n):
        return ("main", 300, [*steps()[2], *[("plan", 50, [leaf("walk", 60)] * 3)] * n, leaf("end")])

    a, b = varied(1, tree(40)), varied(2, tree(30), {"walk": (9, 30_000), "work": (3, 20_000)})
    (plan,) = [f for f in found(a, b) if f.kind == "repetitions"]
    assert plan.functions == ("plan", "plan")
    assert plan.score == pytest.approx(40 / len(a))  # ten plans less, each with three walks
    assert plan.time_ns[1] > plan.time_ns[0]  # what is told is as recorded


def test_a_long_call_is_work_where_no_machine_stalls():
    def tree(n):
        made = [("make", 60, [leaf("part", 20 if i else 40_000)]) for i in range(n)]
        return ("main", 300, [*steps()[2], *made])

    evidence = evidence_of((varied(1, tree(0)), varied(2, tree(12))))
    (made,) = [f for f in new_functions(evidence) if f.functions[1] == "make"]
    assert made.score == pytest.approx(made.time_ns[1] / evidence.most_time)


def test_a_stalled_call_of_a_that_stands_for_several_is_one():
    """B makes four times as many calls: each has a counterpart, and four of them the one that stalled."""

    def tree(n):
        return ("main", 300, [*steps()[2], *[leaf("poll", 10 + i) for i in range(n)]])

    a, b = varied(1, tree(12), {"poll": (4, 20_000)}), varied(2, tree(44))
    assert [kind for kind, _ in causes(found(a, b))] == ["repetitions"]
    evidence = evidence_of((a, b))
    (stall,) = stalls(evidence, groups(evidence), [])
    assert (stall.details["trace"], stall.details["count"]) == ("A", 1)


def test_what_is_called_more_often_for_what_moved_into_it_is_no_cause():
    """Sites are visited within `all`, no longer by the loop: `all` is resumed for each."""
    visits = [("visit", 100, [leaf("fetch", 50), leaf("parse", 80)])] * 12

    def run(inside):
        handled = [("all", 10, visits if inside else [])] + [("all", 10, [])] * (7 if inside else 1)
        return traced(
            ("main", 300, [leaf("rest")] * 20 + [("loop", 50, [*handled, *(() if inside else visits)])])
        )

    first, *_ = found(run(False), run(True))
    assert (first.kind, first.functions) == ("moved", ("visit", "visit"))
    assert not [f for f in found(run(False), run(True)) if f.functions[0] == "all"]


def test_a_wrapper_of_a_short_function_is_told_as_one():
    """A decorator round a function of no time: what counts is how often it is called."""

    def run(wrapped):
        price = ("price", 1, [leaf("toll", 1)])
        each = ("noted.call", 4, [price]) if wrapped else price
        return traced(("main", 300, [("bills", 20, [each] * 40), leaf("rest", 1_000_000), *[leaf("x")] * 50]))

    (one,) = [f for f in found(run(False), run(True)) if f.kind not in NOISE]
    assert (one.kind, one.functions, one.details["through"]) == (
        "wrapped",
        ("price", "price"),
        [[], ["noted.call"]],
    )
    assert headline(one) == "B calls price through noted.call"


@pytest.mark.parametrize(("long", "told"), [(4, False), (300, True)])
def test_a_wrapper_that_takes_long_is_a_finding_of_its_own(long, told):
    def run(wrapped):
        price = ("price", 1, [leaf("toll", 1)])
        each = ("noted.call", long, [price]) if wrapped else price
        return traced(("main", 300, [("bills", 20, [each] * 40), leaf("rest", 1_000_000), *[leaf("x")] * 50]))

    evidence = evidence_of((run(False), run(True)))
    assert (("", "noted.call") in [f.functions for f in new_functions(evidence)]) == told


def test_a_function_of_another_name_is_one_finding_wherever_it_is_called():
    def run(name):
        large = ("sum", 10, [(name, 400, [leaf("value", 50)])] * 5)
        small = ("product", 10, [(name, 1, [leaf("value", 1)])])
        return traced(("main", 300, [large, *[leaf("rest")] * 30, small, *[("x", 1, [(name, 1, [])])] * 2]))

    ((kind, names),) = causes(found(run("old"), run("new")))
    assert (kind, names) == ("renamed", ("old", "new"))


def test_what_has_no_name_and_is_dropped_is_told_by_what_it_calls():
    """A sum over parcels is kept: the expression that asks for each of them is gone."""

    def run(kept):
        load = ("load", 10, [] if kept else [("load.<genexpr>", 1, [leaf("volume", 10)])] * 30)
        return traced(("main", 300, [*[load] * 10, *[leaf("volume", 10)] * 10, *[leaf("rest")] * 30]))

    first = found(run(False), run(True))[0]
    assert (first.kind, first.functions) == ("alone", ("volume", ""))
    assert first.details["elsewhere"] == 10


def test_a_function_that_the_other_run_never_calls_is_told_once():
    """A class gets a constructor of its own; where it is called alone is no second finding."""

    def run(subclassed):
        made = ("Machine.init", 5, [leaf("state", 20)] * 6)
        made = ("Nested.init", 5, [made]) if subclassed else made
        moved = ("parse", 300, [("rare", 400, [made] * 4), *[leaf("line", 90)] * 20])
        places = [("section", 50, [moved]), ("later", 50, [])] if not subclassed else [
            ("section", 50, []), ("later", 50, [moved]),
        ]  # fmt: skip
        lists = [(name, 20, [made] * (9 if subclassed else 2)) for name in ("list", "field", "note")]
        return traced(("main", 300, [*places, *lists, *[leaf("rest")] * 30]))

    told = [f for f in found(run(False), run(True)) if "Nested.init" in f.functions]
    assert [(f.kind, f.calls) for f in told] == [("only", (0, 31))]
    # What it wraps is done by both, so that it counts by itself.
    assert told[0].score < 31 * 3 / len(run(True))


def test_what_fewer_calls_let_expect_and_never_happens_is_told():
    """A page has a list: 26 of 30 lines belong to it; of 13 lines of the other run none does."""

    def run(lines, bullets):
        read = [("line", 10, [leaf("bullet", 400)])] * bullets + [leaf("line", 10)] * (lines - bullets)
        return traced(("main", 300, [("page", 5, read), *[leaf("rest")] * 800]))

    def told(a, b):
        return {f.functions[0] for f in found(a, b) if f.kind not in NOISE}

    assert told(run(30, 26), run(13, 0)) == {"line", "bullet"}
    # Of 13 lines two had to be bullets, had they as many: that there are none says nothing.
    assert told(run(30, 4), run(13, 0)) == {"line"}


def test_no_more_time_is_saved_than_was_taken():
    """A loads one file slowly where B loads eight: what the other seven would have taken is not known."""

    def tree(n, slow, fast):
        places = [("deep", 20, [leaf("load", slow)] * n)]
        places += [(f"place{i}", 20, [leaf("load", fast)] * 2) for i in range(9)]
        return ("main", 300, [*steps()[2], *places])

    a, b = varied(1, tree(1, 60_000, 4_000)), varied(2, tree(8, 1_000, 1_000))
    evidence = evidence_of((a, b))
    judged = groups(evidence)
    name = evidence.labels.index("load")
    (group,) = [g for g in range(len(judged)) if judged.function[g] == name]
    taken = int(evidence.self_times[0][np.unique(judged.a[judged.of_pair == group])].sum())
    assert judged.change[group] < 0
    assert -judged.change[group] < 18 * 4_000 * evidence.pace < evidence.pace * taken


@pytest.mark.parametrize(("others", "told"), [(6, False), (0, True)])
def test_few_slow_calls_are_no_cause_where_the_machine_stalls_as_long(others, told):
    """Three calls of `near` take longer, and so do single calls of others."""
    many = [f"part{i}" for i in range(8)]

    def tree(near):
        return ("main", 300, [*[leaf(name) for name in many] * 20, *[leaf("near", near)] * 3])

    stalled = dict.fromkeys(many[:others], (5, 20_000))
    a, b = varied(1, tree(2_000)), varied(2, tree(9_000), stalled)
    assert bool([f for f in found(a, b) if f.kind == "slower"]) == told
