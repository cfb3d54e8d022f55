"""From two files to what differs between them, in a real window, and what may come between while exploring.

``five_minutes.py A B FOLDER``; the result lies in ``FOLDER/found``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import addon_utils
import bpy
import numpy as np
import support

a, b, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    # What is tried here happens in any workspace.
    support.extension(".operators.preferences").stored().workspace = False
    explore = ".operators.explore."
    state, zoom = support.extension(explore + "overlay").state, support.extension(explore + "motion.zoom")
    pointer, page = support.extension(explore + "pointer"), support.extension(".operators.overlay.page")
    task, selection = support.extension(".operators.task"), support.extension(".operators.state.selection")
    trace_state = support.extension(".operators.state.trace_state")
    operators = bpy.ops.tracevis3d
    window = bpy.context.window_manager.windows[0]

    def area():
        return next(a for a in window.screen.areas if a.type == "VIEW_3D")

    def region():
        return next(r for r in area().regions if r.type == "WINDOW")

    def here():
        return bpy.context.temp_override(window=window, area=area(), region=region())

    def send(kind, value, x, y, **keys):
        window.event_simulate(type=kind, value=value, x=int(x), y=int(y), **keys)

    def press(kind, x, y, **keys):
        send(kind, "PRESS", x, y, **keys)
        send(kind, "RELEASE", x, y, **keys)

    def view():
        return next(v for v in support.views() if v.tracevis3d.view == "compare")

    def titles_hidden():
        printed = page._printed(bpy.context.scene, bpy.context.view_layer)
        assert printed
        return {shown.hide_get() for shown in printed}

    def spot():
        """Return a pixel in which an element that stands for calls is met."""
        with here():
            for y in range(60, region().height - 60, 9):
                for x in range(80, region().width - 320, 9):
                    hit = pointer.under(bpy.context, region(), area().spaces.active, x, y)
                    if hit is not None and hit.calls:
                        return x + region().x, y + region().y
        raise AssertionError("nothing is under any pixel")

    # Two files dropped at once: what differs is listed, without another word.
    with here():
        files = [{"name": path.name} for path in (a, b)]
        assert operators.import_trace("INVOKE_DEFAULT", directory=str(a.parent), files=files) == {
            "RUNNING_MODAL"
        }
    yield lambda: task.idle()
    assert len(view().tracevis3d_differences) >= 3
    space = area().spaces.active
    yield support.at_rest()
    assert space.region_3d.view_perspective != "CAMERA"
    assert space.show_region_ui
    assert titles_hidden() == {True}
    support.screenshot(place / "differences.png")

    # The three largest, one after the other: the view goes there, and the words stand at its top.
    seen = []
    for number in range(3):
        with here():
            view().tracevis3d_difference = number
        yield lambda: not zoom.is_on_the_way()
        yield support.at_rest()
        assert space.region_3d.view_perspective != "CAMERA"
        seen.append((state.banner[1], tuple(space.region_3d.view_location), space.region_3d.view_distance))
        support.screenshot(place / f"difference_{number + 1}.png")
    assert [sentence for sentence, *_ in seen] == [r.sentence for r in view().tracevis3d_differences[:3]]
    assert len(set(seen)) == 3
    assert titles_hidden() == {True}, "the picture's title stands before whoever looks from elsewhere"

    # One of them alone fills the 3D view, and so does the whole again.
    for whole in (False, True):
        with here():
            assert operators.difference_draw("INVOKE_DEFAULT", whole=whole) == {"RUNNING_MODAL"}
        yield lambda: task.idle()
        yield support.at_rest()
        assert space.region_3d.view_perspective != "CAMERA"
        assert titles_hidden() == {True}
        support.screenshot(place / f"difference_{'whole' if whole else 'alone'}.png")

    # The same by keys while exploring; nothing was searched for, so they go through the differences.
    x, y = region().x + 300, region().y + 90
    with here():
        assert operators.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield support.at_rest()
    for key, number in (("COMMA", 1), ("COMMA", 0), ("PERIOD", 1)):
        send("MOUSEMOVE", "NOTHING", x, y)
        press(key, x, y)
        yield lambda number=number: view().tracevis3d_difference == number
        yield lambda: not zoom.is_on_the_way()

    # Saving while exploring; the file holds the list, and its titles are to be seen.
    file = place / "five_minutes.blend"
    with here():
        bpy.ops.wm.save_as_mainfile(filepath=str(file))
    yield support.at_rest()
    assert state.exploring
    press("S", x, y, ctrl=True)
    yield support.at_rest()
    assert state.exploring
    yield lambda: titles_hidden() == {True}

    # Undo and redo while exploring.
    x, y = spot()
    send("MOUSEMOVE", "NOTHING", x, y)
    yield lambda: state.hit is not None
    with here():
        bpy.ops.ed.undo_push(message="before the click")
    press("LEFTMOUSE", x, y)
    hit = state.hit
    yield lambda: any(selection.selected(k).calls.tolist() == [c] for k, c in hit.traces.items())
    press("Z", x, y, ctrl=True)
    yield lambda: not any(selection.selected(k).calls.tolist() == [c] for k, c in hit.traces.items())
    press("Z", x, y, ctrl=True, shift=True)
    yield lambda: any(selection.selected(k).calls.tolist() == [c] for k, c in hit.traces.items())
    assert state.exploring

    # Blender saves by itself only while no mode runs: Explore steps aside when that is due, and comes back.
    with here():
        assert bpy.context.preferences.filepaths.use_auto_save_temporary_files
        modal = support.extension(explore + "modal")
        stood = modal._AUTOSAVE_REST, modal._MINUTE
        modal._AUTOSAVE_REST, modal._MINUTE = 0.2, 1.0
        bpy.context.preferences.filepaths.auto_save_time = 1
    left = []

    def watch():
        left.append(not state.exploring)
        return 0.02

    bpy.app.timers.register(watch)
    yield lambda: any(left)
    yield lambda: state.exploring
    bpy.app.timers.unregister(watch)
    press("LEFTMOUSE", x, y, shift=True)  # where the mouse was left
    yield lambda: not any(selection.selected(k).calls.tolist() == [c] for k, c in hit.traces.items())
    modal._AUTOSAVE_REST, modal._MINUTE = stood
    bpy.context.preferences.filepaths.auto_save_time = 60

    # A window that is closed while one explores in it, and another file while one explores.
    with here():
        assert bpy.ops.wm.window_new_main() == {"FINISHED"}
    yield support.at_rest()
    other = next(w for w in bpy.context.window_manager.windows if w != window)
    press("ESC", x, y)
    yield lambda: not state.exploring
    view_3d = next(a for a in other.screen.areas if a.type == "VIEW_3D")
    with bpy.context.temp_override(
        window=other, area=view_3d, region=next(r for r in view_3d.regions if r.type == "WINDOW")
    ):
        assert operators.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
        yield support.at_rest()
    with bpy.context.temp_override(window=other):
        bpy.ops.wm.window_close()
    yield lambda: not state.exploring
    with here():
        assert operators.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield support.at_rest()
    with here():
        bpy.ops.wm.open_mainfile(filepath=str(file))
    yield support.at_rest()
    window = bpy.context.window_manager.windows[0]
    assert not state.exploring
    assert len(view().tracevis3d_differences) >= 3
    assert view().tracevis3d_difference == 1
    assert len(trace_state.keys_of(view())) == 2

    # Disabled while exploring, it leaves nothing behind.
    with here():
        assert operators.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield support.at_rest()
    support.extension(".operators.preferences").stored().workspace = True
    addon_utils.disable(support.NAME)
    yield support.at_rest()
    assert not state.exploring
    assert not hasattr(bpy.types, "TRACEVIS3D_PT_differences")
    support.screenshot(place / "disabled.png")
    assert np.isfinite(np.array(area().spaces.active.region_3d.view_matrix)).all()


support.drive(main(), place, "found", patience=200.0)
