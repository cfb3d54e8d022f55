"""Findings about threads: those that never continue, that wait for little or for nothing, and long calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....kernels.waits.sync import count_durations
from ....trace.model import RELEASE, WAIT, Calls
from ....units import duration, percentage
from ..operations import UNFINISHED
from ..outcomes import GAVE_UP, HOW, KINDS_OF_WAITING, RECORDED
from .finding import Finding, several, some, titles

if TYPE_CHECKING:
    from ..waits import Waits

Ints = NDArray[np.int64]

_FEW = 5
#: Maximum number of reported outliers.
_OUTLIERS = 20
_SLEEPS = re.compile("sleep|poll|select|timer", re.IGNORECASE)
#: Polling lasts for at least this share of the trace; what sleeps between two looks does so for most of it.
_POLLED, _ASLEEP = 0.05, 0.8
#: An outlier lasts this many times as long as three quarters of its function's calls, both to the power of
#: two below, and this share of all; a function with fewer calls has none.
_FACTOR, _SHARE, _CALLS = 64, 0.01, 20
#: A call that takes this share of one that it lies in is the same outlier.
_NEARLY = 0.8
#: Releases that only represent the end of a thread.
_ENDS = ("Thread.end", "thread end", "Process.end", "end of thread")
_SLEEP, _IDLE, _CONTENTION = (KINDS_OF_WAITING.index(kind) for kind in ("sleep", "idle", "contention"))


def findings(waits: Waits) -> list[Finding]:
    """Return the findings about threads, in no order.

    Parameters
    ----------
    waits : Waits

    Returns
    -------
    list of Finding
    """
    polling = _polling(waits)
    polled = {(*finding.threads, *finding.objects) for finding in polling}
    # A polling thread would continue to poll.
    stuck = [f for f in _never_released(waits) if (*f.threads, *f.objects) not in polled]
    return [*_rings(waits), *stuck, *_farmers(waits), *polling, *_idle(waits), *_outliers(waits)]


def _rings(waits: Waits) -> list[Finding]:
    """Return the rings of threads that wait for each other forever or until one gives up."""
    ops, title, outcomes = waits.ops, waits.trace.threads.title, waits.outcomes
    found = []
    for ring in outcomes.rings:
        rows = list(ring.waits)
        threads, names = ops.thread[rows].tolist(), [", ".join(ops.of(row)) for row in rows]
        after = [*threads[1:], threads[0]]
        parts = [
            f"{title(t)} waits for {name}, which {title(n)} holds"
            for t, name, n in zip(threads, names, after)
        ]
        start, end = int(ops.start[rows].max()), int(ops.end[rows].min())
        if ring.broken_by >= 0:
            kind, end = "broken deadlock", int(ops.end[ring.broken_by])
            each = [f"{title(t)} for {name}" for t, name in zip(threads, names)]
            who, last = several(titles(waits, threads)), title(int(ops.thread[ring.broken_by]))
            sentence = (
                f"{who} wait for each other for {duration(max(end - start, 0))} ({several(each)}), "
                f"until {last} gives up"
            )
            headline = f"{who} wait for each other until {last} gives up"
            lost = len(rows) * max(end - start, 0)
        elif len(rows) == 1:
            kind, lost, headline = "deadlock", int(ops.lasted[rows].sum()), ""
            sentence = f"{title(threads[0])} waits for {names[0]}, which it holds itself: it blocks forever"
        else:
            kind, lost = "deadlock", int(ops.lasted[rows].sum())
            sentence = f"{'; '.join(parts)}: none of them continues"
            headline = f"Deadlock: {several(titles(waits, threads))} wait for each other forever"
        said = all(outcomes.how[row] == RECORDED for row in ring.waits)
        found.append(
            Finding(
                kind, sentence, lost, tuple(ops.thread[rows].tolist()),
                tuple(dict.fromkeys(o for row in rows for o in ops.of(row))), int(ops.start[rows].min()),
                int(ops.end[rows].max()), len(ring.waits), int(ops.call[rows[0]]),
                how=HOW[RECORDED] if said else HOW[RECORDED + 1],
                headline=headline,
            )
        )  # fmt: skip
    return found


def _thread_ends(waits: Waits) -> Ints:
    calls, threads = waits.trace.calls, waits.trace.threads
    last = np.zeros(len(threads), np.int64)
    np.maximum.at(last, calls.thread, calls.end)
    return last


#: Text for what does not come, by the kind of wait.
_NOTHING = {_IDLE: "nothing comes"}


def _never_released(waits: Waits) -> list[Finding]:
    """Return long waits that never end, without those of rings."""
    ops, title, outcomes = waits.ops, waits.trace.threads.title, waits.outcomes
    rows = np.flatnonzero(outcomes.never_ended & ~ops.nested)
    rows = rows[~np.isin(rows, [row for ring in outcomes.rings for row in ring.waits])]
    rows = rows[(ops.lasted[rows] >= 0.05 * waits.trace.span_ns) & (np.diff(ops.first)[rows] > 0)]
    found = []
    for row in rows.tolist():
        thread = int(ops.thread[row])
        holder = int(waits.held_by[row])
        said = _NOTHING.get(int(ops.state[row]), "no thread releases it")
        found.append(
            Finding(
                "never released",
                f"{title(thread)} waits for {', '.join(ops.of(row))} for {duration(ops.lasted[row])}, until "
                f"it ends: {said}" + (f", {title(holder)} holds it" if holder >= 0 else ""),
                int(ops.lasted[row]), (thread,), tuple(ops.of(row)), int(ops.start[row]), int(ops.end[row]),
                1, int(ops.call[row]), how=HOW[int(outcomes.how[row])],
            )
        )  # fmt: skip
    return found


def _farmers(waits: Waits) -> list[Finding]:
    ops, title, n = waits.ops, waits.trace.threads.title, len(waits.trace.threads)
    rows = waits.own
    by = waits.woken_by[rows]
    # Passing a lock on does not give others work.
    rows = rows[(by >= 0) & (by != ops.thread[rows]) & (ops.state[rows] != _CONTENTION)]
    by, thread, lasted = waits.woken_by[rows], ops.thread[rows], ops.lasted[rows]
    total = int(lasted.sum())
    ended = np.bincount(by, lasted, n)
    pairs = np.unique(np.stack([by, thread]), axis=1)
    threads = np.bincount(pairs[0], minlength=n)
    found = []
    enough = max(total / 2, _POLLED * waits.trace.span_ns, 0.5)
    for t in np.flatnonzero((threads >= 3) & (ended >= enough)).tolist():
        mine = by == t
        waited = np.bincount(thread[mine], lasted[mine], n)
        workers = [w for w in np.argsort(-waited, kind="stable").tolist() if waited[w] > 0]
        share = float(ended[t]) / total
        found.append(
            Finding(
                "farmer and workers",
                f"{title(t)} ends waits of {len(workers)} threads, {percentage(share)} of all waiting: "
                f"{some(titles(waits, workers))}",
                int(ended[t]), (t, *workers), (), 0, waits.trace.span_ns, int(mine.sum()),
            )
        )  # fmt: skip
    return found


def _polling(waits: Waits) -> list[Finding]:
    ops, rows = waits.ops, waits.own
    rows = rows[waits.woken_by[rows] < 0]
    # Sleeping is for nothing; of other waits for nothing known a release couldn't be known either.
    sleeps = np.array([bool(_SLEEPS.search(name)) for name in ops.names] or [False])
    rows = rows[((np.diff(ops.first)[rows] > 0) | sleeps[ops.name[rows]]) & (ops.ending[rows] != UNFINISHED)]
    # A thread that sleeps while it holds something is not polling; the delay is another finding.
    rows = rows[(ops.state[rows] != _SLEEP) | ~_holding(waits, rows)]
    if not len(rows):
        return []
    giving = np.flatnonzero((ops.kind == RELEASE) & (ops.gives >= 0))
    object = np.where(np.diff(ops.first)[rows] > 0, np.append(ops.object, -1)[ops.first[rows]], -1)
    order = np.lexsort((ops.start[rows], object, ops.name[rows], ops.thread[rows]))
    rows, object = rows[order], object[order]
    key = np.stack([ops.thread[rows], ops.name[rows], object])
    bounds = np.flatnonzero((np.diff(key, axis=1) != 0).any(axis=0)) + 1
    found = []
    for mine in np.split(rows, bounds):
        if len(mine) < _FEW:
            continue
        every = np.diff(ops.start[mine])
        middle = float(np.median(every))
        spread = float(np.median(np.abs(every - middle)))
        # Where each of them is known to have been given up, it need not be regular.
        regular = spread <= 0.15 * middle or bool((waits.outcomes.outcome[mine] == GAVE_UP).all())
        if middle <= 0 or not regular or middle * len(mine) < _POLLED * waits.trace.span_ns:
            continue
        thread, name = int(ops.thread[mine[0]]), ops.names[int(ops.name[mine[0]])]
        waited = int(ops.lasted[mine].sum())
        if ops.state[mine[0]] == _SLEEP:
            begin, end = int(ops.start[mine[0]]), int(ops.end[mine[-1]])
            times = ops.start[giving[ops.thread[giving] == ops.thread[mine[0]]]]
            # A thread that gives something to others between its sleeps is not polling.
            given = int(((times >= begin) & (times <= end)).sum())
            if waited < _ASLEEP * (end - begin) or 2 * given >= len(mine):
                continue
        found.append(
            Finding(
                "polling",
                f"{waits.trace.threads.title(thread)} polls with {name} every {duration(middle)}, "
                f"{len(mine)} times",
                waited, (thread,), tuple(ops.of(int(mine[0]))), int(ops.start[mine[0]]),
                int(ops.end[mine[-1]]), len(mine), int(ops.call[mine[0]]),
            )
        )  # fmt: skip
    return found


def _holding(waits: Waits, rows: Ints) -> NDArray[np.bool_]:
    """Return of which rows the thread holds something when they begin."""
    held, ops = waits.held, waits.ops
    holds = np.zeros(len(rows), np.bool_)
    for thread in np.unique(ops.thread[rows]).tolist():
        mine, its = np.flatnonzero(ops.thread[rows] == thread), held.thread == thread
        begun = np.searchsorted(np.sort(held.start[its]), ops.start[rows[mine]], "right")
        holds[mine] = begun > np.searchsorted(np.sort(held.end[its]), ops.start[rows[mine]], "right")
    return holds


def _idle(waits: Waits) -> list[Finding]:
    ops, rows, calls, threads = waits.ops, waits.own, waits.trace.calls, waits.trace.threads
    last = _thread_ends(waits)
    # The end of a thread does not count as giving something.
    giving = (ops.kind == RELEASE) & ~np.isin(ops.name, [i for i, n in enumerate(ops.names) if n in _ENDS])
    gives = np.bincount(ops.thread[giving], minlength=len(threads)) > 0
    found = []
    for t in np.unique(ops.thread[rows]).tolist():
        mine = rows[ops.thread[rows] == t]
        first = int(threads.first[t])
        begin = min(
            int(calls.start[first]) if threads.count[t] else int(ops.start[mine[0]]), int(ops.start[mine[0]])
        )
        life = max(int(last[t]), int(ops.end[mine].max())) - begin
        waited = int(waits.waited[t])
        if life > 0.2 * waits.trace.span_ns and waited > 0.9 * life:
            alone = len(mine) == 1 and waits.woken_by[mine[0]] < 0 and not gives[t]
            what = ", ".join(ops.of(int(mine[0]))) or ops.names[int(ops.name[mine[0]])]
            found.append(
                Finding(
                    "does nothing" if alone else "mostly idle",
                    f"{threads.title(t)} does nothing but wait for {what}, {duration(waited)} of its "
                    f"{duration(life)}"
                    if alone
                    else f"{threads.title(t)} waits {percentage(waited / life)} of its {duration(life)}",
                    waited, (t,), (), begin, begin + life, len(mine),
                )
            )  # fmt: skip
    return found


def _outliers(waits: Waits) -> list[Finding]:
    trace = waits.trace
    calls = trace.calls
    counts = np.zeros((len(trace.functions), 64), np.int64)
    count_durations(calls.function, calls.start, calls.end, counts)
    total = counts.sum(axis=1)
    below = np.cumsum(counts, axis=1)
    # The power of two that three quarters of a function's calls stay below, and that of its longest.
    usual = (4 * below >= 3 * total[:, None]).argmax(axis=1)
    longest = 63 - (counts[:, ::-1] > 0).argmax(axis=1)
    step = int(np.log2(_FACTOR))
    least = max(_SHARE * trace.span_ns, 1.0)
    candidates = np.flatnonzero(
        (total >= _CALLS) & (longest - usual >= step) & (2.0 ** (longest + 1) > least)
    )
    if not len(candidates):
        return []
    waiting = waits.time_in(WAIT)
    longest_calls: list[tuple[int, int, int, int, int]] = []
    wanted = np.zeros(len(trace.functions), np.bool_)
    wanted[candidates] = True
    which = np.flatnonzero(wanted[calls.function])
    which = which[calls.end[which] - calls.start[which] >= least]
    for f in candidates.tolist():
        mine = which[calls.function[which] == f]
        if not len(mine):
            continue
        time = calls.end[mine] - calls.start[mine]
        call = int(mine[int(time.argmax())])
        waits_itself = waiting[call] > 0.5 * time.max() or _lies_in_a_wait(waits, call)
        if waits_itself or _SLEEPS.search(trace.functions.label[f]):
            continue  # it waited for others, or for the time to pass: that is reported as a wait
        longest_calls.append((int(time.max()), call, f, int(total[f]), int(usual[f])))
    found = []
    for outer, time, call, f, calls_of, step_of in _innermost_alone(longest_calls, calls):
        within = f" within {trace.functions.label[outer]}" if outer != f else ""
        found.append(
            Finding(
                "outlier",
                f"{trace.functions.label[f]}{within} once takes {duration(time)}, three quarters of its "
                f"{calls_of:,} calls take less than {duration(2.0 ** (step_of + 1))}",
                time, (int(calls.thread[call]),), (), int(calls.start[call]), int(calls.end[call]),
                calls_of, call,
            )
        )  # fmt: skip
    return sorted(found, key=lambda finding: -finding.score_ns)[:_OUTLIERS]


def _lies_in_a_wait(waits: Waits, call: int) -> bool:
    """Return whether a call is part of how its thread waits."""
    ops, calls, own = waits.ops, waits.trace.calls, waits.own
    low, high = np.searchsorted(ops.thread[own], [calls.thread[call], calls.thread[call] + 1])
    at = low + np.searchsorted(ops.start[own[low:high]], calls.start[call], "right") - 1
    return bool(at >= low and ops.end[own[at]] >= calls.end[call])


def _innermost_alone(
    found: list[tuple[int, int, int, int, int]], calls: Calls
) -> list[tuple[int, int, int, int, int, int]]:
    """Of nested calls of nearly the same duration keep the innermost, with the function of the outermost.

    Takes and returns rows of time, call, function and more; the outermost's function comes first.
    """
    kept: list[tuple[int, int, int, int, int, int]] = []
    # A call comes before all that lie in it.
    for row in sorted(found, key=lambda one: one[1]):
        time, call = row[0], row[1]
        above = next((i for i, one in enumerate(kept) if 0 < call - one[2] < calls.extent[one[2]]
                      and time >= _NEARLY * one[1]), -1)  # fmt: skip
        if above >= 0:
            kept[above] = (kept[above][0], *row)
        else:
            kept.append((row[2], *row))
    return kept
