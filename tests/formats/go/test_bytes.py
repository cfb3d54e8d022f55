"""The bytes of Go's execution traces, read plainly."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.formats.go import batches as new
from tracevis3d.formats.go import old
from tracevis3d.kernels.formats.go import follow, scan, scan_old
from tracevis3d.trace.problems import Problems

DATA = ROOT / "tests" / "data" / "go"
BYTES = {
    is_old: gzip.decompress((DATA / f"shop_{name}.go.trace.gz").read_bytes())
    for is_old, name in ((False, "1_26"), (True, "1_19"))
}
HALF = 1 << 63
#: Kinds of events since Go 1.22 and their numbers.
WORDS = {
    7: 5, 8: 1, 9: 3, 10: 3, 11: 1, 12: 4, 13: 3, 14: 4, 15: 2, 16: 3, 17: 1, 18: 1, 19: 3, 20: 3, 21: 4,
    22: 3, 23: 1, 24: 1, 25: 4, 26: 3, 27: 1, 28: 2, 29: 3, 30: 2, 31: 2, 32: 2, 33: 3, 34: 2, 35: 2, 36: 1,
    37: 2, 38: 2, 39: 2, 40: 5, 41: 3, 42: 4, 43: 4, 44: 5, 45: 3, 46: 3, 47: 4, 48: 5, 51: 4, 52: 1,
}  # fmt: skip
TOLD = 9, 26, 27, 29, 30, 35, 36, 37, 38, 40, 41, 42, 43, 44


class Cut(Exception):
    """The bytes end."""


def number(data, at, stop):
    """Return a variable-length number and what follows it."""
    value = shift = 0
    while at < stop and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            value &= (1 << 64) - 1
            return value - (1 << 64) * (value >> 63), at
    raise Cut


def numbers(data, at, stop, many):
    found = []
    for _ in range(many):
        value, at = number(data, at, stop)
        found.append(value)
    return found, at


def stack_of(data, at, stop):
    """Return the number and frames of a stack, and what follows it."""
    (key, many), at = numbers(data, at, stop, 2)
    if not 0 <= many <= 4096:
        raise Cut
    frames = []
    for _ in range(many):
        words, at = numbers(data, at, stop, 4)
        frames.append(tuple(words[1:]))
    return key, frames, at


def text_of(data, at, stop):
    (key, many), at = numbers(data, at, stop, 2)
    if not 0 <= many <= stop - at:
        raise Cut
    return key, (at, many), at + many


def plainly_new(data):
    """Read a trace of Go 1.22 or later entry by entry."""
    events, texts, stacks, batches = [], [], [], []
    at = 16
    try:
        while at < len(data):
            what, at = data[at], at + 1
            if what == 52:
                continue
            if what not in (1, 49):
                break
            (generation, stream, now, size), at = numbers(data, at + (what == 49), len(data), 4)
            stop = at + size if 0 <= size <= len(data) - at else len(data)
            begun, first, last, before = now, at, at, len(events)
            try:
                while what == 1 and at < stop:
                    place, kind, at = at, data[at], at + 1
                    if kind in (2, 4, 6, 50):
                        continue
                    last = place
                    if kind == 5:
                        key, said, at = text_of(data, at, stop)
                        texts.append((generation, key, *said))
                    elif kind == 3:
                        key, frames, at = stack_of(data, at, stop)
                        stacks.append((generation, key, frames))
                    else:
                        many = WORDS.get(kind)
                        if many is None:
                            break
                        words, at = numbers(data, at, stop, many)
                        if kind not in (8, 51):
                            delta, *words = words
                            now = delta if kind == 7 else now + delta
                            now = (now + HALF) % (2 * HALF) - HALF
                        events.append((place, generation, stream, begun, now, kind, *words))
                    last = at
            except Cut:
                pass
            if any(kind not in (8, 51) for *_, kind in (event[:6] for event in events[before:])):
                batches.append((stream, generation, begun, first, last))
            at = stop
    except Cut:
        pass
    return events, texts, stacks, batches


def plainly_old(data):
    """Read a trace of Go 1.21 or before entry by entry."""
    events, texts, stacks = [], [], []
    stream, begun, now, at = -1, 0, 0, 16
    try:
        while at < len(data):
            place, kind, many, at = at, data[at] & 0x3F, (data[at] >> 6) + 1, at + 1
            if kind == 37:
                key, said, at = text_of(data, at, len(data))
                texts.append((0, key, *said))
                continue
            stop = len(data)
            if many == 4:
                size, at = number(data, at, len(data))
                if not 0 <= size <= len(data) - at:
                    break
                stop = at + size
            if not 0 < kind < 50:
                break
            if kind == 3:
                key, frames, _ = stack_of(data, at, stop)
                stacks.append((0, key, frames))
                at = stop
                continue
            words = []
            while at < stop if many == 4 else len(words) < many:
                word, at = number(data, at, stop)
                words.append(word)
            if kind == 1:
                if words:
                    stream = words[0]
                if len(words) > 1:
                    now = words[-1]
                begun = now
                continue
            if kind not in (2, 35) and words:
                delta, *words = words
                now += delta
            if kind == 48:
                size, at = number(data, at, len(data))
                if not 0 <= size <= len(data) - at:
                    break
                texts.append((0, -at, at, size))
                words = [*[*words, 0, 0, 0, 0][:4], -at]
                at += size
            events.append((place, 0, stream, begun, now, kind, *words))
    except Cut:
        pass
    return events, texts, stacks


def wide(rows):
    """Return events with all columns, as int64 has them."""
    full = [(row[0], *row[2:], 0, 0, 0, 0, 0)[: scan_old.EVENT_COLUMNS] for row in rows]
    return [tuple((value + HALF) % (2 * HALF) - HALF for value in row) for row in full]


def same_old(data):
    _, out = old.scanned(np.frombuffer(data, np.uint8), 16)
    events, texts, stacks = plainly_old(data)
    assert [tuple(row) for row in out[0].T.tolist()] == wide(events)
    same_names(out, texts, stacks)


def same_names(tables, texts, stacks):
    assert [tuple(row) for row in tables[1].tolist()] == texts
    rows, frames = tables[2].tolist(), [tuple(row) for row in tables[3].tolist()]
    assert [(gen, key, frames[low : low + many]) for gen, key, low, many in rows] == stacks


def plainly_changes(events, texts, stacks):
    """Return changes of states and other events of a trace of Go 1.22 or later, event by event.

    A change has its goroutine, place in the order, time, state, reason, stack, who did it and byte.
    """
    clock = {}
    for _, generation, _, _, _, kind, *words in events:
        if kind == 8 and words[0] > 0:
            clock.setdefault(generation, words[0])
    events = [event for event in events if event[5] not in (8, 51)]
    base = min((event[4] for event in events if event[4] >= 0), default=0)

    def nanoseconds(event):
        known = [generation for generation in sorted(clock) if generation >= event[1]]
        tick = 1e9 / clock[known[0] if known else max(clock)] if clock else 1.0
        first, later = base * tick, (event[4] - base) * tick
        return round(first) + round(later) if event[4] >= 0 and first + later < 1 << 61 else None

    timed = [(*event, nanoseconds(event)) for event in events]
    timed = sorted((event for event in timed if event[-1] is not None), key=lambda e: e[1:4])
    text_of = {(generation, key): row for row, (generation, key, *_) in enumerate(texts)}
    stack_of = {(generation, key): row for row, (generation, key, _) in enumerate(stacks)}
    elsewhere = [
        (event[7], event[1], row, event[6])
        for row, event in enumerate(timed)
        if event[5] in (25, 48) and event[8] in (2, 3) and event[7] != event[2]
    ]
    changes, others = [], []
    running, applied = {}, set()
    for place, generation, stream, _, _, kind, *words, now in timed:
        runs, before = running.get(stream, (-1, (0, 0)))
        for one in sorted(elsewhere):
            if one[0] == stream and one[1] <= generation and one not in applied:
                applied.add(one)
                runs, before = one[3], (0, 0)
        a, b, c, d = [*words, 0, 0, 0, 0][:4]
        after = before[1] if before[0] == generation else 0

        def add(
            who, order, state, reason=None, stack=-1, by=-1, is_status=False, said=(generation, now, place)
        ):
            if who > 0:
                rank = said[0], order, not is_status
                by = by if by > 0 else -1
                changes.append((who, rank, said[1], state, reason, stack, by, said[2], is_status))

        if kind in TOLD:
            others.append((place, generation, now, kind, runs if runs > 0 else -1, a, b, c, d))
        elif kind == 14:
            add(a, 0, "runnable, created", None, stack_of.get((generation, b), -1), runs)
        elif kind == 47:
            add(a, 0, "waiting, created", "not started", stack_of.get((generation, b), -1), runs)
        elif kind == 15:
            add(a, 0, "syscall")
        elif kind == 16:
            add(a, b, "running")
        elif kind in (17, 18):
            add(runs, after, "gone")
        elif kind in (19, 20):
            row = text_of.get((generation, a), -1)
            state = "runnable" if kind == 19 else "waiting"
            add(runs, after, state, row, stack_of.get((generation, b), -1))
        elif kind == 21:
            add(a, b, "runnable", by=runs)
        elif kind == 22:
            add(runs, after, "syscall", stack=stack_of.get((generation, b), -1))
        elif kind == 23:
            add(runs, after, "running")
        elif kind == 24:
            add(runs, after, "runnable")
        elif kind in (45, 46):
            add(runs, after, "waiting" if kind == 45 else "gone", "coroutine switch" if kind == 45 else None)
            add(a, b, "running", by=runs)
        elif kind in (25, 48) and c > 0:
            state = {1: "runnable", 2: "running", 3: "syscall"}.get(c, "waiting")
            reason = "waiting since before the recording" if state == "waiting" else None
            stack = stack_of.get((generation, d), -1) if kind == 48 else -1
            add(a, 0, state, reason, stack, is_status=True)
        if kind in (16, 45, 46):
            runs, before = a, (generation, b)
        elif kind == 15 or (kind in (25, 48) and c in (2, 3) and b == stream):
            runs, before = a, (0, 0)
        elif kind in (17, 18, 19, 20, 24):
            runs, before = -1, (0, 0)
        running[stream] = runs, before
    begun = {}
    for who, (generation, *_), *_ in changes:
        begun[who] = min(begun.get(who, generation), generation)
    # What is known already needs no status.
    changes = [change for change in changes if not change[-1] or change[1][0] == begun[change[0]]]
    return sorted(changes, key=lambda change: change[:2]), others


STATES = {
    "runnable": follow.RUNNABLE, "running": follow.RUNNING, "waiting": follow.WAITING,
    "syscall": follow.SYSCALL, "gone": follow.GONE, "created": follow.CREATED,
}  # fmt: skip


def same_new(data):
    state, found = new.scanned(np.frombuffer(data, np.uint8), 16)
    events, texts, stacks, batches = plainly_new(data)
    columns = [scan.STREAM, scan.GENERATION, scan.TIME, scan.FIRST, scan.STOP]
    assert [tuple(row) for row in found[0][:, columns].tolist()] == batches
    same_names(found, texts, stacks)
    says = [(generation, words[0]) for _, generation, _, _, _, kind, *words in events if kind == 8]
    assert [tuple(row) for row in found[4].tolist()] == says

    tables, changes = new.read_batches(memoryview(data), 16, Problems())
    expected, others = plainly_changes(events, texts, stacks)
    numbers = changes.numbers.tolist()
    assert numbers == sorted({change[0] for change in expected})
    whose = np.repeat(changes.numbers, np.diff(changes.first)).tolist()
    mine = []
    for row, who in enumerate(whose):
        reason, by = int(changes.reason[row]), int(changes.by[row])
        why = changes.reasons[changes.reason_of[reason]] if reason >= 0 else None
        by = numbers[changes.place[by]] if by >= 0 else -1
        mine.append(
            (who, changes.time[row], changes.becomes[row], why, changes.stack[row], by, changes.byte[row])
        )
    said = [data[low : low + many].decode(errors="replace") for _, _, low, many in texts]
    theirs = []
    for who, _, time, state, reason, stack, by, place, is_status in expected:
        flags = sum(STATES[name] for name in state.split(", ")) + follow.IS_STATUS * is_status
        why = ("" if reason < 0 else said[reason]) if isinstance(reason, int) else reason
        theirs.append((who, time, flags, why, stack, by, place))
    assert mine == theirs
    columns = tables.at, tables.generation, tables.time, tables.kind
    running = [numbers[one] if one >= 0 else -1 for one in tables.running.tolist()]
    assert [*zip(*(one.tolist() for one in columns), running, *tables.said.tolist())] == others


@pytest.mark.parametrize("is_old", [False, True])
def test_recordings_are_what_their_bytes_say(is_old):
    (same_old if is_old else same_new)(BYTES[is_old])


@settings(max_examples=60, deadline=None)
@given(st.booleans(), st.data())
def test_damaged_bytes_are_read_as_far_as_a_plain_reading_gets(is_old, data):
    whole = BYTES[is_old]
    low = data.draw(st.integers(16, len(whole) - 1))
    changed = bytearray(whole[:16] + whole[16 : min(low + 2000, len(whole))])
    for at in data.draw(st.lists(st.integers(16, len(changed) - 1), max_size=4)):
        changed[at] = data.draw(st.integers(0, 255))
    (same_old if is_old else same_new)(bytes(changed))


def varint(value):
    found = []
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


FEW = st.integers(0, 3)
EVENT = st.sampled_from([*WORDS, *[16, 19, 20, 21, 22, 45] * 4]).flatmap(
    lambda kind: st.tuples(*[FEW] * WORDS[kind]).map(
        lambda words: bytes([kind]) + b"".join(map(varint, words))
    )
)
#: Who runs where.
RUNS = st.tuples(FEW, FEW, FEW, st.integers(2, 3)).map(lambda words: bytes([25, *words]))
TEXT = FEW.map(lambda key: bytes([4, 5, key, 1]) + b"abcd"[key : key + 1])
TRACE_STACK = st.tuples(FEW, st.lists(st.tuples(*[FEW] * 4), max_size=2)).map(
    lambda said: bytes([2, 3, said[0], len(said[1]), *(word for frame in said[1] for word in frame)])
)
TICKS = st.sampled_from([bytes([8]) + varint(many) for many in (1, 7, 10**9, 1 << 40)])
BATCH = st.tuples(
    FEW,
    FEW,
    st.integers(0, 9) | st.just(1 << 62),
    st.lists(RUNS | EVENT | TEXT | TRACE_STACK | TICKS, max_size=12),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(BATCH, max_size=6))
def test_what_goroutines_do_is_what_each_event_says_in_turn(batches):
    made = [BYTES[False][:16]]
    for generation, stream, time, entries in batches:
        body = b"".join(entries)
        made.append(b"\1" + b"".join(map(varint, (generation, stream, time, len(body)))) + body)
    same_new(b"".join(made))


def test_more_goroutines_than_were_brought_up_are_told_apart():
    events = b"".join(bytes([16, 1]) + varint(1 + k % 5000) + b"\1" for k in range(9000))
    same_new(BYTES[False][:16] + b"\1\1\1\1" + varint(len(events)) + events)
