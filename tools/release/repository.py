"""A static repository of the extension: a folder that Blender installs and updates it from.

Blender chooses the zip of its platform and Python from ``index.json``; ``index.html`` is for people.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from .extension import ROOT, BuildError

#: The page around the table of zips; Blender's tool fills in ``${body}`` and ``${date}``.
PAGE = Path(__file__).with_name("page.html")
ICON = ROOT / "docs" / "pictures" / "icon.png"


def make(folder: Path, zips: Iterable[Path]) -> Path:
    """Write a repository of some zips, in place of one that is there.

    Parameters
    ----------
    folder : Path
    zips : iterable of Path
        They are copied.

    Returns
    -------
    Path
        ``index.json``, whose address Blender is given.

    Raises
    ------
    BuildError
        If Blender's own tool refuses a zip.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in zips:
        shutil.copyfile(path, folder / path.name)
    listing(folder)
    shutil.copyfile(ICON, folder / ICON.name)
    return folder / "index.json"


def listing(folder: Path) -> None:
    """Write ``index.json`` and ``index.html`` of the zips in a folder."""
    own_tool("server-generate", "--repo-dir", folder, "--html", "--html-template", PAGE)


def validate(path: Path) -> None:
    """Raise :class:`BuildError` unless Blender's own tool accepts a zip, its tags included."""
    own_tool("validate", path)


def own_tool(*words: str | Path) -> None:
    """Run the tool for extensions that Blender's module brings along.

    Parameters
    ----------
    *words : str or Path
        As after ``blender --command extension``.

    Raises
    ------
    BuildError
        If the module is not installed, or the tool finds an error.
    """
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise BuildError("the repository is written by Blender's own tool: install its module, bpy")
    (tool,) = Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")
    done = subprocess.run([sys.executable, tool, *words], capture_output=True, text=True)
    errors = [line for line in done.stdout.splitlines() if line.startswith(("ERROR", "FATAL_ERROR"))]
    if done.returncode != 0 or errors:
        reason = " ".join([*errors, *done.stderr.splitlines()[-1:]]) or f"it exited with {done.returncode}"
        raise BuildError(f"Blender's tool: {words[0]} {words[1]}: {reason}")
