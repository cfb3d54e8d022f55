"""Search: functions by their names, then their calls in time, first, next and previous without a scan.

SEAT (Hamou-Lhadj and Lethbridge) asks for exact names, wildcards and regular expressions. The calls of each
function are kept in order of time, so what is requested about them follows the number of functions that match
and the calls that are examined, never the length of the trace.
"""

from __future__ import annotations

import fnmatch
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, UsageError
from ..kernels.trace.search import first_not_before, merge_runs, sort_by_function
from ..trace.cached_results import cached_with_trace
from ..trace.model import Calls, Functions, Trace
from ..trace.names import label_of_call
from ..trace.storage.cache import cached

#: Kinds of patterns, with descriptions.
KINDS = {
    "substring": "the name contains the text",
    "wildcard": "the whole name, with * for any text and ? for any character",
    "regex": "a regular expression that matches somewhere in the name",
}
Kind = Literal["substring", "wildcard", "regex"]
#: Version of the cached index: raise it when its arrays change.
VERSION = 1
_FIRST, _LAST = -(1 << 62), 1 << 62


@dataclass(frozen=True)
class Query:
    """The query.

    Attributes
    ----------
    text : str
    kind : {"substring", "wildcard", "regex"}
        See :data:`KINDS`.
    full : bool
        Look at names as they were recorded, with arguments, path and line; else at the short ones.
    case : bool
        Distinguish capital letters from small ones.
    """

    text: str
    kind: Kind = "substring"
    full: bool = False
    case: bool = False

    def test(self) -> Callable[[str], bool]:
        """Return a function that says whether a name matches.

        Returns
        -------
        callable
            ``test(name) -> bool``.

        Raises
        ------
        UsageError
            If the text is empty, or no regular expression where one is wanted.
        """
        if not self.text:
            raise UsageError("the pattern is empty: give a text to search for")
        if self.kind not in KINDS:
            raise UsageError(f"a pattern is one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.kind == "substring" and self.case:
            text = self.text
            return lambda name: text in name
        if self.kind == "substring":
            folded = self.text.casefold()
            return lambda name: folded in name.casefold()
        pattern = self.text if self.kind == "regex" else fnmatch.translate(self.text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                expression = re.compile(pattern, 0 if self.case else re.IGNORECASE)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"{self.text!r} is not a valid regular expression: {error}") from None
        if self.kind == "regex":
            return lambda name: expression.search(name) is not None
        return lambda name: expression.match(name) is not None


def matching_functions(functions: Functions, query: Query) -> NDArray[np.int64]:
    """Return the functions whose names match, int64 (k,), ascending.

    Parameters
    ----------
    functions : Functions
        Of the trace.
    query : Query
        What their names are tested with: ``label``, or with ``full`` the recorded ``name``.

    Returns
    -------
    int64 (k,)

    Raises
    ------
    UsageError
        If the query can't be read.
    """
    test = query.test()
    names = functions.name if query.full else functions.label
    return np.array([i for i, name in enumerate(names) if test(name)], np.int64)


@dataclass(frozen=True, eq=False)
class CallIndex:
    """The calls of a trace by function, each function's in order of time (start, then number).

    Attributes
    ----------
    start : int64 (n,)
        Of the trace's calls.
    first : int64 (functions + 1,)
        The calls of function ``f`` are ``order[first[f]:first[f + 1]]``.
    order : int32 (n,)
    """

    start: NDArray[np.int64]
    first: NDArray[np.int64]
    order: NDArray[np.int32]

    @classmethod
    def of(cls, calls: Calls, threads: Any, functions: int) -> CallIndex:
        """Sort the calls, in linear time for each thread.

        Parameters
        ----------
        calls : Calls
        threads : Threads
            ``first`` and ``count`` are read.
        functions : int

        Returns
        -------
        CallIndex

        Raises
        ------
        InputError
            From 2,147,483,647 calls on.
        """
        n = len(calls)
        if n >= np.iinfo(np.int32).max:
            raise InputError(
                f"This trace has {n:,} calls, and a search can hold 2,147,483,646: leave out part of it"
            )
        function = np.ascontiguousarray(calls.function, np.int32)
        start = np.ascontiguousarray(calls.start, np.int64)
        by_time = np.arange(n, dtype=np.int32)
        if np.count_nonzero(threads.count) > 1:
            low = np.ascontiguousarray(threads.first, np.int64)
            by_time = _merge(by_time, start, low, low + threads.count, 1, n)
        first = np.zeros(functions + 1, np.int64)
        np.cumsum(np.bincount(function, minlength=functions), out=first[1:])
        order = np.empty(n, np.int32)
        sort_by_function(function, by_time, first[:-1].copy(), order)
        return cls(start, first, order)


@cached_with_trace()
def call_index(trace: Trace, *, cache: bool) -> CallIndex:
    """Return the index of a trace: from the cache on disk, else made now; kept with the trace.

    Parameters
    ----------
    trace : Trace
    cache : bool
        Keep it on disk, and use it if it is there.

    Returns
    -------
    CallIndex
    """

    def make() -> dict[str, NDArray[Any]]:
        made = CallIndex.of(trace.calls, trace.threads, len(trace.functions))
        return {"first": made.first, "order": made.order}

    digest = trace.source.hash
    arrays = cached(f"calls-by-function-{VERSION}", digest, make) if cache and digest else make()
    return CallIndex(
        np.ascontiguousarray(trace.calls.start, np.int64),
        np.asarray(arrays["first"]),
        np.asarray(arrays["order"]),
    )


class Found:
    """The calls of some functions that start in a range of time, in order of time.

    Parameters
    ----------
    index : CallIndex
        Of all calls of the trace.
    start, end : int, optional
        Nanoseconds: calls that start from ``start`` on and before ``end``; None: no bound.

    Attributes
    ----------
    functions : int64 (m,)
    counts : int64 (m,)
        How many of the calls are each function's.
    count : int
        How many there are in all.
    """

    def __init__(
        self,
        index: CallIndex,
        functions: NDArray[np.int64],
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        self._index = index
        self.functions = functions
        whole = np.asarray(index.first[functions]), np.asarray(index.first[functions + 1])
        # Before any call that starts then: calls are numbered from 0.
        self._low = self._bound(*whole, _FIRST if start is None else start, -1)
        self._high = self._bound(*whole, _LAST if end is None else end, -1)
        self._high = np.maximum(self._high, self._low)
        self.counts = self._high - self._low
        self.count = int(self.counts.sum())

    @classmethod
    def of_calls(cls, trace: Trace, calls: NDArray[np.int64]) -> Found:
        """Return calls that were found in another way than by names.

        Parameters
        ----------
        trace : Trace
        calls : int64 (n,)
            Each once.

        Returns
        -------
        Found
            Its counts are for all functions together.
        """
        start = np.ascontiguousarray(trace.calls.start, np.int64)
        order = calls[np.lexsort((calls, start[calls]))].astype(np.int32)
        found = cls(CallIndex(start, np.array([0, len(order)], np.int64), order), np.zeros(1, np.int64))
        found.functions = np.unique(trace.calls.function[calls]).astype(np.int64)
        return found

    def first(self, most: int) -> NDArray[np.int32]:
        """Return the first calls, int32 (at most ``most``,)."""
        return self._take(self._low, self._high, 1, most)

    def last(self, most: int) -> NDArray[np.int32]:
        """Return the last calls, the last one first, int32 (at most ``most``,)."""
        return self._take(self._high - 1, self._low - 1, -1, most)

    def after(self, time: int, call: int = -1, most: int = 1) -> NDArray[np.int32]:
        """Return the calls that come next after ``call``, which starts at ``time``, in order of time.

        Without a ``call``: those from ``time`` on.

        Parameters
        ----------
        time : int
            Nanoseconds.
        call : int
            Its index; -1: none.
        most : int
            How many are wanted.

        Returns
        -------
        int32 (at most ``most``,)
        """
        at = self._bound(self._low, self._high, time, call + 1 if call >= 0 else -1)
        return self._take(at, self._high, 1, most)

    def before(self, time: int, call: int = -1, most: int = 1) -> NDArray[np.int32]:
        """Return the calls that come before ``call``, which starts at ``time``, the nearest first.

        Without a ``call``: those that start before ``time``.

        Parameters
        ----------
        time : int
            Nanoseconds.
        call : int
            Its index; -1: none.
        most : int
            How many are wanted.

        Returns
        -------
        int32 (at most ``most``,)
        """
        at = self._bound(self._low, self._high, time, call)
        return self._take(at - 1, self._low - 1, -1, most)

    def window(self, rank: int, most: int) -> NDArray[np.int32]:
        """Return the calls from number ``rank`` (from 0) on, int32 (at most ``most``,).

        Parameters
        ----------
        rank : int
            The first that is wanted, in order of time.
        most : int
            How many are wanted.

        Returns
        -------
        int32 (at most ``most``,)
        """
        if rank >= self.count or most <= 0:
            return np.empty(0, np.int32)
        low, high = (int(self._index.start[end[0]]) for end in (self.first(1), self.last(1)))
        # The latest time before which at most ``rank`` calls start.
        while low < high:
            middle = (low + high + 1) // 2
            if self.rank(middle) <= rank:
                low = middle
            else:
                high = middle - 1
        skipped = max(rank, 0) - self.rank(low)
        return self.after(low, most=skipped + most)[skipped:]

    def spread(self, most: int) -> NDArray[np.int32]:
        """Return at most ``most`` of the calls, spread evenly: every n-th of each function."""
        if most <= 0 or not self.count:
            return np.empty(0, np.int32)
        step = -(-self.count // most)
        number = np.arange(0, self.count, step)
        before = np.cumsum(self.counts) - self.counts
        which = np.searchsorted(before, number, "right") - 1
        # Functions without a call begin where the next one does.
        return np.asarray(self._index.order[self._low[which] + number - before[which]])

    def rank(self, time: int, call: int = -1) -> int:
        """Return how many of the calls come before ``call``, which starts at ``time``.

        Parameters
        ----------
        time : int
            Nanoseconds.
        call : int
            Its index; -1: of the calls that start at ``time`` none counts.

        Returns
        -------
        int
        """
        return int((self._bound(self._low, self._high, time, call) - self._low).sum())

    def _bound(
        self, low: NDArray[np.int64], high: NDArray[np.int64], time: int, call: int
    ) -> NDArray[np.int64]:
        found = np.empty(len(low), np.int64)
        first_not_before(self._index.order, self._index.start, low, high, int(time), int(call), found)
        return found

    def _take(self, at: NDArray[np.int64], end: NDArray[np.int64], step: int, most: int) -> NDArray[np.int32]:
        return _merge(self._index.order, self._index.start, at, end, step, min(max(most, 0), self.count))


def search(
    trace: Trace, query: Query, start: int | None = None, end: int | None = None, *, cache: bool = True
) -> Found:
    """Find the calls of the functions whose names match.

    Parameters
    ----------
    trace : Trace
    query : Query
    start, end : int, optional
        Nanoseconds: calls that start from ``start`` on and before ``end``.
    cache : bool
        Keep the index on disk, and use it if it exists.

    Returns
    -------
    Found

    Raises
    ------
    UsageError
        If the query can't be read.
    """
    functions = matching_functions(trace.functions, query)
    return Found(call_index(trace, cache=cache), functions, start, end)


def facts(trace: Trace, found: Found, most: int) -> dict[str, Any]:
    """Return what was found, as ``search --json`` prints it; at most ``most`` rows of each kind.

    Parameters
    ----------
    trace : Trace
    found : Found
        What :func:`search` found in it.
    most : int
        Rows.

    Returns
    -------
    dict
    """
    calls, functions = trace.calls, trace.functions
    busiest = np.argsort(-found.counts, kind="stable")[:most].tolist()
    return {
        "function_count": len(found.functions),
        "calls": found.count,
        "functions": [
            {
                "function": int(found.functions[i]),
                "name": functions.name[int(found.functions[i])],
                "calls": int(found.counts[i]),
            }
            for i in busiest
        ],
        "first_calls": [
            {
                "call": call,
                "function": label_of_call(trace, call),
                "start_ns": int(calls.start[call]),
                "duration_ns": int(calls.end[call] - calls.start[call]),
                "thread": trace.threads.title(int(calls.thread[call])),
                "depth": int(calls.depth[call]),
            }
            for call in found.first(most).tolist()
        ],
    }


def _merge(
    order: NDArray[np.int32],
    start: NDArray[np.int64],
    at: NDArray[np.int64],
    end: NDArray[np.int64],
    step: int,
    most: int,
) -> NDArray[np.int32]:
    """Return the first ``most`` calls of sorted runs, merged."""
    out = np.empty(most, np.int32)
    taken = np.array(at, np.int64)
    count = merge_runs(
        order, start, taken, np.ascontiguousarray(end), step, np.empty(len(taken), np.int64), out
    )
    return out[:count]
