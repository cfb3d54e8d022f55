"""What can be seen, riding along time, a lens, X-ray in a real window: ``seeing.py TRACE FOLDER``.

The result lies in ``FOLDER/seen``.
"""

import sys
from itertools import product
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
    zoom = support.extension(explore + "motion.zoom")
    ride, xray = support.extension(explore + "motion.ride"), support.extension(explore + "sight.xray")
    minimap = support.extension(".operators.overlay.minimap")
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
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
    eye, space = window.eye, window.area.spaces.active
    holds = next(
        h for h in map(element_metadata.pickable_mesh, view.objects) if h is not None and h.kind == "call"
    )

    def pixel_of(i):
        """Return where the middle of the front of a call is in the window."""
        return window.pixel(holds.low[i] + holds.size[i] * [0.5, 0.0, 0.5])

    # A call in the middle, as wide as there are.
    middle = holds.low[:, 0] + holds.size[:, 0] / 2
    low, high = float(holds.low[:, 0].min()), float((holds.low + holds.size)[:, 0].max())
    share = (middle - low) / (high - low)
    thin = holds.size[:, 0] < 0.3 * (high - low)
    inside = np.argmax(np.where(thin & (share > 0.4) & (share < 0.6), holds.size[:, 0], -1.0))
    x, y = pixel_of(inside)
    window.move(x, y)
    yield support.at_rest()

    # The tooltip says how much of what is lit can be seen, and a key turns to where most of it is.
    window.move(x, y)
    yield lambda: state.hit is not None
    yield lambda: any(label == "in sight" for said in state.descriptions for label, _ in said.rows)
    yield support.at_rest()
    support.screenshot(place / "in_sight.png")
    window.press("V", x, y)
    yield lambda: state.message.startswith("From here")
    yield lambda: not zoom.is_on_the_way()
    yield support.at_rest()
    support.screenshot(place / "best_seen.png")

    # A part alone is in sight: a map shows the whole, and a click on it goes there.
    found = minimap.of(window.area, window.region, space, bpy.context.scene)
    assert found is not None
    seen, _ = minimap.seen_on(found, window.region, eye)
    assert len(seen) > 2
    left_edge, bottom, right_edge, top = found.box
    at = left_edge + 0.2 * (right_edge - left_edge), bottom + 0.5 * (top - bottom)
    back, far = eye.view_location.copy(), eye.view_distance
    there = window.region.x + at[0], window.region.y + at[1]
    window.move(*there)
    yield lambda: state.descriptions and state.descriptions[0].title == "A click goes there"
    window.press("LEFTMOUSE", *there)
    yield lambda: abs(eye.view_location[0] - (low + 0.2 * (high - low))) < 0.05 * (high - low)
    yield lambda: not zoom.is_on_the_way()
    yield support.at_rest()
    assert abs(eye.view_distance - far) < 0.01 * far
    support.screenshot(place / "on_the_map.png")
    window.press("LEFT_ARROW", *there, alt=True)
    yield lambda: (eye.view_location - back).length < 0.05 * far and not zoom.is_on_the_way()
    bpy.context.scene.tracevis3d_minimap = False
    assert minimap.of(window.area, window.region, space, bpy.context.scene) is None
    bpy.context.scene.tracevis3d_minimap = True
    window.move(x, y)
    yield support.at_rest()

    # The wheel with Alt is the clock: the view moves along time, and looks as before.
    rotation, stood = eye.view_rotation.copy(), eye.view_location.copy()
    window.press("WHEELDOWNMOUSE", x, y, alt=True)
    yield lambda: state.message.startswith("at ")
    said = state.message
    yield lambda: ride.motion.current is None
    assert eye.view_location[0] < stood[0] - 1e-3
    assert eye.view_rotation.rotation_difference(rotation).angle < 1e-4
    assert abs(eye.view_location[2] - stood[2]) < 1e-4
    window.press("WHEELUPMOUSE", x, y, alt=True)
    yield lambda: state.message.startswith("at ") and state.message != said
    yield lambda: ride.motion.current is None
    assert abs(eye.view_location[0] - stood[0]) < 0.01 * eye.view_distance
    support.screenshot(place / "ridden.png")

    # Modules pulled apart take more room: all of the view stays in sight.
    with window.inside():
        support.extension(".operators.overlay.framing").look(bpy.context)
    yield support.at_rest()
    with window.inside():
        before = eye.view_distance
        assert bpy.ops.tracevis3d.pull_apart(view=view.name, what="module") == {"FINISHED"}
    yield support.at_rest()
    stored = support.only_view().tracevis3d
    ends = np.array([stored.low, stored.high]) + np.array(stored.place)
    at = [window.pixel(ends[k, range(3)]) for k in product((0, 1), repeat=3)]
    assert all(window.is_free(*pixel) for pixel in at), at
    assert eye.view_distance > before
    support.screenshot(place / "apart.png")
    with window.inside():
        assert bpy.ops.tracevis3d.pull_apart(view=view.name, what="together") == {"FINISHED"}
    yield support.at_rest()

    # A lens: about the mouse all detail, with its names, and the tooltip beside it; Esc takes it away.
    detail_of = support.extension(".tracevis3d.scene.window.detail_objects").shown_detail
    drawn = support.extension(".operators.overlay.lens")
    lens = support.extension(explore + "sight.lens")
    x, y = pixel_of(inside)
    window.move(x, y)
    yield lambda: state.hit is not None
    yield support.at_rest()
    plain = detail_of(view, 0)
    window.press("L", x, y)
    yield lambda: detail_of(view, 0) is not None and detail_of(view, 0) != plain
    yield support.at_rest()
    assert lens.is_on(window.area)
    assert plain is None or detail_of(view, 0)[2] > 2 * plain[2]
    support.say(lens=[text.text for text in drawn.texts()])
    assert state.hit is not None
    assert state.apart > 50
    support.screenshot(place / "lens.png")
    window.press("ESC", x, y)
    yield lambda: not lens.is_on(window.area)
    yield support.at_rest()
    assert state.exploring
    assert not state.apart

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


support.drive(main(), place, "seen", smooth=False)
