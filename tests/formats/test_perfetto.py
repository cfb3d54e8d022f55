"""Perfetto's protobuf: a recording against its JSON twin, and packets made up."""

import gzip
import json
import sys
import zlib
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.errors import InputError, MissingDependency
from tracevis3d.formats import registry
from tracevis3d.formats.perfetto import format as perfetto
from tracevis3d.kernels.formats.protobuf import track_events as kernels
from tracevis3d.progress import silent

pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def read(path):
    return registry.open_trace(path)


def rows(trace):
    names = list(trace.functions.name)
    calls = trace.calls
    found = defaultdict(list)
    for t, f, start, end, depth in zip(
        calls.thread.tolist(),
        calls.function.tolist(),
        calls.start.tolist(),
        calls.end.tolist(),
        calls.depth.tolist(),
        strict=True,
    ):
        place = (trace.threads.process[t], trace.threads.tid[t])
        found[place].append((names[f], start + trace.origin_ns, end + trace.origin_ns, depth))
    return dict(found)


class Packets:
    """Writes packets, each of one sequence."""

    def __init__(self):
        self.trace = pb2.Trace()

    def packet(self, at=None, *, sequence=1, **fields):
        packet = self.trace.packet.add(trusted_packet_sequence_id=sequence, **fields)
        if at is not None:
            packet.timestamp = at
        return packet

    def thread(self, uuid, tid, name="", pid=1, **more):
        self.packet().track_descriptor.CopyFrom(
            pb2.TrackDescriptor(uuid=uuid, thread={"pid": pid, "tid": tid, "thread_name": name}, **more)
        )

    def event(self, at, kind, uuid=None, *, sequence=1, flags=0, packet=None, **fields):
        packet = packet or self.packet(at, sequence=sequence, sequence_flags=flags)
        packet.track_event.CopyFrom(pb2.TrackEvent(type=kind, **fields))
        if uuid is not None:
            packet.track_event.track_uuid = uuid
        return packet

    def save(self, path):
        path.write_bytes(self.trace.SerializeToString())
        return path


@pytest.fixture
def packets():
    return Packets()


def test_a_recording_has_the_calls_of_its_json(recorded):
    trace = read(recorded / "python_threads" / "thr_v311.pftrace")
    assert trace.source.format == "perfetto"
    assert (len(trace.calls), len(trace.threads)) == (5365, 6)
    assert not trace.problems
    slices, names = defaultdict(list), {}
    for event in json.loads((recorded / "python_threads" / "thr_v311.json").read_bytes())["traceEvents"]:
        if event["ph"] == "X":
            start = round(event["ts"] * 1000)
            slices[event["pid"], event["tid"]].append((event["name"], start, round(event["dur"] * 1000)))
        elif event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
    found = rows(trace)
    assert set(found) == set(slices)
    for place, calls in slices.items():
        mine = [(name, start, end - start) for name, start, end, _ in found[place]]
        assert sorted(mine) == sorted(calls)
    assert dict(zip(trace.threads.tid, trace.threads.name, strict=True)) == names


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_slices_of_threads(tmp_path, packets, pack):
    packets.packet().track_descriptor.CopyFrom(
        pb2.TrackDescriptor(uuid=1, process={"pid": 1, "process_name": "prog"})
    )
    packets.thread(2, 20, "main", parent_uuid=1)
    packets.thread(3, 30)
    packets.event(100, BEGIN, 2, name="a")
    packets.event(110, BEGIN, 3, name="b")
    packets.event(120, BEGIN, 2, name="c")
    for at, uuid in ((130, 2), (140, 2), (150, 3)):
        packets.event(at, END, uuid)
    path = packets.save(tmp_path / "a")
    path.write_bytes(pack(path.read_bytes()))
    trace = read(path)
    assert rows(trace) == {(1, 20): [("a", 100, 140, 1), ("c", 120, 130, 2)], (1, 30): [("b", 110, 150, 1)]}
    assert trace.threads.name == ("main", "")
    assert trace.threads.process_name == ("prog", "prog")
    assert not trace.problems


def test_names_and_defaults_belong_to_their_sequence(tmp_path, packets):
    packets.thread(2, 20)
    for sequence, name in ((1, "one"), (2, "two")):
        packet = packets.packet(sequence=sequence, sequence_flags=1)
        packet.interned_data.event_names.add(iid=5, name=name)
        packet.trace_packet_defaults.track_event_defaults.track_uuid = 2
    packets.event(10, BEGIN, sequence=1, flags=2, name_iid=5)
    packets.event(20, BEGIN, sequence=2, flags=2, name_iid=5)
    packets.event(30, BEGIN, sequence=2, flags=2, name_iid=6)
    # What was interned is forgotten, and no longer to be trusted after a loss.
    packets.packet(sequence=1, sequence_flags=1)
    packets.event(40, BEGIN, 2, sequence=1, flags=2, name_iid=5)
    packets.event(50, BEGIN, sequence=2, flags=2, name_iid=5).previous_packet_dropped = 1
    for at in range(60, 64):
        packets.event(at, END, 2, sequence=3)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    assert rows(trace) == {
        (1, 20): [("one", 10, 63, 1), ("two", 20, 62, 2), ("(unnamed)", 30, 61, 3), ("(unnamed)", 40, 60, 4)]
    }
    assert trace.problems["no name"].count == 2
    assert trace.problems["lost"].count == 2


def test_clocks_are_brought_together(tmp_path, packets):
    packets.thread(2, 20)
    packet = packets.packet(sequence=1)
    for clock, shown, more in (
        (6, 1_000_000, {}),
        (3, 400_000, {}),
        (64, 7, {"unit_multiplier_ns": 1000, "is_incremental": True}),
    ):
        packet.clock_snapshot.clocks.add(clock_id=clock, timestamp=shown, **more)
    packets.event(1_000_500, BEGIN, 2, name="boottime")
    packets.event(400_600, BEGIN, 2, name="monotonic").timestamp_clock_id = 3
    packets.event(2, BEGIN, 2, name="own").timestamp_clock_id = 64
    packets.event(3, BEGIN, 2, name="later").timestamp_clock_id = 64
    packets.event(9, BEGIN, 2, name="never shown", sequence=2).timestamp_clock_id = 64
    trace = read(packets.save(tmp_path / "a.pftrace"))
    starts = {name: start for name, start, _, _ in rows(trace)[1, 20]}
    assert starts == {"boottime": 1_000_500, "monotonic": 1_000_600, "own": 1_002_000, "later": 1_005_000}
    assert trace.problems["bad time"].count == 1
    assert trace.problems["unmatched begin"].count == 4


def test_tracks_that_are_no_threads_have_timelines_of_their_own(tmp_path, packets):
    packets.packet().track_descriptor.CopyFrom(
        pb2.TrackDescriptor(uuid=1, process={"pid": 9, "cmdline": ["p", "-x"]})
    )
    packets.packet().track_descriptor.CopyFrom(pb2.TrackDescriptor(uuid=4, parent_uuid=1, name="queue"))
    for uuid in (1, 4, 5):
        packets.event(10 * uuid, BEGIN, uuid, name=f"on {uuid}")
        packets.event(10 * uuid + 5, END, uuid)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    assert rows(trace) == {
        (9, 1): [("on 1", 10, 15, 1)],
        (9, 4): [("on 4", 40, 45, 1)],
        (0, 5): [("on 5", 50, 55, 1)],
    }
    assert trace.threads.name == ("", "queue", "")
    assert trace.threads.process_name == ("p -x", "p -x", "")


def test_instants_counters_and_flows(tmp_path, packets):
    packets.thread(2, 20)
    packets.thread(3, 30)
    packets.packet().track_descriptor.CopyFrom(
        pb2.TrackDescriptor(uuid=7, parent_uuid=2, name="bytes", counter={"unit_multiplier": 1024})
    )
    packets.packet().track_descriptor.CopyFrom(
        pb2.TrackDescriptor(uuid=8, name="sum", counter={"is_incremental": True})
    )
    packets.event(
        10, BEGIN, 2, name="send", flow_ids=[77], extra_counter_track_uuids=[8], extra_counter_values=[3]
    )
    packets.event(20, END, 2, extra_counter_track_uuids=[8], extra_counter_values=[4])
    packets.event(15, INSTANT, 2, name="now")
    packets.event(30, BEGIN, 3, name="receive", terminating_flow_ids=[77])
    packets.event(40, END, 3)
    packets.event(50, BEGIN, 3, name="again", flow_ids=[77])
    packets.event(60, END, 3)
    packets.event(12, COUNTER, 7, counter_value=2)
    packets.event(13, COUNTER, 7, double_counter_value=0.5)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    names = list(trace.functions.name)
    assert [trace.instants.names[i] for i in trace.instants.name] == ["now"]
    assert trace.instants.time.tolist() == [5]
    series = dict(zip(trace.counters.name, range(len(trace.counters)), strict=True))
    values = {
        name: trace.counters.value[trace.counters.first[i] : trace.counters.first[i + 1]].tolist()
        for name, i in series.items()
    }
    assert values == {"bytes": [2048.0, 512.0], "sum": [3.0, 7.0]}
    ends = zip(trace.flows.source.tolist(), trace.flows.target.tolist(), strict=True)
    called = trace.calls.function
    assert [(names[called[a]], names[called[b]]) for a, b in ends] == [("send", "receive")]
    assert not trace.problems


def test_events_of_the_old_kind(tmp_path, packets):
    packet = packets.packet(sequence_flags=1)
    packet.thread_descriptor.pid, packet.thread_descriptor.tid = 1, 20
    packet.thread_descriptor.thread_name = "main"
    packet.thread_descriptor.reference_timestamp_us = 1000

    def legacy(phase, name="", **fields):
        more = {
            key: fields.pop(key) for key in ("timestamp_delta_us", "timestamp_absolute_us") if key in fields
        }
        packets.event(None, 0, name=name, legacy_event={"phase": ord(phase), **fields}, **more)

    legacy("X", "x", timestamp_delta_us=5, duration_us=100)
    legacy("B", "b", timestamp_delta_us=5)
    legacy("E", timestamp_delta_us=5)
    legacy("I", "i", timestamp_absolute_us=1017)
    legacy("b", "load", timestamp_absolute_us=1020, global_id=4)
    legacy("b", "step", timestamp_absolute_us=1030, global_id=4)
    legacy("e", "step", timestamp_absolute_us=1040, global_id=4)
    legacy("e", "load", timestamp_absolute_us=1050, global_id=4)
    legacy("X", "other", timestamp_absolute_us=1060, duration_us=1, pid_override=2, tid_override=3)
    legacy("V", "odd", timestamp_absolute_us=1061)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    us = 1000
    assert rows(trace) == {
        (1, 20): [("x", 1005 * us, 1105 * us, 1), ("b", 1010 * us, 1015 * us, 2)],
        (2, 3): [("other", 1060 * us, 1061 * us, 1)],
    }
    assert trace.threads.name == ("main", "")
    assert [trace.spans.names[i] for i in trace.spans.name] == ["load", "step"]
    assert trace.spans.parent.tolist() == [-1, 0]
    assert (trace.spans.end - trace.spans.start).tolist() == [30 * us, 10 * us]
    assert len(trace.instants) == 1
    assert trace.problems["unsupported"].count == 1


def test_packed_packets_and_those_of_other_sources(tmp_path, packets):
    packets.thread(2, 20)
    packets.event(10, BEGIN, 2, name="a")
    inner = packets.trace.SerializeToString()
    outer = Packets()
    outer.packet().compressed_packets = zlib.compress(inner)
    outer.packet().compressed_packets = b"nonsense"
    outer.packet().sys_stats.SetInParent()
    outer.event(20, END, 2)
    outer.packet().process_tree.threads.add(tid=20, tgid=1, name="from the tree")
    trace = read(outer.save(tmp_path / "a.pftrace"))
    assert rows(trace) == {(1, 20): [("a", 10, 20, 1)]}
    assert trace.threads.name == ("from the tree",)
    assert trace.problems["malformed"].count == 1
    assert trace.problems["unsupported"].first.endswith("sys_stats")


def test_every_cut_is_read_packet_by_packet(tmp_path, packets):
    packets.thread(2, 20)
    for i in range(10):
        packets.event(10 * i, BEGIN, 2, name=f"f{i}")
        packets.event(10 * i + 5, END, 2)
    path = packets.save(tmp_path / "a.pftrace")
    data = path.read_bytes()
    ends, at = [], 0
    for packet in packets.trace.packet:
        at += 2 + packet.ByteSize()
        ends.append(at)
    assert at == len(data)
    for size in range(ends[2], len(data)):
        path.write_bytes(data[:size])
        trace = perfetto.read(path, silent)
        whole = sum(end <= size for end in ends)
        assert len(trace.calls) == whole // 2
        assert ("truncated" in trace.problems) == (size not in ends)


def test_a_damaged_packet_is_left_out(tmp_path, packets):
    packets.thread(2, 20)
    packets.event(10, BEGIN, 2, name="a")
    packets.event(20, END, 2)
    data = packets.trace.SerializeToString()
    (tmp_path / "a.pftrace").write_bytes(
        data + b"\x0a\x03\x42\x42\x42" + data[-2 - packets.trace.packet[2].ByteSize() :]
    )
    trace = read(tmp_path / "a.pftrace")
    assert rows(trace) == {(1, 20): [("a", 10, 20, 1)]}
    assert trace.problems["malformed"].first == f"the packet at byte {len(data)} (DecodeError)"


def test_names_that_are_no_utf8_are_read(tmp_path, packets):
    # Found by fuzzing: protobuf hands them over as bytes.
    packets.thread(2, 20, "main")
    packets.event(10, BEGIN, 2, name="name")
    packets.event(20, END, 2)
    path = packets.save(tmp_path / "a.pftrace")
    path.write_bytes(path.read_bytes().replace(b"name", b"na\xffe").replace(b"main", b"m\xfein"))
    trace = read(path)
    assert rows(trace) == {(1, 20): [("na\ufffde", 10, 20, 1)]}
    assert trace.threads.name == ("m\ufffdin",)


@pytest.mark.parametrize("data", [b"\x0a\xff", b"\x0a\x05\x42", b"\n\n\n", b"\xff\xff"])
def test_what_holds_no_packet_is_refused_in_one_sentence(tmp_path, data):
    path = tmp_path / "a.pftrace"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.pftrace: byte 0: no packet of a Perfetto trace can be read"):
        perfetto.read(path, silent)


def test_without_the_package_a_sentence_says_what_to_install(tmp_path, packets, monkeypatch):
    packets.thread(2, 20)
    path = packets.save(tmp_path / "a.pftrace")
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace", None)
    with pytest.raises(MissingDependency, match="pip install perfetto"):
        perfetto.read(path, silent)


@pytest.mark.parametrize(
    "text", [b'\n{"traceEvents": []}', b"\n\nmain;a 1\n", b"\n" * 500, b"\n\x05hello\n\x05world"]
)
def test_text_is_not_taken_for_packets(text):
    assert perfetto.sniff(text, "a.json") == registry.NO


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes_end_in_a_trace_or_a_sentence(tmp_path_factory, noise, at):
    packets = Packets()
    packets.thread(2, 20)
    for i in range(8):
        packets.event(10 * i, BEGIN if i % 2 == 0 else END, 2, name="f")
    data = packets.trace.SerializeToString()
    path = tmp_path_factory.getbasetemp() / "noise.pftrace"
    path.write_bytes(data[:at] + noise + data[at:])
    try:
        trace = perfetto.read(path, silent)
    except InputError:
        pass
    else:
        assert len(trace.calls) <= 8 + len(noise)


TRACKS = st.sampled_from((0, 2, 3, 2**64 - 1))
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from((BEGIN, BEGIN, END, END, INSTANT, COUNTER, 0))},
    optional={
        "track_uuid": TRACKS,
        "name": st.sampled_from(("", "a", "b", "a long name of a function")),
        "name_iid": st.integers(1, 3),
        "counter_value": st.integers(-5, 2**40),
        "double_counter_value": st.floats(-1, 1),
        "flow_ids": st.lists(st.integers(1, 3), max_size=2),
        "terminating_flow_ids": st.lists(st.integers(1, 3), max_size=1),
        "flow_ids_old": st.lists(st.integers(1, 3), max_size=1),
        "category_iids": st.just([1]),
        "timestamp_delta_us": st.integers(0, 9),
        "extra_counter_values": st.just([7]),
        "legacy_event": st.just({"phase": ord("B"), "pid_override": 1, "tid_override": 4}),
    },
)
INTERNED = st.lists(st.tuples(st.integers(1, 3), st.sampled_from("abcd")), max_size=2)
PACKETS = st.fixed_dictionaries(
    {},
    optional={
        "trusted_packet_sequence_id": st.integers(0, 2),
        "timestamp": st.integers(0, 100) | st.sampled_from((2**40, 2**62, 2**64 - 1)),
        "timestamp_clock_id": st.sampled_from((1, 6, 64)),
        "sequence_flags": st.integers(0, 3),
        "previous_packet_dropped": st.integers(0, 1),
        "trusted_uid": st.integers(0, 9),
        "track_event": EVENTS,
        "interned_data": INTERNED.map(
            lambda named: {"event_names": [{"iid": i, "name": n} for i, n in named]}
        ),
        "trace_packet_defaults": st.fixed_dictionaries(
            {"timestamp_clock_id": st.sampled_from((0, 1, 64, 65))},
            optional={"track_event_defaults": st.fixed_dictionaries({"track_uuid": TRACKS})},
        ),
    },
)
OTHERS = st.one_of(
    st.builds(
        lambda unit, runs: {
            "clock_snapshot": {
                "clocks": [
                    {"clock_id": 6, "timestamp": 50},
                    {"clock_id": 64, "timestamp": 10, "unit_multiplier_ns": unit, "is_incremental": runs},
                    {"clock_id": 1, "timestamp": 2**61},
                ]
            },
            "trusted_packet_sequence_id": 1,
        },
        st.sampled_from((1, 1000, 2**40)),
        st.booleans(),
    ),
    st.builds(
        lambda uuid, runs: {
            "track_descriptor": {
                "uuid": uuid,
                "counter": {"unit_multiplier": 3, "is_incremental": runs},
                "name": "count",
            }
        },
        TRACKS,
        st.booleans(),
    ),
)


def content(path):
    """Return all that is read of a file, in a form that can be compared; or the sentence that refuses it."""
    try:
        trace = read(path)
    except InputError as error:
        return str(error)
    names = ("calls", "counters", "flows", "spans", "instants")
    tables = {
        name: {
            k: np.asarray(v).tolist() for k, v in vars(getattr(trace, name)).items() if hasattr(v, "dtype")
        }
        for name in names
    }
    return (
        tables, list(trace.functions.name), trace.threads.tid, trace.threads.name, trace.origin_ns,
        trace.problems.as_dict(),
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.lists(PACKETS | PACKETS | PACKETS | OTHERS, max_size=25),
    st.binary(max_size=6),
    st.integers(0, 2000),
    st.booleans(),
)
def test_the_kernel_reads_what_the_typed_messages_say(tmp_path_factory, packets, noise, at, packed):
    trace = pb2.Trace(packet=[pb2.TracePacket(**packet) for packet in packets])
    data = trace.SerializeToString()
    if packed:
        packed_packets = pb2.TracePacket(compressed_packets=zlib.compress(data))
        event = pb2.TracePacket(timestamp=3, track_event=pb2.TrackEvent(type=BEGIN, name="b", track_uuid=2))
        data = pb2.Trace(packet=[event, packed_packets, event]).SerializeToString()
    data = data[:at] + noise + data[at:]
    path = tmp_path_factory.mktemp("twin") / "a.pftrace"
    path.write_bytes(data)
    found = content(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "scan_track_events", typed_only)
        assert content(path) == found


def typed_only(data, state, *rest):
    """Stop at each packet."""
    return kernels.DONE if state[kernels.AT] >= len(data) else kernels.OTHER
