"""A report of the findings about memory: a picture of each of the first ones, with its sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ...drawing.frame import Frame
from ...drawing.output import Output
from ...drawing.primitives import Drawing
from ...progress import Progress, silent
from ...trace.model import Trace
from ...web import report as pages
from ...web.report import ReportedFinding
from .summary import sentence
from .view.arrangement import memory_use
from .view.parameters import Parameters
from .view.view import VIEW


def write_report(
    trace: Trace, facts: dict[str, Any], folder: str, output: Output, progress: Progress = silent
) -> list[Path]:
    """Write ``report.md``, ``memory.json`` and a picture of each of the first five findings.

    Parameters
    ----------
    trace : Trace
    facts : dict
        As :func:`.summary.memory_facts` returns them.
    folder : str
        Is made if there is none.
    output : Output
        Size and look of the pictures.
    progress : Progress

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    InputError
        If the folder can't be written to.
    """
    from ...scene.output.findings_report import write_report as write

    _, *found = _reported(trace, output.frame)
    return write(folder, f"Memory of {trace.source.name}", found, facts, "memory.json", output, progress)


def write_page(trace: Trace, path: str, progress: Progress = silent) -> None:
    """Write the findings as a page: the whole picture, and one of each of the first five.

    Parameters
    ----------
    trace : Trace
    path : str
        .html
    progress : Progress

    Raises
    ------
    InputError
        If it can't be written.
    """
    whole, *found = _reported(trace, Frame())
    pages.write(path, f"Memory of {trace.source.name}", whole, found, (trace,), progress=progress)


def _reported(trace: Trace, frame: Frame) -> list[ReportedFinding]:
    """Return the whole picture, and the findings."""

    def draw(number: int, progress: Progress) -> Drawing:
        return VIEW.draw([trace], Parameters(finding=number), frame, progress)

    use = memory_use(trace)
    reported = [ReportedFinding("", "All blocks", "", partial(draw, 0))]
    for i, found in enumerate(use.findings):
        words = sentence(found, use)
        reported.append(ReportedFinding(found.kind, words, f"{words}.", partial(draw, i + 1)))
    return reported
