"""An icicle along a spiral: angle is time, so that what recurs in each turn lies side by side.

After the spiral of Almost (Renieris and Reiss 1999). Callers are at the inner edge of their turn, callees
outside of them. The third axis shows the measure, as in the straight icicle, and lifts earlier turns, as on a
helix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.frame import Frame
from ....drawing.primitives import Boxes, Camera, Labels, Lines, Wedges
from ....drawing.projection import Projection, camera_over, fit
from ....drawing.shorthand import lines, texts
from ....layout import ticks
from ....trace.model import Trace
from ....views.detail import Detail
from ....views.time_window import WIDTH
from .layout import CHARACTER, SHARE, Layout

Floats = NDArray[np.float64]

#: Radius where the spiral begins and where it ends, in scene units.
_INNER, _OUTER = 1.2, 7.4
#: Share of the distance between turns that a turn fills.
_FILLED = 0.86
#: Height of the thickest box and of a turn over the next, in distances between turns.
_HIGH, _LIFT = 0.3, 0.5
#: Thickness of flat boxes and of the ground.
_PLATE = 0.03
#: Turns that a section is long at most.
_STEP = 1 / 120
#: How much steeper the camera looks than at a straight icicle, in degrees.
_STEEPER = 36.0
#: A line of text relative to the smallest that can be read.
_READABLE = 2.6


@dataclass(frozen=True, eq=False)
class Spiral:
    """Where times, levels and measures of an icicle lie on a spiral.

    Attributes
    ----------
    picture : Layout
        The straight icicle.
    turns : float
        1 or more.
    """

    picture: Layout
    turns: float

    @property
    def pitch(self) -> float:
        """The distance between turns."""
        return (_OUTER - _INNER) / (self.turns + 1)

    def place(self, x: Floats, z: Floats, up: Floats) -> Floats:
        """Return places on the spiral.

        Parameters
        ----------
        x, z : float64 (n,)
            Along the straight icicle: time, and height above the lowest lane's floor.
        up : float64 (n,)
            Above the ground.

        Returns
        -------
        float64 (n, 3)
        """
        turn = self.turns * np.asarray(x, np.float64) / WIDTH
        out = np.asarray(z, np.float64) / max(self.picture.lanes.top, 1e-9)
        radius = _INNER + self.pitch * (turn + _FILLED * out)
        angle = np.pi / 2 - 2 * np.pi * turn
        lift = self.picture.parameters.opening * _LIFT * self.pitch * (self.turns - turn)
        return np.stack([radius * np.cos(angle), radius * np.sin(angle), lift + up], axis=-1)

    def thickness(self, straight: Floats) -> Floats:
        """Return the heights of boxes on the ground.

        Parameters
        ----------
        straight : float64 (n,)
            Their thickness in the straight icicle.

        Returns
        -------
        float64 (n,)
        """
        p, most = self.picture.parameters, max(self.picture.plate + self.picture.reach, 1e-9)
        return (
            _PLATE + p.opening * p.relief * 2 * _HIGH * self.pitch * np.asarray(straight, np.float64) / most
        )

    def wound(self, boxes: Boxes) -> Wedges:
        """Return boxes of the straight icicle as blocks along the spiral.

        Parameters
        ----------
        boxes : Boxes

        Returns
        -------
        Wedges
        """
        low, size = boxes.low.astype(np.float64), boxes.size.astype(np.float64)
        corner, first = self._blocks(
            low[:, 0], low[:, 0] + size[:, 0], low[:, 2], low[:, 2] + size[:, 2], self.thickness(size[:, 1])
        )
        return Wedges(
            boxes.kind, corner, first, boxes.color, boxes.id, boxes.look, boxes.source, time=boxes.time
        )

    def ground(self, color: int) -> Wedges:
        """Return the ribbon that the boxes stand on, as one block.

        Parameters
        ----------
        color : int
            Index into the palette.

        Returns
        -------
        Wedges
        """
        one = np.ones(1)
        top = max(self.picture.lanes.top, 1e-9)
        corner, first = self._blocks(0 * one, WIDTH * one, 0 * one, top * one, 0 * one)
        corner[:, :2, 2] -= _PLATE
        return Wedges("terrace", corner, first, np.full(1, color, np.int32), np.zeros(1, np.int64))

    def _blocks(
        self, left: Floats, right: Floats, inner: Floats, outer: Floats, up: Floats
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        sections = 2 + np.floor((right - left) * self.turns / WIDTH / _STEP).astype(np.int64)
        first = np.concatenate([[0], np.cumsum(sections)]).astype(np.int64)
        owner = np.repeat(np.arange(len(left)), sections)
        share = (np.arange(len(owner)) - first[owner]) / (sections[owner] - 1)
        x = left[owner] + share * (right - left)[owner]
        corner = np.empty((len(owner), 4, 3), np.float32)
        none = np.zeros(len(left))
        for k, (z, high) in enumerate(((inner, none), (outer, none), (outer, up), (inner, up))):
            corner[:, k] = self.place(x, z[owner], high[owner])
        return corner, first

    def camera(self) -> Camera:
        """Return the camera: straight above the flat spiral, in front of the opened one."""
        p = self.picture.parameters
        high = float(self.place(np.zeros(1), np.zeros(1), self.thickness(np.ones(1)))[0, 2])
        return camera_over(
            (-_OUTER - 0.4, -_OUTER - 0.4, 0.0), (_OUTER + 0.4, _OUTER + 0.4, max(0.3 * high, 0.1)),
            p.opening, 0.0, min(p.tilt + _STEEPER, 89.0), 100.0,
        )  # fmt: skip

    def seen(self, frame: Frame) -> tuple[Projection, float]:
        """Return the projection, and the line height of texts.

        Parameters
        ----------
        frame : Frame
            Of the picture.

        Returns
        -------
        (Projection, float)
        """
        projection = fit(self.camera(), frame, SHARE)
        ends = projection.pixels([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
        return projection, _READABLE * frame.least_text / max(float(np.hypot(*(ends[1] - ends[0]))), 1e-9)

    def clock(self, frame: Frame, color: int) -> tuple[Lines | None, Labels]:
        """Return lines across all turns at round times since each turn began, and these times outside.

        Parameters
        ----------
        frame : Frame
            Of the picture.
        color : int
            Index into the palette.

        Returns
        -------
        (Lines or None, Labels)
        """
        _, text = self.seen(frame)
        turn_ns = self.turn_ns
        found = ticks.time_ticks(0, max(turn_ns, 1), 8)
        share = np.array([t / max(turn_ns, 1) for t in found.at if t < turn_ns * (1 - 1e-6)])
        angle = np.pi / 2 - 2 * np.pi * share
        way = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(len(share))])
        far = _OUTER + 0.15
        said = [f"{word} {found.unit}" for word in found.text[: len(share)]]
        outside = way * (far + 0.7 * text) + np.array([0.0, 0.0, _PLATE])
        labels = texts("clock", said, outside, text, rank=1e7, up=(0.0, 1.0, 0.0))
        if not len(share):
            return None, labels
        ends = np.stack([_INNER * 0.6 * way, far * way], axis=1)
        return lines("grid", ends, 0.012, color), labels

    @property
    def turn_ns(self) -> int:
        """Nanoseconds of a turn."""
        low, high = self.picture.window
        return round((high - low) / self.turns)

    def names(self, boxes: Boxes, frame: Frame, most: int) -> Labels:
        """Return the names of the calls that take most of the picture, on top of them.

        Parameters
        ----------
        boxes : Boxes
            Of calls, in the straight icicle.
        frame : Frame
            Of the picture.
        most : int
            How many names.

        Returns
        -------
        Labels
        """
        _, text = self.seen(frame)
        trace: Trace = self.picture.trace
        low, size = boxes.low.astype(np.float64), boxes.size.astype(np.float64)
        middle = low[:, 0] + size[:, 0] / 2, low[:, 2] + size[:, 2] / 2
        at = self.place(*middle, self.thickness(size[:, 1]) + 0.02)
        # The chord of the arc; over half a turn a name has no more room than the diameter.
        arc = 2 * np.pi * self.turns * size[:, 0] / WIDTH
        chord = 2 * np.hypot(at[:, 0], at[:, 1]) * np.sin(np.minimum(arc, np.pi) / 2)
        label = [trace.functions.label[f] for f in trace.calls.function[boxes.id].tolist()]
        needed = CHARACTER * text * np.minimum([len(word) for word in label], 12)
        radial = size[:, 2] / max(self.picture.lanes.top, 1e-9) * _FILLED * self.pitch
        which = np.flatnonzero((chord >= needed) & (radial >= 0.5 * text))
        which = which[np.argsort(-chord[which], kind="stable")][:most]
        return texts(
            "function", [label[i] for i in which.tolist()], at[which], text, rank=chord[which],
            room=np.maximum(chord[which], text), up=(0.0, 1.0, 0.0),
        )  # fmt: skip

    def note(self) -> str:
        """Return how time runs."""
        return (
            f"angle is time: a turn is {units.duration(self.turn_ns)}, clockwise from the top, "
            "from the inside out; callees lie outside of their callers"
        )


class Wound:
    """The level of detail of a wound icicle: there is none.

    Parameters
    ----------
    spiral : Spiral
    """

    source = 0
    kinds: tuple[str, ...] = ("call", "cluster")

    def __init__(self, spiral: Spiral) -> None:
        self.camera = spiral.camera()

    def look_from(self, eye: Projection, kept: NDArray[np.int64]) -> Detail | None:
        """Return None: what is drawn stays.

        Parameters
        ----------
        eye : Projection
            In the drawing's coordinates.
        kept : int64 (k,)
            What the last look has opened.

        Returns
        -------
        Detail or None
        """
        return None


def spiral_of(picture: Layout) -> Spiral | None:
    """Return the spiral that an icicle is wound along.

    Parameters
    ----------
    picture : Layout
        The straight icicle.

    Returns
    -------
    Spiral or None
        None if it is straight.
    """
    turns = picture.parameters.winding
    return Spiral(picture, max(turns, 1.0)) if turns > 0 else None


def wound(spiral: Spiral, boxes: Sequence[Boxes]) -> list[Wedges]:
    """Return all boxes that there are along the spiral.

    Parameters
    ----------
    spiral : Spiral
    boxes : sequence of Boxes
        Of the straight icicle.

    Returns
    -------
    list of Wedges
    """
    return [spiral.wound(some) for some in boxes if len(some)]
