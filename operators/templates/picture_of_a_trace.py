"""Import a trace, choose how it is shown, and render a picture."""

import bpy

TRACE = bpy.path.abspath("//trace.json.gz")
PICTURE = bpy.path.abspath("//trace.png")

bpy.ops.tracevis3d.import_trace(filepath=TRACE, view="icicle", style="paper")
view = bpy.context.scene.tracevis3d_view

# The parameters have the names that "tracevis3d views icicle" and the tooltips of the panel show.
view.tracevis3d.icicle.color = "function"
view.tracevis3d.icicle.relief = 0.5
bpy.ops.tracevis3d.rebuild()

scene = bpy.context.scene
scene.render.resolution_x, scene.render.resolution_y = 1920, 1080
bpy.ops.tracevis3d.render_image(filepath=PICTURE)
