"""Whether elements cover a text: boxes and tubes that are rendered in front of it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes, Drawing, Tubes
from ...layout.sight.picking import BoxPicker, Ray, TubePicker
from ..camera import View

Floats = NDArray[np.float64]

#: Where a text is examined: shares of its width, and of its line's height from the middle.
_ALONG, _ACROSS = (
    (0.02, 0.1, 0.18, 0.26, 0.34, 0.42, 0.5, 0.58, 0.66, 0.74, 0.82, 0.9, 0.98),
    (-0.3, 0.0, 0.3),
)
#: Minimum distance of a text from the surface below it, in line heights.
_OFF = 0.015


class Cover:
    """Finds what covers texts of a drawing.

    Parameters
    ----------
    drawing : Drawing
    view : View
        Where it is seen from.
    """

    def __init__(self, drawing: Drawing, view: View) -> None:
        self._drawing, self._view = drawing, view

    @cached_property
    def _boxes(self) -> BoxPicker:
        boxes = [e for e in self._drawing.elements if isinstance(e, Boxes) and e.look != "ghost"]
        low = np.concatenate([np.empty((0, 3), np.float32), *(e.low for e in boxes)])
        size = np.concatenate([np.empty((0, 3), np.float32), *(e.size for e in boxes)])
        return BoxPicker(low, size)

    @cached_property
    def _tubes(self) -> TubePicker | None:
        """Tubes alone: lines cross texts without hiding them."""
        tubes = [e for e in self._drawing.elements if isinstance(e, Tubes) and e.look != "ghost"]
        if not tubes:
            return None
        points = np.concatenate([e.point for e in tubes])
        across = np.zeros((len(points), 6), np.float32)
        across[:, :3] = np.concatenate([e.radius[:, :1] * np.array(e.side, np.float32) for e in tubes])
        # The other half axis is across the course; where it is seen from above that is about upwards.
        across[:, 5] = np.concatenate([e.radius[:, 1] for e in tubes])
        first, at = [0], 0
        for e in tubes:
            first += (e.first[1:] + at).tolist()
            at += len(e.point)
        return TubePicker(points, across, np.array(first, np.int64))

    def share(self, left: Floats, right: Floats, up: Floats, width: float, height: float) -> float:
        """Return how much of a text is covered, 0 to 1.

        Parameters
        ----------
        left : float64 (3,)
            Middle of its left end.
        right, up : float64 (3,)
            Unit vectors of the writing.
        width, height : float
            Scene units.

        Returns
        -------
        float
        """
        view, hidden = self._view, 0
        for along in _ALONG:
            for across in _ACROSS:
                point = left + right * (along * width) + up * (across * height)
                toward = view.eye - point if view.perspective else -view.forward
                far = float(np.linalg.norm(toward)) if view.perspective else np.inf
                ray = Ray.of(point, toward, near=_OFF * height)
                met = self._boxes.hit(ray, False, farthest=far) if len(self._boxes) else None
                if met is None and self._tubes is not None:
                    met = self._tubes.pick(ray, far)
                hidden += met is not None
        return hidden / (len(_ALONG) * len(_ACROSS))
