"""A live feed in Blender without a window: undo, other files, nonsense, Stop, and disabling meanwhile.

``live.py FOLDER``: prints ``LIVE`` if all went well.
"""

import sys
import time
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import numpy as np
import support

(place,) = map(Path, support.arguments())
place.mkdir(parents=True, exist_ok=True)
support.enable()
module = support.extension(".operators.live.watched_feed")
connect = support.extension(".operators.live.connect")
publishing = support.extension(".tracevis3d.live.publisher")
protocol = support.extension(".tracevis3d.live.protocol")
growing = support.extension(".tracevis3d.live.growing")
api = support.extension(".tracevis3d.api")
operators = bpy.ops.tracevis3d
wanted = bpy.context.window_manager.tracevis3d_live


def step(message):
    bpy.ops.ed.undo_push(message=message)


def until(test, seconds=60.0, doing=lambda: None):
    end = time.monotonic() + seconds
    while not test() and time.monotonic() < end:
        doing()
        module._tick()
        time.sleep(0.01)
    assert test(), "waited in vain"


class Program:
    """Publishes nested calls of two modules, a wait now and then, and blocks of memory."""

    def __init__(self, **more):
        self.publisher = publishing.Publisher("tcp://127.0.0.1:*", "program.py", **more)
        number = self.publisher.number
        self.functions = [number("functions", f"{m}.f (/p/{m}.py:3)") for m in ("alpha", "beta")]
        self.thread = number("threads", (1, 1, "main"))
        self.calls = 0

    def work(self):
        now, (a, b) = self.publisher.now(), self.functions
        at = np.array([0, 1000, 400_000, 900_000]) + now - 900_000
        self.publisher.put(
            "calls", kind=[0, 0, 1, 1], thread=[self.thread] * 4, function=[a, b, b, a], time=at
        )
        self.publisher.put(
            "memory", kind=[0], thread=[self.thread], time=[now], address=[self.calls * 70_000],
            size=[50_000], stack=[-1],
        )  # fmt: skip
        self.calls += 2


live_bars = support.extension(".operators.explore.motion.live_bars")


def rays():
    """Rays from above through the middles of some bars that are shown."""
    picking = support.extension(".tracevis3d.layout.sight.picking")
    shown = feed.shown
    for page in (shown.ring.open, *shown.ring.pages):
        if not page.count:
            continue
        place = bpy.data.objects[f"{shown.name} page {page.number}"]
        mesh = np.empty(24 * page.room, np.float32)
        place.data.attributes["position"].data.foreach_get("vector", mesh)
        for corner in mesh.reshape(-1, 8, 3)[: page.count : max(page.count // 20, 1)]:
            x, y, z = corner.mean(axis=0) + np.array(place.location)
            yield picking.Ray.of((x, y, z + 40), (0.0, 0.0, -1.0))


def try_memory():
    """Order, width, zoom and suggestions of the live view of memory."""
    flow, group = feed.shown.view, wanted.views.memory
    for name, value in (("order", "site"), ("width", "log"), ("right", 0.5)):
        feed.subscriber.paused = True
        setattr(group, name, value)
        # While time stands still what was asked for is shown all the same.
        until(lambda: not flow.moving)
        feed.subscriber.paused = False
    assert (flow.by_site, flow.logarithmic, flow.sight) == (True, True, (0.0, 0.5))
    ray = next(iter(rays()))
    assert live_bars.zoom(bpy.context.scene, ray, 2.0)
    assert abs(flow.sight[1] - flow.sight[0] - 0.25) < 1e-6
    assert abs(group.right - group.left - 0.25) < 1e-5
    group.left, group.right, group.order, group.width = 0.0, 1.0, "creation", "bytes"
    until(lambda: not flow.moving, doing=program.work)
    feed.picked = None
    assert not operators.live_suggest.poll()
    for ray in rays():
        if (
            live_bars.describe_at(bpy.context.scene, ray)
            and live_bars._state.pointed.description.subject is not None
        ):
            assert live_bars.pick()
            break
    assert operators.live_suggest.poll()
    assert operators.live_suggest(what="free") == {"FINISHED"}
    until(lambda: suggested, doing=program.work)
    assert suggested[0].what == "free"
    assert suggested[0].size == 50_000 or suggested[0].site


step("start")
assert not operators.live_stop.poll()
# Online access is about the network, not about this machine.
assert connect.may_connect("tcp://127.0.0.1:5570") == connect.may_connect("ipc:///tmp/x") == ""
if not bpy.app.online_access:
    assert "nline" in connect.may_connect("tcp://192.0.2.7:5570"), "another machine needs leave"
wanted.endpoint = "tcp://192.0.2.7:5570"
support.fails(operators.live_connect, "both sides need keys")


class Written:
    """Stands for a panel's layout: keeps what is written, and takes nothing else."""

    def __init__(self):
        self.words = []

    def column(self, **_):
        return self

    split = row = column

    def label(self, text="", **_):
        self.words.append(text)


def try_without_zeromq():
    """Panel and operator say in one sentence what is missing."""
    panel, kept = support.extension(".panels.live").TRACEVIS3D_PT_live, sys.modules.get("zmq")
    sys.modules["zmq"] = None
    written = Written()
    region = types.SimpleNamespace(width=300)
    system = types.SimpleNamespace(ui_scale=1.0)
    context = types.SimpleNamespace(region=region, preferences=types.SimpleNamespace(system=system))
    panel.draw(types.SimpleNamespace(layout=written), context)
    assert " ".join(written.words) == module.missing() + "."
    assert module.missing().startswith("ZeroMQ (pyzmq) is missing: install the TraceVis3D zip")
    support.fails(operators.live_connect, "ZeroMQ (pyzmq) is missing")
    del sys.modules["zmq"]
    if kept is not None:
        sys.modules["zmq"] = kept
    assert module.missing() == ""


try_without_zeromq()

suggested = []
program = Program(suggestions=suggested.append)
# Long enough that what was shown is still there when a busy machine comes to look at it.
wanted.endpoint, wanted.window = program.publisher.endpoint, 10.0
assert operators.live_connect() == {"FINISHED"}
feed = module.Feed.current
until(lambda: feed.subscriber.trace.calls > 40, doing=program.work)
until(lambda: feed.shown.ring.bars > 20, doing=program.work)

# A tick makes no mesh, object or step of undo.
before = len(bpy.data.meshes), len(bpy.data.objects)
came = feed.subscriber.rows
until(lambda: feed.subscriber.rows > came + 60, doing=program.work)
assert (len(bpy.data.meshes), len(bpy.data.objects)) == before
# Time flows: what has been shown moves back.
page = next(o for o in feed.shown.collection.objects if o.get("tracevis3d_part") == "page 1")
places = []
for _ in range(3):
    program.work()
    module._tick()
    places.append(page.location.x)
    time.sleep(0.05)
assert places[0] > places[1] > places[2], places

for view in ("threads", "interactions", "memory", "icicle"):
    wanted.view = view
    came = feed.subscriber.rows
    until(lambda: feed.subscriber.rows > came + 30, doing=program.work)  # noqa: B023
    assert feed.shown.view.__class__.__name__ == view.capitalize()
    assert not feed.trouble, feed.trouble
    assert feed.shown.ring.bars > 1
    # Whatever lies under the mouse is described and lit, while time flows and while it stands.
    for paused in (False, True):
        # What comes while it is paused is left out: nothing may be under way.
        until(lambda: feed.subscriber.trace.calls == program.calls)
        until(lambda: len(feed.subscriber.trace.batches("memory", 0)[0]) == program.calls // 2)
        feed.subscriber.paused = paused
        module._tick()
        said = {one.title for ray in rays() for one in live_bars.describe_at(bpy.context.scene, ray)}
        assert said, view
        assert live_bars._state.pointed is None or len(live_bars._state.pointed.shape.point) == 8
    feed.subscriber.paused = False
    titles = {"threads": "f", "interactions": "alpha calls beta", "memory": "Block of", "icicle": "f"}
    assert any(titles[view] in title for title in said), said
    if view == "memory":
        try_memory()

# A person's own steps are taken back while the feed goes on.
step("live")
bpy.data.objects.new("mine", None)
step("mine")
program.work()
module._tick()
bpy.ops.ed.undo()
assert "mine" not in bpy.data.objects
came = feed.subscriber.rows
until(lambda: feed.subscriber.rows > came + 20, doing=program.work)
assert not feed.out_of_sight
assert not feed.trouble
# Back to before the feed: its objects are gone, what comes is kept, and can be shown again.
bpy.ops.ed.undo()
came = feed.subscriber.rows
until(lambda: feed.subscriber.rows > came + 20, doing=program.work)
assert feed.out_of_sight
assert operators.live_show() == {"FINISHED"}
until(lambda: feed.shown is not None and feed.shown.ring.bars > 5, doing=program.work)
assert not feed.out_of_sight

# Somebody deletes what is shown, or opens another file.
bpy.data.objects.remove(next(o for o in feed.shown.collection.objects if o.type == "MESH"))
came = feed.subscriber.rows
until(lambda: feed.subscriber.rows > came + 10, doing=program.work)
bpy.ops.wm.save_as_mainfile(filepath=str(place / "live.blend"))
bpy.ops.wm.read_homefile(use_empty=True, app_template="")
came = feed.subscriber.rows
until(lambda: feed.subscriber.rows > came + 10, doing=program.work)
assert feed.out_of_sight
assert module.Feed.current is feed
bpy.ops.wm.open_mainfile(filepath=str(place / "live.blend"))
assert operators.live_show() == {"FINISHED"}
assert len([c for c in bpy.data.collections if "tracevis3d_live" in c]) == 1

# Stop keeps everything, as an ordinary trace.
program.work()
until(lambda: feed.subscriber.trace.calls == program.calls)
wanted = bpy.context.window_manager.tracevis3d_live
wanted.folder = str(place)
assert operators.live_stop() == {"FINISHED"}
assert module.Feed.current is None
(kept,) = place.glob("program-*.tv3")
trace = api.load(kept)
assert len(trace.calls) == program.calls
assert set(trace.functions.label) == {"alpha.f", "beta.f"} or len(trace.functions) == 2
view = support.only_view()
assert view.tracevis3d.view == "icicle"
assert operators.rebuild() == {"FINISHED"}
program.publisher.close(0.2)

# A publisher that sends nonsense: one sentence, and no harm.
import zmq

context = zmq.Context()
router = context.socket(zmq.ROUTER)
router.setsockopt(zmq.LINGER, 0)
wanted.endpoint = f"tcp://127.0.0.1:{router.bind_to_random_port('tcp://127.0.0.1')}"
assert operators.live_connect() == {"FINISHED"}
feed = module.Feed.current
identity = router.recv_multipart()[0]
router.send_multipart([identity, *protocol.encode(protocol.Welcome("s", "odd", 1, time.time_ns()))])
rng = np.random.default_rng(3)
for _ in range(200):
    router.send_multipart([identity, rng.bytes(30), rng.bytes(8)])
until(lambda: feed.subscriber.bad == 200)
assert feed.subscriber.why == "a header is not JSON"
# Rows that are missing are reported, with their time, in the panel and in the picture.
for number, when in enumerate((10**9, 2 * 10**9)):
    begin = {"kind": [0], "thread": [0], "function": [0], "time": [when]}
    columns = {name: np.array(begin[name], dtype) for name, dtype, *_ in protocol.TABLES["calls"]}
    batch = protocol.Batch("calls", 5 * number, 0, when, columns, published=100 * number)
    router.send_multipart([identity, *protocol.encode(batch)])
until(lambda: feed.subscriber.rows == 2)
assert feed.subscriber.lost == 99
panel, written = support.extension(".panels.live").TRACEVIS3D_PT_live, Written()
panel._draw_numbers(types.SimpleNamespace(layout=written), feed)
assert written.words[written.words.index("Lost") + 1] == "99"
assert written.words[written.words.index("Gaps") + 1] == "1, the last: 99 at 1 s to 2 s"
assert feed.status().endswith("99 lost, the last 99 at 1 s to 2 s")
ruler = support.extension(".tracevis3d.live.stream.ruler")
until(lambda: feed.shown._ticks is not None and feed.shown._ticks[1] == (10**9, 2 * 10**9))
assert ruler.gap_ends(feed.shown.view, 2 * 10**9) == (10**9, 2 * 10**9)
# So are clocks that go back.
batch = protocol.Batch("calls", 6, 0, 10**9, {**columns, "time": np.array([10**9])}, published=101)
router.send_multipart([identity, *protocol.encode(batch)])
until(lambda: feed.subscriber.rows == 3)
written = Written()
panel._draw_numbers(types.SimpleNamespace(layout=written), feed)
assert written.words[written.words.index("Clock Went Back") + 1] == "1 x, by 1 s at most"
assert feed.status().endswith("the clock went back once, by 1 s at most")
assert operators.live_pause() == {"FINISHED"}
assert operators.live_stop() == {"FINISHED"}
router.close()
context.term()

# Disabling the extension meanwhile keeps what came in the extension's own folder.
program = Program()
wanted.endpoint, wanted.folder = program.publisher.endpoint, ""
assert operators.live_connect() == {"FINISHED"}
until(lambda: module.Feed.current.subscriber.trace.calls > 10, doing=program.work)
folder = module.recordings_folder()
assert not list(folder.glob("*.tv3"))
assert bpy.ops.preferences.addon_disable(module=support.NAME) == {"FINISHED"}
assert len(list(folder.glob("program-*.tv3"))) == 1
program.publisher.close(0.2)
print("LIVE", flush=True)
