"""Alarms about memory: call sites whose blocks only increase.

Whether they are a leak, or something that is gathered and freed later, shows only later: that they grow is
said within a second, that they may leak after five. Both are inferred, and both are withdrawn.
"""

from __future__ import annotations

from ....live.growing import GrowingTrace
from ....live.stream.alarms import Alarm
from ....units import byte_size, duration
from .blocks import LiveBlocks
from .growth import Growth, SampledBytes
from .site_watch import SiteWatch

#: Nanoseconds for which a call site only grows, if it may leak.
_WINDOW_NS = 5_000_000_000
#: Least growth, in bytes and as a share of all live bytes.
_GREW, _GREW_BY = 1 << 18, 0.05
#: So long from its begin on a program loads, and what it gathers is not reported.
_LOADS_NS = 1_000_000_000
#: After so long without anything new memory is not growing any more.
_STALE_NS = 1_000_000_000
#: Rows in a look.
_MOST_TAKEN = 200_000


class MemoryAlarms:
    """Follows the blocks of a feed, and the sample of what is allocated where it has one.

    Parameters
    ----------
    growing : GrowingTrace
    """

    def __init__(self, growing: GrowingTrace) -> None:
        self._growing = growing
        self._blocks: LiveBlocks | None = None
        self._next = self._next_counters = 0
        self._known_at = 0

    def look(self, now: int) -> list[Alarm]:
        """Return the alarms at ``now``, in the trace's nanoseconds."""
        batches, last = self._growing.batches("memory", self._next)
        if self._blocks is None:
            if not batches:
                return []
            self._blocks = LiveBlocks(self._growing, _WINDOW_NS, _WINDOW_NS)
            self._watch = SiteWatch(self._blocks, _WINDOW_NS)
            self._snapshots = Growth(self._blocks.sites, "")
            self._sampled = Growth(self._blocks.sites, "about ")
            self._bytes = SampledBytes(self._blocks.sites)
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
        counters, self._next_counters = self._growing.batches("counters", self._next_counters)
        for batch in counters:
            for at, live in self._bytes.take(batch):
                self._sampled.add(at, live, self._least, self._is_loaded(at))
        self._watch.sample(now)
        leaks = self._leaks()
        leaking = {alarm.about for alarm in leaks}
        return [*leaks, *(alarm for alarm in self._grown() if alarm.about not in leaking)]

    def why_over(self, alarm: Alarm) -> str:
        """Return why an alarm is over, in a few words; empty: no more is known."""
        if self._blocks is None or alarm.about not in self._blocks.sites.names:
            return ""
        site = self._blocks.sites.names.index(alarm.about)
        return self._sampled.why_over.get(site) or self._snapshots.why_over.get(site, "")

    def _sample(self, at: int) -> None:
        assert self._blocks is not None
        live = self._blocks.site_facts[:, self._blocks.k.SITE_LIVE]
        self._snapshots.add(at, live, self._least, self._is_loaded(at))

    def _is_loaded(self, at: int) -> bool:
        return at - (self._growing.begins or 0) >= _LOADS_NS

    @property
    def _least(self) -> float:
        """The growth that is reported, in bytes."""
        assert self._blocks is not None
        return max(_GREW, _GREW_BY * int(self._blocks.totals[self._blocks.k.BYTES_NOW]))

    def _leaks(self) -> list[Alarm]:
        """Return the call sites that have only gained blocks for the whole window.

        Either as sampled by the clock, or at each of several moments of which something is known: snapshots
        of many blocks are seconds apart.
        """
        assert self._blocks is not None
        found = {f.site: (f.bytes, _WINDOW_NS) for f in self._watch.found if f.kind == "leak"}
        for growth in (self._snapshots, self._sampled):
            for site, grown in growth.since(_WINDOW_NS).items():
                found.setdefault(site, grown)
        name, imports = self._blocks.sites.name, self._blocks.sites.imports
        return [
            Alarm(
                "leak", name(site), f"{name(site)} may leak: it has only gained blocks in the last "
                f"{duration(lasted, 2)}, {byte_size(size)}", how="inferred",
            )
            for site, (size, lasted) in sorted(found.items(), key=lambda f: -f[1][0])
            if size >= self._least and site not in imports
        ]  # fmt: skip

    def _grown(self) -> list[Alarm]:
        """Return the call sites that grow, or have grown and not been freed."""
        assert self._blocks is not None
        name = self._blocks.sites.name
        growing = {**self._sampled.sentences(), **self._snapshots.sentences()}
        return [Alarm("growing memory", name(site), words, how="inferred") for site, words in growing.items()]
