"""Alarms about memory: call sites whose blocks only increase."""

from __future__ import annotations

from ....live.growing import GrowingTrace
from ....live.stream.alarms import Alarm
from ....units import byte_size, duration
from .blocks import LiveBlocks
from .site_watch import SiteWatch

#: Nanoseconds that are looked at.
_WINDOW_NS = 5_000_000_000
#: Least growth, in bytes and as a share of all live bytes.
_GREW, _GREW_BY = 1 << 18, 0.05
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
        return [
            Alarm(
                "leak", self._blocks.sites.name(found.site),
                f"{self._blocks.sites.name(found.site)} may leak: it has only gained blocks for "
                f"{duration(_WINDOW_NS)}, {byte_size(found.bytes)}",
            )
            for found in self._watch.found
            if found.kind == "leak" and found.bytes >= max(_GREW, _GREW_BY * live)
        ]  # fmt: skip
