"""Lines one by one on slabs that are near."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....drawing.builder import DrawingBuilder
from ....drawing.frame import Frame
from ....drawing.projection import Projection
from ....trace.model import Trace
from ....views.detail import Detail
from . import slabs
from .layout import Layout, camera, compose

#: A slab gets finer bars where it looks this much larger than in the picture, and keeps them a little longer.
_LARGER, _KEPT = 1.6, 1.3


class LevelOfDetail:
    """Finer bars where one is near; see :class:`....views.detail.SpatialLevelOfDetail`.

    Parameters
    ----------
    traces : sequence of Trace
        One.
    parameters : object
        Those of the view.
    frame : Frame
        Of the picture that it adds to.
    """

    source = 0
    kinds: tuple[str, ...] = ("line",)

    def __init__(self, traces: Sequence[Trace], parameters: object, frame: Frame) -> None:
        self._picture = compose(traces[0], parameters, frame)  # type: ignore[arg-type]
        self.camera = camera(self._picture)

    def look_from(self, eye: Projection, kept: NDArray[np.int64]) -> Detail | None:
        """Return all bars, finer on slabs that look larger than in the picture.

        Parameters
        ----------
        eye : Projection
            In the drawing's coordinates.
        kept : int64 (k,)
            The slabs that the last look has made finer.

        Returns
        -------
        Detail or None
            None: no slab looks larger.
        """
        picture = self._picture
        larger = _pixels_per_unit(picture, eye) / picture.pixels_per_unit
        was = np.isin(np.arange(len(larger)), kept)
        finer = (larger > _LARGER) | (was & (larger > _KEPT))
        # Bars that are lines already can't become finer.
        finer &= picture.unit * picture.pixels_per_unit < picture.parameters.resolution
        if not finer.any():
            return None
        # Powers of two: places change seldom as one flies.
        level = np.where(finer, 2.0 ** np.maximum(np.floor(np.log2(np.maximum(larger, 1.0))), 1.0), 1.0)
        drawing = DrawingBuilder()
        colors = slabs.Coloring(drawing, picture)
        slabs.bars(drawing, picture, colors, picture.pixels_per_unit * level)
        return Detail(
            tuple(drawing.elements), (), drawing.paint.palette, drawing.meaning, np.flatnonzero(finer)
        )


def _pixels_per_unit(picture: Layout, eye: Projection) -> NDArray[np.float64]:
    """Return how large each slab looks, at the place of it that is nearest; 0 behind the eye."""
    made = picture.slabs
    near = np.column_stack([made.low[:, 0], made.low[:, 1] - (made.stop - made.first) * picture.unit])
    far = np.column_stack([made.low[:, 0] + picture.across, made.low[:, 1]])
    at = np.column_stack([np.clip(eye.eye[:2], near, far), np.zeros(len(made))])
    away = (at - eye.eye) @ eye.forward
    half = eye.tangent * (away if eye.perspective else np.ones_like(away))
    return np.where(away > 0, eye.frame.width / 2 / np.maximum(half, 1e-9), 0.0)
