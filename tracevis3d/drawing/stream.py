"""The primitives of a moving drawing: bars that move along time, their places, and the texts on them.

A drawing that moves is not made again for each picture: what has come to its end is a bar that lies still on
a page, and pages move. Coordinates are those of the stream, in scene units: time (0 is *now*, what was lies
before it), across and height. Texts are :class:`~.primitives.Labels`, colours indices into a palette, what
they mean a :class:`~.primitives.Legend`, and the ruler an :class:`~.primitives.Axis`, as in any drawing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .primitives import Labels

#: Cross-sections of bars, float32 (n, 2, 4, 2): across and height of four corners at the start and the end.
Sections = NDArray[np.float32]

#: Length of the time window, and maximum length of names beyond *now*, in scene units.
LENGTH, BESIDE = 16.0, 2.4


@dataclass(frozen=True, eq=False)
class Bars:
    """Bars along time, as columns. What key and values mean is up to the view, which knows where bars lie.

    Attributes
    ----------
    time : int64 (n, 2)
        Start and end, in nanoseconds of the trace.
    key : int32 (n,)
        Which lane, item or pair.
    value : float32 (n, 3)
        What else decides where a bar lies.
    color : int32 (n, 2)
        Indices into the view's palette, at the start and at the end.
    """

    time: NDArray[np.int64]
    key: NDArray[np.int32]
    value: NDArray[np.float32]
    color: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.key)

    def __getitem__(self, part: slice | NDArray[np.bool_]) -> Bars:
        return Bars(self.time[part], self.key[part], self.value[part], self.color[part])

    def columns(self) -> tuple[NDArray[Any], ...]:
        """Return the arrays, as views."""
        return self.time, self.key, self.value, self.color

    @classmethod
    def empty(cls, n: int = 0) -> Bars:
        """Return ``n`` bars of zeros."""
        return cls(
            np.zeros((n, 2), np.int64),
            np.zeros(n, np.int32),
            np.zeros((n, 3), np.float32),
            np.zeros((n, 2), np.int32),
        )

    @classmethod
    def joined(cls, parts: Sequence[Bars]) -> Bars:
        """Return all bars of ``parts``, in order."""
        if not parts:
            return cls.empty()
        return cls(*(np.concatenate(column) for column in zip(*(p.columns() for p in parts), strict=True)))


def bars(
    time: NDArray[np.integer[Any]],
    key: NDArray[np.integer[Any]],
    color: NDArray[np.integer[Any]],
    *values: NDArray[Any],
) -> Bars:
    """Return bars of columns of any dtype.

    Parameters
    ----------
    time : int (n, 2)
    key : int (n,)
    color : int (n,) or (n, 2)
        One column: the same at both ends.
    *values : float (n,)
        Up to three; zeros in place of those that are left out.

    Returns
    -------
    Bars
    """
    value = np.zeros((len(key), 3), np.float32)
    for i, column in enumerate(values):
        value[:, i] = column
    both = np.asarray(color, np.int32)
    if both.ndim == 1:
        both = np.repeat(both[:, None], 2, axis=1)
    return Bars(np.asarray(time, np.int64).reshape(-1, 2), np.asarray(key, np.int32), value, both)


def box_sections(across: NDArray[Any], height: NDArray[Any]) -> Sections:
    """Return the cross-sections of straight boxes.

    Parameters
    ----------
    across, height : float (n, 2)
        From and to.

    Returns
    -------
    float32 (n, 2, 4, 2)
        The four corners at both ends, as across and height.
    """
    out: Sections = np.empty((len(across), 2, 4, 2), np.float32)
    out[:, :, :, 0] = across[:, None, [0, 1, 1, 0]]
    out[:, :, :, 1] = height[:, None, [0, 0, 1, 1]]
    return out


class Page:
    """Bars with their corners, which are written and moved as a whole.

    Parameters
    ----------
    room : int
        Bars that it has room for.
    number : int

    Attributes
    ----------
    number : int
        Of the page among all that were ever made.
    bars : Bars
        With room for more than ``count``.
    count : int
    origin : int
        Nanoseconds at the coordinate 0 along time.
    corner : float32 (room, 8, 3)
        Time, across and height; four corners at the start, four at the end. All equal where nothing is.
    changed : (int, int)
        From which bar to which corners or colours have changed since :meth:`shown`.
    """

    def __init__(self, room: int, number: int) -> None:
        self.number = number
        self.bars = Bars.empty(room)
        self.count = 0
        self.origin = 0
        self.corner = np.zeros((room, 8, 3), np.float32)
        self.changed = (0, room)

    @property
    def room(self) -> int:
        """Bars that it has room for."""
        return len(self.bars)

    def touch(self, first: int = 0, last: int | None = None) -> None:
        """Note that bars have changed; all, if nothing is said.

        Parameters
        ----------
        first, last : int
            The bars ``[first, last)``; without ``last`` up to the page's end.
        """
        last = self.room if last is None else last
        low, high = self.changed
        self.changed = (min(first, low), max(last, high)) if low < high else (first, last)

    def shown(self) -> None:
        """Note that all is shown as it is."""
        self.changed = (0, 0)

    def clear(self, origin: int) -> None:
        """Remove all bars."""
        self.corner[: self.count] = 0
        self.touch(0, self.count)
        self.count, self.origin = 0, origin

    def end(self) -> int:
        """Return when the last of its bars ends; 0: it has none."""
        return int(self.bars.time[: self.count, 1].max()) if self.count else 0


@dataclass(frozen=True, eq=False)
class StreamLabels:
    """The texts of a moving drawing. Anchors are in the stream's coordinates: time, across, height.

    Attributes
    ----------
    moving : tuple of Labels
        On what is at a moment, and moves with it.
    still : tuple of Labels
        Beside the window: they stay.
    """

    moving: tuple[Labels, ...] = ()
    still: tuple[Labels, ...] = ()

    def __iter__(self) -> Any:
        yield from self.moving
        yield from self.still

    def texts(self) -> list[str]:
        """Return all texts."""
        return [text for labels in self for text in labels.text]


@dataclass
class LabelList:
    """Collects texts one by one, for :class:`~.primitives.Labels`.

    Attributes
    ----------
    kind : str
        ``warning`` for what needs attention.
    align : {-1, 0, 1}
        Anchors are at the left ends, the middles or the right ends.
    """

    kind: str
    align: Literal[-1, 0, 1] = -1
    _text: list[str] = field(default_factory=list)
    _number: list[tuple[float, float, float, float, float]] = field(default_factory=list)

    def add(self, text: str, anchor: tuple[float, float, float], size: float, room: float = math.inf) -> None:
        """Add a text: its anchor is half a line's capitals high, its line height ``size`` scene units.

        Parameters
        ----------
        text : str
            One line.
        anchor : (float, float, float)
            Where it begins, in the live view's coordinates.
        size : float
            Line height in scene units.
        room : float
            Width in scene units that it is shortened to.
        """
        self._text.append(text)
        self._number.append((*anchor, size, room))

    def labels(self) -> Labels:
        """Return what was added."""
        number = np.array(self._number, np.float32).reshape(-1, 5)
        n = len(number)
        return Labels(
            self.kind, tuple(self._text), number[:, :3], number[:, 3], number[:, 4], np.zeros(n, np.float32),
            self.align,
        )  # fmt: skip
