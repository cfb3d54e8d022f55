"""The operations of a trace, and what follows directly from them: who woke whom, and who held what."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...trace.build import innermost
from ...trace.model import WAIT, Trace
from .correspondences import Correspondences, waking_releases
from .holds import Holds, holds
from .operations import Operations, operations
from .rules import Rules, read_rules

Ints = NDArray[np.int64]


class Synchronization:
    """The waits, releases and I/O of a trace, who ended them, and who held what; computed when asked for.

    Parameters
    ----------
    trace : Trace
    rules : Rules, optional
        The library's own if left out.
    """

    def __init__(self, trace: Trace, rules: Rules | None = None) -> None:
        self.trace = trace
        self.ops: Operations = operations(trace, rules or read_rules())

    @cached_property
    def woke(self) -> Correspondences:
        """The release that ended each blocked wait, where one is known."""
        return waking_releases(self.ops)

    @cached_property
    def waker(self) -> Ints:
        """The release that ended each operation, as a row; -1: none is known. Int64 (n,)."""
        found = np.full(len(self.ops), -1, np.int64)
        found[self.woke.wait] = self.woke.release  # the last of each wait is the one that woke it
        return found

    @cached_property
    def woken_at(self) -> Ints:
        """When the release of :attr:`waker` happened; -1: unknown. Int64 (n,)."""
        found = np.full(len(self.ops), -1, np.int64)
        found[self.woke.wait] = self.woke.time
        return found

    @cached_property
    def woken_by(self) -> NDArray[np.int32]:
        """The thread that ended each wait; -1: unknown. Int32 (n,)."""
        return np.where(self.waker >= 0, self.ops.thread[self.waker], -1).astype(np.int32)

    @cached_property
    def held(self) -> Holds:
        """The holders of objects over time."""
        return holds(self.ops, self.trace.span_ns)

    @cached_property
    def function(self) -> NDArray[np.int32]:
        """The function that does each operation; -1: it is on no stack. Int32 (n,).

        It is that which calls what waits, releases or transfers, or what runs where that is no call.
        """
        ops, calls, threads = self.ops, self.trace.calls, self.trace.threads
        if not len(calls):
            return np.full(len(ops), -1, np.int32)
        around = innermost(calls, threads.first, threads.count, ops.thread, ops.start)
        call = np.where(ops.call >= 0, calls.parent[ops.call], around)
        return np.where(call >= 0, calls.function[call], -1).astype(np.int32)

    @cached_property
    def own(self) -> Ints:
        """The blocked waits that lie in no other: their durations are what threads waited. Int64 (k,)."""
        return np.flatnonzero((self.ops.kind == WAIT) & self.ops.blocked & ~self.ops.nested)
