"""The ring of pages that bars flow through: written once, moved as wholes, written again when they are past.

A page is what goes to the graphics card at once. Only the page that takes new bars, and those that the far
edge of the window runs through, are written in a tick; all others just move.
"""

from __future__ import annotations

import numpy as np

from ...drawing.palettes import OTHER
from ...drawing.stream import LENGTH, Bars, Page
from .live_view import MOST_COARSE, LiveView

#: Bars of a page; pages at most.
PAGE, MOST_PAGES = 2048, 64
#: Maximum number of ongoing bars shown at a time.
MOST_OPEN = 4096
#: Number of pages at the far edge updated in a tick.
_SWEPT = 3


class Ring:
    """The bars of a live view: a ring buffer of pages.

    Parameters
    ----------
    view : LiveView

    Attributes
    ----------
    pages : list of Page
    open : Page
        The ongoing bars.
    palette : float32 (k, 4)
        sRGB and alpha of the colours of the bars; the last one is that of all indices beyond.
    overrun : int
        Bars that had to go while they were in the window, since there is no more room.
    """

    def __init__(self, view: LiveView) -> None:
        self.view = view
        self.pages: list[Page] = []
        self.open = Page(MOST_OPEN, 0)
        self.palette = OTHER[None].astype(np.float32)
        self.overrun = 0
        self._current = -1
        self._swept = 0

    @property
    def bars(self) -> int:
        """How many bars there are, ended ones and others."""
        return sum(page.count for page in self.pages) + self.open.count

    def advance(self, now: int) -> None:
        """Take what has come; what is past goes a little later."""
        view = self.view
        came = view.advance()
        if view.renewed:
            view.renewed = False
            for page in self.pages:
                page.clear(now)
            self._current = 0 if self.pages else -1
        if view.recolored:
            view.recolored = False
            # Bars without a colour are grey.
            self.palette = np.concatenate([view.palette(), OTHER[None]]).astype(np.float32)
            for page in self.pages:
                page.touch(0, page.count)
        going = view.ongoing(now)
        if view.relaid:
            view.relaid = False
            view.lay_out()
            self.place_all(now)
        self._append(came, now)
        self._show_open(going, now)
        self._sweep(now)

    def settle(self) -> None:
        """Every few seconds: colours for what matters most; as fine again as there is room for."""
        self.view.settle()
        if self.bars < PAGE * MOST_PAGES // 4:
            self.view.coarse = max(self.view.coarse // 2, 1)

    def place_all(self, now: int) -> None:
        """Place all bars anew: they lie elsewhere, or the window has another length."""
        for page in self.pages:
            if page.count:
                self._place(page, slice(0, page.count), now - self.view.window_ns)

    def _append(self, new: Bars, now: int) -> None:
        at = 0
        while at < len(new):
            page = self._page(now)
            n = min(len(new) - at, page.room - page.count)
            part = slice(page.count, page.count + n)
            for mine, given in zip(page.bars.columns(), new[at : at + n].columns(), strict=True):
                mine[part] = given
            page.count += n
            self._place(page, part, now - self.view.window_ns)
            at += n

    def _page(self, now: int) -> Page:
        """Return a page with room: the current one, one that is past, a new one, or the oldest."""
        if self._current >= 0 and self.pages[self._current].count < PAGE:
            return self.pages[self._current]
        if self.pages:
            following = (self._current + 1) % len(self.pages)
            oldest = self.pages[following]
            past = oldest.end() < now - self.view.window_ns
            if past or len(self.pages) >= MOST_PAGES:
                if not past:
                    self.overrun += oldest.count
                    self.view.coarse = min(2 * self.view.coarse, MOST_COARSE)
                oldest.clear(now)
                self._current = following
                return oldest
        page = Page(PAGE, len(self.pages) + 1)
        page.clear(now)
        self._current += 1
        self.pages.insert(self._current, page)
        return page

    def _show_open(self, going: Bars, now: int) -> None:
        page = self.open
        before, page.count = page.count, min(len(going), page.room)
        page.origin = now
        for mine, given in zip(page.bars.columns(), going.columns(), strict=True):
            mine[: page.count] = given[: page.count]
        if page.count < before:
            page.corner[page.count : before] = 0
            page.touch(page.count, before)
        if page.count:
            self._place(page, slice(0, page.count), now - self.view.window_ns)

    def _place(self, page: Page, part: slice, edge: int) -> None:
        """Compute the corners of a part of a page; what lies before ``edge`` is cut off."""
        bars = page.bars[part]
        section = self.view.sections(bars)
        scale = LENGTH / self.view.window_ns
        start, end = bars.time[:, 0], bars.time[:, 1]
        cut = start < edge
        corner = page.corner[part].reshape(-1, 2, 4, 3)
        corner[:, :, :, 1:] = section
        if cut.any():
            share = np.zeros(len(bars), np.float32)
            share[cut] = (edge - start[cut]) / np.maximum(end[cut] - start[cut], 1)
            share = np.minimum(share, 1.0)[:, None, None]
            corner[:, 0, :, 1:] += (section[:, 1] - section[:, 0]) * share
            start = np.maximum(start, edge)
        corner[:, 0, :, 0] = ((start - page.origin) * scale)[:, None]
        corner[:, 1, :, 0] = ((end - page.origin) * scale)[:, None]
        gone = end < edge
        if gone.any():
            corner[gone] = 0
        page.touch(part.start, part.stop)

    def _sweep(self, now: int) -> None:
        """Cut off what has passed the far edge, a few pages at a time."""
        edge = now - self.view.window_ns
        for _ in range(min(_SWEPT, len(self.pages))):
            self._swept = (self._swept + 1) % len(self.pages)
            page = self.pages[self._swept]
            if not page.count:
                continue
            time = page.bars.time[: page.count]
            if not (time[:, 0] < edge).any():
                continue
            stays = time[:, 1] >= edge
            n = int(np.count_nonzero(stays))
            if n < page.count:
                for column in page.bars.columns():
                    column[:n] = column[: page.count][stays]
                page.corner[n : page.count] = 0
                page.touch(n, page.count)
                page.count = n
            if n:
                self._place(page, slice(0, n), edge)
