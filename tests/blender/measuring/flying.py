"""How many frames a second one sees while flying, and what they cost: ``flying.py ROUTES SECONDS FOLDER``.

``ROUTES`` is JSON: a list of [name, view, trace, parameters]. Started by Blender with
``--enable-event-simulate``, the extension installed, by ``benchmarks/window/bench_flying.py``, which reads
``FOLDER/flown``, lines of JSON. It needs no Xvfb: with a graphics card and a screen it measures the card.
"""

import json
import sys
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import gpu
import support

routes, seconds, place = support.arguments()
seconds, place = float(seconds), Path(place)
#: Frames each way at least, however long they take without a graphics card.
_FRAMES = 2
#: What of ours has run -> processor seconds of this thread, each time that it ran.
spent = defaultdict(list)


def timed(name, function):
    """Return a function that does the same, and notes how long it takes."""

    def run(*words, **named):
        begun = time.thread_time()
        try:
            return function(*words, **named)
        finally:
            spent[name].append(time.thread_time() - begun)

    return run


def timed_panel(draw):
    """Return the same for a panel: Blender looks at how many arguments its method takes."""
    draw = timed("panels", draw)
    return lambda self, context: draw(self, context)


def name_of(function):
    """Return where a function of the extension stands: ``operators.overlay.draw._draw``."""
    function = getattr(function, "__func__", function)
    return f"{function.__module__}.{function.__qualname__}".partition("tracevis3d.")[2]


def watch():
    """Enable the extension so that whatever Blender calls of it while one flies is timed."""
    bpy.ops.preferences.addon_disable(module=support.NAME)
    view, timers = bpy.types.SpaceView3D, bpy.app.timers
    add, register = view.draw_handler_add, timers.register
    view.draw_handler_add = staticmethod(lambda draw, *rest: add(timed(name_of(draw), draw), *rest))
    try:
        support.enable()
    finally:
        view.draw_handler_add = add
    kept = {}

    def later(function, **named):
        # Blender knows a timer by its function.
        kept[function] = kept.get(function) or timed(name_of(function), function)
        return register(kept[function], **named)

    timers.register = later
    known, forget = timers.is_registered, timers.unregister
    timers.is_registered = lambda function: known(kept.get(function, function))
    timers.unregister = lambda function: forget(kept.get(function, function))
    flying = support.extension(".operators.explore.motion.flying").TRACEVIS3D_OT_flying
    for part in ("_fly", "_look"):
        setattr(flying, part, timed(name_of(getattr(flying, part)), getattr(flying, part)))
    for panel in bpy.types.Panel.__subclasses__():
        if panel.__module__.startswith(support.NAME) and hasattr(panel, "draw"):
            panel.draw = timed_panel(panel.draw)


def flown(shown):
    """Yield while one flies ahead for half of the time, then back; return what it was like."""
    region, frames = shown.region, []

    def drawn():
        if bpy.context.region == region:
            frames.append(time.perf_counter())

    counter = bpy.types.SpaceView3D.draw_handler_add(drawn, (), "WINDOW", "POST_PIXEL")
    x, y = region.x + region.width // 2, region.y + region.height // 2
    shown.move(x, y)
    yield 0.5
    with shown.inside():
        # Not "fly": where there is no view there is nothing to fly through, but a frame to be measured.
        bpy.ops.tracevis3d.flying("INVOKE_DEFAULT")
    # Frames are not held up by what lets others have the processor while a step waits.
    bpy.app.timers.unregister(support.pause)
    yield 0.5
    frames.clear()
    spent.clear()
    begun, worked, alone = time.perf_counter(), time.process_time(), time.thread_time()
    for key in "WS":
        until, enough = time.perf_counter() + seconds / 2, len(frames) + _FRAMES
        shown.send(key, "PRESS", x, y)
        yield lambda until=until, enough=enough: time.perf_counter() > until and len(frames) >= enough
        shown.send(key, "RELEASE", x, y)
    lasted, worked = time.perf_counter() - begun, time.process_time() - worked
    alone = time.thread_time() - alone
    count = max(len(frames), 1)
    gaps = sorted(b - a for a, b in pairwise(frames)) or [lasted]
    ours = {name: sum(times) / count * 1e3 for name, times in spent.items()}
    worst = {name: max(times) * 1e3 for name, times in spent.items()}
    shown.press("ESC", x, y)
    bpy.app.timers.register(support.pause, persistent=True)
    bpy.types.SpaceView3D.draw_handler_remove(counter, "WINDOW")
    yield 0.5
    return {
        "frames": len(frames),
        "per_second": len(frames) / lasted,
        "slowest_ms": gaps[-1] * 1e3,
        "median_ms": gaps[len(gaps) // 2] * 1e3,
        "thread_ms": alone / count * 1e3,
        "process_ms": worked / count * 1e3,
        "ours_ms": sum(ours.values()),
        "each_ms": dict(sorted(ours.items(), key=lambda one: -one[1])),
        "longest_ms": worst,
    }


def elements_of(views):
    """Return how many elements the views show."""
    metadata = support.extension(".tracevis3d.scene.window.element_metadata")
    held = [metadata.pickable_mesh(one) for view in views for one in view.objects if one.visible_get()]
    return sum(len(one) for one in held if one is not None and one.has_description)


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    watch()
    rows = []
    for name, view, trace, parameters in [["empty", "", "", {}], *json.loads(routes)]:
        bpy.ops.wm.read_homefile(use_empty=True, app_template="")
        yield support.at_rest()
        shown = support.Window()
        if view:
            shown.show(trace, view)
            if parameters:
                own = getattr(support.only_view().tracevis3d, view)
                for parameter, value in parameters.items():
                    setattr(own, parameter, value)
                assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
        yield support.at_rest()
        for overlay in (True, False) if view else (False,):
            shown.area.spaces.active.overlay.show_overlays = overlay
            yield support.at_rest()
            facts = yield from flown(shown)
            facts |= {"name": name, "overlay": overlay, "elements": elements_of(support.views())}
            facts["size"] = [shown.region.width, shown.region.height]
            facts["drawn_by"] = f"{gpu.platform.renderer_get()}, {gpu.platform.version_get()}"
            rows.append(facts)
            support.say(**facts)
    (place / "flown").write_text("\n".join(map(json.dumps, rows)))


support.drive(main(), place, "finished", patience=600.0)
