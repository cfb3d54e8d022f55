"""The title of pictures of calls, on programs whose time is known."""

import pytest

from tests.comparison.test_findings import leaf, traced
from tests.conftest import ROOT
from tracevis3d.features.call_tree.headline import about, headline
from tracevis3d.formats import registry


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (
            ("main", 10, [("load", 10, [leaf("read", 60)]), leaf("show", 20)]),
            "read alone has 60 % of the time",
        ),
        (
            ("main", 10, [("load", 30, [leaf("read", 20), leaf("parse", 20)]), leaf("show", 20)]),
            "70 % of the time goes to load and what it calls",
        ),
        (
            ("main", 10, [leaf(name, 30) for name in "abc"]),
            "100 % of the time goes to main and what it calls",
        ),
        # What one function has beside that, if no other has about as much.
        (
            ("main", 10, [leaf("a", 36), leaf("b", 28), leaf("c", 26)]),
            "100 % of the time goes to main and what it calls; a alone has 36 %",
        ),
        (
            ("main", 10, [leaf("a", 32), leaf("b", 30), leaf("c", 28)]),
            "100 % of the time goes to main and what it calls",
        ),
        # Two fifths are most of it.
        (("main", 24, [leaf("a", 40), leaf("b", 36)]), "a alone has 40 % of the time"),
        # Of two with the same time it is the callee.
        (
            ("main", 0, [("work", 10, [leaf("a", 32), leaf("b", 30), leaf("c", 28)])]),
            "100 % of the time goes to work and what it calls",
        ),
        (
            ("main", 4, [leaf("a", 36), leaf("b", 28), leaf("c", 12), leaf("d", 8), leaf("e", 12)]),
            "100 % of the time goes to main and what it calls; a alone has 36 %",
        ),
        # Without times there is nothing but how often.
        (("main", 0, [leaf("a", 0), leaf("b", 0), leaf("a", 0)]), "a is called most: 2 times"),
        # Recursion: the time within it counts once.
        (("main", 50, [("f", 10, [("f", 10, [leaf("f", 10)])])]), "main alone has 62 % of the time"),
    ],
)
def test_where_the_time_goes(calls, said):
    trace = traced(calls)
    assert headline(trace) == said
    assert about(trace).endswith("on 1 thread")
    assert " in " in about(trace)
    trace.problems.add("no times", "line 1")
    assert " in " not in about(trace)


def test_a_root_that_names_its_thread_is_not_where_the_time_goes(tmp_path):
    stacks = tmp_path / "two.folded"
    # The other root names no thread, so that the first is read as a call.
    stacks.write_text("thread (7): main;run;work 35\nthread (7): main;run;rest 35\nidle 30\n")
    trace = registry.open_trace(stacks)
    assert "thread (7): main" in trace.functions.name
    assert headline(trace) == "70 % of the samples go to run and what it calls"


@pytest.mark.parametrize(
    ("file", "of"),
    [
        ("small.callgrind.gz", "the instructions"),
        ("words.prof", "the time"),
        ("words_315.pstats", "the samples"),
        ("go_cpu.pprof", "the samples"),
        ("go_heap.pprof", "inuse_space"),
    ],
)
def test_what_was_counted_or_measured_is_no_samples(file, of):
    said = headline(registry.open_trace(ROOT / "tests" / "data" / "profiles" / file))
    assert f"of {of}" in said, said
