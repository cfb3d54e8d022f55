"""The boxes of an icicle in more detail, in the places that they have in its picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...drawing.frame import Frame
from ...drawing.palettes import BASE, GRID, OTHER, PALETTES
from ...drawing.words import Boxes, Labels
from ...layout.cut import Cut, CutBuffers
from ...trace.model import Trace
from ..coloring import coloring
from ..derived import derived
from ..measuring import measure
from .composition import WIDTH, compose
from .elements import call_boxes, cluster_boxes, measured
from .names import names_on_fronts


class Closer:
    """An icicle that can be looked at from nearer; see :class:`..registry.Closer`."""

    def __init__(self, traces: Sequence[Trace], parameters: object, frame: Frame) -> None:
        (self._trace,) = traces
        self._picture, self._base, _ = compose(self._trace, parameters, frame)  # type: ignore[arg-type]
        p = self._picture.parameters
        self.window, self.camera = self._picture.window, self._picture.camera
        self.pixels_per_unit = self._picture.pixels_per_unit
        self._colors = coloring(self._trace, p.color, PALETTES[p.palette], p.entries, self._picture.threads)
        self.palette: NDArray[np.float32] = np.vstack(
            [self._colors.palette, OTHER[None], GRID[None], BASE[None]]
        )
        self._measure = measure(self._trace, p.measure)
        # The scale stays that of the picture: nobody's thickness changes on the way.
        self._scale, _, _ = measured(self._measure, p, self._base)
        self._buffers = CutBuffers()

    def look(self, seen: tuple[int, int], pixels_per_unit: float) -> tuple[tuple[Boxes, ...], Labels]:
        """Return calls and clusters of the whole window, and names on those within ``seen``.

        Parameters
        ----------
        seen : (int, int)
            Nanoseconds within which there is more detail: calls from a pixel on.
        pixels_per_unit : float
            How many pixels a scene unit takes where one looks.
        """
        picture, p = self._picture, self._picture.parameters
        low, high = max(seen[0], self.window[0]), min(seen[1], self.window[1])
        resolution = p.resolution * (self.window[1] - self.window[0]) / (WIDTH * pixels_per_unit)
        stop = high + (high >= derived(self._trace).call_span[1])
        near = self._cut(low, max(stop, low + 1), resolution)
        # Beside it what the picture shows; what reaches in is there already.
        coarse = p.resolution * (self.window[1] - self.window[0]) / (WIDTH * self.pixels_per_unit)
        cuts = [near]
        ends = self._trace.calls.end
        if low > self.window[0]:
            left = self._cut(self.window[0], low, coarse)
            cuts.append(replace(left, calls=left.calls[ends[left.calls] < low]))
        if stop < self.window[1]:
            right = self._cut(stop, self.window[1], coarse)
            cuts.append(replace(right, calls=right.calls[self._trace.calls.start[right.calls] >= stop]))
        boxes = []
        for cut in cuts:
            shares = np.zeros(len(cut.calls)), np.zeros(len(cut.clusters))
            if self._measure is not None:
                values = self._measure.calls(cut.calls), self._measure.clusters(cut.clusters)
                shares = self._scale.place(values[0]), self._scale.place(values[1])
            boxes.append(
                (
                    call_boxes(picture, cut, self._colors, shares[0]),
                    cluster_boxes(picture, cut, self._colors, shares[1]),
                )
            )
        nearer = replace(picture, pixels_per_unit=pixels_per_unit)
        # Names of calls that begin before what is seen stand where it begins.
        own = boxes[0][0]
        first, last = self._x(low), self._x(high)
        start = np.clip(own.low[:, 0], first, last)
        end = np.clip(own.low[:, 0] + own.size[:, 0], first, last)
        inside, extent = own.low.copy(), own.size.copy()
        inside[:, 0], extent[:, 0] = start, end - start
        names = names_on_fronts(nearer, replace(own, low=inside, size=extent), boxes[0][1], p.labels)
        # As high as can be read, not as high as the box is.
        height = np.minimum(names.height, 3.2 * picture.least_text / pixels_per_unit)
        return tuple(_joined(kind) for kind in zip(*boxes, strict=True)), replace(names, height=height)

    def _x(self, time: int) -> float:
        low, high = self.window
        return WIDTH * (time - low) / max(high - low, 1)

    def _cut(self, low: int, high: int, resolution: float) -> Cut:
        p = self._picture.parameters
        return derived(self._trace).index.cut(
            low, high, p.first_depth, p.last_depth or None, max(resolution, 1.0),
            self._picture.threads, self._buffers,
        )  # fmt: skip


def _joined(parts: Sequence[Boxes]) -> Boxes:
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("low", "size", "color", "id", "time", "count")
    }
    return replace(parts[0], **columns)
