"""What the icicle's drawing says: each test reads the meaning of the picture off its arrays."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.palettes import PALETTES
from tracevis3d.drawing.primitives import Boxes, Drawing, Labels
from tracevis3d.drawing.projection import fit
from tracevis3d.errors import UsageError
from tracevis3d.features.call_tree.icicle.layout import compose
from tracevis3d.features.call_tree.icicle.parameters import Parameters
from tracevis3d.features.call_tree.icicle.view import VIEW
from tracevis3d.formats import registry
from tracevis3d.layout.cut import cut_index
from tracevis3d.layout.scales import LOG_RANGE
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace
from tracevis3d.views.calls.colors import coloring
from tracevis3d.views.time_window import WIDTH

FRAME = Frame(960, 540)
SEEDS = st.integers(0, 10_000)
MEASURES = st.sampled_from(["self", "calls", "repetitions", "memory", "none"])


def draw(trace: Trace, frame: Frame = FRAME, **settings) -> Drawing:
    return VIEW.draw([trace], read(Parameters, settings), frame, silent)


def boxes_of(drawing: Drawing, kind: str) -> Boxes:
    found = [e for e in drawing.elements if e.kind == kind]
    empty = np.empty((0, 3), np.float32)
    return found[0] if found else Boxes(kind, empty, empty, np.empty(0, np.int32), np.empty(0, np.int64))


def labels_of(drawing: Drawing, kind: str) -> list[Labels]:
    return [labels for labels in drawing.labels if labels.kind == kind]


@given(SEEDS, st.floats(0.05, 40), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_each_call_is_drawn_or_in_one_cluster(seed, resolution, opening):
    trace = walked_trace(seed)
    drawing = draw(trace, resolution=resolution, opening=opening, threads="all")
    drawn = boxes_of(drawing, "call")
    assert len(np.unique(drawn.id)) == len(drawn)
    assert drawing.counts["calls"] == len(trace.calls)
    assert len(drawn) + drawing.counts["calls_in_clusters"] == len(trace.calls)


@given(SEEDS, MEASURES, st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_width_is_duration_and_place_is_time(seed, measure, opening):
    trace = walked_trace(seed, allocations=50)
    drawing = draw(trace, resolution=0.05, measure=measure, opening=opening, threads="all")
    calls, drawn = trace.calls, boxes_of(drawing, "call")
    start, end = calls.start.min(), calls.end.max()
    scale = WIDTH / (end - start)
    length = (calls.end - calls.start)[drawn.id]
    np.testing.assert_array_equal(drawn.size[:, 0], (length * scale).astype(np.float32))
    np.testing.assert_allclose(drawn.low[:, 0], (calls.start[drawn.id] - start) * scale, atol=2e-6)
    np.testing.assert_allclose(drawn.time[:, 0] * (end - start), calls.start[drawn.id] - start, atol=0.1)
    np.testing.assert_allclose(drawn.time[:, 1] * (end - start), calls.end[drawn.id] - start, atol=0.1)


@given(SEEDS, st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_a_call_stands_on_its_caller_and_within_it(seed, taper, gap):
    trace = walked_trace(seed)
    drawing = draw(trace, resolution=0.05, taper=taper, gap=0.5 * gap, threads="all")
    drawn = boxes_of(drawing, "call")
    place = {int(call): i for i, call in enumerate(drawn.id)}
    for i, call in enumerate(drawn.id):
        above = place.get(int(trace.calls.parent[call]))
        if above is None:
            assert trace.calls.parent[call] == -1
            continue
        assert drawn.low[i, 2] >= drawn.low[above, 2] + drawn.size[above, 2] - 1e-5
        assert drawn.low[i, 0] >= drawn.low[above, 0] - 1e-5
        right = drawn.low[above, 0] + drawn.size[above, 0]
        assert drawn.low[i, 0] + drawn.size[i, 0] <= right + 1e-5
        back = drawn.low[:, 1] + drawn.size[:, 1]
        assert back[i] == pytest.approx(back[above], abs=1e-6)


def overlapping(low: np.ndarray, high: np.ndarray) -> int:
    """Count pairs of rectangles (n, 2) whose insides meet by more than rounding."""
    inside = (low[:, None] < high[None] - 1e-5) & (high[:, None] - 1e-5 > low[None])
    return int(np.triu(inside.all(axis=2), 1).sum())


@given(SEEDS, st.floats(0.05, 30), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_seen_from_the_front_no_two_boxes_overlap(seed, resolution, opening):
    drawing = draw(walked_trace(seed), resolution=resolution, opening=opening, threads="all")
    both = [boxes_of(drawing, kind) for kind in ("call", "cluster")]
    low = np.concatenate([b.low[:, [0, 2]] for b in both])
    size = np.concatenate([b.size[:, [0, 2]] for b in both])
    wide = size[:, 0] > 1e-4
    assert overlapping(low[wide], (low + size)[wide]) == 0


@given(SEEDS, st.floats(0.5, 30))
@settings(max_examples=40, deadline=None)
def test_clusters_span_the_times_and_depths_of_their_calls(seed, resolution):
    trace = walked_trace(seed, threads=1)
    drawing = draw(trace, resolution=resolution, opening=0.0, gap=0.0)
    calls, clusters = trace.calls, boxes_of(drawing, "cluster")
    scale = WIDTH / (calls.end.max() - calls.start.min())
    both = [boxes_of(drawing, "call"), clusters]
    tops = np.concatenate([(b.low + b.size)[:, 2] for b in both])
    level = tops.max() / calls.depth.max()
    hidden = np.setdiff1d(np.arange(len(calls)), boxes_of(drawing, "call").id)
    for call in hidden:
        left = (calls.start[call] - calls.start.min()) * scale
        right = (calls.end[call] - calls.start.min()) * scale
        bottom, top = (calls.depth[call] - 1) * level, calls.depth[call] * level
        low, high = clusters.low, clusters.low + clusters.size
        holds = (low[:, 0] <= left + 1e-4) & (high[:, 0] >= right - 1e-4)
        holds &= (low[:, 2] <= bottom + 1e-4) & (high[:, 2] >= top - 1e-4)
        assert holds.any()
    assert (clusters.size[:, 0] >= 0).all()
    assert clusters.look == "cluster"


@given(SEEDS, st.sampled_from(["self", "calls", "repetitions", "memory"]))
@settings(max_examples=60, deadline=None)
def test_thicker_means_more(seed, name):
    trace = walked_trace(seed, allocations=60, functions=5)
    drawing = draw(trace, resolution=0.05, measure=name, threads="all")
    drawn, calls = boxes_of(drawing, "call"), trace.calls
    slow = {
        "self": lambda c: (calls.end - calls.start)[c] - (calls.end - calls.start)[calls.parent == c].sum(),
        "calls": lambda c: calls.extent[c],
        "repetitions": lambda c: shapes.count(shapes[c]),
        "memory": lambda c: trace.memory.size[
            (trace.memory.call >= c) & (trace.memory.call < c + calls.extent[c])
        ].sum(),
    }[name]
    shapes: list[object] = [None] * len(calls)
    for c in range(len(calls) - 1, -1, -1):
        shapes[c] = (int(calls.function[c]), tuple(shapes[k] for k in np.flatnonzero(calls.parent == c)))
    value = np.array([float(slow(c)) for c in drawn.id])
    thick = drawn.size[:, 1]
    order = np.argsort(value, kind="stable")
    assert (np.diff(thick[order]) >= -1e-6).all()
    differs = np.diff(value[order]) > 0.01 * max(value.max(), 1)
    assert (np.diff(thick[order])[differs] > 0).all()


def test_a_linear_scale_is_in_proportion():
    trace = walked_trace(3)
    drawing = draw(trace, resolution=0.05, measure="calls", scale="linear", threads="all")
    drawn = boxes_of(drawing, "call")
    extent = trace.calls.extent[drawn.id].astype(float)
    slope, plate = np.polyfit(extent, drawn.size[:, 1], 1)
    assert slope > 0
    np.testing.assert_allclose(drawn.size[:, 1], plate + slope * extent, atol=1e-5)


@given(SEEDS, st.sampled_from(["auto", "module", "function", "thread", "package"]), st.integers(1, 10))
@settings(max_examples=60, deadline=None)
def test_a_box_has_the_colour_of_its_legend_entry(seed, by, entries):
    trace = walked_trace(seed, modules=seed % 6)
    drawing = draw(trace, color=by, entries=entries, resolution=0.05, threads="all")
    drawn, legend = boxes_of(drawing, "call"), drawing.legends[0]
    entry = {e.color: e.text for e in legend.entries if e.look == "solid"}
    has_modules = len(trace.containers) > 0
    for call, color in zip(drawn.id.tolist(), drawn.color.tolist()):
        function = int(trace.calls.function[call])
        if by == "thread":
            name = trace.threads.title(int(trace.calls.thread[call]))
        elif by == "function" or (by == "auto" and legend.title.startswith("Function")):
            name = trace.functions.label[function]
        else:
            name = trace.containers.name[int(trace.functions.container[function])] if has_modules else "other"
        text = entry[color]
        assert text.split("  ")[0] == name or "other" in text.split("  ")[0]
    named = [e for e in legend.entries if e.look == "solid" and "other" not in e.text]
    assert len(named) <= max(entries, 10 if by == "thread" else entries)
    assert len({tuple(drawing.palette[e.color]) for e in named}) == len(named)


def test_the_shares_of_self_time_in_a_legend_are_right_and_add_up():
    trace = walked_trace(5, functions=30, modules=15)
    legend = draw(trace, color="module", entries=4).legends[0]
    calls = trace.calls
    own = (calls.end - calls.start).astype(float)
    np.subtract.at(own, calls.parent[calls.parent >= 0], (calls.end - calls.start)[calls.parent >= 0])
    shares = {}
    for entry in legend.entries:
        if entry.look == "solid":
            name, share = entry.text.split("  ")
            shares[name] = float(share.rstrip(" %")) / 100
    assert sum(shares.values()) == pytest.approx(1, abs=0.03)
    for name, share in shares.items():
        if "other" in name:
            continue
        inside = [name == trace.containers.name[c] for c in trace.functions.container[calls.function]]
        assert share == pytest.approx(own[inside].sum() / own.sum(), abs=0.006)


def test_self_time_is_a_ramp_whose_ticks_are_where_the_colours_are():
    trace = walked_trace(7, longest=10**6)
    drawing = draw(trace, color="self", resolution=0.05, threads="all")
    drawn, (legend, *_) = boxes_of(drawing, "call"), drawing.legends
    first, last = legend.ramp
    assert drawn.color.min() >= first
    assert drawn.color.max() <= last
    calls = trace.calls
    own = calls.end - calls.start
    np.subtract.at(own, calls.parent[calls.parent >= 0], (calls.end - calls.start)[calls.parent >= 0])
    least = own.max() / LOG_RANGE
    place = np.log(np.maximum(own, least)[drawn.id] / least) / np.log(LOG_RANGE)
    assert np.abs((drawn.color - first) / (last - first) - place).max() < 0.01
    light = drawing.palette[first : last + 1, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(light) > -1e-3).all()


def test_equal_subtrees_have_equal_colours():
    trace = walked_trace(11, functions=3, steps=400)
    calls = trace.calls
    colors = coloring(trace, "subtree", PALETTES["muted"], 8, np.arange(3))
    color = colors.of(np.arange(len(calls)))
    named = [e for e in colors.legend.entries if "×" in e.text]
    assert len(named) > 3

    def shape(c: int) -> object:
        return (int(calls.function[c]), tuple(shape(k) for k in np.flatnonzero(calls.parent == c)))

    for entry in named:
        inside = np.flatnonzero(color == entry.color)
        size = int(entry.text.split("(")[1].split(" ")[0])
        roots = [c for c in inside if calls.extent[c] == size]
        assert len({shape(c) for c in roots}) == 1
        covered = np.concatenate([np.arange(c, c + size) for c in roots])
        np.testing.assert_array_equal(np.sort(covered), inside)
        assert int(entry.text.split("× ")[1].split(" ")[0].replace(",", "")) == len(roots) > 1
    drawn = boxes_of(draw(trace, color="subtree", entries=8, resolution=0.05, threads="all"), "call")
    np.testing.assert_array_equal(drawn.color, color[drawn.id])


@given(SEEDS, st.integers(2, 30))
@settings(max_examples=30, deadline=None)
def test_neighbouring_threads_never_have_the_same_colour(seed, threads):
    trace = walked_trace(seed, threads=threads, steps=12)
    drawing = draw(trace, color="thread", threads="all", resolution=0.05)
    drawn = boxes_of(drawing, "call")
    lanes = boxes_of(drawing, "terrace").id
    color = {int(trace.calls.thread[c]): int(k) for c, k in zip(drawn.id, drawn.color)}
    shown = [color[int(t)] for t in lanes if int(t) in color]
    if len(shown) == len(lanes):
        assert all(a != b for a, b in pairwise(shown))
        assert len(shown) < 3 or shown[0] != shown[-1]


@given(SEEDS, MEASURES)
@settings(max_examples=40, deadline=None)
def test_closed_it_is_flat(seed, measure):
    drawing = draw(walked_trace(seed, allocations=20), opening=0.0, measure=measure, threads="all")
    for kind in ("call", "cluster"):
        boxes = boxes_of(drawing, kind)
        assert len(set(boxes.low[:, 1].tolist())) <= 1
        assert len(set(boxes.size[:, 1].tolist())) <= 1
    assert drawing.camera.direction == pytest.approx((0, -1, 0))


def test_opening_moves_everything_continuously_and_no_box_along_x():
    trace = walked_trace(2)
    before = None
    for opening in np.linspace(0, 1, 21):
        drawing = draw(trace, opening=float(opening), resolution=0.05, threads="all", level=0.1)
        now = boxes_of(drawing, "call")
        if before is not None:
            np.testing.assert_array_equal(now.id, before.id)
            np.testing.assert_array_equal(now.low[:, 0], before.low[:, 0])
            np.testing.assert_array_equal(now.size[:, 0], before.size[:, 0])
            assert np.abs(now.low - before.low).max() < 0.4
            assert np.abs(now.size - before.size).max() < 0.1
        before = now


@given(SEEDS, st.floats(0, 1), st.floats(0.5, 16))
@settings(max_examples=30, deadline=None)
def test_colours_pulled_apart_stand_before_each_other_by_equal_steps(seed, opening, apart):
    trace = walked_trace(seed)
    drawing = draw(trace, resolution=0.05, opening=opening, apart=apart, threads="all")
    back = {int(thread): y for thread, y in zip(*riser_places(drawing))}
    # Three neutrals come after the colours of calls.
    step = opening * apart / max(len(drawing.palette) - 4, 1)
    for kind in ("call", "cluster"):
        boxes = boxes_of(drawing, kind)
        wall = np.array([back[int(thread)] for thread in trace.calls.thread[boxes.id]])
        far = boxes.low[:, 1].astype(np.float64) + boxes.size[:, 1]
        np.testing.assert_allclose(far, wall - step * boxes.color, atol=1e-4)


def riser_places(drawing: Drawing) -> tuple[np.ndarray, np.ndarray]:
    """Return the threads, and where the wall behind each stands."""
    risers = boxes_of(drawing, "riser")
    return risers.id, risers.low[:, 1]


def rasterised(trace: Trace, width: int, levels: int) -> np.ndarray:
    """The plain icicle plot of one thread: the call (or -1) at the middle of each pixel, level by level."""
    calls = trace.calls
    start, end = int(calls.start.min()), int(calls.end.max())
    picture = np.full((levels, width), -1, np.int64)
    time = start + (np.arange(width) + 0.5) * (end - start) / width
    for c in range(len(calls)):
        covered = (time >= calls.start[c]) & (time < calls.end[c])
        picture[calls.depth[c] - 1, covered] = c
    return picture


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_the_flat_twin_is_the_plain_icicle_plot(seed):
    trace = walked_trace(seed, threads=1)
    drawing = draw(trace, opening=0.0, gap=0.0, resolution=0.05)
    drawn = boxes_of(drawing, "call")
    width, levels = 400, int(trace.calls.depth.max())
    plain = rasterised(trace, width, levels)
    both = [drawn, boxes_of(drawing, "cluster")]
    level = max(float((b.low + b.size)[:, 2].max(initial=0)) for b in both) / levels
    ours = np.full_like(plain, -1)
    x, z = (np.arange(width) + 0.5) * WIDTH / width, (np.arange(levels) + 0.5) * level
    for i in range(len(drawn)):
        low, high = drawn.low[i], drawn.low[i] + drawn.size[i]
        rows = (z >= low[2]) & (z < high[2])
        ours[np.ix_(rows, (x >= low[0]) & (x < high[0]))] = drawn.id[i]
    shown = np.isin(plain, drawn.id)
    # Rounding to float32 may move an edge over the middle of a pixel.
    assert np.count_nonzero(ours[shown] != plain[shown]) <= 1e-3 * plain.size
    assert (ours[~shown] == -1).mean() >= 1 - 1e-3


@given(SEEDS, st.floats(0, 0.9), st.floats(0.05, 1))
@settings(max_examples=60, deadline=None)
def test_a_window_shows_what_meets_it_cut_at_its_ends(seed, share, part):
    trace = walked_trace(seed)
    first, last = int(trace.calls.start.min()), int(trace.calls.end.max())
    start = first + int(share * (last - first))
    end = start + max(int(part * (last - start)), 1)
    drawing = draw(trace, start=f"{start}ns", end=f"{end}ns", resolution=0.05, threads="all")
    calls, drawn = trace.calls, boxes_of(drawing, "call")
    meets = (calls.start < end + (end >= last)) & (calls.end >= start)
    assert drawing.counts["calls"] == np.count_nonzero(
        meets[np.isin(calls.thread, boxes_of(drawing, "terrace").id)]
    )
    inside = np.minimum(calls.end, end)[drawn.id] - np.maximum(calls.start, start)[drawn.id]
    np.testing.assert_array_equal(drawn.size[:, 0], (inside * (WIDTH / (end - start))).astype(np.float32))
    for boxes in (drawn, boxes_of(drawing, "cluster")):
        assert (boxes.low[:, 0] >= 0).all()
        assert (boxes.low[:, 0] + boxes.size[:, 0] <= WIDTH * (1 + 1e-6)).all()


@given(SEEDS, st.integers(1, 4), st.integers(0, 4))
@settings(max_examples=40, deadline=None)
def test_a_range_of_depths_shows_just_these(seed, first, more):
    trace = walked_trace(seed)
    drawing = draw(trace, first_depth=first, last_depth=first + more, resolution=0.05, threads="all")
    depth = trace.calls.depth[boxes_of(drawing, "call").id]
    assert ((depth >= first) & (depth <= first + more)).all()
    wanted = (trace.calls.depth >= first) & (trace.calls.depth <= first + more)
    wanted &= np.isin(trace.calls.thread, boxes_of(drawing, "terrace").id)
    assert drawing.counts["calls"] == np.count_nonzero(wanted)


@given(SEEDS, st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_lanes_lie_apart_and_on_terraces(seed, opening):
    trace = walked_trace(seed, threads=6)
    drawing = draw(trace, opening=opening, threads="all", resolution=0.05)
    drawn = [boxes_of(drawing, kind) for kind in ("call", "cluster")]
    lanes = {int(t): i for i, t in enumerate(boxes_of(drawing, "terrace").id)}
    low = np.full((len(lanes), 3), np.inf)
    high = np.full((len(lanes), 3), -np.inf)
    for boxes in drawn:
        for i, call in enumerate(boxes.id):
            lane = lanes[int(trace.calls.thread[call])]
            low[lane] = np.minimum(low[lane], boxes.low[i])
            high[lane] = np.maximum(high[lane], boxes.low[i] + boxes.size[i])
    used = np.isfinite(low[:, 2])
    low, high = low[used], high[used]
    assert (low[1:, 2] >= high[:-1, 2] - 1e-6).all()
    # Nothing reaches out over the lane below.
    assert (low[1:, 1] >= high[:-1, 1] - 1e-5).all() or opening < 1


def test_threads_are_chosen_by_name_id_pattern_and_time():
    trace = walked_trace(1, threads=8)
    lanes = lambda **s: [int(t) for t in boxes_of(draw(trace, **s), "terrace").id]  # noqa: E731
    assert lanes(threads="all") == list(range(8))
    assert lanes(threads="worker-3, 105") == [3, 5]
    assert lanes(threads="worker-[01]") == [0, 1]
    calls = trace.calls
    root = calls.depth == 1
    busy = np.bincount(calls.thread[root], (calls.end - calls.start)[root])
    assert lanes(threads="busiest 3", order="busiest") == np.argsort(-busy, kind="stable")[:3].tolist()
    assert lanes(threads="all", order="name") == list(range(8))
    with pytest.raises(UsageError, match="no thread is called 'worker-9'"):
        lanes(threads="worker-9")


def test_many_threads_are_cut_to_the_busiest_and_it_is_said():
    trace = walked_trace(1, threads=60)
    drawing = draw(trace)
    shown = len(boxes_of(drawing, "terrace"))
    assert 1 < shown < 60
    (note,) = [n for n in drawing.notes if "with calls are drawn" in n]
    assert note.startswith(f"{shown} of 60 threads with calls are drawn")
    left_out = np.setdiff1d(np.arange(60), boxes_of(drawing, "terrace").id)
    assert f"{trace.threads.count[left_out].sum():,} calls" in note
    calls, end = trace.calls, int(trace.calls.start.max())
    (note,) = [n for n in draw(trace, end=f"{end // 2}ns").notes if "with calls are drawn" in n]
    drawn = boxes_of(draw(trace, end=f"{end // 2}ns"), "terrace").id
    inside = (calls.start < end // 2) & ~np.isin(calls.thread, drawn)
    assert f"{np.count_nonzero(inside):,} calls" in note
    assert not [n for n in draw(trace, threads="all").notes if "with calls are drawn" in n]


@given(SEEDS, st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_labels_lie_on_their_boxes_and_name_them(seed, opening):
    trace = walked_trace(seed, threads=1, steps=60)
    drawing = draw(trace, Frame(1920, 1080), opening=opening)
    drawn = boxes_of(drawing, "call")
    low, high = drawn.low, drawn.low + drawn.size
    names = labels_of(drawing, "function")
    for labels in names:
        for i, text in enumerate(labels.text):
            x, y, z = labels.anchor[i]
            end = x + labels.room[i]
            on_front = labels.up == (0.0, 0.0, 1.0)
            half = labels.height[i] / 2
            holds = (low[:, 0] <= x) & (end <= high[:, 0] + 0.1 * labels.room[i] + 1e-4)
            if on_front:
                holds &= (low[:, 2] <= z - half + 1e-5) & (z + half <= high[:, 2] + 1e-5)
                holds &= np.abs(low[:, 1] - y) < 0.01
            else:
                holds &= np.abs(high[:, 2] - z) < 1e-5
                holds &= (low[:, 1] <= y - half + 1e-5) & (y + half <= high[:, 1] + 1e-5)
            owners = drawn.id[holds]
            assert text in {trace.functions.label[f] for f in trace.calls.function[owners]}
            colors = drawn.color[holds][
                [trace.functions.label[f] == text for f in trace.calls.function[owners]]
            ]
            assert labels.background[i] in colors


@given(SEEDS, st.sampled_from([-40.0, 40.0]))
@settings(max_examples=30, deadline=None)
def test_no_neighbour_hides_a_name_on_a_front(seed, turn):
    """The line of sight to both ends of a name meets no box of the same level."""
    trace = walked_trace(seed, threads=1, steps=60)
    frame = Frame(1920, 1080)
    drawing = draw(trace, frame, turn=turn, measure="repetitions", relief=1.0)
    x, y, _ = drawing.camera.direction
    both = [boxes_of(drawing, kind) for kind in ("call", "cluster")]
    low = np.concatenate([b.low for b in both]).astype(float)
    high = low + np.concatenate([b.size for b in both])
    for labels in labels_of(drawing, "function"):
        for anchor, room in zip(labels.anchor.astype(float), labels.room.astype(float)):
            own = (
                (low[:, 0] <= anchor[0]) & (anchor[0] <= high[:, 0]) & (np.abs(low[:, 1] - anchor[1]) < 0.01)
            )
            own &= (low[:, 2] <= anchor[2]) & (anchor[2] <= high[:, 2])
            level = np.isin(low[:, 2], low[own, 2]) & (low[:, 1] < anchor[1] - 0.01)
            for end in (anchor[0], anchor[0] + room):
                beside = level & ((high[:, 0] <= end) if x < 0 else (low[:, 0] >= end))
                apart = np.abs(end - (high if x < 0 else low)[beside, 0])
                assert (apart >= (anchor[1] - low[beside, 1]) * abs(x / y) - 0.01).all()


def test_the_widest_boxes_are_labelled_first():
    trace = walked_trace(4, threads=1, steps=400)
    few = labels_of(draw(trace, Frame(1920, 1080), opening=0.0, labels=3), "function")[0]
    many = labels_of(draw(trace, Frame(1920, 1080), opening=0.0), "function")[0]
    assert len(few) == 3
    assert len(many) > 3
    assert sorted(few.rank, reverse=True) == sorted(many.rank, reverse=True)[:3]
    assert draw(trace, labels=0).labels == () or not labels_of(draw(trace, labels=0), "function")


@given(SEEDS, st.floats(0, 0.99))
@settings(max_examples=40, deadline=None)
def test_ticks_of_the_time_axis_stand_at_their_times(seed, share):
    trace = walked_trace(seed, longest=10**6)
    first, last = int(trace.calls.start.min()), int(trace.calls.end.max())
    start = first + int(share * (last - first))
    drawing = draw(trace, start=f"{start}ns")
    axis = drawing.axes[0]
    unit = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[axis.title.split("(")[1].rstrip(")")]
    if "from" in axis.title:
        return
    assert len(axis.tick) >= 2
    for tick, text in zip(axis.tick, axis.text):
        assert 0 <= tick <= WIDTH
        time = start + tick / WIDTH * (last - start)
        assert float(text.replace(",", "")) * unit == pytest.approx(time, abs=1e-4 * (last - start) + 1)


def test_the_ruler_of_the_measure_tells_thickness():
    trace = walked_trace(9, threads=1)
    drawing = draw(trace, measure="calls", scale="linear", resolution=0.05)
    drawn = boxes_of(drawing, "call")
    (ruler,) = labels_of(drawing, "ruler")
    back = float((drawn.low + drawn.size)[0, 1])
    thick = {int(e): float(t) for e, t in zip(trace.calls.extent[drawn.id], drawn.size[:, 1])}
    extent, size = np.array(sorted(thick)), np.array([thick[e] for e in sorted(thick)])
    for text, anchor in zip(ruler.text[:-1], ruler.anchor[:-1]):
        value = float(text.replace(",", ""))
        if extent.min() <= value <= extent.max():
            assert back - anchor[1] == pytest.approx(np.interp(value, extent, size), abs=1e-4)
    assert ruler.text[-1] == "calls in the subtree"


@given(SEEDS, st.floats(0.2, 20))
@settings(max_examples=30, deadline=None)
def test_resolution_is_in_pixels_of_the_camera(seed, resolution):
    trace = walked_trace(seed, threads=1, steps=400)
    drawing = draw(trace, resolution=resolution)
    projection = fit(drawing.camera, FRAME, (0.95, 0.75))
    drawn = boxes_of(drawing, "call")
    if not len(drawn):
        return
    narrow = int(drawn.size[:, 0].argmin())
    low, size = drawn.low[narrow].astype(float), drawn.size[narrow].astype(float)
    ends = projection.pixels([low, low + np.array([size[0], 0, 0])])
    assert np.hypot(*(ends[1] - ends[0])) >= 0.5 * resolution
    span = trace.calls.end.max() - trace.calls.start.min()
    at_least = drawing.counts["resolution_ns"]
    assert at_least <= max(1.1 * resolution * span / (0.5 * FRAME.width), 1)


def test_the_box_that_must_be_seen_holds_all_boxes():
    for opening in (0.0, 0.4, 1.0):
        drawing = draw(walked_trace(6, threads=5), opening=opening)
        low, high = np.array(drawing.camera.low), np.array(drawing.camera.high)
        for element in drawing.elements:
            if isinstance(element, Boxes):
                assert (element.low >= low - 1e-5).all()
                assert (element.low + element.size <= high + 0.05).all()


def test_every_element_says_what_it_stands_for():
    drawing = draw(walked_trace(6))
    for element in drawing.elements:
        assert len(element.id) == len(element)
        assert len(element.color) == len(element)
        assert element.color.max(initial=0) < len(drawing.palette)
    for legend in drawing.legends:
        assert all(entry.color < len(drawing.palette) for entry in legend.entries)


@pytest.mark.parametrize("opening", [0.0, 1.0])
def test_a_trace_without_calls_gives_an_empty_picture(opening):
    drawing = draw(Trace(), opening=opening)
    assert "no call lies in this window" in drawing.notes
    assert drawing.counts["calls"] == 0


def test_calls_without_duration():
    calls = walked_trace(1, threads=1, steps=2, longest=1)
    drawing = draw(calls)
    assert drawing.counts["calls"] == len(calls.calls) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": "soon"}, "start=soon: a time is expected"),
        ({"end": "-5ms"}, "end=-5ms"),
        ({"start": "1h"}, "start=1h: the trace ends"),
        ({"first_depth": 3, "last_depth": 2}, "last_depth=2"),
        ({"resolution": 0}, "resolution=0: 0.05 is the minimum"),
        ({"measure": "weight"}, "measure=weight: one of"),
        ({"colour": "self"}, "there is no parameter 'colour': did you mean 'color'"),
        ({"opening": "wide"}, "opening=wide: a number is expected"),
    ],
)
def test_wrong_settings_are_reported_in_one_sentence(settings, message):
    with pytest.raises(UsageError, match="^" + message.replace("(", r"\(")) as caught:
        draw(walked_trace(1), **settings)
    assert "\n" not in str(caught.value)


def test_mends_of_the_reader_are_in_the_notes():
    trace = walked_trace(1)
    trace.problems.add("overlap", "line 3", 7)
    assert any(n.startswith("7 records were repaired or left out: overlap") for n in draw(trace).notes)


@pytest.mark.parametrize(
    "name", ["weka_parallel_9t.tsv.gz", "chromium_docs_page.json.gz", "uftrace_lua.json.gz"]
)
@pytest.mark.parametrize("opening", [0.0, 1.0])
def test_recordings(recorded, name, opening):
    trace = registry.open_trace(recorded / name, silent)
    drawing = draw(trace, Frame(), opening=opening, threads="all")
    drawn, clusters = boxes_of(drawing, "call"), boxes_of(drawing, "cluster")
    assert len(drawn) + drawing.counts["calls_in_clusters"] == len(trace.calls)
    length = (trace.calls.end - trace.calls.start)[drawn.id]
    span = trace.calls.end.max() - trace.calls.start.min()
    np.testing.assert_array_equal(drawn.size[:, 0], (length * (WIDTH / span)).astype(np.float32))
    low = np.concatenate([b.low[:, [0, 2]] for b in (drawn, clusters)])[:4000]
    size = np.concatenate([b.size[:, [0, 2]] for b in (drawn, clusters)])[:4000]
    assert overlapping(low, low + size) == 0


def test_drawing_is_repeatable_and_leaves_the_trace_alone():
    trace = walked_trace(8)
    before = {name: getattr(trace.calls, name).copy() for name in ("start", "end", "parent", "extent")}
    one, two = draw(trace), draw(replace(trace))
    for a, b in zip(one.elements, two.elements):
        np.testing.assert_array_equal(getattr(a, "low", a.id), getattr(b, "low", b.id))
        np.testing.assert_array_equal(a.color, b.color)
    for name, column in before.items():
        np.testing.assert_array_equal(column, getattr(trace.calls, name))


@pytest.mark.parametrize("n", [3_000, 300_000])
def test_levels_lower_than_a_pixel_are_drawn_as_rows(tmp_path, n):
    """What is drawn follows the picture's height, not the depth; each call is still in one box."""
    path = tmp_path / "deep.json"
    begin = ",".join(f'{{"name":"f{i % 7}","ph":"B","ts":{i},"pid":1,"tid":1}}' for i in range(n))
    end = ",".join(f'{{"ph":"E","ts":{n + i},"pid":1,"tid":1}}' for i in range(n))
    path.write_text(f"[{begin},{end}]")
    trace = registry.open_trace(path)
    drawing = draw(trace)
    boxes = boxes_of(drawing, "call")
    assert 30 < len(boxes) <= FRAME.height
    assert drawing.counts["calls"] == n
    assert boxes.count.sum() + drawing.counts["calls_in_clusters"] == n
    assert any(
        f"another {n - len(boxes) - drawing.counts['calls_in_clusters']:,} calls" in note
        for note in drawing.notes
    )
    # The rows stand on each other, and reach to the top.
    low, high = boxes.low[:, 2], boxes.low[:, 2] + boxes.size[:, 2]
    assert np.allclose(high[:-1], low[1:], atol=1e-3)
    near = VIEW.level_of_detail([trace], read(Parameters, {}), FRAME)
    assert len(near.look(0, (0, trace.span_ns), 100.0).parts[0]) <= 4 * len(boxes)


def test_levels_of_many_threads_are_high_enough_to_be_read():
    # Shallow threads: as many as have levels of 10 pixels.
    trace = walked_trace(1, threads=40, steps=60)
    frame = Frame(1920, 1080)
    lanes = compose(trace, Parameters(opening=0.0, last_depth=3), frame)[0].lanes
    assert 6 < len(lanes) < 40
    assert np.median(np.diff(lanes.edge)) * frame.width * 0.95 / WIDTH >= 9
    deep = walked_trace(1, threads=60)
    assert 1 < len(compose(deep, Parameters(opening=0.0), frame)[0].lanes) <= 6


@pytest.mark.parametrize("name", ["sync_pillow_8w.json.gz", "weka_parallel_9t.tsv.gz"])
def test_lanes_are_folded_where_levels_would_be_too_low(name):
    trace, frame = registry.open_trace(ROOT / "examples" / name), Frame(1920, 1080)
    pixels = []
    for opening in (0.0, 1.0):
        picture = compose(trace, Parameters(opening=opening), frame)[0]
        assert len(picture.threads) == 6
        assert 0 < np.count_nonzero(picture.folded) < 6
        lanes = picture.lanes
        levels = np.maximum(np.diff(cut_index(trace).thread_level)[picture.threads], 1)
        each = (lanes.height / levels)[~picture.folded]
        assert (lanes.height[picture.folded] < lanes.height[~picture.folded].min()).all()
        pixels.append(float(each.mean()) * picture.pixels_per_unit)
    assert min(pixels) >= 9, pixels
    drawing = VIEW.draw([trace], read(Parameters, {}), frame, silent)
    assert any("of 6 threads are folded" in note for note in drawing.notes)


@pytest.mark.parametrize("name", ["sync_pillow_8w.json.gz", "weka_parallel_9t.tsv.gz"])
def test_a_flat_picture_is_filled_and_shows_the_busiest_thread(name):
    trace, frame = registry.open_trace(ROOT / "examples" / name), Frame(1920, 1080, straight=True)
    drawing = VIEW.draw([trace], read(Parameters, {}), frame, silent)
    calls = boxes_of(drawing, "call")
    (low, high), shown = (drawing.camera.low, drawing.camera.high), 0.75 * frame.height / (0.95 * frame.width)
    assert (high[2] - low[2]) / (high[0] - low[0]) > 0.9 * shown
    roots = np.flatnonzero(trace.calls.parent < 0)
    busiest = trace.calls.thread[roots[np.argmax((trace.calls.end - trace.calls.start)[roots])]]
    levels = calls.size[trace.calls.thread[calls.id] == busiest, 2]
    assert levels.max() > 1.5 * np.median(calls.size[:, 2])
    assert not any("thickness" in note for note in drawing.notes)


def test_detail_of_a_flat_picture_stands_where_its_boxes_do():
    trace, frame = (
        registry.open_trace(ROOT / "examples" / "weka_parallel_9t.tsv.gz"),
        Frame(1920, 1080, straight=True),
    )
    parameters = read(Parameters, {})
    drawn = boxes_of(VIEW.draw([trace], parameters, frame, silent), "call")
    level = VIEW.level_of_detail([trace], parameters, frame)
    (pane,) = level.panes
    detail = level.look(0, pane.window, 4 * pane.pixels_per_unit)
    near = next(one for one in detail.parts if one.kind == "call")
    both, at, of = np.intersect1d(drawn.id, near.id, return_indices=True)
    assert len(both) > 20
    assert np.allclose(drawn.low[at], near.low[of])
    assert np.allclose(drawn.size[at], near.size[of])
