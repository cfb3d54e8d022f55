"""pyinstrument's profiles of Python programs: its sessions (``-r session``) and its JSON (``-r json``).

Source: https://pyinstrument.readthedocs.io. Sessions have the samples in order, JSON the times of call paths.
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
from ..documents import (
    add_function,
    fields_of,
    items_of,
    numbers_of,
    read_profile,
    text_of,
    whole_of,
)
from ..samples import FrameTree, add_timed, add_weighed

if TYPE_CHECKING:
    from ....trace.model import Trace

_NS = 10**9
_LONGEST = 1 << 60
#: Frames that pyinstrument adds for self time.
_OWN = frozenset(("[self]",))


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that JSON is pyinstrument's.

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
    text = bytes(utf8(head)).lstrip()[:4096]
    if not text.startswith(b"{"):
        return registry.NO
    known = re.search(rb'"sample_count"\s*:', text) and re.search(
        rb'"(?:target_description|program)"\s*:', text
    )
    is_one = known or re.search(rb'"frame_records"\s*:|"is_application_code"\s*:', text)
    return registry.SURE if is_one else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a profile of pyinstrument's.

    Sessions have the samples in order, with lines and classes: calls lie in time, from the first one on. JSON
    has sums only: each call path is one call as long as it took, the heaviest first.

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
    return read_profile(path, _take, "pyinstrument profile", progress)


def _take(value: Any, recording: Recording) -> None:
    profile = fields_of(value)
    thread = recording.thread(0, "main")
    if "frame_records" in profile:
        _take_session(profile, thread, recording)
    else:
        _take_tree(fields_of(profile.get("root_frame")), thread, recording)


def _take_session(profile: dict[str, Any], thread: int, recording: Recording) -> None:
    """Add samples: each has the stack as texts and the seconds that it lasts."""
    tree = FrameTree(recording)
    known: dict[str, tuple[int, int]] = {}
    stacks: list[int] = []
    lasts: list[float] = []
    for number, record in enumerate(items_of(profile["frame_records"]), 1):
        row = items_of(record)
        seconds = numbers_of(row[1:2])
        frames = [text for text in items_of(row[0] if row else None) if isinstance(text, str)]
        has_stack = bool(row) and isinstance(row[0], list)
        if not has_stack or len(seconds) != 1 or not 0 <= seconds[0] < _LONGEST / _NS:
            recording.problems.add("malformed", f"sample {number:,}")
            continue
        for text in frames:
            if text not in known:
                known[text] = _frame(text, recording)
        stack = [known[text] for text in frames if not text.startswith("[self]")]
        stacks.append(tree.stack([function for function, _ in stack], [line for _, line in stack]))
        lasts.append(_NS * float(seconds[0]))
    if not stacks:
        raise ValueError("it has no samples")
    end = np.rint(np.cumsum(lasts)).astype(np.int64)
    start = np.append(0, end[:-1])
    begin = numbers_of([profile.get("start_time")])
    if np.isfinite(begin[0]) and 0 <= begin[0] < 1 << 33:
        start, end = start + round(_NS * begin[0]), end + round(_NS * begin[0])
    add_timed(
        recording, tree.columns(), np.full(len(start), thread), stacks, start,
        end=end, kinds=["time (ns)"], weight=end - start,
    )  # fmt: skip


def _frame(text: str, recording: Recording) -> tuple[int, int]:
    """Return function and line of a frame: ``name NUL file NUL line``, then attributes behind U+0001."""
    bare, *attributes = text.split("\1")
    name, file, defined = (*bare.split("\0"), "", "")[:3]
    said = {attribute[:1]: attribute[1:] for attribute in attributes}
    line = int(said["l"]) if said.get("l", "").isdecimal() else 0
    return _function(
        recording, name, file, int(defined) if defined.isdecimal() else 0, said.get("c", "")
    ), line


def _function(recording: Recording, name: str, file: str, line: int, inside: str = "") -> int:
    file = "" if file in ("None", "<built-in>") else file
    full = f"{inside}.{name}" if inside else name
    return add_function(recording, full, file, line)


def _take_tree(root: dict[str, Any], thread: int, recording: Recording) -> None:
    """Add the tree of call paths: each has the seconds that it took, and its callees."""
    tree = FrameTree(recording)
    stacks: list[int] = []
    weights: list[int] = []
    waiting = [(root, -1)] if root else []
    while waiting:
        node, caller = waiting.pop()
        children = [fields_of(child) for child in items_of(node.get("children"))]
        seconds = numbers_of([one.get("time") for one in (node, *children)])
        name = text_of(node.get("function"), "(unnamed)")
        if name not in _OWN:
            file, line = text_of(node.get("file_path")), whole_of(node.get("line_no"))
            inside = text_of(node.get("class_name"))
            caller = tree.frame(_function(recording, name, file, line, inside), caller)
        if not np.isfinite(seconds).all():
            recording.problems.add("bad value", f"the time of {name[:40]!r}")
        own = np.nan_to_num(seconds[0]) - np.nan_to_num(seconds[1:]).sum()
        if 0 < own < _LONGEST / _NS:
            stacks.append(caller)
            weights.append(round(_NS * own))
        waiting += [(child, caller) for child in children if child]
    if not weights:
        raise ValueError("it has no frames with a time")
    add_weighed(recording, tree.columns(), np.full(len(stacks), thread), stacks, {"time (ns)": weights})


FORMAT = registry.Format(
    name="pyinstrument",
    title="pyinstrument profile",
    suffixes=(".pyisession", ".pyinstrument.json"),
    sniff=sniff,
    read=read,
    programs="pyinstrument (`-r session`, `-r json`)",
    recipe=(
        "pyinstrument -r session -o run.pyisession script.py",
        "pyinstrument -r json -o run.pyinstrument.json script.py",
        "# within a program: with Profiler() as p: ...; p.last_session.save('run.pyisession')",
    ),
    left_out="whether time was spent awaiting, and what pyinstrument itself folds or hides",
)
