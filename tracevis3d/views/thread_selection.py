"""Which threads a view shows, and in which order: the choice that a user writes as ``threads``."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..trace.model import Trace

#: Values of a parameter ``order``.
ORDERS = {
    "recorded": "in the order of the trace",
    "busiest": "those with the most time in calls first",
    "process": "by process, within it as recorded",
    "name": "by name",
}
_LONGEST_TITLE = 36
#: Of a process's name at least so many letters stay.
_LEAST_PROCESS = 8
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
        commas between them, in which ``*`` stands for anything.
    order : str
        A key of :data:`ORDERS`.
    busy : int64 (threads,)
        Nanoseconds each thread spends in calls within the window; those with none are left out unless
        they are asked for.
    cost : float64 (threads,)
        The height that each thread's lane needs.
    budget : float
        The height that there is.

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


def named_threads(trace: Trace, text: str, parameter: str = "threads") -> NDArray[np.int64]:
    """Return the threads that ``text`` names, in its order; ``parameter`` is what it was given for.

    Raises
    ------
    UsageError
        If no thread is called so.
    """
    threads = trace.threads
    names = _words(trace)
    chosen: dict[int, None] = {}
    for word in filter(None, (word.strip() for word in text.split(","))):
        hits = [t for t, words in enumerate(names) if word in words]
        hits = hits or [t for t, words in enumerate(names) if any(fnmatchcase(w, word) for w in words)]
        if not hits:
            some = ", ".join(threads.title(t) for t in range(min(len(threads), 8)))
            more = ", …" if len(threads) > 8 else ""
            raise UsageError(f"{parameter}={text}: no thread is called {word!r}; there are {some}{more}")
        chosen.update(dict.fromkeys(hits))
    if not chosen:
        raise UsageError(f"{parameter}={text}: names and ids of threads are wanted")
    return np.array(list(chosen), np.int64)


def word_of_thread(trace: Trace, thread: int) -> str:
    """Return by what :func:`named_threads` knows one thread alone: its id, its title, or process and id."""
    words = _words(trace)
    _, tid, title, both = words[thread]
    for word in (tid, title, both):
        if [t for t, known in enumerate(words) if word in known] == [thread] and not set(word) & set(",*?[;"):
            return word
    return both


def _words(trace: Trace) -> list[tuple[str, str, str, str]]:
    """Return by which words each thread may be called."""
    threads = trace.threads
    return [
        (threads.name[t], str(threads.tid[t]), threads.title(t), f"{threads.process[t]}:{threads.tid[t]}")
        for t in range(len(threads))
    ]


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


def lane_title(trace: Trace, thread: int, longest: int = _LONGEST_TITLE) -> str:
    """Return what stands beside a lane: the thread's title, after its process if there are several.

    Titles longer than ``longest`` are shortened, their processes' names first.
    """
    threads = trace.threads
    title, tid = threads.title(thread), f" ({threads.tid[thread]})"
    if len(set(threads.process)) > 1:
        process = str(threads.process_name[thread] or threads.process[thread])
        room = max(longest - len(title) - 3, _LEAST_PROCESS)
        title = f"{process if len(process) <= room else process[: room - 1] + '…'} · {title}"
    if len(title) <= longest:
        return title
    # The id is what tells threads of one name apart: it stays.
    tail = tid if title.endswith(tid) else ""
    return f"{title[: longest - 1 - len(tail)]}…{tail}"
