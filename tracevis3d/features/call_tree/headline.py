"""The title of a picture of calls: where most of the time goes, in one sentence."""

from __future__ import annotations

import re

import numpy as np

from ... import units
from ...analysis.measures import calls_by_function, self_time_by_function, total_time_by_function
from ...trace import profile
from ...trace.model import Trace

#: A function with at least this share of the time is named in the headline; one with this share, beside it.
_MOST, _MUCH = 0.4, 0.25
#: Times what the next function has, so that it is worth a name.
_AHEAD = 1.25
#: Roots of stacks that name their thread, as py-spy writes them: they do nothing themselves.
_THREAD = re.compile(r"[Tt]hread \(\w+\)(: .*)?")


def headline(trace: Trace) -> str:
    """Return where most of the time goes: the innermost function that still has much of it.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    str
        Of an empty trace: that it has no calls.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> headline(tv.load("examples/vt_markdown_repeat1.json.gz"))
    '<module> of markdown_py alone has 57 % of the time'
    """
    calls = trace.calls
    roots = np.flatnonzero(calls.depth == 1)
    every = float((calls.end[roots] - calls.start[roots]).sum())
    if not len(calls):
        return f"{trace.source.title}: no calls"
    if every <= 0:
        often = calls_by_function(trace)
        most = int(often.argmax())
        return f"{_name(trace, most)} is called most: {units.counted(int(often[most]), 'time')}"
    whole, own = total_time_by_function(trace), self_time_by_function(trace)
    of = _of_what(trace)
    alone = int(own.argmax())
    share = units.percentage(own[alone] / every)
    if own[alone] >= _MOST * every:
        return f"{_name(trace, alone)} alone has {share} of {of}"
    much = np.flatnonzero(whole >= _MOST * every)
    much = much[[_THREAD.fullmatch(trace.functions.label[i]) is None for i in much.tolist()]]
    if len(much):
        # Of functions with the same time, the callee is closer to the work.
        first = np.full(len(whole), len(calls))
        np.minimum.at(first, calls.function, np.arange(len(calls)))
        best = int(much[np.lexsort((-first[much], whole[much]))[0]])
        goes = "go" if of.endswith("s") else "goes"
        said = (
            f"{units.percentage(whole[best] / every)} of {of} {goes} to {_name(trace, best)} "
            f"and what it {profile.below_word(profile.length_kind(trace))}"
        )
        if alone != best and own[alone] >= max(_MUCH * every, _AHEAD * float(np.partition(own, -2)[-2])):
            said += f"; {_name(trace, alone)} alone has {share}"
        return said
    return f"{_name(trace, alone)} itself has the largest share of {of}: {share}"


def _name(trace: Trace, function: int) -> str:
    """Return a function's name; of one that has none of its own, also where it is."""
    label, container = trace.functions.label[function], int(trace.functions.container[function])
    if not label.startswith("<") or container < 0:
        return label
    return f"{label} of {trace.containers.name[container]}"


def about(trace: Trace) -> str:
    """Return which recording it is, and its size: ``run: 1,234 calls in 5.2 s on 2 threads``."""
    threads = units.counted(int(np.count_nonzero(trace.threads.count)), "thread")
    lasts = "" if profile.length_kind(trace) else f" in {units.duration(trace.span_ns)}"
    return f"{trace.source.title}: {profile.amount(trace)}{lasts} on {threads}"


def measured(trace: Trace) -> str:
    """Return what durations are, without the article: ``time``, ``samples`` or ``events``.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    str
    """
    return _of_what(trace).removeprefix("the ").removeprefix("threads' ")


def _of_what(trace: Trace) -> str:
    """Return the quantity that the durations of calls represent."""
    if not trace.has_times:
        return "the events"
    if len(trace.samples.weight):
        kind = trace.samples.kinds[0]
        if kind.endswith("(bytes)"):
            return profile.bare_kind(kind)
        # What was counted or measured call by call was not sampled.
        if kind == "Ir":
            return f"the {profile.bare_kind(kind)}"
        if "calls" not in trace.samples.kinds:
            return "the samples"
    return "the time" if np.count_nonzero(trace.threads.count) < 2 else "the threads' time"
