"""Perfetto's protobuf trace: slices, instants, counters and flows of its track events.

Source: https://perfetto.dev/docs/reference/trace-packet-proto
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import MissingDependency, Unreadable
from ...kernels.formats.protobuf.fields import BYTES, FIXED32, FIXED64, VARINT
from ...machine.bounds import check_more
from ...progress import Progress, part
from ...trace.model import Source
from ...trace.recording import Recording
from .. import registry, unpack
from .packets import PACKET_TAG, PacketReader, varint

if TYPE_CHECKING:
    from ...trace.model import Trace

#: Number of packets examined to detect the format.
_LOOK = 16


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are packets: a chain of well-formed messages of field 1.

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
    at = packets = 0
    view = memoryview(head)
    while at < len(head) and packets < _LOOK:
        size, at = varint(view, at + 1) if head[at] == PACKET_TAG else (-2, at)
        if size == -1:
            break
        if size < 0 or not _is_message(view[at : at + size], at + size > len(head)):
            return registry.LIKELY if packets >= 2 else registry.NO
        at += size
        packets += at <= len(head)
    whole = at == len(head) or len(head) >= registry.HEAD
    if packets >= 3 or (packets and whole):
        return registry.LIKELY
    return registry.MAYBE if name.endswith(FORMAT.suffixes) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read track events, the scheduler's events, atrace's marks, counters, memory, frames and heap graphs.

    Slices on a thread's track are calls of the thread; those on any other track get a timeline of their own
    under the track's name. The scheduler says who is off its processor, and who wakes whom.

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
    Unreadable
        If no packet can be read.
    MissingDependency
        If the ``perfetto`` package is not installed.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError as error:
        raise MissingDependency(
            f"{path}: reading Perfetto's protobuf needs the perfetto package ({error}): install it with "
            "'pip install perfetto', or export the trace as JSON"
        ) from error

    unpacked = unpack.unpack_file(path, part(progress, 0, 0.2))
    recording = Recording()
    reader = PacketReader(perfetto_trace_pb2, recording, len(unpacked.data))
    reader.read(unpacked.data, part(progress, 0.2, 0.8))
    damage = unpacked.damage
    del unpacked  # what follows needs its room
    if damage and "truncated" not in recording.problems:
        recording.problems.add(unpack.problem_of(damage), damage)
    if reader.packets == 0:
        raise Unreadable(f"{path}: byte 0: no packet of a Perfetto trace can be read")
    check_more(path, reader.rows.bytes_to_build())
    reader.finish()
    progress(0.8, "building calls")
    trace = recording.finish(Source(), reader.split, reader.rows.place)
    progress(1, "building calls")
    return trace


def _is_message(data: memoryview, is_cut: bool) -> bool:
    """Whether ``data`` is a chain of fields; the last one may be cut."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if tag < 0:
            return is_cut
        if tag >> 3 == 0:
            return False
        if kind == VARINT:
            size, at = varint(data, at)
            if size < 0:
                return is_cut and at >= len(data)
        elif kind == BYTES:
            size, at = varint(data, at)
            if size < 0:
                return is_cut and at >= len(data)
            at += size
        elif kind in (FIXED64, FIXED32):
            at += 8 if kind == FIXED64 else 4
        else:
            return False
    return at == len(data) or is_cut


FORMAT = registry.Format(
    name="perfetto",
    title="Perfetto protobuf",
    suffixes=(".pftrace", ".perfetto-trace", ".perfetto", ".pb", ".proto"),
    sniff=sniff,
    read=read,
    programs="Perfetto, VizTracer",
    recipe=(
        "viztracer -o run.pftrace -- script.py",
        "perfetto -o run.pftrace --txt -c config.txt",
    ),
    left_out=(
        "debug annotations, samples, references of heap graphs, and packets of other data sources, which are "
        "counted; ChromeEventBundle, of which Perfetto makes no slices either"
    ),
)
