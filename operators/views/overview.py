"""The whole trace at a glance, always in view: its numbers, and a strip of all calls under the active view.

What both say lies on the view, stored when the view is made or its filters change; so they are there without
the trace, and after undo.
"""

from contextlib import suppress
from typing import Any

import blf
import bpy
import gpu
from bpy.props import BoolProperty, IntProperty, PointerProperty, StringProperty
from gpu_extras.batch import batch_for_shader

from ...tracevis3d.analysis.mural import unpacked
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.features.call_tree.strip import (
    GROUND,
    HIDDEN_COLOR,
    SHOWN_COLOR,
    part,
    picture,
    quads,
    strip,
)
from .. import areas, signals
from ..explore.shapes import rectangle, write
from ..state import settings
from . import viewport

#: Heights, in pixels at scale 1: of the strip, of the line above it, and of the type in that.
_STRIP, _LINE, _TYPE = 34.0, 20.0, 12.0
_MARGIN = 12.0
_LEAST = 160.0  # a narrower strip shows nothing
_BEHIND, _INK, _QUIET = (*GROUND, 0.94), (1.0, 1.0, 1.0, 1.0), (0.75, 0.78, 0.82, 1.0)
_PART = (1.0, 0.72, 0.86, 1.0)  # what the call tree lists
_LEAST_PART = 3.0  # pixels
#: Texts at the strip's right end: for what the call tree lists, all calls, and those that filters hide.
_LISTED, _CALLS, _HIDDEN = (
    ("in the list", _PART), ("calls", (*SHOWN_COLOR, 1.0)), ("hidden", (*HIDDEN_COLOR, 1.0)),
)  # fmt: skip


class TRACEVIS3D_PG_overview(bpy.types.PropertyGroup):
    """The text about the whole trace of a view."""

    headline: StringProperty(description="Its numbers, in words")
    cells: StringProperty(description="How full each cell of the strip is")
    calls: IntProperty(description="Calls of the trace")
    first: IntProperty(description="The first call of the part that the call tree lists")
    last: IntProperty(description="The call after the last one of that part")
    shown: BoolProperty(
        name="Strip",
        description="Show the whole trace as a strip at the bottom of the 3D view; a click in it goes there",
        default=True,
        update=lambda _self, _context: areas.redraw(),
    )


def of(collection: bpy.types.Collection) -> Any:
    """Return the state stored on a view's collection."""
    return collection.tracevis3d_strip


def is_in(screen: bpy.types.Screen, collection: bpy.types.Collection) -> bool:
    """Return whether the 3D views of a screen have the strip of a view: not where it has an editor for it."""
    stored = of(collection)
    return bool(stored.shown and stored.cells) and not areas.shows(screen, areas.STRIP)


def prepare(trace: Any, stack: str) -> None:
    """Work out what :func:`store` stores; touches nothing of Blender's."""
    with suppress(TraceVisError):
        strip(trace, stack)


def store(
    collection: bpy.types.Collection, trace: Any, stack: str, part: tuple[int, int] | None = None
) -> None:
    """Store headline and strip of a trace, and the listed ``part`` (first call, one after the last)."""
    stored = of(collection)
    with suppress(TraceVisError):
        made = strip(trace, stack)
        stored.headline, stored.cells = made.headline, made.cells
        stored.calls = len(trace.calls)
    if part is not None:
        stored.first, stored.last = part
    areas.redraw()


# -- the strip in the 3D view -------------------------------------------------------------------------------

#: The strip that was drawn last, and its cells: drawing can't make it again for each frame.
_batches: dict[str, tuple[Any, bool]] = {}


def _batch(cells: str) -> tuple[Any, bool]:
    """Return the strip as a batch in the unit square, None if the text is none; and whether it hides any.

    As coloured corners, because the versions of Blender disagree on how bright a texture is shown.
    """
    if cells not in _batches:
        _batches.clear()
        found = unpacked(cells)
        if found is None:
            return None, False
        corners, colors, triangles = quads(picture(found.shown, found.hidden))
        shader = gpu.shader.from_builtin("FLAT_COLOR")
        content = {"pos": corners, "color": colors}
        batch = batch_for_shader(shader, "TRIS", content, indices=triangles)
        _batches[cells] = batch, bool(found.hidden.any())
    return _batches[cells]


def box(context: bpy.types.Context) -> tuple[float, float, float, float] | None:
    """Return left, low, right and high edge of the strip in the region's pixels; None without room.

    Of a quad view one region has it.
    """
    if not viewport.is_main(context.space_data, context.region_data):
        return None
    region, scale = context.region, context.preferences.system.ui_scale
    left, right, _ = viewport.covered(context.area, region)
    for other in context.area.regions:
        # The panel of the last operator stands in the corner.
        if other.type == "HUD" and other.width > 1:
            left = max(left, other.x + other.width - region.x)
    left, right = left + _MARGIN * scale, region.width - right - _MARGIN * scale
    low = _MARGIN * scale
    high = low + _STRIP * scale
    room = right - left >= _LEAST * scale and region.height > 6 * high
    return (left, low, right, high) if room else None


def draw(context: bpy.types.Context, collection: bpy.types.Collection) -> None:
    """Draw the line of numbers and the strip at the foot of a 3D view."""
    found, stored = box(context), of(collection)
    batch, hides = _batch(stored.cells) if found is not None else (None, False)
    if found is None or batch is None:
        return
    (left, low, right, high), scale = found, context.preferences.system.ui_scale
    size, pad = _TYPE * scale, 5.0 * scale
    rectangle(left - pad, low - pad, right + pad, high + _LINE * scale, _BEHIND)
    with gpu.matrix.push_pop():
        gpu.matrix.translate((left, low, 0.0))
        gpu.matrix.scale((right - left, high - low, 1.0))
        batch.draw(gpu.shader.from_builtin("FLAT_COLOR"))
    lists = _draw_part(stored, found, scale)
    base, at = high + 0.35 * _LINE * scale, right
    blf.size(0, size)
    text = stored.headline
    # What is not there needs no explanation.
    legend = [*([_LISTED] if lists else []), _CALLS, *([_HIDDEN] if hides else [])]
    wide = sum(blf.dimensions(0, words)[0] + 2.5 * size for words, _ in legend)
    # If there is no room for both, the numbers are shown.
    if left + blf.dimensions(0, text)[0] + wide <= right:
        for words, color in legend if len(legend) > 1 else ():
            at -= blf.dimensions(0, words)[0]
            write(words, at, base, size, _QUIET)
            at -= 1.3 * size
            rectangle(at, base, at + 0.9 * size, base + 0.75 * size, color)
            at -= 1.2 * size
    while text and left + blf.dimensions(0, text)[0] > right:
        text = text.rpartition(",")[0]
    write(text, left, base, size, _INK)


def _draw_part(stored: Any, found: tuple[float, float, float, float], scale: float) -> bool:
    """Frame the part of the strip that the call tree lists; returns whether there is one."""
    left, low, right, high = found
    ends = part(stored.first, stored.last, stored.calls, left, right, _LEAST_PART * scale)
    if ends is None:
        return False
    a, b = ends
    edge = 1.5 * scale
    for corners in (
        (a - edge, low - edge, b + edge, low),
        (a - edge, high, b + edge, high + edge),
        (a - edge, low, a, high),
        (b, low, b + edge, high),
    ):
        rectangle(*corners, _PART)
    rectangle(a, low, b, high, (*_PART[:3], 0.25))
    return True


class TRACEVIS3D_GT_strip(bpy.types.Gizmo):
    """The strip: a click in it, or a drag along it, goes to that part of the trace in the call tree."""

    bl_idname = "TRACEVIS3D_GT_strip"

    def draw(self, context: bpy.types.Context) -> None:
        collection = settings.active(context)
        if collection is not None:
            draw(context, collection)

    def test_select(self, context: bpy.types.Context, location: tuple[int, int]) -> int:
        found = box(context)
        if found is None:
            return -1
        left, low, right, high = found
        return 0 if left <= location[0] <= right and low <= location[1] <= high else -1

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._go(context, event)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event, _tweak: set[str]) -> set[str]:
        self._go(context, event)
        return {"RUNNING_MODAL"}

    def exit(self, _context: bpy.types.Context, _cancel: bool) -> None:
        bpy.ops.ed.undo_push(message="Go in Call Tree")

    def _go(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        collection, found = settings.active(context), box(context)
        if collection is None or found is None:
            return
        share = (event.mouse_region_x - found[0]) / (found[2] - found[0])
        stored = of(collection)
        call = min(max(int(share * stored.calls), 0), max(stored.calls - 1, 0))
        signals.on_point.send(collection, call)


class TRACEVIS3D_GGT_strip(bpy.types.GizmoGroup):
    """The strip at the foot of the 3D view."""

    bl_idname = "TRACEVIS3D_GGT_strip"
    bl_label = "TraceVis Strip"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        collection = settings.active(context)
        return collection is not None and is_in(context.screen, collection)

    def setup(self, _context: bpy.types.Context) -> None:
        self.gizmos.new(TRACEVIS3D_GT_strip.bl_idname).use_draw_modal = True


_CLASSES = (TRACEVIS3D_PG_overview, TRACEVIS3D_GT_strip, TRACEVIS3D_GGT_strip)


def register() -> None:
    """Register the strip and its stored state."""
    for one in _CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Collection.tracevis3d_strip = PointerProperty(type=TRACEVIS3D_PG_overview)


def unregister() -> None:
    """Undo :func:`register`."""
    del bpy.types.Collection.tracevis3d_strip
    for one in reversed(_CLASSES):
        bpy.utils.unregister_class(one)
    _batches.clear()
