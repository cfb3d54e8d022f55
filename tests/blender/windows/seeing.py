"""Slabs, X-ray, what can be seen, and riding along time in a real window: ``seeing.py TRACE FOLDER``.

The result lies in ``FOLDER/seen``.
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
    zoom, slabs = support.extension(explore + "motion.zoom"), support.extension(explore + "sight.slabs")
    ride, xray = support.extension(explore + "motion.ride"), support.extension(explore + "sight.xray")
    held = support.extension(".tracevis3d.scene.window.element_metadata")
    selection, trace_state = (
        support.extension(".operators.state.selection"),
        support.extension(".operators.state.trace_state"),
    )
    window = support.Window()
    window.show(trace, "icicle")
    yield support.at_rest()
    view = support.only_view()
    (key,) = trace_state.keys_of(view)
    window.explore()
    yield support.at_rest()
    eye, space, kept = window.eye, window.area.spaces.active, bpy.context.scene.tracevis3d_slab
    holds = next(h for h in map(held.held, view.objects) if h is not None and h.kind == "call")

    def pixel_of(i):
        """Return where the middle of the front of a call is in the window."""
        return window.pixel(holds.low[i] + holds.size[i] * [0.5, 0.0, 0.5])

    def shown_at(i):
        """Return whether something is drawn at the middle of a call: not the ground."""
        path = place / "seeing.png"
        support.screenshot(path)
        picture = support.pixels(path)
        x, y = pixel_of(i)
        around = picture[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2, :3]
        return float(np.abs(around - 1.0).max()) > 0.15

    # The middle of the deepest wide call, one at the left that is deep, and one at the right.
    wide = np.flatnonzero(holds.size[:, 0] > 0.3)
    middle = holds.low[wide, 0] + holds.size[wide, 0] / 2
    low, high = float(holds.low[:, 0].min()), float((holds.low + holds.size)[:, 0].max())
    share = (middle - low) / (high - low)
    left, inside = wide[np.argmin(share)], wide[np.argmin(np.abs(share - 0.5))]
    x, y = pixel_of(inside)
    window.move(x, y)
    yield support.at_rest()
    assert shown_at(left)

    # A slab of time, and one of depth: two planes, which are dragged, and beside them nothing is drawn.
    window.press("B", x, y)
    yield lambda: kept.axes == "x" and eye.use_clip_planes
    yield support.at_rest()
    window.move(window.region.x + 60, window.region.y + 60)
    yield support.at_rest()
    assert share.min() < kept.low[0]
    assert not shown_at(left), "what is beside the slab is drawn"
    assert shown_at(inside)
    support.screenshot(place / "slab_of_time.png")
    (grip,) = [
        top
        for axis, end, _, top in slabs.grips(bpy.context.scene, window.region, eye)
        if (axis, end) == (0, 1)
    ]
    at, before = (grip[0] + window.region.x, grip[1] + window.region.y), kept.high[0]
    window.move(*at)
    yield 0.2
    window.send("LEFTMOUSE", "PRESS", *at)
    for by in (10, 30, 60):
        yield 0.1
        window.move(at[0] - by, at[1])
    yield lambda: kept.high[0] < before - 0.02
    first, last = kept.low[0], kept.high[0]
    window.move(at[0] - 90, at[1], shift=True)
    yield lambda: kept.high[0] < last - 0.01 and kept.low[0] < first - 0.01
    window.send("LEFTMOUSE", "RELEASE", at[0] - 90, at[1])
    yield support.at_rest()
    # Nothing is met where it is cut away.
    slab = slabs.of(bpy.context.scene)
    for i in wide[:12].tolist():
        centre = float(holds.low[i, 0] + holds.size[i, 0] / 2)
        if not slab.ends(0)[0] <= centre <= slab.ends(0)[1]:
            window.move(*pixel_of(i))
            yield 0.2
            assert state.hit is None or slab.ends(0)[0] - 1e-3 <= state.hit.point[0] <= slab.ends(0)[1] + 1e-3
    window.move(x, y)
    yield 0.2
    window.press("B", x, y, shift=True)
    yield lambda: kept.axes == "xz"
    yield support.at_rest()
    support.screenshot(place / "slabs.png")
    window.press("B", x, y)
    yield lambda: kept.axes == "z"
    window.press("B", x, y, shift=True)
    yield lambda: kept.axes == "" and not eye.use_clip_planes
    yield support.at_rest()
    assert shown_at(left)

    # The tooltip says how much of what is lit can be seen, and a key turns to where most of it is.
    window.move(x, y)
    yield lambda: state.hit is not None
    yield lambda: any(label == "in sight" for said in state.told for label, _ in said.rows)
    yield support.at_rest()
    support.screenshot(place / "in_sight.png")
    window.press("V", x, y)
    yield lambda: state.message.startswith("From here")
    yield lambda: not zoom.is_on_the_way()
    yield support.at_rest()
    support.screenshot(place / "best_seen.png")

    # The wheel with Alt is the clock: the view moves along time, and looks as before.
    rotation, stood = eye.view_rotation.copy(), eye.view_location.copy()
    window.press("WHEELDOWNMOUSE", x, y, alt=True)
    yield lambda: eye.view_location[0] < stood[0] - 1e-3 or stood[0] <= low + 1e-3
    yield lambda: ride.motion.current is None
    assert state.message.startswith("at ")
    assert eye.view_rotation.rotation_difference(rotation).angle < 1e-4
    assert abs(eye.view_location[2] - stood[2]) < 1e-4
    window.press("WHEELUPMOUSE", x, y, alt=True)
    yield lambda: ride.motion.current is None and abs(eye.view_location[0] - stood[0]) < 0.1

    # In an X-ray picture what is selected shows through all else.
    space.region_3d.view_perspective = "CAMERA"
    selection.select(key, [int(holds.id[inside])])
    yield support.at_rest()
    window.press("X", x, y)
    yield lambda: space.shading.show_xray and xray.is_on(space)
    yield support.at_rest()
    support.screenshot(place / "xray.png")
    window.press("X", x, y)
    yield lambda: not space.shading.show_xray


support.drive(main(), place, "seen")
