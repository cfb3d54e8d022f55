"""The second process of the first run ever."""

import subprocess

from tracevis3d import warm
from tracevis3d.command_line import warm_up


def test_kernels_are_compiled_beside_only_where_none_are_kept(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: begun.append((command, options)))
    monkeypatch.setattr(warm_up.os, "cpu_count", lambda: 2)
    monkeypatch.setitem(warm_up.sys.modules, "bpy", None)
    monkeypatch.delitem(warm_up.sys.modules, "bpy")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    warm_up.begin()
    assert not begun
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "absent"))
    warm_up.begin()
    ((command, options),) = begun
    assert command[1:] == ["-m", "tracevis3d.warm"]
    assert options["env"]["PYTHONPATH"]


def test_what_drawing_needs_can_be_compiled():
    warm.compile_what_drawing_needs()
