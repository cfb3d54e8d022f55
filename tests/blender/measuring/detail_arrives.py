"""How evenly a window is drawn while detail arrives on the way: ``detail_arrives.py TRACE VIEW FOLDER``.

Started by Blender; ``benchmarks/window/bench_frames.py`` reads ``FOLDER/flown``, lines of JSON: for each part
of the way the most milliseconds from one redraw to the next, of the clock and of the main thread's processor.
"""

import json
import sys
import time
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

trace, view, place = support.arguments()
place = Path(place)
#: Parts of the way: how many times nearer one is at its end, and widths of what is seen that one has gone
#: sideways. After each one stays for a moment, and detail arrives.
_WAY = ((16.0, 0.0), (1.0, 3.0), (1 / 4, -2.0))
_STEPS, _STAY = 25, 25


def main():
    """Yield seconds to wait, or conditions to wait for, between the steps."""
    support.enable()
    bpy.ops.wm.read_homefile(use_empty=True, app_template="")
    yield support.at_rest()
    shown = support.Window()
    shown.show(trace, view)
    yield support.at_rest()
    eye, detail = shown.eye, support.extension(".operators.explore.motion.detail")
    if eye.view_perspective == "CAMERA":
        eye.view_perspective = "PERSP"
    navigate = support.extension(".operators.explore.motion.navigate")
    low, high = navigate.extent(bpy.context.scene)
    eye.view_location = [(a + b) / 2 for a, b in zip(low, high)]
    eye.view_rotation = (0.7071, 0.7071, 0.0, 0.0)
    eye.view_distance = 0.8 * (high[0] - low[0])
    begin = eye.view_distance, eye.view_location.copy()
    drawn, entered = [], []

    def note():
        if bpy.context.region == shown.region:
            drawn.append((time.perf_counter(), time.thread_time()))

    def enter(_collection):
        entered.append(time.perf_counter())

    handler = bpy.types.SpaceView3D.draw_handler_add(note, (), "WINDOW", "POST_PIXEL")
    detail.on_enter.connect(enter)
    found = []
    for again in (False, True):  # at first, what stays is loaded
        for number, (nearer, aside) in enumerate(_WAY):
            drawn.clear()
            entered.clear()
            yield from part(shown, drawn, nearer, aside)
            clock, processor = (sorted(1e3 * (b[i] - a[i]) for a, b in pairwise(drawn)) for i in (0, 1))
            fact = {"part": number, "details": len(entered), "redraws": len(clock)}
            fact |= {"longest": clock[-1], "middle": clock[len(clock) // 2]}
            fact |= {"busiest": processor[-1], "usual": processor[len(processor) // 2]}
            support.say(again=again, **fact)
            if again:
                found.append(fact)
        support.screenshot(place / "flown.png")
        eye.view_distance, eye.view_location = begin
    bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")
    detail.on_enter.disconnect(enter)
    (place / "flown").write_text("\n".join(map(json.dumps, found)))


def part(shown, drawn, nearer, aside):
    """Fly a part of the way and stay, drawing as often as Blender can."""
    eye = shown.eye
    distance = eye.view_distance
    for step in range(_STEPS + _STAY):
        if step < _STEPS:
            eye.view_distance = distance / nearer ** ((step + 1) / _STEPS)
            eye.view_location.x += aside * 0.5 * eye.view_distance / _STEPS
        before = len(drawn)
        shown.region.tag_redraw()
        yield lambda before=before: len(drawn) > before


support.drive(main(), place, "finished", patience=120.0)
