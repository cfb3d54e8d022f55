"""The grammar of a compact trace: nothing is lost, and it is one by Sequitur's definition."""

from collections import Counter
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.analysis.test_compact import graph_of
from tests.filters.test_filters import trace_of
from tests.support import synthetic
from tracevis3d.analysis import grammar as grammars
from tracevis3d.analysis.compact import CompactTrace
from tracevis3d.analysis.grammar import Grammar, grammar_of
from tracevis3d.analysis.sequences import Occurrences, words
from tracevis3d.analysis.subtrees import Subtrees
from tracevis3d.errors import Cancelled, UsageError
from tracevis3d.features.call_tree import nodes
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.sequence_list import sequences
from tracevis3d.filters.stack import HIDDEN, apply, parse
from tracevis3d.progress import Progress, silent

#: Leaf functions that lists are made of.
LEAVES = 6


@st.composite
def texts(draw) -> list[list[int]]:
    """Lists of leaves in which pieces come again: in a row, later, and in other lists."""
    found: list[list[int]] = []
    leaf = st.integers(0, draw(st.integers(0, LEAVES - 1)))
    for _ in range(draw(st.integers(1, 5))):
        text: list[int] = []
        for _ in range(draw(st.integers(0, 12))):
            before = draw(st.sampled_from([text, *found]))
            if before and draw(st.booleans()):
                low = draw(st.integers(0, len(before) - 1))
                text += before[low : low + draw(st.integers(1, 9))] * draw(st.integers(1, 4))
            else:
                text += draw(st.lists(leaf, max_size=5))
        found.append(text)
    return found


def graph_from(found: list[list[int]]) -> CompactTrace:
    """Return a graph whose classes are the leaves, then one for each list, which are its root calls."""
    degree = [0] * LEAVES + [len(text) for text in found]
    function = np.arange(len(degree), dtype=np.int32)
    none = np.zeros(len(degree), np.int64)
    child = np.array([leaf for text in found for leaf in text], np.int32)
    first = np.append(0, np.cumsum(degree))
    subtrees = Subtrees(
        np.empty(0, np.int32), function, first, child, none, none + 1, 1 + np.array(degree, np.int64)
    )
    return CompactTrace(subtrees, function[LEAVES:], np.array([0, len(found)], np.int64))


def unfolded(grammar: Grammar, owner: int) -> list[int]:
    """Return the calls of an owner one by one, straight from the definition."""
    return [
        one
        for value, times in grammar.symbols(owner)
        for _ in range(times)
        for one in ([value] if value < grammar.lists else unfolded(grammar, value))
    ]


def check_definition(grammar: Grammar) -> None:
    """Hold a grammar to the properties that make it Sequitur's."""
    digrams, uses = Counter(), Counter()
    for owner in range(len(grammar.order)):
        symbols = grammar.symbols(owner)
        assert owner < grammar.lists or len(symbols) >= 2
        for pair in pairwise(symbols):
            assert pair[0][0] != pair[1][0], "twins are one symbol"
            digrams[pair] += 1
        for value, times in symbols:
            uses[value] += times
    assert set(digrams.values()) <= {1}, "no digram occurs twice"
    assert all(uses[rule] >= 2 for rule in range(grammar.lists, len(grammar.order))), "every rule is of use"


@given(texts())
@settings(deadline=None, max_examples=200)
def test_the_lists_come_back_and_the_grammar_is_sequiturs(found) -> None:
    graph = graph_from(found)
    grammar = graph.grammar
    for i, text in enumerate(found):
        assert unfolded(grammar, LEAVES + i) == text
    back, forest = grammar.expand(), graph.forest
    for name in ("first", "child", "count"):
        assert getattr(back, name).tolist() == getattr(forest, name).tolist()
        assert getattr(back, name).dtype == getattr(forest, name).dtype
    check_definition(grammar)
    # Without the root calls, which are read last, it takes as many symbols as classes alone.
    classes = slice(0, int(forest.first[LEAVES + len(found)]))
    extent = graph.subtrees.extent
    alone = grammar_of(
        forest.first[: LEAVES + len(found) + 1], forest.child[classes], forest.count[classes], extent
    )
    assert grammar.of_callees == len(alone) == len(alone.value)
    assert sorted(grammar.order.tolist()) == list(range(len(grammar.order)))
    place = {owner: k for k, owner in enumerate(grammar.order.tolist())}
    for owner in range(len(grammar.order)):
        calls = unfolded(grammar, owner)
        assert grammar.length[owner] == len(_entries(grammar, owner))
        assert grammar.callees[owner] == len(calls)
        assert all(place[value] < place[owner] for value, _ in grammar.symbols(owner) if value != owner)


def _entries(grammar: Grammar, owner: int) -> list[tuple[int, int]]:
    """Return the edges of an owner: its leaves with how often they repeat in a row, rules unfolded."""
    found: list[tuple[int, int]] = []
    for value, times in grammar.symbols(owner):
        found += [(value, times)] if value < grammar.lists else _entries(grammar, value) * times
    return found


def _spelt(rule) -> tuple[int, ...]:
    """Return what a rule of scikit-sequitur unfolds to; marks between lists are left out."""
    found: list[int] = []
    symbol = rule.next_symbol
    while symbol is not rule:
        found += _spelt(symbol.value) if isinstance(symbol.value, type(rule)) else [symbol.value]
        symbol = symbol.next_symbol
    return tuple(found)


def _rules_of_peer(found: list[list[int]]) -> list[tuple[int, ...]]:
    """Return what each rule unfolds to that scikit-sequitur finds in lists with a mark behind each."""
    core = pytest.importorskip("sksequitur.core")
    parser = core.Parser()
    parser.feed(symbol for i, text in enumerate(found) for symbol in (*text, ("mark", i)))
    todo, rules = [parser.tree], {}
    while todo:
        rule = todo.pop()
        symbol = rule.next_symbol
        while symbol is not rule:
            inner = symbol.value
            if isinstance(inner, core.Rule) and id(inner) not in rules:
                rules[id(inner)] = inner
                todo.append(inner)
            symbol = symbol.next_symbol
    return sorted(map(_spelt, rules.values()))


@given(texts())
@settings(deadline=None, max_examples=120)
def test_where_nothing_repeats_in_a_row_it_is_the_grammar_of_scikit_sequitur(found) -> None:
    found = [[leaf for leaf, _ in groupby(text)] for text in found]
    grammar = graph_from(found).grammar
    rules = sorted(tuple(unfolded(grammar, rule)) for rule in range(grammar.lists, len(grammar.order)))
    # Labels stay once they are there: without any, no two neighbours were ever the same.
    assume((grammar.times == 1).all())
    assert rules == _rules_of_peer(found)


def test_a_loop_of_any_number_of_rounds_takes_one_symbol() -> None:
    for rounds in (2, 3, 1000, 12_345):
        grammar = graph_from([[0, 1, 2] * rounds]).grammar
        assert grammar.rules == 1
        assert grammar.symbols(grammar.lists) == [(0, 1), (1, 1), (2, 1)]
        assert grammar.symbols(LEAVES) == [(grammar.lists, rounds)]


def test_no_rule_spans_two_callers() -> None:
    assert graph_from([[0], [1], [0], [1]]).grammar.rules == 0
    grammar = graph_from([[0, 1], [0, 1]]).grammar
    assert [unfolded(grammar, rule) for rule in range(grammar.lists, len(grammar.order))] == [[0, 1]]


@given(st.integers(0, 2**32), st.integers(0, 400), st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_where_sequences_are_among_the_calls(seed: int, n: int, functions: int) -> None:
    calls = synthetic.random_calls(seed, n, functions=functions, threads=2)
    graph = graph_of(calls)
    found, of_call = Occurrences(graph), graph.subtrees.of_call
    grammar = found.grammar
    check_definition(grammar)
    siblings: dict = {}
    for i in range(n):
        parent = int(calls.parent[i])
        siblings.setdefault(parent if parent >= 0 else -1 - int(calls.thread[i]), []).append(i)
    owner_of = {p: int(of_call[p]) if p >= 0 else len(graph) - 1 - p for p in siblings}
    # Where rules are unfolded, list by list, by the definition.
    starts: dict[int, list[int]] = {}
    takes: dict[int, list[int]] = {}

    def walk(owner: int, calls_left: list[int]) -> int:
        at = 0
        for value, times in grammar.symbols(owner):
            for _ in range(times):
                if value < grammar.lists:
                    at += 1
                    continue
                inside = walk(value, calls_left[at:])
                starts.setdefault(value, []).append(calls_left[at])
                takes.setdefault(value, []).extend(calls_left[at : at + inside])
                at += inside
        return at

    for parent, below in siblings.items():
        assert walk(owner_of[parent], below) == len(below)
    # A plain search: where the same subtrees stand as often in a row, from left to right.
    used, taken = starts, takes
    starts, takes = {}, {}
    for below in siblings.values():
        runs: list[list[int]] = []
        for i in below:
            if runs and of_call[runs[-1][0]] == of_call[i]:
                runs[-1].append(i)
            else:
                runs.append([i])
        text = [(int(of_call[run[0]]), len(run)) for run in runs]
        for rule in range(grammar.lists, len(grammar.order)):
            wanted, at = _entries(grammar, rule), 0
            while at + len(wanted) <= len(text):
                if text[at : at + len(wanted)] == wanted:
                    starts.setdefault(rule, []).append(runs[at][0])
                    takes.setdefault(rule, []).extend(i for run in runs[at : at + len(wanted)] for i in run)
                    at += len(wanted)
                else:
                    at += 1
    for rule in range(grammar.lists, len(grammar.order)):
        assert 0 < len(used[rule]) <= len(starts[rule])
        assert found.starts(rule).tolist() == sorted(starts[rule])
        assert found.calls(rule).tolist() == sorted(takes[rule])
        assert found.first(rule) == min(starts[rule])
        assert found.count[rule - grammar.lists] == len(starts[rule])
        assert grammar.uses(rule) == grammar.value.tolist().count(rule)
        callers = {int(calls.function[calls.parent[i]]) for i in starts[rule] if calls.parent[i] >= 0}
        assert found.callers(rule).tolist() == sorted(callers)
        assert found.places[rule - grammar.lists] >= len(found.grammar.places(rule)[0])
        assert grammar.calls[rule] * len(starts[rule]) == sum(int(calls.extent[i]) for i in takes[rule])
    # The first call of each run of equal siblings: it is what an edge begins with.
    run_of = {}
    for below in siblings.values():
        for before, i in zip([-1, *below], below, strict=False):
            same = before >= 0 and of_call[before] == of_call[i]
            run_of[i] = run_of[before] if same else i
    for i in range(n):
        rules = found.rules_of(i, calls)
        # Of a callee that repeats in a row each repetition is at the same edge.
        assert {rule for rule, _ in rules} == {rule for rule, all_of in taken.items() if i in all_of}
        assert {rule for rule, begins in rules if begins} == {
            rule for rule, first in used.items() if run_of[i] in first
        }
        beginning = found.beginning(i, calls)
        assert set(beginning) == {rule for rule, first in starts.items() if run_of[i] in first}
        lengths = [int(grammar.length[rule]) for rule in beginning]
        assert lengths == sorted(lengths, reverse=True)


def of_graph(graph: CompactTrace, progress: Progress = silent) -> Grammar:
    forest = graph.forest
    return grammar_of(forest.first, forest.child, forest.count, graph.subtrees.extent, progress)


def test_stopped_and_asked_how_far_it_is(monkeypatch) -> None:
    graph = graph_from([list(np.random.default_rng(1).integers(0, LEAVES, 5000))])
    monkeypatch.setattr(grammars, "_STEP", 1000)
    result: list[float] = []
    grammar = of_graph(graph, lambda done, what: result.append(done))
    assert len(result) >= 3
    assert result == sorted(result)
    assert grammar.symbols(LEAVES) == graph.grammar.symbols(LEAVES)

    def stop(done: float, what: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        of_graph(graph, stop)
    fresh = graph_from([list(np.random.default_rng(1).integers(0, LEAVES, 5000))])
    with pytest.raises(Cancelled):
        fresh.find_grammar(stop)
    assert fresh.find_grammar() is fresh.grammar, "it can be found later"
    monkeypatch.setattr(grammars, "_MOST", 1000)
    with pytest.raises(UsageError, match="that a grammar can take"):
        of_graph(graph)


def test_more_symbols_than_there_was_room_for() -> None:
    text = np.random.default_rng(2).permutation(np.arange(200_000) % 70_000)
    text = text[np.append(True, text[1:] != text[:-1])]
    n = 70_000
    first = np.append(np.zeros(n + 1, np.int64), len(text))
    one = np.ones(n + 1, np.int64)
    subtrees = Subtrees(
        np.empty(0, np.int32), np.arange(n + 1, dtype=np.int32), first, text.astype(np.int32), one, one, one
    )
    graph = CompactTrace(subtrees, np.array([n], np.int32), np.array([0, 1]))
    grammar = graph.grammar
    assert np.array_equal(grammar.expand().child, graph.forest.child)
    check_definition(grammar)


def test_sequences_as_a_list() -> None:
    trace = trace_of("main( " + "a() b() c() d() " * 3 + "a() b() c() e() f( a() b() c() ) )")
    facts = Facts(trace)
    found = sequences(facts)
    rows = found.rows(0, 10)
    assert [(row["name"], row["occurrences"], row["callers"], row["callees"]) for row in rows] == [
        ("a, b, c", 5, 2, 3), ("a, b, c, … 1 more", 3, 1, 4),
    ]  # fmt: skip
    assert rows[1]["sequence"] == "a, b, c, d"
    assert rows[1]["symbols"] == [
        {"rule": rows[0]["rule"], "times": 1},
        {"function": "d", "subtree": rows[1]["symbols"][1]["subtree"], "times": 1},
    ]
    assert [row["places"] for row in rows] == [5, 3]
    assert [row["hidden"] for row in rows] == [0, 0]
    key = int(found.keys[0])
    assert found.starts(key).tolist() == [1, 5, 9, 13, 18]
    assert found.calls(key).tolist() == [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 18, 19, 20]
    # A call stands in the longest sequence that it is a part of.
    assert [found.place(call) for call in (0, 1, 4, 13, 16, 20)] == [-1, 1, 1, 0, -1, 0]
    assert [row["name"] for row in sequences(facts, "name").rows(0, 2)] == [
        "a, b, c",
        "a, b, c, … 1 more",
    ]
    assert [row["callees"] for row in sequences(facts, "size").rows(0, 2)] == [4, 3]
    assert [row["occurrences"] for row in sequences(facts, "occurrences").rows(0, 2)] == [5, 3]
    assert len(sequences(facts, contains="d")) == 1
    assert len(sequences(facts, contains="e")) == 0
    with pytest.raises(UsageError, match="there is no order"):
        sequences(facts, "colour")
    hidden = apply(parse("sequence(call=1, entries=4)"), facts)
    assert np.flatnonzero(hidden.state == HIDDEN).tolist() == list(range(1, 13))
    assert [row["hidden"] for row in sequences(facts, filtered=hidden).rows(0, 2)] == [3, 3]


def test_the_filter_of_one_sequence() -> None:
    facts = Facts(trace_of("main( " + "a() b() c() d() " * 3 + "a() b() c() e() f( a() b() c() ) )"))
    for stack, count in (
        ("sequence(call=1)", 12),
        ("sequence(call=1, entries=3)", 15),
        ("sequence(call=18)", 15),
    ):
        assert apply(parse(stack), facts).count(HIDDEN) == count
    for stack, reason in (
        ("sequence(call=99)", "there is no such call"),
        ("sequence(call=2)", "no repeated sequence begins with this call"),
        ("sequence(call=1, entries=2)", "there are some of 4, 3"),
    ):
        with pytest.raises(UsageError, match=reason):
            apply(parse(stack), facts)


@given(texts())
@example([[], [1, 0, 0, 1, 0, 2], [1, 0, 0, 1, 0, 2, 1, 0, 0, 1, 0]])  # in a rule that is a list
@example([[0, 1, 2, 3, 4, 5, 0, 2, 4, 1, 5, 3]] * 40)  # one long rule that is each list
@settings(deadline=None, max_examples=100)
def test_what_a_list_of_rows_shows_is_the_same(found) -> None:
    grammar = graph_from(found).grammar
    shown = grammar.listed

    def below(owner: int) -> list[tuple[int, int]]:
        part = slice(shown.first[owner], shown.first[owner + 1])
        return list(zip(shown.child[part].tolist(), shown.count[part].tolist(), strict=True))

    def unfolded_rows(owner: int) -> list[int]:
        return [
            one
            for value, times in below(owner)
            for _ in range(times)
            for one in ([value] if value < grammar.lists else unfolded_rows(value))
        ]

    for owner in range(len(grammar.order)):
        assert unfolded_rows(owner) == unfolded(grammar, owner)
        for value, times in below(owner):
            assert value < grammar.lists or times > 1 or grammar.names[value] >= grammars.LEAST
            assert value < grammar.lists or times > 1 or len(below(owner)) > 1, "a rule is no whole list"


def test_a_sequence_in_words() -> None:
    graph = graph_from([[0, 0, 1, 2, 1, 2, 1, 2, 3] * 2, [0, 0, 1, 2, 1, 2, 1, 2, 3, 4]])
    labels, grammar = "abcdef", graph.grammar
    rule = max(range(grammar.lists, len(grammar.order)), key=lambda rule: grammar.length[rule])
    for most, text in (
        (9, "a ×2, (b, c) ×3, d"), (3, "a ×2, (b, c) ×3, … 1 more"), (2, "a ×2, (b, …) ×3, … 2 more"),
        (1, "a ×2, … 3 more"),
    ):  # fmt: skip
        assert words(graph, rule, labels, most) == text


def test_sizes_of_lists_of_a_recorded_run(recorded) -> None:
    trace = tv.load(recorded / "weka_OneR_iris_0.4M.tsv.gz")
    graph = Facts(trace).graph
    sizes = nodes.list_sizes(graph)
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)
    assert sizes["with_rules"] < sizes["with_blocks"] / 3
    check_definition(graph.grammar)
    back = graph.grammar.expand()
    assert np.array_equal(back.child, graph.forest.child)
    assert np.array_equal(back.count, graph.forest.count)
