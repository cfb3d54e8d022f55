"""What lies in a file that somebody shortens while it is read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.formats import registry, unpack
from tracevis3d.machine import copies
from tracevis3d.machine import memory as memory_limit

ROWS = b"main;work 3\nmain;rest 4\n" * 5000


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEVIS3D_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "a.collapsed"
    path.write_bytes(ROWS)
    return path


@pytest.mark.parametrize("most", [10_000_000, 1000])
def test_text_may_shrink_while_it_is_read(written, most):
    """In a process of its own: a mapped file that shrinks ends it. From memory, and from a copy on disk."""
    program = (
        "import os, sys; from pathlib import Path; from tracevis3d.formats import unpack; "
        "from tracevis3d.machine import memory; memory.choose(int(sys.argv[2])); "
        "data = unpack.unpack_file(Path(sys.argv[1])).data; os.truncate(sys.argv[1], 0); "
        "sys.exit(bytes(data) != b'main;work 3\\nmain;rest 4\\n' * 5000)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(written), str(most)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("most", [10_000_000, 1000])
def test_what_is_gone_before_it_is_copied_is_a_problem(written, most, monkeypatch):
    monkeypatch.setattr(memory_limit, "limit", lambda: most)

    def cut_first(path):
        os.truncate(path, 12)
        return copies.snapshot(path)

    monkeypatch.setattr(unpack, "snapshot", cut_first)
    unpacked = unpack.unpack_file(written)
    assert bytes(unpacked.data) == ROWS[:12]
    assert unpacked.damage == "the file became shorter while it was read"
    assert unpack.problem_of(unpacked.damage) == "truncated"


def test_a_large_file_takes_room_on_disk_and_none_in_memory(written, tmp_path, monkeypatch):
    monkeypatch.setattr(memory_limit, "limit", lambda: 1000)
    data = copies.snapshot(written)
    assert data.readonly
    assert bytes(data) == ROWS
    assert type(data.obj).__name__ == "mmap"
    assert not list((tmp_path / "cache").iterdir()), "the copy has no name"


def test_no_room_for_a_copy_is_one_sentence(written, monkeypatch):
    monkeypatch.setattr(memory_limit, "limit", lambda: 1000)
    monkeypatch.setattr(copies, "free_bytes", lambda folder: 10)
    with pytest.raises(InputError, match="make room there") as raised:
        registry.open_trace(written)
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="says what is resident")
def test_memory_of_what_was_read_goes_back(tmp_path, monkeypatch):
    def resident():
        said = Path("/proc/self/status").read_text()
        return int(said.partition("RssFile:")[2].split()[0]) * 1024

    monkeypatch.setenv("TRACEVIS3D_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "a.collapsed"
    rows = ROWS * 400
    path.write_bytes(rows)
    for most in (10 * len(rows), 1000):
        monkeypatch.setattr(memory_limit, "limit", lambda most=most: most)
        data = copies.snapshot(path)
        assert bytes(data) == rows
        before = resident()
        copies.forget(data, len(rows) - 100)
        if most == 1000:
            assert before - resident() > 0.9 * len(rows)
        assert bytes(data) == rows
