"""Lists of functions, patterns, utilities and a library; strip; going by number: ``lists.py A B FOLDER``."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

first_given, second_given, place = map(Path, support.arguments())
place.mkdir(parents=True, exist_ok=True)
traces = [place / given.name for given in (first_given, second_given)]
for given, copy in zip((first_given, second_given), traces, strict=True):
    shutil.copyfile(given, copy)
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
scene = bpy.context.scene
scene.render.resolution_x, scene.render.resolution_y = 320, 180
selection = support.extension(".operators.state.selection")
trace_state = support.extension(".operators.state.trace_state")
hiding = support.extension(".operators.state.filter_stacks")
PAGE = support.extension(".tracevis3d.features.call_tree.list_rows").PAGE
mural = support.extension(".tracevis3d.analysis.mural")
api = support.extension(".tracevis3d.api")
operators = bpy.ops.tracevis3d
loaded = api.load(traces[0])
calls, functions = loaded.calls, loaded.functions

assert not operators.list_show.poll(), "there is no view yet"
assert operators.import_trace(filepath=str(traces[0])) == {"FINISHED"}
scene = bpy.context.scene
view = support.only_view()
key = trace_state.keys_of(view)[0]
state, strip = view.tracevis3d_lists, view.tracevis3d_strip
scene.tracevis3d_library = str(place / "library.json")

# -- numbers and strip are there as soon as the view is ----------------------------------------------
assert strip.headline.startswith(f"{len(calls):,} calls, "), strip.headline
assert strip.headline.endswith("0 % hidden")
cells = mural.unpacked(strip.cells)
assert cells is not None
assert cells.shown.any()
assert not cells.hidden.any()
strips = support.extension(".tracevis3d.features.call_tree.strip")
picture = strips.picture(cells.shown, cells.hidden)
assert len(picture) == min(int(calls.depth.max()), mural.HEIGHT), "rows that hold nothing are left out"
corners, _, triangles = strips.quads(picture)
assert len(triangles) == 2 * np.count_nonzero(cells.shown)
assert corners.min() == 0.0
assert corners.max() == 1.0
mixed = strips.picture(np.full((1, 2), 180, np.uint8), np.array([[0, 180]], np.uint8))
assert mixed[0, 0, 2] > mixed[0, 0, 0], "what is shown is blue"
assert mixed[0, 1, 0] > mixed[0, 0, 0], "what is hidden goes towards orange"

# -- functions: bounded, sorted, searched, paged -----------------------------------------------------
assert operators.list_show() == {"FINISHED"}
assert len(state.rows) == min(PAGE, state.total)
assert state.total == len(np.unique(calls.function)) > PAGE
counts = np.bincount(calls.function)
assert state.rows[0].count == f"{counts.max():,}"
assert operators.list_page(step="NEXT") == {"FINISHED"}
assert state.first == PAGE
assert operators.list_page(step="LAST") == {"FINISHED"}
assert state.first + len(state.rows) == state.total
assert operators.list_page(step="FIRST") == {"FINISHED"}
state.sort = "name"
titles = [row.title for row in state.rows]
assert titles == sorted(titles)
state.contains = "convert"
assert all("convert" in row.title.lower() for row in state.rows)
assert 0 < state.total < PAGE

# -- a row selects its calls everywhere, and what is selected elsewhere is chosen --------------------
state.contains = ""
state.sort = "occurrences"
assert operators.tree_show() == {"FINISHED"}
state.index = 1
wanted = int(state.rows[1].key)
chosen = selection.selected(key)
assert chosen.calls.tolist() == np.flatnonzero(calls.function == wanted).tolist()
assert chosen.active == chosen.calls[0]
assert any(row.current for row in view.tracevis3d_tree_rows), "the call tree follows"
assert operators.list_step(step="NEXT") == {"FINISHED"}
assert selection.selected(key).active == chosen.calls[1]
assert operators.list_step(step="PREVIOUS") == {"FINISHED"}
assert selection.selected(key).active == chosen.calls[0]
assert operators.list_step(step="PREVIOUS") == {"FINISHED"}, "it says that this was the first"
assert selection.selected(key).active == chosen.calls[0]
other = int(state.rows[0].key)
selection.select(key, [int(np.flatnonzero(calls.function == other)[-1])])
assert state.index == 0, "the row follows the selection"

# -- hide, fade and show a row by a filter -----------------------------------------------------------
state.index = 0
size = len(np.flatnonzero(calls.function == other))
assert operators.list_hide(effect="hide") == {"FINISHED"}
assert view.tracevis3d.filters.startswith("name(")
assert state.rows[0].hidden
assert not strip.headline.endswith(" 0 % hidden")
assert mural.unpacked(strip.cells).hidden.any()
hidden = view.tracevis3d_filtered[0].did
assert hidden.startswith("hides "), hidden
assert operators.list_hide(effect="fade") == {"FINISHED"}
assert view.tracevis3d.filters.count("name(") == 1
assert "effect=fade" in view.tracevis3d.filters
assert not state.rows[0].hidden
assert operators.list_hide(effect="show") == {"FINISHED"}
assert view.tracevis3d.filters == ""
assert strip.headline.endswith(" 0 % hidden")

# -- patterns: chosen, hidden, promoted --------------------------------------------------------------
state.kind = "patterns"
assert state.total > 10
assert all(row.role == "pattern" for row in state.rows)
exact = state.total
state.criterion = "functions"
assert 0 < state.total != exact
state.criterion = "exact"
state.index = 0
pattern = selection.selected(key)
assert len(pattern) >= 2
assert len({int(calls.extent[c]) for c in pattern.calls.tolist()}) == 1
assert operators.list_hide(effect="hide") == {"FINISHED"}
assert view.tracevis3d.filters == f"alike(call={pattern.calls[0]})"
assert state.rows[0].hidden
assert operators.list_hide(effect="show") == {"FINISHED"}
assert operators.list_promote(name="the first pattern") == {"FINISHED"}

# -- sequences: all calls of an occurrence are chosen, steps go from occurrence to occurrence ------------
state.kind = "sequences"
assert state.summary == f"{state.total:,} sequences"
assert state.total > 10
assert all(row.role == "sequence" for row in state.rows)
state.pattern_sort = "size"
sizes = [int(row.count.replace(",", "")) for row in state.rows]
assert sizes == sorted(sizes, reverse=True)
assert sizes[-1] > 1
state.pattern_sort = "calls"
state.index = 0
sequence = selection.selected(key)
result, _, rest = state.rows[0].detail.partition(" \u00d7 ")
occurrences, callees = int(result.replace(",", "")), int(rest.split()[0].replace(",", ""))
assert len(sequence) == occurrences * callees
starts = sequence.calls.tolist()[::callees]
parents = calls.parent[sequence.calls].reshape(occurrences, callees)
assert all(len(set(row)) == 1 for row in parents.tolist()), "an occurrence has one caller"
assert sequence.active == starts[0]
assert operators.list_step(step="NEXT") == {"FINISHED"}
assert selection.selected(key).active == starts[1]
assert selection.selected(key).calls.tolist() == sequence.calls.tolist()
assert operators.list_hide(effect="hide") == {"FINISHED"}
assert view.tracevis3d.filters.startswith(f"sequence(call={starts[0]}, entries=")
assert state.rows[0].hidden
assert view.tracevis3d_filtered[0].did.startswith("hides ")
assert operators.list_hide(effect="show") == {"FINISHED"}
assert not operators.list_promote.poll(), "the library keeps patterns and functions"
state.kind = "utilities"
scores = [float(row.count) for row in state.rows]
assert scores == sorted(scores, reverse=True)
state.index = 0
utility = state.rows[0].title
assert operators.list_promote() == {"FINISHED"}

# -- the library, on this trace and on another -------------------------------------------------------
state.kind = "library"
assert [row.title for row in state.rows] == ["the first pattern", utility]
assert state.rows[0].count == f"{len(pattern):,}"
assert not operators.list_promote.poll()
state.index = 0
assert selection.selected(key).calls.tolist() == pattern.calls.tolist()
assert operators.import_trace(filepath=str(traces[1])) == {"FINISHED"}
scene = bpy.context.scene
scene.tracevis3d_library = str(place / "library.json")
second = next(v for v in support.views() if v != view)
scene.tracevis3d_view = second
here = second.tracevis3d_lists
here.kind = "library"
assert operators.list_show() == {"FINISHED"}
assert [row.title for row in here.rows] == ["the first pattern", utility]
assert here.rows[0].count != "0", "the other run has the pattern, too"
here.index = 0
assert len(selection.selected(trace_state.keys_of(second)[0])) == int(here.rows[0].count.replace(",", ""))
assert operators.list_hide(effect="hide") == {"FINISHED"}
assert (
    'only="the first pattern"' in second.tracevis3d.filters or "only=the first" in second.tracevis3d.filters
)
assert operators.list_hide(effect="show") == {"FINISHED"}
assert operators.library_use() == {"FINISHED"}
assert second.tracevis3d.filters.startswith("library(file=")
assert second.tracevis3d_filtered[0].did.startswith("hides ")
here.index = 1
assert operators.library_remove() == {"FINISHED"}
assert [row.title for row in here.rows] == ["the first pattern"]
(place / "library.json").write_text("no library")
assert operators.list_show() == {"FINISHED"}
assert "pattern library" in here.summary
assert not len(here.rows)
(place / "library.json").unlink()
second.tracevis3d.filters = ""

# -- going by number ---------------------------------------------------------------------------------
scene.tracevis3d_view = view
tree = view.tracevis3d_tree
tree.levels = 1000
deep = int(calls.depth.argmax())
assert operators.tree_go(to="CALL", number=deep) == {"FINISHED"}
(row,) = [row for row in view.tracevis3d_tree_rows if row.current]
assert row.name.startswith(functions.label[calls.function[deep]])
assert operators.tree_go(to="ROW", number=7) == {"FINISHED"}
rows = list(view.tracevis3d_tree_rows)
assert [tree.row + i for i, row in enumerate(rows) if row.current] == [7]
assert operators.tree_go(to="OFFSET", number=100) == {"FINISHED"}
rows = list(view.tracevis3d_tree_rows)
assert [tree.row + i for i, row in enumerate(rows) if row.current] == [107]
assert 0 < strip.first < strip.last <= strip.calls
support.fails(operators.tree_go, "there is no call", to="CALL", number=2_000_000_000)
support.fails(operators.tree_go, "there is no row", to="ROW", number=2_000_000_000)
before = tree.row
support.extension(".operators.lists.call_tree").scroll_to(view, len(calls) - 1)
assert tree.row > before

# -- filters of single calls act in the list ---------------------------------------------------------
size = int(tree.size.replace(",", ""))
limit = int(np.median(calls.end - calls.start))
operators.filter_edit(name="duration", what="call", values=[{"name": "below", "text": f"{limit}ns"}])
assert int(tree.size.replace(",", "")) < size
short = int(np.count_nonzero(calls.end - calls.start < limit))
assert view.tracevis3d_filtered[0].did.startswith(f"hides {short:,} calls")
assert any(" of " in row.below for row in view.tracevis3d_tree_rows)
tree.show_filtered = True
assert any(row.filtered for row in view.tracevis3d_tree_rows)
tree.show_filtered = False
# What was opened by hand is at the same calls under other filters.
tree.levels = 1
opened = next(row for row in view.tracevis3d_tree_rows if row.sign == "+")
path, name = opened.path, opened.name
operators.tree_click(path=path, part="sign")
assert next(r for r in view.tracevis3d_tree_rows if r.name == name).sign in ("-", "~")
operators.filter_change(do="CLEAR")
assert next(r for r in view.tracevis3d_tree_rows if r.name == name).sign in ("-", "~")

# -- the panels can be drawn, and a saved file has it all --------------------------------------------
state.kind = "model"
selection.select(key, [deep, 7])
assert operators.bookmark_add(name="the deepest call") == {"FINISHED"}
blend, shown = place / "lists.blend", view.name
bpy.ops.wm.save_as_mainfile(filepath=str(blend))
marked = support.extension(".tracevis3d.scene.window.bookmarks").bookmarks_of(blend)
(mark,) = marked
assert (mark["name"], mark["view"]) == ("the deepest call", shown)
assert mark["selections"][key]["calls"] == f"7 {deep}"
assert mark["distance"] > 0
bpy.ops.wm.open_mainfile(filepath=str(blend))
view = next(v for v in support.views() if trace_state.keys_of(v)[0] == key)
bpy.context.scene.tracevis3d_view = view
assert len(view.tracevis3d_lists.rows) == PAGE
view.tracevis3d_lists.index = 0
assert operators.list_step(step="ALL") == {"FINISHED"}, "the trace is found again"
assert len(selection.selected(key)) == int(view.tracevis3d_lists.rows[0].count.replace(",", ""))


class Recorder:
    """Takes what a panel draws, and keeps the texts."""

    def __init__(self, said):
        self.said = said

    def operator(self, name, **keys):
        assert hasattr(operators, name.split(".")[1]), name
        self.said.append(name)
        return SimpleNamespace()

    def __getattr__(self, name):
        return lambda *words, **keys: (self.said.append(str(keys.get("text", ""))), Recorder(self.said))[1]


panels = support.extension(".panels.lists")
context = SimpleNamespace(
    scene=bpy.context.scene,
    region=SimpleNamespace(width=300),
    preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)),
)
for panel, words in (
    (panels.TRACEVIS3D_PT_overview, ["distinct", "hidden"]),
    (panels.TRACEVIS3D_PT_lists, ["functions", "tracevis3d.list_promote", "other function"]),
):
    said = []
    drawn = SimpleNamespace(layout=Recorder(said))
    for name in ("_draw_acts", "_draw_pages"):
        setattr(drawn, name, getattr(panel, name, None) and getattr(panel, name).__get__(drawn))
    panel.draw(drawn, context)
    everything = " ".join(said)
    for word in words:
        assert word in everything, (word, everything)
print("lists: all done")
