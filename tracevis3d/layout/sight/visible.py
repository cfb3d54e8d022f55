"""How much of what is highlighted can be seen, and from where most of it is: drawn off screen, by object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...kernels.layout.visible import draw_triangles
from .affine import Box, Floats
from .framing import Lens, Region, framed
from .view_projection import ViewProjection

#: Pixels across of what is drawn off screen; the directions that are tried have fewer.
ACROSS, _TRIED_ACROSS = 480, 192
#: Number of directions tried.
_TRIED = 36
#: Factor for views in which left and right are reversed.
_MIRRORED = 0.5
#: Views from this close to straight above or below are hard to read.
_STEEPEST = 0.93


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Triangles in the scene's coordinates, and which of them are highlighted.

    Attributes
    ----------
    point : float64 (v, 3)
    triangle : int32 (t, 3)
    lit : bool (t,)

    Examples
    --------
    >>> surfaces = Surfaces.joined([([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [(0, 1, 2)], True)])
    >>> surfaces.lit.tolist()
    [True]
    """

    point: Floats
    triangle: NDArray[np.int32]
    lit: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[tuple[ArrayLike, ArrayLike, bool]]) -> Surfaces:
        """Return all parts as one: points (v, 3), triangles (t, 3), and whether they are highlighted.

        Parameters
        ----------
        parts : sequence of (float (v, 3), int (t, 3), bool)

        Returns
        -------
        Surfaces
        """
        points = [np.empty((0, 3)), *(np.asarray(p, np.float64).reshape(-1, 3) for p, _, _ in parts)]
        triangles = [np.empty((0, 3), np.int32)]
        triangles += [np.asarray(t, np.int32).reshape(-1, 3) for _, t, _ in parts]
        base = np.cumsum([0, *map(len, points)])
        moved = [t + np.int32(b) for t, b in zip(triangles, base, strict=False)]
        lit = np.repeat([False, *(is_lit for _, _, is_lit in parts)], [len(t) for t in triangles])
        return cls(np.concatenate(points), np.concatenate(moved), lit)


def small_view(view: ViewProjection) -> ViewProjection:
    """Return the view in which shares are measured: :data:`ACROSS` pixels wide, and as high as that makes it.

    Parameters
    ----------
    view : ViewProjection

    Returns
    -------
    ViewProjection

    Examples
    --------
    >>> small_view(ViewProjection.of(np.eye(4), 960, 480)).height
    240
    """
    return ViewProjection(view.matrix, ACROSS, max(round(ACROSS * view.height / max(view.width, 1)), 1))


def beyond(lit: Surfaces, view: ViewProjection) -> Floats | None:
    """Return planes on whose far side nothing hides any of what is highlighted.

    They bound the pixels that it takes, as :func:`visible_share` counts them, and stand behind it.

    Parameters
    ----------
    lit : Surfaces
        What is highlighted.
    view : ViewProjection

    Returns
    -------
    float64 (k, 4) or None
        Of each its normal and its offset: what lies beyond has ``normal @ point + offset > 0``. None if
        nothing that is highlighted is in the picture.

    Examples
    --------
    >>> corners = [(-0.5, -0.5, 0), (0.5, -0.5, 0), (0, 0.5, 0)]
    >>> lit = Surfaces.joined([(corners, [(0, 1, 2)], True)])
    >>> planes = beyond(lit, ViewProjection.of(np.eye(4), 100, 100))
    >>> [bool((planes @ (*point, 1.0) > 0).any()) for point in ((0, 0, -1), (0, 0, 1), (0.9, 0, -1))]
    [False, True, True]
    """
    own = small_view(view)
    clip = lit.point @ own.matrix[:, :3].T + own.matrix[:, 3]
    pixels = _drawn(clip, lit.triangle, np.ones(len(lit.triangle), np.int32), own) == 1
    if not pixels.any():
        return None
    x, y, z, w = own.matrix
    planes = [-w]
    for axis, row in enumerate((x, y)):
        among = np.flatnonzero(pixels.reshape(own.height, own.width).any(axis=axis))
        half = (own.width, own.height)[axis] / 2
        planes += [(among[0] - 1) * w - half * (row + w), half * (row + w) - (among[-1] + 2) * w]
    used = clip[np.unique(lit.triangle)]
    if (used[:, 3] > 0).all():
        # A little farther than the farthest of it: depths are compared in single precision.
        planes.append(z - (float((used[:, 2] / used[:, 3]).max()) + 1e-4) * w)
    return np.array(planes)


def visible_share(surfaces: Surfaces, view: ViewProjection) -> float | None:
    """Return the share of what is highlighted that can be seen: of its pixels, those in which it is in front.

    Parameters
    ----------
    surfaces : Surfaces
    view : ViewProjection
        Its height follows from its width: what is drawn is :data:`ACROSS` pixels wide.

    Returns
    -------
    float or None
        None if nothing that is highlighted is in the picture.

    Examples
    --------
    >>> corners = [(-0.5, -0.5, 0), (0.5, -0.5, 0), (0, 0.5, 0)]
    >>> above = [(x, y, -0.5) for x, y, _ in corners]
    >>> surfaces = Surfaces.joined([(corners, [(0, 1, 2)], True), (above, [(0, 1, 2)], False)])
    >>> visible_share(surfaces, ViewProjection.of(np.eye(4), 100, 100))
    0.0
    """
    seen, there = _seen(surfaces, small_view(view))
    return seen / there if there else None


def shown_pixels(
    point: Floats,
    others: NDArray[np.int32],
    triangle: NDArray[np.int32],
    owner: NDArray[np.int32],
    view: ViewProjection,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return in how many pixels each thing is in front, in how many it is if alone, and where it is hidden.

    Parameters
    ----------
    point : float64 (v, 3)
    others : int32 (t, 3)
        Triangles of everything else.
    triangle : int32 (u, 3)
        Triangles of the things.
    owner : int32 (u,)
        Which thing each is of, from 0 on.
    view : ViewProjection

    Returns
    -------
    seen, alone : int64 (things,)
    hidden : int32 (height, width)
        Which thing something else hides in each pixel, -1 for none; the lowest row first.

    Examples
    --------
    >>> corners = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (0, -1, -1), (1, -1, -1), (1, 1, -1)]
    >>> thing, other = np.array([[0, 1, 2]], np.int32), np.array([[3, 4, 5]], np.int32)
    >>> point = np.array(corners, np.float64)
    >>> view = ViewProjection.of(np.eye(4), 20, 20)
    >>> seen, alone, hidden = shown_pixels(point, other, thing, np.zeros(1, np.int32), view)
    >>> bool(0 < seen[0] < alone[0]), int(np.count_nonzero(hidden == 0)) == int(alone[0] - seen[0])
    (True, True)
    """
    things = int(owner.max(initial=-1)) + 1
    clip = point @ view.matrix[:, :3].T + view.matrix[:, 3]
    free = _drawn(clip, triangle, owner, view)
    others = others[_touching(clip, others, (free >= 0).reshape(view.height, view.width))]
    # The things come last: what lies on a surface is before it.
    both = _drawn(
        clip, np.concatenate([others, triangle]),
        np.concatenate([np.zeros(len(others), np.int32), owner + np.int32(1)]), view,
    )  # fmt: skip
    # A pixel that two things share alone is of the one that is in front.
    seen = np.bincount(both[both > 0] - 1, minlength=things)
    hidden = np.where(both == free + 1, np.int32(-1), free).reshape(view.height, view.width)
    return seen[:things], np.bincount(free[free >= 0], minlength=things)[:things], hidden


def _seen(surfaces: Surfaces, view: ViewProjection) -> tuple[int, int]:
    """Return in how many pixels something lit is in front, and in how many it would be alone."""
    clip = surfaces.point @ view.matrix[:, :3].T + view.matrix[:, 3]
    lit = surfaces.triangle[surfaces.lit]
    alone = _drawn(clip, lit, np.ones(len(lit), np.int32), view) == 1
    if not alone.any():
        return 0, 0
    others = surfaces.triangle[~surfaces.lit]
    others = others[_reaching(clip, others, alone.reshape(view.height, view.width))]
    # Lit triangles come last: what lies on a surface is highlighted with it.
    owner = np.repeat(np.array([0, 1], np.int32), [len(others), len(lit)])
    both = _drawn(clip, np.concatenate([others, lit]), owner, view)
    return int(np.count_nonzero(both == 1)), int(np.count_nonzero(alone))


def _reaching(clip: Floats, triangle: NDArray[np.int32], pixels: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which triangles may reach into the rectangle around those pixels (height, width)."""
    rows, columns = (np.flatnonzero(pixels.any(axis=axis)) for axis in (1, 0))
    w, outside = clip[:, 3], np.zeros(len(clip), np.uint8)
    for axis, among in enumerate((columns, rows)):
        half = pixels.shape[1 - axis] / 2
        at = half * (clip[:, axis] + w)
        outside |= (at < (among[0] - 1) * w).astype(np.uint8) << np.uint8(2 * axis)
        outside |= (at > (among[-1] + 2) * w).astype(np.uint8) << np.uint8(2 * axis + 1)
    outside[w <= 0] = 0
    a, b, c = triangle.T
    return np.asarray((outside[a] & outside[b] & outside[c]) == 0)


def _touching(clip: Floats, triangle: NDArray[np.int32], pixels: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which triangles have one of those pixels (height, width) in the rectangle around them."""
    out = np.zeros(len(triangle), np.bool_)
    near = np.flatnonzero(_reaching(clip, triangle, pixels)) if pixels.any() else np.empty(0, np.int64)
    triangle = triangle[near]
    high, wide = pixels.shape
    count = np.zeros((high + 1, wide + 1), np.int32)
    count[1:, 1:] = np.cumsum(np.cumsum(pixels, axis=0, dtype=np.int32), axis=1, dtype=np.int32)
    w = clip[:, 3]
    ends = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for axis, size in ((0, wide), (1, high)):
            at = (size / 2 + size / 2 * clip[:, axis] / w).astype(np.float32)
            # What reaches behind the eye may be anywhere.
            low, top = (np.where(w > 0, at, end) for end in (np.float32(-1), np.float32(size + 1)))
            low, top = low[triangle].min(axis=1), top[triangle].max(axis=1)
            ends.append(np.clip(np.floor(low), 0, size).astype(np.int64))
            ends.append(np.clip(np.ceil(top) + 1, 0, size).astype(np.int64))
    x0, x1, y0, y1 = ends
    out[near] = count[y1, x1] - count[y0, x1] - count[y1, x0] + count[y0, x0] > 0
    return out


def before_the_eye(
    clip: Floats, triangle: NDArray[np.int32]
) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """Cut off what lies behind the eye.

    Parameters
    ----------
    clip : float64 (v, 4)
        Corners in clip space: behind the eye the last coordinate is negative.
    triangle : int32 (t, 3)

    Returns
    -------
    clip : float64 (w, 4)
        The same corners, and new ones.
    triangle : int32 (u, 3)
    of : int64 (u,)
        Of which triangle each is a part.

    Examples
    --------
    >>> corners = np.array([[0.0, 0, 0, 1], [1, 0, 0, 1], [0, 1, 0, -1]])
    >>> clip, triangle, of = before_the_eye(corners, np.array([[0, 1, 2]], np.int32))
    >>> triangle.tolist(), of.tolist(), float(clip[:, 3][triangle].min()) > 0
    ([[0, 1, 4], [0, 4, 3]], [0, 0], True)
    """
    w = clip[:, 3]
    least = 1e-6 * float(np.abs(w).max(initial=1.0))
    before = (w > least)[triangle]
    count = before.sum(axis=1)
    whole = np.flatnonzero(count == 3)
    corners, triangles, owners = [clip], [triangle[whole]], [whole]
    base = len(clip)
    for many in (1, 2):
        which = np.flatnonzero(count == many)
        if not len(which):
            continue
        # Turned so that those before the eye, one or two, come first.
        alone = (before[which] == (many == 1)).argmax(axis=1)
        turn = (alone[:, None] + (np.arange(3) if many == 1 else np.array([1, 2, 3]))) % 3
        own = np.take_along_axis(triangle[which], turn, axis=1)
        # The last one, or the last two, are behind: their edges are cut.
        edges = ((0, 1), (0, 2)) if many == 1 else ((0, 2), (1, 2))
        for a, b in edges:
            p, q = clip[own[:, a]], clip[own[:, b]]
            share = (p[:, 3] - least) / (p[:, 3] - q[:, 3])
            corners.append(p + share[:, None] * (q - p))
        first = base + np.arange(len(which), dtype=np.int32)
        second = first + np.int32(len(which))
        base += 2 * len(which)
        if many == 1:
            triangles.append(np.stack([own[:, 0], first, second], axis=1))
            owners.append(which)
        else:
            triangles += [
                np.stack([own[:, 0], own[:, 1], second], axis=1),
                np.stack([own[:, 0], second, first], axis=1),
            ]
            owners += [which, which]
    return np.concatenate(corners), np.concatenate(triangles).astype(np.int32), np.concatenate(owners)


def _drawn(
    clip: Floats, triangle: NDArray[np.int32], owner: NDArray[np.int32], view: ViewProjection
) -> NDArray[np.int32]:
    """Return whose triangle is in front in each pixel, -1 where none is; ties go to the highest owner."""
    clip, triangle, of = before_the_eye(clip, triangle)
    half = np.array([view.width, view.height]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.column_stack([half + half * clip[:, :2] / clip[:, 3:], clip[:, 2] / clip[:, 3]])
    at[clip[:, 3] <= 0] = np.nan
    owner = owner[of]
    order = np.argsort(owner, kind="stable")
    size = view.width * view.height
    depth, front = np.full(size, np.inf, np.float32), np.full(size, -1, np.int32)
    draw_triangles(
        at.astype(np.float32).reshape(-1), np.ascontiguousarray(triangle[order].reshape(-1)), owner[order],
        np.int64(view.width), np.int64(view.height), depth, front,
    )  # fmt: skip
    return front


def directions(count: int = _TRIED) -> Floats:
    """Return unit vectors from the subject to the eye: evenly spread, none from straight above.

    Parameters
    ----------
    count : int
        Of a whole sphere; those from below the ground, and the steepest, are left out.

    Returns
    -------
    float64 (n, 3)

    Examples
    --------
    >>> len(directions(2)), bool((directions()[:, 2] > -0.1).all())
    (2, True)
    """
    i = np.arange(2 * count)
    z = 1 - (2 * i + 1) / (2 * count)
    turn = i * np.pi * (3 - np.sqrt(5.0))
    flat = np.sqrt(1 - z * z)
    found = np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)
    return np.asarray(found[(z > -0.05) & (z < _STEEPEST)])


def axes_from(direction: ArrayLike) -> Floats:
    """Return right, up and forward of a level view.

    Parameters
    ----------
    direction : float (3,)
        From the subject to the eye.

    Returns
    -------
    float64 (3, 3)

    Examples
    --------
    >>> np.rint(axes_from((0, -2, 0))).astype(int).tolist()
    [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    """
    back = np.asarray(direction, np.float64)
    back = back / np.linalg.norm(back)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), -back])


def best_direction(
    surfaces: Surfaces, box: Box, lens: Lens, region: Region, now: ArrayLike
) -> tuple[Floats, float]:
    """Return from where most of what is highlighted is seen, and its share.

    Parameters
    ----------
    surfaces : Surfaces
    box : (float64 (3,), float64 (3,))
        Around what is highlighted: it fills each picture that is tried.
    lens : Lens
    region : Region
    now : float (3, 3)
        Right, up and forward of the present view, which wins where no other one shows more.

    Returns
    -------
    (float64 (3, 3), float)
        Right, up and forward, and the share of the lit pixels that are in front, weighted by how large they
        are: a view along a surface shows all of it, and little.

    Examples
    --------
    >>> corners = [(0, 0, 0), (4, 0, 0), (0, 0, 4)]
    >>> surfaces = Surfaces.joined([(corners, [(0, 1, 2)], True)])
    >>> lens = Lens.of(np.array([[2.0, 0, 0, 0], [0, 2, 0, 0], [0, 0, -1, -0.2], [0, 0, -1, 0]]), True, 9.0)
    >>> box = np.zeros(3), np.array([4.0, 0.1, 4.0])
    >>> best_direction(surfaces, box, lens, Region(80, 60), axes_from((0, -1, 0)))[1]
    1.0
    """
    best, most, share = np.asarray(now, np.float64), -1.0, 0.0
    for axes in _candidates(now):
        seen, there = _seen(surfaces, _view_of(axes, box, lens, region))
        # As many pixels as possible, and as little hidden as possible.
        worth = seen * seen / there if there else 0.0
        if axes[0] @ np.asarray(now)[0] < 0:
            worth *= _MIRRORED
        if worth > 1.05 * most:
            best, most, share = axes, worth, seen / there if there else 0.0
    return best, share


def _candidates(now: ArrayLike) -> Iterator[Floats]:
    yield np.asarray(now, np.float64)
    for direction in directions():
        yield axes_from(direction)


def _view_of(axes: Floats, box: Box, lens: Lens, region: Region) -> ViewProjection:
    """Return the projection of a view in which a box fills the region."""
    location, distance = framed(box, axes, lens, region)
    right, up, forward = axes
    turn = np.stack([right, up, -forward])
    matrix = np.eye(4)
    matrix[:3, :3] = turn
    matrix[:3, 3] = -turn @ (np.asarray(location) - distance * forward)
    height = max(round(_TRIED_ACROSS * region.height / max(region.width, 1)), 1)
    window = lens.window.copy()
    if not lens.perspective:
        # In Blender, the visible extent is proportional to the distance.
        window[:2] *= lens.distance / max(distance, 1e-12)
    return ViewProjection(window @ matrix, _TRIED_ACROSS, height)
