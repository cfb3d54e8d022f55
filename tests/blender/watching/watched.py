"""Watch a real program in a real window while it is used: ``watched.py ENDPOINT NAME VIEWS FOLDER``.

Writes two screenshots of each view, some seconds apart, and one of what *Stop* left; if all went well, the
file ``NAME``.
"""

import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

endpoint, name, views, place = support.arguments()
place = Path(place)


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    feed_of = support.extension(".operators.live.watched_feed").Feed
    area = next(a for a in bpy.context.window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    sidebar = next(r for r in area.regions if r.type == "UI")

    def act(operator):
        window = bpy.context.window_manager.windows[0]
        with bpy.context.temp_override(window=window, area=area, region=region):
            assert operator() == {"FINISHED"}

    for _ in range(2):  # the tabs are there only when the sidebar was drawn
        area.spaces.active.show_region_ui = True
        with suppress(AttributeError, TypeError):  # read-only before 4.5
            sidebar.active_panel_category = "TraceVis"
        yield support.at_rest()
    wanted = bpy.context.window_manager.tracevis3d_live
    wanted.endpoint, wanted.window, wanted.folder = endpoint, 8.0, str(place)
    wanted.view = views.split(",")[0]
    act(bpy.ops.tracevis3d.live_connect)
    feed = feed_of.current
    yield lambda: feed.subscriber.rows > 1000
    for view in views.split(","):
        if wanted.view != view:
            wanted.view = view
        for turn in (1, 2):
            rows = feed.subscriber.rows
            yield support.updated(feed, 8)
            assert not feed.trouble, feed.trouble
            # The program is used, and bars come of it.
            yield lambda rows=rows: feed.subscriber.rows > rows and feed.shown.ring.bars > 0
            support.screenshot(place / f"{name}-{view}-{turn}.png")
        assert feed.program() in feed.shown.name, feed.shown.name
        support.say(
            program=name,
            view=view,
            bars=feed.shown.ring.bars,
            rows=feed.subscriber.rows,
            lost=feed.subscriber.lost,
            updates=len(feed.updates) / max(feed.updates[-1] - feed.updates[0], 1e-9),
            tick_ms=1e3 * sorted(feed.tick_s)[len(feed.tick_s) // 2],
            latency_to_picture_ms=1e3 * sorted(feed.latency_s)[len(feed.latency_s) // 2],
        )
    act(bpy.ops.tracevis3d.live_stop)
    yield lambda: feed_of.current is None
    source = support.only_view().tracevis3d.sources[0]
    assert source.path.endswith(".tv3"), source.path
    act(bpy.ops.tracevis3d.rebuild)
    yield support.at_rest()
    support.screenshot(place / f"{name}-stopped.png")


# Under tracemalloc a page of pydoc takes some 30 times as long, on a busy machine many seconds.
support.drive(main(), place, name, patience=240.0)
