"""Alarms about memory: call sites whose blocks only increase.

Whether they are a leak, or something that is gathered and freed later, shows only later: that they grow is
said within a second, that they may leak after five. Both are inferred, and both are withdrawn.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from ....live.growing import GrowingTrace
from ....live.stream.alarms import Alarm
from ....units import byte_size, duration
from .blocks import LiveBlocks
from .site_watch import SiteWatch
from .sites import MOST_SITES

#: Nanoseconds for which a call site only grows, if it may leak.
_WINDOW_NS = 5_000_000_000
#: Least growth, in bytes and as a share of all live bytes.
_GREW, _GREW_BY = 1 << 18, 0.05
#: Growth is looked at over so many nanoseconds and so many samples at least, which lie so far apart at least.
_SOON_NS, _SAMPLES, _APART_NS = 550_000_000, 4, 80_000_000
#: A cache that fills takes less and less: least growth in a second half, as a share of the first one's, and
#: in the first one as a share of the whole (otherwise it is a step).
_STILL, _HALF = 0.6, 0.25
#: An alarm is over when this share of the growth is freed again, or after so long without growth.
_BACK, _STAYS_NS = 0.5, 2_000_000_000
#: After so long without anything new memory is not growing any more.
_STALE_NS = 1_000_000_000
#: Rows in a look.
_MOST_TAKEN = 200_000

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
        while len(self.seen) > _SAMPLES and at - self.seen[1][0] >= _SOON_NS:
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
        if len(self.seen) < _SAMPLES or self.last - self.seen[0][0] < _SOON_NS:
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


class MemoryAlarms:
    """Follows the blocks of a feed.

    Parameters
    ----------
    growing : GrowingTrace
    """

    def __init__(self, growing: GrowingTrace) -> None:
        self._growing = growing
        self._blocks: LiveBlocks | None = None
        self._next = 0
        self._samples = Samples()
        #: Call sites that are reported: bytes when the growth began, most bytes since and when that was.
        self._reported: dict[int, tuple[int, int, int]] = {}
        self._words: dict[int, str] = {}
        self._known_at = 0

    def look(self, now: int) -> list[Alarm]:
        """Return the alarms at ``now``, in the trace's nanoseconds."""
        batches, last = self._growing.batches("memory", self._next)
        if self._blocks is None:
            if not batches:
                return []
            self._blocks = LiveBlocks(self._growing, _WINDOW_NS, _WINDOW_NS)
            self._watch = SiteWatch(self._blocks, _WINDOW_NS)
        self._next, taken = last - len(batches), 0
        for batch in batches:
            if taken > _MOST_TAKEN:
                break
            self._next += 1
            taken += len(batch["kind"])
            self._blocks.follow(batch, now - _WINDOW_NS)
            if len(batch["time"]):
                self._sample(min(int(batch["time"].max()), now))
        # Of memory that is looked at by snapshots nothing new is known between two.
        if batches:
            self._known_at = now
        elif now - self._known_at > _STALE_NS:
            self._sample(now)
        self._watch.sample(now)
        leaks = self._leaks()
        leaking = {alarm.about for alarm in leaks}
        return [*leaks, *(alarm for alarm in self._grown() if alarm.about not in leaking)]

    def _sample(self, at: int) -> None:
        """Take a sample, unless there was one just before; find out which call sites grow."""
        assert self._blocks is not None
        if at - self._samples.last < _APART_NS:
            return
        k = self._blocks.k
        self._samples.add(at, self._blocks.site_facts[:, k.SITE_LIVE])
        row = self._samples.seen[-1][1]
        for site in self._samples.growing(max(_GREW, _GREW_BY * self._live)).tolist():
            base, since = int(self._samples.base[site]), int(self._samples.since[site])
            self._reported.setdefault(site, (base, 0, at))
            grown = f"+{byte_size(int(row[site]) - base)} in {duration(at - since, 2)}"
            self._words[site] = (
                f"{self._blocks.sites.name(site)} grows and has not shrunk: {grown}: "
                "a leak, or something that is being gathered"
            )
        for site, (base, most, since) in list(self._reported.items()):
            lives = int(row[site])
            if lives > most:
                most, since = lives, at
            self._reported[site] = base, most, since
            if most - lives >= _BACK * (most - base) or at - since >= _STAYS_NS:
                del self._reported[site]

    @property
    def _live(self) -> int:
        assert self._blocks is not None
        return int(self._blocks.totals[self._blocks.k.BYTES_NOW])

    def _leaks(self) -> list[Alarm]:
        """Return the call sites that have only gained blocks for the whole window.

        Either as sampled by the clock, or at each of several moments of which something is known: snapshots
        of many blocks are seconds apart.
        """
        assert self._blocks is not None
        least, seen = max(_GREW, _GREW_BY * self._live), self._samples
        found = {f.site: (f.bytes, _WINDOW_NS) for f in self._watch.found if f.kind == "leak"}
        row = seen.seen[-1][1] if seen.seen else seen.base
        lasts = seen.last - seen.since
        mine = (seen.times >= _SAMPLES - 1) & (lasts >= _WINDOW_NS)
        for site in np.flatnonzero(mine).tolist():
            found.setdefault(site, (int(row[site] - seen.base[site]), int(lasts[site])))
        name = self._blocks.sites.name
        return [
            Alarm(
                "leak", name(site), f"{name(site)} may leak: it has only gained blocks in the last "
                f"{duration(lasted, 2)}, {byte_size(size)}", how="inferred",
            )
            for site, (size, lasted) in sorted(found.items(), key=lambda f: -f[1][0])
            if size >= least
        ]  # fmt: skip

    def _grown(self) -> list[Alarm]:
        """Return the call sites that grow, or have grown and not been freed."""
        assert self._blocks is not None
        name = self._blocks.sites.name
        return [
            Alarm("growing memory", name(site), self._words[site], how="inferred") for site in self._reported
        ]
