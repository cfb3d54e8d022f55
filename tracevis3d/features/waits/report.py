"""A report of the findings about waits: a picture of each of the first ones, with its sentence."""

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
    from ...scene.output.findings_report import write_report as write

    _, *found = _reported(trace, output.frame, rules)
    return write(folder, f"Waits in {trace.source.name}", found, facts, "waits.json", output, progress)


def write_page(trace: Trace, path: str, rules: str = "", progress: Progress = silent) -> None:
    """Write the findings as a page: the whole picture, and one of each of the first five.

    Parameters
    ----------
    trace : Trace
    path : str
        .html
    rules : str
        Rule files, with commas between them.
    progress : Progress

    Raises
    ------
    InputError
        If it can't be written.
    """
    whole, *found = _reported(trace, Frame(), rules)
    pages.write(path, f"Waits in {trace.source.name}", whole, found, (trace,), progress=progress)


def _reported(trace: Trace, frame: Frame, rules: str) -> list[ReportedFinding]:
    """Return the whole picture, and the findings."""

    def draw(number: int, progress: Progress) -> Drawing:
        return VIEW.draw([trace], Parameters(finding=number, rules=rules), frame, progress)

    found = findings_of(waits_of(trace, rules), rules)
    return [
        ReportedFinding("", "All threads", "", partial(draw, 0)),
        *(
            ReportedFinding(one.kind, one.title, f"{one.sentence} ({one.how}).", partial(draw, i + 1))
            for i, one in enumerate(found)
        ),
    ]
