"""Where files and lines lie, how large texts are and what the camera holds, against plain rules."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.source.test_twin_metrics import made
from tracevis3d import api
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.projection import fit
from tracevis3d.features.source.names import file_titles
from tracevis3d.features.source.view import layout
from tracevis3d.features.source.view.layout import DEEP, WIDE, camera, compose, titles
from tracevis3d.features.source.view.parameters import Parameters


@cache
def recorded():
    return api.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")


LENGTHS = st.lists(st.integers(1, 300), min_size=1, max_size=12)


@given(LENGTHS, st.floats(0.0, 0.3), st.floats(0.0, 1.5), st.integers(1, 12))
@example([100, 3], 0.2, 0.5, 4)
@example([40, 40], 0.2, 0.0, 2)
@example([41], 0.2, 0.0, 2)
@settings(deadline=None, max_examples=100)
def test_files_fill_one_column_after_another(lengths, unit, heading, columns):
    found = layout._fill(np.array(lengths), unit, heading, columns)
    # Of each file all lines, in their order, files one after another.
    assert found is None or [
        (file, line) for file, first, stop, _, _ in found for line in range(first, stop)
    ] == [(file, line) for file, many in enumerate(lengths) for line in range(1, many + 1)]
    pieces = found or []
    places, below = [], DEEP
    for i, (file, first, stop, column, far) in enumerate(pieces):
        begins = i == 0 or column != pieces[i - 1][3]
        if begins:
            assert column == (pieces[i - 1][3] + 1 if i else 0)
            below = DEEP
        # There is room for the name above, and between files.
        assert far == pytest.approx(below - heading)
        left = lengths[file] + 1 - first
        assert far >= min(left * unit, max(unit, layout._LEAST))
        assert far - (stop - first) * unit >= -1e-9
        # What is left of a file did not fit.
        assert stop == lengths[file] + 1 or far - (stop - first + 1) * unit < 1e-9
        below = far - (stop - first) * unit - layout.APART
        places.append((column, below))
    for (column, below), (file, first, _, later, _) in zip(places, pieces[1:]):
        # The next column is begun where there is too little room.
        if later != column:
            assert below - heading < min((lengths[file] + 1 - first) * unit, max(unit, layout._LEAST))
    if found is not None:
        assert pieces[-1][3] < columns
    else:
        # Lines of no depth need only room for names.
        everything = layout._fill(np.array(lengths), unit, heading, 10_000)
        assert everything is None or everything[-1][3] >= columns


settings_of = st.builds(
    dict,
    opening=st.sampled_from([0.0, 0.3, 1.0]),
    relief=st.sampled_from([0.0, 1.0, 3.0]),
    files=st.sampled_from([1, 3, 24, 400]),
    height=st.sampled_from(["auto", "calls"]),
)


@given(settings_of, st.sampled_from([(960, 540), (360, 640), (96, 54)]))
@settings(deadline=None, max_examples=20)
def test_the_files_with_most_have_places_for_all_their_lines(chosen, size):
    trace = recorded()
    p = Parameters(**chosen)
    picture = compose(trace, p, Frame(*size))
    lines, slabs = picture.lines, picture.slabs
    sums = [lines.value[lines.file == file].sum() for file in range(len(lines.files))]
    order = sorted((file for file in range(len(sums)) if sums[file] > 0), key=lambda file: -sums[file])
    assert picture.shown.tolist() == order[: p.files]
    assert list(dict.fromkeys(slabs.file.tolist())) == picture.shown.tolist()
    last = [int(lines.line[lines.file == file].max()) for file in picture.shown.tolist()]
    wanted = max(round(math.sqrt(1.5 * len(last))), math.ceil(sum(last) / 1500), 1)
    columns = min(wanted, layout._COLUMNS)
    assert picture.pitch == min(WIDE / columns, layout._WIDEST)
    place = np.rint(slabs.low[:, 0] / picture.pitch).astype(int)
    np.testing.assert_allclose(slabs.low[:, 0], place * picture.pitch)
    assert picture.wide == pytest.approx((place.max() + 1) * picture.pitch)
    # Lines are as deep as fits.
    assert layout._fill(np.array(last), 1.001 * picture.unit + 1e-9, picture.heading, columns) is None
    if picture.unit > 0:
        assert place.max() < columns
    for line in range(0, len(lines), 17):
        here = [
            piece for piece in range(len(slabs))
            if slabs.file[piece] == lines.file[line]
            and slabs.first[piece] <= lines.line[line] < slabs.stop[piece]
        ]  # fmt: skip
        assert [int(picture.piece[line])] == (here or [-1])
        if here:
            below = (lines.line[line] - slabs.first[here[0]]) * picture.unit
            assert picture.far(np.array([line]))[0] == pytest.approx(slabs.low[here[0], 1] - below)


@given(settings_of, st.sampled_from([(960, 540), (360, 640), (96, 54)]))
@settings(deadline=None, max_examples=40)
def test_the_camera_holds_the_slabs_whose_texts_can_be_read(chosen, size):
    trace = recorded()
    p, frame = Parameters(**chosen), Frame(*size)
    picture = compose(trace, p, frame)
    view = camera(picture)
    high = p.opening * p.relief * layout.HIGH
    assert picture.high == pytest.approx(high)
    assert (picture.across, picture.heading) == pytest.approx((0.86 * picture.pitch, 1.5 * picture.text))
    assert view.low == (0.0, 0.0, 0.0)
    # A callout stands upon the highest line.
    top = max(high + 1.4 * p.opening * picture.text, layout.SLAB)
    assert view.high == pytest.approx((picture.wide, DEEP, top))
    # The size of texts follows from the layout before the last, which had nearly the same.
    shown = fit(view, frame, (0.94, 0.78))
    left, right = shown.pixels([(0.0, 0.0, 0.0), (picture.wide, 0.0, 0.0)])
    unit = np.linalg.norm(right - left) / picture.wide
    assert picture.pixels_per_unit == pytest.approx(unit, rel=0.1)
    assert picture.text == max(layout._SMALL_TEXT, 1.8 * frame.least_text / picture.pixels_per_unit)
    assert titles(picture) == file_titles(picture.lines.files)


def test_files_without_any_height_are_not_shown_and_too_many_have_no_room_for_names():
    trace = made(1)
    p = Parameters(height="bytes", color="calls", files=400)
    picture = compose(trace, p, Frame(960, 540))
    lines = picture.lines
    sums = [lines.value[lines.file == file].sum() for file in range(len(lines.files))]
    assert min(sums) == 0
    assert picture.shown.tolist() == sorted((f for f, v in enumerate(sums) if v), key=lambda f: -sums[f])
    shown = np.zeros(400, np.int64)
    crowded = layout._placed(replace(picture, shown=shown, text=9.0), np.ones(400, np.int64))
    assert crowded.unit < 1e-3
    # One below another, from the far end on, with nothing but what parts them between.
    apart = layout.APART
    column = np.rint(crowded.slabs.low[:, 0] / crowded.pitch)
    assert crowded.wide == pytest.approx((column.max() + 1) * crowded.pitch)
    for k in range(int(column.max()) + 1):
        far = crowded.slabs.low[column == k, 1]
        np.testing.assert_allclose(far, DEEP - apart * np.arange(len(far)), atol=1e-9)
    assert len(crowded.slabs) == 400
