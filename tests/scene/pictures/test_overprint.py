"""Texts over pictures by Cycles are those of Workbench, and the data below is Cycles'."""

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from tests.support.drawings import rows  # noqa: E402
from tests.support.walked_traces import walked_trace  # noqa: E402
from tracevis3d import api  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.output import Output  # noqa: E402
from tracevis3d.drawing.primitives import Axis  # noqa: E402
from tracevis3d.scene.build import build, clear  # noqa: E402
from tracevis3d.scene.output import engines, pixels  # noqa: E402
from tracevis3d.scene.output.overprint import over, overlaid  # noqa: E402
from tracevis3d.scene.output.produce import produce  # noqa: E402
from tracevis3d.scene.parts import PART  # noqa: E402

pytestmark = [
    pytest.mark.blender,
    pytest.mark.skipif(
        not all(engine.ok for engine in engines.examine()),
        reason="needs OpenGL without a screen (libegl1, libgl1-mesa-dri)",
    ),
]
FRAME = Frame(480, 270)


@pytest.mark.parametrize("transparent", [False, True])
def test_texts_are_those_of_workbench(tmp_path, transparent):
    drawing = api.icicle(walked_trace(3)).drawing(FRAME)
    found = {}
    for engine in ("cycles", "workbench"):
        out = tmp_path / f"{engine}.png"
        made = produce(drawing, out, Output(engine=engine, frame=FRAME, samples=2, transparent=transparent))
        assert made.counts["engine"] == engine
        assert made.counts["label_overlaps"] == 0
        found[engine] = pixels.read(out).astype(int)
    head = {engine: picture[:24] for engine, picture in found.items()}
    # Edges of strokes lie on another ground.
    inked = head["workbench"][..., 3] > 0 if transparent else head["workbench"][..., :3].min(axis=2) < 200
    assert inked.sum() > 100
    away = np.abs(head["cycles"] - head["workbench"])[inked]
    assert away.max() <= (3 if transparent else 30)
    assert away.mean() <= 12
    # The data have light and shadows.
    assert np.abs(found["cycles"] - found["workbench"])[80:200].max() > 25


def test_other_formats_show_the_same(tmp_path):
    drawing = api.icicle(walked_trace(3)).drawing(Frame(240, 136))
    for suffix in (".png", ".jpg", ".webp"):
        produce(drawing, tmp_path / f"a{suffix}", Output(engine="cycles", frame=Frame(240, 136), samples=2))
    exact, *others = (
        pixels.read(tmp_path / f"a{suffix}").astype(int) for suffix in (".png", ".jpg", ".webp")
    )
    for picture in others:
        assert picture.shape == exact.shape
        assert np.abs(picture - exact)[..., :3].mean() < 2
        assert (picture[..., 3] == 255).all()


@pytest.mark.parametrize(("depth", "free"), [(-1.5, True), (1.5, False)])
def test_rulers_are_over_the_picture_where_nothing_lies_before_them(depth, free):
    ruler = Axis((0.0, depth, 1.0), (1.0, 0.0, 0.0), 10.0, (2.0,), ("2",), outward=(0.0, 0.0, -1.0))
    built = build(replace(rows(), axes=(ruler,)), frame=FRAME)
    printed = [str(shown.get(PART, "")) for shown in over(built)]
    clear(built.collection)
    assert "title" in printed
    assert ("axis lines" in printed) == free


def test_a_picture_over_another_is_that_of_each_pixel():
    random = np.random.default_rng(3)
    below, above = (random.integers(0, 256, (7, 5, 4)).astype(np.uint8) for _ in range(2))
    found = overlaid(below, above)
    for row in range(7):
        for column in range(5):
            *low, a = (float(x) / 255 for x in below[row, column])
            *high, b = (float(x) / 255 for x in above[row, column])
            alpha = b + a * (1 - b)
            wanted = [(h * b + v * a * (1 - b)) / alpha if alpha else 0.0 for h, v in zip(high, low)]
            assert np.allclose(found[row, column] / 255, [*wanted, alpha], atol=0.503 / 255)
