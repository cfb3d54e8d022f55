"""heaptrack's recordings of native programs, as heaptrack itself writes them (interpreted, gzip or zstd)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, Unreadable
from ..kernels.formats import allocations_text as s
from ..progress import Progress, part
from ..trace.model import ALLOC, FREE, Source
from ..trace.recording import Recording
from . import names, registry, unpack
from .text import count, lines

if TYPE_CHECKING:
    from ..trace.model import Trace

Ints = NDArray[np.int64]

_MS = 1_000_000
#: Longer stamps (292 years) are not times, longer indices no indices.
_LATEST, _MOST = (1 << 62) // _MS, 1 << 31


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is heaptrack's.

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
    found = lines(head, len(head) >= registry.HEAD)[:3]
    words = found[0].split() if found else []
    if len(words) not in (2, 3) or words[0] != b"v" or _hexadecimal(words[1]) < 0:
        return registry.NO
    return registry.SURE if any(line[:2] in (b"X ", b"x ") for line in found[1:]) else registry.LIKELY


def read(path: Path, progress: Progress) -> Trace:
    """Read what heaptrack recorded: allocations and frees with their stacks, and the resident memory.

    The format keeps no addresses, no threads, and the time only every 10 ms; see ``Trace.problems``.

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
    Unreadable
        If it is heaptrack's raw data or of a version before 1.1, or there is no allocation in it.
    """
    recording = Recording()
    content = unpack.whole(path, recording.problems, part(progress, 0, 0.4))
    progress(0.4, "reading lines")
    data: NDArray[np.uint8] = np.frombuffer(content, np.uint8)
    room = count(data, b"\n") + 1
    kind, value = np.empty(room, np.uint8), np.empty(room, np.int64)
    other, line_of = np.empty(room, np.int64), np.empty(room, np.int64)
    state = np.zeros(s.STATE_SIZE, np.int64)
    trace_of, info_of = np.empty((2, room, 2), np.int64)
    s.scan_heaptrack(data, state, kind, value, other, line_of, trace_of, info_of)
    rows, others = int(state[s.ROWS]), int(state[s.OTHERS])
    recording.problems.add("malformed", f"line {state[s.MALFORMED_LINE]:,}", int(state[s.MALFORMED]))
    kind, value = kind[:rows], value[:rows]
    progress(0.6, "reading stacks")
    described = _Described(path, recording, content)
    for start, line in zip(other[:others].tolist(), line_of[:others].tolist(), strict=True):
        described.take(start, line)
    innermost = described.add_frames(trace_of[: state[s.TRACES]])
    size, caller = info_of[: state[s.INFOS]].T
    stack = np.where(caller > 0, np.append(innermost, -1)[caller - 1], -1)

    counts = kind <= s.MINUS
    known = ~counts | (value < len(size))
    lost = int(np.count_nonzero(~known))
    if lost:
        recording.problems.add("unknown", f"allocation or free {int(np.argmin(known)) + 1:,}", lost)
    kind, value, counts = kind[known], value[known], counts[known]
    if not np.count_nonzero(kind == s.PLUS):
        raise Unreadable(f"{path}: there is no allocation in this recording of heaptrack")
    is_stamp = kind == s.STAMP
    stamps = np.maximum.accumulate(np.minimum(value[is_stamp], _LATEST))
    time = _times(np.cumsum(counts)[is_stamp], stamps, int(counts.sum()))
    if (resident := np.flatnonzero(kind == s.RESIDENT)).size:
        # A size follows the stamp that it belongs to.
        when = np.concatenate([[0], stamps])[np.cumsum(is_stamp)[resident]] * _MS
        series = recording.series(0, "resident memory (bytes)")
        recording.add_counters(
            series=np.full(len(when), series), time=when, value=value[resident].astype(float) * described.page
        )
    kind, info = kind[counts], value[counts]
    address, unknown = np.empty(len(kind), np.int64), np.zeros(2, np.int64)
    s.name_blocks(
        kind, info, np.zeros(len(size), np.int64), np.empty(len(kind) + 1, np.int64), address, unknown
    )
    recording.problems.add("coarse times", f"after {int(stamps[0]) if len(stamps) else 0:,} ms", 1)
    recording.problems.add("no addresses", "the whole file", 1)
    thread = recording.thread(0, 0)
    recording.name_process(0, described.program)
    is_alloc = kind == s.PLUS
    recording.add_memory(
        thread=np.full(len(kind), thread),
        kind=np.where(is_alloc, ALLOC, FREE),
        time=time,
        address=address,
        size=np.where(is_alloc, size[info], 0),
        stack=np.where(is_alloc, stack[info], -1),
    )
    progress(0.9, "ordering")
    trace = recording.finish(Source(), names.split)
    progress(1, "ordering")
    return trace


def _times(position: Ints, stamp: Ints, events: int) -> Ints:
    """Return the time of each event in nanoseconds: evenly spread between the stamps around it.

    ``position`` says how many events come before each stamp (ms).
    """
    if not len(stamp):
        return np.arange(events, dtype=np.int64)
    place = np.concatenate([[0], position])
    when = np.concatenate([[0], stamp]).astype(np.float64) * _MS
    # Of several stamps without an event between them, the last one counts.
    keep = np.append(place[1:] != place[:-1], True)
    keep[0] = True
    return np.interp(np.arange(events) + 0.5, place[keep], when[keep]).astype(np.int64)


class _Described:
    """What lines say that the kernel leaves: strings, addresses, the program.

    Attributes
    ----------
    page : int
        Bytes.
    program : str
    """

    def __init__(self, path: Path, recording: Recording, data: memoryview | bytes) -> None:
        self._path = path
        self._recording = recording
        self._data = data
        self._version = 0
        self._strings: list[str] = []
        # For each address its frames from the outside in: (function, line).
        self._addresses: list[list[tuple[int, int]]] = []
        self.page = 4096
        self.program = ""

    def take(self, start: int, line: int) -> None:
        """Take the line that begins at byte ``start``."""
        stop = start
        while (end := stop + (1 << 12)) <= len(self._data) and b"\n" not in bytes(self._data[stop:end]):
            stop = end
        text = bytes(self._data[start:end]).split(b"\n", 1)[0].rstrip(b"\r")
        fine = True
        what, rest = text[:1], text[2:]
        if what == b"s":
            if self._version >= 3:
                rest = rest.partition(b" ")[2]
            self._strings.append(rest.decode("utf-8", "replace"))
        elif what == b"i":
            fine = self._take_address([_hexadecimal(word) for word in rest.split()])
        elif what == b"v":
            words = [_hexadecimal(word) for word in rest.split()]
            self._version = words[1] if len(words) > 1 else 0
            if self._version < 1:
                raise InputError(f"{self._path}: line {line}: written by heaptrack before 1.1: record again")
        elif what == b"x":
            raise InputError(
                f"{self._path}: line {line}: this is heaptrack's raw data: run 'heaptrack --interpret' on it"
            )
        elif what == b"X":
            self.program = rest.decode("utf-8", "replace")
        elif what == b"I":
            words = [_hexadecimal(word) for word in rest.split()]
            fine = bool(words) and 0 < words[0] < 1 << 40
            self.page = words[0] if fine else self.page
        elif what not in (b"A", b"S"):  # attached to a running program; suppressions of leaks
            fine = False
        if not fine:
            self._recording.problems.add("malformed", f"line {line:,}")

    def add_frames(self, traces: Ints) -> NDArray[np.int32]:
        """Give the recording the frames of all stacks; return the innermost one of each."""
        first = np.zeros(len(self._addresses) + 1, np.int64)
        np.cumsum([len(frames) for frames in self._addresses], out=first[1:])
        rows = [frame for frames in self._addresses for frame in frames]
        function, line = np.ascontiguousarray(np.array(rows, np.int32).reshape(-1, 2).T)
        places = traces[:, 0][traces[:, 0] > 0]
        out = np.empty((3, int((first[places] - first[places - 1]).sum())), np.int32)
        innermost = np.empty(len(traces), np.int32)
        s.chain_frames(traces, first, function, line, innermost, *out)
        self._recording.add_stacks(parent=out[0], function=out[1], line=out[2])
        return innermost

    def _take_address(self, words: list[int]) -> bool:
        """``i address module [function file line]...``: inlined functions, the innermost first."""
        frames: list[tuple[int, int]] = []
        module = self._string(words[1]) if len(words) > 1 else ""
        inside = (("module", module.rpartition("/")[2]),) if module else None
        for at in range(2, len(words), 3):
            # The last may be a function alone.
            name = self._string(words[at])
            file = self._string(words[at + 1]) if at + 1 < len(words) else ""
            line = words[at + 2] if at + 2 < len(words) else 0
            if name:
                known = self._recording.function(name, containers=inside, file=file or None)
                frames.append((known, line if 0 <= line < _MOST else 0))
        if not frames:
            address = words[0] if words else -1
            base = module.rpartition("/")[2] or "(unknown)"
            name = f"{base}+0x{address:x}" if address >= 0 else base
            frames.append((self._recording.function(name, label=base, containers=inside), 0))
        self._addresses.append(frames[::-1])
        return bool(words) and min(words) >= 0

    def _string(self, number: int) -> str:
        return self._strings[number - 1] if 0 < number <= len(self._strings) else ""


def _hexadecimal(word: bytes) -> int:
    """Return a hexadecimal number; -1 if it is none, or too large to be one here."""
    if not 0 < len(word) <= 16 or not word.isalnum():
        return -1
    try:
        return int(word, 16)
    except ValueError:
        return -1


FORMAT = registry.Format(
    name="heaptrack",
    title="heaptrack recording",
    suffixes=(".heaptrack", ".heap"),
    sniff=sniff,
    read=read,
    programs="`heaptrack`: allocations with their call stacks",
    recipe=("heaptrack ./program",),
)
