"""The index of positions on a drum, for pointing at its mantle and dragging along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .... import units
from ....drawing.picked import Description
from ....trace.model import Trace
from ..phases import describe
from .layout import arrange
from .mantle import spans
from .parameters import Parameters

#: Length of a place on the mantle, as a share of the time axis: about a pixel.
_PIXEL = 1 / 1500


@dataclass(frozen=True)
class MantlePlace:
    """A place on the mantle: a moment, and a place around the hierarchy.

    Attributes
    ----------
    sector : str
        The element there; empty between sectors.
    time : int
        Nanoseconds.
    calls : (int, int)
        The first and the last call there, counted from the first of the window.
    pairs : tuple of (str, int)
        Who calls whom where the place is in between, and how many of these calls; the most frequent first.
    call : int
        The first call of the most frequent pair, in ``Trace.calls``; -1 if there is none.
    """

    sector: str
    time: int
    calls: tuple[int, int]
    pairs: tuple[tuple[str, int], ...]
    call: int


class DrumPlaces:
    """The drums of a view of one or two traces.

    Parameters
    ----------
    traces : one or two Traces
    parameters : Parameters

    Raises
    ------
    UsageError
        If a window is empty.
    """

    def __init__(self, traces: Sequence[Trace], parameters: Parameters) -> None:
        self._given = arrange(traces, parameters)
        self._by_time = parameters.axis == "time"

    def window(self, source: int) -> tuple[int, int]:
        """Return the window of one of the traces, in nanoseconds."""
        return self._given.windows[source]

    def time_at(self, source: int, share: float) -> int:
        """Return the time at a share of the axis, 0 to 1, in nanoseconds.

        Parameters
        ----------
        source : int
            Which of the view's traces.
        share : float
            Along the axis.

        Returns
        -------
        int
        """
        start, end = self.window(source)
        low, high = self._given.ranges[source]
        if share <= 0 or share >= 1 or self._by_time or low == high:
            return round(start + min(max(share, 0.0), 1.0) * (end - start))
        return int(self._given.found[source].time[low + int(share * (high - low))])

    def share_at(self, source: int, time: int) -> float:
        """Return where a time lies along the axis, 0 to 1.

        Parameters
        ----------
        source : int
            Which of the view's traces.
        time : int
            Nanoseconds.

        Returns
        -------
        float
        """
        start, end = self.window(source)
        low, high = self._given.ranges[source]
        if time <= start or time >= end or self._by_time or low == high:
            return min(max((time - start) / max(end - start, 1), 0.0), 1.0)
        before = int(np.searchsorted(self._given.found[source].time[low:high], time, "left"))
        return before / (high - low)

    def spot(self, source: int, share: float, around: float) -> MantlePlace:
        """Return the calls at a share of the axis and at a place around the mantle, both 0 to 1.

        Parameters
        ----------
        source : int
            Which of the view's traces.
        share : float
            Along the axis.
        around : float
            Around the mantle, from seam to seam.

        Returns
        -------
        Spot
        """
        given = self._given
        found, (low, high) = given.found[source], given.ranges[source]
        h, sectors = given.hierarchy, given.sectors
        n = high - low
        if self._by_time:
            half = 0.5 * _PIXEL * (given.windows[source][1] - given.windows[source][0])
            time = self.time_at(source, share)
            first, stop = np.searchsorted(found.time[low:high], [time - half, time + half], "left").tolist()
        else:
            first = min(max(int((share - _PIXEL / 2) * n), 0), max(n - 1, 0))
            stop = min(max(int((share + _PIXEL / 2) * n), first + 1), n)
            time = self.time_at(source, share)
        span = spans(h, sectors, found)
        part = found.pair[low + first : low + stop]
        covers = (span.min(axis=1) <= around) & (around <= span.max(axis=1)) if found.pairs else part[:0]
        counts = np.bincount(part, minlength=found.pairs)
        counts[~covers] = 0
        order = [int(p) for p in np.argsort(-counts, kind="stable")[:4] if counts[p] > 0]
        leaf = (sectors.low[h.node] <= around) & (around <= sectors.high[h.node])
        where = np.flatnonzero(leaf)
        call = -1
        if order:
            call = int(found.call[low + first + int(np.argmax(part == order[0]))])
        return MantlePlace(
            h.title(int(h.node[where[0]])) if len(where) else "",
            time,
            (first + 1, max(stop, first + 1)),
            tuple((describe(h, found, p), int(counts[p])) for p in order),
            call,
        )

    def describe(self, source: int, share: float, around: float) -> Description:
        """Return the description of a place: the number of calls, their elements, and their times.

        Parameters
        ----------
        source : int
            Which of the view's traces.
        share : float
            Along the axis, 0 to 1.
        around : float
            Around the mantle, 0 to 1 from seam to seam.

        Returns
        -------
        Description
        """
        spot = self.spot(source, share, around)
        several = spot.calls[1] > spot.calls[0]
        span = " to ".join(units.count(i) for i in (spot.calls if several else spot.calls[:1]))
        rows = [("time", units.exact_duration(spot.time)), ("calls" if several else "call", span)]
        if spot.sector:
            rows.append(("element", spot.sector))
        rows += [("also", f"{words}  {units.count(count)} x") for words, count in spot.pairs[1:]]
        if not spot.pairs:
            return Description("No call here", rows=rows)
        words, count = spot.pairs[0]
        return Description(words, f"{units.counted(count, 'call')} here", rows)
