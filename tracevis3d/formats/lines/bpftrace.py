"""What bpftrace prints of maps whose keys hold stacks, as text or JSON (``-f json``).

Source: https://github.com/bpftrace/bpftrace/blob/master/man/adoc/bpftrace.adoc, kstack and ustack.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...kernels.formats.scan import bpftrace as k
from ...kernels.intern import InternedNames
from ...progress import Progress, part
from ...trace.events import too_long
from ...trace.recording import Recording
from .. import registry
from ..distinct import numbered
from ..profiles.documents import fields_of, finish
from ..profiles.samples import COUNTED, SAMPLE_NS, add_weighed, tree_of_places
from ..text import read_text, utf8

if TYPE_CHECKING:
    from ...trace.model import Trace

Ints = NDArray[np.int64]

#: An entry whose key holds a stack, or a map in JSON, at the beginning of a line.
_MAP = re.compile(rb'^(?:@\w*\[(?:, ?)?\r?\n[ \t,]|\{"type": ?"map", ?"data": ?\{"@)', re.MULTILINE)
#: A frame is ``symbol+7``, an address, or perf's ``address symbol+7 (library)``; the kernel has no library.
#: The JSON of version 0.27 leaves out perf's blanks: then addresses are as long as they mostly are.
_PERF = re.compile(
    r"\t(?:[0-9a-f]+ |[0-9a-f]+(?=0x[0-9a-f]+\()"
    r"|(?:[0-9a-f]{16}|[0-9a-f]{12}|[0-9a-f]{6}|[0-9a-f]{7,11}?)(?=\D))"
    r"(?P<symbol>.+?)(?: ?\((?P<library>[^()]*(?: \(deleted\))?)\))?"
)
_OFFSET = re.compile(r"\+(0x)?[0-9a-f]+$")
_UNNAMED = "[unknown]"
#: Weights are below this.
_MOST = 1 << 62
#: Bytes for each row that a table of the scanner has room for at first, and rows that it has at least.
_BYTES, _ROOM = (64, 24, 64, 1 << 16), 1024
_COLUMNS = k.ENTRY_COLUMNS, 2, 2, k.DOCUMENT_COLUMNS
#: Columns of an entry with its first rows of other tables, and where the state counts those.
_ROWS = (k.FRAME, k.FRAMES), (k.PART, k.PARTS)
#: Keys with more parts are put together one by one.
_FEW = 8


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is bpftrace's.

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
    return registry.SURE if _MAP.search(bytes(utf8(head))) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read stacks and what is counted for each: every call path is one call, as long as that.

    The first map with stacks makes the calls, other maps are further weights. The other parts of a key, such
    as comm and tid, name a thread. Where a key has several stacks, the inner one is the first: ``@[kstack,
    ustack]``.

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
        If there is no stack.
    """
    recording = Recording()
    text = read_text(path, recording.problems, part(progress, 0, 0.3), whole_lines=True)
    reader = _Reader(recording)

    def take() -> None:
        # Always read-only, like a mapped file: kernels are compiled for one type.
        reader.take(np.frombuffer(memoryview(text.data or b"\n").toreadonly(), np.uint8))
        progress(0.7, "building calls")
        reader.lay()

    return finish(path, take, recording, "output of bpftrace", progress)


class _Entries(NamedTuple):
    """Entries of maps: frames of all, and of each how many there are, its thread, its map, its weight."""

    function: ArrayLike
    size: ArrayLike
    thread: ArrayLike
    map: ArrayLike
    weight: ArrayLike


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        #: Line -> function, and text of the other keys -> thread.
        self._functions: dict[str, int] = {}
        self._threads: dict[str, int] = {}
        #: Name of a map -> its index.
        self._maps: dict[str, int] = {}
        self._entries: list[_Entries] = []

    def take(self, data: NDArray[np.uint8]) -> None:
        """Take all maps of a text; what the program itself printed is passed over."""
        state, (entries, frames, parts, documents) = _scanned(data)
        problems = self._recording.problems
        if many := int(state[k.UNSUPPORTED]):
            low, high = state[[k.UNSUPPORTED_LOW, k.UNSUPPORTED_HIGH]].tolist()
            name = bytes(data[low:high]).decode("utf-8", "replace")
            what = "a histogram" if state[k.IS_HISTOGRAM] else f"{name[:60]} has no stacks"
            problems.add("unsupported", f"line {state[k.UNSUPPORTED_LINE]:,}: {what}", many)
        number, names = _interned(data, frames)
        function = np.array([self._function(name) for name in names], np.int32)[number]
        frame, part_of = (np.append(entries[:, which], state[of]) for which, of in _ROWS)
        label, labels = _labels(part_of, *_interned(data, parts))
        begin = 0
        for low, high, line, before in [*documents.tolist(), (0, 0, 0, len(entries))]:
            rows = slice(begin, before)
            inside = frame[begin : before + 1]
            self._add(
                data, entries[rows], function[inside[0] : inside[-1]], np.diff(inside), label[rows], labels
            )
            if line:
                self._take_json(bytes(data[low:high]).decode("utf-8", "replace"), line)
            begin = before
        if state[k.IS_CUT]:
            problems.add("truncated", f"line {state[k.LINES]:,}")

    def _add(
        self, data: NDArray[np.uint8], entries: Ints, function: NDArray[np.int32], size: Ints,
        label: Ints, labels: list[str],
    ) -> None:  # fmt: skip
        """Add entries that were scanned; ``label`` is the index of each one's label."""
        weight = entries[:, k.WEIGHT].copy()
        for row in np.flatnonzero(weight < 0).tolist():
            weight[row] = _weight(
                bytes(data[slice(*entries[row, [k.VALUE, k.VALUE_END]])]).decode("utf-8", "replace")
            )
        keep = weight >= 0
        if not keep.all():
            bad = entries[np.flatnonzero(~keep), k.LINE]
            self._recording.problems.add("bad value", f"line {bad[0]:,}", len(bad))
            function, size, weight = function[np.repeat(keep, size)], size[keep], weight[keep]
            entries, label = entries[keep], label[keep]
        number, names = _interned(data, entries[:, [k.NAME, k.NAME_END]])
        maps = np.array([self._map(name) for name in names], np.int64)
        used, which = numbered(label)
        threads = np.array([self._thread(labels[one]) for one in used.tolist()], np.int32)
        self._entries.append(_Entries(function, size, threads[which], maps[number], weight))

    def _take_json(self, line: str, number: int) -> None:
        import msgspec

        try:
            said = fields_of(msgspec.json.decode(line))
        except msgspec.DecodeError:
            self._recording.problems.add("malformed", f"line {number:,}")
            return
        if said.get("type") != "map":
            return
        flat: list[int] = []
        rows: list[tuple[int, int, int, int]] = []
        for name, values in fields_of(said.get("data")).items():
            if not any("\n" in key for key in fields_of(values)):
                self._recording.problems.add("unsupported", f"line {number:,}: {name[:60]} has no stacks")
                continue
            for key, value in values.items():
                weight = _weight(str(value))
                if weight < 0:
                    self._recording.problems.add("bad value", f"line {number:,}")
                    continue
                # Between the first and the last line all are frames, but what stands between two stacks.
                first, *within, last = key.split("\n") if "\n" in key else (key, "")
                frames = [row for row in within if not row.startswith(",")]
                others = [first, *(row for row in within if row.startswith(",")), last]
                flat += [self._function(frame) for frame in frames]
                label = ", ".join(filter(None, (row.strip(", ") for row in others)))
                rows.append((len(frames), self._thread(label), self._map(name), weight))
        self._entries.append(_Entries(np.array(flat, np.int32), *np.array(rows, np.int64).reshape(-1, 4).T))

    def _map(self, name: str) -> int:
        return self._maps.setdefault(name, len(self._maps))

    def _thread(self, label: str) -> int:
        if label not in self._threads:
            self._threads[label] = self._recording.thread(0, label or 0)
        return self._threads[label]

    def _function(self, line: str) -> int:
        """Return the function of a frame."""
        if line in self._functions:
            return self._functions[line]
        said, inside = line.strip(), None
        if perf := _PERF.fullmatch(line):
            said, library = perf["symbol"], perf["library"]
            if library and library != _UNNAMED:
                inside = (("module", library.rpartition("/")[2]),)
        name = _OFFSET.sub("", said) or _UNNAMED
        self._functions[line] = found = self._recording.function(name, containers=inside)
        return found

    def lay(self) -> None:
        """Add samples and the calls that they make."""
        columns = zip(*self._entries) if self._entries else [[[]]] * 5
        function, size, thread, which, weight = (
            np.concatenate(column).astype(np.int64) for column in columns
        )
        if not len(function):
            raise ValueError("no map has a stack in its key")
        function = function.astype(np.int32)
        first = np.zeros(len(size) + 1, np.int64)
        np.cumsum(size, out=first[1:])
        itself = np.arange(len(function) + 1)
        stack, frames = tree_of_places(
            first, itself[:-1], itself, function, np.zeros(len(function), np.int32)
        )
        kinds = {
            COUNTED if name == "@" else name: np.where(which == number, weight, 0)
            for name, number in self._maps.items()
        }
        if any(too_long(column) for column in kinds.values()):
            raise ValueError("the weights add up to more than a time axis can hold")
        self._recording.problems.add("no time unit", "the whole file", len(weight))
        scale = SAMPLE_NS if COUNTED in list(kinds)[:1] else 1
        add_weighed(self._recording, frames, thread, stack, kinds, scale=scale)


def _weight(text: str) -> int:
    """Return what a value says; -1 if it is none that can be shown."""
    try:
        weight = int(text)
    except ValueError:
        return -1
    return weight if 0 <= weight < _MOST else -1


def _scanned(data: NDArray[np.uint8]) -> tuple[Ints, list[Ints]]:
    """Return what :func:`.bpftrace.scan_maps` fills: its state, and its tables."""
    room = [len(data) // one + _ROOM for one in _BYTES]
    while True:
        state = np.zeros(k.STATE_SIZE, np.int64)
        tables = [np.empty((rows, columns), np.int64) for rows, columns in zip(room, _COLUMNS, strict=True)]
        k.scan_maps(data, k.JSON, state, *tables)
        counts = state[: len(tables)].tolist()
        if all(count <= rows for count, rows in zip(counts, room, strict=True)):
            return state, [table[:count] for table, count in zip(tables, counts, strict=True)]
        room = [max(count, rows) for count, rows in zip(counts, room, strict=True)]


def _interned(data: NDArray[np.uint8], places: Ints) -> tuple[Ints, list[str]]:
    """Return the number of each text, and the texts; they begin and end at ``places``."""
    names = InternedNames()
    low, high = (np.ascontiguousarray(column) for column in places.T)
    number, count = names.all_of(data, low, high)
    return number, names.texts(data, count)


def _labels(first: Ints, number: Ints, texts: list[str]) -> tuple[Ints, list[str]]:
    """Return the label of each entry as an index, and the labels.

    An entry has the parts from its ``first`` to that of the next one; ``number`` is the text of each part.
    """
    size = np.diff(first)
    labels, label = ["", *texts], np.zeros(len(size), np.int64)
    some = np.flatnonzero(size)
    label[some] = 1 + number[first[some]]
    for at in range(1, min(int(size.max(initial=0)), _FEW)):
        some = np.flatnonzero((size > at) & (size <= _FEW))
        keys, which = numbered(label[some] * len(texts) + number[first[some] + at])
        label[some] = len(labels) + which
        pairs = (divmod(key, len(texts)) for key in keys.tolist())
        labels += [f"{labels[before]}, {texts[then]}" for before, then in pairs]
    for row in np.flatnonzero(size > _FEW).tolist():
        label[row] = len(labels)
        labels.append(", ".join(texts[one] for one in number[first[row] : first[row + 1]].tolist()))
    return label, labels


FORMAT = registry.Format(
    name="bpftrace",
    title="bpftrace stacks",
    suffixes=(".bpftrace", ".bpftrace.txt", ".txt"),
    sniff=sniff,
    read=read,
    programs="`bpftrace`, as text or with `-f json`",
    recipe=(
        "bpftrace -e 'profile:hz:99 { @[kstack, ustack, comm] = count(); }' > run.bpftrace",
        "bpftrace -f json -e 't:sched:sched_switch { @[kstack, comm, tid] = count(); }' > run.bpftrace",
    ),
    left_out="maps without stacks, and histograms: they are counted",
)
