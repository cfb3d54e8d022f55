"""Lists of any length: a sorted array of keys, and rows whose texts are made when they are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Listing:
    """A list whose rows get their texts when they are shown.

    Attributes
    ----------
    kind : str
        What it lists.
    keys : int64 (rows,)
        In order: functions, distinct subtrees (the first of each pattern's), or places in a library.
    row : callable
        ``row(key) -> dict``, as ``--json`` prints it; ``name`` and ``calls`` are always there.
    calls : callable
        ``calls(key) -> int64 (k,)``: the calls that the row represents, ascending.
    key_of : callable
        ``key_of(call) -> int``: the key of the row that represents a call; -1 if none does.
    starts : callable, optional
        ``starts(key) -> int64 (k,)``: the calls that occurrences begin with, where one takes in several.
    """

    kind: str
    keys: Ints
    row: Callable[[int], dict[str, Any]]
    calls: Callable[[int], Ints]
    key_of: Callable[[int], int]
    starts: Callable[[int], Ints] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def rows(self, first: int, most: int) -> list[dict[str, Any]]:
        """Return the rows of a window.

        Parameters
        ----------
        first : int
            Number of the first row, from 0.
        most : int
            How many rows are wanted; fewer at the list's end.

        Returns
        -------
        list of dict
        """
        return [self.row(key) for key in self.keys[first : first + most].tolist()]

    def place(self, call: int) -> int:
        """Return the place of the row that represents a call; -1 if none does."""
        found = np.flatnonzero(self.keys == self.key_of(call))
        return int(found[0]) if len(found) else -1
