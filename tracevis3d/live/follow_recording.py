"""A trace that another program still writes, as a feed: what is appended is published.

Chrome's trace events, packed by gzip or not: what our own recorder writes, and every program that appends
records to a list. A record of a whole call comes when the call has ended, behind those of the calls
inside it; a feed has begins in the order of time. So calls of such records are held back for a while, and
those that lasted longer than that are left out and counted.
"""

from __future__ import annotations

import io
import re
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import interrupts
from ..errors import InputError
from ..formats.chrome.checked import Metadata
from ..formats.chrome.read import read_records
from ..formats.chrome.trace import Recorded, make_trace, raw_events
from ..kernels.formats.scan.json import frame_events
from ..trace.events import BEGIN, COMPLETE, END
from ..units import byte_size
from . import protocol as p
from .publisher import Publisher
from .recorded import name_ends
from .replay import streams_beside_calls

Ints = NDArray[np.int64]

#: Seconds between two checks of the file.
_EVERY = 0.05
_GZIP = b"\x1f\x8b"
#: Bytes read together, and maximum size of a record.
_PIECE, _LONGEST = 1 << 22, 1 << 28
_LIST = re.compile(
    rb'\s*(?:\[|\{\s*(?:"[^"]*"\s*:\s*(?:"[^"]*"|[-\d.eE+]+|true|false|null)\s*,\s*)*"traceEvents"\s*:\s*\[)'
)
_BOUNDS = 1 << 14
#: What to do with a file that can't be followed.
_REPLAY = "replay it without --follow when it is whole"


class Tail:
    """The records of a growing file, as they become whole.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    ended : bool
        Whether the list of records was closed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("rb")
        self._unpack: Any = None
        self._first = True
        self._inside = False
        self._rest = b""
        self.ended = False

    def take(self) -> bytes:
        """Return the records that have become complete since the last call.

        Returns
        -------
        bytes
            JSON objects with commas between them; empty if there are none.

        Raises
        ------
        InputError
            If this is no list of records, or a record is damaged or too large.
        """
        piece = self._file.read(_PIECE)
        if self._first and len(piece) >= 2:
            self._first = False
            if piece.startswith(_GZIP):
                self._unpack = zlib.decompressobj(31)
        if self._unpack is not None:
            try:
                piece = self._unpack.decompress(piece)
            except zlib.error as error:
                raise InputError(f"{self._path}: is damaged: {error}: {_REPLAY}") from None
        self._rest += piece
        if not self._inside:
            self._begin()
        if not self._inside or not piece:
            return b""
        return self._whole()

    def _begin(self) -> None:
        """Find where the list begins; records without a list around them do as well."""
        opening = _LIST.match(self._rest)
        if opening:
            self._rest, self._inside = self._rest[opening.end() :], True
        elif re.match(rb'\s*\{\s*"(?!traceEvents)', self._rest) and b'"ph"' in self._rest.partition(b"\n")[0]:
            self._inside = True
        elif len(self._rest) > 1 << 16:
            raise InputError(
                f"{self._path}: no list of Chrome's trace events begins here, and only these are followed: "
                f"{_REPLAY}"
            )

    def _whole(self) -> bytes:
        data = np.frombuffer(self._rest + bytes(64), np.uint8)
        bounds = np.zeros((_BOUNDS, 2), np.int64)
        at, end = 0, len(self._rest)
        while count := int(frame_events(data, at, end, bounds)):
            at = int(bounds[count - 1, 1])
        whole, self._rest = self._rest[:at], self._rest[at:]
        left = self._rest.lstrip(b", \t\r\n")
        self.ended = left.startswith(b"]")
        if not self.ended and left and not left.startswith(b"{"):
            raise InputError(f"{self._path}: what follows is not a record: {left[:40]!r}: {_REPLAY}")
        if len(self._rest) > _LONGEST:
            raise InputError(
                f"{self._path}: one record is larger than {byte_size(_LONGEST)}, so the file is "
                f"damaged: {_REPLAY}"
            )
        return whole

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass
class _Thread:
    """A thread's open calls, and what is held back; times in nanoseconds of the file's clock."""

    number: int
    stack: list[int] = field(default_factory=list)
    #: Rows of time, rank among those of one time, order among those of one rank, kind, function.
    held: list[Ints] = field(default_factory=list)
    is_late: bool = False
    until: int = -(1 << 62)


class Follower:
    """Publishes a growing file.

    Parameters
    ----------
    path : Path
    publisher : Publisher
    lag_ns : int
        How long whole calls are held back.

    Attributes
    ----------
    rows : int
        Number of rows published.
    left_out : int
        Number of calls that lasted longer than the lag.
    """

    def __init__(self, path: Path, publisher: Publisher, lag_ns: int) -> None:
        self._path, self._publisher, self._lag = path, publisher, lag_ns
        self._tail: Any = self._open(path)
        self._metadata: list[Metadata] = []
        self._threads: dict[tuple[Any, Any], _Thread] = {}
        self._shift: int | None = None
        self._latest = -(1 << 62)
        self.rows = self.left_out = 0

    def _open(self, path: Path) -> Any:
        """Return what has ``take``, ``ended`` and ``close``, as :class:`Tail`."""
        return Tail(path)

    def run(self, idle_s: float, report: Callable[[int], None] = lambda rows: None) -> None:
        """Publish until the file is complete, or has not grown for ``idle_s`` seconds, or Ctrl-C.

        Parameters
        ----------
        idle_s : float
        report : callable
            Gets the rows so far.
        """
        grew = time.monotonic()
        try:
            while not self._tail.ended and time.monotonic() - grew < idle_s:
                text = self._tail.take()
                if text:
                    self.take(text)
                    grew = time.monotonic()
                else:
                    time.sleep(_EVERY)
                report(self.rows)
        except KeyboardInterrupt:
            interrupts.forget()  # that is how one stops
        finally:
            self._send(1 << 62)
            self._tail.close()

    def take(self, text: Any) -> None:
        """Publish whole records."""
        recorded = read_records(self._path, io.BytesIO(b"[" + text + b"]"))
        # Names and frames hold for all that follows.
        recorded = Recorded(recorded.rows, [*self._metadata, *recorded.metadata], recorded.bases)
        self._metadata = [said for said in recorded.metadata if said.what != "memory"]
        trace = make_trace(recorded, whole=False)
        names, ids, columns = raw_events(recorded)
        if self._shift is None and (len(columns["time"]) or trace.span_ns or len(trace.memory)):
            # The last existing record happened now.
            self._shift = self._publisher.now() - (trace.origin_ns + trace.span_ns)
        self._hold(names, ids, columns)
        self._send(None)
        self._put_beside(trace)

    def _thread(self, process: Any, tid: Any, name: str = "") -> _Thread:
        thread = self._threads.get((process, tid))
        if thread is None or name:
            number = self._publisher.number("threads", (process, tid, name))
            if thread is None:
                thread = self._threads[process, tid] = _Thread(number)
        return thread

    def _hold(self, names: list[str], ids: list[tuple[Any, Any]], columns: dict[str, NDArray[Any]]) -> None:
        if not len(columns["time"]):
            return
        function = np.array([self._publisher.number("functions", name) for name in names] or [0])
        self._latest = max(self._latest, int(columns["time"].max()))
        for which in np.unique(columns["thread"]).tolist():
            mine = columns["thread"] == which
            thread = self._thread(*ids[which])
            kind, when, stop = (columns[name][mine] for name in ("kind", "time", "end"))
            called = function[columns["function"][mine]]
            single = kind != COMPLETE
            if single.any():
                named = called[single].copy()
                name_ends(kind[single] == BEGIN, named, thread.stack)
                known = named >= 0
                order = np.arange(len(named))
                sides = np.where(kind[single] == END, p.END, p.BEGIN)
                self._keep(thread, when[single][known], 1, order[known], sides[known], named[known])
            whole = np.flatnonzero(~single)
            if len(whole):
                thread.is_late = True
                self._latest = max(self._latest, int(stop[whole].max()))
                late = when[whole] < thread.until
                self.left_out += int(np.count_nonzero(late))
                whole = whole[~late]
                start, end = when[whole], np.maximum(stop[whole], when[whole])
                # At the same time: inner calls end first, outer calls begin first.
                self._keep(thread, end, np.where(end > start, 0, 3), -start, p.END, called[whole])
                self._keep(thread, start, 2, -end, p.BEGIN, called[whole])

    @staticmethod
    def _keep(thread: _Thread, when: Any, rank: Any, order: Any, kind: Any, function: Any) -> None:
        rows = np.empty((len(when), 5), np.int64)
        for k, column in enumerate((when, rank, order, kind, function)):
            rows[:, k] = column
        thread.held.append(rows)

    def _send(self, until: int | None) -> None:
        """Publish what can't be preceded by anything any more."""
        for thread in self._threads.values():
            if not thread.held:
                continue
            limit = until if until is not None else self._latest - (self._lag if thread.is_late else 0)
            rows = np.concatenate(thread.held)
            rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
            stop = int(np.searchsorted(rows[:, 0], limit, "right"))
            thread.held = [rows[stop:]] if stop < len(rows) else []
            if stop:
                thread.until = max(thread.until, limit)
                self.rows += stop
                self._publisher.put(
                    "calls", kind=rows[:stop, 3], thread=np.full(stop, thread.number),
                    function=rows[:stop, 4], time=rows[:stop, 0] + (self._shift or 0),
                )  # fmt: skip

    def _put_beside(self, trace: Any) -> None:
        """Publish the other tables: their rows are published when they are over."""
        threads = trace.threads
        known = [
            self._thread(threads.process[t], threads.tid[t], threads.name[t]) for t in range(len(threads))
        ]
        number = np.array([thread.number for thread in known] or [0], np.uint32)
        shift = (self._shift or 0) + trace.origin_ns
        for stream in streams_beside_calls(trace, self._publisher, number):
            columns = {
                name: column + shift if name in ("time", "start", "end") else column
                for name, column in stream.columns.items()
            }
            self.rows += len(stream.time)
            self._publisher.put(stream.table, **columns)
