"""What phases are called: against a plain twin, and on a recording."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.interactions.test_twin_patterns import programs
from tests.support.walked_traces import walked_trace
from tracevis3d.features.interactions.hierarchy import element_hierarchy
from tracevis3d.features.interactions.interactions import interactions
from tracevis3d.features.interactions.phase_names import names_of_kinds, phase_times
from tracevis3d.features.interactions.phases import Phases, find_phases


def plain_names(trace, found, phases):
    """Name each kind by the function that takes most of its time, and least of others'."""
    calls, kinds = trace.calls, phases.kind.tolist()
    time_of = [*found.time.tolist(), int(calls.end.max())]
    borders = [time_of[edge] for edge in phases.edge.tolist()]
    borders[-1] = max(borders[-1], borders[-2] + 1)
    time, lasted = Counter(), Counter()
    for i, kind in enumerate(kinds):
        lasted[kind] += borders[i + 1] - borders[i]
        for call in range(len(calls)):
            up, f = int(calls.parent[call]), int(calls.function[call])
            if up >= 0 and int(calls.function[up]) == f:
                continue
            both = min(int(calls.end[call]), borders[i + 1]) - max(int(calls.start[call]), borders[i])
            time[f, kind] += max(both, 0)
    typical = {}
    for f, label in enumerate(trace.functions.label):
        every = sum(time[f, kind] for kind in set(kinds))
        for kind in set(kinds):
            covers, only = min(time[f, kind] / max(lasted[kind], 1), 1), time[f, kind] / max(every, 1)
            named = not label.split(".")[-1].startswith("<")
            typical[f, kind] = 2 * covers * only / max(covers + only, 1e-12) if named else 0.0
    names = {}
    best = {kind: max(typical[f, kind] for f in range(len(trace.functions))) for kind in set(kinds)}
    for kind in sorted(best, key=lambda kind: (-best[kind], kind)):
        free = [f for f in range(len(trace.functions)) if trace.functions.label[f] not in names.values()]
        most = max((typical[f, kind] for f in free), default=0.0)
        near = [f for f in free if typical[f, kind] >= 0.95 * most]
        chosen = max(near, key=lambda f: (time[f, kind], -f)) if most >= 0.2 else -1
        names[kind] = trace.functions.label[chosen] if chosen >= 0 else ""
    return [names[kind] for kind in range(phases.kinds)]


@given(programs())
@settings(max_examples=25, deadline=None)
def test_names_are_those_of_the_plain_twin(trace):
    found = interactions(trace, element_hierarchy(trace, "function", "auto"))
    phases = find_phases(found)
    assert names_of_kinds(trace, found, phases) == plain_names(trace, found, phases)


@given(
    st.integers(0, 2**32),
    st.integers(1, 3),
    st.sets(st.integers(0, 1000), min_size=2, max_size=6),
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
)
# The second clearest kind has no name of its own, the one after it has.
@example(465, 3, {1, 7, 19, 24, 30, 31}, [0, 1, 2, 3, 4])
@settings(max_examples=60, deadline=None)
def test_names_of_any_phases_of_threads_that_run_at_once_are_those_of_the_plain_twin(
    seed, threads, edges, kinds
):
    trace = walked_trace(seed, steps=40, threads=threads, functions=5, modules=2, longest=9)
    found = interactions(trace, element_hierarchy(trace, "function", "auto"))
    edge = np.array(sorted({edge % (len(found) + 1) for edge in edges}), np.int64)
    if len(edge) < 2:
        return
    _, kind = np.unique(kinds[: len(edge) - 1], return_inverse=True)
    phases = Phases(edge, kind.astype(np.int32), 0.5)
    assert names_of_kinds(trace, found, phases) == plain_names(trace, found, phases)


def test_without_phases_there_are_no_names():
    trace = walked_trace(0, steps=4, threads=1)
    found = interactions(trace, element_hierarchy(trace, "function", "auto"))
    assert names_of_kinds(trace, found, Phases(np.zeros(0, np.int64), np.zeros(0, np.int32), 0.0)) == []
    times = phase_times(walked_trace(0, steps=1, threads=1))
    assert (len(times.start), len(times.end), times.does) == (0, 0, ())


@given(programs())
@settings(max_examples=15, deadline=None)
def test_a_phase_lasts_until_the_next_one_begins(trace):
    found = interactions(trace, element_hierarchy(trace, "auto", "auto"))
    phases, times = find_phases(found), phase_times(trace)
    names = plain_names(trace, found, phases) if len(phases) else []
    begins = [int(found.time[edge]) for edge in phases.edge.tolist()[:-1]]
    assert times.start.tolist() == begins
    assert times.end.tolist() == [*begins[1:], *[int(trace.calls.end.max())] * bool(begins)]
    assert list(times.does) == [names[kind] for kind in phases.kind.tolist()]


def test_a_recording_says_what_it_does(recorded):
    import tracevis3d as tv

    trace = tv.load(recorded / "vt_markdown_repeat1.json.gz")
    found = interactions(trace, element_hierarchy(trace, "auto", "auto"))
    phases = find_phases(found)
    names = names_of_kinds(trace, found, phases)
    assert len(set(names)) == len(names) == phases.kinds
    said = [names[kind] for kind in phases.kind.tolist()]
    wanted = ["parse_options", "BlockParser.parseBlocks", "PrettifyTreeprocessor.run", "to_xhtml_string"]
    assert [name for name in said if name in wanted] == wanted
