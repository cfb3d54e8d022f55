"""Legends share a row where they fit beside each other, and nowhere else."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

bpy = pytest.importorskip("bpy")

from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.primitives import Camera, Drawing, Legend, LegendEntry  # noqa: E402
from tracevis3d.scene import styles  # noqa: E402
from tracevis3d.scene.text.glyphs import typeface  # noqa: E402
from tracevis3d.scene.text.legend import lay_out  # noqa: E402

FRAME = Frame(1920, 1080)
CAMERA = Camera((0, -1, 0), (0, 0, 0), (1, 1, 1))


def laid(*legends: Legend):
    palette = np.ones((4, 4), np.float32)
    return lay_out(Drawing(palette, (), CAMERA, legends=legends), styles.named("paper"), FRAME, typeface())


def of(title: str, *texts: str) -> Legend:
    return Legend(title, tuple(LegendEntry(text, 0) for text in texts))


def test_short_legends_share_a_row_and_long_ones_do_not():
    rows = {line.text: line.baseline for line in laid(of("One", "first", "second"), of("Two", "third")).lines}
    assert len(set(rows.values())) == 1
    long = ["a name that takes its room"] * 4
    found = laid(of("One", *long), of("Two", *long), of("Three", "fourth")).lines
    rows = {line.text: line.baseline for line in found if line.text != long[0]}
    assert rows["One"] > rows["Two"] == rows["Three"]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.text("abc mn", min_size=1, max_size=40), max_size=6), min_size=1, max_size=4))
def test_no_text_lies_on_another_or_outside(legends):
    found = laid(*[of(f"Title {i}", *texts) for i, texts in enumerate(legends)])
    face = typeface()
    boxes = [
        (line.left, line.left + face.width(line.text) * line.size, line.baseline) for line in found.lines
    ]
    assert all(left >= 0 and right <= FRAME.width for left, right, _ in boxes)
    for (low, high, y), (left, right, other) in combinations(boxes, 2):
        assert abs(y - other) > 1 or high < left or right < low
    assert found.region[3] <= min([y for _, _, y in boxes], default=FRAME.height)
