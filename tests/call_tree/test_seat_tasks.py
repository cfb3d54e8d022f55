"""The twenty tasks of SEAT's user study (thesis, Table 3), done on recorded Java programs as a person does.

Each goes the whole way, by the commands of a shell; people took 68 s on average. The traces stand in for the
study's own: OneR, J48 and a parallel run of Weka for trace3 to trace5; for trace6, with 2,409,740 calls,
OneR's is repeated until it has as many.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import tracevis3d as tv
from tracevis3d.cli import main
from tracevis3d.trace.model import Trace

ONE_R = "weka_OneR_iris_0.4M.tsv.gz"


@pytest.fixture
def asked(recorded, capsys, tmp_path_factory):
    """Return what a command prints as JSON; ``TRACE`` stands for OneR's."""

    def ask(command: str, *words: str, trace: str | Path = ONE_R):
        given = str(recorded / trace)
        assert main([command, given, *words, "--json", "--quiet"]) == 0
        return json.loads(capsys.readouterr().out)

    return ask


def rows_of(result) -> list[str]:
    return [row["function"] for row in result["rows"]]


def test_task_1_open_the_trace(asked) -> None:
    facts = asked("info")
    assert facts["calls"] == 380_314
    assert rows_of(asked("tree", "--count", "2")) == ["OneR.main", "OneR.<init>"]


def test_task_2_find_nodes_by_label_in_the_model_list_and_hide_them(asked) -> None:
    (row,) = asked("nodes", "--contains", "OneR.buildClassifier")["rows"]
    assert row["occurrences"] == 11
    stack = "name(pattern=OneR.buildClassifier)"
    (hidden,) = asked("nodes", "--contains", "OneR.buildClassifier", "--filters", stack)["rows"]
    assert hidden["hidden"] == 11
    left = asked("tree", "--levels", "5", "--count", "10000", "--filters", stack)
    assert "OneR.buildClassifier" not in rows_of(left)
    assert left["hidden_calls"] == row["calls"]


def test_task_3_restore_them(asked) -> None:
    """A filter is switched off, and the tree is what it was."""
    off = asked(
        "tree", "--levels", "5", "--count", "10000", "--filters", "!name(pattern=OneR.buildClassifier)"
    )
    assert "OneR.buildClassifier" in rows_of(off)
    assert off["rows"] == asked("tree", "--levels", "5", "--count", "10000")["rows"]


def test_task_4_hide_the_methods_of_a_class(asked, recorded, tmp_path) -> None:
    facts = asked(
        "filter", "--name", "pattern=Instances.*,kind=wildcard,what=call", "-o", str(tmp_path / "a.tv3")
    )
    left = tv.load(tmp_path / "a.tv3", cache=False)
    assert len(left.calls) == facts["shown"]
    named = {left.functions.label[f] for f in np.unique(left.calls.function).tolist()}
    assert not any(name.startswith("Instances.") for name in named)
    assert len(named) > 100


def test_task_5_search_for_methods_that_start_with_is(asked) -> None:
    facts = asked("search", r"\.is[A-Z]", "--regex", "--case", "--limit", "50")
    names = [row["name"].split("(")[0] for row in facts["functions"]]
    assert any(name.endswith("Attribute.isNominal") for name in names)
    assert all(name.split(".")[-1].startswith("is") for name in names)
    assert facts["calls"] == sum(row["calls"] for row in facts["functions"]) > 1000


def test_task_6_the_source_of_a_method(recorded) -> None:
    """Java's recorder tells no file; VizTracer's does, with the line."""
    from tracevis3d.trace.names import words_of

    trace = tv.load(recorded / "vt_markdown_repeat1.json.gz")
    (function,) = [f for f, label in enumerate(trace.functions.label) if label.endswith("Markdown.convert")]
    words = words_of(trace, function)
    assert words.file.endswith("core.py")
    assert int(trace.functions.line[function]) > 0


def test_task_7_numbers_of_nodes_and_distinct_methods(asked) -> None:
    facts = asked("info")
    assert (facts["calls"], facts["functions"], facts["distinct_subtrees"]) == (380_314, 202, 1_415)
    head = asked("nodes", "--limit", "1")
    assert (head["calls"], head["functions"], head["distinct_subtrees"]) == (380_314, 202, 1_415)


@pytest.mark.parametrize(
    ("tasks", "name"),
    [("8 and 9", "accessors"), ("10 and 11", "constructors")],
)
def test_tasks_8_to_11_apply_a_filter_and_cancel_it(asked, tasks, name) -> None:
    on, off = asked("filter", f"--{name}"), asked("filter", "--with", f"!{name}")
    assert 0 < on["hidden"] < on["calls"]
    assert on["filters"][0]["settled_calls"] == on["hidden"]
    assert (off["hidden"], off["shown"]) == (0, 380_314)


def test_task_12_detect_patterns(asked) -> None:
    rows = asked("nodes", "--patterns", "--limit", "1000")["rows"]
    assert len(rows) == 269
    (found,) = [row for row in rows if row["name"] == "Instances.instance"]
    assert (found["occurrences"], found["calls_each"]) == (47_606, 2)
    collapsed = asked("nodes", "--patterns", "collapsed", "--limit", "1000")["rows"]
    assert max(row["shapes"] for row in collapsed) > 1


STACK = "accessors(leaves=no); constructors"


def test_task_13_what_is_hidden_is_not_listed_by_default(asked) -> None:
    shown = asked("tree", "--levels", "4", "--count", "10000", "--filters", STACK, "--filtered-too")
    hidden = asked("tree", "--levels", "4", "--count", "10000", "--filters", STACK)
    assert sum(row["filtered"] for row in shown["rows"]) > 0
    assert not any(row["filtered"] for row in hidden["rows"])
    assert hidden["size"] == len(hidden["rows"]) < len(shown["rows"])


def test_task_14_show_all_callees_in_one_subtree(recorded) -> None:
    """Ctrl-click on the sign of one row; the panel's own navigation does it."""
    from tracevis3d.features.call_tree.navigation import TreeNavigation
    from tracevis3d.features.call_tree.partial_tree import ALL, PartialTree
    from tracevis3d.views import filtering

    trace = tv.load(recorded / ONE_R)
    found = filtering.listing(trace, STACK, False)
    named = trace.functions.label[:].index("Evaluation.evaluateModel")
    call = int(np.flatnonzero(trace.calls.function == named)[0])
    tree = TreeNavigation(PartialTree(found.graph, levels=ALL, filtered=found.marked), page=400)
    path, _ = tree.tree.path_of(call)
    tree.expand_to(path)
    assert tree.tree.state(path) == "~"
    before = tree.size
    tree.click(path, "sign", ctrl=True)
    assert tree.tree.state(path) == "-"
    assert tree.size > before
    children = [row for row in tree.tree.construct(path, 1, 2000).rows if row.path[:-1] == path]
    assert any(row.filtered for row in children)
    # Elsewhere it stays hidden.
    assert not any(row.filtered for row in tree.tree.construct(None, 0, 2).rows)


def test_task_15_open_three_traces(asked) -> None:
    for name in ("weka_J48_weather.tsv.gz", "weka_parallel_9t.tsv.gz", ONE_R):
        facts = asked("tree", "--count", "5", trace=name)
        assert facts["calls"] > 10_000
        assert facts["rows"]


def test_task_16_search_for_methods_and_jump_to_an_occurrence(asked) -> None:
    facts = asked("search", r"\.evaluate", "--regex", trace="weka_parallel_9t.tsv.gz")
    call = facts["first_calls"][-1]
    page = asked("tree", "--call", str(call["call"]), "--count", "3", trace="weka_parallel_9t.tsv.gz")
    assert page["rows"][0]["function"] == call["function"]
    assert page["rows"][0]["call"] == call["call"]
    assert len(page["linking"]) == call["depth"] - 1


def test_task_17_three_filters_at_once(asked) -> None:
    facts = asked("filter", "--accessors", "--polymorphic", "--patterns")
    assert [one["name"] for one in facts["filters"]] == ["accessors", "polymorphic", "patterns"]
    assert all(one["marked_calls"] > 0 for one in facts["filters"])
    assert facts["hidden"] > 0.8 * facts["calls"]


def test_task_18_only_the_very_top_levels(asked) -> None:
    stack = f"{STACK}; patterns(keep=none, size=1)"
    facts = asked("tree", "--levels", "4", "--count", "1000", "--filters", stack)
    assert 5 <= facts["size"] <= 60
    assert facts["rows"][0]["function"] == "OneR.main"


def repeated(trace: Trace, n: int) -> Trace:
    """Return a trace of ``n`` calls at least: the threads of one, over and over."""
    from dataclasses import replace

    calls, threads = trace.calls, trace.threads
    times = -(-n // len(calls))
    column = {name: np.tile(getattr(calls, name), times) for name in ("function", "depth", "extent")}
    shift = np.repeat(np.arange(times, dtype=np.int64), len(calls))
    parent = np.tile(calls.parent, times)
    later = shift * (trace.span_ns + 1)
    assert len(threads) == 1
    return Trace(
        calls=replace(
            calls,
            **column,
            parent=np.where(parent >= 0, parent + shift * len(calls), -1),
            start=np.tile(calls.start, times) + later,
            end=np.tile(calls.end, times) + later,
            thread=np.zeros(len(parent), np.int32),
            record=calls.record[:0],
        ),
        functions=trace.functions,
        threads=replace(threads, count=np.array([len(parent)])),
        containers=trace.containers,
        files=trace.files,
    )


@pytest.fixture(scope="module")
def large(recorded, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("large") / "trace6.tv3"
    tv.save(repeated(tv.load(recorded / ONE_R), 2_409_740), path)
    return path


def test_task_19_open_a_trace_of_two_million_nodes(asked, large) -> None:
    facts = asked("tree", "--levels", "-1", "--row", "1", "--count", "10", trace=large)
    assert facts["calls"] >= 2_409_740
    last = asked("tree", "--levels", "-1", "--row", str(facts["size"]), "--offset", "-9", trace=large)
    assert [row["row"] for row in last["rows"]] == list(range(facts["size"] - 9, facts["size"] + 1))


def test_task_20_the_essence_of_the_trace(asked, large) -> None:
    stack = "utilities; accessors; constructors; patterns(criterion=functions, size=1)"
    facts = asked("tree", "--levels", "4", "--count", "200", "--filters", stack, trace=large)
    assert facts["hidden_calls"] > 0.99 * facts["calls"]
    assert facts["size"] <= 80
    essence = set(rows_of(facts))
    assert {"OneR.main", "Evaluation.evaluateModel", "OneR.buildClassifier"} <= essence
    # And as a picture's drawing.
    drawing = tv.api.view("cone", tv.load(large), filters=stack, budget=60).drawing()
    assert drawing.counts["hidden_calls"] == facts["hidden_calls"]
    names = {text for group in drawing.labels if group.kind == "function" for text in group.text}
    assert any("buildClassifier" in name for name in names)
