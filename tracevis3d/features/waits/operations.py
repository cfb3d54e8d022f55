"""The synchronization of a trace's threads: its waits, releases and I/O (SyncTrace, section III-A).

They come from what the recording says itself, from calls whose names the rules know, from arrows between
threads, and from the ends of threads that others join.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...trace.model import IO, RELEASE, STILL, WAIT, Trace
from .rules import GIFT, KINDS, STATES, Rule, Rules

Ints = NDArray[np.int64]
#: Shown where a wait's release is a thread's end, or a thread had nothing to do.
ENDED, IDLE = "thread end", "idle"
#: What threads that come to a barrier give to those that wait at it.
ARRIVAL = "arrival"
#: Releases that only represent the end of a thread or process.
THREAD_ENDS = ("Thread.end", ENDED, "Process.end", "end of thread")
#: How an operation ended, as far as the recording says so: it was given up after a while, it raised an error,
#: or the recording ended first.
DONE, TIMED_OUT, FAILED, UNFINISHED = range(4)
#: Suffixes of recorded names.
_ENDINGS = {" (timed out)": TIMED_OUT, " (failed)": FAILED}


@dataclass(frozen=True, eq=False)
class Operations:
    """Waits, releases and I/O, ordered by thread, then start, what lasts longer first.

    Attributes
    ----------
    call : int64 (n,)
        -1 where it is no call.
    thread : int32 (n,)
    start, end : int64 (n,)
        Nanoseconds.
    kind : uint8 (n,)
        WAIT, RELEASE or IO.
    blocked : bool (n,)
        Whether a wait had to wait; false for all others.
    nested : bool (n,)
        Whether a wait lies within another of its thread: its time is part of that one's.
    name : int32 (n,)
        Index into ``names``.
    wants, gives : int32 (n,)
        Index into ``gifts`` of what a wait is for, and of what an operation gives to others; -1: nothing.
    asks : bool (n,)
        Whether a wait is for what can be held.
    holds : bool (n,)
        Whether a wait's objects are held from its end until their release: it asked, and got them.
    all : bool (n,)
        Whether a wait is for all of its objects, not for any.
    one : bool (n,)
        Whether a release that a wait is for goes to one wait alone.
    state : uint8 (n,)
        What a wait is for, an index into :data:`.rules.STATES`.
    ending : uint8 (n,)
        DONE, TIMED_OUT, FAILED or UNFINISHED.
    about : int32 (n,)
        The thread that the object names, for starts and joins of threads; -1: none.
    line : int32 (n,)
        The line of code that waits or releases; 0: unknown.
    holder : int32 (n,)
        The thread that the recording says held the object when the wait began; -1: it doesn't.
    first : int64 (n + 1,)
        The objects of row i are ``object[first[i]:first[i + 1]]``.
    object : int32 (m,)
        Index into ``objects``.
    names, objects, gifts : tuple of str
    """

    call: Ints
    thread: NDArray[np.int32]
    start: Ints
    end: Ints
    kind: NDArray[np.uint8]
    blocked: NDArray[np.bool_]
    nested: NDArray[np.bool_]
    name: NDArray[np.int32]
    wants: NDArray[np.int32]
    gives: NDArray[np.int32]
    asks: NDArray[np.bool_]
    holds: NDArray[np.bool_]
    all: NDArray[np.bool_]
    one: NDArray[np.bool_]
    state: NDArray[np.uint8]
    ending: NDArray[np.uint8]
    about: NDArray[np.int32]
    line: NDArray[np.int32]
    holder: NDArray[np.int32]
    first: Ints
    object: NDArray[np.int32]
    names: tuple[str, ...]
    objects: tuple[str, ...]
    gifts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.call)

    @property
    def lasted(self) -> Ints:
        """Durations, int64 (n,)."""
        return self.end - self.start

    def of(self, row: int) -> list[str]:
        """Return the names of the objects of a row."""
        return [self.objects[o] for o in self.object[self.first[row] : self.first[row + 1]].tolist()]

    def per_object(self, rows: Ints) -> tuple[Ints, NDArray[np.int32]]:
        """Return one row for each object of ``rows``: the row (int64) and the object (int32)."""
        counts = self.first[rows + 1] - self.first[rows]
        which = np.repeat(rows, counts)
        at = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        return which, self.object[self.first[which] + at]


class _Rows:
    """Operations that are being collected."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.objects: dict[str, int] = {}
        self.gifts: dict[str, int] = {GIFT: 0}
        self.chunks: list[dict[str, NDArray[Any]]] = []

    def name(self, text: str) -> int:
        return self.names.setdefault(text, len(self.names))

    def object(self, text: str) -> int:
        return self.objects.setdefault(text, len(self.objects))

    def gift(self, text: str) -> int:
        return self.gifts.setdefault(text, len(self.gifts)) if text else -1

    def add(self, *, counts: Ints, object: NDArray[np.int32], **columns: NDArray[Any]) -> None:
        """Add rows; ``counts`` says how many of ``object`` each has."""
        self.chunks.append({"counts": counts, "object": object, **columns})

    def plain(
        self,
        rule: Rule,
        name: int,
        call: Ints,
        thread: NDArray[np.int32],
        start: Ints,
        end: Ints,
        object: Ints,
        about: NDArray[np.int32] | None = None,
    ) -> None:
        """Add rows of one rule and name with one object each; -1: none."""
        n, kind = len(call), KINDS[rule.kind]
        self.add(
            counts=(object >= 0).astype(np.int64),
            object=object[object >= 0].astype(np.int32),
            call=call,
            thread=thread,
            start=start,
            end=end,
            kind=np.full(n, kind, np.uint8),
            blocked=(end - start >= max(rule.blocks, 1)) & (kind == WAIT),
            name=np.full(n, name, np.int32),
            wants=np.full(n, self.gift(rule.wants) if kind == WAIT else -1, np.int32),
            gives=np.full(n, self.gift(rule.gift), np.int32),
            asks=np.full(n, rule.holds and kind == WAIT),
            holds=np.full(n, rule.holds and kind == WAIT),
            all=np.full(n, rule.all),
            one=np.full(n, rule.one and kind == WAIT),
            state=np.full(n, rule.waits_for, np.uint8),
            ending=np.full(n, DONE, np.uint8),
            about=np.full(n, -1, np.int32) if about is None else about,
            line=np.zeros(n, np.int32),
            holder=np.full(n, -1, np.int32),
        )

    def finish(self) -> Operations:
        """Put all rows in order."""
        if not self.chunks:
            self.plain(Rule((), "wait"), 0, *_empty())
        keys = [f.name for f in fields(Operations) if f.name not in _DERIVED]
        joined = {key: np.concatenate([chunk[key] for chunk in self.chunks]) for key in keys}
        counts = np.concatenate([chunk["counts"] for chunk in self.chunks]).astype(np.int64)
        object = np.concatenate([chunk["object"] for chunk in self.chunks]).astype(np.int32)
        order = np.lexsort((-joined["end"], joined["start"], joined["thread"]))
        joined = {key: column[order] for key, column in joined.items()}
        begin = (np.cumsum(counts) - counts)[order]
        counts = counts[order]
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        at = np.arange(int(first[-1])) + np.repeat(begin - first[:-1], counts)
        nested = _nested(joined["thread"], joined["start"], joined["end"], joined["kind"] == WAIT)
        return Operations(
            **joined, nested=nested, first=first, object=object[at], names=tuple(self.names),
            objects=tuple(self.objects), gifts=tuple(self.gifts),
        )  # fmt: skip


_DERIVED = ("nested", "first", "object", "names", "objects", "gifts")


def _empty() -> tuple[Ints, NDArray[np.int32], Ints, Ints, Ints]:
    none = np.empty(0, np.int64)
    return none, none.astype(np.int32), none, none, none


def runs(values: NDArray[Any]) -> list[tuple[int, int]]:
    """Return where equal neighbours among ``values`` begin and end."""
    if not len(values):
        return []
    bounds = np.flatnonzero(np.diff(values)) + 1
    return list(pairwise([0, *bounds.tolist(), len(values)]))


def _nested(thread: NDArray[np.int32], start: Ints, end: Ints, wait: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which waits lie within an earlier one of their thread."""
    nested = np.zeros(len(wait), np.bool_)
    rows = np.flatnonzero(wait)
    for low, high in runs(thread[rows]):
        ends = end[rows[low:high]]
        nested[rows[low + 1 : high]] = ends[1:] <= np.maximum.accumulate(ends)[:-1]
    return nested


def operations(trace: Trace, rules: Rules) -> Operations:
    """Return the operations of ``trace``, by ``rules``.

    Linear in the number of calls whose functions a rule names, of recorded operations and of arrows.

    Parameters
    ----------
    trace : Trace
    rules : Rules
        In the order in which they are tried.

    Returns
    -------
    Operations
    """
    rows = _Rows()
    recorded = bool(np.any(trace.sync.kind != IO))
    threads = _ThreadNames(trace)
    joins = _add_recorded(rows, trace, rules, threads)
    joins |= _add_calls(rows, trace, rules, threads, own_only=recorded or bool(len(trace.sync)))
    _add_ends(rows, trace, threads, joins)
    if not recorded and len(trace.flows):
        _add_flows(rows, trace, rules, threads)
    return without_places(rows.finish())


def without_places(ops: Operations) -> Operations:
    """Return operations in which what is only given and taken is not held: a signal, or places handed out.

    None that takes it ever gives it back, and others give it. Waits for it are for a signal.

    Parameters
    ----------
    ops : Operations

    Returns
    -------
    Operations
    """
    got, object = ops.per_object(np.flatnonzero(ops.holds))
    if not len(got):
        return ops
    gave, given = ops.per_object(np.flatnonzero(ops.kind == RELEASE))
    threads = int(ops.thread.max()) + 1
    takers = np.unique(object.astype(np.int64) * threads + ops.thread[got])
    givers = np.unique(given.astype(np.int64) * threads + ops.thread[gave])
    taken, gives, both = np.zeros((3, len(ops.objects)), np.bool_)
    taken[takers // threads] = True
    gives[givers // threads] = True
    both[np.intersect1d(takers, givers) // threads] = True
    place = taken & gives & ~both
    if not place.any():
        return ops
    waits, of = ops.per_object(np.flatnonzero(ops.asks))
    rows = waits[place[of]]
    asks, holds, state = ops.asks.copy(), ops.holds.copy(), ops.state.copy()
    asks[rows] = holds[rows] = False
    state[rows] = STATES.index("signal")
    return replace(ops, asks=asks, holds=holds, state=state)


class _ThreadNames:
    """The names of threads, and the thread that a text names."""

    def __init__(self, trace: Trace) -> None:
        self.titles = [trace.threads.title(t) for t in range(len(trace.threads))]
        self._names: dict[str, list[int]] = {}
        for t in range(len(trace.threads)):
            for word in {trace.threads.name[t], str(trace.threads.tid[t])}:
                if word:
                    self._names.setdefault(word, []).append(t)
        self.processes = [str(p) for p in trace.threads.process]

    def named(self, template: str, text: str) -> int:
        """Return the thread that ``text`` names by ``template``; -1 where none or several are called so."""
        pattern = re.escape(template).replace(r"\{name\}", "(.+)").replace(r"\{tid\}", "(.+)")
        match = re.fullmatch(pattern, text)
        found = self._names.get(match[1], []) if match and match.groups() else []
        return found[0] if len(found) == 1 else -1


#: Objects that name threads: (object's name, thread, gift).
Joins = set[tuple[str, int, str]]


def _split(name: str) -> tuple[str, int]:
    """Return what was done, and how it ended."""
    for words, ending in _ENDINGS.items():
        if name.endswith(words):
            return name[: -len(words)], ending
    return name, DONE


def _fits(rule: Rule, name: str, label: str) -> bool:
    return bool(rule.pattern.fullmatch(name) or ("." in label and rule.pattern.fullmatch(label)))


def _recorded_as(name: str, kind: int, rules: Rules) -> tuple[Rule, int]:
    """Return the rule for a recorded operation, and how its name says that it ended."""
    done, ending = _split(name)
    for rule in rules.rules:
        if not rule.within and (_fits(rule, name, "") or _fits(rule, done, "")):
            if rule.own or KINDS[rule.kind] == kind:
                return rule, ending
            break
    return Rule((done,), next(word for word, value in KINDS.items() if value == kind)), ending


def state_of_wait(name: str, rules: Rules) -> int:
    """Return what a recorded wait is for, by the name of its operation.

    Parameters
    ----------
    name : str
    rules : Rules

    Returns
    -------
    int
        An index into STATES.
    """
    return _recorded_as(name, WAIT, rules)[0].waits_for


def state_of_call(name: str, label: str, rules: Rules) -> int:
    """Return what calls of a function wait for that no recorder records as waits.

    Parameters
    ----------
    name : str
    label : str
        The name without file and line.
    rules : Rules

    Returns
    -------
    int
        An index into STATES; -1: they wait for nothing.
    """
    for rule in rules.rules:
        if (rule.own or rule.state == "sleep") and not rule.within and _fits(rule, name, label):
            return rule.waits_for
    return -1


def _add_recorded(rows: _Rows, trace: Trace, rules: Rules, threads: _ThreadNames) -> Joins:
    """Add the recorded operations; return the threads that their objects name."""
    sync = trace.sync
    joins: Joins = set()
    n = len(sync)
    if not n:
        return joins
    names = list(sync.names)
    object_of = np.array([rows.object(text) for text in sync.objects] or [0], np.int32)
    counts = np.diff(sync.first)
    kind = sync.kind.copy()
    columns = {
        "wants": np.full(n, -1, np.int32), "gives": np.full(n, -1, np.int32),
        "asks": np.zeros(n, np.bool_), "all": np.zeros(n, np.bool_), "one": np.zeros(n, np.bool_),
        "state": np.zeros(n, np.uint8), "ending": np.zeros(n, np.uint8), "blocks": np.zeros(n, np.int64),
        "kept": np.ones(n, np.bool_), "about": np.full(n, -1, np.int32),
    }  # fmt: skip
    # Functions with this name: a name can represent different kinds in a damaged recording.
    for pair in np.unique(sync.name.astype(np.int64) * 3 + sync.kind).tolist():
        name, recorded = divmod(pair, 3)
        which = np.flatnonzero((sync.name == name) & (sync.kind == recorded))
        found, ending = _recorded_as(names[name], recorded, rules)
        if found.kind == "other":
            columns["kept"][which] = False
            continue
        now = KINDS[found.kind]
        kind[which] = now
        columns["wants"][which] = rows.gift(found.wants) if now == WAIT else -1
        columns["gives"][which] = rows.gift(found.gift) if now != IO else -1
        columns["asks"][which] = found.holds and now == WAIT
        columns["all"][which] = found.all
        columns["one"][which] = found.one and now == WAIT
        columns["state"][which] = found.waits_for
        columns["ending"][which] = ending
        columns["blocks"][which] = max(found.blocks, 1)
        if found.thread:
            some = which[counts[which] > 0]
            object = sync.object[sync.first[some]]
            distinct, back = np.unique(object, return_inverse=True)
            texts = [sync.objects[o] for o in distinct.tolist()]
            named = [threads.named(found.thread, text) for text in texts]
            columns["about"][some] = np.array(named, np.int32)[back.reshape(-1)]
            if now == WAIT:
                joins |= {(text, thread, found.wants) for text, thread in zip(texts, named)}
    least: Ints = columns["blocks"].astype(np.int64)
    blocked = np.where(sync.contended >= 0, sync.contended >= 1, sync.end - sync.start >= least)
    endings = np.where(sync.contended == STILL, UNFINISHED, columns["ending"]).astype(np.uint8)
    got = endings == DONE
    kept = columns["kept"]
    name_of = np.array([rows.name(text) for text in names] or [0], np.int32)
    rows.add(
        counts=counts[kept],
        object=object_of[sync.object[np.repeat(kept, counts)]] if len(sync.object) else sync.object,
        call=sync.call[kept],
        thread=sync.thread[kept],
        start=sync.start[kept],
        end=sync.end[kept],
        kind=kind[kept],
        blocked=(blocked & (kind == WAIT))[kept],
        name=name_of[sync.name[kept]],
        wants=columns["wants"][kept],
        gives=np.where(got | (kind != WAIT), columns["gives"], -1).astype(np.int32)[kept],
        asks=columns["asks"][kept],
        holds=(columns["asks"] & got)[kept],
        all=columns["all"][kept],
        one=columns["one"][kept],
        state=columns["state"][kept],
        ending=endings[kept],
        about=columns["about"][kept],
        line=sync.line[kept] if len(sync.line) else np.zeros(int(kept.sum()), np.int32),
        holder=sync.holder[kept] if len(sync.holder) else np.full(int(kept.sum()), -1, np.int32),
    )
    return joins


def _add_calls(rows: _Rows, trace: Trace, rules: Rules, threads: _ThreadNames, own_only: bool) -> Joins:
    """Add calls whose functions a rule names, and that the recording itself does not contain."""
    joins: Joins = set()
    calls, functions = trace.calls, trace.functions
    # No recorder records sleeps as waits, so they are searched for among the calls of all recordings.
    candidates = [r for r in rules.rules if r.own or r.state == "sleep" or not own_only]
    if not candidates or not len(calls):
        return joins
    recorded_calls = np.zeros(len(calls), np.bool_)
    recorded_calls[trace.sync.call[trace.sync.call >= 0]] = True
    wanted: list[tuple[int, Rule, NDArray[np.bool_] | None]] = []
    for f in range(len(functions)):
        name, label = functions.name[f], functions.label[f]
        for rule in candidates:
            if _fits(rule, name, label):
                wanted.append((f, rule, _callers(trace, rule)))
                if rule.callers is None:
                    break
    if not wanted:
        return joins
    named = np.zeros(len(functions), np.bool_)
    named[[f for f, _, _ in wanted]] = True
    chosen = np.flatnonzero(named[calls.function] & ~recorded_calls)
    by_function = chosen[np.argsort(calls.function[chosen], kind="stable")]
    bounds = np.searchsorted(calls.function[by_function], np.arange(len(functions) + 1))
    taken = np.zeros(len(calls), np.bool_)
    for f, rule, callers in wanted:
        which = by_function[bounds[f] : bounds[f + 1]]
        which = which[~taken[which]]
        if callers is not None:
            parent = calls.parent[which]
            which = which[(parent >= 0) & callers[calls.function[parent]]]
        taken[which] = True
        if rule.kind == "other" or not len(which):
            continue
        object = _objects_of_calls(rows, trace, rule, f, which, threads)
        number = rows.name(functions.label[f] or functions.name[f])
        about = None
        if rule.thread:
            texts = list(rows.objects)
            known = np.array([threads.named(rule.thread, text) for text in texts] + [-1], np.int32)
            about = known[object]  # -1 takes the last
            if rule.kind == "wait":
                found = np.unique(object[object >= 0]).tolist()
                joins |= {(texts[o], int(known[o]), rule.wants) for o in found}
        rows.plain(
            rule, number, which, calls.thread[which], calls.start[which], calls.end[which], object, about
        )
    return joins


def _callers(trace: Trace, rule: Rule) -> NDArray[np.bool_] | None:
    """Return which functions a rule's calls must lie directly below; None: any."""
    if rule.callers is None:
        return None
    names, labels = trace.functions.name, trace.functions.label
    return np.array(
        [
            bool(rule.callers.fullmatch(names[f]) or rule.callers.fullmatch(labels[f]))
            for f in range(len(names))
        ]
    )


def _objects_of_calls(
    rows: _Rows, trace: Trace, rule: Rule, function: int, which: Ints, threads: _ThreadNames
) -> Ints:
    """Return the object of each call (an index into the rows' objects), -1: unknown."""
    if not rule.object:
        return np.full(len(which), -1, np.int64)
    calls, functions = trace.calls, trace.functions
    template = rule.object.replace("{function}", functions.label[function])
    keys = np.zeros((len(which), 3), np.int64)
    if "{thread}" in template:
        keys[:, 0] = calls.thread[which]
    if "{caller}" in template:
        parent = calls.parent[which]
        keys[:, 1] = np.where(parent >= 0, calls.function[parent], -1)
    if "{process}" in template:
        number: dict[str, int] = {}
        process = np.array([number.setdefault(p, len(number)) for p in threads.processes], np.int64)
        keys[:, 2] = process[calls.thread[which]]
        processes = list(number)
    distinct, back = np.unique(keys, axis=0, return_inverse=True)

    def text(key: list[int]) -> str:
        made = template
        if "{thread}" in made:
            made = made.replace("{thread}", threads.titles[key[0]])
        if "{caller}" in made:
            made = made.replace("{caller}", functions.label[key[1]] if key[1] >= 0 else "no caller")
        if "{process}" in made:
            made = made.replace("{process}", processes[key[2]])
        return made

    index = np.array([rows.object(text(key)) for key in distinct.tolist()], np.int64)
    found: Ints = index[back.reshape(-1)]
    return found


def _add_ends(rows: _Rows, trace: Trace, threads: _ThreadNames, joins: Joins) -> None:
    """Add the ends of threads that others wait for, as releases of what names them."""
    calls = trace.calls
    for text, thread, gift in sorted(joins):
        count = int(trace.threads.count[thread]) if thread >= 0 else 0
        if not count:
            continue
        first = int(trace.threads.first[thread])
        # The last root call ends last: it is the last call at depth 1.
        end = np.array([calls.end[first : first + count].max()], np.int64)
        rule = Rule((ENDED,), "release", gives=gift)
        call, object = np.full(1, -1, np.int64), np.array([rows.object(text)], np.int64)
        rows.plain(rule, rows.name(ENDED), call, np.array([thread], np.int32), end, end, object)


def _add_flows(rows: _Rows, trace: Trace, rules: Rules, threads: _ThreadNames) -> None:
    """Add arrows between threads as releases, and the idle time of a thread that an arrow ended as a wait."""
    flows, calls = trace.flows, trace.calls
    names = list(flows.names)
    rule_of = np.array(
        [next((i for i, r in enumerate(rules.flows) if r.pattern.fullmatch(n)), -1) for n in names], np.int64
    )
    chosen = np.flatnonzero(
        (rule_of[flows.name] >= 0) & (flows.source_thread != flows.target_thread) & (flows.target >= 0)
        & (flows.source_thread >= 0)
    )  # fmt: skip
    roots = np.flatnonzero(calls.depth == 1)
    if not len(chosen) or not len(roots):
        return
    root = np.searchsorted(roots, flows.target[chosen], side="right") - 1
    before = np.maximum(root - 1, 0)
    known = (root > 0) & (calls.thread[roots[before]] == calls.thread[roots[root]])
    idle_from = np.where(known, calls.end[roots[before]], calls.start[roots[root]])
    idle_until = calls.start[roots[root]]
    woke = known & (flows.start[chosen] >= idle_from) & (flows.start[chosen] <= idle_until)

    def object_text(flow: int) -> str:
        template = rules.flows[int(rule_of[flows.name[flow]])].object
        return (
            template.replace("{target}", threads.titles[int(flows.target_thread[flow])])
            .replace("{source}", threads.titles[int(flows.source_thread[flow])])
            .replace("{flow}", names[int(flows.name[flow])])
        )

    keys = np.stack([flows.name[chosen], flows.source_thread[chosen], flows.target_thread[chosen]], axis=1)
    _, some, back = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    object = np.array([rows.object(object_text(int(chosen[i]))) for i in some], np.int64)[back.reshape(-1)]
    for name in np.unique(flows.name[chosen]).tolist():
        which = flows.name[chosen] == name
        flow = chosen[which]
        rows.plain(
            Rule((names[name],), "release"), rows.name(names[name]), flows.source[flow],
            flows.source_thread[flow], flows.start[flow], flows.start[flow], object[which],
        )  # fmt: skip
    ended, one = np.unique(root[woke], return_index=True)
    at = np.flatnonzero(woke)[one]
    nowhere = np.full(len(ended), -1, np.int64)
    rows.plain(
        Rule((IDLE,), "wait", blocks=1, state="idle"), rows.name(IDLE), nowhere,
        calls.thread[roots[ended]].astype(np.int32), idle_from[at], idle_until[at], object[at],
    )  # fmt: skip
