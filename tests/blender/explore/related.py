"""What lights up with a call: same function, same class, same call tree, its matches, its waits and releases.

``related.py TRACE OTHER THREADED``
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

trace_file, other_file, threaded_file = support.arguments()
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
operators = bpy.ops.tracevis3d
related, pointer = (
    support.extension(".operators.explore.related"),
    support.extension(".operators.explore.pointer"),
)
background = support.extension(".operators.explore.background").background
sources, trace_state = (
    support.extension(".operators.state.sources"),
    support.extension(".operators.state.trace_state"),
)
words = support.extension(".operators.explore.tooltip")
clustering = support.extension(".tracevis3d.views.calls.clusters")


def drawn(view, present):
    """Return name of an object of a view -> what it holds, of those that stand for calls."""
    return {shown.name: holds for holder, shown, holds in present if holder == view and holds.shows_calls}


assert operators.import_trace(filepath=trace_file) == {"FINISHED"}
(view,) = support.views()
(key,) = trace_state.keys_of(view)
trace = sources.loaded(key)
calls, functions = trace.calls, trace.functions
scene = bpy.context.scene
present = pointer.shown_in(scene)
boxes = {name: holds for name, holds in drawn(view, present).items() if holds.kind == "call"}

# A method whose class has others that are drawn: these, and no others, are related.
(name, holds), *_ = boxes.items()
container = functions.container[holds.fact("function")]
found = [
    c
    for c in np.unique(container[container >= 0])
    if len(np.unique(holds.fact("function")[container == c])) > 1
]
assert found, "no class has two functions that are drawn"
one = int(holds.id[np.flatnonzero(container == found[0])[0]])
lit = related.of(present, {key: np.array([one])}, {"CLASS"})[name]
both = set(lit.related.tolist()) | set(lit.same.tolist())
assert both == set(np.flatnonzero(container == found[0]).tolist())
alone = related.of(present, {key: np.array([one])}, {"FUNCTION"})[name]
assert len(alone.related) < len(lit.related)

# Calls whose call trees are the same, found by a plain comparison of the trees' functions in order.
while (label := background.subtree_classes(trace)) is None:
    pass
ids = holds.id


def tree(call):
    stop = call + int(calls.extent[call])
    depth = calls.depth[call:stop] - calls.depth[call]
    return calls.function[call:stop].tobytes(), depth.tobytes()


for one in ids[np.argsort(calls.extent[ids])][:: max(len(ids) // 12, 1)].tolist():
    lit = related.of(present, {key: np.array([one])}, {"ALIKE"})[name]
    wanted = {i for i, call in enumerate(ids.tolist()) if tree(call) == tree(one)}
    assert set(lit.related.tolist()) | set(lit.same.tolist()) == wanted, one
    assert set(lit.same.tolist()) == {i for i in wanted if ids[i] == one}

# A match: the call on the other side, and the tubes between; asked from either side.
assert operators.import_trace(filepath=other_file) == {"FINISHED"}
assert operators.compare_traces() == {"FINISHED"}
compare = bpy.context.scene.tracevis3d_view
keys = trace_state.keys_of(compare)
present = pointer.shown_in(bpy.context.scene)
mine = drawn(compare, present)
tubes = {name: holds for name, holds in mine.items() if not holds.is_boxes and set(holds.calls) == {0, 1}}
assert tubes
tried = 0
for tube, holds in tubes.items():
    for i in range(0, len(holds), max(len(holds) // 10, 1)):
        ends = [int(holds.calls[s][i]) for s in (0, 1)]
        for side in (0, 1):
            lit = related.of(present, {keys[side]: np.array([ends[side]])}, {"MATCH"})
            assert i in lit[tube].matched
            for name, found in lit.items():
                box = mine.get(name)
                if box is None or box.kind != "call" or box.source == side:
                    continue
                shown = np.flatnonzero(box.id == ends[1 - side])
                assert set(shown.tolist()) <= set(found.matched.tolist())
                tried += len(shown)
        assert (
            not related.of(present, {keys[0]: np.array([ends[0]])}, {"FUNCTION"})
            .get(tube, support.extension(".tracevis3d.views.linking.lit").Lit())
            .matched.size
        )
assert tried > 3, "no match leads to a call that is drawn"

# A wait and the release that ends it: what leads from one to the other lights up with the wait.
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
assert operators.import_trace(filepath=threaded_file, view="threads") == {"FINISHED"}
(view,) = support.views()
(key,) = trace_state.keys_of(view)
present = pointer.shown_in(bpy.context.scene)
ways = [holds for holds in drawn(view, present).values() if holds.kind == "correspondence"]
assert ways
holds = ways[0]
waiting = holds.calls[0][:1]
lit = related.of(present, {key: waiting}, {"MATCH"})
name = next(name for name, each in drawn(view, present).items() if each is holds)
assert 0 in lit[name].matched
assert name not in related.of(present, {key: waiting}, set()) or not len(
    related.of(present, {key: waiting}, set())[name].matched
)
# And it says of which wait it is, and how long that was.
hit = pointer.Hit(view.name, name, holds, 0, np.zeros(3), np.zeros(3))
(description,) = words.describe_hit(hit)
rows = dict(description.rows)
assert rows["shown as"] == "correspondence"
assert rows["waited"]

# A thread's cluster tells how many calls it holds, as the trace counts them.
trace = sources.loaded(key)
calls = trace.calls
clusters = {n: h for n, h in drawn(view, present).items() if h.kind == "cluster" and not h.is_boxes}
counted = 0
for name, holds in clusters.items():
    for i in range(0, len(holds), max(len(holds) // 20, 1)):
        hit = pointer.Hit(view.name, name, holds, i, np.zeros(3), np.zeros(3))
        low, high = hit.picked.span
        slack = 1e-6 * (holds.window[1] - holds.window[0])
        inside = (
            (calls.thread == holds.fact("thread")[i])
            & (calls.depth >= holds.fact("depth")[i])
            & (calls.start >= low - slack)
            & (calls.start <= high + slack)
        )
        many = clustering.calls_inside(trace, hit.picked)
        assert 1 <= many <= np.count_nonzero(inside), (name, i, many, np.count_nonzero(inside))
        counted += many
assert counted > 0
print("lit")
