"""Units of time, and times as people write them."""

from __future__ import annotations

import re

from .errors import UsageError

#: Units of time and their nanoseconds, from small to large.
TIME_UNITS: tuple[tuple[str, int], ...] = (
    ("ns", 1),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
)
_NS_PER = {**dict(TIME_UNITS), "us": 1_000, "μs": 1_000, "": 1_000_000}
_TIME = re.compile(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([a-zµμ]*)\s*")


def read_time(name: str, text: str) -> int:
    """Return the nanoseconds that ``text`` stands for: ``1.5s``, ``300 ns``; a bare number is in ms.

    Raises
    ------
    UsageError
        If it is no such time; ``name`` is the parameter that it was given for.
    """
    match = _TIME.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        value = float(match[1]) * _NS_PER[match[2]]
        if not abs(value) < 2**62:
            raise ValueError
        return round(value)
    except (ValueError, KeyError):
        raise UsageError(
            f"{name}={text}: a time is wanted, such as 1.5s, 20ms or 300ns (a bare number is in ms)"
        ) from None
