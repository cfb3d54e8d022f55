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


@kernel
def add_outermost(function: Any, extent: Any, start: Any, end: Any, until: Any, total: Any) -> None:
    """Add to ``total`` the durations of the calls that are in no other call of their function.

    ``function`` is int32 (n,); ``extent``, ``start`` and ``end`` are int64 (n,), in pre-order. ``until`` is
    working space, int64 (functions,), 0 on entry, as is ``total``.
    """
    for i in range(len(function)):
        f = function[i]
        if i >= until[f]:
            total[f] += end[i] - start[i]
            until[f] = i + extent[i]
