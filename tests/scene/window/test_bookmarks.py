"""Bookmarks of a .blend, read by the command in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tracevis3d.cli import main

pytest.importorskip("bpy")

#: Saved as the extension saves them; here without it, so as plain properties.
SAVE = """
import sys, bpy
scene = bpy.context.scene
view = bpy.data.collections.new("a view")
scene["tracevis3d_bookmarks"] = [
    {"name": "start", "view": view, "frame": 7, "focus": [1.0, 2.0, 3.0], "distance": 4.5,
     "selections": '{"key": {"calls": "3 7-9", "active": 7}}'},
    {"name": "bare", "selections": "no JSON"},
]
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
"""


@pytest.fixture(scope="module")
def blend(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("bookmarks") / "marked.blend"
    subprocess.run([sys.executable, "-c", SAVE, str(path)], check=True, capture_output=True, timeout=120)
    return path


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tracevis3d", "bookmarks", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_they_are_listed_as_json_and_nothing_else_is_printed(blend) -> None:
    done = run(str(blend), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["bookmarks"]
    assert [one["name"] for one in found] == ["start", "bare"]
    assert (found[0]["view"], found[0]["frame"], found[0]["distance"]) == ("a view", 7, 4.5)
    assert found[0]["focus"] == [1.0, 2.0, 3.0]
    assert found[0]["selections"] == {"key": {"calls": "3 7-9", "active": 7}}
    assert (found[1]["view"], found[1]["selections"]) == (None, {})
    said = run(str(blend)).stdout
    assert "a view, frame 7: call 7" in said


def test_what_is_no_blend_is_said_in_one_sentence(tmp_path, capsys) -> None:
    assert main(["bookmarks", str(tmp_path / "absent.blend")]) == 1
    assert "there is no such file" in capsys.readouterr().err
    (tmp_path / "rubbish.blend").write_text("rubbish")
    done = run(str(tmp_path / "rubbish.blend"))
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        "is not a .blend that this Blender can open: save it with this version of Blender, or an older one"
    )
