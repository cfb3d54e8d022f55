"""The wall beside the live memory: live bytes, allocations a second and the idle share along time."""

from __future__ import annotations

import numpy as np

from ....drawing.picked import Description
from ....drawing.primitives import Labels
from ....drawing.stream import Bars, LabelList, Sections, bars, box_sections
from ....units import byte_size, count, duration, percentage
from .blocks import LiveBlocks
from .colors import CURVES

#: Keys of the curves' bars: from -1 down.
KEY = -1
#: What the curves are called in the legend.
NAMES = ("live bytes", "allocations a second", "idle share")
#: A curve's step as a share of the window; how often all blocks are asked whether they are idle, and after
#: which share of the window the rate is taken anew.
_STEP, _IDLE_STEP, _RATE_STEP = 1 / 240, 1 / 60, 0.02
#: From where to where each curve reaches, as shares of the wall's height; where the wall stands across.
_STRIPES = ((0.0, 0.46), (0.54, 0.73), (0.81, 1.0))
_ACROSS = (-0.60, -0.48)


class Wall:
    """Three curves of all blocks together.

    Parameters
    ----------
    blocks : LiveBlocks
    window_ns, pause_ns : int
        Of the live view; and without a touch from which on a block is idle.
    height : float
        Scene units.

    Attributes
    ----------
    pieces : list of Bars
        Of the curves, in the window: they stay when blocks are placed anew.
    changed : bool
        Set when the scale of a curve is another one; who has placed the pieces clears it.
    """

    def __init__(self, blocks: LiveBlocks, window_ns: int, pause_ns: int, height: float) -> None:
        self._blocks, self._window_ns, self._pause_ns, self._height = blocks, window_ns, pause_ns, height
        self.pieces: list[Bars] = []
        self.changed = False
        self._when = 0
        self._value = np.zeros(3)
        self._most = np.array([1.0, 1.0, 1.0])
        self._rate_since = (0, 0)
        self._idle_at, self._idle_share = 0, 0.0

    def advance(self, now: int) -> list[Bars]:
        """Return new pieces of the curves, if it is time for them."""
        if now - self._when < _STEP * self._window_ns:
            return []
        k, totals = self._blocks.k, self._blocks.totals
        live, allocated = int(totals[k.BYTES_NOW]), int(totals[k.ALLOCATED])
        since, earlier = self._rate_since
        rate = self._value[1]
        if now - since > _RATE_STEP * self._window_ns:
            rate = (allocated - earlier) / ((now - since) / 1e9)
            self._rate_since = (now, allocated)
        if now - self._idle_at > _IDLE_STEP * self._window_ns and len(self._blocks.blocks):
            self._idle_at = now
            self._idle_share = self._blocks.idle(now - self._pause_ns) / max(live, 1)
        when, before = self._when, self._value
        self._when, self._value = now, np.array([live, rate, self._idle_share])
        if not when:
            return []
        over = self._value[:2] > self._most[:2]
        if over.any():
            self._most[:2] = np.where(over, 1.3 * self._value[:2], self._most[:2])
            self.changed = True
        number = np.arange(3)
        piece = bars(np.tile([when, now], (3, 1)), KEY - number, CURVES + number, before, self._value)
        self.pieces.append(piece)
        del self.pieces[: -int(1 / _STEP)]
        return [piece]

    def sections(self, given: Bars, out: Sections) -> None:
        """Write the cross-sections of the bars that are pieces of curves into ``out``.

        Parameters
        ----------
        given : Bars
            Bars of a page.
        out : float32 (n, 2, 4, 2)
            As :func:`~tracevis3d.drawing.stream.box_sections` returns them.
        """
        for number, (bottom, top) in enumerate(_STRIPES):
            curve = given.key == KEY - number
            n = int(np.count_nonzero(curve))
            if not n:
                continue
            share = np.minimum(given.value[curve, :2] / self._most[number], 1.0)
            up = self._height * (bottom + (top - bottom) * share) + 0.01
            base = np.full(n, self._height * bottom)
            for end in (0, 1):
                height = np.stack([base, up[:, end]], axis=1)
                out[curve, end] = box_sections(np.tile(_ACROSS, (n, 1)), height)[:, 0]

    def labels(self, beside: float) -> Labels:
        """Return the values that the curves have now."""
        value, found = self._value, LabelList("value", 1)
        texts = (
            byte_size(value[0]),
            f"{count(round(value[1]))} allocations/s",
            f"{percentage(value[2])} idle",
        )
        for text, (low, high) in zip(texts, _STRIPES, strict=True):
            height = self._height * (low + 0.35 * (high - low)) + 0.09
            found.add(text, (beside, _ACROSS[0] - 0.15, height), 0.3)
        return found.labels()

    def describe(self, bar: Bars, at: int) -> Description:
        """Return the description of a piece of a curve.

        Parameters
        ----------
        bar : Bars
            One.
        at : int
            Nanoseconds.

        Returns
        -------
        Description
        """
        number = KEY - int(bar.key[0])
        begin, end = bar.time[0].tolist()
        share = min(max((at - begin) / max(end - begin, 1), 0.0), 1.0)
        value = float(bar.value[0, 0] + share * (bar.value[0, 1] - bar.value[0, 0]))
        title = ("Live bytes", "Allocations a second", "Idle share of the live bytes")[number]
        text = (byte_size(value), count(round(value)), percentage(value))[number]
        return Description(title, rows=[("here", text), ("time", duration(at, 3))])
