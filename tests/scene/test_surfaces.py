"""Bent blocks, pictures on surfaces, and tubes whose colour changes on the way."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("bpy")

from tests.support.drawings import picture, pixels, ring
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.output import Output
from tracevis3d.drawing.primitives import Camera, Drawing, Image, Tubes, Wedges
from tracevis3d.scene.build import build, clear
from tracevis3d.scene.color import linear
from tracevis3d.scene.geometry.images import grid_faces
from tracevis3d.scene.geometry.wedges import faces
from tracevis3d.scene.output.produce import produce

PALETTE = np.array([[0.9, 0.3, 0.1, 1], [0.1, 0.4, 0.8, 1], [0.2, 0.7, 0.3, 1]], np.float32)
FRONT = Camera((0, -1, 0), (0, 0, 0), (10, 1, 5), projection="orthographic")


def made(element, style="flat"):
    built = build(Drawing(PALETTE, (element,), FRONT), style=style, frame=Frame(320, 180))
    (shown,) = (o for o in built.collection.objects if o.get("tracevis3d_kind") == element.kind)
    return built, shown


def values(shown, name, prop, width):
    data = shown.data.attributes[name].data
    out = np.empty(len(data) * width, np.float32)
    data.foreach_get(prop, out)
    return out.reshape(-1, width)


def test_a_wedge_is_closed_and_its_faces_look_outwards():
    corner, first = ring(3)
    face, _, owner = faces(corner, first)
    assert len(face) == 3 * (4 * 3 + 2)
    assert np.bincount(owner).tolist() == [14, 14, 14]
    built, shown = made(Wedges("sector", corner, first, np.arange(3), np.arange(3)), "paper")
    mesh = shown.data
    assert len(mesh.polygons) == len(face)
    for k in range(3):
        mine = [p for p in mesh.polygons if mesh.attributes["element_id"].data[p.index].value == k]
        middle = np.mean([p.center for p in mine], axis=0)
        # The divergence theorem: the volume is positive when all normals look outwards.
        volume = sum(float(np.dot(np.array(p.center) - middle, p.normal)) * p.area for p in mine) / 3
        # Three chords span 0.9 of a third of the circle, from radius 3 to 4.
        assert volume == pytest.approx(3 * np.sin(0.3 * 2 * np.pi / 3) / 2 * (16 - 9), rel=1e-3)
    clear(built.collection)


def test_a_picture_has_no_surface_where_nothing_is():
    image = picture()
    assert len(grid_faces(image.pixel[..., 3])) == 7 * 3
    built, shown = made(image)
    assert len(shown.data.polygons) == 21
    assert [m for m in shown.modifiers if m.type == "NODES"]
    clear(built.collection)


def test_pixels_keep_their_colours(tmp_path):
    r, c = np.mgrid[:2, :3]
    point = np.stack([c * 5.0, np.zeros_like(c), 5.0 - 5 * r], axis=-1).astype(np.float32)
    pixel = np.zeros((2, 3, 4), np.uint8)
    pixel[:, 0], pixel[:, 1], pixel[:, 2] = (200, 30, 60, 255), (200, 30, 60, 255), (20, 90, 160, 128)
    path = tmp_path / "image.png"
    drawing = Drawing(PALETTE, (Image("sequence", point, pixel),), FRONT)
    produce(drawing, path, Output(style="flat", engine="workbench", frame=Frame(320, 180)))
    shown = pixels(path)
    assert shown[90, 70] == pytest.approx([200, 30, 60], abs=2)
    # Half covered: half the style's white shines through.
    right = shown[90, :].reshape(-1, 3)
    assert np.abs(right - [137.5, 172.5, 207.5]).sum(axis=1).min() < 12


def test_a_tube_turns_from_one_colour_into_another():
    line = np.stack([np.linspace(0, 10, 11), np.zeros(11), np.ones(11)], axis=1).astype(np.float32)
    one = np.zeros(1, np.int32)
    tube = Tubes(
        "call", line, np.full((11, 2), 0.2, np.float32), np.array([0, 11]), one, one.astype(np.int64),
        end_color=one + 1, time=np.array([0.5], np.float32),
    )  # fmt: skip
    built, shown = made(tube)
    where, tint = values(shown, "position", "vector", 3), values(shown, "tint", "color", 4)
    from tracevis3d.scene.color import srgb

    colors = srgb(tint)[:, :3]
    for x in (0.0, 5.0, 10.0):
        wanted = PALETTE[0, :3] * (1 - x / 10) + PALETTE[1, :3] * x / 10
        assert np.abs(colors[np.abs(where[:, 0] - x) < 0.01] - wanted).max() < 0.01
    assert values(shown, "start", "value", 1) == pytest.approx(0.5)
    clear(built.collection)


@pytest.mark.parametrize("style", ["paper", "flat"])
def test_tubes_are_cushions_in_every_engine(style):
    """Their middles have the palette's colour, their sides are darker: on points, which all engines show."""
    path = np.array([[0, 0, 0], [0, 0, 4]], np.float32)
    tube = Tubes(
        "tube", path, np.tile(np.float32([2.0, 0.1]), (2, 1)), np.array([0, 2]), np.zeros(1, np.int32),
        np.zeros(1, np.int64), level=True,
    )  # fmt: skip
    _, shown = made(tube, style)
    tint = values(shown, "tint", "color", 4)[:, :3]
    across = np.abs(values(shown, "position", "vector", 3)[:, 0]) / 2.0
    middle = linear(PALETTE[:1])[0, :3]
    wanted = middle[None] * (1 - 0.42 * across[:, None] ** 2)
    np.testing.assert_allclose(tint, wanted, atol=0.01)


def test_the_crest_of_a_tube_is_the_brighter_the_glossier_it_is():
    path = np.array([[0, 0, 0], [0, 0, 4], [9, 0, 0], [9, 0, 4], [18, 0, 0], [18, 0, 4]], np.float32)
    gloss = np.array([0.0, 1 / 3, 1.0], np.float32)
    tubes = Tubes(
        "tube", path, np.tile(np.float32([2.0, 0.1]), (6, 1)), np.array([0, 2, 4, 6]), np.zeros(3, np.int32),
        np.arange(3), level=True, gloss=gloss,
    )  # fmt: skip
    _, shown = made(tubes, "flat")
    tint, where = values(shown, "tint", "color", 4)[:, :3], values(shown, "position", "vector", 3)
    plain = linear(PALETTE[:1])[0, :3]
    for i, bright in enumerate(gloss):
        own = np.abs(where[:, 0] - 9 * i) < 0.01  # the middle, where there is no shade
        wanted = plain + (1 - plain) * 0.6 * bright
        np.testing.assert_allclose(tint[own], np.tile(wanted, (int(own.sum()), 1)), atol=0.01)
