"""What the city shows, on recorded traces: areas and heights are measures, colours those of the legend."""

from __future__ import annotations

import numpy as np
import pytest

from tests.comparison.pairs import plain
from tests.conftest import ROOT
from tracevis3d import api, units
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.drawing.primitives import Boxes, Tubes
from tracevis3d.drawing.projection import fit
from tracevis3d.errors import InputError
from tracevis3d.features.city.metrics import links, measured
from tracevis3d.features.city.view.layout import _SHARE, DEEP, WIDE, compose
from tracevis3d.features.city.view.parameters import Parameters
from tracevis3d.features.city.view.view import VIEW
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace

FRAME = Frame(640, 360)


@pytest.fixture(scope="module")
def runs():
    return [api.load(ROOT / "examples" / f"vt_markdown_repeat{i}.json.gz") for i in (1, 2)]


def drawn(traces, **settings):
    return VIEW.draw(traces, Parameters(**settings), FRAME, silent)


def part(drawing, kind):
    return next(one for one in drawing.elements if one.kind == kind)


def test_areas_and_heights_are_in_proportion_to_the_measures(runs):
    drawing = drawn(runs[:1], height="calls", scale="linear", area="functions")
    picture = compose(runs[:1], Parameters(height="calls", scale="linear"), FRAME)
    made, run = part(drawing, "building"), picture.runs[0]
    assert isinstance(made, Boxes)
    value, area = (measured(run.trace, run.parts, name) for name in ("calls", "functions"))
    np.testing.assert_allclose(
        made.size[:, 0] * made.size[:, 1], 0.82 * WIDE * DEEP * area[made.id] / area.sum(), rtol=1e-3
    )
    np.testing.assert_allclose(
        made.size[:, 2], np.maximum(picture.high * value[made.id] / value.max(), 0.02), rtol=1e-3
    )


def test_colours_are_those_of_the_legend(runs):
    drawing = drawn(runs[:1], color="calls")
    run = compose(runs[:1], Parameters(color="calls"), FRAME).runs[0]
    made, (first, last) = part(drawing, "building"), drawing.legends[0].ramp
    value = measured(run.trace, run.parts, "calls")[made.id]
    share = np.log(value) / np.log(value.max())
    np.testing.assert_array_equal(made.color, first + np.rint(share * (last - first)))


def test_floors_of_a_building_are_stacked_in_the_order_of_time(runs):
    drawing = drawn(runs[:1], floors=6)
    made = part(drawing, "building")
    for one in np.unique(made.id)[:40]:
        mine = np.flatnonzero(made.id == one)
        np.testing.assert_allclose(
            made.low[mine[1:], 2], made.low[mine[:-1], 2] + made.size[mine[:-1], 2], atol=1e-4
        )
        assert (np.diff(made.time[mine, 0]) > 0).all()
    whole = part(drawn(runs[:1]), "building")
    sums = np.bincount(made.id, made.size[:, 2])
    np.testing.assert_allclose(sums[whole.id], whole.size[:, 2], atol=1e-3)


def test_arcs_join_those_with_most_calls_from_roof_to_roof(runs):
    drawing = drawn(runs[:1], arcs=5)
    tubes, made = part(drawing, "arc"), part(drawing, "building")
    assert isinstance(tubes, Tubes)
    run = compose(runs[:1], Parameters(), FRAME).runs[0]
    source, target, many = links(run.trace, run.parts)
    chosen = np.argsort(-many, kind="stable")[:5]
    assert drawing.meaning["arc"].values[0][1].tolist() == many[chosen].tolist()
    place = {int(i): k for k, i in enumerate(made.id)}
    ends = tubes.point[tubes.first[:-1]], tubes.point[tubes.first[1:] - 1]
    for end, which in zip(ends, (source[chosen], target[chosen])):
        roof = np.array([made.low[place[int(i)]] + made.size[place[int(i)]] for i in which])
        middle = np.array([made.low[place[int(i)]] + made.size[place[int(i)]] / 2 for i in which])
        np.testing.assert_allclose(end[:, :2], middle[:, :2], atol=1e-3)
        np.testing.assert_allclose(end[:, 2], roof[:, 2], atol=1e-3)
    assert not any(one.kind == "arc" for one in drawn(runs[:1], arcs=0).elements)


def test_of_two_runs_colours_say_what_grows(runs):
    drawing = drawn(runs)
    picture = compose(runs, Parameters(), FRAME)
    made, (first, last) = part(drawing, "building"), drawing.legends[0].ramp
    middle = (first + last) / 2
    grows = (picture.value > 1.5 * picture.before)[made.id] & (picture.value[made.id] > 1e6)
    shrinks = (picture.before > 1.5 * picture.value)[made.id] & (picture.before[made.id] > 1e6)
    assert (made.color[grows] > middle).all()
    assert (made.color[shrinks] < middle).all()
    delta = picture.value - picture.before
    top = picture.names()[int(np.abs(delta).argmax())]
    verb = "grows" if delta[np.abs(delta).argmax()] > 0 else "shrinks"
    assert f"{top} {verb} most in self time: " in drawing.title


def test_the_title_is_true(runs):
    picture = compose(runs[:1], Parameters(), FRAME)
    top, value = int(picture.value.argmax()), np.sort(picture.value)[::-1]
    few = int(np.count_nonzero(np.cumsum(value) < 0.9 * value.sum())) + 1
    share = round(100 * picture.value[top] / value.sum())
    said = f"{picture.names()[top]} has {share} % of the self time; {few} of {len(value)} classes have 90 %"
    assert drawn(runs[:1]).title == said


def test_callouts_name_what_has_most_or_changes_most(runs):
    picture, drawing = compose(runs[:1], Parameters(), FRAME), drawn(runs[:1])
    order = np.argsort(-picture.value, kind="stable")[:3]
    said = [f"{picture.path[i][-1]}: " for i in order]
    assert [callout.text.startswith(words) for callout, words in zip(drawing.callouts, said, strict=True)]
    shares = [units.percentage(float(picture.value[i] / picture.value.sum())) for i in order]
    assert [callout.text.split(": ")[1] for callout in drawing.callouts] == shares
    names = {name for labels in drawing.labels if labels.kind == "building" for name in labels.text}
    assert not names & {picture.path[i][-1] for i in order}, "what is called out has no other name"
    picture, drawing = compose(runs, Parameters(), FRAME), drawn(runs)
    order = np.argsort(-np.abs(picture.value - picture.before), kind="stable")[:3]
    assert [c.text.split(": ")[0] for c in drawing.callouts] == [picture.path[i][-1] for i in order]
    assert all(" → " in callout.text for callout in drawing.callouts)
    assert not drawn(runs[:1], findings=0).callouts


@pytest.mark.parametrize("settings", [{"arcs": 400}, {"parts": "module"}])
def test_arcs_stay_in_the_picture_below_the_legend(settings):
    drawing = drawn([api.load(ROOT / "examples" / "weka_parallel_9t.tsv.gz")], **settings)
    at = fit(drawing.camera, FRAME, _SHARE).pixels(part(drawing, "arc").point)
    # Pixels count upwards.
    assert at.min() > 0
    assert at[:, 0].max() < FRAME.width
    assert at[:, 1].max() < (0.5 + _SHARE[1] / 2) * FRAME.height


def test_no_building_covers_the_name_of_a_district_on_a_flat_map(runs):
    drawing = drawn(runs[:1], opening=0.0)
    made = part(drawing, "building")
    for labels in drawing.labels:
        if labels.kind != "district":
            continue
        for words, (x, y, _), size in zip(labels.text, labels.anchor, labels.height, strict=True):
            right, low, high = x + 0.5 * size * len(words), y - 0.45 * size, y + 0.55 * size
            for corner, extent in zip(made.low, made.size, strict=True):
                apart = corner[0] >= right or corner[0] + extent[0] <= x
                assert apart or corner[1] >= high or corner[1] + extent[1] <= low, words


def test_a_building_says_its_measures_and_leads_to_a_call(runs):
    drawing = drawn(runs[:1])
    meaning = drawing.meaning["building"]
    call = int(meaning.calls[0][1][0])
    texts = tuple((title, words[column[0]]) for title, words, column in meaning.texts)
    said, of_call = VIEW.describe(
        PickedElement("building", id=0, calls={0: call}, texts=texts), runs[:1], Parameters()
    )
    assert said.title == compose(runs[:1], Parameters(), FRAME).names()[0]
    assert {"self time", "calls", "functions", "parts that call it"} <= {title for title, _ in said.rows}
    assert of_call.title == runs[0].functions.label[int(runs[0].calls.function[call])]


@pytest.mark.parametrize("opening", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", ["auto", "module", "function", "file"])
def test_all_is_finite_at_any_opening(runs, opening, kind):
    for element in drawn(runs[:1], opening=opening, parts=kind, floors=3).elements:
        for name in ("low", "size", "point"):
            assert np.isfinite(getattr(element, name, np.zeros(1))).all()


def test_a_trace_without_calls_is_a_sentence():
    with pytest.raises(InputError, match="no calls are recorded"):
        drawn([Trace()])


def test_a_profile_without_times_has_samples_and_no_self_times(tmp_path):
    traces = []
    for name, lines in (("a", "main;read 30\nmain;sort 70\n"), ("b", "main;read 30\nmain;sort 140\n")):
        path = tmp_path / f"{name}.collapsed"
        path.write_text(lines)
        traces.append(api.load(path, cache=False))
    drawing = drawn(traces)
    assert drawing.title == "sort grows most in samples: 70 to 140"
    assert drawing.legends[0].title == "Samples, second run to first"
    texts = {name: values for name, values, _ in drawing.meaning["building"].texts}
    assert set(texts["samples"]) == {"0", "30", "140"}
    assert "self time" not in texts


def test_a_profile_with_times_is_measured_in_what_was_sampled():
    """How long samples seem to last is a guess. Libraries are no packages, Go's packages are no classes."""
    pair = ROOT / "tests" / "data" / "pairs"

    def read(side):
        return plain.jfr(plain.text_of(pair / f"java_{side}.jfr.json.gz"))

    def shown(name, **settings):
        return drawn([api.load(pair / name.format(side), cache=False) for side in "ab"], **settings)

    drawing = shown("java_{}.jfr.json.gz")
    assert drawing.title == "java.util.TimSort grows most in samples: {} to {}".format(
        *(
            sum(weight for name, weight in plain.sums(read(side))[0].items() if name.startswith("TimSort."))
            for side in "ab"
        )
    )
    assert drawing.legends[0].title == "Samples, second run to first"
    assert shown("perf_{}.perf.txt.gz").title == "libc.so.6 grows most in cpu-clock: 378 ms to 1.19 s"
    assert shown("py_{}.austin.gz").legends[0].title == "Self time, second run to first"
    said = shown("go_{}.pprof")
    assert [one.text for one in said.callouts][:2] == [
        "zsortordered.go: 1.39 s → 3.6 s",
        "main.go: 1.41 s → 2.12 s",
    ]
    assert said.title == "slices.zsortordered.go grows most in cpu: 1.39 s to 3.6 s"
    assert shown("c_{}.callgrind.gz").title.startswith("words.c grows most in instructions: ")


def test_changes_of_less_than_a_hundredth_of_the_largest_are_not_called_out(tmp_path):
    sides = {"a": (100, 50, 50, 60), "b": (1100, 60, 59, 70)}
    traces = []
    for name, counts in sides.items():
        path = tmp_path / f"{name}.collapsed"
        path.write_text("".join(f"main;f{k} {count}\n" for k, count in enumerate(counts)))
        traces.append(api.load(path, cache=False))
    said = [one.text for one in drawn(traces, findings=4, parts="function").callouts]
    assert said == ["f0: 100 → 1,100", "f1: 50 → 60", "f3: 60 → 70"]
    # Of one run all are: a small share is one, too.
    assert len(drawn(traces[1:], findings=4, parts="function").callouts) == 4
