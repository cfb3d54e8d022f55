"""Kernels that turn events into calls. Iterative and linear; :mod:`tracevis3d.trace.build` has the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inline, kernel

# Kinds of events; the same numbers as in trace.events (kernels import nothing of trace).
BEGIN, END, COMPLETE = 0, 1, 2

#: A time later than all others.
NEVER = 0x7FFFFFFFFFFFFFFF

#: How a thread's calls are built.
PAIRS, BEGINS, ENDS, GENERAL = 0, 1, 2, 3

#: Columns of the table that ``survey`` fills, one row per thread.
CLOSERS, COMPLETES, EVENTS, LAST_START, LAST_END, LATE_STARTS, LATE_ENDS, TIES, SHORTEST = range(9)
NEGATIVES, SURVEY_WIDTH = 9, 10

#: Rows of the table of problems: (count, first event), (0, -1) to begin with. Where a kernel goes thread by
#: thread, its rows are not in the order of the file: ``event``, int64 (rows,), is the event of each row.
#: They are int64, as is all that :func:`note` gets: plain numbers would each have it compiled again.
NEGATIVE, OVERLAP, UNMATCHED_BEGIN, UNMATCHED_END, MISMATCHED_END, LATE = map(np.int64, range(6))
N_PROBLEMS = 6
ONE = np.int64(1)


@inline
def note(problems, event, row, r, count):  # type: ignore[no-untyped-def]
    """Count problems of a kind, and keep the first in the file.

    Parameters
    ----------
    problems : int64 (N_PROBLEMS, 2)
        Changed in place.
    event : int64 (rows,)
        The event of each row: what orders rows as in the file.
    row : int64
        The kind: a row of ``problems``.
    r : int64
        The first of them: a row of the events.
    count : int64
        How many there are.
    """
    problems[row, 0] += count
    if problems[row, 1] < 0 or event[r] < event[problems[row, 1]]:
        problems[row, 1] = r


@kernel
def survey(thread, kind, time, end, n_threads, table):  # type: ignore[no-untyped-def]
    """Count the events of each thread by kind, and how often complete events break an order.

    Events of no known thread are skipped.

    Parameters
    ----------
    thread : int32 (n,)
    kind : uint8 (n,)
    time, end : int64 (n,)
        Nanoseconds; ``end`` counts for complete events only.
    n_threads : int
    table : int64 (threads, SURVEY_WIDTH)
        Filled. Zero before, but for LAST_START and LAST_END (very low).
    """
    n = len(thread)
    i = 0
    while i < n:
        t = thread[i]
        if t < 0 or t >= n_threads:
            i += 1
            continue
        row = table[t]
        begin = i
        closers = 0
        completes = 0
        last_start = row[LAST_START]
        last_end = row[LAST_END]
        late_starts = 0
        late_ends = 0
        ties = 0
        negatives = 0
        shortest = row[SHORTEST]
        while i < n and thread[i] == t:
            k = kind[i]
            if k != COMPLETE:
                closers += k
                i += 1
                continue
            completes += 1
            s = time[i]
            e = end[i]
            i += 1
            if e < s:
                e = s
                negatives += 1
            if s > last_start:
                last_start = s
                shortest = NEVER
            elif s < last_start:
                late_starts += 1
            if s == last_start:
                if e > shortest:
                    ties += 1
                elif e > s:
                    shortest = e
            if e < last_end:
                late_ends += 1
            else:
                last_end = e
        row[EVENTS] += i - begin
        row[CLOSERS] += closers
        row[COMPLETES] += completes
        row[LAST_START] = last_start
        row[LAST_END] = last_end
        row[LATE_STARTS] += late_starts
        row[LATE_ENDS] += late_ends
        row[TIES] += ties
        row[SHORTEST] = shortest
        row[NEGATIVES] += negatives


@kernel
def nest_in_order(  # type: ignore[no-untyped-def]
    thread, kind, function, time, end, record, origin, n_threads,
    mode, first, cursor, top, last, stack,
    o_function, o_parent, o_depth, o_start, o_end, o_extent, o_record, call_of, problems,
):  # fmt: skip
    """Build the calls of the threads in mode PAIRS or BEGINS, all in one pass over the stream.

    A PAIRS thread that is not clean (a time that goes back, an end that does not fit) is set to
    GENERAL and left. For begins without an end only the number is noted.

    Parameters
    ----------
    thread, function : int32 (n,)
    kind : uint8 (n,)
    time, end : int64 (n,)
        Nanoseconds; ``end`` counts for complete events only.
    record : int64 (n,) or (0,)
        Where each event's record is; empty if that is not known.
    origin : int
        Taken off all times.
    n_threads : int
    mode : int64 (threads,)
        PAIRS, BEGINS, ENDS or GENERAL; changed.
    first : int64 (threads,)
        Each thread's first call.
    cursor : int64 (threads,)
        Each thread's next call; ``first`` before.
    top : int64 (threads,)
        One past the top of each thread's stack; ``first`` before.
    last : int64 (threads,)
        Each thread's last time; very low before.
    stack : int64 (calls,)
        Working space; that of thread ``t`` begins at ``first[t]``.
    o_function, o_depth : int32 (calls,)
    o_parent, o_start, o_end, o_extent : int64 (calls,)
    o_record : int64 (calls,) or (0,)
        The calls; filled.
    call_of : int64 (n,)
        Filled: the call of each event; -1: none.
    problems : int64 (N_PROBLEMS, 2)
        Filled: NEGATIVE, OVERLAP and UNMATCHED_BEGIN.
    """
    has_record = len(record) > 0
    negative = 0
    overlap = 0
    unmatched = 0
    for i in range(len(thread)):
        ti = thread[i]
        if ti < 0 or ti >= n_threads:
            call_of[i] = -1
            continue
        t = np.uintp(ti)
        how = mode[t]
        if how >= ENDS:
            continue
        now = time[i] - origin
        f = function[i]
        c = cursor[t]
        d = top[t]
        base = first[t]
        stop = now
        parent = np.int64(-1)
        if how == PAIRS:
            if now < last[t]:
                mode[t] = GENERAL
                continue
            last[t] = now
            if kind[i] == END:
                if d == base:
                    mode[t] = GENERAL
                    continue
                d -= 1
                q = np.uintp(stack[np.uintp(d)])
                if f >= 0 and f != o_function[q]:
                    mode[t] = GENERAL
                    continue
                top[t] = d
                o_end[q] = now
                o_extent[q] = c - np.int64(q)
                call_of[i] = np.int64(q)
                continue
            if d > base:
                parent = stack[np.uintp(d - 1)]
        else:
            stop = end[i] - origin
            if stop < now:
                stop = now
                if negative == 0:
                    problems[NEGATIVE, 1] = i
                negative += 1
            while d > base:
                q = np.uintp(stack[np.uintp(d - 1)])
                if o_end[q] > now:
                    parent = np.int64(q)
                    break
                o_extent[q] = c - np.int64(q)
                d -= 1
            if parent >= 0 and stop > o_end[parent]:
                stop = o_end[parent]
                if overlap == 0:
                    problems[OVERLAP, 1] = i
                overlap += 1
        # Unsigned indices spare the test for negative ones.
        u = np.uintp(c)
        o_function[u] = f
        o_parent[u] = parent
        o_depth[u] = d - base + 1
        o_start[u] = now
        o_end[u] = stop
        if has_record:
            o_record[u] = record[i]
        call_of[i] = c
        stack[np.uintp(d)] = c
        top[t] = d + 1
        cursor[t] = c + 1
    for k in range(n_threads):
        if mode[k] >= ENDS:
            continue
        c = cursor[k]
        for d in range(first[k], top[k]):
            left = stack[d]
            o_extent[left] = c - left
            if mode[k] == PAIRS:
                o_end[left] = last[k]
                unmatched += 1
    problems[NEGATIVE, 0] = negative
    problems[OVERLAP, 0] = overlap
    problems[UNMATCHED_BEGIN, 0] = unmatched


@kernel
def gather(thread, n_threads, wanted, cursor, out):  # type: ignore[no-untyped-def]
    """List the events of the wanted threads, thread by thread, in the order of the file.

    Parameters
    ----------
    thread : int32 (n,)
    n_threads : int
    wanted : bool (threads,)
    cursor : int64 (threads,)
        Where each wanted thread begins in ``out``; moved to its end.
    out : int64 (events,)
        Filled.
    """
    for i in range(len(thread)):
        t = thread[i]
        if t >= 0 and t < n_threads and wanted[t]:
            out[cursor[t]] = i
            cursor[t] += 1


@kernel
def nest_ends(  # type: ignore[no-untyped-def]
    bounds, first, function, time, end, record, event, origin, low, open_calls, clean,
    o_function, o_parent, o_depth, o_start, o_end, o_extent, o_record, call_of, order, problems,
):  # fmt: skip
    """Build the calls of threads of complete events in the order of their ends (children first).

    In such a stream a subtree is a contiguous slice that ends with its root, so the slice's length links
    everything; ``call_of`` holds it between the passes. The second pass goes backwards, parents first: a call
    at place p of the stream, below d others, with n calls in its subtree, is at place p - n + 1 + d of the
    pre-order.

    Parameters
    ----------
    bounds : int64 (groups + 1,)
        Events ``[bounds[g], bounds[g + 1])`` are thread ``g``.
    first : int64 (groups,)
        Its first call.
    function, time, end, record, event, origin
        As for :func:`nest_in_order` and :func:`note`; a row for each event of these threads.
    low, open_calls : int64 (events,)
        Working space.
    clean : int64 (groups,)
        1 if the ends of the thread ascend; becomes 0 where two events overlap without nesting.
    o_function, o_parent, o_depth, o_start, o_end, o_extent, o_record
        The calls of clean threads; filled.
    call_of : int64 (events,)
        Filled: the call of each event of a clean thread.
    order : int64 (events,)
        Filled for other threads: their events in pre-order, sorted by time but for few.
    problems : int64 (N_PROBLEMS, 2)
    """
    has_record = len(record) > 0
    for g in range(len(first)):
        lo = bounds[g]
        hi = bounds[g + 1]
        fits = clean[g]
        for p in range(lo, hi):
            s = time[p]
            r = p - 1
            if end[p] > s:
                while r >= lo and time[np.uintp(r)] >= s:
                    r -= call_of[np.uintp(r)]
            if r >= lo and end[r] > s and time[r] < end[r]:
                fits = 0
            call_of[p] = p - r
        clean[g] = fits
        d = 0
        for p in range(hi - 1, lo - 1, -1):
            while d > 0 and low[d - 1] > p:
                d -= 1
            n = call_of[p]
            c = first[g] + p - lo - n + 1 + d
            u = np.uintp(c)
            v = np.uintp(p)
            if fits == 1:
                s = time[v]
                e = end[v]
                if e < s:
                    e = s
                    note(problems, event, NEGATIVE, p, ONE)
                o_function[u] = function[v]
                o_parent[u] = open_calls[d - 1] if d > 0 else -1
                o_depth[u] = d + 1
                o_start[u] = s - origin
                o_end[u] = e - origin
                o_extent[u] = n
                if has_record:
                    o_record[u] = record[p]
                call_of[v] = c
            else:
                order[lo + c - first[g]] = p
            if n > 1:
                low[d] = p - n + 1
                open_calls[d] = c
                d += 1


@kernel
def split_late(bounds, order, time, end, kind, event, kept, out, counts, problems):  # type: ignore[no-untyped-def]
    """Split ``order`` into an ascending part and the rest, by time within each thread (Cook and Kim 1980).

    When an event is earlier than the last one kept, both are put aside, so that one event far in the
    future does not make all that follow late; at most twice as many as needed are put aside. Events that come
    late in the file are noted. Where all ascend, nothing is written.

    Parameters
    ----------
    bounds : int64 (groups + 1,)
        Rows ``[bounds[g], bounds[g + 1])`` are thread ``g``.
    order : int64 (events,)
        Rows, thread by thread.
    time, end, kind, event
        Of the rows, as for :func:`nest_in_order` and :func:`note`.
    kept, out : int64 (events,)
        Filled: positions of ``order``: the ascending part, and the rest.
    counts : int64 (2,)
        Filled: their lengths; zeros where all ascend.
    problems : int64 (N_PROBLEMS, 2)
    """
    n_kept = 0
    n_out = 0
    ascends = True
    for g in range(len(bounds) - 1):
        lo = bounds[g]
        hi = bounds[g + 1]
        # Late by begin, or, if that is fewer, by the moment of writing (a complete event: its end).
        n_start = np.int64(0)
        n_end = np.int64(0)
        first_start: Any = np.int64(-1)
        first_end: Any = np.int64(-1)
        if hi > lo:
            max_start = time[lo]
            before = time[order[lo]]
            for r in range(lo, hi):
                s = time[r]
                if s < max_start:
                    n_start += 1
                    if first_start < 0:
                        first_start = r
                else:
                    max_start = s
                now = time[order[r]]
                ascends = ascends and now >= before
                before = now
        if n_start > 0:
            max_end = time[lo]
            for r in range(lo, hi):
                e = time[r]
                if kind[r] == COMPLETE and end[r] > e:
                    e = end[r]
                if e < max_end:
                    n_end += 1
                    if first_end < 0:
                        first_end = r
                else:
                    max_end = e
        if n_end < n_start:
            n_start = n_end
            first_start = first_end
        if n_start > 0:
            note(problems, event, LATE, first_start, n_start)
    if ascends:
        counts[0] = counts[1] = 0
        return
    for g in range(len(bounds) - 1):
        lo = bounds[g]
        hi = bounds[g + 1]
        bottom = n_kept
        for p in range(lo, hi):
            if n_kept > bottom and time[order[p]] < time[order[kept[n_kept - 1]]]:
                n_kept -= 1
                out[n_out] = kept[n_kept]
                out[n_out + 1] = p
                n_out += 2
            else:
                kept[n_kept] = p
                n_kept += 1
    counts[0] = n_kept
    counts[1] = n_out


@kernel
def merge_late(thread, time, order, kept, late, merged):  # type: ignore[no-untyped-def]
    """Merge two lists of positions of ``order``, each ascending by (thread, time, position).

    Parameters
    ----------
    thread, time : int32 (events,), int64 (events,)
        Of the rows.
    order : int64 (events,)
        Rows.
    kept, late : int64 (k,), int64 (m,)
        The two lists.
    merged : int64 (k + m,)
        Filled: rows.
    """
    i = 0
    j = 0
    for m in range(len(merged)):
        if j >= len(late):
            take_kept = True
        elif i >= len(kept):
            take_kept = False
        else:
            a = order[kept[i]]
            b = order[late[j]]
            if thread[a] != thread[b]:
                take_kept = thread[a] < thread[b]
            elif time[a] != time[b]:
                take_kept = time[a] < time[b]
            else:
                take_kept = kept[i] < late[j]
        if take_kept:
            merged[m] = order[kept[i]]
            i += 1
        else:
            merged[m] = order[late[j]]
            j += 1


@kernel
def match_pairs(  # type: ignore[no-untyped-def]
    bounds, order, kind, function, time, end, event,
    open_count, forced_head, early, stack, forced, next_forced, candidate,
    stop, owner, forced_by, healed, problems,
):  # fmt: skip
    """Find the end of each BEGIN event; complete events are not looked at.

    Parameters
    ----------
    bounds : int64 (groups + 1,)
        Rows ``[bounds[g], bounds[g + 1])`` are thread ``g``.
    order : int64 (events,)
        Rows by thread, then time.
    kind, function, time, end, event
        Of the rows, as for :func:`nest_in_order` and :func:`note`.
    open_count, forced_head, early : int64 (functions,)
        0, -1 and -1.
    stack, forced, next_forced, candidate : int64 (events,)
        Working space.
    stop : int64 (events,)
        Filled: when a BEGIN's call ends (complete events' are there already).
    owner : int64 (events,)
        Filled: the BEGIN that an END closes. -1 before.
    forced_by : int64 (events,)
        Filled: -1 for a BEGIN with an END of its own, -2 for one that never ends, else the END that closed it
        along with an outer call.
    healed : int64 (events,)
        Filled: for a BEGIN, the END of the same time and name that stands before it in the file and is taken
        as its own. -1 before.
    problems : int64 (N_PROBLEMS, 2)
    """
    for g in range(len(bounds) - 1):
        lo = bounds[g]
        hi = bounds[g + 1]
        for attempt in range(2):
            depth = 0
            n_forced = 0
            mismatched = np.int64(0)
            first_mismatched = np.int64(-1)
            now = 0
            for p in range(lo, hi + 1):
                if p < hi:
                    e = order[p]
                    if kind[e] == COMPLETE:
                        continue
                if p == hi or time[e] != now:
                    # Time continues: calls that were closed with an outer one and got no END are counted.
                    previous = -1
                    for k in range(n_forced):
                        b = forced[k]
                        forced_head[function[b]] = -1
                        by = forced_by[b]
                        if by >= 0 and by != previous:
                            mismatched += 1
                            if first_mismatched < 0:
                                first_mismatched = by
                            previous = by
                    n_forced = 0
                    if p == hi:
                        break
                    now = time[e]
                f = function[e]
                if kind[e] == BEGIN:
                    if healed[e] >= 0:
                        stop[e] = now
                        forced_by[e] = -1
                        continue
                    candidate[e] = -1
                    if attempt == 0 and early[f] >= lo and time[early[f]] == now:
                        candidate[e] = early[f]
                        early[f] = -1
                    stack[depth] = e
                    depth += 1
                    open_count[f] += 1
                    continue
                if attempt == 1:
                    if owner[e] >= 0 and healed[owner[e]] == e:
                        continue
                    owner[e] = -1
                if f >= 0 and forced_head[f] >= 0:
                    b = forced_head[f]
                    forced_head[f] = next_forced[b]
                    forced_by[b] = -1
                    owner[e] = b
                    continue
                if depth == 0 or (f >= 0 and open_count[f] == 0):
                    if attempt == 0 and f >= 0:
                        early[f] = e
                    continue
                while True:
                    depth -= 1
                    b = stack[depth]
                    fb = function[b]
                    open_count[fb] -= 1
                    stop[b] = now
                    if f < 0 or fb == f:
                        forced_by[b] = -1
                        owner[e] = b
                        break
                    forced_by[b] = e
                    next_forced[b] = forced_head[fb]
                    forced_head[fb] = b
                    forced[n_forced] = b
                    n_forced += 1
            n_open = np.int64(depth)
            first_open = stack[0] if depth > 0 else np.int64(-1)
            last = time[lo] if hi > lo else np.int64(0)
            if depth > 0:
                # What never ends does with its thread.
                for r in range(lo, hi):
                    last = max(last, time[r])
                    if kind[r] == COMPLETE:
                        last = max(last, end[r])
            while depth > 0:
                depth -= 1
                b = stack[depth]
                open_count[function[b]] -= 1
                stop[b] = last
                forced_by[b] = -2
            again = False
            if attempt == 0:
                for r in range(lo, hi):
                    if kind[r] == BEGIN and candidate[r] >= 0 and forced_by[r] != -1:
                        healed[r] = candidate[r]
                        owner[candidate[r]] = r
                        again = True
            if again:
                continue
            if n_open > 0:
                note(problems, event, UNMATCHED_BEGIN, first_open, n_open)
            if mismatched > 0:
                note(problems, event, MISMATCHED_END, first_mismatched, mismatched)
            for r in range(lo, hi):
                if kind[r] == END and owner[r] < 0:
                    note(problems, event, UNMATCHED_END, r, ONE)
            break


@kernel
def find_ties(bounds, ends_first, order, kind, time, stop, place, run, group, rank):  # type: ignore[no-untyped-def]
    """List the runs of opening events of one time that are not longest first.

    Within a run, calls of no duration keep their place before the first longer one (group 0) or come
    after the longer ones (group 2). In a thread that is written by ends, all of them come after, and of equal
    calls the later one in the file is the outer one.

    Parameters
    ----------
    bounds, order, kind, time, stop
        As for :func:`match_pairs`.
    ends_first : int64 (groups,)
        Whether each thread is written by ends.
    place : int64 (events,)
        Filled: positions of ``order``.
    run : int64 (events,)
        Filled: the number of the run.
    group : uint8 (events,)
        Filled: 0, 1 (a call with a duration) or 2.
    rank : int64 (events,)
        Filled: what orders equals of a group.

    Returns
    -------
    int
        How many positions were written.
    """
    n = 0
    n_runs = 0
    for g in range(len(bounds) - 1):
        hi = bounds[g + 1]
        by_end = ends_first[g]
        p = bounds[g]
        while p < hi:
            e = order[p]
            if kind[e] == END:
                p += 1
                continue
            now = time[e]
            if p + 1 == hi or time[order[p + 1]] != now:
                p += 1
                continue
            written = n
            stage = 2 if by_end else 0
            shortest = NEVER
            previous = 0
            previous_rank = 0
            previous_group = 0
            in_order = True
            while p < hi:
                e = order[p]
                if kind[e] == END or time[e] != now:
                    break
                length = 0
                mine = p
                if stop[e] > now:
                    length = stop[e] - now
                    group[n] = 1
                    if stage == 0:
                        stage = 2
                    if by_end:
                        mine = -e
                else:
                    group[n] = stage
                    if by_end:
                        mine = e
                if by_end:
                    if n > written and (
                        group[n] < previous_group
                        or (group[n] == previous_group and length > previous)
                        or (group[n] == previous_group and length == previous and mine < previous_rank)
                    ):
                        in_order = False
                elif length > 0:
                    if length > shortest:
                        in_order = False
                    shortest = length
                previous = length
                previous_rank = mine
                previous_group = group[n]
                place[n] = p
                run[n] = n_runs
                rank[n] = mine
                n += 1
                p += 1
            if in_order:
                n = written
            else:
                n_runs += 1
    return n


@kernel
def nest_general(  # type: ignore[no-untyped-def]
    bounds, first, order, kind, function, time, stop, record, event, owner, forced_by, healed, origin,
    stack, timed,
    o_function, o_parent, o_depth, o_start, o_end, o_extent, o_record, call_of, problems,
):  # fmt: skip
    """Build calls from opening events in order of time whose ends, ``stop``, are known.

    A complete call leaves the stack when its time is over, a BEGIN's with its END, wherever that stands in
    the order.

    Parameters
    ----------
    bounds, order, owner, forced_by, healed, stop
        As :func:`match_pairs` takes and fills them.
    first : int64 (groups,)
        Each thread's first call.
    kind, function, time, record, event, origin
        Of the rows, as for :func:`nest_in_order` and :func:`note`.
    stack, timed : int64 (events,), uint8 (events,)
        Working space: the open calls, and which of them leave by their time.
    o_function, o_parent, o_depth, o_start, o_end, o_extent, o_record
        The calls; filled.
    call_of : int64 (events,)
        Filled: the call of each row; -1: none.
    problems : int64 (N_PROBLEMS, 2)
    """
    has_record = len(record) > 0
    for g in range(len(first)):
        c = first[g]
        d = 0
        for p in range(bounds[g], bounds[g + 1]):
            r = order[p]
            if kind[r] == END:
                b = owner[r]
                if b >= 0 and healed[b] < 0:
                    q = call_of[b]
                    if o_extent[q] == 0:
                        while True:
                            d -= 1
                            top = stack[d]
                            o_extent[top] = c - top
                            if top == q:
                                break
                continue
            s = time[r] - origin
            e = stop[r] - origin
            by_time = kind[r] == COMPLETE or healed[r] >= 0
            if e < s:
                e = s
                note(problems, event, NEGATIVE, r, ONE)
            while d > 0:
                top = stack[d - 1]
                if o_end[top] > s or (o_end[top] == s and e == s and timed[d - 1] == 0):
                    break
                o_extent[top] = c - top
                d -= 1
            if d > 0:
                top = stack[d - 1]
                if e > o_end[top]:
                    e = o_end[top]
                    # A call that never ended has no end of its own that could be wrong.
                    if by_time or forced_by[r] != -2:
                        note(problems, event, OVERLAP, r, ONE)
                    by_time = True
            o_function[c] = function[r]
            o_parent[c] = stack[d - 1] if d > 0 else -1
            o_depth[c] = d + 1
            o_start[c] = s
            o_end[c] = e
            o_extent[c] = 0
            if has_record:
                o_record[c] = record[r]
            call_of[r] = c
            stack[d] = c
            timed[d] = 1 if by_time else 0
            d += 1
            c += 1
        while d > 0:
            d -= 1
            top = stack[d]
            o_extent[top] = c - top
        for r in range(bounds[g], bounds[g + 1]):
            if kind[r] == END:
                call_of[r] = call_of[owner[r]] if owner[r] >= 0 else -1


@kernel
def find_innermost(start, end, parent, first, count, thread, time, order, out):  # type: ignore[no-untyped-def]
    """Find the innermost call open at each of many moments.

    A call that a query finds over is never looked at again, so all climbs together are linear.

    Parameters
    ----------
    start, end, parent : int64 (calls,)
    first, count : int64 (threads,)
        The calls of each thread.
    thread, time : int64 (n,)
        The moments.
    order : int64 (n,)
        The moments by thread, then time.
    out : int64 (n,)
        Filled: the call; -1: none.
    """
    current = -1
    found = -1
    previous = -1
    for k in range(len(order)):
        i = order[k]
        t = thread[i]
        if t < 0 or t >= len(first) or count[t] == 0:
            out[i] = -1
            continue
        now = time[i]
        if t != previous:
            previous = t
            current = -1
            found = -1
        low = found + 1 if found >= 0 else first[t]
        high = first[t] + count[t]
        # Gallop, then bisect, to the last call that starts at or before now.
        step = 1
        while low + step <= high and start[low + step - 1] <= now:
            low += step
            step *= 2
        if low + step < high:
            high = low + step
        while low < high:
            middle = (low + high) >> 1
            if start[middle] <= now:
                low = middle + 1
            else:
                high = middle
        low -= 1
        if low < first[t]:
            out[i] = -1
            continue
        if low != found:
            found = low
            current = low
        while current >= 0 and end[current] < now:
            current = parent[current]
        out[i] = current
