"""What bpftrace prints of maps whose keys hold stacks, as text or JSON (``-f json``).

Source: https://github.com/bpftrace/bpftrace/blob/master/man/adoc/bpftrace.adoc, kstack and ustack.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...progress import Progress, part
from ...trace.events import too_long
from ...trace.recording import Recording
from .. import registry
from ..profiles.documents import fields_of, finish
from ..profiles.samples import COUNTED, SAMPLE_NS, add_weighed, tree_of_places
from ..text import read_text, utf8

if TYPE_CHECKING:
    from ...trace.model import Trace

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
        reader.take(bytes(text.data).decode("utf-8", "replace"))
        progress(0.7, "building calls")
        reader.lay()

    return finish(path, take, recording, "output of bpftrace", progress)


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        #: Line -> function, and text of the other keys -> thread.
        self._functions: dict[str, int] = {}
        self._threads: dict[str, int] = {}
        #: Name of a map -> its index.
        self._maps: dict[str, int] = {}
        self._flat: list[int] = []
        self._size: list[int] = []
        self._thread: list[int] = []
        self._map: list[int] = []
        self._weight: list[int] = []

    def take(self, text: str) -> None:
        """Take all maps of a text; what the program itself printed is passed over."""
        name, key = "", []
        is_open = False
        for number, line in enumerate(text.split("\n"), 1):
            if is_open:
                if line[:1] in (" ", "\t"):
                    key.append(line)
                    continue
                before, closed, value = line.rpartition("]: ")
                if not closed and line.endswith("]:"):
                    # A histogram of each stack.
                    self._recording.problems.add("unsupported", f"line {number:,}: a histogram")
                    is_open = False
                elif closed:
                    key.append(before)
                    frames = [row for row in key if row[:1] in (" ", "\t")]
                    others = [row for row in key if row[:1] not in (" ", "\t")]
                    self._add(name, frames, others, value, number)
                    is_open = False
                else:
                    key.append(line)
            elif line[:1] == "@":
                name, opened, rest = line.partition("[")
                key, is_open = [rest], bool(opened) and "]" not in rest
                if not is_open and ":" in line:
                    self._recording.problems.add("unsupported", f"line {number:,}: {name[:60]} has no stacks")
            elif line.startswith('{"type"'):
                self._take_json(line, number)
        if is_open:
            self._recording.problems.add("truncated", f"line {text.count(chr(10)) + 1:,}")

    def _take_json(self, line: str, number: int) -> None:
        import msgspec

        try:
            said = fields_of(msgspec.json.decode(line))
        except msgspec.DecodeError:
            self._recording.problems.add("malformed", f"line {number:,}")
            return
        if said.get("type") != "map":
            return
        for name, values in fields_of(said.get("data")).items():
            if not any("\n" in key for key in fields_of(values)):
                self._recording.problems.add("unsupported", f"line {number:,}: {name[:60]} has no stacks")
                continue
            for key, value in values.items():
                # Between the first and the last line all are frames, but what stands between two stacks.
                rows = key.split("\n")
                within = range(1, len(rows) - 1)
                frames = [rows[k] for k in within if not rows[k].startswith(",")]
                others = [rows[k] for k in within if rows[k].startswith(",")]
                self._add(name, frames, [rows[0], *others, *rows[1:][-1:]], str(value), number)

    def _add(self, name: str, frames: list[str], others: list[str], value: str, number: int) -> None:
        try:
            weight = int(value)
        except ValueError:
            weight = -1
        if not 0 <= weight < 1 << 62:
            self._recording.problems.add("bad value", f"line {number:,}")
            return
        known = self._functions
        for line in frames:
            function = known.get(line)
            self._flat.append(self._function(line) if function is None else function)
        self._size.append(len(frames))
        label = ", ".join(filter(None, (line.strip(", ") for line in others)))
        if label not in self._threads:
            self._threads[label] = self._recording.thread(0, label or 0)
        self._thread.append(self._threads[label])
        self._map.append(self._maps.setdefault(name, len(self._maps)))
        self._weight.append(weight)

    def _function(self, line: str) -> int:
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
        if not self._flat:
            raise ValueError("no map has a stack in its key")
        function = np.array(self._flat, np.int32)
        first = np.zeros(len(self._size) + 1, np.int64)
        np.cumsum(self._size, out=first[1:])
        itself = np.arange(len(function) + 1)
        stack, frames = tree_of_places(
            first, itself[:-1], itself, function, np.zeros(len(function), np.int32)
        )
        which, weight = np.array(self._map), np.array(self._weight, np.int64)
        kinds = {
            COUNTED if name == "@" else name: np.where(which == number, weight, 0)
            for name, number in self._maps.items()
        }
        if any(too_long(column) for column in kinds.values()):
            raise ValueError("the weights add up to more than a time axis can hold")
        self._recording.problems.add("no time unit", "the whole file", len(weight))
        scale = SAMPLE_NS if COUNTED in list(kinds)[:1] else 1
        add_weighed(self._recording, frames, self._thread, stack, kinds, scale=scale)


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
