"""Points and boxes taken from an object's coordinates to the scene's."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
#: A box: its lowest and its highest coordinates, float64 (3,) each.
Box = tuple[Floats, Floats]
#: From the origin to (1, 1, 1).
UNIT_BOX: Box = (np.zeros(3), np.ones(3))


def transformed(matrix: ArrayLike, points: ArrayLike) -> Floats:
    """Return points in the coordinates that an affine matrix leads to.

    Parameters
    ----------
    matrix : float (4, 4)
        For columns: ``matrix @ point``.
    points : float (..., 3)

    Returns
    -------
    float64 (..., 3)

    Examples
    --------
    >>> transformed([[2, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [3.0, 4.0, 5.0]).tolist()
    [7.0, 4.0, 5.0]
    """
    own = np.asarray(matrix, np.float64)
    return np.asarray(np.asarray(points, np.float64) @ own[:3, :3].T + own[:3, 3])


def inverse_transformed(matrix: ArrayLike, points: ArrayLike) -> Floats:
    """Return the points that :func:`transformed` takes to ``points``.

    Parameters
    ----------
    matrix : float (4, 4)
        Must not be flat.
    points : float (..., 3)

    Returns
    -------
    float64 (..., 3)

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is flat.

    Examples
    --------
    >>> inverse_transformed(np.diag([2.0, 4.0, 1.0, 1.0]), [6.0, 4.0, 5.0]).tolist()
    [3.0, 1.0, 5.0]
    """
    return transformed(np.linalg.inv(np.asarray(matrix, np.float64)), points)


def corners(low: ArrayLike, high: ArrayLike) -> Floats:
    """Return the eight corners, float64 (8, 3), of the box from ``low`` to ``high``, float (3,) each.

    Parameters
    ----------
    low, high : float (3,)
        The corners with the smallest and the largest coordinates.

    Returns
    -------
    float64 (8, 3)
        x varies slowest, z fastest.

    Examples
    --------
    >>> corners([0, 0, 0], [1, 2, 3])[:3].tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]]
    """
    return np.array(list(product(*zip(np.asarray(low).tolist(), np.asarray(high).tolist()))), np.float64)


def transformed_box(matrix: ArrayLike, low: ArrayLike, high: ArrayLike) -> Box:
    """Return the box around some boxes, in the coordinates that an affine matrix leads to.

    Parameters
    ----------
    matrix : float (4, 4)
    low, high : float (n, 3)
        At least one box.

    Returns
    -------
    low, high : float64 (3,)

    Examples
    --------
    >>> matrix = np.diag([2.0, 1.0, 1.0, 1.0])
    >>> low, high = transformed_box(matrix, [[0, 0, 0], [1, 1, 1]], [[1, 1, 1], [3, 2, 2]])
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0, 0.0], [6.0, 2.0, 2.0])
    """
    own = transformed(matrix, corners(np.min(low, axis=0), np.max(high, axis=0)))
    return own.min(axis=0), own.max(axis=0)


def box_about(point: ArrayLike, reach: float, moved: ArrayLike = (0.0, 0.0, 0.0)) -> Box:
    """Return the box with a point in its middle.

    Parameters
    ----------
    point : float (3,)
    reach : float
        From the middle to each side.
    moved : float (3,)
        What the point is moved by.

    Returns
    -------
    (float64 (3,), float64 (3,))

    Examples
    --------
    >>> [side.tolist() for side in box_about((1, 2, 3), 0.5, (10, 0, 0))]
    [[10.5, 1.5, 2.5], [11.5, 2.5, 3.5]]
    """
    middle = np.asarray(point, np.float64) + np.asarray(moved, np.float64)
    return middle - reach, middle + reach


def box_around(boxes: Iterable[Box]) -> Box | None:
    """Return the box around boxes; None if there are none.

    Parameters
    ----------
    boxes : iterable of (float64 (3,), float64 (3,))
        Each as its corners with the smallest and the largest coordinates.

    Returns
    -------
    (float64 (3,), float64 (3,)) or None
        Its two corners.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = box_around([(np.zeros(3), np.ones(3)), (np.full(3, 4.0), np.full(3, 5.0))])
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0, 0.0], [5.0, 5.0, 5.0])
    """
    each = list(boxes)
    if not each:
        return None
    return np.min([low for low, _ in each], axis=0), np.max([high for _, high in each], axis=0)


def diagonal(box: Box) -> float:
    """Return the distance between opposite corners of a box.

    Parameters
    ----------
    box : (float64 (3,), float64 (3,))
        Its lowest and its highest coordinates.

    Returns
    -------
    float

    Examples
    --------
    >>> diagonal((np.zeros(3), np.array([2.0, 3.0, 6.0])))
    7.0
    """
    return float(np.linalg.norm(box[1] - box[0]))


def middle(box: Box) -> Floats:
    """Return the middle of a box, float64 (3,).

    Parameters
    ----------
    box : (float64 (3,), float64 (3,))
        Its lowest and its highest coordinates.

    Returns
    -------
    float64 (3,)

    Examples
    --------
    >>> middle(UNIT_BOX).tolist()
    [0.5, 0.5, 0.5]
    """
    return np.asarray((box[0] + box[1]) / 2)
