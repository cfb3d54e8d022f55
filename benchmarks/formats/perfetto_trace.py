"""Writes large traces: as programs with Perfetto's SDK do, as the kernel's scheduler, and as Chrome."""

from __future__ import annotations

import random
from pathlib import Path

THREADS, NAMES, DEEPEST, PROCESSORS = 4, 200, 30, 4


def write(path: Path, events: int) -> None:
    """Write ``events`` begins and ends on :data:`THREADS` threads: interned names, times as differences."""
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


def write_switches(path: Path, events: int, *, compact: bool) -> None:
    """Write what the scheduler does, in bundles of 200 events of one processor: singly, or as columns."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

    rng, runs, now = random.Random(1), [0] * PROCESSORS, 10**9
    names = [f"worker-{tid}" for tid in range(1, 61)]
    with open(path, "wb") as file:
        for number in range(events // 200):
            cpu = number % PROCESSORS
            packet = protos.TracePacket(trusted_packet_sequence_id=1)
            bundle = packet.ftrace_events
            bundle.cpu = cpu
            last = {"switch": 0, "waking": 0}
            if compact:
                bundle.compact_sched.intern_table.extend(names)
            for _ in range(200):
                now += rng.randrange(1, 40) * 100
                tid, kind = rng.randrange(1, 61), rng.choice(("switch", "waking"))
                rest = rng.choice((0, 1))
                step, last[kind] = now - last[kind], now
                columns = bundle.compact_sched
                if compact and kind == "switch":
                    columns.switch_timestamp.append(step)
                    columns.switch_prev_state.append(rest)
                    columns.switch_next_pid.append(tid)
                    columns.switch_next_comm_index.append(tid - 1)
                elif compact:
                    columns.waking_timestamp.append(step)
                    columns.waking_pid.append(tid)
                    columns.waking_comm_index.append(tid - 1)
                    columns.waking_common_flags.append(0)
                elif kind == "switch":
                    event = bundle.event.add(timestamp=now, pid=runs[cpu])
                    said = event.sched_switch
                    said.prev_pid, said.prev_state, said.prev_comm = runs[cpu], rest, f"worker-{runs[cpu]}"
                    said.next_pid, said.next_comm = tid, names[tid - 1]
                else:
                    event = bundle.event.add(timestamp=now, pid=runs[cpu])
                    event.sched_waking.pid, event.sched_waking.comm = tid, names[tid - 1]
                if kind == "switch":
                    runs[cpu] = tid
            file.write(protos.Trace(packet=[packet]).SerializeToString())


def write_legacy(path: Path, events: int) -> None:
    """Write events as Chrome's trace events are written into packets: complete ones, and pairs."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

    rng, depth = random.Random(1), 0
    first = protos.TracePacket(trusted_packet_sequence_id=1, sequence_flags=1)
    first.thread_descriptor.pid, first.thread_descriptor.tid = 1, 20
    first.thread_descriptor.reference_timestamp_us = 1000
    for number in range(NAMES):
        first.interned_data.event_names.add(iid=1 + number, name=f"function number {number}")
    with open(path, "wb") as file:
        file.write(protos.Trace(packet=[first]).SerializeToString())
        for _ in range(events):
            packet = protos.TracePacket(trusted_packet_sequence_id=1)
            packet.track_event.timestamp_delta_us = 2
            said = packet.track_event.legacy_event
            kinds = "XB" if not depth else "XE" if depth == DEEPEST else "XBE"
            said.phase, said.name_iid = ord(rng.choice(kinds)), 1 + rng.randrange(NAMES)
            depth += {"X": 0, "B": 1, "E": -1}[chr(said.phase)]
            if said.phase == ord("X"):
                said.duration_us = 1
            file.write(protos.Trace(packet=[packet]).SerializeToString())
