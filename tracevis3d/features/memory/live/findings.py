"""Findings about call sites in a live view: leaks (they only grow), saw-teeth, plateaus (no accesses)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Samples of live bytes in the window.
SAMPLES = 32
#: A leak: maximum share of its growth that was freed again; minimum share of the samples in which it grew,
#: and minimum growth as a share of its bytes and of all live bytes.
_BACK, _GROWING, _GREW, _OF_ALL = 0.05, 0.3, 0.1, 0.005
#: A saw-tooth: minimum number of falls, each by this share of its range, which is this share of its maximum
#: and of all live bytes; smaller changes are noise.
_FALLS, _FALL, _OWN_RANGE, _RANGE = 3, 0.5, 0.3, 0.01
#: A plateau: minimum share of all live bytes in the blocks of a call site.
_PLATEAU = 0.05


@dataclass(frozen=True)
class Found:
    """Something that a call site does.

    Attributes
    ----------
    kind : {"leak", "saw-tooth", "plateau"}
    site : int
        -1: of several call sites.
    bytes : int
        By how much it grew, how high a tooth is, how large the plateau is.
    times : int
        Teeth; blocks of the plateau.
    item : int
        Of the plateau; -1: that of the call site.
    """

    kind: str
    site: int
    bytes: int
    times: int = 0
    item: int = -1


class SiteHistory:
    """Live bytes of each call site, sampled over the window.

    Parameters
    ----------
    most : int
        Call sites.
    """

    def __init__(self, most: int) -> None:
        self._live = np.zeros((SAMPLES, most), np.int64)
        self._count = 0

    @property
    def is_full(self) -> bool:
        """Whether the whole window is known."""
        return self._count >= SAMPLES

    def add(self, live: NDArray[np.int64]) -> None:
        """Take the live bytes of each call site now."""
        row = self._live[self._count % SAMPLES]
        row[:] = 0
        row[: len(live)] = live
        self._count += 1

    def series(self) -> NDArray[np.int64]:
        """Return the samples in order, int64 (samples, sites)."""
        if not self.is_full:
            return self._live[: self._count]
        first = self._count % SAMPLES
        return np.concatenate([self._live[first:], self._live[:first]])

    def find(self, total: int) -> list[Found]:
        """Return the call sites that only grow, and those that rise and fall, the largest first.

        Parameters
        ----------
        total : int
            Live bytes of all.

        Returns
        -------
        list of Found
        """
        if not self.is_full or total <= 0:
            return []
        series = self.series()
        change = np.diff(series, axis=0)
        grown = series[-1] - series[0]
        back = -np.minimum(change, 0).sum(axis=0)
        # Growth that only happened in one half of the window is a step, not a leak.
        middle = series[SAMPLES // 2]
        steady = (middle - series[0] > 0.15 * grown) & (series[-1] - middle > 0.15 * grown)
        leaks = (
            (grown > _GREW * series[-1]) & (grown > _OF_ALL * total) & (back <= _BACK * grown) & steady
            & ((change > 0).mean(axis=0) >= _GROWING)
        )  # fmt: skip
        found = [Found("leak", int(site), int(grown[site])) for site in np.flatnonzero(leaks)]
        spread = series.max(axis=0) - series.min(axis=0)
        wide = ~leaks & (spread > _RANGE * total) & (spread > _OWN_RANGE * series.max(axis=0))
        for site in np.flatnonzero(wide).tolist():
            times = _teeth(series[:, site], _FALL * float(spread[site]))
            if times >= _FALLS:
                found.append(Found("saw-tooth", site, int(spread[site]), times))
        return sorted(found, key=lambda f: -f.bytes)


def _teeth(series: NDArray[np.int64], fall: float) -> int:
    """Return how often a series falls by ``fall`` at least after having risen by it."""
    times, end, rising = 0, int(series[0]), False
    for value in series.tolist():
        end = max(end, value) if rising else min(end, value)
        if abs(value - end) >= fall:
            times, end, rising = times + rising, value, not rising
    return times


def find_plateaus(
    live: NDArray[np.int64], idle: NDArray[np.int64], owner: NDArray[np.int64], window: int, total: int
) -> list[Found]:
    """Return the call sites whose blocks were not accessed for the whole window, the largest first.

    Each comes with the item of it that is the largest.

    Parameters
    ----------
    live, idle, owner : int64 (items,)
        Live bytes, nanoseconds since the last touch, call site.
    window, total : int

    Returns
    -------
    list of Found
    """
    which = np.flatnonzero((idle >= window) & (live > 0))
    which = which[np.argsort(-live[which], kind="stable")]
    site, largest, of = np.unique(owner[which], return_index=True, return_inverse=True)
    size = np.bincount(of, live[which], len(site)).astype(np.int64)
    blocks = np.bincount(of, minlength=len(site))
    order = np.argsort(-size, kind="stable")
    return [
        Found("plateau", int(site[i]), int(size[i]), int(blocks[i]), int(which[largest[i]]))
        for i in order[size[order] >= max(_PLATEAU * total, 1)].tolist()
    ]


def in_turn(found: Sequence[Found], most: int) -> list[Found]:
    """Return the first of each kind in turn: no kind takes all the room.

    Parameters
    ----------
    found : sequence of Found
        The most important first.
    most : int
        How many at most.

    Returns
    -------
    list of Found
    """
    kinds: dict[str, list[Found]] = {}
    for one in found:
        kinds.setdefault(one.kind, []).append(one)
    rows = [[of[i] for of in kinds.values() if i < len(of)] for i in range(len(found))]
    return [one for row in rows for one in row][:most]
