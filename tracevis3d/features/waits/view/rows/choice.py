"""The choice and the order of the threads that are drawn, and each one's window of time."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
from .alike import groups, merged

if TYPE_CHECKING:
    from ..parameters import Parameters

Ints = NDArray[np.int64]

#: Pixels that a row needs, and share of the drawing's height that rows have.
_LEAST_ROW_PX, _OF_HEIGHT = 36.0, 0.72
#: Share of the picture's height for the drawing, next to title, legend and notes.
ROOM = 0.78
#: Rows of threads with less than this share of the most concerned one's time are left out by themselves.
_CONCERNED = 0.004
#: Unless these together have this share of all threads' time: then threads that do the same share a row.
_TOGETHER = 0.05


@dataclass(frozen=True, eq=False)
class Chosen:
    """The threads to draw.

    Attributes
    ----------
    rows : list of int64 (k,)
        From the top: the threads of each row; threads that do the same may share one.
    main : bool
        Whether the first is the main thread's, before the others.
    rest : bool
        Whether the last is of several threads for which there is no room.
    left_out : int
        How many more have calls or waits.
    """

    rows: list[Ints]
    main: bool
    rest: bool
    left_out: int


def choose(trace: Trace, waits: Waits, p: Parameters, height: float, window: tuple[int, int]) -> Chosen:
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
    Chosen

    Raises
    ------
    UsageError
        If no thread is called so.
    """
    live = busy_time(trace, window)
    # Involvement in waits counts as much as being busy.
    concerned = waits.waited + waits.hubs()[0]
    weight = np.where((live > 0) | (concerned > 0), np.maximum(live // 8, 1) + concerned, 0)
    weight[_named(trace, p.hide, "hide")] = 0
    budget = int(height * _OF_HEIGHT / _LEAST_ROW_PX)
    shown = np.where(weight >= _CONCERNED * weight.max(initial=0), weight, 0)
    automatic = p.threads.strip() in ("", "auto")
    if automatic:
        chosen = choose_threads(trace, "auto", "recorded", shown, np.ones(len(shown)), budget)
    else:
        chosen = choose_threads(trace, p.threads, "recorded", weight, np.ones(len(shown)), budget)
        chosen = chosen[~np.isin(chosen, _named(trace, p.hide, "hide"))]
    # Thousands of threads may each be concerned little, and together much.
    little = weight[shown == 0].sum() >= _TOGETHER * weight.sum() and np.count_nonzero(weight) > budget
    crowded = automatic and (np.count_nonzero(shown) > budget or little)
    if p.groups == "never" or (p.groups == "auto" and not crowded):
        first = _main(trace, waits, p, chosen, live)
        others = int(np.count_nonzero(weight)) - int(np.count_nonzero(weight[chosen]))
        rows, rest = [np.array([t]) for t in chosen.tolist()], np.empty(0, np.int64)
    else:
        if not automatic:
            weight = np.where(np.isin(np.arange(len(weight)), chosen), np.maximum(weight, 1), 0)
        first = _main(trace, waits, p, np.flatnonzero(weight), live)
        group, others = groups(trace), 0
        opened = group[_named(trace, p.opened, "opened")]
        apart = [np.flatnonzero(np.isin(group, opened)), _named(trace, p.focus, "focus"), _windowed(trace, p)]
        apart.append(np.array([first][: int(first >= 0)], np.int64))
        most, least = (budget, _CONCERNED) if automatic else (len(weight), 0.0)
        rows, rest = merged(group, weight, np.concatenate(apart), most, least)
    rows = _ordered(trace, waits, p, rows, weight)
    if first >= 0:
        rows = [np.array([first]), *(row for row in rows if row[0] != first)]
    return Chosen([*rows, rest] if len(rest) else rows, first >= 0, len(rest) > 1, others)


def _named(trace: Trace, text: str, parameter: str) -> Ints:
    """Return the threads that a parameter names, which may name none."""
    return named_threads(trace, text, parameter) if text.strip() else np.empty(0, np.int64)


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


def _ordered(trace: Trace, waits: Waits, p: Parameters, rows: list[Ints], weight: Ints) -> list[Ints]:
    """Return rows in the order that ``order`` says, by their first threads: names, or a word."""
    first = np.array([row[0] for row in rows], np.int64)
    if p.order == "strength":
        of = np.full(len(trace.threads), -1, np.int64)
        for i, row in enumerate(rows):
            of[row] = i
        strength, m = np.zeros((len(rows), len(rows))), waits.matrix
        known = (m.by >= 0) & (of[m.thread] >= 0) & (of[m.by] >= 0)
        np.add.at(strength, (of[m.thread[known]], of[m.by[known]]), m.waited[known])
        order = np.asarray(seriate(strength))
    elif p.order == "recorded":
        order = np.arange(len(rows))
    elif p.order == "busiest":
        order = np.argsort(-np.array([weight[row].sum() for row in rows]), kind="stable")
    elif p.order == "name":
        order = np.lexsort((first, np.array([trace.threads.title(t) for t in first.tolist()])))
    else:
        place = {t: i for i, t in enumerate(named_threads(trace, p.order, "order").tolist())}
        order = np.argsort([place.get(t, len(place)) for t in first.tolist()], kind="stable")
    return [rows[i] for i in order.tolist()]


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
    own = _windows(trace, p)
    return [own.get(t, window) for t in threads.tolist()]


def _windowed(trace: Trace, p: Parameters) -> Ints:
    """Return the threads that have windows of their own."""
    return np.array(list(_windows(trace, p)), np.int64)


def _windows(trace: Trace, p: Parameters) -> dict[int, tuple[int, int]]:
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
    return own
