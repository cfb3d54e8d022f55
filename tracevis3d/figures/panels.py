"""A figure of several panels: where each stands, and all of them as one page."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UsageError

#: Maximum number of panels: letters name them.
MOST = 26
#: Space between panels, as a share of the figure's shorter side.
_GAP = 0.012


@dataclass(frozen=True)
class Cell:
    """Where a panel stands, in pixels from the figure's lower left corner.

    Attributes
    ----------
    left, bottom, width, height : int
        In pixels.
    """

    left: int
    bottom: int
    width: int
    height: int


def letter(i: int) -> str:
    """Return the letter of a panel: a, b, c.

    Parameters
    ----------
    i : int
        The panel's number, from 0.

    Returns
    -------
    str

    Examples
    --------
    >>> letter(0), letter(25)
    ('a', 'z')
    """
    return string.ascii_lowercase[i]


def cells(spans: Sequence[int], across: int, width: int, height: int) -> list[Cell]:
    """Return where panels stand: row by row from the top, all rows of one height.

    Parameters
    ----------
    spans : sequence of int
        How many columns each panel takes.
    across : int
        Columns.
    width, height : int
        Pixels for all of them.

    Returns
    -------
    list of Cell

    Raises
    ------
    UsageError
        If there are none or too many, or one is wider than the figure.

    Examples
    --------
    >>> [(cell.left, cell.bottom, cell.width, cell.height) for cell in cells([1, 1, 2], 2, 1000, 500)]
    [(0, 253, 497, 247), (503, 253, 497, 247), (0, 0, 1000, 247)]
    """
    if not 0 < len(spans) <= MOST:
        raise UsageError(f"{len(spans)} panels: 1 to {MOST} can be drawn")
    if not 0 < across <= MOST:
        raise UsageError(f"across {across}: 1 to {MOST} panels beside each other can be drawn")
    rows: list[list[tuple[int, int]]] = [[]]
    used = 0
    for i, span in enumerate(spans):
        if not 0 < span <= across:
            raise UsageError(f"panel {letter(i)}: span {span} is not between 1 and {across}")
        if used + span > across:
            rows.append([])
            used = 0
        rows[-1].append((used, span))
        used += span
    gap = round(_GAP * min(width, height))
    tall = (height - gap * (len(rows) - 1)) // len(rows)
    wide = (width - gap * (across - 1)) / across
    found = []
    for n, row in enumerate(rows):
        bottom = height - (n + 1) * tall - n * gap
        for first, span in row:
            left = round(first * (wide + gap))
            right = round((first + span) * (wide + gap) - gap)
            found.append(Cell(left, bottom, right - left, tall))
    return found
