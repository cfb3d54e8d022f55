"""A .blend that an earlier version saved: ``saved_files.py NAME.blend NAME.json ROOT FOLDER``.

``ROOT`` has the traces in the places that the file names. All that was stored is there, it renders without
the traces, and rebuilt from them it has the same elements.
"""

import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import stored
import support

given, kept, root, place = map(Path, support.arguments())
#: Facts and rows that are worded again with each drawing.
WORDED = {"facts", "problems", "tables", "did", "headline", "rows", "tracevis3d_tree_rows"}
#: Where all that is drawn lies.
BOUNDS = {"low", "high"}
#: What the time strip stores of a trace.
STRIP = {"mural", "whole", "timed"}
#: Traces of which other functions are drawn since: in so small a picture rows stand for the levels of the
#: first, the second, collapsed stacks, has one call for each call path, and more threads of the third
#: are drawn.
DRAWN_OTHERWISE = {
    "pyspy_sphinx.speedscope.json.gz", "pyspy_pylint.collapsed.txt.gz", "uftrace_zstd_7t.json.gz",
}  # fmt: skip
kept = json.loads(kept.read_text(encoding="utf-8"))
support.enable()


def same(wanted):
    """Assert that the open file has all that is wanted of it."""
    found = json.loads(json.dumps(stored.stored()))
    # Traces of which nothing was stored have a record since views store the time strip: it comes last.
    kept_traces = len(wanted["traces"])
    for record in found["traces"][kept_traces:]:
        assert {name for name, value in record.items() if value} == {"trace", *STRIP}, record
    found["traces"] = found["traces"][:kept_traces]
    lost = stored.differences(wanted, found)
    assert not lost, "\n".join(lost[:40])


def without(value, names):
    """Return what was kept but for properties of these names."""
    if isinstance(value, dict):
        return {name: without(inner, names) for name, inner in value.items() if name not in names}
    return [without(inner, names) for inner in value] if isinstance(value, list) else value


def opened(folder):
    """Open the file in a folder, and return the scene that has the views."""
    bpy.ops.wm.open_mainfile(filepath=str(folder / given.name))
    shown = [c.name for c in bpy.data.collections if c.tracevis3d.view or "tracevis3d_live" in c]
    return next(scene for scene in bpy.data.scenes if shown[0] in scene.collection.children)


# Alone, without its traces.
alone = place / "alone"
alone.mkdir(parents=True)
shutil.copyfile(given, alone / given.name)
scene = opened(alone)
same(kept)
for view in support.views():
    for source in view.tracevis3d.sources:
        assert not Path(bpy.path.abspath(source.path)).exists(), source.path
    scene.tracevis3d_view = view
    scene.render.resolution_x, scene.render.resolution_y = 192, 108
    view.tracevis3d.engine = "workbench"
    picture = place / f"{view.tracevis3d.view}.png"
    bpy.context.window.scene = scene
    assert bpy.ops.tracevis3d.render_image(filepath=str(picture)) == {"FINISHED"}
    support.is_picture(picture, 192, 108)
    support.fails(bpy.ops.tracevis3d.rebuild, "import it again")

for _ in kept["live"]:
    # Nothing comes any more, and what was shown last is still there.
    picture = place / "live.png"
    scene.render.engine, scene.render.filepath = "BLENDER_WORKBENCH", str(picture)
    assert bpy.ops.render.render(write_still=True, scene=scene.name) == {"FINISHED"}
    support.is_picture(picture, *kept["scenes"][scene.name]["size"])

# Where its traces are.
scene = opened(root)
bpy.context.window.scene = scene
again = {}
for name in kept["views"]:
    view = bpy.data.collections[name]
    scene.tracevis3d_view = view
    assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
    assert not view.tracevis3d.stale
    again[name] = stored.elements_of(view)
# Drawing anew changes nothing but what is drawn, and what is said of it.
scene.tracevis3d_view = bpy.data.collections.get(kept["scenes"][scene.name]["tracevis3d_view"] or "")
for view in kept["views"].values():
    del view["parts"], view["elements"]
    view["tracevis3d"]["stale"] = False
# A scene has the length of the film of the view that was drawn last.
for each in kept["scenes"].values():
    del each["frames"]
# A view gives way to one before it that is larger than it was, and moves no other way.
for name, view in kept["views"].items():
    moved = [
        now - was
        for now, was in zip(bpy.data.collections[name].tracevis3d.place, view["tracevis3d"]["place"])
    ]
    assert sum(abs(by) > 1e-3 for by in moved) <= 1, (name, moved)
    assert min(moved) > -1e-3, (name, moved)
kept["views"] = without(kept["views"], WORDED | BOUNDS | {"place"})
# Names are stored of the functions that are drawn.
sources = [source for view in kept["views"].values() for source in view["tracevis3d"]["sources"]]
drawn_otherwise = {source["hash"] for source in sources if Path(source["path"]).name in DRAWN_OTHERWISE}
for record in kept["traces"]:
    if record["trace"] in drawn_otherwise:
        del record["functions"]
same(kept)
print("ELEMENTS", json.dumps(again))
print("SAVED", len(kept["views"]), len(kept["live"]))
