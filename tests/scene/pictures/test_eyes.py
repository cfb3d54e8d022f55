"""Pictures for two eyes, and of all directions."""

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from tests.support.drawings import pixels, rows  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.output import Output, check  # noqa: E402
from tracevis3d.errors import UsageError  # noqa: E402
from tracevis3d.scene.output import engines  # noqa: E402
from tracevis3d.scene.output.produce import produce  # noqa: E402

pytestmark = [
    pytest.mark.blender,
    pytest.mark.skipif(
        not all(engine.ok for engine in engines.examine()),
        reason="needs OpenGL without a screen (libegl1, libgl1-mesa-dri)",
    ),
]
STEREO = Output(style="stage", engine="workbench", frame=Frame(320, 180))


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def seen(path):
    """Return a picture's colours, the highest row first."""
    return pixels(path)[::-1].round().astype(int)


def deep():
    """Rows that are seen from the side, so that they lie at several depths; with a title."""
    drawing = rows()
    return replace(
        drawing,
        title="Title",
        camera=replace(drawing.camera, direction=(0.8, -1.0, 0.6), projection="perspective"),
    )


def test_two_eyes_see_the_title_in_one_place_and_the_data_in_two(tmp_path):
    for how, size in (("side-by-side", (640, 180)), ("top-bottom", (320, 360)), ("anaglyph", (320, 180))):
        out = tmp_path / f"{how}.png"
        produce(deep(), out, replace(STEREO, stereo=how))
        assert tuple(bpy.data.images.load(str(out)).size) == size
    both = seen(tmp_path / "side-by-side.png")
    left, right = both[:, :320], both[:, 320:]
    above = seen(tmp_path / "top-bottom.png")
    assert (above[:180] == left).all()
    assert (above[180:] == right).all()
    glasses = seen(tmp_path / "anaglyph.png")
    assert np.abs(glasses[..., 0] - left[..., 0]).max() <= 2
    assert np.abs(glasses[..., 1:] - right[..., 1:]).max() <= 2
    ground = left[0, 0]
    written = np.abs(left[:20] - ground).max(axis=2) > 60
    assert written.sum() > 30
    # By less than a pixel: edges alone differ.
    assert np.abs(left[:20] - right[:20]).max() <= 40
    # What is behind the screen lies farther to the right for the right eye.
    data_left, data_right = (
        np.abs(eye[40:] - ground).max(axis=2).any(axis=0).nonzero()[0] for eye in (left, right)
    )
    assert data_right.mean() > data_left.mean() + 0.5


def test_a_panorama_has_the_data_ahead_and_says_what_it_is(tmp_path):
    for name in ("a.png", "a.jpg"):
        out = tmp_path / name
        produce(deep(), out, Output(style="stage", frame=Frame(256, 128), panorama=True, samples=1))
        content = out.read_bytes()
        assert b'GPano:FullPanoWidthPixels="256"' in content
        assert b"total_time" not in content
    around = seen(tmp_path / "a.png")
    assert around.shape[:2] == (128, 256)
    bright = np.abs(around - around[64, 4]).max(axis=2) > 80
    columns, lines = bright.any(axis=0).nonzero()[0], bright.any(axis=1).nonzero()[0]
    assert 80 < columns.min() < columns.max() < 176
    assert lines.max() - lines.min() > 10


def test_a_film_for_two_eyes(tmp_path):
    out = tmp_path / "a.mp4"
    produce(deep(), out, replace(STEREO, frame=Frame(64, 48), stereo="side-by-side", seconds=0.2, fps=10))
    assert tuple(bpy.data.movieclips.load(str(out)).size) == (128, 48)


def test_what_has_no_depth_is_refused(tmp_path):
    for words, name, sentence in (
        ({"stereo": "crossed"}, "a.png", "--stereo crossed: one of side-by-side"),
        ({"stereo": "anaglyph"}, "a.pdf", "--stereo: .png"),
        ({"stereo": "anaglyph", "style": "flat"}, "a.png", "--stereo: the style flat has no depth"),
        ({"panorama": True, "engine": "eevee"}, "a.png", "--panorama: the engine eevee can't look around"),
        ({"device": "abacus"}, "a.png", "--device abacus: one of cpu, gpu"),
        ({"device": "gpu", "engine": "workbench"}, "a.png", "--device: is for the engine cycles"),
        ({"panorama": True, "frame": Frame(400, 100)}, "a.png", "--panorama: it is twice as wide as high"),
    ):
        with pytest.raises(UsageError, match=sentence.replace("(", r"\(")):
            check(tmp_path / name, Output(**words))


def test_the_type_of_a_panorama_in_stage_is_that_of_what_lies_ahead():
    around = Output(style="stage", panorama=True, frame=Frame(2048, 1024))
    ahead = around.composed.frame
    assert ahead.points == Output(style="stage", frame=Frame(ahead.width, ahead.height)).frame.points
    # As large in the picture as without: a share of its height.
    assert ahead.type_size / ahead.height == pytest.approx(
        Output(style="stage", frame=Frame(1920, 1080)).frame.type_size / 1080, rel=0.01
    )
