"""A drawing that is built piece by piece."""

import numpy as np

from tracevis3d.drawing.builder import DrawingBuilder
from tracevis3d.drawing.palettes import OTHER, PALETTES
from tracevis3d.drawing.primitives import Axis, Boxes, Camera, Labels, Legend, LegendEntry

CAMERA = Camera((0.0, -1.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


def boxes(n: int, color: int) -> Boxes:
    room = np.zeros((n, 3), np.float32)
    return Boxes("call", room, room, np.full(n, color, np.int32), np.arange(n))


def labels(*texts: str) -> Labels:
    n = len(texts)
    one = np.ones(n, np.float32)
    return Labels("name", texts, np.zeros((n, 3), np.float32), one, one, one)


def test_colors_are_numbered_in_the_order_in_which_they_are_added():
    drawing = DrawingBuilder()
    kinds = PALETTES["muted"].kinds
    first, second = drawing.color(kinds), drawing.color(OTHER)
    assert (first, second) == (0, len(kinds))
    made = drawing.finish(CAMERA, "")
    np.testing.assert_array_equal(made.palette, np.vstack([kinds, OTHER]))


def test_what_is_empty_is_left_out_and_the_order_is_kept():
    drawing = DrawingBuilder()
    grey = drawing.color(OTHER)
    some, more = boxes(2, grey), boxes(1, grey)
    drawing.add(some, None, boxes(0, grey))
    drawing.add(more)
    drawing.write(None, labels(), labels("a"))
    drawing.measure(None, Axis((0, 0, 0), (1, 0, 0), 1.0, (), ()))
    full, ramp = Legend("Calls", (LegendEntry("a call", grey),)), Legend("Time", ramp=(0, 0))
    drawing.explain(Legend("Nothing"), full, None, ramp)
    drawing.note("first", "", "second")
    drawing.counts["threads"] = 3
    made = drawing.finish(CAMERA, "A title", calls=3)
    assert made.elements == (some, more)
    assert [group.text for group in made.labels] == [("a",)]
    assert len(made.axes) == 1
    assert made.legends == (full, ramp)
    assert made.notes == ("first", "second")
    assert made.counts == {"threads": 3, "calls": 3}
    assert made.title == "A title"


def test_an_empty_drawing_has_a_palette_of_no_colors():
    assert DrawingBuilder().finish(CAMERA, "").palette.shape == (0, 4)
