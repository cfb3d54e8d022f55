"""Partial trees over 14 million calls: the worst case of each answer, against one pass of NumPy.

Whatever is asked of a list must take far less than a look at every call would. Times are CPU time, the best
of three for each place, and of 300 places the worst.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.calls.bench_cone import graph_of
from benchmarks.measure import best, row
from tests.support import synthetic
from tracevis3d.features.call_tree import lists
from tracevis3d.features.call_tree.navigation import KEYS, TreeNavigation
from tracevis3d.features.call_tree.partial_tree import ALL, PartialTree
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.listed import listed
from tracevis3d.filters.sequence_list import sequences
from tracevis3d.filters.stack import apply, parse
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings

CALLS, PLACES, BY_HAND = 14_000_000, 300, 2_000
_PEER = "one pass of NumPy"


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    calls, first, count = synthetic.program(CALLS)
    graph = graph_of(calls)
    _, peer = best(3, partial(np.add, calls.extent, 1))
    marked = np.random.default_rng(2).random(len(graph)) < 0.1
    result = []
    graph.grammar  # noqa: B018
    for levels, folded, title in (
        (ALL, False, "open to the ground"), (3, False, "three levels open"), (ALL, True, "sequences folded"),
    ):  # fmt: skip
        tree, built = best(2, partial(PartialTree, graph, levels=levels, filtered=marked, folded=folded))
        result.append(row(f"tree, {title}: made for {CALLS:,} calls", built, peer, _PEER))
        for name, worst in _answers(tree).items():
            result.append(row(f"tree, {title}: {name}", worst, peer, _PEER))
    return result + _filtered(calls, first, count, graph, peer)


def _worst(
    work: Callable[[Any], Any], places: list[Any], before: Callable[[Any], Any] | None = None
) -> float:
    """Return the CPU milliseconds of the place that takes longest, each the best of three.

    ``before`` is done each time and not measured.
    """
    longest = 0.0
    gc.disable()
    for place in places:
        times = []
        for _ in range(3):
            if before is not None:
                before(place)
            began = time.process_time()
            work(place)
            times.append(1e3 * (time.process_time() - began))
        longest = max(longest, min(times))
    gc.enable()
    return longest


def _answers(tree: PartialTree) -> dict[str, float]:
    rng = np.random.default_rng(3)

    def somewhere(count: int) -> list[Any]:
        return [tree.path_at(at) for at in rng.integers(0, tree.size, count).tolist()]

    # What a person did by hand: opened, closed, switched, hid.
    acts = (tree.collapse, tree.expand, tree.toggle_filtered, tree.hide)
    for k in range(BY_HAND):
        acts[k % 4](somewhere(1)[0])
    places = somewhere(PLACES)
    n = int(tree.graph.subtrees.extent[tree.graph.roots].sum())
    works: dict[str, Callable[[Any], Any]] = {
        "node of a path": tree.node,
        "parent": tree.parent,
        "child": tree.child,
        "next sibling": tree.next_sibling,
        "previous sibling": tree.previous_sibling,
        "sign": tree.state,
        "complete size": lambda path: tree.size,
        "offset": tree.offset,
        "forward skip of a million": lambda path: tree.forward(path, 1_000_000),
        "backward skip of a million": lambda path: tree.backward(path, 1_000_000),
        "construct 40 rows": lambda path: tree.construct(path, -20, 40),
        "call of a path": tree.call,
    }
    found = {name: _worst(work, places) for name, work in works.items()}
    found["row to path"] = _worst(tree.path_at, rng.integers(0, tree.size, PLACES).tolist())
    found["call to path"] = _worst(tree.path_of, rng.integers(0, n, PLACES).tolist())
    for name, there, back in (
        ("collapse and expand", tree.collapse, tree.expand),
        ("expand all below, and collapse", partial(tree.expand, levels=ALL), tree.collapse),
        ("hide and show again", tree.hide, tree.unhide),
        ("filtered callees, and back", tree.toggle_filtered, tree.toggle_filtered),
    ):
        found[name] = _worst(lambda path, there=there, back=back: (there(path), back(path)), places)
    navigation = TreeNavigation(tree, 40)

    def go(place: tuple[int, str]) -> None:
        navigation.go(place[0] + 1)

    def press(place: tuple[int, str]) -> None:
        navigation.press(place[1])
        navigation.rows()

    keys = [list(KEYS)[k % len(KEYS)] for k in range(PLACES)]
    at = rng.integers(0, tree.size // 2, PLACES).tolist()
    found["any key, and its window of 40 rows"] = _worst(press, list(zip(at, keys, strict=True)), go)
    return found


def _filtered(calls: Any, first: Any, count: Any, graph: Any, peer: float) -> list[dict[str, Any]]:
    """Measure what changes once when filters of single calls do, and the lists."""
    names = Strings.of(f"p.M{i % 40}.C{i % 200}.get{i}" for i in range(1500))
    labels = Strings.of(f"C{i % 200}.get{i}" for i in range(1500))
    none = np.full(1500, -1, np.int32)
    trace = Trace(
        calls=calls,
        functions=Functions(names, labels, none, none, np.zeros(1500, np.int32)),
        threads=Threads(process=(1,), tid=(1,), name=("",), process_name=("",), first=first, count=count),
    )
    facts, result = Facts(trace, graph), []
    for text in ("utilities", "duration(below=1us)", "duration(below=1us, what=call)"):
        stack = parse(text)
        filtered = apply(stack, facts)
        _, ours = best(2, partial(listed, stack, facts, filtered))
        result.append(row(f"tree under {text}: made for {CALLS:,} calls", ours, peer, _PEER))
    for name, make in (
        ("functions", partial(lists.model, facts)),
        ("patterns", partial(lists.repeated, facts)),
        ("sequences", partial(sequences, facts)),
        ("utilities", partial(lists.utilities, facts)),
    ):
        listing, ours = best(2, make)
        result.append(row(f"list of {name} of {CALLS:,} calls", ours, peer, _PEER))
        _, ours = best(5, partial(listing.rows, len(listing) // 2, 60))
        result.append(row(f"a page of 60 of {len(listing):,} {name}", ours, peer, _PEER))
    return result
