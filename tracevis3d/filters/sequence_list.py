"""The list of sequences: callees that follow each other repeatedly, rules of the grammar."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.listing import Listing
from ..analysis.search import Query, matching_functions
from ..analysis.sequences import words
from ..errors import UsageError
from .facts import Facts
from .stack import HIDDEN, FilterResult

#: Maximum number of names written of a sequence, and of its callers.
_SPELT, _CALLERS = 24, 3
#: Orders of the list of sequences.
SEQUENCE_SORTS = {
    "calls": "total number of calls in all occurrences, most first",
    "occurrences": "how often it occurs, most first",
    "size": "callees of one occurrence, most first",
    "name": "by name",
}


def sequences(
    facts: Facts, sort: str = "calls", contains: str = "", filtered: FilterResult | None = None
) -> Listing:
    """Return the sequences of callees that occur again: the rules of the grammar of the compact trace.

    Parameters
    ----------
    facts : Facts
    sort : str
        A key of :data:`SEQUENCE_SORTS`.
    contains : str
        Only sequences with a function whose name holds this text.
    filtered : FilterResult, optional
        The hidden calls, to be counted.

    Returns
    -------
    Listing

    Raises
    ------
    UsageError
        If there is no such order.
    """
    if sort not in SEQUENCE_SORTS:
        raise UsageError(f"there is no order {sort!r}: choose one of {', '.join(SEQUENCE_SORTS)}")
    graph, found, labels = facts.graph, facts.sequences, facts.trace.functions.label
    own, lists = found.grammar, found.grammar.lists
    named = np.zeros(lists, np.int64)
    named[: len(graph)] = named_in(facts, contains)[graph.subtrees.function]
    keys = lists + np.flatnonzero(own.total(named)[lists:])
    if sort == "name":
        text = [words(graph, key, labels) for key in keys.tolist()]
        keys = keys[np.array(sorted(range(len(keys)), key=text.__getitem__), int)]
    else:
        count = found.count[keys - lists]
        by = {"calls": own.calls[keys] * count, "occurrences": count, "size": own.callees[keys]}[sort]
        keys = keys[np.argsort(-by, kind="stable")]
    listed = np.zeros(own.rules, np.bool_)
    listed[keys - lists] = True

    def row(key: int) -> dict[str, Any]:
        count, hidden, callers = int(found.count[key - lists]), 0, found.callers(key).tolist()
        if filtered is not None:
            hidden = int(np.count_nonzero(filtered.state[found.starts(key)] == HIDDEN))
        return {
            "rule": key - lists,
            "name": words(graph, key, labels),
            "short_name": words(graph, key, facts.short_names),
            "sequence": words(graph, key, labels, _SPELT),
            "symbols": [
                {"rule": value - lists, "times": times}
                if value >= lists
                else {"function": labels[graph.subtrees.function[value]], "subtree": value, "times": times}
                for value, times in own.symbols(key)
            ],
            "uses": own.uses(key),
            "places": int(found.places[key - lists]),
            "callers": len(callers),
            "called_by": [labels[function] for function in callers[:_CALLERS]],
            "occurrences": count,
            "hidden": hidden,
            "entries": int(own.length[key]),
            "callees": int(own.callees[key]),
            "calls_each": int(own.calls[key]),
            "calls": int(own.calls[key]) * count,
            "first_call": found.first(key),
        }

    def key_of(call: int) -> int:
        rules = (rule for rule, _ in found.rules_of(call, facts.trace.calls))
        return next((rule for rule in rules if listed[rule - lists]), -1)

    return Listing("sequences", keys, row, found.calls, key_of, found.starts)


def named_in(facts: Facts, contains: str) -> NDArray[np.bool_]:
    """Return which functions have ``contains`` in their names; all, if it is empty.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    contains : str
        A part of the name, in any case.

    Returns
    -------
    bool (functions,)
    """
    flags = np.zeros(len(facts.trace.functions), np.bool_)
    if not contains.strip():
        return ~flags
    flags[matching_functions(facts.trace.functions, Query(contains.strip()))] = True
    return flags
