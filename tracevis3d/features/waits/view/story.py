"""The finding that a picture is about, and the view arranged around it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....drawing.primitives import Callout
from ....errors import UsageError
from ....trace.names import word_of_thread
from ....units import counted, duration
from ..findings.finding import COSTLY, GRAVE, USUAL, Finding
from ..operations import FAILED, TIMED_OUT
from ..outcomes import HOW, INFERRED
from ..waits import Waits
from .calls import THICK
from .correspondences import outward
from .dark_bars import acquired_first, holds, holds_as_one
from .found_waits import findings_of
from .layout import Layout
from .parameters import Parameters

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Margin before and after a finding, as a share of its time.
_AROUND = 0.06
#: The same of a call that takes far longer than others of its function: some of these are to be seen, too.
_AROUND_CALL = 0.5
#: A finding that lasts for so much of the trace is shown with all of it.
_NEARLY_ALL = 0.9
#: Maximum number of threads shown of a finding, and of those whose order of locks is shown.
_MOST, _ORDERS = 14, 3


def story(waits: Waits, p: Parameters) -> Finding | None:
    """Return the finding that the picture is about.

    Parameters
    ----------
    waits : Waits
    p : Parameters

    Returns
    -------
    Finding or None
        That of the parameter ``finding``; else the first, if it is about threads that are delayed.

    Raises
    ------
    UsageError
        If there are fewer findings.
    """
    found = findings_of(waits, p.rules)
    if p.finding > len(found):
        if not len(waits.own):
            raise UsageError(f"finding={p.finding}: no thread waits here")
        raise UsageError(f"finding={p.finding}: there are {len(found)} findings")
    if p.finding:
        return found[p.finding - 1]
    return found[0] if found and found[0].kind in (*GRAVE, *COSTLY) else None


def staged(waits: Waits, p: Parameters, finding: Finding | None) -> Parameters:
    """Return the parameters with which a finding is first shown: the thread that caused it is in front.

    With the parameter ``finding`` its threads and its time alone are shown, where nothing else is asked for.

    Parameters
    ----------
    waits : Waits
    p : Parameters
    finding : Finding or None

    Returns
    -------
    staged : Parameters
    """
    if finding is None:
        return p
    trace = waits.trace
    automatic = p.threads.strip() in ("", "auto")
    if p.main == "auto" and automatic and finding.causes:
        p = replace(p, main=word_of_thread(trace, finding.causes[0][0]))
    if not p.finding:
        return p
    if automatic:
        causes = [cause[0] for cause in finding.causes]
        threads = list(dict.fromkeys([*causes, *finding.threads, *_involved(waits, finding)]))[:_MOST]
        p = replace(p, threads=", ".join(word_of_thread(trace, thread) for thread in threads))
    if not p.start.strip() and not p.end.strip() and finding.end > finding.start:
        start, end = finding.start, finding.end
        if finding.kind.startswith("held over") and (hold := longest_hold(waits, finding)) >= 0:
            # What the holder does meanwhile is only a part of the hold.
            start, end = min(start, int(waits.held.start[hold])), max(end, int(waits.held.end[hold]))
        share = _AROUND_CALL if finding.kind == "outlier" else _AROUND
        around = max(int(share * (end - start)), 1)
        low, high = max(start - around, 0), min(end + around, trace.span_ns)
        if high - low < _NEARLY_ALL * trace.span_ns:
            p = replace(p, start=f"{low}ns", end=f"{high}ns")
    return p


def _involved(waits: Waits, finding: Finding) -> list[int]:
    """Return the threads that wait for what others hold in a finding, those that wait longest first.

    Of a thread that is idle these are those that end its waits, and that hold what it waits for; other
    findings without objects are about their threads alone.
    """
    ops = waits.ops
    if not finding.objects and finding.kind not in USUAL:
        return []
    rows = _its_waits(waits, finding)
    rows = rows[ops.asks[rows] if finding.objects else np.isin(ops.thread[rows], finding.threads)]
    who = ops.thread[rows] if finding.objects else waits.woken_by[rows]
    lasts = np.minimum(ops.end[rows], finding.end) - np.maximum(ops.start[rows], finding.start)
    total = np.bincount(who[who >= 0], lasts[who >= 0], len(waits.trace.threads))
    if not finding.objects:
        held = np.isin(waits.causes.wait, rows[ops.asks[rows]])
        total += np.bincount(waits.causes.thread[held], waits.causes.ns[held], len(total))
    return [t for t in np.argsort(-total, kind="stable").tolist() if total[t] > 0]


def _its_waits(waits: Waits, finding: Finding) -> Ints:
    """Return the waits in a finding's time for one of its objects; for any where it has none."""
    ops, rows = waits.ops, waits.own
    rows = rows[(ops.end[rows] > finding.start) & (ops.start[rows] < finding.end)]
    if not finding.objects:
        return rows
    first = np.append(ops.object, -1)[ops.first[rows]]
    known = [i for i, name in enumerate(ops.objects) if name in finding.objects]
    return rows[(np.diff(ops.first)[rows] > 0) & np.isin(first, known)]


def waits_about(waits: Waits, p: Parameters, finding: Finding | None) -> NDArray[np.bool_]:
    """Return the waits that a picture is about: all, or those of the one finding that it is of.

    These are those for its objects, or of its threads where it has none.

    Parameters
    ----------
    waits : Waits
    p : Parameters
    finding : Finding or None

    Returns
    -------
    bool (operations,)
    """
    found = np.ones(len(waits.ops), np.bool_)
    if p.finding and finding is not None:
        if not finding.objects:
            return np.isin(waits.ops.thread, finding.threads)
        rows, object = waits.ops.per_object(np.arange(len(found)))
        known = [i for i, name in enumerate(waits.ops.objects) if name in finding.objects]
        found[:] = False
        found[rows[np.isin(object, known)]] = True
    return found


def in_vain(picture: Layout, finding: Finding | None) -> Ints:
    """Return the waits of a finding that nobody ends, or that were given up, as rows of the operations.

    A wait that leads to the row of who holds its object is shown by that.

    Parameters
    ----------
    picture : Layout
    finding : Finding or None

    Returns
    -------
    int64 (n,)
        Of threads that are shown.
    """
    if finding is None or finding.kind not in ("never released", "given up"):
        return np.empty(0, np.int64)
    waits, ops = picture.waits, picture.waits.ops
    rows = _its_waits(waits, finding)
    given_up = np.isin(ops.ending[rows], (TIMED_OUT, FAILED))
    mine = waits.outcomes.never_ended[rows] if finding.kind == "never released" else given_up
    mine &= waits.woken_by[rows] < 0
    mine &= (waits.held_by[rows] < 0) | (picture.row_of[waits.held_by[rows]] < 0)
    mine &= np.isin(ops.thread[rows], finding.threads) & (picture.row_of[ops.thread[rows]] >= 0)
    return np.asarray(rows[mine], np.int64)


def longest_hold(waits: Waits, finding: Finding | None, shown: NDArray[np.bool_] | None = None) -> int:
    """Return the hold that delays others most in a finding.

    Parameters
    ----------
    waits : Waits
    finding : Finding or None
    shown : bool (threads,), optional
        By whom; left out: by any.

    Returns
    -------
    int
        -1: there is none.
    """
    which = holds(waits, finding)
    which = which if shown is None else which[shown[waits.held.thread[which]]]
    return int(which[waits.hold_delay[which].argmax()]) if len(which) else -1


def callout(picture: Layout, finding: Finding | None, color: int) -> tuple[Callout, ...]:
    """Point out the hold that delays others most; else the longest wait, or the call that a finding is about.

    Parameters
    ----------
    picture : Layout
    finding : Finding or None
    color : int
        That of the bars of holds.

    Returns
    -------
    tuple of Callout
    """
    waits, held = picture.waits, picture.waits.held
    worst = longest_hold(waits, finding, picture.row_of >= 0)
    if worst < 0 or (finding is not None and finding.kind == "lock order"):
        kind = finding.kind if finding is not None else ""
        first = {"outlier": _long_call, "lock order": _orders, "comes last": _last}.get(kind, _longest_wait)
        return (*first(picture, finding, color), *_signal(picture, finding, color))
    row = picture.row_of[[held.thread[worst]]]
    times = np.array([held.start[worst], held.end[worst]])
    low, high = np.clip(picture.share(row.repeat(2), times), 0.0, 1.0)
    if high <= low:
        return ()
    at = picture.theatre.place(row, np.array([(low + high) / 2]), np.zeros(1), THICK)[0]
    words, detail = _hold_in_words(waits, finding, worst)
    call = int(waits.ops.call[held.acquire[worst]])
    place = float(at[0]), float(at[1]), float(at[2])
    spans = ((0, int(times[0]), int(times[1])),)
    guess = finding is not None and finding.how == HOW[INFERRED]
    return (Callout(words, detail, place, 1e18, color, ((0, call),) if call >= 0 else (), spans, guess),)


def _hold_in_words(waits: Waits, finding: Finding | None, hold: int) -> tuple[str, str]:
    """Return who holds what for how long, and whose time that costs; if again and again, of all its holds."""
    held, kind = waits.held, finding.kind if finding is not None else ""
    thread, object = int(held.thread[hold]), int(held.object[hold])
    mine = holds_as_one(waits, finding, hold)
    lasts, delay = int((held.end[mine] - held.start[mine]).sum()), int(waits.hold_delay[mine].sum())
    again = f"{len(mine):,} times, {duration(lasts)} in all" if len(mine) > 1 else f"for {duration(lasts)}"
    name = waits.trace.threads.name[thread] or waits.trace.threads.title(thread)
    costs = f"{duration(delay)} of others' time" if delay else "nobody waits for it"
    costs = "it waits for work, and others do so in turn" if kind == "leader and followers" else costs
    function = int(waits.function[held.acquire[hold]])
    where = f" (in {waits.trace.functions.label[function]})" if function >= 0 else ""
    return f"{name} holds {waits.ops.objects[object]} {again}", costs + where


#: What a callout says of the longest wait in a finding of these kinds.
_ABOUT = {
    "never released": "in vain: nobody ends it",
    "given up": "in vain, and gives up",
    "polling": "it ends by itself, and begins again",
    "does nothing": "and does nothing else",
    "mostly idle": "its longest wait",
}


def _longest_wait(picture: Layout, finding: Finding | None, color: int) -> tuple[Callout, ...]:
    if finding is None or finding.kind not in _ABOUT:
        return ()
    waits, ops = picture.waits, picture.waits.ops
    rows = _its_waits(waits, finding)
    rows = rows[np.isin(ops.thread[rows], finding.threads) & (picture.row_of[ops.thread[rows]] >= 0)]
    if not len(rows):
        return ()
    wait = int(rows[int(ops.lasted[rows].argmax())])
    row = picture.row_of[ops.thread[wait]][None]
    times = np.array([ops.start[wait], ops.end[wait]])
    low, high = np.clip(picture.share(row.repeat(2), times), 0.0, 1.0)
    at = picture.theatre.place(row, np.array([(low + high) / 2]), np.zeros(1), THICK)[0]
    thread = int(ops.thread[wait])
    name = picture.trace.threads.name[thread] or picture.trace.threads.title(thread)
    what = f" for {ops.of(wait)[0]}" if ops.of(wait) else ""
    function, call = int(waits.function[wait]), int(ops.call[wait])
    where = f" (in {picture.trace.functions.label[function]})" if function >= 0 else ""
    words = f"{name} waits {duration(int(ops.lasted[wait]))}{what}"
    place = float(at[0]), float(at[1]), float(at[2])
    spans = ((0, int(times[0]), int(times[1])),)
    about, guess = _ABOUT[finding.kind] + where, finding.how == HOW[INFERRED]
    return (Callout(words, about, place, 1e18, color, ((0, call),) if call >= 0 else (), spans, guess),)


def _long_call(picture: Layout, finding: Finding | None, color: int) -> tuple[Callout, ...]:
    """Point out the call of a finding about one."""
    calls = picture.trace.calls
    if finding is None or finding.call < 0 or picture.row_of[calls.thread[finding.call]] < 0:
        return ()
    call = np.array([finding.call])
    times = calls.start[call[0]], calls.end[call[0]]
    place = _place(picture, call, calls.thread[call], (times[0] + times[1]) // 2)
    words = f"{picture.trace.functions.label[calls.function[call[0]]]} takes {duration(times[1] - times[0])}"
    usual = finding.sentence.partition(", ")[2]
    spans = ((0, int(times[0]), int(times[1])),)
    return (Callout(words, usual, place, 1e18, color, ((0, finding.call),), spans),)


def _last(picture: Layout, finding: Finding | None, color: int) -> tuple[Callout, ...]:
    """Point out the arrival for which others wait longest in a finding about the one that comes last."""
    if finding is None:
        return ()
    waits, who = picture.waits, finding.threads[0]
    rows = _its_waits(waits, finding)
    rows = rows[(waits.woken_by[rows] == who) & (picture.row_of[waits.woken_by[rows]] >= 0)]
    if not len(rows):
        return ()
    lasted = waits.woken_at[rows] - waits.ops.start[rows]
    longest, arrival = int(lasted.argmax()), int(waits.waker[rows[lasted.argmax()]])
    time = int(waits.woken_at[rows[longest]])
    row = picture.row_of[[who]]
    share = np.clip(picture.share(row, np.array([time])), 0.0, 1.0)
    x, y, z = picture.theatre.place(row, share, np.zeros(1), THICK)[0].tolist()
    name = picture.trace.threads.name[who] or picture.trace.threads.title(who)
    many = counted(int(np.count_nonzero(waits.waker[rows] == arrival)), "thread")
    detail = f"{many} waited up to {duration(int(lasted[longest]))} for it"
    spans = ((0, int(waits.ops.start[rows[longest]]), time),)
    return (Callout(f"{name} comes last", detail, (x, y, z), 1e18, color, (), spans),)


def _orders(picture: Layout, finding: Finding | None, color: int) -> tuple[Callout, ...]:
    """Point out in which order each thread acquires the objects of a finding about that."""
    if finding is None:
        return ()
    waits, held = picture.waits, picture.waits.held
    function, names, found = waits.function, waits.ops.objects, list[Callout]()
    for outer, inner in acquired_first(waits, finding):
        thread, time = int(held.thread[inner]), int(held.start[inner])
        row = picture.row_of[[thread]]
        if row[0] < 0 or not picture.low[row[0]] <= time <= picture.high[row[0]]:
            continue
        name = picture.trace.threads.name[thread] or picture.trace.threads.title(thread)
        words = f"{name} takes {names[held.object[outer]]}, then {names[held.object[inner]]}"
        where = int(function[held.acquire[inner]])
        detail = f"in {picture.trace.functions.label[where]}" if where >= 0 else "while it holds the first"
        share = np.clip(picture.share(row, np.array([time])), 0.0, 1.0)
        x, y, z = picture.theatre.place(row, share, np.zeros(1), THICK)[0].tolist()
        call = int(waits.ops.call[held.acquire[inner]])
        calls, spans = ((0, call),) if call >= 0 else (), ((0, int(held.start[outer]), time),)
        found.append(Callout(words, detail, (x, y, z), 1e18 - len(found), color, calls, spans))
    return tuple(found[:_ORDERS])


def _signal(picture: Layout, finding: Finding | None, color: int) -> tuple[Callout, ...]:
    """Point out the signal that came before a wait in vain, where it is shown."""
    if finding is None or finding.signal < 0:
        return ()
    ops, row = picture.waits.ops, finding.signal
    thread, time = int(ops.thread[row]), int(ops.start[row])
    at = int(picture.row_of[thread])
    if at < 0 or not picture.low[at] <= time <= picture.high[at]:
        return ()
    name = picture.trace.threads.name[thread] or picture.trace.threads.title(thread)
    place = _place(picture, ops.call[[row]], ops.thread[[row]], time)
    call, words = int(ops.call[row]), f"{name} signals {finding.objects[0]}"
    calls = ((0, call),) if call >= 0 else ()
    return (Callout(words, "nobody waits for it yet", place, 1e17, color, calls, ((0, time, time),)),)


def _place(picture: Layout, call: Ints, thread: NDArray[np.int32], time: int) -> tuple[float, float, float]:
    """Return where a call, or what is none, is met at a time."""
    row, times = picture.row_of[thread], np.array([time])
    share = np.clip(picture.share(row, times), 0.0, 1.0)
    x, y, z = picture.theatre.place(row, share, outward(picture, call, thread, times), THICK)[0].tolist()
    return x, y, z
