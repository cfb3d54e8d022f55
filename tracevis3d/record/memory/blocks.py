"""Allocations and frees, from what lives at one moment and at the next; and how a file holds them."""

from __future__ import annotations

import base64
import json
from array import array
from collections.abc import Mapping, Sequence

#: Kinds as the model's (:data:`tracevis3d.trace.model.MEMORY_KINDS`).
ALLOC, FREE = 0, 1
#: Columns of the rows of memory in a file: name, and bytes of a value. Little-endian; ``thread`` is the id of
#: the system's, ``time`` nanoseconds, ``stack`` a number of the frames, -1: none.
COLUMNS = (("kind", 1), ("thread", 4), ("time", 8), ("address", 8), ("size", 8), ("stack", 4))


#: The counter that a recorder of snapshots writes at each: bytes of all blocks that live.
TRACED = "traced memory (bytes)"
#: Blocks that are followed by looks; one at more takes many seconds.
MOST_LIVING = 1 << 24


class LivingBlocks:
    """Finds which blocks came and went between two snapshots.

    A snapshot has kinds of blocks (call site and size) and how many of each live. Of equal blocks, the
    youngest are assumed to be the ones that went. Addresses are made up, and none is used twice.

    Parameters
    ----------
    first : int
        Below the first address.
    """

    def __init__(self, first: int = 0) -> None:
        self._living: dict[tuple[int, int], list[int]] = {}
        self._next = first + 16

    def living(self) -> tuple[array[int], array[int], array[int]]:
        """Return addresses (uint64), sizes in bytes (int64) and call sites (int32) of what lives."""
        addresses, sizes, sites = array("Q"), array("q"), array("i")
        for (site, size), blocks in self._living.items():
            addresses.extend(blocks)
            sizes.extend([size] * len(blocks))
            sites.extend([site] * len(blocks))
        return addresses, sizes, sites

    @property
    def live_bytes(self) -> int:
        """Number of bytes that live now."""
        return sum(size * len(blocks) for (_, size), blocks in self._living.items())

    def take(self, data: bytes) -> tuple[array[int], array[int], array[int], array[int]]:
        """Return what came and went since the last snapshot.

        Parameters
        ----------
        data : bytes
            The snapshot as columns: call sites (uint32), sizes in bytes (int64), numbers of blocks (int64).

        Returns
        -------
        kinds : array of uint8
            :data:`ALLOC` or :data:`FREE`.
        addresses : array of uint64
        sizes : array of int64
            Bytes; 0 for a free.
        sites : array of int32
            -1 for a free.

        Raises
        ------
        ValueError
            If these are no columns, or more than :data:`MOST_LIVING` blocks.
        """
        n = len(data) // 20
        site, size, count = array("I", data[: 4 * n]), array("q", data[4 * n : 12 * n]), array("q")
        count.frombytes(data[12 * n :])
        if n and (min(count) < 0 or min(size) < 0 or sum(count) > MOST_LIVING):
            raise ValueError("these are no blocks")
        kinds, addresses, sizes, sites = array("B"), array("Q"), array("q"), array("i")
        now = dict(zip(zip(site, size, strict=True), count, strict=True))
        for kind, blocks in self._living.items():
            for _ in range(len(blocks) - now.get(kind, 0)):
                kinds.append(FREE)
                addresses.append(blocks.pop())
                sizes.append(0)
                sites.append(-1)
        for kind, wanted in now.items():
            blocks = self._living.setdefault(kind, [])
            for _ in range(wanted - len(blocks)):
                blocks.append(self._next)
                kinds.append(ALLOC)
                addresses.append(self._next)
                sizes.append(kind[1])
                sites.append(kind[0])
                self._next += max(-(-kind[1] // 16), 1) * 16
        self._living = {kind: blocks for kind, blocks in self._living.items() if blocks}
        return kinds, addresses, sizes, sites


def spread(marks: Sequence[int], moments: Sequence[int], rows: int, last: int) -> array[int]:
    """Return times of rows that are known only in their order: spread evenly between known times.

    Parameters
    ----------
    marks : sequence of int
        Number of rows before each of ``moments``; not falling.
    moments : sequence of int
        Known times in nanoseconds. If one sequence is longer, its rest is ignored.
    rows : int
        Number of all rows.
    last : int
        The time of the last row, if it is behind all known times, in nanoseconds.

    Returns
    -------
    array of int64 (rows,)
        Nanoseconds, not falling.
    """
    times = array("q")
    low, begin = 0, moments[0] if moments else last
    for high, end in [*zip(marks, moments, strict=False), (rows, last)]:
        end = max(end, begin)
        n = high - low
        times.extend(begin + (end - begin) * i // n for i in range(1, n + 1))
        low, begin = high, end
    return times


def memory_line(pid: int, columns: Mapping[str, bytes], sampled: bool = False, coarse: bool = False) -> bytes:
    """Return the line of a file that holds rows of memory.

    Parameters
    ----------
    pid : int
    columns : mapping of str to bytes
        Those of :data:`COLUMNS`; written in Base64.
    sampled : bool
        Whether times are those of snapshots, and addresses made up.
    coarse : bool
        Whether times were spread between known times.

    Returns
    -------
    bytes
        JSON without a line's end.
    """
    said = ",".join(f'"{name}":"{base64.b64encode(columns[name]).decode()}"' for name, _ in COLUMNS)
    return b'{"ph":"M","pid":%d,"tid":%d,"name":"memory","args":{"sampled":%s,%s%s}}' % (
        pid,
        pid,
        b"true" if sampled else b"false",
        b'"coarse":true,' if coarse else b"",
        said.encode(),
    )


def frames_line(pid: int, first: int, frames: list[tuple[str, int, int]]) -> bytes:
    """Return the line of a file that defines frames.

    Parameters
    ----------
    pid : int
    first : int
        The number of the first frame.
    frames : list of (str, int, int)
        Function, the caller's number (-1: none) and line.

    Returns
    -------
    bytes
        JSON without a line's end.
    """
    said = json.dumps({"first": first, "frames": frames}, separators=(",", ":"))
    return b'{"ph":"M","pid":%d,"tid":%d,"name":"memory_frames","args":%s}' % (pid, pid, said.encode())


def lost_line(pid: int, rows: int) -> bytes:
    """Return the line of a file that says how many rows of memory the recorder has lost.

    Parameters
    ----------
    pid, rows : int

    Returns
    -------
    bytes
        JSON without a line's end.
    """
    return b'{"ph":"M","pid":%d,"tid":%d,"name":"memory_lost","args":{"rows":%d}}' % (pid, pid, rows)
