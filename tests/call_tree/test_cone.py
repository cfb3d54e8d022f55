"""The cone tree: what is shown, where it stands, and what it says; checked on the Drawing."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.comparison.test_findings import traced
from tests.filters.test_filters import trace_of
from tests.support import walked_traces
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Drawing, Labels, Lines, Marks, Tubes
from tracevis3d.errors import UsageError
from tracevis3d.features.call_tree.cone.layout import compose
from tracevis3d.features.call_tree.cone.parameters import Parameters
from tracevis3d.features.call_tree.cone.sizes import LIGHT, NODE, light_classes, own_radius
from tracevis3d.features.call_tree.cone.view import VIEW
from tracevis3d.parameters import read
from tracevis3d.progress import silent


def drawn(trace, **values) -> Drawing:
    return VIEW.draw((trace,), read(Parameters, values), Frame(), silent)


def named(drawing: Drawing, kind: str) -> list:
    return [element for element in drawing.elements if element.kind == kind]


@given(st.integers(0, 2**32), st.integers(1, 300), st.sampled_from(("shown", "all", "levels")), st.booleans())
@example(2**32, 2, "shown", False)
@settings(deadline=None, max_examples=40)
def test_every_place_of_the_tree_is_there_once(seed, steps, room, recline) -> None:
    trace = walked_traces.walked_trace(seed, steps=steps, threads=2, functions=5)
    if not len(trace.calls):
        return
    p = read(Parameters, {"budget": 5000, "room": room, "recline": recline, "threads": "all"})
    picture = compose(trace, p)
    calls = trace.calls
    # Each node is a place: its calls are the iterations of one callee in a row.
    nodes = picture.nodes
    assert not picture.closed.any()
    assert int(picture.iterations[nodes.depth == 2].sum()) == int(np.count_nonzero(calls.parent < 0))
    for i in range(len(picture)):
        call, above = int(picture.call[i]), int(nodes.parent[i])
        if above < 0:
            assert call == -1
            continue
        assert calls.depth[call] == nodes.depth[i] - 1
        assert calls.extent[call] == picture.below[i]
        parent_call = int(picture.call[above])
        assert int(calls.parent[call]) == parent_call
        same = picture.graph.subtrees.of_call
        assert same[call] == nodes.node[i]
        siblings = [
            j for j in np.flatnonzero(calls.parent == parent_call) if calls.thread[j] == calls.thread[call]
        ]
        run = [j for j in siblings if call <= j < call + picture.iterations[i] * picture.below[i]]
        assert {int(same[j]) for j in run} == {int(nodes.node[i])}
        assert len(run) == picture.iterations[i]
    # Nothing overlaps in the plan: nodes of one depth stand apart, whatever tree they are of.
    plan = picture.center[:, 1:] if recline else picture.center[:, :2]
    small = np.minimum(picture.radius, picture.disc)
    for depth in range(2, int(nodes.depth.max()) + 1):
        here = np.flatnonzero(nodes.depth == depth)
        apart = np.hypot(*(plan[here, None] - plan[here]).transpose(2, 0, 1))
        apart -= small[here, None] + small[here]
        apart[np.arange(len(here)), np.arange(len(here))] = 0
        assert apart.min() > -1e-6
    # Callees are further along than their callers, all by the height of the caller's cone.
    axis, sign = (0, 1) if recline else (2, -1)
    inner = np.flatnonzero(nodes.parent >= 0)
    drop = sign * (picture.center[inner, axis] - picture.center[nodes.parent[inner], axis])
    assert drop == pytest.approx(picture.foot[nodes.parent[inner]])


@cache
def loaded(path):
    """A trace, loaded once."""
    return tv.load(path)


PROGRAM = trace_of("main( init( read() ) " + "work( step() step() step() log() ) " * 3 + "done( log() ) )")


def test_what_is_drawn() -> None:
    drawing = drawn(PROGRAM)
    (balls,) = named(drawing, "node")
    assert isinstance(balls, Marks)
    assert balls.shape == "sphere"
    (links,) = named(drawing, "link")
    assert isinstance(links, Lines)
    assert len(links) == len(balls) - 1
    (path,) = named(drawing, "path")
    assert isinstance(path, Tubes)
    groups = [group for group in drawing.labels if group.kind == "function"]
    assert all(isinstance(group, Labels) for group in groups)
    texts = {text for group in groups for text in group.text}
    assert {"main", "work \u00d73", "step \u00d73"} <= texts
    # The three calls of work are one node of three rings: 1 + log10(3).
    (stacks,) = named(drawing, "repetition")
    assert stacks.shape == "disc"
    assert len(stacks) == 2
    meaning = drawing.meaning["node"]
    (source, calls), = meaning.calls  # fmt: skip
    assert source == 0
    label = [PROGRAM.functions.label[PROGRAM.calls.function[c]] if c >= 0 else "" for c in calls.tolist()]
    repeats = dict(meaning.values)["Repeats in a row"]
    assert repeats[label.index("work")] == 3
    # A node's colour is its legend's.
    kinds = {entry.text.split("  ")[0]: entry.color for entry in drawing.legends[0].entries}
    colors = dict(zip(balls.id.tolist(), balls.color.tolist(), strict=True))
    assert colors[label.index("work")] == kinds["work"]


def test_a_budget_closes_what_matters_least() -> None:
    trace = walked_traces.walked_trace(5, steps=4000, threads=1, functions=9)
    drawing = drawn(trace, budget=60)
    (closed,) = named(drawing, "closed subtree")
    assert closed.look == "cluster"
    shown = compose(trace, read(Parameters, {"budget": 60}))
    assert len(shown) <= 60
    assert drawing.counts["closed_subtrees"] == len(closed) == int(np.count_nonzero(shown.closed))
    assert any("+" in text for group in drawing.labels for text in group.text)
    # What is shown and what is closed are all the calls there are, repeats included.
    nodes = shown.nodes
    times = np.ones(len(shown), np.int64)
    for i in range(1, len(shown)):
        times[i] = shown.iterations[i] * times[nodes.parent[i]]
    below = np.where(shown.closed, shown.below, 1)
    assert int((times * below)[nodes.depth > 1].sum()) == len(trace.calls)


def test_the_focus_comes_to_the_front() -> None:
    trace = walked_traces.walked_trace(7, steps=3000, threads=2, functions=9)
    call = int(np.argmax(trace.calls.depth))
    picture = compose(
        trace, read(Parameters, {"budget": 1500, "focus": str(call), "near": 20.0, "threads": "all"})
    )
    assert len(picture.focus) == trace.calls.depth[call] + 1
    end = int(picture.focus[-1])
    assert picture.graph.subtrees.of_call[call] == picture.nodes.node[end]
    for node, callee in zip(picture.focus[:-1], picture.focus[1:], strict=True):
        away = picture.center[callee] - picture.center[node]
        assert away[0] == pytest.approx(0, abs=1e-6)
        assert away[1] <= 1e-9  # -y is the front
    half = compose(trace, read(Parameters, {"budget": 1500, "focus": str(call), "near": 20.0, "turn": 0.0,
                                            "threads": "all"}))  # fmt: skip
    assert not np.allclose(half.center, picture.center)
    by_name = compose(PROGRAM, read(Parameters, {"focus": "read"}))
    assert [PROGRAM.functions.label[PROGRAM.calls.function[c]] for c in by_name.call[by_name.focus[1:]]] == [
        "main", "init", "read",
    ]  # fmt: skip
    for text, reason in {"zzz": "no function", "99999": "no such call"}.items():
        with pytest.raises(UsageError, match=reason):
            compose(PROGRAM, read(Parameters, {"focus": text}))


@pytest.mark.parametrize("layout", ["cone", "hyperbolic"])
def test_what_faces_the_viewer_comes_to_the_front_on_a_straight_way(layout) -> None:
    trace = walked_traces.walked_trace(7, steps=3000, threads=1, functions=9)
    known = compose(trace, read(Parameters, {"budget": 400, "layout": layout}))
    depth = known.nodes.depth
    a, b = (int(known.call[np.flatnonzero(depth == d)[k]]) for d, k in ((4, -1), (5, 3)))

    def faced(text: str):
        return compose(trace, read(Parameters, {"budget": 400, "layout": layout, "facing": text}))

    at_a, at_b = faced(str(a)), faced(str(b))
    # The same nodes, whatever faces the viewer; only their places change, bit by bit.
    for one in (at_a, at_b):
        assert one.call.tolist() == known.call.tolist()
        assert one.nodes.parent.tolist() == known.nodes.parent.tolist()
    for text, same in ((f"{a}~{b}~0", at_a), (f"{a}~{b}~1", at_b), (f"{b}~{a}~0.3~{b}~1", at_b)):
        assert faced(text).center == pytest.approx(same.center, abs=1e-5)
    steps = [faced(f"{a}~{b}~{k / 20}").center for k in range(21)]
    moved = np.array([np.abs(two - one).max() for one, two in pairwise(steps)])
    whole = np.abs(at_b.center - at_a.center).max()
    assert 0 < moved.max() < 0.3 * whole + 1e-6
    end = int(np.flatnonzero(known.call == b)[0])
    if layout == "hyperbolic":
        assert at_b.center[end] == pytest.approx(at_b.balls[0, :3], abs=1e-6)
        return
    while (above := int(known.nodes.parent[end])) >= 0:
        away = at_b.center[end] - at_b.center[above]
        assert away[0] == pytest.approx(0, abs=1e-6)
        assert away[1] <= 1e-9
        end = above


def test_what_faces_the_viewer_is_said_in_calls() -> None:
    # A call that is not shown is faced as far as its callers are.
    deep = compose(PROGRAM, read(Parameters, {"facing": "read", "budget": 10}))
    assert np.isfinite(deep.center).all()
    between = "a place between two calls"
    for text, reason in {"zzz": "facing=zzz: no function", "1~2": between, "1~2~x": between,
                         "1~2~3": between}.items():  # fmt: skip
        with pytest.raises(UsageError, match=reason):
            compose(PROGRAM, read(Parameters, {"facing": text}))
    # With a filter, calls keep their numbers.
    last = int(np.flatnonzero(PROGRAM.calls.function == PROGRAM.calls.function[-1])[-1])
    drawn(PROGRAM, filters="name(pattern=step)", focus=str(last))
    step = PROGRAM.functions.label.index("step") if "step" in list(PROGRAM.functions.label) else 0
    hidden = int(np.flatnonzero(PROGRAM.calls.function == step)[0])
    with pytest.raises(UsageError, match="a filter hides this call"):
        drawn(PROGRAM, filters="name(pattern=step)", focus=str(hidden))


def test_flat_is_the_disc_tree_seen_from_above() -> None:
    drawing = drawn(PROGRAM, opening=0)
    assert drawing.camera.projection == "orthographic"
    assert drawing.camera.direction == pytest.approx((0, 0, 1))
    (balls,) = named(drawing, "node")
    assert balls.shape == "disc"
    assert np.ptp(balls.point[:, 2]) < 1e-6
    whole = drawn(PROGRAM)
    (open_balls,) = named(whole, "node")
    # The same plan, with or without height.
    assert balls.point[:, :2] == pytest.approx(open_balls.point[:, :2], abs=1e-5)


@pytest.mark.parametrize("focus", ["", "2000"])
def test_the_flat_twin_is_the_cone_tree_seen_from_above_exactly(focus) -> None:
    trace = walked_traces.walked_trace(13, steps=4000, threads=2, functions=9)
    values = {"threads": "all", "budget": 400, "focus": focus, "room": "shown"}
    solid, flat = drawn(trace, **values), drawn(trace, **values, opening=0)
    for kind in ("node", "closed subtree"):
        # Linking parents are a group of their own.
        for high, low in zip(named(solid, kind), named(flat, kind), strict=True):
            assert high.look == low.look
            assert np.array_equal(high.id, low.id)
            assert np.array_equal(high.color, low.color)
            assert np.array_equal(high.point[:, :2], low.point[:, :2])
            assert np.ptp(low.point[:, 2]) == 0.0
    ((high,), (low,)) = (named(one, "link") for one in (solid, flat))
    assert np.array_equal(high.id, low.id)
    assert np.array_equal(high.first, low.first)
    assert np.array_equal(high.point[:, :2], low.point[:, :2])
    # Each disc of the plan is that of all below: seen from above, its cone's ring lies in it.
    high, low = (compose(trace, read(Parameters, {**values, "opening": o})) for o in (1.0, 0.0))
    assert np.array_equal(high.disc, low.disc)
    assert (high.ring <= low.disc * (1 + 1e-9)).all()
    assert np.array_equal(solid.palette, flat.palette)


def spheres_and_cones(drawing: Drawing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is drawn of nodes: middle (n, 3) and half extents (n, 3) of each solid, and whose it is (n,)."""
    middle, half, node = [], [], []
    for marks in named(drawing, "node"):
        size = marks.size if marks.size.ndim == 2 else np.repeat(marks.size[:, None], 3, axis=1)
        middle.append(marks.point)
        half.append(size / 2)
        node.append(marks.id)
    for marks in named(drawing, "closed subtree"):
        # A shell hangs from its point.
        along = {"x": 0, "z": 2}[marks.along]
        point = marks.point.copy()
        if marks.shape == "shell":
            point[:, along] += (0.5 if along == 0 else -0.5) * marks.size[:, along]
        middle.append(point)
        half.append(marks.size / 2)
        node.append(marks.id)
    return tuple(map(np.concatenate, (middle, half, node)))  # type: ignore[return-value]


WEKA, PYLINT, LUA = "weka_OneR_iris_0.4M.tsv.gz", "vt_pylint_0.9M.json.gz", "uftrace_lua.json.gz"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (WEKA, {}),
        (PYLINT, {}),
        (LUA, {}),
        (LUA, {"recline": True, "height": "duration"}),
        (WEKA, {"opening": 0.0}),
        (LUA, {"layout": "bubble"}),
        (LUA, {"layout": "bubble", "opening": 0.0}),
        (WEKA, {"budget": 600, "room": "all"}),
    ],
)
def test_nothing_drawn_overlaps(name, values, recorded) -> None:
    trace = loaded(recorded / name)
    drawing = drawn(trace, **values)
    picture = compose(trace, read(Parameters, values))
    middle, half, node = spheres_and_cones(drawing)
    axes = [1, 2, 0] if values.get("recline") else [0, 1, 2]
    plan, along = axes[:2], axes[2]
    # In the plan: solids of one level stand apart, and of different levels where none is below the other.
    for level in range(1, int(picture.nodes.depth.max()) + 1):
        here = np.flatnonzero(picture.nodes.depth[node] == level)
        apart = np.hypot(*(middle[here][:, None, plan] - middle[here][:, plan]).transpose(2, 0, 1))
        reach = half[here][:, plan].max(axis=1)
        over = apart - reach[:, None] - reach
        same = node[here][:, None] == node[here]
        assert over[~same].min(initial=0.0) > -1e-4
    # Along the axis: a caller's solids end before its callees' begin, so nothing at all overlaps in space.
    if "layout" in values:
        # Bubbles are apart at all levels.
        apart = np.hypot(*(middle[:, None, plan] - middle[:, plan]).transpose(2, 0, 1))
        reach = half[:, plan].max(axis=1)
        same = node[:, None] == node
        assert (apart - reach[:, None] - reach)[~same].min() > -1e-4
    elif drawing.camera.projection == "perspective":
        inner = np.flatnonzero(picture.nodes.parent >= 0)
        ball = np.full(len(picture), -1)
        balls = np.concatenate([marks.id for marks in named(drawing, "node")])
        ball[balls] = np.arange(len(balls))
        gap = np.abs(middle[ball[inner], along] - middle[ball[picture.nodes.parent[inner]], along])
        touching = half[ball[inner], along] + half[ball[picture.nodes.parent[inner]], along]
        assert (gap - touching).min() > -1e-4


def test_linking_parents_and_what_is_partly_shown() -> None:
    trace = walked_traces.walked_trace(7, steps=3000, threads=1, functions=9)
    call = int(np.argmax(trace.calls.depth))
    drawing = drawn(trace, focus=str(call), near=6.0, budget=20, path="focus")
    picture = compose(trace, read(Parameters, {"focus": str(call), "near": 6.0, "budget": 20}))
    # The way is there beside the budget.
    assert len(picture.focus) == trace.calls.depth[call] + 1
    assert len(picture) <= 20 + len(picture.focus)
    linking = np.flatnonzero(picture.linking)
    assert len(linking)
    degree = np.diff(picture.forest.first)[picture.nodes.node]
    shown = np.bincount(picture.nodes.parent[1:], minlength=len(picture))
    assert (picture.missing[picture.nodes.opened > 0] == (degree - shown)[picture.nodes.opened > 0]).all()
    (pale,) = (marks for marks in named(drawing, "node") if marks.look == "ghost")
    assert set(linking.tolist()) == set(pale.id.tolist())
    (dashes,) = named(drawing, "partly shown")
    assert set(dashes.id.tolist()) == set(np.flatnonzero(picture.missing > 0).tolist())
    texts = [text for group in drawing.labels for text in group.text]
    assert any("~" in text for text in texts)
    words = [entry.text for legend in drawing.legends for entry in legend.entries]
    assert any("dashed ring" in text for text in words)
    assert any("leads to the focus" in text for text in words)
    # Callees that a filter hides are counted, too: main has four of init, work and done, log not among them.
    hidden = drawn(PROGRAM, filters="name(pattern=log)")
    (dashes,) = named(hidden, "partly shown")
    values = dict(hidden.meaning["node"].values)
    ((_, calls),) = hidden.meaning["node"].calls
    names = [PROGRAM.functions.label[PROGRAM.calls.function[calls[i]]] for i in np.unique(dashes.id)]
    assert names == ["work"]
    assert values["Repeats in a row"][dashes.id[0]] == 3


def test_names_cover_neither_each_other_nor_what_is_drawn() -> None:
    from tracevis3d.drawing.projection import fit
    from tracevis3d.features.call_tree.cone.camera import SHARE

    trace = walked_traces.walked_trace(5, steps=4000, threads=1, functions=9)
    frame = Frame()
    drawing = drawn(trace, budget=200)
    seen = fit(drawing.camera, frame, SHARE)
    (balls,) = named(drawing, "node")
    at, unit = seen.pixels(balls.point), seen.pixels(balls.point + seen.right * 0.01)
    radius = balls.size / 2 * np.hypot(*(unit - at).T) / 0.01
    boxes = []
    for group in drawing.labels:
        pixel = seen.pixels(group.anchor)
        tall = np.hypot(*(seen.pixels(group.anchor + seen.up * group.height[:, None]) - pixel).T)
        for (x, y), text, t in zip(pixel.tolist(), group.text, tall.tolist(), strict=True):
            wide = 0.45 * len(text) * t
            left = x - (group.align + 1) / 2 * wide
            boxes.append((left, y - 0.3 * t, left + wide, y + 0.3 * t))
    assert len(boxes) > 10
    for k, (x0, y0, x1, y1) in enumerate(boxes):
        for u0, v0, u1, v1 in boxes[:k]:
            assert x1 <= u0 or u1 <= x0 or y1 <= v0 or v1 <= y0
        inside = (at[:, 0] > x0) & (at[:, 0] < x1) & (at[:, 1] > y0) & (at[:, 1] < y1)
        # Of large balls none has its middle under a name.
        assert not (inside & (radius > 6)).any()


def test_filters_hide_fade_and_sink() -> None:
    hidden = drawn(PROGRAM, filters="name(pattern=log)")
    assert hidden.counts["hidden_calls"] == 4
    texts = {text for group in hidden.labels for text in group.text}
    assert not any("log" in text for text in texts)
    faded = drawn(PROGRAM, filters="name(pattern=work, effect=fade)")
    pale = [marks for marks in named(faded, "node") if marks.look == "ghost"]
    assert len(pale) == 1
    assert len(pale[0]) == 3  # work, step, log: one node each
    assert faded.counts["faded_calls"] == 15
    sunk = drawn(PROGRAM, filters="name(pattern=work, effect=sink)")
    before, after = ({int(i): z for m in named(d, "node") for i, z in zip(m.id, m.point[:, 2], strict=True)}
                     for d in (drawn(PROGRAM), sunk))  # fmt: skip
    assert sum(after[i] < before[i] - 1e-6 for i in before) == 3
    # In a film it sinks from frame to frame.
    start, halfway = ({int(i): z for m in named(d, "node") for i, z in zip(m.id, m.point[:, 2], strict=True)}
                      for d in (drawn(PROGRAM, filters="name(pattern=work, effect=sink)", sinking=share)
                                for share in (0.0, 0.5)))  # fmt: skip
    assert start == before
    assert all(halfway[i] == pytest.approx((before[i] + after[i]) / 2, abs=1e-4) for i in before)
    with pytest.raises(UsageError, match="no filter"):
        drawn(PROGRAM, filters="nothing")


@pytest.mark.parametrize("what", ["calls", "duration", "self", "occurrences", "none"])
def test_sizes_and_heights_say_what_they_say(what) -> None:
    trace = walked_traces.walked_trace(3, steps=500, threads=1, functions=6)
    picture = compose(trace, read(Parameters, {"size": what, "height": what, "opening": 1.0}))
    calls, known = trace.calls, picture.call >= 0
    if what == "none":
        return
    subtrees = picture.graph.subtrees
    totals = {
        "calls": calls.extent.astype(float),
        "duration": (calls.end - calls.start).astype(float),
        "self": None,
        "occurrences": subtrees.occurrences[subtrees.of_call].astype(float),
    }[what]
    if totals is None:
        totals = (calls.end - calls.start).astype(float)
        for i in range(len(calls)):
            if calls.parent[i] >= 0:
                totals[calls.parent[i]] -= calls.end[i] - calls.start[i]
    mean = np.bincount(subtrees.of_call, totals) / np.bincount(subtrees.of_call)
    value = mean[picture.nodes.node[known]]
    inner = picture.nodes.parent[known]
    drop = (picture.center[inner, 2] - picture.center[known, 2]) / picture.foot[inner]
    order = np.argsort(value, kind="stable")
    assert (np.diff(drop[order]) > -1e-6).all()
    assert drop.max() == pytest.approx(1.0)


@pytest.mark.parametrize("interest", ["calls", "duration"])
@given(seed=st.integers(0, 2**20), threads=st.integers(1, 3), budget=st.integers(10, 300))
@settings(deadline=None, max_examples=15)
def test_a_place_carries_all_the_calls_that_it_stands_for(interest, seed, threads, budget) -> None:
    trace = walked_traces.walked_trace(seed, steps=300, threads=threads, functions=4)
    picture = compose(trace, read(Parameters, {"threads": "all", "interest": interest, "budget": budget}))
    calls, nodes, forest = trace.calls, picture.nodes, picture.forest
    below = [np.flatnonzero(calls.parent == i) for i in range(len(calls))]
    of_class = picture.graph.subtrees.of_call
    mine: list[list[int]] = []
    for node in range(len(nodes)):
        if nodes.depth[node] == 1:
            mine.append([-1 - int(picture.threads[node])])
            continue
        found = []
        for caller in mine[nodes.parent[node]]:
            if caller < 0:
                callees = np.flatnonzero((calls.thread == -1 - caller) & (calls.depth == 1))
            else:
                callees = below[caller]
            # Runs of equal callees are the edges.
            runs = np.split(callees, np.flatnonzero(np.diff(of_class[callees])) + 1)
            found += runs[nodes.edge[node] - forest.first[nodes.node[nodes.parent[node]]]].tolist()
        mine.append(found)
    value = calls.extent if interest == "calls" else calls.end - calls.start
    for node in range(len(nodes)):
        if nodes.depth[node] == 1:
            wanted = value[(calls.thread == picture.threads[node]) & (calls.depth == 1)].sum()
        else:
            wanted = value[mine[node]].sum()
            assert picture.call[node] == mine[node][0]
        assert picture.weights.place[node] == pytest.approx(wanted)
    # What is seen of a ball, beyond the smallest, is as much as its share of the busiest thread.
    own = own_radius(trace, picture.graph, nodes, picture.weights, read(Parameters, {}))
    share = picture.weights.place / picture.weights.place[nodes.depth == 1].max()
    assert ((own - NODE[0]) / (NODE[1] - NODE[0])) ** 2 == pytest.approx(share)


@given(seed=st.integers(0, 2**20), interest=st.sampled_from(("calls", "duration")))
@settings(deadline=None, max_examples=15)
def test_what_has_next_to_nothing_below_it_is_opened_last(seed, interest) -> None:
    trace = walked_traces.walked_trace(seed, steps=2000, threads=1, functions=5)
    values = read(Parameters, {"threads": "all", "interest": interest, "budget": 60})
    picture = compose(trace, values)
    calls, of_class = trace.calls, picture.graph.subtrees.of_call
    value = calls.extent if interest == "calls" else calls.end - calls.start
    below = [0.0] * len(picture.graph)
    for call in range(len(calls)):
        below[of_class[call]] += float(value[calls.parent == call].sum())
    every = float(value[calls.depth == 1].sum())
    light = np.array([one < LIGHT * every for one in below] + [False])
    assert np.array_equal(light_classes(trace, picture.graph, picture.threads, values), light)
    # No light one is open that nobody asked for, while one is closed that has something below it and fits.
    nodes, degree = picture.nodes, np.diff(picture.forest.first)
    if (light[nodes.node] & (nodes.opened == 1)).any():
        left = values.budget - len(picture)
        closed = (nodes.opened == 0) & ~light[nodes.node] & (degree[nodes.node] > 0)
        assert (degree[nodes.node[closed]] > left).all()


def test_bubbles_are_flat_and_their_lines_bend_once() -> None:
    trace = walked_traces.walked_trace(11, steps=900, threads=2, functions=7)
    values = {"layout": "bubble", "threads": "all", "budget": 200, "opening": 0.0}
    picture = compose(trace, read(Parameters, values))
    assert (picture.center[:, 2] == 0).all()
    assert picture.bend.shape == picture.center.shape
    # Each bubble lies in its caller's, and in the picture.
    inner = np.flatnonzero(picture.nodes.parent >= 0)
    above = picture.nodes.parent[inner]
    apart = np.hypot(*(picture.around[inner] - picture.around[above])[:, :2].T)
    assert (apart + picture.disc[inner] <= picture.disc[above] + 1e-6).all()
    drawing = drawn(trace, **values)
    assert drawing.camera.projection == "orthographic"
    (links,) = named(drawing, "link")
    assert (np.diff(links.first) == 3).all()
    (bubbles,) = named(drawing, "ring")
    opened = np.flatnonzero((picture.nodes.opened == 1) & np.isin(np.arange(len(picture)), above))
    assert set(bubbles.id.tolist()) == set(opened.tolist())
    (path,) = named(drawing, "path")
    (balls,) = named(drawing, "node")
    assert path.point[:, 2].min() > balls.point[:, 2].max()
    assert any("bubble" in entry.text for legend in drawing.legends for entry in legend.entries)


def test_in_a_ball_the_focus_moves_to_the_middle() -> None:
    trace = walked_traces.walked_trace(7, steps=3000, threads=2, functions=9)
    call = int(np.argmax(trace.calls.depth))
    values = {"layout": "hyperbolic", "focus": str(call), "near": 20.0, "threads": "all", "budget": 800}
    picture = compose(trace, read(Parameters, values))
    assert len(picture.balls) == 2
    end = int(picture.focus[-1])
    on = picture.balls[np.argmin(np.linalg.norm(picture.balls[:, :3] - picture.center[end], axis=1))]
    assert picture.center[end] == pytest.approx(on[:3], abs=1e-9)
    # Everything is in one of the balls, and the balls are apart.
    away = np.linalg.norm(picture.center[:, None] - picture.balls[:, :3], axis=2)
    assert (away.min(axis=1) <= on[3] * (1 + 1e-9)).all()
    assert np.linalg.norm(picture.balls[0, :3] - picture.balls[1, :3]) >= 2 * on[3]
    # The nearer to the rim, the smaller.
    here = np.flatnonzero(np.isclose(away[:, 0], away.min(axis=1)))
    shrunk = picture.radius[here] / np.sqrt(np.maximum(1 - (away[here, 0] / on[3]) ** 2, 0))
    assert np.ptp(shrunk[away[here, 0] < 0.99 * on[3]]) / shrunk.max() < 0.8
    # On the way there it stands between where it was and the middle.
    start, half = (compose(trace, read(Parameters, {**values, "turn": turn})) for turn in (0.0, 0.5))
    far = [float(np.linalg.norm(one.center[end] - on[:3])) for one in (start, half, picture)]
    assert far[0] > far[1] > far[2]
    root = int(picture.focus[0])
    assert start.center[root] == pytest.approx(on[:3], abs=1e-3 * on[3])  # far from the focus: fewer digits
    drawing = drawn(trace, **values)
    (rims,) = named(drawing, "horizon")
    assert len(rims) == 4
    assert not named(drawing, "ring")
    assert not named(drawing, "closed subtree")


def test_a_deep_chain_is_drawn_in_each_layout() -> None:
    trace = trace_of("f( " * 400 + ") " * 400)
    for layout in ("cone", "bubble", "hyperbolic"):
        drawing = drawn(trace, layout=layout, budget=300)
        (links,) = named(drawing, "link")
        assert np.isfinite(links.point).all()


def below_of(picture) -> list[np.ndarray]:
    """The nodes below each node, itself included."""
    found = [[i] for i in range(len(picture))]
    for i in range(len(picture) - 1, -1, -1):
        above = int(picture.nodes.parent[i])
        if above >= 0:
            found[above] += found[i]
    return [np.array(some) for some in found]


@pytest.mark.parametrize("height", ["none", "duration"])
def test_shadows_lie_on_the_floor_straight_below_what_throws_them(height) -> None:
    trace = walked_traces.walked_trace(5, steps=4000, threads=2, functions=9)
    values = {"budget": 200, "threads": "all", "height": height}
    drawing, picture = drawn(trace, **values), compose(trace, read(Parameters, values))
    (shadows,) = named(drawing, "shadow")
    middle, half, node = spheres_and_cones(drawing)
    lowest = float((middle - half)[:, 2].min())
    assert shadows.shape == "disc"
    assert shadows.point[:, 2].max() + shadows.size[:, 2].max() / 2 < lowest
    count = np.bincount(picture.nodes.parent[picture.nodes.parent >= 0], minlength=len(picture))
    wide = (picture.nodes.opened == 1) & (count > 1) & (picture.ring > 0) & (picture.nodes.depth <= 6)
    assert set(shadows.id.tolist()) == set(np.flatnonzero(wide).tolist())
    below, light = below_of(picture), drawing.palette[shadows.color, 3]
    for k, i in enumerate(shadows.id.tolist()):
        assert shadows.point[k, :2] == pytest.approx(picture.center[i, :2], abs=1e-5)
        # All that is below the call is above its shadow.
        inside = np.isin(node, below[i])
        reach = half[inside][:, :2].max(axis=1)
        away = np.hypot(*(middle[inside][:, :2] - shadows.point[k, :2]).T) + reach
        assert away.max() <= shadows.size[k, 0] / 2 + 1e-4
        # A callee's shadow lies on its caller's, and is darker.
        for j in np.flatnonzero(np.isin(shadows.id, below[i][1:])).tolist():
            assert shadows.point[j, 2] > shadows.point[k, 2]
            assert light[j] >= light[k]
            apart = np.hypot(*(shadows.point[j] - shadows.point[k])[:2])
            assert apart + shadows.size[j, 0] / 2 <= shadows.size[k, 0] / 2 + 1e-4
    # Where nothing stands above a floor there are none.
    for lying in ({"recline": True}, {"opening": 0.0}, {"layout": "bubble"}):
        assert not named(drawn(trace, **values, **lying), "shadow")


@pytest.mark.parametrize("recline", [False, True])
def test_surfaces_reach_from_a_caller_to_the_ring_of_its_callees(recline) -> None:
    trace = walked_traces.walked_trace(5, steps=4000, threads=2, functions=9)
    values = {"budget": 200, "threads": "all", "recline": recline, "shells": "surfaces"}
    drawing, picture = drawn(trace, **values), compose(trace, read(Parameters, values))
    (shells,) = named(drawing, "cone")
    assert (shells.shape, shells.look, shells.along) == ("shell", "ghost", "x" if recline else "z")
    plan, axis, sign = ([1, 2], 0, 1) if recline else ([0, 1], 2, -1)
    count = np.bincount(picture.nodes.parent[picture.nodes.parent >= 0], minlength=len(picture))
    fans = np.flatnonzero((picture.nodes.opened == 1) & (count > 2))
    assert set(shells.id.tolist()) == set(fans.tolist())
    assert len(fans) > 5
    (rings,) = named(drawing, "ring")
    for k, i in enumerate(shells.id.tolist()):
        assert shells.point[k] == pytest.approx(picture.center[i], abs=1e-5)
        foot, across = shells.size[k, axis], shells.size[k, plan]
        assert across[0] == across[1]
        callees = picture.center[picture.nodes.parent == i]
        # The callees stand at the cone's foot, none of them beyond its rim, one on it.
        assert sign * (callees[:, axis] - picture.center[i, axis]) == pytest.approx(foot, abs=1e-4)
        away = np.hypot(*(callees - picture.center[i])[:, plan].T)
        assert away.max() == pytest.approx(across[0] / 2, abs=1e-4)
        # The rim is the ring.
        (line,) = np.flatnonzero(rings.id == i)
        rim = rings.point[rings.first[line] : rings.first[line + 1]]
        assert np.hypot(*(rim - picture.center[i])[:, plan].T) == pytest.approx(across[0] / 2, abs=1e-4)
        assert rim[:, axis] == pytest.approx(callees[0, axis], abs=1e-4)
    # They take the colours of their callers, and can be pointed at.
    (balls,) = named(drawing, "node")
    color = dict(zip(balls.id.tolist(), balls.color.tolist(), strict=True))
    assert [color[i] for i in shells.id.tolist()] == shells.color.tolist()
    assert "cone" in drawing.meaning
    for other in ("rings", "none"):
        assert not named(drawn(trace, **{**values, "shells": other}), "cone")


def test_on_the_way_to_a_call_closed_subtrees_open_in_their_places() -> None:
    trace = walked_traces.walked_trace(5, steps=4000, threads=1, functions=9)
    calls = trace.calls
    values = {"budget": 60}
    far = drawn(trace, **values)
    picture = compose(trace, read(Parameters, values))
    seeds = np.flatnonzero(picture.closed)
    call = int(picture.call[seeds[np.argmax(picture.below[seeds])]])
    near = drawn(trace, **values, approach=1.0, toward=str(call))
    assert near.counts["opened_near"] > 0
    assert far.counts["opened_near"] == 0
    assert any("opened in place" in note for note in near.notes)
    # What the picture shows stays where it is, as far as it is not in the way.
    (before,), (after,) = named(far, "node"), named(near, "node")
    place = {int(i): k for k, i in enumerate(before.id)}
    kept = [(k, place[int(i)]) for k, i in enumerate(after.id.tolist()) if int(i) in place]
    for k, j in kept:
        assert after.point[k] == pytest.approx(before.point[j], abs=1e-6)
        assert after.size[k] == before.size[j]
    # What has appeared are calls of what is above them, iterations taken together.
    ((_, of),) = near.meaning["node"].calls
    (links,) = named(near, "link")
    new = [int(i) for i in after.id if int(i) >= len(picture)]
    assert len(new) > 3
    for i in new:
        (k,) = np.flatnonzero(links.id == i)
        top, end = links.point[links.first[k]], links.point[links.first[k + 1] - 1]
        assert end == pytest.approx(after.point[after.id == i][0], abs=1e-6)
        owner = [int(j) for j in after.id if np.allclose(after.point[after.id == j][0], top, atol=1e-7)]
        assert int(calls.parent[of[i]]) in [int(of[j]) for j in owner]
    # The camera looks at the subtree of that call, whose names are there.
    low, high = np.array(near.camera.low), np.array(near.camera.high)
    assert (high - low)[:2] == pytest.approx(2 * picture.disc[seeds[np.argmax(picture.below[seeds])]])
    top = picture.center[picture.call == call][0]
    assert (top > low - 1e-6).all()
    assert (top < high + 1e-6).all()
    texts = {text for group in near.labels if group.kind == "function" for text in group.text}
    assert len(texts) > 3
    # A call far below is reached too; one that is unknown is reported.
    deep = int(np.argmax(calls.depth))
    drawn(trace, **values, approach=1.0, toward=str(deep))
    with pytest.raises(UsageError, match="toward=zzz"):
        drawn(trace, **values, approach=0.5, toward="zzz")


def test_the_budget_is_that_of_what_is_in_sight() -> None:
    from tracevis3d.drawing.projection import fit
    from tracevis3d.features.call_tree.cone.camera import SHARE, on_the_way, whole
    from tracevis3d.features.call_tree.cone.opened import _pixels, goal, open_in_view
    from tracevis3d.features.call_tree.cone.prepared import prepare

    trace = walked_traces.walked_trace(5, steps=4000, threads=1, functions=9)
    for approach in (0.0, 0.4, 0.8, 1.0):
        prepared = prepare(trace, read(Parameters, {"budget": 80, "approach": approach}))
        picture, p = prepared.picture, prepared.parameters
        eye = fit(on_the_way(p, goal(prepared), whole(picture, p, Frame())), Frame(), SHARE)
        found, opened = open_in_view(prepared, eye)
        seen = np.count_nonzero(_pixels(picture.center, picture.radius, eye) > 2.0)
        assert len(found) - len(picture) <= max(80 - seen, 0)
        assert len(opened) == np.count_nonzero(found.nodes.opened == 1) - np.count_nonzero(
            picture.nodes.opened == 1
        )
        # From where the whole is seen nothing opens: what is shown is the budget.
        assert approach > 0 or not len(opened)
        again, same = open_in_view(prepared, eye, opened)
        assert np.array_equal(opened, same)
        assert np.array_equal(again.center, found.center)


def test_a_cone_tree_comes_nearer_to_an_eye() -> None:
    from tracevis3d.drawing.primitives import Camera
    from tracevis3d.drawing.projection import fit
    from tracevis3d.views.detail import SpatialLevelOfDetail

    trace = walked_traces.walked_trace(5, steps=4000, threads=1, functions=9)
    p = read(Parameters, {"budget": 60})
    closer, picture = VIEW.level_of_detail((trace,), p, Frame()), compose(trace, p)
    assert isinstance(closer, SpatialLevelOfDetail)
    nothing = np.empty(0, np.int64)
    assert closer.look_from(fit(closer.camera, Frame()), nothing) is None
    seeds = np.flatnonzero(picture.closed)
    at = picture.center[seeds[np.argmax(picture.disc[seeds])]]
    low, high = tuple((at - 0.4).tolist()), tuple((at + 0.4).tolist())
    eye = fit(Camera(closer.camera.direction, low, high), Frame())
    near = closer.look_from(eye, nothing)
    assert near is not None
    assert len(near.opened)
    far = VIEW.draw((trace,), p, Frame(), silent)
    kinds = {part.kind for part in near.parts}
    assert {"node", "link", "closed subtree"} <= kinds <= set(closer.kinds)
    # Colours stay those of the picture, and each element tells of its call.
    assert np.array_equal(near.palette, far.palette)
    for part in near.parts:
        assert part.kind == "path" or part.kind in near.meaning
    names = [text for group in near.names for text in group.text]
    assert names
    assert {group.kind for group in near.names} == {"function"}
    flat = VIEW.level_of_detail((trace,), read(Parameters, {"layout": "bubble"}), Frame())
    assert flat.look_from(eye, nothing) is None


@pytest.mark.parametrize("kind", ["duration", "calls"])
def test_each_thread_has_a_tube_to_the_callee_with_the_most_of_it(kind) -> None:
    trace = walked_traces.walked_trace(5, steps=3000, threads=3, functions=9)
    values = {"threads": "all", "path": kind}
    picture, drawing = compose(trace, read(Parameters, values)), drawn(trace, **values)
    (tubes,) = named(drawing, "path")
    nodes, calls = picture.nodes, trace.calls

    def worth(node: int) -> float:
        call = picture.call[node]
        each = picture.below[node] if kind == "calls" else calls.end[call] - calls.start[call]
        return float(each * picture.iterations[node])

    ends = []
    for node in np.flatnonzero(nodes.parent < 0).tolist():
        while len(below := np.flatnonzero(nodes.parent == node)):
            node = max(below.tolist(), key=lambda n: (worth(n), n))
        ends.append(node)
    assert len(ends) == 3
    assert set(tubes.id.tolist()) == set(ends)
    for k, node in enumerate(tubes.id.tolist()):
        way = [node]
        while (above := int(nodes.parent[way[-1]])) >= 0:
            way.append(above)
        part = tubes.point[tubes.first[k] : tubes.first[k + 1]]
        assert part == pytest.approx(picture.center[way[::-1]], abs=1e-5)


def test_the_focus_is_what_has_just_that_name_before_what_contains_it() -> None:
    trace = traced(("main", 1, [("Builder.build_all", 5, []), ("Builder.build", 5, [])]))
    found = compose(trace, read(Parameters, {"focus": "Builder.build"}))
    assert trace.functions.label[trace.calls.function[found.call[found.focus[-1]]]] == "Builder.build"


def test_bubbles_rise_by_time_over_the_same_plan(recorded) -> None:
    trace = loaded(recorded / LUA)
    values = {"layout": "bubble"}
    flat, deep, half = (
        compose(trace, read(Parameters, {**values, "opening": opening})) for opening in (0.0, 1.0, 0.5)
    )
    assert not flat.center[:, 2].any()
    assert np.array_equal(flat.center[:, :2], deep.center[:, :2])
    assert half.center[:, 2] == pytest.approx(deep.center[:, 2] / 2)
    known = np.flatnonzero(deep.call >= 0)
    subtrees, calls = deep.graph.subtrees, trace.calls
    spent = np.bincount(subtrees.of_call, calls.end - calls.start, len(subtrees)) / subtrees.occurrences
    duration = spent[deep.nodes.node[known]]
    height = deep.center[known, 2]
    assert height == pytest.approx(height.max() * np.sqrt(duration / duration.max()), abs=1e-6)
    # The bubble itself stays on the ground.
    rings = deep.circle(known, np.linspace(0, 6, 5), read(Parameters, values))
    assert np.abs(rings[:, :, 2]).max() < 1e-9
    (note,) = [note for note in drawn(trace, **values).notes if note.startswith("height of a node")]
    assert note == "height of a node: mean duration of such a subtree, square-root scale"


@pytest.mark.parametrize(
    "values", [{}, {"layout": "bubble"}, {"layout": "hyperbolic"}, {"opening": 0}], ids=lambda v: str(v)
)
def test_the_functions_with_most_self_time_are_named(values) -> None:
    """Even where they are few calls, deep below callers with more callees than the picture may have."""
    steps = [(f"step{i}", 90, [(f"part{i}", 10, [])]) for i in range(400)]
    outer = [(f"outer{i}", 5, [(f"busy{i}", 2_000 + i, [])]) for i in range(8)]
    trace = traced(("main", 5, [*steps, *outer]))
    drawing = drawn(trace, budget=60, **values)
    texts = [text for group in drawing.labels for text in group.text if group.kind == "function"]
    assert sum(any(text.startswith(f"busy{i}") for text in texts) for i in range(8)) >= 6
    assert drawing.counts["shown_nodes"] <= 60 + 16
