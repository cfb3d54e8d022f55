"""Scales: quantities to shares of a length or of a colour ramp, and the ticks that show them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .ticks import byte_steps, decades, powers_of_two, rounds, thin

Kind = Literal["linear", "sqrt", "log"]

#: A logarithmic scale spans at most this ratio; smaller values lie at its low end.
LOG_RANGE = 1e5
#: With fewer powers of ten than this on a logarithmic scale, ticks are at 2 and 5 times these, too.
_FEW_DECADES = 3


@dataclass(frozen=True)
class Scale:
    """A monotone map from ``low``..``high`` to 0..1.

    ``linear`` and ``sqrt`` start at 0 (``low`` is 0). ``log`` starts at ``low``: smaller values, and 0, lie
    at its start.

    Attributes
    ----------
    kind : {"linear", "sqrt", "log"}
        How shares follow from quantities.
    low, high : float
        The quantities at 0 and at 1.

    Examples
    --------
    >>> import numpy as np
    >>> scale = Scale.over("sqrt", np.array([0.0, 25.0, 100.0]))
    >>> scale.place([0, 25, 100]).tolist()
    [0.0, 0.5, 1.0]
    """

    kind: Kind
    low: float
    high: float

    @classmethod
    def over(cls, kind: Kind, values: NDArray[np.float64]) -> Scale:
        """Return the scale of a quantity.

        Parameters
        ----------
        kind : {"linear", "sqrt", "log"}
        values : float64 (n,)

        Returns
        -------
        Scale
            From 0, or for ``log`` from the least positive value (at most :data:`LOG_RANGE` below the
            largest), to
            the largest value.
        """
        high = float(values.max()) if len(values) else 0.0
        if kind != "log" or high <= 0:
            return cls(kind, 0.0, max(high, 0.0))
        low = float(np.min(values, where=values > 0, initial=high))
        return cls(kind, max(low, high / LOG_RANGE), high)

    def place(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return where values lie on the scale.

        Parameters
        ----------
        values : float (n,)

        Returns
        -------
        float64 (n,)
            0 to 1. On a scale without extent: 0, but 1 for values above 0 if it is a logarithmic one above 0.
        """
        given = np.asarray(values, np.float64)
        if not self.high > self.low:
            return np.where(given > 0, float(self.kind == "log" and self.high > 0), 0.0)
        if self.kind == "log":
            share: NDArray[np.float64] = np.log(np.maximum(given, self.low) / self.low) / np.log(
                self.high / self.low
            )
        else:
            share = np.maximum(given, 0.0) / self.high
            if self.kind == "sqrt":
                share = np.sqrt(share)
        return np.minimum(share, 1.0)

    def ticks(
        self, text: Callable[[float], str], most: int = 5, apart: float = 0.1
    ) -> tuple[tuple[float, ...], tuple[str, ...]]:
        """Return ticks at round values; of bytes, which ``text`` writes as KiB, at powers of two.

        Parameters
        ----------
        text : callable
            Writes a value.
        most : int
            About how many ticks.
        apart : float
            Least distance of two ticks, as a share of the scale.

        Returns
        -------
        places : tuple of float
            0 to 1.
        texts : tuple of str
        """
        if not self.high > self.low:
            return ((1.0,), (text(self.high),)) if self.high > 0 else ((0.0,), (text(0.0),))
        in_bytes = text(1024.0) == "1 KiB"
        if self.kind == "log" and in_bytes:
            values = powers_of_two(self.low, self.high, most) or [self.high]
        elif self.kind == "log":
            values = decades(self.low, self.high, most) or [self.high]
            if len(values) < _FEW_DECADES:
                powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
                steps = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
                values = [value for value in steps if self.low <= value <= self.high] or [self.high]
        elif self.kind == "sqrt":
            top = (byte_steps(0.0, self.high, 2) if in_bytes else rounds(0.0, self.high, 3))[-1]
            parts = (1024, 128, 16, 4, 1) if in_bytes else (1000, 100, 10, 4, 1)
            values = [0.0, *(top / part for part in parts)]
            # Of what is counted there are no parts.
            values = [value for value in values if top < 10 or value.is_integer()]
        else:
            values = (byte_steps if in_bytes else rounds)(0.0, self.high, most)
        places = self.place(values)
        kept = thin(values, places.tolist(), apart)
        return tuple(float(places[i]) for i in kept), tuple(text(values[i]) for i in kept)


@dataclass(frozen=True)
class TimeScale:
    """Times along x.

    Attributes
    ----------
    window : (int, int)
        Nanoseconds.
    x : (float, float)
        Where the window begins and ends.

    Examples
    --------
    >>> scale = TimeScale((1000, 3000), (0.0, 16.0))
    >>> scale.place(2000), scale.time_at(4.0)
    (8.0, 1500)
    """

    window: tuple[int, int]
    x: tuple[float, float]

    def time_at(self, x: float) -> int:
        """Return the nanosecond at an x, within the window."""
        (low, high), (left, right) = self.window, self.x
        return round(low + min(max((x - left) / (right - left), 0.0), 1.0) * (high - low))

    def place(self, time: float) -> float:
        """Return the x of a nanosecond; outside the window it lies outside, too."""
        (low, high), (left, right) = self.window, self.x
        return left + (right - left) * (time - low) / max(high - low, 1)
