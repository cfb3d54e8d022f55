"""memray's own recordings, through memray's reader."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError, MissingDependency
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
#: Records between two progress reports.
_STEP = 1 << 16


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
    InputError
        If memray can't read it, there is no record in it, or it was recorded aggregated.
    """
    try:
        import memray
    except ImportError as error:
        raise MissingDependency(
            f"{path}: memray's own file is read through memray: install it with 'pip install memray'"
        ) from error

    recording = Recording()
    frames, frame_of = Frames(recording), {0: -1}
    thread_of: dict[int, int] = {}
    free = {int(kind): frees(kind.name) for kind in memray.AllocatorType}
    thread, kind, address, size, stack = array("i"), array("B"), array("Q"), array("q"), array("i")
    try:
        with memray.FileReader(str(path)) as reader:
            total = max(reader.metadata.total_allocations, 1)
            recording.name_process(reader.metadata.pid, reader.metadata.command_line)
            for record in reader.get_allocation_records():
                if not len(kind) % _STEP:
                    progress(min(len(kind) / total, 1), "reading records")
                if (number := thread_of.get(record.tid)) is None:
                    number = thread_of[record.tid] = recording.thread(reader.metadata.pid, record.tid)
                    recording.name_thread(reader.metadata.pid, record.tid, _thread_name(record))
                is_free = free.get(record.allocator, False)
                frame = -1
                if not is_free and (frame := frame_of.get(record.stack_id, -2)) == -2:
                    frame = frame_of[record.stack_id] = frames.add(record.stack_trace())
                thread.append(number)
                kind.append(FREE if is_free else ALLOC)
                address.append(record.address)
                size.append(0 if is_free else record.size)
                stack.append(frame)
    except (OSError, RuntimeError, NotImplementedError) as error:
        if not len(kind):
            raise InputError(f"{path}: memray can't read it: {error}") from error
        recording.problems.add("truncated", f"record {len(kind) + 1:,}: {error}")
    if not len(kind):
        raise InputError(f"{path}: there is no allocation in this recording of memray")
    frames.add_frames()
    recording.add_memory(
        thread=np.frombuffer(thread, np.int32),
        kind=np.frombuffer(kind, np.uint8),
        time=make_times(recording, len(kind)),
        address=np.frombuffer(address, np.uint64),
        size=np.frombuffer(size, np.int64),
        stack=np.frombuffer(stack, np.int32),
    )
    return recording.finish(Source(), names.split, lambda row: f"record {row + 1:,}")


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
