"""The picture of a 3D view with what lies over it: on the clipboard, or in a file.

Blender's own render of a view draws no overlay of add-ons, so the view is drawn anew into a picture.
"""

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import bpy
import gpu
from bpy_extras.io_utils import ExportHelper
from mathutils import Matrix

from ...tracevis3d.atomic import replacing
from ...tracevis3d.errors import TraceVisError
from .. import preconditions
from ..state import settings
from ..views import viewport
from . import draw, legend
from .lettering import in_pixels
from .room import free_of

_NAME = "TraceVis3D view"
#: Programs that put on the clipboard what they are given, the variable that names their display, their words.
_PROGRAMS = (
    ("wl-copy", "WAYLAND_DISPLAY", "--type", "image/png"),
    ("xclip", "DISPLAY", "-selection", "clipboard", "-target", "image/png"),
)
_PATIENCE = 5.0  # seconds


def picture_of(context: bpy.types.Context, area: bpy.types.Area) -> bpy.types.Image:
    """Return an image of the part of a 3D view that nothing covers, with its overlay."""
    region = next(region for region in area.regions if region.type == "WINDOW")
    space, view = area.spaces.active, area.spaces.active.region_3d
    wide, high = region.width, region.height
    offscreen = gpu.types.GPUOffScreen(wide, high)
    try:
        seen = view.view_matrix, view.window_matrix
        offscreen.draw_view3d(
            context.scene, context.view_layer, space, region, *seen, do_color_management=True
        )
        with offscreen.bind(), gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.matrix.load_matrix(view.view_matrix)
            gpu.matrix.load_projection_matrix(view.window_matrix)
            legend.mute(context.scene, space, view, True)
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(in_pixels(wide, high))
            for canvas, overlay in draw.drawn(region):
                canvas.draw(overlay, in_region=False)
            left, low, right, top = (round(edge) for edge in free_of(area, region, context.scene))
            size = right - left, top - low
            framebuffer = gpu.state.active_framebuffer_get()
            pixels = framebuffer.read_color(left, low, *size, 4, 0, "FLOAT")
    finally:
        offscreen.free()
    pixels.dimensions = 4 * size[0] * size[1]
    image = bpy.data.images.new(_NAME, *size)
    image.alpha_mode = "NONE"
    image.pixels.foreach_set(pixels)
    image.update()
    return image


def _to_clipboard(context: bpy.types.Context, area: bpy.types.Area, image: bpy.types.Image) -> bool:
    """Put an image on the clipboard, where Blender or a program of the system can."""
    return _by_blender(context, area, image) or _by_program(image)


def _by_program(image: bpy.types.Image) -> bool:
    """Put an image on the clipboard by a program: Blender itself takes none on X11."""
    for program, display, *words in _PROGRAMS:
        found = shutil.which(program) if os.environ.get(display) else None
        if found is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "view.png"
            _save(image, path)
            with path.open("rb") as given, suppress(OSError, subprocess.SubprocessError):
                # It stays behind in the background, until something else is on the clipboard.
                done = subprocess.run(
                    [found, *words], stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    timeout=_PATIENCE, check=False,
                )  # fmt: skip
                if done.returncode == 0:
                    return True
    return False


def _save(image: bpy.types.Image, path: Path) -> None:
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()


def _by_blender(context: bpy.types.Context, area: bpy.types.Area, image: bpy.types.Image) -> bool:
    """Put an image on the clipboard by Blender: from an image editor, which the area is meanwhile."""
    if not hasattr(bpy.ops.image, "clipboard_copy"):
        return False
    before = area.type
    try:
        area.type = "IMAGE_EDITOR"
        area.spaces.active.image = image
        region = next(region for region in area.regions if region.type == "WINDOW")
        with context.temp_override(area=area, region=region), suppress(RuntimeError):
            return bpy.ops.image.clipboard_copy.poll() and bpy.ops.image.clipboard_copy() == {"FINISHED"}
    finally:
        area.type = before
    return False


class TRACEVIS3D_OT_copy_view(bpy.types.Operator, ExportHelper):
    """Copy the picture of the 3D view with all texts; to a file where the clipboard takes no pictures"""

    bl_idname = "tracevis3d.copy_view"
    bl_label = "Copy View"
    bl_options = {"REGISTER"}

    filename_ext = ".png"
    filter_glob: bpy.props.StringProperty(default="*.png", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not preconditions.poll(cls, context, preconditions.VIEW):
            return False
        if viewport.area_of(context) is None:
            cls.poll_message_set("There is no 3D view in this window")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        area = viewport.area_of(context)
        assert area is not None
        image = picture_of(context, area)
        try:
            copied = _to_clipboard(context, area, image)
        finally:
            bpy.data.images.remove(image)
        if copied:
            self.report({"INFO"}, "The picture of the view is on the clipboard")
            return {"FINISHED"}
        self.report({"INFO"}, "Blender can't put pictures on the clipboard here: choose a file")
        self.filepath = settings.require_active(context).name.replace("/", "_") + self.filename_ext
        return ExportHelper.invoke(self, context, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        area, path = viewport.area_of(context), Path(bpy.path.abspath(self.filepath))
        assert area is not None
        image = picture_of(context, area)
        try:
            with replacing(path) as written:
                _save(image, written)
        except TraceVisError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except RuntimeError as error:
            self.report({"ERROR"}, f"{path}: it could not be written: {error}")
            return {"CANCELLED"}
        finally:
            bpy.data.images.remove(image)
        self.report({"INFO"}, f"Wrote {path}")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TRACEVIS3D_OT_copy_view,))
