"""The scanner of Chrome Trace Event JSON: from bytes to columns, a word at a time.

It reads the records of an event array that look as writers usually write them. A record that it does not
understand in full is left to the caller (``ODD``: valid JSON perhaps, ``BROKEN``: certainly not), so that
it never has to guess. Strings are interned as they stand, with their escapes. The caller keeps at least
64 bytes of zeros behind ``end``.
"""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel
from ...raw_bytes import (
    address,
    byte,
    count_digits,
    get,
    get32,
    load64,
    put,
    put32,
    store64,
    to_quote_or_bracket,
    to_quote_or_escape,
    trailing_zeros,
    value_of_digits,
)

#: What :func:`scan_events` returns.
MORE, DONE, ODD, BROKEN, GROW = 0, 1, 2, 3, 4

#: Places in ``state``: where the next record starts, how much of each table is in use, whether one is full;
#: then the addresses of the tables (of the blob also its size, of the others the number of rows).
S_POSITION, S_EVENTS, S_ROWS, S_TEXTS, S_BLOB, S_RECORDS, S_FULL = range(7)
A_TABLE, A_MASK, A_TEXTS, A_ROOM, A_BLOB, A_BLOB_SIZE, A_ROWS, A_ROW_ROOM, A_REPAIRS, A_KEY, A_SLOT = range(
    7, 18
)
STATE_SIZE = 18

#: Columns of ``rows``, for everything except begin, end and complete events.
R_PHASE, R_NAME, R_CATEGORY, R_THREAD, R_TIME, R_ID, R_FLAGS, R_EXTRA, R_SIZE = range(9)
#: ``R_PHASE`` of a row beside a call, for its flow or its waiting.
CALL_ROW = ord("X")

#: Columns of ``texts``.
T_HASH, T_START, T_LENGTH, T_CATEGORY, T_SIZE = range(5)

#: Rows of ``repairs``, which holds how often, and the byte of the first.
M_NO_NAME, M_NO_THREAD, M_NO_DURATION, M_UNSUPPORTED = range(4)

#: Bit of ``place`` that is set if the record has arguments.
HAS_ARGUMENTS = 1 << 31

#: The keys of a record that matter; bit ``k`` of ``R_FLAGS`` is set if the record has key ``k``.
KEYS = (
    "ph",
    "ts",
    "dur",
    "pid",
    "tid",
    "name",
    "cat",
    "args",
    "id",
    "id2",
    "bp",
    "bind_id",
    "flow_in",
    "flow_out",
)
HAS_PH, HAS_TS, HAS_DUR, HAS_PID, HAS_TID, HAS_NAME, HAS_CAT = (1 << k for k in range(7))
HAS_ARGS, HAS_ID, HAS_ID2, HAS_BP, HAS_BIND, HAS_IN, HAS_OUT = (1 << k for k in range(7, 14))
#: More bits of ``R_FLAGS``: "bp" is "e", "flow_in" and "flow_out" are true, the arguments have a "kind".
F_ENCLOSING, F_IN, F_OUT, F_KIND = (1 << k for k in range(16, 20))

# Types of a value, as bits.
_PLAIN, _ESCAPED, _OBJECT, _KIND_OBJECT, _ARRAY, _INTEGER, _OTHER = (1 << k for k in range(7))
_TEXT, _DICT, _ID_TYPES = _PLAIN | _ESCAPED, _OBJECT | _KIND_OBJECT, _PLAIN | _INTEGER
TYPE_BITS = 7

# Places in ``slot``: two numbers, then start and end of the value of each key.
_NS, _REST = 0, 1
_PH, _TS, _DUR, _PID, _TID, _NAME, _CAT, _ARGS, _ID, _ID2, _BP, _BIND, _IN, _OUT = range(2, 30, 2)
SLOT_SIZE = 32
_NEEDED, _OWNER = HAS_PH | HAS_TS, HAS_PID | HAS_TID
_ARGS_NUMBER = KEYS.index("args")
#: What type each key's value may be of for the scanner.
_ALLOWED = np.array(
    (
        *(_PLAIN, _PLAIN | _INTEGER | _OTHER, _PLAIN | _INTEGER | _OTHER, _ID_TYPES, _ID_TYPES, _TEXT, _TEXT),
        *(_DICT, _ID_TYPES, _DICT, _PLAIN, _ID_TYPES, _OTHER, _OTHER),
    ),
    np.int64,
)

_U = np.uint64


def _word(text: str) -> np.uint64:
    return _U(int.from_bytes(text.encode(), "little"))


# A known key is found by a perfect hash of its characters.
_KEY_MIX, _KEY_SHIFT = _U(0x78E510617311D8A3), _U(58)
_KEY_WORD = np.full(64, 0x22, np.uint64)  # keys contain no quotes
_KEY_NUMBER = np.zeros(64, np.int64)
for _number_of_key, _key in enumerate(KEYS):
    _place = (int(_word(_key)) * int(_KEY_MIX) % (1 << 64)) >> 58
    assert _KEY_WORD[_place] == 0x22, "the hash of the keys is not perfect"
    _KEY_WORD[_place] = _word(_key)
    _KEY_NUMBER[_place] = _number_of_key
_W_KIND, _W_TRUE, _W_NULL, _W_FALSE = _word('kind"'), _word("true"), _word("null"), _word("false")

# What the letters of ``ph`` represent.
_UNSUPPORTED, _CALL, _ROW, _META = range(4)
_CLASS = np.zeros(256, np.int64)
for _letters, _class in (("XBE", _CALL), ("iIRstfbenSTFpC", _ROW), ("MP", _META)):
    for _letter in _letters:
        _CLASS[ord(_letter)] = _class

_NONE = _U(0)
_FIVE, _FOUR = _U(0xFFFFFFFFFF), _U(0xFFFFFFFF)
_MIX, _FOLD, _FOLD_LAST = _U(0x9E3779B97F4A7C15), _U(29), _U(32)
_POW10 = np.array([10**k for k in range(9)], np.int64)
_BELOW = np.array([(1 << (8 * min(k, 8))) - 1 for k in range(16)], np.uint64)
#: Microseconds beyond this are left to the caller (TIME_LIMIT of trace.recording, in microseconds).
_MICROSECONDS = (1 << 62) // 1000 - 1
_LIMIT = 1 << 62
#: A ns has this many units of the rest, 1e-13 ns each.
_NANOSECOND = 10**13
_HALF = _NANOSECOND // 2

# What helpers return instead of an index.
_MORE, ODD_VALUE = -1, -2


@inline
def _space(i):  # type: ignore[no-untyped-def]
    """Return the index of the first character from ``i`` on that is not white space."""
    c = byte(i)
    while c == 32 or c == 10 or c == 13 or c == 9:
        i += 1
        c = byte(i)
    return i


@inline
def _string_end(i, end):  # type: ignore[no-untyped-def]
    """Return 2 * (index of the closing quote) + (whether there are escapes); -1 if it is not there."""
    escaped = np.int64(0)
    while i < end:
        way = to_quote_or_escape(i)
        i += way
        if way < 32:
            if byte(i) == 34:
                return 2 * i + escaped if i < end else np.int64(-1)
            escaped = np.int64(1)
            i += 2
    return np.int64(-1)


@kernel
def value_end(i, end):  # type: ignore[no-untyped-def]
    """Find where a value ends, and of which type it is.

    Parameters
    ----------
    i, end : int
        Addresses.

    Returns
    -------
    int64
        The address behind the value, times 2**7, plus its type; negative if it does not end before ``end``
        (-1) or is none (-2).
    """
    c = byte(i)
    if c == 34:
        closing = _string_end(i + 1, end)
        return (
            ((closing >> 1) + 1) << TYPE_BITS | (_PLAIN << (closing & 1)) if closing >= 0 else np.int64(_MORE)
        )
    start = i
    kind = np.int64(_OTHER)
    if c == 123 or c == 91:
        kind = np.int64(_OBJECT if c == 123 else _ARRAY)
        depth = np.int64(0)
        while i < end:
            way = to_quote_or_bracket(i)
            i += way
            if way < 32:
                c = byte(i)
                i += 1
                if c == 34:
                    if load64(i) & _FIVE == _W_KIND and kind == _OBJECT:
                        kind = np.int64(_KIND_OBJECT)
                    closing = _string_end(i, end)
                    i = (closing >> 1) + 1 if closing >= 0 else end
                else:
                    # [ and { have bit 1 set, ] and } have it not.
                    depth += (c & 2) - 1
                    if depth == 0:
                        return i << TYPE_BITS | kind if i <= end else np.int64(_MORE)
        return np.int64(_MORE)
    if c > 57:
        word = load64(i)
        if word & _FOUR == _W_TRUE or word & _FOUR == _W_NULL:
            i += 4
        elif word & _FIVE == _W_FALSE:
            i += 5
    else:
        whole = i + np.int64(c == 45)
        i = whole
        count = np.int64(8)
        while count == 8:
            count = count_digits(load64(i))
            i += count
        c = byte(i)
        if c == 46 and i > whole:
            count = np.int64(8)
            i += 1
            while count == 8:
                count = count_digits(load64(i))
                i += count
            c = byte(i)
            if (c | 32) != 101:
                return i << TYPE_BITS | kind
        if c == 46 or (c | 32) == 101:
            while (c >= 48 and c <= 57) or c == 45 or c == 46 or c == 43 or (c | 32) == 101:
                i += 1
                c = byte(i)
        elif i > whole and (byte(whole) != 48 or i == start + 1):
            # Only the shortest form: no leading zero, no -0.
            kind = np.int64(_INTEGER)
    if i > start:
        return i << TYPE_BITS | kind
    return np.int64(_MORE if i >= end else ODD_VALUE)


@inline
def _number(i, high, slot):  # type: ignore[no-untyped-def]
    """Read the number ``data[i:high]``, in thousandths, into ``slot``; return whether it could be read.

    ``slot[_NS]`` is the largest integer that is not above it, ``slot[_REST]`` the rest in units of 1e-13.
    """
    negative = byte(i) == 45
    i += np.int64(negative)
    zero = byte(i) == 48
    word = load64(i)
    count = count_digits(word)
    if count == 0 or (zero and count > 1):
        return False
    whole = value_of_digits(word, count)
    i += count
    if count == 8:
        word = load64(i)
        count = count_digits(word)
        if count > 0:
            whole = whole * _POW10[count] + value_of_digits(word, count)
            i += count
    ns = whole * 1000
    rest = np.int64(0)
    if byte(i) == 46:
        i += 1
        word = load64(i)
        count = count_digits(word)
        if count == 0:
            return False
        part = value_of_digits(word, count) * _POW10[8 - count]
        i += count
        ns += part // 100000
        rest = (part % 100000) * 100000000
        if count == 8:
            word = load64(i)
            count = count_digits(word)
            if count > 0:
                rest += value_of_digits(word, count) * _POW10[8 - count]
                i += count
    if negative:
        # The largest integer below.
        carry = np.int64(rest > 0)
        ns = -ns - carry
        rest = carry * _NANOSECOND - rest
    put(slot, _NS, ns)
    put(slot, _REST, rest)
    return i == high and whole <= _MICROSECONDS


@kernel
def intern(low, high, state):  # type: ignore[no-untyped-def]
    """Return the number of a text, a new one if it is new.

    Parameters
    ----------
    low, high : int
        Addresses of its first byte and behind its last.
    state : int
        Address of the state that :func:`scan_events` describes.

    Returns
    -------
    int64
        -1 if a table is full; ``S_FULL`` of the state is 1 then.
    """
    length = high - low
    value = _U(length) * _MIX
    other = _MIX
    i = low
    # Two chains, so that one multiplication need not wait for the other.
    while i + 16 <= high:
        value = (value ^ load64(i)) * _MIX
        other = (other ^ load64(i + 8)) * _MIX
        value ^= value >> _FOLD
        other ^= other >> _FOLD_LAST
        i += 16
    if i + 8 <= high:
        other = (other ^ load64(i)) * _MIX
        i += 8
    last = load64(i) & _BELOW[high - i]
    value = (value ^ last ^ (other >> _FOLD) ^ other) * _MIX
    mark = np.int64(value ^ value >> _FOLD_LAST)
    table = get(state, A_TABLE)
    mask = get(state, A_MASK)
    texts = get(state, A_TEXTS)
    place = mark & mask
    known = get32(table, place)
    while known >= 0:
        text = texts + known * (8 * T_SIZE)
        if get(text, T_HASH) == mark and get(text, T_LENGTH) == length:
            at = get(state, A_BLOB) + get(text, T_START)
            i = low
            while i + 8 <= high and load64(i) == load64(at):
                i += 8
                at += 8
            if i + 8 > high and load64(at) == last:
                return known
        place = (place + 1) & mask
        known = get32(table, place)
    known = get(state, S_TEXTS)
    start = get(state, S_BLOB)
    if known >= get(state, A_ROOM) or start + length + 8 > get(state, A_BLOB_SIZE):
        put(state, S_FULL, 1)
        return np.int64(-1)
    put32(table, place, known)
    text = texts + known * (8 * T_SIZE)
    put(text, T_HASH, mark)
    put(text, T_START, start)
    put(text, T_LENGTH, length)
    put(text, T_CATEGORY, -1)
    at = get(state, A_BLOB) + start
    i = low
    while i + 8 <= high:
        store64(at, load64(i))
        i += 8
        at += 8
    store64(at, last)
    put(state, S_TEXTS, known + 1)
    put(state, S_BLOB, at + 8 - get(state, A_BLOB))
    return known


@kernel
def scan_events(data, end, base, thread, kind, function, time, stop, place, table_state):  # type: ignore[no-untyped-def]
    """Read records from ``data[state[S_POSITION]:end]`` into the columns until something is in the way.

    Parameters
    ----------
    data : uint8 (m,)
        With at least 64 zeros from ``end`` on.
    end : int
    base : int
        Offset of ``data[0]`` in the unpacked file.
    thread, kind, function, time, stop, place
        Columns of begin, end and complete events: the thread's text, kind of
        :mod:`tracevis3d.trace.events`, the name's text (-1: none), recorded ns, ns of the end, offset of
        the record from ``data[0]`` with :data:`HAS_ARGUMENTS`.
    table_state : int64 (STATE_SIZE,)
        What is in use of the tables, and where they are:

        table : int32, power of two
            The hash table of ``texts``; -1: free.
        texts : int64 (t, 4)
            Hash, start in ``blob``, length; for a function the text of its first category, -1 if none.
            A thread is a text too: two int64, each 2 * (the text of the process's or thread's id) +
            (whether that was a string), or -1 for a missing id.
        blob : uint8
            The texts, each padded with zeros to a multiple of 8 bytes.
        rows : int64 (r, 8)
            Other records; columns by the ``R_`` names. ``R_ID`` is the text of "id", "id2" (as it stands) or,
            of a call, "bind_id". ``R_EXTRA`` is the text of the arguments where they are a counter's or
            have a "kind", else the byte of the record. A call with either has a row too: there
            ``R_CATEGORY`` is its index among the events.
        repairs : int64 (k, 2)
        key, slot : uint8 (80,), int64 (SLOT_SIZE,)
            Scratch.

    Returns
    -------
    code : int
        MORE: the data ends within a record or between two; DONE: the array's bracket was read; ODD,
        BROKEN: the record at the position is not understood; GROW: a table is full.
    """
    first = address(data)
    end += first
    # Offsets in the file from addresses.
    base -= first
    state = address(table_state)
    slot = get(state, A_SLOT)
    key = get(state, A_KEY)
    i = first + get(state, S_POSITION)
    last_process = _NONE
    last_tid = _NONE
    last_shape = np.int64(-1)
    owner = np.int64(-1)
    while True:
        i = _space(i)
        while byte(i) == 44:
            i = _space(i + 1)
        if i >= end:
            put(state, S_POSITION, end - first)
            return MORE
        put(state, S_POSITION, i - first)
        if byte(i) != 123:
            if byte(i) == 93:
                put(state, S_POSITION, i + 1 - first)
                return DONE
            return BROKEN
        event = get(state, S_EVENTS)
        row = get(state, S_ROWS)
        if event >= len(thread) or row >= get(state, A_ROW_ROOM):
            return GROW
        opened = i

        # The record, member by member; of members with the same key the last one counts.
        for k in range(_PH, SLOT_SIZE):
            put(slot, k, first + 1)
        flags = np.int64(0)
        i = _space(i + 1)
        while byte(i) == 34:
            word = load64(i + 1)
            closing = _string_end(i + 1, end)
            if closing < 0:
                return MORE
            if closing & 1:
                return ODD
            length = (closing >> 1) - i - 1
            i = (closing >> 1) + 1
            if byte(i) != 58:
                i = _space(i)
                if byte(i) != 58:
                    return MORE if i >= end else BROKEN
            i = _space(i + 1)
            found = value_end(i, end)
            if found < 0:
                return MORE if found == _MORE else ODD
            behind = found >> TYPE_BITS
            if length <= 8:
                word &= _BELOW[length]
                hashed = np.int64((word * _KEY_MIX) >> _KEY_SHIFT)
                if _KEY_WORD[hashed] == word:
                    number = _KEY_NUMBER[hashed]
                    if found & _ALLOWED[number] == 0:
                        return ODD
                    quote = np.int64(found & _TEXT != 0)
                    put(slot, _PH + 2 * number, i + quote)
                    put(slot, _PH + 2 * number + 1, behind - quote)
                    flags |= 1 << number
                    if number == _ARGS_NUMBER:
                        flags = flags & ~F_KIND | np.int64(found & _KIND_OBJECT != 0) * F_KIND
            i = _space(behind)
            if byte(i) == 44:
                i = _space(i + 1)
                if byte(i) != 34:
                    return MORE if i >= end else BROKEN
        if byte(i) != 125 or i >= end:
            return MORE if i >= end else BROKEN
        i += 1
        phase = byte(get(slot, _PH))
        what = _CLASS[phase]
        # Metadata and profiles are rare, and their arguments count.
        if flags & _NEEDED != _NEEDED or get(slot, _PH + 1) - get(slot, _PH) != 1 or what == _META:
            return ODD

        begin = np.int64(0)
        finish = np.int64(0)
        name = np.int64(-1)
        category = np.int64(-1)
        identity = np.int64(-1)
        extra = base + opened
        arguments = byte(_space(get(slot, _ARGS) + 1)) != 125 and flags & HAS_ARGS != 0
        if phase == 67 and not arguments:
            return ODD
        is_interned = arguments and (flags & F_KIND != 0 or phase == 67)
        is_end = phase == 69 or phase == 101 or phase == 70  # ends need no name
        no_duration = phase == 88 and flags & HAS_DUR == 0
        if what != _UNSUPPORTED:
            if not _number(get(slot, _TS), get(slot, _TS + 1), slot):
                return ODD
            begin = get(slot, _NS) + np.int64(get(slot, _REST) >= _HALF)
            finish = begin
            if phase == 88 and not no_duration:
                finish = get(slot, _NS)
                rest = get(slot, _REST)
                if not _number(get(slot, _DUR), get(slot, _DUR + 1), slot):
                    return ODD
                rest += get(slot, _REST)
                finish += get(slot, _NS) + np.int64(rest >= _HALF) + np.int64(rest >= _NANOSECOND + _HALF)
                if abs(finish) >= _LIMIT:
                    return ODD

            # The thread; most often that of the record before.
            width = get(slot, _PID + 1) - get(slot, _PID)
            tid_width = get(slot, _TID + 1) - get(slot, _TID)
            # Longer ids include their length, so they differ from the last one.
            process_word = load64(get(slot, _PID)) & _BELOW[width & 15]
            tid_word = load64(get(slot, _TID)) & _BELOW[tid_width & 15]
            shape = width << 32 | tid_width << 16 | flags & _OWNER
            same = shape == last_shape and process_word == last_process and tid_word == last_tid
            if not same or width > 8 or tid_width > 8:
                process = intern(get(slot, _PID), get(slot, _PID + 1), state)
                process = 2 * process + np.int64(byte(get(slot, _PID) - 1) == 34)
                tid = intern(get(slot, _TID), get(slot, _TID + 1), state)
                tid = 2 * tid + np.int64(byte(get(slot, _TID) - 1) == 34)
                store64(key, _U(process | -np.int64(flags & HAS_PID == 0)))
                store64(key + 8, _U(tid | -np.int64(flags & HAS_TID == 0)))
                owner = intern(key, key + 16, state)
                last_shape = shape
                last_process = process_word
                last_tid = tid_word

            if flags & HAS_NAME:
                name = intern(get(slot, _NAME), get(slot, _NAME + 1), state)
            # A call's category is that of its function's first call: only new functions look for it.
            if flags & HAS_CAT and (
                what != _CALL or (name > 0 and get(get(state, A_TEXTS) + name * (8 * T_SIZE), T_CATEGORY) < 0)
            ):
                category = intern(get(slot, _CAT), get(slot, _CAT + 1), state)
            if flags & (HAS_ID | HAS_ID2 | HAS_BIND):
                number = get(slot, _ID)
                behind = get(slot, _ID + 1)
                if what == _CALL:
                    number = get(slot, _BIND)
                    behind = get(slot, _BIND + 1)
                elif flags & HAS_ID2:
                    number = get(slot, _ID2)
                    behind = get(slot, _ID2 + 1)
                identity = intern(number, behind, state)
            if is_interned:
                extra = intern(get(slot, _ARGS), get(slot, _ARGS + 1), state)
            if get(state, S_FULL):
                return GROW

        # From here on nothing can fail.
        put(state, S_RECORDS, get(state, S_RECORDS) + 1)
        # A counter, C, belongs to a process.
        needs = HAS_PID if phase == 67 else _OWNER
        count_repair = np.int64(name < 0 and not is_end) | np.int64(flags & needs != needs) << 1
        count_repair |= np.int64(no_duration) << 2
        if what == _UNSUPPORTED:
            count_repair = np.int64(8)
        elif name < 0 and not is_end:
            name = np.int64(0)
        while count_repair != 0:
            k = trailing_zeros(_U(count_repair))
            count_repair &= count_repair - 1
            repairs = get(state, A_REPAIRS) + 16 * k
            if get(repairs, 0) == 0:
                put(repairs, 1, base + opened)
            put(repairs, 0, get(repairs, 0) + 1)
        if what == _CALL:
            thread[event] = owner
            # X is 2, B is 0, E is 1.
            kind[event] = 2 if phase == 88 else (phase >> 1) & 1 ^ 1
            function[event] = name
            time[event] = begin
            stop[event] = finish
            place[event] = opened - first + HAS_ARGUMENTS * np.int64(arguments)
            put(state, S_EVENTS, event + 1)
            if category >= 0:
                put(get(state, A_TEXTS) + name * (8 * T_SIZE), T_CATEGORY, category)
            category = event
            phase = np.int64(CALL_ROW)
        if what == _ROW or (what == _CALL and not is_end and (is_interned or flags & HAS_BIND != 0)):
            record = get(state, A_ROWS) + row * (8 * R_SIZE)
            put(record, R_PHASE, phase)
            put(record, R_NAME, name)
            put(record, R_CATEGORY, category)
            put(record, R_THREAD, owner)
            put(record, R_TIME, begin)
            put(record, R_ID, identity)
            flags |= np.int64(byte(get(slot, _BP)) == 101) * F_ENCLOSING
            flags |= np.int64(byte(get(slot, _IN)) == 116) * F_IN
            flags |= np.int64(byte(get(slot, _OUT)) == 116) * F_OUT
            put(record, R_FLAGS, flags)
            put(record, R_EXTRA, extra)
            put(state, S_ROWS, row + 1)


@kernel
def frame_events(data, position, end, bounds):  # type: ignore[no-untyped-def]
    """Find where objects start and end. Only brackets and strings are examined.

    It stops in front of what is not an object or no complete one.

    Parameters
    ----------
    data : uint8 (bytes,)
    position, end : int
    bounds : int64 (k + 1, 2)
        Filled: start and end of at most k objects; the row behind the last starts where it stopped.

    Returns
    -------
    int
        How many objects.
    """
    first = address(data)
    end += first
    count = 0
    i = first + position
    while True:
        i = _space(i)
        while byte(i) == 44:
            i = _space(i + 1)
        bounds[count, 0] = (i if i < end else end) - first
        if i >= end or byte(i) != 123 or count + 1 >= len(bounds):
            break
        i = value_end(i, end) >> TYPE_BITS
        if i < 0:
            break
        bounds[count, 1] = i - first
        count += 1
    return count


@kernel
def next_object(data, position, end):  # type: ignore[no-untyped-def]
    """Return the first index from ``position`` on where an object with a key opens.

    Parameters
    ----------
    data : uint8 (bytes,)
    position, end : int

    Returns
    -------
    int
        ``end`` if there is none.
    """
    first = address(data)
    end += first
    i = first + position
    while i < end:
        if byte(i) == 123:
            k = _space(i + 1)
            if k >= end or byte(k) == 34:
                return i - first
        i += 1
    return end - first


@kernel
def skip_value(data, position, end, walk):  # type: ignore[no-untyped-def]
    """Skip the rest of a value, which may continue in the next piece of data.

    Parameters
    ----------
    data : uint8 (bytes,)
    position, end : int
    walk : int64 (3,)
        The depth of brackets, whether this is inside a string (2: behind a backslash), and whether anything
        of the value was seen; zeros before the first call.

    Returns
    -------
    int
        The index behind the value; -1 if all of the data belongs to it.
    """
    i = position
    while i < end:
        c = data[i]
        if walk[1] == 2:
            walk[1] = 1
        elif walk[1] == 1:
            if c == 92:
                walk[1] = 2
            elif c == 34:
                walk[1] = 0
                if walk[0] == 0:
                    return i + 1
        elif c == 34:
            walk[1] = 1
            walk[2] = 1
        elif c == 123 or c == 91:
            walk[0] += 1
            walk[2] = 1
        elif c == 125 or c == 93:
            if walk[0] == 0:
                return i
            walk[0] -= 1
            if walk[0] == 0:
                return i + 1
        elif walk[0] == 0:
            if c == 44 or (c <= 32 and walk[2]):
                return i
            if c > 32:
                walk[2] = 1
        i += 1
    return -1


@kernel
def fill_table(table, texts, count):  # type: ignore[no-untyped-def]
    """Enter texts into an emptied table.

    Parameters
    ----------
    table : int32 (2**k,)
        -1 before; filled.
    texts : int64 (t, T_SIZE)
    count : int
        How many there are.
    """
    mask = len(table) - 1
    for known in range(count):
        place = texts[known, T_HASH] & mask
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = known
