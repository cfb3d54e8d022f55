"""What the drawing of three and more traces says, read off its arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Boxes, Drawing, Labels, Lines, Tubes
from tracevis3d.drawing.projection import fit
from tracevis3d.errors import UsageError
from tracevis3d.features.comparison.compare import VIEW
from tracevis3d.features.comparison.fan.colors import largest
from tracevis3d.features.comparison.fan.pairs import chosen_pairs
from tracevis3d.features.comparison.matching.many_traces import best_order, similarities
from tracevis3d.features.comparison.view.parameters import Parameters
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace
from tracevis3d.views.time_window import WIDTH

FRAME = Frame(960, 540)
SEEDS = st.integers(0, 10_000)
COUNTS = st.integers(3, 6)
FANS = st.sampled_from([0.0, 10.0, 45.0, 70.0])
NEW = {"tau": 0.2, "threads": "all", "resolution": 0.05}


def some(seed: int, n: int, **options) -> list[Trace]:
    return [walked_trace(seed + k, **{"threads": 1, "steps": 60, **options}) for k in range(n)]


def draw(traces, frame: Frame = FRAME, **chosen) -> Drawing:
    return VIEW.draw(traces, read(Parameters, {**NEW, **chosen}), frame, silent)


def boxes_of(drawing: Drawing, kind: str, source: int = 0) -> list[Boxes]:
    return [e for e in drawing.elements if e.kind == kind and e.source == source]


def wall(drawing: Drawing, source: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the low and high corners of a wall's boxes."""
    found = [e for e in drawing.elements if e.kind in ("call", "cluster") and e.source == source]
    low = np.concatenate([e.low for e in found])
    return low, low + np.concatenate([e.size for e in found])


def bridges(drawing: Drawing) -> list[tuple[Tubes | Lines, int, int]]:
    """Return element, place in it and id of each bridge."""
    return [
        (e, i, int(m)) for e in drawing.elements if e.kind in ("tube", "line") for i, m in enumerate(e.id)
    ]


def ends_of(drawing: Drawing, match: int) -> list[tuple[int, int]]:
    """Return trace and call of both ends of a bridge."""
    calls = drawing.meaning["tube"].calls
    return [(source, int(ids[match])) for source, ids in calls if ids[match] >= 0]


@given(SEEDS, COUNTS, st.floats(0.05, 40), FANS)
@settings(max_examples=15, deadline=None)
def test_each_trace_has_a_wall_and_each_call_a_box(seed, n, resolution, fan):
    traces = some(seed, n)
    drawing = draw(traces, resolution=resolution, fan=fan)
    inside = 0
    for source, trace in enumerate(traces):
        drawn = [b for kind in ("call", "cluster") for b in boxes_of(drawing, kind, source)]
        assert drawn
        # A cluster is a box for each of its levels.
        merged = [int(b.count[np.unique(b.id, return_index=True)[1]].sum()) for b in drawn if len(b.count)]
        assert sum(len(b) for b in drawn if not len(b.count)) + sum(merged) == len(trace.calls)
        inside += sum(merged)
    assert drawing.counts["traces"] == n
    assert drawing.counts["calls"] == sum(len(t.calls) for t in traces)
    assert drawing.counts["calls_in_clusters"] == inside


@given(SEEDS, COUNTS, FANS)
@settings(max_examples=15, deadline=None)
def test_width_is_duration_on_all_walls(seed, n, fan):
    traces = some(seed, n)
    drawing = draw(traces, fan=fan)
    longest = max(float(t.calls.end.max() - t.calls.start.min()) for t in traces)
    for source, trace in enumerate(traces):
        (boxes,) = boxes_of(drawing, "call", source)
        calls = trace.calls
        np.testing.assert_allclose(
            boxes.size[:, 0], (calls.end - calls.start)[boxes.id] * WIDTH / longest, rtol=1e-5, atol=1e-6
        )
        np.testing.assert_allclose(
            boxes.low[:, 0], (calls.start[boxes.id] - calls.start.min()) * WIDTH / longest, atol=1e-4
        )


@given(SEEDS, COUNTS, FANS, st.floats(0.5, 4))
@settings(max_examples=15, deadline=None)
def test_no_two_walls_intersect_and_all_stand_on_the_floor(seed, n, fan, gap):
    drawing = draw(some(seed, n), fan=fan, gap=gap)
    corners = [wall(drawing, k) for k in range(n)]
    for low, _ in corners:
        assert low[:, 2].min() == pytest.approx(0.0, abs=1e-6)
    for a in range(n):
        for b in range(a):
            (low_a, high_a), (low_b, high_b) = corners[a], corners[b]
            meet = np.ones((len(low_a), len(low_b)), np.bool_)
            for axis in (1, 2):
                meet &= low_a[:, None, axis] < high_b[None, :, axis] - 1e-5
                meet &= low_b[None, :, axis] < high_a[:, None, axis] - 1e-5
            assert not meet.any()


@given(SEEDS, COUNTS, st.sampled_from([20.0, 45.0, 70.0]), st.sampled_from([50.0, 66.0]))
@settings(max_examples=15, deadline=None)
def test_no_wall_hides_the_foot_of_the_next(seed, n, fan, tilt):
    drawing = draw(some(seed, n), fan=fan, tilt=tilt)
    seen = fit(drawing.camera, FRAME, (0.95, 0.7))
    for front in range(1, n):
        low, high = wall(drawing, front)
        top = np.concatenate([np.column_stack([low[:, 0], high[:, 1:]]), high])
        behind, _ = wall(drawing, front - 1)
        foot = behind[behind[:, 2] < 1e-6]
        assert seen.pixels(top)[:, 1].max() < seen.pixels(foot)[:, 1].min()


@given(SEEDS, COUNTS, FANS, st.sampled_from(["neighbours", "all", "A-C"]), st.integers(0, 60))
@settings(max_examples=20, deadline=None)
def test_bridges_end_on_their_calls_bars(seed, n, fan, pairs, tubes):
    traces = some(seed, n)
    drawing = draw(traces, fan=fan, pairs=pairs, tubes=tubes)
    place = [
        {
            int(c): (b.low[i], b.low[i] + b.size[i])
            for b in boxes_of(drawing, "call", k)
            for i, c in enumerate(b.id)
        }
        for k in range(n)
    ]
    wanted = chosen_pairs(pairs, range(n))
    assert drawing.counts["pairs"] == len(wanted)
    found = bridges(drawing)
    assert len({m for _, _, m in found}) == len(found)
    assert len(found) == drawing.counts["matches"]
    for element, i, match in found:
        (back, one), (front, other) = ends_of(drawing, match)
        assert (back, front) in wanted
        points = element.point[element.first[i] : element.first[i + 1]]
        for source, call, at in ((back, one, points[0]), (front, other, points[-1])):
            box = place[source].get(call)
            if box is None:  # narrower than a pixel: within a cluster
                continue
            low, high = box
            assert at[0] == pytest.approx((low[0] + high[0]) / 2, abs=2e-3)
            assert low[1] - 0.03 <= at[1] <= high[1] + 0.03
            # At the bar's back, or under it where the wall lies flat, so that names stay free.
            assert low[2] - 0.35 <= at[2] <= high[2]
        if isinstance(element, Tubes) and one in place[back]:
            low, high = place[back][one]
            assert 2 * element.radius[element.first[i], 0] == pytest.approx(high[0] - low[0], abs=0.05)


@given(SEEDS, COUNTS, st.sampled_from([20.0, 45.0]))
@settings(max_examples=10, deadline=None)
def test_bridges_pass_under_walls_that_stand_between(seed, n, fan):
    drawing = draw(some(seed, n), fan=fan, pairs=f"0-{n - 1}", lift=0)
    for element, i, _ in bridges(drawing):
        points = element.point[element.first[i] : element.first[i + 1]]
        for between in range(1, n - 1):
            low, high = wall(drawing, between)
            there = (points[:, 1] > low[:, 1].min()) & (points[:, 1] < high[:, 1].max())
            assert (points[there, 2] < 1e-6).all()


@given(
    SEEDS, COUNTS, st.sampled_from(["best", "time", "functions"]), st.sampled_from(["given", "similarity"])
)
@settings(max_examples=15, deadline=None)
def test_the_color_and_number_of_a_cell_are_its_similarity(seed, n, matrix, order):
    traces = some(seed, n, functions=8)
    # In a tiny picture the numbers can't be read: it has a legend.
    drawing = draw(traces, Frame(200, 112), matrix=matrix, order=order)
    known = similarities(traces, tau=0.2, cache=False)
    places = best_order(known.mutual(matrix)).tolist() if order == "similarity" else list(range(n))
    wanted = known.cells(matrix)[np.ix_(places, places)].reshape(-1)
    (cells,) = boxes_of(drawing, "similarity")
    legend = next(x for x in drawing.legends if x.title.startswith("Matrix"))
    first, last = legend.ramp
    low = float(legend.ramp_text[0])
    assert low <= wanted.min()
    diagonal = np.eye(n, dtype=bool).reshape(-1)
    share = (cells.color[~diagonal] - first) / (last - first)
    np.testing.assert_allclose(share, (wanted[~diagonal] - low) / (1 - low), atol=0.6 / (last - first))
    assert (cells.color[diagonal] != cells.color[~diagonal][0]).all()
    np.testing.assert_allclose(drawing.meaning["similarity"].values[0][1], wanted)
    (texts,) = [x for x in drawing.labels if x.kind == "similarity"]
    for k, text in enumerate(texts.text):
        if diagonal[k]:
            assert text == "ABCDEF"[places[k // n]]
        else:
            assert float(text) == pytest.approx(wanted[k], abs=0.011)
            assert (text == "1") == (wanted[k] == 1)
    large = draw(traces, Frame(), matrix=matrix, order=order)
    assert not [x for x in large.legends if x.title.startswith("Matrix")]
    (same,) = boxes_of(large, "similarity")
    assert np.array_equal(large.palette[same.color], drawing.palette[cells.color])
    (head,) = [x for x in large.labels if x.kind == "matrix"]
    assert legend.title == f"Matrix: {' '.join(head.text[:2])}"
    assert head.text[2:] == ("framed: joined by tubes",)
    assert (head.anchor[:, 1] > (same.low + same.size)[:, 1].max()).all()


@given(SEEDS, COUNTS, st.sampled_from(["neighbours", "all", "A-C"]))
@settings(max_examples=15, deadline=None)
def test_rows_lie_beside_their_walls_and_joined_pairs_are_framed(seed, n, pairs):
    drawing = draw(some(seed, n), pairs=pairs)
    (cells,) = boxes_of(drawing, "similarity")
    middle = (cells.low + cells.size / 2).reshape(n, n, 3)
    assert (cells.low[:, 0] > WIDTH).all()
    feet = [wall(drawing, k)[0][:, 1].min() for k in range(n)]
    ahead = middle[:, 0, 1] - np.array(feet)
    np.testing.assert_allclose(np.diff(ahead), 0, atol=0.25)
    assert (np.diff(middle[0, :, 0]) >= cells.size[0, 0]).all()
    assert (-np.diff(middle[:, 0, 1]) >= cells.size[0, 1]).all()
    frames = [e for e in drawing.elements if e.kind == "joined"]
    wanted = {(i, j) for a, b in chosen_pairs(pairs, range(n)) for i, j in ((a, b), (b, a))}
    assert {(int(k) // n, int(k) % n) for e in frames for k in e.id} == wanted
    (frame,) = frames
    for i, cell in enumerate(frame.id.tolist()):
        points = frame.point[frame.first[i] : frame.first[i + 1]]
        np.testing.assert_allclose(points[:4].mean(axis=0)[:2], middle.reshape(-1, 3)[cell, :2], atol=1e-4)


def plain_walls(traces, width: int) -> list[np.ndarray]:
    """Paint each trace's icicle call by call, its roots in the lowest row: the call, -1 for nothing."""
    span = max(float(t.calls.end.max() - t.calls.start.min()) for t in traces)
    time = (np.arange(width) + 0.5) / width * span
    walls = []
    for trace in traces:
        calls = trace.calls
        picture = np.full((int(calls.depth.max()), width), -1, np.int64)
        for c in range(len(calls)):
            start, end = calls.start[c] - calls.start.min(), calls.end[c] - calls.start.min()
            picture[int(calls.depth[c]) - 1, (time >= start) & (time < end)] = c
        walls.append(picture)
    return walls


@given(SEEDS, COUNTS)
@settings(max_examples=15, deadline=None)
def test_flat_the_fan_is_small_multiples_of_one_icicle(seed, n):
    traces = some(seed, n)
    drawing = draw(traces, fan=0, taper=0, resolution=1e-3 + 0.05)
    assert drawing.camera.direction == pytest.approx((0, 0, 1), abs=1e-9)
    width, deepest = 300, max(int(t.calls.depth.max()) for t in traces)
    x = (np.arange(width) + 0.5) / width * WIDTH
    level = max(float(b.size[:, 1].max()) for k in range(n) for b in boxes_of(drawing, "call", k))
    feet = []
    for k, plain in enumerate(plain_walls(traces, width)):
        (boxes,) = boxes_of(drawing, "call", k)
        foot = float(boxes.low[:, 1].min())
        feet.append(foot)
        ours = np.full_like(plain, -1)
        for i, call in enumerate(boxes.id.tolist()):
            inside = (x >= boxes.low[i, 0]) & (x < boxes.low[i, 0] + boxes.size[i, 0])
            row = round((float(boxes.low[i, 1]) - foot) / level)
            # In the flat figure nothing shows between two levels.
            assert boxes.size[i, 1] == pytest.approx(level, rel=1e-4)
            ours[row, inside] = call
        drawn = np.isin(plain, boxes.id) | (plain < 0)
        assert np.mean(ours[drawn] == plain[drawn]) > 0.995
    pitch = -np.diff(feet)
    np.testing.assert_allclose(pitch, pitch[0], rtol=1e-4)
    assert pitch[0] > deepest * level
    # No bridge covers a box: seen from above all lie under the walls.
    for element, i, _ in bridges(drawing):
        points = element.point[element.first[i] : element.first[i + 1]]
        half = element.radius[element.first[i] : element.first[i + 1], 1] if isinstance(element, Tubes) else 0
        for k in range(n):
            low, high = wall(drawing, k)
            there = (points[:, 1] > low[:, 1].min()) & (points[:, 1] < high[:, 1].max())
            assert ((points[:, 2] + half)[there] <= 1e-5).all()


@pytest.mark.parametrize("n", [3, 5, 8, 12])
def test_names_letters_and_numbers_fit_and_do_not_overlap(n):
    pytest.importorskip("bpy", reason="no bpy")
    from tracevis3d.scene.build import build, discard

    drawing = draw(some(40, n), frame=Frame())
    built = build(drawing, frame=Frame())
    try:
        assert built.counts["label_overlaps"] == 0
        assert built.counts["axis_texts_left_out"] == 0
        assert built.counts["legend_entries_left_out"] == 0
        others = sum(len(x) for x in drawing.labels if x.kind == "function")
        # Only functions' names may be left out.
        assert built.counts["labels_left_out"] <= others
        without = Drawing(
            drawing.palette, drawing.elements, drawing.camera,
            tuple(x for x in drawing.labels if x.kind != "function"), drawing.axes, drawing.legends,
        )  # fmt: skip
        alone = build(without, frame=Frame())
        assert alone.counts["labels_left_out"] == 0
        discard(list(alone.collection.objects))
    finally:
        discard(list(built.collection.objects))


def test_names_of_traces_end_before_the_matrix():
    drawing = draw(some(1, 3))
    (cells,) = boxes_of(drawing, "similarity")
    names = [
        x for x in drawing.labels if x.kind == "trace" and (x.anchor[:, 0] < cells.low[:, 0].min()).all()
    ]
    assert names
    for labels in names:
        assert isinstance(labels, Labels)
        assert (labels.anchor[:, 0] >= WIDTH).all()
        assert (labels.anchor[:, 0] + labels.room <= cells.low[:, 0].min() + 0.3).all()


def test_walls_stand_in_the_order_of_similarity():
    a, b = walked_trace(1, threads=1, steps=60), walked_trace(9, threads=1, steps=60, functions=3, modules=0)
    drawing = draw([a, b, a], order="similarity")
    feet = [wall(drawing, k)[0][:, 1].min() for k in range(3)]
    # The two equal ones are neighbours.
    assert sorted(range(3), key=lambda k: -feet[k]) in ([0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1])
    assert drawing.counts["pairs"] == 2


def test_one_function_has_one_color_between_all_walls():
    trace = walked_trace(12, threads=1, steps=200)
    drawing = draw([trace] * 4, fade=False, entries=10)
    legend = next(x for x in drawing.legends if x.title == "Tubes within")
    colors = {}
    for element, i, match in bridges(drawing):
        (_, call), (_, other) = ends_of(drawing, match)
        colors.setdefault((call, other), set()).add(int(element.color[i]))
    # The same match between other walls has the same colour.
    assert colors
    assert all(len(found) == 1 for found in colors.values())
    assert {c for found in colors.values() for c in found} <= {e.color for e in legend.entries}


@settings(deadline=None)
@given(
    st.dictionaries(st.text("abc.", min_size=1, max_size=40), st.integers(0, 5), max_size=9),
    st.integers(0, 5),
)
def test_the_largest_are_named_as_far_as_a_row_has_room(weight, most):
    kept, room = [], 18.5 * most
    for name in sorted(weight, key=lambda name: (-weight[name], name))[:most]:
        room -= min(len(name), 24)
        if kept and room < 0:
            break
        kept.append(name)
    assert largest(weight, most) == kept


@pytest.mark.parametrize("n", [3, 12])
def test_the_legends_of_tubes_and_walls_are_one_row(n):
    pytest.importorskip("bpy", reason="no bpy")
    from tracevis3d.scene import styles
    from tracevis3d.scene.text.glyphs import typeface
    from tracevis3d.scene.text.legend import lay_out

    frame = Frame(1920, 1080)
    drawing = draw(some(40, n), frame=frame)
    titles = [legend.title for legend in drawing.legends]
    assert titles == ["Tubes within", "Best match"]
    lines = lay_out(drawing, styles.named("paper"), frame, typeface()).lines
    assert len({line.baseline for line in lines if line.text in titles}) == 1


def test_walls_that_are_not_joined_say_so():
    drawing = draw(some(3, 4), pairs="A-C")
    legend = next(x for x in drawing.legends if x.title == "Best match")
    entry = next(e for e in legend.entries if e.text == "not joined")
    for source in range(4):
        alone = [(b.color == entry.color).all() for b in boxes_of(drawing, "call", source)]
        assert all(alone) == (source in (1, 3))


def test_a_focus_greys_what_is_outside():
    trace = walked_trace(3, threads=1, steps=120)
    child = int(np.argmax(trace.calls.extent * (trace.calls.depth == 2)))
    name = trace.functions.label[int(trace.calls.function[child])]
    drawing = draw([trace] * 3, focus=name)
    looks = {e.look for e in drawing.elements if isinstance(e, (Tubes, Lines)) and e.kind in ("tube", "line")}
    assert "ghost" in looks
    assert looks - {"ghost"}
    with pytest.raises(UsageError, match="no function in the joined traces has this name"):
        draw([trace] * 3, focus="nothing like it")


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("neighbours", [(0, 1), (1, 2), (2, 3)]),
        ("all", [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
        ("A-C, d-b", [(0, 2), (1, 3)]),
        ("0-2,1-3", [(0, 2), (1, 3)]),
        ("A-B,1-0", [(0, 1)]),
        ("", []),
    ],
)
def test_pairs_are_words_letters_or_numbers(text, pairs):
    assert chosen_pairs(text, range(4)) == pairs


def test_pairs_mean_traces_wherever_they_stand():
    # C stands at the back, then A, then B.
    assert chosen_pairs("A-C", [2, 0, 1]) == [(0, 1)]
    assert chosen_pairs("A-B", [2, 0, 1]) == [(1, 2)]


@pytest.mark.parametrize("text", ["A", "A-Z", "0-9", "A-A", "x y", "A-B-C", "-"])
def test_pairs_that_are_off_are_reported_in_a_sentence(text):
    with pytest.raises(UsageError, match="pairs="):
        draw(some(1, 3), pairs=text)


def test_what_is_for_two_traces_alone_is_reported():
    with pytest.raises(UsageError, match="second of two traces"):
        draw(some(1, 3), align="1")


@pytest.mark.parametrize("matrix", ["best", "none"])
def test_traces_without_matches_are_walls_all_the_same(matrix):
    traces = [walked_trace(k, threads=1, steps=40, modules=k, functions=4) for k in (0, 1, 2)]
    drawing = draw(traces, tau=0.99, identity="exact", matrix=matrix)
    assert all(len(wall(drawing, k)[0]) for k in range(3))
    assert any("more similar than" in note for note in drawing.notes) or drawing.counts["matches"]
    assert bool(boxes_of(drawing, "similarity")) == (matrix != "none")


def test_blades_of_the_fan_rise_in_equal_steps():
    n, fan = 5, 50.0
    drawing = draw(some(2, n), fan=fan, taper=0)
    rise = []
    for k in range(n):
        low, high = wall(drawing, k)
        rise.append(math.degrees(math.atan2(low[:, 2].max(), high[low[:, 2].argmax(), 1] - low[:, 1].min())))
    wanted = [fan * (n - k) / n for k in range(n)]
    np.testing.assert_allclose(rise, wanted, atol=12)
    assert (np.diff(rise) < 0).all()
