"""Work on many things shared between threads: kernels let others run."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

#: Threads that share the work on many things.
THREADS = min(4, os.cpu_count() or 1)


def in_parts(do: Callable[[int, int], None], count: int, least: int) -> None:
    """Call ``do(low, high)`` for all of ``count`` things, in threads if each gets ``least`` at least."""
    threads = min(THREADS, count // max(least, 1))
    if threads < 2:
        do(0, count)
        return
    stops = [count * i // threads for i in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(do, low, high) for low, high in pairwise(stops)]:
            done.result()
