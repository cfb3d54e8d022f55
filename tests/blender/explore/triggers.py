"""What clicks, drags and the wheel lead to, in views of five kinds: ``triggers.py A B HEAP``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

a, b, heap = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
explore = ".operators.explore."
acts, actions = support.extension(explore + "acts"), support.extension(explore + "actions")
pointer, marks = support.extension(explore + "pointer"), support.extension(explore + "marks")
drum, tooltip = support.extension(explore + "motion.drum"), support.extension(explore + "tooltip")
window_time = support.extension(explore + "motion.window_time")
Ray = support.extension(".tracevis3d.layout.sight.picking").Ray
settings = support.extension(".operators.state.settings")
selection = support.extension(".operators.state.selection")
sources = support.extension(".operators.state.sources")
trace_state = support.extension(".operators.state.trace_state")
element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
operators = bpy.ops.tracevis3d


def view_of(name):
    """Return the view of that kind, in the current scene."""
    view = next(v for v in support.views() if v.tracevis3d.view == name)
    scene = next(s for s in bpy.data.scenes if view in s.collection.children_recursive)
    if bpy.context.window is not None:
        bpy.context.window.scene = scene
    bpy.context.view_layer.update()
    return view, scene


def hit_on(view, kind, which=0):
    """Return a hit on the middle of one of the elements of a kind, the widest first."""
    every = [
        o
        for o in view.objects
        if o.get("tracevis3d_kind") == kind and element_metadata.pickable_mesh(o) is not None
    ]
    shown = max(every, key=lambda o: len(element_metadata.pickable_mesh(o)))
    holds = element_metadata.pickable_mesh(shown)
    low, high = holds.bounds(np.arange(len(holds)))
    element = int(np.argsort(-(high - low)[:, 0], kind="stable")[which])
    middle = (low[element] + high[element]) / 2
    world = np.array(shown.matrix_world, np.float64)
    return pointer.Hit(view.name, shown.name, holds, element, middle, world[:3, :3] @ middle + world[:3, 3])


def ends(view, source=0):
    low, high = window_time.of(view, source)
    return low, high


assert operators.import_trace(filepath=a, view="icicle") == {"FINISHED"}
view, scene = view_of("icicle")
trace = sources.in_memory(view)[0]
calls = trace.calls

# Icicle: a double click zooms in time, a drag selects a range, neither click nor wheel do anything.
hit = hit_on(view, "call", 3)
call = hit.calls[0]
assert acts.trigger(view, "double click", hit)
low, high = ends(view)
assert low <= calls.start[call] <= calls.end[call] <= high
assert high - low <= 1.1 * (calls.end[call] - calls.start[call]) + 40
assert not acts.trigger(view, "click", hit_on(view, "call", 1))
assert actions.view_with(scene, "wheel") is None
assert acts.trigger(view, "drag", span=(1000, 5000))
assert selection.selected(trace_state.keys_of(view)[0]).time_range == (1000, 5000)
print("icicle")

# Compare: a double click goes to the call and to its match; the slab moves the window.
assert operators.import_trace(filepath=b) == {"FINISHED"}
keys = [next(iter(trace_state.keys_of(v))) for v in support.views() if len(trace_state.keys_of(v)) == 1]
first, second = list(dict.fromkeys(keys))[:2]
assert operators.compare_traces(a=first, b=second) == {"FINISHED"}
view, scene = view_of("compare")
settings.assign(view, {"start_a": "20ms", "end_a": "60ms"})
assert window_time.redraw(view)
before = ends(view, 0)
slab = next((o for o in view.objects if o.get("tracevis3d_kind") == "window"), None)
assert slab is not None, [o.get("tracevis3d_kind") for o in view.objects]
hit = hit_on(view, "window")
given = actions.state_of(view, source=hit.pickable.source, element=hit.picked, span=(30_000_000, 50_000_000))
action = next(x for x in actions.declared_of(view) if "drag" in x.triggers and x.applies(given))
assert action.drag is not None
assert acts.apply(view, given, action.run(given))
assert ends(view, hit.pickable.source) == (30_000_000, 50_000_000) != before
hit = hit_on(view, "call", 4)
assert acts.trigger(view, "double click", hit)
source, call = next(iter(hit.calls.items()))
low, high = ends(view, source)
shown = sources.in_memory(view)[source].calls
assert low <= shown.start[call] <= shown.end[call] <= high
print("compare")

# Cones turn at a click, and open at a double click: both are stored at the end.
assert operators.import_trace(filepath=a, view="cone") == {"FINISHED"}
view, scene = view_of("cone")
kind = next(
    o.get("tracevis3d_kind")
    for o in view.objects
    if element_metadata.pickable_mesh(o) is not None and element_metadata.pickable_mesh(o).shows_calls
)
hit = hit_on(view, kind, 1)
call = next(iter(hit.calls.values()))
group = settings.parameters(view)
assert acts.trigger(view, "click", hit)
assert (group.facing, group.focus) == (str(call), "")
assert acts.trigger(view, "double click", hit_on(view, kind, 2))
assert group.focus == group.facing != ""
print("cone")

# A drum: what is said of its mantle, a double click, a drag that sets the window and one that selects.
assert operators.import_trace(filepath=a, view="interactions") == {"FINISHED"}
view, scene = view_of("interactions")
(turned,) = drum.of_view(view)
result = []
middle = turned.surface.section.mean(axis=0)
matrix = np.array(bpy.data.objects[turned.shown].matrix_world, np.float64)
for point in turned.surface.section[::8]:
    for share in (0.2, 0.5, 0.8):
        origin = matrix[:3, :3] @ (middle + share * turned.surface.axis) + matrix[:3, 3]
        target = matrix[:3, :3] @ (point + share * turned.surface.axis) + matrix[:3, 3]
        result += drum.describe_at(scene, Ray.of(origin, target - origin, 0.0, 0.0))
assert result
assert all({"time"} <= {label for label, _ in said.rows} for said in result)
whole = window_time.goal_of(view, 0)
parts = [(o, element_metadata.pickable_mesh(o)) for o in view.objects]
kind = next(
    holds.kind
    for _, holds in parts
    if holds is not None and holds.has_description and holds.kind not in ("rim", "sector")
)
hit = hit_on(view, kind)
assert tooltip.describe_hit(hit)
assert acts.trigger(view, "double click", hit)
nearer = window_time.goal_of(view, 0)
assert whole[0] <= nearer[0] < nearer[1] <= whole[1]
assert nearer != whole
half = (whole[0], (whole[0] + whole[1]) // 2)
assert acts.trigger(view, "drag", source=0, span=half)
assert window_time.goal_of(view, 0) == half
assert acts.trigger(view, "drag", source=0, span=(2000, 9000), extend=True)
assert selection.selected(trace_state.keys_of(view)[0]).time_range == (2000, 9000)
assert window_time.goal_of(view, 0) == half
assert marks.window_of(bpy.data.objects[turned.shown]) == half
print("drum")

# Memory: the wheel zooms about the mouse, Home shows all bytes again, once.
assert operators.import_trace(filepath=heap, view="memory") == {"FINISHED"}
view, scene = view_of("memory")
assert actions.view_with(scene, "wheel") == view
group = settings.parameters(view)
assert not acts.trigger(view, "home")
assert acts.trigger(
    view, "wheel", point=pointer.ground_point(view, Ray.of((0, 0, 9), (0, 0, -1), 0.0, 0.0)), amount=2.0
)
assert 0.49 < group.right - group.left < 0.51
assert acts.trigger(view, "wheel", point=(0.0, 0.0, 0.0), amount=2.0)
assert 0.24 < group.right - group.left < 0.26
assert acts.trigger(view, "home")
assert (group.left, group.right) == (0.0, 1.0)
assert not acts.trigger(view, "home")
print("triggered")
