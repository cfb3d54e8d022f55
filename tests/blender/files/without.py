"""Open the saved file in a Blender without the extension, as a render farm does: ``without.py FOLDER``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

(place,) = map(Path, support.arguments())
assert support.NAME not in bpy.context.preferences.addons
bpy.ops.wm.open_mainfile(filepath=str(place / "run.blend"))
assert not hasattr(bpy.types.Collection, "tracevis3d")
picture = place / "without.png"
scene = bpy.context.scene
scene.render.filepath = str(picture)
if hasattr(scene.render.image_settings, "media_type"):
    scene.render.image_settings.media_type = "IMAGE"
scene.render.image_settings.file_format = "PNG"
bpy.ops.render.render(write_still=True)
support.same_picture(place / "saved.png", picture)
