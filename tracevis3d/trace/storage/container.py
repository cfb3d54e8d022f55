"""A file of named columns that is memory-mapped when it is opened.

Layout: a block of 64 bytes (magic, version, length and SHA-256 of the header), the header in JSON, the
columns, each at a multiple of 64 bytes, little-endian. The header lists the columns (name, dtype, length,
offset, checksum), says how long the file is, and holds whatever the writer keeps beside the columns.

A kernel indexes without bounds checks, so a file from anywhere must not be trusted: the reader compares
the header with the file before it maps anything, and records whether this very file (size, time of change,
inode) was checked or written by us before. If not, the caller checks checksums and contents once.

A file that shrinks while it is mapped ends the process (SIGBUS), and one that changes makes kernels read from
anywhere. So what lies in the cache is mapped, where this library alone writes, beside and by renaming; other
files are copied, which takes half a second a gigabyte. This user's own that would take more than
:data:`_COPIED_SHARE` of the free memory are mapped too, and locked (``flock``, shared) for programs that ask;
a lock can't keep programs from writing. What others can write to is always copied, and checked each time.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...atomic import replacing
from ...errors import InputError
from ...machine import memory as memory_limit
from ...machine.copies import copied
from ...places import cache_root
from . import known_files

MAGIC = b"\x89TV3\r\n\x1a\n"
VERSION = 1
_BLOCK = struct.Struct("<8sIIQ32s8x")
_ALIGNMENT = 64
#: Bytes of a block of the checksum.
_SUMMED = 1 << 13
#: Maximum size of a header: no writer makes longer ones.
_LONGEST_HEADER = 1 << 30
#: dtypes that a column may have.
_DTYPES = {
    np.dtype(code).str: np.dtype(code)
    for code in ("<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "<f8", "<f4")
}
#: Linux counts private writable mappings as memory in use unless told not to.
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0

#: Files up to this share of the free memory are copied.
_COPIED_SHARE = 0.25

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Container:
    """An open file of columns.

    Attributes
    ----------
    facts : dict
        What the writer kept beside the columns.
    columns : dict of str to array
        Views of the mapped file, or of a copy. They count as writable, because Numba compiles kernels again
        for read-only arrays, but the mapping is private: the file never changes.
    trusted : bool
        Whether this file was written or checked by us before and did not change since.
    path : Path
    checksums : dict of str to str
        Of each column.
    is_ours : bool
        Whether it belongs to this user, and not everybody may write to it.
    """

    facts: dict[str, Any]
    columns: dict[str, NDArray[Any]]
    trusted: bool
    path: Path
    checksums: dict[str, str]
    is_ours: bool = True

    def check_sums(self) -> None:
        """Compare the columns with their checksums.

        Raises
        ------
        InputError
            If one does not fit.
        """
        for name, column in self.columns.items():
            if _checksum(column) != self.checksums[name]:
                raise damaged(self.path, f"the checksum of {name} is wrong")

    def trust(self) -> None:
        """Remember that the file was checked, unless others can change it."""
        if self.is_ours:
            known_files.remember(self.path, checked=True)


def damaged(path: Path, why: str) -> InputError:
    """Return the error for a file that is not as it was written.

    Parameters
    ----------
    path : Path
        The file.
    why : str
        In a few words.

    Returns
    -------
    InputError
    """
    return InputError(f"{path}: the file is damaged ({why}): write it again from the recording")


def is_container(path: Path) -> bool:
    """Return whether the file at ``path`` begins like a container."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def write(path: Path, kind: str, facts: dict[str, Any], columns: Columns) -> None:
    """Write a container in one step: at any moment there is the old file, the new one, or none.

    Parameters
    ----------
    path : Path
    kind : str
        What the file is, in a word; :func:`read` asks for it.
    facts : dict
        Anything that JSON holds.
    columns : mapping of str to array

    Raises
    ------
    InputError
        If the file can't be written; no part of it is left then.
    ValueError
        If a column is of a type that a container can't hold.
    """
    table: list[list[Any]] = []
    offset = 0
    arrays = []
    for name, given in columns.items():
        column = np.ascontiguousarray(given, given.dtype.newbyteorder("<"))
        if column.dtype.str not in _DTYPES:
            raise ValueError(f"a column of {column.dtype} can't be stored: {name}")
        table.append([name, column.dtype.str, len(column), offset, _checksum(column)])
        arrays.append(column)
        offset += -(-column.nbytes // _ALIGNMENT) * _ALIGNMENT
    text = json.dumps(
        {"kind": kind, "bytes": offset, "columns": table, "facts": facts}, separators=(",", ":")
    ).encode()
    block = _BLOCK.pack(MAGIC, VERSION, 0, len(text), hashlib.sha256(text).digest())
    padding = -len(text) % _ALIGNMENT
    with replacing(path, len(block) + len(text) + padding + offset) as part, open(part, "wb") as file:
        file.write(block)
        file.write(text)
        file.write(bytes(padding))
        for column in arrays:
            if column.nbytes:
                file.write(column.view(np.uint8).data)
                file.write(bytes(-column.nbytes % _ALIGNMENT))
    known_files.remember(path, checked=True)


def read(path: Path, kind: str) -> Container:
    """Open a container; columns of a file of the cache are mapped, not read.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        What :func:`write` was given.

    Returns
    -------
    Container

    Raises
    ------
    InputError
        If the file is not a container of this kind and version, or is damaged according to the header.
    """
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            size, is_ours = found.st_size, known_files.is_ours(found)
            if is_ours and not _locked(file.fileno()):
                raise InputError(f"{path}: another program is writing it: read it again when it is done")
            header, start = _read_header(path, file, size, kind)
            # Anonymous and empty files can't be mapped; a container is never empty.
            mapped = _map(file.fileno(), size) if is_ours and _stays(path, size) else copied(file, size)
            if len(mapped) != size:
                raise damaged(path, "it became shorter while it was read")
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}") from error
    columns: dict[str, NDArray[Any]] = {}
    checksums: dict[str, str] = {}
    try:
        total = header["bytes"]
        if type(total) is not int or total != size - start:
            raise damaged(path, f"it has {size:,} bytes where the header says otherwise")
        for name, code, length, offset, sum_ in header["columns"]:
            dtype = _DTYPES[code]
            if type(length) is not int or type(offset) is not int or type(name) is not str:
                raise TypeError
            if length < 0 or offset < 0 or offset % _ALIGNMENT or offset + length * dtype.itemsize > total:
                raise damaged(path, f"the column {name[:60]!r} lies outside of the file")
            if name in columns:
                raise KeyError(name)
            columns[name] = (
                np.frombuffer(mapped, dtype, length, start + offset) if length else np.empty(0, dtype)
            )
            checksums[name] = sum_
        facts = header["facts"]
        if type(facts) is not dict:
            raise TypeError
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, "its table of columns is invalid") from error
    trusted = is_ours and bool(known_files.recall(path).get("checked"))
    return Container(facts, columns, trusted, path, checksums, is_ours)


def _read_header(path: Path, file: Any, size: int, kind: str) -> tuple[dict[str, Any], int]:
    block = file.read(_BLOCK.size)
    if len(block) < _BLOCK.size or not block.startswith(MAGIC):
        if MAGIC.startswith(block[: len(MAGIC)]) or block.startswith(MAGIC):
            raise damaged(path, "it is truncated")
        raise InputError(f"{path}: this is not a .tv3 file: convert a recording with 'tracevis3d convert'")
    _, version, _, length, digest = _BLOCK.unpack(block)
    if version > VERSION:
        raise InputError(
            f"{path}: was written by a newer TraceVis3D (file format {version}, this one reads up to "
            f"{VERSION}): update TraceVis3D, or write the file again with this one"
        )
    if length > min(size - len(block), _LONGEST_HEADER):
        raise damaged(path, "it is truncated within its header")
    text = file.read(length)
    if hashlib.sha256(text).digest() != digest:
        raise damaged(path, "the checksum of its header is wrong")
    try:
        header = json.loads(text)
        if header["kind"] != kind:
            raise InputError(f"{path}: holds {str(header['kind'])[:40]!r}, not {kind!r}: name another file")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path, "its header is invalid") from error
    return header, len(block) + length + -length % _ALIGNMENT


def _locked(descriptor: int) -> bool:
    """Lock a file for as long as it is open or mapped; return whether nobody has it for writing."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _stays(path: Path, size: int) -> bool:
    """Return whether a file stays as it is while it is mapped, or is too large to be copied."""
    return path.is_relative_to(cache_root()) or size > memory_limit.free() * _COPIED_SHARE


def _map(descriptor: int, size: int) -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY)
    return mmap.mmap(
        descriptor, size, flags=mmap.MAP_PRIVATE | _NO_RESERVE, prot=mmap.PROT_READ | mmap.PROT_WRITE
    )


def _checksum(column: NDArray[Any]) -> str:
    """Return a checksum of a column's bytes at the speed of memory.

    The SHA-256 of the sums of the words that stand at the same place of each block: a change of a word
    changes a sum. It detects damage, not intent.
    """
    data = np.ascontiguousarray(column).view(np.uint8)
    blocks = data[: len(data) // _SUMMED * _SUMMED].view(np.uint64).reshape(-1, _SUMMED // 8)
    whole = hashlib.sha256(f"{column.dtype.str} {len(column)} ".encode())
    whole.update(blocks.sum(axis=0, dtype=np.uint64).tobytes())
    whole.update(data[blocks.nbytes :].tobytes())
    return whole.hexdigest()[:16]
