"""One pattern: subtrees that are like the subtree of one call, as SEAT's Pattern view hides them (4.5.5)."""

from __future__ import annotations

from dataclasses import dataclass

from ..analysis import criteria
from ..errors import UsageError
from ..parameters import parameter
from .facts import Facts
from .registry import Filter, Marked


@dataclass(frozen=True)
class Parameters:
    """Like which call, and how."""

    call: int = parameter(0, "A call of the pattern, by its number", low=0)
    criterion: str = parameter("exact", "When two subtrees are alike", choices=criteria.CRITERIA)
    depth: int = parameter(3, "Levels that the criterion depth compares", low=1)


def mark(facts: Facts, p: Parameters) -> Marked:
    """Mark the subtrees of one kind.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : Parameters
        The call, and when subtrees are alike.

    Returns
    -------
    Marked

    Raises
    ------
    UsageError
        If there is no such call or criterion.
    """
    of_call, n = facts.graph.subtrees.of_call, len(facts.trace.calls)
    if p.call >= n:
        raise UsageError(f"call={p.call}: there is no such call: they go from 0 to {n - 1:,}")
    kinds = criteria.alike(facts.graph, p.criterion, p.depth).of_class
    return Marked("node", kinds == kinds[of_call[p.call]])


FILTERS = {
    "alike": Filter(
        "alike", "Like one call", "subtrees that are like that of one call", "any", Parameters, mark
    )
}
