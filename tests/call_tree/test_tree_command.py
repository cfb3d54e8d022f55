"""The commands that list the call tree, patterns and utilities, on a small recorded program."""

import json
from pathlib import Path

import numpy as np
import pytest

import tracevis3d as tv
from tracevis3d.cli import main

TRACE = str(Path(__file__).parents[2] / "examples" / "vt_markdown_repeat1.json.gz")


@pytest.fixture
def asked(capsys):
    def ask(*words: str):
        assert main([*words, "--quiet", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


@pytest.fixture(scope="module")
def trace():
    return tv.load(TRACE)


def test_a_window_is_a_piece_of_the_whole(asked, trace) -> None:
    whole = asked("tree", TRACE, "--levels", "3", "--count", "100000")
    assert whole["size"] == len(whole["rows"])
    assert [row["row"] for row in whole["rows"]] == list(range(1, whole["size"] + 1))
    at = whole["size"] // 2
    part = asked("tree", TRACE, "--levels", "3", "--row", str(at), "--offset", "-3", "--count", "7")
    assert part["rows"] == whole["rows"][at - 4 : at + 3]
    first = part["rows"][0]
    paths = first["path"].split(".")
    assert [link["path"] for link in part["linking"]] == [".".join(paths[:k]) for k in range(1, len(paths))]
    for row in whole["rows"]:
        call = row["call"]
        assert trace.functions.label[trace.calls.function[call]] == row["function"]
        assert trace.calls.depth[call] == row["depth"]
        assert trace.calls.extent[call] == row["calls_below"] + 1


def test_from_a_call_on_and_opened_by_hand(asked, trace) -> None:
    deep = int(trace.calls.depth.argmax())
    page = asked("tree", TRACE, "--levels", "0", "--call", str(deep), "--count", "1")
    (row,) = page["rows"]
    assert row["depth"] == trace.calls.depth[deep] == len(page["linking"]) + 1
    # The row is that of the first of equal calls in a row.
    assert row["function"] == trace.functions.label[trace.calls.function[deep]]
    closed = asked("tree", TRACE, "--levels", "0")
    opened = asked("tree", TRACE, "--levels", "0", "--open", "0")
    below = asked("tree", TRACE, "--levels", "0", "--open", "0+")
    assert closed["size"] < opened["size"] < below["size"]
    started = asked("tree", TRACE, "--levels", "1", "--path", "0.0", "--count", "1")["rows"][0]
    assert started["path"] == "0.0"


def test_filters_of_single_calls_hide_rows_and_are_counted(asked, trace) -> None:
    limit = int(np.median(trace.calls.end - trace.calls.start))
    stack = f"duration(below={limit}ns, what=call)"
    facts = asked("tree", TRACE, "--levels", "-1", "--count", "100000", "--filters", stack)
    short = trace.calls.end - trace.calls.start < limit
    assert facts["hidden_calls"] == np.count_nonzero(short)
    assert sum(row["times"] for row in facts["rows"]) >= 1
    assert not any(short[row["call"]] for row in facts["rows"])
    for row in facts["rows"][:50]:
        inside = slice(row["call"] + 1, row["call"] + 1 + row["calls_below"])
        assert row["hidden_below"] == np.count_nonzero(short[inside])
    every = asked("tree", TRACE, "--levels", "-1", "--count", "100000", "--filters", stack, "--filtered-too")
    assert any(row["filtered"] for row in every["rows"])
    assert all(short[row["call"]] == row["filtered"] for row in every["rows"])


def test_a_call_that_is_hidden_is_shown_when_it_is_gone_to(asked) -> None:
    everything = "name(pattern=.*, kind=regex)"
    assert asked("tree", TRACE, "--filters", everything)["rows"] == []
    page = asked("tree", TRACE, "--filters", everything, "--call", "5", "--count", "1")
    (row,) = page["rows"]
    assert (row["call"], row["filtered"]) == (5, True)
    assert len(page["linking"]) == row["depth"] - 1


def test_sequences_are_folded_to_rows(asked, trace) -> None:
    plain = asked("tree", TRACE, "--levels", "-1", "--count", "1000000")
    folded = asked("tree", TRACE, "--levels", "-1", "--count", "1000000", "--fold")
    assert folded["size"] == len(folded["rows"]) < plain["size"]
    sequences = [row for row in folded["rows"] if row["sequence"]]
    assert sequences
    assert not any(row["sequence"] for row in plain["rows"])
    extent, parent = trace.calls.extent, trace.calls.parent
    for at, row in enumerate(folded["rows"]):
        assert row["function"].startswith("(") or not row["sequence"]
        assert row["depth"] == row["path"].count(".") + 1
        if not row["sequence"]:
            assert row["calls_below"] == extent[row["call"]] - 1
            continue
        # Its rows are below it: they begin with its first call, and take in as many calls together.
        below = [other for other in folded["rows"][at + 1 :] if other["path"].startswith(row["path"] + ".")]
        own = [other for other in below if other["depth"] == row["depth"] + 1]
        assert own[0]["call"] == row["call"]
        assert len({int(parent[other["call"]]) for other in own}) == 1
        inside = sum((other["calls_below"] + (not other["sequence"])) * other["times"] for other in own)
        assert row["calls_below"] == inside
        if at > 500:
            break
    deep = sequences[-1]
    page = asked("tree", TRACE, "--levels", "0", "--fold", "--call", str(deep["call"]), "--count", "1")
    assert page["rows"][0]["call"] == deep["call"]


def test_sequences_of_callees_with_their_numbers(asked, trace) -> None:
    said = asked("nodes", TRACE, "--sequences", "--limit", "100000")
    sizes = said["callee_lists"]
    assert sizes["with_rules"] < sizes["with_iterations"] < sizes["callees"]
    assert said["sequences"] == len(said["rows"])
    calls = [row["calls"] for row in said["rows"]]
    assert calls == sorted(calls, reverse=True)
    written = {row["rule"]: row for row in said["rows"]}
    for row in said["rows"]:
        # What a rule stands for, from its symbols and those of the rules among them.
        parts = [
            (symbol["times"], written[symbol["rule"]]["callees"] if "rule" in symbol else 1)
            for symbol in row["symbols"]
        ]
        assert row["callees"] == sum(times * callees for times, callees in parts)
        assert row["occurrences"] >= 2
        first = trace.functions.label[trace.calls.function[row["first_call"]]]
        assert row["sequence"].lstrip("(").startswith(first)
    some = asked("nodes", TRACE, "--sequences", "--sort", "size", "--limit", "2", "--contains", "re")
    assert some["rows"][0]["callees"] >= some["rows"][1]["callees"]


def test_as_text(capsys) -> None:
    assert main(["tree", TRACE, "--count", "8", "--quiet", "--filters", "utilities"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "of them hidden" in said[0]
    assert any("below)" in line for line in said)
    assert main(["nodes", TRACE, "--patterns", "collapsed", "--limit", "3", "--quiet"]) == 0
    assert "x" in capsys.readouterr().out
    assert main(["nodes", TRACE, "--sequences", "--limit", "3", "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "in a grammar" in said
    assert " times in " in said
    assert main(["tree", TRACE, "--levels", "-1", "--fold", "--count", "300", "--quiet"]) == 0
    assert " (" in capsys.readouterr().out
    assert main(["nodes", TRACE, "--utilities", "--limit", "3", "--quiet"]) == 0
    assert "utilityhood" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--path", "x"), "is not a path of the tree"),
        (("--open", "99"), "there is no path"),
        (("--row", "999999999"), "there is no row"),
        (("--call", "999999999"), "there is no call"),
        (("--count", "-1"), "0 is the minimum"),
        (("--filters", "name(pattern=a, within=999999999)"), "there is no such call"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(words, reason, capsys) -> None:
    assert main(["tree", TRACE, *words, "--quiet"]) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert "Traceback" not in said
