"""Tubes and lines between two walls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.words import Lines, Look, Tubes
from ..layout.bundle import Routes, bundle
from ..layout.control_tree import ControlTree, control_tree
from .compare_composition import Composition, Wall
from .compare_matches import Chosen, Grouping

if TYPE_CHECKING:
    from .compare import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Tubes are at least so many pixels wide: all of them can be seen.
_LEAST_PX = 1.3
#: Width of a line in pixels.
_LINE_PX = 1.1
#: Tubes up to this width in scene units turn with their path; wider ones keep their width along time.
_ROUND = 0.12
#: The thickest tube, in scene units: thicker ones would come out below the walls.
_THICKEST = 0.18
#: How far tubes of neighbouring depths lie above each other where the walls are flat, in scene units.
_LAYER = 0.008


def route(
    picture: Composition, chosen: Chosen, grouping: Grouping, p: Parameters
) -> tuple[ControlTree, Routes]:
    """Bundle the matches in the plane of the two icicles: x, and v across."""
    floor = p.resolution / picture.pixels_per_unit

    def place(wall: Wall) -> Any:
        def at(ids: Ints) -> tuple[Floats, Floats, NDArray[np.bool_]]:
            x, width, h = wall.spots(ids)
            return x, wall.fold.across(h), width > floor

        return at

    a, b = picture.walls
    bundling: Any = p.bundling
    tree = control_tree(
        (a.trace.calls.parent, b.trace.calls.parent), (place(a), place(b)), grouping.of,
        (chosen.a, chosen.b), (grouping.a, grouping.b), picture.band, bundling,
    )  # fmt: skip
    routes = bundle(tree.parent, tree.point, tree.source, tree.target, beta=p.beta, drop_common=not p.common)
    return tree, routes


def tubes(
    picture: Composition,
    chosen: Chosen,
    routes: Routes,
    color: NDArray[np.int32],
    ghost: NDArray[np.bool_],
    moved: Floats,
    p: Parameters,
) -> list[Tubes | Lines]:
    """Return the tubes and lines of matches, in space.

    Parameters
    ----------
    picture : Composition
    chosen : Chosen
        The most important first: they become tubes.
    routes : Routes
        Of all.
    color : int32 (m,)
    ghost : bool (m,)
        Drawn as context.
    moved : float64 (m,)
        Share of the greatest lift.
    p : Parameters
    """
    from ..kernels.bundle import fold_tubes

    m = len(chosen)
    least = _LEAST_PX / picture.pixels_per_unit
    ends, width, height = (
        np.empty((m, 4), np.float32),
        np.empty((m, 2), np.float32),
        np.empty((m, 2), np.float32),
    )
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
    lift = (p.lift * picture.gap * moved).astype(np.float32)
    point = np.empty((len(routes.point), 3), np.float32)
    radius = np.empty((len(routes.point), 2), np.float32)
    fold_tubes(routes.first, routes.point, ends, width, height, lift, np.float32(p.thin), point, radius)
    number = np.arange(m)
    is_tube = number < p.tubes
    round_ = width.max(axis=1, initial=0.0) <= _ROUND
    made: list[Tubes | Lines] = []
    for context in (False, True):
        look: Look = "ghost" if context else "solid"
        for level in (True, False):
            which = np.flatnonzero(is_tube & (ghost == context) & (round_ != level))
            if len(which):
                first, inside = _slices(routes.first, which)
                made.append(
                    Tubes(
                        "tube",
                        point[inside],
                        np.maximum(radius[inside], least / 2),
                        first,
                        color[which],
                        which,
                        look=look,
                        level=level,
                    )
                )
        which = np.flatnonzero(~is_tube & (ghost == context))
        if len(which):
            first, inside = _slices(routes.first, which)
            made.append(
                Lines(
                    "line",
                    point[inside],
                    first,
                    np.full(len(which), _LINE_PX / picture.pixels_per_unit, np.float32),
                    color[which],
                    which,
                    look=look,
                )
            )
    return made


def middles(elements: list[Tubes | Lines], m: int) -> NDArray[np.float32]:
    """Return the middle point of each of ``m`` matches, float32 (m, 3); NaN for one that isn't drawn."""
    out = np.full((m, 3), np.nan, np.float32)
    for element in elements:
        out[element.id] = element.point[(element.first[:-1] + element.first[1:]) // 2]
    return out


def _slices(first: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Return the starts and the places of the samples of some routes, one after another."""
    if len(which) == len(first) - 1:
        return first, np.arange(int(first[-1]))
    count = np.diff(first)[which]
    starts = np.concatenate([[0], np.cumsum(count)])
    inside = np.arange(int(starts[-1])) + np.repeat(first[which] - starts[:-1], count)
    return starts, inside
