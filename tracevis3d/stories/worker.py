"""Renders a part of a film for another process (``python -m tracevis3d.stories.worker FOLDER``)."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import interrupts
from ..drawing.frame import Frame
from ..drawing.output import Output
from ..formats import files
from .film import Film
from .jobs import WORDS
from .read import from_words


def work(folder: Path, which: Sequence[int]) -> None:
    """Render some frames of a film whose story another process has written down.

    Parameters
    ----------
    folder : Path
        Where it is, and where frames are kept.
    which : sequence of int
        Their numbers.
    """
    from ..scene.films.staged import Frames

    words: dict[str, Any] = json.loads((folder / WORDS).read_text("utf-8"))
    output = dict(words["output"])
    output["frame"] = Frame(**output["frame"])
    story = from_words(words["story"], "story")
    film = Film(story, {name: files.load(name) for name in story.files}, Output(**output))
    frames = Frames(film.output, folder)
    try:
        frames.make(frames.missing([film.frames[i] for i in which]))
    finally:
        frames.close()


def _main() -> int:
    work(Path(sys.argv[1]), json.loads(sys.stdin.read()))
    return 0


if __name__ == "__main__":
    # Ended early, by who started it or by Ctrl-C, it leaves no temporary files behind.
    interrupts.run(_main)
