"""A picture, film or scene file that is not whole never takes the place of one that is."""

from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy")

from tests.support.drawings import everything  # noqa: E402
from tests.support.no_room import small_disk, small_files  # noqa: E402
from tracevis3d.atomic import Incomplete  # noqa: E402
from tracevis3d.cli import main  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.output import FILMS, SCENES, STILLS, Output  # noqa: E402
from tracevis3d.errors import InputError  # noqa: E402
from tracevis3d.scene.output import engines  # noqa: E402
from tracevis3d.scene.output.produce import produce  # noqa: E402
from tracevis3d.scene.output.verify import verify  # noqa: E402

pytestmark = [
    pytest.mark.blender,
    pytest.mark.skipif(
        not all(engine.ok for engine in engines.examine()),
        reason="needs OpenGL without a screen (libegl1, libgl1-mesa-dri)",
    ),
]
SUFFIXES = (*STILLS, *FILMS, *SCENES)
FRAME = Frame(480, 270)
OUTPUT = Output(style="stage", frame=FRAME, engine="workbench", samples=1, seconds=0.25, fps=12)


@pytest.fixture(scope="module", params=SUFFIXES)
def whole(request, tmp_path_factory):
    """A file of each kind, beyond 20 kB."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    path = tmp_path_factory.mktemp("whole") / f"a{request.param}"
    produce(everything(400), path, OUTPUT)
    assert path.stat().st_size > 20_000
    return path


def test_a_file_cut_off_anywhere_is_found(whole, tmp_path):
    size = (480, 270) if whole.suffix in STILLS else None
    frames = 3 if whole.suffix in FILMS else None
    verify(whole, size=size, frames=frames)
    data, cut = whole.read_bytes(), tmp_path / whole.name
    for length in (0, 1, 4, 20, 100, len(data) // 3, 4096, len(data) - 100, len(data) - 10, len(data) - 1):
        cut.write_bytes(data[:length])
        with pytest.raises(Incomplete):
            verify(cut, size=size, frames=frames)
    if size or frames:
        with pytest.raises(Incomplete):
            verify(whole, size=(481, 270), frames=4)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_room_keeps_what_was_there(suffix, tmp_path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    out = tmp_path / f"a{suffix}"
    out.write_bytes(b"good")
    with small_files(8_000), pytest.raises(InputError) as caught:
        produce(everything(400), out, OUTPUT)
    place, _, reason = str(caught.value).partition(": can't be written: ")
    assert reason
    # A film is made from frames, which are files of the cache: there may be no room for one of them.
    assert place == str(out) or (suffix in FILMS and "films" in Path(place).parts)
    assert "\n" not in str(caught.value)
    assert out.read_bytes() == b"good"
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("suffix", [".png", ".blend"])
def test_full_disk_keeps_what_was_there(suffix, tmp_path, capfd):
    """Through the command line: one sentence with the file and the bytes, and a code that is not 0."""
    trace = tmp_path / "deep.json"
    trace.write_text(
        "["
        + ",".join(
            f'{{"name":"function {i % 37}","ph":"X","ts":{i * 10},"dur":9,"pid":1,"tid":{i % 20}}}'
            for i in range(2_000)
        )
        + "]"
    )
    with small_disk(tmp_path / "small") as folder:
        out = folder / f"a{suffix}"
        out.write_bytes(b"good")
        said = ["--size", "800x600", "--seconds", "0.25", "--fps", "12", "--engine", "workbench"]
        assert main(["render", "icicle", str(trace), "-o", str(out), *said]) == 1
        printed = capfd.readouterr()
        complaint = [line for line in printed.err.splitlines() if "EGL" not in line]
        assert len(complaint) == 1, complaint
        assert str(out) in complaint[0]
        assert "bytes are free" in complaint[0]
        assert printed.out == ""
        assert out.read_bytes() == b"good"
        assert [path.name for path in folder.iterdir()] == [out.name]
