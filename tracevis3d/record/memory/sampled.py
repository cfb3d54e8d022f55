"""What memory the program takes, sampled: the blocks that live, by ``tracemalloc``, and the whole process.

Python reports no single allocation. What lives is compared from one look to the next; what is allocated and
freed between two of them is not seen. Looks are rare where many blocks live: then a sample of what is
allocated (``fast/_blocks.c``) still tells within a tenth of a second what grows.
"""

from __future__ import annotations

import os
import sys
import time
from array import array
from collections import Counter
from collections.abc import Callable
from typing import Any

from .. import state
from ..fast import BLOCKS
from .choice import FRAMES

#: After a snapshot there is none for this many times as long as it took.
_REST = 20
#: The program stands still for this many seconds at most; where more is foreseen, no snapshot is taken.
MOST_STANDSTILL = 1.0
#: When the program has ended, a snapshot may take so many seconds of processor time, counting included.
MOST_AT_END = 30.0
#: Seconds that Python takes to list a block, and we to count it, until that has been measured with so many.
_A_BLOCK, _COUNTED, _MEASURED = 3e-7, 1.8e-6 if BLOCKS is None else 1.5e-7, 100_000
#: Blocks that are counted before the program's threads may run again: some 5 ms.
_TURN = 4096
#: Bytes between two blocks of the sample at first, on average; it is doubled as often as there are too many.
_INTERVAL = 1024.0
#: Seconds between two looks at the sample; samples whose call site is asked for at once, some 2 µs each.
_SAMPLE_EVERY, _MOST_ASKED = 0.08, 4096
#: Call sites of which less than so many bytes are in the sample are left out.
_LEAST_SAMPLED = 1 << 14

_open, _read, _close = os.open, os.read, os.close


def samples() -> dict[str, float]:
    """Return the counters' values now: resident bytes where the system reports them, and Python's blocks."""
    values = {"Python memory blocks": float(sys.getallocatedblocks())}
    try:
        fd = _open("/proc/self/statm", os.O_RDONLY)
        try:
            pages = int(_read(fd, 200).split()[1])
        finally:
            _close(fd)
    except OSError:
        return values  # there is no such file, or the program closes all descriptors just now
    values["resident memory (bytes)"] = float(pages * os.sysconf("SC_PAGE_SIZE"))
    return values


class Allocations:
    """Counts the live blocks of each kind: call site and size.

    A snapshot takes the longer the more blocks there are; then there are fewer snapshots. The program stands
    still while Python lists the blocks, some 0.3 s per million, and never for much longer than
    :data:`MOST_STANDSTILL`; while they are counted, it runs. At its end it waits for both, and not for much
    longer than :data:`MOST_AT_END`.

    Parameters
    ----------
    frames : int
        How many of a call site are kept; 0: :data:`.choice.FRAMES`.
    sample : bool
        Whether a sample of what is allocated is taken, too, where the part in C was built.
    """

    def __init__(self, frames: int = 0, sample: bool = False) -> None:
        import _tracemalloc

        self._traces: Any = _tracemalloc._get_traces
        self._halt = _tracemalloc.stop
        self._ours = not _tracemalloc.is_tracing()
        #: Numbers of call sites, -1 of those of the recorder itself; stacks of those that are new.
        self._sites: dict[Any, int] = {}
        self._new: dict[int, Any] = {}
        self._next = self._next_sample = 0.0
        #: Blocks of Python's that the last snapshot did not list; it lists large ones beside these.
        self._others = sys.getallocatedblocks()
        self._a_block, self._counted = _A_BLOCK, _COUNTED
        self._is_behind = False
        if self._ours:
            _tracemalloc.start(frames or FRAMES)
        # Around tracemalloc, which is asked where a block comes from.
        self._samples = sample and BLOCKS is not None and BLOCKS.start_sampling(_INTERVAL, time.time_ns())

    def look(self, last: bool = False) -> tuple[dict[int, Any], bytes] | None:
        """Take a snapshot, if it is time for one.

        Parameters
        ----------
        last : bool
            The program has ended: take one however early it is, and it may take longer.

        Returns
        -------
        (dict, bytes), or None
            New call sites by number, as stacks of ``tracemalloc``; and columns of what lives: call site
            (uint32), size in bytes (int64) and number of blocks (int64). None: it is too early, or would
            take too long; the latter is a problem of the recording.
        """
        began = time.perf_counter()
        if self._ends_too_late() if last else began < self._next or self._takes_too_long():
            return None
        # By processor time: a busy moment must not end all snapshots.
        blocks, at = sys.getallocatedblocks(), time.thread_time()
        traces = self._traces()
        self._others = blocks - len(traces)
        listed, counting = len(traces), time.thread_time()
        living = _count(traces, self._sites, self._number)
        if listed >= _MEASURED:
            self._a_block = (counting - at) / listed
            self._counted = (time.thread_time() - counting) / listed
        ended = time.perf_counter()
        self._next = ended + _REST * (ended - began)
        return self._new_sites(), living

    def sample(self) -> tuple[dict[int, Any], bytes] | None:
        """Look at the sample of what was allocated since the begin, if it is time to.

        Returns
        -------
        (dict, bytes), or None
            New call sites as :meth:`look` returns them; and columns: call site (uint32), and about how many
            bytes of it live (int64), of those with some. None: it is too early, or there is no sample.
        """
        began = time.perf_counter()
        if not self._samples or began < self._next_sample:
            return None
        # By processor time: on a busy machine it is looked at as often.
        at = time.thread_time()
        living = BLOCKS.sampled(self._sites, self._number, _MOST_ASKED, _LEAST_SAMPLED)
        self._next_sample = began + max(_SAMPLE_EVERY, _REST * (time.thread_time() - at))
        return self._new_sites(), living

    def _number(self, stack: Any) -> int:
        """Return the number of a call site that has none yet; -1: it is the recorder's own."""
        number = self._sites[stack] = -1 if _is_ours(stack) else len(self._sites)
        if number >= 0:
            self._new[number] = stack
        return number

    def _new_sites(self) -> dict[int, Any]:
        new, self._new = self._new, {}
        return new

    def _takes_too_long(self) -> bool:
        """Return whether a snapshot would keep the program standing; the first of several is reported."""
        blocks = sys.getallocatedblocks() - self._others
        was_behind, self._is_behind = self._is_behind, blocks * self._a_block > MOST_STANDSTILL
        if self._is_behind and not was_behind:
            state.report(
                "lost",
                f"snapshots of memory from {blocks:,} live blocks on: each would halt the program for more "
                f"than {MOST_STANDSTILL:g} s; --memory-engine memray takes none",
            )
        return self._is_behind

    def _ends_too_late(self) -> bool:
        """Return whether the last snapshot would hold up the program's end, and report that."""
        blocks = max(sys.getallocatedblocks() - self._others, 0)
        foreseen = blocks * (self._a_block + self._counted)
        if foreseen > MOST_AT_END:
            state.report(
                "lost",
                f"the last snapshot of memory, of {blocks:,} live blocks: the program would have ended some "
                f"{foreseen:,.0f} s later ({MOST_AT_END:g} s at most); what the one before did not list is "
                "missing; --memory-engine memray takes none",
            )
        return foreseen > MOST_AT_END

    def stop(self) -> None:
        """Take no more snapshots and samples, and stop ``tracemalloc`` if it was started here."""
        if self._samples:
            BLOCKS.stop_sampling()
        if self._ours:
            self._halt()


def _count(traces: list[Any], sites: dict[Any, int], number: Callable[[Any], int]) -> bytes:
    """Empty a list of ``tracemalloc``'s; return columns of its kinds of blocks, as :meth:`Allocations.look`.

    What is made here is traced, too: nothing is made for each block.
    """
    if BLOCKS is not None:
        return bytes(BLOCKS.group(traces, sites, number))
    kinds: Counter[Any] = Counter()
    while traces:
        kinds.update(traces[-_TURN:])
        del traces[-_TURN:]
    site, sizes, counts = array("I"), array("q"), array("q")
    for (_, size, stack, _), n in kinds.items():
        known = sites.get(stack)
        if known is None:
            known = number(stack)
        if known >= 0:
            site.append(known)
            sizes.append(size)
            counts.append(n)
    return site.tobytes() + sizes.tobytes() + counts.tobytes()


def _is_ours(stack: Any) -> bool:
    """Whether the recorder made an allocation, by itself or through what it called."""
    return stack[0][0].startswith(state.FOLDER) or any(file in _OWN for file, _ in stack)


_OWN = frozenset(state.FOLDER + name for name in state.OWN_FILES)
