"""Lists of nodes, and patterns that outlive a trace."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.analysis.test_compact import plain_key
from tests.filters.test_filters import trace_of
from tests.support import walked_traces
from tracevis3d.analysis import pattern_library
from tracevis3d.analysis.compact import compact
from tracevis3d.analysis.criteria import CRITERIA
from tracevis3d.cli import main
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.call_tree import lists, nodes
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.stack import apply, parse

ONE = trace_of("main( f( g() h() ) f( g() h() ) f( g() g() h() ) )")
TWO = trace_of("start( x( f( g() h() ) ) f( h() g() ) f( g() g() g() h() ) )")


@pytest.mark.parametrize(
    ("criterion", "calls"),
    [
        ("exact", 1),
        ("collapsed", 2),
        ("unordered", 2),
        ("set-of-children", 3),
        ("functions", 3),
        ("depth", 1),
    ],
)
def test_a_pattern_is_found_in_another_trace(tmp_path, criterion, calls) -> None:
    graph = Facts(ONE).graph
    pattern = pattern_library.promote(ONE, graph, 1, "", criterion)
    assert pattern.name == "f"
    pattern = replace(pattern, name="für f")
    pattern_library.save(pattern_library.Library((pattern,), ("g",)), tmp_path / "lib.json")
    assert "für f" in (tmp_path / "lib.json").read_text(encoding="utf-8")
    again = pattern_library.load(tmp_path / "lib.json")
    assert again == pattern_library.Library((pattern,), ("g",))
    (found,) = pattern_library.find(again.patterns, TWO, Facts(TWO).graph)
    assert found.calls == calls


@given(st.integers(0, 2**32), st.integers(2, 150), st.sampled_from(sorted(CRITERIA)))
@settings(deadline=None, max_examples=80)
def test_what_is_found_is_alike(seed, steps, criterion) -> None:
    one = walked_traces.walked_trace(seed, steps=steps, threads=1, functions=4, modules=0)
    two = walked_traces.walked_trace(seed + 1, steps=150, threads=2, functions=4, modules=0)
    if not len(one.calls):
        return
    call = seed % len(one.calls)
    pattern = pattern_library.promote(one, Facts(one).graph, call, "p", criterion)
    graph = Facts(two).graph
    (found,) = pattern_library.find([pattern], two, graph)

    def key(trace, i):
        """The subtree by names: functions are numbered in the order of the trace."""
        said = plain_key(trace.calls, i, criterion, 3)
        return _named(said, trace.functions.label, criterion == "unordered")

    wanted = key(one, call)
    expected = [i for i in range(len(two.calls)) if key(two, i) == wanted]
    assert found.calls == len(expected)
    assert set(found.nodes.tolist()) == set(graph.subtrees.of_call[expected].tolist())


def _named(key, labels, by_name):
    function, children = key
    if isinstance(children, frozenset):
        return labels[function], frozenset(
            labels[c] if isinstance(c, int) else _named(c, labels, by_name) for c in children
        )
    below = [_named(c, labels, by_name) for c in children]
    return labels[function], tuple(sorted(below)) if by_name else tuple(below)


@given(st.integers(0, 2**32), st.sampled_from(sorted(CRITERIA)), st.lists(st.integers(0, 10**6), max_size=5))
@settings(deadline=None, max_examples=30)
def test_several_patterns_are_found_as_each_alone(seed, criterion, picked) -> None:
    one = walked_traces.walked_trace(seed, steps=60, threads=1, functions=4, modules=0)
    two = walked_traces.walked_trace(seed + 1, steps=60, threads=1, functions=3, modules=0)
    if not len(one.calls):
        return
    graph, other = Facts(one).graph, Facts(two).graph
    patterns = [
        pattern_library.promote(one, graph, call % len(one.calls), f"p{i}", criterion)
        for i, call in enumerate(picked)
    ]
    together = pattern_library.find(patterns, two, other)
    for pattern, found in zip(patterns, together, strict=True):
        (alone,) = pattern_library.find([pattern], two, other)
        assert (found.pattern, found.calls) == (pattern, alone.calls)
        assert found.nodes.tolist() == alone.nodes.tolist()


def test_patterns_that_differ_in_their_children_are_kept_apart() -> None:
    graph = Facts(ONE).graph
    patterns = [pattern_library.promote(ONE, graph, call, "", "exact") for call in (1, 4, 7, 0)]
    assert [each.calls for each in pattern_library.find(patterns, ONE, graph)] == [2, 2, 1, 1]
    assert [each.calls for each in pattern_library.find(patterns, TWO, Facts(TWO).graph)] == [1, 1, 0, 0]


def test_what_is_below_three_levels_makes_no_other_pattern() -> None:
    deep = trace_of("f( a( b( c( d( ) ) ) ) )")
    pattern = pattern_library.promote(deep, Facts(deep).graph, 0, "p", "depth")
    for text, calls in (("f( a( b( x( d( ) ) ) ) )", 1), ("f( a( x( c( d( ) ) ) ) )", 0)):
        # Functions that a pattern has are looked for in the trace: all of them are there.
        trace = trace_of(f"{text} x( ) b( ) c( ) d( )")
        (found,) = pattern_library.find([pattern], trace, Facts(trace).graph)
        assert found.calls == calls, text


def test_a_pattern_takes_the_place_of_one_of_its_name_alone() -> None:
    graph = Facts(ONE).graph
    f, g, h, new = (
        pattern_library.promote(ONE, graph, call, name, "exact")
        for call, name in ((1, "f"), (2, "g"), (3, "h"), (0, "g"))
    )
    known = pattern_library.Library((f, g, h), ("u",))
    assert pattern_library.with_pattern(known, new) == pattern_library.Library((f, h, new), ("u",))


def test_bounds_of_patterns_and_libraries(tmp_path, monkeypatch) -> None:
    graph, last = Facts(ONE).graph, len(ONE.calls) - 1
    for call in (-1, last + 1):
        with pytest.raises(UsageError, match=f"there is no call {call}: they go from 0 to {last}"):
            pattern_library.promote(ONE, graph, call, "", "exact")
    assert pattern_library.promote(ONE, graph, last, "", "exact").name == "h"
    monkeypatch.setattr(pattern_library, "MOST_NODES", 3)
    pattern = pattern_library.promote(ONE, graph, 1, "", "exact")
    assert len(pattern.node) == 3
    monkeypatch.setattr(pattern_library, "MOST_NODES", 2)
    with pytest.raises(UsageError, match="more than 2 different parts"):
        pattern_library.promote(ONE, graph, 1, "", "exact")
    path = tmp_path / "new" / "folder" / "lib.json"
    pattern_library.save(pattern_library.Library((pattern,)), path)
    monkeypatch.setattr(pattern_library, "MOST_BYTES", path.stat().st_size)
    monkeypatch.setattr(pattern_library, "MOST_NODES", 3)
    assert pattern_library.load(path).patterns == (pattern,)
    monkeypatch.setattr(pattern_library, "MOST_BYTES", path.stat().st_size - 1)
    with pytest.raises(InputError, match="is larger than"):
        pattern_library.load(path)
    monkeypatch.setattr(pattern_library, "MOST_BYTES", 1000)
    library = pattern_library.Library((pattern,), ("g",))
    pattern_library.save(library, path)
    monkeypatch.setattr(pattern_library, "MOST_ENTRIES", 2)
    assert pattern_library.load(path) == library
    monkeypatch.setattr(pattern_library, "MOST_ENTRIES", 1)
    with pytest.raises(InputError, match="has more than 1 entries"):
        pattern_library.load(path)


def test_unordered_keys_compare_by_name() -> None:
    """The plain key sorts children by number; sort them by name for two traces."""
    (found,) = pattern_library.find(
        [pattern_library.promote(ONE, Facts(ONE).graph, 1, "p", "unordered")], TWO, Facts(TWO).graph
    )
    labels = [TWO.functions.label[Facts(TWO).graph.subtrees.function[c]] for c in found.nodes.tolist()]
    assert labels == ["f", "f"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not valid JSON"),
        ("[]", "this is not a pattern library"),
        ('{"format": "tracevis3d-library-1", "patterns": 3}', "must be lists"),
        ('{"format": "tracevis3d-library-1", "utilities": [3]}', "must contain names"),
        ('{"format": "tracevis3d-library-1", "patterns": [{"name": "x"}]}', "pattern 1: can't be read"),
    ],
)
def test_no_library(tmp_path, text, reason) -> None:
    (tmp_path / "lib.json").write_text(text)
    with pytest.raises(InputError, match=reason):
        pattern_library.load(tmp_path / "lib.json")


@pytest.mark.parametrize(
    "change",
    [
        {"criterion": "like"}, {"node": []}, {"node": [0, 7]}, {"edges": [[0, 1, 1]]}, {"edges": [[1, 0, 0]]},
        {"edges": [[1, 0, 10**9]]}, {"edges": [[1, 0]]}, {"node": ["a"]}, {"depth": 0},
    ],
)  # fmt: skip
def test_patterns_that_make_no_sense(tmp_path, change) -> None:
    pattern = {
        "name": "p",
        "criterion": "exact",
        "functions": ["f", "g"],
        "node": [1, 0],
        "edges": [[1, 0, 2]],
    }
    path = tmp_path / "lib.json"
    path.write_text(json.dumps({"format": "tracevis3d-library-1", "patterns": [pattern]}))
    assert len(pattern_library.load(path).patterns) == 1
    path.write_text(json.dumps({"format": "tracevis3d-library-1", "patterns": [{**pattern, **change}]}))
    with pytest.raises(InputError, match="pattern 1"):
        pattern_library.load(path)


def test_list_of_functions() -> None:
    facts = Facts(ONE)
    rows = lists.model(facts, apply(parse("name(pattern=h)"), facts)).rows(0, 10)
    assert [(r["function"], r["occurrences"], r["hidden"], r["subtrees"]) for r in rows] == [
        ("g", 4, 0, 1), ("f", 3, 0, 2), ("h", 3, 3, 1), ("main", 1, 0, 1),
    ]  # fmt: skip
    f = ONE.functions.label[:].index("f")
    result = nodes.subtree_rows(facts, f)
    assert [(r["occurrences"], r["calls"], r["shape"]) for r in result] == [
        (2, 3, "g, h"), (1, 4, "g \u00d72, h"),
    ]  # fmt: skip
    node = result[0]["subtree"]
    assert nodes.occurrences_of(facts.graph, node).tolist() == [
        i for i in range(len(ONE.calls)) if facts.graph.subtrees.of_call[i] == node
    ]
    assert isinstance(nodes.occurrences_of(facts.graph, node, 1), np.ndarray)


def test_whole_way(tmp_path, capsys) -> None:
    tv.save(ONE, tmp_path / "one.tv3")
    tv.save(TWO, tmp_path / "two.tv3")
    lib = str(tmp_path / "lib.json")
    one, two = str(tmp_path / "one.tv3"), str(tmp_path / "two.tv3")
    assert main(["library", lib, one, "--pattern", "f", "--name", "pair", "--utility", "g", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["library", lib, two, "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["patterns"] == [
        {"pattern": "pair", "criterion": "exact", "nodes": 3, "subtrees": 1, "calls": 1}
    ]
    assert main(["filter", two, "--library", f"file={lib}", "--json", "--quiet"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["hidden"], printed["filters"][0]["marked_calls"]) == (7, 6)
    assert main(["library", lib, "--remove", "pair", "--remove", "g"]) == 0
    assert "empty" in capsys.readouterr().out
    assert main(["library", lib, "--remove", "pair"]) == 2
    assert main(["library", lib, "--pattern", "f"]) == 2
    assert main(["library", lib, one, "--utility", "nobody", "--quiet"]) == 2
    for words in ([], ["--utilities"], ["--subtrees", "f"], ["--filters", "name(pattern=g)"]):
        assert main(["nodes", one, "--quiet", *words]) == 0
        assert main(["nodes", one, "--quiet", "--json", *words]) == 0
    assert main(["nodes", one, "--quiet", "--subtrees", "nobody"]) == 2


def test_sizes_of_lists_with_ever_more_folded() -> None:
    trace = trace_of("main( " + "a() b() " * 5 + "c() c() c() d() )")
    graph = compact(trace.calls, trace.threads)
    # a b a b ... c c c d: 14 one by one; c once: 12; (a b) once, c once, d: 4. The grammar is R ×5, c ×3, d
    # with R = a b: 5.
    assert nodes.list_sizes(graph) == {
        "callees": 14, "with_iterations": 12, "with_blocks": 4, "with_rules": 5
    }  # fmt: skip


def plain_functions(trace, call):
    part = range(call, call + int(trace.calls.extent[call]))
    return sorted({trace.functions.label[int(trace.calls.function[i])] for i in part})


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_the_set_of_functions_of_a_subtree_and_of_a_call(seed) -> None:
    trace = walked_traces.walked_trace(seed, steps=80, threads=2, functions=6, modules=0)
    facts = Facts(trace)
    for row in nodes.subtree_rows(facts, most=20):
        assert row["functions"] == plain_functions(trace, row["first_call"])
    for call in range(0, len(trace.calls), 7):
        rows = nodes.functions_below(trace, call)
        assert sorted(r["function"] for r in rows) == plain_functions(trace, call)
        assert sum(r["calls"] for r in rows) == trace.calls.extent[call]
    with pytest.raises(UsageError, match="there is no call"):
        nodes.functions_below(trace, len(trace.calls))


def test_functions_below_on_the_command_line(tmp_path, capsys) -> None:
    path = tmp_path / "one.json"
    event = {"ph": "X", "pid": 1, "tid": 1}
    events = [
        {**event, "ts": 0, "dur": 90, "name": "main"},
        {**event, "ts": 10, "dur": 20, "name": "read"},
        {**event, "ts": 40, "dur": 30, "name": "read"},
    ]
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    assert main(["nodes", str(path), "--below", "0", "--json", "--quiet"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(r["function"], r["calls"], r["duration_ns"]) for r in rows] == [
        ("read", 2, 50_000), ("main", 1, 90_000),
    ]  # fmt: skip
    assert main(["nodes", str(path), "--below", "0", "--quiet"]) == 0
    assert "2 calls, 50 µs in all" in capsys.readouterr().out
    assert main(["nodes", str(path), "--subtrees", "main", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["functions"] == ["main", "read"]
    assert main(["nodes", str(path), "--below", "9", "--quiet"]) == 2
