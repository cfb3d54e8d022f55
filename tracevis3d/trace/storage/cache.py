"""The cache: loaded traces, and what analyses computed from them, under the user's cache folder.

An entry is named after the content that it comes from and the program that made it, is written in one
step, and is never changed: a program that is killed leaves at most a partial file that is never read. When
the cache grows beyond its limit, what was not used for longest goes. A cache that can't be read or written
costs time, never a result.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ...errors import InputError
from ...places import cache_root, free_bytes
from ..model import Trace
from . import container, known_files, store

#: Maximum size of the cache; it also stays below a tenth of its own size plus the free space.
LIMIT_BYTES = 10_000_000_000
_LIMIT_SHARE = 0.1
#: Partial files of this age are abandoned.
_PARTIAL_AGE_S = 3600.0
_TRACES, _ARRAYS, _FILMS = "traces", "arrays", "films"
#: Rooms of the library whose code affects the result of reading.
_READING = ("formats", "trace", "kernels")


def load_cached(path: str | os.PathLike[str], read: Callable[[], Trace]) -> Trace:
    """Return the trace at ``path``: from the cache if the same content was read before, else by ``read``.

    A .tv3 file is not kept twice. The hash of the content is put into ``Trace.source``.

    Parameters
    ----------
    path : path
    read : callable
        Reads the trace; its errors pass through.

    Returns
    -------
    Trace
    """
    path = Path(path)
    if store.is_store(path):
        return read()
    try:
        digest = known_files.content_hash(path)
    except OSError:
        return read()
    entry = _entry_of(digest)
    if (trace := _open_trace(entry)) is not None:
        # The same content may have moved.
        return replace(trace, source=replace(trace.source, path=str(path), recording=""))
    trace = read()
    trace = replace(trace, source=replace(trace.source, hash=digest))
    with contextlib.suppress(InputError, OSError):
        entry.parent.mkdir(parents=True, exist_ok=True)
        if _bytes_of(trace) < _limit():
            store.save(trace, entry, check=False)
            _evict(keep=entry)
    return trace


def find_trace(digest: str) -> Trace | None:
    """Return the trace whose source has the hash ``digest``, wherever that was; None if it isn't kept."""
    return _open_trace(_entry_of(digest)) if digest else None


def has_trace(digest: str) -> bool:
    """Return whether :func:`find_trace` is likely to find the trace; opens nothing."""
    return bool(digest) and _entry_of(digest).exists()


def cached(kind: str, key: str, make: Callable[[], Mapping[str, NDArray[Any]]]) -> Mapping[str, NDArray[Any]]:
    """Return named arrays from the cache, or make and keep them.

    Parameters
    ----------
    kind : str
        What they are, as a file's name, with the version of the algorithm: ``subtrees-1``.
    key : str
        All that they depend on, such as the hashes of the traces and the parameters.
    make : callable
        Computes them.

    Returns
    -------
    mapping of str to array
        The arrays of ``make``; from the cache they are memory-mapped.
    """
    name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    entry = cache_root() / _ARRAYS / kind / name
    if entry.exists():
        try:
            found = container.read(entry, kind)
            if found.facts.get("key") != key:
                raise container.damaged(entry, "it belongs to another file")
            if not found.is_ours:
                raise container.damaged(entry, "another user may have written it")
            if not found.trusted:
                found.check_sums()
                found.trust()
            known_files.touch(entry)
            return found.columns
        except InputError:
            _drop(entry)
    arrays = make()
    with contextlib.suppress(InputError, OSError):
        entry.parent.mkdir(parents=True, exist_ok=True)
        if sum(array.nbytes for array in arrays.values()) < _limit():
            container.write(entry, kind, {"key": key}, arrays)
            _evict(keep=entry)
    return arrays


def size() -> int:
    """Return the bytes that the cache takes on disk; compiled kernels are not part of it."""
    return sum(entry.size for entry in _entries())


def clear() -> int:
    """Remove everything from the cache and return the bytes that were freed."""
    import shutil

    freed = size()
    for name in (_TRACES, _ARRAYS, _FILMS):
        shutil.rmtree(cache_root() / name, ignore_errors=True)
    shutil.rmtree(known_files.folder(), ignore_errors=True)
    return freed - size()


def reader_version() -> str:
    """Return a hash of the code that reads traces, so that no entry outlives the reader that made it."""
    return code_version(*_READING)


def films() -> Path:
    """Return the folder of the frames of films that are not done (not created)."""
    return cache_root() / _FILMS


@cache
def code_version(*rooms: str) -> str:
    """Return a hash of the code of some rooms of the library."""
    package = Path(__file__).resolve().parents[2]
    whole = hashlib.sha256()
    for room in rooms:
        for file in sorted((package / room).rglob("*.py")):
            with contextlib.suppress(OSError):
                whole.update(file.name.encode() + b"\0" + file.read_bytes())
    return whole.hexdigest()


def _entry_of(digest: str) -> Path:
    return cache_root() / _TRACES / f"{digest}-{reader_version()[:16]}.tv3"


def _open_trace(entry: Path) -> Trace | None:
    """Return the trace of an entry; a damaged entry is removed."""
    if not entry.exists():
        return None
    try:
        trace = store.load(entry)
    except InputError:
        _drop(entry)
        return None
    known_files.touch(entry)
    return trace


def _drop(entry: Path) -> None:
    with contextlib.suppress(OSError):
        entry.unlink()


def _bytes_of(trace: Trace) -> int:
    return sum(getattr(trace.calls, column.name).nbytes for column in fields(trace.calls))


class _Entry:
    """A file of the cache, as it was when looked at."""

    __slots__ = ("changed", "path", "size", "used")

    def __init__(self, path: Path, found: os.stat_result) -> None:
        self.path = path
        self.size = found.st_size
        self.used = max(found.st_mtime, known_files.last_use(path))
        self.changed = found.st_mtime


def _entries() -> Iterator[_Entry]:
    kept = (cache_root() / name for name in (_TRACES, _ARRAYS, _FILMS))
    for folder in (*kept, known_files.folder()):
        for path in folder.rglob("*"):
            try:
                if path.is_file():
                    yield _Entry(path, path.stat())
            except OSError:
                continue


def _limit() -> float:
    """Return how many bytes the cache may take."""
    try:
        free = free_bytes(cache_root())
    except OSError:
        return LIMIT_BYTES
    return min(LIMIT_BYTES, _LIMIT_SHARE * (free + size()))


def _evict(keep: Path) -> None:
    """Remove what was not used for longest until the cache is within its limit, and old partial files."""
    entries = sorted(_entries(), key=lambda entry: entry.used)
    now = time.time()
    taken = sum(entry.size for entry in entries)
    limit = _limit()
    for entry in entries:
        abandoned = ".part" in entry.path.suffixes and now - entry.changed > _PARTIAL_AGE_S
        if abandoned or (taken > limit and entry.path != keep):
            _drop(entry.path)
            taken -= entry.size


__all__ = [
    "LIMIT_BYTES",
    "cached",
    "clear",
    "code_version",
    "films",
    "find_trace",
    "has_trace",
    "load_cached",
    "reader_version",
    "size",
]
