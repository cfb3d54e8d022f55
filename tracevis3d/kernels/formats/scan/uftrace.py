"""Scanner of uftrace's data files: 16-byte records, some of them followed by arguments, into columns.

A record is two little-endian words: the time in nanoseconds, and from the lowest bit 2 bits of type, 1 bit
that says that data follows, 3 bits of magic (5), 10 bits of depth and 48 bits of address.
"""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel

#: Slots of the state (int64); POSITION and places are words of 8 bytes.
POSITION, ROWS, KEYS, SESSION, LAST_TIME, LAST_DEPTH = 0, 1, 2, 3, 4, 5
EVENTS, EVENTS_AT, LOST, LOST_AT, BROKEN, BROKEN_AT, GUESSED, GUESSED_AT = 6, 7, 8, 9, 10, 11, 12, 13
STATE_SIZE = 14
#: What :func:`scan_records` returns.
DONE, KEYS_FULL = 0, 1

_ENTRY, _EXIT, _LOST, _EVENT = 0, 1, 2, 3
_MAGIC = 5
#: Maximum time (an hour) between two records of a thread when searching for the next record.
_GAP = 3_600_000_000_000


@inline
def _is_record(words, at, last_time, last_depth):  # type: ignore[no-untyped-def]
    """Whether a record can start at ``at``: its magic is right, time and depth continue from the last."""
    if at + 1 >= len(words):
        return at == len(words)
    word = words[at + 1]
    if ((word >> np.uint64(3)) & np.uint64(7)) != np.uint64(_MAGIC):
        return False
    if np.int64((word >> np.uint64(6)) & np.uint64(1023)) > last_depth + 1:
        return False
    time = np.int64(words[at])
    return last_time < 0 or (time >= last_time and time - last_time < _GAP)


@inline
def _after_arguments(words, at, spec, spec_first, spec_size):  # type: ignore[no-untyped-def]
    """Return where the arguments at ``at`` end; each is padded to 4 bytes, all to 8; size -1: a string."""
    offset = np.int64(0)
    for k in range(spec_first[spec], spec_first[spec + 1]):
        size = spec_size[k]
        if size < 0:
            word = at + (offset >> 3)
            if word >= len(words):
                return np.int64(len(words))
            size = np.int64((words[word] >> np.uint64(8 * (offset & 7))) & np.uint64(0xFFFF)) + 2
        offset = (offset + size + 3) & ~3
    return at + ((offset + 7) >> 3)


@kernel
def scan_records(  # type: ignore[no-untyped-def]
    words,
    state,
    sessions,
    session_start,
    out_kind,
    out_key,
    out_time,
    out_first,
    out_second,
    table,
    keys,
    key_spec,
    spec_low,
    spec_high,
    spec_first,
    spec_size,
):
    """Read the records of one thread.

    Parameters
    ----------
    words : uint64 (n,)
    state : int64 (STATE_SIZE,)
        Zeros at first, but LAST_TIME, which is -1, and LAST_DEPTH, which is the deepest of all.
    sessions, session_start : int64 (s,)
        Numbers of the thread's sessions and the times from which they hold, ascending.
    out_kind : uint8 (n // 2,)
        0 for an entry, 1 for an exit.
    out_key : int32 (n // 2,)
        Number of the address in ``keys``.
    out_time : int64 (n // 2,)
    out_first, out_second : uint64 (n // 2,)
        The first two arguments of an entry; 0 where they are not recorded, or no numbers.
    table : int32 (slots,)
        Open addressing over ``keys``; -1: free; a power of two.
    keys : int64 (capacity,)
        Session in the upper 16 bits, address in the lower 48.
    key_spec : int64 (capacity,)
        Row of the argument lists of the entry (the exit's is the next one); -1: unknown.
    spec_low, spec_high : int64 (f,)
        Keys of the first and behind the last address of the functions with arguments, ascending; their
        lists are ``2 * row`` and ``2 * row + 1``.
    spec_first : int64 (2 * f + 1,)
    spec_size : int64 (k,)
        List ``r`` is ``spec_size[spec_first[r]:spec_first[r + 1]]``.
    """
    at = state[POSITION]
    rows = state[ROWS]
    known = state[KEYS]
    session = state[SESSION]
    last_time = state[LAST_TIME]
    last_depth = state[LAST_DEPTH]
    mask = len(table) - 1
    result = DONE
    while at + 1 < len(words):
        if known == len(keys):
            result = KEYS_FULL
            break
        word = words[at + 1]
        start = at
        guess = False
        if ((word >> np.uint64(3)) & np.uint64(7)) != np.uint64(_MAGIC):
            state[BROKEN] += 1
            if state[BROKEN] == 1:
                state[BROKEN_AT] = at
            at += 1
            guess = True
        else:
            time = np.int64(words[at])
            kind = np.int64(word & np.uint64(3))
            address = np.int64(word >> np.uint64(16))
            spec = np.int64(-1)
            at += 2
            if kind == _EVENT:
                state[EVENTS] += 1
                if state[EVENTS] == 1:
                    state[EVENTS_AT] = start
            elif kind == _LOST:
                state[LOST] += max(address, 1)
                if state[LOST_AT] == 0:
                    state[LOST_AT] = start
            else:
                while session + 1 < len(sessions) and session_start[session + 1] <= time:
                    session += 1
                key = (sessions[session] << 48) | address
                mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
                slot = np.int64(mixed >> np.uint64(32)) & mask
                while table[slot] >= 0 and keys[table[slot]] != key:
                    slot = (slot + 1) & mask
                number = np.int64(table[slot])
                if number < 0:
                    number = known
                    known += 1
                    table[slot] = number
                    keys[number] = key
                    low = 0
                    high = len(spec_low)
                    while low < high:
                        middle = (low + high) >> 1
                        if spec_low[middle] <= key:
                            low = middle + 1
                        else:
                            high = middle
                    key_spec[number] = -1
                    if low > 0 and key < spec_high[low - 1]:
                        key_spec[number] = 2 * (low - 1)
                spec = key_spec[number]
                out_kind[rows] = kind
                out_key[rows] = number
                out_time[rows] = time
                out_first[rows] = 0
                out_second[rows] = 0
                rows += 1
                last_time = time
                last_depth = np.int64((word >> np.uint64(6)) & np.uint64(1023))
            if word & np.uint64(4):
                if kind == _EVENT:
                    if at < len(words):
                        at += (np.int64(words[at] & np.uint64(0xFFFF)) + 9) >> 3
                elif spec >= 0:
                    last = spec_first[spec + 1] - 1
                    first = spec_first[spec]
                    if kind == 0 and first <= last and spec_size[first] == 8 and at < len(words):
                        out_first[rows - 1] = words[at]
                        if first < last and spec_size[first + 1] == 8 and at + 1 < len(words):
                            out_second[rows - 1] = words[at + 1]
                    at = _after_arguments(words, at, spec + kind, spec_first, spec_size)
                if at > len(words):
                    at = np.int64(len(words))
                if (spec < 0 and kind != _EVENT) or not _is_record(words, at, last_time, last_depth):
                    guess = True
                    at = start + 2
                    state[GUESSED] += 1
                    if state[GUESSED] == 1:
                        state[GUESSED_AT] = start
        if guess:
            while at < len(words) and not _is_record(words, at, last_time, last_depth):
                at += 1
    state[POSITION] = at
    state[ROWS] = rows
    state[KEYS] = known
    state[SESSION] = session
    state[LAST_TIME] = last_time
    state[LAST_DEPTH] = last_depth
    return result


@kernel
def fill_keys(table, keys, count):  # type: ignore[no-untyped-def]
    """Enter keys into an empty table.

    Parameters
    ----------
    table : int32 (slots,)
        -1 before; filled.
    keys : int64 (capacity,)
    count : int
        How many there are.
    """
    mask = len(table) - 1
    for number in range(count):
        mixed = np.uint64(keys[number]) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(mixed >> np.uint64(32)) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = number


@kernel
def count_sized(data):  # type: ignore[no-untyped-def]
    """Return how many records there are that have their size in bytes 6 and 7, as perf's do."""
    count = np.int64(0)
    at = np.int64(0)
    while at + 8 <= len(data):
        size = np.int64(data[at + 6]) + 256 * np.int64(data[at + 7])
        if size < 8:
            break
        at += size
        count += 1
    return count
