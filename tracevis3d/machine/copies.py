"""Copies of files: what lies in a file that anybody may shorten is never mapped.

A mapped file that becomes shorter ends the process that reads there (SIGBUS), and Blender with it.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path
from typing import IO

import numpy as np

from ..errors import InputError
from ..places import cache_root, free_bytes
from ..units import byte_size
from . import memory as memory_limit

#: Files up to this share of the memory that reading may take are copied into memory.
IN_MEMORY_SHARE = 0.4
_PIECE = 1 << 22


def copied(file: IO[bytes], size: int) -> memoryview:
    """Return the first bytes of a file.

    Parameters
    ----------
    file : binary file
    size : int
        Bytes.

    Returns
    -------
    memoryview
        It is shorter if the file has become shorter.
    """
    # Unlike a bytearray it is not filled with zeros first.
    view = np.empty(size, np.uint8).data
    file.seek(0)
    done = 0
    while done < size and (read := file.readinto(view[done : done + _PIECE])):  # type: ignore[attr-defined]
        done += read
    return view[:done]


def snapshot(path: Path) -> memoryview:
    """Return the bytes that a file has now, which stay the same when the file changes.

    A large file is copied to a file without a name in the cache's folder, which is mapped: it takes no memory
    that can't be had back.

    Parameters
    ----------
    path : Path

    Returns
    -------
    memoryview
        Read-only; it is shorter than the file was if that has become shorter meanwhile.

    Raises
    ------
    InputError
        If a large file can't be copied because there is no room for it.
    OSError
        If it can't be read.
    """
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= memory_limit.limit() * IN_MEMORY_SHARE:
            return copied(file, size).toreadonly()
        return _on_disk(path, file, size)


def forget(data: memoryview, size: int) -> None:
    """Let the system have back the memory of what was read of a large file; it is read again where needed.

    Parameters
    ----------
    data : memoryview
        Of :func:`snapshot`; one that lies in memory alone stays.
    size : int
        The bytes from its begin that were read.
    """
    mapped, whole_pages = data.obj, size - size % mmap.PAGESIZE
    if isinstance(mapped, mmap.mmap) and whole_pages and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED, 0, whole_pages)


def _on_disk(path: Path, file: IO[bytes], size: int) -> memoryview:
    folder = cache_root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        room = free_bytes(folder)
        if room > size:
            with tempfile.TemporaryFile(dir=folder) as copy:
                done = 0
                while done < size and (piece := file.read(min(_PIECE, size - done))):
                    done += copy.write(piece)
                copy.flush()
                return memoryview(mmap.mmap(copy.fileno(), done, access=mmap.ACCESS_READ) if done else b"")
    except OSError:
        room = 0
    raise InputError(
        f"{path}: is too large for the memory that reading may take, and {folder} has no "
        f"{byte_size(size)} for a copy of it: make room there, set TRACEVIS3D_CACHE to another folder, or "
        "allow more with --max-memory"
    )
