"""The ticks of an axis: round values, and their exact texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..units import TIME_UNITS, exact_duration

_UNIT_NS = dict(TIME_UNITS)
# Steps above a second that clocks use, as (nanoseconds, number of parts for the minor ticks).
_CLOCK_STEPS = tuple(
    (seconds * 1_000_000_000, parts)
    for seconds, parts in (
        (1, 5), (2, 4), (5, 5), (10, 5), (15, 3), (30, 3), (60, 6), (120, 4), (300, 5), (600, 5),
        (900, 3), (1800, 3), (3600, 6), (7200, 4), (21600, 6), (43200, 6), (86400, 6),
    )
)  # fmt: skip
# More digits than this in a tick's text are written once, in the title, instead.
_MOST_DIGITS = 6


@dataclass(frozen=True)
class Ticks:
    """Ticks of an axis.

    Attributes
    ----------
    at : tuple of float
        Values of the labelled ticks, increasing, all within the asked range.
    text : tuple of str
        One per labelled tick; the unit stands in it or in ``unit``.
    minor : tuple of float
        Values of the ticks without text, within the range, none of them labelled.
    unit : str
        What the texts are in; empty if each text says it.
    offset : str
        The value that is to be added to every text, with its unit; empty if there is none.
    """

    at: tuple[float, ...]
    text: tuple[str, ...]
    minor: tuple[float, ...] = ()
    unit: str = ""
    offset: str = ""

    def titled(self, what: str = "time") -> str:
        """Return a ruler's title: what it measures, from which offset, and in which unit.

        Parameters
        ----------
        what : str

        Returns
        -------
        str

        Examples
        --------
        >>> time_ticks(0, 1_000_000_000).titled()
        'time (s)'
        """
        begins = f" from {self.offset}" if self.offset else ""
        return f"{what}{begins} ({self.unit})" if self.unit else what


def time_ticks(start_ns: int, end_ns: int, most: int = 10, largest_ns: int = 0) -> Ticks:
    """Return round ticks for the times from ``start_ns`` to ``end_ns``.

    Steps are 1, 2 or 5 times a power of ten up to a second, then those of a clock (10 s, 15 s, 30 s,
    1 min, ...). All texts are in one unit, without it. Where the window is so narrow that the texts
    would repeat many digits, they count from ``offset``.

    Parameters
    ----------
    start_ns, end_ns : int
        The window, ``start_ns <= end_ns``.
    most : int
        The largest number of labelled ticks, at least 2.
    largest_ns : int
        The largest time of rulers beside this one: all are in one unit.

    Returns
    -------
    Ticks
        ``at`` in nanoseconds.

    Examples
    --------
    >>> ticks = time_ticks(0, 1_000_000_000, most=5)
    >>> ticks.text, ticks.unit
    (('0.0', '0.5', '1.0'), 's')
    """
    span = max(end_ns - start_ns, 1)
    step, parts = _time_step(span / max(most - 1, 1))
    at = _multiples(start_ns, end_ns, step)
    minor_step = step // parts
    minor = [t for t in _multiples(start_ns, end_ns, minor_step) if t % step] if minor_step else []
    unit, unit_ns = _time_unit(max(abs(start_ns), abs(end_ns), largest_ns), step)
    base = 0
    digits = len(str(max(abs(start_ns), abs(end_ns)) // step))
    if at and digits > _MOST_DIGITS:
        coarse = 10 ** math.ceil(math.log10(span))
        base = start_ns // coarse * coarse
        unit, unit_ns = _time_unit(end_ns - base, step)
    texts = [_decimal(t - base, unit_ns, step) for t in at]
    return Ticks(
        tuple(float(t) for t in at),
        tuple(f"+{text}" if base else text for text in texts),
        tuple(float(t) for t in minor),
        unit,
        exact_duration(base) if base else "",
    )


def _time_step(least: float) -> tuple[int, int]:
    """Return the round step of at least ``least`` nanoseconds, and into how many parts it is divided."""
    if least > 1e9 / 2:
        for step, parts in _CLOCK_STEPS:
            if step >= least:
                return step, parts
        days = _round_step(least / _CLOCK_STEPS[-1][0])
        return round(days) * _CLOCK_STEPS[-1][0], 4
    step = max(1, round(_round_step(least)))
    return step, 4 if str(step)[0] == "2" else 5


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    for factor in (1.0, 2.0, 5.0):
        if factor * power >= least * (1 - 1e-9):
            return factor * power
    return 10.0 * power


def _multiples(start: int, end: int, step: int) -> list[int]:
    return list(range(-(-start // step) * step, end + 1, step))


def _time_unit(largest_ns: int, step_ns: int) -> tuple[str, int]:
    """Return the unit in which ``largest_ns`` is at least 1; minutes and hours only for whole steps."""
    units = [u for u in TIME_UNITS if u[1] <= max(largest_ns, 1)]
    while len(units) > 1 and units[-1][1] >= _UNIT_NS["min"] and step_ns % units[-1][1]:
        units.pop()
    return units[-1]


def _decimal(value: int, unit: int, step: int) -> str:
    """Write ``value / unit`` exactly, with the decimals that ``step`` needs."""
    decimals = 0
    while decimals < 12 and (step * 10**decimals) % unit:
        decimals += 1
    scaled = value * 10**decimals // unit
    sign, scaled = ("-" if scaled < 0 else ""), abs(scaled)
    whole, rest = divmod(scaled, 10**decimals)
    return f"{sign}{whole:,}" + (f".{rest:0{decimals}d}" if decimals else "")


def decades(low: float, high: float, most: int = 8) -> list[float]:
    """Return powers of ten from ``low`` to ``high``, thinned to at most ``most``.

    Parameters
    ----------
    low, high : float
        Both above 0.
    most : int

    Returns
    -------
    list of float

    Examples
    --------
    >>> decades(2.0, 3000.0)
    [10.0, 100.0, 1000.0]
    """
    return _powers(10.0, math.log10(low), math.log10(high), most)


def powers_of_two(low: float, high: float, most: int = 8) -> list[float]:
    """Return powers of two from ``low`` to ``high``, thinned to at most ``most``.

    Parameters
    ----------
    low, high : float
        Both above 0.
    most : int

    Returns
    -------
    list of float

    Examples
    --------
    >>> powers_of_two(1.0, 3000.0, 4)
    [1.0, 8.0, 64.0, 512.0]
    """
    return _powers(2.0, math.log2(low), math.log2(high), most)


def _powers(base: float, low: float, high: float, most: int) -> list[float]:
    """Return powers of a base, for exponents between two numbers, thinned to at most ``most``."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    return [base**k for k in range(first, last + 1, step)]


def rounds(low: float, high: float, most: int = 6) -> list[float]:
    """Return at most ``most`` multiples of a round step between two values.

    Steps are 1, 2 or 5 times a power of ten.

    Parameters
    ----------
    low, high : float
    most : int
        At least 2.

    Returns
    -------
    list of float
        Empty if ``high`` is not above ``low``.

    Examples
    --------
    >>> rounds(0.0, 10.0)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    if not high > low:
        return []
    step = _round_step((high - low) / max(most - 1, 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def byte_steps(low: float, high: float, most: int = 8) -> list[float]:
    """Return multiples of a power of two between two values.

    Parameters
    ----------
    low, high : float
    most : int
        How many steps there are, about.

    Returns
    -------
    list of float

    Examples
    --------
    >>> byte_steps(0, 3000, 4)
    [0.0, 1024.0, 2048.0]
    """
    step = 2.0 ** math.ceil(math.log2(max((high - low) / most, 1.0)))
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def thin(at: Sequence[float], places: Sequence[float], least: float) -> list[int]:
    """Return which ticks remain if their places must be ``least`` apart; the last one always does.

    Parameters
    ----------
    at : sequence of float (n)
    places : sequence of float (n)
        Where each tick lies, increasing.
    least : float
        In the unit of ``places``.

    Returns
    -------
    list of int
        Indices of the remaining ticks, increasing.

    Examples
    --------
    >>> thin([0, 1, 2, 3], [0.0, 0.3, 0.6, 0.9], 0.5)
    [1, 3]
    """
    kept: list[int] = []
    for i in range(len(at) - 1, -1, -1):
        if not kept or abs(places[kept[-1]] - places[i]) >= least:
            kept.append(i)
    return kept[::-1]
