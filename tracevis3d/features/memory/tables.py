"""The table of blocks of memory, for queries."""

from __future__ import annotations

import numpy as np

from ...tables.column import Column
from ...tables.declaration import TableDeclaration
from ...tables.table import Table
from ...trace.model import Trace
from .view.arrangement import memory_use


def blocks(trace: Trace) -> Table:
    """Return the blocks in order of creation.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    Table
        ``freed_ns`` is null for what is never freed.
    """
    use = memory_use(trace)
    found, memory = use.blocks, trace.memory
    return Table(
        "blocks",
        {
            "id": Column(np.arange(len(found))),
            "call_id": Column(memory.call[found.row], has_gaps=True),
            "call_site": lambda: Column(use.sites.of_block, use.sites.name),
            "thread": Column(memory.thread[found.row], trace.threads.titles()),
            "address": Column(found.address),
            "size": Column(found.size),
            "allocated_ns": Column(found.born),
            "freed_ns": Column(np.where(found.free_row >= 0, found.died, -1), has_gaps=True),
            "accesses": lambda: Column(np.diff(found.first_access)),
        },
    )


TABLES = (TableDeclaration("blocks", "a block of memory, from its allocation to its end", blocks),)
