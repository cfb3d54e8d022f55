"""What differs between two traces, in the window's list: ``differences.py A B``, which differ.

Two files imported at once are compared; a list says what differs, each line leads there; *Draw Alone* and
back; undo; two views of one trace each are compared by a button.
"""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

a, b = map(Path, support.arguments())
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
operators = bpy.ops.tracevis3d
differences = support.extension(".operators.lists.differences")
listing = support.extension(".tracevis3d.features.comparison.differences")
selection = support.extension(".operators.state.selection")
settings = support.extension(".operators.state.settings")
trace_state = support.extension(".operators.state.trace_state")
overlay = support.extension(".operators.explore.overlay")
element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
api = support.extension(".tracevis3d.api")


def chosen():
    """Return the calls that are selected in both traces of the active view."""
    view = bpy.context.scene.tracevis3d_view
    return [selection.selected(key).calls.tolist() for key in trace_state.keys_of(view)]


# Two files at once are one comparison, with its list.
assert not operators.find_differences.poll()
files = [{"name": path.name} for path in (a, b)]
assert operators.import_trace(directory=str(a.parent), files=files) == {"FINISHED"}
view = support.only_view()
scene = next(s for s in bpy.data.scenes if view in s.collection.children_recursive)
if bpy.context.window is not None:
    bpy.context.window.scene = scene
assert view.tracevis3d.view == "compare"
story = api.explain(api.load(a), api.load(b), top=listing.MOST)
assert len(story) >= 2
assert [row.sentence for row in view.tracevis3d_differences] == story.sentences
assert view.tracevis3d_difference == -1
assert not operators.difference_draw.poll(), "nothing is chosen yet"
bpy.ops.ed.undo_push(message="imported")

# Each line selects the calls that show it, and says it.
for number, finding in enumerate(story.findings.found):
    assert operators.difference_step(step="NEXT") == {"FINISHED"}
    view = support.only_view()
    assert view.tracevis3d_difference == number
    for calls, example in zip(chosen(), finding.examples, strict=True):
        assert example < 0 or example in calls, (number, example, calls)
        assert example >= 0 or not calls or len(finding.nodes)
    heading, sentence, about = overlay.state.banner
    assert heading.startswith(f"{number + 1} of {len(story)} ")
    assert sentence == story.sentences[number]
    assert all(selection.revision(key) == revision for key, revision in about)
    # The box that is flown to holds what is drawn of these calls.
    spans = [selection.read_range(text) for text in differences.of(view).spans.split("|")]
    about = [s for s, calls in enumerate(chosen()) if calls] or [0, 1]
    low, high = differences.box_of(view, spans, about)
    assert (low < high).all()
    for shown in view.objects:
        holds = element_metadata.pickable_mesh(shown)
        if holds is None or holds.kind != "call" or holds.source not in about:
            continue
        for i in np.flatnonzero(np.isin(holds.id, chosen()[holds.source])):
            # Where it begins: it may last longer than the time that is gone to.
            middle = np.array(shown.matrix_world) @ [*(holds.low[i] + holds.size[i] * [0.0, 0.5, 0.5]), 1.0]
            time = spans[holds.source]
            begin = holds.window[0] + holds.time[i, 0] * (holds.window[1] - holds.window[0])
            if time is None or time[0] <= begin <= time[1]:
                assert (middle[:3] >= low - 1e-3).all(), (number, middle, low)
                assert (middle[:3] <= high + 1e-3).all(), (number, middle, high)
assert operators.difference_step(step="NEXT") == {"CANCELLED"}
assert view.tracevis3d_difference == len(story) - 1
# Once something else is selected the words go.
other = next(call for call in range(7) if [call] != sorted(chosen()[0]))
selection.select(trace_state.keys_of(view)[0], [other])
assert not all(selection.revision(key) == revision for key, revision in overlay.state.banner[2])

# A click on a line is the same; drawn alone it has the figure's parameters, and all others' are taken back.
usual = settings.values(view)
for number in (0, len(story) - 1):
    view.tracevis3d_difference = number
    assert operators.difference_draw() == {"FINISHED"}
    view = support.only_view()
    now, wanted = settings.values(view), json.loads(differences.of(view).wanted)
    assert now["caption"] == wanted["caption"]
    assert now["mark"] == wanted.get("mark", "")
    assert now["start_a"] == wanted.get("start_a", "")
    assert not view.tracevis3d.stale
bpy.ops.ed.undo_push(message="alone")
assert operators.difference_draw(whole=True) == {"FINISHED"}
view = support.only_view()
assert settings.values(view) == usual
bpy.ops.ed.undo_push(message="whole")
bpy.ops.ed.undo()
assert settings.values(support.only_view())["caption"] == wanted["caption"]
bpy.ops.ed.undo()
view = support.only_view()
assert settings.values(view) == usual
assert len(view.tracevis3d_differences) == len(story)

# Searched for again, with another threshold, it is another list.
view.tracevis3d.compare.tau = 0.9
assert operators.find_differences() == {"FINISHED"}
view = support.only_view()
other = api.explain(api.load(a), api.load(b), top=listing.MOST, tau=0.9)
assert [row.sentence for row in view.tracevis3d_differences] == other.sentences

# One by one: the panel's button compares what the scene has.
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
assert not operators.compare_traces.poll()
assert operators.import_trace(filepath=str(a)) == {"FINISHED"}
scene = bpy.context.scene
support.fails(operators.compare_traces, "import another one")
assert operators.import_trace(filepath=str(b)) == {"FINISHED"}
assert not differences.is_compared(bpy.context.scene)
assert operators.compare_traces() == {"FINISHED"}
assert differences.is_compared(bpy.context.scene)
view = bpy.context.scene.tracevis3d_view
keys = [trace_state.keys_of(each)[0] for each in support.views() if each != view]
assert sorted(trace_state.keys_of(view)) == sorted(keys)
assert len(view.tracevis3d_differences) == len(story)
support.fails(operators.compare_traces, "Two traces of this scene", a=keys[0], b="0" * 64)

# Both views of one trace each are wanted after all.
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
assert operators.import_trace(directory=str(a.parent), files=files, compare=False) == {"FINISHED"}
assert [view.tracevis3d.view for view in support.views()] == ["icicle", "icicle"]

# Of recordings without calls there is nothing to compare: each is drawn by itself.
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
place = Path(tempfile.mkdtemp(prefix="tracevis3d-"))
for name, size in (("one", 1340), ("two", 2680)):
    rows = [f"{i}\t1\t{4096 * i + 65536:#x}\t{size + i}\tMALLOC\t1" for i in range(40)]
    head = "# total_allocations 40 peak_memory 80000\n# seq\ttid\taddress\tsize\tallocator\tstack_id\n"
    (place / f"{name}.records.tsv").write_text(head + "\n".join(rows) + "\n")
    (place / f"{name}.stacks.tsv").write_text("1\tgrow (/made/up.py:7);main (/made/up.py:1)\n")
files = [{"name": f"{name}.records.tsv"} for name in ("one", "two")]
assert operators.import_trace(directory=str(place), files=files, view="memory") == {"FINISHED"}
assert [view.tracevis3d.view for view in support.views()] == ["memory", "memory"]
print("listed")
