"""The wall beside the terrain: what all memory does along the same time, as curves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.primitives import Labels, Legend, LegendEntry, Lines
from ..curves import Curves, curves
from .layout import DEPTH, WALL, WALL_GAP, Layout

Floats = NDArray[np.float64]

_CELLS = 240
_CURVE, _HAIR = 0.035, 0.012
#: Each curve has its own stripe of the wall: from, to.
_STRIPES = ((0.0, 0.46), (0.52, 0.73), (0.79, 1.0))


def on_wall(picture: Layout, y: Floats, up: Floats, off: float = 0.0) -> Floats:
    """Return points of the wall (n, 3): at ``y``, ``up`` from 0 to 1, ``off`` scene units before it.

    Parameters
    ----------
    picture : Layout
    y : float64 (n,)
        Places along time.
    up : float64 (n,)
        0 to 1 of the wall's height.
    off : float
        Scene units.

    Returns
    -------
    float64 (n, 3)
    """
    stand, lie = picture.fold
    y, up = np.broadcast_arrays(np.asarray(y, np.float64), np.asarray(up, np.float64))
    height = WALL * up
    return np.stack([-WALL_GAP - height * lie + off * stand, y, height * stand + off * lie], axis=-1)


def series_of(picture: Layout) -> Curves:
    """Return the series that are drawn."""
    return curves(picture.use.blocks, picture.window, _CELLS, picture.recent)


def draw_curves(
    picture: Layout, found: Curves, colors: tuple[int, int, int], hair: int
) -> tuple[list[Lines], list[Labels], Legend]:
    """Return live bytes, allocations and the idle share as curves, with their scales and the legend.

    Parameters
    ----------
    picture : Layout
    found : Curves
        The series of the window.
    colors : (int, int, int)
        Those of live bytes, allocations and the idle share, as indices into the palette.
    hair : int
        The scales' colour.

    Returns
    -------
    (list of Lines, list of Labels, Legend)
    """
    use = picture.use
    middle = found.start + found.step * (np.arange(len(found)) + 0.5)
    y = picture.y(middle.astype(np.int64))
    if use.has_times:
        rate = found.allocations / (found.step / 1e9)
        each, unit = "allocations a second", "/s"
    else:
        rate = found.allocations / found.step
        each, unit = "allocations a record", ""
    rows: tuple[tuple[str, Floats, Callable[[float], str]], ...] = (
        ("live bytes", found.live.astype(np.float64), units.byte_size),
        (each, rate, lambda v: f"{units.count(v)}{unit}"),
        ("idle share of live bytes", 100.0 * found.idle, lambda v: units.percentage(v / 100)),
    )
    lines, texts, anchors, grid = [], [], [], []
    for (_, value, write), (low, high), color in zip(rows, _STRIPES, colors, strict=True):
        most = 100.0 if write(100.0).endswith("%") else max(float(value.max(initial=0)), 1e-9)
        up = low + (high - low) * value / most
        point = on_wall(picture, y, up, 0.02)
        lines.append(
            Lines("curve", point.astype(np.float32), np.array([0, len(point)]),
                  np.array([_CURVE], np.float32), np.array([color], np.int32), np.zeros(1, np.int64))
        )  # fmt: skip
        for at, text in ((0.0, "0"), (1.0, write(most))):
            place = low + (high - low) * at
            grid.append(on_wall(picture, np.array([0.0, DEPTH]), np.full(2, place), 0.01))
            texts.append(text)
            anchors.append(on_wall(picture, np.array([-0.12]), np.array([place]))[0])
    n = len(grid)
    lines.append(
        Lines("scale", np.concatenate(grid).astype(np.float32), 2 * np.arange(n + 1),
              np.full(n, _HAIR, np.float32), np.full(n, hair, np.int32), np.arange(n))
    )  # fmt: skip
    labels = Labels(
        "scale", tuple(texts), np.array(anchors, np.float32), np.full(n, 0.85 * picture.text, np.float32),
        np.full(n, np.inf, np.float32), np.full(n, 2.0, np.float32), align=1,
        right=(1.0, 0.0, 0.0), up=_text_up(picture),
    )  # fmt: skip
    entries = tuple(LegendEntry(name, color) for (name, _, _), color in zip(rows, colors, strict=True))
    return lines, [labels], Legend("On the wall", entries)


def _text_up(picture: Layout) -> tuple[float, float, float]:
    stand, lie = picture.fold
    return (0.0, lie, stand)
