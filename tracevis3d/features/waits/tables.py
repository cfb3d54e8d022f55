"""The table of waits, for queries."""

from __future__ import annotations

import numpy as np

from ...tables.column import Column
from ...tables.declaration import TableDeclaration
from ...tables.table import Table
from ...trace.model import WAIT, Trace
from .waits import SOURCES, find_waits


def waits(trace: Trace) -> Table:
    """Return the waits, also those that did not block, by their start.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    Table
        ``nested``: it lies within another wait of its thread, as a part of that one. ``woken_by`` and
        ``held_by`` are null where they are unknown.
    """
    found = find_waits(trace)
    ops = found.ops
    rows = np.flatnonzero(ops.kind == WAIT)
    rows = rows[np.argsort(ops.start[rows], kind="stable")]
    threads = trace.threads.titles()
    has_object = np.diff(ops.first)[rows] > 0
    object = np.full(len(rows), -1, np.int32)
    object[has_object] = ops.object[ops.first[rows[has_object]]]
    return Table(
        "waits",
        {
            "id": Column(np.arange(len(rows))),
            "call_id": Column(ops.call[rows], has_gaps=True),
            "thread": Column(ops.thread[rows], threads),
            "object": Column(object, ops.objects),
            "operation": Column(ops.name[rows], ops.names),
            "start_ns": Column(ops.start[rows]),
            "end_ns": Column(ops.end[rows]),
            "duration_ns": Column(ops.lasted[rows]),
            "blocked": Column(ops.blocked[rows]),
            "nested": Column(ops.nested[rows]),
            "function": Column(found.function[rows], trace.functions.titles()),
            "woken_by": Column(found.woken_by[rows], threads),
            "woken_ns": Column(found.woken_at[rows], has_gaps=True),
            "held_by": Column(found.held_by[rows], threads),
            "held_by_source": Column(found.held_by_source[rows], SOURCES),
        },
    )


TABLES = (TableDeclaration("waits", "a wait, with who ended it and who held its object", waits),)
