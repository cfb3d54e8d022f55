"""Which detail a 3D view needs, from what can be seen of a view: arrays alone, so threads may compute it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...drawing.filtered import thinned
from ...drawing.primitives import Camera, Drawing, Element
from ...drawing.projection import Projection
from ...layout.sight.view_projection import ViewProjection, whole_in_sight
from ...trace.model import Trace
from .. import filtering
from ..element_metadata import ElementMetadata, metadata_of
from .levels import Detail, LevelOfDetail, Pane, SpatialLevelOfDetail

Floats = NDArray[np.float32] | NDArray[np.float64]
#: Zoom factor, relative to the picture or the current detail, from which more detail is made.
_WORTH = 1.5
_MARGIN = 0.5  # of what is seen, on either side
#: A lens has the whole view show its detail, which stands still then, unless that were more elements.
_MOST = 25_000


@dataclass(frozen=True, eq=False)
class Sight:
    """What a 3D view sees of one pane.

    Attributes
    ----------
    boxes : tuple of (float (n, 3), float (n, 3))
        Of each object that shows it, the boxes' least corners and sizes.
    eyes : tuple of ViewProjection
        From each object's coordinates.
    lens : tuple of ViewProjection
        The same through the 3D view's lens; empty if it has none.
    shown : (float, float, float) or None
        From where to where the detail that is shown now is for, in nanoseconds or bytes, and for how many
        pixels per unit; None if the picture's own elements are shown.
    """

    boxes: tuple[tuple[Floats, Floats], ...]
    eyes: tuple[ViewProjection, ...]
    lens: tuple[ViewProjection, ...] = ()
    shown: tuple[float, float, float] | None = None

    def range_in_sight(self, eyes: Sequence[ViewProjection]) -> tuple[float, float, float] | None:
        """Return from which x to which can be seen, and the most pixels of a unit there; None: nothing.

        Parameters
        ----------
        eyes : sequence of ViewProjection
            From each object's coordinates.

        Returns
        -------
        (float, float, float) or None
        """
        pairs = zip(self.boxes, eyes, strict=True)
        return whole_in_sight([eye.x_in_sight(low, size) for (low, size), eye in pairs])


@dataclass(frozen=True, eq=False)
class Replacement:
    """What a trace's elements of some kinds are to be replaced by.

    Attributes
    ----------
    source : int
        Which of the view's traces.
    kinds : tuple of str
        Kinds of elements that it takes the place of.
    drawing : Drawing or None
        The detail, with its names; None: the picture's own elements are to be shown again.
    parts : tuple of elements
        Those of the drawing; none without elements.
    metadata : tuple of ElementMetadata or None
        What they represent.
    seen : (float, float, float) or int64 (k,)
        What the detail is for; see :attr:`Sight.shown` and :attr:`.levels.Detail.opened`.
    """

    source: int
    kinds: tuple[str, ...]
    drawing: Drawing | None = None
    parts: tuple[Element, ...] = ()
    metadata: tuple[ElementMetadata | None, ...] = ()
    seen: tuple[float, float, float] | NDArray[np.int64] = (0.0, 0.0, 0.0)


def along(
    levels: LevelOfDetail, pane: int, sight: Sight, traces: Sequence[Trace], stack: str = ""
) -> Replacement | None:
    """Return what a pane needs for a 3D view; None if it stays as it is.

    Parameters
    ----------
    levels : LevelOfDetail
    pane : int
        One of its panes.
    sight : Sight
    traces : sequence of Trace
        Those of the view.
    stack : str
        Its filters.

    Returns
    -------
    Replacement or None
    """
    part = levels.panes[pane]
    found = sight.range_in_sight(sight.eyes)
    if found is None:
        return None
    whole, pixels = (part.at(found[0]), part.at(found[1])), found[2]
    within = sight.range_in_sight(sight.lens) if sight.lens else None
    low, high = whole
    if within is not None:
        low, high, pixels = part.at(within[0]), part.at(within[1]), within[2]
    if pixels < _WORTH * part.pixels_per_unit:
        return Replacement(part.source, part.kinds)
    now = sight.shown
    if now is not None and now[0] <= low and high <= now[1] and 1 / _WORTH < pixels / now[2] < _WORTH:
        return None
    if within is not None:
        found_in_all = of_pane(levels, pane, _wider(whole, part), pixels, traces, stack, _MOST)
        if found_in_all is not None:
            return found_in_all
    return of_pane(levels, pane, _wider((low, high), part), pixels, traces, stack)


def of_pane(
    levels: LevelOfDetail,
    pane: int,
    window: tuple[float, float],
    pixels_per_unit: float,
    traces: Sequence[Trace],
    stack: str = "",
    most: float = math.inf,
) -> Replacement | None:
    """Return the detail of a part of a pane's window; None if that were more than ``most`` elements.

    Parameters
    ----------
    levels : LevelOfDetail
    pane : int
        One of its panes.
    window : (float, float)
        Nanoseconds, or bytes.
    pixels_per_unit : float
        Pixels of a scene unit there.
    traces : sequence of Trace
        Those of the view.
    stack : str
        Its filters.
    most : float

    Returns
    -------
    Replacement or None
    """
    near, part = levels.look(pane, window, pixels_per_unit), levels.panes[pane]
    if sum(map(len, near.parts)) > most:
        return None
    seen = float(window[0]), float(window[1]), pixels_per_unit
    return _replacement(near, part.source, part.kinds, levels.camera, seen, traces, stack)


def around(
    levels: SpatialLevelOfDetail,
    eye: Projection,
    opened: NDArray[np.int64],
    traces: Sequence[Trace],
    stack: str = "",
) -> Replacement:
    """Return what a view with detail in all directions shows to an eye.

    Parameters
    ----------
    levels : SpatialLevelOfDetail
    eye : Projection
        In the drawing's coordinates.
    opened : int64 (k,)
        What is open now.
    traces : sequence of Trace
        Those of the view.
    stack : str
        Its filters.

    Returns
    -------
    Replacement
    """
    near = levels.look_from(eye, opened)
    if near is None:
        return Replacement(levels.source, levels.kinds)
    return _replacement(near, levels.source, levels.kinds, levels.camera, near.opened, traces, stack)


def _replacement(
    near: Detail,
    source: int,
    kinds: tuple[str, ...],
    camera: Camera,
    seen: tuple[float, float, float] | NDArray[np.int64],
    traces: Sequence[Trace],
    stack: str,
) -> Replacement:
    drawing = Drawing(near.palette, near.parts, camera, near.names, meaning=near.meaning)
    if stack:
        states: Mapping[int, NDArray[np.uint8]] = {
            i: filtering.states(trace, stack) for i, trace in enumerate(traces)
        }
        drawing = thinned(drawing, states)
    # As in a picture: no object is made for a kind without elements.
    parts = tuple(part for part in drawing.elements if len(part))
    metadata = tuple(metadata_of(part, drawing, traces) for part in parts)
    return Replacement(source, kinds, drawing, parts, metadata, seen)


def _wider(seen: tuple[float, float], pane: Pane) -> tuple[float, float]:
    """Return what a pane shows of its window, and some on either side: who moves a little sees it too."""
    low, high = seen
    room = _MARGIN * (high - low)
    return max(low - room, pane.window[0]), min(high + room, pane.window[1])
