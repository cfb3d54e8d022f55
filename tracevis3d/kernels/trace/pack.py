"""Kernels of the store: the check of a trace's calls, and their packed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel
from ..raw_bytes import load64, store64

_ONE = np.uint64(1)

#: A time before all others.
NO_TIME = -0x8000000000000000

#: Return value of :func:`unpack_calls` and :func:`check_calls` for valid data.
FINE = -1

# The packed form of a call is a control byte and up to 29 bytes of numbers, each in as few bytes as it
# needs, little-endian: the time since the start of the call before, the duration, how many calls ended in
# between, and how far the record is from that of the call before that has one. Two bits of the control
# byte for each say which of four forms it has.
TIME_BYTES = np.array([1, 2, 4, 8], np.int64)
ENDED_BYTES = np.array([0, 0, 1, 4], np.int64)
RECORD_BYTES = np.array([0, 2, 4, 8], np.int64)


def _forms() -> NDArray[np.int64]:
    """Return, for each control byte, the bytes of the four numbers, and what is added to the third."""
    control = np.arange(256)
    forms = np.empty((256, 5), np.int64)
    forms[:, 0] = TIME_BYTES[control & 3]
    forms[:, 1] = TIME_BYTES[control >> 2 & 3]
    forms[:, 2] = ENDED_BYTES[control >> 4 & 3]
    forms[:, 3] = RECORD_BYTES[control >> 6]
    forms[:, 4] = (control >> 4 & 3) == 1
    return forms


#: int64 (256, 5), by control byte: the bytes of the four numbers, and 1 where one call ended.
FORMS = _forms()
#: uint64 (9,): the bits of this many bytes.
MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
#: Maximum size of a packed call; the data is padded by this much.
LONGEST = 32


@kernel
def check_calls(  # type: ignore[no-untyped-def]
    function, parent, depth, start, end, extent, thread, first, count, n_functions
):
    """Return the first call that breaks the model's rules.

    Parameters
    ----------
    function, depth, thread : int32 (calls,)
    parent, start, end, extent : int64 (calls,)
    first, count : int64 (threads,)
        These have been checked: the slices follow each other and cover all calls.
    n_functions : int

    Returns
    -------
    int
        :data:`FINE` if none does.
    """
    for t in range(len(first)):
        lo = first[t]
        hi = lo + count[t]
        q = -1
        before = NO_TIME
        for i in range(lo, hi):
            # Close what ended before this call, up to its parent.
            p = parent[i]
            while q != p:
                if q < 0 or q + extent[q] != i:
                    return i
                before = end[q]
                q = parent[q]
            if p >= 0:
                if extent[i] < 1 or extent[i] > p + extent[p] - i:
                    return i
                if depth[i] != depth[p] + 1 or end[i] > end[p]:
                    return i
                if p == i - 1:
                    before = start[p]
            elif extent[i] < 1 or extent[i] > hi - i or depth[i] != 1:
                return i
            if start[i] < before or end[i] < start[i]:
                return i
            if thread[i] != t or function[i] < 0 or function[i] >= n_functions:
                return i
            q = i
        while q >= 0:
            if q + extent[q] != hi:
                return q
            q = parent[q]
    return FINE


@kernel
def measure_calls(first, count, depth, start, end, record, control):  # type: ignore[no-untyped-def]
    """Choose the control byte of each call.

    Parameters
    ----------
    first, count : int64 (threads,)
        The calls of each thread.
    depth : int32 (calls,)
    start, end : int64 (calls,)
    record : int64 (calls,) or (0,)
        -1: none; empty if no call has one.
    control : uint8 (calls,)
        Filled.

    Returns
    -------
    int
        The bytes that their numbers take in all.
    """
    has_record = len(record) > 0
    total = 0
    last_record = 0
    for t in range(len(first)):
        previous = 0
        level = 0
        for i in range(first[t], first[t] + count[t]):
            code = 0
            delta = start[i] - previous
            previous = start[i]
            if delta < 0 or delta > 0xFFFFFFFF:
                code = 3
                total += 8
            elif delta > 0xFFFF:
                code = 2
                total += 4
            elif delta > 0xFF:
                code = 1
                total += 2
            else:
                total += 1
            delta = end[i] - start[i]
            if delta < 0 or delta > 0xFFFFFFFF:
                code |= 12
                total += 8
            elif delta > 0xFFFF:
                code |= 8
                total += 4
            elif delta > 0xFF:
                code |= 4
                total += 2
            else:
                total += 1
            ended = level + 1 - depth[i]
            level = depth[i]
            if ended > 0xFF:
                code |= 48
                total += 4
            elif ended > 1:
                code |= 32
                total += 1
            elif ended == 1:
                code |= 16
            if has_record and record[i] >= 0:
                delta = record[i] - last_record
                last_record = record[i]
                if -0x8000 <= delta < 0x8000:
                    code |= 64
                    total += 2
                elif -0x80000000 <= delta < 0x80000000:
                    code |= 128
                    total += 4
                else:
                    code |= 192
                    total += 8
            control[i] = code
    return total


@kernel
def pack_calls(first, count, depth, start, end, record, control, forms, at):  # type: ignore[no-untyped-def]
    """Write the numbers of the calls to memory.

    Parameters
    ----------
    first, count, depth, start, end, record, control
        As :func:`measure_calls` takes and fills them.
    forms : int64 (256, 5)
        FORMS.
    at : int
        Address of :data:`LONGEST` bytes more than measured.
    """
    last_record = 0
    for t in range(len(first)):
        previous = 0
        level = 0
        for i in range(first[t], first[t] + count[t]):
            code = control[i]
            # Each store writes 8 bytes; what is beyond the number's own is written over by the next.
            store64(at, np.uint64(start[i] - previous))
            at += forms[code, 0]
            previous = start[i]
            store64(at, np.uint64(end[i] - start[i]))
            at += forms[code, 1]
            store64(at, np.uint64(level + 1 - depth[i]))
            at += forms[code, 2]
            level = depth[i]
            if code >= 64:
                delta = record[i] - last_record
                last_record = record[i]
                store64(at, (np.uint64(delta) << _ONE) ^ np.uint64(delta >> 63))
                at += forms[code, 3]


@kernel
def unpack_calls(  # type: ignore[no-untyped-def]
    first, count, packed_function, n_functions, control, forms, masks, at, size, stack,
    function, parent, depth, start, end, extent, thread, record,
):  # fmt: skip
    """Rebuild the calls from their packed form.

    Nothing is taken on trust: the first call that would break the model's rules, or is not within the packed
    bytes, is returned.

    Parameters
    ----------
    first, count : int64 (threads,)
        The calls of each thread.
    packed_function : uint16 or uint32 (calls,)
    n_functions : int
    control : uint8 (calls,)
    forms, masks : int64 (256, 5), uint64 (9,)
        FORMS and MASKS.
    at, size : int
        Address and length of the packed bytes; :data:`LONGEST` more can be read.
    stack : int64 (calls + 1,)
        Working space.
    function, depth, thread : int32 (calls,)
    parent, start, end, extent : int64 (calls,)
    record : int64 (calls,) or (0,)
        The calls; filled.

    Returns
    -------
    int
        :data:`FINE` if all is well.
    """
    has_record = len(record) > 0
    stop = at + size
    last_record = np.int64(0)
    for t in range(len(first)):
        hi = first[t] + count[t]
        s = np.int64(0)
        d = 0
        before = NO_TIME
        for i in range(first[t], hi):
            if at > stop:
                return i
            # Unsigned indices spare the test for negative ones.
            u = np.uintp(i)
            code = control[u]
            n = forms[code, 0]
            delta = np.int64(load64(at) & masks[n])
            at += n
            n = forms[code, 1]
            e = np.int64(load64(at) & masks[n])
            at += n
            n = forms[code, 2]
            ended = np.int64(load64(at) & masks[n]) + forms[code, 4]
            at += n
            s += delta
            e += s
            if ended > d or ended < 0:
                return i
            for _ in range(ended):
                d -= 1
                q = np.uintp(stack[np.uintp(d)])
                extent[q] = i - np.int64(q)
                before = end[q]
            p = -1
            if d > 0:
                p = stack[np.uintp(d - 1)]
                w = np.uintp(p)
                if e > end[w] or (p == i - 1 and s < start[w]):
                    return i
            f = packed_function[u]
            if f >= n_functions or e < s or (p < i - 1 and s < before):
                return i
            function[u] = f
            parent[u] = p
            stack[np.uintp(d)] = i
            d += 1
            depth[u] = d
            start[u] = s
            end[u] = e
            thread[u] = t
            if has_record:
                record[u] = -1
                if code >= 64:
                    n = forms[code, 3]
                    word = load64(at) & masks[n]
                    at += n
                    last_record += np.int64(word >> _ONE) ^ -np.int64(word & _ONE)
                    if last_record < 0:
                        return i
                    record[u] = last_record
            elif code >= 64:
                return i
        while d > 0:
            d -= 1
            extent[stack[d]] = hi - stack[d]
    return FINE if at == stop else len(control)
