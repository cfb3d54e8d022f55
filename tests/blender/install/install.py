"""Install the zip with the operators of Blender itself, and enable it: ``install.py ZIP``."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

(archive,) = support.arguments()
before = set(sys.modules)
started = time.perf_counter()
assert bpy.ops.extensions.package_install_files(
    repo="user_default", filepath=archive, enable_on_install=True, overwrite=True
) == {"FINISHED"}
installed = time.perf_counter() - started
assert support.NAME in bpy.context.preferences.addons
assert hasattr(bpy.types.Collection, "tracevis3d")

# Starting Blender with the extension must not load what only reading and drawing need.
heavy = {"numba", "llvmlite", "msgspec", "google.protobuf"} & (set(sys.modules) - before)
assert not heavy, heavy
import numba

assert ".local" in numba.__file__ or "site-packages" in numba.__file__
bpy.ops.wm.save_userpref()
support.say(
    blender=bpy.app.version_string, python=sys.version.split()[0], install_s=installed, numba=numba.__file__
)
