"""Perfetto's packets that hold no more than a bundle of the scheduler's events.

Source: https://perfetto.dev/docs/reference/trace-packet-proto
"""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from .fields import read_varint

_PACKET, _BUNDLE = 0x0A, 0x0A
#: Fields of numbers beside the bundle that change nothing: user, sequence, process, and machine.
_USER, _SEQUENCE, _PROCESS, _MACHINE = 3 << 3, 10 << 3, 79 << 3, 98 << 3
_LARGE = np.uint64(1 << 32)


@kernel
def find_bundles(data, at, first, stop, sequence):  # type: ignore[no-untyped-def]
    """Find the bundles of the packets from a place on, until another packet comes or there is no room.

    Parameters
    ----------
    data : uint8 (bytes,)
    at : int
        Where a packet may begin.
    first, stop : int64 (room,)
        Filled: where each bundle begins and ends.
    sequence : int64 (room,)
        Filled: the number of the packet's writer.

    Returns
    -------
    count : int64
    at : int64
        Behind the last of these packets.
    """
    end = np.int64(len(data))
    at = np.int64(at)
    count = 0
    while count < len(first) and at < end and data[at] == _PACKET:
        size, p = read_varint(data, at + 1, end)
        if p < 0 or size > np.uint64(end - p):
            break
        last = p + np.int64(size)
        if p >= last or data[p] != _BUNDLE:
            break
        many, p = read_varint(data, p + 1, last)
        if p < 0 or many > np.uint64(last - p):
            break
        first[count], stop[count] = p, p + np.int64(many)
        sequence[count] = 0
        p = stop[count]
        while p >= 0 and p < last:
            tag, p = read_varint(data, p, last)
            if p < 0:
                break
            value, p = read_varint(data, p, last)
            field = np.int64(tag)
            if field == _SEQUENCE:
                sequence[count] = np.int64(value)
            elif field != _USER and field != _PROCESS and field != _MACHINE:
                p = np.int64(-1)
            if value >= _LARGE:
                p = np.int64(-1)
        if p < 0:
            break
        at = last
        count += 1
    return count, at
