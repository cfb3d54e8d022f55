"""What is to be seen in rounds: stragglers, stalls, a pace that changes; each in one sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import units
from .rounds import Rounds

#: Multiple of the median from which on a round is a straggler, and a gap a stall.
_STRAGGLER, _STALL = 2.0, 4.0
#: Minimum difference in pace of the last third from the first.
_PACE = 1.3
#: Maximum length of a sentence in a title.
_LONGEST = 85


@dataclass(frozen=True)
class Finding:
    """Something to be seen.

    Attributes
    ----------
    sentence, short : str
    round : int
        Where it is: at its end, or for a stall at its begin.
    weight : float
    """

    sentence: str
    short: str
    round: int
    weight: float


def findings(rounds: Rounds) -> tuple[Finding, ...]:
    """Return what is to be seen in rounds, the most important first; at least one.

    Parameters
    ----------
    rounds : Rounds
        At least one.

    Returns
    -------
    tuple of Finding
    """
    found = [one for one in (_straggler(rounds), _stall(rounds), _pace(rounds)) if one is not None]
    if found:
        return tuple(sorted(found, key=lambda one: -one.weight))
    usual = float(np.median(rounds.duration))
    many = units.counted(len(rounds), "round")
    return (Finding(f"{many} of {rounds.name}, about {units.duration(usual)} each", "", -1, 0.0),)


def _times(value: float) -> str:
    return units.count(float(f"{value:.2g}"))


def _straggler(rounds: Rounds) -> Finding | None:
    usual, top = float(np.median(rounds.duration)), int(rounds.duration.argmax())
    longest = float(rounds.duration[top])
    if len(rounds) < 3 or not usual > 0 or longest < _STRAGGLER * usual:
        return None
    mine = rounds.of == top
    within = np.bincount(
        rounds.stage[mine],
        (rounds.stage_end - rounds.stage_start)[mine].astype(np.float64),
        len(rounds.names),
    )
    times = _times(longest / usual)
    sentence = f"Round {top + 1:,} of {rounds.name} takes {units.duration(longest)}, {times} times the median"
    if len(within) and within.max() > 0.5 * longest:
        where = f", mostly in {rounds.names[int(within.argmax())]}"
        sentence += where if len(sentence + where) <= _LONGEST else ""
    return Finding(sentence, f"round {top + 1:,}: {times} ×", top, float(np.log(longest / usual)))


def _stall(rounds: Rounds) -> Finding | None:
    """Say where nothing begins for long, while nothing runs either: a step in the ramp."""
    if len(rounds) < 3:
        return None
    busy = np.maximum.accumulate(rounds.end)
    gap = (rounds.start[1:] - busy[:-1]).astype(np.float64)
    period = float(np.median(np.diff(rounds.start)))
    top = int(gap.argmax())
    if not period > 0 or gap[top] < _STALL * period:
        return None
    times = _times(gap[top] / period)
    sentence = (
        f"After round {top + 1:,} of {rounds.name} nothing begins for {units.duration(float(gap[top]))}, "
        f"{times} times the usual gap"
    )
    return Finding(
        sentence, f"stall of {units.duration(float(gap[top]))}", top + 1, float(np.log(gap[top] / period))
    )


def _pace(rounds: Rounds) -> Finding | None:
    third = len(rounds) // 3
    if third < 4:
        return None
    first, last = (float(np.median(part)) for part in (rounds.duration[:third], rounds.duration[-third:]))
    if not min(first, last) > 0 or max(first, last) / min(first, last) < _PACE:
        return None
    verb = "slow down" if last > first else "get faster"
    sentence = (
        f"Rounds of {rounds.name} {verb}: {units.duration(first)} at first, {units.duration(last)} at the end"
    )
    return Finding(
        sentence,
        f"last rounds: {units.duration(last)}",
        len(rounds) - 1,
        float(np.log(max(first, last) / min(first, last))),
    )


def compare(first: Rounds, second: Rounds) -> str:
    """Say which of two runs has the shorter rounds.

    Parameters
    ----------
    first, second : Rounds

    Returns
    -------
    str
    """
    a, b = float(np.median(first.duration)), float(np.median(second.duration))
    said = f"median {units.duration(a)} and {units.duration(b)}"
    if min(a, b) <= 0 or max(a, b) / min(a, b) < 1.02:
        return f"Rounds of {second.name} take the same time in both runs: {said}"
    word = "longer" if b > a else "shorter"
    return f"Rounds of {second.name} take {units.percentage(abs(b / a - 1))} {word} in the second run: {said}"
