"""Rounds: a stretch of a run that does nearly the same repeatedly, such as the folds of an evaluation.

Equal phases in a row are found by their kinds (:func:`..phases.phase_runs`); rounds are found where each
window of calls resembles the one a period later more than it resembles those between, so they may be as
unlike in detail as data make them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .interactions import Interactions
from .phases import window_features

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Rounds in a row at least, and windows in each.
_TIMES, _WINDOWS = 3, 4
#: Of the likeness that windows lack among themselves, the share that those a period apart have to have.
_CONTRAST = 0.4
#: How much longer or shorter than the period a round may be.
_SLACK = 0.12
#: Windows by which the first and the last round may reach beyond where likeness was found.
_BORDER = 2
#: Minimum difference of windows for which rounds are reported.
_VARIED = 0.03


@dataclass(frozen=True, eq=False)
class Rounds:
    """Rounds, one after another.

    Attributes
    ----------
    edge : int64 (rounds + 1,)
        Places among the interactions: round i is the slice ``[edge[i], edge[i + 1])``.
    likeness : float
        Of windows a period apart, 0 to 1: the mean overlap of their distributions (Bhattacharyya).
    """

    edge: Ints
    likeness: float

    @property
    def times(self) -> int:
        """The number of rounds."""
        return len(self.edge) - 1


def find_rounds(found: Interactions, low: int = 0, high: int | None = None) -> list[Rounds]:
    """Find the rounds among the interactions ``low`` up to ``high``, in order; none overlaps another.

    The longest rounds count before those inside them. Linear in the calls: the number of windows is bounded.

    Parameters
    ----------
    found : Interactions
    low, high : int
        The slice ``[low, high)`` of the calls; all by default.

    Returns
    -------
    list of Rounds
    """
    high = len(found) if high is None else high
    features = window_features(found, low, high)
    if features is None:
        return []
    edge, feature = features
    # A window's neighbours share it, so that rounds of a length between two numbers of windows are found.
    wide = feature.copy()
    wide[1:] += 0.5 * feature[:-1]
    wide[:-1] += 0.5 * feature[1:]
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    likeness = wide @ wide.T
    free = np.ones(len(wide), np.bool_)
    rounds = []
    for begin, stop, period in _candidates(likeness):
        if not free[begin:stop].all():
            continue
        at = _aligned(likeness, begin, stop, period)
        if len(at) <= _TIMES:
            continue
        free[at[0] : at[-1]] = False
        pairs = zip(at[:-2], at[1:-1], at[2:], strict=True)
        same = [_along(likeness, a, b, min(b - a, c - b)) for a, b, c in pairs]
        rounds.append(Rounds(edge[np.array(at)] + low, float(np.mean(same))))
    return sorted(rounds, key=lambda r: int(r.edge[0]))


def _along(likeness: Floats, one: int, other: int, length: int) -> float:
    """Return the mean likeness of windows from ``one`` on with those from ``other`` on."""
    i = np.arange(length)
    return float(likeness[one + i, other + i].mean()) if length else 0.0


def _candidates(likeness: Floats) -> list[tuple[int, int, int]]:
    """Return begin, end and period, in windows, of what may be rounds, the best first."""
    n = len(likeness)
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = likeness.cumsum(axis=0).cumsum(axis=1)
    longest = n // _TIMES
    share = np.zeros((longest + 1, n))
    for period in range(_WINDOWS, longest + 1):
        ahead = np.concatenate([[0.0], np.cumsum(np.diagonal(likeness, period))])
        i = np.arange(n - 2 * period + 1)
        apart = (ahead[i + period] - ahead[i]) / period
        stop = i + 2 * period
        inside = (sums[stop, stop] - sums[i, stop] - sums[stop, i] + sums[i, i]) / (2 * period) ** 2
        lacking = 1.0 - inside
        known = lacking > _VARIED
        share[period, i[known]] = (apart - inside)[known] / lacking[known]
    found: list[tuple[float, int, int, int]] = []
    for period in range(_WINDOWS, longest + 1):
        # A round may be longer or shorter than the one before.
        slack = int(_SLACK * period)
        best = share[period - slack : period + slack + 1].max(axis=0)
        good = np.concatenate([[False], best >= _CONTRAST, [False]])
        change = np.flatnonzero(good[1:] != good[:-1])
        for first, last in zip(change[::2].tolist(), change[1::2].tolist(), strict=True):
            stop_ = min(last - 1 + 2 * period, n)
            if stop_ - first >= (_TIMES - _SLACK) * period:
                # Twice the period is as good: of equally good ones the shortest is taken.
                worth = float(best[first:last].mean()) * (stop_ - first - period)
                found.append((worth, first, stop_, period))
    found.sort(key=lambda each: -each[0])
    return [each[1:] for each in found]


def _aligned(likeness: Floats, begin: int, end: int, period: int) -> list[int]:
    """Return the windows where rounds begin and end: at what changes most, each aligned with the last."""
    n = len(likeness)
    change = np.concatenate([[0.0], 1.0 - np.diagonal(likeness, 1), [0.0]])
    slack, limit = max(int(_SLACK * period), 1), min(end + _BORDER, n)

    def worth_of(here: int, stop: int) -> float:
        step = stop - here
        off = abs(step - period) / period
        if stop + period - slack <= end:
            worth = _along(likeness, here, stop, min(step, n - stop)) - 0.02 * off
        else:
            worth = 1.0 - 0.5 * off  # the last round is like none after it
        return worth + 0.5 * float(change[stop])

    def laid(first: int) -> list[int]:
        at = [first]
        while at[-1] + period <= limit:
            stops = range(at[-1] + period - slack, min(at[-1] + period + slack, limit) + 1)
            at.append(max(stops, key=partial(worth_of, at[-1])))
        return at

    tried = [laid(first) for first in range(max(begin - _BORDER, 0), min(begin + period, n))]
    most = max(len(at) for at in tried)
    # One more round counts more than clearer borders.
    worth = [float(change[at].mean()) if len(at) == most else -1.0 for at in tried]
    return tried[int(np.argmax(worth))]
