"""Three traces compared from the dialog Add View, and the view rebuilt after a change.

``many.py A B C``: three recordings.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import support

paths = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
settings = support.extension(".operators.state.settings")
trace_state = support.extension(".operators.state.trace_state")
operators = bpy.ops.tracevis3d

for path in paths:
    assert operators.import_trace(filepath=path) == {"FINISHED"}
keys = [trace_state.keys_of(view)[0] for view in support.views()]
assert len(set(keys)) == len(paths) == 3
made = operators.add_view(view="compare", trace=keys[0], other=keys[1], more={keys[2]})
assert made == {"FINISHED"}
view = bpy.context.scene.tracevis3d_view
assert trace_state.keys_of(view) == keys
kinds = {shown.get("tracevis3d_kind") for shown in view.objects}
assert {"call", "tube", "similarity", "joined"} <= kinds, kinds
settings.parameters(view).pairs = "A-C"
assert operators.rebuild() == {"FINISHED"}
assert len(view.tracevis3d.sources) == 3
# A view of one trace takes one, whatever else is chosen.
assert operators.add_view(view="icicle", trace=keys[0], other=keys[1], more=set(keys)) == {"FINISHED"}
assert len(bpy.context.scene.tracevis3d_view.tracevis3d.sources) == 1
print("compared three")
