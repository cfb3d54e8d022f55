"""Magnifying a part of a 3D view, as a lens over it does."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .affine import Floats


def magnification(x: float, y: float, side: float, times: float, width: int, height: int) -> Floats:
    """Return what magnifies the surroundings of a pixel to a square picture with that pixel in its middle.

    Parameters
    ----------
    x, y : float
        Pixels from the region's lower left corner.
    side : float
        Of the picture, in pixels.
    times : float
        How many pixels of the picture a pixel of the region becomes, along each side.
    width, height : int
        Of the region, in pixels.

    Returns
    -------
    float64 (4, 4)
        From clip space of the region to clip space of the picture: it goes before a projection's matrix.

    Examples
    --------
    >>> magnification(400, 300, 200, 4.0, 800, 600)[:2, (0, 1, 3)].tolist()
    [[16.0, 0.0, 0.0], [0.0, 12.0, 0.0]]
    """
    scale = np.array([width, height]) * times / side
    middle = 2 * np.array([x / width, y / height]) - 1
    matrix = np.diag([*scale, 1.0, 1.0])
    matrix[:2, 3] = -scale * middle + 0.0
    return matrix


def behind(pixels: ArrayLike, x: float, y: float, side: float, times: float) -> Floats:
    """Return which pixels of the region the pixels of a magnified picture show.

    Parameters
    ----------
    pixels : float (n, 2)
        From the picture's lower left corner.
    x, y, side, times : float
        As for :func:`magnification`.

    Returns
    -------
    float64 (n, 2)

    Examples
    --------
    >>> behind([[100.0, 100.0], [140.0, 100.0]], 400, 300, 200, 4.0).tolist()
    [[400.0, 300.0], [410.0, 300.0]]
    """
    return np.asarray(np.array([x, y]) + (np.asarray(pixels, np.float64) - side / 2) / times)
