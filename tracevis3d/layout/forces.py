"""Force-directed layout: what is joined comes close, and squares of given sizes don't overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.layout.forces import attract, push_apart, repel, stretch_needed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Steps of the simulation, and how far a thing moves in the first one, in spring lengths.
_STEPS, _FIRST = 160, 2.0
#: Attraction to the middle, of things that nothing holds.
_GRAVITY = 0.06
#: Comparisons of pairs of squares that moving them apart may take.
_PAIRS, _ROUNDS = 3e8, 200


def arrange(start: Floats, source: Ints, target: Ints, weight: Floats) -> Floats:
    """Move things until those that are joined are close (Fruchterman and Reingold, 1991, with a grid).

    Parameters
    ----------
    start : float64 (n, 2)
        Places to begin with: what is not joined stays near its own.
    source, target : int64 (pairs,)
    weight : float64 (pairs,)
        0 to 1: how strongly they attract each other.

    Returns
    -------
    float64 (n, 2)
        The same for the same arguments. Distances are in spring lengths: joined things rest at about 1.

    Examples
    --------
    >>> corners = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
    >>> found = arrange(corners, np.array([0, 1]), np.array([3, 2]), np.ones(2))
    >>> far = np.hypot(*(found[[0, 1, 0]] - found[[3, 2, 1]]).T)
    >>> bool(far[0] < far[2] and far[1] < far[2])
    True
    """
    n = len(start)
    if n < 2:
        return np.zeros((n, 2))
    spread = np.ptp(start, axis=0)
    unit = max(float(np.sqrt(max(spread[0] * spread[1], 1e-12) / n)), float(spread.max()) / n, 1e-9)
    place = (start - start.mean(axis=0)) / unit
    # Things at one place would push each other nowhere.
    angle = 2.399963 * np.arange(n)
    place = place + 1e-3 * np.column_stack([np.cos(angle), np.sin(angle)])
    for step in range(_STEPS):
        force = -_GRAVITY * place
        x, y = (np.ascontiguousarray(place[:, k]) for k in (0, 1))
        repel(x, y, *_squares(place, 2.0), 1.0, force)
        attract(x, y, source, target, weight, 1.0, force)
        length = np.maximum(np.hypot(force[:, 0], force[:, 1]), 1e-12)
        most = _FIRST * (1.0 - step / _STEPS)
        place = place + force * (np.minimum(length, most) / length)[:, None]
    return np.asarray(place - place.mean(axis=0))


def _squares(place: Floats, side: float) -> tuple[Ints, Ints, Ints, int]:
    """Return the square of each thing, things by square, where each square begins, and squares in a row."""
    n = len(place)
    low, high = place.min(axis=0), place.max(axis=0)
    # Few things far away must not make many empty squares.
    side = max(side, float((high - low).max()) / (2 * np.sqrt(n) + 1))
    at = np.floor((place - low) / side).astype(np.int64)
    across = int(at[:, 0].max()) + 1
    cell = at[:, 1] * across + at[:, 0]
    order = np.argsort(cell, kind="stable")
    squares = across * (int(at[:, 1].max()) + 1)
    first = np.searchsorted(cell[order], np.arange(squares + 1)).astype(np.int64)
    return cell, order, first, across


def without_overlap(place: Floats, side: Floats) -> Floats:
    """Move squares apart that overlap, and stretch the whole as far as some still do.

    Parameters
    ----------
    place : float64 (n, 2)
        Middles of squares.
    side : float64 (n,)
        Of each.

    Returns
    -------
    float64 (n, 2)
        No two squares overlap, but for rounding.

    Examples
    --------
    >>> apart = without_overlap(np.array([[0.0, 0.0], [0.5, 0.1]]), np.array([1.0, 1.0]))
    >>> float(apart[1, 0] - apart[0, 0])
    1.0
    """
    n = len(place)
    # What lies at one place can't be stretched apart.
    angle = 2.399963 * np.arange(n)
    small = 1e-6 * max(float(side.max(initial=0.0)), 1e-9)
    x, y = (place + small * np.arange(n)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])).T.copy()
    push_apart(x, y, np.asarray(side, np.float64), int(min(_ROUNDS, _PAIRS / max(n * n, 1)) + 1))
    factor = np.ones(1)
    stretch_needed(x, y, np.asarray(side, np.float64), factor)
    return np.asarray(np.column_stack([x, y]) * factor[0])
