"""Blocks of memory that live at a moment, from the rows that came before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Kinds of rows: see :data:`.protocol.TABLES`.
_ALLOCATED, _ACCESSED = 0, 2
_NAMES = ("kind", "time", "address", "size", "thread", "stack")


class Living:
    """The blocks of one session that are allocated and not freed.

    Attributes
    ----------
    session : Session
    columns : dict
        ``time``, ``address``, ``size``, ``thread`` and ``stack`` of their allocations, in the order in which
        these came.
    """

    def __init__(self, session: Any) -> None:
        self.session = session
        self.columns: dict[str, NDArray[Any]] = {}

    def take(self, rows: Sequence[Mapping[str, NDArray[Any]]]) -> None:
        """Take batches of rows in the order in which they came; time is that of sorting them."""
        before = [{"kind": np.zeros(len(self), np.uint8), **self.columns}] if self.columns else []
        given = {name: np.concatenate([part[name] for part in (*before, *rows)]) for name in _NAMES}
        touched = np.flatnonzero(given["kind"] != _ACCESSED)
        # The last row of each address determines whether there is a block.
        order = touched[np.argsort(given["address"][touched], kind="stable")]
        address = given["address"][order]
        last = order[np.append(address[1:] != address[:-1], True)[: len(order)]]
        alive = np.sort(last[given["kind"][last] == _ALLOCATED])
        self.columns = {name: given[name][alive] for name in _NAMES[1:]}

    def __len__(self) -> int:
        return len(self.columns["time"]) if self.columns else 0


class LivingBefore:
    """The blocks that live at a moving moment: each batch is looked at once, unless the moment goes back."""

    def __init__(self) -> None:
        self._sessions: dict[int, Living] = {}
        self._next = self._low = 0

    def at(self, batches: Sequence[Mapping[str, Any]], gone: int, low: int) -> list[Living]:
        """Return the blocks that live at a moment, by session.

        Parameters
        ----------
        batches : sequence of dict
            All batches of memory that are kept, as :meth:`.GrowingTrace.batches` gives them.
        gone : int
            Batches before these that were forgotten.
        low : int
            The moment, in the trace's nanoseconds: rows at it or later are left out.
        """
        if low < self._low:
            self._sessions, self._next = {}, 0
        self._low = low
        first = max(self._next - gone, 0)
        whole = first
        while whole < len(batches) and int(batches[whole]["time"].max()) < low:
            whole += 1
        self._next = gone + whole
        _take(self._sessions, batches[first:whole])
        # Of those that reach beyond it only a part counts, and only now.
        rest = dict(self._sessions)
        parts = []
        for batch in batches[whole:]:
            early = batch["time"] < low
            if early.any():
                parts.append({**{name: batch[name][early] for name in _NAMES}, "session": batch["session"]})
        for key in {id(part["session"]) for part in parts} & set(rest):
            copied = Living(rest[key].session)
            copied.columns = rest[key].columns
            rest[key] = copied
        _take(rest, parts)
        return [living for living in rest.values() if len(living)]


def _take(sessions: dict[int, Living], batches: Sequence[Mapping[str, Any]]) -> None:
    of: dict[int, list[Mapping[str, Any]]] = {}
    for batch in batches:
        of.setdefault(id(batch["session"]), []).append(batch)
    for key, rows in of.items():
        if key not in sessions:
            sessions[key] = Living(rows[0]["session"])
        sessions[key].take(rows)
