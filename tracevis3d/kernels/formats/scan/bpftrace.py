# ruff: noqa: SIM109 (comparing with a tuple takes Numba longer to compile)
"""Text that bpftrace prints of maps whose keys have stacks: where each part of an entry lies."""

from __future__ import annotations

import numpy as np

from ...jit import inline, kernel

#: Slots of the state (int64): rows of the tables; maps without stacks and histograms, of the first its line,
#: where that begins and ends, and whether it is a histogram; whether the last entry has no end; lines.
ENTRIES, FRAMES, PARTS, DOCUMENTS = 0, 1, 2, 3
UNSUPPORTED, UNSUPPORTED_LINE, UNSUPPORTED_LOW, UNSUPPORTED_HIGH, IS_HISTOGRAM = 4, 5, 6, 7, 8
IS_CUT, LINES, STATE_SIZE = 9, 10, 11
#: Columns of an entry: where the name of its map begins and ends, its first rows of frames and of parts,
#: where its value begins and ends, the value (-1: no whole number of at most 18 digits), and its last line.
NAME, NAME_END, FRAME, PART, VALUE, VALUE_END, WEIGHT, LINE, ENTRY_COLUMNS = range(9)
#: Columns of a line of JSON: where it begins and ends, its number, and how many entries are before it.
DOCUMENT_COLUMNS = 4

_TAB, _LF, _CR, _BLANK, _COMMA, _ZERO, _NINE, _COLON, _AT, _OPEN, _CLOSE = (
    9, 10, 13, 32, 44, 48, 57, 58, 64, 91, 93,
)  # fmt: skip
#: How lines of JSON begin.
JSON = np.frombuffer(b'{"type"', np.uint8).copy()
_MOST_DIGITS = 18


@inline
def _is_blank(byte):  # type: ignore[no-untyped-def]
    return byte == _BLANK or byte == _TAB


@inline
def _is_between(byte):  # type: ignore[no-untyped-def]
    """Return whether a byte only separates the parts of a key."""
    return byte == _BLANK or byte == _COMMA


@inline
def _add(table, row, low, high):  # type: ignore[no-untyped-def]
    """Write a row where there is room; return how many there are."""
    if row < len(table):
        table[row, 0], table[row, 1] = low, high
    return row + 1


@inline
def _add_part(data, low, high, frames, n_frames, parts, n_parts):  # type: ignore[no-untyped-def]
    """Write a piece of a key: a frame if it is indented, else a part if it is more than commas and blanks."""
    if low < high and _is_blank(data[low]):
        return _add(frames, n_frames, low, high), n_parts
    while low < high and _is_between(data[low]):
        low += 1
    while low < high and _is_between(data[high - 1]):
        high -= 1
    if low < high:
        n_parts = _add(parts, n_parts, low, high)
    return n_frames, n_parts


@inline
def _weight(data, low, high):  # type: ignore[no-untyped-def]
    """Return the number in ``data[low:high]``; -1 if it is not a plain one."""
    while low < high and (_is_blank(data[high - 1]) or data[high - 1] == _CR):
        high -= 1
    if low == high or high - low > _MOST_DIGITS:
        return np.int64(-1)
    weight = np.int64(0)
    for at in range(low, high):
        byte = data[at]
        if byte < _ZERO or byte > _NINE:
            return np.int64(-1)
        weight = weight * 10 + np.int64(byte - _ZERO)
    return weight


@inline
def _note_unsupported(state, line, low, high, is_histogram):  # type: ignore[no-untyped-def]
    if state[UNSUPPORTED] == 0:
        state[UNSUPPORTED_LINE], state[IS_HISTOGRAM] = line, is_histogram
        state[UNSUPPORTED_LOW], state[UNSUPPORTED_HIGH] = low, high
    state[UNSUPPORTED] += 1


@kernel
def scan_maps(data, json, state, entries, frames, parts, documents):  # type: ignore[no-untyped-def]
    """Find the entries of maps whose keys have stacks, from ``@name[`` to ``]: value``, and lines of JSON.

    What the program itself printed is passed over. Rows for which a table has no room are only counted.

    Parameters
    ----------
    data : uint8 (bytes,)
    json : uint8 (k,)
        How lines of JSON begin: :data:`JSON`.
    state : int64 (STATE_SIZE,)
        Zeros before; filled.
    entries : int64 (entries, ENTRY_COLUMNS)
        Filled.
    frames : int64 (frames, 2)
        Filled: where each begins and ends, in the order of the file.
    parts : int64 (parts, 2)
        Filled: where all else in the keys does, without the commas and blanks around.
    documents : int64 (documents, DOCUMENT_COLUMNS)
        Filled.
    """
    size = np.int64(len(data))
    n_entries, n_frames, n_parts, n_documents = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    name, name_end, frame, part = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    is_open = False
    low, line = np.int64(0), np.int64(0)
    while low <= size:
        high = low
        while high < size and data[high] != _LF:
            high += 1
        line += 1
        first = data[low] if low < high else np.uint8(0)
        if is_open and _is_blank(first):
            n_frames = _add(frames, n_frames, low, high)
        elif is_open:
            at = high - 3
            while at >= low and not (
                data[at] == _CLOSE and data[at + 1] == _COLON and data[at + 2] == _BLANK
            ):
                at -= 1
            if at >= low:
                n_frames, n_parts = _add_part(data, low, at, frames, n_frames, parts, n_parts)
                if n_entries < len(entries):
                    entries[n_entries, NAME], entries[n_entries, NAME_END] = name, name_end
                    entries[n_entries, FRAME], entries[n_entries, PART] = frame, part
                    entries[n_entries, VALUE], entries[n_entries, VALUE_END] = at + 3, high
                    entries[n_entries, WEIGHT] = _weight(data, at + 3, high)
                    entries[n_entries, LINE] = line
                n_entries += 1
                is_open = False
            elif high - low >= 2 and data[high - 2] == _CLOSE and data[high - 1] == _COLON:
                # A histogram of each stack.
                _note_unsupported(state, line, low, high, np.int64(1))
                n_frames, n_parts, is_open = frame, part, False
            else:
                n_frames, n_parts = _add_part(data, low, high, frames, n_frames, parts, n_parts)
        elif first == _AT:
            opened, has_colon, is_closed = np.int64(-1), False, False
            for here in range(low, high):
                byte = data[here]
                has_colon |= byte == _COLON
                if byte == _OPEN and opened < 0:
                    opened = np.int64(here)
                elif byte == _CLOSE and opened >= 0:
                    is_closed = True
            if opened >= 0 and not is_closed:
                is_open, name, name_end, frame, part = True, low, opened, n_frames, n_parts
                n_frames, n_parts = _add_part(data, opened + 1, high, frames, n_frames, parts, n_parts)
            elif has_colon:
                _note_unsupported(state, line, low, opened if opened >= 0 else high, np.int64(0))
        elif first == json[0] and high - low >= len(json):
            is_json = True
            for k in range(len(json)):
                is_json &= data[low + k] == json[k]
            if is_json:
                if n_documents < len(documents):
                    documents[n_documents, 0], documents[n_documents, 1] = low, high
                    documents[n_documents, 2], documents[n_documents, 3] = line, n_entries
                n_documents += 1
        low = high + 1
    if is_open:
        state[IS_CUT] = 1
        n_frames, n_parts = frame, part
    state[ENTRIES], state[FRAMES], state[PARTS], state[DOCUMENTS] = n_entries, n_frames, n_parts, n_documents
    state[LINES] = line
