"""What a matrix can be about: callers and callees, threads and parts, waits, arrows, rounds of a loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ... import units
from ...analysis.measures import self_time_of
from ...errors import UsageError, not_recorded
from ...filters.facts import facts_of
from ...filters.roles import ConstructorParameters, constructors
from ...trace import profile
from ...trace.model import ALLOC, WAIT, Trace
from ...trace.names import lane_title
from ...views.calls.parts import parts_of
from ...views.calls.rounds import repeated_function
from .table import Category, Floats, Ints, Items, Table, slices, table_of

#: Values of the parameter ``about``.
SUBJECTS = {
    "auto": "callers and callees; in a trace without calls, waits or arrows",
    "calls": "callers and callees: which part calls which",
    "threads": "parts and threads: the self time of each part on each thread",
    "waits": "threads and what they wait for: the time that they wait",
    "holders": "threads and threads: the time that one waits while the other holds what it waits for",
    "creates": "callers and classes: calls of constructors, without those in other constructors",
    "sizes": "parts that allocate and the sizes of blocks: the bytes of each",
    "arrows": "threads and threads: the arrows that the recording draws between them",
    "rounds": "rounds of a repeated call, and the threads that run them or what they call: the time of each",
}
#: Rounds are joined until there are this many.
_ROWS = 120


@dataclass(frozen=True)
class SubjectRequest:
    """What of a subject is wanted.

    Attributes
    ----------
    about, parts, value, third, repeated : str
        As the view's parameters.
    slices, most : int
    within : bool
        Also calls within one part.
    window : (int, int)
        Nanoseconds.
    """

    about: str
    parts: str
    value: str
    third: str
    repeated: str
    slices: int
    most: int
    within: bool
    window: tuple[int, int]


def table(trace: Trace, wanted: SubjectRequest) -> Table:
    """Return the table of a subject, in the order in which it is drawn.

    Parameters
    ----------
    trace : Trace
    wanted : Wanted

    Returns
    -------
    Table

    Raises
    ------
    InputError
        If the trace has nothing of it.
    UsageError
        If there is no such function, or nothing in the window.
    """
    about = wanted.about if wanted.about != "auto" else _suited(trace)
    made = _SUBJECTS[about](trace, wanted)
    if not made.count.sum():
        raise UsageError("this window has no data of it: choose another window, or another value of about")
    return made.ordered()


def _suited(trace: Trace) -> str:
    if not len(trace.calls):
        return "waits" if len(trace.sync) else "arrows" if len(trace.flows) else "calls"
    return "calls"


def _name_slice(low: int, high: int) -> str:
    return f"{units.duration(low)} to {units.duration(high)}"


def _third(trace: Trace, wanted: SubjectRequest, time: Ints, thread: Ints) -> tuple[Category, Ints]:
    """Return the levels, and that of each item."""
    if wanted.third == "thread":
        names = tuple(lane_title(trace, t) for t in range(len(trace.threads)))
        used, level = np.unique(thread, return_inverse=True)
        return Category("thread", tuple(names[t] for t in used.tolist()), is_ordered=True), level.astype(
            np.int64
        )
    if wanted.third == "none" or (len(trace.samples) and not trace.samples.are_timed):
        return Category("", ("",), is_ordered=True), np.zeros(len(time), np.int64)
    category, edges = slices(wanted.window, wanted.slices, _name_slice)
    # All of it is within the window.
    return category, (np.searchsorted(edges, time, "right") - 1).astype(np.int64)


def _need_calls(trace: Trace) -> None:
    if not len(trace.calls):
        raise not_recorded(trace.source.path, "calls")


def _weights(trace: Trace, wanted: SubjectRequest, calls: Ints) -> tuple[Floats, str]:
    """Return what each call counts, and what that is."""
    if wanted.value == "self":
        return self_time_of(trace)[calls].astype(np.float64), "self time"
    if wanted.value == "time" or (wanted.value == "auto" and len(trace.samples)):
        lasts = (trace.calls.end[calls] - trace.calls.start[calls]).astype(np.float64)
        if len(trace.samples) and not trace.samples.are_timed:
            return lasts * profile.weight_per_ns(trace), trace.samples.kinds[0]
        return lasts, "time"
    return np.ones(len(calls)), "calls"


def _calls(trace: Trace, wanted: SubjectRequest) -> Table:
    """Return callers and callees; what begins within the window."""
    _need_calls(trace)
    calls, (low, high) = trace.calls, wanted.window
    what, part, names = parts_of(trace, wanted.parts)
    which = np.flatnonzero((calls.parent >= 0) & (calls.start >= low) & (calls.start < high))
    row, column = part[calls.function[calls.parent[which]]], part[calls.function[which]]
    between, within = row != column, 0
    if not wanted.within and between.any():
        within = len(which) - int(np.count_nonzero(between))
        which, row, column = which[between], row[between], column[between]
    weight, of = _weights(trace, wanted, which)
    levels, level = _third(trace, wanted, calls.start[which], calls.thread[which].astype(np.int64))
    category = Category(f"calling {what}", tuple(names)), Category(f"called {what}", tuple(names)), levels
    write = units.count if of == "calls" else units.duration
    if of in trace.samples.kinds:
        write, of = partial(profile.weighed, of), profile.bare_kind(of)
    made = table_of(Items(row, column, level, weight, which), category, wanted.most, "calls", of, write)
    return replace(made, within=within)


def _threads(trace: Trace, wanted: SubjectRequest) -> Table:
    """Return parts and threads."""
    _need_calls(trace)
    calls, (low, high) = trace.calls, wanted.window
    what, part, names = parts_of(trace, wanted.parts)
    which = np.flatnonzero((calls.start >= low) & (calls.start < high))
    titles = tuple(lane_title(trace, t) for t in range(len(trace.threads)))
    thread = calls.thread[which].astype(np.int64)
    third = wanted if wanted.third != "thread" else _with(wanted, third="time")
    levels, level = _third(trace, third, calls.start[which], thread)
    weight, of = self_time_of(trace)[which].astype(np.float64), "self time"
    category = Category("thread", titles), Category(what, tuple(names)), levels
    items = Items(thread, part[calls.function[which]], level, weight, which)
    return table_of(items, category, wanted.most, "runs", of, units.duration)


def _with(wanted: SubjectRequest, **changed: str) -> SubjectRequest:
    return SubjectRequest(**{**vars(wanted), **changed})


def _waits(trace: Trace, wanted: SubjectRequest) -> Table:
    """Return threads and the objects that they wait for; the operation where no object is known."""
    sync, (low, high) = trace.sync, wanted.window
    rows = np.flatnonzero(
        (sync.kind == WAIT) & (sync.contended != 0) & (sync.start >= low) & (sync.start < high)
    )
    if not np.count_nonzero(sync.kind == WAIT):
        raise not_recorded(trace.source.path, "waits", "'tracevis3d record --threads' records them")
    many = np.diff(sync.first)[rows]
    objects = len(sync.objects)
    known = many > 0
    # Rows that wait for one of several objects count for the first.
    of = objects + sync.name[rows].astype(np.int64)
    of[known] = sync.object[sync.first[rows[known]]]
    names = [*sync.objects, *sync.names]
    titles = tuple(lane_title(trace, t) for t in range(len(trace.threads)))
    thread = sync.thread[rows].astype(np.int64)
    third = _with(wanted, third="time") if wanted.third == "thread" else wanted
    levels, level = _third(trace, third, sync.start[rows], thread)
    category = Category("thread", titles), Category("what it waits for", tuple(names)), levels
    weight = (sync.end[rows] - sync.start[rows]).astype(np.float64)
    items = Items(thread, of, level, weight, sync.call[rows])
    return table_of(items, category, wanted.most, "waits for", "waiting", units.duration)


def _holders(trace: Trace, wanted: SubjectRequest) -> Table:
    """Return threads and threads: who waits while whom holds it, where the holder was recorded."""
    sync, (low, high) = trace.sync, wanted.window
    if not len(sync.holder) or not (sync.holder >= 0).any():
        raise not_recorded(trace.source.path, "holders", "'tracevis3d record --threads' records them")
    waits = (sync.kind == WAIT) & (sync.contended != 0) & (sync.holder >= 0)
    rows = np.flatnonzero(waits & (sync.start >= low) & (sync.start < high))
    titles = tuple(lane_title(trace, t) for t in range(len(trace.threads)))
    thread, holder = (column[rows].astype(np.int64) for column in (sync.thread, sync.holder))
    third = _with(wanted, third="time") if wanted.third == "thread" else wanted
    levels, level = _third(trace, third, sync.start[rows], thread)
    category = Category("waiting thread", titles), Category("holding thread", titles), levels
    weight = (sync.end[rows] - sync.start[rows]).astype(np.float64)
    items = Items(thread, holder, level, weight, sync.call[rows])
    return table_of(items, category, wanted.most, "waits while it is held by", "waiting", units.duration)


def _creates(trace: Trace, wanted: SubjectRequest) -> Table:
    """Return callers and classes: calls of constructors that no constructor calls."""
    _need_calls(trace)
    calls, (low, high) = trace.calls, wanted.window
    facts = facts_of(trace)
    makes = constructors(facts, ConstructorParameters(destructors=False)).flags
    if not makes[calls.function].any():
        raise not_recorded(trace.source.path, "constructors")
    what, part, names = parts_of(trace, wanted.parts if wanted.parts != "auto" else "class")
    _, owner, classes = parts_of(trace, "class")
    which = np.flatnonzero(
        makes[calls.function] & (calls.parent >= 0) & (calls.start >= low) & (calls.start < high)
    )
    # Constructors of base classes make the same object.
    which = which[~makes[calls.function[calls.parent[which]]]]
    row, column = part[calls.function[calls.parent[which]]], owner[calls.function[which]]
    levels, level = _third(trace, wanted, calls.start[which], calls.thread[which].astype(np.int64))
    category = Category(f"calling {what}", tuple(names)), Category("made class", tuple(classes)), levels
    items = Items(row, column, level, np.ones(len(which)), which)
    return table_of(items, category, wanted.most, "makes", "calls of constructors", units.count)


def _sizes(trace: Trace, wanted: SubjectRequest) -> Table:
    """Return parts that allocate and sizes of blocks, each from a power of two up to the next."""
    memory, (low, high) = trace.memory, wanted.window
    rows = np.flatnonzero((memory.kind == ALLOC) & (memory.time >= low) & (memory.time < high))
    if not len(memory):
        raise not_recorded(trace.source.path, "memory", "'tracevis3d record --memory' records it")
    function = np.full(len(rows), -1, np.int64)
    call = memory.call[rows]
    function[call >= 0] = trace.calls.function[call[call >= 0]]
    if len(memory.stack):
        stack = memory.stack[rows]
        function[stack >= 0] = trace.stacks.function[stack[stack >= 0]]
    what, part, names = parts_of(trace, wanted.parts)
    row = np.where(function >= 0, part[np.maximum(function, 0)] if len(part) else 0, len(names))
    size = np.maximum(memory.size[rows], 1).astype(np.float64)
    power = np.floor(np.log2(size)).astype(np.int64)
    least, most = (int(power.min()), int(power.max())) if len(power) else (0, 0)
    steps = range(least, most + 1)
    sizes = tuple(f"{units.byte_size(2**k)} up" for k in steps)
    thread = memory.thread[rows].astype(np.int64)
    third = _with(wanted, third="time") if (thread < 0).any() and wanted.third == "thread" else wanted
    levels, level = _third(trace, third, memory.time[rows], thread)
    category = Category(what, (*names, "unknown")), Category("size", sizes, is_ordered=True), levels
    items = Items(row, power - least, level, memory.size[rows].astype(np.float64), call)
    return table_of(items, category, wanted.most, "allocates", "bytes allocated", units.byte_size)


def _arrows(trace: Trace, wanted: SubjectRequest) -> Table:
    """Return threads and threads: arrows from one to the other."""
    flows, (low, high) = trace.flows, wanted.window
    if not len(flows):
        raise not_recorded(trace.source.path, "arrows between calls")
    which = np.flatnonzero((flows.start >= low) & (flows.start < high))
    titles = tuple(lane_title(trace, t) for t in range(len(trace.threads)))
    source, target = (column[which].astype(np.int64) for column in (flows.source_thread, flows.target_thread))
    if wanted.third == "thread":
        used, level = np.unique(flows.name[which], return_inverse=True)
        names = tuple(flows.names[int(i)] or "unnamed" for i in used)
        levels, level = Category("kind of arrow", names, is_ordered=True), level.astype(np.int64)
    else:
        levels, level = _third(trace, wanted, flows.start[which], source)
    category = Category("thread", titles), Category("thread", titles), levels
    items = Items(source, target, level, np.ones(len(which)), flows.source[which])
    return table_of(items, category, wanted.most, "sends to", "arrows", units.count)


def _rounds(trace: Trace, wanted: SubjectRequest) -> Table:
    """Return rounds of a repeated call: on each thread that runs them, or by what they call."""
    _need_calls(trace)
    calls, (low, high) = trace.calls, wanted.window
    function = repeated_function(trace, wanted.repeated)
    which = np.flatnonzero((calls.function == function) & (calls.start >= low) & (calls.start < high))
    which = which[np.argsort(calls.start[which], kind="stable")]
    if not len(which):
        raise UsageError(f"{trace.functions.label[function]} is not called in this window")
    label = trace.functions.label[function]
    threads = np.unique(calls.thread[which])
    none = Category("", ("",), is_ordered=True)
    if len(threads) > 1:
        # The n-th round of each thread.
        row = np.zeros(len(which), np.int64)
        for thread in threads.tolist():
            mine = calls.thread[which] == thread
            row[mine] = np.arange(int(np.count_nonzero(mine)))
        rows, row = _numbered(label, row)
        titles = tuple(lane_title(trace, t) for t in range(len(trace.threads)))
        weight = (calls.end[which] - calls.start[which]).astype(np.float64)
        thread = calls.thread[which].astype(np.int64)
        items = Items(row, thread, np.zeros(len(which), np.int64), weight, which)
        category = rows, Category("thread", titles), none
        return table_of(items, category, wanted.most, "on", "time", units.duration)
    number = np.full(len(calls), -1, np.int64)
    number[which] = np.arange(len(which))
    below = np.flatnonzero(calls.parent >= 0)
    below = below[number[calls.parent[below]] >= 0]
    rows, of_round = _numbered(label, np.arange(len(which)))
    row = np.concatenate([of_round, of_round[number[calls.parent[below]]]])
    call = np.concatenate([which, below])
    weight = np.concatenate([self_time_of(trace)[which], calls.end[below] - calls.start[below]]).astype(
        np.float64
    )
    names = tuple(trace.functions.label)
    category = rows, Category("callee", names), none
    column = calls.function[call].astype(np.int64)
    items = Items(row, column, np.zeros(len(call), np.int64), weight, call)
    return table_of(items, category, wanted.most, "in", "time", units.duration)


def _numbered(label: str, row: Ints) -> tuple[Category, Ints]:
    """Return rounds as a category; where there are too many, several in a row are one."""
    many = int(row.max()) + 1
    step = -(-many // _ROWS)
    bounds = [(begin + 1, min(begin + step, many)) for begin in range(0, many, step)]
    names = tuple(f"{first:,}" if first == last else f"{first:,} to {last:,}" for first, last in bounds)
    return Category("round", names, is_ordered=True, of=label), row // step


_SUBJECTS = {
    "calls": _calls, "threads": _threads, "waits": _waits, "holders": _holders, "creates": _creates,
    "sizes": _sizes, "arrows": _arrows, "rounds": _rounds,
}  # fmt: skip
