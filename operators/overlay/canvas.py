"""An overlay on the screen: all its rectangles, lines and dots in one batch, then its texts in another."""

from typing import Any

import blf
import gpu
from gpu_extras.batch import batch_for_shader

from ...tracevis3d.overlay.items import Overlay
from ...tracevis3d.overlay.shapes import triangles
from . import lettering
from .lettering import FONT

#: Texts are measured in the size of most: in large type they are narrower, because small type keeps to whole
#: pixels.
_SLACK = 1.01
_measured = 12.0
_widths: dict[str, float] = {}
_MOST_WIDTHS = 50_000
#: The texts of all regions.
atlas = lettering.Atlas()


def measure(text: str) -> float:
    """Return the width of a text in type of size 1."""
    wide = _widths.get(text)
    if wide is None:
        if len(_widths) > _MOST_WIDTHS:
            _widths.clear()
        blf.size(FONT, _measured)
        wide = _widths[text] = _SLACK * blf.dimensions(FONT, text)[0] / _measured
    return wide


def measure_in(size: float) -> bool:
    """Let texts be measured in type of a size; returns whether it is another one than before."""
    global _measured
    if size == _measured:
        return False
    _measured = size
    _widths.clear()
    return True


class Canvas:
    """Draws overlays; batches are made again only when what they show has changed."""

    def __init__(self) -> None:
        self._key: Any = None
        self._batch: Any = None
        self._texts: Any = None
        self._letters: Any = None
        self._made: tuple[Overlay, int] | None = None

    def draw(self, overlay: Overlay, in_region: bool = True) -> None:
        """Draw in the region that Blender is drawing, or into a picture."""
        if self._made is None or self._made[0] is not overlay or self._made[1] != atlas.version:
            self._make(overlay)
            self._made = overlay, atlas.version
        if self._batch is not None:
            gpu.state.blend_set("ALPHA")
            self._batch.draw(gpu.shader.from_builtin("FLAT_COLOR"))
            gpu.state.blend_set("NONE")
        if self._letters is not None:
            lettering.draw(self._letters, atlas, in_region)

    def _make(self, overlay: Overlay) -> None:
        """Make the batches of an overlay that has not been drawn before."""
        key = (tuple(overlay.fills), tuple(overlay.lines), tuple(overlay.dots))
        if key != self._key:
            point, colors, triangle = triangles(overlay)
            self._key, self._batch = key, None
            if len(point):
                shader, corners = gpu.shader.from_builtin("FLAT_COLOR"), {"pos": point, "color": colors}
                self._batch = batch_for_shader(shader, "TRIS", corners, indices=triangle)
        texts = (tuple(overlay.texts), atlas.version)
        if texts != self._texts:
            self._letters = lettering.batch(overlay.texts, atlas)
            self._texts = (texts[0], atlas.version)
