"""Where a 3D view looks from: so that a box fills it, or as through the camera that it leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .affine import Box, Floats, corners

#: Share of the free part of a region that a framed box fills.
_SHARE = 0.8
_LEAST_FREE = 64  # pixels
_LEAST = 1e-12
_SENSOR = 36.0  # half of what Blender's 3D view takes for its sensor's width, in mm
_LENSES = (1.0, 250.0)  # mm: range of Blender's 3D view


@dataclass(frozen=True, eq=False)
class Lens:
    """How a 3D view projects onto its region.

    Attributes
    ----------
    window : float64 (4, 4)
        From the eye's coordinates to clip space.
    perspective : bool
    distance : float
        From the eye to what the view turns about, in scene units.

    Examples
    --------
    >>> Lens.of(np.diag([2.0, 4.0, -1.0, 1.0]), True, 1.0).tangents
    (0.5, 0.25)
    """

    window: Floats
    perspective: bool
    distance: float

    @classmethod
    def of(cls, window: ArrayLike, perspective: bool, distance: float) -> Lens:
        """Return the lens with a matrix, float (4, 4).

        Parameters
        ----------
        window : float (4, 4)
            From the eye's coordinates to the picture's, as Blender's ``window_matrix``.
        perspective : bool
            Whether things look smaller with distance.
        distance : float
            From the eye to what it looks at, in scene units.

        Returns
        -------
        Lens
        """
        return cls(np.array(window, np.float64), perspective, distance)

    @property
    def tangents(self) -> tuple[float, float]:
        """Half of what is seen across and along at distance 1; without perspective, per distance."""
        across = 1 / max(float(self.window[0, 0]), _LEAST)
        along = 1 / max(float(self.window[1, 1]), _LEAST)
        if self.perspective:
            return across, along
        distance = max(self.distance, _LEAST)
        return across / distance, along / distance


@dataclass(frozen=True)
class Region:
    """The pixels of a 3D view, and those at its left, right and top that something else lies on.

    Attributes
    ----------
    width, height : int
        Of the whole view.
    left, right, top : int
        How many of them are covered at each side.
    """

    width: int
    height: int
    left: int = 0
    right: int = 0
    top: int = 0


def fill(
    points: ArrayLike,
    axes: ArrayLike,
    tangents: tuple[float, float],
    free: tuple[float, float, float, float],
    size: tuple[int, int],
) -> Floats:
    """Return the eye from which ``points`` just fill a part of a region with perspective.

    Each point bounds the eye by the four planes of the part's pyramid.

    Parameters
    ----------
    points : float (n, 3)
    axes : float (3, 3)
        Rows: unit vectors to the right, up and forward of the view.
    tangents : (float, float)
        Half of what the region shows across and along at distance 1.
    free : (float, float, float, float)
        The part: left, lower, right and upper edge, in pixels of the region.
    size : (int, int)
        Of the region, in pixels.

    Returns
    -------
    float64 (3,)

    Examples
    --------
    >>> corners = [(x, y, z) for x in (-1, 1) for y in (0, 2) for z in (-1, 1)]
    >>> axes = [(1, 0, 0), (0, 0, 1), (0, 1, 0)]
    >>> fill(corners, axes, (0.5, 0.5), (0, 0, 100, 100), (100, 100)).tolist()
    [0.0, -2.0, 0.0]
    """
    own = np.asarray(axes, np.float64)
    at = np.asarray(points, np.float64) @ own.T
    z = at[:, 2]
    back, bounds = np.inf, []
    for k in (0, 1):
        low, high = ((2 * free[k + 2 * end] / size[k] - 1) * tangents[k] for end in (0, 1))
        most, least = float((at[:, k] - low * z).min()), float((at[:, k] - high * z).max())
        back = min(back, (most - least) / max(high - low, 1e-9))
        bounds.append((low, high, most, least))
    # In front of all points.
    back = min(back, float(z.min()) - 1e-6 * max(float(np.ptp(z)), 1e-6))
    across, along = ((most + low * back + least + high * back) / 2 for low, high, most, least in bounds)
    return np.asarray(own.T @ np.array([across, along, back]))


def framed(box: Box, axes: ArrayLike, lens: Lens, region: Region) -> tuple[Floats, float]:
    """Return where a 3D view has to look for a box to fill the free part of its region.

    Parameters
    ----------
    box : (float64 (3,), float64 (3,))
        Lowest and highest coordinates in the scene.
    axes : float (3, 3)
        Rows: unit vectors to the right, up and forward of the view.
    lens : Lens
    region : Region

    Returns
    -------
    location : float64 (3,)
        What the view turns about.
    distance : float
        From there to the eye.

    Examples
    --------
    >>> lens = Lens.of(np.diag([2.0, 2.0, -1.0, 1.0]), True, 1.0)
    >>> axes = [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    >>> location, distance = framed((np.zeros(3), np.full(3, 4.0)), axes, lens, Region(800, 800))
    >>> location.tolist(), round(distance, 6)
    ([2.0, 2.0, 2.0], 7.0)
    """
    own = np.asarray(axes, np.float64)
    inner = _share_of(region)
    if lens.perspective:
        eye = fill(corners(*box), own, lens.tangents, inner, (region.width, region.height))
        distance = max(float(((box[0] + box[1]) / 2 - eye) @ own[2]), 1e-6)
        return np.asarray(eye + own[2] * distance), distance
    corner = corners(*box) @ own.T
    middle, half = (corner.max(axis=0) + corner.min(axis=0)) / 2, np.ptp(corner, axis=0) / 2
    tangents = np.array(lens.tangents)
    size = np.array([region.width, region.height])
    low, high = np.array(inner[:2]), np.array(inner[2:])
    distance = max(*(half[:2] / (tangents * (high - low) / size)), 1e-6)
    # Sidebars lie on the region: its free part has another middle.
    middle[:2] += distance * tangents * (1 - (low + high) / size)
    return np.asarray(own.T @ middle), float(distance)


def _share_of(region: Region) -> tuple[float, float, float, float]:
    """Return the middle of the free part of a region, which a framed box fills."""
    free_x = max(region.width - region.left - region.right, _LEAST_FREE)
    free_y = max(region.height - region.top, _LEAST_FREE)
    margin_x, margin_y = ((1 - _SHARE) / 2 * free for free in (free_x, free_y))
    return (
        region.left + margin_x,
        margin_y,
        region.left + free_x - margin_x,
        free_y - margin_y,
    )


def without_camera(
    eye: ArrayLike, axes: ArrayLike, lens: Lens, focus: ArrayLike
) -> tuple[Floats, float, float]:
    """Return the view without a camera that shows what one shows with it, about the depth of ``focus``.

    A shifted lens, and a frame beside the middle of the region, become a moved eye.

    Parameters
    ----------
    eye : float (3,)
    axes : float (3, 3)
        Rows: unit vectors to the right, up and forward.
    lens : Lens
        Of the view through the camera.
    focus : float (3,)

    Returns
    -------
    location : float64 (3,)
        What the view turns about.
    distance : float
        From there to the eye.
    lens : float
        In mm, of a view with perspective.

    Examples
    --------
    >>> lens = Lens.of(np.diag([2.0, 2.0, -1.0, 1.0]), True, 1.0)
    >>> location, distance, mm = without_camera([0, 0, 0], [[1, 0, 0], [0, 0, 1], [0, 1, 0]], lens, [0, 5, 0])
    >>> location.tolist(), distance, float(mm)
    ([0.0, 5.0, 0.0], 5.0, 72.0)
    """
    right, up, forward = np.asarray(axes, np.float64)
    place, window = np.asarray(eye, np.float64), lens.window
    depth = max(float((np.asarray(focus, np.float64) - place) @ forward), 1e-3)
    across, along = 1 / window[0, 0], 1 / window[1, 1]
    if lens.perspective:
        shift = depth * window[0, 2] * across, depth * window[1, 2] * along
    else:
        shift = -window[0, 3] * across, -window[1, 3] * along
    place = place + right * shift[0] + up * shift[1]
    length = min(max(_SENSOR / max(float(across), float(along)), _LENSES[0]), _LENSES[1])
    return place + forward * depth, depth, length


def part_within(
    low: Floats, high: Floats, span: tuple[float, float] | None, narrowest: float
) -> tuple[Floats, Floats]:
    """Return those of some boxes that reach into a span of x, cut off or widened to it.

    Parameters
    ----------
    low, high : float64 (n, 3)
    span : (float, float) or None
        From which x to which; None: all.
    narrowest : float
        The span is widened about its middle to this share of what all boxes take.

    Returns
    -------
    low, high : float64 (k, 3)

    Examples
    --------
    >>> low, high = np.array([[0.0, 0, 0], [10, 0, 0]]), np.array([[5.0, 1, 1], [20, 1, 1]])
    >>> [side.tolist() for side in part_within(low, high, (6.0, 12.0), 0.0)]
    [[[6.0, 0.0, 0.0]], [[12.0, 1.0, 1.0]]]
    """
    if span is None or not len(low):
        return low, high
    left, right = sorted(span)
    inside = (high[:, 0] >= left) & (low[:, 0] <= right)
    widest = float(high[:, 0].max() - low[:, 0].min())
    middle, half = (left + right) / 2, max(right - left, narrowest * widest) / 2
    low, high = low[inside].copy(), high[inside].copy()
    low[:, 0], high[:, 0] = middle - half, middle + half
    return low, high
