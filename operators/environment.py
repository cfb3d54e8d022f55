"""The location of the extension, and a check for its bundled libraries."""

from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import bpy

from ..tracevis3d import places

#: The root package, by which Blender knows the extension (``bl_ext.<repository>.tracevis3d``).
EXTENSION = __package__.rpartition(".")[0]


def use_own_cache() -> None:
    """Put the cache into the extension's user folder; must run before Numba is imported."""
    # Loaded from a script folder, not installed as an extension, it has none: the user's cache serves.
    with suppress(ValueError):
        places.use_cache_root(Path(bpy.utils.extension_path_user(EXTENSION, path="cache", create=False)))


def own_folder() -> Path:
    """Return the extension's folder for what a person keeps in it; it need not be there."""
    try:
        return Path(bpy.utils.extension_path_user(EXTENSION, create=False))
    except ValueError:  # loaded from a script folder, not installed as an extension
        return Path(bpy.utils.user_resource("CONFIG", path="tracevis3d"))


@cache
def missing_library() -> str:
    """Return one sentence on what is missing to read and draw traces; empty if nothing is."""
    for module, title in (("numba", "Numba"), ("msgspec", "msgspec")):
        if find_spec(module) is None:
            return (
                f"{title} is missing: install the TraceVis3D zip for this platform and Python "
                "version, which brings it along"
            )
    return ""
