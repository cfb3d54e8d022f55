"""The findings about two traces as a page for a browser."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from ....drawing.output import Output
from ....drawing.primitives import Drawing
from ....parameters import read
from ....progress import Progress, silent
from ....views import registry
from ....web import report as pages
from ....web.report import ReportedFinding
from ..view.difference.headlines import headline
from .aim import of_comparison
from .explained import Explained


def write_page(
    story: Explained, path: str | os.PathLike[str], output: Output, progress: Progress = silent
) -> None:
    """Write the whole comparison and the first five findings as a page.

    Parameters
    ----------
    story : Explained
    path : path
        .html
    output : Output
        Its style and frame are read.
    progress : Progress

    Raises
    ------
    InputError
        If it can't be written.
    """

    def whole(progress: Progress) -> Drawing:
        view = registry.find("compare")
        values: Any = read(view.parameters, of_comparison(story.comparison))
        return view.draw(story.traces, values, output.frame, progress)

    found = [
        ReportedFinding(finding.kind, headline(finding), text, partial(story.drawing, i, output))
        for i, (finding, text) in enumerate(zip(story.findings.found, story.sentences))
    ]
    a, b = (trace.source.title for trace in story.traces)
    first = ReportedFinding("", "Both runs", f"A: {a}. B: {b}.", whole)
    pages.write(path, f"What differs between {a} and {b}", first, found, story.traces, output.style, progress)
