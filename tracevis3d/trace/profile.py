"""The facts of a profile of samples: how much was sampled, and the share of each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import units
from ..errors import UsageError
from .cached_results import cached_with_trace
from .model import Trace

#: Description of the calls of a profile.
MEANING = "a profile of samples: neighbouring samples with the same stack are one call"
MEANING_UNTIMED = "a profile without times: each call path is one call, as long as it weighs"


class Share(NamedTuple):
    """How much of a profile's first kind of weight a call has, with its callees.

    Attributes
    ----------
    weight, total : int
        Of the call, and of all samples; in the unit of the kind.
    kind : str
        What is weighed, such as ``samples`` or ``cpu (ns)``.
    """

    weight: int
    total: int
    kind: str

    def __str__(self) -> str:
        share = f"  ({units.percentage(self.weight / self.total, 3)})" if self.total > 0 else ""
        return f"{weighed(self.kind, self.weight)}{share}"


def weighed(kind: str, weight: float) -> str:
    """Write a weight in the unit of its kind.

    Parameters
    ----------
    kind : str
        Of :attr:`.model.Samples.kinds`.
    weight : float

    Returns
    -------
    str

    Examples
    --------
    >>> weighed("samples", 1234), weighed("held (bytes)", 2048), weighed("cpu (ns)", 1500)
    ('1,234', '2 KiB', '1.5 µs')
    """
    if kind.endswith("(bytes)"):
        return units.byte_size(weight)
    if kind.endswith("(ns)"):
        return units.duration(weight)
    return units.count(weight)


def bare_kind(kind: str) -> str:
    """Return a kind without its unit; callgrind's instructions by their name."""
    return "instructions" if kind == "Ir" else kind.partition(" (")[0]


def below_word(kind: str) -> str:
    """Return what a function does with those below it: it calls them; objects of a heap keep others."""
    return "keeps" if bare_kind(kind) == "heap" else "calls"


def paths_word(kind: str) -> str:
    """Return what the ways from a root down to a function are, in the plural."""
    return "paths" if below_word(kind) == "keeps" else "call paths"


def amount_of(kind: str, weight: float) -> str:
    """Write a weight, and what it is.

    Parameters
    ----------
    kind : str
        Of :attr:`.model.Samples.kinds`.
    weight : float

    Returns
    -------
    str

    Examples
    --------
    >>> amount_of("samples", 1), amount_of("cpu (ns)", 1500), amount_of("time (ns)", 1500)
    ('1 sample', '1.5 µs cpu', '1.5 µs')
    """
    what = bare_kind(kind)
    if what == kind and weight == 1:
        what = what.removesuffix("s")
    return weighed(kind, weight) if what == "time" else f"{weighed(kind, weight)} {what}"


def untimed_kind(trace: Trace) -> str:
    """Return what the lengths of a profile without times are, such as ``held (bytes)``; else empty.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    str
        Its first kind of weight, of which :func:`weight_per_ns` are laid out as a nanosecond.
    """
    samples = trace.samples
    return samples.kinds[0] if len(samples) and not samples.are_timed else ""


def length_kind(trace: Trace) -> str:
    """Return what the lengths of a trace's calls are, where they are no times; else empty.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    str
        The kind of weight of a profile without times, or ``events``, which are counted where a format has
        no times.
    """
    return untimed_kind(trace) or ("" if trace.has_times else "events")


def length_word(trace: Trace) -> str:
    """Return what the lengths of a trace's calls are, in a word: ``time``, or such as ``heap``.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    str
    """
    return bare_kind(length_kind(trace)) or "time"


def length_text(trace: Trace, ns: float) -> str:
    """Write a length of calls: a time, what it weighs in a profile without times, or a number of events.

    Parameters
    ----------
    trace : Trace
    ns : float

    Returns
    -------
    str
    """
    kind = length_kind(trace)
    return weighed(kind or "time (ns)", ns * length_per_ns(trace))


def length_per_ns(trace: Trace) -> float:
    """Return what a nanosecond of calls stands for: 1 of time or events, or so much weight.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    float
    """
    return (weight_per_ns(trace) if untimed_kind(trace) else 1.0) or 1.0


def totals(trace: Trace) -> dict[str, int]:
    """Return the sum of the weights of each kind; empty for a trace of calls.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    dict of str to int
    """
    samples = trace.samples
    sums = np.zeros(len(samples.kinds), np.int64)
    np.add.at(sums, samples.kind, samples.weight)
    return dict(zip(samples.kinds, sums.tolist(), strict=True))


def calls_word(trace: Trace) -> str:
    """Return what calls are, in the plural: those of a profile are no calls that were counted.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    str
        ``calls``; of a profile ``sampled calls``, and where it has no times ``call paths``, or ``paths`` of
        what keeps what.
    """
    if not len(trace.samples):
        return "calls"
    return "sampled calls" if trace.samples.are_timed else paths_word(untimed_kind(trace))


def counted_calls(trace: Trace, number: int) -> str:
    """Return a number of calls of a trace: ``829 calls``, of a profile ``829 sampled calls``.

    Parameters
    ----------
    trace : Trace
    number : int

    Returns
    -------
    str
    """
    return units.counted(number, calls_word(trace).removesuffix("s"))


def amount(trace: Trace) -> str:
    """Return how much a trace holds: ``829 calls``, or of a profile ``323 samples``, or ``97 ms sampled``.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    str
    """
    if not len(trace.samples):
        return units.counted(len(trace.calls), "call")
    kind, total = next(iter(totals(trace).items()))
    # Beside how long the recording lasts, in the same unit.
    is_time = bare_kind(kind) == "time" and trace.samples.are_timed
    return f"{amount_of(kind, total)}{' sampled' if is_time else ''}"


def note(trace: Trace) -> str:
    """Return a sentence for the notes of a picture; empty for a trace of calls."""
    if not len(trace.samples):
        return ""
    return f"{MEANING if trace.samples.are_timed else MEANING_UNTIMED} ({amount(trace)})"


def check_order(traces: Sequence[Trace], view: str) -> None:
    """Check that calls lie in the order in which they happened.

    Parameters
    ----------
    traces : sequence of Trace
    view : str
        What needs it.

    Raises
    ------
    UsageError
        If one is a profile without times: its calls lie side by side, the heaviest first.
    """
    for trace in traces:
        if len(trace.samples) and not trace.samples.are_timed:
            raise UsageError(
                f"the view {view!r} shows calls in the order in which they happened, "
                "and this profile has only weights of call paths: draw 'icicle', 'cone' or 'city'"
            )


def share_of(trace: Trace, call: int) -> Share | None:
    """Return how much of a profile a call has; None for a trace of calls.

    Parameters
    ----------
    trace : Trace
    call : int
        Its index.

    Returns
    -------
    Share or None
    """
    if not len(trace.samples):
        return None
    calls = trace.calls
    kind, total = next(iter(totals(trace).items()))
    start, end = int(calls.start[call]), int(calls.end[call])
    if not trace.samples.are_timed:
        return Share(round((end - start) * weight_per_ns(trace)), total, kind)
    first, time, before = _sums(trace)
    thread = int(calls.thread[call])
    low, high = int(first[thread]), int(first[thread + 1])
    inside = low + np.searchsorted(time[low:high], [start, end])
    return Share(int(before[inside[1]] - before[inside[0]]), total, kind)


@cached_with_trace()
def weight_per_ns(trace: Trace) -> float:
    """Return how much of its first kind of weight a profile without times has a nanosecond of its calls.

    Parameters
    ----------
    trace : Trace
        With samples.

    Returns
    -------
    float
        0 if no call is laid out.
    """
    calls, samples = trace.calls, trace.samples
    laid = int((calls.end - calls.start)[calls.parent < 0].sum())
    # Samples without a stack are in no call, those below 0 count as 0.
    has_call = (samples.kind == 0) & (samples.weight > 0)
    if (samples.stack >= 0).any():
        has_call &= samples.stack >= 0
    return float(samples.weight[has_call].sum()) / laid if laid else 0.0


def whole_weights(trace: Trace) -> NDArray[np.float64]:
    """Return how much of a profile's first kind of weight each call has, with its callees.

    Parameters
    ----------
    trace : Trace
        With samples.

    Returns
    -------
    float64 (calls,)
        In the unit of the kind. Of samples at the same time of one thread, the last one's call has all.
    """
    calls = trace.calls
    whole, per_length = calls.end - calls.start, 1.0
    if trace.samples.are_timed:
        first, time, before = _sums(trace)
        threads = np.searchsorted(calls.thread, np.arange(len(first)))
        for mine, held in zip(map(slice, threads[:-1], threads[1:]), map(slice, first[:-1], first[1:])):
            sums = before[held.start : held.stop + 1]
            until, since = (np.searchsorted(time[held], at[mine]) for at in (calls.end, calls.start))
            whole[mine] = sums[until] - sums[since]
    else:
        per_length = weight_per_ns(trace)
    return whole * per_length


def own_weights(trace: Trace) -> NDArray[np.float64]:
    """Return what :func:`whole_weights` does of each call itself, without its callees: float64 (calls,)."""
    whole, parent = whole_weights(trace), trace.calls.parent
    own = whole.copy()
    np.subtract.at(own, parent[parent >= 0], whole[parent >= 0])
    return own


@cached_with_trace()
def _sums(trace: Trace) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return where each thread's samples of kind 0 begin, their times, and the sums of weights so far."""
    samples = trace.samples
    main = samples.kind == 0
    first = np.searchsorted(samples.thread[main], np.arange(len(trace.threads) + 1))
    weight = np.append(0, np.cumsum(samples.weight[main])).astype(np.int64)
    return first.astype(np.int64), np.ascontiguousarray(samples.time[main]), weight
