"""The second process of the first run ever."""

import subprocess

from tracevis3d import warm


def test_kernels_are_compiled_beside_only_where_none_are_kept(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: begun.append((command, options)))
    monkeypatch.setattr(warm.os, "cpu_count", lambda: 2)
    monkeypatch.setitem(warm.sys.modules, "bpy", None)
    monkeypatch.delitem(warm.sys.modules, "bpy")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    warm.begin()
    assert not begun
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "absent"))
    warm.begin()
    ((command, options),) = begun
    assert command[1:] == ["-m", "tracevis3d.warm"]
    assert options["env"]["PYTHONPATH"]


def test_what_drawing_needs_can_be_compiled():
    warm.compile_what_drawing_needs()
