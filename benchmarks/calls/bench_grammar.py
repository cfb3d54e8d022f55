"""The grammar of a compact trace against scikit-sequitur: time, and entries that it takes.

Both read the same symbols, the edges with their iterations; the peer gets a mark behind each list.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sksequitur import Mark, Parser
from sksequitur.core import Rule

from benchmarks.measure import best, recorded, row
from tests.analysis.test_compact import graph_of
from tests.support import synthetic
from tracevis3d.analysis.compact import CompactTrace
from tracevis3d.analysis.grammar import Grammar, grammar_of
from tracevis3d.features.call_tree.nodes import list_sizes
from tracevis3d.trace.model import Calls

TRACES = (
    "weka_OneR_iris_0.4M.tsv.gz",
    "weka_J48_weather.tsv.gz",
    "vt_pylint_0.9M.json.gz",
    "uftrace_lua.json.gz",
)
_PEER = "scikit-sequitur"


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    result: list[dict[str, Any]] = []
    _grammar(graph_of(synthetic.program(1000)[0]))  # compile
    for trace in TRACES:
        for name, calls in recorded(trace):
            result += _compared(name, calls)
    return result + _compared("a program of 2,409,740 calls", synthetic.program(2_409_740)[0])


def _compared(name: str, calls: Calls) -> list[dict[str, Any]]:
    graph = graph_of(calls)
    symbols = _symbols(graph)
    grammar, ours = best(5, partial(_grammar, graph))
    parser, peer = best(1, partial(_parsed, symbols))
    entries, sizes = _entries(parser), list_sizes(graph)
    of = f"{name}: {sizes['callees']:,} entries"
    return [
        row(f"grammar, {of}, {sizes['with_iterations']:,} with iterations", ours, peer, _PEER),
        {**row(f"grammar, {of}: left", len(grammar), entries, _PEER), "unit": "entries"},
        {
            **row(f"grammar, {of}: left", len(grammar), sizes["with_blocks"], "repeated blocks"),
            "unit": "entries",
        },
    ]


def _grammar(graph: CompactTrace) -> Grammar:
    forest = graph.forest
    return grammar_of(forest.first, forest.child, forest.count, graph.subtrees.extent)


def _symbols(graph: CompactTrace) -> list[Any]:
    edges = graph.forest
    known: dict[tuple[int, int], int] = {}
    numbers = [
        known.setdefault(edge, len(known))
        for edge in zip(edges.child.tolist(), edges.count.tolist(), strict=True)
    ]
    found: list[Any] = []
    for low, high in zip(edges.first[:-1].tolist(), edges.first[1:].tolist(), strict=True):
        found += [*numbers[low:high], Mark()]
    return found


def _parsed(symbols: list[Any]) -> Parser:
    parser = Parser()
    parser.feed(symbols)
    return parser


def _entries(parser: Parser) -> int:
    """Count the symbols of all rules but the marks."""
    todo, seen, count = [parser.tree], {id(parser.tree)}, 0
    while todo:
        rule = todo.pop()
        symbol = rule.next_symbol
        while symbol is not rule:
            count += not isinstance(symbol.value, Mark)
            if isinstance(symbol.value, Rule) and id(symbol.value) not in seen:
                seen.add(id(symbol.value))
                todo.append(symbol.value)
            symbol = symbol.next_symbol
    return count
