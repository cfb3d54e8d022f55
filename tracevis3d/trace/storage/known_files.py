"""Known facts about files: their hash, and that they were checked.

One small file per known file, below the cache's folder, records size, times of change and inode: a fact holds
as long as these do. A program can set the time when the content changed, but not the one when the inode did.
Nothing here may fail: without a writable cache nothing is known, that is all.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any

from ...places import cache_root

#: A file changed less than this ago may change again within one tick of its clock.
_TICK_NS = 100_000_000
_PIECE = 1 << 20
#: What ends the name of a file of symbols, which lies beside a profile and names what that has addresses of.
SYMBOLS = ".syms.json"
#: Ends of the names of two files that are one recording, and what may be behind them where one is packed.
_TOGETHER, _PACKED = (".records.tsv", ".stacks.tsv"), ("", ".gz", ".zst")


def folder() -> Path:
    """Return where facts are kept."""
    return cache_root() / "files"


def recall(path: Path) -> dict[str, Any]:
    """Return the facts about the file at ``path`` in its present state; empty if there are none."""
    try:
        state = _state(path)
        with open(_place(path), encoding="utf-8") as file:
            if not is_ours(os.fstat(file.fileno())):
                return {}
            known = json.loads(file.read(1 << 16))
        facts = known["facts"]
        return facts if known["state"] == state and isinstance(facts, dict) else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def remember(path: Path, **facts: Any) -> None:
    """Add facts about the file at ``path`` as it is now.

    Parameters
    ----------
    path : Path
        The file.
    **facts : object
        What JSON holds.
    """
    try:
        state = _state(path)
        text = json.dumps({"path": str(path), "state": state, "facts": {**recall(path), **facts}})
        place = _place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f".{place.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
        try:
            part.write_text(text, encoding="utf-8")
            os.replace(part, place)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError):
        pass


def is_ours(found: os.stat_result) -> bool:
    """Return whether a file belongs to this user, and not everybody may write to it."""
    return sys.platform == "win32" or (found.st_uid == os.geteuid() and not found.st_mode & 0o002)


def touch(path: Path) -> None:
    """Remember that a known file was used now; the file itself stays as it is."""
    with contextlib.suppress(OSError):
        os.utime(_place(path))


def last_use(path: Path) -> float:
    """Return when :func:`touch` was called last for a file, in seconds; 0 if it never was."""
    try:
        return os.stat(_place(path)).st_mtime
    except OSError:
        return 0.0


def content_hash(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal; of a folder, that of its files' names and bytes.

    Names of symbols beside a profile (:data:`SYMBOLS`) are part of it, as are stacks beside memray's records.
    A file that did not change since it was last requested is not read again.

    Parameters
    ----------
    path : Path
        A file or a folder.

    Returns
    -------
    str

    Raises
    ------
    OSError
        If the file can't be read.
    """
    if path.is_dir():
        whole = hashlib.sha256()
        for entry in sorted(p for p in path.rglob("*") if p.is_file()):
            name = entry.relative_to(path).as_posix()
            whole.update(f"{name}\0{_hash_of_file(entry)}\n".encode("utf-8", "surrogateescape"))
        return whole.hexdigest()
    beside = _beside(path)
    if beside is not None:
        both = f"{_hash_of_file(path)}\0{_hash_of_file(beside)}"
        return hashlib.sha256(both.encode()).hexdigest()
    return _hash_of_file(path)


def _beside(path: Path) -> Path | None:
    """Return the file beside another one that is part of what that says."""
    symbols = path.with_suffix(SYMBOLS)
    if symbols.is_file():
        return symbols
    for mine, other in (_TOGETHER, _TOGETHER[::-1]):
        for packed in _PACKED:
            if path.name.lower().endswith(mine + packed):
                stem = path.name[: -len(mine + packed)]
                found = (path.with_name(f"{stem}{other}{packing}") for packing in _PACKED)
                return next((candidate for candidate in found if candidate.is_file()), None)
    return None


def _hash_of_file(path: Path) -> str:
    known = recall(path).get("hash")
    if isinstance(known, str):
        return known
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        before = os.fstat(file.fileno())
        while piece := file.read(_PIECE):
            digest.update(piece)
        after = os.fstat(file.fileno())
    settled = time.time_ns() - after.st_mtime_ns > _TICK_NS
    if settled and (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
        remember(path, hash=digest.hexdigest())
    return digest.hexdigest()


def _state(path: Path) -> list[int]:
    found = os.stat(path)
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev]


def _place(path: Path) -> Path:
    with contextlib.suppress(OSError):
        path = path.resolve()
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
    return folder() / f"{name}.json"
