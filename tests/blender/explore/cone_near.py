"""A cone tree that one comes near, in Blender: what opens, and what is pointed at: ``cone_near.py TRACE``."""

import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support
from mathutils import Matrix

(given,) = support.arguments()
support.enable()
explore = ".operators.explore."
detail, detail_objects = (
    support.extension(explore + "motion.detail"),
    support.extension(".tracevis3d.scene.window.detail_objects"),
)
settings, sources = (
    support.extension(".operators.state.settings"),
    support.extension(".operators.state.sources"),
)
element_metadata, picking = (
    support.extension(".tracevis3d.scene.window.element_metadata"),
    support.extension(".tracevis3d.layout.sight.picking"),
)
scene = bpy.context.scene
assert bpy.ops.tracevis3d.import_trace(filepath=given, view="cone") == {"FINISHED"}
view = support.only_view()
traces = sources.in_memory(view)
levels = detail._Levels(view, traces, settings.frame_of(scene))()
region = SimpleNamespace(width=1280, height=720)


def parts(kind):
    """Return what is shown of a kind, as the 3D view sees it."""
    bpy.context.view_layer.update()
    found = [o for o in view.objects if o.get("tracevis3d_kind") == kind and o.visible_get()]
    return [(o, element_metadata.pickable_mesh(o)) for o in found]


def count(kind):
    return sum(len(holds) for _, holds in parts(kind))


def look(at, distance):
    """Return how a 3D view looks at a point from before and above."""
    back = np.array([0.0, -0.95, 0.31])
    up = np.cross(back, [1.0, 0.0, 0.0])
    pose = np.eye(4)
    pose[:3, 0], pose[:3, 1], pose[:3, 2] = [1, 0, 0], up / np.linalg.norm(up), back
    pose[:3, 3] = at + back * distance
    lens, aspect = 2.8, region.width / region.height
    window = [[lens, 0, 0, 0], [0, lens * aspect, 0, 0], [0, 0, -1.001, -0.02], [0, 0, -1, 0]]
    return SimpleNamespace(
        window_matrix=Matrix(window), view_matrix=Matrix(pose.tolist()).inverted(), is_perspective=True
    )


def come_near(at, distance):
    (request,) = detail._around(view, levels, traces, region, look(at, distance))
    return detail._apply(request, request.find())


# From afar nothing is different, and the picture's own is shown.
assert not come_near(np.zeros(3), 60.0)
assert not detail_objects.objects_of(view)
before = {kind: count(kind) for kind in ("node", "closed subtree", "link")}
(shown, closed), *_ = parts("closed subtree")
largest = int(np.argmax(closed.size[:, 0]))
place = closed.low[largest].astype(float)
ground = {kind: np.concatenate([h.low for _, h in parts(kind)]) for kind in ("node",)}

# From near the closed cone is open: its callees are there, nothing has moved, the picture is as it was.
assert come_near(place, 3.0)
opened = detail_objects.opened(view, 0)
assert len(opened)
call = int(closed.calls[0][largest])
assert call in opened
assert count("node") > before["node"]
assert count("link") == count("node") - 1
for group in detail_objects.objects_of(view):
    assert group.hide_render
balls = np.concatenate([h.low for _, h in parts("node")])
for point in ground["node"]:
    assert np.abs(balls - point).max(axis=1).min() < 1e-5
assert not any(o.hide_render for o in detail_objects.replaced_objects(view))

# What has opened can be pointed at, and tells of its call.
shown, holds = max(parts("node"), key=lambda part: len(part[1]))
calls = holds.calls[0]
parent = np.asarray(traces[0].calls.parent)
inside = [i for i in range(len(holds)) if calls[i] >= 0 and parent[calls[i]] == call]
assert inside
for i in inside:
    at = holds.low[i].astype(float)
    ray = picking.Ray.of(at - [0, 5, 0], (0.0, 1.0, 0.0))
    met = element_metadata.pickable_mesh(shown).pick(ray, False, 1.0, np.inf)
    assert met is not None
    # Something that is before it may be met; its own ball is, from within.
    direct = picking.Ray.of(at, (0.0, 1.0, 0.0))
    assert element_metadata.pickable_mesh(shown).pick(direct, False, 1.0, np.inf).element == i
# A closed cone is met where it is, not in a ball around its tip.
for _, holds in parts("closed subtree"):
    for i in range(min(len(holds), 20)):
        tip, size = holds.low[i].astype(float), holds.size[i].astype(float)
        low, high = (v[0] for v in holds.bounds(np.array([i])))
        assert np.isclose(high[2], tip[2])
        assert np.isclose(low[2], tip[2] - size[2])
        for share, meets in ((0.9, True), (0.3, False)):
            # Half the radius beside the axis: there is the cone near its floor, not near its tip.
            start = np.add(tip, (0.25 * size[0], -size[1], -share * size[2]))
            met = holds.pick(picking.Ray.of(start, (0.0, 1.0, 0.0)), False, 1.0, float(size[1]) * 2)
            assert (met is not None and met.element == i) == meets, (i, share, met)

# It stays open a little farther away, and closes then.
distance = 3.0
while come_near(place, distance) and len(detail_objects.opened(view, 0)):
    distance *= 1.1
    assert distance < 60
fresh = levels.look_from(
    detail_objects.view_of(region, look(place, distance / 1.1), Matrix()), np.empty(0, np.int64)
)
assert fresh is None or len(fresh.opened) < len(opened)
assert not detail_objects.objects_of(view)
assert {kind: count(kind) for kind in before} == before

# Undo, and drawing anew, leave nothing of it behind.
bpy.ops.ed.undo_push(message="before")
settings.parameters(view).budget = 200
bpy.ops.ed.undo_push(message="after")
assert come_near(place, 3.0)
bpy.ops.ed.undo()
view = support.only_view()
assert not detail_objects.objects_of(view)
assert not detail_objects.replaced_objects(view)
print("came near", flush=True)
