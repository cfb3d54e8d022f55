"""In a real window: import by a simulated drop, stop it with ESC, look, undo: ``window.py TRACE FOLDER``.

Started by Blender with ``--enable-event-simulate``. Writes screenshots and, if all went well, ``passed``.
"""

import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import support

trace, place = map(Path, support.arguments())
PATIENCE = 120.0
bpy.context.preferences.view.show_splash = False


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    task = support.extension(".operators.task").Task
    cache = support.extension(".tracevis3d.trace.cache")
    forget = support.extension(".operators.sources").forget
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    space = area.spaces.active
    space.show_region_ui = True
    yield 0.5
    sidebar = next(r for r in area.regions if r.type == "UI")
    if hasattr(sidebar, "active_panel_category"):
        with suppress(AttributeError, TypeError):  # read-only before 4.5
            sidebar.active_panel_category = "TraceVis"
    yield 0.5
    support.screenshot(place / "empty.png")

    def drop():
        with bpy.context.temp_override(window=window, area=area, region=region):
            return bpy.ops.tracevis3d.import_trace(
                "INVOKE_DEFAULT", directory=str(trace.parent), files=[{"name": trace.name}]
            )

    # A person who drops a file sees it being read, and can stop that.
    cache.clear()
    assert drop() == {"RUNNING_MODAL"}
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
    started = time.perf_counter()
    assert drop() == {"RUNNING_MODAL"}
    yield lambda: task.current is None
    support.say(imported_after_s=time.perf_counter() - started)
    view = support.only_view()
    assert view.tracevis3d.sources[0].hash == support.digest(trace)
    assert space.region_3d.view_perspective == "CAMERA"
    yield 2.0
    support.screenshot(place / "imported.png")

    # A parameter changed in the panel shows at once, and one undo takes it back.
    group = view.tracevis3d.icicle
    before = group.color
    group.color = "function"
    assert group.color != before
    yield 1.0
    assert not support.only_view().tracevis3d.stale, "the change waits for Rebuild"
    assert space.region_3d.view_perspective == "CAMERA", "the 3D view has left the camera"
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.ed.undo_push(message="color")
    support.screenshot(place / "changed.png")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.ed.undo()
    yield 0.5
    assert support.only_view().tracevis3d.icicle.color == before
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.ed.undo()
    yield 0.5
    assert not support.views(), "undo leaves the import in the scene"
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.ed.redo()
    yield 0.5
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
    yield 0.5
    support.screenshot(place / "error.png")
    assert len(support.views()) == 1


_steps = main()
_waiting = [None, 0.0]


def step():
    """Go on with :func:`main` when what it waits for has come."""
    wanted, since = _waiting
    try:
        if callable(wanted) and not wanted():
            if time.perf_counter() - since > PATIENCE:
                raise AssertionError("waited in vain")
            return 0.02
        wanted = next(_steps)
        _waiting[:] = [wanted, time.perf_counter()]
        return 0.02 if callable(wanted) else wanted
    except StopIteration:
        (place / "passed").write_text("passed")
    except BaseException:
        traceback.print_exc()
        (place / "failed").write_text(traceback.format_exc())
    sys.stdout.flush()
    bpy.ops.wm.quit_blender()
    return None


bpy.app.timers.register(step, first_interval=1.0)
