"""What is to be seen in the source, in one sentence: the highest line, and how many lines matter."""

from __future__ import annotations

import numpy as np

from ... import units
from ...trace.model import Trace
from .metrics import Lines
from .names import file_titles

#: Share of the height that few lines have.
_MOST = 0.9


def summary(trace: Trace, lines: Lines) -> str:
    """Say which line has most, and how few lines have nearly all.

    Parameters
    ----------
    trace : Trace
    lines : Lines
        At least one with a height above 0.

    Returns
    -------
    str
    """
    top, total = int(lines.value.argmax()), float(lines.value.sum())
    if not lines.differ:
        return _covered(lines)
    ordered = np.sort(lines.value)[::-1]
    few = int(np.searchsorted(np.cumsum(ordered), _MOST * total * (1 - 1e-12))) + 1
    share = units.percentage(float(lines.value[top] / total))
    said = f"{place(lines, top)} in {label(trace, lines, top)} has {share} of the {lines.height.title}"
    if few > 1:
        said += f"; {few:,} of {np.count_nonzero(lines.value):,} lines have {units.percentage(_MOST)}"
    return said


def _covered(lines: Lines) -> str:
    """Say in how many lines and files something is that all have alike, and which file has most lines."""
    of_file = np.bincount(lines.file[lines.value > 0], minlength=len(lines.files))
    top, files = int(of_file.argmax()), int(np.count_nonzero(of_file))
    what, many = lines.height.title, units.counted(int(of_file.sum()), "line")
    alike = {
        "lines that ran": "that ran",
        "beginnings of functions that ran": "where a function that ran begins",
    }
    said = f"{many} {alike.get(what, f'with the same {what}')}"
    where = file_titles(lines.files)[top]
    return f"{said}, in {units.counted(files, 'file')}, most of them in {where}: {int(of_file[top]):,}"


def place(lines: Lines, line: int) -> str:
    """Return file and line, as briefly as they can be known by.

    Parameters
    ----------
    lines : Lines
    line : int
        Index of the line.

    Returns
    -------
    str
    """
    return f"{file_titles(lines.files)[int(lines.file[line])]}:{int(lines.line[line])}"


def label(trace: Trace, lines: Lines, line: int) -> str:
    """Return what the function is called that has most of a line.

    Parameters
    ----------
    trace : Trace
    lines : Lines
    line : int
        Index of the line.

    Returns
    -------
    str
    """
    return str(trace.functions.label[int(lines.function[line])]) or "(unnamed)"
