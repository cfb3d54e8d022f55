"""Findings about a program's memory: leaks, forgotten blocks, saw-teeth, churn, holes, cohorts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.memory.allocations import fill_waves
from .blocks import AT_ONCE, Blocks
from .call_sites import Sites, is_import
from .curves import SiteTable

Ints = NDArray[np.int64]

#: Number of cells of time for growth and equal lifetimes.
GRID = 64
#: Share of the largest amount of live bytes below which findings are not reported.
_LEAST = 0.005
#: A site grows if its last half adds this share of its kept bytes, by at least this many blocks.
_GROWTH, _GROWING = 0.25, 8
#: Where only snapshots are known, what stays has to grow at so many, and at this multiple of their number's
#: logarithm: among n values in any order, about log n are lower than all that follow.
_RISES, _LOGS = 8, 3.0
#: If it grows at fewer, but at so many, and never falls, that alone is said.
_FEW = 3
#: Maximum number of snapshots that are compared; of more, some spread over all.
_MOST_SNAPSHOTS = 512
#: Where equal blocks are not told apart: by at least this multiple of the site's teeth.
_ABOVE = 2
#: Memory counts as forgotten if it is not accessed for this share of the run.
_FORGOTTEN = 0.5
#: Minimum share of the largest amount for a wave, and minimum number of waves.
_WAVE, _WAVES = 0.25, 3
#: Smaller waves are looked for, too: so many in a row, of which none is higher or longer than the next by
#: more than this share.
_SCALES, _REGULAR, _UNEVEN = (_WAVE, _WAVE / 4, _WAVE / 16, _WAVE / 64), 4, 0.3
#: A wave shorter than twice the time between two moments that are known counts only if it is as high as this
#: many blocks: of fewer, order alone makes a wave.
_FULL = 6
#: What is no call site: stores of small blocks, and what the interpreter does by itself. That they are kept
#: does not say that nobody uses them.
_NOBODY = re.compile(r"^(?:arena for small objects|no function of Python's)$")
#: Churn: minimum number of blocks, maximum share of the run that they live, and minimum multiple of the live
#: ones.
_CHURN, _SHORT, _TIMES = 100, 0.01, 10.0
#: Blocks further apart are in different regions.
REGION_GAP = 1 << 20
#: Bytes, and share of a region, from which holes are reported.
_HOLES, _HOLE_SHARE = 1 << 16, 0.2


@dataclass(frozen=True)
class MemoryFinding:
    """Something found.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    site : int
        -1 for all together.
    start_ns, end_ns : int
        When it is to be seen.
    bytes : int
        How much it is about; findings are ordered by it.
    details : dict
    how : {"recorded", "inferred"}
        Whether each allocation and free that it follows from is recorded; inferred: from snapshots, or
        without knowing which of equal blocks was freed.
    """

    kind: str
    site: int
    start_ns: int
    end_ns: int
    bytes: int
    details: dict[str, Any] = field(default_factory=dict)
    how: str = "recorded"


@dataclass(frozen=True)
class Holes:
    """How much of the addresses between live blocks is free, at one moment.

    Attributes
    ----------
    time_ns : int
    live, holes, largest : int
        Bytes of blocks, of holes between them (within regions) that blocks had before, of the largest hole.
    regions : int
        Runs of blocks that are less than :data:`REGION_GAP` apart.
    """

    time_ns: int
    live: int
    holes: int
    largest: int
    regions: int

    @property
    def share(self) -> float:
        """Share of the regions that is holes."""
        return self.holes / max(self.live + self.holes, 1)


def find_memory(
    blocks: Blocks,
    sites: Sites,
    table: SiteTable,
    has_addresses: bool,
    clock_ns: float,
    snapshots: Ints | None = None,
) -> tuple[MemoryFinding, ...]:
    """Return the findings, the most important kind first, then by bytes.

    The saw-tooth of the program stands behind those of its call sites if one of them makes much of it.

    Parameters
    ----------
    blocks : Blocks
    sites : Sites
    table : SiteTable
    has_addresses : bool
        Whether addresses are real; if not, it is unknown which of equal blocks was freed.
    clock_ns : float
        Nanoseconds between two moments that are known, if those between are spread evenly; 0: all are known.
    snapshots : int64 (n,), optional
        When what lives was looked at, ascending, if only that was recorded.

    Returns
    -------
    tuple of MemoryFinding
    """
    if not len(blocks):
        return ()
    least = _LEAST * int(table.peak[-1])
    loads = set(loads_modules(sites))
    teeth = _saw_teeth(blocks, sites, table, least, clock_ns)
    # Times between snapshots are made up: of few snapshots quarters would say nothing.
    steadily = snapshots is None or len(snapshots) >= _RISES
    found = [f for f in _leaks(blocks, sites, table, least, steadily) if f.site not in loads]
    if not has_addresses:
        # If equal blocks are one, what is left of the last tooth has been there since the first.
        swing = {tooth.site: tooth.bytes for tooth in teeth}
        found = [f for f in found if f.bytes >= _ABOVE * swing.get(f.site, 0)]
    if snapshots is not None:
        found = _seen_to_grow(found, blocks, sites, snapshots)
    nobody = {site for site, name in enumerate(sites.name) if _NOBODY.match(name)}
    # Which of the small blocks in them are kept, or by whom, is not recorded.
    found = [replace(f, kind="growth") if f.kind == "leak" and f.site in nobody else f for f in found]
    leaking = {finding.site for finding in found} | loads | nobody
    forgotten = [f for f in _forgotten(blocks, sites, table, least, has_addresses) if f.site not in leaking]
    found += forgotten if snapshots is None else _seen_to_stay(forgotten, blocks, sites, snapshots)
    found += _imports(blocks, table, sorted(loads), least)
    found += _of_its_sites(teeth)
    found += [f for f in _churn(blocks, sites, table, least) if f.site not in loads]
    if has_addresses:
        found += _fragmentation(blocks, table)
    if snapshots is None:
        # What a snapshot finds for the first time is of one age only as far as it tells.
        found += _cohorts(blocks, sites, sorted(loads), least)
    rank = {kind: i for i, kind in enumerate(KINDS)}
    guessed = set(KINDS if snapshots is not None else () if has_addresses else _BY_IDENTITY)
    found = [replace(f, how="inferred") if f.kind in guessed else f for f in found]
    return tuple(sorted(found, key=lambda f: (rank[f.kind], "sites" in f.details, -f.bytes)))


#: The kinds of findings, the most important first.
KINDS = ("leak", "growth", "forgotten", "saw-tooth", "fragmentation", "churn", "cohort", "imports")
#: Those that depend on which of equal blocks was freed.
_BY_IDENTITY = ("forgotten", "cohort")


def loads_modules(sites: Sites) -> list[int]:
    """Return the call sites that load modules, as Python's import does."""
    return [site for site, name in enumerate(sites.name) if is_import(name)]


def byte_time(blocks: Blocks, of: NDArray[np.int32], groups: int, cells: int = GRID) -> NDArray[np.float64]:
    """Return the bytes of each group that live in each cell of the recording, times how long.

    What lives at one moment of each cell would not do: a program that works at a steady pace may be met at
    the same point of its work again and again.

    Parameters
    ----------
    blocks : Blocks
    of : int32 (blocks,)
        The group of each block.
    groups : int
        How many there are.
    cells : int
        Into how many the recording is cut.

    Returns
    -------
    float64 (groups, cells)
        Whole numbers: divided by ``blocks.end`` they are the average of the cell in bytes.
    """
    span = blocks.end
    grid = np.zeros(groups * (cells + 1))
    for first in range(0, len(blocks), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        freed = np.flatnonzero(blocks.free_row[part] >= 0) + first
        for sign, which, times in ((1.0, part, blocks.born), (-1.0, freed, blocks.died)):
            time, size = times[which], blocks.size[which]
            cell = np.minimum(time * cells // span, cells - 1)
            rest = (cell + 1) * span - time * cells
            at = of[which] * np.int64(cells + 1) + cell
            grid += sign * np.bincount(at, size * rest.astype(np.float64), len(grid))
            grid += sign * np.bincount(at + 1, size * (span - rest).astype(np.float64), len(grid))
    return np.asarray(np.cumsum(grid.reshape(groups, cells + 1), axis=1)[:, :cells])


def _leaks(
    blocks: Blocks, sites: Sites, table: SiteTable, least: float, steadily: bool
) -> list[MemoryFinding]:
    """Sites whose kept bytes grow all along: more in each quarter of the run, by several blocks.

    If ``steadily`` is false, all sites that keep several blocks.
    """
    kept = blocks.free_row < 0
    which = np.flatnonzero((table.kept[:-1] >= max(least, 1)) & (table.kept_blocks[:-1] >= _GROWING))
    if not len(which):
        return []
    number = np.full(len(sites), -1, np.int32)
    number[which] = np.arange(len(which))
    of = number[sites.of_block]
    mine = np.flatnonzero(kept & (of >= 0))
    quarter = np.minimum(4 * blocks.born[mine].astype(np.float64) // blocks.end, 3).astype(np.int64)
    grown = np.zeros((len(which), 4))
    np.add.at(grown, (of[mine], quarter), blocks.size[mine])
    first = np.full(len(which), blocks.end)
    np.minimum.at(first, of[mine], blocks.born[mine])
    found = []
    for i, site in enumerate(which.tolist()):
        total = float(grown[i].sum())
        # It may begin late; after that each quarter adds something, and the second half much.
        begun = int(np.argmax(grown[i] > 0))
        stops = begun > 2 or (grown[i, begun:] <= 0).any() or grown[i, 2:].sum() < _GROWTH * total
        if steadily and stops:
            continue
        share = float(table.kept_blocks[site] / table.blocks[site])
        found.append(
            MemoryFinding(
                "leak", site, int(first[i]), blocks.end, int(table.kept[site]),
                {"blocks": int(table.kept_blocks[site]), "share_of_blocks": share},
            )
        )  # fmt: skip
    return found


def _seen_to_grow(
    found: list[MemoryFinding], blocks: Blocks, sites: Sites, snapshots: Ints
) -> list[MemoryFinding]:
    """Return of the sites that seem to leak those whose bytes really grow from snapshot to snapshot.

    Between two of them bytes may have come and gone, so of a few any order may look like growth. What stays
    after a snapshot is the least of it and all later ones; if that grows often enough, the site leaks, as far
    as snapshots can tell. If there are too few to tell, but it only grows, late as well, that is said.
    """
    if not found or not len(snapshots):
        return []
    sure = []
    snapshots = _some_of(snapshots)
    late = np.searchsorted(snapshots, blocks.end * np.array([0.5, 0.75]))
    for finding, seen in zip(found, _seen(found, blocks, sites, snapshots), strict=True):
        at_half, at_last = (int(seen[i - 1]) if i else 0 for i in late)
        seen = seen[np.argmax(seen > 0) :]
        stays = np.minimum.accumulate(seen[::-1])[::-1]
        rises = int(np.count_nonzero(np.diff(stays, prepend=0) > 0))
        details = {"snapshots": len(seen), "rises": rises}
        if rises >= max(_RISES, _LOGS * np.log(len(seen))):
            sure.append(replace(finding, details=finding.details | details))
        elif (
            rises >= _FEW
            and (stays == seen).all()
            and seen[-1] - at_half >= _GROWTH * seen[-1]
            and seen[-1] > at_last
        ):
            details |= {"blocks": finding.details["blocks"], "from": int(seen[0])}
            sure.append(replace(finding, kind="growth", details=details))
    return sure


def _seen_to_stay(
    found: list[MemoryFinding], blocks: Blocks, sites: Sites, snapshots: Ints
) -> list[MemoryFinding]:
    """Return of what seems forgotten what is there at each of several snapshots, and hardly less at any."""
    quiet = _some_of(snapshots[snapshots >= (1 - _FORGOTTEN) * blocks.end])
    if not found or len(quiet) < _RISES:
        return []
    seen = _seen(found, blocks, sites, quiet)
    stays = seen.min(axis=1) >= _ABOVE * (seen.max(axis=1) - seen.min(axis=1))
    return [
        replace(finding, details=finding.details | {"snapshots": len(quiet)})
        for finding, still in zip(found, stays.tolist(), strict=True)
        if still
    ]


def _some_of(snapshots: Ints) -> Ints:
    """Return so many snapshots as are compared."""
    if len(snapshots) <= _MOST_SNAPSHOTS:
        return snapshots
    return snapshots[np.linspace(0, len(snapshots) - 1, _MOST_SNAPSHOTS).astype(np.int64)]


def _seen(found: list[MemoryFinding], blocks: Blocks, sites: Sites, snapshots: Ints) -> Ints:
    """Return the live bytes of each finding's call site at snapshots, int64 (findings, snapshots)."""
    number = np.full(len(sites), -1, np.int32)
    number[[finding.site for finding in found]] = np.arange(len(found))
    return live_at(blocks, number[sites.of_block], len(found), snapshots)


def live_at(blocks: Blocks, of: NDArray[np.int32], groups: int, moments: Ints) -> Ints:
    """Return the live bytes of some groups of blocks at some moments, int64 (groups, moments).

    Parameters
    ----------
    blocks : Blocks
    of : int32 (blocks,)
        The group of each block; -1: none.
    groups : int
        How many there are.
    moments : int64 (n,)
        Nanoseconds, ascending.

    Returns
    -------
    int64 (groups, n)
    """
    mine = np.flatnonzero(of >= 0)
    live = np.zeros((groups, len(moments) + 1), np.int64)
    np.add.at(live, (of[mine], np.searchsorted(moments, blocks.born[mine])), blocks.size[mine])
    freed = mine[blocks.free_row[mine] >= 0]
    np.subtract.at(live, (of[freed], np.searchsorted(moments, blocks.died[freed])), blocks.size[freed])
    return np.asarray(np.cumsum(live, axis=1)[:, :-1])


def _forgotten(
    blocks: Blocks, sites: Sites, table: SiteTable, least: float, has_addresses: bool
) -> list[MemoryFinding]:
    """Sites with live bytes that were not accessed for half of the run."""
    touched, kept = blocks.last_touch, np.flatnonzero(blocks.free_row < 0)
    if has_addresses:
        old = kept[blocks.end - touched[kept] >= _FORGOTTEN * blocks.end]
    else:
        long = blocks.end - touched >= _FORGOTTEN * blocks.end
        old = kept[(long & _surely_kept(blocks, sites, long))[kept]]
    bytes_ = np.bincount(sites.of_block[old], blocks.size[old], len(sites))
    count = np.bincount(sites.of_block[old], minlength=len(sites))
    since = np.full(len(sites), blocks.end)
    np.minimum.at(since, sites.of_block[old], touched[old])
    return [
        MemoryFinding("forgotten", site, int(since[site]), blocks.end, int(bytes_[site]),
                      {"blocks": int(count[site])})
        for site in np.flatnonzero(bytes_ >= max(4 * least, 1)).tolist()
    ]  # fmt: skip


def _surely_kept(blocks: Blocks, sites: Sites, old: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which old blocks live at the end whichever of equal blocks were freed, bool (n,).

    Of the old blocks of a call site and size, so many as there are more of them than frees: the first ones.
    """
    kinds = np.stack([sites.of_block.astype(np.int64), blocks.size], axis=1)
    _, of = np.unique(kinds, axis=0, return_inverse=True)
    of = of.reshape(-1)
    surely = np.bincount(of, old) - np.bincount(of, blocks.free_row >= 0)
    mine = np.flatnonzero(old & (blocks.free_row < 0))
    mine = mine[np.lexsort((blocks.row[mine], of[mine]))]
    place = np.arange(len(mine)) - np.searchsorted(of[mine], of[mine])
    found = np.zeros(len(blocks), np.bool_)
    found[mine[place < surely[of[mine]]]] = True
    return found


def _imports(blocks: Blocks, table: SiteTable, loads: list[int], least: float) -> list[MemoryFinding]:
    """What modules' bytecode and names keep: no leak, but part of what lives."""
    kept, count = int(table.kept[loads].sum()), int(table.kept_blocks[loads].sum())
    if kept < max(4 * least, 1):
        return []
    return [MemoryFinding("imports", -1, 0, blocks.end, kept, {"blocks": count})]


def _saw_teeth(
    blocks: Blocks, sites: Sites, table: SiteTable, least: float, clock_ns: float
) -> list[MemoryFinding]:
    """Where live bytes go up and down again and again, all together or of one of the largest sites.

    Waves are looked for at several scales, the largest first: a quarter of all that lives, as irregular as
    they may be; below that, regular ones beside what stays.
    """
    cells = 8 * GRID
    if clock_ns > 0:
        blocks = _reallocated_at_once(blocks, sites)
    largest = np.argsort(-table.peak[:-1], kind="stable")[: 4 * GRID]
    largest = largest[table.peak[largest] >= max(least, 1)]
    number = np.full(len(sites), len(largest), np.int32)
    number[largest] = np.arange(len(largest))
    grid = byte_time(blocks, number[sites.of_block], len(largest) + 1, cells)
    series = (np.vstack([grid.sum(axis=0)[None], grid[:-1]]) // blocks.end).astype(np.int64)
    high = series.max(axis=1)
    found: list[MemoryFinding | None] = [None] * len(series)
    of = [-1, *largest.tolist()]
    for scale in _SCALES:
        wave = np.maximum(scale * high, max(least, 1.0)).astype(np.int64)
        turns, kind = np.zeros(len(series), np.int64), np.zeros(series.size, np.uint8)
        fill_waves(series.reshape(-1), wave, cells * np.arange(len(series) + 1), turns, kind)
        for i in range(len(series)):
            if found[i] is not None:
                continue
            at = kind[i * cells : (i + 1) * cells]
            tops, bottoms = np.flatnonzero(at == 1), np.flatnonzero(at == 2)
            if scale < _WAVE:
                tops, bottoms = _regular(series[i], tops, bottoms)
            elif table.peak[of[i]] < 0.1 * table.peak[-1]:
                continue
            if len(tops) < _WAVES or len(bottoms) < _WAVES - 1:
                continue
            ends = (np.array([tops[0], max(tops[-1], bottoms[-1])]) + 1) * blocks.end // cells
            swing = int(np.median(series[i, tops]) - np.median(series[i, bottoms]))
            period = float(np.median(np.diff(tops))) * blocks.end / cells
            full = _FULL * table.allocated[of[i]] / table.blocks[of[i]]
            if period < 2 * clock_ns and swing < full:
                continue
            found[i] = MemoryFinding(
                "saw-tooth", of[i], int(ends[0]), int(ends[1]), swing,
                {"times": len(tops), "period_ns": period},
            )  # fmt: skip
    return [f for f in found if f is not None]


def _of_its_sites(teeth: list[MemoryFinding]) -> list[MemoryFinding]:
    """Return saw-teeth; that of the program says how many sites have one, if one makes half of it or more.

    The median period of a sum is no call site's.
    """
    several = [tooth.bytes for tooth in teeth if tooth.site >= 0]
    return [
        replace(tooth, details=tooth.details | {"sites": len(several)})
        if tooth.site < 0 and 2 * max(several, default=0) >= tooth.bytes
        else tooth
        for tooth in teeth
    ]


def _reallocated_at_once(blocks: Blocks, sites: Sites) -> Blocks:
    """Return blocks of which those that a call site frees just before it allocates live until then.

    A reallocation frees and allocates; where times are spread evenly over records, a fall would lie between.
    """
    freed = np.flatnonzero(blocks.free_row >= 0)
    after = np.searchsorted(blocks.row, blocks.free_row[freed] + 1)
    freed, after = freed[after < len(blocks)], after[after < len(blocks)]
    again = blocks.row[after] == blocks.free_row[freed] + 1
    again &= sites.of_block[after] == sites.of_block[freed]
    died = blocks.died.copy()
    died[freed[again]] = blocks.born[after[again]]
    return replace(blocks, died=died)


def _regular(value: Ints, tops: Ints, bottoms: Ints) -> tuple[Ints, Ints]:
    """Return the longest run of waves of about one height and length; nothing, if it has less than four.

    Parameters
    ----------
    value : int64 (cells,)
    tops, bottoms : int64 (n,), int64 (m,)
        Where it turns, ascending.

    Returns
    -------
    (int64 (k,), int64 (k - 1,))
    """
    bottoms = bottoms[bottoms > tops[0]] if len(tops) else bottoms[:0]
    n = min(len(tops) - 1, len(bottoms))
    best, begin = (0, 0), 0
    for i in range(n):
        if i > begin:
            pairs = (
                (value[tops[i - 1]] - value[bottoms[i - 1]], value[tops[i]] - value[bottoms[i]]),
                (value[tops[i]] - value[bottoms[i - 1]], value[tops[i + 1]] - value[bottoms[i]]),
                (tops[i] - tops[i - 1], tops[i + 1] - tops[i]),
            )
            if any(min(pair) < (1 - _UNEVEN) * max(pair) for pair in pairs):
                begin = i
        best = max(best, (i + 1 - begin, -begin))
    run, first = best[0], -best[1]
    if run < _REGULAR:
        return tops[:0], bottoms[:0]
    return tops[first : first + run + 1], bottoms[first : first + run]


def _churn(blocks: Blocks, sites: Sites, table: SiteTable, least: float) -> list[MemoryFinding]:
    """Sites that allocate many short-lived blocks, of which few live at once."""

    def short(part: slice) -> NDArray[np.bool_]:
        return np.asarray(blocks.died[part] - blocks.born[part] <= _SHORT * blocks.end)

    count = blocks.sums(sites.of_block, len(sites), short)
    bytes_ = blocks.sums(sites.of_block, len(sites), lambda part: short(part) * blocks.size[part])
    which = (count >= _CHURN) & (count >= 0.5 * table.blocks[:-1])
    which &= (table.allocated[:-1] >= _TIMES * table.peak[:-1]) & (bytes_ >= max(4 * least, 1))
    return [
        MemoryFinding("churn", site, 0, blocks.end, int(bytes_[site]),
                      {"blocks": int(count[site]), "at_once": int(table.peak[site])})
        for site in np.flatnonzero(which).tolist()
    ]  # fmt: skip


def holes(blocks: Blocks, time_ns: int, after_row: int | None = None, least: int = 0) -> Holes:
    """Return how much of the addresses between blocks is free at a moment (after a row, if given).

    What no block had before may have been allocated before the recording: only what was freed counts.

    Parameters
    ----------
    blocks : Blocks
    time_ns : int
        The moment.
    after_row : int, optional
        A row of the recording, where times are too coarse.
    least : int
        If there are fewer bytes between blocks than that, it is not asked which of them were freed: none.

    Returns
    -------
    Holes
    """
    low, high, count = _stretches(blocks, time_ns, after_row, True)
    if not len(low):
        return Holes(time_ns, 0, 0, 0, 0)
    near = low[1:] - high[:-1] < REGION_GAP
    regions = 1 + int(np.count_nonzero(~near))
    begin, end = high[:-1][near], low[1:][near]
    if not len(begin) or int((end - begin).sum()) < least:
        return Holes(time_ns, count, 0, 0, regions)
    low, high, _ = _stretches(blocks, time_ns, after_row, False)
    # The parts of each freed stretch that lie in gaps.
    first, last = np.searchsorted(end, low, "right"), np.searchsorted(begin, high, "left")
    parts = last - first
    of = np.repeat(np.arange(len(low)), parts)
    gap = np.arange(len(of)) - np.repeat(np.cumsum(parts) - parts, parts) + first[of]
    free = (np.minimum(high[of], end[gap]) - np.maximum(low[of], begin[gap])).astype(np.int64)
    return Holes(time_ns, count, int(free.sum()), int(free.max(initial=0)), regions)


def _stretches(
    blocks: Blocks, time_ns: int, after_row: int | None, living: bool
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], int]:
    """Return the addresses that blocks have at a moment, or had before, as stretches that do not touch.

    Also the sum of their bytes.
    """
    begin, end, total = np.empty(0, np.uint64), np.empty(0, np.uint64), 0
    for part in blocks.parts():
        row, free_row = blocks.row[part], blocks.free_row[part]
        if after_row is None:
            made, gone = blocks.born[part] <= time_ns, blocks.died[part] <= time_ns
        else:
            made, gone = row <= after_row, (free_row >= 0) & (free_row <= after_row)
        which = np.flatnonzero(made & (gone != living) & (blocks.size[part] > 0))
        size = blocks.size[part][which]
        low = blocks.row_address[row[which]]
        total += int(size.sum())
        begin, end = np.concatenate([begin, low]), np.concatenate([end, low + size.astype(np.uint64)])
        if not len(begin):
            continue
        order = np.argsort(begin, kind="stable")
        begin, reach = begin[order], np.maximum.accumulate(end[order])
        new = np.append(True, begin[1:] > reach[:-1])
        begin, end = begin[new], reach[np.append(new[1:], True)]
    return begin, end, total


def _fragmentation(blocks: Blocks, table: SiteTable) -> list[MemoryFinding]:
    """Holes between live blocks, when most lives and at the end."""
    row = int(table.peak_row[-1])
    at_peak = holes(blocks, int(blocks.born[np.searchsorted(blocks.row, row)]), row, _HOLES)
    at_end = holes(blocks, blocks.end, least=_HOLES)
    found = []
    for when, seen in (("most", at_peak), ("end", at_end)):
        if seen.holes >= _HOLES and seen.share >= _HOLE_SHARE:
            found.append(
                MemoryFinding("fragmentation", -1, seen.time_ns, seen.time_ns, seen.holes,
                              {"when": when, "share": seen.share, "largest": seen.largest,
                               "regions": seen.regions, "live": seen.live})
            )  # fmt: skip
    return found[:1]


def cohorts(blocks: Blocks, cells: int = GRID) -> tuple[NDArray[np.int32], Ints]:
    """Return the cohort of each block, int32 (n,), and the key of each cohort, int64 (k,).

    A cohort is the blocks that are born in the same cell of time and die in the same (Moreta and Telea 2007:
    same-lifetime clusters). Its key is ``born * (cells + 1) + died``, ``died`` being ``cells`` for never.

    Parameters
    ----------
    blocks : Blocks
    cells : int
        Into how many the recording is cut.

    Returns
    -------
    (int32 (n,), int64 (k,))
    """
    span = blocks.end
    # Blocks are in order of creation: those of a cell follow each other.
    edges = np.array([-(-cell * span // cells) for cell in range(1, cells)], np.int64)
    first = np.searchsorted(blocks.born, edges)
    key = np.empty(len(blocks), np.int32)
    for begin in range(0, len(blocks), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        key[part] = np.minimum(blocks.died[part].astype(np.float64) * cells // span, cells - 1)
    key[blocks.free_row < 0] = cells
    count = np.diff(first, prepend=0, append=len(blocks))
    key += np.repeat(np.arange(cells, dtype=np.int32) * (cells + 1), count)
    table = np.zeros(cells * (cells + 1), np.int32)
    table[key] = 1
    keys = np.flatnonzero(table)
    table[keys] = np.arange(len(keys))
    return np.take(table, key, out=key, mode="clip"), keys


def _cohorts(blocks: Blocks, sites: Sites, loads: list[int], least: float) -> list[MemoryFinding]:
    """The largest groups of blocks that live from about the same moment to about the same moment.

    That modules are imported at one moment is told by another finding.
    """
    of, keys = cohorts(blocks)
    count = blocks.sums(of, len(keys), lambda part: None)
    bytes_ = blocks.sums(of, len(keys), lambda part: blocks.size[part])
    loading = np.zeros(len(sites), np.bool_)
    loading[loads] = True
    imported = blocks.sums(of, len(keys), lambda part: blocks.size[part] * loading[sites.of_block[part]])
    lived = keys % (GRID + 1) - keys // (GRID + 1)
    # Blocks that die in the cell in which they are born are churn.
    which = np.flatnonzero((count >= 5) & (lived >= 1) & (bytes_ >= max(4 * least, 1)))
    which = which[2 * imported[which] < bytes_[which]]
    which = which[np.argsort(-bytes_[which], kind="stable")][:8]
    found = []
    for cohort in which.tolist():
        born, died = divmod(int(keys[cohort]), GRID + 1)
        found.append(
            MemoryFinding("cohort", -1, born * blocks.end // GRID,
                          blocks.end if died == GRID else (died + 1) * blocks.end // GRID,
                          int(bytes_[cohort]), {"blocks": int(count[cohort]), "freed": died < GRID})
        )  # fmt: skip
    return found
