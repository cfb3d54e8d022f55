"""Films in which parameters change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import walked_traces
from tracevis3d import api
from tracevis3d.cli import main
from tracevis3d.drawing.animation import eased, read_changes
from tracevis3d.drawing.frame import Frame
from tracevis3d.errors import UsageError
from tracevis3d.views import registry

ICICLE = registry.find("icicle").parameters


def test_numbers_whole_numbers_and_times_change():
    opening, depth, end = read_changes(
        ICICLE, {"opening": "0..1", "first_depth": (1, 4), "end": "2ms..1s"}
    )  # fmt: skip
    assert [opening.at(s) for s in (0, 0.25, 1)] == [0.0, 0.25, 1.0]
    assert [depth.at(s) for s in (0, 0.4, 0.6, 1)] == [1, 2, 3, 4]
    assert [end.at(s) for s in (0, 0.5, 1)] == ["2000000ns", "501000000ns", "1000000000ns"]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"openin": "0..1"}, "did you mean 'opening'"),
        ({"opening": "0.5"}, "FROM..TO"),
        ({"opening": "0..1..0"}, "FROM..TO"),
        ({"opening": "0..2"}, "1 is the maximum"),
        ({"opening": "a..b"}, "a number is expected"),
        ({"color": "auto..function"}, "only numbers and times"),
        ({"threads": "all..auto"}, "only numbers and times"),
    ],
)
def test_what_cannot_change_is_reported_in_one_sentence(texts, words):
    with pytest.raises(UsageError, match=words):
        read_changes(ICICLE, texts)


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_way_goes_forward_from_end_to_end(a, b):
    low, high = sorted((a, b))
    assert 0.0 <= eased(low) <= eased(high) <= 1.0
    assert eased(0.05) == 0.0
    assert eased(0.95) == 1.0


def test_only_films_show_it(tmp_path, capsys):
    with pytest.raises(UsageError, match="only films"):
        api.icicle(walked_traces.walked_trace(1)).render(tmp_path / "a.png", animate={"opening": (0, 1)})
    source = tmp_path / "a.tv3"
    api.save(walked_traces.walked_trace(1), source)
    for words in (["--animate", "opening"], ["--animate", "opening=1"], ["--animate", "relief=0..9"]):
        assert main(["render", "icicle", str(source), "-o", str(tmp_path / "a.mp4"), *words]) == 2
        assert words[1].split("=")[0] in capsys.readouterr().err
    assert not (tmp_path / "a.mp4").exists()


@pytest.mark.blender
def test_a_film_of_changing_parameters(tmp_path, monkeypatch):
    pytest.importorskip("bpy")
    import bpy

    from tracevis3d.scene.films import film
    from tracevis3d.scene.output import engines

    if not all(engine.ok for engine in engines.examine()):
        pytest.skip("needs OpenGL without a screen (libegl1, libgl1-mesa-dri)")
    # Another test of this process may have opened a file with a scene of ours.
    bpy.ops.wm.read_factory_settings(use_empty=True)
    seen = []
    inner = film.render_frame

    def render_frame(built, path, progress):
        inner(built, path, progress)
        seen.append((built.drawing.camera.direction, path.read_bytes()))

    monkeypatch.setattr(film, "render_frame", render_frame)
    figure = api.icicle(walked_traces.walked_trace(1))
    report = figure.render(
        tmp_path / "a.mp4", frame=Frame(160, 90), seconds=1.0, fps=12, animate={"opening": "0..1"}
    )
    assert report["frames"] == 12
    clip = bpy.data.movieclips.load(str(tmp_path / "a.mp4"))
    assert (tuple(clip.size), clip.frame_duration) == ((160, 90), 12)
    assert [p.name for p in tmp_path.iterdir()] == ["a.mp4"]
    # It stands at both ends, which are drawn once, and turns from flat to the whole picture.
    assert len(seen) == 11
    assert len({picture for _, picture in seen}) == len(seen)
    ends = [
        figure.view.draw(figure.traces, ICICLE(opening=o), Frame(160, 90), lambda *_: None) for o in (0, 1)
    ]
    for (direction, _), end in zip((seen[0], seen[-1]), ends, strict=True):
        assert np.allclose(direction, end.camera.direction)
    assert [s.name for s in bpy.data.scenes if "TraceVis3D" in s.name] == []
