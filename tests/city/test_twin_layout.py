"""Where buildings stand, how large texts are and what the camera holds, against plain rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tests.waits.sync_traces import trace_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Boxes
from tracevis3d.drawing.projection import fit
from tracevis3d.features.city.metrics import floors, longest_calls, measured, parts_of
from tracevis3d.features.city.view import layout
from tracevis3d.features.city.view.buildings import footprints, roofs
from tracevis3d.features.city.view.layout import DEEP, WIDE, camera, compose
from tracevis3d.features.city.view.names import hidden
from tracevis3d.features.city.view.parameters import Parameters
from tracevis3d.features.city.view.view import VIEW
from tracevis3d.progress import silent

TRACES = [
    walked_trace(0, steps=80, functions=9, modules=3, allocations=20),
    walked_trace(1, steps=80, functions=30, modules=5),
    walked_trace(2, steps=80, functions=12, modules=1),
    walked_trace(3, steps=80, functions=5, modules=0),
]

runs = st.lists(st.integers(0, len(TRACES) - 1), min_size=1, max_size=2)
settings_of = st.builds(
    dict,
    opening=st.sampled_from([0.0, 0.3, 1.0]),
    relief=st.sampled_from([0.0, 1.0, 3.0]),
    parts=st.sampled_from(["auto", "module", "function"]),
    area=st.sampled_from(["functions", "calls", "bytes", "waits"]),
    height=st.sampled_from(["self", "calls", "callers"]),
    floors=st.sampled_from([1, 2, 5]),
    scale=st.sampled_from(["linear", "sqrt", "log"]),
)


@given(runs, settings_of)
@settings(deadline=None, max_examples=40)
def test_a_city_has_a_building_for_each_part_of_any_run(runs, chosen):
    traces = [TRACES[i] for i in runs]
    p, frame = Parameters(**chosen), Frame(640, 360)
    picture = compose(traces, p, frame)
    each = [parts_of(trace, p.parts) for trace in traces]
    if len({parts.what for parts in each}) > 1:
        each = [parts_of(trace, "function") for trace in traces]
    every = {path for parts in each for path in parts.path}
    assert len(picture.path) == len(every) == len(picture.ground)
    assert set(picture.path) == every
    assert picture.names() == [".".join(path) for path in picture.path]

    def of(run, metric):
        """Return a measure by the path of a part."""
        values = dict(zip(each[run].path, measured(traces[run], each[run], metric).tolist(), strict=True))
        return np.array([values.get(path, 0.0) for path in picture.path])

    last = len(traces) - 1
    # A part has the area of the run in which it has most; without any, that of the least.
    area = np.max([of(run, p.area) for run in range(len(traces))], axis=0)
    area = np.maximum(area, min(area[area > 0], default=1.0))
    np.testing.assert_allclose(picture.area, area)
    np.testing.assert_allclose(
        [wide * deep for *_, wide, deep in picture.ground], WIDE * DEEP * area / area.sum(), rtol=1e-6
    )
    np.testing.assert_allclose(picture.value, of(last, p.height))
    assert (picture.before is None) == (last == 0)
    highest = max(of(run, p.height).max() for run in range(len(traces)))
    assert (picture.scale.kind, picture.scale.high) == (p.scale, highest)
    if last:
        np.testing.assert_allclose(picture.before, of(0, p.height))
    for left, near, wide, deep in picture.ground:
        assert min(left, near) >= -1e-9
        assert left + wide <= WIDE + 1e-6
        assert near + deep <= DEEP + 1e-6
    divided = p.floors > 1 and p.height != "callers"
    assert picture.slices.shape == (len(every), p.floors if divided else 1)
    np.testing.assert_allclose(picture.slices.sum(axis=1), picture.value)
    if divided:
        whole = floors(traces[last], each[last], p.height, (0, traces[last].span_ns), p.floors)
        parts = {path: whole[i].tolist() for i, path in enumerate(each[last].path)}
        assert picture.slices.tolist() == [parts.get(path, [0.0] * p.floors) for path in picture.path]
    calls = dict(zip(each[last].path, longest_calls(traces[last], each[last]).tolist(), strict=True))
    assert picture.call.tolist() == [calls.get(path, -1) for path in picture.path]
    assert [run.trace for run in picture.runs] == traces


def test_one_map_shows_all_slices_of_time_and_one_of_several_its_own():
    for multiples in (False, True):
        p = Parameters(parts="module", floors=3, multiples=multiples, height="calls")
        picture = compose([TRACES[1]], p, Frame(640, 360))
        assert len(picture.tiles) == (3 if multiples else 1)
        for number, tile in enumerate(picture.tiles):
            shown = picture.slices[:, number] if multiples else picture.value
            assert picture.value_on(tile).tolist() == shown.tolist()
        assert picture.value_on(layout.Tile()).tolist() == picture.value.tolist()
        assert picture.value.tolist() != picture.slices[:, -1].tolist()


def test_two_runs_whose_time_is_not_divided_stand_on_one_map():
    for chosen in ({"floors": 1}, {"floors": 3, "height": "callers"}):
        picture = compose(TRACES[:2], Parameters(multiples=True, **chosen), Frame(640, 360))
        assert picture.tiles == (layout.Tile(),)
        assert picture.before is not None


def test_time_is_that_of_the_last_run():
    for traces in (TRACES[:2], TRACES[1::-1]):
        picture = compose(traces, Parameters(parts="function", floors=2), Frame(640, 360))
        assert picture.window == (0, traces[1].span_ns)
        assert picture.edges() == [0, traces[1].span_ns // 2, traces[1].span_ns]
    assert TRACES[0].span_ns != TRACES[1].span_ns


def test_a_run_without_duration_is_a_nanosecond_long():
    picture = compose([trace_of("a 5 5 m.run\na 5 5 m.work")], Parameters(floors=4), Frame(640, 360))
    assert picture.window == (0, 1)
    assert picture.edges() == [0, 0, 0, 0, 1]


def plain_reach(picture):
    """How high the corner farthest from the camera is, if all roofs' corners are below it in the picture."""
    p = picture.parameters
    if p.opening == 0 or len(picture.tiles) > 1:
        return 0.0
    turn, tilt = math.radians(p.opening * p.turn), math.radians(90 - p.opening * (90 - p.tilt))

    def seen(x, y, z):
        """How high in the picture a point is."""
        return (y * math.cos(turn) - x * math.sin(turn)) * math.sin(tilt) + z * math.cos(tilt)

    corner = max(seen(x, y, 0) for x in (0, WIDE) for y in (0, DEEP))
    reach = 0.0
    for k, (x, y, wide, deep) in enumerate(picture.ground):
        value = max(picture.value[k], 0 if picture.before is None else picture.before[k])
        roof = float(picture.rise(np.array([value]))[0])
        top = max(seen(a, b, roof) for a in (x, x + wide) for b in (y, y + deep))
        reach = max(reach, (top - corner) / math.cos(tilt))
    return reach


@given(runs, settings_of, st.sampled_from([(640, 360), (360, 640), (64, 36)]))
@settings(deadline=None, max_examples=40)
def test_the_camera_holds_the_city_whose_texts_can_be_read(runs, chosen, size):
    traces = [TRACES[i] for i in runs]
    p, frame = Parameters(**chosen), Frame(*size)
    picture = compose(traces, p, frame)
    view = camera(picture)
    assert (view.low, view.high[:2]) == ((0.0, 0.0, 0.0), (WIDE, DEEP))
    # The few highest buildings may stand out into the room for the title, but not those at the back.
    highest = p.opening * p.relief * layout.HIGH
    assert view.high[2] == pytest.approx(max(0.75 * highest, 0.1, plain_reach(picture)), rel=1e-6)
    assert picture.high == pytest.approx(highest)
    shown = fit(view, frame, (0.94, 0.76))
    left, right = shown.pixels([(0.0, 0.0, 0.0), (WIDE, 0.0, 0.0)])
    unit = np.linalg.norm(right - left) / WIDE
    assert picture.text == pytest.approx(max(layout._SMALL_TEXT, 1.8 * frame.least_text / unit))
    rise = picture.rise(np.array([0.0, picture.scale.high]))
    full = highest if picture.scale.high else 0.0
    np.testing.assert_allclose(rise, [layout.PLATE, max(full, layout.PLATE)])


@given(runs, settings_of)
@settings(deadline=None, max_examples=20)
def test_buildings_stand_on_the_plinths_of_their_districts(runs, chosen):
    traces = [TRACES[i] for i in runs]
    p = Parameters(**chosen)
    picture, drawing = compose(traces, p, Frame(640, 360)), VIEW.draw(traces, p, Frame(640, 360), silent)
    deepest, depth_of, waiting = 0, {}, [picture.city]
    while waiting:
        district = waiting.pop()
        deepest = max(deepest, district.depth)
        depth_of |= dict.fromkeys(district.buildings, district.depth)
        waiting += district.districts.values()
    step = min(layout.STEP, layout._PILE / max(deepest, 1)) * (0.2 + 0.8 * p.opening)
    assert picture.plinth(deepest) == pytest.approx(step * deepest)
    assert step * deepest <= layout._PILE + 1e-9
    made = next(one for one in drawing.elements if isinstance(one, Boxes) and one.kind == "building")
    lowest = {}
    for number, low in zip(made.id.tolist(), made.low[:, 2].tolist()):
        lowest[number] = min(lowest.get(number, low), low)
    assert lowest == pytest.approx({number: step * depth_of[number] for number in lowest}, abs=1e-4)


@given(runs, settings_of)
@settings(deadline=None, max_examples=30)
def test_a_roof_is_hidden_if_another_building_is_between_it_and_the_camera(runs, chosen):
    """Walk from each roof towards the camera in small steps, and look for a building."""
    picture = compose(
        [TRACES[i] for i in runs], Parameters(**{**chosen, "multiples": False}), Frame(640, 360)
    )
    at, (corner, extent) = roofs(picture, layout.Tile()), footprints(picture)
    found = hidden(picture, at, np.arange(len(at)))
    step = 0.01 * np.array(camera(picture).direction)
    for i, roof in enumerate(at):
        path = roof + step * np.arange(1, 2000)[:, None]
        depth = -1.0
        for k in range(len(at)):
            # How deep the way leads into the building.
            inside = np.minimum(path[:, :2] - corner[k], corner[k] + extent[k] - path[:, :2]).min(axis=1)
            inside = np.minimum(inside, at[k, 2] - path[:, 2])
            if k != i:
                depth = max(depth, float(inside.max()))
        assert found[i] == (depth > 0) or abs(depth) < 0.02
