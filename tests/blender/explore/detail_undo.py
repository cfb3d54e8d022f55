"""Undo and redo by chance while detail comes and goes: nothing may point at what is gone.

``detail_undo.py TRACE``
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

(given,) = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
detail = support.extension(".operators.explore.motion.detail")
in_sight = support.extension(".tracevis3d.views.detail.in_sight")
window_time = support.extension(".operators.explore.motion.window_time")
selection, sources = (
    support.extension(".operators.state.selection"),
    support.extension(".operators.state.sources"),
)
trace_state, settings = (
    support.extension(".operators.state.trace_state"),
    support.extension(".operators.state.settings"),
)
detail_objects, camera = (
    support.extension(".tracevis3d.scene.window.detail_objects"),
    support.extension(".tracevis3d.scene.camera"),
)
operators = bpy.ops.tracevis3d

assert operators.import_trace(filepath=given) == {"FINISHED"}
trace = sources.in_memory(support.only_view())[0]
(key,) = trace_state.keys_of(support.only_view())


def come_nearer():
    """Show detail, as when a 3D view comes to rest: without a step of undo."""
    view, frame = support.only_view(), settings.frame_of(bpy.context.scene)
    closer = detail._Levels(view, [trace], frame)()
    (pane,) = closer.panes
    low, high = pane.window
    eye = camera.View(
        eye=np.array([8.0, -2.0, 1.0]), right=np.array([1.0, 0, 0]), up=np.array([0, 0, 1.0]),
        forward=np.array([0, 1.0, 0]), tangent=0.2, perspective=True, frame=frame,
        centre=(320.0, 180.0), nearest=0.0, farthest=1.0,
    )  # fmt: skip
    share = rng.random() / 2
    seen = (low + round((high - low) * share), high)
    found = in_sight.of_pane(closer, 0, seen, 30 * pane.pixels_per_unit, [trace])
    detail.show(view, found, eye)
    assert detail_objects.objects_of(view)


def select():
    selection.select(key, [rng.randrange(1000)])
    bpy.ops.ed.undo_push(message="select")


def rebuild():
    support.only_view().tracevis3d.icicle.relief = rng.random()
    operators.rebuild()
    bpy.ops.ed.undo_push(message="rebuild")


def undo():
    if bpy.ops.ed.undo.poll():
        bpy.ops.ed.undo()
        assert not detail_objects.objects_of(support.only_view())


def redo():
    if bpy.ops.ed.redo.poll():
        bpy.ops.ed.redo()
        assert not detail_objects.objects_of(support.only_view())


rng = random.Random(2)
bpy.ops.ed.undo_push(message="start")
acts = [come_nearer, come_nearer, select, select, rebuild, undo, undo, redo]
for number in range(80):
    what = rng.choice(acts)
    what()
    view = support.only_view()
    # Each object of the view is one that the file knows, and one of each kind is seen.
    for shown in view.objects:
        assert bpy.data.objects.get(shown.name) == shown
    seen = [o.name for o in view.objects if o.get("tracevis3d_kind") == "call" and not o.hide_viewport]
    assert len(seen) == 1, (number, what.__name__, seen)
    assert all(not o.hide_render for o in detail_objects.picture_of(view, 0, ("call", "cluster")))
    bpy.context.view_layer.update()

# A view on its way to another time when one undoes: it arrives, which is what is undone.
while support.only_view().tracevis3d.icicle.start or not bpy.ops.ed.undo.poll():
    select()
detail_objects.leave(support.only_view())
select()
low, high = support.extension(".tracevis3d.views.time_window").whole(trace)


def arrived():
    bpy.ops.ed.undo_push(message="Zoom in Time")


view = support.only_view()
goal = {0: (low, low + (high - low) // 3)}
paths = {0: window_time.Flight.between([0.0], 2.0, [1.0], 1.0)}
window_time.motion.current = window_time._Glide(view.name, paths, goal, arrived)
bpy.ops.ed.undo()
assert not window_time.is_gliding()
assert support.only_view().tracevis3d.icicle.start == ""
assert bpy.ops.ed.redo() == {"FINISHED"}
assert support.only_view().tracevis3d.icicle.end != "", "the zoom is no step of its own"
print("undone")
