"""Tubes over a comparison that is drawn already: moving them does not draw it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Drawing, Lines, Tubes
from ....trace.profile import calls_word
from . import matches as matching
from .annotations.marks import outliers
from .difference.kinds import Differences
from .focus import closer
from .geometry.control_tree import ControlTree
from .layout import Layout
from .matches import Chosen
from .parameters import Parameters
from .tubes import tubes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sweep:
    """All that tubes are swept from, but for the parameters of :data:`.parameters.MOVING`.

    Attributes
    ----------
    picture : Layout
        The walls.
    shown : Chosen
        The matches that are drawn.
    tree : ControlTree
        What they are bundled along.
    color : int32 (m,)
        Of each match.
    ghost : bool (m,)
        Those that are drawn as context.
    gloss : float32 (m,)
        How bright their crests are.
    moved : float64 (m,)
        Share of the greatest lift.
    marked : int64 (k,)
        Matches with a mark.
    mark : int
        The marks' colour, as index into the palette.
    near : bool (m,)
        Matches that the camera ``focus`` looks at.
    like : Likeness
        How similar calls are.
    own : int32 (m,)
        The colour of each match that is shown to calls.
    differing : callable
        Returns how the calls differ.
    """

    picture: Layout
    shown: Chosen
    tree: ControlTree
    color: NDArray[np.int32]
    ghost: NDArray[np.bool_]
    gloss: NDArray[np.float32]
    moved: Floats

    #: Matches that are marked, and the marks' colour.
    marked: Ints
    mark: int
    #: Matches that the camera "focus" looks at.
    near: NDArray[np.bool_]
    #: How similar calls are, and the colour of each match that is shown to calls.
    like: matching.Likeness
    own: NDArray[np.int32]
    differing: Callable[[], Differences]

    def finish(self, drawing: Drawing, p: Parameters) -> Drawing:
        """Return ``drawing``, which has no tubes yet, with all that follows their course.

        Parameters
        ----------
        drawing : Drawing
            It stays as it is.
        p : Parameters
            Those that move tubes.

        Returns
        -------
        Drawing
        """
        swept = tubes(self.picture, self.shown, self.tree, self.color, self.ghost, self.gloss, self.moved, p)
        more: list[Any] = [*swept]
        if len(self.marked):
            more.append(outliers(self.marked, swept, len(self.shown), self.mark))
        whole = self.picture.camera
        low = min(floor_of(swept), whole.low[2])
        cameras = {"overview": replace(whole, low=(*whole.low[:2], low))}
        near = closer(self.picture, swept, self.near)
        if near is not None:
            cameras["focus"] = near
        rising = p.lift > 0 and bool((self.moved > 0).any())
        calls = calls_word(self.picture.walls[0].trace)
        return replace(
            drawing,
            notes=(*drawing.notes, *([f"raised tubes: their {calls} moved in the order of calls"] * rising)),
            elements=(*drawing.elements, *(e for e in more if len(e))),
            camera=cameras.get(p.camera, cameras["overview"]),
            cameras=cameras,
        )


def floor_of(swept: Sequence[Tubes | Lines]) -> float:
    """Return the height of the ground, below all tubes."""
    low = 0.0
    for element in swept:
        half = element.radius[:, 1] if isinstance(element, Tubes) else 0.0
        low = min(low, float((element.point[:, 2] - half).min(initial=0.0)))
    return low - 0.02
