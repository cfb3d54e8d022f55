"""A story becomes a film: frames on disk, a camera that moves through what was built once, subtitles."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from tests.conftest import ROOT  # noqa: E402
from tests.support.walked_traces import walked_trace  # noqa: E402
from tracevis3d import api  # noqa: E402
from tracevis3d.cli import main  # noqa: E402
from tracevis3d.errors import Cancelled  # noqa: E402
from tracevis3d.progress import silent  # noqa: E402
from tracevis3d.scene.films import caption, stage, staged  # noqa: E402
from tracevis3d.scene.output import engines, pixels  # noqa: E402
from tracevis3d.scene.output.verify import verify  # noqa: E402
from tracevis3d.scene.text.glyphs import typeface  # noqa: E402
from tracevis3d.stories.film import Film, make, output_of  # noqa: E402
from tracevis3d.stories.read import from_words  # noqa: E402
from tracevis3d.trace.storage import cache  # noqa: E402

pytestmark = [
    pytest.mark.blender,
    pytest.mark.skipif(
        not all(engine.ok for engine in engines.examine()),
        reason="needs OpenGL without a screen (libegl1, libgl1-mesa-dri)",
    ),
]
SIZE = "160x120"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEVIS3D_CACHE", str(tmp_path / "cache"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return tmp_path


def told(*shots, **head):
    head = {"view": "icicle", "traces": "a.tv3", "size": SIZE, "fps": 4, **head}
    return from_words({**head, "shots": list(shots)}, "story")


TRACES = {"a.tv3": walked_trace(1, threads=1)}
SHOTS = (
    {"shot": "establish", "seconds": 1, "caption": "All of it"},
    {"shot": "fly_to", "function": "f1", "seconds": 1.5, "travel": 0.8},
    {"shot": "hold", "view": "cone", "seconds": 1.5, "caption": "As a tree", "dissolve": 0.5},
)


@pytest.fixture
def counted(monkeypatch):
    """Counts what is built and what is rendered."""
    done = {"built": 0, "rendered": 0}
    build, render = stage.build, stage.render.render_frame

    def building(*given, **words):
        done["built"] += 1
        return build(*given, **words)

    def rendering(*given):
        done["rendered"] += 1
        return render(*given)

    monkeypatch.setattr(stage, "build", building)
    monkeypatch.setattr(stage.render, "render_frame", rendering)
    return done


# Over a second: two pictures are built, ten frames rendered.
def test_a_stopped_film_goes_on_and_builds_each_picture_once(folder, counted):
    story, target = told(*SHOTS), folder / "talk.mp4"

    def stopping(done, what):
        if "frame 7 " in what:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        make(story, TRACES, target, output_of(story), progress=stopping)
    assert not target.exists()
    assert counted["built"] == 1
    first = counted["rendered"]
    report = make(story, TRACES, target, output_of(story))
    verify(target, frames=16)
    assert report["frames"] == 16
    # The camera's way, and one picture for all frames of what stands still.
    assert first + counted["rendered"] - first == counted["rendered"] <= 4 + 4 + 1 + 1
    assert counted["built"] == 1 + 2
    assert target.with_suffix(".srt").read_text().startswith("1\n00:00:00,000 --> 00:00:01,000\nAll of it\n")
    assert list(cache.films().iterdir()) == []
    assert not [scene for scene in bpy.data.scenes if scene.name.startswith("TraceVis3D")]


def test_title_legend_and_caption_stay_while_the_camera_moves(folder):
    story = told(*SHOTS[:2], size="640x360")
    film = Film(story, TRACES, output_of(story))
    frames = staged.Frames(film.output, folder)
    chosen = [film.frames[0], film.frames[5], film.frames[-1]]
    frames.make(chosen)
    texts = [
        o for o in frames._stages[chosen[0].now[0].scenery.name].built.collection.objects if "axis" in o.name
    ]
    assert texts  # the rulers' texts are one object, the same for all frames
    frames.close()
    first, middle, last = (pixels.read(frames.path(shown)).astype(int) for shown in chosen)
    top = 30  # rows of the title
    assert np.abs(first[:top] - last[:top]).max() <= 3
    assert np.abs(first[:top] - middle[:top]).max() <= 3
    assert first[:top].min() < 100  # something is written there
    foot = caption.height(film.output.frame)
    assert last[-foot:].min() == 255  # no data behind the caption
    assert np.abs(first[top:-foot] - last[top:-foot]).max() > 50


def test_nothing_shifts_between_pictures_of_one_view(folder):
    story = told(
        {"shot": "hold", "seconds": 1},
        {"shot": "hold", "seconds": 1, "title": "Named", "set": {"color": "module"}, "callout": 0},
        {"shot": "hold", "seconds": 1, "view": "cone"},
        size="640x360",
    )
    film = Film(story, TRACES, output_of(story))
    scenes = [film.frames[k].now[0].scenery for k in (0, 4, 8)]
    one, other, cone = (scene.framing for scene in scenes)
    assert one.whole == other.whole != cone.whole
    assert one.framed[1] == other.framed[1]
    # Each alone would be seen from elsewhere: their legends are not as wide.
    alone = [stage.Framing(scene.drawing, "paper", scene.frame, 49).framed for scene in scenes[:2]]
    assert one.framed[1][3] == min(region[3] for _, region in alone)
    for scene in scenes[:2]:
        words = scene.drawing.camera
        inside = one.view.pixels(np.array([words.low, words.high]))
        left, bottom, right, top = one.framed[1]
        assert (inside >= [left - 1, bottom - 1]).all()
        assert (inside <= [right + 1, top + 1]).all()


def test_a_dissolve_is_between_both_pictures(folder):
    story = told(*SHOTS[1:])
    film = Film(story, TRACES, output_of(story))
    frames = staged.Frames(film.output, folder)
    shown = next(shown for shown in film.frames if shown.before)
    alone = [staged.Shown(looks, (), 1.0, "", 0.0) for looks in (shown.before, shown.now)]
    frames.make([shown, *alone])
    frames.close()
    mixed, before, now = (pixels.read(frames.path(one)).astype(float)[: -caption.height(film.output.frame)]
                          for one in (shown, *alone))  # fmt: skip
    assert 0 < shown.share < 1
    assert np.abs(mixed - (before + shown.share * (now - before))).max() <= 1
    assert np.abs(now - before).max() > 50


def test_calls_on_their_way_begin_and_end_where_the_pictures_show_them(folder):
    story = told(
        {"shot": "hold", "seconds": 0.25},
        {"shot": "hold", "set": {"color": "module"}, "seconds": 1.25, "morph": 1},
    )
    film = Film(story, TRACES, output_of(story, style="stage"))
    frames = staged.Frames(film.output, folder)
    (leaving, *_, arriving) = (shown for shown in film.frames if shown.before)
    alone = [
        staged.Shown(looks, (), 1.0, "", 0.0)
        for looks in (leaving.before, leaving.now, arriving.before, arriving.now)
    ]
    frames.make(alone)
    frames.close()
    made = [pixels.read(frames.path(one)).astype(int)[:100, :, :3] for one in alone]
    for whole, moving in (made[:2], made[:1:-1]):
        # What travels is bright on black, where the whole picture is, too; and most of it.
        seen = moving.max(axis=2) > 100
        assert seen.sum() > 300
        assert (whole.max(axis=2)[seen] > 60).mean() > 0.97


def test_perspective_becomes_parallel_without_a_jump():
    story = told({"shot": "flatten", "seconds": 4}, "overview", fps=24)
    film = Film(story, TRACES, output_of(story))
    scenery = film.frames[0].now[0].scenery
    box = scenery.drawing.camera
    corner = np.array([[x, y, z] for x in (box.low[0], box.high[0]) for y in (box.low[1], box.high[1])
                       for z in (box.low[2], box.high[2])])  # fmt: skip
    places, kinds = [], []
    for shown in film.frames:
        eye = shown.now[0].eye()
        right, up, forward = eye.axes
        depth = (corner - eye.focus) @ forward
        far = 1 + depth / eye.distance if eye.perspective else np.ones(8)
        at = np.stack([(corner - eye.focus) @ right, (corner - eye.focus) @ up], axis=1)
        places.append(at / eye.width * 1280 / far[:, None])
        kinds.append(eye.perspective)
    assert set(kinds) == {True, False}
    moved = np.abs(np.diff(places, axis=0)).max(axis=(1, 2))
    change = next(i for i in range(len(kinds)) if kinds[i] != kinds[i + 1])
    assert moved[change] < 1.5 * max(moved[change - 1], 1.0)
    assert moved.max() < 40


def test_halves_are_two_pictures(folder):
    sides = {"left": {"function": "f1"}, "right": {"function": "f2"}}
    story = told({"shot": "compare", "seconds": 0.25, **sides})
    film = Film(story, TRACES, output_of(story))
    frames = staged.Frames(film.output, folder)
    frames.make(film.frames)
    frames.close()
    whole = pixels.read(frames.path(film.frames[0]))
    assert whole.shape[:2] == (120, 160)
    assert (whole[:100, 79:81, :3] == 128).all()
    left, right = whole[20:100, :79, :3], whole[20:100, 81:, :3]
    assert left.min() < 200
    assert right.min() < 200
    assert not np.array_equal(left, right)


def test_long_captions_get_lines_and_smaller_type():
    story = told("hold", size="640x360")
    frame, faces = output_of(story).frame, typeface("")
    one, large = caption.lines_of("A short caption", frame, faces)
    two, _ = caption.lines_of("word " * 26, frame, faces)
    many, small = caption.lines_of("word " * 80, frame, faces)
    assert (len(one), len(two), len(many)) == (1, 2, 3)
    assert small < large
    assert many[-1].endswith("…")
    room = (frame.width - 2 * 0.045 * frame.height) / (small * faces.size_per_line)
    assert all(faces.width(line) <= room for line in many)


# Over a second: another process imports Blender.
def test_two_processes_make_one_film(folder, counted):
    api.save(TRACES["a.tv3"], folder / "a.tv3")
    shot = {"shot": "fly_to", "function": "f1", "seconds": 1, "travel": 1}
    (folder / "a.json").write_text(
        json.dumps({"view": "icicle", "traces": "a.tv3", "size": SIZE, "fps": 4, "shots": [shot]})
    )
    target = folder / "a.mkv"
    assert main(["film", str(folder / "a.json"), "-o", str(target), "--jobs", "2", "--quiet"]) == 0
    verify(target, frames=4)
    assert counted["rendered"] == 2


def test_mistakes_are_said_before_traces_are_read(folder, capsys):
    (folder / "a.yaml").write_text("view: icicle\ntraces: a.tsv\nshots: [establish, pan]\n")
    (folder / "b.yaml").write_text("view: icicle\ntraces: a.tsv\nshots: [establish]\n")
    for code, words, sentence in (
        (2, ["a.yaml", "-o", "a.mp4"], "a.yaml: shot 2: 'pan' is no shot"),
        (2, ["b.yaml", "-o", "a.png"], "a.png: a film is written as .mp4 or .mkv"),
        (2, ["b.yaml", "-o", "a.mp4", "--jobs", "0"], "--jobs 0: 1 to 256"),
        (2, ["b.yaml", "-o", "a.mp4", "--style", "x"], "--style x"),
        (1, ["b.yaml", "-o", "a.mp4"], "a.tsv"),
        (1, ["c.yaml", "-o", "a.mp4"], "c.yaml"),
    ):
        paths = [str(folder / word) if "." in word else word for word in words]
        assert main(["film", *paths]) == code
        said = capsys.readouterr().err
        assert sentence in said
        assert said.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_another_process_that_is_ended_cleans_up(tmp_path):
    words = [sys.executable, "-m", "tracevis3d.stories.worker", str(tmp_path)]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as worker:
        status, caught = Path(f"/proc/{worker.pid}/status"), 0
        while worker.poll() is None and not caught >> signal.SIGTERM - 1 & 1:
            time.sleep(0.01)
            line = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
            caught = int(line.split()[1], 16)
        worker.terminate()
        assert worker.wait(60) == 128 + signal.SIGTERM
        assert b"Traceback" not in worker.stderr.read()


def test_time_plays_in_a_shot_and_each_thread_at_its_own_pace(folder):
    """What is seen of each thread's lane halfway, at one pace and at paces of their own."""
    trace = walked_trace(1, threads=2)
    names = [trace.threads.title(t) for t in range(2)]

    def inked(**words):
        play = {"shot": "play", "seconds": 1, "dissolve": 0, "caption": "a", **words}
        story = told(play, size="480x360", fps=5, style="flat")
        film = Film(story, {"a.tv3": trace}, output_of(story))
        frames = staged.Frames(film.output, folder)
        frames.make(frames.missing(film.frames))
        pictures = [pixels.read(frames.path(shown))[..., :3].astype(int) for shown in film.frames]
        frames.close()
        # Columns in which anything is drawn that the last picture shows and the first does not.
        changing = np.abs(pictures[-1] - pictures[0]).max(axis=2) > 20
        return [
            int(((np.abs(picture - pictures[-1]).max(axis=2) < 20) & changing).sum()) / changing.sum()
            for picture in pictures
        ]

    usual = inked()
    assert usual == sorted(usual)
    assert usual[0] < 0.05
    assert 0.3 < usual[2] < 0.7
    assert usual[-1] == 1
    faster = inked(paces={names[1]: 2})
    assert faster == sorted(faster)
    # The first thread is where it was, the second has ended.
    assert faster[2] > usual[2] + 0.15


def test_names_stay_as_large_as_they_are_while_a_camera_comes_nearer():
    output = output_of(told(*SHOTS[:2]))
    frames = Film(told(*SHOTS[:2]), TRACES, output).frames
    whole, near = frames[3].now[0], frames[-1].now[0]
    assert near.pose.width < 0.9 * whole.pose.width
    framed = whole.scenery.framing.framed
    shown = stage.Stage(
        whole.drawing(), output.style, output.frame, "workbench", 0, "film", 10.0, framed, silent
    )
    try:
        before, after, again = (letters(shown, seen) for seen in (whole, near, whole))
        (thick, long), (thin, as_long) = (bar(shown, seen) for seen in (whole, near))
    finally:
        shown.close()
    assert len(before) > 2
    assert thin / thick == pytest.approx(near.pose.width / whole.pose.width, rel=1e-3)
    assert as_long == pytest.approx(long, rel=1e-3)
    assert [size for size, _ in after] == pytest.approx([size for size, _ in before], rel=0.1)
    # What they are written at moves apart.
    ends = [np.ptp([place for _, place in sizes]) for sizes in (before, after)]
    assert ends[1] == pytest.approx(ends[0] * whole.pose.width / near.pose.width, rel=0.1)
    np.testing.assert_allclose(again, before, rtol=1e-3)


def bar(shown, seen):
    """Return how thick and how long the first bar of the rulers is in the scene."""
    shown.see(seen.eye())
    lines = next(one for one in shown.built.collection.objects if one.name.endswith("axis lines"))
    place = np.array([lines.data.vertices[i].co for i in range(8)])
    edges = np.linalg.norm(place - place[0], axis=1)
    return edges[1], edges[4]


def letters(shown, seen):
    """Return how high each text of the rulers is in the picture, and how far right, in pixels."""
    shown.see(seen.eye())
    bpy.context.view_layer.update()
    texts = next(one for one in shown.built.collection.objects if one.name.endswith("axis texts"))
    place, point = (np.empty(3 * len(texts.data.vertices), np.float32) for _ in range(2))
    texts.data.vertices.foreach_get("co", place)
    texts.data.attributes["tracevis3d_point"].data.foreach_get("vector", point)
    at = seen.eye().axes @ place.reshape(-1, 3).T.astype(np.float64)
    across = seen.eye().axes[0] @ point.reshape(-1, 3).T.astype(np.float64)
    pixel = shown.built.frame.width / seen.eye().width
    which = np.unique(point.reshape(-1, 3), axis=0, return_inverse=True)[1].reshape(-1)
    return [
        (pixel * np.ptp(at[1][which == k]), pixel * across[which == k][0]) for k in range(which.max() + 1)
    ]
