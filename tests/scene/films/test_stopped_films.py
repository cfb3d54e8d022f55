"""Films that are stopped leave no file, and go on from their frames."""

import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from tests.support.drawings import everything, pixels, rows  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.output import Output  # noqa: E402
from tracevis3d.errors import Cancelled, InputError  # noqa: E402
from tracevis3d.scene.films import film, frames  # noqa: E402
from tracevis3d.scene.output import engines  # noqa: E402
from tracevis3d.scene.output.produce import produce  # noqa: E402
from tracevis3d.scene.output.verify import verify  # noqa: E402
from tracevis3d.trace.storage import cache  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.blender,
    pytest.mark.skipif(
        not all(engine.ok for engine in engines.examine()),
        reason="needs OpenGL without a screen (libegl1, libgl1-mesa-dri)",
    ),
]
SMALL = Output(frame=Frame(97, 61), seconds=1.0, fps=8)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEVIS3D_CACHE", str(tmp_path / "cache"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    out = tmp_path / "out"
    out.mkdir()
    return out


@pytest.fixture
def rendered(monkeypatch):
    """The frames that are rendered, not taken from an earlier try."""
    inner, done = film.render_frame, {}

    def render_frame(built, path, progress):
        inner(built, path, progress)
        done[path.name] = pixels(path)

    monkeypatch.setattr(film, "render_frame", render_frame)
    return done


def stop_at(frame):
    def progress(done, what):
        if f"frame {frame} " in what:
            raise Cancelled("stopped")

    return progress


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("changing", [False, True])
def test_a_stopped_film_goes_on(folder, rendered, changing):
    how = {"changing": lambda share: everything(20 + int(20 * share))} if changing else {}
    out = folder / "a.mp4"
    with pytest.raises(Cancelled):
        produce(everything(20), out, SMALL, progress=stop_at(5), **how)
    assert names(folder) == []
    before = dict(rendered)
    assert 4 <= len(before) < 8
    rendered.clear()
    produce(everything(20), out, SMALL, **how)
    assert len(rendered) == 8 - len(before)
    verify(out, frames=8)
    assert names(folder) == ["a.mp4"]
    assert names(cache.films()) == []
    # As in one go.
    before.update(rendered)
    produce(everything(20), folder / "b.mp4", SMALL, **how)
    assert rendered.keys() == before.keys()
    for name, picture in rendered.items():
        assert np.abs(picture - before[name]).max() <= 1


def test_frames_of_another_film_are_not_taken(folder, rendered):
    with pytest.raises(Cancelled):
        produce(everything(20), folder / "a.mp4", SMALL, progress=stop_at(5))
    count = len(rendered)
    for drawing, output in (
        (everything(21), SMALL),
        (everything(20), Output(frame=Frame(99, 61), seconds=1.0, fps=8)),
        (everything(20), Output(frame=Frame(97, 61), seconds=1.0, fps=8, style="stage")),
        (everything(20), Output(frame=Frame(97, 61), seconds=1.0, fps=8, samples=1)),
    ):
        rendered.clear()
        produce(drawing, folder / "b.mp4", output)
        assert len(rendered) == 8
    rendered.clear()
    produce(everything(20), folder / "a.mp4", SMALL)
    assert len(rendered) == 8 - count


def test_a_damaged_frame_is_rendered_again(folder, rendered):
    with pytest.raises(Cancelled):
        produce(rows(), folder / "a.mkv", SMALL, progress=stop_at(5))
    frame, kept = next(cache.films().rglob("*.png")), len(rendered)
    rendered.clear()
    frame.write_bytes(frame.read_bytes()[:-20])
    produce(rows(), folder / "a.mkv", SMALL)
    assert frame.name in rendered
    assert len(rendered) == 8 - kept + 1


def test_a_film_that_fails_leaves_no_frames(folder, monkeypatch):
    def fail(*_):
        raise InputError("it can't be joined")

    monkeypatch.setattr(film, "join", fail)
    with pytest.raises(InputError):
        produce(rows(), folder / "a.mp4", SMALL)
    assert names(folder) == names(cache.films()) == []


def test_frames_lie_beside_the_film_where_there_is_no_cache(folder, monkeypatch):
    (folder / "file").write_text("")
    monkeypatch.setenv("TRACEVIS3D_CACHE", str(folder / "file"))
    with frames.kept_frames("key", folder / "a.mp4") as place:
        assert place.parent == folder
    assert names(folder) == ["file"]


def test_two_films_of_one_kind_do_not_share_a_folder(folder):
    with (
        frames.kept_frames("key", folder / "a.mp4") as one,
        frames.kept_frames("key", folder / "b.mp4") as two,
    ):
        assert one != two
    assert names(cache.films()) == []


def test_signals_at_any_moment(folder, tmp_path):
    """Real processes: each loads Python and Blender, which takes its seconds."""
    trace = tmp_path / "run.json"
    trace.write_text('[{"name":"f","ph":"X","ts":0,"dur":9,"pid":1,"tid":1}]')
    words = [sys.executable, "-m", "tracevis3d", "render", "icicle", str(trace), "-o", str(folder / "a.mp4")]
    words += ["--size", "160x90", "--seconds", "20", "--engine", "workbench"]
    chance = random.Random(8)
    for number, moment in (
        (signal.SIGINT, "frame"),
        (signal.SIGTERM, chance.uniform(0.0, 2.0)),
        (signal.SIGINT, chance.uniform(0.0, 2.0)),
        (signal.SIGKILL, "frame"),
    ):
        seen = set(cache.films().rglob("*.png"))
        process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(process, partial(handles, process.pid))
        if moment == "frame":
            wait_until(process, partial(new_frames, seen))
        else:
            time.sleep(moment)
        process.send_signal(number)
        out, complaint = process.communicate(timeout=120)
        assert "Traceback" not in out + complaint
        assert process.returncode == (-number if number == signal.SIGKILL else 128 + number), complaint
        assert [name for name in names(folder) if number != signal.SIGKILL] == []
    assert len(list(cache.films().rglob("[!.]*.png"))) > len(seen)


def new_frames(seen):
    return set(cache.films().rglob("[!.]*.png")) - seen


def wait_until(process, condition):
    while process.poll() is None and not condition():
        time.sleep(0.01)


def handles(process):
    """Return whether a process has a handler for SIGTERM: Python itself takes a while to start."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        time.sleep(1.0)
        return True
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
    return bool(caught >> signal.SIGTERM - 1 & 1)
