"""memray's own recordings, through memray's reader.

A damaged file may crash the reader, which also complains on standard error: it runs in a process of its own.
"""

from __future__ import annotations

import json
from array import array
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import MissingDependency, Unreadable
from ...machine.apart import Blocks, read_apart
from ...progress import Progress
from ...trace.model import ALLOC, FREE, Source
from ...trace.recording import Recording
from .. import names, registry
from .common import Frames, frees, make_times

if TYPE_CHECKING:
    from ...trace.model import Trace

_MAGIC = b"memray\0"
#: memray compresses its files with LZ4; the first bytes of a block are uncompressed.
_LZ4 = b"\x04\x22\x4d\x18"
_ABOUT, _THREAD, _STACK, _ROWS = b"A", b"T", b"S", b"R"
#: Numbers of a row.
_STRIDE = 5
#: Rows printed together.
_AT_ONCE = 1 << 16


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are memray's.

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
    packed = head.startswith(_LZ4) and _MAGIC in head[:32]
    return registry.SURE if packed or head.startswith(_MAGIC) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a file of ``memray run``: allocations and frees with their stacks, in order; it has no times.

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
    MissingDependency
        If memray is not installed.
    Unreadable
        If memray can't read it, there is no record in it, or it was recorded aggregated.
    """
    if find_spec("memray") is None:
        raise MissingDependency(
            f"{path}: memray's own file is read through memray: install it with 'pip install memray'"
        )
    recording = Recording()
    frames = Frames(recording)
    about: dict[str, Any] = {}
    thread_of: dict[int, int] = {}
    frame_of: list[int] = []
    chunks = [np.empty((0, _STRIDE), np.int64)]
    seen = 0

    def take(kind: bytes, data: bytes) -> None:
        nonlocal seen
        if kind == _ROWS:
            chunks.append(np.frombuffer(data, np.int64).reshape(-1, _STRIDE))
            seen += len(chunks[-1])
            progress(min(seen / max(about["total"], 1), 1), "reading records")
        elif kind == _ABOUT:
            about.update(json.loads(data))
            recording.name_process(about["pid"], about["command"])
        elif kind == _THREAD:
            ident, name = json.loads(data)
            thread_of[ident] = recording.thread(about["pid"], ident)
            recording.name_thread(about["pid"], ident, name)
        else:
            frame_of.append(frames.add(json.loads(data)))

    broken = read_apart(__name__, path, take)
    rows = np.concatenate(chunks)
    if not len(rows):
        if broken:
            raise Unreadable(f"{path}: memray can't read it: {broken}")
        raise Unreadable(f"{path}: there is no allocation in this recording of memray")
    if broken:
        recording.problems.add("truncated", f"record {len(rows) + 1:,}: {broken}")
    frames.add_frames()
    known, place = np.unique(rows[:, 0], return_inverse=True)
    recording.add_memory(
        thread=np.array([thread_of[ident] for ident in known.tolist()], np.int32)[place],
        kind=rows[:, 1].astype(np.uint8),
        time=make_times(recording, len(rows)),
        address=rows[:, 2].view(np.uint64),
        size=rows[:, 3],
        stack=np.array([*frame_of, -1], np.int32)[rows[:, 4]],
    )
    return recording.finish(Source(), names.split, lambda row: f"record {row + 1:,}")


# -- in the helper process -----------------------------------------------------------------------


def main(path: str, block: Blocks) -> None:
    """Print the recording at ``path``: rows of thread, kind, address, size and number of the stack or -1.

    Parameters
    ----------
    path : str
        The file.
    block : callable
        Prints a block.
    """
    import memray

    free = {int(kind): frees(kind.name) for kind in memray.AllocatorType}
    threads: set[int] = set()
    stack_of: dict[int, int] = {0: -1}
    rows = array("q")
    with memray.FileReader(path) as reader:
        facts = reader.metadata
        about = {"pid": facts.pid, "command": facts.command_line, "total": facts.total_allocations}
        block(_ABOUT, json.dumps(about).encode())
        try:
            for record in reader.get_allocation_records():
                if record.tid not in threads:
                    threads.add(record.tid)
                    block(_THREAD, json.dumps([record.tid, _thread_name(record)]).encode())
                is_free = free.get(record.allocator, False)
                stack = -1
                if not is_free and (stack := stack_of.get(record.stack_id, -2)) == -2:
                    block(_STACK, json.dumps(record.stack_trace()).encode())
                    stack = stack_of[record.stack_id] = len(stack_of) - 1
                address = record.address - (record.address >> 63 << 64)
                kind, size = (FREE, 0) if is_free else (ALLOC, record.size)
                rows.extend((record.tid, kind, address, size, stack))
                if len(rows) >= _STRIDE * _AT_ONCE:
                    block(_ROWS, rows.tobytes())
                    rows = array("q")
        finally:
            block(_ROWS, rows.tobytes())


def _thread_name(record: Any) -> str:
    """Return the name of a record's thread; memray writes the id into it, which is shown anyway."""
    name = str(record.thread_name or "")
    return name.partition(" (")[2].rstrip(")") if name.startswith("Thread ") else name.partition(" (")[0]


FORMAT = registry.Format(
    name="memray",
    title="memray recording",
    suffixes=(".bin",),
    sniff=sniff,
    read=read,
    programs="`memray run`: allocations with their call stacks (needs the package `memray`)",
    recipe=("memray run -o run.bin script.py",),
)
