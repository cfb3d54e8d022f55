"""Austin's samples of Python programs: as text, and in its binary form MOJO.

Source: https://github.com/P403n1x87/austin, *Cheat sheet* and doc/MOJO.md. A sample lasts as long as it says;
the threads of a process are sampled one after another, once in each round.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ....progress import Progress, part
from ....trace.recording import Recording
from ... import registry
from ...text import read_text
from ...unpack import whole
from ..documents import add_function, finish
from ..samples import FrameTree, add_timed, add_weighed

if TYPE_CHECKING:
    from ....trace.model import RecordedId, Trace

_MAGIC = b"MOJ"
_SAMPLE = re.compile(
    r"P(?P<pid>\d+);T(?:(?P<interpreter>\w+):)?(?P<tid>\w+)(?P<frames>(?:;.*)?) "
    r"(?P<first>-?\d+)(?:,(?P<idle>[01]),(?P<memory>-?\d+))?"
)
_FRAME = re.compile(r"(?P<file>.*?):(?P<name>[^:]*):(?P<line>\d+)(?::\d+)*", re.DOTALL)
_LONGEST = 1 << 52
#: References to frames in a row, in the binary form.
_REFERENCES = re.compile(rb"(?:\x05[\x80-\xff]{0,10}[\x00-\x7f])+")

# Events of MOJO.
(_METADATA, _STACK, _FRAME_NEW, _INVALID, _REFERENCE, _KERNEL, _COLLECTOR, _IDLE, _TIME, _MEMORY, _STRING) = (
    range(1, 12)
)


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
    rows = [line for line in head.decode("utf-8", "replace").splitlines()[:20] if line and line[0] != "#"]
    good = sum(_SAMPLE.fullmatch(row) is not None for row in rows[:-1])
    return registry.SURE if good and good >= 0.8 * len(rows[:-1]) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read what Austin wrote.

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
        else:
            reader.read_mojo(bytes(whole(path, recording.problems)))
        reader.lay()

    return finish(path, take, recording, "recording of Austin's", progress)


class _Reader:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._tree = FrameTree(recording)
        self._mode = "wall"
        self._functions: dict[str, tuple[int, int]] = {}
        self._stacks: dict[str, int] = {}
        #: By the process and the bytes of a whole stack.
        self._runs: dict[tuple[int, bytes], int] = {}
        # Rounds of a process: its start time, its longest sample, and the threads seen.
        self._now: dict[RecordedId, int] = {}
        self._round: dict[RecordedId, tuple[int, set[RecordedId]]] = {}
        self._thread: list[int] = []
        self._stack: list[int] = []
        self._time: list[int] = []
        self._lasts: list[int] = []
        self._memory: list[int] = []

    # -- rows ----------------------------------------------------------------------------------

    def _add(self, process: RecordedId, tid: RecordedId, stack: int, lasts: int, memory: int) -> None:
        longest, seen = self._round.get(process, (0, set()))
        if tid in seen:
            self._now[process] = self._now.get(process, 0) + longest
            longest, seen = 0, set()
        seen.add(tid)
        self._round[process] = max(longest, lasts), seen
        self._thread.append(self._recording.thread(process, tid))
        self._stack.append(stack)
        self._time.append(self._now.get(process, 0))
        self._lasts.append(lasts)
        self._memory.append(memory)

    def _frame(self, file: str, name: str, line: int) -> tuple[int, int]:
        """Return function and line of a frame."""
        return add_function(self._recording, name, file), line

    def lay(self) -> None:
        """Add the samples and the calls that they make."""
        if not self._thread:
            raise ValueError("there is no sample")
        columns = self._tree.columns()
        if self._mode == "memory":
            self._recording.problems.add("no time unit", "the samples are bytes", len(self._thread))
            grown = {"allocated (bytes)": [max(size, 0) for size in self._memory]}
            add_weighed(self._recording, columns, self._thread, self._stack, grown)
            return
        end = [time + lasts for time, lasts in zip(self._time, self._lasts, strict=True)]
        kind = "cpu (ns)" if self._mode == "cpu" else "time (ns)"
        add_timed(
            self._recording, columns, self._thread, self._stack, self._time,
            end=end, kinds=[kind], weight=self._lasts,
        )  # fmt: skip

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

    def read_mojo(self, data: bytes) -> None:
        """Read samples from Austin's binary form."""
        try:
            _Mojo(data, self._recording, self._frame, self._flush, self._set_mode, self._runs).read()
        except (IndexError, ValueError):
            self._recording.problems.add("truncated", f"byte {len(data):,}")

    def _set_mode(self, mode: str) -> None:
        self._mode = mode

    def _flush(
        self,
        process: int,
        tid: RecordedId,
        frames: list[tuple[int, int]],
        lasts: int,
        memory: int,
        is_idle: bool,
        run: tuple[int, bytes] | None,
    ) -> None:
        if not 0 <= lasts < _LONGEST:
            self._recording.problems.add("bad time", f"sample {len(self._thread) + 1:,}")
            return
        stack = self._runs.get(run) if run else None
        if stack is None:
            stack = self._tree.stack([function for function, _ in frames], [line for _, line in frames])
            if run:
                self._runs[run] = stack
        self._add(process, tid, -1 if is_idle else stack, 1000 * lasts, memory)


class _Mojo:
    """Reads the events of Austin's binary form."""

    def __init__(self, data: bytes, recording: Recording, frame, flush, set_mode, runs) -> None:  # type: ignore[no-untyped-def]
        self._data, self._at = data, 3
        self._recording = recording
        self._frame, self._flush, self._set_mode = frame, flush, set_mode
        self._texts: dict[int, str] = {0: "", 1: "(unknown)"}
        self._frames: dict[tuple[int, int], tuple[int, int]] = {}
        #: Frames of references in a row; and of whole stacks the number, which is another's business.
        self._known: dict[tuple[int, bytes], list[tuple[int, int]]] = {}
        self._runs = runs

    def _number(self) -> int:
        """Read a number: six bits and a sign, then seven bits a byte."""
        byte = self._data[self._at]
        self._at += 1
        value, shift = byte & 0x3F, 6
        is_negative = bool(byte & 0x40)
        while byte & 0x80:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 70:
                raise ValueError
        return -value if is_negative else value

    def _text(self) -> str:
        end = self._data.index(b"\0", self._at)
        text = self._data[self._at : end].decode("utf-8", "replace")
        self._at = end + 1
        return text

    def _row(self, process: int, begin: int, stop: int) -> list[tuple[int, int]]:
        """Return the frames of references in a row; those that are unknown are counted."""
        found, self._at = [], begin
        is_known = True
        while self._at < stop:
            at = self._at
            self._at += 1
            frame = self._frames.get((process, self._number()))
            if frame is None:
                self._recording.problems.add("unknown", f"byte {at:,}: its frame")
                is_known = False
            else:
                found.append(frame)
        if is_known:
            self._known[process, self._data[begin:stop]] = found
        return found

    def read(self) -> None:
        """Read all events up to the end, or to one of an unknown kind."""
        version = self._number()
        process, tid = 0, 0
        frames: list[tuple[int, int]] = []
        lasts = memory = 0
        is_idle = is_open = False
        #: Of a stack that is nothing but one row of references.
        run: tuple[int, bytes] | None = None
        while self._at < len(self._data):
            begin = self._at
            event = self._data[self._at]
            self._at += 1
            if event in (_METADATA, _STACK) and is_open:
                self._flush(process, tid, frames, lasts, memory, is_idle, run)
                is_open = False
            if event == _METADATA:
                key, said = self._text(), self._text()
                if key == "mode":
                    self._set_mode(said)
            elif event == _STACK:
                process = self._number()
                if version >= 3:
                    self._number()  # the interpreter
                tid, frames = int(self._text(), 16), []
                lasts = memory = 0
                is_idle, is_open, run = False, True, None
            elif event == _FRAME_NEW:
                key_number = self._number()
                file, name = self._texts.get(self._number(), ""), self._texts.get(self._number(), "")
                line = self._number()
                if version >= 2:
                    for _ in range(3):  # where it ends, and columns
                        self._number()
                line = line if 0 < line < 1 << 31 else 0
                frame = self._frame(file, name, line)
                if self._frames.setdefault((process, key_number), frame) != frame:
                    self._frames[process, key_number] = frame
                    # The open stack has the frame as it was.
                    run = None
                    self._known.clear()
                    self._runs.clear()
            elif event == _REFERENCE and (row := _REFERENCES.match(self._data, begin)):
                which = process, row[0]
                self._at = row.end()
                some = self._known.get(which)
                if some is None:
                    some = self._row(process, begin, self._at)
                run = which if not frames and which in self._known else None
                frames = [*frames, *some] if frames else some
            elif event == _REFERENCE:
                raise ValueError
            elif event == _KERNEL:
                frames, run = [*frames, (self._recording.function(self._text()), 0)], None
            elif event == _INVALID:
                frames, run = [*frames, (self._recording.function("(invalid)"), 0)], None
            elif event == _COLLECTOR:
                frames, run = [*frames, (self._recording.function("(garbage collector)"), 0)], None
            elif event == _IDLE:
                is_idle = True
            elif event == _TIME:
                lasts = self._number()
            elif event == _MEMORY:
                memory = 1024 * self._number()
            elif event == _STRING:
                number = self._number()
                self._texts[number] = self._text()
            else:
                self._recording.problems.add("malformed", f"byte {begin:,}: the rest of the file")
                break
        if is_open:
            self._flush(process, tid, frames, lasts, memory, is_idle, run)


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
    ),
    left_out="columns within a line",
)
