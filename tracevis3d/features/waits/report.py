"""A report of the findings about waits: a picture of each of the first ones, with its sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ...drawing.output import Output
from ...drawing.primitives import Drawing
from ...progress import Progress, silent
from ...trace.model import Trace
from .view.found_waits import findings_of, waits_of
from .view.parameters import Parameters
from .view.view import VIEW


def write_report(
    trace: Trace,
    facts: dict[str, Any],
    folder: str,
    output: Output,
    rules: str = "",
    progress: Progress = silent,
) -> list[Path]:
    """Write ``report.md``, ``waits.json`` and a picture of each of the first five findings.

    Parameters
    ----------
    trace : Trace
    facts : dict
        As :func:`.summary.summary` returns them.
    folder : str
        Is made if there is none.
    output : Output
        Size and look of the pictures.
    rules : str
        Rule files, with commas between them.
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
        return VIEW.draw([trace], Parameters(finding=number, rules=rules), output.frame, progress)

    reported = [
        ReportedFinding(found.kind, found.title, f"{found.sentence} ({found.how}).", partial(draw, i + 1))
        for i, found in enumerate(findings_of(waits_of(trace, rules), rules))
    ]
    heading = f"Waits in {trace.source.name}"
    return write(folder, heading, reported, facts, "waits.json", output, progress)
