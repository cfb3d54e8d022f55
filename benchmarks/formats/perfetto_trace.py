"""Writes a large trace as programs with Perfetto's SDK do: interned names, and times as differences."""

from __future__ import annotations

import random
from pathlib import Path

THREADS, NAMES, DEEPEST = 4, 200, 30


def write(path: Path, events: int) -> None:
    """Write ``events`` begins and ends on :data:`THREADS` threads."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

    packet, rng = protos.TracePacket, random.Random(1)
    written = bytearray()

    def framed(message: protos.TracePacket) -> bytes:
        return bytes(protos.Trace(packet=[message]).SerializeToString())

    for thread in range(THREADS):
        first = packet(trusted_packet_sequence_id=thread + 1, sequence_flags=1)
        first.clock_snapshot.clocks.add(clock_id=6, timestamp=1000)
        first.clock_snapshot.clocks.add(clock_id=64, timestamp=0, is_incremental=True)
        track = packet(trusted_packet_sequence_id=thread + 1)
        track.track_descriptor.uuid = 100 + thread
        track.track_descriptor.thread.pid, track.track_descriptor.thread.tid = 1, 10 + thread
        names = packet(trusted_packet_sequence_id=thread + 1, sequence_flags=2)
        for number in range(NAMES):
            names.interned_data.event_names.add(iid=1 + number, name=f"function number {number}")
        names.trace_packet_defaults.timestamp_clock_id = 64
        names.trace_packet_defaults.track_event_defaults.track_uuid = 100 + thread
        written += b"".join(map(framed, (first, track, names)))
    depth, known = [0] * THREADS, {}
    for _ in range(events):
        thread, step = rng.randrange(THREADS), rng.randrange(1, 50) * 100
        ends = depth[thread] > 0 and (depth[thread] >= DEEPEST or rng.random() < 0.5)
        depth[thread] += -1 if ends else 1
        name = 0 if ends else 1 + rng.randrange(NAMES)
        key = thread, step, name
        if key not in known:
            event = packet(trusted_packet_sequence_id=thread + 1, sequence_flags=2, timestamp=step)
            event.track_event.type = 2 if ends else 1
            if name:
                event.track_event.name_iid = name
                event.track_event.category_iids.append(1)
            known[key] = framed(event)
        written += known[key]
    path.write_bytes(written)
