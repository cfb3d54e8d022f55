"""A cone tree that opens closed subtrees near the camera, in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.projection import Projection
from ....trace.model import Trace
from ....views.detail import Detail
from . import labels as names
from .camera import whole
from .elements import KINDS, Paint, elements, meaning
from .opened import open_in_view
from .parameters import Parameters
from .paths import find_path
from .prepared import prepare


class LevelOfDetail:
    """A cone tree that can be looked at from all sides; see ``views.detail``.

    Parameters
    ----------
    traces : sequence of Trace
        One.
    parameters : Parameters
        Those of the view.
    frame : Frame
        Of the picture that it adds to.
    """

    source = 0
    kinds: tuple[str, ...] = (*KINDS, "path")

    def __init__(self, traces: Sequence[Trace], parameters: Parameters, frame: Frame) -> None:
        (trace,) = traces
        self._ready = prepare(trace, parameters)
        self.picture = self._ready.picture
        self.camera = whole(self._ready.picture, self._ready.parameters, frame)

    def look_from(self, eye: Projection, kept: NDArray[np.int64]) -> Detail | None:
        """Return all that represents calls, with the subtrees opened that look large from there.

        Parameters
        ----------
        eye : Projection
            In the drawing's coordinates.
        kept : int64 (k,)
            What the last look has opened, ascending.

        Returns
        -------
        Detail or None
            None: nothing is opened.
        """
        prepared, p = self._ready, self._ready.parameters
        if p.layout != "cone":
            return None
        picture, calls = open_in_view(prepared, eye, kept)
        if not len(calls):
            return None
        faded = prepared.faded(picture)
        paint = Paint.of(picture, prepared.colors, faded)
        path = find_path(picture, p)
        found = names.labels(picture, eye, ~faded, path, p)
        return Detail(
            tuple(elements(picture, paint, path, p)),
            tuple(replace(group) for group in found.labels if group.kind == "function" and len(group)),
            paint.palette,
            meaning(picture, prepared.calls(picture)),
            calls,
        )
