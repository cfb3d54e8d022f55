"""The bytes that live, as a curve on the clock of a live view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...drawing.picked import Description
from ...drawing.stream import Bars, Sections, bars, box_sections
from ...kernels.live import live_bytes as k
from ...units import byte_size, duration
from ..growing import GrowingTrace

#: Pieces of the curve in a window.
_PIECES = 240
_FIRST_SLOTS = 1 << 12


class LiveBytes:
    """Follows the rows of memory that a feed brings.

    Parameters
    ----------
    growing : GrowingTrace
    window_ns : int
        Nanoseconds.
    key, color : int
        Of the bars that it makes.

    Attributes
    ----------
    changed : bool
        Set when the curve's scale is another one; who has placed its pieces clears it.
    """

    def __init__(self, growing: GrowingTrace, window_ns: int, key: int, color: int) -> None:
        self._growing, self._window_ns, self._key, self._color = growing, window_ns, key, color
        self._next = 0
        self._state = np.zeros(k.STATE_SIZE, np.int64)
        self._keys = np.empty(_FIRST_SLOTS, np.uint64)
        self._sizes = np.full(_FIRST_SLOTS, k.FREE, np.int64)
        self._when, self._value, self._highest = -1, 0, 1.0
        self.changed = False

    def __bool__(self) -> bool:
        return bool(self._next)

    @property
    def now(self) -> int:
        """Bytes that live now."""
        return int(self._state[k.LIVE])

    def advance(self, now: int) -> Bars:
        """Take what has come; return new pieces of the curve, each as high as the most that lived meanwhile.

        Parameters
        ----------
        now : int
            Nanoseconds.

        Returns
        -------
        Bars
        """
        batches, self._next = self._growing.batches("memory", self._next)
        for batch in batches:
            self._follow(batch["kind"], batch["address"], batch["size"])
        if not self or (self._when >= 0 and now - self._when < self._window_ns // _PIECES):
            return Bars.empty()
        most, self._state[k.MOST] = int(self._state[k.MOST]), self._state[k.LIVE]
        begin, before = self._when, self._value
        self._when, self._value = now, most
        if begin < 0:
            return Bars.empty()
        if most > self._highest:
            self._highest, self.changed = 1.3 * most, True
        return bars(np.array([[begin, now]]), np.array([self._key]), np.array([self._color]),
                    np.array([before]), np.array([most]))  # fmt: skip

    def _follow(self, kind: NDArray[np.uint8], address: NDArray[np.uint64], size: NDArray[np.int64]) -> None:
        columns = (
            np.ascontiguousarray(kind, np.uint8), np.ascontiguousarray(address, np.uint64),
            np.ascontiguousarray(size, np.int64),
        )  # fmt: skip
        at = 0
        while (at := int(k.follow_bytes(at, *columns, self._keys, self._sizes, self._state))) < len(kind):
            slots = _FIRST_SLOTS
            while slots < 8 * int(self._state[k.BLOCKS]):
                slots *= 2
            keys, sizes = np.empty(slots, np.uint64), np.full(slots, k.FREE, np.int64)
            self._state[k.TAKEN] = k.keep_living(self._keys, self._sizes, keys, sizes)
            self._keys, self._sizes = keys, sizes

    def sections(self, given: Bars, across: tuple[float, float], height: tuple[float, float]) -> Sections:
        """Return the cross-sections of pieces of the curve.

        Parameters
        ----------
        given : Bars
            Pieces alone.
        across, height : (float, float)
            Where the curve lies, in scene units.

        Returns
        -------
        float32 (n, 2, 4, 2)
        """
        n, (low, high) = len(given), height
        out: Sections = np.empty((n, 2, 4, 2), np.float32)
        up = low + 0.01 + (high - low) * np.minimum(given.value[:, :2] / self._highest, 1.0)
        for end in (0, 1):
            sides = np.stack([np.full(n, low), up[:, end]], axis=1)
            out[:, end] = box_sections(np.tile(across, (n, 1)), sides)[:, 0]
        return out

    def words(self) -> str:
        """Return what lives now, for a text beside the curve."""
        return f"{byte_size(self.now)} live"

    def describe(self, bar: Bars) -> Description:
        """Return the description of a piece of the curve.

        Parameters
        ----------
        bar : Bars
            One.

        Returns
        -------
        Description
        """
        begin, end = (int(t) for t in bar.time[0])
        rows = [("at most", byte_size(float(bar.value[0, 1]))), ("time", duration(begin, 4))]
        return Description("Live bytes", rows=[*rows, ("within", duration(end - begin))])
