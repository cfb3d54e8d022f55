"""The words of findings about waits: names, places in the code, titles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.waits.sync_traces import trace_of
from tracevis3d.features.waits.findings.finding import Finding, place, several, some, titles
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.trace.strings import Strings

NAMES = ["a", "b", "c", "d", "e", "f"]


@pytest.mark.parametrize(
    ("many", "listed", "spoken"),
    [
        (0, "", ""), (1, "a", "a"), (2, "a, b", "a and b"), (3, "a, b, c", "a, b and c"),
        (4, "a, b, c, d", "a, b, c and d"), (5, "a, b, c, d and 1 other", "a, b, c, d and 1 other"),
        (6, "a, b, c, d and 2 others", "a, b, c, d and 2 others"),
    ],
)  # fmt: skip
def test_of_many_names_four_are_written(many, listed, spoken):
    assert some(NAMES[:many]) == listed
    assert several(NAMES[:many]) == spoken
    more = f" and {many - 2} other{'s' * (many > 3)}" if many > 2 else ""
    assert some(NAMES[:many], 2) == ", ".join(NAMES[:many][:2]) + more


def test_a_title_ends_with_a_whole_word_outside_brackets():
    def title(sentence):
        return Finding("convoy", sentence, 0, (), (), 0, 1, 1).title

    assert title("a waits for L; b holds it") == "a waits for L"
    long = "a" * 100 + " is for the locks of all that there are"
    assert title(long) == "a" * 100 + " is for…"
    assert title("a" * 100 + " waits (b for L, c for M, d for N)") == "a" * 100 + " waits…"
    assert title(long[:110]) == long[:110]


def test_a_place_is_a_function_with_its_file_and_line_where_they_are_known():
    trace = trace_of("a 0 9 first~(/src/one.py:3)\na 1 2 second~(/src/two.py:5)\na 3 4 third")
    place_of = {label: i for i, label in enumerate(trace.functions.label)}
    assert trace.functions.file[place_of["first"]] == 0
    for label, line, wanted in (
        ("first", 3, "first (one.py:3)"), ("first", 1, "first (one.py:1)"), ("first", 0, "first"),
        ("second", 7, "second (two.py:7)"), ("second", -1, "second"), ("third", 7, "third"),
    ):  # fmt: skip
        assert place(trace, place_of[label], line) == wanted
    assert [place(trace, f, 1).split()[0] for f in range(3)] == list(trace.functions.label)
    assert place(trace, -1, 3) == ""
    # Of a package's own file its folder says which it is.
    own = replace(trace, files=Strings.of(["/src/lib/pack/__init__.py", "__init__.py"]))
    assert place(own, place_of["first"], 3) == "first (pack/__init__.py:3)"
    assert place(own, place_of["second"], 5) == "second (__init__.py:5)"


def test_a_title_is_the_point_of_the_sentence():
    short = Finding(
        "convoy", "up to 3 threads queue for L; a caused 5 ms of it; b the rest", 1, (), (), 0, 9, 1
    )
    assert short.title == "Up to 3 threads queue for L"
    assert replace(short, headline="a holds L").title == "a holds L"
    for length, cut in ((110, False), (111, True)):
        said = "waits: " + "x" * (length - 7)
        assert replace(short, sentence=said).title == ("waits" if cut else said)
    assert replace(short, sentence="y" * 200).title == "y" * 110


def test_threads_are_called_by_their_titles():
    waits = find_waits(trace_of("a 0 9 run\nb 0 9 run\nc 0 9 run"))
    assert titles(waits, [2, 0]) == [waits.trace.threads.title(2), waits.trace.threads.title(0)]


def test_a_heading_says_what_is_only_inferred():
    for how, words in (
        ("recorded", "Main holds a lock"),
        ("follows", "Main holds a lock"),
        ("inferred", "Probably: Main holds a lock"),
    ):
        found = Finding("holder", "", 1, (), (), 0, 1, 1, how=how, headline="Main holds a lock")
        assert found.heading == words
