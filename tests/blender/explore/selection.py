"""The selection of a trace: kept in the .blend, one for all its views, undone; in Blender's module."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

(place,) = map(Path, support.arguments())
support.enable()
selection = support.extension(".operators.state.selection")
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
result = []
support.extension(".operators.signals").on_select.connect(result.append)
bpy.ops.ed.undo_push(message="start")

assert not selection.selected("a")
assert selection.select("a", [7, 9, 8, 3_000_000_000]) == 0
got = selection.selected("a")
assert got.calls.tolist() == [7, 8, 9, 3_000_000_000]
assert got.active == 7
assert result == ["a"]
selection.select("a", np.array([9, 7, 8, 3_000_000_000]), active=7)
assert result == ["a"], "informed of a change that is none"
bpy.ops.ed.undo_push(message="select")
selection.select("a", [1], time_range=(9_000_000_000_000, 5), extend=True)
got = selection.selected("a")
assert got.calls.tolist() == [1, 7, 8, 9, 3_000_000_000]
assert got.active == 1
assert got.time_range == (5, 9_000_000_000_000)
assert not selection.selected("b")
bpy.ops.ed.undo_push(message="add")
bpy.ops.ed.undo()
assert selection.selected("a").calls.tolist() == [7, 8, 9, 3_000_000_000]
bpy.ops.ed.redo()
assert len(selection.selected("a")) == 5
assert "" in result, "not informed of undo"
selection.deselect("a", [1, 8])
got = selection.selected("a")
assert got.calls.tolist() == [7, 9, 3_000_000_000]
assert got.active == 3_000_000_000
assert selection.select("b", np.arange(selection.MOST + 5)) == 5

# What is hovered is not in the file; what is selected is.
result.clear()
selection.hover({"a": np.array([3])})
selection.hover({"a": np.array([3])})
selection.hover({"b": np.array([1])})
assert result.count("a") == 2
assert selection.hovered("b").tolist() == [1]
path = place / "selection.blend"
bpy.ops.wm.save_as_mainfile(filepath=str(path))
bpy.ops.wm.read_homefile(use_empty=True, app_template="")
assert not selection.selected("a")
assert not len(selection.hovered("b"))
bpy.ops.wm.open_mainfile(filepath=str(path))
assert selection.selected("a").calls.tolist() == [7, 9, 3_000_000_000]
assert len(selection.selected("b")) == selection.MOST
assert not any(c.name == ".TraceVis3D" for c in bpy.context.scene.collection.children_recursive)
