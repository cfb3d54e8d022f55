"""The description of an element of a comparison: both matched calls, and how they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ... import units
from ...drawing.picked import Description, PickedElement
from ...trace.model import Trace
from ...views.describe import StoredNames
from ...views.describe import describe as describe_calls


def describe(
    element: PickedElement, traces: Sequence[Trace | StoredNames], parameters: Any = None
) -> list[Description]:
    """Return the descriptions of an element; of a call with a drawn match, those of both calls.

    Parameters
    ----------
    element : PickedElement
    traces : sequence of Trace or StoredNames
        Those of the view; the names alone of what is not in memory.
    parameters : object
        Those of the view.

    Returns
    -------
    list of Description
        At least one.
    """
    said = describe_calls(element, traces, parameters)
    both = {**element.calls, **element.matched}
    if element.kind == "call" and element.matched:
        # The same words as above the tube between the two.
        other = replace(element, calls=dict(element.matched), values=(), texts=(), kind="tube", facts={})
        others = describe_calls(other, traces, parameters)
        others[-1].rows = [row for row in others[-1].rows if row[0] != "shown as"]
        for each, source in zip(said, element.calls, strict=True):
            each.title = f"{letter(source)}  {each.title}"
        sources = [*element.calls, *element.matched]
        said = [each for _, each in sorted(zip(sources, [*said, *others], strict=True), key=lambda x: x[0])]
    if len(both) == 2 and element.kind != "cluster":
        said[-1].rows += _difference(both, traces)
    return said


def letter(source: int) -> str:
    """Return the short name of one of the view's traces: A, B, 3, 4, and so on."""
    return "AB"[source] if source < 2 else str(source + 1)


def _difference(both: dict[int, int], traces: Sequence[Trace | StoredNames]) -> list[tuple[str, str]]:
    """Return how the second of two calls differs from the first in time; nothing without the traces."""
    (one, first), (other, second) = sorted(both.items())
    known = [traces[source] for source in (one, other) if source < len(traces)]
    if len(known) < 2 or not all(isinstance(trace, Trace) for trace in known):
        return []
    lasted = [
        int(trace.calls.end[call] - trace.calls.start[call])
        for trace, call in zip(known, (first, second), strict=True)
        if isinstance(trace, Trace) and 0 <= call < len(trace.calls)
    ]
    if len(lasted) < 2:
        return []
    by = lasted[1] - lasted[0]
    share = f" ({units.percentage(abs(by) / lasted[0], 3)})" if lasted[0] > 0 else ""
    words = f"{units.duration(abs(by), 4)} {'longer' if by > 0 else 'shorter'}{share}" if by else "as long"
    return [(f"{letter(other)} against {letter(one)}", words)]
