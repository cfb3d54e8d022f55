"""The results of a search as a list: a page of rows as texts, and steps between results."""

from __future__ import annotations

from dataclasses import dataclass

from ..trace.cached_results import cached_with_trace
from ..trace.model import Trace
from ..units import counted, duration, exact_duration, read_time
from .search import Found, Kind, Query, search

#: Results per page.
PAGE = 100


@dataclass(frozen=True)
class TypedQuery:
    """The query as typed.

    Attributes
    ----------
    pattern, kind, full, case
        As in :class:`.search.Query`.
    start, end : str
        Times such as ``1.5s`` that the calls start between; empty: all.
    """

    pattern: str
    kind: Kind = "substring"
    full: bool = False
    case: bool = False
    start: str = ""
    end: str = ""


@cached_with_trace(most=4)
def find(trace: Trace, query: TypedQuery) -> Found:
    """Find the calls of the functions whose names match; the result is cached.

    Parameters
    ----------
    trace : Trace
    query : TypedQuery
        As a user typed it; empty times are no bounds.

    Returns
    -------
    Found

    Raises
    ------
    UsageError
        If the pattern or a time can't be read.
    """
    start = read_time("from", query.start) if query.start.strip() else None
    end = read_time("to", query.end) if query.end.strip() else None
    found = search(trace, Query(query.pattern, query.kind, query.full, query.case), start, end)
    # The kernels for stepping are compiled here, in the background.
    found.after(0, most=1), found.rank(0)
    return found


def summary(found: Found) -> str:
    """Return the number of results as text."""
    if found.count:
        return f"{counted(found.count, 'call')} of {counted(len(found.functions), 'function')}"
    if len(found.functions):
        return f"{counted(len(found.functions), 'function')} found, but no call in this time range"
    return "No function name matches"


def step_to(trace: Trace, found: Found, current: int, step: str) -> int | None:
    """Return the result that ``step`` (FIRST, PREVIOUS, NEXT, LAST) leads to from the call ``current``.

    Without a current call (-1) it is the first, or the last. None: there is none.

    Parameters
    ----------
    trace : Trace
    found : Found
    current : int
        Index of a call.
    step : {"FIRST", "PREVIOUS", "NEXT", "LAST"}
        Where to.

    Returns
    -------
    int or None
    """
    if step == "LAST":
        calls = found.last(1)
    elif step == "FIRST" or not 0 <= current < len(trace.calls):
        calls = found.first(1)
    else:
        start = int(trace.calls.start[current])
        calls = found.after(start, current) if step == "NEXT" else found.before(start, current)
    return int(calls[0]) if len(calls) else None


def rank_of(trace: Trace, found: Found, call: int) -> int:
    """Return the number of a result, from 0, in order of time.

    Parameters
    ----------
    trace : Trace
    found : Found
    call : int
        One of the results.

    Returns
    -------
    int
    """
    return found.rank(int(trace.calls.start[call]), call)


def pinned(found: Found, most: int, current: int) -> list[int]:
    """Return at most ``most`` results, spread over all, and the current one (-1: none), ascending.

    Parameters
    ----------
    found : Found
    most : int
        How many at most, beside the current one.
    current : int
        Index of a call.

    Returns
    -------
    list of int
    """
    return sorted({*found.spread(most).tolist(), *([current] if current >= 0 else [])})


@dataclass(frozen=True)
class ResultTexts:
    """A result of a search, with the data needed to show it without the trace.

    Attributes
    ----------
    call, thread, depth : int
    start : str
        Nanoseconds.
    title, when, detail : str
        Its name, when it starts, and what else is known.
    """

    call: int
    thread: int
    depth: int
    start: str
    title: str
    when: str
    detail: str


def page(trace: Trace, found: Found, rank: int) -> list[ResultTexts]:
    """Return the results from number ``rank`` on, :data:`PAGE` at most.

    Parameters
    ----------
    trace : Trace
    found : Found
    rank : int
        From 0.

    Returns
    -------
    list of ResultTexts
    """
    # Only the results before the page are skipped again.
    return [_texts(trace, call) for call in found.window(rank, PAGE).tolist()]


def _texts(trace: Trace, call: int) -> ResultTexts:
    calls, functions, function = trace.calls, trace.functions, int(trace.calls.function[call])
    start, thread, depth = int(calls.start[call]), int(calls.thread[call]), int(calls.depth[call])
    lasted = duration(int(calls.end[call]) - start)
    detail = (
        f"{functions.name[function]}\nstarts at {exact_duration(start)}, takes {lasted}, depth {depth}, "
        f"{trace.threads.title(thread)}"
    )
    return ResultTexts(call, thread, depth, str(start), functions.label[function], duration(start, 5), detail)
