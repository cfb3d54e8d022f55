"""Aligning, brushing, back and forth, turning and flying in a real window: ``moving.py TRACE OTHER FOLDER``.

The result lies in ``FOLDER/moved``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

one, other, place = support.arguments()
place = Path(place)


def near(pose, goal):
    """Return whether two poses are the same."""
    return (pose.location - goal.location).length < 0.05 * goal.distance and abs(
        pose.distance - goal.distance
    ) < 0.05 * goal.distance


def eye_of(view):
    """Return where one stands."""
    return np.array(view.view_matrix.inverted().translation)


def roll_of(view):
    """Return how far the right hand of a view is from the horizon."""
    return abs(float(view.view_matrix.inverted().col[0][2]))


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    explore = ".operators.explore."
    state = support.extension(explore + "overlay").state
    zoom, veil = support.extension(explore + "motion.zoom"), support.extension(explore + "sight.veil")
    marks, pointer = support.extension(explore + "marks"), support.extension(explore + "pointer")
    draw = support.extension(".operators.overlay.draw")
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    selection, trace_state = (
        support.extension(".operators.state.selection"),
        support.extension(".operators.state.trace_state"),
    )
    window = support.Window()
    with window.inside():
        files = [{"name": Path(file).name} for file in (one, other)]
        bpy.ops.tracevis3d.import_trace(directory=str(Path(one).parent), files=files)
    yield lambda: any(v.tracevis3d.view == "compare" for v in support.views())
    yield support.at_rest()
    view = support.only_view()
    keys = trace_state.keys_of(view)
    window.explore()
    yield support.at_rest()

    def boxes(source):
        """Return the calls of a side."""
        return next(
            h
            for h in map(element_metadata.pickable_mesh, view.objects)
            if h is not None and h.kind == "call" and h.source == source
        )

    def matched():
        """Yield how far apart the starts of two calls are that a tube joins, and where the first one is."""
        a, b = boxes(0), boxes(1)
        for shown in view.objects:
            holds = element_metadata.pickable_mesh(shown)
            if holds is None or holds.word != "Tubes" or set(holds.calls) != {0, 1}:
                continue
            for i in np.argsort(holds.id).tolist():
                left, right = a.element_of(0, holds.calls[0][i]), b.element_of(1, holds.calls[1][i])
                if left is not None and right is not None:
                    apart = float(a.low[left, 0] - b.low[right, 0])
                    x, y = window.pixel(a.low[left] + a.size[left] * [0.5, 0.0, 0.5])
                    yield apart, x, y, int(holds.calls[0][i])

    def met(x, y):
        """Return the call of A under a pixel of the window; None if there is none."""
        at = x - window.region.x, y - window.region.y
        with window.inside():
            hit = pointer.under(bpy.context, window.region, window.area.spaces.active, *at)
        return hit and hit.traces.get(keys[0])

    # A click with Ctrl lets a call and its match start together; another one takes that back.
    for apart, x, y, call in matched():
        if abs(apart) <= 0.05 or met(x, y) != call:
            continue
        # A text may lie over it.
        window.move(x, y)
        yield support.soon(lambda call=call: state.hit is not None and state.hit.traces.get(keys[0]) == call)
        if state.hit is not None and state.hit.traces.get(keys[0]) == call:
            break
    else:
        raise AssertionError("no call with a match that starts elsewhere is in sight")
    window.press("LEFTMOUSE", x, y, ctrl=True)
    yield lambda: view.tracevis3d.compare.align.startswith(f"A:{call}=B:")
    yield support.at_rest()
    support.screenshot(place / "aligned.png")
    after = {c: apart for apart, _, _, c in matched()}
    assert abs(after[call]) < 1e-3, after[call]
    (x, y) = next((x, y) for _, x, y, c in matched() if c == call)
    window.move(x, y)
    yield lambda: state.hit is not None and state.hit.traces.get(keys[0]) == call
    window.press("LEFTMOUSE", x, y, ctrl=True)
    yield lambda: view.tracevis3d.compare.align == ""
    yield support.at_rest()

    # A brushed range of time is veiled around, while it is brushed and afterwards.
    window.move(x, y)
    yield support.at_rest()
    window.send("LEFTMOUSE", "PRESS", x, y)
    for by in (10, 40, 120):
        yield 0.1
        window.move(x + by, y)
    yield lambda: state.brush is not None and len(veil.drawn()) > 0
    assert keys[0] in marks.brushed(bpy.context.scene, state.brush)
    window.send("LEFTMOUSE", "RELEASE", x + 120, y)
    yield lambda: selection.selected(keys[0]).time_range is not None
    yield support.at_rest()
    assert len(veil.drawn()) > 1, "the tubes that lead elsewhere are muted, too"
    # Which trace is which can still be read.
    assert {"A", "B"} <= {text.text for text in draw.texts(window.region)}
    support.screenshot(place / "brushed.png")
    window.press("M", x, y)
    yield support.at_rest()

    # Among hundreds of tubes, too, a key turns to where most of what is lit is seen.
    window.move(x, y)
    yield lambda: state.hit is not None
    before = window.eye.view_matrix.copy()
    window.press("V", x, y)
    yield lambda: state.message.startswith("From here")
    yield lambda: not zoom.is_on_the_way()
    yield support.at_rest()
    assert window.eye.view_matrix != before
    support.screenshot(place / "best_seen_of_matches.png")
    window.press("LEFT_ARROW", x, y, alt=True)
    yield lambda: not zoom.is_on_the_way()
    yield support.at_rest()

    # Go back to the previous viewpoint, and forward again.
    eye = window.eye
    window.press("F", x, y)
    yield lambda: not zoom.is_on_the_way() and eye.view_perspective == "PERSP"
    yield 1.0
    first = zoom.pose_of(eye)
    window.move(x + 5, y)
    yield 1.0
    with window.inside():
        eye.view_distance *= 0.5
    second = zoom.pose_of(eye)
    window.move(x, y)
    yield 1.2
    window.press("LEFT_ARROW", x, y, alt=True)
    yield lambda: near(zoom.pose_of(eye), first) and not zoom.is_on_the_way()
    window.press("RIGHT_ARROW", x, y, alt=True)
    yield lambda: near(zoom.pose_of(eye), second) and not zoom.is_on_the_way()
    yield support.at_rest()
    window.press("LEFT_ARROW", x, y, alt=True)
    yield lambda: near(zoom.pose_of(eye), first) and not zoom.is_on_the_way()
    yield support.at_rest()

    # The middle button turns about what is under the mouse: it stays there.
    holds = boxes(0)
    found = None
    for i in np.argsort(-holds.size[:, 0]).tolist():
        x, y = window.pixel(holds.low[i] + holds.size[i] * [0.5, 0.0, 0.5])
        window.move(x, y)
        yield support.at_rest()
        if state.hit is not None:
            found = np.array(state.hit.point)
            break
    assert found is not None
    preferences = bpy.context.preferences.inputs
    assert not preferences.use_mouse_depth_navigate
    stood = eye_of(eye)
    window.send("MIDDLEMOUSE", "PRESS", x, y)
    for by in (6, 20, 40):
        yield 0.15
        window.move(x + by, y + by / 2)
    yield 0.3
    window.send("MIDDLEMOUSE", "RELEASE", x + 40, y + 20)
    yield support.at_rest()
    assert np.linalg.norm(eye_of(eye) - stood) > 0.05, "the view was not turned"
    pixel = np.array(window.pixel(found))
    assert np.abs(pixel - (x, y)).max() < 12, (pixel, (x, y))
    assert not preferences.use_mouse_depth_navigate

    # Flying: level, and slower the nearer one comes; a right click goes back.
    stood = eye_of(eye)
    before = zoom.pose_of(eye)
    with window.inside():
        assert bpy.ops.tracevis3d.fly("INVOKE_DEFAULT") == {"FINISHED"}
    yield 0.2
    window.move(x, y)
    window.send("W", "PRESS", x, y)
    yield lambda: np.linalg.norm(eye_of(eye) - stood) > 0.05
    window.move(x + 30, y + 10)
    yield 0.3
    assert roll_of(eye) < 1e-4
    support.screenshot(place / "flying.png")
    window.send("W", "RELEASE", x, y)
    window.press("RIGHTMOUSE", x, y)
    yield lambda: near(zoom.pose_of(eye), before)
    yield support.at_rest()


support.drive(main(), place, "moved", smooth=False)
