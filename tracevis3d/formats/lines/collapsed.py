"""Collapsed ("folded") stacks: one line per stack, ``root;caller;callee 12``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, Unreadable
from ...kernels.formats.scan import lines as s
from ...kernels.intern import InternedNames
from ...progress import Progress, part
from ...trace.events import too_long
from ...trace.model import Source
from ...trace.recording import Recording
from .. import names, registry
from ..profiles.documents import add_function
from ..profiles.samples import COUNTED, SAMPLE_NS, add_weighed, tree_of_stacks
from ..text import count, lines, read_text

if TYPE_CHECKING:
    from ...trace.model import RecordedId, Trace


_COUNTED = re.compile(rb".*\S[ \t]+\d+(?:\.\d*)?")
_TEXT = re.compile(rb"[^\x00-\x08\x0e-\x1a\x1c-\x1f]*")
#: Root frames that name a process and thread, by tool: perf's (``comm-pid/tid``, ``comm-pid``), py-spy's
#: (``thread (id): name``), async-profiler's (``[name tid=id]``) and that of Python 3.15 (``tid:id``).
_ROOTS = (
    re.compile(r"(?P<process_name>.+)-(?P<process>\d+|\?)/(?P<tid>\d+)"),
    re.compile(r"(?P<process_name>.+)-(?P<tid>\d+)"),
    re.compile(r"[Tt]hread \(?(?P<tid>\w+)\)?(?:: ?(?P<name>.*))?"),
    re.compile(r"\[(?P<name>.*) tid=(?P<tid>\d+)\]"),
    re.compile(r"tid:(?P<tid>\d+)"),
)
#: A frame of Python 3.15's: file, function and the line that ran.
_IN_FILE = re.compile(r"(?P<file>.+?):(?P<name>[^:]+):(?P<line>\d{1,9})")


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is collapsed stacks.

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
    found = [line for line in lines(head, len(head) >= registry.HEAD) if not _is_comment(line)][:200]
    if not found or (found[0][:1] in b"{[<" and b";" not in found[0]):
        return registry.NO
    if not all(_TEXT.fullmatch(line) for line in found):
        return registry.NO
    counted = sum(_COUNTED.fullmatch(line) is not None for line in found)
    parted = sum(b";" in line for line in found)
    if counted < 0.7 * len(found):
        # Without counts the name decides.
        is_named_so = name.endswith(FORMAT.suffixes) and parted > 0.7 * len(found)
        return registry.MAYBE if is_named_so else registry.NO
    if parted == 0:
        return registry.MAYBE if name.endswith(FORMAT.suffixes) else registry.NO
    return registry.LIKELY


def _is_comment(line: bytes) -> bool:
    return line.startswith(b"#") and _COUNTED.fullmatch(line) is None


def read(path: Path, progress: Progress) -> Trace:
    """Read collapsed stacks, each sample as :data:`SAMPLE_NS` nanoseconds.

    The format keeps neither order nor duration of what was sampled: each call path is one call, as long as
    its samples, the heaviest of a caller's first. UTF-8 and UTF-16 are read.

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
        If there is no stack in the file.
    """
    recording = Recording()
    problems = recording.problems
    text = read_text(path, problems, part(progress, 0, 0.4))
    progress(0.4, "reading lines")
    data: NDArray[np.uint8] = np.frombuffer(text.data, np.uint8)
    room = count(data, b"\n") + 1
    first = np.zeros(room + 1, np.int64)
    weight = np.empty(room, np.int64)
    frame = np.empty(room + count(data, b";"), np.int32)
    interned = InternedNames()
    state = np.zeros(s.STATE_SIZE, np.int64)
    state[s.LIMIT] = room
    while s.scan_collapsed(data, state, first, weight, frame, *interned.arrays) == s.NAMES_FULL:
        interned.grow(int(state[s.NAMES]))
    rows = int(state[s.ROWS])
    problems.add("malformed", f"line {state[s.MALFORMED_LINE]:,}", int(state[s.MALFORMED]))
    problems.add("no count", f"line {state[s.NO_COUNT_LINE]:,}", int(state[s.NO_COUNT]))
    if rows == 0:
        raise Unreadable(f"{path}: no line is a stack: lines look like 'main;parse;read 12'")
    weight = weight[:rows]
    if too_long(weight):
        raise InputError(
            f"{path}: the counts add up to {np.sum(weight, dtype=np.float64) / 1000:.3g}, which is more "
            "than a time axis can hold: divide them by a constant"
        )
    problems.add("no time unit", "the whole file", rows)
    texts = interned.texts(data, int(state[s.NAMES]))
    thread_of_root = _threads(recording, [texts[i] for i in _roots(frame, first, rows)])
    progress(0.7, "building calls")
    numbers = np.zeros(len(texts), np.int32)
    if thread_of_root is not None:
        numbers[_roots(frame, first, rows)] = thread_of_root
    else:
        recording.thread(0, 0)
    thread = numbers[frame[first[:rows]]]
    function, line = _functions(recording, texts)
    which = frame[: first[rows]]
    stack, frames = tree_of_stacks(first[: rows + 1], function[which], line[which])
    add_weighed(recording, frames, thread, stack, {COUNTED: weight // SAMPLE_NS}, laid=weight)
    trace = recording.finish(Source(), names.split)
    progress(1, "building calls")
    return trace


def _roots(frame: NDArray[np.int32], first: NDArray[np.int64], rows: int) -> list[int]:
    """Return the numbers of the root frames, ascending."""
    found: list[int] = np.flatnonzero(np.bincount(frame[first[:rows]])).tolist()
    return found


def _functions(recording: Recording, texts: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return function and line of each frame; Python 3.15 alone writes lines so, and ``tid:`` before them."""
    if not any(map(_ROOTS[-1].fullmatch, texts)):
        return np.asarray(recording.functions(texts), np.int32), np.zeros(len(texts), np.int32)
    function, line = np.zeros((2, len(texts)), np.int32)
    for row, text in enumerate(texts):
        said = _IN_FILE.fullmatch(text)
        name, file = (said["name"], said["file"]) if said else (text, "")
        function[row], line[row] = add_function(recording, name, file), int(said["line"]) if said else 0
    return function, line


def _threads(recording, roots: list[str]) -> list[int] | None:  # type: ignore[no-untyped-def]
    """Return the thread of each root frame if all of them name one, in the same way."""
    for pattern in _ROOTS:
        matches = [match for root in roots if (match := pattern.fullmatch(root))]
        if len(matches) == len(roots):
            return [_thread(recording, match.groupdict()) for match in matches]
    return None


def _thread(recording, said: dict[str, str | None]) -> int:  # type: ignore[no-untyped-def]
    process = _id(said.get("process") or "0")
    tid = _id(said["tid"] or "0")
    if process_name := said.get("process_name"):
        if "process" not in said:
            process = tid
        recording.name_process(process, process_name)
    if name := said.get("name"):
        recording.name_thread(process, tid, name)
    return recording.thread(process, tid)  # type: ignore[no-any-return]


def _id(text: str) -> RecordedId:
    return int(text) if text.isdecimal() and len(text) < 19 else text


FORMAT = registry.Format(
    name="collapsed",
    title="collapsed stacks",
    suffixes=(".collapsed", ".folded", ".collapsed.txt", ".txt"),
    sniff=sniff,
    read=read,
    programs="py-spy, Python's profiling.sampling, FlameGraph's scripts, async-profiler",
    recipe=(
        "py-spy record -f raw -o run.collapsed -- python script.py",
        "python3.15 -m profiling.sampling run -a --collapsed -o run.collapsed script.py",
        "perf script | stackcollapse-perf.pl > run.collapsed",
    ),
    left_out="the format has no times and no order",
)
