"""Quantities as people read and write them: times, numbers of things and of bytes, shares.

Every text of a quantity is made here, so that a value reads the same in a picture, a panel, a report and a
terminal. Where ticks of an axis go is in :mod:`.layout.ticks`. Recorded texts become
harmless here, too.
"""

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
#: Units of size and their bytes, from small to large.
BYTE_UNITS: tuple[tuple[str, int], ...] = (
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
)
#: Scales of values, as pictures call them.
SCALES = {"linear": "linear", "sqrt": "square-root", "log": "logarithmic"}
_NS_PER = {**dict(TIME_UNITS), "us": 1_000, "μs": 1_000, "": 1_000_000}
_TIME = re.compile(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*([a-zµμ]*)\s*")
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([kKmMgGtT])?(i?[bB])?\s*")
# Units with a decimal number: minutes and hours are written as two whole numbers.
_DECIMAL = TIME_UNITS[:4]
_MINUTE, _HOUR = 60, 3600  # seconds


def read_time(name: str, text: str) -> int:
    """Return the nanoseconds that ``text`` represents: ``1.5s``, ``300 ns``; a bare number is in ms.

    Parameters
    ----------
    name : str
        The parameter that the text was given for; an error names it.
    text : str
        A number and a unit of :data:`TIME_UNITS`; ``us`` is taken for ``µs``.

    Returns
    -------
    int
        Nanoseconds, rounded.

    Raises
    ------
    UsageError
        If it is not such a time.

    Examples
    --------
    >>> read_time("start", "1.5 ms")
    1500000
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
            f"{name}={text}: a time is expected, such as 1.5s, 20ms or 300ns (a bare number is in ms)"
        ) from None


def read_byte_size(name: str, text: str) -> int:
    """Return the bytes that ``text`` represents: ``2 GB``, ``500M``, ``1.5GiB``; a bare number is in bytes.

    Parameters
    ----------
    name : str
        The parameter that the text was given for; an error names it.
    text : str
        A number, and k, M, G or T, with or without B, or with iB for powers of 1024.

    Returns
    -------
    int
        Bytes, rounded.

    Raises
    ------
    UsageError
        If it is no such size, or not above 0.

    Examples
    --------
    >>> read_byte_size("max-memory", "1.5 GB")
    1500000000
    """
    match = _SIZE.fullmatch(text)
    if match is not None:
        base = 1024.0 if match[3] and match[3].lower() == "ib" else 1000.0
        value = float(match[1]) * base ** (1 + "kmgt".index(match[2].lower()) if match[2] else 0)
        if value < 2**62 and round(value) > 0:
            return round(value)
    raise UsageError(f"{name}={text}: a size above 0 is expected, such as 2GB, 500MB or 1.5GiB")


def typed_time(ns: int) -> str:
    """Write a time as people type it and :func:`read_time` reads it back, without rounding.

    Parameters
    ----------
    ns : int
        Nanoseconds.

    Returns
    -------
    str
        For example ``1.5 ms``.
    """
    return exact_duration(ns).replace(",", "")


def short_time(ns: float) -> str:
    """Write a time for a command line: in milliseconds, six significant digits, without a space.

    Parameters
    ----------
    ns : float
        Nanoseconds.

    Returns
    -------
    str
        For example ``1.5ms``; :func:`read_time` reads it back.
    """
    return f"{ns / _NS_PER['ms']:.6g}ms"


def exact_duration(ns: int) -> str:
    """Write a duration without rounding, in the largest decimal unit.

    Parameters
    ----------
    ns : int
        Nanoseconds.

    Returns
    -------
    str
        For example ``12.345 ms``; seconds have groups of three digits (``1,234.5 s``).
    """
    unit, size = next((u for u in reversed(_DECIMAL) if abs(ns) >= u[1]), _DECIMAL[0])
    whole, rest = divmod(abs(ns), size)
    digits = str(rest).zfill(len(str(size)) - 1).rstrip("0")
    return ("-" if ns < 0 else "") + f"{whole:,}" + (f".{digits}" if digits and rest else "") + f" {unit}"


def duration(ns: float, digits: int = 3) -> str:
    """Write a duration rounded to significant digits, from two minutes on to seconds or minutes.

    Parameters
    ----------
    ns : float
        Nanoseconds.
    digits : int
        Significant digits.

    Returns
    -------
    str
        For example ``1.23 ms``, ``4 min 10 s``, ``2 h 5 min``.

    Examples
    --------
    >>> duration(1_234_567)
    '1.23 ms'
    """
    if abs(ns) >= 2 * _MINUTE * _NS_PER["s"]:
        seconds = round(abs(ns) / _NS_PER["s"])
        hours, minutes = divmod(round(seconds / _MINUTE), 60)
        if seconds < _HOUR:
            text = f"{seconds // _MINUTE} min {seconds % _MINUTE} s"
        else:
            text = f"{hours:,} h {minutes} min"
        return ("-" if ns < 0 else "") + text
    for unit, size in reversed(_DECIMAL):
        if abs(_significant(ns, digits)) >= size:
            return f"{_plain(_significant(ns / size, digits))} {unit}"
    return f"{_plain(_significant(ns, digits))} ns"


def count(n: float) -> str:
    """Write a number of things.

    Parameters
    ----------
    n : float
        Whole numbers and those from 1,000 on are written without decimals, other fractions with three
        significant digits.

    Returns
    -------
    str
        For example ``1,234``.
    """
    return f"{round(n):,}" if abs(n) >= 1000 or float(n).is_integer() else _plain(_significant(n, 3))


def counted(n: int, thing: str) -> str:
    """Write a number of things with their name, which takes an ``s`` unless it is one.

    Parameters
    ----------
    n : int
        How many.
    thing : str
        The name of one.

    Returns
    -------
    str
        For example ``1 call``, ``1,234 calls``.
    """
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def byte_size(n: float) -> str:
    """Write a number of bytes, rounded to three significant digits.

    Parameters
    ----------
    n : float
        Bytes.

    Returns
    -------
    str
        For example ``1.5 MiB``.
    """
    for unit, factor in reversed(BYTE_UNITS):
        if abs(n) >= factor:
            return f"{_plain(_significant(n / factor, 3))} {unit}"
    return f"{_plain(_significant(n, 3))} B"


def percentage(share: float, digits: int = 2) -> str:
    """Write a share of a whole, so that only nothing is ``0 %`` and only everything is ``100 %``.

    Parameters
    ----------
    share : float
        Part of the whole: 1 is all of it.
    digits : int
        Significant digits, at least 1; no text has more than ``digits - 1`` decimals.

    Returns
    -------
    str
        For example ``82 %``, ``3.4 %``, ``< 0.1 %``, ``> 99.9 %``.

    Examples
    --------
    >>> percentage(0.123), percentage(0.9999), percentage(0.0001)
    ('12 %', '> 99.9 %', '< 0.1 %')
    """
    most = digits - 1
    least, percent = 10.0**-most, 100.0 * share
    if 0 < percent < least:
        return f"< {least:.{most}f} %"
    if 100 - least < percent < 100:
        return f"> {100 - least:.{most}f} %"
    decimals = most
    while decimals and abs(percent) >= 10.0 ** (digits - decimals):
        decimals -= 1
    if percent < 100 and round(percent, decimals) == 100:
        decimals = most
    text = f"{percent:,.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if decimals else text} %"


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _plain(value: float) -> str:
    text = f"{value:,.12f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def printable(text: str) -> str:
    r"""Return a recorded text with U+FFFD for what terminals, pages and editors would obey.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        On one line, as long as ``text``.

    Examples
    --------
    >>> printable("red\x1b[31m")
    'red�[31m'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)
