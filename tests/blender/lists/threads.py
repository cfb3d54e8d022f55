"""The threads of a view as a list: ``threads.py TRACE``, a recording of several threads."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

(path,) = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
settings = support.extension(".operators.state.settings")
trace_state = support.extension(".operators.state.trace_state")
operators = bpy.ops.tracevis3d

assert operators.import_trace(filepath=path) == {"FINISHED"}
(key,) = trace_state.keys_of(support.only_view())
assert not support.only_view().tracevis3d_thread_rows
assert operators.add_view(view="threads", trace=key) == {"FINISHED"}
view = bpy.context.scene.tracevis3d_view
group = settings.parameters(view)


def shown():
    rows = sorted((row.place, row.key) for row in view.tracevis3d_thread_rows if row.place >= 0)
    return [key for _, key in rows]


def change(key, do):
    assert operators.thread_change(key=key, do=do) == {"FINISHED"}
    assert operators.rebuild() == {"FINISHED"}


first = shown()
assert len(first) > 3
change(first[2], "MAIN")
assert shown()[0] == first[2]
assert first[0] in shown(), "the main thread until now is among the others"
before = shown()
change(before[2], "DOWN")
assert shown() == [*before[:2], before[3], before[2], *before[4:]]
change(before[3], "HIDE")
assert before[3] not in shown()
assert any(row.key == before[3] and row.place < 0 for row in view.tracevis3d_thread_rows)
change(before[3], "SHOW")
assert before[3] in shown()
assert not group.hide
change(before[1], "FOCUS")
assert group.focus == before[1]
change(before[1], "FOCUS")
assert not group.focus
print("listed", len(view.tracevis3d_thread_rows))
