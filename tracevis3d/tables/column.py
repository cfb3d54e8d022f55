"""A column of a table: numbers, texts, or numbers that represent texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Any sequence of texts.
Texts = Sequence[str]


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table.

    Attributes
    ----------
    values : array (n,) or sequence of str
        Numbers, or the texts themselves.
    names : sequence of str, optional
        What the numbers represent: the texts are ``names[values]``. Those below 0 represent nothing.
    has_gaps : bool
        Values below 0 represent nothing: they become nulls.
    first : int64 (n + 1,), optional
        Where each row has several of the values: those of row ``i`` are ``values[first[i]:first[i + 1]]``.
    """

    values: NDArray[Any] | Texts
    names: Texts | None = None
    has_gaps: bool = False
    first: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.values) if self.first is None else len(self.first) - 1

    def as_list(self) -> list[Any]:
        """Return what its rows are, as plain Python values; None for nothing."""
        values: list[Any] = self.values.tolist() if isinstance(self.values, np.ndarray) else list(self.values)
        if self.names is not None:
            texts = [*self.names]
            values = [texts[value] if value >= 0 else None for value in values]
        elif self.has_gaps:
            values = [None if value < 0 else value for value in values]
        if self.first is None:
            return values
        return [values[low:high] for low, high in pairwise(self.first.tolist())]
