"""A report of findings: which have pictures, and all of it as a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..drawing.primitives import Drawing
from ..errors import UsageError
from ..progress import Progress, part, silent
from ..trace.model import Trace
from . import page

#: Maximum number of findings with a picture, in total and of one kind.
_MOST, _MOST_OF_KIND = 5, 2


@dataclass(frozen=True)
class ReportedFinding:
    """A finding as it stands in a report.

    Attributes
    ----------
    kind : str
    title : str
        Its point in few words.
    sentence : str
        With a full stop, or what else ends it.
    draw : callable
        Returns its picture's drawing, given the progress of drawing.
    """

    kind: str
    title: str
    sentence: str
    draw: Callable[[Progress], Drawing]


def with_pictures(found: Sequence[ReportedFinding]) -> list[ReportedFinding]:
    """Return the findings that have a picture in a report: the first five, at most two of a kind.

    Parameters
    ----------
    found : sequence of ReportedFinding
        The most important first.

    Returns
    -------
    list of ReportedFinding
    """
    chosen: list[ReportedFinding] = []
    for one in found:
        alike = sum(other.kind == one.kind for other in chosen)
        if len(chosen) < _MOST and alike < _MOST_OF_KIND:
            chosen.append(one)
    return chosen


def is_page(path: str | os.PathLike[str] | None) -> bool:
    """Return whether a report is to be one page rather than a folder.

    Parameters
    ----------
    path : path or None
        None: no report is asked for.

    Returns
    -------
    bool

    Raises
    ------
    UsageError
        If there is a folder of a page's name.
    """
    if path is None or Path(path).suffix.lower() != ".html":
        return False
    if Path(path).is_dir():
        raise UsageError(f"{path}: this is a folder; a page needs the name of a file")
    return True


def write(
    path: str | os.PathLike[str],
    heading: str,
    whole: ReportedFinding,
    found: Sequence[ReportedFinding],
    traces: Sequence[Trace],
    style: str = "paper",
    progress: Progress = silent,
) -> int:
    """Write a report as a page that opens without a network, and without Blender.

    Parameters
    ----------
    path : path
        .html
    heading : str
        The page's name.
    whole : ReportedFinding
        What is seen first.
    found : sequence of ReportedFinding
        All findings, the most important first.
    traces : sequence of Trace
        Those that are drawn.
    style : {"paper", "stage", "flat"}
    progress : Progress

    Returns
    -------
    int
        Bytes of the page.

    Raises
    ------
    InputError
        If it can't be written.
    """
    shown = [whole, *with_pictures(found)]
    sheets = []
    for i, one in enumerate(shown):
        mine = part(progress, i / len(shown), (i + 1) / len(shown))
        sheets.append(page.Sheet(one.title, one.sentence, one.draw(mine)))
    return page.write_report(sheets, traces, path, heading, style)
