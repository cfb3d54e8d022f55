"""Pictures and films of the scene as it is, with the scene's own engine and size."""

from pathlib import Path

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper

from ...tracevis3d.drawing import output
from ...tracevis3d.errors import TraceVisError, UsageError
from ...tracevis3d.places import check_folder
from ...tracevis3d.scene import compat
from .. import preconditions
from ..state import settings
from . import make_view


class _Rendering(ExportHelper):
    """Shared by both operators."""

    suffixes: tuple[str, ...]
    animation = False

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not preconditions.poll(cls, context, preconditions.IDLE, preconditions.VIEW):
            return False
        if context.scene.camera is None:
            cls.poll_message_set("The scene has no camera: rebuild the view")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        collection = settings.require_active(context)
        if wanted := settings.of(collection).output:
            # Don't ask if the suffix is one of the other kind of output.
            self.filepath = _for(wanted, self.suffixes, self.filename_ext)
            return self.execute(context)
        self.filter_glob = ";".join(f"*{suffix}" for suffix in self.suffixes)
        if not self.filepath:
            self.filepath = collection.name.replace("/", "_") + self.filename_ext
        return ExportHelper.invoke(self, context, event)

    def check(self, context: bpy.types.Context) -> bool:
        """Leave the suffix as it was typed: it chooses the format."""
        return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        path = bpy.path.abspath(self.filepath)
        render = context.scene.render
        suffix = Path(path).suffix.lower()
        try:
            if suffix not in self.suffixes:
                raise UsageError(f"{path}: the suffix {suffix!r} is not one of {' '.join(self.suffixes)}")
            check_folder(path)
            make_view.choose_engine(context.scene, settings.active(context), self.animation)
            if self.animation:
                _check_even(render)
                compat.set_movie_output(render, _CONTAINERS[suffix])
            else:
                compat.set_still_output(render.image_settings, _FORMATS[suffix])
        except TraceVisError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        render.filepath = path
        render.use_file_extension = True
        if bpy.app.background or not self.options.is_invoke:
            try:
                return bpy.ops.render.render(animation=self.animation, write_still=not self.animation)
            except RuntimeError as error:
                self.report({"ERROR"}, str(error).strip().removeprefix("Error: "))
                return {"CANCELLED"}
        # In Blender's own render window, with its progress bar and ESC.
        bpy.ops.render.render("INVOKE_DEFAULT", animation=self.animation, write_still=not self.animation)
        return {"FINISHED"}


def _for(path: str, suffixes: tuple[str, ...], suffix: str) -> str:
    """Return ``path`` with a suffix of ``suffixes``: the panel has one path for pictures and films."""
    given = Path(path).suffix
    if given.lower() in suffixes:
        return path
    return path.removesuffix(given if given.lower() in (*output.STILLS, *output.FILMS) else "") + suffix


def _check_even(render: bpy.types.RenderSettings) -> None:
    share = render.resolution_percentage / 100
    width, height = int(render.resolution_x * share), int(render.resolution_y * share)
    if width % 2 or height % 2:
        raise UsageError(f"A film has an even width and height in pixels; {width} x {height} is not")


_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".exr": "OPEN_EXR", ".webp": "WEBP"}
_CONTAINERS = {".mp4": "MPEG4", ".mkv": "MKV"}


class TRACEVIS3D_OT_render_image(_Rendering, bpy.types.Operator):
    """Render the scene to a picture (.png, .jpg, .exr, .webp) in the scene's size"""

    bl_idname = "tracevis3d.render_image"
    bl_label = "Render Image"
    bl_options = {"REGISTER"}

    filename_ext = ".png"
    suffixes = output.STILLS
    filter_glob: StringProperty(default="", options={"SKIP_SAVE", "HIDDEN"})


class TRACEVIS3D_OT_render_film(_Rendering, bpy.types.Operator):
    """Render all frames of the scene to a film (.mp4, .mkv) in the scene's size"""

    bl_idname = "tracevis3d.render_film"
    bl_label = "Render Film"
    bl_options = {"REGISTER"}

    filename_ext = ".mp4"
    suffixes = output.FILMS
    animation = True
    filter_glob: StringProperty(default="", options={"SKIP_SAVE", "HIDDEN"})


_CLASSES = (TRACEVIS3D_OT_render_image, TRACEVIS3D_OT_render_film)

register, unregister = bpy.utils.register_classes_factory(_CLASSES)
