"""Files are written whole or not at all."""

import contextlib
import os
import stat
import subprocess
import sys
import time

import pytest

from tests.support.no_room import small_disk, small_files
from tracevis3d import atomic
from tracevis3d.atomic import Incomplete, replacing, write_text
from tracevis3d.errors import InputError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fail(target, error):
    with replacing(target) as partial:
        partial.write_bytes(b"new")
        raise error


def test_target_appears_when_all_is_written(tmp_path):
    target = tmp_path / "a.png"
    target.write_bytes(b"old")
    with replacing(target) as partial:
        assert (partial.parent, partial.suffix) == (tmp_path, ".png")
        partial.write_bytes(b"new")
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["a.png"]


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), Incomplete("cut"), KeyboardInterrupt()])
def test_what_fails_leaves_what_was_there(tmp_path, error):
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    wanted = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else InputError
    with pytest.raises(wanted) as caught:
        fail(target, error)
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["a.json"]
    if wanted is InputError:
        assert str(caught.value).startswith(f"{target}: can't be written: {error.args[-1]}")


def test_full_disk_is_one_sentence_with_the_bytes(tmp_path):
    with small_disk(tmp_path / "small") as folder:
        (folder / "a.json").write_text("old")
        free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
        with pytest.raises(InputError) as caught:
            write_text(folder / "a.json", "x" * 123_456)
        assert str(caught.value) == (
            f"{folder / 'a.json'}: can't be written: No space left on device: 123,456 bytes are needed, "
            f"{free:,} bytes are free: choose another folder or make room"
        )
        assert (folder / "a.json").read_text() == "old"
        assert names(folder) == ["a.json"]


def test_limit_on_files_is_one_sentence_with_the_bytes(tmp_path):
    with small_files(5_000), pytest.raises(InputError) as caught:
        write_text(tmp_path / "a.json", "x" * 123_456)
    assert str(caught.value).endswith(
        "File too large: 123,456 bytes are needed, a file may have 5,000 bytes here (ulimit -f): "
        "raise that limit"
    )
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with names, links and modes")
def test_pipes_links_and_modes_stay(tmp_path):
    real, link, pipe = tmp_path / "real.json", tmp_path / "link.json", tmp_path / "pipe"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    write_text(pipe, "through")
    assert reader.communicate()[0] == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_names_may_be_as_long_as_the_file_system_takes(tmp_path):
    target = tmp_path / ("日" * 83 + ".json")
    write_text(target, "{}")
    assert names(tmp_path) == [target.name]


def test_what_killed_processes_left_goes(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True)
    dead, old = int(done.stdout), time.time() - 2 * atomic._ABANDONED_S
    left = tmp_path / f".tracevis3d-{dead}-00000000.part.png"
    lives = tmp_path / f".tracevis3d-{os.getpid()}-00000000.part.png"
    fresh = tmp_path / f".tracevis3d-{dead}-11111111.part"
    other = tmp_path / f".tracevis3d-{dead}-00000000.png"
    for path in (left, lives, fresh, other):
        path.write_bytes(b"x")
    for path in (left, lives, other):
        os.utime(path, (old, old))
    write_text(tmp_path / "a.json", "")
    assert names(tmp_path) == sorted([lives.name, fresh.name, other.name, "a.json"])


def test_partial_files_can_be_removed_at_once(tmp_path):
    with contextlib.suppress(InputError), replacing(tmp_path / "a.png") as partial:
        partial.write_bytes(b"x")
        atomic.remove_partial_files()
        assert names(tmp_path) == []
    assert names(tmp_path) == []
    write_text(tmp_path / "a.png", "x")
    atomic.remove_partial_files()
    assert names(tmp_path) == ["a.png"]
