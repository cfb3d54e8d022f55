"""Landmarks for a headset, and pointing with a controller: ``immersion.py TRACE``, a recording with waits."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support
from mathutils import Vector

(path,) = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
operators = bpy.ops.tracevis3d
immersion = support.extension(".tracevis3d.scene.window.immersion")
pointing = support.extension(".operators.immersion.pointing")
picking = support.extension(".tracevis3d.layout.sight.picking")
metadata = support.extension(".tracevis3d.scene.window.element_metadata")


def visible(scene):
    """Return the groups of the signs that are seen."""
    return {shown[immersion.GROUP] for shown in immersion.home(scene).objects if not shown.hide_viewport}


assert operators.import_trace(filepath=path, view="threads") == {"FINISHED"}
support.fails(operators.vr_go, "Prepare")
assert operators.bookmark_add(name="Here") == {"FINISHED"}
data = {shown.name: tuple(shown.scale) for shown in support.only_view().objects}
assert operators.vr_prepare() == {"FINISHED"}
scene = bpy.context.scene
marks = scene.vr_landmarks
names = [mark.name for mark in marks]
assert names[0] == "Overview", names
assert names[-1] == "Here", names
assert len(names) > 3, names
low, high = (np.array(support.only_view().tracevis3d[end]) for end in ("low", "high"))
for mark in marks:
    assert mark.type == "CUSTOM"
    # Who stands there looks at the data, which seem to be about two metres away.
    ahead = Vector((-np.sin(mark.base_pose_angle), np.cos(mark.base_pose_angle), 0.0))
    towards = Vector((low + high) / 2) - Vector(mark.base_pose_location)
    if mark.name != "Here":
        assert towards.dot(ahead) > 0, mark.name
    assert 0 < mark.base_scale < np.abs(high - low).max()
assert visible(scene) == {"print"}, visible(scene)
assert operators.vr_go(step=-1) == {"FINISHED"}
assert scene.vr_landmarks_active == len(marks) - 1
assert operators.vr_go() == {"FINISHED"}
assert operators.vr_go() == {"FINISHED"}
assert visible(scene) == {"print", "sign 1"}, visible(scene)
assert {shown.name: tuple(shown.scale) for shown in support.only_view().objects} == data, (
    "the view is as it was"
)
assert all(shown.hide_render for shown in immersion.home(scene).objects), "pictures don't show signs"


def points(eye):
    """Point at the middle of a call, from an eye; return the words of what is met."""
    place = immersion.home(scene)
    boxes = next(shown for shown in support.only_view().objects if shown.get("tracevis3d_kind") == "call")
    near, far = metadata.pickable_mesh(boxes).bounds([0])
    target = np.asarray(boxes.matrix_world @ Vector(((near + far) / 2)[0]))
    pointing.point_at(scene, place, picking.Ray.of(eye, target - eye), eye)
    return [shown for shown in place.objects if shown.get(immersion.GROUP) == "pointed"]


eye = np.array(marks[0].base_pose_location)
assert len(points(eye)) == 2
pointing.point_at(scene, immersion.home(scene), None, eye)
assert not [shown for shown in immersion.home(scene).objects if shown.get(immersion.GROUP) == "pointed"]
assert operators.vr_prepare() == {"FINISHED"}, "again"
assert [mark.name for mark in marks] == names
assert operators.vr_leave() == {"FINISHED"}
assert immersion.home(scene) is None
assert not marks
print("landmarks", names)
