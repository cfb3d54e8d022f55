"""The surfaces of a view's objects as one, for measuring what of them can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...layout.sight.affine import transformed
from ...layout.sight.view_projection import ViewProjection
from ...layout.sight.visible import Surfaces, beyond, visible_share
from .element_metadata import PickableMesh
from .highlight import outline

#: Maximum number of elements of an object that hide others, the widest first: the rest is too small.
MOST = 60_000

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Kinds of primitives that have surfaces.
_DRAWN = frozenset({"Boxes", "Marks", "Tubes", "Lines", "Wedges"})


def surfaces_of(
    shown: Sequence[tuple[PickableMesh, ArrayLike, Ints]],
    lowest: ArrayLike = (-np.inf, -np.inf, -np.inf),
    highest: ArrayLike = (np.inf, np.inf, np.inf),
    planes: Floats | None = None,
    *,
    coarse: bool = False,
) -> Surfaces:
    """Return the surfaces of objects' elements.

    Parameters
    ----------
    shown : sequence of (PickableMesh, float (4, 4), int64 (n,))
        What an object shows, its matrix, and which of its elements are highlighted.
    lowest, highest : float (3,)
        What lies wholly beyond these coordinates of the scene is cut away, and hides nothing.
    planes : float64 (k, 4), optional
        Boxes and marks that are not highlighted, and lie wholly beyond one of them, are left out: see
        :func:`....layout.sight.visible.beyond`.
    coarse : bool
        Whether tubes have few faces: for many small pictures.

    Returns
    -------
    Surfaces
    """
    drawn = [part for part in shown if len(part[0]) and part[0].word in _DRAWN]
    parts = [
        _part(mesh, matrix, elements, is_lit, lowest, highest, None if is_lit else planes, coarse)
        for mesh, matrix, lit in drawn
        for elements, is_lit in ((_others(mesh, lit), False), (np.asarray(lit, np.int64), True))
    ]
    return Surfaces.joined(parts)


def _others(mesh: PickableMesh, lit: Ints) -> Ints:
    """Return the elements that hide others, without those that are lit."""
    others = mesh.widest(MOST) if mesh.word in ("Boxes", "Marks") else np.arange(len(mesh))
    is_lit = np.zeros(len(mesh), np.bool_)
    is_lit[lit] = True
    return np.asarray(others[~is_lit[others]], np.int64)


def _part(
    mesh: PickableMesh,
    matrix: ArrayLike,
    elements: Ints,
    is_lit: bool,
    lowest: ArrayLike,
    highest: ArrayLike,
    planes: Floats | None = None,
    coarse: bool = False,
) -> tuple[Any, Any, bool]:
    """Return points, triangles, and whether they are lit, of those elements that are not cut away."""
    kept = elements[_within(mesh, matrix, elements, lowest, highest)]
    if planes is not None and mesh.word in ("Boxes", "Marks"):
        kept = kept[~_beyond(mesh, matrix, kept, planes)]
    if not len(kept):
        return np.empty((0, 3)), np.empty((0, 3), np.int32), is_lit
    made = outline(mesh, kept, coarse=coarse)
    return transformed(matrix, made.point), made.triangle, is_lit


def share_in_sight(
    shown: Sequence[tuple[PickableMesh, ArrayLike, Ints]],
    view: ViewProjection,
    lowest: ArrayLike = (-np.inf, -np.inf, -np.inf),
    highest: ArrayLike = (np.inf, np.inf, np.inf),
) -> float | None:
    """Return the share of what is highlighted that can be seen; only what may hide it is looked at.

    Parameters
    ----------
    shown : sequence of (PickableMesh, float (4, 4), int64 (n,))
    view : ViewProjection
    lowest, highest : float (3,)
        As for :func:`surfaces_of`.

    Returns
    -------
    float or None
        None if nothing that is highlighted is in the picture.
    """
    alone = [
        _part(mesh, matrix, np.asarray(lit, np.int64), True, lowest, highest)
        for mesh, matrix, lit in shown
        if len(lit) and mesh.word in _DRAWN
    ]
    planes = beyond(Surfaces.joined(alone), view)
    if planes is None:
        return None
    return visible_share(surfaces_of(shown, lowest, highest, planes), view)


def _beyond(mesh: PickableMesh, matrix: ArrayLike, elements: Ints, planes: Floats) -> NDArray[np.bool_]:
    """Return which elements lie wholly beyond one of some planes of the scene."""
    low, high = mesh.bounds(elements)
    # In the object's own coordinates a plane's nearest corner is found by the signs of its normal.
    own = planes @ np.asarray(matrix, np.float64)
    middle, half = (low + high) / 2, (high - low) / 2
    least = middle @ own[:, :3].T + own[:, 3] - half @ np.abs(own[:, :3]).T
    return np.asarray((least > 0).any(axis=1))


def _within(
    mesh: PickableMesh, matrix: ArrayLike, elements: Ints, lowest: ArrayLike, highest: ArrayLike
) -> NDArray[np.bool_]:
    """Return which elements reach into a box of the scene."""
    if not (np.isfinite(lowest).any() or np.isfinite(highest).any()) or mesh.word not in ("Boxes", "Marks"):
        return np.ones(len(elements), np.bool_)
    ends = [transformed(matrix, end) for end in mesh.bounds(elements)]
    low, high = np.minimum(*ends), np.maximum(*ends)
    return np.asarray(((high >= lowest) & (low <= highest)).all(axis=1))
