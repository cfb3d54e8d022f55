"""Findings about a trace's waits: found, written as sentences, and ranked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...kernels.waits.sync import count_durations
from ...trace.model import WAIT, Calls
from ...units import duration, percentage
from .waits import Waits

Ints = NDArray[np.int64]

#: Kinds of findings; those that can end a program's work come first, the others by the time lost to them.
KINDS = {
    "deadlock": "threads that wait to their end, each for an object that another of them holds",
    "lock order": "objects that threads acquire in different orders: they can wait for each other for ever",
    "never released": "a wait that no release ends before its thread ends",
    "held to the end": "an object that is acquired and never released",
    "convoy": "threads that queue all the time for an object, which passes from one to the next",
    "farmer and workers": "one thread that ends most of the waits of several others",
    "polling": "waits that end by themselves, again and again at one interval",
    "mostly idle": "threads that do little but wait",
    "outlier": "a call that takes far longer than other calls of its function",
}
_GRAVE = ("deadlock", "lock order", "never released", "held to the end")
_FEW = 5
_CYCLES = 20
#: Objects held to the end are held for at least this share of the trace.
_HELD = 0.01
_SLEEPS = re.compile("sleep|poll|select|timer", re.IGNORECASE)
#: Polling lasts for at least this share of the trace.
_POLLED = 0.05
#: An outlier lasts this many times as long as three quarters of its function's calls, both to the power of
#: two below, and this share of all; a function with fewer calls has none.
_FACTOR, _SHARE, _CALLS = 64, 0.01, 20
#: A call that takes this share of one that it lies in is the same outlier.
_NEARLY = 0.8


@dataclass(frozen=True)
class Finding:
    """Something remarkable.

    Attributes
    ----------
    kind : str
        A key of :data:`KINDS`.
    sentence : str
    score_ns : int
        By what findings of a kind are ranked: time lost to it.
    threads : tuple of int
    objects : tuple of str
    start, end : int
        Nanoseconds.
    count : int
        Waits, holds or calls that it is about.
    call : int
        A call; -1: none.
    """

    kind: str
    sentence: str
    score_ns: int
    threads: tuple[int, ...] = ()
    objects: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    count: int = 1
    call: int = field(default=-1)


def findings(waits: Waits) -> list[Finding]:
    """Return all findings: the grave ones kind by kind, then the others, what costs most first."""
    found = [
        *_lock_order(waits), *_never_released(waits), *_held(waits), *_convoys(waits), *_farmers(waits),
        *_polling(waits), *_idle(waits), *_outliers(waits),
    ]  # fmt: skip
    place = {kind: i for i, kind in enumerate(_GRAVE)}
    return sorted(found, key=lambda finding: (place.get(finding.kind, len(_GRAVE)), -finding.score_ns))


def _some(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most:,} others" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _lock_order(waits: Waits) -> list[Finding]:
    order, objects, title = waits.order, waits.ops.objects, waits.trace.threads.title
    after: dict[int, list[int]] = {}
    for outer, inner in zip(order.outer.tolist(), order.inner.tolist()):
        after.setdefault(outer, []).append(inner)
    found = []
    for group in _strongly_connected(after)[:_CYCLES]:
        inside = np.flatnonzero(np.isin(order.outer, group) & np.isin(order.inner, group))
        threads = sorted(set(waits.held.thread[order.hold_inner[inside]].tolist()))
        if len(threads) < 2:
            continue  # one thread alone can't wait for itself so
        names = [objects[o] for o in group]
        times = waits.held.start[order.hold_inner[inside]]
        count = int(order.count[inside].sum())
        found.append(
            Finding(
                "lock order",
                f"{_some(names)} are acquired in different orders by {_some([title(t) for t in threads])}: "
                "a deadlock is possible",
                count, tuple(threads), tuple(names), int(times.min()), int(times.max()), count,
            )
        )  # fmt: skip
    return found


def _strongly_connected(after: dict[int, list[int]]) -> list[list[int]]:
    """Return groups of more than one node that reach each other (Tarjan's algorithm, no recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on: set[int] = set()
    groups = []
    for root in after:
        if root in index:
            continue
        work = [(root, iter(after.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, children = work[-1]
            for child in children:
                if child not in index:
                    index[child] = low[child] = len(index)
                    stack.append(child)
                    on.add(child)
                    work.append((child, iter(after.get(child, ()))))
                    break
                if child in on:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        group.append(stack.pop())
                        on.discard(group[-1])
                        if group[-1] == node:
                            break
                    if len(group) > 1:
                        groups.append(sorted(group))
    return sorted(groups, key=len, reverse=True)


def _thread_ends(waits: Waits) -> Ints:
    calls, threads = waits.trace.calls, waits.trace.threads
    return np.array(
        [
            int(calls.end[f : f + c].max()) if c else 0
            for f, c in zip(threads.first.tolist(), threads.count.tolist())
        ],
        np.int64,
    )


def _never_released(waits: Waits) -> list[Finding]:
    ops, rows, title = waits.ops, waits.own, waits.trace.threads.title
    # Of a wait for nothing known a release couldn't be known either.
    rows = rows[(waits.woken_by[rows] < 0) & (np.diff(ops.first)[rows] > 0)]
    last = _thread_ends(waits)
    if not len(rows) or not len(last):
        return []
    # After it the thread has no time left to speak of: it never went on.
    to_the_end = ops.end[rows] >= last[ops.thread[rows]] - 0.01 * waits.trace.span_ns
    long = ops.lasted[rows] >= 0.05 * waits.trace.span_ns
    rows = rows[to_the_end & long]
    found = _deadlocks(waits, rows)
    dead = {thread for finding in found for thread in finding.threads}
    for row in rows.tolist():
        if int(ops.thread[row]) in dead:
            continue
        thread = waits.trace.threads.title(int(ops.thread[row]))
        what = ", ".join(ops.of(row)) or ops.names[int(ops.name[row])]
        found.append(
            Finding(
                "never released",
                f"{thread} waits for {what} for {duration(ops.lasted[row])}, to its end: no thread "
                f"releases it"
                + (f", {title(held_by)} holds it" if (held_by := int(waits.held_by[row])) >= 0 else ""),
                int(ops.lasted[row]), (int(ops.thread[row]),), tuple(ops.of(row)), int(ops.start[row]),
                int(ops.end[row]), 1, int(ops.call[row]),
            )
        )  # fmt: skip
    return found


def _deadlocks(waits: Waits, rows: Ints) -> list[Finding]:
    """Return the rings among waits that are never ended, each for what the next thread of the ring holds."""
    ops, title = waits.ops, waits.trace.threads.title
    wait_of = dict(zip(ops.thread[rows].tolist(), rows.tolist()))
    found, seen = [], set()
    for begin in wait_of:
        ring: list[int] = []
        thread = begin
        while thread in wait_of and thread not in seen:
            seen.add(thread)
            ring.append(thread)
            thread = int(waits.held_by[wait_of[thread]])
        if thread not in ring:
            continue
        ring = ring[ring.index(thread) :]
        mine = [wait_of[t] for t in ring]
        parts = [f"{title(t)} waits for {', '.join(ops.of(row))}" for t, row in zip(ring, mine)]
        found.append(
            Finding(
                "deadlock",
                f"{'; '.join(parts)}: each holds the object that the one before it waits for",
                int(ops.lasted[mine].sum()), tuple(ring), tuple(o for row in mine for o in ops.of(row)),
                int(ops.start[mine].min()), int(ops.end[mine].max()), len(ring), int(ops.call[mine[0]]),
            )
        )  # fmt: skip
    return found


def _held(waits: Waits) -> list[Finding]:
    held, ops = waits.held, waits.ops
    open_ = np.flatnonzero((held.release < 0) & (held.end - held.start >= _HELD * waits.trace.span_ns))
    # Objects that are never released at all are none that are held (their releases aren't recorded).
    released = np.zeros(len(ops.objects) + 1, np.bool_)
    released[held.object[held.release >= 0]] = True
    found = []
    for object in np.unique(held.object[open_[released[held.object[open_]]]]).tolist():
        mine = open_[held.object[open_] == object]
        time = held.end[mine] - held.start[mine]
        longest = mine[int(time.argmax())]
        thread = int(held.thread[longest])
        found.append(
            Finding(
                "held to the end",
                f"{waits.trace.threads.title(thread)} never releases {ops.objects[object]}, which it has held"
                f" for {duration(time.max())}",
                int(time.max()), (thread,), (ops.objects[object],), int(held.start[longest]),
                int(held.end[longest]), len(mine), int(ops.call[held.acquire[longest]]),
            )
        )  # fmt: skip
    return found


def _convoys(waits: Waits) -> list[Finding]:
    """Return one finding for each object that threads queue for while it is handed on."""
    queue, held, ops = waits.queues, waits.held, waits.ops
    found = []
    for object in np.flatnonzero(queue.longest >= 2).tolist():
        low, high = np.searchsorted(queue.object, [object, object + 1])
        begin, end = np.searchsorted(held.object, [object, object + 1])
        if begin == end:
            continue
        time, length = queue.time[low:high], queue.length[low:high]
        busy = np.concatenate([[False], length >= 2, [False]])
        starts, ends = np.flatnonzero(busy[1:] & ~busy[:-1]), np.flatnonzero(busy[:-1] & ~busy[1:])
        ends = np.minimum(ends, len(time) - 1)
        got = held.start[begin:end]
        first, last = np.searchsorted(got, time[starts], "left"), np.searchsorted(got, time[ends], "right")
        real = last - first >= 3
        if not real.any():
            continue
        starts, ends, first, last = starts[real], ends[real], first[real], last[real]
        area = np.concatenate([[0], np.cumsum(length[:-1] * np.diff(time))])
        waited = int((area[ends] - area[starts]).sum())
        handed, lasted = int((last - first).sum()), time[ends] - time[starts]
        mine = [held.thread[begin + a : begin + b] for a, b in zip(first.tolist(), last.tolist())]
        most = max(int(length[a : b + 1].max()) for a, b in zip(starts.tolist(), ends.tolist()))
        holding = _mostly_in(
            waits,
            np.concatenate([np.arange(begin + a, begin + b) for a, b in zip(first.tolist(), last.tolist())]),
        )
        when = f"for {duration(int(lasted[0]))}"
        if len(starts) > 1:
            when = f"{len(starts):,} times, for {duration(int(lasted.sum()))} in all"
        found.append(
            Finding(
                "convoy",
                f"up to {most} threads queue for {ops.objects[object]} {when}, in which it is handed on "
                f"{handed:,} times: {duration(waited)} of waiting in all{holding}",
                waited, tuple(np.unique(np.concatenate(mine)).tolist()), (ops.objects[object],),
                int(time[starts[0]]), int(time[ends[-1]]), handed,
            )
        )  # fmt: skip
    return found


def _mostly_in(waits: Waits, rows: Ints) -> str:
    """Say in which function holds (rows of the holds) last longest; nothing where no call is known."""
    held, functions = waits.held, waits.trace.functions
    function = waits.function[held.acquire[rows]]
    known = function >= 0
    time = np.bincount(function[known], (held.end - held.start)[rows[known]], len(functions) or 1)
    return f"; it is held longest in {functions.label[int(time.argmax())]}" if time.max() > 0 else ""


def _farmers(waits: Waits) -> list[Finding]:
    matrix, title = waits.matrix, waits.trace.threads.title
    known = (matrix.by >= 0) & (matrix.by != matrix.thread)
    total = int(matrix.waited[known].sum())
    ended, threads = waits.hubs()
    found = []
    for t in np.flatnonzero((threads >= 3) & (2 * ended >= max(total, 1))).tolist():
        mine = known & (matrix.by == t)
        workers = matrix.thread[mine][np.argsort(-matrix.waited[mine], kind="stable")].tolist()
        share = float(ended[t]) / total
        found.append(
            Finding(
                "farmer and workers",
                f"{title(t)} ends {percentage(share)} of the waiting, that of {len(workers)} threads: "
                f"{_some([title(w) for w in workers])}",
                int(ended[t]), (t, *workers), (), 0, waits.trace.span_ns, int(matrix.count[mine].sum()),
            )
        )  # fmt: skip
    return found


def _polling(waits: Waits) -> list[Finding]:
    ops, rows = waits.ops, waits.own
    rows = rows[waits.woken_by[rows] < 0]
    # Sleeping is for nothing; of other waits for nothing known a release couldn't be known either.
    sleeps = np.array([bool(_SLEEPS.search(name)) for name in ops.names] or [False])
    rows = rows[(np.diff(ops.first)[rows] > 0) | sleeps[ops.name[rows]]]
    if not len(rows):
        return []
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
        if middle <= 0 or spread > 0.15 * middle or middle * len(mine) < _POLLED * waits.trace.span_ns:
            continue
        thread, name = int(ops.thread[mine[0]]), ops.names[int(ops.name[mine[0]])]
        waited = int(ops.lasted[mine].sum())
        found.append(
            Finding(
                "polling",
                f"{waits.trace.threads.title(thread)} polls by {name} every {duration(middle)}, "
                f"{len(mine)} times",
                waited, (thread,), tuple(ops.of(int(mine[0]))), int(ops.start[mine[0]]),
                int(ops.end[mine[-1]]), len(mine), int(ops.call[mine[0]]),
            )
        )  # fmt: skip
    return found


def _idle(waits: Waits) -> list[Finding]:
    ops, rows, calls, threads = waits.ops, waits.own, waits.trace.calls, waits.trace.threads
    last = _thread_ends(waits)
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
            found.append(
                Finding(
                    "mostly idle",
                    f"{threads.title(t)} waits {percentage(waited / life)} of its {duration(life)}",
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
                f"{trace.functions.label[f]}{within} takes {duration(time)} once, three quarters of its "
                f"{calls_of:,} calls less than {duration(2.0 ** (step_of + 1))}",
                time, (int(calls.thread[call]),), (), int(calls.start[call]), int(calls.end[call]),
                calls_of, call,
            )
        )  # fmt: skip
    return sorted(found, key=lambda finding: -finding.score_ns)[:_CYCLES]


def _lies_in_a_wait(waits: Waits, call: int) -> bool:
    """Return whether a call is part of how its thread waits."""
    ops, calls, own = waits.ops, waits.trace.calls, waits.own
    low, high = np.searchsorted(ops.thread[own], [calls.thread[call], calls.thread[call] + 1])
    at = low + np.searchsorted(ops.start[own[low:high]], calls.start[call], "right") - 1
    return bool(at >= low and ops.end[own[at]] >= calls.end[call])


def _innermost_alone(
    found: list[tuple[int, int, int, int, int]], calls: Calls
) -> list[tuple[int, int, int, int, int, int]]:
    """Of calls within each other that last nearly as long keep the innermost, with the outermost's function.

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
