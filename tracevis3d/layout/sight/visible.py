"""How much of what is lit can be seen, and from where most of it is: drawn off screen, by object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...kernels.layout.visible import draw_triangles
from .affine import Box, Floats
from .framing import Lens, Region, framed
from .view_projection import ViewProjection

#: Pixels across of what is drawn off screen; the directions that are tried have fewer.
ACROSS, _TRIED_ACROSS = 480, 192
#: Directions that are tried.
_TRIED = 36
#: A view from this near above or below is hard to read.
_STEEPEST = 0.93


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Triangles in the scene's coordinates, and which of them are lit.

    Attributes
    ----------
    point : float64 (v, 3)
    triangle : int32 (t, 3)
    lit : bool (t,)
    """

    point: Floats
    triangle: NDArray[np.int32]
    lit: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[tuple[ArrayLike, ArrayLike, bool]]) -> Surfaces:
        """Return all parts as one: points (v, 3), triangles (t, 3), and whether they are lit.

        Parameters
        ----------
        parts : sequence of (float (v, 3), int (t, 3), bool)

        Returns
        -------
        Surfaces
        """
        points = [np.empty((0, 3)), *(np.asarray(p, np.float64).reshape(-1, 3) for p, _, _ in parts)]
        triangles = [np.empty((0, 3), np.int32)]
        triangles += [np.asarray(t, np.int32).reshape(-1, 3) for _, t, _ in parts]
        base = np.cumsum([0, *map(len, points)])
        moved = [t + np.int32(b) for t, b in zip(triangles, base, strict=False)]
        lit = np.repeat([False, *(is_lit for _, _, is_lit in parts)], [len(t) for t in triangles])
        return cls(np.concatenate(points), np.concatenate(moved), lit)


def visible_share(surfaces: Surfaces, view: ViewProjection) -> float | None:
    """Return the share of what is lit that can be seen: of its pixels, those in which it is in front.

    Parameters
    ----------
    surfaces : Surfaces
    view : ViewProjection
        Its height follows from its width: what is drawn is :data:`ACROSS` pixels wide.

    Returns
    -------
    float or None
        None if nothing that is lit is in the picture.
    """
    height = max(round(ACROSS * view.height / max(view.width, 1)), 1)
    seen, there = _seen(surfaces, ViewProjection(view.matrix, ACROSS, height))
    return seen / there if there else None


def _seen(surfaces: Surfaces, view: ViewProjection) -> tuple[int, int]:
    """Return in how many pixels something lit is in front, and in how many it would be alone."""
    pixel, depth = view.project(surfaces.point)
    at = np.column_stack([pixel, depth]).astype(np.float32).reshape(-1)
    lit = surfaces.lit
    alone = _drawn(at, surfaces.triangle[lit], np.ones(int(lit.sum()), np.int32), view)
    # Lit triangles come last: what lies on a surface is lit with it.
    order = np.argsort(lit, kind="stable")
    both = _drawn(at, surfaces.triangle[order], lit[order].astype(np.int32), view)
    return int(np.count_nonzero(both == 1)), int(np.count_nonzero(alone == 1))


def _drawn(
    at: NDArray[np.float32], triangle: NDArray[np.int32], owner: NDArray[np.int32], view: ViewProjection
) -> NDArray[np.int32]:
    size = view.width * view.height
    depth, front = np.full(size, np.inf, np.float32), np.full(size, -1, np.int32)
    flat = np.ascontiguousarray(triangle.reshape(-1))
    draw_triangles(at, flat, owner, np.int64(view.width), np.int64(view.height), depth, front)
    return front


def directions(count: int = _TRIED) -> Floats:
    """Return unit vectors from the subject to the eye: evenly spread, none from straight above.

    Parameters
    ----------
    count : int
        Of a whole sphere; those from below the ground, and the steepest, are left out.

    Returns
    -------
    float64 (n, 3)
    """
    i = np.arange(2 * count)
    z = 1 - (2 * i + 1) / (2 * count)
    turn = i * np.pi * (3 - np.sqrt(5.0))
    flat = np.sqrt(1 - z * z)
    found = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)
    return np.asarray(found[(z > -0.05) & (z < _STEEPEST)])


def axes_from(direction: ArrayLike) -> Floats:
    """Return right, up and forward, float64 (3, 3), of a level view from a direction, float (3,)."""
    back = np.asarray(direction, np.float64)
    back = back / np.linalg.norm(back)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), -back])


def best_direction(
    surfaces: Surfaces, box: Box, lens: Lens, region: Region, now: ArrayLike
) -> tuple[Floats, float]:
    """Return from where most of what is lit is seen, and its share.

    Parameters
    ----------
    surfaces : Surfaces
    box : (float64 (3,), float64 (3,))
        Around what is lit: it fills each picture that is tried.
    lens : Lens
    region : Region
    now : float (3, 3)
        Right, up and forward of the present view, which wins where no other one shows more.

    Returns
    -------
    (float64 (3, 3), float)
        Right, up and forward, and the share of the lit pixels that are in front, weighted by how large they
        are: a view along a surface shows all of it, and little.
    """
    best, most, share = np.asarray(now, np.float64), -1.0, 0.0
    for axes in _candidates(now):
        seen, there = _seen(surfaces, _view_of(axes, box, lens, region))
        # As many pixels as possible, and as little hidden as possible.
        worth = seen * seen / there if there else 0.0
        if worth > 1.05 * most:
            best, most, share = axes, worth, seen / there if there else 0.0
    return best, share


def _candidates(now: ArrayLike) -> Iterator[Floats]:
    yield np.asarray(now, np.float64)
    for direction in directions():
        yield axes_from(direction)


def _view_of(axes: Floats, box: Box, lens: Lens, region: Region) -> ViewProjection:
    """Return the projection of a view in which a box fills the region."""
    location, distance = framed(box, axes, lens, region)
    right, up, forward = axes
    turn = np.stack([right, up, -forward])
    matrix = np.eye(4)
    matrix[:3, :3] = turn
    matrix[:3, 3] = -turn @ (np.asarray(location) - distance * forward)
    height = max(round(_TRIED_ACROSS * region.height / max(region.width, 1)), 1)
    window = lens.window.copy()
    if not lens.perspective:
        # How much is seen goes with the distance, in Blender.
        window[:2] *= lens.distance / max(distance, 1e-12)
    return ViewProjection(window @ matrix, _TRIED_ACROSS, height)
