"""SEAT's thesis: Table 1 against a Python dict; filters and criteria on the same traces.

The thesis took 2 to 14 s for these sizes on a Pentium 4 of 2.8 GHz; that is in the rows' names, not a peer.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.calls.bench_cone import graph_of
from benchmarks.calls.bench_subtrees import plain_classes
from benchmarks.measure import best, row
from tests.support import synthetic
from tracevis3d.analysis.criteria import CRITERIA, alike
from tracevis3d.analysis.subtrees import distinct_subtrees
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.stack import apply, parse
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings

#: Calls and the thesis's seconds (Table 1).
TABLE_1 = ((85_406, 2), (219_507, 2), (385_434, 6), (631_530, 4), (742_812, 4), (2_409_740, 14))


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    result = []
    distinct_subtrees(synthetic.program(1000)[0])
    for n, seconds in TABLE_1:
        calls, _, _ = synthetic.program(n)
        _, ours = best(7, partial(distinct_subtrees, calls))
        _, peer = best(1, partial(plain_classes, calls))
        result.append(row(f"compact trace, {n:,} calls (thesis: {seconds} s)", ours, peer, "Python dict"))

    calls, first, count = synthetic.program(2_409_740)
    graph = graph_of(calls)
    for criterion in CRITERIA:
        if criterion != "exact":
            alike(graph, criterion)
            _, ours = best(3, partial(alike, graph, criterion))
            _, peer = best(1, partial(distinct_subtrees, calls))
            result.append(row(f"likeness {criterion}, {len(graph):,} subtrees", ours, peer, "finding them"))

    names = Strings.of(f"p.M{i % 40}.C{i % 200}.get{i}" for i in range(1500))
    labels = Strings.of(f"C{i % 200}.get{i}" for i in range(1500))
    none = np.full(1500, -1, np.int32)
    trace = Trace(
        calls=calls,
        functions=Functions(names, labels, none, none, np.zeros(1500, np.int32)),
        threads=Threads(process=(1,), tid=(1,), name=("",), process_name=("",), first=first, count=count),
    )
    facts = Facts(trace, graph)
    for text in ("utilities", "accessors", "name(pattern=get1)", "patterns", "duration(below=1us)", "depth"):
        stack = parse(text)
        apply(stack, facts)
        _, ours = best(5, partial(apply, stack, facts))
        _, peer = best(5, partial(np.add, calls.end, 1))
        result.append(row(f"filter {text}, 2,409,740 calls", ours, peer, "one pass of NumPy over a column"))

    return result
