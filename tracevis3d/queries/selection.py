"""Calls that are looked for, by names or by a query: what the search field of the extension takes.

A query is run by DuckDB where it is installed, else by the SQLite that Python brings along.
"""

from __future__ import annotations

import re
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from ..analysis import search_results
from ..analysis.search import Found
from ..analysis.search_results import TypedQuery
from ..trace.cached_results import cached_with_trace
from ..trace.model import Trace
from ..units import counted, read_time
from . import database, plain_sql

_SQL = re.compile(r"\s*(?:select|with)\s.*\sfrom\s", re.IGNORECASE | re.DOTALL)


def is_sql(text: str) -> bool:
    """Say whether a text that is looked for is a query, not a name.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_sql("SELECT id FROM calls"), is_sql("select_from")
    (True, False)
    """
    return _SQL.match(text) is not None


@cached_with_trace(most=4)
def find(trace: Trace, query: TypedQuery) -> Found:
    """Find the calls that a query selects, or of the functions whose names match; the result is cached.

    Parameters
    ----------
    trace : Trace
    query : TypedQuery
        As a user typed it; empty times are no bounds.

    Returns
    -------
    Found

    Raises
    ------
    UsageError
        If the pattern, the query or a time can't be read.
    """
    if not is_sql(query.pattern):
        return search_results.find(trace, query)
    calls = selected_calls(query.pattern, trace)
    start = trace.calls.start[calls]
    if query.start.strip():
        calls, start = _only(start >= read_time("from", query.start), calls, start)
    if query.end.strip():
        calls, start = _only(start < read_time("to", query.end), calls, start)
    found = Found.of_calls(trace, calls)
    # As where names are searched.
    found.after(0, most=1), found.rank(0)
    return found


def _only(
    kept: NDArray[np.bool_], calls: NDArray[np.int64], start: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return calls[kept], start[kept]


def selected_calls(sql: str, trace: Trace) -> NDArray[np.int64]:
    """Return the calls that a query selects.

    Parameters
    ----------
    sql : str
        A SELECT with a column ``id``.
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
    if find_spec("duckdb") and find_spec("pyarrow"):
        calls = database.run(sql, [trace]).calls()
    else:
        calls = plain_sql.calls(sql, trace)
    return calls[(calls >= 0) & (calls < len(trace.calls))]


def summary(found: Found, query: TypedQuery) -> str:
    """Return the number of results as text.

    Parameters
    ----------
    found : Found
    query : TypedQuery
        What was looked for.

    Returns
    -------
    str
    """
    if not is_sql(query.pattern):
        return search_results.summary(found)
    if not found.count:
        return "The query selects no call"
    return f"{counted(found.count, 'call')} of {counted(len(found.functions), 'function')}, by a query"
