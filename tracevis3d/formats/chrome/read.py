"""Reads a Chrome trace piece by piece: the document around the events, the scanner, and what it leaves.

Never more than a piece of the file is in memory, unless a single record is larger than that.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ...errors import Unreadable
from ...kernels.formats.scan import json as kernels
from ...machine import memory as memory_limit
from ...progress import Progress, part, silent
from ...trace.model import Trace
from ...units import byte_size
from .. import unpack
from .checked import Checked, Metadata, decode_json, decode_records
from .rows import Rows
from .trace import Recorded, make_trace

#: Bytes of the file in memory at once.
PIECE = 1 << 22
_PAD = 64
_BATCH = 4096
#: A value that is skipped is examined as a whole up to this many bytes.
_FITTING = 1 << 25
#: Maximum length of a key of the object around the events.
_KEY = 1 << 16
#: Minimum bytes per event, to estimate their number; compressed files unpack to about 12 times their size.
_EVENT_BYTES, _PACKED = 64, 12
#: Sections of the object form that hold records of other kinds.
_OTHER_SECTIONS = frozenset(
    (
        "samples",
        "stackFrames",
        "systemTraceEvents",
        "powerTraceAsString",
        "androidProcessDump",
        "traceAnnotations",
    )
)


def read(path: Path, progress: Progress, *, scanner: bool = True, piece: int = PIECE) -> Trace:
    """Read the Chrome trace at ``path``.

    Parameters
    ----------
    path : Path
    progress : Progress
    scanner : bool
        False takes the checked way for every record; the trace is the same.
    piece : int
        Bytes of the file in memory at once, at least; a larger record makes it grow.

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If it holds no events at all and is not JSON either, or a record does not fit into memory.
    """
    with unpack.Reader(path) as source:
        expected = source.size * (1 if source.packing == "plain" else _PACKED) // _EVENT_BYTES
        document = _Document(path, source, part(progress, 0, 0.7), Rows(expected), scanner, piece)
        document.read()
        if source.damage:
            document.rows.count_repair(unpack.problem_of(source.damage), document.base + document.end)
    progress(0.7, "building calls")
    return make_trace(document.recorded())


def read_records(path: Path, file: BinaryIO) -> Recorded:
    """Read records of a file that still grows: ``file`` holds a list of them; errors name ``path``.

    Parameters
    ----------
    path : Path
        For messages.
    file : BinaryIO
        It is read from its start.

    Returns
    -------
    Recorded
    """
    with unpack.Reader(path, file) as source:
        document = _Document(path, source, silent, Rows(0), True, PIECE)
        document.read()
        return document.recorded()


class _Document:
    """One file while it is read."""

    def __init__(
        self,
        path: Path,
        source: unpack.Reader,
        progress: Progress,
        rows: Rows,
        scanner: bool,
        piece: int,
    ) -> None:
        self.rows = rows
        self.base = 0
        self.end = 0
        self._path = path
        self._source = source
        self._progress = progress
        self._scanner = scanner
        self._data: NDArray[np.uint8] = np.zeros(piece + _PAD, np.uint8)
        self._at_end = False
        self._limit = min(memory_limit.limit() // 2, (1 << 31) - 2 * _PAD)
        self._bases = [(0, 0)]
        self._metadata: list[Metadata] = []
        self._checked = Checked(rows, self._metadata.append)
        self._bounds = np.zeros((_BATCH + 1, 2), np.int64)
        self._batch = 1
        self._last_odd = -_BATCH
        self._searched = 0
        self._broken_at = -1

    # -- the buffer ----------------------------------------------------------------------------

    @property
    def position(self) -> int:
        """Index of the next byte in the buffer."""
        return int(self.rows.state[kernels.S_POSITION])

    @position.setter
    def position(self, position: int) -> None:
        self.rows.state[kernels.S_POSITION] = position

    def _more(self) -> bool:
        """Drop the bytes that were read and fetch the next piece; False at the end of the file."""
        if self._at_end:
            return False
        keep = self.position
        left = self.end - keep
        if keep:
            self._data[:left] = (
                self._data[keep : self.end].copy() if left > keep else self._data[keep : self.end]
            )
            self.base += keep
            self.position = 0
            self._bases.append((self.rows.n_events, self.base))
        elif self.end + _PAD >= len(self._data):
            room = min(2 * len(self._data), self._limit)
            if room <= len(self._data):
                raise Unreadable(
                    f"{self._path}: byte {self.base + keep:,}: one record is larger than "
                    f"{byte_size(left)}: the file is damaged there, or it holds no events"
                )
            longer = np.zeros(room, np.uint8)
            longer[:left] = self._data[:left]
            self._data = longer
        room = len(self._data) - _PAD
        count = self._source.readinto(self._data.data[left:room])
        self.end = left + count
        self._data[self.end : self.end + _PAD] = 0
        self._at_end = self.end < room
        self._progress(self._source.done, "reading")
        return count > 0

    def _peek(self) -> int:
        """Go to the next character that is not white space and return it; -1 at the end of the file."""
        while True:
            window = self._data[self.position : self.end]
            solid = np.flatnonzero(window[:4096] > 32)
            if len(solid):
                self.position += int(solid[0])
                return int(self._data[self.position])
            if len(window) > 4096:
                self.position += 4096
                continue
            self.position = self.end
            if not self._more():
                return -1

    def _bytes(self, low: int, high: int) -> bytes:
        return self._data[low:high].tobytes()

    # -- the document --------------------------------------------------------------------------

    def read(self) -> None:
        """Read everything."""
        self._more()
        if self._bytes(0, 3) == b"\xef\xbb\xbf":
            self.position = 3
        first = self._peek()
        if first not in (0x5B, 0x7B):
            what = "is empty" if first < 0 else "begins with neither [ nor {"
            raise Unreadable(
                f"{self._path}: byte {self.base + self.position:,}: this JSON {what}: not a Chrome trace"
            )
        while first in (0x5B, 0x7B):
            if first == 0x5B:
                self.position += 1
                self._read_events()
            elif self._is_record():
                # Records without a list around them.
                self._read_events(bare=True)
            else:
                self._read_object()
            first = self._peek()
        if first >= 0:
            self.rows.count_repair("malformed", self.base + self.position)

    def _is_record(self) -> bool:
        """Return whether the object here is a record itself."""
        bounds = self._bounds[:2]
        if not kernels.frame_events(self._data, self.position, self.end, bounds):
            return False
        text = self._bytes(int(bounds[0, 0]), min(int(bounds[0, 1]), int(bounds[0, 0]) + (1 << 16)))
        return b'"ph"' in text and b'"traceEvents"' not in text

    def _read_object(self) -> None:
        """Read the object around the events."""
        self.position += 1
        while True:
            c = self._peek()
            if c == 0x2C:
                self.position += 1
                continue
            if c == 0x7D:
                self.position += 1
                return
            if c != 0x22:
                self._end_of_object(c)
                return
            key = self._key()
            if key is None and self._at_end and self.end - self.position < _KEY:
                self._end_of_object(-1)
                return
            if key is None or self._peek() != 0x3A:
                self._end_of_object(self._peek())
                return
            self.position += 1
            byte = self.base + self.position
            if self._peek() == 0x5B and key == "traceEvents":
                self.position += 1
                self._read_events()
                continue
            if key in _OTHER_SECTIONS:
                self.rows.count_repair("unsupported", byte)
            if not self._skip_value():
                self.rows.count_repair("truncated", byte)
                return

    def _end_of_object(self, c: int) -> None:
        """Count why the object can't be read on, and leave the rest."""
        kind = "truncated" if c < 0 else "malformed"
        self.rows.count_repair(kind, self.base + self.position)
        # The rest of the file is not events.
        self.position = self.end
        while self._more():
            self.position = self.end

    def _key(self) -> str | None:
        """Read the key whose quote is here."""
        while True:
            window = self._bytes(self.position, min(self.end, self.position + _KEY))
            found = re.match(rb'"((?:[^"\\]|\\.)*)"', window, re.DOTALL)
            if found:
                self.position += found.end()
                text = found[1]
                if b"\\" in text:
                    try:
                        return str(decode_json(found[0]))
                    except ValueError:
                        return None
                return text.decode("utf-8", "replace")
            if len(window) >= _KEY or not self._more():
                return None

    def _skip_value(self) -> bool:
        """Skip the value here; False if the file ends within it."""
        self._peek()
        while self.end - self.position < _FITTING:
            first = self._data.ctypes.data
            found = int(kernels.value_end(first + self.position, first + self.end))
            behind = (found >> kernels.TYPE_BITS) - first
            if found >= 0 and (behind < self.end or self._at_end):
                self.position = behind
                return True
            if found == kernels.ODD_VALUE:
                break
            if not self._more():
                return False
        # Too large to be in memory as a whole, or not JSON.
        walk = np.zeros(3, np.int64)
        while True:
            behind = int(kernels.skip_value(self._data, self.position, self.end, walk))
            if behind >= 0:
                self.position = behind
                return True
            self.position = self.end
            if not self._more():
                return False

    # -- the events ----------------------------------------------------------------------------

    def _read_events(self, bare: bool = False) -> None:
        """Read records up to the bracket that closes their list, or the end of the file."""
        while True:
            code = kernels.ODD
            if self._scanner:
                before = self.rows.n_records
                code = self.rows.scan(self._data, self.end, self.base)
                if self.rows.n_records > before:
                    self._settle()
            if code == kernels.MORE:
                if self._more():
                    continue
                code = kernels.ODD
            if code == kernels.DONE or (code != kernels.MORE and self._read_checked(bare)):
                self._settle(end=True)
                return

    def _read_checked(self, bare: bool) -> bool:
        """Read the next records the checked way; return whether the list is at its end."""
        rows = self.rows
        self._batch = min(2 * self._batch, _BATCH) if rows.n_records - self._last_odd < 8 else 1
        if not self._scanner:
            self._batch = _BATCH
        bounds = self._bounds[: self._batch + 1]
        count = int(kernels.frame_events(self._data, self.position, self.end, bounds))
        if count:
            self._add_records(bounds[:count].tolist())
            self._last_odd = rows.n_records
            return False
        self.position = int(bounds[0, 0])
        if self.position >= self.end:
            if self._more():
                return False
            if not bare:
                rows.count_repair("truncated", self.base + self.end)
            return True
        c = int(self._data[self.position])
        if c == 0x5D:
            self.position += 1
            return True
        if c == 0x7B:
            if not self._at_end and self._more():
                return False
            return self._search(self.end - self.position, "truncated")
        if c == 0x7D and not bare:
            # The list's bracket is missing, the object's is there.
            return self._search(1, "malformed")
        return self._skip_odd_element()

    def _skip_odd_element(self) -> bool:
        """Skip list entries that are not objects."""
        start = self.base + self.position
        window = self._bytes(self.position, min(self.end, self.position + 8))
        if window.startswith(b"null"):
            # Some writers end their list with it, to avoid a trailing comma.
            self.position += 4
            if self._peek() == 0x2C:
                self.rows.count_repair("malformed", start)
            return False
        if window[:1] in b'"[-0123456789tf':
            self.rows.count_repair("malformed", start)
            return not self._skip_value()
        return self._search(1, "malformed")

    def _add_records(self, bounds: list[list[int]]) -> None:
        """Decode and append the records at ``bounds``; go behind them, or into one that is broken."""
        texts = [self._bytes(low, high) for low, high in bounds]
        for (low, high), text, record in zip(bounds, texts, decode_records(texts), strict=False):
            self.position = high
            if record is None:
                self._batch = 1
                self._search(high - low, "malformed", low)
                return
            if self._checked.add(record, low, self.base):
                self._settle()
            elif self._broken_at < 0 and text.strip(b"{} \t\r\n"):
                self.rows.count_repair("malformed", self.base + low)

    def _search(self, length: int, kind: str, start: int | None = None) -> bool:
        """Look for the next record behind something broken; return whether there is none.

        ``length`` bytes were looked at in vain. As that could be most of the file each time, what may be
        looked at in vain altogether is bounded; then the broken part is skipped as a whole.
        """
        start = self.position if start is None else start
        if self._broken_at < 0:
            self._broken_at = self.base + start
            self._broken_kind = kind
        self._searched += length
        skip = length if self._searched > (1 << 26) + 8 * (self.base + start) else 1
        self.position = start + max(skip, 1)
        while True:
            at = int(kernels.next_object(self._data, min(self.position, self.end), self.end))
            self.position = at
            if at < self.end:
                return False
            if not self._more():
                return True

    def _settle(self, end: bool = False) -> None:
        """Count what was broken, now that a record was read behind it, or none is left."""
        if self._broken_at >= 0:
            self.rows.count_repair(self._broken_kind if end else "malformed", self._broken_at)
            self._broken_at = -1

    def recorded(self) -> Recorded:
        """Return all that was read."""
        return Recorded(self.rows, self._metadata, self._bases)
