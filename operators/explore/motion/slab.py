"""The slab in a comparison's overview that says what a wall shows: it is dragged along, or by its ends."""

from typing import Any

from .. import marks

#: So much of the slab, at either end, is its end.
_END = 0.15
#: No slab gets shorter than this share of the overview.
_LEAST = 0.002


def is_slab(shown: Any) -> bool:
    """Return whether an object is such a slab."""
    return (
        shown is not None and shown.get("tracevis3d_kind") == "window" and marks.holding_of(shown) is not None
    )


def range_of(shown: Any, begin: float, now: float) -> tuple[float, float]:
    """Return from which x to which a slab lies that was pressed at ``begin``; the mouse is at ``now``."""
    holds = marks.holding_of(shown)
    low, high = float(holds.low[0, 0]), float(holds.low[0, 0] + holds.size[0, 0])
    first, length = holds.along
    return dragged((low, high), (first, first + length), begin, now)


def dragged(
    slab: tuple[float, float], whole: tuple[float, float], begin: float, now: float
) -> tuple[float, float]:
    """Return where a slab on ``whole`` lies that was pressed at ``begin`` and dragged to ``now``."""
    low, high = slab
    least = _LEAST * (whole[1] - whole[0])
    if begin < low + _END * (high - low):
        return min(max(now, whole[0]), high - least), high
    if begin > high - _END * (high - low):
        return low, max(min(now, whole[1]), low + least)
    by = min(max(now - begin, whole[0] - low), whole[1] - high)
    return low + by, high + by
