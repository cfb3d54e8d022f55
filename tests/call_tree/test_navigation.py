"""The keys and clicks of SEAT's tree (section 6.5), one by one, and against a list of all rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.test_compact import graph_of
from tests.filters.test_filters import trace_of
from tests.support import synthetic, walked_traces
from tracevis3d.analysis.compact import compact
from tracevis3d.errors import UsageError
from tracevis3d.features.call_tree.navigation import (
    HINT,
    KEYS,
    TreeNavigation,
    _levels,
    carried,
    path_of,
    text_of,
)
from tracevis3d.features.call_tree.partial_tree import ALL, PartialTree
from tracevis3d.features.call_tree.row_counts import RowSums
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.listed import listed
from tracevis3d.filters.stack import apply, parse

PROGRAM = trace_of(
    "main( init( read( open() parse() ) log() ) work( step( log() ) check() stop() ) done( log() free() ) )"
)
GRAPH = compact(PROGRAM.calls, PROGRAM.threads)


def name(path) -> str:
    node = PartialTree(GRAPH).node(path)
    return str(PROGRAM.functions.name[GRAPH.subtrees.function[node]])


def opened(page=5, **values) -> TreeNavigation:
    return TreeNavigation(PartialTree(GRAPH, levels=ALL, **values), page)


def names(navigation) -> list[str]:
    return [name(row.path) for row in navigation.rows()]


def marking(*functions):
    wanted = [i for i, n in enumerate(PROGRAM.functions.name) if n in functions]
    return np.isin(GRAPH.subtrees.function, wanted)


ORDER = ["main", "init", "read", "open", "parse", "log", "work", "step", "log", "check", "stop", "done"]
ORDER += ["log", "free"]


def test_home_and_end() -> None:
    tree = opened()
    tree.press("END")
    assert names(tree) == ORDER[-5:]
    assert name(tree.current) == "free"
    tree.press("HOME")
    assert names(tree) == ORDER[:5]
    assert name(tree.current) == "main"
    assert tree.selected == [tree.current]


def test_on_another_page_the_current_row_keeps_its_place() -> None:
    tree = opened()
    tree.press("HOME")
    tree.press("DOWN_ARROW")
    tree.press("PAGE_DOWN")
    assert name(tree.current) == ORDER[6]
    tree.press("PAGE_DOWN")
    assert name(tree.current) == ORDER[len(ORDER) - 5 + 1]
    # There is no further page.
    tree.press("PAGE_DOWN")
    assert name(tree.current) == ORDER[-1]
    tree.press("UP_ARROW")
    tree.press("PAGE_UP")
    assert names(tree)[3] == name(tree.current)
    tree.press("PAGE_UP")
    tree.press("PAGE_UP")
    assert name(tree.current) == ORDER[0]


def test_pages() -> None:
    tree = opened()
    tree.press("PAGE_DOWN")
    assert names(tree) == ORDER[5:10]
    tree.press("PAGE_DOWN")  # not enough rows: the last page
    assert names(tree) == ORDER[9:]
    tree.press("PAGE_DOWN")
    assert name(tree.current) == "free"
    tree.press("PAGE_UP")
    assert names(tree) == ORDER[4:9]
    tree.press("PAGE_UP")  # not enough rows: the first page
    assert names(tree) == ORDER[:5]
    tree.press("PAGE_UP")
    assert name(tree.current) == "main"


def test_arrows_up_and_down() -> None:
    tree = opened()
    for expected in ORDER[:5]:
        tree.press("DOWN_ARROW")
        assert (name(tree.current), names(tree)) == (expected, ORDER[:5])
    tree.press("DOWN_ARROW")  # the last of the page: the window moves by one row
    assert (name(tree.current), names(tree)) == ("log", ORDER[1:6])
    for _ in range(4):
        tree.press("UP_ARROW")
        assert names(tree) == ORDER[1:6]
    assert name(tree.current) == "init"
    tree.press("UP_ARROW")
    assert (name(tree.current), names(tree)) == ("main", ORDER[:5])
    tree.press("UP_ARROW")
    assert name(tree.current) == "main"
    tree.press("END")
    tree.press("DOWN_ARROW")
    assert name(tree.current) == "free"


def test_arrow_left_closes_and_then_goes_to_the_caller() -> None:
    tree = opened()
    tree.press("END")
    tree.press("LEFT_ARROW")  # a leaf: to its caller, which stands in the window
    assert (name(tree.current), names(tree)) == ("done", ORDER[-5:])
    tree.press("LEFT_ARROW")  # open: closed
    assert name(tree.current) == "done"
    assert tree.tree.state(tree.current) == "+"
    assert tree.size == len(ORDER) - 2
    tree.press("LEFT_ARROW")  # closed: to its caller, which becomes the first of the window
    assert (name(tree.current), names(tree)[0]) == ("main", "main")


def test_arrow_right_opens_and_then_goes_to_the_first_callee() -> None:
    tree = TreeNavigation(PartialTree(GRAPH), 5)
    assert names(tree) == ["main"]
    tree.press("RIGHT_ARROW")  # nothing is current yet
    assert names(tree) == ["main"]
    tree.click((0,))
    tree.press("RIGHT_ARROW")
    assert (names(tree), name(tree.current)) == (["main", "init", "work", "done"], "main")
    tree.press("RIGHT_ARROW")
    assert name(tree.current) == "init"
    tree.click((0, 2))
    tree.press("RIGHT_ARROW")
    tree.press("RIGHT_ARROW")
    assert name(tree.current) == "log"
    tree.press("RIGHT_ARROW")  # a leaf: nothing
    assert name(tree.current) == "log"
    # The window follows the callee.
    tree = opened()
    tree.click((0, 0, 0))
    tree.jump(2)
    tree.page = 1
    tree.press("RIGHT_ARROW")
    assert names(tree) == ["open"]
    # Open, but all callees are filtered out: it stays.
    tree = opened(filtered=marking("log", "free"))
    tree.click((0, 2))
    assert tree.tree.state((0, 2)) == "~"
    tree.press("RIGHT_ARROW")
    assert name(tree.current) == "done"


def test_backspace_brings_the_caller_to_the_top() -> None:
    tree = opened()
    tree.jump(8)
    tree.click((0, 1, 1))  # check, below work, which is above the window
    tree.press("BACK_SPACE")
    assert (name(tree.current), names(tree)[0]) == ("work", "work")
    tree.press("BACK_SPACE")
    tree.press("BACK_SPACE")  # a root has no caller
    assert (name(tree.current), names(tree)[0]) == ("main", "main")


def test_a_click_on_the_sign_opens_and_closes() -> None:
    tree = opened(filtered=marking("log"))
    assert tree.tree.state((0, 0)) == "~"  # a callee is hidden
    assert tree.tree.state((0, 0, 0)) == "-"
    tree.click((0, 0), "sign")
    assert tree.tree.state((0, 0)) == "+"
    tree.click((0, 0), "sign")
    assert tree.tree.state((0, 0)) == "~"
    # Ctrl: all callees, and back; only there.
    tree.click((0, 0), "sign", ctrl=True)
    assert tree.tree.state((0, 0)) == "-"
    marked = [row.path for row in tree.tree.construct(None, 0, 99).rows if row.filtered]
    assert marked == [(0, 0, 1)]
    assert tree.tree.state((0, 2)) == "~"
    tree.click((0, 0), "sign", ctrl=True)
    assert tree.tree.state((0, 0)) == "~"
    # Without filtered callees there is nothing to change.
    tree.click((0, 0, 0), "sign", ctrl=True)
    assert tree.tree.state((0, 0, 0)) == "-"
    # A leaf has no states.
    tree.click((0, 0, 0, 0), "sign")
    assert tree.tree.state((0, 0, 0, 0)) == ""


def test_closing_moves_what_was_below_to_the_caller() -> None:
    tree = opened()
    tree.click((0, 0, 0, 1))
    tree.click((0, 0), "sign")
    assert tree.current == (0, 0)
    assert tree.selected == [(0, 0)]


def test_several_rows_are_selected_by_ctrl_and_shift() -> None:
    tree = opened(page=14)
    tree.click((0, 0))
    tree.click((0, 2), ctrl=True)
    assert tree.selected == [(0, 0), (0, 2)]
    assert tree.current == (0, 2)
    tree.click((0, 0), ctrl=True)
    assert tree.selected == [(0, 2)]
    tree.click((0, 1))
    tree.click((0, 1, 2), shift=True)
    assert [name(path) for path in tree.selected] == ["work", "step", "log", "check", "stop"]
    tree.click((0, 0, 1), shift=True)  # the other way, from the same row
    assert [name(path) for path in tree.selected] == ["log", "work"]
    tree.click((0, 2), shift=True, ctrl=True)
    assert len(tree.selected) == 7


def test_unknown_keys_and_rows_are_refused() -> None:
    tree = opened()
    with pytest.raises(UsageError, match="not a key"):
        tree.press("F1")
    with pytest.raises(UsageError, match="no path"):
        tree.click((7,))
    assert "Ctrl-click" in HINT


def test_an_empty_tree() -> None:
    empty = trace_of("")
    tree = TreeNavigation(PartialTree(compact(empty.calls, empty.threads)), 5)
    for key in KEYS:
        tree.press(key)
    tree.scroll(3)
    assert (tree.rows(), tree.size, tree.position, tree.current) == ([], 0, 0, None)


def test_all_callers_of_a_path_are_opened() -> None:
    tree = TreeNavigation(PartialTree(GRAPH), 4)
    tree.expand_to((0, 1, 0, 0))
    assert name(tree.current) == "log"
    assert (0, 1, 0, 0) in [row.path for row in tree.rows()]


def test_what_is_in_the_window_stays_where_it_is_when_its_callers_are_opened() -> None:
    tree = opened()
    tree.press("END")
    before = tree.position
    for row in tree.rows():
        tree.expand_to(row.path)
        assert tree.position == before


def test_of_a_path_that_is_not_in_a_tree_the_beginning_is_taken() -> None:
    tree = PartialTree(GRAPH, levels=ALL)
    for path, shown in (((0, 1, 0), (0, 1, 0)), ((0, 1, 99, 0), (0, 1)), ((99, 0), None)):
        assert tree.nearest_shown(path) == shown


def test_levels_that_were_stored_are_numbers_or_none() -> None:
    assert [_levels(value) for value in (-2, -1, 3, "3", None, 1.5)] == [None, -1, 3, None, None, None]


def test_rows_of_all_edges() -> None:
    marked = np.array([0, 1, 1])
    assert [RowSums(every, marked).total for every in (None, np.array([0, 2, 7]))] == [2, 7]


def test_going_by_number() -> None:
    tree = opened()
    tree.go(8)
    assert (name(tree.current), names(tree)) == ("step", ORDER[3:8])
    assert tree.skip(4) == 4
    assert (name(tree.current), names(tree)) == ("done", ORDER[7:12])
    assert tree.skip(-11) == -11
    assert (name(tree.current), names(tree)) == ("main", ORDER[:5])
    assert tree.skip(99) == len(ORDER) - 1
    assert tree.selected == [tree.current]
    for number in (0, 15):
        with pytest.raises(UsageError, match=f"there is no row {number}: the rows go from 1 to 14"):
            tree.go(number)
    empty = TreeNavigation(PartialTree(GRAPH, filtered=np.ones(len(GRAPH), np.bool_)), 5)
    assert empty.skip(3) == 0


def test_paths_as_text() -> None:
    assert text_of((0, 3, 12)) == "0.3.12"
    assert path_of("0.3.12") == (0, 3, 12)
    assert path_of("") is path_of("0..1") is path_of("-1") is path_of("x") is None


@given(
    st.integers(0, 2**32),
    st.integers(0, 80),
    st.integers(1, 9),
    st.lists(
        st.tuples(st.sampled_from([*KEYS, "label", "sign", "ctrl sign", "ctrl", "shift", "scroll", "jump"]),
                  st.integers(0, 10**6)),
        max_size=25,
    ),
)  # fmt: skip
@settings(deadline=None, max_examples=150)
def test_the_window_is_always_a_piece_of_the_tree(seed, n, page, actions) -> None:
    calls = synthetic.random_calls(seed, n, functions=3, threads=2)
    graph = graph_of(calls)
    filtered = np.random.default_rng(seed).random(len(graph)) < 0.2
    tree = TreeNavigation(PartialTree(graph, filtered=filtered), page)
    for what, number in actions:
        every = [row.path for row in tree.tree.construct(None, 0, tree.size).rows]
        if what in KEYS:
            tree.press(what)
        elif what == "scroll":
            tree.scroll(number % 40 - 20)
        elif what == "jump":
            tree.jump(number % 200)
        elif every:
            path = every[number % len(every)]
            part = "sign" if "sign" in what else "label"
            tree.click(path, part, ctrl="ctrl" in what, shift=what == "shift")
        every = [row.path for row in tree.tree.construct(None, 0, tree.size).rows]
        assert len(every) == tree.size
        rows = tree.rows()
        assert len(rows) == min(page, tree.size)
        assert [row.path for row in rows] == every[tree.position : tree.position + page]
        assert tree.current is None or tree.current in every
        assert set(tree.selected) <= set(every)
        if what in ("UP_ARROW", "DOWN_ARROW", "HOME", "END", "PAGE_UP", "PAGE_DOWN") and rows:
            assert tree.current in [row.path for row in rows]
    # What is stored comes back.
    again = TreeNavigation(PartialTree(graph, filtered=filtered), page)
    assert again.read(tree.written()) == 0
    assert again.rows() == tree.rows()
    assert (again.current, again.selected, again.written()) == (tree.current, tree.selected, tree.written())
    # Damaged texts are passed over; paths that another tree lacks are counted.
    assert again.read({"opened": "[1", "first": "9.9.9", "current": "0.x"}) == 0
    other = TreeNavigation(PartialTree(graph_of(synthetic.random_calls(1, 1, functions=1, threads=1))), page)
    assert other.read({"opened": '[["5.5",1,null,false]]'}) == 1


@given(st.integers(0, 2**32), st.integers(2, 60), st.lists(st.integers(0, 10**6), max_size=6))
@settings(deadline=None, max_examples=60)
def test_what_is_open_is_carried_over_to_a_tree_with_other_filters(seed, n, numbers) -> None:
    trace = walked_traces.walked_trace(seed, steps=n, threads=2, functions=3)
    if not len(trace.calls):
        return
    facts, trees = Facts(trace), []
    for text in ("", f"depth(below=2, what=call, within={len(trace.calls) // 2})"):
        found = listed(parse(text), facts, apply(parse(text), facts))
        trees.append(PartialTree(found.graph, filtered=found.marked, calls=found.calls, places=found.places))
    old, new = trees
    before = TreeNavigation(old, 7)
    calls = [number % len(trace.calls) for number in numbers]
    for call in calls:
        path, _ = old.path_of(call)
        before.expand_to(path)
        old.expand(path, 2)
    after = TreeNavigation(new, 7)
    assert after.read(carried(before.written(), old, new)) == 0
    opened = {new.call(path) for path, levels, _, _ in new.exceptions() if levels}
    wanted = {old.call(path) for path, levels, _, _ in old.exceptions() if levels}
    places = found.places if found.places is not None else np.arange(len(trace.calls))
    kept = {call for call in wanted if call not in set(np.flatnonzero(np.diff(places, prepend=-1) <= 0))}
    assert opened == kept
    same = TreeNavigation(PartialTree(old.graph), 7)
    same.read(carried(before.written(), old, old))
    assert same.written() == before.written()
