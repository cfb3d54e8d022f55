"""Names above a wall whose outer face is not visible: an icicle of its widest calls, read from the front.

Tubes come out of the face that is seen then, so that no name could be read on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .....drawing.primitives import Boxes, Labels
from ..layout import BAND_ROWS, Layout, Wall

Ints = NDArray[np.int64]

#: Width of a character and least width of a band, in line heights.
_CHARACTER, _LEAST = 0.5, 4.0
#: A call that takes this share of its caller continues the caller's band if its name fits.
_CHAIN = 0.75
#: Share of a row that a band takes, and a band's thickness.
_FILL, _PLATE = 0.9, 0.03
_ARROW = " › "


def bands(picture: Layout, wall: Wall, boxes: Boxes, most: int) -> tuple[Boxes, Labels]:
    """Return bands above the widest calls of a wall, callers below what they call, and the names on them.

    Parameters
    ----------
    picture : Layout
    wall : Wall
    boxes : Boxes
        The wall's calls.
    most : int
        Bands at most, the widest first.

    Returns
    -------
    (Boxes, Labels)
    """
    line = picture.text
    first, rows, texts = _rows(wall, boxes, line, most)
    n = len(first)
    x0, width = boxes.low[first, 0].astype(np.float64), boxes.size[first, 0].astype(np.float64)
    y, z = wall.fold.gap / 2, wall.fold.shelf - picture.band_row * BAND_ROWS
    low = np.stack([x0, np.full(n, y), z + picture.band_row * rows], axis=1)
    size = np.stack([width, np.full(n, _PLATE), np.full(n, _FILL * picture.band_row)], axis=1)
    plates = Boxes(
        "band", low.astype(np.float32), size.astype(np.float32), boxes.color[first], boxes.id[first],
        boxes.time[first], source=wall.source, window=wall.window,
    )  # fmt: skip
    inset = 0.3 * line
    anchor = low + size * np.array([0.0, 0.0, 0.5]) + np.array([inset, -0.004, 0.0])
    names = Labels(
        "function", texts, anchor.astype(np.float32), np.full(n, 0.95 * line, np.float32),
        (width - 2 * inset).astype(np.float32), width.astype(np.float32), align=-1, up=(0.0, 0.0, 1.0),
        background=boxes.color[first],
    )  # fmt: skip
    return plates, names


def _rows(wall: Wall, boxes: Boxes, line: float, most: int) -> tuple[Ints, Ints, tuple[str, ...]]:
    """Return which boxes have a band, in which row it lies, 0 the lowest, and its words."""
    calls, label = wall.trace.calls, wall.trace.functions.label
    width, left = boxes.size[:, 0].astype(np.float64), boxes.low[:, 0].astype(np.float64)
    wide = np.flatnonzero(width >= _LEAST * line)
    wide = wide[np.argsort(-width[wide], kind="stable")][:most]
    drawn = set(boxes.id[wide].tolist())
    band_of: dict[int, int] = {}
    heads: list[int] = []
    rows: list[int] = []
    words: list[str] = []
    last: list[float] = []
    taken: list[list[tuple[float, float]]] = [[] for _ in range(BAND_ROWS)]
    for i in wide[np.lexsort((left[wide], calls.depth[boxes.id[wide]]))].tolist():
        call = int(boxes.id[i])
        parent = int(calls.parent[call])
        name = label[int(calls.function[call])]
        around = band_of.get(parent, -1)
        if parent in drawn and around < 0:
            continue  # its caller has no room
        if around >= 0 and width[i] >= _CHAIN * last[around]:
            longer = words[around] + _ARROW + name
            if _CHARACTER * line * len(longer) <= width[i]:
                band_of[call], words[around], last[around] = around, longer, width[i]
                continue
        row = rows[around] + 1 if around >= 0 else 0
        end = left[i] + width[i]
        if row >= BAND_ROWS or any(left[i] < b - 1e-6 and end > a + 1e-6 for a, b in taken[row]):
            continue
        taken[row].append((left[i], end))
        band_of[call] = len(heads)
        heads.append(i)
        rows.append(row)
        words.append(name)
        last.append(width[i])
    return np.array(heads, np.int64), np.array(rows, np.int64), tuple(words)
