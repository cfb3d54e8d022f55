"""Blocks packed along the axis: what is freed is used again, and what is drawn is what lives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracevis3d.api import load
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.memory.blocks import find_blocks
from tracevis3d.features.memory.moments import find_moments
from tracevis3d.features.memory.packing import pack_groups, stack
from tracevis3d.features.memory.view.arrangement import arrange, memory_use
from tracevis3d.features.memory.view.layout import compose
from tracevis3d.features.memory.view.parameters import Parameters
from tracevis3d.features.memory.view.view import VIEW
from tracevis3d.formats.names import split
from tracevis3d.progress import silent
from tracevis3d.trace.model import ALLOC, FREE, Memory, Source, Trace
from tracevis3d.trace.recording import Recording

#: A block: its site, its size, how long after the one before it comes, how long it lives (0: for ever).
PROGRAM = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 5), st.integers(0, 30)), max_size=60
)


def memory_of(program) -> tuple[Memory, list[int]]:
    """Return the rows of a program, and the site of each block."""
    rows, time = [], 0
    for i, (_, size, wait, lives) in enumerate(program):
        time += wait
        rows.append((time, 1, i, ALLOC, size))
        if lives:
            rows.append((time + lives, 0, i, FREE, 0))
    rows.sort()
    time_, _, i, kind, size = (list(column) for column in zip(*rows)) if rows else ([],) * 5
    memory = Memory(
        np.array(time_, np.int64), np.array(i, np.uint64) << np.uint64(8), np.array(size, np.int64),
        np.array(kind, np.uint8), np.zeros(len(rows), np.int32), np.full(len(rows), -1, np.int64),
    )  # fmt: skip
    return memory, [site for site, *_ in program]


def plain_first_fit(blocks, group: list[int], taken: list[int]) -> list[int]:
    """Return where each block lies from the beginning of its group, by looking at all that live."""
    low = [0] * len(blocks)
    for i in range(len(blocks)):
        row = blocks.row[i]
        beside = sorted(
            (low[j], low[j] + taken[j]) for j in range(i)
            if group[j] == group[i] and taken[j] and not 0 <= blocks.free_row[j] <= row
        )  # fmt: skip
        at = 0
        for begin, end in beside:
            if begin - at >= taken[i]:
                break
            at = max(at, end)
        low[i] = at if taken[i] else 0
    return low


@given(PROGRAM, st.sampled_from([1, 3]), st.sampled_from([4, 64]))
@settings(deadline=None, max_examples=150)
def test_each_block_lies_in_the_first_free_place_of_its_group(program, times, cells) -> None:
    memory, site = memory_of(program * times)
    end = int(memory.time.max(initial=0)) + 1
    blocks, moments = find_blocks(memory, end), None
    moments = find_moments(blocks, (0, end), cells)
    of = np.array(site, np.int32)
    packed = pack_groups(blocks, np.arange(len(blocks), dtype=np.int32), of, 4, blocks.size, moments)
    assert sorted(packed.order.tolist()) == list(range(len(blocks)))
    # Which group is which: small sites, if any, are one group, the first.
    names = packed.districts.site.tolist()
    group_of = [names.index(s if s in names else -1) for s in site]
    of_position = np.repeat(np.arange(len(names)), np.diff(packed.bounds))
    assert [group_of[block] for block in packed.order.tolist()] == of_position.tolist()
    wanted = plain_first_fit(blocks, group_of, blocks.size.tolist())
    for group in range(len(names)):
        mine = slice(packed.bounds[group], packed.bounds[group + 1])
        # They lie from the far end on: the first of them ends where their district does.
        far = int(packed.districts.high[group])
        for block, low in zip(packed.order[mine].tolist(), packed.low[mine].tolist()):
            assert far - low - blocks.size[block] == wanted[block]
    # Nothing lies on anything else that lives at the same time, whatever the groups.
    place = np.empty(len(blocks), np.int64)
    place[packed.order] = packed.low
    for i in range(len(blocks)):
        for j in range(i):
            together = blocks.free_row[j] < 0 or blocks.free_row[j] > blocks.row[i]
            if together and blocks.size[i] and blocks.size[j]:
                assert place[i] + blocks.size[i] <= place[j] or place[j] + blocks.size[j] <= place[i]
    assert (place >= 0).all()
    assert packed.total == (place + blocks.size).max(initial=0)


@given(PROGRAM, st.sampled_from([1, 4]), st.data())
@settings(deadline=None, max_examples=60)
def test_sites_of_which_much_lives_have_a_district_those_longest_that_are_full_first(
    program, cells, data
) -> None:
    # What lives at once is far more than some sites ever have.
    program = [(0, 2_000, 0, 0)] * data.draw(st.sampled_from([0, 1])) + program
    memory, site = memory_of(program)
    end = int(memory.time.max(initial=0)) + 1
    blocks = find_blocks(memory, end)
    moments, of = find_moments(blocks, (0, end), cells), np.array(site, np.int32)
    chosen = np.array(sorted(data.draw(st.sets(st.integers(0, len(blocks))))), np.int32)
    chosen = chosen[chosen < len(blocks)]
    packed = pack_groups(blocks, chosen, of, 4, blocks.size, moments)
    live = {
        s: [
            sum(
                int(blocks.size[i]) for i in chosen
                if of[i] == s and blocks.row[i] <= row and not 0 <= blocks.free_row[i] <= row
            )
            for row in moments.row.tolist()
        ]
        for s in range(4)
    }  # fmt: skip
    least = max(moments.live.max() / 400, 1)
    large = {s for s in live if max(live[s]) >= least}
    names = packed.districts.site.tolist()
    few = {int(of[i]) for i in chosen} - large
    assert names[:1] == [-1] if few or not large else -1 not in names
    ordered = [s for s in names if s >= 0]
    assert sorted(ordered) == sorted(large)
    full = [sum(live[s]) / max(live[s]) for s in ordered]
    assert full == pytest.approx(sorted(full, reverse=True))
    # A district is as wide as its blocks reach.
    for k, (low, high) in enumerate(zip(packed.districts.low.tolist(), packed.districts.high.tolist())):
        mine = slice(packed.bounds[k], packed.bounds[k + 1])
        wide = blocks.size[packed.order[mine]] > 0
        assert low == min(packed.low[mine][wide], default=high)
        assert high == max((packed.low[mine] + blocks.size[packed.order[mine]])[wide], default=high)


@pytest.mark.parametrize(("most", "together"), [(800, False), (802, True)])
def test_a_site_is_small_below_a_four_hundredth_of_what_lives(most, together) -> None:
    memory, site = memory_of([(0, most - 2, 0, 0), (1, 2, 1, 0)])
    blocks = find_blocks(memory, 10)
    made = pack_groups(
        blocks, np.arange(2, dtype=np.int32), np.array(site, np.int32), 2, blocks.size,
        find_moments(blocks, (0, 10), 5),
    )  # fmt: skip
    assert (-1 in made.districts.site) == together


@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), max_size=6))
def test_groups_are_stacked_after_what_lies_there_at_their_times(extent) -> None:
    base = stack(np.array(extent, np.int64).reshape(-1, 4))
    for i, mine in enumerate(extent):
        before = [base[j] + extent[j][c] for j in range(i) for c in range(4) if mine[c] and extent[j][c]]
        assert base[i] == max(before, default=0)


def trace_of(program) -> Trace:
    memory, site = memory_of(program)
    recording = Recording()
    thread = recording.thread(1, 1)
    recording.add_stacks(
        function=[recording.function(f"site{i}") for i in range(4)], parent=[-1] * 4, line=[7] * 4
    )
    stack_ = np.full(len(memory), -1, np.int64)
    stack_[memory.kind == ALLOC] = site
    recording.add_memory(
        time=1000 * memory.time, address=memory.address, size=memory.size, kind=memory.kind,
        thread=np.full(len(memory), thread), stack=stack_,
    )  # fmt: skip
    return recording.finish(Source(path="run.records.tsv"), split)


def compared_moments(trace: Trace, parameters: Parameters) -> int:
    """Hold the widths of all that is drawn to the bytes that live, at each moment; return how many there are.

    Moments after which something else happens sooner than a drawing's coordinates can tell are left out.
    """
    frame = Frame()
    drawing = VIEW.draw((trace,), parameters, frame, silent)
    blocks, picture = memory_use(trace).blocks, compose(trace, parameters, frame)
    unit = picture.arrangement.total / picture.wide
    # What is allocated at the end lives no time, and alone it leaves nothing to draw.
    drawn_blocks = [e.corner for e in drawing.elements if e.kind in ("block", "block cluster")]
    corner = np.concatenate([np.zeros((0, 8, 3)), *(c.reshape(-1, 8, 3) for c in drawn_blocks)])
    low, high = corner.min(axis=1), corner.max(axis=1)
    moments, time = find_moments(blocks, picture.window), trace.memory.time
    begin, end = picture.window
    compared = 0
    for cell, row in enumerate(moments.row.tolist()):
        after = max(int(time[row]), int(moments.edge[cell])) if row >= 0 else int(moments.edge[cell])
        until = min(int(time[row + 1]) if row + 1 < len(time) else end, int(moments.edge[cell + 1]), end)
        y = picture.deep * (end - (after + until) / 2) / (end - begin)
        if (until - after) * picture.deep / (end - begin) < 1e-5:
            continue
        there = (high[:, 1] > y) & (low[:, 1] <= y)
        alive = (blocks.row <= row) & ~((blocks.free_row >= 0) & (blocks.free_row <= row))
        drawn = (high - low)[there, 0].sum() * unit
        assert drawn == pytest.approx(blocks.size[alive].sum(), abs=2e-6 * picture.arrangement.total * 30)
        # And nothing lies on anything else.
        order = np.argsort(low[there, 0])
        left, right = low[there, 0][order], high[there, 0][order]
        assert (left[1:] >= right[:-1] - 1e-5).all()
        compared += 1
    return compared


@given(PROGRAM)
@example([(0, 0, 0, 0), (0, 1, 1, 0)])
@settings(deadline=None, max_examples=25)
def test_what_is_drawn_is_what_lives(program) -> None:
    trace = trace_of(program)
    if len(memory_use(trace).blocks) and memory_use(trace).blocks.size.any():
        order = "site" if len(program) % 2 else "fit"
        compared_moments(trace, Parameters(order=order, findings=0, curves=False, resolution=40.0))


@pytest.mark.parametrize(
    ("file", "most", "wide"), [("memray_markdown", 200, 1.25), ("memray_pillow_threads", 100, 1.4)]
)
def test_recorded_memory_is_drawn_as_it_lives_and_the_axis_is_about_its_peak(
    recorded, file, most, wide
) -> None:
    trace = load(recorded / f"{file}.records.tsv.gz")
    parameters = Parameters(findings=0)
    assert compared_moments(trace, parameters) >= most
    peak = int(memory_use(trace).table.peak[-1])
    made = arrange(trace, parameters, (0, trace.span_ns))
    assert peak <= made.total <= wide * peak
    # The paper's axis is all that is ever allocated.
    made = arrange(trace, Parameters(order="creation"), (0, trace.span_ns))
    assert made.total == memory_use(trace).blocks.size.sum()
