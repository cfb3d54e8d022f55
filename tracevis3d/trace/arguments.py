"""Arguments of calls, decoded from the recording when they are requested."""

from __future__ import annotations

import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..errors import InputError, MissingDependency
from .storage import known_files

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
#: Maximum size of a record, read in windows of doubling size: no tracer writes longer ones.
_WINDOW, _LONGEST = 1 << 16, 1 << 26
_STEP = 1 << 22
_AGAIN = "read the recording again, or record another"
_FIELD = re.compile(r'(?:[^\s"]|"[^"]*")+')


def read_arguments(path: str, recording: str, hash: str, offset: int) -> dict[str, Any]:
    """Return the arguments of the record at byte ``offset`` of the unpacked recording.

    That is a JSON object, or the end of a line: fields as ``name=value``, others under ``fields``.

    Parameters
    ----------
    path : str
        Where the trace was read from.
    recording : str
        The recorded file where that is another one; else empty.
    hash : str
        SHA-256 of the recorded file's bytes in hexadecimal; empty: whatever is there.
    offset : int
        Bytes from the start of the unpacked recording.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If the source is missing or has changed, or the record can't be decoded.
    MissingDependency
        If it is a zstd file and no library for it is installed.
    """
    found = _find(path, recording)
    if hash and known_files.content_hash(found) != hash:
        raise InputError(f"{found}: has changed since the trace was read: read it again to see arguments")
    try:
        with open(found, "rb") as raw:
            file = _unpacked(raw, found)
            _skip(file, offset)
            record = _decode(file, found, offset)
            if isinstance(record, str):
                return _fields(record)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{found}: the arguments at byte {offset:,} can't be read: {error}: {_AGAIN}"
        ) from error
    arguments = record.get("args")
    if isinstance(arguments, dict):
        return arguments
    return {} if arguments is None else {"args": arguments}


def _find(path: str, recording: str) -> Path:
    """Return the path of the recording: its recorded one, or next to the .tv3 file that was made from it."""
    recorded = Path(recording or path)
    for found in (recorded, Path(path).parent / recorded.name):
        if found.is_file():
            return found
    raise InputError(
        f"{recorded}: the recording no longer exists, and arguments of calls are read from it: put it back, "
        "or read it where it is now"
    )


def _unpacked(raw: BinaryIO, path: Path) -> BinaryIO:
    magic = raw.read(4)
    raw.seek(0)
    if magic.startswith(_GZIP):
        try:
            from isal import igzip
        except ImportError:
            import gzip

            return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
        return cast(BinaryIO, igzip.IGzipFile(fileobj=raw))
    if magic != _ZSTD:
        return raw
    if sys.version_info >= (3, 14):
        from compression import zstd

        return cast(BinaryIO, zstd.ZstdFile(raw))
    try:
        import zstandard
    except ImportError as error:
        raise MissingDependency(f"{path}: zstd files need zstandard: 'pip install zstandard'") from error
    return cast(BinaryIO, zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True))


def _skip(file: BinaryIO, offset: int) -> None:
    if type(file).__module__ in ("_io", "io"):
        file.seek(offset)
        return
    while offset > 0:
        piece = file.read(min(offset, _STEP))
        if not piece:
            raise EOFError("the file ends before")
        offset -= len(piece)


def _fields(line: str) -> dict[str, Any]:
    """Return the fields of a line, parted by white space outside of double quotes."""
    named: dict[str, Any] = {}
    others = []
    for field in _FIELD.findall(line):
        name, equals, value = field.partition("=")
        if equals and name.isidentifier():
            named[name] = value.strip('"')
        else:
            others.append(field.strip('"'))
    return {**named, "fields": others} if others else named


def _decode(file: BinaryIO, path: Path, offset: int) -> dict[str, Any] | str:
    """Decode one JSON object, or return the rest of a line; bytes that are no UTF-8 become U+FFFD."""
    decoder = json.JSONDecoder()
    data = b""
    wanted = _WINDOW
    while True:
        while len(data) < wanted and (piece := file.read(wanted - len(data))):
            data += piece
        if not data.startswith(b"{") and (b"\n" in data or len(data) < wanted):
            line = data.partition(b"\n")[0].strip()
            if not line:
                raise InputError(
                    f"{path}: the record at byte {offset:,} is empty, as the file ends before or was cut: "
                    f"{_AGAIN}"
                )
            return line.decode("utf-8", "replace")
        try:
            record, _ = decoder.raw_decode(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            if len(data) < wanted or wanted >= _LONGEST or not data.startswith(b"{"):
                raise InputError(
                    f"{path}: the record at byte {offset:,} is not a JSON object ({error}): {_AGAIN}"
                ) from error
            wanted *= 2
            continue
        if not isinstance(record, dict):
            raise InputError(f"{path}: the record at byte {offset:,} is not a JSON object: {_AGAIN}")
        return record
