"""Shorthand for elements and texts that have much in common: one width, one height, ids in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .primitives import Boxes, Labels, Lines, Vector


def boxes(kind: str, low: ArrayLike, size: ArrayLike, color: ArrayLike, **more: Any) -> Boxes:
    """Return boxes whose ids count them.

    Parameters
    ----------
    kind : str
    low, size : float (n, 3)
        As :class:`.primitives.Boxes`.
    color : int or int (n,)
        Palette indices.
    **more
        Other fields of :class:`.primitives.Boxes`, such as ``look`` or ``id``.

    Returns
    -------
    Boxes

    Examples
    --------
    >>> made = boxes("bar", [(0, 0, 0), (1, 0, 0)], [(1, 1, 2), (1, 1, 3)], 4)
    >>> made.color.tolist(), made.id.tolist()
    ([4, 4], [0, 1])
    """
    place = np.asarray(low, np.float32).reshape(-1, 3)
    n = len(place)
    more.setdefault("id", np.arange(n, dtype=np.int64))
    return Boxes(kind, place, np.asarray(size, np.float32).reshape(-1, 3), _each(color, n, np.int32), **more)


def lines(kind: str, point: ArrayLike, width: float, color: ArrayLike, **more: Any) -> Lines:
    """Return lines of as many points each, whose ids count them.

    Parameters
    ----------
    kind : str
    point : float (n, k, 3)
        The ``k`` points of each line.
    width : float
        Scene units.
    color : int or int (n,)
        Palette indices.
    **more
        Other fields of :class:`.primitives.Lines`.

    Returns
    -------
    Lines
    """
    given = np.asarray(point, np.float32)
    n, k = given.shape[:2]
    more.setdefault("id", np.arange(n, dtype=np.int64))
    return Lines(
        kind, given.reshape(-1, 3), k * np.arange(n + 1, dtype=np.int64), np.full(n, width, np.float32),
        _each(color, n, np.int32), **more,
    )  # fmt: skip


def texts(
    kind: str,
    text: Sequence[str],
    anchor: ArrayLike,
    height: ArrayLike,
    *,
    rank: ArrayLike = 1.0,
    room: ArrayLike = np.inf,
    align: Literal[-1, 0, 1] = 0,
    right: Vector = (1.0, 0.0, 0.0),
    up: Vector = (0.0, 0.0, 1.0),
) -> Labels:
    """Return texts that have a height, a rank and a room in common, or each its own.

    Parameters
    ----------
    kind : str
    text : sequence of str (n)
    anchor : float (n, 3)
    height, rank, room : float or float (n,)
        As :class:`.primitives.Labels`.
    align : {-1, 0, 1}
        The anchor is at the left end, the middle, the right end.
    right, up : Vector
        The plane that they are written on.

    Returns
    -------
    Labels
    """
    n = len(text)
    return Labels(
        kind, tuple(text), np.asarray(anchor, np.float32).reshape(-1, 3), _each(height, n, np.float32),
        _each(room, n, np.float32), _each(rank, n, np.float32), align=align, right=right, up=up,
    )  # fmt: skip


def _each(value: ArrayLike, n: int, dtype: type[np.generic]) -> NDArray[Any]:
    return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype), n))
