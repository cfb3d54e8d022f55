"""Files of columns are trusted only as long as nobody else can have changed them."""

import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.trace.test_store import full_trace
from tracevis3d.errors import InputError
from tracevis3d.machine import memory as memory_limit
from tracevis3d.trace.storage import cache, container, known_files, store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX owners, modes and locks")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEVIS3D_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "a.tv3"
    store.save(full_trace(), path)
    assert known_files.recall(path)["checked"]
    return path


def checks(monkeypatch):
    """Return the list that grows with each check in full."""
    inner, done = store.find_wrong, []
    monkeypatch.setattr(store, "find_wrong", lambda trace: done.append(trace) or inner(trace))
    return done


def test_a_change_that_hides_itself_is_found(stored):
    """Same size, same time of change: kernels would have read from anywhere."""
    before = os.stat(stored)
    column = container.read(stored, "trace").columns["calls.function"]
    data = stored.read_bytes()
    assert data.count(column.tobytes()) == 1
    with open(stored, "r+b") as file:
        file.seek(data.index(column.tobytes()))
        file.write(np.full(len(column), 2**31 - 1, np.int32).tobytes())
    os.utime(stored, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(stored).st_size == before.st_size
    assert os.stat(stored).st_mtime_ns == before.st_mtime_ns
    with pytest.raises(InputError, match="damaged"):
        store.load(stored)


def test_what_is_ours_is_checked_once(stored, monkeypatch):
    done = checks(monkeypatch)
    store.load(stored)
    assert not done
    os.utime(stored)
    store.load(stored)
    store.load(stored)
    assert len(done) == 1


def test_what_others_can_write_is_checked_each_time(stored, monkeypatch):
    stored.chmod(0o666)
    done = checks(monkeypatch)
    store.load(stored)
    store.load(stored)
    assert len(done) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_is_checked_each_time(stored, monkeypatch):
    os.chown(stored, 12345, 12345)
    done = checks(monkeypatch)
    store.load(stored)
    store.load(stored)
    assert len(done) == 2


@pytest.mark.parametrize("mode", [0o644, 0o666])
def test_a_file_may_shrink_while_it_is_used(stored, mode):
    """In a process of its own: a mapped file that shrinks ends it."""
    stored.chmod(mode)
    program = (
        "import os, sys; from tracevis3d.trace.storage import store; trace = store.load(sys.argv[1]); "
        "os.truncate(sys.argv[1], 0); print(int(trace.calls.start.sum()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(stored)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == int(full_trace().calls.start.sum())


def test_a_fact_that_others_can_write_is_none(stored, folder):
    (fact,) = known_files.folder().iterdir()
    fact.chmod(0o666)
    assert not known_files.recall(stored)


def test_arrays_that_others_can_write_are_made_again(folder):
    made = []

    def make():
        made.append(1)
        return {"a": np.arange(5)}

    cache.cached("squares-1", "key", make)
    cache.cached("squares-1", "key", make)
    assert len(made) == 1
    (entry,) = folder.glob("arrays/*/*")
    entry.chmod(0o666)
    assert np.array_equal(cache.cached("squares-1", "key", make)["a"], np.arange(5))
    assert len(made) == 2


def test_use_does_not_make_an_entry_unknown(folder):
    cache.cached("squares-1", "key", lambda: {"a": np.arange(5)})
    (entry,) = folder.glob("arrays/*/*")
    before = os.stat(entry)
    os.utime(known_files._place(entry), (1, 1))
    assert known_files.last_use(entry) == 1
    cache.cached("squares-1", "key", lambda: {"a": np.arange(6)})
    assert known_files.recall(entry)["checked"]
    assert os.stat(entry).st_ctime_ns == before.st_ctime_ns
    assert known_files.last_use(entry) > 1


def is_mapped(column):
    while isinstance(column, np.ndarray):
        column = column.base
    return isinstance(column.obj if isinstance(column, memoryview) else column, mmap.mmap)


def test_what_lies_in_the_cache_is_mapped(stored, folder, monkeypatch):
    (entry := folder / "traces" / "a.tv3").parent.mkdir(parents=True, exist_ok=True)
    store.save(full_trace(), entry)
    assert is_mapped(store.load(entry).calls.start)
    assert not is_mapped(store.load(stored).calls.start)
    # What would take too much memory.
    monkeypatch.setattr(memory_limit, "free", lambda: 4 * stored.stat().st_size - 1)
    assert is_mapped(store.load(stored).calls.start)
    monkeypatch.setattr(memory_limit, "free", lambda: 4 * stored.stat().st_size)
    assert not is_mapped(store.load(stored).calls.start)


def test_a_mapped_file_is_locked(stored, monkeypatch):
    import fcntl

    monkeypatch.setattr(memory_limit, "free", lambda: 0)
    trace = store.load(stored)
    with open(stored, "rb") as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        del trace
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(InputError, match="another program is writing it"):
            store.load(stored)
    assert len(store.load(stored).calls) == len(full_trace().calls)
