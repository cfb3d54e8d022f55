"""The findings about call sites in a live view, in words."""

from __future__ import annotations

import numpy as np

from ....units import byte_size, duration
from .blocks import LiveBlocks
from .findings import SAMPLES, Found, SiteHistory, find_plateaus, in_turn
from .sites import MOST_SITES

#: Maximum number of findings shown.
_MOST_FOUND = 5


class SiteWatch:
    """Samples call sites, and finds those that leak, rise and fall, or keep idle memory.

    Parameters
    ----------
    blocks : LiveBlocks
    window_ns : int

    Attributes
    ----------
    found : list of Found
    """

    def __init__(self, blocks: LiveBlocks, window_ns: int) -> None:
        self._blocks, self._window_ns = blocks, window_ns
        self._history = SiteHistory(MOST_SITES)
        self._sampled = 0
        self.found: list[Found] = []

    def sample(self, now: int) -> None:
        """Sample each call site when it is time to, and search for findings."""
        if now - self._sampled < self._window_ns // SAMPLES or not len(self._blocks.blocks):
            return
        self._sampled = now
        k = self._blocks.k
        self._history.add(self._blocks.site_facts[:, k.SITE_LIVE])
        found = self._history.find(int(self._blocks.totals[k.BYTES_NOW]))
        leaks = {f.site for f in found if f.kind == "leak"}
        plateaus = [f for f in self._plateaus(now) if f.site not in leaks]
        self.found = in_turn(found + plateaus, _MOST_FOUND)

    def find_again(self, now: int) -> None:
        """Look for plateaus again: the items have other numbers."""
        sites = {f.site for f in self.found if f.kind == "plateau"}
        again = [f for f in self._plateaus(now) if f.site in sites]
        self.found = [f for f in self.found if f.item < 0] + again

    def _plateaus(self, now: int) -> list[Found]:
        k, items = self._blocks.k, self._blocks.items
        alone = np.where(items[:, k.ALONE] == 1, items[:, k.LIVE], 0)
        live = int(self._blocks.totals[k.BYTES_NOW])
        return find_plateaus(alone, now - items[:, k.LAST], items[:, k.OWNER], self._window_ns, live)

    def item_of(self, found: Found) -> int:
        """Return the item that a finding is about: the widest one of its call site; -1: none is there."""
        if found.item >= 0:
            return found.item
        k, items = self._blocks.k, self._blocks.items
        mine = np.flatnonzero((items[:, k.OWNER] == found.site) & (items[:, k.LIVING] > 0))
        return int(mine[np.argmax(items[mine, k.LIVE])]) if len(mine) else -1

    def text_of(self, found: Found) -> str:
        """Return the findings in a few words."""
        site, size = self._blocks.sites.name(found.site), byte_size(found.bytes)
        window = duration(self._window_ns)
        many = f" in {found.times} blocks" if found.times > 1 else ""
        return {
            "leak": f"leak? {site}: +{size} in {window}",
            "saw-tooth": f"saw-tooth, {found.times} × {size}: {site}",
            "plateau": f"plateau: {site}, {size}{many} untouched for {window}",
        }[found.kind]
