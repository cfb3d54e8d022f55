"""Which names of a drawing have room on the screen, and where each of them would stand."""

from __future__ import annotations

import math
from typing import Any

from ..jit import inline, kernel

#: Points nearer to the eye's plane count as behind the eye.
_LEAST_W = 1e-9


@inline
def _clip(matrix: Any, point: Any, i: int, k: int) -> Any:
    """Return one coordinate of a point in clip space."""
    x, y, z = point[i, 0], point[i, 1], point[i, 2]
    return matrix[k, 0] * x + matrix[k, 1] * y + matrix[k, 2] * z + matrix[k, 3]


@kernel
def find_names(
    matrix: Any,
    frame: Any,
    anchor: Any,
    low_end: Any,
    high_end: Any,
    top: Any,
    width: Any,
    least: Any,
    bound: Any,
    align: Any,
    numbers: Any,
    allowed: Any,
    known: Any,
    appears: float,
    shortest: float,
    row: Any,
    found: Any,
) -> int:
    """Find the names that have room on the screen.

    A name is written along the line between the two ends of its room, and slides along it so that it is seen
    as long as a part of its element is. Where that line runs across the screen rather than along it only its
    height counts. Lines that pass the eye end there.

    Parameters
    ----------
    matrix : float64 (4, 4)
        To clip space.
    frame : float64 (7,)
        Width and height of the region; left, bottom, right and top of the part that names lie in; size of the
        type. All in pixels.
    anchor, low_end, high_end, top : float64 (n, 3)
        Of :class:`....overlay.names.Prepared`.
    width, least : float64 (n,)
        Of the text, and the least height of the line that the drawing gave it, in sizes of the type.
    bound : bool (n,)
    align : int8 (n,)
    numbers : bool (n,)
        Which are never shortened.
    allowed, known : bool (n,)
        Which names may be shown, and which were.
    appears : float
        How much more room than it needs a name must have that was not shown.
    shortest : float
        Room that a shortened name needs, in sizes of the type.
    row : int32 (n,)
        Becomes which names have room.
    found : float64 (n, 8)
        Becomes, of each of these: the anchor's pixel and depth, where the text begins and the middle of its
        height, how wide it is shown, its room, and how many times it has the room and height that it needs.

    Returns
    -------
    int
        How many have room.
    """
    wide, high = 0.5 * frame[0], 0.5 * frame[1]
    left, bottom, right, upper, size = frame[2], frame[3], frame[4], frame[5], frame[6]
    count = 0
    for i in range(len(anchor)):
        if not allowed[i]:
            continue
        w = _clip(matrix, anchor, i, 3)
        top_w = _clip(matrix, top, i, 3)
        if w <= 0.0 or top_w <= 0.0:
            continue
        cx, cy = _clip(matrix, anchor, i, 0), _clip(matrix, anchor, i, 1)
        x, y = wide + wide * cx / w, high + high * cy / w
        dx = wide + wide * _clip(matrix, top, i, 0) / top_w - x
        dy = high + high * _clip(matrix, top, i, 1) / top_w - y
        line, needed = math.sqrt(dx * dx + dy * dy), least[i] * size
        if not line >= needed or y - 0.6 * size < bottom or y + 0.6 * size > upper:
            continue
        text, room, shown, start = width[i] * size, math.inf, width[i] * size, x
        if bound[i]:
            # The part of the room that lies in front of the eye, as the anchor does.
            ends_x, ends_y = x, y
            other_x, other_y = x, y
            for side in range(2):
                end = low_end if side == 0 else high_end
                ew = _clip(matrix, end, i, 3)
                ex, ey = _clip(matrix, end, i, 0), _clip(matrix, end, i, 1)
                if ew < _LEAST_W:
                    share = (w - _LEAST_W) / (w - ew)
                    ex, ey, ew = cx + share * (ex - cx), cy + share * (ey - cy), _LEAST_W
                ex, ey = wide + wide * ex / ew, high + high * ey / ew
                if side == 0:
                    ends_x, ends_y = ex, ey
                else:
                    other_x, other_y = ex, ey
            if abs(other_y - ends_y) > abs(other_x - ends_x):
                room = 1.5 * line
                shown = min(text, room)
                start = x if align[i] < 0 else x - shown if align[i] > 0 else x - 0.5 * shown
            else:
                first = min(max(min(ends_x, other_x), left), right)
                last = min(max(max(ends_x, other_x), left), right)
                room = last - first
                if room < min(text, shortest * size) * (1.0 if known[i] else appears):
                    continue
                shown = min(text, room)
                start = x if align[i] < 0 else x - shown if align[i] > 0 else x - 0.5 * shown
                start = min(max(start, first), max(last - shown, first))
        else:
            # Where the region ends it is shortened.
            beside = min(x - left, right - x)
            most = right - x if align[i] < 0 else x - left if align[i] > 0 else 2.0 * beside
            if not numbers[i] and most < text and most >= shortest * size * (1.0 if known[i] else appears):
                room = shown = most
            start = x if align[i] < 0 else x - shown if align[i] > 0 else x - 0.5 * shown
        fits = min(room / max(text, 1e-9), line / needed)
        if not (fits > 0.0 and start >= left and start + shown <= right):
            continue
        row[count] = i
        found[count, 0], found[count, 1] = x, y
        found[count, 2] = 0.5 * _clip(matrix, anchor, i, 2) / w + 0.5
        found[count, 3], found[count, 4] = start, y
        found[count, 5], found[count, 6], found[count, 7] = shown, room, fits
        count += 1
    return count
