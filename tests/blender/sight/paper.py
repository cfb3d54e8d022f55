"""The paper's picture of threads in a real window, by simulated mouse: ``paper.py TRACE FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``split``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

trace, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    explore = ".operators.explore."
    state = support.extension(explore + "overlay").state
    pointer, drop = support.extension(explore + "pointer"), support.extension(explore + "motion.drop")
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    at = support.Window()
    at.show(trace, "threads")
    yield support.at_rest()
    view = support.only_view()
    group = view.tracevis3d.threads
    with at.inside():
        group.paper, group.aggregates = 1.0, "all"
        assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
    (rows,) = (o for o in view.objects if o.get("tracevis3d_kind") == "row")
    corners = np.array([(np.array(rows.matrix_world) @ [*corner, 1.0])[:3] for corner in rows.bound_box])
    at.area.spaces.active.show_region_ui = False
    at.eye.view_perspective, at.eye.view_rotation = "ORTHO", (0.70710678, 0.70710678, 0.0, 0.0)
    at.eye.view_location = ((corners.min(axis=0) + corners.max(axis=0)) / 2).tolist()
    at.eye.view_distance = 2.4 * float(np.ptp(corners, axis=0).max())
    yield support.at_rest()
    at.explore()
    yield support.at_rest()

    def parts(kind):
        return [o for o in view.objects if o.get("tracevis3d_kind") == kind]

    def over(kind, element, share=(0.5, 0.5, 0.5)):
        """Return the pixel of a place within an element's box."""
        for shown in parts(kind):
            holds = element_metadata.pickable_mesh(shown)
            low, high = holds.bounds(np.array([element]))
            point = low.reshape(3) + (high - low).reshape(3) * share
            return at.pixel((np.array(shown.matrix_world) @ [*point, 1.0])[:3])
        raise AssertionError(f"there is no {kind}")

    def met(x, y):
        x, y = x - at.region.x, y - at.region.y
        hit = pointer.under(bpy.context, at.region, at.area.spaces.active, x, y)
        return hit.kind if hit else ""

    def said():
        return [line for one in state.descriptions for line in one.lines()]

    def drag(start, stop, name):
        at.move(*start)
        yield support.at_rest()
        at.send("LEFTMOUSE", "PRESS", *start)
        for share in (0.2, 0.6, 1.0):
            yield 0.15
            at.move(start[0] + share * (stop[0] - start[0]), start[1] + share * (stop[1] - start[1]))
        yield support.at_rest()
        assert drop.is_held()
        support.screenshot(place / f"{name}.png")
        at.send("LEFTMOUSE", "RELEASE", *stop)

    # The splitter is dragged down: the main thread gets more room.
    support.screenshot(place / "paper.png")
    x, y = over("splitter", 1)
    assert met(x, y) == "splitter", met(x, y)
    yield from drag((x, y), (x, y - 60), "paper_splitter")
    yield lambda: group.split > 0.0
    assert group.split > 0.2, group.split
    yield support.at_rest()
    support.screenshot(place / "paper_split.png")
    assert over("splitter", 1)[1] < y - 20

    # One thread's sphere is dropped on another's: they are swapped.
    def spheres():
        (shown,) = parts("thread")
        holds = element_metadata.pickable_mesh(shown)
        return [int(i) for i in holds.id]

    before = spheres()
    yield from drag(over("thread", 2), over("thread", 6), "paper_swap")
    yield lambda: spheres() != before
    after = spheres()
    assert sorted(after) == sorted(before)
    assert (after[2], after[6]) == (before[6], before[2]), (before, after)
    yield support.at_rest()

    # A double click on a sphere makes that thread the main one.
    x, y = over("thread", 3)
    at.move(x, y)
    yield support.at_rest()
    at.press("LEFTMOUSE", x, y)
    at.press("LEFTMOUSE", x, y)
    yield lambda: spheres()[0] == after[3]
    yield support.at_rest()
    support.screenshot(place / "paper_main.png")

    # Dropped nowhere, a thread stays, and a sentence says what to do.
    kept = spheres()
    yield from drag(over("thread", 2), at.placed((5, at.region.height // 2)), "paper_nowhere")
    yield lambda: "swap" in state.message
    assert spheres() == kept

    # Merged waits say how many they are; a wait says what it is for, and what is for the same lights up.
    for kind, word in (("aggregated", "longest"), ("correspondence", "waiting thread")):
        found = False
        for shown in parts(kind):
            holds = element_metadata.pickable_mesh(shown)
            for k in range(len(holds)):
                for share in ((0.5, 0.5, 0.5), (0.3, 0.5, 0.3), (0.7, 0.5, 0.7)):
                    x, y = over(kind, k, share)
                    if at.is_free(x, y) and met(x, y) == kind:
                        at.move(x, y)
                        yield support.soon(lambda word=word: any(word in line for line in said()))
                        found = any(word in line for line in said())
                        break
                if found:
                    break
        assert found or not parts(kind), (kind, said())
        if found:
            yield support.at_rest()
            support.screenshot(place / f"paper_{kind}.png")


support.drive(main(), place, "split", patience=60.0)
