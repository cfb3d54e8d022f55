"""The time drum in a real window, by simulated mouse and keys: ``drum.py TRACE FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``drummed``.
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
    pointer = support.extension(explore + "pointer")
    drum, window_time = (
        support.extension(explore + "motion.drum"),
        support.extension(explore + "motion.window_time"),
    )
    selection, element_metadata = (
        support.extension(".operators.state.selection"),
        support.extension(".tracevis3d.scene.window.element_metadata"),
    )
    at = support.Window()
    at.show(trace, "interactions")
    yield support.at_rest()
    view, pixel = support.only_view(), at.pixel
    key, group = view.tracevis3d.sources[0].hash, view.tracevis3d.interactions

    def mantle(share, around):
        """Return the pixel of a place on the mantle."""
        (turned,) = drum.of_view(view)
        section = turned.surface.section
        point = section[round(around * (len(section) - 1))] + share * turned.surface.axis
        return pixel((np.array(bpy.data.objects[turned.shown].matrix_world) @ [*point, 1.0])[:3])

    def over(kind, k=0):
        """Return pixels of the middle of the k-th element of a kind, as far as it is seen."""
        shown = next(o for o in view.objects if o.get("tracevis3d_kind") == kind)
        holds = element_metadata.pickable_mesh(shown)
        low, high = holds.bounds(np.array([k]))
        return pixel((np.array(shown.matrix_world) @ [*((low + high)[0] / 2), 1.0])[:3])

    def met(x, y):
        """Return the kind of what is at a pixel; moving the mouse there to see costs a redraw."""
        x, y = x - at.region.x, y - at.region.y
        hit = pointer.under(bpy.context, at.region, at.area.spaces.active, x, y)
        return hit.kind if hit else ""

    def result():
        return [line for said in state.descriptions for line in said.lines()]

    def labels():
        return {label for said in state.descriptions[:1] for label, _ in said.rows}

    at.explore()
    yield support.at_rest()

    # Pointing at a lone call, at the ring, at the phases, and at the mantle between the tubes.
    for kind, word in (
        ("lone call", "shown as  lone call"),
        ("sector", "Sector"),
        ("phase", "Phase"),
    ):
        count = len(
            element_metadata.pickable_mesh(next(o for o in view.objects if o.get("tracevis3d_kind") == kind))
        )
        for k in range(count):
            x, y = over(kind, k)
            if met(x, y) != kind:
                continue
            at.move(x, y)
            yield support.soon(lambda word=word: word in " ".join(result()))
            if word in " ".join(result()):
                break
        assert word in " ".join(result()), (kind, result())
        yield support.at_rest()
        support.screenshot(place / f"drum_{kind.replace(' ', '_')}.png")
    for share, around in np.random.default_rng(0).uniform((0.05, 0.3), (0.95, 0.7), (80, 2)):
        x, y = mantle(share, around)
        if met(x, y):
            continue
        at.move(x, y)
        # What explains the view may lie before the mantle, and there are places without a call.
        yield support.soon(lambda: state.hit is None and {"time", "element"} <= labels())
        if state.hit is None and {"time", "element"} <= labels():
            break
    assert state.hit is None, result()
    assert {"time", "element"} <= labels(), result()
    yield support.at_rest()
    support.screenshot(place / "drum_mantle.png")

    # Dragging along the mantle sets the window of time; Home shows all again.
    (x0, y0), (x1, y1) = mantle(0.3, 0.55), mantle(0.6, 0.55)
    knows = drum.where(drum.of_view(view)[0])
    wanted = [knows.time_at(0, share) for share in (0.3, 0.6)]
    span = knows.window(0)
    at.move(x0, y0)
    yield support.at_rest()
    at.send("LEFTMOUSE", "PRESS", x0, y0)
    for step in (0.2, 0.5, 0.8, 1.0):
        yield 0.2
        at.move(x0 + step * (x1 - x0), y0 + step * (y1 - y0))
    yield support.at_rest()
    support.screenshot(place / "drum_brush.png")
    at.send("LEFTMOUSE", "RELEASE", x1, y1)
    yield lambda: group.start != "" and not window_time.is_gliding()
    got = window_time.of(view, 0)
    assert np.abs(np.subtract(got, wanted)).max() < 0.03 * (span[1] - span[0]), (got, wanted)
    yield support.at_rest()
    support.screenshot(place / "drum_window.png")
    at.press("HOME", x0, y0)
    yield lambda: group.start == "" and not window_time.is_gliding()

    # Keys zoom in time and move; with Shift dragging selects, and M marks it.
    for name in ("W", "D", "S"):
        before = window_time.of(view, 0)
        at.press(name, x0, y0)
        yield lambda before=before: window_time.of(view, 0) != before and not window_time.is_gliding()
    at.press("HOME", x0, y0)
    yield lambda: group.start == "" and not window_time.is_gliding()
    yield support.at_rest()
    at.send("LEFTMOUSE", "PRESS", x0, y0, shift=True)
    for step in (0.3, 0.6, 1.0):
        yield 0.2
        at.move(x0 + step * (x1 - x0), y0 + step * (y1 - y0), shift=True)
    yield 0.3
    at.send("LEFTMOUSE", "RELEASE", x1, y1, shift=True)
    yield lambda: selection.selected(key).time_range is not None
    assert group.start == ""
    yield support.at_rest()
    support.screenshot(place / "drum_selected.png")

    # A double click on a phase shows that phase.
    shown = next(o for o in view.objects if o.get("tracevis3d_kind") == "phase")
    widest = int(np.argmax(element_metadata.pickable_mesh(shown).size[:, 0]))
    x, y = over("phase", widest)
    at.move(x, y)
    yield support.at_rest()
    at.press("LEFTMOUSE", x, y)
    at.press("LEFTMOUSE", x, y)
    yield lambda: group.start != "" and not window_time.is_gliding()
    yield support.at_rest()
    support.screenshot(place / "drum_phase_shown.png")

    # Flat and rolled up, the drum is a picture of bundles: their edges can be pointed at, too.
    at.press("HOME", x0, y0)
    yield lambda: group.start == "" and not window_time.is_gliding()
    group.opening, group.unroll = 0.0, 0.0
    with at.inside():
        assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
    at.eye.view_perspective = "CAMERA"
    yield support.at_rest()
    size = np.array([at.region.width, at.region.height])
    for share in np.random.default_rng(1).uniform(0.25, 0.75, (400, 2)):
        x, y = at.placed(share * size)
        if met(x, y) == "interaction":
            at.move(x, y)
            yield lambda: "shown as  interaction" in " ".join(result())
            break
    assert {"one of", "from and to"} <= labels(), result()
    yield support.at_rest()
    support.screenshot(place / "drum_bundles.png")
    at.press("ESC", x, y)
    yield lambda: not state.exploring


support.drive(main(), place, "drummed", patience=60.0)
