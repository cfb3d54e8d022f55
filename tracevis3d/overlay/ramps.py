"""The parts of a legend's ramp, each of which can be pointed at and chosen like an entry."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from ..drawing.primitives import Legend, LegendEntry
from ..drawing.selector import Selector

#: Minimum number of parts of a ramp.
_FEWEST = 4
#: Maximum distance from an end of a tick that is moved to it.
_AT_END = 0.02


@lru_cache(64)
def choices(legend: Legend) -> tuple[LegendEntry, ...]:
    """Return what can be chosen of a legend.

    Parameters
    ----------
    legend : Legend

    Returns
    -------
    tuple of LegendEntry
        Its entries, then the parts of its ramp.
    """
    return (*legend.entries, *ramp_parts(legend))


@lru_cache(64)
def ramp_parts(legend: Legend) -> tuple[LegendEntry, ...]:
    """Return the parts of a ramp: from tick to tick, these divided where there are few.

    Parameters
    ----------
    legend : Legend

    Returns
    -------
    tuple of LegendEntry
        From the first colour to the last; none if the legend has no ramp.

    Examples
    --------
    >>> ramp = Legend("Calls", ramp=(0, 9), ramp_tick=(0.0, 0.5), ramp_text=("1", "10"))
    >>> [part.text for part in ramp_parts(ramp)]
    ['1 to 10 (1 of 2)', '1 to 10 (2 of 2)', 'above 10 (1 of 2)', 'above 10 (2 of 2)']
    >>> ramp_parts(ramp)[-1].selector.colors
    ((8, 9),)
    """
    if legend.ramp is None:
        return ()
    first, last = legend.ramp
    ticks = sorted(zip(legend.ramp_tick, legend.ramp_text))
    edges = [tick for tick in ticks if _AT_END < tick[0] < 1 - _AT_END]
    edges.insert(0, (0.0, next((text for at, text in ticks if at <= _AT_END), "")))
    edges.append((1.0, next((text for at, text in ticks if at >= 1 - _AT_END), "")))
    each = -(-_FEWEST // (len(edges) - 1))
    found = []
    for (low, below), (high, above) in pairwise(edges):
        between = (
            f"{below} to {above}" if below and above else f"above {below}" if below else f"below {above}"
        )
        colors = [
            first + round((last - first + 1) * (low + (high - low) * k / each)) for k in range(each + 1)
        ]
        for k, (begin, end) in enumerate(pairwise(colors)):
            if begin < end:
                words = between if each == 1 else f"{between} ({k + 1} of {each})"
                meant = Selector(colors=((begin, end - 1),))
                found.append(LegendEntry(words, (begin + end - 1) // 2, stands_for=meant))
    return tuple(found)
