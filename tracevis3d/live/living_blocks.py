"""Blocks of memory that live at a moment, from the rows that came before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Kinds of rows: see :data:`.protocol.TABLES`.
_ALLOCATED, _FREED, _ACCESSED = 0, 1, 2
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
        """Take batches of rows in the order in which they came; the work is that of sorting them."""
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


class Reported:
    """Compares the blocks that a publisher reports after rows were lost with those that lived before.

    Parameters
    ----------
    before : Living
    """

    def __init__(self, before: Living) -> None:
        columns, empty = before.columns, np.empty(0, np.uint64)
        order = np.argsort(columns.get("address", empty), kind="stable")
        self._address = columns.get("address", empty)[order]
        self._size = columns.get("size", np.empty(0, np.int64))[order]
        self._thread = columns.get("thread", np.empty(0, np.int64))[order]
        self._reported = np.zeros(len(order), np.bool_)

    def new(self, rows: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        """Take reported rows; return which of them are blocks that were not known: bool (n,)."""
        address, size = rows["address"], rows["size"]
        is_new = np.ones(len(address), np.bool_)
        if len(self._address):
            at = np.minimum(np.searchsorted(self._address, address), len(self._address) - 1)
            same = self._address[at] == address
            # At the place of one of another size there is another block now.
            is_new = ~same | (self._size[at] != size)
            self._reported[at[same]] = True
            self._size[at[same]] = size[same]
            address, size = address[~same], size[~same]
        address = np.concatenate([self._address, address])
        order = np.argsort(address, kind="stable")
        n = len(order) - len(self._address)
        self._address, self._size = address[order], np.concatenate([self._size, size])[order]
        self._thread = np.concatenate([self._thread, np.zeros(n, self._thread.dtype)])[order]
        self._reported = np.concatenate([self._reported, np.ones(n, np.bool_)])[order]
        return is_new

    def gone(self, time: int) -> dict[str, NDArray[Any]] | None:
        """Return frees, at a given time, of the blocks that were not reported; None if there are none."""
        which = ~self._reported
        n = int(which.sum())
        if not n:
            return None
        return {
            "kind": np.full(n, _FREED, np.uint8), "time": np.full(n, time), "size": np.zeros(n, np.int64),
            "address": self._address[which], "thread": self._thread[which],
            "stack": np.full(n, -1, np.int32),
        }  # fmt: skip


class LivingBefore:
    """The blocks that live at a moving time: each batch is read once, unless the time goes back."""

    def __init__(self) -> None:
        self._sessions: dict[int, Living] = {}
        self._next = self._low = 0

    def at(self, batches: Sequence[Mapping[str, Any]], gone: int, low: int) -> list[Living]:
        """Return the blocks that live at a time, by session.

        Parameters
        ----------
        batches : sequence of dict
            All batches of memory that are kept, as :meth:`.GrowingTrace.batches` gives them.
        gone : int
            Number of earlier batches that were dropped.
        low : int
            The time, in the trace's nanoseconds: rows at it or later are left out.

        Returns
        -------
        list of Living
            One for each session with live blocks.
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
