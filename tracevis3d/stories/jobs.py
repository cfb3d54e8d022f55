"""Several processes render the frames of one film, each those of its own part."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from .. import interrupts
from ..atomic import write_text
from ..drawing.output import Output
from ..errors import InputError, UsageError
from ..progress import Progress, part
from .read import as_words
from .story import Story

if TYPE_CHECKING:
    from ..scene.films.staged import Frames, Shown

_EVERY = 0.1  # seconds between two looks at the other processes
#: The file in which other processes find the story.
WORDS = "job.json"
#: Begins the line in which another process names the frames that it has rendered.
DONE = "rendered "


def check(jobs: int) -> None:
    """Raise if so many processes can't be started.

    Parameters
    ----------
    jobs : int
        Wanted number.

    Raises
    ------
    UsageError
        If it is out of range, or more than one inside Blender.
    """
    if not 1 <= jobs <= 256:
        raise UsageError(f"--jobs {jobs}: 1 to 256 is expected")
    if jobs > 1 and not __name__.startswith("tracevis3d."):
        raise UsageError("--jobs: inside Blender there is one process; install the Python package tracevis3d")


def parts(count: int, jobs: int) -> list[range]:
    """Return who renders which of ``count`` frames: neighbours together, for they share a drawing.

    Parameters
    ----------
    count : int
    jobs : int

    Returns
    -------
    list of range
        One for each process that has something to do.

    Examples
    --------
    >>> parts(5, 2), parts(1, 4)
    ([range(0, 3), range(3, 5)], [range(0, 1)])
    """
    jobs = max(min(jobs, count), 1)
    edges = [-(-count * k // jobs) for k in range(jobs + 1)]
    return [range(low, high) for low, high in itertools.pairwise(edges)]


def render_in(
    frames: Frames,
    missing: Sequence[Shown],
    folder: Path,
    jobs: int,
    film: tuple[Story, Output, Sequence[Shown]],
    progress: Progress,
) -> None:
    """Render frames in ``jobs`` processes, of which this is one.

    Parameters
    ----------
    frames : Frames
    missing : sequence of Shown
    folder : Path
        Where frames are kept.
    jobs : int
    film : (Story, Output, sequence of Shown)
        The whole film, with all of its frames.
    progress : Progress

    Raises
    ------
    InputError
        If another process could not do its part.
    """
    mine, *others = parts(len(missing), jobs)
    running = []
    try:
        if others:
            story, output, all_frames = film
            words = {"story": as_words(story), "output": asdict(output)}
            write_text(folder / WORDS, json.dumps(words))
            number = {frames.path(shown): i for i, shown in enumerate(all_frames)}
            for other in others:
                which = [number[frames.path(missing[i])] for i in other]
                running.append(_begin(folder, which))
        frames.make([missing[i] for i in mine], part(progress, 0.0, 0.9 if others else 1.0))
        while waiting := [one for one in running if one.poll() is None]:
            done = sum(frames.path(shown).is_file() for shown in missing) / max(len(missing), 1)
            progress(0.9 + 0.1 * done, f"{len(waiting)} more processes render")
            interrupts.check()
            time.sleep(_EVERY)
        for one in running:
            if one.returncode:
                said = (one.stderr.read() if one.stderr else "").strip().splitlines()
                why = said[-1] if said else "it was ended"
                raise InputError(f"--jobs: another process failed: {why}: try without --jobs")
    finally:
        for one in running:
            if one.poll() is None:
                one.terminate()
            one.wait()
            if one.stderr is not None:
                one.stderr.close()
            if one.stdin is not None:
                one.stdin.close()


def _begin(folder: Path, which: Sequence[int]) -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.worker", os.fspath(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert started.stdin is not None
    started.stdin.write(f"{json.dumps(list(which))}\n")
    started.stdin.close()
    return started
