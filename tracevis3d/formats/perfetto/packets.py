"""Perfetto's packets: plain track events by the kernel, all others one by one as typed messages.

The messages are those of the ``perfetto`` package. A trace is a sequence of packets; they are decoded one by
one, so that a damaged file is read as far as possible.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.protobuf import track_events as kernels
from ...kernels.formats.protobuf.bundles import find_bundles
from ...kernels.formats.protobuf.fields import BYTES, FIXED32, FIXED64, VARINT
from ...kernels.intern import InternedNames
from ...kernels.trace.pair_spans import pair_spans
from ...machine.copies import forget
from ...progress import Progress, silent
from ...trace.model import RecordedId
from ...trace.recording import Recording
from .. import names
from ..distinct import numbered
from .clocks import Clocks
from .heap import HEAP_GRAPH, HeapGraphs
from .measures import MEASURED, Measures
from .rows import UNNAMED, Finished, Pairs, Rows, renumber
from .scheduler import Scheduler

PACKET_TAG = 0x0A
_TIME_LIMIT = 1 << 62
#: The clock of ftrace's events, as Perfetto's own recorder sets it.
_BOOTTIME = 6
#: Of Android's frames, which the package has no messages for: their field of a packet, and by the kind of a
#: frame what it is, and the fields with its process, layer and delay. Kinds of delay beyond 1 are one.
_FRAME, _NO_JANK = 76, 1
_FRAMES = {
    1: ("expected display frame", 3, 0, 0),
    2: ("actual display frame", 3, 0, 7),
    3: ("expected surface frame", 4, 5, 0),
    4: ("actual surface frame", 4, 5, 9),
    5: ("", 0, 0, 0),
}
#: A block of packed packets may unpack to this many bytes.
_MAX_UNPACKED = 1 << 28
#: Ways in which events of the old kind have ids, as the kernel numbers them.
_IDS = (None, "unscoped_id", "local_id", "global_id")
#: Bundles of the scheduler's events that are found at once.
_BUNDLES = 4096
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


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return a variable-length number and what follows it; the number is -1 if there is none.

    Parameters
    ----------
    data : memoryview
    at : int
        Its first byte.

    Returns
    -------
    number, next : int
    """
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return -1, at


def plain_fields(data: memoryview) -> dict[int, int | memoryview]:
    """Return the fields of a small message by number, of several the last; what is damaged ends it.

    Parameters
    ----------
    data : memoryview

    Returns
    -------
    dict of int to int or memoryview
    """
    found: dict[int, int | memoryview] = {}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if tag < 0 or kind not in (VARINT, BYTES, FIXED64, FIXED32):
            break
        size = 8 if kind == FIXED64 else 4
        if kind in (VARINT, BYTES):
            size, at = varint(data, at)
        if size < 0 or (kind != VARINT and at + size > len(data)):
            break
        found[tag >> 3] = size if kind == VARINT else data[at : at + size]
        at += 0 if kind == VARINT else size
    return found


def _text(value: str | bytes) -> str:
    """Return a string field; one that is not UTF-8 comes as bytes."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


class _Sequence:
    """The state of the packets of one writer.

    Attributes
    ----------
    row : int
        Its row in the kernel's table.
    table : int
        The number of its table of names.
    """

    __slots__ = ("clock", "counters", "has_state", "pid", "row", "table", "tid", "track")

    def __init__(self, row: int, table: int) -> None:
        self.row = row
        self.clear(table)
        self.has_state = False
        self.pid = self.tid = 0

    def clear(self, table: int) -> None:
        """Forget the defaults and what was interned."""
        self.table = table
        self.clock = 0
        self.track: int | None = None
        self.counters: list[int] = []
        self.has_state = True


class PacketReader:
    """Turns packets into rows.

    Parameters
    ----------
    protos : module
        Perfetto's messages.
    recording : Recording
        Gets what they say.
    size : int
        Bytes of the file.

    Attributes
    ----------
    rows : Rows
    """

    def __init__(self, protos: Any, recording: Recording, size: int = 0) -> None:
        self._decode = protos.TracePacket.FromString
        self._known_fields = frozenset(protos.TracePacket.DESCRIPTOR.fields_by_number)
        self._recording = recording
        self.rows = Rows(recording, size)
        self._clocks = Clocks()
        self._sequences: dict[int, _Sequence] = {}
        self._sequence_pairs = Pairs()
        self._sequence_rows: NDArray[np.int64] = np.zeros((64, kernels.SEQUENCE_COLUMNS), np.int64)
        self._tables: list[dict[int, str]] = []
        self._descriptors: dict[int, Any] = {}
        self._thread_names: dict[tuple[int, int], str] = {}
        self._process_names: dict[int, str] = {}
        self._spans: list[tuple[int, int, int, int, int]] = []
        self._open_spans: dict[tuple[Any, ...], list[int]] = {}
        self._typed_packets = 0
        self._scheduler = Scheduler(protos, recording)
        self._bundles: NDArray[np.int64] = np.empty((3, _BUNDLES), np.int64)
        self._measures = Measures(protos)
        self._heaps = HeapGraphs(recording)
        #: What takes names of functions apart.
        self.split = names.split

    @property
    def packets(self) -> int:
        """How many packets could be decoded."""
        return self._typed_packets + int(self.rows.state[kernels.PACKETS])

    # -- packets -------------------------------------------------------------------------------

    def read(self, data: memoryview, progress: Progress, depth: int = 0) -> None:
        """Read all packets of a file, or of packed packets.

        Parameters
        ----------
        data : memoryview
            The bytes.
        progress : Progress
        depth : int
            1 for packed packets, which hold no others.
        """
        if not len(data):
            return
        # Always read-only, like a mapped file: kernels are compiled for one type.
        column = np.frombuffer(data.toreadonly(), np.uint8)
        texts, number_of = InternedNames(), np.empty(0, np.int32)
        state = self.rows.state
        at: int | None = 0
        steps = 0
        while at is not None:
            state[kernels.AT], state[kernels.TEXTS] = at, len(number_of)
            state[kernels.REFERENCE], state[kernels.CLOCKS] = self._clocks.reference, len(self._clocks)
            first = int(state[kernels.ROWS])
            result = kernels.scan_track_events(
                column, state, *self._sequence_pairs.arrays, self._sequence_rows, self._clocks.table,
                *self.rows.tracks.arrays, *self.rows.names.arrays, *texts.arrays, *self.rows.columns,
            )  # fmt: skip
            at, count = int(state[kernels.AT]), int(state[kernels.TEXTS])
            if count > len(number_of):
                number_of = self._extended(number_of, texts, column, count)
            if count and state[kernels.ROWS] > first:
                self.rows.take_texts(first, number_of)
            if result == kernels.DONE:
                break
            if result == kernels.FULL:
                self.rows.grow(texts)
            else:
                begin, at = at, self._take_bundles(data, column, at)
                at = self._take_next(data, at, depth) if at == begin else at
            steps += 1
            if (result == kernels.FULL or steps % 10_000 == 0) and at is not None:
                forget(data, at)
                progress(at / len(data), "reading packets")

    def _extended(
        self, number_of: NDArray[np.int32], texts: InternedNames, data: NDArray[np.uint8], count: int
    ) -> NDArray[np.int32]:
        """Return the numbers of a buffer's names, now of ``count``."""
        more = [self.rows.text(text) for text in texts.texts(data, count, len(number_of))]
        return np.concatenate([number_of, np.array(more, np.int32)])

    def _take_next(self, data: memoryview, at: int, depth: int) -> int | None:
        """Take the field at a byte, a packet or another; return where the next one begins.

        What can't be followed ends the walk with None, counted.
        """
        start = at
        tag, at = varint(data, at)
        kind = tag & 7
        size = 0
        if tag >= 0 and kind == VARINT:
            size, at = varint(data, at)
            size = min(size, 0)
        elif tag >= 0 and kind == BYTES:
            size, at = varint(data, at)
        elif tag >= 0 and kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        elif tag >= 0:
            self._recording.problems.add("malformed", f"byte {start:,}: the rest of the file has no packets")
            return None
        if tag < 0 or size < 0 or at + size > len(data):
            self._recording.problems.add("truncated", f"byte {start:,}: the last packet is cut off")
            return None
        if tag == PACKET_TAG:
            self._take(start, data[at : at + size], depth)
        return at + size

    def _sequence(self, number: int) -> _Sequence:
        """Return the state of a sequence of packets; a new one has none."""
        found = self._sequences.get(number)
        if found is None:
            row = self._sequence_pairs.add(number, 0, len(self._sequences))
            if row >= len(self._sequence_rows):
                self._sequence_rows = np.concatenate(
                    [self._sequence_rows, np.zeros_like(self._sequence_rows)]
                )
            found = self._sequences[number] = _Sequence(row, self._new_table({}))
            self._publish(found)
        return found

    def _new_table(self, names: dict[int, str]) -> int:
        self._tables.append(names)
        return len(self._tables) - 1

    def _intern(self, sequence: _Sequence, number: int, name: str) -> None:
        """Give a number of a sequence a name, from here on."""
        names = self._tables[sequence.table]
        if names.get(number) == name:
            return
        if number in names or self.rows.names.find(sequence.table, number) >= 0:
            # What was read so far keeps its names.
            sequence.table = self._new_table({**names, number: name})
        else:
            names[number] = name

    def _publish(self, sequence: _Sequence) -> None:
        """Write the state of a sequence where the kernel reads it."""
        row = self._sequence_rows[sequence.row]
        row[kernels.HAS_STATE] = sequence.has_state
        row[kernels.CLOCK] = sequence.clock
        row[kernels.HAS_TRACK] = sequence.track is not None
        row[kernels.TRACK] = np.array(sequence.track or 0, np.uint64).astype(np.int64)
        row[kernels.TABLE] = sequence.table
        row[kernels.PID], row[kernels.TID] = sequence.pid, sequence.tid

    def _take(self, at: int, packed: memoryview, depth: int) -> None:
        problems = self._recording.problems
        try:
            packet = self._decode(bytes(packed))
        except Exception as error:  # protobuf's backends raise different ones
            problems.add("malformed", f"the packet at byte {at:,} ({type(error).__name__})")
            return
        self._typed_packets += 1
        # Requesting all fields is faster than testing each.
        fields = {field.name: value for field, value in packet.ListFields()}
        number = fields.get("trusted_packet_sequence_id", 0)
        is_new = number not in self._sequences
        sequence = self._sequence(number)
        if not is_new and fields.get("previous_packet_dropped"):
            sequence.has_state = False
            problems.add("lost", f"before byte {at:,}")
        flags = fields.get("sequence_flags", 0)
        if flags & _STATE_CLEARED or fields.get("incremental_state_cleared"):
            sequence.clear(self._new_table({}))
        if "interned_data" in fields:
            for entry in packet.interned_data.event_names:
                self._intern(sequence, entry.iid, _text(entry.name))
        if "trace_packet_defaults" in fields:
            defaults = packet.trace_packet_defaults
            sequence.clock = defaults.timestamp_clock_id
            if defaults.track_event_defaults.HasField("track_uuid"):
                sequence.track = defaults.track_event_defaults.track_uuid
            sequence.counters = list(defaults.track_event_defaults.extra_counter_track_uuids)
        self._publish(sequence)
        if "track_event" not in fields:
            self._other(at, packet, packed, number, sequence, depth)
        elif flags & _NEEDS_STATE and not sequence.has_state:
            problems.add("lost", f"byte {at:,}: what this packet refers to")
        else:
            event = {field.name: value for field, value in fields["track_event"].ListFields()}
            self._track_event(at, fields, event, number, sequence)

    def _take_bundles(self, data: memoryview, column: NDArray[np.uint8], at: int) -> int:
        """Take packets that hold no more than a bundle of the scheduler's events; return where they end."""
        first, stop, sequence = self._bundles
        count, at = find_bundles(column, at, first, stop, sequence)
        for number in np.unique(sequence[:count]).tolist():
            self._sequence(number)
        self._typed_packets += count
        for low, high in zip(first[:count].tolist(), stop[:count].tolist(), strict=True):
            self._scheduler.add(data[low:high])
        return int(at)

    def _other(
        self, at: int, packet: Any, packed: memoryview, number: int, sequence: _Sequence, depth: int
    ) -> None:
        """Take a packet that is not a track event."""
        what = packet.WhichOneof("data")
        if what == "track_descriptor":
            self._descriptors[packet.track_descriptor.uuid] = packet.track_descriptor
        elif what == "clock_snapshot":
            self._clocks.snapshot(number, packet.clock_snapshot)
        elif what == "thread_descriptor":
            thread = packet.thread_descriptor
            sequence.pid, sequence.tid = thread.pid, thread.tid
            self._sequence_rows[sequence.row, kernels.TIME_US] = thread.reference_timestamp_us
            self._publish(sequence)
            if thread.thread_name:
                self._thread_names[thread.pid, thread.tid] = _text(thread.thread_name)
        elif what == "process_tree":
            for process in packet.process_tree.processes:
                self._process_names[process.pid] = " ".join(map(_text, process.cmdline))
            for thread in packet.process_tree.threads:
                self._thread_names[thread.tgid, thread.tid] = _text(thread.name)
        elif what == "ftrace_events":
            self._scheduler.add(packet.ftrace_events.SerializeToString())
        elif what in MEASURED:
            self._measures.add(packet, self._clocks.time(number, packet.timestamp_clock_id, packet.timestamp))
        elif what in (None, "heap_graph"):
            shown = self._clocks.time(number, packet.timestamp_clock_id, packet.timestamp)
            self._unknown(at, packed, number, -1 if shown is None else shown)
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
        self.read(memoryview(data), silent, depth=1)

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
            track = self.rows.track(event["track_uuid"])
        elif legacy is not None and (legacy.pid_override or legacy.tid_override or sequence.track is None):
            process, tid = legacy.pid_override or sequence.pid, legacy.tid_override or sequence.tid
            track = self._thread_track(process, tid)
        elif sequence.track is not None:
            track = self.rows.track(sequence.track)
        elif sequence.tid:
            track = self._thread_track(sequence.pid, sequence.tid)
        else:
            track = self.rows.track(0)
        name = _text(event.get("name", ""))
        if not name and (iid := event.get("name_iid", 0) or (legacy.name_iid if legacy is not None else 0)):
            name = self._tables[sequence.table].get(iid, "")
        kind = event.get("type", 0)
        if kind == _SLICE_BEGIN:
            self.rows.add(at, track, kernels.BEGIN, self.rows.text(name), time)
        elif kind == _SLICE_END:
            self.rows.add(at, track, kernels.END, kernels.NO_NAME, time)
        elif kind == _INSTANT:
            self.rows.add(at, track, kernels.INSTANT, self.rows.text(name), time)
        elif kind == _COUNTER:
            value = event.get("counter_value", event.get("double_counter_value"))
            if value is not None:
                self._add_counter(at, event.get("track_uuid") or sequence.track or 0, time, value)
        elif legacy is not None and legacy.phase:
            self._legacy(at, track, name, time, legacy)
        else:
            self._recording.problems.add(
                "unsupported", f"the packet at byte {at:,}: a track event of type {kind}"
            )
            return
        uuids = event.get("extra_counter_track_uuids") or sequence.counters
        for uuid, value in zip(uuids, event.get("extra_counter_values", ()), strict=False):
            self._add_counter(at, uuid, time, value)
        uuids = event.get("extra_double_counter_track_uuids", ())
        for uuid, value in zip(uuids, event.get("extra_double_counter_values", ()), strict=False):
            self._add_counter(at, uuid, time, value)
        for field, ends in _FLOW_FIELDS:
            for flow in event.get(field, ()):
                self.rows.add_flow(flow, track, time, ends)
        if legacy is not None and legacy.bind_id and legacy.flow_direction:
            self.rows.add_flow(legacy.bind_id, track, time, int(legacy.flow_direction == 1))

    def _time(
        self, packet: dict[str, Any], event: dict[str, Any], number: int, sequence: _Sequence
    ) -> int | None:
        if "timestamp_delta_us" in event:
            row = self._sequence_rows[sequence.row]
            time_us = int(row[kernels.TIME_US]) + event["timestamp_delta_us"]
            # What is no time is counted for each event; the next one goes on behind it.
            row[kernels.TIME_US] = min(max(time_us, -_TIME_LIMIT), _TIME_LIMIT)
            return int(time_us) * 1000
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
            self.rows.add(at, track, kernels.COMPLETE, self.rows.text(name), time, min(end, _TIME_LIMIT))
        elif phase == "B":
            self.rows.add(at, track, kernels.BEGIN, self.rows.text(name), time)
        elif phase == "E":
            self.rows.add(at, track, kernels.END, kernels.NO_NAME, time)
        elif phase in "IinR":
            self.rows.add(at, track, kernels.INSTANT, self.rows.text(name), time)
        elif phase in "bSeF":
            self._span(at, track, name, time, legacy, phase in "bS")
        elif phase in "stf":
            self.rows.add_flow(
                legacy.unscoped_id or legacy.global_id or legacy.local_id, track, time, int(phase == "f")
            )
        else:
            self._recording.problems.add(
                "unsupported", f"the packet at byte {at:,}: an event of phase {phase}"
            )

    def _span(self, at: int, track: int, name: str, time: int, legacy: Any, begins: bool) -> None:
        which = legacy.WhichOneof("id")
        number = getattr(legacy, which) if which else 0
        if not legacy.id_scope:
            kind = kernels.SPAN + 2 * _IDS.index(which) + (not begins)
            text = self.rows.text(name) if begins else kernels.NO_NAME
            self.rows.add(at, track, kind, text, time, number - (number >> 63 << 64))
            return
        key = (which, number, _text(legacy.id_scope), track if which == "local_id" else -1)
        stack = self._open_spans.setdefault(key, [])
        if begins:
            text = self._recording.text("spans", name or UNNAMED)
            self._spans.append((text, track, time, -1, stack[-1] if stack else -1))
            stack.append(len(self._spans) - 1)
        elif stack:
            row = stack.pop()
            self._spans[row] = (*self._spans[row][:3], max(time, self._spans[row][2]), self._spans[row][4])
        else:
            self._recording.problems.add("unmatched end", f"the packet at byte {at:,}")

    def _unknown(self, at: int, packed: memoryview, sequence: int, time: int) -> None:
        """Take a packet whose data the messages of the package don't know, or of some versions not."""
        for number, value in plain_fields(packed).items():
            if number == _FRAME and not isinstance(value, int):
                self._frame(at, plain_fields(value), time)
            elif number == HEAP_GRAPH and not isinstance(value, int):
                self._heap_graph(at, sequence, time, bytes(value))
            elif number not in self._known_fields:
                self._recording.problems.add("unsupported", f"byte {at:,}: field {number} of a packet")

    def _heap_graph(self, at: int, sequence: int, time: int, part: bytes) -> None:
        if not 0 <= time < _TIME_LIMIT:
            self._recording.problems.add("bad time", f"the packet at byte {at:,}")
            time = 0
        self._heaps.add(sequence, time, part)

    def _frame(self, at: int, event: dict[int, int | memoryview], time: int) -> None:
        """Take the begin or the end of a picture that Android should show, or shows."""
        which, said = next(iter(event.items()), (0, 0))
        frame = {} if isinstance(said, int) else plain_fields(said)
        cookie = frame.get(1, 0)
        is_whole = not isinstance(said, int) and isinstance(cookie, int)
        if not is_whole or which not in _FRAMES or not 0 <= time < _TIME_LIMIT:
            self._recording.problems.add("malformed", f"the packet at byte {at:,}: a frame")
            return
        name, pid_field, layer_field, jank_field = _FRAMES[which]
        stack = self._open_spans.setdefault(("frame", cookie), [])
        if not name:
            if stack:
                row = stack.pop()
                self._spans[row] = (*self._spans[row][:3], max(time, self._spans[row][2]), -1)
            return
        pid, jank, layer = (frame.get(field, 0) for field in (pid_field, jank_field, layer_field))
        pid = pid if isinstance(pid, int) and 0 <= pid < 1 << 31 else 0
        if isinstance(jank, int) and jank > _NO_JANK:
            name += ", late"
        if not isinstance(layer, int):
            name = f"{name}: {_text(bytes(layer))}"
        track = self._thread_track(pid, pid)
        self._spans.append((self._recording.text("spans", name), track, time, -1, -1))
        stack.append(len(self._spans) - 1)

    # -- rows ----------------------------------------------------------------------------------

    def _thread_track(self, process: int, tid: int) -> int:
        return self.rows.track(process, 1 + tid)

    def _add_counter(self, at: int, uuid: int, time: int, value: float) -> None:
        is_whole = isinstance(value, int)
        more = value if is_whole else int(np.float64(value).view(np.int64))
        kind = kernels.INTEGER if is_whole else kernels.FLOAT
        self.rows.add(at, self.rows.track(uuid), kind, kernels.NO_NAME, time, int(more))

    # -- the end -------------------------------------------------------------------------------

    def finish(self) -> None:
        """Hand all rows to the recording, now that every track is known."""
        recording, rows = self._recording, self.rows.finish(self._tables)
        n = int(self.rows.state[kernels.TRACKS])
        is_timed, is_counted = rows.used(n)
        is_timed[[span[1] for span in self._spans]] = True
        thread: NDArray[np.int32] = np.full(n, -1, np.int32)
        series: NDArray[np.int32] = np.full(n, -1, np.int32)
        keys = zip(self.rows.tracks.first[:n].tolist(), self.rows.tracks.second[:n].tolist(), strict=True)
        for number, key in enumerate(keys):
            process, tid, name = self._timeline(*key)
            if is_timed[number]:
                thread[number] = recording.thread(process, tid)
                if name:
                    recording.name_thread(process, tid, name)
            if is_counted[number]:
                series[number] = recording.series(process, name or f"counter {key[0]}")
        for pid, name in self._process_names.items():
            recording.name_process(pid, name)
        self._finish_events(rows, thread)
        self._finish_counters(rows, series)
        self._finish_flows(rows.flows, thread)
        self._finish_spans(rows, thread)
        self._measures.finish(recording)
        if len(self._scheduler):
            self._finish_scheduler(thread)
        if self._heaps.finish(is_alone=not len(rows.events["kind"]) and not len(self._scheduler)):
            self.split = names.split_class

    def _finish_scheduler(self, thread: NDArray[np.int32]) -> None:
        """Add what the kernel said of threads, those of track events among them."""
        named = [(process, tid, name) for (process, tid), name in self._thread_names.items()]
        for descriptor in self._descriptors.values():
            if descriptor.HasField("thread"):
                said = descriptor.thread
                named.append((said.pid, said.tid, _text(said.thread_name)))
        threads = self._recording.threads
        busy = {threads[number][1] for number in np.unique(thread[thread >= 0]).tolist()}
        shown = self._clocks.time(0, _BOOTTIME, 0)
        numbers = {tid for tid in busy if isinstance(tid, int)}
        self._scheduler.finish(named, shown or 0, numbers)

    def _finish_events(self, rows: Finished, thread: NDArray[np.int32]) -> None:
        recording, events = self._recording, rows.events
        kind, function, track = events["kind"], events["name"], events["track"]
        is_end = kind == kernels.END
        # Numbers change where they lie: of large traces a second column has no room.
        names, number = rows.names(function, is_end)
        table = recording.functions(names)[number] if names else number
        if number[-1] < 0:
            table[-1] = -1
            renumber(function, table)
        else:
            # Some that begin have no name either.
            renumber(function, table)
            function[is_end] = -1
        renumber(track, thread)
        is_complete = kind == kernels.COMPLETE
        any_complete = bool(is_complete.any())
        recording.add_events(
            thread=track,
            kind=kind,
            function=function,
            time=events["time"],
            end=np.where(is_complete, events["more"], events["time"]) if any_complete else None,
        )
        instants = rows.instants
        if len(instants["time"]):
            names, number = rows.names(instants["name"])
            text = np.array([recording.text("instants", name) for name in names], np.int32)
            text = text[number[instants["name"]]]
            recording.add_instants(name=text, thread=thread[instants["track"]], time=instants["time"])

    def _finish_counters(self, rows: Finished, series: NDArray[np.int32]) -> None:
        """Bring counters to their units; those that say by how much they grow are summed."""
        track, value = rows.counters["track"], rows.values()
        if not len(track):
            return
        for number in np.flatnonzero(series >= 0).tolist():
            descriptor = self._descriptors.get(int(self.rows.tracks.first[number]))
            if descriptor is None or not descriptor.HasField("counter"):
                continue
            unit = descriptor.counter.unit_multiplier or 1
            if unit != 1 or descriptor.counter.is_incremental:
                own = np.flatnonzero(track == number)
                value[own] *= unit
                if descriptor.counter.is_incremental:
                    value[own] = np.cumsum(value[own])
        self._recording.add_counters(series=series[track], time=rows.counters["time"], value=value)

    def _timeline(self, uuid: int, after: int) -> tuple[RecordedId, RecordedId, str]:
        """Return process, thread id and name of a track, by its key."""
        if after:
            process, tid = uuid, after - 1
            return process, tid, self._thread_names.get((process, tid), "")
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

    def _finish_flows(self, flows: dict[str, NDArray[Any]], thread: NDArray[np.int32]) -> None:
        """Join the events of each flow, in the order of their times, by arrows."""
        flow, track, time, ends = flows["flow"], flows["track"], flows["time"], flows["ends"]
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

    def _finish_spans(self, rows: Finished, thread: NDArray[np.int32]) -> None:
        paired = self._paired(rows)
        scoped = np.array(self._spans, np.int64).reshape(-1, 5)
        scoped[scoped[:, 4] >= 0, 4] += len(paired)
        name, track, start, end, parent = np.concatenate((paired, scoped)).T
        if not len(name):
            return
        never = end < 0
        is_complete = rows.events["kind"] == kernels.COMPLETE
        last = max(
            (
                int(times.max())
                for times in (rows.events["time"], rows.events["more"][is_complete], start, end)
                if len(times)
            ),
            default=0,
        )
        self._recording.problems.add("unmatched begin", "an asynchronous event", int(never.sum()))
        self._recording.add_spans(
            name=name, thread=thread[track], start=start, end=np.where(never, last, end), parent=parent
        )

    def _paired(self, rows: Finished) -> NDArray[np.int64]:
        """Return name, track, start, end (-1: never) and parent of operations whose ids have no scopes."""
        spans = rows.spans
        kind, n = spans["kind"].astype(np.int64) - kernels.SPAN, len(spans["kind"])
        is_local = kind // 2 == _IDS.index("local_id")
        _, number = numbered(np.ascontiguousarray(spans["more"]))
        group = (number.astype(np.int64) << 34) + ((kind // 2) << 32) + np.where(is_local, spans["track"], 0)
        order = np.argsort(group, kind="stable")
        begins = (kind[order] % 2 == 0).astype(np.uint8)
        out, lost, count = np.empty((4, int(begins.sum())), np.int64), np.zeros(2, np.int64), 0
        if n:
            time = spans["time"][order]
            # An end closes the innermost operation, whatever its name.
            any_name = np.full(n, -1)
            count = pair_spans(group[order], begins, any_name, time, -1, out[0], out[1], out[2], out[3], lost)
        start, end, parent, row = out
        self._recording.problems.add(
            "unmatched end", "an asynchronous event", int(lost[0]) - int((end < 0).sum())
        )
        row = order[row]
        names, number = rows.names(spans["name"][row])
        text = np.array([self._recording.text("spans", name) for name in names], np.int64)
        number = number[spans["name"][row]]
        end = np.where(end < 0, -1, np.maximum(end, start))
        columns = text[number], spans["track"][row], start, end, parent
        found: NDArray[np.int64] = np.stack(columns, axis=1).astype(np.int64).reshape(count, 5)
        return found
