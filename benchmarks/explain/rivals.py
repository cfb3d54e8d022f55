"""What other tools tell of two recordings: tables that they sort, as a person sorts them to find a change.

Written from what each tool counts; the recordings are the same as ours. A rival has found a change in the
place at which its table, sorted by how much each row differs, names the function that was changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

import numpy as np

from tracevis3d.analysis.measures import self_times
from tracevis3d.trace.model import Trace

Table = Counter[tuple[str, ...]]


def own_time(trace: Trace) -> Table:
    """Time of each function itself: ``pstats`` sorted by ``tottime``."""
    return _summed(trace, self_times(trace.calls))


def total_time(trace: Trace) -> Table:
    """Time of each function with all that it calls: speedscope's sandwich, both recordings side by side."""
    calls = trace.calls
    above = np.maximum(calls.parent, 0)
    again = (calls.parent >= 0) & (calls.function[above] == calls.function)
    return _summed(trace, np.where(again, 0, calls.end - calls.start))


def count(trace: Trace) -> Table:
    """Calls of each name: Perfetto's ``select name, count(*) … group by name``."""
    return _summed(trace, np.ones(len(trace.calls), np.int64))


def stacks(trace: Trace) -> Table:
    """Time of each call stack itself: ``difffolded.pl``, the input of a differential flame graph."""
    labels, calls, own = list(trace.functions.label), trace.calls, self_times(trace.calls)
    found: Table = Counter()
    stack: list[str] = []
    for depth, function, time in zip(calls.depth.tolist(), calls.function.tolist(), own.tolist()):
        stack[depth - 1 :] = [labels[function]]
        found[tuple(stack)] += time
    return found


def _summed(trace: Trace, value: np.ndarray) -> Table:
    total = np.bincount(trace.calls.function, value, len(trace.functions))
    found: Table = Counter()
    for label, number in zip(trace.functions.label, total.tolist()):
        found[(label,)] += round(number)
    return found


#: Name of each rival, and its table.
RIVALS: dict[str, Callable[[Trace], Table]] = {
    "pstats, own time": own_time,
    "speedscope, total time": total_time,
    "Perfetto, counts": count,
    "difffolded": stacks,
}


def place(a: Table, b: Table, functions: Collection[str]) -> int:
    """Return the place of the first row about one of ``functions``, by how much rows differ; 0: none does."""
    change = {row: abs(b[row] - a[row]) for row in {*a, *b}}
    most = max((change[row] for row in change if row[-1] in functions), default=0)
    return 1 + sum(value > most for value in change.values()) if most else 0
