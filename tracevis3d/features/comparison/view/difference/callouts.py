"""Callouts of the largest findings, at the calls that show them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .....drawing.primitives import Callout
from ...findings.evidence import Finding
from ..layout import Layout
from .headlines import short
from .kinds import FASTER, MOVED, OFTEN, ONLY, SLOWER

#: The kind of difference of each kind of finding that has a place.
KIND_OF = {
    "unmatched": ONLY, "moved": MOVED, "only": ONLY, "alone": ONLY, "repetitions": OFTEN, "offset": MOVED,
    "slower": SLOWER, "faster": FASTER, "order": MOVED, "renamed": MOVED, "wrapped": MOVED,
    "stall": SLOWER, "heavier": SLOWER, "lighter": FASTER,
}  # fmt: skip


def seen(finding: Finding, picture: Layout) -> tuple[int, int] | None:
    """Return on which wall a finding's example is in view, and which call it is; None: on neither.

    Where both walls show one it is the one that lasts longer.

    Parameters
    ----------
    finding : Finding
    picture : Layout

    Returns
    -------
    (int, int) or None
    """
    found: list[tuple[int, int, int]] = []
    for s, (wall, call) in enumerate(zip(picture.walls, finding.examples)):
        if call < 0:
            continue
        calls = wall.trace.calls
        start, end = int(calls.start[call]), int(calls.end[call])
        if end > wall.window[0] and start < wall.window[1] and wall.lane_of[calls.thread[call]] >= 0:
            found.append((min(end, wall.window[1]) - max(start, wall.window[0]), s, call))
    return max(found)[1:] if found else None


def callouts(found: Sequence[Finding], picture: Layout, hue: Sequence[int], most: int) -> tuple[Callout, ...]:
    """Return callouts of the first findings that have a place in the picture, at most ``most``.

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
    for finding in found:
        place = seen(finding, picture) if finding.kind in KIND_OF else None
        if len(made) == most:
            break
        if place is None:
            continue
        s, call = place
        wall, ids = picture.walls[s], np.array([call])
        x, _, middle = wall.spots(ids)
        low, high = wall.levels(ids)
        point = picture.before(wall, middle, high - low, 1.5 * wall.plate)[0] + (float(x[0]), 0.0, 0.0)
        text, detail = short(finding)
        in_a = finding.kind == "stall" and finding.details["trace"] == "A"
        color = hue[FASTER if in_a else KIND_OF[finding.kind]]
        calls = tuple((source, example) for source, example in enumerate(finding.examples) if example >= 0)
        words = f"{len(made) + 1}  {text}"
        made.append(Callout(words, detail, tuple(point.tolist()), finding.score, color, calls))
    return tuple(made)
