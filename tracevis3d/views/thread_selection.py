"""The selection and order of a view's threads, which a user writes as ``threads``."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ..trace.model import Trace
from ..trace.names import named_threads

#: Values of a parameter ``order``.
ORDERS = {
    "recorded": "in the order of the trace",
    "busiest": "those with the most time in calls first",
    "process": "by process, within it as recorded",
    "name": "by name",
}
_BUSIEST = re.compile(r"busiest\s*(\d+)")


def choose_threads(
    trace: Trace, text: str, order: str, busy: NDArray[np.int64], cost: NDArray[np.float64], budget: float
) -> NDArray[np.int64]:
    """Return the threads to show, in order.

    Parameters
    ----------
    trace : Trace
    text : str
        ``auto`` (the busiest as far as the budget goes), ``all``, ``busiest 8``, or names and ids with
        commas between them, in which ``*`` matches anything.
    order : str
        A key of :data:`ORDERS`.
    busy : int64 (threads,)
        Nanoseconds each thread spends in calls within the window; those with none are left out unless
        they are requested.
    cost : float64 (threads,)
        The height that each thread's lane needs.
    budget : float
        The height that there is.

    Returns
    -------
    int64 (k,)
        Their numbers, the front one first.

    Raises
    ------
    UsageError
        If no thread is called so.
    """
    live = np.flatnonzero(busy > 0)
    by_time = live[np.argsort(-busy[live], kind="stable")]
    wanted = text.strip()
    if wanted in ("", "auto"):
        fits = int(np.count_nonzero(np.cumsum(cost[by_time]) <= budget))
        chosen = by_time[: max(fits, 1)]
    elif wanted == "all":
        chosen = by_time
    elif match := _BUSIEST.fullmatch(wanted):
        chosen = by_time[: int(match[1])]
    else:
        chosen = named_threads(trace, wanted)
    return np.asarray(_ordered(trace, chosen, order, busy), np.int64)


def _ordered(
    trace: Trace, chosen: NDArray[np.int64], order: str, busy: NDArray[np.int64]
) -> NDArray[np.int64]:
    threads = trace.threads
    if order == "busiest":
        return chosen[np.argsort(-busy[chosen], kind="stable")]
    chosen = np.sort(chosen)
    if order == "name":
        return np.array(sorted(chosen.tolist(), key=lambda t: (threads.title(t), t)), np.int64)
    if order == "process":
        first: dict[object, int] = {}
        for t in chosen.tolist():
            first.setdefault(threads.process[t], t)
        return np.array(sorted(chosen.tolist(), key=lambda t: (first[threads.process[t]], t)), np.int64)
    return chosen
