"""Run scripts of these folders in turn, in one Blender: ``in_turn.py '[["lists/tree.py", "WORD"], ...]'``.

Each finds a new file, and Blender's preferences as they were at first, in a window as in none; when one has
ended, ``TURN script seconds ...`` is printed.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import support


def run(script, *words):
    """Run a script as if Blender had been started with it."""
    print(f"==== {script}", flush=True)
    path = Path(__file__).parent / script
    sys.argv = [str(path), "--", *words]
    exec(compile(path.read_bytes(), path, "exec"), {"__name__": "__main__", "__file__": str(path)})


def turn(begins, ends):
    """Tell that the turn before has ended, and begin the next."""
    now = time.perf_counter()
    if ends:
        wall, processor = now - started[-1][0], time.process_time() - started[-1][1]
        print(f"TURN {ends[0]} {wall:.1f} s, {processor:.1f} s computing, drawn {len(drawn)}", flush=True)
    started.append((now, time.process_time()))
    drawn.clear()
    if begins:
        if ends:
            support.restore(preferences)
            bpy.ops.wm.read_homefile(use_empty=False, app_template="")
        run(*begins)
    elif not bpy.app.background:
        bpy.ops.wm.quit_blender()


(given,) = support.arguments()
scripts, started, drawn = json.loads(given), [], []
preferences = support.preferences()
bpy.types.SpaceView3D.draw_handler_add(drawn.append, (None,), "WINDOW", "POST_PIXEL")
steps = [lambda b=b, e=e: turn(b, e) for b, e in zip([*scripts, None], [None, *scripts])]
if bpy.app.background:
    for step in steps:
        step()
else:
    # The steps that a script has the window take go on when this has returned; it calls the next turn then.
    support.turns[:] = steps
    support.turns.pop(0)()
