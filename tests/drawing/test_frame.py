"""Sizes of pictures, in pixels and on paper."""

from __future__ import annotations

import pytest

from tracevis3d.drawing.frame import Frame
from tracevis3d.errors import UsageError


@pytest.mark.parametrize(
    ("text", "dpi", "size"),
    [
        ("1920x1080", 96, (1920, 1080)),
        (" 800 × 600 ", 96, (800, 600)),
        ("640px x 480px", 96, (640, 480)),
        ("180mmx100mm", 600, (4252, 2362)),
        ("18cmx10cm", 600, (4252, 2362)),
        ("180x100mm", 600, (4252, 2362)),
        ("7inx4in", 300, (2100, 1200)),
    ],
)
def test_sizes(text, dpi, size):
    frame = Frame.parse(text, dpi)
    assert (frame.width, frame.height) == size
    assert frame.dpi == dpi


@pytest.mark.parametrize(
    "text", ["", "1920", "axb", "10x", "1.2.3x5", "15x400", "99999x10", "nanxnan", "1e9x3"]
)
def test_what_is_no_size_is_reported(text):
    with pytest.raises(UsageError) as caught:
        Frame.parse(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dpi", [0, -1, 1e6])
def test_dots_per_inch_have_bounds(dpi):
    with pytest.raises(UsageError, match="dpi"):
        Frame.parse("100x100", dpi)


def test_a_text_needs_more_pixels_where_they_are_smaller():
    assert Frame().least_text == 7
    assert Frame(3840, 2160).least_text == 14
    assert Frame(4252, 2362, 600).least_text == 28


def test_sizes_on_paper_are_for_print_and_in_pixels_for_a_screen():
    assert Frame.parse("1920x1080") == Frame(1920, 1080, 96)
    assert Frame.parse("254mmx127mm") == Frame(3000, 1500, 300)


def test_columns_and_type() -> None:
    frame = Frame.of_columns("2x60mm")
    assert (frame.width, frame.height, frame.dpi, frame.points) == (2126, 709, 300, 7)
    assert Frame.of_columns("1", 600).width == 2079
    assert Frame.of_columns("1.5").height == round(134 * 9 / 16 / 25.4 * 300)
    assert frame.set_in("9pt", "Serif") == frame.set_in(9, "Serif")
    assert frame.set_in().points == 7
    # What is printed is 5 points high at least where the type has 7.
    assert frame.least_line == pytest.approx(1.2 * 5 / 72 * 300)
    for bad in ("3", "", "2xhigh", "2x0mm"):
        with pytest.raises(UsageError, match="--columns"):
            Frame.of_columns(bad)
    for size in ("2pt", "100", "big", "-7"):
        with pytest.raises(UsageError, match="--font-size"):
            frame.set_in(size)
