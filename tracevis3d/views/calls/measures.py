"""The measure on the third axis, of a call and of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ... import units
from ...analysis.measures import allocated_of, repetitions, self_time_of
from ...analysis.subtrees import subtrees_of
from ...layout.cut import Clusters, cut_index
from ...layout.icicle import run_sums
from ...layout.scales import Kind
from ...trace.cached_results import cached_with_trace
from ...trace.model import Trace
from ...trace.profile import calls_word, length_kind, length_per_ns, length_word, weighed

Floats = NDArray[np.float64]

#: Values of a parameter ``measure``.
MEASURES = {
    "self": "time in the call itself, without the calls below it",
    "calls": "number of calls in its subtree, itself included",
    "repetitions": "how often a subtree identical to the call's occurs in the trace",
    "memory": "bytes allocated in its subtree",
    "none": "nothing: all boxes are equally thick",
}


@dataclass(frozen=True, eq=False)
class Measure:
    """A quantity of calls and clusters.

    Attributes
    ----------
    title : str
    of_cluster : str
        What it is for a cluster, in a few words.
    scale : str
        The scale that suits it.
    text : callable
        Writes a value for people.
    grows_downward : bool
        Whether a caller's value is never less than that of a call or cluster below it.
    calls, clusters : callables
        From calls (int64 indices), or clusters, to values (float64), never negative.
    """

    title: str
    of_cluster: str
    scale: Kind
    text: Callable[[float], str]
    grows_downward: bool
    calls: Callable[[NDArray[np.int64]], Floats]
    clusters: Callable[[Clusters], Floats]


def measure(trace: Trace, name: str) -> Measure | None:
    """Return the measure called ``name`` (a key of :data:`MEASURES`); None if there is nothing to show.

    Parameters
    ----------
    trace : Trace
    name : str
        A key of :data:`MEASURES`.

    Returns
    -------
    Measure or None
    """
    calls, word = trace.calls, calls_word(trace)
    if name == "self":
        of, per_ns = length_word(trace), length_per_ns(trace)
        write = partial(weighed, length_kind(trace) or "time (ns)")
        return Measure(
            f"self {of}", f"{of} in all its {word}", "sqrt", write, False,
            lambda ids: self_time_of(trace)[ids] * per_ns,
            lambda clusters: run_sums(clusters.first, clusters.stop, cut_index(trace).length) * per_ns,
        )  # fmt: skip
    if name == "calls":
        return Measure(
            f"{word} in the subtree", f"number of its {word}", "log", units.count, True,
            lambda ids: calls.extent[ids].astype(np.float64),
            lambda clusters: clusters.calls.astype(np.float64),
        )  # fmt: skip
    if name == "repetitions":
        return Measure(
            "repetitions of the subtree", "that of its longest call", "log", units.count, False,
            lambda ids: repetitions(subtrees_of(trace), ids).astype(np.float64),
            lambda clusters: repetitions(subtrees_of(trace), clusters.longest).astype(np.float64),
        )  # fmt: skip
    if name == "memory" and len(trace.memory):
        return Measure(
            "bytes allocated in the subtree", "sum of its calls", "sqrt", units.byte_size, True,
            lambda ids: allocated_of(trace)[ids].astype(np.float64),
            lambda clusters: run_sums(clusters.first, clusters.stop, _allocated_by_position(trace)),
        )  # fmt: skip
    return None


@cached_with_trace()
def _allocated_by_position(trace: Trace) -> NDArray[np.float32]:
    """Return the bytes allocated in the subtree of the call at each position of the index, rounded; kept."""
    return allocated_of(trace)[cut_index(trace).order].astype(np.float32)
