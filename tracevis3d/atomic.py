"""Files are written whole or not at all: beside the target, checked, then put in its place.

Whatever fails on the way, a full disk above all, leaves the target as it was and nothing beside it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from .errors import InputError
from .places import free_bytes

#: Name of a partial file: hidden, with the id of the writing process; Blender needs the right suffix.
_PARTIAL = re.compile(r"\.tracevis3d-(\d+)-[0-9a-f]{8}\.part(\..*)?")
#: Seconds after which a partial file without a process is abandoned: the folder may be shared with another
#: machine.
_ABANDONED_S = 60.0
#: Free bytes that a full disk may still report.
_SLACK = 1 << 16
NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))

#: Partial files being written; code that ends the process at once removes them first.
_open: set[Path] = set()


class Incomplete(Exception):
    """What was written is not whole; the text says in what."""


@contextlib.contextmanager
def replacing(target: str | os.PathLike[str], needed: int = 0) -> Iterator[Path]:
    """Yield a name in the target's folder to write to; it takes the target's place when the block ends well.

    A target that is not a regular file (a pipe, a terminal) is yielded itself. A link keeps leading to its
    file.

    Parameters
    ----------
    target : path
    needed : int
        Bytes that the file takes, as far as they are known; for the error's sentence.

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    InputError
        If it can't be written, or the block raised :class:`Incomplete` or OSError. The target is as it was.
    """
    final = Path(os.path.realpath(target))
    if final.exists() and not final.is_file() and not final.is_dir():
        yield final
        return
    _remove_abandoned(final.parent)
    partial = final.parent / f".tracevis3d-{os.getpid()}-{secrets.token_hex(4)}.part{final.suffix.lower()}"
    _open.add(partial)
    try:
        try:
            yield partial
            sync(partial)
            if final.is_file():
                os.chmod(partial, stat.S_IMODE(final.stat().st_mode))
            os.replace(partial, final)
        except (OSError, Incomplete) as error:
            written = partial.stat().st_size if partial.is_file() else 0
            _remove(partial)
            raise InputError(
                f"{target}: can't be written: {reason(error, final.parent, written, needed)}"
            ) from None
        _sync_folder(final.parent)
    finally:
        _remove(partial)
        _open.discard(partial)


def write_text(target: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8, whole or not at all.

    Parameters
    ----------
    target : path
    text : str

    Raises
    ------
    InputError
        If it can't be written; the target is as it was.
    """
    data = text.encode("utf-8", "surrogatepass")
    with replacing(target, len(data)) as partial, open(partial, "wb") as file:
        file.write(data)


def remove_partial_files() -> None:
    """Remove the partial files of this process; for whoever ends it without a word."""
    for partial in tuple(_open):
        _remove(partial)


def reason(error: OSError | Incomplete, folder: Path, written: int, needed: int = 0) -> str:
    """Say what went wrong, with the bytes that are needed and free if they are too few.

    Parameters
    ----------
    error : OSError or Incomplete
    folder : Path
        The file's.
    written : int
        Bytes that were written of it.
    needed : int
        Bytes that it takes, as far as they are known.

    Returns
    -------
    str
    """
    remedy = "choose another folder or make room"
    what = (error.strerror if isinstance(error, OSError) else "") or str(error)
    if needed > written:
        size = f"{needed:,} bytes are needed, "
    else:
        size = f"more than {written:,} bytes are needed, " if written else ""
    limit = _limit()
    if limit is not None and written >= limit:
        return f"{what}: {size}a file may have {limit:,} bytes here (ulimit -f): raise that limit"
    free = free_bytes(folder) if folder.is_dir() else None
    if isinstance(error, OSError):
        no_room = error.errno in NO_ROOM
    else:
        no_room = free is not None and free < written + _SLACK
    if no_room and free is not None:
        return f"{what}: {size}{free:,} bytes are free: {remedy}"
    return f"{what}: {remedy}" if isinstance(error, OSError) else what


def _limit() -> int | None:
    """Return how many bytes a file of this process may have; None if as many as it likes."""
    if sys.platform == "win32":
        return None
    import resource

    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if soft == resource.RLIM_INFINITY else int(soft)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _remove_abandoned(folder: Path) -> None:
    """Remove what killed processes have left."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            found = _PARTIAL.fullmatch(entry.name)
            if found is None or _lives(int(found[1])):
                continue
            with contextlib.suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED_S:
                    os.unlink(entry)


def _lives(process: int) -> bool:
    if sys.platform == "win32":
        return True  # asking for its status would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def sync(path: Path) -> None:
    """Let the disk say now that it is full, and keep the file whole when the machine stops.

    Parameters
    ----------
    path : Path

    Raises
    ------
    OSError
    """
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make a rename last; only POSIX can, and only some file systems do."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
