"""The call tree as a list, and the filter stack: ``tree.py TRACE FOLDER``."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

given, place = map(Path, support.arguments())
place.mkdir(parents=True, exist_ok=True)
trace = place / given.name
shutil.copyfile(given, trace)
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
scene = bpy.context.scene
scene.render.resolution_x, scene.render.resolution_y = 320, 180
selection = support.extension(".operators.state.selection")
trace_state = support.extension(".operators.state.trace_state")
api = support.extension(".tracevis3d.api")
parts = support.extension(".tracevis3d.scene.parts")
operators = bpy.ops.tracevis3d
loaded = api.load(trace)
calls, functions = loaded.calls, loaded.functions


def step(message):
    bpy.ops.ed.undo_push(message=message)


def names(view):
    return [row.name for row in view.tracevis3d_tree_rows]


def signs(view):
    return [row.sign for row in view.tracevis3d_tree_rows]


def current(view):
    return [row.path for row in view.tracevis3d_tree_rows if row.current]


def click(row, part="label", **keys):
    assert operators.tree_click(path=row.path, part=part, **keys) == {"FINISHED"}


assert not operators.tree_show.poll(), "there is no view yet"
assert operators.import_trace(filepath=str(trace)) == {"FINISHED"}
scene = bpy.context.scene
first = support.only_view()
key = trace_state.keys_of(first)[0]
state = first.tracevis3d_tree

# -- the list: of the length of the window, never of the trace ---------------------------------------
assert operators.tree_show() == {"FINISHED"}
rows = first.tracevis3d_tree_rows
assert 0 < len(rows) <= state.page
state.levels = 1000
assert len(rows) == state.page == 16
assert int(state.size.replace(",", "")) > 100 * len(rows)
state.page = 9
assert len(rows) == 9
assert rows[0].path == "0"
assert rows[0].depth == 1
step("list")

# -- sequences of callees are one row each, and open to what they take in ------------------------------
plain = int(state.size.replace(",", ""))
state.folded = True
folded = int(state.size.replace(",", ""))
assert folded < plain
sequence = None
while sequence is None:
    sequence = next((row for row in rows if row.role == "sequence"), None)
    if sequence is None:
        assert state.row + len(rows) - 1 < folded
        operators.tree_key(key="PAGE_DOWN")
assert "(" in sequence.name
assert len(sequence.about) >= len(sequence.name) - 2
assert sequence.sign == "-"
assert sequence.below
path = sequence.path
click(sequence, part="sign")
assert next(row for row in rows if row.path == path).sign == "+"
assert int(state.size.replace(",", "")) < folded
click(next(row for row in rows if row.path == path))
taken = selection.selected(key)
assert len(taken) >= 2
assert len({int(calls.parent[call]) for call in taken.calls.tolist()}) == 1
state.folded = False
assert int(state.size.replace(",", "")) == plain, "what was closed is no row of this tree"
selection.select(key, [])
operators.tree_key(key="HOME")
assert int(state.size.replace(",", "")) == plain

# -- keys --------------------------------------------------------------------------------------------
operators.tree_key(key="END")
assert state.row + len(rows) - 1 == int(state.size.replace(",", ""))
assert rows[len(rows) - 1].current
operators.tree_key(key="PAGE_UP")
assert state.row + 2 * len(rows) - 1 == int(state.size.replace(",", ""))
operators.tree_key(key="HOME")
assert current(first) == ["0"]
operators.tree_key(key="DOWN_ARROW")
below = current(first)[0]
assert below.startswith("0.") or below == "1"
operators.tree_key(key="PAGE_DOWN")
assert state.row == 10
operators.tree_key(key="UP_ARROW")
operators.tree_key(key="HOME")
operators.tree_key(key="LEFT_ARROW")
assert signs(first)[0] == "+"
operators.tree_key(key="RIGHT_ARROW")
assert signs(first)[0] == "-"
operators.tree_key(key="RIGHT_ARROW")
operators.tree_key(key="BACK_SPACE")
assert current(first) == ["0"]
state.row = 50
assert rows[0].path != "0"
assert state.callers
state.row = 1

# -- clicks select in all views of the trace, and what is selected elsewhere is shown -------------------
click(rows[2])
chosen = selection.selected(key)
assert len(chosen) >= 1
assert chosen.active == int(chosen.calls[0])
name = rows[2].name.split(" \u00d7")[0]
assert functions.label[calls.function[chosen.active]] == name
click(rows[4], ctrl=True)
assert [row.chosen for row in rows] == [False, False, True, False, True, *[False] * 4]
click(rows[2])
click(rows[6], shift=True)
assert [row.chosen for row in rows] == [False, False, *[True] * 5, False, False]
step("clicks")
deep = int(calls.depth.argmax())
state.levels = 0
assert len(rows) < 9 or set(signs(first)) <= {"+", ""}
selection.select(key, [deep])
assert any(row.current and row.name.startswith(functions.label[calls.function[deep]]) for row in rows)
assert rows[0].depth > 1
state.follow = False
before = [row.path for row in rows]
selection.select(key, [0])
assert [row.path for row in rows] == before
state.follow = True

# -- filters -----------------------------------------------------------------------------------------
state.levels = 1000
leaf = next(c for c in range(3, len(calls)) if calls.extent[c] == 1 and calls.depth[c] > 3)
common = int(calls.function[leaf])
word = functions.label[common]
assert operators.filter_edit(name="name", effect="hide", values=[{"name": "pattern", "text": word}]) == {
    "FINISHED"
}
assert first.tracevis3d.filters == f"name(pattern={word})", first.tracevis3d.filters
result = first.tracevis3d_filtered
assert result[0].did.startswith("hides "), result[0].did
size = int(state.size.replace(",", ""))
state.show_filtered = True
assert int(state.size.replace(",", "")) > size
state.show_filtered = False
assert int(state.size.replace(",", "")) == size
state.row = 1
while "~" not in signs(first):
    operators.tree_key(key="PAGE_DOWN")
row = next(r for r in rows if r.sign == "~")
path = row.path
click(row, "sign", ctrl=True)
assert next(r for r in rows if r.path == path).sign == "-"
assert any(r.filtered for r in rows) or state.page < 10
click(next(r for r in rows if r.path == path), "sign", ctrl=True)
assert next(r for r in rows if r.path == path).sign == "~"
operators.filter_edit(name="depth", effect="fade", values=[{"name": "below", "text": "3"}])
support.fails(operators.filter_edit, "below", name="depth", values=[{"name": "below", "text": "deep"}])
texts = [part.strip() for part in first.tracevis3d.filters.split(";")]
assert len(texts) == 2, texts
operators.filter_change(index=1, do="UP")
assert [part.strip() for part in first.tracevis3d.filters.split(";")] == texts[::-1]
operators.filter_change(index=0, do="SWITCH")
assert first.tracevis3d.filters.startswith("!depth")
operators.filter_change(index=0, do="REMOVE")
assert first.tracevis3d.filters == texts[0]
assert operators.rebuild() == {"FINISHED"}
hidden = {
    int(i)
    for o in first.objects
    if o.get("tracevis3d_kind") == "call" and "id" in o.data.attributes
    for i in (a.value for a in o.data.attributes["id"].data)
}
assert hidden
assert not hidden & set((calls.function == common).nonzero()[0].tolist())
operators.filter_change(do="CLEAR")
assert first.tracevis3d.filters == ""
assert len(result) == 0
step("filters")

# -- hiding rows by hand -------------------------------------------------------------------------------
state.row = 1
size = int(state.size.replace(",", ""))
click(rows[1])
operators.tree_hide()
assert int(state.size.replace(",", "")) < size
operators.tree_hide(show=True)
assert int(state.size.replace(",", "")) == size

# -- two explorations of one trace beside each other ----------------------------------------------------
assert operators.add_view(view="cone", trace=key) == {"FINISHED"}
one = scene.tracevis3d_view
assert operators.add_view(view="cone", trace=key) == {"FINISHED"}
two = scene.tracevis3d_view
assert one != two
one.tracevis3d.cone.budget = two.tracevis3d.cone.budget = 60
two.tracevis3d.cone.focus = functions.label[calls.function[deep]]
two.tracevis3d.filters = "utilities(effect=fade)"
assert operators.rebuild() == {"FINISHED"}
for view in (one, two):
    scene.tracevis3d_view = view
    assert operators.tree_show() == {"FINISHED"}
two.tracevis3d_tree.levels = 5
assert names(one) != names(two), "what is opened in one view is opened in the other"
boxes = [support.extension(".operators.views.arrange").box(view) for view in (first, one, two)]
for i, (low, high) in enumerate(boxes):
    for other_low, other_high in boxes[:i]:
        assert any(high[k] <= other_low[k] or other_high[k] <= low[k] for k in range(3))
step("explorations")

# -- undo, and a saved file ------------------------------------------------------------------------------
scene.tracevis3d_view = first
state = first.tracevis3d_tree
state.row = 1
click(first.tracevis3d_tree_rows[0], "sign")
step("closed")
closed = names(first), signs(first), state.size
bpy.ops.ed.undo()
first = next(v for v in support.views() if v.tracevis3d.view == "icicle")
assert signs(first)[0] == "-"
assert first.tracevis3d_tree.size != closed[2]
# The next key starts from what undo brought back, not from what lay in memory.
operators.tree_key(key="DOWN_ARROW")
assert first.tracevis3d_tree.size != closed[2]
bpy.ops.ed.redo()
first = next(v for v in support.views() if v.tracevis3d.view == "icicle")
operators.tree_key(key="HOME")
operators.tree_key(key="LEFT_ARROW")
assert signs(first)[0] == "+"
kept = names(first), signs(first), first.tracevis3d_tree.size
blend = place / "tree.blend"
bpy.ops.wm.save_as_mainfile(filepath=str(blend))
bpy.ops.wm.open_mainfile(filepath=str(blend))
first = next(v for v in support.views() if v.tracevis3d.view == "icicle")
assert (names(first), signs(first), first.tracevis3d_tree.size) == kept, "the list is in the file"
bpy.context.scene.tracevis3d_view = first
assert operators.tree_key(key="DOWN_ARROW") == {"FINISHED"}, "the trace is found again"
assert first.tracevis3d_tree.size == kept[2]

# -- the panels can be drawn, and show what is stored ------------------------------------------------------


class Recorder:
    """Takes what a panel draws, and keeps the texts."""

    def __init__(self, said):
        self.said = said

    def operator(self, name, **keys):
        assert hasattr(operators, name.split(".")[1]), name
        self.said.append(keys.get("text", name))
        return type("Properties", (), {})()

    def __getattr__(self, name):
        return lambda *words, **keys: (self.said.append(str(keys.get("text", ""))), Recorder(self.said))[1]


panels = support.extension(".panels.tree")
first.tracevis3d.filters = "utilities(effect=fade); !accessors"
context = SimpleNamespace(
    scene=bpy.context.scene,
    region=SimpleNamespace(width=300),
    preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)),
)
for panel, words in (
    (panels.TRACEVIS3D_PT_tree, ["Use Arrow Keys", "Ctrl-click", f"of {kept[2]}"]),
    (
        panels.TRACEVIS3D_PT_filters,
        ["utilities", "accessors", "trace: off", "In the whole trace, with all below"],
    ),
):
    said = []
    panel.draw(SimpleNamespace(layout=Recorder(said)), context)
    everything = " ".join(said)
    for word in words:
        assert word in everything, (word, everything)
print("tree: all done")
