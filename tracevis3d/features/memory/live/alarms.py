"""Alarms about memory: call sites whose blocks only increase.

Whether they are a leak, or something that is gathered and freed later, shows only later: that they grow is
said within a second, that they may leak after five.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ....live.growing import GrowingTrace
from ....live.stream.alarms import Alarm
from ....units import byte_size, duration
from .blocks import LiveBlocks
from .site_watch import SiteWatch

#: Nanoseconds that are looked at.
_WINDOW_NS = 5_000_000_000
#: Least growth, in bytes and as a share of all live bytes.
_GREW, _GREW_BY = 1 << 18, 0.05
#: So many looks in a row at each of which a call site has grown, which take so long at least; share of the
#: growth that each half has.
_LOOKS, _SOON_NS, _HALF = 7, 550_000_000, 0.25
#: After so long without anything new memory is not growing any more.
_STALE_NS = 1_000_000_000
#: Rows in a look.
_MOST_TAKEN = 200_000


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
        self._seen: deque[tuple[int, NDArray[np.int64]]] = deque(maxlen=_LOOKS)
        self._grown: list[Alarm] = []
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
        self._watch.sample(now)
        live = int(self._blocks.totals[self._blocks.k.BYTES_NOW])
        leaks = self._leaks(live)
        # Of memory that is looked at by snapshots nothing new is known between two.
        if batches or now - self._known_at > _STALE_NS:
            self._grown, self._known_at = self._growing_sites(now, live), now
        leaking = {alarm.about for alarm in leaks}
        return [*leaks, *(alarm for alarm in self._grown if alarm.about not in leaking)]

    def _leaks(self, live: int) -> list[Alarm]:
        """Return the call sites that have only gained blocks for the whole window."""
        assert self._blocks is not None
        return [
            Alarm(
                "leak", self._blocks.sites.name(found.site),
                f"{self._blocks.sites.name(found.site)} may leak: it has only gained blocks in the last "
                f"{duration(_WINDOW_NS)}, {byte_size(found.bytes)}",
            )
            for found in self._watch.found
            if found.kind == "leak" and found.bytes >= max(_GREW, _GREW_BY * live)
        ]  # fmt: skip

    def _growing_sites(self, now: int, live: int) -> list[Alarm]:
        """Return the call sites that have grown at each of the last looks."""
        assert self._blocks is not None
        facts = self._blocks.site_facts[:, self._blocks.k.SITE_LIVE]
        if self._seen and now <= self._seen[-1][0]:
            return []
        self._seen.append((now, facts.astype(np.int64)))
        lasts = now - self._seen[0][0]
        if len(self._seen) < _LOOKS or lasts < _SOON_NS:
            return []
        first, middle, last = (self._seen[i][1] for i in (0, _LOOKS // 2, _LOOKS - 1))
        sites = min(len(first), len(last))
        grown = last[:sites] - first[:sites]
        mine = grown >= max(_GREW, _GREW_BY * live)
        for (_, before), (_, after) in pairwise(self._seen):
            mine &= after[:sites] > before[:sites]
        half = middle[:sites] - first[:sites]
        mine &= np.minimum(half, grown - half) >= _HALF * grown
        found = []
        for site in np.flatnonzero(mine)[np.argsort(-grown[mine], kind="stable")].tolist():
            name = self._blocks.sites.name(site)
            words = (
                f"{name} has grown at each of {_LOOKS - 1} looks in {duration(lasts, 2)}, by "
                f"{byte_size(int(grown[site]))}: a leak, or something that is being gathered"
            )
            found.append(Alarm("growing memory", name, words))
        return found
