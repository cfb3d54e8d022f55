"""Images of call sequences: pixel rows of many calls, antialiased by importance (ExtraVis, section 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....kernels.interactions.sequence import neighbour_counts, rasterise_calls
from ....layout.buffers import Buffers

Floats = NDArray[np.float64]
#: Calls around a call that determine how frequent it is: |w| (section 5).
WINDOW = 25
#: The contribution power's range beyond which nothing changes any longer (section 5).
POWERS = (-5.0, 5.0)


def frequencies(pair: NDArray[np.int32], pairs: int, window: int = WINDOW) -> NDArray[np.int32]:
    """Return how often each call's pair is among the ``window`` calls around it, int32 (n,).

    That is f_i times the number of calls in the window: computed once, for every power.

    Parameters
    ----------
    pair : int32 (n,)
        That of each call.
    pairs : int
        How many there are.
    window : int
        How many calls are examined around each.

    Returns
    -------
    int32 (n,)
    """
    count = np.empty(len(pair), np.int32)
    neighbour_counts(np.ascontiguousarray(pair), window, np.zeros(pairs, np.int32), count)
    return count


def contributions(power: float, window: int = WINDOW, calls: int | None = None) -> Floats:
    """Return W = f^p for each count from 0 to ``window``, float64: 0 where nothing is (equation 2).

    ``calls``: how many there are, where that may be fewer than the window.

    Parameters
    ----------
    power : float
        p of equation 2.
    window : int
        The largest count.
    calls : int, optional
        How many calls there are; None: more than the window.

    Returns
    -------
    float64 (window + 1,)
    """
    size = window if calls is None else max(min(window, calls), 1)
    share = np.arange(window + 1) / size
    with np.errstate(divide="ignore"):
        weight = share**power
    weight[0] = 0.0
    return np.asarray(weight, np.float64)


def even_rows(low: int, high: int, rows: int) -> Floats:
    """Return the edges of ``rows`` rows that hold equally many calls, float64 (rows + 1,).

    Parameters
    ----------
    low, high : int
        The slice ``[low, high)`` of the calls.
    rows : int
        How many.

    Returns
    -------
    float64 (rows + 1,)
        Numbers of calls.
    """
    return np.linspace(low, high, rows + 1)


def timed_rows(time: NDArray[np.int64], start: int, end: int, rows: int) -> Floats:
    """Return the edges of rows of equal time, in calls; ``time`` (n,) never decreases.

    Parameters
    ----------
    time : int64 (n,)
        Nanoseconds.
    start, end : int
        Nanoseconds.
    rows : int
        How many.

    Returns
    -------
    float64 (rows + 1,)
        Numbers of calls.
    """
    moment = start + (end - start) * np.arange(rows + 1) / rows
    edge = np.searchsorted(time, moment, "left").astype(np.float64)
    edge[-1] = np.searchsorted(time, end, "right")
    return edge


def sequence_image(
    pair: NDArray[np.int32],
    count: NDArray[np.int32],
    weight: Floats,
    edge: Floats,
    span: Floats,
    columns: int,
    ramp: NDArray[np.uint8],
    buffers: Buffers | None = None,
    tone: Floats | None = None,
) -> NDArray[np.uint8]:
    """Return the image of a stretch of calls, uint8 (rows, columns, 4), first call on top.

    Parameters
    ----------
    pair, count : int32 (n,)
        Pairs of all calls, and :func:`frequencies`.
    weight : float64 (window + 1,)
        From :func:`contributions`.
    edge : float64 (rows + 1,)
        From :func:`even_rows` or :func:`timed_rows`.
    span : float64 (pairs, 2)
        Columns of the outer ends of caller and callee.
    columns : int
    ramp : uint8 (k, 4)
        Colours from caller to callee.
    buffers : Buffers
        Room for the image, to be used again.
    tone : float64 (pairs,), optional
        Place on the ramp, 0 to 1, of bars of one colour; negative for those that go along the ramp.

    Returns
    -------
    uint8 (rows, columns, 4)
    """
    shape = (len(edge) - 1, columns, 4)
    image = np.empty(shape, np.uint8) if buffers is None else buffers.take("sequence", shape, np.uint8)
    pairs = len(span)
    tone = np.full(pairs, -1.0) if tone is None else np.ascontiguousarray(tone, np.float64)
    rasterise_calls(
        np.ascontiguousarray(pair, np.int32), np.ascontiguousarray(count, np.int32),
        np.ascontiguousarray(weight, np.float64), np.ascontiguousarray(edge, np.float64),
        np.ascontiguousarray(span, np.float64), tone, np.zeros(pairs), np.empty(pairs, np.int32),
        np.empty((columns, 4)), np.ascontiguousarray(ramp, np.uint8), image,
    )  # fmt: skip
    return image


def visibility(
    pair: NDArray[np.int32], count: NDArray[np.int32], weight: Floats, edge: Floats, wanted: int
) -> Floats:
    """Return which share of each row's colour the calls of the pair ``wanted`` have, float64 (rows,).

    6.25 % for one of 16 calls under linear antialiasing (figure 10).

    Parameters
    ----------
    pair : int32 (n,)
        That of each call.
    count : int32 (n,)
        From :func:`frequencies`.
    weight : float64 (window + 1,)
        From :func:`contributions`.
    edge : float64 (rows + 1,)
        From :func:`even_rows` or :func:`timed_rows`.
    wanted : int
        The pair that is searched for.

    Returns
    -------
    float64 (rows,)
    """
    w = np.where(pair == wanted, weight[count], 0.0)
    everything = weight[count]
    sums = [np.concatenate([[0.0], np.cumsum(v)]) for v in (w, everything)]
    at = np.arange(len(pair) + 1)
    mine, all_ = (np.diff(np.interp(edge, at, s)) for s in sums)
    return np.asarray(np.divide(mine, all_, out=np.zeros(len(mine)), where=all_ > 0))
