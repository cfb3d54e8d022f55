# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""Perfetto's track events, from the bytes of their packets into rows.

The scanner takes packets that hold a plain track event. At any other packet it stops, so that the reader of
typed messages takes that one, and goes on behind it. Source:
https://perfetto.dev/docs/reference/trace-packet-proto
"""

from __future__ import annotations

import numpy as np

from ...intern import intern_bytes
from ...jit import inline, kernel
from ...raw_bytes import address, load64
from .fields import BYTES, FIXED32, FIXED64, VARINT, read_varint

#: Slots of the state (int64): the next byte, rows and flows written, texts, pairs, packets taken, and the
#: trace's own clock.
AT, ROWS, FLOWS, TEXTS, TRACKS, NAMES, PACKETS, REFERENCE, CLOCKS, STATE_SIZE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
#: What the scanner returns: all is read, there is no room, or a packet that it does not take.
DONE, FULL, OTHER = 0, 1, 2
#: Kinds of a row; the first three are those of events. A counter's value is an integer, or a float's bits.
BEGIN, END, COMPLETE, INSTANT, INTEGER, FLOAT = 0, 1, 2, 3, 4, 5
#: Begins of asynchronous operations: ``SPAN + 2 * way``, with the way of their id: none, unscoped, local or
#: global. Their ends are one more; ``more`` is the id.
SPAN = 6
#: What a complete slice without an end in time ends at.
LATEST = 1 << 62
#: Columns of the table of sequences: whether what it refers to is there, its clock, whether it has a track
#: and which, the number of its table of names, and of old events process, thread and the last time (us).
HAS_STATE, CLOCK, HAS_TRACK, TRACK, TABLE, PID, TID, TIME_US, SEQUENCE_COLUMNS = 0, 1, 2, 3, 4, 5, 6, 7, 8
#: Columns of the table of clocks: the sequence (-1: all) and number, nanoseconds to add to it (if known), the
#: unit in nanoseconds, and the last time of a clock whose times are differences.
CLOCK_OWNER, CLOCK_ID, IS_KNOWN, OFFSET, UNIT, IS_RUNNING, RUNNING, CLOCK_COLUMNS = 0, 1, 2, 3, 4, 5, 6, 7
#: What a row without a name has; below that are names by number: ``FIRST_PAIR - pair``.
NO_NAME, FIRST_PAIR = -1, -2
#: Clocks from 64 to 127 belong to one sequence of packets.
FIRST_OWN_CLOCK = 64
#: Times beyond this are no times.
_LIMIT = np.int64(1 << 62)
#: A time in a unit of its own (below 2**31 ns) is below this, so that it can be multiplied.
_UNIT_LIMIT = np.int64(1 << 31)
_SMALL, _MOST_PID = np.uint64(0xFFFFFFFF), np.uint64(0x7FFFFFFF)
#: Fields of a packet, with their kind on the wire.
_STAMP, _SEQUENCE, _FLAGS, _STAMP_CLOCK = 8 << 3, 10 << 3, 13 << 3, 58 << 3
_EVENT = 11 << 3 | 2
_USER, _PROCESS, _IS_FIRST, _MACHINE = 3 << 3, 79 << 3, 87 << 3, 98 << 3
#: Fields of a track event.
_DELTA, _LEGACY, _TYPE, _NAME_IID, _TRACK, _MORE_VALUES, _ABSOLUTE = 1, 6, 9, 10, 11, 12, 16
#: Times in microseconds beyond this are no times.
_LIMIT_US = np.int64(1 << 50)
#: Fields of an event of the old kind, and its letters: X, B, E; I, i, n, R; s, t, f; b, S, e, F.
_OLD_NAME, _PHASE, _DURATION, _UNSCOPED, _BIND, _LOCAL, _GLOBAL = 1, 2, 3, 6, 8, 10, 11
_DIRECTION, _OLD_PID, _OLD_TID = 13, 18, 19
_IS_COMPLETE, _IS_BEGIN, _IS_END, _ARE_INSTANTS = 88, 66, 69, (73, 105, 110, 82)
_ARE_FLOWS, _FLOW_ENDS, _SPANS_BEGIN, _SPANS_END = (115, 116, 102), 102, (98, 83), (101, 70)
_NAME, _VALUE, _FLOW_OLD, _ENDING_OLD, _DOUBLE, _MORE_DOUBLES, _FLOW, _ENDING = 23, 30, 36, 42, 44, 46, 47, 48


@inline
def _find(first, second, slots, firsts, seconds):  # type: ignore[no-untyped-def]
    """Return the number of a pair, or ``-1 - slot`` of the free slot where it belongs."""
    factor = np.uint64(0x9E3779B97F4A7C15)
    value = (first ^ (second * factor >> np.uint64(7))) * factor
    value ^= value >> np.uint64(32)
    mask = np.uint64(len(slots) - 1)
    slot = np.int64(value & mask)
    while True:
        known = np.int64(slots[slot])
        if known < 0:
            return np.int64(-1) - slot
        if firsts[known] == first and seconds[known] == second:
            return known
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)


@kernel
def find_pair(first, second, slots, firsts, seconds):  # type: ignore[no-untyped-def]
    """Return the number of a pair, or where it belongs.

    Parameters
    ----------
    first, second : uint64
    slots : int32 (2**k,)
        Hash table of numbers; -1: free.
    firsts, seconds : uint64 (capacity,)
        The pairs by number.

    Returns
    -------
    int64
        ``-1 - slot`` of the free slot if the pair is new.
    """
    return _find(first, second, slots, firsts, seconds)


@kernel
def fill_pairs(slots, firsts, seconds, count):  # type: ignore[no-untyped-def]
    """Enter pairs into an empty table.

    Parameters
    ----------
    slots : int32 (2**k,)
        -1 before; filled.
    firsts, seconds : uint64 (capacity,)
    count : int
        How many pairs there are.
    """
    for known in range(count):
        slot = np.int64(-1) - _find(firsts[known], seconds[known], slots, firsts, seconds)
        slots[slot] = known


@inline
def _clock_row(own, sequence, clocks, n_clocks):  # type: ignore[no-untyped-def]
    """Return the row of a clock as a sequence counts it; -1 if what it shows is not known."""
    owner = np.int64(-1)
    if own >= FIRST_OWN_CLOCK and own < 2 * FIRST_OWN_CLOCK:
        owner = sequence
    for row in range(n_clocks):
        if clocks[row, CLOCK_ID] == own and clocks[row, CLOCK_OWNER] == owner:
            return np.int64(row) if clocks[row, IS_KNOWN] != 0 else np.int64(-1)
    return np.int64(-1)


@kernel
def scan_track_events(  # type: ignore[no-untyped-def]
    data, state,
    sequence_slots, sequence_ids, sequence_zeros, sequences, clocks,
    track_slots, track_keys, track_kinds,
    name_slots, name_tables, name_iids,
    text_table, text_hashes, text_starts, text_lengths,
    place, track, kind, name, time, more,
    flow, flow_track, flow_time, flow_ends,
):  # fmt: skip
    """Write a row for each plain track event from ``state[AT]`` on, until something else comes.

    Events of the old kind, which have a letter for what they are, are plain unless their ids have scopes.

    A row has the packet's byte, the track's number, its kind, name, time, and a counter's value. The name is
    the number of a text among those of ``data``, that of a pair (table of the sequence, number there) as
    ``FIRST_PAIR - pair``, or NO_NAME. Of flows each row has the flow, the track, the time, and whether it
    ends. Nothing of a packet at which the scanner stops is taken over.

    Parameters
    ----------
    data : uint8 (bytes,)
    state : int64 (STATE_SIZE,)
    sequence_slots, track_slots, name_slots : int32 (slots,)
        Tables of pairs, of a power of two of slots; at most half of them are taken.
    sequence_ids, track_keys, name_tables : uint64 (capacity,)
        First of each pair.
    sequence_zeros, track_kinds, name_iids : uint64 (capacity,)
        Second of each pair.
    sequences : int64 (capacity, SEQUENCE_COLUMNS)
    clocks : int64 (capacity, CLOCK_COLUMNS)
    text_table, text_hashes, text_starts, text_lengths
        As :func:`...intern.intern_bytes` takes them.
    place, time, more : int64 (room,)
    track, name : int32 (room,)
    kind : uint8 (room,)
    flow : uint64 (flow room,)
    flow_track : int32 (flow room,)
    flow_time : int64 (flow room,)
    flow_ends : uint8 (flow room,)
    """
    end = np.int64(len(data))
    base = address(data)
    at = state[AT]
    rows, flows = state[ROWS], state[FLOWS]
    texts, tracks, names = state[TEXTS], state[TRACKS], state[NAMES]
    result = OTHER
    while True:
        if at >= end:
            result = DONE
            break
        if (
            rows >= len(place)
            or texts >= len(text_starts)
            or tracks >= len(track_keys)
            or names >= len(name_tables)
        ):
            result = FULL
            break
        if data[at] != 0x0A:
            break
        size, p = read_varint(data, at + 1, end)
        if p < 0 or size > np.uint64(end - p):
            break
        stop = p + np.int64(size)

        # The packet.
        stamp, sequence_id = np.uint64(0), np.uint64(0)
        flags, own_clock = np.uint64(0), np.uint64(0)
        has_stamp, is_plain = False, True
        event, event_stop = np.int64(-1), np.int64(-1)
        while p < stop:
            plain, p = read_varint(data, p, stop)
            if p < 0:
                is_plain = False
                break
            tag = np.int64(plain)
            number, p = read_varint(data, p, stop)
            if p < 0:
                is_plain = False
                break
            if tag == _STAMP:
                stamp, has_stamp = number, True
            elif tag == _SEQUENCE:
                sequence_id = number
            elif tag == _FLAGS:
                flags = number
            elif tag == _STAMP_CLOCK:
                own_clock = number
            elif tag == _EVENT:
                if event >= 0 or number > np.uint64(stop - p):
                    is_plain = False
                    break
                event, event_stop = p, p + np.int64(number)
                p = event_stop
            elif tag != _USER and tag != _PROCESS and tag != _IS_FIRST and tag != _MACHINE:
                is_plain = False
                break
        if (
            not is_plain
            or event < 0
            or stamp >= np.uint64(_LIMIT)
            or sequence_id > _SMALL
            or own_clock > _SMALL
            or flags > _SMALL
            or flags & np.uint64(1) != np.uint64(0)
        ):
            break
        sequence = _find(sequence_id, np.uint64(0), sequence_slots, sequence_ids, sequence_zeros)
        if sequence < 0 or (flags & np.uint64(2) != np.uint64(0) and sequences[sequence, HAS_STATE] == 0):
            break

        # Its event.
        what, key, iid = np.int64(0), np.uint64(0), np.uint64(0)
        text, length = np.int64(0), np.int64(0)
        value, has_value = np.int64(0), np.int64(0)
        has_track, begun, ended = False, False, False
        is_full = False
        # Of an event of the old kind: its bytes, letter and so on; what it says of time.
        old, old_stop, phase, old_iid, lasts = (
            np.int64(-1),
            np.int64(-1),
            np.int64(0),
            np.uint64(0),
            np.int64(0),
        )
        way, own, bound, direction = np.int64(0), np.uint64(0), np.uint64(0), np.int64(0)
        pid, tid = np.uint64(0), np.uint64(0)
        how, us = np.int64(0), np.int64(0)
        new_flows = flows
        p = event
        while p < event_stop:
            plain, p = read_varint(data, p, event_stop)
            if p < 0:
                is_plain = False
                break
            field, wire = np.int64(plain >> np.uint64(3)), np.int64(plain & np.uint64(7))
            number, begin = np.uint64(0), p
            if wire == VARINT:
                number, p = read_varint(data, p, event_stop)
            elif wire == BYTES:
                number, p = read_varint(data, p, event_stop)
                begin = p
                if p >= 0:
                    p = p + np.int64(number) if number <= np.uint64(event_stop - p) else np.int64(-1)
            elif wire == FIXED64 or wire == FIXED32:
                p += 8 if wire == FIXED64 else 4
                if p > event_stop:
                    p = np.int64(-1)
            else:
                p = np.int64(-1)
            if p < 0 or field == 0:
                is_plain = False
                break
            if field == _TYPE and wire == VARINT:
                what = np.int64(number)
            elif field == _TRACK and wire == VARINT:
                key, has_track = number, True
            elif field == _NAME and wire == BYTES:
                text, length, iid = begin, np.int64(number), np.uint64(0)
            elif field == _NAME_IID and wire == VARINT:
                iid, length = number, np.int64(0)
            elif field == _VALUE and wire == VARINT:
                value, has_value = np.int64(number), np.int64(INTEGER)
            elif field == _DOUBLE and wire == FIXED64:
                value, has_value = np.int64(load64(base + begin)), np.int64(FLOAT)
            elif (field == _FLOW or field == _ENDING) and wire == FIXED64:
                if new_flows >= len(flow):
                    is_full = True
                    break
                flow[new_flows] = load64(base + begin)
                flow_ends[new_flows] = field == _ENDING
                new_flows += 1
                if field == _ENDING:
                    ended = True
                else:
                    begun = True
            elif field == _LEGACY and wire == BYTES and old < 0:
                old, old_stop = begin, p
            elif (field == _DELTA or field == _ABSOLUTE) and wire == VARINT:
                # The difference counts where both are there.
                if field == _DELTA or how == 0:
                    how, us = field, np.int64(number)
            elif (
                field <= _DELTA or field == _LEGACY or field == _TYPE or field == _NAME_IID
                or field == _TRACK or field == _MORE_VALUES or field == _ABSOLUTE or field == _NAME
                or field == _VALUE or field == _FLOW_OLD or field == _ENDING_OLD
                or (field >= _DOUBLE and field <= _ENDING)
            ):  # fmt: skip
                is_plain = False
                break
        if is_full:
            result = FULL
            break
        p = old if is_plain else np.int64(-1)
        while p >= 0 and p < old_stop:
            plain, p = read_varint(data, p, old_stop)
            if p < 0:
                is_plain = False
                break
            field, wire = np.int64(plain >> np.uint64(3)), np.int64(plain & np.uint64(7))
            if wire != VARINT or field == 0:
                # The scope of an id, or damage.
                is_plain = False
                break
            number, p = read_varint(data, p, old_stop)
            if p < 0:
                is_plain = False
                break
            if field == _OLD_NAME:
                old_iid = number
            elif field == _PHASE:
                phase = np.int64(number)
            elif field == _DURATION:
                lasts = np.int64(number)
            elif field == _UNSCOPED or field == _LOCAL or field == _GLOBAL:
                own = number
                way = np.int64(1) if field == _UNSCOPED else np.int64(2) if field == _LOCAL else np.int64(3)
            elif field == _BIND:
                bound = number
            elif field == _DIRECTION:
                direction = np.int64(number)
            elif field == _OLD_PID:
                pid = number
            elif field == _OLD_TID:
                tid = number
        if not is_plain or what < 0 or what > 4 or (begun and ended):
            break
        if what == 4 and (has_value == 0 or old >= 0):
            break
        is_flow, ends_flow = False, False
        if what == 0:
            # The letter says what it is.
            if phase == _IS_COMPLETE:
                if lasts < 0 or lasts > _LIMIT_US:
                    break
            elif phase in _ARE_FLOWS:
                is_flow, ends_flow = True, phase == _FLOW_ENDS
            elif not (
                phase == _IS_BEGIN or phase == _IS_END or phase in _ARE_INSTANTS
                or phase in _SPANS_BEGIN or phase in _SPANS_END
            ):  # fmt: skip
                break
        if direction < 0 or direction > 3 or pid > _MOST_PID or tid > _MOST_PID:
            break
        if new_flows + 2 > len(flow):
            result = FULL
            break
        if is_flow:
            flow[new_flows], flow_ends[new_flows] = own, ends_flow
            new_flows += 1
        if bound != np.uint64(0) and direction != 0:
            # Those of the fields come first.
            flow[new_flows], flow_ends[new_flows] = bound, direction == 1
            new_flows += 1
        kind_of_key = np.uint64(0)
        if has_track:
            if what == 4 and key == np.uint64(0):
                break
        elif old >= 0 and (pid != np.uint64(0) or tid != np.uint64(0) or sequences[sequence, HAS_TRACK] == 0):
            key = pid if pid != np.uint64(0) else np.uint64(sequences[sequence, PID])
            kind_of_key = (tid if tid != np.uint64(0) else np.uint64(sequences[sequence, TID])) + np.uint64(1)
        elif sequences[sequence, HAS_TRACK] != 0:
            key = np.uint64(sequences[sequence, TRACK])
        else:
            break
        clock = np.int64(own_clock)
        if clock == 0:
            clock = sequences[sequence, CLOCK]
        now, shown, running = np.int64(stamp), np.int64(stamp), np.int64(-1)
        if how != 0:
            if us < -_LIMIT_US or us > _LIMIT_US or sequences[sequence, TIME_US] > _LIMIT_US:
                break
            if how == _DELTA:
                us += sequences[sequence, TIME_US]
            now = np.int64(1000) * us
            shown = now
        elif not has_stamp:
            break
        elif clock != 0 and clock != state[REFERENCE]:
            row = _clock_row(clock, np.int64(sequence_id), clocks, state[CLOCKS])
            if row < 0:
                break
            unit = clocks[row, UNIT]
            if unit != 1 and now > _UNIT_LIMIT:
                break
            now *= unit
            if clocks[row, IS_RUNNING] != 0:
                now += clocks[row, RUNNING]
                running = row
            shown = now + clocks[row, OFFSET]
        if now >= _LIMIT or shown < 0 or shown >= _LIMIT:
            break

        # The packet is taken.
        if running >= 0:
            clocks[running, RUNNING] = now
        if how == _DELTA:
            sequences[sequence, TIME_US] = us
        number_of_track = _find(key, kind_of_key, track_slots, track_keys, track_kinds)
        if number_of_track < 0:
            track_slots[np.int64(-1) - number_of_track] = tracks
            track_keys[tracks], track_kinds[tracks] = key, kind_of_key
            number_of_track = tracks
            tracks += 1
        number_of_name = np.int64(NO_NAME)
        if what == 0:
            if phase == _IS_COMPLETE:
                found = np.int64(COMPLETE)
                value = min(shown + np.int64(1000) * lasts, np.int64(LATEST))
            elif phase == _IS_BEGIN or phase == _IS_END:
                found = np.int64(BEGIN) if phase == _IS_BEGIN else np.int64(END)
                value = np.int64(0)
            elif phase in _ARE_INSTANTS:
                found, value = np.int64(INSTANT), np.int64(0)
            else:
                found = np.int64(SPAN) + np.int64(2) * way
                if phase in _SPANS_END:
                    found += 1
                value = np.int64(own)
        elif what == 4:
            found = has_value
        else:
            found = np.int64(INSTANT) if what == 3 else what - 1
            value = np.int64(0)
        is_named = found == BEGIN or found == COMPLETE or found == INSTANT
        is_named = is_named or (found >= SPAN and found % 2 == 0 and not is_flow)
        if iid == np.uint64(0):
            iid = old_iid
        if is_named:
            if length > 0:
                number_of_name = intern_bytes(
                    data, text, text + length, text_table, text_hashes, text_starts, text_lengths, texts
                )
                if number_of_name == texts:
                    texts += 1
            elif iid != np.uint64(0):
                table = np.uint64(sequences[sequence, TABLE])
                pair = _find(table, iid, name_slots, name_tables, name_iids)
                if pair < 0:
                    name_slots[np.int64(-1) - pair] = names
                    name_tables[names], name_iids[names] = table, iid
                    pair = names
                    names += 1
                number_of_name = np.int64(FIRST_PAIR) - pair
        if not is_flow:
            place[rows] = at
            track[rows] = number_of_track
            name[rows] = number_of_name
            time[rows] = shown
            more[rows] = value
            kind[rows] = found
            rows += 1
        while flows < new_flows:
            flow_track[flows], flow_time[flows] = number_of_track, shown
            flows += 1
        state[PACKETS] += 1
        at = stop
    state[AT] = at
    state[ROWS], state[FLOWS] = rows, flows
    state[TEXTS], state[TRACKS], state[NAMES] = texts, tracks, names
    return result
