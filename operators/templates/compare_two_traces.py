"""Import two traces, compare them, and explain where they differ most, stop by stop."""

import bpy

TRACES = [bpy.path.abspath("//before.json.gz"), bpy.path.abspath("//after.json.gz")]

keys = []
for path in TRACES:
    bpy.ops.tracevis3d.import_trace(filepath=path)
    source = bpy.context.scene.tracevis3d_view.tracevis3d.sources[0]
    keys.append(source.hash or source.path)

bpy.ops.tracevis3d.add_view(view="compare", trace=keys[0], other=keys[1])
bpy.ops.tracevis3d.explain(top=3)
for marker in sorted(bpy.context.scene.timeline_markers, key=lambda marker: marker.frame):
    print(marker.frame, marker.name)
