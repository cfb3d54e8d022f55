# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""Execution traces of Go 1.22 and later: where their batches are, and their tables.

Source: ``internal/trace`` and ``runtime/trace*.go`` of Go.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...jit import inline, kernel
from ...raw_bytes import address, load64, trailing_zeros
from ..protobuf.fields import first_number, mark_ends, read_varint

#: Slots of the state (int64): rows of the tables that are filled, in their order; events with a time, the
#: most changes of state that they say, those that are told as they are, and those that bring a goroutine up;
#: the earliest time, batches that are damaged and the byte of the first, batches with events of an unknown
#: kind and the byte of the first, 1 + the byte where it is cut.
BATCHES, STRINGS, STACKS, FRAMES, FREQUENCIES, STATUSES = range(6)
EVENTS, CHANGES, OTHERS, GOROUTINES, LOW, DAMAGED, BYTE, STRANGE, STRANGE_BYTE, CUT, STATE_SIZE = range(6, 17)
#: Columns of a batch: what wrote it (a thread of the system), its generation, when it began to be written,
#: its events, and the bytes they are in.
STREAM, GENERATION, TIME, MANY, FIRST, STOP, BATCH_COLUMNS = range(7)
#: Columns of a text: generation, number, first byte, bytes.
TEXT_COLUMNS = 4
#: Columns of a stack: generation, number, first frame, frames; and of a frame: function, file, line.
STACK_COLUMNS, FRAME_COLUMNS = 4, 3
#: Columns of a frequency: generation, ticks in a second.
FREQUENCY_COLUMNS = 2
#: Columns of an event that says who runs on another stream: that stream, the event's batch, byte and time,
#: and the goroutine.
STATUS_COLUMNS = 5
#: Frames that a stack has at most, as Go writes them.
MOST_FRAMES = np.uint64(1 << 12)
#: Times are below this.
LATEST = 1 << 61
#: Kinds of batches and their entries.
BATCH, _STACKS, STACK, _STRINGS, STRING, _SAMPLES, _SAMPLE, _FREQUENCY = 1, 2, 3, 4, 5, 6, 7, 8
CREATE, CREATE_SYSCALL, START, DESTROY, DESTROY_SYSCALL, STOP_RUNNING, BLOCK, UNBLOCK = range(14, 22)
ENTER, LEAVE, LEAVE_LATE, STATUS = 22, 23, 24, 25
SWITCH, SWITCH_DESTROY, CREATE_WAITING, STATUS_STACK = 45, 46, 47, 48
_EXPERIMENT, _SYNC, _SNAPSHOT, _END = 49, 50, 51, 52
#: Kinds that are told as they are: numbers that change, stops of all, collections, assists, tasks, regions
#: and logs, each begin before its end.
PROCESSORS, STOP_ALL, GO_ON_ALL, COLLECT, COLLECTED, ASSIST, ASSISTED = 9, 26, 27, 29, 30, 35, 36
HEAP, HEAP_GOAL, TASK, TASK_END, REGION, REGION_END, LOG = 37, 38, 40, 41, 42, 43, 44
#: What a number of a kind says of time: nothing, how long after the event before it is, or when it is.
NO_TIME, LATER, AT_TIME = 0, 1, 2
#: For each byte as a kind of event: its numbers (-1: it is none), what the first says of time, how many
#: changes of state it is at most, whether it is told as it is, and its numbers if :func:`scan_go` only counts
#: it (0: not).
WORDS, TIMED, CHANGED, TOLD, COUNTED = range(5)


def _kinds() -> NDArray[np.int64]:
    words = [
        -1, -1, -1, -1, -1, -1, -1, 5, 1,
        3, 3, 1, 4, 3,
        4, 2, 3, 1, 1, 3, 3, 4, 3, 1, 1, 4,
        3, 1,
        2, 3, 2, 2, 2, 3, 2, 2, 1, 2, 2,
        2, 5, 3, 4, 4, 5,
        3, 3, 4, 5,
        -1, -1, 4, 1,
    ]  # fmt: skip
    kinds = np.zeros((256, 5), np.int64)
    kinds[:, WORDS], kinds[:, TIMED] = -1, LATER
    kinds[: len(words), WORDS] = words
    kinds[[_FREQUENCY, _SNAPSHOT], TIMED] = NO_TIME
    kinds[_SAMPLE, TIMED] = AT_TIME
    kinds[[*range(CREATE, STATUS + 1), CREATE_WAITING, STATUS_STACK], CHANGED] = 1
    kinds[[SWITCH, SWITCH_DESTROY], CHANGED] = 2
    told = PROCESSORS, STOP_ALL, GO_ON_ALL, COLLECT, COLLECTED, ASSIST, ASSISTED
    kinds[[*told, HEAP, HEAP_GOAL, TASK, TASK_END, REGION, REGION_END, LOG], TOLD] = 1
    only_counted = (kinds[:, WORDS] > 0) & (kinds[:, TIMED] == LATER)
    kinds[only_counted, COUNTED] = kinds[only_counted, WORDS]
    kinds[[CREATE, CREATE_SYSCALL, CREATE_WAITING, STATUS, STATUS_STACK], COUNTED] = 0
    return kinds


KINDS = _kinds()


@inline
def _damage(state, at):  # type: ignore[no-untyped-def]
    if state[DAMAGED] == 0:
        state[BYTE] = at
    state[DAMAGED] += 1


@inline
def read_text(data, at, stop, generation, strings, n_strings):  # type: ignore[no-untyped-def]
    """Read a text of the trace: its number, its length and its bytes.

    Parameters
    ----------
    data : uint8 (bytes,)
    at, stop : int
        Where the text begins, and where its batch ends.
    generation : int
        The generation that the text belongs to.
    strings : int64 (strings, TEXT_COLUMNS)
        Gets the generation, the number, the first byte and the length of the text; only counted where full.
    n_strings : int
        How many texts have been read.

    Returns
    -------
    at : int64
        The byte behind the text; -1: damaged.
    n_strings : int
        How many texts there are now.
    """
    number, at = read_varint(data, at, stop)
    length = np.uint64(0)
    if at >= 0:
        length, at = read_varint(data, at, stop)
    if at < 0 or length > np.uint64(stop - at):
        return np.int64(-1), n_strings
    if n_strings < len(strings):
        strings[n_strings, 0], strings[n_strings, 1] = generation, np.int64(number)
        strings[n_strings, 2], strings[n_strings, 3] = at, np.int64(length)
    return at + np.int64(length), n_strings + 1


@inline
def read_stack(data, at, stop, generation, stacks, frames, n_stacks, n_frames):  # type: ignore[no-untyped-def]
    """Read a stack of the trace: its number and its frames, the innermost first.

    Parameters
    ----------
    data : uint8 (bytes,)
    at, stop : int
        Where the stack begins, and where its batch ends.
    generation : int
        The generation that the stack belongs to.
    stacks : int64 (stacks, STACK_COLUMNS)
        Gets the generation, the number, the first frame and the number of frames; only counted where full.
    frames : int64 (frames, FRAME_COLUMNS)
        Gets the function, the file and the line of each frame, without its address; only counted where full.
    n_stacks, n_frames : int
        How many stacks and frames have been read.

    Returns
    -------
    at : int64
        The byte behind the stack; -1: damaged.
    n_stacks, n_frames : int
        How many stacks and frames there are now.
    """
    number, at = read_varint(data, at, stop)
    count = np.uint64(0)
    if at >= 0:
        count, at = read_varint(data, at, stop)
    if at < 0 or count > MOST_FRAMES:
        return np.int64(-1), n_stacks, n_frames
    first = n_frames
    for _ in range(np.int64(count)):
        for column in range(4):
            one, at = read_varint(data, at, stop)
            if at < 0:
                return np.int64(-1), n_stacks, first
            if column > 0 and n_frames < len(frames):
                frames[n_frames, column - 1] = np.int64(one)
        n_frames += 1
    if n_stacks < len(stacks):
        stacks[n_stacks, 0], stacks[n_stacks, 1] = generation, np.int64(number)
        stacks[n_stacks, 2], stacks[n_stacks, 3] = first, np.int64(count)
    return at, n_stacks + 1, n_frames


@kernel
def scan_go(data, begin, kinds, state, batches, strings, stacks, frames, frequencies, statuses):  # type: ignore[no-untyped-def]
    """Find the batches of a trace of Go 1.22 or later that have events, and all that is no event of its own.

    A batch ends where it is damaged, or where an event of an unknown kind is. Rows for which a table has no
    room are only counted.

    Parameters
    ----------
    data : uint8 (bytes,)
    begin : int
        Behind the header.
    kinds : int64 (256, 5)
        :data:`KINDS`.
    state : int64 (STATE_SIZE,)
        Zeros before, but for LOW, :data:`LATEST`; filled.
    batches : int64 (batches, BATCH_COLUMNS)
    strings : int64 (strings, TEXT_COLUMNS)
    stacks : int64 (stacks, STACK_COLUMNS)
    frames : int64 (frames, FRAME_COLUMNS)
        Filled, the innermost of each stack first.
    frequencies : int64 (frequencies, FREQUENCY_COLUMNS)
    statuses : int64 (statuses, STATUS_COLUMNS)
    """
    size = np.int64(len(data))
    n_batches, n_strings, n_stacks, n_frames = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    n_frequencies, n_statuses = np.int64(0), np.int64(0)
    events, changes, others, goroutines = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    low, base = state[LOW], address(data)
    at = np.int64(begin)
    while at < size:
        place = at
        what = np.int64(data[at])
        at += 1
        if what != BATCH and what != _EXPERIMENT:
            if what != _END:
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
        first = at
        many = np.int64(0)
        now = time
        place = at
        while at < stop:
            place = at
            kind = np.int64(data[at])
            at += 1
            words = kinds[kind, COUNTED]
            if words > 0 and at + 8 <= stop:
                # Most events are no longer than eight bytes behind their kind: those are read at once.
                word = load64(base + at)
                ends = mark_ends(word)
                left = ends
                for _ in range(1, words):
                    left &= left - np.uint64(1)
                if left != 0:
                    at += (trailing_zeros(left) >> 3) + 1
                    now += first_number(word, ends)
                    many += 1
                    changes += kinds[kind, CHANGED]
                    others += kinds[kind, TOLD]
                    if np.int64(now) >= 0 and np.int64(now) < low:
                        low = np.int64(now)
                    place = at
                    continue
            if kind == _STACKS or kind == _STRINGS or kind == _SAMPLES or kind == _SYNC:
                continue
            if kind == STRING:
                at, n_strings = read_text(data, at, stop, np.int64(generation), strings, n_strings)
            elif kind == STACK:
                at, n_stacks, n_frames = read_stack(
                    data, at, stop, np.int64(generation), stacks, frames, n_stacks, n_frames
                )
            else:
                words = kinds[kind, WORDS]
                if words < 0:
                    if state[STRANGE] == 0:
                        state[STRANGE_BYTE] = place
                    state[STRANGE] += 1
                    break
                one, at = read_varint(data, at, stop)
                then = now + one if kinds[kind, TIMED] == LATER else one
                a, b, c = np.uint64(0), np.uint64(0), np.uint64(0)
                for word in range(1, words):
                    if at >= 0:
                        one, at = read_varint(data, at, stop)
                        if word == 1:
                            a = one
                        elif word == 2:
                            b = one
                        elif word == 3:
                            c = one
                if at >= 0:
                    if kind == _FREQUENCY:
                        if n_frequencies < len(frequencies):
                            frequencies[n_frequencies, 0] = np.int64(generation)
                            frequencies[n_frequencies, 1] = np.int64(then)
                        n_frequencies += 1
                    elif kind != _SNAPSHOT:
                        now = then
                        many += 1
                        changes += kinds[kind, CHANGED]
                        others += kinds[kind, TOLD]
                        if np.int64(now) >= 0 and np.int64(now) < low:
                            low = np.int64(now)
                        if kind == STATUS or kind == STATUS_STACK:
                            goroutines += 1
                            if (c == np.uint64(2) or c == np.uint64(3)) and b != stream:
                                if n_statuses < len(statuses):
                                    statuses[n_statuses, 0], statuses[n_statuses, 1] = np.int64(b), n_batches
                                    statuses[n_statuses, 2], statuses[n_statuses, 3] = place, np.int64(now)
                                    statuses[n_statuses, 4] = np.int64(a)
                                n_statuses += 1
                        elif kind == CREATE or kind == CREATE_SYSCALL or kind == CREATE_WAITING:
                            goroutines += 1
            if at < 0:
                if state[CUT] == 0 or stop < size:
                    _damage(state, place)
                break
            place = at
        if many > 0:
            if n_batches < len(batches):
                batches[n_batches, STREAM], batches[n_batches, GENERATION] = (
                    np.int64(stream),
                    np.int64(generation),
                )
                batches[n_batches, TIME], batches[n_batches, MANY] = np.int64(time), many
                batches[n_batches, FIRST], batches[n_batches, STOP] = first, place
            n_batches += 1
            events += many
        at = stop
    state[BATCHES], state[STRINGS], state[STACKS], state[FRAMES] = n_batches, n_strings, n_stacks, n_frames
    state[FREQUENCIES], state[STATUSES], state[EVENTS] = n_frequencies, n_statuses, events
    state[CHANGES], state[OTHERS], state[GOROUTINES], state[LOW] = changes, others, goroutines, low
