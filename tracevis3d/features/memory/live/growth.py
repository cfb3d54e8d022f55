"""Which call sites grow: from samples of their live bytes, until they shrink or rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....live.protocol import SAMPLED, sampled_frame
from ....units import byte_size, duration, percentage
from .sites import MOST_SITES, Sites

#: Growth is looked at over so many nanoseconds and so many samples at least, which lie so far apart at least.
_SOON_NS, SAMPLES, APART_NS = 550_000_000, 4, 80_000_000
#: A cache that fills takes less and less: least growth in a second half, as a share of the first one's, and
#: in the first one as a share of the whole (otherwise it is a step).
_STILL, _HALF = 0.6, 0.25
#: An alarm is over when this share of the growth is freed again, or after so long without growth.
_BACK, _STAYS_NS = 0.5, 2_000_000_000

Ints = NDArray[np.int64]


class Samples:
    """Live bytes of each call site at moments of the program: what comes late still counts when it was.

    Attributes
    ----------
    seen : deque of (int, int64 (MOST_SITES,))
        The last samples: nanoseconds, and bytes of each call site.
    times, since, base : int64 (MOST_SITES,)
        At how many samples in a row each call site has grown, since when, and from so many bytes on.
    """

    def __init__(self) -> None:
        self.seen: deque[tuple[int, Ints]] = deque()
        self.times, self.since, self.base = (np.zeros(MOST_SITES, np.int64) for _ in range(3))
        #: Most bytes so far, and until then: teeth do not exceed it.
        self._peak, self._before = (np.zeros(MOST_SITES, np.int64) for _ in range(2))

    @property
    def last(self) -> int:
        """Nanoseconds of the last sample."""
        return self.seen[-1][0] if self.seen else -(1 << 62)

    def add(self, at: int, live: Ints) -> None:
        """Take a sample; the oldest ones are dropped.

        Parameters
        ----------
        at : int
            Nanoseconds, later than those of all before.
        live : int64 (k,)
            Bytes of each call site that is known.
        """
        row = np.zeros(MOST_SITES, np.int64)
        row[: len(live)] = live
        before = self.seen[-1] if self.seen else (at, row)
        goes_on = row > before[1]
        begins = ~goes_on | (self.times == 0)
        self.since[begins], self.base[begins] = before[0], before[1][begins]
        self._before[begins] = self._peak[begins]
        self.times = np.where(goes_on, self.times + 1, 0)
        self.seen.append((at, row))
        while len(self.seen) > SAMPLES and at - self.seen[1][0] >= _SOON_NS:
            self.seen.popleft()
        np.maximum(self._peak, row, out=self._peak)

    def growing(self, least: float) -> Ints:
        """Return the call sites that grow, the fastest first.

        Parameters
        ----------
        least : float
            Bytes by which they exceed all that they had before.

        Returns
        -------
        int64 (n,)
        """
        if len(self.seen) < SAMPLES or self.last - self.seen[0][0] < _SOON_NS:
            return np.empty(0, np.int64)
        first, middle, last = (self.seen[i][1] for i in (0, len(self.seen) // 2, -1))
        times = [at for at, _ in self.seen]
        share = (times[len(times) // 2] - times[0]) / (times[-1] - times[0])
        grown, half = last - first, middle - first
        # Growth of each half in the time of the whole.
        early, late = half / share, (grown - half) / (1 - share)
        mine = (last - self._before >= least) & (self.times >= len(self.seen) - 1)
        mine &= (early >= 2 * _HALF * grown) & (late >= _STILL * early)
        found = np.flatnonzero(mine)
        return found[np.argsort(-grown[found], kind="stable")]

    def share(self, site: int) -> float:
        """Return which share of all that call sites have grown lately one has."""
        grown = np.maximum(self.seen[-1][1] - self.seen[0][1], 0)
        return float(grown[site] / grown.sum())


@dataclass
class _GrowingSite:
    """Growth that was found: bytes when it began, most bytes since and when that was, and a sentence."""

    base: int
    most: int
    at: int
    words: str


class Growth:
    """Follows call sites that were found to grow.

    Parameters
    ----------
    sites : Sites
    about : str
        What stands before a number of bytes: empty, or that it is an estimate.

    Attributes
    ----------
    samples : Samples
    why_over : dict of int to str
        Of call sites whose growth is over: why.
    """

    def __init__(self, sites: Sites, about: str) -> None:
        self._sites, self._about = sites, about
        self.samples = Samples()
        self._growing: dict[int, _GrowingSite] = {}
        self.why_over: dict[int, str] = {}

    def add(self, at: int, live: Ints, least: float, tells: bool) -> None:
        """Take a sample, unless there was one just before; find out which call sites grow.

        Parameters
        ----------
        at : int
            Nanoseconds.
        live : int64 (k,)
            Bytes of each call site that is known.
        least : float
            Bytes of growth from which on it is reported.
        tells : bool
            Whether growth may be reported at this moment.
        """
        samples = self.samples
        if at - samples.last < APART_NS:
            return
        samples.add(at, live)
        row = samples.seen[-1][1]
        for site in samples.growing(least).tolist() if tells else ():
            if site in self._sites.imports:
                continue
            base, since = int(samples.base[site]), int(samples.since[site])
            growth = self._growing.setdefault(site, _GrowingSite(base, 0, at, ""))
            growth.words = (
                f"{self._sites.name(site)} grows and has not shrunk: {self._about}"
                f"+{byte_size(int(row[site]) - base)} in {duration(at - since, 2)}, "
                f"{percentage(samples.share(site))} of all growth: a leak, or something that is being "
                "gathered"
            )
        for site, growth in list(self._growing.items()):
            lives = int(row[site])
            if lives > growth.most:
                growth.most, growth.at = lives, at
            if growth.most - lives >= _BACK * (growth.most - growth.base):
                self.why_over[site] = "half of it or more was freed"
            elif at - growth.at >= _STAYS_NS:
                self.why_over[site] = f"nothing was added for {duration(_STAYS_NS)}"
            else:
                continue
            del self._growing[site]

    def sentences(self) -> dict[int, str]:
        """Return the call sites that grow, or have grown and not been freed, with a sentence about each."""
        return {site: growth.words for site, growth in self._growing.items()}

    def since(self, window_ns: int) -> dict[int, tuple[int, int]]:
        """Return the call sites that have grown at each of several samples for so long.

        Parameters
        ----------
        window_ns : int

        Returns
        -------
        dict of int to (int, int)
            Call site -> bytes that it has grown by, and nanoseconds.
        """
        samples = self.samples
        if not samples.seen:
            return {}
        row, lasts = samples.seen[-1][1], samples.last - samples.since
        mine = (samples.times >= SAMPLES - 1) & (lasts >= window_ns)
        return {
            site: (int(row[site] - samples.base[site]), int(lasts[site]))
            for site in np.flatnonzero(mine).tolist()
        }


class SampledBytes:
    """About how much lives of what each call site has allocated, by a feed's counters.

    Parameters
    ----------
    sites : Sites
    """

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        #: Session and number of each counter -> its place in these; -1: it is another one.
        self._places: dict[tuple[int, int], int] = {}
        self._site_of: list[int] = []
        self._bytes: list[float] = []

    def take(self, batch: Mapping[str, Any]) -> list[tuple[int, Ints]]:
        """Take a batch of counters.

        Parameters
        ----------
        batch : mapping of str to object
            As :meth:`GrowingTrace.batches` returns them.

        Returns
        -------
        list of (int, int64 (MOST_SITES,))
            Nanoseconds and bytes of each call site, of each moment at which the sample was looked at.
        """
        series, which = np.unique(batch["series"], return_inverse=True)
        places = np.array([self._place(batch, number) for number in series.tolist()], np.int64)
        of = places[which.reshape(-1)]
        found = []
        for at in np.unique(batch["time"][of >= 0]).tolist():
            now = (of >= 0) & (batch["time"] == at)
            for place, size in zip(of[now].tolist(), batch["value"][now].tolist(), strict=True):
                self._bytes[place] = size
            # The last one is that of the sum.
            live = np.bincount(self._site_of, self._bytes, MOST_SITES + 1)[:MOST_SITES]
            found.append((at, np.rint(live).astype(np.int64)))
        return found

    def _place(self, batch: Mapping[str, Any], number: int) -> int:
        """Return the place of a counter; one that is not of the sample has none."""
        key = id(batch["session"]), number
        name = batch["series names"].get(number, "")
        if key not in self._places and name:
            if not name.startswith(SAMPLED):
                self._places[key] = -1
            else:
                frame = sampled_frame(name)
                self._places[key] = len(self._bytes)
                self._site_of.append(
                    self._sites.of_frame(batch["session"], frame) if frame >= 0 else MOST_SITES
                )
                self._bytes.append(0.0)
        return self._places.get(key, -1)
