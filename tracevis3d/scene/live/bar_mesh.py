"""Bars as a mesh: faces, edges, shaded corners; and the bar that a ray meets. No Blender."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...drawing.stream import LENGTH, Bars, Page
from ...kernels.layout.pick_bars import pick_bar
from ...live.stream.pages import Ring
from ..color import linear

#: Faces of a bar with four corners at the start and four at the end; and the triangles and edges of these.
FACES = np.array(
    [[0, 1, 2, 3], [4, 7, 6, 5], [0, 4, 5, 1], [1, 5, 6, 2], [2, 6, 7, 3], [3, 7, 4, 0]], np.int32
)
TRIANGLES = np.ascontiguousarray(FACES[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3))
EDGES = np.array(
    [[0, 1], [1, 2], [2, 3], [0, 3], [4, 5], [5, 6], [6, 7], [4, 7], [0, 4], [1, 5], [2, 6], [3, 7]], np.int32
)
#: Lightness of the corners, two below and two above, at the start and at the end: neighbours stay apart.
_SHADE = np.array([[0.84, 0.84, 1.0, 1.0], [0.72, 0.72, 0.9, 0.9]], np.float32)

#: Which of :data:`FACES` a mesh has.
Faces = tuple[bool, ...]


@lru_cache(maxsize=8)
def topology(faces: Faces, n: int) -> tuple[NDArray[np.int32], ...]:
    """Return what :func:`..geometry.meshes.fill` needs beside positions for bars.

    Parameters
    ----------
    faces : tuple of bool
        Which of :data:`FACES` each has.
    n : int
        How many bars there are.

    Returns
    -------
    corner, first, corner_edge : int32 (c,), int32 (f,), int32 (c,)
    edge : int32 (e, 2)
    """
    kept = FACES[np.array(faces)]
    sides = [tuple(sorted((face[k], face[(k + 1) % 4]))) for face in kept.tolist() for k in range(4)]
    used = [edge for edge in EDGES.tolist() if tuple(sorted(edge)) in sides]
    number = {tuple(sorted(edge)): i for i, edge in enumerate(used)}
    bars = np.arange(n, dtype=np.int32)[:, None]
    corner = (kept.reshape(1, -1) + 8 * bars).reshape(-1).astype(np.int32)
    edge = (np.array(used).reshape(1, -1) + 8 * bars).reshape(-1, 2).astype(np.int32)
    corner_edge = (np.array([number[side] for side in sides])[None] + len(used) * bars).reshape(-1)
    return corner, np.arange(0, len(corner), 4, dtype=np.int32), edge, corner_edge.astype(np.int32)


def shaded(palette: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the linear colours of a bar's corners for each colour, float32 (k, 2, 4, 4): start and end.

    Parameters
    ----------
    palette : float32 (k, 4)
        sRGB and alpha.

    Returns
    -------
    float32 (k, 2, 4, 4)
    """
    corners = np.repeat(np.repeat(palette[:, None, None, :], 2, axis=1), 4, axis=2)
    corners[..., :3] *= _SHADE[None, :, :, None]
    return linear(corners)


def color_corners(bars: Bars, inks: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Write the colours of the corners of bars.

    Parameters
    ----------
    bars : Bars
    inks : float32 (k, 2, 4, 4)
        Of :func:`shaded`; indices beyond take the last one.
    out : float32 (n, 8, 4)
        Contiguous.
    """
    row = 2 * np.minimum(bars.color, len(inks) - 1)
    row[:, 1] += 1
    np.take(inks.reshape(-1, 4, 4), row, axis=0, out=out.reshape(-1, 2, 4, 4), mode="clip")


def pick(ring: Ring, ray: NDArray[np.float64], now: int) -> tuple[Page, int, float] | None:
    """Return page and number of the bar that a ray meets first, and how far away; None if it meets none.

    Parameters
    ----------
    ring : Ring
    ray : float64 (7,)
        Origin, direction of length 1, nearest distance; in the stream's coordinates.
    now : int
        The moment that lies at 0.

    Returns
    -------
    (Page, int, float) or None
    """
    best, found = np.array([np.inf]), None
    for page in (ring.open, *ring.pages):
        if page.count:
            mine = ray.copy()
            mine[0] -= (page.origin - now) * LENGTH / ring.view.window_ns
            if (bar := int(pick_bar(page.corner, page.count, TRIANGLES, mine, best))) >= 0:
                found = page, bar
    return (*found, float(best[0])) if found is not None else None
