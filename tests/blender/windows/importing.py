"""In a real window: import by a simulated drop, stop it with ESC, look, undo.

``importing.py LARGE TRACE FOLDER``: reading ``LARGE`` is stopped, ``TRACE`` is looked at. Where both are the
same, that ends with a search and a query: each further picture of it takes software seconds.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``passed``.
"""

import sys
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

large, trace, place = map(Path, support.arguments())


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    # What is tried here happens in any workspace.
    support.extension(".operators.preferences").stored().workspace = False
    task = support.extension(".operators.task").Task
    cache = support.extension(".tracevis3d.trace.storage.cache")
    forget = support.extension(".operators.state.sources").forget
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    space = area.spaces.active
    space.show_region_ui = True
    yield support.at_rest()
    sidebar = next(r for r in area.regions if r.type == "UI")
    if hasattr(sidebar, "active_panel_category"):
        with suppress(AttributeError, TypeError):  # read-only before 4.5
            sidebar.active_panel_category = "TraceVis"
    yield support.at_rest()
    support.screenshot(place / "empty.png")

    def drop(trace):
        with bpy.context.temp_override(window=window, area=area, region=region):
            return bpy.ops.tracevis3d.import_trace(
                "INVOKE_DEFAULT", directory=str(trace.parent), files=[{"name": trace.name}]
            )

    # A person who drops a file sees it being read, and can stop that.
    cache.clear()
    assert drop(large) == {"RUNNING_MODAL"}
    assert task.current is not None
    running = task.current
    yield lambda: running.done > 0 or not running.running
    assert not bpy.ops.tracevis3d.import_trace.poll(), "two imports at a time"
    support.screenshot(place / "reading.png")
    x, y = region.x + region.width // 2, region.y + region.height // 2
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    window.event_simulate(type="ESC", value="PRESS", x=x, y=y)
    window.event_simulate(type="ESC", value="RELEASE", x=x, y=y)
    stopped = time.perf_counter()
    yield lambda: task.current is None
    support.say(stopped_after_s=time.perf_counter() - stopped)
    assert type(running.error).__name__ == "Cancelled", running.error
    assert not support.views(), "a stopped import left something behind"

    # Not stopped, it ends with a view that the 3D view looks at.
    longest = [0.0, time.thread_time()]

    def watch():
        now = time.thread_time()
        longest[:] = [max(longest[0], now - longest[1]), now]
        return 0.005

    # How long the window's thread computes before it looks at the mouse again, however busy the machine is.
    bpy.app.timers.register(watch)
    started = time.perf_counter()
    assert drop(trace) == {"RUNNING_MODAL"}
    yield lambda: task.current is None
    yield support.at_rest()
    support.say(imported_after_s=time.perf_counter() - started, longest_cpu_of_the_window_s=longest[0])
    view = support.only_view()
    assert view.tracevis3d.sources[0].hash == support.digest(trace)
    # The data fill the 3D view; the page is one key away.
    assert space.region_3d.view_perspective == "PERSP"
    yield support.at_rest()
    support.screenshot(place / "imported.png")

    # Search, results and pins, the selection's facts, a bookmark; each a step of undo.
    longest[0] = 0.0
    scene = bpy.context.scene
    selection = support.extension(".operators.state.selection")
    with bpy.context.temp_override(window=window, area=area, region=region):
        scene.tracevis3d_search.pattern = "visit" if "pylint" in trace.name else "parse"
    yield lambda: task.current is None and scene.tracevis3d_search.total > 0
    for _ in range(3):
        with bpy.context.temp_override(window=window, area=area, region=region):
            assert bpy.ops.tracevis3d.search_step("INVOKE_DEFAULT", step="NEXT") == {"FINISHED"}
        yield support.at_rest()
    yield lambda: scene.tracevis3d_search.index == 2
    shown = bpy.context.window_manager.tracevis3d_details
    assert shown.summary.startswith("1 call")
    assert len(shown.rows) > 6
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.tracevis3d.bookmark_add(name="third result") == {"FINISHED"}
    yield support.at_rest()
    support.screenshot(place / "searched.png")
    turned = space.region_3d.view_rotation.copy()
    space.region_3d.view_rotation = (1.0, 0.0, 0.0, 0.0)
    yield 0.2
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.tracevis3d.bookmark_go() == {"FINISHED"}
    yield support.at_rest()
    away = turned.rotation_difference(space.region_3d.view_rotation).angle
    assert away < 1e-3, (turned, space.region_3d.view_rotation)
    # A query is a selection: its calls light up.
    with bpy.context.temp_override(window=window, area=area, region=region):
        scene.tracevis3d_search.pattern = (
            "SELECT id FROM calls WHERE depth = 2 ORDER BY end_ns - start_ns DESC LIMIT 5"
        )
    yield lambda: task.current is None and scene.tracevis3d_search.summary.endswith("by a query")
    assert scene.tracevis3d_search.total == len(selection.selected(scene.tracevis3d_search.trace).calls) > 0
    yield support.at_rest()
    support.screenshot(place / "queried.png")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.tracevis3d.search_clear()
        bpy.ops.ed.undo_push(message="search")
    yield 0.2

    # Our keys are free in Blender's own keymap, and are found in the preferences.
    keys = bpy.context.window_manager.keyconfigs
    ours = [i for k in keys.addon.keymaps for i in k.keymap_items if i.idname.startswith("tracevis3d.")]
    assert len(ours) >= 5
    taken = {
        (i.type, i.ctrl, i.alt, i.shift)
        for k in keys.default.keymaps
        if k.name in ("3D View", "3D View Generic", "Object Mode", "Object Non-modal", "Window", "Screen")
        for i in k.keymap_items
    }
    # Those of the time strip are its own: in other editors they do nothing.
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert not bpy.ops.tracevis3d.strip.poll()
    ours = [i for i in ours if i.idname != "tracevis3d.strip"]
    assert not [i.idname for i in ours if (i.type, i.ctrl, i.alt, i.shift) in taken]
    bpy.app.timers.unregister(watch)
    support.say(longest_cpu_of_the_window_s=round(longest[0], 3))
    if trace == large:
        return

    # A parameter changed in the panel shows at once, and one undo takes it back.
    stood = space.region_3d.view_matrix.copy()
    group = view.tracevis3d.icicle
    before = group.color
    group.color = "function"
    assert group.color != before
    # It does not wait for Rebuild.
    yield lambda: not support.only_view().tracevis3d.stale
    assert space.region_3d.view_matrix == stood, "the 3D view has moved"
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.ed.undo_push(message="color")
    support.screenshot(place / "changed.png")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.ed.undo()
    yield support.at_rest()
    assert support.only_view().tracevis3d.icicle.color == before
    # Past the search, to before the import.
    for _ in range(4):
        if not support.views():
            break
        with bpy.context.temp_override(window=window, area=area, region=region):
            bpy.ops.ed.undo()
        yield support.at_rest()
    assert not support.views(), "undo leaves the import in the scene"
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.ed.redo()
    yield support.at_rest()
    assert support.only_view().all_objects

    # An error in a window is a report, not a traceback.
    forget()
    rubbish = place / "rubbish.json"
    rubbish.write_text("[1, 2, 3]")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.tracevis3d.import_trace(
            "INVOKE_DEFAULT", directory=str(place), files=[{"name": rubbish.name}]
        )
    yield lambda: task.current is None
    yield support.at_rest()
    support.screenshot(place / "error.png")
    assert len(support.views()) == 1


support.drive(main(), place, "passed", smooth=False)
