"""Small signs on single matches: outliers, and how many matches a call has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....drawing.palettes import parse
from .....drawing.primitives import Labels, Marks
from ...matching.match import Comparison
from ..colors import positions
from ..layout import Layout
from ..matches import Chosen, Grouping
from ..tubes import middles

Ints = NDArray[np.int64]

#: A match is an outlier if the relative positions of its calls differ by more than this share of their
#: groups.
OUTLIER = 0.25
_MOST_OUTLIERS = 60
MARK = parse("e0218a")
#: Minimum number of matches shown as a count at a call.
_MANY = 3


def find_outliers(comparison: Comparison, chosen: Chosen, grouping: Grouping) -> tuple[Ints, int]:
    """Return the matches whose calls' relative positions differ most, and how many differ in all.

    Parameters
    ----------
    comparison : Comparison
    chosen : Chosen
        The matches that are drawn.
    grouping : Grouping
        Their groups.

    Returns
    -------
    (int64 (k,), int)
        Indices into ``chosen``, those that matter most first.
    """
    a, b = positions(comparison, chosen, grouping)
    apart = np.abs(a - b)
    which = np.flatnonzero(apart > OUTLIER)
    return which[np.argsort(-(apart * chosen.importance)[which], kind="stable")][:_MOST_OUTLIERS], len(which)


def outliers(which: Ints, swept: Any, matches: int, color: int) -> Marks:
    """Return marks on the matches ``which`` of ``matches``, above the middles of their tubes.

    Parameters
    ----------
    which : int64 (k,)
        Matches.
    swept : list of Tubes or Lines
        What represents the matches.
    matches : int
        How many there are.
    color : int
        Index into the palette.

    Returns
    -------
    Marks
    """
    point = middles(swept, matches)[which]
    n = len(which)
    return Marks(
        "outlier", "diamond", point + np.array([0.0, 0.0, 0.12], np.float32), np.full(n, 0.13, np.float32),
        np.full(n, color, np.int32), which,
    )  # fmt: skip


def multiplicities(picture: Layout, chosen: Chosen, most: int) -> list[Labels]:
    """Return how many of the drawn matches end at a call, at the calls with several: the widest first.

    Parameters
    ----------
    picture : Layout
    chosen : Chosen
        Matches that are drawn.
    most : int
        Calls on each wall, at most.

    Returns
    -------
    list of Labels
        One for each wall.
    """
    made = []
    for wall, ids in zip(picture.walls, (chosen.a, chosen.b)):
        calls, count = np.unique(ids, return_counts=True)
        calls, count = calls[count >= _MANY], count[count >= _MANY]
        x, width, _ = wall.spots(calls)
        order = np.argsort(-width, kind="stable")[:most]
        if not len(order):
            continue
        x, width, calls, count = x[order], width[order], calls[order], count[order]
        height = np.full(len(order), 0.7 * picture.text)
        low, high = wall.levels(calls)
        anchor = picture.before(wall, high, high - low, wall.plate + 0.012)
        anchor[:, 0] += x
        # Beyond the box's inner edge, where the tubes begin.
        anchor += np.array(wall.fold.upwards) * (-wall.fold.side * 0.6 * height)[:, None]
        made.append(
            Labels(
                "multiplicity", tuple(f"{n} matches" for n in count.tolist()), anchor.astype(np.float32),
                height.astype(np.float32), np.full(len(order), np.inf, np.float32),
                width.astype(np.float32), up=wall.fold.upwards,
            )
        )  # fmt: skip
    return made
