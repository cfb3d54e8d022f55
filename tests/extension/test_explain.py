"""The operator Explain Differences, in Blender's module, from the checkout."""

import json
from pathlib import Path

import pytest

from tests.support.blender_module import Blender

pytest.importorskip("bpy", reason="no bpy")
pytestmark = [pytest.mark.blender, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]


def write(path, extra):
    """Write a small run of a program; ``extra`` is what it does in the middle."""

    def event(name, ts, dur):
        return {"ph": "X", "pid": 1, "tid": 1, "ts": ts, "dur": dur, "name": f"{name} (/x.py:1)"}

    events = [event("main", 0, 1000), event("read", 10, 200), event("parse", 20, 80), event("check", 110, 80)]
    events += [event("write", 700, 250), event("format", 710, 100), event("store", 820, 100)]
    events += [event(name, 250 + 100 * i, 90) for i, name in enumerate(extra)]
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return path


def test_explaining_in_the_scene(tmp_path):
    a, b = write(tmp_path / "a.json", []), write(tmp_path / "b.json", ["index", "rank", "sort"])
    blender = Blender.with_checkout()
    assert "explained" in blender.script("lists/explain.py", a, b)
