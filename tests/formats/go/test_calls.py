"""Changes of goroutines' states become calls, held against lists."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.kernels.formats.go import lay
from tracevis3d.kernels.formats.go.follow import (
    CREATED,
    GONE,
    IS_STATUS,
    RUNNABLE,
    RUNNING,
    SYSCALL,
    WAITING,
    fill_places,
)
from tracevis3d.trace.build import build_calls
from tracevis3d.trace.events import Events
from tracevis3d.trace.problems import Problems

#: Functions: ready, in a system call, and two reasons to wait; frames are below, regions above.
READY, INSIDE, WHY, REGION = 10, 11, [12, 13], 20
LAST = 40
#: What calls' times count from.
ORIGIN = 3


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.tuples(*[st.integers(0, 2)] * 2), max_size=15), max_size=4),
    st.permutations(range(3)),
)
def test_changes_are_ordered_as_sorting_does(parts, place):
    rows = [(part, *row) for part, some in enumerate(parts) for row in some]
    part, who, rank = np.array(rows, np.int64).reshape(-1, 3).T
    place = np.array(place)
    first = np.append(0, np.cumsum(np.bincount(place[who], minlength=3)))
    order, spare = np.empty((2, max(map(len, parts), default=0)), np.int64)
    kinds = np.int64, np.int64, np.uint8, np.int32, np.int32, np.int32
    columns = [np.arange(k, k + len(rows)).astype(kind) for k, kind in enumerate(kinds)]
    found = [np.full(len(rows), 99, kind) for kind in kinds]
    goroutines = np.zeros((3, lay.ORDER_COLUMNS), np.int64)
    goroutines[:, lay.CURSOR], goroutines[:, lay.SEEN] = first[:-1], -1
    lay.order_changes(
        np.cumsum([0, *map(len, parts)]), who.astype(np.int32), rank.copy(), *columns,
        place, goroutines, order, spare, *found,
    )  # fmt: skip
    assert goroutines[:, lay.CURSOR].tolist() == first[1:].tolist()
    expected = sorted(range(len(rows)), key=lambda row: (place[who[row]], part[row], rank[row]))
    assert [column.tolist() for column in found] == [[k + row for row in expected] for k in range(6)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-3, 3) | st.integers(-(1 << 60), 1 << 60), max_size=12))
def test_places_of_keys_are_the_last_ones(keys):
    found, rows = np.empty(64, np.int64), np.full(64, -1, np.int32)
    fill_places(np.array(keys, np.int64), np.arange(len(keys)), found, rows)
    there = np.flatnonzero(rows >= 0)
    assert dict(zip(found[there].tolist(), rows[there].tolist(), strict=True)) == {
        key: row for row, key in enumerate(keys)
    }


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 5), max_size=4).map(sorted), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 6)), max_size=6),
)
def test_the_last_change_before_a_moment_is_found(times, moments):
    moments = [(of % len(times), at) for of, at in moments]
    first = np.cumsum([0, *map(len, times)])
    of, at = np.array(moments, np.int64).reshape(-1, 2).T.copy()
    found = np.empty(len(moments), np.int64)
    flat = np.array([at for some in times for at in some], np.int64)
    lay.find_last_changes(first, flat, of, at, found)
    for (one, moment), row in zip(moments, found.tolist()):
        before = [first[one] + k for k, time in enumerate(times[one]) if time <= moment]
        assert row == max(before, default=-1)


def plainly_settled(goroutines):
    """Return the changes of each goroutine that say something new, with times that ascend."""
    found = []
    for changes in goroutines:
        kept, latest = [], 0
        for state, flags, time, reason, stack in changes:
            if kept and flags & IS_STATUS:
                continue
            latest = max(latest, time) if kept else time
            kept.append((state, flags, latest, reason, stack))
        found.append(kept)
    return found


def kept_rows(goroutines):
    """Return which of all changes those are."""
    flags = [(k > 0, change[1]) for some in goroutines for k, change in enumerate(some)]
    return [row for row, (is_later, flag) in enumerate(flags) if not (is_later and flag & IS_STATUS)]


def plainly_laid(goroutines, stacks, frames, roots, regions):
    """Return begins and ends of calls, in the order of each goroutine, and how many there are of each."""
    events, counts, at = [], [0] * lay.COUNTS, 0
    for who, changes in enumerate(goroutines):
        around_before = []
        for k, (state, flags, time, reason, stack) in enumerate(changes):
            before = changes[k - 1][0] if k else None
            is_last = k + 1 == len(changes)
            until = changes[k + 1][2] if not is_last else time if state == GONE else LAST
            is_away = state in (WAITING, SYSCALL, RUNNABLE)
            goes_on = state == RUNNABLE and stack < 0 and before in (WAITING, SYSCALL)
            goes_on_next = (
                not is_last
                and changes[k + 1][0] == RUNNABLE
                and changes[k + 1][4] < 0
                and state in (WAITING, SYSCALL)
            )
            around = []
            if is_away and stack >= 0 and not flags & CREATED:
                low, many = stacks[stack]
                around = frames[low : low + many][::-1]
                around = around[around[:1] == [roots[who]] :]
            if not k:
                events.append((who, lay.BEGIN, roots[who], time))
            counts[lay.CREATIONS] += bool(flags & CREATED)
            if is_away:
                events += [(who, lay.BEGIN, frame, time) for frame in around]
                of = READY if state == RUNNABLE else INSIDE if state == SYSCALL else WHY[reason]
                events.append((who, lay.BEGIN, of, time))
            counts[lay.WAITS] += state == WAITING
            counts[lay.INSIDE] += state == SYSCALL
            counts[lay.READY] += state == RUNNABLE
            counts[lay.RELEASES] += state == RUNNABLE and before == WAITING
            for kind, function, later in regions.get(at, []):
                events.append((who, kind, function, time + later))
            ends = is_away + (len(around) if is_away and not goes_on_next else 0)
            ends += (len(around_before) if goes_on else 0) + is_last
            events += [(who, lay.END, -1, until)] * ends
            around_before = around
            at += 1
    counts[lay.CALLS] = sum(kind == lay.BEGIN for _, kind, function, _ in events if function < REGION)
    return events, counts


CHANGE = st.tuples(
    st.sampled_from([RUNNABLE, RUNNING, WAITING, SYSCALL, WAITING, RUNNABLE, GONE]),
    st.sampled_from([0, 0, 0, CREATED, IS_STATUS]),
    st.integers(0, 9),
    st.integers(0, 1),
    st.integers(-1, 2),
)
REGIONS = st.lists(
    st.tuples(
        st.integers(0, 9), st.sampled_from([lay.BEGIN, lay.END]), st.integers(REGION, 21), st.integers(0, 2)
    ),
    max_size=4,
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.lists(CHANGE, min_size=1, max_size=6), min_size=1, max_size=3),
    st.lists(st.lists(st.integers(0, 2), max_size=2), min_size=3, max_size=3),
    REGIONS,
    st.booleans(),
)
def test_calls_are_those_of_begins_and_ends_in_turn(goroutines, stacks, regions, go_on):
    if go_on:
        # Times that go on, as those of a recording do.
        goroutines = [[(*one[:2], 2 * k, *one[3:]) for k, one in enumerate(some)] for some in goroutines]
    flat = [change for some in goroutines for change in some]
    first = np.cumsum([0, *map(len, goroutines)])
    state, flags, time, reason, stack = np.array(flat, np.int64).T
    frames = [frame for some in stacks for frame in some]
    low = np.cumsum([0, *map(len, stacks)])
    many, outermost = np.diff(low), low[1:] - 1
    of_stacks = outermost.copy(), many.copy(), np.array(frames, np.int32)
    byte, by = np.arange(len(flat)), np.arange(len(flat), dtype=np.int32)
    becomes, time = (state | flags).astype(np.uint8), time.copy()
    reason, stack = reason.astype(np.int32), stack.astype(np.int32)
    entry, counts = np.empty(len(goroutines), np.int64), np.zeros(lay.COUNTS, np.int64)
    opened = np.zeros(len(many), np.bool_)
    waited = np.zeros(len(WHY), np.bool_)
    lay.settle_changes(
        first, time, byte, becomes, reason, stack, by, *of_stacks, opened, waited, entry, counts
    )

    settled = plainly_settled(goroutines)
    said_of_all = [change for some in settled for change in some]
    count = len(said_of_all)
    says = zip((becomes & 7).tolist(), (becomes & ~7 & 31).tolist(), time, reason, stack)
    assert [*says][:count] == said_of_all
    assert byte[:count].tolist() == by[:count].tolist() == kept_rows(goroutines)
    assert set(np.flatnonzero(waited).tolist()) == {one[3] for one in said_of_all if one[0] == WAITING}
    assert set(np.flatnonzero(opened).tolist()) == {
        change[4]
        for change in said_of_all
        if change[0] in (WAITING, SYSCALL, RUNNABLE)
        and change[4] >= 0
        and not change[1] & CREATED
        and many[change[4]]
    }
    assert np.diff(first).tolist() == [len(some) for some in settled]
    bounds = [*zip(low[:-1].tolist(), many.tolist())]
    entries = [
        next((sum(bounds[one[4]]) - 1 for one in some if one[4] >= 0 and bounds[one[4]][1]), -1)
        for some in settled
    ]
    assert entry.tolist() == entries
    roots = [frames[at] if at >= 0 else 3 + g for g, at in enumerate(entries)]
    said = {}
    for at, kind, function, later in sorted(regions, key=lambda region: region[0]):
        if at < first[-1]:
            said.setdefault(at, []).append((kind, function, later))
    events, counted = plainly_laid(settled, bounds, frames, roots, said)
    assert counts.tolist() == counted

    rows = [
        (at, kind, function, time[at] + later, 0)
        for at, some in said.items()
        for kind, function, later in some
    ]
    given = (
        first, time, byte, becomes, reason, stack, LAST, ORIGIN,
        np.arange(len(goroutines), dtype=np.int32), np.array(roots, np.int32), READY, INSIDE,
        np.array(WHY, np.int32), *of_stacks,
        *np.array(rows, np.int64).reshape(-1, 5).T.copy(),
    )  # fmt: skip

    def laid(as_events, n):
        thread, function, depth = (np.full(n, -9, np.int32) for _ in range(3))
        kind = np.full(n, 9, np.uint8)
        start, byte, parent, end, extent, opened = (np.full(n, -9, np.int64) for _ in range(6))
        marks = [
            np.full(counts[k], -9) for k in (lay.WAITS, lay.WAITS, lay.WAITS, lay.RELEASES, lay.CREATIONS)
        ]
        out = thread, kind, function, start, byte, parent, depth, end, extent, opened
        return lay.lay_changes(as_events, *given, *marks, *out), out, marks

    fits, out, marks = laid(True, len(events))
    assert fits
    assert [*zip(*(out[k].tolist() for k in (0, 1, 2, 3)), strict=True)] == events
    waits = [k for k in range(first[-1]) if becomes[k] & 7 == WAITING]
    assert marks[0].tolist() == waits
    assert [(out[1][row], out[2][row]) for row in marks[2].tolist()] == [
        (lay.BEGIN, WHY[reason[k]]) for k in waits
    ]
    assert marks[4].tolist() == [k for k in range(first[-1]) if becomes[k] & CREATED]

    problems = Problems()
    thread, kind, function, time = (out[k] for k in (0, 1, 2, 3))
    built = build_calls(
        Events(thread, kind, function, time, time, np.empty(0, np.int64)), len(goroutines), problems, str, 0
    )
    fits, out, calls_of = laid(False, len(built.calls))
    # What does not fit is repaired; what fits needs no repair.
    assert fits or problems
    if fits:
        assert not problems
        names = "thread", "function", "start", "parent", "depth", "end", "extent"
        for name, column in zip(names, (out[0], *out[2:4], *out[5:9]), strict=True):
            from_origin = column + ORIGIN if name in ("start", "end") else column
            assert getattr(built.calls, name).tolist() == from_origin.tolist(), name
        assert calls_of[2].tolist() == built.call_of_event[marks[2]].tolist()
        for one, other in ((0, 0), (1, 1), (3, 3), (4, 4)):
            assert calls_of[one].tolist() == marks[other].tolist()
