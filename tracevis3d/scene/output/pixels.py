"""Pixels of pictures: read from files, and written as PNG."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray


def read(path: Path) -> NDArray[np.uint8]:
    """Return the pixels of a picture, uint8 (rows, columns, 4), the highest row first."""
    image = bpy.data.images.load(str(path), check_existing=False)
    try:
        width, height = image.size
        values = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(values)
    finally:
        bpy.data.images.remove(image)
    whole: NDArray[np.uint8] = np.round(values.reshape(height, width, 4)[::-1] * 255).astype(np.uint8)
    return whole


def as_png(pixels: NDArray[np.uint8], level: int = 6) -> bytes:
    """Return pixels as the bytes of a PNG.

    Parameters
    ----------
    pixels : uint8 (rows, columns, 3 or 4)
        The highest row first.
    level : int
        zlib's, 0 to 9.

    Returns
    -------
    bytes
    """
    height, width, channels = pixels.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.zeros((height, 1 + width * channels), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 6 if channels == 4 else 2, 0, 0, 0)
    packed = zlib.compress(rows.tobytes(), level)
    chunks = (chunk(b"IHDR", head), chunk(b"IDAT", packed), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
