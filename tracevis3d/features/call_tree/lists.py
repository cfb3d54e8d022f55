"""The lists of SEAT's views (section 4.5.5): functions, patterns, utilities, and matches of a library.

A list of any length is an array of keys in order; a row gets its texts when it is shown. So a window over
the functions, or over millions of distinct subtrees, costs what the window holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...analysis import pattern_library
from ...analysis.criteria import alike
from ...analysis.listing import Listing
from ...errors import UsageError
from ...filters import patterns
from ...filters.facts import Facts
from ...filters.sequence_list import named_in
from ...filters.stack import HIDDEN, FilterResult
from . import nodes

Ints = NDArray[np.int64]

#: Kinds of lists, with descriptions.
KINDS = {
    "model": "Functions with their occurrences",
    "patterns": "Subtrees that occur more than once",
    "sequences": "Repeated sequences of callees: rules of the grammar",
    "utilities": "Functions called from many places that call little",
    "library": "What a library of patterns and utilities finds here",
}
#: Orders of the list of patterns; those of functions are :data:`.nodes.SORTS`.
PATTERN_SORTS = {
    "calls": "total number of calls in all occurrences, most first",
    "occurrences": "how often it occurs, most first",
    "size": "calls of one occurrence, most first",
    "name": "by name",
}


def model(
    facts: Facts, filtered: FilterResult | None = None, sort: str = "occurrences", contains: str = ""
) -> Listing:
    """Return the functions that are called, with their occurrences: SEAT's Model view.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    filtered : FilterResult, optional
        The hidden calls, to be counted; None: none.
    sort : str
        A key of :data:`.nodes.SORTS`.
    contains : str
        Only functions whose names hold this text.

    Returns
    -------
    Listing

    Raises
    ------
    UsageError
        If there is no such order.
    """
    table = nodes.FunctionTable(facts, filtered)
    order = table.order(sort)
    keys = order[named_in(facts, contains)[order] & (table.columns["occurrences"][order] > 0)]
    return _of_functions("model", facts, keys, table.row)


def utilities(facts: Facts, contains: str = "") -> Listing:
    """Return the functions with any utilityhood, the highest first: SEAT's Utility view.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    contains : str
        Only functions whose names hold this text.

    Returns
    -------
    Listing
    """
    order = np.argsort(-facts.utilityhood, kind="stable")
    keys = order[(facts.utilityhood[order] > 0) & named_in(facts, contains)[order]]
    table = nodes.FunctionTable(facts, None)

    def row(key: int) -> dict[str, Any]:
        return {
            **table.row(key),
            "utilityhood": round(float(facts.utilityhood[key]), 6),
            "modules": int(facts.modules_in[key]),
        }

    return _of_functions("utilities", facts, keys, row)


def repeated(
    facts: Facts,
    p: patterns.Parameters | None = None,
    sort: str = "calls",
    contains: str = "",
    filtered: FilterResult | None = None,
) -> Listing:
    """Return the patterns, subtrees of one kind that occur again: SEAT's Pattern view.

    Parameters
    ----------
    facts : Facts
    p : patterns.Parameters, optional
        What counts as a pattern.
    sort : str
        A key of :data:`PATTERN_SORTS`.
    contains : str
        Only patterns of functions whose names hold this text.
    filtered : FilterResult, optional
        The hidden calls, to be counted.

    Returns
    -------
    Listing

    Raises
    ------
    UsageError
        If there is no such order or criterion.
    """
    p = p or patterns.Parameters()
    if sort not in PATTERN_SORTS:
        raise UsageError(f"there is no order {sort!r}: choose one of {', '.join(PATTERN_SORTS)}")
    subtrees, functions = facts.graph.subtrees, facts.trace.functions
    kinds = alike(facts.graph, p.criterion, p.depth)
    of_class = kinds.of_class
    times = patterns.occurrences(facts, kinds)
    inside = np.zeros(len(kinds), np.int64)
    np.add.at(inside, of_class, subtrees.extent * subtrees.occurrences)
    shapes = np.bincount(of_class, minlength=len(kinds))
    first = np.full(len(kinds), np.iinfo(np.int64).max)
    np.minimum.at(first, of_class, subtrees.call)
    key = kinds.representative.astype(np.int64)
    wanted = (times >= p.times) & (subtrees.extent[key] >= p.size)
    found = np.flatnonzero(wanted & named_in(facts, contains)[subtrees.function[key]])
    if sort == "name":
        order = np.array(
            sorted(found.tolist(), key=lambda k: functions.label[subtrees.function[key[k]]]), int
        )
    else:
        by = {"calls": inside, "occurrences": times, "size": subtrees.extent[key]}[sort]
        order = found[np.argsort(-by[found], kind="stable")]
    hidden = np.zeros(len(kinds), np.int64)
    if filtered is not None:
        np.add.at(hidden, of_class[subtrees.of_call[filtered.state == HIDDEN]], 1)

    def row(node: int) -> dict[str, Any]:
        kind = int(of_class[node])
        return {
            "subtree": node,
            "name": functions.label[subtrees.function[node]],
            "function": functions.name[subtrees.function[node]],
            "shape": nodes.shape(facts.graph, node, functions.label),
            "occurrences": int(times[kind]),
            "hidden": int(hidden[kind]),
            "calls_each": int(subtrees.extent[node]),
            "calls": int(inside[kind]),
            "shapes": int(shapes[kind]),
            "first_call": int(first[kind]),
        }

    def calls(node: int) -> Ints:
        return np.flatnonzero((of_class == of_class[node])[subtrees.of_call])

    def key_of(call: int) -> int:
        return int(key[of_class[subtrees.of_call[call]]])

    return Listing("patterns", key[order], row, calls, key_of)


def from_library(facts: Facts, known: pattern_library.Library, contains: str = "") -> Listing:
    """Return which entries of a library occur here, and which don't: patterns, then utilities.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    known : Library
        The library.
    contains : str
        Only entries whose names hold this text.

    Returns
    -------
    Listing
    """
    trace, subtrees = facts.trace, facts.graph.subtrees
    found = pattern_library.find(known.patterns, trace, facts.graph)
    labels, count = trace.functions.label, len(found)
    named = {
        name: np.array([i for i, label in enumerate(labels) if label == name], np.int64)
        for name in known.utilities
    }
    names = [one.pattern.name for one in found] + list(known.utilities)
    text = contains.casefold()
    keys = np.array([i for i, name in enumerate(names) if text in name.casefold()], np.int64)

    def calls(key: int) -> Ints:
        if key >= count:
            return _calls(facts, named[names[key]])
        flags = np.zeros(len(subtrees), np.bool_)
        flags[found[key].nodes] = True
        return np.flatnonzero(flags[subtrees.of_call])

    def row(key: int) -> dict[str, Any]:
        if key >= count:
            return {
                "name": names[key], "kind": "utility", "criterion": "", "nodes": 1,
                "calls": len(calls(key)),
            }  # fmt: skip
        pattern = found[key].pattern
        return {
            "name": pattern.name,
            "kind": "pattern",
            "criterion": pattern.criterion,
            "nodes": len(pattern.node),
            "calls": found[key].calls,
        }

    def key_of(call: int) -> int:
        node, function = int(subtrees.of_call[call]), int(trace.calls.function[call])
        hits = [i for i, one in enumerate(found) if node in one.nodes]
        hits += [count + i for i, name in enumerate(known.utilities) if function in named[name]]
        return hits[0] if hits else -1

    return Listing("library", keys, row, calls, key_of)


def _of_functions(kind: str, facts: Facts, keys: Ints, row: Callable[[int], dict[str, Any]]) -> Listing:
    function = facts.trace.calls.function
    return Listing(
        kind,
        keys.astype(np.int64),
        row,
        lambda key: _calls(facts, np.array([key])),
        lambda call: int(function[call]),
    )


def _calls(facts: Facts, functions: Ints) -> Ints:
    flags = np.zeros(len(facts.trace.functions), np.bool_)
    flags[functions] = True
    return np.flatnonzero(flags[facts.trace.calls.function])
