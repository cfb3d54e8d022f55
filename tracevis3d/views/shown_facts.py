"""Texts of panels about a trace and its drawing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..drawing.primitives import Drawing, Marks, Tubes
from ..trace import profile
from ..trace.model import Trace
from ..trace.problems import KINDS
from ..units import duration


def of_trace(trace: Trace) -> list[tuple[str, str]]:
    """Return label and text of the facts of a trace, cheap ones only."""
    lasts = ("Duration", duration(trace.span_ns)) if trace.has_times else ("Records", f"{trace.span_ns:,}")
    if kind := profile.untimed_kind(trace):
        lasts = profile.bare_kind(kind).capitalize(), profile.weighed(kind, profile.totals(trace)[kind])
    functions = ("Functions", f"{len(trace.functions):,}")
    if not len(trace.calls) and len(trace.memory):
        return [("Events", f"{len(trace.memory):,}"), functions, lasts]
    return [
        (profile.calls_word(trace).title(), f"{len(trace.calls):,}"),
        ("Threads", f"{int(np.count_nonzero(trace.threads.count)):,}"),
        functions,
        ("Depth", f"{int(trace.calls.depth.max(initial=0)):,}"),
        lasts,
    ]


def of_problems(trace: Trace) -> list[tuple[str, str, str]]:
    """Return kind, count and explanation of what a reader has repaired or left out."""
    return [
        (kind, f"{problem.count:,}", f"{KINDS[kind]} (first: {problem.first})")
        for kind, problem in trace.problems.items()
    ]


def of_drawing(drawing: Drawing, counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return label and text of the facts about the drawn data, without what frames it.

    Parameters
    ----------
    drawing : Drawing
    counts : mapping
        As :class:`~tracevis3d.scene.build.Built` has them; ``labels`` is read.

    Returns
    -------
    list of (str, str)
        A row for each kind of element, then that of labels.
    """
    shown: dict[str, int] = {}
    for element in drawing.elements:
        # What frames the picture (terraces, grids, rulers) has no time of its own.
        if len(getattr(element, "time", ())) or isinstance(element, (Tubes, Marks)):
            shown[element.kind] = shown.get(element.kind, 0) + len(element)
    rows = [(f"{kind.capitalize()}s Drawn", f"{count:,}") for kind, count in shown.items()]
    return [*rows, ("Labels", f"{counts.get('labels', 0):,}")]
