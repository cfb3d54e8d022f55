"""Two profiles of samples: what they weigh, and which differences chance alone does not explain.

Samples are counted: how many fall on a function varies by chance, though the program does the same. Two
counts are compared by the square roots of both (K. Gu, H. K. T. Ng, M. L. Tang and W. R. Schucany, "Testing
the ratio of two Poisson rates", Biometrical Journal 50, 2008).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....errors import UsageError
from ....trace import profile
from ....trace.model import Trace
from .paths import CommonPaths

#: Kinds of weights of which nothing was left out: all objects of a heap, all instructions by callgrind. None
#: of it is chance.
COMPLETE = ("heap (bytes)", "Ir")
#: With fewer samples than this much remains unseen.
FEW_SAMPLES = 300
#: Times of a profile that counts all calls were measured, not sampled: they vary as if by so many samples.
_AS_MEASURED = 10_000
#: Nanoseconds from sample to sample at most, where only sums of times are recorded.
_LONGEST_INTERVAL = 10_000_000
#: The deviation of half of all values from the middle, of a normal distribution.
_HALF = 0.6745
#: Both profiles together need this many samples of a function for it to say something of the pace, ...
_ENOUGH_SAMPLES = 10
#: ... and this many functions.
_ENOUGH = 8
#: Maximum weight of one function in the pace, as a share of the samples.
_MOST_WEIGHT = 0.02
#: A pace nearer to 1 than this factor, or than this many standard errors of the median, is 1.
_LEAST_PACE, _ERRORS = 1.15, 3.0
#: The standard error of a median of n normal values is this times their usual deviation, by the root of n.
_OF_MEDIAN = 1.2533 / _HALF

#: At least so large a share of the samples has the pace in common, and at most so large a one is as before.
_ALIKE, _AS_BEFORE = 0.75, 0.5
#: Standard deviations that are chance.
_CHANCE = 3.0

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Weights:
    """What the samples of two profiles weigh.

    Attributes
    ----------
    kind : str
        What is weighed, with its unit: ``samples``, ``cpu (ns)``.
    total : (int, int)
        Of A and of B, in this unit.
    own : float64 (2, n)
        Of each common call path itself.
    rate : (float, float)
        Samples for one of this unit.
    """

    kind: str
    total: tuple[int, int]
    own: Floats
    rate: tuple[float, float]

    def samples(self, weight: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Return how many samples weights in A and in B stand for."""
        return weight[0] * self.rate[0], weight[1] * self.rate[1]


def weights_of(traces: Sequence[Trace], paths: CommonPaths) -> Weights | None:
    """Return what two profiles weigh; None of traces of calls.

    Parameters
    ----------
    traces : (Trace, Trace)
    paths : CommonPaths
        Theirs.

    Returns
    -------
    Weights or None

    Raises
    ------
    UsageError
        If only one is a profile, one weighs nothing, or both weigh different things: they have nothing in
        common to compare.
    """
    if not any(len(trace.samples) for trace in traces):
        return None
    totals = [profile.totals(trace) for trace in traces]
    for name, trace, one in zip("AB", traces, totals):
        if not next(iter(one.values()), len(trace.calls)):
            raise UsageError(f"{name} weighs nothing: there is nothing to compare")
    kind, other = (next(iter(one), "") for one in totals)
    if kind != other:
        a, b = (f"weighs {profile.bare_kind(one)}" if one else "has calls" for one in (kind, other))
        raise UsageError(f"A {a}, B {b}: only profiles that weigh the same can be compared")
    weighed = [one[kind] for one in totals]
    count = [_count(trace, one) for trace, one in zip(traces, totals)]
    own = [
        np.bincount(of, profile.own_weights(trace), len(paths)) for trace, of in zip(traces, paths.of_call)
    ]
    rate = count[0] / weighed[0], count[1] / weighed[1]
    return Weights(kind, (weighed[0], weighed[1]), np.stack(own), rate)


def _count(trace: Trace, totals: dict[str, int]) -> int:
    """Return how many samples were taken, as far as that is known: at least one a row.

    Where nothing was left out each of what is weighed is one.
    """
    kind = next(iter(totals))
    if kind in COMPLETE:
        return totals[kind]
    counted = [total for kind, total in totals.items() if profile.bare_kind(kind) == "samples"]
    measured = [_AS_MEASURED] if "calls" in totals else []
    if kind == "time (ns)" and not trace.samples.are_timed and not counted:
        measured.append(totals[kind] // _LONGEST_INTERVAL)
    return max([int(np.count_nonzero(trace.samples.kind == 0)), *counted, *measured])


def significance(a: Floats, b: Floats, pace: float) -> Floats:
    """Return by how many standard deviations counts differ from what the pace lets expect.

    Parameters
    ----------
    a, b : float64 (n,)
        Numbers of samples.
    pace : float
        How many samples of B one of A lets expect.

    Returns
    -------
    float64 (n,)
        Positive where B has more.

    Examples
    --------
    >>> significance(np.array([100.0]), np.array([150.0]), 1.0).round(1)
    array([3.2])
    """
    more = np.sqrt(b + 0.375) - np.sqrt(pace * (a + 0.375))
    return np.asarray(2.0 * more / np.sqrt(1.0 + pace))


def pace_of(a: Floats, b: Floats) -> float:
    """Return how many samples of B one of A lets expect: the median of functions.

    Profiles may be of different length, but most of a program does not change: so there is a pace if
    functions with most of the samples have it in common, and few are as they were. Else a part that grew
    would make the rest seem to shrink.

    Parameters
    ----------
    a, b : float64 (n,)
        Samples of each function itself.

    Returns
    -------
    float
        1 where too few functions were sampled to tell, they hardly differ, or have nothing in common.
    """
    known = (a + b >= _ENOUGH_SAMPLES) & (a > 0) & (b > 0)
    if np.count_nonzero(known) < _ENOUGH:
        return 1.0
    a, b = a[known], b[known]
    weight = np.minimum((a + b) / (a + b).sum(), _MOST_WEIGHT)
    ratio = np.log(b / a)
    order = np.argsort(ratio, kind="stable")
    total = np.cumsum(weight[order])
    middle = float(ratio[order][np.searchsorted(total, total[-1] / 2)])
    error = _OF_MEDIAN * float(np.median(np.abs(ratio - middle))) / math.sqrt(len(ratio))
    if abs(middle) < max(math.log(_LEAST_PACE), _ERRORS * error):
        return 1.0
    pace = math.exp(middle)
    alike, as_before = (
        float((a + b)[np.abs(significance(a, b, factor)) <= _CHANCE].sum() / (a + b).sum())
        for factor in (pace, 1.0)
    )
    return pace if alike >= _ALIKE and as_before <= _AS_BEFORE else 1.0
