"""What picture files say of themselves: density, and that they show all directions; no time of making."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

_PNG_HEADER = 8
#: Texts in which Blender says how long it took, so that equal pictures would be different files.
_TIMES = b"cycles."
_XMP_PNG, _XMP_JPEG = b"XML:com.adobe.xmp", b"http://ns.adobe.com/xap/1.0/\0"
_PANORAMA = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" \
xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" GPano:ProjectionType="equirectangular" \
GPano:UsePanoramaViewer="True" GPano:FullPanoWidthPixels="{width}" GPano:FullPanoHeightPixels="{height}" \
GPano:CroppedAreaImageWidthPixels="{width}" GPano:CroppedAreaImageHeightPixels="{height}" \
GPano:CroppedAreaLeftPixels="0" GPano:CroppedAreaTopPixels="0"/></rdf:RDF></x:xmpmeta>"""


def finish_png(path: Path, dpi: float, around: tuple[int, int] | None = None) -> None:
    """Write a picture's density into its pHYs chunk, and leave out how long it took.

    Parameters
    ----------
    path : Path
    dpi : float
        Dots per inch.
    around : (int, int), optional
        Width and height of a picture of all directions, which viewers then show as one.
    """
    data = path.read_bytes()
    chunks = [chunk for chunk in _chunks(data) if not _says_time(chunk) and chunk[4:8] != b"pHYs"]
    per_metre = round(dpi / 0.0254)
    added = [_chunk(b"pHYs", struct.pack(">IIB", per_metre, per_metre, 1))]
    if around is not None:
        added.append(_chunk(b"iTXt", _XMP_PNG + bytes(5) + _panorama(around)))
    # They stand before the pixels.
    first = next(i for i, chunk in enumerate(chunks) if chunk[4:8] == b"IDAT")
    path.write_bytes(data[:_PNG_HEADER] + b"".join([*chunks[:first], *added, *chunks[first:]]))


def _chunks(data: bytes) -> Iterator[bytes]:
    at = _PNG_HEADER
    while at < len(data):
        length = 12 + struct.unpack_from(">I", data, at)[0]
        yield data[at : at + length]
        at += length


def _chunk(kind: bytes, content: bytes) -> bytes:
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def _says_time(chunk: bytes) -> bool:
    return chunk[4:8] == b"tEXt" and chunk[8:].startswith(_TIMES)


def _panorama(size: tuple[int, int]) -> bytes:
    return _PANORAMA.format(width=size[0], height=size[1]).encode()


def finish_jpeg(path: Path, dpi: float, around: tuple[int, int] | None = None) -> None:
    """Write a picture's density into its JFIF header, and leave out how long it took.

    Parameters
    ----------
    path : Path
    dpi : float
        Dots per inch.
    around : (int, int), optional
        As for :func:`finish_png`.
    """
    data = path.read_bytes()
    parts, at = [data[:2]], 2
    # Segments up to that of the pixels.
    while data[at : at + 1] == b"\xff" and data[at + 1] != 0xDA:
        length = 2 + struct.unpack_from(">H", data, at + 2)[0]
        part = data[at : at + length]
        if part[1] == 0xE0 and part[4:9] == b"JFIF\0":
            dots = min(round(dpi), 65_535)
            part = part[:11] + struct.pack(">BHH", 1, dots, dots) + part[16:]
            parts.append(part)
            if around is not None:
                content = _XMP_JPEG + _panorama(around)
                parts.append(b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content)
        elif part[1] != 0xFE:  # a comment
            parts.append(part)
        at += length
    path.write_bytes(b"".join(parts) + data[at:])
