"""Method traces of Android's runtime (ART): ``.trace`` files of Android Studio and of ``Debug``'s tracing.

Source: ``runtime/trace.cc`` of ART. A header says how long a record is; each record has a thread, a method
with what happens to it, and one or two times in microseconds. A file that was written while the program ran
("streaming") has the names of threads and methods between the records, others have them in a text before.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, Unreadable
from ..progress import Progress, part
from ..trace.events import BEGIN, END
from ..trace.model import Source
from ..trace.recording import Recording
from . import names, registry
from .distinct import distinct
from .unpack import whole

if TYPE_CHECKING:
    from ..trace.model import Trace

_MAGIC = b"SLOW"
_HEADER = struct.Struct("<4sHHQ")
#: Bit of the version of a file that was written while the program ran.
_STREAMING = 0xF0
#: Versions whose records all have the same size.
_VERSIONS = (1, 2, 3)
#: What a streamed entry that is no record says: a method, a thread, the summary at the end.
_METHOD, _THREAD, _SUMMARY = 1, 2, 3
#: Bytes of such an entry before its text.
_ENTRIES = {_METHOD: 5, _THREAD: 7, _SUMMARY: 7}
#: What happens to a method: the two lowest bits of its number.
_ENTER, _EXIT, _UNWIND = 0, 1, 2
_US = 1000
#: Records that are looked at together.
_STEP = 4096
_OPTION = re.compile(r"([\w-]+)=(.*)")

Bytes = NDArray[np.uint8]


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are a method trace.

    Parameters
    ----------
    head : bytes
        The first bytes, unpacked.
    name : str
        The file's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    is_text = re.match(rb"\*version\r?\n\d+\r?\ndata-file-overflow=", head)
    is_streamed = head.startswith(_MAGIC) and len(head) >= 16 and head[4] & _STREAMING == _STREAMING
    return registry.SURE if is_text or is_streamed else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a method trace: each method that is entered is a call until it is left, or unwound.

    With both clocks the times are those of the wall clock.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError, Unreadable
        If it is damaged at the beginning, of a newer version, or holds no call.
    """
    recording = Recording()
    data = whole(path, recording.problems, part(progress, 0, 0.3))
    progress(0.3, "reading records")
    reader = _Reader(path, recording, bytes(data))
    reader.read()
    progress(0.6, "building calls")
    return recording.finish(Source(), names.split, reader.place)


class _Reader:
    def __init__(self, path: Path, recording: Recording, data: bytes) -> None:
        self._path, self._recording, self._data = path, recording, data
        self._methods: dict[int, str] = {}
        self._threads: dict[int, str] = {}
        self._process = 0
        #: Where each record is.
        self._at: NDArray[np.int64] = np.empty(0, np.int64)

    def place(self, event: int) -> str:
        """Return where an event is in the file."""
        return f"byte {int(self._at[event]):,}"

    def read(self) -> None:
        """Read all of it."""
        data = self._data
        header = data.find(_MAGIC)
        if not data.startswith(_MAGIC):
            end = data.find(b"*end\n")
            header = data.find(_MAGIC, max(end, 0))
            self._sections(data[: header if header >= 0 else len(data)])
        if header < 0 or header + _HEADER.size + 2 > len(data):
            raise Unreadable(f"{self._path}: the records are missing: the file ends before them")
        _, version, offset, start = _HEADER.unpack_from(data, header)
        is_streamed = version & _STREAMING == _STREAMING
        version &= 0x0F
        if version not in _VERSIONS:
            raise InputError(
                f"{self._path}: this is version {version} of ART's method traces, and versions 1 to 3 are "
                "read: record with Android Studio's Java/Kotlin method trace, or with an older Android"
            )
        size = {1: 9, 2: 10}.get(version) or struct.unpack_from("<H", data, header + _HEADER.size)[0]
        if size not in (9, 10, 14) or offset < _HEADER.size:
            raise Unreadable(f"{self._path}: records of {size} bytes are none of ART's: the file is damaged")
        begin = min(header + offset, len(data))
        if is_streamed:
            self._at = self._stream(begin, size)
        else:
            whole = (len(data) - begin) // size
            if begin + whole * size < len(data):
                self._recording.problems.add("truncated", "the last record is incomplete")
            self._at = begin + size * np.arange(whole, dtype=np.int64)
        self._take(size, start if start < 1 << 52 else 0)

    # -- names -------------------------------------------------------------------------------------

    def _sections(self, text: bytes) -> None:
        """Read options, threads and methods of a text in sections."""
        section = ""
        for line in text.decode("utf-8", "replace").splitlines():
            if line.startswith("*"):
                section = line[1:].strip()
            elif section == "threads":
                number, _, name = line.partition("\t")
                if number.isdecimal() and len(number) < 10:
                    self._threads[int(number)] = name
            elif section == "methods":
                self._name_method(line)
            elif option := _OPTION.fullmatch(line):
                self._set(option[1], option[2])

    def _set(self, option: str, value: str) -> None:
        if option == "pid" and value.isdecimal() and len(value) < 10:
            self._process = int(value)
        elif option == "data-file-overflow" and value == "true":
            self._recording.problems.add("truncated", "the buffer was full before the recording ended")

    def _name_method(self, line: str) -> None:
        """Take a line: number, class, name, signature, file, and in old files a line number."""
        number, *said = line.rstrip("\n").split("\t")
        try:
            key = int(number, 16 if number.startswith("0x") else 10)
        except ValueError:
            self._recording.problems.add("malformed", f"the method {line[:40]!r}")
            return
        inside, name = (*said, "", "")[:2]
        inside = inside.replace("/", ".")
        full = f"{inside}.{name}" if inside and name else inside or name or f"method {number}"
        signature, file = said[2:4] if len(said) > 3 else ("", "")
        # Overloaded methods differ by their signatures.
        full += signature if signature.startswith("(") else ""
        self._methods[key] = f"{full} ({file})" if file and file != "(null)" else full

    # -- records -----------------------------------------------------------------------------------

    def _stream(self, at: int, size: int) -> NDArray[np.int64]:
        """Read the entries between records; return where records begin."""
        data, found = self._data, []
        whole = np.frombuffer(data, np.uint8)
        while True:
            count = self._records_from(whole, at, size)
            found.append(at + size * np.arange(count, dtype=np.int64))
            at += size * count
            what = data[at + 2] if data[at : at + 2] == b"\0\0" and at + 2 < len(data) else 0
            head = _ENTRIES.get(what, 0)
            length = int.from_bytes(data[at + head - (4 if what == _SUMMARY else 2) : at + head], "little")
            text = data[at + head : at + head + length]
            if not head or at + head > len(data) or len(text) < length:
                # A whole recording ends with a summary.
                self._recording.problems.add("truncated", f"byte {at:,}")
                break
            if what == _SUMMARY:
                self._sections(text)
                break
            if what == _METHOD:
                self._name_method(text.decode("utf-8", "replace"))
            else:
                self._threads[struct.unpack_from("<H", data, at + 3)[0]] = text.decode("utf-8", "replace")
            at += head + length
        return np.concatenate([np.empty(0, np.int64), *found])

    def _records_from(self, data: Bytes, at: int, size: int) -> int:
        """Return how many records follow each other: up to an entry of thread 0, or to the end."""
        count, step = 0, 16
        while True:
            fit = min(step, (len(data) - at) // size - count)
            if fit <= 0:
                return count
            begin = at + count * size
            rows = data[begin : begin + fit * size].reshape(fit, size)
            other = np.flatnonzero((rows[:, 0] | rows[:, 1]) == 0)
            if len(other):
                return count + int(other[0])
            count += fit
            step = min(2 * step, _STEP)

    def _take(self, size: int, start_us: int) -> None:
        """Hand the records over as events."""
        rows = self._rows(size)
        thread_bytes = 1 if size == 9 else 2
        tid = _little(rows[:, :thread_bytes])
        method = _little(rows[:, thread_bytes : thread_bytes + 4])
        clock = thread_bytes + 4 + (4 if size == 14 else 0)
        time = (start_us + _little(rows[:, clock : clock + 4])) * _US
        action = method & 3
        unknown = action == 3
        if unknown.any():
            place = self.place(int(np.argmax(unknown)))
            self._recording.problems.add("malformed", place, int(unknown.sum()))
            keep = np.flatnonzero(~unknown)
            tid, method, time, action, self._at = (
                tid[keep],
                method[keep],
                time[keep],
                action[keep],
                self._at[keep],
            )
        if not len(tid):
            raise Unreadable(f"{self._path}: no method is entered or left in it")
        recording = self._recording
        keys, called = distinct(method & ~3)
        functions = np.array(
            [recording.function(self._methods.get(key, f"method 0x{key:x}")) for key in keys.tolist()],
            np.int64,
        )
        nameless = np.array([key not in self._methods for key in keys.tolist()])[called.reshape(-1)]
        if nameless.any():
            recording.problems.add(
                "unknown", f"{self.place(int(np.argmax(nameless)))}: its method", int(nameless.sum())
            )
        tids, of = distinct(tid)
        threads = []
        for number in tids.tolist():
            if name := self._threads.get(number):
                recording.name_thread(self._process, number, name)
            threads.append(recording.thread(self._process, number))
        recording.add_events(
            thread=np.array(threads, np.int64)[of.reshape(-1)],
            kind=np.where(action == _ENTER, BEGIN, END).astype(np.uint8),
            function=functions[called.reshape(-1)],
            time=time,
        )

    def _rows(self, size: int) -> Bytes:
        """Return the bytes of each record, uint8 (n, size)."""
        data = np.frombuffer(self._data, np.uint8)
        begin = self._at
        if len(begin) and int(begin[-1] - begin[0]) == size * (len(begin) - 1):
            return np.asarray(data[begin[0] : begin[-1] + size].reshape(-1, size))
        parts = np.flatnonzero(np.diff(begin, prepend=-1) != size)
        ends = np.append(parts[1:], len(begin))
        runs = [data[begin[low] : begin[high - 1] + size] for low, high in zip(parts.tolist(), ends.tolist())]
        joined: Bytes = np.concatenate([np.empty(0, np.uint8), *runs])
        return joined.reshape(-1, size)


def _little(columns: Bytes) -> NDArray[np.int64]:
    """Return numbers whose bytes stand in columns, the lowest first."""
    return np.ascontiguousarray(columns).view(f"<u{columns.shape[1]}")[:, 0].astype(np.int64)


FORMAT = registry.Format(
    name="art",
    title="Android method trace",
    suffixes=(".trace",),
    sniff=sniff,
    read=read,
    programs="Android's runtime: Android Studio's method traces, `am profile`, `Debug.startMethodTracing`",
    recipe=(
        "adb shell am profile start com.example.app /data/local/tmp/run.trace",
        "adb shell am profile stop com.example.app; adb pull /data/local/tmp/run.trace",
    ),
    left_out="the time that threads spend on a processor, where the wall clock is recorded too",
)
