"""Memory in a Chrome trace that only has counters: how much there is, not which blocks.

A counter's rise is taken for a block, and its fall for the end of what rose last. So the terrain of memory
shows how much was there, how old that is, and the saw-teeth of a garbage collector; its call sites are the
counters.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ...trace.model import ALLOC, FREE
from ...trace.recording import Recording

#: Counters that count bytes of memory, as Chromium, Android and Python's tracers call them.
_MEMORY = re.compile(r"heap|memory|\brss\b|resident|\bbytes\b", re.IGNORECASE)
#: Smaller values count other things, such as pages or objects.
_LEAST = 4096.0
#: Distance between the addresses of two counters.
_APART = 1 << 48


def add_blocks(
    recording: Recording,
    names: list[str],
    series: NDArray[np.int64],
    thread: NDArray[np.int32],
    time: NDArray[np.int64],
    value: NDArray[np.float64],
) -> None:
    """Add the changes of memory counters as allocations and frees.

    Parameters
    ----------
    recording : Recording
    names : list of str
        Of the counters.
    series, thread, time, value : (n,)
        Samples; ``series`` are indices into ``names``, ``time`` nanoseconds.
    """
    rows: list[tuple[int, int, int, int, int, int]] = []
    for number, name in enumerate(names):
        mine = np.flatnonzero(series == number)
        mine = mine[np.argsort(time[mine], kind="stable")]
        if not _MEMORY.search(name) or not len(mine) or value[mine].max() < _LEAST:
            continue
        levels = np.clip(np.nan_to_num(value[mine]), 0, _APART - 1).astype(np.int64)
        # Equal samples add nothing.
        changes = np.flatnonzero(np.diff(levels, prepend=0))
        frame = recording.add_stacks(function=[recording.function(name)], parent=[-1])
        rows += _rows(
            levels[changes], time[mine][changes], int(thread[mine[0]]), frame, number * _APART + 4096
        )
    if rows:
        of_thread, kind, when, address, size, stack = zip(*rows, strict=True)
        recording.add_memory(thread=of_thread, kind=kind, time=when, address=address, size=size, stack=stack)
        recording.problems.add("no addresses", "counters of memory alone")


def _rows(
    levels: NDArray[np.int64], times: NDArray[np.int64], thread: int, frame: int, base: int
) -> list[tuple[int, int, int, int, int, int]]:
    """Return rows (thread, kind, time, address, size, frame) of one counter; each change costs the same."""
    rows: list[tuple[int, int, int, int, int, int]] = []
    # Rises that have not fallen yet: from which level to which, and when; the latest on top.
    rose: list[tuple[int, int, int]] = []
    for level, now in zip(levels.tolist(), times.tolist(), strict=True):
        top = rose[-1][1] if rose else 0
        if level > top:
            rose.append((top, level, now))
        while rose and rose[-1][1] > level:
            low, high, born = rose.pop()
            cut = max(low, level)
            rows.append((thread, ALLOC, born, base + cut, high - cut, frame))
            rows.append((thread, FREE, now, base + cut, 0, -1))
            if cut > low:
                rose.append((low, cut, born))
    rows += [(thread, ALLOC, born, base + low, high - low, frame) for low, high, born in rose]
    return rows
