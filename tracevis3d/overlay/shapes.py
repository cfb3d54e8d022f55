"""The rectangles, lines and dots of an overlay, and its texts, as triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .items import Overlay, Text

_CORNERS = 12  # of a dot
_TURN = 2 * np.pi * np.arange(_CORNERS) / _CORNERS


def triangles(
    overlay: Overlay,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int32]]:
    """Return the shapes of an overlay, in the order in which they are drawn.

    Parameters
    ----------
    overlay : Overlay

    Returns
    -------
    point : float32 (v, 2)
        Pixels.
    color : float32 (v, 4)
    triangle : int32 (t, 3)
    """
    point, color, corners = [], [], []
    if overlay.lines:
        ends = np.array([(*a, *b) for a, b, _, _ in overlay.lines], np.float64).reshape(-1, 2, 2)
        width = np.array([w for _, _, w, _ in overlay.lines])
        way = ends[:, 1] - ends[:, 0]
        long = np.maximum(np.linalg.norm(way, axis=1), 1e-9)
        aside = np.column_stack([-way[:, 1], way[:, 0]]) / long[:, None] * (width / 2)[:, None]
        point.append(
            np.stack([ends[:, 0] + aside, ends[:, 0] - aside, ends[:, 1] - aside, ends[:, 1] + aside], 1)
        )
        color.append(np.array([c for *_, c in overlay.lines]))
        corners.append(np.full(len(ends), 4))
    if overlay.fills:
        box = np.array([b for b, _ in overlay.fills], np.float64)
        point.append(box[:, [[0, 1], [2, 1], [2, 3], [0, 3]]])
        color.append(np.array([c for _, c in overlay.fills]))
        corners.append(np.full(len(box), 4))
    if overlay.dots:
        dots = np.array([(x, y, r) for x, y, r, _ in overlay.dots])
        ring = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)
        point.append(dots[:, None, :2] + dots[:, 2, None, None] * ring[None])
        color.append(np.array([c for *_, c in overlay.dots]))
        corners.append(np.full(len(dots), _CORNERS))
    if not point:
        return np.empty((0, 2), np.float32), np.empty((0, 4), np.float32), np.empty((0, 3), np.int32)
    count = np.concatenate(corners)
    first = np.cumsum(count) - count
    fans = np.repeat(np.arange(len(count)), count - 2)
    step = np.arange(len(fans)) - np.repeat(np.cumsum(count - 2) - (count - 2), count - 2)
    triangle = first[fans, None] + np.column_stack([np.zeros_like(step), step + 1, step + 2])
    return (
        np.concatenate([p.reshape(-1, 2) for p in point]).astype(np.float32),
        np.repeat(np.concatenate(color), count, axis=0).astype(np.float32),
        triangle.astype(np.int32),
    )


def quads(
    texts: Sequence[Text], places: Sequence[tuple[int, int, int, int]], side: int, below: float
) -> tuple[dict[str, NDArray[Any]], NDArray[np.int32]]:
    """Return the corners of texts that lie in a texture, and their triangles.

    Parameters
    ----------
    texts : sequence of Text
    places : sequence of (int, int, int, int)
        Left, low, width and height of each in the texture, in pixels.
    side : int
        Pixels of the texture on each side.
    below : float
        How far below its baseline a text's place reaches, in sizes of the type.

    Returns
    -------
    dict
        ``pos``, float32 (4 n, 2), in pixels; ``uv``, float32 (4 n, 2), in the texture, 0 to 1; and ``color``,
        float32 (4 n, 4).
    triangle : int32 (2 n, 3)
    """
    where = np.array(places, np.float32).reshape(-1, 4)
    rows = np.array([(t.left, t.baseline, t.size, *t.color) for t in texts], np.float64).reshape(-1, 7)
    at = np.rint(rows[:, :2])
    at[:, 1] -= np.rint(below * rows[:, 2])
    unit = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32)
    corner = unit[None] * where[:, None, 2:]
    given = {
        "pos": (at.astype(np.float32)[:, None] + corner).reshape(-1, 2),
        "uv": ((where[:, None, :2] + corner) / np.float32(side)).reshape(-1, 2),
        "color": np.repeat(rows[:, 3:].astype(np.float32), 4, axis=0),
    }
    first = 4 * np.arange(len(texts), dtype=np.int32)[:, None, None]
    return given, (first + np.array([[0, 1, 2], [0, 2, 3]], np.int32)).reshape(-1, 3)
