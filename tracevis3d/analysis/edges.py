"""The edges of the graph that a compact trace is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of the graph: a child that repeats in a row is one edge with a label.

    Attributes
    ----------
    first : int64 (m + 1,)
        The edges of class ``c`` are ``first[c]`` to ``first[c + 1]``, in the order of the calls.
    child : int32 (e,)
        The class they lead to.
    count : int64 (e,)
        How often the child is called in a row there (the edge's label, Fig. 28).
    """

    first: NDArray[np.int64]
    child: NDArray[np.int32]
    count: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.child)

    @cached_property
    def source(self) -> NDArray[np.int32]:
        """The class that each edge leaves, int32 (e,)."""
        return np.repeat(np.arange(len(self.first) - 1, dtype=np.int32), np.diff(self.first))
