"""What the panel says about a trace and its drawing: worded once, when they are made."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...tracevis3d.drawing.primitives import Marks, Tubes
from ...tracevis3d.units import duration


def of_trace(trace: Any) -> list[tuple[str, str]]:
    """Return label and text of the facts of ``trace``, cheap ones only."""
    return [
        ("Calls", f"{len(trace.calls):,}"),
        ("Threads", f"{int(np.count_nonzero(trace.threads.count)):,}"),
        ("Functions", f"{len(trace.functions):,}"),
        ("Depth", f"{int(trace.calls.depth.max(initial=0)):,}"),
        ("Duration", duration(trace.span_ns)),
    ]


def of_problems(trace: Any) -> list[tuple[str, str, str]]:
    """Return kind, count and explanation of what had to be mended in ``trace``."""
    from ...tracevis3d.trace.problems import KINDS

    return [
        (kind, f"{problem.count:,}", f"{KINDS[kind]} (first: {problem.first})")
        for kind, problem in trace.problems.items()
    ]


def of_drawing(drawing: Any, counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return label and text of what was drawn of the data; what frames it is not counted."""
    shown: dict[str, int] = {}
    for element in drawing.elements:
        # What frames the picture (terraces, grids, rulers) has no time of its own.
        if len(getattr(element, "time", ())) or isinstance(element, (Tubes, Marks)):
            shown[element.kind] = shown.get(element.kind, 0) + len(element)
    rows = [(f"{kind.capitalize()}s Drawn", f"{count:,}") for kind, count in shown.items()]
    return [*rows, ("Labels", f"{counts.get('labels', 0):,}")]
