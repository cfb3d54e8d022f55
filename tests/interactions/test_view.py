"""What the time drum says: checked on the drawing, and its flat twins against a plain raster."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tracevis3d as tv
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Image, Tubes, Wedges
from tracevis3d.errors import UsageError
from tracevis3d.features.interactions.view.chords import choose
from tracevis3d.features.interactions.view.layout import arrange, compose
from tracevis3d.features.interactions.view.parameters import Parameters
from tracevis3d.trace.names import lane_title
from tracevis3d.units import percentage

EXAMPLES = Path(__file__).parents[2] / "examples"

MADE = """\
contain app app.ui
contain app app.core
contain app app.util
contain app.ui app.ui.Window
contain app.ui app.ui.Button
contain app.core app.core.Model
contain app.core app.core.Store
contain app.util app.util.Log
"""


def calls():
    """Return lines of a run of two phases, three times, with one call that happens once."""
    lines, t = [], 0
    for _ in range(3):
        for _ in range(400):
            lines.append(f"call app.ui.Window app.ui.Button {t} 1 draw")
            lines.append(f"call app.ui.Button app.util.Log {t + 1} 1 log")
            t += 10
        for _ in range(400):
            lines.append(f"call app.core.Store app.core.Model {t} 1 load")
            lines.append(f"call app.core.Model app.util.Log {t + 1} 1 log")
            t += 10
    lines[1301] = f"call app.util.Log app.core.Store {6504} 1 flush"
    return lines


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("rsf") / "run.rsf"
    path.write_text(MADE + "\n".join(calls()) + "\n")
    return tv.load(path)


@pytest.fixture(scope="module")
def weka():
    return tv.load(EXAMPLES / "weka_parallel_9t.tsv.gz")


def drawn(trace, *more, **settings):
    return tv.interactions(trace, *more, **{"level": "class", **settings}).drawing(Frame(960, 540))


def of(drawing, kind, source=0):
    found = [e for e in drawing.elements if e.kind == kind and e.source == source]
    assert len(found) == 1, [e.kind for e in drawing.elements]
    return found[0]


def has(drawing, kind):
    return any(e.kind == kind for e in drawing.elements)


def test_tubes_stand_for_all_calls_between_elements(trace):
    drawing = drawn(trace, calls=100_000, slices=1000)
    tubes = of(drawing, "interaction")
    ((source, call),) = drawing.meaning["interaction"].calls
    ((title, count),) = drawing.meaning["interaction"].values
    roots = int(np.count_nonzero(trace.calls.parent < 0))
    assert (source, title) == (0, "calls")
    assert count.sum() == len(trace) - roots == drawing.counts["calls"]
    assert len(tubes) == len(call)
    assert drawing.counts["interactions_left_out"] == 0


def test_area_is_the_number_of_calls_and_the_thin_end_is_the_callees(trace):
    drawing = drawn(trace, slices=7)
    tubes = of(drawing, "interaction")
    count = drawing.meaning["interaction"].values[0][1]
    radius = tubes.radius.reshape(len(tubes), -1, 2)
    assert (radius[..., 0] == radius[..., 1]).all()
    begin, end = radius[:, 0, 0].astype(float), radius[:, -1, 0]
    thick = begin > begin.min() * 1.5
    area = begin[thick] ** 2
    assert area / count[thick] == pytest.approx(area[0] / count[thick][0], rel=1e-4)
    assert (end < 0.5 * begin).all()
    assert any(f"{int(count.max()):,} in the thickest" in note for note in drawing.notes)
    linear = drawn(trace, slices=7, proportion="thickness")
    radius = of(linear, "interaction").radius.reshape(len(tubes), -1, 2)[:, 0, 0].astype(float)
    thick = radius > radius.min() * 1.5
    assert radius[thick] / count[thick] == pytest.approx(radius[thick][0] / count[thick][0], rel=1e-4)
    assert any("thickness is the number of calls" in note for note in linear.notes)
    # Two drums have the same scale.
    pair = drawn(trace, trace, slices=7, end="8us")
    two = drawn(trace, trace, slices=7)
    for picture in (pair, two):
        count = picture.meaning["interaction"].values[0][1]
        radius = np.concatenate([of(picture, "interaction", s).radius[::48, 0] for s in (0, 1)])
        thick = radius > radius.min() * 1.5
        assert np.ptp(radius[thick] ** 2 / count[thick]) < 1e-4 * (radius[thick] ** 2 / count[thick])[0]


def test_colours_go_from_caller_to_callee_and_are_the_legends(trace):
    for palette, ends in (("safe", ("1f5fbf", "e8871e")), ("paper", ("00a000", "e00000"))):
        drawing = drawn(trace, palette=palette)
        tubes, legend = of(drawing, "interaction"), drawing.legends[0]
        ends_of_tube = drawing.palette[[int(tubes.color[0]), int(tubes.end_color[0])]]
        assert (drawing.palette[list(legend.ramp)] == ends_of_tube).all()
        assert legend.ramp_text == ("caller", "callee")
        for index, wanted in zip(legend.ramp, ends, strict=True):
            rgb = np.rint(drawing.palette[index, :3] * 255).astype(int)
            assert "".join(f"{c:02x}" for c in rgb) == wanted


def test_time_mode_colours_by_when(trace):
    drawing = drawn(trace, color="time", slices=20)
    tubes = of(drawing, "interaction")
    order = np.argsort(tubes.time)
    assert (np.diff(tubes.color[order]) >= 0).all()
    assert (tubes.color == tubes.end_color).all()
    assert len(set(tubes.color.tolist())) > 15


def test_the_drum_is_extruded_along_time_and_opposite_directions_lie_apart(trace):
    drawing = drawn(trace, unroll=0, slices=6, apart=0.5)
    tubes = of(drawing, "interaction")
    x = tubes.point.reshape(len(tubes), -1, 3)[..., 0]
    assert np.ptp(x, axis=1).max() < 1e-4  # a chord lies in its slice
    length = drawing.axes[0].length
    side = x[:, 0] - tubes.time * length
    assert set(np.sign(np.round(side, 6)).tolist()) == {-1.0, 1.0}
    assert np.abs(side).max() == pytest.approx(0.25 * length / 6, rel=1e-3)


def test_unroll_takes_the_same_elements_to_the_sequence_view(trace):
    whole = [drawn(trace, unroll=u, apart=0) for u in (0.0, 0.4, 1.0)]
    tubes = [of(d, "interaction") for d in whole]
    assert all((t.id == tubes[0].id).all() and (t.color == tubes[0].color).all() for t in tubes)
    calls = [d.meaning["interaction"].calls[0][1] for d in whole]
    assert all((c == calls[0]).all() for c in calls)
    flat = tubes[2].point.reshape(len(tubes[2]), -1, 3)
    # On the sheet each is a straight bar at its time, in the plane of the sequence.
    assert np.abs(flat[..., 1]).max() < 1e-5
    bars = np.diff(flat[..., 2], axis=1)
    assert np.abs(bars - bars[:, :1]).max() < 1e-4


def test_the_window_says_what_is_shown(trace):
    span = trace.span_ns
    drawing = drawn(trace, start=f"{span // 3}ns", end=f"{2 * span // 3}ns", slices=1, calls=100)
    inside = (
        (trace.calls.start >= span // 3) & (trace.calls.start <= 2 * span // 3) & (trace.calls.parent >= 0)
    )
    assert drawing.counts["calls"] == int(inside.sum())
    assert drawing.meaning["interaction"].values[0][1].sum() == int(inside.sum())
    assert any("from" in note for note in drawing.notes)
    with pytest.raises(UsageError):
        drawn(trace, start="5ms", end="1ms")


def test_phases_are_marked_and_recurring_ones_look_alike(trace):
    drawing = drawn(trace)
    phases = of(drawing, "phase")
    assert len(phases) == 6
    assert phases.color.tolist() == phases.color[[0, 1]].tolist() * 3
    assert np.diff(phases.time.reshape(-1))[1::2] == pytest.approx(0, abs=1e-6)
    assert phases.time[1::2, 0] == pytest.approx([1 / 6, 3 / 6, 5 / 6], abs=0.01)
    names = next(label for label in drawing.labels if label.kind == "phase").text
    assert [name[0] for name in names] == list("ABABAB")
    assert len(of(drawing, "phase border")) == 5
    # The time strip has the same, in nanoseconds.
    assert [stretch.text for stretch in drawing.stretches] == list("ABABAB")
    assert [stretch.color for stretch in drawing.stretches] == phases.color.tolist()
    starts = [stretch.start / trace.span_ns for stretch in drawing.stretches]
    assert starts == pytest.approx([k / 6 for k in range(6)], abs=0.01)
    without = drawn(trace, phases=0)
    assert not has(without, "phase")
    assert not without.stretches


def test_a_marked_stretch_shows_its_repeats(trace):
    third = trace.span_ns // 3
    drawing = drawn(trace, mark=f"0ns..{third - 20}ns", similarity=0.9)
    marks, bars = of(drawing, "marked stretch"), of(drawing, "repeat")
    assert len(marks) == len(bars) == 3
    # Each repeat as long as the stretch, in order of time the stretch first; in the legend's colours.
    assert np.ptp(np.diff(bars.time, axis=1)) < 1e-6
    assert (np.sort(bars.time[:, 0]) == bars.time[:, 0]).all()
    assert bars.color.tolist() == marks.color.tolist()
    signs = next(legend for legend in drawing.legends if legend.title == "Signs")
    assert set(bars.color.tolist()) <= {entry.color for entry in signs.entries}
    colors = {tuple(drawing.palette[entry.color]) for legend in drawing.legends for entry in legend.entries}
    assert len(colors) == len({entry.color for legend in drawing.legends for entry in legend.entries})
    assert any("recurs" in note for note in drawing.notes)
    for words in ("5ms", "5ms..1ms", "a..b"):
        with pytest.raises(UsageError):
            drawn(trace, mark=words)


def test_the_lone_call_is_marked_numbered_and_named(trace):
    drawing = drawn(trace)
    bead = of(drawing, "lone call")
    assert any("Log → Store" in callout.text for callout in drawing.callouts)
    assert len(drawing.callouts) == len(bead) <= 3
    assert not any("Lone" in legend.title for legend in drawing.legends)
    numbers = next(label for label in drawing.labels if label.kind == "lone call")
    assert numbers.text == tuple(str(i + 1) for i in range(len(bead)))
    ((_, call),) = drawing.meaning["lone call"].calls
    labels = [trace.functions.label[int(trace.calls.function[c])] for c in call]
    assert "Store.flush" in labels
    assert int(trace.calls.start[call[labels.index("Store.flush")]]) == 6504
    assert len(of(drawing, "lone call path")) == len(bead)


def test_the_rings_height_is_the_activity_in_the_window(trace):
    drawing = drawn(trace, unroll=0)
    ring = of(drawing, "sector")
    assert isinstance(ring, Wedges)
    height = []
    for low, high in zip(ring.first[:-1], ring.first[1:], strict=True):
        x = ring.corner[low:high, :, 0]
        height.append(float(x.max() - x.min()))
    names = [trace.containers.name[c].rsplit(".", 1)[-1] for c in range(len(trace.containers))]
    assert len(ring) >= len([n for n in names if n != "app"])
    busiest = max(height)
    assert busiest > 2 * min(height)
    low = drawn(trace, unroll=0, relief=0)
    flat = of(low, "sector")
    assert np.ptp(flat.corner[..., 0]) == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize("unroll", [0, 0.4, 1])
@pytest.mark.parametrize("direction", ["right", "down"])
def test_every_stage_can_be_drawn(trace, weka, unroll, direction):
    for one in (trace, weka):
        for opening in (0, 0.5, 1):
            drawing = drawn(one, unroll=unroll, opening=opening, direction=direction)
            for element in drawing.elements:
                point = getattr(element, "point", getattr(element, "corner", None))
                assert point is None or np.isfinite(point).all()


@pytest.mark.parametrize("settings", [
    {"level": "function", "elements": 30}, {"hierarchy": "threads"}, {"hierarchy": "folders"}, {"own": False},
    {"order": "name"}, {"order": "recorded"}, {"axis": "time"}, {"mantle": "none"}, {"mantle": "whole"},
    {"blend": "over", "opening": 0, "unroll": 0}, {"common": True}, {"calls": 0}, {"labels": 0},
    {"outliers": 0}, {"thickness": 0}, {"window": 1, "power": -5},
])  # fmt: skip
def test_settings_can_be_drawn(weka, settings):
    drawing = drawn(weka, **settings)
    assert drawing.elements
    if settings.get("own") is False:
        ids = drawing.meaning["interaction"].calls[0][1]
        parent = weka.calls.parent[ids]
        owner = weka.functions.container
        assert (owner[weka.calls.function[ids]] != owner[weka.calls.function[parent]]).all()
    if settings.get("mantle") == "none":
        assert not has(drawing, "sequence")


def test_short_ways_are_shorter_and_said_so(weka):
    def mean_way(drawing):
        tubes = of(drawing, "interaction")
        count = drawing.meaning["interaction"].values[0][1]
        end = tubes.point.reshape(len(tubes), -1, 3)[:, [0, -1], 2]
        return float((np.abs(end[:, 0] - end[:, 1]) * np.sqrt(count)).sum() / np.sqrt(count).sum())

    settings = {"unroll": 1, "slices": 1, "apart": 0, "own": False}
    short, recorded = (drawn(weka, order=order, **settings) for order in ("short", "recorded"))
    assert mean_way(short) < 0.8 * mean_way(recorded)
    assert any("shortens connections" in note for note in short.notes)


def test_calls_are_pulled_out_of_their_bundle(weka):
    usual = drawn(weka, unroll=0, calls=100_000)
    drawing = drawn(weka, unroll=0, calls=100_000, pull="Evaluation > Instances")
    alone = of(drawing, "pulled interaction")
    call = drawing.meaning["pulled interaction"].calls[0][1]
    owner = [weka.containers.name[c] for c in weka.functions.container]
    for c in call.tolist():
        caller, callee = (owner[int(weka.calls.function[i])] for i in (int(weka.calls.parent[c]), c))
        assert (caller.rsplit(".", 1)[-1], callee.rsplit(".", 1)[-1]) == ("Evaluation", "Instances")
    assert len(alone) + len(of(drawing, "interaction")) == len(of(usual, "interaction"))
    path = alone.point.reshape(len(alone), -1, 3)
    straight = np.linalg.norm(path[:, -1] - path[:, 0], axis=1)
    assert np.linalg.norm(np.diff(path, axis=1), axis=2).sum(axis=1) == pytest.approx(straight, rel=1e-4)
    for words in ("Evaluation", "Evaluation > nothing"):
        with pytest.raises(UsageError):
            drawn(weka, pull=words)


def test_two_traces_stand_face_to_face_and_what_one_lacks_stands_out(trace, tmp_path):
    lines = [line for line in calls() if "Button" not in line]
    path = tmp_path / "other.rsf"
    lines = [line.replace("app.util.Log", "app.core.Log") for line in lines]
    path.write_text(MADE.replace("app.util app.util.Log", "app.core app.core.Log") + "\n".join(lines))
    drawing = drawn(trace, tv.load(path))
    left, right = (of(drawing, "interaction", s).point for s in (0, 1))
    assert left[:, 0].max() < 0 < right[:, 0].min()
    # Each has its name above it, at its left end.
    (names,) = (labels for labels in drawing.labels if labels.kind == "trace")
    for letter, text, run in zip("AB", names.text, (trace, tv.load(path)), strict=True):
        assert text.startswith(f"{letter}   {run.source.title}   ")
        assert text.endswith(" calls")
    for s, anchor in enumerate(names.anchor):
        rim = of(drawing, "rim", s).point
        assert abs(anchor[0] - rim[:, 0].min()) < 0.5
        assert anchor[2] > rim[:, 2].max()
    here, there = (of(drawing, "sector", s) for s in (0, 1))
    entries = {
        entry.text.rpartition(" ")[0].rpartition(" ")[0]: entry for entry in drawing.legends[0].entries
    }
    color = {text: tuple(drawing.palette[entry.color]) for text, entry in entries.items()}
    rings = [set(map(tuple, drawing.palette[ring.color])) for ring in (here, there)]
    assert color["only in A"] in rings[0] - rings[1]  # Button
    assert color["moved"] in rings[0] & rings[1]  # Log
    # The legend stands for sectors and tubes of its colour.
    for text, entry in entries.items():
        tubes = [of(drawing, "interaction", s) for s in (0, 1)]
        for element in (*tubes, here, there):
            same = np.array([tuple(c) == color[text] for c in drawing.palette[element.color]])
            meant = entry.stands_for.of(element.kind, element.color, element.id)
            assert (meant == same).all()
    for source, tube in enumerate(tubes):
        gone = [e for e in entries if e.startswith("only in") and e[-1] != "AB"[source]]
        assert not any(tuple(c) in {color[e] for e in gone} for c in drawing.palette[tube.color])
    # What happens in both has one colour of phases.
    twins = drawn(trace, trace)
    a, b = (of(twins, "phase", s).color.tolist() for s in (0, 1))
    assert a == b


def test_of_two_runs_only_what_differs_is_coloured_and_told(trace, tmp_path):
    twins = drawn(trace, trace)
    assert [entry.text for entry in twins.legends[0].entries] == ["same in both 100 %"]
    assert not twins.callouts
    greys = [twins.palette[of(twins, "phase", s).color, :3] for s in (0, 1)]
    assert np.ptp(np.concatenate(greys), axis=1).max() < 0.08
    lines = calls()
    path = tmp_path / "more.rsf"
    path.write_text(
        MADE + "\n".join(lines + [f"call app.util.Log app.core.Model {30_000 + i} 1 x" for i in range(90)])
    )
    drawing = drawn(trace, tv.load(path))
    assert drawing.title == "Log calls Model never in A, 90 times in B"
    (callout,) = drawing.callouts
    assert (callout.text, callout.detail) == ("Log → Model", "calls: 0 in A and 90 in B")
    assert callout.calls[0][0] == 1
    only = next(entry for entry in drawing.legends[0].entries if entry.text.startswith("only in B"))
    assert only.color == callout.color
    tubes = of(drawing, "interaction", 1)
    who = drawing.meaning["interaction"].texts[0]
    names = [who[1][who[2][i]] for i in tubes.id]
    hue = tuple(drawing.palette[only.color])
    # So have the two sectors, and no others.
    ring = of(drawing, "sector", 1)
    given = arrange([trace, tv.load(path)], Parameters(level="class"))
    hued = [tuple(drawing.palette[c]) == hue for c in ring.color]
    # The root has no sector.
    assert sorted(given.hierarchy.name[i + 1] for i in np.flatnonzero(hued)) == ["Log", "Model"]
    assert all(
        (name == "Log → Model") == (tuple(drawing.palette[c]) == hue) for name, c in zip(names, tubes.color)
    )


def test_names_of_large_sectors_are_there_and_level(weka):
    drawing = tv.interactions(weka).drawing()
    names = [label for label in drawing.labels if label.kind == "element"]
    text = {t for label in names for t in label.text}
    assert {"Instances", "Instance", "Utils"} <= text
    assert all(abs(label.right[2]) < 0.05 for label in names)


def test_the_flat_twin_of_the_sequence_is_the_plain_raster(tmp_path, trace):
    """Render the Massive Sequence View and compare it with the image drawn straight from the calls."""
    pytest.importorskip("bpy")
    from tests.support.drawings import pixels
    from tracevis3d.drawing.output import Output
    from tracevis3d.scene.build import build, clear
    from tracevis3d.scene.output.produce import produce

    frame = Frame(640, 480)
    figure = tv.interactions(trace, level="class", opening=0, unroll=1, phases=0, outliers=0, labels=0)
    drawing = figure.drawing(frame)
    image = of(drawing, "sequence")
    assert isinstance(image, Image)
    built = build(drawing, style="flat", frame=frame)
    at = built.view.pixels(image.point.reshape(-1, 3)).reshape(*image.point.shape[:2], 2)
    clear(built.collection)
    path = tmp_path / "sequence.png"
    produce(drawing, path, Output(style="flat", engine="workbench", frame=frame))
    shown = pixels(path)
    alpha = image.pixel[..., 3:4] / 255
    plain = image.pixel[..., :3] * alpha + 255 * (1 - alpha)
    # Time goes down, the first call on top; the hierarchy goes to the right.
    assert at[0, 0, 1] > at[-1, 0, 1] + 200
    assert at[0, 0, 0] < at[0, -1, 0] - 200
    # No pixel holds two rows or two columns.
    assert image.pixel.shape[1] >= at[0, -1, 0] - at[0, 0, 0]
    assert image.pixel.shape[0] >= at[0, 0, 1] - at[-1, 0, 1]
    rng = np.random.default_rng(0)
    tried = 0
    for r, c in zip(
        rng.integers(8, plain.shape[0] - 8, 3000), rng.integers(8, plain.shape[1] - 8, 3000), strict=True
    ):
        around = plain[r - 5 : r + 6, c - 5 : c + 6]
        if np.ptp(around, axis=(0, 1)).max() > 12:
            continue  # pixels there hold several colours
        x, y = (int(v) for v in at[r, c])
        assert np.abs(shown[y, x] - plain[r, c]).max() < 14
        tried += int(plain[r, c].min() < 250)
    assert tried > 100


@pytest.mark.parametrize(
    ("palette", "shape"),
    [("safe", {"opening": 0}), ("paper", {"opening": 0}), ("safe", {}), ("paper", {"unroll": 0.7})],
)
def test_rows_of_the_sequence_are_equation_3_of_their_calls(trace, palette, shape):
    """Of some rows each point is the mean of its calls' colours, call by call, by equations 2 and 3.

    In the 3D picture too, where ``contrast`` raises the share of the row that they cover to a power.
    """
    drawing = drawn(trace, **{"unroll": 1, "palette": palette, "mantle": "whole", "contrast": 1.0, **shape})
    image = of(drawing, "sequence")
    ramp = drawing.palette[slice(drawing.legends[0].ramp[0], drawing.legends[0].ramp[1] + 1), :3] * 255
    given = arrange([trace], Parameters(level="class", opening=0, unroll=1))
    (found,), h, sectors = given.found, given.hierarchy, given.sectors
    rows, columns = image.pixel.shape[:2]
    n = len(found)
    for row in (0, rows // 3, rows - 1):
        low, high = row * n / rows, (row + 1) * n / rows
        mixed, whole = np.zeros((columns, 4)), 0.0
        for i in range(int(low), min(int(np.ceil(high)), n)):
            window = found.pair[min(max(i - 12, 0), n - 25) :][:25]
            weight = (min(high, i + 1) - max(low, i)) / np.mean(window == found.pair[i])
            whole += weight
            a, b = (int(h.node[e[found.pair[i]]]) for e in (found.caller, found.callee))
            ahead = sectors.middle[a] <= sectors.middle[b]
            start = (sectors.low if ahead else sectors.high)[a] * columns
            end = (sectors.high if ahead else sectors.low)[b] * columns
            left, right = min(start, end), max(start, end)
            for x in range(int(left), min(int(np.ceil(right)), columns)):
                part = min(right, x + 1) - max(left, x)
                place = min(max((x + 0.5 - start) / (end - start), 0), 1) * (len(ramp) - 1)
                color = [np.interp(place, range(len(ramp)), ramp[:, c]) for c in range(3)]
                mixed[x] += np.array([*color, 1.0]) * weight * part
        shown = mixed[:, 3] / whole > 2e-3
        np.testing.assert_allclose(image.pixel[row, :, 3] / 255, mixed[:, 3] / whole, atol=0.003)
        wanted = mixed[shown, :3] / mixed[shown, 3:]
        np.testing.assert_allclose(image.pixel[row, shown, :3], wanted, atol=1.6)


def test_darkest_blending_is_the_same_in_any_order():
    from tracevis3d.kernels.interactions.chord_image import draw_darkest

    rng = np.random.default_rng(0)
    point = rng.uniform(5, 95, (40, 10, 2)).astype(np.float32)
    color = rng.uniform(0, 255, (40, 2, 3)).astype(np.float32)
    width = rng.uniform(0.3, 6, 40).astype(np.float32)

    def image(order):
        out = np.full((100, 100, 4), 255, np.uint8)
        out[..., 3] = 0
        first = np.arange(41, dtype=np.int64) * 10
        every = np.ones(40, np.float32)
        draw_darkest(
            point[order].reshape(-1, 2).copy(), first, width[order].copy(), color[order].copy(), every, out
        )
        return out

    one, other = image(np.arange(40)), image(rng.permutation(40))
    assert (one == other).all()
    # Two crossing bars: each channel is the lesser of both.
    cross = np.array([[[10, 50], [90, 50]], [[50, 10], [50, 90]]], np.float32).reshape(-1, 2)
    out = np.full((100, 100, 4), 255, np.uint8)
    out[..., 3] = 0
    both = np.array([[[200, 30, 90]] * 2, [[60, 180, 90]] * 2], np.float32)
    opacity = np.ones(2, np.float32)
    draw_darkest(cross, np.array([0, 2, 4]), np.full(2, 8, np.float32), both, opacity, out)
    assert out[50, 50].tolist() == [60, 30, 90, 255]
    assert out[50, 15, :3].tolist() == [200, 30, 90]


def test_a_film_lets_time_pass(trace, tmp_path):
    pytest.importorskip("bpy")
    report = tv.interactions(trace, calls=50).render(
        tmp_path / "sweep.mp4", engine="workbench", size="160x90", seconds=0.3, fps=10
    )
    assert report["frames"] == 3
    tubes = of(drawn(trace), "interaction")
    assert isinstance(tubes, Tubes)
    assert tubes.time.min() >= 0
    assert tubes.time.max() <= 1


def test_an_empty_window_and_a_trace_without_interactions(weka, tmp_path):
    path = tmp_path / "one.rsf"
    path.write_text("call A B 5 1 f\n")
    assert drawn(tv.load(path)).elements
    path.write_text("1\t+\tf\t0\n1\t-\tf\t9\n")
    flat = tmp_path / "flat.tsv"
    flat.write_text("1\t+\tf\t0\n1\t-\tf\t9\n")
    assert drawn(tv.load(flat)).counts["calls"] == 0


@pytest.mark.parametrize(("start", "end"), [("0ms", "0.002ms"), ("0.004ms", "0.0065ms")])
def test_sectors_keep_their_place_and_width_whatever_the_window_is(trace, start, end):
    whole, part = (arrange([trace], Parameters(**window)) for window in ({}, {"start": start, "end": end}))
    np.testing.assert_array_equal(whole.sectors.low, part.sectors.low)
    np.testing.assert_array_equal(whole.sectors.high, part.sectors.high)
    assert 0 < int(part.counts[0].sum()) < int(whole.counts[0].sum())


def test_lone_calls_are_numbered_as_they_happen(weka):
    drawing = drawn(weka, outliers=8)
    ((_, call),) = drawing.meaning["lone call"].calls
    assert len(call) > 3
    assert (np.diff(weka.calls.start[call]) >= 0).all()
    # Three are callouts, the legend names the others: together all of them, each with its number.
    others = next(legend for legend in drawing.legends if legend.title == "Other lone calls")
    told = [callout.text for callout in drawing.callouts] + [entry.text for entry in others.entries]
    assert len(drawing.callouts) == 3
    assert sorted(int(text.split()[0]) for text in told) == list(range(1, len(call) + 1))


@pytest.mark.parametrize("unroll", [0, 0.4, 0.7])
def test_no_tube_hides_a_bead(weka, unroll):
    drawing = drawn(weka, unroll=unroll, outliers=8)
    beads, tubes = of(drawing, "lone call"), of(drawing, "interaction")
    towards = np.array(drawing.camera.direction) / np.linalg.norm(drawing.camera.direction)
    numbers = next(label for label in drawing.labels if label.kind == "lone call")
    axes = np.array([numbers.right, numbers.up]).T
    for bead, size in zip(beads.point, beads.size, strict=True):
        behind = np.linalg.norm((tubes.point - bead) @ axes, axis=1) < 0.5 * size
        assert ((tubes.point[behind] - bead) @ towards < -0.5 * size).all()


@pytest.mark.parametrize("own", [True, False])
def test_of_threads_that_tubes_show_little_of_it_is_said_how_much(own):
    trace = tv.load(EXAMPLES / "weka_parallel_9t.tsv.gz")
    drawing = drawn(trace, calls=300, own=own)
    (said,) = (note for note in drawing.notes if note.startswith("tubes show less of the calls of "))
    p = Parameters(level="class", calls=300, own=own)
    (drum,) = compose([trace], p).drums
    every = choose(drum, p)
    tubes = {(int(pair), int(place * p.slices)) for pair, place in zip(every.pair, every.place, strict=True)}
    found, shown, of = drum.found, Counter(), Counter()
    for i in range(drum.low, drum.high):
        pair = int(found.pair[i])
        if own or found.caller[pair] != found.callee[pair]:
            thread = int(trace.calls.thread[found.call[i]])
            of[thread] += 1
            shown[thread] += (pair, int(drum.place[i - drum.low] * p.slices)) in tubes
    few = [t for t in of if of[t] >= 0.01 * of.total() and shown[t] < 0.8 * of[t]]
    busiest = max(few, key=lambda t: (of[t], -t))
    assert said.split(" of ", 2)[2].startswith(
        f"{lane_title(trace, busiest)} {percentage(shown[busiest] / of[busiest])}"
    )
    assert said.endswith(f" and {len(few) - 3} more threads") == (len(few) > 3)
