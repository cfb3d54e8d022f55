"""Results of a trace that are computed once and kept in memory as long as the trace is.

A function whose results are kept gets a stand-in for the trace: another :class:`.model.Trace` with the same
columns. So its result may refer to the trace that it got, and still nothing that is kept holds the caller's
trace: when that is dropped, its results are freed with it. Results of several traces are freed as soon as one
of these is dropped.
"""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from .model import Trace

P = ParamSpec("P")
R = TypeVar("R")

#: Keyword arguments that are passed on and make no other result.
_ASIDE = frozenset({"progress", "cache"})


class _Entry(Generic[R]):
    """A result, or a place for it while one thread computes it and others wait."""

    __slots__ = ("is_known", "lock", "value")
    value: R

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.is_known = False


class _TraceResults:
    """The cached results of one trace: its stand-in, and the results of each function."""

    def __init__(self, trace: Trace) -> None:
        self.stand_in = copy(trace)
        self.results: dict[object, _Results] = {}
        _home_of_stand_in[self.stand_in] = weakref.ref(self)


#: Protects the tables of results, not their computation.
_lock = threading.RLock()
_homes: weakref.WeakKeyDictionary[Trace, _TraceResults] = weakref.WeakKeyDictionary()
# Weakly, because results refer to stand-ins and may be held by others.
_home_of_stand_in: weakref.WeakKeyDictionary[Trace, weakref.ref[_TraceResults]] = weakref.WeakKeyDictionary()


def _home(trace: Trace) -> _TraceResults:
    with _lock:
        of_stand_in = _home_of_stand_in.get(trace)
        found = of_stand_in() if of_stand_in is not None else _homes.get(trace)
        if found is None:
            found = _homes[trace] = _homes.get(trace) or _TraceResults(trace)
        return found


class _Results(OrderedDict[Hashable, _Entry[Any]]):
    """Results by their key, the one that was used last at the end."""

    def get_or_make(self, key: Hashable, most: int | None, make: Callable[[], R]) -> R:
        """Return the result of ``key``; other threads that ask for it wait for the first to compute it."""
        with _lock:
            entry = self.setdefault(key, _Entry())
            self.move_to_end(key)
        with entry.lock:
            if not entry.is_known:
                try:
                    entry.value = make()
                    entry.is_known = True
                except BaseException:
                    with _lock:
                        if self.get(key) is entry:
                            del self[key]
                    raise
        with _lock:
            while most is not None and len(self) > most:
                self.popitem(last=False)
        value: R = entry.value
        return value


def _arguments(args: tuple[Any, ...], words: dict[str, Any]) -> Hashable:
    return args, tuple(sorted((name, value) for name, value in words.items() if name not in _ASIDE))


class CachedWithTrace(Generic[P, R]):
    """A function of a trace whose results are kept with the trace; made by :func:`cached_with_trace`."""

    def __init__(self, function: Callable[Concatenate[Trace, P], R], most: int | None) -> None:
        functools.update_wrapper(self, function)
        self._function, self._most = function, most

    def __call__(self, trace: Trace, *args: P.args, **words: P.kwargs) -> R:
        home = _home(trace)
        return self._results(home).get_or_make(
            _arguments(args, words), self._most, lambda: self._function(home.stand_in, *args, **words)
        )

    def is_known(self, trace: Trace, *args: P.args, **words: P.kwargs) -> bool:
        """Return whether the result is kept, so that asking for it takes no time.

        Parameters
        ----------
        trace : Trace
        *args, **words : args
            What the function would be called with.

        Returns
        -------
        bool
        """
        with _lock:
            entry = self._results(_home(trace)).get(_arguments(args, words))
        return entry is not None and entry.is_known

    def _results(self, home: _TraceResults) -> _Results:
        with _lock:
            return home.results.setdefault(self, _Results())


class CachedWithTraces(Generic[P, R]):
    """A function of several traces whose results are kept; made by :func:`cached_with_traces`."""

    def __init__(self, function: Callable[Concatenate[Sequence[Trace], P], R], most: int) -> None:
        functools.update_wrapper(self, function)
        self._function, self._most = function, most
        self._results = _Results()

    def __call__(self, traces: Sequence[Trace], *args: P.args, **words: P.kwargs) -> R:
        homes = [_home(trace) for trace in traces]
        return self._results.get_or_make(
            self._key(homes, args, words),
            self._most,
            lambda: self._function([home.stand_in for home in homes], *args, **words),
        )

    def is_known(self, traces: Sequence[Trace], *args: P.args, **words: P.kwargs) -> bool:
        """Return whether the result is kept, so that asking for it takes no time.

        Parameters
        ----------
        traces : sequence of Trace
        *args, **words : args
            What the function would be called with.

        Returns
        -------
        bool
        """
        key = self._key([_home(trace) for trace in traces], args, words)
        with _lock:
            entry = self._results.get(key)
        return entry is not None and entry.is_known

    def forget(self) -> None:
        """Drop all results."""
        with _lock:
            self._results.clear()

    def _key(self, homes: Sequence[_TraceResults], args: tuple[Any, ...], words: dict[str, Any]) -> Hashable:
        return tuple(weakref.ref(home, self._gone) for home in homes), _arguments(args, words)

    def _gone(
        self, home: weakref.ref[_TraceResults], is_finalizing: Callable[[], bool] = sys.is_finalizing
    ) -> None:
        # When Python ends, this module's names may be gone.
        if is_finalizing():
            return
        with _lock:
            for key in list(self._results):
                refs: tuple[weakref.ref[_TraceResults], ...] = cast(Any, key)[0]
                if any(ref() is None for ref in refs):
                    self._results.pop(key, None)


def cached_with_trace(
    most: int | None = None,
) -> Callable[[Callable[Concatenate[Trace, P], R]], CachedWithTrace[P, R]]:
    """Keep the results of a function of a trace, and of hashable arguments, as long as the trace lives.

    Threads that ask at once for the same result wait for one of them. An exception is not kept. Arguments
    count as they are written: ``f(trace, 1)`` and ``f(trace, n=1)`` are two results. Keyword arguments
    ``progress`` and ``cache`` are passed on and make no other result.

    Parameters
    ----------
    most : int, optional
        How many results of this function are kept for one trace; those that were used last. Without it,
        all.

    Returns
    -------
    callable
        The decorator. The function must not change its result afterwards, nor may who gets it.
    """
    return lambda function: CachedWithTrace(function, most)


def cached_with_traces(
    most: int,
) -> Callable[[Callable[Concatenate[Sequence[Trace], P], R]], CachedWithTraces[P, R]]:
    """Keep the results of a function of several traces until one of these is dropped.

    Parameters
    ----------
    most : int
        How many results of this function are kept in all, of any traces; those that were used last.

    Returns
    -------
    callable
        The decorator; see :func:`cached_with_trace`.
    """
    return lambda function: CachedWithTraces(function, most)
