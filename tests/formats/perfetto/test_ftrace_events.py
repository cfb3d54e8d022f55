"""The scheduler's events in bundles, held against a plain twin, damaged ones too."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.profiles.test_wire import written
from tracevis3d.kernels.formats.protobuf import ftrace_events as k
from tracevis3d.kernels.formats.protobuf.fields import (
    S_BYTE,
    S_DAMAGED,
    S_MESSAGE,
    S_ODD,
    S_ODD_NUMBER,
    TAKE_STATE_SIZE,
)
from tracevis3d.kernels.intern import InternedNames

FIELDS = {"stamp": 1, "pid": 2, "flags": 5, "switch": 4, "waking": 20, "wakeup": 17, "print": 3}
numbers = st.one_of(st.integers(0, 300), st.integers(-(1 << 63), (1 << 63) - 1))
names = st.sampled_from([b"", b"a", b"worker-1", b"a rather long name", b"\xff"])


def message(**kinds):
    """Fields of a message by number, now and then of another kind on the wire."""
    fields = [
        st.tuples(st.just(int(number[1:])), kind | st.just(0) | st.just(b""))
        for number, kind in kinds.items()
    ]
    return st.lists(st.one_of(*fields), max_size=6).map(written)


switches = message(_1=names, _2=numbers, _3=numbers, _4=numbers, _5=names, _6=numbers)
wakes = message(_1=names, _2=numbers, _7=names)
events = message(_1=numbers, _2=numbers, _5=numbers, _4=switches, _20=wakes, _17=wakes, _3=names)
bundles = message(_1=st.integers(0, 9), _2=events, _4=names)


class Twin:
    """What the kernel finds, by a loop over each message's fields."""

    def __init__(self, data, bounds):
        self.data = data
        self.switches, self.wakes, self.prints, self.columns, self.others = [], [], [], [], 0
        self.damage = [[0, 0, 0, 0, 0] for _ in range(k.LEVELS)]
        for first, stop in bounds:
            self.bundle(first, stop)

    def varint(self, at, stop):
        value = shift = 0
        while at < stop and shift < 64:
            value |= (self.data[at] & 127) << shift
            if self.data[at] < 128:
                value &= (1 << 64) - 1
                return value - (value >> 63 << 64), at + 1
            at, shift = at + 1, shift + 7
        return 0, -1

    def fields(self, level, first, stop, numbers, pieces):
        """Yield the wanted fields: number and value, or first and last byte; note what is wrong."""
        at, noted = first, self.damage[level]
        while at < stop:
            place = at
            tag, at = self.varint(at, stop)
            tag &= (1 << 64) - 1
            field, value, length = tag >> 3, 0, -1
            if at >= 0 and field and tag & 7 == 0:
                value, at = self.varint(at, stop)
            elif at >= 0 and field and tag & 7 == 2:
                length, at = self.varint(at, stop)
            elif at >= 0 and field and tag & 7 in (1, 5):
                length = 8 if tag & 7 == 1 else 4
            else:
                at = -1
            if at < 0 or (tag & 7 and not 0 <= length <= stop - at):
                if not noted[0]:
                    noted[1:3] = place, stop
                noted[0] += 1
                return
            begin, at = at, at + max(length, 0)
            if field in numbers or field in pieces:
                if (field in pieces) == (tag & 7 != 0):
                    yield field, value if field in numbers else (begin, at)
                else:
                    noted[4] = noted[4] if noted[3] else field
                    noted[3] += 1

    def bundle(self, first, stop):
        cpu, mine, pieces = 0, [], []
        for field, value in self.fields(k.BUNDLES, first, stop, {1}, {2, 4}):
            if field == 1:
                cpu = value
            elif field == 4:
                pieces.append(value)
            else:
                mine.append(self.event(*value))
        for switched, woken in mine:
            self.switches += [(row[0], cpu, *row[1:]) for row in switched]
            self.wakes += [(row[0], cpu, *row[1:]) for row in woken]
        self.columns += [(*piece, cpu) for piece in pieces]

    def event(self, first, stop):
        head, switched, woken, printed = {1: 0, 2: 0, 5: 0}, [], [], []
        for field, value in self.fields(k.EVENTS, first, stop, {1, 2, 5}, {3, 4, 17, 20}):
            if field in head:
                head[field] = value
            elif field == 4:
                said = {1: (0, 0), 2: 0, 4: 0, 5: (0, 0), 6: 0}
                said.update(self.fields(k.SWITCHED, *value, {2, 4, 6}, {1, 5}))
                switched.append(
                    (said[2], said[6], said[4] & 255 != 0, self.text(said[1]), self.text(said[5]))
                )
            elif field == 20:
                said = {1: (0, 0), 2: 0}
                said.update(self.fields(k.WOKEN, *value, {2}, {1}))
                woken.append((said[2], self.text(said[1])))
            elif field == 3:
                printed.append(value)
            else:
                self.others += 1
        time, tid = head[1], head[2]
        self.prints += [(time, tid, *value) for value in printed]
        by = tid if head[5] & 0x18 == 0 else 0
        return [(time, tid, *one) for one in switched], [(time, by, *one) for one in woken]

    def text(self, bounds):
        return bytes(self.data[slice(*bounds)])


def scanned(data, bounds, room, capacity=1 << 12):
    """Return what the kernel does, and what it wrote."""
    names, counts = InternedNames(capacity), np.zeros(k.COUNTS, np.int64)
    first, stop = np.array(bounds, np.int64).reshape(-1, 2).T.copy()
    widths = k.SWITCH_COLUMNS, k.WAKE_COLUMNS, k.PRINT_COLUMNS, k.COLUMN_COLUMNS
    tables = [np.full((width, room), -9, np.int64) for width in widths]
    fields = np.array(list(FIELDS.values()), np.int64)
    state = np.zeros((k.LEVELS, TAKE_STATE_SIZE), np.int64)
    column = np.frombuffer(bytes(data) or b"\0", np.uint8)
    result = k.scan_events(column, first, stop, fields, state, counts, *names.arrays, *tables)
    bounds = zip(names.starts.tolist(), names.lengths.tolist())
    texts = [bytes(data[low : low + length]) for low, length in list(bounds)[: counts[k.N_NAMES]]]
    return result, state, counts, texts, [t[:, :n] for t, n in zip(tables, counts.tolist(), strict=False)]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(bundles, max_size=4), st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=3)
)
def test_events_are_found_as_by_a_loop(pieces, damage):
    ends = np.cumsum([0, *map(len, pieces)]).tolist()
    bounds = list(pairwise(ends))
    data = bytearray(b"".join(pieces))
    for place, byte in damage:
        if place < len(data):
            data[place] = byte
    twin = Twin(data, bounds)
    result, state, counts, texts, (switches, wakes, prints, columns) = scanned(data, bounds, len(data) + 1)
    assert result == k.DONE
    rows = [(*row[:6], texts[row[6]], texts[row[7]]) for row in switches.T.tolist()]
    assert rows == twin.switches
    assert [(*row[:4], texts[row[4]]) for row in wakes.T.tolist()] == twin.wakes
    assert list(map(tuple, prints.T.tolist())) == twin.prints
    assert list(map(tuple, columns.T.tolist())) == twin.columns
    assert counts[k.N_OTHERS] == twin.others
    noted = state[:, [S_DAMAGED, S_BYTE, S_MESSAGE, S_ODD, S_ODD_NUMBER]].tolist()
    assert noted == twin.damage
    assert len(set(texts)) == len(texts)


def test_room_is_asked_for_where_there_is_none():
    switch = written([(1, b"leaves"), (2, 7), (5, b"comes"), (6, 8)])
    waking = written([(1, b"woken"), (2, 9)])
    event = [(1, 5), *[(4, switch)] * 2, *[(20, waking)] * 2, *[(3, b"")] * 2]
    for data in (written([(2, written(event))]), written([(4, b"xy"), (1, 3), (4, b"")])):
        bounds = [(0, len(data))]
        assert scanned(data, bounds, 2)[0] == k.DONE
        assert scanned(data, bounds, 1)[0] == k.FULL
    for kind in (1, 3, 5):
        data = written([(2, written(event[kind : kind + 2]))])
        assert [scanned(data, [(0, len(data))], room)[0] for room in (1, 2)] == [k.FULL, k.DONE]
    data = written([(2, written(event))])
    # The empty name is there before all others; room is a power of two.
    assert [scanned(data, [(0, len(data))], 2, room)[0] for room in (4, 8)] == [k.FULL_OF_NAMES, k.DONE]
