"""Watch a live feed in a real window: ``live.py ENDPOINT FOLDER``; a publisher runs outside.

Each view, undo, saving, another file, pause, and Stop, which leaves an ordinary trace. Writes screenshots
and, if all went well, ``live``.
"""

import sys
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

endpoint, place = support.arguments()
place = Path(place)


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    feed_of = support.extension(".operators.live.watched_feed").Feed
    overlay = support.extension(".operators.live.overlay")

    def window():
        return bpy.context.window_manager.windows[0]

    def override():
        area = max((a for a in window().screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width)
        region = next(r for r in area.regions if r.type == "WINDOW")
        return bpy.context.temp_override(window=window(), area=area, region=region)

    def open_sidebar():
        area = next(a for a in window().screen.areas if a.type == "VIEW_3D")
        area.spaces.active.show_region_ui = True
        sidebar = next(r for r in area.regions if r.type == "UI")
        with suppress(AttributeError, TypeError):  # read-only before 4.5
            sidebar.active_panel_category = "TraceVis"

    def texts():
        area = max((a for a in window().screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width)
        return overlay.texts(next(r for r in area.regions if r.type == "WINDOW"))

    def check(view):
        """What explains the view is over the data, legible, and nowhere in each other's way."""
        area = max((a for a in window().screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width)
        region = next(r for r in area.regions if r.type == "WINDOW")
        assert area.spaces.active.region_3d.view_perspective == "PERSP", view
        support.legible(overlay.texts(region), region, view)
        parts = {o["tracevis3d_part"]: o for o in feed.shown.collection.objects}
        printed = [parts[name] for name in ("title", "legend", "names", "ticks", "now")]
        hidden = [o.hide_get(view_layer=window().view_layer) for o in printed]
        assert all(hidden), (view, hidden)

    open_sidebar()
    yield support.at_rest()
    open_sidebar()
    wanted = bpy.context.window_manager.tracevis3d_live
    wanted.endpoint, wanted.window = "tcp://198.51.100.1:5570", 10.0
    with override():
        sentence = support.fails(bpy.ops.tracevis3d.live_connect, "keys")
    wanted.endpoint = "nowhere"
    with override():
        support.fails(bpy.ops.tracevis3d.live_connect, "not an endpoint")
    support.say(refused=sentence)
    wanted.endpoint = endpoint
    support.screenshot(place / "live-before.png")
    with override():
        assert bpy.ops.tracevis3d.live_connect() == {"FINISHED"}
        assert not bpy.ops.tracevis3d.live_connect.poll()
    feed = feed_of.current
    yield lambda: feed.subscriber.rows > 0
    for view in ("icicle", "threads", "interactions", "memory"):
        if wanted.view != view:
            wanted.view = view
        yield support.updated(feed, 10)
        yield lambda: len(feed.tick_s) > 1 and feed.latency_s
        assert not feed.trouble, feed.trouble
        assert feed.shown is not None
        # Colours are given after a while.
        yield lambda: {"title", "fact", "legend", "tick"} <= {text.kind for text in texts()}
        check(view)
        support.screenshot(place / f"live-{view}.png")
        support.say(
            view=view,
            bars=feed.shown.ring.bars,
            updates=len(feed.updates) / max(feed.updates[-1] - feed.updates[0], 1e-9),
            tick_ms=1e3 * sorted(feed.tick_s)[len(feed.tick_s) // 2],
            longest_tick_ms=1e3 * sorted(feed.tick_s)[-2],
            latency_to_picture_ms=1e3 * sorted(feed.latency_s)[len(feed.latency_s) // 2],
        )
    wanted.view = "threads"
    yield support.updated(feed, 3)

    # Undo: a step of the user's, taken back while the feed goes on.
    with override():
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.object.empty_add()
        bpy.ops.ed.undo_push(message="empty")
    yield support.updated(feed, 2)
    with override():
        bpy.ops.ed.undo()
    yield support.updated(feed, 4)
    assert feed_of.current is feed
    assert not feed.out_of_sight, feed.trouble
    support.screenshot(place / "live-undone.png")
    for _ in range(4):
        with override():
            if bpy.ops.ed.undo.poll():
                bpy.ops.ed.undo()
        yield 0.3
    assert feed_of.current is feed
    with override():
        for _ in range(4):
            if bpy.ops.ed.redo.poll():
                bpy.ops.ed.redo()
    yield 0.5

    # Saving, and another file.
    bpy.ops.wm.save_as_mainfile(filepath=str(place / "while-live.blend"), copy=True)
    before = feed.subscriber.rows
    bpy.ops.wm.read_homefile(use_empty=False, app_template="")
    yield lambda: feed.out_of_sight
    assert feed_of.current is feed
    open_sidebar()
    yield 0.5
    open_sidebar()
    yield lambda: feed.subscriber.rows > before or feed.subscriber.over
    support.screenshot(place / "live-elsewhere.png")
    with override():
        assert bpy.ops.tracevis3d.live_show() == {"FINISHED"}
    yield support.updated(feed, 4)
    assert not feed.out_of_sight
    with override():
        assert bpy.ops.tracevis3d.live_pause() == {"FINISHED"}
    held = feed.now()
    yield 1.0
    assert feed.now() == held
    support.screenshot(place / "live-paused.png")
    with override():
        assert bpy.ops.tracevis3d.live_pause() == {"FINISHED"}
    yield support.updated(feed, 2)

    # Stop keeps it all.
    bpy.context.window_manager.tracevis3d_live.folder = str(place)
    calls = feed.subscriber.trace.calls
    started = time.perf_counter()
    with override():
        assert bpy.ops.tracevis3d.live_stop() == {"FINISHED"}
    yield lambda: feed_of.current is None
    view = support.only_view()
    (kept,) = place.glob("sync_pillow_8w*.tv3")
    support.say(kept=kept.name, calls=calls, stopped_after_s=time.perf_counter() - started)
    assert view.tracevis3d.sources[0].path.endswith(kept.name)
    with override():
        assert bpy.ops.tracevis3d.rebuild() == {"FINISHED"}
    assert not [c for c in bpy.data.collections if "tracevis3d_live" in c]
    yield support.at_rest()
    support.screenshot(place / "live-stopped.png")


support.drive(main(), place, "live", patience=60.0)
