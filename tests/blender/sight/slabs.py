"""Slabs in a real window: what is shown, pointed at and lit, between planes that are dragged.

``slabs.py TRACE FOLDER``; the result lies in ``FOLDER/cut``.
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
    overlay = support.extension(explore + "overlay")
    state, slabs = overlay.state, support.extension(explore + "sight.slabs")
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    texts = support.extension(".operators.overlay.draw").texts
    window = support.Window()
    window.show(trace, "icicle")
    yield support.at_rest()
    view = support.only_view()
    window.explore()
    yield support.at_rest()
    eye, kept = window.eye, bpy.context.scene.tracevis3d_slab
    own = next(o for o in view.objects if o.get("tracevis3d_kind") == "call")
    holds = element_metadata.pickable_mesh(own)

    def pixel_of(i):
        """Return where the middle of the front of a call is in the window."""
        return window.pixel(holds.low[i] + holds.size[i] * [0.5, 0.0, 0.5])

    def shown_at(i):
        """Return whether something is drawn at the middle of a call: not the ground, nor the lines on it."""
        path = place / "slabs.png"
        support.screenshot(path)
        picture = support.pixels(path)
        x, y = pixel_of(i)
        around = picture[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2, :3]
        return bool(np.ptp(around.mean(axis=(0, 1))) > 0.1)

    def extent():
        """Return between which x the window shows calls."""
        graph = bpy.context.evaluated_depsgraph_get()
        found = own.evaluated_get(graph)
        points = np.empty(3 * len(found.data.vertices), np.float32)
        found.data.vertices.foreach_get("co", points)
        return float(points[::3].min()), float(points[::3].max())

    def grip(axis, end):
        """Return where the grip of a plane is in the window."""
        found = slabs.grips(bpy.context.scene, window.region, eye)
        (at,) = [top for a, e, _, top in found if (a, e) == (axis, end)]
        return at[0] + window.region.x, at[1] + window.region.y

    # Coloured calls: one at the right, and one in the middle, as wide as there are.
    low, high = float(holds.low[:, 0].min()), float((holds.low + holds.size)[:, 0].max())
    share = (holds.low[:, 0] + holds.size[:, 0] / 2 - low) / (high - low)
    narrow = holds.size[:, 0] < 0.3 * (high - low)
    right, inside = (
        int(np.argmax(np.where(narrow & (share > a) & (share < b), holds.size[:, 0], -1.0)))
        for a, b in ((0.7, 1.0), (0.4, 0.65))
    )
    x, y = pixel_of(inside)
    window.move(window.region.x + 60, window.region.y + 130)
    yield support.at_rest()
    assert shown_at(right)
    names = {text.text for text in texts(window.region)}

    # A slab of time: beside it nothing is drawn, pointed at or named.
    window.press("B", x, y)
    yield lambda: kept.axes == "x"
    yield support.at_rest()
    window.move(window.region.x + 60, window.region.y + 130)
    yield support.at_rest()
    begin, end = slabs.of(bpy.context.scene).ends(0)
    assert begin < holds.low[inside, 0] < end < holds.low[right, 0] + holds.size[right, 0] / 2
    assert extent()[0] >= begin - 1e-3
    assert extent()[1] <= end + 1e-3
    assert shown_at(inside)
    support.screenshot(place / "slab_of_time.png")
    assert not shown_at(right), "what is beside the slab is drawn"
    assert {text.text for text in texts(window.region)} != names

    # Its planes are dragged; with Shift both. Esc puts them back.
    at, before = grip(0, 1), kept.high[0]
    window.move(*at)
    yield 0.2
    window.send("LEFTMOUSE", "PRESS", *at)
    for by in (10, 30, 60):
        yield 0.1
        window.move(at[0] - by, at[1])
    yield lambda: kept.high[0] < before - 0.02
    assert extent()[1] < end - 0.1
    window.press("ESC", at[0] - 60, at[1])
    yield lambda: abs(kept.high[0] - before) < 1e-5 and not slabs.is_held()
    window.send("LEFTMOUSE", "RELEASE", at[0] - 60, at[1])
    yield support.at_rest()
    at = grip(0, 1)
    window.move(*at)
    yield 0.2
    window.send("LEFTMOUSE", "PRESS", *at)
    for by in (10, 30):
        yield 0.1
        window.move(at[0] + by, at[1], shift=True)
    yield lambda: kept.high[0] > before + 0.01 and kept.low[0] > 0.35 + 0.01
    window.send("LEFTMOUSE", "RELEASE", at[0] + 30, at[1])
    yield support.at_rest()
    thick = kept.high[0] - kept.low[0]
    assert abs(thick - (before - 0.35)) < 1e-4

    # Nothing is met, or lit, where it is cut away.
    first, last = slabs.of(bpy.context.scene).ends(0)
    met = 0
    for i in np.argsort(-holds.size[:, 0])[:12].tolist():
        window.move(*pixel_of(i))
        yield support.at_rest()
        if state.hit is not None:
            met += 1
            assert first - 1e-3 <= state.hit.point[0] <= last + 1e-3
            lit = overlay.outlined(own.name, holds, np.arange(len(holds)))
            assert first - 1e-3 <= lit.point[:, 0].min()
            assert lit.point[:, 0].max() <= last + 1e-3
    assert met

    # With a slab of depth, and both taken away; undo brings the last one back.
    window.move(x, y)
    yield 0.2
    window.press("B", x, y, shift=True)
    yield lambda: kept.axes == "xz"
    yield support.at_rest()
    support.screenshot(place / "slabs_of_both.png")
    window.press("B", x, y)
    yield lambda: kept.axes == "z"
    window.press("B", x, y, shift=True)
    yield lambda: kept.axes == ""
    yield support.at_rest()
    assert abs(extent()[1] - high) < 0.05
    assert shown_at(right)
    with window.inside():
        bpy.ops.ed.undo()
    yield lambda: bpy.context.scene.tracevis3d_slab.axes == "z"
    yield support.at_rest()

    # It is there after saving and opening.
    path = str(place / "slabs.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    yield support.at_rest()
    assert bpy.context.scene.tracevis3d_slab.axes == "z"
    assert any(m.name.startswith("TraceVis3D Slab") for o in support.only_view().objects for m in o.modifiers)


support.drive(main(), place, "cut", smooth=False)
