"""Draws the lens over a 3D view: the scene about the mouse, magnified, with the names that have room then."""

from functools import partial
from typing import Any

import bpy
import gpu
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector

from ...tracevis3d.layout.sight.magnification import behind
from ...tracevis3d.layout.sight.view_projection import ViewProjection
from ...tracevis3d.overlay.items import Overlay
from ...tracevis3d.overlay.names import lay_names
from .. import handlers, signals
from ..explore import overlay as explore
from ..explore.sight import lens
from ..state import settings
from . import draw, legend
from .canvas import Canvas, measure
from .content import contents
from .lettering import in_pixels
from .room import theme_of

_RING = (0.80, 0.42, 0.0, 1.0)
#: Share of the diameter on each side that has no names: there the circle would cut them.
_RIM = 0.12

_VERTEX = """
void main()
{
  at = pos;
  gl_Position = ModelViewProjectionMatrix * vec4(middle + radius * pos, 0.0, 1.0);
}
"""
#: The picture is in sRGB; a 3D view's region takes linear light.
_FRAGMENT = """
void main()
{
  float far = length(at) * radius;
  vec3 ink = texture(picture, 0.5 + 0.5 * at).rgb;
  ink = mix(ink, ring.rgb, clamp(far - radius + width + 1.0, 0.0, 1.0));
  vec3 low = ink / 12.92;
  vec3 high = pow((ink + vec3(0.055)) / 1.055, vec3(2.4));
  vec3 light = mix(high, low, vec3(lessThanEqual(ink, vec3(0.04045))));
  fragColor = vec4(light, clamp(radius - far, 0.0, 1.0));
}
"""


class _Drawn:
    """What drawing needs, made when it is first wanted."""

    def __init__(self) -> None:
        self.offscreen: Any = None
        self.shader: Any = None
        self.batch: Any = None
        self.canvas: dict[str, Canvas] = {}
        self.shown: dict[str, Overlay] = {}

    def of(self, side: int) -> Any:
        """Return a picture of so many pixels on each side."""
        if self.offscreen is None or self.offscreen.width != side:
            self.offscreen = gpu.types.GPUOffScreen(side, side)
        if self.shader is None:
            self.shader = _shader()
            corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
            indices = [(0, 1, 2), (0, 2, 3)]
            self.batch = batch_for_shader(self.shader, "TRIS", {"pos": corners}, indices=indices)
        return self.offscreen


_drawn = _Drawn()


def _shader() -> Any:
    info, between = gpu.types.GPUShaderCreateInfo(), gpu.types.GPUStageInterfaceInfo("tracevis3d_lens")
    between.smooth("VEC2", "at")
    info.push_constant("MAT4", "ModelViewProjectionMatrix")
    info.push_constant("VEC4", "ring")
    info.push_constant("VEC2", "middle")
    info.push_constant("FLOAT", "radius")
    info.push_constant("FLOAT", "width")
    info.sampler(0, "FLOAT_2D", "picture")
    info.vertex_in(0, "VEC2", "pos")
    info.vertex_out(between)
    info.fragment_out(0, "VEC4", "fragColor")
    info.vertex_source(_VERTEX)
    info.fragment_source(_FRAGMENT)
    return gpu.shader.create_from_info(info)


def _draw(context: bpy.types.Context) -> None:
    region, view = context.region, context.region_data
    look = lens.look(context.area, region, view)
    if region.as_pointer() == explore.state.region:
        explore.state.apart = 0.55 * look.width if look is not None else 0.0
    if look is None:
        return
    offscreen, scale = _drawn.of(look.width), context.preferences.system.ui_scale
    offscreen.draw_view3d(
        context.scene, context.view_layer, context.space_data, region, look.view_matrix, look.window_matrix,
        do_color_management=True,
    )  # fmt: skip
    with offscreen.bind(), gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
        gpu.matrix.load_matrix(look.view_matrix)
        gpu.matrix.load_projection_matrix(look.window_matrix)
        legend.mute(context.scene, context.space_data, view, True)
        gpu.matrix.load_matrix(Matrix.Identity(4))
        gpu.matrix.load_projection_matrix(in_pixels(look.width, look.height))
        _drawn.shown = {one.name: _names(context, one, look) for one in settings.all_in(context.scene)}
        for name, made in _drawn.shown.items():
            _drawn.canvas.setdefault(name, Canvas()).draw(made, in_region=False)
    shader = _drawn.shader
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_sampler("picture", offscreen.texture_color)
    matrix = gpu.matrix.get_projection_matrix() @ gpu.matrix.get_model_view_matrix()
    shader.uniform_float("ModelViewProjectionMatrix", matrix)
    shader.uniform_float("ring", _RING)
    shader.uniform_float("middle", (look.x + 0.5, look.y + 0.5))
    shader.uniform_float("radius", look.width / 2)
    shader.uniform_float("width", 2.5 * scale)
    _drawn.batch.draw(shader)
    gpu.state.blend_set("NONE")


def _names(context: bpy.types.Context, collection: bpy.types.Collection, look: lens.Look) -> Overlay:
    """Return the names of a view that have room in the lens."""
    made, content = Overlay(), contents.of(collection)
    if content is None:
        return made
    stored, region = settings.of(collection), context.region
    matrix = look.perspective_matrix @ Matrix.Translation(Vector(stored.place))
    rim = _RIM * look.width
    depths = draw.depths_of(region, context.region_data)

    def seen(depths: Any, pixel: Any, depth: Any) -> Any:
        # Depths are those of the region.
        return depths.seen(behind(pixel, look.x, look.y, look.width, lens.TIMES), depth)

    lay_names(
        draw.names_of(context.scene, collection, content, region),
        ViewProjection.of(matrix, look.width, look.height),
        (rim, rim, look.width - rim, look.height - rim),
        theme_of(stored.style, context.preferences.system.ui_scale),
        measure,
        made,
        _drawn.shown.get(collection.name, made).names,
        partial(seen, depths) if depths is not None else None,
        legend.names_of(collection, content, legend.shown_in(context.scene)),
    )
    return made


def texts() -> list[Any]:
    """Return the names that were last drawn in a lens, as :class:`.items.Text`, in its own pixels."""
    return [text for made in _drawn.shown.values() for text in made.texts]


def forget() -> None:
    """Release everything that was drawn."""
    _drawn.offscreen = None
    _drawn.canvas.clear()
    _drawn.shown.clear()


_CONNECTIONS: signals.Connections = ((explore.on_flat, _draw), (handlers.before_loading, forget))


def register() -> None:
    """Draw the lens in all 3D views."""
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
    forget()
