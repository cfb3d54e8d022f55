"""Selectors: elements of a drawing, chosen by properties that are stored in the scene."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Selector:
    """Elements of a drawing; all conditions hold at once, and an empty one holds for all.

    Attributes
    ----------
    colors : tuple of (int, int)
        Ranges of palette indices, both ends included.
    kinds : tuple of str
        Kinds of elements.
    ids : tuple of int
        Of elements of these kinds.

    Examples
    --------
    >>> Selector(colors=((2, 3),)).of("call", np.array([1, 2, 3]), np.array([7, 8, 9]))
    array([False,  True,  True])
    """

    colors: tuple[tuple[int, int], ...] = ()
    kinds: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()

    def of(self, kind: str, color: NDArray[np.int32], ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which elements of a kind are meant.

        Parameters
        ----------
        kind : str
        color : int32 (n,)
            Their palette indices.
        ids : int64 (n,)

        Returns
        -------
        bool (n,)
        """
        if self.kinds and kind not in self.kinds:
            return np.zeros(len(ids), np.bool_)
        found = self.has_color(color)
        return found & np.isin(ids, self.ids) if self.ids else found

    def has_color(self, color: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which palette indices are meant.

        Parameters
        ----------
        color : int32 (n,)

        Returns
        -------
        bool (n,)
        """
        if not self.colors:
            return np.ones(len(color), np.bool_)
        found = np.zeros(len(color), np.bool_)
        for first, last in self.colors:
            found |= (color >= first) & (color <= last)
        return found

    @staticmethod
    def of_any(
        selectors: Iterable[Selector], kind: str, color: NDArray[np.int32], ids: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return which elements of a kind any of some selectors means.

        Parameters
        ----------
        selectors : iterable of Selector
        kind : str
        color : int32 (n,)
            Their palette indices; fewer: they are not known, and nothing is meant.
        ids : int64 (n,)

        Returns
        -------
        bool (n,)
        """
        found = np.zeros(len(ids), np.bool_)
        for selector in selectors if len(color) == len(ids) else ():
            found |= selector.of(kind, color, ids)
        return found

    def moved(self, by: int) -> Selector:
        """Return the selector for a palette in which the colours lie ``by`` places farther on.

        Parameters
        ----------
        by : int

        Returns
        -------
        Selector
        """
        return replace(self, colors=tuple((first + by, last + by) for first, last in self.colors))
