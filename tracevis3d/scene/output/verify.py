"""Whether a picture, film or scene file is whole: what was written is read again before it is passed on.

Blender reports no error when the disk is full. Each format is read as far as a truncated file would show:
lengths, trailers, checksums, the size of the picture, the number of frames.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ...atomic import Incomplete

Data = mmap.mmap | bytes

_JPEG_SIZES = {0xC0, 0xC1, 0xC2}
#: Elements of Matroska: the file's content, groups of frames, and frames.
_SEGMENT, _CLUSTER, _SIMPLE_BLOCK, _BLOCK_GROUP = 0x18538067, 0x1F43B675, 0xA3, 0xA0
#: Boxes of MP4 on the way to a track's sample sizes.
_TO_MEDIA, _TO_SAMPLES = (b"moov", b"trak", b"mdia"), (b"minf", b"stbl", b"stsz")
_ZSTD_SEEKABLE = 0x8F92EAB1


def verify(path: Path, *, size: tuple[int, int] | None = None, frames: int | None = None) -> None:
    """Make sure that a file is whole.

    Parameters
    ----------
    path : Path
        Its suffix says what it is.
    size : (int, int), optional
        Pixels of a picture.
    frames : int, optional
        Of a film.

    Raises
    ------
    Incomplete
        If it isn't.
    """
    check = _CHECKS[path.suffix.lower()]
    if not path.is_file() or not path.stat().st_size:
        raise Incomplete("Blender wrote nothing")
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            found = check(data)
        except (struct.error, IndexError, ValueError, zlib.error):
            found = None
    wanted = size if isinstance(found, tuple) else frames
    if found is None or (wanted is not None and found != wanted and not isinstance(found, bool)):
        raise Incomplete("only a part of it was written")


def _png(data: Data) -> tuple[int, int] | None:
    at, packed, header = 8, [], b""
    while True:
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        if checksum != zlib.crc32(body, zlib.crc32(kind)):
            return None
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed.append(body)
        elif kind == b"IEND":
            break
        at += length + 12
    width, height, depth, color = struct.unpack(">IIBB", header[:10])
    row = (width * depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color] + 7) // 8 + 1
    unpack, unpacked = zlib.decompressobj(), 0
    for piece in packed:
        unpacked += len(unpack.decompress(piece))
    return (width, height) if unpack.eof and unpacked == row * height else None


def _jpeg(data: Data) -> tuple[int, int] | None:
    if data[-2:] != b"\xff\xd9":
        return None
    at = 2
    while True:
        marker, length = struct.unpack_from(">xBH", data, at)
        if marker in _JPEG_SIZES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length


def _webp(data: Data) -> tuple[int, int] | None:
    riff, length, webp = struct.unpack_from("<4sI4s", data, 0)
    if (riff, webp) != (b"RIFF", b"WEBP") or length + 8 != len(data):
        return None
    at = 12
    while at < len(data):
        kind, length = struct.unpack_from("<4sI", data, at)
        if kind == b"VP8 ":
            width, height = struct.unpack_from("<HH", data, at + 14)
            return width & 0x3FFF, height & 0x3FFF
        if kind == b"VP8L":
            (bits,) = struct.unpack_from("<I", data, at + 9)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        at += 8 + length + length % 2
    return None


def _exr(data: Data) -> tuple[int, int] | None:
    """Read a single part of scan lines: each block's length, up to the last."""
    at, window, compression = 8, None, 0
    while data[at]:
        name_end = data.find(b"\0", at)
        kind_end = data.find(b"\0", name_end + 1)
        (length,) = struct.unpack_from("<i", data, kind_end + 1)
        value = kind_end + 5
        if data[at:name_end] == b"dataWindow":
            window = struct.unpack_from("<4i", data, value)
        elif data[at:name_end] == b"compression":
            compression = data[value]
        at = value + length
    if window is None:
        return None
    width, height = window[2] - window[0] + 1, window[3] - window[1] + 1
    lines = {0: 1, 1: 1, 2: 1, 3: 16, 4: 32, 5: 16, 6: 32, 7: 32, 8: 32, 9: 256}[compression]
    blocks = struct.unpack_from(f"<{-(-height // lines)}Q", data, at + 1)
    if min(blocks) < at:
        return None
    (length,) = struct.unpack_from("<i", data, max(blocks) + 4)
    return (width, height) if max(blocks) + 8 + length == len(data) else None


def _mp4(data: Data) -> int | None:
    kinds = {kind for kind, _, _ in _boxes(data, 0, len(data))}
    if not {b"moov", b"mdat"} <= kinds:
        return None
    # The sound's track has samples of its own.
    return max(
        (
            struct.unpack_from(">I", data, low + 8)[0]
            for begin, end in _find_boxes(data, _TO_MEDIA)
            if any(
                data[low + 8 : low + 12] == b"vide" for low, _ in _find_boxes(data, (b"hdlr",), begin, end)
            )
            for low, _ in _find_boxes(data, _TO_SAMPLES, begin, end)
        ),
        default=None,
    )


def _boxes(data: Data, low: int, high: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield kind, begin and end of the boxes in a range; raises ValueError where one does not end in it."""
    while low < high:
        length, kind = struct.unpack_from(">I4s", data, low)
        begin = low + 8
        if length == 1:
            (length,) = struct.unpack_from(">Q", data, begin)
            begin += 8
        if length < begin - low or low + length > high:
            raise ValueError(kind)
        yield kind, begin, low + length
        low += length


def _find_boxes(
    data: Data, kinds: tuple[bytes, ...], low: int = 0, high: int | None = None
) -> Iterator[tuple[int, int]]:
    ranges = [(low, len(data) if high is None else high)]
    for wanted in kinds:
        ranges = [
            (begin, end)
            for first, last in ranges
            for kind, begin, end in _boxes(data, first, last)
            if kind == wanted
        ]
    return iter(ranges)


def _matroska(data: Data) -> int | None:
    frames = 0
    for kind, low, high in _elements(data, 0, len(data)):
        if kind == _SEGMENT:
            for part, begin, end in _elements(data, low, high):
                if part == _CLUSTER:
                    # The picture's track is the first; a block begins with its number.
                    blocks = [
                        first if one == _SIMPLE_BLOCK else next(_elements(data, first, last))[1]
                        for one, first, last in _elements(data, begin, end)
                        if one in (_SIMPLE_BLOCK, _BLOCK_GROUP)
                    ]
                    frames += sum(data[first] == 0x81 for first in blocks)
    return frames or None


def _elements(data: Data, low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """Yield id, begin and end of Matroska's elements; raises ValueError where one has no end here."""
    while low < high:
        width = 9 - data[low].bit_length()
        kind = int.from_bytes(data[low : low + width], "big")
        low += width
        width = 9 - data[low].bit_length()
        length = int.from_bytes(data[low : low + width], "big") & (1 << 7 * width) - 1
        low += width
        if width > 8 or low + length > high:
            raise ValueError(kind)
        yield kind, low, low + length
        low += length


def _blend(data: Data) -> bool | None:
    """Read the table of frames at the end of a packed file, or the last block of a plain one."""
    if data[:4] != b"\x28\xb5\x2f\xfd":
        return True if data[:7] == b"BLENDER" and b"ENDB" in data[-32:] else None
    frames, flags, magic = struct.unpack("<IBI", data[-9:])
    if magic != _ZSTD_SEEKABLE:
        return None
    entry = 12 if flags & 0x80 else 8
    table = 8 + entry * frames + 9
    sizes = (struct.unpack_from("<I", data, len(data) - table + 8 + entry * i)[0] for i in range(frames))
    return True if sum(sizes) + table == len(data) else None


def _glb(data: Data) -> bool | None:
    return True if struct.unpack_from("<4sII", data) == (b"glTF", 2, len(data)) else None


def _usdc(data: Data) -> bool | None:
    (ident, at) = struct.unpack_from("<8s8xQ", data)
    (count,) = struct.unpack_from("<Q", data, at)
    sections = (struct.unpack_from("<16sQQ", data, at + 8 + 32 * i) for i in range(count))
    fits = (
        ident == b"PXR-USDC" and count and all(start + length <= len(data) for _, start, length in sections)
    )
    return True if fits else None


_CHECKS: dict[str, Callable[[Data], tuple[int, int] | int | None]] = {
    ".png": _png,
    ".jpg": _jpeg,
    ".jpeg": _jpeg,
    ".exr": _exr,
    ".webp": _webp,
    ".mp4": _mp4,
    ".mkv": _matroska,
    ".blend": _blend,
    ".glb": _glb,
    ".usdc": _usdc,
}
