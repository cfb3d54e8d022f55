"""What makes a table of a record of columns: its fields say what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from .column import Column, Texts
from .table import Table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

R = TypeVar("R", bound="Tabular")


class Named(Protocol):
    """What numbers of other tables point into."""

    def titles(self) -> Texts:
        """Return what people call its rows."""
        ...


class Tabular:
    """The base of a dataclass whose fields are columns: what can be done with it as a table.

    A field's metadata may have: ``unit``, which is put behind its name; ``names``, what its numbers represent
    (texts, the name of another field, or a name of what :func:`bound` was given); ``has_gaps``, whether
    numbers below 0 represent nothing; ``slices``, the field with the first of the several values of each row;
    ``called``, its name in the table; ``optional``, whether it may be empty where nothing is known;
    ``as_table``, whether it is a column at all.
    """

    #: What the numbers of its columns point into, where that lies outside it.
    _points_into: Mapping[str, Named] = {}

    def __len__(self) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,} rows>"

    def table(self) -> Table:
        """Return it as a table, its rows numbered from 0 in the column ``id``.

        Returns
        -------
        Table
        """
        shown = [f for f in fields(self) if f.metadata.get("as_table", True)]  # type: ignore[arg-type]
        columns: dict[str, Column] = {}
        for f in shown:
            columns.update(self._columns(f.name, f.metadata))
        rows = max(map(len, columns.values()))
        filled = {name: column if len(column) else _unknown(column, rows) for name, column in columns.items()}
        return Table(type(self).__name__.lower(), {"id": Column(np.arange(rows)), **filled})

    def _columns(self, field: str, metadata: Mapping[str, Any]) -> dict[str, Column]:
        values, name = getattr(self, field), metadata.get("called", field)
        first = getattr(self, metadata["slices"]) if "slices" in metadata else None
        names, has_gaps = metadata.get("names"), metadata.get("has_gaps", False)
        if "unit" in metadata:
            name = f"{name}_{metadata['unit']}"
        if not isinstance(values, np.ndarray):
            return {name: Column([*map(str, values)])}
        if not isinstance(names, str):
            return {name: Column(values, names, has_gaps, first)}
        if hasattr(self, names):
            return {name: Column(values, getattr(self, names), has_gaps, first)}
        numbers = {f"{name}_id": Column(values, None, has_gaps, first)}
        if names not in self._points_into:
            return numbers
        return {name: Column(values, self._points_into[names].titles(), has_gaps, first)} | numbers

    def to_arrow(self) -> pyarrow.Table:
        """Return it as an Arrow table, with names: see :meth:`.table.Table.to_arrow`."""
        return self.table().to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """Return it as a pandas data frame, with names: see :meth:`.table.Table.to_pandas`."""
        return self.table().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return it as a Polars data frame, with names: see :meth:`.table.Table.to_polars`."""
        return self.table().to_polars()


def _unknown(column: Column, rows: int) -> Column:
    if not isinstance(column.values, np.ndarray):
        return Column([""] * rows)
    return Column(np.full(rows, -1, column.values.dtype), column.names, True)


def bound(record: R, into: Mapping[str, Named]) -> R:
    """Return a record whose numbers point into ``into``: itself, or a copy where it has something else there.

    Parameters
    ----------
    record : Tabular
    into : mapping of str to Named
        The ``names`` of fields -> what they point into.

    Returns
    -------
    Tabular
        A copy shares the columns.
    """
    if record._points_into == into:  # compared by identity, as records of columns are
        return record
    if record._points_into:
        record = copy(record)
    object.__setattr__(record, "_points_into", into)
    return record
