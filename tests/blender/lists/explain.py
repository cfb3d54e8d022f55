"""Two traces explained in the scene: stops are made, undone and left: ``explain.py A B``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

paths = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
settings = support.extension(".operators.state.settings")
trace_state = support.extension(".operators.state.trace_state")
operators = bpy.ops.tracevis3d


def stops():
    return [shown for shown in bpy.data.objects if shown.get("tracevis3d_part", "").startswith("stop ")]


assert operators.import_trace(filepath=paths[0]) == {"FINISHED"}
assert not operators.explain.poll(), "a view of one trace"
assert operators.import_trace(filepath=paths[1]) == {"FINISHED"}
keys = [trace_state.keys_of(view)[0] for view in support.views()]
assert operators.add_view(view="compare", trace=keys[0], other=keys[1]) == {"FINISHED"}
view = bpy.context.scene.tracevis3d_view
mine = bpy.context.scene.timeline_markers.new("mine", frame=7)
bpy.ops.ed.undo_push(message="compare")

assert operators.explain(top=3) == {"FINISHED"}
scene = bpy.context.scene
view = scene.tracevis3d_view
markers = sorted(scene.timeline_markers, key=lambda marker: marker.frame)
bound = [marker for marker in markers if marker.camera is not None]
assert len(bound) >= 2, [marker.name for marker in markers]
assert bound[0].name.strip() == "Overview"
assert "1. " in bound[1].name
assert len({marker.camera for marker in bound}) == len(bound)
assert any(marker.name == "mine" for marker in markers)
# At its stop a caption is seen, at others not.
captions = [shown for shown in stops() if shown.get("tracevis3d_kind") == "stop caption"]
assert len(captions) == len(bound) - 1
for marker in bound:
    scene.frame_set(marker.frame)
    seen = [shown for shown in captions if not shown.hide_render]
    assert [shown.parent for shown in seen] == ([marker.camera] if marker is not bound[0] else [])
bpy.ops.ed.undo_push(message="explain")

# A film of the findings: a shot for each viewpoint, through its camera, with the finding as its caption.
viewpoints = support.extension(".tracevis3d.scene.window.viewpoints")
wanted = [(name, np.array(camera.matrix_world.translation)) for name, camera in viewpoints.cameras_of(scene)]
assert len(wanted) >= 2
assert operators.film_collect() == {"FINISHED"}
scene = bpy.context.scene
film = scene.tracevis3d_film
assert [(shot.name, shot.caption) for shot in film.shots] == [(name, name) for name, _ in wanted]
for shot, (name, place) in zip(film.shots, wanted):
    scene.frame_set(shot.laid[1])
    assert scene.camera == film.camera, name
    assert np.allclose(film.camera.matrix_world.translation, place, atol=1e-3), name
    shown = [o.name for o in film.camera.children if "caption" in o.name and not o.hide_render]
    assert shown, name
bpy.ops.ed.undo_push(message="film of findings")
bpy.ops.ed.undo()
assert not len(bpy.context.scene.tracevis3d_film.shots)
assert len(stops()) >= 2

bpy.ops.ed.undo()
assert not stops(), "undo leaves stops behind"
assert [marker.name for marker in bpy.context.scene.timeline_markers] == ["mine"]
bpy.ops.ed.redo()
assert len(stops()) >= 2

# Explaining again makes no second set; a rebuild leaves them.
before = len(stops())
assert operators.explain(top=3) == {"FINISHED"}
assert len(stops()) == before
assert operators.explain(walk="main") == {"FINISHED"}
assert operators.rebuild() == {"FINISHED"}
assert not stops()
assert [marker.name for marker in bpy.context.scene.timeline_markers] == ["mine"]
support.fails(operators.explain, "no function in either trace has this name", walk="nobody calls this")
print("explained")
