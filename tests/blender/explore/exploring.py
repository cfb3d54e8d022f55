"""Point, light up, tell, and what the menu of an element does, with undo; in Blender's module.

``exploring.py TRACE OTHER FOLDER``
"""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

given, other_given, place = map(Path, support.arguments())
place.mkdir(parents=True, exist_ok=True)
trace_file = place / given.name
shutil.copyfile(given, trace_file)
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
scene = bpy.context.scene
scene.render.resolution_x, scene.render.resolution_y = 640, 360

explore = ".operators.explore."
pointer, related = support.extension(explore + "pointer"), support.extension(explore + "related")
describing = support.extension(".tracevis3d.views.describe")
clusters = support.extension(".tracevis3d.views.calls.clusters")
words = support.extension(explore + "tooltip")
detail, marks = support.extension(explore + "motion.detail"), support.extension(explore + "marks")
source, script = support.extension(explore + "source"), support.extension(explore + "script")
selection, sources = (
    support.extension(".operators.state.selection"),
    support.extension(".operators.state.sources"),
)
trace_state, making = (
    support.extension(".operators.state.trace_state"),
    support.extension(".operators.views.make_view"),
)
settings = support.extension(".operators.state.settings")
element_metadata, detail_objects = (
    support.extension(".tracevis3d.scene.window.element_metadata"),
    support.extension(".tracevis3d.scene.window.detail_objects"),
)
highlight = support.extension(".tracevis3d.scene.window.highlight")
Ray = support.extension(".tracevis3d.layout.sight.picking").Ray

assert bpy.ops.tracevis3d.import_trace(filepath=str(trace_file)) == {"FINISHED"}
view = support.only_view()
scene = next(s for s in bpy.data.scenes if view in s.collection.children_recursive)
if bpy.context.window is not None:
    bpy.context.window.scene = scene
trace = sources.in_memory(view)[0]
(key,) = trace_state.keys_of(view)
group = view.tracevis3d.icicle


def parts(kind, among=None):
    """Return the object of a kind and what it holds."""
    shown = next(o for o in (among or view).objects if o.get("tracevis3d_kind") == kind and o.visible_get())
    return shown, element_metadata.pickable_mesh(shown)


def straight_at(kind, k, among=None):
    """Point straight at the middle of the front of the k-th widest element."""
    _, holds = parts(kind, among)
    i = int(np.argsort(-holds.size[:, 0])[k])
    front = holds.low[i] + holds.size[i] * (0.5, 0.0, 0.5)
    return i, pointer.met(scene, Ray.of(front - np.array([0, 5, 0]), (0, 1, 0), growth=1e-4))


# Every call that is wide enough to be hit in its middle is met there, and described as the trace has it.
bpy.context.view_layer.update()
for k in range(8):
    i, hit = straight_at("call", k)
    assert hit is not None, k
    shown, holds = parts("call")
    assert (hit.kind, hit.element) == ("call", i), (k, hit.kind, hit.element, i)
    call = int(holds.id[i])
    assert hit.traces == {key: call}
    (description,) = words.describe_hit(hit)
    calls = trace.calls
    assert description.title == trace.functions.label[calls.function[call]]
    rows = dict(description.rows)
    assert {"start", "duration", "self time", "depth", "count", "thread"} <= set(rows), rows
    below = calls.end[call] - calls.start[call]
    children = np.flatnonzero(calls.parent == call)
    own = int(below - (calls.end[children] - calls.start[children]).sum())
    assert describing.self_time(trace, call) == own
    assert int(holds.fact("own")[i]) == np.float32(own)
    many = int(np.count_nonzero(calls.function == calls.function[call]))
    assert rows["count"].startswith(f"{many:,} call"), (rows["count"], many)

# A cluster tells how many calls it holds, and which one lies where one points.
i, hit = straight_at("cluster", 0)
assert hit is not None
assert hit.kind == "cluster"
(description,) = words.describe_hit(hit)
_, holds = parts("cluster")
assert description.title == f"{int(holds.fact('count')[i]):,} calls"
here, time = clusters.call_under(trace, hit.picked), hit.picked.moment
assert here >= 0
span = hit.picked.span
assert span[0] - 1000 <= time <= span[1] + 1000
assert trace.calls.thread[here] == holds.fact("thread")[i]
assert trace.calls.depth[here] >= holds.fact("depth")[i]
assert trace.calls.start[here] <= time

# Kin: the same function, and the cluster that a call without a box is in.
present = pointer.shown_in(scene)
_, holds = parts("call")
function = np.bincount(holds.fact("function")).argmax()
one = holds.id[holds.fact("function") == function][:1]
lit = related.of(present, {key: one}, {"FUNCTION"})[parts("call")[0].name]
assert lit.same.tolist() == np.flatnonzero(holds.id == one[0]).tolist()
assert set(lit.related.tolist()) == set(np.flatnonzero(holds.fact("function") == function)) - set(lit.same)
drawn = set(holds.id.tolist())
hidden = next(c for c in range(here, 0, -1) if c not in drawn and c != holds.id[0])
lit = related.of(present, {key: np.array([here])}, set())
assert any(len(found.same) for found in lit.values()), "a call in a cluster lights nothing"
outline = highlight.outline(holds, np.arange(3))
assert outline.point.shape == (24, 3)
assert outline.triangle.shape == (36, 3)
assert outline.triangle.max() == 23

# Selecting, for all views of the trace, with undo.
bpy.ops.ed.undo_push(message="start")
i, hit = straight_at("call", 3)
call = hit.traces[key]
selection.select(key, [call])
bpy.ops.ed.undo_push(message="select")
assert [len(v) for v in related.of_selection(pointer.shown_in(scene)).values()] == [1]

# Zoom to the subtree: time, depth and thread; undo brings the whole back, and the selection stays.
about = {"view": view.name, "trace": key, "call": str(call)}
assert bpy.ops.tracevis3d.zoom_to_subtree(**about) == {"FINISHED"}
view = support.only_view()
group = view.tracevis3d.icicle
assert group.first_depth == trace.calls.depth[call]
window = parts("call")[1].window
assert window[0] <= trace.calls.start[call] < trace.calls.end[call] <= window[1] + 1
assert parts("call")[1].fact("depth").min() == trace.calls.depth[call]
bpy.ops.ed.undo_push(message="zoom")
bpy.ops.ed.undo()
view = support.only_view()
assert view.tracevis3d.icicle.start == ""
assert parts("call")[1].fact("depth").min() == 1
assert selection.selected(key).calls.tolist() == [call]

# Hide, show only, mark as utility: by filters that are kept as text, with undo.
bpy.context.view_layer.update()
_, holds = parts("call")
before = set(holds.id.tolist())
function = int(trace.calls.function[call])
label = trace.functions.label[function]
for name, values, gone in (
    ("hide", {"what": "FUNCTION"}, lambda ids: trace.calls.function[ids] == function),
    ("show_only", {"what": "FUNCTION"}, lambda ids: trace.calls.function[ids] != function),
    ("mark_utility", {}, lambda ids: trace.functions.label[function] == label),
    ("hide", {"what": "SUBTREE"}, lambda ids: (ids >= call) & (ids < call + trace.calls.extent[call])),
):
    view = support.only_view()
    about = {"view": view.name, "trace": key, "call": str(call)}
    assert getattr(bpy.ops.tracevis3d, name)(**about, **values) == {"FINISHED"}, name
    view = support.only_view()
    assert view.tracevis3d.filters, name
    left = {
        int(i)
        for o in view.objects
        if o.get("tracevis3d_kind") == "call"
        for i in element_metadata.pickable_mesh(o).id
    }
    assert left < before, name
    if name != "mark_utility":
        ids = np.array(sorted(before))
        assert left == set(ids[~gone(ids)].tolist()), (name, values)
    bpy.ops.ed.undo_push(message=name)
    bpy.ops.ed.undo()
    view = support.only_view()
    assert not view.tracevis3d.filters
    assert set(parts("call")[1].id.tolist()) == before, name
about["view"] = support.only_view().name
assert bpy.ops.tracevis3d.hide(**about, what="FUNCTION") == {"FINISHED"}
assert bpy.ops.tracevis3d.show_all(view=about["view"]) == {"FINISHED"}
assert set(parts("call", support.only_view())[1].id.tolist()) == before

# Find similar, and all of a function.
assert bpy.ops.tracevis3d.find_similar(**about) == {"FINISHED"}
found = selection.selected(key)
assert call in found.calls
assert found.active == call
assert bpy.ops.tracevis3d.select_function(**about) == {"FINISHED"}
assert np.array_equal(selection.selected(key).calls, np.flatnonzero(trace.calls.function == function))

# The source, from where it is on this machine.
files = place / "sources"
recorded = trace.files[int(trace.functions.file[function])]
tail = Path(*recorded.replace("\\", "/").split("/")[-2:])
(files / tail).parent.mkdir(parents=True)
begins = int(trace.functions.line[function])
said = {max(begins - 1, 1): "# What it is for."} if begins > 1 else {}
(files / tail).write_text("\n".join(said.get(i, f"line {i}") for i in range(1, 5000)))
if not Path(recorded).is_file():
    support.fails(bpy.ops.tracevis3d.open_source, "not on this machine", **about)
    assert bpy.ops.tracevis3d.open_source(**about, directory=str(files)) == {"FINISHED"}
    text = bpy.data.texts[tail.name]
    assert text.lines[text.current_line_index].body == f"line {int(trace.functions.line[function])}"
    assert bpy.ops.tracevis3d.open_source(**about) == {"FINISHED"}, "the folder was not remembered"
    # Tooltips say what its comment says.
    _, holds = parts("call", support.only_view())
    which = int(np.flatnonzero(trace.calls.function[holds.id] == function)[0])
    there = holds.low[which].astype(float)
    hit = pointer.Hit(view.name, parts("call", support.only_view())[0].name, holds, which, there, there)
    if said:
        assert ("comment", "What it is for.") in words.describe_hit(hit)[0].rows
    # Elements of the view source show lines.
    assert bpy.ops.tracevis3d.open_source(view=about["view"], file=recorded, line=321) == {"FINISHED"}
    assert text.lines[text.current_line_index].body == "line 321"

# As a script, which draws the same.
view = support.only_view()
scene = next(s for s in bpy.data.scenes if view in s.collection.children_recursive)
view.tracevis3d.icicle.color = "function"
bpy.ops.tracevis3d.rebuild()
text = script.script_of(support.only_view(), scene)
names = {}
head = text[: text.index("figure.render")].replace("import tracevis3d as tv", "")
exec(compile(head, "copied", "exec"), {"tv": support.extension(".tracevis3d.api")}, names)
assert names["figure"].parameters.color == "function"
assert names["figure"].traces[0].source.hash == trace.source.hash

# Marks.
selection.select(key, [], time_range=(10_000, 50_000))
assert marks.toggle(key, 10_000, 50_000)
assert marks.marked(key) == [(10_000, 50_000)]
assert len(marks.marked_bands(scene)) == 1
assert len(marks.selected_bands(scene)) == 1
assert not marks.toggle(key, 10_000, 50_000)

# Detail from near: in the place of the picture's boxes for the 3D view, not for pictures, without undo.
view = support.only_view()
bpy.ops.ed.undo_push(message="before the detail")
closer = detail._Levels(view, [trace], settings.frame_of(scene))()
(pane,) = closer.panes
low, high = pane.window
camera = support.extension(".tracevis3d.scene.camera")
eye = camera.View(
    eye=np.array([8.0, -2.0, 1.0]), right=np.array([1.0, 0, 0]), up=np.array([0, 0, 1.0]),
    forward=np.array([0, 1.0, 0]), tangent=0.2, perspective=True, frame=settings.frame_of(scene),
    centre=(320.0, 180.0), nearest=0.0, farthest=1.0,
)  # fmt: skip
in_sight = support.extension(".tracevis3d.views.detail.in_sight")
near = in_sight.of_pane(closer, 0, (low + (high - low) // 3, high), 30 * pane.pixels_per_unit, [trace])
detail.show(view, near, eye)
bpy.context.view_layer.update()
assert detail_objects.shown_detail(view, 0) is not None
assert len(parts("call", view)[1]) > len(before)
assert all(o.hide_render for o in detail_objects.objects_of(view))
picture = [o for o in view.objects if o.get("tracevis3d_kind") == "call" and not o.visible_get()]
assert len(picture) == 1
assert not picture[0].hide_render
k, hit = straight_at("call", 5, view)
assert hit is not None
assert hit.shown == parts("call", view)[0].name
bpy.ops.tracevis3d.rebuild()
view = support.only_view()
assert detail_objects.shown_detail(view, 0) is None
assert parts("call", view)[0].visible_get()
assert not detail_objects.objects_of(view)

# The clipping of what is in sight.
start, end = (
    np.array([[-2.0, 0, 0, 1], [5, 5, 0, 1], [0, 0, 0, -1]]),
    np.array([[2.0, 0, 0, 1], [9, 5, 0, 1], [0, 0, 0, 1]]),
)
share = support.extension(".tracevis3d.layout.sight.view_projection").share_in_sight(start, end)
assert np.allclose(share[0], (0.25, 0.75))
assert share[1, 0] >= share[1, 1]
assert 0.49 < share[2, 0] < 0.51

# In a comparison: tubes are met, tell of both calls, and light what they lead to.
assert bpy.ops.tracevis3d.import_trace(filepath=str(other_given)) == {"FINISHED"}
second = next(v for v in support.views() if v != view)
other = sources.in_memory(second)[0]
api = support.extension(".tracevis3d.api")
figure = api.view("compare", trace, other)
frame = settings.frame_of(scene)
compare = making.new_view(bpy.context, [trace, other], figure, figure.drawing(frame), "paper", "THIS")
scene = next(s for s in bpy.data.scenes if compare in s.collection.children_recursive)
bpy.context.view_layer.update()
tubes = [o for o in compare.objects if o.get("tracevis3d_kind") in ("tube", "line")]
met = 0
for shown in tubes:
    holds = element_metadata.pickable_mesh(shown)
    assert holds.shows_calls, shown.name
    assert set(holds.calls) == {0, 1}
    for i in range(min(len(holds), 12)):
        a, b = int(holds.first[i]), int(holds.first[i + 1])
        section = (a + b) // 2
        point = np.array(shown.matrix_world) @ np.array([*holds.middle[section], 1.0])
        hit = holds.pick(Ray.of(holds.middle[section] + (0, 0, 50.0), (0, 0, -1)), False, 1.0, np.inf)
        met += hit is not None
assert met > 5
both = related.of(
    pointer.shown_in(scene), {trace.source.hash: holds.calls[0][:1]}, {"MATCH"}
)  # fmt: skip
assert any(len(found.matched) for found in both.values())

# Saved and opened again without the trace, the .blend still knows what its elements are.
bpy.ops.wm.save_as_mainfile(filepath=str(place / "explored.blend"))
trace_file.unlink()
support.extension(".tracevis3d.trace.storage.cache").clear()
bpy.ops.wm.open_mainfile(filepath=str(place / "explored.blend"))
assert sources.loaded(key) is None
view = next(v for v in support.views() if v.tracevis3d.view == "icicle" and trace_state.keys_of(v) == [key])
scene = next(s for s in bpy.data.scenes if view in s.collection.children_recursive)
if bpy.context.window is not None:
    bpy.context.window.scene = scene
bpy.context.view_layer.update()
shown = next(o for o in view.objects if o.get("tracevis3d_kind") == "call")
holds = element_metadata.pickable_mesh(shown)
i = int(np.argsort(-holds.size[:, 0])[2])
hit = pointer.Hit(view.name, shown.name, holds, i, holds.low[i].astype(float), holds.low[i].astype(float))
(description,) = words.describe_hit(hit)
assert description.title == trace.functions.label[trace.calls.function[int(holds.id[i])]]
rows = dict(description.rows)
assert {"start", "duration", "self time", "depth", "thread", "count"} <= set(rows), rows
assert rows["depth"] == str(int(trace.calls.depth[int(holds.id[i])]))
support.fails(bpy.ops.tracevis3d.hide, "not in memory", view=view.name, trace=key, call="0")
print("explored")
