"""The file of a font that people name, in the folders of this system."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from ..errors import UsageError
from .fonts import Font, need_font_tools

_SUFFIXES = (".ttf", ".otf", ".woff2")
#: Subfamilies that a family's name alone stands for, the first that there is.
_PLAIN = ("regular", "book", "roman", "normal", "medium")


def folders() -> tuple[Path, ...]:
    """Return where this system keeps fonts."""
    home = Path.home()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", str(home / "AppData/Local"))
        return Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts", Path(local) / "Microsoft/Windows/Fonts"
    if sys.platform == "darwin":
        return home / "Library/Fonts", Path("/Library/Fonts"), Path("/System/Library/Fonts")
    return (
        home / ".local/share/fonts",
        home / ".fonts",
        Path("/usr/local/share/fonts"),
        Path("/usr/share/fonts"),
    )


@cache
def find(font: str, more: tuple[Path, ...] = ()) -> Path:
    """Return the file of a font.

    Parameters
    ----------
    font : str
        A file, or the name of a family, such as ``Liberation Sans``.
    more : tuple of Path
        Folders to search before those of the system.

    Returns
    -------
    Path

    Raises
    ------
    UsageError
        If there is none, or it can't be read, or fontTools is missing.
    """
    need_font_tools()
    path = Path(font).expanduser()
    if path.suffix.lower() in _SUFFIXES:
        if not path.is_file():
            raise UsageError(f"--font {font}: there is no such file")
        if not _family(path):
            raise UsageError(f"--font {font}: is not a font")
        return path
    wanted = _key(font)
    files = list(_files((*more, *folders())))
    # Files are mostly called like what they hold: others are opened only if none of these is the one.
    for some in ([file for file in files if wanted in _key(file.stem)], files):
        found = {
            _key(kind): file
            for file in reversed(some)
            for family, kind in [_names(file)]
            if _key(family) == wanted
        }
        if found:
            return next((found[kind] for kind in _PLAIN if kind in found), next(iter(found.values())))
    raise UsageError(
        f"--font {font}: no font of this family was found; give its file, such as fonts/Name.ttf"
    )


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        for folder, inner, names in os.walk(place):
            inner.sort()
            yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(_SUFFIXES))


def _key(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _family(path: Path) -> str:
    return _names(path)[0]


def _names(path: Path) -> tuple[str, str]:
    """Return a file's family and subfamily, empty if it is no font."""
    try:
        return Font(path, 0).names
    except Exception:  # whatever fontTools meets in files of others
        return "", ""
