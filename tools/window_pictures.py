"""Takes the pictures of Blender's window in the docs: ``python tools/window_pictures.py [NAME…]``.

Each is a screenshot of a step of ``tools/test_blender.py``, as docs/pictures/windows.toml lists them. The
steps run in Blender 5.2, as root on Debian. ``--taken FOLDER``: from screenshots that are there already.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import test_blender
from PIL import Image

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
#: File -> the step that takes it, and the screenshot's name.
WINDOWS: dict[str, list[str]] = tomllib.loads((PICTURES / "windows.toml").read_text("utf-8"))
VERSION, SCREEN = "5.2", "1920x1080"
#: Pixels that a picture is wide at most, and quality of its JPEG.
_WIDEST, _QUALITY = 1440, 85


def take(names: Sequence[str]) -> Path | None:
    """Run the steps that take pictures; return the folder of their screenshots, None if a step failed."""
    steps = dict.fromkeys(WINDOWS[name][0] for name in names)
    words = [word for step in steps for word in ("--match", step)]
    if test_blender.main(["--only", VERSION, "--screen", SCREEN, *words]):
        return None
    return test_blender.place_of(VERSION, list(steps))


def keep(name: str, folder: Path) -> None:
    """Write one picture of the docs."""
    with Image.open(folder / WINDOWS[name][1]) as taken:
        shown = taken.convert("RGB")
    shown.thumbnail((_WIDEST, _WIDEST), Image.Resampling.LANCZOS)
    shown.save(PICTURES / name, quality=_QUALITY)
    print(name, flush=True)


def main(words: Sequence[str] | None = None) -> int:
    """Take the pictures named, or all."""
    parser = argparse.ArgumentParser(description="Take the pictures of Blender's window in the docs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as explore.jpg; all if none is named")
    parser.add_argument("--taken", type=Path, metavar="FOLDER", help="use the screenshots in this folder")
    asked = parser.parse_args(words)
    names = asked.names or list(WINDOWS)
    if unknown := [name for name in names if name not in WINDOWS]:
        print(f"{unknown[0]}: one of {', '.join(WINDOWS)} is expected", file=sys.stderr)
        return 2
    folder = asked.taken or take(names)
    if folder is None:
        return 1
    for name in names:
        keep(name, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
