"""The colours of differences: what is the same is grey, each kind of difference has one hue.

The more a difference matters the more of its hue there is; the ground shines through what matters little.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .....drawing.palettes import Paint, parse
from .....drawing.primitives import Legend, LegendEntry
from .....drawing.selector import Selector
from .....units import percentage
from ..layout import Wall
from ..matches import Chosen
from .kinds import ONLY, SAME, Differences, strength_of

Indices = NDArray[np.int32]
Floats = NDArray[np.float64]

#: Of the kinds in their order: distinguished with any colour vision, by lightness too.
HUES = parse("9aa0a8 c2185b 1c84c6 7b52ab e8590c 0b8a7d d9a900")
#: Calls and tubes that are the same in both runs; their form is shown by shading only.
_QUIET_CALL, _QUIET_TUBE = 0.42, 0.62
#: Strengths are distinguished in this many steps.
_STEPS = 5
#: The colours of A and of B, wherever one of them is meant.
OF_TRACE = parse("3d6ea5 a8741a")


@dataclass(eq=False)
class DifferencePaint:
    """The colours of differences in a palette.

    Attributes
    ----------
    found : Differences
    paint : Paint
        It gets the colours as they are needed.
    """

    found: Differences
    paint: Paint
    _known: dict[tuple[int, int], int] = field(default_factory=dict)
    _entry: dict[int, int] = field(default_factory=dict)

    def _index(self, kind: int, alpha: float) -> int:
        key = (kind, round(100 * alpha))
        if key not in self._known:
            self._known[key] = self.paint.add(HUES[kind] * np.array([1, 1, 1, alpha], np.float32))
        return self._known[key]

    def of(self, kind: NDArray[np.uint8], strength: Floats, tubes: bool = False) -> Indices:
        """Return colours.

        Parameters
        ----------
        kind : uint8 (n,)
        strength : float64 (n,)
        tubes : bool
            Whether what is the same are tubes, which are darker than calls.

        Returns
        -------
        int32 (n,)
        """
        quiet = _QUIET_TUBE if tubes else _QUIET_CALL
        alpha = np.where(kind == SAME, quiet, np.ceil(np.clip(strength, 0.01, 1.0) * _STEPS) / _STEPS)
        code = kind.astype(np.int64) * 1000 + np.rint(100 * alpha).astype(np.int64)
        used, inverse = np.unique(code, return_inverse=True)
        table = [self._index(int(c) // 1000, (int(c) % 1000) / 100) for c in used]
        return np.array(table, np.int32)[inverse.reshape(-1)] if len(used) else np.empty(0, np.int32)

    def of_matches(self, chosen: Chosen) -> Indices:
        """Return the colour of each match: that of its call whose difference matters more.

        Parameters
        ----------
        chosen : Chosen

        Returns
        -------
        int32 (m,)
        """
        (a, strong_a), (b, strong_b) = (
            self.found.of_tubes(s, ids) for s, ids in enumerate((chosen.a, chosen.b))
        )
        first = strong_a >= strong_b
        return self.of(np.where(first, a, b), np.where(first, strong_a, strong_b), tubes=True)

    def of_drawn(self, wall: Wall, best: Floats) -> Indices:
        """Return the colour of each call and cluster that is drawn of a trace.

        Parameters
        ----------
        wall : Wall
        best : float64 (drawn,)
            Similarity of the best match: what has none is in one trace alone.

        Returns
        -------
        int32 (drawn,)
        """
        kind, strength = self.found.of(wall.source, wall.cut.calls, wall.cut.clusters)
        alone = (best <= 0) & (kind == SAME)
        drawn, calls = wall.drawn, wall.trace.calls
        lasted = (calls.end - calls.start)[drawn] / self.found.findings.evidence.most_time
        strength = np.where(alone, strength_of(np.minimum(lasted, 1.0), np.ones(len(drawn))), strength)
        return self.of(np.where(alone, ONLY, kind), strength)

    def legend(self, used: list[Indices]) -> Legend:
        """Return what the colours mean that are ``used``, with the share of the time of each.

        Parameters
        ----------
        used : list of int32 (n,)

        Returns
        -------
        Legend
        """
        seen = set(np.unique(np.concatenate([np.empty(0, np.int32), *used])).tolist())
        kinds = sorted({kind for (kind, _), index in self._known.items() if index in seen})
        entries = [
            LegendEntry(
                f"{self.found.names[k]} {_share(float(self.found.share[k]))}".strip(), self._index(k, 1.0),
                stands_for=Selector(tuple((i, i) for (kind, _), i in self._known.items() if kind == k)),
            )
            for k in kinds
        ]  # fmt: skip
        return Legend("What differs" if len(kinds) > 1 else "", tuple(entries))


def _share(share: float) -> str:
    return percentage(share) if share > 0 else ""
