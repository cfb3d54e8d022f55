"""Tubes and lines between two walls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Lines, Look, Tubes
from ....kernels.layout.bundle import fold_tubes
from ....layout.buffers import Buffers
from ....layout.bundle import bundle
from .geometry.control_tree import ControlTree, control_tree
from .layout import Layout, Wall
from .matches import Chosen, Grouping

if TYPE_CHECKING:
    from .parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Minimum width of tubes in pixels, so that all are visible.
_LEAST_PX = 1.3
#: Width of a line in pixels.
_LINE_PX = 1.1
#: Tubes up to this width in scene units turn with their path; wider ones keep their width along time.
_ROUND = 0.12
#: The thickest tube, in scene units: thicker ones would come out below the walls.
_THICKEST = 0.18
#: How far tubes of neighbouring depths lie above each other where the walls are flat, in scene units.
_LAYER = 0.008


#: Room for routes in the plane, which are needed only until they are carried into space.
_buffers = Buffers()


def control(picture: Layout, chosen: Chosen, grouping: Grouping, p: Parameters) -> ControlTree:
    """Return the control trees of the groups in the plane of the two icicles: x, and v across.

    Parameters
    ----------
    picture : Layout
    chosen : Chosen
        The matches that are drawn.
    grouping : Grouping
        Their groups.
    p : Parameters
        ``resolution`` says what is too narrow.

    Returns
    -------
    ControlTree
    """
    floor = p.resolution / picture.pixels_per_unit

    def place(wall: Wall) -> Any:
        def at(ids: Ints) -> tuple[Floats, Floats, NDArray[np.bool_]]:
            x, width, h = wall.spots(ids)
            return x, wall.fold.across(h), width > floor

        return at

    a, b = picture.walls
    bundling: Any = p.bundling
    return control_tree(
        (a.trace.calls.parent, b.trace.calls.parent), (place(a), place(b)), grouping.of,
        (chosen.a, chosen.b), (grouping.a, grouping.b), picture.band, bundling,
    )  # fmt: skip


def tubes(
    picture: Layout,
    chosen: Chosen,
    tree: ControlTree,
    color: NDArray[np.int32],
    ghost: NDArray[np.bool_],
    gloss: NDArray[np.float32],
    moved: Floats,
    p: Parameters,
) -> list[Tubes | Lines]:
    """Return the tubes and lines of matches, in space.

    Parameters
    ----------
    picture : Layout
    chosen : Chosen
        The most important first: they become tubes.
    tree : ControlTree
    color : int32 (m,)
    ghost : bool (m,)
        Drawn as context.
    gloss : float32 (m,)
        How bright the crest of each is; from 1 on it reflects light.
    moved : float64 (m,)
        Share of the greatest lift.
    p : Parameters

    Returns
    -------
    list of Tubes or Lines
    """
    m = len(chosen)
    least = _LEAST_PX / picture.pixels_per_unit
    ends = np.empty((m, 4), np.float32)
    width, height = (np.empty((m, 2), np.float32) for _ in range(2))
    deepest = max(int(w.trace.calls.depth[w.drawn].max(initial=1)) for w in picture.walls)
    for s, (wall, ids) in enumerate(zip(picture.walls, (chosen.a, chosen.b))):
        _, wide, h = wall.spots(ids)
        # A tube is never thicker than wide, and less where it starts between two levels.
        thick = np.minimum(p.thickness * wall.extent(ids), 0.6 * wide)
        thick = np.clip(thick, least, max(_THICKEST, least))
        y, z = wall.fold.inside(h)
        flat = math.cos(wall.fold.rise)
        z = z - flat * (thick / 2 + _LAYER * (deepest + 1 - wall.trace.calls.depth[ids]))
        ends[:, 2 * s], ends[:, 2 * s + 1] = y, z
        width[:, s], height[:, s] = np.maximum(wide, least), thick
    # What becomes one element is swept in one piece, so that no points need to be copied.
    is_line = np.arange(m) >= p.tubes
    is_round = width.max(axis=1, initial=0.0) <= _ROUND
    piece = np.where(is_line, 4, 2 * ((gloss >= 1) & ~ghost) + is_round) + 5 * ghost
    order = np.argsort(piece, kind="stable")
    routes = bundle(
        tree.parent, tree.point, tree.source[order], tree.target[order],
        beta=p.beta, drop_common=not p.common, buffers=_buffers,
        # Tubes that keep the order never go back in time, so bundles of neighbours don't cross.
        steady=moved[order] == 0 if p.bundling == "modified" else None,
    )  # fmt: skip
    point = np.empty((len(routes.point), 3), np.float32)
    radius = np.empty((len(routes.point), 2), np.float32)
    fold_tubes(
        routes.first, routes.point, ends[order], width[order], height[order], np.zeros(m, np.float32),
        np.float32(p.thin), np.float32(least / 2), point, radius,
    )  # fmt: skip
    _rise(point, routes.first, p.lift * picture.gap * moved[order], picture.gap)
    made: list[Tubes | Lines] = []
    stops = np.searchsorted(piece[order], np.arange(11))
    for kind, (low, high) in enumerate(zip(stops[:-1].tolist(), stops[1:].tolist())):
        if low == high:
            continue
        which = order[low:high]
        inside = slice(int(routes.first[low]), int(routes.first[high]))
        first = routes.first[low : high + 1] - routes.first[low]
        look: Look = "ghost" if kind >= 5 else "gloss" if kind in (2, 3) else "solid"
        if kind % 5 == 4:
            line = np.full(len(which), _LINE_PX / picture.pixels_per_unit, np.float32)
            made.append(Lines("line", point[inside], first, line, color[which], which, look=look))
        else:
            level = kind % 5 % 2 == 0
            bright = gloss[which] if level and gloss[which].any() else np.empty(0, np.float32)
            made.append(
                Tubes(
                    "tube", point[inside], radius[inside], first, color[which], which, level=level, look=look,
                    gloss=bright,
                )
            )  # fmt: skip
    return made


def _rise(point: NDArray[np.float32], first: Ints, lift: Floats, gap: float) -> None:
    """Lift tubes in the middle of the gap: over a wall they would hide its names."""
    if not lift.any():
        return
    over = np.clip(0.5 - point[:, 1] / gap, 0.0, 1.0)
    point[:, 2] += 4.0 * np.repeat(lift.astype(np.float32), np.diff(first)) * over * (1.0 - over)


def middles(elements: list[Tubes | Lines], m: int) -> NDArray[np.float32]:
    """Return the middle point of each of ``m`` matches, float32 (m, 3); NaN for one that isn't drawn.

    Parameters
    ----------
    elements : list of Tubes or Lines
        Those of the matches.
    m : int
        How many matches there are.

    Returns
    -------
    float32 (m, 3)
    """
    out = np.full((m, 3), np.nan, np.float32)
    for element in elements:
        out[element.id] = element.point[(element.first[:-1] + element.first[1:]) // 2]
    return out
