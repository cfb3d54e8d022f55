"""Waits split by what kept them waiting."""

from __future__ import annotations

from typing import Any

from ..jit import inline, kernel
from .sync import MOST_OPEN


@inline
def _share(
    start: int, end: int, thread: int, next_: int, stop: int, hold_start: Any, hold_end: Any,
    hold_thread: Any, site: Any, own_site: Any, site_thread: Any, before: Any, n: int, now: Any, sums: Any,
    touched: Any,
) -> int:  # fmt: skip
    """Add up in ``sums`` what each site held during one wait; return how many sites ``touched`` holds."""
    found = 0
    for j in range(n):
        now[j] = before[j]
    time = start
    while time < end:
        while next_ < stop and hold_start[next_] <= time:
            if n < len(now):
                now[n] = next_
                n += 1
            next_ += 1
        # Nothing changes until the next hold begins, or one of these ends.
        until = end
        if next_ < stop and hold_start[next_] < until:
            until = hold_start[next_]
        kept = 0
        for j in range(n):
            if hold_end[now[j]] > time:
                now[kept] = now[j]
                kept += 1
                until = min(until, hold_end[now[j]])
        n = kept
        for j in range(n):
            if hold_thread[now[j]] != thread:
                at = site[now[j]]
                if site_thread[at] == thread:
                    at = own_site[now[j]]
                if sums[at] == 0.0:
                    touched[found] = at
                    found += 1
                sums[at] += (until - time) / n
        time = until
    return found


@kernel
def split(
    first_wait: Any, start: Any, end: Any, thread: Any, first: Any, hold_start: Any, hold_end: Any,
    hold_thread: Any, site: Any, own_site: Any, site_thread: Any, open_: Any, now: Any, sums: Any,
    touched: Any, out_wait: Any, out_site: Any, out_ns: Any,
) -> int:  # fmt: skip
    """Split waits by who held meanwhile what they were for, and at which site.

    Where several held at once (a semaphore) each counts for its share of the time. At most :data:`MOST_OPEN`
    are followed.

    Parameters
    ----------
    first_wait : int64 (objects + 1,)
        The waits for each object, by their starts.
    start, end : int64 (n,)
    thread : int32 (n,)
    first : int64 (objects + 1,)
        The holds of each object, by their starts.
    hold_start, hold_end : int64 (m,)
    hold_thread : int32 (m,)
    site, own_site : int64 (m,)
        Who is to blame for each, and from where it is held itself, which counts for the thread to blame.
    site_thread : int64 (sites,)
        The thread of each site.
    open_, now : int64 (:data:`MOST_OPEN`,), int64 (2 * :data:`MOST_OPEN`,)
        Working space.
    sums, touched : float64 (sites,), int64 (sites,)
        Working space; ``sums`` is zeros.
    out_wait, out_site, out_ns : int64 (capacity,)
        Filled as far as they reach: a wait, a site, and nanoseconds of that wait.

    Returns
    -------
    int
        How many rows there are.
    """
    rows = 0
    for k in range(len(first_wait) - 1):
        n, next_ = 0, first[k]
        for i in range(first_wait[k], first_wait[k + 1]):
            # What is held when the wait begins.
            while next_ < first[k + 1] and hold_start[next_] <= start[i]:
                if n == MOST_OPEN:
                    for j in range(1, n):
                        open_[j - 1] = open_[j]
                    n -= 1
                open_[n] = next_
                n += 1
                next_ += 1
            kept = 0
            for j in range(n):
                if hold_end[open_[j]] > start[i]:
                    open_[kept] = open_[j]
                    kept += 1
            n = kept
            found = _share(
                start[i], end[i], thread[i], next_, first[k + 1], hold_start, hold_end, hold_thread, site,
                own_site, site_thread, open_, n, now, sums, touched,
            )  # fmt: skip
            for j in range(found):
                if rows < len(out_wait):
                    out_wait[rows], out_site[rows] = i, touched[j]
                    out_ns[rows] = int(sums[touched[j]] + 1e-6)
                sums[touched[j]] = 0.0
                rows += 1
    return rows


@kernel
def follow(
    thread: Any, time: Any, stop: Any, first: Any, start: Any, end: Any, waker: Any, woken_at: Any, most: int,
    out_wait: Any, out_thread: Any, out_start: Any, out_end: Any,
) -> int:  # fmt: skip
    """Follow what each wait's waker did until it woke it, and those that this one waited for meanwhile.

    Parameters
    ----------
    thread : int32 (n,)
        The waker of each wait.
    time, stop : int64 (n,)
        When it woke it, and when the wait began: how far back is looked.
    first : int64 (threads + 1,)
        The waits of each thread that no other contains, by time.
    start, end : int64 (m,)
    waker : int32 (m,)
        -1: unknown.
    woken_at : int64 (m,)
    most : int
        Steps that are followed of one wait.
    out_wait, out_thread, out_start, out_end : int64 (capacity,)
        Filled as far as they reach: a wait, who ran (or waited for nobody known), from when to when.

    Returns
    -------
    int
        How many steps there are.
    """
    rows = 0
    for i in range(len(thread)):
        who, now = thread[i], time[i]
        for _ in range(most):
            if now <= stop[i]:
                break
            low, high = first[who], first[who + 1]
            while low < high:
                middle = (low + high) // 2
                if start[middle] < now:
                    low = middle + 1
                else:
                    high = middle
            j = low - 1
            while j >= first[who] and end[j] > now:
                j -= 1
            # Back to the end of the thread's last wait that somebody ended.
            while j >= first[who] and waker[j] < 0 and end[j] > stop[i]:
                j -= 1
            since = stop[i]
            if j >= first[who] and end[j] > since:
                since = end[j]
            if since < now:
                if rows < len(out_wait):
                    out_wait[rows], out_thread[rows] = i, who
                    out_start[rows], out_end[rows] = since, now
                rows += 1
            if j < first[who] or end[j] <= stop[i]:
                break
            now = min(woken_at[j], since)
            who = waker[j]
    return rows
