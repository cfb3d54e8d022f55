"""How colours are assigned while it is unknown how much each entry will matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.palettes import OTHER, PALETTES


@dataclass
class Kinds:
    """Colours of entries while it is unknown how much each will matter.

    What takes most time in the window gets the colours; an entry keeps its colour as long as it is among
    those.

    Attributes
    ----------
    names : list of str
        By number.
    """

    names: list[str] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)
    _weight: NDArray[np.float64] = field(default_factory=lambda: np.zeros(64))
    _holder: list[int] = field(default_factory=lambda: [-1] * 10)

    def number(self, name: str) -> int:
        """Return the number of a kind, a new one if the name is new."""
        found = self._number.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
            if found >= len(self._weight):
                self._weight = np.concatenate([self._weight, np.zeros(len(self._weight))])
        return found

    def weigh(self, kind: NDArray[np.integer[Any]], weight: NDArray[np.floating[Any]]) -> None:
        """Add to the weights of kinds.

        Parameters
        ----------
        kind : int (n,)
            Numbers of kinds; a number may occur several times.
        weight : float (n,)
            Any unit, such as nanoseconds, always the same one.
        """
        if len(kind):
            self._weight += np.bincount(kind, weight, len(self._weight))

    def settle(self) -> bool:
        """Give the colours to the kinds with the largest weights; return whether any colour changed.

        Weights from before count less from then on.

        Returns
        -------
        bool
        """
        known = len(self.names)
        weight = self._weight[:known]
        # A colour is only taken by one with clearly more.
        favoured = weight.copy()
        favoured[[k for k in self._holder if k >= 0]] *= 2.0
        best = set(np.argsort(-favoured, kind="stable")[: len(self._holder)].tolist())
        best = {k for k in best if weight[k] > 0.004 * max(float(weight.sum()), 1e-9)}
        before = list(self._holder)
        self._holder = [k if k in best else -1 for k in self._holder]
        for kind in sorted(best - set(self._holder), key=lambda k: -weight[k]):
            self._holder[self._holder.index(-1)] = kind
        # Older values count less.
        self._weight *= 0.7
        return before != self._holder

    @property
    def colored(self) -> dict[str, int]:
        """Index in the palette, from 0, of each kind that has a colour, by name."""
        return {self.names[k]: i for i, k in enumerate(self._holder) if k >= 0}

    def colors(self) -> NDArray[np.float32]:
        """Return the sRGB colour of each kind, float32 (kinds, 4)."""
        found = np.tile(OTHER, (max(len(self.names), 1), 1)).astype(np.float32)
        for i, kind in enumerate(self._holder):
            if kind >= 0:
                found[kind] = PALETTES["muted"].kinds[i]
        return found
