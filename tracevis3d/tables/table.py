"""A table: columns with names, equally long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .column import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


@dataclass(frozen=True, eq=False)
class Table:
    """A table.

    Attributes
    ----------
    name : str
        The word for it in a query.
    columns : mapping of str to Column or callable
        In order, all equally long. A function makes its column when that is read.

    Examples
    --------
    >>> import numpy as np
    >>> from tracevis3d.tables.column import Column
    >>> table = Table("calls", {"function": Column(np.array([0, 1, 0]), ["main", "read"])})
    >>> len(table), table.as_rows()[1]
    (3, {'function': 'read'})
    """

    name: str
    columns: Mapping[str, Column | Callable[[], Column]]

    def __len__(self) -> int:
        return len(self.column(next(iter(self.columns)))) if self.columns else 0

    def column(self, name: str) -> Column:
        """Return one of its columns."""
        column = self.columns[name]
        return column if isinstance(column, Column) else column()

    def made(self) -> dict[str, Column]:
        """Return all of its columns."""
        return {name: self.column(name) for name in self.columns}

    def only(self, names: Iterable[str]) -> Table:
        """Return the table with some of its columns, in its own order; no other one is made."""
        wanted = set(names)
        return replace(self, columns={n: column for n, column in self.columns.items() if n in wanted})

    def as_rows(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries: None for what represents nothing. For small tables."""
        columns = {name: column.as_list() for name, column in self.made().items()}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def to_arrow(self) -> pyarrow.Table:
        """Return it as an Arrow table; numbers are shared, not copied, where the types allow.

        Returns
        -------
        pyarrow.Table
            Numbers that represent texts become dictionaries.

        Raises
        ------
        UsageError
            If pyarrow is not installed.
        """
        from . import arrow

        return arrow.to_arrow(self.made())

    def to_pandas(self) -> pandas.DataFrame:
        """Return it as a pandas data frame; texts that recur become categories.

        Raises
        ------
        UsageError
            If pandas or pyarrow is not installed.

        Returns
        -------
        pandas.DataFrame
        """
        from . import arrow

        return arrow.to_pandas(self.made())

    def to_polars(self) -> polars.DataFrame:
        """Return it as a Polars data frame; texts that recur become categories.

        Raises
        ------
        UsageError
            If Polars or pyarrow is not installed.

        Returns
        -------
        polars.DataFrame
        """
        from . import arrow

        return arrow.to_polars(self.made())
