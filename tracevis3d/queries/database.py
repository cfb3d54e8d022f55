"""Running a query: DuckDB over the columns of traces, which are shared, not copied.

A query reads the traces' tables and nothing else: it opens no file, loads no extension, changes no setting.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..progress import Progress, silent
from ..tables.arrow import needed
from ..tables.declaration import TableDeclaration
from ..trace.model import Trace
from . import ready, sources

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: Seconds between two checks for interruption.
_POLL_S = 0.05
_COUNT_ALL = re.compile(r"\(\s*\*\s*\)")
#: Keywords for all columns of a table.
_ABOUT_ALL = frozenset({"columns", "describe", "show", "summarize"})
_WORD = re.compile(r"\w+")
_LOCKED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
}


@dataclass(frozen=True, eq=False)
class Answer:
    """The result of a query.

    Attributes
    ----------
    arrow : pyarrow.Table
    sql : str
        What was run: a ready query is written out.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> tv.query("SELECT count(*) AS n FROM calls", tv.load("run.tsv")).rows  # doctest: +SKIP
    [{'n': 4}]
    """

    arrow: pyarrow.Table
    sql: str

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self.arrow.column_names)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries; None for null."""
        found: list[dict[str, Any]] = self.arrow.to_pylist()
        return found

    def to_arrow(self) -> pyarrow.Table:
        """Return it as an Arrow table."""
        return self.arrow

    def to_pandas(self) -> pandas.DataFrame:
        """Return it as a pandas data frame."""
        needed("pandas")
        return self.arrow.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return it as a Polars data frame."""
        return needed("polars").from_arrow(self.arrow)

    def calls(self, trace: int = 0) -> NDArray[np.int64]:
        """Return the calls that it selects: its column ``id``, each once.

        Parameters
        ----------
        trace : int
            Of several traces, which one; its column ``trace`` tells them apart.

        Returns
        -------
        int64 (n,)
            Ascending.

        Raises
        ------
        UsageError
            If it has no column ``id`` of integers.
        """
        if "id" not in self.columns:
            raise UsageError(
                f"the query selects no calls: it has no column id, only {', '.join(self.columns)}"
            )
        column = self.arrow["id"]
        if "trace" in self.columns:
            compute = needed("pyarrow.compute")
            column = column.filter(compute.equal(self.arrow["trace"], letter(trace)))
        if not str(column.type).startswith(("int", "uint")):
            raise UsageError(f"the query selects no calls: its column id is of the type {column.type}")
        return np.asarray(np.unique(column.drop_null().to_numpy()), np.int64)


def letter(trace: int) -> str:
    """Return what a query calls one of several traces: A for the first."""
    return ascii_uppercase[trace] if trace < len(ascii_uppercase) else f"T{trace + 1}"


def run(sql: str, traces: Sequence[Trace], progress: Progress = silent) -> Answer:
    """Run a query over the tables of some traces.

    Of several traces, each table has the rows of all, with a column ``trace`` before the others: A, B, ….

    Parameters
    ----------
    sql : str
        A SELECT, or the name of a ready query (:data:`.ready.READY`).
    traces : sequence of Trace
    progress : Progress
        It may stop the query.

    Returns
    -------
    Answer

    Raises
    ------
    UsageError
        If DuckDB or pyarrow is missing, or the query can't be run.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> answer = run("hot-functions", [tv.load("run.tsv")])  # doctest: +SKIP
    """
    duckdb = needed("duckdb", "query")
    sql = ready.written_out(sql, len(traces))
    connection = duckdb.connect(":memory:", config=_LOCKED)
    try:
        for table in _named(sql, traces):
            progress(0.0, f"preparing {table.name}")
            connection.register(table.name, _filled(table, traces, _columns_in(sql)))
        return Answer(_executed(connection, sql, progress), sql)
    except duckdb.BinderException as error:
        raise UsageError(f"the query can't be run: {_unknown_column(error, sql, traces)}") from None
    except duckdb.Error as error:
        raise UsageError(f"the query can't be run: {_one_line(error)}") from None
    finally:
        connection.close()


def _words(sql: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(sql)}


def _named(sql: str, traces: Sequence[Trace]) -> list[TableDeclaration]:
    """Return the tables that a query names."""
    words, known = _words(sql), sources.declared().values()
    return [table for table in known if table.name in words and table.traces in (1, len(traces))]


def _columns_in(sql: str) -> set[str] | None:
    """Return the words among which are the columns that a query names: no others are made. None: all."""
    words = _words(sql)
    every = "*" in _COUNT_ALL.sub("", sql) or not words.isdisjoint(_ABOUT_ALL)
    return None if every else words


def _filled(table: TableDeclaration, traces: Sequence[Trace], words: set[str] | None) -> pyarrow.Table:
    pa = needed("pyarrow", "query")
    if table.traces > 1:
        groups: list[tuple[Trace, ...]] = [tuple(traces)]
    else:
        groups = [(trace,) for trace in traces]
    parts = []
    for number, group in enumerate(groups):
        made = table.made(*group)
        if words is not None:
            # Its first column always exists and determines the number of rows.
            made = made.only({*words, next(iter(made.columns))})
        part = made.to_arrow()
        if len(groups) > 1:
            which = pa.DictionaryArray.from_arrays(
                pa.array(np.full(part.num_rows, number, np.int32)),
                pa.array([*map(letter, range(len(groups)))]),
            )
            part = part.add_column(0, "trace", which)
        parts.append(part)
    return pa.concat_tables(parts).unify_dictionaries()


def _executed(connection: Any, sql: str, progress: Progress) -> pyarrow.Table:
    """Run a query in a thread of its own, so that this one hears when it is to be stopped."""
    result: list[Any] = []

    def execute() -> None:
        try:
            found = connection.sql(sql)
            result.append(None if found is None else found.to_arrow_table())
        except Exception as error:
            result.append(error)

    thread = threading.Thread(target=execute, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_POLL_S)
            progress(0.5, "running the query")
    except BaseException:
        connection.interrupt()
        thread.join()
        raise
    (found,) = result
    if found is None:
        raise UsageError("the query has no result: SELECT … is expected")
    if isinstance(found, BaseException):
        raise found
    return found


def _one_line(error: Exception) -> str:
    return " ".join(str(error).partition("\n\nLINE")[0].split())


def _unknown_column(error: Exception, sql: str, traces: Sequence[Trace]) -> str:
    """Return what is wrong, with the columns that there are: DuckDB knows only those that were named."""
    sentence = _one_line(error).partition("! Candidate bindings")[0].rstrip("!")
    columns = []
    for table in _named(sql, traces):
        group = traces if table.traces > 1 else traces[:1]
        columns.append(f"the columns of {table.name} are {', '.join(table.made(*group).columns)}")
    return "; ".join((sentence, *columns))
