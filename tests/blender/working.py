"""Several views, search, bookmarks, presets, undo, and a trace that has to be asked for.

``working.py TRACE OTHER FOLDER``: of two small recordings; ``FOLDER`` gets what is written.
"""

import json
import random
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import numpy as np
import support

given, other_given, place = map(Path, support.arguments())
place.mkdir(parents=True, exist_ok=True)
trace, other = place / given.name, place / other_given.name
shutil.copyfile(given, trace)
shutil.copyfile(other_given, other)
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
scene = bpy.context.scene
scene.render.resolution_x, scene.render.resolution_y = 320, 180
settings = support.extension(".operators.state.settings")
selection = support.extension(".operators.state.selection")
trace_state = support.extension(".operators.state.trace_state")
details = support.extension(".operators.state.details")
parts = support.extension(".tracevis3d.scene.parts")
api = support.extension(".tracevis3d.api")
operators = bpy.ops.tracevis3d


def step(message):
    bpy.ops.ed.undo_push(message=message)


def box(view):
    low, high = support.extension(".operators.views.arrange").box(view)
    return np.array(low), np.array(high)


def apart(views):
    """Assert that no two views overlap."""
    for i, one in enumerate(views):
        for two in views[:i]:
            (a, b), (c, d) = box(one), box(two)
            assert (b <= c).any() or (d <= a).any(), (one.name, two.name)


def shown_at(view):
    """Return the lowest and highest corners of what Blender draws of the data of a view."""
    graph = bpy.context.evaluated_depsgraph_get()
    names = {o.name for o in view.objects if o.get("tracevis3d_kind") in ("call", "cluster")}
    points = [
        (shown.matrix_world @ vertex.co).to_tuple()
        for shown in map(graph.objects.get, names)
        for vertex in shown.data.vertices
    ]
    return np.min(points, axis=0), np.max(points, axis=0)


# -- views side by side ------------------------------------------------------------------------------
# Nothing can be done yet, and each greyed-out button says why.
for operator in ("rebuild", "add_view", "search", "bookmark_add", "render_image", "remove_view", "overview"):
    assert not getattr(operators, operator).poll(), operator
assert operators.import_trace(filepath=str(trace)) == {"FINISHED"}
scene = bpy.context.scene
(first,) = support.views()
assert not operators.overview.poll(), "there is nothing to see beside one view"
assert operators.import_trace(filepath=str(other)) == {"FINISHED"}
assert bpy.context.scene == scene, "the second view went elsewhere"
second = scene.tracevis3d_view
assert second != first
first_key, second_key = trace_state.keys_of(first)[0], trace_state.keys_of(second)[0]
assert operators.add_view(view="compare", trace=first_key, other=second_key) == {"FINISHED"}
third = scene.tracevis3d_view
assert [len(v.tracevis3d.sources) for v in (first, second, third)] == [1, 1, 2]
assert third.tracevis3d.view == "compare"
views = [first, second, third]
apart(views)
for view in views:
    low, high = box(view)
    drawn_low, drawn_high = shown_at(view)
    assert (drawn_low >= low - 0.5).all(), (view.name, low, drawn_low)
    assert (drawn_high <= high + 0.5).all(), (view.name, high, drawn_high)
support.fails(operators.add_view, "needs 2", view="compare", other="NONE")


def cameras():
    return [o for o in scene.objects if o.type == "CAMERA"]


def visible(view, part):
    return [not o.hide_render for o in view.objects if o.get(parts.PART) == part]


# One is attended to: its camera, its title, its light.
for view in views:
    scene.tracevis3d_view = view
    assert scene.camera in list(view.objects)
    for each in views:
        assert visible(each, "title") == [each == view]
        assert visible(each, "key light") == [each == view]
        assert set(visible(each, "call 0")) == {each == view}
scene.tracevis3d_overview = True
assert scene.camera not in [o for v in views for o in v.objects]
assert all(visible(view, "call 0")[0] for view in views)
assert not any(flag for view in views for flag in visible(view, "title"))
assert all(visible(view, "sign") == [True] for view in views)
for view in views:
    view.tracevis3d.engine = "workbench"
picture = place / "all.png"
assert operators.render_image(filepath=str(picture)) == {"FINISHED"}
support.is_picture(picture, 320, 180)
for direction in ("STACK", "DEPTH", "ROW"):
    assert operators.arrange(direction=direction) == {"FINISHED"}
    apart(views)
assert operators.overview() == {"FINISHED"}
assert not scene.tracevis3d_overview
assert scene.camera in list(third.objects)
# A rebuilt view stays where it stands, and the others where they are.
before = {view.name: [tuple(v) for v in shown_at(view)] for view in views}
scene.tracevis3d_view = second
second.tracevis3d.icicle.color = "function"
assert operators.rebuild() == {"FINISHED"}
for view in views:
    assert np.allclose(shown_at(view), before[view.name], atol=1e-4), view.name
apart(views)
# One that is larger then reaches into none: the others give way.
for turns in (6.0, 0.0):
    second.tracevis3d.icicle.winding = turns
    assert operators.rebuild() == {"FINISHED"}
    apart(views)
step("views")

# -- search ------------------------------------------------------------------------------------------
scene.tracevis3d_view = first
state = scene.tracevis3d_search
state.pattern = "parse"
wanted = api.search(api.load(trace), "parse")
assert state.total == wanted.count > 5
assert [hit.call for hit in state.hits] == wanted.first(100).tolist()
assert state.summary.startswith(f"{wanted.count:,} calls of {len(wanted.functions):,} functions")
assert [query.pattern for query in state.history] == ["parse"]


def pinned(view):
    """Return the calls that have pins in a view."""
    found = [o for o in view.objects if o.get(parts.PART) == "pins"]
    if not found:
        return []
    ids = np.empty(len(found[0].data.vertices), np.int32)
    found[0].data.attributes["id"].data.foreach_get("value", ids)
    return ids.tolist()


spread = set(wanted.spread(150).tolist())
assert set(pinned(first)) <= spread
assert len(pinned(first)) > 0.9 * len(spread), "most calls are drawn by themselves or in a cluster"
assert pinned(third), "pins are in all views of the trace"
assert not pinned(second), "they are not in views of others"
# Where a pin stands its call, or what stands for it, is drawn.
pins = next(o for o in first.objects if o.get(parts.PART) == "pins")
at = np.empty((len(pins.data.vertices), 3), np.float32)
pins.data.attributes["position"].data.foreach_get("vector", at.reshape(-1))
element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
boxes = [
    h
    for h in map(element_metadata.pickable_mesh, first.objects)
    if h is not None and h.is_boxes and h.shows_calls
]
low, size = (np.concatenate([getattr(h, name) for h in boxes]) for name in ("low", "size"))
inside = (at[:, None] >= low - 1e-3) & (at[:, None] <= low + size + 1e-3)
assert inside.all(axis=2).any(axis=1).all(), "a pin is in no box"

before = pinned(first)
assert operators.rebuild() == {"FINISHED"}
assert pinned(first) == before, "a rebuilt view lost its pins"
assert operators.search_step(step="NEXT") == {"FINISHED"}
assert state.current in pinned(first)
assert selection.selected(first_key).active == int(wanted.first(1)[0])
walked = [state.current]
for _ in range(3):
    operators.search_step(step="NEXT")
    walked.append(state.current)
assert walked == wanted.first(4).tolist()
operators.search_step(step="PREVIOUS")
assert state.current == walked[2]
operators.search_step(step="LAST")
assert state.current == int(wanted.last(1)[0])
assert state.rank + state.index == wanted.count - 1
assert state.hits[state.index].call == state.current
assert operators.search_step(step="NEXT") == {"CANCELLED"}
state.index = 0
assert state.current == state.hits[0].call
state.show_pins = False
assert not pinned(first)
state.show_pins = True
assert pinned(first)
for pattern, kind in (("pars*", "wildcard"), (r"^\w+e$", "regex")):
    with settings.quietly():
        state.kind = kind
    state.pattern = pattern
    same = api.search(api.load(trace), pattern, kind=kind)
    assert (state.total, len(state.hits)) == (same.count, min(100, same.count)), pattern
assert [query.pattern for query in state.history] == [r"^\w+e$", "pars*", "parse"]
with settings.quietly():
    state.pattern = "("
support.fails(operators.search, "not a valid regular expression")
assert "not a valid regular expression" in state.summary
assert not state.total
assert operators.search_recall(number=2) == {"FINISHED"}
assert (state.pattern, state.kind, state.total) == ("parse", "substring", wanted.count)
with settings.quietly():
    state.start = "1 ms"
state.end = "2 ms"
window = api.search(api.load(trace), "parse", start=10**6, end=2 * 10**6)
assert state.total == window.count
with settings.quietly():
    state.start = ""
state.end = ""
operators.search_step(step="FIRST")
step("search")

# -- selection ---------------------------------------------------------------------------------------
shown = bpy.context.window_manager.tracevis3d_details
assert shown.summary.startswith("1 call")
facts = {row.label: row.text for row in shown.rows}
loaded = api.load(trace)
assert facts["Number"] == f"{state.current:,}"
assert facts["Calls Below"] == f"{int(loaded.calls.extent[state.current]) - 1:,}"
assert facts["Depth"] == f"{int(loaded.calls.depth[state.current]):,}"
assert {"Module", "File", "Start", "Duration", "Self Time", "Thread"} <= set(facts)
# The comparison is a view of the same trace: the selection is the same one.
scene.tracevis3d_view = third
details.renew()
assert shown.summary.startswith("1 call of")
scene.tracevis3d_view = first

# -- bookmarks ---------------------------------------------------------------------------------------
assert not operators.bookmark_go.poll()
chosen = selection.selected(first_key).calls.tolist()
assert operators.bookmark_add(name="start of parsing") == {"FINISHED"}
bookmark = scene.tracevis3d_bookmarks[0]
assert bookmark.label.name == "start of parsing"
assert bookmark.label.name in scene.objects
bookmark.name = "the first one"
assert bookmark.label.name == "the first one"
selection.select(first_key, [3, 4], active=4)
scene.tracevis3d_view = second
assert operators.bookmark_add() == {"FINISHED"}
scene.tracevis3d_bookmark = 0
assert operators.bookmark_go() == {"FINISHED"}
assert scene.tracevis3d_view == first
assert selection.selected(first_key).calls.tolist() == chosen
scene.tracevis3d_bookmark = 1
assert operators.bookmark_remove() == {"FINISHED"}
assert [b.name for b in scene.tracevis3d_bookmarks] == ["the first one"]
step("bookmarks")

# -- presets -----------------------------------------------------------------------------------------
scene.tracevis3d_view = first
group = first.tracevis3d.icicle
group.relief, group.order = (
    0.8,
    "busy" if "busy" in group.bl_rna.properties["order"].enum_items else "recorded",
)
assert operators.rebuild() == {"FINISHED"}
assert operators.preset_save(name="high relief") == {"FINISHED"}
presets = support.extension(".operators.views.presets")
kept = presets.folder("icicle") / "high_relief.json"
assert abs(json.loads(kept.read_text())["relief"] - 0.8) < 1e-6
assert operators.reset_parameters() == {"FINISHED"}
assert abs(group.relief - 0.8) > 0.1
assert operators.preset_use(name="high_relief") == {"FINISHED"}
assert abs(first.tracevis3d.icicle.relief - 0.8) < 1e-6
assert not first.tracevis3d.stale
kept.write_text('{"relief": "steep"}')
support.fails(operators.preset_use, "a number is expected", name="high_relief")
kept.write_text("nonsense")
support.fails(operators.preset_use, "can't be read", name="high_relief")
assert operators.preset_remove(name="high_relief") == {"FINISHED"}
assert not kept.exists()
assert operators.reset_parameters() == {"FINISHED"}
step("presets")

# -- undo and redo, by chance ------------------------------------------------------------------------


def content():
    """Return what a person sees of the state: views, places, parameters, search, bookmarks, selection."""
    scene = bpy.context.scene
    found = []
    for view in sorted(support.views(), key=lambda v: v.name):
        stored = view.tracevis3d
        values = tuple(settings.values(view).items())
        meshes = tuple(
            (o.get(parts.PART), len(o.data.vertices), o.hide_render, tuple(o.delta_location))
            for o in sorted(view.objects, key=lambda o: o.name)
            if o.type == "MESH"
        )
        found.append((view.name, tuple(stored.place), stored.style, stored.stale, values, meshes))
    state = scene.tracevis3d_search
    found.append((state.pattern, state.total, [h.call for h in state.hits], state.current))
    found.append([(b.name, b.selections) for b in scene.tracevis3d_bookmarks])
    found.append([selection.selected(key).calls.tolist() for key in (first_key, second_key)])
    found.append((scene.camera.name, scene.tracevis3d_view.name, scene.tracevis3d_overview))
    return found


rng = random.Random(4)
history, now = [content()], 0


def act(scene):
    """Do something a person might do."""
    view = rng.choice(support.views())
    what = rng.randrange(7)
    if what == 0:
        scene.tracevis3d_view = view
    elif what == 1:
        scene.tracevis3d_view = view
        group = settings.parameters(view)
        name = {"icicle": "relief", "compare": "tension"}[view.tracevis3d.view]
        if hasattr(group, name):
            setattr(group, name, rng.random())
        operators.rebuild()
    elif what == 2:
        operators.arrange(direction=rng.choice(("ROW", "STACK", "DEPTH")))
    elif what == 3:
        scene.tracevis3d_search.pattern = rng.choice(("parse", "re", "a", "init"))
    elif what == 4:
        operators.bookmark_add()
    elif what == 5:
        scene.tracevis3d_overview = not scene.tracevis3d_overview
    else:
        selection.select(first_key, sorted(rng.sample(range(1000), 5)))


for number in range(50):
    turn = rng.random()
    if turn < 0.5:
        act(bpy.context.scene)
        step(f"act {number}")
        del history[now + 1 :]
        history.append(content())
        now += 1
    elif turn < 0.8 and now > 0:
        bpy.ops.ed.undo()
        now -= 1
    elif now + 1 < len(history):
        bpy.ops.ed.redo()
        now += 1
    assert content() == history[now], (number, turn, now)
assert len(history) > 10

# -- save, and come back without the traces ----------------------------------------------------------
scene = bpy.context.scene
scene.tracevis3d_overview = False
scene.tracevis3d_view = next(v for v in support.views() if v.tracevis3d.view == "icicle")
if not scene.tracevis3d_search.total:
    scene.tracevis3d_search.pattern = "parse"
before = content()
names = [source.path for source in scene.tracevis3d_view.tracevis3d.sources]
bpy.ops.wm.save_as_mainfile(filepath=str(place / "work.blend"))
away = place / "away"
away.mkdir(exist_ok=True)
trace.rename(away / trace.name)
other.rename(away / other.name)
bpy.ops.wm.open_mainfile(filepath=str(place / "work.blend"))
scene = bpy.context.scene
assert content() == before
states = {s.state for v in support.views() for s in v.tracevis3d.sources}
assert states == {"CACHE"}
support.extension(".tracevis3d.trace.storage.cache").clear()
bpy.ops.wm.open_mainfile(filepath=str(place / "work.blend"))
scene = bpy.context.scene
states = {s.state for v in support.views() for s in v.tracevis3d.sources}
assert states == {"MISSING"}
# What is there can be looked at, rendered and pointed at; the selection's facts are those that are held.
first = scene.tracevis3d_view
assert operators.render_image(filepath=str(place / "without.png")) == {"FINISHED"}
support.is_picture(place / "without.png", 320, 180)
boxes = next(
    h for h in map(element_metadata.pickable_mesh, first.objects) if h is not None and h.kind == "call"
)
selection.select(trace_state.keys_of(first)[0], [int(boxes.id[0])])
shown = bpy.context.window_manager.tracevis3d_details
assert {"Module", "Duration", "Depth", "Thread"} <= {row.label for row in shown.rows}
assert shown.title
assert operators.bookmark_go.poll()
assert operators.bookmark_go() == {"FINISHED"}
support.fails(operators.rebuild, "is neither there nor in the cache")
support.fails(operators.search_step, "is neither there nor in the cache", step="NEXT")
# Asked for: another recording is refused, the right one is taken, by all views of it.
name = Path(scene.tracevis3d_view.tracevis3d.sources[0].path).name
wrong = away / (other.name if name == trace.name else trace.name)
support.fails(operators.find_source, "another recording", filepath=str(wrong))
assert operators.find_source(filepath=str(away / name)) == {"FINISHED"}
assert operators.rebuild() == {"FINISHED"}
kind = scene.tracevis3d_view.tracevis3d.sources[0].hash
found = [s for v in support.views() for s in v.tracevis3d.sources if s.hash == kind]
assert len(found) >= 2
assert all(s.state == "FILE" and Path(bpy.path.abspath(s.path)).exists() for s in found)
assert operators.search_step(step="NEXT") == {"FINISHED"}
support.say(views=len(support.views()), acts=len(history))
