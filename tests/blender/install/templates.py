"""The Text editor's templates do what they say: ``templates.py TRACE OTHER FOLDER``."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

given, other_given, place = map(Path, support.arguments())
place.mkdir(parents=True, exist_ok=True)
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
menu = support.extension(".operators.templates_menu")
shutil.copyfile(given, place / "trace.json.gz")
shutil.copyfile(given, place / "before.json.gz")
shutil.copyfile(other_given, place / "after.json.gz")
bpy.ops.wm.save_as_mainfile(filepath=str(place / "scripts.blend"))
bpy.context.scene.render.resolution_x = 320

assert len(menu.templates()) == 3
ran = {}
for title, path in menu.templates():
    assert bpy.ops.text.open(filepath=str(path), internal=True) == {"FINISHED"}, title
    text = bpy.data.texts[path.name]
    assert text.as_string().strip() == path.read_text().strip()
    # Paths beside the .blend stand in them: the traces lie there.
    smaller = text.as_string().replace("1920, 1080", "320, 180")
    exec(compile(smaller, path.name, "exec"), {"__name__": "__main__"})
    ran[path.stem] = title
assert set(ran) == {"picture_of_a_trace", "compare_two_traces", "search_and_bookmark"}
support.is_picture(place / "trace.png", 320, 180)
views = [view.tracevis3d.view for view in support.views()]
assert views.count("compare") == 1, views
assert sum(marker.camera is not None for s in bpy.data.scenes for marker in s.timeline_markers) >= 2
bookmarks = [bookmark for s in bpy.data.scenes for bookmark in s.tracevis3d_bookmarks]
assert len(bookmarks) == 3, [b.name for b in bookmarks]
print("templates", ran)
