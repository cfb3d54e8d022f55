"""The floor: how similar each trace is to each other one, as a matrix whose rows lie beside the walls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....drawing.palettes import BASE, Paint, parse
from ....drawing.primitives import Boxes, Labels, Legend, LegendEntry, Lines
from ..view.colors import ramp
from .stage import HEAD_ROW, Stage

if TYPE_CHECKING:
    from ..view.parameters import Parameters

Floats = NDArray[np.float64]

#: What stands above the matrix, in rows, by the parameter ``matrix``; and what its frames mean.
WORDS = {
    "best": ("mean similarity of the row's calls", "with the most similar of the column"),
    "time": ("share of the row's time", "that has a match in the column"),
    "functions": ("functions in common,", "of all functions of both"),
}
_JOINED = "joined by tubes"
#: The line height of a number on a cell, in heights of the stage's text, at most.
_NUMBER = 1.7
#: Colours of the ramp.
_STEPS = 96
#: Space between two cells, as a share of a cell; thickness of a cell, in scene units.
_SEAM, _PLATE = 0.05, 0.05
_EDGE = parse("e8a200")
#: From unlike to alike.
_ANCHORS = parse("f0ece2 cfd8dc 8fb3cc 3f7fb0 134a7c")


def matrix(
    stage: Stage, cells: Floats, joined: Sequence[tuple[int, int]], paint: Paint, p: Parameters
) -> tuple[list[Boxes | Lines], list[Labels], list[Legend]]:
    """Return the cells, the frames around those of joined pairs, their texts and their legends.

    Where the numbers on the cells can be read, they say what the colours mean, and words above the matrix
    what the numbers are: there is no legend.

    Parameters
    ----------
    stage : Stage
    cells : float64 (n, n)
        In the order in which the walls stand.
    joined : sequence of (int, int)
        Places of the walls that bridges join.
    paint : Paint
    p : Parameters

    Returns
    -------
    (list of Boxes or Lines, list of Labels, list of Legend)
    """
    n, floor = len(cells), stage.floor
    first, low = paint.add(ramp(_ANCHORS, _STEPS)), _lowest(cells)
    own = paint.add(BASE)
    row, column = (x.reshape(-1) for x in np.indices((n, n)))
    share = (cells - low) / (1.0 - low)
    color = np.where(
        row == column, own, first + np.rint(np.clip(share, 0, 1).reshape(-1) * (_STEPS - 1))
    ).astype(np.int32)
    seam = _SEAM * floor.wide
    corner = np.zeros((n * n, 3), np.float32)
    corner[:, 0] = floor.left + column * floor.wide + seam / 2
    corner[:, 1] = floor.row[row] - floor.deep / 2 + seam / 2
    size = np.tile(np.array([floor.wide - seam, floor.deep - seam, _PLATE], np.float32), (n * n, 1))
    ids = np.arange(n * n, dtype=np.int64)
    boxes = Boxes("similarity", corner, size, color, ids)
    frames = _frames(stage, joined, paint.add(_EDGE))
    texts = _texts(stage, cells, boxes)
    if float(texts[0].height[0]) * stage.pixels_per_unit >= stage.least_text:
        words = (*WORDS[p.matrix], *([f"framed: {_JOINED}"] if joined else []))
        return [boxes, frames], [*texts, _heading(stage, words)], []
    ticks = np.linspace(low, 1.0, 3)
    legends = [
        Legend(
            f"Matrix: {' '.join(WORDS[p.matrix])}",
            (LegendEntry(_JOINED, int(frames.color[0])),) if joined else (),
            ramp=(first, first + _STEPS - 1),
            ramp_tick=(0.0, 0.5, 1.0),
            ramp_text=tuple(f"{t:.2g}" for t in ticks),
        )
    ]
    return [boxes, frames], texts, legends


def _heading(stage: Stage, words: Sequence[str]) -> Labels:
    """Return rows of words above the matrix."""
    floor, n = stage.floor, len(words)
    anchor = np.zeros((n, 3), np.float32)
    anchor[:, 0] = floor.left
    anchor[:, 1] = floor.row[0] + floor.deep / 2 + (0.9 + HEAD_ROW * np.arange(n)[::-1]) * stage.text
    return Labels(
        "matrix", tuple(words), anchor, np.full(n, stage.text, np.float32),
        np.full(n, floor.right - floor.left, np.float32), np.full(n, 1e8, np.float32), align=-1,
        up=(0.0, 1.0, 0.0),
    )  # fmt: skip


def _lowest(cells: Floats) -> float:
    """Return where the ramp begins: the tenth at or below the least similarity, at most 0.8."""
    apart = cells[~np.eye(len(cells), dtype=np.bool_)]
    return float(min(np.floor(apart.min() * 10) / 10, 0.8))


def _frames(stage: Stage, joined: Sequence[tuple[int, int]], color: int) -> Lines:
    """Return a frame around each cell of a joined pair, both ways."""
    floor = stage.floor
    both = np.array([(i, j) for pair in joined for i, j in (pair, pair[::-1])], np.int64).reshape(-1, 2)
    m = len(both)
    middle = np.stack([floor.left + (both[:, 1] + 0.5) * floor.wide, floor.row[both[:, 0]]], axis=1)
    seam = 0.5 * _SEAM * floor.wide
    half = np.array([floor.wide / 2 - seam, floor.deep / 2 - seam])
    around = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)], np.float64)
    point = np.empty((m, 5, 3), np.float32)
    point[:, :, :2] = middle[:, None] + around[None] * half
    point[:, :, 2] = 1.2 * _PLATE
    width = np.full(m, 0.045 * floor.wide, np.float32)
    return Lines(
        "joined", point.reshape(-1, 3), 5 * np.arange(m + 1, dtype=np.int64), width,
        np.full(m, color, np.int32), both[:, 0] * len(stage.walls) + both[:, 1],
    )  # fmt: skip


def _texts(stage: Stage, cells: Floats, boxes: Boxes) -> list[Labels]:
    """Return numbers on the cells, where they fit, letters on the diagonal and at the columns' ends."""
    n, floor = len(cells), stage.floor
    on = np.eye(n, dtype=np.bool_).reshape(-1)
    text = [
        stage.letters[k // n] if on[k] else _number(float(value))
        for k, value in enumerate(cells.reshape(-1).tolist())
    ]
    height = min(_NUMBER * stage.text, 0.7 * floor.deep, 0.5 * floor.wide)
    anchor = boxes.low + boxes.size / 2
    anchor[:, 2] = boxes.low[:, 2] + boxes.size[:, 2] + 0.004
    room = np.full(n * n, 0.98 * (1 - _SEAM) * floor.wide, np.float32)
    numbers = Labels(
        "similarity", tuple(text), anchor.astype(np.float32), np.full(n * n, height, np.float32), room,
        np.full(n * n, 1e7, np.float32), up=(0.0, 1.0, 0.0), background=boxes.color,
    )  # fmt: skip
    heads = np.zeros((n, 3), np.float32)
    heads[:, 0] = floor.left + (np.arange(n) + 0.5) * floor.wide
    heads[:, 1] = floor.row[-1] - floor.deep / 2 - 0.9 * stage.text
    size = np.full(n, 1.2 * stage.text, np.float32)
    columns = Labels(
        "trace", stage.letters, heads, size, np.full(n, np.inf, np.float32), np.full(n, 1e8, np.float32),
        up=(0.0, 1.0, 0.0),
    )  # fmt: skip
    return [numbers, columns]


def _number(value: float) -> str:
    """Return a number with two decimals; only 1 itself is written as 1."""
    return "1" if value >= 1.0 else f"{min(value, 0.99):.2f}"[1:]
