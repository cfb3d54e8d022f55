"""A matrix with an order as a surface: slopes between neighbours (Do-Loop-Surface), lines along ridges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....drawing.builder import DrawingBuilder
from ....drawing.primitives import Wedges
from ....drawing.shorthand import lines
from ..findings import Finding
from ..table import Floats
from . import cells
from .layout import PLATE, Layout

#: Share of a column's width that is left free beside it where columns have no order.
_FREE = 0.06
#: Width of the line along a ridge.
_CREST = 0.06


def heights(height: Floats, there: NDArray[np.bool_], rows: bool, columns: bool) -> Floats:
    """Return the heights of cells at their far, middle and near edge, left, in the middle and right.

    Along an order the edge between two cells has the mean of both, so that slopes join them; without one
    each cell keeps its own height up to its edge. Cells without data take no part.

    Parameters
    ----------
    height : float64 (rows, columns)
    there : bool (rows, columns)
        Which cells have data.
    rows, columns : bool
        Whether they have an order.

    Returns
    -------
    float64 (rows, columns, 3, 3)

    Examples
    --------
    >>> found = heights(np.array([[2.0], [4.0]]), np.ones((2, 1), bool), True, False)
    >>> found[:, 0, :, 1].tolist()
    [[2.0, 2.0, 3.0], [3.0, 4.0, 4.0]]
    """
    r, c = height.shape
    data = np.pad(np.where(there, height, 0.0), 1)
    count = np.pad(there.astype(np.float64), 1)
    found = np.zeros((r, c, 3, 3))
    for i in range(3):
        for k in range(3):
            near = {(0, 0), (i - 1 if rows else 0, 0), (0, k - 1 if columns else 0)}
            near |= {(i - 1 if rows else 0, k - 1 if columns else 0)}
            total, many = np.zeros((r, c)), np.zeros((r, c))
            for down, right in sorted(near):
                total += data[1 + down : 1 + down + r, 1 + right : 1 + right + c]
                many += count[1 + down : 1 + down + r, 1 + right : 1 + right + c]
            found[:, :, i, k] = total / np.maximum(many, 1.0)
    return found


def surface(drawing: DrawingBuilder, picture: Layout, colors: cells.Colors) -> None:
    """Add a block with a sloping top for each cell.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    colors : Colors
    """
    table = picture.table
    flat, there = table.flat, table.count.sum(axis=2) > 0
    ordered = table.columns.is_ordered and len(table.columns.names) > 1
    height = picture.high * picture.scale.place(flat.ravel()).reshape(flat.shape)
    top = PLATE + heights(height, there, table.rows.is_ordered, ordered)
    row, column = np.nonzero(there)
    free = 0.0 if ordered else _FREE * picture.pitch[0]
    left, right = picture.x(column) + free / 2, picture.x(column + 1) - free / 2
    far, near = picture.y(row) + picture.pitch[1], picture.y(row)
    across = [left, (left + right) / 2, right]
    along = [far, (far + near) / 2, near]
    # Where columns have an order, too, a block has a bend in its middle.
    halves = ((0, 1), (1, 2)) if ordered else ((0, 2),)
    corner = np.zeros((len(halves), len(row), 3, 4, 3))
    for h, (a, b) in enumerate(halves):
        for section in range(3):
            for at, k, up in ((0, a, False), (1, b, False), (2, b, True), (3, a, True)):
                high = top[row, column, section, k] if up else np.zeros(len(row))
                corner[h, :, section, at] = np.stack([across[k], along[section], high], axis=1)
    many = len(halves) * len(row)
    drawing.add(
        Wedges(
            "cell", corner.reshape(-1, 4, 3).astype(np.float32), 3 * np.arange(many + 1),
            np.tile(colors.of_values(flat[row, column]), len(halves)),
            np.tile(np.arange(len(row)), len(halves)),
        )
    )  # fmt: skip
    level = table.value[row, column].argmax(axis=1)
    drawing.meaning["cell"] = cells.meaning_of(picture, row, column, level, table.call[row, column, level])


def ridges(drawing: DrawingBuilder, picture: Layout, found: tuple[Finding, ...], mark: int) -> None:
    """Add a line along each ridge that findings are about.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    found : tuple of Finding
    mark : int
        Palette index.
    """
    for finding in found:
        for crest in crests(picture, finding):
            drawing.add(lines("ridge", crest[None], _CREST, mark))


def crests(picture: Layout, finding: Finding) -> list[Floats]:
    """Return the lines along the top of the row or the column that a finding is about, float64 (k, 3) each.

    Parameters
    ----------
    picture : Layout
    finding : Finding

    Returns
    -------
    list of float64 (k, 3)
        Across columns without an order, each has a line of its own.
    """
    table, over = picture.table, 0.03 + PLATE
    there = table.count.sum(axis=2) > 0
    if finding.ridge == "row":
        tall = picture.high * picture.scale.place(table.flat[finding.row])
        middle = float(picture.y(np.array(finding.row - 0.5)))
        found = [
            np.array([[float(picture.x(np.array(k + end))), middle, tall[k] + over] for end in (0.03, 0.97)])
            for k in np.flatnonzero(there[finding.row]).tolist()
        ]
        joined = table.columns.is_ordered and len(found) > 1
        return [np.array([one.mean(axis=0) for one in found])] if joined else found
    if finding.ridge == "column":
        rows = np.flatnonzero(there[:, finding.column])
        tall = picture.high * picture.scale.place(table.flat[rows, finding.column])
        aside = np.full(len(rows), float(picture.x(np.array(finding.column + 0.5))))
        return [np.column_stack([aside, picture.y(rows - 0.5), tall + over])] if len(rows) > 1 else []
    return []
