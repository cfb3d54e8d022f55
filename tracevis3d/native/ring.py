"""The ring in shared memory between the interposer and the recorder (``interposer.h``)."""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: Kinds of an event: the model's, and one that says that the program has replaced itself.
ALLOC, FREE, ACCESS, EXEC = range(4)
DEPTH = 14
_MAGIC = b"TV3DRNG1"
_PAGE, _IMAGES, _MAPS = 4096, 4, 1 << 17
EVENT = np.dtype(
    [("turn", "u8"), ("time", "u8"), ("address", "u8"), ("size", "u8"), ("thread", "u4"), ("what", "u4")]
)
_STACK = np.dtype([("hash", "u8"), ("ready", "u8"), ("frame", "u8", DEPTH)])
_HEAD = np.dtype(
    [("magic", "S8"), ("slots", "u8"), ("stacks", "u8"), ("access_us", "u8"), ("large", "u8"),
     ("process", "u8"), ("written", "u8"), ("read", "u8"), ("dropped", "u8"), ("images", "u8"),
     ("mapped", "u8", _IMAGES)]
)  # fmt: skip


class Ring:
    """The recorder's end.

    Parameters
    ----------
    slots, stacks : int
        Capacity for waiting events, and for different stacks; powers of two.
    access_us : int
        Microseconds between two rounds of page protection; 0: accesses are not sampled.
    large : int
        Anonymous mappings from so many bytes on are recorded, too; 0: none.

    Attributes
    ----------
    path : str
        The value of ``TRACEVIS3D_RING`` for the program.
    """

    def __init__(
        self, slots: int = 1 << 21, stacks: int = 1 << 16, access_us: int = 0, large: int = 1 << 17
    ) -> None:
        self._text = _PAGE + slots * EVENT.itemsize + stacks * _STACK.itemsize
        size = self._text + _IMAGES * _MAPS
        shared = Path("/dev/shm")
        # In a file system in memory; untouched pages take no memory.
        folder = shared if os.access(shared, os.W_OK) and _free(shared) > 2 * size else None
        descriptor, self.path = tempfile.mkstemp(prefix="tracevis3d-", suffix=".ring", dir=folder)
        try:
            os.ftruncate(descriptor, size)
            self._map = mmap.mmap(descriptor, size)
        finally:
            os.close(descriptor)
        self._head = np.frombuffer(self._map, _HEAD, 1)
        self._slots = np.frombuffer(self._map, EVENT, slots, _PAGE)
        self._stacks = np.frombuffer(self._map, _STACK, stacks, _PAGE + slots * EVENT.itemsize)
        self._head["slots"], self._head["stacks"] = slots, stacks
        self._head["access_us"], self._head["large"] = access_us, large
        self._head["magic"] = _MAGIC

    @property
    def process(self) -> int:
        """The process that is recorded; 0: none so far."""
        return int(self._head["process"][0])

    @property
    def dropped(self) -> int:
        """The number of events that found the ring full."""
        return int(self._head["dropped"][0])

    def take(self) -> NDArray[np.void]:
        """Return a copy of the events that are whole, in order, and make room for others.

        Returns
        -------
        structured (n,)
            turn, time (nanoseconds, monotonic), address, size, thread, what.
        """
        read, written = int(self._head["read"][0]), int(self._head["written"][0])
        count = min(written - read, len(self._slots))
        if count <= 0:
            return np.empty(0, EVENT)
        low = read % len(self._slots)
        high = min(low + count, len(self._slots))
        events: NDArray[np.void] = np.concatenate(
            [self._slots[low:high], self._slots[: count - (high - low)]]
        )
        # A thread that was interrupted fills its slot later; what follows waits for it.
        whole = events["turn"] == np.arange(read + 1, read + 1 + count, dtype=np.uint64)
        if not whole.all():
            events = events[: int(np.argmin(whole))]
        self._head["read"] = read + len(events)
        return events

    def skip(self) -> None:
        """Leave out an event that will never be whole: its thread has ended."""
        if self._head["written"][0] > self._head["read"][0]:
            self._head["read"] += 1

    def stack(self, number: int) -> list[int]:
        """Return the addresses of a stack, the innermost first; empty if it isn't whole."""
        if not self._stacks["ready"][number]:
            return []
        frames: list[int] = self._stacks["frame"][number].tolist()
        return frames[: frames.index(0)] if 0 in frames else frames

    @property
    def images(self) -> int:
        """How often the program has replaced itself, + 1."""
        return int(self._head["images"][0])

    def maps(self, image: int) -> str:
        """Return what the program itself has reported of where its code lies; images count from 0."""
        image %= _IMAGES
        size, low = min(int(self._head["mapped"][0][image]), _MAPS), self._text + image * _MAPS
        return self._map[low : low + size].decode("utf-8", "replace")

    def close(self) -> None:
        """Delete the file; a program that still has it writes into the void."""
        Path(self.path).unlink(missing_ok=True)


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
