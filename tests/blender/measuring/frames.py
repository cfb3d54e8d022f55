"""How long a redraw and a move of the mouse take: ``frames.py '{"icicle": ["TRACE"], …}' FOLDER``.

Started by Blender with ``--enable-event-simulate``; ``benchmarks/window/bench_frames.py`` reads
``FOLDER/drawn``, lines of JSON: milliseconds of processor time, the window's other areas included.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

given, place = support.arguments()
place = Path(place)
_TIMES = 12


def median(values):
    """Return the middle one of some values, in milliseconds."""
    return sorted(values)[len(values) // 2] * 1e3


def took(action):
    """Return seconds of processor time of an action, those of software OpenGL's threads included."""
    started = time.process_time()
    action()
    return time.process_time() - started


def draw():
    """Draw the whole window, and wait until it is on the screen."""
    bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=1)


def redrawn(shown):
    """Return the time of a redraw while one turns the view, so that nothing is kept from the last.

    Beside it how many texts lie over it, and the times of placing and of drawing them.
    """
    eye, found, placing, drawing, texts = shown.eye, [], [], [], 0
    overlay = support.extension(".operators.overlay.draw")
    if eye.view_perspective == "CAMERA":
        eye.view_perspective = "PERSP"
    with shown.inside():
        for i in range(_TIMES):
            eye.view_distance *= 1.01 if i % 2 else 1 / 1.01
            found.append(took(draw))
            known = overlay.regions.get(shown.region.as_pointer())
            if known is not None:
                placing.append(known.composing / 1e3)
                drawing.append(known.drawing / 1e3)
                texts = len(overlay.texts(shown.region))
    if not texts:
        return {"redraw": median(found)}
    return {"redraw": median(found), "texts": texts, "placing": median(placing), "drawing": median(drawing)}


def hovered(shown):
    """Return the time of a redraw after the mouse has moved over the elements, with nothing else changed."""
    found = []
    region = shown.region
    with shown.inside():
        for _ in range(2 * _TIMES):  # until edges are smooth
            draw()
    for i in range(_TIMES):
        shown.move(region.x + region.width * (0.3 + 0.03 * i), region.y + region.height * 0.5)
        yield 0.2
        with shown.inside():
            shown.region.tag_redraw()
            found.append(took(draw))
    return median(found)


def name_a_wall(shown):
    """Lay some hundred names over a view: of 5,000 on a wall, half too long for their room."""
    # No detail takes their place.
    bpy.context.scene.tracevis3d_detail = False
    primitives = support.extension(".tracevis3d.drawing.primitives")
    rng, at = np.random.default_rng(1), np.arange(5_000)
    anchor = (
        np.stack([4.0 * (at % 50), -250.0 + 0.0 * at, 1.0 * (at // 50)], axis=1).astype(np.float32) / 12.5
    )
    high, wide = np.full(len(at), 0.8 / 12.5, np.float32), np.full(len(at), 3.9 / 12.5, np.float32)
    text = tuple("n" * int(k) for k in rng.integers(3, 30, len(at)))
    rank = rng.random(len(at)).astype(np.float32)
    group = primitives.Labels(
        "function", text, anchor, high, wide, rank, -1, background=np.zeros(len(at), np.int32)
    )
    support.extension(".tracevis3d.scene.page").store_detail_names(support.only_view(), 0, (group,))
    # Straight at the middle of the wall, before all else: some 20 names beside and 34 above each other.
    eye = shown.eye
    eye.view_perspective, eye.view_rotation = "ORTHO", (0.7071, 0.7071, 0.0, 0.0)
    eye.view_location, eye.view_distance = (8.0, 0.0, 4.0), 13.4


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    rows = []
    for view, traces in (("empty", []), *json.loads(given).items(), ("empty", [])):
        bpy.ops.wm.read_homefile(use_empty=True, app_template="")
        yield support.at_rest()
        bpy.context.preferences.system.viewport_aa = "8"
        shown = support.Window()
        with shown.inside():
            if len(traces) == 1:
                bpy.ops.tracevis3d.import_trace(filepath=traces[0], view=view)
            elif traces:
                files = [{"name": Path(trace).name} for trace in traces]
                bpy.ops.tracevis3d.import_trace(directory=str(Path(traces[0]).parent), files=files)
        yield support.at_rest()
        for collection in support.views():
            # As in a window without printed texts: they are drawn over it.
            for one in collection.objects:
                part = str(one.get("tracevis3d_part", ""))
                if part.startswith(("title", "labels", "names", "axis texts")):
                    one.hide_viewport = True
        space = shown.area.spaces.active
        space.shading.light, space.shading.color_type = "FLAT", "VERTEX"
        if traces:
            shown.explore()
        yield support.at_rest()
        hover = yield from hovered(shown)
        rows.append({"view": view, "hover": hover, **redrawn(shown)})
        support.say(**rows[-1])
        if view == "icicle":
            name_a_wall(shown)
            yield support.at_rest()
            rows.append({"view": "a wall of names", **redrawn(shown)})
            support.say(**rows[-1])
        if traces:
            shown.press("ESC", shown.region.x + 300, shown.region.y + 300)
            yield support.at_rest()
    (place / "drawn").write_text("\n".join(map(json.dumps, rows)))


support.drive(main(), place, "finished", patience=120.0)
