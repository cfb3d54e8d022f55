"""Point at live views in a real window: ``live_memory.py MEMORY [VIEW ...] FOLDER``, memory's and others.

Where ``MEMORY`` is empty, only at the others.

A program that is made up publishes calls, waits and blocks. The mouse rests on bars of each live view while
time flows and while it stands; the view of memory is arranged, zoomed by the wheel, and something is
suggested; then the wheel and flying go into a recorded memory. Writes screenshots and, if all went well,
``pointed``.
"""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

memory, *others, place = support.arguments()
place = Path(place)
#: What is said of bars of each live view.
WORDS = {"memory": "Block of", "icicle": "codec.", "threads": "Wait", "interactions": "codec"}


class Program(threading.Thread):
    """Two threads of calls with waits; images that are kept, a cache that grows, rows that come and go."""

    def __init__(self, publishing):
        super().__init__(daemon=True)
        self.suggested = []
        self.publisher = publishing.Publisher(
            "tcp://127.0.0.1:*", "demo.py", suggestions=self.suggested.append
        )
        self.over = threading.Event()

    def run(self):
        put, number = self.publisher.put, self.publisher.number
        sites = ("load_image", "resize", "Cache.put", "decode_row", "parse", "emit")
        modules = ("app", "codec")
        functions = [
            number("functions", f"{modules[i % 2]}.{s} (/a/{modules[i % 2]}.py:{10 * i + 7})")
            for i, s in enumerate(sites)
        ]
        frames = [number("frames", (f, -1, 10 * i + 9)) for i, f in enumerate(functions)]
        threads = [number("threads", (1, i, name)) for i, name in enumerate(("main", "worker"))]
        lock, acquire = number("objects", "queue.lock"), number("operations", "Lock.acquire")
        rng, live, rows, images = np.random.default_rng(3), [], [], []
        address, tick = 4096, 0
        while not self.over.wait(0.033):
            now, blocks = self.publisher.now(), []

            def allocate(site, size, now=now, blocks=blocks):
                nonlocal address
                address += size + 64
                blocks.append((0, now, address, size, frames[site]))
                return address

            if tick % 60 == 10:
                # Who connects late does not learn of the first ones.
                images.append(allocate(0, 9_000_000))
                blocks += [(1, now, images.pop(0), 0, -1)] if len(images) > 4 else []
            if tick % 10 == 0:
                allocate(2, 160_000)
            if tick % 45 == 44:
                blocks += [(1, now, a, 0, -1) for a in rows]
                rows = []
            else:
                rows.append(allocate(3, 120_000))
            live += [allocate(int(s), int(100 * rng.pareto(1.2)) + 16) for s in rng.integers(1, 6, 12)]
            for _ in range(min(9, len(live))):
                blocks.append((1, now, live.pop(int(rng.integers(len(live)))), 0, -1))
            kind, time, at, size, stack = zip(*blocks, strict=True)
            put(
                "memory",
                kind=kind,
                thread=[threads[0]] * len(kind),
                time=time,
                address=at,
                size=size,
                stack=stack,
            )
            a, b = functions[3 + tick % 2], functions[1]
            for thread in threads:
                when = now - np.array([30, 28, 12, 2]) * 1_000_000
                put("calls", kind=[0, 0, 1, 1], thread=[thread] * 4, function=[a, b, b, a], time=when)
            put("sync", kind=[1, 0], thread=threads, operation=[acquire] * 2, object=[lock] * 2,
                start=[now - 9_000_000, now - 25_000_000], end=[now - 9_000_000,
                now - 8_000_000])  # fmt: skip
            tick += 1
        self.publisher.close(0.2)


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    program = Program(support.extension(".tracevis3d.live.publisher"))
    program.start()
    feed_of = support.extension(".operators.live.watched_feed").Feed
    explore = ".operators.explore."
    state, pointer = support.extension(explore + "overlay").state, support.extension(explore + "pointer")
    bars = support.extension(explore + "motion.live_bars")
    window = bpy.context.window_manager.windows[0]
    area = max((a for a in window.screen.areas if a.type == "VIEW_3D"), key=lambda a: a.width)
    region = next(r for r in area.regions if r.type == "WINDOW")

    def here():
        return bpy.context.temp_override(window=window, area=area, region=region)

    def send(kind, value, x, y, **keys):
        window.event_simulate(type=kind, value=value, x=int(x), y=int(y), **keys)

    area.spaces.active.show_region_ui = True
    yield support.at_rest()
    sidebar = next(r for r in area.regions if r.type == "UI")
    if not bpy.app.version < (4, 5):
        sidebar.active_panel_category = "TraceVis"
    wanted = bpy.context.window_manager.tracevis3d_live
    shown = [*["memory"] * bool(memory), *others]
    wanted.endpoint, wanted.window, wanted.view = program.publisher.endpoint, 8.0, shown[0]
    with here():
        assert bpy.ops.tracevis3d.live_connect() == {"FINISHED"}
    feed = feed_of.current
    yield support.updated(feed, 4)
    with here():
        assert bpy.ops.tracevis3d.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}

    def spot(word):
        """Return the pixel in the middle of those at which ``word`` is said of what is there; None."""
        right, found = region.width - sidebar.width, []
        for y in np.linspace(0.25, 0.75, 45) * region.height:
            for x in np.linspace(0.15, 0.9, 60) * right:
                ray = pointer.ray_through(region, area.spaces.active.region_3d, x, y)
                one = bars.describe_at(window.scene, ray)
                if one and (word in one[0].title if word != "codec" else word == one[0].title):
                    found.append((region.x + x, region.y + y))
        if not found:
            return None
        away = np.array(found) - np.median(found, axis=0)
        return found[int(np.argmin((away**2).sum(axis=1)))]

    def pointed(word):
        """Whether something is said of what the mouse is on; if not, move it to where ``word`` is now.

        Bars move on between looking for one and the event of the mouse.
        """
        if state.descriptions:
            return True
        at = spot(word)
        if at is not None:
            # It may be where the mouse is already, and a mouse that rests sends nothing.
            send("MOUSEMOVE", "NOTHING", at[0] + 1, at[1])
            send("MOUSEMOVE", "NOTHING", *at)
        return False

    for view in shown:
        word = WORDS[view]
        if wanted.view != view:
            wanted.view = view
        # Until it is somewhere in the view.
        yield lambda word=word: spot(word) is not None
        yield lambda word=word: pointed(word)
        # Time flows on below a mouse that rests: what is said stays up to date, and nothing breaks.
        first = [one.lines() for one in state.descriptions]
        yield support.updated(feed, 5)
        assert not feed.trouble, feed.trouble
        support.say(view=view, first=first, later=[one.lines() for one in state.descriptions])
        support.screenshot(place / f"point-{view}.png")
        with here():
            assert bpy.ops.tracevis3d.live_pause() == {"FINISHED"}
        yield 0.3
        yield lambda word=word: pointed(word)
        with here():
            assert bpy.ops.tracevis3d.live_pause() == {"FINISHED"}

    def arrange_and_zoom():
        """Yield while the live memory is arranged, zoomed, and muted by its legend."""
        # By call site, while the mouse rests; then nearer by the wheel, about what is below the mouse.
        wanted.view = "memory"
        yield lambda: spot("Block of 8.58 MiB") is not None
        flow = feed.shown.view
        wanted.views.memory.order = "site"
        yield support.updated(feed, 1)
        support.screenshot(place / "memory-on-the-way.png")
        yield lambda: not flow._wants_order and flow.blocks.by_site
        yield support.updated(feed, 5)
        support.screenshot(place / "memory-by-site.png")
        yield lambda: spot("Block of 8.58 MiB") is not None
        # The picture goes on while the mouse is under way: what it clicks may be elsewhere by then.
        for _ in range(10):
            if (at := spot("Block of 8.58 MiB")) is not None:
                send("MOUSEMOVE", "NOTHING", *at)
                yield lambda: bool(state.descriptions)
                send("LEFTMOUSE", "PRESS", *at)
                send("LEFTMOUSE", "RELEASE", *at)
            yield 0.5
            if feed.picked is not None and feed.picked.subject.size == 9_000_000:
                break
        assert feed.picked.subject.size == 9_000_000
        with here():
            assert bpy.ops.tracevis3d.live_suggest(what="look") == {"FINISHED"}
        yield lambda: bool(program.suggested)
        assert program.suggested[0].sentence.endswith("(9,000,000 bytes) of app.load_image:9")
        yield support.updated(feed, 3)
        support.screenshot(place / "memory-picked.png")
        for _ in range(4):
            send("WHEELUPMOUSE", "PRESS", *at, ctrl=True)
            yield 0.3
        yield lambda: flow.sight[1] - flow.sight[0] < 0.3
        left, right = flow.sight
        yield support.updated(feed, 4)
        support.screenshot(place / "memory-nearer.png")
        send("WHEELDOWNMOUSE", "PRESS", *at, ctrl=True)
        yield lambda: flow.sight[1] - flow.sight[0] > right - left
        send("HOME", "PRESS", *at)
        send("HOME", "RELEASE", *at)
        yield lambda: flow.sight == (0.0, 1.0)

        # A click on the legend mutes what is not meant, Esc takes it back.
        overlay = support.extension(".operators.live.overlay")

        def entry():
            made = overlay.drawn(region)
            found = [target for target in made.targets if target.kind == "entry"] if made is not None else []
            return found[0].box if found else None

        yield lambda: entry() is not None
        left, low, right, high = entry()
        on = region.x + (left + right) / 2, region.y + (low + high) / 2
        send("MOUSEMOVE", "NOTHING", *on)
        yield lambda: any(label == "click" for said in state.descriptions for label, _ in said.rows)
        send("LEFTMOUSE", "PRESS", *on)
        send("LEFTMOUSE", "RELEASE", *on)
        yield lambda: len(feed.chosen) == 1
        yield support.updated(feed, 3)
        support.screenshot(place / "memory-chosen.png")
        assert feed.shown.chosen == feed.chosen
        send("ESC", "PRESS", *on)
        send("ESC", "RELEASE", *on)
        yield lambda: not feed.chosen
        assert state.exploring

    def go_into_a_recording():
        """Yield while the wheel zooms in a recorded memory, and while one flies into it."""
        # The wheel in a recorded memory, and flying into it.
        with here():
            bpy.ops.tracevis3d.import_trace(filepath=str(memory))
        yield lambda: any(v.tracevis3d.view == "memory" and "memray" in v.name for v in support.views())
        yield support.at_rest()
        view = next(v for v in support.views() if "memray" in v.name)
        with here():
            assert bpy.ops.tracevis3d.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
        yield support.at_rest()
        x, y = region.x + 0.4 * region.width, region.y + 0.4 * region.height
        send("MOUSEMOVE", "NOTHING", x, y)
        for _ in range(3):
            send("WHEELUPMOUSE", "PRESS", x, y, ctrl=True)
            yield support.at_rest()
        group = view.tracevis3d.memory
        yield lambda: group.right - group.left < 0.5
        yield support.at_rest()
        support.screenshot(place / "recorded-nearer.png")
        support.say(left=group.left, right=group.right)
        send("ESC", "PRESS", x, y)
        send("ESC", "RELEASE", x, y)
        yield lambda: not state.exploring
        before = np.array(area.spaces.active.region_3d.view_matrix)
        with here():
            assert bpy.ops.tracevis3d.fly.poll()
            bpy.ops.tracevis3d.fly("INVOKE_DEFAULT")
        # Who flies is never at rest: the mouse steers.
        yield lambda: any(operator.bl_idname == "TRACEVIS3D_OT_flying" for operator in window.modal_operators)
        send("MOUSEMOVE", "NOTHING", x, y)
        for _ in range(4):
            send("WHEELUPMOUSE", "PRESS", x, y)
            yield 0.3
        yield lambda: np.abs(np.array(area.spaces.active.region_3d.view_matrix) - before).max() > 1.0
        send("LEFTMOUSE", "PRESS", x, y)
        yield 2.0
        support.screenshot(place / "recorded-flown.png")

    if memory:
        yield from arrange_and_zoom()
    at = region.x + 0.4 * region.width, region.y + 0.4 * region.height
    send("MOUSEMOVE", "NOTHING", *at)
    yield 0.5
    send("ESC", "PRESS", *at)
    send("ESC", "RELEASE", *at)
    yield lambda: not state.exploring
    bpy.context.window_manager.tracevis3d_live.folder = str(place)
    program.over.set()
    with here():
        assert bpy.ops.tracevis3d.live_stop() == {"FINISHED"}
    yield support.at_rest()
    support.screenshot(place / "memory-stopped.png")
    if memory:
        yield from go_into_a_recording()


support.drive(main(), place, "pointed", patience=90.0)
