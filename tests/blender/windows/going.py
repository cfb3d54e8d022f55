"""In a window: menu entries, walking and flying, search and bookmarks on the way, all kinds of elements, ESC.

``going.py TRACE OTHER THREADED FOLDER``; the result lies in ``FOLDER/gone``.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

trace, other, threaded, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    explore = ".operators.explore."
    state = support.extension(explore + "overlay").state
    pointer, related = support.extension(explore + "pointer"), support.extension(explore + "related")
    zoom, navigate = (
        support.extension(explore + "motion.zoom"),
        support.extension(explore + "motion.navigate"),
    )
    selection = support.extension(".operators.state.selection")
    trace_state, task = (
        support.extension(".operators.state.trace_state"),
        support.extension(".operators.task"),
    )
    element_metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    space = area.spaces.active
    operators = bpy.ops.tracevis3d

    def here():
        return bpy.context.temp_override(window=window, area=area, region=region)

    def send(kind, value, x, y, **keys):
        window.event_simulate(type=kind, value=value, x=int(x), y=int(y), **keys)

    def press(kind, x, y, **keys):
        send(kind, "PRESS", x, y, **keys)
        send(kind, "RELEASE", x, y, **keys)

    def view_of(kind, n=0):
        return [v for v in support.views() if v.tracevis3d.view == kind][n]

    def pixel(point):
        x, y = pointer.projection_of(region, space.region_3d).pixels([point])[0]
        return float(x + region.x), float(y + region.y)

    def spots(view, word):
        """Yield pixels in the middle of elements of a view of one kind, widest first."""
        for shown in view.objects:
            holds = element_metadata.pickable_mesh(shown)
            if holds is None or holds.word != word or not holds.shows_calls or not shown.visible_get():
                continue
            matrix = np.array(shown.matrix_world)
            for i in range(min(len(holds), 40)):
                if holds.is_boxes or word == "Marks":
                    low, high = holds.bounds(np.array([i]))
                    point = (low[0] + high[0]) / 2
                else:
                    a, b = int(holds.first[i]), int(holds.first[i + 1])
                    point = holds.middle[a:b].mean(axis=0)
                x, y = pixel(matrix[:3, :3] @ point + matrix[:3, 3])
                left, right, top = support.extension(".operators.views.viewport").covered(area, region)
                inside = region.x + left < x < region.x + region.width - right
                if inside and region.y < y < region.y + region.height - top:
                    yield x, y

    def middle(view, k):
        """Return the pixel of the middle of the front of the k-th widest call of a view, and the call."""
        shown = next(o for o in view.objects if o.get("tracevis3d_kind") == "call" and o.visible_get())
        holds = element_metadata.pickable_mesh(shown)
        i = np.argsort(-holds.size[:, 0])[k]
        matrix = np.array(shown.matrix_world)
        x, y = pixel(matrix[:3, :3] @ (holds.low[i] + holds.size[i] * [0.5, 0, 0.5]) + matrix[:3, 3])
        return x, y, int(holds.id[i])

    def spots_of_calls(view):
        """Return pixels of a view's calls."""
        found = list(spots(view, "Boxes"))
        assert len(found) > 1, view.name
        return found[:2]

    def point_at(view, word):
        """Move over elements of a kind until one is met."""
        for x, y in spots(view, word):
            send("MOUSEMOVE", "NOTHING", x, y)
            since = time.perf_counter()
            yield lambda since=since: state.hit is not None or time.perf_counter() - since > 0.4
            if state.hit is not None and state.hit.pickable.word == word and state.hit.view == view.name:
                assert state.descriptions, word
                yield support.at_rest()
                support.screenshot(place / f"hover_{view.tracevis3d.view}.png")
                return
        raise AssertionError(f"no {word} of {view.name} is met")

    def explore_on():
        with here():
            assert operators.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}

    # Two traces in one scene, and a second view of the first.
    with here():
        operators.import_trace(filepath=str(trace))
        operators.import_trace(filepath=str(other))
    yield support.at_rest()
    first = bpy.context.scene.tracevis3d_view
    second = next(view for view in support.views() if view != first)
    key, other_key = (trace_state.keys_of(view)[0] for view in (first, second))

    # Compare from here, by the menu's own keys: the work runs beside the window, and the mode goes on.
    explore_on()
    yield support.at_rest()
    x, y, call = middle(first, 5)
    send("MOUSEMOVE", "NOTHING", x, y)
    yield lambda: state.hit is not None and state.hit.traces == {key: call}
    press("RIGHTMOUSE", x, y)
    yield support.at_rest()
    press("C", x, y)
    yield support.at_rest()
    support.screenshot(place / "menu_compare.png")
    press("RET", x, y)
    yield lambda: any(v.tracevis3d.view == "compare" for v in support.views()) and task.idle()
    yield support.at_rest()
    assert state.exploring
    compared = view_of("compare")
    assert compared.tracevis3d.compare.focus
    assert trace_state.keys_of(compared) == [key, other_key]
    support.screenshot(place / "compare_from_here.png")

    # In the comparison itself it moves the focus.
    low, _ = spots_of_calls(compared)
    send("MOUSEMOVE", "NOTHING", *low)
    yield lambda: state.hit is not None and state.hit.view == compared.name
    press("RIGHTMOUSE", *low)
    yield support.at_rest()
    focus = compared.tracevis3d.compare.focus
    press("C", *low)
    yield lambda: view_of("compare").tracevis3d.compare.focus != focus
    assert sum(v.tracevis3d.view == "compare" for v in support.views()) == 1

    # What is selected lights up in all views of its trace at once.
    bpy.context.scene.tracevis3d_overview = True
    yield support.at_rest()
    compared = view_of("compare")
    holds = element_metadata.pickable_mesh(
        next(o for o in compared.objects if o.get("tracevis3d_kind") == "call")
    )
    selection.select(key, [int(holds.id[np.argsort(-holds.size[:, 0])[3]])])
    yield support.at_rest()
    lit = related.of_selection(pointer.shown_in(bpy.context.scene, space))
    owners = {next(v.name for v in support.views() if name in v.objects) for name in lit}
    assert len(owners) >= 2, owners
    support.screenshot(place / "selected_in_two_views.png")

    # Search: the next and previous results are flown to.
    press("F", x, y)
    yield lambda: not zoom.is_on_the_way()
    yield support.at_rest()
    bpy.context.scene.tracevis3d_search.pattern = "parse"
    yield lambda: bpy.context.scene.tracevis3d_search.total > 3 and task.idle()
    current = bpy.context.scene.tracevis3d_search.current
    found = []
    for name in ("PERIOD", "PERIOD", "PERIOD", "COMMA"):
        press(name, x, y)
        yield lambda c=current: bpy.context.scene.tracevis3d_search.current != c
        flew = zoom.is_on_the_way()
        yield lambda: not zoom.is_on_the_way()
        current = bpy.context.scene.tracevis3d_search.current
        found.append((current, flew, tuple(space.region_3d.view_location)))
    assert found[3][0] == found[1][0] != found[2][0]
    assert any(flew for _, flew, _ in found)
    assert np.allclose(found[1][2], found[3][2], atol=1e-3)
    assert found[1][2] != found[2][2]
    support.screenshot(place / "next.png")
    # The slash asks what to search for; ESC leaves only that.
    press("SLASH", x, y)
    yield support.at_rest()
    support.screenshot(place / "ask.png")
    # The field, then the dialog.
    for _ in range(2):
        press("ESC", x, y)
        yield support.at_rest()
    assert state.exploring, "leaving the dialog left the mode"

    # Bookmarks are flown to, from the camera too.
    with here():
        operators.bookmark_add(name="there")
    wanted = tuple(space.region_3d.view_location)
    space.region_3d.view_perspective = "CAMERA"
    yield support.at_rest()
    with here():
        operators.bookmark_go("INVOKE_DEFAULT")
    assert zoom.is_on_the_way()
    yield lambda: not zoom.is_on_the_way()
    assert np.allclose(space.region_3d.view_location, wanted, atol=1e-4)

    # ESC in each state: on the way, brushing, with nothing of both.
    press("F", x, y)
    press("ESC", x, y)
    yield support.at_rest()
    assert not zoom.is_on_the_way()
    assert state.exploring, "breaking a way off left the mode"
    space.region_3d.view_perspective = "CAMERA"
    yield support.at_rest()
    x, y = spots_of_calls(view_of("compare"))[0]
    send("MOUSEMOVE", "NOTHING", x, y)
    yield support.at_rest()
    send("LEFTMOUSE", "PRESS", x, y)
    for more in (10, 30):
        yield 0.1
        send("MOUSEMOVE", "NOTHING", x + more, y)
    yield lambda: state.brush is not None
    before = selection.selected(key).time_range
    press("ESC", x + 30, y)
    yield lambda: state.brush is None
    send("LEFTMOUSE", "RELEASE", x + 30, y)
    yield 0.3
    assert state.exploring
    assert selection.selected(key).time_range == before
    press("ESC", x, y)
    yield lambda: not state.exploring

    # Walk and fly: at a speed that fits, until it is called off, which brings back where one stood.
    for how in ("walk", "fly"):
        space.region_3d.view_perspective = "PERSP"
        yield 0.3
        speed = bpy.context.preferences.inputs.walk_navigation.walk_speed
        stood = np.array(space.region_3d.view_matrix)
        send("MOUSEMOVE", "NOTHING", x, y)
        yield 0.2
        with here():
            assert getattr(operators, how)("INVOKE_DEFAULT") == {"FINISHED"}
        yield 0.3
        assert bpy.context.preferences.inputs.walk_navigation.walk_speed == speed
        send("MOUSEMOVE", "NOTHING", x + 1, y)
        yield 0.3
        # To fly, each turn of the wheel is faster than the one before; Blender begins at rest.
        for _ in range(1 if how == "walk" else 3):
            send("W" if how == "walk" else "WHEELUPMOUSE", "PRESS", x + 1, y)

        def way(stood=stood):
            return float(np.linalg.norm(eye_of(space.region_3d.view_matrix) - eye_of(stood)))

        yield lambda: way() > 0.05
        begun, before = time.perf_counter(), way()
        yield 1.0
        speed = (way() - before) / (time.perf_counter() - begun)
        support.screenshot(place / f"{how}.png")
        # The views are crossed in some seconds, not in a blink and not in minutes.
        length = float(np.linalg.norm(np.subtract(*navigate.extent(bpy.context.scene))))
        print("FACTS", how, "units per second", speed, "of", length, flush=True)
        assert (length / 16 if how == "walk" else length / 100) < speed < length, (how, speed, length)
        if how == "walk":
            send("W", "RELEASE", x, y)
        press("RIGHTMOUSE", x, y)
        yield lambda: way() < 1e-2

    # Bent blocks are pointed at and described like boxes.
    with here():
        operators.import_trace(filepath=str(threaded))
    third = trace_state.keys_of(bpy.context.scene.tracevis3d_view)[0]
    for kind, word in (("threads", "Wedges"), ("interactions", "Tubes")):
        with here():
            assert operators.add_view("EXEC_DEFAULT", view=kind, trace=third) == {"FINISHED"}
        yield support.at_rest()
        space.region_3d.view_perspective = "CAMERA"
        yield support.at_rest()
        words = {
            h.word
            for h in map(element_metadata.pickable_mesh, view_of(kind).objects)
            if h is not None and h.shows_calls
        }
        print("FACTS", kind, sorted(words), flush=True)
        if not state.exploring:
            explore_on()
        yield from point_at(view_of(kind), word)
    yield 0.2
    press("ESC", x, y)
    yield lambda: not state.exploring


def eye_of(matrix):
    """Return where one stands by a 3D view's matrix."""
    return np.linalg.inv(np.array(matrix))[:3, 3]


support.drive(main(), place, "gone")
