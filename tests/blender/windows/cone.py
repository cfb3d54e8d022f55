"""A cone tree in a real window: click, turn, undo, come near: ``cone.py TRACE FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``turned``.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support
from mathutils import Euler

trace, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    explore = ".operators.explore."
    state = support.extension(explore + "overlay").state
    turning, detail_objects = (
        support.extension(explore + "motion.transition"),
        support.extension(".tracevis3d.scene.window.detail_objects"),
    )
    selection, element_metadata = (
        support.extension(".operators.state.selection"),
        support.extension(".tracevis3d.scene.window.element_metadata"),
    )
    pointer = support.extension(explore + "pointer")
    at = support.Window()
    at.show(trace, "cone")
    yield support.at_rest()
    view = support.only_view()
    key, group = view.tracevis3d.sources[0].hash, view.tracevis3d.cone

    def over(x, y):
        """Return a condition: what is under this pixel of the window has been looked for."""
        return lambda: state.place is not None and np.allclose(at.placed(state.place), (x, y), atol=2)

    def balls():
        """Return the nodes' places in the scene, float64 (n, 3), and their calls."""
        points, calls = [], []
        for shown in view.objects:
            if shown.get("tracevis3d_kind") == "node" and shown.visible_get():
                holds = element_metadata.pickable_mesh(shown)
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
                yield int(calls[i]), *at.pixel(points[i])

    def where(call):
        points, calls = balls()
        return points[np.flatnonzero(calls == call)[0]]

    def root():
        points, _ = balls()
        return points[np.argmax(points[:, 2])]

    def in_front(call):
        ball, top = where(call), root()
        return ball[1] < top[1] and abs(ball[0] - top[0]) < 0.35 * abs(ball[1] - top[1])

    at.explore()
    yield support.at_rest()

    def is_under(x, y, call):
        """Whether a pixel of the window shows a call: the mouse need not go to all that show none."""
        with at.inside():
            hit = pointer.under(
                bpy.context, at.region, at.area.spaces.active, x - at.region.x, y - at.region.y
            )
        return hit is not None and list(hit.calls.values()) == [call]

    def point_at(but=()):
        """Return a call that the mouse is over now, and where."""
        for call, x, y in front():
            if call in but or in_front(call) or abs(where(call)[0] - root()[0]) < 0.5:
                continue
            if not at.is_free(x, y) or not is_under(x, y, call):
                continue
            at.move(x, y)
            yield support.at_rest()
            if state.hit is not None and list(state.hit.calls.values()) == [call]:
                found.append((call, x, y))
                return
        raise AssertionError("no ball can be pointed at")

    found = []
    yield from point_at()
    first, x, y = found[-1]
    support.screenshot(place / "cone_pointed.png")
    before = where(first)
    at.press("LEFTMOUSE", x, y)
    yield turning.is_running
    assert group.facing == "", "nothing is stored on the way"
    stood = [before]
    while turning.is_running():
        stood.append(where(first))
        yield 0.02
    moved = np.linalg.norm(np.diff(stood, axis=0), axis=1)
    print("steps", np.round(moved, 3).tolist(), flush=True)
    assert np.count_nonzero(moved) >= 3, "it moves in steps"
    assert group.facing == str(first)
    assert selection.selected(key).calls.tolist() == [first]
    assert in_front(first), (where(first), root())
    yield support.at_rest()
    support.screenshot(place / "cone_turned.png")

    # A click on the way goes on from there to another.
    yield support.at_rest()
    yield from point_at({first})
    second, x, y = found[-1]
    at.press("LEFTMOUSE", x, y)
    yield turning.is_running
    yield 0.3
    other = next(c for c, _, _ in front() if c not in (first, second))
    began = time.perf_counter()
    given = support.extension(explore + "actions").state_of(view, call=other)
    change = support.extension(".tracevis3d.features.call_tree.cone.actions").turn_to(given)
    assert turning.start(view, change, lambda: bpy.ops.ed.undo_push(message="Turn Cones"))
    assert time.perf_counter() - began < 0.2, "turning doesn't block"
    yield lambda: not turning.is_running()
    assert group.facing == str(other), group.facing
    yield support.at_rest()

    # Undo: the cones stand as after the first click, and so does the parameter; redo brings them back.
    stood = where(other)
    steps = 0
    while group.facing != str(first) and steps < 4:
        at.press("Z", at.region.x + 50, at.region.y + 50, ctrl=True)
        yield support.at_rest()
        view = support.only_view()
        group = view.tracevis3d.cone
        steps += 1
    assert group.facing == str(first), (group.facing, first, steps)
    assert in_front(first)
    for _ in range(steps):
        at.press("Z", at.region.x + 50, at.region.y + 50, ctrl=True, shift=True)
        yield support.at_rest()
    view = support.only_view()
    group = view.tracevis3d.cone
    assert group.facing == str(other), group.facing
    assert np.allclose(where(other), stood, atol=1e-4)
    assert state.exploring

    # Who comes near a closed cone sees it open, in its place; what has opened can be pointed at.
    stood = {int(c): point for point, c in zip(*balls())}
    shown = next(o for o in view.objects if o.get("tracevis3d_kind") == "closed subtree")
    holds = element_metadata.pickable_mesh(shown)
    largest = int(np.argmax(holds.size[:, 0]))
    tip = holds.low[largest].astype(float)
    home = at.eye.view_perspective
    at.eye.view_perspective = "PERSP"
    at.eye.view_rotation = Euler((np.radians(75), 0.0, 0.0)).to_quaternion()
    at.eye.view_location = tip - [0.0, 0.0, 0.2]
    at.eye.view_distance = 1.6 * max(1.0, float(holds.size[largest, 0]))
    yield lambda: len(detail_objects.opened(view, 0)) > 0
    yield support.at_rest()
    opened = set(detail_objects.opened(view, 0).tolist())
    points, calls = balls()
    assert all(np.allclose(where(call), point, atol=1e-5) for call, point in stood.items())
    parent = np.asarray(support.extension(".operators.state.sources").in_memory(view)[0].calls.parent)
    support.screenshot(place / "cone_near.png")
    for point, call in zip(points, calls.tolist()):
        if call in stood or int(parent[call]) not in opened:
            continue
        x, y = at.pixel(point)
        if not at.is_free(x, y) or not is_under(x, y, call):
            continue  # out of sight, behind the eye, under a panel or covered
        at.move(x, y)
        yield over(x, y)
        yield support.at_rest()
        if state.hit is not None and list(state.hit.calls.values()) == [call]:
            break
    else:
        raise AssertionError("nothing that has opened can be pointed at")
    support.screenshot(place / "cone_near_pointed.png")
    at.eye.view_distance = 60.0
    yield lambda: not detail_objects.objects_of(view)
    at.eye.view_perspective = home
    yield support.at_rest()
    assert {int(c) for c in balls()[1]} == set(stood)

    # In a ball a double click moves to the middle.
    assert state.hit is not None
    group.layout = "hyperbolic"
    with at.inside():
        bpy.ops.tracevis3d.rebuild()
        assert state.hit is None, "what was under the mouse is gone"
        bpy.ops.view3d.view_all()
    yield support.at_rest()
    points, calls = balls()
    # The farthest from the middle that no panel covers.
    for i in np.argsort(-np.abs(points[:, 0]))[:40].tolist():
        if calls[i] < 0:
            continue
        x, y = at.pixel(where(int(calls[i])))
        if not at.is_free(x, y):
            continue
        at.move(x, y)
        yield over(x, y)
        yield support.at_rest()
        if state.hit is not None:
            break
    hit = next(iter(state.hit.calls.values()))
    at.press("LEFTMOUSE", x, y)
    at.press("LEFTMOUSE", x, y)
    yield lambda: group.focus == str(hit) and not turning.is_running()
    assert group.facing == group.focus == str(hit), (group.facing, group.focus, hit)
    yield support.at_rest()
    support.screenshot(place / "ball_moved.png")
    # The middle of the ball is that of its rim, wherever the other nodes are.
    rim = next(o for o in support.only_view().objects if o.name.endswith(" horizon"))
    assert np.abs(where(hit) - np.mean(rim.bound_box, axis=0)).max() < 0.1, where(hit)
    at.press("ESC", x, y)
    yield lambda: not state.exploring


support.drive(main(), place, "turned", patience=60.0)
