"""Explore mode in a real window, by simulated mouse and keys: ``exploring.py TRACE FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``explored``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

trace, place = map(Path, support.arguments())
PATIENCE = 60.0


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    explore = ".operators.explore."
    state = support.extension(explore + "overlay").state
    pointer, marks = support.extension(explore + "pointer"), support.extension(explore + "marks")
    window_time, zoom = (
        support.extension(explore + "motion.window_time"),
        support.extension(explore + "motion.zoom"),
    )
    selection = support.extension(".operators.state.selection")
    element_metadata, detail_objects = (
        support.extension(".tracevis3d.scene.window.element_metadata"),
        support.extension(".tracevis3d.scene.window.detail_objects"),
    )
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.tracevis3d.import_trace(filepath=str(trace))
    yield support.at_rest()
    key = support.only_view().tracevis3d.sources[0].hash

    def send(kind, value, x, y, **keys):
        window.event_simulate(type=kind, value=value, x=int(x), y=int(y), **keys)

    def press(kind, x, y, **keys):
        send(kind, "PRESS", x, y, **keys)
        send(kind, "RELEASE", x, y, **keys)

    def middle(kind, k):
        """Return the pixel of the middle of the front of the k-th widest element, and the element's call."""
        shown = next(
            o for o in support.only_view().objects if o.get("tracevis3d_kind") == kind and o.visible_get()
        )
        holds = element_metadata.pickable_mesh(shown)
        i = np.argsort(-holds.size[:, 0])[k]
        matrix = np.array(shown.matrix_world)
        point = matrix[:3, :3] @ (holds.low[i] + holds.size[i] * [0.5, 0, 0.5]) + matrix[:3, 3]
        x, y = pointer.projection_of(region, area.spaces.active.region_3d).pixels([point])[0]
        return x + region.x, y + region.y, int(holds.id[i])

    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.tracevis3d.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield support.at_rest()

    # Hover.
    x, y, call = middle("call", 6)
    send("MOUSEMOVE", "NOTHING", x, y)
    yield lambda: state.hit is not None
    assert state.hit.traces == {key: call}
    assert {"start", "duration", "self time", "depth", "count", "thread"} <= {
        a for a, _ in state.descriptions[0].rows
    }
    yield support.at_rest()
    support.screenshot(place / "hover.png")

    # Click selects, Shift adds, undo takes back, and the mode goes on.
    press("LEFTMOUSE", x, y)
    yield lambda: selection.selected(key).calls.tolist() == [call]
    x, y, other = middle("call", 4)
    send("MOUSEMOVE", "NOTHING", x, y)
    yield support.at_rest()
    press("LEFTMOUSE", x, y, shift=True)
    yield lambda: selection.selected(key).calls.tolist() == sorted([call, other])
    press("Z", x, y, ctrl=True)
    yield lambda: selection.selected(key).calls.tolist() == [call]
    assert state.exploring

    # Brush a range of time, and mark it.
    x, y, _ = middle("call", 2)
    send("MOUSEMOVE", "NOTHING", x, y)
    yield support.at_rest()
    send("LEFTMOUSE", "PRESS", x, y)
    for step in (10, 40, 80):
        yield 0.1
        send("MOUSEMOVE", "NOTHING", x + step, y)
    yield 0.3
    send("LEFTMOUSE", "RELEASE", x + 80, y)
    yield lambda: selection.selected(key).time_range is not None
    press("M", x, y)
    yield lambda: marks.marked(key) == [selection.selected(key).time_range]
    yield support.at_rest()
    support.screenshot(place / "marked.png")

    # Double click zooms in time; keys zoom and move; Home shows the whole.
    x, y, call = middle("call", 7)
    send("MOUSEMOVE", "NOTHING", x, y)
    yield support.at_rest()
    press("LEFTMOUSE", x, y)
    press("LEFTMOUSE", x, y)
    yield lambda: support.only_view().tracevis3d.icicle.start != "" and not window_time.is_gliding()
    yield support.at_rest()
    support.screenshot(place / "zoomed.png")
    for name in ("W", "S", "D", "A"):
        before = support.only_view().tracevis3d.icicle.start
        press(name, x, y)
        yield lambda before=before: support.only_view().tracevis3d.icicle.start != before
        yield lambda: not window_time.is_gliding()
    press("HOME", x, y)
    yield lambda: support.only_view().tracevis3d.icicle.start == "" and not window_time.is_gliding()

    # The menu.
    x, y, _ = middle("call", 5)
    send("MOUSEMOVE", "NOTHING", x, y)
    yield support.at_rest()
    press("RIGHTMOUSE", x, y)
    yield support.at_rest()
    support.screenshot(place / "menu.png")
    press("ESC", x, y)
    yield support.at_rest()
    assert state.exploring, "leaving the menu left the mode"

    # F goes there, and when the view has come to rest there is more to see.
    x, y, _ = middle("call", 30)
    send("MOUSEMOVE", "NOTHING", x, y)
    yield support.at_rest()
    press("LEFTMOUSE", x, y)
    yield support.at_rest()
    press("F", x, y)
    yield lambda: detail_objects.shown_detail(support.only_view(), 0) is not None and not zoom.is_on_the_way()
    assert area.spaces.active.region_3d.view_perspective == "PERSP"
    yield support.at_rest()
    support.screenshot(place / "detail.png")
    press("ESC", x, y)
    yield lambda: not state.exploring


support.drive(main(), place, "explored", patience=PATIENCE)
