"""The pairs of three and more traces that bridges join, and their matches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Lines, Tubes
from ....errors import UsageError
from ..matching import match
from ..matching.many_traces import letter_of
from ..view import matches as matching
from ..view.matches import Chosen, Grouping
from ..view.tubes import control, tubes
from .stage import Stage, foot_of

if TYPE_CHECKING:
    from ..view.parameters import Parameters

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Distance between bridges of neighbouring depths where they emerge, in scene units.
_LAYER = 0.012
#: How far bridges that pass under walls lie below the others, for each of these.
_UNDER = 0.25


def chosen_pairs(text: str, order: Sequence[int]) -> list[tuple[int, int]]:
    """Return the places, from the back, of the walls that are joined: the one farther back first.

    Parameters
    ----------
    text : str
        ``neighbours``, ``all``, or pairs of letters or numbers (from 0) of traces as given, such as
        ``A-C,B-D`` or ``0-2,1-3``; nothing: none.
    order : sequence of int
        Traces from the back to the front.

    Returns
    -------
    list of (int, int)

    Raises
    ------
    UsageError
        If it is none of these, or names a trace that isn't there.
    """
    n = len(order)
    word = text.strip().lower()
    if word in ("neighbours", "neighbors"):
        return [(k, k + 1) for k in range(n - 1)]
    if word == "all":
        return [(i, j) for i in range(n) for j in range(i + 1, n)]
    place = {source: k for k, source in enumerate(order)}
    found: set[tuple[int, int]] = set()
    for pair in filter(None, (w.strip() for w in word.split(","))):
        ends = re.fullmatch(r"([a-z]|\d+)\s*-\s*([a-z]|\d+)", pair)
        if ends is None:
            raise UsageError(f"pairs={text}: 'neighbours', 'all' or pairs such as A-C,B-D are expected")
        at = [int(e) if e.isdigit() else ord(e) - ord("a") for e in ends.groups()]
        for end, k in zip(ends.groups(), at):
            if k >= n:
                raise UsageError(
                    f"pairs={text}: there is no trace {end.upper()}: choose from A to {letter_of(n - 1)} "
                    f"(or 0 to {n - 1})"
                )
        if at[0] == at[1]:
            raise UsageError(f"pairs={text}: {pair.upper()} joins a trace with itself")
        i, j = sorted(place[k] for k in at)
        found.add((i, j))
    return sorted(found)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two walls that are joined.

    Attributes
    ----------
    back, front : int
        Places from the back.
    comparison : Comparison
        A is the trace of ``back``.
    chosen : Chosen
        The matches that are drawn, the most important first.
    grouping : Grouping
    found : int
        Matches that were chosen before the less important ones were left out.
    best : float64 (drawn,), (drawn,)
        Of what is drawn on either wall, how similar the most similar call of the other trace is; 0: no match.
    """

    back: int
    front: int
    comparison: match.Comparison
    chosen: Chosen
    grouping: Grouping
    found: int
    best: tuple[Floats, Floats]

    @property
    def left_out(self) -> int:
        """How many matches between drawn calls are not drawn."""
        return self.chosen.left_out + self.found - len(self.chosen)


def compared(
    stage: Stage, places: tuple[int, int], comparison: match.Comparison, most: int, p: Parameters
) -> Pair:
    """Choose and group the matches between two walls, ``most`` at most.

    Parameters
    ----------
    stage : Stage
    places : (int, int)
        Those of the walls, from the back.
    comparison : Comparison
        Of the traces on the walls.
    most : int
        How many matches.
    p : Parameters

    Returns
    -------
    Pair
    """
    walls = [stage.walls[k] for k in places]
    like = matching.likeness(comparison, (walls[0].drawn, walls[1].drawn))
    chosen = matching.choose(like, tuple(w.window for w in walls), p.matches)
    grouping = matching.group(comparison, chosen, p.divide)
    found = len(chosen)
    kept = chosen.only(np.arange(min(found, most)))
    of = grouping.of[: len(kept)]
    return Pair(
        *places, comparison, kept,
        Grouping(of, grouping.a, grouping.b, grouping.weight, grouping.trunk), found, like.best,
    )  # fmt: skip


def bridges(
    stage: Stage,
    pair: Pair,
    color: NDArray[np.int32],
    ghost: NDArray[np.bool_],
    gloss: NDArray[np.float32],
    first_id: int,
    p: Parameters,
) -> tuple[list[Tubes | Lines], Floats]:
    """Return the tubes and lines of a pair, and how far each match has moved in the order of calls.

    They are bundled as in a comparison of two, in a plane in which the roots of both walls lie outermost, and
    carried to the backs of their calls' bars. From the wall at the back they come out under its foot, the
    deeper calls' above their callers', and pass under those that stand between.

    Parameters
    ----------
    stage : Stage
    pair : Pair
        The two walls and their matches.
    color, ghost, gloss
        Of each match; see :func:`..view.tubes.tubes`.
    first_id : int
        Id of the pair's first match.
    p : Parameters
        ``tubes`` holds for the pair.

    Returns
    -------
    (list of Tubes or Lines, float64 (m,))
    """
    moved = matching.displacement(pair.comparison, pair.chosen)
    picture = stage.pair(pair.back, pair.front, p.band)
    tree = control(picture, pair.chosen, pair.grouping, p)
    made = tubes(picture, pair.chosen, tree, color, ghost, gloss, np.zeros(len(moved)), replace(p, lift=0.0))
    way = _Way.of(stage, pair, p.lift * picture.gap * moved)
    return [replace(e, id=e.id + first_id, point=way.carry(e)) for e in made], moved


@dataclass(frozen=True, eq=False)
class _Way:
    """How high bridges are: straight behind the wall at the back, along the floor, then up to their ends.

    Attributes
    ----------
    foot : float
        y of the foot of the wall at the back, under which bridges come out.
    last : float
        y of the foot of the last wall under which they pass; ``foot`` if there is none.
    crest : float
        y of the upper edge of the wall in front.
    floor : float64 (m,)
        z of the upper side of each bridge on the floor.
    lift : float64 (m,)
        How far the middle between ``last`` and ``crest`` is raised: no bridge rises before a wall.
    """

    foot: float
    last: float
    crest: float
    floor: Floats
    lift: Floats

    @classmethod
    def of(cls, stage: Stage, pair: Pair, lift: Floats) -> _Way:
        wall = stage.walls[pair.back]
        depth = wall.trace.calls.depth[pair.chosen.a].astype(np.float64)
        between = pair.front - pair.back - 1
        floor = -_LAYER * (float(depth.max(initial=0.0)) + 1.0 - depth) - _UNDER * between
        stand = stage.walls[pair.front].fold
        crest = float(stand.inside(np.array([stand.height]))[0][0])
        return cls(foot_of(wall), foot_of(stage.walls[pair.front - 1]), crest, floor, lift)

    def carry(self, element: Tubes | Lines) -> NDArray[np.float32]:
        """Return the points of an element at their heights."""
        point, counts = element.point.copy(), np.diff(element.first)
        ends = (element.first[:-1], element.first[1:] - 1)
        start, end = (element.point[at].astype(np.float64) for at in ends)
        # A bridge that starts at the foot emerges immediately.
        behind = np.maximum(start[:, 1] - self.foot, 1e-6)
        before = np.maximum(self.last - end[:, 1], 1e-6)
        y = point[:, 1].astype(np.float64)
        hidden = np.clip((y - self.foot) / np.repeat(behind, counts), 0.0, 1.0)
        come = np.clip((self.last - y) / np.repeat(before, counts), 0.0, 1.0)
        half = element.radius[ends[0], 1] if isinstance(element, Tubes) else element.width / 2
        z0, z1, floor, lift = (
            np.repeat(x, counts)
            for x in (start[:, 2], end[:, 2], self.floor[element.id] - half, self.lift[element.id])
        )
        over = np.clip((self.last - y) / max(self.last - self.crest, 1e-6), 0.0, 1.0)
        point[:, 2] = floor + hidden * (z0 - floor) + come * (z1 - floor) + 4 * lift * over * (1 - over)
        return point
