"""Findings about two traces, and their forms: facts, a report, figures and a scene."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....atomic import write_text
from ....drawing.output import Output
from ....errors import InputError
from ....places import check_folder
from ....progress import Progress, part, silent
from ....trace.model import Trace
from ....web.report import is_page
from ..findings.find import TOP, find
from ..matching.match import Comparison, compare
from .explained import Explained
from .markdown import report
from .page import write_page
from .viewpoints import write_scene

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class Story(Explained):
    r"""The findings about two traces.

    Attributes
    ----------
    comparison : Comparison
    findings : Findings

    Examples
    --------
    >>> import tracevis3d as tv
    >>> story = tv.explain(tv.load("old.json.gz"), tv.load("new.json.gz"))
    >>> print("\n".join(story.sentences))
    >>> story.write("explained")
    """

    def write(
        self,
        folder: str | os.PathLike[str],
        output: Output | None = None,
        *,
        figures: bool = True,
        scene: bool = True,
        walk: str = "",
        size: str | None = None,
        progress: Progress = silent,
    ) -> list[Path]:
        """Write ``report.md``, ``findings.json``, a figure per finding and ``story.blend``; or a page.

        Parameters
        ----------
        folder : path
            It is made if it isn't there. A name that ends in ``.html`` is that of a page with the whole
            comparison and the first five findings, for any browser.
        output : Output, optional
            Style, engine and size of the figures.
        figures, scene : bool
            Whether to write these; they need Blender's module.
        walk : str
            A call path, or the number of a group in the legend, whose match is walked from its root to what
            explains it: the tour of the scene.
        size : str, optional
            The size of ``output``, as it was written, for the commands in the report.
        progress : Progress

        Returns
        -------
        list of Path
            The written files.

        Raises
        ------
        InputError
            If the folder can't be written to.
        """
        output = output or Output()
        if is_page(folder):
            write_page(self, folder, output, progress)
            return [Path(folder)]
        place = made_folder(folder)
        written = [place / "findings.json", place / "report.md"]
        write_text(written[0], json.dumps(self.facts(), indent=2, ensure_ascii=False) + "\n")
        write_text(written[1], report(self, output, figures=figures, scene=scene, size=size))
        steps = len(self) * figures + scene
        if figures:
            from ....scene.output.produce import produce

            for i, name in enumerate(self.names):
                mine = part(progress, i / steps, (i + 1) / steps)
                drawing = self.drawing(i, output, part(mine, 0.0, 0.3))
                produce(drawing, place / name, output, progress=part(mine, 0.3, 1.0))
                written.append(place / name)
        if scene:
            path = place / "story.blend"
            write_scene(
                self, path, replace(output, transparent=False), walk, part(progress, 1 - 1 / steps, 1.0)
            )
            written.append(path)
        progress(1.0, "reported")
        return written


def made_folder(folder: str | os.PathLike[str]) -> Path:
    """Return the folder, made if it wasn't there.

    Parameters
    ----------
    folder : path
        With its parents.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If it can't be made or written to.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{folder}: the folder can't be made ({error.strerror or error}): choose another"
        ) from None
    check_folder(place / "report.md")
    return place


def story_of(comparison: Comparison, top: int = TOP, progress: Progress = silent) -> Story:
    """Find the differences between two compared traces.

    Parameters
    ----------
    comparison : Comparison
    top : int
        How many findings.
    progress : Progress

    Returns
    -------
    Story
    """
    return Story(comparison, find(comparison, top, progress))


def explain(a: Trace, b: Trace, *, top: int = TOP, progress: Progress = silent, **settings: Any) -> Story:
    """Compare two traces, with the settings of :func:`..matching.match.compare`, and return the findings.

    Parameters
    ----------
    a, b : Trace
    top : int
        How many findings.
    progress : Progress
    **settings : object
        ``tau``, ``identity``, ``measure`` and more.

    Returns
    -------
    Story
    """
    comparison = compare(a, b, **settings, progress=part(progress, 0.0, 0.5))
    return story_of(comparison, top, part(progress, 0.5, 1.0))
