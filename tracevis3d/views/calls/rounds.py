"""Rounds: the calls of one function that a program repeats, such as requests, tests or iterations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...analysis.measures import calls_by_function
from ...errors import UsageError
from ...trace.model import Trace

#: A repeated call has at least and at most this many rounds.
_FEWEST, _MOST = 6, 2000


def repeated_function(trace: Trace, name: str) -> int:
    """Return the function whose calls are rounds: the named one, or else the one with the most time.

    Of all functions with a fitting number of calls to each thread that runs them, none within another, the
    one whose calls cover most time; of several that cover about the same, the innermost.

    Parameters
    ----------
    trace : Trace
    name : str
        A label or full name; empty: the program chooses.

    Returns
    -------
    int

    Raises
    ------
    UsageError
        If no function has this name, or none is repeated.
    """
    calls, functions = trace.calls, trace.functions
    if name.strip():
        hits = [i for i in range(len(functions)) if name in (functions.label[i], functions.name[i])]
        if not hits:
            raise UsageError(f"repeated={name}: no function has this name")
        return max(hits, key=lambda i: int(calls_by_function(trace)[i]))
    many = calls_by_function(trace)
    nested = np.zeros(len(functions), np.bool_)
    inside = np.flatnonzero(calls.parent >= 0)
    same = calls.function[inside] == calls.function[calls.parent[inside]]
    nested[calls.function[inside[same]]] = True
    time = np.bincount(calls.function, (calls.end - calls.start).astype(np.float64), len(functions))
    pairs = np.unique(calls.function.astype(np.int64) * len(trace.threads) + calls.thread)
    threads = np.bincount(pairs // max(len(trace.threads), 1), minlength=len(functions))
    fits = (many >= _FEWEST * np.maximum(threads, 1)) & (many <= _MOST) & ~nested
    if not fits.any():
        raise UsageError(
            f"no function is called {_FEWEST} to {_MOST:,} times by each thread; name one: repeated="
        )
    close = fits & (time >= 0.8 * time[fits].max())
    # Of callers and callees called once each, the innermost has the most calls.
    return int(np.flatnonzero(close)[np.argmax(many[close])])


def rounds_of(trace: Trace, function: int) -> NDArray[np.int64]:
    """Return the calls of a function that lie in no other call of it, in the order of their begins.

    Parameters
    ----------
    trace : Trace
    function : int

    Returns
    -------
    int64 (n,)
    """
    calls = trace.calls
    which = np.flatnonzero(calls.function == function)
    # Calls are in pre-order: what begins before the last outer one has ended lies in it.
    stop = np.maximum.accumulate(which + calls.extent[which])
    outer = np.ones(len(which), np.bool_)
    outer[1:] = which[1:] >= stop[:-1]
    found = which[outer]
    return found[np.argsort(calls.start[found], kind="stable")]
