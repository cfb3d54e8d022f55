"""The same calls on their way from one picture to another: which they are, and where they are meanwhile.

Objects that keep their identity while a graphic changes are followed by the eye (Heer and Robertson,
"Animated transitions in statistical data graphics", InfoVis 2007): what only one of the pictures shows fades,
and what both show moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes, Drawing, Marks, Wedges
from ...layout.sight.flight import eased
from ...layout.sight.pose import Pose
from ...trace.model import Trace

#: What stands for a call.
Solid = Boxes | Marks | Wedges
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Width of the picture in the units in which calls travel.
WIDTH = 10.0
#: How many calls travel at most: those that are seen largest.
_MOST = 8_000
#: Sections of what is not a box.
_SECTIONS = 9
#: How large a call is in its caller's place, where only the caller is drawn.
_INSIDE = 0.02
#: Corners of a section along y and z, in order.
_SIGNS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
#: Ways to go round a section.
_ROUNDS = np.array([np.roll(order, k) for order in ([0, 1, 2, 3], [3, 2, 1, 0]) for k in range(4)])


@dataclass(frozen=True, eq=False)
class Places:
    """Where a picture shows calls, as seen from a pose: relative to its focus, in tenths of its width.

    Attributes
    ----------
    trace : int64 (n,)
        Index into the film's files.
    call : int64 (n,)
        Each pair of trace and call stands once.
    corner : float64 (n, sections, 4, 3)
    color : float32 (n, 4)
        sRGB.
    boxes : bool
        Whether all are boxes: two sections are enough.
    """

    trace: Ints
    call: Ints
    corner: Floats
    color: NDArray[np.float32]
    boxes: bool


def places_of(drawing: Drawing, files: Sequence[int], pose: Pose) -> Places:
    """Return where a drawing shows calls.

    Parameters
    ----------
    drawing : Drawing
    files : sequence of int
        Index of the file of each of its traces.
    pose : Pose

    Returns
    -------
    Places
        Of a call that is shown several times, the first in the drawing's order.
    """
    shown: list[tuple[Solid, Ints, Ints]] = []
    for element in drawing.elements:
        if not isinstance(element, (Boxes, Marks, Wedges)) or element.look == "ghost":
            continue
        calls = drawing.calls_of(element)
        if calls is None:
            continue
        rows = np.flatnonzero(calls >= 0)
        if len(rows):
            shown.append((element, rows, calls[rows]))
    boxes = all(isinstance(element, Boxes) for element, _, _ in shown)
    sections = 2 if boxes else _SECTIONS
    trace = [np.full(len(rows), files[min(e.source, len(files) - 1)], np.int64) for e, rows, _ in shown]
    corner = [_corners(element, sections)[rows] for element, rows, _ in shown]
    color = [drawing.palette[np.clip(e.color[rows], 0, len(drawing.palette) - 1)] for e, rows, _ in shown]
    if not shown:
        none = np.empty(0, np.int64)
        return Places(none, none, np.empty((0, sections, 4, 3)), np.empty((0, 4), np.float32), True)
    call = np.concatenate([calls for _, _, calls in shown])
    _, first = np.unique(np.stack([np.concatenate(trace), call]), axis=1, return_index=True)
    first = np.sort(first)
    where = (np.concatenate(corner)[first] - np.asarray(pose.focus)) * (WIDTH / pose.width)
    rgba = np.ones((len(first), 4), np.float32)
    seen = np.concatenate(color)[first]
    rgba[:, : seen.shape[1]] = seen
    return Places(np.concatenate(trace)[first], call[first], where, rgba, boxes)


def _corners(element: Solid, sections: int) -> Floats:
    """Return sections across x of each item of an element, float64 (n, sections, 4, 3)."""
    share = np.linspace(0.0, 1.0, sections)
    if isinstance(element, Wedges):
        return _bent(element, share)
    if isinstance(element, Marks):
        size = np.broadcast_to(element.size.reshape(len(element), -1), (len(element), 3)).astype(np.float64)
        low = element.point - size / 2
    else:
        low, size = element.low.astype(np.float64), element.size.astype(np.float64)
    half, middle = size[:, None, None, 1:] / 2, (low + size / 2)[:, None, None, 1:]
    reach = np.ones((sections, 1, 2))
    if isinstance(element, Marks):
        # Evenly about the middle of a round solid; a disc is round in one plane only.
        share = (1 - np.cos(np.pi * share)) / 2
        reach = np.repeat(np.sqrt(np.clip(1 - (2 * share - 1) ** 2, 0.0, 1.0))[:, None, None], 2, axis=2)
        if element.shape in ("disc", "shell", "cone", "pin"):
            reach[:, :, 1] = 1.0
    made = np.empty((len(low), sections, 4, 3))
    made[..., 0] = (low[:, 0, None] + share * size[:, 0, None])[:, :, None]
    made[..., 1:] = middle + _SIGNS * half * reach
    return made


def _bent(element: Wedges, share: Floats) -> Floats:
    """Return as many sections of bent blocks as there are shares of their way, from left to right."""
    n, count = len(element), np.diff(element.first)
    at = element.first[:-1, None] + share * np.maximum(count[:, None] - 1, 0)
    low = np.minimum(at.astype(np.int64), (element.first[1:] - 1)[:, None])
    high = np.minimum(low + 1, (element.first[1:] - 1)[:, None])
    corner = element.corner.astype(np.float64)
    rest = (at - low)[:, :, None, None]
    made = corner[low] * (1 - rest) + corner[high] * rest
    middle = made.mean(axis=2)
    back = middle[:, -1, 0] < middle[:, 0, 0]
    made[back] = made[back, ::-1]
    # Corners begin where those of boxes do, and go round as theirs, so that nothing is twisted on its way.
    section = made[:, made.shape[1] // 2]
    around = (section - section.mean(axis=1, keepdims=True))[:, :, 1:]
    fits = np.stack([(around[:, order] * _SIGNS).sum(axis=(1, 2)) for order in _ROUNDS], axis=1)
    order = _ROUNDS[fits.argmax(axis=1)]
    row, section_of = np.arange(n)[:, None, None], np.arange(made.shape[1])[None, :, None]
    return np.asarray(made[row, section_of, order[:, None, :]])


def pairs_of(
    start: Places, goal: Places, traces: Sequence[Trace | None]
) -> Iterator[tuple[Ints, Ints, NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield, for each trace that both pictures show, which of their items are the same calls.

    A call that one of them does not show is where the nearest of its callers is that it shows.

    Parameters
    ----------
    start, goal : Places
    traces : sequence of Trace or None
        Those of the film's files.

    Yields
    ------
    of_start, of_goal : int64 (m,)
        Indices of items.
    in_start, in_goal : bool (m,)
        Whether it is a caller that stands there for the call.
    """
    for number, trace in enumerate(traces):
        a, b = np.flatnonzero(start.trace == number), np.flatnonzero(goal.trace == number)
        if trace is None or not len(a) or not len(b):
            continue
        parent = trace.calls.parent
        at_start, at_goal = _items(start, a, len(parent)), _items(goal, b, len(parent))
        held = _holders(at_goal, parent)[start.call[a]]
        known = held >= 0
        a, held = a[known], held[known]
        rest = b[at_start[goal.call[b]] < 0]
        holds = _holders(at_start, parent)[goal.call[rest]]
        rest, holds = rest[holds >= 0], holds[holds >= 0]
        yield (
            np.concatenate([a, at_start[holds]]),
            np.concatenate([at_goal[held], rest]),
            np.concatenate([np.zeros(len(a), np.bool_), np.ones(len(rest), np.bool_)]),
            np.concatenate([held != start.call[a], np.zeros(len(rest), np.bool_)]),
        )


def _items(places: Places, which: Ints, calls: int) -> Ints:
    """Return the item of each call, int64 (calls,); -1: it is not shown."""
    item = np.full(calls, -1, np.int64)
    item[places.call[which]] = which
    return item


def _holders(item: Ints, parent: Ints) -> Ints:
    """Return the nearest of each call and its callers that is shown, int64 (calls,); -1: none."""
    # Each round doubles how far up is looked; the last entry stands for no call, and leads to itself.
    end = len(parent)
    up = np.append(np.where(item >= 0, np.arange(end), np.where(parent < 0, end, parent)), end)
    while True:
        further = up[up]
        if np.array_equal(further, up):
            return np.where(up[:-1] == end, -1, up[:-1])
        up = further


@dataclass(frozen=True, eq=False)
class Travel:
    """Calls on their way from one picture to another.

    Attributes
    ----------
    start, goal : float64 (n, sections, 4, 3)
        Corners at both ends, in tenths of a picture's width from its focus.
    palette_start, palette_goal : float32 (k, 4)
        Colours at both ends.
    color : int32 (n,)
        Index into both.
    boxes : bool
        Whether all are boxes.
    camera : Drawing
        Of what they arrive at: its light is theirs.
    """

    start: Floats
    goal: Floats
    palette_start: NDArray[np.float32]
    palette_goal: NDArray[np.float32]
    color: NDArray[np.int32]
    boxes: bool
    camera: Drawing

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def between(
        cls, start: tuple[Drawing, Sequence[int], Pose], goal: tuple[Drawing, Sequence[int], Pose],
        traces: Sequence[Trace | None],
    ) -> Travel:  # fmt: skip
        """Return the way of what two pictures both show.

        Parameters
        ----------
        start, goal : (Drawing, sequence of int, Pose)
            What is drawn, the index of the file of each of its traces, and from where it is seen.
        traces : sequence of Trace or None
            Those of the film's files; None: of no picture's here.

        Returns
        -------
        Travel
            Of the calls that are seen largest.
        """
        a, b = places_of(*start), places_of(*goal)
        found = list(pairs_of(a, b, traces))
        empty = np.empty(0, np.int64)
        one, other, in_one, in_other = (
            np.concatenate([part[k] for part in found]) if found else empty for k in range(4)
        )
        sections = max(a.corner.shape[1], b.corner.shape[1])
        ends = []
        for places, index, inside in ((a, one, in_one), (b, other, in_other)):
            corner = _drawn_out(places.corner[index], sections)
            middle = corner.mean(axis=(1, 2), keepdims=True)
            factor = np.where(inside.astype(np.bool_), _INSIDE, 1.0)[:, None, None, None]
            ends.append(middle + factor * (corner - middle))
        size = np.maximum(*(np.sort(np.ptp(end, axis=(1, 2)), axis=1)[:, 1:].prod(axis=1) for end in ends))
        chosen = np.sort(np.argsort(-size, kind="stable")[:_MOST])
        colors = np.concatenate([a.color[one], b.color[other]], axis=1)[chosen]
        palette, color = np.unique(colors, axis=0, return_inverse=True)
        return cls(
            ends[0][chosen], ends[1][chosen], palette[:, :4], palette[:, 4:],
            color.reshape(-1).astype(np.int32), a.boxes and b.boxes, _bare(goal[0], goal[2], ends),
        )  # fmt: skip

    def drawing(self, share: float) -> Drawing:
        """Return the drawing at a share of the way.

        Parameters
        ----------
        share : float
            0 to 1.

        Returns
        -------
        Drawing
            In the units of :data:`WIDTH`, about the origin.
        """
        done = eased(share)
        corner = (self.start + done * (self.goal - self.start)).astype(np.float32)
        palette = self.palette_start + np.float32(done) * (self.palette_goal - self.palette_start)
        number = np.arange(len(self), dtype=np.int64)
        element: Solid
        if self.boxes:
            low, high = corner.min(axis=(1, 2)), corner.max(axis=(1, 2))
            element = Boxes("call", low, high - low, self.color, number)
        else:
            sections = corner.shape[1]
            first = np.arange(0, len(self) * sections + 1, sections, dtype=np.int64)
            element = Wedges("call", corner.reshape(-1, 4, 3), first, self.color, number)
        return replace(self.camera, elements=(element,), palette=palette.astype(np.float32))


def _drawn_out(corner: Floats, sections: int) -> Floats:
    """Return boxes with as many sections as bent blocks have."""
    if corner.shape[1] == sections:
        return corner
    share = np.linspace(0.0, 1.0, sections)[:, None, None]
    return np.asarray(corner[:, :1] * (1 - share) + corner[:, -1:] * share)


def _bare(goal: Drawing, pose: Pose, ends: Sequence[Floats]) -> Drawing:
    """Return a drawing without anything in it, whose camera and light are those of another."""
    box = np.array(goal.camera.all_of_it or (goal.camera.low, goal.camera.high), np.float64)
    points = [(box - np.asarray(pose.focus)) * (WIDTH / pose.width), *(end.reshape(-1, 3) for end in ends)]
    points = [one for one in points if len(one)]
    low = np.min([one.min(axis=0) for one in points], axis=0)
    high = np.max([one.max(axis=0) for one in points], axis=0)
    near, far = ((float(x), float(y), float(z)) for x, y, z in (low, high))
    camera = replace(goal.camera, low=near, high=far, all_of_it=None, reading=None, whole=False)
    return Drawing(np.ones((1, 4), np.float32), (), camera)
