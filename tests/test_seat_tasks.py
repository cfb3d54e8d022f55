"""The twenty tasks of SEAT's user study (thesis, Table 3), done on recorded Java programs.

People took 68 s on average for each. The traces stand in for the study's own: OneR for trace3 and trace4 of
Weka, J48 and a parallel run for the others, a generated program of 2,409,740 calls for trace6.
"""

import json

import numpy as np
import pytest

import tracevis3d as tv
from tests import synthetic
from tests.test_analysis_compact import graph_of
from tracevis3d.analysis import nodes
from tracevis3d.analysis.filters.facts import Facts
from tracevis3d.analysis.filters.listed import listed
from tracevis3d.analysis.filters.stack import HIDDEN, Applied, apply, parse
from tracevis3d.analysis.partial_tree import ALL, PartialTree
from tracevis3d.analysis.search import Query, matching_functions
from tracevis3d.cli import main
from tracevis3d.drawing.frame import Frame
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.views.cone import VIEW, Parameters


@pytest.fixture(scope="module")
def facts(recorded) -> Facts:
    """Task 1: open the trace."""
    return Facts(tv.load(recorded / "weka_OneR_iris_0.4M.tsv.gz"))


def tree_of(facts: Facts, text: str, **options) -> PartialTree:
    """Return the call tree as it is listed under a filter stack."""
    stack = parse(text)
    found = listed(stack, facts, apply(stack, facts), options.get("show_filtered", False))
    return PartialTree(found.graph, filtered=found.marked, calls=found.calls, places=found.places, **options)


def labels(facts: Facts, rows) -> list[str]:
    function = facts.graph.subtrees.function
    return [facts.trace.functions.label[function[row.node]] for row in rows]


def test_1_open(facts) -> None:
    assert len(facts.trace.calls) == 380_314


def test_2_and_3_hide_one_label_and_restore_it(facts) -> None:
    rows = nodes.function_rows(facts, sort="name")
    (row,) = [row for row in rows if row["function"] == "OneR.buildClassifier"]
    assert row["occurrences"] == 11
    stack = [Applied("name", {"pattern": "OneR.buildClassifier"})]
    tree = tree_of(facts, "name(pattern=OneR.buildClassifier)", levels=ALL)
    whole = PartialTree(facts.graph, levels=ALL)
    assert tree.size < whole.size
    (hidden,) = [
        r for r in nodes.function_rows(facts, stack, "name") if r["function"] == "OneR.buildClassifier"
    ]
    assert hidden["hidden"] == 11
    tree.filter(None)
    assert tree.size == whole.size


def test_4_hide_the_methods_of_a_class(facts) -> None:
    stack = parse("name(pattern=Instances.*, kind=wildcard)")
    left = apply(stack, facts)
    kept = facts.trace.calls.function[left.state != HIDDEN]
    assert not any(facts.trace.functions.label[f].startswith("Instances.") for f in np.unique(kept).tolist())


def test_5_search_for_methods_that_start_with_is(facts) -> None:
    found = matching_functions(facts.trace.functions, Query(r"\.is[A-Z]", "regex", case=True))
    names = [facts.trace.functions.label[f] for f in found.tolist()]
    assert "Attribute.isNominal" in names
    assert all(name.split(".")[-1].startswith("is") for name in names)
    calls = np.isin(facts.trace.calls.function, found)
    assert np.count_nonzero(calls) > 1000


def test_6_the_source_of_a_method(recorded) -> None:
    """Java's traces tell no file; VizTracer's do."""
    trace = tv.load(recorded / "vt_markdown_repeat1.json.gz")
    named = np.flatnonzero(trace.functions.line > 0)
    assert len(named) > 0.5 * len(trace.functions)
    assert trace.files[trace.functions.file[named[0]]].endswith(".py")


def test_7_numbers_of_nodes_and_methods(recorded, capsys) -> None:
    path = str(recorded / "weka_OneR_iris_0.4M.tsv.gz")
    assert main(["info", path, "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["calls"], told["functions"], told["distinct_subtrees"]) == (380_314, 202, 1_415)
    assert main(["nodes", path, "--quiet", "--limit", "1"]) == 0
    assert capsys.readouterr().out.startswith("380,314 calls of 202 functions, 1,415 distinct subtrees")


@pytest.mark.parametrize("name", ["accessors", "constructors", "patterns", "polymorphic"])
def test_8_to_12_apply_a_filter_and_cancel_it(facts, name) -> None:
    stack = [Applied(name)]
    assert apply(stack, facts).count(HIDDEN) > 0
    off = [Applied(name, on=False)]
    assert apply(off, facts).count(HIDDEN) == 0


def test_13_and_14_hidden_by_default_but_shown_in_one_subtree(facts) -> None:
    tree = tree_of(facts, "accessors(leaves=no); constructors", levels=ALL, show_filtered=True)
    whole = tree.size
    tree.show_filtered = False
    assert tree.size < whole
    named = matching_functions(facts.trace.functions, Query("Evaluation.evaluateModel"))
    call = int(np.flatnonzero(np.isin(facts.trace.calls.function, named))[0])
    path, _ = tree.path_of(call)
    tree.reveal(path)
    assert tree.state(path) == "~"
    before = tree.size
    tree.toggle_filtered(path)
    assert tree.state(path) == "-"
    assert tree.size > before
    after = tree.construct(path, 1, 400).rows
    assert any(row.filtered for row in after if row.path[:-1] == path)


def test_15_open_three_traces(recorded) -> None:
    for name in ("weka_J48_weather.tsv.gz", "weka_parallel_9t.tsv.gz", "weka_OneR_iris_0.4M.tsv.gz"):
        assert len(tv.load(recorded / name).calls) > 10_000


def test_16_search_and_jump_to_an_occurrence(facts) -> None:
    found = matching_functions(facts.trace.functions, Query(r"\.evaluate", "regex"))
    calls = np.flatnonzero(np.isin(facts.trace.calls.function, found))
    tree = PartialTree(facts.graph)
    path, iterations = tree.path_of(int(calls[-1]))
    row = tree.reveal(path)
    assert tree.path_at(row) == path
    assert tree.call(path, iterations) == calls[-1]


def test_17_three_filters_at_once(facts) -> None:
    left = apply(parse("accessors; polymorphic; patterns"), facts)
    assert [told.name for told in left.told] == ["accessors", "polymorphic", "patterns"]
    assert left.count(HIDDEN) > 0.8 * len(facts.trace.calls)


def test_18_only_the_very_top_levels(facts) -> None:
    tree = tree_of(facts, "accessors(leaves=no); constructors; patterns(keep=none, size=1)", levels=3)
    assert 5 <= tree.size <= 60


def test_19_two_million_nodes() -> None:
    calls, _, _ = synthetic.program(2_409_740)
    tree = PartialTree(graph_of(calls), levels=ALL)
    assert tree.size > 1_000_000
    page = tree.construct(None, tree.size - 10, 10)
    assert [row.number for row in page.rows] == list(range(tree.size - 10, tree.size))


def test_20_the_essence_of_the_trace(facts) -> None:
    settings = {"filters": "utilities; accessors; constructors; patterns(criterion=collapsed)", "budget": 60}
    drawing = VIEW.draw((facts.trace,), read(Parameters, settings), Frame(), silent)
    assert drawing.counts["hidden_calls"] > 0.9 * len(facts.trace.calls)
    names = {text for group in drawing.labels if group.kind == "name" for text in group.text}
    assert any("buildClassifier" in name for name in names)
    assert any("evaluateModel" in name for name in names)
