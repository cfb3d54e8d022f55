# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""Execution traces of Go, from their bytes into rows: of Go 1.22 and later, and of Go 1.11 to 1.21.

Source: ``internal/trace`` and ``runtime/trace*.go`` of Go.
"""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel
from ..protobuf.fields import read_varint

#: Slots of the state (int64): rows of each kind that are written, batches that are damaged and the byte of
#: the first, batches with events of an unknown kind and the byte of the first, 1 + the byte where it is cut.
EVENTS, STRINGS, STACKS, FRAMES, DAMAGED, BYTE, STRANGE, STRANGE_BYTE, CUT, STATE_SIZE = range(10)
#: Columns of an event: its byte, generation, what wrote it (a thread of the system, or a processor of Go's),
#: when that began to write, the event's own time, its kind and what it says.
AT, GENERATION, STREAM, BATCH_TIME, TIME, KIND, A, B, C, D, E, EVENT_COLUMNS = range(12)
#: Columns of a text: generation, number, first byte, bytes.
TEXT_COLUMNS = 4
#: Columns of a stack: generation, number, first frame, frames; and of a frame: function, file, line.
STACK_COLUMNS, FRAME_COLUMNS = 4, 3
#: Frames that a stack has at most, as Go writes them.
_MOST_FRAMES = np.uint64(1 << 12)
#: Kinds of batches and their entries, from Go 1.22 on.
_BATCH, _STACKS, _STACK, _STRINGS, _STRING, _SAMPLES, _SAMPLE, _FREQUENCY = 1, 2, 3, 4, 5, 6, 7, 8
_EXPERIMENT, _SYNC, _SNAPSHOT = 49, 50, 51
#: Kinds until Go 1.21.
_OLD_BATCH, _OLD_FREQUENCY, _OLD_STACK, _OLD_TIMERS, _OLD_STRING, _OLD_LOG = 1, 2, 3, 35, 37, 48
_OLD_KINDS = 50
#: What an event of each kind says beside its time (-1: none of these), from Go 1.22 on.
ARGUMENTS = np.array(
    [-1, -1, -1, -1, -1, -1, -1, -1, -1,
     2, 2, 0, 3, 2,
     3, 1, 2, 0, 0, 2, 2, 3, 2, 0, 0, 3,
     2, 0,
     1, 2, 1, 1, 1, 2, 1, 1, 0, 1, 1,
     1, 4, 2, 3, 3, 4,
     2, 2, 3, 4,
     -1, -1, -1, 0],
    np.int64,
)  # fmt: skip


@inline
def _damage(state, at):  # type: ignore[no-untyped-def]
    if state[DAMAGED] == 0:
        state[BYTE] = at
    state[DAMAGED] += 1


@kernel
def scan_go(data, begin, arguments, is_dry, state, events, strings, stacks, frames):  # type: ignore[no-untyped-def]
    """Write a row for each event, text, stack and frame of a trace of Go 1.22 or later.

    A batch ends where it is damaged, or where an event of an unknown kind is.

    Parameters
    ----------
    data : uint8 (bytes,)
    begin : int
        Behind the header.
    arguments : int64 (kinds,)
        :data:`ARGUMENTS`.
    is_dry : bool
        Only count the rows.
    state : int64 (STATE_SIZE,)
        Zeros before; filled.
    events : int64 (EVENT_COLUMNS, events)
        Filled; a frequency is an event without a time.
    strings : int64 (strings, TEXT_COLUMNS)
    stacks : int64 (stacks, STACK_COLUMNS)
    frames : int64 (frames, FRAME_COLUMNS)
        Filled, the innermost of each stack first.
    """
    size = np.int64(len(data))
    n_events, n_strings, n_stacks, n_frames = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    at = np.int64(begin)
    while at < size:
        place = at
        what = np.int64(data[at])
        at += 1
        if what != _BATCH and what != _EXPERIMENT:
            if what != 52:
                # Nothing says where the next batch is.
                _damage(state, place)
                break
            continue
        if what == _EXPERIMENT:
            at += 1
        generation, at = read_varint(data, at, size)
        stream, time, length = np.uint64(0), np.uint64(0), np.uint64(0)
        if at >= 0:
            stream, at = read_varint(data, at, size)
        if at >= 0:
            time, at = read_varint(data, at, size)
        if at >= 0:
            length, at = read_varint(data, at, size)
        if at < 0:
            state[CUT] = place + 1
            break
        stop = size
        if length <= np.uint64(size - at):
            stop = at + np.int64(length)
        else:
            state[CUT] = place + 1
        if what == _EXPERIMENT:
            at = stop
            continue
        begun = np.int64(time)
        now = time
        while at < stop:
            place = at
            kind = np.int64(data[at])
            at += 1
            if kind == _STACKS or kind == _STRINGS or kind == _SAMPLES or kind == _SYNC:
                continue
            if kind == _STRING:
                number, at = read_varint(data, at, stop)
                many = np.uint64(0)
                if at >= 0:
                    many, at = read_varint(data, at, stop)
                if at < 0 or many > np.uint64(stop - at):
                    at = np.int64(-1)
                else:
                    if not is_dry:
                        strings[n_strings, 0], strings[n_strings, 1] = np.int64(generation), np.int64(number)
                        strings[n_strings, 2], strings[n_strings, 3] = at, np.int64(many)
                    n_strings += 1
                    at += np.int64(many)
            elif kind == _STACK:
                number, at = read_varint(data, at, stop)
                many = np.uint64(0)
                if at >= 0:
                    many, at = read_varint(data, at, stop)
                if at >= 0 and many > _MOST_FRAMES:
                    at = np.int64(-1)
                if at >= 0:
                    first = n_frames
                    for _ in range(np.int64(many)):
                        one = np.uint64(0)
                        for column in range(4):
                            if at >= 0:
                                one, at = read_varint(data, at, stop)
                            if at >= 0 and column > 0 and n_frames < len(frames):
                                frames[n_frames, column - 1] = np.int64(one)
                        if at < 0:
                            break
                        n_frames += 1
                    if at < 0:
                        n_frames = first
                    else:
                        if not is_dry:
                            stacks[n_stacks, 0], stacks[n_stacks, 1] = np.int64(generation), np.int64(number)
                            stacks[n_stacks, 2], stacks[n_stacks, 3] = first, np.int64(many)
                        n_stacks += 1
            else:
                many_words = np.int64(-1)
                if kind == _SAMPLE:
                    many_words = np.int64(5)
                elif kind == _FREQUENCY:
                    many_words = np.int64(1)
                elif kind == _SNAPSHOT:
                    many_words = np.int64(4)
                elif kind < len(arguments) and arguments[kind] >= 0:
                    many_words = arguments[kind] + 1
                if many_words < 0:
                    if state[STRANGE] == 0:
                        state[STRANGE_BYTE] = place
                    state[STRANGE] += 1
                    break
                has_room = n_events < events.shape[1]
                if has_room:
                    for column in range(A, EVENT_COLUMNS):
                        events[column, n_events] = 0
                is_timed = kind != _FREQUENCY and kind != _SNAPSHOT
                for word in range(many_words):
                    if at >= 0:
                        one, at = read_varint(data, at, stop)
                        if at >= 0:
                            if word == 0 and is_timed:
                                now = one if kind == _SAMPLE else now + one
                            elif has_room:
                                events[A + word - np.int64(is_timed), n_events] = np.int64(one)
                if at >= 0:
                    if has_room:
                        events[AT, n_events], events[GENERATION, n_events] = place, np.int64(generation)
                        events[STREAM, n_events], events[BATCH_TIME, n_events] = np.int64(stream), begun
                        events[TIME, n_events], events[KIND, n_events] = np.int64(now), kind
                    n_events += 1
            if at < 0:
                if state[CUT] == 0 or stop < size:
                    _damage(state, place)
                break
        at = stop
    state[EVENTS], state[STRINGS], state[STACKS], state[FRAMES] = n_events, n_strings, n_stacks, n_frames


@kernel
def scan_old_go(data, begin, is_dry, state, events, strings, stacks, frames):  # type: ignore[no-untyped-def]
    """Write a row for each event, text, stack and frame of a trace of Go 1.11 to 1.21.

    It ends where it is damaged. The text of a log is among the strings, under minus its byte, which the
    event's column E has.

    Parameters
    ----------
    data : uint8 (bytes,)
    begin : int
        Behind the header.
    is_dry : bool
        Only count the rows.
    state : int64 (STATE_SIZE,)
        Zeros before; filled.
    events : int64 (EVENT_COLUMNS, events)
    strings : int64 (strings, TEXT_COLUMNS)
    stacks : int64 (stacks, STACK_COLUMNS)
    frames : int64 (frames, FRAME_COLUMNS)
        Filled as :func:`scan_go` does.
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
        if kind == _OLD_STRING:
            number, at = read_varint(data, at, size)
            length = np.uint64(0)
            if at >= 0:
                length, at = read_varint(data, at, size)
            if at < 0 or length > np.uint64(size - at):
                at = np.int64(-1)
                break
            if not is_dry:
                strings[n_strings, 0], strings[n_strings, 1] = 0, np.int64(number)
                strings[n_strings, 2], strings[n_strings, 3] = at, np.int64(length)
            n_strings += 1
            at += np.int64(length)
            continue
        stop = size
        if many == 4:
            length, at = read_varint(data, at, size)
            if at < 0 or length > np.uint64(size - at):
                at = np.int64(-1)
                break
            stop = at + np.int64(length)
        if kind == 0 or kind >= _OLD_KINDS:
            if state[STRANGE] == 0:
                state[STRANGE_BYTE] = place
            state[STRANGE] += 1
            break
        if kind == _OLD_STACK:
            number, at = read_varint(data, at, stop)
            count = np.uint64(0)
            if at >= 0:
                count, at = read_varint(data, at, stop)
            if at < 0 or count > _MOST_FRAMES:
                at = np.int64(-1)
                break
            first = n_frames
            for _ in range(np.int64(count)):
                one = np.uint64(0)
                for column in range(4):
                    if at >= 0:
                        one, at = read_varint(data, at, stop)
                    if at >= 0 and column > 0 and n_frames < len(frames):
                        frames[n_frames, column - 1] = np.int64(one)
                if at < 0:
                    break
                n_frames += 1
            if at < 0:
                n_frames = first
                break
            if not is_dry:
                stacks[n_stacks, 0], stacks[n_stacks, 1] = 0, np.int64(number)
                stacks[n_stacks, 2], stacks[n_stacks, 3] = first, np.int64(count)
            n_stacks += 1
            at = stop
            continue
        has_room = n_events < events.shape[1]
        if has_room:
            for column in range(A, EVENT_COLUMNS):
                events[column, n_events] = 0
        is_timed = kind != _OLD_BATCH and kind != _OLD_FREQUENCY and kind != _OLD_TIMERS
        word = np.int64(0)
        while at >= 0 and (at < stop if many == 4 else word < many):
            one, at = read_varint(data, at, stop)
            if at >= 0:
                if kind == _OLD_BATCH:
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
        if kind == _OLD_BATCH:
            begun = np.int64(now)
            continue
        if kind == _OLD_LOG:
            length, at = read_varint(data, at, size)
            if at < 0 or length > np.uint64(size - at):
                at = np.int64(-1)
                break
            if not is_dry:
                strings[n_strings, 0], strings[n_strings, 1] = 0, -at
                strings[n_strings, 2], strings[n_strings, 3] = at, np.int64(length)
                if has_room:
                    events[E, n_events] = -at
            n_strings += 1
            at += np.int64(length)
        if has_room:
            events[AT, n_events], events[GENERATION, n_events] = place, 0
            events[STREAM, n_events], events[BATCH_TIME, n_events] = stream, begun
            events[TIME, n_events], events[KIND, n_events] = np.int64(now), kind
        n_events += 1
    if at < 0:
        state[CUT] = place + 1
    state[EVENTS], state[STRINGS], state[STACKS], state[FRAMES] = n_events, n_strings, n_stacks, n_frames
