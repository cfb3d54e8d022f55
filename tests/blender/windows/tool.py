"""From the first start to exploring by the tool: ``tool.py FOLDER``; the result lies in ``FOLDER/tooled``.

Nothing is started: in the workspace the mouse is all it takes, and Blender's own tools take its place.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

place = Path(support.arguments()[-1])


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    task, selection = support.extension(".operators.task"), support.extension(".operators.state.selection")
    explore = ".operators.explore."
    state, keys = support.extension(explore + "overlay").state, support.extension(explore + "keys")
    pointer, window_time = (support.extension(explore + name) for name in ("pointer", "motion.window_time"))
    window = bpy.context.window_manager.windows[0]

    def area():
        return next(x for x in window.screen.areas if x.type == "VIEW_3D")

    def inside():
        region = next(r for r in area().regions if r.type == "WINDOW")
        return bpy.context.temp_override(window=window, area=area(), region=region)

    def send(kind, value, x, y, **held):
        window.event_simulate(type=kind, value=value, x=int(x), y=int(y), **held)

    def press(kind, x, y, **held):
        send(kind, "PRESS", x, y, **held)
        send(kind, "RELEASE", x, y, **held)

    def chosen():
        with inside():
            return keys.is_chosen(bpy.context)

    def spot():
        """Return a pixel in which a call is met."""
        with inside():
            region = bpy.context.region
            for y in range(120, region.height - 100, 11):
                for x in range(150, region.width - 500, 11):
                    hit = pointer.under(bpy.context, region, area().spaces.active, x, y)
                    if hit is not None and hit.calls and hit.kind == "call":
                        return x + region.x, y + region.y
        raise AssertionError("nothing is under any pixel")

    begun = window.workspace
    # What a newcomer is told, until it is closed, and the example that travels in the extension.
    welcome = support.extension(".operators.workspace.welcome")
    assert welcome.is_wanted()
    area().spaces.active.show_region_ui = True
    yield support.at_rest()
    next(r for r in area().regions if r.type == "UI").active_panel_category = "TraceVis"
    area().tag_redraw()
    yield support.at_rest()
    support.screenshot(place / "welcome.png")
    with inside():
        assert bpy.ops.tracevis3d.open_example("INVOKE_DEFAULT") == {"FINISHED"}
    yield lambda: window.workspace.name == "TraceVis" and task.idle()
    yield lambda: len(window.screen.areas) == 4 and len(support.only_view().tracevis3d_tree_rows) > 0
    yield support.at_rest()
    key = support.only_view().tracevis3d.sources[0].hash
    assert chosen()
    with inside():
        assert bpy.ops.tracevis3d.close_welcome() == {"FINISHED"}
    assert not welcome.is_wanted()
    support.extension(".operators.preferences").stored().welcome = True
    assert begun.tools.from_space_view3d_mode("OBJECT").idname != keys.TOOL

    def over(x, y):
        """Return a condition: what lies under a pixel is said."""

        def said():
            send("MOUSEMOVE", "NOTHING", x + over.turn % 2, y)
            over.turn += 1
            return state.hit is not None and bool(state.descriptions)

        return said

    over.turn = 0
    x, y = spot()
    yield over(x, y)
    press("LEFTMOUSE", x, y)
    yield lambda: len(selection.selected(key)) == 1
    yield support.at_rest()
    support.screenshot(place / "tool.png")

    # Esc takes nothing away; Ctrl and the wheel, W and Home work at once; ? shows all keys.
    press("ESC", x, y)
    yield support.at_rest()
    assert state.exploring
    assert len(selection.selected(key)) == 1
    view = support.only_view()
    whole = window_time.of(view, 0)
    send("WHEELUPMOUSE", "PRESS", x, y, ctrl=True)
    yield lambda: window_time.of(view, 0) != whole and not window_time.is_gliding()
    press("HOME", x, y)
    yield lambda: window_time.of(view, 0) == whole and not window_time.is_gliding()
    press("W", x, y)
    yield lambda: window_time.of(view, 0) != whole and not window_time.is_gliding()
    press("HOME", x, y)
    yield lambda: window_time.of(view, 0) == whole and not window_time.is_gliding()
    press("TWO", x, y)
    yield lambda: state.message == "This scene has 1 view"
    press("ONE", x, y)
    yield lambda: state.message == view.name
    yield support.at_rest()
    press("SLASH", x, y, shift=True)
    yield support.at_rest()
    support.screenshot(place / "keys.png")
    press("ESC", x, y)
    yield support.at_rest()

    # Another tool takes its place; ours goes on with the next move of the mouse.
    with inside():
        keys.choose(bpy.context, keys.OTHER_TOOL)
    send("MOUSEMOVE", "NOTHING", x + 3, y)
    yield lambda: not state.exploring
    with inside():
        keys.choose(bpy.context, keys.TOOL)
    x, y = spot()
    yield over(x, y)
    assert state.exploring

    # A saved file has Blender's own tool, so that it opens without the extension; ours stays, and comes back.
    ours = window.workspace
    saved = str(place / "tooled.blend")
    written = []
    watch = bpy.app.handlers.save_pre
    watch.append(lambda *_: written.append(ours.tools.from_space_view3d_mode("OBJECT").idname))
    with inside():
        bpy.ops.wm.save_as_mainfile(filepath=saved, copy=True)
    watch.pop()
    assert written == [keys.OTHER_TOOL], written
    assert chosen()
    send("MOUSEMOVE", "NOTHING", x + 3, y)
    yield over(x, y)
    assert state.exploring

    # In another workspace nothing runs.
    window.workspace = begun
    yield lambda: window.workspace == begun
    send("MOUSEMOVE", "NOTHING", x, y)
    yield lambda: not state.exploring
    yield support.at_rest()
    send("MOUSEMOVE", "NOTHING", x + 5, y)
    yield support.at_rest()
    assert not state.exploring

    bpy.ops.wm.open_mainfile(filepath=saved)
    yield support.at_rest()
    opened = bpy.context.window_manager.windows[0]
    tool = opened.workspace.tools.from_space_view3d_mode("OBJECT")
    assert tool.idname == keys.TOOL, tool.idname
    window = opened
    x, y = spot()
    yield over(x, y)


support.drive(main(), place, "tooled", patience=120.0, smooth=False)
