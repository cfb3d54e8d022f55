"""Recurring parts of a run: phases, repeated subtrees, loops, near repeats, and lone calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...analysis.compact import compact
from ...analysis.repetitions import Runs, find_alike, find_repeated, find_runs
from ...analysis.sets import distinct_sets
from ...analysis.subtrees import Subtrees, distinct_subtrees
from ...filters.facts import Facts as Known
from ...filters.sequence_list import sequences
from ...progress import Progress, silent
from ...trace.model import Trace
from ...trace.names import label_of_call
from .hierarchy import By, Elements, Level, element_hierarchy
from .interactions import Interactions, interactions, rarest
from .layers import layers
from .phase_names import names_of_kinds
from .phases import (
    LEAST,
    Phases,
    characteristic,
    describe,
    enclosing_call,
    find_phases,
    find_repeats,
    letter,
    phase_runs,
)
from .rounds import find_rounds

Facts = dict[str, Any]


def phase_facts(
    trace: Trace,
    level: Level | str = "auto",
    by: By | str = "auto",
    least: float = LEAST,
    outliers: int = 10,
    progress: Progress = silent,
) -> Facts:
    """Return the phases of a run, which of them recur, its rounds, its rarest interactions, and its layers.

    Times are nanoseconds from the trace's start.

    Parameters
    ----------
    trace : Trace
    level, by : Level or str
        As :func:`.hierarchy.element_hierarchy` takes them.
    least : float
        Share of the variation that each cut has to explain.
    outliers : int
        How many of the rarest interactions are listed.
    progress : Progress

    Returns
    -------
    dict
    """
    progress(0.0, "finding interactions")
    elements = element_hierarchy(trace, level, by)  # type: ignore[arg-type]
    found = interactions(trace, elements)
    progress(0.4, "finding phases")
    phases = find_phases(found, least=least)
    progress(0.7, "naming phases, finding rounds")
    does = names_of_kinds(trace, found, phases)
    return {
        "file": trace.source.path,
        "level": elements.hierarchy.level,
        "elements": elements.hierarchy.elements,
        "pairs": found.pairs,
        "calls": len(found),
        "explained": round(phases.explained, 4),
        "kinds": phases.kinds,
        "phases": [
            {**phase_fact(trace, elements, found, phases, i), "does": does[int(phases.kind[i])]}
            for i in range(len(phases))
        ],
        "runs": [
            {
                "first": run.first,
                "times": run.times,
                "kinds": [letter(int(k)) for k in phases.kind[run.first : run.first + run.period]],
            }
            for run in phase_runs(phases.kind)
        ],
        "rounds": [
            {
                "times": rounds.times,
                "start_ns": [int(found.time[i]) for i in rounds.edge[:-1].tolist()],
                "end_ns": int(found.time[int(rounds.edge[-1]) - 1]),
                "calls": np.diff(rounds.edge).tolist(),
                "similarity": round(rounds.likeness, 3),
            }
            for rounds in find_rounds(found)
        ],
        "outliers": outlier_facts(elements, found, 0, len(found), outliers),
        "against_layers": layer_facts(elements, found, outliers),
    }


def layer_facts(elements: Elements, found: Interactions, most: int) -> list[Facts]:
    """Return the pairs that call against the layers, those that do so most first.

    Parameters
    ----------
    elements : Elements
    found : Interactions
        The calls between them.
    most : int
        How many pairs.

    Returns
    -------
    list of dict
    """
    counts = found.counts(0, len(found))
    _, against = layers(elements.hierarchy, found.caller, found.callee, counts)
    which = np.flatnonzero(against)
    which = which[np.argsort(-counts[which], kind="stable")][:most]
    title, node = elements.hierarchy.title, elements.hierarchy.node
    return [
        {
            "caller": title(int(node[found.caller[pair]])),
            "callee": title(int(node[found.callee[pair]])),
            "calls": int(counts[pair]),
        }
        for pair in which.tolist()
    ]


def phase_fact(trace: Trace, elements: Elements, found: Interactions, phases: Phases, i: int) -> Facts:
    """Return one phase: when, how many calls, within which call, and its characteristic interactions.

    Parameters
    ----------
    trace : Trace
    elements : Elements
    found : Interactions
        The calls between them.
    phases : Phases
        Those of the trace.
    i : int
        Which phase.

    Returns
    -------
    dict
    """
    low, high = int(phases.edge[i]), int(phases.edge[i + 1])
    inside = enclosing_call(trace, found, low, high)
    main = characteristic(found, found.counts(low, high), found.counts(0, len(found)))
    return {
        "kind": letter(int(phases.kind[i])),
        "start_ns": int(found.time[low]),
        "end_ns": int(found.time[high - 1]),
        "calls": high - low,
        "within": label_of_call(trace, inside) if inside >= 0 else None,
        "main": [describe(elements.hierarchy, found, pair) for pair in main],
    }


def outlier_facts(elements: Elements, found: Interactions, low: int, high: int, most: int) -> list[Facts]:
    """Return the rarest interactions of a stretch, with the time of the first such call.

    Parameters
    ----------
    elements : Elements
    found : Interactions
        The calls between them.
    low, high : int
        The slice ``[low, high)`` of the calls.
    most : int
        How many.

    Returns
    -------
    list of dict
    """
    return [
        {
            "caller": elements.hierarchy.title(int(elements.hierarchy.node[found.caller[rare.pair]])),
            "callee": elements.hierarchy.title(int(elements.hierarchy.node[found.callee[rare.pair]])),
            "calls": rare.count,
            "time_ns": int(found.time[rare.first]),
            "call": int(found.call[rare.first]),
        }
        for rare in rarest(found, low, high, most)
    ]


def pattern_facts(
    trace: Trace,
    start_ns: int | None = None,
    end_ns: int | None = None,
    level: Level | str = "auto",
    by: By | str = "auto",
    least: float = 0.8,
    most: int = 20,
    progress: Progress = silent,
) -> Facts:
    """Return what recurs: subtrees, loops of equal and of similar calls, sequences, repeats of a stretch.

    Parameters
    ----------
    trace : Trace
    start_ns, end_ns : int, optional
        The marked stretch; without both nothing is marked.
    level, by : str
        As :func:`.hierarchy.element_hierarchy` takes them: what calls are compared by in the stretch.
    least : float
        Share of the calls that a repeat of the stretch has in common with it.
    most : int
        Entries of each list.
    progress : Progress

    Returns
    -------
    dict
    """
    progress(0.0, "finding recurring subtrees")
    subtrees = distinct_subtrees(trace.calls)
    facts: Facts = {
        "file": trace.source.path,
        "distinct_subtrees": len(subtrees),
        "repeated": _repeated(trace, subtrees, most),
    }
    progress(0.3, "finding loops")
    facts["loops"] = _loops(trace, subtrees, find_runs(subtrees), most)
    progress(0.4, "finding loops of similar calls")
    facts["alike"] = _loops(trace, subtrees, find_alike(subtrees, distinct_sets(subtrees)), most)
    progress(0.6, "finding sequences")
    facts["sequences"] = _sequences(trace, subtrees, most)
    facts["stretch"] = None
    if start_ns is not None and end_ns is not None:
        progress(0.8, "finding repeats of the stretch")
        elements = element_hierarchy(trace, level, by)  # type: ignore[arg-type]
        found = interactions(trace, elements)
        low, high = found.range(start_ns, end_ns)
        repeats = find_repeats(found, low, high, least)
        facts["stretch"] = {
            "start_ns": start_ns,
            "end_ns": end_ns,
            "level": elements.hierarchy.level,
            "calls": high - low,
            "repeats": [
                {
                    "start_ns": int(found.time[first]),
                    "end_ns": int(found.time[first + high - low - 1]),
                    "similarity": round(float(similar), 4),
                    "exact": bool(exact),
                }
                for first, similar, exact in zip(
                    repeats.first.tolist(), repeats.similar.tolist(), repeats.exact.tolist(), strict=True
                )
            ],
        }
    return facts


def _repeated(trace: Trace, subtrees: Subtrees, most: int) -> list[Facts]:
    found = find_repeated(trace.calls, subtrees)
    return [
        {
            "function": label_of_call(trace, call),
            "occurrences": int(found.calls[i]),
            "calls_each": int(trace.calls.extent[call]),
            "time_ns": int(found.time[i]),
            "longest_start_ns": int(trace.calls.start[call]),
        }
        for i, call in enumerate(found.longest[:most].tolist())
    ]


def _sequences(trace: Trace, subtrees: Subtrees, most: int) -> list[Facts]:
    """Return the sequences of callees, wherever they stand, that take in most calls of the trace."""
    rows = sequences(Known(trace, compact(trace.calls, trace.threads, subtrees))).rows(0, most)
    columns = ("sequence", "called_by", "callers", "occurrences", "callees", "calls_each", "first_call")
    return [{name: row[name] for name in columns} for row in rows]


def _loops(trace: Trace, subtrees: Subtrees, runs: Runs, most: int) -> list[Facts]:
    """Return the loops that take in most calls of the trace."""
    inside = np.concatenate([[0], np.cumsum(subtrees.extent[subtrees.child])])
    begin = subtrees.first[runs.of_class] + runs.first
    body_calls = inside[begin + runs.period] - inside[begin]
    weight = subtrees.occurrences[runs.of_class] * runs.times * body_calls
    order = np.argsort(-weight, kind="stable")[:most]
    labels = trace.functions.label
    facts = []
    for i in order.tolist():
        body = subtrees.child[begin[i] : begin[i] + runs.period[i]]
        facts.append(
            {
                "within": labels[int(subtrees.function[runs.of_class[i]])],
                "calls": [labels[int(subtrees.function[c])] for c in body.tolist()],
                "times": int(runs.times[i]),
                "happens": int(subtrees.occurrences[runs.of_class[i]]),
            }
        )
    return facts
