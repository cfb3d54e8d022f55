"""What the drawing of a comparison says: each test reads the meaning of the picture off its arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.plain_match import gamma
from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.palettes import PALETTES
from tracevis3d.drawing.primitives import Boxes, Drawing, Lines, Tubes
from tracevis3d.errors import UsageError
from tracevis3d.features.comparison.compare import VIEW
from tracevis3d.features.comparison.findings.find import find
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.comparison.matching.sums import match_sums
from tracevis3d.features.comparison.view import colors, focus
from tracevis3d.features.comparison.view import matches as matching
from tracevis3d.features.comparison.view.annotations import marks
from tracevis3d.features.comparison.view.boxes import _by_density
from tracevis3d.features.comparison.view.difference.offsets import offsets
from tracevis3d.features.comparison.view.layout import OVERVIEW
from tracevis3d.features.comparison.view.overview import intervals, ramp
from tracevis3d.features.comparison.view.parameters import Parameters
from tracevis3d.formats import registry
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace
from tracevis3d.views.time_window import WIDTH

FRAME = Frame(960, 540)
SEEDS = st.integers(0, 10_000)
KINDS = ("call", "cluster")
NEW = {"tau": 0.2, "threads": "all", "resolution": 0.05, "color": "groups", "walls": "similarity"}


def pair(seed: int, **options) -> list[Trace]:
    options = {"threads": 1, "steps": 80, **options}
    return [walked_trace(seed, **options), walked_trace(seed + 1, **options)]


def draw(traces, frame: Frame = FRAME, **settings) -> Drawing:
    return VIEW.draw(traces, read(Parameters, {**NEW, **settings}), frame, silent)


def boxes_of(drawing: Drawing, kind: str, source: int) -> Boxes:
    found = [e for e in drawing.elements if e.kind == kind and e.source == source]
    empty = np.empty((0, 3), np.float32)
    return found[0] if found else Boxes(kind, empty, empty, np.empty(0, np.int32), np.empty(0, np.int64))


def once(ids: np.ndarray) -> np.ndarray:
    """Return each of ``ids`` where it comes first: clusters on walls that lean are a box for each level."""
    return ids[np.sort(np.unique(ids, return_index=True)[1])]


def swept(drawing: Drawing) -> list[Tubes | Lines]:
    return [e for e in drawing.elements if e.kind in ("tube", "line")]


def by_match(drawing: Drawing) -> list[tuple[Tubes | Lines, int]]:
    """Return for each match, in order, the element that draws it and its place there."""
    found = {int(m): (e, i) for e in swept(drawing) for i, m in enumerate(e.id)}
    return [found[m] for m in sorted(found)]


def path_of(element: Tubes | Lines, i: int) -> np.ndarray:
    return element.point[element.first[i] : element.first[i + 1]]


def chosen_of(traces, drawing: Drawing | None = None, tau=0.2, rule="best"):
    """Return the comparison, and the matches between what is drawn (or all calls) as the view."""
    comparison = compare(*traces, tau=tau, cache=False)
    calls = [np.arange(len(t.calls)) for t in traces]
    if drawing is not None:
        calls = [once(np.concatenate([boxes_of(drawing, k, s).id for k in KINDS])) for s in (0, 1)]
    windows = tuple((int(t.calls.start.min()), int(t.calls.end.max())) for t in traces)
    return (
        comparison,
        matching.choose(matching.likeness(comparison, (calls[0], calls[1])), windows, rule),
        windows,
    )


@given(SEEDS, st.floats(0.05, 30), st.floats(0, 180))
@settings(max_examples=20, deadline=None)
def test_each_call_is_drawn_or_in_one_cluster(seed, resolution, opening):
    traces = pair(seed)
    drawing = draw(traces, resolution=resolution, opening=opening)
    drawn = [boxes_of(drawing, "call", s) for s in (0, 1)]
    for boxes in drawn:
        assert len(np.unique(boxes.id)) == len(boxes)
    total = sum(len(t.calls) for t in traces)
    assert drawing.counts["calls"] == total
    assert sum(map(len, drawn)) + drawing.counts["calls_in_clusters"] == total


@given(SEEDS, st.floats(0, 180), st.sampled_from(["same", "fit"]))
@settings(max_examples=20, deadline=None)
def test_width_is_duration_on_both_walls(seed, opening, scale):
    traces = pair(seed)
    drawing = draw(traces, opening=opening, scale=scale)
    spans = [float(t.calls.end.max() - t.calls.start.min()) for t in traces]
    for s, trace in enumerate(traces):
        boxes, calls = boxes_of(drawing, "call", s), trace.calls
        per_ns = WIDTH / (max(spans) if scale == "same" else spans[s])
        length = (calls.end - calls.start)[boxes.id]
        np.testing.assert_allclose(boxes.size[:, 0], length * per_ns, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(
            boxes.low[:, 0], (calls.start[boxes.id] - calls.start.min()) * per_ns, atol=1e-4
        )


@given(SEEDS, st.floats(0, 180), st.floats(0, 1))
@settings(max_examples=20, deadline=None)
def test_a_tube_ends_at_its_calls_and_is_as_wide(seed, opening, thin):
    traces = pair(seed)
    drawing = draw(traces, opening=opening, thin=thin, tubes=100_000)
    _, chosen, _ = chosen_of(traces, drawing)
    assert sum(map(len, swept(drawing))) == len(chosen) == drawing.counts["matches"]
    boxes = [boxes_of(drawing, "call", s) for s in (0, 1)]
    place = [dict(zip(b.id.tolist(), range(len(b)))) for b in boxes]
    for element in swept(drawing):
        assert isinstance(element, Tubes)
        for i, m in enumerate(element.id.tolist()):
            for ids, b, where, j in (
                (chosen.a, boxes[0], place[0], element.first[i]),
                (chosen.b, boxes[1], place[1], element.first[i + 1] - 1),
            ):
                box = where.get(int(ids[m]))
                if box is None:
                    continue
                low, size = b.low[box], b.size[box]
                middle = low[0] + size[0] / 2
                assert element.point[j, 0] == pytest.approx(middle, abs=1e-3)
                assert 2 * element.radius[j, 0] == pytest.approx(size[0], abs=0.03)
                # It ends at the inner side of the box, across the whole of it.
                assert low[1] - 0.02 <= element.point[j, 1] <= low[1] + size[1] + 0.02


def plain_similarity(comparison, traces, a, b):
    left, right = gamma(traces[0], a, comparison.identity.a), gamma(traces[1], b, comparison.identity.b)
    return len(left & right) / len(left | right)


@given(SEEDS, st.sampled_from([0.0, 0.2, 0.5]))
@settings(max_examples=20, deadline=None)
def test_the_best_matches_are_those_of_the_plain_rule(seed, tau):
    traces = pair(seed, steps=40, functions=6)
    comparison, chosen, _ = chosen_of(traces, tau=tau)
    n, m = (len(t.calls) for t in traces)
    s = np.array([[plain_similarity(comparison, traces, a, b) for b in range(m)] for a in range(n)])
    s[s <= tau] = 0
    at = []
    for trace in traces:
        order = np.arange(len(trace.calls))
        at.append([column / len(trace.calls) for column in (order, order + trace.calls.extent)])
    ids = comparison.identity.a[traces[0].calls.function], comparison.identity.b[traces[1].calls.function]

    def rank(a, b):
        far = sum(min(abs(left[a] - right[b]), 1.0) for left, right in zip(*at))
        return float(ids[0][a] == ids[1][b]) - 0.25 * far

    def best(pairs):
        near = [(a, b) for a, b in pairs if s[a, b] > 0]
        top = max((s[p] for p in near), default=0)
        near = [p for p in near if s[p] > top - matching.NEARLY]
        return [max(near, key=lambda p: rank(*p))] if near else []

    rows = {a: best([(a, b) for b in range(m)]) for a in range(n)}
    columns = {b: best([(a, b) for a in range(n)]) for b in range(m)}
    found = set(zip(chosen.a.tolist(), chosen.b.tolist()))

    def equals(pair, others):
        """Return whether a pair is the best one, or told apart from it by rounding alone."""
        return any(s[pair] > s[p] - matching.NEARLY and rank(*pair) > rank(*p) - 1e-9 for p in others)

    for pair_ in found:
        assert equals(pair_, rows[pair_[0]]) or equals(pair_, columns[pair_[1]])
    for side, lines in ((0, rows), (1, columns)):
        for line, wanted in lines.items():
            assert not wanted or any(equals(p, wanted) for p in found if p[side] == line)
    np.testing.assert_allclose(chosen.similarity, s[chosen.a, chosen.b])
    assert chosen.left_out + len(chosen) == np.count_nonzero(s)
    length = [(t.calls.end - t.calls.start)[c] for t, c in zip(traces, (chosen.a, chosen.b))]
    np.testing.assert_allclose(chosen.importance, chosen.similarity * np.minimum(*length))
    assert (np.diff(chosen.importance) <= 1e-9).all()


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_all_matches_are_listed_or_counted(seed):
    traces = pair(seed, steps=40)
    comparison, chosen, _ = chosen_of(traces, rule="all")
    assert len(chosen) == comparison.call_pairs
    assert chosen.left_out == 0
    few = draw(traces, matches="all", tubes=7, lines=5)
    _, between, _ = chosen_of(traces, few, rule="all")
    drawn = sum(map(len, swept(few)))
    assert drawn == min(12, len(between))
    assert few.counts["matches_left_out"] == len(between) - drawn


@given(SEEDS, st.booleans(), st.sampled_from(["best", "all"]))
@settings(max_examples=20, deadline=None)
def test_groups_hold_their_matches(seed, divide, rule):
    traces = pair(seed, steps=60)
    comparison, chosen, _ = chosen_of(traces, rule=rule)
    grouping = matching.group(comparison, chosen, divide)
    calls = [t.calls for t in traces]
    for ids, roots, c in zip((chosen.a, chosen.b), (grouping.a, grouping.b), calls):
        root = roots[grouping.of]
        assert (ids >= root).all()
        assert (ids < root + c.extent[root]).all()
    assert (np.diff(grouping.weight[: grouping.trunk]) <= 0).all()
    if not divide:
        assert grouping.trunk == len(grouping)
        found = set(zip(grouping.a.tolist(), grouping.b.tolist()))
        kept = comparison.groups.roots_of(*calls, chosen.a, chosen.b)
        assert found == set(zip(kept.a.tolist(), kept.b.tolist()))


def test_a_trace_against_itself_is_calm():
    trace = walked_trace(5, threads=1, steps=120)
    drawing = draw([trace, trace])
    assert drawing.counts["unmatched"] == drawing.counts["moved"] == 0
    _, chosen, _ = chosen_of([trace, trace], drawing)
    assert (chosen.similarity > 1 - matching.NEARLY).all()
    start = trace.calls.start
    assert (start[chosen.a] == start[chosen.b]).all()
    # Every bar is grey: nothing starts earlier or later.
    grey = ramp("muted")[len(ramp("muted")) // 2]
    for s in (0, 1):
        assert np.abs(drawing.palette[boxes_of(drawing, "interval", s).color] - grey).max() < 1e-6


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_what_has_no_match_stands_out(seed):
    traces = [walked_trace(seed, threads=1, functions=8), walked_trace(seed, threads=1, functions=3)]
    drawing = draw(traces, tau=0.0)
    comparison = compare(*traces, tau=0.0, cache=False)
    entry = next(e for legend in drawing.legends for e in legend.entries if e.text == "no match")
    for s in (0, 1):
        boxes = boxes_of(drawing, "call", s)
        alone = ~comparison.matched(s)[boxes.id]
        np.testing.assert_array_equal(boxes.color == entry.color, alone)
        if alone.any() and not alone.all():
            assert boxes.size[alone, 2].min() > boxes.size[~alone, 2].min()
    assert drawing.counts["unmatched"] == sum(
        int((~comparison.matched(s)[once(np.concatenate([boxes_of(drawing, k, s).id for k in KINDS]))]).sum())
        for s in (0, 1)
    )


@pytest.mark.parametrize("plates", ["unmatched", "coverage"])
def test_no_box_hides_the_names_on_it(plates):
    """Also not those that stand out, whose names matter most."""
    thicker = 0
    for seed in range(6):
        drawing = draw(pair(seed), opening=180, tau=0.9, resolution=1.0, plates=plates)
        for source in (0, 1):
            boxes = boxes_of(drawing, "call", source)
            low, high = boxes.low.astype(np.float64), (boxes.low + boxes.size).astype(np.float64)
            for labels in drawing.labels:
                if labels.kind != "function" or labels.source != source:
                    continue
                for x, y, z in labels.anchor.astype(np.float64):
                    under = (low[:, :2] <= (x, y)).all(axis=1) & (high[:, :2] >= (x, y)).all(axis=1)
                    assert (high[under, 2] < z).all()
                    thicker += int((high[under, 2] > high[:, 2].min() * 1.5).any())
    assert thicker


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_permutation_is_the_distance_in_time(seed):
    traces = pair(seed)
    drawing = draw(traces, color="permutation", fade=False)
    _, chosen, windows = chosen_of(traces, drawing)
    apart = np.abs(
        (traces[0].calls.start[chosen.a] - windows[0][0]) - (traces[1].calls.start[chosen.b] - windows[1][0])
    )
    legend = next(x for x in drawing.legends if x.title == "Starts apart")
    first, last = legend.ramp
    for element in swept(drawing):
        share = (element.color - first) / (last - first)
        np.testing.assert_allclose(share, apart[element.id] / max(apart.max(), 1), atol=0.51 / (last - first))


@given(SEEDS, st.sampled_from(["A", "B"]), st.sampled_from(["muted", "paper"]))
@settings(max_examples=20, deadline=None)
def test_position_is_the_papers_formula(seed, viewpoint, palette):
    traces = pair(seed)
    drawing = draw(traces, color="position", viewpoint=viewpoint, palette=palette, fade=False)
    comparison, chosen, _ = chosen_of(traces, drawing)
    grouping = matching.group(comparison, chosen, True)
    # From A's viewpoint: (tˢ(f_B) - tˢ(G_B)) / (tᵉ(G_B) - tˢ(G_B)).
    calls, ids, roots = (
        (traces[1].calls, chosen.b, grouping.b)
        if viewpoint == "A"
        else (traces[0].calls, chosen.a, grouping.a)
    )
    root = roots[grouping.of]
    share = (calls.start[ids] - calls.start[root]) / np.maximum(calls.end[root] - calls.start[root], 1)
    legend = next(x for x in drawing.legends if x.title.startswith("Start in"))
    first, last = legend.ramp
    for element in swept(drawing):
        # Roots of groups, and what lies around groups, have no place within one.
        ids, color = element.id, element.color
        own = (chosen.a != grouping.a[grouping.of]) | (chosen.b != grouping.b[grouping.of])
        own = (own & (grouping.of < grouping.trunk))[ids]
        np.testing.assert_allclose((color[own] - first) / (last - first), share[ids][own], atol=0.006)
        assert (color[~own] == legend.entries[0].color).all()
    np.testing.assert_allclose(drawing.palette[[first, last]], PALETTES[palette].anchors[[0, -1]], atol=1e-6)
    marks = [e for e in drawing.elements if e.kind == "outlier"]
    other = [
        (t.calls.start[i] - t.calls.start[r[grouping.of]])
        / np.maximum(t.calls.end[r[grouping.of]] - t.calls.start[r[grouping.of]], 1)
        for t, i, r in zip(traces, (chosen.a, chosen.b), (grouping.a, grouping.b))
    ]
    apart = np.abs(other[0] - other[1])
    assert (apart[marks[0].id] > 0.25).all() if marks else (apart <= 0.25).all()


@given(SEEDS)
@example(1564)  # no tube is thin
@settings(max_examples=20, deadline=None)
def test_thin_tubes_are_paler_where_less_similar(seed):
    traces = pair(seed)
    plain, faded = (draw(traces, fade=fade, color="permutation", tubes=100_000) for fade in (False, True))
    _, chosen, _ = chosen_of(traces, plain)
    alphas = []
    for (one, i), (other, j), similarity in zip(by_match(plain), by_match(faded), chosen.similarity):
        before, after = plain.palette[one.color[i]], faded.palette[other.color[j]]
        np.testing.assert_array_equal(before[:3], after[:3])
        wide = 2 * other.radius[other.first[j] : other.first[j + 1], 0].max()
        if wide > 0.4:  # over 16 pixels of 54 a unit
            assert after[3] == 1.0
            assert (other.look == "gloss") == (similarity >= 0.9)
            # In every engine, in three steps below that.
            step = 1.0 if similarity >= 0.9 else min(int((similarity - 0.2) / 0.7 * 3 + 1e-9), 2) / 3
            assert (other.gloss[j] if len(other.gloss) else 0.0) == pytest.approx(step)
        elif wide < 0.2:
            alphas.append((similarity, after[3]))
            assert other.look == "solid"
    ordered = np.array(sorted(alphas)).reshape(-1, 2)
    assert (np.diff(ordered[:, 1]) >= 0).all()
    assert (ordered[:, 1] >= 0.39).all()


def test_a_focus_greys_what_is_outside():
    trace = walked_trace(3, threads=1, steps=120)
    name = trace.functions.label[
        int(trace.calls.function[np.argmax(trace.calls.extent * (trace.calls.depth == 2))])
    ]
    drawing = draw([trace, trace], focus=name, color="permutation")
    inside = focus.focused(trace, name)
    _, chosen, _ = chosen_of([trace, trace], drawing)
    wanted = inside[chosen.a] & inside[chosen.b]
    assert wanted.any()
    assert not wanted.all()
    for element in swept(drawing):
        np.testing.assert_array_equal(wanted[element.id], np.full(len(element), element.look != "ghost"))
    with pytest.raises(UsageError, match="no function in either trace has this name"):
        draw([trace, trace], focus="nothing like it")


def test_a_call_path_focuses_on_the_last_where_below_the_first():
    trace = walked_trace(8, threads=1, functions=4, steps=100)
    calls, label = trace.calls, list(trace.functions.label)
    found = focus.focused(trace, "f1 > f2")
    for c in range(len(calls)):
        inside, k = False, c
        while k >= 0:
            if label[calls.function[k]] == "f2":
                up = k
                while up >= 0:
                    inside |= label[calls.function[up]] == "f1"
                    up = int(calls.parent[up])
            k = int(calls.parent[k])
        assert found[c] == inside


def test_align_moves_b_so_that_the_group_starts_together():
    traces = pair(21)
    before, after = draw(traces), draw(traces, align="1")
    assert before.counts["shift_ns"] == 0
    comparison, chosen, windows = chosen_of(traces, before)
    grouping = matching.group(comparison, chosen, True)
    inside = grouping.of == 0
    apart = (traces[0].calls.start[chosen.a] - windows[0][0]) - (
        traces[1].calls.start[chosen.b] - windows[1][0]
    )
    weight = chosen.importance + 1

    def cost(shift):
        return float((weight * (apart - shift) ** 2)[inside].sum())

    shift = after.counts["shift_ns"]
    assert cost(shift) <= min(cost(shift - 5), cost(shift + 5))
    a, b = (boxes_of(after, "call", s) for s in (0, 1))
    per_ns = a.size[:, 0].max() / (traces[0].calls.end - traces[0].calls.start)[a.id].max()
    origin = [
        box.low[:, 0] - (t.calls.start[box.id] - w[0]) * per_ns for box, t, w in zip((a, b), traces, windows)
    ]
    assert np.median(origin[1]) - np.median(origin[0]) == pytest.approx(shift * per_ns, abs=1e-3)
    with pytest.raises(UsageError, match="the groups are numbered 1 to"):
        draw(traces, align="99999")


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_intervals_sum_up_similarity_and_signed_offsets(seed):
    rng = np.random.default_rng(seed)
    n, bars = int(rng.integers(1, 60)), int(rng.integers(1, 12))
    start, offset = rng.integers(0, 1001, n), rng.normal(size=n) * 100
    similarity = rng.uniform(0.1, 1, n)
    total, mean, spread = intervals(start, offset, similarity, (0, 1000), bars)
    for k in range(bars):
        inside = np.minimum((start / 1000 * bars).astype(int), bars - 1) == k
        assert total[k] == pytest.approx(similarity[inside].sum())
        if inside.any():
            m = np.average(offset[inside], weights=similarity[inside])
            assert mean[k] == pytest.approx(m)
            assert spread[k] == pytest.approx(
                np.sqrt(np.average((offset[inside] - m) ** 2, weights=similarity[inside])), abs=1e-6
            )


@given(SEEDS, st.sampled_from([180.0, 140.0, 30.0]), st.sampled_from([FRAME, Frame(1920, 1080)]))
@settings(max_examples=8, deadline=None)
def test_bars_are_the_papers_sums_whatever_the_picture(seed, opening, frame):
    """TraceDiff, section IV-A: the similarities of all matches of the calls that start in an interval."""
    traces = pair(seed, steps=50)
    drawing = draw(traces, frame, opening=opening, resolution=2.0)
    comparison = compare(*traces, tau=0.2, cache=False)
    span = max(int(t.calls.end.max() - t.calls.start.min()) for t in traces)
    n, m = (len(t.calls) for t in traces)
    s = np.array([[plain_similarity(comparison, traces, a, b) for b in range(m)] for a in range(n)])
    s[s <= 0.2] = 0
    plain = []
    for trace, weight in zip(traces, (s.sum(axis=1), s.sum(axis=0))):
        start = trace.calls.start - trace.calls.start.min()
        own = int(trace.calls.end.max() - trace.calls.start.min())
        count = max(round(160 * own / span), 1)
        bar = np.minimum((start / own * count).astype(int), count - 1)
        plain.append(np.array([weight[bar == k].sum() for k in range(count)]))
    highest = max(p.max() for p in plain)
    for side, sums in enumerate(plain):
        bars = boxes_of(drawing, "interval", side)
        np.testing.assert_array_equal(bars.id, np.flatnonzero(sums > 0))
        long = OVERVIEW * sums[bars.id] / highest
        if opening == 30.0:
            drawn = bars.size[:, 2]  # upright
        else:
            # They lean with the wall; their thickness does so too.
            cos, sin = np.cos(np.radians(90 - opening / 2)), np.sin(np.radians(90 - opening / 2))
            drawn = (bars.size[:, 1] * cos - bars.size[:, 2] * sin) / (cos**2 - sin**2)
        np.testing.assert_allclose(drawn, long, rtol=1e-3, atol=2e-3)


def test_bars_are_as_thick_as_the_spread():
    traces = pair(4)
    drawing = draw(traces, opening=180.0)
    comparison = compare(*traces, tau=0.2, cache=False)
    paths = find(comparison).evidence.paths
    later, _, _ = offsets(paths, traces[0].calls.start, traces[1].calls.start)
    total, _ = match_sums(comparison)
    start, end = traces[0].calls.start, traces[0].calls.end
    spans = [int(t.calls.end.max() - t.calls.start.min()) for t in traces]
    known = ~np.isnan(later)
    window = (int(start.min()), int(end.max()))
    count = round(160 * spans[0] / max(spans))
    _, _, spread = intervals(start[known], later[known], total[known], window, count)
    bars = boxes_of(drawing, "interval", 0)
    thick = bars.size[:, 2] - bars.size[:, 2].min()
    wide = spread[bars.id]
    slope = thick.max() / max(wide.max(), 1e-9)
    np.testing.assert_allclose(thick, wide * slope, atol=0.02 * thick.max() + 1e-6)


def plain_drawing(traces, drawing: Drawing, gap: float, width: int) -> np.ndarray:
    """TraceDiff's figure, painted call by call: A on top, its roots outermost, B mirrored below.

    The picture holds -1 where there is nothing, the call of A, or the number of A's calls plus that of B.
    """
    deepest = [int(t.calls.depth.max()) for t in traces]
    span = max(float(t.calls.end.max() - t.calls.start.min()) for t in traces)
    picture = np.full((sum(deepest) + 1, width), -1, np.int64)
    time = (np.arange(width) + 0.5) / width * span
    for s, trace in enumerate(traces):
        calls = trace.calls
        start, end = calls.start - calls.start.min(), calls.end - calls.start.min()
        for c in range(len(calls)):
            level = int(calls.depth[c]) - 1
            row = level if s == 0 else picture.shape[0] - 1 - level
            picture[row, (time >= start[c]) & (time < end[c])] = c + s * len(traces[0].calls)
    return picture


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_the_flat_twin_is_the_papers_figure(seed):
    traces = pair(seed)
    gap, width = 1.5, 300
    drawing = draw(traces, opening=180.0, gap=gap, taper=0.0, overview=False)
    assert drawing.camera.direction == pytest.approx((0, 0, 1), abs=1e-9)
    plain = plain_drawing(traces, drawing, gap, width)
    deepest = [int(t.calls.depth.max()) for t in traces]
    boxes = [boxes_of(drawing, "call", s) for s in (0, 1)]
    level = np.median([float(b.size[:, 1].max()) for b in boxes])
    # Rows from the top: A's levels, the gap, B's levels; y of their middles.
    y = [gap / 2 + (deepest[0] - 0.5 - i) * level for i in range(deepest[0])]
    y += [0.0]
    y += [-gap / 2 - (i + 0.5) * level for i in range(deepest[1])]
    x = (np.arange(width) + 0.5) / width * WIDTH
    ours = np.full_like(plain, -1)
    seen = np.zeros(0, np.int64)
    for s, b in enumerate(boxes):
        ids = b.id + s * len(traces[0].calls)
        seen = np.concatenate([seen, ids])
        for i in range(len(b)):
            low, high = b.low[i], b.low[i] + b.size[i]
            rows = (np.array(y) >= low[1]) & (np.array(y) < high[1])
            ours[np.ix_(rows, (x >= low[0]) & (x < high[0]))] = ids[i]
    shown = np.isin(plain, seen)
    assert np.count_nonzero(ours[shown] != plain[shown]) <= 2e-3 * plain.size
    assert (ours[~shown] == -1).mean() >= 1 - 2e-3
    # Nothing but the bundles lies between, below what hides it; all boxes lie on one plane.
    for b in boxes:
        assert (b.low[:, 2] == 0).all()
    for element in swept(drawing):
        half = element.radius[:, 1] if isinstance(element, Tubes) else 0.0
        ends = np.concatenate([element.first[:-1], element.first[1:] - 1])
        assert (element.point[ends, 2] + (half[ends] if np.ndim(half) else half) <= 1e-6).all()


def test_the_tubes_of_the_flat_twin_follow_the_bundled_curves():
    """Each tube of the flat figure is the plain spline of its matches' control points, in x and y."""
    from tracevis3d.features.comparison.view.layout import compose, content, shares
    from tracevis3d.features.comparison.view.tubes import control
    from tracevis3d.layout.bundle import bundle

    traces = pair(11)
    p = read(Parameters, {**NEW, "opening": 180.0, "tubes": 100_000, "lift": 0.0})
    drawing = VIEW.draw(traces, p, FRAME, silent)
    widths, same = shares((traces[0], traces[1]), p)
    contents = tuple(content(t, p, s, FRAME, widths[s]) for s, t in enumerate(traces))
    picture = compose(contents, p, FRAME, same, 0)
    comparison, chosen, _ = chosen_of(traces, drawing)
    grouping = matching.group(comparison, chosen, True)
    tree = control(picture, chosen, grouping, p)
    steady = matching.displacement(comparison, chosen) == 0
    routes = bundle(tree.parent, tree.point, tree.source, tree.target, beta=p.beta, steady=steady)
    for element in swept(drawing):
        for i, m in enumerate(element.id.tolist()):
            ours = element.point[element.first[i] : element.first[i + 1], :2]
            theirs = routes.point[routes.first[m] : routes.first[m + 1], :2]
            np.testing.assert_allclose(ours, theirs, atol=2e-4)


def test_opening_moves_everything_continuously_and_nothing_along_x():
    traces = pair(2)
    before = None
    for opening in np.linspace(180, 0, 31):
        now = draw(traces, opening=float(opening))
        if before is not None:
            for s in (0, 1):
                a, b = boxes_of(before, "call", s), boxes_of(now, "call", s)
                np.testing.assert_array_equal(a.low[:, 0], b.low[:, 0])
                assert np.abs(a.low - b.low).max() < 0.4
                assert np.abs(a.size - b.size).max() < 0.1
            for one, other in zip(by_match(before), by_match(now), strict=True):
                a, b = path_of(*one), path_of(*other)
                np.testing.assert_array_equal(a[:, 0], b[:, 0])
                assert np.abs(a - b).max() < 0.4
        before = now


@given(SEEDS, st.floats(0, 180))
@settings(max_examples=20, deadline=None)
def test_nothing_stands_out_of_a_wall_that_leans(seed, opening):
    """Clusters over many levels follow the wall's slope as calls do: none is farther from it than a call."""
    traces = pair(seed, steps=200)
    drawing = draw(traces, opening=opening, resolution=12.0, taper=0.0)
    rise = np.deg2rad(90 * (1 - opening / 180))
    for s, side in ((0, 1), (1, -1)):
        away = {}
        for kind in KINDS:
            boxes = boxes_of(drawing, kind, s)
            end = boxes.low + boxes.size
            outer = end[:, 1] if side > 0 else -boxes.low[:, 1]
            away[kind] = outer * np.sin(rise) + end[:, 2] * np.cos(rise)
        if len(away["cluster"]) and len(away["call"]):
            # Those without a match are thicker by a plate, which is less than a call is high.
            highest = float(boxes_of(drawing, "call", s).size[:, 1:].max())
            assert away["cluster"].max() <= away["call"].max() + highest


def test_beta_and_lambda_only_move_points():
    traces = pair(9)
    one, other = draw(traces, thin=0.1), draw(traces, thin=0.9)
    for a, b in zip(swept(one), swept(other)):
        np.testing.assert_array_equal(a.first, b.first)
        np.testing.assert_array_equal(a.point, b.point)
        np.testing.assert_array_equal(a.color, b.color)


def test_windows_cut_both_traces_separately():
    traces = pair(13)
    end = int(traces[0].calls.end.max())
    drawing = draw(traces, end_a=f"{end // 2}ns", start_b=f"{end // 3}ns")
    a, b = (boxes_of(drawing, "call", s) for s in (0, 1))
    assert (traces[0].calls.start[a.id] <= end // 2).all()
    assert (traces[1].calls.end[b.id] >= end // 3).all()
    assert len(a) < len(traces[0].calls)
    assert len(b) < len(traces[1].calls)


@pytest.mark.parametrize(
    "wrong", [{"start_a": "soon"}, {"first_depth": 4, "last_depth": 2}, {"threads": "nobody"}]
)
def test_what_can_not_be_is_said(wrong):
    with pytest.raises(UsageError):
        draw(pair(1), **wrong)


def test_a_trace_without_calls_is_drawn():
    empty = walked_trace(1, steps=0, threads=1)
    drawing = draw([empty, walked_trace(1)])
    assert not swept(drawing)
    assert "no two calls" in drawing.notes[0]


def test_the_recorded_repeat_is_alike_and_in_order(recorded):
    traces = [registry.open_trace(recorded / f"vt_markdown_repeat{i}.json.gz", silent) for i in (1, 2)]
    drawing = VIEW.draw(traces, Parameters(walls="similarity"), Frame(), silent)
    assert drawing.counts["unmatched"] == 0
    best = next(x for x in drawing.legends if x.title == "Best match")
    for s in (0, 1):
        boxes = boxes_of(drawing, "call", s)
        assert (boxes.color == best.ramp[1]).all()  # the colour of s = 1


def test_similarities_for_a_panel():
    traces = pair(5)
    comparison = compare(*traces, tau=NEW.get("tau", 0.3), identity=NEW.get("identity", "auto"), cache=False)
    ((title, rows),) = draw(traces).facts
    assert title == "Similarities"
    counts = [int(text.split()[-1].replace(",", "")) for _, text in rows]
    assert sum(counts[:10]) == comparison.histogram.sum() > 0
    assert counts[10:] == [comparison.set_pairs, comparison.call_pairs]
    light = [text.startswith("░") for _, text in rows[:10] if not text.startswith(" ")]
    assert light == sorted(light, reverse=True)
    # Measures that take minutes to count aren't counted for a panel.
    assert draw(traces, measure="order").facts == ()


def test_notes_say_what_paleness_and_shine_mean():
    traces = pair(7)
    assert "palest lines: similar by 0.2 alone" in draw(traces).notes
    wide = draw([traces[0], traces[0]], resolution=0.05)
    shown = "brightest tubes: similar by 0.9 and more" in wide.notes
    assert any(e.look == "gloss" for e in swept(wide)) == shown
    assert not [note for note in draw(traces, fade=False).notes if "palest" in note or "brightest" in note]


def test_shades_of_density():
    paint = colors.Paint()
    first = paint.add(np.array([[0.5, 0.5, 0.5, 0.8]], np.float32))
    length = np.full(5, 1000, np.int64)
    covered = np.array([0.0, 200.0, 400.0, 700.0, 1000.0])
    shade = _by_density(np.full(5, first, np.int32), covered, length, paint)
    alpha = paint.palette[shade, 3]
    assert alpha[0] == alpha[1] == pytest.approx(0.8 * 0.45)
    assert (np.diff(alpha[1:4]) > 0).all()
    assert alpha[4] == pytest.approx(0.8)


def test_the_legend_says_how_many_of_the_outliers_are_marked(monkeypatch):
    traces = pair(7)
    whole = draw(traces, color="position")
    marked = [e for e in whole.elements if e.kind == "outlier"]
    every = len(marked[0].id)
    assert every > 2
    said = [e.text for legend in whole.legends for e in legend.entries if "positions differ" in e.text]
    assert said == ["positions differ by more than 25 %"]
    monkeypatch.setattr(marks, "_MOST_OUTLIERS", 2)
    cut = draw(pair(7), color="position")
    assert [len(e.id) for e in cut.elements if e.kind == "outlier"] == [2]
    said = [e.text for legend in cut.legends for e in legend.entries if "positions differ" in e.text]
    assert said == [f"positions differ by more than 25 %: 2 of {every}"]
