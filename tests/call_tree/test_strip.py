"""The strip of all of a trace: its words, its picture and the part that a list shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.filters.test_filters import JAVA
from tracevis3d.analysis.mural import unpacked
from tracevis3d.errors import UsageError
from tracevis3d.features.call_tree.strip import GROUND, Strip, cells_in, part, picture, quads, strip
from tracevis3d.formats.names import split
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording

CELLS = arrays(np.uint8, (5, 7), elements=st.sampled_from([0, 0, 0, 1, 120, 255]))


def test_the_headline_counts_what_filters_hide():
    whole, filtered = strip(JAVA, ""), strip(JAVA, "name(pattern=log)")
    assert whole.headline.startswith(f"{len(JAVA.calls)} calls, ")
    assert "1 thread, 0 % hidden" in whole.headline
    hidden = sum(JAVA.functions.label[f].endswith("log") for f in JAVA.calls.function.tolist())
    assert filtered.headline.endswith(f"{100 * hidden / len(JAVA.calls):.2g} % hidden")
    assert unpacked(filtered.cells).hidden.any()
    assert strip(JAVA, "") is whole
    assert strip(Recording().finish(Source(), split), "") == Strip("", "")
    with pytest.raises(UsageError):
        strip(JAVA, "no_filter")


@given(CELLS, CELLS)
@settings(deadline=None)
def test_each_cell_that_holds_a_call_is_a_square_of_its_colour(shown, hidden):
    pixels = picture(shown, hidden)
    full = [row for row in range(5) if shown[row].any() or hidden[row].any()]
    assert len(pixels) == (max(full) + 1 if full else 1)
    corners, colors, triangles = quads(pixels)
    cells = np.argwhere((shown | hidden)[: len(pixels)] > 0)
    assert len(corners) == len(colors) == 4 * len(cells)
    assert len(triangles) == 2 * len(cells)
    for i, (row, column) in enumerate(cells):
        square, low = corners[4 * i : 4 * i + 4], (column / 7, row / len(pixels))
        assert np.allclose(square[:, :2].min(axis=0), low, atol=1e-6)
        assert np.allclose(square[:, :2].max(axis=0), np.add(low, (1 / 7, 1 / len(pixels))), atol=1e-6)
        assert (colors[4 * i : 4 * i + 4] == pixels[row, column]).all()
        assert tuple(pixels[row, column, :3]) != tuple(np.float32(GROUND))
        assert {*triangles[2 * i], *triangles[2 * i + 1]} == set(range(4 * i, 4 * i + 4))


@given(st.integers(1, 10**6), st.data())
def test_the_part_that_is_listed_lies_within_the_strip(calls, data):
    first = data.draw(st.integers(0, calls - 1))
    last = data.draw(st.integers(first + 1, calls))
    a, b = part(first, last, calls, 10.0, 210.0, 3.0)
    assert a >= 10.0 - 1e-6
    assert b <= 210.0 + 1e-6
    assert b - a == pytest.approx(max(200.0 * (last - first) / calls, 3.0))
    if last - first > calls / 50:
        assert a == pytest.approx(10.0 + 200.0 * first / calls)


@pytest.mark.parametrize(("first", "last"), [(0, 0), (5, 3), (-1, 4), (2, 11)])
def test_a_part_that_the_strip_lacks_is_none(first, last):
    assert part(first, last, 10, 0.0, 100.0, 3.0) is None


@given(CELLS)
@settings(deadline=None)
def test_a_mural_of_one_colour_has_a_square_for_each_cell_that_is_not_empty(cells):
    ground, color = (0.1, 0.2, 0.3), (0.9, 0.5, 0.4)
    pixels = cells_in(cells, ground, color)
    full = [row for row in range(5) if cells[row].any()]
    assert len(pixels) == (max(full) + 1 if full else 1)
    corners, _, _ = quads(pixels, ground)
    assert len(corners) == 4 * np.count_nonzero(cells)
    brightest = pixels[cells[: len(pixels)] == 255]
    assert np.allclose(brightest[:, :3], np.float32(color))
    # The fuller a cell, the more it has of the colour.
    order = np.argsort(cells[: len(pixels)].ravel(), kind="stable")
    assert (np.diff(pixels[..., 0].ravel()[order]) >= 0).all()
