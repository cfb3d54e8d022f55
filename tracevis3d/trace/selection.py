"""The selection in a trace: calls and a time range, changed and written as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
#: Numbers of calls as they are given.
Calls = ArrayLike | Iterable[int]

#: Maximum number of selected calls; the first ones are kept.
MOST = 200_000
_PART = re.compile(r"(\d+)(?:-(\d+))?")


@dataclass(frozen=True, eq=False)
class Selection:
    """The selection in a trace.

    Attributes
    ----------
    calls : int64 (n,)
        Indices into ``Trace.calls``, ascending.
    active : int
        The call selected last; -1 if there is none.
    time_range : (int, int) or None
        Nanoseconds.
    """

    calls: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    active: int = -1
    time_range: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.calls)

    def __bool__(self) -> bool:
        return len(self.calls) > 0 or self.time_range is not None

    def chosen(
        self,
        calls: Calls | None = None,
        active: int | None = None,
        time_range: tuple[int, int] | None = None,
        extend: bool = False,
    ) -> tuple[Selection, int]:
        """Return the selection of other calls, of a time range, or of both, and how many calls are left out.

        Parameters
        ----------
        calls : int array, optional
            None: none, or with ``extend`` those that are selected.
        active : int, optional
            The call that details are shown of; the first of ``calls`` if left out.
        time_range : (int, int), optional
            Nanoseconds.
        extend : bool
            Keep what is selected.

        Returns
        -------
        (Selection, int)
            Calls from :data:`MOST` on are left out.
        """
        given = np.empty(0, np.int64) if calls is None else whole_numbers(calls)
        if active is None:
            active = int(given[0]) if len(given) else (self.active if extend else -1)
        wanted = np.unique(np.concatenate([self.calls, given]) if extend else given)
        if time_range is None and extend:
            time_range = self.time_range
        if time_range is not None:
            time_range = (min(time_range), max(time_range))
        return Selection(wanted[:MOST], active, time_range), max(len(wanted) - MOST, 0)

    def without(self, calls: Calls) -> Selection:
        """Return the selection without ``calls``; the last call that is left is active if that one goes."""
        kept = np.setdiff1d(self.calls, whole_numbers(calls))
        active = self.active if self.active in kept else (int(kept[-1]) if len(kept) else -1)
        return Selection(kept, active, self.time_range)

    def texts(self) -> dict[str, str]:
        """Return the parts as texts; :meth:`of_texts` reads them."""
        return {
            "calls": write_calls(self.calls),
            "active": str(self.active) if self.active >= 0 else "",
            "time_range": "" if self.time_range is None else "{} {}".format(*self.time_range),
        }

    @classmethod
    def of_texts(cls, calls: str, active: str, time_range: str) -> Selection:
        """Return what :meth:`texts` wrote; what can't be read is left out.

        Parameters
        ----------
        calls : str
            The selected calls.
        active : str
            The number of the active one.
        time_range : str
            The range of time.

        Returns
        -------
        Selection
        """
        return cls(read_calls(calls), int(active) if active.isdecimal() else -1, read_range(time_range))

    def as_json(self) -> dict[str, Any]:
        """Return the parts as JSON has them; :meth:`of_json` reads them."""
        found: dict[str, Any] = {"calls": write_calls(self.calls), "active": self.active}
        if self.time_range is not None:
            found["time_range"] = list(self.time_range)
        return found

    @classmethod
    def of_json(cls, found: object) -> Selection:
        """Return what :meth:`as_json` wrote; what can't be read is left out."""
        if not isinstance(found, dict):
            return cls()
        match found.get("time_range"):
            case [int(low), int(high)]:
                times: tuple[int, int] | None = (low, high)
            case _:
                times = None
        active = found.get("active")
        return cls(read_calls(str(found.get("calls", ""))), active if isinstance(active, int) else -1, times)


def write_calls(calls: Ints) -> str:
    """Return ascending numbers as text: ``3 7-9``."""
    if not len(calls):
        return ""
    new = np.flatnonzero(np.diff(calls) != 1) + 1
    first = calls[np.concatenate([[0], new])].tolist()
    last = calls[np.concatenate([new - 1, [len(calls) - 1]])].tolist()
    return " ".join(f"{a}-{b}" if b > a else str(a) for a, b in zip(first, last, strict=True))


def read_calls(text: str) -> Ints:
    """Return the numbers that :func:`write_calls` wrote, :data:`MOST` at most; other text is passed over."""
    parts = [(int(a), int(b or a)) for a, b in _PART.findall(text)]
    if not parts:
        return np.empty(0, np.int64)
    low, high = np.array(parts, np.int64).T
    count = np.clip(high - low + 1, 0, MOST)
    begin = np.repeat(low - (np.cumsum(count) - count), count)
    return np.asarray(begin + np.arange(len(begin)), np.int64)[:MOST]


def read_range(text: str) -> tuple[int, int] | None:
    """Return the two numbers that ``text`` holds; None if it doesn't."""
    words = text.split()
    try:
        low, high = (int(word) for word in words)
    except ValueError:
        return None
    return low, high


def same_calls(one: dict[str, Ints], other: dict[str, Ints]) -> set[str]:
    """Return the keys under which both tables hold the same calls.

    Parameters
    ----------
    one, other : dict of str to int64 (k,)
        Selected calls by any key.

    Returns
    -------
    set of str
    """
    return {key for key in one.keys() & other.keys() if np.array_equal(one[key], other[key])}


def whole_numbers(calls: Calls) -> Ints:
    """Return numbers of calls as an array, int64 (n,)."""
    if not isinstance(calls, np.ndarray):
        calls = np.fromiter(calls, np.int64) if isinstance(calls, Iterable) else np.array([calls], np.int64)
    return np.atleast_1d(calls).astype(np.int64)
