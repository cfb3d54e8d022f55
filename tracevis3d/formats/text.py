"""Text as UTF-8 bytes, whatever it was saved as; and readers of text formats line by line."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Unreadable
from ..progress import Progress, part, silent
from ..trace.model import Source, Trace
from ..trace.problems import Problems
from ..trace.recording import Recording
from .names import split
from .unpack import problem_of, unpack_file

_UTF8_BOM = codecs.BOM_UTF8
#: Bytes examined to detect UTF-16 without a byte order mark.
_LOOK = 256
_PIECE = 1 << 18
#: All but zero, tab, line feed, vertical tab, form feed, carriage return and escape.
_CONTROLS = bytes([*range(1, 9), *range(14, 27), *range(28, 32)])
#: Bytes in which the end of the last whole line is searched for.
_TAIL = 1 << 20
#: Progress is reported every this many lines.
_LINES = 1 << 14


def utf8(data: memoryview | bytes) -> memoryview | bytes:
    """Return text in UTF-8 without a byte order mark.

    UTF-16 is detected by its mark, or by every second byte being zero; what is no UTF-16 becomes U+FFFD.
    Other text is returned as it is, not copied.

    Parameters
    ----------
    data : memoryview or bytes
        Text in UTF-8, UTF-16 or another encoding.

    Returns
    -------
    memoryview or bytes
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


class Text(NamedTuple):
    """Text of a file as UTF-8 bytes, without a byte order mark.

    Attributes
    ----------
    data : bytes-like
    offset : int
        Where it begins in the unpacked file; -1 if it was decoded, so that it has other places there.
    """

    data: memoryview | bytes
    offset: int


def read_text(
    path: Path, problems: Problems, progress: Progress = silent, *, whole_lines: bool = False
) -> Text:
    """Return a file's text, unpacked.

    A packed file that is damaged is read as far as possible, and that is added to the problems.

    Parameters
    ----------
    path : Path
    problems : Problems
    progress : Progress
    whole_lines : bool
        Leave out the last line of a damaged file unless it has its end.

    Returns
    -------
    Text
    """
    unpacked = unpack_file(path, progress)
    text = utf8(unpacked.data)
    before_it = len(unpacked.data) - len(text)
    if unpacked.damage:
        problems.add(problem_of(unpacked.damage), unpacked.damage)
        if whole_lines:
            before = max(0, len(text) - _TAIL)
            text = text[: before + bytes(text[before:]).rfind(b"\n") + 1]
    return Text(text, before_it if 0 <= before_it <= len(_UTF8_BOM) else -1)


def read_lines(
    path: Path, take: Callable[[str, Recording], None], expected: str, progress: Progress = silent
) -> Trace:
    """Read a format of lines, one Python call a line: for small files, and for plug-ins.

    Packed files are unpacked, other encodings than UTF-8 are decoded, and what is damaged or malformed is
    left out and counted with its line.

    Parameters
    ----------
    path : Path
    take : callable
        ``take(line, recording)`` adds what a line says, by :meth:`.recording.Recording.call` and similar. A
        :class:`ValueError`, :class:`KeyError` or :class:`TypeError` means that the line is malformed.
    expected : str
        What lines look like, for the message if there is none.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    Unreadable
        If no line says anything.
    """
    recording = Recording()
    text = read_text(path, recording.problems, part(progress, 0.0, 0.2), whole_lines=True)
    rows = bytes(text.data).decode("utf-8", "replace").splitlines()
    taken = 0
    for number, line in enumerate(rows, 1):
        if number % _LINES == 0:
            progress(0.2 + 0.6 * number / len(rows), "reading lines")
        if not line.strip():
            continue
        try:
            take(line, recording)
            taken += 1
        except (ValueError, KeyError, TypeError):
            recording.problems.add("malformed", f"line {number:,}")
    if not taken:
        raise Unreadable(f"{path}: no line is understood: {expected}")
    progress(0.8, "building calls")
    return recording.finish(Source(), split)


@lru_cache(maxsize=2)
def is_binary(head: bytes) -> bool:
    """Return whether bytes are no text: every twentieth is a control character that texts don't have.

    Zeros are none: UTF-16 has them, and so have logs where a disk was full.

    Parameters
    ----------
    head : bytes
        The first bytes of a file.

    Returns
    -------
    bool
    """
    return 20 * (len(head) - len(head.translate(None, _CONTROLS))) > len(head)


def lines(head: bytes, is_cut: bool) -> list[bytes]:
    """Return the non-empty lines of ``head``; the last one is left out if ``head`` is cut there.

    Parameters
    ----------
    head : bytes
        The first bytes of a text.
    is_cut : bool
        Whether there is more behind them.

    Returns
    -------
    list of bytes
        Without white space at their ends; none of what is no text.
    """
    return list(_lines(head, is_cut))


@lru_cache(maxsize=2)
def _lines(head: bytes, is_cut: bool) -> tuple[bytes, ...]:
    """Return the same; formats look at the same bytes, one after the other."""
    found = [] if is_binary(head) else bytes(utf8(head)).splitlines()
    if is_cut and len(found) > 1:
        found.pop()
    return tuple(line for line in (line.strip() for line in found) if line)


def places(data: NDArray[np.uint8], byte: bytes) -> NDArray[np.int64]:
    """Return where ``byte`` is in ``data``, ascending.

    Parameters
    ----------
    data : uint8 (n,)
        Bytes.
    byte : bytes
        One.

    Returns
    -------
    int64 (k,)
    """
    found = [
        np.flatnonzero(data[low : low + _PIECE] == ord(byte)) + low for low in range(0, len(data), _PIECE)
    ]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def count(data: NDArray[np.uint8], byte: bytes) -> int:
    """Return how often ``byte`` is in ``data``.

    Parameters
    ----------
    data : uint8 (n,)
        Bytes.
    byte : bytes
        One.

    Returns
    -------
    int
    """
    # Pieces small enough for the processor's cache.
    return sum(
        int(np.count_nonzero(data[low : low + _PIECE] == ord(byte))) for low in range(0, len(data), _PIECE)
    )
