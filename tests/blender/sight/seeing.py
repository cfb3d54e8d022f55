"""What can be seen, riding along time, X-ray in a real window: ``seeing.py TRACE FOLDER``.

The result lies in ``FOLDER/seen``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
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
    eye, space = window.eye, window.area.spaces.active
    holds = next(h for h in map(held.held, view.objects) if h is not None and h.kind == "call")

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
