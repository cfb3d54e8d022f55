"""Open what was saved in the workspace in a window of a Blender without the extension.

``without.py FILE FOLDER``, in a Blender started with its factory settings; the result lies in
``FOLDER/opened-without``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

given, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    assert support.NAME not in bpy.context.preferences.addons
    bpy.ops.wm.open_mainfile(filepath=str(given), load_ui=True)
    yield lambda: bool(bpy.context.window_manager.windows)
    yield support.at_rest()
    assert not hasattr(bpy.types.Collection, "tracevis3d")
    (window,) = bpy.context.window_manager.windows
    areas = [area for area in window.screen.areas if area.type == "VIEW_3D"]
    assert areas, [area.type for area in window.screen.areas]
    # Each editor is one that this Blender has, and the tool is Blender's own.
    assert all(area.type != "EMPTY" for area in window.screen.areas)
    tool = window.workspace.tools.from_space_view3d_mode("OBJECT")
    assert tool is not None
    assert tool.idname.startswith("builtin."), tool.idname
    # The picture is seen in the largest 3D view: its middle is not of one colour.
    area = max(areas, key=lambda each: each.width * each.height)
    region = next(r for r in area.regions if r.type == "WINDOW")
    support.screenshot(place / "opened-without.png")
    screen = support.pixels(place / "opened-without.png")
    wide, high = region.width // 4, region.height // 4
    middle = screen[region.y + high : region.y + 3 * high, region.x + wide : region.x + 3 * wide, :3]
    support.say(tool=tool.idname, spread=float(middle.std()))
    assert middle.std() > 0.05, middle.std()


support.drive(main(), place, "opened-without")
