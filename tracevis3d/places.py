"""Folders that the library writes to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .errors import InputError

_root: Path | None = None


def use_cache_root(path: str | os.PathLike[str]) -> None:
    """Put the cache below ``path``; Blender's extension passes its own user folder."""
    global _root
    _root = Path(path)


def cache_root() -> Path:
    """Return the folder of the cache (not created): ``TRACEVIS3D_CACHE``, or the platform's user cache."""
    if given := os.environ.get("TRACEVIS3D_CACHE"):
        return Path(given)
    if _root is not None:
        return _root
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "tracevis3d"


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise :class:`InputError` if a file can't be written at ``path``."""
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    folder = place.parent
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: the folder {folder} can't be written to")
