"""Seriation: an order in which related things are neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def seriate(strength: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return an order of n things in which strongly connected ones stand close to each other.

    Within each connected part by the Fiedler vector of the graph's Laplacian, which makes the sum of
    strength times squared distance small; parts by their strength, what is connected with nothing last.

    Parameters
    ----------
    strength : float64 (n, n)
        How much two things have to do with each other; both directions count.

    Returns
    -------
    int64 (n,)
        A permutation; the end with the first of the given order comes first.

    Examples
    --------
    >>> strength = np.zeros((4, 4))
    >>> strength[0, 3] = strength[3, 1] = strength[1, 2] = 1.0
    >>> seriate(strength).tolist()
    [0, 3, 1, 2]
    """
    n = len(strength)
    both = strength + strength.T
    np.fill_diagonal(both, 0.0)
    part = _parts(both > 0)
    weight = np.bincount(part, both.sum(axis=1), int(part.max(initial=-1)) + 1)
    order: list[int] = []
    for p in np.argsort(-weight, kind="stable").tolist():
        members = np.flatnonzero(part == p)
        if len(members) > 2:
            # Strengths differ by orders of magnitude: their roots keep the weak ones in play.
            near = np.sqrt(both[np.ix_(members, members)])
            laplacian = np.diag(near.sum(axis=1)) - near
            vector = np.linalg.eigh(laplacian)[1][:, 1]
            ranked = np.lexsort((members, np.round(vector, 9)))
            if np.argmin(members[ranked]) > len(members) // 2:
                ranked = ranked[::-1]
            members = members[ranked]
        order += members.tolist()
    return np.array(order, np.int64) if n else np.empty(0, np.int64)


def _parts(near: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the connected part of each thing."""
    part = np.full(len(near), -1, np.int64)
    parts = 0
    for i in range(len(near)):
        if part[i] >= 0:
            continue
        reached = np.zeros(len(near), np.bool_)
        reached[i] = True
        while True:
            more = reached | near[reached].any(axis=0)
            if (more == reached).all():
                break
            reached = more
        part[reached] = parts
        parts += 1
    return part
