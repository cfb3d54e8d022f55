"""Running a query with SQLite, which is part of Python: where DuckDB is not installed, as within Blender.

A query reads the trace's tables and nothing else. The tables are copied, so it takes longer than with DuckDB.
"""

from __future__ import annotations

import re
import sqlite3
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..tables.column import Column
from ..tables.table import Table
from ..trace.model import Trace
from . import sources

_WORD = re.compile(r"\w+")
#: What a query may do: read, and call functions.
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
#: Bytes of the longest text.
_LONGEST = 1 << 24


def calls(sql: str, trace: Trace) -> NDArray[np.int64]:
    """Return the calls that a query selects: its column ``id``, each once.

    Parameters
    ----------
    sql : str
        A SELECT.
    trace : Trace

    Returns
    -------
    int64 (n,)
        Ascending.

    Raises
    ------
    UsageError
        If the query can't be run, or has no column ``id`` of integers.
    """
    columns, rows = run(sql, trace)
    if "id" not in columns:
        raise UsageError(f"the query selects no calls: it has no column id, only {', '.join(columns)}")
    place = columns.index("id")
    numbers = [row[place] for row in rows if row[place] is not None]
    if not all(type(number) is int for number in numbers):
        raise UsageError("the query selects no calls: its column id has other values than whole numbers")
    return np.unique(np.array(numbers, np.int64))


def run(sql: str, trace: Trace) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Run a query over the tables of a trace.

    Parameters
    ----------
    sql : str
        A SELECT.
    trace : Trace

    Returns
    -------
    columns : list of str
    rows : list of tuple

    Raises
    ------
    UsageError
        If it can't be run.
    """
    words = {word.lower() for word in _WORD.findall(sql)}
    connection = sqlite3.connect(":memory:")
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        for table in sources.declared().values():
            if table.name in words and table.traces == 1:
                _fill(connection, table.made(trace), None if "*" in sql else words)
        connection.set_authorizer(_authorized)
        found = connection.execute(sql)
        if found.description is None:
            raise UsageError("the query has no result: SELECT … is expected")
        return [column[0] for column in found.description], found.fetchall()
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        raise UsageError(f"the query can't be run: {error}") from None
    finally:
        connection.close()


def _authorized(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    is_allowed = action in _ALLOWED and "load_extension" not in (first, second)
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _fill(connection: sqlite3.Connection, table: Table, words: set[str] | None) -> None:
    """Copy a table, with the columns that a query names; its first column always."""
    if words is not None:
        table = table.only({*words, next(iter(table.columns))})
    columns = table.made()
    names = ", ".join(f'"{name}"' for name in columns)
    connection.execute(f'CREATE TABLE "{table.name}" ({names})')
    places = ", ".join("?" * len(columns))
    rows = zip(*map(_values, columns.values()), strict=True)
    connection.executemany(f'INSERT INTO "{table.name}" VALUES ({places})', rows)


def _values(column: Column) -> list[Any]:
    """Return a column's rows as SQLite takes them."""
    if isinstance(column.values, np.ndarray) and column.values.dtype == np.uint64:
        column = Column(column.values.view(np.int64), first=column.first)
    values = column.as_list()
    return values if column.first is None else [", ".join(map(str, row)) for row in values]
