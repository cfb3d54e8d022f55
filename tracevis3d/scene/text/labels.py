"""Which texts are shown, and how much of each: decided in the picture, where no text may cover another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Labels
from ...layout.lettering import Typeface, clean, shorten
from ..camera import Rectangle, View
from .cover import Cover

#: Maximum number of readable labels tried, the highest ranks first.
_MOST = 30_000
#: Edges of a text that rise by fewer pixels are upright.
_UPRIGHT = 1.5
#: Shares of its width to which a text is shortened while a leader line would strike it through, or its end is
#: covered; from this covered share on it is left out.
_SHORTER = (1.0, 0.75, 0.6, 0.6, 0.6)
_MOSTLY = 0.4
#: Texts with a larger covered share are not shown.
_COVERED = 0.0


@dataclass
class Texts:
    """Texts with a place in the scene.

    Attributes
    ----------
    text : list of str
    start : list of float64 (3,)
        Left end of the baseline.
    right, up : list of float64 (3,)
        Unit vectors.
    size : list of float
        Size of the type in scene units.
    color : list of float (3)
        sRGB.
    outline : list of float64 (4, 2)
        Where each is in the picture: the corners of a convex quadrilateral in order, pixels.
    end : list of float64 (3,)
        Right end of each.
    timed : list of bool
        Whether a text lies on an element and comes with it in a film.
    group : list of int
        Which of the groups it was chosen from.
    point : list of float64 (3,)
        What each is written at: its place while it stays as large as a camera comes nearer.
    """

    text: list[str] = field(default_factory=list)
    start: list[NDArray[np.float64]] = field(default_factory=list)
    right: list[NDArray[np.float64]] = field(default_factory=list)
    up: list[NDArray[np.float64]] = field(default_factory=list)
    size: list[float] = field(default_factory=list)
    color: list[tuple[float, float, float]] = field(default_factory=list)
    outline: list[NDArray[np.float64]] = field(default_factory=list)
    end: list[NDArray[np.float64]] = field(default_factory=list)
    timed: list[bool] = field(default_factory=list)
    group: list[int] = field(default_factory=list)
    point: list[NDArray[np.float64]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.text)

    def only(self, which: Sequence[int]) -> Texts:
        """Return some of them; those of rulers don't have all columns."""
        return Texts(*([column[i] for i in which] if column else [] for column in vars(self).values()))


class Free:
    """The pixels of a picture that no text has taken yet.

    Parameters
    ----------
    view : View
    region : (float, float, float, float)
        Left, bottom, right and top of the pixels that are free at first.
    """

    def __init__(self, view: View, region: Rectangle) -> None:
        self._taken = np.ones((view.frame.height, view.frame.width), np.bool_)
        # Elements that fill the region exactly may exceed it by rounding.
        left, bottom = (int(np.floor(v)) - 1 for v in region[:2])
        right, top = (int(np.ceil(v)) + 1 for v in region[2:])
        self._taken[max(bottom, 0) : max(top, 0), max(left, 0) : max(right, 0)] = False
        #: What leader lines have taken.
        self.struck = np.zeros_like(self._taken)

    def is_free(self, corners: NDArray[np.float64]) -> bool:
        """Return whether :meth:`take_quad` would take an outline."""
        return self.take_quad(corners, only_look=True)

    def take_quad(self, corners: NDArray[np.float64], only_look: bool = False) -> bool:
        """Take a convex outline, if it is in the picture and all of it is free.

        Slanted texts leave most of the rectangle around them to others.

        Parameters
        ----------
        corners : float64 (4, 2)
            In order, in pixels.
        only_look : bool
            Take nothing.

        Returns
        -------
        bool
            Whether it was free.
        """
        low, high = corners.min(axis=0), corners.max(axis=0)
        edge = np.roll(corners, -1, axis=0) - corners
        if (np.abs(edge).min(axis=1) < _UPRIGHT).all():
            return self.take((*low.tolist(), *high.tolist()), only_look)
        left, bottom = (int(v) for v in np.floor(low))
        right, top = (int(v) for v in np.ceil(high))
        height, width = self._taken.shape
        if left < 0 or bottom < 0 or right > width or top > height or left >= right or bottom >= top:
            return False
        window, inside = self._taken[bottom:top, left:right], _inside(corners, (left, bottom, right, top))
        if (window & inside).any():
            return False
        if not only_look:
            window |= inside
        return True

    def strike(self, corners: NDArray[np.float64]) -> None:
        """Take a convex outline, of which parts may be taken already or out of the picture: a leader line.

        Parameters
        ----------
        corners : float64 (4, 2)
            In order, in pixels.
        """
        low, high = np.floor(corners.min(axis=0)).astype(int), np.ceil(corners.max(axis=0)).astype(int)
        height, width = self._taken.shape
        left, bottom = (int(v) for v in np.maximum(low, 0))
        right, top = min(int(high[0]), width), min(int(high[1]), height)
        if left < right and bottom < top:
            inside = _inside(corners, (left, bottom, right, top))
            self._taken[bottom:top, left:right] |= inside
            self.struck[bottom:top, left:right] |= inside

    def is_struck(self, corners: NDArray[np.float64]) -> bool:
        """Return whether what :meth:`strike` took lies in the rectangle around an outline.

        Parameters
        ----------
        corners : float64 (4, 2)

        Returns
        -------
        bool
        """
        (left, bottom), (right, top) = corners.min(axis=0).astype(int), corners.max(axis=0).astype(int) + 1
        return bool(self.struck[max(bottom, 0) : max(top, 0), max(left, 0) : max(right, 0)].any())

    def take(self, rectangle: Rectangle, only_look: bool = False) -> bool:
        """Take a rectangle, if it lies in the picture and all of it is free.

        Parameters
        ----------
        rectangle : (float, float, float, float)
            Left, bottom, right and top, in pixels.
        only_look : bool
            Take nothing.

        Returns
        -------
        bool
            Whether it was free.
        """
        left, bottom = int(np.floor(rectangle[0])), int(np.floor(rectangle[1]))
        right, top = int(np.ceil(rectangle[2])), int(np.ceil(rectangle[3]))
        height, width = self._taken.shape
        if left < 0 or bottom < 0 or right > width or top > height or left >= right or bottom >= top:
            return False
        window = self._taken[bottom:top, left:right]
        if window.any():
            return False
        window[:] = window | (not only_look)
        return True


def _inside(corners: NDArray[np.float64], window: tuple[int, int, int, int]) -> NDArray[np.bool_]:
    """Return which pixels of a window are less than a pixel outside of each edge of an outline."""
    left, bottom, right, top = window
    edge = np.roll(corners, -1, axis=0) - corners
    turn = np.sign(edge[0, 0] * edge[1, 1] - edge[0, 1] * edge[1, 0]) or 1.0
    normal = turn * np.stack([-edge[:, 1], edge[:, 0]], axis=1)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    x = np.arange(left, right)[None, :] + 0.5
    y = np.arange(bottom, top)[:, None] + 0.5
    inside = np.ones((top - bottom, right - left), np.bool_)
    for (px, py), (nx, ny) in zip(corners.tolist(), normal.tolist()):
        inside &= (x - px) * nx + (y - py) * ny > -1.0
    return inside


def unit(vector: Sequence[float] | NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return ``vector`` at length 1."""
    v = np.asarray(vector, np.float64)
    return v / max(float(np.linalg.norm(v)), 1e-12)


def extent(labels: Labels, typeface: Typeface) -> NDArray[np.float64]:
    """Return corners of the labels that are not bound to a room: the picture has to hold them.

    Parameters
    ----------
    labels : Labels
    typeface : Typeface

    Returns
    -------
    float64 (n, 3)
        Of the 200 labels of the highest ranks at most.
    """
    free = np.flatnonzero(np.isinf(labels.room))
    if not len(free):
        return np.empty((0, 3))
    free = free[np.argsort(-labels.rank[free], kind="stable")][:200]
    texts = [clean(labels.text[i]) for i in free]
    typeface.need(texts)
    right, up = unit(labels.right), unit(labels.up)
    height = labels.height[free].astype(np.float64)[:, None]
    width = height * np.array([typeface.width(t) for t in texts])[:, None] * typeface.size_per_line
    middle = labels.anchor[free] - right * width * ((labels.align + 1) / 2)
    return np.concatenate([middle + right * width * s + up * height * t for s in (0, 1) for t in (-0.5, 0.5)])


def choose(
    groups: Sequence[Labels],
    view: View,
    free: Free,
    typeface: Typeface,
    inks: Sequence[NDArray[np.floating[Any]]],
    cover: Cover | None = None,
    far: bool = False,
) -> tuple[Texts, int]:
    """Return the labels that are shown, and how many are not: what is covered is not.

    Parameters
    ----------
    groups : sequence of Labels
    view : View
    free : Free
        What the texts already there have left.
    typeface : Typeface
    inks : sequence of float (n, 3)
        The colour of each label of each group, sRGB.
    cover : Cover, optional
        What stands before texts.
    far : bool
        The picture is looked at from far away: texts of which only the start has room are left out.

    Returns
    -------
    texts : Texts
    left_out : int
        How many labels are not shown.
    """
    candidates = [_readable(g, view) for g in groups]
    group = np.repeat(np.arange(len(groups)), [len(c) for c in candidates])
    index = np.concatenate(candidates) if candidates else np.empty(0, np.int64)
    rank = np.concatenate([g.rank[c] for g, c in zip(groups, candidates)]) if candidates else np.empty(0)
    order = np.argsort(-rank, kind="stable")[:_MOST]
    chosen = Texts()
    cleaned: dict[tuple[int, int], str] = {
        (g, i): clean(groups[g].text[i]) for g, i in zip(group[order].tolist(), index[order].tolist())
    }
    typeface.need([*cleaned.values(), "…"])
    for (g, i), text in cleaned.items():
        labels = groups[g]
        size = float(labels.height[i]) * typeface.size_per_line
        shorter = [clean(one) for one in labels.shorter[i]] if labels.shorter else []
        whole, text = text, _within(text, shorter, float(labels.room[i]) / size, typeface)
        if not text or (far and not shorter and text != whole):
            continue
        right, up = unit(labels.right), unit(labels.up)
        placed: _Placed | None = None
        for share in _SHORTER:
            text = (
                _within(text, shorter, share * placed.width / size, typeface) if placed is not None else text
            )
            if not text or (far and not shorter and text != whole):
                text = ""
                break
            placed = _placed(labels, i, text, size, view, typeface)
            if free.is_struck(placed.around):
                continue  # a shorter text may end before the line
            if not free.is_free(placed.around):
                text = ""
                break
            high = float(labels.height[i])
            hidden = cover.share(placed.left, right, up, placed.width, high) if cover is not None else 0.0
            if hidden <= _COVERED:
                break
            if hidden > _MOSTLY:
                text = ""
                break
        else:
            continue
        if not text or placed is None:
            continue
        left, width, around = placed
        free.take_quad(around)
        chosen.text.append(text)
        chosen.start.append(left - up * (0.5 * typeface.cap_height * size))
        chosen.right.append(right)
        chosen.up.append(up)
        chosen.size.append(size)
        chosen.color.append(tuple(inks[g][i].tolist()))
        chosen.outline.append(around)
        chosen.end.append(left + right * width)
        chosen.timed.append(len(labels.background) > 0)
        chosen.group.append(g)
        chosen.point.append(np.asarray(labels.anchor[i], np.float64))
    return chosen, sum(map(len, groups)) - len(chosen)


def _within(text: str, shorter: Sequence[str], room: float, typeface: Typeface) -> str:
    """Return a text that fits into a room: it, the longest of those that say less, or else its start."""
    if not shorter:
        return shorten(text, room, typeface)
    return next((one for one in (text, *shorter) if typeface.width(one) <= room), "")


class _Placed(NamedTuple):
    """Where a text begins in the scene, how wide it is there, and its outline in the picture."""

    left: NDArray[np.float64]
    width: float
    around: NDArray[np.float64]


def _placed(labels: Labels, i: int, text: str, size: float, view: View, typeface: Typeface) -> _Placed:
    """Return where a text of one of the labels would be."""
    right, up = unit(labels.right), unit(labels.up)
    width = typeface.width(text) * size
    left = labels.anchor[i] - right * (width * (labels.align + 1) / 2)
    # In front of its surface, by an invisible amount.
    outward = np.cross(right, up)
    left = left + outward * (0.04 * float(labels.height[i]) * (1 if outward @ view.forward < 0 else -1))
    half = up * (0.5 * float(labels.height[i]))
    corners = view.pixels(
        np.array([left - half, left + half, left - half, left + half]) + _ends(right, width)
    )
    return _Placed(left, width, corners[[0, 1, 3, 2]])


def _ends(right: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    return np.outer([0.0, 0.0, width, width], right)


def _readable(labels: Labels, view: View) -> NDArray[np.int64]:
    """Return the indices of labels whose lines are high enough in the picture, and whose anchor is in it."""
    if not len(labels):
        return np.empty(0, np.int64)
    anchor = np.asarray(labels.anchor, np.float64)
    up = unit(labels.up)
    height = np.asarray(labels.height, np.float64)
    ends = [view.pixels(anchor + up * (s * height)[:, None]) for s in (-0.5, 0.5)]
    tall = np.linalg.norm(ends[1] - ends[0], axis=1)
    at = view.pixels(anchor)
    inside = (at >= 0).all(axis=1) & (at[:, 0] <= view.frame.width) & (at[:, 1] <= view.frame.height)
    # A text of a few characters is at least one line height wide.
    roomy = np.asarray(labels.room) >= height
    return np.flatnonzero((tall >= view.frame.least_line) & inside & roomy & (height > 0))


def overlaps(outlines: Sequence[NDArray[np.floating[Any]]]) -> int:
    """Return how many pairs of convex outlines (4, 2) overlap, counted again from where they are.

    Two overlap if no edge of either separates them (separating axis theorem).

    Parameters
    ----------
    outlines : sequence of float (4, 2)

    Returns
    -------
    int
    """
    if len(outlines) < 2:
        return 0
    quads = np.asarray(outlines, np.float64)
    quads = quads[np.argsort(quads[:, :, 0].min(axis=1), kind="stable")]
    low, high = quads.min(axis=1), quads.max(axis=1)
    last = np.searchsorted(low[:, 0], high[:, 0], side="left")
    count = 0
    for i, quad in enumerate(quads):
        near = slice(i + 1, last[i])
        later = quads[near][(low[near, 1] < high[i, 1]) & (high[near, 1] > low[i, 1])]
        if len(later):
            count += int(np.count_nonzero(~_apart(quad, later)))
    return count


def _apart(quad: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which of ``others`` (n, 4, 2) an edge of either separates from ``quad`` (4, 2)."""
    apart = np.zeros(len(others), np.bool_)
    both = np.concatenate([np.broadcast_to(quad, others.shape), others], axis=1)
    for begin in (0, 4):
        shape = both[:, begin : begin + 4]
        edge = np.roll(shape, -1, axis=1) - shape
        normal = np.stack([-edge[:, :, 1], edge[:, :, 0]], axis=2)
        along = np.einsum("nkc,npc->nkp", normal, both)
        one, other = along[:, :, :4], along[:, :, 4:]
        gone = (one.max(axis=2) <= other.min(axis=2)) | (other.max(axis=2) <= one.min(axis=2))
        apart |= gone.any(axis=1)
    return apart


def upright(rectangle: Rectangle) -> NDArray[np.float64]:
    """Return the corners of a rectangle as an outline, float64 (4, 2)."""
    left, bottom, right, top = rectangle
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top]], np.float64)
