"""The surfaces of a view's objects as one, for measuring what of them can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...layout.sight.affine import transformed
from ...layout.sight.visible import Surfaces
from .element_metadata import PickableMesh
from .highlight import outline

#: Maximum number of elements of an object that hide others, the widest first: the rest is too small.
MOST = 60_000

Ints = NDArray[np.int64]


def surfaces_of(
    shown: Sequence[tuple[PickableMesh, ArrayLike, Ints]],
    lowest: ArrayLike = (-np.inf, -np.inf, -np.inf),
    highest: ArrayLike = (np.inf, np.inf, np.inf),
) -> Surfaces:
    """Return the surfaces of objects' elements.

    Parameters
    ----------
    shown : sequence of (PickableMesh, float (4, 4), int64 (n,))
        What an object shows, its matrix, and which of its elements are highlighted.
    lowest, highest : float (3,)
        What lies wholly beyond these coordinates of the scene is cut away, and hides nothing.

    Returns
    -------
    Surfaces
    """
    parts: list[tuple[Any, Any, bool]] = []
    for mesh, matrix, lit in shown:
        if not len(mesh) or mesh.word not in ("Boxes", "Marks", "Tubes", "Lines", "Wedges"):
            continue
        others = mesh.widest(MOST) if mesh.word in ("Boxes", "Marks") else np.arange(len(mesh))
        others = np.setdiff1d(others, lit)
        for elements, is_lit in ((others, False), (np.asarray(lit, np.int64), True)):
            kept = elements[_within(mesh, matrix, elements, lowest, highest)]
            if len(kept):
                made = outline(mesh, kept)
                parts.append((transformed(matrix, made.point), made.triangle, is_lit))
    return Surfaces.joined(parts)


def _within(
    mesh: PickableMesh, matrix: ArrayLike, elements: Ints, lowest: ArrayLike, highest: ArrayLike
) -> NDArray[np.bool_]:
    """Return which elements reach into a box of the scene."""
    if not (np.isfinite(lowest).any() or np.isfinite(highest).any()) or mesh.word not in ("Boxes", "Marks"):
        return np.ones(len(elements), np.bool_)
    ends = [transformed(matrix, end) for end in mesh.bounds(elements)]
    low, high = np.minimum(*ends), np.maximum(*ends)
    return np.asarray(((high >= lowest) & (low <= highest)).all(axis=1))
