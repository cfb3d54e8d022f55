"""The contents of a cluster, and its call under the mouse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...drawing.picked import PickedElement
from ...layout.cut import Cut, CutIndex, cut_index
from ...trace.model import Trace
from ...trace.profile import counted_calls

#: Maximum number of members of a cluster whose depth is examined.
_ASKED = 4096


def note_of_rows(trace: Trace, cuts: Sequence[Cut]) -> str:
    """Return how many levels the rows of ``cuts`` represent, in words.

    Parameters
    ----------
    trace : Trace
    cuts : sequence of Cut

    Returns
    -------
    str
        Empty where each row is one level.
    """
    step, calls = max((cut.step for cut in cuts), default=1), sum(int(cut.merged.sum()) for cut in cuts)
    if step == 1:
        return ""
    return (
        f"levels are lower than a pixel: each drawn row represents {step:,} levels, and all boxes "
        f"together represent another {counted_calls(trace, calls)}"
    )


def call_under(trace: Trace, element: PickedElement) -> int:
    """Return the call of a cluster that lies where it was met, -1 if none does.

    By its time from the place along x, by its depth from the height; where no call is that deep at that time,
    the deepest one there, and where none is open at all, the one before.

    Parameters
    ----------
    trace : Trace
        That of the element.
    element : PickedElement
        A cluster, with the place where it was met.

    Returns
    -------
    int
    """
    time = element.moment
    if time is None or not {"thread", "depth"} <= set(element.facts):
        return -1
    index = cut_index(trace)
    thread, top = int(element.facts["thread"]), int(element.facts["depth"])
    # Levels may be of different heights: an estimate, as it is for the reader.
    depth = top + int(min(max(element.met[1], 0.0), 0.999) * _levels(trace, element))
    while depth >= top:
        call = index.at(thread, time, depth)
        if call >= 0:
            return call
        depth -= 1
    return _before(index, thread, top, time)


def calls_inside(trace: Trace, element: PickedElement) -> int:
    """Return how many calls a cluster holds: those at its top with all below them.

    Parameters
    ----------
    trace : Trace
        That of the element.
    element : PickedElement
        A cluster.

    Returns
    -------
    int
    """
    first, stop = _topmost(trace, element)
    return int(trace.calls.extent[cut_index(trace).order[first:stop]].sum())


def _topmost(trace: Trace, element: PickedElement) -> tuple[int, int]:
    """Return where, in the order of the trace's index, the topmost calls of a cluster begin and stop."""
    span = element.span
    if span is None or not {"thread", "depth"} <= set(element.facts):
        return 0, 0
    index = cut_index(trace)
    # Times lie in the .blend in single precision.
    window = element.window or span
    slack = 2e-7 * (window[1] - window[0])
    low, high = index.level(int(element.facts["thread"]), int(element.facts["depth"]))
    first, stop = np.searchsorted(index.begin[low:high], (span[0] - slack, span[1] + slack))
    return low + int(first), low + int(stop)


def _levels(trace: Trace, element: PickedElement) -> int:
    """Return the height of a cluster in levels: of its longest call's subtree, and of those beside it."""
    first, stop = _topmost(trace, element)
    if first >= stop:
        return 1
    step = max(1, (stop - first) // _ASKED)
    deepest = int(cut_index(trace).bottom[first:stop:step].max())
    return deepest - int(element.facts["depth"]) + 1


def _before(index: CutIndex, thread: int, depth: int, time: int) -> int:
    """Return the last call of a level that begins at ``time`` or before; -1: there is none."""
    low, high = index.level(thread, depth)
    place = low + int(np.searchsorted(index.begin[low:high], time, "right")) - 1
    return int(index.order[place]) if place >= low else -1
