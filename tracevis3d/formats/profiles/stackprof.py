"""stackprof's profiles of Ruby programs: what ``StackProf.run`` returns, marshalled (``.dump``) or as JSON.

Source: https://github.com/tmm1/stackprof. With ``raw: true`` it has each sample's stack, and mostly its time.
"""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...progress import Progress
from ...trace.recording import Recording
from .. import registry
from ..text import utf8
from ..unpack import problem_of, unpack_file
from .call_graph import lay_call_graph
from .documents import add_function, fields_of, finish, items_of, numbers_of, read_json, text_of, whole_of
from .marshal import load_ruby
from .samples import COUNTED, SAMPLE_NS, FrameTree, add_timed, add_weighed

if TYPE_CHECKING:
    from ...trace.model import Trace

_LONGEST = 1 << 60
#: What is sampled by each mode: objects are counted, times are in microseconds.
_TIMES = ("wall", "cpu")


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
    """Read a profile of stackprof's.

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
        value = read_json(path, recording.problems, "stackprof profile", progress)
        return finish(path, lambda: _take(value, recording), recording, "stackprof profile", progress)
    if unpacked.damage:
        recording.problems.add(problem_of(unpacked.damage), unpacked.damage)

    def take() -> None:
        _take(load_ruby(bytes(unpacked.data)), recording)

    return finish(path, take, recording, "stackprof profile", progress)


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
    raw = items_of(profile.get("raw"))
    if raw:
        _take_raw(profile, raw, functions, thread, recording)
    else:
        _take_sums(frames, functions, thread, recording)


def _number(key: Any) -> Any:
    return int(key) if isinstance(key, str) and key.isdecimal() and len(key) < 19 else key


def _take_raw(
    profile: dict[str, Any], raw: list[Any], functions: dict[int, int], thread: int, recording: Recording
) -> None:
    """Add samples: the size of a stack, its frames from the root on, and how often it was seen in a row."""
    tree = FrameTree(recording)
    raw, lines = _wholes(raw, -1), _wholes(items_of(profile.get("raw_lines")), 0)
    #: Frames and lines of a stack -> its innermost frame: stacks are few, samples many.
    known: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    unknown: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    stacks: list[int] = []
    counts: list[int] = []
    at = 0
    while at < len(raw):
        size = raw[at]
        if size < 0 or at + size + 1 >= len(raw):
            recording.problems.add("truncated", f"raw[{at}]")
            break
        key = tuple(raw[at + 1 : at + 1 + size]), tuple(lines[at + 1 : at + 1 + size])
        if key not in known:
            frame = -1
            for number, line in zip_longest(key[0], key[1], fillvalue=0):
                if number in functions:
                    frame = tree.frame(functions[number], frame, line)
            known[key] = frame
            lost = [number for number in key[0] if number not in functions]
            if lost:
                unknown[key] = lost
        if key in unknown:
            recording.problems.add("unknown", f"frame {unknown[key][0]}", len(unknown[key]))
        stacks.append(known[key])
        counts.append(min(max(raw[at + 1 + size], 0), len(raw)))
        at += size + 2
    stack = np.repeat(np.array(stacks, np.int64), counts)
    deltas = numbers_of(profile.get("raw_timestamp_deltas"))
    if text_of(profile.get("mode")) in _TIMES and len(deltas) >= len(stack) > 0:
        # A delta is the time since the previous sample.
        lasts = np.clip(np.nan_to_num(deltas[: len(stack)]), 0, _LONGEST / 1000 / len(stack))
        end = np.rint(1000 * np.cumsum(lasts)).astype(np.int64)
        start = np.append(0, end[:-1])
        add_timed(recording, tree.columns(), np.full(len(stack), thread), stack, start, end=end)
        return
    if not len(stack):
        raise ValueError("it has no samples")
    recording.problems.add("no time unit", "the whole file", len(stack))
    weights = {COUNTED: np.ones(len(stack), np.int64)}
    add_weighed(recording, tree.columns(), np.full(len(stack), thread), stack, weights, scale=SAMPLE_NS)


def _wholes(rows: list[Any], other: int) -> list[int]:
    """Return a list of whole numbers; ``other`` for what is none."""
    if set(map(type, rows)) == {int} and max(rows) < 1 << 62 and min(rows) > -(1 << 62):
        return rows
    return [whole_of(one, other) for one in rows]


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
    ),
    left_out="tags and metadata",
)
