"""Whatever can't be done says why, in a sentence, in every state of the file: ``reasons.py TRACE OTHER``."""

import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

trace, other = support.arguments()
support.enable()
operators = bpy.ops.tracevis3d
Task = support.extension(".operators.task").Task
said = {}


def ours():
    """Return the names of all operators of the extension."""
    return sorted(name for name in dir(operators) if not name.startswith("_"))


def ask(state):
    """Assert that each operator can be called, or says why not; returns those that can't."""
    refused = []
    for name in ours():
        operator = getattr(operators, name)
        if operator.poll():
            continue
        refused.append(name)
        try:
            operator()
        except RuntimeError as error:
            sentence = str(error).split(".poll()", 1)[1].strip()
        else:
            raise AssertionError(f"{name} ran though it can't")
        assert "context is incorrect" not in sentence, f"{state}: {name} doesn't say why it is greyed out"
        assert len(sentence) > 12, (state, name, sentence)
        said.setdefault(sentence, []).append(name)
    return refused


assert len(ours()) > 40, ours()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
refused = ask("an empty file")
assert {"rebuild", "explore", "find_differences", "compare_traces", "search_step"} <= set(refused)
assert operators.import_trace(filepath=trace) == {"FINISHED"}
assert {"find_differences", "compare_traces", "difference_step"} <= set(ask("a view"))
Task.current = SimpleNamespace(done=0.5, state="reading")
assert "rebuild" in ask("something is being read")
Task.current = None
cube = bpy.data.objects.new("cube", bpy.data.meshes.new("cube"))
bpy.context.scene.collection.objects.link(cube)
bpy.context.view_layer.objects.active = cube
bpy.ops.object.mode_set(mode="EDIT")
assert {"rebuild", "import_trace", "explore"} <= set(ask("edit mode"))
bpy.ops.object.mode_set(mode="OBJECT")
assert operators.import_trace(filepath=other) == {"FINISHED"}
assert operators.compare_traces() == {"FINISHED"}
refused = ask("a comparison")
assert not {"find_differences", "difference_step", "rebuild", "overview"} & set(refused)
assert "difference_draw" in refused
for sentence in said:
    print("SAID", sentence)
