"""Callouts of the largest findings, at the calls that show them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .....drawing.primitives import Callout
from ...findings.evidence import Finding
from ..layout import Layout
from .headlines import short
from .kinds import FASTER, MOVED, OFTEN, ONLY, SLOWER, STALLED

#: The kind of difference of each kind of finding that has a place.
KIND_OF = {
    "unmatched": ONLY, "moved": MOVED, "only": ONLY, "alone": ONLY, "repetitions": OFTEN, "offset": MOVED,
    "slower": SLOWER, "faster": FASTER, "order": MOVED, "renamed": MOVED, "wrapped": MOVED,
    "stall": STALLED, "heavier": SLOWER, "lighter": FASTER,
}  # fmt: skip


def seen(finding: Finding, picture: Layout) -> list[tuple[int, int]]:
    """Return on which walls a finding's examples are in view, and which calls they are.

    Where both walls show one it is the one that lasts longer; both if their places are what differs.

    Parameters
    ----------
    finding : Finding
    picture : Layout

    Returns
    -------
    list of (int, int)
    """
    found: list[tuple[int, int, int]] = []
    for s, (wall, call) in enumerate(zip(picture.walls, finding.examples)):
        if call < 0:
            continue
        calls = wall.trace.calls
        start, end = int(calls.start[call]), int(calls.end[call])
        if end > wall.window[0] and start < wall.window[1] and wall.lane_of[calls.thread[call]] >= 0:
            found.append((min(end, wall.window[1]) - max(start, wall.window[0]), s, call))
    shown = found if finding.kind == "order" else [max(found)] if found else []
    return [(s, call) for _, s, call in shown]


def callouts(found: Sequence[Finding], picture: Layout, hue: Sequence[int], most: int) -> tuple[Callout, ...]:
    """Return callouts of the first findings that have a place in the picture, at most ``most`` findings.

    Parameters
    ----------
    found : sequence of Finding
        The most important first.
    picture : Layout
    hue : sequence of int
        Palette index of each kind of difference.
    most : int

    Returns
    -------
    tuple of Callout
    """
    made: list[Callout] = []
    number = 0
    for finding in found:
        places = seen(finding, picture) if finding.kind in KIND_OF else []
        if number == most:
            break
        if not places:
            continue
        number += 1
        color = hue[KIND_OF[finding.kind]]
        calls = tuple((source, example) for source, example in enumerate(finding.examples) if example >= 0)
        for s, call in places:
            wall, ids = picture.walls[s], np.array([call])
            x, _, middle = wall.spots(ids)
            low, high = wall.levels(ids)
            point = picture.before(wall, middle, high - low, 1.5 * wall.plate)[0] + (float(x[0]), 0.0, 0.0)
            text, detail = short(finding, s)
            words = f"{number}  {text}"
            made.append(Callout(words, detail, tuple(point.tolist()), finding.score, color, calls))
    return tuple(made)
