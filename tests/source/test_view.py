"""What the slabs show, on recorded traces: places, heights, lengths and colours of lines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import ROOT
from tracevis3d import api
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.drawing.projection import fit
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.source.view.layout import DEEP, camera, compose
from tracevis3d.features.source.view.parameters import Parameters
from tracevis3d.features.source.view.view import VIEW
from tracevis3d.progress import silent
from tracevis3d.trace.model import Trace

FRAME = Frame(960, 540)


@pytest.fixture(scope="module")
def trace():
    return api.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")


def drawn(trace, frame=FRAME, **settings):
    return VIEW.draw([trace], Parameters(**settings), frame, silent)


def part(drawing, kind):
    return next(one for one in drawing.elements if one.kind == kind)


def test_slabs_hold_all_lines_of_their_files_and_do_not_overlap(trace):
    picture = compose(trace, Parameters(), FRAME)
    slabs = picture.slabs
    for file in np.unique(slabs.file):
        mine = slabs.file == file
        assert slabs.first[mine][0] == 1
        np.testing.assert_array_equal(slabs.first[mine][1:], slabs.stop[mine][:-1])
        assert slabs.stop[mine][-1] == picture.lines.line[picture.lines.file == file].max() + 1
    depth = (slabs.stop - slabs.first) * picture.unit
    for x in np.unique(slabs.low[:, 0]):
        mine = np.flatnonzero(slabs.low[:, 0] == x)
        far, near = slabs.low[mine, 1], slabs.low[mine, 1] - depth[mine]
        assert far[0] + picture.heading <= DEEP + 1e-9
        # There is room for the name between two files.
        assert (near[:-1] - far[1:] >= picture.heading - 1e-9).all()
        assert near[-1] >= -1e-9


def test_a_bar_stands_at_its_line_as_high_as_the_metric_says(trace):
    settings = {"scale": "linear", "height": "calls", "resolution": 0.05}
    picture, drawing = compose(trace, Parameters(**settings), FRAME), drawn(trace, **settings)
    made, lines = part(drawing, "line"), picture.lines
    assert sorted(made.id) == np.flatnonzero(picture.piece >= 0).tolist()
    piece = picture.piece[made.id]
    np.testing.assert_allclose(made.low[:, 0], picture.slabs.low[piece, 0], rtol=1e-5)
    below = picture.slabs.low[piece, 1] - (lines.line[made.id] - picture.slabs.first[piece]) * picture.unit
    np.testing.assert_allclose(made.low[:, 1] + made.size[:, 1], below, atol=1e-4)
    wanted = picture.high * lines.value[made.id] / lines.value.max()
    np.testing.assert_allclose(made.size[:, 2], np.maximum(wanted, 0.01), rtol=1e-4)
    np.testing.assert_allclose(made.size[:, 0], picture.across, rtol=1e-5)


def test_flat_bars_are_as_long_as_the_metric_says(trace):
    drawing = drawn(trace, opening=0.0, scale="linear", height="calls")
    made, picture = part(drawing, "line"), compose(trace, Parameters(height="calls", opening=0.0), FRAME)
    share = picture.lines.value[made.id] / picture.lines.value.max()
    np.testing.assert_allclose(
        made.size[:, 0] / made.size[:, 0].max(), np.maximum(share, 0.015), rtol=1e-3, atol=1e-5
    )
    assert np.ptp(made.size[:, 2]) == 0
    # Bars of the two forms stand in the same places.
    opened = part(drawn(trace, scale="linear", height="calls", resolution=0.05), "line")
    assert {*made.id} <= {*opened.id}


def test_joined_lines_keep_the_highest_and_leave_none_out(trace):
    fine, coarse = (part(drawn(trace, resolution=value), "line") for value in (0.05, 40.0))
    lines = compose(trace, Parameters(), FRAME).lines
    assert len(coarse) < len(fine) / 2
    for file in np.unique(lines.file[fine.id]):
        best = [lines.value[part.id[lines.file[part.id] == file]].max() for part in (fine, coarse)]
        assert best[0] == best[1]
    assert {*lines.file[coarse.id]} == {*lines.file[fine.id]}
    # Bars that are left don't overlap.
    for x in np.unique(coarse.low[:, 0]):
        mine = coarse.low[:, 0] == x
        order = np.argsort(coarse.low[mine, 1])
        low, size = coarse.low[mine, 1][order], coarse.size[mine, 1][order]
        assert (low[1:] - (low + size)[:-1] > -1e-3).all()


def test_colours_are_those_of_the_legend(trace):
    drawing = drawn(trace, color="calls")
    made, (first, last) = part(drawing, "line"), drawing.legends[0].ramp
    value = compose(trace, Parameters(color="calls"), FRAME).lines.other
    share = np.log(value[made.id]) / np.log(value.max())
    np.testing.assert_allclose(made.color, first + np.rint(share * (last - first)), atol=1)


def test_the_files_with_most_are_shown_and_the_others_counted(trace):
    drawing = drawn(trace, files=5)
    picture = compose(trace, Parameters(files=5), FRAME)
    sums = np.bincount(picture.lines.file, picture.lines.value)
    assert sorted(sums[picture.shown]) == sorted(np.sort(sums)[-5:])
    assert any(note.startswith("5 of 30 files, with ") for note in drawing.notes)
    assert {*picture.lines.file[part(drawing, "line").id]} == {*picture.shown}


def test_coming_near_shows_more_lines_of_that_slab_alone(trace):
    detail = VIEW.level_of_detail([trace], Parameters(resolution=40.0), FRAME)
    picture = compose(trace, Parameters(resolution=40.0), FRAME)
    none = np.empty(0, np.int64)
    whole = fit(camera(picture), FRAME)
    assert detail.look_from(whole, none) is None
    corner = picture.slabs.low[0]
    near = type(whole)(
        np.array([corner[0], corner[1] - 2.0, 2.0]), whole.right, whole.up, whole.forward, whole.tangent,
        True, FRAME,
    )  # fmt: skip
    seen = detail.look_from(near, none)
    before, after = part(drawn(trace, resolution=40.0), "line"), seen.parts[0]
    many = [np.bincount(picture.piece[one.id], minlength=len(picture.slabs)) for one in (before, after)]
    assert 0 in seen.opened
    assert many[1][seen.opened].sum() > many[0][seen.opened].sum()
    others = np.setdiff1d(np.arange(len(picture.slabs)), seen.opened)
    assert (many[0][others] == many[1][others]).all()
    assert {*before.id} <= {*after.id}


def test_a_line_says_what_is_known_of_it_and_where_it_is(trace):
    drawing, picture = drawn(trace), compose(trace, Parameters(), FRAME)
    meaning, line = drawing.meaning["line"], int(picture.lines.value.argmax())
    call = int(meaning.calls[0][1][line])
    picked = PickedElement(
        "line", id=line, calls={0: call},
        texts=tuple((title, words[column[line]]) for title, words, column in meaning.texts),
        values=tuple((title, float(values[line])) for title, values in meaning.values),
    )  # fmt: skip
    said, of_call = VIEW.describe(picked, [trace], Parameters())
    assert said.title == "markdown_py:1"
    assert said.where.endswith("/bin/markdown_py")
    assert dict(said.rows)["function"] == of_call.title == "<module>"
    assert {"self time", "calls"} <= {title for title, _ in said.rows}


def test_the_highest_lines_are_called_out(trace):
    drawing, lines = drawn(trace, findings=2), compose(trace, Parameters(), FRAME).lines
    first = np.argsort(-lines.value)[:2]
    assert [callout.calls[0][1] for callout in drawing.callouts] == lines.call[first].tolist()
    assert f"{round(100 * lines.value[first[0]] / lines.value.sum())} %" in drawing.callouts[0].text
    assert not drawn(trace, findings=0).callouts


@pytest.mark.parametrize("opening", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("settings", [{}, {"scale": "log", "color": "time"}, {"files": 1}], ids=str)
def test_all_is_finite_at_any_opening(trace, opening, settings):
    drawing = drawn(trace, opening=opening, **settings)
    for element in drawing.elements:
        for name in ("low", "size", "point"):
            assert np.isfinite(getattr(element, name, np.zeros(1))).all()
    for labels in drawing.labels:
        assert np.isfinite(labels.anchor).all()


def test_many_files_in_a_small_picture_still_have_places():
    many = api.load(ROOT / "examples" / "pyspy_sphinx.speedscope.json.gz")
    picture = compose(many, Parameters(files=400), Frame(64, 36))
    assert len(np.unique(picture.slabs.file)) == len(picture.shown) > 50
    assert (picture.piece[np.isin(picture.lines.file, picture.shown)] >= 0).all()


def test_a_trace_without_lines_is_a_sentence(trace):
    with pytest.raises(InputError, match="no lines of source are recorded"):
        drawn(Trace())
    with pytest.raises(UsageError, match="no bytes allocated at a known line"):
        drawn(trace, height="bytes")
