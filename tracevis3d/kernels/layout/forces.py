"""Forces between things on a plane: those that belong together attract each other, all push others away."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel


@kernel
def repel(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    cell: NDArray[np.int64],
    order: NDArray[np.int64],
    first: NDArray[np.int64],
    across: int,
    spring: float,
    force: NDArray[np.float64],
) -> None:
    """Add the force with which things within two spring lengths push each other away: spring² / distance.

    Parameters
    ----------
    x, y : float64 (n,)
        Places.
    cell : int64 (n,)
        The square with sides of two spring lengths that each lies in: row times ``across``, plus column.
    order : int64 (n,)
        Things ordered by their square.
    first : int64 (squares + 1,)
        Where each square begins in ``order``.
    across : int
        Squares in a row.
    spring : float
        The distance at which two joined things rest.
    force : float64 (n, 2)
        Added to.
    """
    squares, reach = len(first) - 1, 4.0 * spring * spring
    for i in range(len(x)):
        column = cell[i] % across
        fx, fy = 0.0, 0.0
        for step in range(9):
            aside = column + step % 3 - 1
            near = cell[i] + step % 3 - 1 + (step // 3 - 1) * across
            if aside < 0 or aside >= across or near < 0 or near >= squares:
                continue
            for k in range(first[near], first[near + 1]):
                j = order[k]
                dx, dy = x[i] - x[j], y[i] - y[j]
                far = dx * dx + dy * dy
                if j != i and 0.0 < far < reach:
                    fx += dx * spring * spring / far
                    fy += dy * spring * spring / far
        force[i, 0] += fx
        force[i, 1] += fy


@kernel
def attract(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[np.float64],
    spring: float,
    force: NDArray[np.float64],
) -> None:
    """Add the force with which joined things attract each other: weight times distance² / spring.

    Parameters
    ----------
    x, y : float64 (n,)
    source, target : int64 (pairs,)
    weight : float64 (pairs,)
    spring : float
    force : float64 (n, 2)
        Added to.
    """
    for k in range(len(source)):
        i, j = source[k], target[k]
        dx, dy = x[i] - x[j], y[i] - y[j]
        pull = weight[k] * math.sqrt(dx * dx + dy * dy) / spring
        force[i, 0] -= pull * dx
        force[i, 1] -= pull * dy
        force[j, 0] += pull * dx
        force[j, 1] += pull * dy


@kernel
def push_apart(x: NDArray[np.float64], y: NDArray[np.float64], side: NDArray[np.float64], most: int) -> None:
    """Move squares that overlap apart, each by half along the axis on which they overlap least.

    Parameters
    ----------
    x, y : float64 (n,)
        Middles; changed.
    side : float64 (n,)
    most : int
        Rounds at most: afterwards some may still overlap.
    """
    n = len(x)
    for _ in range(most):
        moved = False
        for i in range(n):
            for j in range(i + 1, n):
                room = 0.5 * (side[i] + side[j])
                dx, dy = x[j] - x[i], y[j] - y[i]
                over_x, over_y = room - abs(dx), room - abs(dy)
                if over_x <= 1e-9 or over_y <= 1e-9:
                    continue
                moved = True
                if over_x < over_y:
                    half = 0.5 * over_x if dx >= 0.0 else -0.5 * over_x
                    x[i] -= half
                    x[j] += half
                else:
                    half = 0.5 * over_y if dy >= 0.0 else -0.5 * over_y
                    y[i] -= half
                    y[j] += half
        if not moved:
            return


@kernel
def stretch_needed(
    x: NDArray[np.float64], y: NDArray[np.float64], side: NDArray[np.float64], found: NDArray[np.float64]
) -> None:
    """Find the smallest factor on all distances for which no two squares overlap.

    Parameters
    ----------
    x, y : float64 (n,)
        Middles, no two the same.
    side : float64 (n,)
    found : float64 (1,)
        Written; 1 or more.
    """
    n = len(x)
    found[0] = 1.0
    for i in range(n):
        for j in range(i + 1, n):
            room = 0.5 * (side[i] + side[j])
            far = max(abs(x[j] - x[i]), abs(y[j] - y[i]))
            if far > 0.0 and far * found[0] < room:
                found[0] = room / far
