"""Closed cones as SpaceTree's triangles, long lists on cylinders, and the flat twin of the cone tree."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support import walked_traces
from tracevis3d import api
from tracevis3d.analysis.compact import graph_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.call_tree.cone.elements import fill
from tracevis3d.features.call_tree.cone.layouts import cylinder
from tracevis3d.features.call_tree.cone.layouts.rooms import SHARE
from tracevis3d.features.call_tree.cone.parameters import Parameters
from tracevis3d.features.call_tree.cone.prepared import prepare
from tracevis3d.features.call_tree.cone.sizes import own_radius, weigh

FRAME = Frame(960, 540)


@pytest.fixture(scope="module", params=["vt_sphinxtext_E.json.gz", "weka_parallel_9t.tsv.gz"])
def trace(request):
    return api.load(ROOT / "examples" / request.param)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.floats(0.1, 9)), max_size=90), st.integers(1, 9)
)
@settings(deadline=None, max_examples=150)
def test_rows_of_cylinders(nodes, most) -> None:
    parent = np.array([-1, *(min(above, i) for i, (above, _, _) in enumerate(nodes))])
    callers = set(parent.tolist())
    low = np.array([False, *(flag and i + 1 not in callers for i, (_, flag, _) in enumerate(nodes))])
    size = np.array([1.0, *(value for _, _, value in nodes)])
    ball, reach = 0.7 * size, 1.5 * size
    found = cylinder.columns(parent, low, size, ball, reach, most)
    for caller in callers:
        every = [i for i in range(len(parent)) if parent[i] == caller and low[i]]
        on = [i for i in every if found.on[i]]
        if caller < 0 or len(every) <= most:
            assert not on
            continue
        middle = sorted(size[every])[len(every) // 2]
        assert on == [i for i in every if size[i] <= 3 * middle]
        # Row by row in their order, and as deep as the rows above together.
        wide = sum(1 for i in on if found.row[i] == 0)
        rows = [on[k : k + wide] for k in range(0, len(on), wide)]
        deep = 0.0
        for number, row in enumerate(rows):
            below = rows[min(number + 1, len(rows) - 1)]
            tall = max(reach[i] for i in row) + max(ball[i] for i in below)
            for column, i in enumerate(row):
                assert (found.row[i], found.head[i]) == (number, on[column])
                assert found.drop[i] == pytest.approx(deep)
                assert found.room[i] == pytest.approx(tall)
            deep += tall
        assert all(found.high[i] == pytest.approx(deep) for i in on)
    off = np.flatnonzero(~found.on)
    assert (found.head[off] == off).all()
    assert not found.drop[off].any()


def test_nothing_overlaps_on_cylinders(trace) -> None:
    p = Parameters(lists="cylinder", rings=8)
    picture = prepare(trace, p).picture
    assert (picture.column > 0).any()
    center, ball = picture.center, picture.radius
    apart = np.linalg.norm(center[:, None] - center[None], axis=2) - ball[:, None] - ball[None]
    np.fill_diagonal(apart, np.inf)
    # A list's own balls keep apart; so do the closed cones below them.
    for caller in np.flatnonzero(picture.column > 0):
        here = np.flatnonzero(picture.nodes.parent == caller)
        assert apart[np.ix_(here, here)].min() > 0
        for i, k in combinations(here[picture.nodes.opened[here] == 0].tolist(), 2):
            beside = np.hypot(*(center[i] - center[k])[:2])
            wide = [SHARE * picture.disc[n] if picture.closed[n] else ball[n] for n in (i, k)]
            upper, lower = (i, k) if center[i, 2] > center[k, 2] else (k, i)
            reach = max(picture.skirt[upper] if picture.closed[upper] else 0.0, ball[upper])
            above = center[upper, 2] - reach >= center[lower, 2] + ball[lower] - 1e-9
            assert above or beside >= sum(wide) - 1e-9
        # All rows stand above the level of what is below the list's callers.
        assert picture.column[caller] > 0
    rings = prepare(trace, Parameters(rings=8)).picture
    assert picture.nodes.node.tolist() == rings.nodes.node.tolist()
    wide = picture.column > 0
    assert (picture.ring[wide] / picture.disc[0]).mean() < (rings.ring[wide] / rings.disc[0]).mean() * 1.2


def test_lists_stay_on_rings_where_a_height_says_something(trace) -> None:
    for more in ({"height": "duration"}, {"room": "shown"}, {"room": "all"}):
        picture = prepare(trace, Parameters(lists="cylinder", rings=8, **more)).picture
        assert not picture.column.any()


@given(st.integers(0, 2**32), st.integers(1, 120))
@settings(deadline=None, max_examples=60)
def test_levels_and_breadth_of_subtrees(seed, steps) -> None:
    trace = walked_traces.walked_trace(seed, steps=steps, threads=2, functions=3)
    if not len(trace.calls):
        return
    graph, calls = graph_of(trace), trace.calls
    picture = prepare(trace, Parameters(closed="shape")).picture
    weights = weigh(trace, graph, picture.nodes, Parameters())
    for call in range(len(calls)):
        below = range(call + 1, call + int(calls.extent[call]))
        levels = max((int(calls.depth[i] - calls.depth[call]) for i in below), default=0)
        which = graph.subtrees.of_call[call]
        assert weights.levels[which] == levels
        assert weights.breadth[which] == pytest.approx(len(below) / max(levels, 1))


def test_closed_cones_show_levels_breadth_and_what_they_carry(trace) -> None:
    p = Parameters(closed="shape", budget=120)
    picture = prepare(trace, p).picture
    closed = np.flatnonzero(picture.closed)
    node, weights = picture.nodes.node[closed], picture.weights
    levels, tall = weights.levels[node], picture.skirt[closed]
    assert np.allclose(tall / levels, tall[0] / levels[0])
    own = own_radius(trace, picture.graph, picture.nodes, weights, p)[closed]
    broad = own + 1.2 * np.log1p(weights.breadth[node]) / np.log1p(weights.breadth.max())
    assert np.allclose(picture.disc[closed] / broad, picture.disc[closed[0]] / broad[0])
    full = fill(picture)
    carried = weights.place[closed]
    assert np.allclose(full[closed] ** 2, carried / carried.max())
    assert not full[~picture.closed].any()


def test_what_is_not_full_covers_the_upper_part_of_a_closed_cone(trace) -> None:
    drawing = api.view("cone", trace, closed="shape", budget=120).drawing(FRAME)
    whole, upper = [e for e in drawing.elements if e.kind == "closed subtree"]
    part = dict(zip(upper.id.tolist(), upper.size.tolist(), strict=True))
    full = fill(prepare(trace, Parameters(closed="shape", budget=120)).picture)
    for i, extent in zip(whole.id.tolist(), whole.size.tolist(), strict=True):
        if i in part:
            assert part[i][2] == pytest.approx(extent[2] * (1 - full[i]), rel=1e-4)
            assert extent[0] * (1 - full[i]) < part[i][0] < 1.1 * extent[0] * (1 - full[i])
    light, own = (drawing.palette[e.color][:, :3].mean() for e in (upper, whole))
    assert light > own
    flat = api.view("cone", trace, closed="shape", budget=120, opening=0).drawing(FRAME)
    inner, outer = [e for e in flat.elements if e.kind == "closed subtree"]
    reach = dict(zip(outer.id.tolist(), outer.size[:, 0].tolist(), strict=True))
    assert all(
        size == pytest.approx(reach[i] * full[i], rel=1e-4)
        for i, size in zip(inner.id.tolist(), inner.size[:, 0].tolist(), strict=True)
        if i in reach
    )
    assert any("levels below" in note for note in drawing.notes)


def test_the_flat_picture_is_the_twin_of_the_cone_tree(trace) -> None:
    """The same calls, in the same colours and sizes, in the same order around their callers."""
    raised = prepare(trace, Parameters())
    flat = prepare(trace, Parameters(opening=0.0))
    one, other = raised.picture, flat.picture
    for name in ("node", "parent", "edge", "opened"):
        assert (getattr(one.nodes, name) == getattr(other.nodes, name)).all()
    for name in ("call", "iterations", "below", "missing"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert (raised.colors.palette == flat.colors.palette).all()
    drawings = [api.view("cone", trace, opening=opening).drawing(FRAME) for opening in (1.0, 0.0)]
    painted = [
        {
            (e.kind, i): tuple(drawing.palette[c].tolist())
            for e in drawing.elements
            if e.kind in ("node", "closed subtree", "link")
            for i, c in zip(e.id.tolist(), e.color.tolist(), strict=True)
        }
        for drawing in drawings
    ]
    assert painted[0] == painted[1]
    assert drawings[0].title == drawings[1].title
    # Sizes are in one proportion, but for balls that would touch those above or below them.
    ratio = one.radius / other.radius
    assert np.count_nonzero(ratio < 0.999 * ratio.max()) < 0.5 * len(ratio)
    assert (ratio <= 1.001 * ratio.max()).all()
    # Flat, nothing overlaps.
    reach = np.where(other.closed, SHARE * other.disc, other.radius)
    apart = np.hypot(*(other.center[:, None, :2] - other.center[None, :, :2]).transpose(2, 0, 1))
    low = np.flatnonzero(other.nodes.opened == 0)
    clear = apart[np.ix_(low, low)] - reach[low][:, None] - reach[low][None]
    np.fill_diagonal(clear, np.inf)
    assert clear.min() > -1e-9
    # Between both it moves without a jump.
    near = prepare(trace, Parameters(opening=0.02)).picture
    assert np.abs(near.center - other.center).max() < 0.1 * np.ptp(other.center[:, 0])
