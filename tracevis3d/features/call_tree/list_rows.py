"""The chosen list of a trace, and its rows as texts, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...analysis.listing import Listing
from ...filters.facts import facts_of
from ...filters.patterns import Parameters
from ...filters.sequence_list import sequences
from ...trace.cached_results import cached_with_trace
from ...trace.model import Trace
from ...units import counted, duration
from ...views import filtering
from . import lists
from .lists import Ints

#: Rows per page.
PAGE = 60
_NOUNS = {"model": "functions", "utilities": "candidates", "library": "entries of the library"}


@dataclass(frozen=True)
class ListQuery:
    """The settings of a list.

    Attributes
    ----------
    kind : str
        One of :data:`.lists.KINDS`.
    sort : str
        Order of functions, one of :data:`.nodes.SORTS`.
    pattern_sort : str
        Order of patterns and sequences, one of :data:`.lists.PATTERN_SORTS`.
    criterion : str
        When two subtrees are one pattern.
    contains : str
        Only rows with this text in their names.
    filters : str
        The view's filter stack.
    """

    kind: str = "model"
    sort: str = "occurrences"
    pattern_sort: str = "calls"
    criterion: str = "exact"
    contains: str = ""
    filters: str = ""


@cached_with_trace(most=6)
def listing(trace: Trace, query: ListQuery) -> Listing:
    """Return a list of a trace; it is cached. For matches of a library see :func:`.lists.from_library`.

    Parameters
    ----------
    trace : Trace
    query : ListQuery
        Which list, in which order, under which filters.

    Returns
    -------
    Listing

    Raises
    ------
    UsageError
        If the filters can't be read, or there is no such order or criterion.
    """
    facts = facts_of(trace)
    filtered = filtering.outcome(trace, query.filters) if query.filters else None
    if query.kind == "patterns":
        parameters = Parameters(criterion=query.criterion)
        return lists.repeated(facts, parameters, query.pattern_sort, query.contains, filtered)
    if query.kind == "sequences":
        return sequences(facts, query.pattern_sort, query.contains, filtered)
    if query.kind == "utilities":
        return lists.utilities(facts, query.contains)
    return lists.model(facts, filtered, query.sort, query.contains)


def summary(kind: str, rows: int) -> str:
    """Return how many rows a list has, in words.

    Parameters
    ----------
    kind : {"model", "utilities", "patterns", "sequences", "library"}
        Which list.
    rows : int
        How many.

    Returns
    -------
    str
    """
    if kind == "library" and not rows:
        return "The library is empty: promote a pattern or a utility"
    return f"{rows:,} {_NOUNS.get(kind, kind)}"


def page_of(first: int, rows: int) -> int:
    """Return the first row of the page that row ``first`` of ``rows`` is on.

    Parameters
    ----------
    first : int
        From 0.
    rows : int
        How many there are.

    Returns
    -------
    int
        A multiple of :data:`PAGE`.
    """
    return max(min(first, rows - 1), 0) // PAGE * PAGE


def turned(first: int, rows: int, step: str) -> int:
    """Return a row of the page that ``step`` (FIRST, PREVIOUS, NEXT, LAST) leads to from row ``first``.

    Parameters
    ----------
    first : int
        From 0.
    rows : int
        How many there are.
    step : {"FIRST", "PREVIOUS", "NEXT", "LAST"}
        Where to.

    Returns
    -------
    int
    """
    wanted = {"FIRST": 0, "PREVIOUS": first - PAGE, "NEXT": first + PAGE, "LAST": rows}[step]
    return max(min(wanted, rows - 1), 0)


def occurrence(starts: Ints, now: int, step: int) -> int | None:
    """Return the place of the next (``step`` 1) or previous (-1) start from call ``now``; None: no more.

    Parameters
    ----------
    starts : int64 (n,)
        Ascending.
    now, step : int

    Returns
    -------
    int or None
        Index into ``starts``.
    """
    place = int(np.searchsorted(starts, now, "right" if step > 0 else "left")) - (step < 0)
    return place if 0 <= place < len(starts) else None


@dataclass(frozen=True)
class RowTexts:
    """A row in words.

    Attributes
    ----------
    title, count, detail : str
        Its name, the number that the list is sorted by, and what else is known.
    role : str
        What kind of function it is, or ``pattern``, ``sequence`` or ``utility``.
    hidden : bool
        Filters hide all of its calls, or it does not occur.
    """

    title: str
    count: str
    detail: str
    role: str
    hidden: bool


def row_texts(query: ListQuery, row: dict[str, Any]) -> RowTexts:
    """Return a row, as :class:`~.listing.Listing` has it, in words.

    Parameters
    ----------
    query : ListQuery
        Which list it is from.
    row : dict of str to object
        Its columns by name.

    Returns
    -------
    RowTexts
    """
    if query.kind == "library":
        return _library_row(row)
    if query.kind == "sequences":
        return _sequence_row(query, row)
    if query.kind == "patterns":
        return _pattern_row(query, row)
    if query.kind == "utilities":
        count = f"{row['utilityhood']:.4f}"
    elif query.sort == "duration":
        count = duration(row["duration_ns"])
    else:
        count = f"{row[query.sort if query.sort != 'name' else 'occurrences']:,}"
    counts = (
        counted(row["subtrees"], "distinct subtree"),
        counted(row["callers"], "caller"),
        counted(row["callees"], "callee"),
    )
    calls, lasted = counted(row["occurrences"], "call"), duration(row["duration_ns"])
    detail = f"{calls}{_hidden(row)}, {lasted}, {', '.join(counts)}"
    return RowTexts(row["function"], count, detail, row["role"], _is_hidden(row))


def _library_row(row: dict[str, Any]) -> RowTexts:
    what = f"{row['criterion']}, {row['nodes']:,} different calls" if row["criterion"] else "utility"
    here = f"{row['calls']:,} occurrences here" if row["calls"] else "does not occur here"
    return RowTexts(row["name"], f"{row['calls']:,}", f"{what}: {here}", row["kind"], not row["calls"])


def _sequence_row(query: ListQuery, row: dict[str, Any]) -> RowTexts:
    number = {"calls": "calls", "size": "callees"}.get(query.pattern_sort, "occurrences")
    callers = ", ".join(row["called_by"])
    if row["callers"] > len(row["called_by"]):
        callers += f", \u2026 {row['callers'] - len(row['called_by']):,} more"
    detail = (
        f"{row['occurrences']:,} \u00d7 {row['callees']:,} callees with {row['calls_each']:,} calls"
        f"{_hidden(row)}, {'in ' + callers if callers else 'among the root calls'}: {row['sequence']}"
    )
    return RowTexts(row["short_name"], f"{row[number]:,}", detail, "sequence", _is_hidden(row))


def _pattern_row(query: ListQuery, row: dict[str, Any]) -> RowTexts:
    number = {"calls": "calls", "size": "calls_each"}.get(query.pattern_sort, "occurrences")
    shapes = f", {row['shapes']:,} shapes" if row["shapes"] > 1 else ""
    calls = f"{row['occurrences']:,} \u00d7 {row['calls_each']:,} calls"
    detail = f"{calls}{shapes}{_hidden(row)}: {row['shape']}"
    return RowTexts(row["name"], f"{row[number]:,}", detail, "pattern", _is_hidden(row))


def _hidden(row: dict[str, Any]) -> str:
    return f", {row['hidden']:,} hidden" if row["hidden"] else ""


def _is_hidden(row: dict[str, Any]) -> bool:
    return bool(row["hidden"] >= row["occurrences"])
