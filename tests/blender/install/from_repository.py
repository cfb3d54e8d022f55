"""The extension is there in one version, from a repository, and works; or is gone: ``VERSION|none TRACE``."""

import os
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import support

version, trace = support.arguments()
NAME = "bl_ext.tracevis3d_org.tracevis3d"
folder = Path(bpy.utils.user_resource("EXTENSIONS")) / "tracevis3d_org" / "tracevis3d"
if version == "none":
    assert NAME not in bpy.context.preferences.addons
    assert not folder.exists()
    # Neither do the wheels stay that nothing else needs.
    packages = Path(bpy.utils.user_resource("EXTENSIONS")) / ".local"
    assert not [path for path in packages.rglob("*") if path.name in ("numba", "llvmlite")]
else:
    assert NAME in bpy.context.preferences.addons
    manifest = tomllib.loads((folder / "blender_manifest.toml").read_text("utf-8"))
    assert manifest["version"] == version, manifest["version"]
    tag = f"cp3{sys.version_info.minor}"
    wheels = [os.path.basename(wheel) for wheel in manifest["wheels"]]
    assert [wheel for wheel in wheels if wheel.startswith("numba") and tag in wheel], wheels
    assert manifest["platforms"] == ["linux-x64"]
    assert bpy.ops.tracevis3d.import_trace(filepath=trace) == {"FINISHED"}
    assert [c for c in bpy.data.collections if c.tracevis3d.view]
support.say(version=version)
