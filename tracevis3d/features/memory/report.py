"""A report of the findings about memory: a picture of each of the first ones, with its sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ...drawing.output import Output
from ...drawing.primitives import Drawing
from ...progress import Progress, silent
from ...trace.model import Trace
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
    from ...scene.output.findings_report import ReportedFinding
    from ...scene.output.findings_report import write_report as write

    def draw(number: int, progress: Progress) -> Drawing:
        return VIEW.draw([trace], Parameters(finding=number), output.frame, progress)

    use, reported = memory_use(trace), []
    for i, found in enumerate(use.findings):
        words = sentence(found, use)
        reported.append(ReportedFinding(found.kind, words, f"{words}.", partial(draw, i + 1)))
    return write(folder, f"Memory of {trace.source.name}", reported, facts, "memory.json", output, progress)
