"""The Massive Sequence View on the mantle, and the marks along it: phases, marked stretches, lone calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Image, Lines, Marks, Tubes
from ..hierarchy import Hierarchy
from ..interactions import Interactions, Rare
from .layout import Drum, Floats, Layout
from .parameters import Parameters
from .radial import Sectors
from .sequence import contributions, even_rows, frequencies, sequence_image, timed_rows

#: Points of a bent line around the mantle.
_AROUND = 97
#: Maximum number of points of an image, which is a mesh, and of columns.
_MOST_POINTS, _MOST_COLUMNS = 450_000, 1000
#: Of one that is flat, with a point for each pixel of the picture; how much finer it is to have that surely.
_MOST_FLAT, _FINER = 2_500_000, 1.2
#: Width of lines at least, in scene units.
HAIR = 0.014
#: Diameter of the beads at lone calls.
BEAD = 0.42


def spans(hierarchy: Hierarchy, sectors: Sectors, found: Interactions) -> Floats:
    """Return the outer ends of each pair's bar along the mantle, float64 (pairs, 2), 0 to 1.

    Parameters
    ----------
    hierarchy : Hierarchy
    sectors : Sectors
        Where its elements lie.
    found : Interactions
        The calls between them.

    Returns
    -------
    float64 (pairs, 2)
    """
    h = hierarchy
    a, b = h.node[found.caller], h.node[found.callee]
    forward = sectors.middle[a] <= sectors.middle[b]
    start = np.where(forward, sectors.low[a], sectors.high[a])
    end = np.where(forward, sectors.high[b], sectors.low[b])
    return np.stack([start, end], axis=1) if found.pairs else np.empty((0, 2))


def sequence(
    picture: Layout,
    drum: Drum,
    ramp: NDArray[np.uint8],
    p: Parameters,
    frame: Frame,
    pixel: float,
    tone: Floats | None = None,
) -> Image | None:
    """Return the calls of the window as an image on the mantle; None if there are none to show.

    ``tone``: place on the ramp of each pair that has one colour, float64 (pairs,).

    Parameters
    ----------
    picture : Layout
    drum : Drum
    ramp : uint8 (k, 4)
        Colours from caller to callee.
    p : Parameters
    frame : Frame
        Of the picture: how fine the image is.
    pixel : float
        About how many scene units a pixel of the picture is.
    tone : float64 (pairs,), optional
        Place on the ramp, 0 to 1, of pairs that have one colour.

    Returns
    -------
    Image or None
    """
    found = drum.found
    if p.mantle == "none" or drum.high <= drum.low or drum.bend.length <= 0:
        return None
    if picture.flat:
        # No pixel of the picture holds two rows, nor two columns.
        columns, rows = (
            max(int(_FINER * length / pixel), 2) for length in (drum.bend.circumference, drum.bend.length)
        )
        coarser = max(columns * rows / _MOST_FLAT, 1.0) ** 0.5
        columns, rows = int(columns / coarser), int(rows / coarser)
    else:
        # A column for each pixel, so that bars end where they do; rows are means of their calls, however few.
        columns = int(np.clip(drum.bend.circumference / pixel, 240, _MOST_COLUMNS))
        rows = int(np.clip(drum.bend.length / pixel, 256, _MOST_POINTS // columns))
    if p.axis == "time":
        edge = timed_rows(found.time, *drum.window, rows)
    else:
        edge = even_rows(drum.low, drum.high, rows)
    count = frequencies(found.pair, found.pairs, p.window)
    weight = contributions(p.power, p.window, len(found))
    by_time = p.color == "time"
    given = np.repeat(ramp[:1], 2, axis=0) if by_time else ramp
    span = spans(picture.hierarchy, picture.sectors, found) * columns
    image = sequence_image(found.pair, count, weight, edge, span, columns, given, tone=tone)
    if by_time:
        at = (np.arange(rows) + 0.5) / rows
        image[..., :3] = ramp[np.rint(at * (len(ramp) - 1)).astype(np.int64), None, :3]
    exponent = 1 - (1 - p.contrast) * p.opening
    if exponent < 1:
        cover = np.rint(255 * (np.arange(256) / 255) ** exponent).astype(np.uint8)
        image[..., 3] = cover[image[..., 3]]
    s = (np.arange(columns) + 0.5) / columns
    image[:, ~_seen(picture, drum, s, p)] = 0
    t = (np.arange(rows) + 0.5) / rows
    point = drum.bend.mantle(np.tile(s, (rows, 1)), np.tile(t[:, None], (1, columns)))
    return Image("sequence", point.astype(np.float32), image, t.astype(np.float32), drum.source)


def _seen(picture: Layout, drum: Drum, s: Floats, p: Parameters) -> NDArray[np.bool_]:
    """Return where along the mantle it is shown: where the camera sees its inner side, or everywhere."""
    if p.mantle == "whole" or drum.bend.unroll > 0.85:
        return np.ones(len(s), np.bool_)
    _, _, normal = drum.bend.section(s)
    basis = np.array([drum.bend.along, drum.bend.inward])
    return np.asarray((normal @ basis) @ np.array(picture.camera.direction) > -0.12)


def around(drum: Drum, t: Floats, inset: float, low: float = 0.0, high: float = 1.0) -> NDArray[np.float32]:
    """Return lines across the mantle at shares of the time, float32 (n, points, 3).

    Parameters
    ----------
    drum : Drum
    t : float64 (n,)
        Shares of the time, 0 to 1.
    inset : float
        How far inside of the mantle, in scene units.
    low, high : float
        Shares of the way around.

    Returns
    -------
    float32 (n, points, 3)
    """
    s = np.linspace(low, high, _AROUND)
    lines = drum.bend.mantle(np.tile(s, (len(t), 1)), np.tile(np.asarray(t)[:, None], (1, _AROUND)), inset)
    return lines.astype(np.float32)


def _lines(
    kind: str, point: NDArray[np.float32], width: float, color: NDArray[np.int32] | int, source: int
) -> Lines:
    n, k = point.shape[:2]
    return Lines(
        kind, point.reshape(-1, 3), np.arange(n + 1, dtype=np.int64) * k, np.full(n, width, np.float32),
        np.broadcast_to(np.asarray(color, np.int32), (n,)).copy(), np.arange(n, dtype=np.int64),
        source=source,
    )  # fmt: skip


def phase_lines(drum: Drum, color: int, hair: float = HAIR) -> Lines:
    """Return a line across the mantle where a phase begins.

    Parameters
    ----------
    drum : Drum
    color : int
        Index into the palette.
    hair : float
        Width of the lines.

    Returns
    -------
    Lines
    """
    t = drum.at(drum.phases.edge[1:-1])
    return _lines("phase border", around(drum, t, 0.02), hair, color, drum.source)


def rims(drum: Drum, color: int, hair: float = HAIR) -> Lines:
    """Return the mantle's edges: where time begins and ends, and, of an opened drum, its seams.

    Parameters
    ----------
    drum : Drum
    color : int
        Index into the palette.
    hair : float
        Width of the lines.

    Returns
    -------
    Lines
    """
    ends = around(drum, np.array([0.0, 1.0]), 0.0)
    if drum.bend.length <= 0:
        return _lines("rim", ends[:0], hair, color, drum.source)
    t = np.linspace(0, 1, _AROUND)
    seams = [drum.bend.mantle(np.full(_AROUND, s), t) for s in (0.0, 1.0)]
    seam = np.stack(seams).astype(np.float32)
    return _lines("rim", np.concatenate([ends, seam]), hair, color, drum.source)


def brackets(drum: Drum, edge: Floats, color: NDArray[np.int32]) -> Lines:
    """Return a frame on the mantle around each marked stretch.

    Parameters
    ----------
    drum : Drum
    edge : float64 (n, 2)
        Start and end, as shares of the time.
    color : int32 (n,)

    Returns
    -------
    Lines
    """
    lines = []
    for start, end in edge.tolist():
        end = max(end, start + 0.002)
        there, back = (around(drum, np.array([t]), 0.05, 0.002, 0.998)[0] for t in (start, end))
        lines.append(np.concatenate([there, back[::-1], there[:1]]))
    points = np.stack(lines) if lines else np.empty((0, 2 * _AROUND + 1, 3), np.float32)
    return _lines("marked stretch", points, 3.5 * HAIR, color, drum.source)


def pins(
    picture: Layout, drum: Drum, rare: list[Rare], path: NDArray[np.float32], color: int, data: Sequence[Any]
) -> Marks:
    """Return a bead for each lone call: where it ends on the mantle, or further back where another one is.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    rare : list of Rare
        The lone calls.
    path : float32 (n, points, 3)
        The way of each call, from caller to callee.
    color : int
        Index into the palette.
    data : sequence of elements
        They hide no bead: each stands before those that are drawn where it is.

    Returns
    -------
    Marks
    """
    found, sectors = drum.found, picture.sectors
    node = picture.hierarchy.node
    s = np.array([sectors.middle[node[found.callee[r.pair]]] for r in rare])
    t = drum.at(np.array([r.first for r in rare], np.int64))
    ends = drum.bend.mantle(s, t, BEAD / 2) if rare else np.empty((0, 3))
    # Another bead may not hide one, nor may tubes.
    towards = np.array(picture.camera.direction) / np.linalg.norm(picture.camera.direction)
    axes = np.stack([picture.right, picture.up], axis=1)
    taken = np.empty((0, 2))
    point = np.empty((len(rare), 3))
    for i in range(len(rare)):
        tried = np.concatenate([ends[i : i + 1], path[i, ::-3].astype(np.float64)])
        seen = tried @ axes
        apart = np.linalg.norm(seen[:, None] - taken[None], axis=2).min(axis=1, initial=np.inf)
        free = np.flatnonzero(apart >= 1.05 * BEAD)
        best = int(free[0]) if len(free) else int(np.argmax(apart))
        point[i], taken = tried[best], np.concatenate([taken, seen[best : best + 1]])
        if not picture.flat:
            near = nearest(tried[best], data, axes, towards) - float(tried[best] @ towards)
            point[i] += max(near + BEAD, 0.0) * towards
    return Marks(
        "lone call", "sphere", point.astype(np.float32), np.full(len(rare), BEAD, np.float32),
        np.full(len(rare), color, np.int32), np.arange(len(rare), dtype=np.int64), source=drum.source,
    )  # fmt: skip


def nearest(point: Floats, data: Sequence[Any], axes: Floats, towards: Floats) -> float:
    """Return how far towards the camera the tubes reach that are drawn at a bead; -inf if there are none.

    Parameters
    ----------
    point : float64 (3,)
        The bead's middle.
    data : sequence of elements
    axes : float64 (3, 2)
        To the right and up in the picture.
    towards : float64 (3,)
        From what is seen to the camera, of length 1.

    Returns
    -------
    float
        Scene units along ``towards``.
    """
    reach = -np.inf
    for tube in (element for element in data if isinstance(element, Tubes)):
        near = (np.abs((tube.point - point) @ axes) < BEAD).all(axis=1)
        reach = max(reach, float((tube.point[near] @ towards).max(initial=-np.inf)))
    return reach
