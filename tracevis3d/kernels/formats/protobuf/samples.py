"""The samples of a pprof profile: locations, values and labels of all of them, in one pass."""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from .fields import S_BYTE, S_DAMAGED, S_MESSAGE, S_ROWS, read_field, read_varint

#: Further fields of the state: labels written, labels that are numbers (and the first), samples that do not
#: have one value for each type, and locations that are not known (and the first one's id).
S_LABELS, S_ODD, S_ODD_VALUE, S_WRONG, S_UNKNOWN, S_UNKNOWN_ID, STATE_SIZE = 4, 5, 6, 7, 8, 9, 10

_LOCATION, _VALUE, _LABEL = 1, 2, 3


@kernel
def scan_samples(  # type: ignore[no-untyped-def]
    data, start, stop, low, table, state, first, place, values, label_first, label_stop, label_owner
):
    """Write what samples hold; a sample ends where it is damaged.

    Parameters
    ----------
    data : uint8 (bytes,)
    start, stop : int64 (samples,)
        Sample ``i`` is ``data[start[i]:stop[i]]``.
    low : int
    table : int64 (ids,)
        The place of the location with the id ``low``, and of those behind it; -1: there is none. If it is
        empty, ids are written instead of places.
    state : int64 (STATE_SIZE,)
        Zeros before; filled.
    first : int64 (samples + 1,)
        Filled: places ``first[i]`` to ``first[i + 1]`` are those of sample ``i``.
    place : int64 (room,)
        Filled: those of all locations, -1 for unknown ones. There is room for one for each byte of a sample.
    values : int64 (types, samples)
        Zeros before; filled, without what is beyond the types.
    label_first, label_stop, label_owner : int64 (room,)
        Filled: where labels are, and the sample of each. There is room for one for two bytes of a sample.
    """
    types = values.shape[0]
    rows, labels = np.int64(0), np.int64(0)
    for i in range(len(start)):
        first[i] = rows
        at, end = np.int64(start[i]), np.int64(stop[i])
        many = np.int64(0)
        while at < end:
            begin = at
            field, found, length, at = read_field(data, at, end)
            if at < 0:
                if state[S_DAMAGED] == 0:
                    state[S_BYTE], state[S_MESSAGE] = begin, i
                state[S_DAMAGED] += 1
                break
            if field == _LABEL:
                if length < 0:
                    if state[S_ODD] == 0:
                        state[S_ODD_VALUE] = found
                    state[S_ODD] += 1
                else:
                    label_first[labels], label_stop[labels], label_owner[labels] = found, at, i
                    labels += 1
            elif field in (_LOCATION, _VALUE):
                # One number, or several that are packed.
                p, last = found, at
                while length < 0 or p < last:
                    before = p
                    number = np.uint64(found)
                    if length >= 0:
                        number, p = read_varint(data, p, last)
                        if p < 0:
                            if state[S_DAMAGED] == 0:
                                state[S_BYTE], state[S_MESSAGE] = before, i
                            state[S_DAMAGED] += 1
                            break
                    if field == _LOCATION:
                        row = np.int64(number) - low
                        known = table[row] if 0 <= row < len(table) else np.int64(-1)
                        if len(table) == 0:
                            known = np.int64(number)
                        elif known < 0:
                            if state[S_UNKNOWN] == 0:
                                state[S_UNKNOWN_ID] = np.int64(number)
                            state[S_UNKNOWN] += 1
                        place[rows] = known
                        rows += 1
                    else:
                        if many < types:
                            values[many, i] = np.int64(number)
                        many += 1
                    if length < 0:
                        break
        state[S_WRONG] += many != types
    first[len(start)] = rows
    state[S_ROWS], state[S_LABELS] = rows, labels
