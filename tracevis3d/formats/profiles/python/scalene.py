"""Scalene's profiles of Python programs: the JSON that ``scalene run`` and ``scalene --json`` write.

Source: https://github.com/plasma-umass/scalene, ``scalene_json.py``. With stacks each call path has its share
of the time; without them each line of each file has.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....progress import Progress
from ....trace.recording import Recording
from ... import registry
from ...text import utf8
from ..documents import add_function, fields_of, items_of, numbers_of, read_profile, text_of, whole_of
from ..samples import FrameTree, add_weighed

if TYPE_CHECKING:
    from ....trace.model import Trace

_NS = 10**9
#: No recording takes longer: 30 years, in seconds.
_LONGEST = 1e9
#: A frame of a stack: file, function and line.
_FRAME = re.compile(r"(?P<file>.*) (?P<name>\S+):(?P<line>\d{1,9});?")
#: The shares of a line, percent of the time.
_SHARES = ("n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent")


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that JSON is Scalene's.

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
    text = bytes(utf8(head)).lstrip()[:65536]
    if not text.startswith(b"{"):
        return registry.NO
    # Keys are sorted.
    is_one = re.match(rb'\{\s*"alloc_samples"\s*:', text) or (
        b'"elapsed_time_sec"' in text and re.search(rb'"n_cpu_percent_(?:python|c)"\s*:', text)
    )
    return registry.SURE if is_one else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a profile of Scalene's: each call path is one call, as long as its share of the time.

    Where it was recorded without stacks, the lines of each file stand for their functions.

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
        If it has no time.
    """
    return read_profile(path, _take, "Scalene profile", progress)


def _take(value: Any, recording: Recording) -> None:
    profile = fields_of(value)
    (seconds,) = numbers_of([profile.get("elapsed_time_sec")])
    if not 0 < seconds < _LONGEST:
        raise ValueError("it does not say how long the program ran")
    files = fields_of(profile.get("files"))
    tree = FrameTree(recording)
    stacks, shares, counts = _of_stacks(items_of(profile.get("stacks")), files, tree, recording)
    if not stacks:
        stacks, shares = _of_lines(files, tree, recording)
        counts = []
    if not stacks:
        raise ValueError("no line of it takes any time")
    thread = recording.thread(0, "main")
    weights = {"time (ns)": [round(_NS * float(seconds) * share) for share in shares]}
    if counts:
        weights["samples"] = counts
    add_weighed(recording, tree.columns(), np.full(len(stacks), thread), stacks, weights)


def _of_stacks(
    rows: list[Any], files: dict[str, Any], tree: FrameTree, recording: Recording
) -> tuple[list[int], list[float], list[int]]:
    """Return the innermost frame, the share of the time and the samples of each call path."""
    stacks: list[int] = []
    shares: list[float] = []
    counts: list[int] = []
    defined = {
        (file, name): line for file, said in files.items() for name, line in _functions(fields_of(said))
    }
    # Frames and stacks are few, rows are many.
    known: dict[str, tuple[int, int] | None] = {}
    placed: dict[tuple[tuple[int, int] | None, ...], int] = {}
    first_two = ((*items_of(row), None, None)[:2] for row in rows)
    said_of = [(items_of(frames), fields_of(said)) for frames, said in first_two]
    share_of = numbers_of([said.get("cpu_samples") for _, said in said_of]).tolist()
    for number, ((frames, said), share) in enumerate(zip(said_of, share_of, strict=True), 1):
        found = []
        for text in map(text_of, frames):
            if text not in known:
                known[text] = _frame(text, defined, recording)
            found.append(known[text])
        if not found or None in found or not 0 <= share <= 1:
            recording.problems.add("malformed", f"stack {number:,}")
            continue
        path = tuple(found)
        if path not in placed:
            good = [frame for frame in path if frame is not None]
            placed[path] = tree.stack([function for function, _ in good], [line for _, line in good])
        stacks.append(placed[path])
        shares.append(share)
        counts.append(max(whole_of(said.get("count")), 0))
    return stacks, shares, counts


def _frame(text: str, defined: dict[tuple[str, str], int], recording: Recording) -> tuple[int, int] | None:
    """Return function and line of a frame; None if it is none."""
    said = _FRAME.fullmatch(text)
    if said is None:
        return None
    file, name = said["file"], said["name"]
    return add_function(recording, name, file, defined.get((file, name), 0)), int(said["line"])


def _functions(file: dict[str, Any]) -> list[tuple[str, int]]:
    """Return name and first line of the functions of a file."""
    rows = [fields_of(row) for row in items_of(file.get("functions"))]
    return [(text_of(row.get("line")), whole_of(row.get("lineno"))) for row in rows]


def _of_lines(files: dict[str, Any], tree: FrameTree, recording: Recording) -> tuple[list[int], list[float]]:
    """Return the frame and the share of the time of each line that takes some."""
    stacks: list[int] = []
    shares: list[float] = []
    for file, said in files.items():
        functions = sorted((line, name) for name, line in _functions(fields_of(said)))
        for row in items_of(fields_of(said).get("lines")):
            of = fields_of(row)
            percent = numbers_of([of.get(key) for key in _SHARES])
            share = float(np.nan_to_num(percent).clip(0, 100).sum()) / 100
            line = whole_of(of.get("lineno"))
            if share <= 0:
                continue
            # The function whose first line is the last one above it; Scalene says no more.
            first, name = max(((f, n) for f, n in functions if f <= line), default=(0, "<module>"))
            function = add_function(recording, name, file, first)
            stacks.append(tree.frame(function, -1, line))
            shares.append(min(share, 1.0))
    return stacks, shares


FORMAT = registry.Format(
    name="scalene",
    title="Scalene profile",
    suffixes=(".scalene.json", ".json"),
    sniff=sniff,
    read=read,
    programs="Scalene",
    recipe=("scalene run --outfile run.scalene.json script.py",),
    left_out="memory, copied bytes and the GPU; which of the time is Python's and which is native",
)
