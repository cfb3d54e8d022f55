"""What a profile says by function, from its samples and their stacks: held against the tool's own words."""

import re
from collections import Counter


def weights_of(trace, kind=0, named=lambda name: re.sub(r" \([^()]*\)$", "", name)):
    """Own and whole weight of each function; by its name without the place, if not otherwise ``named``."""
    own, whole = Counter(), Counter()
    names = [named(name) for name in trace.functions.name]
    samples, stacks = trace.samples, trace.stacks
    rows = zip(samples.kind.tolist(), samples.weight.tolist(), samples.stack.tolist(), strict=True)
    for which, weight, frame in rows:
        if which != kind or frame < 0:
            continue
        own[names[stacks.function[frame]]] += weight
        seen = set()
        while frame >= 0:
            seen.add(names[stacks.function[frame]])
            frame = int(stacks.parent[frame])
        for name in seen:
            whole[name] += weight
    return {name: (own[name], total) for name, total in whole.items()}


def spans(trace):
    """Name, start, end (nanoseconds as recorded) and depth of all calls."""
    calls, names = trace.calls, list(trace.functions.label)
    columns = calls.function, calls.start + trace.origin_ns, calls.end + trace.origin_ns, calls.depth
    return [(names[f], s, e, d) for f, s, e, d in zip(*(c.tolist() for c in columns), strict=True)]
