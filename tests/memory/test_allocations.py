"""Blocks, their sites, their profiles and what is found: each kernel against a plain twin."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.features.memory.blocks import NEVER, Oddity, find_blocks
from tracevis3d.features.memory.call_sites import Sites
from tracevis3d.features.memory.curves import curves, idle_intervals, site_table
from tracevis3d.features.memory.findings import MemoryFinding, cohorts, find_memory, holes
from tracevis3d.features.memory.moments import find_moments
from tracevis3d.features.memory.pyramid import Pyramid
from tracevis3d.features.memory.summary import MemoryUse, heading, memory_facts, name_of
from tracevis3d.features.memory.tables import blocks as blocks_table
from tracevis3d.trace.model import ACCESS, ALLOC, FREE, Counters, Memory, Trace
from tracevis3d.trace.strings import Strings

#: Rows of memory: kind, address, size, and how long after the one before it.
ROWS = st.lists(
    st.tuples(
        st.sampled_from([ALLOC, ALLOC, FREE, ACCESS]),
        st.integers(0, 12),
        st.integers(0, 40),
        st.integers(0, 6),
    ),
    max_size=120,
)


def memory_of(rows) -> Memory:
    n = len(rows)
    kind, address, size, wait = (np.array([row[i] for row in rows], np.int64) for i in range(4))
    return Memory(
        np.cumsum(wait), (address * 64).astype(np.uint64), np.where(kind == ALLOC, size, 0),
        kind.astype(np.uint8), np.zeros(n, np.int32), np.full(n, -1, np.int64),
    )  # fmt: skip


def plain_blocks(memory: Memory):
    """Return [row, free row, [access times]] of each block, and the rows at which something odd happened."""
    blocks, at = [], {}
    odd = {"double_frees": [], "unknown_frees": [], "overwritten": [], "unknown_accesses": []}
    for row in range(len(memory)):
        where, kind = int(memory.address[row]), int(memory.kind[row])
        block = at.get(where)
        if kind == ALLOC:
            if block is not None and block[1] < 0:
                block[1] = row
                odd["overwritten"].append(row)
            at[where] = [row, -1, []]
            blocks.append(at[where])
        elif block is None:
            odd["unknown_frees" if kind == FREE else "unknown_accesses"].append(row)
        elif block[1] >= 0:
            odd["double_frees" if kind == FREE else "unknown_accesses"].append(row)
        elif kind == FREE:
            block[1] = row
        else:
            block[2].append(int(memory.time[row]))
    return blocks, odd


@given(ROWS)
@settings(deadline=None, max_examples=150)
def test_blocks_are_paired_as_a_dictionary_pairs_them(rows) -> None:
    memory = memory_of(rows)
    # Sizes below 0 are damage.
    memory = replace(memory, size=np.where(memory.size > 30, 30 - memory.size, memory.size))
    end = int(memory.time.max(initial=0)) + 1
    found = find_blocks(memory, end)
    wanted, odd = plain_blocks(memory)
    assert list(zip(found.row.tolist(), found.free_row.tolist())) == [(b[0], b[1]) for b in wanted]
    parts = np.split(found.access, found.first_access[1:-1]) if len(found) else []
    assert [part.tolist() for part in parts] == [b[2] for b in wanted]
    for name, at in odd.items():
        assert getattr(found, name) == Oddity(len(at), at[0] if at else -1)
    assert found.born.tolist() == [memory.time[b[0]] for b in wanted]
    assert found.died.tolist() == [memory.time[b[1]] if b[1] >= 0 else 1 << 62 for b in wanted]
    assert found.until.tolist() == [memory.time[b[1]] if b[1] >= 0 else end for b in wanted]
    assert found.size.tolist() == [max(int(memory.size[b[0]]), 0) for b in wanted]
    assert found.address.tolist() == [memory.address[b[0]] for b in wanted]
    touched = [max([int(memory.time[b[0]]), *b[2]]) for b in wanted]
    assert found.last_touch.tolist() == touched


@given(ROWS)
@settings(deadline=None, max_examples=60)
def test_facts_are_counted_row_by_row(rows) -> None:
    memory = memory_of(rows)
    end = int(memory.time.max(initial=0)) + 1
    facts = memory_facts(MemoryUse(Trace(memory=memory, span_ns=end)))
    blocks, odd = plain_blocks(memory)
    assert facts["blocks"] == len(blocks)
    if not blocks:
        return
    size = {row: int(memory.size[row]) for row, *_ in blocks}
    live = [
        sum(size[row] for row, free, _ in blocks if row <= at and not 0 <= free <= at)
        for at in range(len(memory))
    ]
    kept = [row for row, free, _ in blocks if free < 0]
    assert facts["peak_bytes"] == max(live)
    assert facts["peak_ns"] == (memory.time[live.index(max(live))] if max(live) else 0)
    assert facts["allocated_bytes"] == sum(size.values())
    drawn = facts["curves"]
    assert (sum(drawn["allocations"]), sum(drawn["allocated_bytes"])) == (len(blocks), sum(size.values()))
    assert max(drawn["live_bytes"]) == max(live)
    assert (facts["kept_blocks"], facts["kept_bytes"]) == (len(kept), sum(size[row] for row in kept))
    assert facts["accesses"] == sum(len(accesses) for *_, accesses in blocks)
    assert facts["odd"] == {name: {"count": len(at), "first_row": at[0]} for name, at in odd.items() if at}


def test_many_addresses_make_the_table_grow() -> None:
    n = 20_000
    address = np.random.default_rng(0).permutation(n).astype(np.uint64) * np.uint64(16)
    memory = Memory(
        np.arange(2 * n), np.concatenate([address, address[::-1]]), np.ones(2 * n, np.int64),
        np.repeat([ALLOC, FREE], n).astype(np.uint8), np.zeros(2 * n, np.int32), np.full(2 * n, -1, np.int64),
    )  # fmt: skip
    found = find_blocks(memory, 2 * n)
    assert (found.free_row == 2 * n - 1 - np.arange(n)).all()


def intervals(blocks):
    """Yield block, begin and end of each stretch without an access."""
    for i in range(len(blocks)):
        times = [int(blocks.born[i])]
        times += blocks.access[blocks.first_access[i] : blocks.first_access[i + 1]].tolist()
        times.append(int(blocks.until[i]))
        for begin, end in pairwise(times):
            yield i, begin, end


def plain_moments(memory: Memory, blocks, start: int, step: int, cells: int):
    """Return of each cell the most bytes that live, the first row after which, and those at its end."""
    found = []
    for c in range(cells):
        rows = [row for row in range(len(memory)) if memory.time[row] < start + c * step]
        candidates = [rows[-1] if rows else -1]
        candidates += [
            row for row in range(len(memory)) if start + c * step <= memory.time[row] < start + (c + 1) * step
        ]
        live = [
            sum(int(size) for row, free, size in zip(blocks.row, blocks.free_row, blocks.size)
                if row <= after and not 0 <= free <= after)
            for after in candidates
        ]  # fmt: skip
        found.append((max(live), candidates[live.index(max(live))], live[-1]))
    return found


@given(ROWS, st.integers(1, 30), st.integers(1, 60), st.sampled_from([1, 5, 40]), st.data())
@settings(deadline=None, max_examples=50)
def test_what_is_taken_together_looks_like_all_of_it(rows, cells, least, repeat, data) -> None:
    memory = memory_of(rows * repeat)  # enough blocks for several levels
    end = int(memory.time.max(initial=0)) + 1
    blocks = find_blocks(memory, end)
    start = data.draw(st.integers(0, end - 1))
    stop = data.draw(st.integers(start + 1, end))
    shown = np.flatnonzero((blocks.born < stop) & (blocks.died > start)).astype(np.int32)
    order = np.random.default_rng(1).permutation(shown)
    moments = find_moments(blocks, (start, stop), cells)
    if repeat == 1:
        found = list(zip(moments.live.tolist(), moments.row.tolist(), moments.after.tolist()))
        assert found == plain_moments(memory, blocks, moments.start, moments.step, len(moments))
    taken = data.draw(st.sampled_from([blocks.size, 2 * blocks.size + 1]))
    width = taken[order]
    # Groups begin anew; within them blocks lie side by side, or on each other.
    bounds = sorted({0, len(order), data.draw(st.integers(0, len(order)))})
    low = np.concatenate(
        [np.cumsum(width[a:b]) // data.draw(st.sampled_from([1, 2])) for a, b in pairwise(bounds)]
        or [np.empty(0, np.int64)]
    )
    pyramid = Pyramid(blocks, order, low, taken, moments, bounds=np.array(bounds))
    breaks = np.array(sorted(data.draw(st.sets(st.integers(0, len(order) + 1), max_size=3))), np.int64)
    items = pyramid.cut(-1.0, float(low.max(initial=0)) + 1, float(least), breaks)
    # The plain way: one after another until it is wide enough, a wide one alone.
    wanted, at, limits = [], 0, {*breaks.tolist(), *bounds}
    while at < len(order):
        first = at
        at += 1
        if width[first] < least:
            while at < len(order) and width[at] < least and at not in limits and low[at] < low[first] + least:
                at += 1
        wanted.append((first, at))
    assert list(zip(items.first.tolist(), items.stop.tolist())) == wanted
    assert items.alone.tolist() == [last - first == 1 and width[first] >= least for first, last in wanted]
    assert items.low.tolist() == [low[first] for first, _ in wanted]
    assert items.high.tolist() == [low[last - 1] + width[last - 1] for _, last in wanted]
    position = {int(block): i for i, block in enumerate(order)}
    # Lists: looking at one number of an array after another takes several times as long.
    made, freed, size, rooms, places = (
        values.tolist() for values in (blocks.row, blocks.free_row, blocks.size, taken, low)
    )
    for i, (first, last) in enumerate(wanted):
        members = set(order[first:last].tolist())
        for c, row in enumerate(moments.row[: pyramid.cells].tolist()):
            alive = [j for j in members if made[j] <= row and not 0 <= freed[j] <= row]
            assert items.live[i, c] == sum(size[j] for j in alive)
            assert items.room[i, c] == sum(rooms[j] for j in alive)
            assert not alive or items.lowest[i, c] == min(places[position[j]] for j in alive)
            left = start + c * pyramid.step
            right = left + pyramid.step
            # A block without duration is there in its cell; what ends at the edge is not there beyond it.
            there = [
                j for j in members
                if (blocks.born[j] < right and (blocks.until[j] > left or blocks.born[j] == left))
                or (c == pyramid.cells - 1 and blocks.born[j] >= right)
            ]  # fmt: skip
            since = [
                b
                for j, b, e in intervals(blocks)
                if j in there and b < right and (e > left or b == e == left)
            ]
            assert (items.since[i, c] < NEVER) == bool(there)
            if there:
                assert items.since[i, c] == min(since)
        # The last cell is as long as the others, and may end after the window.
        end_of_cells = start + pyramid.cells * pyramid.step
        touches = [b for j, b, e in intervals(blocks) if j in members and start <= b < end_of_cells]
        assert items.touches[i].sum() == len(touches)


def test_a_block_that_ends_at_the_edge_of_a_cell_is_not_in_it_though_touched_twice_then() -> None:
    rows = [(ALLOC, 0, 1, 0), (ACCESS, 0, 0, 1), (ACCESS, 0, 0, 0), (FREE, 0, 0, 0)]
    blocks = find_blocks(memory_of(rows), 2)
    moments = find_moments(blocks, (0, 2), 2)
    pyramid = Pyramid(blocks, np.arange(1, dtype=np.int32), np.zeros(1, np.int64), blocks.size, moments)
    (since,) = pyramid.cut(-1.0, 2.0, 1.0).since.tolist()
    assert since == [0, NEVER]


@given(ROWS, st.integers(-1, 60), st.integers(0, 60), st.data())
@settings(deadline=None, max_examples=100)
def test_a_cut_is_of_what_lies_in_its_part_of_the_axis(rows, left, wide, data) -> None:
    blocks = find_blocks(memory_of(rows), 1000)
    n, right = len(blocks), left + wide
    bounds = sorted({0, n, data.draw(st.integers(0, n))})
    # On each other: a wide block may reach over many that begin further right.
    each = [np.cumsum(blocks.size[a:b]) // 3 for a, b in pairwise(bounds)]
    low = np.concatenate([np.empty(0, np.int64), *each])
    lone = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
    moments = find_moments(blocks, (0, 1000), 3)
    pyramid = Pyramid(blocks, np.arange(n, dtype=np.int32), low, blocks.size, moments, lone, np.array(bounds))
    items = pyramid.cut(float(left), float(right), 1.0)
    seen = [i for i in range(n) if low[i] < right and (low[i] >= left or low[i] + blocks.size[i] > left)]
    assert [i for first, last in zip(items.first, items.stop) for i in range(first, last)] == seen
    assert (len(pyramid), pyramid.start, pyramid.step, pyramid.cells) == (n, 0, 334, 3)
    for first, last, alone in zip(items.first.tolist(), items.stop.tolist(), items.alone.tolist()):
        assert alone == (last - first == 1 and bool(lone[first]) and blocks.size[first] >= 1)


@given(ROWS, st.integers(1, 20), st.integers(1, 30), st.data())
@settings(deadline=None, max_examples=100)
def test_curves_by_looking_at_each_moment(rows, cells, recent, data) -> None:
    memory = memory_of(rows)
    end = int(memory.time.max(initial=0)) + 1
    blocks = find_blocks(memory, end)
    start = data.draw(st.sampled_from([0, 0, end // 3]))
    stop = data.draw(st.sampled_from([end, end, start, end - end // 4]))
    assert list(zip(*(column.tolist() for column in idle_intervals(blocks)))) == list(intervals(blocks))
    found = curves(blocks, (start, stop), cells, recent)
    span = max(stop - start, 1)
    assert (found.start, found.recent) == (start, recent)
    moments, near = find_moments(blocks, (start, stop), cells), range(start - 3, stop + 3)
    inside = [min(max((time - start) // found.step, 0), len(found) - 1) for time in near]
    assert moments.cell(np.array(near)).tolist() == inside
    # Cells are whole nanoseconds, as few as there may be, and there is none behind the window.
    assert found.step == -(-span // min(cells, span))
    assert len(found) == -(-span // found.step)
    wanted, _ = plain_blocks(memory)
    live, after = 0, []
    size_of = {b[0]: int(memory.size[b[0]]) for b in wanted}
    ends = {b[1]: size_of[b[0]] for b in wanted if b[1] >= 0}
    for row in range(len(memory)):
        live += size_of.get(row, 0) - ends.get(row, 0)
        after.append((int(memory.time[row]), live))
    for c in range(len(found)):
        left, right = start + c * found.step, start + (c + 1) * found.step
        before = [value for time, value in after if time < left]
        inside = [value for time, value in after if left <= time < right]
        assert found.live[c] == max([before[-1] if before else 0, *inside])
        new = [blocks.size[j] for j, t in enumerate(blocks.born.tolist()) if left <= t < right]
        assert (found.allocations[c], found.allocated[c]) == (len(new), sum(new))
        idle = sum(
            int(blocks.size[j]) for j, b, e in intervals(blocks)
            if b + recent <= right and (right < e or (e == end <= right and blocks.free_row[j] < 0))
            and e > b + recent
        )  # fmt: skip
        now = [value for time, value in after if time < right]
        assert found.idle[c] * max(now[-1] if now else 0, 1) == pytest.approx(idle)


@pytest.mark.parametrize(("recent", "idle"), [(14, [0.0, 0.0, 0.0, 1.0]), (15, [0.0] * 4)])
def test_what_was_touched_just_so_long_ago_is_not_idle(recent, idle) -> None:
    blocks = find_blocks(memory_of([(ALLOC, 0, 7, 0), (ACCESS, 0, 0, 5)]), 20)
    assert curves(blocks, (0, 20), 4, recent).idle.tolist() == idle


def test_a_single_byte_may_be_idle() -> None:
    blocks = find_blocks(memory_of([(ALLOC, 0, 1, 0), (ALLOC, 1, 0, 40)]), 41)
    assert curves(blocks, (0, 41), 4, 15).idle.tolist() == [0.0, 1.0, 1.0, 1.0]
    # Nothing lives, so nothing is idle.
    blocks = find_blocks(memory_of([(ALLOC, 0, 1, 0), (FREE, 0, 0, 5), (ALLOC, 1, 0, 35)]), 41)
    assert curves(blocks, (0, 41), 4, 15).idle.tolist() == [0.0] * 4


@given(ROWS)
@settings(deadline=None, max_examples=60)
def test_sites_are_followed_row_by_row(rows) -> None:
    memory = memory_of(rows)
    blocks = find_blocks(memory, int(memory.time.max(initial=0)) + 1)
    of = (np.arange(len(blocks)) % 3).astype(np.int32)
    sites = Sites(of, np.full(3, -1, np.int32), np.zeros(3, np.int32), ("a", "b", "c"))
    table = site_table(blocks, sites)
    live, peak, peak_row = [0] * 4, [0] * 4, [-1] * 4
    for row in range(len(memory)):
        for group in (blocks.free_row, blocks.row):
            for i in np.flatnonzero(group == row).tolist():
                for s in (int(of[i]), 3):
                    live[s] += int(blocks.size[i]) * (1 if group is blocks.row else -1)
        for s in range(4):
            if live[s] > peak[s]:
                peak[s], peak_row[s] = live[s], row
    assert table.kept.tolist() == live
    assert table.peak.tolist() == peak
    assert table.peak_row.tolist() == peak_row
    mine = [[i for i in range(len(blocks)) if of[i] == s] for s in range(3)]
    mine.append(list(range(len(blocks))))
    assert table.blocks.tolist() == [len(m) for m in mine]
    assert table.allocated.tolist() == [blocks.size[m].sum() for m in mine]
    assert table.kept_blocks.tolist() == [(blocks.free_row[m] < 0).sum() for m in mine]
    lived = [[int(blocks.until[i] - blocks.born[i]) for i in m] for m in mine]
    assert table.lifetime.tolist() == pytest.approx([sum(times) / max(len(times), 1) for times in lived])


def program(*rows) -> tuple[Trace, MemoryUse]:
    trace = Trace(memory=memory_of(rows), span_ns=sum(row[3] for row in rows) + 1)
    return trace, MemoryUse(trace)


def kinds(use: MemoryUse) -> set[str]:
    return {finding.kind for finding in use.findings}


def test_a_leak_is_what_grows_and_is_never_freed() -> None:
    leak = [(ALLOC, i, 100, 10) for i in range(40)]
    assert "leak" in kinds(program(*leak)[1])
    kept = [(ALLOC, i, 100, 1) for i in range(40)] + [(ALLOC, 99, 1, 4000)]
    assert "leak" not in kinds(program(*kept)[1])
    assert "forgotten" in kinds(program(*kept)[1])
    used = [row for row in kept if row[1] != 99] + [(ACCESS, i, 0, 100) for i in range(40)] * 2
    assert "forgotten" not in kinds(program(*used)[1])
    freed = [row for i in range(40) for row in ((ALLOC, i, 100, 5), (FREE, i, 0, 5))]
    assert not {"leak", "forgotten"} & kinds(program(*freed)[1])


def test_saw_teeth_and_churn() -> None:
    tooth = [(ALLOC, i, 100, 10) for i in range(10)] + [(FREE, i, 0, 0) for i in range(10)]
    use = program(*tooth * 5)[1]
    (found,) = [f for f in use.findings if f.kind == "saw-tooth" and f.site < 0]
    of_all = [f.site < 0 for f in use.findings]
    assert [f["site"] is None for f in memory_facts(use, 9)["findings"]] == of_all
    assert found.details["times"] == 5
    assert found.details["period_ns"] == pytest.approx(100, rel=0.1)
    assert "saw-tooth" not in kinds(program(*tooth * 2)[1])
    # Five perfect teeth, each a fiftieth of what stays beside them.
    found = [f for f in program((ALLOC, 99, 50_000, 1), *tooth * 5)[1].findings if f.kind == "saw-tooth"]
    assert {(f.details["times"], round(f.bytes, -2)) for f in found} == {(5, 900)}
    churn = [row for i in range(300) for row in ((ALLOC, i % 7, 64, 1), (FREE, i % 7, 0, 1))]
    (found,) = [f for f in program(*churn)[1].findings if f.kind == "churn"]
    assert (found.details["blocks"], found.bytes, found.details["at_once"]) == (300, 300 * 64, 64)


def test_holes_between_blocks() -> None:
    rows = [(ALLOC, i, 64, 1) for i in range(10)] + [(FREE, i, 0, 0) for i in (1, 2, 5)]
    trace, use = program(*rows, (ALLOC, 1 << 20, 64, 5))
    found = holes(use.blocks, trace.span_ns)
    assert (found.live, found.holes, found.largest, found.regions) == (8 * 64, 3 * 64, 128, 2)
    assert memory_facts(use)["fragmentation_at_end"]["hole_bytes"] == 3 * 64


def test_cohorts_live_from_the_same_moment_to_the_same() -> None:
    rows = [(ALLOC, i, 10, 0) for i in range(6)] + [(ALLOC, 9, 10, 100)]
    rows += [(FREE, i, 0, 0) for i in range(6)] + [(ALLOC, 50, 1, 500)]
    _, use = program(*rows)
    of, keys = cohorts(use.blocks)
    assert len(set(of[:6].tolist())) == 1
    assert of[6] != of[0]
    assert len(keys) == 3
    assert [f.details["blocks"] for f in use.findings if f.kind == "cohort"] == [6]


def test_nothing_at_all() -> None:
    use = MemoryUse(Trace())
    assert memory_facts(use)["blocks"] == 0
    assert find_memory(use.blocks, use.sites, use.table, True, 0.0) == ()


@pytest.mark.parametrize(("span", "end"), [(0, 1), (1, 1), (2, 2)])
def test_a_recording_lasts_a_nanosecond_at_least(span, end) -> None:
    assert MemoryUse(Trace(memory=memory_of([(ALLOC, 0, 1, 0)]), span_ns=span)).blocks.end == end


@pytest.mark.parametrize(
    ("kind", "clock"), [("coarse times", [0.0, 0.0, 7.0, 5.0]), ("no addresses", [0.0] * 4)]
)
def test_times_are_known_at_the_samples_of_counters_where_they_are_coarse(kind, clock) -> None:
    for samples, wanted in enumerate(clock):
        counters = Counters(Strings.of(["x"]), (1,), np.array([0, samples]), np.array([0, 7, 10])[:samples])
        trace = Trace(counters=counters)
        trace.problems.add(kind, "here")
        assert MemoryUse(trace).clock_ns == wanted


@given(ROWS, st.lists(st.integers(-1, 5), min_size=120, max_size=120))
@settings(deadline=None, max_examples=15)
def test_the_table_of_blocks_is_that_of_the_plain_twin(rows, calls) -> None:
    memory = replace(memory_of(rows), call=np.array(calls[: len(rows)], np.int64))
    wanted, _ = plain_blocks(memory)
    table = blocks_table(Trace(memory=memory, span_ns=int(memory.time.max(initial=0)) + 1))
    column = {
        name: table.column(name).as_list() for name in ("id", "call_id", "size", "allocated_ns", "freed_ns")
    }
    assert column["id"] == list(range(len(wanted)))
    assert column["call_id"] == [None if calls[row] < 0 else calls[row] for row, *_ in wanted]
    assert column["size"] == [int(memory.size[row]) for row, *_ in wanted]
    assert column["allocated_ns"] == [int(memory.time[row]) for row, *_ in wanted]
    assert column["freed_ns"] == [None if end < 0 else int(memory.time[end]) for _, end, _ in wanted]


def test_the_subject_of_a_finding() -> None:
    use = SimpleNamespace(sites=SimpleNamespace(name=["read:3", "write:9"]))
    assert [
        name_of(MemoryFinding(kind, site, 0, 1, 9), use)
        for kind, site in (("leak", 0), ("leak", 1), ("cohort", -1), ("peak", -1))
    ] == ["read:3", "write:9", "blocks with the same lifetime", "all blocks"]


@pytest.mark.parametrize(
    ("kind", "site", "details", "said"),
    [
        ("leak", 0, {"blocks": 3, "rises": 4, "snapshots": 9},
         "f:1 keeps 2 KiB in 3 blocks, more at 4 of 9 snapshots; what lives between two snapshots "
         "is not recorded"),
        ("leak", 0, {"blocks": 3, "share_of_blocks": 0.5},
         "f:1 keeps 2 KiB in 3 blocks that are not freed, and their number keeps growing "
         "(50 % of its blocks)"),
        ("growth", 0, {"blocks": 1}, "f:1: 2 KiB in 1 block, more and more; what keeps them is not recorded"),
        ("growth", -1, {"from": 1024, "snapshots": 9},
         "The program grows from 1 KiB to 2 KiB between 9 snapshots; what lives between them is not "
         "recorded, "
         "so this may be a leak or temporary"),
        ("forgotten", 0, {"blocks": 2}, "f:1: 2 KiB in 2 blocks, untouched for at least half of the run"),
        ("forgotten", 0, {"blocks": 2, "snapshots": 8},
         "f:1: 2 KiB in 2 blocks, untouched at all 8 snapshots in the second half of the run"),
        ("saw-tooth", -1, {"times": 5, "period_ns": 2000.4},
         "The live bytes of the program rise and fall 5 times by about 2 KiB, every 2 µs"),
        ("saw-tooth", 0, {"times": 5, "sites": 2},
         "the live bytes of f:1 rise and fall 5 times by about 2 KiB, those of 2 call sites, too"),
        ("churn", 0, {"blocks": 1234, "at_once": 512},
         "f:1 allocates 1,234 short-lived blocks, 2 KiB in all, of which at most 512 B are "
         "live at the same time"),
        ("imports", -1, {"blocks": 7}, "Imported modules keep 2 KiB in 7 blocks: no leak"),
        ("fragmentation", -1, {"when": "most", "share": 0.25, "largest": 1024},
         "When most memory is in use, 2 KiB between the blocks were freed and are not used again, 25 % of "
         "the "
         "memory there; the largest hole has 1 KiB"),
        ("cohort", -1, {"blocks": 6, "freed": True},
         "6 blocks, 2 KiB, have the same lifetime: from about 1 µs to 9 µs"),
        ("cohort", -1, {"blocks": 6, "freed": False},
         "6 blocks, 2 KiB, have the same lifetime: from about 1 µs on, not freed"),
    ],
)  # fmt: skip
def test_findings_in_sentences(kind, site, details, said) -> None:
    use = SimpleNamespace(
        sites=SimpleNamespace(name=["f:1"]), blocks=SimpleNamespace(access=[1]), has_addresses=True,
        has_times=True,
    )  # fmt: skip
    found = MemoryFinding(kind, site, 1000, 9000, 2048, details)
    assert heading(found, use) == said
    assert heading(replace(found, how="inferred"), use).lower() == f"probably: {said}".lower()
