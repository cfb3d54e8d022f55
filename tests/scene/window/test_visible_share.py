"""How much of what is highlighted is seen in a picture."""

import numpy as np
import pytest

pytest.importorskip("bpy", reason="no bpy")
pytestmark = pytest.mark.blender

from tracevis3d.drawing.primitives import Boxes, Camera, Drawing  # noqa: E402
from tracevis3d.scene.build import build, clear  # noqa: E402
from tracevis3d.scene.output.visible import highlighted, projection_of, share_in  # noqa: E402

GREY = np.array([[0.5, 0.5, 0.5, 1.0]], np.float32)


def boxes(kind, low, size, look="solid"):
    low, size = np.array([low], np.float32), np.array([size], np.float32)
    return Boxes(kind, low, size, np.zeros(1, np.int32), np.zeros(1, np.int64), look=look)


def drawing(*elements, projection="orthographic"):
    camera = Camera((0.0, -1.0, 0.2), (0.0, -1.0, 0.0), (10.0, 3.0, 5.0), projection=projection)
    return Drawing(GREY, elements, camera)


@pytest.fixture
def built():
    made = []

    def make(what):
        made.append(build(what, style="paper"))
        return made[-1]

    yield make
    for each in made:
        clear(each.collection)


@pytest.mark.parametrize("projection", ["orthographic", "perspective"])
def test_the_matrix_is_the_cameras(built, projection):
    view = built(drawing(boxes("call", (0, 0, 0), (10, 1, 5)), projection=projection)).view
    points = np.random.default_rng(2).uniform((0, -1, 0), (10, 3, 5), (50, 3))
    assert np.allclose(projection_of(view).pixels(points), view.pixels(points), atol=1e-6)


LIT, FADED = boxes("call", (2, 2, 0), (4, 0.5, 4)), boxes("call", (7, 2, 0), (2, 0.5, 4), look="ghost")


@pytest.mark.parametrize(("wall", "wanted"), [(0.0, 1.0), (2.0, 0.5), (5.0, 0.0)])
def test_what_stands_before_hides(built, wall, wanted):
    parts = [LIT, FADED]
    if wall:
        parts.append(boxes("wall", (1.9, 0, -2), (wall + 0.1, 0.1, 8)))
    assert share_in(built(drawing(*parts))) == pytest.approx(wanted, abs=0.04)


def test_ghosts_hide_nothing(built):
    before = boxes("call", (1, 0, -1), (6, 0.1, 7), look="ghost")
    assert share_in(built(drawing(LIT, before))) == 1.0


def test_nothing_is_measured_where_nothing_is_highlighted(built):
    assert share_in(built(drawing(LIT))) is None
    assert highlighted(drawing(LIT, FADED)) == [0]
    assert highlighted(drawing(LIT, boxes("wall", (0, 0, 0), (1, 1, 1), look="ghost"))) == []
