"""Perfetto's protobuf trace: slices, instants, counters and flows of its track events.

The messages are those of the ``perfetto`` package. A trace is a sequence of packets; they are decoded one by
one, so that a damaged file is read as far as possible. Source:
https://perfetto.dev/docs/reference/trace-packet-proto
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, MissingDependency
from ..progress import Progress, part
from ..trace.model import Source
from ..trace.recording import Recording
from . import names, registry, unpack

if TYPE_CHECKING:
    from ..trace.model import RecordedId, Trace

_PACKET_TAG = 0x0A
#: Number of packets examined to detect the format.
_LOOK = 16
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
#: Clocks below are the system's, those from 64 to 127 belong to one sequence of packets.
_FIRST_OWN_CLOCK, _BOOTTIME = 64, 6
_TIME_LIMIT = 1 << 62
#: A block of packed packets may unpack to this many bytes.
_MAX_UNPACKED = 1 << 28
_UNNAMED = "(unnamed)"
_STATE_CLEARED, _NEEDS_STATE = 1, 2
_SLICE_BEGIN, _SLICE_END, _INSTANT, _COUNTER = 1, 2, 3, 4
_FLOW_FIELDS = (
    ("flow_ids", 0),
    ("flow_ids_old", 0),
    ("terminating_flow_ids", 1),
    ("terminating_flow_ids_old", 1),
)
#: Fields of packets that contain nothing a view could show.
_HOUSEKEEPING = frozenset(
    (
        None,
        "trace_uuid",
        "trace_config",
        "trace_stats",
        "ftrace_stats",
        "system_info",
        "service_event",
        "synchronization_marker",
        "chrome_metadata",
        "chrome_benchmark_metadata",
        "extension_descriptor",
        "trace_provenance",
        "process_descriptor",
        "track_event_range_of_interest",
        "trigger",
        "chrome_trigger",
        "ui_state",
    )
)


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
        size, at = _varint(view, at + 1) if head[at] == _PACKET_TAG else (-2, at)
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
    """Read the track events of a Perfetto trace.

    Slices on a thread's track are calls of the thread; those on any other track get a timeline of their own
    under the track's name. Debug annotations are not read; packets of other data sources are counted as
    unsupported.

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
    reader = _Reader(perfetto_trace_pb2, recording)
    reader.read(unpacked.data, part(progress, 0.2, 0.8))
    if unpacked.damage and "truncated" not in recording.problems:
        recording.problems.add(unpack.problem_of(unpacked.damage), unpacked.damage)
    if reader.packets == 0:
        raise InputError(f"{path}: byte 0: no packet of a Perfetto trace can be read")
    reader.finish()
    progress(0.8, "building calls")
    trace = recording.finish(Source(), names.split, reader.place)
    progress(1, "building calls")
    return trace


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return a variable-length number and what follows it; the number is -1 if there is none."""
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return -1, at


def _is_message(data: memoryview, is_cut: bool) -> bool:
    """Whether ``data`` is a chain of fields; the last one may be cut."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if tag < 0:
            return is_cut
        if tag >> 3 == 0:
            return False
        if kind == _VARINT:
            size, at = _varint(data, at)
            if size < 0:
                return is_cut and at >= len(data)
        elif kind == _BYTES:
            size, at = _varint(data, at)
            if size < 0:
                return is_cut and at >= len(data)
            at += size
        elif kind in (_FIXED64, _FIXED32):
            at += 8 if kind == _FIXED64 else 4
        else:
            return False
    return at == len(data) or is_cut


def _text(value: str | bytes) -> str:
    """Return a string field; one that is not UTF-8 comes as bytes."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


class _Sequence:
    """The interned data of the packets of one writer."""

    __slots__ = ("clock", "counters", "has_state", "names", "pid", "tid", "time_us", "track")

    def __init__(self) -> None:
        self.clear()
        self.has_state = False
        self.pid = self.tid = 0
        self.time_us = 0

    def clear(self) -> None:
        """Forget what was interned."""
        self.names: dict[int, str] = {}
        self.clock = 0
        self.track: int | None = None
        self.counters: list[int] = []
        self.has_state = True


class _Clocks:
    """Brings times of all clocks to the trace's own, with the latest snapshot."""

    def __init__(self) -> None:
        self._reference = _BOOTTIME
        self._offsets: dict[tuple[int, int], int] = {}
        self._units: dict[tuple[int, int], int] = {}
        self._running: dict[tuple[int, int], int] = {}

    @staticmethod
    def _key(sequence: int, clock: int) -> tuple[int, int]:
        return (sequence if _FIRST_OWN_CLOCK <= clock < 2 * _FIRST_OWN_CLOCK else -1), clock

    def snapshot(self, sequence: int, message: Any) -> None:
        """Take over what all clocks show at one moment."""
        if message.primary_trace_clock:
            self._reference = message.primary_trace_clock
        shown: dict[tuple[int, int], int] = {}
        for clock in message.clocks:
            key = self._key(sequence, clock.clock_id)
            unit = clock.unit_multiplier_ns or 1
            self._units[key] = unit
            shown[key] = clock.timestamp * unit
            if clock.is_incremental:
                self._running[key] = clock.timestamp * unit
        reference = shown.get((-1, self._reference))
        if reference is None:
            known = [key for key in shown if key in self._offsets]
            own = next(iter(shown), None)
            if known:
                reference = shown[known[0]] + self._offsets[known[0]]
            elif own is not None:
                reference = shown[own]
            else:
                return
        for key, value in shown.items():
            self._offsets[key] = reference - value

    def time(self, sequence: int, clock: int, value: int) -> int | None:
        """Return the trace's time in nanoseconds; None for a clock of a sequence that was never shown."""
        if clock in (0, self._reference):
            return value
        key = self._key(sequence, clock)
        if key not in self._offsets:
            return value if key[0] < 0 else None
        value *= self._units[key]
        if key in self._running:
            value += self._running[key]
            self._running[key] = value
        return value + self._offsets[key]


class _Reader:
    """Turns packets into rows.

    Attributes
    ----------
    packets : int
        Packets that could be decoded.
    """

    def __init__(self, protos: Any, recording: Recording) -> None:
        self._decode = protos.TracePacket.FromString
        self._recording = recording
        self._clocks = _Clocks()
        self._sequences: dict[int, _Sequence] = {}
        self._descriptors: dict[int, Any] = {}
        self._thread_names: dict[tuple[int, int], str] = {}
        self._process_names: dict[int, str] = {}
        self._tracks: dict[tuple[int, ...], int] = {}
        self._events = array("i"), array("B"), array("i"), array("q"), array("q")
        self._bytes = array("q")
        self._counters = array("i"), array("q"), array("d")
        self._counter_sums: dict[int, float] = {}
        self._instants = array("i"), array("i"), array("q")
        self._flows = array("Q"), array("i"), array("q"), array("B")
        self._spans: list[tuple[int, int, int, int, int]] = []
        self._open_spans: dict[tuple[Any, ...], list[int]] = {}
        self.packets = 0

    def place(self, event: int) -> str:
        """Name the place of an event."""
        return (
            f"the packet at byte {self._bytes[event]:,}"
            if event < len(self._bytes)
            else f"event {event + 1:,}"
        )

    # -- packets -------------------------------------------------------------------------------

    def read(self, data: memoryview, progress: Progress) -> None:
        """Read all packets of a file."""
        for count, (at, packet) in enumerate(self._walk(data)):
            if count % 10_000 == 0:
                progress(at / len(data), "reading packets")
            self._take(at, packet, depth=0)

    def _walk(self, data: memoryview) -> Iterator[tuple[int, memoryview]]:
        """Yield place and bytes of each packet; what can't be followed ends the walk, counted."""
        at = 0
        while at < len(data):
            start = at
            tag, at = _varint(data, at)
            kind = tag & 7
            size = 0
            if tag >= 0 and kind == _VARINT:
                size, at = _varint(data, at)
                size = min(size, 0)
            elif tag >= 0 and kind == _BYTES:
                size, at = _varint(data, at)
            elif tag >= 0 and kind in (_FIXED64, _FIXED32):
                size = 8 if kind == _FIXED64 else 4
            elif tag >= 0:
                self._recording.problems.add(
                    "malformed", f"byte {start:,}: the rest of the file has no packets"
                )
                return
            if tag < 0 or size < 0 or at + size > len(data):
                self._recording.problems.add("truncated", f"byte {start:,}: the last packet is cut off")
                return
            if tag == _PACKET_TAG:
                yield start, data[at : at + size]
            at += size

    def _take(self, at: int, packed: memoryview, depth: int) -> None:
        problems = self._recording.problems
        try:
            packet = self._decode(bytes(packed))
        except Exception as error:  # protobuf's backends raise different ones
            problems.add("malformed", f"the packet at byte {at:,} ({type(error).__name__})")
            return
        self.packets += 1
        # Requesting all fields is faster than testing each.
        fields = {field.name: value for field, value in packet.ListFields()}
        number = fields.get("trusted_packet_sequence_id", 0)
        sequence = self._sequences.get(number)
        if sequence is None:
            sequence = self._sequences[number] = _Sequence()
        elif fields.get("previous_packet_dropped"):
            sequence.has_state = False
            problems.add("lost", f"before byte {at:,}")
        flags = fields.get("sequence_flags", 0)
        if flags & _STATE_CLEARED or fields.get("incremental_state_cleared"):
            sequence.clear()
        if "interned_data" in fields:
            for entry in packet.interned_data.event_names:
                sequence.names[entry.iid] = _text(entry.name)
        if "trace_packet_defaults" in fields:
            defaults = packet.trace_packet_defaults
            sequence.clock = defaults.timestamp_clock_id
            if defaults.track_event_defaults.HasField("track_uuid"):
                sequence.track = defaults.track_event_defaults.track_uuid
            sequence.counters = list(defaults.track_event_defaults.extra_counter_track_uuids)
        if "track_event" not in fields:
            self._other(at, packet, number, sequence, depth)
        elif flags & _NEEDS_STATE and not sequence.has_state:
            problems.add("lost", f"byte {at:,}: what this packet refers to")
        else:
            event = {field.name: value for field, value in fields["track_event"].ListFields()}
            self._track_event(at, fields, event, number, sequence)

    def _other(self, at: int, packet: Any, number: int, sequence: _Sequence, depth: int) -> None:
        """Take a packet that is not a track event."""
        what = packet.WhichOneof("data")
        if what == "track_descriptor":
            self._descriptors[packet.track_descriptor.uuid] = packet.track_descriptor
        elif what == "clock_snapshot":
            self._clocks.snapshot(number, packet.clock_snapshot)
        elif what == "thread_descriptor":
            thread = packet.thread_descriptor
            sequence.pid, sequence.tid = thread.pid, thread.tid
            sequence.time_us = thread.reference_timestamp_us
            if thread.thread_name:
                self._thread_names[thread.pid, thread.tid] = _text(thread.thread_name)
        elif what == "process_tree":
            for process in packet.process_tree.processes:
                self._process_names[process.pid] = " ".join(map(_text, process.cmdline))
            for thread in packet.process_tree.threads:
                self._thread_names[thread.tgid, thread.tid] = _text(thread.name)
        elif what == "compressed_packets" and depth == 0:
            self._compressed(at, packet.compressed_packets)
        elif what not in _HOUSEKEEPING:
            self._recording.problems.add("unsupported", f"byte {at:,}: {what}")

    def _compressed(self, at: int, packed: bytes) -> None:
        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(packed, _MAX_UNPACKED)
        except zlib.error as error:
            self._recording.problems.add("malformed", f"the packed packets at byte {at:,} ({error})")
            return
        if unpacker.unconsumed_tail or not unpacker.eof:
            self._recording.problems.add("truncated", f"the packed packets at byte {at:,}")
        for _, packet in self._walk(memoryview(data)):
            self._take(at, packet, depth=1)

    # -- track events --------------------------------------------------------------------------

    def _track_event(
        self, at: int, packet: dict[str, Any], event: dict[str, Any], number: int, sequence: _Sequence
    ) -> None:
        """Take a track event; ``packet`` and ``event`` are the fields that are there."""
        legacy = event.get("legacy_event")
        time = self._time(packet, event, number, sequence)
        if time is None or not 0 <= time < _TIME_LIMIT:
            self._recording.problems.add("bad time", f"the packet at byte {at:,}")
            return
        if "track_uuid" in event:
            track = self._track(event["track_uuid"])
        elif legacy is not None and (legacy.pid_override or legacy.tid_override or sequence.track is None):
            track = self._track(legacy.pid_override or sequence.pid, legacy.tid_override or sequence.tid)
        elif sequence.track is not None:
            track = self._track(sequence.track)
        elif sequence.tid:
            track = self._track(sequence.pid, sequence.tid)
        else:
            track = self._track(0)
        name = _text(event.get("name", ""))
        if not name and (iid := event.get("name_iid", 0) or (legacy.name_iid if legacy is not None else 0)):
            name = sequence.names.get(iid, "")
        kind = event.get("type", 0)
        if kind == _SLICE_BEGIN:
            self._add_event(at, track, 0, self._function(at, name), time, time)
        elif kind == _SLICE_END:
            self._add_event(at, track, 1, -1, time, time)
        elif kind == _INSTANT:
            self._add_instant(at, track, name, time)
        elif kind == _COUNTER:
            value = event.get("counter_value", event.get("double_counter_value"))
            if value is not None:
                self._add_counter(event.get("track_uuid") or sequence.track or 0, time, value)
        elif legacy is not None and legacy.phase:
            self._legacy(at, track, name, time, legacy)
        else:
            self._recording.problems.add(
                "unsupported", f"the packet at byte {at:,}: a track event of type {kind}"
            )
            return
        uuids = event.get("extra_counter_track_uuids") or sequence.counters
        for uuid, value in zip(uuids, event.get("extra_counter_values", ()), strict=False):
            self._add_counter(uuid, time, value)
        uuids = event.get("extra_double_counter_track_uuids", ())
        for uuid, value in zip(uuids, event.get("extra_double_counter_values", ()), strict=False):
            self._add_counter(uuid, time, value)
        for field, ends in _FLOW_FIELDS:
            for flow in event.get(field, ()):
                self._add_flow(flow, track, time, ends)
        if legacy is not None and legacy.bind_id and legacy.flow_direction:
            self._add_flow(legacy.bind_id, track, time, int(legacy.flow_direction == 1))

    def _time(
        self, packet: dict[str, Any], event: dict[str, Any], number: int, sequence: _Sequence
    ) -> int | None:
        if "timestamp_delta_us" in event:
            sequence.time_us += event["timestamp_delta_us"]
            return int(sequence.time_us) * 1000
        if "timestamp_absolute_us" in event:
            return int(event["timestamp_absolute_us"]) * 1000
        if "timestamp" not in packet:
            return None
        return self._clocks.time(
            number, packet.get("timestamp_clock_id") or sequence.clock, packet["timestamp"]
        )

    def _legacy(self, at: int, track: int, name: str, time: int, legacy: Any) -> None:
        """Take an event of the old kind, by its letter."""
        phase = chr(legacy.phase) if 0 < legacy.phase < 128 else "?"
        if phase == "X":
            end = time + legacy.duration_us * 1000
            self._add_event(at, track, 2, self._function(at, name), time, min(end, _TIME_LIMIT))
        elif phase == "B":
            self._add_event(at, track, 0, self._function(at, name), time, time)
        elif phase == "E":
            self._add_event(at, track, 1, -1, time, time)
        elif phase in "IinR":
            self._add_instant(at, track, name, time)
        elif phase in "bSeF":
            self._span(at, track, name, time, legacy, phase in "bS")
        elif phase in "stf":
            self._add_flow(
                legacy.unscoped_id or legacy.global_id or legacy.local_id, track, time, int(phase == "f")
            )
        else:
            self._recording.problems.add(
                "unsupported", f"the packet at byte {at:,}: an event of phase {phase}"
            )

    def _span(self, at: int, track: int, name: str, time: int, legacy: Any, begins: bool) -> None:
        which = legacy.WhichOneof("id")
        number = getattr(legacy, which) if which else 0
        key = (which, number, _text(legacy.id_scope), track if which == "local_id" else -1)
        stack = self._open_spans.setdefault(key, [])
        if begins:
            text = self._recording.text("spans", name or _UNNAMED)
            self._spans.append((text, track, time, -1, stack[-1] if stack else -1))
            stack.append(len(self._spans) - 1)
        elif stack:
            row = stack.pop()
            self._spans[row] = (*self._spans[row][:3], max(time, self._spans[row][2]), self._spans[row][4])
        else:
            self._recording.problems.add("unmatched end", f"the packet at byte {at:,}")

    # -- rows ----------------------------------------------------------------------------------

    def _track(self, *key: int) -> int:
        """Return a number for a track's uuid, or for a process and thread."""
        return self._tracks.setdefault(key, len(self._tracks))

    def _function(self, at: int, name: str) -> int:
        if not name:
            self._recording.problems.add("no name", f"the packet at byte {at:,}")
        return self._recording.function(name or _UNNAMED)

    def _add_event(self, at: int, track: int, kind: int, function: int, time: int, end: int) -> None:
        tracks, kinds, functions, times, ends = self._events
        tracks.append(track)
        kinds.append(kind)
        functions.append(function)
        times.append(time)
        ends.append(end)
        self._bytes.append(at)

    def _add_instant(self, at: int, track: int, name: str, time: int) -> None:
        if not name:
            self._recording.problems.add("no name", f"the packet at byte {at:,}")
        texts, tracks, times = self._instants
        texts.append(self._recording.text("instants", name or _UNNAMED))
        tracks.append(track)
        times.append(time)

    def _add_counter(self, uuid: int, time: int, value: float) -> None:
        descriptor = self._descriptors.get(uuid)
        number = float(value)
        if descriptor is not None and descriptor.HasField("counter"):
            number *= descriptor.counter.unit_multiplier or 1
            if descriptor.counter.is_incremental:
                number += self._counter_sums.get(uuid, 0.0)
                self._counter_sums[uuid] = number
        tracks, times, values = self._counters
        tracks.append(self._track(uuid))
        times.append(time)
        values.append(number)

    def _add_flow(self, flow: int, track: int, time: int, ends: int) -> None:
        flows, tracks, times, ending = self._flows
        flows.append(flow)
        tracks.append(track)
        times.append(time)
        ending.append(ends)

    # -- the end -------------------------------------------------------------------------------

    def finish(self) -> None:
        """Hand all rows to the recording, now that every track is known."""
        recording = self._recording
        used = {*self._events[0], *self._instants[1], *self._flows[1], *(span[1] for span in self._spans)}
        counted = set(self._counters[0])
        thread = np.full(len(self._tracks), -1, np.int32)
        series = np.full(len(self._tracks), -1, np.int32)
        for key, number in self._tracks.items():
            process, tid, name = self._timeline(key)
            if number in used:
                thread[number] = recording.thread(process, tid)
                if name:
                    recording.name_thread(process, tid, name)
            if number in counted:
                series[number] = recording.series(process, name or f"counter {key[0]}")
        for pid, name in self._process_names.items():
            recording.name_process(pid, name)
        track, kind, function, time, end = map(np.asarray, self._events)
        recording.add_events(thread=thread[track], kind=kind, function=function, time=time, end=end)
        name_of, track, time = map(np.asarray, self._instants)
        if len(time):
            recording.add_instants(name=name_of, thread=thread[track], time=time)
        track, time, value = map(np.asarray, self._counters)
        if len(time):
            recording.add_counters(series=series[track], time=time, value=value)
        self._finish_flows(thread)
        self._finish_spans(thread)

    def _timeline(self, key: tuple[int, ...]) -> tuple[RecordedId, RecordedId, str]:
        """Return process, thread id and name of a track."""
        if len(key) == 2:
            return key[0], key[1], self._thread_names.get((key[0], key[1]), "")
        uuid = key[0]
        descriptor = self._descriptors.get(uuid)
        if descriptor is None:
            return 0, uuid, ""
        which = descriptor.WhichOneof("static_or_dynamic_name")
        name = _text(getattr(descriptor, which)) if which else ""
        process, thread = self._owner(descriptor)
        if descriptor.HasField("thread"):
            said = (
                _text(descriptor.thread.thread_name) or name or self._thread_names.get(thread or (0, 0), "")
            )
            return process, descriptor.thread.tid, said
        return process, uuid, name

    def _owner(self, descriptor: Any) -> tuple[int, tuple[int, int] | None]:
        """Return the process of a track, from its nearest ancestor that names one, and note its name."""
        for _ in range(64):
            if descriptor.HasField("thread"):
                thread = descriptor.thread
                self._notice_process(descriptor)
                parent = self._descriptors.get(descriptor.parent_uuid)
                if parent is not None:
                    self._notice_process(parent)
                return thread.pid, (thread.pid, thread.tid)
            if descriptor.HasField("process"):
                self._notice_process(descriptor)
                return descriptor.process.pid, None
            parent = self._descriptors.get(descriptor.parent_uuid)
            if parent is None or parent is descriptor:
                break
            descriptor = parent
        return 0, None

    def _notice_process(self, descriptor: Any) -> None:
        if descriptor.HasField("process"):
            process = descriptor.process
            if name := _text(process.process_name) or " ".join(map(_text, process.cmdline)):
                self._process_names.setdefault(process.pid, name)

    def _finish_flows(self, thread: Any) -> None:
        """Join the events of each flow, in the order of their times, by arrows."""
        flow, track, time, ends = map(np.asarray, self._flows)
        if not len(flow):
            return
        order = np.lexsort((time, flow))
        flow, track, time, ends = flow[order], track[order], time[order], ends[order]
        joined = (flow[1:] == flow[:-1]) & (ends[:-1] == 0)
        text = self._recording.text("flows", "flow")
        self._recording.add_flows(
            name=np.full(int(joined.sum()), text, np.int32),
            source_thread=thread[track[:-1][joined]],
            start=time[:-1][joined],
            target_thread=thread[track[1:][joined]],
            end=time[1:][joined],
        )

    def _finish_spans(self, thread: Any) -> None:
        if not self._spans:
            return
        name, track, start, end, parent = (np.array(column) for column in zip(*self._spans, strict=True))
        never = end < 0
        last = max(
            (int(times.max()) for times in (np.asarray(self._events[4]), start, end) if len(times)), default=0
        )
        self._recording.problems.add("unmatched begin", "an asynchronous event", int(never.sum()))
        self._recording.add_spans(
            name=name, thread=thread[track], start=start, end=np.where(never, last, end), parent=parent
        )


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
    left_out="packets of data sources other than track events: they are counted",
)
