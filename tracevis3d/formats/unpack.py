"""The unpacked bytes of a file: plain, gzip or zstd, in pieces or as a whole.

Gzip goes through ``isal`` where it is installed (several times faster), else through ``zlib``. A packed
file that ends in the middle gives what can be unpacked and says so.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from ..errors import MissingDependency
from ..machine import memory as memory_limit
from ..machine.bounds import too_large
from ..machine.copies import snapshot
from ..progress import Progress, silent

if TYPE_CHECKING:
    from ..trace.problems import Problems

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
#: Suffixes of compressed files.
SUFFIXES = (".gz", ".zst", ".zstd")
#: Packed bytes read at once, and unpacked bytes requested at once.
_READ, _PIECE = 1 << 20, 1 << 22
#: Bytes at the end that may contain a checksum: they are unpacked last, after everything else.
_TRAILER = 8
_OTHER = "there is other data after"
#: Messages of zlib, isal and zstd for a wrong checksum.
_WRONG_SUM = ("incorrect data check", "incorrect length check", "checksum")


@dataclass(frozen=True)
class Unpacked:
    """The unpacked content of a file.

    Attributes
    ----------
    data : memoryview
        Read-only bytes; they stay the same when the file changes.
    damage : str
        Why unpacking stopped before the end ("the gzip data is truncated" ...); empty if it did not.
    """

    data: memoryview
    damage: str = ""


def problem_of(damage: str) -> str:
    """Return the kind of problem (:data:`..trace.problems.KINDS`) that a damage is.

    Parameters
    ----------
    damage : str
        Of :class:`Unpacked` or :class:`Reader`.

    Returns
    -------
    str
    """
    if damage.startswith(_OTHER):
        return "other data"
    return "wrong checksum" if damage.endswith("checksum") else "truncated"


def bare_name(name: str) -> str:
    """Return ``name`` in lower case without the suffixes of packers."""
    name = name.lower()
    while name.endswith(SUFFIXES):
        name = name[: name.rindex(".")]
    return name


def head(path: Path, size: int) -> bytes:
    """Return the first ``size`` unpacked bytes of the file at ``path``, or all if there are fewer.

    Parameters
    ----------
    path : Path
        The file.
    size : int
        Bytes.

    Returns
    -------
    bytes
    """
    return opening(path, size)[0]


def opening(path: Path, size: int) -> tuple[bytes, str]:
    """Return the first ``size`` unpacked bytes of a file, and why there are fewer if it is damaged.

    Parameters
    ----------
    path : Path
        The file.
    size : int
        Bytes.

    Returns
    -------
    head : bytes
    damage : str
        As in :class:`Unpacked`.
    """
    with Reader(path) as reader:
        parts: list[bytes] = []
        missing = size
        while missing > 0 and (part := reader.read(missing)):
            parts.append(part)
            missing -= len(part)
    return b"".join(parts), reader.damage


def size_on_disk(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder."""
    if path.is_dir():
        return sum(entry.stat().st_size for entry in path.rglob("*") if entry.is_file())
    return path.stat().st_size


def unpack_file(path: Path, progress: Progress = silent) -> Unpacked:
    """Return all unpacked bytes of the file at ``path``.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Unpacked

    Raises
    ------
    InputError
        If unpacked it takes more memory than reading may.
    MissingDependency
        If it is a zstd file and no library for it is installed.
    """
    with Reader(path) as reader:
        if reader.packing == "plain":
            if reader.size == 0:
                return Unpacked(memoryview(b""))
            data = snapshot(path)
            return Unpacked(
                data, "the file became shorter while it was read" if len(data) < reader.size else ""
            )
        return _gather(reader, progress)


def whole(path: Path, problems: Problems, progress: Progress = silent) -> memoryview:
    """Return all unpacked bytes of a file, and count it as a problem if there are not all of them.

    Parameters
    ----------
    path : Path
        The file.
    problems : Problems
        Of the recording.
    progress : Progress

    Returns
    -------
    memoryview
        Read-only.

    Raises
    ------
    InputError, MissingDependency
        As :func:`unpack_file`.
    """
    unpacked = unpack_file(path, progress)
    if unpacked.damage:
        problems.add(problem_of(unpacked.damage), unpacked.damage)
    return unpacked.data


def unpack_bytes(data: bytes, name: str = "the data") -> Unpacked:
    """Return the unpacked form of ``data``; ``name`` names it in messages.

    Parameters
    ----------
    data : bytes
        Plain, gzip or zstd.
    name : str
        For messages.

    Returns
    -------
    Unpacked
    """
    reader = Reader(Path(name), io.BytesIO(data))
    if reader.packing == "plain":
        return Unpacked(memoryview(data))
    return _gather(reader, silent)


class Reader:
    """Reads the unpacked bytes of a file piece by piece.

    Parameters
    ----------
    path : Path
        The file.
    file : BinaryIO, optional
        It is read instead, if given; ``path`` is for messages.

    Attributes
    ----------
    packing : str
        ``"plain"``, ``"gzip"`` or ``"zstd"``, by content.
    size : int
        Bytes of the file as it is stored.
    damage : str
        Why unpacking stopped before the end; empty as long as it did not.
    """

    def __init__(self, path: Path, file: BinaryIO | None = None) -> None:
        self.path = path
        self.damage = ""
        self._file = file if file is not None else open(path, "rb", buffering=0)  # noqa: SIM115
        self.size = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        magic = self._file.read(4)
        self._file.seek(0)
        self._pieces: Iterator[bytes] = iter(())
        self._rest = memoryview(b"")
        if magic[:2] == _GZIP:
            self.packing = "gzip"
            self._pieces = self._unpack(_new_gzip, _GZIP, _READ)
        elif magic == _ZSTD:
            self.packing = "zstd"
            # Its output has no bound, so small steps limit the output of a decompression bomb.
            self._pieces = self._unpack(_new_zstd(), _ZSTD, _READ >> 8)
        else:
            self.packing = "plain"

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    @property
    def done(self) -> float:
        """The share of the stored bytes that was read."""
        return self._file.tell() / self.size if self.size else 1.0

    def read(self, size: int) -> bytes:
        """Return up to ``size`` unpacked bytes; none only at the end."""
        if self.packing == "plain":
            return self._file.read(size) or b""
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        part = bytes(self._rest[:size])
        self._rest = self._rest[size:]
        return part

    def readinto(self, buffer: memoryview) -> int:
        """Fill ``buffer`` with unpacked bytes as far as there are any; return how many."""
        filled = 0
        while filled < len(buffer):
            if self.packing == "plain":
                count = self._file.readinto(buffer[filled:])  # type: ignore[attr-defined]
                if not count:
                    break
            else:
                if not self._rest:
                    self._rest = memoryview(next(self._pieces, b""))
                if not self._rest:
                    break
                count = min(len(self._rest), len(buffer) - filled)
                buffer[filled : filled + count] = self._rest[:count]
                self._rest = self._rest[count:]
            filled += count
        return filled

    def _unpack(self, new_stream: Callable[[], _Stream], magic: bytes, step: int) -> Iterator[bytes]:
        """Yield the unpacked members (frames) of the file, ``step`` packed bytes at a time."""
        stream: _Stream | None = None
        packed = b""
        while True:
            left = self.size - self._file.tell()
            packed = packed or self._file.read(min(step, max(left - _TRAILER, _TRAILER))) or b""
            if stream is None:
                if not packed:
                    return
                packed = packed.lstrip(b"\0")  # padding between members is common and harmless
                if len(packed) < len(magic):
                    packed = (packed + (self._file.read(step) or b"")).lstrip(b"\0")
                if not packed:
                    continue
                if not packed.startswith(magic):
                    self.damage = f"{_OTHER} the {self.packing} data"
                    return
                stream = new_stream()
            at_end = not packed
            try:
                piece = stream.decompress(packed)
            except Exception as error:  # zlib, isal and zstd have no common base of their errors
                wrong_sum = any(text in str(error).lower() for text in _WRONG_SUM)
                what = "does not match its checksum" if wrong_sum else f"is damaged ({error})"
                self.damage = f"the {self.packing} data {what}"
                return
            if piece:
                yield piece
            if stream.eof:
                packed, stream = stream.unused_data, None
            else:
                packed = stream.unconsumed_tail
                if at_end and not piece:
                    self.damage = f"the {self.packing} data is truncated"
                    return


class _Stream(Protocol):
    """The interface of the unpackers of zlib, isal, zstandard and compression.zstd."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


class _Bounded:
    """Unpacks at most ``_PIECE`` bytes at once, so that a bomb can't fill the memory."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.eof: bool = False
        self.unused_data: bytes = b""
        self.unconsumed_tail: bytes = b""

    def decompress(self, data: bytes, /) -> bytes:
        piece: bytes = self._stream.decompress(data, _PIECE)
        self.eof = self._stream.eof
        if self.eof:
            self.unused_data = self._stream.unused_data
        else:
            self.unconsumed_tail = getattr(self._stream, "unconsumed_tail", b"")
        return piece


def _new_gzip() -> _Stream:
    try:
        from isal import isal_zlib

        return _Bounded(isal_zlib.decompressobj(31))
    except ImportError:
        return _Bounded(zlib.decompressobj(31))


def _new_zstd() -> Callable[[], _Stream]:
    """Return what makes an unpacker for one zstd frame."""
    try:
        from compression import zstd  # Python 3.14

        return lambda: _Bounded(zstd.ZstdDecompressor())
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError as error:
        raise MissingDependency(
            "this file is compressed with zstd: install a library for it with 'pip install zstandard', or "
            "unpack it with 'unzstd'"
        ) from error
    return lambda: cast(_Stream, zstandard.ZstdDecompressor().decompressobj())


def _gather(reader: Reader, progress: Progress) -> Unpacked:
    """Unpack everything, as long as it fits into memory."""
    most = memory_limit.limit()
    whole = bytearray()
    while piece := reader.read(_PIECE):
        if len(whole) + len(piece) > most:
            raise too_large(reader.path, most)
        whole += piece
        progress(reader.done, "unpacking")
    return Unpacked(memoryview(whole).toreadonly(), reader.damage)
