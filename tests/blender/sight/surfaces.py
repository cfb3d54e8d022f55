"""What of lit elements can be seen, from the meshes of a view: ``surfaces.py TRACE``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

(trace_file,) = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
assert bpy.ops.tracevis3d.import_trace(filepath=trace_file, view="icicle") == {"FINISHED"}
pointer = support.extension(".operators.explore.pointer")
visible = support.extension(".tracevis3d.layout.sight.visible")
framing = support.extension(".tracevis3d.layout.sight.framing")
surfaces_of = support.extension(".tracevis3d.scene.window.visible").surfaces_of

present = pointer.shown_in(bpy.context.scene)
name, holds = next((shown.name, holds) for _, shown, holds in present if holds.kind == "call")
widest = np.sort(holds.widest(5))
parts = [
    (each, np.array(shown.matrix_world), widest if shown.name == name else np.empty(0, np.int64))
    for _, shown, each in present
]
surfaces = surfaces_of(parts)
assert surfaces.lit.sum() == 12 * len(widest)
assert len(surfaces.triangle) > surfaces.lit.sum()

# The best view is from the front: what the calls carry hides their upper sides alone.
low, high = holds.bounds(widest)
box = low.min(axis=0), high.max(axis=0)
near, far = 0.1, 500.0
window = np.zeros((4, 4))
window[0, 0], window[1, 1], window[3, 2] = 2.0, 3.0, -1.0
window[2, 2], window[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
lens = framing.Lens.of(window, True, 10.0)
front = visible.axes_from((0.0, -1.0, 0.0))
axes, share = visible.best_direction(surfaces, box, lens, framing.Region(900, 600), front)
assert share > 0.5, share
assert axes[0] @ front[0] > 0, "time runs to the left"

# What can't hide anything lit is left out, and changes nothing.
window_module = support.extension(".tracevis3d.scene.window.visible")
projection = support.extension(".tracevis3d.layout.sight.view_projection").ViewProjection
for direction in ((0.0, -1.0, 0.0), (0.4, -1.0, 0.6), (-0.8, -0.5, 0.3)):
    eye = np.eye(4)
    right, up, forward = visible.axes_from(direction)
    eye[:3, :3] = np.stack([right, up, -forward])
    eye[:3, 3] = -eye[:3, :3] @ ((box[0] + box[1]) / 2 - 40.0 * forward)
    seen_from = projection.of(window @ eye, 900, 600)
    wanted = visible.visible_share(surfaces, seen_from)
    assert window_module.share_in_sight(parts, seen_from) == wanted, (direction, wanted)

# What is cut away hides nothing, and is not there itself.
left = surfaces_of(parts, (-np.inf,) * 3, (float(box[0][0]) - 1.0, np.inf, np.inf))
assert not left.lit.any()
print("surfaces")
