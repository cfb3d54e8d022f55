"""Threads and memory of one program on one clock: ``same_clock.py TRACE``, of a recording of both."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

(trace,) = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
operators = bpy.ops.tracevis3d
related, pointer = (
    support.extension(".operators.explore.related"),
    support.extension(".operators.explore.pointer"),
)
selection, trace_state = (
    support.extension(".operators.state.selection"),
    support.extension(".operators.state.trace_state"),
)

assert operators.import_trace(filepath=trace, view="threads") == {"FINISHED"}
threads = support.only_view()
threads.tracevis3d.threads.start, threads.tracevis3d.threads.end = "20ms", "80ms"
assert operators.rebuild() == {"FINISHED"}
assert operators.memory_above(view=threads.name) == {"FINISHED"}
(memory,) = (view for view in support.views() if view.tracevis3d.view == "memory")
assert (memory.tracevis3d.memory.start, memory.tracevis3d.memory.end) == ("20ms", "80ms")

# One above the other, equal times at equal places, and both in sight.
low, high = threads.tracevis3d.place, memory.tracevis3d.place
assert high[2] > low[2], (list(low), list(high))
assert abs(high[0] - low[0]) < 1e-6
assert bpy.context.scene.tracevis3d_overview


def wide(view, kind):
    shown = next(o for o in view.objects if o.get("tracevis3d_kind") == kind)
    corners = np.array([(np.array(shown.matrix_world) @ [*c, 1.0])[:3] for c in shown.bound_box])
    return corners[:, 0].min(), corners[:, 0].max()


# What is selected in one view lights up in the other.
(key,) = trace_state.keys_of(threads)
present = pointer.shown_in(bpy.context.scene)
of_threads = [
    entry for entry in present if entry[1].name in threads.objects and entry[1]["tracevis3d_kind"] == "call"
]
calls = next(iter(of_threads))[2].id[:50]
selection.select(key, [int(call) for call in calls])
lit = related.of_selection(present)
views = {view.name for view in support.views() for shown in view.objects if shown.name in lit}
support.say(lit={name: len(found) for name, found in lit.items()}, views=sorted(views))
assert threads.name in views

# From the memory back to the threads, and a trace without memory says what to do.
before = len(support.views())
assert operators.threads_above(view=memory.name) == {"FINISHED"}
assert len(support.views()) == before + 1
print("on one clock")
