"""Renders a part of a film for another process (``python -m tracevis3d.stories.worker FOLDER``)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .. import interrupts
from ..drawing.frame import Frame
from ..drawing.output import Output
from ..formats import files
from .film import Film
from .jobs import DONE, WORDS
from .read import from_words


def work(folder: Path, wanted: Iterable[Sequence[int]]) -> Iterator[list[Path]]:
    """Render frames of a film whose story another process has written down.

    Parameters
    ----------
    folder : Path
        Where it is, and where frames are kept.
    wanted : iterable of sequence of int
        Their numbers: after each sequence the next is waited for.

    Yields
    ------
    list of Path
        The files of a sequence.
    """
    from ..scene.films.staged import Frames

    words: dict[str, Any] = json.loads((folder / WORDS).read_text("utf-8"))
    output = dict(words["output"])
    output["frame"] = Frame(**output["frame"])
    story = from_words(words["story"], "story")
    places = words.get("files", {})
    film = Film(story, {name: files.load(places.get(name, name)) for name in story.files}, Output(**output))
    frames = Frames(film.output, folder)
    try:
        for which in wanted:
            shown = [film.frames[i] for i in which]
            frames.make(frames.missing(shown))
            yield [frames.path(one) for one in shown]
    finally:
        frames.close()


def _main() -> int:
    wanted = (json.loads(line) for line in sys.stdin)
    for paths in work(Path(sys.argv[1]), wanted):
        print(f"{DONE}{json.dumps([str(path) for path in paths])}", flush=True)
    return 0


if __name__ == "__main__":
    # Ended early, by who started it or by Ctrl-C, it leaves no temporary files behind.
    interrupts.run(_main)
