"""One number for each call."""

from __future__ import annotations

from typing import Any

from .jit import kernel


@kernel
def fill_self_times(parent: Any, start: Any, end: Any, self_time: Any) -> None:
    """Fill ``self_time`` (int64 (n,)) with each call's duration without its children's.

    ``parent``, ``start`` and ``end`` are int64 (n,).
    """
    for i in range(len(parent)):
        duration = end[i] - start[i]
        self_time[i] = duration
        if parent[i] >= 0:
            self_time[parent[i]] -= duration


@kernel
def fill_allocated(parent: Any, call: Any, size: Any, kind: Any, wanted: int, allocated: Any) -> None:
    """Fill ``allocated`` with the bytes of the rows of ``kind == wanted`` in each call and those below it.

    ``parent`` and ``allocated`` are int64 (n,); ``call`` and ``size`` int64 (m,), ``kind`` uint8 (m,).
    """
    for i in range(len(parent)):
        allocated[i] = 0
    for row in range(len(call)):
        if kind[row] == wanted and call[row] >= 0:
            allocated[call[row]] += size[row]
    for i in range(len(parent) - 1, -1, -1):
        if parent[i] >= 0:
            allocated[parent[i]] += allocated[i]
