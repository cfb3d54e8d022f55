"""All calls of one sequence of callees that recurs: a rule of the compact trace's grammar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import UsageError
from ..parameters import parameter
from .facts import Facts
from .registry import Filter, Marked


@dataclass(frozen=True)
class Parameters:
    """The sequence that begins with which call, and how long it is."""

    call: int = parameter(0, "The first call of one of its occurrences, by its number", low=0)
    entries: int = parameter(
        0, "Number of its entries, where repeats in a row count as one; 0: the longest sequence", low=0
    )


def mark(facts: Facts, p: Parameters) -> Marked:
    """Mark the calls of all occurrences of a sequence.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : Parameters
        The call that a sequence begins with, and its length.

    Returns
    -------
    Marked

    Raises
    ------
    UsageError
        If there is no such call, or no sequence begins with it.
    """
    n, found = len(facts.trace.calls), facts.sequences
    if p.call >= n:
        raise UsageError(f"call={p.call}: there is no such call: they go from 0 to {n - 1:,}")
    rules = found.beginning(p.call, facts.trace.calls)
    lengths = [int(found.grammar.length[rule]) for rule in rules]
    if not rules or p.entries not in (0, *lengths):
        which = f"of {p.entries:,} entries " if p.entries and rules else ""
        raise UsageError(
            f"sequence(call={p.call}): no repeated sequence {which}begins with this call"
            + (f": there are some of {', '.join(f'{length:,}' for length in lengths)}" if rules else "")
        )
    flags = np.zeros(n, np.bool_)
    flags[found.calls(rules[lengths.index(p.entries) if p.entries else 0])] = True
    return Marked("call", flags)


FILTERS = {
    "sequence": Filter(
        "sequence", "One Sequence", "the calls of a repeated sequence of callees", "any", Parameters,
        mark,
    )
}  # fmt: skip
