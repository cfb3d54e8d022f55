"""The declaration of a table that queries know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .table import Table


@dataclass(frozen=True)
class TableDeclaration:
    """A table, by its name.

    Attributes
    ----------
    name : str
        The word for it in a query.
    sentence : str
        What a row is.
    make : callable
        ``make(trace) -> Table``, or ``make(a, b)`` if it is about two traces.
    traces : int
        How many it is about, 1 or 2. Of several traces, a table about one has the rows of each in turn.
    """

    name: str
    sentence: str
    make: Callable[..., Table]
    traces: int = 1

    def made(self, *traces: Any) -> Table:
        """Return the table of one trace, or of two, under its own name."""
        return Table(self.name, self.make(*traces).columns)
