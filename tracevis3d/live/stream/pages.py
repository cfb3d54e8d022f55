"""The ring of pages that rows flow through: written once, moved as wholes, written again when they are past.

A page is what goes to the graphics card at once. Only the page that takes new rows, and those that the far
edge of the window runs through, are written in a tick; all others just move.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.palettes import OTHER
from ...kernels.layout.pick_bars import pick_bar
from .live_view import LENGTH, MOST_COARSE, LiveView, Rows

#: Rows of a page; pages at most.
PAGE, MOST_PAGES = 2048, 64
#: Rows that go on at a time and are shown.
MOST_OPEN = 4096
#: Pages that the far edge is looked at in, in a tick.
_SWEPT = 3
#: Lightness of the corners, two below and two above, at the start and at the end: neighbours stay apart.
_SHADE = np.array([[0.84, 0.84, 1.0, 1.0], [0.72, 0.72, 0.9, 0.9]], np.float32)
#: Faces of a bar with four corners at the start and four at the end; and the triangles that they are.
FACES = np.array(
    [[0, 1, 2, 3], [4, 7, 6, 5], [0, 4, 5, 1], [1, 5, 6, 2], [2, 6, 7, 3], [3, 7, 4, 0]], np.int32
)
TRIANGLES = np.ascontiguousarray(FACES[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3))


class Page:
    """Rows with their corners.

    Attributes
    ----------
    number : int
        Of the page among all that were ever made.
    rows : Rows
        With room for more than ``count``.
    count : int
    origin : int
        Nanoseconds of the coordinate 0 along time.
    corner : float32 (room, 8, 3)
        Along time, across, height; four at the start, four at the end. Equal where nothing is.
    color : float32 (room, 8, 4)
        Linear.
    dirty : bool
        Corners or colours have changed since they were shown.
    """

    def __init__(self, room: int, number: int) -> None:
        self.number = number
        self.rows = Rows.empty(room)
        self.count = 0
        self.origin = 0
        self.corner = np.zeros((room, 8, 3), np.float32)
        self.color = np.ones((room, 8, 4), np.float32)
        self.dirty = True

    @property
    def room(self) -> int:
        return len(self.rows)

    def clear(self, origin: int) -> None:
        """Take all rows away."""
        self.corner[: self.count] = 0
        self.count, self.origin, self.dirty = 0, origin, True

    def last(self) -> int:
        """Return when the last of its rows ends."""
        return int(self.rows.time[: self.count, 1].max()) if self.count else 0


class Ring:
    """The rows of a live view.

    Parameters
    ----------
    flow : Flow

    Attributes
    ----------
    pages : list of Page
    open : Page
        What goes on.
    overrun : int
        Rows that had to go while they were in the window, since there is no more room.
    """

    def __init__(self, flow: LiveView) -> None:
        self.flow = flow
        self.pages: list[Page] = []
        self.open = Page(MOST_OPEN, 0)
        self.overrun = 0
        self._current = -1
        self._swept = 0
        self._palette = np.ones((1, 2, 4, 4), np.float32)

    @property
    def rows(self) -> int:
        """How many rows there are, ended ones and others."""
        return sum(page.count for page in self.pages) + self.open.count

    def advance(self, now: int) -> None:
        """Take what has come; what is past goes a little later."""
        flow = self.flow
        came = flow.advance()
        if flow.renewed:
            flow.renewed = False
            for page in self.pages:
                page.clear(now)
            self._current = 0 if self.pages else -1
        if flow.recolored:
            flow.recolored = False
            self._recolor()
        going = flow.front(now)
        if flow.relaid:
            flow.relaid = False
            flow.lay_out()
            self._place_all(now)
        self._append(came, now)
        self._show_open(going, now)
        self._sweep(now)

    def pick(self, ray: NDArray[np.float64], now: int) -> tuple[Page, int, float] | None:
        """Return page and number of the row that a ray meets first, and how far away; None if it meets none.

        Parameters
        ----------
        ray : float64 (7,)
            Origin, direction of length 1, nearest distance; along time (0 is ``now``), across, height.
        now : int
        """
        best, found = np.array([np.inf]), None
        for page in (self.open, *self.pages):
            if page.count:
                mine = ray.copy()
                mine[0] -= (page.origin - now) * LENGTH / self.flow.window_ns
                if (row := int(pick_bar(page.corner, page.count, TRIANGLES, mine, best))) >= 0:
                    found = page, row
        return (*found, float(best[0])) if found is not None else None

    def settle(self) -> None:
        """Every few seconds: colours for what matters most; as fine again as there is room for."""
        self.flow.settle()
        if self.rows < PAGE * MOST_PAGES // 4:
            self.flow.coarse = max(self.flow.coarse // 2, 1)

    def rescale(self, now: int) -> None:
        """Place everything anew: the window's length has changed."""
        self._place_all(now)

    def _append(self, rows: Rows, now: int) -> None:
        at = 0
        while at < len(rows):
            page = self._page(now)
            n = min(len(rows) - at, page.room - page.count)
            part = slice(page.count, page.count + n)
            new = rows[at : at + n]
            for mine, given in zip(_columns(page.rows), _columns(new), strict=True):
                mine[part] = given
            page.count += n
            self._place(page, part, now - self.flow.window_ns)
            at += n

    def _page(self, now: int) -> Page:
        """Return a page with room: the current one, one that is past, a new one, or the oldest."""
        if self._current >= 0 and self.pages[self._current].count < PAGE:
            return self.pages[self._current]
        if self.pages:
            following = (self._current + 1) % len(self.pages)
            oldest = self.pages[following]
            past = oldest.last() < now - self.flow.window_ns
            if past or len(self.pages) >= MOST_PAGES:
                if not past:
                    self.overrun += oldest.count
                    self.flow.coarse = min(2 * self.flow.coarse, MOST_COARSE)
                oldest.clear(now)
                self._current = following
                return oldest
        page = Page(PAGE, len(self.pages) + 1)
        page.clear(now)
        self._current += 1
        self.pages.insert(self._current, page)
        return page

    def _show_open(self, going: Rows, now: int) -> None:
        page = self.open
        before, page.count = page.count, min(len(going), page.room)
        page.origin = now
        for mine, given in zip(_columns(page.rows), _columns(going), strict=True):
            mine[: page.count] = given[: page.count]
        page.corner[page.count : before] = 0
        page.dirty = bool(before or page.count)
        if page.count:
            self._place(page, slice(0, page.count), now - self.flow.window_ns)

    def _place(self, page: Page, part: slice, edge: int) -> None:
        """Compute the corners and colours of a part of a page; what lies before ``edge`` is cut off."""
        rows = page.rows[part]
        section = self.flow.sections(rows)
        scale = LENGTH / self.flow.window_ns
        start, end = rows.time[:, 0], rows.time[:, 1]
        cut = start < edge
        corner = page.corner[part].reshape(-1, 2, 4, 3)
        corner[:, :, :, 1:] = section
        if cut.any():
            share = np.zeros(len(rows), np.float32)
            share[cut] = (edge - start[cut]) / np.maximum(end[cut] - start[cut], 1)
            share = np.minimum(share, 1.0)[:, None, None]
            corner[:, 0, :, 1:] += (section[:, 1] - section[:, 0]) * share
            start = np.maximum(start, edge)
        corner[:, 0, :, 0] = ((start - page.origin) * scale)[:, None]
        corner[:, 1, :, 0] = ((end - page.origin) * scale)[:, None]
        gone = end < edge
        if gone.any():
            corner[gone] = 0
        kind = rows.kind
        color = page.color[part].reshape(-1, 2, 4, 4)
        known = np.minimum(kind, len(self._palette) - 1)
        color[:, 0] = self._palette[known[:, 0], 0]
        color[:, 1] = self._palette[known[:, 1], 1]
        page.dirty = True

    def _place_all(self, now: int) -> None:
        for page in self.pages:
            if page.count:
                self._place(page, slice(0, page.count), now - self.flow.window_ns)

    def _recolor(self) -> None:
        # What nobody has spoken of yet is grey.
        srgb = np.concatenate([self.flow.colors(), OTHER[None, :3]])
        shaded = srgb[:, None, None, :] * _SHADE[None, :, :, None]
        self._palette = np.ones((*shaded.shape[:3], 4), np.float32)
        self._palette[..., :3] = _linear(shaded)
        for page in self.pages:
            n = page.count
            known = np.minimum(page.rows.kind[:n], len(self._palette) - 1)
            color = page.color[:n].reshape(-1, 2, 4, 4)
            color[:, 0] = self._palette[known[:, 0], 0]
            color[:, 1] = self._palette[known[:, 1], 1]
            page.dirty = True

    def _sweep(self, now: int) -> None:
        """Cut off what has passed the far edge, a few pages at a time."""
        edge = now - self.flow.window_ns
        for _ in range(min(_SWEPT, len(self.pages))):
            self._swept = (self._swept + 1) % len(self.pages)
            page = self.pages[self._swept]
            if not page.count:
                continue
            time = page.rows.time[: page.count]
            if not (time[:, 0] < edge).any():
                continue
            stays = time[:, 1] >= edge
            n = int(np.count_nonzero(stays))
            if n < page.count:
                for column in _columns(page.rows):
                    column[:n] = column[: page.count][stays]
                page.corner[n : page.count] = 0
                page.count, page.dirty = n, True
            if n:
                self._place(page, slice(0, n), edge)


def _columns(rows: Rows) -> tuple[NDArray[Any], ...]:
    return rows.time, rows.key, rows.value, rows.kind


def _linear(srgb: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.where(srgb <= 0.04045, srgb / 12.92, ((np.maximum(srgb, 0) + 0.055) / 1.055) ** 2.4)
    return np.asarray(out, np.float32)
