"""Work on many items divided among threads, which works because kernels release the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

#: Maximum number of threads.
THREADS = min(4, os.cpu_count() or 1)


def in_parts(do: Callable[[int, int], None], count: int, least: int) -> None:
    """Call ``do(low, high)`` for all of ``count`` items, in threads if each gets at least ``least`` items.

    Parameters
    ----------
    do : callable
        Takes the bounds of a part, ``0 <= low < high <= count``. Parts may run at the same time.
    count : int
        Number of items.
    least : int
        Least number of items that are worth a thread.

    Examples
    --------
    >>> done = []
    >>> in_parts(lambda low, high: done.append((low, high)), 5, least=10)
    >>> done
    [(0, 5)]
    """
    threads = min(THREADS, count // max(least, 1))
    if threads < 2:
        do(0, count)
        return
    stops = [count * i // threads for i in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(do, low, high) for low, high in pairwise(stops)]:
            done.result()
