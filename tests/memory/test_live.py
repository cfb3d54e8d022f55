"""The live memory view against a plain look at the same blocks; nothing here needs Blender."""

from collections import defaultdict
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracevis3d.features.memory.live import blocks as module
from tracevis3d.features.memory.live import sites as sites_module
from tracevis3d.features.memory.live.blocks import LiveBlocks
from tracevis3d.features.memory.live.colors import color_of
from tracevis3d.features.memory.live.findings import SAMPLES, SiteHistory, find_plateaus, in_turn
from tracevis3d.kernels.memory import live_blocks as k
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.live.protocol import Batch, Names, Welcome
from tracevis3d.live.stream.pages import Ring
from tracevis3d.views.registry import live_form

SITES = 6
PAUSE = 25


def started() -> GrowingTrace:
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, (*(f"m.site{i} (/a/m.py:{i})" for i in range(SITES)), "malloc")))
    growing.name(Names("threads", 0, ((1, 1, "main"),)))
    # Each site calls malloc, which is no call site.
    growing.name(Names("frames", 0, tuple((i, -1, 10 + i) for i in range(SITES))))
    growing.name(Names("frames", SITES, tuple((SITES, i, 0) for i in range(SITES))))
    return growing


def batch(rows) -> Batch:
    kind, time, address, size, site = (np.array(c, np.uint64) for c in zip(*rows, strict=True))
    stack = np.where(kind == 0, site.astype(np.int64) + SITES, -1)
    return Batch("memory", 0, 0, 0, {
        "kind": kind.astype(np.uint8), "thread": np.zeros(len(kind), np.uint32),
        "time": time.astype(np.int64),
        "address": address, "size": size.astype(np.int64), "stack": stack.astype(np.int32),
    })  # fmt: skip


@st.composite
def programs(draw):
    """Allocations, frees and accesses of few addresses; some make no sense."""
    rows, now = [], 0
    for _ in range(draw(st.integers(1, 90))):
        now += draw(st.integers(0, 40))
        rows.append((draw(st.sampled_from([0, 0, 1, 2])), now, 4096 * draw(st.integers(1, 9)),
                     draw(st.sampled_from([1, 10, 100, 1000])), draw(st.integers(0, SITES - 1))))  # fmt: skip
    return rows


class PlainBlock:
    """A block with its touches."""

    def __init__(self, when, size, site):
        self.born, self.died, self.size, self.site, self.touches = when, None, size, site, [when]

    def stretches(self):
        """In use (0) and idle (1) from when to when, as far as it is over."""
        found, busy = [], self.born
        for a, b in pairwise(self.touches):
            if b - a > PAUSE:
                found += [(busy, a, 0), (a, b, 1)]
                busy = b
        last = self.touches[-1]
        if self.died is not None:
            found += (
                [(busy, last, 0), (last, self.died, 1)]
                if self.died - last > PAUSE
                else [(busy, self.died, 0)]
            )
        return [s for s in found if s[1] > s[0]]


def plain(rows):
    """All blocks in order of creation, and frees and accesses of what is not known."""
    blocks, live, unknown = [], {}, 0
    for kind, when, at, size, site in rows:
        if kind == 0:
            if at in live:
                live.pop(at).died = when
            live[at] = PlainBlock(when, size, site)
            blocks.append(live[at])
        elif at not in live:
            unknown += 1
        elif kind == 1:
            live.pop(at).died = when
        else:
            live[at].touches.append(when)
    return blocks, live, unknown


def followed(rows, pieces=(), by_site=False, least=1.0, brief=0):
    blocks = LiveBlocks(started(), PAUSE, brief)
    blocks.least, blocks.by_site = least, by_site
    growing = blocks.sites._growing
    result, at = [], 0
    for size in (*pieces, len(rows)):
        if part := rows[at : at + size]:
            growing.add(batch(part))
            result.append(blocks.follow(growing.batches("memory", 0)[0][-1], -(1 << 60)))
        at += size
    return blocks, [row for part in result for row in as_rows(blocks, part)]


def as_rows(blocks, result):
    first = blocks.items[result.item, k.FIRST]
    idle = (result.age[:, 1] > 0).astype(int)
    return list(
        zip(
            first.tolist(), result.time[:, 0].tolist(), result.time[:, 1].tolist(), idle.tolist(), strict=True
        )
    )


@given(programs(), st.lists(st.integers(1, 20), max_size=6))
@settings(deadline=None, max_examples=80)
def test_blocks_against_a_dictionary(rows, pieces) -> None:
    blocks, result = followed(rows, pieces)
    want, live, unknown = plain(rows)
    totals = blocks.totals
    assert totals[k.BYTES_NOW] == sum(b.size for b in live.values())
    assert totals[k.BLOCKS_NOW] == len(live)
    assert totals[k.UNKNOWN] == unknown
    assert totals[k.ALLOCATED] == len(want)
    # Each block alone: what is over is reported once, as it was.
    expected = [(i, *s) for i, b in enumerate(want) for s in b.stretches()]
    assert sorted(result) == sorted(expected)
    by_site = defaultdict(lambda: [0, 0, 0])
    for b in want:
        number = blocks.sites.names.index(f"m.site{b.site}:{10 + b.site}")
        by_site[number][2] += 1
        if b.died is None:
            by_site[number][0] += b.size
            by_site[number][1] += 1
    for site, facts in by_site.items():
        assert blocks.site_facts[site, :3].tolist() == facts


@given(programs())
@settings(deadline=None, max_examples=100)
def test_a_new_cut_tells_the_past_as_it_was(rows) -> None:
    blocks, result = followed(rows)
    end = rows[-1][1] + 1
    again = blocks.cut((0, end), end, (0.0, 1.0), 0.0, False, False)
    assert sorted(as_rows(blocks, again)) == sorted(result)
    items = blocks.items
    want, _, _ = plain(rows)
    assert items[:, k.ALONE].all()
    for item, b in zip(items.tolist(), want, strict=True):
        assert item[k.LIVE] == (b.size if b.died is None else 0)
        assert item[k.LAST] == b.touches[-1]


@given(programs(), st.booleans(), st.integers(1, 400), st.booleans())
@example([(0, 1, 4096, 1, 0)], False, 400, True)
@settings(deadline=None, max_examples=80)
def test_narrow_neighbours_are_taken_together(rows, by_site, parts, logarithmic) -> None:
    blocks, _ = followed(rows)
    end, step = rows[-1][1] + 1, 10
    window = (0, -(-end // step) * step)
    result = blocks.cut(window, step, (0.0, 1.0), 1 / parts, by_site, logarithmic)
    want, _, _ = plain(rows)
    wide = np.array([np.log2(1 + b.size) if logarithmic else b.size for b in want], float)
    least = max(wide.sum() / parts, 1e-9)
    item = blocks.blocks[:, k.ITEM]
    assert (item >= 0).all()
    assert np.allclose(np.bincount(item, wide), blocks.wide)
    for number, of in enumerate(blocks.items):
        mine = np.flatnonzero(item == number)
        assert bool(of[k.ALONE]) == (len(mine) == 1 and wide[mine[0]] >= least)
        assert of[k.LIVE] == sum(want[b].size for b in mine if want[b].died is None)
        assert of[k.COUNT] == len(mine)
        if len(mine) > 1:
            # Nobody goes on after it is wide enough; nobody of it could stand alone.
            assert wide[mine].max() < least
            order = (
                mine if not by_site else sorted(mine, key=lambda b: blocks.rank()[blocks.blocks[b, k.SITE]])
            )
            assert wide[order[:-1]].sum() < least
        if by_site and len({want[b].site for b in mine}) > 1:
            site = blocks.blocks[mine, k.SITE]
            assert all(blocks._site_wide[s] < least for s in site)
    # What is taken together: in each cell the bytes that live at any time in it.
    cells = {(int(i), int(t[0]) // step): int(v) for i, t, v in zip(result.item, result.time, result.live,
    strict=True)
             if not blocks.items[i, k.ALONE]}  # fmt: skip
    for number, of in enumerate(blocks.items):
        if of[k.ALONE]:
            continue
        for cell in range(window[1] // step):
            mine = [want[b] for b in np.flatnonzero(item == number)]
            lives = sum(b.size for b in mine if b.born // step <= cell
                        and (b.died is None or b.died // step >= cell))  # fmt: skip
            assert cells.get((number, cell), 0) == lives


@pytest.mark.parametrize(("start", "idle"), [(5_000, 2_500), (20_000, 4_000)])
def test_what_is_taken_together_has_been_idle_for_four_windows_at_most(start, idle) -> None:
    rows = [(0, 10, 4096, 100, 0), (0, 20, 8192, 100, 0), (2, 2_500, 4096, 0, 0), (2, 2_400, 8192, 0, 0)]
    blocks, _ = followed(rows)
    result = blocks.cut((start, start + 1000), 100, (0.0, 1.0), 1.0, False, False)
    assert blocks.items[:, k.COUNT].tolist() == [2]
    assert result.age.tolist() == [[idle + 100 * cell, idle + 100 * (cell + 1)] for cell in range(10)]


def test_what_is_out_of_sight_has_no_item_and_comes_apart_when_closer() -> None:
    rows = [(0, i, 4096 * (i + 1), 100, i % SITES) for i in range(1000)]
    blocks, _ = followed(rows)
    blocks.cut((0, 1000), 10, (0.0, 1.0), 1 / 50, False, False)
    assert not blocks.items[:, k.ALONE].any()
    assert len(blocks.items) == 50
    blocks.cut((0, 1000), 10, (0.5, 0.51), 1 / 50, False, False)
    assert (blocks.low, blocks.total) == (50_000, 100_000)
    assert blocks.items[:, k.ALONE].all()
    assert 10 <= len(blocks.items) <= 12
    assert (blocks.blocks[:, k.ITEM] >= 0).sum() == len(blocks.items)
    # What comes next is created behind what is in sight.
    growing = blocks.sites._growing
    growing.add(batch([(0, 1001, 8, 5, 0)]))
    blocks.follow(growing.batches("memory", 0)[0][-1], 0)
    assert blocks.blocks[-1, k.ITEM] == -1


@pytest.mark.parametrize(
    ("before", "items", "sizes", "joins"), [(0, 0, [5], [0]), (5, 2, [1, 10, 1], [1, 1, 2])]
)
def test_what_comes_next_joins_the_last_item_until_that_is_wide_enough(before, items, sizes, joins) -> None:
    blocks = LiveBlocks(started(), PAUSE, 0)
    growing = blocks.sites._growing

    def add(row):
        growing.add(batch([row]))
        blocks.follow(growing.batches("memory", 0)[0][-1], 0)

    for i in range(before):
        add((0, i, 4096 * (i + 1), 10, i))
    blocks.cut((0, 10), 10, (0.0, 1.0), 0.5, False, False)
    assert len(blocks.items) == items
    for i, (size, item) in enumerate(zip(sizes, joins, strict=True)):
        add((0, 10 + i, 8 * (i + 1), size, 0))
        assert blocks.blocks[-1, k.ITEM] == item


def test_an_item_whose_first_block_is_dropped_begins_with_the_next() -> None:
    blocks, _ = followed([(0, i, 4096 * (i + 1), 10, i) for i in range(5)])
    blocks.cut((0, 10), 10, (0.0, 1.0), 0.5, False, False)
    growing = blocks.sites._growing
    growing.add(batch([(1, 20, 4096, 0, 0), (1, 21, 4 * 4096, 0, 0)]))
    blocks.follow(growing.batches("memory", 0)[0][-1], 0)
    blocks._compact(30)
    first = blocks.blocks[blocks.items[:, k.FIRST], k.ADDRESS]
    assert first.tolist() == [2 * 4096, 5 * 4096]


@pytest.mark.parametrize(("share", "seen"), [((0.0, 1.0), True), ((0.5, 1.0), False), ((0.0, 0.5), False)])
def test_a_new_call_site_is_in_sight_where_all_are(share, seen) -> None:
    blocks, _ = followed([(0, i, 4096 * (i + 1), 10, i) for i in range(4)])
    blocks.cut((0, 10), 10, share, 0.0, True, False)
    growing = blocks.sites._growing
    growing.add(batch([(0, 20, 8, 10, 5)]))
    blocks.follow(growing.batches("memory", 0)[0][-1], 0)
    assert (blocks.blocks[-1, k.ITEM] >= 0) == seen


def test_call_sites_are_ordered_by_width() -> None:
    rows = [(0, i, 4096 * (i + 1), size, i) for i, size in enumerate((10, 300, 20, 300))]
    blocks, _ = followed(rows)
    blocks.cut((0, 10), 10, (0.0, 1.0), 0.0, True, False)
    assert blocks.rank().tolist() == [3, 0, 2, 1]


def test_brief_blocks_and_those_that_are_past_take_no_room() -> None:
    blocks = LiveBlocks(started(), PAUSE, 5)
    growing = blocks.sites._growing
    for i in range(600):
        now = 1000 * i
        rows = [(0, now + j, 4096 * (j + 1), 64, j % SITES) for j in range(60)]
        rows += [(1, now + j + 2, 4096 * (j + 1), 0, 0) for j in range(60)]
        growing.add(batch(sorted(rows, key=lambda r: r[1])))
        blocks.follow(growing.batches("memory", 0)[0][-1], now - 3000)
    assert blocks.totals[k.ALLOCATED] == 36_000
    assert blocks.totals[k.BLOCKS_NOW] == 0
    assert len(blocks.blocks) <= 1 << 14
    assert blocks.wide.sum() == 0
    assert blocks.homeless == 0


def view(rows, window=1000):
    growing = started()
    flow = live_form("memory").make(growing, window)
    ring = Ring(flow)
    at = 0
    for tick in range(max(row[1] for row in rows) // 20 + 2):
        part = []
        while at < len(rows) and rows[at][1] < 20 * (tick + 1):
            part.append(rows[at])
            at += 1
        if part:
            growing.add(batch(part))
        ring.advance(growing.now)
        if tick % 10 == 5:
            ring.settle()
    return growing, flow, ring


def steady(n=4000, seed=1):
    rng = np.random.default_rng(seed)
    rows, live = [], []
    for i in range(n):
        if rng.random() < 0.6 or not live:
            live.append(4096 * (i + 1))
            size = 5000 if i % 500 == 0 else int(rng.integers(8, 64))
            rows.append((0, i, live[-1], size, int(rng.integers(0, SITES))))
        else:
            rows.append((int(rng.integers(1, 3)), i, live[int(rng.integers(0, len(live)))], 0, 0))
            if rows[-1][0] == 1:
                live.remove(rows[-1][2])
    return rows


def test_blocks_slide_to_their_new_places_when_the_order_changes() -> None:
    growing, flow, ring = view(steady())
    for _ in range(60):
        ring.advance(growing.now)
    assert not flow.moving

    def alone():
        items = flow.blocks.items
        which = np.flatnonzero((items[:, k.ALONE] == 1) & (items[:, k.LIVING] == 1))
        return {
            int(flow.blocks.blocks[items[i, k.FIRST], k.ADDRESS]): float(flow.arrangement.x[i, 0])
            for i in which
        }

    before = alone()
    flow.arrange(True, False)
    seen = [before]
    for _ in range(120):
        ring.advance(growing.now)
        seen.append(alone())
    assert not flow.moving
    assert flow.blocks.by_site
    after = seen[-1]
    moved = [a for a in before if a in after and abs(before[a] - after[a]) > 0.5]
    assert moved
    for address in moved:
        path = [step[address] for step in seen if address in step]
        # It goes a little further in each tick, and never leaves the picture.
        longest = max(abs(b - a) for a, b in pairwise(path))
        assert longest < 0.3 * abs(after[address] - before[address]) + 0.05
    site, span = flow.arrangement.districts()
    assert len(site) == len(set(site.tolist()))
    assert (np.diff(span[:, 0]) >= 0).all()
    assert set(flow.labels(growing.now).texts()) & {f"m.site{i}:{10 + i}" for i in range(SITES)}


def test_zooming_in_takes_apart_and_keeps_the_place_under_the_mouse() -> None:
    growing, flow, ring = view(steady())
    for _ in range(60):
        ring.advance(growing.now)
    together = flow.blocks.items[:, k.ALONE] == 0
    assert together.any()
    left, right = flow.zoom_at(7.5, 8.0)
    assert np.isclose((right - left) * 8, 1.0)
    assert np.isclose((left + right) / 2, 0.5)
    narrow = int(flow.blocks.items[together, k.COUNT].max())
    flow.zoom(left, right)
    for _ in range(80):
        ring.advance(growing.now)
    items = flow.blocks.items
    shown = items[:, k.ALONE] == 0
    assert not shown.any() or int(items[shown, k.COUNT].max()) < narrow
    for page in (*ring.pages, ring.open):
        corner = page.corner[: page.count]
        assert np.isfinite(corner).all()
        assert corner[..., 1].max(initial=0) <= 15.01
    assert "%" in flow.facts()
    flow.zoom(0.0, 1.0)
    for _ in range(80):
        ring.advance(growing.now)
    assert (flow.blocks.blocks[:, k.ITEM] >= 0).sum() >= len(flow.blocks.blocks) // 2


def test_what_is_pointed_at_is_described() -> None:
    rows = [(0, 0, 4096, 100_000, 0), (0, 5, 8192, 50_000, 1), (2, 600, 8192, 0, 0), (1, 900, 4096, 0, 0),
            (0, 950, 12288, 7, 2), (0, 960, 16384, 7, 2)]  # fmt: skip
    growing, flow, ring = view(rows)
    flow.settle()
    ring.advance(growing.now)
    result = {}
    for page in (*ring.pages, ring.open):
        for i in range(page.count):
            row = page.bars[i : i + 1]
            said = flow.describe(row, int(row.time[0].mean()), growing.now)
            assert said is not None
            result.setdefault(said.title, []).append(said)
    freed = result["Block of 97.7 KiB"][0]
    assert freed.where == "m.site0:10 · 0x1000"
    assert dict(freed.rows)["freed"] == "60 ns ago"
    assert dict(freed.rows)["lived"] == "900 ns"
    assert freed.subject.address == 4096
    lives = dict(result["Block of 48.8 KiB"][0].rows)
    assert lives["last access"] == "360 ns ago"
    assert lives["thread"] == "main"
    assert any("2 blocks" in title for title in result)
    assert "Live bytes" in result


def test_the_curves_stay_when_blocks_are_placed_anew() -> None:
    growing, flow, ring = view(steady(3000), 800)

    def curve():
        found = [page.bars.time[: page.count][page.bars.key[: page.count] == -1] for page in ring.pages]
        return np.concatenate(found)[:, 0].min()

    edge = growing.now - 800
    assert curve() <= edge
    flow.arrange(True, True)
    for _ in range(40):
        ring.advance(growing.now)
    assert edge - 20 <= curve() <= edge
    assert any("logarithms" in entry.text for entry in flow.legend().entries)


def test_entries_of_the_legend_mean_all_shades_of_what_they_say():
    rng = np.random.default_rng(3)
    n = 400
    age = rng.integers(0, 5, n)
    alone, height = rng.random(n) < 0.5, rng.random(n)
    color = color_of(height, age, alone, rng.integers(0, 2, n)).astype(np.int32)
    _, flow, _ = view(steady(300), 800)
    flow.blocks.items[:, flow.blocks.k.ALONE] = 0
    entries = {entry.text.split(":")[0]: entry.selector for entry in flow.legend().entries}
    assert np.array_equal(entries["in use"].has_color(color), age == 0)
    assert np.array_equal(entries["idle"].has_color(color), age > 0)
    assert np.array_equal(entries["ribs"].has_color(color), ~alone)


def history(series) -> SiteHistory:
    made = SiteHistory(8)
    for row in np.asarray(series, np.int64):
        made.add(row)
    return made


def test_leaks_saw_teeth_and_plateaus_are_found_and_nothing_else() -> None:
    t = np.arange(SAMPLES)
    still = np.full(SAMPLES, 5000)
    leak = 1000 + 40 * t
    teeth = 300 * (t % 8)
    step = np.where(t < 10, 100, 2000)
    noise = 3000 + 150 * ((t * 7919) % 5)
    found = history(np.stack([still, leak, teeth, step, noise], axis=1)).find(20_000)
    assert [(f.kind, f.site) for f in found] == [("saw-tooth", 2), ("leak", 1)]
    assert found[0].times == 3
    assert found[1].bytes == 40 * (SAMPLES - 1)
    # Of less than a window nothing is said: every program grows at first.
    assert not history(np.stack([leak], axis=1)[:20]).find(20_000)
    idle = np.array([50, 2000, 2000, 2000])
    flat = find_plateaus(np.array([900, 500, 400, 10]), idle, np.array([0, 1, 1, 2]), 1000, 2000)
    assert [(f.site, f.bytes, f.times, f.item) for f in flat] == [(1, 900, 2, 1)]
    assert [f.kind for f in in_turn([*found, *flat], 2)] == ["saw-tooth", "leak"]


@pytest.mark.parametrize("grows", [True, False])
def test_a_leak_is_annotated_while_it_grows(grows) -> None:
    rows = [(0, 5 * i, 4096 * (i + 1), 100, 3 if grows else 4) for i in range(600)]
    if not grows:
        rows += [(1, 5 * i + 40, 4096 * (i + 1), 0, 0) for i in range(600)]
        rows.sort(key=lambda r: r[1])
    growing, flow, _ = view(rows, 1000)
    words = [t for group in flow.labels(growing.now) if group.kind == "warning" for t in group.text]
    assert any(w.startswith("leak? m.site3:13: +") for w in words) == grows
    assert any(w.startswith("leak?") for w in words) == grows


def test_blocks_without_a_stack_belong_to_the_call_around_them() -> None:
    growing = started()
    growing.add(Batch("calls", 0, 0, 0, {
        "kind": np.array([0, 0, 1, 1], np.uint8), "thread": np.zeros(4, np.uint32),
        "function": np.array([1, 2, 2, 1], np.uint32), "time": np.array([10, 20, 30, 50]),
    }))  # fmt: skip
    flow = live_form("memory").make(growing, 1000)
    growing.add(Batch("memory", 0, 0, 0, {
        "kind": np.zeros(4, np.uint8), "thread": np.zeros(4, np.uint32), "time": np.array([15, 25, 40, 60]),
        "address": np.arange(1, 5, dtype=np.uint64) * 64, "size": np.full(4, 8), "stack": np.full(4, -1,
        np.int32),
    }))  # fmt: skip
    flow.advance()
    names = [flow.blocks.sites.name(int(s)) for s in flow.blocks.blocks[:, k.SITE]]
    assert names == ["m.site1", "m.site2", "m.site1", "(call site unknown)"]


def test_the_wall_tells_live_bytes_allocations_and_the_idle_share() -> None:
    rows = [(0, 10 * i, 4096 * (i + 1), 50, 0) for i in range(200)]
    growing, flow, ring = view(rows, 1000)
    parts = [page.bars[: page.count] for page in ring.pages]
    for number, key in enumerate((-1, -2, -3)):
        time = np.concatenate([part.time[part.key == key] for part in parts])
        value = np.concatenate([part.value[part.key == key, 1] for part in parts])
        assert (np.diff(time[:, 0]) > 0).all()
        recent = time[:, 1] > 500
        if number == 0:
            # A block of 50 bytes each 10 ns.
            assert np.allclose(value, 50 * (time[:, 1] // 10 + 1))
        elif number == 1:
            assert np.allclose(value[recent], 1e8, rtol=0.2)
        else:
            # Only what came within 20 ns is in use.
            live = 50 * (time[:, 1] // 10 + 1)
            assert np.allclose(value[recent], 1 - 150 / live[recent], atol=0.12)
    assert {"live bytes", "allocations a second", "idle share"} <= {
        entry.text for entry in flow.legend().entries
    }
    said = flow.describe(parts[0][parts[0].key == -1][:1], 900, growing.now)
    assert said is None or said.title == "Live bytes"


def test_more_blocks_than_there_is_room_for_are_counted_and_do_no_harm(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_BLOCKS", 64)
    monkeypatch.setattr(module, "_FIRST_BLOCKS", 16)
    rows = [(0, i, 4096 * (i + 1), 10, i % SITES) for i in range(200)]
    rows += [(1, 200 + i, 4096 * (i + 1), 0, 0) for i in range(200)]
    rows += [(0, 400 + i, 8192 * (i + 1), 10, 0) for i in range(30)]
    blocks, _ = followed(rows, [50] * 10)
    assert blocks.homeless == 200 - 64
    assert blocks.totals[k.BLOCKS_NOW] == 30
    assert blocks.totals[k.BYTES_NOW] == 300
    assert len(blocks.blocks) <= 64
    assert blocks.site_facts[:, k.SITE_LIVE].sum() == 300


def test_there_is_room_for_thousands_of_blocks(monkeypatch) -> None:
    monkeypatch.setattr(module, "_FIRST_BLOCKS", 16)
    blocks, _ = followed([(0, i, 4096 * (i + 1), 10, i % SITES) for i in range(5000)])
    assert (blocks.homeless, blocks.totals[k.BLOCKS_NOW]) == (0, 5000)


def test_each_stack_has_its_call_site_however_many_there_are() -> None:
    growing = started()
    first = 2 * SITES
    growing.name(Names("frames", first, tuple((i % SITES, -1, i) for i in range(first, 300))))
    sites = LiveBlocks(growing, PAUSE, 0).sites
    growing.add(batch([(0, i, 4096 * (i + 1), 10, i) for i in range(first, 300 - SITES)]))
    (whole,) = growing.batches("memory", 0)[0]
    for at in range(first, 300 - SITES):
        one = {name: column[at - first : at - first + 1] if isinstance(column, np.ndarray) else column
               for name, column in whole.items()}  # fmt: skip
        stack = int(one["stack"][0])
        assert sites.name(int(sites.of(one)[0])).endswith(f":{stack}")
    assert sites.name(-1) == sites.name(len(sites)) == "several call sites"
    # That of a stack that is not known is that of no call.
    growing.add(batch([(0, 1, 4096, 10, 0)]))
    nobody = {**growing.batches("memory", 0)[0][-1], "stack": np.full(1, -1, np.int32)}
    assert sites.of_frame(SimpleNamespace(frames={}), 9) == sites.of(nobody)[0]


@pytest.mark.parametrize(
    ("ends", "edge", "kept"),
    [([5, 1, 8, 2, 7, 3, 6, 4], 0, [8, 7, 6]), ([5, 1, 8, 2, 7, 3, 6, 4], 8, [8]), ([4] * 8, 0, [])],
)
def test_of_idle_times_the_later_half_is_remembered(ends, edge, kept, monkeypatch) -> None:
    monkeypatch.setattr(module, "_SPELLS", len(ends))
    blocks, _ = followed([(0, 0, 4096, 10, 0)])
    blocks._spells[:, 2], blocks.totals[k.SPELLS], blocks._edge = ends, len(ends), edge
    assert blocks._make_room()
    assert blocks._spells[: blocks.totals[k.SPELLS], 2].tolist() == kept


FUNCTIONS = (
    "get_data (<frozen importlib._bootstrap_external>:1070)",
    "f (/a.py:1)",
    "malloc",
    "allocate (/pool.py:3)",
)


def sites_of(*frames):
    """Return the call sites of a feed of these frames, (function, parent, line) each, and its session."""
    growing = GrowingTrace()
    growing.begin(Welcome("s", "p", 1, 0))
    growing.name(Names("functions", 0, FUNCTIONS))
    growing.name(Names("threads", 0, ((1, 1, "main"),)))
    growing.name(Names("frames", 0, frames))
    growing.add(batch([(0, 1, 8, 1, 0)]))
    return LiveBlocks(growing, PAUSE, 0).sites, growing.batches("memory", 0)[0][-1]["session"]


def test_call_sites_are_the_innermost_functions_that_do_not_pass_on_and_their_lines() -> None:
    sites, session = sites_of((0, -1, 5), (1, 0, 7), (2, 1, 3), (1, -1, 0), (9, -1, 4))
    found = [sites.of_frame(session, frame) for frame in (0, 2, 1, 3, 4, 77)]
    assert found == [0, 1, 1, 2, 3, 4]
    assert sites.names == ["get_data:5", "f:7", "f", "(function 9):4", "(call site unknown)"]
    assert sites.imports == {0}
    rows = [(0, 0), (0, -1), (1, -1), (2, 1), (0, 0)]
    of = sites.of({
        "session": session, "kind": np.array([kind for kind, _ in rows]), "time": np.arange(5),
        "stack": np.array([stack for _, stack in rows], np.int32), "thread": np.zeros(5, np.int64),
    })  # fmt: skip
    assert of[[0, 1, 3, 4]].tolist() == [0, 4, 1, 0]


def test_a_function_of_python_that_is_called_like_one_that_passes_on_does_not() -> None:
    sites, session = sites_of((1, -1, 7), (3, 0, 9))
    assert sites.name(sites.of_frame(session, 1)) == "allocate:9"


@pytest.mark.parametrize("stack", [0, 63, 64, 65, 200])
def test_the_first_stack_that_comes_may_be_any(stack) -> None:
    sites, session = sites_of(*((1, -1, line + 1) for line in range(201)))
    one = {"session": session, "kind": np.zeros(1), "stack": np.array([stack]), "thread": np.zeros(1)}
    assert sites.name(int(sites.of(one)[0])) == f"f:{stack + 1}"


@pytest.mark.parametrize(("deep", "name"), [(31, "f:7"), (32, "malloc:1")])
def test_what_passes_on_is_followed_so_far(deep, name) -> None:
    sites, session = sites_of((1, -1, 7), *((2, i, i + 1) for i in range(deep)))
    assert sites.name(sites.of_frame(session, deep)) == name


def test_what_allocates_nothing_has_no_call_site() -> None:
    sites, session = sites_of((1, -1, 7))
    sites.of({"session": session, "kind": np.ones(1), "stack": np.array([-1]), "thread": np.zeros(1)})
    assert sites.names == []


def test_the_last_call_site_is_that_of_all_others(monkeypatch) -> None:
    monkeypatch.setattr(sites_module, "MOST_SITES", 4)
    sites, session = sites_of(*((1, -1, line) for line in range(6)))
    assert [sites.of_frame(session, frame) for frame in (0, 1, 2, 3, 4, 5, 1)] == [0, 1, 2, 3, 3, 3, 1]
    assert sites.names == ["f", "f:1", "f:2", "(other call sites)"]


def test_at_first_there_is_nothing() -> None:
    blocks = LiveBlocks(started(), PAUSE, 0)
    assert (blocks.low, blocks.total, blocks.homeless) == (0, 0, 0)
    assert not blocks.by_site
    assert not blocks.logarithmic
    assert len(blocks.cut((0, 10), 10, (0.0, 1.0), 1.0, True, False)) == len(blocks.items) == 0


@pytest.mark.parametrize("address", [6, (1 << 64) - 1])
def test_addresses_are_told_apart_by_each_byte(address) -> None:
    blocks, _ = followed([(0, 1, address, 10, 0), (0, 2, 7, 10, 0), (1, 3, address, 0, 0)])
    assert (blocks.totals[k.BLOCKS_NOW], blocks.totals[k.UNKNOWN]) == (1, 0)


@pytest.mark.parametrize(
    ("forgotten", "known"),
    [
        (0, [(0, 10, 0), (10, 100, 1), (100, 120, 0)]), (4, [(4, 10, 0), (10, 100, 1), (100, 120, 0)]),
        (10, [(10, 100, 1), (100, 120, 0)]), (105, [(10, 100, 1), (105, 120, 0)]), (200, [(10, 100, 1)]),
    ],
)  # fmt: skip
def test_of_what_is_forgotten_nothing_is_said_to_be_in_use(forgotten, known) -> None:
    rows = [(0, 0, 4096, 10, 0), (2, 10, 4096, 0, 0), (2, 100, 4096, 0, 0), (1, 120, 4096, 0, 0)]
    blocks, _ = followed(rows)
    blocks._forgotten = forgotten
    found = as_rows(blocks, blocks.cut((0, 200), 200, (0.0, 1.0), 0.0, False, False))
    assert sorted(found) == [(0, *stretch) for stretch in known]
    # What is merged is looked at in cells, of which bytes are known.
    blocks, _ = followed([*rows[:3], (0, 110, 8192, 10, 0), *rows[3:]])
    for blocks._forgotten in (0, forgotten):
        found = blocks.cut((0, 200), 100, (0.0, 1.0), 1.0, False, False)
        assert found.time.tolist() == [[0, 100], [100, 200]]


def test_idle_times_beyond_those_remembered_are_forgotten_from_the_oldest(monkeypatch) -> None:
    monkeypatch.setattr(module, "_SPELLS", 16)
    rows = [(0, 0, 4096, 10, 0), *((2, 100 * i, 4096, 0, 0) for i in range(1, 100))]
    blocks, result = followed(rows)
    # What was reported when it ended is reported all the same.
    assert len(result) == 99
    assert 8 <= blocks.totals[k.SPELLS] <= 16
    again = as_rows(blocks, blocks.cut((0, 9901), 9901, (0.0, 1.0), 0.0, False, False))
    assert set(again) <= set(result)
    assert set(again) >= set(result[-8:])
