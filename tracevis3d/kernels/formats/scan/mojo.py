"""The events of MOJO, Austin's binary form, into columns; and when its samples were taken.

Source: doc/MOJO.md of https://github.com/P403n1x87/austin.
"""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel

# Events.
METADATA, STACK, FRAME, INVALID, REFERENCE, KERNEL, COLLECTOR, IDLE, TIME, MEMORY, STRING = range(1, 12)

#: Places in the state: samples, references to frames, and definitions (metadata, frames, texts) so far; how
#: many references name no frame, and the byte of the first; where reading ended, and how.
SAMPLES, REFERENCES, DEFINITIONS, UNKNOWN, FIRST_UNKNOWN, AT, HOW = range(7)
STATE_SIZE = 7
#: How reading ended: at the end, at an event of an unknown kind, or in the middle of an event.
WHOLE, ODD, CUT = range(3)

#: Columns of a sample: its process and thread, its first reference, how long it lasts (microseconds), the
#: memory (KiB), and whether it was idle.
PROCESS, THREAD, FIRST, LASTS, SIZE, IS_IDLE = range(6)
SAMPLE_COLUMNS = 6

#: References that are no defined frame; one below is a function of the kernel, whose name begins at the byte
#: ``NAMED - reference``.
LOST, NOT_VALID, IN_COLLECTOR, NAMED = -1, -2, -3, -10

_LATEST = 1 << 62
_MOST_DIGITS = 15


@inline
def _number(data, at):  # type: ignore[no-untyped-def]
    """Return a number (six bits and a sign, then seven bits a byte) and what follows; -1 if it is cut.

    Keys may have 64 bits: they only have to differ.
    """
    if at >= len(data):
        return np.int64(0), np.int64(-1)
    byte = np.int64(data[at])
    at += 1
    value, shift, is_minus = byte & 0x3F, np.int64(6), byte & 0x40 != 0
    while byte & 0x80:
        if at >= len(data) or shift > 62:
            return np.int64(0), np.int64(-1)
        byte = np.int64(data[at])
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
    return -value if is_minus else value, np.int64(at)


@inline
def _behind_text(data, at):  # type: ignore[no-untyped-def]
    """Return what follows the text at a place, which a zero ends; -1 if there is none."""
    while at < len(data):
        if data[at] == 0:
            return np.int64(at + 1)
        at += 1
    return np.int64(-1)


@inline
def _slot(process, key, frames, table):  # type: ignore[no-untyped-def]
    """Return the slot of the frame with this key, or the free one for it."""
    mask = len(table) - 1
    at = (process * 0x9E3779B1 + key * 0x85EBCA77) & mask
    while table[at] >= 0 and (frames[table[at], 0] != process or frames[table[at], 1] != key):
        at = (at + 1) & mask
    return np.int64(at)


@kernel
def scan_mojo(data, start, version, is_dry, state, samples, references, definitions, frames, table):  # type: ignore[no-untyped-def]
    """Read all events up to the end, or to one that can't be read.

    Parameters
    ----------
    data : uint8 (bytes,)
    start : int
        Behind the version.
    version : int
    is_dry : bool
        Only count what there is.
    state : int64 (STATE_SIZE,)
        Zeros before; filled.
    samples : int64 (samples, SAMPLE_COLUMNS)
        Filled.
    references : int64 (references,)
        Filled: the numbers of frames in the order of their definitions, or LOST and the like.
    definitions : int64 (definitions, 2)
        Filled: the event, and the byte behind its kind.
    frames : int64 (definitions, 2)
        Filled: process and key of each defined frame.
    table : int32 (2**k,)
        -1 before; longer than twice the definitions.
    """
    at = np.int64(start)
    n_samples, n_references, n_definitions = np.int64(0), np.int64(0), np.int64(0)
    n_frames, process = np.int64(0), np.int64(0)
    is_open, how = False, WHOLE
    while at < len(data):
        begin, event = at, data[at]
        at += 1
        value = np.int64(0)
        if event in (METADATA, STACK):
            is_open = False
        if event in (METADATA, STRING):
            if not is_dry:
                definitions[n_definitions, 0] = event
                definitions[n_definitions, 1] = at
            n_definitions += 1
            if event == STRING:
                value, at = _number(data, at)
            else:
                at = _behind_text(data, at)
            if at >= 0:
                at = _behind_text(data, at)
            if at < 0:
                n_definitions -= 1
        elif event == STACK:
            process, at = _number(data, at)
            if at >= 0 and version >= 3:
                value, at = _number(data, at)
            thread, digits = np.int64(0), 0
            if at >= 0 and at + 1 < len(data) and data[at] == 48 and data[at + 1] | 32 == 120:
                at += 2
            while at >= 0:
                if at >= len(data) or digits > _MOST_DIGITS:
                    at = np.int64(-1)
                    break
                byte = np.int64(data[at])
                at += 1
                if byte == 0 and digits > 0:
                    break
                lower = byte | 32
                if byte >= 48 and byte <= 57:
                    thread = thread << 4 | (byte - 48)
                elif lower >= 97 and lower <= 102:
                    thread = thread << 4 | (lower - 87)
                else:
                    at = np.int64(-1)
                digits += 1
            if at >= 0:
                is_open = True
                if not is_dry:
                    samples[n_samples, PROCESS], samples[n_samples, THREAD] = process, thread
                    samples[n_samples, FIRST] = n_references
                    samples[n_samples, LASTS] = 0
                    samples[n_samples, SIZE] = 0
                    samples[n_samples, IS_IDLE] = 0
                n_samples += 1
        elif event == FRAME:
            if not is_dry:
                definitions[n_definitions, 0] = event
                definitions[n_definitions, 1] = at
            key, at = _number(data, at)
            for _ in range(6 if version >= 2 else 3):
                if at >= 0:
                    value, at = _number(data, at)
            if at >= 0:
                if not is_dry:
                    frames[n_frames, 0], frames[n_frames, 1] = process, key
                    table[_slot(process, key, frames, table)] = n_frames
                n_definitions += 1
                n_frames += 1
        elif event == REFERENCE:
            value, at = _number(data, at)
            if at >= 0:
                if not is_dry:
                    known = np.int64(table[_slot(process, value, frames, table)])
                    if known < 0:
                        if state[UNKNOWN] == 0:
                            state[FIRST_UNKNOWN] = begin
                        state[UNKNOWN] += 1
                    if is_open:
                        references[n_references] = known
                n_references += np.int64(is_open)
        elif event in (INVALID, COLLECTOR, KERNEL):
            if not is_dry and is_open:
                special = np.int64(NOT_VALID if event == INVALID else IN_COLLECTOR)
                references[n_references] = special if event != KERNEL else NAMED - at
            n_references += np.int64(is_open)
            if event == KERNEL:
                at = _behind_text(data, at)
        elif event == IDLE:
            if not is_dry and is_open:
                samples[n_samples - 1, IS_IDLE] = 1
        elif event in (TIME, MEMORY):
            value, at = _number(data, at)
            if not is_dry and is_open and at >= 0:
                samples[n_samples - 1, LASTS if event == TIME else SIZE] = value
        else:
            how, at = ODD, begin
            break
        if at < 0:
            # What a sample has so far may be half of it.
            how, at = CUT, begin
            if is_open:
                n_samples -= 1
                n_references = samples[n_samples, FIRST] if not is_dry else n_references
            break
    state[SAMPLES], state[REFERENCES], state[DEFINITIONS] = n_samples, n_references, n_definitions
    state[AT], state[HOW] = at, how


@kernel
def lay_rounds(process, thread, lasts, now, longest, round_of, seen, time):  # type: ignore[no-untyped-def]
    """Write when samples were taken: a process's threads are sampled in turn, once in each round.

    Parameters
    ----------
    process, thread : int64 (n,)
    lasts : int64 (n,)
        Nanoseconds.
    now, longest, round_of : int64 (processes,)
        0, 0 and 1; changed.
    seen : int64 (threads,)
        0; changed.
    time : int64 (n,)
        Filled: nanoseconds from the first sample of its process.
    """
    for row in range(len(process)):
        one, other = process[row], thread[row]
        if seen[other] == round_of[one]:
            now[one] = min(now[one] + longest[one], _LATEST)
            longest[one] = 0
            round_of[one] += 1
        seen[other] = round_of[one]
        longest[one] = max(longest[one], lasts[row])
        time[row] = now[one]
