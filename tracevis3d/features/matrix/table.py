"""Tables of three categories: rows, columns and levels, with a value, a number and a call for each cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ... import units
from ...layout.seriation import seriate

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Items:
    """What is to be counted: ``n`` items, each of a row, a column and a level.

    Attributes
    ----------
    row, column, level : int64 (n,)
    weight : float64 (n,)
    call : int64 (n,)
        -1: none.
    """

    row: Ints
    column: Ints
    level: Ints
    weight: Floats
    call: Ints


@dataclass(frozen=True, eq=False)
class Category:
    """One of the three categories.

    Attributes
    ----------
    what : str
        What its members are, in the singular.
    names : tuple of str
    is_ordered : bool
        Members have an order of their own, such as that of time.
    of : str
        What they are of, such as the function whose calls are rounds; may be empty.
    """

    what: str
    names: tuple[str, ...]
    is_ordered: bool = False
    of: str = ""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of three categories.

    Attributes
    ----------
    rows, columns, levels : Category
    value : float64 (rows, columns, levels)
    count : int64 (rows, columns, levels)
        How many items each cell sums up.
    call : int64 (rows, columns, levels)
        The call of the heaviest item; -1: none.
    verb : str
        What a row does with a column: ``calls``.
    of : str
        What values are: ``calls``, ``self time``.
    write : callable
        Writes a value with its unit.
    within : int
        Calls within one part, which are left out.
    """

    rows: Category
    columns: Category
    levels: Category
    value: Floats
    count: Ints
    call: Ints
    verb: str
    of: str
    write: Callable[[float], str] = units.count
    within: int = 0

    @property
    def flat(self) -> Floats:
        """The sums over levels, (rows, columns)."""
        return np.asarray(self.value.sum(axis=2))

    def ordered(self) -> Table:
        """Return the table with rows and columns in an order in which what belongs together is close.

        Categories with an order of their own keep it; what sums up the others stays last.

        Returns
        -------
        Table
        """
        flat = self.flat
        rows, columns = _order(flat, self.rows, self.columns)
        return self.taken(rows, columns)

    def taken(self, rows: Ints, columns: Ints) -> Table:
        """Return some rows and columns, in the given order.

        Parameters
        ----------
        rows, columns : int64 (k,)

        Returns
        -------
        Table
        """
        grid = np.ix_(rows, columns)
        return replace(
            self,
            rows=replace(self.rows, names=tuple(self.rows.names[i] for i in rows)),
            columns=replace(self.columns, names=tuple(self.columns.names[i] for i in columns)),
            value=self.value[grid],
            count=self.count[grid],
            call=self.call[grid],
        )


def _order(flat: Floats, rows: Category, columns: Category) -> tuple[Ints, Ints]:
    """Return orders of rows and columns: by seriation of the graph of both; blocks lie on the diagonal."""
    r, c = flat.shape
    # The sum of the others belongs to all of them.
    last_row, last_column = is_rest(rows), is_rest(columns)
    inner = flat[: r - last_row, : c - last_column]
    strength = np.zeros((inner.shape[0] + inner.shape[1],) * 2)
    strength[: inner.shape[0], inner.shape[0] :] = inner
    order = seriate(strength)
    row_order = order[order < inner.shape[0]]
    column_order = order[order >= inner.shape[0]] - inner.shape[0]
    if rows.is_ordered:
        row_order = np.arange(inner.shape[0])
    if columns.is_ordered:
        column_order = np.arange(inner.shape[1])
    if last_row:
        row_order = np.append(row_order, r - 1)
    if last_column:
        column_order = np.append(column_order, c - 1)
    return row_order.astype(np.int64), column_order.astype(np.int64)


def is_rest(category: Category) -> bool:
    """Return whether the last member of a category stands for several that have no place of their own."""
    return bool(category.names) and category.names[-1].endswith(_REST)


_REST = " more"


def table_of(
    items: Items,
    categories: tuple[Category, Category, Category],
    most: int,
    verb: str,
    of: str,
    write: Callable[[float], str],
) -> Table:
    """Sum items up in a table; of unordered categories the members with the largest sums have a place.

    Parameters
    ----------
    items : Items
    categories : (Category, Category, Category)
        Rows, columns and levels.
    most : int
        This many rows and columns; what is left over is one more.
    verb, of : str
        As in :class:`Table`.
    write : callable
        As in :class:`Table`.

    Returns
    -------
    Table
        Its values add up to those of the items.
    """
    rows, row = _fewer(categories[0], items.row, items.weight, most)
    columns, column = _fewer(categories[1], items.column, items.weight, most)
    shape = len(rows.names), len(columns.names), max(len(categories[2].names), 1)
    cell = (row * shape[1] + column) * shape[2] + items.level
    size = shape[0] * shape[1] * shape[2]
    call = np.full(size, -1, np.int64)
    # Of items in one cell the heaviest is written last.
    order = np.argsort(items.weight, kind="stable")
    call[cell[order]] = items.call[order]
    return Table(
        rows, columns, categories[2],
        np.bincount(cell, items.weight, size).reshape(shape).astype(np.float64),
        np.bincount(cell, minlength=size).reshape(shape).astype(np.int64),
        call.reshape(shape), verb, of, write,
    )  # fmt: skip


def _fewer(category: Category, of: Ints, weight: Floats, most: int) -> tuple[Category, Ints]:
    """Return a category with the heaviest members and one for the rest, and the new members of items."""
    sums = np.bincount(of, weight, len(category.names))
    there = np.flatnonzero(np.bincount(of, minlength=len(category.names)))
    if category.is_ordered:
        return category, of
    kept = there[np.argsort(-sums[there], kind="stable")][:most]
    kept = np.sort(kept)
    place = np.full(len(category.names), len(kept), np.int64)
    place[kept] = np.arange(len(kept))
    names = [category.names[i] for i in kept]
    if len(there) > len(kept):
        names.append(f"{len(there) - len(kept):,}{_REST}")
    return replace(category, names=tuple(names)), place[of]


def slices(window: tuple[int, int], many: int, name: Callable[[int, int], str]) -> tuple[Category, Ints]:
    """Return slices of time as a category, and their edges.

    Parameters
    ----------
    window : (int, int)
        Nanoseconds; the end lies behind the start.
    many : int
    name : callable
        ``name(start, end)``

    Returns
    -------
    (Category, int64 (slices + 1,))
    """
    many = min(many, window[1] - window[0])
    edges = window[0] + (np.arange(many + 1, dtype=np.int64) * (window[1] - window[0])) // many
    names = tuple(name(a, b) for a, b in pairwise(edges.tolist()))
    return Category("time", names, is_ordered=True), edges
