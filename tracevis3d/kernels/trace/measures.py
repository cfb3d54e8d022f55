"""One number for each call."""

from __future__ import annotations

from typing import Any

from ..jit import kernel


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
