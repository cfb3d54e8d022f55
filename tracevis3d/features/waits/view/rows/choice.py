"""The choice and the order of the threads that are drawn, and each one's window of time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .....errors import UsageError
from .....layout.cut import busy_time
from .....layout.seriation import seriate
from .....trace.model import Trace
from .....trace.names import named_threads
from .....units import read_time
from .....views.thread_selection import choose_threads
from ...waits import Waits
from .alike import groups, more_alike, one_of_each

if TYPE_CHECKING:
    from ..parameters import Parameters

Ints = NDArray[np.int64]

#: Pixels that a row needs, and share of the drawing's height that rows have.
_LEAST_ROW_PX, _OF_HEIGHT = 36.0, 0.72
#: Rows of threads with less than this share of the most concerned one's time are left out by themselves.
_CONCERNED = 0.004


def choose(
    trace: Trace, waits: Waits, p: Parameters, height: float, window: tuple[int, int]
) -> tuple[Ints, bool, int, Ints]:
    """Choose the threads to draw.

    Parameters
    ----------
    trace : Trace
    waits : Waits
        Those of the trace.
    p : Parameters
        Of the view.
    height : float
        Of the drawing, in pixels.
    window : (int, int)
        Nanoseconds that are shown.

    Returns
    -------
    threads : int64 (rows,)
        From the top.
    main : bool
        Whether the first is the main thread, before the others.
    left_out : int
        How many more have calls or waits.
    alike : int64 (rows,)
        How many of those do the same as a row's thread: see :func:`.alike.more_alike`.

    Raises
    ------
    UsageError
        If no thread is called so.
    """
    live = busy_time(trace, window)
    # Involvement in waits counts as much as being busy.
    concerned = waits.waited + waits.hubs()[0]
    weight = np.where((live > 0) | (concerned > 0), np.maximum(live // 8, 1) + concerned, 0)
    budget, cost = height * _OF_HEIGHT / _LEAST_ROW_PX, np.ones(len(live))
    shown = np.where(weight >= _CONCERNED * weight.max(initial=0), weight, 0)
    group = groups(trace)
    if p.threads.strip() in ("", "auto"):
        # Where not all fit, one of each group comes before a second one of any.
        several = np.count_nonzero(shown) > budget
        shown = np.where(one_of_each(group, shown) & several, shown + weight.max(initial=0), shown)
        chosen = choose_threads(trace, "auto", "recorded", shown, cost, budget)
    else:
        chosen = choose_threads(trace, p.threads, "recorded", weight, cost, budget)
    hidden = set(named_threads(trace, p.hide, "hide").tolist()) if p.hide.strip() else set()
    chosen = np.array([t for t in chosen.tolist() if t not in hidden], np.int64)
    others = int(np.count_nonzero(weight)) - int(np.count_nonzero(weight[chosen]))
    chosen = _ordered(trace, waits, p, chosen, weight)
    first = _main(trace, waits, p, chosen, live)
    if first >= 0:
        chosen = np.concatenate([[first], chosen[chosen != first]])
    # Those that were hidden on purpose are not missed.
    missed = weight.copy()
    missed[list(hidden)] = 0
    return chosen, first >= 0, others, more_alike(group, missed, chosen)


def _main(trace: Trace, waits: Waits, p: Parameters, chosen: Ints, live: Ints) -> int:
    """Return the thread that stands before the others; -1: none."""
    if p.main == "none" or not len(chosen):
        return -1
    if p.main != "auto":
        return int(named_threads(trace, p.main, "main")[0])
    if len(chosen) < 2:
        return -1
    ended = waits.hubs()[0][chosen]
    if ended.max() > 0:
        return int(chosen[int(ended.argmax())])
    return int(chosen[int(live[chosen].argmax())])


def _ordered(trace: Trace, waits: Waits, p: Parameters, chosen: Ints, weight: Ints) -> Ints:
    """Return the threads in the order that ``order`` says: names, or a word."""
    if p.order == "strength":
        strength = waits.matrix.dense(len(trace.threads))[np.ix_(chosen, chosen)]
        return chosen[seriate(strength)]
    if p.order == "recorded":
        return chosen
    if p.order == "busiest":
        return chosen[np.argsort(-weight[chosen], kind="stable")]
    if p.order == "name":
        titles = [(trace.threads.title(t), t) for t in chosen.tolist()]
        return np.array([t for _, t in sorted(titles)], np.int64)
    given = [t for t in named_threads(trace, p.order, "order").tolist() if t in set(chosen.tolist())]
    return np.array([*given, *(t for t in chosen.tolist() if t not in set(given))], np.int64)


def windows_of(trace: Trace, p: Parameters, window: tuple[int, int], threads: Ints) -> list[tuple[int, int]]:
    """Return each row's window: that of all, or its own by ``windows``.

    Parameters
    ----------
    trace : Trace
    p : Parameters
        Of the view.
    window : (int, int)
        Nanoseconds, of all.
    threads : int64 (rows,)

    Returns
    -------
    list of (int, int)

    Raises
    ------
    UsageError
        If a window of its own is not written as one, is empty, or of no thread.
    """
    own: dict[int, tuple[int, int]] = {}
    for entry in filter(None, (part.strip() for part in p.windows.split(";"))):
        match = re.fullmatch(r"(.+?)\s*=\s*(\S+)\s*\.\.\s*(\S+)", entry)
        if match is None:
            raise UsageError(
                f"windows={entry}: a thread and its window are expected, such as worker-1=20ms..80ms"
            )
        low, high = read_time("windows", match[2]), read_time("windows", match[3])
        if not 0 <= low < high:
            raise UsageError(f"windows={entry}: the end must be after the start")
        own.update(dict.fromkeys(named_threads(trace, match[1], "windows").tolist(), (low, high)))
    return [own.get(t, window) for t in threads.tolist()]
