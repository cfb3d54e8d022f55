"""What the elements of a comparison show: which calls match which, and the bars that count them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ... import units
from ...drawing.links import Link, Relation
from ...drawing.primitives import Meaning

if TYPE_CHECKING:
    from .view.matches import Chosen, Likeness
    from .view.overview import Skyline

Ints = NDArray[np.int64]

#: Title of the row with the number of matching calls of the other trace.
MATCHES = "matches"
#: Sorts of links from calls to their unit, and to its tubes.
_UNIT, _TUBES = "unit", "tubes of a unit"


def of_calls(like: Likeness) -> dict[str, Meaning]:
    """Return what calls and clusters show: how many matches they have, and the units by which they match.

    Parameters
    ----------
    like : Likeness

    Returns
    -------
    dict of str to Meaning
    """
    made = {}
    for source, of in enumerate((like.comparison.unit_of_a, like.comparison.unit_of_b)):
        unit = of(np.arange(len(like.comparison.traces[source].calls))).astype(np.int64)
        links = (
            # Calls of one unit aren't the same call: only those of the other trace are highlighted.
            Link(f"own {_UNIT}", unit, answers=False, source=source),
            Link(_UNIT, unit, asks=False, source=source),
            Link(_TUBES, unit, role="related", answers=False, source=source),
        )
        made[f"call:{source}"] = Meaning(values=((MATCHES, like.matches[source][unit]),), links=links)
        made[f"cluster:{source}"] = Meaning(links=links)
    return made


def of_matches(like: Likeness, drawn: Chosen) -> tuple[Link, ...]:
    """Return what tubes show: the match of two units, whose other tubes are highlighted with them.

    Parameters
    ----------
    like : Likeness
    drawn : Chosen
        The matches with a tube.

    Returns
    -------
    tuple of Link
    """
    comparison = like.comparison
    a = comparison.unit_of_a(drawn.a).astype(np.int64)
    b = comparison.unit_of_b(drawn.b).astype(np.int64)
    many = max(len(comparison.similarity.calls_b), 1)
    return (
        Link("match of units", a * many + b, role="related"),
        Link(_TUBES, a, asks=False, source=0),
        Link(_TUBES, b, asks=False, source=1),
    )


def of_units(like: Likeness) -> tuple[Relation, Relation]:
    """Return which units of the calls that are drawn match; the most similar ones where they are many.

    Parameters
    ----------
    like : Likeness

    Returns
    -------
    (Relation, Relation)
        From the units of A to those of B, and from those of B to those of A.
    """
    pair = like.unit_pairs()
    return tuple(  # type: ignore[return-value]  # two
        Relation((f"own {_UNIT}", _UNIT), (s, 1 - s), pair if s == 0 else pair[:, ::-1], "matched")
        for s in (0, 1)
    )


def of_bars(lines: Sequence[Skyline]) -> dict[str, Meaning]:
    """Return which calls the bars of an overview count: those that start in their intervals.

    Parameters
    ----------
    lines : sequence of Skyline
        Of A and of B.

    Returns
    -------
    dict of str to Meaning
    """
    made = {}
    for source, line in enumerate(lines):
        low, high = line.window
        edge = np.ceil(low + np.arange(len(line) + 1) / max(len(line), 1) * max(high - low, 1))
        edge[-1] += 1
        begin, end = edge[:-1].astype(np.int64), edge[1:].astype(np.int64)
        link = Link("start", begin, stop=end, role="related", source=source)
        sooner = [
            f"{units.duration(abs(shift), 3)} {'later' if shift > 0 else 'earlier'}" if many > 0 else ""
            for shift, many in zip(line.mean.tolist(), line.total.tolist(), strict=True)
        ]
        every = np.arange(len(line))
        made[f"interval:{source}"] = Meaning(
            values=(
                ("from (ns)", begin.astype(np.float64)),
                ("lasts (ns)", (end - begin).astype(np.float64)),
                ("sum of similarities", line.total),
            ),
            texts=(("in the other trace", sooner, every),),
            links=(link,),
        )
    return made
