"""Names of phases: each kind is named by the function that is typical of it.

A function is typical if its calls, with all below them, take most of the time of such phases (as a term is
frequent in a document), and little time in others (as it is rare elsewhere): the harmonic mean of the two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...trace.model import Trace
from ...views.view import PhaseTimes
from .hierarchy import element_hierarchy
from .interactions import Interactions, interactions
from .phases import Phases, find_phases

Floats = NDArray[np.float64]

#: Of functions nearly as typical as the best that which takes most of the time is meant: the outer one.
_NEARLY = 0.95
#: What is typical takes at least this harmonic mean of both shares.
_LEAST = 0.2


def names_of_kinds(trace: Trace, found: Interactions, phases: Phases) -> list[str]:
    """Name each kind of phase by the function that is typical of it, no two by the same.

    Linear in the calls.

    Parameters
    ----------
    trace : Trace
    found : Interactions
        Of the trace.
    phases : Phases

    Returns
    -------
    list of str
        By the number of the kind; empty where no function is typical.
    """
    kinds = phases.kinds
    labels = list(trace.functions.label)
    typical, time = _typical(trace, found, phases)
    typical[[label.rpartition(".")[2].startswith("<") for label in labels]] = 0.0
    names = [""] * kinds
    words, free = np.array(labels, object), np.ones(len(labels), np.bool_)
    # The clearest first: a name is used for one kind only.
    for kind in np.argsort(-typical.max(axis=0, initial=0.0), kind="stable").tolist():
        score = typical[:, kind] * free
        best = float(score.max(initial=0.0))
        if best < _LEAST:
            continue
        near = np.flatnonzero(score >= _NEARLY * best)
        function = int(near[np.argmax(time[near, kind])])
        free &= words != labels[function]
        names[kind] = labels[function]
    return names


def phase_times(trace: Trace) -> PhaseTimes:
    """Return the phases of a run, with the function that is typical of each.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    PhaseTimes
    """
    found = interactions(trace, element_hierarchy(trace, "auto", "auto"))
    phases = find_phases(found)
    if not len(phases):
        return PhaseTimes(np.empty(0, np.int64), np.empty(0, np.int64), ())
    names = names_of_kinds(trace, found, phases)
    start = found.time[phases.edge[:-1]]
    # A phase lasts until the next one begins, the last until the last call ends.
    end = np.append(start[1:], trace.calls.end.max())
    return PhaseTimes(start, end, tuple(names[k] for k in phases.kind.tolist()))


def _typical(trace: Trace, found: Interactions, phases: Phases) -> tuple[Floats, Floats]:
    """Return how typical each function is of each kind of phase, and its time there: (functions, kinds)."""
    calls, kinds, n = trace.calls, phases.kinds, len(trace.functions)
    if not len(phases):
        return np.zeros((n, kinds)), np.zeros((n, kinds))
    begin = found.time[phases.edge[:-1]].astype(np.int64)
    last = int(phases.edge[-1])
    stop = int(found.time[last]) if last < len(found) else int(calls.end.max())
    border = np.append(begin, max(stop, int(begin[-1]) + 1))
    lasted = np.bincount(phases.kind, np.diff(border), kinds)
    outer = (calls.parent < 0) | (calls.function[calls.parent] != calls.function)
    start, end = (np.clip(side[outer], border[0], border[-1]) for side in (calls.start, calls.end))
    function = calls.function[outer].astype(np.int64)
    some = end > start
    start, end, function = start[some], end[some], function[some]
    first = np.searchsorted(border, start, side="right") - 1
    within = np.searchsorted(border, end, side="left") - 1 == first
    place = function[within] * kinds + phases.kind[first[within]]
    time = np.asarray(np.bincount(place, (end - start)[within], n * kinds), np.float64).reshape(n, kinds)
    start, end, function = start[~within], end[~within], function[~within]  # those above the phases
    for i, kind in enumerate(phases.kind.tolist()):
        overlap = np.minimum(end, border[i + 1]) - np.maximum(start, border[i])
        time[:, kind] += np.bincount(function, np.maximum(overlap, 0), n)
    covers = np.minimum(time / np.maximum(lasted, 1.0), 1.0)
    only = time / np.maximum(time.sum(axis=1, keepdims=True), 1.0)
    return 2 * covers * only / np.maximum(covers + only, 1e-12), time
