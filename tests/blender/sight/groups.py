"""A row that several threads share opens by a double click in a real window: ``groups.py TRACE FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``opened``.
"""

import sys
from collections import Counter
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

trace, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    pointer = support.extension(".operators.explore.pointer")
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    at = support.Window()
    at.show(trace, "threads")
    yield support.at_rest()
    view = support.only_view()
    group = view.tracevis3d.threads
    with at.inside():
        group.groups = "always"
        assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
    at.area.spaces.active.show_region_ui = False
    yield support.at_rest()
    at.explore()
    yield support.at_rest()

    def rows():
        """Return the threads whose spheres stand beside the rows."""
        (shown,) = (o for o in view.objects if o.get("tracevis3d_kind") == "thread")
        return [int(i) for i in element_metadata.pickable_mesh(shown).id]

    def met(x, y):
        x, y = x - at.region.x, y - at.region.y
        return pointer.under(bpy.context, at.region, at.area.spaces.active, x, y)

    # Looked for all over the 3D view: what a hand can reach, and not what a box is computed to hold.
    grid = [*product(range(10, at.region.width, 20), range(10, at.region.height, 10))]
    # A row's sphere, left of it, is not much wider than a hand's aim.
    grid += product(range(10, at.region.width // 3, 5), range(10, at.region.height, 5))
    pixels = [(x, y) for x, y in (at.placed(pixel) for pixel in grid) if at.is_free(x, y)]
    kinds = {pixel: met(*pixel) for pixel in pixels}
    support.screenshot(place / "groups.png")
    print("under the mouse", Counter(hit.kind for hit in kinds.values() if hit), "rows", rows(), flush=True)
    before = rows()
    # Its bands, its plate and the sphere beside it are all of the row.
    for kind in ("thread group", "row", "thread"):
        found = [
            pixel for pixel, hit in kinds.items()
            if hit and hit.kind == kind and dict(hit.picked.values).get("threads", 1) > 1
        ]  # fmt: skip
        assert found, f"nowhere is a row of several threads under the mouse: {kind}"
        x, y = found[len(found) // 2]
        at.move(x, y)
        yield support.at_rest()
        support.screenshot(place / f"groups_{kind.replace(' ', '_')}.png")
        at.press("LEFTMOUSE", x, y)
        at.press("LEFTMOUSE", x, y)
        yield lambda: group.opened != ""
        assert group.main == "auto", group.main
        yield support.at_rest()
        support.screenshot(place / "groups_opened.png")
        after = rows()
        assert set(before) < set(after), (kind, before, after)
        with at.inside():
            group.opened = ""
            assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
        yield support.at_rest()
        assert rows() == before


support.drive(main(), place, "opened", patience=60.0)
