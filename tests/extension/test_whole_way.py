"""The extension from its zip, in Blender's module: validate, build, install, use, save, reopen, disable.

Every Blender gets folders of its own and processes of its own, so nothing of the user's is touched. The
modules of other Blender versions are taken from the environments in ``.venvs`` (one per version, with
``bpy`` alone in it), where there are any; the zip brings the rest.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.blender_module import Blender
from tools.release import extension as build

ROOT = Path(__file__).resolve().parents[2]
TRACE = ROOT / "examples" / "vt_markdown_repeat1.json.gz"
OTHER = ROOT / "examples" / "vt_markdown_repeat2.json.gz"

pytest.importorskip("bpy", reason="no bpy")
pytestmark = [pytest.mark.blender, pytest.mark.slow]


def pythons():
    """Return name -> interpreter of each environment with a Blender module for this Python."""
    found = {"this": Path(sys.executable)}
    for folder in sorted((ROOT / ".venvs").glob("*")):
        python = folder / "bin" / "python"
        # The zip is for one Python.
        if python.exists() and (folder / "lib" / f"python3.{sys.version_info.minor}").exists():
            found[folder.name] = python
    return found


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
def blender(request):
    """Each Blender module in turn."""
    python = pythons()[request.param]
    code = "import sys, bpy; print('FOUND', sys.version_info[1], bpy.app.version_string)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    found = [line.split() for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    if not found or int(found[0][1]) != sys.version_info.minor:
        pytest.skip(f"{python} has no bpy, or is another Python than the zip's")
    return Blender(python, version=found[0][2])


def test_blenders_own_tool_accepts_checkout_and_zip(blender, archive, tmp_path):
    for subject in (ROOT, archive):
        done = blender.own_tool("validate", subject)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "error" not in done.stdout.lower()
    done = blender.own_tool("build", "--source-dir", ROOT, "--output-dir", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert next(tmp_path.glob("tracevis3d-*.zip")).stat().st_size < 5_000_000


def test_the_whole_way(blender, archive, request):
    place = blender.place / "work"
    place.mkdir()
    assert "FACTS" in blender.script("install/install.py", archive)
    blender.script("files/whole_way.py", TRACE, place)
    blender.script("files/reopen.py", place)
    blender.script("files/without.py", place, environment=_without_extension(blender))
    threaded = TRACE.with_name("uftrace_zstd_7t.json.gz")
    turns = (
        ("working.py", TRACE, OTHER, blender.place / "views"),
        ("lists/tree.py", TRACE, blender.place / "tree"),
        ("lists/lists.py", TRACE, OTHER, blender.place / "lists"),
        ("many.py", TRACE, OTHER, threaded),
        ("lists/findings.py", threaded),
        ("lists/threads.py", threaded),
    )
    # The other versions share them, where there are any; this one then takes what no Blender program does
    # (tools/test_blender.py).
    names = list(pythons())
    if number := names.index(request.node.callspec.params["blender"]):
        turns = turns[number % 2 :: 2]
    elif len(names) > 2:
        turns = [turn for turn in turns if turn[0] in ("many.py", "lists/threads.py")]
    blender.scripts(*turns, ("install/disable.py",))


def _without_extension(blender):
    bare = blender.place / "bare"
    own = {"BLENDER_USER_EXTENSIONS": str(bare / "extensions"), "BLENDER_USER_CONFIG": str(bare / "config")}
    return blender.environment | own


def test_a_checkout_without_numba_registers_and_says_what_is_missing():
    """Linked into Blender's folder, as developers do, in a Python that has no Numba."""
    blender = Blender.with_checkout()
    blender.script("install/no_numba.py", TRACE)
