"""The bookmarks of a saved .blend, read without the extension that made them."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import bpy

from ...errors import InputError
from ..compat import stored
from ..output.redirect import captured_output

#: Name of the list on a scene.
_NAME = "tracevis3d_bookmarks"


def bookmarks_of(path: str | Path) -> list[dict[str, Any]]:
    """Return the bookmarks of all scenes of a .blend; the file that is open in Blender is closed.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    list of dict
        ``name``, ``scene``, ``view``, ``frame``, ``focus`` (3 coordinates), ``distance``, and ``selections``:
        for each trace its ``calls`` as text (``3 7-9``), the ``active`` call, perhaps a ``time_range``.

    Raises
    ------
    InputError
        If the file can't be opened.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file: check its name and folder")
    try:
        # Scripts in the file are not run.
        with captured_output(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False, use_scripts=False)
    except RuntimeError:
        raise InputError(
            f"{path}: is not a .blend that this Blender can open: save it with this version of Blender, or "
            "an older one"
        ) from None
    found = [_facts_of(scene, one) for scene in bpy.data.scenes for one in stored(scene, _NAME) or ()]
    with captured_output():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return found


def _facts_of(scene: Any, one: Any) -> dict[str, Any]:
    view = one.get("view")
    return {
        "name": str(one.get("name", "")),
        "scene": scene.name,
        "view": getattr(view, "name", None),
        "frame": int(one.get("frame", 0)),
        "focus": [round(float(x), 6) for x in one.get("focus", (0.0, 0.0, 0.0))],
        "distance": round(float(one.get("distance", 0.0)), 6),
        "selections": _selections(str(one.get("selections", ""))),
    }


def _selections(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
