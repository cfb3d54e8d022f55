"""The facts about a trace's waits, as ``tracevis3d waits`` prints them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...progress import Progress, in_steps, part, silent
from ...trace.model import WAIT, Trace
from ...trace.names import named_threads
from ...units import read_time
from .critical_path import STEPS, CriticalPath
from .findings.find import findings
from .findings.finding import Finding
from .holds import repeated
from .outcomes import HOW, KINDS_OF_WAITING, OUTCOMES
from .waits import SOURCES, Waits, find_waits


def waits_facts(
    trace: Trace,
    *,
    rules: Sequence[str] = (),
    every: bool = False,
    end: str | None = None,
    at: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Return who waits for whom: see :func:`tracevis3d.api.waits`.

    Parameters
    ----------
    trace : Trace
    rules : sequence of str
        Paths of rule files, beside the built-in rules.
    every : bool
        List waits that did not block too.
    end : str, optional
        The thread whose end the critical path leads to: its name or id.
    at : str, optional
        The moment that it leads to, as people write times.
    progress : Progress

    Returns
    -------
    dict
    """
    found = find_waits(trace, rules)
    thread = int(named_threads(trace, end, "end")[0]) if end else None
    in_steps(
        part(progress, 0.0, 0.7),
        ("finding waits and releases", 2, lambda: found.ops),
        ("finding who woke whom", 1, lambda: found.woken_by),
        ("finding who held what", 1, lambda: found.held_by),
        ("splitting waits by cause", 2, lambda: found.causes),
    )
    progress(0.7, "looking for what stands out")
    return summary(found, found.path(thread, read_time("at", at) if at else None), every)


def summary(waits: Waits, path: CriticalPath | None = None, every: bool = False) -> dict[str, Any]:
    """Return the facts, ready for JSON: threads as recorded, times in nanoseconds from ``origin_ns``.

    Parameters
    ----------
    waits : Waits
    path : CriticalPath, optional
        That to the end of the trace if left out.
    every : bool
        List waits that did not block too.

    Returns
    -------
    dict
    """
    trace, ops = waits.trace, waits.ops
    labels = trace.functions.label
    tids = [*trace.threads.tid, None]  # -1 takes the last: unknown
    rows = np.flatnonzero((ops.kind == WAIT) & (ops.blocked | every))
    rows = rows[np.argsort(ops.start[rows], kind="stable")]
    caused = _Causes(waits)
    listed = [
        {
            "thread": tids[thread],
            "object": objects[0] if len(objects) == 1 else objects or None,
            "kind": ops.names[name],
            "start_ns": start,
            "end_ns": end,
            "woken_by": tids[woken],
            "held_by": tids[held],
            "held_by_source": SOURCES[source] if source else None,
            "function": labels[function] if function >= 0 else None,
            "released_ns": released if released >= 0 else None,
            "blocked": blocked,
            "nested": nested,
            "state": KINDS_OF_WAITING[state],
            "outcome": OUTCOMES[outcome] if blocked else None,
            "how": HOW[how] if blocked else None,
            "caused_by": caused.of(row),
        }
        for row, thread, objects, name, start, end, woken, held, source, function, released, blocked, nested,
        state, outcome, how
        in zip(
            rows.tolist(),
            ops.thread[rows].tolist(), map(ops.of, rows.tolist()), ops.name[rows].tolist(),
            ops.start[rows].tolist(), ops.end[rows].tolist(), waits.woken_by[rows].tolist(),
            waits.held_by[rows].tolist(), waits.held_by_source[rows].tolist(),
            waits.function[rows].tolist(), waits.woken_at[rows].tolist(), ops.blocked[rows].tolist(),
            ops.nested[rows].tolist(), waits.outcomes.state[rows].tolist(),
            waits.outcomes.outcome[rows].tolist(), waits.outcomes.how[rows].tolist(),
        )
    ]  # fmt: skip
    if path is None:
        path = waits.path()
    return {
        "origin_ns": trace.origin_ns,
        "waits": listed,
        "blame": _blame(waits),
        "objects": _objects(waits),
        "threads": _threads(waits),
        "critical_path": _path(waits, path),
        "findings": [_finding(waits, finding) for finding in findings(waits)],
    }


class _Causes:
    """The causes of each wait, as facts."""

    def __init__(self, waits: Waits) -> None:
        self._causes, self._trace = waits.causes, waits.trace
        self._first = np.searchsorted(self._causes.wait, np.arange(len(waits.ops) + 1))

    def of(self, row: int) -> list[dict[str, Any]]:
        """Return the causes of one wait, the longest first."""
        found = self._causes
        return [
            {**_site(self._trace, int(found.thread[i]), int(found.function[i]), int(found.line[i])),
             "ns": int(found.ns[i])}
            for i in range(self._first[row], self._first[row + 1])
        ]  # fmt: skip


def _site(trace: Trace, thread: int, function: int, line: int) -> dict[str, Any]:
    functions = trace.functions
    file = int(functions.file[function]) if function >= 0 else -1
    return {
        "thread": trace.threads.tid[thread],
        "function": functions.label[function] if function >= 0 else None,
        "file": trace.files[file] if file >= 0 else None,
        "line": line or None,
    }


def _blame(waits: Waits) -> list[dict[str, Any]]:
    """Return who held what others waited for, the longest delay first."""
    found = waits.blame
    return [
        {**_site(waits.trace, int(found.thread[i]), int(found.function[i]), int(found.line[i])),
         "delay_ns": int(found.ns[i]), "waits": int(found.waits[i])}
        for i in range(len(found))
    ]  # fmt: skip


def _objects(waits: Waits) -> list[dict[str, Any]]:
    """Return the objects that are waited for or held, the most waited for first."""
    ops, held, tids = waits.ops, waits.held, waits.trace.threads.tid
    n = len(ops.objects)
    rows, object = ops.per_object(np.flatnonzero((ops.kind == WAIT) & ~repeated(ops)))
    blocked = ops.blocked[rows]
    asked = np.bincount(object, minlength=n)
    waits_of = np.bincount(object[blocked], minlength=n)
    lasted = ops.lasted[rows]
    waited = np.bincount(object[blocked], lasted[blocked], n)
    longest = np.zeros(n, np.int64)
    np.maximum.at(longest, object[blocked], lasted[blocked])
    time = held.end - held.start
    held_ns = np.bincount(held.object, time, n)
    longest_hold = np.zeros(n, np.int64)
    np.maximum.at(longest_hold, held.object, time)
    holds_of = np.bincount(held.object, minlength=n)
    never = np.bincount(held.object[held.release < 0], minlength=n)
    nested = np.bincount(object[blocked & ops.nested[rows]], minlength=n)
    labels, functions = waits.trace.functions.label, len(waits.trace.functions) + 1
    waiters = _by_owner(object[blocked], ops.thread[rows][blocked], lasted[blocked], len(tids))
    holders = _by_owner(held.object, held.thread, time, len(tids))
    who = waits.held_by[rows][blocked]
    held_up = _by_owner(object[blocked][who >= 0], who[who >= 0], lasted[blocked][who >= 0], len(tids))
    # Functions are counted from 1: what is on no stack comes first.
    waited_in = _by_owner(object[blocked], waits.function[rows][blocked] + 1, lasted[blocked], functions)
    held_in = _by_owner(held.object, waits.function[held.acquire] + 1, time, functions)
    out = []
    for o in np.argsort(-waited, kind="stable").tolist():
        if not asked[o] and not holds_of[o]:
            continue
        out.append(
            {
                "object": ops.objects[o],
                "waits": int(waits_of[o]),
                "acquisitions": int(asked[o]),
                "contention": round(float(waits_of[o]) / max(int(asked[o]), 1), 4),
                "waited_ns": int(waited[o]),
                "longest_ns": int(longest[o]),
                "waiters": [
                    {"thread": tids[t], "waits": c, "waited_ns": ns} for t, c, ns in waiters.get(o, ())
                ],
                "holders": [
                    {"thread": tids[t], "holds": c, "held_ns": ns} for t, c, ns in holders.get(o, ())
                ],
                "held_up_by": [
                    {"thread": tids[t], "waits": c, "waited_ns": ns} for t, c, ns in held_up.get(o, ())
                ],
                "waited_in": [
                    {"function": labels[f - 1], "waits": c, "waited_ns": ns}
                    for f, c, ns in waited_in.get(o, ())
                    if f
                ],
                "held_in": [
                    {"function": labels[f - 1], "holds": c, "held_ns": ns}
                    for f, c, ns in held_in.get(o, ())
                    if f
                ],
                "part_of_another": bool(waits_of[o] and nested[o] == waits_of[o]),
                "held_ns": int(held_ns[o]),
                "longest_hold_ns": int(longest_hold[o]),
                "never_released": int(never[o]),
                "longest_queue": int(waits.queues.longest[o]),
                "longest_queue_at_ns": int(waits.queues.at[o]) if waits.queues.longest[o] else None,
            }
        )
    return out


def _by_owner(object: Any, owner: Any, time: Any, owners: int) -> dict[int, list[tuple[int, int, int]]]:
    """Return for each object (owner, count, nanoseconds), the longest first; owners are numbers."""
    key = object.astype(np.int64) * owners + owner
    pairs, back, count = np.unique(key, return_inverse=True, return_counts=True)
    sums = np.rint(np.bincount(back.reshape(-1), time, len(pairs))).astype(np.int64)
    found: dict[int, list[tuple[int, int, int]]] = {}
    for i in np.lexsort((-sums, pairs // owners)).tolist():
        o, which = divmod(int(pairs[i]), owners)
        found.setdefault(o, []).append((which, int(count[i]), int(sums[i])))
    return found


def _threads(waits: Waits) -> list[dict[str, Any]]:
    """Return the threads in the order of the trace."""
    trace, ops, matrix = waits.trace, waits.ops, waits.matrix
    tids: list[Any] = [*trace.threads.tid, None]
    n = len(trace.threads)
    count = np.bincount(ops.thread[waits.own], minlength=n)
    ended, of_threads = waits.hubs()
    bounds = np.searchsorted(matrix.thread, np.arange(n + 1))
    out = []
    for t in range(n):
        mine = np.arange(bounds[t], bounds[t + 1])
        mine = mine[np.argsort(-matrix.waited[mine], kind="stable")]
        out.append(
            {
                "thread": tids[t],
                "process": trace.threads.process[t],
                "name": trace.threads.name[t],
                "waits": int(count[t]),
                "waited_ns": int(waits.waited[t]),
                "io_ns": int(waits.io_time[t]),
                "waited_by_state": dict(zip(KINDS_OF_WAITING, waits.time_by_state[t].tolist())),
                "waits_for": [
                    {"thread": tids[int(matrix.by[i])], "waits": int(matrix.count[i]),
                     "waited_ns": int(matrix.waited[i])}
                    for i in mine.tolist()
                ],
                "ended_ns": int(ended[t]),
                "ended_of_threads": int(of_threads[t]),
            }
        )  # fmt: skip
    return out


def _path(waits: Waits, path: CriticalPath) -> list[dict[str, Any]]:
    trace, ops = waits.trace, waits.ops
    labels = trace.functions.label
    out = []
    for i in range(len(path)):
        call, wait = int(path.call[i]), int(path.wait[i])
        out.append(
            {
                "thread": trace.threads.tid[int(path.thread[i])],
                "what": STEPS[int(path.what[i])],
                "start_ns": int(path.start[i]),
                "end_ns": int(path.end[i]),
                "function": labels[int(trace.calls.function[call])] if call >= 0 else None,
                "object": next(iter(ops.of(wait)), None) if wait >= 0 else None,
            }
        )
    return out


def _finding(waits: Waits, finding: Finding) -> dict[str, Any]:
    tids = waits.trace.threads.tid
    return {
        "kind": finding.kind,
        "sentence": finding.sentence,
        "score_ns": finding.score_ns,
        "threads": [tids[t] for t in finding.threads],
        "objects": list(finding.objects),
        "start_ns": finding.start,
        "end_ns": finding.end,
        "count": finding.count,
        "how": finding.how,
        "caused_by": [
            {**_site(waits.trace, thread, function, line), "delay_ns": ns}
            for thread, function, line, ns in finding.causes
        ],
    }
