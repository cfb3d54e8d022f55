"""memray's records as text: ``*.records.tsv``, with their stacks beside them in ``*.stacks.tsv``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import Unreadable
from ...kernels.formats import allocations_text as s
from ...kernels.intern import InternedNames
from ...progress import Progress, part
from ...trace.model import ALLOC, FREE, Source
from ...trace.recording import Recording
from .. import names, registry, unpack
from ..text import count, lines, read_text, utf8
from .common import Frame, Frames, frees, make_times

if TYPE_CHECKING:
    from ...trace.model import RecordedId, Trace

_RECORD = re.compile(rb"\d+\t[^\t]+\t0[xX][0-9a-fA-F]+\t\d+\t[A-Z_]+\t\d+")
_STACK = re.compile(rb"\d+\t.+")
_FRAME = re.compile(r"(?P<name>.*) \((?P<file>.*):(?P<line>-?\d{1,10})\)", re.DOTALL)
_RECORDS, _STACKS = ".records.tsv", ".stacks.tsv"


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that text is memray's records, or their stacks.

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
    found = [line for line in lines(head, len(head) >= registry.HEAD) if not line.startswith(b"#")][:100]
    if not found:
        return registry.NO
    if all(_RECORD.fullmatch(line) for line in found):
        return registry.SURE
    if sum(_RECORD.fullmatch(line) is not None for line in found) > 0.5 * len(found):
        return registry.LIKELY
    stacks = sum(_STACK.fullmatch(line) is not None for line in found)
    if name.endswith(_STACKS) and stacks > 0.5 * len(found):
        return registry.SURE
    return registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read records (``seq tid address size allocator stack``) and the stacks in the file beside them.

    A stack is ``id<tab>function (file:line);caller (file:line);...``, the innermost first; 0 is none. The
    records have an order but no times.

    Parameters
    ----------
    path : Path
        The records, or their stacks.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    Unreadable
        If there is no record in the file.
    """
    if (records := beside(path, _STACKS, _RECORDS)) is not None:
        path = records
    recording = Recording()
    text = read_text(path, recording.problems, part(progress, 0, 0.4))
    progress(0.4, "reading records")
    data: NDArray[np.uint8] = np.frombuffer(text.data, np.uint8)
    room = count(data, b"\n") + 1
    tid, allocator = np.empty(room, np.int32), np.empty(room, np.int32)
    address, size, stack = (np.empty(room, np.int64) for _ in range(3))
    interned, state = InternedNames(), np.zeros(s.STATE_SIZE, np.int64)
    columns = (tid, address, size, allocator, stack)
    while s.scan_memray(data, state, *columns, *interned.arrays) == s.NAMES_FULL:
        interned.grow(int(state[s.NAMES]))
    rows = int(state[s.ROWS])
    recording.problems.add("malformed", f"line {state[s.MALFORMED_LINE]:,}", int(state[s.MALFORMED]))
    if not rows:
        raise Unreadable(
            f"{path}: no line is a record of memray: lines look like "
            "'12<tab>1<tab>0x5605a6649aa0<tab>1340<tab>MALLOC<tab>7' (number, thread, address, size, "
            "allocator, stack)"
        )
    progress(0.7, "reading stacks")
    frame_of = _read_stacks(path, recording)
    texts = interned.texts(data, int(state[s.NAMES]))
    is_free = np.array([frees(text) for text in texts])[allocator[:rows]]
    thread = np.zeros(len(texts), np.int32)
    for number in np.flatnonzero(np.bincount(tid[:rows])).tolist():
        thread[number] = recording.thread(0, _tid(texts[number]))
    recording.add_memory(
        thread=thread[tid[:rows]],
        kind=np.where(is_free, FREE, ALLOC),
        time=make_times(recording, rows),
        address=address[:rows],
        size=np.where(is_free, 0, size[:rows]),
        stack=_frames(frame_of, stack[:rows], recording, is_free),
    )
    trace = recording.finish(Source(), names.split, lambda row: f"record {row + 1:,}")
    progress(1, "reading stacks")
    return trace


def beside(path: Path, suffix: str, other: str) -> Path | None:
    """Return the file that is called with ``other`` in place of ``suffix``, packed or not, or None.

    Parameters
    ----------
    path : Path
        A file.
    suffix : str
        The end of its name, without that of a packer.
    other : str
        The end of the other's name.

    Returns
    -------
    Path or None
    """
    bare = unpack.bare_name(path.name)
    if not bare.endswith(suffix):
        return None
    stem = path.name[: len(bare) - len(suffix)]
    found = [path.with_name(f"{stem}{other}{packing}") for packing in ("", ".gz", ".zst")]
    return next((candidate for candidate in found if candidate.is_file()), None)


def _tid(text: str) -> RecordedId:
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 19 else text


def _frames(
    frame_of: dict[int, int], stack: NDArray[np.int64], recording: Recording, is_free: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Return the innermost frame of each record's stack; those that aren't described are counted."""
    distinct, back = np.unique(stack, return_inverse=True)
    frame = np.array([frame_of.get(number, -1) for number in distinct.tolist()], np.int32)
    lost = (frame < 0) & (distinct > 0)
    missing = lost[back] & ~is_free
    recording.problems.add("unknown", f"stack {distinct[np.argmax(lost)]}", int(np.count_nonzero(missing)))
    return frame[back]


def _read_stacks(path: Path, recording: Recording) -> dict[int, int]:
    """Return the innermost frame of each stack of the file beside ``path``."""
    there = beside(path, _RECORDS, _STACKS)
    if there is None:
        return {}
    unpacked = unpack.unpack_file(there)
    if unpacked.damage:
        recording.problems.add(unpack.problem_of(unpacked.damage), f"{there.name}: {unpacked.damage}")
    frames, frame_of = Frames(recording), {}
    for number, line in enumerate(bytes(utf8(unpacked.data)).decode("utf-8", "replace").splitlines(), 1):
        said, tab, text = line.partition("\t")
        if not line or line.startswith("#"):
            continue
        if not tab or not (said.isdecimal() and said.isascii() and len(said) < 19):
            recording.problems.add("malformed", f"{there.name}, line {number:,}")
            continue
        frame_of[int(said)] = frames.add([_frame(one) for one in text.split(";") if one])
    frames.add_frames()
    return frame_of


def _frame(text: str) -> Frame:
    said = _FRAME.fullmatch(text)
    return (said["name"], said["file"], int(said["line"])) if said else (text, "", 0)


FORMAT = registry.Format(
    name="memray_records",
    title="memray records as text",
    suffixes=(_RECORDS, _STACKS),
    sniff=sniff,
    read=read,
    programs="`memray` where it is not installed: its records as text",
    recipe=("# where memray is installed: tracevis3d convert run.bin run.tv3",),
)
