"""An overlay on the screen: all its rectangles, lines and dots in one batch, then its texts."""

from typing import Any

import blf
import gpu
from gpu_extras.batch import batch_for_shader

from ...tracevis3d.overlay.items import Overlay
from ...tracevis3d.overlay.shapes import triangles

#: The font of Blender's interface.
_FONT = 0
#: Texts are measured in this size: in large type they are narrower, because small type keeps to whole pixels.
_MEASURED, _SLACK = 13.0, 1.01
_widths: dict[str, float] = {}
_MOST_WIDTHS = 50_000


def measure(text: str) -> float:
    """Return the width of a text in type of size 1."""
    wide = _widths.get(text)
    if wide is None:
        if len(_widths) > _MOST_WIDTHS:
            _widths.clear()
        blf.size(_FONT, _MEASURED)
        wide = _widths[text] = _SLACK * blf.dimensions(_FONT, text)[0] / _MEASURED
    return wide


class Canvas:
    """Draws overlays; the batch of shapes is made again only when they have changed."""

    def __init__(self) -> None:
        self._key: Any = None
        self._batch: Any = None

    def draw(self, overlay: Overlay) -> None:
        """Draw in the region that Blender is drawing."""
        key = (tuple(overlay.fills), tuple(overlay.lines), tuple(overlay.dots))
        shader = gpu.shader.from_builtin("FLAT_COLOR")
        if key != self._key:
            point, colors, triangle = triangles(overlay)
            self._key, self._batch = key, None
            if len(point):
                corners = {"pos": point, "color": colors}
                self._batch = batch_for_shader(shader, "TRIS", corners, indices=triangle)
        if self._batch is not None:
            gpu.state.blend_set("ALPHA")
            self._batch.draw(shader)
            gpu.state.blend_set("NONE")
        size = 0.0
        color: tuple[float, ...] = ()
        for text in overlay.texts:
            if text.size != size:
                size = text.size
                blf.size(_FONT, size)
            if text.color != color:
                color = text.color
                blf.color(_FONT, *color)
            blf.position(_FONT, round(text.left), round(text.baseline), 0)
            blf.draw(_FONT, text.text)
