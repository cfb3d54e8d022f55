"""The finding that a picture of memory is about, and the view arranged around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....errors import UsageError
from ....trace.model import Trace
from ..findings import GRID, MemoryFinding, cohorts, loads_modules
from ..summary import MemoryUse
from .parameters import Parameters

#: Margin before and after a finding, as a share of its time.
_AROUND = 0.12
#: A shorter time than this share of the recording is shown with all of it.
_SHORT = 0.02
#: Kinds that a picture's title tells of without being asked.
_TITLES = ("leak", "growth", "forgotten", "saw-tooth", "fragmentation", "churn")


def story(use: MemoryUse, p: Parameters) -> MemoryFinding | None:
    """Return the finding that a picture is about: that of the parameter ``finding``, if any.

    Parameters
    ----------
    use : MemoryUse
    p : Parameters

    Returns
    -------
    MemoryFinding or None

    Raises
    ------
    UsageError
        If there are fewer findings.
    """
    if not p.finding:
        return None
    if p.finding > len(use.findings):
        raise UsageError(f"finding={p.finding}: there are {len(use.findings)} findings")
    return use.findings[p.finding - 1]


def chosen(found: Sequence[MemoryFinding], most: int) -> list[MemoryFinding]:
    """Return the findings that a picture of all shows: the first of each kind in turn.

    Parameters
    ----------
    found : sequence of MemoryFinding
        The most important first.
    most : int
        How many.

    Returns
    -------
    list of MemoryFinding
        No kind takes all the room.
    """
    by_kind: dict[str, list[MemoryFinding]] = {}
    for finding in found:
        by_kind.setdefault(finding.kind, []).append(finding)
    turns: list[MemoryFinding] = []
    for turn in range(max((len(of) for of in by_kind.values()), default=0)):
        turns += [of[turn] for of in by_kind.values() if turn < len(of)]
    return turns[:most]


def headline_finding(use: MemoryUse, p: Parameters) -> MemoryFinding | None:
    """Return the finding in a picture's title: the one that it is about, else the first that matters.

    Parameters
    ----------
    use : MemoryUse
    p : Parameters

    Returns
    -------
    MemoryFinding or None
    """
    return story(use, p) or next((f for f in use.findings if f.kind in _TITLES), None)


def staged(trace: Trace, use: MemoryUse, p: Parameters) -> Parameters:
    """Return the parameters of a picture about one finding: only its time, if nothing else is requested.

    Parameters
    ----------
    trace : Trace
    use : MemoryUse
    p : Parameters

    Returns
    -------
    staged : Parameters
    """
    found = story(use, p)
    if found is None or p.start.strip() or p.end.strip():
        return p
    span = found.end_ns - found.start_ns
    if span < _SHORT * trace.span_ns:
        return p
    low, high = max(found.start_ns - int(_AROUND * span), 0), found.end_ns + int(_AROUND * span)
    return replace(p, start=f"{low}ns", end=f"{min(high, max(trace.span_ns, 1))}ns")


def members(use: MemoryUse, found: MemoryFinding) -> NDArray[np.bool_]:
    """Return which blocks a finding is about, bool (blocks,).

    Parameters
    ----------
    use : MemoryUse
    found : MemoryFinding

    Returns
    -------
    bool (blocks,)
    """
    blocks, sites = use.blocks, use.sites
    if found.kind == "imports":
        return np.isin(sites.of_block, loads_modules(sites))
    if found.kind == "cohort":
        of, keys = cohorts(blocks)
        born = found.start_ns * GRID // blocks.end
        ends = GRID if not found.details["freed"] else found.end_ns * GRID // blocks.end - 1
        near = (np.abs(keys // (GRID + 1) - born) <= 1) & (np.abs(keys % (GRID + 1) - ends) <= 1)
        return np.asarray(near[of])
    if found.kind == "saw-tooth" and found.site < 0:
        # What stays does not rise and fall.
        return np.asarray(blocks.free_row >= 0)
    if found.site < 0:
        return np.ones(len(blocks), np.bool_)
    return np.asarray(sites.of_block == found.site)
