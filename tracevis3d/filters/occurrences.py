"""Filters of single calls: by thread, duration, depth, time, or number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import UsageError
from ..parameters import parameter
from ..trace.names import named_threads
from ..units import read_time
from .facts import Facts
from .registry import Filter, Marked


@dataclass(frozen=True)
class ThreadParameters:
    """The parameters of a filter by thread."""

    threads: str = parameter("", "Names or ids with commas between them; * stands for anything")
    others: bool = parameter(False, "Mark the calls of all other threads")


@dataclass(frozen=True)
class DurationParameters:
    """The parameters of a filter by duration."""

    below: str = parameter("1us", "Mark calls shorter than this time; empty: none")
    above: str = parameter("", "Mark calls longer than this time; empty: none")


@dataclass(frozen=True)
class DepthParameters:
    """The parameters of a filter by depth."""

    below: int = parameter(5, "Mark calls deeper than this; a root call has depth 1", low=1)


@dataclass(frozen=True)
class TimeParameters:
    """The parameters of a filter by time."""

    start: str = parameter("", "Mark calls that end before this time; empty: none")
    end: str = parameter("", "Mark calls that start after this time; empty: none")


@dataclass(frozen=True)
class CallsParameters:
    """The parameters of a filter of calls."""

    calls: str = parameter("", "Numbers of calls with commas between them, such as a selection's")
    others: bool = parameter(False, "Mark all calls except these, their callers and the calls below them")


def thread(facts: Facts, p: ThreadParameters) -> Marked:
    """Mark the calls of some threads.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : ThreadParameters
        Which threads.

    Returns
    -------
    Marked
    """
    chosen = np.zeros(len(facts.trace.threads), np.bool_)
    chosen[named_threads(facts.trace, p.threads)] = True
    return Marked("call", (~chosen if p.others else chosen)[np.asarray(facts.trace.calls.thread)])


def duration(facts: Facts, p: DurationParameters) -> Marked:
    """Mark short or long calls.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : DurationParameters
        The bounds.

    Returns
    -------
    Marked
    """
    calls = facts.trace.calls
    length = calls.end - calls.start
    flags = np.zeros(len(calls), np.bool_)
    if p.below.strip():
        flags |= length < read_time("below", p.below)
    if p.above.strip():
        flags |= length > read_time("above", p.above)
    return Marked("call", flags)


def depth(facts: Facts, p: DepthParameters) -> Marked:
    """Mark deep calls.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : DepthParameters
        The deepest level that is kept.

    Returns
    -------
    Marked
    """
    return Marked("call", np.asarray(facts.trace.calls.depth) > p.below)


def time(facts: Facts, p: TimeParameters) -> Marked:
    """Mark calls outside a stretch of time.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : TimeParameters
        The stretch.

    Returns
    -------
    Marked
    """
    calls = facts.trace.calls
    flags = np.zeros(len(calls), np.bool_)
    if p.start.strip():
        flags |= calls.end < read_time("start", p.start)
    if p.end.strip():
        flags |= calls.start > read_time("end", p.end)
    return Marked("call", flags)


def chosen_calls(facts: Facts, p: CallsParameters) -> Marked:
    """Mark single calls, or all that has nothing to do with them.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : CallsParameters
        The calls' numbers.

    Returns
    -------
    Marked

    Raises
    ------
    UsageError
        If there is no such call.
    """
    calls = facts.trace.calls
    chosen = []
    for word in filter(None, (word.strip().replace("_", "") for word in p.calls.split(","))):
        if not word.isdecimal() or int(word) >= len(calls):
            raise UsageError(
                f"calls={p.calls}: there is no call {word}: they go from 0 to {len(calls) - 1:,}"
            )
        chosen.append(int(word))
    flags = np.zeros(len(calls), np.bool_)
    if not p.others:
        flags[chosen] = True
        return Marked("call", flags)
    for call in chosen:
        flags[call : call + int(calls.extent[call])] = True
        while call >= 0:
            flags[call] = True
            call = int(calls.parent[call])
    return Marked("call", ~flags)


FILTERS = {
    f.name: f
    for f in (
        Filter("thread", "By thread", "the calls of some threads", "any", ThreadParameters, thread),
        Filter("duration", "By duration", "calls shorter or longer than a time", "any", DurationParameters,
               duration),
        Filter("depth", "By depth", "calls deeper than a level", "any", DepthParameters, depth),
        Filter("time", "By time", "calls outside a stretch of time", "any", TimeParameters, time),
        Filter("calls", "By selection", "single calls, or all others", "any", CallsParameters, chosen_calls),
    )
}  # fmt: skip
