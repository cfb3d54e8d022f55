"""Dragging what a wall shows along its overview, by simulated mouse: ``slab.py A B FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``dragged``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

*traces, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    explore = ".operators.explore."
    state = support.extension(explore + "overlay").state
    pointer, slab = (
        support.extension(explore + "pointer"),
        support.extension(".tracevis3d.features.comparison.actions"),
    )
    window_time = support.extension(explore + "motion.window_time")
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    # Whole, shifted by the middle, and either end; never beyond the overview, never turned round.
    assert slab.dragged((2, 4), (0, 10), 3, 5) == (4, 6)
    assert slab.dragged((2, 4), (0, 10), 3, 99) == (8, 10)
    assert slab.dragged((2, 4), (0, 10), 3, -99) == (0, 2)
    assert slab.dragged((2, 4), (0, 10), 2.1, 1) == (1, 4)
    assert slab.dragged((2, 4), (0, 10), 3.9, 7) == (2, 7)
    low, high = slab.dragged((2, 4), (0, 10), 2.1, 9)
    assert low < high == 4
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        files = [{"name": trace.name} for trace in traces]
        bpy.ops.tracevis3d.import_trace(directory=str(traces[0].parent), files=files)
    yield lambda: any(v.tracevis3d.view == "compare" for v in support.views())
    yield support.at_rest()
    view = next(v for v in support.views() if v.tracevis3d.view == "compare")
    first, last = window_time.of(view, 0)
    length = last - first
    begin = (first + length * 0.3, first + length * 0.5)
    assert window_time.go(view, {0: tuple(map(round, begin))}, lambda: None, at_once=True)
    yield support.at_rest()

    def send(kind, value, x, y, **keys):
        window.event_simulate(type=kind, value=value, x=int(x), y=int(y), **keys)

    def slab_of():
        return next(
            o for o in view.objects if o.get("tracevis3d_kind") == "window" and o["tracevis3d_source"] == 0
        )

    def at(share, over=0.5):
        """Return the pixel of a place on the slab: ``share`` of its length, from its left end."""
        shown = slab_of()
        holds = element_metadata.pickable_mesh(shown)
        point = holds.low[0] + holds.size[0] * [share, over, 1.0]
        place = shown.matrix_world @ support_vector(point)
        x, y = pointer.projection_of(region, area.spaces.active.region_3d).pixels([place])[0]
        return x + region.x, y + region.y

    from mathutils import Vector

    def support_vector(point):
        return Vector(point.tolist())

    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.tracevis3d.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield support.at_rest()

    def drag(start, stop):
        send("MOUSEMOVE", "NOTHING", *start)
        yield support.at_rest()
        send("LEFTMOUSE", "PRESS", *start)
        for k in (1, 2, 3):
            yield 0.15
            send(
                "MOUSEMOVE",
                "NOTHING",
                start[0] + (stop[0] - start[0]) * k / 3,
                start[1] + (stop[1] - start[1]) * k / 3,
            )
        yield support.at_rest()
        support.screenshot(place / "dragging.png")
        send("LEFTMOUSE", "RELEASE", *stop)

    def free(shares):
        """Return a place on the slab that no bar hides."""
        for share in shares:
            for over in (0.92, 0.85, 0.7, 0.5, 0.3):
                x, y = at(share, over)
                hit = pointer.under(bpy.context, region, area.spaces.active, x - region.x, y - region.y)
                if hit is not None and hit.kind == "window":
                    return x, y
        raise AssertionError("the slab is hidden")

    # By its middle it moves, as long as before.
    x, y = free((0.4, 0.5, 0.6, 0.3, 0.7))
    width = at(1.0)[0] - at(0.0)[0]
    before = window_time.of(view, 0)
    yield from drag((x, y), (x + width, y))
    yield lambda: window_time.of(view, 0) != before and not window_time.is_gliding()
    low, high = window_time.of(view, 0)
    assert abs((high - low) - (before[1] - before[0])) < 0.01 * length, (before, low, high)
    assert abs((low - before[0]) - (before[1] - before[0])) < 0.05 * length, (before, low, high)
    yield support.at_rest()
    support.screenshot(place / "dragged.png")

    # By its right end it grows.
    x, y = free((0.9, 0.93, 0.96, 0.88))
    yield from drag((x, y), (x + 0.5 * width, y))
    yield lambda: window_time.of(view, 0)[1] > high and not window_time.is_gliding()
    assert abs(window_time.of(view, 0)[0] - low) < 0.01 * length
    assert state.exploring

    # A film plays through its camera until Esc, which leaves exploring as it is.
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.tracevis3d.film_add(name="Here") == {"FINISHED"}
        area.spaces.active.region_3d.view_distance *= 0.5
        assert bpy.ops.tracevis3d.film_add(name="Near", caption="Nearer") == {"FINISHED"}
        scene = bpy.context.scene
        assert bpy.ops.tracevis3d.film_play() == {"FINISHED"}
        # From the first frame of its first shot, which lies after the view's own time.
        first = scene.tracevis3d_film.shots[0].laid[0]
        assert first == scene.frame_start == scene.frame_current
    assert area.spaces.active.region_3d.view_perspective == "CAMERA"
    yield lambda: window.screen.is_animation_playing and scene.frame_current > first + 2
    assert scene.camera == scene.tracevis3d_film.camera
    support.screenshot(place / "playing.png")
    send("ESC", "PRESS", region.x + 100, region.y + 100)
    send("ESC", "RELEASE", region.x + 100, region.y + 100)
    yield lambda: not window.screen.is_animation_playing
    yield support.at_rest()
    assert state.exploring
    # The next one leaves it.
    send("ESC", "PRESS", region.x + 100, region.y + 100)
    send("ESC", "RELEASE", region.x + 100, region.y + 100)
    yield lambda: not state.exploring


support.drive(main(), place, "dragged", patience=60.0, smooth=False)
