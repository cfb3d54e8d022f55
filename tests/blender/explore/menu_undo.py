"""Each entry of an element's menu, undone: parameters, filters, selection and what is drawn are as before.

``menu_undo.py TRACE OTHER``
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

given, other_given = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
selection, sources = (
    support.extension(".operators.state.selection"),
    support.extension(".operators.state.sources"),
)
settings, trace_state = (
    support.extension(".operators.state.settings"),
    support.extension(".operators.state.trace_state"),
)
elements = support.extension(".tracevis3d.views.calls.actions")
element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
operators = bpy.ops.tracevis3d

assert operators.import_trace(filepath=other_given) == {"FINISHED"}
(other_key,) = trace_state.keys_of(support.only_view())
assert operators.import_trace(filepath=given) == {"FINISHED"}
name = bpy.context.scene.tracevis3d_view.name
(key,) = trace_state.keys_of(bpy.data.collections[name])
trace = sources.loaded(key)
call = int((trace.calls.depth == 4).nonzero()[0][0])


def content():
    """Return what a person sees of the state."""
    found = []
    for view in sorted(support.views(), key=lambda v: v.name):
        values = tuple(settings.values(view).items())
        drawn = tuple(
            sorted(
                (o.name, len(o.data.vertices), tuple(o.data.get("tracevis3d_calls", ())), o.hide_viewport)
                for o in view.objects
                if o.type == "MESH"
            )
        )
        ids = tuple(
            tuple(h.id.tolist())
            for h in map(element_metadata.pickable_mesh, view.objects)
            if h is not None and h.kind == "call"
        )
        found.append((view.name, view.tracevis3d.filters, view.tracevis3d.stale, values, drawn, ids))
    chosen = [selection.selected(k) for k in (key, other_key)]
    found.append([(c.calls.tolist(), c.active, c.time_range) for c in chosen])
    found.append(bpy.context.scene.tracevis3d_view.name)
    return found


def undone(operator, **words):
    """Run one operator on the call, undo it, redo it and undo it again."""
    before = content()
    result = getattr(operators, operator)(view=name, trace=key, call=str(call), **words)
    assert result == {"FINISHED"}, operator
    bpy.ops.ed.undo_push(message=operator)
    after = content()
    assert after != before, (operator, "changes nothing")
    bpy.ops.ed.undo()
    assert content() == before, operator
    bpy.ops.ed.redo()
    assert content() == after, operator
    bpy.ops.ed.undo()
    assert content() == before, operator
    done.append((operator, *words.values()))


done = []
bpy.ops.ed.undo_push(message="start")
undone("zoom_to_subtree")
for kind, _, _ in elements.WHAT:
    # The trace has one thread: all of it is that thread's, and a view of nothing can't be drawn.
    if kind != "THREAD":
        undone("hide", what=kind)
        undone("show_only", what=kind)
for kind in ("level", "module"):
    undone("pull_apart", what=kind)
undone("mark_utility")
undone("find_similar")
undone("select_function")
undone("compare_from_here", other=other_key)
# What shows everything again has something to show again.
assert operators.zoom_to_subtree(view=name, trace=key, call=str(call)) == {"FINISHED"}
assert operators.hide(view=name, trace=key, call=str(call + 1)) == {"FINISHED"}
bpy.ops.ed.undo_push(message="zoomed")
undone("show_all")
# In a comparison it is the focus that changes.
assert operators.add_view(view="compare", trace=key, other=other_key) == {"FINISHED"}
name = bpy.context.scene.tracevis3d_view.name
bpy.ops.ed.undo_push(message="compared")
undone("compare_from_here")
# Nothing of the time before stays in an operator that is called without it.
assert operators.compare_from_here(call=str(call)) == {"FINISHED"}
assert sum(view.tracevis3d.view == "compare" for view in support.views()) == 1
assert bpy.data.collections[name].tracevis3d.compare.focus == f"A:{call}"
assert bpy.data.collections[name].tracevis3d.compare.moment == "matches"

# Copied as Python, the script runs in a plain interpreter and renders: the caller runs what lies there.
script = support.extension(".operators.explore.script")
text = script.script_of(bpy.data.collections[name], bpy.context.scene)
assert f"focus='A:{call}'" in text, text
before = content()
assert operators.copy_as_python(view=name) == {"FINISHED"}
assert content() == before
print("SCRIPT", repr(text))
print("undone", len(done))
