"""What the colours of a comparison say of differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import split, walked_trace
from tracevis3d.analysis.measures import self_times
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.palettes import Paint
from tracevis3d.features.comparison.compare import VIEW
from tracevis3d.features.comparison.findings.disturbances import imports
from tracevis3d.features.comparison.findings.find import find
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.view.difference import kinds
from tracevis3d.features.comparison.view.difference.kinds import FASTER, MOVED, OFTEN, ONLY, SAME, SLOWER
from tracevis3d.features.comparison.view.difference.paint import HUES, DifferencePaint
from tracevis3d.features.comparison.view.parameters import Parameters
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.trace.events import BEGIN, END
from tracevis3d.trace.model import Source, Trace
from tracevis3d.trace.recording import Recording

FRAME = Frame(960, 540)
SEEDS = st.integers(0, 10_000)


def told(a: Trace, b: Trace) -> kinds.Differences:
    return kinds.differences(find(compare(a, b, tau=0.2, cache=False), 20))


def program(*steps: tuple[str, int]) -> Trace:
    """Return a program whose main function calls ``steps`` in turn: names and milliseconds."""
    recording = Recording()
    thread = recording.thread(1, 1)
    now, events = 10, [(BEGIN, "main", 0)]
    for name, lasts in steps:
        events += [(BEGIN, name, now), (END, name, now + lasts * 1_000_000)]
        now += lasts * 1_000_000 + 1000
    events.append((END, "main", now))
    number = {name: recording.function(name) for name in dict.fromkeys(name for _, name, _ in events)}
    what, names, time = zip(*events)
    recording.add_events(
        thread=[thread] * len(what), kind=list(what), function=[number[n] for n in names], time=list(time)
    )
    return recording.finish(Source(path="program.json"), split, lambda event: f"event {event}")


def kinds_by_name(found: kinds.Differences, s: int) -> dict[str, set[int]]:
    trace = found.findings.evidence.comparison.traces[s]
    out: dict[str, set[int]] = {}
    for call, function in enumerate(trace.calls.function.tolist()):
        out.setdefault(trace.functions.label[function], set()).add(int(found.kind[s][call]))
    return out


def test_each_kind_is_told():
    steps = [("read", 40), ("parse", 40), ("old", 40), *[("tick", 2)] * 12, *[("work", 8)] * 10]
    after = [("read", 40), ("parse", 40), ("new", 30), *[("tick", 2)] * 40, *[("work", 20)] * 10]
    found = told(program(*steps), program(*after))
    a, b = (kinds_by_name(found, s) for s in (0, 1))
    assert a["read"] == a["parse"] == b["read"] == {SAME}
    assert a["old"] == b["new"] == {ONLY}
    assert a["tick"] == b["tick"] == {OFTEN}
    assert a["work"] == b["work"] == {SLOWER}
    back = told(program(*after), program(*steps))
    assert kinds_by_name(back, 0)["work"] == {FASTER}


def test_what_comes_in_another_order_has_moved():
    steps = [("one", 60), ("two", 50), ("three", 40)]
    found = told(program(*steps), program(steps[1], steps[2], steps[0]))
    for s in (0, 1):
        assert kinds_by_name(found, s) == {"main": {SAME}, "one": {MOVED}, "two": {SAME}, "three": {SAME}}


def test_a_run_against_itself_has_no_differences():
    trace = walked_trace(5, threads=1, steps=120)
    found = told(trace, trace)
    assert all((kind == SAME).all() for kind in found.kind)
    assert found.share[SAME] == pytest.approx(1.0)


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_kinds_of_paths_are_those_of_the_plain_rules(seed):
    """What differs takes along what is below it, unless that differs on its own account."""
    found = told(walked_trace(seed, threads=1, steps=90), walked_trace(seed + 1, threads=1, steps=90))
    evidence = found.findings.evidence
    paths, size = evidence.paths, len(evidence.paths)
    kind, strength = kinds.of_paths(evidence, found.findings.found)
    alone = {
        s: [n for n in range(size) if evidence.state[n] == kinds.ALONE and paths.calls[s, n]] for s in (0, 1)
    }
    moved = {int(n) for f in found.findings.found if f.kind == "moved" for n in f.nodes}
    deeper = {int(n) for f in found.findings.found if "itself" in f.details for n in f.nodes}
    for n in range(size):
        if evidence.state[n] == kinds.RECOUNTED or n in deeper:
            assert kind[n] == OFTEN
        elif evidence.state[n] == kinds.ALONE and paths.calls[:, n].any():
            s = 0 if paths.calls[0, n] else 1
            there = {int(paths.function[1 - s, m]) for m in alone[1 - s]}
            assert kind[n] == (MOVED if int(paths.function[s, n]) in there or n in moved else ONLY)
        elif kind[n] in (ONLY, MOVED, OFTEN):
            up = int(paths.parent[n])
            assert kind[up] == kind[n]
            assert strength[up] == strength[n]
        up = int(paths.parent[n])
        if kind[n] == OFTEN and up >= 0 and kind[up] == OFTEN:
            assert strength[n] >= np.floor(5 * strength[up] + 1e-9) / 5
        assert 0 <= strength[n] <= 1
        assert (strength[n] == 0) == (kind[n] == SAME)
    total = sum(float(self_times(t.calls).sum()) for t in evidence.comparison.traces)
    for k in (ONLY, MOVED, OFTEN):
        own = sum(
            float(self_times(t.calls)[of == k].sum()) for t, of in zip(evidence.comparison.traces, found.kind)
        )
        assert found.share[k] == pytest.approx(own / max(total, 1))
    assert found.share.sum() == pytest.approx(1.0)


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_a_cluster_is_of_the_kind_that_takes_most_of_its_time(seed):
    from tracevis3d.layout.cut import cut_index

    traces = [walked_trace(seed + k, threads=1, steps=150) for k in (0, 1)]
    found = told(*traces)
    for s, trace in enumerate(traces):
        index = cut_index(trace)
        end = int(trace.calls.end.max())
        cut = index.cut(0, end + 1, 1, None, end / 40)
        kind, _ = found.of(s, cut.calls, cut.clusters)
        own = self_times(trace.calls)
        for c in range(len(cut.clusters)):
            members = index.members(cut.clusters, c)
            inside = range(int(members[0]), int(members[-1] + trace.calls.extent[members[-1]]))
            spent = [
                sum(int(own[i]) for i in inside if found.kind[s][i] == k) for k in range(len(kinds.KINDS))
            ]
            most = max(spent[1:])
            if most >= 0.25 * max(sum(spent), 1):
                assert spent[kind[len(cut.calls) + c]] == most
            else:
                assert kind[len(cut.calls) + c] == SAME


def test_a_stalled_call_is_neither_slower_nor_faster():
    steps = [("read", 60), ("parse", 60), *[("work", 10)] * 10]
    ours, late = ([(name, lasts + (3 * k + s) % 4) for k, (name, lasts) in enumerate(steps)] for s in (0, 1))
    late[5] = ("work", 80)
    for a, b, s in ((ours, late, 1), (late, ours, 0)):
        found = told(program(*a), program(*b))
        (finding,) = [f for f in found.findings.found if f.kind == "stall"]
        (stall,) = finding.details["stalls"]
        assert np.flatnonzero(found.kind[s] != SAME).tolist() == [stall["call"]] == [6]
        assert (found.kind[1 - s] == SAME).all()
        assert found.kind[s][6] == kinds.STALLED
        whole = sum(float(self_times(t.calls).sum()) for t in found.findings.evidence.comparison.traces)
        assert found.share[kinds.STALLED] == pytest.approx(stall["beyond_ns"] / whole)
        assert found.share.sum() == pytest.approx(1.0)
        # Its tube is of the same kind: it takes its time itself.
        assert found.of_tubes(s, np.array([6]))[0][0] == kinds.STALLED


def test_what_differs_more_is_told_more_strongly():
    weight = np.array([0.0001, 0.002, 0.01, 0.03, 0.2])
    whole = kinds.strength_of(weight, np.ones(5))
    assert (np.diff(whole) > 0).all()
    assert (kinds.strength_of(weight, np.full(5, 0.1)) <= 0.2 + 0.8 * 0.1 + 1e-9).all()
    paint = Paint()
    found = told(*[walked_trace(k, threads=1) for k in (1, 2)])
    colors = DifferencePaint(found, paint).of(np.full(5, MOVED, np.uint8), whole)
    shown = paint.palette[colors]
    np.testing.assert_allclose(shown[:, :3], np.tile(HUES[MOVED, :3], (5, 1)))
    assert (np.diff(shown[:, 3]) > 0).all()


@given(SEEDS)
@settings(max_examples=8, deadline=None)
def test_only_what_differs_has_a_hue(seed):
    traces = [walked_trace(seed, threads=1, functions=9), walked_trace(seed, threads=1, functions=6)]
    p = read(Parameters, {"tau": 0.2, "resolution": 0.05})
    drawing = VIEW.draw(traces, p, FRAME, silent)
    found = told(*traces)
    for element in drawing.elements:
        if element.kind == "call":
            kind = found.kind[element.source][element.id]
            hue = drawing.palette[element.color, :3]
            known = np.abs(hue[:, None] - HUES[None, :, :3]).sum(axis=2).argmin(axis=1)
            matched = found.findings.evidence.comparison.matched(element.source)[element.id]
            np.testing.assert_array_equal(known, np.where(matched | (kind != SAME), kind, ONLY))


def test_the_papers_palette_has_the_papers_colours():
    traces = [walked_trace(k, threads=1, steps=80) for k in (3, 4)]
    drawing = VIEW.draw(traces, read(Parameters, {"palette": "paper"}), FRAME, silent)
    titles = [legend.title for legend in drawing.legends]
    assert "Groups" in titles
    assert "Best match" in titles
    assert "What differs" not in titles
    assert read(Parameters, {"color": "groups"}).color == "group"


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_what_moved_matters_by_what_it_costs(seed):
    """Plainly: the time that a function's calls take where one trace alone has them, without imports."""
    traces = [walked_trace(seed + k, threads=1, steps=90, functions=7) for k in (0, 1)]
    findings = find(compare(*traces, tau=0.2, cache=False), 20)
    evidence = findings.evidence
    paths = evidence.paths
    of_finding = {int(n): i for i, f in enumerate(findings.found) if f.kind == "moved" for n in f.nodes}
    for node in range(len(paths)):
        if evidence.state[node] != kinds.ALONE or not paths.calls[:, node].any():
            continue
        side = 0 if paths.calls[0, node] else 1
        piece = of_finding.get(node)
        time = [0.0, 0.0]
        for s in (0, 1):
            for other in range(len(paths)):
                if evidence.state[other] != kinds.ALONE or not paths.calls[s, other]:
                    continue
                same = paths.function[s, other] == paths.function[side, node] and other not in of_finding
                if of_finding.get(other) == piece if piece is not None else same:
                    time[s] += float(paths.self_time[s, evidence.within(np.array([other]))].sum())
        cost = kinds.moving_costs(evidence, findings.found)[node]
        assert cost == pytest.approx(abs(time[1] - evidence.pace * time[0]) / evidence.most_time)


def test_what_moved_and_takes_as_long_is_pale():
    steps = [("one", 60), ("two", 50), ("three", 40)]
    found = told(program(*steps), program(steps[1], steps[2], steps[0]))
    for kind, strength in zip(found.kind, found.strength, strict=True):
        assert strength[kind == MOVED].tolist() == [0.4]


def test_imports_are_the_code_of_modules_below_the_program():
    order = [
        "<module> (main.py:1)", "work", "", "import_module (/lib/importlib/__init__.py:1)",
        "<module> (late.py:1)", "f", "", "", "", "",
    ]  # fmt: skip
    recording, now = Recording(), 0
    thread, open_calls, events = recording.thread(1, 1), [], []
    for name in order:
        now += 10
        if name:
            open_calls.append(recording.function(name))
        events.append((BEGIN if name else END, open_calls[-1] if name else open_calls.pop(), now))
    what, function, time = zip(*events)
    recording.add_events(
        thread=[thread] * len(what), kind=list(what), function=list(function), time=list(time)
    )
    trace = recording.finish(Source(path="program.json"), split, lambda event: f"event {event}")
    evidence = told(trace, trace).findings.evidence
    mask = imports(evidence)[evidence.paths.of_call[0]]
    assert mask.tolist() == [False, False, True, True, True]


def test_a_stage_of_many_short_calls_in_another_order_has_moved():
    """It takes no time to speak of, but it is told as a finding: by how many calls it is."""
    steps = [("one", 9000), ("three", 8000), ("two", 1)]
    found = told(program(*steps), program(steps[2], *steps[:2]))
    assert kinds_by_name(found, 0)["two"] == {MOVED}
