"""Reading takes no more memory than it may: what a small file unpacks to can be of any size."""

from __future__ import annotations

import contextlib
from pathlib import Path

from ..errors import InputError
from ..progress import Progress
from ..units import byte_size
from . import memory as memory_limit

#: What packed files begin with: gzip, zstd.
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
#: Maximum number of bytes of a file that a person writes.
MOST_WRITTEN = 1 << 20


def too_large(path: Path, most: int) -> InputError:
    """Return the error for a file that takes too much memory.

    Parameters
    ----------
    path : Path
    most : int
        Bytes that it may take.

    Returns
    -------
    InputError
    """
    unpack = "unpack it to check what it contains, " if _is_packed(path) else ""
    return InputError(
        f"{path}: takes more than {byte_size(most)} of memory when it is read: {unpack}record a shorter run, "
        "or allow more with --max-memory"
    )


def _is_packed(path: Path) -> bool:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(4).startswith(_PACKED)
    return False


def check_room(path: Path, needed: int) -> None:
    """Check that reading may take ``needed`` more bytes.

    Parameters
    ----------
    path : Path
    needed : int

    Raises
    ------
    InputError
        If it may not.
    """
    most = memory_limit.limit()
    if needed > most:
        raise too_large(path, most)


def check_more(path: Path, more: int) -> None:
    """Check that reading may take ``more`` bytes beyond what it has taken by now.

    Parameters
    ----------
    path : Path
    more : int

    Raises
    ------
    InputError
        If it may not.
    """
    if more > memory_limit.left():
        raise too_large(path, memory_limit.limit())


def bounded(path: Path, progress: Progress) -> Progress:
    """Return a progress that ends the reading of a file when that takes more memory than it may.

    Parameters
    ----------
    path : Path
    progress : Progress
        What is reported to.

    Returns
    -------
    Progress
        It raises :class:`~tracevis3d.errors.InputError`.
    """
    before, most = memory_limit.begin(), memory_limit.limit()

    def report(done: float, what: str) -> None:
        if memory_limit.in_use() - before > most:
            raise too_large(path, most)
        progress(done, what)

    return report


def check_regular(path: Path) -> None:
    """Check that what is at a path can be read more than once.

    A file is examined before it is read; a pipe would be empty then, and a device never ends.

    Parameters
    ----------
    path : Path
        It need not be there.

    Raises
    ------
    InputError
        If it is a pipe or a device.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(
            f"{path}: is a pipe or a device, not a file: write what comes from it to a file, and read that"
        )


def check_written(path: Path, what: str, remedy: str) -> None:
    """Check that a file may be one that a person has written: no pipe or device, and not too large.

    Parameters
    ----------
    path : Path
        It need not be there.
    what : str
        What it is read as, in the plural.
    remedy : str
        What to do with a file that is none.

    Raises
    ------
    InputError
        If it is a pipe or a device, or larger than :data:`MOST_WRITTEN`.
    """
    check_regular(path)
    if path.is_file() and path.stat().st_size > MOST_WRITTEN:
        raise InputError(f"{path}: is larger than {MOST_WRITTEN:,} bytes, too large for {what}: {remedy}")
