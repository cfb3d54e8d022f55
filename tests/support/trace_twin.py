"""The rules of ``tracevis3d.trace.build`` once more, in plain Python, as slow and as plain as can be."""

from __future__ import annotations

from dataclasses import dataclass, field

BEGIN, END, COMPLETE = 0, 1, 2


@dataclass
class Row:
    """An event, and the call that it becomes."""

    index: int
    kind: int
    function: int
    time: int
    end: int
    own_end: bool = True
    by_time: bool = True
    closes: Row | None = None
    healed: bool = False
    parent: Row | None = None
    cut: int = 0
    is_open: bool = True
    children: list[Row] = field(default_factory=list)


def build(events, threads):
    """Return per thread the roots, and the counts of problems, of (thread, kind, function, time, end)."""
    problems: dict[str, int] = {}
    roots = []
    for thread in range(threads):
        rows = [Row(i, *e[1:]) for i, e in enumerate(events) if e[0] == thread]
        roots.append(_thread(rows, problems))
    return roots, {kind: count for kind, count in problems.items() if count}


def _thread(rows, problems):
    def count(kind, n):
        problems[kind] = problems.get(kind, 0) + n

    negative = sum(r.kind == COMPLETE and r.end < r.time for r in rows)
    for r in rows:
        r.end = r.time if r.kind != COMPLETE else max(r.time, r.end)
    count("negative duration", negative)
    only_complete = all(r.kind == COMPLETE for r in rows)
    late_start = [r for i, r in enumerate(rows) if any(q.time > r.time for q in rows[:i])]
    late_end = [r for i, r in enumerate(rows) if any(q.end > r.end for q in rows[:i])]
    # "Shorter first" spoils the order of starts too, as the longer of two that start together is outside.
    spoilt = late_start or any(
        q.time == r.time < q.end < r.end
        for i, r in enumerate(rows)
        for q in rows[:i]
        if r.kind == q.kind == COMPLETE
    )
    ends_first = bool(rows) and only_complete and bool(spoilt) and len(late_end) < len(late_start)
    if only_complete and spoilt and not late_end and not _overlapping(rows):
        return _written_by_ends(rows)
    count("out of order", min(len(late_start), len(late_end)))
    rows.sort(key=lambda r: r.time)
    last = max((max(r.time, r.end) for r in rows), default=0)
    _match(rows, last, count)
    openers = _longest_first(rows, ends_first)
    return _nest(openers, count)


def _overlapping(rows):
    """Whether a call starts within one that is written before it: then that one is no finished child."""
    return any(p.time < q.time < p.end for i, q in enumerate(rows) for p in rows[:i])


def _written_by_ends(rows):
    """The parent is the first longer call written later that starts no later."""
    roots = []
    for i, r in enumerate(rows):
        outer = [q for q in rows[i + 1 :] if q.time <= r.time and q.end > q.time]
        r.parent = outer[0] if outer else None
        (r.parent.children if r.parent else roots).append(r)
    return roots


def _match(rows, last, count):
    healed: dict[int, Row] = {}
    for attempt in range(2):
        open_rows: list[Row] = []
        forced: list[tuple[Row, Row]] = []
        mismatched = 0
        early: list[Row] = []
        candidates: dict[int, Row] = {}
        owners: dict[int, Row] = {}
        now = None
        for r in rows:
            if r.kind == COMPLETE:
                continue
            if r.time != now:
                mismatched += len({by.index for _, by in forced})
                forced, early, now = [], [], r.time
            if r.kind == BEGIN:
                r.healed = r.index in healed
                if r.healed:
                    r.end, r.own_end, r.by_time = r.time, True, True
                    owners[healed[r.index].index] = r
                    continue
                r.by_time = False
                r.own_end = True
                same = [e for e in early if e.function == r.function]
                if same:
                    candidates[r.index] = same[-1]
                    early = [e for e in early if e.function != r.function]
                open_rows.append(r)
                continue
            if any(r is e for e in healed.values()):
                continue
            again = [(b, by) for b, by in forced if b.function == r.function]
            if r.function >= 0 and again:
                owners[r.index] = again[-1][0]
                forced.remove(again[-1])
                continue
            fitting = [b for b in open_rows if r.function in (-1, b.function)]
            if not fitting:
                if r.function >= 0:
                    early.append(r)
                continue
            while True:
                b = open_rows.pop()
                b.end = r.time
                if b is fitting[-1]:
                    owners[r.index] = b
                    break
                forced.append((b, r))
                b.own_end = True
        mismatched += len({by.index for _, by in forced})
        for b in open_rows:
            b.end, b.own_end = last, False
        proper = {b.index for b in owners.values()}
        if attempt == 0:
            healed = {b: e for b, e in candidates.items() if b not in proper}
            if healed:
                continue
        break
    for r in rows:
        if r.kind == END:
            r.closes = owners.get(r.index)
    count("unmatched begin", len(open_rows))
    count("mismatched end", mismatched)
    count("unmatched end", sum(r.kind == END and r.closes is None for r in rows))


def _longest_first(rows, ends_first):
    """Sort each run of openings of one time."""
    result: list[Row] = []
    run: list[Row] = []

    def flush():
        longer = [i for i, r in enumerate(run) if r.end > r.time]
        lengths = [run[i].end for i in longer]
        if not ends_first and lengths == sorted(lengths, reverse=True):
            result.extend(run)
            run.clear()
            return
        before = 0 if ends_first else (longer[0] if longer else len(run))
        head, tail = run[:before], run[before:]
        lasting = sorted(
            (r for r in tail if r.end > r.time), key=lambda r: (-r.end, -r.index if ends_first else 0)
        )
        moments = [r for r in tail if r.end == r.time]
        if ends_first:
            moments.sort(key=lambda r: r.index)
        result.extend(head + lasting + moments)
        run.clear()

    for r in rows:
        if run and (r.kind == END or r.time != run[0].time):
            flush()
        if r.kind == END:
            result.append(r)
        else:
            run.append(r)
    if run:
        flush()
    return result


def _nest(rows, count):
    roots: list[Row] = []
    stack: list[Row] = []

    def pop():
        stack.pop().is_open = False

    for r in rows:
        if r.kind == END:
            if r.closes is not None and not r.closes.healed and r.closes in stack:
                while r.closes in stack:
                    pop()
            continue
        while stack and (
            stack[-1].end < r.time or (stack[-1].end == r.time and (stack[-1].by_time or r.end > r.time))
        ):
            pop()
        if stack:
            r.parent = stack[-1]
            if r.end > r.parent.end:
                r.end = r.parent.end
                r.by_time = True
                if r.own_end:
                    count("overlap", 1)
        (r.parent.children if r.parent else roots).append(r)
        stack.append(r)
    return roots


def pre_order(roots):
    """Yield (row, depth) of all calls, parents first."""
    waiting = [(r, 1) for r in reversed(roots)]
    while waiting:
        row, depth = waiting.pop()
        yield row, depth
        waiting.extend((child, depth + 1) for child in reversed(row.children))
