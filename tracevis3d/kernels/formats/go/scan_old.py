"""Execution traces of Go 1.11 to 1.21, from their bytes into rows.

Source: ``internal/trace`` and ``runtime/trace.go`` of Go 1.21.
"""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from ..protobuf.fields import read_varint
from .scan import read_stack, read_text

#: Slots of the state (int64): rows of each kind that are written, events of an unknown kind and the byte of
#: the first, 1 + the byte where it is cut.
EVENTS, STRINGS, STACKS, FRAMES, STRANGE, STRANGE_BYTE, CUT, STATE_SIZE = range(8)
#: Columns of an event: its byte, what wrote it (a processor of Go's), when that began to write, the event's
#: own time, its kind and what it says.
AT, STREAM, BATCH_TIME, TIME, KIND, A, B, C, D, E, EVENT_COLUMNS = range(11)
_BATCH, _FREQUENCY, _STACK, _TIMERS, _STRING, _LOG = 1, 2, 3, 35, 37, 48
_KINDS = 50


@kernel
def scan_old_go(data, begin, state, events, strings, stacks, frames):  # type: ignore[no-untyped-def]
    """Write a row for each event, text, stack and frame of a trace of Go 1.11 to 1.21.

    It ends where it is damaged. The text of a log is among the strings, under minus its byte, which the
    event's column E has. Rows for which a table has no room are only counted.

    Parameters
    ----------
    data : uint8 (bytes,)
    begin : int
        Behind the header.
    state : int64 (STATE_SIZE,)
        Zeros before; filled.
    events : int64 (EVENT_COLUMNS, events)
    strings : int64 (strings, TEXT_COLUMNS)
    stacks : int64 (stacks, STACK_COLUMNS)
    frames : int64 (frames, FRAME_COLUMNS)
        Filled as :func:`.scan.scan_go` does.
    """
    size = np.int64(len(data))
    n_events, n_strings, n_stacks, n_frames = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    stream, begun, now = np.int64(-1), np.int64(0), np.uint64(0)
    at = np.int64(begin)
    place = at
    while at >= 0 and at < size:
        place = at
        kind = np.int64(data[at] & np.uint8(0x3F))
        many = np.int64(data[at] >> np.uint8(6)) + 1
        at += 1
        if kind == _STRING:
            at, n_strings = read_text(data, at, size, np.int64(0), strings, n_strings)
            continue
        stop = size
        if many == 4:
            length, at = read_varint(data, at, size)
            if at < 0 or length > np.uint64(size - at):
                at = np.int64(-1)
                break
            stop = at + np.int64(length)
        if kind == 0 or kind >= _KINDS:
            if state[STRANGE] == 0:
                state[STRANGE_BYTE] = place
            state[STRANGE] += 1
            break
        if kind == _STACK:
            at, n_stacks, n_frames = read_stack(
                data, at, stop, np.int64(0), stacks, frames, n_stacks, n_frames
            )
            if at >= 0:
                at = stop
            continue
        has_room = n_events < events.shape[1]
        if has_room:
            for column in range(A, EVENT_COLUMNS):
                events[column, n_events] = 0
        is_timed = kind != _BATCH and kind != _FREQUENCY and kind != _TIMERS
        word = np.int64(0)
        while at >= 0 and (at < stop if many == 4 else word < many):
            one, at = read_varint(data, at, stop)
            if at >= 0:
                if kind == _BATCH:
                    if word == 0:
                        stream = np.int64(one)
                    else:
                        now = one
                elif word == 0 and is_timed:
                    now += one
                elif word <= 5 and has_room:
                    field = A + word - np.int64(is_timed)
                    if field < EVENT_COLUMNS:
                        events[field, n_events] = np.int64(one)
            word += 1
        if at < 0:
            break
        if kind == _BATCH:
            begun = np.int64(now)
            continue
        if kind == _LOG:
            length, at = read_varint(data, at, size)
            if at < 0 or length > np.uint64(size - at):
                at = np.int64(-1)
                break
            if n_strings < len(strings):
                strings[n_strings, 0], strings[n_strings, 1] = 0, -at
                strings[n_strings, 2], strings[n_strings, 3] = at, np.int64(length)
                if has_room:
                    events[E, n_events] = -at
            n_strings += 1
            at += np.int64(length)
        if has_room:
            events[AT, n_events], events[STREAM, n_events] = place, stream
            events[BATCH_TIME, n_events] = begun
            events[TIME, n_events], events[KIND, n_events] = np.int64(now), kind
        n_events += 1
    if at < 0:
        state[CUT] = place + 1
    state[EVENTS], state[STRINGS], state[STACKS], state[FRAMES] = n_events, n_strings, n_stacks, n_frames
