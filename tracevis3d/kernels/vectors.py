"""Vectors of three numbers, for kernels: LLVM inlines all of these."""

from __future__ import annotations

import math

import numpy as np

from .jit import inline

_F0, _F1 = np.float32(0.0), np.float32(1.0)
_TINY = np.float32(1e-20)


@inline
def dot(ax, ay, az, bx, by, bz):  # type: ignore[no-untyped-def]
    """Return the scalar product.

    Parameters
    ----------
    ax, ay, az, bx, by, bz : float32

    Returns
    -------
    float32
    """
    return ax * bx + ay * by + az * bz


@inline
def cross(ax, ay, az, bx, by, bz):  # type: ignore[no-untyped-def]
    """Return the vector product.

    Parameters
    ----------
    ax, ay, az, bx, by, bz : float32

    Returns
    -------
    x, y, z : float32
    """
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inline
def unit(x, y, z):  # type: ignore[no-untyped-def]
    """Return the vector at length 1, and its length; unchanged, with 0, if it has none.

    Parameters
    ----------
    x, y, z : float32

    Returns
    -------
    x, y, z, length : float32
    """
    c = x * x + y * y + z * z
    if c <= _TINY:
        return x, y, z, _F0
    n = np.float32(math.sqrt(c))
    f = _F1 / n
    return x * f, y * f, z * f, n


@inline
def across(x, y, z, ux, uy, uz):  # type: ignore[no-untyped-def]
    """Return what of the vector is at right angles to the unit vector ``u``.

    Parameters
    ----------
    x, y, z : float32
    ux, uy, uz : float32
        The unit vector.

    Returns
    -------
    x, y, z : float32
    """
    d = x * ux + y * uy + z * uz
    return x - d * ux, y - d * uy, z - d * uz


@inline
def step(points, i, j):  # type: ignore[no-untyped-def]
    """Return the way from row ``i`` of ``points`` to row ``j``.

    Parameters
    ----------
    points : float32 (n, 3)
    i, j : int

    Returns
    -------
    x, y, z : float32
    """
    return points[j, 0] - points[i, 0], points[j, 1] - points[i, 1], points[j, 2] - points[i, 2]
