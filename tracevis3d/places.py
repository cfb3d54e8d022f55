"""Folders that the library writes to."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
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
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # HOME is not set, and the system doesn't know the user
        return _temporary_root()
    return base / "tracevis3d" if base.is_absolute() else _temporary_root()


@functools.cache
def _temporary_root() -> Path:
    """Return a folder for temporary files that is only this user's: compiled kernels are run from there."""
    import tempfile

    root = Path(tempfile.gettempdir()) / f"tracevis3d-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    with contextlib.suppress(FileExistsError):
        root.mkdir(mode=0o700)
    found = root.lstat()
    is_mine = stat.S_ISDIR(found.st_mode) and (
        sys.platform == "win32" or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
    )
    return root if is_mine else Path(tempfile.mkdtemp(prefix="tracevis3d-"))


def free_bytes(folder: Path) -> int:
    """Return how many bytes there is room for on the disk of ``folder``."""
    import shutil

    return shutil.disk_usage(folder).free


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise :class:`InputError` if a file can't be written at ``path``.

    Parameters
    ----------
    path : path
        The file to be written.

    Raises
    ------
    InputError
        If it is a folder, or its folder is missing or can't be written to.
    """
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    folder = place.parent
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}: make it, or choose another")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: the folder {folder} can't be written to: choose another")
