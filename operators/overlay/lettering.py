"""Texts from an atlas: each is written once into a texture, and all that are shown are drawn as one batch.

Blender takes some 10 microseconds for each text that it writes, which for some hundred names is more than all
else of an overlay.
"""

from collections.abc import Sequence
from typing import Any

import blf
import gpu
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ...tracevis3d.overlay.items import Text
from ...tracevis3d.overlay.shapes import quads

#: The font of Blender's interface.
FONT = 0
#: Pixels of the atlas on each side, and between two texts.
_SIDE, _GAP = 2048, 2
#: A line's height and the part of it below the baseline, in sizes of the type.
_HIGH, _BELOW = 1.5, 0.4

_VERTEX = """
void main()
{
  place = uv;
  ink = color;
  gl_Position = ModelViewProjectionMatrix * vec4(pos, 0.0, 1.0);
}
"""
#: A 3D view's region takes linear light, and shows it as sRGB. It mixes light, too, in which dark letters
#: become thin and pale, and light ones fat: how much of the ink a pixel takes is corrected for both.
_FRAGMENT = """
void main()
{
  vec3 low = ink.rgb / 12.92;
  vec3 high = pow((ink.rgb + vec3(0.055)) / 1.055, vec3(2.4));
  vec3 light = mix(high, low, vec3(lessThanEqual(ink.rgb, vec3(0.04045))));
  float share = ink.a * texture(atlas, place).r;
  float bright = dot(ink.rgb, vec3(0.2126, 0.7152, 0.0722));
  float mixed = mix(1.0 - (1.0 - share) * (1.0 - share), pow(share, 1.5), bright);
  fragColor = vec4(mix(ink.rgb, light, linear), mix(share, mixed, linear));
}
"""


class _Full(Exception):
    """The atlas has no room for another text."""


class Atlas:
    """Texts in a texture; when it is full it begins anew with those that are wanted."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, float], tuple[int, int, int, int]] = {}
        self._offscreen: Any = None
        self._left = self._low = self._high = 0
        #: Another number when texts lie elsewhere.
        self.version = 0

    def places(self, texts: Sequence[Text]) -> list[tuple[int, int, int, int]]:
        """Return where texts lie: left, low, width and height of each in pixels, written if need be."""
        for _ in range(2):
            try:
                missing = {(t.text, t.size) for t in texts} - self._places.keys()
                self._write(sorted(missing))
                return [self._places[t.text, t.size] for t in texts]
            except _Full:
                self.forget()
        return []

    @property
    def texture(self) -> Any:
        """The texture; None before anything was written."""
        return self._offscreen.texture_color if self._offscreen is not None else None

    def forget(self) -> None:
        """Release everything."""
        self.version += 1
        self._places.clear()
        self._left = self._low = self._high = 0
        self._offscreen = None

    def _write(self, texts: list[tuple[str, float]]) -> None:
        if not texts:
            return
        new = self._offscreen is None
        if new:
            self._offscreen = gpu.types.GPUOffScreen(_SIDE, _SIDE)
        placed = [(text, size, self._room(text, size)) for text, size in texts]
        with self._offscreen.bind(), gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            if new:
                gpu.state.active_framebuffer_get().clear(color=(0.0, 0.0, 0.0, 1.0))
            gpu.matrix.load_identity()
            gpu.matrix.load_projection_matrix(in_pixels(_SIDE, _SIDE))
            blf.color(FONT, 1.0, 1.0, 1.0, 1.0)
            last = 0.0
            for text, size, (left, low, _, _) in placed:
                if size != last:
                    blf.size(FONT, size)
                    last = size
                blf.position(FONT, left, low + round(_BELOW * size), 0)
                blf.draw(FONT, text)
        self._places |= {(text, size): place for text, size, place in placed}

    def _room(self, text: str, size: float) -> tuple[int, int, int, int]:
        """Return a free rectangle for a text, on the row that is being filled or on a new one."""
        blf.size(FONT, size)
        wide = min(int(blf.dimensions(FONT, text)[0]) + 2, _SIDE - _GAP)
        high = int(_HIGH * size) + 1
        if self._left + wide > _SIDE:
            self._low += self._high + _GAP
            self._left = self._high = 0
        if self._low + high > _SIDE:
            raise _Full
        place = (self._left, self._low, wide, high)
        self._left += wide + _GAP
        self._high = max(self._high, high)
        return place


def in_pixels(width: int, height: int) -> Matrix:
    """Return the projection of a picture's pixels, from its lower left corner."""
    return Matrix(((2 / width, 0, 0, -1), (0, 2 / height, 0, -1), (0, 0, -1, 0), (0, 0, 0, 1)))


def batch(texts: Sequence[Text], atlas: Atlas) -> Any:
    """Return a batch that draws texts; None if there are none, or if the atlas has no room for them."""
    places = atlas.places(texts) if texts else []
    if not places:
        return None
    given, indices = quads(texts, places, _SIDE, _BELOW)
    return batch_for_shader(shader(), "TRIS", given, indices=indices)


def draw(letters: Any, atlas: Atlas, in_region: bool = True) -> None:
    """Draw a batch of texts, in the region that Blender is drawing or into a picture."""
    used = shader()
    gpu.state.blend_set("ALPHA")
    used.bind()
    used.uniform_float("linear", 1.0 if in_region else 0.0)
    used.uniform_sampler("atlas", atlas.texture)
    matrix = gpu.matrix.get_projection_matrix() @ gpu.matrix.get_model_view_matrix()
    used.uniform_float("ModelViewProjectionMatrix", matrix)
    letters.draw(used)
    gpu.state.blend_set("NONE")


_shaders: list[Any] = []


def shader() -> Any:
    """Return the shader of texts, made when it is first wanted."""
    if not _shaders:
        info = gpu.types.GPUShaderCreateInfo()
        between = gpu.types.GPUStageInterfaceInfo("tracevis3d_lettering")
        between.smooth("VEC2", "place")
        between.smooth("VEC4", "ink")
        info.push_constant("MAT4", "ModelViewProjectionMatrix")
        info.push_constant("FLOAT", "linear")
        info.sampler(0, "FLOAT_2D", "atlas")
        info.vertex_in(0, "VEC2", "pos")
        info.vertex_in(1, "VEC2", "uv")
        info.vertex_in(2, "VEC4", "color")
        info.vertex_out(between)
        info.fragment_out(0, "VEC4", "fragColor")
        info.vertex_source(_VERTEX)
        info.fragment_source(_FRAGMENT)
        _shaders.append(gpu.shader.create_from_info(info))
    return _shaders[0]
