"""The elements of a view as coloured boxes in the scene, for the map."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...layout.sight.affine import Floats
from .element_metadata import PickableMesh

#: Colour of elements without one.
_GREY = (0.6, 0.62, 0.65, 1.0)


def plan_of(
    pickable: PickableMesh, matrix: ArrayLike, palette: NDArray[np.float32], most: int
) -> tuple[Floats, Floats, NDArray[np.float32]]:
    """Return the boxes around an object's elements in the scene, those behind first, and their colours.

    Parameters
    ----------
    pickable : PickableMesh
        Of boxes, bent blocks or signs.
    matrix : float (4, 4)
        The object's.
    palette : float32 (k, 4)
        sRGB.
    most : int
        Of more elements the widest.

    Returns
    -------
    low, high : float64 (n, 3)
    color : float32 (n, 4)
    """
    which = pickable.widest(most)
    low, high = pickable.bounds(which)
    own = np.asarray(matrix, np.float64)
    middle = (low + high) / 2 @ own[:3, :3].T + own[:3, 3]
    half = (high - low) / 2 @ np.abs(own[:3, :3]).T
    color = np.tile(np.array(_GREY, np.float32), (len(which), 1))
    if len(pickable.color) and len(palette):
        color = np.asarray(palette, np.float32)[np.clip(pickable.color[which], 0, len(palette) - 1)]
    # What has a greater y is farther from the reader.
    order = np.argsort(-middle[:, 1], kind="stable")
    return (middle - half)[order], (middle + half)[order], color[order]
