"""Text as UTF-8 bytes, whatever it was saved as."""

from __future__ import annotations

import codecs

import numpy as np
from numpy.typing import NDArray

_UTF8_BOM = codecs.BOM_UTF8
#: How many bytes are looked at to tell UTF-16 without a mark.
_LOOK = 256
_PIECE = 1 << 18


def utf8(data: memoryview | bytes) -> memoryview | bytes:
    """Return text in UTF-8 without a byte order mark.

    UTF-16 is told by its mark, or by every second byte being zero; what is no UTF-16 becomes U+FFFD.
    Other text is returned as it is, not copied.
    """
    head = bytes(data[:_LOOK])
    if head.startswith(_UTF8_BOM):
        return data[len(_UTF8_BOM) :]
    encoding = _utf16(head)
    if encoding is None:
        return data
    return codecs.decode(data, encoding, "replace").removeprefix("\ufeff").encode("utf-8", "replace")


def _utf16(head: bytes) -> str | None:
    if head.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    even, odd = head[0::2], head[1::2]
    if len(odd) < 4:
        return None
    if 0 not in even and odd.count(0) > 0.9 * len(odd):
        return "utf-16-le"
    if 0 not in odd and even.count(0) > 0.9 * len(even):
        return "utf-16-be"
    return None


def lines(head: bytes, is_cut: bool) -> list[bytes]:
    """Return the non-empty lines of ``head``; the last one is left out if ``head`` is cut there."""
    found = bytes(utf8(head)).splitlines()
    if is_cut and len(found) > 1:
        found.pop()
    return [line for line in (line.strip() for line in found) if line]


def places(data: NDArray[np.uint8], byte: bytes) -> NDArray[np.int64]:
    """Return where ``byte`` is in ``data``, ascending."""
    found = [
        np.flatnonzero(data[low : low + _PIECE] == ord(byte)) + low for low in range(0, len(data), _PIECE)
    ]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def count(data: NDArray[np.uint8], byte: bytes) -> int:
    """Return how often ``byte`` is in ``data``."""
    # Pieces that stay in the processor's cache.
    return sum(
        int(np.count_nonzero(data[low : low + _PIECE] == ord(byte))) for low in range(0, len(data), _PIECE)
    )
