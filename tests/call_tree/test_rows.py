"""The rows of trees and lists in words, pages and steps, without Blender."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.filters.test_filters import JAVA, trace_of
from tracevis3d.analysis.compact import graph_of
from tracevis3d.errors import UsageError
from tracevis3d.features.call_tree.call_paths import CallPaths
from tracevis3d.features.call_tree.list_rows import (
    PAGE,
    ListQuery,
    listing,
    occurrence,
    page_of,
    row_texts,
    summary,
    turned,
)
from tracevis3d.features.call_tree.navigation import TreeNavigation
from tracevis3d.features.call_tree.tree_rows import (
    ALL_LEVELS,
    TreeQuery,
    TreeTexts,
    carried_over,
    prepare,
    selected_calls,
    tree_of,
)

LOOP = trace_of("main( init() step( log() ) step( log() ) step( log() ) end( free() ) )")
OPEN = TreeQuery(levels=ALL_LEVELS)


def walked(query, page=50, trace=LOOP):
    prepare(trace, query)
    navigation = TreeNavigation(tree_of(trace, query), page)
    return navigation, TreeTexts(trace, query, navigation.tree)


def test_rows_say_how_often_they_repeat_and_what_is_below():
    navigation, texts = walked(OPEN)
    rows = {row.name: row for row in texts.rows(navigation)}
    assert list(rows) == ["main", "init", "step \u00d73", "log", "end", "free"]
    assert rows["main"].below == str(len(LOOP.calls) - 1)
    assert rows["step \u00d73"].below == "1"
    assert rows["init"].below == ""
    assert [row.depth for row in rows.values()] == [1, 2, 2, 3, 2, 3]
    assert rows["main"].about == ""
    assert rows["main"].sign == "-"


def test_what_filters_hide_is_left_out_and_counted():
    query = replace(OPEN, filters="name(pattern=log)")
    navigation, texts = walked(query)
    rows = {row.name: row for row in texts.rows(navigation)}
    assert "log" not in rows
    assert rows["main"].below == "6 of 9"
    shown, texts = walked(replace(query, show_filtered=True))
    assert [row.name for row in texts.rows(shown) if row.filtered] == ["log"]


@pytest.mark.parametrize("show_filtered", [False, True])
@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("filters", ["", "name(pattern=log); depth(below=3, effect=fade)"])
def test_a_key_says_how_its_tree_was_listed(filters, show_filtered, folded):
    query = TreeQuery(filters, show_filtered, folded, 0)
    assert TreeQuery.of_key(query.key) == query


@pytest.mark.parametrize("folded", [False, True])
def test_repetitions_are_found_beforehand_where_they_are_listed(folded):
    trace = trace_of("main( a() b() a() b() )")
    query = TreeQuery(folded=folded)
    prepare(trace, query)
    assert ("grammar" in vars(query.listed(trace).graph)) == folded


def test_the_way_to_the_first_row_is_cut_in_front():
    deep = trace_of("a( b( c( d( e( f() ) ) ) ) )")
    navigation, texts = walked(OPEN, trace=deep)
    paths = [row.path for row in navigation.rows()]
    assert texts.callers(None) == texts.callers(paths[0]) == ""
    assert texts.callers(paths[2]) == "a \u203a b"
    assert texts.callers(paths[5]) == "\u2026 \u203a c \u203a d \u203a e"


def test_a_window_stands_for_the_calls_of_its_rows():
    navigation, texts = walked(OPEN)
    rows = navigation.rows()
    assert texts.part([]) == (0, 0)
    assert texts.part(rows) == (0, len(LOOP.calls))
    # Of an open row the rows below it are not part.
    assert texts.part(rows[1:3]) == (1, 3)
    closed, texts = walked(replace(OPEN, levels=1))
    assert (
        texts.part(closed.rows()[:3])[1]
        == max(i for i in range(len(LOOP.calls)) if LOOP.functions.label[LOOP.calls.function[i]] == "log") + 1
    )


def test_a_sequence_is_named_by_what_it_consists_of_and_how_often_it_is_repeated():
    trace = trace_of(
        "main( x( a() b() c() ) y( a() b() a() b() ) k( d() e() f() g() h() ) l( d() e() f() g() i() ) )"
    )
    navigation, texts = walked(replace(OPEN, folded=True), trace=trace)
    named = [(row.name, row.about) for row in texts.rows(navigation) if row.role == "sequence"]
    assert named == [("2 \u00d7 (a, b)", "(a, b) \u00d72"), *[("(d, e, f, … 1 more)",) * 2] * 2]


def test_one_row_is_the_current_one():
    navigation, texts = walked(OPEN)
    assert not any(row.current for row in texts.rows(navigation))
    assert selected_calls(navigation, 9) == ([], -1)
    navigation.click(navigation.rows()[3].path, "label", ctrl=False, shift=False)
    assert [row.current for row in texts.rows(navigation)] == [i == 3 for i in range(6)]
    assert selected_calls(navigation, 9)[1] == 3


def test_a_call_that_is_hidden_with_all_its_callers_has_no_path():
    n = len(LOOP.calls)
    paths = CallPaths(graph_of(LOOP), calls=np.arange(n), places=np.array([-1, *range(1, n)]))
    with pytest.raises(UsageError, match="the call and all its callers are hidden by filters"):
        paths.path_of(0)
    assert paths.call(*paths.path_of(3)) == 3
    assert paths.call(*CallPaths(graph_of(LOOP), calls=np.arange(n), places=np.arange(n)).path_of(0)) == 0


def test_selected_rows_stand_for_all_repetitions():
    navigation, _ = walked(OPEN)
    step = next(row.path for row in navigation.rows() if row.iterations == 3)
    navigation.click(step, "label", ctrl=False, shift=False)
    calls, active = selected_calls(navigation, 100)
    labels = [LOOP.functions.label[LOOP.calls.function[call]] for call in calls]
    assert labels == ["step"] * 3
    assert active == calls[0]
    assert selected_calls(navigation, 2)[0] == calls[:2]


def test_what_was_stored_under_other_filters_is_carried_over():
    navigation, _ = walked(OPEN)
    end = navigation.rows()[4].path
    navigation.click(end, "label", ctrl=False, shift=False)
    written = navigation.written()
    query = replace(OPEN, filters="name(pattern=init)")
    other = tree_of(LOOP, query)
    moved = TreeNavigation(other, 50)
    moved.read(carried_over(LOOP, written, OPEN.key, other))
    assert other.node(moved.current) >= 0
    assert moved.tree.call(moved.current) == navigation.tree.call(end)
    assert carried_over(LOOP, written, "left no_such_filter", other) == {}


@given(st.integers(0, 1000), st.integers(1, 500), st.sampled_from(["FIRST", "PREVIOUS", "NEXT", "LAST"]))
def test_turning_pages_stays_within_the_list(first, rows, step):
    first = page_of(first, rows)
    found = page_of(turned(first, rows, step), rows)
    assert found % PAGE == 0
    assert 0 <= found < rows
    last = (rows - 1) // PAGE * PAGE
    wanted = {"FIRST": 0, "PREVIOUS": first - PAGE, "NEXT": first + PAGE, "LAST": last}[step]
    assert found == min(max(wanted, 0), last)


@given(st.sets(st.integers(0, 50), min_size=1), st.integers(-1, 51), st.sampled_from([1, -1]))
def test_steps_lead_to_the_nearest_occurrence(starts, now, step):
    starts = np.array(sorted(starts))
    found = occurrence(starts, now, step)
    wanted = [start for start in starts.tolist() if (start - now) * step > 0]
    assert (None if found is None else starts[found]) == (
        None if not wanted else min(wanted) if step > 0 else max(wanted)
    )


def test_functions_in_words():
    query = ListQuery()
    found = listing(LOOP, query)
    rows = {row["function"]: row_texts(query, row) for row in found.rows(0, 100)}
    assert rows["step"].count == "3"
    assert rows["step"].detail.startswith("3 calls, ")
    assert rows["step"].detail.endswith("1 distinct subtree, 1 caller, 1 callee")
    filtered = replace(query, filters="name(pattern=log)")
    rows = {row["function"]: row_texts(filtered, row) for row in listing(LOOP, filtered).rows(0, 100)}
    assert [name for name, row in rows.items() if row.hidden] == ["log"]
    assert rows["log"].detail.startswith("3 calls, 3 hidden, ")
    by_time = replace(query, sort="duration")
    assert row_texts(by_time, listing(LOOP, by_time).rows(0, 1)[0]).count.endswith(" ns")


@pytest.mark.parametrize(
    ("kind", "role"), [("patterns", "pattern"), ("sequences", "sequence"), ("utilities", None)]
)
def test_each_kind_of_list_has_its_words(kind, role):
    query = ListQuery(kind, criterion="exact")
    trace = JAVA if kind == "utilities" else trace_of("r( " + "a( b() ) c( d() ) " * 9 + ")")
    rows = [row_texts(query, row) for row in listing(trace, query).rows(0, 100)]
    assert rows or kind == "patterns"
    for row in rows:
        assert row.title
        assert row.count
        assert row.detail
        assert role is None or row.role == role


def test_what_a_library_finds_in_words():
    row = {"name": "x", "kind": "pattern", "criterion": "exact", "nodes": 3, "calls": 0}
    found = row_texts(ListQuery("library"), row)
    assert (found.hidden, found.detail) == (True, "exact, 3 different calls: does not occur here")
    assert summary("library", 0).startswith("The library is empty")
    assert summary("library", 2) == "2 entries of the library"
    assert summary("patterns", 1200) == "1,200 patterns"


def test_an_order_that_there_is_none_of_is_refused():
    with pytest.raises(UsageError):
        listing(LOOP, ListQuery(sort="colour"))
