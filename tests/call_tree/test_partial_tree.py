"""The partial tree: against a twin that makes the complete tree, and the walk-through of SEAT, 5.4."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.test_compact import graph_of
from tests.filters.test_filters import trace_of
from tests.support import synthetic
from tracevis3d.errors import UsageError
from tracevis3d.features.call_tree.partial_tree import ALL, PartialTree, Row


class PlainTree:
    """All rows, made by walking everything: the definitions of section 5.3.3 word by word."""

    def __init__(self, tree: PartialTree, levels: int, filtered, show: bool) -> None:
        self.tree, self.filtered, self.show, self.levels = tree, filtered, show, levels
        self.set_levels: dict = {}
        self.override: dict = {}
        self.own: set = set()

    def hidden(self, path, node) -> bool:
        override = self.override.get(path[:-1])
        shown = override == "show" if override else self.show
        return (path in self.own or self.marked(node)) and not shown

    def marked(self, node) -> bool:
        """A sequence is marked if all that it takes in is."""
        if not self.tree.is_sequence(node):
            return bool(self.filtered[node])
        return all(self.marked(value) for value, _ in self.tree.graph.grammar.symbols(node))

    def rows(self) -> list[tuple]:
        out: list[tuple] = []
        self._visit((), ALL if self.levels == ALL else self.levels + 1, out)
        return out

    def _visit(self, path, levels, out) -> None:
        if levels == 0:
            return
        ordinal = 0
        while (child := self.tree.child(path, ordinal)) is not None:
            ordinal += 1
            node = self.tree.node(child)
            if self.hidden(child, node):
                continue
            below = self.set_levels.get(child, ALL if levels == ALL else levels - 1)
            out.append((child, node, self._state(child, below)))
            self._visit(child, below, out)

    def _state(self, path, levels) -> str:
        children = []
        while (child := self.tree.child(path, len(children))) is not None:
            children.append(child)
        if not children:
            return ""
        if levels == 0:
            return "+"
        return "~" if any(self.hidden(child, self.tree.node(child)) for child in children) else "-"


def shown(rows: list[Row]) -> list[tuple]:
    return [(row.path, row.node, row.state) for row in rows]


@given(
    st.integers(0, 2**32),
    st.integers(1, 60),
    st.sampled_from((0, 1, 2, ALL)),
    st.booleans(),
    st.booleans(),
    st.lists(
        st.tuples(st.sampled_from(("expand", "all", "collapse", "toggle", "inherit", "hide", "unhide",
                                   "levels", "show", "filter")), st.integers(0, 10**6)),
        max_size=12,
    ),
)  # fmt: skip
@settings(deadline=None, max_examples=250)
def test_same_rows_as_the_complete_tree(seed, n, levels, show, folded, actions) -> None:
    calls = synthetic.random_calls(seed, n, functions=3, threads=2)
    graph = graph_of(calls)
    rng = np.random.default_rng(seed)
    marked = rng.random(len(graph)) < 0.3
    tree = PartialTree(graph, levels=levels, filtered=marked, show_filtered=show, folded=folded)
    plain = PlainTree(tree, levels, marked, show)
    for action, number in actions:
        path, _ = tree.path_of(number % n)
        path = path[: 1 + number // n % len(path)]
        if action == "expand":
            tree.expand(path, 1 + number % 2)
            plain.set_levels[path] = 1 + number % 2
        elif action == "all":
            tree.expand(path, ALL)
            plain.set_levels = {p: v for p, v in plain.set_levels.items() if p[: len(path)] != path}
            plain.set_levels[path] = ALL
        elif action == "collapse":
            tree.collapse(path)
            plain.set_levels[path] = 0
        elif action == "toggle":
            override = plain.override.get(path)
            shows = override == "show" if override else plain.show
            tree.toggle_filtered(path)
            plain.override[path] = "hide" if shows else "show"
        elif action == "inherit":
            tree.inherit_filtered(path)
            plain.override.pop(path, None)
        elif action == "hide":
            tree.hide(path)
            plain.own.add(path)
        elif action == "unhide":
            tree.unhide(path)
            plain.own.discard(path)
        elif action == "levels":
            tree.expand_levels(number % 3)
            plain.levels = number % 3
            plain.set_levels = {}
        elif action == "show":
            tree.show_filtered = plain.show = bool(number % 2)
        else:
            plain.filtered = np.random.default_rng(number).random(len(graph)) < 0.4
            tree.filter(plain.filtered)
    expected = plain.rows()
    assert tree.size == len(expected)
    assert shown(tree.construct(None, 0, len(expected) + 1).rows) == expected
    for number, (path, _, _) in enumerate(expected):
        assert tree.path_at(number) == path
        assert tree.offset(path) == number
    if expected:
        at = seed % len(expected)
        path = expected[at][0]
        page = tree.construct(path, -(seed % 5), 4)
        start = max(at - seed % 5, 0)
        assert shown(page.rows) == expected[start : start + 4]
        first = page.rows[0].path
        assert page.linking == [first[:k] for k in range(1, len(first))]
        assert tree.forward(path, 5) == (
            expected[min(at + 5, len(expected) - 1)][0], min(5, len(expected) - 1 - at)
        )  # fmt: skip
        assert tree.backward(path, 3) == (expected[max(at - 3, 0)][0], min(3, at))
    for row in tree.construct(None, 0, len(expected) + 1).rows:
        assert tree.is_filtered(row.path) == row.filtered
    again = PartialTree(
        graph, levels=plain.levels, filtered=plain.filtered, show_filtered=plain.show, folded=folded
    )
    assert again.restore(tree.exceptions()) == 0
    assert shown(again.construct(None, 0, len(expected) + 1).rows) == expected


@given(st.integers(0, 2**32), st.integers(1, 80))
@settings(deadline=None, max_examples=80)
def test_a_call_and_its_path(seed, n) -> None:
    calls = synthetic.random_calls(seed, n, functions=2, threads=2)
    tree = PartialTree(graph_of(calls))
    for call in range(n):
        path, iterations = tree.path_of(call)
        assert len(path) == calls.depth[call]
        assert tree.call(path, iterations) == call
        assert tree.node(path) == tree.graph.subtrees.of_call[call]
        row = tree.expand_to(path)
        assert tree.path_at(row) == path


@given(st.integers(0, 2**32), st.integers(1, 200), st.integers(1, 30))
@settings(deadline=None, max_examples=40)
def test_a_call_and_its_path_where_sequences_are_folded(seed, n, most) -> None:
    calls = synthetic.random_calls(seed, n, functions=2, threads=2)
    tree = PartialTree(graph_of(calls), levels=ALL, folded=True)
    of_call, extent = tree.graph.subtrees.of_call, calls.extent
    for call in range(n):
        path, iterations = tree.path_of(call)
        real = [k for k in range(1, len(path) + 1) if not tree.is_sequence(tree.node(path[:k]))]
        assert len(real) == calls.depth[call]
        assert tree.call(path, iterations) == call
        assert tree.node(path) == of_call[call]
        assert tree.path_at(tree.offset(path)) == path
    for row in tree.construct(None, 0, tree.size).rows:
        # What a row takes in, from its rows: a call takes in itself, a sequence what is in it, times over.
        first, takes = tree.call(row.path), _takes(tree, row)
        assert first == takes[0]
        assert tree.calls(row.path, 10**6).tolist() == takes
        assert tree.calls(row.path, most).tolist() == takes[:most]
        assert tree.last(row.path) == takes[-1]
        assert tree.last_callee(row.path) == takes[len(takes) // row.iterations - 1]
        siblings = {(int(calls.parent[call]), int(calls.thread[call])) for call in takes}
        assert len(siblings) == 1
        assert all(b == a + extent[a] for a, b in pairwise(takes))


def _takes(tree: PartialTree, row: Row) -> list[int]:
    at, found = tree.call(row.path), []

    def walk(node: int) -> None:
        nonlocal at
        if not tree.is_sequence(node):
            found.append(at)
            at += int(tree.graph.subtrees.extent[node])
            return
        for value, times in tree.graph.grammar.symbols(node):
            for _ in range(times):
                walk(value)

    for _ in range(row.iterations):
        walk(row.node)
    return found


def test_a_loop_of_three_calls_is_two_rows() -> None:
    trace = trace_of("main( start() " + "a() b() c( d() ) " * 40 + "end() )")
    graph = graph_of(trace.calls)
    assert PartialTree(graph, levels=1).size == 123
    tree = PartialTree(graph, levels=1, folded=True)
    rows = tree.construct(None, 0, 10).rows
    assert [(row.state, row.iterations) for row in rows] == [("-", 1), ("", 1), ("+", 40), ("", 1)]
    assert tree.is_sequence(rows[2].node)
    tree.expand(rows[2].path)
    below = tree.construct(rows[2].path, 1, 3).rows
    assert [row.depth for row in below] == [3, 3, 3]
    assert [tree.call(row.path) for row in below] == [2, 3, 4]
    assert tree.call(below[2].path, (0, 7, 0)) == 4 + 7 * 4
    assert PartialTree(graph, levels=ALL, folded=True).size == 8


def test_sixteen_cases_of_hiding() -> None:
    """Setting of the tree, override by the parent, own mark, mark by the filters."""
    calls = synthetic.flat(3, functions=3)  # a root with two different leaves
    graph = graph_of(calls)
    leaf = int(graph.subtrees.of_call[1])
    for show, overridden, own, by_filter in product((False, True), repeat=4):
        filtered = np.zeros(len(graph), np.bool_)
        filtered[leaf] = by_filter
        tree = PartialTree(graph, levels=ALL, filtered=filtered, show_filtered=show)
        if own:
            tree.hide((0, 0))
        if overridden:
            tree.toggle_filtered((0,))
        marked_are_shown = show != overridden
        assert tree.is_shown((0, 0)) == (marked_are_shown or not (own or by_filter))
        assert tree.size == 2 + tree.is_shown((0, 0))
        assert tree.state((0,)) == ("-" if tree.is_shown((0, 0)) else "~")


#: Fig. 27, with the rows of one call as lists of its callees.
SAMPLE = ("main", [
    ("IBk.<init>", [("DistributionClassifier.<init>", [("Classifier.<init>", [])]), ("setKNN", [])]),
    ("evaluateModel", [
        ("getOption", []),
        ("Instances.<init>", [
            ("FastVector.<init>", []), ("addElement", []), ("size", []), ("numAttributes", [("size", [])]),
            ("Attribute.<init>", []), ("addElement", []),
            ("FastVector.<init>", []), ("addElement", []), ("size", []), ("numAttributes", [("size", [])]),
            ("Attribute.<init>", []), ("addElement", []),
            ("FastVector.<init>", []), ("addElement", []), ("size", []), ("numAttributes", [("size", [])]),
            ("Attribute.<init>", []), ("addElement", []),
            ("FastVector.<init>", []), ("addElement", []), ("size", []), ("numAttributes", [("size", [])]),
            ("Attribute.<init>", []), ("addElement", []), ("FastVector.<init>", []), ("addElement", []),
        ]),
    ]),
])  # fmt: skip


def sample_tree(levels: int = ALL) -> PartialTree:
    from tracevis3d.trace.model import Calls

    rows: list[tuple[int, int, int]] = []
    names: dict[str, int] = {}

    def walk(call, parent, depth) -> int:
        at = len(rows)
        rows.append((names.setdefault(call[0], len(names)), parent, depth))
        extent = 1 + sum(walk(below, at, depth + 1) for below in call[1])
        extents[at] = extent
        return extent

    extents: dict[int, int] = {}
    walk(SAMPLE, -1, 1)
    function, parent, depth = (np.array(column) for column in zip(*rows, strict=True))
    calls = Calls(
        function=function.astype(np.int32), parent=parent, depth=depth.astype(np.int32),
        extent=np.array([extents[i] for i in range(len(rows))]), thread=np.zeros(len(rows), np.int32),
    )  # fmt: skip
    return PartialTree(graph_of(calls), levels=levels)


def test_the_walk_through_of_section_5_4() -> None:
    tree = sample_tree()
    assert tree.size == 38

    def numbers(page) -> list[int]:
        return [row.number + 1 for row in page.rows]  # the figure counts from 1

    def linking(page) -> list[int]:
        return [tree.offset(path) + 1 for path in page.linking]

    # 5.4.2.1: ten rows from the root.
    page = tree.construct(None, 0, 10)
    assert numbers(page) == list(range(1, 11))
    assert linking(page) == []
    # 5.4.2.2: skip six lines; row 7 is the next start, rows 1 and 6 link it to the root.
    root = tree.path_at(0)
    path, skipped = tree.forward(root, 6)
    assert (tree.offset(path) + 1, skipped) == (7, 6)
    page = tree.construct(root, 6, 10)
    assert numbers(page) == list(range(7, 17))
    assert linking(page) == [1, 6]
    # A long jump to the last page.
    page = tree.construct(root, tree.size - 10, 10)
    assert numbers(page) == list(range(29, 39))
    assert linking(page) == [1, 6, 8]
    # 5.4.2.3: from row 14 eleven rows back to row 3; rows 1 and 2 link it.
    path, skipped = tree.backward(tree.path_at(13), 11)
    assert (tree.offset(path) + 1, skipped) == (3, 11)
    page = tree.construct(tree.path_at(13), -11, 10)
    assert numbers(page) == list(range(3, 13))
    assert linking(page) == [1, 2]
    # "the maximum number that is available"
    assert tree.forward(tree.path_at(35), 10) == (tree.path_at(37), 2)
    assert tree.backward(tree.path_at(2), 10) == (tree.path_at(0), 2)


def test_rows_of_a_tree_far_too_large_to_be_made() -> None:
    """The graph of 2**40 calls has 41 nodes; its rows are found all the same."""
    from tracevis3d.analysis.compact import CompactTrace
    from tracevis3d.analysis.subtrees import Subtrees

    levels = 41
    # Two different callees with the same subtree would be joined into one row, so they alternate with a leaf.
    function = np.arange(levels + 1, dtype=np.int32)
    first, child, extent = [0, 0, 0], [], [1, 1]
    for c in range(2, levels + 1):
        below = 1 if c == 2 else c - 1
        child += [below, 0, below]
        first.append(len(child))
        extent.append(2 + 2 * extent[below])
    subtrees = Subtrees(
        np.empty(0, np.int32), function, np.array(first), np.array(child, np.int32),
        np.zeros(levels + 1, np.int64), np.ones(levels + 1, np.int64), np.array(extent),
    )  # fmt: skip
    tree = PartialTree(CompactTrace(subtrees, np.array([levels], np.int32), np.array([0, 1])), levels=ALL)
    assert tree.size == extent[-1] > 10**12
    middle = tree.size // 2 + 12345
    path = tree.path_at(middle)
    assert tree.offset(path) == middle
    tree.collapse((0, 0))
    assert tree.size == extent[-1] - extent[-2] + 1
    page = tree.construct(path, 0, 5) if tree.is_shown(path) else tree.construct(None, 0, 5)
    assert len(page.rows) == 5


def test_what_is_not_there_is_said() -> None:
    tree = sample_tree(0)
    assert tree.size == 1
    with pytest.raises(UsageError, match="no row"):
        tree.offset((0, 0))
    with pytest.raises(UsageError, match="there is no path"):
        tree.expand((0, 9))
    with pytest.raises(UsageError, match="the tree has 1 rows"):
        tree.path_at(1)
    for call in (-1, int(tree.extent[tree.root]) - 1):
        with pytest.raises(UsageError, match=f"there is no call {call}"):
            tree.path_of(call)
    assert tree.next_sibling((0, 0)) == (0, 1)
    assert tree.next_sibling((0, 1)) is None
    assert tree.previous_sibling((0, 0)) is None
    assert tree.parent((0, 1)) == (0,)
    assert tree.parent((0,)) is None


def test_hidden_roots_are_shown_when_they_are_gone_to() -> None:
    tree = PartialTree(sample_tree().graph, filtered=np.ones(len(sample_tree().graph), np.bool_))
    assert tree.size == 0
    assert tree.expand_to((0, 1)) > 0
    assert tree.is_shown((0, 1))
    again = PartialTree(tree.graph, filtered=np.ones(len(tree.graph), np.bool_))
    assert again.restore(tree.exceptions()) == 0
    assert again.is_shown((0, 1))
    with pytest.raises(UsageError, match="only override"):
        tree.collapse(())
