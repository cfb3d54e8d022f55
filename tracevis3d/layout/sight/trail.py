"""Where one has looked from: back and forth through it, as in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

P = TypeVar("P")

#: Maximum number of places.
MOST = 100


class Trail(Generic[P]):
    """Places that were visited, and which of them one is at.

    Parameters
    ----------
    is_near : callable
        ``is_near(one, other)``: whether two places count as the same.

    Examples
    --------
    >>> trail = Trail(lambda a, b: abs(a - b) < 1)
    >>> for place in (0, 5, 5.2, 9): trail.visit(place)
    >>> trail.back(), trail.back(), trail.back(), trail.forth()
    (5.2, 0, None, 5.2)
    """

    def __init__(self, is_near: Callable[[P, P], bool]) -> None:
        self._is_near = is_near
        self._places: list[P] = []
        self._at = -1

    def __len__(self) -> int:
        return len(self._places)

    def visit(self, place: P) -> None:
        """Say that one has come to ``place``; what lay ahead is forgotten, unless one hasn't moved."""
        if self._at >= 0 and self._is_near(self._places[self._at], place):
            self._places[self._at] = place
            return
        del self._places[self._at + 1 :]
        self._places.append(place)
        del self._places[:-MOST]
        self._at = len(self._places) - 1

    def back(self) -> P | None:
        """Return the place before, where one is then; None at the first."""
        return self._go(-1)

    def forth(self) -> P | None:
        """Return the place after, where one is then; None at the last."""
        return self._go(1)

    def _go(self, by: int) -> P | None:
        if not 0 <= self._at + by < len(self._places):
            return None
        self._at += by
        return self._places[self._at]
