"""Patterns: subtrees that occur again (SEAT, section 2.9.1.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..analysis.criteria import CRITERIA, Likeness, alike
from ..parameters import parameter
from .facts import Facts
from .registry import Filter, Marked


@dataclass(frozen=True)
class Parameters:
    """The parameters of the filter of patterns."""

    criterion: str = parameter("exact", "When two subtrees are alike", choices=CRITERIA)
    depth: int = parameter(3, "Levels that the criterion depth compares", low=1)
    times: int = parameter(2, "Minimum number of occurrences of a pattern", low=2)
    size: int = parameter(2, "Minimum number of calls in an occurrence", low=1)
    keep: str = parameter(
        "first",
        "Which occurrences are kept",
        choices={"first": "the first of each pattern", "none": "none of them"},
    )


def occurrences(facts: Facts, kinds: Likeness) -> NDArray[np.int64]:
    """Return how many calls are of each kind, int64 (kinds,).

    Parameters
    ----------
    facts : Facts
        Of the trace.
    kinds : Likeness
        The kinds of its distinct subtrees.

    Returns
    -------
    int64 (kinds,)
    """
    count = np.zeros(len(kinds), np.int64)
    np.add.at(count, kinds.of_class, facts.graph.subtrees.occurrences)
    return count


def mark(facts: Facts, p: Parameters) -> Marked:
    """Mark the calls that begin an occurrence of a pattern.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : Parameters
        When subtrees are alike, and how often and how large a pattern has to be.

    Returns
    -------
    Marked
    """
    subtrees = facts.graph.subtrees
    kinds = alike(facts.graph, p.criterion, p.depth)
    repeated = (occurrences(facts, kinds)[kinds.of_class] >= p.times) & (subtrees.extent >= p.size)
    if p.keep == "none":
        return Marked("node", repeated)
    # The first call of a class is known; that of a kind is the least of its classes'.
    first = np.full(len(kinds), np.iinfo(np.int64).max)
    np.minimum.at(first, kinds.of_class, subtrees.call)
    flags = repeated[subtrees.of_call]
    flags[first] = False
    return Marked("call", flags)


FILTERS = {
    "patterns": Filter(
        "patterns",
        "Patterns",
        "subtrees that occur more than once, except the first",
        "any",
        Parameters,
        mark,
    )
}
