"""The cache of loaded traces and computed arrays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.trace.test_store import assert_same, full_trace
from tracevis3d import places
from tracevis3d.errors import InputError
from tracevis3d.trace.storage import cache, container, known_files, store


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRACEVIS3D_CACHE", str(folder))
    return folder


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("the recording")
    settle(path)
    return path


def settle(path):
    """Date a file's last change back: what changed just now is not remembered."""
    past = time.time_ns() - 10**10
    os.utime(path, ns=(past, past))


class Reader:
    """Reads a trace and counts how often."""

    def __init__(self, path):
        self.path = path
        self.times = 0

    def __call__(self):
        self.times += 1
        trace = full_trace()
        return replace(trace, source=replace(trace.source, path=str(self.path), hash=""))


def entries(folder):
    return sorted(folder.glob("traces/*"))


def test_second_load_comes_from_the_cache(recording):
    read = Reader(recording)
    first = cache.load_cached(recording, read)
    second = cache.load_cached(recording, read)
    assert read.times == 1
    assert_same(second, first)
    assert second.source == first.source
    assert first.source.hash == known_files.content_hash(recording)


def test_content_counts_not_the_name(recording, tmp_path):
    read = Reader(recording)
    cache.load_cached(recording, read)
    other = tmp_path / "other.json"
    other.write_bytes(recording.read_bytes())
    trace = cache.load_cached(other, read)
    assert read.times == 1
    assert trace.source.path == str(other)
    assert trace.source.recording == ""


def test_changed_content_is_read_again(recording):
    read = Reader(recording)
    cache.load_cached(recording, read)
    recording.write_text("another recording")
    cache.load_cached(recording, read)
    recording.write_text("yet one more, 0123")
    cache.load_cached(recording, read)
    assert read.times == 3


def test_names_of_symbols_beside_a_profile_are_part_of_its_content(recording, tmp_path):
    """A profile that was read without them is read again, and one that is kept with them is another."""
    read = Reader(recording)
    plain = cache.load_cached(recording, read).source.hash
    beside = recording.with_suffix(".syms.json")
    beside.write_text("the names")
    settle(beside)
    named = cache.load_cached(recording, read).source.hash
    assert (read.times, named != plain) == (2, True)
    beside.write_text("other names")
    assert known_files.content_hash(recording) not in (plain, named)
    beside.unlink()
    assert cache.load_cached(recording, read).source.hash == plain
    assert read.times == 2
    # The symbols themselves are a file as any other.
    beside.write_text("the names")
    alone = tmp_path / "names.json"
    alone.write_text("the names")
    assert known_files.content_hash(beside) == known_files.content_hash(alone)


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_stacks_beside_records_are_part_of_their_content(tmp_path, packing):
    """Of both files, whichever is opened."""
    records, stacks = tmp_path / "run.records.tsv", tmp_path / f"run.stacks.tsv{packing}"
    records.write_text("records")
    alone = known_files.content_hash(records)
    stacks.write_text("stacks")
    both = known_files.content_hash(records), known_files.content_hash(stacks)
    stacks.write_text("other stacks")
    changed = known_files.content_hash(records), known_files.content_hash(stacks)
    assert len({alone, *both, *changed}) == 5
    stacks.unlink()
    (tmp_path / "walk.stacks.tsv").write_text("stacks of others")
    assert known_files.content_hash(records) == alone


def test_folder_is_known_by_names_and_bytes(tmp_path):
    trace = tmp_path / "uftrace.data"
    trace.mkdir()
    (trace / "info").write_text("a")
    read = Reader(trace)
    cache.load_cached(trace, read)
    cache.load_cached(trace, read)
    assert read.times == 1
    (trace / "info").rename(trace / "info2")
    cache.load_cached(trace, read)
    assert read.times == 2


def test_other_reader_reads_again(recording, monkeypatch):
    read = Reader(recording)
    cache.load_cached(recording, read)
    monkeypatch.setattr(cache, "reader_version", lambda: "f" * 64)
    cache.load_cached(recording, read)
    assert read.times == 2


def test_every_room_that_reads_is_in_the_readers_version():
    nothing = cache.code_version()
    assert all(cache.code_version(room) != nothing for room in ("formats", "trace", "kernels"))
    assert cache.reader_version() == cache.code_version("formats", "trace", "kernels")


def test_stored_trace_is_not_kept_twice(tmp_path, folder):
    path = tmp_path / "a.tv3"
    store.save(full_trace(), path)
    assert_same(cache.load_cached(path, lambda: store.load(path)), full_trace())
    assert not entries(folder)


def test_missing_file_is_the_readers_to_tell(tmp_path):
    def read():
        raise InputError("there is no such file")

    with pytest.raises(InputError, match="no such file"):
        cache.load_cached(tmp_path / "none", read)


def test_error_of_the_reader_leaves_nothing(recording, folder):
    def read():
        raise InputError("is damaged")

    with pytest.raises(InputError, match="is damaged"):
        cache.load_cached(recording, read)
    assert not entries(folder)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "text"])
def test_damaged_entry_is_dropped_and_made_again(recording, folder, damage):
    read = Reader(recording)
    cache.load_cached(recording, read)
    (entry,) = entries(folder)
    whole = bytearray(entry.read_bytes())
    if damage == "cut":
        entry.write_bytes(whole[: len(whole) // 2])
    elif damage == "changed":
        whole[len(whole) // 2] ^= 1
        entry.write_bytes(whole)
    elif damage == "empty":
        entry.write_bytes(b"")
    else:
        entry.write_text("hello")
    assert_same(cache.load_cached(recording, read), full_trace())
    assert read.times == 2
    assert_same(cache.load_cached(recording, read), full_trace())
    assert read.times == 2


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_folder_without_permission_costs_nothing_but_time(recording, folder):
    folder.mkdir()
    folder.chmod(0o500)
    read = Reader(recording)
    assert_same(cache.load_cached(recording, read), full_trace())
    folder.chmod(0o700)


def test_cache_that_is_no_folder_costs_nothing_but_time(recording, folder):
    folder.write_text("in the way")
    read = Reader(recording)
    assert_same(cache.load_cached(recording, read), full_trace())
    assert_same(cache.load_cached(recording, read), full_trace())
    assert read.times == 2
    assert cache.size() == 0
    assert cache.clear() == 0


def test_full_disk_costs_nothing_but_time(recording, folder, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    read = Reader(recording)
    assert_same(cache.load_cached(recording, read), full_trace())
    assert not entries(folder)


def test_what_was_used_least_goes_first(tmp_path, folder, monkeypatch):
    paths = [tmp_path / f"{i}.json" for i in range(4)]
    for path in paths:
        path.write_text(path.name)
        settle(path)
    readers = [Reader(path) for path in paths]
    for i in (0, 1, 2):
        cache.load_cached(paths[i], readers[i])
    for age, entry in zip((30, 20, 10), sorted(entries(folder), key=lambda e: e.stat().st_mtime)):
        state = entry.stat()
        os.utime(entry, ns=(state.st_mtime_ns - age * 10**9, state.st_mtime_ns - age * 10**9))
    # The oldest is used again, so that the second goes when the fourth comes.
    cache.load_cached(paths[0], readers[0])
    taken = cache.size()
    monkeypatch.setattr(cache, "_limit", lambda: taken + 10)
    cache.load_cached(paths[3], readers[3])
    assert cache.size() <= taken + 10
    for i in (0, 3):
        cache.load_cached(paths[i], readers[i])
    assert [reader.times for reader in readers] == [1, 1, 1, 1]
    cache.load_cached(paths[1], readers[1])
    assert readers[1].times == 2


def test_trace_beyond_the_limit_is_not_kept(recording, folder, monkeypatch):
    monkeypatch.setattr(cache, "_limit", lambda: 1000)
    cache.load_cached(recording, Reader(recording))
    assert not entries(folder)


def test_size_and_clear(recording, folder):
    assert cache.size() == 0
    cache.load_cached(recording, Reader(recording))
    cache.cached("squares-1", "x", lambda: {"a": np.arange(10)})
    (folder / "numba").mkdir()
    (folder / "numba" / "kernel").write_text("stays")
    taken = cache.size()
    assert taken > entries(folder)[0].stat().st_size
    assert cache.clear() == taken
    assert cache.size() == 0
    assert (folder / "numba" / "kernel").exists()


def test_arrays_are_made_once(folder):
    times = []

    def make():
        times.append(1)
        return {"a": np.arange(5), "b": np.array([0.5])}

    for _ in range(2):
        found = cache.cached("squares-1", "key", make)
        assert np.array_equal(found["a"], np.arange(5))
        assert found["b"].tolist() == [0.5]
    assert len(times) == 1
    cache.cached("squares-1", "other key", make)
    cache.cached("squares-2", "key", make)
    assert len(times) == 3
    for entry in folder.glob("arrays/*/*"):
        data = bytearray(entry.read_bytes())
        data[-container._ALIGNMENT] ^= 255
        entry.write_bytes(data)
    assert np.array_equal(cache.cached("squares-1", "key", make)["a"], np.arange(5))
    assert len(times) == 4


def test_hash_is_remembered_until_the_file_changes(recording, monkeypatch):
    first = known_files.content_hash(recording)
    calls = []
    real_open = open

    def counting_open(path, *args, **kwargs):
        calls.append(Path(path) == recording)
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr("builtins.open", counting_open)
    assert known_files.content_hash(recording) == first
    assert not any(calls)
    recording.write_text("changed now")
    assert known_files.content_hash(recording) != first
    # Changed a moment ago: not remembered, as it might change again within one tick of the clock.
    calls.clear()
    known_files.content_hash(recording)
    assert any(calls)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_being_killed_while_the_cache_is_written(recording, folder):
    """The process is killed as the entry is about to be renamed into place, and at other moments."""
    program = """
import os, signal, sys
sys.path.insert(0, os.getcwd())
from tests.trace.test_cache import Reader
from tracevis3d.trace.storage import cache
moment, path = sys.argv[1:]
seen = 0
def die(*_):
    global seen
    seen += 1
    if seen > 1 or moment != "later":
        os.kill(os.getpid(), signal.SIGKILL)
if moment in ("write", "later"):
    real = os.fsync
    os.fsync = lambda d: (die(), real(d))
else:
    os.replace = die
cache.load_cached(path, Reader(path))
cache.load_cached(path, Reader(path))
"""
    for moment in ("write", "later", "rename"):
        done = subprocess.run(
            [sys.executable, "-c", program, moment, str(recording)],
            cwd=Path(__file__).parents[2],
            check=False,
        )
        assert done.returncode == -signal.SIGKILL
        read = Reader(recording)
        assert_same(cache.load_cached(recording, read), full_trace())
        assert_same(cache.load_cached(recording, read), full_trace())
        assert read.times <= 1
        for entry in entries(folder):
            entry.unlink()
    assert not entries(folder)


def test_partial_files_that_nobody_writes_any_more_go(recording, folder):
    (folder / "traces").mkdir(parents=True)
    old, new = folder / "traces" / ".a.part", folder / "traces" / ".b.part"
    for path in (old, new):
        path.write_bytes(b"x")
    os.utime(old, (1, 1))
    cache.load_cached(recording, Reader(recording))
    assert not old.exists()
    assert new.exists()


def test_limit_follows_the_disk(monkeypatch):
    places.cache_root().mkdir()
    monkeypatch.setattr(cache, "free_bytes", lambda folder: 5_000_000)
    assert cache._limit() == 500_000
    monkeypatch.setattr(cache, "free_bytes", lambda folder: 10**15)
    assert cache._limit() == cache.LIMIT_BYTES
