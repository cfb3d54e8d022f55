"""Plug-ins in the extension, good and broken ones: ``plugins.py FOLDER TRACE PICTURE BROKEN``."""

import json
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

*paths, count = support.arguments()
folder, trace, picture = map(Path, paths)
support.enable()
preferences = bpy.context.preferences.addons[support.NAME].preferences
assert preferences.plugins == ""
preferences.plugins = str(folder)
# Blender's timers run in its window's loop; what they would call is called here.
reload = support.extension(".operators.preferences")._reload
assert bpy.app.timers.is_registered(reload)
bpy.app.timers.unregister(reload)
reload()

found = support.extension(".tracevis3d.plugins")
sentences = found.broken()
assert len(sentences) == int(count), sentences
assert all("Traceback" not in s and "\n" not in s for s in sentences)
registry = support.extension(".tracevis3d.views.registry")
view = registry.find("function_bars")
# One copy: the plug-in's view is this library's, whatever it imported.
assert isinstance(view, support.extension(".tracevis3d.views.view").View)
# Menus show its icon; one that this Blender lacks is left out.
numbered = support.extension(".operators.enum_items").numbered
assert [item[3] for item in numbered([view, replace(view, icon="NO SUCH ICON")])] == ["SEQ_HISTOGRAM", "NONE"]
filters = support.extension(".operators.lists.filters")._name_items(None, None)
assert [item[3] for item in filters if item[0] == "recursion"] == ["LOOP_FORWARDS"]
assert [item[4] for item in filters] == list(range(len(filters)))
# Number 0 is the default: the view that suits the trace.
views = support.extension(".operators.views.import_trace")._view_items(None, None)
assert (views[0][1], views[0][4]) == ("Automatic", 0)
assert [item[4] for item in views] == list(range(len(views)))
assert bpy.ops.tracevis3d.import_trace(filepath=str(trace), view="function_bars") == {"FINISHED"}
made = support.only_view()
assert made.tracevis3d.view == "function_bars"
assert made.tracevis3d.function_bars.functions == 12
made.tracevis3d.function_bars.functions = 5
made.tracevis3d.engine = "workbench"
made.tracevis3d.filters = "recursion(least=2)"
assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
facts = {fact.label: fact.text for fact in support.only_view().tracevis3d.facts}
scene = bpy.context.scene
scene.render.resolution_x, scene.render.resolution_y = 480, 270
assert bpy.ops.tracevis3d.render_image(filepath=str(picture)) == {"FINISHED"}
support.is_picture(picture, 480, 270)
# The action that the plug-in declares is an operator like ours.
assert bpy.ops.tracevis3d.more_functions() == {"FINISHED"}
assert support.only_view().tracevis3d.function_bars.functions == 10

# The command that it declares is one of Blender's command line too.
assert support.extension(".tracevis3d.cli").main(["busiest", str(trace), "--most", "2", "--quiet"]) == 0

# Its format, through the importer.
rows = [{"thread": "main", "name": f"f{i % 3}", "start_us": 10 * i, "end_us": 10 * i + 7} for i in range(50)]
lines = folder / "run.jsonl"
lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
assert bpy.ops.tracevis3d.import_trace(filepath=str(lines), place="OWN") == {"FINISHED"}
assert [v.tracevis3d.sources[0].format for v in support.views()].count("jsonl") == 1

# Without the folder it is gone, the rest stays; a view of it says so in a sentence.
preferences.plugins = ""
bpy.app.timers.unregister(reload)
reload()
assert "function_bars" not in registry.names()
assert not found.broken()
assert bpy.ops.tracevis3d.import_trace(filepath=str(trace), place="OWN") == {"FINISHED"}
support.say(facts=facts, broken=sentences)
