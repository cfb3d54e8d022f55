"""Open the saved file without the trace: render, rebuild from the cache, and what is said without it.

``reopen.py FOLDER``
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

(place,) = map(Path, support.arguments())
support.enable()
bpy.ops.wm.open_mainfile(filepath=str(place / "run.blend"))
settings = support.only_view().tracevis3d
stored = settings.sources[0].path
assert stored.startswith("//")
assert not Path(bpy.path.abspath(stored)).exists()
assert not settings.stale

# It shows and renders everything.
picture = place / "reopened.png"
assert bpy.ops.tracevis3d.render_image(filepath=str(picture)) == {"FINISHED"}
support.same_picture(place / "saved.png", picture)
assert "numba" not in sys.modules, "rendering a saved scene computes nothing"

# Rebuilt from the cache, by the hash alone, it is the same.
assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
assert bpy.ops.tracevis3d.render_image(filepath=str(picture)) == {"FINISHED"}
support.same_picture(place / "saved.png", picture)

# Without the cache one sentence says so, and the scene stays.
support.extension(".tracevis3d.trace.storage.cache").clear()
support.extension(".operators.state.sources").forget()
support.fails(bpy.ops.tracevis3d.rebuild, Path(stored.removeprefix("//")).name, "import it again")
assert support.only_view().all_objects

# The copy that was saved in another folder points at the same file.
bpy.ops.wm.open_mainfile(filepath=str(place / "elsewhere" / "copy.blend"))
moved = support.only_view().tracevis3d.sources[0].path
assert Path(bpy.path.abspath(moved)).resolve() == (place / stored.removeprefix("//")).resolve(), moved
