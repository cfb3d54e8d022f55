"""The extension from its zip, in Blender's module: validate, build, install, use, save, reopen, disable.

Every Blender gets folders of its own and processes of its own, so nothing of the user's is touched. The
modules of other Blender versions are taken from the environments in ``.venvs`` (one per version, with
``bpy`` alone in it), where there are any; the zip brings the rest.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import build_extension as build

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "tests" / "blender"
TRACE = ROOT / "examples" / "vt_markdown_repeat1.json.gz"
OTHER = ROOT / "examples" / "vt_markdown_repeat2.json.gz"

pytest.importorskip("bpy", reason="no bpy")
pytestmark = [pytest.mark.blender, pytest.mark.slow]


def pythons():
    """Return name -> interpreter of each environment with a Blender module."""
    found = {"this": Path(sys.executable)}
    for folder in sorted((ROOT / ".venvs").glob("*")):
        if (python := folder / "bin" / "python").exists():
            found[folder.name] = python
    return found


#: Modules that crash after the end of Python: see ``blender/leaving.py``.
CRASHES_AT_EXIT = ("4.2",)


class Blender:
    """A Blender module with folders of its own."""

    def __init__(self, python, place, version=""):
        self.python, self.place, self.version = python, place, version
        cleared = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("TRACEVIS3D_", "NUMBA_"))
        }
        self.environment = cleared | {
            "BLENDER_USER_EXTENSIONS": str(place / "extensions"),
            "BLENDER_USER_CONFIG": str(place / "config"),
            "BLENDER_USER_SCRIPTS": str(place / "scripts"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def python_says(self, *words, environment=None):
        """Run its Python; return the finished process."""
        return subprocess.run(
            [self.python, *map(str, words)],
            env=environment or self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            cwd=self.place,
        )

    def script(self, name, *words, environment=None):
        """Run a script of ``tests/blender``; it must succeed."""
        leaving = [SCRIPTS / "leaving.py"] if self.version.startswith(CRASHES_AT_EXIT) else []
        done = self.python_says(*leaving, SCRIPTS / name, *words, environment=environment)
        assert done.returncode == 0, f"{name}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        assert not leaving or done.stdout.endswith("LEFT 0\n"), done.stdout[-400:]
        return done.stdout

    def own_tool(self, *words):
        """Run the module's own extension tool (``validate``, ``build``)."""
        found = self.python_says("-c", "import bpy; print('SCRIPTS', bpy.utils.system_resource('SCRIPTS'))")
        (scripts,) = [
            line.split(" ", 1)[1] for line in found.stdout.splitlines() if line.startswith("SCRIPTS ")
        ]
        tool = Path(scripts) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
        return self.python_says(tool, *words)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The zip for this machine; skips where the pinned wheels can't be downloaded."""
    target = build.Target.here()
    try:
        build.fetch(target)
    except build.BuildError as error:
        if "download" in str(error):
            pytest.skip(str(error))
        raise
    return build.build(target, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module", params=list(pythons()))
def blender(request, tmp_path_factory):
    """Each Blender module in turn."""
    python = pythons()[request.param]
    code = "import sys, bpy; print('FOUND', sys.version_info[1], bpy.app.version_string)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    found = [line.split() for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    if not found or int(found[0][1]) != sys.version_info.minor:
        pytest.skip(f"{python} has no bpy, or is another Python than the zip's")
    return Blender(python, tmp_path_factory.mktemp(f"blender-{request.param}"), version=found[0][2])


def test_blenders_own_tool_accepts_checkout_and_zip(blender, archive, tmp_path):
    for subject in (ROOT, archive):
        done = blender.own_tool("validate", subject)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "error" not in done.stdout.lower()
    done = blender.own_tool("build", "--source-dir", ROOT, "--output-dir", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert next(tmp_path.glob("tracevis3d-*.zip")).stat().st_size < 5_000_000


def test_the_whole_way(blender, archive):
    place = blender.place / "work"
    place.mkdir()
    assert "FACTS" in blender.script("install.py", archive)
    blender.script("whole_way.py", TRACE, place)
    blender.script("reopen.py", place)
    blender.script("without.py", place, environment=_without_extension(blender))
    blender.script("working.py", TRACE, OTHER, blender.place / "views")
    blender.script("tree.py", TRACE, blender.place / "tree")
    blender.script("lists.py", TRACE, OTHER, blender.place / "lists")
    blender.script("many.py", TRACE, OTHER, TRACE.with_name("uftrace_zstd_7t.json.gz"))
    blender.script("threads.py", TRACE.with_name("uftrace_zstd_7t.json.gz"))
    blender.script("disable.py")


def _without_extension(blender):
    bare = blender.place / "bare"
    own = {"BLENDER_USER_EXTENSIONS": str(bare / "extensions"), "BLENDER_USER_CONFIG": str(bare / "config")}
    return blender.environment | own


def test_a_checkout_without_numba_registers_and_says_what_is_missing(tmp_path):
    """Linked into Blender's folder, as developers do, in a Python that has no Numba."""
    blender = Blender(sys.executable, tmp_path)
    folder = tmp_path / "extensions" / "user_default"
    folder.mkdir(parents=True)
    (folder / "tracevis3d").symlink_to(ROOT)
    blender.script("no_numba.py", TRACE)
