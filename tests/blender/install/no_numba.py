"""Enable the extension where Numba is missing: it says so, and nothing crashes: ``no_numba.py TRACE``."""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))


class Hidden:
    """Finder that knows of no Numba."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


_find = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "numba" else _find(name, package)
sys.meta_path.insert(0, Hidden)

import bpy
import support

(trace,) = support.arguments()
support.enable()
sentence = support.extension(".operators.environment").missing_library()
assert "Numba is missing" in sentence
assert "zip for this platform" in sentence
assert not bpy.ops.tracevis3d.import_trace.poll()
assert not bpy.ops.tracevis3d.rebuild.poll()
assert not bpy.ops.tracevis3d.save_trace.poll()
# The command says the same, with the exit code of an input that can't be used.
assert support.extension(".operators.command").run(["info", trace, "--no-cache"]) == 1
assert bpy.ops.preferences.addon_disable(module=support.NAME) == {"FINISHED"}
