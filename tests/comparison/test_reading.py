"""What helps to read a comparison: names, annotations, repetitions, focus, windows, and what only moves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from tests.comparison.test_view import FRAME, SEEDS, boxes_of, chosen_of, draw, pair, path_of, swept
from tests.support.walked_traces import split, walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Boxes, Drawing, Lines, Tubes
from tracevis3d.drawing.projection import fit
from tracevis3d.errors import UsageError
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.view import matches as matching
from tracevis3d.features.comparison.view.annotations.own_time import longest_own_stretch
from tracevis3d.features.comparison.view.layout import OVERVIEW
from tracevis3d.features.comparison.view.names import inks
from tracevis3d.features.comparison.view.overview import time_in_intervals
from tracevis3d.formats import registry
from tracevis3d.progress import silent
from tracevis3d.trace.events import BEGIN, END
from tracevis3d.trace.model import Source, Trace
from tracevis3d.trace.recording import Recording
from tracevis3d.views.time_window import WIDTH


def label_texts(drawing: Drawing, kind: str) -> list[str]:
    return [text for labels in drawing.labels if labels.kind == kind for text in labels.text]


def lines_of(drawing: Drawing, kind: str) -> list[Lines]:
    return [e for e in drawing.elements if e.kind == kind]


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_names_of_chains_are_those_of_callers_and_callees(seed):
    trace = walked_trace(seed, threads=1, steps=120)
    drawing = draw([trace, trace], height=0.6, overview=False)
    names = set(trace.functions.label)
    calls, found = trace.calls, label_texts(drawing, "function")
    pairs = {
        (trace.functions.label[calls.function[p]], trace.functions.label[calls.function[c]])
        for c, p in enumerate(calls.parent.tolist())
        if p >= 0
    }
    for text in found:
        chain = text.split(" › ")
        assert set(chain) <= names
        assert all(pair in pairs for pair in pairwise(chain))


def test_thickness_tells_how_much_is_matched():
    traces = [walked_trace(3, threads=1, functions=8), walked_trace(3, threads=1, functions=3)]
    drawing = draw(traces, tau=0.0, plates="coverage", opening=180.0, overview=False)
    comparison = compare(*traces, tau=0.0, cache=False)
    for s, trace in enumerate(traces):
        boxes, calls = boxes_of(drawing, "call", s), trace.calls
        matched = comparison.matched(s)
        own = (calls.end - calls.start).astype(float)
        for c, p in enumerate(calls.parent.tolist()):
            if p >= 0:
                own[p] -= calls.end[c] - calls.start[c]
        share = []
        for c in boxes.id.tolist():
            below = range(c, c + int(calls.extent[c]))
            total = sum(own[i] for i in below)
            share.append(sum(own[i] for i in below if matched[i]) / total if total > 0 else 0.0)
        thick = boxes.size[:, 2].astype(float)
        order = np.argsort(share)
        assert (np.diff(thick[order]) >= -1e-5).all()
        if np.ptp(share) > 0:
            slope = np.ptp(thick) / np.ptp(share)
            np.testing.assert_allclose(thick, thick.min() + slope * (np.array(share) - min(share)), atol=1e-4)


def looped(times: int, other: int, tail: str = "tail") -> Trace:
    """A main function that calls f ``times`` times, each of which calls g and h, and then something else."""
    recording = Recording()
    thread = recording.thread(1, 1)
    events = [(BEGIN, "main", 0)]
    for now in range(0, 100 * times, 100):
        events += [(BEGIN, "f", now), (BEGIN, "g", now + 10), (END, "g", now + 40), (BEGIN, "h", now + 50)]
        events += [(END, "h", now + 80), (END, "f", now + 90)]
    now = 100 * times
    events += [(BEGIN, tail, now), (END, tail, now + other), (END, "main", now + other + 10)]
    number = {name: recording.function(name) for name in ("main", "f", "g", "h", tail)}
    kinds, names, time = zip(*events)
    recording.add_events(
        thread=[thread] * len(kinds), kind=list(kinds), function=[number[n] for n in names], time=list(time)
    )
    return recording.finish(Source(path="looped.json"), split, lambda event: f"event {event}")


def test_repetitions_are_framed_and_counted():
    traces = [looped(7, 300), looped(4, 500)]
    drawing = draw(traces, repeats=5)
    assert sorted(label_texts(drawing, "repetition")) == ["×4", "×7"]
    frames = lines_of(drawing, "repetition")
    assert [f.source for f in frames] == [0, 1]
    for frame, trace, times in zip(frames, traces, (7, 4)):
        first = [c for c in range(len(trace.calls)) if trace.functions.label[trace.calls.function[c]] == "f"]
        assert len(first) == times
        boxes = boxes_of(drawing, "call", frame.source)
        place = {int(i): k for k, i in enumerate(boxes.id)}
        left = boxes.low[place[first[0]], 0]
        right = boxes.low[place[first[-1]], 0] + boxes.size[place[first[-1]], 0]
        assert frame.point[:, 0].min() == pytest.approx(left, abs=1e-4)
        assert frame.point[:, 0].max() == pytest.approx(right, abs=1e-4)
    assert drawing.counts["repetitions"] == 2
    assert not lines_of(draw(traces, repeats=0), "repetition")


def test_matches_of_a_call_are_counted_where_they_end():
    drawing = draw([looped(7, 300), looped(1, 900)], matches="all", tubes=100_000, multiples=3, tau=0.2)
    _, chosen, _ = chosen_of([looped(7, 300), looped(1, 900)], drawing, rule="all")
    most = {
        s: sorted(np.unique(ids, return_counts=True)[1].tolist())
        for s, ids in enumerate((chosen.a, chosen.b))
    }
    found = [int(text.split()[0]) for text in label_texts(drawing, "multiplicity")]
    assert found
    assert set(found) <= set(most[0]) | set(most[1])
    assert min(found) >= 3


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_strip_tells_the_time_without_matches(seed):
    rng = np.random.default_rng(seed)
    n, bars = int(rng.integers(0, 9)), int(rng.integers(1, 15))
    edge = np.sort(rng.choice(2000, 2 * n, replace=False))
    start, end = edge[::2], edge[1::2]
    share = time_in_intervals(start, end, (200, 1700), bars)
    inside = np.zeros(1500)
    for a, b in zip(start, end):
        inside[max(a - 200, 0) : max(b - 200, 0)] = 1
    for k in range(bars):
        low, high = k * 1500 / bars, (k + 1) * 1500 / bars
        covered = sum(max(min(b - 200, high) - max(a - 200, low), 0.0) for a, b in zip(start, end))
        assert share[k] == pytest.approx(covered / (high - low), abs=1e-9)


def test_unmatched_calls_are_the_outermost_without_any_match_below():
    traces = [walked_trace(5, threads=1, functions=8), walked_trace(5, threads=1, functions=3)]
    comparison = compare(*traces, tau=0.0, cache=False)
    for s, trace in enumerate(traces):
        calls, matched = trace.calls, comparison.matched(s)
        alone = [not matched[c : c + int(calls.extent[c])].any() for c in range(len(calls))]
        wanted = [
            c for c in range(len(calls)) if alone[c] and not (calls.parent[c] >= 0 and alone[calls.parent[c]])
        ]
        assert matching.unmatched_calls(comparison, s).tolist() == wanted


def test_annotations_are_the_highest_bars_of_each_kind():
    traces = [looped(7, 300), looped(4, 500)]
    drawing = draw(traces)
    texts = label_texts(drawing, "annotation")
    assert texts
    assert all(
        text == "in place" or text.startswith("no match: ") or text.endswith((" later", " earlier"))
        for text in texts
    )
    assert not label_texts(draw(traces, annotate=0), "annotation")
    a, b = looped(3, 100), looped(3, 100, "other")
    found = label_texts(draw([a, b]), "annotation")
    assert any(text.startswith("no match: tail") for text in found)
    assert any(text.startswith("no match: other") for text in found)


def test_a_focus_lights_up_where_it_has_matches_and_leads_there():
    traces = pair(6)
    call = int(np.argmax(traces[0].calls.extent * (traces[0].calls.depth == 2)))
    drawing = draw(traces, focus=f"A:{call}")
    strips = [e for e in drawing.elements if e.kind == "strip"]
    assert [e.source for e in strips] == [1]
    _, chosen, windows = chosen_of(traces, drawing)
    calls = traces[0].calls
    inside = (chosen.a >= call) & (chosen.a < call + calls.extent[call])
    start = (traces[1].calls.start[chosen.b[inside]] - windows[1][0]) / (windows[1][1] - windows[1][0])
    bars = round(1 / float(strips[0].size[0, 0]) * width_of(drawing, 1))
    assert set(strips[0].id.tolist()) == set(np.minimum((start * bars).astype(int), bars - 1).tolist())
    arcs = lines_of(drawing, "arc")
    assert (arcs[0].id == call).all()
    box = boxes_of(drawing, "call", 0)
    middle = box.low[box.id == call][0] + box.size[box.id == call][0] / 2
    for i in range(len(arcs[0])):
        path = path_of(arcs[0], i)
        assert path[0, 0] == pytest.approx(middle[0], abs=1e-3)
        hit = (path[-1, 0] - strips[0].low[:, 0] >= -1e-4) & (
            path[-1, 0] - strips[0].low[:, 0] <= strips[0].size[:, 0] + 1e-4
        )
        assert hit.any()
    with pytest.raises(UsageError, match="calls 0 to"):
        draw(traces, focus="B:999999")


def width_of(drawing: Drawing, source: int) -> float:
    box = boxes_of(drawing, "call", source)
    return float((box.low[:, 0] + box.size[:, 0]).max() - box.low[:, 0].min())


def test_the_focus_camera_sees_what_is_in_focus():
    traces = pair(6)
    drawing = draw(traces, focus="f1", camera="focus")
    assert drawing.camera == drawing.cameras["focus"]
    assert not drawing.camera.whole
    whole = drawing.cameras["overview"]
    near = np.concatenate([e.point for e in swept(drawing) if e.look != "ghost"])
    for axis in (0, 1):
        share = (near[:, axis] >= drawing.camera.low[axis]) & (near[:, axis] <= drawing.camera.high[axis])
        assert share.mean() > 0.9
    assert drawing.camera.high[0] - drawing.camera.low[0] <= whole.high[0] - whole.low[0] + 1
    assert draw(traces, focus="f1").camera == whole


@pytest.mark.parametrize("moment", ["same", "share", "matches"])
def test_the_window_of_b_follows_that_of_a(moment):
    trace = walked_trace(13, threads=1, steps=200)
    low, high = int(trace.calls.start.min()), int(trace.calls.end.max())
    start, end = low + (high - low) // 4, low + (high - low) // 2
    drawing = draw([trace, trace], start_a=f"{start}ns", end_a=f"{end}ns", moment=moment)
    windows = [boxes_of(drawing, "call", s).window for s in (0, 1)]
    if moment == "matches":
        assert windows[1][0] >= start
        assert windows[1][1] <= end
    else:
        assert windows[0] == windows[1] == (start, end)


def test_the_overview_shows_the_whole_trace_with_the_window_as_a_slab():
    traces = pair(13)
    low, high = int(traces[0].calls.start.min()), int(traces[0].calls.end.max())
    start, end = low + (high - low) // 4, low + (high - low) // 2
    drawing = draw(traces, start_a=f"{start}ns", end_a=f"{end}ns")
    slabs = [e for e in drawing.elements if e.kind == "window"]
    assert [e.source for e in slabs] == [0]
    width = (
        WIDTH
        * (end - start)
        / max(end - start, int(np.ptp([traces[1].calls.start.min(), traces[1].calls.end.max()])))
    )
    share = slabs[0].size[0, 0] / width
    assert share == pytest.approx((end - start) / (high - low), rel=1e-3)
    bars = boxes_of(drawing, "interval", 0)
    # There are bars before the window, too.
    assert (bars.low[:, 0] + bars.size[:, 0] < slabs[0].low[0, 0]).any()
    assert not [
        e
        for e in draw(traces, start_a=f"{start}ns", end_a=f"{end}ns", context=False).elements
        if e.kind == "window"
    ]


@pytest.mark.parametrize("change", [{"beta": 0.3}, {"thin": 0.7}, {"lift": 1.5}, {"thickness": 0.4}])
def test_what_only_moves_tubes_moves_nothing_else(change):
    """The same numbers of points, so that a mesh can keep its faces; and the same as drawn from nothing."""
    from tracevis3d.features.comparison.view import base_drawing

    traces = pair(9)
    before = draw(traces, color="position")
    (known,) = base_drawing._base_drawing._results.values()
    after = draw(traces, color="position", **change)
    assert list(base_drawing._base_drawing._results.values()) == [known]
    base_drawing._base_drawing.forget()
    anew = draw(traces, color="position", **change)
    for one, other, third in zip(before.elements, after.elements, anew.elements, strict=True):
        if isinstance(one, Tubes | Lines):
            np.testing.assert_array_equal(one.first, other.first)
            np.testing.assert_array_equal(one.color, other.color)
            np.testing.assert_array_equal(other.point, third.point)
        if isinstance(one, Boxes):
            np.testing.assert_array_equal(one.low, other.low)
    assert before.labels is after.labels
    moved = [
        not np.array_equal(a.point, b.point) or not np.array_equal(a.radius, b.radius)
        for a, b in zip(swept(before), swept(after))
        if isinstance(a, Tubes)
    ]
    assert any(moved)


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_longest_own_stretch_is_that_of_the_plain_rule(seed):
    calls = walked_trace(seed, threads=1, steps=60).calls
    for call in range(len(calls)):
        edges = [int(calls.start[call])]
        for child in range(len(calls)):
            if calls.parent[child] == call:
                edges += [int(calls.start[child]), int(calls.end[child])]
        edges.append(int(calls.end[call]))
        longest = max(edges[i + 1] - edges[i] for i in range(0, len(edges), 2))
        start, end = longest_own_stretch(calls, call)
        assert end - start == longest
        assert start in edges
        assert end in edges


def test_a_call_itself_is_framed_on_its_level_alone():
    traces = pair(4)
    one, other = (int(np.argmax(t.calls.extent)) for t in traces)
    drawing = draw(traces, mark=f"A:{one} itself, B:{other}")
    start, end = longest_own_stretch(traces[0].calls, one)
    frames = {e.source: e for e in drawing.elements if e.kind == "callout"}
    boxes = next(e for e in drawing.elements if e.kind == "call" and e.source == 0)
    span = float(max(t.calls.end.max() - t.calls.start.min() for t in traces))
    x = frames[0].point[:, 0]
    begin = (start - traces[0].calls.start.min()) / span * WIDTH
    least = 7.0 * WIDTH / 960
    assert x.min() == pytest.approx(begin, abs=least)
    assert x.max() == pytest.approx(begin + (end - start) / span * WIDTH, abs=least)
    # Its level alone, while the frame of B's goes down to the deepest call.
    own, whole = (np.ptp(frames[s].point[:, 1]) for s in (0, 1))
    assert own == pytest.approx(float(boxes.size[boxes.id == one, 1][0]), rel=0.3)
    assert whole > 1.5 * own
    (name,) = [t for e in drawing.labels if e.kind == "callout" for t in e.text if t.endswith(" itself")]
    assert name.startswith(traces[0].functions.label[int(traces[0].calls.function[one])][:20])


@pytest.mark.parametrize("opening", [0.0, 30.0, 90.0, 140.0, 180.0])
def test_calls_are_merged_that_are_narrow_in_the_picture(opening):
    """The threshold holds for each wall as the camera sees it: the farther one is seen smaller."""
    traces = [walked_trace(3, threads=1, steps=20_000)] * 2
    asked = {"opening": opening, "resolution": 3.0, "gap": 6.0}
    drawing = draw(traces, **asked)
    projection = fit(drawing.camera, FRAME, (0.95, 0.65))
    narrowest = []
    for s in (0, 1):
        boxes = boxes_of(drawing, "call", s)
        merged = boxes_of(drawing, "cluster", s)
        middle = np.median(boxes.low, axis=0).astype(np.float64)
        at = projection.pixels(middle + np.array([(0.0, 0.0, 0.0), (0.01, 0.0, 0.0)]))
        scale = float(np.hypot(*(at[1] - at[0]))) / 0.01
        narrowest.append(float(boxes.size[:, 0].min()))
        assert narrowest[s] * scale >= 3.0 * 0.93
        lasted = (traces[s].calls.end - traces[s].calls.start)[merged.id]
        span = float(traces[s].calls.end.max() - traces[s].calls.start.min())
        assert (lasted / span * WIDTH * scale).max() <= 3.0 * 1.07
    # A, which is farther, is coarser where the camera looks from the front.
    assert opening > 30 or narrowest[0] > narrowest[1]


@given(SEEDS)
@settings(max_examples=12, deadline=None)
def test_the_overview_of_the_flat_twin_is_the_papers(seed):
    """Flat, the overview is two rows of plain rectangles, A's upwards and B's downwards (section IV-A)."""
    traces = pair(seed)
    drawing = draw(traces, opening=180.0, gap=1.5, lines=100_000, annotate=0)
    # All matches of all calls, whatever is drawn of them.
    _, chosen, windows = chosen_of(traces, rule="all")
    span = max(high - low for low, high in windows)
    calls = [boxes_of(drawing, "call", s) for s in (0, 1)]
    edges = [float((b.low + b.size)[:, 1].max()) if s == 0 else float(b.low[:, 1].min()) for s, b in
             enumerate(calls)]  # fmt: skip
    rows, tallest = [], 0.0
    for s, ids in enumerate((chosen.a, chosen.b)):
        bars = boxes_of(drawing, "interval", s)
        width = (windows[s][1] - windows[s][0]) / span * WIDTH
        count = round(160 * (windows[s][1] - windows[s][0]) / span)
        start = traces[s].calls.start[ids]
        plain: dict[int, float] = {}
        for t, similarity in zip(start.tolist(), chosen.similarity.tolist()):
            place = (t - windows[s][0]) / (windows[s][1] - windows[s][0])
            bar = min(int(place * count), count - 1)
            plain[bar] = plain.get(bar, 0.0) + similarity
        rows.append((bars, plain, width / count))
        tallest = max(tallest, *plain.values(), 0.0)
    for s, (bars, plain, step) in enumerate(rows):
        assert bars.id.tolist() == sorted(plain)
        for i, bar in enumerate(bars.id.tolist()):
            assert bars.low[i, 0] == pytest.approx((bar + 0.08) * step, abs=1e-3)
            assert bars.size[i, 1] == pytest.approx(OVERVIEW * plain[bar] / tallest, abs=1e-3)
        # A's bars begin beyond its roots and point up in the picture, B's down: they are mirrored.
        foot = bars.low[:, 1] if s == 0 else (bars.low + bars.size)[:, 1]
        assert np.ptp(foot) < 1e-5
        assert (foot > edges[0]).all() if s == 0 else (foot < edges[1]).all()


def test_repeat_runs_have_the_same_frames(recorded):
    """What is wide in one run is framed in the other, too, if it is seen there at all."""
    traces = [registry.open_trace(recorded / f"vt_markdown_repeat{i}.json.gz", silent) for i in (1, 2)]
    drawing = draw(traces, Frame(1920, 1080), resolution=1.0, repeats=3)
    framed = [set(x.text) for x in drawing.labels if x.kind == "repetition"]
    assert len(framed) == 2
    assert len(framed[0] & framed[1]) >= 2
    for tags in (e for e in drawing.elements if isinstance(e, Boxes) and e.kind == "tag"):
        end = tags.low + tags.size
        for i in range(len(tags)):
            # No number lies on another one.
            over = (tags.low[i, :2] < end[:i, :2] - 1e-6) & (tags.low[:i, :2] < end[i, :2] - 1e-6)
            assert not over.all(axis=1).any()


@pytest.mark.parametrize("opening", [0.0, 30.0, 60.0, 90.0, 120.0, 150.0, 180.0])
def test_names_of_both_walls_can_be_read_at_every_opening(opening):
    """They are high enough as they are seen, and no box stands before them."""
    frame = Frame(1920, 1080)
    traces = [walked_trace(seed, threads=1, steps=60) for seed in (5, 6)]
    drawing = draw(traces, frame, opening=opening, resolution=1.0)
    projection = fit(drawing.camera, frame, (0.95, 0.65))
    view = np.array(drawing.camera.direction)
    for side in (1, -1):
        read = 0
        for labels in drawing.labels:
            if labels.kind != "function":
                continue
            mine = np.sign(labels.anchor[:, 1]) == side
            up = np.array(labels.up) * labels.height[mine, None].astype(np.float64)
            anchor = labels.anchor[mine].astype(np.float64)
            foot, head = projection.pixels(anchor - up / 2), projection.pixels(anchor + up / 2)
            seen = np.hypot(*(head - foot).T)
            assert opening < 150 or seen.min(initial=99.0) >= 0.995 * 12, "a name is less than 12 pixels high"
            # Texts that face away, or lie within a box, can't be read.
            ahead = anchor[:, None] + view * np.linspace(0.01, 3.0, 60)[None, :, None]
            hidden = np.zeros(len(anchor), np.bool_)
            for boxes in (b for b in drawing.elements if isinstance(b, Boxes) and b.kind in ("call", "band")):
                low, high = boxes.low[:, None, None], (boxes.low + boxes.size)[:, None, None]
                hidden |= ((ahead > low) & (ahead < high)).all(axis=3).any(axis=(0, 2))
            read += int(np.count_nonzero((seen >= frame.least_text) & ~hidden))
        assert read >= 2, side


def test_names_of_one_line_are_on_grounds_of_one_ink():
    palette = np.array(
        [[0.6, 0.63, 0.66, 0.42], [0.48, 0.32, 0.67, 1.0], [0.76, 0.09, 0.36, 0.2]], np.float32
    )
    ink = inks(palette)
    assert ink[0] == ink[2] != ink[1]  # pale ones are light on paper, and dark on the stage
    for color in palette[:, :3] * palette[:, 3:] + 1 - palette[:, 3:]:
        light = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
        white = 1.05 / (light @ [0.2126, 0.7152, 0.0722] + 0.05)
        assert (white > 4.55) == (inks(np.append(color, 1.0)[None])[0] == ink[1])
