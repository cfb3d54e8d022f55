"""A cone tree in a real window: click, turn, click again, undo: ``cone_window.py TRACE FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``turned``.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import numpy as np
import support

trace, place = map(Path, support.arguments())
bpy.context.preferences.view.show_splash = False


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    explore = ".operators.explore."
    state = support.extension(explore + "overlay").state
    pointer, turning = support.extension(explore + "pointer"), support.extension(explore + "turning")
    selection, held = support.extension(".operators.selection"), support.extension(".tracevis3d.scene.held")
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.tracevis3d.import_trace(filepath=str(trace), view="cone")
    yield 3.0
    view = support.only_view()
    key, group = view.tracevis3d.sources[0].hash, view.tracevis3d.cone

    def send(kind, value, x, y, **keys):
        window.event_simulate(type=kind, value=value, x=int(x), y=int(y), **keys)

    def press(kind, x, y, **keys):
        send(kind, "PRESS", x, y, **keys)
        send(kind, "RELEASE", x, y, **keys)

    def balls():
        """Return the nodes' places in the scene, float64 (n, 3), and their calls."""
        points, calls = [], []
        for shown in view.objects:
            if shown.get("tracevis3d_kind") == "node":
                holds = held.held(shown)
                low, high = holds.bounds(np.arange(len(holds)))
                middle = np.column_stack([(low + high) / 2, np.ones(len(holds))])
                points.append((middle @ np.array(shown.matrix_world).T)[:, :3])
                calls.append(np.asarray(holds.calls[0]))
        return np.concatenate(points), np.concatenate(calls)

    def front():
        """Yield calls whose balls can be pointed at, those at the side first."""
        points, calls = balls()
        order = np.argsort(-np.abs(points[:, 0]))
        for i in order.tolist():
            if calls[i] >= 0:
                x, y = pointer.project(region, area.spaces.active.region_3d, [points[i]])[0]
                yield int(calls[i]), x + region.x, y + region.y

    def where(call):
        points, calls = balls()
        return points[np.flatnonzero(calls == call)[0]]

    def root():
        points, _ = balls()
        return points[np.argmax(points[:, 2])]

    def in_front(call):
        at, top = where(call), root()
        return at[1] < top[1] and abs(at[0] - top[0]) < 0.35 * abs(at[1] - top[1])

    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.tracevis3d.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield 0.5

    def point_at(but=()):
        """Return a call that the mouse is over now, and where."""
        for call, x, y in front():
            if call in but or in_front(call) or abs(where(call)[0] - root()[0]) < 0.5:
                continue
            send("MOUSEMOVE", "NOTHING", x, y)
            yield 0.4
            if state.hit is not None and list(state.hit.calls.values()) == [call]:
                found.append((call, x, y))
                return
        raise AssertionError("no ball can be pointed at")

    found = []
    yield from point_at()
    first, x, y = found[-1]
    support.screenshot(place / "cone_pointed.png")
    before = where(first)
    press("LEFTMOUSE", x, y)
    yield turning.is_turning
    assert group.facing == "", "nothing is stored on the way"
    stood = [before]
    while turning.is_turning():
        stood.append(where(first))
        yield 0.02
    moved = np.linalg.norm(np.diff(stood, axis=0), axis=1)
    print("steps", np.round(moved, 3).tolist(), flush=True)
    assert np.count_nonzero(moved) >= 3, "it moves in steps"
    assert group.facing == str(first)
    assert selection.selected(key).calls.tolist() == [first]
    assert in_front(first), (where(first), root())
    yield 1.0
    support.screenshot(place / "cone_turned.png")

    # A click on the way goes on from there to another.
    yield 1.0
    yield from point_at({first})
    second, x, y = found[-1]
    press("LEFTMOUSE", x, y)
    yield turning.is_turning
    yield 0.3
    other = next(c for c, _, _ in front() if c not in (first, second))
    began = time.perf_counter()
    assert turning.go(view, other, lambda: bpy.ops.ed.undo_push(message="Turn Cones"))
    assert time.perf_counter() - began < 0.2, "turning doesn't block"
    yield lambda: not turning.is_turning()
    assert group.facing == str(other), group.facing
    yield 1.0

    # Undo: the cones stand as after the first click, and so does the parameter; redo brings them back.
    stood = where(other)
    steps = 0
    while group.facing != str(first) and steps < 4:
        press("Z", region.x + 50, region.y + 50, ctrl=True)
        yield 1.2
        view = support.only_view()
        group = view.tracevis3d.cone
        steps += 1
    assert group.facing == str(first), (group.facing, first, steps)
    assert in_front(first)
    for _ in range(steps):
        press("Z", region.x + 50, region.y + 50, ctrl=True, shift=True)
        yield 1.2
    view = support.only_view()
    group = view.tracevis3d.cone
    assert group.facing == str(other), group.facing
    assert np.allclose(where(other), stood, atol=1e-4)
    assert state.exploring

    # In a ball a double click moves to the middle.
    group.layout = "hyperbolic"
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.tracevis3d.rebuild()
    yield 3.0
    points, calls = balls()
    far = int(calls[np.argmax(np.where(calls >= 0, np.abs(points[:, 0]), -1.0))])
    x, y = pointer.project(region, area.spaces.active.region_3d, [where(far)])[0]
    x, y = x + region.x, y + region.y
    send("MOUSEMOVE", "NOTHING", x, y)
    yield 0.6
    hit = next(iter(state.hit.calls.values()))
    press("LEFTMOUSE", x, y)
    press("LEFTMOUSE", x, y)
    yield lambda: group.focus == str(hit) and not turning.is_turning()
    assert group.facing == group.focus == str(hit), (group.facing, group.focus, hit)
    yield 1.0
    support.screenshot(place / "ball_moved.png")
    points, _ = balls()
    assert abs(where(hit)[0] - (points[:, 0].max() + points[:, 0].min()) / 2) < 2.0
    press("ESC", x, y)
    yield lambda: not state.exploring


support.drive(main(), place, "turned", patience=60.0)
