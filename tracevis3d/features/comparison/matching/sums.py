"""How much of the other trace each call matches: the sums that TraceDiff's overview shows (section IV-A)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....kernels.comparison.similarity import add_shares
from .match import Comparison

Floats = NDArray[np.float64]

#: Maximum number of pairs of units summed up: some seconds of work.
MOST_PAIRS = 500_000_000


def match_sums(comparison: Comparison) -> tuple[Floats, Floats] | None:
    """Return the sum of the similarities of all matches of each call of A, and of B.

    Calls of one unit have the same matches, so each pair of units is examined once.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    (float64 (calls of A,), float64 (calls of B,)) or None
        None where the pairs of units are too many.
    """
    known, tau = comparison.similarity, comparison.settings.tau
    if len(known.calls_a) * len(known.calls_b) > MOST_PAIRS:
        return None
    sum_a, sum_b = np.zeros(len(known.calls_a)), np.zeros(len(known.calls_b))
    above = tau.numerator, tau.denominator
    for unit, calls in enumerate(known.calls_a.tolist()):
        row = known.row(unit)
        sum_a[unit] = add_shares(row.common, row.whole, *above, known.calls_b, calls, sum_b)
    every = [np.arange(len(trace.calls)) for trace in comparison.traces]
    return sum_a[comparison.unit_of_a(every[0])], sum_b[comparison.unit_of_b(every[1])]
