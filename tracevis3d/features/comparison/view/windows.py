"""The time window of each trace, and the shift of B to align with A."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .... import units
from ....errors import UsageError
from ....layout.cut import call_span, cut_index
from ....trace.names import label_of_call
from ....views.time_window import time_window
from ..matching import match
from . import matches as matching
from .focus import within
from .matches import Chosen, Grouping
from .parameters import Parameters

#: A call of A and one of B.
_PAIR = re.compile(r"A:(\d+)\s*=\s*B:(\d+)")


def followed(comparison: match.Comparison, p: Parameters) -> Parameters:
    """Return the parameters with B's window as ``moment`` says, where none is given.

    Parameters
    ----------
    comparison : Comparison
    p : Parameters
        They stay as they are.

    Returns
    -------
    followed : Parameters
    """
    if p.moment == "own" or p.start_b.strip() or p.end_b.strip():
        return p
    a, b = comparison.traces
    low, high = time_window(a, p.start_a, p.end_a)
    spans = [call_span(t) for t in (a, b)]
    if p.moment == "matches":
        start, end = _where_matched(comparison, (low, high))
    elif p.moment == "share":
        per = (spans[1][1] - spans[1][0]) / max(spans[0][1] - spans[0][0], 1)
        start, end = (round(spans[1][0] + (t - spans[0][0]) * per) for t in (low, high))
    else:
        start, end = (t - spans[0][0] + spans[1][0] for t in (low, high))
    start = min(max(start, spans[1][0]), spans[1][1] - 1)
    end = max(min(end, spans[1][1]), start + 1)
    return replace(p, start_b=f"{start}ns", end_b=f"{end}ns")


def _where_matched(comparison: match.Comparison, window: tuple[int, int]) -> tuple[int, int]:
    """Return the window of B that holds the best matches of A's calls in ``window``."""
    a, b = comparison.traces
    spans = tuple(call_span(t) for t in (a, b))
    cuts = []
    for trace, (low, high) in zip((a, b), (window, spans[1])):
        step = max(int(trace.calls.depth.max(initial=1)) // 400, 1)
        cuts.append(cut_index(trace).cut(low, high, 2, None, max((high - low) // 400, 1), step=step).calls)
    inside = (a.calls.start[cuts[0]] >= window[0]) & (a.calls.end[cuts[0]] <= window[1])
    like = matching.likeness(comparison, (cuts[0][inside], cuts[1]), anywhere=False)
    found = matching.choose(like, spans, "best", both=False)
    if not len(found):
        return spans[1]
    weight = np.cumsum(found.importance[np.argsort(b.calls.start[found.b], kind="stable")])
    start = np.sort(b.calls.start[found.b])
    order = np.argsort(b.calls.end[found.b], kind="stable")
    late = np.cumsum(found.importance[order])
    # Single distant matches don't widen the window.
    first = start[np.searchsorted(weight, 0.02 * weight[-1])]
    last = b.calls.end[found.b][order][np.searchsorted(late, 0.98 * late[-1])]
    return int(first), int(last)


def alignment(
    comparison: match.Comparison, chosen: Chosen, grouping: Grouping, contents: Sequence[Any], p: Parameters
) -> tuple[int, str]:
    """Return by how much B moves, in nanoseconds, and a note.

    Parameters
    ----------
    comparison : Comparison
    chosen : Chosen
        The matches.
    grouping : Grouping
        Their groups.
    contents : sequence of object
        Those of A and B.
    p : Parameters
        ``align`` says what is aligned.

    Returns
    -------
    (int, str)

    Raises
    ------
    UsageError
        If there is no such group, or no match of that name.
    """
    text = p.align.strip()
    if not text or not len(chosen):
        return 0, ""
    if pair := _PAIR.fullmatch(text):
        known = [len(trace.calls) for trace in comparison.traces]
        if any(int(call) >= most for call, most in zip(pair.groups(), known, strict=True)):
            raise UsageError(f"align={text}: A has {known[0]:,} calls, and B {known[1]:,}")
        starts = [
            int(t.calls.start[int(call)]) - c.window[0]
            for t, call, c in zip(comparison.traces, pair.groups(), contents, strict=True)
        ]
        name = label_of_call(comparison.traces[0], int(pair[1]))
        shift = starts[0] - starts[1]
        return shift, f"B is moved by {units.duration(shift)} to align {name} with its match"
    if text.isdigit():
        if not 1 <= int(text) <= grouping.trunk:
            raise UsageError(f"align={text}: the groups are numbered 1 to {grouping.trunk:,}")
        inside = grouping.of == int(text) - 1
    else:
        inside = within(comparison, chosen, text, "align")
    if not inside.any():
        raise UsageError(f"align={text}: no match that is drawn lies within it")
    start = [
        t.calls.start[ids[inside]] - c.window[0]
        for t, ids, c in zip(comparison.traces, (chosen.a, chosen.b), contents)
    ]
    weight = chosen.importance[inside] + 1.0
    shift = round(float(np.average((start[0] - start[1]).astype(np.float64), weights=weight)))
    return shift, f"B is moved by {units.duration(shift)} to align {text}"
