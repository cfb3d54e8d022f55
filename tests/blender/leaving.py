"""Run a script and leave at once: ``leaving.py SCRIPT WORD ...``, for modules that can't end by themselves.

Blender's module 4.2 frees its classes after Python has ended, and crashes there, as soon as a property with
an ``update`` function or a handler was ever registered, by whomever, some even if they were removed again.
The exit code says what became of the script itself.
"""

import os
import runpy
import sys
import traceback

sys.argv = sys.argv[1:]
code = 0
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except BaseException:
    traceback.print_exc()
    code = 1
print("LEFT", code, flush=True)
sys.stderr.flush()
os._exit(code)
