"""stackprof's profiles of Ruby programs: what ``StackProf.run`` returns, marshalled (``.dump``) or as JSON.

Source: https://github.com/tmm1/stackprof. With ``raw: true`` it has each sample's stack, and mostly its time.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.lay import samples as kernels
from ...progress import Progress
from ...trace.recording import Recording
from .. import registry
from ..distinct import distinct
from ..text import utf8
from ..unpack import problem_of, unpack_file
from .call_graph import lay_call_graph
from .documents import (
    add_function,
    fields_of,
    finish,
    items_of,
    numbers_of,
    read_json,
    text_of,
    whole_of,
    with_columns,
)
from .marshal import load_ruby
from .samples import COUNTED, SAMPLE_NS, add_timed, add_weighed, tree_of_stacks

if TYPE_CHECKING:
    from ...trace.model import Trace

_LONGEST = 1 << 60
#: What is sampled by each mode: objects are counted, times are in microseconds.
_TIMES = ("wall", "cpu")
#: Long lists of whole numbers.
_LISTS = ("raw", "raw_lines", "raw_sample_timestamps", "raw_timestamp_deltas")


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that a file is stackprof's.

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
    if head.startswith(b"\x04\x08{"):
        return registry.SURE if b":\x0cversion" in head[:40] and b"gc_samples" in head[:400] else registry.NO
    text = bytes(utf8(head)).lstrip()[:2048]
    if text.startswith(b"{") and b'"gc_samples"' in text and b'"missed_samples"' in text:
        return registry.SURE
    return registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a profile of stackprof's, marshalled or as JSON.

    With ``raw: true`` it has each sample's stack, with lines; in modes wall and cpu their times, too. Without
    it, it only says which function called which: call paths are estimated. In mode object samples count.

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
        If it holds no samples.
    """
    recording = Recording()
    unpacked = unpack_file(path)
    if bytes(unpacked.data[:2]) != b"\x04\x08":
        value = read_json(path, recording.problems, "stackprof profile", progress, _decode)
        return finish(path, lambda: _take(value, recording), recording, "stackprof profile", progress)
    if unpacked.damage:
        recording.problems.add(problem_of(unpacked.damage), unpacked.damage)

    def take() -> None:
        _take(load_ruby(bytes(unpacked.data)), recording)

    return finish(path, take, recording, "stackprof profile", progress)


def _decode(text: bytes | memoryview) -> Any:
    return with_columns(text, _LISTS)


def _take(value: Any, recording: Recording) -> None:
    profile = fields_of(value)
    functions: dict[int, int] = {}
    frames = {
        whole_of(_number(key), -1): fields_of(said) for key, said in fields_of(profile.get("frames")).items()
    }
    for number, said in frames.items():
        file, line = text_of(said.get("file")), whole_of(said.get("line"))
        name = text_of(said.get("name"), "(unnamed)")
        functions[number] = add_function(recording, name, file, line)
    if not functions:
        raise ValueError("it has no frames")
    thread = recording.thread(0, "main")
    raw = profile.get("raw")
    raw = raw if isinstance(raw, np.ndarray) else items_of(raw)
    if len(raw):
        _take_raw(profile, raw, functions, thread, recording)
    else:
        _take_sums(frames, functions, thread, recording)


def _number(key: Any) -> Any:
    return int(key) if isinstance(key, str) and key.isdecimal() and len(key) < 19 else key


def _take_raw(
    profile: dict[str, Any], raw: Any, functions: dict[int, int], thread: int, recording: Recording
) -> None:
    """Add samples: the size of a stack, its frames from the root on, and how often it was seen in a row."""
    column, lines = _wholes(raw, -1), np.zeros(len(raw), np.int64)
    said = _wholes(profile.get("raw_lines"), 0)[: len(raw)]
    lines[: len(said)] = np.where((said > 0) & (said < 1 << 31), said, 0)
    first, count = np.empty(len(raw) // 2 + 2, np.int64), np.empty(len(raw) // 2 + 1, np.int64)
    frame, line = np.empty((2, len(raw)), np.int64)
    size, at = kernels.cut_stacks(column, lines, first, count, frame, line)
    if at < len(raw):
        recording.problems.add("truncated", f"raw[{at}]")
    first, count = first[: size + 1], count[:size]
    frame, line = frame[: first[-1]], line[: first[-1]]
    numbers, which = distinct(frame)
    function = np.array([functions.get(number, -1) for number in numbers.tolist()], np.int64)[which]
    keep = function >= 0
    if not keep.all():
        unknown = int(frame[int(np.argmin(keep))])
        recording.problems.add("unknown", f"frame {unknown}", int((~keep).sum()))
        first = np.append(0, np.cumsum(keep))[first]
        function, line = function[keep], line[keep]
    stacks, frames = tree_of_stacks(first, function.astype(np.int32), line.astype(np.int32))
    stack = np.repeat(stacks.astype(np.int64), np.clip(count, 0, len(raw)))
    deltas = numbers_of(profile.get("raw_timestamp_deltas"))
    if text_of(profile.get("mode")) in _TIMES and len(deltas) >= len(stack) > 0:
        # A delta is the time since the previous sample.
        lasts = np.clip(np.nan_to_num(deltas[: len(stack)]), 0, _LONGEST / 1000 / len(stack))
        end = np.rint(1000 * np.cumsum(lasts)).astype(np.int64)
        start = np.append(0, end[:-1])
        add_timed(recording, frames, np.full(len(stack), thread), stack, start, end=end)
        return
    if not len(stack):
        raise ValueError("it has no samples")
    recording.problems.add("no time unit", "the whole file", len(stack))
    weights = {COUNTED: np.ones(len(stack), np.int64)}
    add_weighed(recording, frames, np.full(len(stack), thread), stack, weights, scale=SAMPLE_NS)


def _wholes(rows: Any, other: int) -> NDArray[np.int64]:
    """Return a list of whole numbers as a column; ``other`` for what is none."""
    if isinstance(rows, np.ndarray):
        return np.where(np.abs(rows) < 1 << 62, rows, other)
    rows = items_of(rows)
    if set(map(type, rows)) == {int} and max(rows) < 1 << 62 and min(rows) > -(1 << 62):
        return np.array(rows, np.int64)
    return np.array([whole_of(one, other) for one in rows], np.int64)


def _take_sums(
    frames: dict[int, dict[str, Any]], functions: dict[int, int], thread: int, recording: Recording
) -> None:
    """Add what frames have in sum, where samples were not kept."""
    own: dict[int, float] = {}
    edges: dict[tuple[int, int], float] = {}
    rows: list[tuple[int, int, int]] = []
    for number, said in frames.items():
        function = functions[number]
        count = max(whole_of(said.get("samples")), 0)
        own[function] = own.get(function, 0) + count
        for key, weight in fields_of(said.get("edges")).items():
            callee = functions.get(whole_of(_number(key), -1), -1)
            if callee >= 0:
                edges[function, callee] = edges.get((function, callee), 0) + max(whole_of(weight), 0)
        by_line = fields_of(said.get("lines"))
        counted = 0
        for key, weight in by_line.items():
            mine = whole_of(items_of(weight)[1]) if len(items_of(weight)) > 1 else 0
            line = whole_of(_number(key))
            if mine > 0:
                rows.append((function, line if 0 < line < 1 << 31 else 0, mine))
                counted += mine
        if count > counted:
            rows.append((function, 0, count - counted))
    if not rows:
        raise ValueError("it has no samples")
    first = recording.add_stacks(
        function=[row[0] for row in rows], parent=np.full(len(rows), -1), line=[row[1] for row in rows]
    )
    recording.add_samples(
        thread=np.full(len(rows), thread),
        kind=np.full(len(rows), recording.text("samples", COUNTED)),
        weight=[row[2] for row in rows],
        stack=first + np.arange(len(rows)),
    )
    recording.problems.add("no time unit", "the whole file", len(rows))
    lay_call_graph(recording, thread, own, edges, SAMPLE_NS)


FORMAT = registry.Format(
    name="stackprof",
    title="stackprof profile",
    suffixes=(".stackprof.json", ".dump", ".stackprof"),
    sniff=sniff,
    read=read,
    programs="Ruby's stackprof",
    recipe=(
        (
            "ruby -rstackprof -e 'StackProf.run(mode: :wall, raw: true, out: "
            '"run.stackprof.dump") { load "script.rb" }\''
        ),
        "# mode: :cpu for processor time, :object for objects; without raw: true only sums are kept",
        "# JSON: File.write('run.stackprof.json', JSON.dump(StackProf.run(mode: :wall, raw: true) { ... }))",
    ),
    left_out="tags and metadata; threads, which stackprof does not tell apart",
)
