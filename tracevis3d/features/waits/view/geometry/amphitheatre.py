"""Where the rows of an amphitheatre are: on a half cylinder, in lanes, or on SyncTrace's semicircle.

A row's surface has three coordinates: the share of its time window (0 to 1), the distance outward from the
edge of its first level, and the distance in front of it, towards the reader. :class:`Theatre` places them.

On the half cylinder time runs along the axis x, one ruler for all rows, and the hollow core lies before
them. Rows are spread evenly as the reader sees them, not by angle, so that none hides another; each leans
from the radius towards the reader as far as ``facing`` says. In ``lanes`` rows stand above each other in one
plane. On ``paper`` (SyncTrace, section IV-B) time runs along the angle of each row's section of a semicircle
below the centre, levels grow outward from radius Z, and the main thread lies straight above the centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Minimum distance of a row from the rim of the half cylinder, as a share of its radius.
_RIM = 0.985
#: Minimum angle between a row and the view direction, in radians; of rows in the lower half.
_SLANT, _SLANT_BELOW = 0.22, 0.7
#: Maximum angle of a section of a bent block, in degrees.
_STEP = 2.0
_MOST_SECTIONS = 96
#: Smallest height of a folded level, as a share of its own.
FOLDED = 0.14


def folded(heights: Floats, fold: float) -> Floats:
    """Return the heights of levels of which the first ``fold`` are folded (SyncTrace, section IV-C).

    Levels shrink one after another, from the first; the last of a broken number is on its way.

    Parameters
    ----------
    heights : float64 (levels,)
        Unfolded.
    fold : float
        How many levels.

    Returns
    -------
    float64 (levels,)
    """
    level = np.arange(len(heights))
    share = np.clip(fold - level, 0.0, 1.0)
    return np.asarray(heights * (1.0 - (1.0 - FOLDED) * share))


@dataclass(frozen=True, eq=False)
class Rows:
    """The division of the picture's height among rows; the first is the topmost.

    Attributes
    ----------
    low, high : float64 (n,)
        Where each begins and ends, from -1 at the lower rim to 1 at the upper.
    unit : float
        Height of a level of height 1, in these units.
    """

    low: Floats
    high: Floats
    unit: float


def share_height(levels: Floats, weight: Floats, *, spacing: float, least: float, most: float) -> Rows:
    """Return rows that fill the height from -1 to 1 together, unless levels would be higher than ``most``.

    Parameters
    ----------
    levels : float64 (n,)
        Height of each row's levels together, of which 1 is that of a usual level.
    weight : float64 (n,)
        How many times as high as usual a row is: focused rows are higher.
    spacing : float
        Free height between rows, as a share of the smaller of their neighbours' average height.
    least : float
        No row of weight 1 is lower.
    most : float
        No level of height 1 is higher.

    Returns
    -------
    Rows
    """
    n = len(levels)
    if not n:
        return Rows(np.empty(0), np.empty(0), most)
    low, high = 0.0, most
    for _ in range(50):
        unit = (low + high) / 2
        height = np.maximum(levels * unit, least) * weight
        if height.sum() * (1.0 + spacing) > 2.0:
            high = unit
        else:
            low = unit
    height = np.maximum(levels * low, least) * weight
    gap = spacing * float(height.mean())
    total = float(height.sum()) + gap * (n - 1)
    if total > 2.0:
        height, gap, low = height * (2.0 / total), gap * (2.0 / total), low * (2.0 / total)
        total = 2.0
    top = total / 2 - np.concatenate([[0.0], np.cumsum(height + gap)[:-1]])
    return Rows(top - height, top, low)


@dataclass(frozen=True, eq=False)
class Theatre:
    """The places of rows, in scene units.

    Attributes
    ----------
    width : float
        Of the time window.
    base : float64 (n, 2)
        y and z of the edge of each row's first level, in the straight forms.
    angle : float64 (n,)
        Direction outward, in the plane of y and z: 0 is away from the reader, a quarter turn is up.
    upright : float64 (n,)
        1 where the side towards the reader is to the left of that direction, -1 where it is to the right.
    stretch : float64 (n,)
        Scene units of one unit outward, in the straight forms.
    sector : float64 (n, 2)
        First and last angle of the row's section of the semicircle, counter-clockwise from x, in radians.
        Equal for the main thread, which is straight there too.
    centre : (float, float)
        x and z of the semicircle's centre.
    zero : float
        Radius of the first level's edge on the semicircle (the paper's Z).
    level : float
        Scene units of one unit outward on the semicircle.
    main_foot : float
        z of the first level's edge of the main thread on paper; its levels grow upward, away from the core.
    main_level : float
        Scene units of one unit outward of the main thread on paper.
    paper : float
        0: straight, 1: the paper's picture; between them points go straight from one to the other.
    axis : (float, float)
        y and z of the core's axis in the straight forms.
    """

    width: float
    base: Floats
    angle: Floats
    upright: Floats
    stretch: Floats
    sector: Floats
    centre: tuple[float, float]
    zero: float
    level: float
    main_foot: float
    main_level: float
    paper: float
    axis: tuple[float, float]

    def place(self, row: Ints, share: Floats, out: Floats, front: Floats | float) -> Floats:
        """Return the points (n, 3) of rows at shares of their windows, distances outward and in front.

        Parameters
        ----------
        row : int64 (n,)
            Which rows.
        share : float64 (n,)
            0 to 1 where their windows begin and end.
        out : float64 (n,)
            Distances outward, in levels.
        front : float64 (n,) or float
            Distances in front of the row's surface.

        Returns
        -------
        float64 (n, 3)
        """
        straight = np.empty((len(row), 3))
        cosine, sine = np.cos(self.angle[row]), np.sin(self.angle[row])
        reach = self.stretch[row] * out
        ahead = self.upright[row] * front
        straight[:, 0] = share * self.width
        straight[:, 1] = self.base[row, 0] + reach * cosine - ahead * sine
        straight[:, 2] = self.base[row, 1] + reach * sine + ahead * cosine
        if self.paper <= 0.0:
            return straight
        return (1.0 - self.paper) * straight + self.paper * self.on_paper(row, share, out, front)

    def on_paper(self, row: Ints, share: Floats, out: Floats, front: Floats | float) -> Floats:
        """Return where points are in the paper's picture, (n, 3).

        Parameters
        ----------
        row : int64 (n,)
            Which rows.
        share : float64 (n,)
            0 to 1 where their windows begin and end.
        out : float64 (n,)
            Distances outward, in levels.
        front : float64 (n,) or float
            Distances in front of the row's surface.

        Returns
        -------
        float64 (n, 3)
        """
        first, last = self.sector[row, 0], self.sector[row, 1]
        bent = last > first
        angle = first + share * (last - first)
        radius = self.zero + self.level * out
        flat = np.empty((len(row), 3))
        flat[:, 0] = np.where(bent, self.centre[0] + radius * np.cos(angle), share * self.width)
        flat[:, 2] = np.where(
            bent, self.centre[1] + radius * np.sin(angle), self.main_foot + self.main_level * out
        )
        flat[:, 1] = -np.asarray(front)
        return flat

    def core(self, share: Floats) -> Floats:
        """Return the points (n, 3) of the core's axis at shares of the window: on paper the centre."""
        straight = np.empty((len(share), 3))
        straight[:, 0] = share * self.width
        straight[:, 1], straight[:, 2] = self.axis
        flat = np.array([self.centre[0], 0.0, self.centre[1]])
        return np.asarray((1.0 - self.paper) * straight + self.paper * flat)

    def sections(self, row: Ints, low: Floats, high: Floats) -> Ints:
        """Return how many sections a block from share ``low`` to ``high`` needs to look bent, 2 or more.

        Parameters
        ----------
        row : int64 (n,)
            Which rows.
        low, high : float64 (n,)
            Shares of their windows.

        Returns
        -------
        int64 (n,)
        """
        if self.paper <= 0.0:
            return np.full(len(row), 2, np.int64)
        turn = np.degrees((high - low) * (self.sector[row, 1] - self.sector[row, 0]))
        return np.asarray(np.clip(np.ceil(turn / _STEP) + 1, 2, _MOST_SECTIONS), np.int64)

    def blocks(
        self, row: Ints, low: Floats, high: Floats, inner: Floats, outer: Floats, back: Floats, front: Floats
    ) -> tuple[NDArray[np.float32], Ints]:
        """Return blocks as :class:`~..drawing.words.Wedges` has them: corners (m, 4, 3), where each begins.

        Parameters
        ----------
        row : int64 (n,)
        low, high : float64 (n,)
            Shares of the window.
        inner, outer : float64 (n,)
            Distances outward.
        back, front : float64 (n,)
            Distances in front.

        Returns
        -------
        (float32 (m, 4, 3), int64 (n + 1,))
        """
        count = self.sections(row, low, high)
        first = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        owner = np.repeat(np.arange(len(row)), count)
        step = (np.arange(len(owner)) - first[owner]) / (count[owner] - 1)
        share = low[owner] + step * (high - low)[owner]
        corner = np.empty((len(owner), 4, 3), np.float32)
        sides = ((inner, back), (outer, back), (outer, front), (inner, front))
        for k, (out, ahead) in enumerate(sides):
            corner[:, k] = self.place(row[owner], share, out[owner], ahead[owner])
        return corner, first


def half_cylinder(
    rows: Rows, radius: float, *, facing: float, turned: float, lanes: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return base, angle, upright and stretch of rows on a half cylinder around the axis x.

    Parameters
    ----------
    rows : Rows
    radius : float
        Of the edge of the rows' first levels: the paper's Z.
    facing : float
        0: rows point along the radius, 1: they face the reader.
    turned : float
        The reader's height above straight ahead, radians: the half cylinder opens towards them.
    lanes : float
        0: on the half cylinder, 1: all in one plane, upright.

    Returns
    -------
    (float64 (n,), float64 (n,), float64 (n,), float64 (n,))
    """
    # All rows stand on their lower edge: no stack is upside down.
    around = np.arcsin(np.clip(rows.low * _RIM, -1.0, 1.0))
    angle = around + facing * (np.pi / 2 - around)
    # Rows before the reader's eye would be seen from their edge, and those below it lie flat.
    angle = np.maximum(angle, np.where(rows.low + rows.high >= 0, _SLANT, _SLANT_BELOW))
    # As high as the reader is to see it.
    stretch = radius / np.abs(np.sin(angle))
    base = radius * np.stack([np.cos(around), np.sin(around)], axis=1)
    angle = angle - turned
    base = _turn(base, -turned)
    plane = radius * np.stack([np.full(len(around), 0.35), rows.low], axis=1)
    upright = np.where((1.0 - lanes) * angle + lanes * np.pi / 2 >= 0, 1.0, -1.0)
    return (
        (1.0 - lanes) * base + lanes * plane,
        (1.0 - lanes) * angle + lanes * np.pi / 2,
        upright,
        (1.0 - lanes) * stretch + lanes * radius,
    )


def _turn(point: Floats, angle: float) -> Floats:
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.asarray(point @ np.array([[cosine, sine], [-sine, cosine]]))


def semicircle(weight: Floats) -> Floats:
    """Return the sections (n, 2) of rows on the semicircle below the centre, from left to right.

    Each gets the same angle times its weight.

    Parameters
    ----------
    weight : float64 (n,)
        Of each row.

    Returns
    -------
    float64 (n, 2)
        Radians.
    """
    share = np.concatenate([[0.0], np.cumsum(weight)]) / max(float(weight.sum()), 1e-12)
    angle = np.pi * (1.0 + share)
    return np.stack([angle[:-1], angle[1:]], axis=1)
