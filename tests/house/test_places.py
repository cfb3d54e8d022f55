"""Where the cache lies, also for users that the system does not know."""

import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from tracevis3d import places

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX users")


@pytest.fixture
def nobody(monkeypatch, tmp_path):
    """A user without a home, and a folder for temporary files of this test's own."""
    for name in ("TRACEVIS3D_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix: str(tmp_path / f"{prefix}other"))
    monkeypatch.setattr(places, "_root", None)
    places._temporary_root.cache_clear()
    yield tmp_path
    places._temporary_root.cache_clear()


def test_without_a_home_it_lies_among_temporary_files(nobody):
    root = places.cache_root()
    assert root == nobody / f"tracevis3d-{os.getuid()}"
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


@pytest.mark.parametrize("trap", ["open", "link"])
def test_a_folder_that_others_can_write_is_not_used(nobody, trap):
    """Compiled kernels are code that is run."""
    root = nobody / f"tracevis3d-{os.getuid()}"
    if trap == "open":
        root.mkdir()
        root.chmod(0o777)
    else:
        (nobody / "theirs").mkdir()
        root.symlink_to(nobody / "theirs")
    assert places.cache_root() == nobody / "tracevis3d-other"


def test_a_home_that_is_no_absolute_path_is_none(nobody, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("."))
    assert places.cache_root() == nobody / f"tracevis3d-{os.getuid()}"
