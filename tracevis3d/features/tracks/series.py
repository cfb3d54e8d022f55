"""Series over time: a value that is in force until the next one, or events that add up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells:
    """A series in cells of time.

    Attributes
    ----------
    mean, least, most : float64 (n,)
        Of the value in each cell.
    """

    mean: Floats
    least: Floats
    most: Floats


@dataclass(frozen=True, eq=False)
class Steps:
    """A value that is in force until the next one; before the first it is 0.

    Attributes
    ----------
    time : int64 (n,)
        Nanoseconds, each once, ascending.
    value : float64 (n,)
    """

    time: Ints
    value: Floats

    @cached_property
    def _before(self) -> Floats:
        """The integral up to each of ``time``."""
        area = np.zeros(len(self.time))
        np.cumsum(self.value[:-1] * np.diff(self.time), out=area[1:])
        return area

    def cells(self, edges: Ints) -> Cells:
        """Return the series in cells.

        Parameters
        ----------
        edges : int64 (n + 1,)
            Nanoseconds, ascending, each once.

        Returns
        -------
        Cells
            Exact: the mean over time of each cell, and its extremes.
        """
        if not len(self.time):
            return Cells(*(np.zeros(len(edges) - 1) for _ in range(3)))
        mean = np.diff(self._integral(edges)) / np.diff(edges)
        # The value at a cell's beginning, and those that begin within it.
        value = np.concatenate([[0.0], self.value, [0.0]])
        first = np.searchsorted(self.time, edges[:-1], "right")
        stop = np.searchsorted(self.time, edges[1:], "left") + 1
        spans = np.stack([first, stop], axis=1).ravel()
        least = np.minimum.reduceat(value, spans)[::2]
        most = np.maximum.reduceat(value, spans)[::2]
        return Cells(np.clip(mean, least, most), least, most)

    def _integral(self, at: Ints) -> Floats:
        last = np.searchsorted(self.time, at, "right") - 1
        area = self._before[last] + self.value[last] * (at - self.time[last])
        return np.where(last >= 0, area, 0.0)

    def peak(self, window: tuple[int, int]) -> tuple[int, float]:
        """Return when the value is the highest within a window, and that value.

        Parameters
        ----------
        window : (int, int)
            Nanoseconds.

        Returns
        -------
        (int, float)
            The first of the highest.
        """
        first = int(np.searchsorted(self.time, window[0], "right"))
        stop = int(np.searchsorted(self.time, window[1], "left"))
        held = float(self.value[first - 1]) if first else 0.0
        if stop <= first:
            return window[0], held
        at = first + int(self.value[first:stop].argmax())
        return (int(self.time[at]), float(self.value[at])) if self.value[at] > held else (window[0], held)


@dataclass(frozen=True, eq=False)
class Rate:
    """Events, each with a weight, as what they add up to in a second.

    Attributes
    ----------
    time : int64 (n,)
        Nanoseconds, never descending.
    weight : float64 (n,) or None
        None: each counts as one.
    """

    time: Ints
    weight: Floats | None = None

    @cached_property
    def _before(self) -> Floats:
        sums = np.zeros(len(self.time) + 1)
        sums[1:] = np.arange(1, len(self.time) + 1) if self.weight is None else np.cumsum(self.weight)
        return sums

    def cells(self, edges: Ints) -> Cells:
        """Return the series in cells; see :meth:`Steps.cells`.

        Parameters
        ----------
        edges : int64 (n + 1,)
            Nanoseconds, ascending, each once.

        Returns
        -------
        Cells
            A rate has no extremes within a cell: they are the mean.
        """
        rate = np.diff(self._before[np.searchsorted(self.time, edges, "left")]) / (np.diff(edges) / 1e9)
        return Cells(rate, rate, rate)


Series = Steps | Rate


def steps_of(time: Ints, change: NDArray[Any]) -> Steps:
    """Return the running sum of changes.

    Parameters
    ----------
    time : int64 (n,)
        Nanoseconds, in any order.
    change : int or float (n,)
        What is added to the value then.

    Returns
    -------
    Steps

    Examples
    --------
    >>> import numpy as np
    >>> found = steps_of(np.array([5, 1, 3, 3]), np.array([-1, 1, 1, -1]))
    >>> found.time.tolist(), found.value.tolist()
    ([1, 5], [1.0, 0.0])
    """
    order = np.argsort(time, kind="stable")
    time, value = time[order], np.cumsum(np.asarray(change)[order]).astype(np.float64)
    return held(time, value)


def held(time: Ints, value: Floats) -> Steps:
    """Return values in the order of their times as steps: the last of a moment counts, repeats are left out.

    Parameters
    ----------
    time : int64 (n,)
        Nanoseconds, never descending.
    value : float64 (n,)

    Returns
    -------
    Steps
    """
    last = np.append(time[1:] != time[:-1], True)[: len(time)]
    time, value = time[last], value[last]
    new = np.ones(len(time), np.bool_)
    new[1:] = value[1:] != value[:-1]
    if len(new):
        new[0] = value[0] != 0.0
    return Steps(time[new].astype(np.int64), value[new].astype(np.float64))


@dataclass(frozen=True, eq=False)
class Occurrences:
    """What happens from when to when, with its call.

    Attributes
    ----------
    start, end : int64 (n,)
        Nanoseconds.
    call : int64 (n,)
        Index into ``Trace.calls``; -1: none.
    """

    start: Ints
    end: Ints
    call: Ints

    @cached_property
    def _latest(self) -> tuple[Ints, Ints]:
        """Starts in ascending order, and for each the one with the latest end of those up to it."""
        order = np.argsort(self.start, kind="stable")
        end = self.end[order]
        best = np.maximum.accumulate(np.where(end >= np.maximum.accumulate(end), np.arange(len(end)), 0))
        return self.start[order], order[best]

    def within(self, edges: Ints) -> Ints:
        """Return a call of each cell.

        Parameters
        ----------
        edges : int64 (n + 1,)
            Nanoseconds, ascending.

        Returns
        -------
        int64 (n,)
            That of the occurrence in the cell that ends last; -1: nothing happens in it.
        """
        start, latest = self._latest
        if not len(start):
            return np.full(len(edges) - 1, -1, np.int64)
        last = np.searchsorted(start, edges[1:], "left") - 1
        found = latest[np.maximum(last, 0)]
        inside = (last >= 0) & ((self.end[found] > edges[:-1]) | (self.start[found] >= edges[:-1]))
        return np.where(inside, self.call[found], -1)
