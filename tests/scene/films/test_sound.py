"""The sound of a film: notes where things begin, read back from the samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from tracevis3d import api
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.output import Output
from tracevis3d.drawing.primitives import Boxes, Camera, Drawing, Legend, LegendEntry
from tracevis3d.errors import UsageError
from tracevis3d.scene.films.notes import RATE, RUNNING, SLOTS, notes_of, pitch_of, samples_of

bpy = pytest.importorskip("bpy")


def drawing_of(times, colors, kinds=3) -> Drawing:
    n = len(times)
    palette = np.ones((kinds + 1, 4), np.float32)
    start = np.array(times, np.float32)
    boxes = Boxes(
        "call", np.zeros((n, 3), np.float32), np.ones((n, 3), np.float32), np.array(colors, np.int32),
        np.arange(n), np.stack([start, start + 0.01], axis=1),
    )  # fmt: skip
    legend = Legend("Kinds", tuple(LegendEntry(f"kind {i}", i) for i in range(kinds)))
    return Drawing(palette, (boxes,), Camera((0, -1, 0), (0, 0, 0), (1, 1, 1)), legends=(legend,))


def strongest(samples, second) -> float:
    """Return the frequency that is strongest in the tenth of a second from ``second`` on."""
    part = samples[round(second * RATE) : round((second + 0.1) * RATE)].astype(float)
    size = np.abs(np.fft.rfft(part * np.hanning(len(part)), 1 << 17))
    return float(np.argmax(size) * RATE / (1 << 17))


def test_notes_sound_when_things_begin_in_the_pitch_of_their_colour() -> None:
    times, colors = [0.1, 0.4, 0.7], [0, 2, 3]
    samples = samples_of(drawing_of(times, colors), 4.0, RUNNING * 4.0)
    assert len(samples) == 4 * RATE
    loud = np.abs(samples.astype(float))
    slots = round(RUNNING * 4 * SLOTS)
    for time, color in zip(times, colors, strict=True):
        second = int(time * slots) * RUNNING * 4 / slots
        # Silent just before, heard just after; the colour beyond the legend is above all of it.
        before, after = (loud[round((second + at) * RATE) :][: RATE // 50].max() for at in (-0.021, 0.005))
        assert before < 0.02 * after
        assert strongest(samples, second) == pytest.approx(pitch_of(color), rel=0.02)
    assert loud.max() == pytest.approx(0.8 * 32767, abs=1)


def test_more_is_louder_and_each_thing_counts_once() -> None:
    one, many = [0.1], [0.6] * 50
    samples = samples_of(drawing_of(one + many, [0] * 51), 4.0, RUNNING * 4.0).astype(float)
    halves = np.abs(samples[: len(samples) // 3]).max(), np.abs(samples[len(samples) // 3 :]).max()
    assert halves[0] / halves[1] == pytest.approx(np.log1p(1) / np.log1p(50), rel=0.05)
    begin, pitch, count = notes_of(drawing_of(one + many, [0] * 51))
    assert (len(begin), set(pitch.tolist()), count.sum()) == (51, {0}, 51)


def test_what_cannot_be_heard_is_told(tmp_path) -> None:
    trace = api.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")
    with pytest.raises(UsageError, match="nothing in this picture has a time"):
        notes_of(api.view("cone", trace).drawing())
    with pytest.raises(UsageError, match="can't be heard"):
        api.check_output(tmp_path / "a.png", Output(sound=True))
    with pytest.raises(UsageError, match="no time runs"):
        api.view("icicle", trace).render(tmp_path / "a.mp4", sound=True, animate={"opening": "0..1"})


@pytest.fixture(scope="module")
def figure():
    return api.view("icicle", api.load(ROOT / "examples" / "uftrace_zstd_7t.json.gz"), labels=0)


def test_a_blend_holds_its_sound(figure, tmp_path) -> None:
    path = tmp_path / "heard.blend"
    figure.render(path, sound=True, seconds=2.0)
    before = {id(sound) for sound in bpy.data.sounds}
    with bpy.data.libraries.load(str(path)) as (there, here):
        here.scenes = there.scenes
    # Scenes of other tests lie in the file, too.
    heard = [(scene, strip) for scene in here.scenes for strip in strips_of(scene)]
    ((scene, strip),) = heard
    sound = strip.sound
    assert id(sound) not in before
    assert sound.packed_file is not None
    # Should it ever be unpacked, it lies beside the file; nothing leads to where it was made.
    assert Path(bpy.path.abspath(sound.filepath)) == tmp_path / "TraceVis3D events.wav"
    expected = samples_of(figure.drawing(Output().frame), 2.0, RUNNING * 2.0)
    stored = np.frombuffer(sound.packed_file.data[-2 * len(expected) :], "<i2")
    assert np.array_equal(stored, expected)
    assert strip.frame_start == scene.frame_start
    bpy.data.scenes.remove(scene)


def strips_of(scene):
    editor = scene.sequence_editor
    if editor is None:
        return []
    return list(editor.strips if hasattr(editor, "strips") else editor.sequences)


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
def test_a_film_is_heard(figure, tmp_path, suffix) -> None:
    aud = pytest.importorskip("aud")
    path = tmp_path / f"heard.{suffix}"
    figure.render(path, sound=True, seconds=1.0, fps=4, size="160x90", draft=True)
    heard = aud.Sound.file(str(path))
    samples = heard.data()[:, 0]
    rate = int(heard.specs[0])
    expected = samples_of(figure.drawing(Frame(160, 90)), 1.0, RUNNING * 1.0) / 32767
    assert len(samples) / rate == pytest.approx(1.0, abs=0.12)
    # The codec loses what is not heard, and may begin some samples later.
    steps, length = 80, len(expected) // 100

    def loudness(of, n, late):
        return np.abs(of[late : late + steps * n].reshape(steps, n)).max(axis=1)

    mine = loudness(expected, length, 0)
    its = [loudness(samples, length * rate // RATE, late) for late in range(0, 3 * rate // 50, rate // 500)]
    assert max(np.corrcoef(mine, each)[0, 1] for each in its) > 0.95
