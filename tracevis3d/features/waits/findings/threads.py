"""Findings about threads: those that never continue, that wait for little or for nothing, and long calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....kernels.waits.sync import count_durations
from ....trace.model import IO, RELEASE, WAIT, Calls
from ....trace.names import runs_on
from ....units import duration, percentage
from ..operations import DONE, FAILED, THREAD_ENDS, TIMED_OUT, UNFINISHED
from ..outcomes import FOLLOWS, GAVE_UP, HOW, INFERRED, KINDS_OF_WAITING, RECORDED, SLEEPS
from ..rules import GIFT
from .finding import Finding, several, some, titles

if TYPE_CHECKING:
    from ..waits import Waits

Ints = NDArray[np.int64]

_FEW = 5
#: Maximum number of reported outliers.
_OUTLIERS = 20
_SLEEPS = re.compile("sleep|poll|select|timer", re.IGNORECASE)
#: Polling lasts for at least this share of the trace, and is regular if most times between two looks differ
#: by less than this share from the usual one; of the time what sleeps, or waits, does so for these shares.
_POLLED, _REGULAR, _ASLEEP, _WAITING = 0.05, 0.15, 0.8, 0.5
#: A signal before a wait in vain is told with it, if it came at most this many times its duration before.
_BEFORE = 2
#: An outlier lasts this many times as long as three quarters of its function's calls, both to the power of
#: two below, and this share of all; a function with fewer calls has none.
_FACTOR, _SHARE, _CALLS = 64, 0.01, 20
#: A thread that is asleep for this share of its waiting, or more, waits or sleeps.
_SOME = 0.1
#: A call that takes this share of one that it lies in is the same outlier.
_NEARLY = 0.8
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
    # What has not ended yet may end, where the program goes on; a polling thread would continue to poll.
    never = [] if runs_on(waits.trace) else _never_released(waits)
    stuck = [
        finding
        for finding in [*never, *_given_up(waits)]
        if not any((thread, *finding.objects) in polled for thread in finding.threads)
    ]
    return [*_rings(waits), *stuck, *_farmers(waits), *polling, *_idle(waits), *_outliers(waits)]


def _rings(waits: Waits) -> list[Finding]:
    """Return the rings of threads that wait for each other forever or until one gives up."""
    ops, title, outcomes = waits.ops, waits.trace.threads.title, waits.outcomes
    forever = "all the time" if runs_on(waits.trace) else "forever"
    found = []
    for ring in outcomes.rings:
        rows = list(ring.waits)
        threads, names = ops.thread[rows].tolist(), [", ".join(ops.of(row)) for row in rows]
        after = [*threads[1:], threads[0]]
        who = several(titles(waits, threads))
        parts = [
            f"{title(t)} waits for the end of {title(n)}"
            if name.startswith("Thread:")
            else f"{title(t)} waits for {name}, which {title(n)} holds"
            for t, name, n in zip(threads, names, after)
        ]
        start, end = int(ops.start[rows].max()), int(ops.end[rows].min())
        if ring.broken_by >= 0:
            kind, end = "broken deadlock", int(ops.end[ring.broken_by])
            each = [f"{title(t)} for {name}" for t, name in zip(threads, names)]
            last = title(int(ops.thread[ring.broken_by]))
            sentence = (
                f"{who} wait for each other for {duration(max(end - start, 0))} ({several(each)}), "
                f"until {last} gives up"
            )
            headline = f"{who} wait for each other until {last} gives up"
            lost = len(rows) * max(end - start, 0)
        elif len(rows) == 1:
            kind, lost, headline = "deadlock", int(ops.lasted[rows].sum()), ""
            sentence = f"{who} waits for {several(names)}, which it holds itself: it blocks {forever}"
        else:
            kind, lost = "deadlock", int(ops.lasted[rows].sum())
            sentence = f"{'; '.join(parts)}: none of them continues"
            headline = f"Deadlock: {who} wait for each other {forever}"
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
    # A worker that waits for more work as the recording ends is merely idle: some has come before.
    got, object = ops.per_object(np.flatnonzero((ops.kind == WAIT) & (ops.ending == DONE)))
    first = np.full(len(ops.objects), np.iinfo(np.int64).max)
    np.minimum.at(first, object, ops.end[got])
    waiting, wanted = ops.per_object(rows[ops.state[rows] == _IDLE])
    rows = rows[~np.isin(rows, waiting[first[wanted] <= ops.start[waiting]])]
    found = []
    for row in rows.tolist():
        thread = int(ops.thread[row])
        holder = int(waits.held_by[row])
        said = _NOTHING.get(int(ops.state[row]), "no thread releases it")
        still = ""
        if holder >= 0:
            still = f"{title(holder)} {'ended and still holds' if waits.ended[holder] else 'holds'} it"
            said += f", {still}"
        signal, words = _too_early(waits, row)
        early = [int(ops.thread[signal])] if signal >= 0 else []
        point = f"{title(thread)} waits for {', '.join(ops.of(row))} for {duration(ops.lasted[row])}"
        found.append(
            Finding(
                "never released",
                f"{point}, until it ends: {said}{f'; {words}' if words else ''}",
                int(ops.lasted[row]), (thread, *([holder] if still else []), *early), tuple(ops.of(row)),
                _since(waits, signal, int(ops.start[row]), int(ops.end[row])), int(ops.end[row]), 1,
                int(ops.call[row]), how=HOW[RECORDED if ops.ending[row] == UNFINISHED else INFERRED],
                headline=f"{point}: {words or still}" if words or still else "", signal=signal,
            )
        )  # fmt: skip
    return found


def _since(waits: Waits, signal: int, start: int, end: int) -> int:
    """Return from when on a wait in vain is told: from the signal before it, if that is not long before."""
    time = int(waits.ops.start[signal]) if signal >= 0 else start
    return time if start - time <= _BEFORE * (end - start) else start


def _too_early(waits: Waits, row: int) -> tuple[int, str]:
    """Return the last signal before a wait in vain, when nobody waited, and words about it; -1: none."""
    ops = waits.ops
    signal = not ops.asks[row] and ops.state[row] != _IDLE and ops.wants[row] == ops.gifts.index(GIFT)
    if not signal:
        return -1, ""
    object = int(ops.object[ops.first[row]])
    gave, of = ops.per_object(np.flatnonzero((ops.kind == RELEASE) & (ops.gives == ops.wants[row])))
    gave = gave[(of == object) & (ops.start[gave] <= ops.start[row])]
    if not len(gave):
        return -1, ""
    last = int(gave[ops.start[gave].argmax()])
    others, of = ops.per_object(np.flatnonzero(ops.blocked))
    others, time = others[of == object], int(ops.start[last])
    if bool(((ops.start[others] <= time) & (ops.end[others] >= time)).any()):
        return -1, ""
    who, before = int(ops.thread[last]), duration(int(ops.start[row]) - time)
    return last, f"{waits.trace.threads.title(who)} had signalled it {before} before, when nobody waited"


def _given_up(waits: Waits) -> list[Finding]:
    """Return long waits for a signal or a result that were given up, those for one object together."""
    ops = waits.ops
    rows = waits.own[np.isin(ops.ending[waits.own], (TIMED_OUT, FAILED))]
    for_a_signal = ~np.isin(ops.state[rows], (_SLEEP, _CONTENTION, _IDLE))
    rows = rows[
        for_a_signal & (ops.lasted[rows] >= _POLLED * waits.trace.span_ns) & (np.diff(ops.first)[rows] > 0)
    ]
    # That a thread goes on is no news.
    rows = rows[ops.wants[rows] != (ops.gifts.index("end") if "end" in ops.gifts else len(ops.gifts))]
    object = ops.object[ops.first[rows]]
    found = []
    for o in np.unique(object).tolist():
        mine = rows[object == o]
        mine = mine[np.lexsort((mine, -ops.lasted[mine]))]
        threads, longest = list(dict.fromkeys(ops.thread[mine].tolist())), int(mine[0])
        waits_for = "waits" if len(threads) == 1 else "wait"
        up_to = "" if len(mine) == 1 else "up to "
        end = "gives up" if len(threads) == 1 else "give up"
        if (ops.ending[mine] == FAILED).all():
            end = "fails" if len(threads) == 1 else "fail"
        signal, words = _too_early(waits, longest)
        early = [int(ops.thread[signal])] if signal >= 0 else []
        low, high = int(ops.start[mine].min()), int(ops.end[mine].max())
        who, lasted = several(titles(waits, threads)), duration(ops.lasted[longest])
        point = f"{who} {waits_for} {up_to}{lasted} for {ops.objects[o]} in vain"
        found.append(
            Finding(
                "given up", f"{point}, and {end}{f'; {words}' if words else ''}",
                int(ops.lasted[mine].sum()), tuple(dict.fromkeys((*threads, *early))), (ops.objects[o],),
                _since(waits, signal, low, high), high, len(mine), int(ops.call[longest]),
                how=HOW[RECORDED], headline=f"{point}: {words}" if words else "", signal=signal,
            )
        )  # fmt: skip
    return found


def _farmers(waits: Waits) -> list[Finding]:
    ops, title, n = waits.ops, waits.trace.threads.title, len(waits.trace.threads)
    rows = waits.own
    by = waits.woken_by[rows]
    # Passing a lock on does not give others work, nor do making room, coming to a barrier, and ending.
    work = (ops.state[rows] != _CONTENTION) & (ops.wants[rows] == ops.gifts.index(GIFT))
    rows = rows[(by >= 0) & (by != ops.thread[rows]) & work]
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
        workers = np.argsort(-waited, kind="stable")[: np.count_nonzero(waited)].tolist()
        share = float(ended[t]) / total
        found.append(
            Finding(
                "farmer and workers",
                f"{title(t)} ends waits of {len(workers)} threads, {percentage(share)} of all waiting for "
                f"work or a signal: {some(titles(waits, workers))}",
                int(ended[t]), (t, *workers), (), 0, waits.trace.span_ns, int(mine.sum()),
            )
        )  # fmt: skip
    return found


def _polling(waits: Waits) -> list[Finding]:
    ops = waits.ops
    # Looking at sockets is I/O, and in vain if nothing comes.
    rows = np.union1d(waits.own, np.flatnonzero((ops.kind == IO) & (ops.ending == TIMED_OUT)))
    rows = rows[waits.woken_by[rows] < 0]
    # Sleeping is for nothing; of other waits for nothing known a release couldn't be known either.
    sleeps = np.array([bool(_SLEEPS.search(name)) for name in ops.names] or [False])
    rows = rows[((np.diff(ops.first)[rows] > 0) | sleeps[ops.name[rows]]) & (ops.ending[rows] != UNFINISHED)]
    # A thread that sleeps while it holds something is not polling; the delay is another finding.
    rows = rows[(ops.state[rows] != _SLEEP) | ~_holding(waits, rows)]
    if not len(rows):
        return []
    object = np.where(np.diff(ops.first)[rows] > 0, np.append(ops.object, -1)[ops.first[rows]], -1)
    slept, site = ops.state[rows] == _SLEEP, waits.function[rows].astype(np.int64)
    site = np.where(slept, site, -1)
    order = np.lexsort((ops.start[rows], site, object, ops.name[rows], ops.thread[rows]))
    rows, object, site = rows[order], object[order], site[order]
    key = np.stack([ops.thread[rows], ops.name[rows], object, site])
    bounds = np.flatnonzero((np.diff(key, axis=1) != 0).any(axis=0)) + 1
    exchanging = _exchanging(waits)
    found = []
    for mine in np.split(rows, bounds):
        if len(mine) < _FEW:
            continue
        every = np.diff(ops.start[mine])
        middle = float(np.median(every))
        spread = float(np.median(np.abs(every - middle)))
        begin, end = int(ops.start[mine[0]]), int(ops.end[mine[-1]])
        waited, sleeps_ = int(ops.lasted[mine].sum()), ops.state[mine[0]] == _SLEEP
        # Waits that were given up need not be regular, nor sleeps in one place: busy machines prolong them.
        in_vain = (ops.kind[mine] == IO) | (waits.outcomes.outcome[mine] == GAVE_UP)
        given_up = bool(in_vain.all())
        regular = spread <= _REGULAR * middle or given_up or (sleeps_ and waits.function[mine[0]] >= 0)
        if middle <= 0 or not regular or middle * len(mine) < _POLLED * waits.trace.span_ns:
            continue
        if waited < (_ASLEEP if sleeps_ else _WAITING) * (end - begin):
            continue
        thread, name = int(ops.thread[mine[0]]), ops.names[int(ops.name[mine[0]])]
        who, how = waits.trace.threads.title(thread), FOLLOWS
        sentence = f"{who} polls with {name} every {duration(middle)}, {len(mine)} times"
        if sleeps_:
            times = exchanging[thread] if thread in exchanging else np.empty(0, np.int64)
            low, high = np.searchsorted(times, [begin, end])
            # A thread that gives or takes something between its sleeps is not polling.
            if 2 * (high - low) >= len(mine):
                continue
            how = INFERRED
            sentence = (
                f"{who} sleeps {len(mine)} times, about every {duration(middle)}, and gives or takes nothing "
                "between: it polls, or keeps time"
            )
        found.append(
            Finding(
                "polling", sentence, waited, (thread,), tuple(ops.of(int(mine[0]))), begin, end, len(mine),
                int(ops.call[mine[0]]), how=HOW[how],
            )
        )  # fmt: skip
    return found


def _exchanging(waits: Waits) -> dict[int, Ints]:
    """Return when each thread gives something to others, or takes what can be given, in order.

    What no other thread ever gives or takes, such as its own lock, is no exchange; reading and writing is.
    """
    ops = waits.ops
    takes = (ops.kind == WAIT) & (ops.ending == DONE) & (ops.state != _SLEEP)
    rows = np.flatnonzero((ops.kind == RELEASE) | takes)
    which, object = ops.per_object(rows)
    low, high = np.full(len(ops.objects), len(waits.trace.threads)), np.full(len(ops.objects), -1)
    np.minimum.at(low, object, ops.thread[which])
    np.maximum.at(high, object, ops.thread[which])
    transfers = np.flatnonzero((ops.kind == IO) & (ops.ending == DONE))
    rows = np.union1d(which[low[object] < high[object]], transfers)
    time = np.where(ops.kind[rows] == WAIT, ops.end[rows], ops.start[rows])
    order = np.lexsort((time, ops.thread[rows]))
    thread, time = ops.thread[rows][order], time[order]
    bounds = np.flatnonzero(np.diff(thread)) + 1
    return {int(t[0]): of for t, of in zip(np.split(thread, bounds), np.split(time, bounds)) if len(t)}


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
    ends = [i for i, n in enumerate(ops.names) if n in THREAD_ENDS]
    giving = (ops.kind == RELEASE) & ~np.isin(ops.name, ends)
    gives = np.bincount(ops.thread[giving], minlength=len(threads)) > 0
    found = []
    for t in np.unique(ops.thread[rows]).tolist():
        mine = rows[ops.thread[rows] == t]
        begin = int(ops.start[mine[0]])
        if threads.count[t]:
            begin = min(begin, int(calls.start[threads.first[t]]))
        life = max(int(last[t]), int(ops.end[mine].max())) - begin
        waited = int(waits.waited[t])
        if life > 0.2 * waits.trace.span_ns and waited > 0.9 * life:
            alone = len(mine) == 1 and waits.woken_by[mine[0]] < 0 and not gives[t]
            what = ", ".join(ops.of(int(mine[0]))) or ops.names[int(ops.name[mine[0]])]
            asleep = int(waits.time_by_state[t, _SLEEP]) / waited
            does = "sleeps" if asleep >= SLEEPS else "waits or sleeps" if asleep > _SOME else "waits"
            found.append(
                Finding(
                    "does nothing" if alone else "mostly idle",
                    f"{threads.title(t)} does nothing but wait for {what}, {duration(waited)} of its "
                    f"{duration(life)}"
                    if alone
                    else f"{threads.title(t)} {does} {percentage(waited / life)} of its {duration(life)}",
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
        if waits_itself or _sleeps_mostly(waits, call):
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


def _sleeps_mostly(waits: Waits, call: int) -> bool:
    """Return whether a call, or what it calls for most of its time, sleeps by its name."""
    calls, labels = waits.trace.calls, waits.trace.functions.label
    time, at, below = int(calls.end[call] - calls.start[call]), call, call + int(calls.extent[call])
    while not _SLEEPS.search(labels[int(calls.function[at])]):
        lasted = calls.end[at + 1 : below] - calls.start[at + 1 : below]
        longest = np.flatnonzero(lasted > time / 2)
        if not len(longest):
            return False
        # What lasts that long in it lies in each other: the first is the outermost.
        at += 1 + int(longest[0])
        below = at + int(calls.extent[at])
    return True


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
