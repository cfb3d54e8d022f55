"""What is found about a program's memory, against a plain twin of each kind of finding."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from itertools import pairwise
from statistics import median
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.features.memory import findings
from tracevis3d.features.memory.blocks import find_blocks
from tracevis3d.features.memory.call_sites import Sites
from tracevis3d.features.memory.curves import site_table
from tracevis3d.features.memory.findings import KINDS, REGION_GAP, Holes, byte_time, find_memory, holes
from tracevis3d.trace.model import ACCESS, ALLOC, FREE, Memory

#: The end of each recording, in nanoseconds: a hundredth, a 64th and a 512th of it are whole numbers.
END = 51_200


# -- programs in which much is remarkable, or nearly so ----------------------------------------------------


class Program:
    """Rows of memory, each with the site of its block."""

    def __init__(self, draw) -> None:
        self.draw, self.rows, self.blocks = draw, [], 0

    def block(self, born, died, size, site, address=None, touched=()) -> None:
        """Add a block; ``died`` None: it is kept."""
        self.blocks += 1
        address = (self.blocks << 21) if address is None else address
        self.rows.append((born, ALLOC, address, size, site))
        self.rows += [(time, ACCESS, address, 0, site) for time in touched]
        if died is not None:
            self.rows.append((died, FREE, address, 0, site))

    def few(self, low, high):
        return self.draw(st.integers(low, high))

    def any(self, *values):
        return self.draw(st.sampled_from(values))

    def leak(self, site) -> None:
        """Keep about eight blocks, more of them or less in each quarter."""
        begun = self.any(0, 0, 1, 2, 3)
        quarters = [q for q in range(begun, 4) if self.few(0, 9)] or [begun]
        if not self.few(0, 4):
            quarters = [2, *[3] * 8]
        for i in range(self.any(7, 8, 8, 9)):
            q = quarters[i % len(quarters)]
            born = q * END // 4 + self.any(0, 1, END // 4 - 1)
            self.block(born, None, self.any(1, 100) if q > 1 else self.any(100, 300), site)
        for _ in range(self.few(0, 3)):
            self.block(self.few(0, END // 2), END // 2 + 5, 100, site)

    def climb(self, site) -> None:
        """Keep more and more, early or late, and free a little in between."""
        many, from_ = self.any(8, 9, 30), self.any(0, END // 4, END // 2)
        early = self.any(1, 1, 5)
        for i in range(many):
            born = from_ + (END - from_) * i // (many * early)
            self.block(born, None, self.any(1, 50, 400), site)
        self.block(END - 2, None, self.any(1, 2000), site)
        for _ in range(self.any(0, 0, 1, 2)):
            born = self.few(0, END - 10)
            self.block(born, self.few(born + 1, END - 1), self.any(1, 1000), site)

    def forgotten(self, site) -> None:
        """Keep a block that is last used in about the middle."""
        born = self.any(0, END // 2 - 1, END // 2, END // 2 + 1)
        touched = [] if self.any(True, False) else [max(born, self.any(END // 2 - 2, END // 2, END // 2 + 1))]
        self.block(born, None, self.any(20, 200, 2000), site, touched=touched)

    def churn(self, site) -> None:
        """About a hundred blocks that live for about a hundredth of the run, about ten times what is kept."""
        count, at_once, size = self.any(99, 100, 100), self.any(9, 10, 10, 11), self.any(1, 64)
        life = END // 100 + self.any(-1, 0, 0, 1)
        for i in range(count):
            begin = i // at_once * (life + 2)
            self.block(begin, begin + life, size, site)
        for _ in range(self.any(0, 0, 0, count, count + 1)):
            self.block(20_000, 40_000, 1, site)

    def tooth(self, site) -> None:
        """Live bytes that rise and fall about three times, by about a quarter."""
        every, high = self.any(6000, 6037), self.any(100, 400)
        if self.any(True, False):
            # Beside a plateau of another site, or on one of its own, as high as it may be.
            self.block(0, None, self.any(1, 3, 9, 40, 70) * high, self.any(site, (site + 1) % 3))
        teeth, kept = self.few(2, 7), self.any(True, False)
        for i in range(teeth):
            for step in range(3):
                died = None if kept and i == teeth - 1 else (i + 1) * every - self.few(1, 1500)
                self.block(i * every + 400 * step, died, high // 3 + i, site)

    def fragments(self, site) -> None:
        """Neighbours of which some are freed before the end, others earlier."""
        base, size = self.few(1, 3) << 40, self.any(1 << 14, 1 << 15, 1 << 16)
        for i in range(self.few(3, 9)):
            died = self.any(None, 30_000, 45_000)
            self.block(self.few(0, 200), died, self.any(size, size // 2, 0), site, base + i * size)

    def cohort(self, site) -> None:
        """About five blocks that are born in one cell and die in another, or the same."""
        cell = END // 64
        born, lived = self.few(0, 62) * cell, self.any(0, 1, 5, None)
        for _ in range(self.few(4, 6)):
            at = born + self.any(0, cell - 1)
            died = None if lived is None else min(born + lived * cell + self.any(0, cell - 1), END)
            self.block(at, None if died is None else max(died, at), self.any(10, 100), site)


@st.composite
def programs(draw, segments=("leak", "forgotten", "churn", "tooth", "fragments", "cohort")):
    """Return blocks, their sites and what sites do."""
    program = Program(draw)
    for _ in range(draw(st.sampled_from([1, 1, 2, 3, 4]))):
        getattr(program, draw(st.sampled_from(segments)))(draw(st.integers(0, 2)))
    rows = sorted(program.rows, key=lambda row: row[0])
    time, kind, address, size, site = (list(column) for column in zip(*rows))
    memory = Memory(
        np.array(time), np.array(address, np.uint64), np.array(size), np.array(kind, np.uint8),
        np.zeros(len(rows), np.int32), np.full(len(rows), -1),
    )  # fmt: skip
    blocks = find_blocks(memory, END)
    of = np.array(site, np.int32)[blocks.row]
    loader = draw(st.sampled_from(["c", "get_data (<frozen importlib._bootstrap_external>:1131)"]))
    return blocks, Sites(of, np.full(3, -1, np.int32), np.zeros(3, np.int32), ("a", "b", loader))


# -- the twin ----------------------------------------------------------------------------------------------


class Block:
    """A block by itself."""

    def __init__(self, blocks, sites, i) -> None:
        self.site, self.row, self.size = int(sites.of_block[i]), int(blocks.row[i]), int(blocks.size[i])
        self.born, self.kept = int(blocks.born[i]), int(blocks.free_row[i]) < 0
        self.died = END + 1 if self.kept else int(blocks.died[i])
        self.free_row = 1 << 60 if self.kept else int(blocks.free_row[i])
        self.address, self.touched = int(blocks.address[i]), int(blocks.last_touch[i])
        self.freed_again = self.died

    def until(self, died):
        """Return it as if it had lived until then."""
        found = copy(self)
        found.died = died
        return found


def total(blocks):
    return sum(block.size for block in blocks)


def plain_holes(live, freed):
    """Return bytes of blocks and of holes that were freed, the largest one, and the number of regions."""
    live = sorted((block.address, block.size) for block in live if block.size)
    gaps, reach = [], None
    for address, size in live:
        if reach is not None and address > reach:
            gaps.append((reach, address))
        reach = max(reach or 0, address + size)
    near = [(low, high) for low, high in gaps if high - low < 1 << 20]
    holes = []
    for low, high in near:
        had = sorted((max(b.address, low), min(b.address + b.size, high)) for b in freed)
        at = None
        for begin, end in [(begin, end) for begin, end in had if end > begin]:
            if at is None or begin > at:
                holes.append(0)
                at = begin
            holes[-1] += max(end - at, 0)
            at = max(at, end)
    return (
        sum(size for _, size in live), sum(holes), max(holes, default=0),
        len(gaps) - len(near) + 1 if live else 0,
    )  # fmt: skip


def plain_live(blocks, cells):
    """Return the bytes that live on average in each cell, rounded down."""
    # A cell is END long, if time is counted in parts of a nanosecond.
    lived = [0] * cells
    for block in blocks:
        born, died = block.born * cells, (END if block.kept else block.died) * cells
        for cell in range(block.born * cells // END, cells):
            if cell * END >= died:
                break
            lived[cell] += block.size * (min(died, (cell + 1) * END) - max(born, cell * END))
    return [value // END for value in lived]


def plain_turns(values, least):
    """Return the highs and the lows between which the values move by ``least`` or more, alternating."""
    highs, lows = [], []
    top = bottom = 0
    rising = None
    for i, value in enumerate(values):
        top, bottom = (i if value > values[top] else top), (i if value < values[bottom] else bottom)
        if rising is not False and values[top] - value >= least:
            highs.append(top)
            rising, top, bottom = False, i, i
        elif rising is not True and value - values[bottom] >= least:
            lows += [bottom] if bottom else []
            rising, top, bottom = True, i, i
    return highs, lows


def plain_regular(values, highs, lows):
    """Return the first of the longest runs of four waves or more that are alike, or nothing."""
    lows = [low for low in lows if highs and low > highs[0]]
    n = min(len(highs) - 1, len(lows))

    def alike(a, b):
        return min(a, b) >= 0.7 * max(a, b)

    def even(i):
        """Return whether wave ``i`` is like the one before it: its fall, its rise and its length."""
        falls = [values[highs[k]] - values[lows[k]] for k in (i - 1, i)]
        rises = [values[highs[k + 1]] - values[lows[k]] for k in (i - 1, i)]
        lengths = [highs[k + 1] - highs[k] for k in (i - 1, i)]
        return alike(*falls) and alike(*rises) and alike(*lengths)

    for length in range(n, 3, -1):
        for first in range(n - length + 1):
            if all(even(i) for i in range(first + 1, first + length)):
                return highs[first : first + length + 1], lows[first : first + length]
    return [], []


def plain_imports(of, names, least):
    """Return what call sites keep that load modules."""
    kept = [b for site, group in enumerate(of) for b in group if b.kept and "importlib" in names[site]]
    if total(kept) < max(4 * least, 1):
        return []
    return [("imports", -1, 0, END, total(kept), {"blocks": len(kept)})]


def plain_surely(group):
    """Return the kept old blocks that live whichever of equal ones were freed."""
    found = []
    for size in {b.size for b in group}:
        equal = sorted((b for b in group if b.size == size), key=lambda b: b.row)
        old = [b for b in equal if 2 * (END - b.touched) >= END]
        surely = len(old) - sum(not b.kept for b in equal)
        found += [b for b in old if b.kept][: max(surely, 0)]
    return found


def plain_teeth(every, of, peaks, highest, clock):
    """Return where live bytes rise and fall."""
    least, found = 0.005 * highest, []
    if clock:
        # What a site frees just before it allocates again lives until then.
        by_row = {b.row: b for b in every}
        for b in every:
            after = by_row.get(b.free_row + 1)
            if not b.kept and after is not None and after.site == b.site:
                b.freed_again = after.born
        every = [b.until(b.freed_again) for b in every]
        of = [[b for b in every if b.site == site] for site in range(3)]
    largest = [site for site in range(3) if peaks[site] >= max(least, 1)]
    largest.sort(key=lambda s: -peaks[s])
    for site in [-1, *largest]:
        values = plain_live(every if site < 0 else of[site], 512)
        for scale in (1 / 4, 1 / 16, 1 / 64, 1 / 256):
            wave = int(max(scale * max(values), least, 1))
            highs, lows = plain_turns(values, wave)
            if scale < 1 / 4:
                highs, lows = plain_regular(values, highs, lows)
            elif site >= 0 and peaks[site] < 0.1 * highest:
                continue
            if len(highs) >= 3 and len(lows) >= 2:
                swing = median(values[i] for i in highs) - median(values[i] for i in lows)
                period = median(b - a for a, b in pairwise(highs)) * END / 512
                group = every if site < 0 else of[site]
                if period < 2 * clock and int(swing) * len(group) < 6 * total(group):
                    continue
                begin, end = ((i + 1) * END // 512 for i in (highs[0], max(highs[-1], lows[-1])))
                found.append(
                    ("saw-tooth", site, begin, end, int(swing), {"times": len(highs), "period_ns": period})
                )
                break
    each = [f for f in found if f[1] >= 0]
    for f in found:
        if f[1] < 0 and any(f[4] <= 2 * other[4] for other in each):
            f[5]["sites"] = len(each)
    return found


def plain_seen(findings, of, snapshots):
    """Return what may be said where only snapshots are known: of leaks, and of what is forgotten."""
    kept = []
    for kind, site, begin, end, size, details in findings:
        looks = [look for look in snapshots if kind == "leak" or 2 * look >= END]
        # What lives is known at 512 snapshots at most.
        if len(looks) > 512:
            looks = [looks[int(i)] for i in np.linspace(0, len(looks) - 1, 512)]
        seen = [total(b for b in of[site] if b.born <= look < b.died) for look in looks]
        if kind == "forgotten":
            if len(looks) >= 8 and min(seen) >= 2 * (max(seen) - min(seen)):
                kept.append((kind, site, begin, end, size, details | {"snapshots": len(looks)}))
            continue
        at_half = ([0] + [value for look, value in zip(looks, seen) if 2 * look < END])[-1]
        at_last = ([0] + [value for look, value in zip(looks, seen) if 4 * look < 3 * END])[-1]
        first = next((i for i, value in enumerate(seen) if value), 0)
        seen = seen[first:]
        lows = [0] + [min(seen[i:]) for i in range(len(seen))]
        rises = sum(b > a for a, b in pairwise(lows))
        told = {"snapshots": len(seen), "rises": rises}
        if seen and rises >= max(8, 3 * math.log(len(seen))):
            kept.append((kind, site, begin, end, size, details | told))
        elif rises >= 3 and seen == sorted(seen) and seen[-1] > at_last and 4 * at_half <= 3 * seen[-1]:
            told |= {"blocks": details["blocks"], "from": seen[0]}
            kept.append(("growth", site, begin, end, size, told))
    return kept


def plain_findings(blocks, sites, has_addresses, clock=0.0, snapshots=None):
    """Return kind, site, begin, end, bytes and details of each finding, in order."""
    every = [Block(blocks, sites, i) for i in range(len(blocks))]
    of = [[b for b in every if b.site == site] for site in range(3)]
    rows = sorted({b.row for b in every} | {b.free_row for b in every if not b.kept})

    def live_after(group, row):
        return [b for b in group if b.row <= row < b.free_row]

    def peak(group):
        """Return the most bytes that live at once, and the first row after which they do."""
        most = max(((total(live_after(group, row)), -row) for row in rows), default=(0, 0))
        return most[0], -most[1]

    highest, peak_row = peak(every)
    peaks = [peak(group)[0] for group in of]
    least, found = 0.005 * highest, []
    teeth = plain_teeth(every, of, peaks, highest, clock)
    # Leaks: what is kept grows in each quarter from when it begins, and not only in the first half.
    names = sites.name
    for site, group in enumerate(of):
        kept = [b for b in group if b.kept]
        if "importlib" in names[site]:
            continue
        quarters = [total(b for b in kept if min(b.born * 4 // END, 3) == q) for q in range(4)]
        if total(kept) < max(least, 1) or len(kept) < 8:
            continue
        begun = next(q for q in range(4) if quarters[q])
        steady = begun < 3 and all(quarters[begun:]) and quarters[2] + quarters[3] >= total(kept) / 4
        if steady or (snapshots is not None and len(snapshots) < 8):
            share = {"blocks": len(kept), "share_of_blocks": len(kept) / len(group)}
            found.append(("leak", site, min(b.born for b in kept), END, total(kept), share))
    if not has_addresses:
        swing = {site: height for _, site, _, _, height, _ in teeth}
        found = [f for f in found if f[4] >= 2 * swing.get(f[1], 0)]
    if snapshots is not None:
        found = plain_seen(found, of, snapshots)
    leaking, forgotten = [site for _, site, *_ in found], []
    for site, group in enumerate(of):
        old = [b for b in group if b.kept and 2 * (END - b.touched) >= END]
        old = old if has_addresses else plain_surely(group)
        if total(old) >= max(4 * least, 1) and site not in leaking and "importlib" not in names[site]:
            begin = min(b.touched for b in old)
            forgotten.append(("forgotten", site, begin, END, total(old), {"blocks": len(old)}))
    found += forgotten if snapshots is None else plain_seen(forgotten, of, snapshots)
    found += plain_imports(of, names, least)
    found += teeth
    at_peak = [b for b in every if b.free_row <= peak_row]
    for when, live, freed in (
        ("most", live_after(every, peak_row), at_peak),
        ("end", [b for b in every if b.died > END], [b for b in every if b.died <= END]),
    ):
        bytes_, free, hole, regions = plain_holes(live, freed)
        if has_addresses and free >= 1 << 16 and free >= 0.2 * (bytes_ + free):
            at = END if when == "end" else next(b.born for b in every if b.row == peak_row)
            details = {"when": when, "share": free / (bytes_ + free), "largest": hole, "regions": regions}
            found.append(("fragmentation", -1, at, at, free, details | {"live": bytes_}))
            break
    for site, group in enumerate(of):
        short = [b for b in group if not b.kept and 100 * (b.died - b.born) <= END]
        often = total(group) >= 10 * max(peaks[site], 1)
        often &= "importlib" not in names[site]
        if len(short) >= 100 and 2 * len(short) >= len(group) and often and total(short) >= max(4 * least, 1):
            details = {"blocks": len(short), "at_once": peaks[site]}
            found.append(("churn", site, 0, END, total(short), details))
    groups = {}
    for b in every:
        cells = [min(time * 64 // END, 63) for time in (b.born, b.died)]
        groups.setdefault((cells[0], 64 if b.kept else cells[1]), []).append(b)
    cohorts, loading = (
        [],
        {b.row for site, group in enumerate(of) if "importlib" in names[site] for b in group},
    )
    for (born, died), group in sorted(groups.items()):
        imported = total(b for b in group if b.row in loading)
        if len(group) < 5 or 2 * imported >= total(group):
            continue
        if died > born and total(group) >= max(4 * least, 1):
            end = END if died == 64 else (died + 1) * END // 64
            details = {"blocks": len(group), "freed": died < 64}
            cohorts.append(("cohort", -1, born * END // 64, end, total(group), details))
    found += sorted(cohorts, key=lambda f: -f[4])[:8] if snapshots is None else []
    order = ("leak", "growth", "forgotten", "saw-tooth", "fragmentation", "churn", "cohort", "imports")
    return sorted(found, key=lambda f: (order.index(f[0]), "sites" in f[5], -f[4]))


#: Moments at which somebody looked; few, many, or more than are compared.
SNAPSHOTS = st.sampled_from([*range(0, 13), 40, 600]).flatmap(
    lambda n: st.integers(0, 99).map(lambda first: np.unique(np.linspace(first, END, n).astype(np.int64)))
)


@given(programs(), st.sampled_from([True, True, False]), st.sampled_from([0.0, 0.0, END / 20]), SNAPSHOTS)
@settings(deadline=None, max_examples=200)
def test_findings_are_those_of_the_plain_twin(program, has_addresses, clock, snapshots) -> None:
    blocks, sites = program
    snapshots = None if has_addresses or len(snapshots) % 3 == 2 else snapshots
    found = find_memory(blocks, sites, site_table(blocks, sites), has_addresses, clock, snapshots)
    wanted = plain_findings(blocks, sites, has_addresses, clock, snapshots)
    unsure = set(KINDS) if snapshots is not None else set() if has_addresses else {"forgotten", "cohort"}
    assert all(f.how == ("inferred" if f.kind in unsure else "recorded") for f in found)
    assert [(f.kind, f.site, f.start_ns, f.end_ns, f.bytes) for f in found] == [f[:5] for f in wanted]
    for mine, other in zip(found, wanted):
        assert mine.details == pytest.approx(other[5])


@given(programs(("leak", "climb", "climb", "forgotten")), SNAPSHOTS)
@settings(deadline=None, max_examples=60)
def test_what_grows_from_snapshot_to_snapshot(program, snapshots) -> None:
    blocks, sites = program
    found = find_memory(blocks, sites, site_table(blocks, sites), False, 0.0, snapshots)
    wanted = plain_findings(blocks, sites, False, 0.0, snapshots)
    assert [(f.kind, f.site, f.start_ns, f.end_ns, f.bytes) for f in found] == [f[:5] for f in wanted]
    for mine, other in zip(found, wanted):
        assert mine.details == pytest.approx(other[5])


def of_one_site(rows):
    """Return the blocks of rows of time, kind, address and size, all of one call site."""
    time, kind, address, size = (list(column) for column in zip(*(row[:4] for row in rows)))
    memory = Memory(
        np.array(time), np.array(address, np.uint64), np.array(size), np.array(kind, np.uint8),
        np.zeros(len(time), np.int32), np.full(len(time), -1),
    )  # fmt: skip
    blocks = find_blocks(memory, END)
    return blocks, Sites(np.zeros(len(blocks), np.int32), np.full(1, -1), np.zeros(1, np.int32), ("a",))


@pytest.mark.parametrize(("late", "kinds"), [(333, []), (334, ["growth"])])
def test_growth_is_a_quarter_in_the_second_half_at_least(late, kinds) -> None:
    program = Program(None)
    steps = (0, 100, 1), (END // 5, 100, 5), (2 * END // 5, 100, 4), (4 * END // 5, late, 1)
    for born, size, many in steps:
        for _ in range(many):
            program.block(born, None, size, 0)
    blocks, sites = of_one_site(program.rows)
    snapshots = np.linspace(END // 10, END, 7).astype(np.int64)
    found = find_memory(blocks, sites, site_table(blocks, sites), False, 0.0, snapshots)
    assert [f.kind for f in found if f.kind in ("leak", "growth")] == kinds


@given(programs(), st.sampled_from([1, 7, 64]), st.sampled_from([3, 1 << 19]))
@settings(deadline=None, max_examples=30)
def test_live_bytes_of_groups_in_cells(program, cells, at_once) -> None:
    blocks, sites = program
    every = [Block(blocks, sites, i) for i in range(len(blocks))]
    with patch.object(findings, "AT_ONCE", at_once):
        grid = byte_time(blocks, sites.of_block, 3, cells) // END
    assert grid.tolist() == [plain_live([b for b in every if b.site == site], cells) for site in range(3)]


@pytest.mark.parametrize("end", [0, 1, 2])
def test_what_always_lives_lives_in_each_cell_however_short_the_recording(end) -> None:
    one = np.zeros(1, np.int64)
    memory = Memory(
        one, one.astype(np.uint64), one + 9, np.array([ALLOC], np.uint8), one.astype(np.int32), one - 1
    )
    blocks = find_blocks(memory, end)
    grid = byte_time(blocks, np.zeros(1, np.int32), 1, 4)
    assert (grid // max(end, 1)).tolist() == [[9.0] * 4]


@pytest.mark.parametrize(("looks", "kinds"), [(7, set()), (8, {"forgotten"})])
def test_what_is_forgotten_is_seen_eight_times_in_the_second_half(looks, kinds) -> None:
    blocks, sites = of_one_site([(0, ALLOC, 1 << 12, 100_000)])
    snapshots = np.linspace(END // 2, END, looks).astype(np.int64)
    found = find_memory(blocks, sites, site_table(blocks, sites), False, 0.0, snapshots)
    assert {f.kind for f in found} == kinds


def test_of_what_has_no_bytes_nothing_is_said() -> None:
    rows = [(i * END // 300, ALLOC, i << 12, 0) for i in range(300)]
    rows += [(i * END // 300 + 1, FREE, i << 12, 0) for i in range(0, 200)]
    blocks, sites = of_one_site(sorted(rows))
    for named in (sites, replace(sites, name=("get_data (<frozen importlib._bootstrap>:7)",))):
        assert find_memory(blocks, named, site_table(blocks, named), True, 0.0) == ()


def test_a_single_byte_may_be_forgotten_kept_by_imports_and_of_blocks_that_live_alike() -> None:
    blocks, sites = of_one_site([(0, ALLOC, i << 12, 1 if i == 3 else 0) for i in range(6)])
    imports = replace(sites, name=("get_data (<frozen importlib._bootstrap>:7)",))
    for named, kinds in ((sites, {"forgotten", "cohort"}), (imports, {"imports"})):
        found = find_memory(blocks, named, site_table(blocks, named), True, 0.0)
        assert {(f.kind, f.bytes) for f in found} == {(kind, 1) for kind in kinds}


@pytest.mark.parametrize(("beside", "found"), [(4, True), (5, False)])
def test_holes_are_reported_from_a_fifth_of_a_region_on(beside, found) -> None:
    rows = [(0, ALLOC, (1 << 30) + (i << 16), 1 << 16) for i in range(beside + 1)]
    blocks, sites = of_one_site([*rows, (5, FREE, (1 << 30) + (1 << 16), 0)])
    kinds = {f.kind for f in find_memory(blocks, sites, site_table(blocks, sites), True, 0.0)}
    assert ("fragmentation" in kinds) == found


def test_the_share_of_holes_of_a_byte_and_of_none() -> None:
    assert [Holes(0, 0, free, free, 1).share for free in (0, 1)] == [0.0, 1.0]


def test_blocks_of_a_moment_at_a_steady_pace_make_no_teeth() -> None:
    """Each step begins where a cell ends, as if somebody always looked just then."""
    rows = [(0, ALLOC, 1 << 30, 100_000)]
    for step in range(1, 64):
        for time, kind, size in ((0, ALLOC, 1000), (2, FREE, 0)):
            rows += [(step * END // 64 + time, kind, (step * 4 + i) << 12, size) for i in range(4)]
    blocks, sites = of_one_site(rows)
    kinds = {f.kind for f in find_memory(blocks, sites, site_table(blocks, sites), True, 0.0)}
    assert kinds == {"forgotten"}


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 3), st.integers(0, 9), st.integers(1, 9)), max_size=9
    ),
    st.integers(0, 20),
)
@settings(deadline=None, max_examples=200)
def test_holes_are_those_between_blocks_that_live(rows, time) -> None:
    unit = REGION_GAP >> 2
    events = []
    for i, (address, size, born, lived) in enumerate(rows):
        events += [
            (born, 1, i, ALLOC, address * unit, size * unit),
            (born + lived, 0, i, FREE, address * unit, 0),
        ]
    events.sort()
    columns = list(zip(*events)) or [()] * 6
    memory = Memory(
        np.array(columns[0], np.int64), np.array(columns[4], np.uint64), np.array(columns[5], np.int64),
        np.array(columns[3], np.uint8), np.zeros(len(events), np.int32), np.full(len(events), -1),
    )  # fmt: skip
    blocks = find_blocks(memory, 20)
    sites = Sites(np.zeros(len(blocks), np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32), ("a",))
    every = [Block(blocks, sites, i) for i in range(len(blocks))]
    found = holes(blocks, time)
    assert found.time_ns == time
    result = found.live, found.holes, found.largest, found.regions
    gone = [b for b in every if b.died <= time]
    assert result == plain_holes([b for b in every if b.born <= time < b.died], gone)
    row = time % max(len(memory), 1)
    found = holes(blocks, time, row)
    result = found.live, found.holes, found.largest, found.regions
    gone = [b for b in every if b.free_row <= row]
    assert result == plain_holes([b for b in every if b.row <= row < b.free_row], gone)
    assert found.share == (found.holes / (found.live + found.holes) if found.live else 0)


def test_kinds_are_named_in_the_order_of_their_weight() -> None:
    assert KINDS == (
        "leak",
        "growth",
        "forgotten",
        "saw-tooth",
        "fragmentation",
        "churn",
        "cohort",
        "imports",
    )


@pytest.mark.parametrize(("clock", "teeth"), [(1.0, False), (0.0, True)])
def test_a_reallocation_is_no_fall_where_times_are_spread_over_records(clock, teeth) -> None:
    rows = [(0, ALLOC, 99 << 40, 4000)]
    for i in range(12):
        # The old store is freed in one record, the new one allocated in the next, a while later.
        at = (i + 1) * END // 13
        rows += [(at, FREE, 99 + i << 40, 0), (at + END // 40, ALLOC, 100 + i << 40, 4000)]
    blocks, sites = of_one_site(rows)
    found = find_memory(blocks, sites, site_table(blocks, sites), True, clock)
    assert ("saw-tooth" in {f.kind for f in found}) == teeth


@pytest.mark.parametrize("name", ["arena for small objects", "no function of Python's"])
def test_stores_of_small_blocks_are_neither_forgotten_nor_leaks(name) -> None:
    rows = [(i * END // 64, ALLOC, i + 1 << 20, 1 << 20) for i in range(63)]
    blocks, sites = of_one_site(rows)
    sites = Sites(sites.of_block, sites.function, sites.line, (name,))
    kinds = {f.kind for f in find_memory(blocks, sites, site_table(blocks, sites), True, 0.0)}
    assert "growth" in kinds
    assert not kinds & {"leak", "forgotten"}
