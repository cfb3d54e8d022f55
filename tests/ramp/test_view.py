"""What the ramp shows, on recorded traces: bars are rounds in time, one step further each."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.conftest import ROOT
from tracevis3d import api, units
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Marks
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.ramp.view.layout import HISTOGRAM, compose
from tracevis3d.features.ramp.view.parameters import Parameters
from tracevis3d.features.ramp.view.view import VIEW
from tracevis3d.formats import registry as formats
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace
from tracevis3d.views.time_window import WIDTH

FRAME = Frame(640, 360)


@pytest.fixture(scope="module")
def jobs():
    return api.load(ROOT / "examples" / "sync_pillow_8w.json.gz")


@pytest.fixture(scope="module")
def runs():
    return [api.load(ROOT / "examples" / f"vt_markdown_repeat{i}.json.gz") for i in (1, 2)]


def drawn(traces, **settings):
    return VIEW.draw(traces, Parameters(**settings), FRAME, silent)


def part(drawing, kind):
    return next(one for one in drawing.elements if one.kind == kind)


def test_each_round_is_a_bar_in_its_time_one_step_further(jobs):
    drawing, picture = drawn([jobs]), compose([jobs], Parameters(), FRAME)
    made, (rounds,), ((low, high),) = part(drawing, "round"), picture.runs, picture.windows
    assert rounds.name == "job"
    assert len(made) == len(rounds) == 60
    np.testing.assert_allclose(made.low[:, 0], WIDTH * (rounds.start - low) / (high - low), atol=1e-3)
    np.testing.assert_allclose(made.size[:, 0], WIDTH * rounds.duration / (high - low), atol=1e-3)
    np.testing.assert_allclose(np.diff(made.low[:, 2]), picture.step, rtol=1e-3)
    # The longer the further out.
    np.testing.assert_array_equal(np.argsort(made.size[:, 1]), np.argsort(rounds.duration))
    assert drawn([jobs]).meaning["round"].calls[0][1].tolist() == rounds.call.tolist()


def test_flat_no_bar_sticks_out(jobs):
    made = part(drawn([jobs], opening=0.0), "round")
    np.testing.assert_allclose(made.size[:, 1], made.size[0, 1])
    assert drawn([jobs], opening=0.0).camera.projection == "orthographic"


def test_stages_lie_in_their_rounds_with_the_colours_of_the_legend(jobs):
    drawing, picture = drawn([jobs]), compose([jobs], Parameters(), FRAME)
    made, (rounds,) = part(drawing, "stage"), picture.runs
    bars = part(drawing, "round")
    (_, names, stage), (_, numbers, every) = drawing.meaning["stage"].texts
    of = np.array([int(numbers[i].replace(",", "")) - 1 for i in every])
    assert (made.low[:, 0] >= bars.low[of, 0] - 1e-3).all()
    assert (made.low[:, 0] + made.size[:, 0] <= bars.low[of, 0] + bars.size[of, 0] + 1e-3).all()
    legend = {entry.text.rpartition("  ")[0]: entry.color for entry in drawing.legends[0].entries}
    said = [legend.get(names[i]) for i in stage]
    assert all(color is None or color == int(c) for color, c in zip(said, made.color))
    assert {"load", "Image.save"} <= set(legend)
    whole = (rounds.stage_end - rounds.stage_start)[rounds.stage == rounds.names.index("load")].sum()
    share = round(100 * whole / rounds.duration.sum())
    assert any(entry.text == f"load  {share} %" for entry in drawing.legends[0].entries)
    # What hardly takes time needs no colour.
    assert "note" in names
    assert "note" not in legend


def test_the_histogram_counts_all_rounds(jobs):
    drawing = drawn([jobs])
    counts = drawing.meaning["durations"].values[0][1]
    assert counts.sum() == 60
    made = part(drawing, "durations")
    np.testing.assert_allclose(made.size[:, 0], HISTOGRAM * counts / counts.max(), rtol=1e-4)
    assert not any(one.kind == "durations" for one in drawn([jobs], histogram=False).elements)


def test_the_title_is_the_straggler_and_it_is_marked(jobs):
    drawing, (rounds,) = drawn([jobs]), compose([jobs], Parameters(), FRAME).runs
    top = int(rounds.duration.argmax())
    assert f"Round {top + 1} of job takes " in drawing.title
    assert drawing.title.endswith("mostly in load")
    marks = next(one for one in drawing.elements if isinstance(one, Marks))
    bars = part(drawing, "round")
    assert marks.point[0, 0] == pytest.approx(bars.low[top, 0] + bars.size[top, 0], abs=1e-3)
    said = drawing.callouts[0]
    assert said.text.startswith(f"round {top + 1}: ")
    assert said.detail == units.duration(int(rounds.duration[top]))
    assert said.point[:2] == pytest.approx(marks.point[0, :2], abs=1e-5)


def test_two_runs_stand_behind_each_other_and_share_steps_when_flat(runs):
    deep, flat = drawn(runs), drawn(runs, opening=0.0)
    front, back = (part(deep, kind) for kind in ("round", "round of the second run"))
    assert back.low[:, 1].min() > (front.low[:, 1] + front.size[:, 1]).max()
    one, other = (part(flat, kind) for kind in ("round", "round of the second run"))
    n = min(len(one), len(other))
    assert (other.low[:n, 2] >= one.low[:n, 2] + one.size[:n, 2] - 1e-4).all()
    assert (other.low[: n - 1, 2] + other.size[: n - 1, 2] <= one.low[1:n, 2] + 1e-4).all()
    assert back.source == 1
    assert "Rounds of InlineProcessor.__handleInline take " in deep.title


def test_zooming_in_shows_shorter_stages(runs):
    closer = VIEW.level_of_detail(runs[:1], Parameters(), FRAME)
    base = part(drawn(runs[:1]), "stage")
    low, high = closer.panes[0].window
    found = closer.look(0, (low, low + 0.2 * (high - low)), 200 * closer.panes[0].pixels_per_unit)
    assert len(found.parts[0]) > len(base)
    assert found.parts[0].kind == "stage"


def test_asynchronous_operations_are_rounds_too(tmp_path):
    events = []
    for i in range(5):
        common = {"cat": "net", "id": i, "pid": 1, "tid": 1}
        events += [
            {**common, "ph": "b", "name": "request", "ts": 10 * i},
            {**common, "ph": "b", "name": "read", "ts": 10 * i + 1},
            {**common, "ph": "e", "name": "read", "ts": 10 * i + 3},
            {**common, "ph": "e", "name": "request", "ts": 10 * i + (40 if i == 3 else 5)},
        ]
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(events))
    trace = formats.open_trace(path)
    (rounds,) = compose([trace], Parameters(by="spans"), FRAME).runs
    assert (rounds.name, rounds.names) == ("request", ("read",))
    assert rounds.duration.tolist() == [5000, 5000, 5000, 40000, 5000]
    assert rounds.of.tolist() == [0, 1, 2, 3, 4]
    assert "Round 4 of request takes 40 µs, 8 times the median" in drawn([trace]).title


@pytest.mark.parametrize("opening", [0.0, 0.5, 1.0])
def test_all_is_finite_at_any_opening(jobs, opening):
    for element in drawn([jobs], opening=opening).elements:
        for name in ("low", "size", "point"):
            assert np.isfinite(getattr(element, name, np.zeros(1))).all()


def test_what_a_trace_lacks_is_said(jobs):
    with pytest.raises(InputError, match="no asynchronous operations are recorded"):
        drawn([jobs], by="spans")
    with pytest.raises(InputError, match="no asynchronous operations"):
        drawn([Trace()])
    with pytest.raises(UsageError, match="no round of it is in this window"):
        drawn([jobs], start="5s", end="6s")
