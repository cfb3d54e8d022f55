"""The tables that a query can be about: those of the model, and those that views declare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..analysis.measures import calls_by_function, self_time_by_function, self_time_of
from ..errors import UsageError
from ..features.comparison.matching.groups import Paths, find_paths
from ..tables.column import Column
from ..tables.declaration import TableDeclaration
from ..tables.table import Table
from ..trace.cached_results import cached_with_trace
from ..trace.model import Trace
from ..views import registry

#: Maximum number of functions in a path; the middle of longer ones is left out.
MOST_NAMES = 32


def calls(trace: Trace) -> Table:
    """Return the calls with their durations and their paths.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    Table
        What is not in the model is computed when it is read.
    """
    of = trace.calls
    plain = dict(of.table().columns)
    del plain["extent"]
    return Table(
        "calls",
        {
            **plain,
            "duration_ns": lambda: Column(of.end - of.start),
            "self_ns": lambda: Column(self_time_of(trace)),
            "calls_below": lambda: Column(of.extent - 1),
            "path": lambda: Column(_paths(trace).place, _path_texts(trace)),
        },
    )


def functions(trace: Trace) -> Table:
    """Return the functions, with how often they are called and how long they run themselves.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    Table
    """
    return Table(
        "functions",
        {
            **trace.functions.table().columns,
            "calls": lambda: Column(calls_by_function(trace)),
            "self_ns": lambda: Column(self_time_by_function(trace).astype(np.int64)),
        },
    )


@cached_with_trace()
def _paths(trace: Trace) -> Paths:
    return find_paths(trace.calls, np.ascontiguousarray(trace.calls.function, np.int32))


@cached_with_trace()
def _path_texts(trace: Trace) -> list[str]:
    """Return each distinct call path as a text: functions from the root call down, ``;`` between them."""
    paths, titles = _paths(trace), trace.functions.titles()
    names: list[tuple[str, ...]] = []
    parents = paths.forest.parent.tolist()
    for unit, parent in zip(paths.unit.tolist(), parents):
        above = names[parent] if parent >= 0 else ()
        if len(above) >= MOST_NAMES:
            half = MOST_NAMES // 2
            above = (*above[:half], "…", *above[half + 2 :])
        names.append((*above, titles[unit]))
    return [";".join(path) for path in names]


#: The tables of the model.
_MODEL = (
    TableDeclaration("calls", "a call, with its times, its caller and its call path", calls),
    TableDeclaration("functions", "a function, with its calls and its self time", functions),
    TableDeclaration("threads", "a thread", lambda trace: trace.threads.table()),
    TableDeclaration("containers", "a package, module or class", lambda trace: trace.containers.table()),
    TableDeclaration("sync", "a wait, release or transfer, as recorded", lambda trace: trace.sync.table()),
    TableDeclaration("memory", "an allocation, free or access", lambda trace: trace.memory.table()),
    TableDeclaration(
        "stacks", "a frame of a stack recorded with an event", lambda trace: trace.stacks.table()
    ),
    TableDeclaration("samples", "a sample of a stack, of a profile", lambda trace: trace.samples.table()),
    TableDeclaration("counters", "a sample of a counter", lambda trace: trace.counters.table()),
    TableDeclaration("flows", "an arrow from one call to another", lambda trace: trace.flows.table()),
    TableDeclaration("spans", "an asynchronous operation", lambda trace: trace.spans.table()),
    TableDeclaration("instants", "a moment", lambda trace: trace.instants.table()),
)


def declared() -> dict[str, TableDeclaration]:
    """Return all tables by name; those of views that can't be loaded are left out.

    Returns
    -------
    dict of str to TableDeclaration
    """
    found = {table.name: table for table in _MODEL}
    for view in registry.loadable():
        for table in view.tables:
            found.setdefault(table.name, table)
    return found


def find(name: str) -> TableDeclaration:
    """Return a table by its name.

    Parameters
    ----------
    name : str

    Returns
    -------
    TableDeclaration

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    known = declared()
    if name not in known:
        raise UsageError(f"there is no table {name!r}: choose one of {', '.join(known)}")
    return known[name]


def table(name: str, traces: Sequence[Trace]) -> Table:
    """Return a table of one trace, or of two.

    Parameters
    ----------
    name : str
        Such as ``calls`` or ``matches``.
    traces : sequence of Trace
        As many as it is about.

    Returns
    -------
    Table

    Raises
    ------
    UsageError
        If there is none of that name, or it is about more or fewer traces.
    """
    chosen = find(name)
    if len(traces) != chosen.traces:
        raise UsageError(f"the table {name!r} is about {chosen.traces} trace(s), not {len(traces)}")
    return chosen.made(*traces)
