"""The distinct values of a column of numbers, and where they are among others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.intern import number_near_values, number_values

#: Values that lie this close together are found in a table.
_SPREAD = 1 << 24
#: As many places of a table for each value cost less than its hash.
_NEAR = 4
#: Room for distinct values at first; a power of two.
_ROOM = 1 << 10
#: Numbers below this are sorted by radix.
_SHORT = 1 << 16


def distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values, ascending, and the index of each among them.

    Parameters
    ----------
    values : int64 (n,)

    Returns
    -------
    keys : int64 (k,)
    index : int64 (n,)

    Examples
    --------
    >>> keys, index = distinct(np.array([7, 3, 7]))
    >>> keys.tolist(), index.tolist()
    ([3, 7], [1, 0, 1])
    """
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if high - low >= _SPREAD:
        return _by_hash(np.ascontiguousarray(values, np.int64))
    is_there = np.zeros(high - low + 1, np.bool_)
    place = values - low if low else values
    is_there[place] = True
    number = np.cumsum(is_there) - 1
    return np.flatnonzero(is_there) + low, number[place]


def numbered(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct values in the order of their appearance, and the index of each among them.

    Parameters
    ----------
    values : int64 (n,)

    Returns
    -------
    keys : int64 (k,)
    index : int32 (n,)

    Examples
    --------
    >>> keys, index = numbered(np.array([7, 3, 7]))
    >>> keys.tolist(), index.tolist()
    ([7, 3], [0, 1, 0])
    """
    number, state = np.empty(len(values), np.int32), np.zeros(2, np.int64)
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if high - low < _NEAR * len(values):
        keys = np.empty(min(len(values), high - low + 1), np.int64)
        table = np.full(high - low + 1, -1, np.int32)
        return keys[: number_near_values(values, low, table, keys, number)], number
    keys = np.empty(_ROOM, np.int64)
    while True:
        number_values(values, np.full(4 * len(keys), -1, np.int32), keys, state, number)
        if state[0] == len(values):
            break
        keys = np.append(keys, np.empty(3 * len(keys), np.int64))
    return keys[: state[1]], number


def _by_hash(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the same as :func:`distinct`, without sorting more than the keys."""
    keys, number = numbered(values)
    order = np.argsort(keys)
    place = np.empty(len(keys), np.int64)
    place[order] = np.arange(len(keys))
    return keys[order], place[number]


def by_index(index: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the rows in the order of their index, equal ones as they stand.

    Parameters
    ----------
    index : int64 (n,)
        Below ``count``.
    count : int

    Returns
    -------
    int64 (n,)
    """
    short = index.astype(np.uint16) if count <= _SHORT else index
    return np.argsort(short, kind="stable")


def chosen(columns: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return some rows of a table; one column after the other is several times as fast as all at once.

    Parameters
    ----------
    columns : int64 (columns, n)
    rows : int64 (k,)

    Returns
    -------
    int64 (columns, k)
    """
    found = np.empty((len(columns), len(rows)), np.int64)
    for column, values in zip(found, columns, strict=True):
        values.take(rows, out=column, mode="clip")
    return found


def places_among(values: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each value is among known ones, of equal ones the last; -1 for one that is not there.

    Parameters
    ----------
    values : int64 (n,)
    known : int64 (k,)
        In any order.

    Returns
    -------
    int64 (n,)

    Examples
    --------
    >>> places_among(np.array([7, 3, 5]), np.array([3, 7])).tolist()
    [1, 0, -1]
    """
    if not len(known):
        return np.full(len(values), -1, np.int64)
    low, high = int(known.min()), int(known.max())
    if high - low < _SPREAD:
        table = np.full(high - low + 2, -1, np.int64)
        table[known - low] = np.arange(len(known))
        if len(values) and (values.min() < low or values.max() > high):
            # What is not among them looks up the last row, which has none.
            is_within = (values >= low) & (values <= high)
            rows = np.where(is_within, values - low, high - low + 1)
        else:
            rows = values - low
        places: NDArray[np.int64] = table[rows]
        return places
    order = np.argsort(known, kind="stable")
    at = np.searchsorted(known[order], values, side="right") - 1
    found = order[np.maximum(at, 0)]
    return np.where((at >= 0) & (known[found] == values), found, -1)


def packed(*keys: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return keys as ``lexsort`` takes them, as few as 64 bits can hold: sorting is what takes long.

    Parameters
    ----------
    *keys : int64 (n,)
        The least important first.

    Returns
    -------
    list of int64 (n,)
        They sort as the keys do.

    Examples
    --------
    >>> low, high = np.array([5, 3, 4]), np.array([1, 2, 1])
    >>> [key.tolist() for key in packed(low, high)]
    [[2, 3, 1]]
    """
    found: list[NDArray[np.int64]] = []
    room = 1 << 62
    for key in keys:
        low, high = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        size = high - low + 1
        if room * size < 1 << 62:
            found[-1] = found[-1] + (key - low) * room
            room *= size
        else:
            # The difference of two numbers may be too large for one.
            found.append(key - low if size < 1 << 62 else key)
            room = min(size, 1 << 62)
    return found
