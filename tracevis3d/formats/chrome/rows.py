"""The columns that the Chrome reader fills while it reads, and their growing."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.scan import json as kernels
from ...trace.problems import KINDS

#: Text 0, the empty name.
UNNAMED = "(unnamed)"
#: Rows of ``Rows.repairs``; the first four are the scanner's own.
REPAIRS = (
    "no name",
    "no thread",
    "no duration",
    "unsupported",
    *(kind for kind in KINDS if kind not in ("no name", "no thread", "no duration", "unsupported")),
)
_TEXT_ROOM = 1 << 12
#: Bytes behind the data that kernels may read.
_PAD = 64


class Rows:
    """Growing columns, interned texts and counts of repairs (``kernels.formats.scan.json``).

    Parameters
    ----------
    events : int
        How many begin, end and complete events are expected; memory is only taken where it is written.
    """

    def __init__(self, events: int) -> None:
        room = max(events, 1 << 12)
        self.state = np.zeros(kernels.STATE_SIZE, np.int64)
        self.slot = np.zeros(kernels.SLOT_SIZE, np.int64)
        self.repairs = np.zeros((len(REPAIRS), 2), np.int64)
        self.table: NDArray[np.int32] = np.full(2 * _TEXT_ROOM, -1, np.int32)
        self.texts = np.empty((_TEXT_ROOM, kernels.T_SIZE), np.int64)
        self.blob = np.empty(1 << 18, np.uint8)
        self.key = np.zeros(64 + 16, np.uint8)
        self.thread = np.empty(room, np.int32)
        self.kind = np.empty(room, np.uint8)
        self.function = np.empty(room, np.int32)
        self.time = np.empty(room, np.int64)
        self.stop = np.empty(room, np.int64)
        self.place = np.empty(room, np.uint32)
        self.rows = np.empty((1 << 12, kernels.R_SIZE), np.int64)
        self._note_addresses()
        self._known: dict[str, int] = {}
        self.text(UNNAMED)

    @property
    def n_events(self) -> int:
        """Number of begin, end and complete events."""
        return int(self.state[kernels.S_EVENTS])

    @property
    def n_rows(self) -> int:
        """Number of other rows."""
        return int(self.state[kernels.S_ROWS])

    @property
    def n_records(self) -> int:
        """Number of records understood so far."""
        return int(self.state[kernels.S_RECORDS])

    def scan(self, data: NDArray[np.uint8], end: int, base: int) -> int:
        """Run the scanner on ``data[state[S_POSITION]:end]``, growing what is full; return its code.

        Parameters
        ----------
        data : uint8 array
            The piece, in UTF-8.
        end : int
            Bytes of it that are filled.
        base : int
            Of the piece within the unpacked file, in bytes.

        Returns
        -------
        int
            Why it stopped.
        """
        while True:
            # No text of this piece can be longer than the piece: the blob is never what is full.
            self._reserve_blob(end + 64)
            code: int = kernels.scan_events(
                data,
                end,
                base,
                self.thread,
                self.kind,
                self.function,
                self.time,
                self.stop,
                self.place,
                self.state,
            )
            if code != kernels.GROW:
                return code
            self.grow()

    def grow(self) -> None:
        """Make room in every table that is nearly full."""
        state = self.state
        state[kernels.S_FULL] = 0
        events = int(state[kernels.S_EVENTS])
        if events + 1 > len(self.thread):
            for name in ("thread", "kind", "function", "time", "stop", "place"):
                setattr(self, name, _longer(getattr(self, name), events))
        rows = int(state[kernels.S_ROWS])
        if 2 * rows + 2 > len(self.rows):
            self.rows = _longer(self.rows, rows)
        texts = int(state[kernels.S_TEXTS])
        if 2 * (texts + 1) > len(self.texts):
            self.texts = _longer(self.texts, texts)
            self.table = np.full(2 * len(self.texts), -1, np.int32)
            kernels.fill_table(self.table, self.texts, texts)
        self._note_addresses()

    def _note_addresses(self) -> None:
        """Give the kernels the addresses of the tables; they live as long as this object."""
        state = self.state
        state[kernels.A_TABLE] = self.table.ctypes.data
        state[kernels.A_MASK] = len(self.table) - 1
        state[kernels.A_TEXTS] = self.texts.ctypes.data
        state[kernels.A_ROOM] = len(self.texts)
        state[kernels.A_BLOB] = self.blob.ctypes.data
        state[kernels.A_BLOB_SIZE] = len(self.blob)
        state[kernels.A_ROWS] = self.rows.ctypes.data
        state[kernels.A_ROW_ROOM] = len(self.rows)
        state[kernels.A_REPAIRS] = self.repairs.ctypes.data
        state[kernels.A_KEY] = self.key.ctypes.data
        state[kernels.A_SLOT] = self.slot.ctypes.data

    # -- one by one, for the checked path ------------------------------------------------------

    def text(self, text: str) -> int:
        """Return the number of ``text``."""
        known = self._known.get(text)
        if known is not None:
            return known
        raw = json.dumps(text)[1:-1] if _needs_escape(text) else text
        number = self._known[text] = self._intern(raw.encode())
        return number

    def raw_text(self, raw: bytes) -> int:
        """Return the number of a piece of JSON as it stands."""
        return self._intern(raw)

    def owner(self, process: str | None, tid: str | None, quoted: int) -> int:
        """Return the number of the thread with these ids (None: missing; ``quoted``: 1, 2 for strings).

        Parameters
        ----------
        process, tid : str or None
            As text.
        quoted : int
            Which of them were strings in the file: 1 the process, 2 the thread.

        Returns
        -------
        int
        """
        first = -1 if process is None else 2 * self.text(process) + (quoted & 1)
        second = -1 if tid is None else 2 * self.text(tid) + (quoted >> 1)
        return self._intern(np.array([first, second], np.int64).tobytes())

    def _intern(self, raw: bytes) -> int:
        data = np.frombuffer(raw + bytes(_PAD), np.uint8)
        low = data.ctypes.data
        while True:
            self._reserve_blob(len(data))
            number: int = kernels.intern(low, low + len(raw), self.state.ctypes.data)
            if number >= 0:
                return number
            self.grow()

    def add_event(self, thread: int, kind: int, function: int, time: int, stop: int, place: int) -> int:
        """Append a begin, end or complete event; return its index.

        Parameters
        ----------
        thread : int
            That of :meth:`owner`.
        kind : int
            BEGIN, END or COMPLETE.
        function : int
            Number of the name.
        time : int
            Nanoseconds.
        stop : int
            Nanoseconds: when a complete event ends.
        place : int
            Byte of the unpacked file at which the record begins.

        Returns
        -------
        int
        """
        at = self.n_events
        if at >= len(self.thread):
            self.grow()
        self.thread[at] = thread
        self.kind[at] = kind
        self.function[at] = function
        self.time[at] = time
        self.stop[at] = stop
        self.place[at] = place
        self.state[kernels.S_EVENTS] = at + 1
        return at

    def add_row(self, *row: int) -> None:
        """Append another row, with the columns of the ``R_`` names."""
        at = self.n_rows
        if at >= len(self.rows):
            self.grow()
        self.rows[at] = row
        self.state[kernels.S_ROWS] = at + 1

    def count_repair(self, kind: str, byte: int) -> None:
        """Count a problem at ``byte`` of the unpacked file.

        Parameters
        ----------
        kind : str
            One of :data:`REPAIRS`.
        byte : int
            Where in the unpacked file.
        """
        row = self.repairs[REPAIRS.index(kind)]
        if row[0] == 0:
            row[1] = byte
        elif kind == "truncated":
            return  # a file ends once, however many values are open
        row[0] += 1

    # -- when all is read ----------------------------------------------------------------------

    def raw_texts(self) -> list[bytes]:
        """Return all interned texts as they stand in the file."""
        count = int(self.state[kernels.S_TEXTS])
        blob = self.blob.tobytes() if count else b""
        bounds = self.texts[:count, kernels.T_START : kernels.T_LENGTH + 1].tolist()
        return [blob[start : start + length] for start, length in bounds]

    def _reserve_blob(self, more: int) -> None:
        used = int(self.state[kernels.S_BLOB])
        if used + 2 * more > len(self.blob):
            longer = np.empty(2 * (used + 2 * more), np.uint8)
            longer[:used] = self.blob[:used]
            self.blob = longer
            self._note_addresses()


def decode_text(raw: bytes) -> tuple[str, bool]:
    """Return a text as it stands in the file, decoded, and whether it was well-formed."""
    sound = True
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text, sound = raw.decode("utf-8", "replace"), False
    if b"\\" in raw:
        try:
            text = json.loads(f'"{text}"', strict=False)
        except ValueError:
            sound = False
        # Lone surrogates can't be stored.
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text, sound


def _needs_escape(text: str) -> bool:
    return '"' in text or "\\" in text or any("\ud800" <= c <= "\udfff" for c in text)


def _longer(column: NDArray[Any], used: int) -> NDArray[Any]:
    longer = np.empty((2 * len(column), *column.shape[1:]), column.dtype)
    longer[:used] = column[:used]
    return longer
