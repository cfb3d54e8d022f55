"""Search: the index, a pattern, the next call and a window of results, against scans with NumPy and re."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import HUGE, best, row
from tests.support import synthetic
from tracevis3d.analysis.search import CallIndex, Found
from tracevis3d.trace.model import Calls, Threads


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    functions = 1500
    names = [f"package.module_{f % 40}.Class{f % 7}.method_{f}" for f in range(functions)]
    wanted = np.array([i for i, name in enumerate(names) if re.search("method_1.*3", name)], np.int64)
    result = []
    for n in (900_000, 14_000_000, *((100_000_000,) if HUGE else ())):
        calls, first, count = synthetic.program(n, threads=4)
        numbers = tuple(range(4))
        threads = Threads(numbers, numbers, ("",) * 4, ("",) * 4, first, count)
        build = partial(CallIndex.of, calls, threads, functions)
        index, ours = best(3, build)
        _, peer = best(1, partial(np.lexsort, (calls.start, calls.function)))
        result.append(row(f"search: index of {n:,} calls", ours, peer, "NumPy lexsort"))
        found = Found(index, wanted)
        assert found.count == np.count_nonzero(np.isin(calls.function, wanted))
        at = int(calls.end.max()) // 2
        following, ours = best(5, partial(found.after, at, -1, 1))
        later, peer = best(2, partial(_later, calls, wanted, at))
        assert calls.start[following[0]] == calls.start[later].min()
        result.append(row(f"search: next of {found.count:,} in {n:,} calls", ours, peer, "NumPy scan"))
        window, ours = best(5, partial(found.window, found.count // 2, 100))
        listed, peer = best(1, partial(_sorted, calls, wanted))
        middle = found.count // 2
        assert np.array_equal(calls.start[window], calls.start[listed[middle : middle + 100]])
        result.append(row(f"search: 100 results from the middle, {n:,} calls", ours, peer, "NumPy sort"))
        del calls, index, found
    return result


def _later(calls: Calls, wanted: NDArray[np.int64], time: int) -> NDArray[np.int64]:
    """Return the calls from ``time`` on, by looking at all."""
    return np.flatnonzero(np.isin(calls.function, wanted) & (calls.start >= time))


def _sorted(calls: Calls, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all calls in order of time, by sorting them."""
    which = np.flatnonzero(np.isin(calls.function, wanted))
    return which[np.argsort(calls.start[which], kind="stable")]
