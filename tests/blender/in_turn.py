"""Run scripts of this folder one after the other in one Blender: ``in_turn.py '[["tree.py", "WORD"], ...]'``.

Each finds a new file, and a line ``TURN script seconds`` is printed when one has ended.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bpy
import support

(turns,) = support.arguments()
for script, *words in json.loads(turns):
    print(f"==== {script}", flush=True)
    started = time.perf_counter()
    bpy.ops.wm.read_homefile(use_empty=False, app_template="")
    path = Path(__file__).with_name(script)
    sys.argv = [str(path), "--", *words]
    exec(compile(path.read_bytes(), path, "exec"), {"__name__": "__main__", "__file__": str(path)})
    print(f"TURN {script} {time.perf_counter() - started:.1f}", flush=True)
