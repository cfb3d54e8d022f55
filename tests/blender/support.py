"""What the scripts that run inside a Blender share; with ``bpy`` from a wheel they run in plain Python."""

import hashlib
import importlib
import json
import mmap
import os
import struct
import sys
import time
import traceback
import zlib
from itertools import combinations
from pathlib import Path

import bpy

#: Seconds without a change after which the screen is taken to be at rest.
REST = 0.25
#: Seconds of sleep in each round of Blender's main loop.
PAUSE = 0.01
#: Pixels: the size of texts over the scene, at least, where the interface is not enlarged.
LEAST = 11.0
#: What follows the steps that are driven now; Blender quits where there is nothing left: see in_turn.py.
turns = []
NAME = "bl_ext.user_default.tracevis3d"


def arguments():
    """Return the words after ``--``, or all of them in plain Python."""
    words = sys.argv
    return words[words.index("--") + 1 :] if "--" in words else words[1:]


def extension(part=""):
    """Return the installed extension's package, or a module in it."""
    return importlib.import_module(NAME + part)


def enable():
    """Enable the installed extension in this process."""
    assert bpy.ops.preferences.addon_enable(module=NAME) == {"FINISHED"}
    assert NAME in bpy.context.preferences.addons


def views():
    """Return the collections that hold views."""
    return [c for c in bpy.data.collections if c.tracevis3d.view]


def only_view():
    """Return the one collection that holds a view."""
    (collection,) = views()
    return collection


def digest(path):
    """Return the SHA-256 of a file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def pixels(path):
    """Return a picture as float array (height, width, 4)."""
    import numpy as np

    image = bpy.data.images.load(str(path), check_existing=False)
    try:
        width, height = image.size
        values = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(values)
    finally:
        bpy.data.images.remove(image)
    return values.reshape(height, width, 4)


def is_picture(path, width, height):
    """Assert that a picture has the size, and more than one colour."""
    got = pixels(path)
    assert got.shape == (height, width, 4), got.shape
    assert got[..., :3].std() > 0.02, f"{path} is blank"
    return got


def same_picture(one, other):
    """Assert that two pictures differ in no more than a few pixels of edges."""
    import numpy as np

    a, b = pixels(one), pixels(other)
    assert a.shape == b.shape
    different = np.mean(np.abs(a - b).max(axis=2) > 8 / 255)
    assert different < 0.01, f"{different:.2%} of the pixels differ"


def fails(operator, *words, **settings):
    """Assert that ``operator`` fails with a sentence that has ``words``, and no traceback; return it."""
    try:
        result = operator(**settings)
    except RuntimeError as error:
        sentence = str(error).strip()
        assert "Traceback" not in sentence, sentence
        for word in words:
            assert word in sentence, (word, sentence)
        return sentence
    raise AssertionError(f"it should have failed, but returned {result}")


def say(**facts):
    """Print facts for the log."""
    print("FACTS", json.dumps(facts, default=str), flush=True)


def screenshot(path):
    """Write what the screen of ``on_screen.sh`` shows to a PNG file."""
    import numpy as np

    dump = Path(os.environ["TRACEVIS3D_SCREEN"]).read_bytes()
    # An X window dump: big-endian words, a table of colours, then the rows of blue, green, red, unused.
    words = struct.unpack(">25I", dump[:100])
    width, height, row = words[4], words[5], words[12]
    start = words[0] + 12 * words[19]
    rows = np.frombuffer(dump, np.uint8, height * row, start).reshape(height, row // 4, 4)[:, :width, 2::-1]
    body = b"".join(b"\0" + line.tobytes() for line in rows)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(body, 1)), (b"IEND", b""))
    png = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    ]
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(png))
    assert rows[::8, ::8].std() > 10, f"{path}: the screen is blank"


def preferences():
    """Return Blender's own preferences, those that are single values: (group, name) -> value."""
    return {
        (name, one.identifier): getattr(group, one.identifier)
        for name in ("view", "system", "inputs", "filepaths")
        for group in [getattr(bpy.context.preferences, name)]
        for one in group.bl_rna.properties
        if one.type in ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING")
        and not one.is_readonly and not getattr(one, "is_array", False)
    }  # fmt: skip


def restore(wanted):
    """Set the preferences to what :func:`preferences` has returned."""
    now = preferences()
    for (group, name), value in wanted.items():
        if now[group, name] != value:
            setattr(getattr(bpy.context.preferences, group), name, value)
    ours = bpy.context.preferences.addons.get(NAME)
    # A script may have left the extension switched off.
    if ours is not None and ours.preferences is not None:
        ours.preferences.property_unset("workspace")


class Window:
    """Blender's window with its 3D view, moved by a simulated mouse and keys.

    Attributes
    ----------
    window, area, region
        Of the 3D view.
    """

    def __init__(self):
        self.window = bpy.context.window_manager.windows[0]
        self.area = next(a for a in self.window.screen.areas if a.type == "VIEW_3D")
        self.region = next(r for r in self.area.regions if r.type == "WINDOW")

    @property
    def eye(self):
        """How the 3D view looks."""
        return self.area.spaces.active.region_3d

    def inside(self):
        """Return a context in which operators are called as if from the 3D view."""
        return bpy.context.temp_override(window=self.window, area=self.area, region=self.region)

    def show(self, trace, view):
        """Import a trace into a view, which takes a while."""
        with self.inside():
            bpy.ops.tracevis3d.import_trace(filepath=str(trace), view=view)

    def explore(self):
        """Begin to explore."""
        with self.inside():
            assert bpy.ops.tracevis3d.explore("INVOKE_DEFAULT") == {"RUNNING_MODAL"}

    def send(self, kind, value, x, y, **keys):
        """Simulate an event."""
        self.window.event_simulate(type=kind, value=value, x=int(x), y=int(y), **keys)

    def move(self, x, y, **keys):
        """Move the mouse."""
        self.send("MOUSEMOVE", "NOTHING", x, y, **keys)

    def press(self, kind, x, y, **keys):
        """Press a key or a button, and let it go."""
        self.send(kind, "PRESS", x, y, **keys)
        self.send(kind, "RELEASE", x, y, **keys)

    def pixel(self, point):
        """Return where a point of the scene is in the window."""
        pointer = extension(".operators.explore.pointer")
        x, y = pointer.projection_of(self.region, self.eye).pixels([point])[0]
        return x + self.region.x, y + self.region.y

    def placed(self, place):
        """Return a place of the region in pixels of the window."""
        return place[0] + self.region.x, place[1] + self.region.y

    def is_free(self, x, y):
        """Whether a pixel of the window lies in the 3D view, and under none of its panels."""

        def inside(region):
            return 0 < x - region.x < region.width and 0 < y - region.y < region.height

        others = (r for r in self.area.regions if r.type != "WINDOW" and min(r.width, r.height) > 1)
        return inside(self.region) and not any(map(inside, others))


def legible(texts, region, what, least=LEAST):
    """Assert that texts over a region are large enough, inside it, and apart from each other; return them."""
    for text in texts:
        assert text.size >= least, (what, text)
        left, bottom, right, top = text.box
        assert min(left, bottom) >= 0, (what, text)
        assert right <= region.width, (what, text)
        assert top <= region.height, (what, text)
    for one, other in combinations(texts, 2):
        a, b = one.box, other.box
        apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
        assert apart, (what, one, other)
    return texts


def at_rest():
    """Return a condition: the screen has shown the same for a while, so what was sent has been answered.

    Where nobody can look at the screen it is a second's rest.
    """
    if "TRACEVIS3D_SCREEN" not in os.environ:
        return soon(lambda: False, 4 * REST)
    shown, since, looks = None, 0.0, 0
    with open(os.environ["TRACEVIS3D_SCREEN"], "rb") as file:
        screen = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def still():
        nonlocal shown, since, looks
        now, before = time.perf_counter(), shown
        shown = zlib.crc32(screen)
        if shown != before:
            since, looks = now, 0
        looks += 1
        return now - since > REST and looks > 4

    return still


def soon(condition, seconds=1.0):
    """Return a condition: this one holds, or did not for so long that it never will."""
    since = time.perf_counter()
    return lambda: condition() or time.perf_counter() - since > seconds


def updated(feed, times):
    """Return a condition: a live feed has been shown anew so many times."""
    begun = time.perf_counter()
    return lambda: sum(at > begun for at in feed.updates) >= times


def line_of(steps):
    """Return the line at which a generator stands, or the innermost of those that it takes its steps from."""
    while getattr(steps.gi_yieldfrom, "gi_frame", None) is not None:
        steps = steps.gi_yieldfrom
    return steps.gi_frame.f_lineno


def pause():
    """Leave the processor to others: where events may be simulated, Blender waits for none."""
    time.sleep(PAUSE)
    return 0.0


def drive(steps, place, done, patience=120.0, smooth=True):
    """Take ``steps``, one after the other while Blender's window lives, then end.

    Each step yields seconds to wait, or a condition to wait for. In the end the file ``done`` is written in
    ``place``, or ``failed`` with what went wrong. Nothing moves or fades on its way unless it is to be
    ``smooth``: each picture on the way takes software a fifth of a second.
    """
    preferences = bpy.context.preferences
    preferences.view.show_splash = False
    # Smoothing takes a processor long: of edges, which are drawn eight times, and of all that lies over them.
    preferences.system.viewport_aa = "OFF"
    preferences.system.use_overlay_smooth_wire = False
    if not smooth:
        preferences.view.smooth_view = 0
    # Explore steps aside for a save that is due, and what is sent meanwhile is lost.
    preferences.filepaths.auto_save_time = 60
    # The next Blender finds what was installed, and nothing that a script has set.
    preferences.use_preferences_save = False
    waiting = [at_rest(), time.perf_counter()]

    def step():
        wanted, since = waiting
        try:
            if callable(wanted):
                asked = time.perf_counter()
                if not wanted():
                    now = time.perf_counter()
                    if now - since > patience:
                        raise AssertionError(f"waited in vain after line {line_of(steps)}")
                    # Asking takes a tenth of the time at most.
                    return max(0.02, 9 * (now - asked))
            wanted = next(steps)
            waiting[:] = [wanted, time.perf_counter()]
            return 0.02 if callable(wanted) else wanted
        except StopIteration:
            (place / done).write_text(done)
        except BaseException:
            traceback.print_exc()
            (place / "failed").write_text(traceback.format_exc())
            turns.clear()
        sys.stdout.flush()
        try:
            (turns.pop(0) if turns else bpy.ops.wm.quit_blender)()
        except Exception:
            traceback.print_exc()
            bpy.ops.wm.quit_blender()
        return None

    # Opening another file must not end it.
    bpy.app.timers.register(step, first_interval=0.1, persistent=True)
    if not bpy.app.timers.is_registered(pause):
        bpy.app.timers.register(pause, persistent=True)
