"""Frames around calls with all that is below them, and plates with words on their inner edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .....drawing.primitives import Boxes, Labels, Lines

if TYPE_CHECKING:
    from ..layout import Layout, Wall

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Thickness of a plate, and how far its text lies above it.
_PLATE, _TEXT = 0.012, 0.004


@dataclass(frozen=True)
class FrameBuilder:
    """The drawing of frames and plates.

    Attributes
    ----------
    kind : str
        Of the frames and of the words.
    color : int
        Palette index.
    width : float
        Of the frames' lines, pixels.
    off : float
        How far frames lie off the wall, scene units.
    rank : float
        The least rank of the words: which stay where texts would overlap.
    """

    kind: str
    color: int
    width: float
    off: float
    rank: float


def frames(
    picture: Layout,
    wall: Wall,
    ids: Ints,
    x0: Floats,
    x1: Floats,
    thick: float,
    pen: FrameBuilder,
    alone: NDArray[np.bool_] | None = None,
) -> tuple[Lines, Floats]:
    """Return frames from the level of each of ``ids`` to the deepest drawn below it.

    Parameters
    ----------
    picture : Layout
    wall : Wall
    ids : int64 (n,)
        Calls.
    x0, x1 : float64 (n,)
        Where frames begin and end along x.
    thick : float
        Of the boxes that the frames go around.
    pen : Pen
    alone : bool (n,), optional
        Frame the level of the call alone.

    Returns
    -------
    lines : Lines
    edge : float64 (n, 3)
        The middle of each frame's inner edge.
    """
    n = len(ids)
    low, high = wall.levels(ids)
    deep = np.maximum(low + wall.extent(ids), high)
    deep = deep if alone is None else np.where(alone, high, deep)
    step = high - low
    ends = [picture.before(wall, h, step, thick + pen.off) for h in (low, deep)]
    path = np.empty((n, 5, 3), np.float32)
    for k, (x, e) in enumerate(((x0, 0), (x1, 0), (x1, 1), (x0, 1), (x0, 0))):
        path[:, k] = ends[e] + np.outer(x, (1.0, 0.0, 0.0))
    lines = Lines(
        pen.kind, path.reshape(-1, 3), np.arange(n + 1, dtype=np.int64) * 5,
        np.full(n, pen.width / picture.pixels_per_unit, np.float32), np.full(n, pen.color, np.int32), ids,
        source=wall.source,
    )  # fmt: skip
    return lines, ends[1] + np.outer((x0 + x1) / 2, (1.0, 0.0, 0.0))


def plates(
    wall: Wall, text: tuple[str, ...], middle: Floats, wide: Floats, height: float, ids: Ints, width: Floats,
    pen: FrameBuilder,
) -> tuple[Boxes, Labels]:  # fmt: skip
    """Return texts on plates in the frames' colour, so that they can be read on any background.

    Plates are level, or stand upright where the camera looks from the front.

    Parameters
    ----------
    wall : Wall
    text : tuple of str
    middle : float64 (n, 3)
    wide : float64 (n,)
        Width of each plate.
    height : float
    ids : int64 (n,)
        Calls.
    width : float64 (n,)
        Of what each is about: the widest stay where they would overlap.
    pen : Pen

    Returns
    -------
    (Boxes, Labels)
    """
    n = len(ids)
    deep = np.full(n, _PLATE)
    if wall.fold.front:
        size, towards = np.stack([wide, deep, np.full(n, height)], axis=1), np.array([0.0, -1.0, 0.0])
        corner = middle - size * np.array([0.5, 0.0, 0.5])
    else:
        size, towards = np.stack([wide, np.full(n, height), deep], axis=1), np.array([0.0, 0.0, 1.0])
        corner = middle - size * np.array([0.5, 0.5, 1.0])
    tags = Boxes(
        "tag", corner.astype(np.float32), size.astype(np.float32), np.full(n, pen.color, np.int32), ids,
        source=wall.source,
    )  # fmt: skip
    words = Labels(
        pen.kind, text, (middle + _TEXT * towards).astype(np.float32),
        np.full(n, 0.9 * height, np.float32), np.full(n, np.inf, np.float32),
        (pen.rank + width).astype(np.float32), up=wall.fold.stage_up,
        background=np.full(n, pen.color, np.int32),
    )  # fmt: skip
    return tags, words
