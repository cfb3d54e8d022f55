"""Import a trace, change parameters, undo, render, save: ``whole_way.py TRACE FOLDER``.

``FOLDER`` gets a copy of the trace, ``run.blend`` and the pictures that ``reopen.py`` compares with.
"""

import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

given, place = map(Path, support.arguments())
trace = place / given.name
shutil.copyfile(given, trace)
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
scene = bpy.context.scene
scene.render.resolution_x, scene.render.resolution_y = 480, 272
bpy.ops.ed.undo_push(message="start")

# What can't be read gives one sentence, and changes nothing.
rubbish = place / "rubbish.json"
rubbish.write_text('{"hello": "world"}')
support.fails(bpy.ops.tracevis3d.import_trace, "rubbish.json", filepath=str(rubbish))
support.fails(bpy.ops.tracevis3d.import_trace, "absent.json", filepath=str(place / "absent.json"))
assert not support.views()
assert not bpy.ops.tracevis3d.rebuild.poll()

# Dropped files of all formats come to us, packed or not.
handled = bpy.types.TRACEVIS3D_FH_trace.bl_file_extensions.split(";")
assert {".json", ".gz", ".zst", ".tv3", ".tsv", ".txt", ".pftrace", ".speedscope"} <= set(handled), handled
assert bpy.types.TRACEVIS3D_FH_trace.bl_import_operator == "tracevis3d.import_trace"

# Import as a dropped file: folder and names.
started = time.perf_counter()
assert bpy.ops.tracevis3d.import_trace(directory=str(place), files=[{"name": trace.name}]) == {"FINISHED"}
imported = time.perf_counter() - started
view = support.only_view()
settings = view.tracevis3d
assert settings.view == "icicle"
assert len(settings.sources) == 1
source = settings.sources[0]
assert source.hash == support.digest(trace)
assert source.path == str(trace)
assert int(source.size) == trace.stat().st_size
facts = {fact.label: fact.text for fact in source.facts}
assert int(facts["Calls"].replace(",", "")) > 1000, facts
assert "Calls Drawn" in {fact.label for fact in settings.facts}
assert view.all_objects
scene = bpy.context.scene
assert view in scene.collection.children_recursive, "the window shows another scene"
assert "Cube" not in scene.objects
assert scene.camera in list(view.objects)
settings.engine = "workbench"
bpy.ops.ed.undo_push(message="import")

# Undo takes the view away, redo brings it back.
bpy.ops.ed.undo()
assert not support.views()
bpy.ops.ed.redo()
view = support.only_view()
settings = view.tracevis3d
assert settings.sources[0].hash == support.digest(trace)
assert view.all_objects

# The panel's parameters are the view's own, with its ranges.
names = support.extension(".tracevis3d.views.registry")
declared = support.extension(".tracevis3d.parameters").declared
parameters = declared(names.find("icicle").parameters)
group = settings.icicle
for parameter in parameters:
    prop = group.bl_rna.properties[parameter.name]
    assert prop.description == parameter.sentence
    if parameter.choices:
        assert [item.identifier for item in prop.enum_items] == list(parameter.choices)
    elif not isinstance(parameter.default, (str, bool)):
        assert parameter.low is None or abs(prop.hard_min - parameter.low) <= 1e-6 * abs(parameter.low)
        assert parameter.high is None or abs(prop.hard_max - parameter.high) <= 1e-6 * abs(parameter.high)
    value = getattr(group, parameter.name)
    assert value == parameter.default or abs(value - parameter.default) < 1e-6 * abs(parameter.default)

# A changed parameter marks the view until it is rebuilt; the rebuilt one shows the change.
before = place / "before.png"
assert bpy.ops.tracevis3d.render_image(filepath=str(before)) == {"FINISHED"}
first = support.is_picture(before, 480, 272)
assert not settings.stale
choice = next(p for p in parameters if p.name == "color")
other = "function"
assert other in choice.choices
assert other != choice.default
group.color = other
assert settings.stale
assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
view = support.only_view()
settings = view.tracevis3d
assert not settings.stale
assert settings.icicle.color == other
bpy.ops.ed.undo_push(message="rebuild")
saved = place / "saved.png"
assert bpy.ops.tracevis3d.render_image(filepath=str(saved)) == {"FINISHED"}
second = support.is_picture(saved, 480, 272)
assert abs(first - second).max() > 0.1, "the parameter changed nothing"

# Undo of a rebuild brings the old parameters and the old picture back; redo the new ones.
bpy.ops.ed.undo()
again = place / "again.png"
assert support.only_view().tracevis3d.icicle.color == choice.default
assert bpy.ops.tracevis3d.render_image(filepath=str(again)) == {"FINISHED"}
support.same_picture(before, again)
bpy.ops.ed.redo()
assert support.only_view().tracevis3d.icicle.color == other

# Resetting is a change like any other.
assert bpy.ops.tracevis3d.reset_parameters() == {"FINISHED"}
assert support.only_view().tracevis3d.icicle.color == choice.default
assert not support.only_view().tracevis3d.stale
bpy.ops.ed.undo_push(message="reset")
bpy.ops.ed.undo()
assert support.only_view().tracevis3d.icicle.color == other

# A second view stands beside the first, and goes without a trace.
kinds = ("scenes", "collections", "objects", "meshes", "cameras", "lights", "curves")
blocks = {kind: len(getattr(bpy.data, kind)) for kind in kinds}
assert bpy.ops.tracevis3d.import_trace(filepath=str(trace), style="stage", place="OWN") == {"FINISHED"}
assert len(support.views()) == 2
assert len(bpy.data.scenes) == blocks["scenes"] + 1
assert bpy.ops.tracevis3d.remove_view() == {"FINISHED"}
assert len(support.views()) == 1
left = {kind: len(getattr(bpy.data, kind)) for kind in blocks}
assert left == blocks, (blocks, left)

# The trace in another format, and a film.
assert bpy.ops.tracevis3d.save_trace(filepath=str(place / "run.tv3")) == {"FINISHED"}
assert (place / "run.tv3").exists()
scene = bpy.context.scene
support.only_view().tracevis3d.seconds = 0.25
assert support.only_view().tracevis3d.stale
assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
assert (scene.frame_start, scene.frame_end) == (1, round(0.25 * scene.render.fps))
film = place / "film.mp4"
scene.render.resolution_percentage = 50
assert bpy.ops.tracevis3d.render_film(filepath=str(film)) == {"FINISHED"}
assert film.stat().st_size > 1000
scene.render.resolution_percentage = 100
support.fails(bpy.ops.tracevis3d.render_image, "picture.gif", filepath=str(place / "picture.gif"))

# Saved, the paths are relative to the .blend.
assert bpy.ops.wm.save_as_mainfile(filepath=str(place / "run.blend")) == {"FINISHED"}
assert support.only_view().tracevis3d.sources[0].path == f"//{trace.name}"
elsewhere = place / "elsewhere"
elsewhere.mkdir(exist_ok=True)
assert bpy.ops.wm.save_as_mainfile(filepath=str(elsewhere / "copy.blend"), copy=True) == {"FINISHED"}
assert support.only_view().tracevis3d.sources[0].path == f"//{trace.name}"
trace.unlink()
support.say(
    import_s=imported, facts=facts, drawn={f.label: f.text for f in support.only_view().tracevis3d.facts}
)
