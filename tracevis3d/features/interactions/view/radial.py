"""The time drum: a radial hierarchy extruded along time, at any stage between a drum and an unrolled sheet.

The mantle is bent without being stretched: at 0 it is a closed drum, looked at along its axis the circle of
Hierarchical Edge Bundles (Holten 2006); at 1 it is flat, the Massive Sequence View (ExtraVis, sections 4, 5).
Lengths along the mantle stay what they are. What lies inside the drum keeps its place relative to the mantle
below it and sinks onto it; what stands around it as a brim folds by a right angle into the sheet's plane.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Vector = tuple[float, float, float]


@dataclass(frozen=True)
class MantleShape:
    """The place of the mantle in space.

    Attributes
    ----------
    radius : float
        Of the closed drum.
    length : float
        Along time.
    unroll : float
        0: closed, 1: flat.
    time, along, inward : Vector
        Orthonormal: where time goes, where the hierarchy goes along the flat sheet, and where the sheet's
        inner side looks in its middle.
    roll : float
        Radians by which the closed drum is turned around its axis; the flat sheet is not.
    origin : Vector
        The drum's middle at the start of time.
    """

    radius: float
    length: float
    unroll: float = 0.0
    time: Vector = (1.0, 0.0, 0.0)
    along: Vector = (0.0, 0.0, -1.0)
    inward: Vector = (0.0, -1.0, 0.0)
    roll: float = 0.0
    origin: Vector = (0.0, 0.0, 0.0)

    @property
    def circumference(self) -> float:
        """Length of the mantle from seam to seam."""
        return 2 * math.pi * self.radius

    def section(self, s: Floats, unroll: float | None = None) -> tuple[Floats, Floats, Floats]:
        """Return place (..., 2), tangent and inward normal of the mantle's cross-section at ``s``.

        Parameters
        ----------
        s : float64
            0 to 1 from seam to seam.
        unroll : float, optional
            Another stage than the bend's own.

        Returns
        -------
        (float64 (..., 2), float64 (..., 2), float64 (..., 2))
        """
        u = self.unroll if unroll is None else unroll
        sigma = (np.asarray(s, np.float64) - 0.5) * self.circumference
        a = sigma * (1 - u) / self.radius
        half = np.sinc(a / (2 * np.pi))
        place = np.stack(
            [sigma * np.sinc(a / np.pi), sigma * a / 2 * half**2 - self.radius * (1 - u)], axis=-1
        )
        tangent = np.stack([np.cos(a), np.sin(a)], axis=-1)
        normal = np.stack([-np.sin(a), np.cos(a)], axis=-1)
        turn = self.roll * (1 - u)
        if turn:
            c, d = math.cos(turn), math.sin(turn)
            matrix = np.array([[c, d], [-d, c]])
            place, tangent, normal = place @ matrix, tangent @ matrix, normal @ matrix
        return place, tangent, normal

    def space(self, flat: Floats, t: Floats) -> Floats:
        """Return points (..., 3) from places in the cross-section (..., 2) and shares of the time (...).

        Parameters
        ----------
        flat : float64 (..., 2)
            In the cross-section.
        t : float64 (...)
            0 to 1.

        Returns
        -------
        float64 (..., 3)
        """
        basis = np.array([self.along, self.inward])
        along_time = np.asarray(t, np.float64)[..., None] * (self.length * np.array(self.time))
        return np.asarray(flat @ basis + along_time + np.array(self.origin))

    def mantle(self, s: Floats, t: Floats, inset: float = 0.0) -> Floats:
        """Return points on the mantle, ``inset`` inside of it.

        Parameters
        ----------
        s : float64 (...)
            0 to 1 from seam to seam.
        t : float64 (...)
            Shares of the time, 0 to 1.
        inset : float
            Scene units.

        Returns
        -------
        float64 (..., 3)
        """
        place, _, normal = self.section(s)
        return self.space(place + inset * normal, t)

    def brim(self, s: Floats, out: Floats, height: Floats) -> Floats:
        """Return points of the ring around the start of time.

        Parameters
        ----------
        s : float64 (...)
        out : float64 (...)
            How far outside of the mantle; before the start of time on the flat sheet.
        height : float64 (...)
            Above the ring: against time on the drum, towards the reader on the sheet.

        Returns
        -------
        float64 (..., 3)
        """
        place, _, normal = self.section(s)
        fold = self.unroll * math.pi / 2
        c, d = math.cos(fold), math.sin(fold)
        across = place + normal * (d * height - c * out)[..., None]
        back = -(d * np.asarray(out) + c * np.asarray(height))
        return self.space(across, back / self.length) if self.length > 1e-9 else self._flat(across, back)

    def _flat(self, across: Floats, back: Floats) -> Floats:
        basis = np.array([self.along, self.inward])
        return np.asarray(across @ basis + back[..., None] * np.array(self.time) + np.array(self.origin))

    def chords(self, curve: Floats, ends: Floats) -> Floats:
        """Bend curves inside the closed drum along with it.

        Parameters
        ----------
        curve : float64 (n, k, 2)
            In the cross-section of the closed, unturned drum, from caller to callee.
        ends : float64 (n, 2)
            Places of caller and callee along the mantle, 0 to 1.

        Returns
        -------
        float64 (n, k, 2)
            On the flat sheet each is the straight line from caller to callee.
        """
        share = np.linspace(0.0, 1.0, curve.shape[1])
        s = np.asarray(ends[:, :1] * (1 - share) + ends[:, 1:] * share, np.float64)
        closed = MantleShape(self.radius, self.length)
        place, tangent, normal = closed.section(s)
        offset = curve - place
        here, tangent_now, normal_now = self.section(s)
        sideways = (offset * tangent).sum(axis=-1, keepdims=True)
        inwards = (offset * normal).sum(axis=-1, keepdims=True)
        keep = 1.0 - self.unroll
        return np.asarray(here + keep * (sideways * tangent_now + inwards * normal_now))


@dataclass(frozen=True, eq=False)
class Sectors:
    """The places of the nodes of a hierarchy along the mantle.

    Attributes
    ----------
    low, high : float64 (n,)
        0 to 1, without the gaps between sectors.
    level : int32 (n,)
        Ring of each node, from the mantle outwards: 0 for the elements.
    rings : int
    """

    low: Floats
    high: Floats
    level: NDArray[np.int32]
    rings: int

    @property
    def middle(self) -> Floats:
        """Middle of each node's sector."""
        return np.asarray((self.low + self.high) / 2)


def place_sectors(
    parent: NDArray[np.int32],
    extent: NDArray[np.int32],
    element: NDArray[np.int32],
    weight: Floats,
    gap: float = 0.12,
    rings: int = 5,
) -> Sectors:
    """Give each element its share of the mantle, and each inner node that of its elements.

    Parameters
    ----------
    parent, extent, element : int32 (n,)
        Of a :class:`~..analysis.hierarchy.Hierarchy`.
    weight : float64 (elements,)
        Width of each element, in any unit.
    gap : float
        Share of the mantle that is left free, more between nodes further up.
    rings : int
        Levels at most; deeper ones share the innermost ring's inner neighbours' place.

    Returns
    -------
    Sectors
    """
    n = len(parent)
    depth = np.zeros(n, np.int32)
    for i in range(1, n):
        depth[i] = depth[parent[i]] + 1
    leaves = np.flatnonzero(element >= 0)
    count = len(leaves)
    if not count:
        return Sectors(np.zeros(n), np.ones(n), np.zeros(n, np.int32), 1)
    deepest = int(depth.max())
    # Between two elements as much as the depth of where their paths part asks for.
    apart = np.empty(count)
    for k in range(count):
        a, b = int(leaves[k]), int(leaves[(k + 1) % count])
        while a != b:
            if depth[a] >= depth[b]:
                a = int(parent[a])
            else:
                b = int(parent[b])
        apart[k] = deepest - depth[a]
    apart = apart**1.5
    free = gap if count > 1 else 0.0
    spaces = apart / max(apart.sum(), 1e-12) * free
    wide = weight / max(float(weight.sum()), 1e-12) * (1.0 - free)
    start = spaces[-1] / 2 + np.concatenate([[0.0], np.cumsum(wide[:-1] + spaces[:-1])])
    low, high = np.empty(n), np.empty(n)
    first = np.concatenate([[0], np.cumsum(element >= 0)])
    at = np.arange(n)
    begin, stop = first[at], np.maximum(first[at + extent] - 1, 0)
    low, high = start[begin], (start + wide)[stop]
    level = np.where(element >= 0, 0, np.clip(deepest - depth, 1, None))
    used = np.unique(level)
    rank = np.searchsorted(used, level)
    return Sectors(low, high, np.minimum(rank, rings - 1).astype(np.int32), min(len(used), rings))


def control_points(
    parent: NDArray[np.int32], element: NDArray[np.int32], middle: Floats, radius: float
) -> NDArray[np.float32]:
    """Return the inner hierarchy's control points, float32 (n, 3): the root in the middle, elements outside.

    In the cross-section of the closed drum, z 0 (ExtraVis, figure 7: the inner circle, which is not drawn).

    Parameters
    ----------
    parent : int32 (n,)
        Of each node; -1 for the root.
    element : int32 (n,)
        That of a leaf; -1 for an inner node.
    middle : float64 (n,)
        Where each node's sector has its middle, 0 to 1 around.
    radius : float
        Of the drum.

    Returns
    -------
    float32 (n, 3)
    """
    n = len(parent)
    depth, below = np.zeros(n), np.zeros(n)
    for i in range(1, n):
        depth[i] = depth[parent[i]] + 1
    for i in range(n - 1, 0, -1):
        below[parent[i]] = max(below[parent[i]], below[i] + 1)
    out = np.where(element >= 0, 1.0, depth / np.maximum(depth + below, 1))
    place, _, _ = MantleShape(radius, 1.0).section(middle)
    return np.column_stack([place * out[:, None], np.zeros(n)]).astype(np.float32)


def petals(ends: Floats, width: Floats, radius: float, samples: int) -> Floats:
    """Return small loops into the drum for calls within an element, float64 (n, samples, 2).

    Parameters
    ----------
    ends : float64 (n,)
        Where each element's sector has its middle, 0 to 1 around.
    width : float64 (n,)
        Of the loop, as a share of the way around.
    radius : float
        Of the drum.
    samples : int
        Points of a loop.

    Returns
    -------
    float64 (n, samples, 2)
    """
    share = np.linspace(-0.5, 0.5, samples)
    s = ends[:, None] + share[None] * width[:, None]
    reach = np.minimum(0.16 * radius, 2.2 * width * 2 * np.pi * radius)
    deep = reach[:, None] * (1 - (2 * share[None]) ** 2)
    place, _, normal = MantleShape(radius, 1.0).section(s)
    return np.asarray(place + normal * deep[..., None])


def spread(wanted: Floats, least: float) -> Floats:
    """Return places (n,) that are ``least`` apart, in the order of ``wanted``, and moved as little as can be.

    Least squares by pooling what would overlap (isotonic regression).

    Parameters
    ----------
    wanted : float64 (n,)
        Ascending.
    least : float
        The least distance of neighbours.

    Returns
    -------
    float64 (n,)
    """
    shifted = np.asarray(wanted, np.float64) - least * np.arange(len(wanted))
    value: list[float] = []
    weight: list[int] = []
    for v in shifted.tolist():
        value.append(v)
        weight.append(1)
        while len(value) > 1 and value[-2] > value[-1]:
            w = weight[-2] + weight[-1]
            value[-2] = (value[-2] * weight[-2] + value[-1] * weight[-1]) / w
            weight[-2] = w
            value.pop()
            weight.pop()
    pooled = np.repeat(value, weight) if value else np.empty(0)
    return np.asarray(pooled + least * np.arange(len(wanted)))
