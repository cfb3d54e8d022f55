"""What lies above rows: how far outward overviews and the skyline reach."""

from __future__ import annotations

from dataclasses import dataclass

from .....layout.cut import Cut, call_span, cut_index
from .....trace.model import Trace

#: An overview's height and its distance from the row: shares of the row's height, at least so many levels.
_SHARE, _APART = 0.3, 0.22
_LEAST, _LEAST_APART = 1.0, 0.5
#: An overview merges what is narrower than this many times the row's own bound.
_COARSER = 2.0
#: The skyline's height and its distance from what is below: shares of the row's, at least so many levels.
_SKYLINE, _SKYLINE_APART = 0.26, 0.2
_LEAST_SKYLINE, _LEAST_SKYLINE_APART = 0.9, 0.45


@dataclass(frozen=True, eq=False)
class Overview:
    """The overview of one row.

    Attributes
    ----------
    row : int
    cut : Cut
        The whole trace of the row's thread.
    levels : int
        Levels that share the bar.
    low, high : float
        Distances outward between which the bar lies.
    """

    row: int
    cut: Cut
    levels: int
    low: float
    high: float


def place_overview(
    trace: Trace, row: int, thread: int, reach: float, resolution_ns: float, step: int
) -> Overview:
    """Lay out the overview of a row whose levels reach ``reach`` outward.

    Parameters
    ----------
    trace : Trace
    row : int
        Its number.
    thread : int
        The row's.
    reach : float
        Distance outward, in levels.
    resolution_ns : float
        The time that a pixel covers, times the row's bound, if the row showed the whole trace.
    step : int
        How many levels are shown as one.

    Returns
    -------
    Overview
    """
    low, high = call_span(trace)
    cut = cut_index(trace).cut(
        low, high + 1, 1, None, max(_COARSER * resolution_ns, 1.0), [thread], step=step
    )
    deepest = int(cut.deepest(trace.calls).max(initial=1))
    levels = max(deepest, int(cut.clusters.bottom.max(initial=1)))
    apart = max(_APART * reach, _LEAST_APART)
    return Overview(row, cut, levels, reach + apart, reach + apart + max(_SHARE * reach, _LEAST))


def place_skyline(below: float, reach: float, higher: float = 1.0) -> tuple[float, float]:
    """Return between which distances outward the skyline lies, above what reaches ``below``.

    Parameters
    ----------
    below : float
        Distance outward that other things reach.
    reach : float
        That of the row's levels.
    higher : float, optional
        How many times as high as usual it is.

    Returns
    -------
    (float, float)
    """
    low = below + max(_SKYLINE_APART * reach, _LEAST_SKYLINE_APART)
    return low, low + higher * max(_SKYLINE * reach, _LEAST_SKYLINE)
