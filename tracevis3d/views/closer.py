"""What a view shows to those who come nearer: the same things in the same places, and more of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..drawing.words import Boxes, Camera, Labels, Wedges
from ..layout.cut import Clusters, Cut, CutBuffers
from ..trace.model import Trace
from .derived import derived

#: Names are so many times as high as what can just be read.
_NAME = 3.2


@dataclass(frozen=True)
class Pane:
    """A part of a view along which the time of one trace runs.

    Attributes
    ----------
    source : int
        Which of the view's traces.
    window : (int, int)
        Nanoseconds that it shows.
    pixels_per_unit : float
        For which its drawing was made.
    """

    source: int
    window: tuple[int, int]
    pixels_per_unit: float


@dataclass(frozen=True, eq=False)
class Near:
    """What stands in for a pane's own calls and clusters.

    Attributes
    ----------
    parts : tuple of Boxes or Wedges
    names : tuple of Labels
        On what is seen.
    palette : float32 (k, 4)
        sRGB, of both.
    """

    parts: tuple[Boxes | Wedges, ...]
    names: tuple[Labels, ...]
    palette: NDArray[np.float32]


class Closer(Protocol):
    """A view that can be looked at from nearer.

    Attributes
    ----------
    panes : tuple of Pane
    camera : Camera
        That of its drawing.
    """

    panes: tuple[Pane, ...]
    camera: Camera

    def look(self, pane: int, seen: tuple[int, int], pixels_per_unit: float) -> Near:
        """Return what one pane shows, with more detail where one looks.

        Parameters
        ----------
        pane : int
        seen : (int, int)
            Nanoseconds within which there is more detail: calls from a pixel on.
        pixels_per_unit : float
            How many pixels a scene unit takes where one looks.
        """
        ...


def cut_nearer(
    trace: Trace,
    picture: Cut,
    window: tuple[int, int],
    seen: tuple[int, int],
    resolution: float,
    threads: NDArray[np.int64],
    buffers: CutBuffers,
) -> Cut:
    """Return a cut of ``window`` that is as fine as ``resolution`` within ``seen``, and else as ``picture``.

    Parameters
    ----------
    trace : Trace
    picture : Cut
        What the picture shows of the window.
    window, seen : (int, int)
        Nanoseconds.
    resolution : float
        Nanoseconds.
    threads : int64 (k,)
    buffers : CutBuffers
    """
    calls, known = trace.calls, derived(trace)
    low, high = max(seen[0], window[0]), min(seen[1], window[1])
    # Calls without duration at the very end are part of the whole.
    stop = max(high + (high >= known.call_span[1]), low + 1)

    def part(t0: int, t1: int, at: float) -> Cut:
        return known.index.cut(t0, t1, picture.depth0, picture.depth1, max(at, 1.0), threads, buffers)

    parts = [part(low, stop, resolution)]
    # What reaches into it is there already.
    if low > window[0]:
        left = part(window[0], low, picture.resolution)
        parts.append(replace(left, calls=left.calls[calls.end[left.calls] < low]))
    if stop < window[1]:
        right = part(stop, window[1], picture.resolution)
        parts.append(replace(right, calls=right.calls[calls.start[right.calls] >= stop]))
    columns = {f.name: np.concatenate([getattr(p.clusters, f.name) for p in parts]) for f in fields(Clusters)}
    return replace(
        parts[0], calls=np.concatenate([p.calls for p in parts]), clusters=Clusters(**columns),
        t0=window[0], t1=max(stop, window[1]),
    )  # fmt: skip


def within(boxes: Boxes, first: float, last: float) -> Boxes:
    """Return boxes cut off at two places along x, where their names are to stand; some get no width."""
    start = np.clip(boxes.low[:, 0], first, last)
    end = np.clip(boxes.low[:, 0] + boxes.size[:, 0], first, last)
    low, size = boxes.low.copy(), boxes.size.copy()
    low[:, 0], size[:, 0] = start, end - start
    return replace(boxes, low=low, size=size)


def readable(names: Labels, least_text: float, pixels_per_unit: float) -> Labels:
    """Return names as high as can be read well from near, not as high as their boxes are."""
    return replace(names, height=np.minimum(names.height, _NAME * least_text / pixels_per_unit))
