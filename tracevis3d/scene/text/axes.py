"""Axes: rulers of thin bars with texts that stand upright for the reader."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Axis
from ...layout.lettering import Typeface, clean
from ..camera import View
from .labels import Free, Texts, unit

_TICK = 0.35
_MINOR = 0.18
_GAP = 0.25
#: Texts that would be lower than this share of their height are raised towards the reader.
_SQUEEZED = 0.8


@dataclass(frozen=True, eq=False)
class Ruler:
    """What an axis is made of, in scene units.

    Attributes
    ----------
    start, end : float64 (n, 3)
        Ends of the bars: the line itself, ticks, minor ticks.
    grid_start, grid_end : float64 (m, 3)
    text : tuple of str
        The ticks' texts, then the title.
    middle : float64 (k, 3)
        Middle of each text.
    point : float64 (k, 3)
        Where each belongs on the line.
    width : float64 (k,)
    right, up : float64 (3,)
        How texts are written.
    height : float
        Line height.
    """

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    grid_start: NDArray[np.float64]
    grid_end: NDArray[np.float64]
    text: tuple[str, ...]
    middle: NDArray[np.float64]
    point: NDArray[np.float64]
    width: NDArray[np.float64]
    right: NDArray[np.float64]
    up: NDArray[np.float64]
    height: float

    def extent(self) -> NDArray[np.float64]:
        """Return points (n, 3) that the picture has to hold."""
        side = self.right * (self.width[:, None] / 2)
        over = self.up * (self.height / 2)
        corners = [self.middle + a * side + b * over for a in (-1, 1) for b in (-1, 1)]
        return np.concatenate([self.start, self.end, *corners])


def lay_out(
    axis: Axis,
    camera_axes: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    typeface: Typeface,
) -> Ruler:
    """Lay out an axis for a camera.

    Parameters
    ----------
    axis : Axis
    camera_axes : (float64 (3,), float64 (3,), float64 (3,))
        The camera's right, up and forward, as :func:`..camera.axes` returns them.
    typeface : Typeface

    Returns
    -------
    Ruler
    """
    origin = np.asarray(axis.origin, np.float64)
    along, out = unit(axis.direction), unit(axis.outward)
    h = axis.height
    tick = np.asarray(axis.tick, np.float64)[:, None]
    minor = np.asarray(axis.minor, np.float64)[:, None]
    at, at_minor = origin + along * tick, origin + along * minor
    start = np.concatenate([origin[None], at, at_minor])
    end = np.concatenate(
        [(origin + along * axis.length)[None], at + out * (_TICK * h), at_minor + out * (_MINOR * h)]
    )
    right, up = _upright(along, out, camera_axes)
    texts = [clean(t) for t in (*axis.text[: len(tick)], axis.title)]
    size = h * typeface.size_per_line
    width = np.array([typeface.width(t) * size for t in texts])
    # How far the middle of a text has to stand off so that its near edge clears the ticks.
    stand = (_TICK + _GAP) * h + _half(out, right, up, width, h, camera_axes)
    point = np.concatenate([at, (origin + along * (axis.length / 2))[None]])
    middle = point + out * stand[:, None]
    beyond = (_GAP * h + 2 * stand[:-1].max(initial=0.0) - (_TICK + _GAP) * h) if len(tick) else 0.0
    middle[-1] += out * beyond
    return Ruler(
        start,
        end,
        at,
        at - out * axis.grid,
        tuple(texts),
        middle,
        point,
        width,
        right,
        up,
        h,
    )


def _upright(
    along: NDArray[np.float64],
    out: NDArray[np.float64],
    camera_axes: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the directions of writing, from left to right and upright: in the ruler's plane if it can be."""
    right, up, forward = camera_axes
    across, other = (along, out) if abs(along @ right) >= abs(out @ right) else (out, along)
    across = across if across @ right >= 0 else -across
    if np.hypot(other @ right, other @ up) < _SQUEEZED:
        other = unit(np.cross(forward, across))
    return across, other if other @ up >= 0 else -other


def _half(
    out: NDArray[np.float64],
    right: NDArray[np.float64],
    up: NDArray[np.float64],
    width: NDArray[np.float64],
    height: float,
    camera_axes: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return how far along ``out`` a text's middle is from its edge."""
    if abs(float(up @ out)) + abs(float(right @ out)) > 1 - 1e-9:
        return np.asarray(np.abs(out @ right) * width / 2 + abs(float(out @ up)) * height / 2)
    # Raised texts leave the ruler's plane: the camera sees them clear of the ticks.
    seen = np.stack(camera_axes[:2])
    way = seen @ out
    side, over = abs(float(way @ (seen @ right))), abs(float(way @ (seen @ up)))
    return (side * width / 2 + over * height / 2) / max(float(way @ way), 0.01)


def choose_texts(
    rulers: list[Ruler],
    view: View,
    free: Free,
    typeface: Typeface,
    ink: tuple[float, float, float],
) -> tuple[Texts, int]:
    """Return the rulers' texts that are shown: large enough, and where no other text is.

    Parameters
    ----------
    rulers : list of Ruler
    view : View
    free : Free
        Where texts may be; those that are shown take their places from it.
    typeface : Typeface
    ink : (float, float, float)
        sRGB.

    Returns
    -------
    texts : Texts
    left_out : int
        How many are not shown.
    """
    chosen, left_out = Texts(), 0
    for ruler in rulers:
        size = ruler.height * typeface.size_per_line
        for text, middle, point, width in zip(ruler.text, ruler.middle, ruler.point, ruler.width):
            if not text:
                continue
            side, over = ruler.right * (width / 2), ruler.up * (ruler.height / 2)
            corners = view.pixels(np.array([middle + a * side + b * over for a in (-1, 1) for b in (-1, 1)]))
            around = corners[[0, 1, 3, 2]]
            tall = float(np.linalg.norm(corners[1] - corners[0]))
            if tall < view.frame.least_line or not free.take_quad(around):
                left_out += 1
                continue
            chosen.text.append(text)
            chosen.start.append(middle - side - ruler.up * (0.5 * typeface.cap_height * size))
            chosen.right.append(ruler.right)
            chosen.up.append(ruler.up)
            chosen.size.append(size)
            chosen.color.append(ink)
            chosen.outline.append(around)
            chosen.point.append(point)
    return chosen, left_out
