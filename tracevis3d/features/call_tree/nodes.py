"""Lists of the functions and distinct subtrees of a trace, with their occurrences (SEAT, 4.5.5).

SEAT's users were confused by the order of its Model view and by nodes of the same name (section 7.3.2), so
the order is given, and subtrees of one function are distinguished by a short name of their shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis.compact import CompactTrace
from ...analysis.repetitions import find_runs
from ...errors import UsageError
from ...filters.facts import Facts
from ...filters.roles import roles_of
from ...filters.stack import HIDDEN, FilterResult
from ...trace.model import Trace

#: Orders of the list.
SORTS = {
    "occurrences": "how often it is called, most first",
    "calls": "total number of calls in its subtrees, most first",
    "duration": "total time in its calls, most first",
    "subtrees": "number of distinct subtrees it is the root of, most first",
    "name": "by name",
}


class FunctionTable:
    """The numbers of each function, and how much of it is hidden.

    Parameters
    ----------
    facts : Facts
    filtered : FilterResult, optional
        What a filter stack makes of the trace.
    """

    def __init__(self, facts: Facts, filtered: FilterResult | None = None) -> None:
        calls, subtrees, n = facts.trace.calls, facts.graph.subtrees, len(facts.trace.functions)
        self.facts = facts
        covered = subtrees.extent.astype(np.float64) * subtrees.occurrences
        hidden = np.zeros(n, np.int64)
        if filtered is not None:
            hidden = np.bincount(calls.function[filtered.state == HIDDEN], minlength=n)
        #: int64 (functions,) each.
        self.columns: dict[str, NDArray[Any]] = {
            "occurrences": np.bincount(calls.function, minlength=n),
            "hidden": hidden,
            "subtrees": np.bincount(subtrees.function, minlength=n),
            "calls": np.bincount(subtrees.function, covered, n).astype(np.int64),
            "duration": np.bincount(calls.function, calls.end - calls.start, n).astype(np.int64),
        }

    def order(self, sort: str) -> NDArray[np.int64]:
        """Return the functions by an order of :data:`SORTS`, int64 (functions,).

        Parameters
        ----------
        sort : str
            A key of :data:`SORTS`.

        Returns
        -------
        int64 (functions,)

        Raises
        ------
        UsageError
            If there is no such order.
        """
        if sort not in SORTS:
            raise UsageError(f"there is no order {sort!r}: choose one of {', '.join(SORTS)}")
        if sort == "name":
            labels = self.facts.trace.functions.label
            return np.array(sorted(range(len(labels)), key=lambda i: labels[i]), np.int64)
        return np.argsort(-self.columns[sort], kind="stable")

    def row(self, function: int) -> dict[str, Any]:
        """Return the facts of a function."""
        facts = self.facts
        number = {name: int(column[function]) for name, column in self.columns.items()}
        return {
            "function": facts.trace.functions.label[function],
            "name": facts.trace.functions.name[function],
            "role": roles_of(facts.trace)[function],
            "occurrences": number["occurrences"],
            "hidden": number["hidden"],
            "subtrees": number["subtrees"],
            "calls": number["calls"],
            "duration_ns": number["duration"],
            "callers": int(facts.fan_in[function]),
            "callees": int(facts.fan_out[function]),
        }


def subtree_rows(facts: Facts, function: int | None = None, most: int = 50) -> list[dict[str, Any]]:
    """Return a row for each distinct subtree, the most frequent first: the nodes of one name.

    Parameters
    ----------
    facts : Facts
    function : int, optional
        Only those that begin with this function.
    most : int

    Returns
    -------
    list of dict
        ``functions`` is the set Γ of the subtree: the functions that are called in it, its own included.
    """
    graph, trace = facts.graph, facts.trace
    subtrees, labels = graph.subtrees, trace.functions.label
    sets = facts.sets
    which = np.arange(len(graph)) if function is None else np.flatnonzero(subtrees.function == function)
    which = which[np.argsort(-subtrees.occurrences[which], kind="stable")][:most]
    return [
        {
            "subtree": int(c),
            "function": labels[subtrees.function[c]],
            "shape": shape(graph, int(c), labels),
            "occurrences": int(subtrees.occurrences[c]),
            "calls": int(subtrees.extent[c]),
            "first_call": int(subtrees.call[c]),
            "functions": sorted(labels[f] for f in sets.members(int(sets.of_class[c])).tolist()),
        }
        for c in which.tolist()
    ]


def functions_below(trace: Trace, call: int) -> list[dict[str, Any]]:
    """Return a row for each function of Γ of a call: it and all that is called below it (TraceDiff, Eq. 2).

    Parameters
    ----------
    trace : Trace
    call : int

    Returns
    -------
    list of dict
        ``function``, ``name``, ``calls`` within the call's subtree, ``duration_ns`` of these in all; those
        with the most calls first.

    Raises
    ------
    UsageError
        If there is no such call.
    """
    calls = trace.calls
    if not 0 <= call < len(calls):
        raise UsageError(f"there is no call {call:,}: {len(calls):,} calls are numbered from 0")
    part = slice(call, call + int(calls.extent[call]))
    count = np.bincount(calls.function[part])
    lasted = np.bincount(calls.function[part], calls.end[part] - calls.start[part])
    present = np.flatnonzero(count)
    return [
        {
            "function": trace.functions.label[f],
            "name": trace.functions.name[f],
            "calls": int(count[f]),
            "duration_ns": int(lasted[f]),
        }
        for f in present[np.argsort(-count[present], kind="stable")].tolist()
    ]


def shape(graph: CompactTrace, node: int, labels: Sequence[str], most: int = 3) -> str:
    """Return a subtree's callees in a few words: ``read ×3, parse, … 12 more``.

    Parameters
    ----------
    graph : CompactTrace
    node : int
        The subtree's class.
    labels : sequence of str
        The functions' names.
    most : int
        How many different callees are named.

    Returns
    -------
    str
    """
    part = slice(int(graph.edges.first[node]), int(graph.edges.first[node + 1]))
    children = graph.edges.child[part].tolist()
    counts = graph.edges.count[part].tolist()
    words = [
        labels[graph.subtrees.function[child]] + (f" ×{count:,}" if count > 1 else "")
        for child, count in zip(children[:most], counts[:most], strict=True)
    ]
    if len(children) > most:
        words.append(f"… {len(children) - most:,} more")
    return ", ".join(words) or "calls nothing"


def occurrences_of(graph: CompactTrace, node: int, most: int | None = None) -> NDArray[np.int64]:
    """Return the calls of a distinct subtree, int64 (k,), ascending; at most ``most``.

    Parameters
    ----------
    graph : CompactTrace
    node : int
        The subtree's class.
    most : int, optional
        How many calls; None: all.

    Returns
    -------
    int64 (k,)
    """
    return np.flatnonzero(graph.subtrees.of_call == node)[:most].astype(np.int64)


def list_sizes(graph: CompactTrace) -> dict[str, int]:
    """Return the total length of the lists of callees of all distinct subtrees, for each degree of folding.

    Parameters
    ----------
    graph : CompactTrace

    Returns
    -------
    dict
        ``callees``: one by one. ``with_iterations``: a callee that repeats in a row once, as the compact
        trace has it. ``with_blocks``: blocks of up to 16 callees that repeat in a row once, too, as
        :func:`~tracevis3d.analysis.repetitions.find_runs` finds them. ``with_rules``: sequences that stand in
        several places once, as rules of a grammar, whose own entries are counted, too.
    """
    runs = find_runs(graph.subtrees)
    folded = int((runs.period.astype(np.int64) * (runs.times.astype(np.int64) - 1)).sum())
    callees = len(graph.subtrees.child)
    return {
        "callees": callees,
        "with_iterations": len(graph.edges),
        "with_blocks": callees - folded,
        "with_rules": graph.grammar.of_callees,
    }
