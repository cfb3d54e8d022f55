"""The paths that are drawn as tubes: one in each thread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .layout import Layout
from .parameters import Parameters

Ints = NDArray[np.int64]


def find_path(picture: Layout, p: Parameters) -> Ints:
    """Return the shown nodes of the paths drawn as tubes, callers first: one path for each thread.

    From each root each step goes to the shown callee with the most time, or calls, in all its
    repetitions; it ends where nothing below is shown.

    Parameters
    ----------
    picture : Layout
    p : Parameters
        ``path`` says which one.

    Returns
    -------
    int64 (k,)
        Empty: there is none.
    """
    if p.path == "none" or not len(picture):
        return np.empty(0, np.int64)
    nodes = picture.nodes
    if p.path == "focus":
        return picture.focus
    if p.path == "calls":
        weight = (picture.below * picture.iterations).astype(np.float64)
    else:
        calls = picture.trace.calls
        length = np.zeros(len(picture))
        known = picture.call >= 0
        call = picture.call[known]
        length[known] = calls.end[call] - calls.start[call]
        weight = length * picture.iterations
        roots = np.flatnonzero(nodes.parent < 0)
        np.add.at(weight, nodes.parent[nodes.depth == 2], weight[nodes.depth == 2])
        assert len(roots)
    best = np.full(len(picture), -1)
    # The heaviest callee of each node: in ascending order the last one written wins.
    order = np.argsort(weight, kind="stable")
    order = order[nodes.parent[order] >= 0]
    best[nodes.parent[order]] = order
    roots = np.flatnonzero(nodes.parent < 0)
    path = []
    for node in roots[np.argsort(-weight[roots], kind="stable")].tolist():
        while node >= 0:
            path.append(node)
            node = int(best[node])
    return np.array(path, np.int64)


def beginnings(picture: Layout, path: Ints) -> Ints:
    """Return where each thread's path begins in ``path``.

    Parameters
    ----------
    picture : Layout
    path : int64 (k,)
        What :func:`find_path` returned.

    Returns
    -------
    int64 (paths + 1,)
        The last one is ``k``.
    """
    if not len(path):
        return np.zeros(1, np.int64)
    new = np.flatnonzero(picture.nodes.parent[path[1:]] != path[:-1]) + 1
    return np.concatenate([[0], new, [len(path)]]).astype(np.int64)
