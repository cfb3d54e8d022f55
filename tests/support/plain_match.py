"""TraceDiff, section III, word for word and slowly: what the analysis must agree with on small traces."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from tests.support.synthetic import from_depths, thread_slices
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings


def small_trace(depths, functions, durations, names, roots=None) -> Trace:
    """Return a trace of calls given by their depths in pre-order."""
    n = len(depths)
    thread = None if roots is None else np.sort(np.asarray(roots, np.int32))
    calls = from_depths(
        np.asarray(depths, np.int32), np.asarray(functions, np.int32), np.ones(n, np.int64),
        np.asarray(durations, np.int64), thread,
    )  # fmt: skip
    first, count = thread_slices(calls)
    k = len(first)
    none = np.full(len(names), -1, np.int32)
    return Trace(
        calls=calls,
        functions=Functions(Strings.of(names), Strings.of(names), none, none, np.zeros(len(names), np.int32)),
        threads=Threads((1,) * k, tuple(range(k)), ("",) * k, ("",) * k, first, count),
        span_ns=int(calls.end.max(initial=0)),
    )


@st.composite
def traces(draw, most=14, functions=5):
    """Draw a small trace, with a few functions that others share."""
    n = draw(st.integers(0, most))
    depths, depth = [], 0
    for _ in range(n):
        depth = draw(st.integers(1, depth + 1))
        depths.append(depth)
    used = draw(st.lists(st.integers(0, functions - 1), min_size=n, max_size=n))
    durations = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    roots = draw(st.lists(st.integers(0, 2), min_size=depths.count(1), max_size=depths.count(1)))
    # Thread numbers without gaps, as in a trace that was read.
    numbers = {t: i for i, t in enumerate(sorted(set(roots)))}
    names = [f"f{i}" for i in range(functions)]
    return small_trace(depths, used, durations, names, [numbers[t] for t in roots])


def stack(trace, call):
    """S(f): the call and all calls below it."""
    return range(call, call + int(trace.calls.extent[call]))


def gamma(trace, call, ids):
    return frozenset(int(ids[trace.calls.function[c]]) for c in stack(trace, call))


def multiset(trace, call, ids):
    return Counter(int(ids[trace.calls.function[c]]) for c in stack(trace, call))


def first_calls(trace, call, ids):
    return list(dict.fromkeys(int(ids[trace.calls.function[c]]) for c in stack(trace, call)))


def jaccard(x, y):
    return Fraction(len(x & y), len(x | y))


def weighted(x, y):
    keys = x.keys() | y.keys()
    return Fraction(sum(min(x[k], y[k]) for k in keys), sum(max(x[k], y[k]) for k in keys))


def common_order(x, y):
    best = [[0] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i, p in enumerate(x):
        for j, q in enumerate(y):
            best[i + 1][j + 1] = best[i][j] + 1 if p == q else max(best[i][j + 1], best[i + 1][j])
    return best[-1][-1]


def in_order(x, y):
    common = common_order(x, y)
    return Fraction(common, len(x) + len(y) - common)


def similarities(a, b, identity, measure="jaccard", weight=None):
    """Return s(u, v) for all calls u of A and v of B."""
    if measure == "jaccard":
        of, s = gamma, jaccard
    elif measure == "duration":

        def s(x, y):
            return Fraction(sum(int(weight[f]) for f in x & y), sum(int(weight[f]) for f in x | y))

        of = gamma
    elif measure == "multiset":
        of, s = multiset, weighted
    else:
        of, s = first_calls, in_order
    left = [of(a, u, identity.a) for u in range(len(a))]
    right = [of(b, v, identity.b) for v in range(len(b))]
    return {(u, v): s(x, y) for u, x in enumerate(left) for v, y in enumerate(right)}


def inside(trace, call, root):
    return call in stack(trace, root)


def breadth_first(trace):
    return sorted(range(len(trace)), key=lambda call: (int(trace.calls.depth[call]), call))


def literal_groups(a, b, matches):
    """The printed rule: one current group."""
    groups, current = [], None
    for u in breadth_first(a):
        for v in sorted(v for x, v in matches if x == u):
            if current is None or not inside(a, u, current[0]) or not inside(b, v, current[1]):
                current = (u, v)
                groups.append(current)
    return groups


def nearest_groups(a, b, matches):
    """Every group stays open; a match joins the nearest that encloses it: group root of each match."""
    groups, joined = [], {}
    for u in breadth_first(a):
        for v in sorted(v for x, v in matches if x == u):
            enclosing = [g for g in groups if inside(a, u, g[0]) and inside(b, v, g[1])]
            if enclosing:
                joined[u, v] = max(enclosing, key=lambda g: (a.calls.depth[g[0]], b.calls.depth[g[1]]))
            else:
                groups.append((u, v))
                joined[u, v] = (u, v)
    return groups, joined


def union_share(trace, calls):
    """The share of the root calls' time within any of ``calls``, nanosecond by nanosecond."""
    roots = [c for c in range(len(trace)) if trace.calls.depth[c] == 1]
    total = sum(int(trace.calls.end[c] - trace.calls.start[c]) for c in roots)
    covered = {
        (int(trace.calls.thread[c]), t)
        for c in calls
        for t in range(int(trace.calls.start[c]), int(trace.calls.end[c]))
    }
    return len(covered) / total if total else 0.0


def unmatched_subtrees(trace, matched):
    """Calls without a match in their whole call stack whose caller is no such call."""
    bare = {c for c in range(len(trace)) if not any(d in matched for d in stack(trace, c))}
    return {c for c in bare if int(trace.calls.parent[c]) not in bare}
