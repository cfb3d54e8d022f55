"""Level of detail: what a view shows after zooming in, in the same places."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes, Camera, Element, Labels, Meaning
from ...drawing.projection import Projection
from ...layout.cut import Cut, CutBuffers, call_span, cut_index, joined
from ...trace.model import Trace

if TYPE_CHECKING:
    pass

#: Height of names, relative to the smallest readable one.
_NAME = 3.2


@dataclass(frozen=True)
class Pane:
    """A part of a view along whose x axis one quantity runs: the time of a trace, or bytes.

    Attributes
    ----------
    source : int
        Which of the view's traces.
    window : (float, float)
        Nanoseconds, or bytes, that it shows.
    x : (float, float)
        Where that begins and ends.
    pixels_per_unit : float
        For which its drawing was made.
    kinds : tuple of str
        Kinds of elements that the detail replaces.
    """

    source: int
    window: tuple[float, float]
    x: tuple[float, float]
    pixels_per_unit: float
    kinds: tuple[str, ...] = ("call", "cluster")

    def at(self, x: float) -> float:
        """Return what lies at an x, within the window."""
        low, high = self.x
        share = min(max((x - low) / (high - low), 0.0), 1.0)
        return self.window[0] + share * (self.window[1] - self.window[0])

    def place(self, value: float) -> float:
        """Return the x of a nanosecond or byte, within the pane."""
        low, high = self.window
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return self.x[0] + share * (self.x[1] - self.x[0])


@dataclass(frozen=True, eq=False)
class Detail:
    """The replacement of a pane's own calls and clusters.

    Attributes
    ----------
    parts : tuple of Boxes or Wedges
    names : tuple of Labels
        On what is seen.
    palette : float32 (k, 4)
        sRGB, of both.
    meaning : dict
        As :attr:`..drawing.primitives.Drawing.meaning`, for parts whose ids are not calls.
    opened : int64 (k,)
        What has been opened, ascending, for the next look of a :class:`SpatialLevelOfDetail`.
    """

    parts: tuple[Element, ...]
    names: tuple[Labels, ...]
    palette: NDArray[np.float32]
    meaning: dict[str, Meaning] = field(default_factory=dict)
    opened: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


class LevelOfDetail(Protocol):
    """Level of detail of a view along x: one pane is zoomed.

    Attributes
    ----------
    panes : tuple of Pane
    camera : Camera
        That of its drawing.
    """

    panes: tuple[Pane, ...]
    camera: Camera

    def look(self, pane: int, seen: tuple[float, float], pixels_per_unit: float) -> Detail:
        """Return one pane with more detail in the zoomed part.

        Parameters
        ----------
        pane : int
        seen : (float, float)
            Nanoseconds, or bytes, within which there is more detail: all from a pixel on.
        pixels_per_unit : float
            Pixels of a scene unit in the zoomed part.

        Returns
        -------
        Detail
        """
        ...


@runtime_checkable
class SpatialLevelOfDetail(Protocol):
    """Level of detail of a view in all directions: elements that look large are near.

    Attributes
    ----------
    source : int
        Which of the view's traces.
    kinds : tuple of str
        Kinds of elements that the detail replaces.
    camera : Camera
        That of its drawing.
    """

    source: int
    kinds: tuple[str, ...]
    camera: Camera

    def look_from(self, eye: Projection, kept: NDArray[np.int64]) -> Detail | None:
        """Return what the view shows to an eye; None if it is what its picture shows.

        Parameters
        ----------
        eye : Projection
            In the drawing's coordinates.
        kept : int64 (k,)
            What the last look has opened, ascending: it stays open for a while when one goes away.

        Returns
        -------
        Detail or None
        """
        ...


def refined_cut(
    trace: Trace,
    picture: Cut,
    window: tuple[float, float],
    seen: tuple[float, float],
    resolution: float,
    threads: NDArray[np.int64],
    buffers: CutBuffers,
    step: int = 1,
) -> Cut:
    """Return a cut of ``window`` as fine as ``resolution`` within ``seen``, and as ``picture`` elsewhere.

    Parameters
    ----------
    trace : Trace
    picture : Cut
        What the picture shows of the window.
    window, seen : (float, float)
        Nanoseconds.
    resolution : float
        Nanoseconds.
    threads : int64 (k,)
    buffers : CutBuffers
    step : int
        Levels of a row.

    Returns
    -------
    Cut
    """
    calls = trace.calls
    first, last = round(window[0]), round(window[1])
    low, high = max(math.floor(seen[0]), first), min(math.ceil(seen[1]), last)
    # Calls without duration at the very end are included.
    stop = max(high + (high >= call_span(trace)[1]), low + 1)

    def part(t0: int, t1: int, at: float) -> Cut:
        depths = picture.depth0, picture.depth1
        return cut_index(trace).cut(t0, t1, *depths, max(at, 1.0), threads, buffers, step)

    parts = [part(low, stop, resolution)]
    # Elements that reach into it are already included.
    if low > first:
        left = part(first, low, picture.resolution)
        parts.append(left.of(calls.end[left.calls] < low))
    if stop < last:
        right = part(stop, last, picture.resolution)
        parts.append(right.of(calls.start[right.calls] >= stop))
    return replace(joined(parts, calls), t0=first, t1=max(stop, last))


def within(boxes: Boxes, first: float, last: float) -> Boxes:
    """Return boxes cut off at two places along x, where their names are to stand; some get no width.

    Parameters
    ----------
    boxes : Boxes
        They stay as they are.
    first, last : float
        The two places, in scene units.

    Returns
    -------
    Boxes
        As many, in the same order.
    """
    start = np.clip(boxes.low[:, 0], first, last)
    end = np.clip(boxes.low[:, 0] + boxes.size[:, 0], first, last)
    low, size = boxes.low.copy(), boxes.size.copy()
    low[:, 0], size[:, 0] = start, end - start
    return replace(boxes, low=low, size=size)


def readable(names: Labels, least_text: float, pixels_per_unit: float) -> Labels:
    """Return names in a height that can be read well when zoomed in, not in the height of their boxes.

    Parameters
    ----------
    names : Labels
        They stay as they are.
    least_text : float
        Height in pixels that a line needs to be read.
    pixels_per_unit : float
        Pixels of a scene unit in the zoomed part.

    Returns
    -------
    Labels
        None is higher than its box.
    """
    return replace(names, height=np.minimum(names.height, _NAME * least_text / pixels_per_unit))
