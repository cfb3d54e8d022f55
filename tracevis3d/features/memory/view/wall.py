"""The wall beside the terrain: curves of all memory over the same time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.primitives import Labels, Lines, Wedges
from ..curves import Curves, curves
from .layout import WALL, WALL_GAP, Layout

Floats = NDArray[np.float64]

_CELLS = 256
_CURVE, _HAIR = 0.035, 0.012
#: Each curve has its own stripe of the wall: from, to. The live bytes are what is looked for first.
_STRIPES = ((0.0, 0.62), (0.8, 0.88), (0.92, 1.0))
#: Between them findings are marked along their time: from here up, in steps of so much.
FOUND, FOUND_STEP, MOST_FOUND = 0.67, 0.045, 3
#: How large the name of the first curve is.
_NAME = 1.3
_CHARACTER = 0.52
#: How far from the beginning it stands at least, and at how many places it is tried.
_MARGIN, _PLACES = 0.2, 40


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
    return np.stack(
        [picture.wide + WALL_GAP + height * lie - off * stand, y, height * stand + off * lie], axis=-1
    )


def series_of(picture: Layout) -> Curves:
    """Return the series that are drawn."""
    return curves(picture.use.blocks, picture.window, _CELLS, picture.recent)


def draw_curves(
    picture: Layout, found: Curves, colors: tuple[int, int, int], pale: int, hair: int
) -> tuple[list[Lines | Wedges], list[Labels]]:
    """Return live bytes, allocations and the idle share as curves, with their names and scales.

    Parameters
    ----------
    picture : Layout
    found : Curves
        The series of the window.
    colors : (int, int, int)
        Those of live bytes, allocations and the idle share, as indices into the palette.
    pale : int
        That of the area below the live bytes.
    hair : int
        The scales' colour.

    Returns
    -------
    (list of Lines and Wedges, list of Labels)
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
        ("idle share", 100.0 * found.idle, lambda v: units.percentage(v / 100)),
    )
    lines: list[Lines | Wedges] = []
    texts, anchors, grid, beside, places = [], [], [], [], []
    for (name, value, write), (low, high), color in zip(rows, _STRIPES, colors, strict=True):
        most = 100.0 if write(100.0).endswith("%") else max(float(value.max(initial=0)), 1e-9)
        up = low + (high - low) * value / most
        point = on_wall(picture, y, up, 0.04)
        if low == 0.0 and len(found) > 1:
            lines.append(_area(picture, y, up, pale))
        lines.append(
            Lines("curve", point.astype(np.float32), np.array([0, len(point)]),
                  np.array([_CURVE], np.float32), np.array([color], np.int32), np.zeros(1, np.int64))
        )  # fmt: skip
        for at, text in ((0.0, "0"), (1.0, write(most))):
            place = low + (high - low) * at
            grid.append(on_wall(picture, np.array([0.0, picture.deep]), np.full(2, place), 0.03))
            if low == 0.0:
                texts.append(text)
                anchors.append(on_wall(picture, np.array([picture.deep + 0.12]), np.array([place]))[0])
        if low > 0.0:
            beside.append(f"{name}, to {write(most)}")
            places.append(on_wall(picture, np.array([-0.12]), np.array([(low + high) / 2]))[0])
    n = len(grid)
    lines.append(
        Lines("scale", np.concatenate(grid).astype(np.float32), 2 * np.arange(n + 1),
              np.full(n, _HAIR, np.float32), np.full(n, hair, np.int32), np.arange(n))
    )  # fmt: skip
    labels = [
        _texts(picture, texts, anchors, 0.85, 2.0, 1),
        _texts(picture, beside, places, 0.85, 2.0, -1),
        _name(picture, found, y),
    ]
    return lines, labels


def _area(picture: Layout, y: Floats, up: Floats, color: int) -> Wedges:
    """Return what lies below the curve of live bytes."""
    zero = np.zeros(len(up))
    corner = np.stack(
        [on_wall(picture, y, at, off) for at, off in ((zero, 0.02), (zero, 0.0), (up, 0.0), (up, 0.02))],
        axis=1,
    )
    return Wedges(
        "live bytes", corner.astype(np.float32), np.array([0, len(y)]), np.array([color], np.int32),
        np.zeros(1, np.int64),
    )  # fmt: skip


def _name(picture: Layout, found: Curves, y: Floats) -> Labels:
    """Return the name of the live bytes where there first is room for it: above the curve, else below it."""
    # In the flat picture it lies along the bytes, and other curves beside them.
    most = int(found.live.max(initial=0))
    words = f"live bytes: peak {units.byte_size(most)}" if picture.across else "live bytes"
    size = _NAME * picture.text
    before, up = picture.text, 0.1
    if picture.across:
        tall, along = size / (WALL * _STRIPES[0][1]), _CHARACTER * size * len(words)
        before, up = _free(y, found.live / max(most, 1), picture.deep, along, tall)
    place = on_wall(picture, np.array([picture.deep - before]), np.array([up * _STRIPES[0][1]]), 0.06)[0]
    return _texts(picture, [words], [place], _NAME, 30.0, -1)


def _free(y: Floats, curve: Floats, deep: float, along: float, tall: float) -> tuple[float, float]:
    """Return how far behind the beginning a text may stand, and at which height its middle.

    It is the first place that the curve leaves free, above it or below it; where there is none, that with the
    most room below.
    """
    best = (_MARGIN, 0.5 * tall, -1.0)
    for before in np.linspace(_MARGIN, max(deep - along, _MARGIN), _PLACES).tolist():
        beside = curve[(y <= deep - before) & (y >= deep - before - along)]
        low, high = float(beside.min(initial=1.0)), float(beside.max(initial=0.0))
        if high + 1.3 * tall <= 1:
            return before, max(high + 0.8 * tall, 1 - 0.8 * tall)
        if low >= 1.5 * tall:
            return before, low - 0.8 * tall
        if low > best[2]:
            best = before, max(low - 0.8 * tall, 0.5 * tall), low
    return best[0], best[1]


def _texts(
    picture: Layout,
    texts: list[str],
    anchors: list[Floats],
    size: float,
    rank: float,
    align: Literal[-1, 0, 1],
) -> Labels:
    """Return texts that stand upright on the wall."""
    n = len(texts)
    return Labels(
        "scale", tuple(texts), np.array(anchors, np.float32).reshape(-1, 3),
        np.full(n, size * picture.text, np.float32), np.full(n, np.inf, np.float32),
        np.full(n, rank, np.float32), align=align,
        right=(0.0, -1.0, 0.0) if picture.across else picture.level, up=picture.upward,
    )  # fmt: skip
