"""Texts that something hides are counted as rendered: pixel by pixel, from the objects of the scene."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

bpy = pytest.importorskip("bpy")

from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.primitives import Boxes, Camera, Drawing, Labels, Lines, Wedges  # noqa: E402
from tracevis3d.layout.sight.view_projection import ViewProjection  # noqa: E402
from tracevis3d.layout.sight.visible import shown_pixels  # noqa: E402
from tracevis3d.scene.build import build, clear  # noqa: E402
from tracevis3d.scene.output import pixels, render  # noqa: E402
from tracevis3d.scene.output.covered import covered_texts, legible  # noqa: E402
from tracevis3d.scene.text.cover import Cover  # noqa: E402

pytestmark = pytest.mark.blender

#: Pale, so that what is dark in a picture is a text.
PALETTE = np.array([[0.8, 0.85, 0.9, 1]], np.float32)
NONE = np.zeros(1, np.int32)


@pytest.fixture(autouse=True)
def alone():
    """What other tests leave in the scene would be in the pictures."""
    bpy.ops.wm.read_factory_settings(use_empty=True)


def names(*places: tuple[str, float, float, float]) -> Labels:
    count = len(places)
    return Labels(
        "function", tuple(text for text, *_ in places), np.float32([at for _, *at in places]),
        np.full(count, 0.5, np.float32), np.full(count, 9, np.float32), np.ones(count, np.float32), align=-1,
    )  # fmt: skip


def boxes(*places: tuple[float, float, float, float, float, float]) -> Boxes:
    corner = np.float32(places)
    n = len(corner)
    return Boxes("call", corner[:, :3], corner[:, 3:], np.zeros(n, np.int32), np.arange(n, dtype=np.int64))


def scene(*elements, labels, opening=0.3, **more):
    camera = Camera((0, -1, opening), (0, 0, 0), (10, 4, 5), projection="orthographic")
    return build(Drawing(PALETTE, elements, camera, (labels,), **more), frame=Frame(640, 360))


def dark(built, tmp_path, hidden: bool) -> np.ndarray:
    """Render with all data, or without, and return which pixels are dark, the lowest row first."""
    for shown in built.collection.objects:
        if "tracevis3d_element" in shown:
            shown.hide_render = hidden
    file = tmp_path / f"{hidden}.png"
    render.still(built, file, engine="workbench")
    return pixels.read(file)[::-1, :, :3].max(axis=2) < 110


@pytest.mark.parametrize(
    ("place", "covered"),
    [
        ((2.4, -0.5, 0, 0.5, 0.1, 5), True),  # a post before it
        ((2.0, 1.5, 0, 3.0, 0.1, 5), False),  # behind it
        ((0.2, -0.5, 0, 0.5, 0.1, 5), False),  # beside it
    ],
)
def test_what_is_counted_is_what_is_rendered(place, covered, tmp_path, monkeypatch):
    monkeypatch.setattr(Cover, "share", lambda *_: 0.0)  # names behind boxes are left out
    built = scene(boxes(place, (9, 0, 0, 0.5, 0.5, 0.5)), labels=names(("a_longer_name", 1.5, 1.0, 3.0)))
    assert built.counts["labels"] == 1
    found = covered_texts(built).texts
    (outline,) = built.printed.labels.outline
    left, bottom = np.floor(outline.min(axis=0)).astype(int)
    right, top = np.ceil(outline.max(axis=0)).astype(int)
    all_, alone = (dark(built, tmp_path, hidden)[bottom:top, left:right] for hidden in (False, True))
    clear(built.collection)
    assert alone.sum() > 60
    assert (np.count_nonzero(alone & ~all_) > 0.02 * alone.sum()) == covered
    assert (found == ["a_longer_name"]) == covered


def test_lines_strike_names_through():
    across = np.float32([[0, 0, 3.0], [9, 0, 3.0]])
    line = Lines(
        "frame", across, np.array([0, 2]), np.float32([0.06]), NONE, np.zeros(1, np.int64)
    )  # fmt: skip
    built = scene(
        boxes((9, 0, 0, 0.5, 0.5, 0.5)), line, labels=names(("struck", 1.5, 1.0, 2.7), ("free", 5, 1.0, 1))
    )
    found = covered_texts(built).texts
    clear(built.collection)
    assert "free" not in found
    high = scene(boxes((9, 0, 0, 0.5, 0.5, 0.5)), line, labels=names(("struck", 1.5, 0.5, 3.0)), opening=0.0)
    assert covered_texts(high).texts == ["struck"]
    clear(high.collection)


def test_a_name_that_is_struck_through_ends_before_the_line_or_is_left_out():
    # A frame, whose lower edge runs through one name, its right one through the other.
    frame = np.float32([[4.5, 0, 3.0], [4.5, 0, 0.5], [4.5, 0, 3.0], [0.5, 0, 3.0]])
    line = Lines("frame", frame, np.array([0, 4]), np.float32([0.06]), NONE, np.zeros(1, np.int64))
    texts = names(("a_name_of_some_length_here", 1.5, 0.5, 1.5), ("lost", 1.5, 0.5, 3.0))
    camera = Camera((0, -1, 0.0), (0, 0, 0), (10, 4, 5), projection="orthographic")
    drawing = Drawing(PALETTE, (boxes((9, 0, 0, 0.5, 0.5, 0.5)), line), camera, (texts,))
    make = partial(build, drawing, frame=Frame(640, 360))
    first = make()
    assert len(covered_texts(first).texts) == 2
    built = legible(make, first)
    written, count = list(built.printed.labels.text), built.counts["label_overlaps"]
    found = covered_texts(built).texts
    clear(built.collection)
    assert (count, found) == (0, [])
    (name,) = written
    assert name.endswith("…")
    assert name.startswith("a_name")


def bent(plates):
    """The same plates as blocks of two sections."""
    low, high = plates.low, plates.low + plates.size
    corner = np.stack([low, low, high, high], axis=1)
    corner[:, [1, 3], 2] = corner[:, [3, 1], 2]
    sections = np.repeat(corner, 2, axis=0)
    sections[::2, :, 0], sections[1::2, :, 0] = low[:, :1], high[:, :1]
    return Wedges("wait plate", sections, np.arange(len(plates) + 1) * 2, plates.color, plates.id)


@pytest.mark.parametrize("form", [lambda plates: replace(plates, kind="tag"), bent], ids=["box", "bent"])
def test_a_plate_whose_text_is_left_out_is_not_drawn(form):
    plates = form(boxes((1, 1, 2, 2, 0.1, 0.5), (6, 1, 2, 2, 0.1, 0.5)))
    wall = boxes((0, 0.2, 0, 4, 0.1, 4))
    texts = names(("hidden", 1.2, 0.95, 2.25), ("shown", 6.2, 0.95, 2.25))
    built = scene(wall, plates, labels=texts)
    kept = next(e for e in built.drawing.elements if e.kind == plates.kind)
    written = list(built.printed.labels.text)
    clear(built.collection)
    assert written == ["shown"]
    assert kept.id.tolist() == [1]


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_pixels_are_those_of_the_plain_rule(seed):
    """Of each pixel the nearest triangle is found one by one; what is about as near may be either."""
    rng = np.random.default_rng(seed)
    count, others = 3, 4
    point = rng.uniform(-1, 1, (3 * (count + others), 3))
    triangle = np.arange(3 * (count + others), dtype=np.int32).reshape(-1, 3)
    view = ViewProjection.of(np.eye(4), 24, 18)
    seen, alone, where = shown_pixels(
        point, triangle[count:], triangle[:count], np.arange(count, dtype=np.int32), view
    )
    assert [int(np.count_nonzero(where == t)) for t in range(count)] == (alone - seen).tolist()
    x, y = np.meshgrid((np.arange(24) + 0.5) / 12 - 1, (np.arange(18) + 0.5) / 9 - 1)
    depth = np.full((count + others, 18, 24), np.inf)
    for t, (a, b, c) in enumerate(triangle):
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = point[a], point[b], point[c]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
        v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
        inside = (u >= 0) & (v >= 0) & (u + v <= 1)
        depth[t][inside] = (u * az + v * bz + (1 - u - v) * cz)[inside]
    for which, got in ((range(count + others), seen), (range(count), alone)):
        nearest = np.argmin(depth[list(which)], axis=0)
        hit = np.isfinite(depth[list(which)].min(axis=0))
        plain = [int(np.count_nonzero((nearest == t) & hit)) for t in range(count)]
        # Edges may fall on the middle of a pixel, and a triangle thinner than a pixel has one all the same.
        assert np.abs(np.subtract(plain, got)).max() <= 2
