"""Findings about objects that are held: who holds them when, and who waits meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....trace.model import IO, WAIT
from ....trace.names import runs_on
from ....units import duration
from ..holds import queues, within
from ..outcomes import KINDS_OF_WAITING
from .finding import Finding, place, several, some, titles

if TYPE_CHECKING:
    from ..waits import Waits

Ints = NDArray[np.int64]

#: Minimum share of the trace for objects held to the end, and for the delay by what a holder does.
_HELD, _DELAYED = 0.01, 0.02
#: A hold explains a convoy if it causes this share of its waiting.
_CAUSE = 0.25
#: Share of the delay by an object in which its holder does something; one that caused this share is named.
_MOSTLY, _NEARLY_ALL = 0.5, 0.9
#: Starvation: how often others get the object during one wait, in total and each of them.
_PASSED, _PASSED_EACH = 8, 4
#: Minimum share of the acquisitions by the thread that goes first.
_GOES_FIRST = 0.8
#: A leader waits for work for this share of the time for which it holds the object.
_LEADS = 0.7
_SLEEP, _IDLE, _CONTENTION = (KINDS_OF_WAITING.index(kind) for kind in ("sleep", "idle", "contention"))


def findings(waits: Waits) -> list[Finding]:
    """Return the findings about objects that are held, in no order.

    Parameters
    ----------
    waits : Waits

    Returns
    -------
    list of Finding
    """
    leaders = _leaders(waits)
    taken = {name for finding in leaders for name in finding.objects}
    others = [*_convoys(waits), *_held_over(waits), *_starvation(waits)]
    return [
        *([] if runs_on(waits.trace) else _held(waits)), *leaders,
        *(finding for finding in others if not taken.intersection(finding.objects)),
    ]  # fmt: skip


def _held(waits: Waits) -> list[Finding]:
    held, ops = waits.held, waits.ops
    open_ = np.flatnonzero((held.release < 0) & (held.end - held.start >= _HELD * waits.trace.span_ns))
    # Objects without any release don't count as held (their releases aren't recorded). What one thread
    # acquires and another releases is a signal, or passed on: it is not its last owner's to release.
    released = np.zeros(len(ops.objects), np.bool_)
    released[held.object[held.release >= 0]] = True
    released[held.object[waits.passed_on]] = False
    found = []
    for object in np.unique(held.object[open_[released[held.object[open_]]]]).tolist():
        mine = open_[held.object[open_] == object]
        time = held.end[mine] - held.start[mine]
        longest = mine[int(time.argmax())]
        thread = int(held.thread[longest])
        found.append(
            Finding(
                "held to the end",
                f"{waits.trace.threads.title(thread)} "
                f"{'ends without releasing' if waits.ended[thread] else 'never releases'} "
                f"{ops.objects[object]}, which it has held for {duration(time.max())}",
                int(time.max()), (thread,), (ops.objects[object],), int(held.start[longest]),
                int(held.end[longest]), len(mine), int(ops.call[held.acquire[longest]]),
            )
        )  # fmt: skip
    return found


def _site(waits: Waits, hold: int) -> tuple[int, int, int]:
    """Return thread, function and line from which something is held."""
    acquire = int(waits.held.acquire[hold])
    function, line = int(waits.function[acquire]), int(waits.ops.line[acquire])
    if line <= 0 and function >= 0:
        line = int(waits.trace.functions.line[function])
    return int(waits.held.thread[hold]), function, line


def _causes(waits: Waits, holds: Ints, delays: Ints) -> tuple[tuple[int, int, int, int], ...]:
    """Return the sites of holds with the delays that they cause, the largest first."""
    sums: dict[tuple[int, int, int], int] = {}
    for hold, delay in zip(holds.tolist(), delays.tolist()):
        if delay > 0:
            site = _site(waits, hold)
            sums[site] = sums.get(site, 0) + delay
    return tuple((*site, ns) for site, ns in sorted(sums.items(), key=lambda one: (-one[1], one[0])))


def _convoys(waits: Waits) -> list[Finding]:
    """Return one finding for each object that threads queue for while it is passed on."""
    queue, held, ops, title = waits.queues, waits.held, waits.ops, waits.trace.threads.title
    found = []
    # As threads leave a barrier or a condition's wait they pass its lock on: that is a part of that wait.
    own = queues(ops, ops.blocked & ~ops.nested).longest
    for object in np.flatnonzero(own >= 2).tolist():
        low, high = np.searchsorted(queue.object, [object, object + 1])
        begin, end = np.searchsorted(held.object, [object, object + 1])
        if begin == end:
            continue
        time, length = queue.time[low:high], queue.length[low:high]
        # At any time somebody waits, and several wait at the same time.
        busy = np.concatenate([[False], length >= 1])  # nobody waits after the last change
        starts, ends = np.flatnonzero(busy[1:] & ~busy[:-1]), np.flatnonzero(busy[:-1] & ~busy[1:])
        got = held.start[begin:end]
        first, last = np.searchsorted(got, time[starts], "left"), np.searchsorted(got, time[ends], "right")
        most_at_once = np.array([length[a:b].max() for a, b in zip(starts, ends)])
        real = (last - first >= 3) & (most_at_once >= 2)
        if not real.any():
            continue
        starts, ends, first, last = starts[real], ends[real], first[real], last[real]
        area = np.concatenate([[0], np.cumsum(length[:-1] * np.diff(time))])
        waited = int((area[ends] - area[starts]).sum())
        handed, lasted = int((last - first).sum()), time[ends] - time[starts]
        mine = [held.thread[begin + a : begin + b] for a, b in zip(first.tolist(), last.tolist())]
        most = max(int(length[a:b].max()) for a, b in zip(starts.tolist(), ends.tolist()))
        when = f"for {duration(int(lasted[0]))}"
        if len(starts) > 1:
            when = f"{len(starts):,} times, for {duration(int(lasted.sum()))} in all"
        name = ops.objects[object]
        headline = f"{most} threads queue for {name}: {duration(waited)} of waiting"
        delays = waits.hold_delay[begin:end]
        causes = _causes(waits, np.arange(begin, end), delays)
        worst = begin + int(delays.argmax())
        thread, function, line = _site(waits, worst)
        total, at = int(delays.sum()), place(waits.trace, function, line)
        why = ""
        if delays.max() >= _CAUSE * total:
            lasts = duration(held.end[worst] - held.start[worst])
            headline = f"{title(thread)} holds {name} for {lasts} while up to {most} threads queue for it"
            why = f"; {title(thread)} caused {duration(delays.max())} of it by holding it for {lasts}" + (
                f" in {at}" if at else ""
            )
        elif causes:
            by_thread = np.bincount(held.thread[begin:end], delays)
            who = int(by_thread.argmax())
            if by_thread[who] >= _NEARLY_ALL * total:
                times = int(np.count_nonzero((held.thread[begin:end] == who) & (delays > 0)))
                headline = (
                    f"{title(who)} holds {name} {times:,} times while up to {most} threads queue for it"
                )
            by_place: dict[str, int] = {}
            for _, f, at_line, ns in causes:
                if words := place(waits.trace, f, at_line):
                    by_place[words] = by_place.get(words, 0) + ns
            if by_place:
                most_of = max(by_place, key=lambda words: by_place[words])
                why = f"; {duration(by_place[most_of])} of it while it is held in {most_of}"
        # A lock may be free, and who waits for it not run yet.
        if waited - total >= _CAUSE * waited:
            why += f"; {duration(waited - total)} of it while nobody is known to hold it"
        found.append(
            Finding(
                "convoy",
                f"up to {most} threads queue for {ops.objects[object]} {when}: it is passed on "
                f"{handed:,} times, {duration(waited)} of waiting in all{why}",
                waited, tuple(np.unique(np.concatenate(mine)).tolist()), (ops.objects[object],),
                int(time[starts[0]]), int(time[ends[-1]]), handed, causes=causes, headline=headline,
            )
        )  # fmt: skip
    return found


def _outermost(waits: Waits, rows: Ints) -> Ints:
    """Return those of ``rows`` that lie in no other of them of their thread."""
    ops = waits.ops
    kept, until, thread = [], -1, -1
    for row in rows.tolist():
        if ops.thread[row] != thread:
            thread, until = int(ops.thread[row]), -1
        if ops.end[row] > until:
            kept.append(row)
            until = int(ops.end[row])
    return np.array(kept, np.int64)


def _held_over(waits: Waits) -> list[Finding]:
    """Return objects that others wait for while the holder transfers, sleeps, waits itself, or works."""
    held, ops, delay = waits.held, waits.ops, waits.hold_delay
    # What another thread releases was passed on: what its first holder does meanwhile delays nobody.
    holds = np.flatnonzero((delay > 0) & ~waits.passed_on)
    if not len(holds):
        return []
    waiting = (ops.kind == WAIT) & ops.blocked
    sleeps, transfers = waiting & (ops.state == _SLEEP), ops.kind == IO
    # A holder that waits for what another one holds is not the cause, nor is one in a ring of waits.
    others = waiting & (ops.state != _SLEEP) & (ops.state != _CONTENTION)
    others[[row for ring in waits.outcomes.rings for row in ring.waits]] = False
    total = np.bincount(held.object[holds], delay[holds], len(ops.objects))
    found = []
    for kind, which in (
        ("held over I/O", transfers), ("held over sleep", sleeps), ("held over a wait", others)
    ):  # fmt: skip
        hold, row = within(waits.held, waits.ops, holds, _outermost(waits, np.flatnonzero(which)))
        low, high = ops.start[row], np.minimum(ops.end[row], held.end[hold])
        found += _held_meanwhile(
            waits, kind, total, hold, row, low, high, waits.delay_between(hold, low, high)
        )
    # Only where its calls are recorded a holder that neither waits nor transfers is known to work.
    works = holds[(held.release[holds] >= 0) & (waits.function[held.acquire[holds]] >= 0)]
    rest = delay[works]
    for which in (transfers, waiting):
        hold, row = within(waits.held, waits.ops, works, _outermost(waits, np.flatnonzero(which)))
        high = np.minimum(ops.end[row], held.end[hold])
        busy = np.bincount(hold, waits.delay_between(hold, ops.start[row], high), len(held))
        rest = rest - np.rint(busy[works]).astype(np.int64)
    begin, end = held.start[works], held.end[works]
    return found + _held_meanwhile(
        waits, "held over work", total, works, held.acquire[works], begin, end, rest
    )


def _held_meanwhile(
    waits: Waits, kind: str, total: NDArray[Any], hold: Ints, row: Ints, low: Ints, high: Ints, lost: Ints
) -> list[Finding]:
    """Return the objects most of whose delay is lost while holders do something: ``row`` from low to high."""
    held, ops, title = waits.held, waits.ops, waits.trace.threads.title
    object, found = held.object[hold], []
    for o in np.unique(object[lost > 0]).tolist():
        mine = np.flatnonzero((object == o) & (lost > 0))
        sum_ = int(lost[mine].sum())
        if sum_ < _DELAYED * waits.trace.span_ns or sum_ < _MOSTLY * total[o]:
            continue
        causes = _causes(waits, hold[mine], lost[mine])
        thread, function, line, _ = causes[0]
        at, threads = place(waits.trace, function, line), sorted({cause[0] for cause in causes})
        longest = int(row[mine[int(lost[mine].argmax())]])
        # Whether it had a processor, or Python's own lock, is not recorded.
        doing = "works, or waits to run,"
        if kind == "held over I/O":
            by_name = np.bincount(ops.name[row[mine]], lost[mine])
            doing = f"reads or writes ({ops.names[int(by_name.argmax())]})"
        elif kind == "held over sleep":
            doing = "sleeps"
        elif kind == "held over a wait":
            doing = f"waits for {some(ops.of(longest)) or ops.names[int(ops.name[longest])]}"
        one = len(threads) == 1 or causes[0][3] >= _NEARLY_ALL * sum_
        who = title(thread) if one else f"One of {len(threads):,} threads"
        ended = ""
        if kind == "held over a wait" and one and waits.woken_by[longest] >= 0:
            ended = f"; {title(int(waits.woken_by[longest]))} ends that wait"
        found.append(
            Finding(
                kind,
                f"{who} {doing} while it holds {ops.objects[o]}"
                + (f" in {at}" if at else "")
                + f": {duration(sum_)} of the {duration(total[o])} that others wait while it is held{ended}",
                sum_, tuple(dict.fromkeys(cause[0] for cause in causes)), (ops.objects[o],),
                int(low[mine].min()), int(high[mine].max()), len(mine), int(ops.call[row[mine[0]]]),
                causes=causes,
            )
        )  # fmt: skip
    return found


def _starvation(waits: Waits) -> list[Finding]:
    """Return waits in which others get the object again and again."""
    held, ops = waits.held, waits.ops
    rows = np.flatnonzero((ops.kind == WAIT) & ops.blocked & ops.asks & ~ops.nested)
    rows, object = ops.per_object(rows)
    passed = np.zeros(len(rows), np.int64)
    first = np.searchsorted(held.object, np.arange(len(ops.objects) + 1))
    low, high = np.zeros((2, len(rows)), np.int64)
    for o in np.unique(object).tolist():
        mine = np.flatnonzero(object == o)
        begins = held.start[first[o] : first[o + 1]]
        low[mine] = first[o] + np.searchsorted(begins, ops.start[rows[mine]], "right")
        high[mine] = first[o] + np.searchsorted(begins, ops.end[rows[mine]], "left")
    passed = high - low
    starved: dict[int, dict[int, list[int]]] = {}
    for i in np.flatnonzero(passed >= _PASSED).tolist():
        takers = held.thread[low[i] : high[i]]
        if ops.lasted[rows[i]] < _DELAYED * waits.trace.span_ns:
            continue
        if passed[i] >= _PASSED_EACH * len(np.unique(takers)):
            starved.setdefault(int(object[i]), {}).setdefault(int(ops.thread[rows[i]]), []).append(i)
    found = []
    for o, of in starved.items():
        every = [i for mine in of.values() for i in mine]
        takers = np.concatenate([held.thread[low[i] : high[i]] for i in every])
        number, times = np.unique(takers, return_counts=True)
        name, waiting = (
            ops.objects[o],
            sorted(of, key=lambda t: (-max(ops.lasted[rows[i]] for i in of[t]), t)),
        )
        longest = max(int(ops.lasted[rows[i]]) for i in every)
        taken = max(int(passed[i]) for i in every)
        who = titles(waits, number[np.argsort(-times, kind="stable")].tolist())
        # Waiting threads get it in between, once each.
        first_taker = int(number[times.argmax()])
        many = times.max() >= _GOES_FIRST * times.sum() and len(set(of) - {first_taker}) > 1
        if many:
            number, waiting = np.array([first_taker]), [t for t in waiting if t != first_taker]
        is_are = "waits" if len(waiting) == 1 else "wait"
        # Who gets it comes first, and the sentence is long.
        gets = "gets" if many or len(who) == 1 else "get"
        headline = (
            f"{who[0] if many else several(who)} {gets} {name} up to {taken:,} times while "
            f"{several(titles(waits, waiting))} {is_are} for it"
        )
        sentence = (
            f"{headline}, for up to {duration(longest)}"
            if many
            else f"{several(titles(waits, waiting))} {is_are} up to {duration(longest)} for {name}, which "
            f"{several(who)} {gets} up to {taken:,} times meanwhile"
        )
        threads = (*number.tolist(), *waiting) if many else (*waiting, *number.tolist())
        found.append(
            Finding(
                "one goes first" if many else "starvation", sentence,
                int(sum(ops.lasted[rows[i]] for i in every)), tuple(dict.fromkeys(threads)), (name,),
                int(min(ops.start[rows[i]] for i in every)), int(max(ops.end[rows[i]] for i in every)),
                len(every), int(ops.call[rows[every[0]]]), headline=headline,
            )
        )  # fmt: skip
    return found


def _leaders(waits: Waits) -> list[Finding]:
    """Return objects whose holders wait for work while they hold them, in turn."""
    held, ops = waits.held, waits.ops
    contended = np.zeros(len(ops.objects), np.bool_)
    contended[waits.queues.object] = True
    holds = np.flatnonzero(contended[held.object])
    idle = (ops.kind == WAIT) & ops.blocked & (ops.state == _IDLE)
    hold, row = within(waits.held, waits.ops, holds, _outermost(waits, np.flatnonzero(idle)))
    if not len(hold):
        return []
    low, high = ops.start[row], np.minimum(ops.end[row], held.end[hold])
    waited = np.bincount(hold, high - low, len(held))
    found = []
    for o in np.unique(held.object[hold]).tolist():
        begin, end = np.searchsorted(held.object, [o, o + 1])
        lasted = int((held.end[begin:end] - held.start[begin:end]).sum())
        leading = np.unique(hold[held.object[hold] == o])
        threads = np.unique(held.thread[leading])
        idle_ns = int(waited[begin:end].sum())
        if len(threads) < 3 or idle_ns < _LEADS * lasted:
            continue
        for_what = sorted({name for r in row[held.object[hold] == o].tolist() for name in ops.of(r)})
        found.append(
            Finding(
                "leader and followers",
                f"{several(titles(waits, threads.tolist()))} take turns at waiting for {some(for_what)}: one "
                f"does so and holds {ops.objects[o]}, the others wait for {ops.objects[o]}",
                idle_ns, tuple(threads.tolist()), (ops.objects[o],), int(held.start[leading].min()),
                int(held.end[leading].max()), len(leading),
            )
        )  # fmt: skip
    return found
