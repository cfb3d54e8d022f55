"""Rows of lists and trees, the strip and the title by their definitions: counts, bounds, orders and words."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.call_tree.test_rows import OPEN, walked
from tests.comparison.test_findings import leaf, traced
from tests.filters.test_filters import trace_of
from tests.support.plain_match import small_trace
from tests.support.walked_traces import split, walked_trace
from tracevis3d.errors import UsageError
from tracevis3d.features.call_tree import lists, nodes
from tracevis3d.features.call_tree.headline import headline, measured
from tracevis3d.features.call_tree.list_rows import PAGE, ListQuery, page_of, row_texts, turned
from tracevis3d.features.call_tree.navigation import TreeNavigation
from tracevis3d.features.call_tree.partial_tree import ALL, Page, PartialTree
from tracevis3d.features.call_tree.strip import HIDDEN_COLOR, SHOWN_COLOR, picture, quads
from tracevis3d.features.call_tree.tree_rows import TreeQuery, carried_over, selected_calls, tree_of
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.roles import roles_of
from tracevis3d.filters.stack import HIDDEN, apply, parse
from tracevis3d.trace.events import BEGIN, END
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording
from tracevis3d.units import percentage

TRACES = st.builds(
    lambda seed, steps: walked_trace(seed, steps=steps, threads=2, functions=5, modules=2, longest=50),
    st.integers(0, 2**32), st.integers(1, 60),
)  # fmt: skip


def below(trace, call):
    return range(call, call + int(trace.calls.extent[call]))


def plain_subtrees(trace):
    """Return the shape of the subtree at each call: its function, and its callees' shapes."""
    calls = trace.calls
    shape = [None] * len(calls)
    for call in reversed(range(len(calls))):
        callees = [c for c in below(trace, call) if calls.parent[c] == call]
        shape[call] = (int(calls.function[call]), tuple(shape[c] for c in callees))
    return shape


@given(TRACES, st.sampled_from(["", "name(pattern=f1)"]))
@settings(max_examples=40, deadline=None)
def test_the_row_of_a_function_counts_its_calls(trace, stack):
    facts, calls = Facts(trace), trace.calls
    filtered = apply(parse(stack), facts) if stack else None
    shape = plain_subtrees(trace)
    table, roles = nodes.FunctionTable(facts, filtered), roles_of(trace)
    for f, label in enumerate(trace.functions.label):
        mine = [c for c in range(len(calls)) if calls.function[c] == f]
        callers = {int(calls.function[calls.parent[c]]) for c in mine if calls.parent[c] >= 0}
        callees = {int(calls.function[c]) for c in range(len(calls)) if int(calls.parent[c]) in mine}
        assert table.row(f) == {
            "function": label,
            "name": trace.functions.name[f],
            "role": roles[f],
            "occurrences": len(mine),
            "hidden": sum(int(filtered.state[c]) == HIDDEN for c in mine) if filtered else 0,
            "subtrees": len({shape[c] for c in mine}),
            "calls": sum(int(calls.extent[c]) for c in mine),
            "duration_ns": sum(int(calls.end[c] - calls.start[c]) for c in mine),
            "callers": len(callers),
            "callees": len(callees),
        }
    called = {f for f in range(len(trace.functions)) if f in calls.function.tolist()}
    assert set(lists.model(facts).keys.tolist()) == called
    wanted = {f for f in called if "1" in trace.functions.label[f]}
    assert set(lists.model(facts, contains="1").keys.tolist()) == wanted
    useful = [f for f in called if facts.utilityhood[f] > 0]
    assert set(lists.utilities(facts).keys.tolist()) == set(useful)
    assert set(lists.utilities(facts, "1").keys.tolist()) == wanted & set(useful)


def test_only_functions_that_are_called_are_listed():
    trace = small_trace([1, 2], [1, 1], [9, 3], ["a", "b", "c"])
    rows = lists.model(Facts(trace), sort="name").rows(0, 9)
    assert [(row["function"], row["occurrences"]) for row in rows] == [("b", 2)]


@given(TRACES, st.integers(1, 6), st.data())
@settings(max_examples=40, deadline=None)
def test_the_rows_of_subtrees_are_those_of_the_plain_twin(trace, most, data):
    facts, calls, labels = Facts(trace), trace.calls, trace.functions.label
    shape, graph = plain_subtrees(trace), facts.graph
    times = Counter(shape)
    function = data.draw(st.none() | st.integers(0, len(labels) - 1))
    wanted = [s for s in times if function is None or s[0] == function]
    found = nodes.subtree_rows(facts, function, most)
    assert [row["occurrences"] for row in found] == sorted((times[s] for s in wanted), reverse=True)[:most]
    for row in found:
        call = row["first_call"]
        assert shape.index(shape[call]) == call
        assert row["occurrences"] == times[shape[call]]
        assert shape[call] in wanted
        assert row["calls"] == calls.extent[call]
        assert row["function"] == labels[calls.function[call]]
        assert row["functions"] == sorted({labels[calls.function[c]] for c in below(trace, call)})
        runs = []
        for callee in shape[call][1]:
            if runs and runs[-1][0] == callee:
                runs[-1][1] += 1
            else:
                runs.append([callee, 1])
        words = [labels[callee[0]] + (f" ×{count}" if count > 1 else "") for callee, count in runs]
        if len(words) > 3:
            words = [*words[:3], f"… {len(words) - 3} more"]
        assert row["shape"] == (", ".join(words) or "calls nothing")
        occurrences = [c for c in range(len(calls)) if shape[c] == shape[call]]
        assert nodes.occurrences_of(graph, row["subtree"]).tolist() == occurrences
        assert nodes.occurrences_of(graph, row["subtree"], 2).tolist() == occurrences[:2]
    if function is None and most == 6:
        assert len(nodes.subtree_rows(facts)) == min(len(times), 50)


@given(TRACES, st.data())
@settings(max_examples=30, deadline=None)
def test_functions_below_a_call_are_counted(trace, data):
    calls, n = trace.calls, len(trace.calls)
    call = data.draw(st.integers(0, n - 1))
    count, lasted = Counter(), defaultdict(int)
    for c in below(trace, call):
        count[int(calls.function[c])] += 1
        lasted[int(calls.function[c])] += int(calls.end[c] - calls.start[c])
    assert nodes.functions_below(trace, call) == [
        {
            "function": trace.functions.label[f], "name": trace.functions.name[f], "calls": count[f],
            "duration_ns": lasted[f],
        }
        for f in sorted(count, key=lambda f: (-count[f], f))
    ]  # fmt: skip
    for wrong in (-1, n):
        with pytest.raises(UsageError, match="there is no call"):
            nodes.functions_below(trace, wrong)


def test_lists_get_shorter_with_each_degree_of_folding():
    trace = trace_of("r( a() a() a() b() c() b() c() d() b() c() e() a() )")
    sizes = nodes.list_sizes(Facts(trace).graph)
    # a ×3, b, c, b, c, d, b, c, e, a; the block of b and c that repeats in a row once.
    assert (sizes["callees"], sizes["with_iterations"], sizes["with_blocks"]) == (12, 10, 8)
    assert sizes["with_rules"] <= sizes["with_blocks"]


# -- pages and words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "rows", "expected"),
    [(0, 0, 0), (0, 1, 0), (59, 61, 0), (60, 61, 60), (61, 61, 60), (500, 61, 60), (-5, 61, 0)],
)
def test_the_page_of_a_row(first, rows, expected):
    assert page_of(first, rows) == expected


@given(st.integers(0, 300), st.integers(0, 300))
def test_pages_are_turned_within_the_rows(first, rows):
    steps = {"FIRST": 0, "PREVIOUS": first - PAGE, "NEXT": first + PAGE, "LAST": rows - 1}
    for step, row in steps.items():
        inside = [r for r in range(rows) if r <= row]
        assert turned(first, rows, step) == max(inside, default=0)


ROW = {
    "name": "read", "short_name": "r a", "function": "io.read", "role": "accessor", "shape": "a ×2, b",
    "occurrences": 1200, "hidden": 0, "callees": 2, "calls_each": 5, "calls": 6000, "shapes": 1,
    "duration_ns": 1500, "subtrees": 3, "callers": 2, "called_by": ["x", "y"], "sequence": "a, b",
    "utilityhood": 0.25, "criterion": "exact", "nodes": 3, "kind": "pattern",
}  # fmt: skip


@pytest.mark.parametrize(
    ("query", "changed", "expected"),
    [
        (ListQuery(), {}, (
            "io.read", "1,200", "1,200 calls, 1.5 µs, 3 distinct subtrees, 2 callers, 2 callees")),
        (ListQuery(sort="name"), {"hidden": 7}, (
            "io.read", "1,200", "1,200 calls, 7 hidden, 1.5 µs, 3 distinct subtrees, 2 callers, 2 callees")),
        (ListQuery(sort="calls"), {"occurrences": 1, "callers": 1, "subtrees": 1, "callees": 1}, (
            "io.read", "6,000", "1 call, 1.5 µs, 1 distinct subtree, 1 caller, 1 callee")),
        (ListQuery(sort="duration"), {}, (
            "io.read", "1.5 µs", "1,200 calls, 1.5 µs, 3 distinct subtrees, 2 callers, 2 callees")),
        (ListQuery("utilities"), {}, (
            "io.read", "0.2500", "1,200 calls, 1.5 µs, 3 distinct subtrees, 2 callers, 2 callees")),
        (ListQuery("patterns"), {}, ("read", "6,000", "1,200 × 5 calls: a ×2, b")),
        (ListQuery("patterns", pattern_sort="size"), {"shapes": 2}, (
            "read", "5", "1,200 × 5 calls, 2 shapes: a ×2, b")),
        (ListQuery("patterns", pattern_sort="occurrences"), {"hidden": 1}, (
            "read", "1,200", "1,200 × 5 calls, 1 hidden: a ×2, b")),
        (ListQuery("sequences"), {}, ("r a", "6,000", "1,200 × 2 callees with 5 calls, in x, y: a, b")),
        (ListQuery("sequences", pattern_sort="size"), {"callers": 5}, (
            "r a", "2", "1,200 × 2 callees with 5 calls, in x, y, … 3 more: a, b")),
        (ListQuery("sequences", pattern_sort="name"), {"callers": 0, "called_by": [], "hidden": 2}, (
            "r a", "1,200", "1,200 × 2 callees with 5 calls, 2 hidden, among the root calls: a, b")),
        (ListQuery("library"), {}, ("read", "6,000", "exact, 3 different calls: 6,000 occurrences here")),
        (ListQuery("library"), {"criterion": "", "calls": 0}, ("read", "0", "utility: does not occur here")),
    ],
)  # fmt: skip
def test_rows_in_words(query, changed, expected):
    row = ROW | changed
    words = row_texts(query, row)
    assert (words.title, words.count, words.detail) == expected
    roles = {"patterns": "pattern", "sequences": "sequence", "library": "pattern"}
    assert words.role == roles.get(query.kind, "accessor")
    if query.kind == "library":
        assert words.hidden == (row["calls"] == 0)
        return
    for hidden, expected_ in ((0, False), (row["occurrences"] - 1, row["occurrences"] == 0),
                              (row["occurrences"], True)):  # fmt: skip
        assert row_texts(query, row | {"hidden": hidden}).hidden == expected_


def test_a_utility_of_a_library_is_one_function():
    trace = trace_of("main( log() log() )")
    known = lists.pattern_library.Library((), ("log", "gone"))
    rows = lists.from_library(Facts(trace), known).rows(0, 9)
    assert rows == [
        {"name": "log", "kind": "utility", "criterion": "", "nodes": 1, "calls": 2},
        {"name": "gone", "kind": "utility", "criterion": "", "nodes": 1, "calls": 0},
    ]


def test_the_entry_of_a_library_that_a_call_is_of():
    trace = trace_of("main( f( g() ) log() f( g() ) free() )")
    pattern = lists.pattern_library.promote(trace, Facts(trace).graph, 1, "the pattern")
    known = lists.pattern_library.Library((pattern,), ("log", "free", "f"))
    found = lists.from_library(Facts(trace), known)
    keys = found.keys.tolist()
    names = [row["name"] for row in found.rows(0, 9)]
    assert names == ["the pattern", "log", "free", "f"]
    for call, entry in {0: "", 1: "the pattern", 2: "", 3: "log", 4: "the pattern", 6: "free"}.items():
        place = found.place(call)
        assert (names[place] if place >= 0 else "") == entry
        if entry:
            assert call in found.calls(keys[place]).tolist()


# -- the tree --------------------------------------------------------------------------------------------


def test_a_list_is_not_folded_by_default():
    assert TreeQuery() == TreeQuery("", False, False, 2)


def test_equal_calls_in_a_row_are_joined_within_their_thread():
    trace = walked_trace(0, steps=1, threads=3, functions=1)
    tree = PartialTree(Facts(trace).graph, levels=1)
    assert len(trace.calls) == tree.size == 3
    joined = PartialTree(Facts(trace_of("f() f() f()")).graph, levels=1)
    assert joined.size == 1


def test_two_in_a_row_and_sequences_say_so():
    trace = trace_of("main( step() step() end() )")
    navigation, texts = walked(OPEN, trace=trace)
    assert [row.name for row in texts.rows(navigation)] == ["main", "step ×2", "end"]
    trace = trace_of("main( " + "( a() b() ) ".replace("( ", "").replace(" )", "") * 3 + "c() )")
    navigation, texts = walked(replace(OPEN, folded=True), trace=trace)
    rows = [(row.name, row.about, row.role) for row in texts.rows(navigation)]
    assert ("3 × (a b)", "(a b) ×3", "sequence") in [
        (name.replace(",", ""), about.replace(",", ""), role) for name, about, role in rows
    ]


def test_texts_of_the_same_list_are_carried_over_as_they_are():
    trace = trace_of("main( " + "a() b() " * 3 + "c() )")
    navigation, _ = walked(OPEN, trace=trace)
    written = navigation.written() | {"more": "kept"}
    assert carried_over(trace, written, OPEN.key, tree_of(trace, OPEN)) is written
    folded = carried_over(trace, written, OPEN.key, tree_of(trace, replace(OPEN, folded=True)))
    assert "more" not in folded


@pytest.mark.parametrize("most", [0, 1, 2, 3, 4, 9])
def test_selected_rows_stand_for_so_many_calls_in_all(most):
    trace = trace_of("main( a() a() b() b() b() )")
    navigation, _ = walked(OPEN, trace=trace)
    rows = [row.path for row in navigation.rows()]
    navigation.click(rows[1], "label", ctrl=False, shift=False)
    navigation.click(rows[2], "label", ctrl=True, shift=False)
    assert selected_calls(navigation, most)[0] == [1, 2, 3, 4, 5][:most]


def test_no_rows_are_a_page_without_rows():
    tree = PartialTree(Facts(trace_of("main( a() b() )")).graph, levels=2)
    for count in (0, -1):
        assert tree.construct(None, 1, count) == Page([], [])


@pytest.mark.parametrize(("position", "after"), [(0, 3), (1, 3), (2, 2), (3, 3), (4, 3)])
def test_back_shows_the_caller_first_unless_the_window_has_it(position, after):
    trace = trace_of("main( a( b( c( d( e( f() ) ) ) ) ) )")
    tree = TreeNavigation(PartialTree(Facts(trace).graph, levels=9), 2)
    tree.go(5)  # d, which c calls in row 3
    tree.jump(position)
    tree.back()
    assert tree.tree.offset(tree.current) == 3
    assert tree.position == after


def test_a_window_without_a_current_row_skips_from_its_first():
    trace = trace_of("main( a() b() c() d() e() )")
    tree = TreeNavigation(PartialTree(Facts(trace).graph, levels=9), 2)
    tree.jump(3)
    assert (tree.current, tree.position) == (None, 3)
    assert tree.skip(1) == 1
    assert tree.tree.offset(tree.current) == 4


def test_opened_levels_are_read_again():
    trace = trace_of("main( a( b( c() ) ) d( e() ) )")
    for levels in (ALL, 0, 1, 2):
        tree = TreeNavigation(PartialTree(Facts(trace).graph, levels=1), 9)
        tree.tree.expand(tree.tree.path_at(0), levels)
        tree.settle()
        again = TreeNavigation(PartialTree(Facts(trace).graph, levels=1), 9)
        assert again.read(tree.written()) == 0
        assert again.written() == tree.written()
        assert again.rows() == tree.rows()


# -- the strip -------------------------------------------------------------------------------------------


@given(st.integers(0, 255), st.integers(0, 255))
def test_a_cell_mixes_the_colours_of_shown_and_hidden_calls(shown, hidden):
    (cell,) = picture(np.array([[shown]], np.uint8), np.array([[hidden]], np.uint8))[0]
    a, b = shown / 255, hidden / 255
    both = a * a + b * b
    ground = picture(np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.uint8))[0, 0, :3]
    if not both:
        assert cell.tolist() == [*ground.tolist(), 1.0]
        return
    light = 0.33 + 0.67 * min(both, 1.0) ** 0.5
    for channel in range(3):
        color = (a * a * SHOWN_COLOR[channel] + b * b * HIDDEN_COLOR[channel]) / both
        expected = ground[channel] + (color - ground[channel]) * light
        assert cell[channel] == pytest.approx(expected, abs=1e-5)
    assert cell[3] == 1.0


def test_a_square_is_made_of_two_triangles_that_share_a_side():
    pixels = picture(np.array([[0, 9]], np.uint8), np.array([[0, 0]], np.uint8))
    corners, _, triangles = quads(pixels)
    assert corners.tolist() == [[0.5, 0, 0], [1, 0, 0], [1, 1, 0], [0.5, 1, 0]]
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


# -- the title -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "beside"),
    [
        ({"a": 33, "b": 28, "c": 20, "d": 10}, False),  # not 1.25 times the next
        ({"a": 35, "b": 28, "c": 20, "d": 8}, True),  # just 1.25 times
        ({"a": 25, "b": 20, "c": 15, "d": 15, "e": 10, "f": 9}, True),  # just a quarter
        ({"a": 24, "b": 15, "c": 15, "d": 15, "e": 15, "f": 9}, False),
    ],
)
def test_what_one_function_has_is_said_if_it_is_much_and_more_than_the_next(parts, beside):
    rest = 100 - sum(parts.values())
    trace = traced(("main", rest, [leaf(name, time) for name, time in parts.items()]))
    said = "100 % of the time goes to main and what it calls"
    assert headline(trace) == said + (f"; a alone has {parts['a']} %" if beside else "")


def test_code_without_a_name_is_said_with_its_module():
    found = []
    for name in ("a.<module>", "<run>", "b.f"):
        recording = Recording()
        thread, number = recording.thread(1, 1), recording.function(name)
        recording.add_events(thread=[thread] * 2, kind=[BEGIN, END], function=[number] * 2, time=[0, 9])
        found.append(headline(recording.finish(Source(), split)))
    assert [text.removesuffix(" alone has 100 % of the time") for text in found] == [
        "<module> of a", "<run>", "f",
    ]  # fmt: skip


@given(TRACES)
@settings(max_examples=40, deadline=None)
def test_the_title_names_the_functions_of_the_most_time(trace):
    calls = trace.calls
    own, whole = Counter(), Counter()
    for c in range(len(calls)):
        f, lasted, above = int(calls.function[c]), int(calls.end[c] - calls.start[c]), int(calls.parent[c])
        own[f] += lasted
        if above >= 0:
            own[int(calls.function[above])] -= lasted
        ancestors = set()
        while above >= 0:
            ancestors.add(int(calls.function[above]))
            above = int(calls.parent[above])
        if f not in ancestors:
            whole[f] += lasted
    every = sum(int(calls.end[c] - calls.start[c]) for c in range(len(calls)) if calls.depth[c] == 1)
    text, label = headline(trace), trace.functions.label
    if not every:
        many = Counter(calls.function.tolist())
        most = max(many.values())
        assert text in [f"{label[f]} is called most: {most} time{'s' * (most > 1)}" for f in many]
        return
    of = "the threads' time" if sum(trace.threads.count > 0) > 1 else "the time"
    assert measured(trace) == "time"
    most = max(own.values())
    best = [f for f in own if own[f] == most]
    share = percentage(most / every)
    if most >= 0.4 * every:
        assert text in [f"{label[f]} alone has {share} of {of}" for f in best]
    elif max(whole.values()) < 0.4 * every:
        assert text in [f"{label[f]} itself has the largest share of {of}: {share}" for f in best]
    else:
        least = min(time for time in whole.values() if time >= 0.4 * every)
        start = [
            f"{percentage(least / every)} of {of} goes to {label[f]} and what it calls"
            for f in whole if whole[f] == least
        ]  # fmt: skip
        assert text.partition(";")[0] in start
