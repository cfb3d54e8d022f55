"""Calls on their way from one picture to another: where they begin and end, and who stands for whom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d import api
from tracevis3d.drawing.primitives import Boxes, Wedges
from tracevis3d.layout.sight.pose import Pose
from tracevis3d.stories.drawings import travel

TRACE = walked_trace(3, threads=2)
ICICLE, CONE, THREADS = (
    getattr(api, view)(TRACE).drawing() for view in ("icicle", "cone", "threads")
)  # fmt: skip
HERE, THERE = Pose((5.0, 0.0, 2.0), 20.0), Pose((-3.0, 1.0, 0.0), 8.0)


def way(start, goal, traces=(TRACE,), files=((0,), (0,))):
    return travel.Travel.between((start, files[0], HERE), (goal, files[1], THERE), traces)


def boxes_of(drawing):
    """Where each call's first box is: low and high corner."""
    found = {}
    for element in drawing.elements:
        calls = drawing.calls_of(element) if isinstance(element, Boxes) else None
        for i, call in enumerate([] if calls is None else calls.tolist()):
            if call >= 0:
                low = element.low[i].astype(float)
                found.setdefault(call, np.array([low, low + element.size[i]]))
    return found


@given(st.lists(st.integers(-1, 20), max_size=40), st.data())
def test_the_nearest_caller_that_is_shown_is_found_by_walking_up(jumps, data):
    parent = np.array([min(jump, i - 1) if jump >= 0 else -1 for i, jump in enumerate(jumps)], np.int64)
    shown = np.array([data.draw(st.booleans()) for _ in parent], np.bool_)
    found = travel._holders(np.where(shown, 7, -1), parent)
    for call in range(len(parent)):
        at = call
        while at >= 0 and not shown[at]:
            at = parent[at]
        assert found[call] == at


def test_each_call_stands_at_both_ends_where_the_pictures_show_it():
    moving = way(ICICLE, ICICLE)
    shown = boxes_of(ICICLE)
    assert len(moving) == len(shown)
    assert moving.boxes
    for share, pose in ((0.0, HERE), (1.0, THERE)):
        (element,) = moving.drawing(share).elements
        expected = np.array([(at - pose.focus) * travel.WIDTH / pose.width for at in shown.values()])
        low, high = element.low, element.low + element.size
        drawn = np.stack([low, high], axis=1)
        assert np.allclose(
            drawn[np.lexsort(drawn[:, 0].T)], expected[np.lexsort(expected[:, 0].T)], atol=1e-4
        )


@pytest.mark.parametrize("goal", [CONE, THREADS], ids=["cone", "threads"])
def test_what_a_picture_does_not_show_is_at_its_caller(goal):
    a, b = travel.places_of(ICICLE, (0,), HERE), travel.places_of(goal, (0,), THERE)
    ((one, other, in_one, in_other),) = travel.pairs_of(a, b, (TRACE,))
    parent = TRACE.calls.parent
    there, here = set(b.call.tolist()), set(a.call.tolist())
    seen = set()
    for i, j, inside_here, inside_there in zip(
        one.tolist(), other.tolist(), in_one.tolist(), in_other.tolist()
    ):
        start, end = a.call[i], b.call[j]
        assert not (inside_here and inside_there)
        call, held, shown = (end, start, here) if inside_here else (start, end, there)
        seen.add((call, inside_here))
        assert (call == held) == (not (inside_here or inside_there))
        while call not in shown:
            call = parent[call]
        assert call == held
    # Whatever has a caller in the other picture is on its way.
    assert len(seen) == len(one)
    assert {call for call, inside in seen if not inside} == {
        call for call in here if any(up in there for up in chain(call, parent))
    }


def chain(call, parent):
    while call >= 0:
        yield call
        call = int(parent[call])


def test_bent_blocks_are_not_twisted_on_their_way():
    moving = way(ICICLE, THREADS)
    assert not moving.boxes
    (element,) = moving.drawing(0.5).elements
    assert isinstance(element, Wedges)
    corner = element.corner.astype(float)
    # All sections are gone round the same way: a twisted one is not.
    first, second = corner[:, 2] - corner[:, 0], corner[:, 3] - corner[:, 1]
    area = np.cross(first, second)[:, 0]
    assert (area <= 1e-6).all() or (area >= -1e-6).all()


def test_colours_turn_into_each_other():
    moving = way(ICICLE, CONE)
    for share, palette in ((0.0, moving.palette_start), (1.0, moving.palette_goal)):
        assert np.allclose(moving.drawing(share).palette, palette, atol=1e-6)
    # Those of the drawings, no others.
    colors = {tuple(row) for row in ICICLE.palette[:, :3].tolist()}
    assert {tuple(row) for row in moving.palette_start[:, :3].tolist()} <= colors


def test_pictures_of_other_traces_share_nothing():
    other = walked_trace(4)
    moving = way(ICICLE, api.icicle(other).drawing(), (TRACE, other), ((0,), (1,)))
    assert len(moving) == 0
    (element,) = moving.drawing(0.5).elements
    assert len(element) == 0


def test_only_those_seen_largest_travel(monkeypatch):
    monkeypatch.setattr(travel, "_MOST", 5)
    all_of_it = sorted((high - low)[[0, 2]].prod() for low, high in boxes_of(ICICLE).values())
    moving = way(ICICLE, ICICLE)
    assert len(moving) == 5
    size = np.ptp(moving.start, axis=(1, 2))[:, [0, 2]].prod(axis=1) * (HERE.width / travel.WIDTH) ** 2
    assert sorted(size) == pytest.approx(all_of_it[-5:], rel=0.2)
