"""Austin's samples of Python programs: as text, and in its binary form MOJO.

Source: https://github.com/P403n1x87/austin, *Cheat sheet* and doc/MOJO.md. A sample lasts as long as it says;
the threads of a process are sampled one after another, once in each round.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....kernels.formats.scan import mojo as kernels
from ....kernels.intern import InternedNames
from ....progress import Progress, part
from ....trace.recording import Recording
from ... import registry
from ...distinct import distinct
from ...text import is_binary, read_text
from ...unpack import whole
from ..documents import add_function, finish
from ..samples import FrameTree, add_timed, add_weighed, tree_of_stacks

if TYPE_CHECKING:
    from ....trace.model import RecordedId, Trace

_MAGIC = b"MOJ"
_SAMPLE = re.compile(
    r"P(?P<pid>\d+);T(?:(?P<interpreter>\w+):)?(?P<tid>\w+)(?P<frames>(?:;.*)?) "
    r"(?P<first>-?\d+)(?:,(?P<idle>[01]),(?P<memory>-?\d+))?"
)
_FRAME = re.compile(r"(?P<file>.*?):(?P<name>[^:]*):(?P<line>\d+)(?::\d+)*", re.DOTALL)
_LONGEST = 1 << 52
_COLLECTOR = "(garbage collector)"

Ints = NDArray[np.int64]


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are Austin's.

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
    if head.startswith(_MAGIC) and head[3:4] in (b"\1", b"\2", b"\3", b"\4"):
        return registry.SURE
    if head.startswith(b"# austin: "):
        return registry.SURE
    if is_binary(head):
        return registry.NO
    rows = [line for line in head.decode("utf-8", "replace").splitlines()[:20] if line and line[0] != "#"]
    good = sum(_SAMPLE.fullmatch(row) is not None for row in rows[:-1])
    return registry.SURE if good and good >= 0.8 * len(rows[:-1]) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read samples of all threads and processes; each lasts as long as Austin says.

    Idle samples (-f, MOJO) are gaps. With -s times are the processor's; with -m samples are bytes.

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
    InputError
        If there is no sample.
    """
    recording = Recording()
    reader = _Reader(recording)
    with open(path, "rb") as file:
        packed = file.read(3)
    is_text = packed != _MAGIC
    if is_text:
        text = read_text(path, recording.problems, part(progress, 0, 0.2), whole_lines=True)
        is_text = bytes(text.data[:3]) != _MAGIC
    progress(0.2, "reading samples")

    def take() -> None:
        if is_text:
            reader.read_text(bytes(text.data).decode("utf-8", "replace"))
            reader.lay()
        else:
            reader.read_mojo(whole(path, recording.problems))

    return finish(path, take, recording, "recording of Austin's", progress)


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._tree = FrameTree(recording)
        self._mode = "wall"
        self._functions: dict[str, tuple[int, int]] = {}
        self._stacks: dict[str, int] = {}
        self._processes: dict[RecordedId, int] = {}
        #: Of each sample: process, thread, innermost frame, nanoseconds, bytes.
        self._rows: list[tuple[int, int, int, int, int]] = []

    # -- rows ----------------------------------------------------------------------------------

    def _add(self, process: RecordedId, tid: RecordedId, stack: int, lasts: int, memory: int) -> None:
        number = self._processes.setdefault(process, len(self._processes))
        self._rows.append((number, self._recording.thread(process, tid), stack, lasts, memory))

    def _frame(self, file: str, name: str, line: int) -> tuple[int, int]:
        """Return function and line of a frame."""
        return add_function(self._recording, name, file), line

    def lay(self) -> None:
        """Add the samples of lines, and the calls that they make."""
        rows = np.array(self._rows, np.int64).reshape(-1, 5)
        self._lay(self._tree.columns(), *(np.ascontiguousarray(rows[:, column]) for column in range(5)))

    def _lay(
        self,
        frames: tuple[Any, Any, Any],
        process: Ints,
        thread: Ints,
        stack: Ints,
        lasts: Ints,
        memory: Ints,
    ) -> None:
        if not len(thread):
            raise ValueError("there is no sample")
        if self._mode == "memory":
            self._recording.problems.add("no time unit", "the samples are bytes", len(thread))
            add_weighed(self._recording, frames, thread, stack, {"allocated (bytes)": np.maximum(memory, 0)})
            return
        processes, threads = int(process.max()) + 1, int(thread.max()) + 1
        now, longest, seen = (
            np.zeros(processes, np.int64),
            np.zeros(processes, np.int64),
            np.zeros(threads, np.int64),
        )
        time = np.empty(len(thread), np.int64)
        kernels.lay_rounds(process, thread, lasts, now, longest, np.ones(processes, np.int64), seen, time)
        kind = "cpu (ns)" if self._mode == "cpu" else "time (ns)"
        add_timed(self._recording, frames, thread, stack, time, end=time + lasts, kinds=[kind], weight=lasts)

    # -- text ----------------------------------------------------------------------------------

    def read_text(self, text: str) -> None:
        """Read samples from lines."""
        for number, line in enumerate(text.split("\n"), 1):
            if line.startswith("#"):
                key, _, mode = line[1:].partition(":")
                if key.strip() == "mode":
                    self._mode = mode.strip()
                continue
            said = _SAMPLE.fullmatch(line)
            if said is None:
                if line.strip():
                    self._recording.problems.add("malformed", f"line {number:,}")
                continue
            first, memory = int(said["first"]), int(said["memory"] or 0)
            if self._mode == "memory" and said["memory"] is None:
                first, memory = 0, 1024 * first
            if not 0 <= first < _LONGEST or abs(memory) > _LONGEST:
                self._recording.problems.add("bad time", f"line {number:,}")
                continue
            stack = self._stacks.get(said["frames"])
            if stack is None:
                stack = self._stacks[said["frames"]] = self._stack_of(said["frames"])
            # Idle threads are sampled too; only with -f does Austin say so.
            stack = -1 if said["idle"] == "1" else stack
            tid = int(said["tid"]) if said["tid"].isdecimal() else said["tid"]
            self._add(int(said["pid"]), tid, stack, 1000 * first, memory)

    def _stack_of(self, frames: str) -> int:
        found: list[tuple[int, int]] = []
        for text in frames.split(";")[1:]:
            known = self._functions.get(text)
            if known is None:
                said = _FRAME.fullmatch(text)
                if said:
                    known = self._frame(said["file"], said["name"], min(int(said["line"]), (1 << 31) - 1))
                else:
                    known = self._recording.function(text or "(unnamed)"), 0
                self._functions[text] = known
            found.append(known)
        return self._tree.stack([function for function, _ in found], [line for _, line in found])

    # -- MOJO ----------------------------------------------------------------------------------

    def read_mojo(self, data: memoryview) -> None:
        """Add the samples of Austin's binary form, and the calls that they make."""
        problems = self._recording.problems
        column = np.frombuffer(data.toreadonly(), np.uint8)
        try:
            version, start = _number(data, len(_MAGIC))
        except IndexError:
            raise ValueError("there is no sample") from None
        state = np.zeros(kernels.STATE_SIZE, np.int64)
        none = np.empty((0, 2), np.int64), np.empty((0, 2), np.int64), np.empty(0, np.int32)
        samples = np.empty((0, kernels.SAMPLE_COLUMNS), np.int64)
        kernels.scan_mojo(column, start, version, True, state, samples, np.empty(0, np.int64), *none)
        # One that is cut was counted before.
        many = int(state[kernels.SAMPLES]) + 1
        samples = np.empty((many, kernels.SAMPLE_COLUMNS), np.int64)
        references = np.empty(int(state[kernels.REFERENCES]) + 1, np.int64)
        definitions, frames = np.empty((2, int(state[kernels.DEFINITIONS]) + 1, 2), np.int64)
        table = np.full(1 << (2 * len(frames) + 2).bit_length(), -1, np.int32)
        state[:] = 0
        kernels.scan_mojo(
            column, start, version, False, state, samples, references, definitions, frames, table
        )
        samples = samples[: state[kernels.SAMPLES]]
        references = references[: state[kernels.REFERENCES]]
        if state[kernels.HOW] == kernels.CUT:
            problems.add("truncated", f"byte {len(data):,}")
        elif state[kernels.HOW] == kernels.ODD:
            problems.add("malformed", f"byte {state[kernels.AT]:,}: the rest of the file")
        first_lost = f"byte {state[kernels.FIRST_UNKNOWN]:,}: its frame"
        problems.add("unknown", first_lost, int(state[kernels.UNKNOWN]))
        function, line = self._defined(data, definitions[: state[kernels.DEFINITIONS]])
        first = np.append(samples[:, kernels.FIRST], len(references))
        function, line, references, first = self._special(column, function, line, references, first)
        stack, columns = tree_of_stacks(first, function[references], line[references])
        lasts = samples[:, kernels.LASTS]
        good = (lasts >= 0) & (lasts < _LONGEST) & (np.abs(samples[:, kernels.SIZE]) < _LONGEST)
        problems.add(
            "bad time", f"sample {int(np.argmin(good)) + 1 if len(good) else 0:,}", int((~good).sum())
        )
        samples, stack = samples[good], stack[good]
        process, thread = self._who(samples[:, kernels.PROCESS], samples[:, kernels.THREAD])
        busy = np.where(samples[:, kernels.IS_IDLE] > 0, -1, stack.astype(np.int64))
        self._lay(
            columns, process, thread, busy, 1000 * samples[:, kernels.LASTS], 1024 * samples[:, kernels.SIZE]
        )

    def _defined(self, data: memoryview, rows: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Take what is defined: each frame and text once. Returns function and line of each frame."""
        texts: dict[int, str] = {0: "", 1: "(unknown)"}
        found: list[tuple[int, int]] = []
        for event, at in rows.tolist():
            if event == kernels.METADATA:
                key, at = _text(data, at)
                if key == "mode":
                    self._mode = _text(data, at)[0]
                continue
            number, at = _number(data, at)
            if event == kernels.STRING:
                texts[number] = _text(data, at)[0]
                continue
            file, at = _number(data, at)
            name, at = _number(data, at)
            line, _ = _number(data, at)
            found.append(
                self._frame(texts.get(file, ""), texts.get(name, ""), line if 0 < line < 1 << 31 else 0)
            )
        columns = np.array(found, np.int32).reshape(-1, 2)
        return np.ascontiguousarray(columns[:, 0]), np.ascontiguousarray(columns[:, 1])

    def _special(
        self,
        data: NDArray[np.uint8],
        function: NDArray[np.int32],
        line: NDArray[np.int32],
        references: Ints,
        first: Ints,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], Ints, Ints]:
        """Give frames that are defined nowhere numbers too, and leave out those that are not known."""
        if not (references < 0).any():
            return function, line, references, first
        more: list[int] = []
        for special, name in ((kernels.NOT_VALID, "(invalid)"), (kernels.IN_COLLECTOR, _COLLECTOR)):
            if (references == special).any():
                references = np.where(references == special, len(function) + len(more), references)
                more.append(self._recording.function(name))
        at = kernels.NAMED - references[references <= kernels.NAMED]
        if len(at):
            zeros = np.flatnonzero(data == 0)
            known = InternedNames()
            number, count = known.all_of(data, at, zeros[np.searchsorted(zeros, at)])
            references = references.copy()
            references[references <= kernels.NAMED] = len(function) + len(more) + number
            text = data.data
            more += [
                self._recording.function(_text(text, begin)[0]) for begin in known.starts[:count].tolist()
            ]
        keep = references >= 0
        first = np.append(0, np.cumsum(keep))[first]
        function = np.append(function, np.array(more, np.int32))
        return function, np.append(line, np.zeros(len(more), np.int32)), references[keep], first

    def _who(self, process: Ints, tid: Ints) -> tuple[Ints, Ints]:
        """Return the number of each sample's process, and its thread's in the recording."""
        processes, one = distinct(process)
        tids, other = distinct(tid)
        pairs, which = distinct(one * len(tids) + other)
        first = np.empty(len(pairs), np.int64)
        first[which[::-1]] = np.arange(len(which))[::-1]
        numbers = np.empty(len(pairs), np.int64)
        for place in np.argsort(first).tolist():
            row, column = divmod(int(pairs[place]), len(tids))
            numbers[place] = self._recording.thread(int(processes[row]), int(tids[column]))
        return one, numbers[which]


def _number(data: memoryview, at: int) -> tuple[int, int]:
    """Return a number (six bits and a sign, then seven bits a byte) and what follows it."""
    byte = data[at]
    at += 1
    value, shift, is_minus = byte & 0x3F, 6, bool(byte & 0x40)
    while byte & 0x80:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
    return -value if is_minus else value, at


def _text(data: memoryview, at: int) -> tuple[str, int]:
    """Return a text that a zero ends, and what follows it."""
    end = at
    while data[end]:
        end += 1
    return str(data[at:end], "utf-8", "replace"), end + 1


FORMAT = registry.Format(
    name="austin",
    title="Austin samples",
    suffixes=(".austin", ".mojo"),
    sniff=sniff,
    read=read,
    programs="Austin, as text or MOJO",
    recipe=(
        "austin -i 1ms -o run.austin python3 script.py",
        "austin -b -i 1ms -o run.mojo python3 script.py",
        "austin -C -i 1ms -o run.austin -p PID",
        "# -C: its child processes too; -g: the garbage collector; -m: memory",
    ),
    left_out="columns within a line, and the bytes that -f records besides times",
)
