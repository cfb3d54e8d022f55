"""Wheels without what the extension never loads: tests, CUDA, type stubs, tables of symbols.

LLVM is nine tenths of a zip and has to stay: Numba compiles with it. What is left out, in megabytes
of a zip for Linux: LLVM's symbols 4.5, Numba's tests 0.8, its CUDA, headers and sources in C 0.9, others 0.3.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import struct
import zipfile
from pathlib import Path

#: Files that nothing loads while a program runs, by their paths in a wheel.
LEFT_OUT = re.compile(
    r"(numba|llvmlite|zmq)/tests/|numba/cuda/|perfetto/(batch_trace_processor|trace_builder|prebuilts)/"
    r"|.*\.(pyi|pxd|pyx|h|c|cpp|lib)$"
)
# So that the same wheel gives the same bytes.
_TIMESTAMP = (2020, 1, 1, 0, 0, 0)
_SEGMENTS, _SECTIONS, _COUNTS = 32, 40, 54  # offsets in the header of a 64-bit ELF file


def slimmed(wheel: Path) -> bytes:
    """Return a wheel without what the extension never loads; its list of files says so.

    Parameters
    ----------
    wheel : Path

    Returns
    -------
    bytes
    """
    packed = io.BytesIO()
    listed: list[tuple[str, str, str]] = []
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as slim:
        record = next(name for name in whole.namelist() if name.endswith(".dist-info/RECORD"))
        for entry in whole.infolist():
            name = entry.filename
            if entry.is_dir() or name == record or LEFT_OUT.match(name):
                continue
            content = without_symbols(whole.read(entry))
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            listed.append((name, f"sha256={digest}", str(len(content))))
            _add(slim, entry, content)
        rows = io.StringIO()
        csv.writer(rows, lineterminator="\n").writerows([*listed, (record, "", "")])
        _add(slim, whole.getinfo(record), rows.getvalue().encode())
    return packed.getvalue()


def without_symbols(content: bytes) -> bytes:
    """Return a shared library of Linux without what is behind the bytes that are loaded; others as they are.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    bytes
        What is cut off are tables of symbols for debuggers; the section headers, which lie there too, are
        not needed to load a library.
    """
    if content[:6] != b"\x7fELF\x02\x01":  # 64 bits, little endian
        return content
    (segments,) = struct.unpack_from("<Q", content, _SEGMENTS)
    size, count = struct.unpack_from("<HH", content, _COUNTS)
    end = segments + size * count
    for at in range(segments, end, size):
        offset, _, _, length = struct.unpack_from("<QQQQ", content, at + 8)
        end = max(end, offset + length)
    kept = bytearray(content[:end])
    struct.pack_into("<Q", kept, _SECTIONS, 0)
    struct.pack_into("<HH", kept, _COUNTS + 6, 0, 0)  # how many section headers, and which has their names
    return bytes(kept)


def _add(archive: zipfile.ZipFile, like: zipfile.ZipInfo, content: bytes) -> None:
    entry = zipfile.ZipInfo(like.filename, _TIMESTAMP)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, like.external_attr
    archive.writestr(entry, content)
