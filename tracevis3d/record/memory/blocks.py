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

    A look knows kinds of blocks (call site and size) and how many of each live. Of equal ones the youngest is
    taken to be the one that went; addresses are made up, and none is used twice.

    Parameters
    ----------
    first : int
        Below the first address.
    """

    def __init__(self, first: int = 0) -> None:
        self._living: dict[tuple[int, int], list[int]] = {}
        self._next = first + 16

    def living(self) -> tuple[array[int], array[int], array[int]]:
        """Return addresses, sizes and call sites of what lives."""
        addresses, sizes, sites = array("Q"), array("q"), array("i")
        for (site, size), blocks in self._living.items():
            addresses.extend(blocks)
            sizes.extend([size] * len(blocks))
            sites.extend([site] * len(blocks))
        return addresses, sizes, sites

    @property
    def live_bytes(self) -> int:
        """How many live now."""
        return sum(size * len(blocks) for (_, size), blocks in self._living.items())

    def take(self, data: bytes) -> tuple[array[int], array[int], array[int], array[int]]:
        """Take a look's columns (site, size, count); return kinds, addresses, sizes and call sites.

        A free has size 0 and the call site -1.

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
    """Return times of rows of which only the order is known, and moments: spread evenly between these.

    Parameters
    ----------
    marks : sequence of int
        How many rows stand before each moment; not falling.
    moments : sequence of int
        When that was, in nanoseconds; what is longer of the two is cut.
    rows : int
    last : int
        The time of the last row, if it stands behind all moments.
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
    """Return the line of a file that holds rows of memory: :data:`COLUMNS` in Base64.

    ``sampled`` says that times are those of looks, and addresses made up; ``coarse`` that times lie between
    two moments.
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
    """Return the line that defines frames, from number ``first`` on: function, the caller's number, line."""
    said = json.dumps({"first": first, "frames": frames}, separators=(",", ":"))
    return b'{"ph":"M","pid":%d,"tid":%d,"name":"memory_frames","args":%s}' % (pid, pid, said.encode())


def lost_line(pid: int, rows: int) -> bytes:
    """Return the line that says that the recorder has lost rows of memory."""
    return b'{"ph":"M","pid":%d,"tid":%d,"name":"memory_lost","args":{"rows":%d}}' % (pid, pid, rows)
