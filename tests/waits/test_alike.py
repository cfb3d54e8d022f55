"""Threads that do the same, against a plain twin."""

from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waits.sync_traces import lines, trace_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.errors import UsageError
from tracevis3d.features.waits.view.parameters import Parameters
from tracevis3d.features.waits.view.rows.alike import SHOW_ALIKE, groups, more_alike, one_of_each
from tracevis3d.features.waits.view.view import VIEW
from tracevis3d.progress import silent
from tracevis3d.views.actions import State

THREADS = ("pool-1", "pool-2", "pool-10", "io", "io2", "")


@st.composite
def programs(draw):
    """Return a trace whose threads call some of three functions, one within another."""
    rows = []
    for thread in draw(st.sets(st.sampled_from(THREADS), min_size=1)):
        for i in range(draw(st.integers(1, 3))):
            rows.append((thread or "0", 100 * i, 100 * i + 90, draw(st.sampled_from("fg"))))
            if draw(st.booleans()):
                rows.append((thread or "0", 100 * i + 10, 100 * i + 20, "h"))
    trace = trace_of(lines(rows))
    processes = tuple(draw(st.sampled_from("pq")) for _ in range(len(trace.threads)))
    return replace(trace, threads=replace(trace.threads, process=processes))


def plain_key(trace, thread):
    """Return what two threads of a group have in common."""
    calls = trace.calls
    first = {int(f) for f, t, d in zip(calls.function, calls.thread, calls.depth) if t == thread and d == 1}
    name = "".join(c for c in trace.threads.name[thread] if not c.isdigit())
    return trace.threads.process[thread], name, frozenset(first)


@given(programs(), st.data())
def test_groups_are_those_of_the_plain_twin(trace, data) -> None:
    keys = [plain_key(trace, t) for t in range(len(trace.threads))]
    group = groups(trace)
    order = list(dict.fromkeys(keys))
    assert group.tolist() == [order.index(key) for key in keys]
    weight = np.array([data.draw(st.integers(0, 3)) for _ in keys], np.int64)
    members = defaultdict(list)
    for t, key in enumerate(keys):
        members[key].append(t)
    heaviest = {max(mine, key=lambda t: (weight[t], -t)) for mine in members.values()}
    stands = one_of_each(group, weight)
    assert set(np.flatnonzero(stands).tolist()) == {t for t in heaviest if weight[t]}
    shown = np.array(data.draw(st.permutations(range(len(keys)))), np.int64)
    shown = shown[: data.draw(st.integers(1, len(keys)))]
    more = more_alike(group, weight, shown).tolist()
    for mine in members.values():
        here = [t for t in shown.tolist() if t in mine]
        if here:
            hidden = sum(1 for t in mine if t not in here and weight[t])
            assert sum(more[shown.tolist().index(t)] for t in here) == hidden
            assert sum(more[shown.tolist().index(t)] > 0 for t in here) == (hidden > 0)


def pool(workers):
    """Return a trace of a pool's workers, which do more each, and of two other threads."""
    rows = [(f"worker-{i}", 0, 500 + i, "job") for i in range(workers)]
    return trace_of(lines([*rows, ("main", 0, 300, "main"), ("log", 0, 30, "write")]))


def names_of(trace, **settings):
    drawing = VIEW.draw([trace], Parameters(**settings), Frame(), silent)
    return [text for group in drawing.labels if group.kind == "thread" for text in group.text], drawing


def test_of_many_threads_one_of_each_sort_is_shown() -> None:
    trace = pool(40)
    names, drawing = names_of(trace)
    assert {"main", "log"} <= set(names)
    workers = [name for name in names if name.startswith("worker")]
    assert 1 < len(workers) < 40
    more = 40 - len(workers)
    assert [name for name in names if "alike" in name] == [f"worker-39 + {more} alike"]
    assert any(f"{more} more threads have calls or waits here, all of them like" in n for n in drawing.notes)
    assert len(names_of(trace, threads="all")[0]) == 42
    assert not any("alike" in name for name in names_of(pool(3))[0])


def test_those_that_do_the_same_can_be_shown() -> None:
    trace = pool(40)
    jobs = np.flatnonzero(trace.calls.end >= 500)
    state = State(SimpleNamespace(name="threads", parameters=Parameters), (trace,), {}, call=int(jobs[0]))
    change = SHOW_ALIKE.run(state)
    names, _ = names_of(trace, **change.parameters)
    assert sorted(names) == sorted(f"worker-{i}" for i in range(40))
    alone = int(np.flatnonzero(trace.calls.end == 300)[0])
    with pytest.raises(UsageError, match="No other thread"):
        SHOW_ALIKE.run(replace(state, call=alone))
